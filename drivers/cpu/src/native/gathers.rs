//! Loads from places that differ by lane: constant buffers with dynamic indices, storage buffers, shared memory.
//!
//! Each lane's address is checked against the length of the memory before it is read; lanes out of bounds read the
//! zeros of the context.

use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::run::program::{Intrinsic, Program, Value};

use super::context::{Memory, ZEROS};
use super::uniforms;

/// The number of storage buffers that code can access. Others are left to the interpreter.
pub(super) const MAX_STORAGE: u32 = 16;

/// A load from a place that differs by lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gather {
    /// The memory it reads.
    pub memory: Memory,
    /// The place that each lane reads, in units of `1 << shift` bytes: `index + base`, in 32 bits.
    pub index: Value,
    pub base: u32,
    pub shift: u32,
    /// Bytes to add.
    pub first: u32,
    /// The number of words.
    pub words: u32,
    /// The number of words that are zero together unless all of them are in bounds.
    pub together: u32,
}

/// Returns the load of an intrinsic, if code can perform it.
pub(super) fn gather(program: &Program, intrinsic: &Intrinsic) -> Option<Gather> {
    use IntrinsicOp as I;
    let sources = program.sources_of(intrinsic);
    let component = intrinsic.index(IndexKind::Component) as u32 & 3;
    let (memory, index, base, shift, first) = match intrinsic.op {
        I::LoadUniform => (uniforms::constant_buffer(0)?, 0, intrinsic.base, 4, 0),
        I::LoadUboVec4 => (uniforms::ubo(program, intrinsic)?, 1, intrinsic.base, 4, component * 4),
        I::LoadUbo => (uniforms::ubo(program, intrinsic)?, 1, 0, 0, 0),
        I::LoadSsbo => {
            let block = program.constant(*sources.first()?).filter(|&block| block < MAX_STORAGE)?;
            (Memory::Storage(block), 1, intrinsic.base, 0, 0)
        }
        I::LoadShared => (Memory::Shared, 0, intrinsic.base, 0, 0),
        _ => return None,
    };
    let index = *sources.get(index)?;
    let words = intrinsic.dest.planes();
    let fits = matches!(intrinsic.dest.bits, 32 | 64) && index.bits == 32 && words as usize * 4 <= ZEROS;
    let together = uniforms::together(intrinsic);
    fits.then_some(Gather { memory, index, base: base as u32, shift, first, words, together })
}

#[cfg(feature = "machine-code")]
mod code {
    use cranelift_codegen::ir::condcodes::IntCC;
    use cranelift_codegen::ir::types::{I32, I32X4, I64};
    use cranelift_codegen::ir::{InstBuilder, Value as Ir};

    use super::Gather;
    use crate::native::context::offsets;
    use crate::native::emit::{Emitter, trusted};

    /// Words of a vector.
    const VECTOR: u32 = 4;

    impl Emitter<'_, '_> {
        /// Emits a load; returns one vector for each word.
        pub(in crate::native) fn gather(&mut self, gather: &Gather) -> Vec<Ir> {
            let (start, length) = self.memory(gather.memory);
            let index = self.read(gather.index.plane);
            let index = if gather.base == 0 {
                index
            } else {
                let base = self.lanes().splat(gather.base);
                self.builder.ins().iadd(index, base)
            };
            // Bytes from the start. They cannot overflow: 32 bits, shifted by four, and a few more bytes.
            let places = [0, 1, 2, 3].map(|lane| {
                let index = self.builder.ins().extractlane(index, lane);
                let place = self.builder.ins().uextend(I64, index);
                let place = self.builder.ins().ishl_imm(place, i64::from(gather.shift));
                self.builder.ins().iadd_imm(place, i64::from(gather.first))
            });
            let ends_inside = |emitter: &mut Self, place: Ir, words: u32| {
                let end = emitter.builder.ins().iadd_imm(place, i64::from(words) * 4);
                emitter.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, length)
            };
            let inside = places.map(|place| ends_inside(self, place, gather.words));
            let addresses = places.map(|place| self.builder.ins().iadd(start, place));
            if gather.together == gather.words {
                let addresses = self.or_zeros(inside, addresses);
                return self.words_at(addresses, 0, gather.words);
            }
            // Usually everything is in bounds. Otherwise each group of words is checked separately.
            let results: Vec<_> = (0..gather.words).map(|_| self.builder.declare_var(I32X4)).collect();
            let all = inside.into_iter().reduce(|a, b| self.builder.ins().band(a, b)).unwrap_or(start);
            let (whole, parts, merge) =
                (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
            self.builder.ins().brif(all, whole, &[], parts, &[]);
            self.builder.switch_to_block(whole);
            self.builder.seal_block(whole);
            let words = self.words_at(addresses, 0, gather.words);
            results.iter().zip(words).for_each(|(&result, word)| self.builder.def_var(result, word));
            self.builder.ins().jump(merge, &[]);
            self.builder.set_cold_block(parts);
            self.builder.switch_to_block(parts);
            self.builder.seal_block(parts);
            for first in (0..gather.words).step_by(gather.together as usize) {
                let inside = places.map(|place| ends_inside(self, place, first + gather.together));
                let first_bytes = i64::from(first) * 4;
                let starts = addresses.map(|address| self.builder.ins().iadd_imm(address, first_bytes));
                let starts = self.or_zeros(inside, starts);
                let words = self.words_at(starts, 0, gather.together);
                let results = &results[first as usize..];
                results.iter().zip(words).for_each(|(&result, word)| self.builder.def_var(result, word));
            }
            self.builder.ins().jump(merge, &[]);
            self.builder.switch_to_block(merge);
            self.builder.seal_block(merge);
            results.into_iter().map(|result| self.builder.use_var(result)).collect()
        }

        /// Returns the addresses where a condition holds, else the address of the zeros.
        pub(in crate::native) fn or_zeros(&mut self, inside: [Ir; 4], addresses: [Ir; 4]) -> [Ir; 4] {
            let zeros = self.builder.ins().iadd_imm(self.context, offsets::ZERO as i64);
            std::array::from_fn(|lane| self.builder.ins().select(inside[lane], addresses[lane], zeros))
        }

        /// Loads words `first..first + count` from an address of each lane.
        fn words_at(&mut self, addresses: [Ir; 4], first: u32, count: u32) -> Vec<Ir> {
            let mut words = Vec::with_capacity(count as usize);
            let mut at = first;
            while first + count - at >= VECTOR {
                let rows = addresses.map(|address| self.builder.ins().load(I32X4, trusted(), address, at as i32 * 4));
                words.extend(self.lanes().transpose(rows));
                at += VECTOR;
            }
            for at in at..first + count {
                words.push(self.word_at(addresses, at as i32 * 4));
            }
            words
        }

        /// Loads the word at a byte offset from an address of each lane.
        pub(in crate::native) fn word_at(&mut self, addresses: [Ir; 4], bytes: i32) -> Ir {
            let [first, rest @ ..] = addresses.map(|address| self.builder.ins().load(I32, trusted(), address, bytes));
            let mut word = self.builder.ins().scalar_to_vector(I32X4, first);
            for (lane, value) in (1..).zip(rest) {
                word = self.builder.ins().insertlane(word, value, lane);
            }
            word
        }
    }
}
