//! Pipelines in GLSL: files with several shaders, variables and uniforms by name, and tests that draw.

use crate::common::{Folder, Output};
use pretty_assertions::assert_eq;

const VERTEX: &str = "varying vec2 unread, at;\nvarying vec4 tint;\nuniform float scale;\nvoid main() {\n\
    gl_Position = vec4(gl_Vertex.xy * scale, 0.0, 1.0);\nat = gl_MultiTexCoord0.xy;\nunread = at;\ntint = gl_Color;\n}\n";
const FRAGMENT: &str = "varying vec4 tint;\nvarying vec2 at;\nuniform sampler2D image;\nstruct Light { vec3 color; bool on; };\n\
    uniform Light lights[2];\nvoid main() {\ngl_FragColor = texture2D(image, at) * tint;\n\
    if (lights[1].on) gl_FragColor.rgb *= lights[1].color;\n}\n";

/// A file with both, and a test of its colours.
fn file(test: &str) -> String {
    format!("[require]\nGLSL >= 1.10\nSIZE 8 8\n[vertex shader]\n{VERTEX}[fragment shader]\n{FRAGMENT}[test]\n{test}")
}

const TEST: &str = "uniform float scale 0.5\nuniform int image 0\ntexture rgbw 0 (8, 8)\nclear color 0 0 1 1\nclear\n\
    draw rect tex -1 -1 2 2 0 0 1 1\nprobe rgba 0 0 0 0 1 1\nprobe rgb 2 2 1 0 0\nprobe rgb 5 2 0 1 0\n\
    uniform bool lights[1].on 1\nuniform vec3 lights[1].color 0 0.5 0\ndraw rect tex -1 -1 2 2 0 0 1 1\n\
    relative probe rgba (0.7, 0.7) (0, 0.5, 0, 1)\n";

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

