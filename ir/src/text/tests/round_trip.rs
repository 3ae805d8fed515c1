//! Parsing printed text restores the shader: the same text and the same code.

use pretty_assertions::assert_eq;

use super::parse_ok;
use crate::alu::{AluOp, AluType};
use crate::body::{
    AluFlags, Body, CastLayout, CfNode, DerefKind, IfControl, InstData, JumpKind, LoopControl, MAX_INDICES, Shape,
    SourceSpec, Swizzle, TexData, TexOp, TexSrcKind,
};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Type};
use crate::intrinsics::indices::{AccessFlags, AtomicOp, InterpMode, IoSemantics, IoXfb, IoXfbOut, Scope};
use crate::intrinsics::{DestBits, DestComponents, IndexKind, IntrinsicOp, SrcComponents};
use crate::shader::{FunctionData, Parameter, Shader, ShaderStage};
use crate::text::{PrintOptions, print, print_with};
use crate::types::{Field, ScalarType, TypeData, TypeTable};
use crate::variable::{Initializer, VariableData, VariableModes};
use tgsi_environment::PixelFormat;
use tgsi_environment::SamplerDim;

fn type_name(types: &TypeTable, ty: Type) -> String {
    let mut name = String::new();
    crate::text::type_names::push_type(&mut name, types, ty, true);
    name
}

/// Describes a body without ids that have no meaning.
fn describe(shader: &Shader, body: &Body) -> Vec<String> {
    let order: Vec<Block> = body.blocks().chain([body.end_block()]).collect();
    let number = |block: Block| order.iter().position(|&b| b == block);
    let mut lines = vec![format!("{} values, structured {}", body.num_defs(), body.structured)];
    for &local in &body.locals {
        lines.push(describe_variable(shader, &shader.variables[local]));
    }
    for block in body.blocks() {
        lines.push(format!(
            "block {:?} succs {:?}",
            number(block),
            body.successors(block).map(number).collect::<Vec<_>>()
        ));
        for inst in body.insts(block) {
            let data = match *body.inst(inst) {
                InstData::Tex(_) => format!("{:?}", body.tex(inst)),
                InstData::LoadConst { .. } => format!("{:x?}", body.constant(inst)),
                InstData::Deref { kind, modes, ty } => {
                    let kind = match kind {
                        DerefKind::Var(v) => format!("var {}", shader.variables[v].name),
                        DerefKind::Cast(cast) => format!("{:?}", body.cast(cast)),
                        kind => format!("{kind:?}"),
                    };
                    format!("{kind} {modes:?} {}", type_name(&shader.types, ty))
                }
                InstData::ParallelCopy(_) => format!("{:?}", body.copies(inst)),
                InstData::Jump(JumpKind::Goto(target)) => format!("goto {:?}", number(target)),
                InstData::Jump(JumpKind::GotoIf { then_block, else_block }) => {
                    format!("goto {:?} else {:?}", number(then_block), number(else_block))
                }
                data => format!("{data:?}"),
            };
            let dest = body.inst_def(inst).map(|d| (d, body.shape(d)));
            let sources: Vec<String> = body
                .sources(inst)
                .enumerate()
                .map(|(i, s)| {
                    let extra = match *body.inst(inst) {
                        InstData::Alu { .. } => {
                            let used = body.alu_src_components(inst, i);
                            format!("{:?}", body.swizzle(s).iter(used).collect::<Vec<_>>())
                        }
                        InstData::Phi => format!("{:?}", number(body.phi_predecessor(s))),
                        InstData::Tex(_) => format!("{:?}", body.tex_src_kind(s)),
                        _ => String::new(),
                    };
                    format!("{:?}{extra}", body.src_def(s))
                })
                .collect();
            lines.push(format!("  {dest:?} = {data} {sources:?}"));
        }
        match body.node_after(block) {
            Some(CfNode::If(id)) => {
                lines.push(format!("if {:?} {:?}", body.src_def(body.if_condition(id)), body.if_control(id)));
            }
            Some(CfNode::Loop(id)) => lines.push(format!(
                "loop {:?} {:?} {:?}",
                body.loop_control(id),
                body.loop_divergence(id),
                body.loop_continue_list(id).map(|l| number(l.first))
            )),
            _ => {}
        }
    }
    lines
}

fn describe_variable(shader: &Shader, data: &VariableData) -> String {
    let ty = type_name(&shader.types, data.ty);
    let data = VariableData { ty: Type::from_u32(0), ..data.clone() };
    format!("{ty} {data:?}")
}

