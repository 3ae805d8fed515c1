//! Tests of blocks, their numbers and their description.

use pretty_assertions::assert_eq;
use tgsi_compiler::front_end::{Descriptor, Resource, ResourceKind};
use tgsi_ir::shader::ShaderStage::{Compute, Fragment};
use tgsi_ir::text::print;
use tgsi_ir::variable::VariableModes;

use crate::compile::Module;
use crate::options::{Bind, BindKind, Environment, SpirvOptions};
use crate::tests::entries::{codes, entry, read, read_with};

/// Two uniform blocks, the second one an array of two, and push constants of 32 bytes.
const BLOCKS: &str = "OpName %a \"a\"
    OpName %b \"b\"
    OpName %p \"p\"
    OpDecorate %block Block
    OpDecorate %push Block
    OpMemberDecorate %block 0 Offset 0
    OpMemberDecorate %push 0 Offset 16
    OpDecorate %a DescriptorSet 1
    OpDecorate %a Binding 0
    OpDecorate %b DescriptorSet 0
    OpDecorate %b Binding 3
    OpDecorate %unused DescriptorSet 0
    OpDecorate %unused Binding 0
    %block = OpTypeStruct %v4
    %push = OpTypeStruct %v4
    %blocks = OpTypeArray %block %2
    %to_block = OpTypePointer 2 %block
    %to_blocks = OpTypePointer 2 %blocks
    %to_push = OpTypePointer PushConstant %push
    %to_v4 = OpTypePointer 2 %v4
    %push_v4 = OpTypePointer PushConstant %v4
    %a = OpVariable %to_block 2
    %b = OpVariable %to_blocks 2
    %unused = OpVariable %to_block 2
    %p = OpVariable %to_push PushConstant";

const LOADS: &str = "%pa = OpAccessChain %to_v4 %a %0
    %la = OpLoad %v4 %pa
    %pb = OpAccessChain %to_v4 %b %1 %0
    %lb = OpLoad %v4 %pb
    %pp = OpAccessChain %push_v4 %p %0
    %lp = OpLoad %v4 %pp";

fn blocks() -> String {
    entry(Compute, "", BLOCKS, LOADS)
}

/// Name, mode, binding and first register of blocks, by name.
fn variables(module: &Module) -> Vec<(String, &'static str, u32, u32)> {
    let modes = VariableModes::MEM_UBO.union(VariableModes::MEM_SSBO).union(VariableModes::MEM_PUSH_CONST);
    let mut found: Vec<_> = module
        .shader
        .globals_with(modes)
        .map(|(_, data)| {
            (data.name.clone(), data.mode.names().next().unwrap_or(""), data.binding, data.driver_location)
        })
        .collect();
    found.sort();
    found
}

/// Kind, descriptor, register, number of registers, offset and size.
fn summary(resource: &Resource) -> (ResourceKind, (u32, u32), [u32; 4]) {
    let Descriptor { set, binding } = resource.descriptor;
    let numbers = [resource.register, resource.num_registers, resource.offset, resource.size];
    (resource.kind, (set, binding), numbers)
}

fn with(options: SpirvOptions, text: &str) -> Module {
    let compiled = read_with(text, &options);
    compiled.module.unwrap_or_else(|| panic!("{:?}", compiled.findings))
}

fn codes_with(options: &SpirvOptions, text: &str) -> Vec<&'static str> {
    read_with(text, options).findings.iter().map(|finding| finding.code.id).collect()
}

#[test]
fn blocks_are_numbered_by_set_and_binding() {
    let module = read(&blocks());
    let modes: Vec<_> = variables(&module).into_iter().map(|(_, mode, binding, _)| (mode, binding)).collect();
    assert_eq!(modes, [("ubo", 2), ("ubo", 0), ("push_const", 0)]);
    assert_eq!((module.shader.info.num_ubos, module.shader.num_uniforms), (3, 2));
    let resources: Vec<_> = module.interface.resources.iter().map(summary).collect();
    assert_eq!(
        resources,
        [
            (ResourceKind::PushConstants, (0, 0), [0, 1, 0, 32]),
            (ResourceKind::UniformBlock, (0, 3), [1, 2, 0, 16]),
            (ResourceKind::UniformBlock, (1, 0), [3, 1, 0, 16]),
        ]
    );
}

#[test]
fn flat_blocks_are_behind_each_other() {
    let module = with(SpirvOptions { flat: true, ..SpirvOptions::default() }, &blocks());
    let places: Vec<_> = variables(&module).into_iter().map(|(_, mode, _, first)| (mode, first)).collect();
    assert_eq!(places, [("push_const", 4), ("push_const", 2), ("push_const", 0)]);
    assert_eq!((module.shader.info.num_ubos, module.shader.num_uniforms), (0, 5));
    let resources: Vec<_> = module.interface.resources.iter().map(|r| (r.element, r.offset, r.size)).collect();
    assert_eq!(resources, [(0, 0, 32), (0, 32, 16), (1, 48, 16), (0, 64, 16)]);
}

