//! Turns loads and stores of slots and constants with a run-time offset into a balanced tree of `if`s over loads and
//! stores with constant offsets.
//!
//! ```text
//! 32x4 %3 = @load_input (%i) (base=2, range=4)   =>   if ilt %i, 2 { ... @load_input (0) (base=2) ... } else { ... @load_input (0) (base=5) ... }
//! ```
//!
//! It does for intrinsics what [`lower_indirect_derefs`](mod@crate::passes::lower_indirects::lower_indirect_derefs)
//! does for derefs:
//!
//! | intrinsics | mode | over |
//! |---|---|---|
//! | `load_input`, `load_per_vertex_input`, `load_interpolated_input` | `SHADER_IN` | `range` from `base` on; without one the slots of the variable and of `io_semantics` |
//! | `store_output`, `load_output` and the same per vertex | `SHADER_OUT` | likewise |
//! | `load_uniform` | `UNIFORM` | the rest of the variable from `base` on, whose elements a factor of the offset separates; without one the uniforms of the shader |
//! | `load_ubo`, `load_ubo_vec4` | `MEM_UBO` | the declared blocks and their sizes; the maximum size of a block if undeclared |
//!
//! An out-of-range offset gives zero or drops the write. If the shader has any variables of the mode, slots without a
//! variable are out of range, too. A run-time vertex or block index also becomes a tree, with the trees of the offset
//! as leaves. The number of vertices is that of the variable, or 32.
//!
//! A shader that would get more than [`MAX_LEAVES`] accesses is left alone, and so are loads of blocks at byte offsets
//! that are not multiples of 4.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::alu::AluOp;
use crate::body::{Body, Shape};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::intrinsics::indices::IoSemantics;
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::lower_indirects::index_tree::{index_tree, wide_index, zero};
use crate::passes::lower_indirects::lower_indirect_derefs::{MAX_LEAVES, copy_access};
use crate::shader::Shader;
use crate::types::TypeData;
use crate::variable::VariableModes;

/// Vec4s of an undeclared constant buffer: the maximum size.
pub const MAX_CONSTANTS: u32 = 4096;

/// Vertices of an access without a variable: the maximum of a patch.
const MAX_VERTICES: u32 = 32;

/// Bytes of a vec4.
const VEC4: u32 = 16;

/// See the [module](self): `modes` may include `SHADER_IN`, `SHADER_OUT`, `UNIFORM` and `MEM_UBO`. Returns whether
/// anything changed.
pub fn lower_indirect_io(shader: &mut Shader, modes: VariableModes) -> bool {
    if modes == VariableModes::NONE {
        return false;
    }
    let extents = Extents::of(shader);
    let bodies = shader.functions.values().filter_map(|f| f.body.as_ref());
    let insts = bodies.flat_map(|body| body.blocks().flat_map(|b| body.insts(b)).map(move |inst| (body, inst)));
    let mut accesses = insts.filter_map(|(body, inst)| IndirectAccess::of(body, &extents, modes, inst)).peekable();
    if accesses.peek().is_none() {
        return false;
    }
    let leaves = accesses.fold(0u64, |n, access| n.saturating_add(access.num_leaves()));
    if leaves > MAX_LEAVES {
        return false;
    }
    let mut progress = false;
    for body in shader.bodies_mut() {
        // Each access splits its block. From the last to the first, the code after a split contains no more accesses to
        // lower, so it is moved only once.
        for block in body.blocks_vec().into_iter().rev() {
            for inst in body.insts_vec(block).into_iter().rev() {
                if let Some(access) = IndirectAccess::of(body, &extents, modes, inst) {
                    access.lower(body, &extents);
                    progress = true;
                }
            }
        }
    }
    progress
}

