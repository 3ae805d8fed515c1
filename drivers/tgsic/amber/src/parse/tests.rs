//! Tests of the parsers of both dialects.

use pretty_assertions::assert_eq;
use tgsi_driver_cpu::sampler::{Compare, WrapMode};
use tgsi_ir::shader::ShaderStage;

use crate::buffer::Value;
use crate::compare::{Area, Relation, Tolerance};
use crate::error::Refusal;
use crate::script::{BindingKind, Command, Expectation, Script, Shape};
use tgsi_raster::primitives::{PolygonMode, Topology};

fn parse(text: &str) -> Result<Script, Refusal> {
    Script::parse(text, &|name| (name == "numbers.txt").then(|| b"1 2\n3".to_vec()))
}

fn script(text: &str) -> Script {
    parse(&format!("#!amber\n{text}")).expect("a script")
}

fn error(text: &str) -> String {
    parse(&format!("#!amber\n{text}")).expect_err("an error").to_string()
}

#[test]
fn buffers_are_filled() {
    let script = script(
        "BUFFER a DATA_TYPE uint8 SIZE 3 FILL 5\n\
         BUFFER b DATA_TYPE int16 SIZE 3 SERIES_FROM -1 INC_BY 2 # from -1\n\
         BUFFER c DATA_TYPE vec2<float>[] STD140 DATA\n 1 0x2 3 -4 END\n\
         BUFFER d DATA_TYPE uint16 SIZE 3 FILE TEXT numbers.txt\n\
         IMAGE e FORMAT R8G8_SNORM DIM_3D WIDTH 2 HEIGHT 1 DEPTH 2 FILL -1\n\
         BUFFER f DATA_TYPE float SIZE 1 FILL -0.5\n\
         BUFFER g FORMAT D24_UNORM_S8_UINT MIP_LEVELS 2\n",
    );
    let bytes: Vec<&[u8]> = script.buffers.iter().map(|buffer| buffer.bytes.as_slice()).collect();
    assert_eq!(bytes[0], [5, 5, 5]);
    assert_eq!(bytes[1], [255, 255, 1, 0, 3, 0]);
    let vectors: Vec<u8> =
        [1.0f32, 2.0, 0.0, 0.0, 3.0, -4.0, 0.0, 0.0].into_iter().flat_map(f32::to_le_bytes).collect();
    assert_eq!(bytes[2], vectors);
    assert_eq!(bytes[3], [1, 0, 2, 0, 3, 0]);
    assert_eq!((bytes[4], script.buffers[4].size), (&[255; 8][..], Some([2, 1, 2])));
    assert_eq!(bytes[5], (-0.5f32).to_le_bytes());
    assert_eq!((bytes[6].len(), script.buffers[6].levels), (0, 2));
}

#[test]
fn structs_have_places() {
    let script = script(
        "STRUCT inner\n float x\n vec3<float> y\nEND\n\
         STRUCT outer STRIDE 96\n inner[2] both\n int32 z OFFSET 80\nEND\n\
         BUFFER b DATA_TYPE outer DATA 1 2 3 4 5 6 7 8 9 END\n",
    );
    let places: Vec<usize> = script.buffers[0].layout.segments.iter().map(|segment| segment.offset).collect();
    assert_eq!(places, [0, 16, 20, 24, 32, 48, 52, 56, 80]);
    assert_eq!(script.buffers[0].bytes.len(), 96);
}

const SHADERS: &str = "SHADER vertex v PASSTHROUGH\n\
     SHADER fragment f GLSL TARGET_ENV vulkan1.1\nvoid main() {}\nEND\n\
     SHADER multi m SPIRV-ASM\nOpNop\nEND\n\
     SHADER compute c SPIRV-HEX\n1\nEND\n";

