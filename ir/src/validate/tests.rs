//! Every kind of error is tripped by a shader that has just that wrong. (What text can express has a fixture as well.)

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::*;
use crate::alu::{AluOp, AluType};
use crate::body::{AluFlags, CfNode, CfParent, DerefKind, SourceSpec, Swizzle, TexData, TexOp, TexSrcKind};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{If, Loop, Type, Use, User, Variable};
use crate::intrinsics::indices::{AtomicOp, IoSemantics, IoXfb, IoXfbOut, SamplerDim};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::pixel_format::PixelFormat;
use crate::shader::{FunctionData, Parameter, Stage};
use crate::types::{Field, TypeData};
use crate::variable::{Initializer, VariableData, VariableModes};

fn codes(shader: &Shader) -> BTreeSet<&'static str> {
    match validate(shader) {
        Ok(()) => BTreeSet::new(),
        Err(errors) => {
            assert!(!errors.to_string().is_empty());
            errors.codes().collect()
        }
    }
}

thread_local! {
    static TRIPPED: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
    static FAILURES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Notes a failure unless exactly these codes are found.
#[track_caller]
fn trips(shader: &Shader, expected: &[&'static str]) {
    let found = codes(shader);
    if found != expected.iter().copied().collect() {
        let line = std::panic::Location::caller().line();
        FAILURES.with_borrow_mut(|f| f.push(format!("line {line}: expected {expected:?}, found {found:?}")));
    }
    TRIPPED.with_borrow_mut(|t| t.extend(found));
}

/// A shader of a stage whose `main` the closure fills, expected to trip these codes.
#[track_caller]
fn body_trips(stage: Stage, expected: &[&'static str], fill: impl FnOnce(&mut Builder)) {
    let mut shader = Shader::new(stage);
    fill(&mut Builder::at_end(shader.main_mut()));
    trips(&shader, expected);
}

#[track_caller]
fn code_trips(expected: &[&'static str], fill: impl FnOnce(&mut Builder)) {
    body_trips(Stage::Fragment, expected, fill);
}

fn alu(b: &mut Builder, op: AluOp, sources: &[AluSrc], shape: Shape) -> Inst {
    let sources: Vec<SourceSpec> = sources.iter().map(|s| SourceSpec::alu(s.def, s.swizzle)).collect();
    b.build(InstData::Alu { op, flags: AluFlags::NONE }, &sources, Some(shape))
}

/// An intrinsic without any help of the builder.
fn intrinsic(
    b: &mut Builder,
    op: IntrinsicOp,
    num_components: u8,
    sources: &[Def],
    indices: &[(IndexKind, i32)],
    shape: Option<Shape>,
) -> Inst {
    let sources: Vec<SourceSpec> = sources.iter().map(|&d| SourceSpec::plain(d)).collect();
    b.build(InstData::Intrinsic { op, num_components, indices: Body::indices(op, indices) }, &sources, shape)
}

const ONE: Shape = Shape::new(1, 32);
const FOUR: Shape = Shape::new(4, 32);

/// An `if` whose sides make values that a phi joins. Returns the `if`, the phi, the two values.
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

fn uses_and_values() {
    code_trips(&["def-maker"], |b| {
        let x = b.u32_const(1);
        let y = b.u32_const(2);
        b.body.corrupt_def_inst(x, Some(b.body.def_inst(y)));
    });
    code_trips(&["def-missing"], |b| {
        b.build(InstData::Undef, &[], None);
    });
    code_trips(&["def-unexpected"], |b| {
        b.build(InstData::Intrinsic { op: IntrinsicOp::Terminate, num_components: 0, indices: [0; 8] }, &[], Some(ONE));
    });
    code_trips(&["def-components"], |b| {
        b.undef(6, 32);
    });
    code_trips(&["def-bits"], |b| {
        b.undef(1, 24);
    });
    code_trips(&["use-list", "use-unlisted"], |b| {
        let x = b.u32_const(1);
        b.alu(AluOp::Iadd, &[x, x]);
        let first = b.body.uses_vec(x)[0];
        // The list runs in a circle.
        b.body.corrupt_use(first, |u| u.next = Some(first));
    });
    code_trips(&["use-list", "use-unlisted"], |b| {
        let x = b.u32_const(1);
        let y = b.u32_const(1);
        b.alu(AluOp::Ineg, &[x]);
        let source = b.body.uses_vec(x)[0];
        b.body.corrupt_use(source, |u| u.def = Some(y));
    });
    code_trips(&["use-stray"], |b| {
        let x = b.u32_const(1);
        // Made, reading a value, and never placed.
        b.body.create_inst(
            InstData::Alu { op: AluOp::Ineg, flags: AluFlags::NONE },
            &[SourceSpec::alu(x, Swizzle::IDENTITY)],
            Some(ONE),
        );
    });
    code_trips(&["use-undefined"], |b| {
        let x = b.body.create_inst(InstData::Undef, &[], Some(ONE));
        let x = b.body.inst_def(x).unwrap();
        b.alu(AluOp::Ineg, &[x]);
    });
    code_trips(&["use-undefined"], |b| {
        let condition = b.body.create_inst(InstData::Undef, &[], Some(Shape::new(1, 1)));
        let condition = b.body.inst_def(condition).unwrap();
        b.push_if(condition);
    });
    code_trips(&["source-count"], |b| {
        let x = b.u32_const(1);
        alu(b, AluOp::Iadd, &[x.into()], ONE);
    });
    code_trips(&["source-count", "use-stray"], |b| {
        let x = b.u32_const(1);
        b.alu(AluOp::Ineg, &[x]);
        let inst = b.body.last_inst(b.block()).unwrap();
        b.body.corrupt_num_sources(inst, 40);
    });
    code_trips(&["use-owner"], |b| {
        let x = b.u32_const(1);
        let y = b.alu(AluOp::Ineg, &[x]);
        let source = b.body.uses_vec(x)[0];
        let other = b.body.def_inst(x);
        assert_eq!(b.body.user(source), User::Inst(b.body.def_inst(y)));
        b.body.corrupt_use(source, |u| u.user = User::Inst(other));
    });
    code_trips(&["dominance"], |b| {
        let x = b.u32_const(1);
        b.alu(AluOp::Ineg, &[x]);
        let maker = b.body.def_inst(x);
        let end = Cursor::BlockEnd(b.block());
        b.body.move_inst(end, maker);
    });
    code_trips(&["dominance"], |b| {
        let (_, _, [x, _], _) = diamond(b);
        b.alu(AluOp::Ineg, &[x]);
    });
    code_trips(&["dominance"], |b| {
        let condition = b.bool_const(true);
        let id = b.push_if(condition);
        let inner = b.bool_const(true);
        b.end_if(id);
        b.push_if(inner);
    });
    code_trips(&["dominance-phi"], |b| {
        let (_, phi, [x, _], _) = diamond(b);
        let source = b.body.source(phi, 1);
        b.body.set_src(source, x);
    });
}

fn alu_rules() {
    code_trips(&["alu-source-bits"], |b| {
        let x = b.constant(64, &[1]);
        alu(b, AluOp::F2i32, &[x.into()], ONE);
        let y = b.bool_const(true);
        let z = b.u32_const(1);
        alu(b, AluOp::Bcsel, &[z.into(), z.into(), z.into()], ONE);
        alu(b, AluOp::Bcsel, &[y.into(), z.into(), z.into()], ONE);
    });
    code_trips(&["alu-sizes-differ"], |b| {
        let x = b.constant(64, &[1]);
        let y = b.u32_const(1);
        alu(b, AluOp::Iadd, &[y.into(), x.into()], ONE);
    });
    code_trips(&["alu-dest-bits"], |b| {
        let x = b.u32_const(1);
        alu(b, AluOp::Ineg, &[x.into()], Shape::new(1, 16));
        alu(b, AluOp::Ieq, &[x.into(), x.into()], ONE);
    });
    code_trips(&["alu-float-bits"], |b| {
        let x = b.constant(8, &[1]);
        alu(b, AluOp::Fneg, &[x.into()], Shape::new(1, 8));
    });
    code_trips(&["alu-find-msb"], |b| {
        let x = b.constant(16, &[1]);
        alu(b, AluOp::UfindMsb, &[x.into()], ONE);
    });
    code_trips(&["alu-open-bits"], |b| {
        let x = b.constant(64, &[1]);
        alu(b, AluOp::B2f32, &[x.into()], ONE);
    });
    code_trips(&["alu-swizzle"], |b| {
        let x = b.u32_const(1);
        alu(b, AluOp::Ineg, &[AluSrc::new(x, Swizzle::IDENTITY)], Shape::new(2, 32));
    });
    code_trips(&["alu-dest-components"], |b| {
        let x = b.u32_const(1);
        alu(b, AluOp::Vec2, &[x.into(), x.into()], Shape::new(3, 32));
    });
    // Unused selectors may say anything.
    code_trips(&[], |b| {
        let x = b.u32_const(1);
        alu(b, AluOp::Ineg, &[AluSrc::new(x, Swizzle::IDENTITY)], ONE);
    });
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
    let mut shader = Shader::new(Stage::Fragment);
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

fn deref_rules() {
    use VariableModes as M;
    let cast = |align_mul, align_offset| DerefKind::Cast { ptr_stride: 0, align_mul, align_offset };
    deref_trips(&["deref-var-modes"], |b, d| {
        b.deref_var(d.temp, M::MEM_SHARED, d.array);
    });
    deref_trips(&["deref-var-type"], |b, d| {
        b.deref_var(d.temp, M::SHADER_TEMP, d.vec4);
    });
    let mut d = derefs_shader();
    let unlisted = d.shader.variables.push(VariableData::new("lost", d.vec4, M::SHADER_TEMP));
    Builder::at_end(d.shader.main_mut()).deref_var(unlisted, M::SHADER_TEMP, d.vec4);
    trips(&d.shader, &["deref-var-undeclared"]);
    // A temporary of another function.
    let mut d = derefs_shader();
    let other = d.shader.functions.push(FunctionData {
        name: "other".into(),
        parameters: Vec::new(),
        is_entry_point: false,
        is_exported: false,
        remarks: Vec::new(),
        body: Some(Body::new()),
    });
    let local = d.shader.add_local(other, "local", d.vec4);
    let body = d.shader.functions[other].body.as_mut().unwrap();
    Builder::at_end(body).deref_var(local, M::FUNCTION_TEMP, d.vec4);
    trips(&d.shader, &[]);
    Builder::at_end(d.shader.main_mut()).deref_var(local, M::FUNCTION_TEMP, d.vec4);
    trips(&d.shader, &["deref-var-undeclared"]);
    deref_trips(&["deref-type"], |b, d| {
        b.deref_var(d.temp, M::SHADER_TEMP, Type::from_u32(1000));
    });
    deref_trips(&["cast-modes"], |b, d| {
        let x = b.u32_const(0);
        deref(b, cast(0, 0), M::MEM_SSBO.union(M::MEM_UBO), d.vec4, &[x], ONE);
        deref(b, cast(0, 0), M::GENERIC, d.vec4, &[x], ONE);
    });
    deref_trips(&["cast-no-modes"], |b, d| {
        let x = b.u32_const(0);
        deref(b, cast(0, 0), M::NONE, d.vec4, &[x], ONE);
    });
    deref_trips(&["cast-parent-modes"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        deref(b, cast(0, 0), M::MEM_SHARED, d.vec4, &[parent], ONE);
    });
    deref_trips(&["cast-align"], |b, d| {
        let x = b.u32_const(0);
        deref(b, cast(3, 0), M::MEM_SSBO, d.vec4, &[x], ONE);
    });
    deref_trips(&["deref-parent"], |b, d| {
        let x = b.u32_const(0);
        deref(b, DerefKind::Array, M::SHADER_TEMP, d.vec4, &[x, x], ONE);
    });
    deref_trips(&["deref-parent-shape"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        let index = b.constant(64, &[0]);
        deref(b, DerefKind::Array, M::SHADER_TEMP, d.vec4, &[parent, index], Shape::new(1, 64));
    });
    deref_trips(&["deref-parent-modes"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        let index = b.u32_const(0);
        deref(b, DerefKind::Array, M::MEM_SHARED, d.vec4, &[parent, index], ONE);
    });
    deref_trips(&["deref-not-struct"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        deref(b, DerefKind::Struct(0), M::SHADER_TEMP, d.vec4, &[parent], ONE);
    });
    deref_trips(&["deref-field", "deref-field-type"], |b, d| {
        let parent = b.deref_var(d.structure, M::SHADER_TEMP, d.record);
        deref(b, DerefKind::Struct(0), M::SHADER_TEMP, d.vec4, &[parent], ONE);
        deref(b, DerefKind::Struct(1), M::SHADER_TEMP, d.vec4, &[parent], ONE);
        deref(b, DerefKind::Struct(0), M::SHADER_TEMP, d.array, &[parent], ONE);
    });
    deref_trips(&["deref-not-array"], |b, d| {
        // Inputs are not indexed by component.
        let parent = b.deref_var(d.input, M::SHADER_IN, d.vec4);
        deref(b, DerefKind::ArrayWildcard, M::SHADER_IN, d.vec4, &[parent], ONE);
    });
    deref_trips(&["deref-element-type"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        deref(b, DerefKind::ArrayWildcard, M::SHADER_TEMP, d.vec4, &[parent], ONE);
        deref(b, DerefKind::ArrayWildcard, M::SHADER_TEMP, d.array, &[parent], ONE);
    });
    deref_trips(&["deref-index"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        let index = b.constant(16, &[0]);
        deref(b, DerefKind::Array, M::SHADER_TEMP, d.vec4, &[parent, index], ONE);
    });
    deref_trips(&["deref-ptr-parent"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        let index = b.u32_const(0);
        deref(b, DerefKind::PtrAsArray, M::SHADER_TEMP, d.array, &[parent, index], ONE);
    });
    deref_trips(&["deref-condition"], |b, d| {
        let parent = b.deref_var(d.temp, M::SHADER_TEMP, d.array);
        b.push_if(parent);
    });
    deref_trips(&["deref-phi"], |b, d| {
        let parent = b.deref_var(d.input, M::SHADER_IN, d.vec4);
        let (_, phi, ..) = diamond(b);
        let source = b.body.source(phi, 0);
        b.body.set_src(source, parent);
    });
}

fn intrinsic_rules() {
    use IndexKind as X;
    use IntrinsicOp as I;
    code_trips(&["intrinsic-source"], |b| {
        let x = b.constant(1, &[1, 1]);
        intrinsic(b, I::TerminateIf, 0, &[x], &[], None);
        intrinsic(b, I::Ddx, 4, &[x], &[], Some(FOUR));
    });
    code_trips(&["intrinsic-dest"], |b| {
        intrinsic(b, I::LoadFragCoord, 0, &[], &[], Some(ONE));
    });
    code_trips(&["intrinsic-dest-bits"], |b| {
        intrinsic(b, I::LoadFragCoord, 0, &[], &[], Some(Shape::new(4, 16)));
        let x = b.u32_const(1);
        intrinsic(b, I::AsUniform, 1, &[x], &[], Some(Shape::new(1, 16)));
    });
    code_trips(&["intrinsic-components"], |b| {
        intrinsic(b, I::Terminate, 1, &[], &[], None);
        let x = b.u32_const(1);
        intrinsic(b, I::Ddx, 0, &[x], &[], Some(ONE));
    });
    code_trips(&["write-mask"], |b| {
        let handle = b.decl_reg(Shape::new(2, 32), 0);
        let x = b.constant(32, &[1, 2]);
        b.store_reg(x, handle, 0, 0b111);
        b.store_reg(x, handle, 0, 0b11);
    });
    code_trips(&["register-place"], |b| {
        let handle = b.decl_reg(ONE, 0);
        let decl = b.body.def_inst(handle);
        let condition = b.bool_const(true);
        b.push_if(condition);
        let cursor = b.cursor;
        b.body.move_inst(cursor, decl);
    });
    code_trips(&["register-declaration"], |b| {
        let handle = b.decl_reg(ONE, 0);
        let decl = b.body.def_inst(handle);
        b.body.set_index(decl, X::NumComponents, 7);
    });
    code_trips(&["register-handle"], |b| {
        let x = b.u32_const(1);
        b.load_reg(x, 0);
        b.store_reg(x, x, 0, 1);
    });
    code_trips(&["register-shape"], |b| {
        let handle = b.decl_reg(FOUR, 0);
        let x = b.u32_const(1);
        b.store_reg(x, handle, 0, 1);
        intrinsic(b, I::LoadReg, 1, &[handle], &[], Some(ONE));
        b.load_reg(handle, 0);
    });
    code_trips(&["register-base"], |b| {
        let (handle, array) = (b.decl_reg(ONE, 0), b.decl_reg(ONE, 2));
        let x = b.u32_const(1);
        b.store_reg(x, handle, 1, 1);
        b.store_reg(x, array, 1, 1);
        b.load_reg(array, 7);
    });
    code_trips(&["register-use"], |b| {
        let handle = b.decl_reg(ONE, 0);
        b.alu(AluOp::Ineg, &[handle]);
        b.store_reg(handle, handle, 0, 1);
    });
    code_trips(&["convert-types"], |b| {
        let x = b.u32_const(1);
        let types = [(X::SrcType, AluType::UINT32.to_i32()), (X::DestType, AluType::FLOAT16.to_i32())];
        intrinsic(b, I::ConvertAluTypes, 1, &[x], &types, Some(Shape::new(1, 16)));
        intrinsic(b, I::ConvertAluTypes, 1, &[x], &types, Some(ONE));
    });
    code_trips(&["param-index"], |b| {
        intrinsic(b, I::LoadParam, 1, &[], &[(X::ParamIdx, -1)], Some(ONE));
    });
    let mut shader = Shader::new(Stage::Fragment);
    let mut body = Body::new();
    let mut b = Builder::at_end(&mut body);
    intrinsic(&mut b, I::LoadParam, 1, &[], &[(X::ParamIdx, 0)], Some(ONE));
    shader.functions.push(FunctionData {
        name: "f".into(),
        parameters: vec![Parameter { num_components: 4, bit_size: 32, name: String::new(), is_return: false }],
        is_entry_point: false,
        is_exported: false,
        remarks: Vec::new(),
        body: Some(body),
    });
    trips(&shader, &["param-shape"]);
    code_trips(&["access-no-deref"], |b| {
        let x = b.u32_const(1);
        b.load_deref(x, FOUR);
    });
    deref_trips(&["access-type"], |b, d| {
        let parent = b.deref_var(d.temp, VariableModes::SHADER_TEMP, d.array);
        b.load_deref(parent, FOUR);
    });
    deref_trips(&["access-shape"], |b, d| {
        let input = b.deref_var(d.input, VariableModes::SHADER_IN, d.vec4);
        b.load_deref(input, ONE);
        let output = b.deref_var(d.output, VariableModes::SHADER_OUT, d.vec4);
        let x = b.constant(64, &[0; 4]);
        b.store_deref(output, x, 15);
    });
    deref_trips(&["access-read-only"], |b, d| {
        let uniform = b.deref_var(d.uniform, VariableModes::UNIFORM, d.vec4);
        let x = b.load_deref(uniform, FOUR);
        b.store_deref(uniform, x, 15);
        intrinsic(b, I::CopyDeref, 0, &[uniform, uniform], &[], None);
    });
    deref_trips(&["copy-types"], |b, d| {
        let output = b.deref_var(d.output, VariableModes::SHADER_OUT, d.vec4);
        let temp = b.deref_var(d.temp, VariableModes::SHADER_TEMP, d.array);
        intrinsic(b, I::CopyDeref, 0, &[output, temp], &[], None);
    });
    code_trips(&["ubo-vec4"], |b| {
        let x = b.u32_const(0);
        intrinsic(b, I::LoadUboVec4, 4, &[x, x], &[(X::Component, 1)], Some(FOUR));
    });
    code_trips(&["ubo-range"], |b| {
        let x = b.u32_const(0);
        intrinsic(b, I::LoadUbo, 4, &[x, x], &[(X::AlignMul, 16)], Some(FOUR));
    });
    code_trips(&["memory-align"], |b| {
        let x = b.u32_const(0);
        intrinsic(b, I::LoadSsbo, 4, &[x, x], &[(X::AlignMul, 12)], Some(FOUR));
        intrinsic(b, I::LoadSsbo, 4, &[x, x], &[(X::AlignMul, 4), (X::AlignOffset, 4)], Some(FOUR));
    });
    code_trips(&["memory-bits"], |b| {
        let x = b.u32_const(0);
        intrinsic(b, I::LoadUniform, 1, &[x], &[], Some(Shape::new(1, 1)));
    });
    code_trips(&["barycentric"], |b| {
        intrinsic(b, I::LoadBarycentricPixel, 0, &[], &[(X::InterpMode, 2)], Some(Shape::new(2, 32)));
    });
    let store = |b: &mut Builder, bits, ty: AluType, io: IoSemantics, xfb: IoXfb| {
        let x = b.constant(bits, &[0; 4]);
        let offset = b.u32_const(0);
        let indices =
            [(X::WriteMask, 15), (X::SrcType, ty.to_i32()), (X::IoSemantics, io.to_i32()), (X::IoXfb, xfb.to_i32())];
        intrinsic(b, I::StoreOutput, 4, &[x, offset], &indices, None);
    };
    let plain = IoSemantics::new(32, 1);
    body_trips(Stage::Vertex, &[], |b| store(b, 32, AluType::FLOAT32, plain, IoXfb::default()));
    body_trips(Stage::Vertex, &["output-bits"], |b| store(b, 8, AluType::UINT8, plain, IoXfb::default()));
    body_trips(Stage::Vertex, &["output-type"], |b| store(b, 32, AluType::FLOAT16, plain, IoXfb::default()));
    let out = |num_components| IoXfbOut { num_components, buffer: 0, offset: 0 };
    let overlapping = IoXfb { out: [out(2), out(1)] };
    body_trips(Stage::Vertex, &["xfb-overlap"], |b| store(b, 32, AluType::FLOAT32, plain, overlapping));
    let capture = IoXfb { out: [out(4), out(0)] };
    body_trips(Stage::Fragment, &["xfb-stage"], |b| store(b, 32, AluType::FLOAT32, plain, capture));
    let nowhere = IoSemantics { no_varying: true, ..plain };
    body_trips(Stage::Vertex, &["output-no-effect"], |b| store(b, 32, AluType::FLOAT32, nowhere, IoXfb::default()));
    body_trips(Stage::Vertex, &[], |b| store(b, 32, AluType::FLOAT32, nowhere, capture));
    let dual = IoSemantics { dual_source_blend_index: true, ..plain };
    body_trips(Stage::Vertex, &["io-flag"], |b| store(b, 32, AluType::FLOAT32, dual, IoXfb::default()));
    code_trips(&["single-mode"], |b| {
        let x = b.u32_const(0);
        intrinsic(b, I::AddrModeIs, 0, &[x], &[(X::MemoryModes, 3)], Some(Shape::new(1, 1)));
    });
    let atomic = |b: &mut Builder, format: &str, op: AtomicOp| {
        let (index, data) = (b.u32_const(0), b.u32_const(1));
        let coordinate = b.constant(32, &[0; 4]);
        let format = PixelFormat::from_short_name(format).unwrap();
        let indices = [(X::Format, i32::from(format.value())), (X::AtomicOp, op.to_i32())];
        intrinsic(b, I::ImageAtomic, 0, &[index, coordinate, index, data], &indices, Some(ONE));
    };
    code_trips(&[], |b| atomic(b, "R32_FLOAT", AtomicOp::Xchg));
    code_trips(&["image-atomic"], |b| atomic(b, "R32_UINT", AtomicOp::Fadd));
    code_trips(&["image-atomic-bits"], |b| atomic(b, "R64_UINT", AtomicOp::Iadd));
}

fn tex(b: &mut Builder, change: impl FnOnce(&mut TexData), sources: &[(TexSrcKind, u8)], shape: Shape) -> Inst {
    let mut data = TexData::new(TexOp::Tex, SamplerDim::Dim2D, AluType::FLOAT32);
    data.coord_components = 2;
    change(&mut data);
    let id = b.body.push_tex(data);
    let sources: Vec<SourceSpec> =
        sources.iter().map(|&(kind, n)| SourceSpec::tex(kind, b.constant(32, &[0; 16][..usize::from(n)]))).collect();
    b.build(InstData::Tex(id), &sources, Some(shape))
}

fn texture_rules() {
    use TexSrcKind as K;
    let coord = (K::Coord, 2);
    code_trips(&[], |b| {
        tex(b, |_| {}, &[coord], FOUR);
    });
    code_trips(&["tex-source-kind"], |b| {
        let inst = tex(b, |_| {}, &[coord], FOUR);
        let source = b.body.source(inst, 0);
        b.body.corrupt_payload(source, 99);
    });
    code_trips(&["tex-source-twice"], |b| {
        tex(b, |_| {}, &[coord, coord], FOUR);
    });
    code_trips(&["tex-source-size"], |b| {
        tex(b, |_| {}, &[(K::Coord, 3)], FOUR);
        tex(b, |t| (t.is_array, t.coord_components) = (true, 3), &[(K::Coord, 3), (K::Offset, 3)], FOUR);
    });
    code_trips(&["tex-source"], |b| {
        tex(b, |_| {}, &[coord, (K::Comparator, 1)], FOUR);
        tex(b, |_| {}, &[coord, (K::Lod, 1)], FOUR);
        tex(b, |_| {}, &[coord, (K::Bias, 1)], FOUR);
        tex(b, |_| {}, &[coord, (K::Ddx, 2)], FOUR);
    });
    code_trips(&["tex-deref"], |b| {
        tex(b, |_| {}, &[coord, (K::TextureDeref, 1)], FOUR);
    });
    code_trips(&["tex-dim"], |b| {
        tex(b, |t| (t.op, t.dim) = (TexOp::Txf, SamplerDim::Ms), &[coord], FOUR);
        tex(b, |t| t.op = TexOp::TxfMs, &[coord], FOUR);
    });
    code_trips(&["tex-component"], |b| {
        tex(b, |t| t.component = 1, &[coord], FOUR);
    });
    code_trips(&["tex-offsets"], |b| {
        tex(b, |t| (t.op, t.tg4_offsets[0]) = (TexOp::Tg4, [3, 3]), &[coord, (K::Offset, 2)], FOUR);
        tex(b, |t| (t.op, t.tg4_offsets[0]) = (TexOp::Tg4, [3, 3]), &[coord], FOUR);
    });
    code_trips(&["tex-gather-lod"], |b| {
        tex(b, |t| t.is_gather_implicit_lod = true, &[coord], FOUR);
    });
    code_trips(&["tex-dest"], |b| {
        tex(b, |t| t.is_sparse = true, &[coord], FOUR);
    });
    code_trips(&["tex-result-type"], |b| {
        tex(b, |t| t.op = TexOp::QueryLevels, &[], ONE);
    });
    let mut shader = Shader::new(Stage::Fragment);
    let ty = shader.types.intern(TypeData::Sampler {
        dim: Some(SamplerDim::Dim2D),
        array: false,
        shadow: false,
        result: ScalarType::Uint,
    });
    let variable = shader.add_variable(VariableData::new("s", ty, VariableModes::UNIFORM));
    let mut b = Builder::at_end(shader.main_mut());
    let sampler = b.deref_var(variable, VariableModes::UNIFORM, ty);
    let at = b.constant(32, &[0, 0]);
    let mut data = TexData::new(TexOp::Tex, SamplerDim::Dim2D, AluType::FLOAT32);
    data.coord_components = 2;
    b.texture(data, &[(K::Coord, at), (K::TextureDeref, sampler), (K::SamplerDeref, sampler)]);
    trips(&shader, &["tex-result-type"]);
}

fn other_rules() {
    let call = |indirect: bool, callee: u32, num_sources: usize, bits: u8| {
        let mut shader = Shader::new(Stage::Fragment);
        shader.functions.push(FunctionData {
            name: "f".into(),
            parameters: vec![Parameter { num_components: 1, bit_size: 32, name: String::new(), is_return: false }],
            is_entry_point: false,
            is_exported: false,
            remarks: Vec::new(),
            body: Some(Body::new()),
        });
        let mut b = Builder::at_end(shader.main_mut());
        let x = b.constant(bits, &[1]);
        let sources = vec![SourceSpec::plain(x); num_sources];
        b.build(InstData::Call { callee: Function::from_u32(callee), indirect }, &sources, None);
        shader
    };
    trips(&call(false, 1, 1, 32), &[]);
    trips(&call(false, 9, 1, 32), &["call-callee"]);
    trips(&call(false, 1, 2, 32), &["call-count"]);
    trips(&call(false, 1, 1, 64), &["call-shape"]);
    trips(&call(true, 1, 2, 32), &["call-indirect"]);
    code_trips(&["constant-bits"], |b| {
        let start = b.body.push_constants(&[0x1_0000_0000]);
        b.build(InstData::LoadConst { start }, &[], Some(ONE));
    });
    code_trips(&["constant-pool"], |b| {
        b.build(InstData::LoadConst { start: 12 }, &[], Some(ONE));
    });
    code_trips(&["phi-missing"], |b| {
        let (_, phi, ..) = diamond(b);
        b.body.remove_source(phi, 1);
    });
    code_trips(&["phi-extra"], |b| {
        let (_, phi, [x, _], _) = diamond(b);
        let here = b.block();
        b.body.add_phi_source(phi, here, x);
        let last = b.body.source(phi, 2);
        let condition = b.body.src_def(b.body.if_condition(If::from_u32(0)));
        let shape = b.body.shape(condition);
        assert_eq!(shape, Shape::new(1, 1));
        let start = b.body.start_block();
        b.body.set_phi_predecessor(last, start);
        let early = b.body.create_inst(InstData::Undef, &[], Some(ONE));
        b.body.insert_inst(Cursor::BlockStart(start), early);
        let early = b.body.inst_def(early).unwrap();
        b.body.set_src(last, early);
    });
    code_trips(&["phi-twice"], |b| {
        let (_, phi, [x, _], [then_block, _]) = diamond(b);
        b.body.add_phi_source(phi, then_block, x);
    });
    code_trips(&["phi-shape"], |b| {
        let (_, phi, ..) = diamond(b);
        let def = b.body.inst_def(phi).unwrap();
        b.body.set_shape(def, Shape::new(1, 64));
    });
    code_trips(&["phi-place"], |b| {
        let (_, phi, ..) = diamond(b);
        let def = b.undef(1, 32);
        b.body.move_inst(Cursor::BlockEnd(b.block()), phi);
        assert!(b.body.is_unused(def));
    });
    code_trips(&["copy-entry"], |b| {
        let x = b.u32_const(1);
        let copy = b.body.create_parallel_copy();
        b.insert(copy);
        let copied = b.body.add_copy(copy, x);
        b.body.set_shape(copied, Shape::new(2, 32));
    });
    code_trips(&[], |b| {
        let x = b.u32_const(1);
        let handle = b.decl_reg(ONE, 0);
        let copy = b.body.create_parallel_copy();
        b.insert(copy);
        let copied = b.body.add_copy(copy, x);
        b.body.add_copy(copy, x);
        b.body.set_copy_dest_register(copy, 1, handle);
        b.alu(AluOp::Ineg, &[copied]);
    });
    code_trips(&["jump-place"], |b| {
        let jump = b.jump(JumpKind::Return);
        let undef = b.body.create_inst(InstData::Undef, &[], Some(ONE));
        b.body.insert_inst(Cursor::After(jump), undef);
        let block = b.block();
        // The edge as the tree now gives it.
        b.body.update_successors(block);
    });
    code_trips(&["jump-followed"], |b| {
        let condition = b.bool_const(true);
        b.push_if(condition);
        let start = b.body.start_block();
        b.body.insert_jump(start, JumpKind::Return, None);
    });
    code_trips(&["jump-outside-loop"], |b| {
        b.jump(JumpKind::Break);
    });
    code_trips(&["jump-in-continue"], |b| {
        let id = b.push_loop();
        let block = b.body.add_continue_construct(id);
        b.cursor = Cursor::BlockEnd(block);
        b.jump(JumpKind::Return);
        b.cursor = Cursor::BlockEnd(b.body.loop_body(id).first);
        b.jump(JumpKind::Break);
    });
    code_trips(&["jump-structured"], |b| {
        let (start, end) = (b.body.start_block(), b.body.end_block());
        b.body.insert_jump(start, JumpKind::Goto(end), None);
        b.body.structured = true;
    });
    code_trips(&["jump-target", "successor-outside"], |b| {
        let (start, end) = (b.body.start_block(), b.body.end_block());
        let id = b.push_loop();
        b.end_loop(id);
        let gone = b.body.loop_body(id).first;
        b.body.remove_node(CfNode::Loop(id));
        b.body.corrupt_block_parent(gone, None);
        b.body.insert_jump(start, JumpKind::Goto(gone), None);
        assert_ne!(gone, end);
    });
}

fn control_flow_rules() {
    fn two_sides(b: &mut Builder) -> (If, Block) {
        let condition = b.bool_const(true);
        let id = b.push_if(condition);
        b.end_if(id);
        (id, b.block())
    }
    code_trips(&["block-parent"], |b| {
        let (_, after) = two_sides(b);
        b.body.corrupt_block_parent(after, None);
    });
    code_trips(&["block-twice"], |b| {
        let (id, _) = two_sides(b);
        let start = b.body.start_block();
        b.body.corrupt_if_next(id, Some(start));
    });
    code_trips(&["block-links"], |b| {
        two_sides(b);
        let start = b.body.start_block();
        b.body.corrupt_node_after(start, Some(CfNode::Loop(Loop::from_u32(7))));
    });
    code_trips(&["block-adjacent"], |b| {
        let (_, after) = two_sides(b);
        let start = b.body.start_block();
        b.body.corrupt_node_after(start, Some(CfNode::Block(after)));
    });
    code_trips(&["block-list-end"], |b| {
        two_sides(b);
        let start = b.body.start_block();
        b.body.corrupt_node_after(start, None);
    });
    code_trips(&["inst-links"], |b| {
        let x = b.u32_const(1);
        let inst = b.body.def_inst(x);
        b.body.corrupt_next_inst(inst, Some(inst));
    });
    code_trips(&["inst-links"], |b| {
        let x = b.u32_const(1);
        let inst = b.body.def_inst(x);
        b.body.corrupt_inst_block(inst, None);
    });
    code_trips(&["successors"], |b| {
        let (id, after) = two_sides(b);
        let start = b.body.start_block();
        let [then_block, else_block] = [b.body.then_list(id).first, b.body.else_list(id).first];
        b.body.corrupt_successors(start, [Some(else_block), Some(then_block)]);
        assert_ne!(start, after);
    });
    code_trips(&["successors-equal"], |b| {
        let (start, end) = (b.body.start_block(), b.body.end_block());
        let condition = b.bool_const(true);
        b.body.insert_jump(start, JumpKind::GotoIf { then_block: end, else_block: end }, Some(condition));
        b.body.corrupt_predecessors(end, &[start]);
    });
    code_trips(&["successor-unlisted"], |b| {
        let (_, after) = two_sides(b);
        b.body.corrupt_predecessors(after, &[]);
    });
    code_trips(&["predecessor-extra"], |b| {
        let (_, after) = two_sides(b);
        let mut preds = b.body.predecessors(after).to_vec();
        preds.push(preds[0]);
        b.body.corrupt_predecessors(after, &preds);
    });
    code_trips(&["predecessor-extra", "start-predecessor"], |b| {
        let (_, after) = two_sides(b);
        let start = b.body.start_block();
        b.body.corrupt_predecessors(start, &[after]);
    });
    code_trips(&["node-links"], |b| {
        let id = b.push_loop();
        b.body.corrupt_loop_prev(id, None);
    });
    code_trips(&["condition"], |b| {
        let condition = b.constant(1, &[1, 0]);
        b.push_if(condition);
    });
    code_trips(&["end-block"], |b| {
        let end = b.body.end_block();
        let undef = b.body.create_inst(InstData::Undef, &[], Some(ONE));
        b.body.insert_inst(Cursor::BlockStart(end), undef);
    });
    code_trips(&["end-block"], |b| {
        let end = b.body.end_block();
        b.body.corrupt_block_parent(end, Some(CfParent::Function));
    });
    code_trips(&["use-stray", "use-undefined", "use-unlisted"], |b| {
        let (id, _) = two_sides(b);
        b.body.corrupt_if_condition(id, Use::from_u32(500));
    });
    trips(&Shader::without_functions(Stage::Vertex), &["entry-point"]);
    let mut shader = Shader::new(Stage::Vertex);
    let main = shader.entry_point().unwrap();
    shader.functions[main].parameters.push(Parameter {
        num_components: 1,
        bit_size: 32,
        name: String::new(),
        is_return: false,
    });
    trips(&shader, &["entry-point-parameters"]);
}

fn variable_rules() {
    use VariableModes as M;
    let variable = |stage: Stage, mode: M, change: &dyn Fn(&mut Shader, &mut VariableData)| {
        let mut shader = Shader::new(stage);
        let ty = shader.types.vector(ScalarType::Float, 4);
        let mut data = VariableData::new("v", ty, mode);
        change(&mut shader, &mut data);
        shader.add_variable(data);
        shader
    };
    trips(&variable(Stage::Vertex, M::SHADER_IN, &|_, v| v.location = 0x1_0003), &[]);
    trips(&variable(Stage::Vertex, M::SHADER_IN.union(M::SHADER_OUT), &|_, _| {}), &["variable-mode"]);
    trips(&variable(Stage::Vertex, M::FUNCTION_TEMP, &|_, _| {}), &["variable-mode"]);
    let mut shader = variable(Stage::Vertex, M::SHADER_IN, &|_, _| {});
    let listed = shader.globals[0];
    shader.globals.push(listed);
    trips(&shader, &["variable-twice"]);
    shader.globals = vec![listed, Variable::from_u32(40)];
    trips(&shader, &["variable-unknown"]);
    trips(&variable(Stage::Vertex, M::SHADER_IN, &|_, v| v.ty = Type::from_u32(99)), &["variable-type"]);
    trips(&variable(Stage::Vertex, M::SHADER_OUT, &|_, v| v.compact = true), &["variable-compact"]);
    let compact = variable(Stage::Vertex, M::SHADER_OUT, &|s, v| {
        let float = s.types.vector(ScalarType::Float, 1);
        (v.ty, v.compact) = (s.types.array(float, 8), true);
    });
    trips(&compact, &[]);
    trips(&variable(Stage::Vertex, M::SHADER_OUT, &|_, v| v.per_view = true), &["variable-per-view"]);
    trips(&variable(Stage::Geometry, M::SHADER_IN, &|_, v| v.per_vertex = true), &["variable-per-vertex"]);
    let arrayed = variable(Stage::Geometry, M::SHADER_IN, &|s, v| {
        (v.ty, v.per_vertex) = (s.types.array(v.ty, 3), true);
    });
    trips(&arrayed, &[]);
    trips(&variable(Stage::Vertex, M::IMAGE, &|_, _| {}), &["variable-image"]);
    trips(&variable(Stage::Vertex, M::SHADER_IN, &|_, v| v.location_frac = 4), &["variable-component"]);
    let initialized = |initializer: Initializer| {
        variable(Stage::Vertex, M::SHADER_TEMP, &move |_, v| v.initializer = Some(initializer.clone()))
    };
    trips(&initialized(Initializer::Vector(vec![1, 2, 3, 4])), &[]);
    trips(&initialized(Initializer::Vector(vec![1, 2, 3])), &["variable-initializer"]);
    trips(&initialized(Initializer::Vector(vec![1 << 32, 2, 3, 4])), &["variable-initializer"]);
    trips(&initialized(Initializer::Elements(vec![Initializer::Null])), &["variable-initializer"]);
    let mut shader = Shader::new(Stage::Fragment);
    shader.info.has_transform_feedback_varyings = true;
    trips(&shader, &["xfb-stage"]);
}

fn analysis_rule() {
    code_trips(&["stale-analysis"], |b| {
        let x = b.u32_const(1);
        b.u32_const(2);
        let inst = b.body.def_inst(x);
        b.body.inst_order();
        // Moved without telling anybody.
        let end = Cursor::BlockEnd(b.block());
        b.body.corrupt_move_inst(end, inst);
    });
    code_trips(&["stale-analysis"], |b| {
        let x = b.bool_const(true);
        let id = b.push_if(x);
        let inner = b.bool_const(true);
        b.end_if(id);
        b.body.liveness();
        let condition = b.body.if_condition(id);
        let maker = b.body.def_inst(inner);
        let start = b.body.start_block();
        b.body.corrupt_move_inst(Cursor::BlockEnd(start), maker);
        let epoch = b.body.inst_epoch();
        b.body.set_src(condition, inner);
        assert_ne!(epoch, b.body.inst_epoch());
        b.body.block_order();
        b.body.liveness();
        b.body.corrupt_move_inst(Cursor::BlockStart(start), maker);
        b.body.corrupt_inst_def(maker, Some(inner));
        b.body.inst_order();
        b.body.corrupt_move_inst(Cursor::BlockEnd(start), maker);
    });
}

#[test]
fn every_rule_is_tripped() {
    uses_and_values();
    alu_rules();
    deref_rules();
    intrinsic_rules();
    texture_rules();
    other_rules();
    control_flow_rules();
    variable_rules();
    analysis_rule();
    FAILURES.with_borrow(|failures| assert!(failures.is_empty(), "{failures:#?}"));
    let all: BTreeSet<&str> = ValidationErrorKind::CODES.iter().map(|&(_, code)| code).collect();
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
    let mut shader = Shader::new(Stage::Fragment);
    let mut b = Builder::at_end(shader.main_mut());
    for _ in 0..10 * MAX_ERRORS {
        b.undef(6, 32);
    }
    let errors = validate(&shader).unwrap_err();
    assert_eq!(errors.errors.len(), MAX_ERRORS);
    assert!(errors.truncated);
}
