//! `groundplane doctor`: checks everything from the kubeconfig to the server.

use std::io::Write;
use std::time::{Duration, SystemTime};

use http::Method;
use serde_json::{Value, json};

use crate::client::Ask;
use crate::failure::Failure;
use crate::kubeconfig;
use crate::session::Session;

/// Check the connection to the server, and suggest fixes.
///
/// Checks the kubeconfig, the client certificate, the connection, the clocks, your identity, the readiness of the server, its
/// discovery, its feature gates, and the namespace. Exit code: 0 when all checks pass, 1 when one fails.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane doctor\n  groundplane doctor --context lab\n  groundplane doctor -o json\n  groundplane doctor --security"
)]
pub struct Arguments {
    /// Check the server against the threat model instead: anonymous access, grants to everybody, credentials without an end,
    /// the proof of the history. Needs permission to read roles, bindings and keys.
    #[arg(long)]
    security: bool,

    /// Output format: json.
    #[arg(long, short, value_name = "FORMAT", value_parser = ["json"])]
    output: Option<String>,
}

mod security;

/// Certificates that expire earlier fail the check.
const SOON: Duration = Duration::from_secs(14 * 24 * 3600);
/// A larger difference makes tokens and ages wrong.
const MOST_SKEW: Duration = Duration::from_secs(5);

/// The result of one check.
pub struct Finding {
    pub what: &'static str,
    pub is_well: bool,
    pub told: String,
}

/// Runs the checks and prints them.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let findings = match arguments.security {
        true => security::examine(session).await?,
        false => examine(session).await,
    };
    if arguments.output.is_some() {
        let items: Vec<Value> = findings
            .iter()
            .map(|finding| json!({"check": finding.what, "ok": finding.is_well, "message": finding.told}))
            .collect();
        writeln!(session.console.out, "{}", krm::encode::to_json_pretty(&json!({"checks": items})))?;
    } else {
        let text = report(&findings, |is_well| match is_well {
            true => session.console.painted("\u{1b}[32m", "ok  "),
            false => session.console.painted("\u{1b}[31;1m", "FAIL"),
        });
        session.console.out.write_all(text.as_bytes())?;
    }
    match findings.iter().all(|finding| finding.is_well) {
        true => Ok(()),
        false => Err(Failure::Exit(1)),
    }
}

/// The results as lines.
pub fn report(findings: &[Finding], mark: impl Fn(bool) -> String) -> String {
    findings
        .iter()
        .map(|finding| format!("{}  {:<12} {}\n", mark(finding.is_well), finding.what, finding.told))
        .collect()
}

