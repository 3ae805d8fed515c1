//! Pipelines: slots of variables that stages share, and the pages of the error codes.

use pretty_assertions::assert_eq;
use tgsi::limits::Limits;
use tgsi_compiler::front_end::{FrontEnd, ReadRequest, Reading};

use super::*;
use crate::GLSL;

const PAGES: &str = include_str!("../../explanations/link.txt");

/// The readings of the shaders of a file.
fn read(file: &str) -> Vec<Reading> {
    let limits = Limits::default();
    let reader = GLSL.reader(&[]).expect("a reader");
    let request = |stage| ReadRequest { limits: &limits, compiler: None, path: None, stage: Some(stage) };
    let stages = GLSL.stages(file.as_bytes());
    let inputs: Vec<_> = stages.into_iter().map(|stage| (file.as_bytes(), request(stage))).collect();
    reader.read_pipeline(&inputs)
}

fn codes(file: &str) -> Vec<&'static str> {
    read(file).iter().flat_map(|reading| &reading.findings).map(|finding| finding.code.id).collect()
}

#[test]
fn every_code_has_a_page() {
    let heads: Vec<&str> = PAGES.lines().filter_map(|line| line.strip_prefix("== ")).collect();
    let codes: Vec<String> = LinkError::CODES.iter().map(|code| format!("{} error {}", code.id, code.name)).collect();
    assert_eq!(heads, codes);
}

#[test]
fn examples_have_the_findings_of_their_pages() {
    for page in PAGES.split("== G").skip(1) {
        let code = format!("G{}", page.split(' ').next().unwrap_or_default());
        for label in ["wrong:\n", "right:\n"] {
            let (_, example) = page.split_once(label).expect("an example");
            let lines = example.lines().take_while(|line| line.starts_with("    "));
            let text: String = lines.map(|line| format!("{}\n", line.trim_start())).collect();
            let expected = if label == "wrong:\n" { vec![code.as_str()] } else { Vec::new() };
            assert_eq!(codes(&text), expected, "{text}");
        }
    }
}

#[test]
fn variables_of_one_name_share_slots() {
    let readings = read(
        "[require]\nGLSL >= 1.20\n[vertex shader]\nvarying vec4 unread; varying vec2 b; varying mat2 a;\n\
         void main() { gl_Position = gl_Vertex; unread = gl_Color; a = mat2(1.0); b = vec2(0.5); }\n[fragment shader]\n\
         varying mat2 a; varying vec4 unused; varying vec2 b;\nvoid main() { gl_FragColor = vec4(a[1], b); }\n",
    );
    let slots = |list: &[tgsi_compiler::front_end::InterfaceVariable]| -> Vec<(String, i32)> {
        let first = i32::from(tgsi_ir::slots::VaryingSlot::VAR0);
        let mut found: Vec<_> =
            list.iter().map(|variable| (variable.name.clone(), variable.location - first)).collect();
        found.retain(|(_, slot)| *slot >= 0);
        found
    };
    let named = |list: &[(&str, i32)]| list.iter().map(|&(name, slot)| (name.to_owned(), slot)).collect::<Vec<_>>();
    assert_eq!(slots(&readings[0].interface.outputs), named(&[("b", 0), ("a", 1), ("unread", 3)]));
    assert_eq!(slots(&readings[1].interface.inputs), named(&[("b", 0), ("a", 1)]));
}

#[test]
fn errors_are_at_the_place_in_the_file() {
    let file = "[require]\nGLSL >= 1.10\n[vertex shader]\nvoid main() { gl_Position = gl_Vertex; }\n[fragment shader]\n\
                varying vec4 tint;\nvoid main() { gl_FragColor = tint; }\n";
    let readings = read(file);
    let finding = &readings[1].findings[0];
    let line = file[..finding.span.start as usize].lines().count();
    assert_eq!((finding.code.id, line), ("G0600", 6));
}

