//! The walk over the instructions of a function and its blocks.
//!
//! `SWITCH` becomes a loop with one iteration:
//!
//! ```text
//! start = number of the section with the matching CASE, otherwise of DEFAULT, otherwise one beyond the last
//! loop {
//!     if (0 >= start) { section 0 }      // a section runs if it is the first or an earlier one was entered (fall through)
//!     if (1 >= start) { section 1 }
//!     break
//! }
//! ```
//!
//! A `BRK` of the switch is a `break` of that loop. A `CONT` of a loop around the switch sets a flag and breaks; the
//! flag is tested after the switch.
//!
//! Nothing may follow a jump in a list of the control tree: the instructions after a jump are skipped up to the end of
//! their TGSI block.

use hashbrown::HashMap;

use arrayvec::ArrayVec;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{AluFlags, JumpKind, Shape};
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::{Def, If, Inst, Loop};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::passes::lower_returns;
use tgsi_ir::{Body, Builder, Cursor, InstData};

use super::computed_lanes::Lanes;
use super::declarations::Context;
use super::sources::{Loaded, UnchangingLoad};
use tgsi::internals::NO_PARTNER;
use tgsi::shader::{Instruction, Register};
use tgsi::tables::{BlockPart, Class, Opcode, OperandType, Processor};

/// An open block.
enum Frame {
    If {
        id: If,
        /// The first side ends in a jump.
        then_left: bool,
        has_else: bool,
    },
    Loop {
        id: Loop,
        has_break: bool,
    },
    Switch {
        id: Loop,
        /// The section at which each lane starts.
        start: Def,
        /// Section of each label, by instruction number.
        sections: HashMap<u32, u32>,
        /// The open section.
        section: Option<If>,
        /// Flag that a `CONT` sets; none if there is no enclosing loop.
        flag: Option<Def>,
        /// The directly enclosing switch is in the same loop.
        nested: bool,
        continues: bool,
    },
}

/// Number of 32-bit constants that are cached.
pub(super) const KNOWN_WORDS: usize = 32;

/// Number of cached loads of registers that never change.
pub(super) const KNOWN_REGISTERS: usize = 16;

/// The translation of one function.
pub(super) struct Translator<'t, 's> {
    pub(super) context: &'t mut Context<'s>,
    pub(super) b: Builder<'t>,
    is_main: bool,
    frames: Vec<Frame>,
    /// The cursor is unreachable: instructions are skipped.
    unreachable: bool,
    /// Some path reaches the end of the function by a jump.
    returns: bool,
    /// Depth of blocks opened while skipping.
    skipped_depth: u32,
    /// Last instruction at the top of the function, after which constants are inserted.
    pub(super) top: Option<Inst>,
    pub(super) constants: HashMap<(u8, ArrayVec<u64, 16>), Def>,
    /// The constants of immediates, by number.
    pub(super) immediates: Vec<Option<Def>>,
    /// The most recently used 32-bit constants.
    pub(super) words: [Option<(u32, Def)>; KNOWN_WORDS],
    /// Registers loaded by the current instruction.
    pub(super) loaded: ArrayVec<(Register, Loaded), 8>,
    /// The most recent loads of registers that never change, by the low bits of their number.
    pub(super) unchanging: [Option<UnchangingLoad>; KNOWN_REGISTERS],
}

impl<'t, 's> Translator<'t, 's> {
    fn new(context: &'t mut Context<'s>, body: &'t mut Body, is_main: bool) -> Self {
        Translator {
            context,
            b: Builder::at_end(body),
            is_main,
            frames: Vec::new(),
            unreachable: false,
            returns: false,
            skipped_depth: 0,
            top: None,
            constants: HashMap::new(),
            immediates: Vec::new(),
            words: [None; KNOWN_WORDS],
            loaded: ArrayVec::new(),
            unchanging: [None; KNOWN_REGISTERS],
        }
    }

    pub(super) fn main(context: &'t mut Context<'s>, body: &'t mut Body) -> Self {
        Self::new(context, body, true)
    }

    pub(super) fn subroutine(context: &'t mut Context<'s>, body: &'t mut Body) -> Self {
        Self::new(context, body, false)
    }

