//! Where a battle is put together: what to do, by whom, and on which terms.

mod line;
mod lines;
mod refused;
mod terms;

use domain::{backend::Offer, battle::Kind, persona::Offer as Personas};
use leptos::{html, prelude::*, task::spawn_local};

use super::api::{self, LaunchBattle};
use crate::{
    coder::ask_for_backends,
    device,
    erased::{Erase, For, Show, effect},
    form::{Form, Submission},
    icon::Icon,
    launching::Launching,
    notice::Failure,
    panes::Panes,
    ui::{Segment, Segmented},
    workspace::Offered,
};
use line::LineView;
use lines::Lines;
use refused::Refused;
use terms::TermsFields;
pub use terms::about;

/// The launcher in a pane of its own.
#[component]
pub fn ArenaLauncher() -> impl IntoView {
    let launching = Launching::new(Submission::new::<LaunchBattle>());
    view! {
        <section class="arena-launcher" aria-label="New battle">
            <header class="arena-launcher-head">
                {Icon::Swords.view()}
                <h1>"New battle"</h1>
                <p>"One prompt to two to six contestants. Watch them, compare what they made, take the best."</p>
            </header>
            <LauncherForm id="arena" launching in_pane=true />
        </section>
    }
    .erase()
}

#[component]
pub fn LauncherForm(
    #[prop(into)] id: String,
    launching: Launching,
    /// Whether the pane is its own: what is launched takes its place then.
    #[prop(optional)]
    in_pane: bool,
) -> impl IntoView {
    let panes = expect_context::<Panes>();
    let Offered(models) = expect_context::<Offered>();
    let Launching { text: prompt, launch } = launching;
    launching.keep(&id, panes.session.get_untracked());
    let refused = Refused(launch);
    let lines = Lines::new(models);
    let (offers, personas) = (RwSignal::new(Vec::new()), RwSignal::new(Personas::default()));
    lines.keep();
    effect(move || {
        ask_for_backends(offers);
        if let Some(session) = panes.session.get() {
            spawn_local(async move {
                if let Ok(fresh) = api::personas_of_session(session).await {
                    personas.try_set(fresh);
                }
            });
        }
    });
    // Who could take part now.
    let identities = Memo::new(move |_| match lines.kind.get() {
        Kind::Coding => offers.with(|offers: &Vec<Offer>| {
            let ready = offers.iter().filter(|offer| offer.is_ready());
            ready.map(|offer| offer.backend.to_string()).collect::<Vec<_>>()
        }),
        Kind::Qa => personas.with(|offer| offer.personas.iter().map(|one| one.name.clone()).collect()),
    });
    effect(move || lines.set_apart(&identities.read()));
    // One id for this form: whoever sends it twice launches once.
    let battle = device::fresh_id().to_string();
    let session = move || panes.session.get().map(|session| session.to_string()).unwrap_or_default();
    let pane = move || panes.focused.get().map(|pane| pane.0.to_string()).unwrap_or_default();
    let kinds = vec![
        Segment { value: "coding", label: "Coding", icon: Some(Icon::Code) },
        Segment { value: "qa", label: "Q&A", icon: Some(Icon::Chat) },
    ];
    let chosen = Signal::derive(move || lines.kind.get().word().to_owned());
    let choose = move |word: String| lines.choose_kind(if word == "qa" { Kind::Qa } else { Kind::Coding });
    let prompt_id = format!("{id}-prompt");
    let input = NodeRef::<html::Textarea>::new();
    let fault = Memo::new(move |_| lines.fault());
    let is_barred = move || launch.is_pending() || fault.read().is_some();
    view! {
        <Form to=launch class="arena-form">
            <Failure error=Signal::derive(move || refused.elsewhere()) dismiss=move |()| launch.forget() />
            <input type="hidden" name="draft[id]" value=battle autocomplete="off" />
            <input type="hidden" name="draft[session]" value=session />
            <input type="hidden" name="pane" value=pane />
            <input type="hidden" name="launcher" value=in_pane.to_string() />
            <input type="hidden" name="draft[kind]" value=untrack(move || chosen.get()) prop:value=chosen />
            <Segmented id=format!("{id}-kind") label="Type of battle" segments=kinds value=chosen on_choose=choose />
            <div class="field">
                <label class="field-label" for=prompt_id.clone()>"Prompt"</label>
                <textarea
                    class="input arena-prompt"
                    id=prompt_id
                    name="draft[prompt]"
                    rows="4"
                    required
                    aria-invalid=move || refused.at("prompt").is_some().then_some("true")
                    placeholder=move || match lines.kind.get() {
                        Kind::Coding => "What is to be done? Everybody gets exactly these words.",
                        Kind::Qa => "What do you want to know? Everybody gets exactly these words.",
                    }
                    node_ref=input
                    prop:value=prompt
                    on:input:target=move |typed| prompt.set(typed.target().value())
                ></textarea>
                {refused.view("prompt")}
            </div>
            <fieldset class="arena-lines">
                <legend class="field-label">"Contestants"</legend>
                <ol>
                    <For
                        each=move || lines.keys()
                        key=|key| *key
                        children={
                            let id = id.clone();
                            move |key| {
                                let id = format!("{id}-{key}");
                                view! { <LineView id key lines offers personas models refused /> }
                            }
                        }
                    />
                </ol>
                <button
                    class="button small"
                    type="button"
                    disabled=move || !lines.may_add()
                    on:click=move |_| lines.add(&identities.read_untracked())
                >
                    {Icon::Plus.view()}
                    "Add a contestant"
                </button>
                <p class="field-hint">{move || lines.course()}</p>
                <p class="field-error" role="alert">{move || fault.get().or_else(|| refused.at("contestants"))}</p>
            </fieldset>
            <TermsFields id=id.clone() lines models refused />
            <Show when=move || lines.kind.get() == Kind::Coding>
                <p class="field-hint">
                    "Each works in a worktree of its own, from the project as it is now. Your files stay untouched \
                     until you adopt one."
                </p>
            </Show>
            <div class="dialog-actions">
                <button class="button primary" type="submit" disabled=is_barred>
                    {Icon::Swords.view()}
                    {move || if launch.is_pending() { "Launching…" } else { "Launch" }}
                </button>
            </div>
        </Form>
    }
    .erase()
}
