use domain::Rejected;

/// Split by who acts on it: the user, or whoever runs the server.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error("the database refused or did not answer: {0}")]
    Sql(#[from] sqlx::Error),
    #[error("the database's tables could not be brought up to date: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    #[error("a stored value is not what this version understands: {0}")]
    Stored(#[from] serde_json::Error),
    #[error("a stored value is not what this version understands: {0}")]
    Unknown(String),
}

impl Error {
    /// Gives a broken constraint the meaning it has to the user.
    pub(crate) fn on_constraint(error: sqlx::Error, name: &str, meaning: Rejected) -> Self {
        match error.as_database_error().and_then(|database| database.constraint()) {
            Some(constraint) if constraint == name => Self::Rejected(meaning),
            _ => Self::Sql(error),
        }
    }
}
