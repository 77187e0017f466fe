//! The tray icon as pixels: the pilot flame over its cursor, and a number drawn as outlines, so that no font is needed.
//!
//! Idle is an outline; working is filled, the number beside it; needs-you is filled, the number knocked out of a disc
//! (two digits: of a pill); an error is an outline over a broken cursor, an exclamation mark beside it. State is shape
//! and number, never colour: one ink and its transparency, as a template image wants it.

use tiny_skia::{
    BlendMode, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform,
};

use crate::wire::door::Shape;

/// Height in points; the width follows the number.
pub const HEIGHT: f32 = 18.0;

/// Pixels, row by row from the top, four bytes each: red, green, blue, opacity (not multiplied in).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Icon {
    /// The pixels.
    pub rgba: Vec<u8>,
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// Draws it in black at 1×, 2×, …; `None` only where the scale is not a sensible one.
pub fn icon(shape: Shape, number: u32, scale: u8) -> Option<Icon> {
    let text = number.min(99).to_string();
    let two = text.len() > 1;
    let width = match (shape, two) {
        (Shape::Idle, _) => 18.0,
        (Shape::Error, _) | (Shape::Working, false) => 25.0,
        (Shape::Working, true) => 32.0,
        (Shape::NeedsYou, false) => 28.0,
        (Shape::NeedsYou, true) => 34.0,
    };
    let scale = f32::from(scale.clamp(1, 8));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 34 × 8")]
    let pixels = |points: f32| (points * scale).round() as u32;
    let mut ground = Ground {
        pixmap: Pixmap::new(pixels(width), pixels(HEIGHT))?,
        at: Transform::from_scale(scale, scale),
    };
    match shape {
        Shape::Idle => {
            ground.stroke(flame((12.3, 1.9), OUTLINE)?, 1.3);
            ground.fill(rounded(3.6, 15.0, 10.0, 1.6)?, BlendMode::SourceOver);
        }
        Shape::Error => {
            ground.stroke(flame((11.3, 1.9), OUTLINE)?, 1.3);
            ground.stroke(lines(&[(2.6, 15.8), (5.8, 15.8)])?, 1.6);
            ground.stroke(lines(&[(9.4, 15.8), (12.6, 15.8)])?, 1.6);
            ground.stroke(lines(&[(19.3, 3.2), (19.3, 10.2)])?, 2.0);
            ground.fill(PathBuilder::from_circle(19.3, 14.6, 1.35)?, BlendMode::SourceOver);
        }
        Shape::Working => {
            ground.filled_flame()?;
            let middle = if two { 22.4 } else { 19.3 };
            ground.number(&text, middle, 4.9, (5.4, 8.2), 1.6, BlendMode::SourceOver)?;
        }
        Shape::NeedsYou => {
            ground.filled_flame()?;
            let (left, wide) = if two { (14.5, 18.6) } else { (14.5, 12.6) };
            ground.fill(rounded(left, 2.5, wide, 12.6)?, BlendMode::SourceOver);
            ground.number(&text, left + wide / 2.0, 5.3, (4.4, 7.0), 1.5, BlendMode::DestinationOut)?;
        }
    }
    let rgba = ground.pixmap.pixels().iter().flat_map(|p| [0, 0, 0, p.alpha()]).collect();
    Some(Icon { rgba, width: ground.pixmap.width(), height: ground.pixmap.height() })
}

impl Icon {
    /// The same in white with a dark rim, for trays that take an icon as it is: on some desktops they are dark, on
    /// others light, and none says which.
    #[must_use]
    pub fn rimmed(&self) -> Self {
        let opacity = |x: i64, y: i64| -> u16 {
            let inside = |n: i64, most: u32| u32::try_from(n).ok().filter(|n| *n < most);
            let at = inside(x, self.width).zip(inside(y, self.height));
            let at = at.and_then(|(x, y)| usize::try_from((y * self.width + x) * 4 + 3).ok());
            at.and_then(|at| self.rgba.get(at)).copied().map_or(0, u16::from)
        };
        let mut rgba = Vec::with_capacity(self.rgba.len());
        for y in 0..i64::from(self.height) {
            for x in 0..i64::from(self.width) {
                let own = opacity(x, y);
                let near = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)));
                let rim = near.map(|(dx, dy)| opacity(x + dx, y + dy)).max().unwrap_or(0) * 3 / 4;
                let whole = own + (255 - own) * rim / 255;
                let white = u8::try_from(own * 255 / whole.max(1)).unwrap_or(255);
                rgba.extend([white, white, white, u8::try_from(whole).unwrap_or(255)]);
            }
        }
        Self { rgba, width: self.width, height: self.height }
    }
}

