//! The embedded Postgres through everything that can kill it, on a real one.

// Says what is true of the whole file, for clippy: it allows a helper to panic only under this.
#[cfg(test)]
#[path = "postgres/harness.rs"]
mod harness;

use harness::{Scratch, Server, as_postgres, bounded, kept, open, rows, run_as, write_row};
use rustix::process::Signal;
use server::data_dir::DataDir;
use server::postgres::{Embedded, Error};
use sqlx::ConnectOptions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// Not a test: the other process of the tests below, which run this one as a server of its own.
#[test]
fn server_process() {
    harness::serve_if_asked();
}

#[test]
fn first_and_second_start() {
    bounded(async {
        let scratch = Scratch::new();
        let dir = open(&scratch.data());
        let first = Embedded::start(&dir, None).await.unwrap();
        let pid = first.pid().unwrap();
        write_row(&first).await;
        write_row(&first).await;
        first.stop().await.unwrap();
        assert!(!harness::lives(pid));
        assert_eq!(scratch.processes(), 0);

        let second = Embedded::start(&dir, None).await.unwrap();
        assert_eq!(rows(&second).await, [1, 2]);
        assert_ne!(second.pid(), Some(pid));
        second.stop().await.unwrap();
    });
}

#[test]
fn only_the_password_over_the_socket_gets_in() {
    bounded(async {
        let scratch = Scratch::with_cluster().await;
        let postgres = Embedded::start(&open(&scratch.data()), None).await.unwrap();
        let setting = async |name: &str| -> String {
            let mut connection = postgres.connect_options().connect().await.unwrap();
            sqlx::query_scalar("select current_setting($1)")
                .bind(name)
                .fetch_one(&mut connection)
                .await
                .unwrap()
        };
        // The control: with the password it works.
        for (name, value) in [
            ("listen_addresses", ""),
            ("fsync", "on"),
            ("synchronous_commit", "on"),
            ("max_connections", "100"),
            ("server_encoding", "UTF8"),
        ] {
            assert_eq!(setting(name).await, value, "{name}");
        }
        for (user, database) in [("boocode", "boocode"), ("boocode", "postgres"), ("postgres", "boocode")] {
            let wrong = postgres.connect_options().username(user).database(database).password("wrong");
            let refused = wrong.connect().await.unwrap_err();
            let code =
                refused.as_database_error().and_then(|error| error.code().map(|code| code.into_owned()));
            assert_eq!(code.as_deref(), Some("28P01"), "{user}@{database}: {refused}");
        }
        let mode = |path: &str| scratch.data().join(path).metadata().unwrap().mode() & 0o777;
        assert_eq!(mode("postgres.secret"), 0o600);
        assert_eq!(mode("postgres"), 0o700);
        assert_eq!(mode("postgres/run"), 0o700);
        let owner = scratch.data().join("postgres.secret").metadata().unwrap().uid();
        assert_eq!(owner, rustix::process::geteuid().as_raw());
        assert!(!scratch.data().join("postgres/initdb.secret").exists());
        postgres.stop().await.unwrap();
    });
}

/// Six streams at full speed are such tasks. The control is a password as Postgres keeps it by default.
#[test]
fn a_login_does_not_queue_behind_tasks_that_never_rest() {
    bounded(async {
        let scratch = Scratch::with_cluster().await;
        let postgres = Embedded::start(&open(&scratch.data()), None).await.unwrap();
        let mut connection = postgres.connect_options().connect().await.unwrap();
        sqlx::query("create role usual login password 'usual'").execute(&mut connection).await.unwrap();
        let usual = postgres.connect_options().username("usual").password("usual");

        let turns = harness::turns_of_others(postgres.connect_options()).await;
        let turns_by_default = harness::turns_of_others(usual).await;
        assert!(turns < 5_000, "others had {turns} turns before a login was through");
        assert!(turns_by_default > 20_000, "the control had to wait for {turns_by_default} only");
        postgres.stop().await.unwrap();
    });
}

#[test]
fn killed_server() {
    bounded(async {
        let scratch = Scratch::with_cluster().await;
        let mut server = Server::start(&scratch);
        let postmaster = server.ready();
        let committed = server.rows(50);
        server.kill();

        let postgres = Embedded::start(&open(&scratch.data()), None).await.unwrap();
        assert!(!harness::lives(postmaster), "the old one ended before the new one started");
        kept(&postgres, committed).await;
        postgres.stop().await.unwrap();
    });
}

