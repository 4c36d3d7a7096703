//! The names that are known without looking at the roster, and the words that are names of some models and yet none.

/// What agents, models and those who make them call themselves, whoever takes part.
const KNOWN: &str = "boocode, claude code, claude, anthropic, sonnet, opus, haiku, opencode, codex, openai, chatgpt, gpt, \
    copilot, microsoft, phi, gemini cli, gemini, gemma, google, qwen code, qwen, qwq, alibaba, goose, llama, mistral, \
    ministral, mixtral, magistral, codestral, devstral, pixtral, deepseek, smollm, smolvlm, huggingface, hugging face, \
    grok, xai, kimi, moonshot, minimax, glm, chatglm, zhipu, zephyr, hermes, nvidia, nemotron, starcoder, hunyuan, \
    tencent, internlm, granite, ibm, falcon, olmo, cohere, nova, exaone, ernie, baidu, jamba";

/// Families of models that are called by a word which anybody may write without meaning them, such as `command` of
/// `command-r`: a judge that reads patches with holes in them judges something else.
const EVERYDAY: &str = "agent assistant base beta big chat code coder command compound default dev fast flash free \
    instruct large lite local main max medium mini model nano new pro reasoning router seed server small smart solar \
    step test text think thinking tiny tool turbo vision writer";

/// These live for ever, but as names of a battle they go with it.
pub(super) fn known<'a>() -> impl Iterator<Item = &'a str> {
    KNOWN.split(", ")
}

pub(super) fn is_everyday(family: &str) -> bool {
    EVERYDAY.split(' ').any(|word| family.eq_ignore_ascii_case(word))
}
