use super::Format;

/// Texts that have a format, and texts that don't.
const CASES: &[(&str, &[&str], &[&str])] = &[
    (
        "date",
        &["2020-01-01", "2020-02-29", "0000-12-31"],
        &[
            "x",
            "",
            "2020-13-01",
            "2021-02-29",
            "2020-1-1",
            "2020-01-01 ",
            "2020-00-10",
            "1900-02-29",
            "20200101é",
        ],
    ),
    (
        "date-time",
        &[
            "2020-01-01T00:00:00Z",
            "2020-01-01t23:59:59z",
            "2020-01-01T00:00:00.5+02:00",
            "2020-01-01T00:00:00-07:00",
            "2020-01-01T00:00:00,123Z",
            "2020-01-01T00:00:00Ztail",
        ],
        &[
            "2020-01-01",
            "2020-01-01 00:00:00",
            "2020-01-01T24:00:00Z",
            "2020-01-01T00:60:00Z",
            "2020-01-01T00:00:60Z",
            "2020-01-01T00:00:00",
            "2020-01-01T00:00:00.Z",
            "2020-01-01T00:00Z",
            "T",
            "2020-01-01Té",
        ],
    ),
    (
        "duration",
        &[
            "1h",
            "5 days",
            "1d",
            "1h30m",
            "-1.5h",
            "0",
            ".5s",
            "1.s",
            "1μs",
            "3 Weeks",
            "2 hrs 10min",
            "9999999999999h",
        ],
        &["x", "", "1", "h", "1.5", "-", "99999999999999999999 days", "5 fortnights"],
    ),
    (
        "email",
        &[
            "a@example.com",
            "a.b@c",
            "Bob <bob@example.com>",
            "\"Bob B.\" <bob@example.com>",
            "\"a b\"@example.com",
            "a@[127.0.0.1]",
            "a@[::1]",
            "a@b (comment (nested))",
            "group: a@b;",
            "é@exämple.com",
            " a@b ",
        ],
        &[
            "a",
            "",
            "@b",
            "a@",
            "a@b@c",
            ".a@b",
            "a.@b",
            "a..b@c",
            "a b@c",
            "Bob bob@c",
            "<a@b",
            "a@[x]",
            "a@[1.2.3]",
            "group: a@b, c@d;",
            "group:;",
            "\"\"@b",
            "a@b, c@d",
            "a@b (",
            "\"a",
            "(",
        ],
    ),
    (
        "uri",
        &[
            "http://x/y",
            "/a/b",
            "mailto:a@b",
            "*",
            "http://u:p@h:80/p%20q?x y#z",
            "http://[::1]:8080/",
            "http://[fe80::1%25en0]/",
            "postgres://a:1,b:2/db",
            "urn:x",
            "http://",
            "//h/p",
            "http://h%C3%A9/",
            "/a b",
        ],
        &[
            "x y",
            "",
            "a",
            "a/b",
            ":x",
            "1a:b",
            "http://h:x/",
            "http://h h/",
            "http://[::1",
            "http://[1.2.3.4]/",
            "http://[x]/",
            "/a%2",
            "/%zz",
            "http://a:1:2/",
            "http://h%41/",
            "http://u^@h/",
            "http://x\n/",
        ],
    ),
    (
        "ipv4",
        &["10.0.0.1", "010.0.0.01", "::ffff:1.2.3.4", "1::1.2.3.4"],
        &["10.0.0.256", "::1", "", "1.2.3", "1.2.3.4.5", "a.b.c.d", "1.2.3.", "1.2.3.4 ", "::1.2.3.4:1"],
    ),
    (
        "ipv6",
        &["::1", "::", "2001:db8::68", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8"],
        &["10.0.0.1", "", "1::2::3", "::1%eth0", "12345::"],
    ),
    (
        "cidr",
        &["10.0.0.0/8", "10.0.0.1/32", "::/0", "2001:db8::1/128", "010.0.0.0/08", "00001::/16"],
        &["10.0.0.1/33", "10.0.0.1", "", "::/129", "10.0.0.0/", "10.0.0.0/a", "/8", "1::2::3/8"],
    ),
    (
        "mac",
        &[
            "00:11:22:33:44:55",
            "00-11-22-33-44-55",
            "0011.2233.4455",
            "00:11:22:33:44:55:66:77",
            "001122334455",
        ],
        &[
            "x",
            "",
            "00:11:22:33:44",
            "00:11:22:33:44:5",
            "00:11-22:33:44:55",
            "0011.2233.445",
            "00:11:22:33:44:gg",
            "ééééééé",
        ],
    ),
    (
        "uuid",
        &[
            "123e4567-e89b-12d3-a456-426614174000",
            "123E4567E89B12D3A456426614174000",
            "123e4567e89b-12d3a456-426614174000",
        ],
        &[
            "x",
            "",
            "123e4567-e89b-12d3-a456-42661417400",
            "123e4567-e89b-12d3-a456-4266141740000",
            "123e4567--e89b-12d3-a456-42661417400",
        ],
    ),
    ("uuid3", &["123e4567-e89b-32d3-1456-426614174000"], &["123e4567-e89b-42d3-a456-426614174000"]),
    ("uuid4", &["123e4567-e89b-42d3-A456-426614174000"], &["123e4567-e89b-42d3-c456-426614174000"]),
    ("uuid5", &["123e4567-e89b-52d3-8456-426614174000"], &["123e4567-e89b-42d3-8456-426614174000"]),
    ("byte", &["aGVsbG8=", "YQ==", "YWJj"], &["not base64!", "", "YQ=", "YQ", "Y===", "====", "a=bc"]),
    (
        "isbn",
        &["0321751043", "978-0321751041", "0-8044-2957-X"],
        &["0321751044", "978-0321751042", "", "X321751043"],
    ),
    ("isbn10", &["0321751043"], &["978-0321751041"]),
    ("isbn13", &["978-0321751041"], &["0321751043"]),
    (
        "creditcard",
        &["4111 1111 1111 1111", "5500-0000-0000-0004", "340000000000009", "30000000000004"],
        &["4111111111111112", "", "1234567890123"],
    ),
    ("ssn", &["111-11-1111", "111 11 1111"], &["111111111", "111-111111", "x"]),
    ("hexcolor", &["#FFFFFF", "fff"], &["#ffff", "", "#ggg"]),
    (
        "rgbcolor",
        &["rgb(0, 127,255)", "rgb( 1 , 2 , 3 )"],
        &["rgb(256,0,0)", "rgb(01,0,0)", "rgb(1,2)", "", "rgb(1,2,3"],
    ),
    ("bsonobjectid", &["507f1f77bcf86cd799439011"], &["507f1f77bcf86cd79943901", "x"]),
    (
        "hostname",
        &["a.example.com", "a", "a-", "a-b", "1.example.com", "exämple.com", "a-b.c-d.org"],
        &["-x", "", "my-host", "a.b", "a..com", "a_b.com", "-a.com", "a-.com", "a.c0m"],
    ),
    ("k8s-short-name", &["ok-name", "1"], &["Not OK", "", "-a", "a-", "a.b"]),
    ("k8s-long-name", &["ok.name", "a"], &["", "a..b", "A.b", "a."]),
    ("password", &["", "anything"], &[]),
];

#[test]
fn formats_accept_what_kubernetes_accepts() {
    for (name, good, bad) in CASES {
        let format = Format::named(name, None).unwrap_or_else(|| panic!("{name} is checked"));
        for text in *good {
            assert!(format.accepts(text), "{name} accepts {text:?}");
        }
        for text in *bad {
            assert!(!format.accepts(text), "{name} refuses {text:?}");
        }
    }
}

#[test]
fn long_names_have_limits() {
    let label = "a".repeat(63);
    let accepts = |name: &str, text: &str| Format::named(name, None).unwrap().accepts(text);
    assert!(accepts("k8s-short-name", &label));
    assert!(!accepts("k8s-short-name", &format!("{label}a")));
    assert!(accepts("k8s-long-name", &"a".repeat(253)));
    assert!(!accepts("k8s-long-name", &"a".repeat(254)));
    assert!(accepts("hostname", &format!("{label}.com")));
    assert!(!accepts("hostname", &format!("{label}a.com")));
}

#[test]
fn formats_belong_to_types() {
    use super::JsonType::{Boolean, Integer, Number, String};
    assert_eq!(Format::named("int32", Some(Integer)), Some(Format::Int32));
    assert_eq!(Format::named("int32", Some(String)), None);
    assert_eq!(Format::named("uint8", Some(Integer)), None);
    assert_eq!(Format::named("double", Some(Number)), Some(Format::Double));
    assert_eq!(Format::named("date-time", Some(String)), Some(Format::DateTime));
    assert_eq!(Format::named("datetime", None), Some(Format::DateTime));
    assert_eq!(Format::named("date", Some(Boolean)), None);
    assert_eq!(Format::named("no-such-format", Some(String)), None);
}