/// Asserts that two shaders are equal, independently of their text.
pub(super) fn assert_same(left: &Shader, right: &Shader) {
    assert_eq!((left.stage, &left.info), (right.stage, &right.info));
    let variables = |s: &Shader| -> Vec<String> {
        super::super::print_names::ordered_globals(s).iter().map(|&v| describe_variable(s, &s.variables[v])).collect()
    };
    assert_eq!(variables(left), variables(right));
    assert_eq!(left.functions.len(), right.functions.len());
    for (a, b) in left.functions.values().zip(right.functions.values()) {
        let head = |f: &FunctionData| {
            (
                f.name.clone(),
                f.parameters.clone(),
                f.is_entry_point,
                f.is_exported,
                f.attributes.clone(),
                f.body.is_some(),
            )
        };
        assert_eq!(head(a), head(b));
        if let (Some(a), Some(b)) = (&a.body, &b.body) {
            assert_eq!(describe(left, a), describe(right, b));
        }
    }
}

/// Prints, parses, compares, prints again; in the extended form, and in Mesa's form if that is a fixed point after
/// parsing once.
fn check(shader: &Shader) -> String {
    let text = print(shader);
    let again = parse_ok("our own form", &text);
    assert_same(shader, &again);
    assert_eq!(print(&again), text);
    let mesa = PrintOptions { mesa: true };
    let plain = print_with(shader, mesa);
    let plain_again = parse_ok("Mesa's form", &plain);
    let plain_text = print_with(&plain_again, mesa);
    let plain_third = parse_ok("Mesa's form again", &plain_text);
    assert_eq!(print_with(&plain_third, mesa), plain_text);
    text
}

fn undef(b: &mut Builder<'_>, components: u8, bits: u8) -> Def {
    b.undef(components, bits)
}

#[test]
fn every_alu_opcode() {
    let mut shader = Shader::new(ShaderStage::Fragment);
    let mut b = Builder::at_end(shader.main_mut());
    let mut count = 0;
    for &op in AluOp::ALL {
        let info = op.info();
        let sizes: &[u8] = if info.bit_sizes.is_empty() { &[32] } else { info.bit_sizes };
        for (variant, &bits) in sizes.iter().enumerate() {
            for components in [1, 3, 4, 8] {
                if info.output_size != 0 && components > 1 {
                    continue;
                }
                let components = if info.output_size == 0 { components } else { info.output_size };
                let sources: Vec<SourceSpec> = (0..usize::from(info.num_inputs))
                    .map(|i| {
                        let ty = info.input_types[i];
                        let size = if ty.is_unsized() { bits } else { ty.bit_size };
                        let used = op.input_components(i, components);
                        // As wide as necessary, or wider with another order of components.
                        let wider = if variant % 2 == 1 || i % 2 == 1 { if used > 4 { 16 } else { 5 } } else { used };
                        let def = undef(&mut b, wider, size);
                        let swizzle = if wider == used {
                            Swizzle::IDENTITY
                        } else {
                            let order: Vec<u8> = (0..used).map(|c| (wider - 1 - c) % wider).collect();
                            Swizzle::new(&order)
                        };
                        SourceSpec::alu(def, swizzle)
                    })
                    .collect();
                let out = info.output_type;
                let out_bits = if out.is_unsized() { bits } else { out.bit_size };
                let flags = AluFlags((count % 4096) as u16);
                b.build(InstData::Alu { op, flags }, &sources, Some(Shape::new(components, out_bits)));
                count += 1;
            }
        }
    }
    assert!(count > 1000);
    check(&shader);
}

/// A possible value of an index of this kind, different for each call.
fn index_value(kind: IndexKind, seed: u32) -> i32 {
    let pick = |count: u32| (seed % count) as i32;
    match kind {
        IndexKind::WriteMask => pick(16),
        IndexKind::Access => (seed & 0x1ffff) as i32,
        IndexKind::AtomicOp => AtomicOp::ALL[pick(16) as usize].to_i32(),
        IndexKind::ImageDim => pick(10),
        IndexKind::ImageArray => pick(2),
        IndexKind::Format => pick(100),
        IndexKind::SrcType | IndexKind::DestType => AluType::ALL[pick(AluType::ALL.len() as u32) as usize].to_i32(),
        IndexKind::IoSemantics => {
            let mut io = IoSemantics::from_i32((seed.wrapping_mul(0x9e37_79b9)) as i32);
            io.location = pick(64) as u8;
            io.to_i32()
        }
        IndexKind::IoXfb | IndexKind::IoXfb2 => {
            let out = IoXfbOut { num_components: pick(3) as u8, buffer: pick(4) as u8, offset: pick(200) as u8 };
            IoXfb { out: [out, IoXfbOut { num_components: 1, buffer: 3, offset: 7 }] }.to_i32()
        }
        IndexKind::InterpMode => InterpMode::ALL[pick(5) as usize].to_i32(),
        IndexKind::MemoryModes => (seed & 0x1f_ffff) as i32,
        IndexKind::MemoryScope | IndexKind::ExecutionScope => Scope::ALL[pick(7) as usize].to_i32(),
        IndexKind::MemorySemantics => pick(16),
        IndexKind::ReductionOp => pick(AluOp::ALL.len() as u32),
        _ => seed as i32 % 1000 - 300,
    }
}

