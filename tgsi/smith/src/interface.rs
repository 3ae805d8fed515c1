//! The interface of a shader: properties, inputs, outputs, system values, and the stores of results at the end.

use super::Features;
use super::generator::{EmittedVertices, Generator};
use super::registers::{Array, Input, Output, RegisterType, SystemInput};
use tgsi::builder::{Io, RegisterArray};
use tgsi::shader::{Declaration, DeclarationInterpolation, Dst, Indirect, Register, Src};
use tgsi::tables::{File, Interpolation, InterpolationLocation, Opcode, Primitive, Processor, PropertyName, Semantic};

/// From this semantic index on, registers hold integers and the words of 64-bit values; those below hold floats.
const FIRST_INTEGER: u16 = 4;

/// Whether the generator stores integers in a declared output, which must be identical in all executors.
pub fn holds_integers(declaration: &Declaration) -> bool {
    declaration.semantic.is_some_and(|semantic| {
        semantic.index >= FIRST_INTEGER
            || matches!(
                semantic.name,
                Semantic::Layer | Semantic::ViewportIndex | Semantic::Stencil | Semantic::SampleMask
            )
    })
}

/// Number of vertices of a patch that a tessellation stage reads.
const PATCH_VERTICES: u16 = 4;

/// The largest declared number of vertices of a geometry shader.
const MAX_VERTICES: u32 = 1024;