    /// Translates instructions `from..to`. Stops early at `END`, or at the end of a subroutine that the main program
    /// falls through into.
    pub(super) fn translate(&mut self, from: u32, to: u32) {
        let shader = self.context.shader;
        for number in from..to {
            let Some(instruction) = shader.instructions.get(number as usize) else { break };
            if self.frames.is_empty() && self.skipped_depth == 0 {
                match instruction.opcode {
                    Opcode::End => {
                        self.note_end();
                        break;
                    }
                    Opcode::Endsub => break,
                    _ => {}
                }
            }
            if self.unreachable && !self.skip_to(instruction.opcode) {
                continue;
            }
            self.loaded.clear();
            self.b.flags = if instruction.precise { AluFlags::EXACT } else { AluFlags::NONE };
            self.b.body.set_origin(Some(number));
            self.instruction(number, instruction);
        }
        self.b.flags = AluFlags::NONE;
        self.b.body.set_origin(None);
        if self.is_main {
            self.end_of_main();
        }
    }

    /// Ends the main program: every `RET` jumps to its end, where the outputs are stored once.
    fn end_of_main(&mut self) {
        let stores = !matches!(self.context.shader.processor, Processor::Geometry | Processor::TessControl);
        if !stores || self.unreachable && !self.returns {
            return;
        }
        if self.returns {
            // This is the only function with a body so far.
            std::mem::swap(self.b.body, self.context.ir.main_mut());
            lower_returns(&mut self.context.ir);
            std::mem::swap(self.b.body, self.context.ir.main_mut());
            // Cached values may not dominate the end.
            self.loaded.clear();
            self.unchanging = [None; KNOWN_REGISTERS];
        }
        let last = self.b.body.body_list().last;
        self.b.cursor = Cursor::BlockEnd(last);
        self.store_outputs();
    }

    /// Whether skipping ends at this opcode: it closes or divides a block that was open when skipping began.
    fn skip_to(&mut self, opcode: Opcode) -> bool {
        match opcode.block() {
            Some(BlockPart::Opens) => {
                self.skipped_depth += 1;
                false
            }
            Some(BlockPart::Closes) if self.skipped_depth > 0 => {
                self.skipped_depth -= 1;
                false
            }
            Some(BlockPart::Divides | BlockPart::Closes) => self.skipped_depth == 0,
            None => false,
        }
    }

    fn jump(&mut self, kind: JumpKind) {
        self.b.jump(kind);
        self.unreachable = true;
    }

    fn instruction(&mut self, number: u32, instruction: &Instruction) {
        match instruction.opcode {
            Opcode::If | Opcode::Uif => self.open_if(instruction),
            Opcode::Else => self.divide_if(),
            Opcode::Endif => self.close_if(),
            Opcode::Bgnloop => {
                let id = self.b.push_loop();
                self.frames.push(Frame::Loop { id, has_break: false });
            }
            Opcode::Endloop => {
                if let Some(Frame::Loop { id, has_break }) = self.frames.pop() {
                    self.b.end_loop(id);
                    // A loop is left only by a break.
                    self.unreachable = !has_break;
                }
            }
            Opcode::Brk => self.leave(),
            Opcode::Cont => self.go_on(),
            Opcode::Switch => self.open_switch(number, instruction),
            Opcode::Case | Opcode::Default => self.open_section(number),
            Opcode::Endswitch => self.close_switch(),
            Opcode::Cal => {
                let callee = self.context.structure.partner.get(number as usize);
                if let Some(&function) = callee.and_then(|begin| self.context.subroutines.get(begin)) {
                    self.b.build(InstData::Call { callee: function, indirect: false }, &[], None);
                    self.leave_if_ended();
                }
            }
            Opcode::Ret => self.leave_function(),
            // An END within a block ends the shader for the lanes that reach it.
            Opcode::End => {
                self.note_end();
                self.leave_function();
            }
            Opcode::Bgnsub | Opcode::Endsub | Opcode::Nop => {}
            Opcode::Emit => self.emit(instruction),
            Opcode::Endprim => {
                let stream = self.stream(instruction);
                self.context.ir.info.gs.uses_end_primitive |= true;
                self.b.intrinsic(IntrinsicOp::EndPrimitive, &[], &[(IndexKind::StreamId, stream)], None);
            }
            _ => self.compute(instruction),
        }
    }

    /// Tells the callers of this subroutine that the shader has ended.
    fn note_end(&mut self) {
        if let Some(ended) = self.context.ended.filter(|_| !self.is_main) {
            let one = self.constant(1);
            self.store_single(ended, one, 1);
        }
    }

