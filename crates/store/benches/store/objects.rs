//! The objects that are written: devices of 1.4 KB JSON, each update changing a few fields.

/// A device. `@` stands for what is the device's own, `#` for what changes with each update.
const DEVICE: &str = concat!(
    r#"{"apiVersion":"dcim.groundplane.dev/v1","kind":"Device","metadata":{"name":"node-@@@@@@@@","#,
    r#""uid":"@@@@@@@@-@@@@-@@@@-@@@@-@@@@@@@@@@@@","resourceVersion":"","generation":1,"#,
    r#""creationTimestamp":"2026-03-14T08:15:30Z","labels":{"site":"site-@","rack":"r-@@@","role":"compute","#,
    r#""tenant":"team-@@"},"annotations":{"groundplane.dev/ticket":"OPS-@@@@"}},"spec":{"model":"r7-2u-@@","#,
    r#""serial":"@@@@@@@@@@@@","placement":{"rack":"r-@@@","unit":17,"height":2,"face":"front"},"power":"On","#,
    r#""interfaces":[{"name":"eno1","mac":"02:@@:@@:@@:@@:@@","speed":"25G","network":"prov-@@"},"#,
    r#"{"name":"eno2","mac":"02:@@:@@:@@:@@:@@","speed":"25G","network":"data-@@"},"#,
    r#"{"name":"bmc","mac":"02:@@:@@:@@:@@:@@","speed":"1G","network":"oob-@@"}],"#,
    r#""disks":[{"name":"nvme0","serial":"@@@@@@@@@@","size":"3840G"},{"name":"nvme1","serial":"@@@@@@@@@@","#,
    r#""size":"3840G"}],"image":{"name":"debian-13","digest":"sha256:@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"}},"#,
    r#""status":{"phase":"Ready","observedGeneration":1,"lastSeen":"2026-09-##T##:##:##Z","#,
    r#""temperature":{"inlet":##.#,"cpu":##.#},"powerWatts":###,"bmc":{"address":"fd00:@@@@:@@@@::@@","version":"7.10"},"#,
    r#""conditions":[{"type":"Ready","status":"True","reason":"Reachable","#,
    r#""lastProbeTime":"2026-09-##T##:##:##Z"},{"type":"Inventoried","status":"True","reason":"AsExpected","#,
    r#""message":"all 14 parts found where they are expected; firmware as in baseline 2026.09, no drift since the last audit"}]}}"#
);

/// What all keys start with.
pub const PREFIX: &[u8] = b"devices/";
/// What a fifth of them starts with.
pub const FIFTH: &[u8] = b"devices/site-0/";

/// The key of object `number`: numbers that follow each other do not stand beside each other.
pub fn key(number: usize) -> String {
    format!("devices/site-{}/node-{:016x}", number % 5, mix(number as u64))
}

/// The identity of object `number`.
pub fn uid(number: usize) -> [u8; 16] {
    let (high, low) = (mix(number as u64 ^ 0xA5A5), mix(number as u64 ^ 0x5A5A));
    ((u128::from(high) << 64) | u128::from(low)).to_be_bytes()
}

/// Makes bodies quickly, so that making them does not show in what is measured.
pub struct Bodies {
    own: Vec<usize>,
    changing: Vec<usize>,
    /// Where the version belongs.
    pub stamp: usize,
}

impl Bodies {
    pub fn new() -> Bodies {
        let places = |mark| DEVICE.bytes().enumerate().filter(move |(_, b)| *b == mark).map(|(at, _)| at);
        let field = r#""resourceVersion":""#;
        let stamp = DEVICE.find(field).map_or(0, |at| at + field.len());
        Bodies { own: places(b'@').collect(), changing: places(b'#').collect(), stamp }
    }

    /// Object `number` as update `turn` leaves it.
    pub fn body(&self, number: usize, turn: u64) -> Vec<u8> {
        let mut body = DEVICE.as_bytes().to_vec();
        fill(&mut body, &self.own, number as u64, b"0123456789abcdef");
        fill(&mut body, &self.changing, turn, b"1234567812345678");
        body
    }

    /// Bytes of every body.
    pub fn len(&self) -> usize {
        DEVICE.len()
    }
}

fn fill(body: &mut [u8], places: &[usize], seed: u64, digits: &[u8; 16]) {
    for (nth, places) in places.chunks(16).enumerate() {
        let mut random = mix(seed.wrapping_mul(31).wrapping_add(nth as u64));
        for at in places {
            body[*at] = digits[(random % 16) as usize];
            random /= 16;
        }
    }
}

/// Random numbers of the splitmix64 kind, the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}
