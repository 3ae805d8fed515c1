//! Writes code that reaches into the harness buffer.

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{AluFlags, Body, JumpKind, Shape};
use tgsi_ir::builder::Builder;
use tgsi_ir::cursor::Cursor;
use tgsi_ir::entities::{Def, Inst};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};

use super::layout::{ABSENT_WORDS, BUFFER, HEADER_WORDS, Header};

/// An address outside of every buffer of a shader and of shared memory: what is read there is 0, and writes have no
/// effect.
pub(super) const OUTSIDE: u32 = 0x7fff_f000;

/// Values that are made at the start of the shader.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    buffer: Def,
    header: [Def; HEADER_WORDS],
    /// The number of the invocation, which is no system value of the shader.
    invocation: Def,
    /// The lane.
    pub lane: Def,
    /// Four times the lane.
    pub lane_bytes: Def,
    /// Four times the number of lanes.
    pub row_bytes: Def,
    /// The place of an access without effect to a buffer of the shader or to shared memory.
    outside: Def,
    /// The place in the harness buffer of a read of nothing, which gives 0. Some words may be added.
    absent: Def,
    /// The place in the harness buffer of a write without effect. Some words may be added.
    dropped: Def,
}

impl Frame {
    /// Whether an instruction belongs to the start of the shader and stays.
    pub fn is_own(&self, body: &Body, inst: Inst) -> bool {
        body.inst_def(inst) == Some(self.invocation)
    }
}

/// Code at a cursor.
pub(super) struct Code<'a> {
    pub b: Builder<'a>,
    pub frame: &'a Frame,
}

/// Writes the start of the shader: words of the buffer, the lane, and the end of invocations that are none.
pub(super) fn prologue(body: &mut Body) -> Frame {
    let mut b = Builder::at_start(body);
    let buffer = b.u32_const(BUFFER);
    let mut header = [buffer; HEADER_WORDS];
    for (number, word) in header.iter_mut().enumerate() {
        let at = b.u32_const(4 * number as u32);
        *word = load_word(&mut b, buffer, at);
    }
    let index = b.intrinsic_def(IntrinsicOp::LoadLocalInvocationIndex, &[], &[], Shape::new(1, 32));
    let shift = header[Header::QuadShift as usize];
    let (one, two, four) = (b.u32_const(1), b.u32_const(2), b.u32_const(4));
    let quad = b.alu(AluOp::Ushr, &[index, shift]);
    let first = b.alu(AluOp::Ishl, &[quad, shift]);
    let number = b.alu(AluOp::Isub, &[index, first]);
    let quad_lane = b.alu(AluOp::Ishl, &[quad, two]);
    let lane = b.alu(AluOp::Iadd, &[quad_lane, number]);
    let lane_bytes = b.alu(AluOp::Ishl, &[lane, two]);
    let row_bytes = b.alu(AluOp::Ishl, &[header[Header::Lanes as usize], two]);
    let outside = b.u32_const(OUTSIDE);
    let (absent, dropped) =
        (b.u32_const(4 * HEADER_WORDS as u32), b.u32_const(4 * (HEADER_WORDS + ABSENT_WORDS) as u32));
    let beyond = b.alu(AluOp::Uge, &[number, four]);
    let last = b.alu(AluOp::Isub, &[header[Header::Lanes as usize], one]);
    let surplus = b.alu(AluOp::Ult, &[last, lane]);
    let idle = b.alu(AluOp::Ior, &[beyond, surplus]);
    let exit = b.push_if(idle);
    b.jump(JumpKind::Halt);
    b.end_if(exit);
    Frame { buffer, header, invocation: index, lane, lane_bytes, row_bytes, outside, absent, dropped }
}

fn load_word(b: &mut Builder<'_>, buffer: Def, at: Def) -> Def {
    let indices = [(IndexKind::AlignMul, 4)];
    b.intrinsic_def(IntrinsicOp::LoadSsbo, &[buffer, at], &indices, Shape::new(1, 32))
}

