//! Optimises a TGSI text for a target and prints the result.
//!
//! ```sh
//! cargo run -p tgsi-driver-tgsi --example optimize_tgsi -- r300 shader.tgsi
//! ```

use std::sync::Arc;

use tgsi_compiler::{Compiler, Driver};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let target = arguments.next().expect("the name of a target");
    let text = std::fs::read(arguments.next().expect("the path of a shader")).expect("a readable file");
    let shader = tgsi::text::parse(&text).expect("TGSI text").shader;
    let target = tgsi_driver_tgsi::DRIVER.target(&[&target]).expect("a known target");
    let code = Compiler::for_target(Arc::from(target)).compile(&shader).expect("a shader that the target can run");
    print!("{}", String::from_utf8_lossy(&code.into_bytes()));
}
