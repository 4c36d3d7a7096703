//! Which addresses are everybody's.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

/// The address that stands in a URL itself, where no name does.
pub fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_reserved = matches!(
        (a, b, c),
        (0 | 10 | 127, ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
            | (224.., ..)
    );
    !is_reserved
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // What only wraps an older address is what it wraps.
    if let Some(inner) = wrapped(address) {
        return is_public_v4(inner);
    }
    let [first, second, ..] = address.segments();
    // Only this block is given out to the world; in it, documentation and tunnels are not.
    let is_global = first & 0xe000 == 0x2000;
    let is_reserved = first == 0x2001 && (second < 0x0200 || second == 0x0db8);
    is_global && !is_reserved && first != 0x2002
}

fn wrapped(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let last = || {
        let [g, h] = [g.to_be_bytes(), h.to_be_bytes()];
        Ipv4Addr::new(g[0], g[1], h[0], h[1])
    };
    let is_mapped = [a, b, c, d, e] == [0; 5] && f == 0xffff;
    let is_translated = a == 0x64 && b == 0xff9b && [c, d, e, f] == [0; 4];
    (is_mapped || is_translated).then(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_everybodys_is_public() {
        let public =
            ["1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"];
        let private = [
            "0.0.0.0",
            "10.1.2.3",
            "127.0.0.1",
            "100.64.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.2.1",
            "198.18.0.1",
            "203.0.113.9",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "2002:7f00:1::",
        ];
        for address in public {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in private {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }
}
