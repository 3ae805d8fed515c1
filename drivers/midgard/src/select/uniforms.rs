//! Uniforms: rows of uniform buffers as operands, and loads through run-time indices.

use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Def, Inst};
use tgsi_vec4::simple::{Destination, File, Source};

use super::Selector;
use super::memory::operand_register;
use super::operands::{composed, lane};
use super::resources::Number;
use crate::isa::alu::AluOp;
use crate::isa::load_store::{IndexFormat, LoadStore, LoadStoreOp, Operand};
use crate::isa::{LoadStoreRegister, Register};
use crate::lower::is_operand;
use crate::machine::{Op, Operation};
use crate::program::{SystemRow, UniformRow};

/// A load of 16 bytes of uniform buffer `buffer`, at an offset in bytes.
pub(crate) fn uniform_load(buffer: u32, offset: i32) -> LoadStore {
    let argument = LoadStoreRegister::from_code(buffer >> 2 & 7).unwrap_or(LoadStoreRegister::L0);
    LoadStore {
        argument: Operand { register: argument, component: buffer as u8 & 3 },
        is_wide: buffer >> 5 & 1 != 0,
        index_format: IndexFormat::from_code(buffer >> 6 & 3).unwrap_or(IndexFormat::Reserved),
        // The lowest bit: the number of the buffer is in the other fields.
        offset: (offset & 0xffff) << 2 | 1,
        ..LoadStore::new(LoadStoreOp::LdUbo128, Register::UNUSED)
    }
}

/// A row that no buffer has.
const LAST_ROW: u32 = 0xffff;

