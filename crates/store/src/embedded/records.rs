//! Records as the embedded engine keeps them: in the order they were written. The object names the last of its
//! records, and each record the one before it.

use std::ops::Bound;

use redb::{ReadOnlyTable, ReadTransaction};

use super::file::failed;
use super::tables::{ENDS, OBJECTS, RECORDS, u64_of};
use crate::error::{Error, Result};
use crate::history::Cursor;
use crate::history::archive::{Filed, Order};
use crate::history::record::{Glimpse, Head, Record, RecordId};
use crate::key::Key;
use crate::version::Version;

/// A record, and whose it is, behind what `buffer` holds.
pub(crate) fn encode(key: &Key, place: RecordId, record: &Record, buffer: Vec<u8>) -> Result<Vec<u8>> {
    Ok(postcard::to_extend(&(key, place, record), buffer)?)
}

/// Takes apart the record that is kept at `version`.
pub(crate) fn decode(version: Version, value: &[u8]) -> Result<Filed> {
    let (key, place, record) =
        postcard::from_bytes(value).map_err(|error| damaged(version, value, &error))?;
    Ok(Filed { key, place, record })
}

/// The same, looked at where it lies.
pub(crate) fn glimpse(version: Version, value: &[u8]) -> Result<(Key, RecordId, Glimpse<'_>)> {
    postcard::from_bytes(value).map_err(|error| damaged(version, value, &error))
}

fn damaged(version: Version, value: &[u8], error: &postcard::Error) -> Error {
    let whose = match postcard::take_from_bytes::<Key>(value) {
        Ok((key, _)) => format!(" of {key}"),
        Err(_) => String::new(),
    };
    Error::damaged(format_args!("a change{whose} can't be decoded, at version {version}: {error}"))
}

/// The lives of keys, live and ended, and the records of each.
pub(crate) struct Lives {
    objects: ReadOnlyTable<&'static [u8], &'static [u8]>,
    ends: ReadOnlyTable<&'static [u8], u64>,
    records: ReadOnlyTable<u64, &'static [u8]>,
}

/// One life of a key.
struct Life {
    born: u64,
    /// The version of its last record.
    last: Version,
}

impl Lives {
    pub fn open(read: &ReadTransaction) -> Result<Lives> {
        Ok(Lives {
            objects: read.open_table(OBJECTS).map_err(failed)?,
            ends: read.open_table(ENDS).map_err(failed)?,
            records: read.open_table(RECORDS).map_err(failed)?,
        })
    }

