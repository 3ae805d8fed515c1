//! Converts a GLSL shader to IR, and prints it with the registers of its uniforms.
//!
//! ```sh
//! cargo run -p tgsi-glsl --example glsl_to_ir -- shader.frag
//! ```

use tgsi_glsl::{GlslOptions, compile};
use tgsi_ir::ShaderStage;

fn main() {
    let path = std::env::args().nth(1).expect("the path of a shader");
    let text = std::fs::read(&path).expect("a readable file");
    let stage = match path.rsplit('.').next() {
        Some("vert") => ShaderStage::Vertex,
        Some("tesc") => ShaderStage::TessCtrl,
        Some("tese") => ShaderStage::TessEval,
        Some("geom") => ShaderStage::Geometry,
        Some("comp") => ShaderStage::Compute,
        _ => ShaderStage::Fragment,
    };
    let compiled = compile(&text, stage, &GlslOptions::default());
    for finding in &compiled.findings {
        eprintln!("{path}: byte {}: {finding}", finding.span.start);
    }
    let Some(module) = compiled.module else { return };
    for uniform in &module.interface.uniforms {
        println!("// {} {}: {} registers from {}", uniform.ty, uniform.name, uniform.num_registers, uniform.register);
    }
    print!("{}", tgsi_ir::text::print(&module.shader));
}
