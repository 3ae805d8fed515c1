//! Vectors of three and more 64-bit numbers become pairs, for targets whose registers hold two of them.
//!
//! ```text
//! before:                                              after:
//!     decl_var  dvec3[4] a                                 decl_var  dvec2[4] a.xy
//!                                                          decl_var  double[4] a.z
//!     64x3 %1 = @load_ssbo (%0, %i)                        64x2 %3 = @load_ssbo (%0, %i)
//!                                                          32   %4 = iadd %i, 16
//!                                                          64   %5 = @load_ssbo (%0, %4)
//!     64x3 %2 = phi b1: %1, b2: %x                         64x2 %6 = phi b1: %3, b2: %7
//!                                                          64   %8 = phi b1: %5, b2: %9
//!                                                          64x3 %2 = vec3 %6.x, %6.y, %8
//! ```
//!
//! Temporaries of such types (matrices, whose columns are an array, and arrays of them too), phis, and loads and stores of uniforms, buffers, memory, inputs and outputs. What works on
//! them, [`lower_alu_width`](mod@crate::passes::lower_alu_width) makes of pairs. Structs are left to [`split_struct_vars`](mod@crate::passes::split_struct_vars).
//!
//! A copy between a variable that is split and one that is not becomes loads and stores. A variable whose address is used in any other way stays.
//! An access that is partly outside its buffer gives what of its pairs is inside.
//!
//! Cost: linear in the instructions, and in the accesses times the lengths of their paths.

use arrayvec::ArrayVec;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap};

use crate::alu::AluOp;
use crate::body::{Body, DerefKind, InstData, MAX_COMPONENTS, Shape, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst, Type, User, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp, MAX_INDICES};
use crate::passes::lower_global_vars_to_local::mark_pointer_targets;
use crate::passes::lower_vars_to_ssa::{put_component, take_component};
use crate::passes::split_array_vars::lower_copies;
use crate::passes::split_struct_vars::{deref_part, exclude_complex, root};
use crate::passes::{lower_phis_to_scalar, split_var_copies};
use crate::shader::Shader;
use crate::types::{TypeData, TypeTable};
use crate::variable::{Initializer, VariableData, VariableModes};

/// Components of a part.
const WIDTH: u8 = 2;
const TEMPORARIES: VariableModes = VariableModes(VariableModes::FUNCTION_TEMP.0 | VariableModes::SHADER_TEMP.0);

/// See the [module](self).
pub fn split_64bit_vec3_and_vec4(shader: &mut Shader) -> bool {
    let mut progress = split_variables(shader);
    for body in shader.bodies_mut() {
        let phis: Vec<(Block, Inst)> =
            body.blocks().flat_map(|block| body.phis(block).map(move |phi| (block, phi))).collect();
        for (block, phi) in phis {
            if body.inst_def(phi).is_some_and(|def| is_wide(body.shape(def))) {
                lower_phis_to_scalar::split(body, block, phi, WIDTH);
                progress = true;
            }
        }
        progress |= body.visit_insts(split_access);
    }
    progress
}

fn is_wide(shape: Shape) -> bool {
    shape.bit_size == 64 && shape.num_components > WIDTH
}

/// First components and numbers of components of the parts of a vector.
fn parts(num_components: u8) -> impl Iterator<Item = (u8, u8)> {
    (0..num_components).step_by(WIDTH.into()).map(move |first| (first, WIDTH.min(num_components - first)))
}

/// Components of a value from one on.
fn take_part(b: &mut Builder<'_>, value: Def, (first, count): (u8, u8)) -> Def {
    let selectors: ArrayVec<u8, MAX_COMPONENTS> = (first..first + count).collect();
    b.mov(AluSrc::new(value, Swizzle::new(&selectors)), count)
}

/// Components that parts of a value have become.
fn components(b: &Builder<'_>, part: Def) -> impl Iterator<Item = AluSrc> + use<> {
    (0..b.body.num_components(part)).map(move |component| AluSrc::component(part, component))
}

// ---- memory, inputs and outputs -----------------------------------------------------------------------------------------

