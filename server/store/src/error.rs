use domain::Rejected;

/// Split by who acts on it: the user, or whoever runs the server.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error("the database refused or did not answer: {0}")]
    Sql(sqlx::Error),
    #[error("the database gave no answer in time")]
    Silent,
    #[error("the database's tables could not be brought up to date: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    #[error("a stored value is not what this version understands: {0}")]
    Stored(#[from] serde_json::Error),
    #[error("a stored value is not what this version understands: {0}")]
    Unknown(String),
}

/// How Postgres calls a zero character in a text, and in a JSON value.
const NOT_IN_REPERTOIRE: &str = "22021";
const UNTRANSLATABLE: &str = "22P05";

/// How its answers begin that another try may change: a connection broke, we kept a transaction waiting too long, others
/// were in the way (a deadlock, a lock), it has no room, it stops, has crashed or is still starting.
const PASSING: [&str; 6] = ["08", "25P03", "40", "53", "55P03", "57"];

impl Error {
    /// Whether the database was away, or too busy to be asked. Whatever else it says, it says again.
    pub fn is_away(&self) -> bool {
        let error = match self {
            Self::Silent => return true,
            Self::Sql(error) => error,
            _ => return false,
        };
        match error {
            sqlx::Error::Io(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => true,
            sqlx::Error::Database(said) => {
                said.code().is_some_and(|code| PASSING.iter().any(|passing| code.starts_with(passing)))
            }
            _ => false,
        }
    }

    /// Gives a broken constraint the meaning it has to the user.
    pub(crate) fn on_constraint(error: sqlx::Error, name: &str, meaning: Rejected) -> Self {
        match error.as_database_error().and_then(|database| database.constraint()) {
            Some(constraint) if constraint == name => Self::Rejected(meaning),
            _ => error.into(),
        }
    }
}

/// Postgres keeps no zero character in a text. Whoever wrote one can act on it; nobody else can.
impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match error.as_database_error().and_then(|database| database.code()).as_deref() {
            Some(NOT_IN_REPERTOIRE | UNTRANSLATABLE) => Self::Rejected(Rejected::Invalid(
                "A text cannot hold the character with the code zero: take it out.".into(),
            )),
            _ => Self::Sql(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{borrow::Cow, error::Error as StdError, fmt, io};

    use sqlx::error::{DatabaseError, ErrorKind};

    use super::*;

    /// What Postgres says with this code.
    #[derive(Debug)]
    struct Said(&'static str);

    impl fmt::Display for Said {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl StdError for Said {}

    impl DatabaseError for Said {
        fn message(&self) -> &str {
            self.0
        }

        fn code(&self) -> Option<Cow<'_, str>> {
            Some(self.0.into())
        }

        fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static) {
            self
        }

        fn as_error_mut(&mut self) -> &mut (dyn StdError + Send + Sync + 'static) {
            self
        }

        fn into_error(self: Box<Self>) -> Box<dyn StdError + Send + Sync + 'static> {
            self
        }

        fn kind(&self) -> ErrorKind {
            ErrorKind::Other
        }
    }

    #[test]
    fn a_database_that_is_away_is_told_from_one_that_refuses() {
        let said = |code| Error::from(sqlx::Error::Database(Box::new(Said(code))));
        for (error, is_away) in [
            (sqlx::Error::Io(io::ErrorKind::ConnectionReset.into()).into(), true),
            (Error::Silent, true),
            (sqlx::Error::PoolTimedOut.into(), true),
            (sqlx::Error::PoolClosed.into(), true),
            (said("57P01"), true),
            (said("57P03"), true),
            (said("08006"), true),
            (said("23505"), false),
            (said("25P03"), true),
            (said("25P02"), false),
            (said("57014"), true),
            (said("40P01"), true),
            (said("53300"), true),
            (said("55P03"), true),
            (said("55006"), false),
            (said(NOT_IN_REPERTOIRE), false),
            (sqlx::Error::RowNotFound.into(), false),
            (Rejected::Stale.into(), false),
            (serde_json::from_str::<u8>("a word").unwrap_err().into(), false),
            (Error::Unknown("a task is nobody's".into()), false),
        ] {
            assert_eq!(error.is_away(), is_away, "{error:?}");
        }
    }
}
