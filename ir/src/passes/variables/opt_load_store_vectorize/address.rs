//! Splits addresses into a resource, a sum of values times constants, and a constant.

use hashbrown::HashMap;

use crate::alu::AluOp;
use crate::body::{Body, InstData};
use crate::entities::{Def, Inst};
use crate::intrinsics::indices::AccessFlags;
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::variable::VariableModes;

/// Maximum number of terms of a sum; the rest is one term.
const MAX_TERMS: usize = 32;
/// The alignment of a constant address.
const FULL_ALIGNMENT: u32 = 1 << 30;

/// The roles of the sources of an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sources {
    pub(super) mode: VariableModes,
    pub(super) resource: Option<usize>,
    pub(super) offset: usize,
    /// The number of the source with the stored value; `None` unless it is a store.
    pub(super) value: Option<usize>,
    /// Whether it is an atomic, which only blocks other accesses.
    pub(super) is_atomic: bool,
}

/// Returns the sources of a memory access, if the pass handles it.
pub(super) fn sources(op: IntrinsicOp) -> Option<Sources> {
    use IntrinsicOp as I;
    let access = |mode, resource, offset, value, is_atomic| Sources { mode, resource, offset, value, is_atomic };
    Some(match op {
        I::LoadUbo => access(VariableModes::MEM_UBO, Some(0), 1, None, false),
        I::LoadSsbo => access(VariableModes::MEM_SSBO, Some(0), 1, None, false),
        I::StoreSsbo => access(VariableModes::MEM_SSBO, Some(1), 2, Some(0), false),
        I::SsboAtomic | I::SsboAtomicSwap => access(VariableModes::MEM_SSBO, Some(0), 1, None, true),
        I::LoadShared => access(VariableModes::MEM_SHARED, None, 0, None, false),
        I::StoreShared => access(VariableModes::MEM_SHARED, None, 1, Some(0), false),
        I::SharedAtomic | I::SharedAtomicSwap => access(VariableModes::MEM_SHARED, None, 0, None, true),
        I::LoadScratch => access(VariableModes::FUNCTION_TEMP, None, 0, None, false),
        I::StoreScratch => access(VariableModes::FUNCTION_TEMP, None, 1, Some(0), false),
        _ => return None,
    })
}

/// The common part of addresses that differ by a constant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Key {
    mode: VariableModes,
    resource: Option<Def>,
    /// Value, component and factor, sorted by value.
    terms: Vec<(Def, u8, u32)>,
}

/// The keys of a body, by number.
#[derive(Default)]
pub(super) struct Keys {
    numbers: HashMap<Key, u32>,
    /// For each key: whether it has terms, and the greatest power of two that divides all of them.
    infos: Vec<(bool, u32)>,
}

/// An access to memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) inst: Inst,
    pub(super) op: IntrinsicOp,
    pub(super) sources: Sources,
    /// Its position in the block.
    pub(super) position: u32,
    pub(super) key: u32,
    /// The number of the resource, if it is constant.
    pub(super) resource: Option<u64>,
    /// Whether the address is not constant.
    pub(super) has_terms: bool,
    /// The constant part of the address, in bytes.
    pub(super) offset: i64,
    pub(super) num_components: u8,
    pub(super) bit_size: u8,
    pub(super) access: AccessFlags,
    /// The whole address is congruent to `align_offset` modulo this power of two.
    pub(super) align_mul: u32,
    pub(super) align_offset: u32,
    /// It has not been merged into another access.
    pub(super) is_alive: bool,
}

impl Entry {
    pub(super) fn is_store(&self) -> bool {
        self.sources.value.is_some()
    }

    pub(super) fn writes(&self) -> bool {
        self.is_store() || self.sources.is_atomic
    }

    pub(super) fn bytes(&self) -> i64 {
        // A boolean takes a word.
        i64::from(self.num_components) * if self.bit_size == 1 { 4 } else { i64::from(self.bit_size) / 8 }
    }
}

