//! Making the cluster.

use super::binaries::Binaries;
use super::leftovers;
use super::place::{Place, write_private};
use super::program::{command, run};
use super::{DATABASE, Error, USER};
use rustix::process::Signal;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

const INITDB_LIMIT: Duration = Duration::from_secs(120);
const CREATE_DATABASE_LIMIT: Duration = Duration::from_secs(60);

/// Password over the socket is the one way in, whatever the programs' default is.
const ACCESS: &str = "local all all scram-sha-256\n";

/// Makes the cluster beside its place and renames it when it is whole, database included: one that exists
/// needs no further look at any later start.
pub(super) fn create(place: &Place, binaries: &Binaries, password: &str) -> Result<(), Error> {
    // A killed predecessor's initdb may be ending just now.
    leftovers::settle_draft(place)?;
    remove(&place.draft)?;

    let password_file = place.home.join("initdb.secret");
    write_private(&password_file, password, place.run_as.as_ref())?;
    let made = initdb(place, binaries, &password_file);
    std::fs::remove_file(&password_file).map_err(Error::io("remove", &password_file))?;
    made?;

    create_database(place, binaries)?;
    write_synced(&place.draft.join("pg_hba.conf"), ACCESS)?;
    std::fs::rename(&place.draft, &place.cluster).map_err(Error::io("create", &place.cluster))?;
    let home = File::open(&place.home).and_then(|home| home.sync_all());
    home.map_err(Error::io("sync", &place.home))
}

fn initdb(place: &Place, binaries: &Binaries, password_file: &Path) -> Result<(), Error> {
    let program = binaries.initdb();
    let mut command = command(&program, place, Signal::TERM);
    command
        .arg("--pgdata")
        .arg(&place.draft)
        .arg("--pwfile")
        .arg(password_file)
        .args(["--username", USER, "--auth", "scram-sha-256"])
        .args(["--encoding", "UTF8", "--locale", "C.UTF-8", "--no-instructions"]);
    run(command, &program, "initdb", place, "", INITDB_LIMIT)
}

/// In single-user mode, which needs neither a listening server nor a connection.
fn create_database(place: &Place, binaries: &Binaries) -> Result<(), Error> {
    let program = binaries.postgres();
    let mut command = command(&program, place, Signal::TERM);
    // Single-user mode goes on after a failed statement unless told to end there.
    command.args(["--single", "-c", "exit_on_error=on", "-D"]).arg(&place.draft).arg("template1");
    let statement = format!("create database {DATABASE}\n");
    run(command, &program, "create database", place, &statement, CREATE_DATABASE_LIMIT)
}

fn write_synced(path: &Path, text: &str) -> Result<(), Error> {
    let mut file = File::create(path).map_err(Error::io("open", path))?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(Error::io("write", path))
}

fn remove(directory: &Path) -> Result<(), Error> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io("remove", directory)(error)),
        _ => Ok(()),
    }
}
