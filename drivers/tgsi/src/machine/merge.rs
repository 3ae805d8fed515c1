//! Merging of instructions that do the same to different components.

use std::hash::{Hash, Hasher};

use arrayvec::ArrayVec;
use rustc_hash::FxHasher;
use tgsi::shader::{Instruction, Register, Src};
use tgsi::tables::File;
use tgsi_vec4::{Allocate, Merge, Traits, Vectorize};

use super::operands::{immediate_value, is_immediate_value, permute, same_register};
use super::{Immediates, RegisterAccess, Tgsi};

impl Merge for Tgsi {
    fn merged(
        &self,
        immediates: &mut Immediates,
        a: &Instruction,
        access: &RegisterAccess,
        b: &Instruction,
    ) -> Option<Instruction> {
        if a.opcode != b.opcode || a.saturate != b.saturate || a.precise != b.precise || a.src.len() != b.src.len() {
            return None;
        }
        let (da, db) = (a.dst.first()?, b.dst.first()?);
        if da.register != db.register || da.write_mask & db.write_mask != 0 || da.register.dimension.is_some() {
            return None;
        }
        let is_replicated = access.traits.any(Traits::REPLICATED);
        let fits = a.src.iter().zip(&b.src).enumerate().all(|(s, (x, y))| {
            if is_replicated {
                let channels = access.channels(s);
                same_register(x, y) && (0..4).all(|c| channels & 1 << c == 0 || x.swizzle[c] == y.swizzle[c])
            } else {
                same_register(x, y) || is_immediate_value(a.opcode, s, x) && is_immediate_value(a.opcode, s, y)
            }
        });
        if !fits || !self.rules.allows_mask(a, da.write_mask | db.write_mask) {
            return None;
        }
        let mut merged = a.clone();
        merged.dst[0].write_mask |= db.write_mask;
        if is_replicated {
            return Some(merged);
        }
        // Sources that need a new immediate, with its words.
        let mut rows: ArrayVec<(usize, [u32; 4]), 5> = ArrayVec::new();
        for s in 0..a.src.len() {
            let (x, y): (&Src, &Src) = (&a.src[s], &b.src[s]);
            if same_register(x, y) {
                for c in (0..4).filter(|c| da.write_mask & 1 << c == 0) {
                    merged.src[s].swizzle[c] = y.swizzle[c];
                }
            } else {
                let mut words = immediate_value(immediates, a.opcode, s, x)?;
                let other = immediate_value(immediates, a.opcode, s, y)?;
                for c in (0..4).filter(|c| db.write_mask & 1 << c != 0) {
                    words[c] = other[c];
                }
                rows.push((s, words));
            }
        }
        if self.overwrites_itself(&merged) {
            return None;
        }
        for (source, words) in rows {
            let src = &mut merged.src[source];
            src.register = Register::new(File::Immediate, immediates.intern(words));
            src.swizzle = [0, 1, 2, 3];
            (src.absolute, src.negate) = (false, false);
        }
        Some(merged)
    }
}

impl Vectorize for Tgsi {
    /// Ignores swizzles and the words of immediates.
    fn hash(&self, instruction: &Instruction) -> u32 {
        let mut hasher = FxHasher::default();
        let flags = u64::from(instruction.saturate) | u64::from(instruction.precise) << 1;
        hasher.write_u64(instruction.opcode as u64 | flags << 8);
        for (number, src) in instruction.src.iter().enumerate() {
            let register = &src.register;
            if is_immediate_value(instruction.opcode, number, src) {
                hasher.write_u64(u64::MAX);
                continue;
            }
            let flags = u64::from(src.absolute) | u64::from(src.negate) << 1;
            hasher.write_u64(register.file as u64 | flags << 8 | u64::from(register.index as u32) << 16);
            if register.indirect.is_some() || register.dimension.is_some() {
                (register.indirect, register.dimension).hash(&mut hasher);
            }
        }
        hasher.finish() as u32
    }

    fn moved_to(&self, instruction: &Instruction, other: &Instruction, mask: u8, from: [u8; 4]) -> Instruction {
        let mut moved = instruction.clone();
        permute(&mut moved, mask, from);
        if let (Some(dst), Some(other)) = (moved.dst.first_mut(), other.dst.first()) {
            dst.register = other.register;
        }
        moved
    }
}
