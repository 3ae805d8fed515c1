//! Turns loads and stores of input and output variables into intrinsics that name slots.
//!
//! ```text
//! 32   %1 = deref_var &in_2 (shader_in vec4[3])
//! 32   %2 = deref_array &(*%1)[%i]                =>    32x4 %3 = @load_input (%i) (base=2, component=0, ...)
//! 32x4 %3 = @load_deref (%2)
//! ```
//!
//! `base` is the variable's `driver_location` plus the constant part of the array index; the offset source is the
//! run-time part. Both count slots of four components. `range` and the `slots` and `location` of `io_semantics`
//! describe the slots, from the base on, that an access may reach: one element if the index is constant, otherwise the
//! rest of the variable. With a constant index beyond its array, reads give zero and writes are dropped. The
//! outermost index of a per-vertex variable becomes the vertex source of `load_per_vertex_input` and similar
//! intrinsics. `interp_deref_at_*` become `load_interpolated_input` with `load_barycentric_*` of the variable's mode
//! (without a mode where no such barycentrics exist); ordinary loads of fragment inputs become `load_input`, because
//! the interpolation of a register is part of its declaration. Variables are kept: they describe the meaning of the
//! slots.
//!
//! An access to a 64-bit vector of more than two components becomes one for each of its two slots.
//!
//! Unused derefs are left to dead code elimination. Variables of types other than (arrays of) vectors are left alone.

use arrayvec::ArrayVec;

use crate::alu::{AluOp, AluType, BaseType};
use crate::body::{Body, DerefKind, InstData, MAX_COMPONENTS, Shape};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, Type, Variable};
use crate::intrinsics::indices::{InterpMode, IoSemantics};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::shader::{Shader, ShaderStage};
use crate::types::{ScalarType, TypeData, TypeTable};
use crate::variable::{VariableData, VariableModes};

/// Maximum number of derefs to follow.
const MAX_PATH: usize = 16;

/// Lowers accesses to variables of the given modes (`SHADER_IN`, `SHADER_OUT`). Returns whether anything changed.
pub fn lower_io(shader: &mut Shader, modes: VariableModes) -> bool {
    lower_io_where(shader, modes, |_, _| true)
}

/// Like [`lower_io`], for the variables for which `is_chosen` returns true.
pub fn lower_io_where(
    shader: &mut Shader,
    modes: VariableModes,
    is_chosen: impl Fn(&TypeTable, &VariableData) -> bool,
) -> bool {
    let mut progress = false;
    let Shader { functions, types, variables, stage, .. } = shader;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        for block in body.blocks_vec() {
            let mut next = body.first_inst(block);
            while let Some(inst) = next {
                next = body.next_inst(inst);
                let Some(op) = body.intrinsic(inst) else { continue };
                if op.is_deref_access()
                    && body.deref_modes(body.src(inst, 0)).intersects(modes)
                    && let Some(location) = locate(body, types, *stage, &|v| &variables[v], inst)
                    && is_chosen(types, &variables[location.variable])
                {
                    lower(body, inst, op, &location);
                    progress = true;
                }
            }
        }
    }
    progress
}

/// The slots of an access.
#[derive(Clone)]
struct Location {
    variable: Variable,
    vertex: Option<Def>,
    /// Constant part of the offset, in slots from the start of the variable.
    slots: u32,
    /// Terms of the run-time part: an index and the slots of an element.
    dynamic: ArrayVec<(Def, u32), MAX_PATH>,
    base: i32,
    /// Number of slots, from the base plus `slots`, that the access may reach; 0 if it is beyond the variable.
    range: u32,
    component: i32,
    is_input: bool,
    semantics: IoSemantics,
    scalar: ScalarType,
    interpolation: i32,
}

