//! Extensions: their names, functions, layouts and rules.

use super::*;
use ShaderStage::{Compute, Geometry};

#[test]
fn extensions_without_an_implementation_are_unknown() {
    for name in ["GL_ARB_bindless_texture", "GL_ARB_geometry_shader4", "GL_NV_shader_atomic_int64"] {
        only("required-extension", Fragment, &[&format!("#extension {name} : require\n")]);
    }
}

#[test]
fn subgroups_are_read() {
    let unit = |text: &str| {
        format!(
            "#version 150\n#extension GL_ARB_shader_ballot : require\n#extension GL_ARB_gpu_shader_int64 : require\n\
             out vec4 c; void main() {{ {text} }}"
        )
    };
    clean(
        Fragment,
        &[
            &unit("uint64_t a = ballotARB(true) & gl_SubGroupEqMaskARB; c = vec4(float(a));"),
            &unit("c = readFirstInvocationARB(c) + vec4(readInvocationARB(ivec4(1), 0u));"),
            &unit("uint a = readInvocationARB(gl_SubGroupSizeARB, gl_SubGroupInvocationARB); c = vec4(float(a));"),
        ],
    );
    only("no-overload", Fragment, &[&unit("bool a = readFirstInvocationARB(true);")]);
    only("needs-version", Fragment, &["#version 150\nvoid main() { uvec2 a = clock2x32ARB(); }"]);
}

#[test]
fn integers_have_more_functions() {
    let unit = |extensions: &str, text: &str| {
        let lines: String = extensions.split(' ').map(|name| format!("#extension GL_{name} : require\n")).collect();
        format!("#version 330\n{lines}void main() {{ {text} }}")
    };
    let functions = "INTEL_shader_integer_functions2";
    let wide = format!("{functions} ARB_gpu_shader_int64");
    clean(
        Fragment,
        &[
            &unit(functions, "uvec2 a = absoluteDifference(ivec2(1), ivec2(2)) + countLeadingZeros(uvec2(1u));"),
            &unit(functions, "int a = addSaturate(1, 2) + subtractSaturate(1, 2) + multiply32x16(3, 4);"),
            &unit(&wide, "uint64_t a = absoluteDifference(1l, 2l) + average(1ul, 2ul) + averageRounded(1ul, 2ul);"),
        ],
    );
    only("no-overload", Fragment, &[&unit(functions, "uint a = addSaturate(1.0, 2.0);")]);
}

#[test]
fn interlocks_are_in_main_once_and_in_order() {
    let unit = |text: &str| {
        format!("#version 420\n#extension GL_ARB_fragment_shader_interlock : require\nuniform bool b; {text}")
    };
    let (begin, end) = ("beginInvocationInterlockARB();", "endInvocationInterlockARB();");
    clean(
        Fragment,
        &[
            &unit(&format!("layout(sample_interlock_ordered) in; void main() {{ {begin} {end} if (b) return; }}")),
            &unit(&format!("void main() {{ if (b) discard; {begin} {end} }}")),
            "#version 310 es\n#extension GL_NV_fragment_shader_interlock : require\nvoid main() { \
             beginInvocationInterlockNV(); endInvocationInterlockNV(); }",
        ],
    );
    for text in [
        format!("void f() {{ {begin} }}"),
        format!("void main() {{ if (b) {{ {begin} }} }}"),
        format!("void main() {{ do {{ {begin} }} while (b); }}"),
        format!("void main() {{ if (b) return; {begin} }}"),
    ] {
        only("barrier-place", Fragment, &[&unit(&text)]);
    }
    for text in [end.to_owned(), format!("{begin} {begin}"), format!("{begin} {end} {end}")] {
        only("interlock-order", Fragment, &[&unit(&format!("void main() {{ {text} }}"))]);
    }
    only(
        "qualifier-conflict",
        Fragment,
        &[&unit(
            "layout(pixel_interlock_ordered, sample_interlock_ordered) in;\n\
                                                  layout(pixel_interlock_ordered) in;",
        )],
    );
}

#[test]
fn compute_shaders_have_derivatives_in_groups() {
    let unit = |text: &str| {
        format!(
            "#version 450\n#extension GL_NV_compute_shader_derivatives : require\nuniform sampler2D s;\n\
             shared vec4 a; {text}"
        )
    };
    clean(
        Compute,
        &[
            &unit("void main() { a = dFdx(a) + fwidthFine(a) + texture(s, a.xy, 1.0); }"),
            &unit("layout(local_size_x = 2, local_size_y = 4, derivative_group_quadsNV) in; void main() { }"),
            &unit(
                "layout(local_size_x = 4, derivative_group_linearNV) in; void main() { a.xy = textureQueryLod(s, a.xy); }",
            ),
        ],
    );
    only(
        "layout-value",
        Compute,
        &[
            &unit("layout(local_size_x = 3, local_size_y = 2, derivative_group_quadsNV) in; void main() { }"),
            &unit("layout(local_size_x = 3, local_size_y = 3, derivative_group_linearNV) in; void main() { }"),
        ],
    );
    only(
        "qualifier-conflict",
        Compute,
        &[&unit(
            "layout(local_size_x = 4) in; layout(derivative_group_quadsNV) in; layout(derivative_group_linearNV) in;",
        )],
    );
    only("wrong-stage", Compute, &["#version 450\nshared vec4 a; void main() { a = dFdx(a); }"]);
}

