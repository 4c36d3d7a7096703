//! The code of the diff. It comes when somebody first looks at changes.

use domain::diff::{Comment, Of};
use leptos::prelude::*;

use super::DiffView;
use crate::{
    chunk::chunk,
    erased::{Erase, Erased},
};

fn show((of, on_comments): (Of, Callback<Vec<Comment>>)) -> Erased {
    view! { <DiffView of on_comments /> }.erase()
}

chunk!(diff, (Of, Callback<Vec<Comment>>), show, "Loading the changes");

pub fn view(of: Of, on_comments: Callback<Vec<Comment>>) -> Erased {
    CHUNK.view((of, on_comments))
}
