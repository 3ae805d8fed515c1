//! Inputs, outputs and built-ins.

use smallvec::SmallVec;
use tgsi_ir::entities::Def;

use crate::emit::pointer::{Pointer, Step};
use crate::emit::storage::{Storage, System};
use crate::emit::{Context, Emitter};
use crate::error::SpirvError;

/// The inputs and outputs that are used.
#[derive(Debug, Default)]
pub(crate) struct Interface {}

impl Context<'_> {
    /// The storage of an input or output, or of the member of a block to which the first steps lead, and the other
    /// steps. Creates variables at their first use.
    ///
    /// # Errors
    /// The variable has no place in shaders.
    pub(crate) fn interface_storage(
        &mut self,
        number: u32,
        steps: &[Step],
    ) -> Result<(Storage, SmallVec<[Step; 4]>), SpirvError> {
        let _ = number;
        Ok((Storage::Error, SmallVec::from_slice(steps)))
    }

    /// Notes that an output is written.
    pub(crate) fn note_written(&mut self, number: u32, steps: &[Step]) {
        let _ = (number, steps);
    }

    /// Numbers the registers of inputs and outputs, and sets the properties of the shader.
    pub(crate) fn finish_interface(&mut self) {}

    /// Describes inputs and outputs.
    pub(crate) fn describe_interface(&self, interface: &mut tgsi_compiler::front_end::Interface) {
        let _ = interface;
    }
}

impl Emitter<'_, '_, '_> {
    /// The vectors of a built-in input: one, or the elements of an array.
    pub(crate) fn system_value(&mut self, system: System, pointer: &Pointer) -> Result<SmallVec<[Def; 4]>, SpirvError> {
        let _ = (system, pointer);
        Ok(SmallVec::new())
    }

    /// Stores outputs from their shadows.
    pub(crate) fn store_all_outputs(&mut self) {}
}
