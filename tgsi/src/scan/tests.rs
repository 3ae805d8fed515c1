//! Tests of the scan.

use pretty_assertions::assert_eq;

use super::*;
use crate::builder::{Io, Modifiers, ShaderBuilder};
use crate::shader::{Declaration, DeclarationImage, DeclarationInterpolation, DeclarationSemantic, InstructionMemory};
use crate::tables::{MemoryQualifiers, MemoryType, PixelFormat};

fn perspective(location: InterpolationLocation) -> Option<DeclarationInterpolation> {
    Some(DeclarationInterpolation { mode: Interpolation::Perspective, location })
}

/// The example of the specification of the scan.
#[test]
fn inputs_of_a_fragment_shader() {
    let mut b = ShaderBuilder::new(Processor::Fragment);
    let position = b.input(Io::new(Semantic::Position, 0));
    let array = b.input_array(
        Io { interpolation: perspective(InterpolationLocation::Centroid), ..Io::new(Semantic::Generic, 4) },
        3,
    );
    let address = b.address();
    let sampler = b.sampler(0).into();
    let buffer = b.buffer(2, false);
    let t = b.temporary();
    b.emit(Opcode::Mov, crate::shader::Dst::new(t).masked(3), &[Src::from(position).replicated(2)]);
    b.emit(Opcode::Mov, crate::shader::Dst::new(t).masked(8), &[array.indexed_by(address, 0, 0).into()]);
    let target = TextureTarget::Texture2D;
    b.tex(Opcode::Tex, t.into(), target, ReturnType::Float, &[], &[array.at(1).into(), sampler]);
    b.emit(Opcode::Store, crate::shader::Dst::new(buffer), &[t.into(), array.at(2).into()]);
    let scan = scan(&b.finish().unwrap());

    assert_eq!(scan.num_inputs, 4);
    assert_eq!(scan.input_usage_mask, [0xc, 8, 0xb, 0xf]);
    assert_eq!(scan.input_semantic_index, [0, 4, 5, 6]);
    assert_eq!(scan.input_semantic_name[1..], [Semantic::Generic; 3]);
    assert_eq!(scan.input_interpolate_loc[3], InterpolationLocation::Centroid);
    assert_eq!(scan.input_array_first.get(&1), Some(&1));
    assert!(scan.reads_z && scan.indirect_files.contains(File::Input) && !scan.indirect_files.contains(File::Output));
    assert_eq!((scan.sampler_targets[0], scan.sampler_targets[1]), (target, TextureTarget::Unknown));
    assert_eq!((scan.samplers_declared, scan.shader_buffers_store, scan.shader_buffers_load), (1, 4, 0));
    assert!(scan.writes_memory && !scan.uses_kill);
    assert_eq!((scan.num_instructions, scan.instruction_count, scan.opcode_count[Opcode::Mov]), (5, 5, 2));
    assert_eq!((scan.file_max[File::Input], scan.file_count[File::Input], scan.file_mask[File::Input]), (3, 4, 0xf));
    assert_eq!((scan.file_max[File::Output], scan.temporaries), (-1, 1));
}

#[test]
fn outputs_and_streams_of_a_geometry_shader() {
    let mut b = ShaderBuilder::new(Processor::Geometry);
    b.property(PropertyName::GsInputPrimitive, Primitive::TrianglesAdjacency.value().into());
    b.property(PropertyName::NumClipdistEnabled, 3);
    b.input(Io::new(Semantic::PrimitiveId, 0));
    b.output(Io::new(Semantic::Position, 0));
    b.output(Io { usage_mask: 3, streams: [1, 2, 0, 0], ..Io::new(Semantic::Generic, 300) });
    b.output(Io { usage_mask: 1, ..Io::new(Semantic::Layer, 0) });
    b.output(Io { usage_mask: 1, ..Io::new(Semantic::ViewportIndex, 0) });
    b.system_value(Semantic::InvocationId, 0);
    let scan = scan(&b.finish().unwrap());
    assert!(scan.writes_position && !scan.writes_z && scan.writes_layer && scan.writes_viewport_index);
    assert!(scan.uses_primid && scan.uses_invocationid && !scan.uses_instanceid);
    assert_eq!(scan.num_stream_output_components, [6, 1, 1, 0]);
    assert_eq!(scan.output_streams, [0, 0b1001, 0, 0]);
    assert_eq!(scan.output_usagemask, [15, 3, 1, 1]);
    assert_eq!(scan.output_semantic_index[1], 44);
    // The inputs are the vertices of the primitive.
    assert_eq!((scan.file_count[File::Input], scan.file_max[File::Input], scan.file_mask[File::Input]), (6, 5, 0x3f));
    assert_eq!(scan.properties[PropertyName::GsInvocations], 1);
    assert_eq!((scan.num_written_clipdistance, scan.num_written_culldistance), (3, 0));
    assert_eq!(scan.system_value_semantic_name, [Semantic::InvocationId]);
}

