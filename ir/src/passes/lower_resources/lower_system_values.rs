//! Loads of variables that hold system values become intrinsics, and system values that the target does not have are
//! computed from others.
//!
//! ```text
//! before:                                                        after:
//!     decl_var system uvec3 gl_GlobalInvocationID
//!     %0 = deref_var &gl_GlobalInvocationID (system uvec3)           32x3 %2 = @load_workgroup_id
//!     32x3 %1 = @load_deref (%0)                                     32x3 %3 = load_const (8, 8, 1)
//!                                                                    32x3 %4 = imul %2, %3
//!                                                                    32x3 %5 = @load_local_invocation_id
//!                                                                    32x3 %1 = iadd %4, %5
//! ```
//!
//! What the target has says [`SystemValueOptions`]. A size of the workgroup that is fixed is a constant, and a local id
//! in a dimension of size 1 is 0. An element of a variable that is an array (or a component of one that is a vector) is
//! taken from the whole value, whatever its index; beyond the end it is 0. Copies from such variables become loads and
//! stores ([`lower_var_copies`](mod@crate::passes::variables::lower_var_copies)). Variables that nothing uses any more
//! go.
//!
//! Cost: linear in the instructions.

use arrayvec::ArrayVec;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap};

use crate::alu::AluOp;
use crate::body::{Body, DerefKind, InstData, MAX_COMPONENTS, Shape};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, User, Variable};
use crate::intrinsics::indices::Access;
use crate::intrinsics::{DestBits, DestComponents, IndexKind, IntrinsicOp};
use crate::passes::into_ssa::lower_vars_to_ssa::take_component;
use crate::passes::remove_dead_variables;
use crate::passes::variables::split_array_vars::lower_copies;
use crate::shader::Shader;
use crate::system_value::SystemValue;
use crate::types::TypeTable;
use crate::variable::{VariableData, VariableModes};

/// Which of the two numbers of an invocation within its workgroup a target has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LocalNumbers {
    /// `local_invocation_id` and `local_invocation_index`.
    #[default]
    Both,
    /// `local_invocation_id` only.
    Id,
    /// `local_invocation_index` only.
    Index,
}

/// What a target has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SystemValueOptions {
    /// `vertex_id` is the sum of `vertex_id_zero_base` and `first_vertex`.
    pub vertex_id_zero_based: bool,
    /// `base_vertex` is `first_vertex` if the draw is indexed, else 0.
    pub lower_base_vertex: bool,
    /// `helper_invocation` is that `sample_mask_in` has not the bit of the sample.
    pub lower_helper_invocation: bool,
    /// Numbers of an invocation within its workgroup.
    pub local_numbers: LocalNumbers,
    /// There is a `global_invocation_id`, otherwise it is the id of the workgroup times its size and the id within it.
    pub has_global_invocation_id: bool,
    /// A dispatch may begin at `base_workgroup_id`.
    pub has_base_workgroup_id: bool,
    /// A dispatch may begin at `base_global_invocation_id`.
    pub has_base_global_invocation_id: bool,
    /// `workgroup_index` follows from the id and the number of the workgroups.
    pub lower_workgroup_index: bool,
    /// `subgroup_id` and `num_subgroups` follow from the local index, the size of the workgroup and that of the
    /// subgroup.
    pub lower_subgroup_id: bool,
}

/// See the [module](self).
pub fn lower_system_values(shader: &mut Shader, options: &SystemValueOptions) -> bool {
    let [x, y, z] = shader.info.workgroup_size;
    let is_fixed = !shader.info.workgroup_size_variable && x != 0 && y != 0 && z != 0;
    let lowering = Lowering { options, size: is_fixed.then_some([x, y, z]) };
    let has_variables = shader.variables.values().any(|data| data.mode == VariableModes::SYSTEM_VALUE);
    let mut progress = false;
    let Shader { functions, types, variables, .. } = shader;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        if has_variables {
            progress |= lower_variables(body, types, variables);
        }
        progress |= body.visit_insts(|body, inst| lowering.lower(body, inst));
    }
    if progress && has_variables {
        remove_dead_variables(shader, VariableModes::SYSTEM_VALUE);
    }
    progress
}

// ---- variables
// ----------------------------------------------------------------------------------------------------------

