//! Something of a run beside other work: a place that its report cites, the report itself, or the change that it looked
//! at.

mod cited;
mod whole;

use domain::{
    artifact::{Artifact, What},
    diff::Of,
    id::RunId,
    page::Wanted,
    run::Shown,
};
use leptos::prelude::*;

use crate::{
    diff::code,
    erased::{Erase, Inside},
    feed::Feed,
    icon::Icon,
};
use cited::Cited;
use whole::WholeReport;

#[component]
pub fn ArtifactPane(artifact: Artifact) -> impl IntoView {
    match artifact.what {
        What::Cited(number) => view! { <Cited artifact number /> }.erase(),
        What::Report => view! { <WholeReport run=artifact.run /> }.erase(),
        What::Diff => view! { <Change run=artifact.run /> }.erase(),
    }
}

/// How it belongs to its run.
#[derive(Clone, Copy)]
enum As {
    /// As it was when that began.
    ItWas,
    /// What that reported.
    Reported,
}

#[component]
fn Head(
    run: RunId,
    icon: Icon,
    #[prop(into)] title: String,
    as_it: As,
    #[prop(optional)] children: Option<Inside>,
) -> impl IntoView {
    let feed = expect_context::<Feed>();
    let (before, after) = match as_it {
        As::ItWas => ("As it was when ", " began"),
        As::Reported => ("Of ", ""),
    };
    let words = move || feed.run(run, Shown::title).unwrap_or_else(|| "the run".to_owned());
    view! {
        <header class="artifact-head">
            <h1>{icon.view()} <span>{title}</span></h1>
            <p>{before} <a href=Wanted::Run(run).path()>{words}</a> {after}</p>
            <div class="artifact-actions">{children.map(Inside::view)}</div>
        </header>
    }
    .erase()
}

/// The diff that the agents of a run were shown. Comments have nowhere to go: nobody works on it.
#[component]
fn Change(run: RunId) -> impl IntoView {
    let patch = format!("/api/runs/{run}/change");
    view! {
        <section class="artifact" aria-label="The change">
            <Head run icon=Icon::Branch title="The change" as_it=As::ItWas>
                <a class="button small" href=patch rel="external">"As a patch"</a>
            </Head>
            {code::view(Of::Run(run), None)}
        </section>
    }
    .erase()
}