#[test]
fn pipelines_have_state() {
    let script = script(&format!(
        "{SHADERS}BUFFER i FORMAT R8_UNORM\nBUFFER j FORMAT R8_UNORM\nBUFFER d FORMAT D16_UNORM\n\
         BUFFER s DATA_TYPE vec2<float> SIZE 4 FILL 0\n\
         SAMPLER t ADDRESS_MODE_U clamp_to_edge COMPARE on COMPARE_OP less BORDER_COLOR int_opaque_black\n\
         PIPELINE graphics p\n ATTACH v\n ATTACH f ENTRY_POINT e SPECIALIZE 1 AS float 1.5 SPECIALIZE 2 AS int32 -1\n\
         FRAMEBUFFER_SIZE 4 2\n BIND BUFFER i AS color LOCATION 1\n BIND BUFFER d AS depth_stencil\n\
         BIND BUFFER s AS storage_dynamic DESCRIPTOR_SET 1 BINDING 2 OFFSET 16 DESCRIPTOR_RANGE 8\n\
         BIND BUFFER_ARRAY i j AS combined_image_sampler SAMPLER t DESCRIPTOR_SET 0 BINDING 3\n\
         VERTEX_DATA s LOCATION 2 RATE instance OFFSET 4 STRIDE 12 FORMAT R32_SFLOAT\n\
         VIEWPORT 0 1 SIZE 2.5 3 MAX_DEPTH 0.5\n POLYGON_MODE line\n\
         DEPTH\n TEST on\n COMPARE_OP greater_or_equal\n BIAS constant 1.0 clamp 0.0 slope -2.0\n END\n\
         SUBGROUP v\n FULLY_POPULATED on\n END\nEND\n\
         DERIVE_PIPELINE q FROM p\n ATTACH m TYPE fragment ENTRY_POINT x\nEND\n"
    ));
    let [p, q] = script.pipelines.as_slice() else { panic!("two pipelines") };
    let fragment = p.stage(ShaderStage::Fragment).expect("a fragment shader");
    assert_eq!((fragment.entry.as_str(), fragment.shader), ("e", 1));
    assert_eq!(fragment.constants, [(1, 1.5f32.to_bits()), (2, u32::MAX)]);
    assert_eq!(q.stage(ShaderStage::Fragment).map(|fragment| fragment.shader), Some(2));
    assert_eq!(q.stage(ShaderStage::Vertex).map(|vertex| vertex.shader), Some(0));
    assert_eq!(script.buffers[0].bytes.len(), 8);
    assert_eq!(script.buffers[2].bytes.len(), 16);
    let [storage, images] = p.bindings.as_slice() else { panic!("two bindings") };
    assert_eq!((storage.place, storage.kind), ((1, 2), BindingKind::Storage));
    assert_eq!((storage.buffers[0].offset, storage.buffers[0].range), (16, Some(8)));
    assert_eq!((images.buffers.len(), images.buffers[1].sampler), (2, Some(0)));
    let data = &p.vertex_data[0];
    assert_eq!((data.is_per_instance, data.offset, data.stride, data.format.bytes), (true, 4, 12, 4));
    assert_eq!(p.viewport.map(|viewport| viewport.depths), Some([0.0, 0.5]));
    assert_eq!((p.polygon_mode, p.depth.test, p.depth.write), (PolygonMode::Line, true, false));
    assert_eq!((p.depth.compare, p.depth.bias.map(|bias| bias.slope)), (Compare::GreaterOrEqual, Some(-2.0)));
    assert_eq!(script.samplers[0].1.wrap, [WrapMode::ClampToEdge, WrapMode::Repeat, WrapMode::Repeat]);
}

#[test]
fn commands_are_read() {
    let script = script(&format!(
        "{SHADERS}BUFFER b DATA_TYPE vec2<float> SIZE 4 FILL 0\nBUFFER i FORMAT R8_UNORM\n\
         PIPELINE graphics p\n ATTACH v\n FRAMEBUFFER_SIZE 4 4\n BIND BUFFER i AS color LOCATION 0\nEND\n\
         PIPELINE compute q\n ATTACH c\nEND\n\
         CLEAR_COLOR p 255 0 0 51\n\
         RUN TIMED_EXECUTION q 1 2 3\n\
         RUN p DRAW_RECT POS 1 0 SIZE 2 4\n\
         RUN p DRAW_ARRAY AS LINE_STRIP INDEXED START_IDX 1 INSTANCE_COUNT 2\n\
         REPEAT 2\n CLEAR p\n EXPECT b EQ_BUFFER b\nEND\n\
         EXPECT b IDX 8 TOLERANCE 1.0e-3 5% EQ 1 -2.5\n\
         EXPECT i IDX 1 2 SIZE 3 1 EQ_RGB 0 255 51 TOLERANCE 2\n\
         EXPECT b RMSE_BUFFER b TOLERANCE 0.5\n"
    ));
    let commands: Vec<&Command> = script.commands.iter().map(|(_, command)| command).collect();
    assert_eq!(*commands[0], Command::ClearColor(0, [1.0, 0.0, 0.0, 0.2]));
    assert_eq!(*commands[1], Command::Compute(1, [1, 2, 3]));
    let strip = vec![[-0.5, 1.0], [-0.5, -1.0], [0.5, 1.0], [0.5, -1.0]];
    assert_eq!(*commands[2], Command::Draw(0, Shape::Positions(strip, Topology::TriangleStrip)));
    let arrays = Shape::Arrays {
        topology: Topology::LineStrip,
        is_indexed: true,
        first: 1,
        count: None,
        first_instance: 0,
        instances: 2,
    };
    assert_eq!(*commands[3], Command::Draw(0, arrays));
    assert!(matches!(commands[4], Command::Repeat(2, commands) if commands.len() == 2));
    let tolerance = |value: f64, is_percent: bool| Tolerance { value, is_percent };
    let numbers = Expectation::Numbers {
        buffer: 0,
        layout: None,
        offset: 8,
        relation: Relation::Close,
        tolerances: vec![tolerance(0.001, false), tolerance(5.0, true)],
        values: vec![Value::Float(1.0), Value::Float(-2.5)],
    };
    assert_eq!(*commands[5], Command::Expect(numbers));
    let colors = Expectation::Colors {
        buffer: 1,
        area: Some(Area { corner: [1, 2], size: [3, 1] }),
        values: vec![0.0, 1.0, f64::from(51f32 / 255.0)],
        tolerances: vec![tolerance(2.0 / 255.0, false)],
    };
    assert_eq!(*commands[6], Command::Expect(colors));
    assert_eq!(*commands[7], Command::Expect(Expectation::RootMeanSquare(0, 0, 0.5)));
    assert_eq!(script.expectations(), 4);
}