#[test]
fn numbers_can_be_chosen() {
    let bind = |register| Bind { kind: BindKind::Constant, set: 1, binding: 0, register };
    let module = with(SpirvOptions { binds: vec![bind(1)], ..SpirvOptions::default() }, &blocks());
    let bindings: Vec<_> = variables(&module).into_iter().map(|(_, _, binding, _)| binding).collect();
    assert_eq!(bindings, [0, 1, 0]);
    // Push constants give way to a block in constant buffer 0.
    let module = with(SpirvOptions { binds: vec![bind(0)], ..SpirvOptions::default() }, &blocks());
    assert!(module.shader.info.first_ubo_is_default_ubo);
    let modes: Vec<_> = variables(&module).into_iter().map(|(_, mode, binding, _)| (mode, binding)).collect();
    assert_eq!(modes, [("ubo", 0), ("ubo", 1), ("ubo", 3)]);
    let bind = Bind { kind: BindKind::Image, set: 7, binding: 0, register: 0 };
    assert_eq!(codes_with(&SpirvOptions { binds: vec![bind], ..SpirvOptions::default() }, &blocks()), ["T1539"]);
    let bind = Bind { kind: BindKind::Constant, set: 1, binding: 0, register: u32::MAX };
    assert_eq!(codes_with(&SpirvOptions { binds: vec![bind], ..SpirvOptions::default() }, &blocks()), ["T1540"]);
}

#[test]
fn bindings_of_the_spirv_driver_are_registers() {
    let text = blocks().replace("OpDecorate %a Binding 0", "OpDecorate %a Binding 128");
    let module = with(SpirvOptions { environment: Some(Environment::Tgsic), ..SpirvOptions::default() }, &text);
    let modes: Vec<_> = variables(&module).into_iter().map(|(_, mode, binding, _)| (mode, binding)).collect();
    assert_eq!(modes, [("ubo", 0), ("ubo", 3), ("ubo", 1)]);
}

#[test]
fn arrays_without_length_need_a_count() {
    let text = blocks().replace("OpTypeArray %block %2", "OpTypeRuntimeArray %block");
    assert_eq!(codes(&text), ["T1536"]);
    let module = with(SpirvOptions { counts: vec![(0, 3, 5)], ..SpirvOptions::default() }, &text);
    assert_eq!(module.shader.info.num_ubos, 6);
}

#[test]
fn aliases_share_a_number() {
    let text = blocks().replace("%a DescriptorSet 1", "%a DescriptorSet 0").replace("%a Binding 0", "%a Binding 3");
    let module = read(&text);
    let bindings: Vec<_> = variables(&module).into_iter().map(|(_, mode, binding, _)| (mode, binding)).collect();
    assert_eq!(bindings, [("ubo", 0), ("ubo", 0), ("push_const", 0)]);
    let text = text
        .replace(
            "OpDecorate %block Block",
            "OpDecorate %block BufferBlock\nOpDecorate %other Block\nOpMemberDecorate %other 0 Offset 0",
        )
        .replace("%blocks = OpTypeArray %block %2", "%other = OpTypeStruct %v4\n%blocks = OpTypeArray %other %2");
    // Kinds have separate registers.
    let bindings: Vec<_> = variables(&read(&text)).into_iter().map(|(_, mode, binding, _)| (mode, binding)).collect();
    assert_eq!(bindings, [("ssbo", 0), ("ubo", 0), ("push_const", 0)]);
}

#[test]
fn blocks_need_a_layout() {
    assert_eq!(codes(&blocks().replace("OpMemberDecorate %block 0 Offset 0", "")), ["T1530", "T1530"]);
    assert_eq!(codes(&blocks().replace("OpDecorate %push Block", "")), ["T1530"]);
    let matrix = blocks().replace("%push = OpTypeStruct %v4", "%push = OpTypeStruct %m2").replace(
        "%pp = OpAccessChain %push_v4 %p %0\n    %lp = OpLoad %v4 %pp",
        "%pp = OpAccessChain %push_v2 %p %0 %0\n    %lp = OpLoad %v2 %pp",
    );
    let matrix = matrix.replace("%to_push = ", "%push_v2 = OpTypePointer PushConstant %v2\n%to_push = ");
    assert_eq!(codes(&matrix), ["T1530"]);
    let narrow = matrix.replace(
        "OpMemberDecorate %push 0 Offset 16",
        "OpMemberDecorate %push 0 Offset 16\nOpMemberDecorate %push 0 MatrixStride 4",
    );
    assert_eq!(codes(&narrow), ["T1519"]);
}

