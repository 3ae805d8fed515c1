//! Declarations: qualifiers, types, initialisers, redeclarations, layouts, precisions.

use super::*;

#[test]
fn names_of_structs_are_hidden() {
    clean(
        Fragment,
        &["struct ray { float a; }; void f(in float ray) { ray = ray + 1.0; } void main() { ray r = ray(1.0); \
             f(r.a); }"],
    );
    only("not-a-function", Fragment, &["#version 120\nstruct T { float a; }; void f(float T) { float b = T(1.0); }"]);
    only(
        "redeclared",
        Fragment,
        &["struct T { float a; }; struct T { float b; };", "struct T { float a; }; uniform float T;"],
    );
}

#[test]
fn structs_nest_by_name() {
    clean(Fragment, &["struct T { struct V { float a; } v; }; uniform T t; void main() { float a = t.v.a; }"]);
    only("type-not-allowed", Fragment, &["#version 120\nstruct T { struct V { float a; } v; };"]);
    only("unsized-array", Fragment, &["struct T { float a[]; };"]);
}

#[test]
fn reserved_names_are_errors() {
    only(
        "reserved-name",
        Fragment,
        &["uniform float gl_x;", "void main() { float gl_x = 1.0; }", "float gl_f() { return 1.0; }"],
    );
    only("reserved-underscores", Fragment, &["uniform float a__b; void main() { }"]);
}

#[test]
fn uniforms_have_initialisers_from_120_on() {
    only("needs-version", Fragment, &["uniform float a = 1.0;", "#version 100\nuniform lowp float a = 1.0;"]);
    clean(Fragment, &["#version 120\nuniform float a = 1.0;"]);
    only("initializer-not-allowed", Fragment, &["varying float a = 1.0;"]);
    only("missing-initializer", Fragment, &["const float a;"]);
}

#[test]
fn attributes_are_floats() {
    only(
        "type-not-allowed",
        Vertex,
        &["attribute int a;", "attribute ivec4 a;", "#version 100\nattribute highp ivec4 a;"],
    );
    only(
        "type-not-allowed",
        Vertex,
        &["attribute bool a;", "struct T { float a; }; attribute T t;", "attribute float a[2];"],
    );
    // Other compilers accept integers in 1.20.
    only("lenient", Vertex, &["#version 120\nattribute ivec4 a;"]);
    clean(Vertex, &["#version 130\nattribute ivec4 a;", "#version 130\nin uvec4 a;"]);
    only("wrong-stage", Fragment, &["attribute float a;"]);
}

#[test]
fn integers_between_stages_are_flat() {
    only("type-not-allowed", Vertex, &["varying int a;", "varying bool a;"]);
    only("type-not-allowed", Fragment, &["#version 130\nin int a;"]);
    clean(Fragment, &["#version 130\nflat in int a;", "#extension GL_EXT_gpu_shader4 : require\nflat varying int a;"]);
}

#[test]
fn qualifiers_have_an_order_before_420() {
    only("qualifier-order", Vertex, &["#version 130\nout centroid vec4 a;", "#version 130\nout flat int a;"]);
    only(
        "qualifier-order",
        Vertex,
        &["#version 100\nhighp varying vec4 a;", "#version 120\nvarying invariant vec4 a;"],
    );
    clean(
        Vertex,
        &[
            "#version 130\ninvariant flat out int a;",
            "#version 420\nout flat int a;",
            "#version 120\ninvariant varying vec4 a;",
        ],
    );
    only(
        "qualifier-conflict",
        Vertex,
        &["uniform varying vec4 a;", "uniform uniform vec4 a;", "#version 130\nflat smooth out vec4 a;"],
    );
    only(
        "qualifier-not-allowed",
        Fragment,
        &["void main() { uniform float a; }", "#version 120\ninvariant uniform float a;", "inout float a;"],
    );
}

#[test]
fn invariance_precedes_uses() {
    only("used-before", Vertex, &["#version 120\nvoid main() { gl_Position = vec4(1.0); } invariant gl_Position;"]);
    clean(
        Vertex,
        &[
            "#version 120\ninvariant gl_Position; void main() { gl_Position = vec4(1.0); }",
            "#version 120\nvarying vec4 a; invariant a;",
        ],
    );
    only(
        "qualifier-not-allowed",
        Vertex,
        &["#version 120\nuniform vec4 a; invariant a;", "#version 120\nattribute vec4 a; invariant a;"],
    );
    only("undeclared", Vertex, &["#version 120\ninvariant a;"]);
}

