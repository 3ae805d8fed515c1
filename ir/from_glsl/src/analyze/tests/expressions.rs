//! Conversions, operators, constructors, swizzles, indices, targets, constant expressions.

use super::*;

#[test]
fn integers_convert_to_floats_from_120_on() {
    only_in_bodies("wrong-type", 110, &["float a = 1;", "vec2 a; a = ivec2(1, 2);"]);
    only_in_bodies("wrong-type", 100, &["float a = 1;"]);
    only_in_bodies("operands", 110, &["float a = 2.0 * 3;"]);
    clean_bodies(
        120,
        &["float a = 1;", "vec2 a = ivec2(1, 2); a *= 2;", "float a = 2.0 * 3;", "float a = u < 1 ? 1 : 2.0;"],
    );
    only_in_bodies("wrong-type", 120, &["int a = 1.0;", "bool a = 1;", "float a = true;", "vec2 a = vec3(1.0);"]);
    only_in_bodies("operands", 120, &["int a = 1; a *= 2.0;"]);
    assert_eq!(
        findings("void main() {\n    float a = 1;\n}\n"),
        ["2:15 G0307 the initialiser has the type int, not float (write `float(...)`; integers convert to floats \
             from #version 120 on)"]
    );
}

#[test]
fn operators_of_integers_name_their_version() {
    for text in ["i % 2", "i & 2", "i | 2", "i ^ 2", "i << 2", "~i"] {
        let found = check_unit(&body(120, &format!("int a = {text};")), Fragment);
        let hints: Vec<_> = found.iter().filter_map(|finding| finding.hint.as_deref()).collect();
        assert!(hints.iter().any(|hint| hint.contains("130")), "{text} {found:?}");
        clean_bodies(130, &[&format!("int a = {text};")]);
    }
}

#[test]
fn operands_have_numbers_of_equal_shape() {
    only_in_bodies("operands", 120, &["vec4 a = v + vec3(1.0);", "mat4 a = m + mat3(1.0);", "vec3 a = m * vec3(1.0);"]);
    only_in_bodies("operands", 120, &["bool a = v < v;", "bool a = true < false;", "bool a = true + false;"]);
    only_in_bodies(
        "operands",
        120,
        &["bool a = 1 && true;", "bool a = bvec2(true) || true;", "bool a = vec2(1.0) == vec3(1.0);"],
    );
    only_in_bodies(
        "operand",
        120,
        &["float a = -true;", "bool a = !u;", "bool a = !bvec2(true);", "bool a = true; a++;"],
    );
    clean_bodies(120, &["mat4x3 a = mat4x3(1.0); vec3 b = a * v; vec4 c = b * a; mat4 d = transpose(a) * a;"]);
}

#[test]
fn constructors_use_all_arguments() {
    only_in_bodies("unused-argument", 110, &["vec2 a = vec2(1.0, 2.0, 3.0);", "vec3 a = vec3(v, 1.0);"]);
    only_in_bodies(
        "too-few-components",
        110,
        &["vec3 a = vec3(1.0, 2.0);", "mat2 a = mat2(1.0, 2.0);", "vec3 a = vec3(vec2(1.0));"],
    );
    clean_bodies(
        110,
        &["vec2 a = vec2(vec3(1.0));", "vec3 a = vec3(1.0, v);", "mat2 a = mat2(v);", "vec4 a = vec4(u, v);"],
    );
    only_in_bodies("needs-version", 110, &["mat3 a = mat3(m);"]);
    clean_bodies(120, &["mat3 a = mat3(m);"]);
    clean_bodies(100, &["mat3 a = mat3(m);"]);
    only_in_bodies(
        "argument-count",
        120,
        &["mat3 a = mat3(m, 1.0);", "float a[2] = float[2](1.0);", "float a[] = float[]();"],
    );
    only_in_bodies(
        "type-not-allowed",
        120,
        &["float a = float(s);", "struct T { float f; }; T b = T(1.0); float a = float(b);"],
    );
    only_in_bodies("argument-count", 120, &["struct T { float f; }; T a = T(1.0, 2.0);"]);
    only_in_bodies("wrong-type", 110, &["struct T { float f; }; T a = T(1);"]);
}

#[test]
fn swizzles_are_of_one_set_and_within_the_vector() {
    only_in_bodies(
        "bad-swizzle",
        110,
        &["vec2 a = v.xg;", "float a = vec2(1.0).z;", "vec4 a = v.xyzwx;", "float a = v.m;"],
    );
    only_in_bodies("needs-version", 110, &["vec4 a = u.xxxx;"]);
    clean_bodies(420, &["vec4 a = u.xxxx;"]);
    only_in_bodies("no-field", 120, &["float a = m.x;", "struct T { float f; } t = T(1.0); float a = t.g;"]);
}

