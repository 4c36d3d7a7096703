//! What a model is asked, for each kind of work.

use acp::Block;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    attachment::{self, ImageType, LeftOut, Media},
    catalogue::Flavour,
    chat::title,
    persona::Persona,
    task::Work,
};
use store::{Conversation, Said, SentFile};

use crate::{
    backend::{self, Content, ImageUrl, LimitName, Limits, Message, Part, Request, Role},
    models::Endpoint,
};

const TITLE_TOKENS_MAX: u32 = 32;
/// The small model often does not find an end, and what it says after a page is worth nobody's waiting.
const SMALL_MODEL_TOKENS_MAX: u32 = 512;

/// In place of an answer that never came.
const UNANSWERED: &str = "[I was stopped before I answered.]";

/// `persona` is told before the conversation.
pub(crate) fn request(
    conversation: Conversation,
    endpoint: Endpoint,
    persona: Option<Persona>,
) -> Result<Request, String> {
    let base_url = endpoint
        .api_url
        .parse()
        .map_err(|error| format!("the address {} of the model server is wrong: {error}", endpoint.api_url))?;
    let Conversation { work, model, said, after: _ } = conversation;
    let (messages, max_tokens) = match work {
        Work::ChatTurn => (chat(persona.as_ref().map(|persona| persona.prompt.as_str()), said), None),
        Work::CoderTurn => (chat(Some(&coder(persona.as_ref())), said), None),
        Work::Title => (name_chat(said), Some(TITLE_TOKENS_MAX)),
        // What is told of a battle stands in the question itself.
        _ => (chat(None, said), None),
    };
    let small = endpoint.flavour == Flavour::Small;
    Ok(Request {
        base_url,
        api_key: endpoint.api_key,
        model: model.model,
        messages,
        max_tokens: max_tokens.or(small.then_some(SMALL_MODEL_TOKENS_MAX)),
        limit_name: LimitName::default(),
        tools: Vec::new(),
        schema: None,
        sampling: persona.map(|persona| persona.sampling).unwrap_or_default(),
        flavour: match endpoint.flavour {
            Flavour::LlamaSwap => backend::Flavour::LlamaSwap,
            _ => backend::Flavour::Plain,
        },
        limits: Limits::default(),
    })
}

/// What our own agent is told: as whom it works, and where.
fn coder(persona: Option<&Persona>) -> String {
    let who = persona.map_or("You are a coding agent. You change code as you are asked to.", |it| &it.prompt);
    format!(
        "{who}\n\nYou work in a git worktree of the project, which is yours alone; the person reviews your changes \
         and applies them. Use the tools to look before you change, change as little as serves the purpose, and \
         check what you did. Paths are relative to the project's folder. You need not commit. When you are done, \
         say briefly what you did and what you could not check."
    )
}

fn chat(told: Option<&str>, said: Vec<Said>) -> Vec<Message> {
    let message = |said| match said {
        Said::Question { text, files, left_out } => {
            Message::with(Role::User, question(text, files, &left_out))
        }
        Said::Answer(text) => Message::new(Role::Assistant, text),
        // Some models refuse to be told two things in a row.
        Said::Unanswered => Message::new(Role::Assistant, UNANSWERED),
    };
    let told = told.map(|words| Message::new(Role::System, words));
    told.into_iter().chain(said.into_iter().map(message)).collect()
}

/// Texts stand in the question itself, each in its fence; images go beside it. What is not there is said, so
/// that the model does not guess at it.
fn question(text: String, files: Vec<SentFile>, left_out: &[LeftOut]) -> Content {
    let (mut blocks, mut images) = (vec![text], Vec::new());
    for SentFile { file, body } in files {
        match (file.media, body) {
            (Media::Text, Some(body)) => {
                blocks.push(attachment::fenced(&file.name, &String::from_utf8_lossy(&body)));
            }
            (Media::Image { mime }, Some(body)) => images.push((file.name, mime, body)),
            (_, None) => {
                blocks.push(format!("[The file {} is no longer shown: it is too long ago.]", file.name))
            }
        }
    }
    for LeftOut { name, reason } in left_out {
        blocks.push(format!("[The file {name} is not shown. {reason}]"));
    }
    blocks.extend(images.iter().map(|(name, _, _)| format!("[Image: {name}]")));
    blocks.retain(|block| !block.trim().is_empty());
    let text = blocks.join("\n\n");
    if images.is_empty() {
        return Content::Text(text);
    }
    let image = |(_, mime, body): (String, ImageType, Vec<u8>)| {
        let url = format!("data:{};base64,{}", mime.mime(), STANDARD.encode(body));
        Part::ImageUrl { image_url: ImageUrl { url } }
    };
    Content::Parts([Part::Text { text }].into_iter().chain(images.into_iter().map(image)).collect())
}

/// An agent's program has words of its own before a conversation, so a persona's come with the question.
pub(crate) fn as_persona(mut conversation: Conversation, persona: Option<&Persona>) -> Conversation {
    if let (Some(persona), Some(Said::Question { text, .. })) = (persona, conversation.said.last_mut()) {
        *text = format!("{}\n\n{text}", persona.prompt);
    }
    conversation
}

