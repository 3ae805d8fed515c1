//! Decides whether an instruction may be executed speculatively, where the source program would not have executed it.
//!
//! Operations, constants and derefs may (except divisions if the target [traps](CompilerOptions::division_traps)). An
//! access may if its target is known to exist: registers, inputs, constants and arrays of the shader with a constant
//! index, or an index with a [range](super::integer_range) within the declared bounds; lookups in directly named
//! textures, with any coordinates. A guarded access may be guarded because its index is out of bounds otherwise: on a
//! target that trusts indices, executing it crashes the program.
//!
//! Therefore memory, images, texel fetches, handles, and everything indexed at run time are not speculated unless the
//! access itself (`speculatable`) or the target ([`CompilerOptions::speculate_loads`]) declares it harmless. This
//! covers accesses only: passes have to check effects, order and dependence on neighbouring invocations themselves.

use std::cell::OnceCell;

use cranelift_entity::PrimaryMap;

use super::integer_range::integer_range;
use crate::alu::AluOp;
use crate::body::{Body, DerefKind, InstData, TexOp, TexSrcKind};
use crate::entities::{Def, Inst, Variable};
use crate::intrinsics::indices::{AccessFlags, IoSemantics};
use crate::intrinsics::{IndexKind, IntrinsicKind, IntrinsicOp};
use crate::options::CompilerOptions;
use crate::shader::Shader;
use crate::types::{TypeData, TypeTable};
use crate::variable::{VariableData, VariableModes};

/// Size of a register in bytes.
const VEC4: u64 = 16;

/// Sizes of uniform buffers are recorded for bindings below this one.
const MAX_BUFFERS: usize = 1024;

/// Limit for indices, which keeps sums and products from overflowing.
const FAR: u64 = 1 << 28;

/// Modes of variables that have as many elements as declared.
const DECLARED: VariableModes = VariableModes(
    VariableModes::FUNCTION_TEMP.0
        | VariableModes::SHADER_TEMP.0
        | VariableModes::SHADER_IN.0
        | VariableModes::SHADER_OUT.0
        | VariableModes::SYSTEM_VALUE.0
        | VariableModes::UNIFORM.0
        | VariableModes::MEM_CONSTANT.0
        | VariableModes::MEM_UBO.0,
);

/// The declarations of a shader that decide which accesses are harmless.
#[derive(Debug)]
pub struct Speculation<'a> {
    types: &'a TypeTable,
    variables: &'a PrimaryMap<Variable, VariableData>,
    num_uniforms: u32,
    constant_data: usize,
    /// Whether every load is harmless on the target.
    loads: bool,
    /// Whether divisions trap for some divisors.
    division_traps: bool,
    /// Sizes of uniform buffers in bytes, by binding; 0 if unknown.
    buffers: OnceCell<Vec<u64>>,
}

impl<'a> Speculation<'a> {
    /// Returns the bodies of a shader for modification, and the speculation rules for them.
    pub fn with_bodies(
        shader: &'a mut Shader,
        options: &CompilerOptions,
    ) -> (impl Iterator<Item = &'a mut Body>, Speculation<'a>) {
        let Shader { functions, types, variables, num_uniforms, constant_data, .. } = shader;
        let (num_uniforms, constant_data) = (*num_uniforms, constant_data.len());
        let speculation = Speculation {
            types,
            variables,
            num_uniforms,
            constant_data,
            loads: options.speculate_loads,
            division_traps: options.division_traps,
            buffers: OnceCell::new(),
        };
        (functions.values_mut().filter_map(|f| f.body.as_mut()), speculation)
    }

