//! Geometry programs: vertices, primitives, and the end of a thread.
//!
//! An entry of a primitive begins with control data: a bit for each vertex, which ends the primitive after it, or two
//! bits with its stream. Vertices follow. The program counts vertices, and writes control data in units of 32 bits.

use tgsi_ir::body::CfEvent;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Body, Inst, Shader};
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::conditions::SET;
use super::operands::{Target, lane};
use super::{Selector, alu};
use crate::error::IntelError;
use crate::isa::{Condition, Opcode, Type};
use crate::machine::{Alu, COPY, Op};
use crate::message::Message;
use crate::program::Control;

/// The limit of vertices of a shader that states none.
const ANY_VERTICES: u32 = 256;

/// The number of bits of a unit of control data.
const BITS: u32 = 32;

/// The facts about a geometry shader, and the registers that count its vertices.
#[derive(Clone, Copy)]
pub(super) struct Geometry {
    /// The maximum number of vertices.
    pub(super) limit: u32,
    /// The control data, if there are any.
    pub(super) control: Option<Control>,
    /// Whether the limit is checked: the shader could emit more vertices.
    is_limited: bool,
    /// The size of a vertex in units of 32 bytes.
    vertex_size: u32,
    /// The number of vertices, in x.
    count: Source,
    /// The current bits of control data, in x.
    bits: Source,
}

/// The bits of control data of a vertex.
fn bits_of(control: Control) -> u32 {
    match control {
        Control::Cut => 1,
        Control::Stream => 2,
    }
}

/// The number of emissions that a run executes at most; `None` if some are in loops.
fn emissions(body: &Body) -> Option<u32> {
    let (mut depth, mut count) = (0, 0);
    for event in body.events() {
        match event {
            CfEvent::Loop(_) => depth += 1,
            CfEvent::EndLoop(_) => depth -= 1,
            CfEvent::Block(block) => {
                let emits = |inst: Inst| body.intrinsic(inst) == Some(IntrinsicOp::EmitVertex);
                let emitted = body.insts(block).filter(|&inst| emits(inst)).count() as u32;
                if depth > 0 && emitted > 0 {
                    return None;
                }
                count += emitted;
            }
            _ => {}
        }
    }
    Some(count)
}

impl Geometry {
    /// The units of control data.
    pub(super) fn control_words(&self) -> u32 {
        self.control.map_or(0, |control| self.limit.saturating_mul(bits_of(control)).div_ceil(BITS))
    }
}

