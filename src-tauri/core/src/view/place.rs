//! Where the popover goes: under its icon, on the display the icon is on, whole.
//!
//! An icon's rectangle and a display's are both given in pixels of their own display's scale, so where scales differ
//! two displays may claim the same pixel. The icon belongs to the one whose upper edge it hangs from. A rectangle that
//! hangs from none (hidden behind the notch, macOS reports something far away) counts as unknown.

/// One display, in pixels of its own scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Monitor {
    /// Left and upper edge.
    pub position: (f64, f64),
    /// Width and height.
    pub size: (f64, f64),
    /// Pixels per point.
    pub scale: f64,
    /// It is the main one.
    pub main: bool,
}

/// The icon's rectangle, in pixels of its display's scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Left and upper edge.
    pub position: (f64, f64),
    /// Width and height.
    pub size: (f64, f64),
}

/// The menu bar's height where the icon says nothing about it, in points.
const BAR: f64 = 28.0;
/// The furthest an icon may be from the upper edge, in points: no menu bar is that high.
const HANGS: f64 = 48.0;
/// Kept free between window and display edge, in points.
const MARGIN: f64 = 8.0;

/// Upper left corner of a window of that size (points) in points of the display it is put on. `None` without displays.
pub fn place(monitors: &[Monitor], icon: Option<Rect>, window: (f64, f64)) -> Option<(f64, f64)> {
    let main = monitors.iter().find(|monitor| monitor.main).or(monitors.first())?;
    let found = icon.and_then(|icon| home(monitors, icon).map(|monitor| (monitor, icon)));
    let (monitor, centre, below) = match found {
        Some((monitor, icon)) => {
            let scale = monitor.scale;
            let bottom = (icon.position.1 + icon.size.1) / scale;
            (monitor, (icon.position.0 + icon.size.0 / 2.0) / scale, bottom)
        }
        None => (main, f64::INFINITY, main.position.1 / main.scale + BAR),
    };
    let edge = (monitor.position.0 / monitor.scale, monitor.position.1 / monitor.scale);
    let room = (monitor.size.0 / monitor.scale, monitor.size.1 / monitor.scale);
    let furthest = (edge.0 + room.0 - window.0 - MARGIN, edge.1 + room.1 - window.1 - MARGIN);
    // Where the display is too small for the window its beginning is what must be seen.
    let x = (centre - window.0 / 2.0).min(furthest.0).max(edge.0 + MARGIN);
    let y = (below + 4.0).min(furthest.1).max(edge.1);
    Some((x, y))
}

/// The display an icon hangs from: it lies within, near the upper edge. Nearest first, then the main one.
fn home(monitors: &[Monitor], icon: Rect) -> Option<&Monitor> {
    let usable = [icon.position.0, icon.position.1, icon.size.0, icon.size.1].iter().all(|n| n.is_finite());
    let drop = |monitor: &Monitor| (icon.position.1 - monitor.position.1) / monitor.scale;
    let middle = icon.position.0 + icon.size.0 / 2.0;
    monitors
        .iter()
        .filter(|monitor| {
            let across = monitor.position.0..monitor.position.0 + monitor.size.0;
            usable && across.contains(&middle) && (-1.0..HANGS).contains(&drop(monitor))
        })
        .min_by(|a, b| drop(a).abs().total_cmp(&drop(b).abs()).then(b.main.cmp(&a.main)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WINDOW: (f64, f64) = (380.0, 520.0);

    /// A built-in display of 3420 × 2214 pixels at 2× above an external one of 3440 × 1440 at 1×, the built-in one main.
    fn built_in_above() -> [Monitor; 2] {
        [
            Monitor { position: (0.0, 0.0), size: (3420.0, 2214.0), scale: 2.0, main: true },
            Monitor { position: (-865.0, 1107.0), size: (3440.0, 1440.0), scale: 1.0, main: false },
        ]
    }

    /// The same arrangement with the external one main: the built-in one lies at negative points.
    fn external_main() -> [Monitor; 2] {
        [
            Monitor { position: (1730.0, -2214.0), size: (3420.0, 2214.0), scale: 2.0, main: false },
            Monitor { position: (0.0, 0.0), size: (3440.0, 1440.0), scale: 1.0, main: true },
        ]
    }

    fn rect(x: f64, y: f64, width: f64, height: f64) -> Option<Rect> {
        let rect = Rect { position: (x, y), size: (width, height) };
        width.is_sign_positive().then_some(rect)
    }

    #[test]
    fn the_popover_hangs_under_its_icon_on_the_icons_own_display() {
        // Icon at points (1200, 0), 30 × 37 on the built-in display: pixels are twice that.
        let on_built_in = place(&built_in_above(), rect(2400.0, 0.0, 60.0, 74.0), WINDOW).unwrap();
        assert_eq!(on_built_in, (1215.0 - 190.0, 41.0));
        // Icon at points (1500, 1107) on the external one; those pixels lie within the built-in one's, too.
        let on_external = place(&built_in_above(), rect(1500.0, 1107.0, 30.0, 24.0), WINDOW).unwrap();
        assert_eq!(on_external, (1515.0 - 190.0, 1135.0));
        let external = place(&external_main(), rect(3000.0, 0.0, 30.0, 24.0), WINDOW).unwrap();
        assert_eq!(external, (3015.0 - 190.0, 28.0));
        let built_in = place(&external_main(), rect(2.0 * 2000.0, -2214.0, 60.0, 74.0), WINDOW).unwrap();
        assert_eq!(built_in, (2015.0 - 190.0, -1107.0 + 41.0));
    }

    #[test]
    fn an_icon_that_hangs_from_no_display_gives_the_main_ones_upper_right_corner() {
        let corner = (1710.0 - 380.0 - 8.0, 32.0);
        for bogus in [
            rect(-9000.0, -500.0, 60.0, 74.0),
            rect(100.0, 900.0, 60.0, 74.0),
            rect(f64::NAN, 0.0, 1.0, 1.0),
            None,
        ] {
            assert_eq!(place(&built_in_above(), bogus, WINDOW), Some(corner));
        }
        assert_eq!(place(&external_main(), None, WINDOW), Some((3440.0 - 388.0, 32.0)));
        assert_eq!(place(&[], None, WINDOW), None);
    }

    #[test]
    fn an_icon_at_the_edge_does_not_push_the_popover_out() {
        let right = place(&built_in_above(), rect(3380.0, 0.0, 40.0, 74.0), WINDOW).unwrap();
        assert_eq!(right, (1710.0 - 388.0, 41.0));
        let left = place(&built_in_above(), rect(0.0, 0.0, 40.0, 74.0), WINDOW).unwrap();
        assert_eq!(left, (8.0, 41.0));
    }

    proptest! {
        #[test]
        fn wherever_the_icon_is_the_popover_is_whole_on_one_display(x in -20_000.0..20_000.0_f64, y in -5_000.0..5_000.0_f64) {
            for monitors in [built_in_above(), external_main()] {
                let (left, top) = place(&monitors, rect(x, y, 60.0, 74.0), WINDOW).unwrap();
                let whole = monitors.iter().any(|m| {
                    let (edge, scale) = ((m.position.0 / m.scale, m.position.1 / m.scale), m.scale);
                    left >= edge.0 && top >= edge.1
                        && left + WINDOW.0 <= edge.0 + m.size.0 / scale
                        && top + WINDOW.1 <= edge.1 + m.size.1 / scale
                });
                prop_assert!(whole, "{left} {top}");
            }
        }
    }
}
