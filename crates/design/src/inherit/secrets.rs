//! Which values are secrets, and what is shown in their place.

/// What stands where a secret would.
const HIDDEN: &str = "(hidden)";

/// How the last word of a path ends when its value is a secret.
const WORDS: [&str; 5] = ["credential", "password", "passphrase", "secret", "token"];

/// Whether what stands at a path must not be shown. Only the way to a BMC holds secrets.
pub fn is_secret(path: &str) -> bool {
    let key = path.strip_prefix("oob.").map(str::to_ascii_lowercase);
    key.is_some_and(|key| WORDS.iter().any(|word| key.ends_with(word)))
}

/// The value at a path, for people to see.
pub fn shown<'v>(path: &str, value: &'v str) -> &'v str {
    if is_secret(path) { HIDDEN } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_bmc_hides_its_secrets() {
        assert_eq!(shown("oob.credential", "x"), HIDDEN);
        assert_eq!(shown("oob.ipmi_Password", "x"), HIDDEN);
        assert_eq!(shown("oob.account", "x"), "x");
        assert_eq!(shown("platform.kernel_params.token", "x"), "x");
    }
}
