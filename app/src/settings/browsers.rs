//! Who is signed in.

use domain::{
    browser::{self, Browser},
    moment,
    settings::{Shown, counted},
};
use leptos::prelude::*;

use super::{
    api::{RevokeBrowser, RevokeOtherBrowsers},
    pane::Data,
    rows::rows,
};
use crate::{
    erased::{Erase, Erased, Show},
    form::{Form, Submission},
    icon::Icon,
    notice::Failure,
};

pub fn view(data: Data) -> Erased {
    let (revoke, revoke_others) =
        (Submission::new::<RevokeBrowser>(), Submission::new::<RevokeOtherBrowsers>());
    data.reload_when_done(revoke);
    data.reload_when_done(revoke_others);
    let browsers = Memo::new(move |_| {
        data.with(|shown| match shown {
            Shown::Browsers(browsers) => Some(browsers.clone()),
            _ => None,
        })
    });
    let rows = rows(browsers, |browser| browser.id, move |browser| row(browser, data, revoke).erase());
    let others = Memo::new(move |_| browsers.read().iter().filter(|browser| !browser.is_this).count());
    let failure = move || revoke.failure().or_else(|| revoke_others.failure());
    view! {
        <Failure error=Signal::derive(failure) />
        <ul class="rows settings-rows">{rows}</ul>
        <Show when=Signal::derive(move || others.get() > 0)>
            <Form to=revoke_others class="settings-actions">
                <button class="button danger" type="submit" disabled=move || revoke_others.is_pending()>
                    {Icon::LogOut.view()}
                    {move || format!("Sign out {}", counted(others.get(), "other browser"))}
                </button>
            </Form>
        </Show>
    }
    .erase()
}

fn row(browser: Browser, data: Data, revoke: Submission) -> impl IntoView {
    let Browser { id, user_agent, created_ms, seen_ms, is_this, is_connected } = browser;
    let name = browser::name(&user_agent);
    let name = if name.is_empty() { "Unknown browser".to_owned() } else { name };
    let seen = move || match data.now_ms.get() {
        _ if is_connected => "open now".to_owned(),
        Some(now_ms) => format!("last seen {}", moment::ago(now_ms, seen_ms)),
        None => format!("last seen {}", moment::utc(seen_ms)),
    };
    let mark = is_this.then(|| view! { <span class="badge accent">"This browser"</span> });
    let sign_out = if is_this {
        view! {
            <form method="post" action="/logout">
                <button class="button small" type="submit">"Sign out"</button>
            </form>
        }
        .erase()
    } else {
        let label = format!("Sign out {name}");
        view! {
            <Form to=revoke>
                <input type="hidden" name="browser" value=id.to_string() />
                <button
                    class="button small"
                    type="submit"
                    aria-label=label
                    disabled=move || revoke.is_pending()
                >
                    "Sign out"
                </button>
            </Form>
        }
        .erase()
    };
    view! {
        <li class="row">
            <span class=if is_connected { "dot done" } else { "dot" } aria-hidden="true"></span>
            <div class="row-words">
                <span class="row-title" title=user_agent>{name} " " {mark}</span>
                <span class="row-about">
                    "Signed in " <time>{moment::utc(created_ms)}</time> " · " {seen}
                </span>
            </div>
            <div class="row-end">{sign_out}</div>
        </li>
    }
}
