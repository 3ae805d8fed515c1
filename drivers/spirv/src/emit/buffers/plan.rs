//! The accesses of a shader to its buffers, collected before anything is emitted: declarations depend on all accesses.

use std::collections::BTreeMap;

use tgsi_ir::intrinsics::indices::{AccessFlags, AtomicOp};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::TypeData;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, Def, Inst, InstData, Shader};

use crate::module::Class;
use crate::plan::Classes;

/// Number of vec4s of a constant buffer of undeclared size: 64 KiB, which devices accept as a uniform buffer.
const UNDECLARED_SLOTS: u32 = 4096;

/// The uses of a constant buffer.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConstantUse {
    /// Number of declared vec4s; 0 if the shader declares none.
    declared: u32,
    /// Number of vec4s that accesses at constant places need.
    reach: u32,
    /// There are accesses at dynamic places.
    is_open: bool,
    /// Number of loads with float results.
    floats: u32,
    /// Number of other loads.
    words: u32,
}

impl ConstantUse {
    /// Returns the number of vec4s to declare.
    pub fn slots(&self) -> u32 {
        let open = if self.is_open && self.declared == 0 { UNDECLARED_SLOTS } else { 1 };
        self.declared.max(self.reach).max(open)
    }

    /// Returns the class of the elements, by the majority of the loads.
    pub fn class(&self) -> Class {
        if self.floats > 0 && self.floats >= self.words { Class::Float } else { Class::Uint }
    }

    fn merge(&mut self, other: ConstantUse) {
        self.declared = self.declared.max(other.declared);
        self.reach = self.reach.max(other.reach);
        self.is_open |= other.is_open;
        self.floats += other.floats;
        self.words += other.words;
    }
}

/// The uses of writable memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordUse {
    /// It is accessed.
    pub used: bool,
    /// It is read.
    pub read: bool,
    /// It is written.
    pub written: bool,
    /// An access is coherent.
    pub coherent: bool,
    /// An access is volatile.
    pub volatile: bool,
    /// An access does not promise that its memory has no alias (`restrict`).
    pub shared: bool,
    /// There is a signed minimum or maximum.
    signed: bool,
    /// There is an unsigned minimum or maximum.
    unsigned: bool,
}

impl WordUse {
    /// Returns the class of the elements: signed if there are atomic minima or maxima and all of them are signed.
    pub fn class(&self) -> Class {
        if self.signed && !self.unsigned { Class::Int } else { Class::Uint }
    }

    fn access(&mut self, access: AccessFlags, reads: bool, writes: bool) {
        self.used = true;
        self.read |= reads;
        self.written |= writes;
        self.coherent |= access.contains(AccessFlags::COHERENT);
        self.volatile |= access.contains(AccessFlags::VOLATILE);
        self.shared |= !access.contains(AccessFlags::RESTRICT);
    }

    fn atomic(&mut self, op: Option<AtomicOp>) {
        self.signed |= matches!(op, Some(AtomicOp::Imin | AtomicOp::Imax));
        self.unsigned |= matches!(op, Some(AtomicOp::Umin | AtomicOp::Umax));
    }

    fn merge(&mut self, other: WordUse) {
        self.used |= other.used;
        self.read |= other.read;
        self.written |= other.written;
        self.coherent |= other.coherent;
        self.volatile |= other.volatile;
        self.shared |= other.shared;
        self.signed |= other.signed;
        self.unsigned |= other.unsigned;
    }
}

/// The uses of all buffers.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Constant buffers by number.
    pub constants: BTreeMap<u32, ConstantUse>,
    /// The numbers of the dynamically indexed constant buffers, if any.
    pub indexed_constants: std::ops::Range<u32>,
    /// Whether dynamic indices may also select constant buffer 0, which precedes the first uniform buffer.
    pub indexes_uniforms: bool,
    /// Storage buffers by number.
    pub storage: BTreeMap<u32, WordUse>,
    /// The number of dynamically indexed storage buffers.
    pub indexed_storage: u32,
    /// Buffers of atomic counters by number.
    pub counters: BTreeMap<u32, WordUse>,
    /// Shared memory.
    pub shared: WordUse,
    /// Bytes of shared memory that are accessed.
    pub shared_size: u32,
    /// Bytes of push constants.
    pub push_constants: u32,
}

