//! Everything that a browser may see of an error, split by who acts on it. Causes stay on the server.

use domain::{Rejected, json};
use leptos::server_fn::{
    Bytes,
    codec::JsonEncoding,
    error::{FromServerFnError, ServerFnErrorErr},
};
use serde::{Deserialize, Serialize};

/// The tag is called as the login check calls it, so that its refusals are read by the same type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "error", content = "detail", rename_all = "snake_case")]
pub enum AppError {
    #[error(transparent)]
    Rejected(Rejected),
    #[error("{0}")]
    Invalid(String),
    #[error("{path} is not a git repository yet.")]
    NotARepository { path: String },
    /// What is wrong with one field of a form, by its name there.
    #[error("{why}")]
    AtField { field: String, why: String },
    /// With what was typed, which a plain form would lose on its way back.
    #[error("{why}")]
    FolderRefused { typed: String, why: String },
    #[error(
        "Something went wrong on the server; nothing was changed. Try again. If it stays, the server's log \
         tells more under {trace}."
    )]
    Internal { trace: String },
    #[error("You are signed out. Log in again.")]
    NotLoggedIn,
    #[error("The server is busy starting or stopping. Try again in a moment.")]
    Unavailable,
    #[error("BooCode cannot be reached. What you wrote is kept here; try again when it is back.")]
    Offline,
    #[error("The server's answer could not be read. Reload the page: it may be of another version.")]
    Unreadable,
}

impl From<Rejected> for AppError {
    fn from(rejected: Rejected) -> Self {
        Self::Rejected(rejected)
    }
}

impl AppError {
    /// What fails and is not in our words was said by something in between, while the server is away.
    pub fn read(text: &str) -> Self {
        json::read(text).unwrap_or(Self::Unavailable)
    }
}

impl FromServerFnError for AppError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Request(_) => Self::Offline,
            ServerFnErrorErr::Args(cause) | ServerFnErrorErr::MissingArg(cause) => {
                Self::Invalid(format!("The form was not filled in as expected: {cause}."))
            }
            _ => Self::Unreadable,
        }
    }

    fn de(data: Bytes) -> Self {
        std::str::from_utf8(&data).map_or(Self::Unavailable, Self::read)
    }

    /// Where an error leaves the server, its status is set: programs and logs read from it who has to act.
    #[cfg(feature = "ssr")]
    fn ser(&self) -> Bytes {
        status::tell(self);
        <JsonEncoding as leptos::server_fn::Encodes<Self>>::encode(self).unwrap_or_default()
    }
}

#[cfg(feature = "ssr")]
impl AppError {
    pub fn status(&self) -> axum::http::StatusCode {
        status::of(self)
    }

    /// The same as a refusal of one field, where it is one.
    pub fn at(self, field: impl Into<String>) -> Self {
        match self {
            Self::Rejected(rejected) => Self::AtField { field: field.into(), why: rejected.to_string() },
            Self::Invalid(why) => Self::AtField { field: field.into(), why },
            error => error,
        }
    }

    /// Logs the cause under an id, and tells the browser the id alone.
    pub fn internal(cause: &(dyn std::error::Error + 'static)) -> Self {
        let trace = uuid::Uuid::now_v7().simple().to_string();
        tracing::error!(%trace, error = cause, "a request failed");
        Self::Internal { trace }
    }
}

#[cfg(feature = "ssr")]
impl From<store::Error> for AppError {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Rejected(rejected) => Self::Rejected(rejected),
            cause => Self::internal(&cause),
        }
    }
}

#[cfg(feature = "ssr")]
mod status {
    use axum::http::StatusCode;
    use leptos::prelude::use_context;
    use leptos_axum::ResponseOptions;

    use super::{AppError, Rejected};
    use crate::ports;

    pub(super) fn tell(error: &AppError) {
        // A plain form is led back to its page, which shows the error; another status would stop it there.
        if let (Some(response), false) = (use_context::<ResponseOptions>(), ports::is_plain_form()) {
            response.set_status(of(error));
        }
    }

    pub(super) fn of(error: &AppError) -> StatusCode {
        match error {
            AppError::Rejected(Rejected::Missing { .. }) => StatusCode::NOT_FOUND,
            AppError::Rejected(
                Rejected::Busy
                | Rejected::Idle
                | Rejected::Stale
                | Rejected::QueueFull { .. }
                | Rejected::NotNow(_),
            ) => StatusCode::CONFLICT,
            AppError::Rejected(_)
            | AppError::Invalid(_)
            | AppError::AtField { .. }
            | AppError::NotARepository { .. }
            | AppError::FolderRefused { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            AppError::NotLoggedIn => StatusCode::UNAUTHORIZED,
            AppError::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            AppError::Internal { .. } | AppError::Offline | AppError::Unreadable => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_login_check_says_is_understood() {
        let check = |json: &str, expected: AppError| {
            assert_eq!(AppError::de(json.to_owned().into()), expected, "{json}");
        };
        check(r#"{"error":"not_logged_in","message":"You are not logged in."}"#, AppError::NotLoggedIn);
        check(r#"{"error":"unavailable","message":"later"}"#, AppError::Unavailable);
        check(r#"{"error":"rejected","detail":"busy"}"#, AppError::Rejected(Rejected::Busy));
        check("<html>502 Bad Gateway</html>", AppError::Unavailable);
    }

    #[test]
    fn an_error_survives_the_way_to_the_browser() {
        let check = |error: AppError| assert_eq!(AppError::de(error.ser()), error);
        check(AppError::Rejected(Rejected::QueueFull { max: 20 }));
        check(AppError::NotARepository { path: "/src/shop".into() });
        check(AppError::FolderRefused { typed: "shop".into(), why: "no".into() });
        check(AppError::Rejected(Rejected::Empty).at("prompt"));
        check(AppError::Internal { trace: "0198".into() });
        check(AppError::Offline);
    }
}
