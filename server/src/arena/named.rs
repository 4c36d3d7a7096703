//! From the names that somebody typed to who and what that is, or why it cannot be.

use app::error::AppError;
use domain::{
    Rejected,
    backend::Wanted,
    battle::{Examiner, ExaminerDraft, Identity, Judge},
    catalogue::ModelRef,
    chat::Choice,
    id::BattleId,
    persona::Persona,
};

use super::Port;

/// Who works on which model.
pub(super) struct Named {
    pub identity: Identity,
    /// What the persona says by now, where it is one.
    pub persona: Option<Persona>,
    pub model: ModelRef,
    pub paid: bool,
}

impl Port {
    /// Whether there is such a one, and whether it can work on this model.
    pub(super) async fn named(
        &self,
        identity: Identity,
        model: &str,
        project: &str,
    ) -> Result<Named, AppError> {
        let catalogue = self.models.catalogue();
        let (Choice { model, paid, .. }, server) = Choice::from_catalogue(&catalogue, model)?;
        let (identity, persona) = match identity {
            Identity::Backend(backend) => {
                let wanted = Wanted { backend, carry: false, asks: false };
                let coder = self.offers.check(wanted, server.clone(), model.clone()).await?;
                (Identity::Backend(coder.backend), None)
            }
            Identity::Persona(name) => {
                server.check_chat()?;
                let found = self.personas.find(project.to_owned(), &name).await?;
                (Identity::Persona(found.name.clone()), Some(found))
            }
            Identity::Plain => {
                server.check_chat()?;
                (Identity::Plain, None)
            }
        };
        Ok(Named { identity, persona, model, paid })
    }

    pub(super) fn named_judge(&self, model: &str) -> Result<Judge, Rejected> {
        let default = || self.models.default_model().map(|model| model.to_string()).unwrap_or_default();
        let model = if model.is_empty() { default() } else { model.to_owned() };
        let Choice { model, paid, .. } = Choice::for_chat(&self.models.catalogue(), &model)?;
        Ok(Judge { model, paid })
    }

    pub(super) async fn named_examiner(
        &self,
        battle: BattleId,
        draft: ExaminerDraft,
    ) -> Result<Examiner, AppError> {
        let battle = store::battles::get(&self.db, battle).await?;
        let project = store::workspace::project(&self.db, battle.project).await?;
        let Named { identity, model, paid, .. } =
            self.named(draft.identity(), &draft.model, &project.path).await?;
        Ok(Examiner { identity, model, paid })
    }
}
