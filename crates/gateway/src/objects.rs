//! Objects of one collection on one face: get, list, create, update, delete, signal.

mod applied;
mod create;
mod delete;
mod found;
mod list;
mod page;
mod placement;
mod secret;
mod signal;
mod sync;
mod update;

use prost_reflect::DynamicMessage;
use tonic::Code;

use crate::caller::Caller;
use crate::collection::{Collection, Face};
use crate::failure::Failure;
use crate::view::{Names, View};

pub use found::Found;
pub use list::{Listed, Wanted};
pub use signal::{PLURAL as SIGNALS, Signalled};
pub use sync::{Observation, Outcome, Synced};
pub use update::Changes;

/// Objects of one collection, as one caller has them.
pub struct Objects {
    pub(crate) caller: Caller,
    pub(crate) view: View,
}

impl Objects {
    /// The objects of a collection.
    pub fn of(caller: Caller, face: Face, collection: &'static Collection) -> Result<Objects, Failure> {
        let view = View::of(face, collection);
        let view = view.ok_or_else(|| Failure::new(Code::Unimplemented, "there is no such collection"))?;
        Ok(Objects { caller, view })
    }

    /// How they are shown.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// One object.
    pub async fn get(&self, id: &str) -> Result<DynamicMessage, Failure> {
        let names = Names::at(self.caller.now().await?);
        let found = self.find(id, &names)?;
        let mut message = self.show(&found, &names)?;
        self.reveal(&mut message, &found)?;
        Ok(message)
    }
}
