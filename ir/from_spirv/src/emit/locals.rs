//! Variables of functions.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use spirv::{Op, StorageClass};
use tgsi_ir::intrinsics::indices::AccessFlags;
use tgsi_ir::variable::VariableModes;

use super::Emitter;
use super::pointer::{Base, Pointer};
use super::storage::Memory;
use super::value::Value;
use crate::error::SpirvError;
use crate::module::Id;
use crate::words::Inst;

impl Emitter<'_, '_, '_> {
    /// Finds the variables whose pointers are arguments of calls: other functions access them.
    pub(super) fn find_shared_locals(&mut self) {
        let module = &*self.context.module;
        let Some(function) = module.functions.get(self.function) else { return };
        let mut shared = std::mem::take(&mut self.shared_locals);
        let mut seen = FxHashSet::default();
        for inst in function.blocks.iter().flat_map(|block| module.instructions(block)) {
            if inst.op != Op::FunctionCall as u16 {
                continue;
            }
            // From pointers back to their variables.
            let mut pending = inst.rest(3).to_vec();
            while let Some(id) = pending.pop() {
                if !matches!(module.id(id), Id::Value(ty) if module.types.pointee(ty).is_some()) || !seen.insert(id) {
                    continue;
                }
                let Some(definition) = module.positions.get(id as usize).and_then(|&at| module.words.at(at, 0)) else {
                    continue;
                };
                match Op::from_u32(definition.op.into()) {
                    Some(Op::Variable) => {
                        shared.insert(id);
                    }
                    Some(
                        Op::AccessChain
                        | Op::InBoundsAccessChain
                        | Op::PtrAccessChain
                        | Op::InBoundsPtrAccessChain
                        | Op::CopyObject,
                    ) => pending.push(definition.word(2)),
                    Some(Op::Select) => pending.extend_from_slice(definition.rest(3)),
                    Some(Op::Phi) => pending.extend(definition.rest(2).iter().step_by(2)),
                    _ => {}
                }
            }
        }
        self.shared_locals = shared;
    }

    /// A variable of the function.
    pub(super) fn local(&mut self, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let id = inst.word(1);
        let ty = self.context.module.result_type(inst);
        let Some((class, ty)) = self.context.module.types.pointee(ty) else {
            return Err(SpirvError::Types { op: "OpVariable".to_owned(), why: "the type is not a pointer" });
        };
        if class != StorageClass::Function as u32 {
            return Err(SpirvError::StorageClass { name: class.to_string() });
        }
        self.context.charge_memory(ty)?;
        let ir_type = self.context.ir_type(ty);
        let name = self.context.module.name(id).to_owned();
        let (variable, mode) = match (self.shared_locals.contains(&id), self.target) {
            (false, Some(target)) => {
                (self.context.shader.add_local(target, name, ir_type), VariableModes::FUNCTION_TEMP)
            }
            _ => (self.context.temporary(&name, ir_type), VariableModes::SHADER_TEMP),
        };
        let memory = Memory { variable, mode, ty, row_major: false };
        let pointer = Rc::new(Pointer {
            base: Base::Local(memory),
            steps: Default::default(),
            ty,
            class,
            access: AccessFlags::NONE,
        });
        if let Some(&initializer) = inst.words.get(3) {
            let value = self.value(initializer)?;
            self.store(&pointer, &value)?;
        }
        Ok(Value::Pointer(pointer))
    }
}
