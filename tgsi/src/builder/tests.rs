//! Tests of the shader builder.

use pretty_assertions::assert_eq;

use super::*;
use crate::tables::{Interpolation, InterpolationLocation, MemoryQualifiers, PixelFormat, ReturnType, TextureTarget};

fn declared(shader: &Shader) -> Vec<(File, Option<u16>, u16, u16)> {
    shader.declarations.iter().map(|d| (d.file, d.dimension, d.first, d.last)).collect()
}

#[test]
fn declarations_come_in_the_customary_order() {
    let mut b = ShaderBuilder::new(Processor::Fragment);
    let address = b.address();
    let temporary = b.temporary();
    let array = b.temporary_array(4, true);
    let other = b.temporary();
    let local = b.local_temporary();
    let one = b.immediate_f32(&[1.0]);
    let constant = b.constant(1, 7);
    let first = b.constant(0, 3);
    let counter = b.hw_atomic(2, 1);
    let shared = b.memory(MemoryType::Shared);
    let buffer = b.buffer(3, false);
    let image = b.image(1, DeclarationImage { target: TextureTarget::Texture2D, ..Default::default() });
    b.sampler_view(5, TextureTarget::Texture2D, [ReturnType::Float; 4]);
    let sampler = b.sampler(5);
    let color = b.output(Io::new(Semantic::Color, 0));
    let front = b.system_value(Semantic::Face, 0);
    let smooth =
        DeclarationInterpolation { mode: Interpolation::Perspective, location: InterpolationLocation::Centroid };
    let late = b.input(Io { register: Some(4), interpolation: Some(smooth), ..Io::new(Semantic::Generic, 1) });
    let early = b.input(Io { register: Some(0), usage_mask: 1, ..Io::new(Semantic::Fog, 0) });
    b.property(PropertyName::FsCoordOrigin, 1);
    b.property(PropertyName::FsColor0WritesAllCbufs, 1);

    let target = TextureTarget::Texture2D;
    b.tex(
        Opcode::Tex,
        temporary.into(),
        target,
        ReturnType::Float,
        &[crate::shader::TextureOffset::from_source(one)],
        &[late.into(), sampler.into()],
    );
    b.emit(Opcode::Uarl, Dst::new(address).masked(1), &[front.into()]);
    b.emit(Opcode::Mov, Dst::new(array.indexed_by(address, 0, 1)), &[constant.into()]);
    b.emit(Opcode::Add, Dst::new(other), &[first.into(), Src::from(early).negated()]);
    b.emit(Opcode::Mov, Dst::new(local), &[array.at(2).into()]);
    let no_qualifiers = MemoryQualifiers::default();
    b.mem(Opcode::Load, Dst::new(local), &[image.into(), one], no_qualifiers, target, PixelFormat::NONE);
    b.mem(
        Opcode::Load,
        Dst::new(local),
        &[buffer.into(), one],
        no_qualifiers,
        TextureTarget::Buffer,
        PixelFormat::NONE,
    );
    b.emit(Opcode::Load, Dst::new(local), &[shared.into(), one]);
    b.emit(Opcode::Load, Dst::new(local), &[counter.into(), one]);
    let modifiers = Modifiers { saturate: true, precise: true, ..Default::default() };
    b.emit_with(Opcode::Add, Dst::new(color), &[temporary.into(), local.into()], modifiers);
    let shader = b.finish().unwrap();

    use File::*;
    assert_eq!(
        declared(&shader),
        [
            (Input, None, 0, 0),
            (Input, None, 4, 4),
            (SystemValue, None, 0, 0),
            (Output, None, 0, 0),
            (Sampler, None, 5, 5),
            (SamplerView, None, 5, 5),
            (Image, None, 1, 1),
            (Buffer, None, 3, 3),
            (Memory, None, 1, 1),
            (Constant, Some(0), 3, 3),
            (Constant, Some(1), 7, 7),
            (HwAtomic, Some(2), 1, 1),
            (Temporary, None, 0, 0),
            (Temporary, None, 1, 4),
            (Temporary, None, 5, 5),
            (Temporary, None, 6, 6),
            (Address, None, 0, 0),
        ]
    );
    let names: Vec<_> = shader.properties.iter().map(|p| p.name).collect();
    assert_eq!(names, [PropertyName::FsCoordOrigin, PropertyName::FsColor0WritesAllCbufs]);
    assert_eq!(shader.declarations[13].array_id, Some(1));
    assert!(shader.declarations[13].local && shader.declarations[15].local && !shader.declarations[14].local);
    let last = &shader.instructions[9];
    assert!(last.saturate && last.precise);
    assert_eq!(shader.instructions[10].opcode, Opcode::End);
    assert_eq!(shader.instructions[2].dst[0].register.indirect.unwrap().array_id, 1);
    let errors: Vec<_> = crate::check::check(&shader).diagnostics.into_iter().filter(|d| d.is_error()).collect();
    assert_eq!(errors, []);
}

