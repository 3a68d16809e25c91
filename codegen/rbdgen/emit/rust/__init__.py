"""A crate of Rust that compiles the C of the folder and calls it, without the standard library."""
