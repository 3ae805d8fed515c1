//! Stream output. Outputs that are captured whole are decorated. A part of an output, a built-in, or an output already
//! captured is copied to a separate variable. Copies are made at the end, in geometry shaders before each vertex.

use smallvec::SmallVec;
use spirv::{Capability, Decoration, ExecutionMode, Op, StorageClass};
use tgsi_compiler::reflection::Captured;
use tgsi_ir::ShaderStage;
use tgsi_ir::body::Swizzle;
use tgsi_ir::variable::{VariableData, VariableModes};

use super::plan::SlotData;
use super::slot_location::{Slot, SlotLocation};
use crate::emit::Emitter;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};
use crate::stream_output::Capture;

/// The most outputs that an error lists.
const MAX_LISTED: usize = 64;

/// A copy that is captured in a buffer.
#[derive(Clone, Copy, Debug)]
pub struct CapturedCopy {
    capture: Capture,
    slot: Option<Slot>,
    variable: Id,
}

/// The emitter's state for stream output.
#[derive(Debug, Default)]
pub struct Capturing {
    /// Outputs that are decorated.
    whole: Vec<(Slot, Capture)>,
    copied: Vec<CapturedCopy>,
}

impl Emitter<'_> {
    /// Decides how each output is captured. Must run before anything is emitted.
    pub(super) fn plan_stream_output(&mut self) -> Result<(), SpirvError> {
        let options = self.options;
        let captures = &options.stream_output.captures;
        if captures.is_empty() || !self.is_last() {
            return Ok(());
        }
        captures.iter().try_for_each(|capture| self.check_capture(*capture))?;
        self.module.need(Capability::TransformFeedback);
        self.emit_execution_mode(ExecutionMode::Xfb, &[]);
        let mut location = self.io.plan.free_location();
        for &capture in captures {
            if capture.stream > 0 && self.shader.stage != ShaderStage::Geometry {
                let name = format!("stream output of OUT[{}]", capture.register);
                return Err(SpirvError::Interface { name, what: "only geometry shaders have more than one stream" });
            }
            let slot = self.io.plan.output_of(capture.register);
            let data = slot.and_then(|slot| self.io.plan.slot(slot).copied());
            let is_first = captures.iter().position(|other| other.register == capture.register)
                == captures.iter().position(|other| *other == capture);
            if let (Some(slot), Some(data), true) = (slot, data, is_first)
                && self.is_captured_whole(slot, data, capture)
            {
                self.io.capturing.whole.push((slot, capture));
                continue;
            }
            let ty = ValueType::new(Class::Float, 32, capture.components);
            let ty_id = self.module.value_type(ty);
            let variable = self.module.global_variable(ty_id, StorageClass::Output, None);
            self.module.decorate(variable, Decoration::Location, &[location]);
            self.decorate_capture(variable, capture, location);
            if self.options.names {
                self.module.name(variable, &format!("stream_output{}", capture.register));
            }
            location += 1;
            self.io.capturing.copied.push(CapturedCopy { capture, slot, variable });
        }
        Ok(())
    }

    /// Checks that the shader declares the captured output, for its stream.
    fn check_capture(&self, capture: Capture) -> Result<(), SpirvError> {
        let register = capture.register;
        let outputs = || self.shader.globals_with(VariableModes::SHADER_OUT).map(|(_, data)| data);
        let registers = |data: &VariableData| {
            let count = self.shader.types.array_elements(data.ty).max(1);
            data.driver_location..data.driver_location.saturating_add(count)
        };
        let mut declared = outputs().filter(|data| registers(data).contains(&register)).peekable();
        if declared.peek().is_none() {
            let mut all: Vec<u32> = outputs().flat_map(registers).take(MAX_LISTED).collect();
            all.sort_unstable();
            all.dedup();
            let all: Vec<String> = all.into_iter().map(|register| format!("OUT[{register}]")).collect();
            let all = if all.is_empty() { "the shader has no outputs".to_owned() } else { all.join(", ") };
            return Err(SpirvError::StreamOutput(format!("OUT[{register}] is not declared; declared: {all}")));
        }
        if self.shader.stage != ShaderStage::Geometry {
            return Ok(());
        }
        // A variable may hold only some of the components.
        let captured = capture.component..capture.component + capture.components;
        for data in declared {
            let vector = self.shader.types.as_vector(self.shader.types.without_arrays(data.ty));
            let count = vector.map_or(4, |(_, components)| components);
            for component in captured.clone().filter(|c| (data.location_frac..data.location_frac + count).contains(c)) {
                let stream = u32::from(data.streams >> (2 * component) & 3);
                if stream != capture.stream {
                    let letter = ["x", "y", "z", "w"][usize::from(component & 3)];
                    return Err(SpirvError::StreamOutput(format!(
                        "OUT[{register}].{letter} is declared for stream {stream}, not for {}",
                        capture.stream
                    )));
                }
            }
        }
        Ok(())
    }

    /// Returns whether a capture is a whole variable at a location.
    fn is_captured_whole(&self, slot: Slot, data: SlotData, capture: Capture) -> bool {
        let SlotLocation::Located { location, .. } = data.place else { return false };
        let variable = &self.shader.variables[data.variable];
        capture.components == 4
            && self.io.plan.run_of(slot, location).is_none()
            && self.io.plan.is_written(slot)
            && (self.shader.stage != ShaderStage::Geometry || variable.streams == capture.stream as u8 * 0x55)
    }

    fn decorate_capture(&mut self, variable: Id, capture: Capture, location: u32) {
        let stride = self.options.stream_output.strides.get(capture.buffer as usize).copied().unwrap_or(0);
        self.module.decorate(variable, Decoration::XfbBuffer, &[capture.buffer]);
        self.module.decorate(variable, Decoration::XfbStride, &[stride]);
        self.module.decorate(variable, Decoration::Offset, &[capture.offset]);
        if capture.stream > 0 {
            self.module.need(Capability::GeometryStreams);
            self.module.decorate(variable, Decoration::Stream, &[capture.stream]);
        }
        self.reflection.stream_output.push(Captured {
            register: capture.register,
            component: capture.component.into(),
            components: capture.components.into(),
            buffer: capture.buffer,
            offset: capture.offset,
            stride,
            stream: capture.stream,
            location,
        });
    }

    /// Decorates a variable that is captured whole, with its stream; returns whether it is.
    pub(super) fn capture_port(&mut self, slot: Slot, port: Id, location: u32) -> bool {
        let captured = self.io.capturing.whole.iter().find(|(own, _)| *own == slot).map(|&(_, capture)| capture);
        if let Some(capture) = captured {
            self.decorate_capture(port, capture, location);
        }
        captured.is_some()
    }

    /// Returns whether positions are copied when they are stored, because they are transformed for the rasteriser
    /// afterwards.
    fn copies_early(&self, slot: Option<Slot>) -> bool {
        let place = slot.and_then(|slot| self.io.plan.slot(slot)).map(|data| data.place);
        self.moves_positions() && matches!(place, Some(SlotLocation::Vector(spirv::BuiltIn::Position, _)))
    }

    /// Copies a position before it is transformed.
    pub(super) fn capture_position(&mut self, slot: Slot, value: Id) {
        if !self.copies_early(Some(slot)) {
            return;
        }
        let copied: SmallVec<[CapturedCopy; 2]> = self.io.capturing.copied.iter().copied().collect();
        for copy in copied.into_iter().filter(|copy| copy.slot == Some(slot)) {
            self.store_copy(copy, value);
        }
    }

    fn store_copy(&mut self, copy: CapturedCopy, value: Id) {
        let four = ValueType::FLOAT.with_components(4);
        let first = copy.capture.component;
        let swizzle = Swizzle::new(&[0, 1, 2, 3].map(|number: u8| (first + number).min(3)));
        let value = self.take(value, four, swizzle, copy.capture.components);
        self.push(Op::Store, &[copy.variable.0, value.0]);
    }

    /// Emits the copies.
    pub(super) fn capture_outputs(&mut self) -> Result<(), SpirvError> {
        let copied: SmallVec<[CapturedCopy; 4]> =
            self.io.capturing.copied.iter().copied().filter(|copy| !self.copies_early(copy.slot)).collect();
        let mut loaded: SmallVec<[(Option<Slot>, Id); 4]> = SmallVec::new();
        for copy in copied {
            let known = loaded.iter().find(|(slot, _)| *slot == copy.slot).map(|&(_, value)| value);
            let value = match (known, copy.slot) {
                (Some(value), _) => value,
                (None, Some(slot)) if self.io.plan.is_written(slot) => self.whole_output(slot)?,
                (None, _) => {
                    let ty = self.module.value_type(ValueType::FLOAT.with_components(4));
                    self.module.null(ty)
                }
            };
            loaded.push((copy.slot, value));
            self.store_copy(copy, value);
        }
        Ok(())
    }
}
