//! Real containers, from a real registry: pulled, run, probed, crashed, restarted, taken up again, and removed without a trace.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use containers::oci::RootfsMode;
use containers::{
    ContainerPhase, ContainerSpec, EmptyDir, EnvVar, Error, ExecRequest, ExitCause, File, Files,
    InstanceSpec, Limits, LogRequest, Mount, NetworkSpec, Output, Phase, Port, Probe, ProbeAction,
    RestartPolicy, Runtime, Sensitive, TerminalSize, Volume, VolumeSource,
};
use support::registry::Registry;
use support::{Machine, get, id, image, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn network(name: &str) -> Option<NetworkSpec> {
    Some(NetworkSpec { network: name.to_owned(), subnet: "10.128.0.0/24".parse().unwrap(), address: None })
}

/// An image on disk, for tests that are not about registries.
fn layout(machine: &Machine) -> String {
    let folder = machine.folder.path().join("layout");
    image::app(&["/app", "sleep"]).write_layout(&folder, "latest");
    format!("oci:{}", folder.display())
}

fn instance(name: &str, image: &str, args: &[&str]) -> InstanceSpec {
    let mut container = ContainerSpec::new("app", image);
    container.command = args.iter().map(|word| (*word).to_owned()).collect();
    InstanceSpec { grace: Duration::from_secs(1), ..InstanceSpec::new(id(name), 1).with_container(container) }
}

async fn run(runtime: &dyn Runtime, name: &str, command: &[&str]) -> (String, ExitCause) {
    let command = command.iter().map(|word| (*word).to_owned()).collect();
    let request = ExecRequest { id: id(name), container: None, command, terminal: None };
    let mut session = runtime.exec(request).await.unwrap();
    drop(session.stdin.take());
    let mut output = String::new();
    session.stdout.read_to_string(&mut output).await.unwrap();
    (output, session.exit.await.unwrap())
}

async fn lines(runtime: &dyn Runtime, request: LogRequest) -> Vec<String> {
    let lines = runtime.logs(request).await.unwrap().collect().await.unwrap();
    lines.into_iter().map(|line| line.text).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_from_a_registry_serves_logs_takes_commands_and_leaves_nothing() {
    if !support::can_run() {
        return;
    }
    let registry = Registry::start();
    let reference = registry.push("team/web", "1", &image::app(&["/app", "serve", "80", "hello"]));
    let machine = Machine::new();
    let oci = machine.open().await;
    let mut spec = InstanceSpec::new(id("web-0"), 1).with_container(ContainerSpec::new("app", &reference));
    spec.network = network("project-a/default");
    spec.grace = Duration::from_secs(1);
    spec.limits = Limits { memory_bytes: Some(64 << 20), ..Limits::default() };
    let container = &mut spec.containers[0];
    container.env = vec![EnvVar::new("GREETING", "s3cret")];
    container.ports =
        vec![Port { name: "http".to_owned(), port: 80, publish: Some("127.0.0.1:0".parse().unwrap()) }];
    container.readiness = Some(Probe {
        period: Duration::from_millis(50),
        ..Probe::new(ProbeAction::Http { port: 80, path: "/health".to_owned() })
    });
    assert!(!format!("{spec:?}").contains("s3cret"));
    oci.ensure(spec.clone()).await.unwrap();
    let state = until(&oci, &id("web-0"), |state| state.ready).await;
    assert_eq!(state.phase, Phase::Running);
    assert_eq!(state.addresses, ["10.128.0.2".parse::<std::net::IpAddr>().unwrap()]);
    assert_eq!(get(state.published[0].address, "/").await.unwrap(), "hello");
    // The program serves one connection at a time.
    drop(oci.connect(&id("web-0"), 80).await.unwrap());
    assert!(oci.usage(&id("web-0")).await.unwrap().memory_bytes > 0);

    let logged = oci.logs(LogRequest::new(id("web-0"))).await.unwrap().collect().await.unwrap();
    assert_eq!((logged[0].text.as_str(), logged[0].output), ("serving at 80", Output::Stdout));
    assert_eq!(run(&oci, "web-0", &["/app", "env", "GREETING"]).await.0, "s3cret\n");
    assert_eq!(run(&oci, "web-0", &["/app", "env", "FROM_IMAGE"]).await.0, "yes\n");
    assert_eq!(run(&oci, "web-0", &["/app", "exit", "7"]).await.1, ExitCause::Code(7));

    // The readiness probe fails, and the instance goes on running.
    get(state.published[0].address, "/down").await.unwrap();
    let state = until(&oci, &id("web-0"), |state| !state.ready).await;
    assert_eq!(state.phase, Phase::Running);
    assert!(state.containers[0].probe_failure.as_ref().unwrap().contains("500"), "{state:?}");

    // The same epoch changes nothing, a lower one is refused.
    oci.ensure(spec.clone()).await.unwrap();
    let stale = oci.ensure(InstanceSpec { epoch: 0, ..spec }).await;
    assert_eq!(stale, Err(Error::StaleEpoch { id: id("web-0"), running: 1, asked: 0 }));
    oci.stop(&id("web-0"), Duration::from_millis(100)).await.unwrap();
    let state = oci.observe(&id("web-0")).await.unwrap();
    assert_eq!((state.phase, state.ready), (Phase::Stopped, false));
    // The program has no handler for SIGTERM, which the first process of a namespace does not get then.
    assert_eq!(state.containers[0].last_exit.as_ref().unwrap().cause, ExitCause::Signal(9));
    oci.remove(&id("web-0")).await.unwrap();
    machine.assert_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_parent_may_be_killed_and_the_next_one_finds_what_runs() {
    if !support::can_run() {
        return;
    }
    let machine = Machine::new();
    let image = layout(&machine);
    let mut spec = instance("web-0", &image, &["/app", "serve", "80", "hello"]);
    spec.network = network("project-a/default");
    kill_agent_with(&machine, &spec);
    let shim = find_shim(&machine);

    let oci = machine.open().await;
    let before = until(&oci, &id("web-0"), |state| state.ready).await;
    assert_eq!(
        (before.containers[0].restarts, find_shim(&machine)),
        (0, shim),
        "it runs on, under the same shim"
    );
    // Another program can't use the same folders at the same time.
    let refused = containers::oci::Oci::open(machine.settings.clone()).await;
    assert!(refused.is_err_and(|error| error.to_string().contains("another program runs containers there")));

    drop(oci);
    let oci = machine.open().await;
    oci.ensure(spec).await.unwrap();
    let after = until(&oci, &id("web-0"), |state| state.ready).await;
    assert_eq!(after.containers, before.containers, "the same run: since the same time, without a restart");
    assert_eq!(after.addresses, before.addresses);
    let mut stream = oci.connect(&id("web-0"), 80).await.unwrap();
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.ends_with("hello"));

    // A killed shim: nobody knows how the container ended, so it is replaced.
    let shim = find_shim(&machine);
    std::process::Command::new("kill").args(["-9", &shim]).status().unwrap();
    let state = until(&oci, &id("web-0"), |state| state.ready && state.containers[0].restarts == 1).await;
    assert_eq!(state.containers[0].last_exit.as_ref().unwrap().cause, ExitCause::Unknown);
    oci.remove(&id("web-0")).await.unwrap();
    machine.assert_clean();
}

/// Has an instance ready under a program of its own, and kills that.
fn kill_agent_with(machine: &Machine, spec: &InstanceSpec) {
    let file = machine.folder.path().join("spec.json");
    std::fs::write(&file, serde_json::to_vec(spec).unwrap()).unwrap();
    let mut agent = std::process::Command::new(env!("CARGO_BIN_EXE_containers-agent"))
        .args([&machine.settings.data, &machine.settings.run])
        .arg(env!("CARGO_BIN_EXE_containers-shim"))
        .arg(&file)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = [0; 6];
    std::io::Read::read_exact(agent.stdout.as_mut().unwrap(), &mut said).unwrap();
    assert_eq!(said, *b"ready\n");
    agent.kill().unwrap();
    agent.wait().unwrap();
}

/// The process id of the only shim.
fn find_shim(machine: &Machine) -> String {
    let folder = machine.settings.run.join("instances/web-0/containers/app/0/shim.process");
    let process: serde_json::Value = serde_json::from_slice(&std::fs::read(folder).unwrap()).unwrap();
    process["pid"].to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crashes_and_memory_are_told_with_their_last_lines() {
    if !support::can_run() {
        return;
    }
    let machine = Machine::new();
    let image = layout(&machine);
    let oci = machine.open().await;
    oci.ensure(instance("crash", &image, &["/app", "exit", "3", "no", "database"])).await.unwrap();
    let state = until(&oci, &id("crash"), |state| state.containers[0].restarts >= 1).await;
    let failed = until(&oci, &id("crash"), |state| state.failure.is_some()).await.failure.unwrap();
    assert_eq!(failed.to_string(), "container app ended with exit code 3; its last lines:\nno database");
    assert_eq!(state.containers[0].last_exit.as_ref().unwrap().last_lines, ["no database"]);
    let previous = LogRequest { previous: true, ..LogRequest::new(id("crash")) };
    assert_eq!(lines(&oci, previous).await, ["no database"]);

    let mut hungry = instance("hungry", &image, &["/app", "eat"]);
    hungry.restart = RestartPolicy::Never;
    hungry.containers[0].limits.memory_bytes = Some(16 << 20);
    oci.ensure(hungry).await.unwrap();
    let state = until(&oci, &id("hungry"), |state| state.phase == Phase::Failed).await;
    let failure = state.failure.unwrap().to_string();
    assert!(
        failure.starts_with("container app was killed: it needed more memory than its limit of 16 MiB"),
        "{failure}"
    );

    let mut missing = instance("missing", &image, &["/no-such-program"]);
    missing.restart = RestartPolicy::Never;
    oci.ensure(missing).await.unwrap();
    let state = until(&oci, &id("missing"), |state| state.failure.is_some()).await;
    let failure = state.failure.unwrap().to_string();
    assert!(
        failure.starts_with("container app can't be started:") && failure.contains("/no-such-program"),
        "{failure}"
    );

    let mut job = instance("job", &image, &["/app", "print", "done"]);
    job.restart = RestartPolicy::OnFailure;
    oci.ensure(job).await.unwrap();
    until(&oci, &id("job"), |state| state.phase == Phase::Succeeded).await;
    for state in oci.list().await.unwrap() {
        oci.remove(&state.id).await.unwrap();
    }
    machine.assert_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_container_is_confined() {
    if !support::can_run() {
        return;
    }
    let machine = Machine::new();
    let image = layout(&machine);
    let oci = machine.open().await;
    let mut spec = instance("web-0", &image, &["/app", "sleep"]);
    let file = |text: &str| File { content: Sensitive::from(text.as_bytes().to_vec()), mode: 0o400 };
    let files = Files(BTreeMap::from([("db/password".to_owned(), file("hunter2"))]));
    spec.volumes = vec![
        Volume { name: "secret".to_owned(), source: VolumeSource::Files(files) },
        Volume { name: "scratch".to_owned(), source: VolumeSource::EmptyDir(EmptyDir::default()) },
        Volume {
            name: "memory".to_owned(),
            source: VolumeSource::EmptyDir(EmptyDir { memory_bytes: Some(1 << 20) }),
        },
    ];
    spec.containers[0].mounts = ["secret", "scratch", "memory"]
        .map(|name| Mount { volume: name.to_owned(), path: format!("/mnt/{name}"), read_only: false })
        .to_vec();
    spec.containers[0].read_only_root = true;
    oci.ensure(spec).await.unwrap();
    until(&oci, &id("web-0"), |state| state.ready).await;
    let say = async |command: &[&str]| run(&oci, "web-0", command).await.0;
    assert_eq!(say(&["/app", "cat", "/mnt/secret/db/password"]).await, "hunter2");
    assert!(say(&["/app", "write", "/mnt/secret/x"]).await.contains("Read-only"));
    assert!(say(&["/app", "write", "/x"]).await.contains("Read-only"));
    assert_eq!(say(&["/app", "write", "/mnt/scratch/x"]).await, "written\n");
    assert_eq!(say(&["/app", "write", "/mnt/memory/x"]).await, "written\n");
    let status = say(&["/app", "cat", "/proc/self/status"]).await;
    let field = |name: &str| {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .unwrap()
            .split_whitespace()
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!((field("NoNewPrivs:"), field("Seccomp:")), ("1".to_owned(), "2".to_owned()));
    // chown, dac_override, fowner, fsetid, kill, setgid, setuid, net_bind_service
    let kept: u64 = [0, 1, 3, 4, 5, 6, 7, 10].iter().map(|bit| 1 << bit).sum();
    assert_eq!(u64::from_str_radix(&field("CapEff:"), 16).unwrap(), kept);
    let map = say(&["/app", "cat", "/proc/self/uid_map"]).await;
    assert_eq!(map.split_whitespace().collect::<Vec<_>>(), ["0", "1000000", "65536"]);
    assert!(
        !std::fs::exists(machine.settings.data.join("instances/web-0/volumes/secret")).unwrap(),
        "not on disk"
    );
    oci.remove(&id("web-0")).await.unwrap();
    machine.assert_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn networks_with_the_same_range_do_not_see_each_other() {
    if !support::can_run() {
        return;
    }
    let machine = Machine::new();
    let image = layout(&machine);
    let oci = machine.open().await;
    for (name, project) in
        [("a-0", "project-a/default"), ("a-1", "project-a/default"), ("b-0", "project-b/default")]
    {
        let mut spec = instance(name, &image, &["/app", "serve", "80", name]);
        spec.network = network(project);
        spec.containers[0].readiness =
            Some(Probe { period: Duration::from_millis(50), ..Probe::new(ProbeAction::Tcp { port: 80 }) });
        oci.ensure(spec).await.unwrap();
        until(&oci, &id(name), |state| state.ready).await;
    }
    let address = async |name: &str| oci.observe(&id(name)).await.unwrap().addresses[0].to_string();
    assert_eq!(
        (address("a-0").await, address("a-1").await, address("b-0").await),
        ("10.128.0.2".to_owned(), "10.128.0.3".to_owned(), "10.128.0.2".to_owned())
    );
    assert_eq!(run(&oci, "a-0", &["/app", "get", "10.128.0.3:80"]).await.0, "a-1\n");
    assert_eq!(run(&oci, "b-0", &["/app", "get", "10.128.0.3:80"]).await.0, "unreachable\n");
    let mut taken = instance("a-2", &image, &["/app", "sleep"]);
    taken.network = Some(NetworkSpec {
        address: Some("10.128.0.3".parse().unwrap()),
        ..network("project-a/default").unwrap()
    });
    let refused = oci.ensure(taken).await.unwrap_err().to_string();
    assert_eq!(refused, "address 10.128.0.3 of network project-a/default is in use by instance a-1");
    for name in ["a-0", "a-1", "b-0"] {
        oci.remove(&id(name)).await.unwrap();
    }
    machine.assert_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_is_told_first_a_sick_container_is_restarted_and_an_epoch_replaces() {
    if !support::can_run() {
        return;
    }
    let machine = Machine::new();
    let image = layout(&machine);
    let oci = machine.open().await;
    // The shell says goodbye at SIGTERM; the program beside it is what it waits for.
    let script = "trap 'echo bye; exit 5' TERM; echo hello; /app sleep & wait";
    oci.ensure(instance("polite", &image, &["/bin/sh", "-c", script])).await.unwrap();
    until(&oci, &id("polite"), |state| state.ready).await;
    while lines(&oci, LogRequest::new(id("polite"))).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let follow = LogRequest { follow: true, ..LogRequest::new(id("polite")) };
    let mut followed = oci.logs(follow).await.unwrap();
    assert_eq!(followed.next().await.unwrap().unwrap().text, "hello");
    oci.stop(&id("polite"), Duration::from_secs(10)).await.unwrap();
    assert_eq!(followed.next().await.unwrap().unwrap().text, "bye");
    let state = oci.observe(&id("polite")).await.unwrap();
    assert_eq!(state.containers[0].last_exit.as_ref().unwrap().cause, ExitCause::Code(5));

    let mut sick = instance("sick", &image, &["/app", "sleep"]);
    sick.grace = Duration::from_millis(100);
    let action = ProbeAction::Exec { command: vec!["/app".to_owned(), "exit".to_owned(), "1".to_owned()] };
    sick.containers[0].liveness = Some(Probe {
        period: Duration::from_millis(50),
        failure_threshold: 2,
        timeout: Duration::from_secs(5),
        ..Probe::new(action)
    });
    oci.ensure(sick.clone()).await.unwrap();
    let state =
        until(&oci, &id("sick"), |state| matches!(state.failure, Some(Error::Unhealthy { .. }))).await;
    assert!(state.failure.unwrap().to_string().starts_with("container app failed its liveness probe"));
    sick.epoch = 2;
    sick.containers[0].liveness = None;
    oci.ensure(sick).await.unwrap();
    let state = until(&oci, &id("sick"), |state| state.epoch == 2 && state.ready).await;
    assert_eq!(state.containers[0].restarts, 0);

    // A terminal shows what is typed, and has a size.
    let command = ["/bin/sh", "-c", "read line; echo got $line"].map(str::to_owned).to_vec();
    let terminal = Some(TerminalSize { rows: 24, columns: 80 });
    let request = ExecRequest { id: id("sick"), container: None, command, terminal };
    let mut session = oci.exec(request).await.unwrap();
    session.resize.send(TerminalSize { rows: 50, columns: 132 }).await.unwrap();
    let mut stdin = session.stdin.take().unwrap();
    stdin.write_all(b"typed\n").await.unwrap();
    let mut output = String::new();
    session.stdout.read_to_string(&mut output).await.unwrap();
    assert!(output.contains("got typed"), "{output:?}");
    assert_eq!(session.exit.await.unwrap(), ExitCause::Code(0));
    for name in ["polite", "sick"] {
        oci.remove(&id(name)).await.unwrap();
    }
    machine.assert_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_not_start_says_why_and_is_removed_too() {
    if !support::can_run() {
        return;
    }
    let mut machine = Machine::new();
    machine.settings = machine.settings.clone().without_user_namespace();
    machine.settings.rootfs = RootfsMode::Copy;
    let image = layout(&machine);
    let oci = machine.open().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let mut spec = instance("port", &image, &["/app", "serve", "80", "copied"]);
    spec.containers[0].user = Some("web".to_owned());
    spec.containers[0].ports = vec![Port { name: "http".to_owned(), port: 80, publish: Some(address) }];
    oci.ensure(spec).await.unwrap();
    let state = until(&oci, &id("port"), |state| state.phase == Phase::BackOff).await;
    assert_eq!(state.failure, Some(Error::PortInUse { address }));
    assert!(matches!(state.containers[0].phase, ContainerPhase::BackOff { .. }));
    // The cause goes away, and so does the failure.
    drop(taken);
    let state = until(&oci, &id("port"), |state| state.ready).await;
    assert_eq!(state.failure, None);
    assert!(run(&oci, "port", &["/app", "cat", "/proc/self/status"]).await.0.contains("Uid:\t33\t33"));
    oci.ensure(instance("gone", &format!("oci:{}/nothing", machine.folder.path().display()), &[]))
        .await
        .unwrap();
    let state = until(&oci, &id("gone"), |state| state.failure.is_some()).await;
    assert!(matches!(state.failure, Some(Error::ImageNotFound { .. })), "{state:?}");
    for name in ["port", "gone"] {
        oci.remove(&id(name)).await.unwrap();
    }
    machine.assert_clean();
}
