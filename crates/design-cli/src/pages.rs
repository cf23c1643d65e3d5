//! The documentation pages of the finding codes.

/// A code and its page.
pub(crate) const PAGES: [(&str, &str); 40] = [
    ("GP0001", include_str!("../../../docs/validators/GP0001.md")),
    ("GP0002", include_str!("../../../docs/validators/GP0002.md")),
    ("GP0003", include_str!("../../../docs/validators/GP0003.md")),
    ("GP0101", include_str!("../../../docs/validators/GP0101.md")),
    ("GP0102", include_str!("../../../docs/validators/GP0102.md")),
    ("GP0103", include_str!("../../../docs/validators/GP0103.md")),
    ("GP0104", include_str!("../../../docs/validators/GP0104.md")),
    ("GP0105", include_str!("../../../docs/validators/GP0105.md")),
    ("GP1001", include_str!("../../../docs/validators/GP1001.md")),
    ("GP1002", include_str!("../../../docs/validators/GP1002.md")),
    ("GP1003", include_str!("../../../docs/validators/GP1003.md")),
    ("GP1004", include_str!("../../../docs/validators/GP1004.md")),
    ("GP1006", include_str!("../../../docs/validators/GP1006.md")),
    ("GP1007", include_str!("../../../docs/validators/GP1007.md")),
    ("GP1008", include_str!("../../../docs/validators/GP1008.md")),
    ("GP1009", include_str!("../../../docs/validators/GP1009.md")),
    ("GP1010", include_str!("../../../docs/validators/GP1010.md")),
    ("GP1011", include_str!("../../../docs/validators/GP1011.md")),
    ("GP2002", include_str!("../../../docs/validators/GP2002.md")),
    ("GP2003", include_str!("../../../docs/validators/GP2003.md")),
    ("GP2004", include_str!("../../../docs/validators/GP2004.md")),
    ("GP2005", include_str!("../../../docs/validators/GP2005.md")),
    ("GP2006", include_str!("../../../docs/validators/GP2006.md")),
    ("GP2007", include_str!("../../../docs/validators/GP2007.md")),
    ("GP2008", include_str!("../../../docs/validators/GP2008.md")),
    ("GP2009", include_str!("../../../docs/validators/GP2009.md")),
    ("GP2010", include_str!("../../../docs/validators/GP2010.md")),
    ("GP2011", include_str!("../../../docs/validators/GP2011.md")),
    ("GP2012", include_str!("../../../docs/validators/GP2012.md")),
    ("GP2013", include_str!("../../../docs/validators/GP2013.md")),
    ("GP3001", include_str!("../../../docs/validators/GP3001.md")),
    ("GP3003", include_str!("../../../docs/validators/GP3003.md")),
    ("GP4001", include_str!("../../../docs/validators/GP4001.md")),
    ("GP4002", include_str!("../../../docs/validators/GP4002.md")),
    ("GP4003", include_str!("../../../docs/validators/GP4003.md")),
    ("GP5001", include_str!("../../../docs/validators/GP5001.md")),
    ("GP5002", include_str!("../../../docs/validators/GP5002.md")),
    ("GP6001", include_str!("../../../docs/validators/GP6001.md")),
    ("GP6002", include_str!("../../../docs/validators/GP6002.md")),
    ("GP6003", include_str!("../../../docs/validators/GP6003.md")),
];

#[cfg(test)]
mod tests {
    use design::validate::codes;

    use super::PAGES;

    #[test]
    fn every_code_has_a_page_under_its_title() {
        for code in codes() {
            let page = PAGES.iter().find(|(known, _)| *known == code.code);
            let (_, page) = page.unwrap_or_else(|| panic!("docs/validators/{}.md is missing", code.code));
            let title = format!("# {}: {}\n", code.code, code.title);
            assert!(page.starts_with(&title), "the page of {} must begin with `{title}`", code.code);
        }
        assert_eq!(codes().len(), PAGES.len());
    }
}
