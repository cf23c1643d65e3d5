//! Starts simulated parts of a site, for demos and for trying things out.

use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

/// Simulated parts of a site: each speaks the real protocol on this machine.
#[derive(Parser)]
#[command(name = "sim", version)]
struct Cli {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Start a Redfish service with simulated systems.
    #[command(after_help = "Examples:
  # A hundred systems behind one service
  cargo run -p sim -- redfish --systems 100

  # Power a system on with curl
  curl -k -u admin:password https://127.0.0.1:8443/redfish/v1/Systems/1/Actions/ComputerSystem.Reset \\
    -H 'content-type: application/json' -d '{\"ResetType\": \"On\"}'

  # Let it lie about power, look at its state, and work properly again
  curl -k -X POST https://127.0.0.1:8443/sim/faults -d '\"power-lies\"'
  curl -k https://127.0.0.1:8443/sim/state
  curl -k -X DELETE https://127.0.0.1:8443/sim/faults")]
    Redfish(Redfish),

    /// Start a BCM head node with simulated LiteNodes.
    #[command(after_help = "Examples:
  # A hundred LiteNodes; the client certificate and the CA are written into the folder keys
  cargo run -p sim -- bcm --nodes 100 --keys keys

  # Change a node; whoever has a session hears of it
  curl --cacert keys/ca.crt --cert keys/tls.crt --key keys/tls.key --connect-to ::127.0.0.1:8081 \\
    https://master.cm.cluster:8081/sim/devices -d '{\"hostname\": \"node001\", \"notes\": \"# Mine\"}'")]
    Bcm(Bcm),

    /// Start a BMC that speaks IPMI 2.0 over RMCP+.
    #[command(after_help = "Examples:
  # On a port that needs no privileges
  cargo run -p sim -- ipmi --listen 127.0.0.1:6230

  # Ask it with ipmitool
  ipmitool -I lanplus -C 17 -H 127.0.0.1 -p 6230 -U admin -P password chassis power status")]
    Ipmi(Ipmi),

    /// Play Metal3, the assisted installer and HyperShift on a Kubernetes API that serves their kinds.
    #[command(after_help = "Examples:
  # On a second groundplane server with the kinds of docs/examples/hub-kinds.yaml
  cargo run -p sim -- hub --hub-kubeconfig hub.kubeconfig --hub-namespace fulfillment

  # A host that never boots
  cargo run -p sim -- hub --hub-kubeconfig hub.kubeconfig --hub-namespace fulfillment --fault never-boots=node003")]
    Hub(Hub),
}

#[derive(Args)]
struct Hub {
    /// Kubeconfig of the Kubernetes API.
    #[arg(long)]
    hub_kubeconfig: std::path::PathBuf,
    /// Namespace of the objects.
    #[arg(long)]
    hub_namespace: String,
    /// How long each step takes, in milliseconds.
    #[arg(long, default_value_t = 1000)]
    step_ms: u64,
    /// Start with a fault: never-boots=NAME, fails-cleaning=NAME, no-control-planes, stuck-finalizers. Repeatable.
    #[arg(long = "fault")]
    faults: Vec<sim::hub::Fault>,
}

/// Who logs in, and where.
#[derive(Args)]
struct Login {
    /// User name of the administrator.
    #[arg(long, default_value = "admin")]
    user: String,
    /// Password of the administrator.
    #[arg(long, default_value = "password")]
    password: String,
    /// How long a change of power takes, in milliseconds.
    #[arg(long, default_value_t = 3000)]
    power_delay_ms: u64,
}

#[derive(Args)]
struct Redfish {
    #[command(flatten)]
    login: Login,
    /// Address and port to listen on.
    #[arg(long, default_value = "127.0.0.1:8443")]
    listen: SocketAddr,
    /// Number of systems.
    #[arg(long, default_value_t = 1)]
    systems: usize,
    /// Speak HTTP without TLS.
    #[arg(long)]
    plain: bool,
    /// Lock the account for five minutes after this many failed logins.
    #[arg(long)]
    lockout_after: Option<u32>,
    /// Members per page of a collection.
    #[arg(long)]
    page: Option<usize>,
    /// Deviate from the standard as some products do: ETags required, settings resources, missing links.
    #[arg(long)]
    awkward: bool,
    /// Answer actions with tasks.
    #[arg(long)]
    tasks: bool,
    /// Offer no sessions: the password comes with every request.
    #[arg(long)]
    no_sessions: bool,
    /// Start with a fault, such as power-lies, hang, unavailable, unauthorized or endless-body. Repeatable.
    #[arg(long = "fault", value_parser = fault)]
    faults: Vec<sim::redfish::Fault>,
}

