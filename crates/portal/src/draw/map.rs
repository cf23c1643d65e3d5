//! A map of the world for sites: a coarse outline of our own, by longitude and latitude.

use maud::{Markup, html};

/// Outlines of the continents, drawn by hand to a few degrees: longitude and latitude of each corner.
const LANDS: [&[(i16, i16)]; 11] = [
    // North America.
    &[
        (-168, 66),
        (-156, 71),
        (-141, 70),
        (-125, 70),
        (-110, 68),
        (-95, 72),
        (-82, 70),
        (-82, 64),
        (-94, 60),
        (-92, 57),
        (-82, 55),
        (-79, 51),
        (-77, 57),
        (-78, 62),
        (-70, 61),
        (-64, 58),
        (-56, 53),
        (-60, 50),
        (-66, 50),
        (-61, 46),
        (-70, 43),
        (-74, 40),
        (-76, 35),
        (-81, 31),
        (-80, 26),
        (-82, 29),
        (-90, 29),
        (-97, 27),
        (-97, 20),
        (-91, 19),
        (-87, 21),
        (-88, 16),
        (-83, 15),
        (-83, 10),
        (-78, 9),
        (-82, 8),
        (-87, 13),
        (-95, 16),
        (-105, 20),
        (-112, 29),
        (-110, 23),
        (-117, 32),
        (-121, 36),
        (-124, 41),
        (-124, 48),
        (-133, 55),
        (-146, 61),
        (-158, 56),
        (-162, 59),
        (-166, 62),
    ],
    // Greenland.
    &[
        (-73, 78),
        (-60, 82),
        (-33, 83),
        (-18, 80),
        (-22, 71),
        (-34, 66),
        (-43, 60),
        (-52, 64),
        (-55, 70),
        (-68, 76),
    ],
    // South America.
    &[
        (-78, 8),
        (-72, 12),
        (-62, 10),
        (-52, 5),
        (-50, 0),
        (-44, -3),
        (-35, -6),
        (-39, -13),
        (-41, -22),
        (-48, -27),
        (-54, -34),
        (-58, -38),
        (-65, -41),
        (-66, -47),
        (-69, -52),
        (-74, -51),
        (-73, -42),
        (-71, -30),
        (-70, -18),
        (-76, -14),
        (-81, -5),
        (-80, 1),
    ],
    // Europe and Asia.
    &[
        (-9, 37),
        (-9, 43),
        (-1, 43),
        (-2, 48),
        (2, 51),
        (8, 54),
        (8, 57),
        (11, 57),
        (11, 54),
        (20, 55),
        (24, 59),
        (30, 60),
        (22, 61),
        (22, 65),
        (18, 62),
        (16, 57),
        (11, 59),
        (5, 60),
        (13, 66),
        (20, 70),
        (30, 70),
        (41, 67),
        (34, 64),
        (44, 66),
        (54, 69),
        (68, 69),
        (73, 72),
        (90, 75),
        (104, 77),
        (114, 73),
        (130, 72),
        (142, 73),
        (160, 70),
        (179, 69),
        (179, 65),
        (170, 60),
        (163, 58),
        (157, 51),
        (155, 58),
        (142, 59),
        (135, 54),
        (140, 49),
        (133, 43),
        (127, 39),
        (129, 36),
        (126, 35),
        (125, 39),
        (121, 40),
        (119, 38),
        (122, 37),
        (121, 31),
        (118, 24),
        (110, 21),
        (106, 20),
        (109, 12),
        (105, 9),
        (100, 13),
        (103, 2),
        (98, 9),
        (97, 17),
        (91, 22),
        (86, 20),
        (80, 14),
        (77, 8),
        (73, 17),
        (68, 24),
        (61, 25),
        (57, 27),
        (50, 30),
        (48, 29),
        (52, 24),
        (56, 25),
        (59, 22),
        (52, 16),
        (44, 13),
        (39, 21),
        (35, 28),
        (34, 31),
        (36, 36),
        (27, 37),
        (29, 41),
        (40, 41),
        (38, 47),
        (31, 46),
        (28, 42),
        (23, 40),
        (23, 37),
        (19, 41),
        (13, 45),
        (18, 40),
        (16, 38),
        (12, 42),
        (8, 44),
        (3, 43),
        (0, 39),
        (-5, 36),
    ],
    // Africa.
    &[
        (-6, 36),
        (10, 37),
        (11, 33),
        (20, 31),
        (32, 31),
        (37, 21),
        (43, 12),
        (51, 11),
        (42, -1),
        (39, -7),
        (41, -15),
        (35, -20),
        (33, -27),
        (26, -34),
        (18, -34),
        (14, -22),
        (12, -16),
        (13, -6),
        (9, 0),
        (9, 4),
        (-4, 5),
        (-8, 4),
        (-13, 8),
        (-17, 14),
        (-16, 21),
        (-10, 29),
    ],
    // Australia.
    &[
        (114, -22),
        (122, -18),
        (130, -12),
        (136, -12),
        (140, -17),
        (142, -11),
        (146, -19),
        (153, -26),
        (150, -37),
        (140, -38),
        (131, -32),
        (124, -33),
        (115, -34),
    ],
    // Great Britain, Ireland, Iceland.
    &[(-5, 50), (1, 51), (0, 54), (-2, 57), (-5, 59), (-5, 55), (-3, 53)],
    &[(-10, 52), (-6, 52), (-6, 55), (-9, 54)],
    &[(-22, 64), (-14, 65), (-16, 66), (-24, 66)],
    // Japan.
    &[(130, 32), (136, 34), (141, 36), (142, 43), (145, 44), (141, 45), (139, 38), (131, 34)],
    // Indonesia and New Guinea.
    &[
        (95, 5),
        (104, -3),
        (110, -8),
        (118, -4),
        (132, -1),
        (141, -3),
        (150, -10),
        (138, -8),
        (119, -9),
        (105, -7),
        (98, 1),
    ],
];

