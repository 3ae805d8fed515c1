//! Trees of declarations.

use pretty_assertions::assert_eq;

use super::{findings, tree};

/// The tree of a text in GLSL 4.60.
#[track_caller]
fn tree_460(text: &str) -> String {
    tree(&format!("#version 460\n{text}"))
}

#[test]
fn variables() {
    assert_eq!(tree_460("float a;"), "(var float a)");
    assert_eq!(tree_460("uniform vec4 a[2], b = vec4(1.0);"), "(var uniform vec4 a[2] b=vec4:(1.0))");
    assert_eq!(tree_460("const float[2][3] a[n + 1][] = b;"), "(var const float[2][3] a[(+ n 1)][]=b)");
    assert_eq!(tree_460("flat centroid in highp ivec2 a;"), "(var flat centroid in highp ivec2 a)");
    assert_eq!(tree_460("float;"), "(var float)");
    assert_eq!(tree_460("float, a, b;"), "(var float a b)");
    assert_eq!(tree_460("coherent volatile restrict readonly writeonly uniform image2D a;"), {
        "(var coherent volatile restrict readonly writeonly uniform image2D a)"
    });
    assert_eq!(tree("attribute vec4 a; varying vec2 b; uniform sampler2D c;"), {
        "(var attribute vec4 a)\n(var varying vec2 b)\n(var uniform sampler2D c)"
    });
}

#[test]
fn layouts() {
    assert_eq!(tree_460("layout(location = 1 + 2, component=0, shared, packed) in vec2 a;"), {
        "(var layout(location=(+ 1 2) component=0 shared packed) in vec2 a)"
    });
    assert_eq!(tree_460("layout(early_fragment_tests) in; layout(std140) layout(row_major) uniform;"), {
        "(qualify layout(early_fragment_tests) in)\n(qualify layout(std140) layout(row_major) uniform)"
    });
    assert_eq!(tree_460("in layout(location = 2) vec4 a;"), "(var in layout(location=2) vec4 a)");
}

#[test]
fn redeclarations() {
    assert_eq!(tree_460("invariant gl_Position;"), "(qualify invariant gl_Position)");
    assert_eq!(tree_460("precise a, b;"), "(qualify precise a b)");
    assert_eq!(tree("#version 120\ninvariant varying vec3 a;"), "(var invariant varying vec3 a)");
    assert_eq!(tree_460("struct S { int a; }; uniform S;"), "(var (struct S {int a}))\n(var uniform S)");
}

#[test]
fn structs() {
    assert_eq!(tree_460("struct S { float a, b[2]; highp vec2[3] c; } d, e[2];"), {
        "(var (struct S {float a b[2]} {highp vec2[3] c}) d e[2])"
    });
    assert_eq!(tree_460("struct { float a; } b;"), "(var (struct - {float a}) b)");
    assert_eq!(tree_460("struct S { struct T { float a; } b; T c; };"), {
        "(var (struct S {(struct T {float a}) b} {T c}))"
    });
    assert_eq!(tree_460("uniform struct S { float a; } b;"), "(var uniform (struct S {float a}) b)");
}

#[test]
fn blocks() {
    assert_eq!(tree_460("uniform B { float a; };"), "(block uniform B {float a})");
    assert_eq!(tree_460("layout(std430, binding = 1) readonly buffer B { layout(offset = 4) vec4 a[]; } b[2];"), {
        "(block layout(std430 binding=1) readonly buffer B {layout(offset=4) vec4 a[]} b[2])"
    });
    assert_eq!(tree_460("in gl_PerVertex { vec4 gl_Position; float gl_ClipDistance[]; } gl_in[];"), {
        "(block in gl_PerVertex {vec4 gl_Position} {float gl_ClipDistance[]} gl_in[])"
    });
    assert_eq!(tree_460("patch out B { float a; };"), "(block patch out B {float a})");
    assert_eq!(tree_460("out B { flat int a; } b[2][3];"), "(block out B {flat int a} b[2][3])");
}

#[test]
fn precisions() {
    assert_eq!(tree("#version 100\nprecision mediump float; precision lowp sampler2D;"), {
        "(precision mediump float)\n(precision lowp sampler2D)"
    });
}

#[test]
fn functions() {
    assert_eq!(tree_460("void main() { }"), "(fn void main())");
    assert_eq!(tree_460("void f(void);"), "(proto void f())");
    assert_eq!(tree_460("highp vec4[2] f(const in float a, out vec2 b[3], inout S, int[2] c);"), {
        "(proto highp vec4[2] f(const in float a, out vec2 b[3], inout S, int[2] c))"
    });
    assert_eq!(tree_460("S f(S a) { return a; }"), "(fn S f(S a) (return a))");
    assert_eq!(tree_460("struct S { int a; } f();"), "(proto (struct S {int a}) f())");
    assert_eq!(tree_460("void f(float, float[2]) { }"), "(fn void f(float, float[2]))");
}

#[test]
fn subroutines() {
    assert_eq!(tree_460("subroutine vec4 T(vec4);"), "(proto subroutine vec4 T(vec4))");
    assert_eq!(tree_460("subroutine(T, U) vec4 f(vec4 a) { return a; }"), {
        "(fn subroutine(T U) vec4 f(vec4 a) (return a))"
    });
    assert_eq!(tree_460("layout(index = 1) subroutine(T) void f() { }"), {
        "(fn layout(index=1) subroutine(T) void f())"
    });
    assert_eq!(tree_460("subroutine uniform T a[2];"), "(var subroutine uniform T a[2])");
}

#[test]
fn semicolons_at_global_scope() {
    assert_eq!(findings("void f() { };\n"), ["1:13 G0290 `;` at global scope"]);
    assert_eq!(tree_460("; void f() { };"), "(fn void f())");
}

#[test]
fn unsigned_int_by_extension() {
    let text = "#extension GL_EXT_gpu_shader4 : enable\nunsigned int a = unsigned int(1u);";
    assert_eq!(tree(text), "(var uint a=uint:(1u))");
    let text = "#version 120\n#extension GL_EXT_gpu_shader4 : enable\nvoid f() { unsigned int[2](a, b); }";
    assert_eq!(tree(text), "(fn void f() uint[2]:(a b))");
}

#[test]
fn words_of_later_versions_are_names() {
    let text = "uniform float sample; struct buffer { float patch; }; buffer shared;\n\
                float flat(float smooth) { float precise = smooth; return precise * sample; }\n\
                void main() { float uint = flat(shared.patch); uint += 1.0; buffer texture; layout(uint); }";
    assert_eq!(tree(text), {
        "(var uniform float sample)\n(var (struct buffer {float patch}))\n(var buffer shared)\n\
         (fn float flat(float smooth) (var float precise=smooth) (return (* precise sample)))\n\
         (fn void main() (var float uint=flat(shared.patch)) (+= uint 1.0) (var buffer texture) layout(uint))"
    });
}
