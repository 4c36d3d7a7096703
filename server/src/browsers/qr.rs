//! A text as a QR code, drawn as one path.

use std::fmt::Write as _;

use domain::browser::Qr;
use qrcodegen::{QrCode, QrCodeEcc};

/// Readers want this much white around a code.
const BORDER: i32 = 4;

/// `None` when the text is too long for a code.
pub fn encode(text: &str) -> Option<Qr> {
    let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
    let mut path = String::new();
    for y in 0..code.size() {
        let mut x = 0;
        while x < code.size() {
            let run = (x..code.size()).take_while(|x| code.get_module(*x, y)).count() as i32;
            if run > 0 {
                // Writing to a String does not fail.
                let _ = write!(path, "M{} {}h{run}v1h-{run}z", x + BORDER, y + BORDER);
            }
            x += run.max(1);
        }
    }
    Some(Qr { size: (code.size() + 2 * BORDER) as u32, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws the path again, square by square.
    fn draw(qr: &Qr) -> Vec<(i32, i32)> {
        let mut dark = Vec::new();
        for run in qr.path.split('M').filter(|run| !run.is_empty()) {
            let (place, rest) = run.split_once('h').unwrap();
            let (x, y) = place.split_once(' ').unwrap();
            let length: i32 = rest.split_once("v1").unwrap().0.parse().unwrap();
            let (x, y): (i32, i32) = (x.parse().unwrap(), y.parse().unwrap());
            dark.extend((x..x + length).map(|x| (x, y)));
        }
        dark
    }

    #[test]
    fn the_path_has_every_dark_module_and_a_border() {
        let text = "https://code.example.org/login?token=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        let (qr, code) = (encode(text).unwrap(), QrCode::encode_text(text, QrCodeEcc::Medium).unwrap());
        let modules = (0..code.size()).flat_map(|y| (0..code.size()).map(move |x| (x, y)));
        let expected: Vec<_> =
            modules.filter(|(x, y)| code.get_module(*x, *y)).map(|(x, y)| (x + BORDER, y + BORDER)).collect();
        assert_eq!(draw(&qr), expected);
        assert_eq!(qr.size as i32, code.size() + 2 * BORDER);
    }

    #[test]
    fn a_text_that_does_not_fit_has_no_code() {
        assert_eq!(encode(&"x".repeat(5_000)), None);
    }
}