fn locate<'a>(
    body: &Body,
    types: &TypeTable,
    stage: ShaderStage,
    variable_data: &dyn Fn(Variable) -> &'a VariableData,
    access: Inst,
) -> Option<Location> {
    let mut path: ArrayVec<Inst, MAX_PATH> = ArrayVec::new();
    let mut current = body.def_inst(body.src(access, 0));
    let variable = loop {
        match *body.inst(current) {
            InstData::Deref { kind: DerefKind::Var(variable), .. } => break variable,
            InstData::Deref { kind: DerefKind::Array, .. } => {
                path.try_push(current).ok()?;
                current = body.def_inst(body.src(current, 0));
            }
            _ => return None,
        }
    };
    path.reverse();
    let data = variable_data(variable);
    let mut ty: Type = data.ty;
    let mut steps = path.iter();
    let mut vertex = None;
    if data.per_vertex {
        let step = *steps.next()?;
        let TypeData::Array { element, .. } = *types.get(ty) else { return None };
        vertex = Some(body.src(step, 1));
        ty = element;
    }
    let all_slots = types.slots(ty);
    let mut slots = 0u32;
    let mut is_beyond = false;
    let mut dynamic = ArrayVec::new();
    for &step in steps {
        let TypeData::Array { element, length, .. } = *types.get(ty) else { return None };
        let stride = types.slots(element).max(1);
        let index = body.src(step, 1);
        match body.constant_component(index, 0) {
            // Beyond an inner array are other elements of the variable.
            Some(constant) if constant >= u64::from(length) => is_beyond = true,
            Some(constant) => slots = slots.saturating_add((constant as u32).saturating_mul(stride)),
            None => dynamic.try_push((index, stride)).ok()?,
        }
        ty = element;
    }
    let (scalar, _) = types.as_vector(ty)?;
    // Locations without a slot share the last number, which is not a slot.
    let location = u32::try_from(data.location).ok().filter(|&l| l < 127).unwrap_or(127);
    let inside = if slots < all_slots { slots } else { 0 };
    let range = match dynamic.is_empty() {
        _ if is_beyond || slots >= all_slots => 0,
        true => types.slots(ty).max(1),
        false => all_slots - slots,
    };
    let mut semantics = IoSemantics::new((location + inside).min(127) as u8, range.clamp(1, 63) as u8);
    semantics.invariant = data.invariant;
    // These properties have no meaning in other stages.
    if stage == ShaderStage::Geometry {
        semantics.gs_streams = data.streams;
    }
    if stage == ShaderStage::Fragment {
        semantics.fb_fetch_output = data.fb_fetch_output;
        semantics.dual_source_blend_index = data.index != 0;
    }
    Some(Location {
        variable,
        vertex,
        slots,
        dynamic,
        base: data.driver_location as i32,
        range,
        component: i32::from(data.location_frac),
        is_input: data.mode == VariableModes::SHADER_IN,
        semantics,
        scalar,
        // An array may begin with a flat register and have others after it.
        interpolation: match data.interpolation {
            InterpMode::Flat | InterpMode::Explicit => InterpMode::None.to_i32(),
            mode => mode.to_i32(),
        },
    })
}

fn alu_type(scalar: ScalarType) -> AluType {
    let base = match scalar {
        ScalarType::Bool => BaseType::Bool,
        ScalarType::Int8 | ScalarType::Int16 | ScalarType::Int | ScalarType::Int64 => BaseType::Int,
        ScalarType::Uint8 | ScalarType::Uint16 | ScalarType::Uint | ScalarType::Uint64 => BaseType::Uint,
        ScalarType::Float16 | ScalarType::Float | ScalarType::Double | ScalarType::Void => BaseType::Float,
    };
    AluType::new(base, scalar.bit_size())
}

fn lower(body: &mut Body, inst: Inst, op: IntrinsicOp, location: &Location) {
    let shape = body.inst_def(inst).map(|def| body.shape(def));
    let extra: ArrayVec<Def, 2> = body.sources(inst).skip(1).take(2).map(|s| body.src_def(s)).collect();
    let mask = body.index(inst, IndexKind::WriteMask);
    let mut builder = Builder::new(body, Cursor::Before(inst));
    let mut offset = None;
    for &(index, stride) in &location.dynamic {
        let term = if stride == 1 {
            index
        } else {
            let stride = builder.u32_const(stride);
            builder.alu(AluOp::Imul, &[index, stride])
        };
        offset = Some(match offset {
            Some(sum) => builder.alu(AluOp::Iadd, &[sum, term]),
            None => term,
        });
    }
    let offset = offset.unwrap_or_else(|| builder.u32_const(0));
    let shape = shape.unwrap_or(Shape::new(4, 32));
    if location.range == 0 {
        // Out of range: reads give zero, writes are dropped.
        if let Some(old) = builder.body.inst_def(inst) {
            let zero = builder.constant(shape.bit_size, &[0; MAX_COMPONENTS][..usize::from(shape.num_components)]);
            body.replace_all_uses(old, zero);
        }
        body.remove_inst(inst);
        return;
    }
    let stored = extra.first().copied().filter(|_| op == IntrinsicOp::StoreDeref);
    let shape = stored.map_or(shape, |value| builder.body.shape(value));
    let value = if shape.bit_size == 64 && shape.num_components > 2 {
        access_halves(&mut builder, op, location, &extra, (stored, mask), offset, shape)
    } else {
        emit(&mut builder, op, location, &extra, (stored, mask), offset, shape)
    };
    if let (Some(old), Some(value)) = (body.inst_def(inst), value) {
        body.replace_all_uses(old, value);
    }
    body.remove_inst(inst);
}