#[derive(Args)]
struct Bcm {
    /// Address and port to listen on.
    #[arg(long, default_value = "127.0.0.1:8081")]
    listen: SocketAddr,
    /// Number of LiteNodes.
    #[arg(long, default_value_t = 10)]
    nodes: usize,
    /// Version that it tells.
    #[arg(long, default_value = "10.25.03")]
    version: String,
    /// Folder into which ca.crt, tls.crt and tls.key are written.
    #[arg(long, default_value = "bcm-keys")]
    keys: std::path::PathBuf,
}

#[derive(Args)]
struct Ipmi {
    #[command(flatten)]
    login: Login,
    /// Address and UDP port to listen on.
    #[arg(long, default_value = "127.0.0.1:6230")]
    listen: SocketAddr,
    /// Cipher suites to offer, separated by commas.
    #[arg(long, value_delimiter = ',', default_values_t = [3, 17])]
    suites: Vec<u8>,
}

fn fault(name: &str) -> Result<sim::redfish::Fault, String> {
    serde_json::from_value(name.into()).map_err(|error| error.to_string())
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    match Cli::parse().what {
        What::Redfish(redfish) => serve_redfish(redfish).await,
        What::Bcm(bcm) => serve_bcm(bcm).await,
        What::Ipmi(ipmi) => serve_ipmi(ipmi).await,
        What::Hub(hub) => play_hub(hub).await,
    }
}

async fn serve_redfish(given: Redfish) -> std::io::Result<()> {
    let started = sim::redfish::Simulator::start(sim::redfish::Options {
        listen: given.listen,
        systems: given.systems,
        user: given.login.user,
        password: given.login.password,
        tls: !given.plain,
        power_delay: Duration::from_millis(given.login.power_delay_ms),
        lockout_after: given.lockout_after,
        page: given.page,
        is_awkward: given.awkward,
        has_tasks: given.tasks,
        has_sessions: !given.no_sessions,
        ..sim::redfish::Options::default()
    });
    let simulator = started.await?;
    given.faults.into_iter().for_each(|fault| simulator.fault(fault));
    say(&format!("{} systems at {}/redfish/v1/", given.systems, simulator.url()));
    tokio::signal::ctrl_c().await
}

async fn serve_bcm(given: Bcm) -> std::io::Result<()> {
    let options = sim::bcm::Options { listen: given.listen, nodes: given.nodes, version: given.version };
    let simulator = sim::bcm::Simulator::start(options).await?;
    std::fs::create_dir_all(&given.keys)?;
    let keys = simulator.keys();
    for (name, content) in
        [("ca.crt", &keys.authority), ("tls.crt", &keys.certificate), ("tls.key", &keys.key)]
    {
        std::fs::write(given.keys.join(name), content)?;
    }
    say(&format!("{} LiteNodes at {}, keys in {}", given.nodes, simulator.url(), given.keys.display()));
    tokio::signal::ctrl_c().await
}

async fn serve_ipmi(given: Ipmi) -> std::io::Result<()> {
    let started = sim::ipmi::Simulator::start(sim::ipmi::Options {
        listen: given.listen,
        user: given.login.user,
        password: given.login.password,
        suites: given.suites,
        power_delay: Duration::from_millis(given.login.power_delay_ms),
    });
    let simulator = started.await?;
    say(&format!("a BMC at ipmi://{}", simulator.address()));
    tokio::signal::ctrl_c().await
}

async fn play_hub(given: Hub) -> std::io::Result<()> {
    let overrides =
        client::Overrides { kubeconfig: Some(given.hub_kubeconfig), ..client::Overrides::default() };
    let access = client::Access::load(&overrides).await.map_err(std::io::Error::other)?;
    let client = client::Client::called(access, "sim-hub").map_err(std::io::Error::other)?;
    let options = sim::hub::Options {
        namespace: given.hub_namespace,
        step: Duration::from_millis(given.step_ms),
        faults: given.faults.into_iter().collect(),
    };
    let _simulator = sim::hub::Simulator::start(&client, &options);
    say(&format!("playing a hub in namespace {} of {}", options.namespace, client.address()));
    tokio::signal::ctrl_c().await
}

#[allow(clippy::print_stdout, reason = "the one line that says where it listens is this program's output")]
fn say(line: &str) {
    println!("{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_of_the_help_are_understood() {
        for line in [
            "sim redfish --systems 100",
            "sim redfish --fault power-lies --awkward",
            "sim bcm --nodes 100 --keys keys",
            "sim ipmi --listen 127.0.0.1:6230",
            "sim hub --hub-kubeconfig k --hub-namespace n --fault never-boots=a --fault stuck-finalizers",
        ] {
            assert!(Cli::try_parse_from(line.split(' ')).is_ok(), "{line}");
        }
        assert!(Cli::try_parse_from(["sim", "redfish", "--fault", "laziness"]).is_err());
    }
}