impl Selector<'_> {
    /// A row of a uniform buffer, as an operand.
    pub(super) fn uniform(&mut self, buffer: u32, row: u32) -> Source {
        let row = UniformRow { buffer, row };
        let uniforms = &mut self.uniforms;
        let number = *self.uniform_numbers.entry(row).or_insert_with(|| {
            uniforms.push(row);
            (uniforms.len() - 1) as i32
        });
        Source::new(File::Uniform, number)
    }

    /// A row of system values, as an operand.
    pub(super) fn system_row(&mut self, row: SystemRow) -> Source {
        let known = self.system_rows.iter().position(|&known| known == row);
        let number = known.unwrap_or_else(|| {
            self.system_rows.push(row);
            self.system_rows.len() - 1
        });
        self.uniform(self.system_buffer, number as u32)
    }

    /// Adds rows of system values in their order. Returns the number of the first one.
    pub(super) fn consecutive_rows(&mut self, rows: Vec<SystemRow>) -> u32 {
        let Some(&first) = rows.first() else { return 0 };
        let system_rows = &mut self.system_rows;
        *self.row_groups.entry((first, rows.len())).or_insert_with(|| {
            let number = system_rows.len() as u32;
            system_rows.extend(rows);
            number
        })
    }

    /// The number of the uniform buffer of block 0.
    fn first_block(&self) -> u32 {
        u32::from(!self.shader.info.first_ubo_is_default_ubo)
    }

    /// The number of a uniform buffer that does not exist: neither a block nor the system values.
    fn missing_buffer(&self) -> u32 {
        self.shader.info.num_ubos.saturating_add(self.first_block()).min(0xff)
    }

    /// The number of the uniform buffer of a block.
    fn buffer_of(&self, block: u32) -> u32 {
        block.wrapping_add(self.first_block()).min(self.missing_buffer())
    }

    /// The number of the uniform buffer of a load.
    fn buffer_number(&mut self, inst: Inst) -> Number {
        match self.block_of(inst, 0) {
            Number::Constant(block) => Number::Constant(self.buffer_of(block)),
            Number::Dynamic(block) => {
                let [first, missing] = [self.first_block(), self.missing_buffer()].map(|word| self.word(word));
                let number = lane(self.computed(AluOp::Iadd, 1, [block, first]), 0);
                Number::Dynamic(lane(self.computed(AluOp::Umin, 1, [number, missing]), 0))
            }
        }
    }

    /// The operand of a load of uniforms without run-time index.
    pub(super) fn uniform_in_place(&mut self, def: Def) -> Option<Source> {
        let body = self.body;
        if !is_operand(body, def) {
            return None;
        }
        let inst = body.def_inst(def);
        let constant = |number: usize| body.constant_component(body.src(inst, number), 0).map(|value| value as u32);
        match body.intrinsic(inst)? {
            IntrinsicOp::LoadUniform => {
                let row = body.base(inst).wrapping_add(constant(0)?);
                Some(self.uniform(0, row))
            }
            IntrinsicOp::LoadUboVec4 => {
                let row = body.base(inst).wrapping_add(constant(1)?);
                let first = body.component(inst);
                let source = self.uniform(self.buffer_of(constant(0)?), row);
                Some(composed(source, [0, 1, 2, 3].map(|c: u8| (first + c).min(3))))
            }
            IntrinsicOp::LoadUbo => {
                let offset = constant(1)?;
                let first = (offset / 4 % 4) as u8;
                let source = self.uniform(self.buffer_of(constant(0)?), offset / 16);
                Some(composed(source, [0, 1, 2, 3].map(|c: u8| (first + c).min(3))))
            }
            _ => None,
        }
    }

    pub(super) fn load_uniform(&mut self, inst: Inst) {
        let body = self.body;
        let Some(def) = body.inst_def(inst).filter(|&def| !is_operand(body, def)) else { return };
        let index = self.row_index(inst, 0, body.base(inst));
        let target = self.target(def);
        self.load_row(target, Number::Constant(0), (index, 4), 0, 0);
    }

    pub(super) fn load_ubo_vec4(&mut self, inst: Inst) {
        let body = self.body;
        let Some(def) = body.inst_def(inst).filter(|&def| !is_operand(body, def)) else { return };
        let buffer = self.buffer_number(inst);
        let index = self.row_index(inst, 1, body.index(inst, IndexKind::Base) as u32);
        let target = self.target(def);
        self.load_row(target, buffer, (index, 4), 0, body.component(inst));
    }

    pub(super) fn load_ubo(&mut self, inst: Inst) {
        let body = self.body;
        let Some(def) = body.inst_def(inst).filter(|&def| !is_operand(body, def)) else { return };
        let buffer = self.buffer_number(inst);
        let offset = self.source_of(body.source(inst, 1));
        let target = self.target(def);
        self.load_row(target, buffer, (offset, 0), 0, 0);
    }

    /// The number of a row: the sum of a source and a constant. Numbers that are beyond the end stay so when they are
    /// multiplied by the size of a row.
    fn row_index(&mut self, inst: Inst, source: usize, row: u32) -> Source {
        let index = self.source_of(self.body.source(inst, source));
        let index = self.plus(index, row);
        let last = self.word(LAST_ROW);
        lane(self.computed(AluOp::Umin, 1, [index, last]), 0)
    }

    /// Loads words from component `first` of a row on, which an index with a shift is added to.
    pub(super) fn load_row(&mut self, target: Destination, buffer: Number, index: (Source, u8), row: u32, first: u8) {
        let (mut index, shift) = index;
        // The offset is signed, with 16 bits.
        let mut offset = row.wrapping_mul(16);
        if offset > 0x7fff {
            let row = self.word(offset >> shift);
            index = self.computed(AluOp::Iadd, 1, [lane(index, 0), row]);
            offset = 0;
        }
        let number = self.next_operand();
        let operand = |component| Operand { register: operand_register(number), component };
        let register = self.set_operand(number, 0b01, lane(index, 0));
        let (load, address) = match buffer {
            Number::Constant(buffer) => (uniform_load(buffer, offset as i32), composed(register, [0; 4])),
            Number::Dynamic(buffer) => {
                self.set_operand(number, 0b10, lane(buffer, 0));
                let offset = (offset << 2) as i32;
                let load = LoadStore::new(LoadStoreOp::LdUbo128, Register::UNUSED);
                (LoadStore { argument: operand(1), offset, ..load }, register)
            }
        };
        let load = LoadStore { index: operand(0), shift, ..load };
        let operation = self.operation(Operation::LoadStore(load));
        let operation = composed(operation, [0, 1, 2, 3].map(|c: u8| (first + c).min(3)));
        self.load(target, operation, &[address]);
    }

    /// Appends a load.
    pub(super) fn load(&mut self, target: Destination, operation: Source, addresses: &[Source]) {
        let sources = std::iter::once(operation).chain(addresses.iter().copied());
        self.push(tgsi_vec4::simple::Instruction::new(Op::Load, Some(target), sources));
    }
}
