//! Names made by the server from a `generateName`.

/// No vowels and nothing that looks like one, so that no word comes out by chance.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// How many characters are appended.
pub const SUFFIX_LENGTH: usize = 5;

/// The longest name that is made, whatever the rule of the kind.
const MOST_IN_NAME: usize = 63;

/// The base, cut where the name would become too long, and five characters drawn from `random`.
pub fn generate_name(base: &str, random: [u8; 8]) -> String {
    let mut end = base.len().min(MOST_IN_NAME - SUFFIX_LENGTH);
    while !base.is_char_boundary(end) {
        end -= 1;
    }
    let mut name = String::with_capacity(end + SUFFIX_LENGTH);
    name.push_str(&base[..end]);
    let mut rest = u64::from_le_bytes(random);
    for _ in 0..SUFFIX_LENGTH {
        let letter = (rest % ALPHABET.len() as u64) as usize;
        name.push(char::from(ALPHABET[letter]));
        rest /= ALPHABET.len() as u64;
    }
    name
}