#[test]
fn same_semantic_same_register() {
    let mut b = ShaderBuilder::new(Processor::Fragment);
    let a = b.input(Io { usage_mask: 1, ..Io::new(Semantic::Generic, 3) });
    let c = b.input(Io { usage_mask: 4, ..Io::new(Semantic::Generic, 3) });
    let d = b.input(Io::new(Semantic::Generic, 4));
    assert_eq!((a, d.index), (c, 1));
    assert_eq!(b.system_value(Semantic::Face, 0), b.system_value(Semantic::Face, 0));
    let shader = b.finish().unwrap();
    assert_eq!(shader.declarations[0].usage_mask, 5);
    assert_eq!(shader.declarations.len(), 3);
}

#[test]
fn vertex_shaders_say_what_comes_next() {
    let mut b = ShaderBuilder::new(Processor::Vertex);
    let a = b.input(Io::attribute(2));
    assert_eq!(b.input(Io::attribute(2)), a);
    let o = b.output(Io::new(Semantic::Position, 0));
    b.emit(Opcode::Mov, Dst::new(o), &[a.into()]);
    let shader = b.finish().unwrap();
    assert_eq!(shader.property(PropertyName::NextShader), Some(Processor::Fragment.value().into()));
    assert_eq!((shader.declarations[0].first, shader.declarations[0].semantic), (2, None));
}

#[test]
fn arrays_whole_and_split() {
    for split in [false, true] {
        let mut b = ShaderBuilder::new(Processor::Fragment);
        b.split_io_arrays(split);
        let array = b.input_array(Io::new(Semantic::Generic, 4), 3);
        let after = b.input(Io::new(Semantic::Generic, 9));
        assert_eq!((array.array_id, after.index), (if split { 0 } else { 1 }, 3));
        let shader = b.finish().unwrap();
        let seen: Vec<_> =
            shader.declarations.iter().map(|d| (d.first, d.last, d.array_id, d.semantic.unwrap().index)).collect();
        if split {
            assert_eq!(seen, [(0, 0, None, 4), (1, 1, None, 5), (2, 2, None, 6), (3, 3, None, 9)]);
        } else {
            assert_eq!(seen, [(0, 2, Some(1), 4), (3, 3, None, 9)]);
        }
    }
}

#[test]
fn immediates_are_packed() {
    let mut b = ShaderBuilder::new(Processor::Fragment);
    let position = |s: Src| (s.register.index, s.swizzle);
    assert_eq!(position(b.immediate_f32(&[1.0, 2.0])), (0, [0, 1, 0, 0]));
    assert_eq!(position(b.immediate_f32(&[2.0])), (0, [1, 1, 1, 1]));
    assert_eq!(position(b.immediate_f32(&[3.0, 1.0, 1.0])), (0, [2, 0, 0, 2]));
    // Another type, even with the same bits.
    assert_eq!(position(b.immediate_u32(&[1])), (1, [0, 0, 0, 0]));
    assert_eq!(position(b.immediate_f32(&[5.0, 6.0])), (2, [0, 1, 0, 0]));
    assert_eq!(position(b.immediate_f32(&[4.0])).0, 2);
    assert_eq!(position(b.immediate_f32(&[1.0, 2.0, 3.0, 7.0])), (0, [0, 1, 2, 3]));
    assert_eq!(position(b.immediate_f64(&[0.5])), (3, [0, 1, 0, 1]));
    assert_eq!(position(b.immediate_f64(&[0.25, 0.5])), (3, [2, 3, 0, 1]));
    assert_eq!(position(b.immediate(ImmediateType::Int32, &[u32::MAX, 0, u32::MAX])), (4, [0, 1, 0, 0]));
    assert_eq!(position(b.immediate(ImmediateType::Int64, &[u32::MAX; 2])).1, [0, 1, 0, 1]);
    // -0.0 and 0.0 are different words.
    assert_ne!(position(b.immediate_f32(&[0.0])), position(b.immediate_f32(&[-0.0])));
    let shader = b.finish().unwrap();
    assert_eq!(shader.immediates[0].words.as_slice(), [1.0f32, 2.0, 3.0, 7.0].map(f32::to_bits));
    assert_eq!(shader.immediates[3].words.as_slice(), [0, 0x3fe0_0000, 0, 0x3fd0_0000]);
}

