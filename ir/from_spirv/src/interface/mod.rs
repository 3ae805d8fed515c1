//! Inputs, outputs and built-ins.
//!
//! A variable of the module, or each member of a block, is a *port*. Ports are created at their first use:
//!
//! | port | storage |
//! |---|---|
//! | input | a variable of the IR |
//! | output | a temporary, the shadow, which `store_outputs` copies to the output |
//! | output of tessellation control | the output itself, which other invocations may read |
//! | clip and cull distances, levels of tessellation | components of vectors (`distances`) |
//! | built-in input | a system value, or code that computes it |
//!
//! Only outputs that an instruction or an initialiser writes exist. Registers are numbered at the end (`numbering`).

pub(crate) mod built_ins;
mod description;
mod distances;
mod epilogue;
mod locations;
mod modes;
mod numbering;
mod stream_output;
mod system_values;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirv::{BuiltIn, Decoration, StorageClass};
use tgsi_ir::entities::Variable as IrVariable;
use tgsi_ir::intrinsics::indices::InterpMode;
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::variable::{VariableData, VariableModes};

use crate::emit::Context;
use crate::emit::pointer::Step;
use crate::emit::storage::{Memory, Storage};
use crate::error::SpirvError;
use crate::options::Environment;
use crate::types::{TypeData, TypeId};
use distances::Distances;
use locations::Layout;
use stream_output::Capture;

/// The member number of a variable that is one port.
const WHOLE: u32 = u32::MAX;

/// The most pieces of an output that stream output captures: more components than devices have for all outputs.
const MAX_CAPTURES: usize = 1 << 12;

/// The number of a port, and the steps in it.
type PortSteps = (usize, SmallVec<[Step; 4]>);

/// The parts of an output that are written.
#[derive(Clone, Default, Debug)]
struct Written {
    /// Elements of an array with constant indices.
    elements: BTreeSet<u32>,
    /// Any part may be.
    is_whole: bool,
}

/// An input or output.
#[derive(Clone, Debug)]
struct Port {
    name: String,
    /// The type, without the dimension of vertices.
    ty: TypeId,
    storage: Storage,
    is_output: bool,
    is_patch: bool,
    /// The location in the module.
    location: Option<u32>,
    /// The output that a shadow is copied to.
    output: Option<VariableData>,
    written: Written,
    /// Where stream output captures it.
    capture: Option<Capture>,
    /// Inputs and outputs of the IR.
    variables: Vec<PortVariable>,
}

/// An input or output of the IR: a port, or an element of it.
#[derive(Clone, Copy, Debug)]
struct PortVariable {
    ty: TypeId,
    variable: IrVariable,
    /// The number of the element.
    element: u32,
}

/// The inputs and outputs that are used.
#[derive(Debug, Default)]
pub(crate) struct Interface {
    /// By variable: the places of its parts; `None` if an error was reported.
    layouts: FxHashMap<u32, Option<Rc<Layout>>>,
    /// By variable and member: the number of its port.
    by_member: FxHashMap<(u32, u32), usize>,
    ports: Vec<Port>,
    /// Clip and cull distances of inputs, and of outputs.
    distances: [Option<Distances>; 2],
}