    /// Returns after a call that ended the shader.
    fn leave_if_ended(&mut self) {
        let Some(ended) = self.context.ended else { return };
        let (value, zero) = (self.load_single(ended), self.constant(0));
        let condition = self.b.alu_sized(AluOp::Ine, 1, &[value.into(), zero.into()]);
        let id = self.b.push_if(condition);
        self.b.jump(JumpKind::Return);
        self.b.end_if(id);
        self.returns = true;
    }

    fn leave_function(&mut self) {
        self.returns = true;
        if self.frames.is_empty() {
            // At the end of the body no jump is needed; the rest is unreachable.
            self.unreachable = true;
        } else {
            self.jump(JumpKind::Return);
        }
    }

    fn open_if(&mut self, instruction: &Instruction) {
        let Some(src) = instruction.src.first() else { return };
        let zero = self.constant(0);
        let condition = if instruction.opcode == Opcode::If {
            let value = self.fetch_channel(src, OperandType::Float, 0);
            self.b.alu_sized(AluOp::Fneu, 1, &[value, zero.into()])
        } else {
            let value = self.fetch_channel(src, OperandType::Uint, 0);
            self.b.alu_sized(AluOp::Ine, 1, &[value, zero.into()])
        };
        let id = self.b.push_if(condition);
        self.frames.push(Frame::If { id, then_left: false, has_else: false });
    }

    fn divide_if(&mut self) {
        if let Some(Frame::If { id, then_left, has_else }) = self.frames.last_mut() {
            *then_left = self.unreachable;
            *has_else = true;
            self.b.push_else(*id);
            self.unreachable = false;
        }
    }

    fn close_if(&mut self) {
        if let Some(Frame::If { id, then_left, has_else }) = self.frames.pop() {
            self.b.end_if(id);
            self.unreachable = has_else && then_left && self.unreachable;
        }
    }

    /// Translates `BRK`.
    fn leave(&mut self) {
        let innermost = self.frames.iter_mut().rev().find(|frame| !matches!(frame, Frame::If { .. }));
        match innermost {
            Some(Frame::Loop { has_break, .. }) => *has_break = true,
            Some(_) => {}
            None => return,
        }
        self.jump(JumpKind::Break);
    }

    /// Translates `CONT` of the innermost loop, through the switches in between.
    fn go_on(&mut self) {
        let innermost = self.frames.iter_mut().rev().find(|frame| !matches!(frame, Frame::If { .. }));
        match innermost {
            Some(Frame::Loop { .. }) => self.jump(JumpKind::Continue),
            Some(Frame::Switch { flag: Some(flag), continues, .. }) => {
                *continues = true;
                let flag = *flag;
                let yes = self.constant_of(1, &[1]);
                self.b.store_reg(yes, flag, 0, 1);
                self.jump(JumpKind::Break);
            }
            Some(Frame::Switch { flag: None, .. } | Frame::If { .. }) | None => {}
        }
    }

    fn open_switch(&mut self, number: u32, instruction: &Instruction) {
        let Some(src) = instruction.src.first() else { return };
        let shader = self.context.shader;
        let selector = self.scalar(src, OperandType::Uint, 0);
        // Labels in textual order, with the number of the section that each opens; consecutive labels share one.
        let partner = |t: &Self, label: u32| t.context.structure.partner.get(label as usize).copied();
        let mut sections = HashMap::new();
        let mut cases: Vec<(u32, Def)> = Vec::new();
        let mut default = None;
        let mut section = 0;
        let mut label = partner(self, number).unwrap_or(NO_PARTNER);
        let mut previous = None;
        while let Some(case) = shader.instructions.get(label as usize) {
            if !matches!(case.opcode, Opcode::Case | Opcode::Default) {
                break;
            }
            if previous.is_some_and(|previous| previous + 1 != label) {
                section += 1;
            }
            previous = Some(label);
            sections.insert(label, section);
            self.loaded.clear();
            match case.src.first() {
                Some(value) if case.opcode == Opcode::Case => {
                    let value = self.scalar(value, OperandType::Uint, 0);
                    cases.push((section, value));
                }
                _ => default = Some(section),
            }
            label = partner(self, label).unwrap_or(NO_PARTNER);
        }
        let beyond = section + 1;
        let mut start = self.constant(default.unwrap_or(beyond));
        for &(section, value) in cases.iter().rev() {
            let matches = self.b.alu(AluOp::Ieq, &[selector, value]);
            let own = self.constant(section);
            start = self.b.alu(AluOp::Bcsel, &[matches, own, start]);
        }
        // The flag of a loop's outermost switch is shared by the switches nested in it.
        let around = self.frames.iter().rev().find(|frame| !matches!(frame, Frame::If { .. }));
        let (flag, nested) = match around {
            Some(Frame::Switch { flag, .. }) => (*flag, true),
            Some(Frame::Loop { .. }) => {
                let flag = self.b.decl_reg(Shape::new(1, 1), 0);
                self.top = self.top.or_else(|| Some(self.b.body.def_inst(flag)));
                let no = self.constant_of(1, &[0]);
                self.b.store_reg(no, flag, 0, 1);
                (Some(flag), false)
            }
            _ => (None, false),
        };
        let id = self.b.push_loop();
        self.frames.push(Frame::Switch { id, start, sections, section: None, flag, nested, continues: false });
        // Code before the first label is unreachable.
        self.unreachable = true;
    }