struct Ground {
    pixmap: Pixmap,
    at: Transform,
}

impl Ground {
    fn paint(blend_mode: BlendMode) -> Paint<'static> {
        Paint { blend_mode, anti_alias: true, ..Paint::default() }
    }

    #[expect(clippy::needless_pass_by_value, reason = "a path is made for one drawing")]
    fn fill(&mut self, path: Path, mode: BlendMode) {
        self.pixmap.fill_path(&path, &Self::paint(mode), FillRule::EvenOdd, self.at, None);
    }

    fn stroke(&mut self, path: Path, width: f32) {
        self.stroke_as(path, width, BlendMode::SourceOver);
    }

    #[expect(clippy::needless_pass_by_value, reason = "a path is made for one drawing")]
    fn stroke_as(&mut self, path: Path, width: f32, mode: BlendMode) {
        let line_cap = LineCap::Round;
        let stroke = Stroke { width, line_cap, line_join: LineJoin::Round, ..Stroke::default() };
        self.pixmap.stroke_path(&path, &Self::paint(mode), &stroke, self.at, None);
    }

    /// The flame with its inner tongue left out, on a whole cursor.
    fn filled_flame(&mut self) -> Option<()> {
        let mut path = PathBuilder::new();
        drop_shape(&mut path, (11.4, 1.2), FILLED);
        drop_shape(&mut path, (8.6, 6.4), TONGUE);
        self.fill(path.finish()?, BlendMode::SourceOver);
        self.fill(rounded(2.6, 15.0, 10.0, 1.6)?, BlendMode::SourceOver);
        Some(())
    }

    /// Digits of that size around a middle.
    fn number(
        &mut self,
        text: &str,
        middle: f32,
        top: f32,
        (wide, high): (f32, f32),
        width: f32,
        mode: BlendMode,
    ) -> Option<()> {
        let step = wide + width + 0.9;
        let mut left = middle - if text.len() > 1 { step } else { 0.0 } / 2.0 - wide / 2.0;
        for digit in text.chars() {
            let to = Transform::from_row(wide / 6.0, 0.0, 0.0, high / 10.0, left, top);
            self.stroke_as(numeral(digit)?.transform(to)?, width, mode);
            left += step;
        }
        Some(())
    }
}

/// A drop: from its tip down the left side, half a circle below, and up the right side.
#[derive(Debug, Clone, Copy)]
struct Drop {
    /// Control points of the left side, from the tip.
    down: [(f32, f32); 2],
    /// Half circle's diameter, from the tip to its left end, and the radius.
    left: (f32, f32),
    radius: f32,
    /// Control points of the right side, from the half circle's right end.
    up: [(f32, f32); 2],
}

const OUTLINE: Drop = Drop {
    down: [(-2.9, 1.8), (-7.05, 3.7)],
    left: (-7.05, 7.4),
    radius: 3.3,
    up: [(0.0, -2.6), (-1.2, -4.3)],
};
const FILLED: Drop = Drop {
    down: [(-3.1, 2.0), (-7.8, 4.1)],
    left: (-7.8, 8.1),
    radius: 3.95,
    up: [(0.0, -2.9), (-1.4, -4.6)],
};
const TONGUE: Drop = Drop {
    down: [(-1.6, 1.0), (-2.9, 1.9)],
    left: (-2.9, 3.6),
    radius: 1.85,
    up: [(0.0, -1.3), (-0.9, -1.9)],
};

