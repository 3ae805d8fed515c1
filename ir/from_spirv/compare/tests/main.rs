//! Integration tests.
mod modules;
