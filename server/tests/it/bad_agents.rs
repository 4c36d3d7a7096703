//! Agents that do what no agent should, put where a real one is installed.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use domain::{output::Outcome, task::Status};
use serde_json::json;

use crate::{
    coder::{changes, coder, marked, paths, task, work_of},
    harness::{Server, Watcher, World, eventually},
};

/// Speaks as much of the protocol as it takes, then does what the file beside it says.
const PROGRAM: &str = r#"#!/usr/bin/env node
const { readFileSync } = require('node:fs');
const { spawn } = require('node:child_process');
const how = readFileSync(`${__dirname}/how`, 'utf8');
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
const say = (text) => {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
  send({ method: 'session/update', params: { sessionId: 's1', update } });
};
if (how === 'exits') {
  console.error('a library is missing');
  process.exit(3);
}
if (how === 'hangs') {
  process.on('SIGTERM', () => {});
  spawn('setsid', ['sh', '-c', "trap '' TERM; sleep 300 & wait"], { stdio: 'ignore', detached: true });
  setInterval(() => {}, 1000);
} else {
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    const agentCapabilities = { loadSession: how === 'forgets' };
    if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities } });
    else if (method === 'session/new') send({ id, result: { sessionId: 's1' } });
    else if (method === 'session/load') send({ id, error: { code: -32602, message: 'no such session' } });
    else if (method !== 'session/prompt') send({ id, result: {} });
    else if (how === 'forgets' || how === 'cannot resume') {
      say(`heard: ${JSON.stringify(JSON.parse(line).params.prompt)}`);
      send({ id, result: { stopReason: 'end_turn' } });
    }
    else if (how === 'floods') process.stdout.write('x'.repeat(64 << 20));
    else {
      say('half of it');
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 200);
    }
  });
}
"#;

struct Bad {
    world: World,
    server: Server,
    page: Watcher,
    how: PathBuf,
}