/// Emits the accesses to a 64-bit vector in two slots: the first two components are in one, the others in the next.
fn access_halves(
    builder: &mut Builder<'_>,
    op: IntrinsicOp,
    location: &Location,
    extra: &[Def],
    (value, mask): (Option<Def>, i32),
    offset: Def,
    shape: Shape,
) -> Option<Def> {
    let mut components: ArrayVec<Def, MAX_COMPONENTS> = ArrayVec::new();
    for (slot, first, count) in [(0, 0u8, 2), (1, 2, shape.num_components - 2)] {
        let half = Location {
            slots: location.slots + slot,
            range: (location.range - slot).max(1),
            semantics: IoSemantics {
                location: location.semantics.location.saturating_add(slot as u8).min(127),
                num_slots: location.semantics.num_slots.saturating_sub(slot as u8).max(1),
                ..location.semantics
            },
            ..location.clone()
        };
        let half = if location.dynamic.is_empty() { Location { range: 1, ..half } } else { half };
        let shape = Shape::new(count, shape.bit_size);
        let mask = mask >> first & ((1 << count) - 1);
        let part = value.map(|value| {
            let parts: ArrayVec<Def, MAX_COMPONENTS> =
                (first..first + count).map(|c| builder.channel(value, c)).collect();
            builder.vec_of(&parts)
        });
        if value.is_some() && mask == 0 {
            continue;
        }
        if let Some(loaded) = emit(builder, op, &half, extra, (part, mask), offset, shape) {
            components.extend((0..count).map(|c| builder.channel(loaded, c)));
        }
    }
    (!components.is_empty()).then(|| builder.vec_of(&components))
}

