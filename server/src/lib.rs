pub mod auth;
pub mod backend;
pub mod http;
pub mod project_folder;
