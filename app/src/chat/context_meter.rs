//! How full the model's context is, beside its picker.

use domain::context::ContextUse;
use leptos::prelude::*;

use super::Pane;
use crate::{erased::Erase, feed::Feed, workspace::Offered};

/// From here on the model is about to forget.
const NEARLY_FULL_PERCENT: u64 = 80;

#[component]
pub fn ContextMeter() -> impl IntoView {
    let feed = expect_context::<Feed>();
    let Offered(models) = expect_context::<Offered>();
    let Pane { chat, chosen, draft, attached, .. } = expect_context::<Pane>();
    let used = Memo::new(move |_| {
        let limit = chosen.model.get().parse().ok().and_then(|wanted| {
            models.with(|models| models.catalogue.model(&wanted).and_then(|(_, model)| model.context))
        });
        let files = attached.files();
        feed.chat(chat, |chat| draft.with(|draft| ContextUse::of(chat, draft, &files, limit)))
            .unwrap_or_default()
    });
    move || {
        let used = used.get();
        // An empty chat fills nothing, and without a limit there is nothing to fill.
        let percent = used.percent().filter(|_| used.tokens() > 0)?;
        let state = match percent {
            101.. => "over",
            NEARLY_FULL_PERCENT..=100 => "high",
            _ => "low",
        };
        let words = format!("Context: {}", used.words());
        Some(
            view! {
                <span class="context-meter" role="img" data-state=state aria-label=words.clone() data-tip=words>
                    <progress max="100" value=percent.min(100).to_string() aria-hidden="true"></progress>
                    <span aria-hidden="true">{percent} " %"</span>
                </span>
            }
            .erase(),
        )
    }
}
