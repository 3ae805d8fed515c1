//! The sink that emits instructions of the IR.

use arrayvec::ArrayVec;
use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{AluFlags, Builder, Def, InstData, Swizzle};

use crate::Sink;

impl Sink for Builder<'_> {
    type Value = Def;

    fn components(&self, value: Def) -> u8 {
        self.body.num_components(value)
    }

    fn bit_size(&self, value: Def) -> u8 {
        self.body.bit_size(value)
    }

    fn constant(&mut self, bit_size: u8, bits: &[u64]) -> Def {
        Builder::constant(self, bit_size, bits)
    }

    fn alu(&mut self, op: AluOp, components: u8, sources: &[(Def, Swizzle)]) -> Def {
        let sources: ArrayVec<AluSrc, 4> =
            sources.iter().take(4).map(|&(def, swizzle)| AluSrc::new(def, swizzle)).collect();
        match sources.as_slice() {
            // Moves are exact anyway, and one that changes nothing needs no instruction.
            &[source] if op == AluOp::Mov => self.mov(source, components),
            _ if op.is_vec() => self.vec(&sources),
            _ => self.alu_sized(op, components, &sources),
        }
    }

    fn set_exact(&mut self, exact: bool) -> bool {
        let former = self.flags.is_exact();
        self.flags = AluFlags(self.flags.0 & !AluFlags::EXACT.0 | if exact { AluFlags::EXACT.0 } else { 0 });
        former
    }

    fn factors(&self, value: Def) -> Option<[(Def, Swizzle); 2]> {
        let inst = self.body.try_def_inst(value)?;
        let &InstData::Alu { op: AluOp::Fmul, flags } = self.body.inst(inst) else { return None };
        let mut sources = self.body.sources(inst).map(|source| AluSrc::of(self.body, source));
        let (a, b) = (sources.next()?, sources.next()?);
        (flags == self.flags && self.body.bit_size(value) == 32).then_some([(a.def, a.swizzle), (b.def, b.swizzle)])
    }

    fn is_exact(&self) -> bool {
        self.flags.is_exact()
    }
}
