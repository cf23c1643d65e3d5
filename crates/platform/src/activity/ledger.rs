//! Who changed what when, of everything the store keeps the past of, in memory: what a page of activities is looked up in.
//!
//! It is read off the store's own log and follows it. The objects themselves stay there: only those of the page that is
//! shown are read.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use store::{Change, Deed, DeedMark, DeedPlace, Key, Level, Store, Uid, Version};

/// How many deeds are read at once.
const STEP: usize = 20_000;
/// Servers that share a store may disagree on the time by this much, in microseconds.
const SKEW: u64 = 600_000_000;
/// None.
const NOWHERE: u32 = u32::MAX;

/// All changes, oldest first.
#[derive(Default)]
pub struct Ledger {
    rows: RwLock<Rows>,
    catching_up: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    lives: Vec<Life>,
    life_of: HashMap<(Key, u64), u32>,
    users: Vec<Arc<str>>,
    user_of: HashMap<Arc<str>, u32>,
    kinds: Vec<KindOf>,
    kind_of: HashMap<KindOf, u32>,
    through: DeedMark,
}

/// One change.
struct Row {
    version: Version,
    time: u64,
    life: u32,
    user: u32,
    sequence: u32,
    /// The next change of the same life.
    next: u32,
    is_whole: bool,
}

/// One life of an object.
struct Life {
    key: Key,
    born: u64,
    uid: Uid,
    kind: u32,
    last: u32,
}

/// A kind in a plane.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KindOf {
    /// The plane: a project's name, or nothing.
    pub plane: String,
    /// The group.
    pub group: String,
    /// The resource.
    pub plural: String,
}

/// Which changes are looked for. Each part is asked as seldom as possible.
pub struct Wanted<'a> {
    /// Not before this, in microseconds.
    pub start: u64,
    /// Before this.
    pub end: u64,
    /// Older than this.
    pub below: Version,
    /// Of these kinds.
    pub kind: &'a mut dyn FnMut(&KindOf) -> Sees,
    /// By these users.
    pub user: &'a mut dyn FnMut(&str) -> bool,
    /// Of these objects: the key, the life, and whether each has to be asked for by its name.
    pub object: &'a mut dyn FnMut(&Key, Uid, bool) -> bool,
    /// Set while looking, when it has taken long enough.
    pub is_tired: &'a Cell<bool>,
}

/// Which objects of a kind are wanted, as far as rights go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sees {
    /// None.
    Nothing,
    /// Those that one may read by their names.
    Some,
    /// All.
    All,
}

/// A change that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// Where it stands.
    pub version: Version,
    /// When, in microseconds.
    pub time: u64,
    /// Whose change it is.
    pub key: Key,
    /// Which life of it.
    pub uid: Uid,
    /// In whose name.
    pub user: Arc<str>,
    place: DeedPlace,
    near: Version,
}

impl Found {
    /// The whole change; nothing once retention has let go of it.
    pub async fn change(&self, store: &dyn Store) -> store::Result<Option<Change>> {
        store.change(&self.key, self.place, self.near).await
    }
}

impl Ledger {
    /// Takes in what has happened since it last did.
    pub async fn catch_up(&self, store: &dyn Store) -> store::Result<()> {
        let now = store.current().await?.version();
        if self.read().through.version >= now {
            return Ok(());
        }
        let _alone = self.catching_up.lock().await;
        loop {
            let through = self.read().through;
            if through.version >= now {
                return Ok(());
            }
            let deeds = store.deeds(through, STEP).await?;
            let is_all = deeds.len() < STEP || deeds.last().is_none_or(|last| last.version >= now);
            let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
            for deed in deeds {
                rows.add(deed);
            }
            if is_all {
                rows.through.version = rows.through.version.max(now);
                return Ok(());
            }
        }
    }

    /// The newest version it has taken in.
    pub fn version(&self) -> Version {
        self.read().through.version
    }

    /// Shows what is wanted, newest first, until `enough` are found; the last is where looking ended, if it did before the
    /// beginning.
    pub fn look(&self, wanted: &mut Wanted<'_>, enough: usize) -> (Vec<Found>, Option<Version>) {
        let rows = self.read();
        let users: Vec<bool> = rows.users.iter().map(|user| (wanted.user)(user)).collect();
        let kinds: Vec<Sees> = rows.kinds.iter().map(|kind| (wanted.kind)(kind)).collect();
        let upto = rows.rows.partition_point(|row| row.version < wanted.below);
        let late = rows.rows[..upto].partition_point(|row| row.time < wanted.end.saturating_add(SKEW));
        let mut found = Vec::new();
        for row in rows.rows[..late].iter().rev() {
            if row.time < wanted.start.saturating_sub(SKEW) {
                break;
            }
            let life = &rows.lives[row.life as usize];
            let sees = kinds[life.kind as usize];
            if users[row.user as usize]
                && sees != Sees::Nothing
                && row.time >= wanted.start
                && row.time < wanted.end
                && (wanted.object)(&life.key, life.uid, sees == Sees::Some)
            {
                found.push(rows.found(row));
            }
            if found.len() >= enough || wanted.is_tired.get() {
                return (found, Some(row.version));
            }
        }
        (found, None)
    }

