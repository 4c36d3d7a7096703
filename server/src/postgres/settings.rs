//! How Postgres is set. On the command line, where an edited `postgresql.conf` cannot undo it and a new
//! version of BooCode takes effect at once.

use super::place::Place;
use std::ffi::OsString;

const SETTINGS: &[&str] = &[
    // Nobody reaches it but through the socket.
    "listen_addresses=",
    "unix_socket_permissions=0700",
    "port=5432",
    "password_encryption=scram-sha-256",
    "max_connections=100",
    // Committed means on the disk.
    "fsync=on",
    "full_page_writes=on",
    "synchronous_commit=on",
    // Small: one person's rows, beside models that need the memory.
    "shared_buffers=64MB",
    "huge_pages=off",
    "work_mem=8MB",
    "maintenance_work_mem=32MB",
    "max_wal_size=256MB",
    "min_wal_size=32MB",
    "autovacuum_max_workers=2",
    // A container's /dev/shm is often too small for parallel workers, and the queries are too short for them
    // or for compilation.
    "max_parallel_workers_per_gather=0",
    "max_parallel_maintenance_workers=0",
    "jit=off",
    // Nothing replicates from here, which saves log volume and a process.
    "wal_level=minimal",
    "max_wal_senders=0",
    "max_logical_replication_workers=0",
    "timezone=UTC",
    "log_timezone=UTC",
    // Ours adds the time.
    "log_line_prefix=",
    "log_checkpoints=off",
    // Statements may hold what users wrote.
    "log_min_error_statement=panic",
];

pub(super) fn arguments(place: &Place) -> Vec<OsString> {
    let mut settings: Vec<OsString> = SETTINGS.iter().map(OsString::from).collect();
    settings.push(format!("cluster_name={}", place.name).into());
    settings.push(socket_setting(place.socket_dir.as_os_str().as_encoded_bytes()));
    settings.into_iter().flat_map(|setting| [OsString::from("-c"), setting]).collect()
}

/// The setting is a list; quotes keep a comma or a space in the path from ending the first.
fn socket_setting(dir: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = b"unix_socket_directories=\"".to_vec();
    for byte in dir {
        bytes.extend(std::iter::repeat_n(*byte, if *byte == b'"' { 2 } else { 1 }));
    }
    bytes.push(b'"');
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_socket_directory_is_one_element_of_the_list() {
        for (dir, expected) in [
            (r"/data/run", r#"unix_socket_directories="/data/run""#),
            (r"/a, b/run", r#"unix_socket_directories="/a, b/run""#),
            (r#"/a"b/run"#, r#"unix_socket_directories="/a""b/run""#),
        ] {
            assert_eq!(socket_setting(dir.as_bytes()), expected);
        }
    }
}
