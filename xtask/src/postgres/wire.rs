//! As much of Postgres' protocol as it takes to run SQL text. The npm package brings no psql, and a driver
//! would make xtask compile for minutes.

use anyhow::{Context, Result, bail};
use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

const PROTOCOL_3: u32 = 196_608;
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

pub struct Session {
    stream: UnixStream,
}

impl Session {
    /// Only for clusters that trust whoever reaches the socket.
    pub fn open(socket_dir: &Path, user: &str, database: &str) -> Result<Self> {
        let mut session = Self { stream: greet(socket_dir, user, database)? };
        session.until_ready().with_context(|| format!("connecting to {database}"))?;
        Ok(session)
    }

    /// Several statements are one transaction, unless they say otherwise.
    pub fn run(&mut self, sql: &str) -> Result<()> {
        let mut body = sql.as_bytes().to_vec();
        body.push(0);
        self.stream.write_all(b"Q")?;
        self.stream.write_all(&length_prefix(body.len())?)?;
        self.stream.write_all(&body)?;
        self.until_ready()
    }

    fn until_ready(&mut self) -> Result<()> {
        let mut failure = None;
        loop {
            match read_message(&mut self.stream)? {
                (b'Z', _) => break,
                // A refused connection ends without becoming ready.
                (b'E', body) if field(&body, b'S') == "FATAL" => bail!(field(&body, b'M')),
                (b'E', body) => failure = Some(field(&body, b'M')),
                (b'R', body) if body != [0; 4] => bail!("the cluster asks for a password"),
                _ => {}
            }
        }
        failure.map_or(Ok(()), |message| bail!(message))
    }
}

/// Whether connections are accepted, with whatever authentication.
pub fn accepts(socket_dir: &Path) -> bool {
    greet(socket_dir, "postgres", "postgres").is_ok_and(|mut stream| match read_message(&mut stream) {
        Ok((b'R', _)) => true,
        // "The database system is starting up" is 57P03; any other refusal comes from a server that is up.
        Ok((b'E', body)) => field(&body, b'C') != "57P03",
        _ => false,
    })
}

fn greet(socket_dir: &Path, user: &str, database: &str) -> Result<UnixStream> {
    let mut stream = UnixStream::connect(socket_dir.join(".s.PGSQL.5432"))?;
    stream.set_read_timeout(Some(ANSWER_LIMIT))?;
    stream.set_write_timeout(Some(ANSWER_LIMIT))?;
    let mut body = PROTOCOL_3.to_be_bytes().to_vec();
    for word in ["user", user, "database", database, ""] {
        body.extend_from_slice(word.as_bytes());
        body.push(0);
    }
    stream.write_all(&length_prefix(body.len())?)?;
    stream.write_all(&body)?;
    Ok(stream)
}

fn length_prefix(body: usize) -> Result<[u8; 4]> {
    // The length counts itself.
    Ok(u32::try_from(body + 4)?.to_be_bytes())
}

fn read_message(stream: &mut impl Read) -> Result<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    stream.read_exact(&mut head)?;
    let [kind, length @ ..] = head;
    let length = (u32::from_be_bytes(length) as usize).saturating_sub(4);
    if length > MESSAGE_BYTES_MAX {
        bail!("a message of {length} bytes is no answer of Postgres");
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok((kind, body))
}

/// An error is a list of `key text NUL`.
fn field(body: &[u8], key: u8) -> String {
    body.split(|byte| *byte == 0)
        .find_map(|part| part.strip_prefix(&[key]))
        .map(|text| String::from_utf8_lossy(text).into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_fields_are_found() {
        let body = b"SERROR\0C42P01\0Mrelation \"x\" does not exist\0\0";
        for (key, text) in
            [(b'S', "ERROR"), (b'C', "42P01"), (b'M', "relation \"x\" does not exist"), (b'D', "")]
        {
            assert_eq!(field(body, key), text);
        }
    }

    #[test]
    fn messages_are_bounded_and_whole() {
        let read = |mut bytes: &[u8]| read_message(&mut bytes).ok();
        assert_eq!(read(b"Z\0\0\0\x05I"), Some((b'Z', b"I".to_vec())));
        assert_eq!(read(b"Z\0\0\0\x06I"), None);
        assert_eq!(read(b"HTTP/1.1 400"), None);
    }
}
