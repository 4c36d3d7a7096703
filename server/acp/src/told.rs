//! What an agent tells in a turn, as output: each thing once, nothing longer than it is shown.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use agent_client_protocol::v1::schema::{
    self as acp, ContentBlock, ContentChunk, PlanEntryStatus, SessionUpdate, ToolCallContent, ToolCallStatus,
    ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use domain::output::{Output, Usage};
use domain::tool::{Item, ItemStatus, Kind, Plan, Status, Update, shortened};
use serde_json::Value;

use crate::agent::{self, Agent, Tokens};
use crate::error;

/// Of so many calls it is known what was told already; older ones may be told twice.
const CALLS_KEPT_MAX: usize = 1_000;
const PLAN_ITEMS_MAX: usize = 200;
/// More of an output that comes in pieces is not kept: it would not be shown.
const PIECES_BYTES_MAX: usize = 64 * 1024;

pub struct Told {
    agent: &'static Agent,
    calls: HashMap<String, Seen>,
    /// Added up from the calls of the model that told theirs.
    pub usage: Option<Usage>,
    /// Whether there was anything at all.
    pub anything: bool,
    /// The beginning of the message that came last, and which it is.
    last_message: String,
    last_message_id: Option<String>,
    in_message: bool,
    /// Whether the agent marked the turn as failed.
    is_marked: bool,
}

/// What is known of a call, by its hashes.
#[derive(Default)]
struct Seen {
    title: u64,
    input: u64,
    output: u64,
    kind: Option<Kind>,
    status: Option<Status>,
    /// Output that came in pieces, until the call is over.
    pieces: String,
}

impl Told {
    pub fn new(agent: &'static Agent) -> Self {
        Self {
            agent,
            calls: HashMap::new(),
            usage: None,
            anything: false,
            last_message: String::new(),
            last_message_id: None,
            in_message: false,
            is_marked: false,
        }
    }

    /// Looks at an update as it came for the agent's mark of a failure.
    pub fn look_for_mark(&mut self, update: &Value) {
        if let Some((place, word)) = self.agent.error_mark {
            self.is_marked |= update.pointer(place).and_then(Value::as_str) == Some(word);
        }
    }

    pub fn update(&mut self, update: SessionUpdate) -> Option<Output> {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.text(chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => {
                self.in_message = false;
                text_of(&chunk.content).map(Output::Reasoning)
            }
            SessionUpdate::ToolCall(call) => {
                let fields = ToolCallUpdateFields::new()
                    .title(call.title)
                    .kind(call.kind)
                    .status(call.status)
                    .content(call.content)
                    .locations(call.locations)
                    .raw_input(call.raw_input)
                    .raw_output(call.raw_output);
                self.call(ToolCallUpdate::new(call.tool_call_id, fields).meta(call.meta))
            }
            SessionUpdate::ToolCallUpdate(update) => self.call(update),
            SessionUpdate::Plan(plan) => Some(Output::Plan(self::plan(plan))),
            _ => None,
        }
    }

    /// Something about a call, of which only what is new is told.
    pub fn call(&mut self, update: ToolCallUpdate) -> Option<Output> {
        self.in_message = false;
        self.anything = true;
        let id = update.tool_call_id.to_string();
        let kind = self.agent.kind_of(update.meta.as_ref());
        let piece =
            self.agent.output_pieces.and_then(|place| agent::at(update.meta.as_ref()?, place)?.as_str());
        let whole = piece.map(|piece| self.joined(&id, piece));
        let fields = update.fields;
        let kind = kind.or_else(|| fields.kind.as_ref().map(kind_of)).filter(|kind| *kind != Kind::Other);
        let said = Update {
            title: fields.title.clone().map(|title| shortened(&title)),
            kind,
            status: fields.status.as_ref().map(status_of),
            input: input(&fields),
            output: whole.or_else(|| output(&fields)),
            id,
        };
        self.only_new(said).map(Output::Tool)
    }