/// Returns the vec4s of each constant block that the shader declares, by block number. Block `n` is TGSI's buffer `n +
/// 1`.
pub fn block_sizes(shader: &Shader) -> BTreeMap<u32, u32> {
    /// Maximum number of blocks that a shader can name.
    const MAX_BLOCKS: u32 = 0x8000;
    let mut sizes: BTreeMap<u32, u32> = BTreeMap::new();
    for (_, data) in shader.globals_with(VariableModes::MEM_UBO) {
        // A block array is a sequence of blocks.
        let (element, blocks) = match shader.types.get(data.ty) {
            TypeData::Array { element, length, .. } if matches!(shader.types.get(*element), TypeData::Array { .. }) => {
                (*element, (*length).max(1))
            }
            _ => (data.ty, 1),
        };
        let size = shader.types.slots(element);
        for block in 0..blocks.min(MAX_BLOCKS) {
            let known = sizes.entry(data.binding.saturating_add(block)).or_default();
            *known = (*known).max(size);
        }
    }
    sizes
}

/// The accessible slots.
struct Extents {
    /// Last slot of the variables by mode and first slot, and the number of vertices if the variable is per vertex.
    variables: BTreeMap<(VariableModes, u32), (u32, u32)>,
    blocks: BTreeMap<u32, u32>,
    num_blocks: u32,
    num_uniforms: u32,
    /// Vec4s of the largest block that a run-time index can select.
    largest_block: u32,
}

impl Extents {
    fn of(shader: &Shader) -> Extents {
        let mut variables: BTreeMap<(VariableModes, u32), (u32, u32)> = BTreeMap::new();
        for mode in [VariableModes::SHADER_IN, VariableModes::SHADER_OUT] {
            for (_, data) in shader.globals_with(mode) {
                let (ty, vertices) = match *shader.types.get(data.ty) {
                    TypeData::Array { element, length, .. } if data.per_vertex => (element, length),
                    _ => (data.ty, 0),
                };
                let last = data.driver_location.saturating_add(shader.types.slots(ty).max(1) - 1);
                let known = variables.entry((mode, data.driver_location)).or_default();
                *known = (known.0.max(last), known.1.max(vertices));
            }
        }
        for (_, data) in shader.globals_with(VariableModes::UNIFORM) {
            let inner = shader.types.get(shader.types.without_arrays(data.ty));
            if matches!(inner, TypeData::Vector { .. } | TypeData::Matrix { .. } | TypeData::Struct { .. }) {
                let last = data.driver_location.saturating_add(shader.types.slots(data.ty).max(1) - 1);
                variables.insert((VariableModes::UNIFORM, data.driver_location), (last, 0));
            }
        }
        let blocks = block_sizes(shader);
        let declared = blocks.keys().next_back().map_or(0, |&last| last.saturating_add(1));
        let num_blocks = shader.info.num_ubos.max(declared);
        let mut extents =
            Extents { variables, num_blocks, blocks, num_uniforms: shader.num_uniforms, largest_block: 0 };
        // One undeclared block represents all of them.
        let silent = (0..num_blocks).find(|block| !extents.blocks.contains_key(block));
        let numbers = extents.blocks.keys().copied().chain(silent).map(i64::from).chain(extents.uniform_block());
        extents.largest_block = numbers.map(|block| extents.block_size_among_others(block)).max().unwrap_or(0);
        extents
    }

    /// Returns the number of the block of uniforms, if there are any.
    fn uniform_block(&self) -> Option<i64> {
        (self.num_uniforms > 0).then_some(-1)
    }

    /// Returns the first and last slot and the vertices of the variable that contains a slot.
    fn variable(&self, mode: VariableModes, slot: u32) -> Option<(u32, u32, u32)> {
        let (&(_, first), &(last, vertices)) = self.variables.range((mode, 0)..=(mode, slot)).next_back()?;
        (slot <= last).then_some((first, last, vertices))
    }

    /// Returns whether a slot can be accessed.
    fn has_slot(&self, mode: VariableModes, slot: i64) -> bool {
        let any = self.variables.range((mode, 0)..=(mode, u32::MAX)).next().is_some();
        u32::try_from(slot).is_ok_and(|slot| !any || self.variable(mode, slot).is_some())
    }

    /// Returns the vec4s of a block; `unknown` if it is undeclared.
    fn block_size(&self, block: i64, unknown: u32) -> u32 {
        match u32::try_from(block) {
            Ok(block) => self.blocks.get(&block).copied().unwrap_or(unknown),
            Err(_) if self.num_uniforms > 0 => self.num_uniforms,
            Err(_) => unknown,
        }
    }

