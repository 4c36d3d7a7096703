//! Tokens that are the moment of their making: `<unix micros>;`.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};

pub fn micros() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

pub fn now() -> String {
    format!("{};", micros())
}

/// The stamps of one stream as they come in.
#[derive(Default)]
pub struct Stamps {
    pub latencies: Vec<u64>,
    begun: String,
    last: u64,
}

impl Stamps {
    /// Takes a piece of text that came at `at`. A stamp that is older than the one before it came twice.
    pub fn push(&mut self, text: &str, at: u64) -> Result<()> {
        self.begun.push_str(text);
        while let Some((stamp, rest)) = self.begun.split_once(';') {
            let stamp: u64 = stamp.parse().with_context(|| format!("{stamp:?} is not a stamp"))?;
            if stamp < self.last {
                bail!("a token came twice or out of order");
            }
            self.last = stamp;
            self.latencies.push(at.saturating_sub(stamp));
            self.begun = rest.to_owned();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_read_however_they_are_cut() {
        let mut stamps = Stamps::default();
        for piece in ["10", "0;1", "10;120;", "130"] {
            stamps.push(piece, 200).unwrap();
        }
        assert_eq!(stamps.latencies, [100, 90, 80]);
        assert!(stamps.push(";", 200).is_ok() && stamps.push("120;", 200).is_err());
    }
}