#[test]
fn uniforms_have_registers_by_location() {
    let declarations = "OpName %x \"x\"
        OpName %m \"m\"
        OpDecorate %x Location 4
        OpDecorate %m Location 1
        %to_v4 = OpTypePointer UniformConstant %v4
        %to_m2 = OpTypePointer UniformConstant %m2
        %x = OpVariable %to_v4 UniformConstant
        %m = OpVariable %to_m2 UniformConstant";
    let code = "%lx = OpLoad %v4 %x
        %lm = OpLoad %m2 %m";
    let module = read(&entry(Fragment, "", declarations, code));
    let uniforms: Vec<_> = module
        .interface
        .uniforms
        .iter()
        .map(|u| (u.name.as_str(), u.ty.as_str(), u.register, u.num_registers))
        .collect();
    assert_eq!(uniforms, [("m", "mat2", 0, 2), ("x", "vec4", 2, 1)]);
    assert_eq!(module.shader.num_uniforms, 3);
    assert!(print(&module.shader).contains("deref_var &x (uniform vec4)"));
}

#[test]
fn uniforms_of_opengl_have_locations() {
    let declarations = "OpDecorate %u Location 4
        OpDecorate %s Location 20
        OpDecorate %s Binding 3
        OpMemberName %pair 0 \"a\"
        OpMemberName %pair 1 \"b\"
        OpName %u \"u\"
        %rows = OpTypeArray %v4 %2
        %grid = OpTypeArray %rows %3
        %pair = OpTypeStruct %float %grid
        %pairs = OpTypeArray %pair %2
        %to_pairs = OpTypePointer UniformConstant %pairs
        %to_float = OpTypePointer UniformConstant %float
        %u = OpVariable %to_pairs UniformConstant
        %image = OpTypeImage %float 1 0 0 0 1 0
        %sampled = OpTypeSampledImage %image
        %few = OpTypeArray %sampled %2
        %many = OpTypeArray %few %3
        %set = OpTypeStruct %v4 %many
        %to_set = OpTypePointer UniformConstant %set
        %to_sampled = OpTypePointer UniformConstant %sampled
        %s = OpVariable %to_set UniformConstant
        %zero = OpConstantComposite %v2 %f0 %f0";
    let code = "%p = OpAccessChain %to_float %u %1 %0
        %l = OpLoad %float %p
        %ps = OpAccessChain %to_sampled %s %1 %1 %0
        %ls = OpLoad %sampled %ps
        %x = OpImageSampleImplicitLod %v4 %ls %zero";
    let options = SpirvOptions { environment: Some(Environment::OpenGl), ..SpirvOptions::default() };
    let interface = with(options, &entry(Fragment, "", declarations, code)).interface;
    let members = interface.uniforms.iter().flat_map(|uniform| &uniform.members);
    let found: Vec<_> = members.map(|m| (m.path.as_str(), m.location, m.length, m.num_active)).collect();
    let expected = [
        ("[0].a", Some(4), None, 1),
        ("[0].b", Some(5), Some(6), 3),
        ("[1].a", Some(11), None, 1),
        ("[1].b", Some(12), Some(6), 3),
    ];
    assert_eq!(found, expected);
    let sampler = &interface.samplers[0];
    assert_eq!((sampler.initial_unit, sampler.num_active), (3, 3));
    assert_eq!(sampler.locations, [21, 22, 23, 24, 25, 26]);
    let mut buffer = interface.initial_constants();
    assert_eq!(interface.set_at_location(13, &[1.0, 2.0, 3.0, 4.0], &mut buffer), Ok(true));
    assert_eq!(interface.set_at_location(18, &[1.0], &mut buffer), Ok(false));
    assert!(interface.set_at_location(12, &[1.0], &mut buffer).is_err());
    let first = 4 * (interface.uniforms[0].members[3].register as usize + 1);
    assert_eq!(buffer[first..first + 4], [1.0f32, 2.0, 3.0, 4.0].map(f32::to_bits));
}

#[test]
fn the_last_row_of_a_block_has_no_padding() {
    let text = blocks()
        .replace(
            "OpMemberDecorate %block 0 Offset 0",
            "OpMemberDecorate %block 0 Offset 0\nOpDecorate %list ArrayStride 32",
        )
        .replace("%block = OpTypeStruct %v4", "%list = OpTypeArray %v4 %3\n%block = OpTypeStruct %list")
        .replace("%to_v4 %a %0", "%to_v4 %a %0 %0")
        .replace("%to_v4 %b %1 %0", "%to_v4 %b %1 %0 %0");
    let module = with(SpirvOptions::default(), &text);
    let sizes: Vec<_> = module.interface.resources.iter().map(|r| (r.size, r.num_active)).collect();
    assert_eq!(sizes, [(32, 1), (80, 1), (80, 1)]);
}
