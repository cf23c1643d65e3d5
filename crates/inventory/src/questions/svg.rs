//! Drawings: racks side by side, and the way from port to port.

mod rack;
mod way;

pub use rack::racks;
pub use way::way;

use std::fmt::Write as _;

/// A drawing that is being made. Whatever is written into it is escaped.
struct Drawing(String);

/// Where a rectangle is: its left upper corner, its width and its height.
type Place = (i32, i32, i32, i32);

impl Drawing {
    /// An empty sheet of this size, white on pages of any colour.
    fn new(width: i32, height: i32, style: &str) -> Drawing {
        let mut drawing = Drawing(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,monospace\">\
             <style>{style}</style>"
        ));
        drawing.rectangle((0, 0, width, height), "sheet", 0);
        drawing
    }

    fn rectangle(&mut self, place: Place, class: &str, round: i32) {
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

    /// Opens a group with a text that shows when one points at it.
    fn begin(&mut self, told: &str) {
        self.add(format_args!("<g><title>{}</title>", escaped(told)));
    }

    fn end(&mut self) {
        self.0.push_str("</g>");
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        // Into a string nothing fails.
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

/// A count as a coordinate; no drawing is so large that it does not fit.
fn number(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX / 1024)
}
