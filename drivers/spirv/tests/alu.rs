//! Emits every opcode of the ALU table in every size and with every number of components. Each must either have code
//! that `spirv-val` accepts, or be listed as having no SPIR-V form.

use std::process::Command;

use crate::alu_cases::{Case, WITHOUT_FORM, has_form, shader};
use pretty_assertions::assert_eq;
use rayon::prelude::*;
use spirv::Op;
use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_ir::alu::AluOp;
use tgsi_ir::{AluFlags, Builder, Def};

fn compiler(options: &[&str]) -> Compiler {
    Compiler::for_target(tgsi_driver_spirv::DRIVER.target(options).expect("known options").into())
}

/// Emits without optimising or lowering.
fn emit(compiler: &Compiler, cases: &[Case]) -> Result<Vec<u8>, String> {
    compiler.resume(shader(cases), Stage::Registers).finish().map(|code| code.into_bytes()).map_err(|e| e.to_string())
}

/// Checks one target.
fn check(options: &[&str], environment: &str, bits: &[u8]) {
    let (compiler, portable) = (compiler(options), options.contains(&"portable"));
    let folder = tempfile::tempdir().expect("a folder");
    let wrong: Vec<String> = AluOp::ALL
        .par_iter()
        .flat_map_iter(|&op| {
            let mut wrong = Vec::new();
            let mut emitted = Vec::new();
            let narrow = |case: &Case| {
                bits.contains(&case.bits)
                    && bits.contains(&case.result().bit_size)
                    && (0..case.num_sources()).all(|number| bits.contains(&case.source(number).bit_size))
            };
            for case in Case::of(op).into_iter().filter(|case| !case.has_sizes() || narrow(case)) {
                match (emit(&compiler, &[case]), has_form(case, portable)) {
                    (Ok(_), true) => emitted.push(case),
                    (Ok(_), false) => wrong.push(format!("{} has a form", case.name())),
                    (Err(error), true) => wrong.push(format!("{}: {error}", case.name())),
                    (Err(error), false)
                        if !error.contains("has no SPIR-V form") && !error.contains("more than four") =>
                    {
                        wrong.push(format!("{}: {error}", case.name()));
                    }
                    (Err(_), false) => {}
                }
            }
            if emitted.is_empty() {
                return wrong;
            }
            let module = folder.path().join(format!("{op}.spv"));
            match emit(&compiler, &emitted) {
                Err(error) => wrong.push(format!("{op}: {error}")),
                Ok(bytes) => {
                    std::fs::write(&module, bytes).expect("a file");
                    let output = Command::new("spirv-val").args(["--target-env", environment]).arg(&module).output();
                    if let Some(output) = output.ok().filter(|output| !output.status.success()) {
                        wrong.push(format!("{op}: {}", String::from_utf8_lossy(&output.stderr)));
                    }
                }
            }
            wrong
        })
        .collect();
    assert_eq!(wrong, Vec::<String>::new(), "an opcode needs an arm in src/emit/alu or a row in WITHOUT_FORM");
}

#[test]
fn every_opcode_is_emitted() {
    check(&["vulkan1.1"], "vulkan1.1", &[1, 32, 64]);
}

#[test]
fn every_opcode_is_emitted_for_other_targets() {
    check(&["vulkan1.0"], "vulkan1.0", &[1, 32, 64]);
    check(&["vulkan1.3", "fused_fma"], "vulkan1.3", &[1, 32, 64]);
    check(&["portable"], "vulkan1.1", &[1, 32]);
}

/// Returns the opcodes, in order, of a compute shader that stores the result of `make` for two words.
fn opcodes(options: &[&str], make: impl FnOnce(&mut Builder<'_>, Def, Def) -> Def) -> Vec<Op> {
    let ir = crate::alu_cases::shader_of(make);
    let code = compiler(options).resume(ir, Stage::Registers).finish().expect("code").into_bytes();
    let words: Vec<u32> = code.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().expect("four"))).collect();
    let (mut at, mut ops) = (5, Vec::new());
    while let Some(&word) = words.get(at) {
        ops.extend(Op::from_u32(word & 0xffff));
        at += (word >> 16) as usize;
    }
    ops
}

fn count(ops: &[Op], op: Op) -> usize {
    ops.iter().filter(|&&other| other == op).count()
}

