//! How long a worktree and a diff take, against git itself in the same run. `cargo xtask bench` calls it.

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use git::{Limits, Start, Worktree};

/// The exit code of a measurement that worked and fell short of its goal.
const MISSED: u8 = 3;
const WORKTREE_FILES: usize = 50_000;
const WORKTREE_ROUNDS: usize = 3;
const WORKTREE_RATIO_MAX: f64 = 1.2;
const DIFF_FILES: usize = 20_000;
const DIFF_CHANGES: usize = 1_000;
const DIFF_ROUNDS: usize = 9;
const DIFF_RATIO_MAX: f64 = 1.5;
const FILES_PER_FOLDER: usize = 20;

fn main() -> ExitCode {
    let result = match std::env::args().nth(1).as_deref() {
        Some("worktree") => worktree(),
        Some("diff") => diff(),
        _ => Err(anyhow::anyhow!("say worktree or diff")),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(MISSED),
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn worktree() -> Result<bool> {
    let ground = tempfile::tempdir()?;
    let project = project(ground.path(), WORKTREE_FILES)?;
    let (mut ours, mut gits) = (Vec::new(), Vec::new());
    for round in 0..WORKTREE_ROUNDS {
        let at = ground.path().join(format!("git-{round}"));
        gits.push(timed(|| git(&project, &["worktree", "add", "-q", "--detach", &at.to_string_lossy()]))?);
        let id = format!("ours-{round}");
        ours.push(timed(|| create(ground.path(), &id, &project).map(drop))?);
    }
    report("git worktree add", gits, "create", ours, &format!("{WORKTREE_FILES} files"), WORKTREE_RATIO_MAX)
}

fn diff() -> Result<bool> {
    let ground = tempfile::tempdir()?;
    let project = project(ground.path(), DIFF_FILES)?;
    let worktree = create(ground.path(), "ours", &project)?;
    let theirs = ground.path().join("git");
    git(&project, &["worktree", "add", "-q", "--detach", &theirs.to_string_lossy()])?;
    git(&theirs, &["status"])?;
    let index = project.join(".git/worktrees/git/index");
    let before = fs::read(&index)?;
    for tree in [&worktree.tree(), &theirs] {
        change(tree)?;
    }
    let (mut ours, mut gits) = (Vec::new(), Vec::new());
    for _ in 0..DIFF_ROUNDS {
        fs::write(&index, &before)?;
        gits.push(timed(|| {
            git(&theirs, &["add", "-N", "."])?;
            git(&theirs, &["diff"])
        })?);
        let mut files = 0;
        ours.push(timed(|| {
            files = worktree.diff(&Limits::default())?.files.len();
            Ok(())
        })?);
        ensure!(files == DIFF_CHANGES, "{files} of {DIFF_CHANGES} changes are seen");
    }
    let what = format!("{DIFF_CHANGES} changes in {DIFF_FILES} files");
    report("git add -N && git diff", gits, "diff", ours, &what, DIFF_RATIO_MAX)
}

fn report(
    reference: &str,
    mut gits: Vec<Duration>,
    name: &str,
    mut ours: Vec<Duration>,
    what: &str,
    max: f64,
) -> Result<bool> {
    println!("{what}, {} rounds, in ms:", ours.len());
    for (name, times) in [(reference, &mut gits), (name, &mut ours)] {
        times.sort_unstable();
        let [best, median] = [0, times.len() / 2].map(|at| times[at].as_secs_f64() * 1e3);
        println!("  {name:<24} best {best:>8.1}  median {median:>8.1}");
    }
    let ratio = ours[ours.len() / 2].as_secs_f64() / gits[gits.len() / 2].as_secs_f64();
    println!("{name} ÷ {reference} at the median: {ratio:.2} ×");
    let reached = ratio <= max;
    println!("goal: at most {max} × — {}", if reached { "reached" } else { "missed" });
    Ok(reached)
}

/// What others still write to the disk must not count.
fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    rustix::fs::sync();
    let began = Instant::now();
    work()?;
    Ok(began.elapsed())
}

fn create(ground: &Path, id: &str, project: &Path) -> Result<Worktree> {
    Ok(Worktree::create(&ground.join(id), id, project, Start::default(), &Limits::default())?)
}

/// A packed repository, as a clone has it.
fn project(ground: &Path, files: usize) -> Result<PathBuf> {
    let project = ground.join("project");
    fs::create_dir(&project)?;
    git(&project, &["init", "-q", "--template=", "-b", "main"])?;
    let mut import = git_command(&project, &["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn()?;
    let mut stream = std::io::BufWriter::new(import.stdin.take().context("no stdin")?);
    write!(stream, "commit refs/heads/main\ncommitter S <s@example.org> 0 +0000\ndata 4\nbase\n")?;
    for number in 0..files {
        let text = text(number);
        write!(stream, "M 644 inline {}\ndata {}\n{text}\n", path(number), text.len())?;
    }
    drop(stream);
    ensure!(import.wait()?.success(), "git fast-import failed");
    Ok(project)
}

fn path(number: usize) -> String {
    let folder = number / FILES_PER_FOLDER;
    format!("src/part_{:02}/unit_{folder}/file_{number}.rs", folder % 50)
}

/// From half a kilobyte to four, as sources are.
fn text(number: usize) -> String {
    let mut text = String::new();
    for line in 0..10 + number * 7 % 70 {
        let _ =
            writeln!(text, "    let value_{line} = compute({}, {line}); // {}", number * 31, number ^ line);
    }
    text
}

/// Of ten changes seven are edits, two are new files and one is a deletion.
fn change(tree: &Path) -> Result<()> {
    for number in 0..DIFF_CHANGES {
        let (which, file) = (number % 10, number * (DIFF_FILES / DIFF_CHANGES));
        match which {
            0..7 => {
                let edited = text(file).replacen("compute", "reckon", 3) + "// more\n";
                fs::write(tree.join(path(file)), edited)?;
            }
            7..9 => fs::write(tree.join(path(file)).with_extension("new"), text(number * 13 + 5))?,
            _ => fs::remove_file(tree.join(path(file)))?,
        }
    }
    Ok(())
}

fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
    let status = git_command(folder, arguments).status().context("git is not there")?;
    if !status.success() {
        bail!("git {arguments:?}: {status}");
    }
    Ok(())
}

fn git_command(folder: &Path, arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.current_dir(folder).args(arguments).stdout(Stdio::null());
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git
}
