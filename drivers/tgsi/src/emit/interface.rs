//! Keeps the interface of a shader with other shaders and the driver: its declarations of visible registers, and its
//! properties.
//!
//! Without it, the driver derives inputs, outputs and resources from the code, and omits unused ones. For linked stages
//! of a virgl host that is not enough: array layouts, and the set of varyings, come from the declarations of both
//! sides; stream outputs refer to registers by number. An [`Interface`] is taken from the source, and the result has
//! the same declarations line by line; only temporaries and address registers are new.

use std::collections::BTreeMap;

use tgsi::shader::{Declaration, Instruction, Property, Shader};
use tgsi::tables::File;

use crate::DriverError;
use crate::consumers::virgl::rules::keeps_bits;

/// The declarations and properties of a source, to be kept.
#[derive(Clone, Debug, Default)]
pub struct Interface {
    declarations: Vec<Declaration>,
    properties: Vec<Property>,
    /// Outputs that the source writes with an opcode for which virgl hosts convert the result by value, in ascending
    /// order.
    converted_outputs: Vec<u32>,
}

/// Whether registers of a file are not visible outside the shader.
fn is_private(file: File) -> bool {
    matches!(file, File::Temporary | File::Address)
}

/// The numbers of a shader's registers in the other shader.
struct Renumbering {
    system_values: BTreeMap<i32, i32>,
    /// Array numbers of inputs, outputs and counters.
    arrays: BTreeMap<(File, u16), u16>,
}

impl Interface {
    /// Extracts the interface of a shader.
    pub fn of(source: &Shader) -> Interface {
        let declarations = source.declarations.iter().filter(|d| !is_private(d.file)).cloned().collect();
        let by_value = source.instructions.iter().filter(|instruction| !keeps_bits(instruction));
        let outputs = by_value.flat_map(|i| &i.dst).filter(|dst| dst.register.file == File::Output);
        let mut converted_outputs: Vec<u32> = outputs.filter_map(|dst| dst.register.index.try_into().ok()).collect();
        converted_outputs.sort_unstable();
        converted_outputs.dedup();
        Interface { declarations, properties: source.properties.clone(), converted_outputs }
    }

    /// Outputs that need not preserve bits, because the source has them converted by value.
    pub(crate) fn converted_outputs(&self) -> &[u32] {
        &self.converted_outputs
    }

    /// Applies the declarations and properties of the source to its translation.
    pub(crate) fn apply(&self, shader: &mut Shader) -> Result<(), DriverError> {
        let mut renumbering = Renumbering { system_values: BTreeMap::new(), arrays: BTreeMap::new() };
        let mut declarations = self.declarations.clone();
        for own in std::mem::take(&mut shader.declarations) {
            match own.file {
                file if is_private(file) => declarations.push(own),
                File::SystemValue => self.system_value(own, &mut renumbering, &mut declarations),
                File::Input | File::Output => self.array(&own, &mut renumbering)?,
                // Units and ranges keep their numbers; new ones are appended.
                _ => match self.declarations.iter().find(|d| overlaps(d, &own)) {
                    Some(declared) => {
                        if let Some(number) = own.array() {
                            renumbering.arrays.insert((own.file, number), declared.array().unwrap_or(0));
                        }
                    }
                    None => declarations.push(own),
                },
            }
        }
        for instruction in &mut shader.instructions {
            renumber(instruction, &renumbering);
        }
        shader.declarations = declarations;
        shader.properties.clone_from(&self.properties);
        shader.order_by_kind();
        Ok(())
    }

    fn system_value(&self, own: Declaration, renumbering: &mut Renumbering, declarations: &mut Vec<Declaration>) {
        let meaning = |d: &Declaration| d.semantic.map(|s| s.name);
        let is_same = |d: &&Declaration| d.file == File::SystemValue && meaning(d) == meaning(&own);
        let slot = match declarations.iter().find(is_same) {
            Some(declared) => declared.first,
            None => {
                let used = declarations.iter().filter(|d| d.file == File::SystemValue);
                let slot = used.map(|d| d.last.saturating_add(1)).max().unwrap_or(0);
                declarations.push(Declaration { first: slot, last: slot, ..own.clone() });
                slot
            }
        };
        renumbering.system_values.insert(own.first.into(), slot.into());
    }

    /// Maps the number of an array of inputs or outputs, by its first register.
    fn array(&self, own: &Declaration, renumbering: &mut Renumbering) -> Result<(), DriverError> {
        let holds = |d: &&Declaration| d.file == own.file && (d.first..=d.last).contains(&own.first);
        let Some(declared) = self.declarations.iter().find(holds) else {
            return Err(DriverError::Interface { file: own.file, register: own.first });
        };
        if let Some(number) = own.array() {
            renumbering.arrays.insert((own.file, number), declared.array().unwrap_or(0));
        }
        Ok(())
    }
}

/// Whether two declarations have registers in common.
fn overlaps(a: &Declaration, b: &Declaration) -> bool {
    let buffer = |d: &Declaration| d.dimension.unwrap_or(0);
    a.file == b.file && buffer(a) == buffer(b) && a.first <= b.last && b.first <= a.last
}

fn renumber(instruction: &mut Instruction, renumbering: &Renumbering) {
    let sources = instruction.src.iter_mut().map(|s| &mut s.register);
    for register in sources.chain(instruction.dst.iter_mut().map(|d| &mut d.register)) {
        match register.file {
            File::SystemValue => {
                if let Some(&slot) = renumbering.system_values.get(&register.index) {
                    register.index = slot;
                }
            }
            File::Input | File::Output | File::HwAtomic => {
                if let Some(indirect) = &mut register.indirect
                    && let Some(&number) = renumbering.arrays.get(&(register.file, indirect.array_id))
                {
                    indirect.array_id = number;
                }
            }
            _ => {}
        }
    }
}
