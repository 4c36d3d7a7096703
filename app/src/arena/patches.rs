//! What contestants changed, as plain patches: for whoever reads without scripts, or on paper.

use domain::id::ContestantId;
use leptos::prelude::*;

use super::pane::Arena;
use crate::{erased::Erase, feed::Feed};

#[component]
pub fn PatchesView() -> impl IntoView {
    let (feed, arena) = (expect_context::<Feed>(), expect_context::<Arena>());
    let changed = untrack(|| {
        arena.read(feed, |battle| {
            let changed = battle.contestants.iter().filter(|it| it.changes.is_some());
            changed.map(|it| (it.id, battle.letter(it.id), it.title())).collect::<Vec<_>>()
        })
    });
    let changed = changed.unwrap_or_default().into_iter().map(|(id, letter, title)| {
        let name = format!("patch-of-{id}");
        let patch = arena.patches.with_value(|known| known.get(&id).cloned());
        let patch = patch.or_else(|| of_this_page(id, &name));
        if let Some(patch) = &patch {
            arena.patches.update_value(|known| drop(known.insert(id, patch.clone())));
        }
        let whole = format!("/api/battles/{}/diff?contestant={id}", arena.battle);
        view! {
            <h3>{format!("{letter} · {title}")}</h3>
            <pre class="arena-patch" id=name>{patch.unwrap_or_default()}</pre>
            <p><a href=whole>{format!("The whole change of {letter} as a patch")}</a></p>
        }
    });
    changed.collect::<Vec<_>>().erase()
}

/// What the page came with. One that was led to from another came with none.
#[cfg(feature = "ssr")]
fn of_this_page(id: ContestantId, _name: &str) -> Option<String> {
    use_context::<crate::orchestrator::FirstRead>()?.patches.get(&id).cloned()
}

#[cfg(not(feature = "ssr"))]
fn of_this_page(_id: ContestantId, name: &str) -> Option<String> {
    document().get_element_by_id(name)?.text_content()
}

#[cfg(feature = "ssr")]
mod server {
    use domain::id::BattleId;

    use super::*;
    use crate::{error::AppError, ports};

    /// More of each stands behind its link.
    const SHOWN_BYTES_MAX: usize = 32 * 1024;

    pub async fn patches_of(battle: BattleId) -> Result<Vec<(ContestantId, String)>, AppError> {
        let db = ports::db()?;
        let battle = store::battles::get(&db, battle).await?;
        let mut patches = Vec::new();
        for contestant in battle.contestants.iter().filter(|it| it.changes.is_some()) {
            let Some(stream) = battle.stream_of_try(contestant.id, None)? else { continue };
            let patch = store::results::patch_ends(&db, stream, SHOWN_BYTES_MAX).await?;
            patches.extend(patch.map(|patch| (contestant.id, patch.text())));
        }
        Ok(patches)
    }
}

#[cfg(feature = "ssr")]
pub use server::patches_of;
