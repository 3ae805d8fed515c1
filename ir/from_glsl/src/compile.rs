//! The entry points: text to IR, for a shader alone and for the stages of a pipeline.

use std::borrow::Cow;

use tgsi_compiler::front_end::Interface;
use tgsi_diagnostics::{Diagnostic, Span};
use tgsi_ir::shader::{Shader, ShaderStage};

use crate::link::{Slots, link};
use crate::options::GlslOptions;
use crate::stage::{StageUnit, UnitText};
use crate::stage_macros::with_stage_macro;

/// A shader that was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Module {
    /// The IR, in SSA form, with inputs and outputs as variables and uniforms in registers.
    pub shader: Shader,
    /// By [origin](tgsi_ir::Body::origin): the statement in the text.
    pub origins: Vec<Span>,
    /// The values that the application sets and other stages share.
    pub interface: Interface,
    /// `main` in the text.
    pub(crate) main: Span,
}

/// The result of reading a text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The module; `None` if there are errors.
    pub module: Option<Module>,
    /// Errors and warnings.
    pub findings: Vec<Diagnostic>,
}

/// Checks a unit of a stage, without the requirements of a complete shader: it may lack `main`, and call functions that
/// are defined in another unit. A text with conditions on the macros `VERTEX` and `FRAGMENT` is checked, as it is
/// compiled, with that of the stage.
pub fn check(text: &[u8], stage: ShaderStage, options: &GlslOptions) -> Vec<Diagnostic> {
    let options = with_stage_macro(text, stage, options);
    match StageUnit::read(&[UnitText { text, start: 0 }], stage, &options, false) {
        Ok(unit) => unit.finish(&Slots::default()).findings,
        Err(findings) => findings,
    }
}

/// Reads a shader of a stage.
pub fn compile(text: &[u8], stage: ShaderStage, options: &GlslOptions) -> Compiled {
    compile_units(&[UnitText { text, start: 0 }], stage, &with_stage_macro(text, stage, options))
}

