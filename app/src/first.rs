//! What a page starts from. It is read before the page is rendered, and travels in it: so the page is whole
//! without scripts, and the browser goes on from there without asking or waiting.

use domain::{
    chat::Kind,
    feed::Snapshot,
    layout::Content,
    page::{Fronts, Page, Wanted},
};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{arena, chat, chat::api::Models, coder, erased::effect, error::AppError, orchestrator};
#[cfg(feature = "ssr")]
use crate::{orchestrator::FirstRead, settings::FirstSection};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct First {
    pub wanted: Wanted,
    pub page: Result<(Snapshot<Page>, Models), AppError>,
    pub refused: Option<Refused>,
    /// Stays on the server: the browser's half of Settings finds it in its own place.
    #[cfg(feature = "ssr")]
    #[serde(skip)]
    pub settings: Option<FirstSection>,
    /// Stays there too: each pane carries its own.
    #[cfg(feature = "ssr")]
    #[serde(skip)]
    pub read: FirstRead,
}

impl First {
    /// The parts of the code that are needed for what is in front.
    pub fn chunks(&self) -> Vec<&'static str> {
        let Ok((snapshot, _)) = &self.page else { return Vec::new() };
        if !self.wanted.is_of_a_session() {
            return Vec::new();
        }
        let page = &snapshot.state;
        let is_coder = |chat| page.chat(chat).is_some_and(|chat| chat.kind == Kind::Coder);
        let of = |content| match content {
            Content::Chat(chat) if is_coder(chat) => vec![chat::code::CHUNK.name, coder::code::CHUNK.name],
            Content::Chat(_) => vec![chat::code::CHUNK.name],
            Content::Arena | Content::Battle(_) => vec![arena::code::CHUNK.name],
            Content::Orchestrator | Content::Run(_) | Content::Artifact(_) => {
                vec![orchestrator::code::CHUNK.name]
            }
            Content::Settings => Vec::new(),
        };
        let mut chunks = Vec::new();
        for chunk in page.showing(self.wanted, None, &Fronts::default()).visible().into_iter().flat_map(of) {
            if !chunks.contains(&chunk) {
                chunks.push(chunk);
            }
        }
        chunks
    }
}

/// A plain form comes back to its page with the server's refusal in the address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    /// The path of the server function that refused.
    pub by: String,
    pub error: AppError,
}

/// What was refused is said by the forms that the page starts with, and by none that comes later.
#[derive(Clone, Copy)]
pub struct Refusal(StoredValue<Option<Refused>>);

impl Refusal {
    pub fn provide(refused: Option<Refused>) {
        let refusal = Self(StoredValue::new(refused));
        provide_context(refusal);
        // By then the page is there.
        effect(move || {
            refusal.0.set_value(None);
            #[cfg(feature = "hydrate")]
            crate::address::forget_refusal();
        });
    }

    /// Why the server function at this path refused.
    pub fn by(path: &str) -> Option<AppError> {
        let Self(refused) = use_context()?;
        refused
            .with_value(|refused| Some(refused.as_ref().filter(|refused| refused.by == path)?.error.clone()))
    }
}

/// The name of the field of an address that holds a refusal, as server functions have it.
pub const REFUSAL_FIELD: &str = "__err";

/// The element of the page that holds it.
const ELEMENT: &str = "first";

#[cfg(feature = "ssr")]
mod server {
    use domain::settings::{Section, Shown};
    use http::{HeaderMap, Uri, header, request::Parts};
    use leptos::server_fn::error::ServerFnUrlError;

    use super::*;
    use crate::{chat::api::offered_models, settings::api::show_settings, workspace::api::page_snapshot};

    impl First {
        /// None when the address leads nowhere.
        pub async fn of(request: &Parts) -> Option<Self> {
            let wanted = Wanted::of(request.uri.path())?;
            let query = request.uri.query().unwrap_or_default();
            let page = match page_snapshot(wanted.path(), String::new()).await {
                Ok(snapshot) => Ok((snapshot, offered_models(false).await.unwrap_or_default())),
                Err(error) => Err(error),
            };
            let settings = match page.as_ref().ok().and_then(|(page, _)| section(wanted, &page.state)) {
                // What a plain form left to be said, by the address that it led to.
                Some(section) => {
                    let checked = field(query, "checked").and_then(|id| id.parse().ok());
                    Some(FirstSection(show_settings(section, checked).await))
                }
                None => None,
            };
            let in_front = page.as_ref().ok().filter(|_| wanted.is_of_a_session());
            let in_front =
                in_front.map(|(page, _)| page.state.showing(wanted, None, &Fronts::default()).visible());
            let read = FirstRead::of(&in_front.unwrap_or_default()).await;
            // Any site can link to an address of ours with words of its own in it.
            let refused = Refused::of(query).filter(|_| comes_from_us(&request.uri, &request.headers));
            Some(Self { wanted, page, refused, settings, read })
        }

        /// Whether it shows what lets another browser in.
        pub fn is_secret(&self) -> bool {
            matches!(&self.settings, Some(FirstSection(Ok(Shown::Phone(_)))))
        }

        /// A block of data. Browsers do not run it, and nothing in it can end it.
        pub fn script(&self) -> AnyView {
            let json = serde_json::to_string(self).unwrap_or_else(|error| {
                // The browser finds nothing to read, and says so.
                tracing::error!(%error, "what a page starts from cannot be written");
                String::new()
            });
            let json = json.replace('<', "\\u003c");
            view! { <script type="application/json" id=ELEMENT inner_html=json></script> }.into_any()
        }
    }

