//! Diffs to look at and to test with, in debug builds only.

use std::{fmt::Write as _, sync::Arc};

use app::error::AppError;
use domain::diff::Sample;
use git::Limits;

use super::{Source, Taken};

pub fn open(sample: Sample) -> Arc<dyn Source> {
    match sample {
        Sample::Files => Arc::new(Files),
        Sample::Many => Arc::new(Generated { files: 1_000, lines: 100 }),
        Sample::Long => Arc::new(Generated { files: 1, lines: 20_000 }),
        Sample::Huge => Arc::new(Generated { files: 1_000, lines: 1_000 }),
    }
}

/// A change with everything that a patch may hold.
struct Files;

const PATCH: &[u8] = include_bytes!("samples/files.patch");
const TEXTS: [(&str, &[u8]); 7] = [
    ("app/src/cookie.rs", include_bytes!("samples/new/cookie.rs.txt")),
    ("app/src/ui/segmented.rs", include_bytes!("samples/new/segmented.rs.txt")),
    ("end2end/playwright.config.ts", include_bytes!("samples/new/playwright.config.ts.txt")),
    ("end2end/tests/world.ts", include_bytes!("samples/new/world.ts.txt")),
    ("server/small_model/serve.py", include_bytes!("samples/new/serve.py.txt")),
    ("src/access.js", include_bytes!("samples/new/access.js.txt")),
    ("style/ui/segmented.css", include_bytes!("samples/new/segmented.css.txt")),
];

impl Source for Files {
    fn take(&self, _limits: &Limits) -> Result<Taken, AppError> {
        let left_out =
            ["vendor/.git: the history of a repository inside; its files are in the patch".to_owned()];
        Ok(Taken { patch: PATCH.to_vec(), left_out: left_out.into() })
    }

    fn old_text(&self, _path: &str) -> Option<Vec<u8>> {
        None
    }

    fn new_text(&self, path: &str) -> Option<Vec<u8>> {
        TEXTS.iter().find(|(own, _)| *own == path).map(|(_, text)| text.to_vec())
    }
}

/// As many lines as wanted; half of them changed.
struct Generated {
    files: usize,
    lines: usize,
}

impl Source for Generated {
    fn take(&self, _limits: &Limits) -> Result<Taken, AppError> {
        let mut patch = String::new();
        for file in 0..self.files {
            let path = format!("src/part_{:02}/module_{file:04}.rs", file / 50);
            let half = self.lines / 4 * 3;
            // Writing to a string cannot fail.
            let _ = write!(
                patch,
                "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,{half} +1,{half} @@ mod part\n"
            );
            for n in 0..self.lines / 4 {
                let _ = write!(
                    patch,
                    "     // Step {n} of file {file}: what follows is checked before it is used.\n\
                     -    let value_{n} = compute(\"old\", {n}, &state)?;\n\
                     +    let value_{n} = compute_checked(\"new\", {n}, &state)?;\n     total += value_{n};\n"
                );
            }
        }
        Ok(Taken { patch: patch.into_bytes(), left_out: Vec::new() })
    }

    fn old_text(&self, _path: &str) -> Option<Vec<u8>> {
        None
    }

    fn new_text(&self, _path: &str) -> Option<Vec<u8>> {
        None
    }
}
