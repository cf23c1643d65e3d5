//! In which order the fields of a body come, for complaints about them.

use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::field::Path;

/// Sorts complaints about fields by where in a JSON body each field stands; a field given twice by its second place. Complaints
/// about fields that are not there come last.
pub(super) fn sort(complaints: &mut [String], body: &[u8]) {
    let mut places = Places { first: HashMap::new(), second: HashMap::new(), next: 0 };
    for complaint in complaints.iter() {
        let Some((is_duplicate, path)) = subject(complaint) else { continue };
        let wanted = if is_duplicate { &mut places.second } else { &mut places.first };
        wanted.insert(path, None);
        if is_duplicate {
            places.first.entry(path).or_insert(None);
        }
    }
    let text = String::from_utf8_lossy(body);
    let mut reader = serde_json::Deserializer::from_str(&text);
    // A body that was read once is read again, as far as the order needs it.
    let _ = Walk { path: Path::ROOT, places: &mut places }.deserialize(&mut reader);
    let place = |complaint: &String| {
        let (is_duplicate, path) = subject(complaint)?;
        let known = if is_duplicate { &places.second } else { &places.first };
        known.get(path).copied().flatten()
    };
    let mut order: Vec<(usize, String)> =
        complaints.iter().map(|each| (place(each).unwrap_or(usize::MAX), each.clone())).collect();
    order.sort_by_key(|(place, _)| *place);
    for (slot, (_, complaint)) in complaints.iter_mut().zip(order) {
        *slot = complaint;
    }
}

/// Whether a complaint is about a field given twice, and which field it is about.
fn subject(complaint: &str) -> Option<(bool, &str)> {
    let (is_duplicate, quoted) = match complaint.strip_prefix("duplicate field ") {
        Some(quoted) => (true, quoted),
        None => (false, complaint.strip_prefix("unknown field ")?),
    };
    Some((is_duplicate, quoted.strip_prefix('"')?.strip_suffix('"')?))
}

/// The fields that matter, and when each was met first and a second time.
struct Places<'a> {
    first: HashMap<&'a str, Option<usize>>,
    second: HashMap<&'a str, Option<usize>>,
    next: usize,
}

impl Places<'_> {
    fn meet(&mut self, path: &str) {
        self.next += 1;
        match self.first.get_mut(path) {
            Some(first @ None) => *first = Some(self.next),
            Some(Some(_)) => {
                if let Some(second @ None) = self.second.get_mut(path) {
                    *second = Some(self.next);
                }
            }
            None => {}
        }
    }
}

struct Walk<'p, 'a, 'c> {
    path: Path<'p>,
    places: &'a mut Places<'c>,
}

impl<'de> DeserializeSeed<'de> for Walk<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut index = 0;
        loop {
            let walk = Walk { path: self.path.index(index), places: &mut *self.places };
            if items.next_element_seed(walk)?.is_none() {
                return Ok(());
            }
            index += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            let path = self.path.field(&name);
            self.places.meet(&path.to_string());
            fields.next_value_seed(Walk { path, places: &mut *self.places })?;
        }
        Ok(())
    }
}
