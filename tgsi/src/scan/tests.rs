//! Tests of the scan.

use pretty_assertions::assert_eq;

use super::*;
use crate::builder::{Io, Modifiers, ShaderBuilder};
use crate::shader::{Declaration, DeclarationImage, DeclarationInterpolation, DeclarationSemantic, InstructionMemory};
use crate::tables::{MemoryQualifiers, MemoryType, PixelFormat};

fn perspective(location: InterpolationLocation) -> Option<DeclarationInterpolation> {
    Some(DeclarationInterpolation { mode: Interpolation::Perspective, location })
}

/// The inputs of a fragment shader and their uses.
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

/// Shared memory does not count as written memory, and a declared system value is not counted as used.
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

/// Many ranges of the maximum size.
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

/// Bindings and their uses: declared and used ranges, undeclared views, run-time indices.
#[test]
fn resources_and_their_uses() {
    let text = "FRAG
DCL CONST[0][2..9]
DCL CONST[3][0..1]
DCL SAMP[1]
DCL SAMP[4]
DCL SVIEW[1], 2D, FLOAT
DCL IMAGE[2], 2D, WR, PIPE_FORMAT_R32_UINT
DCL BUFFER[0..2]
DCL HWATOMIC[1][4..6]
DCL ADDR[0]
DCL TEMP[0]
IMM[0] UINT32 {0, 0, 0, 0}
MOV TEMP[0], CONST[0][3]
ADD TEMP[0], TEMP[0], CONST[0][7]
TEX TEMP[0], TEMP[0], SAMP[1], 2D
TXQ TEMP[0], IMM[0].xxxx, SAMP[4], 3D
ARL ADDR[0].x, TEMP[0].xxxx
STORE IMAGE[2], IMM[0], TEMP[0], 2D, PIPE_FORMAT_R32_UINT
ATOMUADD TEMP[0].x, IMAGE[2], IMM[0], TEMP[0], 2D, PIPE_FORMAT_R32_UINT
LOAD TEMP[0].x, BUFFER[ADDR[0].x], IMM[0].xxxx
STORE BUFFER[1].x, IMM[0].xxxx, TEMP[0]
ATOMUADD TEMP[0].x, HWATOMIC[1][5], IMM[0].xxxx, IMM[0].xxxx
MOV TEMP[0], CONST[3][ADDR[0].x]
END
";
    let list = resources(&crate::text::parse(text.as_bytes()).unwrap().shader);
    let names = [
        (File::Constant, 0),
        (File::Constant, 3),
        (File::Sampler, 1),
        (File::Sampler, 4),
        (File::SamplerView, 1),
        (File::SamplerView, 4),
        (File::Image, 2),
        (File::Buffer, 0),
        (File::Buffer, 1),
        (File::Buffer, 2),
        (File::HwAtomic, 1),
    ];
    assert_eq!(list.iter().map(|r| (r.file, r.binding)).collect::<Vec<_>>(), names);
    let declared = ResourceUses { declared: true, ..ResourceUses::default() };
    let read = ResourceUses { read: true, ..declared };
    let [first, second, plain, asked, view, bare, image, loaded, stored, _, counter] = list.as_slice() else {
        panic!()
    };
    assert_eq!((first.declared, first.used, first.uses), (Some((2, 9)), Some((3, 7)), read));
    assert_eq!((second.used, second.uses), (Some((0, 1)), ResourceUses { indirect: true, ..read }));
    assert_eq!((plain.target, plain.uses), (TextureTarget::Texture2D, read));
    assert_eq!((asked.target, asked.uses), (TextureTarget::Texture3D, ResourceUses { queried: true, ..declared }));
    assert_eq!((view.target, view.return_types, view.uses), (TextureTarget::Texture2D, [ReturnType::Float; 4], read));
    assert_eq!((bare.target, bare.uses), (TextureTarget::Texture3D, ResourceUses { declared: false, ..asked.uses }));
    let changed = ResourceUses { writable: true, written: true, atomic: true, ..declared };
    assert_eq!((image.format.short_name(), image.uses), ("R32_UINT", changed));
    assert_eq!(loaded.uses, ResourceUses { indirect: true, ..read });
    assert_eq!(stored.uses, ResourceUses { written: true, ..loaded.uses });
    let counted = ResourceUses { atomic: true, ..declared };
    assert_eq!((counter.declared, counter.used, counter.uses), (Some((4, 6)), Some((5, 5)), counted));
}

/// Registers with impossible numbers, and many ranges of the maximum size.
#[test]
fn resources_are_bounded() {
    let mut shader = Shader::new(Processor::Fragment);
    for i in 0..10_000_usize {
        let file = [File::Sampler, File::SamplerView, File::Image, File::Buffer, File::Constant][i % 5];
        let outer = (file == File::Constant).then_some((i % 0x1_0000) as u16);
        shader.push_declaration(Declaration { dimension: outer, ..Declaration::new(file, 0, u16::MAX) });
    }
    let mut i = Instruction::new(Opcode::Mov);
    i.src.extend([-1, 32767].map(|index| Src::from(Register::new(File::Buffer, index))));
    shader.push_instruction(i);
    let list = resources(&shader);
    let constants = list.iter().filter(|resource| resource.file == File::Constant).count();
    assert_eq!(list.len() - constants, 4 * resources::MAX_LISTED_BINDINGS);
    assert!(constants > 0 && constants <= resources::MAX_LISTED_BINDINGS);
    assert!(list.iter().all(|resource| !resource.uses.read));
}
