//! Operations of fragment programs: planes, payload, derivatives, live lanes.

use super::emit::{Emitter, LIVE, channels, dword, flag_word, lanes, word};
use super::operands::Place;
use super::operation::{EvaluationPlace, FragmentOp, PayloadValue};
use crate::isa::{
    AccessMode, Branch, Condition, Destination, ExecutionSize, HorizontalStride, Immediate, Instruction, Opcode,
    Operand, Predicate, PredicateControl, Region, Register, SharedFunction, Swizzle, ThreadControl, Type,
    VerticalStride, Width, descriptor,
};
use crate::machine::{MachineInstruction, Op, Program};
use crate::message::{BufferAccess, Message};

use super::operation::TypedAccess;

/// Numbers of 0 to 7 for eight lanes.
const LANE_NUMBERS: Immediate = Immediate::Uv(0x7654_3210);

/// Whether an instruction depends on live lanes.
fn depends_on_live(op: Op) -> bool {
    match op {
        Op::Fragment(FragmentOp::Kill | FragmentOp::Payload(PayloadValue::IsHelper)) => true,
        Op::Fragment(FragmentOp::Typed(message)) => message.access != TypedAccess::Read,
        Op::Message(Message::Buffer(message)) => !matches!(message.access, BufferAccess::Read { .. }),
        _ => false,
    }
}

/// A word of 16 bits of a header.
fn header_word(register: u8, number: u8, ty: Type, region: Region) -> Operand {
    Operand::new(Register::general(register).at(2 * number), ty, region)
}