fn flame(tip: (f32, f32), shape: Drop) -> Option<Path> {
    let mut path = PathBuilder::new();
    drop_shape(&mut path, tip, shape);
    path.finish()
}

#[expect(clippy::many_single_char_names, reason = "points of a curve")]
fn drop_shape(path: &mut PathBuilder, (x, y): (f32, f32), shape: Drop) {
    let Drop { down: [a, b], left, radius, up: [c, d] } = shape;
    let (lx, ly) = (x + left.0, y + left.1);
    let (mx, rx) = (lx + radius, lx + 2.0 * radius);
    // A quarter of a circle as a cubic curve.
    let k = radius * 0.552_285;
    path.move_to(x, y);
    path.cubic_to(x + a.0, y + a.1, x + b.0, y + b.1, lx, ly);
    path.cubic_to(lx, ly + k, mx - k, ly + radius, mx, ly + radius);
    path.cubic_to(mx + k, ly + radius, rx, ly + k, rx, ly);
    path.cubic_to(rx + c.0, ly + c.1, rx + d.0, ly + d.1, x, y);
    path.close();
}

/// A bar with round ends.
fn rounded(x: f32, y: f32, width: f32, height: f32) -> Option<Path> {
    let radius = height / 2.0;
    let k = radius * 0.552_285;
    let (right, bottom, middle) = (x + width, y + height, y + radius);
    let mut path = PathBuilder::new();
    path.move_to(x + radius, y);
    path.line_to(right - radius, y);
    path.cubic_to(right - radius + k, y, right, middle - k, right, middle);
    path.cubic_to(right, middle + k, right - radius + k, bottom, right - radius, bottom);
    path.line_to(x + radius, bottom);
    path.cubic_to(x + radius - k, bottom, x, middle + k, x, middle);
    path.cubic_to(x, middle - k, x + radius - k, y, x + radius, y);
    path.close();
    path.finish()
}

fn lines(points: &[(f32, f32)]) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (n, (x, y)) in points.iter().enumerate() {
        if n == 0 { path.move_to(*x, *y) } else { path.line_to(*x, *y) }
    }
    path.finish()
}

/// A digit's middle line in a box of 6 × 10.
fn numeral(digit: char) -> Option<Path> {
    let mut path = PathBuilder::new();
    match digit {
        '0' => path.push_oval(Rect::from_xywh(0.0, 0.0, 6.0, 10.0)?),
        '1' => return lines(&[(1.0, 2.0), (3.6, 0.0), (3.6, 10.0)]),
        '2' => {
            path.move_to(0.2, 2.6);
            path.cubic_to(0.4, -0.9, 5.9, -0.9, 5.8, 2.8);
            path.cubic_to(5.7, 5.0, 1.6, 7.2, 0.2, 10.0);
            path.line_to(6.0, 10.0);
        }
        '3' => {
            path.move_to(0.4, 1.6);
            path.cubic_to(1.4, -0.7, 5.6, -0.7, 5.6, 2.4);
            path.cubic_to(5.6, 4.2, 4.2, 4.7, 2.6, 4.7);
            path.cubic_to(4.6, 4.7, 6.0, 5.6, 6.0, 7.3);
            path.cubic_to(6.0, 10.9, 1.2, 10.9, 0.1, 8.4);
        }
        '4' => return lines(&[(4.5, 10.0), (4.5, 0.0), (0.0, 6.9), (6.0, 6.9)]),
        '5' => {
            path.move_to(5.5, 0.0);
            path.line_to(1.0, 0.0);
            path.line_to(0.5, 4.7);
            path.cubic_to(2.0, 3.3, 6.0, 3.3, 6.0, 6.7);
            path.cubic_to(6.0, 10.9, 1.2, 10.9, 0.1, 8.6);
        }
        '6' => six(&mut path, |x, y| (x, y)),
        '7' => {
            path.move_to(0.0, 0.0);
            path.line_to(6.0, 0.0);
            path.cubic_to(4.0, 3.0, 2.7, 6.0, 2.3, 10.0);
        }
        '8' => {
            path.push_oval(Rect::from_xywh(0.5, 0.0, 5.0, 4.6)?);
            path.push_oval(Rect::from_xywh(0.0, 4.6, 6.0, 5.4)?);
        }
        _ => six(&mut path, |x, y| (6.0 - x, 10.0 - y)),
    }
    path.finish()
}

