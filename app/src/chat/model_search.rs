//! The choice among many models: a list with a field that narrows it. Few models need none, so its code comes with the
//! first long list.

use domain::{
    backend::Offer,
    catalogue::{ModelRef, ServerState},
    id::ChatId,
};
use leptos::prelude::*;

use super::{
    Pane,
    api::Models,
    picker::{ask_again, label},
};
use crate::{
    erased::{Erase, Erased},
    ui::{Choice, Combobox},
    workspace::Offered,
};

pub fn model_search(chat: ChatId) -> Erased {
    let Offered(models) = expect_context::<Offered>();
    let Pane { chosen, worker, .. } = expect_context::<Pane>();
    let model = chosen.model;
    let choices =
        Memo::new(move |_| models.with(|models| choices(models, &model.read(), worker.get().as_ref())));
    view! {
        <Combobox
            id=format!("models-{chat}")
            label="Model"
            choices
            value=model
            field="model"
            ghost=true
            on_open=Callback::new(move |()| ask_again(models, true))
            on_choose=Callback::new(move |model| chosen.choose_model(model))
        />
    }
    .erase()
}

/// Every model, and the chosen one even where nobody offers it. `agent` is who would ask it; nobody is there for a model
/// that answers by itself.
fn choices(models: &Models, chosen: &str, agent: Option<&Offer>) -> Vec<Choice> {
    let is_missing = !chosen.is_empty() && !models.offers(chosen);
    let missing = is_missing.then(|| {
        let label = format!("{chosen} (not offered now)");
        Choice::new(chosen.to_owned(), label).disabled("No model server offers it.".to_owned())
    });
    let servers = models.catalogue.servers.iter();
    // An agent's own login is of no use without the agent.
    let usable = servers.filter(|server| agent.is_some() || server.check_chat().is_ok());
    let of_server = |server: &domain::catalogue::ModelServer| {
        let unreachable = match &server.state {
            ServerState::Unreachable { reason } => Some(reason.clone()),
            ServerState::Reachable | ServerState::Starting => None,
        };
        let hindrance = agent.and_then(|offer| offer.mismatch(server)).or(unreachable);
        let choice = |model: &domain::catalogue::Model| {
            let value = ModelRef { server: server.name.clone(), model: model.id.clone() }.to_string();
            let choice = Choice::new(value, model.shown()).group(label(server));
            match hindrance.clone().or_else(|| agent?.shortage(model)) {
                Some(reason) => choice.disabled(reason),
                None => choice,
            }
        };
        server.models.iter().map(choice).collect::<Vec<_>>()
    };
    missing.into_iter().chain(usable.flat_map(of_server)).collect()
}

#[cfg(test)]
mod tests {
    use domain::catalogue::{Catalogue, Flavour, Lane, Model, ModelServer};

    use super::*;

    #[test]
    fn models_stand_under_their_servers_and_say_why_they_cannot_be_had() {
        let server = |name: &str, lane, state| ModelServer {
            name: name.into(),
            flavour: Flavour::LlamaCpp,
            lane,
            base_url: String::new(),
            state,
            models: vec![Model::named("a"), Model::named("b")],
            also_speaks: Vec::new(),
        };
        let gone = ServerState::Unreachable { reason: "connection refused".into() };
        let servers =
            vec![server("desk", Lane::Local, ServerState::Reachable), server("attic", Lane::Cloud, gone)];
        let models = Models { catalogue: Catalogue { servers }, default: None };
        let gone = &choices(&models, "desk/c", None)[0];
        assert_eq!((&*gone.value, &*gone.label), ("desk/c", "desk/c (not offered now)"));
        assert!(gone.disabled.is_some());
        let found: Vec<_> = choices(&models, "desk/a", None)
            .into_iter()
            .map(|choice| (choice.value, choice.group, choice.disabled))
            .collect();
        let refused = Some("connection refused".to_owned());
        let expected = [
            ("desk/a", "desk (local)", None),
            ("desk/b", "desk (local)", None),
            ("attic/a", "attic (cloud, unreachable)", refused.clone()),
            ("attic/b", "attic (cloud, unreachable)", refused),
        ];
        let expected = expected.map(|(value, group, reason)| (value.to_owned(), group.to_owned(), reason));
        assert_eq!(found, expected);
    }
}
