//! Moves arrays that contain only constants to the shader's constant data.
//!
//! ```text
//! before:                                              after:
//!     %2 = deref_array &(*%1)[0]   (vec4[8] a)             constant_data: 0x...
//!     @store_deref (%2, %c0)                               %20 = umin %i, 8
//!     ...                                                  %21 = imul %20, 16
//!     %9 = deref_array &(*%1)[%i]                          %10 = @load_constant (%21) (base=0, range=144)
//!     %10 = @load_deref (%9)
//! ```
//!
//! The pass handles variables of a function that are arrays of vectors or scalars, except booleans, that have run-time
//! indices and at least `MIN_SIZE` bytes. All stores to them are of constants, with constant indices, in the first
//! block, before the first load; all other uses are loads of elements. Elements without a store have their value from
//! the initialiser, or 0. An element of zeros after the array serves out-of-range reads. Arrays with equal contents
//! share their data.
//!
//! The stores are removed; the variable and its derefs are left to [`opt_dce`](mod@crate::passes::scalar::opt_dce) and
//! [`remove_dead_variables`](mod@crate::passes::variables::remove_dead_variables). The pass is for targets with
//! `load_constant`. Linear in the code and the arrays that are moved.

use cranelift_entity::{PrimaryMap, SecondaryMap};
use hashbrown::HashMap;

use crate::alu::AluOp;
use crate::body::{Body, DerefKind, InstData, Shape};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Inst, User, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::Shader;
use crate::types::{TypeData, TypeTable};
use crate::variable::{Initializer, VariableData};

/// Minimum size of an array to move, in bytes.
const MIN_SIZE: usize = 32;
/// Maximum size of an array to move, in bytes.
const MAX_SIZE: u64 = 1 << 20;
/// Arrays start at multiples of this.
const ALIGNMENT: usize = 16;

/// See the [module](self).
pub fn opt_large_constants(shader: &mut Shader) -> bool {
    let Shader { functions, types, variables, constant_data, .. } = shader;
    let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
    let mut progress = false;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        if body.locals.is_empty() || !body.structured {
            continue;
        }
        for array in find_arrays(body, types, variables) {
            if array.bytes.len() < MIN_SIZE || !array.is_indexed {
                continue;
            }
            let mut bytes = array.bytes;
            bytes.resize(bytes.len() + array.stride as usize, 0);
            let base = *known.entry(bytes).or_insert_with_key(|bytes| {
                constant_data.resize(constant_data.len().next_multiple_of(ALIGNMENT), 0);
                let base = constant_data.len() as u32;
                constant_data.extend_from_slice(bytes);
                base
            });
            for inst in array.stores {
                body.remove_inst(inst);
            }
            for inst in array.loads {
                replace(body, inst, base, array.length, array.stride);
            }
            progress = true;
        }
    }
    progress
}

/// An array that may be moved.
#[derive(Clone)]
struct Array {
    bytes: Vec<u8>,
    length: u32,
    /// Size of an element in bytes.
    stride: u32,
    shape: Shape,
    loads: Vec<Inst>,
    stores: Vec<Inst>,
    is_indexed: bool,
}

fn find_arrays(body: &Body, types: &TypeTable, variables: &PrimaryMap<Variable, VariableData>) -> Vec<Array> {
    let mut arrays: SecondaryMap<Variable, Option<Array>> = SecondaryMap::default();
    for &variable in &body.locals {
        arrays[variable] = array_of(types, &variables[variable]);
    }
    // A deref of the whole variable is used only by derefs of elements, which are loaded and stored.
    for block in body.blocks() {
        for inst in body.insts(block) {
            let InstData::Deref { kind: DerefKind::Var(variable), .. } = *body.inst(inst) else { continue };
            if !arrays.get(variable).is_some_and(Option::is_some) {
                continue;
            }
            let Some(def) = body.inst_def(inst) else { continue };
            let all_simple = body.uses_of(def).all(|source| {
                let User::Inst(element) = body.user(source) else { return false };
                let InstData::Deref { kind: DerefKind::Array, .. } = *body.inst(element) else { return false };
                body.source_number(source) == 0
                    && body.bit_size(body.src(element, 1)) == 32
                    && body.inst_def(element).is_some_and(|def| is_loaded_or_stored(body, def))
            });
            if !all_simple {
                arrays[variable] = None;
            }
        }
    }
    for block in body.blocks() {
        for inst in body.insts(block) {
            access(body, inst, block == body.start_block(), &mut arrays);
        }
    }
    body.locals.iter().filter_map(|&variable| arrays[variable].take()).collect()
}