#[test]
fn every_intrinsic() {
    for stage in
        [ShaderStage::Vertex, ShaderStage::TessCtrl, ShaderStage::Geometry, ShaderStage::Fragment, ShaderStage::Compute]
    {
        let mut shader = Shader::new(stage);
        let mut b = Builder::at_end(shader.main_mut());
        let mut seed = 1u32;
        for round in 0..3u8 {
            for &op in IntrinsicOp::ALL {
                let info = op.info();
                let components = [4, 1, 8][usize::from(round)];
                let sources: Vec<SourceSpec> = info
                    .src_components
                    .iter()
                    .map(|c| match c {
                        SrcComponents::Fixed(n) => *n,
                        SrcComponents::NumComponents => components,
                        SrcComponents::Any => 2,
                    })
                    .map(|n| SourceSpec::plain(undef(&mut b, n.max(1), 32)))
                    .collect();
                let shape = match info.dest_components {
                    DestComponents::None => None,
                    DestComponents::Fixed(n) => Some(n),
                    DestComponents::NumComponents => Some(components),
                }
                .map(|n| {
                    let bits = match info.dest_bits {
                        DestBits::Sizes(sizes) => sizes[usize::from(round) % sizes.len()],
                        _ => 32,
                    };
                    Shape::new(n, bits)
                });
                let mut indices = [0; MAX_INDICES];
                for (slot, &kind) in info.indices.iter().enumerate() {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    indices[slot] = index_value(kind, seed >> 8);
                }
                // The inferred number; in the last round another one, which a comment must preserve.
                let num_components = match round {
                    2 => 3,
                    _ if info.is_vectorized() => components,
                    _ => 0,
                };
                let indices = b.body.push_indices(indices);
                b.build(InstData::Intrinsic { op, num_components, indices }, &sources, shape);
            }
        }
        check(&shader);
    }
}

#[test]
fn every_texture_operation() {
    let mut shader = Shader::new(ShaderStage::Fragment);
    let mut variables = Vec::new();
    for dim in SamplerDim::ALL {
        for (array, shadow) in [(false, false), (true, false), (true, true)] {
            let ty = TypeData::Sampler { dim: Some(*dim), array, shadow, result: ScalarType::Float };
            let ty = shader.types.intern(ty);
            let name = format!("s{}", variables.len());
            let variable = shader.add_variable(VariableData::new(name, ty, VariableModes::UNIFORM));
            variables.push((variable, ty, *dim, array));
        }
    }
    let mut b = Builder::at_end(shader.main_mut());
    let mut count = 0u32;
    for &op in TexOp::ALL {
        for &(variable, ty, dim, array) in &variables {
            for variant in 0..4u32 {
                count += 1;
                let mut tex = TexData::new(op, dim, [AluType::FLOAT32, AluType::INT32][count as usize % 2]);
                tex.is_array = array;
                tex.is_shadow = variant == 1;
                tex.is_new_style_shadow = variant == 1 && count.is_multiple_of(3);
                tex.is_sparse = count.is_multiple_of(5);
                tex.coord_components = dim.num_coords() + u8::from(array);
                tex.array_is_lowered_cube = count.is_multiple_of(7);
                tex.texture_non_uniform = count.is_multiple_of(11);
                tex.sampler_non_uniform = count.is_multiple_of(13);
                tex.backend_flags = if count.is_multiple_of(17) { count } else { 0 };
                tex.texture_index = if variant == 3 { 3 } else { 0 };
                tex.sampler_index = if variant == 3 { 5 } else { 0 };
                if op == TexOp::Tg4 {
                    tex.component = (count % 4) as u8;
                    tex.is_gather_implicit_lod = count.is_multiple_of(2);
                    if variant == 2 {
                        tex.tg4_offsets = [[0, 1], [-8, 7], [127, -128], [0, 0]];
                    }
                } else if variant == 2 {
                    tex.component = 2;
                }
                let mut sources = Vec::new();
                if variant < 2 {
                    let deref = b.deref_var(variable, VariableModes::UNIFORM, ty);
                    sources.push((TexSrcKind::TextureDeref, deref));
                    if op.needs_sampler() {
                        sources.push((TexSrcKind::SamplerDeref, deref));
                    }
                }
                if !op.is_query() || op == TexOp::Lod {
                    sources.push((TexSrcKind::Coord, undef(&mut b, tex.coord_components, 32)));
                }
                if tex.is_shadow {
                    sources.push((TexSrcKind::Comparator, undef(&mut b, 1, 32)));
                }
                b.texture(tex, &sources);
            }
        }
    }
    // Every kind of source once.
    let all: Vec<(TexSrcKind, Def)> = TexSrcKind::ALL.iter().map(|&kind| (kind, b.f32_const(0.5))).collect();
    b.texture(TexData::new(TexOp::Txd, SamplerDim::Dim2D, AluType::FLOAT16), &all);
    let text = check(&shader);
    // The rules infer properties that Mesa omits: a plain lookup through a deref has no comment.
    let plain = text.lines().find(|l| l.contains("(float32)tex ") && l.contains("texture_deref")).expect("a lookup");
    assert!(!plain.contains("//"), "{plain}");
}

