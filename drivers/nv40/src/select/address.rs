//! Run-time indices: constants are addressed by a component of an address register.
//!
//! Each component holds one index until the block ends, the value changes or another index needs the component; the
//! least recently loaded is replaced first.

use tgsi_ir::Def;
use tgsi_ir::alu::AluOp;
use tgsi_registers::chase;
use tgsi_vec4::simple::{Destination, File, Relative, Source};

use super::Selector;
use super::operands::lane;
use crate::lower::is_whole;
use crate::machine::{ADDRESSES, Code};

/// Components of the two address registers.
const COMPONENTS: u8 = 8;

/// The operands that the components of the address registers were loaded from.
#[derive(Default)]
pub(super) struct Addresses {
    loaded: [Option<Source>; COMPONENTS as usize],
    next: u8,
}

impl Addresses {
    pub(super) fn forget(&mut self) {
        self.loaded = [None; COMPONENTS as usize];
    }

    pub(super) fn forget_register(&mut self, index: i32) {
        for loaded in &mut self.loaded {
            loaded.take_if(|source| source.file == File::Temporary && source.index == index);
        }
    }
}

/// The bound of the numbers that are split off an index, which floats represent.
const MAX_OFFSET: f32 = 65_536.0;

impl Selector<'_> {
    /// Loads an index, a whole number. Returns the component, and a number to be added that is not negative.
    pub(super) fn load_address(&mut self, index: Def, base: i32) -> (Relative, i32) {
        let body = self.body;
        let mut offset = base;
        let mut def = index;
        let mut component = 0u8;
        // Constants that are added become part of the base. Registers that are assigned in the IR hold operands only
        // until their uses there.
        let steps = if self.assignment.is_none() { 16 } else { 0 };
        for _ in 0..steps {
            let inst = body.def_inst(def);
            match body.alu_op(inst) {
                Some(AluOp::F2i32 | AluOp::Mov) => {
                    let source = body.source(inst, 0);
                    component = body.swizzle(source).get(usize::from(component));
                    def = body.src_def(source);
                }
                Some(AluOp::Fadd) => {
                    let constant = |number: usize| {
                        let source = body.source(inst, number);
                        let selected = body.swizzle(source).get(usize::from(component));
                        let word = body.constant_component(body.src_def(source), usize::from(selected))?;
                        let value = f32::from_bits(word as u32);
                        (value.trunc() == value && value.abs() < MAX_OFFSET).then_some(value as i32)
                    };
                    let Some((number, added)) = (0..2).find_map(|n| Some((n, constant(n)?))) else { break };
                    let rest = body.source(inst, 1 - number);
                    let whole = body.alu_op(body.def_inst(body.src_def(rest)));
                    let is_number = whole.is_some_and(|op| is_whole(op) || op == AluOp::Fadd);
                    if !is_number || offset.saturating_add(added) < 0 {
                        break;
                    }
                    offset += added;
                    component = body.swizzle(rest).get(usize::from(component));
                    def = body.src_def(rest);
                }
                _ => break,
            }
        }
        let floor = body.def_inst(def);
        if body.alu_op(floor) == Some(AluOp::Ffloor) && self.assignment.is_none() && offset >= 0 {
            // The address register takes the floor.
            let operand = self.alu_source(floor, 0, 1 << (component & 3));
            return (self.load_component(lane(operand, component)), offset);
        }
        let operand = match chase::load_reg_for_def(body, def).and_then(|load| chase::accessed_register(body, load)) {
            Some(register) => self.temp_of(register.handle),
            None => self.value(def),
        };
        let mut operand = lane(operand, component);
        if offset < 0 {
            let number = self.float(offset as f32);
            operand = lane(self.computed(Code::Add, 1, [operand, number]), 0);
            offset = 0;
        }
        (self.load_component(operand), offset)
    }

    /// Loads an operand into a component of an address register, if none holds it.
    fn load_component(&mut self, operand: Source) -> Relative {
        let known = self.addresses.loaded.iter().position(|loaded| *loaded == Some(operand));
        let number = known.map_or_else(
            || {
                let number = self.addresses.next;
                self.addresses.next = (number + 1) % COMPONENTS;
                number
            },
            |known| known as u8,
        );
        let relative = Relative { register: ADDRESSES + number / 4, component: number % 4 };
        if known.is_none() {
            let to = Destination::new(File::Special, relative.register.into(), 1 << relative.component);
            // Other indices are whole numbers, of which the floor is the number.
            self.emit(Code::Arl, to, [operand]);
            self.addresses.loaded[usize::from(number)] = Some(operand);
        }
        relative
    }
}
