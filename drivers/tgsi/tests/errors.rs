//! Errors that the validator keeps from the driver.

use tgsi_driver_tgsi::{DriverError, TgsiOptions, translate};
use tgsi_ir::shader::{Shader, Stage};

fn error(shader: &Shader) -> DriverError {
    translate(shader, &TgsiOptions::default()).expect_err("an error")
}

#[test]
fn no_entry_point() {
    let error = error(&Shader::without_functions(Stage::Vertex));
    assert_eq!((error.code(), error.to_string()), ("no-entry-point", "the shader has no entry point".to_string()));
}
