//! Variables that functions share (`shader_temp`), and calls.
//!
//! ```text
//! %1 = deref_var &a          (no instruction)
//! %2 = @load_deref (%1)      MOV TEMP[9], TEMP[0]
//! call sub_7                 CAL :7
//! @store_deref (%1, %2)      MOV TEMP[0], TEMP[9]
//! ```
//!
//! They have fixed temporaries, the same in all functions, which are never packed with others: the machine passes treat
//! them as elements of arrays. A load or store is therefore a copy, which the passes fold into other instructions if
//! there is no write in between.

use cranelift_entity::SecondaryMap;
use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode};
use tgsi_ir::body::DerefKind;
use tgsi_ir::entities::{Function, Type};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::{TypeData, TypeTable};
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, Def, Inst, Shader, Variable};
use tgsi_registers::chase;

use super::address::AddressUse;
use super::{MAX_REGISTERS, RegisterStorage, Selector, Value, lane_mask};
use crate::DriverError;

/// The fixed registers: first the arrays of temporaries of all functions, then shared variables.
#[derive(Default)]
pub(crate) struct FixedRegisters {
    /// The sizes of the arrays, in order; array `n` has number `n + 1`.
    pub(crate) arrays: Vec<u32>,
    /// One past the last temporary.
    pub(crate) end: u32,
    variables: SecondaryMap<Variable, Option<RegisterStorage>>,
    /// The register arrays of each function: the first temporary, and the number of the first array.
    of_function: SecondaryMap<Function, (u32, u16)>,
}

impl FixedRegisters {
    pub(crate) fn of(shader: &Shader) -> Result<FixedRegisters, DriverError> {
        let mut fixed = FixedRegisters::default();
        let mut vectors = Vec::new();
        for &variable in &shader.globals {
            let data = &shader.variables[variable];
            if data.mode != VariableModes::SHADER_TEMP {
                continue;
            }
            match *shader.types.get(data.ty) {
                TypeData::Array { element, length, .. } if length > 0 && fits(&shader.types, element) => {
                    fixed.variables[variable] = Some(fixed.array(length)?);
                }
                _ if fits(&shader.types, data.ty) => vectors.push(variable),
                // Accesses to it are errors.
                _ => {}
            }
        }
        for (function, data) in &shader.functions {
            let Some(body) = &data.body else { continue };
            fixed.of_function[function] = (fixed.end, fixed.arrays.len() as u16);
            for elements in declared_arrays(body) {
                fixed.array(elements)?;
            }
        }
        for variable in vectors {
            fixed.variables[variable] = Some(RegisterStorage::Temp(fixed.end));
            fixed.end += 1;
        }
        if fixed.end > MAX_REGISTERS {
            return Err(DriverError::TooManyTemporaries(fixed.end));
        }
        Ok(fixed)
    }

    fn array(&mut self, elements: u32) -> Result<RegisterStorage, DriverError> {
        let first = self.end;
        self.end = first.saturating_add(elements);
        if self.end > MAX_REGISTERS {
            return Err(DriverError::TooManyTemporaries(self.end));
        }
        self.arrays.push(elements);
        Ok(RegisterStorage::Array(first, elements, self.arrays.len() as u16))
    }

    /// Storage of the register arrays of a function, in the order of their declarations.
    pub(super) fn storage_of(&self, function: Function, body: &Body) -> impl Iterator<Item = RegisterStorage> {
        let (mut first, mut number) = self.of_function[function];
        declared_arrays(body).map(move |elements| {
            let array = RegisterStorage::Array(first, elements, number + 1);
            first += elements;
            number += 1;
            array
        })
    }
}

/// Whether a register holds a value of a type.
fn fits(types: &TypeTable, ty: Type) -> bool {
    types.as_vector(ty).is_some_and(|(scalar, components)| match scalar.bit_size() {
        64 => components <= 2,
        1 | 32 => components <= 4,
        _ => false,
    })
}

/// The sizes of the register arrays of a body.
fn declared_arrays(body: &Body) -> impl Iterator<Item = u32> + '_ {
    body.insts(body.start_block())
        .filter(|&inst| body.intrinsic(inst) == Some(IntrinsicOp::DeclReg))
        .map(|inst| body.index(inst, IndexKind::NumArrayElems) as u32)
        .filter(|&elements| elements > 0)
}

/// The registers that a deref of a shared variable refers to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shared {
    /// The variable.
    Whole(RegisterStorage),
    /// A register; none outside an array.
    Register(Option<Register>),
    /// An element of an array: its first register and number, the index, and the constant added to the register.
    Element(u32, u16, Src, i32),
}

