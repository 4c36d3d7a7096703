pub mod auth;
pub mod http;
pub mod project_folder;
