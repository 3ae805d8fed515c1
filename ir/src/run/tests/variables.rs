//! Variables and pointers.

use super::*;
use crate::body::{DerefKind, InstData};
use crate::entities::Type;
use crate::types::{Field, TypeData};
use crate::variable::Initializer;
use crate::{SourceSpec, Variable as Var};

fn deref(b: &mut Builder<'_>, kind: DerefKind, parent: &[Def], modes: VariableModes, ty: Type) -> Def {
    let sources: Vec<SourceSpec> = parent.iter().map(|&d| SourceSpec::plain(d)).collect();
    let inst = b.build(InstData::Deref { kind, modes, ty }, &sources, Some(SCALAR));
    b.body.inst_def(inst).unwrap_or_else(|| panic!("a deref has a value"))
}

const TEMP: VariableModes = VariableModes::SHADER_TEMP;

/// `vec4 a[3]`, with the element indexed by lane; one component of it; out-of-bounds reads give 0 and such writes are
/// dropped.
#[test]
fn arrays_and_components() {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let uint = shader.types.vector(ScalarType::Uint, 1);
    let vec4 = shader.types.vector(ScalarType::Uint, 4);
    let array = shader.types.array(vec4, 3);
    let a = variable(&mut shader, TEMP, array, |_| {});
    let guard = variable(&mut shader, TEMP, uint, |_| {});
    let mut b = Builder::at_end(shader.main_mut());
    let x = lane(&mut b);
    let input = load_input(&mut b);
    let root = b.deref_var(a, TEMP, array);
    let element = b.deref_array(root, x, vec4);
    b.store_deref(element, input, 0b1011);
    let three = b.u32_const(3);
    let last = deref(&mut b, DerefKind::Array, &[element, three], TEMP, uint);
    let seven = b.u32_const(7);
    b.store_deref(last, seven, 1);
    // Also indexed by lane: component 4 is out of bounds.
    let one = b.u32_const(1);
    let next = b.alu(AluOp::Iadd, &[x, one]);
    let component_of = deref(&mut b, DerefKind::Array, &[element, next], TEMP, uint);
    let picked = b.load_deref(component_of, SCALAR);
    store_output(&mut b, 1, picked);
    let value = b.load_deref(element, VEC4);
    store_output(&mut b, 0, value);
    let guard = b.deref_var(guard, TEMP, uint);
    let guarded = b.load_deref(guard, SCALAR);
    store_output(&mut b, 2, guarded);
    // Out of bounds with a constant index.
    let minus = b.u32_const(u32::MAX);
    let outside = b.deref_array(root, minus, vec4);
    b.store_deref(outside, input, 15);
    let outside = b.load_deref(outside, VEC4);
    store_output(&mut b, 3, outside);
    let outputs = ran(&shader, &lanes(4));
    assert_eq!(outputs.outputs.component(0, 0), [0, 1, 2, 0]);
    assert_eq!(outputs.outputs.component(0, 1), [0, 2, 4, 0]);
    assert_eq!(outputs.outputs.component(0, 2), [0, 0, 0, 0]);
    assert_eq!(outputs.outputs.component(0, 3), [7, 7, 7, 0]);
    assert_eq!(outputs.outputs.component(1, 0), [0, 0, 7, 0]);
    assert_eq!(outputs.outputs.component(2, 0), [0; 4]);
    assert_eq!(outputs.outputs.component(3, 2), [0; 4]);
}

/// Two arrays of structs, copied with wildcards: only one field of each element.
#[test]
fn copies_of_structs_with_wildcards() {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let uint = shader.types.vector(ScalarType::Uint, 1);
    let double = shader.types.vector(ScalarType::Uint64, 2);
    let field = |name: &str, ty| Field { name: name.to_string(), ty, offset: -1 };
    let fields = vec![field("a", uint), field("b", double)];
    let data = TypeData::Struct { name: "s".to_string(), fields, interface: false };
    let record = shader.types.intern(data);
    let array = shader.types.array(record, 2);
    let from = variable(&mut shader, TEMP, array, |_| {});
    let to = variable(&mut shader, TEMP, array, |_| {});
    let mut b = Builder::at_end(shader.main_mut());
    let path = |b: &mut Builder<'_>, variable: Var, index: Option<u32>, number: u32, ty: Type| {
        let root = b.deref_var(variable, TEMP, array);
        let element = match index {
            Some(index) => {
                let index = b.u32_const(index);
                b.deref_array(root, index, record)
            }
            None => deref(b, DerefKind::ArrayWildcard, &[root], TEMP, record),
        };
        deref(b, DerefKind::Struct(number), &[element], TEMP, ty)
    };
    for index in 0..2 {
        let a = path(&mut b, from, Some(index), 0, uint);
        let value = b.u32_const(10 + index);
        b.store_deref(a, value, 1);
        let d = path(&mut b, from, Some(index), 1, double);
        let value = b.constant(64, &[0x1_0000_0005 + u64::from(index), 0x2_0000_0007]);
        b.store_deref(d, value, 3);
    }
    let (dest, source) = (path(&mut b, to, None, 1, double), path(&mut b, from, None, 1, double));
    b.intrinsic(IntrinsicOp::CopyDeref, &[dest, source], &[], None);
    let d = path(&mut b, to, Some(1), 1, double);
    let value = b.load_deref(d, Shape::new(2, 64));
    store_output(&mut b, 0, value);
    let a = path(&mut b, to, Some(1), 0, uint);
    let value = b.load_deref(a, SCALAR);
    store_output(&mut b, 1, value);
    // The whole variable. (A copy onto itself, shifted, would overlap.)
    let (dest, source) = (b.deref_var(to, TEMP, array), b.deref_var(from, TEMP, array));
    b.intrinsic(IntrinsicOp::CopyDeref, &[dest, source], &[], None);
    let a = path(&mut b, to, Some(1), 0, uint);
    let value = b.load_deref(a, SCALAR);
    store_output(&mut b, 2, value);
    let outputs = ran(&shader, &lanes(1));
    let words: Vec<u32> = (0..4).map(|c| outputs.outputs.get(0, c, 0)).collect();
    assert_eq!(words, [6, 1, 7, 2]);
    assert_eq!((outputs.outputs.get(1, 0, 0), outputs.outputs.get(2, 0, 0)), (0, 11));
}