#[test]
fn constants_grow_and_merge() {
    let mut b = ShaderBuilder::new(Processor::Fragment);
    for i in [5, 3, 4, 9, 4] {
        b.constant(0, i);
    }
    b.constant_range(1, 10, 20);
    b.constant_range(1, 0, 9);
    b.constant_range(1, 15, 30);
    for i in 0..100 {
        b.constant(2, 2 * i);
    }
    let shader = b.finish().unwrap();
    let constant = File::Constant;
    assert_eq!(
        declared(&shader),
        [(constant, Some(0), 3, 5), (constant, Some(0), 9, 9), (constant, Some(1), 0, 30), (constant, Some(2), 0, 198)]
    );
}

#[test]
fn labels_are_computed() {
    let mut b = ShaderBuilder::new(Processor::Fragment);
    let x = b.input(Io::new(Semantic::Generic, 0)).into();
    let sub = b.subroutine();
    b.uif(x); // 0
    b.bgnloop(); // 1
    b.if_(x); // 2
    b.brk(); // 3
    b.endif(); // 4
    b.cont(); // 5
    b.endloop(); // 6
    b.else_(); // 7
    b.switch(x); // 8
    b.case(x); // 9
    b.brk(); // 10
    b.default(); // 11
    b.endswitch(); // 12
    b.endif(); // 13
    b.cal(sub); // 14
    b.end(); // 15
    b.bgnsub(sub); // 16
    b.ret(); // 17
    b.endsub(); // 18
    let shader = b.finish().unwrap();
    let labels: Vec<_> = shader.instructions.iter().map(|i| i.label).collect();
    let mut expected = vec![None; 19];
    for (from, to) in [(0, 7), (1, 6), (2, 4), (6, 1), (7, 13), (14, 16)] {
        expected[from] = Some(to);
    }
    assert_eq!(labels, expected);
    assert!(crate::structure::structure(&shader).is_ok());
}

#[test]
fn mistakes_are_reported() {
    let build = |f: &dyn Fn(&mut ShaderBuilder)| {
        let mut b = ShaderBuilder::new(Processor::Fragment);
        f(&mut b);
        b.finish().unwrap_err().to_string()
    };
    let x = Src::new(Register::new(File::Input, 0));
    assert_eq!(build(&|b| b.if_(x)), "IF at instruction 0 is not closed");
    assert_eq!(build(&|b| b.endif()), "instruction 0: ENDIF does not fit the open block");
    assert_eq!(build(&|b| b.else_()), "instruction 0: ELSE does not fit the open block");
    assert_eq!(build(&|b| b.brk()), "instruction 0: BRK does not fit the open block");
    assert_eq!(
        build(&|b| {
            b.emit(Opcode::Add, None, &[x]);
        }),
        "ADD (instruction 0) needs 1 destinations and 2 sources"
    );
    assert_eq!(
        build(&|b| {
            b.immediate_f32(&[]);
        }),
        "immediate of 0 words"
    );
    assert_eq!(
        build(&|b| {
            b.immediate_f64(&[1.0; 3]);
        }),
        "immediate of 6 words"
    );
    assert_eq!(
        build(&|b| {
            for _ in 0..40 {
                b.temporary_array(1000, false);
            }
        }),
        "too many registers of file TEMP"
    );
    assert_eq!(
        build(&|b| {
            let s = b.subroutine();
            b.cal(s);
        }),
        "subroutine 0 is called but not defined"
    );
}

/// Tens of thousands of instructions, each with its own immediate and constant, must not take noticeable time.
#[test]
fn large_shaders_are_instant() {
    let start = std::time::Instant::now();
    let mut b = ShaderBuilder::new(Processor::Fragment);
    let t = b.temporary();
    for i in 0..28_000u32 {
        let a = b.immediate_f32(&[i as f32, 0.0, (i / 2) as f32]);
        let c = b.constant((i % 3) as u16, (i.wrapping_mul(7919) % 30_000) as u16);
        b.emit(Opcode::Add, Dst::new(t), &[a, c.into()]);
    }
    let shader = b.finish().unwrap();
    assert_eq!(shader.instructions.len(), 28_001);
    assert!(start.elapsed().as_secs_f64() < 20.0, "{:?}", start.elapsed());
}