/// A six, or turned by half a circle a nine.
#[expect(clippy::many_single_char_names, reason = "points of a curve")]
fn six(path: &mut PathBuilder, turned: impl Fn(f32, f32) -> (f32, f32)) {
    let (x, y) = turned(5.2, 0.6);
    path.move_to(x, y);
    for points in [
        [(1.6, -0.9), (0.0, 3.0), (0.0, 6.8)],
        [(0.0, 11.1), (6.0, 11.1), (6.0, 6.9)],
        [(6.0, 3.0), (0.6, 3.0), (0.1, 6.4)],
    ] {
        let [a, b, c] = points.map(|(x, y)| turned(x, y));
        path.cubic_to(a.0, a.1, b.0, b.1, c.0, c.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: [u8; 3] = [0, 0, 0];

    fn drawn(shape: Shape, number: u32, scale: u8) -> Icon {
        icon(shape, number, scale).unwrap()
    }

    fn opacity(icon: &Icon, x: u32, y: u32) -> u8 {
        icon.rgba[usize::try_from((y * icon.width + x) * 4 + 3).unwrap()]
    }

    #[test]
    fn it_is_one_ink_and_its_transparency_at_every_scale() {
        for scale in [1, 2, 3] {
            for shape in [Shape::Idle, Shape::Working, Shape::NeedsYou, Shape::Error] {
                let icon = drawn(shape, 7, scale);
                assert_eq!(icon.height, 18 * u32::from(scale));
                assert_eq!(icon.rgba.len(), usize::try_from(icon.width * icon.height * 4).unwrap());
                assert!(icon.rgba.chunks(4).all(|pixel| pixel[..3] == BLACK));
                assert!(icon.rgba.chunks(4).any(|pixel| pixel[3] == 255));
            }
        }
    }

    #[test]
    fn the_number_is_knocked_out_of_the_disc_and_stands_beside_a_working_flame() {
        let needs = drawn(Shape::NeedsYou, 1, 2);
        // The stem of the 1, and the disc beside it.
        assert!(opacity(&needs, 42, 18) < 40, "{}", opacity(&needs, 42, 18));
        assert_eq!(opacity(&needs, 34, 18), 255);
        let working = drawn(Shape::Working, 1, 2);
        assert!(opacity(&working, 39, 18) > 200);
        assert_eq!(opacity(&working, 31, 18), 0);
    }

    #[test]
    fn every_number_looks_different_and_two_digits_take_more_room() {
        let mut seen = std::collections::BTreeSet::new();
        for number in 0..=99 {
            assert!(seen.insert(drawn(Shape::NeedsYou, number, 1).rgba), "{number}");
        }
        assert!(drawn(Shape::NeedsYou, 10, 1).width > drawn(Shape::NeedsYou, 9, 1).width);
        assert_eq!(drawn(Shape::Working, 100, 1), drawn(Shape::Working, 99, 1));
        assert_ne!(drawn(Shape::Idle, 0, 1), drawn(Shape::Error, 0, 1));
    }

    #[test]
    fn a_rimmed_icon_can_be_seen_on_black_and_on_white() {
        let icon = drawn(Shape::Working, 1, 2).rimmed();
        let on = |ground: u16| -> Vec<u16> {
            let over = |pixel: &[u8]| {
                let (ink, opacity) = (u16::from(pixel[0]), u16::from(pixel[3]));
                (ink * opacity + ground * (255 - opacity)) / 255
            };
            icon.rgba.chunks(4).map(over).collect()
        };
        let differ =
            |ground: u16| on(ground).into_iter().filter(|shade| shade.abs_diff(ground) > 100).count();
        assert!(differ(0) > 300 && differ(255) > 150, "{} {}", differ(0), differ(255));
        assert_eq!(drawn(Shape::Working, 1, 2).rgba.len(), icon.rgba.len());
    }
}
