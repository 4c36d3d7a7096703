pub const CRITICAL: &str = "critical";
pub const WARNING: &str = "warning";
pub const SUGGESTION: &str = "suggestion";
pub const SEVERITIES: &[&str] = &[CRITICAL, WARNING, SUGGESTION];
pub const YAGNI: &str = "yagni";
pub const EXPLOIT: &str = "exploit";
pub const CVE: &str = "cve";
