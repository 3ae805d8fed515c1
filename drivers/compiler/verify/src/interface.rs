//! Describes the interface of an IR shader by TGSI declarations, so that inputs are generated and outputs printed as
//! for TGSI.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use tgsi::Shader;
use tgsi::shader::{Declaration, DeclarationInterpolation, DeclarationSemantic, Property};
use tgsi::tables::{
    CoordOrigin, File, Interpolation, InterpolationLocation, PixelCenter, Primitive, Processor, PropertyName, Semantic,
};
use tgsi_compiler::Source;
use tgsi_environment::SystemValue;
use tgsi_ir::body::Body;
use tgsi_ir::intrinsics::indices::{InterpMode, IoSemantics};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::types::TypeData;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Inst, Shader as IrShader};
use tgsi_to_ir::slots::{processor_of, semantic_of};

/// Maximum number of declared registers of one file, because a run needs memory for each.
const MAX_REGISTERS: u32 = 4096;
/// Constants of a buffer of unknown size.
const UNKNOWN_CONSTANTS: u32 = 64;
/// Buffers if the index is computed at run time.
const UNKNOWN_BUFFERS: u32 = 4;
/// Maximum number of declared buffers.
const MAX_BUFFERS: u32 = 32;

/// Returns the inputs and outputs of a source: the source itself if it is TGSI; otherwise a shader without code that
/// declares the inputs, outputs, system values, constants, buffers and counters of the IR, and has the properties of
/// workgroups, primitives, coordinates and clip distances.
pub fn interface<'s>(source: &'s Source<'_>) -> Cow<'s, Shader> {
    match source {
        Source::Tgsi(shader) => Cow::Borrowed(shader),
        Source::Ir(shader, _) => Cow::Owned(declarations(shader)),
    }
}

fn declarations(ir: &IrShader) -> Shader {
    let processor = processor_of(ir.stage);
    let mut found = UsedInterface { first_ubo_buffer: ir.info.first_ubo_buffer(), ..UsedInterface::default() };
    for (mode, file) in [(VariableModes::SHADER_IN, File::Input), (VariableModes::SHADER_OUT, File::Output)] {
        for (_, data) in ir.globals_with(mode) {
            let mut ty = data.ty;
            if data.per_vertex
                && let TypeData::Array { element, .. } = *ir.types.get(ty)
            {
                ty = element;
            }
            // Compact arrays have four elements in a register.
            let slots = if data.compact { ir.types.slots(ty).div_ceil(4) } else { ir.types.slots(ty) };
            found.registers(file, data.driver_location, slots.max(1), |slot| {
                semantic_of(processor, file, data.location.saturating_add(slot as i32))
            });
            let interpolation = match data.interpolation {
                InterpMode::Flat => Interpolation::Constant,
                InterpMode::NoPerspective => Interpolation::Linear,
                _ => continue,
            };
            let end = data.driver_location.saturating_add(slots).min(MAX_REGISTERS);
            found.interpolations.extend((data.driver_location..end).map(|register| ((file, register), interpolation)));
        }
    }
    for (_, data) in ir.globals_with(VariableModes::SYSTEM_VALUE) {
        let value = usize::try_from(data.location).ok().and_then(|number| SystemValue::ALL.get(number));
        found.system_values.extend(value);
    }
    for body in ir.functions.values().filter_map(|f| f.body.as_ref()) {
        for block in body.blocks() {
            for inst in body.insts(block) {
                if let Some(op) = body.intrinsic(inst) {
                    found.intrinsic(processor, body, inst, op);
                }
            }
        }
    }
    let mut shader = Shader::new(processor);
    for (name, value) in properties(ir) {
        shader.push_property(Property::new(name, value));
    }
    found.declare(&mut shader);
    shader
}

fn properties(ir: &IrShader) -> Vec<(PropertyName, u32)> {
    let info = &ir.info;
    let has_distances = matches!(ir.stage, ShaderStage::Vertex | ShaderStage::TessEval | ShaderStage::Geometry);
    let mut found = properties_of_stage(ir);
    let [clip, cull] = [info.clip_distance_array_size, info.cull_distance_array_size];
    if has_distances && (clip > 0 || cull > 0) {
        found.extend([(PropertyName::NumClipdistEnabled, clip), (PropertyName::NumCulldistEnabled, cull)]);
    }
    found
}