#[test]
fn killed_server_and_postgres() {
    bounded(async {
        let scratch = Scratch::with_cluster().await;
        let mut server = Server::start(&scratch);
        let postmaster = server.ready();
        let committed = server.rows(50);
        // Stopped, it cannot reap: the postmaster is a zombie when its server dies.
        server.signal(Signal::STOP);
        harness::kill(postmaster, Signal::KILL);
        server.kill();

        let postgres = Embedded::start(&open(&scratch.data()), None).await.unwrap();
        kept(&postgres, committed).await;
        postgres.stop().await.unwrap();
        assert_eq!(scratch.processes(), 0);
    });
}

#[test]
fn killed_postgres_comes_back_until_it_keeps_dying() {
    bounded(async {
        let scratch = Scratch::with_cluster().await;
        let postgres = Embedded::start(&open(&scratch.data()), None).await.unwrap();
        write_row(&postgres).await;
        let mut last = postgres.pid().unwrap();
        let mut busy = postgres.connect_options().connect().await.unwrap();
        let working =
            tokio::spawn(async move { sqlx::query("select pg_sleep(60)").execute(&mut busy).await });

        for died in 1..=5 {
            harness::kill(last, Signal::KILL);
            last = harness::next_pid(&postgres, last).await;
            write_row(&postgres).await;
            assert_eq!(rows(&postgres).await.len(), died + 1);
        }
        assert!(working.await.unwrap().is_err(), "its connection is gone");
        harness::kill(last, Signal::KILL);
        let error = postgres.failed().await;
        assert!(matches!(*error, Error::KeepsEnding { times: 6, .. }), "{error}");
        assert_eq!(postgres.pid(), None);
        postgres.stop().await.unwrap();
    });
}

#[test]
fn stale_lock_files() {
    bounded(async {
        let scratch = Scratch::with_cluster().await;
        let dir = open(&scratch.data());
        let first = Embedded::start(&dir, None).await.unwrap();
        write_row(&first).await;
        first.stop().await.unwrap();

        let mut stranger = as_postgres("sleep").arg("120").spawn().unwrap();
        let mut zombie = as_postgres("true").spawn().unwrap();
        harness::until(|| !harness::lives(zombie.id()));
        // What the lock says, and whether Postgres left to itself believes it: the control.
        for (pid, misleads) in [
            (stranger.id().to_string(), true),
            (zombie.id().to_string(), true),
            (String::new(), true),
            ("nonsense".to_owned(), true),
            (std::process::id().to_string(), false),
            ("4194305".to_owned(), false),
        ] {
            scratch.lock_cluster(&pid);
            if misleads {
                assert!(scratch.raw_start_is_refused(), "{pid:?}");
            }
            let postgres =
                Embedded::start(&dir, None).await.unwrap_or_else(|error| panic!("{pid:?}: {error}"));
            assert_eq!(rows(&postgres).await, [1], "{pid:?}");
            postgres.stop().await.unwrap();
        }
        assert!(stranger.try_wait().unwrap().is_none(), "a stranger with the number is left alone");
        stranger.kill().unwrap();
        stranger.wait().unwrap();
        zombie.wait().unwrap();
    });
}

#[test]
fn a_second_server_leaves_the_first_alone() {
    bounded(async {
        let scratch = Scratch::with_cluster().await;
        let mut first = Server::start(&scratch);
        let postmaster = first.ready();
        first.rows(1);
        let error = DataDir::open(&scratch.data()).unwrap_err();
        let expected = format!(
            "BooCode is already running on this data directory (pid {}, {})",
            first.pid(),
            harness::URL
        );
        assert_eq!(error.to_string(), expected);
        let mut second = Server::start(&scratch);
        assert_eq!(second.error(), expected);
        // It goes on committing, on the same Postgres.
        first.rows(20);
        assert!(harness::lives(postmaster));
        first.kill();
        DataDir::open(&scratch.data()).unwrap();
    });
}

