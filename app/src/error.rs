#[derive(Clone, Debug)]
pub enum AppError {
    Invalid(String),
    Internal,
}
impl AppError {
    pub fn internal(_: impl std::fmt::Display) -> Self {
        Self::Internal
    }
}