#[test]
fn sums_are_contracted_unless_they_are_exact() {
    let dot = |exact: bool| {
        move |b: &mut Builder<'_>, x: Def, y: Def| {
            let (a, c) = (b.vec_of(&[x, y, x]), b.vec_of(&[y, y, x]));
            b.flags = if exact { AluFlags::EXACT } else { AluFlags::NONE };
            let dot = b.alu(AluOp::Fdot3, &[a, c]);
            b.flags = AluFlags::NONE;
            dot
        }
    };
    let decorations = count(&opcodes(&[], |_, x, _| x), Op::Decorate);
    let free = opcodes(&[], dot(false));
    assert_eq!((count(&free, Op::Dot), count(&free, Op::Decorate) - decorations), (1, 0));
    // One product of vectors, two sums.
    for exact in [opcodes(&[], dot(true)), opcodes(&["no_contraction"], dot(false))] {
        assert_eq!((count(&exact, Op::Dot), count(&exact, Op::FMul), count(&exact, Op::FAdd)), (0, 1, 2));
        assert_eq!(count(&exact, Op::Decorate) - decorations, 3);
    }
}

#[test]
fn constants_leave_guards_out() {
    let divided = |by: u32| {
        opcodes(&[], move |b, x, _| {
            let by = b.u32_const(by);
            b.alu(AluOp::Idiv, &[x, by])
        })
    };
    let selects = count(&opcodes(&[], |_, x, _| x), Op::Select);
    assert_eq!(count(&divided(3), Op::Select), selects);
    assert_eq!(count(&divided(0), Op::Select), selects + 2);
    assert_eq!(count(&divided(u32::MAX), Op::Select), selects + 1);
    let shifted = opcodes(&[], |b, x, _| {
        let count = b.u32_const(33);
        b.alu(AluOp::Ishl, &[x, count])
    });
    let masks = count(&opcodes(&[], |_, x, _| x), Op::BitwiseAnd);
    assert_eq!(count(&shifted, Op::BitwiseAnd), masks);
    assert_eq!(count(&opcodes(&[], |b, x, y| b.alu(AluOp::Ishl, &[x, y])), Op::BitwiseAnd), masks + 1);
}

#[test]
fn numbers_in_range_are_converted_at_once() {
    let extended = |make: fn(&mut Builder<'_>, Def) -> Def| count(&opcodes(&[], |b, x, _| make(b, x)), Op::ExtInst);
    let plain = extended(|_, x| x);
    // One instruction each: the saturation of a bounded number, or the clamp of any other.
    let saturated = extended(|b, x| {
        let x = b.alu(AluOp::Fsat, &[x]);
        b.alu(AluOp::F2i32, &[x])
    });
    assert_eq!(saturated, plain + 1);
    assert_eq!(extended(|b, x| b.alu(AluOp::F2i32, &[x])), plain + 1);
    assert_eq!(extended(|b, x| b.alu(AluOp::F2u32, &[x])), plain + 1);
}

#[test]
fn a_negated_boolean_is_one_selection() {
    let ops = opcodes(&[], |b, x, y| {
        let test = b.alu(AluOp::Ieq, &[x, y]);
        let number = b.alu(AluOp::B2i32, &[test]);
        b.alu(AluOp::Ineg, &[number])
    });
    assert_eq!(count(&ops, Op::SNegate), 0);
}

#[test]
fn portable_code_has_no_unordered_comparisons_but_inequality() {
    for op in [AluOp::Fltu, AluOp::Fgeu, AluOp::Fequ, AluOp::Fneo] {
        let ops = opcodes(&["portable"], |b, x, y| {
            let test = b.alu(op, &[x, y]);
            b.alu(AluOp::B2i32, &[test])
        });
        for unordered in [Op::FUnordLessThan, Op::FUnordGreaterThanEqual, Op::FUnordEqual, Op::FOrdNotEqual] {
            assert_eq!(count(&ops, unordered), 0, "{op}");
        }
    }
}

#[test]
fn fused_products_take_one_instruction_only_where_the_target_says_so() {
    let fma = |b: &mut Builder<'_>, x: Def, y: Def| b.alu(AluOp::Ffma, &[x, y, x]);
    assert_eq!(count(&opcodes(&["fused_fma"], fma), Op::FAdd), 0);
    assert!(count(&opcodes(&[], fma), Op::FAdd) > 0);
}

#[test]
fn what_has_no_form_is_an_opcode() {
    for (name, _) in WITHOUT_FORM {
        assert!(AluOp::from_name(name).is_some(), "{name}");
    }
}
