//! From what an agent said to what it means.

use super::{
    Answer, Attempt, Confidence, Deferred, Finding, Question, Quoted, Said, Source, Stand, Trust, Verdict,
    Verdicts,
    entry::Entry,
    is_alike,
    lenient::{self, Json, Parsed},
};
use crate::flow::cited::{Place, lines};

/// How much of a text is tried again and again, as a multiple of its length.
const EFFORT: usize = 16;

/// A text in three pieces: `before`, `json` and `after` are all of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading<'a, T> {
    /// Empty where nothing was found that could be read.
    pub value: T,
    pub before: &'a str,
    pub json: &'a str,
    pub after: &'a str,
    /// Whether the JSON had to be mended before it could be read.
    pub is_mended: bool,
    /// Whether it ends before it is closed.
    pub is_cut: bool,
}

impl<T> Reading<'_, T> {
    pub fn is_structured(&self) -> bool {
        !self.json.is_empty()
    }

    /// What the value does not hold, to be shown as it was said.
    pub fn loose(&self) -> Option<String> {
        if self.is_mended {
            return Some([self.before, self.json, self.after].concat());
        }
        // The marks of a code block around the JSON say nothing.
        let before = self.before.trim_end().trim_end_matches("```json").trim_end_matches("```").trim();
        let after = self.after.trim_start().trim_start_matches("```").trim();
        let both =
            [before, after].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
        (!both.is_empty()).then_some(both)
    }
}

const ANSWER_KEYS: &[&str] =
    &["summary", "findings", "items", "sections", "deferred", "questions", "good", "next_step"];
const VERDICT_KEYS: &[&str] =
    &["items", "drops", "recommendation", "settle", "confidence", "reason", "risks", "verdicts"];
const FINDING_KEYS: &[&str] = &["id", "claim", "title", "level", "severity", "places"];

pub(super) fn answer(text: &str) -> Reading<'_, Answer> {
    let (reading, json) = find(text, ANSWER_KEYS);
    if let Some(json) = json {
        return reading.with(to_answer(Entry::new(json, "summary")));
    }
    // Only the findings, without what they belong in.
    let (reading, json) = find_list(text);
    let findings =
        json.map(|json| json.into_list().into_iter().map(to_finding).collect()).unwrap_or_default();
    reading.with(Answer { findings, ..Answer::default() })
}

pub(super) fn verdicts(text: &str) -> Reading<'_, Verdicts> {
    let (reading, json) = find(text, VERDICT_KEYS);
    let value = json.map(|json| to_verdicts(Entry::new(json, "reason"))).unwrap_or_default();
    reading.with(value)
}

impl<'a> Reading<'a, ()> {
    fn none(text: &'a str) -> Self {
        Self { value: (), before: text, json: "", after: "", is_mended: false, is_cut: false }
    }

    fn at(text: &'a str, start: usize, parsed: &Parsed) -> Self {
        let Parsed { length, is_mended, is_cut, .. } = *parsed;
        let (before, rest) = text.split_at(start);
        let (json, after) = rest.split_at(length);
        Self { value: (), before, json, after, is_mended, is_cut }
    }

    fn with<T>(self, value: T) -> Reading<'a, T> {
        let Self { value: (), before, json, after, is_mended, is_cut } = self;
        Reading { value, before, json, after, is_mended, is_cut }
    }
}

/// The object with most of these names; of several, the last, because models think aloud before they answer. Looked
/// for where answers usually stand first: in a block of code, then at the beginning of a line, then anywhere.
fn find<'a>(text: &'a str, keys: &[&str]) -> (Reading<'a, ()>, Option<Json>) {
    let score = |json: &Json| match json {
        Json::Fields(fields) => {
            keys.iter().filter(|key| fields.iter().any(|(name, _)| is_alike(name, key))).count()
        }
        _ => 0,
    };
    let in_code = text.match_indices("```").filter_map(|(at, _)| {
        let open = at + text[at..].find('\n')?;
        let inner = text[open..].trim_start();
        inner.starts_with('{').then(|| text.len() - inner.len())
    });
    let braces = || text.match_indices('{').map(|(at, _)| at);
    let begins_line = |at: &usize| text[..*at].trim_end_matches([' ', '\t']).ends_with('\n') || *at == 0;
    let places: [Box<dyn Iterator<Item = usize>>; 3] =
        [Box::new(in_code), Box::new(braces().filter(begins_line)), Box::new(braces())];
    for starts in places {
        if let Some(found) = best(text, starts, score) {
            return found;
        }
    }
    (Reading::none(text), None)
}

/// The last list of objects that look like findings.
fn find_list(text: &str) -> (Reading<'_, ()>, Option<Json>) {
    let is_finding = |json: &Json| match json {
        Json::Fields(fields) => {
            fields.iter().any(|(name, _)| FINDING_KEYS.iter().any(|key| is_alike(name, key)))
        }
        _ => false,
    };
    let score = |json: &Json| match json {
        Json::List(items) => usize::from(items.iter().any(is_finding)),
        _ => 0,
    };
    let starts = text.match_indices('[').map(|(at, _)| at);
    best(text, Box::new(starts), score).unwrap_or((Reading::none(text), None))
}

