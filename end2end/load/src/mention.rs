//! How long a key takes while somebody types the name of a file, in a project of a hundred thousand files.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use reqwest::Client;
use serde_json::Value;

use crate::{
    Goal, Programs,
    boocode::{Browser, Home},
    machine,
    part::Part,
};

const FILES: usize = 100_000;
const FOLDERS: usize = 6_000;
const ROUNDS: usize = 5;
const LIMIT: usize = 20;
const KEY_MAX: Duration = Duration::from_millis(50);

/// Typed key by key: names, paths, letters of words, what fits every file, and what fits none.
const TYPED: [&str; 8] = [
    "composer",
    "src/chat/api",
    "storeind",
    "usrordview",
    "sessiontokenstream",
    "Invoice",
    "chat feed",
    "zzyzx",
];

pub async fn measure(programs: &Programs) -> Result<Vec<Goal>> {
    let mut home = Home::new(programs, &[])?;
    let outcome = measure_at(&home).await;
    home.explain(outcome)
}

async fn measure_at(home: &Home) -> Result<Vec<Goal>> {
    let folder = home.folder().join("project");
    let paths = paths();
    make(&folder, &paths)?;
    let list = home.folder().join("paths");
    fs::write(&list, paths.join("\n"))?;
    let scan = Part::start(&["scan", &list.to_string_lossy()]).await?;

    let (server, browser) = home.start().await?;
    let path = folder.to_string_lossy().into_owned();
    browser.call("add_project", &[("path", path.clone())]).await?;
    let projects = browser.snapshot(None).await?.state.workspace.projects;
    let project =
        projects.iter().find(|project| project.path == path).context("the project was not added")?;
    let project = project.id.to_string();

    let before = machine::resident(server.pid)?.total;
    let began = Instant::now();
    let found = ours(&browser, &project, "").await?;
    println!("the first list of {FILES} files in {FOLDERS} folders: {:.0} ms", millis(began.elapsed()));
    // The repository's own files count too.
    if found < FILES {
        bail!("only {found} of {FILES} files are found");
    }

    let client = Client::builder().no_proxy().tcp_nodelay(true).build()?;
    let (mut finding, mut scanning) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for typed in TYPED.iter().flat_map(|word| keys(word)) {
            let began = Instant::now();
            ours(&browser, &project, typed).await?;
            finding.push(began.elapsed());
            let began = Instant::now();
            plain(&client, &scan.url, typed).await?;
            scanning.push(began.elapsed());
        }
    }
    println!("{} keys, each with its answer of at most {LIMIT} files, in ms:", finding.len());
    for (name, times) in [("contains", &mut scanning), ("find_files", &mut finding)] {
        times.sort_unstable();
        let [p50, p95, max] = [50, 95, 100].map(|percent| millis(percentile(times, percent)));
        println!("  {name:<10} p50 {p50:>5.1}  p95 {p95:>5.1}  max {max:>5.1}");
    }
    let ratio = millis(percentile(&finding, 50)) / millis(percentile(&scanning, 50));
    println!("find_files ÷ contains at p50: {ratio:.1} ×");
    let grown = machine::resident(server.pid)?.total.saturating_sub(before);
    println!("the server has grown by {:.1} MB", grown as f64 / 1e6);
    server.stop().await?;
    let p95 = percentile(&finding, 95);
    Ok(vec![Goal { text: format!("a key within {} ms at p95", millis(KEY_MAX)), reached: p95 <= KEY_MAX }])
}

/// What stands after the `@` at each key.
fn keys(word: &str) -> impl Iterator<Item = &str> {
    word.char_indices().map(|(at, c)| &word[..at + c.len_utf8()])
}

async fn ours(browser: &Browser, project: &str, typed: &str) -> Result<usize> {
    let fields = [("project", project.to_owned()), ("query", typed.to_owned()), ("limit", LIMIT.to_string())];
    let answer: Value = serde_json::from_str(&browser.call("find_files", &fields).await?)?;
    answer["total"].as_u64().map(|total| total as usize).context("no total")
}

async fn plain(client: &Client, url: &str, typed: &str) -> Result<()> {
    let fields = [("query", typed), ("limit", &LIMIT.to_string())];
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = client.post(format!("{url}/find")).body(body);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    request.send().await?.error_for_status()?.bytes().await?;
    Ok(())
}

/// The same at every run: folders in folders, and names of two words each.
fn paths() -> Vec<String> {
    const WORDS: [&str; 24] = [
        "chat", "feed", "store", "engine", "model", "server", "client", "domain", "page", "view", "user",
        "order", "invoice", "account", "session", "token", "stream", "index", "query", "table", "composer",
        "api", "test", "main",
    ];
    const ENDINGS: [&str; 6] = ["rs", "ts", "css", "md", "json", "java"];
    const DEPTH_MAX: usize = 9;
    let mut state = 1_u64;
    let mut any = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut folders = vec!["src/".to_owned()];
    while folders.len() < FOLDERS {
        let parent = &folders[any(folders.len())];
        if parent.matches('/').count() < DEPTH_MAX {
            let (word, number) = (WORDS[any(WORDS.len())], folders.len());
            folders.push(if any(2) == 0 {
                format!("{parent}{word}/")
            } else {
                format!("{parent}{word}{number}/")
            });
        }
    }
    let mut file = |number: usize| {
        let (folder, ending) = (&folders[any(FOLDERS)], ENDINGS[any(ENDINGS.len())]);
        format!("{folder}{}_{}_{number}.{ending}", WORDS[any(WORDS.len())], WORDS[any(WORDS.len())])
    };
    (0..FILES).map(&mut file).collect()
}

/// A repository that tracks every file.
fn make(folder: &Path, paths: &[String]) -> Result<()> {
    let mut made = "";
    for path in paths {
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        if parent != made {
            fs::create_dir_all(folder.join(parent))?;
            made = parent;
        }
        fs::write(folder.join(path), "")?;
    }
    for arguments in [["init", "--quiet"], ["add", "--all"]] {
        let status = Command::new("git").arg("-C").arg(folder).args(arguments).status()?;
        if !status.success() {
            bail!("git {arguments:?}: {status}");
        }
    }
    Ok(())
}

/// Of sorted times.
fn percentile(times: &[Duration], percent: usize) -> Duration {
    let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times.get(index).copied().unwrap_or_default()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_a_path_of_its_own() {
        let mut paths = paths();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), FILES);
        assert_eq!(keys("äb").collect::<Vec<_>>(), ["ä", "äb"]);
    }
}