#[test]
fn control_flow_and_phis() {
    let mut shader = Shader::new(ShaderStage::Compute);
    shader.info.divergence_analysis_run = true;
    let body = shader.main_mut();
    let mut b = Builder::at_end(body);
    let yes = b.bool_const(true);
    let x = b.f32_const(1.5);
    let entry = b.block();
    let outer = b.push_loop();
    let head = b.block();
    let i = b.phi(Shape::new(1, 32), &[(entry, x)]);
    for control in [IfControl::None, IfControl::Flatten, IfControl::DontFlatten, IfControl::DivergentAlwaysTaken] {
        let id = b.push_if(yes);
        b.body.set_if_control(id, control);
        let y = b.alu(AluOp::Fneg, &[i]);
        let then_block = b.block();
        b.push_else(id);
        let else_block = b.block();
        b.end_if(id);
        b.phi(Shape::new(1, 32), &[(else_block, i), (then_block, y)]);
    }
    let id = b.push_if(yes);
    b.jump(JumpKind::Break);
    b.push_else(id);
    b.jump(JumpKind::Continue);
    b.end_if(id);
    b.end_loop(outer);
    b.body.set_loop_control(outer, LoopControl::Unroll);
    b.body.set_loop_divergence(outer, true, false);
    let phi = b.body.def_inst(i);
    let back: Vec<Block> = b.body.predecessors(head).iter().copied().filter(|&p| p != entry).collect();
    for pred in back {
        b.body.add_phi_source(phi, pred, i);
    }
    let inner = b.push_loop();
    b.body.add_continue_construct(inner);
    let id = b.push_if(yes);
    b.jump(JumpKind::Return);
    b.push_else(id);
    b.jump(JumpKind::Continue);
    b.end_if(id);
    b.end_loop(inner);
    b.body.set_loop_control(inner, LoopControl::DontUnroll);
    b.body.set_loop_divergence(inner, false, true);
    b.body.set_divergent(i, true);
    // A gap in the numbering, and a value with a greater number before it in the text.
    body.reserve_defs(120);
    let late = body.create_inst(InstData::Undef, &[], Some(Shape::new(16, 64)));
    body.insert_inst(Cursor::BlockStart(entry), late);
    let text = check(&shader);
    for part in [
        "// flatten {",
        "// don't flatten {",
        "// divergent always taken {",
        "} continue {",
        "// unroll divergent_continue",
    ] {
        assert!(text.contains(part), "{part} not in {text}");
    }
}

/// Nesting far deeper than the maximum indentation: blocks, phis and jumps on every level, before, within and after
/// both sides.
#[test]
fn a_thousand_nested_ifs_and_loops() {
    let mut shader = Shader::new(ShaderStage::Fragment);
    shader.info.divergence_analysis_run = true;
    let mut b = Builder::at_end(shader.main_mut());
    let yes = b.bool_const(true);
    let mut value = b.u32_const(1);
    let mut open = Vec::new();
    for level in 0..1000 {
        if level % 10 == 9 {
            let id = b.push_loop();
            open.push((None, Some(id), value));
        } else {
            let id = b.push_if(yes);
            open.push((Some(id), None, value));
        }
        value = b.alu(AluOp::Ineg, &[value]);
    }
    while let Some((branch, cycle, before)) = open.pop() {
        if let Some(id) = branch {
            let then_block = b.block();
            b.push_else(id);
            let other = b.alu(AluOp::Inot, &[before]);
            let else_block = b.block();
            b.end_if(id);
            value = b.phi(Shape::new(1, 32), &[(then_block, value), (else_block, other)]);
        } else if let Some(id) = cycle {
            b.jump(JumpKind::Break);
            b.end_loop(id);
        }
    }
    b.intrinsic(IntrinsicOp::StorePreamble, &[value], &[], None);
    let text = check(&shader);
    let columns = text.lines().map(|line| line.len() - line.trim_start().len()).max();
    assert!(columns.is_some_and(|columns| columns < 600), "{columns:?}");
    assert_eq!(text.matches("} else {").count(), 900);
}

