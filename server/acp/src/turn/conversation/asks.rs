//! What the agent asks meanwhile.

use agent_client_protocol as protocol;
use agent_client_protocol::UntypedMessage;
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{PermissionOption, PermissionOptionKind, RequestPermissionRequest};
use domain::tool::{Ask, Kind, Permit, shortened};
use serde_json::Value;

use super::Conversation;
use crate::agent::Mode;
use crate::permission::{choices, response};
use crate::told::{input, kind_of};

/// More open questions than this are no longer asked, they are refused.
const ASKS_OPEN_MAX: usize = 32;

/// A question that nobody has answered yet.
pub struct OpenAsk {
    number: u32,
    call: String,
    options: Vec<PermissionOption>,
    responder: Responder<Value>,
}

/// The only thing that an agent can ask of us.
pub fn permission(message: UntypedMessage) -> Result<RequestPermissionRequest, protocol::Error> {
    if message.method != "session/request_permission" {
        return Err(protocol::Error::method_not_found());
    }
    serde_json::from_value(message.params).map_err(|_| protocol::Error::invalid_params())
}

impl Conversation<'_> {
    pub async fn ask(&mut self, mut request: RequestPermissionRequest, responder: Responder<Value>) {
        if self.agent.notes_permits {
            request.options.retain(|option| option.kind != PermissionOptionKind::AllowAlways);
        }
        let fields = &request.tool_call.fields;
        let call = request.tool_call.tool_call_id.to_string();
        self.asks_made += 1;
        let mut ask = Ask {
            number: self.asks_made,
            title: shortened(fields.title.as_deref().unwrap_or(&call)),
            kind: fields.kind.as_ref().map_or(Kind::Other, kind_of),
            detail: input(fields).unwrap_or_default(),
            options: choices(&request.options),
        };
        let ours = request.session_id.to_string() == self.session;
        if ours {
            let output = self.told.call(request.tool_call);
            // What was told of the call before may say more than the question does.
            ask.kind = self.told.kind(&call).unwrap_or(ask.kind);
            self.tell(output).await;
        }
        let open = OpenAsk { number: ask.number, call, options: request.options, responder };
        if self.caller.cancel.is_cancelled() {
            return self.answer(open, None).await;
        }
        let may_ask = self.asked && ours && self.caller.turn.mode != Mode::ReadOnly;
        if !may_ask || self.open.len() >= ASKS_OPEN_MAX {
            return self.answer(open, Some(Permit::Reject)).await;
        }
        let (number, answer) = (ask.number, self.caller.permits.ask(ask));
        self.open.push(open);
        self.answers.push(Box::pin(async move { (number, answer.await) }));
    }

    pub async fn answered(&mut self, number: u32, permit: Option<Permit>) {
        let at = self.open.iter().position(|open| open.number == number);
        if let Some(at) = at {
            let open = self.open.swap_remove(at);
            self.answer(open, permit).await;
        }
    }

    async fn answer(&mut self, open: OpenAsk, permit: Option<Permit>) {
        // If it is gone, that shows at once.
        let _ = match serde_json::to_value(response(&open.options, permit)) {
            Ok(answer) => open.responder.respond(answer),
            Err(_) => open.responder.respond_with_error(protocol::Error::internal_error()),
        };
        if !matches!(permit, Some(Permit::Once | Permit::Always)) {
            self.was_refused = true;
            let output = self.told.refused(open.call);
            self.tell(output).await;
        }
    }

    /// A turn that is stopped leaves no question open.
    pub async fn stop_asking(&mut self) {
        self.answers.clear();
        for open in std::mem::take(&mut self.open) {
            self.answer(open, None).await;
        }
    }
}
