//! Texture instructions and kills in machine code: calls back to the host of a run.
//!
//! The operands of a texture instruction are passed in an area of the stack, a vector of four words for each lane
//! vector after the mask of the active lanes; the result is returned in the same place. The interpreter itself builds
//! the request from them ([`Texture::execute`]). Code finds these functions through the context, and instructions by
//! their number, so that it contains no addresses.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tgsi_environment::Resources;
use tgsi_ir::run::Program;
use tgsi_ir::run::native::QuadWords;
use tgsi_ir::run::native::Texture;

use super::context::Context;

/// A texture instruction with values numbered by their position in its area.
#[derive(Clone, Debug)]
pub(in crate::native) struct Plan {
    texture: Texture,
    /// The number of vectors in the area.
    pub vectors: usize,
}

impl Plan {
    pub fn new(texture: &Texture) -> Plan {
        let mut texture = *texture;
        let mut next = 1;
        for value in &mut texture.sources {
            value.vector = next;
            next += value.vectors();
        }
        Plan { vectors: next.max(texture.dest.vectors()) as usize, texture }
    }

    /// Returns the plans of a program's texture instructions, by their numbers.
    pub fn all(program: &Program) -> Vec<Plan> {
        program.textures().iter().map(Plan::new).collect()
    }

    fn execute(&self, area: &mut [[u32; 4]], resources: &mut dyn Resources) {
        let active = area.first().map_or([false; 4], |mask| mask.map(|mask| mask != 0));
        if active == [false; 4] {
            return;
        }
        let quad = QuadWords { words: area.as_flattened(), width: 4, first: 0, lanes: 4 };
        let results = self.texture.execute(quad, active, resources);
        let dest = self.texture.dest;
        let components = usize::from(dest.components);
        for (component, words) in results.into_iter().enumerate().take(components) {
            if dest.bits == 32 {
                area[component] = words;
                continue;
            }
            let bits = words.map(|word| self.texture.result_bits(word));
            if dest.bits == 64 {
                area[component] = bits.map(|bits| bits as u32);
                area[components + component] = bits.map(|bits| (bits >> 32) as u32);
            } else {
                area[component] = bits.map(|bits| bits as u32 & ((1 << (dest.bits & 31)) - 1));
            }
        }
    }
}

/// The data of the functions that code calls.
pub(in crate::native) struct Host<'h> {
    pub plans: &'h [Plan],
    pub resources: &'h mut dyn Resources,
    pub live: &'h mut [bool],
    /// The payload of a panic of the resources. No more lookups are performed, and the panic is resumed after the code
    /// returns.
    pub panic: Option<Box<dyn Any + Send>>,
}

/// Performs a lookup.
pub(super) extern "C" fn look_up(context: *const Context, number: u64, area: *mut [u32; 4]) {
    // SAFETY: code passes the context that it was called with, which lives until it returns.
    let host: *mut Host<'_> = unsafe { (*context).host() }.cast();
    // SAFETY: the host lives as long as the context, and nothing else uses it while code runs; see `Code::execute`.
    let host: &mut Host<'_> = unsafe { &mut *host };
    let Some(plan) = host.plans.get(number as usize) else { return };
    // SAFETY: code passes the address of its stack slot, which has space for the vectors of this instruction.
    let area = unsafe { std::slice::from_raw_parts_mut(area, plan.vectors) };
    if host.panic.is_none() {
        let resources = &mut *host.resources;
        host.panic = catch_unwind(AssertUnwindSafe(|| plan.execute(area, resources))).err();
    }
}

/// Kills lanes.
pub(super) extern "C" fn kill(context: *const Context, quad: u64, mask: *mut [u32; 4]) {
    // SAFETY: as above.
    let host: *mut Host<'_> = unsafe { (*context).host() }.cast();
    // SAFETY: as above.
    let host: &mut Host<'_> = unsafe { &mut *host };
    // SAFETY: code passes the address of its stack slot, which has one vector.
    let mask = unsafe { *mask };
    let lanes = host.live.iter_mut().skip(quad as usize / 4);
    for (live, _) in lanes.zip(mask).filter(|(_, mask)| *mask != 0) {
        *live = false;
    }
}