    /// Returns the vec4s of a block selected by a run-time index: if any block is declared, undeclared ones do not
    /// exist.
    fn block_size_among_others(&self, block: i64) -> u32 {
        self.block_size(block, if self.blocks.is_empty() { MAX_CONSTANTS } else { 0 })
    }
}

/// A source with a run-time value.
#[derive(Clone)]
struct IndexSource {
    source: usize,
    /// The index to compare, and its step.
    index: Def,
    scale: u32,
    candidates: RangeInclusive<i64>,
    /// The source of candidate `n` is `n * step + remainder`.
    step: u32,
    remainder: u32,
}

impl IndexSource {
    fn plain(source: usize, index: Def, candidates: RangeInclusive<i64>) -> IndexSource {
        IndexSource { source, index, scale: 1, candidates, step: 1, remainder: 0 }
    }

    fn count(&self) -> u64 {
        (self.candidates.end().saturating_sub(*self.candidates.start()).saturating_add(1)).max(1) as u64
    }
}

/// Returns the choices of an index of a variable, from 0 to `last`: only the multiples of a constant factor.
fn within_variable(body: &Body, source: usize, index: Def, last: i64) -> IndexSource {
    let plain = IndexSource::plain(source, index, 0..=last);
    let product = body.def_inst(index);
    if body.alu_op(product) != Some(AluOp::Imul) {
        return plain;
    }
    let factor = |number: usize| {
        let operand = body.source(product, number);
        body.constant_component(body.src_def(operand), usize::from(body.swizzle(operand).get(0)))
    };
    let found = [(0, 1), (1, 0)].into_iter().find_map(|(value, constant)| {
        let step = u32::try_from(factor(constant)?).ok().filter(|&step| step > 0)?;
        let value = body.src(product, value);
        (body.num_components(value) == 1).then_some((value, step))
    });
    match found {
        Some((index, step)) => IndexSource { index, candidates: 0..=last / i64::from(step), step, ..plain },
        None => plain,
    }
}

/// An access to lower.
struct IndirectAccess {
    inst: Inst,
    mode: VariableModes,
    /// The vertex or block.
    outer: Option<IndexSource>,
    /// The offset.
    inner: Option<IndexSource>,
}

