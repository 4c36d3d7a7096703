//! Whatever a model server sends, the parser neither panics nor depends on where the network cuts.
//! The first byte of the input chooses the size of the cuts, the rest is the stream.

#![no_main]

use domain::completion::{Fault, Finish, Parser, Piece, error_body};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((size, stream)) = input.split_first() else { return };
    let whole = read([stream]);
    let cut = read(stream.chunks(usize::from(*size).max(1)));
    assert_eq!(cut, whole);
    let body = String::from_utf8_lossy(stream);
    assert!(!error_body(u16::from(*size) + 400, &body).to_string().is_empty());
});

fn read<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Piece>, Result<Finish, Fault>) {
    let mut parser = Parser::new();
    let mut pieces: Vec<Piece> = parts.into_iter().flat_map(|part| parser.push(part)).collect();
    let (rest, ending) = parser.end();
    pieces.extend(rest);
    (pieces, ending)
}
