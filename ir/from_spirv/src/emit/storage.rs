//! Where variables of a module are.

use std::rc::Rc;

use smallvec::SmallVec;
use spirv::StorageClass;
use tgsi_environment::SystemValue;
use tgsi_ir::entities::Variable as IrVariable;
use tgsi_ir::variable::{VariableData, VariableModes};

use super::pointer::Step;
use super::value::Value;
use super::{Context, Emitter};
use crate::error::SpirvError;
use crate::module::Global;
use crate::types::TypeId;

/// A variable of the IR that has the type of the module's variable, or of a member of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Memory {
    pub(crate) variable: IrVariable,
    pub(crate) mode: VariableModes,
    /// The type in the module.
    pub(crate) ty: TypeId,
    /// Whether the matrices of the type are stored by rows.
    pub(crate) row_major: bool,
}

/// Floats that share vectors: clip and cull distances, levels of tessellation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Packed {
    /// The vectors of four; with an outer dimension if the variable is arrayed by vertices.
    pub(crate) vectors: [Option<IrVariable>; 2],
    pub(crate) mode: VariableModes,
    /// The number of the first float.
    pub(crate) first: u32,
    /// Number of floats.
    pub(crate) length: u32,
    /// Whether there is an outer dimension of vertices.
    pub(crate) is_arrayed: bool,
}

/// A built-in input that is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum System {
    /// A system value of the IR, whose components are those of the built-in.
    Value(SystemValue),
    /// A built-in that is computed, by its number.
    BuiltIn(u32),
    /// A constant of zeros.
    Zero,
    /// A constant of which all bits are set.
    Ones,
    /// Four words of a system value, from this one on.
    Words(SystemValue, u8),
}

/// Where a variable of the module is, or a member of a block of inputs or outputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Storage {
    Memory(Memory),
    Packed(Packed),
    /// A block of this type at byte 0 of the memory of the workgroup.
    Bytes(TypeId),
    System(System),
    /// Images and samplers, which are not memory.
    Opaque,
    /// An error was reported.
    Error,
}

impl Context<'_> {
    /// The storage of a variable of the module, or of the member of a block to which the first steps lead, and the
    /// other steps. Creates variables at their first use.
    ///
    /// # Errors
    /// The variable has no place in shaders.
    pub(crate) fn storage_of(
        &mut self,
        number: u32,
        steps: &[Step],
    ) -> Result<(Storage, SmallVec<[Step; 4]>), SpirvError> {
        let Some(global) = self.module.globals.get(number as usize).copied() else {
            return Ok((Storage::Error, SmallVec::new()));
        };
        let mode = match StorageClass::from_u32(global.class) {
            Some(StorageClass::Input | StorageClass::Output) => return self.interface_storage(number, steps),
            Some(
                StorageClass::UniformConstant
                | StorageClass::Uniform
                | StorageClass::StorageBuffer
                | StorageClass::PushConstant
                | StorageClass::AtomicCounter,
            ) => return self.resource_storage(number, steps),
            Some(StorageClass::Private) => VariableModes::SHADER_TEMP,
            Some(StorageClass::Workgroup) => VariableModes::MEM_SHARED,
            class => {
                let name = class.map_or_else(|| global.class.to_string(), |class| format!("{class:?}"));
                return Err(SpirvError::StorageClass { name });
            }
        };
        let storage = match self.globals.get(number as usize).copied().flatten() {
            Some(known) => known,
            None => {
                let storage = self.create_storage(&global, mode);
                let storage = storage.unwrap_or_else(|error| {
                    self.findings.add(error, global.span);
                    Storage::Error
                });
                if let Some(place) = self.globals.get_mut(number as usize) {
                    *place = Some(storage);
                }
                storage
            }
        };
        Ok((storage, SmallVec::from_slice(steps)))
    }

    /// Creates the storage of a private variable or of one of the workgroup.
    fn create_storage(&mut self, global: &Global, mode: VariableModes) -> Result<Storage, SpirvError> {
        let is_shared = mode == VariableModes::MEM_SHARED;
        if is_shared && let Some(block) = self.shared_block(global)? {
            return Ok(block);
        }
        self.charge_memory(global.ty)?;
        let ir_type = if is_shared { self.laid_out_type(global.ty) } else { self.ir_type(global.ty) };
        let name = self.module.name(global.id).to_owned();
        let variable = self.shader.add_variable(VariableData::new(name, ir_type, mode));
        Ok(Storage::Memory(Memory { variable, mode, ty: global.ty, row_major: false }))
    }
}

impl Emitter<'_, '_, '_> {
    /// Stores the initial values of variables of the module that are used.
    pub(super) fn initialize_globals(&mut self) {
        let mut has_workgroup = false;
        for number in 0..self.context.module.globals.len() {
            let Some(global) = self.context.module.globals.get(number).copied() else { continue };
            let class = StorageClass::from_u32(global.class);
            let is_used = match class {
                // Initialisers write outputs.
                Some(StorageClass::Output) => self.context.is_in_interface(global.id),
                _ => self.context.globals.get(number).is_some_and(Option::is_some),
            };
            let Some(initializer) = global.initializer.filter(|_| is_used) else { continue };
            if !matches!(class, Some(StorageClass::Private | StorageClass::Output | StorageClass::Workgroup)) {
                continue;
            }
            has_workgroup |= class == Some(StorageClass::Workgroup);
            let pointer = Rc::new(self.global_pointer(number as u32));
            // All invocations of a workgroup store the same zeros.
            if let Err(error) = self.store(&pointer, &Value::Known(initializer)) {
                self.context.findings.add(error, global.span);
            }
        }
        if has_workgroup {
            self.workgroup_barrier();
        }
    }
}
