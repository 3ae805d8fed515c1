//! Interface blocks, arrays by vertex, layouts of stages, and captures.

use super::*;
use ShaderStage::{Compute, Geometry, TessCtrl, TessEval};

#[test]
fn members_of_blocks_are_variables_or_fields() {
    clean(
        Vertex,
        &[
            "#version 140\nuniform B { mat4 m; vec4 v; }; in vec4 p; void main() { gl_Position = m * p + v; }",
            "#version 150\nuniform B { vec4 v; } b; uniform C { vec4 v; } c[2]; void main() { gl_Position = b.v + c[1].v; }",
            "#version 430\nbuffer B { int n; float f[]; } b; void main() { b.f[b.n] = float(b.f.length()); }",
            "#version 150\nout B { flat int n; vec4 v[2]; } b; void main() { b.n = 1; b.v[1].x = 2.0; }",
            "#version 150\nstruct S { float f; }; uniform B { S s[2]; }; void main() { gl_Position = vec4(s[1].f); }",
        ],
    );
    only("no-field", Vertex, &["#version 150\nuniform B { vec4 v; } b; void main() { gl_Position = b.w; }"]);
    only("not-writable", Vertex, &["#version 140\nuniform B { vec4 v; }; void main() { v = vec4(1.0); }"]);
    only("not-a-variable", Vertex, &["#version 150\nuniform B { vec4 v; } b; void main() { gl_Position = B.v; }"]);
    only("opaque-use", Vertex, &["#version 150\nout B { vec4 v; } b[2]; void main() { b[0] = b[1]; }"]);
    only(
        "needs-version",
        Fragment,
        &["#version 150\nuniform B { vec4 v; } b[2]; uniform int i; out vec4 c; void main() \
                                       { c = b[i].v; }"],
    );
}

#[test]
fn names_of_blocks_are_only_that() {
    only(
        "redeclared",
        Vertex,
        &[
            "#version 150\nuniform B { vec4 v; }; uniform B { vec4 w; };",
            "#version 150\nuniform B { vec4 v; }; vec4 B;",
            "#version 150\nvec4 B; uniform B { vec4 v; };",
            "#version 150\nuniform B { vec4 v; }; uniform C { vec4 v; };",
            "#version 150\nuniform B { vec4 v; float v; };",
        ],
    );
    clean(Vertex, &["#version 150\nuniform B { vec4 v; }; out B { vec4 w; } b; void main() { float B = 1.0; }"]);
}

#[test]
fn lengths_of_members_of_buffers_follow_from_indices() {
    let unit = |statement: &str| {
        format!(
            "#version 430\nbuffer B {{ vec4 a[]; mat4 m[]; vec4 o[]; }} b; void main() {{ {statement} gl_Position = vec4(0.0); }}"
        )
    };
    let compiled = |statement: &str| crate::compile(unit(statement).as_bytes(), Vertex, &GlslOptions::default());
    let module = compiled("b.o[0] = b.a[2] + b.a[1] + b.m[1][0];").module.expect("a module");
    let members: Vec<(String, u32)> =
        module.interface.resources[0].members.iter().map(|member| (member.path.clone(), member.offset)).collect();
    let expected = [("B.a", 0), ("B.m", 48), ("B.o", 176)].map(|(path, offset)| (path.to_owned(), offset));
    assert_eq!(members, expected);
    for (statement, code) in [
        ("b.o[0] = b.a[2];", "G0318"),
        ("b.a[int(b.o[0].x)] = b.m[0][0];", "G0318"),
        ("b.a[0].x = float(b.m.length()) + b.m[0][0].x;", "G0318"),
    ] {
        let found: Vec<&str> = compiled(statement).findings.iter().map(|finding| finding.code.id).collect();
        assert_eq!(found, [code], "{statement}");
    }
}

#[test]
fn units_of_a_stage_redeclare_one_block() {
    let file = |first: &str, second: &str| {
        format!(
            "[require]\nGLSL >= 1.50\n[geometry shader]\nlayout(triangles) in; layout(points, max_vertices = 1) out; {first}\n\
             vec4 f(); void main() {{ gl_Position = gl_in[0].gl_Position + f(); EmitVertex(); }}\n[geometry shader]\n\
             layout(triangles) in; layout(points, max_vertices = 1) out; {second}\n\
             vec4 f() {{ return gl_in[0].gl_Position; }}\n"
        )
    };
    let block = "in gl_PerVertex { vec4 gl_Position; } gl_in[];";
    let other = "in gl_PerVertex { vec4 gl_Position; float gl_PointSize; } gl_in[];";
    for (first, second, expected) in
        [("", "", true), (block, block, true), (block, other, false), (block, "", false), ("", block, false)]
    {
        let text = file(first, second);
        let stage = crate::shader_test::shader(text.as_bytes(), ShaderStage::Geometry, &GlslOptions::default());
        let stage = stage.expect("a stage");
        let compiled = crate::compile::compile_units(&stage.units, ShaderStage::Geometry, &stage.options);
        assert_eq!(compiled.module.is_some(), expected, "{text}: {:?}", compiled.findings);
    }
}

