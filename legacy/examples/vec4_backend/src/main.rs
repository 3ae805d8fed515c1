//! The command `tgsic` with the example's driver.

fn main() -> std::process::ExitCode {
    tgsic::main(&[], &[vec4_backend::ROW])
}
