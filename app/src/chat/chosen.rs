//! What is chosen for the next turn: by which model, as whom, and in a Coder by which agent and how. It is kept beside
//! the draft, so that a look elsewhere or a reload takes none of it: a tick that got lost would let an agent change
//! files unasked.

use domain::{
    backend::NATIVE,
    catalogue::ModelRef,
    chat::{Chat, Coder},
    id::ChatId,
    task::Task,
};
use leptos::prelude::*;

use super::{
    is_empty_chat,
    kept::{self, By},
    last_task,
};
use crate::{device, erased::effect, feed::Feed, workspace::Offered};

/// Under these names the browser remembers the last choices; a new chat begins with them.
const LAST_MODEL: &str = "model";
const LAST_BACKEND: &str = "backend";

#[derive(Clone, Copy)]
pub struct Chosen {
    /// The model, as `server/model`; empty while there is none.
    pub model: RwSignal<String>,
    /// The persona's name; empty for none.
    pub persona: RwSignal<String>,
    /// In a Coder: who does the work, by name.
    pub backend: RwSignal<String>,
    /// Whether that one asks before it changes something.
    pub asks: RwSignal<bool>,
    /// Whether its worktree begins with what is not committed yet.
    pub carry: RwSignal<bool>,
    /// By then that is settled.
    pub has_worktree: Memo<bool>,
    /// Whether somebody chose here, and no message took that along yet.
    is_unsent: RwSignal<bool>,
}

impl Chosen {
    /// As the last message had it, and from then on as it is chosen here.
    pub fn keep(feed: Feed, chat: ChatId) -> Self {
        let last = Memo::new(move |_| feed.chat(chat, Terms::last).flatten());
        let first = last.get_untracked().unwrap_or_else(Terms::first);
        let chosen = Self {
            model: RwSignal::new(first.model),
            persona: RwSignal::new(first.persona),
            backend: RwSignal::new(first.backend),
            asks: RwSignal::new(first.asks),
            carry: RwSignal::new(first.carry),
            has_worktree: Memo::new(move |_| {
                feed.chat(chat, |chat| chat.worktree.is_some()).unwrap_or_default()
            }),
            is_unsent: RwSignal::new(false),
        };
        let line = move || if chosen.is_unsent.get() { chosen.terms().line() } else { String::new() };
        let is_new = is_empty_chat(chat);
        kept::keep(format!("chosen:{chat}"), line, move |line, by| {
            match (line.as_deref().and_then(Terms::from_line), by) {
                (Some(terms), _) => chosen.take(terms),
                (None, By::OtherPage) => chosen.is_unsent.set(false),
                (None, By::Before) if is_new => chosen.begin_as_last(),
                (None, By::Before) => {}
            }
        });
        effect(move || {
            if chosen.is_unsent.get() && last.get() == Some(chosen.terms()) {
                chosen.is_unsent.set(false);
            }
        });
        chosen
    }

    /// To be called whenever somebody chose.
    pub fn note(self) {
        self.is_unsent.set(true);
    }

    /// The next new chat begins with it too.
    pub fn choose_model(self, chosen: String) {
        device::remember(LAST_MODEL, &chosen);
        self.model.set(chosen);
        self.note();
    }

    pub fn choose_persona(self, chosen: String) {
        self.persona.set(chosen);
        self.note();
    }

    pub fn choose_backend(self, chosen: String) {
        device::remember(LAST_BACKEND, &chosen);
        self.backend.set(chosen);
        self.note();
    }

    fn terms(self) -> Terms {
        Terms {
            model: self.model.get(),
            persona: self.persona.get(),
            backend: self.backend.get(),
            asks: self.asks.get(),
            carry: self.carry.get() && !self.has_worktree.get(),
        }
    }

    fn take(self, terms: Terms) {
        self.model.set(terms.model);
        self.persona.set(terms.persona);
        self.backend.set(terms.backend);
        self.asks.set(terms.asks);
        self.carry.set(terms.carry);
        self.note();
    }