#[test]
fn precise_qualifies_variables_of_its_scope() {
    clean(
        Vertex,
        &[
            "#version 400\nuniform float x; precise x; void main() { float y = 1.0; precise y; gl_Position = vec4(x + y); }",
        ],
    );
    only(
        "qualifier-not-allowed",
        Vertex,
        &["#version 400\nfloat x; void main() { precise x; gl_Position = vec4(x); }"],
    );
}

#[test]
fn locations_need_their_extensions() {
    let unit = |extension: &str, text: &str| format!("#version 120\n#extension GL_ARB_{extension} : require\n{text}");
    let explicit = |text: &str| unit("explicit_attrib_location", text);
    clean(Vertex, &[&explicit("layout(location = 1) in vec4 a;")]);
    clean(Fragment, &[&explicit("layout(location = 1, index = 1) out vec4 a;")]);
    clean(Fragment, &[&unit("separate_shader_objects", "layout(location = 1) in vec4 a;")]);
    only(
        "needs-version",
        Fragment,
        &[&explicit("layout(location = 1) in vec4 a;"), &explicit("layout(location = 2 - 1) out vec4 a;")],
    );
    only(
        "layout",
        Vertex,
        &[&explicit("layout(location = 1) attribute vec4 a;"), &explicit("layout(location = 1) float a;")],
    );
    only("layout", Fragment, &[&explicit("layout(index = 0) out vec4 a;"), &explicit("layout(foo) out vec4 a;")]);
    only("layout-value", Fragment, &[&explicit("layout(location = 0, index = 2) out vec4 a;")]);
}

#[test]
fn variables_of_the_language_are_redeclared() {
    clean(Fragment, &["varying vec4 gl_TexCoord[2]; uniform int i; void main() { gl_FragColor = gl_TexCoord[i]; }"]);
    only("redeclared", Fragment, &["vec4 gl_TexCoord[2];", "varying vec4 gl_ModelViewMatrix;"]);
    only("qualifier-not-allowed", Fragment, &["uniform vec4 gl_TexCoord[2];"]);
    only("wrong-type", Fragment, &["varying vec3 gl_TexCoord[2];"]);
    only("glsl-limit", Fragment, &["varying vec4 gl_TexCoord[9];"]);
    only("index-range", Fragment, &["void main() { gl_FragColor = gl_TexCoord[gl_MaxTextureCoords]; }"]);
    only("unsized-array", Fragment, &["uniform int i; void main() { gl_FragColor = gl_TexCoord[i]; }"]);
    // One variable, before and after.
    only(
        "index-range",
        Fragment,
        &["vec4 f() { return gl_TexCoord[1]; } varying vec4 gl_TexCoord[2]; void main() { gl_FragColor = \
             gl_TexCoord[2]; }"],
    );
    let coordinate = |text: &str| format!("#extension GL_ARB_fragment_coord_conventions : require\n{text}");
    clean(Fragment, &[&coordinate("layout(origin_upper_left, pixel_center_integer) in vec4 gl_FragCoord;")]);
    only(
        "layout",
        Fragment,
        &[
            &coordinate("layout(origin_upper_left) uniform vec4 a;"),
            &coordinate("layout(origin_upper_left) in bool gl_FrontFacing;"),
        ],
    );
    only("used-before", Fragment, &[&coordinate("vec2 a = gl_FragCoord.xy; in vec4 gl_FragCoord;")]);
}

#[test]
fn values_give_lengths_of_inner_dimensions() {
    clean(
        Fragment,
        &[
            "#version 430\nvoid main() { int a[][] = int[][](int[](1, 2), int[](3, 4)); int b = a[1][a.length() - 1]; }",
            "#version 430\nvoid main() { float[] a[2] = float[][](float[2](1.0, 2.0), float[](3.0, 4.0)); a[0][1]; }",
            "#version 430\nconst vec2[][][] c = { { { vec2(1.0) } }, { { vec2(2.0) } } }; vec2 d = c[1][0][0];",
            "#version 310 es\nvoid main() { highp int a[2][1]; a = int[][](int[](1), int[](2)); }",
        ],
    );
    only(
        "unsized-array",
        Fragment,
        &[
            "#version 430\nvoid main() { int a[][]; }",
            "#version 430\nvoid main() { int[][] a = int[][](int[](1)), b; }",
            "#version 430\nvoid f(int a[2][]) { }",
        ],
    );
    only("wrong-type", Fragment, &["#version 430\nvoid main() { int a[][] = int[][](int[](1, 2), int[](3)); }"]);
}