/// How the second part of an access is told from the first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// 16 more in the source with this number, which is modulo its size.
    Bytes(usize),
    /// The same, which may not come round to the start of a buffer.
    BufferBytes(usize),
    /// 16 more in the index `base`.
    BaseBytes,
    /// 1 more in the index `base`.
    BaseSlot,
    /// 1 more in the source with this number.
    Slot(usize),
}

impl Place {
    fn of(op: IntrinsicOp) -> Option<Place> {
        use IntrinsicOp as I;
        Some(match op {
            I::LoadUbo | I::LoadSsbo => Place::BufferBytes(1),
            I::StoreSsbo => Place::BufferBytes(2),
            I::LoadScratch => Place::BufferBytes(0),
            I::StoreScratch => Place::BufferBytes(1),
            I::LoadGlobal | I::LoadGlobalConstant => Place::Bytes(0),
            I::StoreGlobal | I::LoadGlobalConstantOffset => Place::Bytes(1),
            I::LoadShared
            | I::StoreShared
            | I::LoadTaskPayload
            | I::StoreTaskPayload
            | I::LoadPushConstant
            | I::LoadConstant
            | I::LoadKernelInput => Place::BaseBytes,
            I::LoadUniform => Place::BaseSlot,
            I::LoadInput | I::LoadPerPrimitiveInput | I::LoadOutput => Place::Slot(0),
            I::LoadInputVertex
            | I::LoadPerVertexInput
            | I::LoadPerVertexOutput
            | I::LoadPerViewOutput
            | I::LoadPerPrimitiveOutput
            | I::StoreOutput => Place::Slot(1),
            I::StorePerVertexOutput | I::StorePerViewOutput | I::StorePerPrimitiveOutput => Place::Slot(2),
            _ => return None,
        })
    }
}

fn split_access(body: &mut Body, inst: Inst) -> bool {
    let Some(op) = body.intrinsic(inst) else { return false };
    let Some(place) = Place::of(op) else { return false };
    let def = body.inst_def(inst);
    let shape = body.shape(def.unwrap_or_else(|| body.src(inst, 0)));
    if !is_wide(shape) {
        return false;
    }
    let info = op.info();
    let sources: ArrayVec<Def, 4> = (0..body.num_sources(inst).min(4)).map(|number| body.src(inst, number)).collect();
    let indices: ArrayVec<(IndexKind, i32), MAX_INDICES> =
        info.indices.iter().map(|&kind| (kind, body.index(inst, kind))).collect();
    let mut b = Builder::new(body, Cursor::Before(inst));
    let mut loaded: ArrayVec<AluSrc, MAX_COMPONENTS> = ArrayVec::new();
    for (number, part) in (0u32..).zip(parts(shape.num_components)) {
        let (first, count) = part;
        let (mut sources, mut indices) = (sources.clone(), indices.clone());
        let get = |indices: &[(IndexKind, i32)], kind| {
            indices.iter().find(|(index, _)| *index == kind).map_or(0, |(_, value)| *value as u32)
        };
        let (align, rest) = (get(&indices, IndexKind::AlignMul), get(&indices, IndexKind::AlignOffset));
        let mask = get(&indices, IndexKind::WriteMask) >> first & ((1 << count) - 1);
        if def.is_none() && mask == 0 {
            continue;
        }
        let step = if matches!(place, Place::Slot(_) | Place::BaseSlot) { number } else { 16 * number };
        for (kind, value) in &mut indices {
            let old = *value as u32;
            *value = match kind {
                IndexKind::AlignOffset if align.is_power_of_two() => old.wrapping_add(step) & (align - 1),
                IndexKind::WriteMask => mask,
                IndexKind::Base if matches!(place, Place::BaseBytes | Place::BaseSlot) => old.wrapping_add(step),
                // What may be read from the base on; 0 says nothing.
                IndexKind::Range if matches!(place, Place::BaseBytes | Place::BaseSlot) && old > step => old - step,
                _ => old,
            } as i32;
        }
        match place {
            Place::BufferBytes(source) => sources[source] = add_inside(&mut b, sources[source], step, (align, rest)),
            Place::Bytes(source) | Place::Slot(source) => sources[source] = add(&mut b, sources[source], step as i32),
            Place::BaseBytes | Place::BaseSlot => {}
        }
        if def.is_some() {
            let value = b.intrinsic_def(op, &sources, &indices, Shape::new(count, 64));
            loaded.extend(components(&b, value));
        } else {
            sources[0] = take_part(&mut b, sources[0], part);
            b.intrinsic(op, &sources, &indices, None);
        }
    }
    if let Some(def) = def {
        let vector = b.vec(&loaded);
        body.replace_all_uses(def, vector);
    }
    body.remove_inst(inst);
    true
}