impl Selector<'_> {
    /// Starts a geometry program.
    pub(super) fn begin_geometry(&mut self, shader: &Shader, slots: u32) {
        let limit = match shader.info.gs.vertices_out {
            0 => ANY_VERTICES,
            limit => limit,
        };
        let body = self.body;
        let mut control = None;
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            match body.intrinsic(inst) {
                Some(IntrinsicOp::EmitVertex) if body.index(inst, IndexKind::StreamId) != 0 => {
                    control = Some(Control::Stream);
                    break;
                }
                Some(IntrinsicOp::EndPrimitive) => control = Some(Control::Cut),
                _ => {}
            }
        }
        let is_limited = emissions(body).is_none_or(|count| count > limit);
        let (count, bits) = (self.new_temp(), self.new_temp());
        let vertex_size = slots.div_ceil(2);
        self.geometry = Some(Geometry { limit, control, is_limited, vertex_size, count, bits });
        self.clear(count);
        if control.is_some() {
            self.clear(bits);
        }
    }

    fn to_x(register: Source) -> Target {
        Target { to: Destination::new(File::Temporary, register.index, 1), saturate: false }
    }

    fn clear(&mut self, register: Source) {
        let zero = self.word(0);
        self.emit_to(COPY, Self::to_x(register), [zero]);
    }

    /// Begins a construct for vertices for which a comparison with a number holds.
    fn if_compared(&mut self, condition: Condition, value: Source, number: u32) {
        let number = self.word(number);
        self.compare(Alu::with(Opcode::Cmp, Type::Ud, condition), 15, [lane(value, 0), number]);
        self.push_flow(Op::If, Some(SET));
    }

    /// Writes a unit of control data: that of the last vertex.
    fn write_control(&mut self, geometry: Geometry) {
        let Geometry { count, bits, .. } = geometry;
        let mut place = [None; 4];
        if geometry.control_words() > 1 {
            let one = self.word(1);
            let most = Alu::with(Opcode::Sel, Type::Ud, Condition::Ge);
            let last = self.computed(most, 1, [lane(count, 0), one]);
            let last = self.computed(Alu { negated: 0b10, ..alu(Opcode::Add, Type::D) }, 1, [lane(last, 0), one]);
            let shift = self.word(5 - geometry.control.map_or(0, |control| bits_of(control) - 1));
            let unit = self.computed(alu(Opcode::Shr, Type::Ud), 1, [lane(last, 0), shift]);
            let two = self.word(2);
            let row = self.computed(alu(Opcode::Shr, Type::Ud), 1, [lane(unit, 0), two]);
            let three = self.word(3);
            let component = self.computed(alu(Opcode::And, Type::Ud), 1, [lane(unit, 0), three]);
            // The masks of channels of both objects have different places in the header.
            let [first, second] = [1u32 << 8, 1 << 12].map(|bit| {
                let bit = self.word(bit);
                lane(self.computed(alu(Opcode::Shl, Type::Ud), 1, [bit, lane(component, 0)]), 0)
            });
            place = [Some(lane(row, 0)), Some(first), Some(second), None];
        } else {
            let [zero, first, second] = [0, 1 << 8, 1 << 12].map(|word| self.word(word));
            for (part, word) in place.iter_mut().zip([zero, first, second]) {
                *part = Some(word);
            }
        }
        let place = self.packed(place);
        let message = Op::Message(Message::ControlData);
        self.push(Instruction::new(message, None, [lane(bits, 0), place]));
    }

    pub(super) fn emit_vertex(&mut self, inst: Inst) -> Result<(), IntelError> {
        let stream = self.body.index(inst, IndexKind::StreamId) as u32;
        if stream > 3 {
            return Err(self.lacks(inst, "streams of vertices beyond the fourth one"));
        }
        let Some(geometry) = self.geometry else { return Err(self.lacks(inst, "vertices in this stage")) };
        let Geometry { count, bits, .. } = geometry;
        if geometry.is_limited {
            self.if_compared(Condition::L, count, geometry.limit);
        }
        if geometry.control_words() > 1 {
            // A unit is complete.
            let within = self.word(BITS / geometry.control.map_or(1, bits_of) - 1);
            let within = self.computed(alu(Opcode::And, Type::Ud), 1, [lane(count, 0), within]);
            self.if_compared(Condition::Z, within, 0);
            self.if_compared(Condition::Nz, count, 0);
            self.write_control(geometry);
            self.push_flow(Op::EndIf, None);
            self.clear(bits);
            self.push_flow(Op::EndIf, None);
        }
        let offset = self.multiplied(lane(count, 0), geometry.vertex_size);
        self.push(Instruction::new(Op::Message(Message::EmitVertex), None, [offset]));
        let one = self.word(1);
        if stream != 0 {
            // Shifts use five bits of the count.
            let place = self.computed(alu(Opcode::Shl, Type::Ud), 1, [lane(count, 0), one]);
            let stream = self.word(stream);
            let stream = self.computed(alu(Opcode::Shl, Type::Ud), 1, [stream, lane(place, 0)]);
            self.emit_to(alu(Opcode::Or, Type::Ud), Self::to_x(bits), [lane(bits, 0), lane(stream, 0)]);
        }
        self.emit_to(alu(Opcode::Add, Type::D), Self::to_x(count), [lane(count, 0), one]);
        if geometry.is_limited {
            self.push_flow(Op::EndIf, None);
        }
        Ok(())
    }

    pub(super) fn end_primitive(&mut self) {
        // With streams, primitives are points.
        let Some(Geometry { count, bits, control: Some(Control::Cut), .. }) = self.geometry else { return };
        // The bit of the last vertex, if there is one: shifts use five bits of the count.
        self.if_compared(Condition::Nz, count, 0);
        let one = self.word(1);
        let last = self.computed(Alu { negated: 0b10, ..alu(Opcode::Add, Type::D) }, 1, [lane(count, 0), one]);
        let bit = self.computed(alu(Opcode::Shl, Type::Ud), 1, [one, lane(last, 0)]);
        self.emit_to(alu(Opcode::Or, Type::Ud), Self::to_x(bits), [lane(bits, 0), lane(bit, 0)]);
        self.push_flow(Op::EndIf, None);
    }

    /// Ends a geometry program.
    pub(super) fn end_geometry(&mut self) {
        let Some(geometry) = self.geometry else { return };
        if geometry.control.is_some() {
            self.write_control(geometry);
        }
        let count = self.in_x(geometry.count);
        self.push(Instruction::new(Op::Message(Message::EndGeometry), None, [count]));
    }
}
