//! Removes parameters of removed messages.
//!
//! Parameters are copied to registers with a fixed location, which other passes do not remove. A message follows its
//! parameters in their block.

use super::operation::PAYLOAD_VECTORS;
use crate::machine::Program;

/// Removes writes of parameters that no message of the block reads. Returns whether anything changed.
pub(super) fn remove_unread_parameters(program: &mut Program) -> bool {
    let mut live = [0u8; PAYLOAD_VECTORS as usize];
    let mut dead = vec![false; program.instructions().len()];
    for (index, access) in program.accesses().iter().enumerate().rev() {
        if program.flow(index).is_some() {
            live = [0; PAYLOAD_VECTORS as usize];
        }
        if let Some(written) = access.written()
            && let Some(live) = written.register().as_fixed().and_then(|vector| live.get_mut(vector))
        {
            dead[index] = *live & written.mask() == 0;
            *live &= !written.mask();
        }
        for read in access.reads().iter().filter(|_| !dead[index]) {
            if let Some(live) = read.register().as_fixed().and_then(|vector| live.get_mut(vector)) {
                *live |= read.mask();
            }
        }
    }
    let changed = dead.contains(&true);
    if changed {
        program.remove(&dead);
    }
    changed
}