    /// An agent does not always say that a call which was refused is over.
    pub fn refused(&mut self, id: String) -> Option<Output> {
        self.only_new(Update { id, status: Some(Status::Failed), ..Update::default() }).map(Output::Tool)
    }

    /// What a call does, as far as it is known.
    pub fn kind(&self, id: &str) -> Option<Kind> {
        self.calls.get(id)?.kind
    }

    /// The agent's own words about an error, where it says them as if the model had.
    pub fn error(&self) -> Option<String> {
        let is_error = self.is_marked || begins(&self.last_message, self.agent.error_beginnings);
        is_error.then(|| self.last_message())
    }

    pub fn last_message(&self) -> String {
        error::shortened(&self.last_message)
    }

    fn text(&mut self, chunk: ContentChunk) -> Option<Output> {
        if self.agent.tokens == Tokens::PerCall
            && let Some(usage) = chunk.meta.as_ref().and_then(|meta| meta.get("usage"))
        {
            self.count(usage);
        }
        let text = text_of(&chunk.content)?;
        if begins(&text, self.agent.remark_beginnings) {
            return None;
        }
        let id = chunk.message_id.map(|id| id.to_string());
        let another = id.is_some() && self.last_message_id.is_some() && id != self.last_message_id;
        let apart = another && self.in_message;
        if another || !self.in_message {
            self.last_message.clear();
        }
        if self.last_message.len() < error::WORDS_BYTES_MAX {
            self.last_message.push_str(&text);
        }
        self.last_message_id = id;
        self.in_message = true;
        self.anything = true;
        Some(Output::Text(if apart { format!("\n\n{text}") } else { text }))
    }

    fn count(&mut self, usage: &Value) {
        let number = |name: &str| usage.get(name).and_then(Value::as_u64);
        let total = self.usage.get_or_insert_default();
        for (sum, more) in [
            (&mut total.prompt_tokens, number("inputTokens")),
            (&mut total.completion_tokens, number("outputTokens")),
        ] {
            *sum = more.map(|more| sum.unwrap_or(0).saturating_add(more)).or(*sum);
        }
    }

    /// The output of a call with its next piece.
    fn joined(&mut self, id: &str, piece: &str) -> String {
        let pieces = &mut self.seen(id).pieces;
        if pieces.len() < PIECES_BYTES_MAX {
            pieces.push_str(piece);
        }
        shortened(pieces)
    }

    fn seen(&mut self, id: &str) -> &mut Seen {
        if self.calls.len() >= CALLS_KEPT_MAX && !self.calls.contains_key(id) {
            self.calls.clear();
        }
        self.calls.entry(id.to_owned()).or_default()
    }

    fn only_new(&mut self, said: Update) -> Option<Update> {
        let seen = self.seen(&said.id);
        if matches!(said.status, Some(Status::Done | Status::Failed)) {
            seen.pieces = String::new();
        }
        let told = Update {
            title: new_text(&mut seen.title, said.title),
            kind: new_value(&mut seen.kind, said.kind),
            status: new_value(&mut seen.status, said.status),
            input: new_text(&mut seen.input, said.input),
            output: new_text(&mut seen.output, said.output),
            id: said.id,
        };
        let nothing = Update { id: told.id.clone(), ..Update::default() };
        (told != nothing).then_some(told)
    }
}

fn begins(text: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| text.starts_with(beginning))
}

fn new_text(seen: &mut u64, text: Option<String>) -> Option<String> {
    let text = text.filter(|text| !text.is_empty())?;
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let hash = hasher.finish();
    (std::mem::replace(seen, hash) != hash).then_some(text)
}

fn new_value<T: Copy + PartialEq>(seen: &mut Option<T>, value: Option<T>) -> Option<T> {
    let value = value?;
    (seen.replace(value) != Some(value)).then_some(value)
}