    /// Records of one key, strictly beyond `beyond` in the given order.
    pub fn records(
        &self,
        key: &Key,
        beyond: Option<Cursor>,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Filed>> {
        let edge = beyond.map(|beyond| beyond.place);
        let mut lives = self.lives(key)?;
        if let Some(life) = lives.iter_mut().find(|life| edge.is_some_and(|edge| edge.born == life.born)) {
            life.last = self.start(key, life, beyond)?;
        }
        let mut found = Vec::new();
        match order {
            Order::NewestFirst => {
                lives.retain(|life| edge.is_none_or(|edge| life.born <= edge.born));
                for life in lives.iter().rev() {
                    let records = self.walk(key, life, None);
                    let wanted = records.filter(|filed| match (filed, edge) {
                        (Ok(filed), Some(edge)) => filed.place < edge,
                        _ => true,
                    });
                    for filed in wanted.take(limit - found.len()) {
                        found.push(filed?);
                    }
                }
            }
            Order::OldestFirst => {
                lives.retain(|life| edge.is_none_or(|edge| life.born >= edge.born));
                for life in &lives {
                    if found.len() >= limit {
                        break;
                    }
                    let mut records = self.walk(key, life, edge).collect::<Result<Vec<_>>>()?;
                    records.reverse();
                    found.append(&mut records);
                }
                found.truncate(limit);
            }
        }
        Ok(found)
    }

    /// Where to start walking back through `life`: at the record that is near, unless it is gone or another's.
    fn start(&self, key: &Key, life: &Life, beyond: Option<Cursor>) -> Result<Version> {
        let known = |beyond: &Cursor| beyond.near > Version::ZERO && beyond.near < life.last;
        let Some(beyond) = beyond.filter(known) else { return Ok(life.last) };
        let Some(value) = self.records.get(beyond.near.get()).map_err(failed)? else { return Ok(life.last) };
        let near = decode(beyond.near, value.value())?;
        let fits = near.key == *key && near.place.born == life.born && near.place >= beyond.place;
        Ok(if fits { beyond.near } else { life.last })
    }

    /// Records of all keys, by key and place, strictly after `after`: some more than `limit`, so that no life is
    /// walked twice.
    pub fn all(&self, after: Option<(Key, RecordId)>, limit: usize) -> Result<Vec<Filed>> {
        let mut found = Vec::new();
        let mut next = match after {
            None => self.key_after(None)?,
            Some((key, place)) => {
                found = self.records(&key, Some(place.into()), Order::OldestFirst, usize::MAX)?;
                self.key_after(Some(&key))?
            }
        };
        while let Some(key) = next.filter(|_| found.len() < limit) {
            found.extend(self.records(&key, None, Order::OldestFirst, usize::MAX)?);
            next = self.key_after(Some(&key))?;
        }
        Ok(found)
    }

    /// The next key that has, or once had, an object.
    fn key_after(&self, key: Option<&Key>) -> Result<Option<Key>> {
        let object_edge = key.map_or(Bound::Unbounded, |key| Bound::Excluded(key.as_bytes()));
        let mut objects = self.objects.range::<&[u8]>((object_edge, Bound::Unbounded)).map_err(failed)?;
        let object = objects.next().transpose().map_err(failed)?.map(|(key, _)| key.value().to_vec());
        // Behind all ends of this key, which stand under it and a NUL.
        let past = key.map(|key| [key.as_bytes(), &[1]].concat());
        let end_edge = past.as_deref().map_or(Bound::Unbounded, Bound::Included);
        let mut ends = self.ends.range::<&[u8]>((end_edge, Bound::Unbounded)).map_err(failed)?;
        let end = ends.next().transpose().map_err(failed)?;
        let end = end.and_then(|(at, _)| Some(at.value().get(..at.value().len().checked_sub(9)?)?.to_vec()));
        let next = match (object, end) {
            (Some(object), Some(end)) => Some(object.min(end)),
            (object, end) => object.or(end),
        };
        Ok(next.map(Key::new).transpose()?)
    }

    /// The lives of a key, oldest first.
    fn lives(&self, key: &Key) -> Result<Vec<Life>> {
        let from = [key.as_bytes(), &[0]].concat();
        let to = [key.as_bytes(), &[1]].concat();
        let mut lives = Vec::new();
        for row in self.ends.range(from.as_slice()..to.as_slice()).map_err(failed)? {
            let (at, last) = row.map_err(failed)?;
            let born = at.value().get(from.len()..).and_then(u64_of);
            let born = born.ok_or_else(|| Error::damaged("the end of a life"))?;
            lives.push(Life { born, last: Version::new(last.value()) });
        }
        if let Some(value) = self.objects.get(key.as_bytes()).map_err(failed)? {
            let (head, _) = Head::decode(value.value())?;
            let last = if head.chain.at > Version::ZERO { head.chain.at } else { head.version };
            lives.push(Life { born: head.chain.born, last });
        }
        Ok(lives)
    }

    /// Walks a life back from its last record to the first that is still kept, or that is not beyond `edge`.
    fn walk<'a>(
        &'a self,
        key: &'a Key,
        life: &Life,
        edge: Option<RecordId>,
    ) -> impl Iterator<Item = Result<Filed>> + 'a {
        let (born, mut next) = (life.born, Some(life.last));
        std::iter::from_fn(move || {
            let version = next.take()?;
            let value = match self.records.get(version.get()).map_err(failed) {
                Ok(found) => found?,
                Err(error) => return Some(Err(error)),
            };
            let filed = match decode(version, value.value()) {
                Ok(filed) => filed,
                Err(error) => return Some(Err(error)),
            };
            if filed.key != *key || filed.place.born != born || edge.is_some_and(|edge| filed.place <= edge) {
                return None;
            }
            let before = filed.record.before.as_ref();
            // Always further back, or a record that was tampered with could lead in a circle.
            next =
                before.map(|before| before.record.unwrap_or(before.version)).filter(|older| *older < version);
            Some(Ok(filed))
        })
    }
}
