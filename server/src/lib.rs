pub mod auth;
pub mod backend;
pub mod config;
pub mod data_dir;
pub mod doctor;
pub mod engine;
pub mod http;
pub mod link;
pub mod live;
pub mod models;
pub mod os;
pub mod ports;
pub mod postgres;
pub mod project_folder;
pub mod secret;
pub mod serve;
#[cfg(test)]
mod test_program;