    /// The types of the shader.
    pub(crate) fn types(&self) -> &'a TypeTable {
        self.types
    }

    /// Whether an instruction may be executed where the source program would not have executed it.
    pub fn allows(&self, body: &Body, inst: Inst) -> bool {
        match *body.inst(inst) {
            InstData::Alu { op, .. } => !self.division_traps || !may_trap(body, inst, op),
            _ if self.loads => true,
            InstData::Intrinsic { op, .. } => self.allows_intrinsic(body, inst, op),
            InstData::Tex(_) => self.allows_texture(body, inst),
            _ => true,
        }
    }

    fn allows_intrinsic(&self, body: &Body, inst: Inst, op: IntrinsicOp) -> bool {
        use IntrinsicOp as I;
        let info = op.info();
        if !info.has_dest() {
            return true;
        }
        if info.index_slot(IndexKind::Access).is_some()
            && AccessFlags::from_i32(body.index(inst, IndexKind::Access)).contains(AccessFlags::CAN_SPECULATE)
        {
            return true;
        }
        match op {
            I::LoadDeref => self.is_inside(body, body.src(inst, 0)),
            I::LoadUniform => self.allows_uniform(body, inst),
            I::LoadUbo => self.allows_uniform_buffer(body, inst),
            I::LoadUboVec4 => self.allows_uniform_buffer_vec4(body, inst),
            I::LoadConstant => {
                let base = unsigned(body.index(inst, IndexKind::Base));
                let bytes = base.zip(most(body, body.src(inst, 0))).map(|(base, most)| base + most + size(body, inst));
                bytes.is_some_and(|bytes| bytes <= self.constant_data as u64)
            }
            I::LoadRegIndirect => {
                let base = unsigned(body.index(inst, IndexKind::Base));
                let last = base.zip(most(body, body.src(inst, 1))).map(|(base, most)| base + most);
                let declaration = body.src_inst(body.source(inst, 0));
                let elements = body
                    .intrinsic(declaration)
                    .filter(|&op| op == I::DeclReg)
                    .and_then(|_| unsigned(body.index(declaration, IndexKind::NumArrayElems)));
                last.zip(elements).is_some_and(|(last, elements)| last < elements)
            }
            I::LoadParam | I::LoadReg | I::LoadPreamble | I::LoadStack => true,
            I::LoadPushConstant => body.def_constant(body.src(inst, 0)).is_some(),
            _ => match info.kind {
                IntrinsicKind::Io => allows_io(body, inst, op),
                IntrinsicKind::Sysval => body.sources(inst).all(|s| body.def_constant(body.src_def(s)).is_some()),
                // Queries of a resource that do not read its contents; the resource must exist.
                IntrinsicKind::Image | IntrinsicKind::Resource | IntrinsicKind::Memory => {
                    info.can_reorder
                        && !info.name.starts_with("load_")
                        && !info.name.starts_with("bindless_")
                        && body.sources(inst).next().is_none_or(|s| body.def_constant(body.src_def(s)).is_some())
                }
                IntrinsicKind::Atomic | IntrinsicKind::AtomicCounter => false,
                _ => true,
            },
        }
    }

    /// Whether a deref is within a variable of the shader for any values of its indices.
    fn is_inside(&self, body: &Body, mut deref: Def) -> bool {
        loop {
            let inst = body.def_inst(deref);
            let InstData::Deref { kind, .. } = *body.inst(inst) else { return false };
            match kind {
                DerefKind::Var(variable) => {
                    let mode = self.variables.get(variable).map_or(VariableModes::NONE, |data| data.mode);
                    return mode != VariableModes::NONE && DECLARED.contains(mode);
                }
                DerefKind::Array => {
                    let most = most(body, body.src(inst, 1));
                    if most.is_none_or(|most| most >= self.elements(body, body.src(inst, 0))) {
                        return false;
                    }
                }
                DerefKind::Struct(_) => {}
                DerefKind::ArrayWildcard | DerefKind::PtrAsArray | DerefKind::Cast(_) => return false,
            }
            deref = body.src(inst, 0);
        }
    }

    /// Number of elements of the array that a deref points to.
    fn elements(&self, body: &Body, deref: Def) -> u64 {
        let InstData::Deref { ty, .. } = *body.inst(body.def_inst(deref)) else { return 0 };
        match *self.types.get(ty) {
            TypeData::Array { length, .. } => length.into(),
            TypeData::Matrix { columns, .. } => columns.into(),
            TypeData::Vector { components, .. } => components.into(),
            _ => 0,
        }
    }

    fn allows_uniform(&self, body: &Body, inst: Inst) -> bool {
        let base = unsigned(body.index(inst, IndexKind::Base));
        let range = unsigned(body.index(inst, IndexKind::Range)).filter(|&range| range != 0);
        let (Some(base), Some(most)) = (base, most(body, body.src(inst, 0))) else { return false };
        let declared = if self.num_uniforms == 0 { u64::MAX } else { self.num_uniforms.into() };
        range.map_or(self.num_uniforms != 0, |range| most < range) && base + most < declared
    }

    fn allows_uniform_buffer(&self, body: &Body, inst: Inst) -> bool {
        let (block, offset) = (body.src(inst, 0), body.src(inst, 1));
        let Some(most) = most(body, offset) else { return false };
        let end = most + size(body, inst);
        if let Some(smallest) = self.smallest_buffer(body, block) {
            return end <= smallest;
        }
        // The buffer is not declared, but the load states its range.
        let base = unsigned(body.index(inst, IndexKind::RangeBase));
        let range = unsigned(body.index(inst, IndexKind::Range));
        let constants = [block, offset].map(|def| body.def_constant(def));
        match (base, range, constants) {
            (Some(base), Some(range), [Some(_), Some(_)]) => most >= base && end <= base + range,
            _ => false,
        }
    }

    fn allows_uniform_buffer_vec4(&self, body: &Body, inst: Inst) -> bool {
        let base = unsigned(body.index(inst, IndexKind::Base));
        let last = base.zip(most(body, body.src(inst, 1))).map(|(base, most)| base + most);
        let smallest = self.smallest_buffer(body, body.src(inst, 0));
        last.zip(smallest).is_some_and(|(last, smallest)| (last + 1).saturating_mul(VEC4) <= smallest)
    }

    /// Size in bytes of the smallest uniform buffer that the index may select, if all are declared.
    fn smallest_buffer(&self, body: &Body, block: Def) -> Option<u64> {
        let buffers = self.buffers.get_or_init(|| self.buffer_sizes());
        let named = match body.constant_component(block, 0) {
            Some(number) => buffers.get(usize::try_from(number).ok()?..)?.get(..1)?,
            None => buffers.get(..=usize::try_from(most(body, block)?).ok()?)?,
        };
        named.iter().copied().min().filter(|&smallest| smallest > 0)
    }

    /// Records buffers of vec4 only, because the memory layout of others is not specified.
    fn buffer_sizes(&self) -> Vec<u64> {
        let mut sizes = Vec::new();
        for data in self.variables.values().filter(|data| data.mode == VariableModes::MEM_UBO) {
            let TypeData::Array { element, length, .. } = *self.types.get(data.ty) else { continue };
            let is_vec4 = self.types.as_vector(element).is_some_and(|(scalar, n)| scalar.bit_size() == 32 && n == 4);
            let binding = data.binding as usize;
            if is_vec4 && data.descriptor_set == 0 && binding < MAX_BUFFERS {
                if sizes.len() <= binding {
                    sizes.resize(binding + 1, 0);
                }
                sizes[binding] = u64::from(length) * VEC4;
            }
        }
        sizes
    }

    fn allows_texture(&self, body: &Body, inst: Inst) -> bool {
        let Some(tex) = body.tex(inst) else { return false };
        let is_sampled = match tex.op {
            TexOp::Tex | TexOp::Txb | TexOp::Txl | TexOp::Txd | TexOp::Tg4 | TexOp::Lod | TexOp::TexPrefetch => true,
            TexOp::Txs | TexOp::QueryLevels | TexOp::TextureSamples | TexOp::SamplePos => true,
            TexOp::Txf | TexOp::TxfMs | TexOp::TxfMsFb | TexOp::SamplesIdentical => false,
        };
        is_sampled
            && body.sources(inst).all(|source| match body.tex_src_kind(source) {
                TexSrcKind::TextureDeref | TexSrcKind::SamplerDeref => self.is_inside(body, body.src_def(source)),
                TexSrcKind::TextureOffset
                | TexSrcKind::SamplerOffset
                | TexSrcKind::TextureHandle
                | TexSrcKind::SamplerHandle
                | TexSrcKind::SamplerDerefIntrinsic
                | TexSrcKind::TextureDerefIntrinsic
                | TexSrcKind::Plane
                | TexSrcKind::Backend1
                | TexSrcKind::Backend2 => body.def_constant(body.src_def(source)).is_some(),
                TexSrcKind::Coord
                | TexSrcKind::Projector
                | TexSrcKind::Comparator
                | TexSrcKind::Offset
                | TexSrcKind::Bias
                | TexSrcKind::Lod
                | TexSrcKind::MinLod
                | TexSrcKind::MsIndex
                | TexSrcKind::Ddx
                | TexSrcKind::Ddy => true,
            })
    }
}

