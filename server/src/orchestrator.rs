//! What runs need of the machine: the project as it was, what code does between the agents, and what becomes of it.

mod beginning;
mod code_step;
mod launch;
mod limited;
mod port;
mod recorded;

pub(crate) use code_step::CodeStep;
pub(crate) use limited::Limited;
pub use port::Port;
pub(crate) use recorded::Recorded;
