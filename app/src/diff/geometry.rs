//! Where rows are on the screen, without drawing them: all have the same height but for those that name a file.

use domain::diff::Outline;

pub const ROW_PX: f64 = 20.0;
/// A row that names a file, and the room above it.
pub const HEAD_PX: f64 = 44.0;
pub const GAP_PX: f64 = 16.0;
/// Browsers end an element soon after this. What is higher is scrolled in longer steps.
const SCROLLED_PX_MAX: f64 = 15_000_000.0;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Geometry {
    /// The first row of each file.
    starts: Vec<u32>,
    pub rows: u32,
}

impl Geometry {
    pub fn of(outline: &Outline) -> Self {
        Self { starts: outline.starts(), rows: outline.rows() }
    }

    pub fn file_of(&self, row: u32) -> usize {
        self.starts.partition_point(|start| *start <= row).saturating_sub(1)
    }

    pub fn start(&self, file: usize) -> Option<u32> {
        self.starts.get(file).copied()
    }

    pub fn is_head(&self, row: u32) -> bool {
        self.starts.binary_search(&row).is_ok()
    }

    /// How far below the top a row begins. The gap above a file is its head's.
    pub fn top(&self, row: u32) -> f64 {
        let heads = self.starts.partition_point(|start| *start < row);
        f64::from(row) * ROW_PX + heads as f64 * self.extra()
    }

    pub fn height(&self) -> f64 {
        f64::from(self.rows) * ROW_PX + self.starts.len() as f64 * self.extra()
    }

    /// The row at a distance from the top.
    pub fn row_at(&self, px: f64) -> u32 {
        // Among the files first, then within one.
        let mut file = 0;
        let (mut low, mut high) = (0, self.starts.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.top(self.starts[middle]) <= px {
                file = middle;
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(start) = self.start(file) else { return 0 };
        let below = px - self.top(start) - HEAD_PX - GAP_PX;
        let within = if below < 0.0 { 0 } else { (below / ROW_PX).min(f64::from(self.rows)) as u32 + 1 };
        (start + within).min(self.rows.saturating_sub(1))
    }

    /// The height of what is scrolled.
    pub fn scrolled_height(&self) -> f64 {
        self.height().min(SCROLLED_PX_MAX)
    }

    /// How far below the top the screen is, when it was scrolled so far. It begins below the first gap.
    pub fn offset(&self, scrolled: f64, screen: f64) -> f64 {
        scrolled * self.scale(screen) + GAP_PX
    }

    /// How far to scroll so that the screen is at an offset.
    pub fn scrolled(&self, offset: f64, screen: f64) -> f64 {
        ((offset - GAP_PX) / self.scale(screen)).clamp(0.0, (self.scrolled_height() - screen).max(0.0))
    }

    fn scale(&self, screen: f64) -> f64 {
        let (height, scrolled) = (self.height(), self.scrolled_height());
        if height > scrolled { (height - screen) / (scrolled - screen) } else { 1.0 }
    }

    fn extra(&self) -> f64 {
        HEAD_PX - ROW_PX + GAP_PX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(files: &[u32]) -> Geometry {
        let mut next = 0;
        let start = |rows: &u32| {
            next += rows;
            next - rows
        };
        let starts = files.iter().map(start).collect();
        Geometry { starts, rows: files.iter().sum() }
    }

    #[test]
    fn every_row_is_found_where_it_is() {
        let geometry = geometry(&[3, 1, 200, 2]);
        for row in 0..geometry.rows {
            assert_eq!(geometry.row_at(geometry.top(row)), row);
            assert_eq!(geometry.row_at(geometry.top(row) + ROW_PX - 1.0), row);
        }
        assert_eq!(geometry.top(1), GAP_PX + HEAD_PX);
        assert_eq!(geometry.row_at(1e12), geometry.rows - 1);
        // As much room below the last row as there is between files.
        assert_eq!(geometry.height() + GAP_PX, geometry.top(geometry.rows - 1) + ROW_PX + GAP_PX);
        assert_eq!((geometry.file_of(2), geometry.file_of(3), geometry.file_of(4)), (0, 1, 2));
        assert_eq!(Geometry::default().row_at(10.0), 0);
    }

    #[test]
    fn what_is_too_high_for_a_browser_is_still_reached_to_its_end() {
        let geometry = geometry(&[1_000_000, 1_000_000]);
        let screen = 900.0;
        assert_eq!(geometry.scrolled_height(), SCROLLED_PX_MAX);
        let end = geometry.offset(geometry.scrolled_height() - screen, screen);
        assert!((end + screen - GAP_PX - geometry.height()).abs() < 1.0);
        let offset = geometry.top(1_234_567);
        assert!((geometry.offset(geometry.scrolled(offset, screen), screen) - offset).abs() < 1.0);
    }
}
