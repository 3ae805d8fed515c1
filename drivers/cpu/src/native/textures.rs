//! Texture instructions and kills become calls of the functions of [`super::sampling`], or lookups in the code.

use cranelift_codegen::ir::types::{I32X4, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, StackSlotData, StackSlotKind, Value as Ir};
use tgsi_ir::run::program::{Intrinsic, Texture};

use super::context::offsets;
use super::emit::{Emitter, VECTOR, fixed};
use super::known_units::{MAX_LOOKUPS, known_unit};
use super::sampling::Plan;
use super::stretches::Plane;

/// The planes that a texture instruction reads, in the order of its area.
fn operands(texture: &Texture) -> impl Iterator<Item = Plane> + '_ {
    texture.sources.iter().flat_map(|value| value.plane..value.plane + value.planes())
}

impl Emitter<'_, '_> {
    /// Calls a function of the context with a number and an area of vectors, which it may change.
    fn call_host(&mut self, function: usize, number: Ir, operands: &[Ir], vectors: usize, results: usize) -> Vec<Ir> {
        let size = vectors as u32 * VECTOR as u32;
        let slot = self.builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size, 4));
        for (at, &operand) in (0i32..).zip(operands) {
            self.builder.ins().stack_store(operand, slot, at * VECTOR as i32);
        }
        let mut signature = Signature::new(self.call_conv);
        signature.params.extend([AbiParam::new(I64); 3]);
        let signature = self.builder.import_signature(signature);
        let callee = self.builder.ins().load(I64, fixed(), self.context, function as i32);
        let area = self.builder.ins().stack_addr(I64, slot, 0);
        self.builder.ins().call_indirect(signature, callee, &[self.context, number, area]);
        (0..results as i32).map(|at| self.builder.ins().stack_load(I32X4, slot, at * VECTOR as i32)).collect()
    }

    /// A texture instruction.
    pub(super) fn texture(&mut self, number: u32) {
        let program = self.program;
        let texture = &program.textures()[number as usize];
        let plan = Plan::new(texture);
        let exists = self.exists();
        let mut area = vec![self.builder.use_var(self.active)];
        for plane in operands(texture) {
            let value = self.read(plane);
            // Lanes that there are not read as zero.
            area.push(self.builder.ins().band(value, exists));
        }
        let dest = texture.dest;
        let call = |emitter: &mut Self| {
            let number = emitter.builder.ins().iconst(I64, i64::from(number));
            emitter.call_host(offsets::LOOK_UP, number, &area, plan.vectors, dest.planes() as usize)
        };
        let unit = known_unit(program, texture, self.known).filter(|_| self.lookups < MAX_LOOKUPS);
        let results = match unit {
            Some(unit) => {
                self.lookups += 1;
                self.look_up_known(unit, texture, &area[1..], call)
            }
            None => call(self),
        };
        for (plane, value) in (dest.plane..).zip(results) {
            self.write(plane, value, false);
        }
    }

    /// `terminate`, `demote` and those with a condition: lanes become helpers.
    pub(super) fn kill(&mut self, intrinsic: &Intrinsic) {
        let program = self.program;
        let mut killed = self.builder.use_var(self.active);
        if let Some(condition) = program.sources_of(intrinsic).first() {
            let condition = self.read(condition.plane);
            let condition = self.lanes().is_set(condition);
            killed = self.builder.ins().band(killed, condition);
        }
        let (some, next) = (self.builder.create_block(), self.builder.create_block());
        let any = self.builder.ins().vany_true(killed);
        self.builder.ins().brif(any, some, &[], next, &[]);
        self.builder.switch_to_block(some);
        self.builder.seal_block(some);
        self.call_host(offsets::KILL, self.quad, &[killed], 1, 0);
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
        self.builder.seal_block(next);
    }
}
