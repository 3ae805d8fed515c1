//! Rules 12 to 23: intrinsics against their table, and constraints beyond the table.

use super::derefs::are_bare_types_equal;
use super::{Checker, ModeNames, ShapeName, ValidationErrorKind, is_component_count};
use crate::alu::{AluType, BaseType};
use crate::body::{Body, DerefKind, InstData, Shape};
use crate::entities::{Block, Inst, Type};
use crate::intrinsics::indices::{AtomicOp, InterpMode, IoSemantics, IoXfb};
use crate::intrinsics::{
    DestBits, DestComponents, IndexKind, IntrinsicInfo, IntrinsicKind, IntrinsicOp, SrcComponents,
};
use crate::shader::ShaderStage;
use crate::slots::VaryingSlot;
use crate::types::TypeData;
use crate::variable::VariableModes;
use tgsi_environment::PixelFormat;

impl Checker<'_> {
    pub(super) fn check_intrinsic(&mut self, block: Block, inst: Inst, op: IntrinsicOp, num_components: u8) {
        let info = op.info();
        self.check_shapes(inst, info, num_components);
        if info.index_slot(IndexKind::WriteMask).is_some() {
            let mask = self.body.write_mask(inst);
            let fits = mask.checked_shr(u32::from(num_components)).unwrap_or(0) == 0;
            self.expect(inst, fits, ValidationErrorKind::WriteMask { mask, num_components });
        }
        if info.index_slot(IndexKind::IoSemantics).is_some() {
            self.check_io_semantics(inst, op);
        }
        if info.kind == IntrinsicKind::Image && info.index_slot(IndexKind::AtomicOp).is_some() {
            self.check_image_atomic(inst);
        }
        match op {
            IntrinsicOp::DeclReg => self.check_register_declaration(block, inst),
            IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect => {
                let shape = self.def_shape(inst);
                self.check_register_access(inst, 0, shape);
            }
            IntrinsicOp::StoreReg | IntrinsicOp::StoreRegIndirect => {
                let shape = self.src_shape(inst, 0);
                self.check_register_access(inst, 1, shape);
            }
            IntrinsicOp::ConvertAluTypes => self.check_conversion(inst),
            IntrinsicOp::LoadParam => self.check_load_param(inst),
            IntrinsicOp::LoadDeref => self.check_load_deref(inst),
            IntrinsicOp::StoreDeref => self.check_store_deref(inst),
            IntrinsicOp::CopyDeref => self.check_copy_deref(inst),
            IntrinsicOp::DerefModeIs | IntrinsicOp::AddrModeIs => {
                let modes = VariableModes(self.body.index(inst, IndexKind::MemoryModes) as u32);
                self.expect(inst, modes.is_single(), ValidationErrorKind::SingleMode);
            }
            IntrinsicOp::LoadBarycentricPixel
            | IntrinsicOp::LoadBarycentricCentroid
            | IntrinsicOp::LoadBarycentricSample
            | IntrinsicOp::LoadBarycentricAtOffset
            | IntrinsicOp::LoadBarycentricAtSample => {
                let mode = self.body.index(inst, IndexKind::InterpMode);
                let exists = matches!(
                    InterpMode::from_i32(mode),
                    Some(InterpMode::None | InterpMode::Smooth | InterpMode::NoPerspective)
                );
                self.expect(inst, exists, ValidationErrorKind::Barycentric { mode });
            }
            IntrinsicOp::StoreOutput
            | IntrinsicOp::StorePerVertexOutput
            | IntrinsicOp::StorePerViewOutput
            | IntrinsicOp::StorePerPrimitiveOutput => self.check_store_output(inst, op),
            _ => self.check_memory(inst, op),
        }
    }

    fn check_shapes(&mut self, inst: Inst, info: &IntrinsicInfo, num_components: u8) {
        let possible = if info.is_vectorized() { is_component_count(num_components) } else { num_components == 0 };
        if !possible {
            return self.report_inst(inst, ValidationErrorKind::IntrinsicComponents { found: num_components });
        }
        for (number, &components) in info.src_components.iter().enumerate() {
            let found = self.src_shape(inst, number).num_components;
            let expected = match components {
                SrcComponents::Fixed(n) => n,
                SrcComponents::NumComponents => num_components,
                SrcComponents::Any => continue,
            };
            self.expect(inst, found == expected, ValidationErrorKind::IntrinsicSource { number, expected, found });
        }
        let dest = self.def_shape(inst);
        let expected = match info.dest_components {
            DestComponents::None => return,
            DestComponents::Fixed(n) => n,
            DestComponents::NumComponents => num_components,
        };
        let found = dest.num_components;
        self.expect(inst, found == expected, ValidationErrorKind::IntrinsicDest { expected, found });
        let fits = match info.dest_bits {
            DestBits::Any => true,
            DestBits::Sizes(sizes) => sizes.contains(&dest.bit_size),
            DestBits::SameAsSource(number) => dest.bit_size == self.src_shape(inst, usize::from(number)).bit_size,
        };
        self.expect(inst, fits, ValidationErrorKind::IntrinsicDestBits { found: dest.bit_size });
    }

    /// Whether source `number` of an instruction is a register handle operand.
    pub(super) fn takes_register(&self, inst: Inst, number: usize) -> bool {
        match self.body.inst(inst) {
            InstData::Intrinsic { op: IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect, .. } => number == 0,
            InstData::Intrinsic { op: IntrinsicOp::StoreReg | IntrinsicOp::StoreRegIndirect, .. } => number == 1,
            InstData::ParallelCopy(_) => true,
            _ => false,
        }
    }

    fn check_register_declaration(&mut self, block: Block, inst: Inst) {
        self.expect(inst, block == self.body.start_block(), ValidationErrorKind::RegisterPlace);
        let components = self.body.index(inst, IndexKind::NumComponents);
        let bits = self.body.index(inst, IndexKind::BitSize);
        let elements = self.body.index(inst, IndexKind::NumArrayElems);
        let possible = u8::try_from(components).is_ok_and(is_component_count)
            && matches!(bits, 1 | 8 | 16 | 32 | 64)
            && elements >= 0;
        self.expect(inst, possible, ValidationErrorKind::RegisterDeclaration);
    }

    fn check_register_access(&mut self, inst: Inst, number: usize, found: Shape) {
        let handle = self.body.src(inst, number);
        let is_register = self
            .body
            .checked_def_inst(handle)
            .is_some_and(|producer| self.body.intrinsic(producer) == Some(IntrinsicOp::DeclReg));
        if !is_register {
            return self.report_inst(inst, ValidationErrorKind::RegisterHandle);
        }
        let expected = self.body.register_shape(handle);
        let kind = ValidationErrorKind::RegisterShape { expected: ShapeName(expected), found: ShapeName(found) };
        self.expect(inst, found == expected, kind);
        // An access beyond the end of an array is allowed (reads give 0); a nonzero base without an array is
        // meaningless.
        let base = self.body.index(inst, IndexKind::Base);
        let is_array = self.body.index(self.body.def_inst(handle), IndexKind::NumArrayElems) > 0;
        self.expect(inst, base == 0 || is_array, ValidationErrorKind::RegisterBase { base });
    }

    fn check_conversion(&mut self, inst: Inst) {
        let from = AluType::from_i32(self.body.index(inst, IndexKind::SrcType));
        let to = AluType::from_i32(self.body.index(inst, IndexKind::DestType));
        let fits = !from.is_unsized()
            && !to.is_unsized()
            && from.bit_size == self.src_shape(inst, 0).bit_size
            && to.bit_size == self.def_shape(inst).bit_size;
        self.expect(inst, fits, ValidationErrorKind::ConvertTypes { from, to });
    }

    fn check_load_param(&mut self, inst: Inst) {
        let index = self.body.index(inst, IndexKind::ParamIdx);
        let parameters = &self.shader.functions[self.function].parameters;
        let Some(parameter) = usize::try_from(index).ok().and_then(|i| parameters.get(i)) else {
            return self.report_inst(inst, ValidationErrorKind::ParamIndex { index });
        };
        let fits = self.def_shape(inst) == Shape::new(parameter.num_components, parameter.bit_size);
        self.expect(inst, fits, ValidationErrorKind::ParamShape);
    }

    /// The modes and type of the deref in source `number`; reports an error if it is not a deref.
    fn src_deref(&mut self, inst: Inst, number: usize) -> Option<(VariableModes, Type)> {
        let producer = self.body.checked_def_inst(self.body.src(inst, number));
        match producer.map(|m| *self.body.inst(m)) {
            // An unknown type is reported at the deref itself.
            Some(InstData::Deref { modes, ty, .. }) => self.shader.types.contains(ty).then_some((modes, ty)),
            _ => {
                self.report_inst(inst, ValidationErrorKind::AccessNoDeref { number });
                None
            }
        }
    }

    fn check_access(&mut self, inst: Inst, ty: Type, found: Shape) {
        let Some((scalar, components)) = self.shader.types.as_vector(ty) else {
            return self.report_inst(inst, ValidationErrorKind::AccessType);
        };
        let fits = found.num_components == components && Self::fits_scalar(scalar, found.bit_size);
        self.expect(inst, fits, ValidationErrorKind::AccessShape);
    }

    fn check_load_deref(&mut self, inst: Inst) {
        if let Some((_, ty)) = self.src_deref(inst, 0) {
            let found = self.def_shape(inst);
            self.check_access(inst, ty, found);
        }
    }

    fn check_store_deref(&mut self, inst: Inst) {
        if let Some((modes, ty)) = self.src_deref(inst, 0) {
            let found = self.src_shape(inst, 1);
            self.check_access(inst, ty, found);
            self.check_writable(inst, modes);
        }
    }

    fn check_writable(&mut self, inst: Inst, modes: VariableModes) {
        let kind = ValidationErrorKind::AccessReadOnly { modes: ModeNames(modes) };
        self.expect(inst, !modes.intersects(VariableModes::READ_ONLY), kind);
    }

    fn check_copy_deref(&mut self, inst: Inst) {
        let (to, from) = (self.src_deref(inst, 0), self.src_deref(inst, 1));
        if let (Some((modes, to)), Some((_, from))) = (to, from) {
            let equal = are_bare_types_equal(&self.shader.types, to, from);
            self.expect(inst, equal, ValidationErrorKind::CopyTypes);
            self.check_writable(inst, modes);
        }
    }

    fn check_memory(&mut self, inst: Inst, op: IntrinsicOp) {
        use IntrinsicOp as I;
        let body = self.body;
        match op {
            I::LoadUbo => {
                let range = body.index(inst, IndexKind::Range);
                self.expect(inst, range != 0, ValidationErrorKind::UboRange);
            }
            I::LoadUboVec4 => {
                let dest = self.def_shape(inst);
                let bytes = i64::from(dest.bit_size / 8);
                let end = (i64::from(body.index(inst, IndexKind::Component)) + i64::from(dest.num_components)) * bytes;
                let start = i64::from(body.index(inst, IndexKind::Component));
                self.expect(inst, bytes > 0 && start >= 0 && end <= 16, ValidationErrorKind::UboVec4);
            }
            _ => {}
        }
        if matches!(
            op,
            I::LoadUbo
                | I::LoadSsbo
                | I::LoadShared
                | I::LoadGlobal
                | I::LoadGlobalConstant
                | I::LoadScratch
                | I::LoadConstant
                | I::StoreSsbo
                | I::StoreShared
                | I::StoreGlobal
                | I::StoreScratch
        ) {
            let align_mul = body.index(inst, IndexKind::AlignMul);
            let align_offset = body.index(inst, IndexKind::AlignOffset);
            let possible = (align_mul as u32).is_power_of_two() && (align_offset as u32) < align_mul as u32;
            self.expect(inst, possible, ValidationErrorKind::MemoryAlign { align_mul, align_offset });
        }
        let value = match op {
            I::StoreSsbo | I::StoreShared | I::StoreGlobal | I::StoreScratch | I::StoreTaskPayload => {
                self.src_shape(inst, 0)
            }
            I::LoadUbo
            | I::LoadSsbo
            | I::LoadShared
            | I::LoadGlobal
            | I::LoadGlobalConstant
            | I::LoadScratch
            | I::LoadConstant
            | I::LoadUniform
            | I::LoadPushConstant
            | I::LoadTaskPayload
            | I::LoadInput
            | I::LoadInputVertex
            | I::LoadPerVertexInput
            | I::LoadInterpolatedInput
            | I::LoadPerPrimitiveInput
            | I::LoadOutput
            | I::LoadPerVertexOutput
            | I::LoadPerViewOutput
            | I::LoadPerPrimitiveOutput => self.def_shape(inst),
            _ => return,
        };
        self.expect(inst, value.bit_size >= 8, ValidationErrorKind::MemoryBits);
    }

    fn check_store_output(&mut self, inst: Inst, op: IntrinsicOp) {
        let found = self.src_shape(inst, 0).bit_size;
        let least = if self.shader.stage == ShaderStage::Fragment { 8 } else { 16 };
        self.expect(inst, found >= least, ValidationErrorKind::OutputBits { found });
        let expected = AluType::from_i32(self.body.index(inst, IndexKind::SrcType));
        self.expect(inst, expected.bit_size == found, ValidationErrorKind::OutputType { expected, found });

        let captured = if op == IntrinsicOp::StoreOutput { self.check_xfb(inst) } else { false };
        let semantics = IoSemantics::from_i32(self.body.index(inst, IndexKind::IoSemantics));
        let seen = match self.shader.stage {
            ShaderStage::TessCtrl | ShaderStage::Fragment => true,
            _ => {
                (is_system_output(semantics.location) && !semantics.no_sysval_output)
                    || (is_varying(semantics.location) && !semantics.no_varying)
                    || captured
            }
        };
        self.expect(inst, seen, ValidationErrorKind::OutputNoEffect);
    }

    /// Checks transform feedback of a store. Returns whether any component is captured.
    fn check_xfb(&mut self, inst: Inst) -> bool {
        let low = IoXfb::from_i32(self.body.index(inst, IndexKind::IoXfb));
        let high = IoXfb::from_i32(self.body.index(inst, IndexKind::IoXfb2));
        let mut captured = 0u32;
        for (first, out) in low.out.into_iter().chain(high.out).enumerate() {
            for component in first..first + usize::from(out.num_components) {
                if captured & 1 << component != 0 {
                    self.report_inst(inst, ValidationErrorKind::XfbOverlap { component });
                }
                captured |= 1 << component;
            }
        }
        if captured != 0 {
            let possible =
                matches!(self.shader.stage, ShaderStage::Vertex | ShaderStage::TessEval | ShaderStage::Geometry);
            self.expect(inst, possible, ValidationErrorKind::XfbStage);
        }
        captured != 0
    }

    fn check_io_semantics(&mut self, inst: Inst, op: IntrinsicOp) {
        let stage = self.shader.stage;
        let io = IoSemantics::from_i32(self.body.index(inst, IndexKind::IoSemantics));
        let flags = [
            (io.dual_source_blend_index, stage == ShaderStage::Fragment, "dualsrc"),
            (io.fb_fetch_output, stage == ShaderStage::Fragment, "fbfetch"),
            (io.fb_fetch_output_coherent, stage == ShaderStage::Fragment, "coherent"),
            (io.gs_streams != 0, stage == ShaderStage::Geometry, "gs_streams"),
            (io.high_dvec2, stage == ShaderStage::Vertex && op == IntrinsicOp::LoadInput, "high_dvec2"),
            (
                io.interp_explicit_strict,
                stage == ShaderStage::Fragment && op == IntrinsicOp::LoadInputVertex,
                "explicit_strict",
            ),
        ];
        for (set, allowed, flag) in flags {
            self.expect(inst, !set || allowed, ValidationErrorKind::IoFlag { flag });
        }
    }

    fn check_image_atomic(&mut self, inst: Inst) {
        let Some(format) = self.image_format(inst).filter(|&f| f != PixelFormat::NONE) else { return };
        let operation = AtomicOp::from_i32(self.body.index(inst, IndexKind::AtomicOp));
        let name = format.short_name();
        let allowed = operation.is_some_and(|operation| {
            let is_float = operation.data_type().base == BaseType::Float;
            match name {
                "R32_FLOAT" => is_float || operation == AtomicOp::Xchg,
                "R16_FLOAT" | "R64_FLOAT" => matches!(operation, AtomicOp::Fmin | AtomicOp::Fmax),
                "R32_UINT" | "R32_SINT" | "R64_UINT" | "R64_SINT" => !is_float,
                _ => false,
            }
        });
        if !allowed {
            return self.report_inst(inst, ValidationErrorKind::ImageAtomic { format: name });
        }
        let expected = match name.as_bytes() {
            [_, b'1', ..] => 16,
            [_, b'3', ..] => 32,
            _ => 64,
        };
        let found = self.def_shape(inst).bit_size;
        self.expect(inst, found == expected, ValidationErrorKind::ImageAtomicBits { expected, found });
    }

    /// Format of an image: the format of the intrinsic, or of the variable at the root of its deref.
    fn image_format(&self, inst: Inst) -> Option<PixelFormat> {
        let own = PixelFormat::from_value(self.body.index(inst, IndexKind::Format) as u32)?;
        if own != PixelFormat::NONE {
            return Some(own);
        }
        let body: &Body = self.body;
        let mut at = body.checked_def_inst(body.src(inst, 0))?;
        // Bounded, because an invalid chain of derefs may be a cycle.
        for _ in 0..64 {
            match *body.inst(at) {
                InstData::Deref { kind: DerefKind::Var(variable), .. } => {
                    return self.shader.variables.get(variable).map(|v| v.image_format);
                }
                InstData::Deref { kind: DerefKind::Array, ty, .. }
                    if self.shader.types.contains(ty)
                        && matches!(self.shader.types.get(ty), TypeData::Image { .. } | TypeData::Array { .. }) =>
                {
                    at = body.checked_def_inst(body.sources(at).next().and_then(|s| body.checked_src_def(s))?)?;
                }
                _ => return None,
            }
        }
        None
    }
}

/// Whether fixed-function hardware may read a slot. (A slot without a specific name counts for both functions.)
fn is_system_output(slot: u8) -> bool {
    !matches!(
        slot,
        VaryingSlot::COL0
            | VaryingSlot::COL1
            | VaryingSlot::BFC0
            | VaryingSlot::BFC1
            | VaryingSlot::FOGC
            | VaryingSlot::VAR0..=127
    ) && !(VaryingSlot::TEX0..VaryingSlot::PSIZ).contains(&slot)
}

/// Whether the next stage may read a slot.
fn is_varying(slot: u8) -> bool {
    !matches!(
        slot,
        VaryingSlot::POS
            | VaryingSlot::PSIZ
            | VaryingSlot::EDGE
            | VaryingSlot::CLIP_VERTEX
            | VaryingSlot::VIEWPORT_MASK
    )
}
