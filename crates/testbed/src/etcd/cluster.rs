use std::{
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::{
    Certificates, Error, Options, certificates,
    etcdctl::{self, Etcdctl, number_named},
    member::{self, Member},
    ports::Ports,
};

/// Long, for machines that build and test at the same time; a healthy cluster takes one or two seconds.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE_BETWEEN_LOOKS: Duration = Duration::from_millis(100);
const ATTEMPTS_WITH_OTHER_PORTS: usize = 5;

/// Some etcd members that know each other. Dropping it ends the processes and deletes their data.
pub struct Cluster {
    // Members come first: they have to be dead before their directory goes.
    members: Vec<Member>,
    endpoints: Vec<String>,
    etcdctl: Etcdctl,
    certificates: Option<Certificates>,
    dir: TempDir,
    // Others may have them once the members are dead.
    _ports: Ports,
}

impl Cluster {
    /// Whether etcd and etcdctl can be run here (`ETCD` and `ETCDCTL` name others than those on the path). A
    /// test that needs them says that it was skipped, and returns.
    pub fn available() -> bool {
        let runs = |program: String, version: &str| {
            let mut command = Command::new(program);
            command.arg(version).env("ETCDCTL_API", "3").stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        runs(member::program(), "--version") && runs(etcdctl::program(), "version")
    }

    /// Starts this many members with etcd's own defaults and returns when all are healthy.
    pub fn start(members: usize) -> Result<Self, Error> {
        Self::with(members).start()
    }

    /// To start members with other settings.
    pub fn with(members: usize) -> Options {
        Options::new(members)
    }

    pub(super) fn start_with(options: &Options) -> Result<Self, Error> {
        let mut attempt = 1;
        loop {
            match Self::try_start(options) {
                Err(Error::Ended { .. }) if attempt < ATTEMPTS_WITH_OTHER_PORTS => attempt += 1,
                result => return result,
            }
        }
    }

    fn try_start(options: &Options) -> Result<Self, Error> {
        let dir = TempDir::with_prefix("testbed-etcd-")
            .map_err(|source| Error::Prepare { what: "a temporary directory".to_owned(), source })?;
        let certificates = options.tls.then(Certificates::make).transpose()?;
        if let Some(certificates) = &certificates {
            certificates.write(dir.path())?;
        }
        let ports = Ports::reserve(options.members * 2)?;
        let (client_ports, peer_ports) = ports.numbers.split_at(options.members);
        let scheme = if options.tls { "https" } else { "http" };
        let endpoints: Vec<String> =
            client_ports.iter().map(|port| format!("{scheme}://127.0.0.1:{port}")).collect();
        let peers: Vec<String> = peer_ports.iter().map(|port| format!("http://127.0.0.1:{port}")).collect();
        let members = (0..options.members)
            .map(|index| {
                let mut flags = flags_of_member(index, &endpoints[index], &peers, dir.path().join("data"));
                if options.tls {
                    flags.extend(certificates::flags(dir.path()));
                }
                flags.extend(options.flags.iter().cloned());
                Member::new(index, flags, dir.path())
            })
            .collect();
        let etcdctl =
            Etcdctl { certificates: options.tls.then(|| dir.path().to_owned()), root_password: None };
        let mut cluster = Self { members, endpoints, etcdctl, certificates, dir, _ports: ports };
        cluster.start_all()?;
        if let Some(password) = &options.root_password {
            cluster.require_password(password)?;
        }
        Ok(cluster)
    }

    /// Where clients connect, in the order of the members.
    pub fn endpoints(&self) -> Vec<String> {
        self.endpoints.clone()
    }

    /// What a client of a TLS cluster needs.
    pub fn certificates(&self) -> Option<&Certificates> {
        self.certificates.as_ref()
    }

    /// Where the members keep data and logs.
    pub fn dir(&self) -> &std::path::Path {
        self.dir.path()
    }

    /// SIGKILL: the process is gone at once, what it wrote to disk stays.
    pub fn kill(&mut self, member: usize) -> Result<(), Error> {
        self.members[member]
            .kill()
            .map_err(|source| Error::Program { program: format!("kill of etcd member {member}"), source })
    }

    /// Starts a member again with the data it had (after a SIGKILL if it still runs) and waits until it is
    /// healthy, which needs a majority.
    pub fn restart(&mut self, member: usize) -> Result<(), Error> {
        self.kill(member)?;
        self.members[member].start()?;
        self.await_healthy(member)
    }

    /// SIGSTOP: connections stay open, nothing is answered. Returns when every thread has stopped, which on a busy
    /// machine is later than the signal.
    pub fn pause(&self, member: usize) -> Result<(), Error> {
        self.members[member].signal("STOP")?;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline && !self.members[member].stands_still() {
            thread::sleep(PAUSE_BETWEEN_LOOKS);
        }
        Ok(())
    }

    /// SIGCONT: the member goes on where it was paused.
    pub fn resume(&self, member: usize) -> Result<(), Error> {
        self.members[member].signal("CONT")
    }

    /// Kills every member.
    pub fn stop_all(&mut self) -> Result<(), Error> {
        (0..self.members.len()).try_for_each(|member| self.kill(member))
    }

    /// Starts every member that does not run and returns when all are healthy.
    pub fn start_all(&mut self) -> Result<(), Error> {
        self.members.iter_mut().try_for_each(Member::start)?;
        (0..self.members.len()).try_for_each(|member| self.await_healthy(member))
    }

    /// The member that leads now. Waits for an election to end; a paused member counts as not there.
    pub fn leader(&self) -> Result<usize, Error> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(leader) = (0..self.members.len()).find(|&member| self.calls_itself_leader(member)) {
                return Ok(leader);
            }
            thread::sleep(PAUSE_BETWEEN_LOOKS);
        }
        Err(Error::NoLeader)
    }

    /// Runs etcdctl against all members, as root when passwords are on, and returns what it printed.
    pub fn etcdctl(&self, arguments: &[&str]) -> Result<String, Error> {
        self.etcdctl.run(&self.endpoints, arguments)
    }

    fn calls_itself_leader(&self, member: usize) -> bool {
        let endpoint = &self.endpoints[member..=member];
        let Ok(status) = self.etcdctl.run(endpoint, &["endpoint", "status", "--write-out=json"]) else {
            return false;
        };
        let leader = number_named("leader", &status);
        leader.is_some() && leader == number_named("member_id", &status)
    }

    fn await_healthy(&mut self, member: usize) -> Result<(), Error> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.members[member].still_runs()?;
            let health = self.etcdctl.run(&self.endpoints[member..=member], &["endpoint", "health"]);
            match health {
                // Another program may have answered on the port for which the member could not start.
                Ok(_) => return self.members[member].still_runs(),
                Err(error) if Instant::now() > deadline => {
                    let log = self.members[member].log().to_owned();
                    return Err(Error::Unhealthy { member, cause: error.to_string(), log });
                }
                Err(_) => thread::sleep(PAUSE_BETWEEN_LOOKS),
            }
        }
    }

    fn require_password(&mut self, password: &str) -> Result<(), Error> {
        self.etcdctl(&["user", "add", &format!("root:{password}")])?;
        self.etcdctl(&["auth", "enable"])?;
        self.etcdctl.root_password = Some(password.to_owned());
        Ok(())
    }
}

fn flags_of_member(index: usize, endpoint: &str, peers: &[String], data: PathBuf) -> Vec<String> {
    let cluster: Vec<String> =
        peers.iter().enumerate().map(|(member, peer)| format!("member-{member}={peer}")).collect();
    vec![
        format!("--name=member-{index}"),
        format!("--data-dir={}", data.join(index.to_string()).display()),
        format!("--listen-client-urls={endpoint}"),
        format!("--advertise-client-urls={endpoint}"),
        format!("--listen-peer-urls={}", peers[index]),
        format!("--initial-advertise-peer-urls={}", peers[index]),
        format!("--initial-cluster={}", cluster.join(",")),
        // Clusters that got each other's ports after a clash refuse to talk instead of mixing.
        format!("--initial-cluster-token={}", data.display()),
        "--logger=zap".to_owned(),
        "--log-level=warn".to_owned(),
    ]
}
