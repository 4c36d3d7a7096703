//! What a Coder has beyond a chat: who does the work, what it calls for, what it asks, and what it changed.

pub mod api;
mod backend_picker;
mod changes;
mod permission;
mod review;
mod tool_call;

pub use backend_picker::{
    BackendPicker, WorkAgain, WorkOptions, ask_again as ask_for_backends, chosen_backend,
    options as backend_options,
};
pub use changes::{Changes, left_out};
pub use permission::Permission;
pub use review::Review;
pub use tool_call::{PlanView, ToolCall};