#[test]
fn blocks_have_allowed_qualifiers_and_types() {
    only(
        "type-not-allowed",
        Vertex,
        &[
            "#version 150\nuniform B { sampler2D s; };",
            "#version 150\nout B { bool b; };",
            "#version 150\nuniform B { struct S { float f; } s; };",
        ],
    );
    only(
        "qualifier-not-allowed",
        Vertex,
        &["#version 150\nin B { vec4 v; };", "#version 150\nuniform B { flat vec4 v; };"],
    );
    only(
        "unsized-array",
        Vertex,
        &["#version 310 es\nbuffer B { highp float a[]; highp float b; };", "#version 150\nuniform B { float a[]; };"],
    );
    only(
        "layout",
        Vertex,
        &[
            "#version 430\nlayout(std430) uniform B { vec4 v; };",
            "#version 440\nlayout(shared, align = 16) uniform B { vec4 v; };",
            "#version 440\nlayout(std140) uniform B { layout(location = 1) vec4 v; };",
            "#version 440\nout B { layout(row_major) mat4 m; };",
            "#version 440\nout B { layout(location = 1) vec4 v; } b[2];",
            "#version 150\nlayout(points) out vec4 v;",
        ],
    );
    only(
        "layout-value",
        Vertex,
        &[
            "#version 440\nlayout(std140) uniform B { layout(offset = 4) vec4 v; };",
            "#version 440\nlayout(std140) uniform B { vec4 v; layout(offset = 0) vec4 w; };",
            "#version 440\nlayout(std140, align = 3) uniform B { vec4 v; };",
            "#version 440\nout B { layout(location = 1) vec4 v; vec4 w; };",
            "#version 440\nlayout(location = 0, component = 2) out vec3 v;",
            "#version 440\nlayout(location = 0, component = 1) out double v;",
        ],
    );
    clean(
        Vertex,
        &["#version 440\nlayout(std140, column_major) uniform; layout(binding = 1) uniform B { \
                     layout(row_major, offset = 16, align = 32) mat3 m; };"],
    );
}

#[test]
fn inputs_by_vertex_have_the_length_of_the_primitive() {
    let head = "#version 150\nlayout(triangle_strip, max_vertices = 3) out;\n";
    let with = |text: &str| format!("{head}{text}");
    let good = [
        "in vec4 a[]; layout(triangles) in; void main() { gl_Position = a[2]; EmitVertex(); EndPrimitive(); }",
        "layout(lines) in; in vec4 a[2]; in B { vec4 v; } b[]; void main() { for (int i = 0; i < b.length(); i++) \
         gl_Position = gl_in[i].gl_Position + b[i].v + a[i]; }",
        "layout(triangles) in; in gl_PerVertex { vec4 gl_Position; } gl_in[]; void main() { gl_Position = \
         gl_in[1].gl_Position; }",
    ]
    .map(with);
    clean(Geometry, &good.each_ref().map(String::as_str));
    let wrong = [
        ("vertex-count", "layout(lines) in; in vec4 a[3];"),
        ("vertex-count", "in vec4 a[3]; layout(lines) in;"),
        ("vertex-count", "in vec4 a[2]; in vec4 b[3];"),
        ("type-not-allowed", "layout(points) in; in vec4 a;"),
        ("qualifier-conflict", "layout(points) in; layout(lines) in;"),
        ("index-range", "in vec4 a[]; void main() { gl_Position = a[2]; } layout(lines) in;"),
        (
            "unsized-array",
            "layout(lines) in; uniform int i; void main() { gl_Position.x = gl_in[0].gl_ClipDistance[i]; }",
        ),
        (
            "no-field",
            "layout(lines) in; in gl_PerVertex { vec4 gl_Position; } gl_in[]; void main() { gl_Position.x = \
                      gl_in[0].gl_PointSize; }",
        ),
        ("redeclared", "layout(lines) in; in gl_PerVertex { vec4 gl_Position; } a[];"),
    ];
    for (code, text) in wrong {
        only(code, Geometry, &[&with(text)]);
    }
    only("wrong-stage", Vertex, &["#version 150\nvoid main() { EmitVertex(); }"]);
    only("not-constant", Geometry, &["#version 400\nuniform int i; void main() { EmitStreamVertex(i); }"]);
}

