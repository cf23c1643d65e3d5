//! Readings of sensors, and the system event log.

/// What a sensor measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Temperature in degrees Celsius.
    Celsius,
    /// Speed of a fan in revolutions per minute.
    Rpm,
    /// Speed of a fan in percent.
    Percent,
    /// Power in watts.
    Watts,
    /// Voltage in volts.
    Volts,
}

/// One reading.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Name of the sensor.
    pub name: String,
    /// The unit of `value`.
    pub quantity: Quantity,
    /// The value.
    pub value: f64,
    /// Whether the BMC reports the sensor as healthy; `None` when it does not say.
    pub is_healthy: Option<bool>,
}

/// An entry of the system event log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Identifier of the entry on the BMC.
    pub id: String,
    /// Seconds since the Unix epoch, by the clock of the BMC, if it has one.
    pub time: Option<u64>,
    /// What happened, in the words of the BMC or as the bytes of the record.
    pub message: String,
}
