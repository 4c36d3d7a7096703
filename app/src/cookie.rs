//! What a browser remembers of how it shows pages. These are cookies, so that the server renders the first page with
//! them and nothing jumps. They are no secret, and the page itself writes them.

use crate::device;

const YEAR_S: u32 = 365 * 24 * 60 * 60;
/// A cookie has room for this many ids and more; the oldest give way.
const LISTED_MAX: usize = 40;

/// The value of a cookie in a header that holds several.
pub fn find<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let mut cookies = header.split(';').filter_map(|cookie| cookie.trim().split_once('='));
    cookies.find(|(other, _)| *other == name).map(|(_, value)| value)
}

#[cfg(feature = "ssr")]
pub fn in_headers(headers: &axum::http::HeaderMap, name: &str) -> Option<String> {
    let all = headers.get_all(axum::http::header::COOKIE).iter().filter_map(|cookie| cookie.to_str().ok());
    all.into_iter().find_map(|header| find(header, name).map(str::to_owned))
}

/// Of the browser that this page is for.
#[cfg(feature = "ssr")]
pub fn of_this_page(name: &str) -> Option<String> {
    let request = leptos::prelude::use_context::<axum::http::request::Parts>()?;
    in_headers(&request.headers, name)
}

#[cfg(not(feature = "ssr"))]
pub fn of_this_page(name: &str) -> Option<String> {
    find(&crate::device::cookies(), name).map(str::to_owned)
}

/// Whether a cookie that lists ids has this one.
pub fn lists(name: &str, id: &str) -> bool {
    ids(&of_this_page(name).unwrap_or_default()).any(|listed| listed == id)
}

/// Puts an id on the list, or takes it off.
pub fn list(name: &str, id: &str, is_on: bool) {
    let before = of_this_page(name).unwrap_or_default();
    let now = with(&before, id, is_on);
    if now != before {
        device::set_cookie(name, Some(now.as_str()).filter(|now| !now.is_empty()));
    }
}

fn with(list: &str, id: &str, is_on: bool) -> String {
    let mut all: Vec<&str> = ids(list).filter(|listed| *listed != id).collect();
    if is_on {
        all.push(id);
    }
    all[all.len().saturating_sub(LISTED_MAX)..].join(".")
}

fn ids(list: &str) -> impl Iterator<Item = &str> {
    list.split('.').filter(|id| !id.is_empty())
}

/// What makes a browser remember it for a year. None forgets it.
pub fn line(name: &str, value: Option<&str>) -> String {
    let (value, age) = (value.unwrap_or_default(), value.map_or(0, |_| YEAR_S));
    format!("{name}={value}; Path=/; Max-Age={age}; SameSite=Lax")
}

/// Has the browser remember it, for one that runs no scripts. None forgets it.
#[cfg(feature = "ssr")]
pub fn send(name: &str, value: Option<&str>) {
    let cookie = line(name, value);
    let response = leptos::prelude::use_context::<leptos_axum::ResponseOptions>();
    if let (Some(response), Ok(cookie)) = (response, axum::http::HeaderValue::from_str(&cookie)) {
        response.append_header(axum::http::header::SET_COOKIE, cookie);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_of_bounded_length() {
        let check = |list: &str, id: &str, is_on: bool, expected: &str| {
            assert_eq!(with(list, id, is_on), expected, "{list:?} {id}");
        };
        check("", "a", true, "a");
        check("a", "b", true, "a.b");
        check("a.b", "a", true, "b.a");
        check("a.b", "a", false, "b");
        check("a", "a", false, "");
        check("a", "b", false, "a");
        let many = (0..50).fold(String::new(), |list, n| with(&list, &n.to_string(), true));
        assert_eq!((ids(&many).count(), ids(&many).next()), (40, Some("10")));
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let check = |header, expected| assert_eq!(find(header, "theme"), expected, "{header}");
        check("", None);
        check("session=abc; theme=dark", Some("dark"));
        check("theme=light;x=y", Some("light"));
        check("not-theme=light", None);
        check("theme=", Some(""));
    }
}
