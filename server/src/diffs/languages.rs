//! Which grammar colours a file, and which colours it has.

use std::sync::OnceLock;

use tree_sitter_highlight::HighlightConfiguration;

/// What grammars call things, and the letter of its colour. What is not among them stays plain: punctuation and
/// variables are most of a text.
const NAMES: [(&str, u8); 22] = [
    ("attribute", b'a'),
    ("boolean", b'n'),
    ("comment", b'c'),
    ("constant", b'n'),
    ("constructor", b't'),
    ("escape", b'e'),
    ("function", b'f'),
    ("keyword", b'k'),
    ("label", b'a'),
    ("number", b'n'),
    ("property", b'p'),
    ("string", b's'),
    ("string.escape", b'e'),
    ("string.special.key", b'p'),
    ("tag", b'g'),
    ("text.emphasis", b'e'),
    ("text.literal", b's'),
    ("text.strong", b'e'),
    ("text.title", b'k'),
    ("text.uri", b'f'),
    ("type", b't'),
    ("variable.builtin", b'k'),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Css,
    Go,
    Html,
    Java,
    JavaScript,
    Json,
    Markdown,
    MarkdownInline,
    Python,
    Rust,
    Shell,
    Toml,
    Tsx,
    TypeScript,
    Yaml,
}

/// As many as there are.
static CONFIGURATIONS: [OnceLock<Option<HighlightConfiguration>>; 16] = [const { OnceLock::new() }; 16];

impl Language {
    pub fn of_path(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending);
        Self::of_name(&ending.to_ascii_lowercase())
    }

    /// By the ending of a file's name, or as a text calls a language that it holds.
    pub fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "c" | "h" | "cc" | "cpp" | "hpp" | "cxx" => Self::C,
            "css" => Self::Css,
            "go" => Self::Go,
            "html" | "htm" | "xhtml" | "svg" | "xml" | "vue" | "svelte" => Self::Html,
            "java" => Self::Java,
            "js" | "mjs" | "cjs" | "jsx" | "javascript" => Self::JavaScript,
            "json" | "jsonc" | "webmanifest" => Self::Json,
            "md" | "markdown" => Self::Markdown,
            "markdown_inline" => Self::MarkdownInline,
            "py" | "pyi" | "python" => Self::Python,
            "rs" | "rust" => Self::Rust,
            "sh" | "bash" | "zsh" | "shell" | "bashrc" | "profile" => Self::Shell,
            "toml" | "lock" => Self::Toml,
            "tsx" => Self::Tsx,
            "ts" | "mts" | "cts" | "typescript" => Self::TypeScript,
            "yml" | "yaml" => Self::Yaml,
            _ => return None,
        })
    }

    /// Made when it is first needed: a query takes its time to compile.
    pub fn configuration(self) -> Option<&'static HighlightConfiguration> {
        CONFIGURATIONS[self as usize].get_or_init(|| self.configure()).as_ref()
    }

    fn configure(self) -> Option<HighlightConfiguration> {
        let (language, queries, injections, locals) = self.grammar();
        let made = HighlightConfiguration::new(language.into(), "", &queries.concat(), injections, locals);
        match made {
            Ok(mut configuration) => {
                configuration.configure(&NAMES.map(|(name, _)| name));
                Some(configuration)
            }
            Err(error) => {
                tracing::error!(language = ?self, %error, "a language has no colours");
                None
            }
        }
    }

    fn grammar(self) -> (tree_sitter_language::LanguageFn, Vec<&'static str>, &'static str, &'static str) {
        use tree_sitter_javascript as js;
        use tree_sitter_typescript as ts;
        match self {
            Self::C => (tree_sitter_c::LANGUAGE, vec![tree_sitter_c::HIGHLIGHT_QUERY], "", ""),
            Self::Css => (tree_sitter_css::LANGUAGE, vec![tree_sitter_css::HIGHLIGHTS_QUERY], "", ""),
            Self::Go => (tree_sitter_go::LANGUAGE, vec![tree_sitter_go::HIGHLIGHTS_QUERY], "", ""),
            Self::Html => {
                let injections = tree_sitter_html::INJECTIONS_QUERY;
                (tree_sitter_html::LANGUAGE, vec![tree_sitter_html::HIGHLIGHTS_QUERY], injections, "")
            }
            Self::Java => (tree_sitter_java::LANGUAGE, vec![tree_sitter_java::HIGHLIGHTS_QUERY], "", ""),
            Self::JavaScript => {
                (js::LANGUAGE, vec![js::HIGHLIGHT_QUERY, js::JSX_HIGHLIGHT_QUERY], "", js::LOCALS_QUERY)
            }
            Self::Json => (tree_sitter_json::LANGUAGE, vec![tree_sitter_json::HIGHLIGHTS_QUERY], "", ""),
            Self::Markdown => {
                let queries = vec![tree_sitter_md::HIGHLIGHT_QUERY_BLOCK];
                (tree_sitter_md::LANGUAGE, queries, tree_sitter_md::INJECTION_QUERY_BLOCK, "")
            }
            Self::MarkdownInline => {
                (tree_sitter_md::INLINE_LANGUAGE, vec![tree_sitter_md::HIGHLIGHT_QUERY_INLINE], "", "")
            }
            Self::Python => {
                (tree_sitter_python::LANGUAGE, vec![tree_sitter_python::HIGHLIGHTS_QUERY], "", "")
            }
            Self::Rust => {
                let injections = tree_sitter_rust::INJECTIONS_QUERY;
                (tree_sitter_rust::LANGUAGE, vec![tree_sitter_rust::HIGHLIGHTS_QUERY], injections, "")
            }
            Self::Shell => (tree_sitter_bash::LANGUAGE, vec![tree_sitter_bash::HIGHLIGHT_QUERY], "", ""),
            Self::Toml => {
                (tree_sitter_toml_ng::LANGUAGE, vec![tree_sitter_toml_ng::HIGHLIGHTS_QUERY], "", "")
            }
            // What TypeScript adds to JavaScript comes first, as the first match is the one that holds.
            Self::Tsx => {
                let queries = vec![ts::HIGHLIGHTS_QUERY, js::HIGHLIGHT_QUERY, js::JSX_HIGHLIGHT_QUERY];
                (ts::LANGUAGE_TSX, queries, "", ts::LOCALS_QUERY)
            }
            Self::TypeScript => {
                let queries = vec![ts::HIGHLIGHTS_QUERY, js::HIGHLIGHT_QUERY];
                (ts::LANGUAGE_TYPESCRIPT, queries, "", ts::LOCALS_QUERY)
            }
            Self::Yaml => (tree_sitter_yaml::LANGUAGE, vec![tree_sitter_yaml::HIGHLIGHTS_QUERY], "", ""),
        }
    }
}

/// The letter of what a grammar found.
pub fn letter(name: usize) -> u8 {
    NAMES[name].1
}
