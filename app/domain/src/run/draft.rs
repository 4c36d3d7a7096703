//! A run as a launcher's form, a slash command or a script asks for it. What it may be is decided by what it becomes.

use serde::{Deserialize, Serialize};

use crate::{
    Rejected,
    flow::{Band, FlowId, Request},
    id::{RunId, SessionId},
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// Made by whoever asks, so that asking twice launches once.
    pub id: RunId,
    pub session: SessionId,
    /// By its name, such as `code-review`.
    pub flow: String,
    /// Nothing: the small one.
    #[serde(default)]
    pub band: String,
    #[serde(default)]
    pub fast: bool,
    /// A path in the project; nothing for all of it.
    #[serde(default)]
    pub target: String,
    #[serde(default)]
    pub focus: String,
    /// Who works, by name; nothing for whoever is configured.
    #[serde(default)]
    pub backend: String,
    /// `server/model`; nothing for the one that is configured.
    #[serde(default)]
    pub model: String,
}

impl Draft {
    /// As a slash command asks: small, about all of the project, the rest of the line as the question.
    pub fn at_once(id: RunId, session: SessionId, flow: FlowId, question: &str) -> Self {
        Self {
            id,
            session,
            flow: flow.name().to_owned(),
            band: Band::Small.name().to_owned(),
            fast: false,
            target: String::new(),
            focus: question.to_owned(),
            backend: String::new(),
            model: String::new(),
        }
    }

    pub fn flow(&self) -> Result<FlowId, Rejected> {
        self.flow.parse()
    }

    /// Checked as far as it can be without the project. `has_diff`: whether something is changed there.
    pub fn request(&self, has_diff: bool) -> Result<Request, Rejected> {
        let band = match self.band.trim() {
            "" => Band::Small,
            band => band.parse()?,
        };
        Request::new(self.flow()?, band, self.fast, &self.target, &self.focus, has_diff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(flow: &str, band: &str) -> Draft {
        let (id, session) = (RunId(uuid::Uuid::from_u128(1)), SessionId(uuid::Uuid::from_u128(2)));
        let small = Draft::at_once(id, session, FlowId::CodeReview, "");
        Draft { flow: flow.to_owned(), band: band.to_owned(), ..small }
    }

    #[test]
    fn what_nobody_knows_is_refused() {
        let check = |flow: &str, band: &str, expected: Result<Band, &str>| {
            let request = draft(flow, band).request(false).map_err(|no| no.to_string());
            let found = request.as_ref().map(|request| request.band).map_err(String::as_str);
            assert_eq!(found, expected, "{flow} {band}");
        };
        check("code-review", "", Ok(Band::Small));
        check("/code-review", "Large", Ok(Band::Large));
        check("code-review", "huge", Err("There is no band \"huge\": choose small, medium or large."));
        check("dance", "small", Err("There is no flow \"dance\"."));
        check("research", "", Err("Research needs a focus. What do you want to know?"));
    }
}
