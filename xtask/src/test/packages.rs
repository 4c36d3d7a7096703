//! Which packages are compiled and checked together. One selection means one set of features, so nothing is
//! compiled twice.

/// All but xtask, which must not share its features with them, and the browser's side.
const PRODUCT: [&str; 10] =
    ["domain", "tools", "git", "wall", "acp", "store", "app", "server", "scripted", "load"];

/// The product as cargo's arguments.
pub fn product() -> Vec<&'static str> {
    select(&PRODUCT).chain(["--features", "app/ssr"]).collect()
}

/// Everything that runs on this machine.
pub fn host() -> Vec<&'static str> {
    select(&["xtask"]).chain(product()).collect()
}

fn select(packages: &[&'static str]) -> impl Iterator<Item = &'static str> {
    packages.iter().flat_map(|package| ["-p", package])
}
