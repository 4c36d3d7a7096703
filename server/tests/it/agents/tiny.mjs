#!/usr/bin/env node
// An agent of a few lines: asks the model once, writes what it says into answer.txt, and says it.
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { line } from "../lib/line.mjs";

const settings = JSON.parse(readFileSync(`${process.env.HOME}/.tiny/settings.json`, "utf8"));
const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const waiting = new Map();
let [mode, folder] = ["careful", "."];

const ask = (method, params) =>
  new Promise((resolve) => {
    waiting.set("p1", resolve);
    send({ id: "p1", method, params });
  });

const handlers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
  "session/new": ({ cwd }) => {
    folder = cwd;
    const modes = ["careful", "free", "look"].map((id) => ({ id, name: id }));
    return { sessionId: "s1", modes: { currentModeId: mode, availableModes: modes } };
  },
  "session/set_mode": ({ modeId }) => ((mode = modeId), {}),
  "session/prompt": async ({ prompt }) => {
    const update = (update) => send({ method: "session/update", params: { sessionId: "s1", update } });
    const answer = await fetch(`${process.env.TINY_URL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${process.env.TINY_KEY}` },
      body: JSON.stringify({
        model: settings.model,
        messages: [{ role: "user", content: prompt.map((part) => part.text).join("\n") }],
      }),
    });
    const body = await answer.text();
    const { choices, usage } = answer.ok ? JSON.parse(body) : {};
    const text = choices ? choices[0].message.content : `Tiny error: ${body}`;
    const toolCall = { toolCallId: "c1", title: "Write answer.txt", kind: "edit", status: "pending" };
    if (choices && mode === "careful") {
      const options = ["allow_once", "reject_once"].map((kind) => ({ optionId: kind, name: kind, kind }));
      const { outcome } = await ask("session/request_permission", { sessionId: "s1", toolCall, options });
      if (outcome.optionId !== "allow_once") return { stopReason: "end_turn", usage: counted(usage) };
    }
    if (choices) {
      let status = "completed";
      try {
        writeFileSync(`${folder}/answer.txt`, line(process.argv[2], text));
      } catch {
        status = "failed";
      }
      update({ sessionUpdate: "tool_call", ...toolCall, title: `Write answer.txt (${mode})`, status });
    }
    update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    return { stopReason: "end_turn", usage: counted(usage) };
  },
};

const counted = (usage) =>
  usage && {
    totalTokens: usage.total_tokens,
    inputTokens: usage.prompt_tokens,
    outputTokens: usage.completion_tokens,
  };

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (!method) return waiting.get(id)?.(result);
  const handler = handlers[method];
  if (id !== undefined && handler) send({ id, result: await handler(params) });
});