impl Plan {
    /// Collects all accesses.
    pub fn new(shader: &Shader, body: &Body, classes: &Classes) -> Plan {
        let mut plan = Plan::default();
        plan.declarations(shader);
        let mut scan =
            Scan { shader, body, classes, plan, indexed_constants: None, indexed_storage: None, reach: Some(0) };
        for block in body.blocks() {
            for inst in body.insts(block) {
                if let InstData::Intrinsic { op, .. } = *body.inst(inst) {
                    scan.visit(inst, op);
                }
            }
        }
        scan.finish()
    }

    fn declarations(&mut self, shader: &Shader) {
        if shader.num_uniforms > 0 {
            self.constants.entry(0).or_default().declared = shader.num_uniforms;
        }
        let first = shader.info.first_ubo_buffer();
        for (_, data) in shader.globals_with(VariableModes::MEM_UBO) {
            let TypeData::Array { length, .. } = *shader.types.get(data.ty) else { continue };
            if let Some(buffer) = data.binding.checked_add(first) {
                let found = self.constants.entry(buffer).or_default();
                found.declared = found.declared.max(length);
            }
        }
    }
}

struct Scan<'a> {
    shader: &'a Shader,
    body: &'a Body,
    classes: &'a Classes,
    plan: Plan,
    /// The accesses to dynamically indexed buffers.
    indexed_constants: Option<ConstantUse>,
    indexed_storage: Option<WordUse>,
    /// Bytes of shared memory that are accessed; `None` if unknown.
    reach: Option<u32>,
}

