//! What the page says by itself.

use leptos::prelude::*;

use super::{section, specimen};
use crate::{
    erased::{Erase, Erased},
    icon::Icon,
    ui::{Badge, Button, ButtonKind, Dot, EmptyState, Progress, Skeleton, Tone},
};

const TONES: [(Tone, &str); 8] = [
    (Tone::Neutral, "read-only"),
    (Tone::Accent, "local"),
    (Tone::Running, "Running"),
    (Tone::Waiting, "Queued, 2 ahead"),
    (Tone::Needed, "Needs you"),
    (Tone::Done, "Done"),
    (Tone::Failed, "Failed"),
    (Tone::Cancelled, "Cancelled"),
];
const DOTS: [Tone; 5] = [Tone::Running, Tone::Waiting, Tone::Needed, Tone::Done, Tone::Failed];

#[component]
pub fn Feedback() -> impl IntoView {
    let badges = TONES.map(|(tone, text)| view! { <Badge tone text /> });
    let dots = DOTS.map(|tone| view! { <span class="dot-sample"><Dot tone />{tone.class()}</span> });
    let marks = view! {
        <div class="line">{badges}</div>
        <div class="line">{dots}<span class="count">"12"</span></div>
    };
    let bars = view! {
        <Progress label="Contestants" detail="2 of 5 · 1 min 12 s" value=Signal::stored(Some(40)) />
        <Progress label="Loading model qwen3.6-35b" detail="14 s" value=Signal::stored(None) />
    };
    let content = view! {
        {specimen("Badges and dots", marks.erase())}
        {specimen("Progress", bars.erase())}
        {specimen("Skeleton", view! { <Skeleton lines=4 label="Loading the report" /> }.erase())}
        {specimen("Notice", notices())}
        {specimen("Rows and cards", rows())}
        {specimen("Empty state", empty())}
    };
    section("feedback", "Feedback", content.erase())
}

fn notices() -> Erased {
    view! {
        <div class="notice info"><p>"Model servers on this machine are found by themselves."</p></div>
        <div class="notice warning">
            <p class="notice-title">"The project has changes that are not committed"</p>
            <p>"Contestants start from the last commit unless you carry them in."</p>
        </div>
        <div class="notice error">
            <p class="notice-title">"The answer failed"</p>
            <p>"The connection was cut off after 1,204 tokens. What was written is kept above."</p>
            <div class="notice-actions"><Button small=true icon=Icon::Retry>"Retry"</Button></div>
        </div>
    }
    .erase()
}

fn rows() -> Erased {
    view! {
        <ul class="rows">
            <li>
                <a class="row" href="#feedback">
                    {Icon::Chat.view()}
                    <span class="row-words">
                        <span class="row-title">"Why does the feed lock its head row last?"</span>
                        <span class="row-about">"boocode · Session 2"</span>
                    </span>
                    <span class="row-end"><Badge tone=Tone::Running text="Writing" /></span>
                </a>
            </li>
            <li>
                <div class="row">
                    {Icon::Server.view()}
                    <span class="row-words">
                        <span class="row-title">"desk"</span>
                        <span class="row-about">"http://127.0.0.1:8080 · 12 models"</span>
                    </span>
                    <span class="row-end">
                        <Badge tone=Tone::Accent text="local" />
                        <Button small=true>"Test"</Button>
                    </span>
                </div>
            </li>
        </ul>
        <a class="card" href="#feedback">
            <span>"A card that is a link"</span>
            <span class="field-hint">"An answer is being written."</span>
        </a>
    }
    .erase()
}

fn empty() -> Erased {
    view! {
        <EmptyState
            icon=Icon::Swords
            title="No battles yet"
            text="Let two to six models do the same task, and see which does it best."
        >
            <Button kind=ButtonKind::Primary icon=Icon::Swords>"New Arena"</Button>
        </EmptyState>
    }
    .erase()
}