/// Initialisers of arrays, at the start of the shader.
#[test]
fn initializers() {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let pair = shader.types.vector(ScalarType::Uint, 2);
    let array = shader.types.array(pair, 2);
    let v = variable(&mut shader, TEMP, array, |data| {
        let parts = vec![Initializer::Vector(vec![1, 2]), Initializer::Vector(vec![3, 4])];
        data.initializer = Some(Initializer::Elements(parts));
    });
    let mut b = Builder::at_end(shader.main_mut());
    let x = lane(&mut b);
    let root = b.deref_var(v, TEMP, array);
    let element = b.deref_array(root, x, pair);
    let value = b.load_deref(element, Shape::new(2, 32));
    store_output(&mut b, 0, value);
    assert_eq!(component(&ran(&shader, &lanes(3)), 1), [2, 4, 0]);
}

/// Inputs, outputs, uniforms and system values as variables; arrays indexed by lane; a scalar output at its component.
#[test]
fn inputs_and_outputs() {
    let mut shader = Shader::new(ShaderStage::Fragment);
    let float = shader.types.vector(ScalarType::Float, 1);
    let vec4 = shader.types.vector(ScalarType::Float, 4);
    let boolean = shader.types.vector(ScalarType::Bool, 1);
    let array = shader.types.array(vec4, 2);
    let input = variable(&mut shader, VariableModes::SHADER_IN, array, |data| data.driver_location = 1);
    let uniform = variable(&mut shader, VariableModes::UNIFORM, array, |data| data.driver_location = 1);
    let output = variable(&mut shader, VariableModes::SHADER_OUT, array, |data| data.driver_location = 2);
    let depth = variable(&mut shader, VariableModes::SHADER_OUT, float, |data| {
        data.driver_location = 1;
        data.location_frac = 2;
    });
    let face = variable(&mut shader, VariableModes::SYSTEM_VALUE, boolean, |data| {
        data.location = tgsi_environment::SystemValue::FrontFace as i32;
    });
    let mut b = Builder::at_end(shader.main_mut());
    let x = lane(&mut b);
    let element = |b: &mut Builder<'_>, variable, mode, index| {
        let root = b.deref_var(variable, mode, array);
        b.deref_array(root, index, vec4)
    };
    let from = element(&mut b, input, VariableModes::SHADER_IN, x);
    let value = b.load_deref(from, VEC4);
    let to = element(&mut b, output, VariableModes::SHADER_OUT, x);
    b.store_deref(to, value, 0b0111);
    let one = b.u32_const(1);
    let constant = element(&mut b, uniform, VariableModes::UNIFORM, one);
    let constant = b.load_deref(constant, VEC4);
    let constant = b.channel(constant, 3);
    let to = b.deref_var(depth, VariableModes::SHADER_OUT, float);
    b.store_deref(to, constant, 1);
    let face = b.deref_var(face, VariableModes::SYSTEM_VALUE, boolean);
    let face = b.load_deref(face, Shape::new(1, 1));
    let face = b.alu(AluOp::B2i32, &[face]);
    store_output(&mut b, 0, face);
    let mut inputs = lanes(4);
    for lane in 0..4 {
        for register in 1..3 {
            for component in 0..4 {
                inputs.inputs.set(register, component, lane, (100 * register + 10 * component + lane) as u32);
            }
        }
    }
    inputs.constants = vec![(0..12).collect()];
    let words = vec![0, u32::MAX, 0, u32::MAX];
    inputs.system_values.insert(tgsi_environment::SystemValue::FrontFace, vec![words]);
    let outputs = ran(&shader, &inputs);
    assert_eq!(component(&outputs, 0), [0, 1, 0, 1]);
    assert_eq!(outputs.outputs.component(1, 2), [11; 4]);
    assert_eq!(outputs.outputs.component(1, 0), [0; 4]);
    assert_eq!(outputs.outputs.component(2, 1), [110, 0, 0, 0]);
    assert_eq!(outputs.outputs.component(3, 1), [0, 211, 0, 0]);
    assert_eq!(outputs.outputs.component(3, 3), [0; 4]);
    assert_eq!(outputs.outputs.len(), 4);
}

