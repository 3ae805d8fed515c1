//! Sets `cfg(reference_data)` for the tests of this crate. The package for crates.io has neither tests nor this script.

#[path = "../build/reference_data.rs"]
mod reference_data;

fn main() {
    reference_data::main();
}
