//! Translates texture instructions and kills to calls of the functions of [`crate::native::runtime::sampling`], or
//! texture instructions to lookups in code, which may be out of line.

use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value as Ir};
use tgsi_ir::run::native::{Intrinsic, Texture};

use super::emitter::{Emitter, readonly_flags};
use crate::native::analysis::accesses::LaneVector;
use crate::native::analysis::known_units::known_unit;
use crate::native::runtime::context::{LookUp, offsets};
use crate::native::runtime::sampling::Plan;

/// Returns the lane vectors that a texture instruction reads, in the order of its area.
fn operands(texture: &Texture) -> impl Iterator<Item = LaneVector> + '_ {
    texture.sources.iter().flat_map(|value| value.vector..value.vector + value.vectors())
}

impl Emitter<'_, '_> {
    /// Emits a texture instruction.
    pub(super) fn emit_texture(&mut self, number: u32) {
        let program = self.function.program;
        let texture = &program.textures()[number as usize];
        let plan = Plan::new(texture);
        let exists = self.exists();
        let mut area = vec![self.builder.use_var(self.masks.active)];
        for vector in operands(texture) {
            let value = self.read(vector);
            // Missing lanes read as zero.
            area.push(self.builder.ins().band(value, exists));
        }
        let dest = texture.dest;
        let call = |emitter: &mut Self, callee: Ir| {
            let number = emitter.builder.ins().iconst(I64, i64::from(number));
            let context = emitter.region.context;
            emitter.call_with_area(callee, &[context, number], &area, plan.vectors, dest.vectors() as usize)
        };
        let results = if let Some(&function) = self.function.outlined.get(&number) {
            let table = self.field(offsets::LOOKUPS);
            let place = function as i32 * size_of::<LookUp>() as i32;
            let callee = self.builder.ins().load(I64, readonly_flags(), table, place);
            call(self, callee)
        } else {
            let by_host = |emitter: &mut Self| {
                let callee = emitter.field(offsets::LOOK_UP);
                call(emitter, callee)
            };
            match known_unit(program, texture, self.function.known) {
                Some(unit) => self.emit_specialized_lookup(unit, texture, &area[1..], by_host),
                None => by_host(self),
            }
        };
        for (vector, value) in (dest.vector..).zip(results) {
            self.write(vector, value, false);
        }
    }

    /// Emits `terminate`, `demote` and their conditional forms: lanes become helpers.
    pub(super) fn emit_kill(&mut self, intrinsic: &Intrinsic) {
        let program = self.function.program;
        let mut killed = self.builder.use_var(self.masks.active);
        if let Some(condition) = program.sources_of(intrinsic).first() {
            let condition = self.read(condition.vector);
            let condition = self.lanes().is_set(condition);
            killed = self.builder.ins().band(killed, condition);
        }
        if let Some(variable) = self.masks.killed {
            let all = self.builder.use_var(variable);
            let all = self.builder.ins().bor(all, killed);
            self.builder.def_var(variable, all);
        }
        let (some, next) = (self.builder.create_block(), self.builder.create_block());
        let any = self.builder.ins().vany_true(killed);
        self.builder.ins().brif(any, some, &[], next, &[]);
        self.builder.switch_to_block(some);
        self.builder.seal_block(some);
        let callee = self.field(offsets::KILL);
        self.call_with_area(callee, &[self.region.context, self.region.quad], &[killed], 1, 0);
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
        self.builder.seal_block(next);
    }
}
