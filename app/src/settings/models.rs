//! The model servers, and the model that is used where nobody chose one.

use domain::{
    catalogue::ModelRef,
    settings::{DefaultModel, ModelSettings, Shown},
};
use leptos::{prelude::*, task::spawn_local};

use super::{
    api::{ChooseDefaultModel, LookAgain, RemoveModelServer, RemoveServerKey, SetServerKey},
    flows_form::FlowsForm,
    pane::Data,
    rows::rows,
    server_form::ServerForm,
    server_row::{self, Actions},
};
use crate::{
    chat::api::offered_models,
    erased::{Erase, Erased, Show, effect},
    form::{Form, Submission},
    icon::Icon,
    notice::Failure,
    workspace::Offered,
};

pub fn view(data: Data) -> Erased {
    let actions = Actions {
        look: Submission::new::<LookAgain>(),
        remove: Submission::new::<RemoveModelServer>(),
        set_key: Submission::new::<SetServerKey>(),
        remove_key: Submission::new::<RemoveServerKey>(),
    };
    let Actions { look, remove, set_key, remove_key } = actions;
    let all = [look, remove, set_key, remove_key];
    all.into_iter().for_each(|form| data.reload_when_done(form));
    [remove, set_key, remove_key].into_iter().for_each(tell_pickers);
    let servers = Memo::new(move |_| of(data, |models| models.servers.clone()));
    let rows =
        rows(servers, |entry| entry.name.clone(), move |entry| server_row::view(entry, actions).erase());
    let failure = move || all.into_iter().find_map(Submission::failure);
    view! {
        <section class="settings-part" aria-labelledby="servers-title">
            <div class="settings-part-head">
                <h3 id="servers-title">"Model servers"</h3>
                <Form to=look>
                    <button class="button small" type="submit" disabled=move || look.is_pending()>
                        {Icon::Retry.view()}
                        {move || if look.is_pending() { "Asking…" } else { "Ask all again" }}
                    </button>
                </Form>
            </div>
            <p class="settings-help">
                "A local server has one model loaded and does one thing at a time, for everybody. A cloud server does several side by side."
            </p>
            <Failure error=Signal::derive(failure) />
            <ul class="rows settings-rows" hidden=move || servers.read().is_empty()>{rows}</ul>
            <Show when=Signal::derive(move || servers.read().is_empty())>
                <p class="notice info">"There is no model server yet. Add one below, or start llama-swap, llama.cpp or Ollama on this machine: they are found by themselves."</p>
            </Show>
        </section>
        <ServerForm data remove />
        <DefaultModelForm data />
        <FlowsForm data />
    }
    .erase()
}

/// What the data say about models; nothing in another section.
pub fn of<T: Default>(data: Data, read: impl FnOnce(&ModelSettings) -> T) -> T {
    data.with(|shown| match shown {
        Shown::Models(models) => Some(read(models)),
        _ => None,
    })
}

/// The model pickers of this page show the change at once.
pub fn tell_pickers(form: Submission) {
    let offered = use_context::<Offered>();
    effect(move || {
        if form.is_done() {
            ask_for_pickers(offered);
        }
    });
}

pub fn ask_for_pickers(offered: Option<Offered>) {
    let Some(Offered(shown)) = offered else { return };
    spawn_local(async move {
        if let Ok(models) = offered_models(false).await {
            shown.try_set(models);
        }
    });
}

#[component]
fn DefaultModelForm(data: Data) -> impl IntoView {
    let choose = Submission::new::<ChooseDefaultModel>();
    data.reload_when_done(choose);
    tell_pickers(choose);
    let default = Memo::new(move |_| of(data, |models| Some(models.default_model.clone())));
    let form = move || default.get().map(|default| choice(default, choose).erase());
    view! {
        <section class="settings-part" aria-labelledby="default-title">
            <h3 id="default-title">"Default model"</h3>
            <p class="settings-help">"Names chats, and answers where nobody chose a model."</p>
            {form}
        </section>
    }
    .erase()
}

fn choice(default: DefaultModel, choose: Submission) -> impl IntoView {
    let DefaultModel { set, origin, used, offered } = default;
    let is_fixed = origin.is_fixed();
    let is_automatic = set.is_none();
    let options = model_options(set.unwrap_or_default(), is_fixed, offered);
    let hint = match used {
        Some(used) => format!("Used now: {used}, {origin}."),
        None => "No model is offered now.".to_owned(),
    };
    let save = (!is_fixed).then(|| {
        view! {
            <button class="button" type="submit" disabled=move || choose.is_pending()>
                {move || if choose.is_pending() { "Saving…" } else { "Save" }}
            </button>
        }
    });
    let error = move || choose.failure().map(|error| error.to_string());
    view! {
        <Form to=choose>
            <div class="field">
                <label class="field-label" for="default-model">"Model"</label>
                <div class="settings-line">
                    <select
                        class="select"
                        id="default-model"
                        name="model"
                        disabled=is_fixed
                        aria-describedby="default-hint default-error"
                    >
                        <option value="" selected=is_automatic>"Automatic: the first that answers, local ones first"</option>
                        {options}
                    </select>
                    {save}
                </div>
                <span class="field-hint" id="default-hint">{hint}</span>
                <span class="field-error" id="default-error" role="alert">{error}</span>
            </div>
        </Form>
    }
}

/// What can be chosen, and what was set although nobody offers it now. A model that is set elsewhere may be named
/// without its server.
pub fn model_options(set: String, is_fixed: bool, offered: Vec<ModelRef>) -> Erased {
    let is_offered = offered.iter().any(|model| model.to_string() == set || model.model == set);
    let missing = (!set.is_empty() && !is_offered)
        .then(|| view! { <option value=set.clone() selected>{format!("{set} (not offered now)")}</option> });
    let options: Vec<_> = offered
        .iter()
        .map(|model| {
            let name = model.to_string();
            let is_set = name == set || (is_fixed && model.model == set);
            let value = name.clone();
            view! { <option value=value selected=is_set>{name}</option> }
        })
        .collect();
    (missing, options).into_view().erase()
}
