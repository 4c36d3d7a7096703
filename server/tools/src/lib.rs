//! The tools of BooCode's own agent, as a program that runs behind the wall.
//!
//! The server asks over the program's standard input, a line of JSON for each call, and reads a line for each
//! answer. So nothing here has to keep anybody inside: whatever a path or a command leads to, the wall decides.
//! Answers are bounded, because a model reads them and pays for each word.

mod answer;
mod call;
mod old_answers;
mod schema;
mod serve;
mod tool;

pub use answer::Answer;
pub use call::Call;
pub use old_answers::old_answers;
pub use schema::{Schema, schemas};
pub use serve::serve;
