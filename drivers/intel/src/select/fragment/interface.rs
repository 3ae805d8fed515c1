//! The interface of fragment programs.

use std::collections::{BTreeMap, BTreeSet};

use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::intrinsics::indices::InterpMode;
use tgsi_ir::slots::{FragResult, VaryingSlot};
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, Shader};

use super::super::interface::{Access, Key, access, note};
use crate::program::{
    Barycentrics, DEPTH_OUTPUT, FragmentInterface, FragmentSystemValues, SAMPLE_MASK_OUTPUT, SECOND_COLOUR_OUTPUT,
    Varying,
};

/// The number of render targets of the hardware.
const TARGETS: u8 = 8;

/// The evaluation of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Evaluation {
    /// The value at the first vertex.
    Flat,
    /// At barycentric coordinates of the payload.
    At(Barycentrics),
}

/// The barycentric coordinates of an interpolation.
pub(super) fn coordinates(is_linear: bool, centroid: bool, sample: bool) -> Barycentrics {
    match (is_linear, centroid, sample) {
        (false, _, true) => Barycentrics::PerspectiveSample,
        (false, true, false) => Barycentrics::PerspectiveCentroid,
        (false, false, false) => Barycentrics::PerspectivePixel,
        (true, _, true) => Barycentrics::LinearSample,
        (true, true, false) => Barycentrics::LinearCentroid,
        (true, false, false) => Barycentrics::LinearPixel,
    }
}

/// The parts of the interface that selection collects.
pub(crate) struct FragmentParts {
    /// The attributes of inputs.
    inputs: BTreeMap<Key, u8>,
    /// The evaluation of inputs, by register.
    evaluations: BTreeMap<u32, Evaluation>,
    read: BTreeMap<Key, Varying>,
    written: BTreeMap<Key, Varying>,
    targets: u8,
    pub(super) parts: FragmentInterface,
}

/// The output of an access.
fn output(access: Access) -> Option<u8> {
    match access.location {
        FragResult::COLOR | FragResult::DATA0 if access.is_second => Some(SECOND_COLOUR_OUTPUT),
        FragResult::DEPTH => Some(DEPTH_OUTPUT),
        FragResult::SAMPLE_MASK => Some(SAMPLE_MASK_OUTPUT),
        FragResult::COLOR => Some(0),
        location => location.checked_sub(FragResult::DATA0).filter(|&target| target < TARGETS),
    }
}

impl FragmentParts {
    /// Assigns attributes to the inputs that a shader reads.
    pub(crate) fn of(shader: &Shader, body: &Body, has_lanes: bool) -> FragmentParts {
        let mut keys: BTreeSet<Key> = BTreeSet::new();
        let mut targets = 1;
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            let Some(op) = body.intrinsic(inst) else { continue };
            match op {
                IntrinsicOp::LoadInput | IntrinsicOp::LoadInterpolatedInput => {
                    let is_attribute =
                        |access: &Access| has_lanes || !matches!(access.location, VaryingSlot::POS | VaryingSlot::FACE);
                    keys.extend(access(body, inst).filter(is_attribute).map(Access::key));
                }
                IntrinsicOp::StoreOutput => {
                    let target = access(body, inst).and_then(output);
                    targets = target.filter(|&target| target < TARGETS).map_or(targets, |t| targets.max(t + 1));
                }
                _ => {}
            }
        }
        let mut evaluations = BTreeMap::new();
        for (_, variable) in shader.variables.iter().filter(|(_, v)| v.mode == VariableModes::SHADER_IN) {
            let is_linear = variable.interpolation == InterpMode::NoPerspective;
            let evaluation = match variable.interpolation {
                InterpMode::Flat => Evaluation::Flat,
                _ => Evaluation::At(coordinates(is_linear, variable.centroid, variable.sample)),
            };
            let slots = shader.types.slots(variable.ty).max(1);
            let first = variable.driver_location;
            evaluations.extend((first..first.saturating_add(slots.min(256))).map(|register| (register, evaluation)));
        }
        let inputs: BTreeMap<Key, u8> = keys.into_iter().zip(0..=u8::MAX).collect();
        let attributes = inputs.len().min(255) as u8;
        FragmentParts {
            inputs,
            evaluations,
            read: BTreeMap::new(),
            written: BTreeMap::new(),
            targets,
            parts: FragmentInterface { attributes, ..FragmentInterface::default() },
        }
    }

    /// The number of render targets.
    pub(crate) fn targets(&self) -> u8 {
        self.targets
    }

    /// The attribute of an input, and its evaluation.
    pub(super) fn read(&mut self, access: Access, mask: u8) -> Option<(u8, Evaluation)> {
        let attribute = *self.inputs.get(&access.key())?;
        note(&mut self.read, access, attribute, 0, mask);
        let smooth = Evaluation::At(Barycentrics::PerspectivePixel);
        Some((attribute, self.evaluations.get(&access.register).copied().unwrap_or(smooth)))
    }

    /// The number of an output, and the first component of it, for the components of a register that are written.
    /// `None` if the hardware lacks it.
    pub(super) fn write(&mut self, access: Access, mask: u8) -> Option<(u8, u8)> {
        let number = output(access)?;
        let first = mask.trailing_zeros() as u8 & 3;
        // A single number may be in any component of the register.
        let is_single = matches!(number, DEPTH_OUTPUT | SAMPLE_MASK_OUTPUT);
        let (component, mask) = if is_single { ((4 - first) & 3, 1 << first) } else { (0, mask) };
        note(&mut self.written, access, number, component, mask);
        match number {
            DEPTH_OUTPUT => self.parts.writes_depth = true,
            SAMPLE_MASK_OUTPUT => self.parts.writes_sample_mask = true,
            SECOND_COLOUR_OUTPUT => self.parts.writes_second_colour = true,
            target => self.parts.targets |= 1 << target,
        }
        self.parts.is_broadcast |= access.location == FragResult::COLOR;
        Some((number, if is_single { first } else { 0 }))
    }

    /// Records the use of barycentric coordinates.
    pub(super) fn note(&mut self, kind: Barycentrics) {
        let is_sample = matches!(kind, Barycentrics::PerspectiveSample | Barycentrics::LinearSample);
        self.parts.is_per_sample |= is_sample;
    }

    /// An attribute with system values, for runs.
    pub(super) fn attribute(&mut self, of: impl Fn(&mut FragmentSystemValues) -> &mut Option<u8>) -> u8 {
        let next = &mut self.parts.attributes;
        *of(&mut self.parts.system_values).get_or_insert_with(|| {
            *next = next.saturating_add(1);
            *next - 1
        })
    }

    /// The interface.
    pub(crate) fn finish(self) -> FragmentInterface {
        let mut inputs: Vec<Varying> = self.read.into_values().collect();
        inputs.sort_by_key(|input| input.slot);
        FragmentInterface { inputs, outputs: self.written.into_values().collect(), ..self.parts }
    }
}
