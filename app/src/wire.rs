//! How the browser asks the server. One function sends every request, so that a server function adds to the
//! page what is its own and nothing else.

use std::future::Future;

use leptos::server_fn::{
    Http, Protocol,
    client::Client,
    codec::{Json, PostUrl},
    server::Server,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::error::AppError;

/// The protocol of a server function that the browser calls, `#[server(protocol = Wire)]`. On the wire it is
/// what Leptos does by itself: fields in, JSON out.
pub struct Wire;

type Usual = Http<PostUrl, Json>;

impl<In, Out, C, S> Protocol<In, Out, C, S, AppError> for Wire
where
    Usual: Protocol<In, Out, C, S, AppError>,
    In: Serialize + Send,
    Out: DeserializeOwned + Send,
    C: Client<AppError>,
    S: Server<AppError>,
{
    const METHOD: http::Method = <Usual as Protocol<In, Out, C, S, AppError>>::METHOD;

    fn run_server<F, Fut>(
        request: S::Request,
        server_fn: F,
    ) -> impl Future<Output = Result<S::Response, AppError>> + Send
    where
        F: Fn(In) -> Fut + Send,
        Fut: Future<Output = Result<Out, AppError>> + Send,
    {
        <Usual as Protocol<In, Out, C, S, AppError>>::run_server(request, server_fn)
    }

    #[cfg(not(feature = "hydrate"))]
    fn run_client(path: &str, input: In) -> impl Future<Output = Result<Out, AppError>> + Send {
        <Usual as Protocol<In, Out, C, S, AppError>>::run_client(path, input)
    }

    #[cfg(feature = "hydrate")]
    async fn run_client(path: &str, input: In) -> Result<Out, AppError> {
        let fields = serde_qs::to_string(&input).map_err(|_| AppError::Unreadable)?;
        drop(input);
        let answer = send_wrapper::SendWrapper::new(browser::post(path, fields)).await?;
        domain::json::read(&answer).map_err(|_| AppError::Unreadable)
    }
}

#[cfg(feature = "hydrate")]
pub use browser::post;

#[cfg(feature = "hydrate")]
mod browser {
    use leptos::{
        prelude::window,
        server_fn::redirect::{REDIRECT_HEADER, call_redirect_hook},
    };
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::JsFuture;
    use web_sys::{AbortSignal, Headers, RequestInit, Response};

    use crate::error::AppError;

    /// Longer than anything that is asked takes; what works on is told by the feed.
    const ANSWER_MS_MAX: u32 = 60_000;
    const NO_ANSWER: AppError = AppError::Offline;

    /// Sends the fields of a form and returns the body of the answer. Where the server leads elsewhere, the page
    /// follows.
    pub async fn post(path: &str, fields: String) -> Result<String, AppError> {
        let response = fetch(path, &fields).await.map_err(|_| NO_ANSWER)?;
        let body = response.text().map_err(|_| NO_ANSWER)?;
        let body = JsFuture::from(body).await.map_err(|_| NO_ANSWER)?.as_string().unwrap_or_default();
        if response.status() >= 400 {
            return Err(AppError::read(&body));
        }
        let headers = response.headers();
        if headers.has(REDIRECT_HEADER).unwrap_or_default()
            && let Some(place) = headers.get("location").ok().flatten()
        {
            call_redirect_hook(&place);
        }
        Ok(body)
    }

    async fn fetch(path: &str, fields: &str) -> Result<Response, JsValue> {
        let headers = Headers::new()?;
        headers.set("accept", "application/json")?;
        headers.set("content-type", "application/x-www-form-urlencoded")?;
        let request = RequestInit::new();
        request.set_method("POST");
        request.set_headers(&headers);
        request.set_body(&fields.into());
        request.set_signal(Some(&AbortSignal::timeout_with_u32(ANSWER_MS_MAX)));
        let response = JsFuture::from(window().fetch_with_str_and_init(path, &request)).await?;
        response.dyn_into()
    }
}
