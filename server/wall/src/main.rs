//! The helper by itself, for the tests of this crate. The server has the same as its subcommand.

fn main() {
    wall::enter(std::env::args_os().skip(2))
}
