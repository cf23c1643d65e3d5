//! Expressions of each type, grown from choices. Almost all of them compile, so that what runs them is reached.

use crate::choices::Choices;

/// One that is true or false.
pub fn condition(choices: &mut Choices<'_>, depth: usize) -> String {
    if depth == 0 {
        return choices
            .one_of(&["self.b", "true", "false", "has(self.missing)", "has(self.o.b)", "self.o.b"])
            .to_owned();
    }
    let less = depth - 1;
    match choices.below(16) {
        0 => format!("({} && {})", condition(choices, less), condition(choices, less)),
        1 => format!("({} || {})", condition(choices, less), condition(choices, less)),
        2 => format!("!{}", condition(choices, 0)),
        3 => format!(
            "({} ? {} : {})",
            condition(choices, less),
            condition(choices, less),
            condition(choices, less)
        ),
        4 => {
            let sign = choices.one_of(&["==", "!=", "<", "<=", ">", ">="]);
            format!("{} {sign} {}", number(choices, less), number(choices, less))
        }
        5 => {
            let sign = choices.one_of(&["==", "!=", "<", ">"]);
            format!("{} {sign} {}", text(choices, less), text(choices, less))
        }
        6 => {
            let fold = choices.one_of(&["all", "exists", "exists_one"]);
            format!("{}.{fold}(x, x > {})", list(choices, less), number(choices, 0))
        }
        7 => format!("{} in {}", number(choices, less), list(choices, less)),
        8 => {
            let call = choices.one_of(&["startsWith", "endsWith", "contains"]);
            format!("{}.{call}({})", text(choices, less), text(choices, 0))
        }
        9 => format!(
            "{}.matches('{}')",
            text(choices, less),
            choices.one_of(&["^a", "[0-9]+", "b$", "(a|b)*", "("])
        ),
        10 => format!("{} == {}", list(choices, less), list(choices, less)),
        11 => format!("{} == {}", other(choices, less), other(choices, less)),
        12 => format!("{} == {}", double(choices, less), double(choices, less)),
        13 => format!("isQuantity({}) || isIP({})", text(choices, less), text(choices, 0)),
        14 => format!("self.?missing.orValue({}) == {}", text(choices, 0), text(choices, less)),
        _ => format!("cel.bind(v, {}, v > 1 || {})", number(choices, less), condition(choices, less)),
    }
}

fn number(choices: &mut Choices<'_>, depth: usize) -> String {
    if depth == 0 {
        let plain = [
            "self.i",
            "self.j",
            "0",
            "1",
            "-1",
            "9223372036854775807",
            "self.o.i",
            "self.m['a']",
            "self.m['no']",
            "self.l[0]",
            "self.l[7]",
        ];
        return choices.one_of(&plain).to_owned();
    }
    let less = depth - 1;
    match choices.below(10) {
        0..4 => {
            let sign = choices.one_of(&["+", "-", "*", "/", "%"]);
            format!("({} {sign} {})", number(choices, less), number(choices, less))
        }
        4 => format!("size({})", list(choices, less)),
        5 => format!("size({})", text(choices, less)),
        6 => format!("-({})", number(choices, less)),
        7 => format!(
            "int({})",
            choices.one_of(&["self.d", "self.s", "'12'", "1e300", "timestamp('2026-01-02T03:04:05Z')"])
        ),
        8 => format!("{}.sum()", list(choices, less)),
        _ => format!("{}.indexOf({})", text(choices, less), text(choices, 0)),
    }
}

fn double(choices: &mut Choices<'_>, depth: usize) -> String {
    if depth == 0 {
        return choices.one_of(&["self.d", "0.0", "1e308", "-0.5", "double('NaN')"]).to_owned();
    }
    match choices.below(3) {
        0 => format!("double({})", number(choices, depth - 1)),
        _ => {
            let sign = choices.one_of(&["+", "-", "*", "/"]);
            format!("({} {sign} {})", double(choices, depth - 1), double(choices, depth - 1))
        }
    }
}

fn text(choices: &mut Choices<'_>, depth: usize) -> String {
    if depth == 0 {
        return choices
            .one_of(&["self.s", "self.t", "''", "'a'", "'%s'", "self.missing", "self.texts[0]", "r'\\d'"])
            .to_owned();
    }
    let less = depth - 1;
    match choices.below(10) {
        0 => format!("({} + {})", text(choices, less), text(choices, less)),
        1 => format!("string({})", number(choices, less)),
        2 => format!("string({})", double(choices, less)),
        3 => format!("{}.substring({})", text(choices, less), number(choices, 0)),
        4 => format!("{}.replace({}, {})", text(choices, less), text(choices, 0), text(choices, 0)),
        5 => format!("{}.split({}).join('-')", text(choices, less), text(choices, 0)),
        6 => format!("{}.lowerAscii()", text(choices, less)),
        7 => format!("'%d %s'.format([{}, {}])", number(choices, less), text(choices, less)),
        8 => format!("{}.charAt({})", text(choices, less), number(choices, 0)),
        _ => format!("({} ? {} : {})", condition(choices, less), text(choices, less), text(choices, less)),
    }
}

fn list(choices: &mut Choices<'_>, depth: usize) -> String {
    if depth == 0 {
        return choices.one_of(&["self.l", "[1, 2, 3]", "[0]", "self.l.filter(y, y > 1)"]).to_owned();
    }
    let less = depth - 1;
    match choices.below(7) {
        0 => format!("({} + {})", list(choices, less), list(choices, less)),
        1 => format!("{}.map(y, y * {})", list(choices, less), number(choices, 0)),
        2 => format!("{}.filter(y, {})", list(choices, less), condition(choices, less)),
        3 => format!("[{}, {}]", number(choices, less), number(choices, less)),
        4 => format!("{}.sort()", list(choices, less)),
        5 => format!("{}.distinct()", list(choices, less)),
        _ => format!("{}.slice(0, {})", list(choices, less), number(choices, 0)),
    }
}

/// Durations, times, quantities, maps and the like, of one type each time.
fn other(choices: &mut Choices<'_>, depth: usize) -> String {
    match choices.below(4) {
        0 => format!("duration({})", choices.one_of(&["'1h'", "'-5s'", "self.s", "'9999999h'"])),
        1 => format!("dyn({})", text(choices, depth)),
        2 => format!("dyn({})", list(choices, depth)),
        _ => choices
            .one_of(&["dyn(self.m)", "dyn(self.free)", "dyn(self.either)", "dyn(null)", "dyn(self)"])
            .to_owned(),
    }
}
