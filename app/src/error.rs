//! Everything that a browser may see of an error, split by who acts on it. Causes stay on the server.

use domain::Rejected;
use leptos::server_fn::{
    Bytes, Decodes,
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

    /// What fails and is not in our words was said by something in between, while the server is away.
    fn de(data: Bytes) -> Self {
        <JsonEncoding as Decodes<Self>>::decode(data).unwrap_or(Self::Unavailable)
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
    use axum::http::{StatusCode, header, request::Parts};
    use leptos::prelude::use_context;
    use leptos_axum::ResponseOptions;

    use super::{AppError, Rejected};

    pub(super) fn tell(error: &AppError) {
        // A plain form is led back to its page, which shows the error; another status would stop it there.
        let is_form = use_context::<Parts>().is_some_and(|request| {
            let accepts = request.headers.get(header::ACCEPT).and_then(|accepts| accepts.to_str().ok());
            accepts.is_some_and(|accepts| accepts.contains("text/html"))
        });
        if let (Some(response), false) = (use_context::<ResponseOptions>(), is_form) {
            response.set_status(of(error));
        }
    }

    fn of(error: &AppError) -> StatusCode {
        match error {
            AppError::Rejected(Rejected::Missing { .. }) => StatusCode::NOT_FOUND,
            AppError::Rejected(
                Rejected::Busy | Rejected::Idle | Rejected::Stale | Rejected::QueueFull { .. },
            ) => StatusCode::CONFLICT,
            AppError::Rejected(_) | AppError::Invalid(_) | AppError::NotARepository { .. } => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
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
        check(AppError::Internal { trace: "0198".into() });
        check(AppError::Offline);
    }
}