    /// Shows what is wanted after a version, oldest first.
    pub fn look_after(&self, wanted: &mut Wanted<'_>, after: Version) -> Vec<Found> {
        let rows = self.read();
        let upto = rows.rows.partition_point(|row| row.version < wanted.below);
        let from = rows.rows.partition_point(|row| row.version <= after).min(upto);
        let new = rows.rows[from..upto].iter().filter(|row| {
            let life = &rows.lives[row.life as usize];
            let sees = (wanted.kind)(&rows.kinds[life.kind as usize]);
            (wanted.user)(&rows.users[row.user as usize])
                && sees != Sees::Nothing
                && (wanted.object)(&life.key, life.uid, sees == Sees::Some)
        });
        new.map(|row| rows.found(row)).collect()
    }

    /// Counts changes by kind, user and, if asked for, namespace, without looking at any object.
    pub fn count(
        &self,
        wanted: &mut Wanted<'_>,
        by_namespace: bool,
        mut count: impl FnMut(&KindOf, &str, &str, u64),
    ) {
        let rows = self.read();
        let mut counts: HashMap<(u32, u32, &str), u64> = HashMap::new();
        let users: Vec<bool> = rows.users.iter().map(|user| (wanted.user)(user)).collect();
        let kinds: Vec<Sees> = rows.kinds.iter().map(|kind| (wanted.kind)(kind)).collect();
        for row in rows.rows.iter().rev() {
            if row.time < wanted.start.saturating_sub(SKEW) {
                break;
            }
            let life = &rows.lives[row.life as usize];
            let sees = kinds[life.kind as usize];
            if row.time >= wanted.start
                && row.time < wanted.end
                && users[row.user as usize]
                && sees != Sees::Nothing
                && (wanted.object)(&life.key, life.uid, sees == Sees::Some)
            {
                let namespace = if by_namespace { namespace(&life.key) } else { "" };
                *counts.entry((life.kind, row.user, namespace)).or_default() += 1;
            }
        }
        for ((kind, user, namespace), number) in counts {
            count(&rows.kinds[kind as usize], &rows.users[user as usize], namespace, number);
        }
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Rows> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner)
    }
}

fn namespace(key: &Key) -> &str {
    apiserver::keys::parts(key).map_or("", |at| at.namespace)
}

impl Rows {
    fn add(&mut self, deed: Deed) {
        self.through = DeedMark { version: deed.version, time: deed.time };
        // What controllers report, and what has no past, is no activity.
        if deed.level != Level::Full {
            return;
        }
        let Some(parts) = apiserver::keys::parts(&deed.key) else { return };
        let kind = KindOf {
            plane: parts.plane.to_owned(),
            group: parts.group.to_owned(),
            plural: parts.plural.to_owned(),
        };
        let kind = self.kind(kind);
        let user = self.user(&deed.user);
        let Ok(place) = u32::try_from(self.rows.len()) else { return };
        let life = self.life(deed.key, deed.place.born, deed.uid, kind);
        let before = std::mem::replace(&mut self.lives[life as usize].last, place);
        if let Some(before) = self.rows.get_mut(before as usize) {
            before.next = place;
        }
        self.rows.push(Row {
            version: deed.version,
            time: deed.time,
            life,
            user,
            sequence: deed.place.sequence,
            next: NOWHERE,
            is_whole: deed.is_whole,
        });
    }

    fn kind(&mut self, kind: KindOf) -> u32 {
        if let Some(known) = self.kind_of.get(&kind) {
            return *known;
        }
        let id = u32::try_from(self.kinds.len()).unwrap_or(NOWHERE);
        self.kinds.push(kind.clone());
        self.kind_of.insert(kind, id);
        id
    }

    fn user(&mut self, user: &Arc<str>) -> u32 {
        if let Some(known) = self.user_of.get(user) {
            return *known;
        }
        let id = u32::try_from(self.users.len()).unwrap_or(NOWHERE);
        self.users.push(user.clone());
        self.user_of.insert(user.clone(), id);
        id
    }

    fn life(&mut self, key: Key, born: u64, uid: Uid, kind: u32) -> u32 {
        if let Some(known) = self.life_of.get(&(key.clone(), born)) {
            return *known;
        }
        let id = u32::try_from(self.lives.len()).unwrap_or(NOWHERE);
        self.lives.push(Life { key: key.clone(), born, uid, kind, last: NOWHERE });
        self.life_of.insert((key, born), id);
        id
    }

    fn found(&self, row: &Row) -> Found {
        let life = &self.lives[row.life as usize];
        Found {
            version: row.version,
            time: row.time,
            key: life.key.clone(),
            uid: life.uid,
            user: self.users[row.user as usize].clone(),
            place: DeedPlace { born: life.born, sequence: row.sequence },
            near: self.near(row),
        }
    }

    /// The next change of the same life whose record holds a whole object.
    fn near(&self, row: &Row) -> Version {
        let mut next = row.next;
        // The store keeps a whole object every so often; further away it is no help.
        for _ in 0..128 {
            match self.rows.get(next as usize) {
                Some(row) if row.is_whole => return row.version,
                Some(row) => next = row.next,
                None => break,
            }
        }
        Version::ZERO
    }
}