#[test]
fn targets_are_variables() {
    only_in_bodies(
        "not-writable",
        120,
        &[
            "vec4 a = v; a.xx = vec2(1.0);",
            "u = 1.0;",
            "u++;",
            "1.0 = 2.0;",
            "const float a = 1.0; a = 2.0;",
            "float a = 1.0; (a + 1.0) = 2.0;",
            "float a = 1.0, b = 2.0; (u > 0.0 ? a : b) = 1.0;",
            "vec4(1.0).x = 2.0;",
            "gl_FragCoord = v;",
            "float a = 1.0; (a = 2.0) = 3.0;",
            "float a = 1.0; ++a++;",
            "sin(1.0) = 1.0;",
            "m[0][1] = 1.0;",
        ],
    );
    only("not-writable", Vertex, &["attribute vec4 a; void main() { a = vec4(1.0); }"]);
    only("not-writable", Fragment, &["varying vec4 a; void main() { a.x = 1.0; }"]);
    only("not-writable", Fragment, &["void f(out float a) { a = 1.0; } void main() { f(1.0); }"]);
    clean(Vertex, &["varying vec4 a; void main() { a = vec4(1.0); a.yx = a.xy; }"]);
    assert_eq!(
        findings("uniform float u;\nvoid main() {\n    u = 1.0;\n}\n"),
        ["3:5 G0310 `u`, a uniform, cannot be written"]
    );
}

#[test]
fn indices_are_integers_within_the_length() {
    only_in_bodies(
        "index-range",
        110,
        &["float a = v[4];", "float a = v[-1];", "float a[2]; a[2] = 1.0;", "vec4 a = m[4];"],
    );
    only_in_bodies("wrong-type", 110, &["float a = v[1.0];", "float a = v[true];"]);
    only_in_bodies("not-indexable", 110, &["float a = u[0];"]);
    clean_bodies(110, &["float a = v[i];", "float a = m[i][i];"]);
}

#[test]
fn arrays_are_values_from_120_on() {
    only_in_bodies("needs-version", 110, &["float a[2], b[2]; a[0] = 1.0; a[1] = 1.0; b = a;"]);
    only_in_bodies("needs-version", 110, &["float a[2], b[2]; a[0] = 1.0; b[0] = 1.0; bool c = a == b;"]);
    clean_bodies(120, &["float a[2] = float[2](1.0, 2.0), b[2]; b = a; bool c = a == b; int l = a.length();"]);
    only_in_bodies("unsized-array", 120, &["float a[]; a[1] = 1.0; int l = a.length();", "float a[]; a[i] = 1.0;"]);
    // Structs that contain arrays are copied in all desktop versions.
    clean_bodies(110, &["struct T { float a[2]; }; T a; a.a[0] = 1.0; T b = a;"]);
}

#[test]
fn conditions_are_scalar_booleans() {
    only_in_bodies(
        "wrong-type",
        120,
        &["if (i) {}", "while (u) {}", "if (bvec2(true)) {}", "float a = i ? 1.0 : 2.0;", "for (; i;) {}"],
    );
    only_in_bodies("operands", 120, &["float a = true ? 1.0 : false;"]);
}

#[test]
fn calls_are_constant_from_120_on() {
    only_in_bodies("not-constant", 110, &["const float a = sin(1.0);", "const float a = u;"]);
    clean_bodies(120, &["const float a = sin(1.0); float b[int(abs(-2.0))]; b[1] = a;"]);
    clean_bodies(100, &["const float a = sin(1.0);"]);
    only_in_bodies(
        "not-constant",
        120,
        &["const float a = u;", "float a[i];", "const vec4 a = texture2D(s, vec2(0.0));"],
    );
    clean_bodies(420, &["const float a = u;"]);
    only("not-constant", Fragment, &["#version 120\nuniform float u; uniform float w = u; void main() {}"]);
    only("not-constant", Fragment, &["#version 100\nuniform lowp float u; lowp float w = u; void main() {}"]);
}

#[test]
fn commas_are_constant_in_old_versions() {
    clean_bodies(110, &["float a[(1, 2)]; a[1] = 1.0;"]);
    clean_bodies(100, &["float a[(1, 2)]; a[1] = 1.0;"]);
    clean_bodies(120, &["const int n = (1, 2); float a[n]; a[1] = 1.0;", "float a[int(max(1.0, 2.0))]; a[1] = 1.0;"]);
    let es = "#version 300 es\nprecision mediump float; void main() { const int n = (1, 2); }";
    only("not-constant", Fragment, &[es]);
    // Lengths of arrays exclude them earlier.
    only_in_bodies("not-constant", 120, &["float a[(1, 2)];", "float a[1 + (1, 2)];"]);
    assert_eq!(
        findings("#version 120\nfloat a[2 * (1, 2)];\n"),
        ["2:14 G0311 the length of an array (`,` is not a constant operator) must be constant"]
    );
}

