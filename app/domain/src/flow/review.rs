//! The rules of a code review that code keeps: what is shown in which band, what doubt does to a finding, and how many
//! there are at most. Also the caps of other flows.

use super::{Band, Role, answer::Finding};

pub const CRITICAL: &str = "critical";
pub const WARNING: &str = "warning";
pub const SUGGESTION: &str = "suggestion";
pub const SEVERITIES: &[&str] = &[CRITICAL, WARNING, SUGGESTION];
/// The kind of a finding that says that something is not needed: advice, not a fault.
pub const YAGNI: &str = "yagni";
/// The fields that a security finding lives by.
pub const EXPLOIT: &str = "exploit";
pub const CVE: &str = "cve";
const SECURITY: &str = "security";

/// Security findings are not counted.
pub const FINDINGS_MAX: usize = 30;
/// Security tests are not counted.
pub const TESTS_MAX: usize = 40;

/// The gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Critical,
    Warning,
    Suggestion,
}

/// What a review shows, by indexes into its findings, the gravest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Review {
    pub shown: Vec<Judged>,
    /// Findings of a severity that the band does not show.
    pub hidden: Vec<Judged>,
    /// Findings beyond the most that are shown.
    pub cut: Vec<Judged>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    pub at: usize,
    pub severity: Severity,
    /// The word of doubt for which it counts one level less.
    pub doubt: Option<&'static str>,
}

impl Severity {
    pub const ALL: [Self; 3] = [Self::Critical, Self::Warning, Self::Suggestion];

    pub fn name(self) -> &'static str {
        SEVERITIES[self as usize]
    }

    /// What a word that is none of ours means where there is no doubt about it: the scales that models know besides.
    fn read(words: &str, level: Option<&'static str>) -> Option<Self> {
        let known = Self::ALL.into_iter().find(|severity| Some(severity.name()) == level);
        let word = words.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| !word.is_empty());
        known.or_else(|| match word?.to_ascii_lowercase().as_str() {
            "blocker" | "blocking" | "severe" | "fatal" | "high" | "highest" | "p0" | "sev0" | "s0" => {
                Some(Self::Critical)
            }
            "major" | "medium" | "moderate" | "p1" | "sev1" | "s1" => Some(Self::Warning),
            "minor" | "low" | "lowest" | "trivial" | "nit" | "nitpick" | "info" | "informational" => {
                Some(Self::Suggestion)
            }
            _ => None,
        })
    }

    fn lower(self) -> Self {
        match self {
            Self::Critical => Self::Warning,
            Self::Warning | Self::Suggestion => Self::Suggestion,
        }
    }
}

/// Judges the findings that survived their validators, with who found each. Advice is none of them.
pub(super) fn review(
    findings: &[(usize, Role, &Finding)],
    band: Band,
    level: impl Fn(&str) -> Option<&'static str>,
) -> Review {
    let mut judged: Vec<(bool, bool, Judged)> = Vec::new();
    for (at, role, finding) in findings {
        let is_security = is_security(*role, finding);
        // What nobody can place counts where somebody looks at it, and not as the worst; it is shown in every band.
        let known = Severity::read(&finding.level, level(&finding.level));
        let severity = known.unwrap_or(Severity::Warning);
        let doubt = doubt(finding).filter(|_| !is_security && severity != Severity::Suggestion);
        let severity = if doubt.is_some() { severity.lower() } else { severity };
        let is_shown = match band {
            Band::Small => {
                severity == Severity::Critical
                    || (severity == Severity::Warning && finding.says_yes("introduced"))
            }
            Band::Medium => severity <= Severity::Warning,
            Band::Large => true,
        };
        let is_shown = is_shown || known.is_none();
        judged.push((is_shown, is_security, Judged { at: *at, severity, doubt }));
    }
    // Within a severity the order of the roster stays.
    judged.sort_by_key(|(_, _, judged)| judged.severity);
    let mut review = Review::default();
    let mut counted = 0;
    for (is_shown, is_security, judged) in judged {
        if !is_shown {
            review.hidden.push(judged);
        } else if !is_security && counted == FINDINGS_MAX {
            review.cut.push(judged);
        } else {
            counted += usize::from(!is_security);
            review.shown.push(judged);
        }
    }
    review
}

/// The tests that are planned, the most needed first: which are shown, and which are too many.
pub(super) fn tests<'a>(
    mut order: Vec<usize>,
    planned: impl Fn(usize) -> &'a Finding,
    rank: impl Fn(&str) -> usize,
) -> (Vec<usize>, Vec<usize>) {
    order.sort_by_key(|at| rank(&planned(*at).level));
    let mut counted = 0;
    order.into_iter().partition(|at| {
        let is_security = planned(*at).kind.to_ascii_lowercase().contains(SECURITY);
        counted += usize::from(!is_security);
        is_security || counted <= TESTS_MAX
    })
}