#[test]
fn units_of_a_stage_are_one_program() {
    let good = "[require]\nGLSL >= 1.20\n[vertex shader]\nfloat scale(float a);\nstruct S { float f; };\nuniform S s;\n\
                float shared = 2.0;\nvoid main() { gl_Position = gl_Vertex * scale(s.f); }\n[vertex shader]\nfloat \
                shared;\nstruct S { float f; };\nuniform S s;\nfloat scale(float a) { return a * shared + s.f; }\n\
                [fragment shader]\nvoid main() { gl_FragColor = vec4(1.0); }\n";
    assert_eq!(codes(good), Vec::<&str>::new());
    let uniforms = &read(good)[0].interface.uniforms;
    assert_eq!(uniforms.iter().map(|uniform| uniform.name.as_str()).collect::<Vec<_>>(), ["s"]);
    for (from, to) in [
        ("float \nshared;", "vec2 \nshared;"),
        ("float \nshared;", "float \nshared = 3.0;"),
        (
            "struct S { float f; };\nuniform S s;\nfloat scale",
            "struct S { vec2 f; };\nuniform S s;\nvec2 v;\nfloat scale",
        ),
    ] {
        let from = from.replace("float \n", "float ");
        let to = to.replace("float \n", "float ").replace("vec2 \n", "vec2 ");
        let bad = good.replace(&from, &to);
        assert_ne!(bad, good);
        assert!(codes(&bad).contains(&"G0360"), "{bad}: {:?}", codes(&bad));
    }
    let undefined = good.replace("float scale(float a) { return a * shared + s.f; }", "");
    assert_eq!(codes(&undefined), ["G0336"]);
}

#[test]
fn blocks_and_patches_link_through_all_stages() {
    let file = "[require]\nGLSL >= 4.00\n[vertex shader]\nout B { vec4 a; flat int n; } b; uniform U { vec4 u; mat4 m; };\n\
                void main() { b.a = u; b.n = 1; gl_Position = m[0]; }\n[tessellation control shader]\n\
                layout(vertices = 3) out; in B { vec4 a; flat int n; } b[]; out vec4 c[]; patch out vec4 p; patch out vec2 q;\n\
                void main() { c[gl_InvocationID] = b[gl_InvocationID].a; p = vec4(b[0].n); q = vec2(1.0); }\n\
                [tessellation evaluation shader]\nlayout(triangles) in; in vec4 c[]; patch in vec2 q; patch in vec4 p;\n\
                uniform U { vec4 u; mat4 m; }; void main() { gl_Position = c[1] + p + q.xyxy + u; }\n[fragment shader]\n\
                out vec4 color; void main() { color = vec4(1.0); }\n";
    let readings = read(file);
    let found: Vec<_> = readings.iter().flat_map(|reading| &reading.findings).map(|finding| &finding.message).collect();
    assert_eq!(found, [""; 0]);
    let slots = |list: &[tgsi_compiler::front_end::InterfaceVariable]| {
        let mut slots: Vec<_> = list.iter().map(|variable| (variable.name.clone(), variable.location)).collect();
        slots.retain(|(_, location)| *location >= i32::from(tgsi_ir::slots::VaryingSlot::VAR0));
        slots.sort();
        slots
    };
    assert_eq!(slots(&readings[0].interface.outputs), slots(&readings[1].interface.inputs));
    assert_eq!(slots(&readings[1].interface.outputs), slots(&readings[2].interface.inputs));
    let block = &readings[2].interface.resources[0];
    let members: Vec<_> = block.members.iter().map(|member| (member.path.as_str(), member.offset)).collect();
    assert_eq!((block.name.as_str(), block.register, block.size, members), ("U", 1, 80, vec![("u", 0), ("m", 16)]));
}

