//! Lines that a user can paste into a shell.

/// A word as a POSIX shell reads it back.
pub fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-:,=@%+".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// How a shell finds this program: by name where PATH leads to it, by path otherwise.
pub fn program() -> String {
    const NAME: &str = "groundplane";
    let Ok(own) = std::env::current_exe() else { return NAME.to_owned() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(NAME)).find(|file| file.is_file());
    match found.and_then(|found| found.canonicalize().ok()).is_some_and(|found| found == own) {
        true => NAME.to_owned(),
        false => quoted(&own.display().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        for word in
            ["/var/lib/x", "", "a b", "it's", "$HOME `id` \"x\"", "https://10.0.0.1:2379,https://b", "*"]
        {
            let line = format!("printf %s {}", quoted(word));
            let printed = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8(printed.stdout).unwrap(), word);
        }
        assert_eq!(quoted("/var/lib/x"), "/var/lib/x");
    }
}