impl IndirectAccess {
    /// Returns `None` if there is nothing to lower or it cannot be lowered.
    fn of(body: &Body, extents: &Extents, modes: VariableModes, inst: Inst) -> Option<IndirectAccess> {
        use IntrinsicOp::*;
        let op = body.intrinsic(inst)?;
        let (mode, outer, inner) = match op {
            LoadInput => (VariableModes::SHADER_IN, None, 0),
            LoadPerVertexInput => (VariableModes::SHADER_IN, Some(0), 1),
            LoadInterpolatedInput => (VariableModes::SHADER_IN, None, 1),
            LoadOutput => (VariableModes::SHADER_OUT, None, 0),
            LoadPerVertexOutput => (VariableModes::SHADER_OUT, Some(0), 1),
            StoreOutput => (VariableModes::SHADER_OUT, None, 1),
            StorePerVertexOutput => (VariableModes::SHADER_OUT, Some(1), 2),
            LoadUniform => (VariableModes::UNIFORM, None, 0),
            LoadUbo | LoadUboVec4 => (VariableModes::MEM_UBO, Some(0), 1),
            _ => return None,
        };
        if !modes.intersects(mode) {
            return None;
        }
        let unknown = |source: usize| {
            let def = body.src(inst, source);
            body.constant_component(def, 0).is_none().then_some(def)
        };
        let outer_index = outer.and_then(|source| Some((source, unknown(source)?)));
        let inner_index = unknown(inner);
        if outer_index.is_none() && inner_index.is_none() {
            return None;
        }
        let base = i64::from(body.index(inst, IndexKind::Base));
        Some(match mode {
            VariableModes::UNIFORM => {
                let last = i64::from(extents.num_uniforms.max(1)) - 1;
                let last = if extents.num_uniforms == 0 { last.max(base + range(body, inst) - 1) } else { last };
                let variable = u32::try_from(base).ok().and_then(|slot| extents.variable(mode, slot));
                let offset = inner_index.map(|index| match variable {
                    Some((_, end, _)) => within_variable(body, inner, index, last.min(end.into()) - base),
                    None => IndexSource::plain(inner, index, -base..=last - base),
                });
                IndirectAccess { inst, mode, outer: None, inner: offset }
            }
            VariableModes::MEM_UBO => {
                let lowest = extents.uniform_block().unwrap_or(0);
                let blocks = lowest..=i64::from(extents.num_blocks) - 1;
                let outer = outer_index.map(|(source, index)| IndexSource::plain(source, index, blocks));
                let block = body.constant_component(body.src(inst, 0), 0).map(|block| i64::from(block as u32 as i32));
                let size = match (block, &outer) {
                    (_, Some(_)) => extents.largest_block,
                    (block, None) => extents.block_size(block.unwrap_or(0), MAX_CONSTANTS),
                };
                let inner = match inner_index {
                    Some(index) if op == LoadUbo => Some(byte_offset(body, inst, index, size)?),
                    Some(index) => Some(IndexSource::plain(inner, index, -base..=i64::from(size) - 1 - base)),
                    None => None,
                };
                IndirectAccess { inst, mode, outer, inner }
            }
            _ => {
                let slot = u32::try_from(base).unwrap_or(0);
                let variable = extents.variable(mode, slot);
                let vertices = variable.map(|v| v.2).filter(|&n| n > 0).unwrap_or(MAX_VERTICES);
                let outer =
                    outer_index.map(|(source, index)| IndexSource::plain(source, index, 0..=i64::from(vertices) - 1));
                let last = i64::from(slot) + range(body, inst) - 1;
                let (first, last) = match variable {
                    Some((first, end, _)) if body.index(inst, IndexKind::Range) == 0 => {
                        (i64::from(first), last.max(i64::from(end)))
                    }
                    _ => (i64::from(slot), last),
                };
                let inner = inner_index.map(|index| IndexSource::plain(inner, index, first - base..=last - base));
                IndirectAccess { inst, mode, outer, inner }
            }
        })
    }

    /// Returns the number of direct accesses needed.
    fn num_leaves(&self) -> u64 {
        [&self.outer, &self.inner].into_iter().flatten().fold(1, |n, choice| n.saturating_mul(choice.count()))
    }

    fn lower(&self, body: &mut Body, extents: &Extents) {
        let result = body.inst_def(self.inst);
        let shape = result.map(|def| body.shape(def));
        let mut b = Builder::new(body, Cursor::Before(self.inst));
        let value = match &self.outer {
            Some(outer) => {
                let index = wide_index(&mut b, outer.index);
                index_tree(&mut b, index, 1, outer.candidates.clone(), &mut |b, chosen| match chosen {
                    Some(chosen) => self.offsets(b, extents, shape, Some(chosen)),
                    None => shape.map(|shape| zero(b, shape)),
                })
            }
            None => self.offsets(&mut b, extents, shape, None),
        };
        if let (Some(result), Some(value)) = (result, value) {
            body.replace_all_uses(result, value);
        }
        body.remove_inst(self.inst);
    }

    /// Emits the accesses of one vertex or block.
    fn offsets(&self, b: &mut Builder<'_>, extents: &Extents, shape: Option<Shape>, outer: Option<i64>) -> Option<Def> {
        let Some(inner) = &self.inner else { return self.leaf(b, shape, outer, None) };
        let base = i64::from(b.body.index(self.inst, IndexKind::Base));
        let mut candidates = inner.candidates.clone();
        if let (Some(block), VariableModes::MEM_UBO) = (outer, self.mode) {
            // Blocks have different sizes.
            let size = i64::from(extents.block_size_among_others(block));
            let end = if self.is_bytes(b.body) { size * i64::from(VEC4 / inner.step) - 1 } else { size - 1 - base };
            candidates = *candidates.start()..=end.min(*candidates.end());
        }
        let is_slot = self.is_slot();
        let index = wide_index(b, inner.index);
        index_tree(b, index, inner.scale, candidates, &mut |b, chosen| match chosen {
            Some(chosen) if !is_slot || extents.has_slot(self.mode, base + chosen) => {
                self.leaf(b, shape, outer, Some(chosen))
            }
            _ => shape.map(|shape| zero(b, shape)),
        })
    }