impl<'a> Code<'a> {
    /// At a cursor. Arithmetic is exact.
    pub fn new(body: &'a mut Body, cursor: Cursor, frame: &'a Frame) -> Code<'a> {
        let mut b = Builder::new(body, cursor);
        b.flags = AluFlags::EXACT;
        Code { b, frame }
    }

    /// A constant.
    pub fn word(&mut self, word: u32) -> Def {
        self.b.u32_const(word)
    }

    /// A word of the start of the buffer.
    pub fn header(&self, word: Header) -> Def {
        self.frame.header[word as usize]
    }

    /// An operation of one operand.
    pub fn op1(&mut self, op: AluOp, a: Def) -> Def {
        self.b.alu(op, &[a])
    }

    /// An operation of two operands.
    pub fn op2(&mut self, op: AluOp, a: Def, b: Def) -> Def {
        self.b.alu(op, &[a, b])
    }

    /// `a + b`.
    pub fn add(&mut self, a: Def, b: Def) -> Def {
        self.op2(AluOp::Iadd, a, b)
    }

    /// `a + word`.
    pub fn add_word(&mut self, a: Def, word: u32) -> Def {
        if word == 0 {
            return a;
        }
        let word = self.word(word);
        self.add(a, word)
    }

    /// `a * b`.
    pub fn mul(&mut self, a: Def, b: Def) -> Def {
        self.op2(AluOp::Imul, a, b)
    }

    /// `a * word`.
    pub fn mul_word(&mut self, a: Def, word: u32) -> Def {
        let word = self.word(word);
        self.mul(a, word)
    }

    /// `condition ? a : b`.
    pub fn select(&mut self, condition: Def, a: Def, b: Def) -> Def {
        self.b.alu(AluOp::Bcsel, &[condition, a, b])
    }

    /// `condition ? a : b` where the condition may be none, which holds.
    pub fn select_if(&mut self, condition: Option<Def>, a: Def, b: Def) -> Def {
        match condition {
            Some(condition) => self.select(condition, a, b),
            None => a,
        }
    }

    /// Both conditions.
    pub fn both(&mut self, a: Option<Def>, b: Def) -> Option<Def> {
        Some(match a {
            Some(a) => self.op2(AluOp::Iand, a, b),
            None => b,
        })
    }

    /// The address in a buffer of the shader, or in shared memory, if a condition holds, else one without effect.
    pub fn address_if(&mut self, condition: Option<Def>, address: Def) -> Def {
        let outside = self.frame.outside;
        self.select_if(condition, address, outside)
    }

    /// The address in the harness buffer of a read if a condition holds, else one of a zero.
    pub fn read_if(&mut self, condition: Option<Def>, address: Def) -> Def {
        let absent = self.frame.absent;
        self.select_if(condition, address, absent)
    }

    /// The address in the harness buffer of a write if a condition holds, else one without effect. What an atomic reads
    /// there is no zero.
    pub fn write_if(&mut self, condition: Option<Def>, address: Def) -> Def {
        let dropped = self.frame.dropped;
        self.select_if(condition, address, dropped)
    }

    /// Loads a word of the buffer.
    pub fn load(&mut self, address: Def) -> Def {
        let buffer = self.frame.buffer;
        load_word(&mut self.b, buffer, address)
    }

    /// Stores a word to the buffer.
    pub fn store(&mut self, address: Def, value: Def) {
        let buffer = self.frame.buffer;
        let indices = [(IndexKind::WriteMask, 1), (IndexKind::AlignMul, 4)];
        self.b.intrinsic(IntrinsicOp::StoreSsbo, &[value, buffer, address], &indices, None);
    }

    /// An atomic on a word of the buffer.
    pub fn atomic(&mut self, op: tgsi_ir::intrinsics::indices::AtomicOp, address: Def, operands: &[Def]) -> Def {
        let intrinsic = if op.is_swap() { IntrinsicOp::SsboAtomicSwap } else { IntrinsicOp::SsboAtomic };
        let mut sources = vec![self.frame.buffer, address];
        sources.extend_from_slice(operands);
        self.b.intrinsic_def(intrinsic, &sources, &[(IndexKind::AtomicOp, op.to_i32())], Shape::new(1, 32))
    }

    /// The address of the lane's word of a row of one word for each lane.
    pub fn lane_address(&mut self, place: Header) -> Def {
        let place = self.header(place);
        let lane = self.frame.lane_bytes;
        self.add(place, lane)
    }

    /// Whether memory writes of the lane have an effect.
    pub fn may_write(&mut self) -> Def {
        let address = self.lane_address(Header::MayWrite);
        let word = self.load(address);
        let zero = self.word(0);
        self.op2(AluOp::Ine, word, zero)
    }

    /// A value from the words of its components, two each if they have 64 bits.
    pub fn compose(&mut self, shape: Shape, mut word: impl FnMut(&mut Self, u32) -> Def) -> Def {
        let mut components = Vec::with_capacity(shape.num_components.into());
        for component in 0..u32::from(shape.num_components) {
            components.push(match shape.bit_size {
                64 => {
                    let (low, high) = (word(self, 2 * component), word(self, 2 * component + 1));
                    self.op2(AluOp::Pack642x32Split, low, high)
                }
                bits => {
                    let word = word(self, component);
                    self.resize(word, bits)
                }
            });
        }
        self.b.vec_of(&components)
    }

    /// A word as a value of at most 32 bits.
    pub fn resize(&mut self, word: Def, bits: u8) -> Def {
        match bits {
            1 => {
                let zero = self.word(0);
                self.op2(AluOp::Ine, word, zero)
            }
            8 => self.op1(AluOp::U2u8, word),
            16 => self.op1(AluOp::U2u16, word),
            _ => word,
        }
    }

    /// The words of a component: true is all ones.
    pub fn words_of(&mut self, value: Def, component: u8) -> Vec<Def> {
        let channel = self.b.channel(value, component);
        match self.b.body.bit_size(value) {
            64 => {
                vec![self.op1(AluOp::Unpack642x32SplitX, channel), self.op1(AluOp::Unpack642x32SplitY, channel)]
            }
            1 => {
                let one = self.op1(AluOp::B2i32, channel);
                vec![self.op1(AluOp::Ineg, one)]
            }
            8 | 16 => vec![self.op1(AluOp::U2u32, channel)],
            _ => vec![channel],
        }
    }
}
