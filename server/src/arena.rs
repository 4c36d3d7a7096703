//! What battles need of the machine: results that are kept, checks in clean trees, and what becomes of all that.

mod check;
mod contesting;
mod digesting;
mod fitting;
mod launch;
mod named;
mod port;
mod results;

pub(crate) use check::{CheckRun, Of};
pub(crate) use contesting::Contesting;
pub(crate) use digesting::Digesting;
pub(crate) use fitting::{Fitting, Told};
pub use port::Port;
pub(crate) use results::Results;
