//! The declarations of a shader that the pipeline uses.

use tgsi::Shader;
use tgsi::tables::{File, Interpolation, Semantic};

/// A register with its semantic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    pub register: u16,
    pub semantic: Semantic,
    pub index: u16,
    pub interpolation: Interpolation,
}

/// Returns the registers of a file, each with its semantic, in order.
pub(crate) fn slots(shader: &Shader, file: File) -> Vec<Slot> {
    let declarations = shader.declarations.iter().filter(|declaration| declaration.file == file);
    let slots = declarations.flat_map(|declaration| {
        let interpolation = declaration.interpolation.map_or(Interpolation::Perspective, |i| i.mode);
        declaration.semantic.into_iter().flat_map(move |semantic| {
            (declaration.first..=declaration.last).map(move |register| Slot {
                register,
                semantic: semantic.name,
                index: semantic.index + (register - declaration.first),
                interpolation,
            })
        })
    });
    let mut slots: Vec<Slot> = slots.collect();
    slots.sort_unstable_by_key(|slot| slot.register);
    slots.dedup_by_key(|slot| slot.register);
    slots
}

/// Returns the register of a semantic.
pub(crate) fn find(slots: &[Slot], semantic: Semantic, index: u16) -> Option<u16> {
    slots.iter().find(|slot| (slot.semantic, slot.index) == (semantic, index)).map(|slot| slot.register)
}