/// A sum with a constant.
fn add(b: &mut Builder<'_>, offset: Def, step: i32) -> Def {
    if step == 0 {
        return offset;
    }
    let bits = b.body.bit_size(offset);
    let fit = |value: u64| if bits < 64 { value & ((1 << bits) - 1) } else { value };
    let step = step as i64 as u64;
    if let Some(constant) = b.body.constant_component(offset, 0) {
        return b.constant(bits, &[fit(constant.wrapping_add(step))]);
    }
    let step = b.constant(bits, &[fit(step)]);
    b.alu(AluOp::Iadd, &[offset, step])
}

/// The same for an offset into a buffer: from behind the end it does not get to the start. What the alignment says may make sure of that.
fn add_inside(b: &mut Builder<'_>, offset: Def, step: u32, (align, rest): (u32, u32)) -> Def {
    if step == 0 || b.body.bit_size(offset) != 32 {
        return add(b, offset, step as i32);
    }
    let (align, rest) = if align.is_power_of_two() { (align, rest & (align - 1)) } else { (1, 0) };
    // The last offset of this alignment from which the sum does not come round, if there is another behind it.
    let last = (u32::MAX - step).checked_sub(rest).map(|room| room / align * align + rest);
    let Some(last) = last.filter(|last| last.checked_add(align).is_some()) else {
        return add(b, offset, step as i32);
    };
    let offset = match b.body.constant_component(offset, 0) {
        Some(constant) => b.u32_const((constant as u32).min(last)),
        None => {
            let last = b.u32_const(last);
            b.alu(AluOp::Umin, &[offset, last])
        }
    };
    add(b, offset, step as i32)
}

// ---- variables ----------------------------------------------------------------------------------------------------------

/// What a variable becomes.
#[derive(Clone)]
struct Split {
    num_components: u8,
    variables: ArrayVec<Variable, MAX_COMPONENTS>,
}

type Splits = SecondaryMap<Variable, Option<Split>>;

fn split_variables(shader: &mut Shader) -> bool {
    let Shader { functions, types, variables, globals, .. } = shader;
    let mut wide: SecondaryMap<Variable, bool> = SecondaryMap::new();
    let mut any = false;
    for (variable, data) in variables.iter() {
        wide[variable] = data.mode.intersects(TEMPORARIES) && vector(types, data.ty).is_some_and(is_wide);
        any |= wide[variable];
    }
    if !any {
        return false;
    }
    for data in variables.values() {
        mark_pointer_targets(data.initializer.as_ref(), &mut |target| wide[target] = false);
    }
    for body in functions.values().filter_map(|f| f.body.as_ref()) {
        exclude_complex(body, &mut wide);
        exclude_copied_components(body, types, &mut wide);
    }
    let mut splits: Splits = SecondaryMap::new();
    let mut progress = false;
    for list in
        std::iter::once(globals).chain(functions.values_mut().filter_map(|f| f.body.as_mut()).map(|b| &mut b.locals))
    {
        let mut new_list = Vec::with_capacity(list.len());
        for &variable in list.iter() {
            if !wide[variable] {
                new_list.push(variable);
                continue;
            }
            let split = make_parts(types, variables, variable);
            new_list.extend(&split.variables);
            splits[variable] = Some(split);
            progress = true;
        }
        *list = new_list;
    }
    if !progress {
        return false;
    }
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        rewrite(body, types, variables, &splits);
    }
    for (variable, split) in splits.iter() {
        if split.is_some() {
            variables[variable].mode = VariableModes::NONE;
        }
    }
    true
}

