//! Who works in flows, and with which model.

use domain::settings::{DefaultModel, FlowBackend, FlowSettings, Origin};
use leptos::prelude::*;

use super::{
    api::ChooseForFlows,
    models::{model_options, of},
    pane::Data,
};
use crate::{
    erased::Erase,
    form::{Form, Submission},
};

#[component]
pub fn FlowsForm(data: Data) -> impl IntoView {
    let choose = Submission::new::<ChooseForFlows>();
    data.reload_when_done(choose);
    let flows = Memo::new(move |_| of(data, |models| Some(models.flows.clone())));
    let form = move || flows.get().map(|flows| choice(flows, choose).erase());
    view! {
        <section class="settings-part" aria-labelledby="flows-title">
            <h3 id="flows-title">"Flows"</h3>
            <p class="settings-help">"Who looks at a project where a flow is launched and nobody else is named."</p>
            {form}
        </section>
    }
    .erase()
}

fn choice(flows: FlowSettings, choose: Submission) -> impl IntoView {
    let FlowSettings { backend, model } = flows;
    let are_fixed = (backend.origin.is_fixed(), model.origin.is_fixed());
    let save = (are_fixed != (true, true)).then(|| {
        view! {
            <button class="button" type="submit" disabled=move || choose.is_pending()>
                {move || if choose.is_pending() { "Saving…" } else { "Save" }}
            </button>
        }
    });
    let error = move || choose.failure().map(|error| error.to_string());
    view! {
        <Form to=choose>
            {agent(backend)}
            {model_of(model)}
            {save}
            <span class="field-error" id="flows-error" role="alert">{error}</span>
        </Form>
    }
}

fn agent(backend: FlowBackend) -> impl IntoView {
    let FlowBackend { used, origin, offered } = backend;
    let is_set = origin != Origin::Default;
    let options: Vec<_> = offered
        .iter()
        .map(|one| {
            let title = one.title().to_owned();
            view! { <option value=one.0.clone() selected=is_set && *one == used>{title}</option> }
        })
        .collect();
    let missing = (!offered.contains(&used))
        .then(|| view! { <option value=used.0.clone() selected>{format!("{used} (not known)")}</option> });
    let hint = format!("Used now: {}, {origin}.", used.title());
    view! {
        <div class="field">
            <label class="field-label" for="flow-backend">"Agent of flows"</label>
            <select
                class="select"
                id="flow-backend"
                name="backend"
                disabled=origin.is_fixed()
                aria-describedby="flow-backend-hint flows-error"
            >
                <option value="" selected=!is_set>"The default"</option>
                {missing}
                {options}
            </select>
            <span class="field-hint" id="flow-backend-hint">{hint}</span>
        </div>
    }
}

fn model_of(model: DefaultModel) -> impl IntoView {
    let DefaultModel { set, origin, used, offered } = model;
    let (is_automatic, is_fixed) = (set.is_none(), origin.is_fixed());
    let hint = match used {
        Some(used) => format!("Used now: {used}, {origin}."),
        None => "No such model is offered now.".to_owned(),
    };
    view! {
        <div class="field">
            <label class="field-label" for="flow-model">"Model of flows"</label>
            <select
                class="select"
                id="flow-model"
                name="model"
                disabled=is_fixed
                aria-describedby="flow-model-hint flows-error"
            >
                <option value="" selected=is_automatic>"Automatic: a local one, else the default model"</option>
                {model_options(set.unwrap_or_default(), is_fixed, offered)}
            </select>
            <span class="field-hint" id="flow-model-hint">{hint}</span>
        </div>
    }
}
