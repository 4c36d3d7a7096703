//! Where a message is written. A plain form underneath: it sends without WebAssembly too.

use domain::{
    chat::{Chat, Kind},
    id::ChatId,
    layout::Content,
};
use leptos::{
    html::{self, Textarea},
    prelude::*,
};

use super::{
    Pane,
    api::Ask,
    attachments::{AttachButton, AttachedList, sent_files, take_pasted},
    context_meter::ContextMeter,
    kept::{self, By},
    persona_picker::PersonaPicker,
    picker::ModelPicker,
    sending::Sending,
    suggest::{Suggest, Suggestions},
};
use crate::{
    actions::{Brief, Hands, Meant, of_message},
    coder::code as coder,
    device,
    erased::{Erase, effect, effect_first},
    error::AppError,
    feed::{Feed, line::Shown},
    form::{Form, Submission},
    icon::Icon,
    notice::Failure,
    orchestrator::launch_at_once,
    panes::Panes,
};

#[component]
pub fn Composer() -> impl IntoView {
    let feed = expect_context::<Feed>();
    let Pane { chat, kind, actions, draft, attached, .. } = expect_context::<Pane>();
    let ask = Submission::new::<Ask>();
    let sending = Sending::new();
    let message = Memo::new(move |_| draft.with(|draft| sending.id_for(draft, &attached.ids())));
    let hands = expect_context::<Hands>();
    let (form, input) = (NodeRef::<html::Form>::new(), NodeRef::<Textarea>::new());
    keep_draft(kept::draft_of(chat), draft, input);
    sending.keep(format!("sent:{chat}"));
    clear_when_sent(feed, ask, sending);
    effect(move || {
        if feed.connection.get() == Shown::Live {
            ask.forget_offline();
            actions.forget_offline();
        }
    });
    focus_once_in_front(chat, input);

    let is_running =
        Memo::new(move |_| feed.chat(chat, |chat| chat.active_turn().is_some()).unwrap_or_default());
    let is_held = Memo::new(move |_| feed.chat(chat, Chat::is_held).unwrap_or_default());
    let send_name = move || match (is_held.get(), is_running.get()) {
        (true, _) => "Add to the waiting messages",
        (false, true) => "Send when this is done",
        (false, false) => "Send",
    };
    let send_icon = move || if is_held.get() { Icon::Plus } else { Icon::Send }.view();
    let suggest = Suggest::new(input);
    let is_barred = move || ask.is_pending() || attached.is_any_on_its_way();
    // A message that is an action is done and not sent.
    let take_action = move || {
        let Some((meant, text)) = draft.with_untracked(|draft| of_message(draft)) else { return false };
        suggest.close();
        match meant {
            Meant::Action(action) => {
                draft.set(String::new());
                if (action.fits)(hands) {
                    (action.run)(hands);
                }
            }
            Meant::WithText(run) => run(hands, Brief { text, command: Some(draft) }),
            Meant::Flow(flow) => launch_at_once(hands, flow, &text, draft),
        }
        true
    };
    let text_id = format!("text-{chat}");
    let failure = move || ask.failure().or_else(|| actions.failure());
    let forget = move |()| {
        ask.forget();
        actions.forget();
    };
    view! {
        <Suggestions suggest form />
        <Form to=ask node_ref=form class="composer">
            <Failure error=Signal::derive(failure) dismiss=forget />
            <input type="hidden" name="chat" value=chat.to_string() />
            <input
                type="hidden"
                name="message"
                value=message.get_untracked().to_string()
                prop:value=move || message.get().to_string()
            />
            <AttachedList />
            {(kind == Kind::Coder).then(|| coder::CHUNK.view(coder::Part::Options))}
            <label class="visually-hidden" for=text_id.clone()>"Your message"</label>
            <div class="composer-field" data-text=draft>
                <textarea
                    class="composer-input"
                    id=text_id
                    name="text"
                    rows="1"
                    // A file can stand for itself.
                    required=move || attached.ids().is_empty()
                    placeholder=match kind {
                        Kind::Chat => "Ask a question",
                        Kind::Coder => "Say what to do",
                    }
                    enterkeyhint="enter"
                    // A text of several lines is no combobox; what it may say about the list beside it is this.
                    aria-autocomplete="list"
                    aria-controls=move || suggest.is_open().then(|| suggest.list_id())
                    aria-activedescendant=move || suggest.pointed()
                    node_ref=input
                    prop:value=draft
                    on:input:target=move |typed| {
                        draft.set(typed.target().value());
                        suggest.look();
                    }
                    on:keyup=move |_| suggest.look()
                    on:click=move |_| suggest.look()
                    on:blur=move |_| suggest.close()
                    on:keydown=move |key| suggest.take(&key)
                    on:paste=move |paste| take_pasted(attached, &paste)
                ></textarea>
            </div>
            <div class="composer-row">
                <AttachButton attached />
                {(kind == Kind::Coder).then(|| coder::CHUNK.view(coder::Part::Worker))}
                <PersonaPicker />
                <ModelPicker />
                <ContextMeter />
                <div class="composer-actions">
                    <button
                        class="icon-button"
                        type="button"
                        aria-label="Orchestrator"
                        data-tip="Let several agents look at the project"
                        on:click=move |_| hands.orchestrating.set(Some(Brief::of(draft.get_untracked())))
                    >
                        {Icon::Workflow.view()}
                    </button>
                    <button
                        class="icon-button"
                        type="button"
                        aria-label="Arena"
                        data-tip="Give this to several agents or models"
                        on:click=move |_| hands.launching.set(Some(Brief::of(draft.get_untracked())))
                    >
                        {Icon::Swords.view()}
                    </button>
                    <button
                        class="icon-button danger"
                        type="submit"
                        form=super::stop_form(chat)
                        aria-label="Stop"
                        hidden=move || !is_running.get()
                        disabled=move || actions.stop.is_pending()
                    >
                        {Icon::Stop.view()}
                    </button>
                    <button
                        class="icon-button primary"
                        type="submit"
                        aria-label=send_name
                        data-keys="Mod+Enter"
                        disabled=is_barred
                        on:click=move |click| {
                            if take_action() {
                                click.prevent_default();
                            }
                        }
                    >
                        {send_icon}
                    </button>
                </div>
            </div>
        </Form>
        <p class="composer-hint">"Ctrl or ⌘ with Enter sends"</p>
        <noscript>
            <p class="composer-hint">
                "Without JavaScript you can read, ask, stop and retry; reload the page to see what is new."
            </p>
        </noscript>
    }
    .erase()
}

