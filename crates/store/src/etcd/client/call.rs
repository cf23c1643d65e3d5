use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};
use tonic::{Request, Response, Status, metadata::MetadataValue, transport::Channel};

use super::{
    config::Config,
    error::{Error, asks_for_login},
    login::{Session, Token},
    members::{Connection, Members},
    wire::{
        kv_client::KvClient, lease_client::LeaseClient, maintenance_client::MaintenanceClient,
        watch_client::WatchClient,
    },
};

/// Larger than anything the cluster sends or takes: its own limits decide.
const LARGEST_MESSAGE: usize = 512 << 20;
/// Between two rounds over all members, so that a cluster that is down or votes is not flooded.
const PAUSE_BETWEEN_ROUNDS: Duration = Duration::from_millis(100);

/// Makes calls: picks the member, logs in, keeps the deadline, goes on to another member.
pub(super) struct Calls {
    members: Members,
    session: Session,
    request_timeout: Duration,
    dial_timeout: Duration,
}

/// When a request may be sent once more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// It changes nothing, or the same again.
    Freely,
    /// Only while it is certain that no member has taken it.
    IfNotTaken,
}

/// Whether a member that knows no leader shall refuse at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leader {
    /// It could only keep us waiting.
    Required,
    /// It can answer on its own.
    NotNeeded,
}

/// The way to one member for one attempt.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) connection: Connection,
    token: Option<Token>,
    leader: Leader,
}

impl Calls {
    pub(super) fn new(config: Config) -> Result<Self, Error> {
        Ok(Self {
            members: Members::new(&config)?,
            session: Session::new(config.login),
            request_timeout: config.request_timeout,
            dial_timeout: config.dial_timeout,
        })
    }

    /// Asks the member in use, then others as far as `repeat` and the deadline allow.
    pub(super) async fn call<T, Answer>(
        &self,
        repeat: Repeat,
        leader: Leader,
        ask: impl Fn(Link) -> Answer,
    ) -> Result<T, Error>
    where
        Answer: Future<Output = Result<Response<T>, Status>>,
    {
        let deadline = Instant::now() + self.request_timeout;
        let mut attempts = 0;
        loop {
            let connection = self.members.current();
            let until = self.end_of_attempt(repeat, deadline);
            let error = match self.attempt(&connection, leader, until, &ask).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            if !error.is_of_the_member() {
                return Err(error);
            }
            self.members.failed(&connection);
            attempts += 1;
            let error = match repeat {
                Repeat::Freely => error.of_a_read(),
                Repeat::IfNotTaken if error.may_have_applied() => return Err(error),
                Repeat::IfNotTaken => error,
            };
            if attempts % self.members.count() == 0 {
                sleep_until(deadline.min(Instant::now() + PAUSE_BETWEEN_ROUNDS)).await;
            }
            if Instant::now() + self.least_time_for(repeat) > deadline {
                return Err(error);
            }
        }
    }

    /// Asks this member and no other. Only for requests that change nothing.
    pub(super) async fn call_member<T, Answer>(
        &self,
        member: usize,
        leader: Leader,
        ask: impl Fn(Link) -> Answer,
    ) -> Result<T, Error>
    where
        Answer: Future<Output = Result<Response<T>, Status>>,
    {
        let connection = self.members.at(member)?;
        let deadline = Instant::now() + self.request_timeout;
        self.attempt(&connection, leader, deadline, &ask).await.map_err(Error::of_a_read)
    }

    /// Later requests go elsewhere, over a new connection: nothing comes back over this one.
    pub(super) fn is_silent(&self, connection: &Connection) {
        self.members.failed(connection);
        self.members.replace(connection);
    }

    /// Later requests go to another member.
    pub(super) fn has_failed(&self, connection: &Connection) {
        self.members.failed(connection);
    }

    /// A request that may be repeated waits for half of the time that is left, so that another member gets a
    /// chance when this one is silent.
    fn end_of_attempt(&self, repeat: Repeat, deadline: Instant) -> Instant {
        if repeat == Repeat::IfNotTaken || self.members.count() == 1 {
            return deadline;
        }
        let now = Instant::now();
        now + deadline.saturating_duration_since(now) / 2
    }

    /// Less than this is not worth another attempt. A change that could not even be dialed in time would end
    /// without a verdict, although it is known by now that nobody took it.
    fn least_time_for(&self, repeat: Repeat) -> Duration {
        match repeat {
            Repeat::Freely => PAUSE_BETWEEN_ROUNDS,
            Repeat::IfNotTaken => self.dial_timeout,
        }
    }

    async fn attempt<T, Answer>(
        &self,
        connection: &Connection,
        leader: Leader,
        until: Instant,
        ask: &impl Fn(Link) -> Answer,
    ) -> Result<T, Error>
    where
        Answer: Future<Output = Result<Response<T>, Status>>,
    {
        let mut logged_in_again = false;
        loop {
            let token = self.token(connection, until).await?;
            let link = Link { connection: connection.clone(), token: token.clone(), leader };
            match timeout_at(until, ask(link)).await {
                Ok(Ok(response)) => return Ok(response.into_inner()),
                // Refused for the token alone, hence not applied: safe to send again.
                Ok(Err(status))
                    if self.session.has_login() && !logged_in_again && asks_for_login(&status) =>
                {
                    self.session.forget(token.as_ref()).await;
                    logged_in_again = true;
                }
                Ok(Err(status)) => return Err(Error::from_status(&connection.name, &status)),
                Err(_) => return Err(self.no_answer(connection)),
            }
        }
    }

    async fn token(&self, connection: &Connection, until: Instant) -> Result<Option<Token>, Error> {
        let login = timeout_at(until, self.session.token(&connection.channel)).await;
        let error = match login {
            Ok(Ok(token)) => return Ok(token),
            Ok(Err(status)) => Error::from_status(&connection.name, &status),
            Err(_) => self.no_answer(connection),
        };
        // The request itself was not sent yet.
        Err(error.of_a_read())
    }

    fn no_answer(&self, connection: &Connection) -> Error {
        self.members.replace(connection);
        Error::Ambiguous { endpoint: connection.name.clone(), cause: "no answer in time".to_owned() }
    }
}

impl Link {
    /// The message with what etcd wants to know about its sender.
    pub(super) fn request<M>(&self, message: M) -> Request<M> {
        let mut request = Request::new(message);
        if let Some(token) = &self.token {
            request.metadata_mut().insert("token", token.clone());
        }
        if self.leader == Leader::Required {
            request.metadata_mut().insert("hasleader", MetadataValue::from_static("true"));
        }
        request
    }

    pub(super) fn kv(&self) -> KvClient<Channel> {
        KvClient::new(self.connection.channel.clone())
            .max_decoding_message_size(LARGEST_MESSAGE)
            .max_encoding_message_size(LARGEST_MESSAGE)
    }

    pub(super) fn watch(&self) -> WatchClient<Channel> {
        WatchClient::new(self.connection.channel.clone()).max_decoding_message_size(LARGEST_MESSAGE)
    }

    pub(super) fn lease(&self) -> LeaseClient<Channel> {
        LeaseClient::new(self.connection.channel.clone())
    }

    pub(super) fn maintenance(&self) -> MaintenanceClient<Channel> {
        MaintenanceClient::new(self.connection.channel.clone())
    }
}
