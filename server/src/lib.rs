pub mod auth;
pub mod backend;
pub mod config;
pub mod doctor;
pub mod http;
pub mod models;
pub mod project_folder;
pub mod secret;