    fn begin_as_last(self) {
        let Offered(models) = expect_context::<Offered>();
        let last = device::remembered(LAST_MODEL);
        if let Some(last) = last.filter(|last| models.with_untracked(|models| models.offers(last))) {
            self.model.set(last);
        }
        if let Some(last) = device::remembered(LAST_BACKEND) {
            self.backend.set(last);
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Terms {
    model: String,
    persona: String,
    backend: String,
    asks: bool,
    carry: bool,
}

impl Terms {
    /// Where nobody has asked anything yet.
    fn first() -> Self {
        let Offered(models) = expect_context::<Offered>();
        let model = models.with_untracked(|models| models.default.as_ref().map(ModelRef::to_string));
        Self::of(model.unwrap_or_default(), None, None)
    }

    /// Of the message that was written last, waiting ones included.
    fn last(chat: &Chat) -> Option<Self> {
        let mut last = match chat.queue.last().map(|queued| &queued.choice) {
            Some(choice) => {
                Self::of(choice.model.to_string(), choice.persona.as_ref(), choice.coder.as_ref())
            }
            None => {
                let Task { model, persona, coder, .. } = last_task(chat)?;
                Self::of(model.to_string(), persona.as_ref(), coder.as_ref())
            }
        };
        last.carry &= chat.worktree.is_none();
        Some(last)
    }

    fn of(model: String, persona: Option<&String>, coder: Option<&Coder>) -> Self {
        Self {
            model,
            persona: persona.cloned().unwrap_or_default(),
            backend: coder.map_or_else(|| NATIVE.to_owned(), |coder| coder.backend.to_string()),
            asks: coder.is_some_and(|coder| coder.asks),
            carry: coder.is_some_and(|coder| coder.carry),
        }
    }

    fn line(&self) -> String {
        let Self { model, persona, backend, asks, carry } = self;
        [model, persona, backend, &asks.to_string(), &carry.to_string()].map(String::as_str).join("\n")
    }

    fn from_line(line: &str) -> Option<Self> {
        let parts: Vec<_> = line.split('\n').collect();
        let [model, persona, backend, asks, carry] = parts[..] else { return None };
        Some(Self {
            model: model.to_owned(),
            persona: persona.to_owned(),
            backend: backend.to_owned(),
            asks: asks.parse().ok()?,
            carry: carry.parse().ok()?,
        })
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use domain::{
        backend::Backend,
        chat::{Choice, Input, Kind, NewTurn},
        id::{MessageId, SessionId, TaskId},
    };
    use uuid::Uuid;

    use super::*;

    #[test]
    fn what_is_remembered_is_read_again() {
        let coder = Coder { backend: Backend("qwen".into()), host: String::new(), carry: true, asks: true };
        let persona = "Debugger".to_owned();
        for terms in
            [Terms::of("desk/a b".into(), Some(&persona), Some(&coder)), Terms::of(String::new(), None, None)]
        {
            assert_eq!(Terms::from_line(&terms.line()), Some(terms));
        }
        for line in ["", "a\nb\nc\ntrue", "a\nb\nc\nyes\nno"] {
            assert_eq!(Terms::from_line(line), None, "{line:?}");
        }
    }

    #[test]
    fn a_chat_goes_on_as_its_last_message_a_waiting_one_too() {
        let id = Uuid::from_u128;
        let chat = Chat::new(ChatId(id(1)), SessionId(id(2)), "Task".into());
        let mut chat = Chat { kind: Kind::Coder, ..chat };
        assert_eq!(Terms::last(&chat), None);
        let mut ask = |n: u128, asks, carry| {
            let turn =
                NewTurn { message: MessageId(id(n)), reply: MessageId(id(n + 1)), task: TaskId(id(n + 2)) };
            let coder = Coder { backend: Backend("qwen".into()), host: "here".into(), carry, asks };
            let choice = Choice {
                model: "desk/small".parse().unwrap(),
                paid: false,
                persona: None,
                coder: Some(coder),
            };
            let text = "Do it".to_owned();
            let input = Input::Ask { turn, text, choice, enclosed: Default::default(), at_ms: 0 };
            chat.decide(input).unwrap().iter().for_each(|event| chat.apply(event));
            Terms::last(&chat).map(|last| (last.backend, last.asks, last.carry))
        };
        assert_eq!(ask(10, false, true), Some(("qwen".into(), false, true)));
        assert_eq!(ask(20, true, false), Some(("qwen".into(), true, false)));
    }
}
