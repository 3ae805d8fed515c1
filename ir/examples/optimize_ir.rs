//! Optimises IR text and prints the result.
//!
//! ```sh
//! cargo run -p tgsi-ir --example optimize_ir -- shader.ir
//! ```

use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pipeline;

fn main() {
    let path = std::env::args_os().nth(1).expect("the path of a file with IR text");
    let text = std::fs::read_to_string(path).expect("a text file");
    let mut shader = match tgsi_ir::text::parse(&text) {
        Ok(shader) => shader,
        Err(errors) => panic!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
    };
    let errors = tgsi_ir::validate::find_errors(&shader);
    assert!(errors.is_empty(), "{errors:?}");
    pipeline::into_ssa(&mut shader);
    pipeline::optimize(&mut shader, &CompilerOptions::default());
    print!("{}", tgsi_ir::text::print(&shader));
}
