//! Virtual media.

/// A slot for virtual media.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// Name of the slot, unique on the BMC.
    pub id: String,
    /// Whether it takes optical images (CD, DVD).
    pub is_optical: bool,
    /// URL of the image that is inserted.
    pub image: Option<String>,
}
