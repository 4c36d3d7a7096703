//! An agent that a test plays, line by line.

use std::time::Duration;

use acp::{Agent, Block, Ended, Error, Limits, Mode, Turn, run};
use domain::output::Output;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::permits::Person;

/// Far more than any test takes, of a paused clock too; a test that hangs is to fail, not to wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// The agent's side of the talk.
pub struct Wire {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
    /// The mode that it was set to.
    pub mode: String,
}

pub const SESSION: &str = "s1";

impl Wire {
    /// `None` when the other side has hung up.
    pub async fn read(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// The next request, which has to be this one.
    pub async fn expect(&mut self, method: &str) -> Value {
        let message = self.read().await.unwrap_or_else(|| panic!("hung up instead of {method}"));
        assert_eq!(message["method"], method, "{message}");
        message
    }

    /// Waits until the other side has had enough.
    pub async fn until_hung_up(&mut self) {
        while self.read().await.is_some() {}
    }

    pub async fn raw(&mut self, line: &str) {
        // The other side may have hung up on purpose.
        let _ = self.out.write_all(line.as_bytes()).await;
        let _ = self.out.write_all(b"\n").await;
    }

    /// Part of a line.
    pub async fn piece(&mut self, piece: &str) {
        let _ = self.out.write_all(piece.as_bytes()).await;
    }

    pub async fn send(&mut self, message: Value) {
        self.raw(&message.to_string()).await;
    }

    pub async fn reply(&mut self, to: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": to["id"], "result": result})).await;
    }

    pub async fn refuse(&mut self, to: &Value, code: i32, message: &str, data: Value) {
        let error = json!({"code": code, "message": message, "data": data});
        self.send(json!({"jsonrpc": "2.0", "id": to["id"], "error": error})).await;
    }

    pub async fn update(&mut self, update: Value) {
        let params = json!({"sessionId": SESSION, "update": update});
        self.send(json!({"jsonrpc": "2.0", "method": "session/update", "params": params})).await;
    }

    pub async fn say(&mut self, text: &str) {
        let content = json!({"type": "text", "text": text});
        self.update(json!({"sessionUpdate": "agent_message_chunk", "content": content})).await;
    }

    pub async fn ask(&mut self, id: u32, kinds: &[&str]) -> Value {
        let option = |kind: &&str| json!({"optionId": format!("id-{kind}"), "name": "x", "kind": kind});
        let options: Vec<Value> = kinds.iter().map(option).collect();
        let call = json!({"toolCallId": format!("c{id}"), "title": "Run it", "kind": "execute",
                          "status": "pending", "rawInput": {"command": "make"}});
        let params = json!({"sessionId": SESSION, "toolCall": call, "options": options});
        self.send(
            json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params}),
        )
        .await;
        params
    }

    /// Everything up to the question, whose request it returns.
    pub async fn open(&mut self) -> Value {
        let start = self.expect("initialize").await;
        self.reply(&start, json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}})).await;
        let new = self.expect("session/new").await;
        self.reply(&new, json!({"sessionId": SESSION})).await;
        self.set_mode().await
    }

    pub async fn set_mode(&mut self) -> Value {
        let set = self.expect("session/set_mode").await;
        self.mode = set["params"]["modeId"].as_str().unwrap().to_owned();
        self.reply(&set, json!({})).await;
        self.expect("session/prompt").await
    }

    pub async fn end(&mut self, prompt: &Value) {
        self.reply(prompt, json!({"stopReason": "end_turn", "usage": USAGE.clone()})).await;
    }
}

pub static USAGE: std::sync::LazyLock<Value> =
    std::sync::LazyLock::new(|| json!({"totalTokens": 12, "inputTokens": 10, "outputTokens": 2}));

pub fn turn(mode: Mode) -> Turn {
    let prompt = vec![Block::Text("Go".into())];
    Turn { folder: "/tmp".into(), prompt, resume: None, before: None, mode, limits: Limits::default() }
}

/// Who else takes part in a turn.
pub struct Play<'a> {
    pub outputs: &'a mpsc::Sender<Output>,
    pub person: &'a Person,
    pub cancel: &'a CancellationToken,
}

impl Play<'_> {
    pub async fn turn(
        &self,
        agent: &'static Agent,
        turn: Turn,
        script: impl AsyncFnOnce(&mut Wire),
    ) -> Result<Ended, Error> {
        let (ours, theirs) = duplex(64 * 1024);
        let (stdout, stdin) = split(ours);
        let (lines, out) = split(theirs);
        let mut wire = Wire { lines: BufReader::new(lines).lines(), out, mode: String::new() };
        let turn = run(agent, stdin, stdout, turn, self.outputs, self.person, self.cancel);
        let agent = async {
            script(&mut wire).await;
            // Hangs up as a process does that ends.
            drop(wire);
        };
        let together = async { tokio::join!(turn, agent) };
        tokio::time::timeout(PATIENCE, together).await.expect("the turn hangs").0
    }
}

/// Plays a turn to its end, with what was told.
pub async fn play(
    agent: &'static Agent,
    turn: Turn,
    person: &Person,
    cancel: &CancellationToken,
    script: impl AsyncFnOnce(&mut Wire),
) -> (Result<Ended, Error>, Vec<Output>) {
    let (outputs, mut told) = mpsc::channel(8);
    let ended = async {
        let ended = Play { outputs: &outputs, person, cancel }.turn(agent, turn, script).await;
        drop(outputs);
        ended
    };
    let listener = async {
        let mut all = Vec::new();
        while let Some(output) = told.recv().await {
            all.push(output);
        }
        all
    };
    tokio::join!(ended, listener)
}

/// The same with nobody to ask and nobody who stops it.
pub async fn simply(
    agent: &'static Agent,
    mode: Mode,
    script: impl AsyncFnOnce(&mut Wire),
) -> (Result<Ended, Error>, Vec<Output>) {
    let person = Person::who_says(domain::tool::Permit::Reject);
    play(agent, turn(mode), &person, &CancellationToken::new(), script).await
}