#[test]
fn unstructured_jumps() {
    let mut shader = Shader::new(ShaderStage::Kernel);
    let body = shader.main_mut();
    let mut b = Builder::at_end(body);
    let yes = b.bool_const(false);
    let id = b.push_if(yes);
    let (target, other) = (b.block(), b.body.else_list(id).first);
    b.push_else(id);
    b.end_if(id);
    let last = b.block();
    body.insert_jump(target, JumpKind::Goto(other), None);
    body.insert_jump(last, JumpKind::GotoIf { then_block: target, else_block: other }, Some(yes));
    let text = check(&shader);
    assert!(text.contains("goto b2\n") && text.contains("goto b1 if %0 (false) else b2"), "{text}");
}

#[test]
fn constants() {
    let mut shader = Shader::new(ShaderStage::Fragment);
    let mut b = Builder::at_end(shader.main_mut());
    for bits in [1, 8, 16, 32, 64] {
        for components in [1, 2, 3, 4, 5, 8, 16] {
            for seed in 0..4u64 {
                let values: Vec<u64> = (0..components)
                    .map(|i| match seed {
                        0 => i,
                        1 => u64::MAX - i,
                        2 => (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15),
                        _ => 0x7ff8_7fc0_0000_7e00 + i,
                    })
                    .collect();
                let constant = b.constant(bits, &values);
                // Used as a float, as an integer, as both, and without use: four ways to print it.
                match seed {
                    0 if bits >= 16 => drop(b.alu(AluOp::Fneg, &[constant])),
                    1 if bits >= 8 => drop(b.alu(AluOp::Ineg, &[constant])),
                    2 if bits >= 16 => {
                        b.alu(AluOp::Fneg, &[constant]);
                        b.alu(AluOp::Ineg, &[constant]);
                        b.alu_sized(AluOp::Mov, 1, &[AluSrc::component(constant, components as u8 - 1)]);
                    }
                    _ => {}
                }
            }
        }
    }
    check(&shader);
}

#[test]
fn constants_look_as_they_do_elsewhere() {
    let text = |bits: u8, values: &[u64], op: Option<AluOp>| {
        let mut shader = Shader::new(ShaderStage::Fragment);
        let mut b = Builder::at_end(shader.main_mut());
        let constant = b.constant(bits, values);
        if let Some(op) = op {
            b.alu(op, &[constant]);
        }
        let printed = print(&shader);
        let line = printed.lines().find(|l| l.contains("load_const")).expect("a constant").to_string();
        line.split_once("load_const ").expect("a constant").1.to_string()
    };
    assert_eq!(text(32, &[0x3fc0_0000], None), "(0x3fc00000 = 1.500000 = 1069547520)");
    assert_eq!(text(32, &[0x3fc0_0000], Some(AluOp::Fneg)), "(0x3fc00000 = 1.500000)");
    assert_eq!(text(32, &[5], Some(AluOp::Ineg)), "(0x00000005)");
    assert_eq!(text(32, &[0xffff_fffb], Some(AluOp::Ineg)), "(0xfffffffb = -5 = 4294967291)");
    assert_eq!(text(8, &[0xfd], None), "(0xfd = -3 = 253)");
    assert_eq!(text(16, &[0x7c00], None), "(0x7c00 = inf = 31744)");
    assert_eq!(text(16, &[0x0001], Some(AluOp::Fneg)), "(0x0001 = 0.000000)");
    assert_eq!(text(64, &[0xc002 << 48], Some(AluOp::Fneg)), "(0xc002000000000000 = -2.250000)");
    // Ties round to the even digit: 2^-7 = 0.0078125.
    assert_eq!(text(32, &[0x3c00_0000], Some(AluOp::Fneg)), "(0x3c000000 = 0.007812)");
    assert_eq!(
        text(32, &[0, 0xffff_ffff, 20, 3], Some(AluOp::Ineg)),
        "(0x00000000, 0xffffffff, 0x00000014, 0x00000003) = (+0, -1, +20, +3) = (0, 4294967295, 20, 3)"
    );
}