/// The system value that a variable holds.
fn held(variables: &PrimaryMap<Variable, VariableData>, variable: Variable) -> Option<SystemValue> {
    let data = &variables[variable];
    let number = usize::try_from(data.location).ok().filter(|_| data.mode == VariableModes::SYSTEM_VALUE)?;
    SystemValue::ALL.get(number).copied()
}

fn lower_variables(body: &mut Body, types: &mut TypeTable, variables: &PrimaryMap<Variable, VariableData>) -> bool {
    let (roots, derefs) = roots_of(body, variables);
    if derefs.is_empty() {
        return false;
    }
    lower_copies(body, types, &|def| roots[def].is_some());
    let (roots, derefs) = roots_of(body, variables);
    let progress = body.visit_insts(|body, inst| {
        if body.intrinsic(inst) != Some(IntrinsicOp::LoadDeref) {
            return false;
        }
        let Some(value) = roots[body.src(inst, 0)].expand().and_then(|variable| held(variables, variable)) else {
            return false;
        };
        load(body, types, inst, value)
    });
    // From the last on: what leads to one that goes may go as well.
    let mut removed = false;
    for deref in derefs.into_iter().rev() {
        if body.inst_def(deref).is_some_and(|def| body.is_unused(def)) {
            body.remove_inst(deref);
            removed = true;
        }
    }
    progress | removed
}

/// For each deref the variable with a system value that it leads to, and these derefs in order.
fn roots_of(
    body: &Body,
    variables: &PrimaryMap<Variable, VariableData>,
) -> (SecondaryMap<Def, PackedOption<Variable>>, Vec<Inst>) {
    let mut roots: SecondaryMap<Def, PackedOption<Variable>> = SecondaryMap::new();
    let mut derefs = Vec::new();
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        if let (Some(variable), Some(def)) = (root(body, &roots, inst), body.inst_def(inst))
            && held(variables, variable).is_some()
        {
            roots[def] = variable.into();
            derefs.push(inst);
        }
    }
    (roots, derefs)
}

/// A load of a variable, or of an element of it.
fn load(body: &mut Body, types: &TypeTable, inst: Inst, value: SystemValue) -> bool {
    let (Some(def), Some(mut op)) = (body.inst_def(inst), value.intrinsic()) else { return false };
    let shape = body.shape(def);
    // Elements of elements are nothing that a system value has.
    let deref = body.def_inst(body.src(inst, 0));
    let index = match *body.inst(deref) {
        InstData::Deref { kind: DerefKind::Var(_), .. } => None,
        InstData::Deref { kind: DerefKind::Array, .. } => {
            let parent = body.def_inst(body.src(deref, 0));
            if !matches!(body.inst(parent), InstData::Deref { kind: DerefKind::Var(_), .. }) {
                return false;
            }
            let is_vector = body.deref_type(body.src(deref, 0)).is_some_and(|ty| types.as_vector(ty).is_some());
            if shape.num_components != 1 && !is_vector {
                return false;
            }
            Some(body.src(deref, 1))
        }
        _ => return false,
    };
    let access = Access::from_i32(body.index(inst, IndexKind::Access));
    if value == SystemValue::HelperInvocation && access.contains(Access::VOLATILE) {
        op = IntrinsicOp::IsHelperInvocation;
    }
    let mut b = Builder::new(body, Cursor::Before(inst));
    let loaded = load_as(&mut b, op, value, shape.bit_size);
    let new = match index {
        Some(index) => {
            let whole = b.body.shape(loaded);
            take_component(&mut b, loaded, index, whole)
        }
        None => resized(&mut b, loaded, shape.num_components),
    };
    body.replace_all_uses(def, new);
    body.remove_inst(inst);
    true
}

/// A system value with a bit size, converted if the intrinsic does not have it.
fn load_as(b: &mut Builder<'_>, op: IntrinsicOp, value: SystemValue, bit_size: u8) -> Def {
    let info = op.info();
    let num_components = match info.dest_components {
        DestComponents::Fixed(count) => count,
        _ => value.num_components(),
    };
    let has = |bits: u8| match info.dest_bits {
        DestBits::Sizes(sizes) => sizes.contains(&bits),
        _ => true,
    };
    if has(bit_size) || bit_size == 1 {
        return b.intrinsic_def(op, &[], &[], Shape::new(num_components, bit_size));
    }
    let bits = if has(value.bit_size()) { value.bit_size() } else { 32 };
    let loaded = b.intrinsic_def(op, &[], &[], Shape::new(num_components, bits));
    convert(b, loaded, bit_size)
}

