//! Agents that cannot be installed, and come all the same.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use domain::backend::{Offer, State};

use crate::harness::{Server, World, eventually, tools_dir};

async fn qwen(server: &Server) -> State {
    let offers: Vec<Offer> = server.call("backends", &[]).await.json().await.unwrap();
    offers.into_iter().find(|offer| offer.backend.0 == "qwen").unwrap().state
}

/// Whoever cannot be helped by the button is told why, and by what command; what is there counts, whoever put it there.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_installation_is_told_and_can_be_made_good_by_hand() {
    let world = World::new().await;
    let (programs, tools) = (world.folder.path().join("programs"), world.folder.path().join("tools"));
    fs::create_dir_all(tools.join("agents")).unwrap();
    fs::create_dir(&programs).unwrap();
    for (name, text) in [("node", "echo v22.0.0"), ("npm", "echo 'the registry is away' >&2; exit 1")] {
        fs::write(programs.join(name), format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(programs.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let server = world.server_with_programs("one", &tools, &programs).await;
    let State::Missing { install, failure } = qwen(&server).await else { panic!("it is not there yet") };
    assert_eq!(failure, "");
    assert!(install.starts_with("npm install"), "{install}");

    server.call("install_backend", &[("backend", "qwen".to_owned())]).await;
    let failed = || async {
        match qwen(&server).await {
            State::Missing { install, failure } if !failure.is_empty() => Some((install, failure)),
            _ => None,
        }
    };
    let (again, failure) = eventually("the installation fails", failed).await;
    assert!(failure.contains("the registry is away"), "{failure}");
    assert_eq!(again, install, "the command stays");

    symlink(tools_dir().join("agents/qwen"), tools.join("agents/qwen")).unwrap();
    let state = qwen(&server).await;
    assert!(matches!(state, State::Ready { .. }), "{state:?}");
}
