//! Images, atomic counters and other memory outside of the shader.

use super::*;

/// The text with a head of version 4.30.
fn unit(text: &str) -> String {
    format!("#version 430\n{text}")
}

#[track_caller]
fn clean_units(texts: &[&str]) {
    let texts: Vec<String> = texts.iter().map(|text| unit(text)).collect();
    clean(Fragment, &texts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[track_caller]
fn only_in_units(code: &str, texts: &[&str]) {
    let texts: Vec<String> = texts.iter().map(|text| unit(text)).collect();
    only(code, Fragment, &texts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn images_have_formats() {
    clean_units(&[
        "layout(rgba8) uniform image2D a; layout(r32i) uniform iimage3D b[2]; writeonly uniform uimageCube c;",
        "layout(binding = 2, r32ui) coherent volatile restrict readonly uniform uimageBuffer a;",
        "void f(image2D a, readonly writeonly uimage2DMS b) { }",
    ]);
    only_in_units(
        "image-format",
        &["uniform image2D a;", "readonly uniform image2D a;", "layout(r32i) uniform image2D a;"],
    );
    only_in_units("layout", &["layout(binding = 1) uniform float a;", "layout(binding = 1) uniform;"]);
    only_in_units("layout", &["layout(r32f) uniform float a;", "void f(layout(r32f) image2D a) { }"]);
    only_in_units("type-not-allowed", &["image2D a;", "in image2D a;", "image2D f();", "void f() { image2D a; }"]);
    only_in_units("qualifier-not-allowed", &["readonly uniform sampler2D a;", "void f(coherent float a) { }"]);
    only_in_units("opaque-use", &["void f(out image2D a) { }", "void f(image2D a, image2D b) { a = b; }"]);
    let formatted = "#version 430\n#extension GL_EXT_shader_image_load_formatted : require\nuniform image2D a;";
    let sized =
        "#version 150\n#extension GL_EXT_shader_image_load_store : require\nlayout(size1x32) uniform iimage2D a;";
    clean(Fragment, &[formatted, sized]);
    let es = |text: &str| format!("#version 310 es\nprecision highp image2D;\n{text}");
    clean(Fragment, &[&es("layout(r32f) uniform image2D a;"), &es("layout(rgba8) readonly uniform image2D a;")]);
    only("image-format", Fragment, &[&es("writeonly uniform image2D a;"), &es("layout(rgba8) uniform image2D a;")]);
    only("needs-version", Fragment, &[&es("layout(r8) readonly uniform image2D a;")]);
    only("missing-precision", Fragment, &["#version 310 es\nlayout(r32f) uniform image2D a;"]);
}

#[test]
fn images_are_used_by_their_qualifiers() {
    let images = "layout(rgba8) readonly uniform image2D r; writeonly uniform image2D w; layout(r32ui) uniform uimage2D \
                  u; layout(rgba8ui) uniform uimage2D many; layout(r32ui) coherent uniform uimage2D c;";
    let body = |text: &str| {
        format!("{images} void f(uimage2D a) {{ }} void g(coherent uimage2D a) {{ }} void main() {{ {text} }}")
    };
    let clean_body = |text: &str| clean_units(&[&body(text)]);
    clean_body("vec4 a = imageLoad(r, ivec2(0)); imageStore(w, ivec2(1), a); ivec2 b = imageSize(w) + imageSize(r);");
    clean_body(
        "uint a = imageAtomicAdd(u, ivec2(0), 1u) + imageAtomicCompSwap(u, ivec2(0), 1u, 2u); f(u); g(u); g(c);",
    );
    let wrong = [
        ("memory-qualifier", "imageStore(r, ivec2(0), vec4(0.0));"),
        ("memory-qualifier", "vec4 a = imageLoad(w, ivec2(0));"),
        ("memory-qualifier", "f(c);"),
        ("image-format", "uint a = imageAtomicAdd(many, ivec2(0), 1u);"),
        ("no-overload", "uint a = imageAtomicAdd(r, ivec2(0), 1u);"),
        ("no-overload", "vec4 a = imageLoad(r, ivec3(0));"),
    ];
    for (code, text) in wrong {
        only_in_units(code, &[&body(text)]);
    }
    only(
        "needs-version",
        Fragment,
        &["#version 310 es\nprecision highp float; precision highp uimage2D; layout(r32ui) uniform uimage2D a[2]; \
           uniform int n; void main() { uint b = imageLoad(a[n], ivec2(0)).x; }"],
    );
}

#[test]
fn counters_have_places() {
    clean_units(&[
        "layout(binding = 0) uniform atomic_uint a, b[2]; layout(binding = 0, offset = 12) uniform atomic_uint c;",
        "layout(binding = 1, offset = 8) uniform atomic_uint; layout(binding = 1) uniform atomic_uint a; \
         layout(binding = 1, offset = 0) uniform atomic_uint b[2];",
        "layout(binding = 2, offset = 4) uniform atomic_uint a, b; layout(binding = 2) uniform atomic_uint c;",
        "layout(binding = 0) uniform atomic_uint a[3]; uint f(atomic_uint a) { return atomicCounter(a); } uniform int \
         n; void main() { uint b = f(a[n]) + atomicCounterIncrement(a[1]); }",
    ]);
    only_in_units(
        "counter-overlap",
        &["layout(binding = 0) uniform atomic_uint a[2]; layout(binding = 0, offset = 4) uniform atomic_uint b;"],
    );
    only_in_units(
        "layout-value",
        &["uniform atomic_uint a;", "layout(binding = 0, offset = 2) uniform atomic_uint a;"],
    );
    only_in_units("unsized-array", &["layout(binding = 0) uniform atomic_uint a[];"]);
    let located = "layout(binding = 0, location = 1) uniform atomic_uint a;";
    clean(Fragment, &[&format!("#version 430\n{located}")]);
    only("layout", Fragment, &[&format!("#version 310 es\n{located}")]);
    only_in_units("type-not-allowed", &["struct S { atomic_uint a; };", "atomic_uint a;"]);
    let atomic = "layout(binding = 0) uniform atomic_uint a; void main() ";
    only_in_units("operands", &[&format!("{atomic} {{ uint b = 1u + a; }}")]);
    only_in_units("needs-version", &[&format!("{atomic} {{ uint b = atomicCounterAdd(a, 1u); }}")]);
    clean(Fragment, &[&format!("#version 460\n{atomic} {{ uint b = atomicCounterAdd(a, 1u); }}")]);
}

#[test]
fn atomic_operations_need_shared_memory() {
    only_in_units(
        "not-shared-memory",
        &["void main() { uint a = 0u; uint b = atomicAdd(a, 1u); }", "uint a; void f() { atomicMax(a, 1u); }"],
    );
    only_in_units("not-writable", &["uniform uint a; void f() { atomicMax(a, 1u); }"]);
}

#[test]
fn early_tests_are_a_layout_of_fragment_inputs() {
    clean_units(&["layout(early_fragment_tests) in;"]);
    only_in_units("layout", &["layout(early_fragment_tests) in vec4 a;", "layout(early_fragment_tests) out;"]);
    only("layout", Vertex, &["#version 430\nlayout(early_fragment_tests) in;"]);
}

#[test]
fn barriers_of_patches_are_in_main() {
    use ShaderStage::TessCtrl;
    let unit = |text: &str| format!("#version 400\nuniform bool b; {text}");
    clean(
        TessCtrl,
        &[
            &unit("void main() { barrier(); if (b) return; }"),
            &unit("void barrier(int a) { } void f() { barrier(1); }"),
        ],
    );
    let wrong = [
        "void f() { barrier(); }",
        "void main() { if (b) barrier(); }",
        "void main() { while (b) barrier(); }",
        "void main() { switch (0) { default: barrier(); } }",
        "void main() { if (b) return; barrier(); }",
    ];
    for text in wrong {
        only("barrier-place", TessCtrl, &[&unit(text)]);
    }
    clean(ShaderStage::Compute, &["#version 430\nuniform bool b; void f() { if (b) barrier(); }"]);
}