    impl Refused {
        /// Under the names that server functions use.
        fn of(query: &str) -> Option<Self> {
            let error = ServerFnUrlError::decode_err(&field(query, REFUSAL_FIELD)?);
            Some(Self { by: field(query, "__path")?, error })
        }
    }

    /// Whether a page of ours led here, as a plain form does. What is typed or linked elsewhere does not count.
    fn comes_from_us(address: &Uri, headers: &HeaderMap) -> bool {
        if let Some(site) = headers.get("sec-fetch-site") {
            return site == "same-origin";
        }
        // Browsers leave it out without TLS. The host is known to be ours by now.
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| address.authority().map(|authority| authority.as_str()));
        let referrer = headers.get(header::REFERER).and_then(|from| from.to_str().ok()?.parse::<Uri>().ok());
        let from = referrer.as_ref().and_then(|from| from.authority()).map(|authority| authority.as_str());
        from.is_some() && from == host
    }

    fn field(query: &str, wanted: &str) -> Option<String> {
        let fields = form_urlencoded::parse(query.as_bytes());
        // The address of a page that came back before has what it came back with then, too.
        fields.filter(|(name, _)| name == wanted).last().map(|(_, value)| value.into_owned())
    }

    /// The section of Settings that is in front.
    fn section(wanted: Wanted, page: &Page) -> Option<Section> {
        if let Wanted::SettingsPage(section) = wanted {
            return Some(section);
        }
        let is_shown =
            || page.showing(wanted, None, &Fronts::default()).visible().contains(&Content::Settings);
        (wanted.is_of_a_session() && is_shown()).then(Section::default)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_a_page_of_ours_brings_a_refusal() {
            let check = |headers: &[(&'static str, &str)], expected: bool| {
                let pairs = [("host", "localhost:3400")].into_iter().chain(headers.iter().copied());
                let map =
                    pairs.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
                assert_eq!(comes_from_us(&Uri::from_static("/"), &map), expected, "{headers:?}");
            };
            check(&[("sec-fetch-site", "same-origin")], true);
            for foreign in ["cross-site", "same-site", "none", ""] {
                check(&[("sec-fetch-site", foreign), ("referer", "http://localhost:3400/")], false);
            }
            check(&[("referer", "http://localhost:3400/chat/1")], true);
            check(&[("referer", "http://localhost:3401/")], false);
            check(&[("referer", "http://evil.example/localhost:3400")], false);
            check(&[], false);
        }

        #[test]
        fn a_refusal_is_said_by_its_own_form_and_by_none_that_comes_later() {
            Owner::new_root(None).with(|| {
                let error = AppError::Invalid("no".into());
                Refusal::provide(Some(Refused { by: "/api/ask".into(), error: error.clone() }));
                // The server renders a page once, and every form of the kind may be the one.
                assert_eq!(
                    [Refusal::by("/api/ask"), Refusal::by("/api/ask")],
                    [Some(error.clone()), Some(error)]
                );
                assert_eq!(Refusal::by("/api/stop"), None);
                expect_context::<Refusal>().0.set_value(None);
                assert_eq!(Refusal::by("/api/ask"), None);
            });
        }

        #[test]
        fn a_refusal_is_read_from_the_address_and_cannot_end_its_block() {
            let error = AppError::Invalid("</script><script>alert(1)".into());
            let address = ServerFnUrlError::new("/api/ask", error.clone()).to_url("http://x.test/").unwrap();
            let refused = Refused::of(address.query().unwrap());
            assert_eq!(refused, Some(Refused { by: "/api/ask".into(), error: error.clone() }));
            assert_eq!(Refused::of("__path=/api/ask"), None);
            let newer = AppError::Invalid("again".into());
            let again = ServerFnUrlError::new("/api/ask", newer.clone()).to_url(address.as_str()).unwrap();
            assert_eq!(Refused::of(again.query().unwrap()).map(|refused| refused.error), Some(newer));

            let first = First {
                wanted: Wanted::Start,
                page: Err(error),
                refused,
                settings: None,
                read: FirstRead::default(),
            };
            let html = first.script().to_html();
            let json = html.split_once('>').unwrap().1.split_once("</script>").unwrap().0;
            assert_eq!(serde_json::from_str::<First>(json).unwrap(), first);
            // The control: as it is, the text does hold what would end it.
            assert!(serde_json::to_string(&first).unwrap().contains("</script>"));
        }
    }
}

#[cfg(feature = "hydrate")]
impl First {
    /// None on a page that has nothing to go on from; it stays as it is. What cannot be read is said.
    pub fn of_this_page() -> Option<Self> {
        let json = document().get_element_by_id(ELEMENT)?.text_content()?;
        let first = domain::json::read(&json).ok();
        if first.is_none() {
            say("This page could not be read. Reload it.");
        }
        first
    }
}

/// Nothing is alive that could show it, so it is put there by hand.
#[cfg(feature = "hydrate")]
pub fn say(words: &str) -> Option<web_sys::Element> {
    leptos::logging::error!("{words}");
    let (body, notice) = (document().body()?, document().create_element("div").ok()?);
    notice.set_class_name("notice error");
    notice.set_attribute("role", "alert").ok();
    notice.set_text_content(Some(words));
    body.insert_before(&notice, body.first_child().as_ref()).ok();
    Some(notice)
}
