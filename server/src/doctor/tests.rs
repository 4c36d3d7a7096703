use super::*;
use crate::config::ServeArgs;

#[test]
fn the_text_and_the_exit_code() {
    let section = |findings| Report { sections: vec![Section { title: "Tools", findings }] };
    let fine = section(vec![
        Finding::fine("git", "2.47"),
        Finding::absent("node", "not found", "apt-get install nodejs"),
    ]);
    let text = "Tools\n  \
                  ok  git                  2.47\n  \
                  --  node                 not found\n                           \
                  → apt-get install nodejs\n\n\
                BooCode can run here: boocode serve\n";
    assert_eq!((fine.to_string().as_str(), fine.exit_code()), (text, 0));
    let broken = section(vec![Finding::broken("programs", "no initdb", "apt-get install postgresql")]);
    assert_eq!(broken.exit_code(), 1);
    assert!(
        broken.to_string().contains("!!  programs") && broken.to_string().contains("cannot run here yet")
    );
}

#[test]
fn the_data_directory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let check = |path: &Path, verdict: Verdict, expected: &str| {
        let found = data_dir(path);
        assert_ne!(found.verdict == Verdict::Broken, verdict != Verdict::Broken, "{found:?}");
        assert!(found.detail.contains(expected), "{found:?}");
    };
    check(folder.path(), Verdict::Fine, "free");
    check(&folder.path().join("a/b"), Verdict::Fine, "made at the first start");
    check(&file, Verdict::Broken, "may write");
    check(&file.join("below"), Verdict::Broken, "may write");
}

#[tokio::test]
async fn a_whole_examination() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let args = ServeArgs {
        data_dir: Some(folder.path().join("data").display().to_string()),
        pg_bin_dir: Some("/nowhere".into()),
        no_model: true,
        no_discover: true,
        ..ServeArgs::default()
    };
    let config = Config::load(args, |name| (name == "HOME").then(|| "/home/ada".into()), None).unwrap();
    let report = examine(&config, Client::builder().no_proxy().build().unwrap()).await;
    let titles: Vec<_> = report.sections.iter().map(|section| section.title).collect();
    assert_eq!(titles, ["Data", "Postgres", "Tools", "Agents", "Models", "Kernel"]);
    assert_eq!(report.exit_code(), 1, "{report}");
    assert!(!folder.path().join("data").exists(), "the doctor looks and makes nothing");
}
