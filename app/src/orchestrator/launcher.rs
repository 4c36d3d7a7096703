//! Where a run is launched, in a pane.

use domain::flow::{Band, FlowId};
use leptos::prelude::*;

use super::api::LaunchRun;
use crate::{device, panes::Panes};

#[component]
pub fn FlowLauncher() -> impl IntoView {
    let panes = expect_context::<Panes>();
    let launch = ServerAction::<LaunchRun>::new();
    let id = device::fresh_id().to_string();
    let flow = |flow: FlowId| view! { <option value=flow.name()>{flow.flow().title}</option> };
    let band = |band: Band| view! { <option value=band.name()>{band.name()}</option> };
    let session = move || panes.session.get().map(|session| session.to_string());
    view! {
        <ActionForm action=launch>
            <input type="hidden" name="draft[id]" value=id />
            <input type="hidden" name="draft[session]" value=session />
            <label>"Flow" <select class="select" name="draft[flow]">{FlowId::ALL.map(flow).collect_view()}</select></label>
            <label>"Band" <select class="select" name="draft[band]">{Band::ALL.map(band).collect_view()}</select></label>
            <label>"Target" <input class="input" name="draft[target]" /></label>
            <label>"Focus" <textarea class="input" name="draft[focus]"></textarea></label>
            <button class="button primary" type="submit">"Launch"</button>
        </ActionForm>
    }
}
