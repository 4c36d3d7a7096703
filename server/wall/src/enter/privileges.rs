//! No capability, and no way to gain one.
//!
//! The user stays: as root, a process without capabilities is a user like any other, who happens to own the system.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use super::{Failure, Naming};

pub fn drop_all() -> Result<(), Failure> {
    let what = "capabilities could not be given up";
    set_no_new_privs(true).naming(what)?;
    clear_ambient_capability_set().naming(what)?;
    let held = capabilities(None).naming(what)?;
    // Without it nothing is held that executing a program as root could bring back.
    if held.effective.contains(CapabilitySet::SETPCAP) {
        for number in 0..u64::BITS {
            let capability = CapabilitySet::from_bits_retain(1 << number);
            // Past the last that the kernel knows, the question itself is an error.
            if let Ok(true) = capability_is_in_bounding_set(capability) {
                remove_capability_from_bounding_set(capability).naming(what)?;
            }
        }
    }
    let none = CapabilitySet::empty();
    let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, none).naming(what)?;
    let regained = rustix::process::geteuid().is_root() && has_bounding_set();
    if regained || capabilities(None).naming(what)? != none {
        return Err(Failure::Said(format!("{what}: the kernel kept some")));
    }
    Ok(())
}

fn has_bounding_set() -> bool {
    (0..u64::BITS).any(|number| {
        capability_is_in_bounding_set(CapabilitySet::from_bits_retain(1 << number)).unwrap_or(false)
    })
}