fn convert(b: &mut Builder<'_>, value: Def, bit_size: u8) -> Def {
    let op = match bit_size {
        bits if bits == b.body.bit_size(value) => return value,
        8 => AluOp::U2u8,
        16 => AluOp::U2u16,
        32 => AluOp::U2u32,
        _ => AluOp::U2u64,
    };
    b.alu(op, &[value])
}

/// As many components: those that there are not are 0.
fn resized(b: &mut Builder<'_>, value: Def, count: u8) -> Def {
    let Shape { num_components, bit_size } = b.body.shape(value);
    if num_components == count {
        return value;
    }
    let zero = (num_components < count).then(|| b.constant(bit_size, &[0]));
    let sources: ArrayVec<AluSrc, MAX_COMPONENTS> = (0..count)
        .map(|component| match zero {
            Some(zero) if component >= num_components => zero.into(),
            _ => AluSrc::component(value, component),
        })
        .collect();
    b.vec(&sources)
}

// ---- system values from others
// ------------------------------------------------------------------------------------------

struct Lowering<'a> {
    options: &'a SystemValueOptions,
    /// The size of the workgroup, if it is fixed.
    size: Option<[u32; 3]>,
}

impl Lowering<'_> {
    fn lower(&self, body: &mut Body, inst: Inst) -> bool {
        let (Some(op), Some(def)) = (body.intrinsic(inst), body.inst_def(inst)) else { return false };
        if !op.info().is_sysval || op == IntrinsicOp::LoadLocalInvocationId && !self.lowers_local_id(body, def) {
            return false;
        }
        let bit_size = body.bit_size(def);
        let mut b = Builder::new(body, Cursor::Before(inst));
        let Some(value) = self.computed(&mut b, op, bit_size) else { return false };
        body.replace_all_uses(def, value);
        body.remove_inst(inst);
        true
    }

    /// Whether a local id is read where it is always 0, or not there at all.
    fn lowers_local_id(&self, body: &Body, id: Def) -> bool {
        let is_flat = |component: u8| self.size.and_then(|s| s.get(usize::from(component)).copied()) == Some(1);
        self.options.local_numbers == LocalNumbers::Index
            || body.uses_of(id).any(|source| match body.user(source) {
                User::Inst(user) if body.alu_op(user).is_some() => {
                    let count = body.alu_src_components(user, body.source_number(source));
                    body.swizzle(source).iter(count).any(is_flat)
                }
                _ => (0..3).any(is_flat),
            })
    }

    /// A system value as the target has it.
    fn value(&self, b: &mut Builder<'_>, op: IntrinsicOp, bit_size: u8) -> Def {
        if let Some(value) = self.computed(b, op, bit_size) {
            return convert(b, value, bit_size);
        }
        let has = |bits: u8| match op.info().dest_bits {
            DestBits::Sizes(sizes) => sizes.contains(&bits),
            _ => true,
        };
        // The table says how many components.
        let loaded = b.intrinsic_def(op, &[], &[], Shape::new(1, if has(bit_size) { bit_size } else { 32 }));
        convert(b, loaded, bit_size)
    }

    /// What a system value is made of; none if the target has it. No value is made of one that is made of it.
    fn computed(&self, b: &mut Builder<'_>, op: IntrinsicOp, bits: u8) -> Option<Def> {
        use IntrinsicOp as I;
        let options = self.options;
        Some(match op {
            I::LoadVertexId if options.vertex_id_zero_based => {
                let [id, first] = [I::LoadVertexIdZeroBase, I::LoadFirstVertex].map(|op| self.value(b, op, bits));
                b.alu(AluOp::Iadd, &[id, first])
            }
            I::LoadBaseVertex if options.lower_base_vertex => {
                let [indexed, first] = [I::LoadIsIndexedDraw, I::LoadFirstVertex].map(|op| self.value(b, op, bits));
                b.alu(AluOp::Iand, &[indexed, first])
            }
            I::LoadHelperInvocation if options.lower_helper_invocation => {
                // Asking for the sample must not make the shader run for each sample.
                let [sample, mask] = [I::LoadSampleIdNoPerSample, I::LoadSampleMaskIn].map(|op| self.value(b, op, 32));
                let [one, zero] = [1, 0].map(|value| b.u32_const(value));
                let bit = b.alu(AluOp::Ishl, &[one, sample]);
                let covered = b.alu(AluOp::Iand, &[mask, bit]);
                let is_helper = b.alu(AluOp::Ieq, &[covered, zero]);
                if bits == 1 {
                    return Some(is_helper);
                }
                let word = b.alu(AluOp::B2i32, &[is_helper]);
                b.alu(AluOp::Ineg, &[word])
            }
            I::LoadWorkgroupSize => {
                let size = self.size?.map(u64::from);
                b.constant(bits, &size)
            }
            I::LoadLocalInvocationId => {
                let id = match options.local_numbers {
                    LocalNumbers::Index => self.id_from_index(b),
                    _ if self.size.is_some_and(|size| size.contains(&1)) => {
                        let id = b.intrinsic_def(op, &[], &[], Shape::new(3, 32));
                        [0, 1, 2].map(|component| AluSrc::component(id, component))
                    }
                    _ => return None,
                };
                let zero = b.u32_const(0);
                let sizes = self.size.unwrap_or([0; 3]);
                let sources: ArrayVec<AluSrc, 3> =
                    id.into_iter().zip(sizes).map(|(id, size)| if size == 1 { zero.into() } else { id }).collect();
                b.vec(&sources)
            }
            I::LoadLocalInvocationIndex if options.local_numbers == LocalNumbers::Id => {
                let [id, size] = [I::LoadLocalInvocationId, I::LoadWorkgroupSize].map(|op| self.value(b, op, bits));
                linear(b, id, size)
            }
            I::LoadGlobalInvocationId if !options.has_global_invocation_id => {
                let mut group = self.value(b, I::LoadWorkgroupId, bits);
                if options.has_base_workgroup_id {
                    let base = self.value(b, I::LoadBaseWorkgroupId, bits);
                    group = b.alu(AluOp::Iadd, &[group, base]);
                }
                let [size, local] = [I::LoadWorkgroupSize, I::LoadLocalInvocationId].map(|op| self.value(b, op, bits));
                let first = b.alu(AluOp::Imul, &[group, size]);
                let mut id = b.alu(AluOp::Iadd, &[first, local]);
                if options.has_base_global_invocation_id {
                    let base = self.value(b, I::LoadBaseGlobalInvocationId, bits);
                    id = b.alu(AluOp::Iadd, &[id, base]);
                }
                id
            }
            I::LoadGlobalInvocationIndex if !options.has_global_invocation_id => {
                let mut id = self.value(b, I::LoadGlobalInvocationId, bits);
                if options.has_base_global_invocation_id {
                    // Counted from the start of the dispatch.
                    let base = self.value(b, I::LoadBaseGlobalInvocationId, bits);
                    id = b.alu(AluOp::Isub, &[id, base]);
                }
                let size = self.value(b, I::LoadGlobalSize, bits);
                linear(b, id, size)
            }
            I::LoadGlobalSize if !options.has_global_invocation_id => {
                let [count, size] = [I::LoadNumWorkgroups, I::LoadWorkgroupSize].map(|op| self.value(b, op, bits));
                b.alu(AluOp::Imul, &[count, size])
            }
            I::LoadWorkgroupIndex if options.lower_workgroup_index => {
                let [id, count] = [I::LoadWorkgroupId, I::LoadNumWorkgroups].map(|op| self.value(b, op, bits));
                linear(b, id, count)
            }
            I::LoadSubgroupId if options.lower_subgroup_id => {
                let index = self.value(b, I::LoadLocalInvocationIndex, bits);
                let size = self.value(b, I::LoadSubgroupSize, bits);
                b.alu(AluOp::Udiv, &[index, size])
            }
            I::LoadNumSubgroups if options.lower_subgroup_id => {
                let [workgroup, size] = [I::LoadWorkgroupSize, I::LoadSubgroupSize].map(|op| self.value(b, op, bits));
                let [x, y, z] = [0, 1, 2].map(|component| b.channel(workgroup, component));
                let plane = b.alu(AluOp::Imul, &[x, y]);
                let all = b.alu(AluOp::Imul, &[plane, z]);
                let one = b.constant(bits, &[1]);
                let rest = b.alu(AluOp::Isub, &[size, one]);
                let sum = b.alu(AluOp::Iadd, &[all, rest]);
                b.alu(AluOp::Udiv, &[sum, size])
            }
            _ => return None,
        })
    }

    /// The components of the local id: quotients and remainders of the index.
    fn id_from_index(&self, b: &mut Builder<'_>) -> [AluSrc; 3] {
        let index = b.intrinsic_def(IntrinsicOp::LoadLocalInvocationIndex, &[], &[], Shape::new(1, 32));
        let size = self.value(b, IntrinsicOp::LoadWorkgroupSize, 32);
        let [width, height] = [0, 1].map(|component| b.channel(size, component));
        let row = b.alu(AluOp::Udiv, &[index, width]);
        let x = b.alu(AluOp::Umod, &[index, width]);
        let y = b.alu(AluOp::Umod, &[row, height]);
        let z = b.alu(AluOp::Udiv, &[row, height]);
        [x.into(), y.into(), z.into()]
    }
}

