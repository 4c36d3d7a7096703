pub mod auth;
pub mod backend;
pub mod config;
pub mod data_dir;
pub mod doctor;
pub mod http;
pub mod models;
pub mod os;
pub mod postgres;
pub mod project_folder;
pub mod secret;
#[cfg(test)]
mod test_program;
