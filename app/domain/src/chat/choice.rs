//! Which model a turn goes to, as whom, and by whose hands.

use serde::{Deserialize, Serialize};

use crate::{
    Rejected,
    backend::Backend,
    catalogue::{Catalogue, Hindrance, Lane, ModelRef, ModelServer},
};

/// The model a turn goes to. A paid one is not repeated as often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    pub model: ModelRef,
    pub paid: bool,
    /// By its name: what it says is looked up when the turn begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// In a Coder: who does the work. A turn of a plain chat has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coder: Option<Coder>,
    /// The machine whose own model server is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

/// How the work of one turn is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coder {
    pub backend: Backend,
    /// Where the project's folder is: only a server there can do the work.
    pub host: String,
    /// Whether the worktree, if this turn makes it, begins with what is not committed yet.
    #[serde(default)]
    pub carry: bool,
    /// Whether the agent asks before it changes something.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
}

impl Choice {
    /// The model as the catalogue knows it now. One whose server is unreachable is still a choice: the turn
    /// then fails with the reason and can be repeated. One that nobody lists is none: the turn would wait for
    /// ever.
    pub fn from_catalogue<'a>(
        catalogue: &'a Catalogue,
        model: &str,
    ) -> Result<(Self, &'a ModelServer), Rejected> {
        if model.is_empty() {
            let words = match catalogue.all().next() {
                Some(_) => "Choose a model first.",
                None => "There is no model yet. Add a model server under Settings, Models.",
            };
            return Err(Rejected::Invalid(words.into()));
        }
        let wanted = model.parse::<ModelRef>().ok();
        if let Some(ModelRef { server, .. }) = &wanted
            && catalogue.hindrance(server) == Some(Hindrance::Gone)
        {
            return Err(Rejected::Invalid(format!(
                "The model server {server} is no longer configured or found here. Choose another model, or \
                 bring it back."
            )));
        }
        let offered = wanted.filter(|wanted| catalogue.model(wanted).is_some());
        let server = offered.as_ref().and_then(|offered| catalogue.server(&offered.server));
        let (Some(model), Some(server)) = (offered, server) else {
            let words = format!("The model {model} is not offered any more. Choose another one.");
            return Err(Rejected::Invalid(words));
        };
        Ok((Self::of(model, server), server))
    }

    /// A model of this server, without a persona or an agent.
    pub fn of(model: ModelRef, server: &ModelServer) -> Self {
        let (paid, machine) = (server.lane == Lane::Cloud, server.machine.clone());
        Self { model, paid, persona: None, coder: None, machine }
    }

    /// One that answers by itself, without an agent of its own.
    pub fn for_chat(catalogue: &Catalogue, model: &str) -> Result<Self, Rejected> {
        let (choice, server) = Self::from_catalogue(catalogue, model)?;
        server.check_chat()?;
        Ok(choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Flavour, Model, ServerState};

    fn server(name: &str, lane: Lane, state: ServerState) -> ModelServer {
        ModelServer {
            name: name.into(),
            flavour: Flavour::OpenAi,
            lane,
            base_url: String::new(),
            state,
            models: vec![Model::named("org/small")],
            also_speaks: Vec::new(),
            machine: None,
        }
    }

    #[test]
    fn a_model_is_chosen_from_the_catalogue_and_cloud_is_paid() {
        let down = ServerState::Unreachable { reason: "connection refused".into() };
        let catalogue = Catalogue {
            servers: vec![
                server("here", Lane::Local, ServerState::Reachable),
                server("there", Lane::Cloud, ServerState::Reachable),
                server("down", Lane::Local, down),
            ],
        };
        let check = |model: &str, expected: Result<bool, &str>| {
            let chosen = Choice::from_catalogue(&catalogue, model);
            assert_eq!(
                chosen.map(|(choice, _)| choice.paid).map_err(|no| no.to_string()),
                expected.map_err(Into::into)
            );
        };
        check("here/org/small", Ok(false));
        check("there/org/small", Ok(true));
        check("down/org/small", Ok(false));
        check("", Err("Choose a model first."));
        check("here/gone", Err("The model here/gone is not offered any more. Choose another one."));
        check("nonsense", Err("The model nonsense is not offered any more. Choose another one."));
        check(
            "gone/org/small",
            Err(
                "The model server gone is no longer configured or found here. Choose another model, or bring \
                 it back.",
            ),
        );
    }
}
