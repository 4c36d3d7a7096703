//! Shell scripts that stand in for programs in tests.

use std::{path::Path, process::Command};

/// Another process makes the file: were it open for writing here, a child forked by another test at that
/// moment would hold it open, and running it would fail with "text file busy".
pub fn write_program(path: &Path, script: &str) {
    let made = Command::new("sh")
        .args([
            "-c",
            r#"mkdir -p "$(dirname "$1")" && printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod 755 "$1""#,
            "sh",
        ])
        .arg(path)
        .arg(script)
        .status();
    assert!(made.unwrap().success());
}
