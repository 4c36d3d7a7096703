//! How much of the machine one program may take, as far as the kernel counts it. What all of a task's files take
//! together the server watches; memory is not bounded, since agents reserve many times what they use.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{Failure, Naming};

/// No work of an agent is one file of this size; a runaway is.
const FILE_BYTES_MAX: u64 = 16 << 30;
/// Threads too. They are counted for each namespace; without one they would be all of the user's.
const PROCESSES_MAX: u64 = 8192;

pub fn enforce(namespaces: bool) -> Result<(), Failure> {
    lower(Resource::Fsize, FILE_BYTES_MAX)?;
    lower(Resource::Core, 0)?;
    if namespaces {
        lower(Resource::Nproc, PROCESSES_MAX)?;
    }
    Ok(())
}

/// What is lower already stays so.
fn lower(resource: Resource, max: u64) -> Result<(), Failure> {
    let known = getrlimit(resource);
    let least = |own: Option<u64>| Some(own.map_or(max, |own| own.min(max)));
    let lower = Rlimit { current: least(known.current), maximum: least(known.maximum) };
    setrlimit(resource, lower).naming("limits could not be set")
}