/// Whether an operation is a division by a value that may be 0 or -1.
fn may_trap(body: &Body, inst: Inst, op: AluOp) -> bool {
    if !matches!(op, AluOp::Idiv | AluOp::Irem | AluOp::Imod | AluOp::Udiv | AluOp::Umod) {
        return false;
    }
    let divisor = body.source(inst, 1);
    let bits = u64::MAX >> (64 - u32::from(body.bit_size(body.src_def(divisor))).clamp(1, 64));
    body.swizzle(divisor).iter(body.alu_src_components(inst, 1)).any(|component| {
        let value = body.constant_component(body.src_def(divisor), usize::from(component));
        value.is_none_or(|value| value & bits == 0 || value & bits == bits)
    })
}

/// Inputs and outputs are safe within the declared slots. The number of vertices is unknown, so vertex indices must be
/// constant.
fn allows_io(body: &Body, inst: Inst, op: IntrinsicOp) -> bool {
    let info = op.info();
    let slots = match info.index_slot(IndexKind::IoSemantics) {
        Some(_) => u64::from(IoSemantics::from_i32(body.index(inst, IndexKind::IoSemantics)).num_slots.max(1)),
        None => 1,
    };
    info.src_roles.iter().zip(body.sources(inst)).all(|(&role, source)| {
        let def = body.src_def(source);
        match role {
            "offset" => most(body, def).is_some_and(|most| most < slots),
            _ if role.ends_with("index") => body.def_constant(def).is_some(),
            _ => true,
        }
    })
}

/// Number of bytes that a load reads.
fn size(body: &Body, inst: Inst) -> u64 {
    body.inst_def(inst).map_or(0, |def| u64::from(body.num_components(def)) * u64::from(body.bit_size(def)).div_ceil(8))
}

fn unsigned(index: i32) -> Option<u64> {
    u64::try_from(index).ok()
}

/// The maximum value of an index as an unsigned number; `None` if unbounded.
fn most(body: &Body, index: Def) -> Option<u64> {
    if let Some(value) = body.constant_component(index, 0) {
        return u32::try_from(value).ok().map(u64::from);
    }
    let range = integer_range(body, index, 0);
    if range.low < 0 { None } else { unsigned(i32::try_from(range.high).ok()?).filter(|&most| most < FAR) }
}
