//! The address of the user's own Postgres, and the passwords that it holds.

use percent_encoding::percent_decode_str;
use reqwest::Url;

use crate::secret::Secret;

const ALLOWED: &str = "allowed is postgres://user:password@host:port/database";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseUrl {
    text: Secret,
    passwords: Vec<Secret>,
}

impl DatabaseUrl {
    /// `spare` is the password that Postgres clients take where the URL has none. The text is never repeated
    /// in a message: it holds a password.
    pub(super) fn parse(text: &str, spare: Option<String>) -> Result<Self, String> {
        match Url::parse(text) {
            Ok(url) if matches!(url.scheme(), "postgres" | "postgresql") => {
                Ok(Self { text: Secret::new(text), passwords: passwords(&url, spare) })
            }
            Ok(url) => Err(format!("\"{}:\" is not Postgres; {ALLOWED}", url.scheme())),
            Err(error) => Err(format!("this is not a URL ({error}); {ALLOWED}")),
        }
    }

    pub fn expose(&self) -> &str {
        self.text.expose()
    }

    /// What must not be shown: the password as it is and as it stands in the URL.
    pub fn passwords(&self) -> &[Secret] {
        &self.passwords
    }
}

fn passwords(url: &Url, spare: Option<String>) -> Vec<Secret> {
    let parameters = || url.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let parameter =
        |name: &str| parameters().filter(|(key, _)| *key == name).map(|(_, value)| value).next_back();
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let written = url.password().into_iter().chain(parameter("password"));
    // In a parameter a plus may stand for a space.
    let mut found: Vec<String> =
        written.flat_map(|text| [text.to_owned(), decoded(text), decoded(&text.replace('+', " "))]).collect();
    found.extend(spare);
    // A password that is also a name keeps nothing secret, and every answer about Postgres would be full of
    // blots where it says "postgres".
    let names = [url.username(), url.path().trim_start_matches('/'), url.host_str().unwrap_or_default()]
        .into_iter()
        .chain(parameter("user"))
        .chain(parameter("dbname"));
    let names: Vec<String> = names.map(decoded).chain([url.scheme().to_owned()]).collect();
    found.retain(|password| !password.is_empty() && !names.contains(password));
    found.sort();
    found.dedup();
    found.into_iter().map(Secret::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, spare: Option<&str>, expected: &[&str]) {
        let url = DatabaseUrl::parse(url, spare.map(String::from)).unwrap();
        let found: Vec<_> = url.passwords().iter().map(Secret::expose).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_password_is_known_in_every_form_it_may_be_quoted_in() {
        check("postgres://me:correct-horse@db:5432/work", None, &["correct-horse"]);
        check("postgres://me:horse%40stable@db/work", None, &["horse%40stable", "horse@stable"]);
        check(
            "postgres:///work?host=/run&password=horse+1%21",
            None,
            &["horse 1!", "horse+1!", "horse+1%21"],
        );
        check("postgres://me@db/work", None, &[]);
        check("postgres://me@db/work", Some("from-the-environment"), &["from-the-environment"]);
    }

    #[test]
    fn a_password_that_is_a_name_is_no_secret() {
        check("postgres://postgres:postgres@localhost/work", None, &[]);
        check("postgres://me:warehouse@db/warehouse", None, &[]);
        check("postgres:///?user=developer&password=developer", None, &[]);
        // The control: beside other names the same word is one.
        check("postgres://me:warehouse@db/work", None, &["warehouse"]);
    }
}
