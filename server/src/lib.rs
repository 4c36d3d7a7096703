pub mod data_dir;
pub mod os;
pub mod postgres;
