use super::*;

fn data(yaml: &str) -> Node {
    crate::yaml::read("data.yaml", yaml.as_bytes()).unwrap().documents.remove(0)
}

fn read(path: &str, yaml: &str) -> Option<Value> {
    Path::parse(path).unwrap().get(&data(yaml)).map(|node| node.value.clone())
}

fn written(path: &str, yaml: &str) -> String {
    let mut root = data(yaml);
    let value = Node::new("v", root.at.clone());
    match Path::parse(path).unwrap().set(&mut root, value) {
        Ok(()) => serde_json::to_string(&root).unwrap(),
        Err(reason) => reason,
    }
}

#[test]
fn a_path_finds_keys_and_indices() {
    assert_eq!(read(".a.b[1].c", "a: {b: [x, {c: 5}]}"), Some(5.into()));
    assert_eq!(read("$.a", "a: 5"), Some(5.into()));
    assert_eq!(read("a.b", "a: {b: 5}"), Some(5.into()));
    assert_eq!(read("$", "5"), Some(5.into()));
    assert_eq!(read(".", "5"), Some(5.into()));
    assert_eq!(read("[0]", "[5]"), Some(5.into()));
    assert_eq!(read(".[0]", "[5]"), Some(5.into()));
    assert_eq!(read(".a.b", "a: 5"), None);
    assert_eq!(read(".a[1]", "a: [5]"), None);
}

#[test]
fn a_key_with_points_is_quoted() {
    for path in [".'a.b'.c", r#"."a.b".c"#, ".['a.b'].c", r#"$["a.b"].c"#] {
        assert_eq!(read(path, "a.b: {c: 5}"), Some(5.into()), "{path}");
    }
}

#[test]
fn what_is_missing_on_the_way_is_made() {
    assert_eq!(written(".a.b", "{}"), r#"{"a":{"b":"v"}}"#);
    assert_eq!(written(".a.b", "a:"), r#"{"a":{"b":"v"}}"#);
    assert_eq!(written(".a[2]", "{}"), r#"{"a":[{},{},"v"]}"#);
    assert_eq!(written(".a[1].b", "a: [x]"), r#"{"a":["x",{"b":"v"}]}"#);
    assert_eq!(written(".", "{a: b}"), r#""v""#);
}

#[test]
fn what_is_there_and_of_another_kind_is_not_overwritten_on_the_way() {
    assert_eq!(
        written(".a.b", "a: 5"),
        r#".a.b needs a map to hold "b", but there is an integer (data.yaml:1:4)"#
    );
    assert_eq!(
        written(".a[0]", "a: {}"),
        ".a[0] needs a list to hold [0], but there is a map (data.yaml:1:4)"
    );
}

#[test]
fn removal_is_by_path() {
    let mut root = data("{a: [x, x], b: x}");
    assert!(Path::parse(".a[1]").unwrap().remove(&mut root));
    assert!(!Path::parse(".a[1]").unwrap().remove(&mut root));
    assert!(!Path::parse(".c.d").unwrap().remove(&mut root));
    assert_eq!(serde_json::to_string(&root).unwrap(), r#"{"a":["x"],"b":"x"}"#);
}

#[test]
fn only_the_path_of_an_action_may_begin_with_data() {
    let same =
        |a: &str, b: &str| Path::parse_in_action(a).unwrap().segments == Path::parse(b).unwrap().segments;
    assert!(same(".data", "."));
    assert!(same("$.data.a", ".a"));
    assert!(same(".data[0]", "[0]"));
    assert!(same(".database", ".database"));
}

#[test]
fn a_path_that_means_nothing_says_why() {
    for (path, reason) in [
        ("", "it is empty"),
        (".a..b", "a key is missing"),
        (".a.", "a key is missing"),
        (".a[", "a ] is missing"),
        (".a[x]", r#""x" is not an index"#),
        (".a[*]", r#""*" is not an index"#),
        (".a.*", "wildcards are not supported"),
        (".a[99999999]", "indices end at 9999"),
        (".'a", "a ' is missing"),
    ] {
        assert_eq!(Path::parse(path), Err(format!("invalid path {path:?}: {reason}")));
    }
    assert!(Path::parse(&".a".repeat(64)).is_ok());
    assert!(Path::parse(&".a".repeat(65)).is_err());
}