/// Reads a shader of several units.
pub(crate) fn compile_units(units: &[UnitText<'_>], stage: ShaderStage, options: &GlslOptions) -> Compiled {
    match StageUnit::read(units, stage, options, true) {
        Ok(unit) => unit.finish(&Slots::default()),
        Err(findings) => Compiled { module: None, findings },
    }
}

/// Reads the shaders of a pipeline, in pipeline order, and links them by name: outputs of a stage and inputs of the next
/// with one name get the same slots. Errors of the interface between two stages are findings of the second.
///
/// If a shader has errors, the others are read as by [`compile`].
pub fn compile_pipeline(shaders: &[(&[u8], ShaderStage, &GlslOptions)]) -> Vec<Compiled> {
    let units: Vec<[UnitText<'_>; 1]> = shaders.iter().map(|&(text, ..)| [UnitText { text, start: 0 }]).collect();
    let options: Vec<Cow<'_, GlslOptions>> =
        shaders.iter().map(|&(text, stage, options)| with_stage_macro(text, stage, options)).collect();
    let shaders = shaders.iter().zip(&units).zip(&options);
    let shaders = shaders.map(|((&(_, stage, _), units), options)| (&units[..], stage, &**options));
    compile_stages(&shaders.collect::<Vec<_>>())
}

/// Reads the shaders of a pipeline, each of one or more units, and links them.
pub(crate) fn compile_stages(shaders: &[(&[UnitText<'_>], ShaderStage, &GlslOptions)]) -> Vec<Compiled> {
    let read = |&(units, stage, options): &(&[UnitText<'_>], ShaderStage, &GlslOptions)| {
        StageUnit::read(units, stage, options, true)
    };
    let stages: Vec<Result<StageUnit, Vec<Diagnostic>>> = shaders.iter().map(read).collect();
    if stages.iter().any(Result::is_err) {
        let finish = |stage: Result<StageUnit, Vec<Diagnostic>>| match stage {
            Ok(stage) => stage.finish(&Slots::default()),
            Err(findings) => Compiled { module: None, findings },
        };
        return stages.into_iter().map(finish).collect();
    }
    let mut stages: Vec<StageUnit> = stages.into_iter().flatten().collect();
    let slots = link(&mut stages);
    stages.into_iter().zip(&slots).map(|(stage, slots)| stage.finish(slots)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tgsi_compiler::front_end::InterfaceVariable;
    use tgsi_ir::passes::pipeline;

    fn module(text: &str, stage: ShaderStage) -> Module {
        let compiled = compile(text.as_bytes(), stage, &GlslOptions::default());
        let findings: Vec<String> =
            compiled.findings.iter().map(|finding| format!("{finding} {:?}", finding.span)).collect();
        compiled.module.unwrap_or_else(|| panic!("{text}: {findings:#?}"))
    }

    #[test]
    fn storage_blocks_without_a_layout_are_tight() {
        let strides = |block: &str| {
            let text = format!(
                "#version 430\n{block} {{ float a[2]; float b; }}; out vec4 c; void main() {{ c = vec4(a[1], b, 0, 0); }}"
            );
            let module = module(&text, ShaderStage::Fragment);
            let resource = module.interface.resources.into_iter().next().expect("a block");
            resource.members.iter().map(|member| (member.offset, member.array_stride)).collect::<Vec<_>>()
        };
        assert_eq!(strides("buffer B"), [(0, 4), (8, 0)]);
        assert_eq!(strides("layout(packed) buffer B"), [(0, 4), (8, 0)]);
        assert_eq!(strides("layout(std140) buffer B"), [(0, 16), (32, 0)]);
        assert_eq!(strides("uniform B"), [(0, 16), (32, 0)]);
    }

    #[test]
    fn the_macro_of_the_stage_is_defined_in_every_entry_point() {
        // The second condition is wrong, but not evaluated behind one that holds.
        let text = b"#if defined(VERTEX)\nvoid main() { gl_Position = vec4(1.0); }\n\
                     #elif gl_MaxDrawBuffers(FRAGMENT)\nvoid main() { gl_FragColor = vec4(1.0); }\n#endif\n";
        let options = GlslOptions::default();
        let (vertex, fragment) = (ShaderStage::Vertex, ShaderStage::Fragment);
        assert!(check(text, vertex, &options).is_empty());
        assert!(compile(text, vertex, &options).module.is_some());
        let pipeline = compile_pipeline(&[(text, vertex, &options), (text, fragment, &options)]);
        assert_eq!(pipeline.iter().map(|one| one.module.is_some()).collect::<Vec<_>>(), [true, false]);
        assert!(check(text, fragment, &options).iter().any(Diagnostic::is_error));
        // A macro of the options has precedence.
        let mut options = GlslOptions::default();
        options.definitions.push(("FRAGMENT".to_owned(), "1".to_owned()));
        assert!(check(text, vertex, &options).iter().any(Diagnostic::is_error));
    }

    #[test]
    fn a_fragment_shader_becomes_valid_ir() {
        let text = "uniform vec4 tint; uniform sampler2D image; varying vec2 at;\n\
                    vec4 twice(vec4 a) { return a * 2.0; }\n\
                    void main() {\n  vec4 c = texture2D(image, at);\n  if (c.a < 0.5) discard;\n\
                    for (int i = 0; i < 4; i++) c.xy += float(i) * at.yx;\n  gl_FragColor = twice(c) * tint;\n}\n";
        let module = module(text, ShaderStage::Fragment);
        let errors = tgsi_ir::validate::find_errors(&module.shader);
        assert!(errors.is_empty(), "{errors:?}\n{}", tgsi_ir::text::print(&module.shader));
        assert_eq!(module.interface.uniforms.len(), 1);
        assert_eq!(module.interface.samplers.len(), 1);
    }

    #[test]
    fn distances_are_counted() {
        let vertex = "#version 130\nout float gl_ClipDistance[6]; void main() { gl_Position = vec4(0.0);\n\
                      gl_ClipDistance[1] = 1.0; }";
        let unsized_array = vertex.replace("out float gl_ClipDistance[6];", "");
        let fragment = "#version 130\nin float gl_ClipDistance[3]; void main() {\n\
                        gl_FragColor = vec4(gl_ClipDistance[1]); }";
        let count = |text, stage| module(text, stage).shader.info.clip_distance_array_size;
        let (of_vertex, of_fragment) = (ShaderStage::Vertex, ShaderStage::Fragment);
        assert_eq!(count(vertex, of_vertex), 6);
        assert_eq!((count(&unsized_array, of_vertex), count(fragment, of_fragment)), (2, 3));
    }

    #[test]
    fn a_discard_leaves_the_loop() {
        let loops = "#version 130\nuniform int n; out vec4 c; void main() { int i = 0; while (true) { if (i > n) discard; i++; } }";
        let printed = tgsi_ir::text::print(&module(loops, ShaderStage::Fragment).shader);
        let (_, after) = printed.split_once("@terminate").expect("a discard");
        assert_eq!(after.lines().nth(1).map(str::trim), Some("break"), "{printed}");
    }

    #[test]
    fn matrices_and_structs_are_whole_in_the_interface() {
        let text = "attribute mat3 turn; uniform struct { mat2 m; float f; } parts; varying mat2 product;\n\
                    void main() { product = parts.m * parts.f; gl_Position = vec4(turn[1], product[0][0]); }\n";
        let mut module = module(text, ShaderStage::Vertex);
        let names = |list: &[InterfaceVariable]| {
            list.iter()
                .map(|variable| format!("{} {} {}", variable.ty, variable.name, variable.register))
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&module.interface.inputs), ["mat3 turn 0"]);
        assert_eq!(names(&module.interface.outputs), ["vec4 gl_Position 0", "mat2 product 1"]);
        assert_eq!((module.interface.uniforms[0].register, module.interface.uniforms[0].num_registers), (0, 3));
        // The compiler's pipeline splits them by their registers.
        pipeline::into_ssa(&mut module.shader);
        let registers = |mode| {
            let variables = module.shader.variables.values().filter(|data| data.mode == mode);
            variables.map(|data| (data.name.clone(), data.driver_location)).collect::<Vec<_>>()
        };
        let outputs = registers(tgsi_ir::variable::VariableModes::SHADER_OUT);
        assert_eq!(registers(tgsi_ir::variable::VariableModes::SHADER_IN).len(), 1);
        assert!(outputs.iter().any(|(_, register)| *register == 1), "{outputs:?}");
    }
}
