//! What a Coder has beyond a chat: who does the work, what it calls for, what it asks, and what it changed.

pub mod api;
mod backend_picker;
mod bring_dialog;
mod changes;
pub mod code;
mod permission;
mod review;
mod tool_call;

use backend_picker::{BackendPicker, WorkOptions};
pub use backend_picker::{
    WorkAgain, ask_again as ask_for_backends, chosen_backend, options as backend_options,
};
pub use bring_dialog::{Bring, BringDialog};
use changes::Changes;
pub use changes::left_out;
pub use permission::Permission;
pub use review::Review;
pub use tool_call::{PlanView, ToolCall};
