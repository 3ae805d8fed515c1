//! Atomics on buffers, shared memory, images and counters.

use tgsi_environment::PixelFormat;
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::body::{JumpKind, Shape};
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::AtomicOp;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};

use super::control_flow::Translator;
use super::memory::{CounterBuffer, Resource, access};
use tgsi::shader::{Instruction, Src};
use tgsi::tables::{Opcode, OperandType, Processor};

const fn atomic_op(opcode: Opcode) -> Option<AtomicOp> {
    Some(match opcode {
        Opcode::Atomuadd => AtomicOp::Iadd,
        Opcode::Atomfadd => AtomicOp::Fadd,
        Opcode::Atomxchg => AtomicOp::Xchg,
        Opcode::Atomcas => AtomicOp::Cmpxchg,
        Opcode::Atomand => AtomicOp::Iand,
        Opcode::Atomor => AtomicOp::Ior,
        Opcode::Atomxor => AtomicOp::Ixor,
        Opcode::Atomumin => AtomicOp::Umin,
        Opcode::Atomumax => AtomicOp::Umax,
        Opcode::Atomimin => AtomicOp::Imin,
        Opcode::Atomimax => AtomicOp::Imax,
        Opcode::AtomincWrap => AtomicOp::IncWrap,
        Opcode::AtomdecWrap => AtomicOp::DecWrap,
        _ => return None,
    })
}

/// A counter: its address, and the indices that identify it.
#[derive(Clone, Copy)]
pub(super) struct Counter {
    pub(super) address: Def,
    /// Indices of the intrinsics: the buffer, and the offset added to the address.
    pub(super) indices: [(IndexKind, i32); 2],
}

/// The texel format that an atomic operates on: a single word, whatever format the shader specifies for the image.
fn atomic_format(format: PixelFormat, op: AtomicOp) -> PixelFormat {
    let is_float = op.data_type().base == BaseType::Float;
    let (fits, word) = match format.short_name() {
        "R32_FLOAT" => (is_float || op == AtomicOp::Xchg, "R32_UINT"),
        "R32_UINT" | "R32_SINT" => (!is_float, "R32_FLOAT"),
        _ if format == PixelFormat::NONE => (true, ""),
        _ => (false, if is_float { "R32_FLOAT" } else { "R32_UINT" }),
    };
    if fits { format } else { PixelFormat::from_short_name(word).unwrap_or(format) }
}

impl Translator<'_, '_> {
    /// Translates an atomic; does nothing if the opcode is not an atomic.
    pub(super) fn atomic(&mut self, instruction: &Instruction) {
        let Some(op) = atomic_op(instruction.opcode) else { return };
        let [Some(&name), Some(&address), Some(&value)] = [0, 1, 2].map(|position| instruction.src.get(position))
        else {
            return;
        };
        let resource = self.resource(instruction, &name);
        self.context.ir.info.writes_memory = true;
        let first = self.scalar(&value, OperandType::Float, 0);
        let mut data: arrayvec::ArrayVec<Def, 2> = [first].into_iter().collect();
        if op == AtomicOp::Cmpxchg
            && let Some(&new) = instruction.src.get(3)
        {
            data.push(self.scalar(&new, OperandType::Float, 0));
        }
        let old = match resource {
            Resource::Counter { buffer, offset, dynamic } => {
                let (address, offset) = self.counter_address(&address, dynamic, offset);
                self.in_counter_buffer(buffer, offset, address, |t, counter| t.counter_atomic(counter, op, &data))
            }
            resource => {
                let old = self.memory_atomic(instruction, &resource, &address, op, &data);
                old.unwrap_or_else(|| self.constant(0))
            }
        };
        self.write_scalar(instruction, old);
    }

    fn memory_atomic(
        &mut self,
        instruction: &Instruction,
        resource: &Resource,
        address: &Src,
        op: AtomicOp,
        data: &[Def],
    ) -> Option<Def> {
        let swap = op.is_swap();
        let operation = (IndexKind::AtomicOp, op.to_i32());
        let mut sources: arrayvec::ArrayVec<Def, 6> = arrayvec::ArrayVec::new();
        let mut indices: arrayvec::ArrayVec<(IndexKind, i32), 6> = arrayvec::ArrayVec::new();
        let intrinsic = match *resource {
            Resource::Buffer(number) => {
                sources.extend([number, self.scalar(address, OperandType::Uint, 0)]);
                indices.push((IndexKind::Access, access(instruction).to_i32()));
                if swap { IntrinsicOp::SsboAtomicSwap } else { IntrinsicOp::SsboAtomic }
            }
            Resource::Shared => {
                sources.push(self.scalar(address, OperandType::Uint, 0));
                if swap { IntrinsicOp::SharedAtomicSwap } else { IntrinsicOp::SharedAtomic }
            }
            Resource::Image(mut image) => {
                image.format = atomic_format(image.format, op);
                let (coordinate, sample) = self.texel(address, image.target);
                sources.extend([image.name, coordinate, sample]);
                indices = image.indices();
                match (image.is_handle, swap) {
                    (false, false) => IntrinsicOp::ImageDerefAtomic,
                    (false, true) => IntrinsicOp::ImageDerefAtomicSwap,
                    (true, false) => IntrinsicOp::BindlessImageAtomic,
                    (true, true) => IntrinsicOp::BindlessImageAtomicSwap,
                }
            }
            Resource::Constants(_) | Resource::Counter { .. } | Resource::Nothing => return None,
        };
        indices.push(operation);
        sources.extend(data.iter().copied());
        Some(self.b.intrinsic_def(intrinsic, &sources, &indices, Shape::new(1, 32)))
    }

