//! The file system as the program sees it: what is granted, at its own place, in a root that is otherwise empty.
//!
//! So nothing has to be known of what else the machine holds: no socket of another program, no file whose mode or
//! times could be changed, and of the data directory no more than the task's own folders.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, mount_change,
    move_mount, open_tree, unmount,
};
use rustix::process::{chdir, pivot_root};
use rustix::thread::UnshareFlags;

use super::{Failure, Naming};
use crate::sys;
use crate::wall::{Right, SYSTEM, Wall};

const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const DEVICE_LINKS: [(&str, &str); 5] = [
    ("ptmx", "pts/ptmx"),
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];
const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
const NO_PRIVILEGES: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
/// A device is used as before on a read-only mount; its mode and times stay as they are.
const DEVICE: u64 = libc::MOUNT_ATTR_NOSUID | READ_ONLY;

/// In the order in which they cover each other.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Hidden,
    Granted(Right),
    /// What lies elsewhere.
    Shared(PathBuf),
}

pub fn build(wall: &Wall) -> Result<(), Failure> {
    sys::unshare(UnshareFlags::NEWNS).naming("this machine does not allow mount namespaces")?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).naming("mounts")?;
    // All are taken before anything is covered.
    let layers = layers(wall).into_iter().map(|(path, layer)| {
        let tree = match layer {
            Layer::Hidden => None,
            Layer::Granted(right) => Some(taken(&path, right)?),
            Layer::Shared(file) => Some(taken(&file, Right::Write)?),
        };
        Ok((path, tree))
    });
    let layers: Vec<_> = layers.collect::<Result<_, Failure>>()?;
    let devices: Vec<_> = DEVICES
        .iter()
        .map(|name| Ok((name, taken_as(&Path::new("/dev").join(name), DEVICE)?)))
        .collect::<Result<_, Failure>>()?;

    // The task's own folder for temporary files is there for certain, and a good place to build at.
    let root = wall.tmp.as_path();
    empty_folder(root)?;
    for (path, _) in SYSTEM {
        link_like(root, Path::new(path))?;
    }
    for (path, tree) in &layers {
        let place = inside(root, path);
        match tree {
            Some(tree) => placed(tree, &place)?,
            None => {
                fs::create_dir_all(&place).naming(path.display().to_string())?;
                empty_folder(&place)?;
            }
        }
    }
    for (name, tree) in &devices {
        placed(tree, &root.join("dev").join(name))?;
    }
    terminals(&root.join("dev"))?;
    processes(&root.join("proc"))?;
    for (path, _) in layers.iter().filter(|(_, tree)| tree.is_none()) {
        let place = inside(root, path);
        sys::restrict_mount(CWD, &place, false, READ_ONLY | NO_PRIVILEGES).naming("mounts")?;
    }
    sys::restrict_mount(CWD, root, false, READ_ONLY | NO_PRIVILEGES).naming("mounts")?;
    enter(root).naming("the new root could not be entered")
}

/// Outer ones come first, so that what lies inside is put over them.
fn layers(wall: &Wall) -> Vec<(PathBuf, Layer)> {
    let system = SYSTEM.iter().map(|(path, right)| (Path::new(path), *right));
    let system = system.filter(|(path, _)| path.is_dir() && !path.is_symlink());
    let granted = wall.grants().into_iter().chain(system);
    let granted = granted.map(|(path, right)| (path.to_owned(), Layer::Granted(right)));
    let hidden = wall.hidden.iter().map(|path| (path.clone(), Layer::Hidden));
    let shared = wall.shared.iter().map(|it| (it.place.clone(), Layer::Shared(it.file.clone())));
    let mut layers: Vec<_> = hidden.chain(granted).chain(shared).collect();
    layers.sort();
    layers.dedup();
    layers
}

fn taken(path: &Path, right: Right) -> Result<OwnedFd, Failure> {
    taken_as(path, if right == Right::Write { NO_PRIVILEGES } else { NO_PRIVILEGES | READ_ONLY })
}

/// A copy of the mounts at `path` that is nowhere yet.
fn taken_as(path: &Path, attributes: u64) -> Result<OwnedFd, Failure> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    let tree = open_tree(CWD, path, flags).naming(path.display().to_string())?;
    sys::restrict_mount(&tree, Path::new(""), true, attributes).naming(path.display().to_string())?;
    Ok(tree)
}

fn placed(tree: &OwnedFd, place: &Path) -> Result<(), Failure> {
    let what = || place.display().to_string();
    let is_dir = rustix::fs::fstat(tree.as_fd()).naming(what())?.st_mode & libc::S_IFMT == libc::S_IFDIR;
    if !place.exists() {
        if is_dir {
            fs::create_dir_all(place).naming(what())?;
        } else {
            place.parent().map_or(Ok(()), fs::create_dir_all).naming(what())?;
            File::create(place).naming(what())?;
        }
    }
    move_mount(tree, "", CWD, place, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).naming(what())
}

fn empty_folder(place: &Path) -> Result<(), Failure> {
    let what = format!("{} could not be covered", place.display());
    mount("tmpfs", place, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=0755,size=1m").naming(what)
}

/// A system's folder that is a link is the same link inside.
fn link_like(root: &Path, path: &Path) -> Result<(), Failure> {
    match fs::read_link(path) {
        Ok(target) => symlink(target, inside(root, path)).naming(path.display().to_string()),
        Err(_) => Ok(()),
    }
}

/// Terminals of its own; the machine's stay outside.
fn terminals(dev: &Path) -> Result<(), Failure> {
    let pts = dev.join("pts");
    fs::create_dir_all(&pts).naming("/dev/pts")?;
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("devpts", &pts, "devpts", flags, c"newinstance,ptmxmode=0666,mode=0620").naming("/dev/pts")?;
    for (name, target) in DEVICE_LINKS {
        symlink(target, dev.join(name)).naming("/dev")?;
    }
    Ok(())
}

fn processes(place: &Path) -> Result<(), Failure> {
    fs::create_dir_all(place).naming("/proc")?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    mount("proc", place, "proc", flags, None).naming("this machine does not allow a /proc of its own")
}

/// Puts the new root where the old one is, and takes the old one from under it.
fn enter(root: &Path) -> io::Result<()> {
    chdir(root)?;
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    Ok(chdir("/")?)
}

fn inside(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}
