//! The colours of code in a text. The server knows the grammars; what it has not told yet is plain.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use crate::ports;
use crate::{
    erased::{Erase, Erased},
    error::AppError,
    wire::Wire,
};

/// A longer text stays plain.
pub const CODE_BYTES_MAX: usize = 64 * 1024;
/// So much is asked for at once.
pub const ASKED_BYTES_MAX: usize = 256 * 1024;

/// Some code, and what the text calls its language.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Code {
    pub lang: String,
    pub text: String,
}

/// From which byte to which, and the letter of the colour. In order, without overlaps.
pub type Run = (u32, u32, u8);

/// For each piece of code its colours.
#[server(endpoint = "colour_code", protocol = Wire)]
pub async fn colour_code(#[server(default)] code: Vec<Code>) -> Result<Vec<Vec<Run>>, AppError> {
    ports::code_colours()?.of(code).await
}

/// `text` with the colours that are known by now; asks for them once nothing more is written to it.
pub(super) fn coloured(lang: &str, text: &str, is_settled: Signal<bool>) -> Erased {
    if lang.is_empty() || text.len() > CODE_BYTES_MAX {
        return text.to_owned().erase();
    }
    let (text, runs) = (text.to_owned(), RwSignal::new(Vec::new()));
    #[cfg(feature = "hydrate")]
    crate::erased::effect({
        let code = Code { lang: lang.to_owned(), text: text.clone() };
        move || {
            if is_settled.get() {
                asking::ask(code.clone(), runs);
            }
        }
    });
    #[cfg(not(feature = "hydrate"))]
    let _ = is_settled;
    (move || spans(&text, &runs.read())).erase()
}

fn spans(text: &str, runs: &[Run]) -> Erased {
    let mut pieces = Vec::new();
    let mut at = 0;
    for (start, end, letter) in runs {
        let (start, end) = (*start as usize, *end as usize);
        let (Some(plain), Some(inked)) = (text.get(at..start), text.get(start..end)) else { break };
        if !plain.is_empty() {
            pieces.push(plain.to_owned().erase());
        }
        let class = char::from(*letter).to_string();
        pieces.push(view! { <span class=class>{inked.to_owned()}</span> }.erase());
        at = end;
    }
    pieces.push(text.get(at..).unwrap_or_default().to_owned().erase());
    pieces.erase()
}

/// A page that opens has many pieces of code at once, so what is asked for in one frame is asked together.
#[cfg(feature = "hydrate")]
mod asking {
    use std::{cell::RefCell, mem};

    use leptos::{prelude::*, task::spawn_local};

    use super::{ASKED_BYTES_MAX, Code, Run, colour_code};

    type Asked = (Code, RwSignal<Vec<Run>>);

    thread_local! {
        static ASKED: RefCell<Vec<Asked>> = const { RefCell::new(Vec::new()) };
    }

    pub fn ask(code: Code, runs: RwSignal<Vec<Run>>) {
        let is_first = ASKED.with_borrow_mut(|asked| {
            asked.push((code, runs));
            asked.len() == 1
        });
        if is_first {
            request_animation_frame(|| spawn_local(send(ASKED.with_borrow_mut(mem::take))));
        }
    }

    async fn send(asked: Vec<Asked>) {
        let mut left = asked.into_iter().peekable();
        while left.peek().is_some() {
            let (mut code, mut waiting, mut bytes) = (Vec::new(), Vec::new(), 0);
            while let Some((next, runs)) =
                left.next_if(|(next, _)| code.is_empty() || bytes + next.text.len() <= ASKED_BYTES_MAX)
            {
                bytes += next.text.len();
                code.push(next);
                waiting.push(runs);
            }
            // Without an answer it stays plain, which can be read as well.
            let Ok(told) = colour_code(code).await else { return };
            for (runs, told) in waiting.into_iter().zip(told) {
                runs.try_set(told);
            }
        }
    }
}