    /// Accesses a counter in its buffer. If the buffer index is only known at run time, compares it with each declared
    /// buffer; if none matches, the result is 0.
    pub(super) fn in_counter_buffer(
        &mut self,
        buffer: CounterBuffer,
        offset: i32,
        address: Def,
        mut access: impl FnMut(&mut Self, Counter) -> Def,
    ) -> Def {
        let counter =
            |buffer| Counter { address, indices: [(IndexKind::Base, buffer), (IndexKind::RangeBase, offset)] };
        let index = match buffer {
            CounterBuffer::Known(buffer) => return access(self, counter(buffer)),
            CounterBuffer::Index(index) => index,
        };
        let result = self.b.decl_reg(Shape::new(1, 32), 0);
        let zero = self.constant(0);
        self.b.store_reg(zero, result, 0, 1);
        for declared in self.context.shader.counter_buffers() {
            let number = self.constant(declared.into());
            let chosen = self.b.alu(AluOp::Ieq, &[index, number]);
            let branch = self.b.push_if(chosen);
            let old = access(self, counter(declared.into()));
            self.b.store_reg(old, result, 0, 1);
            self.b.end_if(branch);
        }
        self.b.load_reg(result, 0)
    }

    pub(super) fn counter_atomic(&mut self, counter: Counter, op: AtomicOp, data: &[Def]) -> Def {
        let intrinsic = match op {
            AtomicOp::Iadd => IntrinsicOp::AtomicCounterAdd,
            AtomicOp::Umin => IntrinsicOp::AtomicCounterMin,
            AtomicOp::Umax => IntrinsicOp::AtomicCounterMax,
            AtomicOp::Iand => IntrinsicOp::AtomicCounterAnd,
            AtomicOp::Ior => IntrinsicOp::AtomicCounterOr,
            AtomicOp::Ixor => IntrinsicOp::AtomicCounterXor,
            AtomicOp::Xchg => IntrinsicOp::AtomicCounterExchange,
            AtomicOp::Cmpxchg => IntrinsicOp::AtomicCounterCompSwap,
            _ => {
                let value = data.first().copied().unwrap_or_else(|| self.constant(0));
                return self.counter_loop(counter, op, value);
            }
        };
        let sources: arrayvec::ArrayVec<Def, 3> =
            std::iter::once(counter.address).chain(data.iter().copied()).take(3).collect();
        self.b.intrinsic_def(intrinsic, &sources, &counter.indices, Shape::new(1, 32))
    }

    /// An operation that counters lack: a loop that reads, computes, and does a compare-and-swap until it succeeds.
    fn counter_loop(&mut self, counter: Counter, op: AtomicOp, value: Def) -> Def {
        let shape = Shape::new(1, 32);
        // A register, because the value is used outside the loop.
        let result = self.b.decl_reg(shape, 0);
        let id = self.b.push_loop();
        let old = self.b.intrinsic_def(IntrinsicOp::AtomicCounterRead, &[counter.address], &counter.indices, shape);
        self.b.store_reg(old, result, 0, 1);
        let one = self.constant(1);
        let zero = self.constant(0);
        let new = match op {
            AtomicOp::Imin => self.b.alu(AluOp::Imin, &[old, value]),
            AtomicOp::Imax => self.b.alu(AluOp::Imax, &[old, value]),
            AtomicOp::Fadd => self.b.alu(AluOp::Fadd, &[old, value]),
            AtomicOp::IncWrap => {
                let wraps = self.b.alu(AluOp::Uge, &[old, value]);
                let next = self.b.alu(AluOp::Iadd, &[old, one]);
                self.b.alu(AluOp::Bcsel, &[wraps, zero, next])
            }
            _ => {
                let none = self.b.alu(AluOp::Ieq, &[old, zero]);
                let beyond = self.b.alu(AluOp::Ult, &[value, old]);
                let wraps = self.b.alu(AluOp::Ior, &[none, beyond]);
                let previous = self.b.alu(AluOp::Isub, &[old, one]);
                self.b.alu(AluOp::Bcsel, &[wraps, value, previous])
            }
        };
        let sources = [counter.address, old, new];
        let found = self.b.intrinsic_def(IntrinsicOp::AtomicCounterCompSwap, &sources, &counter.indices, shape);
        let mut done = self.b.alu(AluOp::Ieq, &[found, old]);
        if self.context.shader.processor == Processor::Fragment {
            // Helpers do not write, so their loop would not terminate.
            let helper = self.b.intrinsic_def(IntrinsicOp::IsHelperInvocation, &[], &[], Shape::new(1, 1));
            done = self.b.alu(AluOp::Ior, &[done, helper]);
        }
        let branch = self.b.push_if(done);
        self.b.jump(JumpKind::Break);
        self.b.end_if(branch);
        self.b.end_loop(id);
        self.b.load_reg(result, 0)
    }
}
