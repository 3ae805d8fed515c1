//! Fragment programs: inputs, outputs, system values, derivatives, kills.
//!
//! The rest is selected as for vectors, of which most have one component.

mod images;
mod interface;
mod lookup;

use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::slots::VaryingSlot;
use tgsi_ir::{Def, Inst, InstData};
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::interface::{Access, access};
use super::operands::{Target, composed, lane};
use super::{Selector, alu};
use crate::error::IntelError;
use crate::isa::{MathFunction, Opcode, Type};
use crate::machine::{Alu, COPY, Op};
use crate::program::{Barycentrics, DEPTH_OUTPUT, FragmentSystemValues, SAMPLE_MASK_OUTPUT};
use crate::scalar::{EvaluationPlace, FragmentOp, PayloadValue};

use interface::{Evaluation, coordinates};

pub(crate) use interface::FragmentParts;

impl Selector<'_> {
    pub(super) fn select_fragment_intrinsic(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), IntelError> {
        use IntrinsicOp as I;
        match op {
            I::LoadInput => self.load_fragment_input(inst),
            I::LoadInterpolatedInput => self.load_interpolated(inst),
            I::StoreOutput => self.store_fragment_output(inst),
            I::Ddx | I::DdxCoarse => self.derive(inst, false, false),
            I::DdxFine => self.derive(inst, false, true),
            I::Ddy | I::DdyCoarse => self.derive(inst, true, false),
            I::DdyFine => self.derive(inst, true, true),
            I::Terminate | I::Demote => {
                self.kill([]);
                Ok(())
            }
            I::TerminateIf | I::DemoteIf => {
                let boolean = self.source_of(self.body.source(inst, 0));
                self.kill([lane(boolean, 0)]);
                Ok(())
            }
            // Loads of inputs evaluate them.
            I::LoadBarycentricPixel | I::LoadBarycentricCentroid | I::LoadBarycentricSample => Ok(()),
            I::LoadBarycentricAtOffset | I::LoadBarycentricAtSample => self.evaluate(inst, op),
            op => match self.select_image(inst, op) {
                Some(result) => result,
                None => self.load_fragment_value(inst, op),
            },
        }
    }

    /// Appends an operation with one result.
    fn fragment_value(&mut self, op: FragmentOp, to: Destination, sources: &[Source]) {
        self.push(Instruction::new(Op::Fragment(op), Some(to), sources.iter().copied()));
    }

    /// A component of an attribute.
    fn plane(&mut self, attribute: u8, component: u8, coordinates: Barycentrics, to: Destination) {
        self.fragment.note(coordinates);
        self.fragment_value(FragmentOp::Plane { attribute, component, coordinates }, to, &[]);
    }

    /// Components of an attribute, from a first one on, for the components of a target.
    fn planes(&mut self, attribute: u8, first: u8, coordinates: Barycentrics, target: Target) {
        for c in (0..4u8).filter(|c| target.mask() >> c & 1 != 0) {
            self.plane(attribute, (first + c).min(3), coordinates, target.masked(1 << c).to);
        }
    }

    fn load_fragment_input(&mut self, inst: Inst) -> Result<(), IntelError> {
        let Some(def) = self.body.inst_def(inst) else { return Ok(()) };
        let Some(access) = access(self.body, inst) else { return Err(self.lacks(inst, "index of inputs")) };
        if !self.has_lanes && matches!(access.location, VaryingSlot::POS | VaryingSlot::FACE) {
            self.load_rasterised(def, access);
            return Ok(());
        }
        let mask = (self.body.full_mask(def) as u8) << access.component & 15;
        let Some((attribute, evaluation)) = self.fragment.read(access, mask) else { return Ok(()) };
        let target = self.target(def);
        match evaluation {
            Evaluation::Flat if !self.has_lanes => {
                self.fragment.parts.flat |= 1u32.checked_shl(attribute.into()).unwrap_or(0);
                let source = Source::new(File::Input, attribute.into());
                self.copy(target, source.swizzled([0, 1, 2, 3].map(|c: u8| (c + access.component).min(3))));
            }
            // In runs, values differ between lanes.
            Evaluation::Flat => self.planes(attribute, access.component, Barycentrics::PerspectivePixel, target),
            Evaluation::At(coordinates) => self.planes(attribute, access.component, coordinates, target),
        }
        Ok(())
    }

    /// The position or the face as an input.
    fn load_rasterised(&mut self, def: Def, access: Access) {
        let target = self.target(def);
        for c in (0..4u8).filter(|c| target.mask() >> c & 1 != 0) {
            let to = target.masked(1 << c);
            if access.location == VaryingSlot::POS {
                self.position((c + access.component).min(3), to);
            } else if c + access.component == 0 {
                // 1.0, or -1.0 for the back.
                let face = self.payload_value(PayloadValue::FrontFace);
                let back = self.computed(alu(Opcode::Not, Type::Ud), 1, [face]);
                let [sign, one] = [1 << 31, 1.0f32.to_bits()].map(|word| self.word(word));
                let sign = self.computed(alu(Opcode::And, Type::Ud), 1, [lane(back, 0), sign]);
                self.emit_to(alu(Opcode::Or, Type::Ud), to, [lane(sign, 0), one]);
            } else {
                let zero = self.word(0);
                self.copy(to, zero);
            }
        }
    }

    /// Whether the coordinates that an instruction evaluates are not corrected for perspective.
    fn is_linear(&self, barycentrics: Inst) -> bool {
        const NO_PERSPECTIVE: i32 = 3;
        self.body.index(barycentrics, IndexKind::InterpMode) == NO_PERSPECTIVE
    }

    fn load_interpolated(&mut self, inst: Inst) -> Result<(), IntelError> {
        use IntrinsicOp as I;
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let Some(access) = access(body, inst) else { return Err(self.lacks(inst, "index of inputs")) };
        let mask = (body.full_mask(def) as u8) << access.component & 15;
        let Some((attribute, _)) = self.fragment.read(access, mask) else { return Ok(()) };
        let producer = body.def_inst(body.src(inst, 0));
        let is_linear = self.is_linear(producer);
        let known = match body.intrinsic(producer) {
            Some(I::LoadBarycentricPixel) => Some(coordinates(is_linear, false, false)),
            Some(I::LoadBarycentricCentroid) => Some(coordinates(is_linear, true, false)),
            Some(I::LoadBarycentricSample) => Some(coordinates(is_linear, false, true)),
            _ => None,
        };
        if let Some(kind) = known {
            let target = self.target(def);
            self.planes(attribute, access.component, kind, target);
            return Ok(());
        }
        let place = self.source_of(body.source(inst, 0));
        let pair = self.computed(COPY, 0b0011, [place]);
        let target = self.target(def);
        for c in (0..4u8).filter(|c| target.mask() >> c & 1 != 0) {
            let component = (access.component + c).min(3);
            self.fragment_value(FragmentOp::PlaneAt { attribute, component }, target.masked(1 << c).to, &[pair]);
        }
        Ok(())
    }

    /// Barycentric coordinates at another place of the pixel.
    fn evaluate(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), IntelError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let is_linear = self.is_linear(inst);
        if self.has_lanes {
            // Coordinates of runs are offsets.
            let offset = match op {
                IntrinsicOp::LoadBarycentricAtOffset => self.source_of(body.source(inst, 0)),
                _ => self.word(0),
            };
            let target = self.target(def);
            self.copy(target, offset);
            return Ok(());
        }
        let temp = self.new_temp();
        let to = Destination::new(File::Temporary, temp.index, 0b0011);
        if op == IntrinsicOp::LoadBarycentricAtSample {
            let number = body.constant_component(body.src(inst, 0), 0);
            let number = number.ok_or_else(|| self.lacks(inst, "interpolation at a sample with a run-time number"))?;
            let place = EvaluationPlace::Sample((number & 15) as u8);
            self.fragment_value(FragmentOp::Interpolate { place, is_linear }, to, &[]);
        } else {
            let offset = self.source_of(body.source(inst, 0));
            let pair = self.new_temp();
            for c in 0..2u8 {
                // In 1/16 of a pixel, below the next one.
                let scale = self.word(16f32.to_bits());
                let scaled = self.computed(alu(Opcode::Mul, Type::F), 1, [lane(offset, c), scale]);
                let whole = self.computed(Alu::convert(Opcode::Mov, Type::D, Type::F), 1, [lane(scaled, 0)]);
                let most = self.word(7);
                let least = Alu::with(Opcode::Sel, Type::D, crate::isa::Condition::L);
                self.emit(least, Destination::new(File::Temporary, pair.index, 1 << c), [lane(whole, 0), most]);
            }
            let place = EvaluationPlace::Offset;
            self.fragment_value(FragmentOp::Interpolate { place, is_linear }, to, &[pair]);
        }
        let target = self.target(def);
        self.copy(target, temp);
        Ok(())
    }

    fn store_fragment_output(&mut self, inst: Inst) -> Result<(), IntelError> {
        let body = self.body;
        let Some(access) = access(body, inst) else { return Err(self.lacks(inst, "index of outputs")) };
        if matches!(body.inst(body.def_inst(body.src(inst, 0))), InstData::Undef) {
            return Ok(());
        }
        let mask = (body.write_mask(inst) as u8) << access.component & 15;
        if mask == 0 {
            return Ok(());
        }
        let Some((number, first)) = self.fragment.write(access, mask) else {
            return Err(self.lacks(inst, "output of this kind"));
        };
        let is_single = matches!(number, DEPTH_OUTPUT | SAMPLE_MASK_OUTPUT);
        let mask = if is_single { 1 } else { mask };
        let source = self.source_of(body.source(inst, 0));
        let value_of = |c: u8| (c + first).saturating_sub(access.component).min(3);
        let to = Destination::new(File::Output, number.into(), mask);
        self.emit(COPY, to, [composed(source, [0, 1, 2, 3].map(value_of))]);
        Ok(())
    }

    fn derive(&mut self, inst: Inst, is_vertical: bool, is_fine: bool) -> Result<(), IntelError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        if body.bit_size(def) != 32 {
            return Err(self.lacks(inst, "derivatives of this size"));
        }
        let source = self.source_of(body.source(inst, 0));
        let target = self.target(def);
        // The operands of other lanes are read: nothing may write them in between.
        let (to, after) = self.apart(target, &[source]);
        let op = FragmentOp::Derivative { is_vertical, is_fine };
        for c in (0..4u8).filter(|c| to.mask() >> c & 1 != 0) {
            self.fragment_value(op, to.masked(1 << c).to, &[source]);
        }
        self.deliver(to, after);
        Ok(())
    }

    fn kill<const N: usize>(&mut self, boolean: [Source; N]) {
        self.fragment.parts.kills = true;
        self.push(Instruction::new(Op::Fragment(FragmentOp::Kill), None, boolean));
    }

    /// A value of the payload in a new temporary, in x.
    fn payload_value(&mut self, value: PayloadValue) -> Source {
        let temp = self.new_temp();
        let to = Destination::new(File::Temporary, temp.index, 1);
        self.fragment_value(FragmentOp::Payload(value), to, &[]);
        lane(temp, 0)
    }

    /// Delivers components of an attribute with system values, for runs.
    fn deliver_attribute(&mut self, def: Def, first: u8, of: impl Fn(&mut FragmentSystemValues) -> &mut Option<u8>) {
        let attribute = self.fragment.attribute(of);
        let target = self.target(def);
        self.planes(attribute, first, Barycentrics::PerspectivePixel, target);
    }

    fn load_fragment_value(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), IntelError> {
        use IntrinsicOp as I;
        let body = self.body;
        let Some(def) = body.inst_def(inst) else {
            return Err(self.lacks(inst, &format!("form of `{}`", op.name())));
        };
        if self.has_lanes {
            match op {
                I::LoadFragCoord => self.deliver_attribute(def, 0, |values| &mut values.position),
                I::LoadFragCoordZw => self.deliver_attribute(def, body.component(inst), |values| &mut values.position),
                I::LoadFrontFace => self.deliver_attribute(def, 0, |values| &mut values.facts),
                I::LoadSubgroupInvocation => self.deliver_attribute(def, 1, |values| &mut values.facts),
                I::LoadSampleId | I::LoadSampleIdNoPerSample => {
                    self.deliver_attribute(def, 2, |values| &mut values.facts);
                }
                I::LoadSampleMaskIn => self.deliver_attribute(def, 3, |values| &mut values.facts),
                I::LoadSamplePos | I::LoadSamplePosOrCenter => {
                    self.deliver_attribute(def, 0, |values| &mut values.sample);
                }
                I::LoadHelperInvocation => self.deliver_attribute(def, 2, |values| &mut values.sample),
                I::IsHelperInvocation => {
                    let attribute = self.fragment.attribute(|values| &mut values.sample);
                    let initial = self.new_temp();
                    let to = Destination::new(File::Temporary, initial.index, 1);
                    self.plane(attribute, 2, Barycentrics::PerspectivePixel, to);
                    let killed = self.payload_value(PayloadValue::IsHelper);
                    let target = self.target(def);
                    self.emit_to(alu(Opcode::Or, Type::Ud), target, [lane(initial, 0), killed]);
                }
                I::LoadPointCoord => self.deliver_attribute(def, 0, |values| &mut values.point),
                I::LoadPrimitiveId => self.deliver_attribute(def, 2, |values| &mut values.point),
                _ => return self.load_payload_value(inst, def, op),
            }
            return Ok(());
        }
        self.load_payload_value(inst, def, op)
    }

    /// The position of the pixel in x or y.
    fn pixel(&mut self, value: PayloadValue, to: Target) {
        let number = self.payload_value(value);
        let float = self.computed(Alu::convert(Opcode::Mov, Type::F, Type::D), 1, [number]);
        let half = self.word(0.5f32.to_bits());
        self.emit_to(alu(Opcode::Add, Type::F), to, [lane(float, 0), half]);
    }

    /// A component of the position.
    fn position(&mut self, component: u8, to: Target) {
        match component {
            0 => self.pixel(PayloadValue::PixelX, to),
            1 => self.pixel(PayloadValue::PixelY, to),
            2 => {
                self.fragment_value(FragmentOp::Payload(PayloadValue::Depth), to.to, &[]);
            }
            _ => {
                let w = self.payload_value(PayloadValue::W);
                self.emit_to(Alu::math(MathFunction::Inv, Type::F), to, [w]);
            }
        }
    }

    fn load_payload_value(&mut self, inst: Inst, def: Def, op: IntrinsicOp) -> Result<(), IntelError> {
        use IntrinsicOp as I;
        let target = self.target(def);
        let value = match op {
            I::LoadFragCoord => {
                for c in (0..4u8).filter(|c| target.mask() >> c & 1 != 0) {
                    self.position(c, target.masked(1 << c));
                }
                return Ok(());
            }
            I::LoadFragCoordZw => {
                self.position(self.body.component(inst), target);
                return Ok(());
            }
            I::LoadFrontFace => PayloadValue::FrontFace,
            I::LoadSampleId => {
                self.fragment.parts.is_per_sample = true;
                PayloadValue::SampleId
            }
            I::LoadSampleMaskIn => PayloadValue::SampleMask,
            I::LoadLayerId => PayloadValue::Layer,
            I::IsHelperInvocation | I::LoadHelperInvocation => PayloadValue::IsHelper,
            I::LoadSamplePos | I::LoadSamplePosOrCenter => {
                for c in (0..2u8).filter(|c| target.mask() >> c & 1 != 0) {
                    let value = PayloadValue::SamplePosition { is_vertical: c == 1 };
                    let number = self.payload_value(value);
                    let float = self.computed(Alu::convert(Opcode::Mov, Type::F, Type::D), 1, [number]);
                    let scale = self.word((1.0f32 / 16.0).to_bits());
                    self.emit_to(alu(Opcode::Mul, Type::F), target.masked(1 << c), [lane(float, 0), scale]);
                }
                return Ok(());
            }
            _ => return Err(self.lacks(inst, &format!("form of `{}`", op.name()))),
        };
        self.fragment_value(FragmentOp::Payload(value), target.to, &[]);
        Ok(())
    }
}