/// 64-bit inputs continue in the next register; a compact array fills registers scalar by scalar.
#[test]
fn wide_inputs_and_compact_outputs() {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let dvec3 = shader.types.vector(ScalarType::Double, 3);
    let float = shader.types.vector(ScalarType::Float, 1);
    let distances = shader.types.array(float, 6);
    let input = variable(&mut shader, VariableModes::SHADER_IN, dvec3, |_| {});
    let clip = variable(&mut shader, VariableModes::SHADER_OUT, distances, |data| {
        data.compact = true;
        data.driver_location = 1;
    });
    let mut b = Builder::at_end(shader.main_mut());
    let input = b.deref_var(input, VariableModes::SHADER_IN, dvec3);
    let value = b.load_deref(input, Shape::new(3, 64));
    store_output(&mut b, 3, value);
    let root = b.deref_var(clip, VariableModes::SHADER_OUT, distances);
    for index in 0..6 {
        let at = b.u32_const(index);
        let element = b.deref_array(root, at, float);
        let value = b.u32_const(50 + index);
        b.store_deref(element, value, 1);
    }
    let mut inputs = Inputs { lanes: 1, inputs: LaneRegisters::new(1, 2), ..Inputs::default() };
    for word in 0..6 {
        inputs.inputs.set(word / 4, word % 4, 0, word as u32 + 1);
    }
    let outputs = ran(&shader, &inputs);
    let words = |register: usize| (0..4).map(|c| outputs.outputs.get(register, c, 0)).collect::<Vec<_>>();
    assert_eq!((words(3), words(4)), (vec![1, 2, 3, 4], vec![5, 6, 0, 0]));
    assert_eq!((words(1), words(2)), (vec![50, 51, 52, 53], vec![54, 55, 0, 0]));
}

/// A storage buffer accessed through a pointer, with a runtime array after a header.
#[test]
fn buffer_variables() {
    let mut shader = Shader::new(ShaderStage::Compute);
    let uint = shader.types.vector(ScalarType::Uint, 1);
    let runtime = shader.types.intern(TypeData::Array { element: uint, length: 0, stride: 4 });
    let fields = vec![
        Field { name: "count".to_string(), ty: uint, offset: 0 },
        Field { name: "data".to_string(), ty: runtime, offset: 8 },
    ];
    let block = shader.types.intern(TypeData::Struct { name: "b".to_string(), fields, interface: true });
    const SSBO: VariableModes = VariableModes::MEM_SSBO;
    let v = variable(&mut shader, SSBO, block, |data| data.binding = 1);
    let mut b = Builder::at_end(shader.main_mut());
    let x = lane(&mut b);
    let root = b.deref_var(v, SSBO, block);
    let data = deref(&mut b, DerefKind::Struct(1), &[root], SSBO, runtime);
    let element = b.deref_array(data, x, uint);
    let length = b.intrinsic_def(IntrinsicOp::DerefBufferArrayLength, &[data], &[], SCALAR);
    store_output(&mut b, 0, length);
    b.store_deref(element, x, 1);
    let count = deref(&mut b, DerefKind::Struct(0), &[root], SSBO, uint);
    let indices = [(IndexKind::AtomicOp, 0)];
    let old = b.intrinsic_def(IntrinsicOp::DerefAtomic, &[count, x], &indices, SCALAR);
    store_output(&mut b, 1, old);
    let mut inputs = lanes(4);
    inputs.buffers = vec![Vec::new(), vec![0; 20]];
    let outputs = ran(&shader, &inputs);
    assert_eq!(component(&outputs, 0), [3; 4]);
    assert_eq!(outputs.outputs.component(1, 0), [0, 0, 1, 3]);
    // Lane 3 is beyond the end.
    assert_eq!(outputs.buffers[1], [6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
}

#[test]
fn too_large_variables_are_refused() {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let vec4 = shader.types.vector(ScalarType::Float, 4);
    let mut ty = vec4;
    for _ in 0..4 {
        ty = shader.types.array(ty, u32::MAX);
    }
    let v = variable(&mut shader, TEMP, ty, |_| {});
    let mut b = Builder::at_end(shader.main_mut());
    b.deref_var(v, TEMP, ty);
    assert!(matches!(try_run(&shader, &lanes(1)), Err(RunError::TooLarge { .. })));
}
