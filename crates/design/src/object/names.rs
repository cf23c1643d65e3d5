//! Object names: document names, with characters that a path segment cannot contain escaped as `~` and two hex digits.

/// The name of the object that holds the document of a name.
pub fn object_name(document: &str) -> String {
    if matches!(document, "." | "..") {
        return document.replace('.', "~2E");
    }
    let mut name = String::with_capacity(document.len());
    for c in document.chars() {
        match c {
            '/' | '%' | '~' => name.push_str(&format!("~{:02X}", u32::from(c))),
            // No name of an object may be without a character, and none may hold one that ends a line.
            c if c.is_ascii_control() => name.push_str(&format!("~{:02X}", u32::from(c))),
            c => name.push(c),
        }
    }
    if name.is_empty() { "~".to_owned() } else { name }
}

/// The name of the document that an object of a name holds.
pub fn document_name(object: &str) -> String {
    if object == "~" {
        return String::new();
    }
    let mut name = String::with_capacity(object.len());
    let mut rest = object;
    while let Some((before, after)) = rest.split_once('~') {
        name.push_str(before);
        let code = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code.filter(u8::is_ascii) {
            Some(code) => {
                name.push(char::from(code));
                rest = &after[2..];
            }
            None => {
                name.push('~');
                rest = after;
            }
        }
    }
    name.push_str(rest);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_comes_back() {
        for name in
            ["n1", "DELL_HP_Generic", "pegleg/Order/v1", "a~b", "a~2Fb", "100%", ".", "..", "", "a\nb", "ü"]
        {
            assert_eq!(document_name(&object_name(name)), name);
        }
        assert_eq!(object_name("pegleg/Order/v1"), "pegleg~2FOrder~2Fv1");
        assert_eq!(object_name(".."), "~2E~2E");
    }

    #[test]
    fn a_name_that_nobody_escaped_is_taken_as_it_is() {
        assert_eq!(document_name("a~zz"), "a~zz");
        assert_eq!(document_name("a~"), "a~");
        assert_eq!(document_name("a~é"), "a~é");
    }
}
