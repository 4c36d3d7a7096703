//! What six outputs that stream at once cost the browser's main thread, beside a page on which nothing happens.

use super::{Figure, browser};
use crate::workspace::Workspace;
use anyhow::Result;
use serde::Deserialize;
use std::time::Duration;

const TASK_MS_MAX: f64 = 50.0;
/// A frame that takes longer than this many of an idle page's is one that somebody sees.
const FRAMES_MAX: f64 = 2.0;
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// Milliseconds between frames, and of each task that blocked the page.
#[derive(Deserialize)]
struct Seen {
    frames: Vec<f64>,
    tasks: Vec<f64>,
}

#[derive(Deserialize)]
struct Figures {
    idle: Seen,
    six: Seen,
    /// Bytes that each output grew by meanwhile.
    grown: Vec<f64>,
}

pub fn measure(workspace: &Workspace) -> Result<Figure> {
    Ok(figure(serde_json::from_str(&browser::run(workspace, "outputs", LIMIT, &[])?)?))
}

fn figure(figures: Figures) -> Figure {
    let Figures { idle, six, grown } = figures;
    let p95 = |seen: &Seen| percentile(&seen.frames, 95);
    let longest = six.tasks.iter().copied().fold(0.0, f64::max);
    let late = six.frames.iter().filter(|ms| **ms > FRAMES_MAX * percentile(&idle.frames, 50)).count();
    let streamed = grown.len() == 6 && grown.iter().all(|bytes| *bytes > 0.0);
    let text = format!(
        "frames of an idle page p50 {:.1} ms, p95 {:.1} ms; with six streams p50 {:.1} ms, p95 {:.1} ms, {late} of {} \
         late; tasks over 50 ms: {}, the longest {longest:.0} ms; {:.0} KB streamed",
        percentile(&idle.frames, 50),
        p95(&idle),
        percentile(&six.frames, 50),
        p95(&six),
        six.frames.len(),
        six.tasks.len(),
        grown.iter().sum::<f64>() / 1_000.0
    );
    let is_smooth = p95(&six) <= FRAMES_MAX * p95(&idle) && longest <= TASK_MS_MAX;
    Figure {
        text,
        goal: format!(
            "frames at p95 within {FRAMES_MAX} × an idle page's, and no task over {TASK_MS_MAX} ms"
        ),
        reached: streamed && is_smooth,
    }
}

/// Infinite where nothing was measured, which reaches no goal.
fn percentile(times: &[f64], percent: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    let place = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times.get(place).copied().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_frames_long_tasks_and_streams_that_stand_still_miss_the_goal() {
        let check = |six: f64, task: Option<f64>, grown: &[f64], reached: bool| {
            let seen = |ms: f64, tasks: Vec<f64>| Seen { frames: vec![ms; 20], tasks };
            let six = seen(six, task.into_iter().collect());
            let figure = figure(Figures { idle: seen(16.7, Vec::new()), six, grown: grown.to_vec() });
            assert_eq!(figure.reached, reached, "{}", figure.text);
        };
        check(17.0, None, &[9.0; 6], true);
        check(40.0, None, &[9.0; 6], false);
        check(17.0, Some(80.0), &[9.0; 6], false);
        check(17.0, None, &[9.0, 9.0, 9.0, 0.0, 9.0, 9.0], false);
        check(17.0, None, &[9.0; 5], false);
    }
}
