//! What an agent asks before it goes on, and how a person answers.

use domain::{
    output::Phase,
    task::{Status, Task},
    tool::{Ask, Permit},
};
use leptos::prelude::*;

use crate::{
    chat::Pane,
    erased::{Erase, Erased},
    form::Form,
    icon::Icon,
};

#[component]
pub fn Permission(task: Memo<Option<Task>>) -> impl IntoView {
    let asked = Memo::new(move |_| task.read().as_ref().and_then(asked));
    move || asked.get().map(|(task, attempt, ask)| card(task, attempt, ask))
}

/// The question that waits, and where its answer goes.
fn asked(task: &Task) -> Option<(String, u32, Ask)> {
    match &task.status {
        Status::Running { attempt, phase: Phase::Asking(ask), cancelling: false, .. } => {
            Some((task.id.to_string(), attempt.0, ask.clone()))
        }
        _ => None,
    }
}

fn card(task: String, attempt: u32, ask: Ask) -> Erased {
    let Pane { chat, actions, .. } = expect_context::<Pane>();
    let Ask { number, title, detail, options, .. } = ask;
    let button = |permit: Permit| {
        let class = match permit {
            Permit::Once => "button small primary",
            Permit::Always | Permit::Reject | Permit::RejectAlways => "button small",
        };
        let value = word(permit);
        view! {
            <button
                class=class
                type="submit"
                name="permit"
                value=value
                disabled=move || actions.answer.is_pending()
            >
                {permit.words()}
            </button>
        }
    };
    let buttons: Vec<_> = options.into_iter().map(button).collect();
    view! {
        <div class="notice permission" role="alertdialog" aria-label="The agent asks">
            <p class="notice-title">{Icon::Hand.view()} {title}</p>
            <pre class="permission-detail" hidden=detail.is_empty()>{detail.clone()}</pre>
            <Form to=actions.answer class="notice-actions">
                <input type="hidden" name="chat" value=chat.to_string() />
                <input type="hidden" name="task" value=task />
                <input type="hidden" name="attempt" value=attempt />
                <input type="hidden" name="number" value=number />
                {buttons}
            </Form>
        </div>
    }
    .erase()
}

/// As the wire has it.
fn word(permit: Permit) -> &'static str {
    match permit {
        Permit::Once => "once",
        Permit::Always => "always",
        Permit::Reject => "reject",
        Permit::RejectAlways => "reject_always",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_says_a_permit_as_the_wire_has_it() {
        for permit in [Permit::Once, Permit::Always, Permit::Reject, Permit::RejectAlways] {
            let wire = serde_json::to_string(&permit).unwrap();
            assert_eq!(wire, format!("\"{}\"", word(permit)));
        }
    }
}