#[test]
fn memory_of_a_compute_shader() {
    let mut b = ShaderBuilder::new(Processor::Compute);
    let t = b.temporary();
    let grid = b.system_value(Semantic::GridSize, 0);
    let image = b.image(
        1,
        DeclarationImage { target: TextureTarget::Texture2DMsaa, writable: true, ..DeclarationImage::default() },
    );
    b.image(4, DeclarationImage::default());
    let buffers: Vec<_> = (0..4).map(|i| b.buffer(i, false)).collect();
    let shared = b.memory(MemoryType::Shared);
    let address = b.address();
    let dst = crate::shader::Dst::new(t);
    let none = MemoryQualifiers::default();
    b.mem(Opcode::Load, dst, &[image.into(), t.into()], none, TextureTarget::Texture2DMsaa, PixelFormat::NONE);
    b.emit(Opcode::Load, dst, &[buffers[0].into(), t.into()]);
    b.emit(Opcode::Store, crate::shader::Dst::new(shared), &[t.into(), t.into()]);
    b.emit(Opcode::Atomuadd, dst, &[buffers[3].into(), t.into(), t.into()]);
    b.emit(Opcode::Load, dst, &[buffers[1].indexed_by(address, 0, 0).into(), grid.into()]);
    b.emit(Opcode::Resq, dst, &[buffers[2].into()]);
    let scan = scan(&b.finish().unwrap());
    assert!(scan.writes_memory && scan.uses_grid_size);
    assert_eq!((scan.images_declared, scan.images_buffers, scan.msaa_images_declared), (0b10010, 0b10000, 0b10));
    assert_eq!((scan.shader_buffers_declared, scan.shader_buffers_load, scan.shader_buffers_atomic), (15, 15, 8));
    assert_eq!(scan.shader_buffers_store, 0);
}

/// Shared memory does not count as memory that is written, and a declared system value is not used yet.
#[test]
fn shared_memory_is_not_written_memory() {
    let mut b = ShaderBuilder::new(Processor::Compute);
    let t = b.temporary();
    let shared = b.memory(MemoryType::Shared);
    b.system_value(Semantic::GridSize, 0);
    b.emit(Opcode::Store, crate::shader::Dst::new(shared), &[t.into(), t.into()]);
    let scan = scan(&b.finish().unwrap());
    assert!(!scan.writes_memory && !scan.uses_grid_size);
}

#[test]
fn indirect_msaa_image_means_all_images() {
    let mut b = ShaderBuilder::new(Processor::Fragment);
    let address = b.address();
    let t = b.temporary();
    let image = DeclarationImage { target: TextureTarget::Texture2DMsaa, ..DeclarationImage::default() };
    let first = b.image(0, image);
    b.image(5, image);
    let word = InstructionMemory { target: TextureTarget::Texture2DMsaa, ..InstructionMemory::default() };
    let modifiers = Modifiers { memory: Some(word), ..Modifiers::default() };
    let src = [first.indexed_by(address, 0, 0).into(), t.into()];
    b.emit_with(Opcode::Load, crate::shader::Dst::new(t), &src, modifiers);
    assert_eq!(scan(&b.finish().unwrap()).msaa_images_declared, 0b100001);
}

#[test]
fn outputs_read_by_tessellation_control() {
    let mut b = ShaderBuilder::new(Processor::TessControl);
    let t = crate::shader::Dst::new(b.temporary());
    let level = b.output(Io::new(Semantic::TessOuter, 0));
    let patch = b.output_array(Io::new(Semantic::Patch, 0), 4);
    let generic = b.output(Io::new(Semantic::Generic, 0));
    let address = b.address();
    let flags = |b: ShaderBuilder| {
        let s = scan(&b.finish().unwrap());
        (s.reads_pervertex_outputs, s.reads_perpatch_outputs, s.reads_tessfactor_outputs, s.dim_indirect_files)
    };
    b.emit(Opcode::Mov, t, &[level.into()]);
    b.emit(Opcode::Mov, t, &[patch.indexed_by(address, 0, 0).into()]);
    b.emit(Opcode::Mov, t, &[generic.in_dimension_indexed_by(0, address, 1).into()]);
    let mut outputs = FileSet::default();
    outputs.insert(File::Output);
    assert_eq!(flags(b), (true, true, true, outputs));
}

/// Ranges of the largest size, many times over.
#[test]
fn large_ranges_are_cheap() {
    let start = std::time::Instant::now();
    let mut shader = Shader::new(Processor::Fragment);
    for i in 0..100_000u32 {
        let file = [File::Input, File::Output, File::Temporary, File::Constant][i as usize % 4];
        shader.push_declaration(Declaration {
            semantic: Some(DeclarationSemantic { name: Semantic::Generic, index: 7, streams: [0; 4] }),
            ..Declaration::new(file, 0, u16::MAX)
        });
    }
    let scan = scan(&shader);
    assert_eq!((scan.num_inputs, scan.input_usage_mask.len()), (65536, MAX_SCANNED_REGISTERS));
    assert_eq!((scan.temporaries, scan.file_mask[File::Temporary]), (65536, u32::MAX));
    assert_eq!(scan.const_file_max[..2], [65535, -1]);
    assert!(start.elapsed().as_secs_f64() < 20.0, "{:?}", start.elapsed());
}

#[test]
fn json_has_the_names() {
    let mut b = ShaderBuilder::new(Processor::Fragment);
    let c = b.constant(2, 3);
    let o = b.output(Io::new(Semantic::Color, 0));
    b.emit(Opcode::Mov, crate::shader::Dst::new(o), &[c.into()]);
    let json = serde_json::to_value(scan(&b.finish().unwrap())).unwrap();
    assert_eq!(json["processor"], "FRAG");
    assert_eq!(json["opcode_count"], serde_json::json!({"MOV": 1, "END": 1}));
    assert_eq!(json["file_max"]["CONST"], 3);
    assert_eq!(json["const_file_max"][2], 3);
    assert_eq!(json["const_buffers_declared"], 4);
    assert_eq!(json["properties"]["FS_COORD_ORIGIN"], 0);
    assert_eq!(json["output_semantic_name"][0], "COLOR");
    assert_eq!(json["indirect_files"], serde_json::json!([]));
}
