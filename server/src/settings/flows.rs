//! Who works in flows: what is configured counts before what Settings says, and that before the rules.

use app::error::AppError;
use domain::{
    backend::{Backend, NATIVE},
    catalogue::{Catalogue, ModelRef, choose_for_flows},
    settings::{DefaultModel, FlowBackend, FlowSettings, Origin},
};

use super::Settings;
use crate::{
    coder::agents,
    config::{Config, Source},
};

/// What is configured, or set in Settings where it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowsChosen {
    pub backend: Backend,
    /// As it was written; the rules choose where it is not.
    pub model: Option<String>,
}

/// What the configuration says of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowsConfigured {
    backend: Backend,
    /// Nobody said it.
    is_default: bool,
    model: Option<String>,
}

impl FlowsConfigured {
    pub fn of(config: &Config) -> Self {
        Self {
            backend: Backend(config.flow_backend.clone()),
            is_default: *config.source("flow_backend") == Source::Default,
            model: config.flow_model.clone(),
        }
    }

    pub fn with(&self, kept: store::settings::Flows) -> FlowsChosen {
        let backend = kept.backend.filter(|_| self.is_default).map(Backend);
        FlowsChosen {
            backend: backend.unwrap_or_else(|| self.backend.clone()),
            model: self.model.clone().or(kept.model),
        }
    }
}

/// The model of flows with this agent, if what was chosen is there.
pub fn flow_model(
    catalogue: &Catalogue,
    backend: &Backend,
    chosen: Option<&str>,
    default: Option<ModelRef>,
) -> Option<ModelRef> {
    match chosen {
        Some(chosen) => catalogue.resolve(chosen),
        None => choose_for_flows(catalogue, backend, default),
    }
}

impl Settings {
    pub(super) async fn show_flows(&self, offered: Vec<ModelRef>) -> Result<FlowSettings, AppError> {
        let kept = store::settings::flows(&self.db).await?;
        let origin = |key: &str, is_kept: bool| match (Origin::from(self.config.source(key)), is_kept) {
            (Origin::Default, true) => Origin::Settings,
            (origin, _) => origin,
        };
        let (of_backend, of_model) =
            (origin("flow_backend", kept.backend.is_some()), origin("flow_model", kept.model.is_some()));
        let FlowsChosen { backend, model } = FlowsConfigured::of(&self.config).with(kept);
        let catalogue = self.models.catalogue();
        let used = flow_model(&catalogue, &backend, model.as_deref(), self.models.default_model());
        Ok(FlowSettings {
            backend: FlowBackend { used: backend, origin: of_backend, offered: self.backends() },
            model: DefaultModel { set: model, origin: of_model, used, offered },
        })
    }

    /// Everybody who can be named, ready or not: a launch says what is missing.
    fn backends(&self) -> Vec<Backend> {
        let agents = agents::all(&self.config.agents);
        let names = std::iter::once(NATIVE).chain(agents.iter().map(|agent| agent.name));
        names.map(|name| Backend(name.to_owned())).collect()
    }

    pub(super) async fn choose_for_flows(&self, backend: &str, model: &str) -> Result<(), AppError> {
        let is_fixed = |key: &str, what: &str, given: &str| {
            let origin = Origin::from(self.config.source(key));
            match origin.is_fixed() && !given.is_empty() {
                true => Err(AppError::Invalid(format!("The {what} is {origin}. Change it there."))),
                false => Ok(origin.is_fixed()),
            }
        };
        let is_backend_fixed = is_fixed("flow_backend", "agent of flows", backend)?;
        let is_model_fixed = is_fixed("flow_model", "model of flows", model)?;
        // Both come with every form. What stays as it is may be absent now, and must not hold up the other.
        let kept = store::settings::flows(&self.db).await?;
        let is_new = |given: &str, kept: Option<&str>| given != kept.unwrap_or_default();
        let is_backend_new = !is_backend_fixed && is_new(backend, kept.backend.as_deref());
        let is_model_new = !is_model_fixed && is_new(model, kept.model.as_deref());
        if is_backend_new && !backend.is_empty() && self.backends().iter().all(|known| known.0 != backend) {
            return Err(AppError::Invalid(format!("There is no agent called {backend}.")));
        }
        let model = if is_model_new { self.offered(model)? } else { None };
        if is_backend_new {
            let chosen = (!backend.is_empty()).then_some(backend);
            store::settings::set_flow_backend(&self.db, chosen).await?;
        }
        if is_model_new {
            store::settings::set_flow_model(&self.db, model.as_deref()).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_configured_counts_before_what_is_set() {
        let check = |configured: (&str, bool, Option<&str>), kept: (Option<&str>, Option<&str>), expected| {
            let (backend, is_default, model) = configured;
            let configured = FlowsConfigured {
                backend: Backend(backend.to_owned()),
                is_default,
                model: model.map(str::to_owned),
            };
            let kept = store::settings::Flows {
                backend: kept.0.map(str::to_owned),
                model: kept.1.map(str::to_owned),
            };
            let FlowsChosen { backend, model } = configured.with(kept);
            assert_eq!((backend.0.as_str(), model.as_deref()), expected);
        };
        check(("qwen", true, None), (None, None), ("qwen", None));
        check(("qwen", true, None), (Some("goose"), Some("a/b")), ("goose", Some("a/b")));
        check(("qwen", false, None), (Some("goose"), Some("a/b")), ("qwen", Some("a/b")));
        check(("native", false, Some("c")), (Some("goose"), Some("a/b")), ("native", Some("c")));
    }
}