pub(super) fn is_security(role: Role, finding: &Finding) -> bool {
    role == Role::SecurityAnalyst || finding.kind.to_ascii_lowercase().contains(SECURITY)
}

/// A way in that nobody could take is none, and a number is one only in full.
pub(super) fn has_exploit(finding: &Finding) -> bool {
    let told = |name: &str| finding.field(name).unwrap_or_default();
    let (exploit, cve) = (told(EXPLOIT), told(CVE));
    has_cve(exploit) || has_cve(cve) || !(exploit.is_empty() || denies(exploit))
}

/// `CVE-2026-1234` somewhere in it.
fn has_cve(text: &str) -> bool {
    let text = text.to_ascii_uppercase();
    let is_number = |part: &str| {
        let (year, number) = part.split_once('-').unwrap_or_default();
        let is_year = year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit());
        is_year && number.starts_with(|c: char| c.is_ascii_digit())
    };
    text.match_indices("CVE-").any(|(at, prefix)| is_number(&text[at + prefix.len()..]))
}

/// Whether a field that asks for a way in says that there is none. "No login is needed" is one.
fn denies(text: &str) -> bool {
    /// What is denied within the first words.
    const DENIED: [&str; 14] = [
        "applicable",
        "assigned",
        "attack",
        "available",
        "cve",
        "cves",
        "exploit",
        "exploitable",
        "exploits",
        "found",
        "identified",
        "known",
        "vector",
        "vulnerability",
    ];
    const DENIED_WITHIN: usize = 3;
    let clause = text.split(['.', ',', ';', ':', '\n', '(']).next().unwrap_or_default().to_ascii_lowercase();
    let mut words: Vec<_> = clause.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    words.retain(|word| !word.is_empty());
    if let ["there", "is" | "are", rest @ ..] = words.as_slice() {
        words = rest.to_vec();
    }
    match words.as_slice() {
        [] | ["no" | "none" | "not" | "nothing" | "unknown" | "na" | "null"] | ["n", "a", ..] => true,
        ["no", "path" | "way"] | ["no", "way", "in"] => true,
        ["no" | "none" | "not" | "nothing", rest @ ..] => {
            rest.iter().take(DENIED_WITHIN).any(|word| DENIED.contains(word))
        }
        _ => false,
    }
}

