mod address;
pub use address::Address;
