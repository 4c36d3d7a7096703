//! A running BooCode.

use crate::process::{Owned, pause, tied_to_us};
use anyhow::{Context, Result, bail};
use rustix::process::{Signal, kill_process};
use std::{
    ffi::OsString,
    fs::{self, File},
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// `boocode serve`, ended when we are.
pub fn command(binary: &Path) -> Command {
    let mut command = tied_to_us(binary, "TERM");
    command.arg("serve");
    command
}

/// A server of our own on a data directory that goes with it, for measuring and for killing.
pub struct Trial {
    binary: PathBuf,
    environment: Vec<(OsString, OsString)>,
    home: TempDir,
}

impl Trial {
    pub fn new(binary: PathBuf, environment: Vec<(OsString, OsString)>) -> Result<Self> {
        let home = tempfile::Builder::new().prefix("boocode-trial-").tempdir()?;
        // Root's Postgres is another user, who has to pass through here.
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755))?;
        Ok(Self { binary, environment, home })
    }

    pub fn data_dir(&self) -> PathBuf {
        self.home.path().join("data")
    }

    pub fn start(&self) -> Result<Serving> {
        let port = free_port()?;
        let log = self.home.path().join("log");
        let file = File::create(&log)?;
        let mut command = command(&self.binary);
        command.arg("--port").arg(port.to_string()).arg("--data-dir").arg(self.data_dir());
        // Only BooCode itself: no model of the machine may change what is measured.
        command.args(["--no-model", "--no-discover"]);
        command.env_remove("DATABASE_URL").envs(self.environment.iter().map(|(key, value)| (key, value)));
        command.stdout(file.try_clone()?).stderr(file);
        let started = Instant::now();
        let process = Owned::spawn("boocode", &mut command)?;
        Ok(Serving { process, port, started, log })
    }
}

pub struct Serving {
    process: Owned,
    port: u16,
    started: Instant,
    log: PathBuf,
}

impl Serving {
    /// From the spawn to the first page.
    pub fn until_first_page(&mut self, limit: Duration) -> Result<Duration> {
        loop {
            let log = || fs::read_to_string(&self.log).unwrap_or_default();
            if let Some((_, link)) = log().lines().find_map(|line| line.split_once("ready: "))
                && first_page(self.port, link)?
            {
                return Ok(self.started.elapsed());
            }
            if let Some(status) = self.process.ended()? {
                bail!("{}\nboocode ended before its first page: {status}", log());
            }
            if self.started.elapsed() > limit {
                bail!("{}\nboocode shows no page after {} s", log(), limit.as_secs());
            }
            pause()?;
        }
    }

    /// As a crash would: only the server, without a chance to clean up.
    pub fn kill(&mut self) -> Result<ExitStatus> {
        // A server that has just ended by itself is as dead.
        let _ = kill_process(self.process.pid(), Signal::KILL);
        self.process.wait(Some(Duration::from_secs(10)))
    }

    pub fn stop(mut self) -> Result<()> {
        let status = self.process.stop().context("boocode's end was not seen")?;
        if !status.success() {
            bail!("{}\nboocode ended badly: {status}", fs::read_to_string(&self.log).unwrap_or_default());
        }
        Ok(())
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// What whoever follows the printed link sees first, rendered for them from the database.
fn first_page(port: u16, link: &str) -> Result<bool> {
    let Some(path) = link.strip_prefix(&format!("http://127.0.0.1:{port}")) else {
        bail!("{link} leads elsewhere");
    };
    let entered = get(port, path, "")?;
    let cookie = entered.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("set-cookie").then(|| value.split(';').next())?
    });
    let page = get(port, "/", cookie.context("the link gives no cookie")?)?;
    Ok(page.starts_with("HTTP/1.1 200") && page.contains("</html>"))
}

fn get(port: u16, path: &str, cookie: &str) -> Result<String> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let limit = Duration::from_secs(5);
    let mut stream = TcpStream::connect_timeout(&address, limit)?;
    stream.set_read_timeout(Some(limit))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
