//! Arrays of lane vectors with dynamic indices: registers, and inputs. Such registers stay in memory, in the lane
//! vectors of the interpreter; others are variables of the code generator.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, Value as Ir};
use tgsi_ir::intrinsics::IndexKind;
use tgsi_ir::run::native::{Intrinsic, Value};

use super::emitter::{Emitter, trusted_flags};
use crate::native::analysis::accesses::written_vectors;
use crate::native::runtime::context::offsets;

/// The element of an array that each lane accesses.
struct Element {
    /// Whether the element exists.
    exists: [Ir; 4],
    /// Whether all lanes access the same existing element.
    same: Ir,
    /// Addresses in the first lane vector: of the quad in the first element, of the quad in the element of lane 0, and
    /// of each lane's word in its element.
    of_first: Ir,
    of_lanes: [Ir; 4],
    /// Bytes of a lane vector.
    stride: Ir,
}

impl Emitter<'_, '_> {
    /// Returns the element `index + base` of an array with `elements` elements. `start` is the address of the quad in
    /// the array's first lane vector; an element has `vectors` lane vectors of `stride` bytes.
    fn element(&mut self, index: Value, base: u32, elements: u32, start: Ir, vectors: u32, stride: Ir) -> Element {
        let (index, base) = (self.read(index.vector), self.lanes().splat(base));
        let index = self.builder.ins().iadd(index, base);
        let number = [0, 1, 2, 3].map(|lane| self.builder.ins().extractlane(index, lane));
        let elements = i64::from(elements);
        let exists = number.map(|number| self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, number, elements));
        let of_first = self.lanes().splat_value(number[0]);
        let equal = self.builder.ins().icmp(IntCC::Equal, index, of_first);
        let equal = self.builder.ins().vall_true(equal);
        let same = self.builder.ins().band(equal, exists[0]);
        let row = self.builder.ins().imul_imm(stride, i64::from(vectors));
        let rows = number.map(|number| {
            let number = self.builder.ins().uextend(I64, number);
            let distance = self.builder.ins().imul(number, row);
            self.builder.ins().iadd(start, distance)
        });
        let of_lanes = std::array::from_fn(|lane| self.builder.ins().iadd_imm(rows[lane], lane as i64 * 4));
        Element { exists, same, of_first: rows[0], of_lanes, stride }
    }

    /// Returns the element of a register that an access selects by one of its sources.
    fn element_of_register(&mut self, intrinsic: &Intrinsic, index_source: usize) -> Element {
        let program = self.function.program;
        let register = program.registers()[intrinsic.extra as usize];
        let index = program.sources_of(intrinsic)[index_source];
        let start = self.address(program.num_value_vectors() + register.vector);
        let stride = self.region.stride;
        self.element(index, intrinsic.base as u32, register.elements, start, register.stride(), stride)
    }

    /// Emits code for two cases, the second of which is rare.
    fn either(&mut self, condition: Ir, first: impl FnOnce(&mut Self), second: impl FnOnce(&mut Self)) {
        let (then, otherwise, merge) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(condition, then, &[], otherwise, &[]);
        self.builder.switch_to_block(then);
        self.builder.seal_block(then);
        first(self);
        self.builder.ins().jump(merge, &[]);
        self.builder.switch_to_block(otherwise);
        self.builder.seal_block(otherwise);
        second(self);
        self.builder.ins().jump(merge, &[]);
        self.builder.switch_to_block(merge);
        self.builder.seal_block(merge);
    }

    /// Emits `load_reg_indirect`: the lane vectors of the element; zeros for missing elements or lane vectors.
    pub(super) fn load_element(&mut self, intrinsic: &Intrinsic) -> Vec<Ir> {
        let element = self.element_of_register(intrinsic, 1);
        let vectors = self.function.program.registers()[intrinsic.extra as usize].stride();
        let wanted = intrinsic.dest.vectors();
        let mut values = self.load_vectors(&element, wanted.min(vectors));
        values.resize_with(wanted as usize, || self.lanes().splat(0));
        values
    }

    /// Emits `load_input` with a dynamic index: the components of the register; zeros beyond the range of the access.
    pub(super) fn load_input_element(&mut self, intrinsic: &Intrinsic) -> Vec<Ir> {
        let Some(&index) = self.function.program.sources_of(intrinsic).last() else { return Vec::new() };
        let range = intrinsic.index(IndexKind::Range) as u32;
        let first = intrinsic.base as u32 * 4 + u32::from(intrinsic.first_component());
        let (start, stride) = self.component_address(offsets::INPUTS, offsets::INPUT_STRIDE, first);
        let element = self.element(index, 0, range, start, 4, stride);
        self.load_vectors(&element, intrinsic.dest.components.into())
    }

    /// Loads the first lane vectors of an element.
    fn load_vectors(&mut self, element: &Element, vectors: u32) -> Vec<Ir> {
        let results: Vec<_> = (0..vectors).map(|_| self.builder.declare_var(I32X4)).collect();
        let distance = |emitter: &mut Self, address: Ir, vector: usize| {
            let distance = emitter.builder.ins().imul_imm(element.stride, vector as i64);
            emitter.builder.ins().iadd(address, distance)
        };
        self.either(
            element.same,
            |emitter| {
                for (vector, &result) in results.iter().enumerate() {
                    let address = distance(emitter, element.of_first, vector);
                    let value = emitter.builder.ins().load(I32X4, trusted_flags(), address, 0);
                    emitter.builder.def_var(result, value);
                }
            },
            |emitter| {
                for (vector, &result) in results.iter().enumerate() {
                    let addresses = element.of_lanes.map(|address| distance(emitter, address, vector));
                    let addresses = emitter.or_zeros(element.exists, addresses);
                    let value = emitter.word_at(addresses, 0);
                    emitter.builder.def_var(result, value);
                }
            },
        );
        results.into_iter().map(|result| self.builder.use_var(result)).collect()
    }

    /// Emits `store_reg_indirect`: the written lane vectors of the element in the active lanes; nothing if the element
    /// does not exist.
    pub(super) fn store_element(&mut self, intrinsic: &Intrinsic) {
        let program = self.function.program;
        let element = self.element_of_register(intrinsic, 2);
        let saturate = intrinsic.index(IndexKind::LegacyFsat) != 0;
        let mut words = Vec::new();
        for (from, to) in written_vectors(program, intrinsic) {
            let word = self.read(from);
            let word = if saturate { self.lanes().saturate(word) } else { word };
            let distance = self.builder.ins().imul_imm(element.stride, i64::from(to));
            words.push((word, distance));
        }
        let active = self.builder.use_var(self.masks.active);
        self.either(
            element.same,
            |emitter| {
                for &(word, distance) in &words {
                    let address = emitter.builder.ins().iadd(element.of_first, distance);
                    let old = emitter.builder.ins().load(I32X4, trusted_flags(), address, 0);
                    let word = emitter.lanes().select(active, word, old);
                    emitter.builder.ins().store(trusted_flags(), word, address, 0);
                }
            },
            |emitter| {
                // Lanes that must not be written are redirected to a location that is never read.
                let slot = emitter.area(1);
                let nowhere = emitter.builder.ins().stack_addr(I64, slot, 0);
                for lane in 0..4 {
                    let mask = emitter.builder.ins().extractlane(active, lane as u8);
                    let is_active = emitter.builder.ins().icmp_imm(IntCC::NotEqual, mask, 0);
                    let written = emitter.builder.ins().band(is_active, element.exists[lane]);
                    for &(word, distance) in &words {
                        let address = emitter.builder.ins().iadd(element.of_lanes[lane], distance);
                        let address = emitter.builder.ins().select(written, address, nowhere);
                        let word = emitter.builder.ins().extractlane(word, lane as u8);
                        emitter.builder.ins().store(trusted_flags(), word, address, 0);
                    }
                }
            },
        );
    }
}
