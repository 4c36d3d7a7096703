//! The files as they stand at the composer.

use domain::{
    attachment::{self, Attachment, Media},
    id::AttachmentId,
};
use leptos::prelude::*;

use super::{Attached, Item, State, field_name, files::Chip};
use crate::{
    chat::{Pane, api::Models},
    erased::{Erase, For, Show},
    icon::Icon,
    workspace::Offered,
};

/// The files at the composer, and the fields of its form that name them.
#[component]
pub fn AttachedList() -> impl IntoView {
    let Pane { attached, chosen, .. } = expect_context::<Pane>();
    let Offered(models) = expect_context::<Offered>();
    let items = attached.items;
    let words = move || match attached.ids().len() {
        _ if attached.is_any_on_its_way() => "Attaching…".to_owned(),
        0 => String::new(),
        1 => "One file attached".to_owned(),
        many => format!("{many} files attached"),
    };
    view! {
        <p class="visually-hidden" role="status">{words}</p>
        <Show when=move || !items.read().is_empty()>
            <ul class="files" aria-label="Attached files">
                <For
                    each=move || items.get()
                    key=|item| (item.key, item.state == State::OnItsWay)
                    children=move |item| view! { <AttachedItem item attached /> }
                />
            </ul>
            // A finger finds no tooltip.
            <p class="files-limits">{attachment::limits()}</p>
            <Ids files=Signal::derive(move || attached.ids()) />
        </Show>
        <p class="files-note" role="status">
            {move || models.with(|models| unseen(models, &chosen.model.get(), &attached.files()))}
        </p>
    }
    .erase()
}

/// What is to be said where the model is known not to see what goes along.
fn unseen(models: &Models, model: &str, files: &[Attachment]) -> Option<String> {
    let is_image = |file: &Attachment| matches!(file.media, Media::Image { .. });
    let wanted = model.parse().ok().filter(|_| files.iter().any(is_image))?;
    let (_, model) = models.catalogue.model(&wanted).filter(|(_, model)| model.sees == Some(false))?;
    Some(format!("{} does not take images. Choose a model that does, or leave them out.", model.shown()))
}

#[component]
fn AttachedItem(item: Item, attached: Attached) -> impl IntoView {
    let Item { key, name, state } = item;
    let (class, chip) = match state {
        State::OnItsWay => ("file waits", view! { <span class="file-name">{name.clone()}</span> }.erase()),
        State::There(file) => ("file", view! { <Chip file /> }.erase()),
        State::Refused(reason) => {
            ("file refused", view! { <span class="file-name" role="alert">{reason}</span> }.erase())
        }
    };
    view! {
        <li class=class>
            {chip}
            <button
                type="button"
                class="icon-button"
                aria-label=format!("Remove {name}")
                on:click=move |_| attached.remove(key)
            >
                {Icon::Close.view()}
            </button>
        </li>
    }
    .erase()
}

/// The fields that name files.
#[component]
pub fn Ids(files: Signal<Vec<AttachmentId>>) -> impl IntoView {
    move || {
        let field = |(at, id): (usize, AttachmentId)| {
            view! { <input type="hidden" name=field_name(at) value=id.to_string() /> }
        };
        files.get().into_iter().enumerate().map(field).collect_view().erase()
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        attachment::ImageType,
        catalogue::{Catalogue, Flavour, Lane, Model, ModelServer, ServerState},
    };

    use super::*;

    #[test]
    fn a_picture_for_a_model_that_sees_none_is_spoken_of() {
        let model = |id: &str, sees| Model { sees, ..Model::named(id) };
        let server = ModelServer {
            name: "local".into(),
            flavour: Flavour::LlamaCpp,
            lane: Lane::Local,
            base_url: String::new(),
            state: ServerState::Reachable,
            models: vec![model("blind", Some(false)), model("seeing", Some(true)), model("unknown", None)],
            also_speaks: Vec::new(),
            machine: None,
        };
        let models = Models { catalogue: Catalogue { servers: vec![server] }, default: None };
        let file = |media| {
            let id = AttachmentId(uuid::Uuid::nil());
            vec![Attachment { id, name: "a".into(), media, bytes: 1, is_mention: false }]
        };
        let (text, image) = (file(Media::Text), file(Media::Image { mime: ImageType::Png }));
        let words = unseen(&models, "local/blind", &image);
        assert!(words.is_some_and(|words| words.starts_with("blind does not take images")));
        for (model, files) in [
            ("local/blind", &text),
            ("local/seeing", &image),
            ("local/unknown", &image),
            ("local/gone", &image),
            ("", &image),
        ] {
            assert_eq!(unseen(&models, model, files), None, "{model}");
        }
    }
}