    /// Emits the access to the chosen slot.
    fn leaf(&self, b: &mut Builder<'_>, shape: Option<Shape>, outer: Option<i64>, inner: Option<i64>) -> Option<Def> {
        let is_bytes = self.is_bytes(b.body);
        let constant = |b: &mut Builder<'_>, choice: &Option<IndexSource>, chosen: Option<i64>| {
            let (choice, chosen) = (choice.as_ref()?, chosen?);
            let value = chosen * i64::from(choice.step) + i64::from(choice.remainder);
            let bits = b.body.bit_size(b.body.src(self.inst, choice.source));
            Some((choice.source, b.constant(bits, &[value as u64])))
        };
        // The slot offset becomes part of the base; byte offsets have no base.
        let inner = match &self.inner {
            Some(choice) if !is_bytes => inner.map(|chosen| chosen * i64::from(choice.step)),
            _ => inner,
        };
        let offset = if is_bytes { inner } else { inner.map(|_| 0) };
        let chosen = [constant(b, &self.outer, outer), constant(b, &self.inner, offset)];
        let access = copy_access(b, self.inst, shape, |number, def| {
            chosen.iter().flatten().find(|c| c.0 == number).map_or(def, |c| c.1)
        });
        if let Some(inner) = inner.filter(|_| !is_bytes) {
            let base = i64::from(b.body.index(access, IndexKind::Base)) + inner;
            b.body.set_index(access, IndexKind::Base, base as i32);
            b.body.set_index(access, IndexKind::Range, 1);
            if self.is_slot() {
                // The new slot has another location.
                let mut semantics = IoSemantics::from_i32(b.body.index(access, IndexKind::IoSemantics));
                semantics.location = (i64::from(semantics.location) + inner).clamp(0, 127) as u8;
                semantics.num_slots = width(b.body, access);
                b.body.set_index(access, IndexKind::IoSemantics, semantics.to_i32());
            }
        }
        b.body.inst_def(access)
    }

    /// Returns whether it accesses inputs or outputs.
    fn is_slot(&self) -> bool {
        self.mode.intersects(VariableModes::SHADER_IN.union(VariableModes::SHADER_OUT))
    }

    fn is_bytes(&self, body: &Body) -> bool {
        body.intrinsic(self.inst) == Some(IntrinsicOp::LoadUbo)
    }
}

/// Returns the number of slots of the value of a direct access: a wide value extends into the next slot.
fn width(body: &Body, inst: Inst) -> u8 {
    let value = body.inst_def(inst).unwrap_or_else(|| body.src(inst, 0));
    let words = u32::from(body.num_components(value)) * if body.bit_size(value) == 64 { 2 } else { 1 };
    let component = u32::from(body.component(inst));
    (component + words).div_ceil(4).clamp(1, 8) as u8
}

/// Returns the number of slots, from the base, that an access may reach.
fn range(body: &Body, inst: Inst) -> i64 {
    let range = i64::from(body.index(inst, IndexKind::Range));
    let slots = i64::from(IoSemantics::from_i32(body.index(inst, IndexKind::IoSemantics)).num_slots);
    if range > 0 { range } else { slots.max(1) }
}

/// Returns the choice for a byte offset into a block of `size` vec4s, in steps of vec4s or words according to its
/// alignment.
fn byte_offset(body: &Body, inst: Inst, offset: Def, size: u32) -> Option<IndexSource> {
    let multiple = body.index(inst, IndexKind::AlignMul) as u32;
    let stride = if multiple >= VEC4 { VEC4 } else { 4 };
    if multiple < stride || !multiple.is_power_of_two() {
        return None;
    }
    let remainder = body.index(inst, IndexKind::AlignOffset) as u32 % stride;
    if !remainder.is_multiple_of(4) {
        return None;
    }
    let candidates = 0..=i64::from(size) * i64::from(VEC4 / stride) - 1;
    let (index, scale) = match vec4_index(body, offset).filter(|_| stride == VEC4 && remainder == 0) {
        Some(index) => (index, 1),
        None => (offset, stride),
    };
    Some(IndexSource { source: 1, index, scale, candidates, step: stride, remainder })
}