/// For an agent's program: what was said before, as one text, and the question itself in parts.
pub(crate) fn blocks(mut said: Vec<Said>) -> (Option<String>, Vec<Block>) {
    let question = match said.pop() {
        Some(Said::Question { text, files, left_out }) => asked(text, files, &left_out),
        Some(Said::Answer(text)) => vec![Block::Text(text)],
        Some(Said::Unanswered) | None => Vec::new(),
    };
    let line = |said: Said| match said {
        Said::Question { text, .. } => format!("The person:\n{text}"),
        Said::Answer(text) => format!("You:\n{text}"),
        Said::Unanswered => format!("You:\n{UNANSWERED}"),
    };
    let before: Vec<_> = said.into_iter().map(line).collect();
    let before = (!before.is_empty())
        .then(|| format!("What was said so far in this task:\n\n{}\n\nNow:", before.join("\n\n")));
    (before, question)
}

fn asked(text: String, files: Vec<SentFile>, left_out: &[LeftOut]) -> Vec<Block> {
    match question(text, files, left_out) {
        Content::Text(text) => vec![Block::Text(text)],
        Content::Parts(parts) => parts.into_iter().map(block).collect(),
    }
}

fn block(part: Part) -> Block {
    match part {
        Part::Text { text } => Block::Text(text),
        Part::ImageUrl { image_url } => {
            let (kind, base64) = image_url.url.split_once(";base64,").unwrap_or_default();
            let media_type = kind.trim_start_matches("data:").to_owned();
            Block::Image { media_type, base64: base64.to_owned() }
        }
    }
}

fn name_chat(said: Vec<Said>) -> Vec<Message> {
    let mut said = said.into_iter();
    let question = said.find_map(|said| match said {
        // A file that came alone has a name at least.
        Said::Question { text, files, .. } if text.trim().is_empty() => {
            Some(files.into_iter().map(|sent| sent.file.name).collect::<Vec<_>>().join(", "))
        }
        Said::Question { text, .. } => Some(text),
        Said::Answer(_) | Said::Unanswered => None,
    });
    let answer = said.find_map(|said| match said {
        Said::Answer(text) => Some(text),
        Said::Question { .. } | Said::Unanswered => None,
    });
    let prompt = title::prompt(&question.unwrap_or_default(), &answer.unwrap_or_default());
    vec![
        Message::new(Role::System, "You write short titles for conversations."),
        Message::new(Role::User, prompt),
    ]
}

#[cfg(test)]
mod tests {
    use domain::{attachment::Attachment, id::AttachmentId};

    use super::*;

    fn sent(name: &str, media: Media, body: Option<&[u8]>) -> SentFile {
        let (id, bytes) = (AttachmentId(uuid::Uuid::nil()), body.map_or(9, <[u8]>::len) as u64);
        let file = Attachment { id, name: name.into(), media, bytes, is_mention: false };
        SentFile { file, body: body.map(<[u8]>::to_vec) }
    }

    fn asked(text: &str, files: Vec<SentFile>) -> serde_json::Value {
        let left_out = vec![LeftOut { name: "c.bin".into(), reason: "It is not a text.".into() }];
        serde_json::to_value(chat(None, vec![Said::Question { text: text.into(), files, left_out }])).unwrap()
    }

    #[test]
    fn texts_stand_in_the_question_and_images_beside_it() {
        let code = sent("a.md", Media::Text, Some(b"```\ncode\n```\n"));
        let old = sent("old.png", Media::Image { mime: ImageType::Png }, None);
        let words = "Why?\n\nFile a.md:\n````\n```\ncode\n```\n````\n\n\
                     [The file old.png is no longer shown: it is too long ago.]\n\n\
                     [The file c.bin is not shown. It is not a text.]";
        let plain = asked("Why?", vec![code.clone(), old.clone()]);
        assert_eq!(plain, serde_json::json!([{"role": "user", "content": words}]));

        let image = sent("b.png", Media::Image { mime: ImageType::Png }, Some(b"PNG"));
        let parts = asked("Why?", vec![code, image, old]);
        let expected = serde_json::json!([{"role": "user", "content": [
            {"type": "text", "text": format!("{words}\n\n[Image: b.png]")},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}},
        ]}]);
        assert_eq!(parts, expected);
    }

    #[test]
    fn a_title_is_about_the_words_or_else_the_files() {
        let prompt = |text: &str| {
            let files = vec![sent("notes.md", Media::Text, None)];
            let question = Said::Question { text: text.into(), files, left_out: Vec::new() };
            serde_json::to_string(&name_chat(vec![question, Said::Answer("Because.".into())])).unwrap()
        };
        assert!(prompt("Why?").contains("Why?") && !prompt("Why?").contains("notes.md"));
        assert!(prompt(" ").contains("notes.md") && prompt(" ").contains("Because."));
    }
}