#[test]
fn a_normal_user_needs_no_help() {
    bounded(async {
        let scratch = Scratch::for_normal_user();
        let mut first = Server::start_as_normal_user(&scratch);
        let postmaster = first.ready();
        assert_eq!(harness::owner_of(postmaster), scratch.data().metadata().unwrap().uid());
        let committed = first.rows(20);
        first.kill();
        let mut second = Server::start_as_normal_user(&scratch);
        second.ready();
        assert!(second.rows(committed) >= committed, "the rows of the first are counted again");
        second.kill();
        harness::until(|| scratch.processes() == 0);
    });
}

#[test]
fn an_interrupted_first_start_is_begun_again() {
    bounded(async {
        let scratch = Scratch::new();
        let mut server = Server::start(&scratch);
        harness::until(|| scratch.drafts().iter().any(|draft| draft.join("base").exists()));
        server.kill();
        assert!(!scratch.data().join("postgres/cluster").exists());

        let postgres = Embedded::start(&open(&scratch.data()), None).await.unwrap();
        write_row(&postgres).await;
        assert!(scratch.drafts().is_empty(), "{:?}", scratch.drafts());
        postgres.stop().await.unwrap();
    });
}

#[test]
fn a_cluster_of_another_version_is_named() {
    bounded(async {
        let scratch = Scratch::with_cluster().await;
        let dir = open(&scratch.data());
        let version = scratch.data().join("postgres/cluster/PG_VERSION");
        let real = std::fs::read_to_string(&version).unwrap();
        std::fs::write(&version, "10\n").unwrap();
        let refused = Embedded::start(&dir, None).await.err().unwrap();
        assert!(matches!(refused, Error::VersionMismatch { cluster: 10, .. }), "{refused}");
        std::fs::write(&version, real).unwrap();
        // The control: nothing else was wrong with it.
        Embedded::start(&dir, None).await.unwrap().stop().await.unwrap();
    });
}

#[test]
fn a_long_or_odd_path_works() {
    bounded(async {
        let scratch = Scratch::new();
        let odd = scratch.data().join(r#"a, "b" 'c' $d"#).join("long".repeat(30));
        std::fs::create_dir_all(odd.parent().unwrap()).unwrap();
        for ancestor in [scratch.data(), odd.parent().unwrap().to_owned()] {
            std::fs::set_permissions(ancestor, PermissionsExt::from_mode(0o711)).unwrap();
        }
        for path in [odd.parent().unwrap().join("x"), odd] {
            let postgres = Embedded::start(&open(&path), None).await.unwrap();
            write_row(&postgres).await;
            let socket_dir = postgres.connect_options().get_socket().unwrap().clone();
            assert_eq!(socket_dir.metadata().unwrap().mode() & 0o777, 0o700);
            postgres.stop().await.unwrap();
            assert_eq!(socket_dir.exists(), socket_dir.starts_with(&path), "no trace outside");
        }
    });
}

#[test]
fn a_closed_home_is_named() {
    let Some(account) = run_as() else { return };
    bounded(async {
        let scratch = Scratch::new();
        let home = scratch.data().join("home");
        std::fs::create_dir_all(&home).unwrap();
        std::fs::set_permissions(scratch.data(), PermissionsExt::from_mode(0o711)).unwrap();
        let dir = open(&home.join("data"));
        for (mode, reachable) in [(0o700, false), (0o711, true)] {
            std::fs::set_permissions(&home, PermissionsExt::from_mode(mode)).unwrap();
            match Embedded::start(&dir, None).await {
                Ok(postgres) => {
                    assert!(reachable);
                    postgres.stop().await.unwrap();
                }
                Err(error) => {
                    let words =
                        format!("`{}`, which may not enter {} (mode 0700)", account.name, home.display());
                    assert!(!reachable && error.to_string().contains(&words), "{error}");
                }
            }
        }
    });
}

#[test]
fn dropping_it_stops_it() {
    bounded(async {
        let scratch = Scratch::with_cluster().await;
        let postgres = Embedded::start(&open(&scratch.data()), None).await.unwrap();
        let pid = postgres.pid().unwrap();
        let connection = postgres.connect_options().connect().await.unwrap();
        drop(postgres);
        harness::until(|| !harness::lives(pid) && scratch.processes() == 0);
        assert!(!scratch.data().join("postgres/cluster/postmaster.pid").exists(), "it ended in order");
        drop(connection);
    });
}
