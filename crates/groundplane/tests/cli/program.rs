//! The program under test, and kubectl beside it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use testbed::server::Server;
use testbed::{need, parts};

pub const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");

/// A server with a little in it, and a folder for files.
pub struct Ground {
    pub server: Server,
    pub files: tempfile::TempDir,
}

/// What a command printed and said, and how it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    pub out: String,
    pub err: String,
    pub code: i32,
}

impl Ground {
    /// A server of its own.
    pub fn fresh() -> Ground {
        let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
        Ground { server, files: tempfile::tempdir().unwrap() }
    }

    /// A server with the small demo fleet, whose conditions and labels are all set.
    pub fn with_fleet() -> Ground {
        let server = Server::fresh(GROUNDPLANE, &["--demo"]).unwrap();
        let ground = Ground { server, files: tempfile::tempdir().unwrap() };
        for plural in ["nodes", "networkdevices", "ports", "virtualmachines", "cables", "racks", "circuits"] {
            let all = format!("{plural}.v1alpha1.inventory.miloapis.com");
            ground.run(&format!("wait {all} --all --for=condition=Ready --timeout=120s"));
        }
        ground
    }

    /// Writes a file that commands can name.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.files.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A program with this server's kubeconfig, in the folder of the files.
    pub fn command(&self, program: &Path, words: &[String]) -> Command {
        let mut command = Command::new(program);
        command
            .args(words)
            .current_dir(self.files.path())
            .env("KUBECONFIG", self.server.kubeconfig())
            .env("HOME", self.server.data().with_file_name("home"))
            .env("TERM", "xterm")
            .env_remove("GROUNDPLANE_KUBECONFIG")
            .env_remove("NO_COLOR")
            .env_remove("KUBECACHEDIR")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Types a command, whatever becomes of it.
    pub fn told(&self, line: &str) -> Told {
        ended(self.command(Path::new(GROUNDPLANE), &words(line)).output().unwrap())
    }

    /// The same with a text on stdin.
    pub fn told_with(&self, line: &str, input: &str) -> Told {
        let mut child =
            self.command(Path::new(GROUNDPLANE), &words(line)).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        ended(child.wait_with_output().unwrap())
    }

    /// Types a command that works, and gives what it printed.
    pub fn run(&self, line: &str) -> String {
        let told = self.told(line);
        assert_eq!(told.code, 0, "groundplane {line}: {told:?}");
        told.out
    }

    /// The same with a text on stdin.
    pub fn run_with(&self, line: &str, input: &str) -> String {
        let told = self.told_with(line, input);
        assert_eq!(told.code, 0, "groundplane {line}: {told:?}");
        told.out
    }

    /// Types a command until it prints something.
    pub fn until(&self, line: &str, wanted: &str) -> String {
        for _ in 0..600 {
            let printed = self.run(line);
            if printed.contains(wanted) {
                return printed;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("groundplane {line} never printed {wanted}");
    }

    /// What kubectl says to the same words.
    pub fn kubectl(&self, kubectl: &Path, line: &str) -> Told {
        ended(self.command(kubectl, &words(line)).output().unwrap())
    }
}

/// The newest kubectl that was fetched.
pub fn kubectl() -> Option<PathBuf> {
    let found = parts::find("kubectl-1.35/kubectl");
    if found.is_none() {
        need::passed_over("kubectl 1.35 was not fetched; `cargo xtask test` does that");
    }
    found
}

/// What came of a command that has ended.
pub fn ended(output: Output) -> Told {
    Told {
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code().unwrap_or(-1),
    }
}

/// The words of a command line; what is between single quotes is part of one.
pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted, mut has_begun) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (is_quoted, has_begun) = (!is_quoted, true),
            ' ' if !is_quoted => {
                if std::mem::take(&mut has_begun) {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => {
                word.push(c);
                has_begun = true;
            }
        }
    }
    words.extend(has_begun.then_some(word));
    words
}

/// A kind with columns, a schema, status and short names.
pub const KETTLES: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: kettles.example.com
spec:
  group: example.com
  names: {plural: kettles, singular: kettle, kind: Kettle, shortNames: [ket], categories: [all, kitchen]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Litres, type: integer, jsonPath: .spec.litres}
    - {name: Colour, type: string, jsonPath: .spec.colour, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: Boils water.
        properties:
          spec:
            type: object
            description: What is wanted of it, in a sentence that is long enough to be broken into two lines by whoever shows it.
            required: [litres]
            properties:
              litres: {type: integer, minimum: 1, maximum: 9, description: How much it holds.}
              colour: {type: string, enum: [red, blue, steel, green, black]}
              tags: {type: array, items: {type: string}}
              parts:
                type: array
                items:
                  type: object
                  properties:
                    name: {type: string, description: Its name.}
          status:
            type: object
            properties:
              boiling: {type: boolean}
              conditions:
                type: array
                items: {type: object, x-kubernetes-preserve-unknown-fields: true}
";

/// A few objects of several kinds.
pub const KITCHEN: &str = "\
apiVersion: v1
kind: Namespace
metadata: {name: kitchen}
---
apiVersion: example.com/v1
kind: Kettle
metadata: {name: whistler, namespace: kitchen, labels: {app: tea, tier: front}, annotations: {note: 'boils: dry'}}
spec: {litres: 2, colour: red, tags: [a, b], parts: [{name: lid}, {name: spout}]}
---
apiVersion: example.com/v1
kind: Kettle
metadata: {name: brass, namespace: kitchen, labels: {app: coffee}}
spec: {litres: 9, colour: steel}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: kitchen}
data:
  plain: text
  number: '12'
  yes: 'yes'
  empty: ''
  lines: |
    first
    second
  open: \"one\\ntwo\"
  tabbed: \"a\\tb\"
  quoted: 'it''s \"so\"'
  colon: 'a: b'
  long: 'the quick brown fox jumps over the lazy dog and goes on and on until the line is far longer than anybody would like to read'
  time: '2026-11-16T07:18:04Z'
  unicode: 'naïve ☕ 😀'
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: kitchen}
stringData: {password: hush}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: cook, namespace: kitchen}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: stove, namespace: kitchen}
rules:
- {apiGroups: [example.com], resources: [kettles, kettles/status], verbs: [get, list]}
- {apiGroups: [''], resources: [configmaps], resourceNames: [settings], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: cook-stove, namespace: kitchen}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: stove}
subjects: [{kind: ServiceAccount, name: cook, namespace: kitchen}]
";
