//! Another kernel than the one that the tests run on, for processes that are started there.

use std::{collections::BTreeMap, thread};

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
use tokio::runtime::Handle;

/// The system call that everything of Landlock begins with.
const LANDLOCK_CREATE_RULESET: i64 = 444;

/// One that has never heard of Landlock. What a thread may not call, the processes that it starts may not either; so it is
/// a thread of its own.
pub fn on_one_without_landlock<T: Send + 'static>(start: impl FnOnce() -> T + Send + 'static) -> T {
    let runtime = Handle::current();
    let started = thread::spawn(move || {
        let rules = BTreeMap::from([(LANDLOCK_CREATE_RULESET, Vec::new())]);
        let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
        let unknown = SeccompAction::Errno(rustix::io::Errno::NOSYS.raw_os_error() as u32);
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, unknown, arch).unwrap();
        let program: BpfProgram = filter.try_into().unwrap();
        seccompiler::apply_filter(&program).unwrap();
        let _within = runtime.enter();
        start()
    });
    started.join().unwrap()
}