impl Context<'_> {
    /// The storage of an input or output, or of the member of a block to which the first steps lead, and the other
    /// steps. Creates variables at their first use.
    ///
    /// # Errors
    /// The steps do not lead to a member of a block.
    pub(crate) fn interface_storage(
        &mut self,
        number: u32,
        steps: &[Step],
    ) -> Result<(Storage, SmallVec<[Step; 4]>), SpirvError> {
        let Some((port, steps)) = self.port_at(number, steps)? else { return Ok((Storage::Error, SmallVec::new())) };
        Ok((self.interface.ports.get(port).map_or(Storage::Error, |port| port.storage), steps))
    }

    /// Notes that an output is written.
    pub(crate) fn note_written(&mut self, number: u32, steps: &[Step]) {
        if !self.is_output(number) {
            return;
        }
        let Ok(Some((port, steps))) = self.port_at(number, steps) else { return };
        let Some(port) = self.interface.ports.get_mut(port) else { return };
        match (self.module.types.get(port.ty), steps.first()) {
            (TypeData::Array { .. }, Some(&Step::Part(element))) => {
                port.written.elements.insert(element);
            }
            _ => port.written.is_whole = true,
        }
        if let Storage::Packed(_) = port.storage
            && let Some(distances) = &mut self.interface.distances[1]
        {
            distances.is_written = true;
        }
    }

    /// Whether a variable with an id is in the interface of the entry point.
    pub(crate) fn is_in_interface(&self, id: u32) -> bool {
        let entry = self.module.entry_points.get(self.entry);
        entry.is_some_and(|entry| entry.interface.contains(&id))
    }

    /// Whether a variable of the module is an output.
    fn is_output(&self, number: u32) -> bool {
        let class = self.module.globals.get(number as usize).map(|global| global.class);
        class == Some(StorageClass::Output as u32)
    }

    /// The port of a variable, or of the member to which the first steps lead, and the steps in it; `None` if an error
    /// was reported, and for words of masks that are not used.
    fn port_at(&mut self, number: u32, steps: &[Step]) -> Result<Option<PortSteps>, SpirvError> {
        let Some(layout) = self.layout(number) else { return Ok(None) };
        let error = SpirvError::Types { op: "the access".to_owned(), why: "it is not to a member of the block" };
        let Some((vertex, steps)) = steps.split_at_checked(usize::from(layout.vertices.is_some())) else {
            return Err(error);
        };
        let (member, steps) = match (layout.block, steps) {
            (None, steps) => (WHOLE, steps),
            (Some(_), [Step::Part(member), steps @ ..]) => (*member, steps),
            (Some(_), _) => return Err(error),
        };
        let port = match self.interface.by_member.get(&(number, member)) {
            Some(&known) => known,
            None => {
                let port = self.create_port(number, member, &layout).unwrap_or_else(|error| {
                    self.report_at(number, error);
                    Port::new(String::new(), TypeId::ERROR, Storage::Error)
                });
                self.interface.ports.push(port);
                self.interface.by_member.insert((number, member), self.interface.ports.len() - 1);
                self.interface.ports.len() - 1
            }
        };
        let steps = match (layout.built_in(member), steps.first()) {
            (Some(built_in), Some(Step::Part(1..))) if is_mask(built_in) => return Ok(None),
            (Some(built_in), _) if is_mask(built_in) => &[],
            _ => steps,
        };
        Ok(Some((port, vertex.iter().chain(steps).copied().collect())))
    }

    /// Adds a finding about a variable of the module.
    fn report_at(&mut self, number: u32, error: SpirvError) {
        let span = self.module.globals.get(number as usize).map(|global| global.span).unwrap_or_default();
        self.findings.add(error, span);
    }

    fn create_port(&mut self, number: u32, member: u32, layout: &Layout) -> Result<Port, SpirvError> {
        let part = layout
            .part(member)
            .ok_or(SpirvError::Types { op: "the access".to_owned(), why: "the struct has no such member" })?;
        let name = self.port_name(number, member, layout);
        let mut port = match part.built_in {
            Some(built_in) => self.built_in_port(number, member, layout, built_in, name)?,
            None => self.located_port(number, member, layout, name)?,
        };
        if port.is_output && self.shader.info.has_transform_feedback_varyings {
            port.capture = self.capture(number, member, layout);
        }
        Ok(port)
    }

    /// The name of a variable, or of a member with that of its block. Built-ins have the name of the member.
    fn port_name(&self, number: u32, member: u32, layout: &Layout) -> String {
        let id = self.module.globals.get(number as usize).map_or(0, |global| global.id);
        let of_variable = self.module.name(id);
        let Some(block) = layout.block else { return of_variable.to_owned() };
        let of_member = self.module.member_names.get(&(block, member)).map_or("", String::as_str);
        if layout.built_in(member).is_some() {
            return of_member.to_owned();
        }
        let of_block = if of_variable.is_empty() { self.module.name(block) } else { of_variable };
        match (of_block, of_member) {
            ("", name) => name.to_owned(),
            (block, "") => format!("{block}.{member}"),
            (block, name) => format!("{block}.{name}"),
        }
    }

    /// Creates a port at a location.
    fn located_port(&mut self, number: u32, member: u32, layout: &Layout, name: String) -> Result<Port, SpirvError> {
        let is_output = self.is_output(number);
        let Some(part) = layout.part(member).copied() else { return Err(SpirvError::NoEntryPoint) };
        let slots = self.check_interface_type(part.ty)?;
        let what = || if name.is_empty() { format!("variable {number}") } else { name.clone() };
        let location = part
            .location
            .or_else(|| self.fragment_data_location(number))
            .ok_or_else(|| SpirvError::Layout { what: what(), decoration: "Location" })?;
        let slot = self.slot_of((is_output, layout.is_patch), &name, location, slots)?;
        let ir_type = self.ir_type(part.ty);
        let decorations = self.part_decorations(number, member, layout);
        let mut data = VariableData::new(name.clone(), ir_type, VariableModes::SHADER_IN);
        if data.name.is_empty() {
            data.name = format!("{}_{location}", if is_output { "out" } else { "in" });
        }
        data.location = slot;
        data.driver_location = location;
        data.patch = layout.is_patch;
        data.invariant = decorations.has(Decoration::Invariant);
        data.location_frac = self.component(&decorations, part.ty)?;
        if let Some(index) = decorations.value(Decoration::Index) {
            if index > 1 {
                return Err(SpirvError::Value { what: "Index", value: index.into() });
            }
            data.index = index;
        }
        if is_output && self.stage == ShaderStage::Geometry {
            data.streams = self.streams(&decorations)?;
        }
        if !is_output && self.stage == ShaderStage::Fragment {
            data.interpolation = match () {
                () if decorations.has(Decoration::Flat) => InterpMode::Flat,
                () if decorations.has(Decoration::NoPerspective) => InterpMode::NoPerspective,
                () => InterpMode::Smooth,
            };
            if data.interpolation != InterpMode::Flat {
                data.centroid = decorations.has(Decoration::Centroid);
                data.sample = decorations.has(Decoration::Sample);
                if self.must_be_flat(part.ty) {
                    return Err(SpirvError::Interpolation { name: what() });
                }
            }
        }
        let mut port = Port::new(data.name.clone(), part.ty, Storage::Error);
        port.is_output = is_output;
        port.is_patch = layout.is_patch;
        port.location = Some(location);
        self.add_memory(&mut port, data, layout.vertices);
        Ok(port)
    }

    /// The location of the outputs of old GLSL, which has none in modules for OpenGL.
    fn fragment_data_location(&self, number: u32) -> Option<u32> {
        let global = self.module.globals.get(number as usize)?;
        let has_none = self.environment == Environment::OpenGl && self.module.is_fragment_data(global);
        has_none.then_some(0)
    }

    /// Gives a port its variable: an input, an output, or the shadow of an output.
    fn add_memory(&mut self, port: &mut Port, mut data: VariableData, vertices: Option<u32>) {
        let mut ty = port.ty;
        if let Some(length) = vertices {
            ty = self.module.types.push(TypeData::Array { element: ty, length, stride: 0 });
            data.per_vertex = true;
        }
        data.ty = self.ir_type(ty);
        if port.is_output && self.stage != ShaderStage::TessCtrl {
            let variable = self.temporary(&data.name, data.ty);
            data.mode = VariableModes::SHADER_OUT;
            port.output = Some(data);
            port.storage = Storage::Memory(Memory { variable, mode: VariableModes::SHADER_TEMP, ty, row_major: false });
            return;
        }
        let mode = if port.is_output { VariableModes::SHADER_OUT } else { VariableModes::SHADER_IN };
        data.mode = mode;
        let variable = self.shader.add_variable(data);
        port.variables.push(PortVariable { ty: port.ty, variable, element: 0 });
        port.storage = Storage::Memory(Memory { variable, mode, ty, row_major: false });
    }
}

impl Port {
    fn new(name: String, ty: TypeId, storage: Storage) -> Port {
        Port {
            name,
            ty,
            storage,
            is_output: false,
            is_patch: false,
            location: None,
            output: None,
            written: Written::default(),
            capture: None,
            variables: Vec::new(),
        }
    }

    /// Whether a part is written.
    fn is_written(&self) -> bool {
        self.written.is_whole || !self.written.elements.is_empty()
    }
}

/// Whether a built-in is an array, of which the IR has the first word.
fn is_mask(built_in: BuiltIn) -> bool {
    matches!(built_in, BuiltIn::SampleMask | BuiltIn::ViewportMaskNV)
}
