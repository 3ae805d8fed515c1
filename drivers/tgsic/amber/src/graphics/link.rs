//! Inputs and outputs of stages by slot.

use tgsi::tables::Interpolation;
use tgsi_ir::Shader;
use tgsi_ir::intrinsics::indices::InterpMode;
use tgsi_ir::types::TypeData;
use tgsi_ir::variable::VariableModes;
use tgsi_raster::stages::Link;

/// Most slots of a variable.
const MAX_SLOTS: u32 = 1024;

/// A register of a stage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    /// The slot ([`tgsi_ir::slots`]).
    pub location: i32,
    /// The register.
    pub register: usize,
    /// Whether it has one value for a patch.
    pub is_patch: bool,
    /// Interpolation of its components.
    pub interpolation: [Interpolation; 4],
}

/// Returns the registers of the inputs, or outputs, of a shader, in order of their slots. Variables that share a slot
/// share its register.
pub(crate) fn slots(ir: &Shader, mode: VariableModes) -> Vec<Slot> {
    let mut all: Vec<Slot> = Vec::new();
    for (_, variable) in ir.globals_with(mode) {
        let mut ty = variable.ty;
        if variable.per_vertex
            && let TypeData::Array { element, .. } = *ir.types.get(ty)
        {
            ty = element;
        }
        let interpolation = match variable.interpolation {
            InterpMode::Flat => Interpolation::Constant,
            InterpMode::NoPerspective => Interpolation::Linear,
            InterpMode::None | InterpMode::Smooth | InterpMode::Explicit => Interpolation::Perspective,
        };
        for number in 0..ir.types.slots(ty).clamp(1, MAX_SLOTS) {
            let location = variable.location.saturating_add(number as i32);
            let first = if number == 0 { usize::from(variable.location_frac) } else { 0 };
            let known = all.iter().position(|slot| slot.location == location);
            let at = known.unwrap_or_else(|| {
                all.push(Slot {
                    location,
                    register: variable.driver_location.saturating_add(number) as usize,
                    is_patch: variable.patch,
                    interpolation: [interpolation; 4],
                });
                all.len() - 1
            });
            // Variables are in any order: each sets its components from the first on.
            if let Some(components) = all.get_mut(at).and_then(|slot| slot.interpolation.get_mut(first..)) {
                let count = components_of(ir, ty);
                components.iter_mut().take(count).for_each(|component| *component = interpolation);
            }
        }
    }
    all.sort_by_key(|slot| slot.location);
    all
}

/// The words that a vector, or a column or element, takes of a slot.
fn components_of(ir: &Shader, ty: tgsi_ir::entities::Type) -> usize {
    let mut ty = ty;
    loop {
        match *ir.types.get(ty) {
            TypeData::Array { element, .. } => ty = element,
            TypeData::Vector { scalar, components } => {
                return usize::from(components) * if scalar.bit_size() == 64 { 2 } else { 1 };
            }
            TypeData::Matrix { rows, .. } => return rows.into(),
            _ => return 4,
        }
    }
}

/// The link between two stages. `is_patch` chooses between values of vertices and of patches.
pub(crate) fn link(outputs: &[Slot], inputs: &[Slot], is_patch: bool) -> Link {
    let of_kind = inputs.iter().filter(|input| input.is_patch == is_patch);
    Link::new(of_kind.map(|input| (input.register, register_of(outputs, input.location))).collect())
}

/// The register with a slot.
pub(crate) fn register_of(slots: &[Slot], location: i32) -> Option<usize> {
    slots.iter().find(|slot| slot.location == location).map(|slot| slot.register)
}
