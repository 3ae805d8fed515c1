//! Execution modes of the entry point.

use spirv::{BuiltIn, Decoration, ExecutionMode};
use tgsi_ir::shader::ShaderStage;

use crate::compile::stage_of;
use crate::emit::Context;
use crate::error::SpirvError;
use crate::module::{Id, Mode};
use crate::options::Environment;

/// The bits of float controls, for 16, 32 and 64 bits from these on.
const SIGNED_ZERO: u32 = 0;
const INFINITY: u32 = 3;
const NAN: u32 = 6;
const DENORM_PRESERVE: u32 = 9;
const DENORM_FLUSH: u32 = 12;
const ROUND_TO_EVEN: u32 = 15;
const ROUND_TO_ZERO: u32 = 18;

/// Largest number of vertices that a geometry shader emits, or that a patch has: more than any device allows.
const MAX_VERTICES: u32 = 1 << 16;

impl Context<'_> {
    /// Sets the properties of the shader that execution modes state.
    pub(crate) fn set_modes(&mut self) {
        let function = self.module.entry_points.get(self.entry).map_or(0, |entry| entry.function);
        let modes: Vec<Mode> = self.module.modes.iter().filter(|mode| mode.entry == function).cloned().collect();
        self.set_defaults();
        let of_others = self.tessellation_modes(function);
        for mode in of_others.iter().chain(&modes) {
            if let Err(error) = self.set_mode(mode) {
                self.findings.add(error, mode.span);
            }
        }
        if self.stage == ShaderStage::TessEval
            && self.options.tess_lower_left
            && self.environment != Environment::OpenGl
        {
            self.shader.info.tess.ccw = !self.shader.info.tess.ccw;
        }
        self.set_workgroup_size(&modes);
        self.shader.info.next_stage = self.next_stage();
    }

    /// Modes that an entry point of the other stage of tessellation states for both.
    fn tessellation_modes(&self, function: u32) -> Vec<Mode> {
        use ExecutionMode as M;
        let is_tessellation = |stage| matches!(stage, Some(ShaderStage::TessCtrl | ShaderStage::TessEval));
        if !is_tessellation(Some(self.stage)) {
            return Vec::new();
        }
        let entries = &self.module.entry_points;
        let others =
            entries.iter().filter(|entry| is_tessellation(stage_of(entry.model)) && entry.function != function);
        let others: Vec<u32> = others.map(|entry| entry.function).collect();
        let is_common = |mode: &&Mode| {
            others.contains(&mode.entry)
                && matches!(
                    M::from_u32(mode.mode),
                    Some(
                        M::Triangles
                            | M::Quads
                            | M::Isolines
                            | M::SpacingEqual
                            | M::SpacingFractionalEven
                            | M::SpacingFractionalOdd
                            | M::VertexOrderCw
                            | M::VertexOrderCcw
                            | M::PointMode
                            | M::OutputVertices
                    )
                )
        };
        self.module.modes.iter().filter(is_common).cloned().collect()
    }

    fn set_defaults(&mut self) {
        let info = &mut self.shader.info;
        match self.stage {
            ShaderStage::Fragment => info.fs.origin_upper_left = true,
            ShaderStage::Geometry => info.gs.invocations = 1,
            ShaderStage::TessEval => info.tess.ccw = true,
            ShaderStage::Compute => info.workgroup_size = [1; 3],
            _ => {}
        }
    }

    /// An operand: a literal, or the value of a constant.
    fn operand(&self, mode: &Mode, number: usize) -> Result<u32, SpirvError> {
        let Some(&operand) = mode.operands.get(number) else {
            let op = "OpExecutionMode".to_owned();
            return Err(SpirvError::OperandCount { op, found: 2 + number, expected: 3 + number });
        };
        if !mode.has_ids {
            return Ok(operand);
        }
        let value = self.module.integer(operand).and_then(|value| u32::try_from(value).ok());
        value.ok_or_else(|| SpirvError::WrongKind {
            id: operand,
            found: self.module.id(operand).kind(),
            expected: "a constant",
        })
    }

    fn set_mode(&mut self, mode: &Mode) -> Result<(), SpirvError> {
        use ExecutionMode as M;
        let Some(kind) = M::from_u32(mode.mode) else {
            return Err(SpirvError::Value { what: "an execution mode", value: mode.mode.into() });
        };
        let stage = self.stage;
        let is_geometry = stage == ShaderStage::Geometry;
        match kind {
            M::OutputVertices => {
                let count = self.operand(mode, 0)?;
                if count > MAX_VERTICES {
                    return Err(SpirvError::Value { what: "OutputVertices", value: count.into() });
                }
                match is_geometry {
                    true => self.shader.info.gs.vertices_out = count,
                    false => self.shader.info.tess.tcs_vertices_out = count.min(32),
                }
            }
            M::Invocations => {
                let count = self.operand(mode, 0)?;
                if !(1..=MAX_VERTICES).contains(&count) {
                    return Err(SpirvError::Value { what: "Invocations", value: count.into() });
                }
                self.shader.info.gs.invocations = count;
            }
            M::InputPoints => self.set_input("POINTS", 1),
            M::InputLines => self.set_input("LINES", 2),
            M::InputLinesAdjacency => self.set_input("LINES_ADJACENCY", 4),
            M::Triangles if is_geometry => self.set_input("TRIANGLES", 3),
            M::InputTrianglesAdjacency => self.set_input("TRIANGLES_ADJACENCY", 6),
            M::OutputPoints => self.shader.info.gs.output_primitive = "POINTS".to_owned(),
            M::OutputLineStrip => self.shader.info.gs.output_primitive = "LINE_STRIP".to_owned(),
            M::OutputTriangleStrip => self.shader.info.gs.output_primitive = "TRIANGLE_STRIP".to_owned(),
            M::Triangles => self.shader.info.tess.primitive_mode = 1,
            M::Quads => self.shader.info.tess.primitive_mode = 2,
            M::Isolines => self.shader.info.tess.primitive_mode = 3,
            M::SpacingEqual => self.shader.info.tess.spacing = 1,
            M::SpacingFractionalOdd => self.shader.info.tess.spacing = 2,
            M::SpacingFractionalEven => self.shader.info.tess.spacing = 3,
            M::VertexOrderCw => self.shader.info.tess.ccw = false,
            M::VertexOrderCcw => self.shader.info.tess.ccw = true,
            M::PointMode => self.shader.info.tess.point_mode = true,
            M::Xfb if matches!(stage, ShaderStage::Vertex | ShaderStage::TessEval | ShaderStage::Geometry) => {
                self.shader.info.has_transform_feedback_varyings = true;
            }
            M::DenormPreserve => self.set_float_mode(mode, "DenormPreserve", &[DENORM_PRESERVE], true)?,
            M::DenormFlushToZero => self.set_float_mode(mode, "DenormFlushToZero", &[DENORM_FLUSH], true)?,
            M::SignedZeroInfNanPreserve => {
                self.set_float_mode(mode, "SignedZeroInfNanPreserve", &[SIGNED_ZERO, INFINITY, NAN], false)?;
            }
            M::RoundingModeRTE => self.set_float_mode(mode, "RoundingModeRTE", &[ROUND_TO_EVEN], false)?,
            M::RoundingModeRTZ => self.set_float_mode(mode, "RoundingModeRTZ", &[ROUND_TO_ZERO], true)?,
            M::FPFastMathDefault => self.set_fast_math(mode)?,
            M::DerivativeGroupQuadsKHR => self.shader.info.derivative_group = 1,
            M::DerivativeGroupLinearKHR => self.shader.info.derivative_group = 2,
            _ if stage == ShaderStage::Fragment => self.set_fragment_mode(kind),
            // Modes of other stages, of sizes, and those without effect on the code.
            _ => {}
        }
        Ok(())
    }

    fn set_input(&mut self, name: &str, vertices: u32) {
        self.shader.info.gs.input_primitive = name.to_owned();
        self.shader.info.gs.vertices_in = vertices;
    }

    fn set_fragment_mode(&mut self, kind: ExecutionMode) {
        use ExecutionMode as M;
        let info = &mut self.shader.info.fs;
        match kind {
            M::OriginUpperLeft => info.origin_upper_left = true,
            M::OriginLowerLeft => info.origin_upper_left = false,
            M::PixelCenterInteger => info.pixel_center_integer = true,
            M::EarlyFragmentTests => info.early_fragment_tests = true,
            M::DepthGreater => info.depth_layout = 2,
            M::DepthLess => info.depth_layout = 3,
            M::DepthUnchanged => info.depth_layout = 4,
            M::PostDepthCoverage => info.post_depth_coverage = true,
            M::RequireFullQuadsKHR => info.require_full_quads = true,
            M::PixelInterlockOrderedEXT => info.pixel_interlock_ordered = true,
            M::PixelInterlockUnorderedEXT => info.pixel_interlock_unordered = true,
            M::SampleInterlockOrderedEXT => info.sample_interlock_ordered = true,
            M::SampleInterlockUnorderedEXT => info.sample_interlock_unordered = true,
            _ => {}
        }
    }

    /// Sets bits of float controls for the width that is the operand.
    fn set_float_mode(&mut self, mode: &Mode, name: &str, firsts: &[u32], warns: bool) -> Result<(), SpirvError> {
        let width = self.operand(mode, 0)?;
        let index = width_index(width).ok_or(SpirvError::Value { what: "a width of floats", value: width.into() })?;
        for first in firsts {
            self.shader.info.float_controls_execution_mode.0 |= 1 << (first + index);
        }
        // Targets have no properties for these.
        if warns {
            self.findings.add(SpirvError::FloatMode { mode: format!("{name} of {width} bits") }, mode.span);
        }
        Ok(())
    }

    /// The default flags of fast math of a type: other properties are preserved.
    fn set_fast_math(&mut self, mode: &Mode) -> Result<(), SpirvError> {
        let ty = mode.operands.first().copied().unwrap_or(0);
        let found = self.module.id(ty).kind();
        let scalar = self.module.type_of_id(ty).and_then(|ty| self.module.types.scalar(ty));
        let width = scalar.filter(|scalar| scalar.is_float()).and_then(|scalar| width_index(scalar.bit_size().into()));
        let index = width.ok_or(SpirvError::WrongKind { id: ty, found, expected: "a type of floats" })?;
        let allowed = spirv::FPFastMathMode::from_bits_truncate(self.operand(mode, 1)?);
        for (flag, first) in [
            (spirv::FPFastMathMode::NSZ, SIGNED_ZERO),
            (spirv::FPFastMathMode::NOT_INF, INFINITY),
            (spirv::FPFastMathMode::NOT_NAN, NAN),
        ] {
            if !allowed.contains(flag) {
                self.shader.info.float_controls_execution_mode.0 |= 1 << (first + index);
            }
        }
        Ok(())
    }

    /// The size of the workgroup: a constant decorated `WorkgroupSize` takes precedence over modes.
    fn set_workgroup_size(&mut self, modes: &[Mode]) {
        if self.stage != ShaderStage::Compute {
            return;
        }
        let mut size = [1; 3];
        let mut span = self.module.entry_points.get(self.entry).map(|entry| entry.span).unwrap_or_default();
        for kind in [ExecutionMode::LocalSize, ExecutionMode::LocalSizeId] {
            for mode in modes.iter().filter(|mode| mode.mode == kind as u32) {
                span = mode.span;
                for (number, part) in size.iter_mut().enumerate() {
                    match self.operand(mode, number) {
                        Ok(value) => *part = value,
                        Err(error) => self.findings.add(error, mode.span),
                    }
                }
            }
        }
        let decorated = self.module.decorations.targets(Decoration::BuiltIn, BuiltIn::WorkgroupSize as u32);
        let known = decorated.into_iter().find_map(|id| match self.module.id(id) {
            Id::Constant(known) => Some(known),
            _ => None,
        });
        if let Some(known) = known {
            match self.module.constants.bits(&self.module.types, known) {
                Some(bits) if bits.len() == 3 => {
                    for (part, value) in size.iter_mut().zip(bits) {
                        *part = u32::try_from(value).unwrap_or(0);
                    }
                }
                _ => {
                    let op = "WorkgroupSize".to_owned();
                    self.findings.add(SpirvError::Types { op, why: "it is a vector of three integers" }, span);
                }
            }
        }
        if size.contains(&0) {
            self.findings.add(SpirvError::Value { what: "the size of the workgroup", value: 0 }, span);
        }
        self.shader.info.workgroup_size = size;
    }
}

/// The number of a width of floats.
fn width_index(width: u32) -> Option<u32> {
    match width {
        16 => Some(0),
        32 => Some(1),
        64 => Some(2),
        _ => None,
    }
}