/// The first word with which a finding doubts itself.
fn doubt(finding: &Finding) -> Option<&'static str> {
    const WORDS: [&str; 17] = [
        "appears",
        "could",
        "likely",
        "may",
        "maybe",
        "might",
        "perhaps",
        "possible",
        "possibly",
        "potential",
        "potentially",
        "presumably",
        "probably",
        "seem",
        "seems",
        "unclear",
        "unsure",
    ];
    // In small letters as they stand, so that the month is none.
    let words = |text: &str| -> Option<&'static str> {
        let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
        words.find_map(|word| WORDS.into_iter().find(|doubt| *doubt == word))
    };
    words(&finding.title).or_else(|| words(&finding.claim))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(level: &str, claim: &str) -> Finding {
        let (level, claim) = (level.to_owned(), claim.to_owned());
        Finding { level, claim, ..Finding::default() }
    }

    fn level(words: &str) -> Option<&'static str> {
        SEVERITIES.iter().find(|name| **name == words).copied()
    }

    /// Each word is a finding: C, W or S, with `?` for doubt, `+` for introduced, `!` for security.
    fn check(band: Band, words: &str, shown: &str, hidden: usize, cut: usize) {
        let findings: Vec<_> = words
            .split_whitespace()
            .map(|word| {
                let level = match &word[..1] {
                    "C" => CRITICAL,
                    "W" => WARNING,
                    "S" => SUGGESTION,
                    _ => "odd",
                };
                let mut finding =
                    finding(level, if word.contains('?') { "it might fail" } else { "it fails" });
                if word.contains('+') {
                    finding
                        .fields
                        .push(crate::flow::answer::Named { name: "introduced".into(), text: "Yes.".into() });
                }
                let role = if word.contains('!') { Role::SecurityAnalyst } else { Role::BehavioralAnalyst };
                (role, finding)
            })
            .collect();
        let findings: Vec<_> =
            findings.iter().enumerate().map(|(at, (role, finding))| (at, *role, finding)).collect();
        let review = review(&findings, band, level);
        let names: Vec<_> = review
            .shown
            .iter()
            .map(|judged| format!("{}{}", &judged.severity.name()[..1], judged.at))
            .collect();
        assert_eq!(names.join(" "), shown, "{band} {words}");
        assert_eq!((review.hidden.len(), review.cut.len()), (hidden, cut), "{band} {words}");
    }

    #[test]
    fn bands_show_more_and_more() {
        check(Band::Small, "S W W+ C", "c3 w2", 2, 0);
        check(Band::Medium, "S W W+ C", "c3 w1 w2", 1, 0);
        check(Band::Large, "S W W+ C", "c3 w1 w2 s0", 0, 0);
        check(Band::Medium, "X", "w0", 0, 0);
        check(Band::Small, "X X?", "w0 s1", 0, 0);
    }

    #[test]
    fn severities_are_understood_on_other_scales_too() {
        let check = |words: &str, expected: Option<Severity>| {
            assert_eq!(Severity::read(words, level(words)), expected, "{words}");
        };
        for (severity, words) in [
            (Severity::Critical, "critical high HIGH blocker Blocking severe fatal P0 sev0 **High**"),
            (Severity::Warning, "warning medium moderate major P1 (medium)"),
            (Severity::Suggestion, "suggestion low minor nit info trivial"),
        ] {
            words.split_whitespace().for_each(|word| check(word, Some(severity)));
        }
        check("high: data is lost", Some(Severity::Critical));
        for odd in ["", "not high", "very bad", "P7", "error"] {
            check(odd, None);
        }
    }

    #[test]
    fn doubt_costs_one_level_but_not_where_security_is_at_stake() {
        check(Band::Large, "C? W? S?", "w0 s1 s2", 0, 0);
        check(Band::Large, "C?! W?!", "c0 w1", 0, 0);
        check(Band::Small, "C? W+?", "", 2, 0);
    }

    #[test]
    fn words_of_doubt_are_whole_words() {
        let check =
            |claim: &str, expected: Option<&str>| assert_eq!(doubt(&finding("", claim)), expected, "{claim}");
        check("It might fail", Some("might"));
        check("possibly lost", Some("possibly"));
        check("released in May", None);
        check("the mighty maybelline", None);
        check("it fails", None);
    }

    #[test]
    fn at_most_thirty_besides_security() {
        let many = "C ".repeat(35) + &"W! ".repeat(20) + "C!";
        let findings = many.split_whitespace().count();
        let shown: Vec<_> = (0..FINDINGS_MAX).map(|at| format!("c{at}")).collect();
        let security: Vec<_> = (35..55).map(|at| format!("w{at}")).collect();
        check(Band::Large, &many, &format!("{} c55 {}", shown.join(" "), security.join(" ")), 0, 5);
        assert_eq!(findings, 56);
    }

    #[test]
    fn at_most_forty_tests_besides_security() {
        let mut items: Vec<_> =
            (0..45).map(|at| finding(if at == 44 { "crit" } else { "low" }, "")).collect();
        items.extend((0..3).map(|_| Finding { kind: "Security".into(), ..finding("low", "") }));
        let order = (0..items.len()).collect();
        let (shown, cut) = tests(order, |at| &items[at], |level| usize::from(level != "crit"));
        assert_eq!((shown.len(), cut.len()), (TESTS_MAX + 3, 5));
        assert_eq!(shown[0], 44, "the most needed comes first");
        assert!((45..48).all(|at| shown.contains(&at)));
    }

    #[test]
    fn a_way_in_has_a_path_or_a_number() {
        let check = |name: &str, text: &str, expected: bool| {
            let mut finding = finding("high", "x");
            finding.fields.push(crate::flow::answer::Named { name: name.into(), text: text.into() });
            assert_eq!(has_exploit(&finding), expected, "{name}: {text}");
        };
        check("exploit", "Anybody posts a form", true);
        check("exploit", "No login is needed: anybody posts a form", true);
        check("exploit", "None of the routes checks the token, so a guest deletes carts", true);
        check("exploit", "Not only admins reach it. A guest posts to /carts", true);
        check("exploit", "No path is checked: ../../etc/passwd is sent", true);
        check("exploit", "None known, but it is CVE-2026-1234", true);
        check("CVE", "CVE-2026-1", true);
        check("cve", "see cve-2024-30078.", true);
        for none in [
            " ",
            "-",
            "None.",
            "none known",
            "None identified in this review.",
            "No",
            "no CVE",
            "No known exploit",
            "No direct exploit path was found",
            "There is no known exploit path.",
            "No way in.",
            "not applicable",
            "Not exploitable",
            "Not directly exploitable, as it is internal",
            "N/A",
            "n/a (internal)",
            "unknown",
        ] {
            check("exploit", none, false);
            check("cve", none, false);
        }
        check("cve", "yes", false);
        check("cve", "CVE-pending", false);
        check("cve", "CVE-24-1", false);
        check("fix", "Escape it", false);
    }
}