#[test]
fn the_framebuffer_is_read() {
    let unit = |version: &str, extension: &str, text: &str| {
        let suffix = format!("GL_EXT_shader_framebuffer_fetch{extension}");
        format!("#version {version}\n#extension {suffix} : require\nprecision mediump float;\n{text}")
    };
    clean(
        Fragment,
        &[
            &unit("300 es", "", "layout(location = 0) inout vec4 c; void main() { c *= 0.5; }"),
            &unit("300 es", "_non_coherent", "layout(noncoherent) inout vec4 c; void main() { c *= 0.5; }"),
            &unit("100", "", "void main() { gl_FragColor = gl_LastFragData[0]; }"),
            "#version 120\n#extension GL_EXT_shader_framebuffer_fetch : require\nvec4 gl_LastFragData[2];\n\
             void main() { gl_FragData[0] = gl_LastFragData[1]; }",
        ],
    );
    only(
        "needs-version",
        Fragment,
        &[
            &unit("300 es", "_non_coherent", "inout vec4 c; void main() { c *= 0.5; }"),
            &unit("300 es", "", "out vec4 c; void main() { c = gl_LastFragData[0]; }"),
        ],
    );
    only("not-writable", Fragment, &[&unit("100", "", "void main() { gl_LastFragData[0] = vec4(0.0); }")]);
    only(
        "layout",
        Fragment,
        &[&unit("300 es", "_non_coherent", "layout(noncoherent) out vec4 c; void main() { c = vec4(0.0); }")],
    );
    only("qualifier-not-allowed", Fragment, &["#version 330\ninout vec4 c; void main() { }"]);
}

#[test]
fn two_sources_blend_in_the_first_version_of_es() {
    let lines = "#extension GL_EXT_blend_func_extended : require\nprecision mediump float;\n";
    clean(
        Fragment,
        &[
            &format!(
                "#version 100\n{lines}void main() {{ gl_FragColor = vec4(1.0); gl_SecondaryFragColorEXT = vec4(0.5); }}"
            ),
            &format!(
                "#version 100\n{lines}void main() {{ gl_FragData[0] = vec4(1.0); gl_SecondaryFragDataEXT[0] = vec4(0.5); }}"
            ),
            &format!(
                "#version 300 es\n{lines}layout(location = 0, index = 1) out vec4 c; void main() {{ c = vec4(1.0); }}"
            ),
        ],
    );
}

#[test]
fn layers_and_viewports_are_outputs_of_vertex_stages() {
    let unit = |text: &str| format!("#version 150\n#extension GL_NV_viewport_array2 : require\n{text}");
    let layer = "layout(viewport_relative) out int gl_Layer; void main() { gl_Layer = 1; }";
    clean(Vertex, &[&unit(layer), &unit("void main() { gl_ViewportMask[0] = 3; gl_ViewportIndex = 1; }")]);
    clean(Geometry, &[&unit(layer)]);
    clean(ShaderStage::TessCtrl, &[&unit(layer)]);
    only("layout", Vertex, &[&unit("layout(viewport_relative) out int layer; void main() { layer = 1; }")]);
    only("redeclared", Geometry, &["#version 150\nout int gl_Layer; void main() { gl_Layer = 1; }"]);
}

#[test]
fn memory_that_is_only_written_is_not_read() {
    let unit = |members: &str, text: &str| {
        format!("#version 430\nbuffer B {{ {members} }} b; float f(float a) {{ return a; }} void main() {{ {text} }}")
    };
    let member = "writeonly float a; writeonly vec4 v; writeonly float list[];";
    clean(
        Fragment,
        &[
            &unit(member, "b.a = 1.0; b.v.xy = vec2(b.list.length()); b.list[2] = 1.0;"),
            &unit("float a;", "b.a = f(b.a);"),
            &unit("writeonly uint a;", "uint c; uint s = uaddCarry(1u, 2u, b.a);"),
        ],
    );
    for text in
        ["float c = b.a;", "b.a += 1.0;", "b.a++;", "f(b.list[1]);", "float c = b.v.x;", "if (b.a > 0.0) discard;"]
    {
        only("memory-qualifier", Fragment, &[&unit(member, text)]);
    }
    only(
        "memory-qualifier",
        Fragment,
        &["#version 430\nwriteonly buffer B { float a; }; void main() { float b = a; }"],
    );
}

#[test]
fn formats_are_layouts_of_images() {
    only("layout", Fragment, &["#version 430\nuniform B { layout(r32f) int x; };"]);
}
