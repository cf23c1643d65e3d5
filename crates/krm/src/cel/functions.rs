//! Every function that expressions may call, with all its signatures.

mod signature;
mod table;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::types::Type;

/// A function, by its name.
#[derive(Debug)]
pub(super) struct Function {
    pub name: &'static str,
    pub overloads: Vec<Overload>,
}

/// One way to call a function.
#[derive(Debug)]
pub(super) struct Overload {
    /// Its name among those who reckon costs.
    pub id: &'static str,
    /// Whether it is called on its first argument.
    pub member: bool,
    pub args: Vec<Type>,
    pub result: Type,
    /// The letters that stand for open types in it.
    pub open: Vec<char>,
}

/// A function by its name.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    let name = name.strip_prefix('.').unwrap_or(name);
    FUNCTIONS.get(name)
}

/// The names of all functions.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.keys().copied()
}

/// The type that a name stands for.
pub(super) fn named_type(name: &str) -> Option<Type> {
    Some(match name.strip_prefix('.').unwrap_or(name) {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "google.protobuf.Duration" => Type::Duration,
        "int" => Type::Int,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "null_type" => Type::Null,
        "string" => Type::String,
        "google.protobuf.Timestamp" => Type::Timestamp,
        "type" => Type::Meta(None),
        "uint" => Type::Uint,
        "optional_type" => Type::optional(Type::Dyn),
        "net.IP" => Type::Opaque("net.IP"),
        "net.CIDR" => Type::Opaque("net.CIDR"),
        _ => return None,
    })
}

/// The name that values of a named type say theirs is.
pub(super) fn type_name(name: &str) -> Option<&'static str> {
    const NAMES: [&str; 15] = [
        "bool",
        "bytes",
        "double",
        "google.protobuf.Duration",
        "int",
        "list",
        "map",
        "null_type",
        "string",
        "google.protobuf.Timestamp",
        "type",
        "uint",
        "optional_type",
        "net.IP",
        "net.CIDR",
    ];
    NAMES.into_iter().find(|known| *known == name)
}

static FUNCTIONS: LazyLock<BTreeMap<&'static str, Function>> = LazyLock::new(|| {
    let mut functions: BTreeMap<&'static str, Function> = BTreeMap::new();
    for line in table::SIGNATURES.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, overload) = signature::read(line);
        let function = functions.entry(name).or_insert_with(|| Function { name, overloads: Vec::new() });
        function.overloads.push(overload);
    }
    functions
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_signature() {
        let plus = find("_+_").unwrap();
        assert_eq!(plus.overloads.len(), 9);
        let index = &find("indexOf").unwrap().overloads;
        assert!(index.iter().all(|overload| overload.member && overload.result == Type::Int));
        assert_eq!(find("orValue").unwrap().overloads[0].open, ['V']);
        assert!(find("optional.of").is_some() && find("nothing").is_none());
        let total: usize = FUNCTIONS.values().map(|function| function.overloads.len()).sum();
        assert_eq!(total, table::SIGNATURES.lines().filter(|line| !line.trim().is_empty()).count());
    }
}
