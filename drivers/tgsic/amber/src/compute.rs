//! Runs workgroups.

use tgsi_environment::MAX_LANES;
use tgsi_raster::workgroups::Workgroups;

use crate::buffer::Buffer;
use crate::error::{Refusal, RefusalKind};
use crate::program::Program;
use crate::resources::Registers;

/// Runs all workgroups, in order.
pub(crate) fn dispatch(
    program: &Program,
    registers: &Registers,
    groups: [u32; 3],
    buffers: &mut [Buffer],
    line: usize,
) -> Result<(), Refusal> {
    let workgroups = Workgroups::new(program.ir.info.workgroup_size, groups).map_err(|lanes| {
        let reason = format!("workgroups of more than {MAX_LANES} invocations");
        Refusal::new(line, RefusalKind::Run, reason, format!("{lanes}"))
    })?;
    let mut inputs = workgroups.inputs(program.ir.info.shared_size as usize);
    registers.set(&mut inputs, buffers);
    workgroups.run(&mut inputs, |inputs| {
        let outputs = program.run(inputs, &mut registers.images(buffers))?;
        if registers.has_storage() {
            registers.store(&outputs, buffers);
            registers.set_storage(inputs, buffers);
        }
        Ok(())
    })
}
