//! Links a vertex and a fragment shader by name, and prints their registers.

use tgsi_glsl::{GlslOptions, compile_pipeline};
use tgsi_ir::shader::ShaderStage;

fn main() {
    let vertex = b"varying vec2 at; void main() { gl_Position = ftransform(); at = gl_MultiTexCoord0.xy; }";
    let fragment = b"varying vec2 at; uniform sampler2D image; void main() { gl_FragColor = texture2D(image, at); }";
    let options = GlslOptions::default();
    let shaders = [(&vertex[..], ShaderStage::Vertex, &options), (&fragment[..], ShaderStage::Fragment, &options)];
    for compiled in compile_pipeline(&shaders) {
        compiled.findings.iter().for_each(|finding| eprintln!("{finding}"));
        compiled.module.iter().for_each(|module| print!("{}", module.interface.to_text()));
    }
}
