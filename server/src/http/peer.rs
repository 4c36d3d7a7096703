//! Who is at the other end of a connection.

use std::net::{IpAddr, SocketAddr};

use axum::{
    extract::ConnectInfo,
    http::{Extensions, HeaderMap},
};

/// The address that a connection comes from.
pub fn of(extensions: &Extensions) -> Option<IpAddr> {
    extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip().to_canonical())
}

/// The client behind the peer. Anybody can write a forwarding header, so only what a trusted proxy wrote counts:
/// the last address that is not a proxy's own. Whatever stands before it came from the client.
pub fn client(peer: IpAddr, headers: &HeaderMap, proxies: &[IpAddr]) -> IpAddr {
    let is_proxy = |address: &IpAddr| proxies.contains(&address.to_canonical());
    if !is_proxy(&peer) {
        return peer;
    }
    let lines: Vec<_> = headers.get_all("x-forwarded-for").iter().collect();
    let named = lines.into_iter().rev().flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
    for text in named {
        match address(text.trim()) {
            Some(address) if is_proxy(&address) => {}
            Some(address) => return address.to_canonical(),
            // Not an address: whoever wrote it, what stands before it is worth no more.
            None => return peer,
        }
    }
    peer
}

/// Some proxies add the port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROXY: &str = "10.0.0.2";

    fn check(peer: &str, forwarded: &[&str], expected: &str) {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append("x-forwarded-for", line.parse().unwrap());
        }
        let proxies = [PROXY.parse().unwrap(), "127.0.0.1".parse().unwrap()];
        let found = client(peer.parse().unwrap(), &headers, &proxies);
        assert_eq!(found.to_string(), expected, "{peer} {forwarded:?}");
    }

    #[test]
    fn a_trusted_proxy_names_the_client() {
        check(PROXY, &["203.0.113.7"], "203.0.113.7");
        check(PROXY, &["203.0.113.7:51234"], "203.0.113.7");
        check(PROXY, &["[2001:db8::1]:51234"], "2001:db8::1");
        check(PROXY, &["2001:db8::1"], "2001:db8::1");
        check("::ffff:10.0.0.2", &["203.0.113.7"], "203.0.113.7");
        // Through two proxies of ours.
        check("127.0.0.1", &["203.0.113.7, 10.0.0.2"], "203.0.113.7");
        check("127.0.0.1", &["203.0.113.7", "10.0.0.2"], "203.0.113.7");
    }

    #[test]
    fn nobody_else_does() {
        // The control is the test above: the same header from the proxy counts.
        check("203.0.113.9", &["198.51.100.1"], "203.0.113.9");
        check("10.0.0.3", &["198.51.100.1"], "10.0.0.3");
        // What the client itself wrote stands before what the proxy adds.
        check(PROXY, &["198.51.100.1, 203.0.113.7"], "203.0.113.7");
        check(PROXY, &["198.51.100.1", "203.0.113.7"], "203.0.113.7");
        check(PROXY, &["198.51.100.1, nonsense"], PROXY);
        check(PROXY, &[""], PROXY);
        check(PROXY, &[], PROXY);
        check(PROXY, &["127.0.0.1"], PROXY);
    }
}
