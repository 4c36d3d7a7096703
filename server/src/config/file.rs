//! Finding and reading the settings file.

use std::{io, path::PathBuf};

use super::{Problem, ServeArgs, Source};

/// A settings file of more than this is a mistake in the path.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Reads the settings file: the one that was named, or the user's own if there is one. The current folder is
/// not searched: it may be a hostile repository, and a setting can name a program to run.
pub fn read_file(
    args: &ServeArgs,
    env: impl Fn(&str) -> Option<String>,
) -> Result<Option<(PathBuf, String)>, Problem> {
    let named = match (&args.config, env("BOOCODE_CONFIG").filter(|path| !path.is_empty())) {
        (Some(path), _) => Some((path.clone(), Source::Flag("--config"))),
        (None, Some(path)) => Some((path.into(), Source::Environment("BOOCODE_CONFIG"))),
        (None, None) => None,
    };
    let (path, source, must_exist) = match (named, users_own(&env)) {
        (Some((path, source)), _) => (path, source, true),
        (None, Some(path)) => (path, Source::Default, false),
        (None, None) => return Ok(None),
    };
    match read(&path) {
        Ok(text) => Ok(Some((std::path::absolute(&path).unwrap_or(path), text))),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !must_exist => Ok(None),
        Err(error) => {
            let message = format!("{} cannot be read: {error}", path.display());
            Err(Problem { setting: "config".into(), source, message })
        }
    }
}

fn users_own(env: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(folder.join("boocode").join("boocode.toml"))
}

fn read(path: &PathBuf) -> io::Result<String> {
    let found = std::fs::metadata(path)?;
    if !found.is_file() || found.len() > FILE_BYTES_MAX {
        return Err(io::Error::other("it is not a settings file (a plain file of at most 1 MiB)"));
    }
    std::fs::read_to_string(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap().to_owned();
        let own = folder.path().join(".config/boocode/boocode.toml");
        std::fs::create_dir_all(own.parent().unwrap()).unwrap();
        let other = folder.path().join("other.toml");
        std::fs::write(&other, "other").unwrap();

        let check = |flag: Option<PathBuf>, env: Option<&str>, expected: Result<Option<&str>, &str>| {
            let args = ServeArgs { config: flag, ..ServeArgs::default() };
            let read = read_file(&args, |name| match name {
                "HOME" => Some(home.clone()),
                "BOOCODE_CONFIG" => env.map(String::from),
                _ => None,
            });
            match (read, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found.map(|(_, text)| text).as_deref(), expected),
                (Err(problem), Err(part)) => assert!(problem.to_string().contains(part), "{problem}"),
                (read, expected) => panic!("{read:?} instead of {expected:?}"),
            }
        };
        // The user's own may be missing; one that was named may not.
        check(None, None, Ok(None));
        check(Some("/nowhere.toml".into()), None, Err("the flag --config"));
        check(None, Some("/nowhere.toml"), Err("BOOCODE_CONFIG"));
        check(Some(folder.path().into()), None, Err("not a settings file"));
        std::fs::write(&own, "own").unwrap();
        check(None, None, Ok(Some("own")));
        check(None, other.to_str(), Ok(Some("other")));
        check(Some(own), other.to_str(), Ok(Some("own")));
    }
}
