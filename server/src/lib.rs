pub mod config;
pub mod doctor;
pub mod models;
pub mod secret;
#[cfg(test)]
mod test_program;
