//! Where a run is put together: which flow, how wide, on what, and what it is asked.

mod flows;
mod offer;

use domain::flow::{
    Band, FlowId, Request,
    request::{FOCUS_BYTES_MAX, Target},
};
use leptos::prelude::*;

use super::api::LaunchRun;
use crate::{
    chat::keep_text,
    device,
    erased::Erase,
    form::{Form, Submission},
    icon::Icon,
    launching::Launching,
    notice::Failure,
    panes::Panes,
    ui::{Segment, Segmented},
};
use flows::Flows;
use offer::{Hindrance, OfferLine};

/// The launcher in a pane of its own.
#[component]
pub fn FlowLauncher() -> impl IntoView {
    let launching = Launching::new(Submission::new::<LaunchRun>());
    view! {
        <section class="orchestrator-launcher" aria-label="New run">
            <header class="orchestrator-launcher-head">
                {Icon::Workflow.view()}
                <h1>"New run"</h1>
                <p>
                    "Several agents look at the project, each at one thing, and others try to prove them wrong. \
                     Nobody can write, and what they cite is checked."
                </p>
            </header>
            <LauncherForm id="orchestrator" launching in_pane=true />
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
    let Launching { text: focus, launch } = launching;
    let session = panes.session.get_untracked();
    launching.keep(&id, session);
    let (flow, band) = (RwSignal::new(FlowId::CodeReview), RwSignal::new(Band::Small));
    let (target, has_left) = (RwSignal::new(String::new()), RwSignal::new(false));
    if let Some(session) = session {
        keep_terms(format!("terms:{id}:{session}"), launching, flow, band, target);
    }
    // One id for this form: whoever sends it twice launches once.
    let run = device::fresh_id().to_string();
    let session = move || panes.session.get().map(|session| session.to_string()).unwrap_or_default();
    let pane = move || panes.focused.get().map(|pane| pane.0.to_string()).unwrap_or_default();
    let bands = vec![
        Segment { value: "small", label: "Small", icon: None },
        Segment { value: "medium", label: "Medium", icon: None },
        Segment { value: "large", label: "Large", icon: None },
    ];
    let chosen = Signal::derive(move || band.get().name().to_owned());
    let size = Memo::new(move |_| flow.get().size(band.get()).to_string());
    let target_fault =
        Memo::new(move |_| target.with(|target| Target::new(target).err().map(|no| no.to_string())));
    // What is missing is said once somebody has been there and left.
    let focus_fault = Memo::new(move |_| {
        let asked = |focus: &String| Request::new(flow.get(), band.get(), false, "", focus, true);
        let refused = focus.with(asked).err().map(|no| no.to_string());
        refused.filter(|_| has_left.get() || focus.with(|focus| focus.len() > FOCUS_BYTES_MAX))
    });
    let offer = offer::ask();
    let is_hindered = move || offer.with(|offer| offer.as_ref().is_some_and(|it| it.hindrance.is_some()));
    let has_fault = move || target_fault.read().is_some() || focus_fault.read().is_some();
    let is_barred = move || launch.is_pending() || is_hindered() || has_fault();
    let (target_id, focus_id) = (format!("{id}-target"), format!("{id}-focus"));
    let (target_error, focus_error) = (format!("{target_id}-error"), format!("{focus_id}-error"));
    view! {
        <Form to=launch class="orchestrator-form">
            <Failure error=Signal::derive(move || launch.failure()) dismiss=move |()| launch.forget() />
            <input type="hidden" name="draft[id]" value=run autocomplete="off" />
            <input type="hidden" name="draft[session]" value=session />
            <input type="hidden" name="pane" value=pane />
            <input type="hidden" name="launcher" value=in_pane.to_string() />
            <Hindrance offer />
            <Flows id=id.clone() flow />
            <div class="orchestrator-terms">
                <div class="field">
                    <label class="field-label" for=focus_id.clone()>{move || flow.get().flow().focus.asks()}</label>
                    <textarea
                        class="input orchestrator-focus"
                        id=focus_id
                        name="draft[focus]"
                        rows="4"
                        required=move || flow.get().flow().focus.is_needed()
                        aria-describedby=focus_error.clone()
                        prop:value=focus
                        on:input:target=move |typed| focus.set(typed.target().value())
                        on:blur=move |_| has_left.set(true)
                    ></textarea>
                    <p class="field-error" role="alert" id=focus_error>{move || focus_fault.get()}</p>
                </div>
                <div class="field">
                    <label class="field-label" for=target_id.clone()>"Target"</label>
                    <input
                        class="input"
                        id=target_id
                        name="draft[target]"
                        type="text"
                        autocomplete="off"
                        autocapitalize="off"
                        spellcheck="false"
                        placeholder="the whole project"
                        aria-describedby=target_error.clone()
                        prop:value=target
                        on:input:target=move |typed| target.set(typed.target().value())
                    />
                    <p class="field-error" role="alert" id=target_error>{move || target_fault.get()}</p>
                </div>
                <div class="field">
                    <span class="field-label">"Band"</span>
                    <Segmented
                        id="draft[band]"
                        label="Band"
                        segments=bands
                        value=chosen
                        on_choose=move |name: String| band.set(Band::or_small(&name))
                    />
                    <span class="field-hint" role="status">
                        {move || format!("{}: {}.", band.get().about(), size.get())}
                    </span>
                </div>
                <label class="composer-option">
                    <input type="checkbox" name="draft[fast]" value="true" />
                    "Fast: each worker looks less deep, within limits"
                </label>
                <OfferLine offer />
            </div>
            <div class="dialog-actions">
                <button class="button primary" type="submit" disabled=is_barred>
                    {Icon::Workflow.view()}
                    {move || match launch.is_pending() {
                        true => "Launching…".to_owned(),
                        false => format!("Launch {}", size.get()),
                    }}
                </button>
            </div>
        </Form>
    }
    .erase()
}

/// Which flow is chosen, how wide and on what, until it is launched.
fn keep_terms(
    key: String,
    launching: Launching,
    flow: RwSignal<FlowId>,
    band: RwSignal<Band>,
    target: RwSignal<String>,
) {
    let line = move || match launching.is_away() {
        true => String::new(),
        false => format!("{} {} {}", flow.get().name(), band.get().name(), target.get()),
    };
    keep_text(key, line, move |line, _| {
        let line = line.unwrap_or_default();
        let parts: Vec<_> = line.splitn(3, ' ').collect();
        let [chosen, width, on] = parts[..] else { return };
        if let Ok(chosen) = chosen.parse() {
            flow.set(chosen);
        }
        band.set(Band::or_small(width));
        target.set(on.to_owned());
    });
}
