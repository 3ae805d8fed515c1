//! Execution modes of the stages.

use spirv::{BuiltIn, Capability, Decoration, ExecutionMode, Op};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Inst, ShaderStage};

use crate::emit::Emitter;
use crate::error::SpirvError;
use crate::module::{Id, ValueType};
use crate::options::Origin;

/// Number of patch vertices if the shader does not declare it.
const PATCH_VERTICES: u32 = 32;

const FLOAT_CONTROLS: &str = "SPV_KHR_float_controls";
const POST_DEPTH_COVERAGE: &str = "SPV_KHR_post_depth_coverage";
const STENCIL_EXPORT: &str = "SPV_EXT_shader_stencil_export";
const INTERLOCK: &str = "SPV_EXT_fragment_shader_interlock";
const COMPUTE_DERIVATIVES: &str = "SPV_NV_compute_shader_derivatives";

impl Emitter<'_> {
    pub(super) fn emit_execution_mode(&mut self, mode: ExecutionMode, operands: &[u32]) {
        self.module.execution_mode(self.main, mode, operands);
        let operands = operands.iter().map(|operand| format!(" {operand}")).collect::<String>();
        self.reflection.execution_modes.push(format!("{mode:?}{operands}"));
    }

    /// Emits the execution modes of the stage. Those of depth and stencil are emitted with their variables.
    pub(in crate::emit) fn emit_execution_modes(&mut self) -> Result<(), SpirvError> {
        let info = &self.shader.info;
        match self.shader.stage {
            ShaderStage::TessCtrl => {
                self.module.need(Capability::Tessellation);
                let vertices = info.tess.tcs_vertices_out;
                self.emit_execution_mode(
                    ExecutionMode::OutputVertices,
                    &[if vertices == 0 { PATCH_VERTICES } else { vertices }],
                );
            }
            ShaderStage::TessEval => {
                self.module.need(Capability::Tessellation);
                self.emit_execution_mode(
                    match info.tess.primitive_mode {
                        2 => ExecutionMode::Quads,
                        3 => ExecutionMode::Isolines,
                        _ => ExecutionMode::Triangles,
                    },
                    &[],
                );
                self.emit_execution_mode(
                    match info.tess.spacing {
                        2 => ExecutionMode::SpacingFractionalOdd,
                        3 => ExecutionMode::SpacingFractionalEven,
                        _ => ExecutionMode::SpacingEqual,
                    },
                    &[],
                );
                // A flipped domain reverses the winding order.
                let is_ccw = info.tess.ccw != self.options.tess_origin_lower_left;
                self.emit_execution_mode(
                    if is_ccw { ExecutionMode::VertexOrderCcw } else { ExecutionMode::VertexOrderCw },
                    &[],
                );
                if info.tess.point_mode {
                    self.emit_execution_mode(ExecutionMode::PointMode, &[]);
                }
            }
            ShaderStage::Geometry => {
                self.module.need(Capability::Geometry);
                self.emit_execution_mode(
                    match info.gs.input_primitive.as_str() {
                        "POINTS" => ExecutionMode::InputPoints,
                        "LINES" | "LINE_STRIP" | "LINE_LOOP" => ExecutionMode::InputLines,
                        "LINES_ADJACENCY" | "LINE_STRIP_ADJACENCY" => ExecutionMode::InputLinesAdjacency,
                        "TRIANGLES" | "TRIANGLE_STRIP" | "TRIANGLE_FAN" => ExecutionMode::Triangles,
                        _ => ExecutionMode::InputTrianglesAdjacency,
                    },
                    &[],
                );
                self.emit_execution_mode(
                    match info.gs.output_primitive.as_str() {
                        "POINTS" => ExecutionMode::OutputPoints,
                        "LINES" | "LINE_STRIP" | "LINE_LOOP" => ExecutionMode::OutputLineStrip,
                        _ => ExecutionMode::OutputTriangleStrip,
                    },
                    &[],
                );
                self.emit_execution_mode(ExecutionMode::OutputVertices, &[info.gs.vertices_out.max(1)]);
                self.emit_execution_mode(ExecutionMode::Invocations, &[info.gs.invocations.max(1)]);
            }
            ShaderStage::Fragment => {
                let is_lower = match self.options.origin {
                    Origin::UpperLeft => false,
                    Origin::LowerLeft => true,
                    Origin::OfShader => !info.fs.origin_upper_left,
                };
                let (lower, upper) = (ExecutionMode::OriginLowerLeft, ExecutionMode::OriginUpperLeft);
                self.emit_execution_mode(if is_lower { lower } else { upper }, &[]);
                let (early, post) = (info.fs.early_fragment_tests, info.fs.post_depth_coverage);
                if early || post {
                    self.emit_execution_mode(ExecutionMode::EarlyFragmentTests, &[]);
                }
                if post {
                    self.module.need(Capability::SampleMaskPostDepthCoverage);
                    self.module.need_extension(POST_DEPTH_COVERAGE, None);
                    self.emit_execution_mode(ExecutionMode::PostDepthCoverage, &[]);
                }
                if info.fs.uses_sample_shading {
                    self.module.need(Capability::SampleRateShading);
                }
                self.emit_interlock_mode();
            }
            ShaderStage::Compute => {
                if info.workgroup_size_variable {
                    // The size is declared twice; the constant takes precedence.
                    self.workgroup_size();
                    self.emit_execution_mode(ExecutionMode::LocalSize, &[1, 1, 1]);
                } else {
                    self.emit_execution_mode(ExecutionMode::LocalSize, &info.workgroup_size.map(|size| size.max(1)));
                }
                let group = match info.derivative_group {
                    1 => (Capability::ComputeDerivativeGroupQuadsNV, ExecutionMode::DerivativeGroupQuadsNV),
                    2 => (Capability::ComputeDerivativeGroupLinearNV, ExecutionMode::DerivativeGroupLinearNV),
                    _ => return Ok(()),
                };
                self.module.need(group.0);
                self.module.need_extension(COMPUTE_DERIVATIVES, None);
                self.emit_execution_mode(group.1, &[]);
            }
            _ => {}
        }
        Ok(())
    }

    /// Emits the mode of the critical section of fragments, if the shader has one.
    fn emit_interlock_mode(&mut self) {
        let fs = &self.shader.info.fs;
        let mode = match () {
            () if fs.pixel_interlock_ordered => ExecutionMode::PixelInterlockOrderedEXT,
            () if fs.pixel_interlock_unordered => ExecutionMode::PixelInterlockUnorderedEXT,
            () if fs.sample_interlock_ordered => ExecutionMode::SampleInterlockOrderedEXT,
            () if fs.sample_interlock_unordered => ExecutionMode::SampleInterlockUnorderedEXT,
            () => return,
        };
        let of_pixel = fs.pixel_interlock_ordered || fs.pixel_interlock_unordered;
        self.module.need(match of_pixel {
            true => Capability::FragmentShaderPixelInterlockEXT,
            false => Capability::FragmentShaderSampleInterlockEXT,
        });
        self.module.need_extension(INTERLOCK, None);
        self.emit_execution_mode(mode, &[]);
    }

    /// Emits the begin or end of the critical section.
    pub(in crate::emit) fn emit_interlock(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        let fs = &self.shader.info.fs;
        let modes = [
            fs.pixel_interlock_ordered,
            fs.pixel_interlock_unordered,
            fs.sample_interlock_ordered,
            fs.sample_interlock_unordered,
        ];
        if self.shader.stage != ShaderStage::Fragment || !modes.contains(&true) {
            return Err(SpirvError::Unsupported { inst, what: "an interlock without its kind" });
        }
        let is_begin = op == IntrinsicOp::BeginInvocationInterlock;
        self.push(if is_begin { Op::BeginInvocationInterlockEXT } else { Op::EndInvocationInterlockEXT }, &[]);
        Ok(())
    }

    /// Emits the float controls for 32-bit floats, if the code has any.
    pub(in crate::emit) fn emit_float_modes(&mut self) {
        if self.options.float_controls && self.module.has_floats() {
            self.module.need(Capability::SignedZeroInfNanPreserve);
            self.module.need_extension(FLOAT_CONTROLS, Some((1, 4)));
            self.emit_execution_mode(ExecutionMode::SignedZeroInfNanPreserve, &[32]);
            if self.options.denorm_preserve {
                self.module.need(Capability::DenormPreserve);
                self.emit_execution_mode(ExecutionMode::DenormPreserve, &[32]);
            }
        }
    }

    /// Emits the execution modes and extensions that depth and stencil outputs need.
    pub(super) fn emit_fragment_output_modes(&mut self, built_in: BuiltIn) {
        match built_in {
            BuiltIn::FragDepth => {
                self.emit_execution_mode(ExecutionMode::DepthReplacing, &[]);
                match self.shader.info.fs.depth_layout {
                    2 => self.emit_execution_mode(ExecutionMode::DepthGreater, &[]),
                    3 => self.emit_execution_mode(ExecutionMode::DepthLess, &[]),
                    4 => self.emit_execution_mode(ExecutionMode::DepthUnchanged, &[]),
                    _ => {}
                }
            }
            BuiltIn::FragStencilRefEXT => {
                self.module.need(Capability::StencilExportEXT);
                self.module.need_extension(STENCIL_EXPORT, None);
                self.emit_execution_mode(ExecutionMode::StencilRefReplacingEXT, &[]);
            }
            _ => {}
        }
    }

    /// Returns the size of the workgroup: a constant, composed of specialization constants 0, 1, 2 if it is unknown.
    pub(in crate::emit) fn workgroup_size(&mut self) -> Id {
        if let Some(id) = self.io.workgroup_size {
            return id;
        }
        let ty = ValueType::UINT.with_components(3);
        let sizes = self.shader.info.workgroup_size;
        let id = if self.shader.info.workgroup_size_variable {
            let uint = self.module.value_type(ValueType::UINT);
            let vector = self.module.value_type(ty);
            let mut parts = [0; 3];
            for (number, part) in (0u32..).zip(&mut parts) {
                let id = self.module.specialization_constant(Op::SpecConstant, uint, &[1]);
                self.module.decorate(id, Decoration::SpecId, &[number]);
                *part = id.0;
            }
            let id = self.module.specialization_constant(Op::SpecConstantComposite, vector, &parts);
            self.module.decorate(id, Decoration::BuiltIn, &[BuiltIn::WorkgroupSize as u32]);
            id
        } else {
            self.module.constant(ty, &sizes.map(|size| u64::from(size.max(1))))
        };
        self.io.workgroup_size = Some(id);
        id
    }
}