impl Bad {
    /// A Coder in which something was done already, and an agent that will not behave.
    async fn agent(how: &str) -> Self {
        let world = World::new().await;
        let tools = world.folder.path().join("tools");
        let qwen = crate::agents::known("qwen");
        let package = qwen.package.as_ref().unwrap();
        let installed = acp::install::folder(&tools.join("agents"), qwen);
        let program = installed.join(qwen.program);
        let manifest = installed.join("node_modules").join(package.name).join("package.json");
        for file in [&program, &manifest] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
        }
        fs::write(&manifest, json!({ "version": package.version }).to_string()).unwrap();
        fs::write(&program, PROGRAM).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let file = program.with_file_name("how");
        fs::write(&file, how).unwrap();
        let server = world.server_with_tools("one", &tools).await;
        let (_, chat) = coder(&world, &server).await;
        let mut page = server.watch(chat).await;
        let ask = r#"[[tool write {"path":"kept.txt","content":"kept"}]][[say done]]"#;
        work_of(&server, &mut page, ask, "native").await;
        Self { world, server, page, how: file }
    }

    fn outcome(&self) -> &Outcome {
        match self.page.last_status() {
            Status::Settled { outcome, .. } => outcome,
            other => panic!("{other:?}"),
        }
    }

    /// The turn's end was told in these words; nothing runs any more, nothing is lost, and others can go on.
    async fn check(mut self, words: &[&str]) {
        let Outcome::Failed { reason } = self.outcome() else { panic!("{:?}", self.outcome()) };
        words.iter().for_each(|part| assert!(reason.contains(part), "{part:?} is not in {reason}"));
        self.nothing_is_left().await;
        work_of(&self.server, &mut self.page, "[[say next]]", "native").await;
        assert_eq!(self.page.answer().trim(), "next");
        assert_eq!(paths(&changes(&self.server, self.page.chat).await), ["A kept.txt"]);
    }

    async fn nothing_is_left(&self) {
        let marker = self.page.last_task().id.to_string();
        eventually("nothing is left", || async { marked(&marker).is_empty().then_some(()) }).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_exits_at_once_is_quoted() {
    let mut bad = Bad::agent("exits").await;
    work_of(&bad.server, &mut bad.page, "Go", "qwen").await;
    bad.check(&["Qwen Code ended while it was to start", "a library is missing"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_crashes_leaves_what_it_said() {
    let mut bad = Bad::agent("crashes").await;
    work_of(&bad.server, &mut bad.page, "Go", "qwen").await;
    assert_eq!(bad.page.answer().trim(), "half of it");
    bad.check(&["Qwen Code ended"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_floods_is_stopped() {
    let mut bad = Bad::agent("floods").await;
    work_of(&bad.server, &mut bad.page, "Go", "qwen").await;
    bad.check(&["more than 8192 KB in one message, and was stopped"]).await;
}

/// It also ignores that it is asked to end, and has a child that left its group.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_hangs_is_ended_when_a_person_says_so() {
    let mut bad = Bad::agent("hangs").await;
    let before = bad.page.chat().messages.len();
    bad.server.call("ask", &task(bad.page.chat, "Go", "qwen")).await;
    bad.page.until(&bad.server, "the next turn", |page| page.chat().messages.len() > before).await;
    let marker = bad.page.last_task().id.to_string();
    let is_asleep = |process: &PathBuf| {
        fs::read(process.join("cmdline")).is_ok_and(|line| String::from_utf8_lossy(&line).contains("sleep"))
    };
    let sleeps = || async { marked(&marker).iter().any(is_asleep).then_some(()) };
    eventually("the control: its child runs", sleeps).await;
    bad.server.call("stop", &[("chat", bad.page.chat.to_string())]).await;
    bad.page.until_settled(&bad.server).await;
    assert_eq!(*bad.outcome(), Outcome::Cancelled);
    bad.nothing_is_left().await;
    assert_eq!(paths(&changes(&bad.server, bad.page.chat).await), ["A kept.txt"]);
}

/// One that can go on from its session does, as real ones show; one that cannot says so, and is told what was said.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_does_not_remember_says_so() {
    for (how, words) in [
        ("cannot resume", "Qwen Code cannot go on from an earlier session. It began anew"),
        ("forgets", "Qwen Code could not go on from its earlier session. It began anew"),
    ] {
        let mut bad = Bad::agent(how).await;
        for turn in ["first of all", "and then"] {
            let fields = task(bad.page.chat, turn, "qwen").to_vec();
            let persona = ("persona", "Debugger".to_owned());
            let before = bad.page.chat().messages.len();
            bad.server.call("ask", &[fields, vec![persona]].concat()).await;
            bad.page
                .until(&bad.server, "the turn's end", |page| {
                    page.chat().messages.len() > before
                        && matches!(page.last_status(), Status::Settled { .. })
                })
                .await;
            assert!(matches!(bad.outcome(), Outcome::Done { .. }), "{:?}", bad.outcome());
            let answer = bad.page.answer();
            assert_eq!(answer.contains(words), turn == "and then", "{how}: {answer}");
        }
        let answer = bad.page.answer();
        // It is told as whom it works, too.
        assert!(answer.contains("and then") && answer.contains("You find the cause"), "{answer}");
        assert!(answer.contains("first of all"), "{how}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_missing_is_said_before_anything_is_asked() {
    let bad = Bad::agent("exits").await;
    fs::remove_dir_all(bad.world.folder.path().join("tools/agents/qwen")).unwrap();
    assert!(!bad.how.exists());
    let refused = bad.server.refusal("ask", &task(bad.page.chat, "Go", "qwen")).await;
    assert!(refused.contains("Qwen Code cannot work now") && refused.contains("not installed"), "{refused}");
    let unknown = bad.server.refusal("ask", &task(bad.page.chat, "Go", "nobody")).await;
    assert!(unknown.contains("no agent called nobody"), "{unknown}");
}
