//! Builds code that accesses the harness buffer.

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{AluFlags, Body, JumpKind, Shape};
use tgsi_ir::builder::Builder;
use tgsi_ir::cursor::Cursor;
use tgsi_ir::entities::{Def, Inst};
use tgsi_ir::intrinsics::indices::AccessFlags;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};

use crate::layout::{ABSENT_WORDS, BUFFER, HEADER_WORDS, Header};

/// An address outside of all buffers of a shader and of shared memory: reads give 0, and writes have no effect.
pub(crate) const OUTSIDE: u32 = 0x7fff_f000;

/// Accesses to the harness buffer need no bounds check.
const IN_BOUNDS: (IndexKind, i32) = (IndexKind::Access, AccessFlags::IN_BOUNDS_AGX.to_i32());

/// Values computed at the start of the shader.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    buffer: Def,
    header: [Def; HEADER_WORDS],
    /// The index of the invocation, which is not a system value of the original shader.
    invocation: Def,
    /// The lane.
    pub lane: Def,
    /// Four times the lane.
    pub lane_bytes: Def,
    /// Four times the number of lanes.
    pub row_bytes: Def,
    /// The address of an access without effect to a buffer of the shader or to shared memory.
    outside: Def,
    /// The address in the harness buffer of reads that give 0. Offsets of a few words may be added.
    absent: Def,
    /// The address in the harness buffer of writes without effect. Offsets of a few words may be added.
    dropped: Def,
}

impl Frame {
    /// Returns whether an instruction belongs to the prologue, and must not be replaced.
    pub fn is_own(&self, body: &Body, inst: Inst) -> bool {
        body.inst_def(inst) == Some(self.invocation)
    }
}

/// A builder of code at a cursor.
pub(crate) struct Code<'a> {
    pub b: Builder<'a>,
    pub frame: &'a Frame,
}

/// Emits the prologue: loads the header and the lane, and ends surplus invocations.
pub(crate) fn prologue(body: &mut Body) -> Frame {
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
    let indices = [IN_BOUNDS, (IndexKind::AlignMul, 4)];
    b.intrinsic_def(IntrinsicOp::LoadSsbo, &[buffer, at], &indices, Shape::new(1, 32))
}

impl<'a> Code<'a> {
    /// Creates a builder at a cursor. Arithmetic is exact.
    pub fn new(body: &'a mut Body, cursor: Cursor, frame: &'a Frame) -> Code<'a> {
        let mut b = Builder::new(body, cursor);
        b.flags = AluFlags::EXACT;
        Code { b, frame }
    }

    /// Returns a constant.
    pub fn word(&mut self, word: u32) -> Def {
        self.b.u32_const(word)
    }

    /// Returns a word of the buffer's header.
    pub fn header(&self, word: Header) -> Def {
        self.frame.header[word as usize]
    }

    /// Emits a unary operation.
    pub fn op1(&mut self, op: AluOp, a: Def) -> Def {
        self.b.alu(op, &[a])
    }

    /// Emits a binary operation.
    pub fn op2(&mut self, op: AluOp, a: Def, b: Def) -> Def {
        self.b.alu(op, &[a, b])
    }

    /// Emits `a + b`.
    pub fn add(&mut self, a: Def, b: Def) -> Def {
        self.op2(AluOp::Iadd, a, b)
    }

    /// Emits `a + word`.
    pub fn add_word(&mut self, a: Def, word: u32) -> Def {
        if word == 0 {
            return a;
        }
        let word = self.word(word);
        self.add(a, word)
    }

    /// Emits `a * b`.
    pub fn mul(&mut self, a: Def, b: Def) -> Def {
        self.op2(AluOp::Imul, a, b)
    }

    /// Emits `a * word`.
    pub fn mul_word(&mut self, a: Def, word: u32) -> Def {
        let word = self.word(word);
        self.mul(a, word)
    }

    /// Emits `condition ? a : b`.
    pub fn select(&mut self, condition: Def, a: Def, b: Def) -> Def {
        self.b.alu(AluOp::Bcsel, &[condition, a, b])
    }

    /// Emits `condition ? a : b`; `a` without a condition.
    pub fn select_if(&mut self, condition: Option<Def>, a: Def, b: Def) -> Def {
        match condition {
            Some(condition) => self.select(condition, a, b),
            None => a,
        }
    }

    /// Emits the conjunction of two conditions.
    pub fn both(&mut self, a: Option<Def>, b: Def) -> Option<Def> {
        Some(match a {
            Some(a) => self.op2(AluOp::Iand, a, b),
            None => b,
        })
    }

    /// Returns an address in a buffer of the shader or in shared memory, or one without effect if the condition is
    /// false.
    pub fn address_if(&mut self, condition: Option<Def>, address: Def) -> Def {
        let outside = self.frame.outside;
        self.select_if(condition, address, outside)
    }

    /// Returns an address for reading the harness buffer, or that of a zero if the condition is false.
    pub fn read_if(&mut self, condition: Option<Def>, address: Def) -> Def {
        let absent = self.frame.absent;
        self.select_if(condition, address, absent)
    }

    /// Returns an address for writing the harness buffer, or one without effect if the condition is false. Atomics do
    /// not read zero at the latter.
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
        let indices = [(IndexKind::WriteMask, 1), IN_BOUNDS, (IndexKind::AlignMul, 4)];
        self.b.intrinsic(IntrinsicOp::StoreSsbo, &[value, buffer, address], &indices, None);
    }

    /// Emits an atomic on a word of the buffer.
    pub fn atomic(&mut self, op: tgsi_ir::intrinsics::indices::AtomicOp, address: Def, operands: &[Def]) -> Def {
        let intrinsic = if op.is_swap() { IntrinsicOp::SsboAtomicSwap } else { IntrinsicOp::SsboAtomic };
        let mut sources = vec![self.frame.buffer, address];
        sources.extend_from_slice(operands);
        self.b.intrinsic_def(intrinsic, &sources, &[IN_BOUNDS, (IndexKind::AtomicOp, op.to_i32())], Shape::new(1, 32))
    }

    /// Returns the address of the lane's word in a row with one word per lane.
    pub fn lane_address(&mut self, place: Header) -> Def {
        let place = self.header(place);
        let lane = self.frame.lane_bytes;
        self.add(place, lane)
    }

    /// Emits whether memory writes of the lane have an effect.
    pub fn may_write(&mut self) -> Def {
        let address = self.lane_address(Header::MayWrite);
        let word = self.load(address);
        let zero = self.word(0);
        self.op2(AluOp::Ine, word, zero)
    }

    /// Builds a value from the words of its components, two for each 64-bit component.
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

    /// Converts a word to a value of at most 32 bits.
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

    /// Returns the words of a component; true is all ones.
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