/// Returns `x` of a byte offset `umin(x, limit) << 4` that cannot wrap around.
fn vec4_index(body: &Body, offset: Def) -> Option<Def> {
    let operand = |inst: Inst, number: usize| {
        let source = body.source(inst, number);
        (body.src_def(source), body.swizzle(source).get(0))
    };
    let known = |(def, component): (Def, u8)| body.constant_component(def, usize::from(component));
    let shift = body.def_inst(offset);
    (body.alu_op(shift) == Some(AluOp::Ishl) && known(operand(shift, 1)) == Some(4)).then_some(())?;
    let (clamped, component) = operand(shift, 0);
    let clamp = body.def_inst(clamped);
    (body.alu_op(clamp) == Some(AluOp::Umin) && component == 0).then_some(())?;
    let limited = |value: usize, limit: usize| {
        let fits = known(operand(clamp, limit))
            .is_some_and(|l| l <= u64::from(u32::MAX / VEC4) && l >= u64::from(MAX_CONSTANTS));
        let (def, component) = operand(clamp, value);
        (fits && component == 0 && body.num_components(def) == 1).then_some(def)
    };
    limited(0, 1).or_else(|| limited(1, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::ShaderStage;
    use crate::types::ScalarType;
    use crate::validate::validate;
    use crate::variable::VariableData;

    const ALL: VariableModes = VariableModes(
        VariableModes::SHADER_IN.0 | VariableModes::SHADER_OUT.0 | VariableModes::UNIFORM.0 | VariableModes::MEM_UBO.0,
    );

    /// Builds a vertex shader with inputs 2 to 5 and 7, uniforms and two blocks, and a load emitted by `load`.
    fn shader(load: impl FnOnce(&mut Builder<'_>, Def) -> Def) -> Shader {
        let mut shader = Shader::new(ShaderStage::Vertex);
        let vec4 = shader.types.vector(ScalarType::Float, 4);
        for (first, count) in [(2, 4), (7, 1)] {
            let ty = if count > 1 { shader.types.array(vec4, count) } else { vec4 };
            let mut data = VariableData::new(format!("in_{first}"), ty, VariableModes::SHADER_IN);
            data.driver_location = first;
            shader.add_variable(data);
        }
        for (binding, size) in [(0, 3), (2, 5)] {
            let ty = shader.types.array(vec4, size);
            let mut data = VariableData::new(format!("ubo_{binding}"), ty, VariableModes::MEM_UBO);
            data.binding = binding;
            shader.add_variable(data);
        }
        shader.num_uniforms = 4;
        let mut data = VariableData::new("out_0", vec4, VariableModes::SHADER_OUT);
        data.driver_location = 0;
        let output = shader.add_variable(data);
        let mut b = Builder::at_end(shader.main_mut());
        let id = b.intrinsic_def(IntrinsicOp::LoadVertexId, &[], &[], Shape::new(1, 32));
        let value = load(&mut b, id);
        let deref = b.deref_var(output, VariableModes::SHADER_OUT, vec4);
        b.store_deref(deref, value, 0xf);
        shader
    }

    /// Returns the accesses of a kind: the base, and the sources if constant.
    fn accesses(shader: &Shader, op: IntrinsicOp) -> Vec<(i32, Vec<Option<u64>>)> {
        let body = shader.main();
        body.blocks()
            .flat_map(|b| body.insts(b))
            .filter(|&i| body.intrinsic(i) == Some(op))
            .map(|i| {
                let sources = body.sources(i).map(|s| body.constant_component(body.src_def(s), 0));
                (body.index(i, IndexKind::Base), sources.collect())
            })
            .collect()
    }

    fn lowered(mut shader: Shader, op: IntrinsicOp) -> Vec<(i32, Vec<Option<u64>>)> {
        assert!(!lower_indirect_io(&mut shader, VariableModes::SHADER_TEMP));
        assert!(lower_indirect_io(&mut shader, ALL));
        validate(&shader).expect("valid");
        assert!(!lower_indirect_io(&mut shader, ALL));
        accesses(&shader, op)
    }

    const VEC: Shape = Shape::new(4, 32);

    #[test]
    fn inputs_of_an_array() {
        // The base is in the middle of the array, and its extent is unspecified.
        let indices = [(IndexKind::Base, 4), (IndexKind::Range, 0)];
        let shader = shader(|b, id| b.intrinsic_def(IntrinsicOp::LoadInput, &[id], &indices, VEC));
        let expected: Vec<_> = (2..=5).map(|base| (base, vec![Some(0)])).collect();
        assert_eq!(lowered(shader, IntrinsicOp::LoadInput), expected);
    }

    #[test]
    fn inputs_of_a_part_of_an_array() {
        let indices = [(IndexKind::Base, 4), (IndexKind::Range, 2)];
        let shader = shader(|b, id| b.intrinsic_def(IntrinsicOp::LoadInput, &[id], &indices, VEC));
        let expected: Vec<_> = (4..=5).map(|base| (base, vec![Some(0)])).collect();
        assert_eq!(lowered(shader, IntrinsicOp::LoadInput), expected);
    }

    #[test]
    fn inputs_of_a_range_with_a_gap() {
        let indices = [(IndexKind::Base, 2), (IndexKind::Range, 7)];
        let shader = shader(|b, id| b.intrinsic_def(IntrinsicOp::LoadInput, &[id], &indices, VEC));
        let expected: Vec<_> = [2, 3, 4, 5, 7].map(|base| (base, vec![Some(0)])).into();
        assert_eq!(lowered(shader, IntrinsicOp::LoadInput), expected);
    }

    #[test]
    fn uniforms_of_the_shader() {
        let indices = [(IndexKind::Base, -2), (IndexKind::Range, 1)];
        let shader = shader(|b, id| b.intrinsic_def(IntrinsicOp::LoadUniform, &[id], &indices, VEC));
        let expected: Vec<_> = (0..4).map(|base| (base, vec![Some(0)])).collect();
        assert_eq!(lowered(shader, IntrinsicOp::LoadUniform), expected);
    }

    #[test]
    fn any_block_by_any_offset() {
        let indices = [(IndexKind::AlignMul, 16), (IndexKind::AlignOffset, 4), (IndexKind::Range, -1)];
        let shader = shader(|b, id| {
            let offset = b.u32_const(2);
            let offset = b.alu(AluOp::Imul, &[id, offset]);
            b.intrinsic_def(IntrinsicOp::LoadUbo, &[id, offset], &indices, Shape::new(3, 32));
            b.intrinsic_def(IntrinsicOp::LoadUboVec4, &[id, id], &[], VEC)
        });
        let mut expected = Vec::new();
        // The uniforms are block -1; block 1 does not exist.
        for (block, size) in [(u64::from(u32::MAX), 4), (0, 3), (2, 5)] {
            expected.extend((0..size).map(|k| (0, vec![Some(block), Some(16 * k + 4)])));
        }
        let mut both = shader;
        assert_eq!(lowered(both.clone(), IntrinsicOp::LoadUbo), expected);
        lower_indirect_io(&mut both, ALL);
        assert_eq!(accesses(&both, IntrinsicOp::LoadUboVec4).len(), 4 + 3 + 5);
    }

    #[test]
    fn byte_offsets_of_words_and_of_less() {
        let load = |align: i32| {
            shader(move |b, id| {
                let zero = b.u32_const(0);
                let indices = [(IndexKind::AlignMul, align), (IndexKind::AlignOffset, 0), (IndexKind::Range, -1)];
                let scalar = b.intrinsic_def(IntrinsicOp::LoadUbo, &[zero, id], &indices, Shape::new(1, 32));
                b.vec_of(&[scalar; 4])
            })
        };
        let expected: Vec<_> = (0..12).map(|k| (0, vec![Some(0), Some(4 * k)])).collect();
        assert_eq!(lowered(load(4), IntrinsicOp::LoadUbo), expected);
        assert!(!lower_indirect_io(&mut load(2), ALL));
    }
}
