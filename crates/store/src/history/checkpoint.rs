//! Checkpoints: signed statements, each chained to the one before, of what the log held up to a version.

use bytes::Bytes;
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use super::Level;
use super::archive::{Archive, Edit, LogEntry, Mark};
use super::chain::finish;
use super::record::{Hash, NO_HASH};
use crate::error::Result;
use crate::sign::{PublicKey, SigningKey};
use crate::transaction::Fence;
use crate::version::Version;

const DOMAIN: &str = "groundplane checkpoint 1";
const NAMES: &str = "checkpoint/";
/// Lines that one checkpoint covers at most, so that amending one stays cheap.
const COVERS: usize = 4_096;

/// A statement about the log, signed. Export the newest to keep it where nobody can change it with the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Counts from 1.
    pub index: u64,
    pub(crate) from: Mark,
    pub(crate) to: Mark,
    /// Records it covers.
    pub count: u64,
    pub(crate) root: Hash,
    pub(crate) previous: Hash,
    pub(crate) signature: Vec<u8>,
}

impl Checkpoint {
    /// It covers every change up to this version.
    pub fn version(&self) -> Version {
        self.to.version
    }

    /// What the next checkpoint is chained to.
    pub fn hash(&self) -> Hash {
        let mut context = Context::new(&SHA256);
        context.update(&self.message());
        context.update(&self.signature);
        finish(context)
    }

    /// Whether one of `signers` made this statement.
    pub fn is_signed_by(&self, signers: &[PublicKey]) -> bool {
        signers.iter().any(|signer| signer.verify(DOMAIN, &self.message(), &self.signature))
    }

    fn message(&self) -> Vec<u8> {
        let mut message = Vec::with_capacity(128);
        for number in [
            self.index,
            self.from.version.get(),
            self.from.time,
            self.to.version.get(),
            self.to.time,
            self.count,
        ] {
            message.extend_from_slice(&number.to_be_bytes());
        }
        message.extend_from_slice(&self.root);
        message.extend_from_slice(&self.previous);
        message
    }
}

/// A checkpoint as kept: what it said, and what retention has since left of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub said: Checkpoint,
    pub left: Option<Left>,
}

/// What retention left of the lines a checkpoint covers, signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Left {
    pub count: u64,
    pub root: Hash,
    pub signature: Vec<u8>,
}

impl Kept {
    /// What the log must hold for this checkpoint; `None` when nobody who may has said so.
    pub fn expected(&self, signers: &[PublicKey]) -> Option<(u64, Hash)> {
        match &self.left {
            None => Some((self.said.count, self.said.root)),
            Some(left) => {
                let message = left_message(&self.said, left.count, &left.root);
                let signed = signers.iter().any(|signer| signer.verify(DOMAIN, &message, &left.signature));
                signed.then_some((left.count, left.root))
            }
        }
    }
}

/// All checkpoints, oldest first.
pub(crate) async fn all(archive: &dyn Archive) -> Result<Vec<Kept>> {
    let found = archive.metas(NAMES).await?;
    Ok(found.iter().map(|(_, bytes)| postcard::from_bytes(bytes)).collect::<Result<_, _>>()?)
}

/// The newest checkpoint.
pub(crate) async fn latest(archive: &dyn Archive) -> Result<Option<Checkpoint>> {
    Ok(all(archive).await?.pop().map(|kept| kept.said))
}

/// Covers what came since the last checkpoint, up to `to`; gives how many checkpoints that took.
pub(crate) async fn write(
    archive: &dyn Archive,
    signing: &SigningKey,
    to: Mark,
    fence: Option<&Fence>,
) -> Result<usize> {
    let last = latest(archive).await?;
    let from = last.as_ref().map_or(Mark::default(), |last| last.to);
    let (mut index, mut previous) = last.map_or((0, NO_HASH), |last| (last.index, last.hash()));
    if to.version <= from.version {
        return Ok(0);
    }
    let mut edits = Vec::new();
    let (mut start, mut read) = (from, from);
    loop {
        // A part at a time: after a busy while there are more lines than one wants in memory at once.
        let mut lines = archive.lines(read, to, COVERS).await?;
        let more = lines.len() >= COVERS;
        read = lines.last().map_or(to, |last| Mark { version: last.version, time: last.time });
        lines.retain(|line| line.level == Level::Full);
        for covered in lines.chunks(COVERS) {
            let Some(end) = covered.last() else { break };
            index += 1;
            let end = Mark { version: end.version, time: end.time };
            let mut said = Checkpoint {
                index,
                from: start,
                to: end,
                count: covered.len() as u64,
                root: root(covered),
                previous,
                signature: Vec::new(),
            };
            said.signature = signing.sign(DOMAIN, &said.message()).to_vec();
            previous = said.hash();
            start = end;
            edits.push(put(&Kept { said, left: None })?);
        }
        if !more {
            break;
        }
    }
    let written = edits.len();
    if written > 0 {
        archive.edit(edits, fence).await?;
    }
    Ok(written)
}

/// The checkpoints that covered these versions, told what is left of them once the records are gone.
pub(crate) async fn amended(
    archive: &dyn Archive,
    signing: &SigningKey,
    gone: &[Version],
) -> Result<Vec<Edit>> {
    if gone.is_empty() {
        return Ok(Vec::new());
    }
    let mut edits = Vec::new();
    for mut kept in all(archive).await? {
        let covers =
            |version: &&Version| **version > kept.said.from.version && **version <= kept.said.to.version;
        if !gone.iter().any(|version| covers(&version)) {
            continue;
        }
        let mut lines = archive.lines(kept.said.from, kept.said.to, usize::MAX).await?;
        lines.retain(|line| line.level == Level::Full && !gone.contains(&line.version));
        let (count, root) = (lines.len() as u64, root(&lines));
        let signature = signing.sign(DOMAIN, &left_message(&kept.said, count, &root)).to_vec();
        kept.left = Some(Left { count, root, signature });
        edits.push(put(&kept)?);
    }
    Ok(edits)
}

/// The hash over these lines.
pub(crate) fn root(lines: &[LogEntry]) -> Hash {
    let mut context = Context::new(&SHA256);
    for line in lines {
        context.update(&line.version.get().to_be_bytes());
        context.update(&line.time.to_be_bytes());
        context.update(&(line.key.as_bytes().len() as u64).to_be_bytes());
        context.update(line.key.as_bytes());
        context.update(&line.place.to_bytes());
        context.update(&line.hash);
    }
    finish(context)
}

fn left_message(said: &Checkpoint, count: u64, root: &Hash) -> Vec<u8> {
    let mut message = b"left of ".to_vec();
    message.extend_from_slice(&said.hash());
    message.extend_from_slice(&count.to_be_bytes());
    message.extend_from_slice(root);
    message
}

fn put(kept: &Kept) -> Result<Edit> {
    let name = format!("{NAMES}{:020}", kept.said.index);
    Ok(Edit::PutMeta(name, Bytes::from(postcard::to_stdvec(kept)?)))
}