/// Returns whether all uses of a pointer to an element are loads and stores.
fn is_loaded_or_stored(body: &Body, def: crate::entities::Def) -> bool {
    body.uses_of(def).all(|source| {
        let User::Inst(user) = body.user(source) else { return false };
        match body.intrinsic(user) {
            Some(IntrinsicOp::LoadDeref) => true,
            Some(IntrinsicOp::StoreDeref) => body.source_number(source) == 0,
            _ => false,
        }
    })
}

/// Processes a load or store of an array element.
fn access(body: &Body, inst: Inst, is_first_block: bool, arrays: &mut SecondaryMap<Variable, Option<Array>>) {
    let Some(op @ (IntrinsicOp::LoadDeref | IntrinsicOp::StoreDeref)) = body.intrinsic(inst) else { return };
    let element = body.src_inst(body.source(inst, 0));
    let InstData::Deref { kind: DerefKind::Array, .. } = *body.inst(element) else { return };
    let InstData::Deref { kind: DerefKind::Var(variable), .. } = *body.inst(body.src_inst(body.source(element, 0)))
    else {
        return;
    };
    let Some(Some(array)) = arrays.get(variable) else { return };
    let index = body.constant_component(body.src(element, 1), 0);
    let value = (op == IntrinsicOp::StoreDeref).then(|| body.src(inst, 1));
    let shape = value.or(body.inst_def(inst)).map(|def| body.shape(def));
    let may_stay = shape == Some(array.shape)
        && value.is_none_or(|value| {
            is_first_block && array.loads.is_empty() && index.is_some() && body.def_constant(value).is_some()
        });
    if !may_stay {
        arrays[variable] = None;
        return;
    }
    let Some(array) = &mut arrays[variable] else { return };
    let Some(value) = value else {
        array.loads.push(inst);
        array.is_indexed |= index.is_none();
        return;
    };
    array.stores.push(inst);
    let first = index.unwrap_or(u64::MAX).checked_mul(u64::from(array.stride));
    let Some(start) = first.and_then(|first| usize::try_from(first).ok()) else { return };
    let size = usize::from(array.shape.bit_size) / 8;
    let mask = body.write_mask(inst);
    for (component, bits) in body.def_constant(value).unwrap_or(&[]).iter().enumerate() {
        // A store past the end has no effect.
        let at = start.saturating_add(component * size);
        if mask >> component & 1 != 0
            && let Some(bytes) = array.bytes.get_mut(at..at.saturating_add(size))
        {
            bytes.copy_from_slice(&bits.to_le_bytes()[..size]);
        }
    }
}

/// Returns the array for a variable, with its initial contents.
fn array_of(types: &TypeTable, data: &VariableData) -> Option<Array> {
    let TypeData::Array { element, length, .. } = *types.get(data.ty) else { return None };
    let (scalar, components) = types.as_vector(element)?;
    let bit_size = scalar.bit_size();
    if !matches!(bit_size, 8 | 16 | 32 | 64) || length == 0 {
        return None;
    }
    let size = u32::from(bit_size) / 8;
    let stride = size * u32::from(components);
    if u64::from(length) * u64::from(stride) > MAX_SIZE {
        return None;
    }
    let mut bytes = vec![0u8; (length * stride) as usize];
    match &data.initializer {
        None | Some(Initializer::Null) => {}
        Some(Initializer::Elements(parts)) => {
            for (index, part) in parts.iter().enumerate() {
                let values: &[u64] = match part {
                    Initializer::Null => &[],
                    Initializer::Vector(values) => values,
                    _ => return None,
                };
                for (component, bits) in values.iter().enumerate().take(usize::from(components)) {
                    let at = index * stride as usize + component * size as usize;
                    bytes.get_mut(at..at + size as usize)?.copy_from_slice(&bits.to_le_bytes()[..size as usize]);
                }
            }
        }
        Some(_) => return None,
    }
    let shape = Shape::new(components, bit_size);
    Some(Array { bytes, length, stride, shape, loads: Vec::new(), stores: Vec::new(), is_indexed: false })
}