#[test]
fn every_variable_property() {
    for &stage in ShaderStage::ALL {
        let mut shader = Shader::new(stage);
        let vec2 = shader.types.vector(ScalarType::Float, 2);
        let vec4 = shader.types.vector(ScalarType::Float, 4);
        let array = shader.types.array(vec4, 3);
        let arrays = shader.types.array(array, 0);
        let strided = shader.types.intern(TypeData::Array { element: vec4, length: 3, stride: 32 });
        let mat = shader.types.matrix(ScalarType::Float, 3, 4);
        let image = TypeData::Image { dim: SamplerDim::Dim2D, array: true, result: ScalarType::Uint };
        let image = shader.types.intern(image);
        let fields = vec![
            Field { name: "p".to_string(), ty: vec4, offset: 16 },
            Field { name: "q".to_string(), ty: strided, offset: -1 },
        ];
        let inner = shader.types.intern(TypeData::Struct { name: "In".to_string(), fields, interface: false });
        let fields = vec![Field { name: "in".to_string(), ty: inner, offset: 0 }];
        let block = shader.types.intern(TypeData::Struct { name: "Block".to_string(), fields, interface: true });
        let opaque = shader.types.intern(TypeData::Opaque("Thing".to_string()));
        let dmat = shader.types.matrix(ScalarType::Double, 2, 3);
        let types = [vec2, vec4, array, arrays, strided, mat, image, inner, block, opaque, dmat];
        let mut number = 0u32;
        for &(mode, ..) in VariableModes::ALL {
            for (t, &ty) in types.iter().enumerate() {
                let mut data = VariableData::new(format!("v{number}"), ty, mode);
                number += 1;
                let bit = |n: u32| number.is_multiple_of(n);
                data.access = AccessFlags(number.wrapping_mul(0x9e37) & 0x1ffff);
                data.interpolation = InterpMode::ALL[number as usize % 5];
                data.centroid = bit(2);
                data.sample = bit(3);
                data.patch = bit(5);
                data.invariant = bit(7);
                data.per_view = bit(11);
                data.per_primitive = bit(13);
                data.ray_query = bit(17);
                data.bindless = bit(19);
                data.compact = bit(4);
                data.fb_fetch_output = bit(6);
                data.per_vertex = bit(9);
                data.location = [-1, number as i32, 0x10000 + number as i32, 1000, 33][number as usize % 5];
                data.location_frac = (number % 7) as u8;
                data.driver_location = number % 50;
                data.binding = number % 3;
                data.descriptor_set = number % 4;
                data.index = number % 2;
                data.streams = (number % 256) as u8;
                data.image_format = PixelFormat::from_value(number % 40).expect("a format");
                let floats = |values: &[f32]| values.iter().map(|v| u64::from(v.to_bits())).collect::<Vec<u64>>();
                data.initializer = match (number % 3, t) {
                    (0, _) => Some(Initializer::Null),
                    (1, 0) => Some(Initializer::Vector(floats(&[0.1, -0.0]))),
                    (1, 1) => {
                        Some(Initializer::Vector(floats(&[1.0, -2.5, f32::INFINITY, f32::from_bits(0xffc0_0001)])))
                    }
                    (1, 2) => Some(Initializer::Elements(vec![
                        Initializer::Vector(floats(&[1.0; 4])),
                        Initializer::Null,
                        Initializer::Vector(floats(&[0.3; 4])),
                    ])),
                    (1, 5) => Some(Initializer::Elements(vec![Initializer::Vector(floats(&[1.0, 2.0, 3.0, 1e-9])); 3])),
                    (2, 5) => Some(Initializer::Elements(vec![
                        Initializer::Vector(floats(&[1.0, 2.0, 3.0, 1e-9])),
                        Initializer::Null,
                        Initializer::Vector(floats(&[4.0; 4])),
                    ])),
                    (1 | 2, 10) => Some(Initializer::Elements(vec![
                        Initializer::Vector([0.1f64, -0.0, f64::NAN].map(f64::to_bits).to_vec()),
                        match number % 3 {
                            1 => Initializer::Vector([1e300f64, 3.0, f64::INFINITY].map(f64::to_bits).to_vec()),
                            _ => Initializer::Null,
                        },
                    ])),
                    (1, 7) => Some(Initializer::Elements(vec![
                        Initializer::Vector(floats(&[0.0; 4])),
                        Initializer::Elements(vec![Initializer::Vector(floats(&[7.0; 4])); 3]),
                    ])),
                    _ => None,
                };
                if mode == VariableModes::FUNCTION_TEMP {
                    let function = shader.entry_point().expect("main");
                    let variable = shader.variables.push(data);
                    let body = shader.functions[function].body.as_mut().expect("a body");
                    body.locals.push(variable);
                } else {
                    shader.add_variable(data);
                }
            }
        }
        check(&shader);
    }
}

