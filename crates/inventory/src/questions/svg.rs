//! SVG drawings: rack elevations and port traces.

mod rack;
mod trace;

pub use rack::racks;
pub use trace::trace;

use std::fmt::Write as _;

/// A drawing under construction. Text is escaped.
struct Drawing(String);

/// A rectangle: x and y of the upper left corner, width, height.
type Rect = (i32, i32, i32, i32);

impl Drawing {
    /// An empty drawing of this size on a white background.
    fn new(width: i32, height: i32, style: &str) -> Drawing {
        let mut drawing = Drawing(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,monospace\">\
             <style>{style}</style>"
        ));
        drawing.rectangle((0, 0, width, height), "sheet", 0);
        drawing
    }

    fn rectangle(&mut self, place: Rect, class: &str, round: i32) {
        let (x, y, width, height) = place;
        let class = escaped(class);
        self.add(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{round}\"/>"
        ));
    }

    fn text(&mut self, x: i32, y: i32, class: &str, text: &str) {
        self.add(format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(text)));
    }

    /// A line or a curve.
    fn path(&mut self, class: &str, path: &str) {
        self.add(format_args!("<path class=\"{class}\" d=\"{path}\"/>"));
    }

    /// Opens a group with a tooltip.
    fn begin(&mut self, told: &str) {
        self.add(format_args!("<g><title>{}</title>", escaped(told)));
    }

    fn end(&mut self) {
        self.0.push_str("</g>");
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(element);
        self.0.push('\n');
    }

    fn finish(self) -> String {
        self.0 + "</svg>\n"
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A count as a coordinate. Saturates.
fn number(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX / 1024)
}
