//! Hiding who made a result: letters that are dealt anew for each look at two of them, and names taken out of texts.

mod words;

use super::{Battle, Identity};
use crate::backend::NATIVE;

/// None of the roster's letters, so that nobody mistakes the one for the other.
const LETTERS: [char; 6] = ['P', 'Q', 'R', 'S', 'T', 'U'];
const HIDDEN: &str = "[name]";
/// Shorter ones are common words, unless a number is in them.
const NAME_CHARS_MIN: usize = 3;

/// The letter of the entrant at a place, in analyses from before letters were dealt for each pair.
pub fn letter(place: usize) -> char {
    LETTERS[place % LETTERS.len()]
}

/// Two letters: of whom is shown first, and of whom is shown second. In both orders of a pair they are the same two,
/// so that a judge who likes a letter changes its mind with the order, as one who likes the first does.
pub fn deal(seed: u64) -> [char; 2] {
    let order = shuffled(LETTERS.len(), seed);
    [LETTERS[order[0]], LETTERS[order[1]]]
}

/// The numbers below `count` in an order that the seed gives.
pub fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut state = seed;
    for at in (1..count).rev() {
        // SplitMix64, as good as needed for six.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        order.swap(at, ((z ^ (z >> 31)) % (at as u64 + 1)) as usize);
    }
    order
}

/// Words that would tell who wrote a text.
#[derive(Clone, Debug)]
pub struct Names(Vec<Vec<char>>);

impl Names {
    /// `titles`: what the machine that runs them calls the agents.
    pub fn of(battle: &Battle, titles: &[&str]) -> Self {
        let own = battle.contestants.iter().flat_map(|contestant| {
            let model = contestant.model.model.as_str();
            let last = model.rsplit('/').next().unwrap_or(model);
            let family = last.split([':', '-', '_', '.']).next().unwrap_or(last);
            let family = family.trim_end_matches(|c: char| c.is_ascii_digit());
            let agent = match &contestant.identity {
                Identity::Backend(backend) => Some(backend.0.as_str()),
                Identity::Persona(_) | Identity::Plain => None,
            };
            // The name of our own backend is an ordinary word.
            let agent = agent.filter(|name| *name != NATIVE);
            let words = [contestant.identity.persona().unwrap_or_default(), model, last];
            let telling = words.into_iter().filter(|word| is_telling(word));
            let family = Some(family).filter(|family| !words::is_everyday(family));
            agent.into_iter().chain(telling).chain(family)
        });
        Self::new(own.chain(titles.iter().copied()).chain(words::known()))
    }

    /// The longest first, so that no part of one is left behind.
    fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let is_long = |name: &&str| {
            let letters = name.chars().count();
            let has = |wanted: fn(&u8) -> bool| name.bytes().any(|b| wanted(&b));
            letters >= NAME_CHARS_MIN || (has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic))
        };
        let small = |name: &str| name.chars().flat_map(char::to_lowercase).collect::<Vec<_>>();
        let mut names: Vec<_> = names.into_iter().filter(is_long).map(small).collect();
        names.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        names.dedup();
        Self(names)
    }

    /// The text with the names taken out, however they are written, where they stand as words. Versions and sizes
    /// that are written together with a name go with it.
    pub fn hidden(&self, text: &str) -> String {
        let (mut clean, mut rest) = (String::with_capacity(text.len()), text);
        let mut before = None;
        while let Some(letter) = rest.chars().next() {
            let is_inside_word =
                before.is_some_and(|before: char| before.is_alphanumeric() && !is_hump(before, letter));
            let found = if is_inside_word { None } else { self.length_at(rest, letter) };
            let taken = match found {
                Some(bytes) => {
                    clean.push_str(HIDDEN);
                    bytes
                }
                None => {
                    clean.push(letter);
                    letter.len_utf8()
                }
            };
            before = Some(letter).filter(|_| found.is_none());
            rest = &rest[taken..];
        }
        clean
    }

    /// How many bytes of the text's beginning are a name.
    fn length_at(&self, text: &str, letter: char) -> Option<usize> {
        let first = letter.to_lowercase().next();
        let could_be = self.0.iter().filter(|name| name.first().copied() == first);
        could_be.filter_map(|name| matched(text, name)).next()
    }
}

/// Whether a name is none that anybody may write without meaning it: a single word that is no number is an ordinary one.
fn is_telling(name: &str) -> bool {
    name.chars().any(|c| !c.is_alphabetic())
}

/// How long the name at the beginning of the text is, with the version that belongs to it.
fn matched(text: &str, name: &[char]) -> Option<usize> {
    let (mut wanted, mut letters) = (name.iter().copied().peekable(), text.char_indices());
    let (mut end, mut last) = (0, ' ');
    while wanted.peek().is_some() {
        let (at, letter) = letters.next()?;
        // What is one letter here may be two in small letters, as in some scripts.
        if !letter.to_lowercase().all(|small| wanted.next() == Some(small)) {
            return None;
        }
        (end, last) = (at + letter.len_utf8(), letter);
    }
    let rest = &text[end..];
    // `qwenish` is a word of its own; `qwen3` and `QwenCoder` are not.
    let goes_on = |next: char| match next.is_ascii_digit() {
        // `o30` is not `o3`.
        true => last.is_ascii_digit(),
        false => next.is_alphabetic() && !is_hump(last, next),
    };
    (!rest.starts_with(goes_on)).then(|| end + version(rest))
}