fn success(output: Output) -> String {
    assert_eq!((output.status, output.stderr.as_str()), (0, ""));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn each_shader_of_a_file_is_an_input() {
    let folder = Folder::with(&[("p.shader_test", &file(TEST))]);
    success(folder.run(&["check", "p.shader_test"]));
    success(folder.run(&["translate", "--out-dir", "d", "p.shader_test"]));
    assert!(folder.read("d/p.vert.tgsi").starts_with(b"VERT"));
    assert!(folder.read("d/p.frag.tgsi").starts_with(b"FRAG"));
    let fits = success(folder.run(&["fit", "--target", "r300", "--json", "p.shader_test"]));
    assert!(lines(&fits)[0].starts_with(r#"{"f":"p.shader_test:vertex","#), "{fits}");
    assert!(lines(&fits)[1].starts_with(r#"{"f":"p.shader_test:fragment","#), "{fits}");
    let output = folder.run(&["run", "p.shader_test"]);
    assert_eq!(output.status, 1);
    assert!(output.stderr.contains("--front-end-option stage=..."), "{}", output.stderr);
    success(folder.run(&["run", "--front-end-option", "stage=vertex", "p.shader_test"]));
}

#[test]
fn names_and_registers_are_listed() {
    let folder = Folder::with(&[("f.frag", FRAGMENT)]);
    let text = success(folder.run(&["scan", "f.frag"]));
    let expected = "uniform Light[2] lights = CONST[0][0..3]\nuniform sampler2D image = SAMP[0]\nin vec4 tint = IN[0]\n\
        in vec2 at = IN[1]\nout vec4 gl_FragColor = OUT[0]\n";
    assert_eq!(text, expected);
    let json = success(folder.run(&["scan", "--json", "f.frag"]));
    assert!(json.contains(r#""component_type":"bool","length":null,"path":"[1].on","register":3,"rows":1"#), "{json}");
}

#[test]
fn stages_are_linked_by_name() {
    let folder = Folder::with(&[("v.vert", VERTEX), ("f.frag", FRAGMENT), ("p.shader_test", &file(TEST))]);
    let linked = success(folder.run(&["link", "v.vert", "f.frag"]));
    // The varying that nothing reads is gone, and both stages have one order of the others.
    assert!(!linked.contains("GENERIC[2]"), "{linked}");
    let of_file = success(folder.run(&["link", "p.shader_test"]));
    let code = |text: &str| text.lines().filter(|line| !line.starts_with(';')).collect::<Vec<_>>().join("\n");
    assert_eq!(code(&linked), code(&of_file));
    // A further file of a stage is a unit of its shader.
    let call = FRAGMENT.replace("void main", "vec4 same(vec4 value);\nvoid main");
    let call = call.replace("= texture2D(image, at) * tint;", "= same(texture2D(image, at) * tint);");
    let unit = "vec4 same(vec4 value) { return value; }\n";
    let folder = Folder::with(&[("v.vert", VERTEX), ("f.frag", &call), ("u.frag", unit)]);
    assert_eq!(code(&success(folder.run(&["link", "u.frag", "v.vert", "f.frag"]))), code(&linked));
    let other = FRAGMENT.replace("varying vec2 at;", "varying vec3 at;").replace("(image, at)", "(image, at.xy)");
    let folder = Folder::with(&[("v.vert", VERTEX), ("f.frag", &other)]);
    let output = folder.run(&["link", "v.vert", "f.frag", "--error-format", "gcc"]);
    assert_eq!(output.status, 1);
    let message = "f.frag:2:14: error: `at` has the type vec3, in the vertex shader vec2 [G0602]\n";
    assert_eq!(output.stderr, message);
}

#[test]
fn copies_of_small_varyings_link() {
    let vertex = "varying vec2 a, b;\nvoid main() { gl_Position = gl_Vertex; a = gl_Vertex.xy; b = a.yx; }\n";
    let fragment = "varying vec2 a, b;\nvoid main() { gl_FragColor = vec4(a, b); }\n";
    let folder = Folder::with(&[("v.vert", vertex), ("f.frag", fragment)]);
    let linked = success(folder.run(&["link", "v.vert", "f.frag"]));
    assert!(linked.contains("GENERIC[0]") && !linked.contains("GENERIC[1]"), "{linked}");
}

#[test]
fn tests_are_played() {
    let folder =
        Folder::with(&[("p.shader_test", &file(TEST)), ("w.shader_test", &file(&format!("{TEST}frobnicate\n")))]);
    success(folder.run(&["draw", "p.shader_test", "-o", "p.png"]));
    for via in ["ir", "registers", "driver:tgsi"] {
        success(folder.run(&["draw", "p.shader_test", "-o", "q.png", "--via", via]));
        assert_eq!(folder.read("p.png"), folder.read("q.png"), "{via}");
    }
    let output = folder.run(&["draw", "w.shader_test", "-o", "q.png"]);
    assert_eq!(output.status, 1);
    assert!(output.stderr.ends_with(": cannot do `frobnicate`\n"), "{}", output.stderr);
    let wrong = TEST.replace("probe rgb 5 2 0 1 0", "probe rgb 5 2 0 1 1");
    let folder = Folder::with(&[("w.shader_test", &file(&wrong))]);
    let output = folder.run(&["draw", "w.shader_test", "-o", "q.png"]);
    assert_eq!(output.status, 1);
    assert!(output.stderr.contains("at (5, 2): expected [0.0, 1.0, 1.0], found [0.0, 1.0, 0.0]"), "{}", output.stderr);
}

/// Stores to an image of an integer texture, draws to a texture, a display list, and a loop that only ends by `discard`.
const IMAGES: &str = "[require]\nGLSL >= 4.50\nSIZE 8 8\n[vertex shader passthrough]\n[fragment shader]\n#version 450\n\
    uniform int mode;\nlayout(r32i) uniform iimage2D counts;\nuniform sampler2D colors;\nout vec4 color;\n\
    void main() {\nivec2 at = ivec2(gl_FragCoord.xy);\nif (mode == 3) discard;\nfor (int i = 0; i < 2; ) {\n\
    if (mode != 3) i++;\n}\n\
    if (mode == 0) color = vec4(imageAtomicAdd(counts, at, 3) == 10 * at.y + at.x + 1);\n\
    if (mode == 1) color = vec4(imageLoad(counts, at).x == 10 * at.y + at.x + 4);\n\
    if (mode == 2) color = texelFetch(colors, at, 0);\n}\n[test]\nclear color 0 0 0 0\nclear\n\
    texture integer 1 (8, 8) (10, 1) GL_R32I\nimage texture 1 GL_R32I\nuniform int counts 1\n\
    texture rgbw 0 (8, 8) GL_RGBA32F\nuniform int colors 0\nuniform int mode 0\ndraw rect -1 -1 2 2\n\
    probe all rgba 1 1 1 1\nnewlist GL_COMPILE\nuniform int mode 1\ndraw rect -1 -1 1 2\nendlist\n\
    fb tex 2d 0\nprobe rgb 5 2 0 1 0\ncalllist\nprobe rgba 2 2 1 1 1 1\nfb winsys\nuniform int mode 2\n\
    draw rect -1 -1 2 2\nprobe rect rgba (0, 0, 4, 8) (1, 1, 1, 1)\nprobe rgb 5 2 0 1 0\nuniform int mode 3\n\
    draw rect -1 -1 2 2\nprobe rgb 5 2 0 1 0\n";

#[test]
fn images_and_framebuffers_are_played() {
    let folder = Folder::with(&[("i.shader_test", IMAGES)]);
    for via in ["ir", "driver:cpu", "driver:tgsi"] {
        success(folder.run(&["draw", "i.shader_test", "--via", via, "-o", "i.png"]));
    }
    let wrong = IMAGES.replace("(10, 1) GL_R32I", "(11, 1) GL_R32I");
    let folder = Folder::with(&[("i.shader_test", &wrong)]);
    let output = folder.run(&["draw", "i.shader_test", "-o", "i.png"]);
    assert_eq!(output.status, 1);
    assert!(output.stderr.contains("at (0, 1): expected [1.0, 1.0, 1.0, 1.0]"), "{}", output.stderr);
}

#[test]
fn uniforms_are_set_by_name() {
    let folder = Folder::with(&[("v.vert", VERTEX), ("f.frag", FRAGMENT)]);
    let draw = ["draw", "--vertex", "v.vert", "--fragment", "f.frag", "--size", "4x4", "-o", "p.png"];
    let values = ["--uniform", "scale=1", "--uniform", "lights[1].on=true", "--uniform", "lights[1].color=0,1,0"];
    success(folder.run(&[&draw[..], &values].concat()));
    success(folder.run(&[&draw[..], &values, &["--texture", "image=p.png,nearest", "--time", "scale"]].concat()));
    for (arguments, message) in [
        (["--uniform", "scales=1"], "there is no uniform `scales`"),
        (["--uniform", "lights=1"], "`lights` has several parts; set each, such as `lights[0].color`"),
        (["--uniform", "scale=1,2"], "`scale` takes 1 values, found 2"),
        (["--texture", "picture=p.png"], "no shader has a sampler `picture`"),
        (["--time", "lights[1].color"], "`lights[1].color` takes 3 values, found 1"),
    ] {
        let output = folder.run(&[&draw[..], &arguments].concat());
        assert_eq!(output.status, 2, "{}", output.stderr);
        assert!(output.stderr.contains(message), "{}", output.stderr);
    }
}

#[test]
fn files_with_macros_of_stages_are_several_inputs() {
    let text = "#if defined(VERTEX)\nvoid main() { gl_Position = gl_Vertex; }\n#elif defined(FRAGMENT)\nvoid main() {\n\
        gl_FragColor = gl_Color; }\n#endif\n";
    let folder = Folder::with(&[("s/a.glsl", text)]);
    let fits = success(folder.run(&["fit", "--target", "r300", "--json", "s"]));
    assert_eq!(lines(&fits).len(), 2);
    let one = success(folder.run(&["translate", "--front-end-option", "define=FRAGMENT", "s/a.glsl"]));
    assert!(one.starts_with("FRAG"), "{one}");
}
