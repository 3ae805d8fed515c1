//! Tests of whole modules.

mod assemble;
mod damaged;
pub(crate) mod entries;
mod values;

use tgsi_diagnostics::Diagnostic;
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};

use crate::{Compiled, SpirvOptions, compile};
pub(crate) use assemble::assemble;

/// Types and constants of the modules of these tests, and a fragment shader. Its inputs are 1. `DECLARATIONS` and `CODE`
/// are replaced; the code gives the float `%x`, which is the output.
const MODULE: &str = "
    OpCapability 1
    %ext = OpExtInstImport 'GLSL.std.450'
    %amd = OpExtInstImport 'SPV_AMD_shader_trinary_minmax'
    %debug = OpExtInstImport 'NonSemantic.Tests'
    OpMemoryModel 0 1
    OpEntryPoint 4 %main 'main' %inputs %integers %output
    OpExecutionMode %main 7
    OpDecorate %inputs 30 0
    OpDecorate %integers 30 1
    OpDecorate %integers 14
    OpDecorate %output 30 0
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %bool = OpTypeBool
    %bool2 = OpTypeVector %bool 2
    %float = OpTypeFloat 32
    %half = OpTypeFloat 16
    %double = OpTypeFloat 64
    %int = OpTypeInt 32 1
    %uint = OpTypeInt 32 0
    %short = OpTypeInt 16 1
    %long = OpTypeInt 64 1
    %vec2 = OpTypeVector %float 2
    %vec3 = OpTypeVector %float 3
    %vec4 = OpTypeVector %float 4
    %ivec2 = OpTypeVector %int 2
    %ivec4 = OpTypeVector %int 4
    %uvec2 = OpTypeVector %uint 2
    %mat2 = OpTypeMatrix %vec2 2
    %mat23 = OpTypeMatrix %vec3 2
    %3 = OpConstant %uint 3
    %array = OpTypeArray %vec2 %3
    %struct = OpTypeStruct %array %float %mat2
    %floats = OpTypeStruct %float %float
    %parts = OpTypeStruct %float %int
    %words = OpTypeStruct %uint %uint
    %to_inputs = OpTypePointer 1 %vec4
    %to_input = OpTypePointer 1 %float
    %to_integers = OpTypePointer 1 %ivec4
    %to_output = OpTypePointer 3 %vec4
    %to_float = OpTypePointer 7 %float
    %to_int = OpTypePointer 7 %int
    %to_vec2 = OpTypePointer 7 %vec2
    %to_mat2 = OpTypePointer 7 %mat2
    %inputs = OpVariable %to_inputs 1
    %integers = OpVariable %to_integers 1
    %output = OpVariable %to_output 3
    %f0 = OpConstant %float 0.0
    %f1 = OpConstant %float 1.0
    %f2 = OpConstant %float 2.0
    %f3 = OpConstant %float 3.0
    %f4 = OpConstant %float 4.0
    %f5 = OpConstant %float 5.0
    %i0 = OpConstant %int 0
    %i1 = OpConstant %int 1
    %i2 = OpConstant %int 2
    %u0 = OpConstant %uint 0
    %u1 = OpConstant %uint 1
    %u31 = OpConstant %uint 31
    %ones = OpConstant %uint 0xffffffff
    %true = OpConstantTrue %bool
    %false = OpConstantFalse %bool
    %v12 = OpConstantComposite %vec2 %f1 %f2
    %v34 = OpConstantComposite %vec2 %f3 %f4
    %m1234 = OpConstantComposite %mat2 %v12 %v34
    %a = OpConstantComposite %array %v12 %v34 %v12
    %s = OpConstantComposite %struct %a %f5 %m1234
    %null = OpConstantNull %struct
    %undef = OpUndef %struct
    DECLARATIONS
    %main = OpFunction %void 0 %function
    %start = OpLabel
    %local = OpVariable %to_float 7
    %other = OpVariable %to_float 7
    %number = OpVariable %to_int 7
    %local2 = OpVariable %to_vec2 7
    %one4 = OpLoad %vec4 %inputs
    %one = OpCompositeExtract %float %one4 0
    %two = OpFAdd %float %one %one
    %int4 = OpLoad %ivec4 %integers
    %int1 = OpCompositeExtract %int %int4 0
    %yes = OpFOrdGreaterThan %bool %one %f0
    CODE
    %result = OpCompositeConstruct %vec4 %x %x %x %x
    OpStore %output %result
    OpReturn
    OpFunctionEnd
";

/// The bytes of a module.
fn module(declarations: &str, code: &str) -> Vec<u8> {
    assemble(&MODULE.replace("DECLARATIONS", declarations).replace("CODE", code))
}

/// Compiles a module, whose IR must be valid.
fn compiled(bytes: &[u8]) -> Compiled {
    let compiled = compile(bytes, None, &SpirvOptions::default());
    if let Some(module) = &compiled.module {
        let errors = tgsi_ir::validate::find_errors(&module.shader);
        assert!(errors.is_empty(), "{errors:?}");
    }
    compiled
}

/// The value of `%x`.
fn value(declarations: &str, code: &str) -> Result<f32, Vec<Diagnostic>> {
    let compiled = compiled(&module(declarations, code));
    let module = compiled.module.ok_or(compiled.findings)?;
    let mut inputs = Inputs { lanes: 4, inputs: LaneRegisters::new(4, 2), ..Inputs::default() };
    for (lane, component) in (0..4).flat_map(|lane| (0..4).map(move |component| (lane, component))) {
        inputs.inputs.set(0, component, lane, 1f32.to_bits());
        inputs.inputs.set(1, component, lane, 1);
    }
    let ran =
        tgsi_ir::run::run(&module.shader, &inputs, &mut AnalyticResources::default(), RunLimits::of_steps(1 << 20));
    let ran = ran.unwrap_or_else(|error| panic!("{code}: {error}"));
    Ok(f32::from_bits(ran.outputs.get(0, 0, 0)))
}
