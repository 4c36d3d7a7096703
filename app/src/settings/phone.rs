//! A code that signs another device in.

use domain::{
    browser::{Code, Pairing, Qr},
    moment,
    settings::Shown,
};
use leptos::prelude::*;

use super::{api::MakePairingCode, pane::Data};
use crate::{
    erased::{Erase, Erased, effect},
    form::{Form, Submission},
    icon::Icon,
    markdown::CopyButton,
    notice::Failure,
};

/// How often an open code is asked whether it was used.
const ASK_EVERY_S: i64 = 2;

pub fn view(data: Data) -> Erased {
    let make = Submission::new::<MakePairingCode>();
    data.reload_when_done(make);
    let pairing = Memo::new(move |_| {
        data.with(|shown| match shown {
            Shown::Phone(pairing) => Some(Some(pairing.clone())),
            _ => None,
        })
    });
    let is_open = Memo::new(move |_| {
        pairing.with(|pairing| matches!(pairing, Some(Pairing { code: Some(Code::Open { .. }), .. })))
    });
    effect(move || {
        if data.now_ms.get().is_some_and(|now_ms| now_ms / 1_000 % ASK_EVERY_S == 0)
            && is_open.get_untracked()
        {
            data.reload();
        }
    });
    let reach = move || pairing.get().map(|pairing| reach(&pairing));
    let code = move || pairing.get().map(|pairing| code(pairing, data));
    let is_first = Memo::new(move |_| {
        pairing.with(|pairing| pairing.as_ref().is_none_or(|pairing| pairing.code.is_none()))
    });
    let label = move || if is_first.get() { "Make a code" } else { "Make a new code" };
    view! {
        {reach}
        <section class="settings-part" aria-label="Code">
            <Failure error=Signal::derive(move || make.failure()) />
            {code}
            <Form to=make class="settings-actions">
                <button class="button primary" type="submit" disabled=move || make.is_pending()>
                    {Icon::Qr.view()}
                    {label}
                </button>
            </Form>
            <p class="settings-help">
                "A new code takes the place of the one before it. Whoever has the code can do what you can: show it to nobody else."
            </p>
        </section>
    }
    .erase()
}

/// Which address the code leads to, and what to do where no phone gets there.
fn reach(pairing: &Pairing) -> Erased {
    let url = pairing.url.clone();
    if !pairing.is_loopback {
        return view! { <p class="settings-help">"The code leads to " <code>{url}</code> "."</p> }.erase();
    }
    let own = url.strip_prefix("http://").unwrap_or(&url).to_owned();
    let caddy = format!("code.example.org {{\n    reverse_proxy {own}\n}}");
    view! {
        <div class="notice warning">
            <p class="notice-title">"A phone cannot reach this address"</p>
            <p>
                "BooCode is at " <code>{url}</code>
                ", which only the machine that it runs on can reach. A code made now signs in another browser on that machine."
            </p>
            <details>
                <summary>"How to reach it from a phone"</summary>
                <ol class="settings-recipe">
                    <li>
                        "Put a proxy in front that ends TLS and passes the Host header on. With Caddy, this is the whole Caddyfile:"
                        <pre><code>{caddy}</code></pre>
                    </li>
                    <li>
                        "Start BooCode with the address that the proxy has, and with the proxy's own IP address:"
                        <pre><code>"boocode serve --public-url https://code.example.org --trusted-proxy 127.0.0.1"</code></pre>
                    </li>
                    <li>"Come back here and make a code. The README has recipes for other proxies."</li>
                </ol>
            </details>
        </div>
    }
    .erase()
}

fn code(pairing: Pairing, data: Data) -> Erased {
    let is_loopback = pairing.is_loopback;
    match pairing.code {
        None => ().erase(),
        Some(Code::Used) => over("This code was used", "The browser that used it is listed under Browsers."),
        Some(Code::Expired) => over("This code has expired", "Nobody can use it any more."),
        Some(Code::Open { link, qr, expires_ms }) => {
            let left = move || match data.now_ms.get() {
                Some(now_ms) => moment::left(expires_ms - now_ms).map_or_else(
                    || "It has expired".to_owned(),
                    |left| format!("Works once, for {left} more"),
                ),
                None => format!("Works once, until {}", moment::utc(expires_ms)),
            };
            let copied = link.clone();
            let picture = (!is_loopback).then(|| picture(qr).erase());
            view! {
                <div class="settings-code">
                    {picture}
                    <div class="settings-code-words">
                        <p>{if is_loopback { "Open this link in the other browser:" } else { "Scan it with the phone's camera, or open this link there:" }}</p>
                        <p class="settings-link"><code>{link}</code> <CopyButton name="Copy the link" text=move || copied.clone() /></p>
                        <p class="settings-left" role="timer">{left} "."</p>
                    </div>
                </div>
            }
            .erase()
        }
    }
}

fn over(title: &'static str, text: &'static str) -> Erased {
    view! {
        <div class="notice info" role="status">
            <p class="notice-title">{title}</p>
            <p>{text}</p>
        </div>
    }
    .erase()
}

/// Dark on white in every theme: that is what cameras read.
fn picture(qr: Qr) -> impl IntoView {
    let (side, size) = (qr.size.to_string(), qr.size);
    view! {
        <svg class="settings-qr" viewBox=format!("0 0 {size} {size}") role="img" aria-label="The link as a QR code" shape-rendering="crispEdges">
            <rect width=side.clone() height=side fill="#fff"></rect>
            <path d=qr.path fill="#000"></path>
        </svg>
    }
}
