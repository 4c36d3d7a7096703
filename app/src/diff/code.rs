//! The code of the diff. It comes when somebody first looks at changes.

use domain::diff::{Comment, Of};
use leptos::prelude::*;

use super::{DiffView, sides::Sides};
use crate::{
    chunk::chunk,
    erased::{Erase, Erased},
};

fn show((of, on_comments): (Of, Option<Callback<Vec<Comment>>>)) -> Erased {
    let sides = Sides::new(of);
    provide_context(sides);
    (move || {
        let of = sides.of.get();
        view! { <DiffView of on_comments /> }.erase()
    })
    .erase()
}

chunk!(diff, (Of, Option<Callback<Vec<Comment>>>), show, "Loading the changes");

pub fn view(of: Of, on_comments: Option<Callback<Vec<Comment>>>) -> Erased {
    CHUNK.view((of, on_comments))
}