#[test]
fn arrays_get_a_length() {
    clean(Fragment, &["uniform float a[]; void main() { float b = a[3]; }", "uniform float a[]; uniform float a[4];"]);
    only("index-range", Fragment, &["uniform float a[]; void f() { float b = a[3]; } uniform float a[2];"]);
    only("redeclared", Fragment, &["uniform float a[2]; uniform float a[3];", "uniform float a[]; uniform int a[3];"]);
    only("array-length", Fragment, &["float a[0];", "float a[-1];", "float a[1.0];"]);
    only("not-in-version", Fragment, &["#version 420\nfloat a[2][2];"]);
    clean(Fragment, &["#version 430\nfloat a[2][3], b[2] = float[2](1.0, 2.0); float[3] c[2] = a;"]);
    only("unsized-array", Fragment, &["#version 430\nuniform float a[2][];", "#version 100\nuniform lowp float a[];"]);
}

#[test]
fn es_types_need_precisions() {
    only(
        "missing-precision",
        Fragment,
        &["#version 100\nuniform float a;", "#version 100\nuniform vec2 a;", "#version 100\nvoid f(float a) { }"],
    );
    clean(
        Fragment,
        &[
            "#version 100\nuniform lowp float a;",
            "#version 100\nprecision lowp float; uniform vec2 a;",
            "#version 100\nuniform int a;",
        ],
    );
    clean(Vertex, &["#version 100\nuniform float a;"]);
    only("missing-precision", Fragment, &["#version 100\nvoid f() { precision lowp float; float a; } float b;"]);
    only(
        "precision-not-allowed",
        Fragment,
        &["#version 100\nvoid f() { lowp bool a; }", "#version 100\nlowp struct T { lowp float a; };"],
    );
    only("type-not-allowed", Fragment, &["#version 100\nprecision lowp vec2;", "#version 100\nprecision lowp bool;"]);
}

#[test]
fn empty_declarations_are_warnings() {
    only("empty-declaration", Fragment, &["float;", "uniform float;"]);
    clean(Fragment, &["struct T { float a; };"]);
}

#[test]
fn names_of_layouts_have_a_case_in_es_only() {
    clean(Fragment, &["#version 150\nlayout(ORIGIN_upper_LEFT) in vec4 gl_FragCoord;"]);
    clean(
        Vertex,
        &["#version 330\nlayout(Location = 1) in vec4 a;", "#version 300 es\nlayout(location = 1) in vec4 a;"],
    );
    only("layout", Vertex, &["#version 300 es\nlayout(Location = 1) in vec4 a;"]);
}

#[test]
fn structs_between_stages_are_flat_in_es() {
    let unit = |version: &str, text: &str| {
        format!(
            "#version {version}\nprecision highp float; struct S {{ float a; }}; struct T {{ S s; }}; struct U {{ float a[2]; }}; {text}"
        )
    };
    for (stage, qualifier) in [(Vertex, "out"), (Fragment, "in")] {
        clean(stage, &[&unit("300 es", &format!("{qualifier} S s; {qualifier} float a[2];"))]);
        for ty in ["T t", "U u", "S s[2]"] {
            let text = format!("{qualifier} {ty};");
            only("type-not-allowed", stage, &[&unit("300 es", &text)]);
            clean(stage, &[&unit("150", &text)]);
        }
    }
}

#[test]
fn declarations_without_names_are_checked() {
    only("unsized-array", Fragment, &["#version 300 es\nvoid main() { int[]; }"]);
    only("empty-declaration", Fragment, &["#version 300 es\nvoid main() { int[2]; }", "#version 130\nint[];"]);
}

#[test]
fn outputs_of_fragment_shaders_are_not_invariant_in_es() {
    let unit = |version: &str| format!("#version {version}\n#pragma STDGL invariant(all)\nvoid main() {{ }}");
    only("wrong-stage", Fragment, &[&unit("300 es")]);
    clean(Fragment, &[&unit("100"), &unit("330")]);
    clean(Vertex, &[&unit("300 es")]);
}

#[test]
fn outputs_of_fragment_shaders_are_vectors() {
    clean(Fragment, &["#version 130\nout ivec4 a; out uint b; out vec2 c[2];"]);
    only("type-not-allowed", Fragment, &["#version 130\nout mat4 a;", "#version 330\nout mat2 a[2];"]);
}