impl Generator<'_> {
    /// Declares the inputs and outputs of the shader.
    pub(super) fn interface(&mut self) {
        self.properties();
        self.kills = self.stage == Processor::Fragment && self.choices.one_in(3);
        self.sample_family = self.integers && self.choices.one_in(4);
        self.make_inputs();
        self.make_outputs();
        self.make_system_values();
        if self.features.contains(Features::INDIRECT) {
            for _ in 0..1 + self.choices.below(2) {
                let address = self.builder.address();
                self.indices.push(address);
            }
            if self.integers && self.choices.one_in(3) {
                let temporary = self.builder.temporary();
                self.indices.push(temporary);
            }
            self.state.bounds = vec![[None; 4]; self.indices.len()];
        }
        if self.features.contains(Features::ARRAYS) {
            for kind in [
                RegisterType::Float,
                RegisterType::Integer,
                RegisterType::Small,
                RegisterType::Double,
                RegisterType::Long,
            ] {
                let kind = self.available(kind);
                if kind.is_wide() && !self.features.contains(Features::WIDE) || !self.choices.one_in(3) {
                    continue;
                }
                let size = 2 + self.choices.below(3) as u16;
                let array = self.builder.temporary_array(size, false);
                self.arrays.push(Array { array, kind });
            }
        }
    }

    fn properties(&mut self) {
        use PropertyName::*;
        match self.stage {
            Processor::Geometry => {
                let primitive = self.choices.of([
                    Primitive::Triangles,
                    Primitive::Points,
                    Primitive::Lines,
                    Primitive::LinesAdjacency,
                    Primitive::TrianglesAdjacency,
                ]);
                self.vertices = u16::from(primitive.input_vertices());
                self.builder.property(GsInputPrimitive, u32::from(primitive.value()));
                let output = self.choices.of([Primitive::Points, Primitive::LineStrip, Primitive::TriangleStrip]);
                self.builder.property(GsOutputPrimitive, u32::from(output.value()));
                let most = 1 + self.choices.below(8) as u32;
                self.emitted.most = most;
                self.builder.property(GsMaxOutputVertices, most);
            }
            Processor::TessControl => {
                self.vertices = PATCH_VERTICES;
                let vertices = 1 + self.choices.below(4) as u32;
                self.builder.property(TcsVerticesOut, vertices);
                self.patch_vertices = vertices as u16;
            }
            Processor::TessEval => {
                self.vertices = PATCH_VERTICES;
                let mode = self.choices.of([Primitive::Triangles, Primitive::Quads, Primitive::Lines]);
                self.builder.property(TesPrimMode, u32::from(mode.value()));
                let spacing = self.choices.below(3) as u32;
                self.builder.property(TesSpacing, spacing);
            }
            Processor::Compute => {
                let size = self.choices.of([[4, 1, 1], [2, 2, 1], [8, 1, 1], [2, 2, 2], [1, 4, 1]]);
                for (name, value) in [CsFixedBlockWidth, CsFixedBlockHeight, CsFixedBlockDepth].into_iter().zip(size) {
                    self.builder.property(name, value);
                }
                self.block = size;
            }
            Processor::Fragment => {
                for name in [FsCoordOrigin, FsCoordPixelCenter, FsColor0WritesAllCbufs, FsEarlyDepthStencil] {
                    if self.choices.one_in(6) {
                        self.builder.property(name, 1);
                    }
                }
            }
            _ => {}
        }
        if self.choices.one_in(12) {
            self.builder.property(LegacyMathRules, 1);
        }
    }

    fn add_input(&mut self, array: RegisterArray, components: u8, vertices: Option<u16>) {
        self.inputs.push(Input { array, components, vertices });
    }

    fn make_inputs(&mut self) {
        let arrays = self.features.contains(Features::ARRAYS);
        let one = |register: Register| RegisterArray {
            file: File::Input,
            dimension: None,
            first: register.index as u16,
            size: 1,
            array_id: 0,
        };
        match self.stage {
            Processor::Vertex => {
                if arrays && self.choices.one_in(2) {
                    let array = self.builder.input_array(Io::attribute(0), 3);
                    self.add_input(array, 15, None);
                } else {
                    for register in 0..1 + self.choices.below(3) as u16 {
                        let register = self.builder.input(Io::attribute(register));
                        self.add_input(one(register), 15, None);
                    }
                }
            }
            Processor::Compute => {}
            Processor::Fragment => {
                for number in 0..1 + self.choices.below(3) as u16 {
                    let name = self.choices.of([Semantic::Generic, Semantic::Color, Semantic::TexCoord]);
                    let name = if name == Semantic::Color && number > 1 { Semantic::Generic } else { name };
                    let interpolation = Some(self.interpolation());
                    let usage_mask = if self.choices.one_in(5) { self.mask_of(15, RegisterType::Float) } else { 15 };
                    let io = Io { interpolation, usage_mask, ..Io::new(name, number) };
                    let register = self.builder.input(io);
                    self.add_input(one(register), usage_mask, None);
                }
                if arrays && self.choices.one_in(2) {
                    let interpolation = Some(self.interpolation());
                    let array = self.builder.input_array(Io { interpolation, ..Io::new(Semantic::Generic, 8) }, 3);
                    self.add_input(array, 15, None);
                }
                if self.choices.one_in(6) {
                    let interpolation = Some(DeclarationInterpolation {
                        mode: Interpolation::Constant,
                        location: InterpolationLocation::Center,
                    });
                    let register = self.builder.input(Io { interpolation, ..Io::new(Semantic::Face, 0) });
                    self.add_input(one(register), 1, None);
                }
            }
            stage => {
                let vertices = Some(self.vertices);
                for number in 0..1 + self.choices.below(2) as u16 {
                    let register = self.builder.input(Io::new(Semantic::Generic, number));
                    self.add_input(one(register), 15, vertices);
                }
                if self.choices.one_in(3) {
                    let register = self.builder.input(Io::new(Semantic::Position, 0));
                    self.add_input(one(register), 15, vertices);
                }
                if arrays && self.choices.one_in(2) {
                    let array = self.builder.input_array(Io::new(Semantic::Generic, 8), 3);
                    self.add_input(array, 15, vertices);
                }
                if stage == Processor::TessEval && self.choices.one_in(2) {
                    let register = self.builder.input(Io::new(Semantic::Patch, 0));
                    self.add_input(one(register), 15, None);
                }
            }
        }
    }

    fn interpolation(&mut self) -> DeclarationInterpolation {
        use Interpolation::{Constant, Linear, Perspective};
        use InterpolationLocation::{Center, Centroid, Sample};
        let mode = self.choices.of([Perspective, Linear, Constant, Interpolation::Color]);
        let location = self.choices.of([Center, Center, Centroid, Sample]);
        DeclarationInterpolation { mode, location }
    }

    fn add_output(&mut self, io: Io, kind: RegisterType, components: u8, size: Option<u16>) {
        let array = match size {
            Some(size) => self.builder.output_array(io, size),
            None => {
                let register = self.builder.output(io);
                let first = register.index as u16;
                RegisterArray { file: File::Output, dimension: None, first, size: 1, array_id: 0 }
            }
        };
        let patch = matches!(io.semantic, Some(semantic) if semantic.is_patch());
        let per_vertex = self.stage == Processor::TessControl && !patch;
        self.outputs.push(Output { array, kind, components, per_vertex });
        let count = usize::from(array.first + array.size);
        if self.state.outputs.len() < count {
            self.state.outputs.resize(count, 0);
        }
    }

    fn make_outputs(&mut self) {
        if self.stage == Processor::Compute {
            return;
        }
        let name = if self.stage == Processor::Fragment { Semantic::Color } else { Semantic::Generic };
        self.add_output(Io::new(name, 0), RegisterType::Float, 15, None);
        if self.integers {
            self.add_output(Io::new(name, FIRST_INTEGER), RegisterType::Integer, 15, None);
        } else if self.choices.one_in(2) {
            self.add_output(Io::new(name, 1), RegisterType::Float, 15, None);
        }
        if self.features.contains(Features::WIDE) && self.choices.one_in(2) {
            self.add_output(Io::new(name, FIRST_INTEGER + 1), RegisterType::Long, 15, None);
        }
        match self.stage {
            Processor::Fragment => {
                if self.choices.one_in(6) {
                    self.add_output(Io::new(Semantic::Position, 0), RegisterType::Float, 4, None);
                }
                if self.integers && self.choices.one_in(8) {
                    self.add_output(Io::new(Semantic::Stencil, 0), RegisterType::Integer, 2, None);
                }
                if self.integers && self.choices.one_in(8) {
                    self.add_output(Io::new(Semantic::SampleMask, 0), RegisterType::Integer, 1, None);
                }
            }
            Processor::TessControl => {
                if self.choices.one_in(3) {
                    self.add_output(Io::new(Semantic::Position, 0), RegisterType::Float, 15, None);
                }
            }
            _ => {
                if self.choices.one_in(3) {
                    self.add_output(Io::new(Semantic::Position, 0), RegisterType::Float, 15, None);
                }
                if self.choices.one_in(8) {
                    self.add_output(Io::new(Semantic::PointSize, 0), RegisterType::Float, 1, None);
                }
                if self.choices.one_in(8) {
                    self.add_output(Io::new(Semantic::ClipDistance, 0), RegisterType::Float, 15, None);
                }
                if self.integers && self.choices.one_in(8) {
                    self.add_output(Io::new(Semantic::Layer, 0), RegisterType::Integer, 1, None);
                }
            }
        }
        if self.stage != Processor::Fragment && self.features.contains(Features::ARRAYS) && self.choices.one_in(4) {
            self.add_output(Io::new(Semantic::Generic, 1), RegisterType::Float, 15, Some(2));
        }
    }

    fn make_system_values(&mut self) {
        use Semantic::*;
        if !self.integers {
            return;
        }
        let of_stage: &[Semantic] = match self.stage {
            Processor::Vertex => &[InstanceId, VertexId, BaseVertex, BaseInstance, DrawId, VertexIdNoBase],
            Processor::Fragment => &[SampleId, SamplePosition, SampleMask, HelperInvocation, PrimitiveId, Face],
            Processor::Geometry => &[PrimitiveId, InvocationId],
            Processor::TessControl => &[InvocationId, PrimitiveId, VerticesIn],
            Processor::TessEval => &[TessCoord, PrimitiveId, VerticesIn],
            _ => &[ThreadId, BlockId, GridSize, BlockSize, WorkDim],
        };
        let any = [SubgroupSize, SubgroupInvocation, SubgroupEqMask, SubgroupGeMask, SubgroupLtMask];
        if self.stage == Processor::TessControl {
            let register = self.declare_system_value(InvocationId);
            let address = self.builder.address();
            self.builder.emit(Opcode::Uarl, Dst::new(address).masked(1), &[Src::new(register).replicated(0)]);
            self.own_vertex = Some(Indirect { file: File::Address, index: address.index, component: 0, array_id: 0 });
        }
        for _ in 0..self.choices.below(3) {
            let Some(semantic) = self.choices.pick(of_stage) else { continue };
            self.declare_system_value(semantic);
        }
        if self.choices.one_in(8) {
            let semantic = self.choices.of(any);
            self.declare_system_value(semantic);
        }
    }

    /// Declares a system value, to be read like other values.
    pub(super) fn declare_system_value(&mut self, semantic: Semantic) -> Register {
        let register = self.builder.system_value(semantic, 0);
        if !self.system_values.iter().any(|value| value.register == register) {
            let count = semantic.system_value().map_or(1, |value| value.num_components());
            let float = matches!(semantic, Semantic::SamplePosition | Semantic::TessCoord);
            let kind = if float { RegisterType::Float } else { RegisterType::Integer };
            self.system_values.push(SystemInput { register, kind, components: (1 << count.min(4)) - 1 });
        }
        register
    }

    /// Writes all outputs.
    pub(super) fn results(&mut self) {
        for position in 0..self.outputs.len() {
            for element in 0..self.outputs[position].array.size {
                self.result(position, element);
            }
        }
        if self.stage == Processor::Compute {
            return self.store_results();
        }
        if self.stage == Processor::Geometry {
            let stream = self.builder.immediate_u32(&[0]).replicated(0);
            self.builder.emit(Opcode::Emit, None, &[stream]);
            self.emitted.bound += 1;
        }
    }

    /// Raises the declared number of vertices if there are several primitives: machines count the vertices of all of
    /// them, and the interpreter those of each.
    pub(super) fn bound_vertices(&mut self) {
        let EmittedVertices { most, bound, ends_primitives } = self.emitted;
        if ends_primitives && bound > most {
            self.builder.property(PropertyName::GsMaxOutputVertices, bound.min(MAX_VERTICES));
        }
    }

    /// Stores the results of a compute shader, floats and integers separately.
    fn store_results(&mut self) {
        for (unit, kind) in [(2, RegisterType::Integer), (3, RegisterType::Float)] {
            let buffer = self.builder.buffer(unit, false);
            let base = self.lane_base();
            for offset in [0u32, 16] {
                let value = self.recent(kind, 15);
                let offset = self.builder.immediate_u32(&[offset]).replicated(0);
                let address = self.compute(RegisterType::Scrap, Opcode::Uadd, &[base, offset]).replicated(0);
                self.access(Opcode::Store, Some(Dst::new(buffer)), &[address, value]);
            }
        }
        if self.features.contains(Features::WIDE) {
            let buffer = self.builder.buffer(2, false);
            let value = self.recent(RegisterType::Long, 15);
            let (base, offset) = (self.lane_base(), self.builder.immediate_u32(&[32]).replicated(0));
            let address = self.compute(RegisterType::Scrap, Opcode::Uadd, &[base, offset]).replicated(0);
            self.access(Opcode::Store, Some(Dst::new(buffer)), &[address, value]);
        }
    }

    fn result(&mut self, position: usize, element: u16) {
        let output = self.outputs[position];
        let register = self.output_register(position, element);
        let dst = Dst::new(register).masked(output.components);
        let kind =
            if output.kind == RegisterType::Float && self.choices.one_in(2) { RegisterType::Leaf } else { output.kind };
        if kind == RegisterType::Long && self.choices.one_in(2) {
            // The bits of a NaN are undefined, so it is replaced with 0.
            let value = self.source(RegisterType::Double, 15);
            let value = self.with_positive_zero(value);
            let number = self.compute(RegisterType::Integer, Opcode::Dseq, &[value, value]).swizzled([0, 0, 2, 2]);
            let zero = self.builder.immediate_u32(&[0]).replicated(0);
            return self.emit(Opcode::Ucmp, Some(dst), &[number, value, zero]);
        }
        let source = self.recent(kind, output.components);
        self.emit(Opcode::Mov, Some(dst), &[source]);
    }

    /// Returns a temporary of a kind, so that computed values are observed, or another value without such a temporary.
    fn recent(&mut self, kind: RegisterType, needed: u8) -> Src {
        for _ in 0..4 {
            let source = self.source(kind, needed);
            if source.register.file == File::Temporary {
                return source;
            }
        }
        self.source(kind, needed)
    }
}
