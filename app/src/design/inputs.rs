//! What is typed, chosen and switched.

use leptos::prelude::*;

use super::{section, specimen};
use crate::{
    erased::{Erase, Erased},
    icon::Icon,
    ui::{Choice, Combobox, Segment, Segmented, Switch, Tab, TabPanel, Tabs},
};

#[component]
pub fn Inputs() -> impl IntoView {
    let content = view! {
        {specimen("Field", fields())}
        {specimen("Combobox", comboboxes())}
        {specimen("Switch", switches())}
        {specimen("Segmented", segmented())}
        {specimen("Tabs", tabs())}
    };
    section("inputs", "Inputs", content.erase())
}

fn fields() -> Erased {
    view! {
        <div class="pair">
            <div class="field">
                <label class="field-label" for="field-plain">"Name"</label>
                <input id="field-plain" type="text" placeholder="desk" aria-describedby="field-plain-hint" />
                <span class="field-hint" id="field-plain-hint">"How the server is called in lists."</span>
            </div>
            <div class="field">
                <label class="field-label" for="field-wrong">"Address"</label>
                <input
                    id="field-wrong"
                    type="text"
                    value="localhost"
                    aria-invalid="true"
                    aria-describedby="field-wrong-error"
                />
                <span class="field-error" id="field-wrong-error">"An address begins with http:// or https://."</span>
            </div>
            <div class="field">
                <label class="field-label" for="field-off">"Key"</label>
                <input id="field-off" type="text" value="from OPENROUTER_API_KEY" disabled />
            </div>
            <div class="field">
                <label class="field-label" for="field-select">"Lane"</label>
                <select class="select" id="field-select">
                    <option>"local"</option>
                    <option>"cloud"</option>
                </select>
            </div>
            <div class="field">
                <label class="field-label" for="field-long">"Prompt"</label>
                <textarea id="field-long" placeholder="What shall they do?"></textarea>
            </div>
        </div>
    }
    .erase()
}

fn comboboxes() -> Erased {
    let model = RwSignal::new("desk/qwen3.6-35b".to_owned());
    let none = RwSignal::new(String::new());
    let choices = vec![
        Choice::new("desk/qwen3.6-35b", "qwen3.6-35b-a3b")
            .group("desk (local)")
            .describe("35B, 128k context"),
        Choice::new("desk/smollm2", "smollm2-135m")
            .group("desk (local)")
            .describe("Small, quick, often wrong"),
        Choice::new("attic/gemma", "gemma-3-27b")
            .group("attic (local, unreachable)")
            .disabled("Connection refused"),
        Choice::new("openrouter/kimi", "kimi-k2").group("openrouter (cloud)"),
        Choice::new("openrouter/glm", "glm-4.6").group("openrouter (cloud)"),
        Choice::new("openrouter/deepseek", "deepseek-v3.2")
            .group("openrouter (cloud)")
            .describe("Thinks before it speaks"),
    ];
    let kinds = vec![
        Choice::new("chat", "Chat").icon(Icon::Chat),
        Choice::new("coder", "Coder").icon(Icon::Code),
        Choice::new("terminal", "Terminal").icon(Icon::Terminal),
    ];
    view! {
        <div class="line">
            <Combobox id="model-box" label="Model" choices value=model />
            <Combobox id="kind-box" label="Kind" choices=kinds value=none placeholder="Choose a kind" ghost=true />
        </div>
    }
    .erase()
}

fn switches() -> Erased {
    view! {
        <Switch label="Tell me when an answer is done" checked=RwSignal::new(true) />
        <Switch
            label="Tell me when a battle needs me"
            description="Also from the browser, while no page of BooCode is in front."
            checked=RwSignal::new(false)
        />
        <Switch
            label="From the browser"
            description="This browser does not allow it."
            checked=RwSignal::new(false)
            disabled=true
        />
    }
    .erase()
}

fn segmented() -> Erased {
    let shown = RwSignal::new("unified".to_owned());
    let segments = vec![
        Segment { value: "unified", label: "Unified", icon: Some(Icon::Rows) },
        Segment { value: "split", label: "Split", icon: Some(Icon::Columns) },
    ];
    view! {
        <Segmented
            id="diff-view"
            label="Diff"
            segments
            value=shown
            on_choose=Callback::new(move |chosen| shown.set(chosen))
        />
    }
    .erase()
}

fn tabs() -> Erased {
    let selected = RwSignal::new("output".to_owned());
    let tab = |value, label: &str, icon| Tab { value, label: label.to_owned(), icon };
    let tabs = vec![
        tab("output", "Output", Some(Icon::Chat)),
        tab("diff", "Diff", Some(Icon::Branch)),
        tab("analysis", "Analysis", Some(Icon::File)),
    ];
    view! {
        <Tabs id="contestant" label="Contestant A" tabs selected />
        <TabPanel id="contestant" value="output" selected>
            <p>"What the contestant wrote."</p>
        </TabPanel>
        <TabPanel id="contestant" value="diff" selected>
            <p>"What the contestant changed."</p>
        </TabPanel>
        <TabPanel id="contestant" value="analysis" selected>
            <p>"What the judge says about it."</p>
        </TabPanel>
    }
    .erase()
}