#[test]
fn names_of_variables() {
    let mut shader = Shader::new(ShaderStage::Fragment);
    let vec4 = shader.types.vector(ScalarType::Float, 4);
    for name in [
        "a",
        "a",
        "",
        "a#0",
        "",
        "x y",
        "a(b)",
        "// c",
        "d = e",
        "tab\tbed",
        "q\"uo\\te",
        "ü",
        "line\nbreak",
        "a#1",
        "#0",
        "x_y",
        "&z",
    ] {
        shader.add_variable(VariableData::new(name, vec4, VariableModes::MEM_SHARED));
        shader.add_variable(VariableData::new(name, vec4, VariableModes::UNIFORM));
    }
    // Another variable as initialiser, declared later in the text.
    let target = *shader.globals.last().expect("variables");
    let first = shader.globals[0];
    shader.variables[first].initializer = Some(Initializer::Pointer(target));
    let function = shader.entry_point().expect("main");
    for name in ["a", "", "local"] {
        shader.add_local(function, name, vec4);
    }
    let all: Vec<_> = shader.variables.keys().collect();
    let mut b = Builder::at_end(shader.main_mut());
    for variable in all {
        b.deref_var(variable, VariableModes::MEM_SHARED, vec4);
    }
    // The target of a pointer has another id in the other shader, so compare the text.
    let text = print(&shader);
    let again = parse_ok("names", &text);
    assert_eq!(print(&again), text);
    let names = |s: &Shader| {
        let mut names: Vec<String> = s.variables.values().map(|v| v.name.clone()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&shader), names(&again));
}

#[test]
fn derefs() {
    let mut shader = Shader::new(ShaderStage::Compute);
    let float = shader.types.vector(ScalarType::Float, 1);
    let row = shader.types.array(float, 3);
    let rows = shader.types.array(row, 2);
    let strided = shader.types.intern(TypeData::Array { element: float, length: 8, stride: 16 });
    let fields = vec![
        Field { name: "n".to_string(), ty: float, offset: 0 },
        Field { name: "data".to_string(), ty: strided, offset: 16 },
    ];
    let block = shader.types.intern(TypeData::Struct { name: "B".to_string(), fields, interface: true });
    let function = shader.entry_point().expect("main");
    let a = shader.add_local(function, "a", rows);
    let buffer = shader.add_variable(VariableData::new("buffer", block, VariableModes::MEM_SSBO));
    let temp = VariableModes::FUNCTION_TEMP;
    let ssbo = VariableModes::MEM_SSBO;
    let mut b = Builder::at_end(shader.main_mut());
    let link = |b: &mut Builder<'_>, kind, modes, ty, sources: &[Def]| {
        let sources: Vec<SourceSpec> = sources.iter().map(|&d| SourceSpec::plain(d)).collect();
        let inst = b.build(InstData::Deref { kind, modes, ty }, &sources, Some(Shape::new(1, 32)));
        b.body.inst_def(inst).expect("a value")
    };
    let one = b.u32_const(1);
    let minus = b.i32_const(-2);
    let again = b.u32_const(1);
    let wide = b.constant(64, &[1]);
    let index = b.undef(1, 32);
    let base = link(&mut b, DerefKind::Var(a), temp, rows, &[]);
    let mut leaf = Vec::new();
    // `[1]` means the last constant with the value; the others need a comment.
    for &i in &[again, one, minus, wide, index] {
        let row_deref = link(&mut b, DerefKind::Array, temp, row, &[base, i]);
        leaf.push(link(&mut b, DerefKind::Array, temp, float, &[row_deref, i]));
    }
    link(&mut b, DerefKind::ArrayWildcard, temp, row, &[base]);
    let ptr = link(&mut b, DerefKind::Var(buffer), ssbo, block, &[]);
    let data = link(&mut b, DerefKind::Struct(1), ssbo, strided, &[ptr]);
    link(&mut b, DerefKind::Array, ssbo, float, &[data, index]);
    let cast = DerefKind::Cast(b.body.push_cast(CastLayout { ptr_stride: 4, align_mul: 16, align_offset: 8 }));
    let cast = link(&mut b, cast, VariableModes::GENERIC, block, &[index]);
    link(&mut b, DerefKind::Struct(0), VariableModes::GENERIC, float, &[cast]);
    let element = link(&mut b, DerefKind::PtrAsArray, VariableModes::GENERIC, block, &[cast, again]);
    link(&mut b, DerefKind::PtrAsArray, VariableModes::GENERIC, block, &[element, index]);
    let constant_cast = DerefKind::Cast(b.body.push_cast(CastLayout::default()));
    let strided_cast = link(&mut b, constant_cast, ssbo, strided, &[one]);
    link(&mut b, DerefKind::Array, ssbo, float, &[strided_cast, one]);
    // A constant in a side of an `if` does not dominate the code after it.
    let yes = b.bool_const(true);
    let id = b.push_if(yes);
    b.u32_const(1);
    b.push_else(id);
    b.end_if(id);
    link(&mut b, DerefKind::Array, temp, row, &[base, again]);
    let text = check(&shader);
    assert!(text.contains("&(*%5)[1] (function_temp float[3])  // &a[1]\n"), "{text}");
    assert!(text.contains("&a[1]  // index=%0\n"), "{text}");
    assert!(text.contains("&((B *)%4)->n"), "{text}");
    assert!(text.contains("deref_ptr_as_array &(*%"), "{text}");
    assert!(text.contains("type B: interface {float n @0, float[8:16] data @16}\n"), "{text}");
    assert!(text.lines().last().is_some());
}