/// The shape of the vectors or columns of a type.
fn vector(types: &TypeTable, ty: Type) -> Option<Shape> {
    match *types.get(types.without_arrays(ty)) {
        TypeData::Vector { scalar, components } => Some(Shape::new(components, scalar.bit_size())),
        TypeData::Matrix { scalar, rows, .. } => Some(Shape::new(rows, scalar.bit_size())),
        _ => None,
    }
}

/// Whether a deref leads to a component of a vector.
fn is_component(body: &Body, types: &TypeTable, deref: Inst) -> bool {
    matches!(body.inst(deref), InstData::Deref { kind: DerefKind::Array | DerefKind::ArrayWildcard, .. })
        && body.deref_type(body.src(deref, 0)).is_some_and(|ty| matches!(types.get(ty), TypeData::Vector { .. }))
}

fn exclude_copied_components(body: &Body, types: &TypeTable, wide: &mut SecondaryMap<Variable, bool>) {
    let mut roots: SecondaryMap<Def, PackedOption<Variable>> = SecondaryMap::new();
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        let (Some(variable), Some(def)) = (root(body, &roots, inst), body.inst_def(inst)) else { continue };
        roots[def] = variable.into();
        if wide[variable] && is_component(body, types, inst) {
            wide[variable] = body.uses_of(def).all(|source| {
                let User::Inst(user) = body.user(source) else { return false };
                matches!(body.intrinsic(user), Some(IntrinsicOp::LoadDeref | IntrinsicOp::StoreDeref))
            });
        }
    }
}

fn make_parts(types: &mut TypeTable, variables: &mut PrimaryMap<Variable, VariableData>, variable: Variable) -> Split {
    let whole = variables[variable].clone();
    let mut lengths = Vec::new();
    let mut ty = whole.ty;
    while let (TypeData::Array { .. } | TypeData::Matrix { .. }, Some((element, length))) =
        (types.get(ty).clone(), types.element(ty))
    {
        lengths.push(length);
        ty = element;
    }
    let mut split = Split { num_components: 0, variables: ArrayVec::new() };
    let Some((scalar, num_components)) = types.as_vector(ty) else { return split };
    split.num_components = num_components;
    for part in parts(num_components) {
        let (first, count) = part;
        let vector = types.vector(scalar, count);
        let ty = lengths.iter().rev().fold(vector, |ty, &length| types.array(ty, length));
        let names: String =
            (first..first + count).map(|c| char::from(b"xyzwefghijklmnop"[usize::from(c) & 15])).collect();
        let name = format!("{}.{names}", whole.name);
        let initializer = whole.initializer.as_ref().map(|i| part_of_initializer(i, part));
        split.variables.push(variables.push(VariableData { name, ty, initializer, ..whole.clone() }));
    }
    split
}

/// What an initialiser says of a part. As deep as the type is.
fn part_of_initializer(initializer: &Initializer, part: (u8, u8)) -> Initializer {
    let (first, count) = (usize::from(part.0), usize::from(part.1));
    match initializer {
        Initializer::Vector(values) => Initializer::Vector(values.iter().copied().skip(first).take(count).collect()),
        Initializer::Elements(elements) => {
            Initializer::Elements(elements.iter().map(|e| part_of_initializer(e, part)).collect())
        }
        other => other.clone(),
    }
}

