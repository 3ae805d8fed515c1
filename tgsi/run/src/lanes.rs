//! Opcodes that access other lanes or the state of a lane: derivatives, interpolation, discard, votes, the clock.

use arrayvec::ArrayVec;

use super::kernel::{boolean, channels, f};
use super::machine::Machine;
use super::program::{Op, Operand};
use tgsi::tables::Opcode;

/// For each lane of a quad, the two lanes that are subtracted for its derivative.
const DDX: [(usize, usize); 4] = [(3, 2); 4];
const DDX_FINE: [(usize, usize); 4] = [(1, 0), (1, 0), (3, 2), (3, 2)];
const DDY: [(usize, usize); 4] = [(2, 0); 4];
const DDY_FINE: [(usize, usize); 4] = [(2, 0), (3, 1), (2, 0), (3, 1)];

impl Machine<'_> {
    pub(super) fn lanes_opcode(&mut self, op: &Op) -> u8 {
        let mask = op.write_mask;
        match op.opcode {
            Opcode::Ddx => self.derivative(mask, &DDX),
            Opcode::DdxFine => self.derivative(mask, &DDX_FINE),
            Opcode::Ddy => self.derivative(mask, &DDY),
            Opcode::DdyFine => self.derivative(mask, &DDY_FINE),
            Opcode::InterpCentroid | Opcode::InterpSample => {
                self.set_words(mask, |m, channel, lane| m.source(0, channel, lane))
            }
            Opcode::InterpOffset => self.set_words(mask, |m, channel, lane| {
                let difference = |pairs: [(usize, usize); 4]| {
                    let (plus, minus) = pairs[lane & 3];
                    let value = |position: usize| f(m.neighbour_input(op, channel, lane, (lane & !3) + position));
                    value(plus) - value(minus)
                };
                let (x, y) = (f(m.source(1, 0, lane)), f(m.source(1, 1, lane)));
                let input = m.source(0, channel, lane);
                // Without an offset the pixel itself, independent of its neighbours.
                if x == 0.0 && y == 0.0 {
                    return input;
                }
                (f(input) + x * difference(DDX) + y * difference(DDY)).to_bits()
            }),
            Opcode::Kill | Opcode::Demote => {
                for (killed, exec) in self.killed.iter_mut().zip(&self.exec) {
                    *killed |= exec;
                }
                0
            }
            Opcode::KillIf => {
                for lane in 0..self.lanes {
                    // NaN and -0 do not kill.
                    if (0..4).any(|channel| f(self.source(0, channel, lane)) < 0.0) {
                        self.killed[lane] |= self.exec[lane];
                    }
                }
                0
            }
            Opcode::ReadHelper => self.set_words(mask, |m, _, lane| m.helpers[lane] | m.killed[lane]),
            Opcode::Clock => self.set_words(mask, |m, channel, _| match channel {
                0 => m.steps as u32,
                1 => (m.steps >> 32) as u32,
                _ => 0,
            }),
            Opcode::Fbfetch => {
                let Some(source) = op.sources.first() else { return 0 };
                let register = usize::try_from(source.address.index).unwrap_or(usize::MAX);
                self.set_words(mask, |m, channel, lane| {
                    // A register number that would overflow cannot be a colour.
                    if register > usize::from(u16::MAX) {
                        return 0;
                    }
                    m.inputs.framebuffer.get(register, usize::from(source.swizzle[channel]), lane)
                })
            }
            Opcode::VoteAny => self.vote(mask, |words| boolean(words.iter().any(|&word| word != 0))),
            Opcode::VoteAll => self.vote(mask, |words| boolean(words.iter().all(|&word| word != 0))),
            Opcode::VoteEq => self.vote(mask, |words| boolean(words.iter().all(|word| Some(word) == words.first()))),
            Opcode::ReadFirst => self.vote(mask, |words| words.first().copied().unwrap_or(0)),
            Opcode::Ballot => self.set_words(mask, |m, channel, lane| {
                let subgroup = lane & !3;
                (subgroup..(subgroup + 4).min(m.lanes))
                    .filter(|&other| channel == 0 && m.exec[other] != 0 && m.source(0, 0, other) != 0)
                    .fold(0, |ballot, other| ballot | 1 << (other - subgroup))
            }),
            Opcode::ReadInvoc => self.set_words(mask, |m, channel, lane| {
                let number = m.source(1, 0, lane) as usize;
                let other = (lane & !3) + number.min(4);
                if number < 4 && other < m.lanes { m.source(0, channel, other) } else { 0 }
            }),
            // All other opcodes have another class.
            other => {
                other.lacks_code();
                0
            }
        }
    }

    /// A word of a fetched source.
    pub(super) fn source(&self, source: usize, channel: usize, lane: usize) -> u32 {
        self.scratch[source][channel * self.lanes + lane]
    }

    /// A word of the result.
    pub(super) fn set_result(&mut self, channel: usize, lane: usize, word: u32) {
        self.result[channel * self.lanes + lane] = word;
    }

    /// Sets the channels of `mask` in all lanes.
    pub(super) fn set_words(&mut self, mask: u8, function: impl Fn(&Self, usize, usize) -> u32) -> u8 {
        for channel in channels(mask) {
            for lane in 0..self.lanes {
                let word = function(self, channel, lane);
                self.set_result(channel, lane, word);
            }
        }
        mask
    }

    /// Source 0 as addressed by lane `lane`, in another lane: neighbours hold other values of the same input.
    fn neighbour_input(&self, op: &Op, channel: usize, lane: usize, other: usize) -> u32 {
        if other >= self.lanes {
            return 0;
        }
        match op.sources.first() {
            Some(source) => match source.operand {
                Operand::Indirect(address) => {
                    let cell = self.locate(&address, lane);
                    source.modified(self.cell_word(cell, usize::from(source.swizzle[channel]), other))
                }
                _ => self.source(0, channel, other),
            },
            None => 0,
        }
    }

    /// The difference of source 0 between two lanes of the quad of `lane`; lanes beyond the last count as 0.
    fn difference(&self, channel: usize, lane: usize, pairs: &[(usize, usize); 4]) -> f32 {
        let quad = lane & !3;
        let value = |position: usize| {
            let other = quad + position;
            if other < self.lanes { f(self.source(0, channel, other)) } else { 0.0 }
        };
        let (plus, minus) = pairs[lane & 3];
        value(plus) - value(minus)
    }

    fn derivative(&mut self, mask: u8, pairs: &[(usize, usize); 4]) -> u8 {
        self.set_words(mask, |m, channel, lane| m.difference(channel, lane, pairs).to_bits())
    }

    /// Applies a function to the words of the executing lanes of each subgroup.
    fn vote(&mut self, mask: u8, function: impl Fn(&[u32]) -> u32) -> u8 {
        self.set_words(mask, |m, channel, lane| {
            let subgroup = lane & !3;
            let words: ArrayVec<u32, 4> = (subgroup..(subgroup + 4).min(m.lanes))
                .filter(|&other| m.exec[other] != 0)
                .map(|other| m.source(0, channel, other))
                .collect();
            function(&words)
        })
    }
}