#[test]
fn literals_keep_their_bits() {
    clean_bodies(130, &["int a = 4294967295; uint b = 4294967295u;"]);
    only_in_bodies("integer-too-large", 130, &["int a = 4294967296;"]);
    only_in_bodies("bad-octal", 130, &["int a = 019;"]);
}

#[test]
fn divisions_by_zero_are_warnings() {
    let found = check_unit(&body(120, "const int a = 1 / 0;"), Fragment);
    assert_eq!(
        found.iter().map(|f| (f.code.name, f.is_error())).collect::<Vec<_>>(),
        [("constant-division-by-zero", false)]
    );
}

#[test]
fn samplers_are_no_values() {
    only_in_bodies("opaque-use", 120, &["bool a = s == s;", "vec4 a = texture2D(true ? s : s, vec2(0.0));"]);
    only_in_bodies("type-not-allowed", 120, &["sampler2D a;"]);
    only_in_bodies("operands", 120, &["float a = s + 1.0;"]);
    clean(
        Fragment,
        &["struct T { sampler2D s; float f; }; uniform T t; vec4 f(sampler2D a) { return texture2D(a, vec2(0.0)); }\n\
         void main() { gl_FragColor = f(t.s) * t.f; }"],
    );
}

#[test]
fn indices_of_samplers_are_constant_in_some_versions() {
    let text = |version: &str| {
        format!(
            "#version {version}\nuniform sampler2D s[2]; uniform int i; void main() {{ vec4 a = texture2D(s[i], \
             vec2(0.0)); }}"
        )
    };
    clean(Fragment, &[&text("120"), &text("400 compatibility")]);
    only("needs-version", Fragment, &[&text("130"), &text("330 compatibility")]);
}

#[test]
fn functions_of_floats_convert_integers() {
    clean_bodies(120, &["float a = abs(-3) + min(1, 2.0) + sqrt(4);", "vec2 a = max(ivec2(1, 2), 1);"]);
    // The overloads with integers came with 1.30 and `GL_EXT_gpu_shader4`.
    assert_eq!(
        findings("#version 120\nint a = min(1, 2);\n"),
        ["2:9 G0307 the initialiser has the type float, not int (write `int(...)`)"]
    );
    only_in_bodies("no-overload", 110, &["float a = abs(-3);", "int a = min(1, 2);"]);
    clean_bodies(130, &["int a = min(1, 2) + abs(-3);"]);
    clean(Fragment, &["#extension GL_EXT_gpu_shader4 : require\nvoid main() { int a = min(1, 2); }"]);
}

#[test]
fn integers_of_64_bits_convert_upwards() {
    let unit = |text: &str| {
        format!(
            "#version 400\n#extension GL_ARB_gpu_shader_int64 : require\nuniform int i; uniform uint u; uniform int64_t l; \
             uniform u64vec2 k; void main() {{ {text} }}"
        )
    };
    let clean_units = [
        "int64_t a = i; uint64_t b = u; b = l; double c = l; c = k.x; a = 0x123456789abcdefL; b = 18446744073709551615UL;",
        "k; i64vec3 a = i64vec3(i, u, l) << 3; a >>= i64vec3(1); a %= l; u64vec2 b = ~k & 255UL;",
        "int64_t a = min(l, 1) + abs(l) + packInt2x32(ivec2(1)) + doubleBitsToInt64(1.0LF); bvec2 b = lessThan(k, k + 1UL);",
        "const int64_t a = -9223372036854775807L - 1L; const bool b = a < 0; float c[int(b) + 1];",
    ];
    for text in clean_units {
        clean(Fragment, &[&unit(text)]);
    }
    for text in ["int a = i; a = int(l); l;", "int64_t a = int64_t(1.5);"] {
        clean(Fragment, &[&unit(text)]);
    }
    for text in ["int a = l;", "int64_t a = u;", "int64_t a = k.x;", "float a = l;", "int64_t a = 1.0;"] {
        only("wrong-type", Fragment, &[&unit(text)]);
    }
    only("type-not-allowed", Vertex, &["#version 400\n#extension GL_ARB_gpu_shader_int64 : require\nin int64_t a;"]);
}