/// What the call was given: as it was, or where it reaches.
pub fn input(fields: &ToolCallUpdateFields) -> Option<String> {
    let given = match fields.raw_input.as_ref() {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Object(all)) if all.is_empty() => None,
        Some(Value::Object(all)) => match all.get("command") {
            // A command is read better than its wrapping.
            Some(Value::String(command)) => Some(command.clone()),
            _ => serde_json::to_string_pretty(all).ok(),
        },
        Some(other) => Some(other.to_string()),
    };
    let diffs = || {
        let contents = fields.content.iter().flatten();
        let diff = |content: &ToolCallContent| match content {
            ToolCallContent::Diff(diff) => Some(format!("{}\n{}", diff.path.display(), diff.new_text)),
            _ => None,
        };
        joined(contents.filter_map(diff))
    };
    let places = || {
        let place = |at: &acp::ToolCallLocation| match at.line {
            Some(line) => format!("{}:{line}", at.path.display()),
            None => at.path.display().to_string(),
        };
        joined(fields.locations.iter().flatten().map(place))
    };
    // Places come with results too; a call whose input is known keeps it.
    let places = || if fields.status.as_ref().is_some_and(over) { None } else { places() };
    given.or_else(diffs).or_else(places).map(|text| shortened(&text))
}

fn output(fields: &ToolCallUpdateFields) -> Option<String> {
    let text = |content: &ToolCallContent| match content {
        ToolCallContent::Content(content) => text_of(&content.content),
        // Before the call is over, a diff is what it means to do.
        ToolCallContent::Diff(diff) if fields.status.as_ref().is_some_and(over) => {
            Some(format!("Changed {}", diff.path.display()))
        }
        _ => None,
    };
    let raw = || fields.raw_output.as_ref()?.as_str().map(str::to_owned);
    joined(fields.content.iter().flatten().filter_map(text)).or_else(raw).map(|text| shortened(&text))
}

fn over(status: &ToolCallStatus) -> bool {
    matches!(status, ToolCallStatus::Completed | ToolCallStatus::Failed)
}

fn joined(texts: impl Iterator<Item = String>) -> Option<String> {
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn text_of(content: &ContentBlock) -> Option<String> {
    let text = match content {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(_) => "[a picture]".to_owned(),
        ContentBlock::Audio(_) => "[a sound]".to_owned(),
        ContentBlock::ResourceLink(link) => link.uri.clone(),
        ContentBlock::Resource(resource) => match &resource.resource {
            acp::EmbeddedResourceResource::TextResourceContents(contents) => contents.text.clone(),
            _ => "[a file]".to_owned(),
        },
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn plan(plan: acp::Plan) -> Plan {
    let item = |entry: acp::PlanEntry| Item {
        text: shortened(&entry.content),
        status: match entry.status {
            PlanEntryStatus::InProgress => ItemStatus::Running,
            PlanEntryStatus::Completed => ItemStatus::Done,
            _ => ItemStatus::Pending,
        },
    };
    Plan(plan.entries.into_iter().take(PLAN_ITEMS_MAX).map(item).collect())
}

pub fn kind_of(kind: &ToolKind) -> Kind {
    match kind {
        ToolKind::Read => Kind::Read,
        ToolKind::Edit => Kind::Edit,
        ToolKind::Delete => Kind::Delete,
        ToolKind::Move => Kind::Move,
        ToolKind::Search => Kind::Search,
        ToolKind::Execute => Kind::Execute,
        ToolKind::Think => Kind::Think,
        ToolKind::Fetch => Kind::Fetch,
        _ => Kind::Other,
    }
}

fn status_of(status: &ToolCallStatus) -> Status {
    match status {
        ToolCallStatus::InProgress => Status::Running,
        ToolCallStatus::Completed => Status::Done,
        ToolCallStatus::Failed => Status::Failed,
        _ => Status::Pending,
    }
}
