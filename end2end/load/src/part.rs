//! The parts of a measurement that are processes of their own: this very program under another name.

pub mod answers;
pub mod broadcast;
pub mod model;
pub mod relay;
pub mod scan;

use std::{io::Write as _, net::Ipv4Addr, path::Path, process::Stdio, time::Duration};

use anyhow::{Context as _, Result, bail};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::TcpListener,
    process::{Child, Command},
    time::timeout,
};

const START_LIMIT: Duration = Duration::from_secs(20);

/// A part that runs, and goes when this does.
pub struct Part {
    child: Child,
    pub url: String,
}

impl Part {
    pub async fn start(arguments: &[&str]) -> Result<Self> {
        let mut command = tied_to_us(&std::env::current_exe()?);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().with_context(|| format!("cannot start {arguments:?}"))?;
        let stdout = child.stdout.take().context("no stdout")?;
        let line = timeout(START_LIMIT, BufReader::new(stdout).lines().next_line()).await??;
        let Some(url) = line.as_deref().and_then(|line| line.strip_prefix("listening ")) else {
            bail!("{arguments:?} did not start");
        };
        Ok(Self { url: url.to_owned(), child })
    }

    pub fn pid(&self) -> Result<u32> {
        self.child.id().context("a part has ended")
    }
}

/// The command, ended by the kernel when this process dies, where the system has a way to ask for that.
pub fn tied_to_us(program: &Path) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    match std::env::split_paths(&path).map(|dir| dir.join("setpriv")).find(|path| path.is_file()) {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "KILL", "--"]).arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// A listener on loopback whose address is told to whoever started us.
async fn announced() -> Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "listening http://{}", listener.local_addr()?)?;
    stdout.flush()?;
    Ok(listener)
}