/// Accesses to the parts. The derefs of the variables go.
fn rewrite(body: &mut Body, types: &mut TypeTable, variables: &PrimaryMap<Variable, VariableData>, splits: &Splits) {
    split_copies(body, types, variables, splits);
    let roots = roots_of(body, splits);
    lower_copies(body, types, &|def| roots[def].is_some());
    let roots = roots_of(body, splits);
    let mut dead: Vec<Inst> = Vec::new();
    for block in body.blocks_vec() {
        for inst in body.insts_vec(block) {
            match *body.inst(inst) {
                InstData::Deref { .. } if body.inst_def(inst).is_some_and(|def| roots[def].is_some()) => {
                    dead.push(inst)
                }
                InstData::Intrinsic { op: IntrinsicOp::LoadDeref | IntrinsicOp::StoreDeref, .. } => {
                    let root = roots[body.src(inst, 0)].expand();
                    if let Some(split) = root.and_then(|variable| splits[variable].as_ref()) {
                        split_deref_access(body, types, variables, inst, split);
                    }
                }
                _ => {}
            }
        }
    }
    body.remove_insts(&dead);
}

/// For each deref the variable that is split, if it leads to one.
fn roots_of(body: &Body, splits: &Splits) -> SecondaryMap<Def, PackedOption<Variable>> {
    let mut roots: SecondaryMap<Def, PackedOption<Variable>> = SecondaryMap::new();
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        if let (Some(variable), Some(def)) = (root(body, &roots, inst), body.inst_def(inst))
            && splits[variable].is_some()
        {
            roots[def] = variable.into();
        }
    }
    roots
}

/// Copies from one variable that is split to another.
fn split_copies(
    body: &mut Body,
    types: &mut TypeTable,
    variables: &PrimaryMap<Variable, VariableData>,
    splits: &Splits,
) {
    let copies = split_var_copies::copies(body);
    if copies.is_empty() {
        return;
    }
    let roots = roots_of(body, splits);
    for copy in copies {
        let sides = [0, 1].map(|side| body.src(copy, side));
        let [Some(to), Some(from)] = sides.map(|def| roots[def].expand().and_then(|v| splits[v].as_ref())) else {
            continue;
        };
        let indices = [IndexKind::DstAccess, IndexKind::SrcAccess].map(|kind| (kind, body.index(copy, kind)));
        for (&to, &from) in to.variables.iter().zip(&from.variables) {
            let parts = [(sides[0], to), (sides[1], from)].map(|(side, part)| {
                let deref = body.def_inst(side);
                deref_part(body, types, variables, deref, Cursor::Before(copy), part)
            });
            Builder::new(body, Cursor::Before(copy)).intrinsic(IntrinsicOp::CopyDeref, &parts, &indices, None);
        }
        body.remove_inst(copy);
    }
}