/// The number of a place in a box, x fastest.
fn linear(b: &mut Builder<'_>, place: Def, size: Def) -> Def {
    let [x, y, z] = [0, 1, 2].map(|component| b.channel(place, component));
    let [width, height] = [0, 1].map(|component| b.channel(size, component));
    let rows = b.alu(AluOp::Imul, &[z, height]);
    let rows = b.alu(AluOp::Iadd, &[rows, y]);
    let first = b.alu(AluOp::Imul, &[rows, width]);
    b.alu(AluOp::Iadd, &[first, x])
}

/// The variable that a deref leads to, told from that of its parent.
fn root(body: &Body, roots: &SecondaryMap<Def, PackedOption<Variable>>, inst: Inst) -> Option<Variable> {
    match *body.inst(inst) {
        InstData::Deref { kind: DerefKind::Var(variable), .. } => Some(variable),
        InstData::Deref { kind: DerefKind::Array | DerefKind::ArrayWildcard | DerefKind::Struct(_), .. } => {
            roots[body.src(inst, 0)].expand()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alu::AluType;
    use crate::run::{AnalyticResources, Inputs, LaneRegisters, RunLimits, run};
    use crate::shader::Stage;
    use crate::text::print;
    use crate::types::ScalarType;
    use crate::validate::validate;

    /// Lanes of a workgroup; more than one subgroup, if these are of 4.
    const LANES: usize = 24;
    const COMPUTE: [(IntrinsicOp, u8); 12] = [
        (IntrinsicOp::LoadLocalInvocationId, 32),
        (IntrinsicOp::LoadLocalInvocationIndex, 32),
        (IntrinsicOp::LoadWorkgroupSize, 32),
        (IntrinsicOp::LoadGlobalInvocationId, 32),
        (IntrinsicOp::LoadGlobalInvocationId, 64),
        (IntrinsicOp::LoadGlobalInvocationIndex, 32),
        (IntrinsicOp::LoadGlobalInvocationIndex, 64),
        (IntrinsicOp::LoadGlobalSize, 32),
        (IntrinsicOp::LoadWorkgroupIndex, 32),
        (IntrinsicOp::LoadBaseWorkgroupId, 32),
        (IntrinsicOp::LoadWorkgroupId, 32),
        (IntrinsicOp::LoadNumWorkgroups, 32),
    ];

    fn store(b: &mut Builder<'_>, value: Def, register: &mut i32) {
        let zero = b.u32_const(0);
        for component in 0..b.body.num_components(value) {
            let mut word = b.channel(value, component);
            if b.body.bit_size(word) == 64 {
                word = b.alu(AluOp::Unpack642x32, &[word]);
            }
            let mask = (1 << b.body.num_components(word)) - 1;
            let ty = AluType::UINT32.to_i32();
            let indices = [(IndexKind::Base, *register), (IndexKind::WriteMask, mask), (IndexKind::SrcType, ty)];
            b.intrinsic(IntrinsicOp::StoreOutput, &[word, zero], &indices, None);
            *register += 1;
        }
    }

    fn outcome(shader: &Shader, size: [u32; 3]) -> LaneRegisters {
        let mut inputs = Inputs { lanes: LANES, ..Inputs::default() };
        let same = |values: [u32; 3]| values.map(|value| vec![value; LANES]).to_vec();
        let id = |divisor: u32, size: u32| (0..LANES as u32).map(|lane| lane / divisor % size).collect::<Vec<u32>>();
        let ids = vec![id(1, size[0]), id(size[0], size[1]), id(size[0] * size[1], size[2])];
        inputs.system_values.extend([
            (SystemValue::WorkgroupSize, same(size)),
            (SystemValue::WorkgroupId, same([3, 1, 2])),
            (SystemValue::NumWorkgroups, same([5, 7, 9])),
            (SystemValue::LocalInvocationId, ids),
            (SystemValue::LocalInvocationIndex, vec![(0..LANES as u32).collect()]),
            (SystemValue::SubgroupSize, vec![vec![crate::run::environment::SUBGROUP_SIZE as u32; LANES]]),
        ]);
        run(shader, &inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("runs").outputs
    }

    /// Whatever the target has, the numbers are the same.
    #[test]
    fn compute() {
        let mut different = 0;
        for size in [[24, 1, 1], [4, 3, 2], [1, 6, 4], [2, 12, 1]] {
            for (fixed, variables) in [(true, false), (false, false), (true, true), (false, true)] {
                let mut shader = Shader::new(Stage::Compute);
                if fixed {
                    shader.info.workgroup_size = size;
                }
                let mut register = 0;
                let mut values = Vec::new();
                for value in SystemValue::ALL.iter().copied().filter(|_| variables) {
                    let is_word = |op: IntrinsicOp| COMPUTE.contains(&(op, 32));
                    if value.intrinsic().is_some_and(is_word) {
                        let ty = shader.types.vector(ScalarType::Uint, value.num_components());
                        let mut data = VariableData::new(value.name(), ty, VariableModes::SYSTEM_VALUE);
                        data.location = SystemValue::ALL.iter().position(|&v| v == value).unwrap_or(0) as i32;
                        values.push((shader.add_variable(data), ty, value.num_components()));
                    }
                }
                let mut b = Builder::at_end(shader.main_mut());
                for (variable, ty, count) in values {
                    let deref = b.deref_var(variable, VariableModes::SYSTEM_VALUE, ty);
                    let value = b.load_deref(deref, Shape::new(count, 32));
                    store(&mut b, value, &mut register);
                }
                for (op, bits) in COMPUTE {
                    let value = b.intrinsic_def(op, &[], &[], Shape::new(1, bits));
                    store(&mut b, value, &mut register);
                }
                for op in [IntrinsicOp::LoadSubgroupId, IntrinsicOp::LoadNumSubgroups] {
                    let value = b.intrinsic_def(op, &[], &[], Shape::new(1, 32));
                    store(&mut b, value, &mut register);
                }
                validate(&shader).unwrap_or_else(|errors| panic!("{errors}"));
                let expected = outcome(&shader, size);
                for local_numbers in [LocalNumbers::Both, LocalNumbers::Id, LocalNumbers::Index] {
                    for switches in 0..16 {
                        let options = SystemValueOptions {
                            local_numbers,
                            has_global_invocation_id: switches & 1 != 0,
                            has_base_workgroup_id: switches & 2 != 0,
                            has_base_global_invocation_id: switches & 2 != 0,
                            lower_workgroup_index: switches & 4 != 0,
                            lower_subgroup_id: switches & 8 != 0,
                            ..SystemValueOptions::default()
                        };
                        let mut after = shader.clone();
                        let progress = lower_system_values(&mut after, &options);
                        assert!(progress || print(&after) == print(&shader));
                        validate(&after).unwrap_or_else(|errors| panic!("{options:?}: {errors}"));
                        let found = outcome(&after, size);
                        assert_eq!(expected, found, "{size:?} {options:?}\n{}\n{}", print(&shader), print(&after));
                        assert!(after.globals.is_empty(), "no variable is left");
                        different += usize::from(progress);
                        assert!(!lower_system_values(&mut after, &options), "{options:?}: done");
                    }
                }
            }
        }
        assert!(different > 700, "{different} shaders with something to lower");
    }
}
