//! Storage buffers, shared memory and atomic counters. Accesses by lanes without effect on memory are redirected to
//! addresses without effect; atomic counters are words of the harness buffer.

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{Body, JumpKind, Shape};
use tgsi_ir::cursor::Cursor;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::{AtomicOp, MemorySemantics, Scope};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::variable::VariableModes;

use crate::Replacement;
use crate::code::{Code, Frame};
use crate::layout::Header;

impl Replacement<'_> {
    pub(crate) fn lift_memory(&mut self) -> Result<(), &'static str> {
        use IntrinsicOp as I;
        let (offset, writes, shared) = match self.op {
            I::StoreSsbo => (2, true, false),
            I::SsboAtomic | I::SsboAtomicSwap => (1, true, false),
            I::LoadShared => (0, false, true),
            I::StoreShared => (1, true, true),
            I::SharedAtomic | I::SharedAtomicSwap => (0, true, true),
            I::DerefAtomic | I::DerefAtomicSwap if self.kills => return Err(self.op.name()),
            _ => return Ok(()),
        };
        let kills = self.kills;
        let address = self.source(offset);
        let size = self.access_size();
        let base = if shared { self.shader.main().base(self.inst) } else { 0 };
        let mut code = self.code();
        let mut condition = (writes && kills).then(|| code.may_write());
        if shared {
            let bytes = code.header(Header::SharedSize);
            let first = code.add_word(address, base);
            let end = code.add_word(first, size);
            let fits = code.op2(AluOp::Uge, bytes, end);
            condition = code.both(condition, fits);
        }
        if condition.is_some() {
            let address = code.address_if(condition, address);
            let body = self.shader.main_mut();
            let source = body.source(self.inst, offset);
            body.set_src(source, address);
        }
        Ok(())
    }

    /// Returns the number of bytes that the instruction accesses.
    fn access_size(&self) -> u32 {
        let body = self.shader.main();
        let value = match self.op {
            IntrinsicOp::StoreSsbo | IntrinsicOp::StoreShared => Some(body.src(self.inst, 0)),
            _ => body.inst_def(self.inst),
        };
        let shape = value.map_or(Shape::new(1, 32), |value| body.shape(value));
        u32::from(shape.num_components)
            * u32::from(shape.bit_size).div_ceil(8).max(if shape.bit_size == 1 { 4 } else { 1 })
    }

    pub(crate) fn lift_counter(&mut self) -> Result<(), &'static str> {
        use IntrinsicOp as I;
        let one = |code: &mut Code<'_>| vec![code.word(1)];
        let all = |code: &mut Code<'_>| vec![code.word(u32::MAX)];
        let body = self.shader.main();
        let given: Vec<Def> = (1..body.num_sources(self.inst)).map(|number| body.src(self.inst, number)).collect();
        let lowered = self.op.info().index_slot(IndexKind::RangeBase).is_some();
        let (op, is_read) = match self.op {
            _ if !lowered => return Err(self.op.name()),
            I::AtomicCounterInc | I::AtomicCounterPreDec | I::AtomicCounterPostDec => (AtomicOp::Iadd, false),
            I::AtomicCounterRead => (AtomicOp::Iadd, true),
            I::AtomicCounterAdd => (AtomicOp::Iadd, false),
            I::AtomicCounterMin => (AtomicOp::Umin, false),
            I::AtomicCounterMax => (AtomicOp::Umax, false),
            I::AtomicCounterAnd => (AtomicOp::Iand, false),
            I::AtomicCounterOr => (AtomicOp::Ior, false),
            I::AtomicCounterXor => (AtomicOp::Ixor, false),
            I::AtomicCounterExchange => (AtomicOp::Xchg, false),
            I::AtomicCounterCompSwap => (AtomicOp::Cmpxchg, false),
            op => return Err(op.name()),
        };
        let (base, first) = (body.base(self.inst), body.index(self.inst, IndexKind::RangeBase) as u32);
        let offset = self.source(0);
        let (kills, this) = (self.kills, self.op);
        let mut code = self.code();
        let code = &mut code;
        // The counter buffer's row in the list of buffers.
        let (buffer, count) = (code.word(base), code.header(Header::CounterBuffers));
        let exists = code.op2(AluOp::Ult, buffer, count);
        let list = code.header(Header::Counters);
        let row = code.add_word(list, base.wrapping_mul(8));
        let row = code.read_if(Some(exists), row);
        let place = code.load(row);
        let row = code.add_word(row, 4);
        let words = code.load(row);
        let byte = code.add_word(offset, first);
        let two = code.word(2);
        let number = code.op2(AluOp::Ushr, byte, two);
        let inside = code.op2(AluOp::Ult, number, words);
        let mut condition = Some(inside);
        if kills && !is_read {
            let may_write = code.may_write();
            condition = code.both(condition, may_write);
        }
        let distance = code.mul_word(number, 4);
        let address = code.add(place, distance);
        let value = if is_read {
            let address = code.read_if(condition, address);
            code.load(address)
        } else {
            let address = code.write_if(condition, address);
            let operands = match this {
                I::AtomicCounterInc => one(code),
                I::AtomicCounterPreDec | I::AtomicCounterPostDec => all(code),
                _ => given,
            };
            let old = code.atomic(op, address, &operands);
            let value = if this == I::AtomicCounterPreDec { code.add_word(old, u32::MAX) } else { old };
            let zero = code.word(0);
            code.select_if(condition, value, zero)
        };
        self.replace(value);
        Ok(())
    }
}

/// Copies shared memory to the harness buffer at the end of the shader.
pub(crate) fn copy_shared(body: &mut Body, frame: &Frame) {
    let last = body.body_list().last;
    let cursor = Cursor::before_jump(body, last);
    let mut code = Code::new(body, cursor, frame);
    let code = &mut code;
    let indices = [
        (IndexKind::ExecutionScope, Scope::Workgroup.to_i32()),
        (IndexKind::MemoryScope, Scope::Workgroup.to_i32()),
        (IndexKind::MemorySemantics, MemorySemantics::ACQ_REL.to_i32()),
        (IndexKind::MemoryModes, VariableModes::MEM_SHARED.0 as i32),
    ];
    code.b.intrinsic(IntrinsicOp::Barrier, &[], &indices, None);
    let (size, place, row) = (code.header(Header::SharedSize), code.header(Header::Shared), frame.row_bytes);
    let before = code.b.block();
    let id = code.b.push_loop();
    let at = code.b.phi(Shape::new(1, 32), &[(before, frame.lane_bytes)]);
    let done = code.op2(AluOp::Uge, at, size);
    let exit = code.b.push_if(done);
    code.b.jump(JumpKind::Break);
    code.b.end_if(exit);
    let indices = [(IndexKind::AlignMul, 4)];
    let word = code.b.intrinsic_def(IntrinsicOp::LoadShared, &[at], &indices, Shape::new(1, 32));
    let address = code.add(place, at);
    code.store(address, word);
    let next = code.add(at, row);
    let latch = code.b.block();
    let phi = code.b.body.def_inst(at);
    code.b.body.add_phi_source(phi, latch, next);
    code.b.end_loop(id);
}
