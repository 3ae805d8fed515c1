//! Every kind of error is triggered by a shader that has only this error. (Errors that text can express have a fixture,
//! too.)

mod control_flow;
mod derefs;
mod intrinsics;
mod other;
mod textures;
mod values;

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::*;
use crate::alu::{AluOp, AluType};
use crate::body::{AluFlags, CfNode, CfParent, DerefKind, SourceSpec, Swizzle, TexData, TexOp, TexSrcKind};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{If, Loop, Type, Use, User, Variable};
use crate::intrinsics::indices::{AtomicOp, IoSemantics, IoXfb, IoXfbOut};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::{FunctionData, Parameter, ShaderStage};
use crate::types::{Field, TypeData};
use crate::variable::{Initializer, VariableData, VariableModes};
use tgsi_environment::PixelFormat;
use tgsi_environment::SamplerDim;

fn codes(shader: &Shader) -> BTreeSet<&'static str> {
    match validate(shader) {
        Ok(()) => BTreeSet::new(),
        Err(errors) => {
            assert!(!errors.to_string().is_empty());
            errors.codes().map(|code| code.name).collect()
        }
    }
}

thread_local! {
    static TRIPPED: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
    static FAILURES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Records a failure unless exactly these codes are found.
#[track_caller]
fn trips(shader: &Shader, expected: &[&'static str]) {
    let found = codes(shader);
    if found != expected.iter().copied().collect() {
        let line = std::panic::Location::caller().line();
        FAILURES.with_borrow_mut(|f| f.push(format!("line {line}: expected {expected:?}, found {found:?}")));
    }
    TRIPPED.with_borrow_mut(|t| t.extend(found));
}

/// Builds a shader with `main` filled by the closure, and expects it to trigger these codes.
#[track_caller]
fn body_trips(stage: ShaderStage, expected: &[&'static str], fill: impl FnOnce(&mut Builder)) {
    let mut shader = Shader::new(stage);
    fill(&mut Builder::at_end(shader.main_mut()));
    trips(&shader, expected);
}

#[track_caller]
fn code_trips(expected: &[&'static str], fill: impl FnOnce(&mut Builder)) {
    body_trips(ShaderStage::Fragment, expected, fill);
}

fn alu(b: &mut Builder, op: AluOp, sources: &[AluSrc], shape: Shape) -> Inst {
    let sources: Vec<SourceSpec> = sources.iter().map(|s| SourceSpec::alu(s.def, s.swizzle)).collect();
    b.build(InstData::Alu { op, flags: AluFlags::NONE }, &sources, Some(shape))
}

/// Creates an intrinsic without the checks of the builder.
fn intrinsic(
    b: &mut Builder,
    op: IntrinsicOp,
    num_components: u8,
    sources: &[Def],
    indices: &[(IndexKind, i32)],
    shape: Option<Shape>,
) -> Inst {
    let sources: Vec<SourceSpec> = sources.iter().map(|&d| SourceSpec::plain(d)).collect();
    let indices = b.body.push_indices(Body::indices(op, indices));
    b.build(InstData::Intrinsic { op, num_components, indices }, &sources, shape)
}

const ONE: Shape = Shape::new(1, 32);
const FOUR: Shape = Shape::new(4, 32);

/// An `if` with a definition in each side, and a phi of both. Returns the `if`, the phi, the two values.
fn diamond(b: &mut Builder) -> (If, Inst, [Def; 2], [Block; 2]) {
    let condition = b.bool_const(true);
    let id = b.push_if(condition);
    let x = b.u32_const(1);
    let then_block = b.block();
    b.push_else(id);
    let y = b.u32_const(2);
    let else_block = b.block();
    b.end_if(id);
    let phi = b.phi(ONE, &[(then_block, x), (else_block, y)]);
    let phi = b.body.def_inst(phi);
    b.cursor = Cursor::After(phi);
    (id, phi, [x, y], [then_block, else_block])
}

/// A fragment shader with a temporary `vec4[4]`, an input `vec4`, a `uniform vec4` and a struct variable.
struct Derefs {
    shader: Shader,
    vec4: Type,
    array: Type,
    record: Type,
    temp: Variable,
    input: Variable,
    output: Variable,
    uniform: Variable,
    structure: Variable,
}

fn derefs_shader() -> Derefs {
    let mut shader = Shader::new(ShaderStage::Fragment);
    let vec4 = shader.types.vector(ScalarType::Float, 4);
    let array = shader.types.array(vec4, 4);
    let fields = vec![Field { name: "a".into(), ty: vec4, offset: -1 }];
    let record = shader.types.intern(TypeData::Struct { name: "S".into(), fields, interface: false });
    let temp = shader.add_variable(VariableData::new("temp", array, VariableModes::SHADER_TEMP));
    let input = shader.add_variable(VariableData::new("input", vec4, VariableModes::SHADER_IN));
    let output = shader.add_variable(VariableData::new("output", vec4, VariableModes::SHADER_OUT));
    let uniform = shader.add_variable(VariableData::new("uniform", vec4, VariableModes::UNIFORM));
    let structure = shader.add_variable(VariableData::new("structure", record, VariableModes::SHADER_TEMP));
    Derefs { shader, vec4, array, record, temp, input, output, uniform, structure }
}

fn deref(b: &mut Builder, kind: DerefKind, modes: VariableModes, ty: Type, sources: &[Def], shape: Shape) -> Def {
    let sources: Vec<SourceSpec> = sources.iter().map(|&d| SourceSpec::plain(d)).collect();
    let inst = b.build(InstData::Deref { kind, modes, ty }, &sources, Some(shape));
    b.body.inst_def(inst).unwrap()
}

#[track_caller]
fn deref_trips(expected: &[&'static str], fill: impl FnOnce(&mut Builder, &Derefs)) {
    let mut d = derefs_shader();
    let mut body = std::mem::take(d.shader.main_mut());
    fill(&mut Builder::at_end(&mut body), &d);
    *d.shader.main_mut() = body;
    trips(&d.shader, expected);
}

#[test]
fn every_rule_is_tripped() {
    values::uses_and_values();
    values::alu_rules();
    derefs::deref_rules();
    intrinsics::intrinsic_rules();
    textures::texture_rules();
    other::other_rules();
    control_flow::control_flow_rules();
    other::variable_rules();
    control_flow::analysis_rule();
    FAILURES.with_borrow(|failures| assert!(failures.is_empty(), "{failures:#?}"));
    let all: BTreeSet<&str> = ValidationErrorKind::CODES.iter().map(|&(_, code)| code.name).collect();
    assert_eq!(all.len(), ValidationErrorKind::CODES.len(), "a code is used twice");
    TRIPPED.with_borrow(|tripped| {
        let missing: Vec<_> = all.iter().filter(|code| !tripped.contains(*code)).collect();
        assert!(missing.is_empty(), "never tripped: {missing:?}");
    });
    let rules: BTreeSet<u8> = ValidationErrorKind::CODES.iter().map(|&(rule, _)| rule).collect();
    assert_eq!(rules, (1..=35).collect());
}

#[test]
fn errors_are_bounded() {
    let mut shader = Shader::new(ShaderStage::Fragment);
    let mut b = Builder::at_end(shader.main_mut());
    for _ in 0..10 * MAX_ERRORS {
        b.undef(6, 32);
    }
    let errors = validate(&shader).unwrap_err();
    assert_eq!(errors.errors.len(), MAX_ERRORS);
    assert!(errors.truncated);
}
