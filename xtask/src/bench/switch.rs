//! How long a switch between tabs or panes takes in a real browser, until it is painted.

use super::{Figure, browser};
use crate::workspace::Workspace;
use anyhow::Result;
use serde::Deserialize;
use std::time::Duration;

const GOAL_MS: f64 = 50.0;
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// Milliseconds, one a switch.
#[derive(Deserialize)]
struct Times {
    /// A frame in which nothing happens.
    reference: Vec<f64>,
    /// To a tab that is still alive.
    tabs: Vec<f64>,
    /// To one that has to be fetched and built.
    cold: Vec<f64>,
    panes: Vec<f64>,
}

pub fn measure(workspace: &Workspace) -> Result<Figure> {
    Ok(figure(serde_json::from_str(&browser::run(workspace, "switch", LIMIT, &[])?)?))
}

fn figure(mut times: Times) -> Figure {
    let reference = percentile(&mut times.reference, 50);
    let mut lines =
        vec![format!("an empty frame {reference:.1} ms at p50; from the key or click to the paint:")];
    let mut line = |name: &str, times: &mut [f64]| {
        let [p50, p95] = [50, 95].map(|percent| percentile(times, percent));
        let (count, ratio) = (times.len(), p50 / reference);
        lines.push(format!("  {name:<9} p50 {p50:>5.1} ms ({ratio:.1} ×)  p95 {p95:>5.1} ms  of {count}"));
        p50
    };
    let slowest = line("tabs", &mut times.tabs).max(line("panes", &mut times.panes));
    // How long it takes is the server's and the network's too; that it is told is enough.
    let cold = line("cold tabs", &mut times.cold);
    Figure {
        text: lines.join("\n"),
        goal: format!("a switch to what is alive within {GOAL_MS} ms at p50"),
        reached: slowest <= GOAL_MS && cold.is_finite(),
    }
}

/// Infinite where nothing was measured, which reaches no goal.
fn percentile(times: &mut [f64], percent: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    times
        .get((times.len() * percent / 100).min(times.len().saturating_sub(1)))
        .copied()
        .unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_kind_of_switch_decides() {
        let check = |tabs: &[f64], panes: &[f64], cold: &[f64], reached: bool| {
            let (tabs, panes, cold) = (tabs.to_vec(), panes.to_vec(), cold.to_vec());
            let figure = figure(Times { reference: vec![16.0], tabs, cold, panes });
            assert_eq!(figure.reached, reached, "{}", figure.text);
        };
        check(&[20.0, 30.0, 90.0], &[20.0], &[300.0], true);
        check(&[20.0, 60.0, 90.0], &[20.0], &[20.0], false);
        check(&[20.0], &[60.0], &[20.0], false);
        check(&[20.0], &[], &[20.0], false);
        check(&[20.0], &[20.0], &[], false);
    }
}