fn properties_of_stage(ir: &IrShader) -> Vec<(PropertyName, u32)> {
    let info = &ir.info;
    match ir.stage {
        ShaderStage::TessCtrl => vec![(PropertyName::TcsVerticesOut, info.tess.tcs_vertices_out)],
        ShaderStage::TessEval => {
            let mode = match info.tess.primitive_mode {
                2 => Primitive::Quads,
                3 => Primitive::Lines,
                _ => Primitive::Triangles,
            };
            // 0 fractional odd, 1 fractional even, 2 equal.
            let spacing = match info.tess.spacing {
                2 => 0,
                3 => 1,
                _ => 2,
            };
            vec![
                (PropertyName::TesPrimMode, u32::from(mode.value())),
                (PropertyName::TesSpacing, spacing),
                (PropertyName::TesVertexOrderCw, (!info.tess.ccw).into()),
                (PropertyName::TesPointMode, info.tess.point_mode.into()),
            ]
        }
        ShaderStage::Geometry => {
            let primitives = [
                (PropertyName::GsInputPrimitive, &info.gs.input_primitive),
                (PropertyName::GsOutputPrimitive, &info.gs.output_primitive),
            ];
            let primitives = primitives
                .into_iter()
                .filter_map(|(name, primitive)| Some((name, u32::from(Primitive::from_name(primitive)?.value()))));
            primitives.chain([(PropertyName::GsInvocations, info.gs.invocations.max(1))]).collect()
        }
        ShaderStage::Fragment => {
            let origin = if info.fs.origin_upper_left { CoordOrigin::UpperLeft } else { CoordOrigin::LowerLeft };
            let center = if info.fs.pixel_center_integer { PixelCenter::Integer } else { PixelCenter::HalfInteger };
            vec![(PropertyName::FsCoordOrigin, origin as u32), (PropertyName::FsCoordPixelCenter, center as u32)]
        }
        ShaderStage::Vertex if info.clip_distance_array_size > 0 => {
            vec![(PropertyName::NumClipdistEnabled, info.clip_distance_array_size)]
        }
        stage if stage.has_workgroups() => vec![
            (PropertyName::CsFixedBlockWidth, info.workgroup_size[0]),
            (PropertyName::CsFixedBlockHeight, info.workgroup_size[1]),
            (PropertyName::CsFixedBlockDepth, info.workgroup_size[2]),
        ],
        _ => Vec::new(),
    }
}

type RegisterSemantic = Option<(Semantic, u32)>;

/// The registers and resources that the code uses.
#[derive(Default)]
struct UsedInterface {
    registers: BTreeMap<(File, u32), RegisterSemantic>,
    /// The interpolation of registers that have another than the default.
    interpolations: BTreeMap<(File, u32), Interpolation>,
    system_values: BTreeSet<SystemValue>,
    /// Number of constants by buffer.
    constants: BTreeMap<u32, u32>,
    /// The constant buffer of uniform block 0.
    first_ubo_buffer: u32,
    buffers: u32,
    /// Number of counters by buffer.
    counters: BTreeMap<u32, u32>,
}

impl UsedInterface {
    /// Returns the constant buffer of a `load_ubo` block. Block numbers wrap around: the last possible block is the
    /// buffer before the first.
    fn buffer_of_block(&self, block: u64) -> u32 {
        (block as u32).wrapping_add(self.first_ubo_buffer).min(MAX_BUFFERS - 1)
    }

    fn registers(&mut self, file: File, first: u32, count: u32, semantic: impl Fn(u32) -> RegisterSemantic) {
        let end = first.saturating_add(count).min(MAX_REGISTERS);
        for register in first..end {
            self.registers.entry((file, register)).or_insert_with(|| semantic(register - first));
        }
    }

    fn constants(&mut self, buffer: u32, count: u32) {
        let known = self.constants.entry(buffer).or_default();
        *known = (*known).max(count.min(MAX_REGISTERS));
    }

