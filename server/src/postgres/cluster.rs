//! Making the cluster.

use super::binaries::Binaries;
use super::leftovers;
use super::place::Place;
use super::program::{command, run};
use super::verifier::verifier;
use super::{Error, USER};
use crate::private_file;
use rustix::process::Signal;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

const INITDB_LIMIT: Duration = Duration::from_secs(120);

/// Makes the cluster beside its place and renames it when it is whole, so one that exists needs no further
/// look at any later start.
pub(super) fn create(place: &Place, binaries: &Binaries, password: &str) -> Result<(), Error> {
    leftovers::sweep_drafts(place)?;

    let password_file = place.home.join("initdb.secret");
    private_file::write(&password_file, verifier(password).as_bytes(), place.run_as.as_ref())
        .map_err(Error::io("write", &password_file))?;
    let made = initdb(place, binaries, &password_file);
    std::fs::remove_file(&password_file).map_err(Error::io("remove", &password_file))?;
    made?;

    std::fs::rename(&place.draft, &place.cluster).map_err(Error::io("create", &place.cluster))?;
    let home = File::open(&place.home).and_then(|home| home.sync_all());
    home.map_err(Error::io("sync", &place.home))?;
    leftovers::sweep_drafts(place)
}

fn initdb(place: &Place, binaries: &Binaries, password_file: &Path) -> Result<(), Error> {
    let program = binaries.initdb();
    let mut command = command(&program, place, Signal::KILL);
    // The password is the one way in, from the first moment.
    command
        .arg("--pgdata")
        .arg(&place.draft)
        .arg("--pwfile")
        .arg(password_file)
        .args(["--username", USER, "--auth", "scram-sha-256"])
        .args(["--encoding", "UTF8", "--locale", "C.UTF-8", "--no-instructions"]);
    run(command, &program, "initdb", place, INITDB_LIMIT)
}
