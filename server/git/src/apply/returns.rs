//! Lines that end in CR LF where git checked a file out, and in LF alone where it is committed.

/// None where there is a line that does not end in CR LF, or no line at all.
pub fn without_returns(content: &[u8]) -> Option<Vec<u8>> {
    let mut without = Vec::with_capacity(content.len());
    for byte in content {
        if *byte == b'\n' && without.pop() != Some(b'\r') {
            return None;
        }
        without.push(*byte);
    }
    (without.len() < content.len()).then_some(without)
}

/// Ends in CR LF whatever ends in LF alone.
pub fn with_returns(content: Vec<u8>) -> Vec<u8> {
    if is_binary(&content) {
        return content;
    }
    let mut with = Vec::with_capacity(content.len() + content.len() / 16);
    for byte in content {
        if byte == b'\n' && with.last() != Some(&b'\r') {
            with.push(b'\r');
        }
        with.push(byte);
    }
    with
}

/// As git tells it.
pub fn is_binary(content: &[u8]) -> bool {
    content.iter().take(8000).any(|byte| *byte == 0)
}