impl Scan<'_> {
    fn constant(&self, def: Def) -> Option<u32> {
        self.body.constant_component(def, 0).map(|value| value as u32)
    }

    fn visit(&mut self, inst: Inst, op: IntrinsicOp) {
        use IntrinsicOp::*;
        let body = self.body;
        let source = |number: usize| body.src(inst, number);
        let access = AccessFlags::from_i32(body.index(inst, IndexKind::Access));
        let atomic = AtomicOp::from_i32(body.index(inst, IndexKind::AtomicOp));
        match op {
            LoadUniform => self.uniform(inst),
            LoadUbo => {
                let place = self.constant(source(1)).map(|byte| byte >> 2);
                self.constants(inst, Some(source(0)), place);
            }
            LoadUboVec4 => {
                let base = body.base(inst);
                let component = u32::from(body.component(inst));
                let slot = self.constant(source(1)).map(|slot| slot.wrapping_add(base));
                self.constants(
                    inst,
                    Some(source(0)),
                    slot.map(|slot| slot.saturating_mul(4).saturating_add(component)),
                );
            }
            LoadPushConstant => {
                let base = body.base(inst);
                let range = body.index(inst, IndexKind::Range) as u32;
                let end = match self.constant(source(0)) {
                    Some(offset) => base.saturating_add(offset).saturating_add(4 * self.words(inst)),
                    None => base.saturating_add(range),
                };
                self.plan.push_constants = self.plan.push_constants.max(end);
            }
            LoadSsbo => self.storage(source(0)).access(access, true, false),
            StoreSsbo => self.storage(source(1)).access(access, false, true),
            GetSsboSize => self.storage(source(0)).used = true,
            SsboAtomic | SsboAtomicSwap => {
                let found = self.storage(source(0));
                found.access(access, true, true);
                found.atomic(atomic);
            }
            LoadShared => self.shared(inst, source(0), None),
            StoreShared => self.shared(inst, source(1), None),
            SharedAtomic | SharedAtomicSwap => self.shared(inst, source(0), atomic),
            AtomicCounterRead => self.counters(inst).access(AccessFlags::NONE, true, false),
            op if op.is_atomic_counter() => self.counters(inst).access(AccessFlags::NONE, true, true),
            _ => {}
        }
    }

    /// Returns the number of 32-bit words of a load's result.
    fn words(&self, inst: Inst) -> u32 {
        self.body.inst_def(inst).map_or(0, |def| words_of(self.body, def))
    }

    fn uniform(&mut self, inst: Inst) {
        let base = self.body.index(inst, IndexKind::Base);
        let place = self.constant(self.body.src(inst, 0)).map(|offset| (base as u32).wrapping_add(offset));
        self.constants(inst, None, place.map(|slot| slot.saturating_mul(4)));
        let range = self.body.index(inst, IndexKind::Range);
        if place.is_none() && range > 0 {
            let found = self.plan.constants.entry(0).or_default();
            // Without a declaration, the indexed range is declared.
            if found.declared == 0 {
                found.reach = found.reach.max(base.saturating_add(range).max(0) as u32);
            }
        }
    }

    /// Records a load of constants: from buffer 0, or from a block. `word` is where it starts, if that is constant.
    fn constants(&mut self, inst: Inst, block: Option<Def>, word: Option<u32>) {
        let mut found = ConstantUse { is_open: word.is_none(), ..ConstantUse::default() };
        // No buffer is larger than this, so reads beyond it give zero.
        let end = word.and_then(|word| word.checked_add(self.words(inst)));
        if let Some(end) = end.filter(|&end| end <= 4 * UNDECLARED_SLOTS) {
            found.reach = end.div_ceil(4);
        }
        match self.body.inst_def(inst).map(|def| self.classes.get(def)) {
            Some(Class::Float) => found.floats = 1,
            _ => found.words = 1,
        }
        let first = self.shader.info.first_ubo_buffer();
        match block {
            None => self.plan.constants.entry(0).or_default().merge(found),
            Some(block) => match self.constant(block) {
                Some(block) => self.plan.constants.entry(block.wrapping_add(first)).or_default().merge(found),
                None => self.indexed_constants.get_or_insert_default().merge(found),
            },
        }
    }

    fn storage(&mut self, block: Def) -> &mut WordUse {
        match self.constant(block) {
            Some(block) => self.plan.storage.entry(block).or_default(),
            None => self.indexed_storage.get_or_insert_default(),
        }
    }

    fn counters(&mut self, inst: Inst) -> &mut WordUse {
        self.plan.counters.entry(self.body.base(inst)).or_default()
    }

    fn shared(&mut self, inst: Inst, offset: Def, atomic: Option<AtomicOp>) {
        let base = self.body.base(inst);
        let value = self.body.inst_def(inst).unwrap_or_else(|| self.body.src(inst, 0));
        let end = self
            .constant(offset)
            .map(|offset| base.wrapping_add(offset).saturating_add(4 * words_of(self.body, value)));
        self.reach = self.reach.zip(end).map(|(reach, end)| reach.max(end));
        self.plan.shared.access(AccessFlags::NONE, true, true);
        self.plan.shared.atomic(atomic);
    }

    fn finish(self) -> Plan {
        let Scan { shader, mut plan, indexed_constants, indexed_storage, reach, .. } = self;
        let info = &shader.info;
        // If all places are constant, only the accessed part needs clearing.
        plan.shared_size = reach.map_or(info.shared_size, |reach| reach.min(info.shared_size));
        if let Some(found) = indexed_constants {
            let first = info.first_ubo_buffer();
            plan.indexes_uniforms = first != 0 && plan.constants.contains_key(&0);
            if plan.indexes_uniforms {
                plan.constants.entry(0).or_default().merge(found);
            }
            let known = plan.constants.range(first..=super::LAST_BUFFER).next_back().map_or(first, |(&last, _)| last);
            let end = known.max((first + info.num_ubos).saturating_sub(1)).min(super::LAST_BUFFER) + 1;
            for buffer in first..end {
                plan.constants.entry(buffer).or_default().merge(found);
            }
            plan.indexed_constants = first..end;
        }
        if let Some(found) = indexed_storage {
            let known = plan.storage.range(..=super::LAST_BUFFER).next_back().map_or(0, |(&last, _)| last);
            let count = info.num_ssbos.max(known + 1).min(super::LAST_BUFFER + 1);
            let mut all = found;
            plan.storage.values().for_each(|&known| all.merge(known));
            // Elements of an array have one type.
            (0..count).for_each(|buffer| *plan.storage.entry(buffer).or_default() = all);
            plan.indexed_storage = count;
        }
        plan
    }
}

/// Returns the number of 32-bit words of a value.
fn words_of(body: &Body, def: Def) -> u32 {
    u32::from(body.num_components(def)) * if body.bit_size(def) == 64 { 2 } else { 1 }
}
