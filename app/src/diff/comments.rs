//! Comments on lines: written at a row, kept until they are sent together.

use domain::diff::{Comment, Side};
use leptos::{ev::KeyboardEvent, html, prelude::*};

use super::{state::Diff, written::Draft};
use crate::{
    erased::{Erase, Erased, For, effect},
    icon::Icon,
    ui::{Button, ButtonKind, IconButton},
};

/// The button beside a row, and the small form under the one that is commented on.
pub fn written_here(diff: Diff) -> Erased {
    // Which of the waiting ones it is may change while it is written.
    let written = Memo::new(move |_| diff.draft.with(|own| own.as_ref().map(|own| own.comment.clone())));
    view! {
        <button class="diff-plus" type="button" tabindex="-1" aria-label="Comment on this line" hidden=true>
            "+"
        </button>
        {move || written.get().map(|comment| editor(diff, &comment))}
    }
    .erase()
}

fn editor(diff: Diff, comment: &Comment) -> Erased {
    let (form, area) = (NodeRef::<html::Form>::new(), NodeRef::<html::Textarea>::new());
    let (place, text) = (place_of(comment), comment.text.clone());
    let is_new = move || diff.draft.with(|draft| draft.as_ref().is_none_or(|draft| draft.index.is_none()));
    let mut is_placed = false;
    effect(move || {
        if let (Some(form), Some(area), Some(row)) = (form.get(), area.get(), diff.place.get()) {
            put(diff, &form, row);
            // Later, only the rows have moved.
            if !std::mem::replace(&mut is_placed, true) {
                crate::device::reveal(&form);
                area.focus().ok();
            }
        }
    });
    let keep = move || {
        if !diff.typed.with_untracked(|typed| typed.trim().is_empty()) {
            diff.keep_comment();
        } else if let Some(area) = area.get_untracked() {
            area.focus().ok();
        }
    };
    let close = move || {
        diff.draft.set(None);
        diff.focus_rows();
    };
    let on_key = move |key: KeyboardEvent| {
        // What is typed here is no key of the rows.
        key.stop_propagation();
        if key.key() == "Escape" {
            close();
        } else if key.key() == "Enter" && (key.ctrl_key() || key.meta_key()) {
            key.prevent_default();
            keep();
        }
    };
    let label = format!("Comment on {place}");
    let id = diff.name.with_value(|name| format!("{name}-comment"));
    let target = id.clone();
    let name = label.clone();
    view! {
        <form
            class="diff-editor"
            aria-label=name
            // Until its row is known.
            hidden=true
            node_ref=form
            on:submit=move |submit| {
                submit.prevent_default();
                keep();
            }
            on:keydown=on_key
        >
            <label class="diff-editor-label" for=target>{label}</label>
            <textarea
                id=id
                class="input"
                rows="3"
                node_ref=area
                placeholder="What should change here?"
                on:input:target=move |typed| diff.typed.set(typed.target().value())
            >
                {text}
            </textarea>
            <div class="diff-editor-actions">
                <Button kind=ButtonKind::Ghost small=true on_click=Callback::new(move |()| close())>"Cancel"</Button>
                <Button kind=ButtonKind::Primary small=true submit=true>
                    {move || if is_new() { "Add comment" } else { "Save comment" }}
                </Button>
            </div>
        </form>
    }
    .erase()
}

/// The comments that wait.
#[component]
pub fn Comments(diff: Diff, on_comments: Callback<Vec<Comment>>) -> impl IntoView {
    let count = move || diff.comments.with(Vec::len);
    let content = move || {
        (count() > 0).then(|| {
            let words = if count() == 1 { "1 comment".to_owned() } else { format!("{} comments", count()) };
            let send = Callback::new(move |()| on_comments.run(diff.take_comments()));
            view! {
                <section class="diff-comments" aria-label="Comments to be sent">
                    <header>
                        {Icon::Chat.view()}
                        <h3>{words}</h3>
                        <Button kind=ButtonKind::Primary small=true on_click=send>"Send comments"</Button>
                    </header>
                    <ul class="diff-comment-list">
                        <For
                            each=move || diff.comments.get().into_iter().enumerate().collect()
                            key=|(index, comment): &(usize, Comment)| {
                                format!("{index} {} {}", place_of(comment), comment.text)
                            }
                            children=move |(index, comment)| waiting(diff, index, comment)
                        />
                    </ul>
                </section>
            }
            .erase()
        })
    };
    content.erase()
}

fn waiting(diff: Diff, index: usize, comment: Comment) -> Erased {
    let place = place_of(&comment);
    let (edit_name, remove_name) =
        (format!("Edit the comment on {place}"), format!("Remove the comment on {place}"));
    let text = comment.text.clone();
    let edit = Callback::new(move |()| {
        diff.write(Draft { comment: comment.clone(), index: Some(index) }, None);
    });
    view! {
        <li class="diff-comment">
            <div class="diff-comment-words">
                <span class="diff-comment-place">{place}</span>
                <span>{text}</span>
            </div>
            <IconButton small=true icon=Icon::Edit name=edit_name on_click=edit />
            <IconButton
                small=true
                icon=Icon::Trash
                name=remove_name
                on_click=Callback::new(move |()| diff.remove_comment(index))
            />
        </li>
    }
    .erase()
}

fn place_of(comment: &Comment) -> String {
    let side = match comment.side {
        Side::Old => ", before the change",
        Side::New => "",
    };
    format!("{}, line {}{side}", comment.path, comment.line)
}

#[cfg(feature = "hydrate")]
fn put(diff: Diff, form: &leptos::web_sys::HtmlFormElement, row: u32) {
    let style = leptos::web_sys::HtmlElement::style(form);
    if let Some(bottom) = diff.with_screen(|screen| screen.bottom(row)) {
        style.set_property("top", &format!("{}px", bottom as i64)).ok();
    }
    form.set_hidden(false);
}

#[cfg(not(feature = "hydrate"))]
fn put(_diff: Diff, _form: &leptos::web_sys::HtmlFormElement, _row: u32) {}
