use domain::Rejected;

/// Split by who acts on it: the user, or whoever runs the server.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error("the database refused or did not answer: {0}")]
    Sql(sqlx::Error),
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

impl Error {
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
