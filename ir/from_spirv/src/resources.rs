//! Resources of descriptor sets.

use smallvec::SmallVec;

use crate::emit::Context;
use crate::emit::pointer::Step;
use crate::emit::storage::Storage;
use crate::error::SpirvError;

/// The resources that are used.
#[derive(Debug, Default)]
pub(crate) struct Resources {}

impl Context<'_> {
    /// The storage of a block, image or sampler. Creates variables at their first use.
    ///
    /// # Errors
    /// The variable has no place in shaders.
    pub(crate) fn resource_storage(
        &mut self,
        number: u32,
        steps: &[Step],
    ) -> Result<(Storage, SmallVec<[Step; 4]>), SpirvError> {
        let _ = number;
        Ok((Storage::Error, SmallVec::from_slice(steps)))
    }

    /// Numbers the registers of resources.
    pub(crate) fn finish_resources(&mut self) {}

    /// Describes resources and specialisation constants.
    pub(crate) fn describe_resources(&self, interface: &mut tgsi_compiler::front_end::Interface) {
        let _ = interface;
    }
}
