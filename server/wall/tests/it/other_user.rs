//! The same tests as somebody who has no privilege at all.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::fixture::helper;

const NOBODY: u32 = 65534;
const NAME: &str = "other_user::the_wall_holds_for_a_normal_user";

#[test]
fn the_wall_holds_for_a_normal_user() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("left out: the other tests are run as a normal user already");
    }
    // Where they were built nobody else may be able to look.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (tests, copied_helper) = (folder.path().join("tests"), folder.path().join("helper"));
    fs::copy(std::env::current_exe().unwrap(), &tests).unwrap();
    fs::copy(helper(), &copied_helper).unwrap();
    let mut command = Command::new(tests);
    command.args(["--skip", NAME]).env("WALL_TEST_HELPER", copied_helper).env("HOME", "/nonexistent");
    let output = command.uid(NOBODY).gid(NOBODY).current_dir("/").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(!said.contains(" 0 passed"), "{said}");
}