impl Selector<'_> {
    /// Selects derefs of shared variables. Returns whether it is one.
    pub(super) fn shared_deref(&mut self, inst: Inst, kind: DerefKind) -> Result<bool, DriverError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(false) };
        let shared = match kind {
            DerefKind::Var(variable) => match self.fixed.variables[variable] {
                Some(RegisterStorage::Temp(temp)) => {
                    Shared::Register(Some(Register::new(File::Temporary, temp as i32)))
                }
                Some(array) => Shared::Whole(array),
                None => return Ok(false),
            },
            DerefKind::Array => match self.shared[body.src(inst, 0)] {
                Some(Shared::Whole(RegisterStorage::Array(first, elements, array))) => {
                    let index = body.src(inst, 1);
                    match body.constant_component(index, 0) {
                        Some(index) => {
                            let is_inside = index < u64::from(elements);
                            let register = Register::new(File::Temporary, first.wrapping_add(index as u32) as i32);
                            Shared::Register(is_inside.then_some(register))
                        }
                        None => {
                            let (index, add) = self.index_of_element(index);
                            Shared::Element(first, array, index, add)
                        }
                    }
                }
                Some(_) => return Err(DriverError::NotLowered { inst, what: "a deref of a shared variable" }),
                None => return Ok(false),
            },
            _ if self.shared[body.src(inst, 0)].is_some() => {
                return Err(DriverError::NotLowered { inst, what: "a deref of a shared variable" });
            }
            _ => return Ok(false),
        };
        self.shared[def] = Some(shared);
        Ok(true)
    }

    /// The present value of an index, and the constant to add. A register may change before the deref is used.
    fn index_of_element(&mut self, index: Def) -> (Src, i32) {
        self.note_index(index);
        let (def, component, offset) = self.split_index(index);
        if let Some(load) = chase::load_reg_for_def(self.body, def)
            && let Some(register) = chase::accessed_register(self.body, load)
        {
            let value = self.register_value(register).lane(component);
            return (self.computed(Opcode::Mov, 1, &[value]).swizzled([0; 4]), offset);
        }
        (self.value(def).lane(component), offset)
    }

    /// The register that a deref refers to; none outside an array.
    fn shared_register(&mut self, inst: Inst) -> Result<Option<Register>, DriverError> {
        match self.shared[self.body.src(inst, 0)] {
            Some(Shared::Register(register)) => Ok(register),
            Some(Shared::Element(first, array, index, add)) => {
                let slot = self.load_value(index, AddressUse::Index);
                let named = (first as i32).saturating_add(add);
                Ok(Some(Register::new(File::Temporary, named).indexed_by(slot.0, slot.1, array)))
            }
            Some(Shared::Whole(_)) | None => {
                Err(DriverError::NotLowered { inst, what: "a variable without registers" })
            }
        }
    }

    pub(super) fn load_shared(&mut self, inst: Inst) -> Result<(), DriverError> {
        let Some(def) = self.body.inst_def(inst) else { return Ok(()) };
        match self.shared_register(inst)? {
            Some(register) => self.copy_to(def, Value::new(register)),
            None => self.bind_zero(def),
        }
        Ok(())
    }

    pub(super) fn store_shared(&mut self, inst: Inst) -> Result<(), DriverError> {
        let mask = self.body.write_mask(inst);
        let mask = lane_mask(mask, self.body.bit_size(self.body.src(inst, 1)));
        let value = self.source(inst, 1);
        if let Some(register) = self.shared_register(inst)?.filter(|_| mask != 0) {
            self.emit(Opcode::Mov, Dst::new(register).masked(mask), &[value.source([0, 1, 2, 3])]);
        }
        Ok(())
    }

    /// Emits a call. The label is the number of the function until functions have positions.
    pub(super) fn select_call(&mut self, inst: Inst, callee: Function, indirect: bool) -> Result<(), DriverError> {
        let is_plain = !indirect && self.body.sources(inst).next().is_none();
        if !is_plain || !self.callable.contains(callee) {
            return Err(DriverError::NotLowered { inst, what: "a call of a function that is not a subroutine" });
        }
        let mut call = Instruction::new(Opcode::Cal);
        call.label = Some(callee.as_u32());
        self.emit_instruction(call);
        // The callee uses the same address registers.
        self.forget_addresses();
        Ok(())
    }

    /// Zeroes the arrays of a function at each call.
    pub(super) fn clear_arrays(&mut self) {
        let arrays: Vec<RegisterStorage> = self.fixed.storage_of(self.function, self.body).collect();
        let zero = self.word(0);
        for array in arrays {
            if let RegisterStorage::Array(first, elements, _) = array {
                for register in first..first + elements {
                    self.emit(Opcode::Mov, Dst::new(Register::new(File::Temporary, register as i32)), &[zero]);
                }
            }
        }
    }
}