#[test]
fn errors_have_lines() {
    assert_eq!(error("\nNOTHING"), "line 3: command: NOTHING");
    assert_eq!(error("SHADER ray_generation r GLSL\nEND"), "line 2: command: SHADER ray_generation");
    assert_eq!(error("PIPELINE raytracing p\nEND"), "line 2: command: PIPELINE raytracing");
    assert_eq!(error("BUFFER b DATA_TYPE float SIZE x FILL 0"), "line 2: syntax: expected a size, found x");
    assert_eq!(error("BUFFER b DATA_TYPE vec9<float> DATA 1 END"), "line 2: syntax: there is no type vec9<float>");
    assert_eq!(error("BUFFER b DATA_TYPE int32 DATA\n1\nx END"), "line 4: syntax: expected a number, found x");
    assert_eq!(error("BUFFER b DATA_TYPE int32 SIZE 999999999 FILL 0"), "line 2: syntax: the buffer is too large");
    assert_eq!(error("EXPECT b IDX 0 EQ 1"), "line 2: syntax: there is no buffer b");
    assert_eq!(error("PIPELINE compute p\n ATTACH c\nEND"), "line 3: syntax: there is no shader c");
    assert_eq!(error("PIPELINE compute p\n"), "line 3: syntax: PIPELINE without END");
    assert_eq!(error("SHADER vertex v PASSTHROUGH x"), "line 2: syntax: x after PASSTHROUGH");
    assert_eq!(error("PIPELINE graphics p\n STENCIL front\n END\nEND"), "line 3: command: STENCIL");
}

#[test]
fn sections_of_the_older_dialect_are_read() {
    let text = "[require]\nfbsize 4 8\ndepthstencil D32_SFLOAT\n\n[vertex shader passthrough]\n\
                [fragment shader spirv]\nOpNop\n# a remark\n\
                [vertex data]\n0/R32G32_SFLOAT 3/R8_UINT\n-1 0.5 7 # first\n\n1 2 8\n[indices]\n0 1\n1\n\
                [test]\n# nothing\nssbo 1:2 subdata ivec3 16 1 2 3 4\nssbo 1:2 64\nuniform ubo 3 mat2 0 1 2 3 4\n\
                uniform float 8 0.5\ntessellation control entrypoint x\nrelative probe rect rgb (0.5, 0, 0.5, 0.25) (1 0 1)\n\
                probe ssbo ivec3 1:2 16 >= 1 2 3\n";
    let script = parse(text).expect("a script");
    let pipeline = &script.pipelines[0];
    assert!(!pipeline.is_compute);
    assert_eq!(script.shaders[1].text, "OpNop\n# a remark\n");
    assert_eq!((script.shaders[1].line, script.shaders[1].stage), (6, Some(ShaderStage::Fragment)));
    let vertices: Vec<&[u8]> =
        pipeline.vertex_data.iter().map(|data| script.buffers[data.buffer].bytes.as_slice()).collect();
    assert_eq!((vertices[0].len(), vertices[1]), (16, &[7, 8][..]));
    assert_eq!(pipeline.indices.map(|indices| script.buffers[indices].elements()), Some(3));
    let buffer = |place: (u32, u32)| {
        let binding = pipeline.bindings.iter().find(|binding| binding.place == place).expect("a binding");
        (binding.kind, script.buffers[binding.buffers[0].buffer].bytes.len())
    };
    assert_eq!(buffer((1, 2)), (BindingKind::Storage, 64));
    assert_eq!(buffer((0, 3)), (BindingKind::Uniform, 32));
    assert_eq!(pipeline.push_constants.map(|buffer| script.buffers[buffer].bytes.len()), Some(12));
    let lines: Vec<usize> = script.commands.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [19, 21, 22, 23, 24, 25]);
    let (_, Command::Expect(Expectation::Colors { area, buffer, .. })) = &script.commands[4] else { panic!("a probe") };
    assert_eq!(*area, Some(Area { corner: [2, 0], size: [2, 2] }));
    assert_eq!(script.buffers[*buffer].bytes.len(), 4 * 4 * 8);
    assert_eq!(parse("[test]\ndraw circle").expect_err("an error").to_string(), "line 2: command: draw");
}