#[test]
fn uniforms_have_one_place() {
    let file = |of_vertex: &str, of_fragment: &str| {
        format!(
            "[require]\nGLSL >= 4.30\n[vertex shader]\nstruct S {{ vec4 v; mat4 m[2]; }}; layout({of_vertex};\nvoid \
             main() {{ gl_Position = vec4(0.0); }}\n[fragment shader]\nlayout({of_fragment};\nout vec4 c;\nvoid \
             main() {{ c = vec4(0.0); }}\n"
        )
    };
    for (of_vertex, of_fragment, expected) in [
        ("location = 1) uniform vec4 a", "location = 1) uniform vec4 a", ""),
        ("location = 1) uniform vec4 a", "location = 2) uniform vec4 a", "G0604"),
        ("binding = 1) uniform sampler2D a", "binding = 2) uniform sampler2D a", "G0604"),
        // A struct takes three locations.
        ("location = 1) uniform S a", "location = 4) uniform vec4 b", ""),
        ("location = 1) uniform S a", "location = 3) uniform vec4 b", "G0610"),
        ("location = 0) uniform S a; uniform vec4 c", "location = 2147483647) uniform vec4 b[9]", ""),
    ] {
        let found = codes(&file(of_vertex, of_fragment));
        assert_eq!(found.join(" "), expected, "{of_vertex} {of_fragment}");
    }
}

#[test]
fn locations_are_the_identity_of_variables() {
    let file = |output: &str, input: &str| {
        format!(
            "[require]\nGLSL >= 4.50\n[vertex shader]\nstruct S {{ vec4 v; }}; layout({output};\nvoid main() {{ gl_Position = \
             vec4(0.0); }}\n[fragment shader]\nstruct T {{ vec4 v; }}; struct U {{ vec3 v; }}; layout({input};\nout vec4 c;\n\
             void main() {{ c = a.v; }}\n"
        )
    };
    for (output, input, expected) in [
        ("location = 1) out B { vec4 v; } b", "location = 1) in B { vec4 v; } a", ""),
        ("location = 1) out B { vec4 v; } b", "location = 2) in B { vec4 v; } a", "G0600"),
        ("location = 1) out S b", "location = 1) in T a", ""),
        ("location = 1) out S a", "location = 2) in T a", "G0600"),
        ("location = 1) out S b; flat out int s", "location = 1) in T a; flat in int s", ""),
    ] {
        assert_eq!(codes(&file(output, input)).join(" "), expected, "{output} {input}");
    }
    let wrong = file("location = 1) out S b", "location = 1) in U a").replace("a.v;", "a.v.xyzz;");
    assert_eq!(codes(&wrong), ["G0602"]);
    // The second slot of a vector of three doubles has two more components.
    let doubles = |component: u32| {
        file(
            &format!("location = 0) flat out dvec3 d; layout(location = 1, component = {component}) flat out double e"),
            &format!("location = 1, component = {component}) flat in double a"),
        )
        .replace("a.v", "vec4(a)")
    };
    assert_eq!(codes(&doubles(2)), [""; 0]);
    assert_eq!(codes(&doubles(0)), ["G0350"]);
}

#[test]
fn separate_programs_match_exactly_or_by_order() {
    let file = |version: &str, output: &str, input: &str| {
        format!(
            "[require]\nGLSL {version}\nSSO ENABLED\n[vertex shader]\nout mediump {output};\nvoid main() {{ gl_Position = \
             vec4(0.0); }}\n[fragment shader]\nin mediump {input};\nout mediump vec4 c;\nvoid main() {{ c = vec4(a); \
             }}\n"
        )
    };
    for (output, input, expected) in [
        ("float a", "float a", ""),
        ("float b", "float a", "G0600"),
        ("float a, b", "float a", "G0611"),
        ("float a", "highp float a", "G0604"),
        ("B { float b; }; out mediump float a", "float a", "G0611"),
    ] {
        let file = file("ES >= 3.20", output, input).replace("mediump highp", "highp").replace("mediump B", "B");
        assert_eq!(codes(&file).join(" "), expected, "{file}");
    }
    let readings = read(&file(">= 1.50", "float x, b", "float unread, a"));
    let place = |reading: &Reading, is_input: bool, name: &str| {
        let interface = &reading.interface;
        let list = if is_input { &interface.inputs } else { &interface.outputs };
        list.iter().find(|variable| variable.name == name).map(|variable| variable.location)
    };
    assert_eq!(place(&readings[1], true, "a"), Some(i32::from(tgsi_ir::slots::VaryingSlot::VAR0) + 1));
}