    fn intrinsic(&mut self, processor: Processor, body: &Body, inst: Inst, op: IntrinsicOp) {
        use IntrinsicOp as I;
        self.system_values.extend(op.system_value());
        let index = |kind| if op.info().index_slot(kind).is_some() { body.index(inst, kind) } else { 0 };
        let constant = |source: usize| {
            (source < body.num_sources(inst)).then(|| body.constant_component(body.src(inst, source), 0)).flatten()
        };
        match op {
            I::LoadInput | I::LoadInputVertex | I::LoadPerVertexInput | I::LoadInterpolatedInput => {
                self.lowered_io(processor, File::Input, index(IndexKind::Base), index(IndexKind::IoSemantics));
            }
            I::LoadOutput | I::LoadPerVertexOutput | I::StoreOutput | I::StorePerVertexOutput => {
                self.lowered_io(processor, File::Output, index(IndexKind::Base), index(IndexKind::IoSemantics));
            }
            I::LoadUniform => {
                let end = i64::from(index(IndexKind::Base)) + i64::from(index(IndexKind::Range).max(1));
                self.constants(0, u32::try_from(end).unwrap_or(UNKNOWN_CONSTANTS));
            }
            I::LoadUbo => match constant(0) {
                Some(block) => self.constants(self.buffer_of_block(block), UNKNOWN_CONSTANTS),
                None => (0..UNKNOWN_BUFFERS).for_each(|buffer| self.constants(buffer, UNKNOWN_CONSTANTS)),
            },
            I::StoreSsbo => self.buffer(constant(1)),
            I::LoadSsbo | I::GetSsboSize | I::SsboAtomic | I::SsboAtomicSwap => self.buffer(constant(0)),
            _ if op.name().starts_with("atomic_counter") && op.info().index_slot(IndexKind::RangeBase).is_some() => {
                let byte = constant(0).map(|offset| offset.saturating_add_signed(index(IndexKind::RangeBase).into()));
                let counter = byte.map_or(UNKNOWN_CONSTANTS, |b| u32::try_from(b / 4).unwrap_or(u32::MAX));
                let buffer = u32::try_from(index(IndexKind::Base)).unwrap_or(0).min(MAX_BUFFERS - 1);
                let count = self.counters.entry(buffer).or_default();
                *count = (*count).max(counter.saturating_add(1).min(MAX_REGISTERS));
            }
            _ => {}
        }
    }

    fn lowered_io(&mut self, processor: Processor, file: File, base: i32, semantics: i32) {
        let semantics = IoSemantics::from_i32(semantics);
        let Ok(base) = u32::try_from(base) else { return };
        self.registers(file, base, u32::from(semantics.num_slots).max(1), |slot| {
            semantic_of(processor, file, i32::from(semantics.location) + slot as i32)
        });
    }

    fn buffer(&mut self, number: Option<u64>) {
        let count = number.map_or(UNKNOWN_BUFFERS, |n| u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1));
        self.buffers = self.buffers.max(count.min(MAX_BUFFERS));
    }

    fn declare(self, shader: &mut Shader) {
        let with_semantic = |mut declaration: Declaration, semantic: RegisterSemantic| {
            declaration.semantic =
                semantic.map(|(name, index)| DeclarationSemantic { name, index: index as u16, streams: [0; 4] });
            declaration
        };
        for ((file, number), semantic) in self.registers {
            let register = number as u16;
            let mut declaration = with_semantic(Declaration::new(file, register, register), semantic);
            let interpolation = self.interpolations.get(&(file, number));
            declaration.interpolation =
                interpolation.map(|&mode| DeclarationInterpolation { mode, location: InterpolationLocation::Center });
            shader.push_declaration(declaration);
        }
        let known = self
            .system_values
            .into_iter()
            .filter_map(|value| Semantic::ALL.iter().copied().find(|&semantic| semantic.system_value() == Some(value)));
        for (register, semantic) in known.enumerate() {
            let declaration = Declaration::new(File::SystemValue, register as u16, register as u16);
            shader.push_declaration(with_semantic(declaration, Some((semantic, 0))));
        }
        let last = |count: u32| count.max(1) as u16 - 1;
        for (file, sizes) in [(File::Constant, self.constants), (File::HwAtomic, self.counters)] {
            for (buffer, count) in sizes {
                let mut declaration = Declaration::new(file, 0, last(count));
                declaration.dimension = Some(buffer as u16);
                shader.push_declaration(declaration);
            }
        }
        if self.buffers > 0 {
            shader.push_declaration(Declaration::new(File::Buffer, 0, last(self.buffers)));
        }
    }
}