fn split_deref_access(
    body: &mut Body,
    types: &mut TypeTable,
    variables: &PrimaryMap<Variable, VariableData>,
    inst: Inst,
    split: &Split,
) {
    let access = (IndexKind::Access, body.index(inst, IndexKind::Access));
    let mask = body.index(inst, IndexKind::WriteMask) as u32;
    let def = body.inst_def(inst);
    let mut deref = body.def_inst(body.src(inst, 0));
    let mut component = None;
    if is_component(body, types, deref) {
        component = Some(body.src(deref, 1));
        deref = body.def_inst(body.src(deref, 0));
    }
    let mut loaded: ArrayVec<AluSrc, MAX_COMPONENTS> = ArrayVec::new();
    for (part, &variable) in parts(split.num_components).zip(&split.variables) {
        let (first, count) = part;
        let shape = Shape::new(count, 64);
        let part_mask = mask >> first & ((1 << count) - 1);
        if def.is_none() && component.is_none() && part_mask == 0 {
            continue;
        }
        let place = deref_part(body, types, variables, deref, Cursor::Before(inst), variable);
        let value = def.is_none().then(|| body.src(inst, 1));
        let mut b = Builder::new(body, Cursor::Before(inst));
        match (value, component) {
            (None, _) => {
                let value = b.intrinsic_def(IntrinsicOp::LoadDeref, &[place], &[access], shape);
                loaded.extend(components(&b, value));
            }
            (Some(value), None) => {
                let value = take_part(&mut b, value, part);
                let mask = (IndexKind::WriteMask, part_mask as i32);
                b.intrinsic(IntrinsicOp::StoreDeref, &[place, value], &[mask, access], None);
            }
            (Some(_), Some(_)) if mask & 1 == 0 => {}
            (Some(value), Some(index)) => {
                // Nobody else sees the others come and go.
                let old = b.intrinsic_def(IntrinsicOp::LoadDeref, &[place], &[access], shape);
                let index = add(&mut b, index, -i32::from(first));
                let value = put_component(&mut b, value, old, index, shape);
                let mask = (IndexKind::WriteMask, (1 << count) - 1);
                b.intrinsic(IntrinsicOp::StoreDeref, &[place, value], &[mask, access], None);
            }
        }
    }
    if let Some(def) = def {
        let mut b = Builder::new(body, Cursor::Before(inst));
        let mut value = b.vec(&loaded);
        if let Some(index) = component {
            value = take_component(&mut b, value, index, Shape::new(split.num_components, 64));
        }
        body.replace_all_uses(def, value);
    }
    body.remove_inst(inst);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::into_ssa;
    use crate::passes::tests::random_shaders::Random;
    use crate::run::{AnalyticResources, Inputs, LaneRegisters, RunLimits, run};
    use crate::shader::Stage;
    use crate::text::{parse, print};
    use crate::types::ScalarType;
    use crate::validate::validate;

    const LANES: usize = 8;

    struct Generator<'a, 'b> {
        b: &'a mut Builder<'b>,
        random: &'a mut Random,
        /// Variables with the types of their steps: arrays, then the vector.
        variables: &'a [(Variable, Vec<Type>, u8)],
        scalar: Type,
        lane: Def,
        values: Vec<Def>,
    }

    impl Generator<'_, '_> {
        /// A 64-bit vector of that many components.
        fn value(&mut self, count: u8) -> Def {
            let selectors: Vec<AluSrc> = (0..count)
                .map(|_| {
                    let value = self.values[self.random.below(self.values.len())];
                    let component = self.random.below(self.b.body.num_components(value).into()) as u8;
                    AluSrc::component(value, component)
                })
                .collect();
            self.b.vec(&selectors)
        }

        fn index(&mut self) -> Def {
            if self.random.below(4) == 0 {
                return self.lane;
            }
            let value = self.random.below(4) as u32;
            self.b.u32_const(value)
        }

        /// A deref of a vector, or of a component of it; with its number of components.
        fn place(&mut self) -> (Def, u8) {
            let (variable, types, count) = &self.variables[self.random.below(self.variables.len())];
            let mut deref = self.b.deref_var(*variable, VariableModes::FUNCTION_TEMP, types[0]);
            for &ty in &types[1..] {
                let index = self.index();
                deref = self.b.deref_array(deref, index, ty);
            }
            if self.random.below(4) != 0 {
                return (deref, *count);
            }
            let index = self.index();
            (self.b.deref_array(deref, index, self.scalar), 1)
        }

        fn statements(&mut self, depth: usize) {
            let kept = self.values.len();
            for _ in 0..8 {
                match self.random.below(if depth < 2 { 7 } else { 5 }) {
                    0 | 1 => {
                        let (deref, count) = self.place();
                        let value = self.value(count);
                        let mask = self.random.below(1 << count) as u32;
                        self.b.store_deref(deref, value, mask);
                    }
                    2 => {
                        let (deref, count) = self.place();
                        let value = self.b.load_deref(deref, Shape::new(count, 64));
                        self.values.push(value);
                    }
                    3 => {
                        let (to, types, _) = &self.variables[self.random.below(self.variables.len())];
                        let same: Vec<_> = self.variables.iter().filter(|other| other.1[0] == types[0]).collect();
                        let from = same[self.random.below(same.len())].0;
                        let derefs = [*to, from].map(|v| self.b.deref_var(v, VariableModes::FUNCTION_TEMP, types[0]));
                        self.b.intrinsic(IntrinsicOp::CopyDeref, &derefs, &[], None);
                    }
                    4 => self.load_buffer(),
                    _ => {
                        let limit = self.random.below(LANES) as u32;
                        let limit = self.b.u32_const(limit);
                        let condition = self.b.alu(AluOp::Ult, &[self.lane, limit]);
                        let id = self.b.push_if(condition);
                        self.statements(depth + 1);
                        if self.random.below(2) == 0 {
                            self.b.push_else(id);
                            self.statements(depth + 1);
                        }
                        self.b.end_if(id);
                    }
                }
            }
            if depth > 0 {
                self.values.truncate(kept);
            }
        }

        fn load_buffer(&mut self) {
            let count = [2, 3, 4, 8][self.random.below(4)];
            let (log, rest) = (self.random.below(4), self.random.below(4) as u32);
            let align = 8u32 << log;
            let rest = (8 * rest) & (align - 1);
            let [zero, align_by, rest_by] = [0, align, rest].map(|value| self.b.u32_const(value));
            let mut offset = self.lane;
            if self.random.below(6) == 0 {
                let minus_two = self.b.i32_const(-2);
                offset = self.b.alu(AluOp::Iadd, &[offset, minus_two]);
            }
            let offset = self.b.alu(AluOp::Imul, &[offset, align_by]);
            let offset = self.b.alu(AluOp::Iadd, &[offset, rest_by]);
            let align = [(IndexKind::AlignMul, align as i32), (IndexKind::AlignOffset, rest as i32)];
            let indices = [align[0], align[1], (IndexKind::Range, -1)];
            let value = self.b.intrinsic_def(IntrinsicOp::LoadUbo, &[zero, offset], &indices, Shape::new(count, 64));
            self.values.push(value);
        }
    }

    fn random_program(seed: u64) -> Shader {
        let random = &mut Random::new(seed);
        let mut shader = Shader::new(Stage::Vertex);
        let scalar = shader.types.vector(ScalarType::Double, 1);
        let [two, three, four] = [2, 3, 4].map(|count| shader.types.vector(ScalarType::Double, count));
        let threes = shader.types.array(three, 3);
        let grid = shader.types.array(threes, 2);
        let matrix = shader.types.intern(TypeData::Matrix { scalar: ScalarType::Double, columns: 2, rows: 4 });
        let main = shader.entry_point().expect("an entry point");
        let variables: Vec<(Variable, Vec<Type>, u8)> = [
            (vec![four], 4),
            (vec![three], 3),
            (vec![two], 2),
            (vec![threes, three], 3),
            (vec![threes, three], 3),
            (vec![grid, threes, three], 3),
            (vec![matrix, four], 4),
            (vec![four], 4),
        ]
        .into_iter()
        .map(|(types, count)| (shader.add_local(main, "v", types[0]), types, count))
        .collect();
        // It stays: its address is used.
        let cast = variables[7].0;
        let mut b = Builder::at_end(shader.main_mut());
        let root = b.deref_var(cast, VariableModes::FUNCTION_TEMP, four);
        let kind = DerefKind::Cast(b.body.push_cast(Default::default()));
        let cast = split_var_copies::child(&mut b, root, kind, four);
        let zero = b.u32_const(0);
        let lane = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], Shape::new(1, 32));
        let first = b.alu(AluOp::U2u64, &[lane]);
        let second = b.constant(64, &[0x1234_5678_9abc_def0]);
        let third = b.alu(AluOp::Iadd, &[first, second]);
        let values = vec![first, second, third];
        let mut generator = Generator { b: &mut b, random, variables: &variables, scalar, lane, values };
        let value = generator.value(4);
        generator.b.store_deref(cast, value, 15);
        generator.statements(0);
        for register in 0..24 {
            let (deref, count) = generator.place();
            let loaded = if register % 4 == 0 {
                generator.value(1)
            } else {
                let loaded = generator.b.load_deref(deref, Shape::new(count, 64));
                generator.b.channel(loaded, (register % i32::from(count)) as u8)
            };
            let words = generator.b.alu(AluOp::Unpack642x32, &[loaded]);
            let ty = crate::alu::AluType::UINT32.to_i32();
            let indices = [(IndexKind::Base, register), (IndexKind::WriteMask, 3), (IndexKind::SrcType, ty)];
            generator.b.intrinsic(IntrinsicOp::StoreOutput, &[words, zero], &indices, None);
        }
        shader
    }

    fn outcome(shader: &Shader) -> LaneRegisters {
        let mut inputs = Inputs { lanes: LANES, inputs: LaneRegisters::new(LANES, 1), ..Inputs::default() };
        (0..LANES).for_each(|lane| inputs.inputs.set(0, 0, lane, lane as u32));
        // Whole whatever is loaded from it, so that nothing is partly outside.
        inputs.constants = vec![vec![], (1..1024u32).map(|word| word.wrapping_mul(0x9e37_79b9)).collect()];
        run(shader, &inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("runs").outputs
    }

    fn has_wide(shader: &Shader) -> bool {
        let body = shader.main();
        body.blocks().flat_map(|block| body.insts(block)).any(|inst| {
            let is_access = body.is_phi(inst) || matches!(body.intrinsic(inst), Some(IntrinsicOp::LoadUbo));
            is_access && body.inst_def(inst).is_some_and(|def| is_wide(body.shape(def)))
        })
    }

    #[test]
    fn random_doubles() {
        let (mut different, mut phis) = (0, 0);
        for seed in 0..150 {
            let mut shader = random_program(seed);
            validate(&shader).unwrap_or_else(|errors| panic!("seed {seed}: {errors}"));
            let expected = outcome(&shader);
            for step in 0..2 {
                let mut before = shader.clone();
                if step == 1 {
                    into_ssa(&mut before);
                    phis += usize::from(has_wide(&before));
                }
                let mut after = before.clone();
                split_64bit_vec3_and_vec4(&mut after);
                validate(&after).unwrap_or_else(|errors| panic!("seed {seed}: {errors}\n{}", print(&after)));
                let found = outcome(&after);
                assert_eq!(expected, found, "seed {seed}, {step}\n{}\n{}", print(&before), print(&after));
                assert!(!has_wide(&after), "seed {seed}");
                let text = print(&after);
                let parsed = parse(&text).unwrap_or_else(|errors| panic!("seed {seed}: {errors:?}"));
                assert_eq!(text, print(&parsed), "seed {seed}: the names can be read");
                assert!(!split_64bit_vec3_and_vec4(&mut after), "seed {seed}: done");
                if step == 0 {
                    // Then the parts become values.
                    into_ssa(&mut after);
                    assert_eq!(expected, outcome(&after), "seed {seed}, in SSA");
                    shader = before;
                }
            }
            different += usize::from((0..24).any(|register| expected.get(register, 0, 3) != 0));
        }
        assert!(different > 120 && phis > 50, "{different} programs that give something, {phis} with phis");
    }

    /// An offset behind the end stays there.
    #[test]
    fn offsets_do_not_come_round() {
        for (align, rest, clamps) in [(8, 0, true), (16, 0, true), (32, 0, false), (32, 16, true), (64, 32, false)] {
            let mut shader = Shader::new(Stage::Vertex);
            let mut b = Builder::at_end(shader.main_mut());
            let zero = b.u32_const(0);
            let offset = b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], Shape::new(1, 32));
            let indices = [(IndexKind::AlignMul, align), (IndexKind::AlignOffset, rest), (IndexKind::Range, -1)];
            b.intrinsic_def(IntrinsicOp::LoadUbo, &[zero, offset], &indices, Shape::new(4, 64));
            assert!(split_64bit_vec3_and_vec4(&mut shader));
            let body = shader.main();
            let insts = || body.blocks().flat_map(|block| body.insts(block));
            assert_eq!(insts().any(|inst| body.alu_op(inst) == Some(AluOp::Umin)), clamps, "{align} {rest}");
            let aligned: Vec<_> = insts()
                .filter(|&inst| body.intrinsic(inst) == Some(IntrinsicOp::LoadUbo))
                .map(|inst| body.index(inst, IndexKind::AlignOffset))
                .collect();
            assert_eq!(aligned, [rest, (rest + 16) % align]);
        }
    }
}
