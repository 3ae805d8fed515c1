//! Parameters of modules of the SPIR-V driver: members of a block, whose names state the system values that they hold.

use smallvec::SmallVec;
use tgsi_environment::SystemValue;

use crate::emit::Context;
use crate::emit::pointer::Step;
use crate::emit::storage::{Storage, System};
use crate::options::Environment;
use crate::types::TypeData;

/// The name of the block.
const BLOCK: &str = "driver_parameters";

/// The system value that a parameter holds, or an element of it.
fn system(name: &str, element: Option<Step>) -> Option<System> {
    Some(match name {
        // The base of vertices is 0 in draws without indices, whose bits the module clears by this mask.
        "is_indexed" => System::Ones,
        "tess_inner" => System::Value(SystemValue::TessLevelInnerDefault),
        "tess_outer" => System::Value(SystemValue::TessLevelOuterDefault),
        "first_vertex" => System::Value(SystemValue::FirstVertex),
        "base_instance" => System::Value(SystemValue::BaseInstance),
        "draw_id" => System::Value(SystemValue::DrawId),
        "work_dim" => System::Value(SystemValue::WorkDim),
        "user_data" => match element? {
            Step::Part(element @ 0..=1) => System::Words(SystemValue::UserDataAmd, element as u8 * 4),
            _ => return None,
        },
        _ => return None,
    })
}

impl Context<'_> {
    /// The system value of a parameter, and the steps in it; `None` for others, which remain constants.
    pub(super) fn parameter_storage(&self, number: u32, steps: &[Step]) -> Option<(Storage, SmallVec<[Step; 4]>)> {
        let global = self.module.globals.get(number as usize)?;
        if self.environment != Environment::Tgsic || self.module.name(global.id) != BLOCK {
            return None;
        }
        let TypeData::Struct { id, .. } = *self.module.types.get(global.ty) else { return None };
        let Some((&Step::Part(member), rest)) = steps.split_first() else { return None };
        let name = self.module.member_names.get(&(id, member))?;
        let system = system(name, rest.first().copied())?;
        let rest = if matches!(system, System::Words(..)) { rest.get(1..)? } else { rest };
        Some((Storage::System(system), SmallVec::from_slice(rest)))
    }
}
