//! Loads from places that differ by lane.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, Value as Ir};

use super::emitter::{Emitter, trusted_flags};
use crate::native::analysis::gathers::Gather;
use crate::native::runtime::context::offsets;

/// Words of a vector.
const VECTOR: u32 = 4;

impl Emitter<'_, '_> {
    /// Emits a load; returns one vector for each word.
    pub(super) fn gather(&mut self, gather: &Gather) -> Vec<Ir> {
        let (start, length) = self.memory(gather.memory);
        let index = self.read(gather.index.vector);
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
    pub(super) fn or_zeros(&mut self, inside: [Ir; 4], addresses: [Ir; 4]) -> [Ir; 4] {
        let zeros = self.builder.ins().iadd_imm(self.region.context, offsets::ZERO as i64);
        std::array::from_fn(|lane| self.builder.ins().select(inside[lane], addresses[lane], zeros))
    }

    /// Loads words `first..first + count` from an address of each lane.
    fn words_at(&mut self, addresses: [Ir; 4], first: u32, count: u32) -> Vec<Ir> {
        let mut words = Vec::with_capacity(count as usize);
        let mut at = first;
        while first + count - at >= VECTOR {
            let rows = addresses.map(|address| self.builder.ins().load(I32X4, trusted_flags(), address, at as i32 * 4));
            words.extend(self.lanes().transpose(rows));
            at += VECTOR;
        }
        for at in at..first + count {
            words.push(self.word_at(addresses, at as i32 * 4));
        }
        words
    }

    /// Loads the word at a byte offset from an address of each lane.
    pub(super) fn word_at(&mut self, addresses: [Ir; 4], bytes: i32) -> Ir {
        let [first, rest @ ..] = addresses.map(|address| self.builder.ins().load(I32, trusted_flags(), address, bytes));
        let mut word = self.builder.ins().scalar_to_vector(I32X4, first);
        for (lane, value) in (1..).zip(rest) {
            word = self.builder.ins().insertlane(word, value, lane);
        }
        word
    }
}
