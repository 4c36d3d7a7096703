//! Forms that send themselves to a server function: plain ones without WebAssembly, in place with it.

use leptos::{
    ev::{KeyboardEvent, SubmitEvent},
    html,
    prelude::*,
    server_fn::ServerFn,
};

use crate::{
    erased::{Erase, Inside, effect},
    error::AppError,
    first::Refusal,
};

/// What became of the forms that go to one server function. Cheap to copy, and the same type for every function.
#[derive(Clone, Copy)]
pub struct Submission {
    path: &'static str,
    in_flight: RwSignal<u32>,
    /// The fields that were sent last, until their answer comes; empty while there are none.
    fields: RwSignal<String>,
    outcome: RwSignal<Option<Result<(), AppError>>>,
}

impl Submission {
    /// For the server function `F`, whose answer is nothing but whether it succeeded.
    pub fn new<F: ServerFn<Output = (), Error = AppError>>() -> Self {
        Self::to(F::PATH)
    }

    fn to(path: &'static str) -> Self {
        Self {
            path,
            in_flight: RwSignal::new(0),
            fields: RwSignal::new(String::new()),
            outcome: RwSignal::new(Refusal::by(path).map(Err)),
        }
    }

    pub fn is_pending(self) -> bool {
        self.in_flight.get() > 0
    }

    /// Whether the last one succeeded.
    pub fn is_done(self) -> bool {
        self.outcome.with(|outcome| matches!(outcome, Some(Ok(()))))
    }

    /// Why the last one did not.
    pub fn failure(self) -> Option<AppError> {
        self.outcome.with(|outcome| outcome.as_ref().and_then(|outcome| outcome.as_ref().err().cloned()))
    }

    pub fn forget(self) {
        self.outcome.set(None);
    }

    /// Forgets that the server could not be reached. To be called once it can be again.
    pub fn forget_offline(self) {
        if self.outcome.with_untracked(|outcome| matches!(outcome, Some(Err(AppError::Offline)))) {
            self.forget();
        }
    }

    /// A field of what is on its way.
    pub fn sent(self, name: &str) -> Option<String> {
        self.fields.with(|fields| field(fields, name))
    }

    /// Closes a form once what it asked for is done.
    pub fn close_when_done(self, is_open: RwSignal<bool>) {
        effect(move || {
            if self.is_done() {
                is_open.set(false);
            }
        });
    }
}

#[component]
pub fn Form(
    to: Submission,
    children: Inside,
    #[prop(optional)] class: Option<&'static str>,
    #[prop(optional, into)] id: Option<String>,
    #[prop(optional)] hidden: bool,
    #[prop(optional)] node_ref: NodeRef<html::Form>,
) -> impl IntoView {
    let submit = move |event: SubmitEvent| send(to, &event);
    view! {
        <form
            action=to.path
            method="post"
            class=class
            id=id
            hidden=hidden
            node_ref=node_ref
            on:submit=submit
            on:keydown=send_by_key
        >
            {children.view()}
        </form>
    }
    .erase()
}

#[cfg(not(feature = "hydrate"))]
fn send_by_key(_key: KeyboardEvent) {}

/// Wherever several lines are written, Enter alone begins another one.
#[cfg(feature = "hydrate")]
fn send_by_key(key: KeyboardEvent) {
    use wasm_bindgen::JsCast as _;
    if key.key() != "Enter" || !(key.ctrl_key() || key.meta_key()) || key.default_prevented() {
        return;
    }
    let field = key.target().and_then(|field| field.dyn_into::<web_sys::HtmlTextAreaElement>().ok());
    let button = field.and_then(|field| field.form()?.query_selector(BUTTON).ok().flatten());
    if let Some(button) = button.and_then(|button| button.dyn_into::<web_sys::HtmlElement>().ok()) {
        key.prevent_default();
        // As a press does: nothing while it is disabled.
        button.click();
    }
}

/// The one that sends the form, and not another that lies in it.
#[cfg(feature = "hydrate")]
const BUTTON: &str = "button[type=submit]:not([form])";

#[cfg(not(feature = "hydrate"))]
fn send(_to: Submission, _event: &SubmitEvent) {}

#[cfg(not(feature = "hydrate"))]
fn field(_fields: &str, _name: &str) -> Option<String> {
    None
}

#[cfg(feature = "hydrate")]
fn send(to: Submission, event: &SubmitEvent) {
    if event.default_prevented() {
        return;
    }
    event.prevent_default();
    let Some(fields) = fields(event) else { return to.outcome.set(Some(Err(AppError::Unreadable))) };
    to.in_flight.update(|count| *count += 1);
    to.fields.set(fields.clone());
    leptos::task::spawn_local(async move {
        let outcome = crate::wire::post(to.path, fields).await.map(drop);
        // What the form belonged to may be gone by now.
        if to.in_flight.try_update(|count| *count -= 1).is_some() {
            to.fields.set(String::new());
            to.outcome.set(Some(outcome));
        }
    });
}

/// The fields of a form as they are sent, the button that was pressed included.
#[cfg(feature = "hydrate")]
pub fn fields(event: &SubmitEvent) -> Option<String> {
    let data = leptos::form::form_data_from_event(event).ok()?;
    let fields = web_sys::UrlSearchParams::new_with_str_sequence_sequence(&data).ok()?;
    Some(fields.to_string().into())
}

#[cfg(feature = "hydrate")]
fn field(fields: &str, name: &str) -> Option<String> {
    web_sys::UrlSearchParams::new_with_str(fields).ok()?.get(name)
}