#[test]
fn control_shaders_write_their_own_vertex() {
    let with = |text: &str| format!("#version 400\nlayout(vertices = 3) out;\n{text}");
    clean(
        TessCtrl,
        &[&with(
            "in vec4 a[]; out vec4 b[]; patch out float p; void main() { b[gl_InvocationID] = a[0]; barrier(); p = \
             b[1].x; gl_out[gl_InvocationID].gl_Position = gl_in[0].gl_Position; gl_TessLevelOuter[1] = 2.0; }",
        )],
    );
    only("not-writable", TessCtrl, &[&with("out vec4 b[]; void main() { b[0] = vec4(1.0); }")]);
    only("qualifier-not-allowed", TessCtrl, &[&with("patch in vec4 p;")]);
    clean(
        TessEval,
        &["#version 400\nlayout(quads, fractional_odd_spacing, cw, point_mode) in; in vec4 a[]; patch in vec4 \
                       p; void main() { gl_Position = a[3] * gl_TessCoord.x + p; }"],
    );
    only("qualifier-conflict", TessEval, &["#version 400\nlayout(quads, triangles) in;"]);
}

#[test]
fn workgroups_have_a_size() {
    clean(
        Compute,
        &["#version 430\nlayout(local_size_x = 8, local_size_y = 2) in; shared float a[gl_WorkGroupSize.x]; void \
                      main() { a[gl_LocalInvocationIndex % 8u] = 1.0; barrier(); }"],
    );
    only("missing-layout", Compute, &["#version 430\nuint n = gl_WorkGroupSize.x; layout(local_size_x = 8) in;"]);
    only("layout-value", Compute, &["#version 430\nlayout(local_size_x = 0) in;"]);
    only("glsl-limit", Compute, &["#version 430\nlayout(local_size_x = 2048) in;"]);
    only("qualifier-not-allowed", Compute, &["#version 430\nin vec4 a;", "#version 430\nout vec4 a;"]);
    only("qualifier-not-allowed", Vertex, &["#version 430\nshared vec4 a;", "#version 430\nbuffer vec4 a;"]);
}

#[test]
fn captured_outputs_fit_their_buffers() {
    let with = |text: &str| format!("#version 440\n{text} void main() {{ }}");
    let good = [
        "layout(xfb_offset = 0, xfb_buffer = 1, xfb_stride = 32) out vec4 a;",
        "layout(xfb_buffer = 2, xfb_stride = 32) out; layout(xfb_offset = 16) out B { vec3 a; float b; };",
    ]
    .map(with);
    clean(Vertex, &good.each_ref().map(String::as_str));
    let wrong = [
        "layout(xfb_offset = 2) out vec4 a;",
        "layout(xfb_offset = 4) out double a;",
        "layout(xfb_buffer = 4) out;",
        "layout(xfb_offset = 0) out vec4 a; layout(xfb_offset = 12) out vec4 b;",
        "layout(xfb_stride = 16) out vec4 a; layout(xfb_offset = 4) out vec4 b;",
        "layout(xfb_stride = 16) out; layout(xfb_stride = 32) out vec4 a;",
        "layout(xfb_buffer = 1) out B { layout(xfb_buffer = 2) vec4 a; };",
    ];
    for text in wrong {
        only("layout-value", Vertex, &[&with(text)]);
    }
    only("layout", Fragment, &[&with("layout(xfb_stride = 16) out;"), &with("layout(xfb_offset = 0) out vec4 a;")]);
}

#[test]
fn layouts_of_blocks_may_be_repeated() {
    clean(
        Fragment,
        &["#version 310 es\nlayout(shared, std140, row_major, column_major, std140) uniform B { highp mat2 m; };"],
    );
    only("qualifier-conflict", Fragment, &["#version 310 es\nlayout(location = 1, location = 1) in highp vec4 a;"]);
}

#[test]
fn structs_are_elements_by_vertex() {
    let head = "#version 310 es\n#extension GL_EXT_geometry_shader : require\nstruct S { highp float a; };\n";
    clean(Geometry, &[&format!("{head}layout(points) in; layout(points, max_vertices = 1) out; in S s[];")]);
    only("type-not-allowed", Geometry, &[&format!("{head}layout(points) in; out S s[2];")]);
}

#[test]
fn members_have_the_stream_of_their_block() {
    let head = "#version 400\nlayout(points) in; layout(points, max_vertices = 1) out;\n";
    let with = |text: &str| format!("{head}{text}");
    clean(
        Geometry,
        &[
            &with("layout(stream = 1) out B { layout(stream = 1) vec4 a; vec4 b; };"),
            &with("layout(stream = 1) out; out B { layout(stream = 1) vec4 a; }; layout(stream = 2) out;"),
            &with("out B { layout(stream = 0) vec4 a; };"),
        ],
    );
    only("qualifier-conflict", Geometry, &[&with("out B { layout(stream = 1) vec4 a; };")]);
    only("qualifier-conflict", Geometry, &[&with("layout(stream = 1) out; out B { layout(stream = 0) vec4 a; };")]);
}
