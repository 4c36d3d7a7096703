//! The personas that a project offers: the built-in ones, and its own on top of them.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use app::{error::AppError, ports};
use domain::{
    Rejected,
    persona::{self, Offer, Offered, Parsed, Persona, Problem},
};
use futures::future::{BoxFuture, FutureExt as _};
use tokio::time::timeout;

/// Where a project keeps its own.
const FILE: &str = ".boocode/AGENTS.md";
const FILE_BYTES_MAX: usize = 512 * 1024;

/// Shorter than a turn waits for what it needs.
const READ_WAIT_MAX: Duration = Duration::from_secs(3);

static BUILT_IN: LazyLock<Vec<Persona>> =
    LazyLock::new(|| persona::parse(include_str!("../../data/AGENTS.md")).personas);

/// Reads a project's file whenever it is asked, so that a change holds at once.
pub struct Personas {
    files: Arc<dyn ports::Files>,
}

impl Personas {
    pub fn new(files: Arc<dyn ports::Files>) -> Self {
        Self { files }
    }

    /// One of the project's by its name. What the project says wrongly is not replaced in silence by a built-in one
    /// of that name.
    pub async fn find(&self, project: String, name: &str) -> Result<Persona, Rejected> {
        let (all, unread) = self.all(project).await;
        let why = match (unread, all.problem_of(name), all.find(name)) {
            (Some(words), ..) => format!("{FILE}: {words}"),
            (None, Some(Problem { line, words, .. }), _) => format!("{FILE}, line {line}: {words}"),
            (None, None, Some(persona)) => return Ok(persona.clone()),
            (None, None, None) => format!("There is no persona {name} here (any more). Choose another one."),
        };
        Err(Rejected::Invalid(why))
    }

    /// And why none of the project's own could be read.
    async fn all(&self, project: String) -> (Parsed, Option<String>) {
        let read = self.files.read(project, vec![FILE.to_owned()], FILE_BYTES_MAX);
        let own = match timeout(READ_WAIT_MAX, read).await.map(|read| read.into_iter().next()) {
            Ok(Some((_, read))) => parsed(read),
            Ok(None) => Ok(Parsed::default()),
            Err(_) => Err("The file could not be read in time.".to_owned()),
        };
        let (Parsed { personas, problems }, unread) = match own {
            Ok(own) => (own, None),
            Err(words) => (Parsed::default(), Some(words)),
        };
        (Parsed { personas: persona::layered(BUILT_IN.clone(), personas), problems }, unread)
    }
}

fn parsed(read: Result<Vec<u8>, String>) -> Result<Parsed, String> {
    let bytes = read?;
    if bytes.len() > FILE_BYTES_MAX {
        return Err(format!("The file is over {} KB, so none of it is read.", FILE_BYTES_MAX / 1024));
    }
    let text = String::from_utf8(bytes).map_err(|_| "The file is not UTF-8 text.".to_owned())?;
    Ok(persona::parse(&text))
}

impl ports::Personas for Personas {
    fn offer(&self, project: String) -> BoxFuture<'_, Offer> {
        async {
            let (Parsed { personas, mut problems }, unread) = self.all(project).await;
            problems.extend(unread.map(|words| Problem { line: 1, name: None, words }));
            let offered = |Persona { name, description, .. }| Offered { name, description };
            Offer { personas: personas.into_iter().map(offered).collect(), problems }
        }
        .boxed()
    }

    fn check(&self, project: String, name: String) -> BoxFuture<'_, Result<String, AppError>> {
        async move { Ok(self.find(project, &name).await?.name) }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use ports::{Personas as _, ReadFile};

    use super::*;

    /// One file, or none.
    struct One(Option<Result<Vec<u8>, String>>);

    impl ports::Files for One {
        fn find(
            &self,
            _: String,
            _: String,
            _: usize,
        ) -> BoxFuture<'_, Result<app::files::FilesFound, AppError>> {
            async { Err(AppError::Offline) }.boxed()
        }

        fn read(&self, _: String, paths: Vec<String>, _: usize) -> BoxFuture<'_, Vec<ReadFile>> {
            assert_eq!(paths, [FILE]);
            let file = self.0.clone().map(|read| (FILE.to_owned(), read));
            async { file.into_iter().collect() }.boxed()
        }
    }

    async fn offer(file: Option<Result<Vec<u8>, String>>) -> Offer {
        Personas::new(Arc::new(One(file))).offer("/p".into()).await
    }

    #[tokio::test]
    async fn whatever_the_file_is_the_built_in_ones_are_there() {
        let check = async |file: Option<Result<Vec<u8>, String>>, problem: Option<(usize, &str)>| {
            let Offer { personas, problems } = offer(file).await;
            assert!(personas.iter().any(|persona| persona.name == "Debugger"), "{problem:?}");
            let problems: Vec<_> =
                problems.iter().map(|Problem { line, words, .. }| (*line, words.as_str())).collect();
            assert_eq!(problems, problem.into_iter().collect::<Vec<_>>());
        };
        check(None, None).await;
        check(Some(Ok(Vec::new())), None).await;
        check(Some(Ok(vec![0xff])), Some((1, "The file is not UTF-8 text."))).await;
        check(Some(Err("It is no file.".into())), Some((1, "It is no file."))).await;
        let huge = vec![b'x'; FILE_BYTES_MAX + 1];
        check(Some(Ok(huge)), Some((1, "The file is over 512 KB, so none of it is read."))).await;
        let bare = b"# Ours\n\n## Bare\n".to_vec();
        let words = "Bare has no settings: they stand between two lines of ---.";
        check(Some(Ok(bare)), Some((3, words))).await;
    }

    #[tokio::test]
    async fn one_is_found_by_its_name_and_a_missing_one_is_said() {
        let ours = b"## Poet\n---\ndescription: Rhymes\n---\nRhyme.".to_vec();
        let personas = Personas::new(Arc::new(One(Some(Ok(ours)))));
        assert_eq!(personas.check("/p".into(), "poet".into()).await.unwrap(), "Poet");
        let check = async |file: Option<Result<Vec<u8>, String>>, expected: &str| {
            let personas = Personas::new(Arc::new(One(file)));
            let refused = personas.check("/p".into(), "debugger".into()).await.unwrap_err();
            assert_eq!(refused.to_string(), expected);
        };
        let missing = personas.check("/p".into(), "Painter".into()).await.unwrap_err();
        assert_eq!(missing.to_string(), "There is no persona Painter here (any more). Choose another one.");
        // What was meant to take the place of a built-in one is not taken for it.
        let wrong = b"## Debugger\n---\ndescription: Ours\nsteps: none\n---\nOurs.".to_vec();
        let words = "Debugger: steps is a whole number from 1 to 500, not \"none\".";
        check(Some(Ok(wrong)), &format!("{FILE}, line 4: {words}")).await;
        check(Some(Err("It is no file.".into())), &format!("{FILE}: It is no file.")).await;
    }
}
