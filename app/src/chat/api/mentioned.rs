//! The files that a text mentions, read as they are at this moment.

use domain::{
    attachment::{self, Enclosed, LeftOut, Media},
    id::ChatId,
    mention,
};
use store::attachments::NewFile;

use crate::{error::AppError, ports};

const NO_SUCH_FILE: &str = "There is no such file in the project that may be read.";

/// Keeps each file that is named and may go along, unsent as yet, and says why another may not. What is neither a
/// file of the project nor looks like one is only text.
pub async fn keep(chat: ChatId, text: &str) -> Result<Enclosed, AppError> {
    let mut enclosed = Enclosed::default();
    let paths = mention::paths(text);
    if paths.is_empty() {
        return Ok(enclosed);
    }
    let db = ports::db()?;
    let project = store::workspace::project_of_chat(&db, chat).await?;
    let found = ports::files()?.read(project.path, paths.clone(), attachment::TEXT_BYTES_MAX).await;
    let is_missing = |path: &String| found.iter().all(|(name, _)| name != path);
    let missed = paths.into_iter().filter(is_missing).filter(|path| mention::is_surely_a_file(path));
    let missed: Vec<_> = missed.map(|name| LeftOut { name, reason: NO_SUCH_FILE.to_owned() }).collect();
    for (name, read) in found {
        let body = read.and_then(|body| match attachment::inspect(&name, &body) {
            Ok(Media::Text) => Ok(body),
            Ok(Media::Image { .. }) => Err(format!("{name} is an image: attach it instead.")),
            Err(rejected) => Err(rejected.to_string()),
        });
        let kept = match body {
            Ok(body) => {
                let file = NewFile { name: name.clone(), body, is_mention: true };
                match store::attachments::add(&db, chat, file).await {
                    Ok(kept) => Ok(kept),
                    Err(store::Error::Rejected(rejected)) => Err(rejected.to_string()),
                    Err(error) => return Err(error.into()),
                }
            }
            Err(reason) => Err(reason),
        };
        match kept {
            Ok(file) => enclosed.mentioned.push(file),
            Err(reason) => enclosed.left_out.push(LeftOut { name, reason }),
        }
    }
    enclosed.left_out.extend(missed);
    Ok(enclosed)
}
