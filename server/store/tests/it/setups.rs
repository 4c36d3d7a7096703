//! What the worktrees of projects begin with, and how much they may take.

use domain::{
    Rejected,
    feed::Event,
    id::ProjectId,
    settings::{Budget, Part},
    setup::Setup,
};
use sqlx::PgPool;
use store::{settings, setups};
use uuid::Uuid;

use super::scene::{Scene, rejected};

#[sqlx::test(migrations = "../../migrations")]
async fn a_setup_is_kept_for_its_project_alone(pool: PgPool) {
    let scene = Scene::new(pool).await;
    store::workspace::add_project(&scene.db, "Other", "/other").await.unwrap();
    let projects: Vec<_> =
        setups::list(&scene.db).await.unwrap().into_iter().map(|entry| entry.project).collect();
    assert_eq!(
        projects.iter().map(|project| project.path.as_str()).collect::<Vec<_>>(),
        ["/project", "/other"]
    );
    let one = projects[0].id;
    assert_eq!(setups::get(&scene.db, one).await.unwrap(), Setup::default());
    for command in ["make", ""] {
        let setup = Setup { copy: vec![".env".into()], command: command.into(), check: "make test".into() };
        setups::save(&scene.db, one, &setup).await.unwrap();
        assert_eq!(setups::get(&scene.db, one).await.unwrap(), setup);
        let listed: Vec<_> =
            setups::list(&scene.db).await.unwrap().into_iter().map(|entry| entry.setup).collect();
        assert_eq!(listed, [setup, Setup::default()]);
    }
    let last = scene.events().await.pop().unwrap().event;
    assert_eq!(last, Event::SettingsChanged { what: Part::Projects });
    let nobody = rejected(setups::save(&scene.db, ProjectId(Uuid::nil()), &Setup::default()).await);
    assert_eq!(nobody, Rejected::missing("project"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_budget_is_kept(pool: PgPool) {
    let scene = Scene::new(pool).await;
    assert_eq!(settings::worktree_budget(&scene.db).await.unwrap(), Budget::default());
    for gb in ["5", "7"] {
        let budget = Budget::parse(gb).unwrap();
        settings::set_worktree_budget(&scene.db, budget).await.unwrap();
        assert_eq!(settings::worktree_budget(&scene.db).await.unwrap(), budget);
    }
    let last = scene.events().await.pop().unwrap().event;
    assert_eq!(last, Event::SettingsChanged { what: Part::Worktrees });
}
