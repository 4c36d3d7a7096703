//! What an agent is asked.

use agent_client_protocol::v1::schema::{
    ContentBlock, EmbeddedResource, EmbeddedResourceResource, ImageContent, PromptCapabilities, TextContent,
    TextResourceContents,
};

/// One part of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    Text(String),
    Image {
        media_type: String,
        base64: String,
    },
    /// A file as it was when the question was asked.
    File {
        path: String,
        text: String,
    },
}

/// The question in the agent's terms; what it cannot take is said in words.
pub fn blocks(prompt: Vec<Block>, takes: &PromptCapabilities) -> Vec<ContentBlock> {
    let text = |text: String| ContentBlock::Text(TextContent::new(text));
    let block = |block| match block {
        Block::Text(said) => text(said),
        Block::Image { media_type, base64 } if takes.image => {
            ContentBlock::Image(ImageContent::new(base64, media_type))
        }
        Block::Image { .. } => text("[Here was a picture, which this agent cannot see.]".to_owned()),
        Block::File { path, text } if takes.embedded_context => {
            let contents = TextResourceContents::new(text, format!("file://{path}"));
            let resource = EmbeddedResourceResource::TextResourceContents(contents);
            ContentBlock::Resource(EmbeddedResource::new(resource))
        }
        Block::File { path, text: contents } => text(format!("{path}:\n\n{contents}")),
    };
    prompt.into_iter().map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_cannot_take_is_said_in_words() {
        let prompt = vec![
            Block::Image { media_type: "image/png".into(), base64: "AA==".into() },
            Block::File { path: "a.rs".into(), text: "fn a() {}".into() },
        ];
        let all = PromptCapabilities::new().image(true).embedded_context(true);
        let taken = blocks(prompt.clone(), &all);
        assert!(matches!(taken.as_slice(), [ContentBlock::Image(_), ContentBlock::Resource(_)]), "{taken:?}");
        let words = blocks(prompt, &PromptCapabilities::new());
        let [ContentBlock::Text(image), ContentBlock::Text(file)] = words.as_slice() else {
            panic!("{words:?}")
        };
        assert_eq!(image.text, "[Here was a picture, which this agent cannot see.]");
        assert_eq!(file.text, "a.rs:\n\nfn a() {}");
    }
}
