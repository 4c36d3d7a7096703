//! The kernel's rules for files, ports, signals and abstract sockets. They hold for all that the program starts.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::{Failure, Naming};
use crate::landlock_abi::LandlockAbi;
use crate::wall::{Right, SYSTEM, Wall};

/// Devices that every program may use; controlling the others takes a right of its own.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

pub fn enforce(wall: &Wall, demanded: LandlockAbi) -> Result<(), Failure> {
    let abi = match demanded.0 {
        0 => return Err(Failure::Said("Landlock: no rules were asked for".to_owned())),
        1 => ABI::V1,
        2 => ABI::V2,
        3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        _ => ABI::V6,
    };
    let status = ruleset(wall, abi)?.restrict_self().naming("Landlock")?;
    if status.ruleset != RulesetStatus::FullyEnforced || !status.no_new_privs {
        return Err(Failure::Said("Landlock: the kernel does not enforce all of it".to_owned()));
    }
    Ok(())
}

fn ruleset(wall: &Wall, abi: ABI) -> Result<RulesetCreated, Failure> {
    let mut rules = empty(abi).naming("Landlock")?;
    for (path, right) in SYSTEM.into_iter().chain([("/proc", Right::Read)]) {
        rules = grant(rules, Path::new(path), access(right, abi), Missing::LeftOut)?;
    }
    for device in DEVICES {
        let access = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::WriteFile | AccessFs::IoctlDev;
        rules = grant(rules, Path::new(device), access & AccessFs::from_all(abi), Missing::LeftOut)?;
    }
    for (path, right) in wall.grants() {
        rules = grant(rules, path, access(right, abi), Missing::Fails)?;
    }
    if !AccessNet::from_all(abi).is_empty() {
        let door = wall.door.map(|port| (port, AccessNet::ConnectTcp.into()));
        let own = wall.own_port.map(|port| (port, AccessNet::ConnectTcp | AccessNet::BindTcp));
        for (port, access) in door.into_iter().chain(own) {
            rules = rules.add_rule(NetPort::new(port, access)).naming("Landlock")?;
        }
    }
    Ok(rules)
}

/// Everything that is handled is refused unless a rule allows it.
fn empty(abi: ABI) -> Result<RulesetCreated, RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))?;
    if !AccessNet::from_all(abi).is_empty() {
        rules = rules.handle_access(AccessNet::from_all(abi))?;
    }
    if !Scope::from_all(abi).is_empty() {
        rules = rules.scope(Scope::from_all(abi))?;
    }
    rules.create()
}

fn access(right: Right, abi: ABI) -> BitFlags<AccessFs> {
    match right {
        Right::Read => AccessFs::ReadFile | AccessFs::ReadDir,
        Right::Run => AccessFs::from_read(abi),
        Right::Write => {
            AccessFs::from_all(abi) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev)
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    LeftOut,
    Fails,
}

fn grant(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
    missing: Missing,
) -> Result<RulesetCreated, Failure> {
    let is_dir = match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound && missing == Missing::LeftOut => {
            return Ok(rules);
        }
        metadata => metadata.naming(path.display().to_string())?.is_dir(),
    };
    // A file has none of a folder's rights, and naming them is an error.
    let access = if is_dir { access } else { access & AccessFs::from_file(ABI::V6) };
    let opened = PathFd::new(path).naming(path.display().to_string())?;
    rules.add_rule(PathBeneath::new(opened, access)).naming(path.display().to_string())
}