/// Whether the second letter begins a word in one that is written together, as in `ClaudeCode`.
fn is_hump(before: char, letter: char) -> bool {
    before.is_lowercase() && letter.is_uppercase()
}

/// `3`, `2.5`, `-5-mini`, `3-coder:30b`: what is glued to a name and holds a number, and words between such.
fn version(text: &str) -> usize {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    let glued = &text[..text.find(|c| !is_part(c)).unwrap_or(text.len())];
    let last_number = glued.rfind(|c: char| c.is_ascii_digit());
    let Some(last) = last_number else { return 0 };
    // To the end of the word that the last number stands in.
    let rest = &glued[last..];
    last + rest.find(['-', '_', ':', '.']).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_out_where_they_are_words() {
        let names =
            Names::new(["qwen3-coder:30b", "qwen code", "qwen", "poet", "gpt", "smollm", "İris", "o3", "a"]);
        let check = |text: &str, expected: &str| assert_eq!(names.hidden(text), expected, "{text}");
        check("I am Qwen, made for you.", "I am [name], made for you.");
        check("Qwen3-Coder:30B did it; QWEN CODE too", "[name] did it; [name] too");
        check("a poetic poet", "a poetic [name]");
        check("sqwen qwenish", "sqwen qwenish");
        check("ünïcödé qwen ünï", "ünïcödé [name] ünï");
        // A letter that grows in small letters hides nobody, before a name or in it.
        check("İstanbul QWEN and İRIS", "İstanbul [name] and [name]");
        // Versions go with the name; what merely follows does not.
        check("Qwen3, SmolLM2 and GPT-5.", "[name], [name] and [name].");
        check("GPT-4o-mini wrote qwen2.5-coder-7b-instruct", "[name]-mini wrote [name]-instruct");
        check("qwen-style code, qwen: 3 tests", "[name]-style code, [name]: 3 tests");
        check("src/qwen/a3.rs", "src/[name]/a3.rs");
        // A short name has a number in it.
        check("O3 and o3-mini: a to30 o30", "[name] and [name]-mini: a to30 o30");
        // Names of types and functions have no spaces.
        check("QwenCoder, askQwen, runQwenNow", "[name]Coder, ask[name], run[name]Now");
        check("poetry SQWEN QWENISH", "poetry SQWEN QWENISH");
    }

    #[test]
    fn whoever_takes_part_is_hidden_too() {
        let mut battle = crate::battle::tests::battle(super::super::Kind::Coding, "L1 C2", |_| {});
        battle.contestants[0].model.model = "hub/Zephyr7-beta:q4".into();
        let names = Names::of(&battle, &["My Own"]);
        let check = |text: &str, expected: &str| assert_eq!(names.hidden(text), expected, "{text}");
        check("Zephyr7-Beta:Q4 here, or zephyr, by agent1", "[name] here, or [name], by [name]");
        check("native code, by My own", "native code, by [name]");
    }

    /// A judge that reads patches with holes in them judges something else.
    #[test]
    fn ordinary_words_stay_although_somebody_is_called_so() {
        let check = |model: &str, persona: &str, text: &str, expected: &str| {
            let mut battle = crate::battle::tests::battle(super::super::Kind::Qa, "L1 C2", |_| {});
            battle.contestants[0].model.model = model.into();
            battle.contestants[0].identity = Identity::Persona(persona.into());
            assert_eq!(Names::of(&battle, &[]).hidden(text), expected, "{model}");
        };
        check("cohere/command-r", "", "the command: Command-R", "the command: [name]");
        check("step-3", "", "step 3 by Step-3", "step 3 by [name]");
        check("small", "Debugger", "a small debugger", "a small debugger");
        check("m1", "Code Reviewer", "M1, a code reviewer", "[name], a [name]");
        check("openai/o3", "", "o3 by openai/o3", "[name] by [name]");
        check("mini4:1b", "", "the mini map of Mini4:1B", "the mini map of [name]");
    }

    #[test]
    fn the_family_of_a_model_is_hidden_although_nobody_knows_it() {
        let check = |model: &str, text: &str, expected: &str| {
            let mut battle = crate::battle::tests::battle(super::super::Kind::Qa, "L1 C2", |_| {});
            battle.contestants[0].model.model = model.into();
            assert_eq!(Names::of(&battle, &[]).hidden(text), expected, "{model}");
        };
        check("brightwing3.1:8b", "I am Brightwing, a brightwings fan", "I am [name], a brightwings fan");
        check("hub/larkspur-7b", "Larkspur wrote it, larkspur-2 did not", "[name] wrote it, [name] did not");
        check("tern", "a tern in the pattern", "a [name] in the pattern");
        // These are known, whoever takes part.
        check("small", "Granite, by IBM; Phi-4; a nova", "[name], by [name]; [name]; a [name]");
    }

    #[test]
    fn letters_are_dealt_by_the_seed_and_everybody_gets_one() {
        let (mut firsts, mut pairs) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
        for seed in 0..200 {
            let mut order = shuffled(6, seed);
            assert_eq!(order, shuffled(6, seed));
            firsts.insert(order[0]);
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3, 4, 5]);
            let [first, second] = deal(seed);
            assert_ne!(first, second);
            pairs.insert((first, second));
        }
        assert_eq!((firsts.len(), pairs.len()), (6, 30));
        assert!(shuffled(0, 1).is_empty());
    }
}