    fn open_section(&mut self, number: u32) {
        let Some(Frame::Switch { start, sections, section, .. }) = self.frames.last_mut() else { return };
        let Some(&own) = sections.get(&number) else { return };
        let (start, before) = (*start, section.take());
        if let Some(id) = before {
            let previous = sections.get(&number.wrapping_sub(1)).copied();
            if previous == Some(own) {
                // The section is already open: consecutive labels.
                *section = Some(id);
                return;
            }
            self.b.end_if(id);
        }
        self.unreachable = false;
        let own = self.constant(own);
        let entered = self.b.alu(AluOp::Uge, &[own, start]);
        let id = self.b.push_if(entered);
        if let Some(Frame::Switch { section, .. }) = self.frames.last_mut() {
            *section = Some(id);
        }
    }

    fn close_switch(&mut self) {
        let Some(Frame::Switch { id, section, flag, nested, continues, .. }) = self.frames.pop() else { return };
        if let Some(section) = section {
            self.b.end_if(section);
        }
        self.b.jump(JumpKind::Break);
        self.b.end_loop(id);
        self.unreachable = false;
        if !continues {
            return;
        }
        let Some(flag) = flag else { return };
        let set = self.b.load_reg(flag, 0);
        let branch = self.b.push_if(set);
        if nested {
            if let Some(Frame::Switch { continues, .. }) =
                self.frames.iter_mut().rev().find(|frame| !matches!(frame, Frame::If { .. }))
            {
                *continues = true;
            }
            self.b.jump(JumpKind::Break);
        } else {
            self.b.jump(JumpKind::Continue);
        }
        self.b.end_if(branch);
    }

    /// The stream operand of `EMIT` and `ENDPRIM`.
    fn stream(&mut self, instruction: &Instruction) -> i32 {
        instruction.src.first().and_then(|src| self.known_word(src, 0)).map_or(0, |stream| (stream & 3) as i32)
    }

    fn emit(&mut self, instruction: &Instruction) {
        if self.context.shader.processor != Processor::Geometry {
            return;
        }
        let stream = self.stream(instruction);
        self.context.ir.info.gs.active_stream_mask |= 1 << stream;
        self.store_outputs();
        self.b.intrinsic(IntrinsicOp::EmitVertex, &[], &[(IndexKind::StreamId, stream)], None);
        self.clear_shadows();
    }

    fn compute(&mut self, instruction: &Instruction) {
        match instruction.opcode.class() {
            Class::Float | Class::Integer => self.alu(instruction),
            Class::Wide => self.alu64(instruction),
            Class::Packing => self.packing(instruction),
            Class::Lanes => self.lanes_opcode(instruction),
            Class::Texture => self.texture(instruction),
            Class::Memory => self.memory(instruction),
            Class::Control | Class::Geometry => {}
        }
    }

    /// Converts a boolean of `components` components to all ones or 0 in 32 bits.
    pub(super) fn truth(&mut self, value: AluSrc, components: u8) -> Def {
        let number = self.b.alu_sized(AluOp::B2i32, components, &[value]);
        self.b.alu_sized(AluOp::Ineg, components, &[number.into()])
    }

    /// Returns the lanes of the instruction's destination.
    pub(super) fn result_lanes(instruction: &Instruction) -> Lanes {
        instruction.dst.first().map_or(Lanes::first(4), Self::lanes)
    }
}