impl Emitter<'_> {
    /// Whether the program needs the flags of live lanes.
    pub(super) fn needs_live(&self, program: &Program) -> bool {
        self.interface.kills || program.instructions().iter().any(|instruction| depends_on_live(instruction.op))
    }

    /// Sets the flags of lanes that are not helpers.
    pub(super) fn set_live(&mut self) {
        let to = Destination::new(flag_word(LIVE), Type::Uw);
        self.push(word(Opcode::Mov, to, [header_word(1, 14, Type::Uw, Region::SCALAR).into()]));
    }

    /// The register that an operation writes.
    fn result(&self, instruction: &MachineInstruction) -> Option<u8> {
        let to = instruction.destination?;
        self.operands.register(&to, channels(to.mask).next()?)
    }

    pub(super) fn fragment(&mut self, instruction: &MachineInstruction, op: FragmentOp) -> Option<()> {
        match op {
            FragmentOp::Plane { attribute, component, coordinates } => {
                let coordinates = self.interface.payload.coordinates(coordinates);
                self.plane(instruction, attribute, component, coordinates)
            }
            FragmentOp::PlaneAt { attribute, component } => {
                let coordinates = self.pair(instruction)?;
                self.plane(instruction, attribute, component, coordinates)
            }
            FragmentOp::Interpolate { place, is_linear } => self.interpolate(instruction, place, is_linear),
            FragmentOp::Payload(value) => self.payload(instruction, value),
            FragmentOp::Derivative { is_vertical, is_fine } => self.derivative(instruction, is_vertical, is_fine),
            FragmentOp::Kill => self.kill(instruction),
            FragmentOp::Lookup(lookup) => self.lookup(instruction, lookup),
            FragmentOp::Typed(message) => self.typed(instruction, message),
            FragmentOp::Fill(place) => self.fill(instruction, place),
            FragmentOp::Spill(place) => self.spill(instruction, place),
        }
    }

    /// A component of an attribute at coordinates in two registers.
    fn plane(&mut self, instruction: &MachineInstruction, attribute: u8, component: u8, at: u8) -> Option<()> {
        let register =
            self.operands.layout.attributes.checked_add(attribute.checked_mul(2)?)?.checked_add(component / 2)?;
        let plane = Operand::scalar(register, component % 2 * 16, Type::F);
        let to = Destination::general(self.result(instruction)?, Type::F);
        self.push(lanes(Opcode::Pln, to, [plane.into(), Operand::linear(at, Type::F).into()]));
        Some(())
    }

    /// Two consecutive registers, the first an even one, with x and y of the source.
    fn pair(&mut self, instruction: &MachineInstruction) -> Option<u8> {
        let source = instruction.sources.first()?;
        let places = [self.operands.source_place(source, 0)?, self.operands.source_place(source, 1)?];
        if let [Place::Lanes(x), Place::Lanes(y)] = places
            && y == x + 1
        {
            return Some(x);
        }
        let first = self.operands.layout.memory;
        self.load_payload(first, source, 0)?;
        self.load_payload(first + 1, source, 1)?;
        Some(first)
    }

    /// A message to the pixel interpolator.
    fn interpolate(&mut self, instruction: &MachineInstruction, place: EvaluationPlace, is_linear: bool) -> Option<()> {
        let to = Destination::general(self.operands.register(&instruction.destination?, 0)?, Type::F);
        let (bits, payload, length) = match place {
            EvaluationPlace::Sample(number) => (1 << 12 | u32::from(number) << 4, 0, 1),
            EvaluationPlace::Offset => (3 << 12, self.pair(instruction)?, 2),
        };
        let bits = descriptor(bits | u32::from(is_linear) << 14, false, 2, length);
        let payload = Operand::linear(payload, Type::F);
        self.push(Instruction::send(SharedFunction::PixelInterpolator, bits, AccessMode::Align1, to, payload));
        Some(())
    }

    /// The difference of neighbours. The coarse ones are those of the lower row and of the left column.
    fn derivative(&mut self, instruction: &MachineInstruction, is_vertical: bool, is_fine: bool) -> Option<()> {
        let to = Destination::general(self.result(instruction)?, Type::F);
        let source = instruction.sources.first()?;
        let channel = channels(instruction.destination?.mask).next()?;
        let Some(Place::Lanes(register)) = self.operands.source_place(source, channel) else { return None };
        let (minus, plus) = match (is_vertical, is_fine) {
            (false, true) => ([0, 0, 2, 2], [1, 1, 3, 3]),
            (false, false) => ([2; 4], [3; 4]),
            (true, true) => ([0, 1, 0, 1], [2, 3, 2, 3]),
            (true, false) => ([0; 4], [2; 4]),
        };
        let [minus, plus] = [minus, plus].map(|lanes| Operand::vectors(register, Type::F, Swizzle::new(lanes)));
        // Regions of align1 cannot repeat two of four lanes.
        self.push(Instruction::vector(Opcode::Add, to, [plus.into(), minus.negated().into()]));
        Some(())
    }

    /// Clears the flags of enabled lanes that a condition kills.
    fn kill(&mut self, instruction: &MachineInstruction) -> Option<()> {
        let (condition, first, second) = match instruction.sources.first() {
            Some(source) => (Condition::Z, self.operands.source(source, Type::D, 0)?, Immediate::D(0).into()),
            // A number differs from itself nowhere.
            None => (Condition::Nz, Operand::linear(0, Type::D).into(), Operand::linear(0, Type::D).into()),
        };
        let mut compare = lanes(Opcode::Cmp, Destination::null(Type::D), [first, second]);
        compare.thread = ThreadControl::Switch;
        self.push(compare.with_condition(condition).with_flag(LIVE).with_predicate(Predicate::NORMAL));
        // Quads without live lanes end, as nothing depends on them.
        let any = Predicate { control: PredicateControl::Any4, inverse: true };
        self.push(self.halt().with_flag(LIVE).with_predicate(any));
        Some(())
    }

    /// The end for enabled lanes, at the last instruction of this kind.
    pub(super) fn halt(&self) -> Instruction {
        Instruction::branch_to(Opcode::Halt, AccessMode::Align1, Branch::default())
    }

    fn payload(&mut self, instruction: &MachineInstruction, value: PayloadValue) -> Option<()> {
        let register = self.result(instruction)?;
        let to = |ty: Type| Destination::general(register, ty);
        let payload = self.interface.payload;
        let scratch = self.operands.layout.memory;
        let numbers = Operand::linear(scratch, Type::Uw);
        match value {
            PayloadValue::PixelX | PayloadValue::PixelY => {
                // The words with coordinates of both quads, and the offset of each lane in its quad.
                let (first, offsets) = if value == PayloadValue::PixelX { (4, 0x1010_1010) } else { (5, 0x1100_1100) };
                let offset = Destination::general(scratch, Type::Uw);
                self.push(lanes(Opcode::Mov, offset, [Immediate::Uv(offsets).into()]));
                let quads = Region::align1(VerticalStride::S2, Width::W4, HorizontalStride::S0);
                let first = header_word(1, first, Type::Uw, quads);
                self.push(lanes(Opcode::Add, to(Type::D), [first.into(), numbers.into()]));
            }
            PayloadValue::Depth => {
                let depth = Operand::linear(payload.depth_register(), Type::Ud);
                self.push(lanes(Opcode::Mov, to(Type::Ud), [depth.into()]));
            }
            PayloadValue::W => {
                let w = Operand::linear(payload.w_register(), Type::Ud);
                self.push(lanes(Opcode::Mov, to(Type::Ud), [w.into()]));
            }
            PayloadValue::SampleMask => {
                let mask = Operand::linear(payload.sample_mask_register(), Type::Ud);
                self.push(lanes(Opcode::Mov, to(Type::Ud), [mask.into()]));
            }
            PayloadValue::FrontFace => {
                // The sign of the word is set for the back.
                let face = Operand::scalar(0, 0, Type::D);
                let bits = Immediate::D(16).into();
                self.push(lanes(Opcode::Shl, to(Type::D), [face.into(), bits]));
                let own = Operand::linear(register, Type::D);
                self.push(lanes(Opcode::Asr, to(Type::D), [own.into(), Immediate::D(31).into()]));
                let own = Operand::linear(register, Type::Ud);
                self.push(lanes(Opcode::Not, to(Type::Ud), [own.into()]));
            }
            PayloadValue::Layer => {
                let bits = header_word(0, 1, Type::Uw, Region::SCALAR);
                self.push(lanes(Opcode::And, to(Type::Ud), [bits.into(), Immediate::Uw(0x7ff).into()]));
            }
            PayloadValue::SampleId => {
                // Two samples for each pair of the header; a quad has one of them.
                let pair = Destination::new(Register::general(scratch).at(16), Type::Ud);
                let header = Operand::scalar(0, 0, Type::Ud);
                self.push(word(Opcode::And, pair, [header.into(), Immediate::Ud(0xc0).into()]));
                let pair_operand = Operand::scalar(scratch, 16, Type::Ud);
                self.push(word(Opcode::Shr, pair, [pair_operand.into(), Immediate::Ud(5).into()]));
                let quads = Destination::general(scratch, Type::Uw);
                let offsets = Immediate::Uv(0x1111_0000).into();
                self.push(lanes(Opcode::Mov, quads, [offsets]).with_no_mask());
                self.push(lanes(Opcode::Add, to(Type::Ud), [numbers.into(), pair_operand.into()]));
            }
            PayloadValue::SamplePosition { is_vertical } => {
                let place = Register::general(payload.sample_positions_register()).at(u8::from(is_vertical));
                let region = Region::align1(VerticalStride::S16, Width::W8, HorizontalStride::S2);
                let bytes = Operand::new(place, Type::Ub, region);
                self.push(lanes(Opcode::Mov, to(Type::D), [bytes.into()]));
            }
            PayloadValue::IsHelper => {
                // A flag moves to the sign of its lane.
                let count = Destination::general(scratch, Type::Uw);
                self.push(lanes(Opcode::Mov, count, [LANE_NUMBERS.into()]).with_no_mask());
                let flags = Operand::new(flag_word(LIVE), Type::Uw, Region::SCALAR);
                let bits = Destination::new(dword(scratch, 7, Type::Ud).register, Type::Ud);
                self.push(word(Opcode::Mov, bits, [flags.into()]));
                let bits = Operand::scalar(scratch, 28, Type::Ud);
                self.push(lanes(Opcode::Shr, to(Type::Ud), [bits.into(), numbers.into()]));
                let own = Operand::linear(register, Type::Ud);
                self.push(lanes(Opcode::And, to(Type::Ud), [own.into(), Immediate::Ud(1).into()]));
                let own = Operand::linear(register, Type::D);
                self.push(lanes(Opcode::Add, to(Type::D), [own.into(), Immediate::D(-1).into()]));
            }
        }
        debug_assert!(self.instructions.last().is_some_and(|last| last.size == ExecutionSize::X8));
        Some(())
    }
}