impl Keys {
    /// Returns the entry of an access.
    pub(super) fn entry(&mut self, body: &Body, inst: Inst, position: u32) -> Option<Entry> {
        let op = body.intrinsic(inst)?;
        let sources = sources(op)?;
        let offset = body.src(inst, sources.offset);
        if body.bit_size(offset) != 32 {
            return None;
        }
        let data = match sources.value {
            Some(number) => body.src(inst, number),
            None => body.inst_def(inst)?,
        };
        let index = |kind| op.info().index_slot(kind).map(|_| body.index(inst, kind));
        let (mut terms, mut constant) = sum(body, offset);
        constant = constant.wrapping_add(index(IndexKind::Base).unwrap_or(0) as u32);
        terms.sort_unstable();
        let resource = sources.resource.map(|number| body.src(inst, number));
        let next = self.infos.len() as u32;
        let key = Key { mode: sources.mode, resource, terms };
        let factors = key.terms.iter().fold(0, |all, &(.., factor)| all | factor);
        let has_terms = !key.terms.is_empty();
        let key = *self.numbers.entry(key).or_insert(next);
        if key == next {
            self.infos.push((has_terms, factors));
        }
        let mut align_mul = if factors == 0 { FULL_ALIGNMENT } else { 1 << factors.trailing_zeros().min(30) };
        let mut align_offset = constant & (align_mul - 1);
        let stated = index(IndexKind::AlignMul).unwrap_or(0) as u32;
        if stated.is_power_of_two() && stated > align_mul {
            align_mul = stated;
            align_offset = index(IndexKind::AlignOffset).unwrap_or(0) as u32 & (stated - 1);
        }
        Some(Entry {
            inst,
            op,
            sources,
            position,
            key,
            resource: sources.resource.and_then(|number| body.constant_component(body.src(inst, number), 0)),
            has_terms,
            offset: i64::from(constant as i32),
            num_components: body.num_components(data),
            bit_size: body.bit_size(data),
            access: AccessFlags::from_i32(index(IndexKind::Access).unwrap_or(0)),
            align_mul,
            align_offset,
            is_alive: true,
        })
    }
}

/// Splits a 32-bit value into a sum: components of values with their factors, and a constant.
fn sum(body: &Body, def: Def) -> (Vec<(Def, u8, u32)>, u32) {
    let mut terms: Vec<(Def, u8, u32)> = Vec::new();
    let mut constant = 0u32;
    let mut steps = 4 * MAX_TERMS;
    let mut work = vec![(def, 0u8, 1u32)];
    while let Some((def, component, factor)) = work.pop() {
        if let Some(value) = body.constant_component(def, usize::from(component)) {
            constant = constant.wrapping_add(factor.wrapping_mul(value as u32));
            continue;
        }
        let inst = body.def_inst(def);
        steps = steps.saturating_sub(1);
        if steps > 0
            && terms.len() + work.len() < MAX_TERMS
            && let InstData::Alu { op, .. } = *body.inst(inst)
        {
            let operand = |number: usize| {
                let source = body.source(inst, number);
                (body.src_def(source), body.swizzle(source).get(usize::from(component)))
            };
            let constant_operand = |number: usize| {
                let (def, component) = operand(number);
                body.constant_component(def, usize::from(component)).map(|value| value as u32)
            };
            match op {
                AluOp::Mov => {
                    let (def, component) = operand(0);
                    work.push((def, component, factor));
                    continue;
                }
                AluOp::Iadd => {
                    for number in [0, 1] {
                        let (def, component) = operand(number);
                        work.push((def, component, factor));
                    }
                    continue;
                }
                AluOp::Imul => {
                    if let Some((number, value)) = [0, 1].iter().find_map(|&n| Some((n, constant_operand(n)?))) {
                        let (def, component) = operand(1 - number);
                        work.push((def, component, factor.wrapping_mul(value)));
                        continue;
                    }
                }
                AluOp::Ishl => {
                    if let Some(count) = constant_operand(1) {
                        let (def, component) = operand(0);
                        work.push((def, component, factor << (count & 31)));
                        continue;
                    }
                }
                _ if op.is_vec() => {
                    let source = body.source(inst, usize::from(component));
                    work.push((body.src_def(source), body.swizzle(source).get(0), factor));
                    continue;
                }
                _ => {}
            }
        }
        match terms.iter_mut().find(|term| (term.0, term.1) == (def, component)) {
            Some(term) => term.2 = term.2.wrapping_add(factor),
            None => terms.push((def, component, factor)),
        }
    }
    terms.retain(|term| term.2 != 0);
    (terms, constant)
}
