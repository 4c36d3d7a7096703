//! Test programs, compiled once together and run one by one with the environment that each needs.

use super::{agents, packages::product, tally::Counts};
use crate::{build::COMPILE_LIMIT, process::Owned, process::quietly, workspace::Workspace};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::{
    ffi::OsString,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

const TEST_LIMIT: Duration = Duration::from_secs(20 * 60);
/// Agents take their time to start, and some wait long before they give up.
const AGENTS_LIMIT: Duration = Duration::from_secs(60 * 60);

pub struct Built {
    tests: Vec<TestProgram>,
    pub boocode: PathBuf,
    pub scripted: PathBuf,
    pub agents: PathBuf,
}

struct TestProgram {
    /// The package's folder within the workspace.
    package: PathBuf,
    name: String,
    path: PathBuf,
}

/// Variables for tests, on top of a clean start: what the developer's shell says about databases and models
/// must not change what is tested.
#[derive(Clone, Default)]
pub struct Environment(Vec<(&'static str, OsString)>);

impl Environment {
    pub fn set(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.0.push((name, value.into()));
    }

    pub fn apply(&self, command: &mut Command) {
        for name in ["DATABASE_URL", "BOOCODE_TEST_DATABASE_URL", "BOOCODE_SMALL_MODEL_PYTHON"] {
            command.env_remove(name);
        }
        // The tail that is shown of a failure should be its message.
        command.env("RUST_BACKTRACE", "0").envs(self.0.iter().map(|(name, value)| (name, value)));
    }
}

pub fn compile(workspace: &Workspace) -> Result<Built> {
    let mut artifacts = artifacts(workspace, &["test", "--no-run"], &product())?;
    artifacts.extend(self::artifacts(workspace, &["test", "--no-run"], &["-p", "xtask"])?);
    Built::of(workspace, &artifacts)
}

/// Those that start programs, which come along.
pub fn compile_wired(workspace: &Workspace) -> Result<Built> {
    Built::of(workspace, &artifacts(workspace, &["test", "--no-run", "--test", "it"], &product())?)
}

impl Built {
    fn of(workspace: &Workspace, artifacts: &[Artifact]) -> Result<Self> {
        let mut programs = Vec::new();
        for artifact in artifacts {
            if let (true, Some(path)) = (artifact.profile.test, &artifact.executable) {
                let folder = artifact.manifest_path.parent().context("a manifest lies in a folder")?;
                let package = folder.strip_prefix(&workspace.root)?.to_path_buf();
                programs.push(TestProgram {
                    package,
                    name: artifact.target.name.clone(),
                    path: path.clone(),
                });
            }
        }
        // Cargo builds a program along with the tests only where it has integration tests.
        let program = |package: &str, name: &str| -> Result<PathBuf> {
            let plain =
                |a: &Artifact| (!a.profile.test && a.target.name == name).then(|| a.executable.clone())?;
            if let Some(path) = artifacts.iter().find_map(plain) {
                return Ok(path);
            }
            let built = self::artifacts(workspace, &["build"], &["-p", package])?;
            built.iter().find_map(plain).with_context(|| format!("{package} has no program {name}"))
        };
        Ok(Built {
            boocode: program("server", "boocode")?,
            scripted: program("scripted", "scripted")?,
            agents: program("acp", "agents")?,
            tests: programs,
        })
    }

    pub fn run(&self, workspace: &Workspace, package: &str, environment: &Environment) -> Result<Counts> {
        let mut counts = Counts::default();
        for test in self.tests.iter().filter(|test| test.package == Path::new(package)) {
            let run = Run { test, name: format!("test {} {}", package.replace('/', "-"), test.name) };
            let (passed, _) = run.start(workspace, environment, &agents::skipped(), TEST_LIMIT)?;
            counts.merge(passed);
        }
        Ok(counts)
    }

    /// The tests of one program whose names hold one of `filters`, and what it printed.
    pub fn run_only(
        &self,
        workspace: &Workspace,
        package: &str,
        filters: &[String],
        environment: &Environment,
    ) -> Result<(Counts, String)> {
        let is_it = |test: &&TestProgram| test.package == Path::new(package) && test.name == "it";
        let test = self.tests.iter().find(is_it).with_context(|| format!("{package} has no tests"))?;
        let run = Run { test, name: format!("some {}", package.replace('/', "-")) };
        run.start(workspace, environment, filters, AGENTS_LIMIT)
    }
}

struct Run<'a> {
    test: &'a TestProgram,
    name: String,
}

impl Run<'_> {
    fn start(
        &self,
        workspace: &Workspace,
        environment: &Environment,
        arguments: &[String],
        limit: Duration,
    ) -> Result<(Counts, String)> {
        let folder = workspace.root.join(&self.test.package);
        let mut command = Command::new(&self.test.path);
        command.args(arguments).current_dir(&folder).env("CARGO_MANIFEST_DIR", &folder);
        environment.apply(&mut command);
        let outcome = quietly(workspace, &self.name, limit, &mut command);
        let log = fs::read(workspace.log(&self.name)?)?;
        let log = String::from_utf8_lossy(&log).into_owned();
        Ok((Counts::of_libtest(&log).after(outcome), log))
    }
}

#[derive(Deserialize)]
struct Artifact {
    manifest_path: PathBuf,
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

fn artifacts(workspace: &Workspace, verb: &[&str], selection: &[&str]) -> Result<Vec<Artifact>> {
    let (messages, log) = (workspace.scratch()?.join("artifacts.json"), workspace.log("compile tests")?);
    let mut cargo = workspace.cargo();
    cargo.args(verb).args(selection).arg("--message-format=json-render-diagnostics");
    cargo.stdout(File::create(&messages)?).stderr(File::create(&log)?);
    let status = Owned::spawn("cargo", &mut cargo)?.wait(Some(COMPILE_LIMIT))?;
    if !status.success() {
        bail!("\n{}", String::from_utf8_lossy(&fs::read(&log)?));
    }
    // Other messages have other fields and are passed over.
    let text = fs::read_to_string(&messages)?;
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}
