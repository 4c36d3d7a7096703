//! What the kernel offers for keeping agents in their place.

use std::{fs::File, io::Read};

use super::Finding;

/// The list of the kernel's symbols is some 15 MB.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(super) async fn examine() -> Vec<Finding> {
    let looked = tokio::task::spawn_blocking(|| findings(read)).await;
    looked.unwrap_or_else(|error| vec![Finding::absent("kernel", error.to_string(), "run the doctor again")])
}

fn read(path: &str) -> Option<String> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(FILE_BYTES_MAX).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn findings(read: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    let release = read("/proc/sys/kernel/osrelease").unwrap_or_default();
    vec![
        Finding::fine("Linux", release.trim()),
        landlock(&read),
        user_namespaces(&read),
        cgroups(&read),
        Finding::fine("child subreaper", "part of every Linux since 3.4"),
    ]
}

fn landlock(read: &impl Fn(&str) -> Option<String>) -> Finding {
    let name = "Landlock";
    let fix = "add landlock to the lsm= list of the kernel's command line (Linux 5.13 or later)";
    match read("/sys/kernel/security/lsm") {
        Some(active) if active.trim().split(',').any(|module| module == "landlock") => {
            Finding::fine(name, "active")
        }
        Some(active) => {
            Finding::absent(name, format!("not among the active modules ({})", active.trim()), fix)
        }
        // Without securityfs the list cannot be read, as in many containers; the symbols tell what was built.
        None => {
            match read("/proc/kallsyms").is_some_and(|symbols| symbols.contains("landlock_restrict_self")) {
                true => {
                    Finding::fine(name, "built into the kernel (whether it is active cannot be read here)")
                }
                false => Finding::absent(name, "no sign of it", fix),
            }
        }
    }
}

fn user_namespaces(read: &impl Fn(&str) -> Option<String>) -> Finding {
    let name = "user namespaces";
    let number = |path: &str| read(path).and_then(|text| text.trim().parse::<u64>().ok());
    if number("/proc/sys/user/max_user_namespaces").unwrap_or(0) == 0 {
        return Finding::absent(name, "not available", "sysctl user.max_user_namespaces=10000");
    }
    if number("/proc/sys/kernel/unprivileged_userns_clone") == Some(0) {
        return Finding::absent(name, "for root only", "sysctl kernel.unprivileged_userns_clone=1");
    }
    if number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == Some(1) {
        let fix = "sysctl kernel.apparmor_restrict_unprivileged_userns=0";
        return Finding::absent(name, "restricted by AppArmor", fix);
    }
    Finding::fine(name, "available")
}

fn cgroups(read: &impl Fn(&str) -> Option<String>) -> Finding {
    match (read("/sys/fs/cgroup/cgroup.controllers"), read("/proc/cgroups")) {
        (Some(controllers), _) => Finding::fine("cgroups", format!("version 2 ({})", controllers.trim())),
        (None, Some(_)) => Finding::fine("cgroups", "version 1"),
        (None, None) => Finding::absent("cgroups", "none", "mount -t cgroup2 none /sys/fs/cgroup"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Verdict::{self, *};

    #[test]
    fn features_by_their_files() {
        let check = |files: &[(&str, &str)], name: &str, verdict: Verdict, detail: &str| {
            let read =
                |path: &str| files.iter().find(|(file, _)| *file == path).map(|(_, text)| (*text).to_owned());
            let found = findings(read).into_iter().find(|finding| finding.name == name).unwrap();
            assert_eq!((found.verdict, &*found.detail), (verdict, detail), "{files:?}");
            assert_eq!(found.fix.is_some(), verdict != Fine);
        };
        let lsm = "/sys/kernel/security/lsm";
        check(&[("/proc/sys/kernel/osrelease", "6.1.0\n")], "Linux", Fine, "6.1.0");
        check(&[(lsm, "capability,landlock,yama")], "Landlock", Fine, "active");
        check(
            &[(lsm, "capability,yama\n")],
            "Landlock",
            Absent,
            "not among the active modules (capability,yama)",
        );
        let built = "built into the kernel (whether it is active cannot be read here)";
        check(&[("/proc/kallsyms", "0 t __x64_sys_landlock_restrict_self")], "Landlock", Fine, built);
        check(&[], "Landlock", Absent, "no sign of it");

        let some = ("/proc/sys/user/max_user_namespaces", "96343\n");
        check(&[], "user namespaces", Absent, "not available");
        check(&[some], "user namespaces", Fine, "available");
        let debian = "/proc/sys/kernel/unprivileged_userns_clone";
        check(&[some, (debian, "0\n")], "user namespaces", Absent, "for root only");
        check(&[some, (debian, "1\n")], "user namespaces", Fine, "available");
        let ubuntu = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
        check(&[some, (ubuntu, "1\n")], "user namespaces", Absent, "restricted by AppArmor");

        check(
            &[("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n")],
            "cgroups",
            Fine,
            "version 2 (cpu memory)",
        );
        check(&[("/proc/cgroups", "cpu")], "cgroups", Fine, "version 1");
        check(&[], "cgroups", Absent, "none");
    }
}