/// Turns a load of an element into a load of constant data.
fn replace(body: &mut Body, inst: Inst, base: u32, length: u32, stride: u32) {
    let (Some(def), index) = (body.inst_def(inst), body.src(body.src_inst(body.source(inst, 0)), 1)) else { return };
    let shape = body.shape(def);
    let mut b = Builder::new(body, Cursor::Before(inst));
    let offset = match b.body.constant_component(index, 0) {
        Some(index) => b.u32_const(index.min(u64::from(length)) as u32 * stride),
        None => {
            let (end, stride) = (b.u32_const(length), b.u32_const(stride));
            let clamped = b.alu(AluOp::Umin, &[index, end]);
            b.alu(AluOp::Imul, &[clamped, stride])
        }
    };
    let align = 1u32 << stride.trailing_zeros().min(ALIGNMENT.trailing_zeros());
    let indices = [
        (IndexKind::Base, base as i32),
        (IndexKind::Range, ((length + 1) * stride) as i32),
        (IndexKind::AlignMul, align as i32),
        (IndexKind::AlignOffset, 0),
    ];
    let value = b.intrinsic_def(IntrinsicOp::LoadConstant, &[offset], &indices, shape);
    body.replace_all_uses(def, value);
    body.remove_inst(inst);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::run;
    use crate::shader::ShaderStage;
    use crate::text::print;
    use crate::types::ScalarType;
    use crate::validate::validate;
    use crate::variable::VariableModes;
    use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};

    /// Random arrays of constants, with masks, repeated stores to an element, and indices out of range.
    #[test]
    fn random_arrays() {
        let mut changed = 0;
        for seed in 0..300u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut below = |limit: u64| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 20) % limit
            };
            let mut shader = Shader::new(ShaderStage::Vertex);
            let vector = shader.types.vector(ScalarType::Float, 4);
            let array = shader.types.array(vector, 5);
            let main = shader.entry_point().unwrap();
            let variables = [shader.add_local(main, "a", array), shader.add_local(main, "b", array)];
            let mode = VariableModes::FUNCTION_TEMP;
            let mut b = Builder::at_end(shader.main_mut());
            let zero = b.u32_const(0);
            let vec4 = Shape::new(4, 32);
            let input = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], vec4);
            let late = below(4) == 0;
            let mut outputs = Vec::new();
            for number in 0..24 {
                let root = b.deref_var(variables[below(2) as usize], mode, array);
                if number < 12 || late && number == 20 {
                    let index = b.u32_const(below(6) as u32);
                    let deref = b.deref_array(root, index, vector);
                    let values: Vec<u64> = (0..4).map(|_| below(100)).collect();
                    let value = b.constant(32, &values);
                    b.store_deref(deref, value, 1 + below(15) as u32);
                } else {
                    let index = match below(3) {
                        0 => b.u32_const(below(7) as u32),
                        _ => b.channel(input, below(4) as u8),
                    };
                    let deref = b.deref_array(root, index, vector);
                    outputs.push(b.load_deref(deref, vec4));
                }
            }
            for (register, value) in outputs.into_iter().enumerate() {
                let ty = crate::alu::AluType::UINT32.to_i32();
                let indices =
                    [(IndexKind::Base, register as i32), (IndexKind::WriteMask, 15), (IndexKind::SrcType, ty)];
                b.intrinsic(IntrinsicOp::StoreOutput, &[value, zero], &indices, None);
            }
            validate(&shader).unwrap();
            let mut inputs = Inputs { lanes: 4, inputs: LaneRegisters::new(4, 1), ..Inputs::default() };
            for lane in 0..4 {
                for (component, value) in [lane as u32, 4, 3 + lane as u32, u32::MAX].into_iter().enumerate() {
                    inputs.inputs.set(0, component, lane, value);
                }
            }
            let result = |shader: &Shader| {
                run(shader, &inputs, &mut AnalyticResources::default(), RunLimits::default()).unwrap().outputs
            };
            let before = shader.clone();
            changed += usize::from(opt_large_constants(&mut shader));
            validate(&shader).unwrap();
            assert_eq!(result(&before), result(&shader), "{}\n{}", print(&before), print(&shader));
            assert!(!opt_large_constants(&mut shader));
        }
        assert!(changed > 200, "{changed}");
    }
}