#[test]
fn functions_calls_and_copies() {
    let mut shader = Shader::new(ShaderStage::Kernel);
    let parameter = |name: &str, num_components, bit_size, is_return| Parameter {
        num_components,
        bit_size,
        name: name.to_string(),
        is_return,
    };
    let helper = shader.functions.push(FunctionData {
        name: "helper".to_string(),
        parameters: vec![parameter("", 1, 32, true), parameter("v", 4, 16, false), parameter("r", 1, 64, true)],
        is_entry_point: false,
        is_exported: true,
        attributes: vec!["noinline".to_string(), "8x8x1".to_string()],
        body: None,
    });
    shader.functions.push(FunctionData {
        name: "other".to_string(),
        parameters: Vec::new(),
        is_entry_point: false,
        is_exported: false,
        attributes: vec!["inline".to_string()],
        body: Some(Body::new()),
    });
    let mut b = Builder::at_end(shader.main_mut());
    let (p, v) = (b.u32_const(3), b.undef(4, 16));
    let sources = [SourceSpec::plain(p), SourceSpec::plain(v), SourceSpec::plain(p)];
    b.build(InstData::Call { callee: helper, indirect: false }, &sources, None);
    let sources = [SourceSpec::plain(p), SourceSpec::plain(p), SourceSpec::plain(v), SourceSpec::plain(p)];
    b.build(InstData::Call { callee: helper, indirect: true }, &sources, None);
    let register = b.decl_reg(Shape::new(4, 16), 0);
    let body = shader.main_mut();
    let copy = body.create_parallel_copy();
    body.insert_inst(Cursor::BlockEnd(body.start_block()), copy);
    body.add_copy(copy, p);
    body.add_copy(copy, v);
    body.add_copy_to_register(copy, v, register);
    let from = body.add_copy(copy, v);
    body.set_copy_source_register(copy, 3, register);
    let second = body.create_parallel_copy();
    body.insert_inst(Cursor::BlockEnd(body.start_block()), second);
    body.add_copy_to_register(second, from, register);
    let text = check(&shader);
    assert!(text.contains("call helper %0 (0x3), v %1, r %0 (0x3)\n"), "{text}");
    assert!(text.contains("call helper (indirect %0 (0x3)) %0 (0x3), v %1, r %0 (0x3)\n"), "{text}");
    assert!(text.contains("; *%2 = %1; ") && text.contains(" = *%2\n"), "{text}");
}

/// A text in Mesa's form: no constant for the index, edges that are never taken, struct fields that only derefs
/// mention, comments.
#[test]
fn texts_by_others() {
    let text = "
shader: MESA_SHADER_COMPUTE
from_the_future: 17
workgroup_size: 1, 1, 1
subgroup_size: 0
decl_var ssbo INTERP_MODE_NONE restrict coherent highp B b (~0, 0, 1)
decl_function main () (entrypoint)
// a comment

impl main {
    decl_var  INTERP_MODE_NONE none float[4] tmp
    block b0:
    32 %3 = deref_var &tmp (function_temp float[4])
    32 %5 = deref_array &(*%3)[2] (function_temp float)
    // 0x10 file.c:3:4
    32 %7 = deref_var &b (ssbo B)
    32 %8 = deref_struct &%7->second (ssbo In)  // &b.second
    32 %9 = deref_struct &%8->x (ssbo vec4)
    32 %11 = deref_struct &%7->first (ssbo float[])
    1 %12 = load_const (true)
    // succs: b4
    loop {
        block b4: // preds: b0 b4, succs: b4 b7
    }
    block b7: // preds: b4
    if %12 {
        block b8:
    } else {
        block b9:
    }
    block b10:
}
";
    let shader = parse_ok("by hand", text);
    let printed = print(&shader);
    assert!(printed.contains("type In: struct {vec4 x}\ntype B: struct {In second, float[] first}\n"), "{printed}");
    // The constant gets the first free number.
    assert!(
        printed.contains("32     %0 = load_const (0x00000002 = 0.000000)\n    32     %5 = deref_array"),
        "{printed}"
    );
    assert_same(&shader, &parse_ok("again", &printed));
}