/// Emits an access: a load, or a store of a value with a write mask.
fn emit(
    builder: &mut Builder<'_>,
    op: IntrinsicOp,
    location: &Location,
    extra: &[Def],
    (value, mask): (Option<Def>, i32),
    offset: Def,
    shape: Shape,
) -> Option<Def> {
    let base = (IndexKind::Base, location.base.wrapping_add(location.slots as i32));
    let component = (IndexKind::Component, location.component);
    let semantics = (IndexKind::IoSemantics, location.semantics.to_i32());
    let range = (IndexKind::Range, location.range as i32);
    let ty = alu_type(location.scalar).to_i32();
    if op == IntrinsicOp::StoreDeref {
        let value = value?;
        let indices = [base, component, semantics, range, (IndexKind::WriteMask, mask), (IndexKind::SrcType, ty)];
        match location.vertex {
            Some(vertex) => {
                builder.intrinsic(IntrinsicOp::StorePerVertexOutput, &[value, vertex, offset], &indices, None)
            }
            None => builder.intrinsic(IntrinsicOp::StoreOutput, &[value, offset], &indices, None),
        };
        return None;
    }
    let dest_type = (IndexKind::DestType, ty);
    let interpolated = |builder: &mut Builder<'_>, barycentric: IntrinsicOp| {
        let sources: ArrayVec<Def, 1> = extra.first().copied().into_iter().collect();
        let mode = [(IndexKind::InterpMode, location.interpolation)];
        let sources = if barycentric == IntrinsicOp::LoadBarycentricCentroid { &[][..] } else { &sources[..] };
        let weights = builder.intrinsic_def(barycentric, sources, &mode, Shape::new(2, 32));
        let indices = [base, component, semantics, dest_type];
        builder.intrinsic_def(IntrinsicOp::LoadInterpolatedInput, &[weights, offset], &indices, shape)
    };
    let indices = [base, component, semantics, range, dest_type];
    Some(match (op, location.is_input, location.vertex) {
        (IntrinsicOp::InterpDerefAtCentroid, ..) => interpolated(builder, IntrinsicOp::LoadBarycentricCentroid),
        (IntrinsicOp::InterpDerefAtSample, ..) => interpolated(builder, IntrinsicOp::LoadBarycentricAtSample),
        (IntrinsicOp::InterpDerefAtOffset, ..) => interpolated(builder, IntrinsicOp::LoadBarycentricAtOffset),
        (_, true, Some(vertex)) => {
            builder.intrinsic_def(IntrinsicOp::LoadPerVertexInput, &[vertex, offset], &indices, shape)
        }
        (_, true, None) => builder.intrinsic_def(IntrinsicOp::LoadInput, &[offset], &indices, shape),
        (_, false, Some(vertex)) => {
            builder.intrinsic_def(IntrinsicOp::LoadPerVertexOutput, &[vertex, offset], &indices, shape)
        }
        (_, false, None) => builder.intrinsic_def(IntrinsicOp::LoadOutput, &[offset], &indices, shape),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::ShaderStage;

    /// Builds a vertex shader that copies element `index` of an array of inputs to a scalar output in component z of
    /// its register.
    fn shader(index: impl FnOnce(&mut Builder<'_>) -> Def) -> Shader {
        let mut shader = Shader::new(ShaderStage::Vertex);
        let vec4 = shader.types.vector(ScalarType::Float, 4);
        let float = shader.types.vector(ScalarType::Float, 1);
        let array = shader.types.array(vec4, 4);
        let mut input = VariableData::new("in_2", array, VariableModes::SHADER_IN);
        input.driver_location = 2;
        input.location = 17;
        let input = shader.add_variable(input);
        let mut output = VariableData::new("out_1", float, VariableModes::SHADER_OUT);
        output.driver_location = 1;
        output.location_frac = 2;
        let output = shader.add_variable(output);
        let mut b = Builder::at_end(shader.main_mut());
        let parent = b.deref_var(input, VariableModes::SHADER_IN, array);
        let index = index(&mut b);
        let element = b.deref_array(parent, index, vec4);
        let value = b.load_deref(element, Shape::new(4, 32));
        let value = b.channel(value, 1);
        let deref = b.deref_var(output, VariableModes::SHADER_OUT, float);
        b.store_deref(deref, value, 1);
        shader
    }

    fn find(shader: &Shader, op: IntrinsicOp) -> Inst {
        let body = shader.main();
        body.insts(body.start_block()).find(|&i| body.intrinsic(i) == Some(op)).expect("the intrinsic is there")
    }

    fn lowered(mut shader: Shader) -> Shader {
        let modes = VariableModes(VariableModes::SHADER_IN.0 | VariableModes::SHADER_OUT.0);
        assert!(lower_io(&mut shader, modes));
        assert!(!lower_io(&mut shader, modes), "everything is lowered at once");
        crate::validate::validate(&shader).expect("valid");
        shader
    }

    #[test]
    fn constant_elements_go_into_the_base() {
        let shader = lowered(shader(|b| b.u32_const(3)));
        let (body, load) = (shader.main(), find(&shader, IntrinsicOp::LoadInput));
        assert_eq!(body.index(load, IndexKind::Base), 5);
        assert_eq!(body.constant_component(body.src(load, 0), 0), Some(0));
        let semantics = IoSemantics::from_i32(body.index(load, IndexKind::IoSemantics));
        assert_eq!((semantics.location, semantics.num_slots), (20, 1));
        assert_eq!(body.index(load, IndexKind::Range), 1);
        let store = find(&shader, IntrinsicOp::StoreOutput);
        assert_eq!((body.base(store), body.component(store), body.write_mask(store)), (1, 2, 1));
    }

    #[test]
    fn elements_beyond_the_end_are_zero() {
        let shader = lowered(shader(|b| b.u32_const(4)));
        let (body, store) = (shader.main(), find(&shader, IntrinsicOp::StoreOutput));
        let value = body.src(store, 0);
        let source = body.source(body.def_inst(value), 0);
        let component = usize::from(body.swizzle(source).get(0));
        assert_eq!(body.constant_component(body.src_def(source), component), Some(0));
        assert!(body.insts(body.start_block()).all(|i| body.intrinsic(i) != Some(IntrinsicOp::LoadInput)));
    }

    #[test]
    fn run_time_elements_become_the_offset() {
        let shader = lowered(shader(|b| b.intrinsic_def(IntrinsicOp::LoadVertexId, &[], &[], Shape::new(1, 32))));
        let (body, load) = (shader.main(), find(&shader, IntrinsicOp::LoadInput));
        let semantics = IoSemantics::from_i32(body.index(load, IndexKind::IoSemantics));
        assert_eq!((body.index(load, IndexKind::Base), body.index(load, IndexKind::Range)), (2, 4));
        assert_eq!((semantics.location, semantics.num_slots), (17, 4));
        assert_eq!(body.intrinsic(body.def_inst(body.src(load, 0))), Some(IntrinsicOp::LoadVertexId));
    }
}
