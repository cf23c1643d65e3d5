//! The program as it was called, for the commands that messages name, and the project that it is about.

use cli::Session;

/// The project that a server makes at its first start.
const DEFAULT_PROJECT: &str = "default";

/// Commands are about the project `default` unless another is named.
pub fn choose_project(session: &mut Session) {
    let project = &mut session.global.project;
    if project.as_ref().is_none_or(String::is_empty) {
        *project = Some(DEFAULT_PROJECT.to_owned());
    }
}

/// How the commands of compute are typed here.
#[derive(Debug, Clone)]
pub struct Program {
    name: String,
    project: Option<String>,
}

impl Program {
    /// As the session was called.
    pub fn of(session: &Session) -> Program {
        let root = &session.root;
        let name = match root.get_bin_name() {
            Some(called) if called.contains(' ') => called.to_owned(),
            _ => format!("{} compute", root.get_name()),
        };
        let project = session.global.project.clone().unwrap_or_default();
        let is_implied = project == DEFAULT_PROJECT
            || std::env::var("GROUNDPLANE_PROJECT").is_ok_and(|set| set == project);
        let is_plugin = name.starts_with("datumctl");
        Program { name, project: (!is_implied && !is_plugin).then_some(project) }
    }

    /// Whether it is called as a plugin of another program.
    pub fn is_plugin(&self) -> bool {
        self.name.starts_with("datumctl")
    }

    /// A command that can be pasted: `groundplane compute` with these words, and the project where it is needed.
    pub fn command(&self, words: &str) -> String {
        match &self.project {
            Some(project) => format!("{} {words} --project {project}", self.name),
            None => format!("{} {words}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_the_project_where_it_is_needed() {
        let program = Program { name: "groundplane compute".to_owned(), project: Some("acme".to_owned()) };
        assert_eq!(program.command("status web"), "groundplane compute status web --project acme");
        let program = Program { name: "datumctl compute".to_owned(), project: None };
        assert_eq!(program.command("status web"), "datumctl compute status web");
    }
}
