//! Numbers of textures, samplers, images and buffers, which may be known at run time only.
//!
//! A run-time index beyond the end of an array gives a number beyond those that the program lists: the tables of the
//! loader decide whether it exists.

use tgsi_ir::body::DerefKind;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Def, Inst, InstData};
use tgsi_vec4::simple::{File, Source};

use super::Selector;
use super::operands::lane;
use crate::MidgardError;
use crate::isa::alu::AluOp;
use crate::machine::Op;
use crate::program::SystemRow;

/// An element of an array of textures, samplers or images.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    /// The number of the first element.
    first: u32,
    /// The number of elements.
    count: u32,
    /// The part of the index that is a constant.
    constant: u32,
    /// The rest of the index.
    index: Option<Source>,
}

/// A number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Number {
    Constant(u32),
    /// In the first component of an operand.
    Dynamic(Source),
}

impl Element {
    /// A resource that is not in an array.
    pub(super) fn single(number: u32) -> Element {
        Element { first: number, count: 1, constant: 0, index: None }
    }

    /// The numbers of all elements.
    pub(super) fn numbers(&self) -> std::ops::Range<u32> {
        self.first..self.first.saturating_add(self.count)
    }
}

impl Selector<'_> {
    /// Computes the index of an element of an array of textures, samplers or images, where its deref is.
    pub(super) fn select_deref(&mut self, inst: Inst) {
        let body = self.body;
        let (InstData::Deref { kind, modes, ty }, Some(def)) = (*body.inst(inst), body.inst_def(inst)) else { return };
        let types = &self.shader.types;
        if !modes.intersects(VariableModes::UNIFORM.union(VariableModes::IMAGE)) {
            return;
        }
        self.elements[def] = match kind {
            DerefKind::Var(variable) => {
                let variable = &self.shader.variables[variable];
                let count = types.array_elements(variable.ty);
                Some(Element { first: variable.binding, count, constant: 0, index: None })
            }
            DerefKind::Array => {
                let stride = types.array_elements(ty);
                let parent = self.elements[body.src(inst, 0)];
                parent.map(|parent| self.element_of(parent, body.src(inst, 1), stride))
            }
            _ => None,
        };
    }

    /// The element of a part of an array.
    fn element_of(&mut self, parent: Element, index: Def, stride: u32) -> Element {
        if let Some(index) = self.body.constant_component(index, 0) {
            let constant = parent.constant.saturating_add((index as u32).saturating_mul(stride));
            return Element { constant, ..parent };
        }
        let mut index = lane(self.source_of_def(index), 0);
        if stride != 1 {
            let stride = self.word(stride);
            index = lane(self.computed(AluOp::Imul, 1, [index, stride]), 0);
        }
        let index = match parent.index {
            Some(outer) => self.computed(AluOp::Iadd, 1, [lane(outer, 0), index]),
            // The operand may change before the use of the deref.
            None => self.computed(Op::Mov, 1, [index]),
        };
        Element { index: Some(lane(index, 0)), ..parent }
    }

    /// The element that a deref points to.
    pub(super) fn element_at(&self, inst: Inst, def: Def, what: &str) -> Result<Element, MidgardError> {
        self.elements[def].ok_or_else(|| self.lacks(inst, &format!("{what} in structures")))
    }

    /// The number of an element.
    pub(super) fn number_of(&mut self, element: Element) -> Number {
        let Element { first, constant, index, .. } = element;
        let constant = first.wrapping_add(constant);
        match index {
            None => Number::Constant(constant),
            Some(index) => Number::Dynamic(self.plus(index, constant)),
        }
    }

    /// The sum of the first component of an operand and a constant.
    pub(super) fn plus(&mut self, index: Source, constant: u32) -> Source {
        if constant == 0 {
            return lane(index, 0);
        }
        let constant = self.word(constant);
        lane(self.computed(AluOp::Iadd, 1, [lane(index, 0), constant]), 0)
    }

    /// The number of a block.
    pub(super) fn block_of(&mut self, inst: Inst, source: usize) -> Number {
        let source = self.body.source(inst, source);
        match self.constant_of(source) {
            Some(number) => Number::Constant(number),
            None => Number::Dynamic(lane(self.source_of(source), 0)),
        }
    }

    /// A row of system values of a resource, as an operand. `row` gives the row of a number; a run-time number from
    /// `count` on has the row of the one before.
    pub(super) fn numbered_row(&mut self, number: Number, count: u32, row: impl Fn(u32) -> SystemRow) -> Source {
        let index = match number {
            Number::Constant(number) => return self.system_row(row(number)),
            Number::Dynamic(index) => index,
        };
        let last = self.word(count.saturating_sub(1));
        let index = self.computed(AluOp::Umin, 1, [lane(index, 0), last]);
        self.row_at(index, (0..count).map(row).collect())
    }

    /// The row of system values of a texture or image. A run-time number beyond `end` gives the row of `end`, and a
    /// negative one that of an element that does not exist.
    pub(super) fn element_row(&mut self, number: Number, end: u32, row: impl Fn(u32) -> SystemRow) -> Source {
        match number {
            Number::Constant(number) => self.system_row(row(number)),
            Number::Dynamic(index) => {
                let index = self.limited(index, end);
                self.row_at(index, (0..=end).map(row).chain([SystemRow::Zero]).collect())
            }
        }
    }

    /// The index of a row: a signed number up to `end`, and the number after it for negative ones.
    pub(super) fn limited(&mut self, index: Source, end: u32) -> Source {
        let [last, negative] = [end, end + 1].map(|word| self.word(word));
        let index = lane(self.computed(AluOp::Imin, 1, [lane(index, 0), last]), 0);
        lane(self.computed(AluOp::Umin, 1, [index, negative]), 0)
    }

    /// One of consecutive rows of system values, by an index that has a row.
    pub(super) fn row_at(&mut self, index: Source, rows: Vec<SystemRow>) -> Source {
        let first = self.consecutive_rows(rows);
        let temp = self.new_temp();
        let to = tgsi_vec4::simple::Destination::new(File::Temporary, temp.index, 15);
        self.load_row(to, Number::Constant(self.system_buffer), (index, 4), first, 0);
        temp
    }
}
