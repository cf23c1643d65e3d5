//! Bytes of request bodies in memory.

use std::sync::Arc;

use krm::status::Status;

use super::{Limits, Rank, too_many};

/// Bytes are counted in steps of this size.
const STEP: usize = 64 << 10;

/// The bytes of one request body, and of what it is parsed into. They count until this is dropped.
pub struct HeldBytes {
    limits: Arc<Limits>,
    user: Arc<str>,
    rank: Rank,
    counted: usize,
    is_being_sent: bool,
}

impl Limits {
    /// Lets a body be sent, or says that this user is sending too many.
    pub fn receive(self: &Arc<Limits>, user: &Arc<str>, rank: Rank) -> Result<HeldBytes, Status> {
        let mut going_on = self.lock();
        let counts = going_on.users.entry(user.clone()).or_default();
        let most = self.settings.requests_per_user;
        if counts.bodies >= most {
            return Err(too_many("requests of this user whose bodies are being sent", most));
        }
        counts.bodies += 1;
        drop(going_on);
        Ok(HeldBytes { limits: self.clone(), user: user.clone(), rank, counted: 0, is_being_sent: true })
    }
}

impl HeldBytes {
    /// Counts that it is `bytes` large now, or says that there is no room for so much.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), Status> {
        if bytes <= self.counted {
            return Ok(());
        }
        let wanted = bytes.div_ceil(STEP).saturating_mul(STEP);
        let more = wanted - self.counted;
        let settings = &self.limits.settings;
        let mut going_on = self.limits.lock();
        let kept = if self.rank == Rank::System { 0 } else { settings.body_bytes / 4 };
        let of_user = going_on.users.get(&self.user).map_or(0, |counts| counts.body_bytes);
        let checks = [
            (going_on.body_bytes, settings.body_bytes - kept, "request bodies"),
            (of_user, settings.body_bytes_per_user, "request bodies of this user"),
        ];
        for (found, most, what) in checks {
            if found.saturating_add(more) > most {
                let why = format!(
                    "too many bytes in {what} at once: limit is {most}; send less at a time, or try again later"
                );
                return Err(Status::too_many_requests(why, 1));
            }
        }
        going_on.body_bytes += more;
        going_on.users.entry(self.user.clone()).or_default().body_bytes += more;
        self.counted = wanted;
        Ok(())
    }

    /// All of it was sent.
    pub fn is_complete(&mut self) {
        if std::mem::take(&mut self.is_being_sent) {
            let mut going_on = self.limits.lock();
            if let Some(counts) = going_on.users.get_mut(&self.user) {
                counts.bodies = counts.bodies.saturating_sub(1);
            }
            going_on.forget_idle(&self.user);
        }
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        let mut going_on = self.limits.lock();
        going_on.body_bytes = going_on.body_bytes.saturating_sub(self.counted);
        if let Some(counts) = going_on.users.get_mut(&self.user) {
            counts.body_bytes = counts.body_bytes.saturating_sub(self.counted);
            counts.bodies = counts.bodies.saturating_sub(usize::from(self.is_being_sent));
        }
        going_on.forget_idle(&self.user);
    }
}