/// A shader with many features survives encoding and decoding, and prints as expected.
#[test]
fn built_shaders_encode_and_print() {
    let mut b = ShaderBuilder::new(Processor::Geometry);
    b.property(PropertyName::GsInputPrimitive, 4);
    b.property(PropertyName::GsOutputPrimitive, 5);
    b.property(PropertyName::GsMaxOutputVertices, 3);
    let position = b.input(Io::new(Semantic::Position, 0));
    let generic = b.input_array(Io { usage_mask: 3, ..Io::new(Semantic::Generic, 2) }, 2);
    let out = b.output(Io { invariant: true, ..Io::new(Semantic::Position, 0) });
    let stream = b.output(Io { usage_mask: 3, streams: [1, 1, 0, 0], ..Io::new(Semantic::Generic, 0) });
    let address = b.address();
    let array = b.temporary_array(4, true);
    let t = b.temporary();
    let counters = b.hw_atomic_array(1, 2, 3);
    let image = DeclarationImage {
        target: TextureTarget::Texture3D,
        writable: true,
        format: PixelFormat::from_short_name("R32_UINT").unwrap(),
        raw: false,
    };
    let image_register = b.image(2, image);
    let sampler = b.sampler(0);
    b.sampler_view(0, TextureTarget::Texture2D, [ReturnType::Float; 4]);
    let cb = b.constant_buffer(3);
    let two = b.immediate(ImmediateType::Int32, &[2, u32::MAX]);

    b.emit(Opcode::Uarl, Dst::new(address).masked(1), &[two]);
    let vertex = position.in_dimension_indexed_by(1, address, 0);
    b.emit(Opcode::Mov, Dst::new(out), &[Src::new(vertex).negated()]);
    let element = generic.indexed_by(address, 0, 1).in_dimension(2);
    b.emit(Opcode::Mov, Dst::new(array.indexed_by(address, 0, 3)), &[Src::new(element).absolute_value().negated()]);
    b.tex(
        Opcode::Txl,
        Dst::new(t).masked(7),
        TextureTarget::Texture2D,
        ReturnType::Float,
        &[crate::shader::TextureOffset::from_source(two)],
        &[array.at(0).into(), sampler.into()],
    );
    b.mem(
        Opcode::Atomuadd,
        Dst::new(t).masked(1),
        &[image_register.into(), t.into(), two],
        MemoryQualifiers::COHERENT,
        image.target,
        image.format,
    );
    b.emit(Opcode::Atomuadd, Dst::new(t).masked(1), &[counters.indexed_by(address, 0, 0).into(), two, two]);
    b.emit(Opcode::Load, Dst::new(t), &[cb.into(), two]);
    b.uif(Src::new(t).replicated(3));
    b.emit(Opcode::Mov, Dst::new(stream).masked(3), &[two.replicated(1)]);
    b.emit(Opcode::Emit, None, &[two]);
    b.endif();
    let shader = b.finish().unwrap();

    let words = crate::tokens::encode(&shader).unwrap();
    assert_eq!(crate::tokens::decode(&words).unwrap(), shader);
    let errors: Vec<_> = crate::check::check(&shader).errors().cloned().collect();
    assert_eq!(errors, []);
    let options = crate::text::PrintOptions { mesa: true, hex_floats: false };
    assert_eq!(
        crate::text::print(&shader, options),
        "GEOM
PROPERTY GS_INPUT_PRIMITIVE TRIANGLES
PROPERTY GS_OUTPUT_PRIMITIVE TRIANGLE_STRIP
PROPERTY GS_MAX_OUTPUT_VERTICES 3
DCL IN[][0], POSITION
DCL IN[][1..2], ARRAY(1), GENERIC[2]
DCL OUT[0], POSITION, INVARIANT
DCL OUT[1].xy, GENERIC[0], STREAM(1, 1, 0, 0)
DCL SAMP[0]
DCL SVIEW[0], 2D, FLOAT
DCL IMAGE[2], 3D, PIPE_FORMAT_R32_UINT, WR
DCL CONSTBUF[3]
DCL HWATOMIC[1][2..4], ARRAY(1)
DCL TEMP[0..3], ARRAY(1), LOCAL
DCL TEMP[4]
DCL ADDR[0]
IMM[0] INT32 {2, -1, 0, 0}
  0: UARL ADDR[0].x, IMM[0].xyxx
  1: MOV OUT[0], -IN[ADDR[0].x+1][0]
  2: MOV TEMP[ADDR[0].x+3](1), -|IN[2][ADDR[0].x+2](1)|
  3: TXL TEMP[4].xyz, TEMP[0], SAMP[0], 2D, IMM[0].xyx
  4: ATOMUADD TEMP[4].x, IMAGE[2], TEMP[4], IMM[0].xyxx, COHERENT, 3D, PIPE_FORMAT_R32_UINT
  5: ATOMUADD TEMP[4].x, HWATOMIC[1][ADDR[0].x+2](1), IMM[0].xyxx, IMM[0].xyxx
  6: LOAD TEMP[4], CONSTBUF[3], IMM[0].xyxx
  7: UIF TEMP[4].wwww :10
  8:   MOV OUT[1].xy, IMM[0].yyyy
  9:   EMIT IMM[0].xyxx
 10: ENDIF
 11: END
"
    );
}
