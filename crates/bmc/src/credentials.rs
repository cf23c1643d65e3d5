//! User names and passwords. They are erased when dropped and never printed.

use std::fmt;

use zeroize::Zeroizing;

/// A password.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Zeroizing<String>);

impl Password {
    /// Takes a text for a password.
    pub fn new(text: impl Into<String>) -> Password {
        Password(Zeroizing::new(text.into()))
    }

    /// The password itself, for the wire and for whoever stores it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// Who logs in to a BMC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Name of the account.
    pub user: String,
    /// Its password.
    pub password: Password,
}

impl Credentials {
    /// Name and password.
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Credentials {
        Credentials { user: user.into(), password: Password::new(password) }
    }
}

/// What generated passwords are made of: letters and digits that look different, and punctuation that survives shells,
/// URLs and the web pages of BMCs.
const ALPHABET: &[u8; 64] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789-_.+=@#";

/// A password of 16 characters: the most that IPMI 1.5 accounts and several BMCs store. It has a lower and an upper
/// case letter, a digit and a sign, which the rules of BMCs ask for; about 90 bits.
pub fn generate(random: &dyn crate::Random) -> Password {
    let mut bytes = Zeroizing::new([0_u8; 16]);
    loop {
        random.fill(bytes.as_mut());
        let text: String = bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 64)])).collect();
        let has = |is: fn(&char) -> bool| text.chars().any(|c| is(&c));
        let is_mixed = has(char::is_ascii_lowercase)
            && has(char::is_ascii_uppercase)
            && has(char::is_ascii_digit)
            && has(char::is_ascii_punctuation);
        // BMCs refuse passwords that begin with a sign.
        if is_mixed && text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return Password::new(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_printed() {
        let credentials = Credentials::new("admin", "marker-5eb1");
        assert!(!format!("{credentials:?}").contains("marker"));
    }

    #[test]
    fn generated_passwords_are_mixed_and_differ() {
        let (one, other) = (generate(&crate::SystemRandom), generate(&crate::SystemRandom));
        assert_eq!(one.reveal().len(), 16);
        assert_ne!(one.reveal(), other.reveal());
        assert!(one.reveal().chars().any(|c| c.is_ascii_punctuation()));
    }
}
