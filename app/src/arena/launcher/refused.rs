//! What the server refused of a launch, told where it was filled in.

use leptos::prelude::*;

use crate::{
    erased::{Erase, Erased},
    error::AppError,
    form::Submission,
};

#[derive(Clone, Copy)]
pub struct Refused(pub Submission);

impl Refused {
    pub fn at(self, field: &str) -> Option<String> {
        match self.0.failure() {
            Some(AppError::AtField { field: at, why }) if at == field => Some(why),
            _ => None,
        }
    }

    /// Why, below the field; nothing where that is fine.
    pub fn view(self, field: impl AsRef<str> + Send + 'static) -> Erased {
        let why = move || {
            self.at(field.as_ref()).map(|why| view! { <p class="field-error" role="alert">{why}</p> })
        };
        why.erase()
    }

    /// What belongs to no field.
    pub fn elsewhere(self) -> Option<AppError> {
        self.0.failure().filter(|error| !matches!(error, AppError::AtField { .. }))
    }
}
