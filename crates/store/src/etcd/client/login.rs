use tokio::sync::Mutex;
use tonic::{
    Code, Status,
    metadata::{Ascii, MetadataValue},
    transport::Channel,
};

use super::{
    config::Login,
    wire::{AuthenticateRequest, auth_client::AuthClient},
};

/// The token for a user's requests: fetched when first needed, good at every member, thrown away when one
/// refuses it.
pub(super) struct Session {
    login: Option<Login>,
    token: Mutex<LoginState>,
}

pub(super) type Token = MetadataValue<Ascii>;

enum LoginState {
    Nothing,
    /// The cluster has passwords switched off.
    NotNeeded,
    Token(Token),
}

impl Session {
    pub(super) fn new(login: Option<Login>) -> Self {
        Self { login, token: Mutex::new(LoginState::Nothing) }
    }

    pub(super) fn has_login(&self) -> bool {
        self.login.is_some()
    }

    /// The token, after logging in if there is none yet. The lock is held meanwhile, so that many requests
    /// log in once.
    pub(super) async fn token(&self, channel: &Channel) -> Result<Option<Token>, Status> {
        let Some(login) = &self.login else { return Ok(None) };
        let mut known = self.token.lock().await;
        if let LoginState::Nothing = *known {
            *known = log_in(login, channel).await?;
        }
        match &*known {
            LoginState::Token(token) => Ok(Some(token.clone())),
            LoginState::Nothing | LoginState::NotNeeded => Ok(None),
        }
    }

    /// Forgets the token that was refused, unless another request has already fetched a newer one.
    pub(super) async fn forget(&self, refused: Option<&Token>) {
        let mut known = self.token.lock().await;
        let is_refused = match (&*known, refused) {
            (LoginState::Token(token), Some(refused)) => token == refused,
            (LoginState::NotNeeded, None) => true,
            _ => false,
        };
        if is_refused {
            *known = LoginState::Nothing;
        }
    }
}

async fn log_in(login: &Login, channel: &Channel) -> Result<LoginState, Status> {
    let request = AuthenticateRequest { name: login.user.clone(), password: login.password.to_string() };
    match AuthClient::new(channel.clone()).authenticate(request).await {
        Ok(response) => {
            let mut token = MetadataValue::try_from(response.into_inner().token)
                .map_err(|_| Status::internal("failed to decode the token: it is not plain ASCII"))?;
            token.set_sensitive(true);
            Ok(LoginState::Token(token))
        }
        Err(status)
            if status.code() == Code::FailedPrecondition && status.message().contains("not enabled") =>
        {
            tracing::warn!(
                user = login.user,
                "etcd has passwords switched off: everyone who reaches it may write"
            );
            Ok(LoginState::NotNeeded)
        }
        Err(status) => Err(status),
    }
}