const MENU: &str = "[role=menu]:focus-within";
const MENU_OR_LIST: &str = "[role=menu]:focus-within, .sidebar:focus-within";

/// Whoever opens a new chat, or came to this pane by keyboard, is about to write. An empty one that only lies beside
/// what is meant stays quiet.
fn focus_once_in_front(chat: ChatId, input: NodeRef<Textarea>) {
    let panes = expect_context::<Panes>();
    let is_empty = super::is_empty_chat(chat);
    let (mut is_new, mut is_waiting) = (true, true);
    effect(move || {
        let is_in_front = panes.in_front() == Some(Content::Chat(chat));
        let Some(input) = input.get().filter(|_| is_waiting) else { return };
        if is_in_front {
            is_waiting = false;
            let is_within = |pane| input.closest(pane).is_ok_and(|pane| pane.is_some());
            // Where it takes long to come, somebody may have turned to a menu or to the list. Whoever began it there is
            // led here by the server.
            let other = if device::is_narrow() { MENU } else { MENU_OR_LIST };
            let is_elsewhere = document().query_selector(other).is_ok_and(|other| other.is_some());
            // Whoever is in the pane by then came for something else there.
            let is_meant = is_empty && !is_elsewhere && (is_new || !is_within(".pane:focus-within"));
            if is_meant || (is_within(".pane:focus") && !device::is_narrow()) {
                input.focus().ok();
            }
        }
        is_new = false;
    });
}

/// What is typed survives a reload, a crash of the tab and a look at another chat.
fn keep_draft(key: String, draft: RwSignal<String>, input: NodeRef<Textarea>) {
    let take = move |text: Option<String>, by| match by {
        By::OtherPage => draft.set(text.unwrap_or_default()),
        By::Before => {
            // Somebody may have typed before the page came alive.
            let typed = input.get_untracked().map(|input| input.value()).filter(|typed| !typed.is_empty());
            if let Some(text) = typed.or(text) {
                draft.set(text);
            }
        }
    };
    kept::keep(key, move || draft.get(), take);
}

/// What did not get through stays; what was typed or attached meanwhile stays too.
fn clear_when_sent(feed: Feed, ask: Submission, sending: Sending) {
    let Pane { chat, draft, attached, .. } = expect_context::<Pane>();
    let arrived = move || {
        let Some(sent) = sending.settle() else { return };
        if draft.with_untracked(|draft| *draft == sent.text) {
            draft.set(String::new());
        }
        attached.leave(&sent.files);
        attached.forget_refused();
    };
    effect(move || {
        if let (Some(message), Some(text)) = (ask.sent("message"), ask.sent("text")) {
            sending.sent(&message, &text, sent_files(ask));
        }
    });
    effect_first(move |is_first| {
        if ask.is_done() {
            arrived();
        } else if let Some(AppError::Rejected(_) | AppError::Invalid(_)) = ask.failure()
            // What the page starts with is no answer to what this browser is unsure about.
            && !is_first
        {
            // Nothing was kept of it under this id.
            sending.settle();
            attached.look_for_lost();
        }
    });
    // The server's answer may be lost where the message was not: then the chat shows it.
    effect(move || {
        let Some(sent) = sending.unsure() else { return };
        let is_there = feed.chat(chat, |chat| {
            chat.message(sent.id).is_some() || chat.queue.iter().any(|queued| queued.turn.message == sent.id)
        });
        if is_there == Some(true) {
            arrived();
            if untrack(|| ask.failure()).is_some() {
                ask.forget();
            }
        }
    });
}
