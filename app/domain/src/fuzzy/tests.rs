use proptest::prelude::*;

use super::*;

/// The paths that fit, best first.
fn ranked<'a>(typed: &str, paths: &[&'a str]) -> Vec<&'a str> {
    let (mut matcher, mut best) = (Matcher::new(&Query::new(typed)), Best::new(paths.len()));
    for (index, path) in paths.iter().enumerate() {
        if let Some(score) = matcher.score(path, Letters::of(path.chars())) {
            best.offer(Ranked { index, score, len: path.len() });
        }
    }
    best.into_sorted().iter().map(|ranked| paths[ranked.index]).collect()
}

fn find(typed: &str, path: &str) -> Option<Match> {
    Matcher::new(&Query::new(typed)).find(path)
}

/// The path with what matched in brackets.
fn marked(typed: &str, path: &str) -> Option<String> {
    let found = find(typed, path)?;
    let mark = |(offset, c): (usize, char)| match found.positions.contains(&(offset as u32)) {
        true => format!("[{c}]"),
        false => c.to_string(),
    };
    Some(path.char_indices().map(mark).collect::<String>().replace("][", ""))
}

#[test]
fn what_matches_is_where_people_see_it() {
    let check = |typed: &str, path: &str, expected: Option<&str>| {
        assert_eq!(marked(typed, path).as_deref(), expected, "{typed} in {path}");
    };
    check("chat", "app/src/chat.rs", Some("app/src/[chat].rs"));
    check("fb", "src/foo_bar.rs", Some("src/[f]oo_[b]ar.rs"));
    check("fb", "src/FooBar.rs", Some("src/[F]oo[B]ar.rs"));
    check("feedapi", "app/src/feed/api.rs", Some("app/src/[feed]/[api].rs"));
    check("src/ch", "app/src/chat/composer.rs", Some("app/[src/ch]at/composer.rs"));
    // The name is meant rather than a folder of the same name.
    check("store", "server/store/src/store.rs", Some("server/store/src/[store].rs"));
    // Words are looked for one by one, in any order.
    check("api chat", "app/src/chat/api.rs", Some("app/src/[chat]/[api].rs"));
    check("tahc", "app/src/chat.rs", None);
    check("chatx", "app/src/chat.rs", None);
    check("", "app/src/chat.rs", Some("app/src/chat.rs"));
}

#[test]
fn case_counts_only_for_those_who_type_it() {
    let check = |typed: &str, path: &str, expected: Option<&str>| {
        assert_eq!(marked(typed, path).as_deref(), expected, "{typed} in {path}");
    };
    check("readme", "README.md", Some("[README].md"));
    check("README", "README.md", Some("[README].md"));
    check("README", "readme.md", None);
    check("Chat", "src/chat.rs", None);
    check("über", "docs/Über uns.md", Some("docs/[Über] uns.md"));
    check("Über", "docs/über uns.md", None);
    check("日本", "docs/日x本.md", Some("docs/[日]x[本].md"));
    check("k", "\u{212a}", None);
}

#[test]
fn better_ones_come_first() {
    let check = |typed: &str, expected: &[&str]| {
        let mut paths = expected.to_vec();
        paths.sort_unstable();
        assert_eq!(ranked(typed, &paths), expected, "{typed}");
    };
    check("chat", &["app/src/chat.rs", "app/src/chats.rs", "app/src/chat/api.rs", "crates/hat/x.rs"]);
    check("main", &["main.rs", "app/main.rs", "app/domain.rs", "app/domain/src/lib.rs"]);
    check("cargo", &["Cargo.lock", "Cargo.toml", "xtask/Cargo.toml", "xtask/src/car_go.rs"]);
    check("mod", &["a/mod.rs", "app/model.rs", "app/my_old_dog.rs"]);
    check("ssr", &["a/ssr.rs", "server/store/readme.md", "classroom/x.rs"]);
    // As well in every other way: the shorter one, then the first in the list.
    check("", &["a", "b", "aa"]);
}

#[test]
fn only_the_best_are_kept_and_all_are_counted() {
    let mut best = Best::new(2);
    let mut other = Best::new(2);
    for (index, score) in [5, 9, 7, 1].into_iter().enumerate() {
        best.offer(Ranked { index, score, len: 1 });
        other.offer(Ranked { index: index + 4, score: score + 1, len: 1 });
    }
    best.merge(other);
    assert_eq!(best.total, 8);
    assert_eq!(best.into_sorted().iter().map(|ranked| ranked.index).collect::<Vec<_>>(), [5, 1]);
}

/// Every way to find `word` in `path`, by brute force.
fn ways(word: &[char], path: &[char], from: usize) -> Vec<Vec<usize>> {
    let Some((first, rest)) = word.split_first() else { return vec![Vec::new()] };
    let starts = (from..path.len()).filter(|at| path[*at].to_ascii_lowercase() == *first);
    let with = |at: usize| {
        ways(rest, path, at + 1).into_iter().map(move |mut way| {
            way.insert(0, at);
            way
        })
    };
    starts.flat_map(with).collect()
}

proptest! {
    /// It matches exactly when the letters are there in their order, and what it says are those letters.
    #[test]
    fn a_match_spells_the_query(word in "[abß/]{1,5}", path in "[abABßx/_.]{0,16}") {
        let (word_chars, path_chars): (Vec<_>, Vec<_>) = (word.chars().collect(), path.chars().collect());
        let found = find(&word, &path);
        prop_assert_eq!(found.is_some(), !ways(&word_chars, &path_chars, 0).is_empty());
        let scored = Matcher::new(&Query::new(&word)).score(&path, Letters::of(path.chars()));
        prop_assert_eq!(scored, found.as_ref().map(|found| found.score));
        if let Some(found) = found {
            let at = |offset: &u32| path[*offset as usize..].chars().next().unwrap().to_ascii_lowercase();
            prop_assert_eq!(found.positions.iter().map(at).collect::<String>(), word);
            prop_assert!(found.positions.is_sorted_by(|one, next| one < next));
        }
    }

    /// Of all ways to match, the one found is the best.
    #[test]
    fn no_other_way_is_better(word in "[ab]{1,4}", path in "[abABx/_]{0,14}") {
        let (word_chars, path_chars): (Vec<_>, Vec<_>) = (word.chars().collect(), path.chars().collect());
        let all = ways(&word_chars, &path_chars, 0);
        let best = all.iter().map(|way| align::worth(&path, way)).max();
        let found = find(&word, &path);
        prop_assert_eq!(found.as_ref().map(|found| found.score), best);
        if let Some(found) = found {
            let way: Vec<usize> = found.positions.iter().map(|offset| *offset as usize).collect();
            prop_assert_eq!(align::worth(&path, &way), found.score);
        }
    }

    /// What a matcher keeps of one path does not change what it finds in the next.
    #[test]
    fn nothing_is_left_over(word in "[abc/]{1,4}", paths in prop::collection::vec("[abcB/_ä]{0,8}", 1..9)) {
        let mut used = Matcher::new(&Query::new(&word));
        for path in &paths {
            prop_assert_eq!(used.find(path), find(&word, path), "{}", path);
        }
    }
}
