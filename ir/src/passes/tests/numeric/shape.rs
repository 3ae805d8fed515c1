//! Tests operations across components computed by scalar operations.

use super::*;
use crate::body::AluFlags;
use crate::options::CompilerOptions;
use crate::passes::lower_alu_to_scalar;

fn scalars(shader: &mut Shader) -> bool {
    lower_alu_to_scalar(shader, &CompilerOptions::default())
}

fn scalars_without_packing(shader: &mut Shader) -> bool {
    let options = CompilerOptions { lower_pack_vectors: true, ..CompilerOptions::default() };
    lower_alu_to_scalar(shader, &options)
}

/// The same, for exact instructions.
fn exact_scalars(shader: &mut Shader) -> bool {
    for def in values(shader) {
        let body = shader.main_mut();
        let inst = body.def_inst(def);
        if let Some(op) = body.alu_op(inst).filter(|op| op.info().group == "float-horizontal") {
            body.set_inst(inst, InstData::Alu { op, flags: AluFlags::EXACT });
        }
    }
    scalars(shader)
}

/// Opcodes that scalar ones cannot replace.
fn stays(op: AluOp) -> bool {
    let name = op.info().name;
    op.is_vec()
        || name.ends_with("_replicated")
        || matches!(op, AluOp::CubeAmd | AluOp::Mqsad4x8)
        || name.contains("norm")
        || name.ends_with("split")
}

/// Operands of all sources: each is similar to the previous one, so that some are equal.
fn operands(op: AluOp, bits: u8, count: usize) -> Vec<Vec<Vec<u64>>> {
    let info = op.info();
    let mut words = Words::new(op as u64 + 1);
    let mut case = || {
        let mut sources: Vec<Vec<u64>> = Vec::new();
        for (number, ty) in info.input_types.iter().enumerate() {
            let bits = if ty.is_unsized() { bits } else { ty.bit_size };
            let source = (0..info.input_sizes[number].into()).map(|at| match sources.first() {
                Some(first) if at < first.len() && !words.word().is_multiple_of(5) => first[at],
                _ if ty.base == BaseType::Float => random_float(&mut words, bits),
                _ if bits == 1 => words.word() & 1,
                _ => words.integer(bits),
            });
            let source = source.collect();
            sources.push(source);
        }
        sources
    };
    (0..count).map(|_| case()).collect()
}

#[test]
fn every_opcode_across_components() {
    let mut checked = 0;
    for &op in AluOp::ALL {
        let info = op.info();
        let is_across = info.output_size != 0 && (info.output_size > 1 || info.input_sizes.iter().any(|&n| n > 1));
        if !is_across || stays(op) {
            continue;
        }
        for &bits in if info.bit_sizes.is_empty() { &[32][..] } else { info.bit_sizes } {
            // The registers of a test hold four components, and no booleans: those are numbers that are equal to 0 or
            // not.
            if info.input_sizes.iter().any(|&n| n > 4) || bits == 1 {
                continue;
            }
            let pass: Pass<'_> = match info.group {
                "pack" => &scalars_without_packing,
                // Inexact sums are rounded to 16 bits after each step.
                "float-horizontal" if bits == 16 => &exact_scalars,
                _ => &scalars,
            };
            Check::new(op, bits, pass).run_vectors(&operands(op, bits, 3_000));
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked} opcodes and sizes");
}

/// Wide ones: each component matters.
#[test]
fn comparisons_of_many_components() {
    for &op in AluOp::ALL {
        let info = op.info();
        let count = info.input_sizes[0];
        if info.group != "compare-horizontal" || count <= 4 {
            continue;
        }
        for differing in 0..=count {
            let mut shader = Shader::new(ShaderStage::Vertex);
            let mut b = Builder::at_end(shader.main_mut());
            let zero = b.u32_const(0);
            let input = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], Shape::new(2, 32));
            let parts: Vec<AluSrc> = (0..count).map(|i| AluSrc::component(input, u8::from(i == differing))).collect();
            let a = b.vec(&parts);
            let value = b.alu_sized(op, 1, &[a.into(), AluSrc::component(input, 0)]);
            let check = Check::new(op, 32, &scalars);
            check.store(&mut b, zero, value);
            let shader = check.lower(shader);
            let mut inputs = Inputs { lanes: 1, inputs: LaneRegisters::new(1, 1), ..Inputs::default() };
            inputs.inputs.set(0, 0, 0, 1f32.to_bits());
            inputs.inputs.set(0, 1, 0, 2f32.to_bits());
            let program = Program::new(&shader).expect("valid");
            let outputs = program.run(&inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("runs");
            let holds = info.name.contains("any") != (differing == count);
            assert_eq!(outputs.outputs.get(0, 0, 0) != 0, holds, "{op}, component {differing}");
        }
    }
}

/// Products are fused only where bits may change and the option is set.
#[test]
fn dot_products() {
    let fused = CompilerOptions { fuse_ffma: true, ..CompilerOptions::default() };
    for (flags, options, expected) in [
        (AluFlags::NONE, CompilerOptions::default(), [4, 3, 0]),
        (AluFlags::NONE, fused.clone(), [1, 0, 3]),
        (AluFlags::EXACT, fused, [4, 3, 0]),
    ] {
        let mut shader = Shader::new(ShaderStage::Vertex);
        let mut b = Builder::at_end(shader.main_mut());
        let zero = b.u32_const(0);
        let input = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], Shape::new(4, 32));
        b.flags = flags;
        let value = b.alu(AluOp::Fdot4, &[input, input]);
        Check::new(AluOp::Fdot4, 32, &scalars).store(&mut b, zero, value);
        assert!(lower_alu_to_scalar(&mut shader, &options));
        validate(&shader).unwrap_or_else(|errors| panic!("{errors}"));
        let body = shader.main();
        let count = |op: AluOp| {
            values(&shader).into_iter().filter(|&def| body.alu(body.def_inst(def)) == Some((op, flags))).count()
        };
        assert_eq!([AluOp::Fmul, AluOp::Fadd, AluOp::Ffma].map(count), expected);
    }
}
