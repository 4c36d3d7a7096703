pub mod config;
pub mod models;
pub mod secret;
