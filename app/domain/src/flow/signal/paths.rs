//! What a path tells.

use super::Signal;

/// Old answers of ours, and what is not the project's own.
pub(super) fn is_left_out(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    first == "Arena" || path.split('/').any(|part| matches!(part, ".git" | "node_modules" | "vendor"))
}

/// Whether the words of such a file are code, or name what the code is made of.
pub(super) fn is_code(path: &str) -> bool {
    const EXTENSIONS: [&str; 48] = [
        "bash", "c", "cc", "clj", "cpp", "cs", "cxx", "dart", "erl", "ex", "exs", "fs", "go", "gradle",
        "graphql", "groovy", "h", "hh", "hpp", "hs", "java", "jl", "js", "jsx", "kt", "kts", "lua", "m",
        "mjs", "ml", "php", "pl", "proto", "ps1", "py", "r", "rb", "rs", "scala", "sh", "sql", "svelte",
        "swift", "tf", "ts", "tsx", "vue", "zig",
    ];
    const MANIFESTS: [&str; 9] = [
        "Cargo.toml",
        "Gemfile",
        "build.gradle",
        "composer.json",
        "go.mod",
        "package.json",
        "pom.xml",
        "pyproject.toml",
        "requirements.txt",
    ];
    let name = name(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    EXTENSIONS.contains(&extension) || MANIFESTS.contains(&name)
}

/// The signals that a path alone shows.
pub(super) fn signals(path: &str) -> &'static [Signal] {
    let name = name(path).to_ascii_lowercase();
    let parts = || path.split('/').rev().skip(1);
    let in_folder = |folder: &str| parts().any(|part| part.eq_ignore_ascii_case(folder));
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    let begins = |begins: &[&str]| begins.iter().any(|begin| name.starts_with(begin));
    if ends(&[".proto", ".thrift", ".avsc"]) {
        return &[Signal::Seam];
    }
    if ends(&[".sql", ".prisma"]) || in_folder("migrations") || in_folder("migrate") {
        return &[Signal::Data];
    }
    let is_pipeline = in_folder("workflows") && in_folder(".github");
    let folders = [".ci", ".circleci", "k8s", "kubernetes", "helm", "terraform", "ansible", "deploy"];
    if is_pipeline
        || begins(&["dockerfile", "docker-compose", "containerfile", "jenkinsfile", "procfile"])
        || ends(&[".dockerfile", ".tf", ".gitlab-ci.yml", "azure-pipelines.yml", ".service"])
        || matches!(name.as_str(), "compose.yml" | "compose.yaml" | "chart.yaml" | "fly.toml")
        || folders.iter().any(|folder| in_folder(folder))
    {
        return &[Signal::Devops];
    }
    &[]
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