/// Runs the checks, up to the first that the others depend on.
pub async fn examine(session: &mut Session) -> Vec<Finding> {
    let mut findings = Vec::new();
    let well = |what, told: String| Finding { what, is_well: true, told };
    let ill =
        |what, told: String| Finding { what, is_well: false, told: told.trim_end().replace('\n', "; ") };
    let access = match kubeconfig::load(&session.global) {
        Err(failure) => Err(failure),
        Ok(kubeconfig) => {
            let files: Vec<String> = kubeconfig.files.iter().map(|file| file.display().to_string()).collect();
            kubeconfig::access(&kubeconfig, &session.global).await.map(|access| (files.join(":"), access))
        }
    };
    let access = match access {
        Ok((files, access)) => {
            findings.push(well("kubeconfig", format!("{files}, server {}", access.server)));
            access
        }
        Err(failure) => {
            findings.push(ill("kubeconfig", failure.text()));
            return findings;
        }
    };
    if let Some((pem, _)) = &access.proof.certificate {
        findings.push(certificate(pem));
    }
    let client = match session.client().await {
        Ok(client) => client,
        Err(failure) => {
            findings.push(ill("connection", failure.text()));
            return findings;
        }
    };
    let answer = match client.answer(&Ask::get("/version")).await {
        Ok(answer) => answer,
        Err(failure) => {
            findings.push(ill("connection", failure.text()));
            return findings;
        }
    };
    let version: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let version = version["gitVersion"].as_str().unwrap_or("unknown version").to_owned();
    findings.push(well("connection", format!("{}, {version}", client.address())));
    findings.extend(clocks(answer.headers.get("date").and_then(|date| date.to_str().ok())));
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let ask = Ask::new(Method::POST, "/apis/authentication.k8s.io/v1/selfsubjectreviews").json(&review);
    findings.push(match client.value(&ask).await {
        Ok(found) => {
            well("identity", found["status"]["userInfo"]["username"].as_str().unwrap_or("").to_owned())
        }
        Err(failure) => ill("identity", failure.text()),
    });
    match client.answer(&Ask::get("/readyz").query("verbose", "").accept("*/*")).await {
        Err(failure) => findings.push(ill("readiness", failure.text())),
        Ok(answer) => {
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            let failing: Vec<&str> = text.lines().filter(|line| line.starts_with("[-]")).collect();
            findings.push(match answer.code {
                200 => well(
                    "readiness",
                    format!("{} checks passed", text.lines().filter(|line| line.starts_with("[+]")).count()),
                ),
                code => ill("readiness", format!("/readyz answers {code}: {}", failing.join("; "))),
            });
            let lacking: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("warn: ")).collect();
            findings.extend((!lacking.is_empty()).then(|| ill("machine", lacking.join(" "))));
        }
    }
    findings.push(match session.discovery().await {
        Ok(discovery) => well(
            "discovery",
            format!("{} types in {} groups", discovery.resources.len(), discovery.groups.len()),
        ),
        Err(failure) => ill("discovery", failure.text()),
    });
    findings.push(match client.value(&Ask::get("/apis/groundplane.dev/v1alpha1/featuregates")).await {
        Ok(list) => well("features", features(&list)),
        // Another server, or one of before there were gates.
        Err(failure) if failure.refusal().is_some_and(|refusal| refusal.code() == 404) => {
            well("features", "the server has no feature gates".to_owned())
        }
        Err(failure) if failure.refusal().is_some_and(|refusal| refusal.code() == 403) => {
            well("features", "you are not allowed to list feature gates".to_owned())
        }
        Err(failure) => ill("features", failure.text()),
    });
    let namespace = session.namespace().await.unwrap_or_default();
    let ask = Ask::get(format!("/api/v1/namespaces/{}", crate::client::segment(&namespace)));
    findings.push(match client.value(&ask).await {
        Ok(_) => well("namespace", namespace),
        Err(failure) if failure.refusal().is_some_and(|refusal| refusal.code() == 403) => {
            well("namespace", format!("{namespace} (you are not allowed to read it)"))
        }
        Err(failure) => ill("namespace", failure.text()),
    });
    findings
}

/// The feature gates of a server in a line.
fn features(list: &Value) -> String {
    let gates = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let told = gates.iter().map(|gate| {
        let status = &gate["status"];
        let (name, is_on) = (status["gate"].as_str().unwrap_or_default(), status["enabled"] == true);
        match status["stage"].as_str().unwrap_or_default() {
            "" => format!("{name}={is_on}"),
            stage => format!("{name}={is_on} ({})", stage.to_lowercase()),
        }
    });
    match gates.is_empty() {
        true => "the server has no feature gates".to_owned(),
        false => told.collect::<Vec<_>>().join(", "),
    }
}

fn certificate(pem: &[u8]) -> Finding {
    let what = "certificate";
    let parsed = x509_parser::pem::parse_x509_pem(pem).ok();
    let ends = parsed
        .as_ref()
        .and_then(|(_, pem)| pem.parse_x509().ok())
        .map(|found| found.validity().not_after.timestamp());
    let Some(ends) = ends else {
        return Finding {
            what,
            is_well: false,
            told: "the client certificate of the kubeconfig is malformed".into(),
        };
    };
    let moment = krm::time::Moment::of_seconds(ends);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let left = Duration::from_secs(u64::try_from(ends).unwrap_or(0)).saturating_sub(now);
    let told = match left {
        Duration::ZERO => {
            format!("expired at {moment}; copy admin.kubeconfig from the server's data directory again")
        }
        left if left < SOON => {
            format!("expires at {moment}; the server renews admin.kubeconfig in its data directory")
        }
        _ => format!("valid until {moment}"),
    };
    Finding { what, is_well: left > SOON, told }
}

/// The difference of the clocks, by the Date header of a response.
fn clocks(date: Option<&str>) -> Option<Finding> {
    let theirs = httpdate::parse_http_date(date?).ok()?;
    let now = SystemTime::now();
    let apart = now.duration_since(theirs).or_else(|_| theirs.duration_since(now)).ok()?;
    let told = match apart < MOST_SKEW {
        true => "client and server agree within 5 s".to_owned(),
        false => {
            format!("client and server differ by {} s; synchronize them with NTP", apart.as_secs())
        }
    };
    Some(Finding { what: "clocks", is_well: apart < MOST_SKEW, told })
}