fn best<'a>(
    text: &'a str,
    starts: Box<dyn Iterator<Item = usize> + '_>,
    score: impl Fn(&Json) -> usize,
) -> Option<(Reading<'a, ()>, Option<Json>)> {
    let mut effort = EFFORT * text.len();
    let mut past = 0;
    let mut best: Option<(usize, Reading<'a, ()>, Json)> = None;
    for start in starts {
        if start < past {
            continue;
        }
        let (parsed, cost) = lenient::parse(&text[start..]);
        let points = parsed.as_ref().map_or(0, |parsed| score(&parsed.json));
        if let Some(parsed) = parsed.filter(|_| points > 0) {
            past = start + parsed.length;
            if best.as_ref().is_none_or(|(most, ..)| points >= *most) {
                best = Some((points, Reading::at(text, start, &parsed), parsed.json));
            }
        }
        // A text full of brackets that lead nowhere is not worth more.
        let Some(left) = effort.checked_sub(cost) else { break };
        effort = left;
    }
    best.map(|(_, reading, json)| (reading, Some(json)))
}

fn to_answer(mut entry: Entry) -> Answer {
    Answer {
        summary: entry.text(&["summary"]),
        findings: entry.list(&["findings"]).into_iter().map(to_finding).collect(),
        items: entry.list(&["items"]).into_iter().map(to_finding).collect(),
        sections: to_sections(entry.take(&["sections"])),
        deferred: entry.list(&["deferred"]).into_iter().map(to_deferred).collect(),
        questions: entry.list(&["questions", "open_questions"]).into_iter().map(to_question).collect(),
        good: entry.texts(&["good", "what_is_good"]),
        next_step: entry.text(&["next_step"]),
        extra: entry.left(),
    }
}

fn to_finding(json: Json) -> Finding {
    let mut entry = Entry::new(json, "claim");
    let mut finding = Finding {
        id: entry.text(&["id"]),
        title: entry.text(&["title", "name"]),
        claim: entry.text(&["claim", "text", "description", "detail", "finding"]),
        level: entry.text(&["level", "severity", "priority", "magnitude"]),
        kind: entry.text(&["kind", "type", "category"]),
        trust: entry.choice(&["trust", "trust_class"], trust),
        places: Vec::new(),
        sources: Vec::new(),
        cites: entry.texts(&["cites", "evidence", "basis", "ids"]),
        single_source: entry.choice(&["single_source"], yes).unwrap_or_default(),
        fields: Vec::new(),
    };
    for json in entry.list(&["places", "place", "locations", "location"]) {
        to_place(json, &mut finding, &mut entry);
    }
    // A place that was not put into a list of places.
    if let Some(path) = entry.take(&["path", "file"]) {
        let line = entry.take(&["line", "line_number", "lines"]).unwrap_or(Json::Null);
        let quote = entry.take(&["quote", "code"]).unwrap_or(Json::Null);
        let fields = [("path", path), ("line", line), ("quote", quote)];
        let json = Json::Fields(fields.map(|(name, value)| (name.to_owned(), value)).into());
        to_place(json, &mut finding, &mut entry);
    }
    for json in entry.list(&["sources", "source"]) {
        finding.sources.push(to_source(json, &mut entry));
    }
    if let Some(url) = entry.take(&["url"]) {
        let date = entry.take(&["date"]).unwrap_or(Json::Null);
        let json = Json::Fields(vec![("url".into(), url), ("date".into(), date)]);
        finding.sources.push(to_source(json, &mut entry));
    }
    finding.fields = entry.left();
    finding
}

fn to_place(json: Json, finding: &mut Finding, left: &mut Entry) {
    let mut entry = Entry::new(json, "path");
    let path = entry.text(&["path", "file"]);
    let line = entry.text(&["line", "line_number", "lines", "start"]);
    let quote = entry.text(&["quote", "code", "snippet"]);
    match Place::read(&path) {
        Some(mut place) => {
            match lines(line.trim()) {
                (Some(first), until) => (place.line, place.until) = (Some(first), until),
                (None, _) => left.keep("line", line),
            }
            finding.places.push(Quoted { place, quote });
        }
        None => {
            for (name, text) in [("path", path), ("line", line), ("quote", quote)] {
                left.keep(name, text);
            }
        }
    }
    entry.left().into_iter().for_each(|field| left.keep(&field.name, field.text));
}

fn to_source(json: Json, left: &mut Entry) -> Source {
    let mut entry = Entry::new(json, "url");
    let source = Source {
        title: entry.text(&["title", "name"]),
        url: entry.text(&["url", "link", "address"]),
        date: entry.text(&["date", "published", "accessed"]),
    };
    entry.left().into_iter().for_each(|field| left.keep(&field.name, field.text));
    source
}

/// A list of titles and texts, or an object whose names are the titles.
fn to_sections(json: Option<Json>) -> Vec<Said> {
    let is_one = |name: &str| ["title", "text"].iter().any(|known| is_alike(name, known));
    match json {
        Some(Json::Fields(fields)) if !fields.iter().any(|(name, _)| is_one(name)) => {
            fields.into_iter().map(|(title, value)| Said { title, text: value.into_text() }).collect()
        }
        json => json.into_iter().flat_map(Json::into_list).map(to_section).collect(),
    }
}

fn to_section(json: Json) -> Said {
    let mut entry = Entry::new(json, "text");
    let title = entry.text(&["title", "name", "heading", "section"]);
    let mut text = entry.text(&["text", "content", "body"]);
    append(&mut text, entry);
    Said { title, text }
}

fn to_deferred(json: Json) -> Deferred {
    let mut entry = Entry::new(json, "what");
    let mut deferred = Deferred {
        what: entry.text(&["what", "title", "item"]),
        why: entry.text(&["why", "reason"]),
        reopen_when: entry.text(&["reopen_when", "reopen", "trigger"]),
        source: entry.text(&["source", "from"]),
    };
    append(&mut deferred.why, entry);
    deferred
}

fn to_question(json: Json) -> Question {
    let mut entry = Entry::new(json, "question");
    let mut question = Question {
        question: entry.text(&["question", "text", "title"]),
        recommended: entry.text(&["recommended", "recommended_answer", "answer", "recommendation"]),
    };
    append(&mut question.recommended, entry);
    question
}

/// What has no place of its own goes under what it came with.
fn append(text: &mut String, entry: Entry) {
    for field in entry.left() {
        let gap = if text.is_empty() { "" } else { "\n" };
        *text = format!("{text}{gap}{}: {}", field.name, field.text);
    }
}

fn to_verdicts(mut entry: Entry) -> Verdicts {
    // The confidence with its reason in one.
    if let Some(Json::Fields(inner)) = entry.peek(&["confidence"]) {
        let mut inner = Entry::new(Json::Fields(inner.clone()), "level");
        if let Some(level) = inner.take(&["level", "value", "confidence"]) {
            entry.take(&["confidence"]);
            entry.put("confidence", level);
            inner.left().into_iter().for_each(|field| entry.put(&field.name, Json::Text(field.text)));
        }
    }
    Verdicts {
        items: entry.list(&["items", "verdicts", "validation"]).into_iter().map(to_attempt).collect(),
        drops: entry.texts(&["drops", "dropped", "false_positives"]),
        recommendation: entry.choice(&["recommendation"], stand),
        settle: entry.text(&["settle", "would_settle", "what_would_settle"]),
        confidence: entry.choice(&["confidence"], confidence),
        reason: entry.text(&["reason", "confidence_reason"]),
        risks: entry.texts(&["risks", "remaining_risks"]),
        extra: entry.left(),
    }
}

fn to_attempt(json: Json) -> Attempt {
    let mut entry = Entry::new(json, "hypothesis");
    let mut attempt = Attempt {
        id: entry.text(&["id"]),
        about: entry.texts(&["about", "ids", "concerns"]),
        hypothesis: entry.text(&["hypothesis", "title", "claim"]),
        checked: entry.text(&["checked", "what_was_checked", "check"]),
        verdict: entry.choice(&["verdict", "result", "status"], verdict),
        impact: entry.text(&["impact", "effect"]),
        fields: Vec::new(),
    };
    attempt.fields = entry.left();
    attempt
}

fn first_word(text: &str) -> String {
    let word = text.split(|c: char| !c.is_ascii_alphabetic()).find(|word| !word.is_empty());
    word.unwrap_or_default().to_ascii_lowercase()
}

fn trust(text: &str) -> Option<Trust> {
    match first_word(text).as_str() {
        "codebase" | "code" => Some(Trust::Codebase),
        "web" => Some(Trust::Web),
        "provided" | "user" => Some(Trust::Provided),
        "reasoning" | "reasoned" => Some(Trust::Reasoning),
        _ => None,
    }
}

fn yes(text: &str) -> Option<bool> {
    match first_word(text).as_str() {
        "true" | "yes" => Some(true),
        "false" | "no" => Some(false),
        _ => None,
    }
}

fn verdict(text: &str) -> Option<Verdict> {
    match first_word(text).as_str() {
        "partially" | "partial" | "partly" => Some(Verdict::PartiallyRefuted),
        "refuted" | "false" => Some(Verdict::Refuted),
        "confirmed" | "holds" | "true" => Some(Verdict::Confirmed),
        _ => None,
    }
}

fn stand(text: &str) -> Option<Stand> {
    match first_word(text).as_str() {
        "stands" | "confirmed" | "holds" => Some(Stand::Stands),
        "weakened" | "partially" => Some(Stand::Weakened),
        "refuted" | "falls" => Some(Stand::Refuted),
        _ => None,
    }
}

fn confidence(text: &str) -> Option<Confidence> {
    match first_word(text).as_str() {
        "high" => Some(Confidence::High),
        "medium" | "moderate" => Some(Confidence::Medium),
        "low" => Some(Confidence::Low),
        _ => None,
    }
}