/// A place on the map.
pub struct Pin {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// What it is called.
    pub name: String,
    /// What is there.
    pub about: String,
    /// The address of its page.
    pub page: String,
    /// Whether something there needs attention.
    pub is_bad: bool,
}

/// The map with its pins. Neighbours have their names on different sides.
pub fn world(pins: &[Pin]) -> Markup {
    html! {
        svg.map viewBox="0 0 720 320" role="group" aria-label="Map of sites" {
            rect.sea width="720" height="320" {}
            @for land in LANDS { path.land d=(outline(land)) {} }
            @for (index, pin) in pins.iter().enumerate() {
                @let (beside, anchor) = if index % 2 == 0 { (8.0, "start") } else { (-8.0, "end") };
                @let (x, y) = place(pin.longitude, pin.latitude);
                a href=(pin.page) {
                    title { (pin.name) " · " (pin.about) }
                    circle.pin.bad[pin.is_bad] cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="5" {}
                    text.pin-name text-anchor=(anchor) x=(format!("{:.1}", x + beside)) y=(format!("{:.1}", y + 4.0)) { (crate::text::limited(&pin.name, 24)) }
                }
            }
        }
    }
}

fn place(longitude: f64, latitude: f64) -> (f64, f64) {
    // Two points a degree; the far south is left out.
    ((longitude.clamp(-180.0, 180.0) + 180.0) * 2.0, (84.0 - latitude.clamp(-76.0, 84.0)) * 2.0)
}

fn outline(land: &[(i16, i16)]) -> String {
    let mut path = String::new();
    for (index, (longitude, latitude)) in land.iter().enumerate() {
        let (x, y) = place(f64::from(*longitude), f64::from(*latitude));
        path.push(if index == 0 { 'M' } else { 'L' });
        path += &format!("{x:.0} {y:.0}");
    }
    path + "Z"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outline_is_coarse() {
        assert!(LANDS.iter().map(|land| land.len()).sum::<usize>() <= 400);
        assert_eq!(place(0.0, 0.0), (360.0, 168.0));
    }
}
