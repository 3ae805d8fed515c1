//! Tests long code, values with many uses, and blocks with many phis: work must not be quadratic in any of these.

use super::*;
use crate::options::{CompilerOptions, DoubleOps, Int64Ops};
use crate::passes::tests::lower_bit_size::lower_bit_size;
use crate::passes::{lower_doubles, lower_idiv, lower_int64, opt_idiv_const};
use crate::work::check_linear;

const MANY: usize = 50_000;

fn measure(name: &str, shader: &mut Shader, pass: impl Fn(&mut Shader) -> bool) {
    assert!(check_linear(name, shader, pass), "{name} reports no change");
    validate(shader).unwrap_or_else(|errors| panic!("{name}: {errors}"));
}

/// Many instructions, each on the result of the previous one and on two inputs.
fn chain(op: AluOp, bits: u8) -> Shader {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let mut b = Builder::at_end(shader.main_mut());
    let zero = b.u32_const(0);
    let input = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], Shape::new(2, bits));
    let five = b.constant(bits, &[5, 7]);
    let mut value = input;
    for i in 0..MANY {
        let other = if i % 2 == 0 { input } else { five };
        value = b.alu(op, &[value, other]);
    }
    let ty = if bits == 64 { AluType::UINT64 } else { AluType::UINT32 };
    let value = if bits < 32 { b.alu(AluOp::U2u32, &[value]) } else { value };
    let indices = [(IndexKind::Base, 0), (IndexKind::WriteMask, 3), (IndexKind::SrcType, ty.to_i32())];
    b.intrinsic(IntrinsicOp::StoreOutput, &[value, zero], &indices, None);
    shader
}

#[test]
fn long_code() {
    let options = CompilerOptions {
        lower_idiv: true,
        lower_int64: Int64Ops::ALL,
        lower_doubles: DoubleOps::ALL,
        ..CompilerOptions::default()
    };
    measure("lower_idiv", &mut chain(AluOp::Irem, 32), |shader| lower_idiv(shader, &options));
    measure("opt_idiv_const", &mut chain(AluOp::Udiv, 32), opt_idiv_const);
    measure("lower_int64", &mut chain(AluOp::Iadd, 64), |shader| lower_int64(shader, &options));
    measure("lower_doubles", &mut chain(AluOp::Fsub, 64), |shader| lower_doubles(shader, &options));
    measure("lower_bit_size", &mut chain(AluOp::Iadd, 16), |shader| {
        lower_bit_size(shader, &|body, inst| if body.alu_bit_size(inst) == 16 { 32 } else { 0 })
    });
}

#[test]
fn many_phis() {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let mut b = Builder::at_end(shader.main_mut());
    let zero = b.u32_const(0);
    let input = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], Shape::new(1, 32));
    let byte = b.alu(AluOp::U2u8, &[input]);
    let other = b.constant(8, &[1]);
    let condition = b.alu(AluOp::Ine, &[input, zero]);
    let id = b.push_if(condition);
    let then_end = b.block();
    b.push_else(id);
    let else_end = b.block();
    b.end_if(id);
    let phis: Vec<Def> = (0..MANY).map(|_| b.phi(Shape::new(1, 8), &[(then_end, byte), (else_end, other)])).collect();
    let mut sum = other;
    for phi in phis {
        sum = b.alu(AluOp::Iadd, &[sum, phi]);
    }
    let value = b.alu(AluOp::U2u32, &[sum]);
    let ty = AluType::UINT32.to_i32();
    let indices = [(IndexKind::Base, 0), (IndexKind::WriteMask, 1), (IndexKind::SrcType, ty)];
    b.intrinsic(IntrinsicOp::StoreOutput, &[value, zero], &indices, None);
    measure("lower_bit_size", &mut shader, |shader| {
        lower_bit_size(shader, &|body, inst| {
            if body.inst_def(inst).is_some_and(|def| body.bit_size(def) == 8) { 32 } else { 0 }
        })
    });
}
