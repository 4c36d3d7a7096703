//! One setting's text into its value, or into words on what is allowed.

use std::{
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};

use reqwest::Url;

use super::{Source, layers::Given};

pub(super) fn listen_address(text: &str) -> Result<(IpAddr, Option<u16>), String> {
    let text = text.trim();
    let literal = text.replacen("localhost", "127.0.0.1", 1);
    let bare = literal.trim_start_matches('[').trim_end_matches(']');
    match (literal.parse::<SocketAddr>(), bare.parse::<IpAddr>()) {
        (Ok(address), _) => Ok((address.ip(), Some(address.port()))),
        (_, Ok(ip)) => Ok((ip, None)),
        _ => Err(format!(
            "\"{text}\" is not an address; allowed is an IP address with or without a port, such as 127.0.0.1:4400"
        )),
    }
}

/// Found here rather than after the database has started.
pub(super) fn root(path: PathBuf) -> Result<PathBuf, String> {
    match std::fs::read_dir(&path) {
        Ok(_) => Ok(path),
        Err(error) => Err(format!("{} is not a folder that can be read: {error}", path.display())),
    }
}

pub(super) fn origin(text: &str) -> Result<String, String> {
    let allowed =
        "allowed is an https URL without a path, such as https://code.example.org, or http on loopback";
    let refused = || format!("\"{text}\" is not usable as the public address; {allowed}");
    let url = Url::parse(text).map_err(|_| refused())?;
    let host = url.host_str().ok_or_else(refused)?;
    let secure = url.scheme() == "https" || (url.scheme() == "http" && domain::catalogue::is_loopback(host));
    let bare =
        url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    if secure && bare && url.password().is_none() {
        Ok(url.origin().ascii_serialization())
    } else {
        Err(refused())
    }
}

pub(super) fn search_address(text: &str) -> Result<String, String> {
    let is_web = Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    match is_web && text.contains("{query}") {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "\"{text}\" is not the address of a search; allowed is a URL with {{query}} in it, such as \
             http://127.0.0.1:8888/search?format=json&q={{query}}"
        )),
    }
}

pub(super) fn addresses(given: &Given) -> Result<Vec<IpAddr>, String> {
    let parse = |text: &String| {
        let parsed = text.trim().parse::<IpAddr>();
        parsed.map_err(|_| format!("\"{text}\" is not an address; allowed are IP addresses such as 10.0.0.2"))
    };
    given.many()?.iter().map(parse).collect()
}

/// A relative path in the settings file starts at the file, elsewhere at the current folder.
pub(super) fn path(
    text: &str,
    source: &Source,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<PathBuf, String> {
    if text.is_empty() {
        return Err("this is empty; allowed is a path".into());
    }
    let path = match (text.strip_prefix("~/"), env("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(text),
    };
    let path = match source {
        Source::File(file) => file.parent().unwrap_or(Path::new("/")).join(path),
        _ => path,
    };
    std::path::absolute(&path).map_err(|error| format!("\"{text}\" is not a path: {error}"))
}
