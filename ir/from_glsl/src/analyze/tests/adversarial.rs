//! Long, deep, large and random inputs.
//!
//! `TGSIC_PIGLIT` names the folder of piglit's tests for the test that mutates them, `TGSIC_ROUNDS` its mutations of
//! each file.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::*;

/// Compiles a unit in both stages, and validates the IR.
fn compile_all(text: &[u8]) {
    for stage in [Fragment, Vertex] {
        let options = GlslOptions::default();
        let checked = check(text, stage, &options);
        let compiled = crate::compile(text, stage, &options);
        if let Some(module) = &compiled.module {
            let errors = tgsi_ir::validate::find_errors(&module.shader);
            assert!(errors.is_empty(), "{:?}\n{}", errors.first(), String::from_utf8_lossy(text));
        }
        assert!(!checked.iter().any(|finding| finding.is_error()) || compiled.module.is_none());
    }
}

#[test]
fn long_units_work() {
    let number = 20_000;
    let globals: String = (0..number).map(|i| format!("float a{i};\n")).collect();
    clean(Fragment, &[&globals]);
    let functions: String = (0..number).map(|i| format!("float f{i}(float x) {{ return x; }}\n")).collect();
    let calls: String = (0..number).map(|i| format!("x = f{i}(x);")).collect();
    clean(Fragment, &[&format!("{functions} void main() {{ float x = 1.0; {calls} }}")]);
    let parameters = (0..10_000).map(|i| format!("float a{i}")).collect::<Vec<_>>().join(", ");
    let arguments = "1.0, ".repeat(9_999);
    clean(
        Fragment,
        &[&format!("float f({parameters}) {{ return a0; }} void main() {{ float x = f({arguments} 1.0); }}")],
    );
    let labels: String = (0..number).map(|i| format!("case {i}: break;")).collect();
    clean_bodies(130, &[&format!("switch (i) {{ {labels} }}")]);
    clean(Fragment, &[&format!("#version 100\n{}", "precision mediump float;\n".repeat(number))]);
    clean_bodies(
        110,
        &[
            &format!("vec4 a = v; {}", "a.xy = a.yx; a[i] += u;".repeat(5_000)),
            &format!("vec4 a = v{};", ".yzwx".repeat(number)),
        ],
    );
    clean_bodies(110, &[&format!("float a = 0.0; a = u{};", ", a = u".repeat(number))]);
}

#[test]
fn deep_units_work() {
    clean_bodies(110, &[&format!("vec4 a = {}u{};", "vec4(".repeat(200), ")".repeat(200))]);
    clean_bodies(110, &[&format!("float a = {}2.0;", "u > 0.0 ? 1.0 : ".repeat(200))]);
    clean_bodies(110, &[&format!("{}{}", "if (u > 0.0) {".repeat(120), "}".repeat(120))]);
    compile_all(body(110, &format!("gl_FragColor = {}u{};", "vec4(".repeat(200), ")".repeat(200))).as_bytes());
    compile_all(body(110, &format!("{} discard; {}", "if (u > 0.0) {".repeat(120), "}".repeat(120))).as_bytes());
    compile_all(body(110, &format!("{} discard; {}", "for (;u > 0.0;) {".repeat(120), "}".repeat(120))).as_bytes());
}

#[test]
fn types_that_double_are_limited() {
    let structs: String = (1..60).map(|i| format!("struct S{i} {{ S{} a, b; }};\n", i - 1)).collect();
    let structs = format!("#version 120\nstruct S0 {{ vec4 a, b; }};\n{structs}");
    clean(Fragment, &[&structs]);
    // Variables that are not accessed have no registers.
    let unused =
        "#version 120\nfloat a[2000000000]; void main() { float b[2000000000]; int n = a.length() + b.length(); }";
    clean(Fragment, &[&format!("{structs} S59 a; void main() {{ S59 b; }}"), unused]);
    compile_all(unused.as_bytes());
    only(
        "glsl-limit",
        Fragment,
        &[
            &format!("{structs} S59 a; void main() {{ a.a; }}"),
            &format!("{structs} void f(S59 a);"),
            &format!("{structs} S59 f();"),
            &format!("{structs} void main() {{ S59 a; a{}.x = 1.0; }}", ".a".repeat(60)),
            "float a[2000000000]; void main() { a[0] = 1.0; }",
            "uniform float a[2000000000];",
            "void f(float a[2000000000]);",
            "#version 430\nfloat a[60000][60000]; void main() { a[1][1] = 1.0; }",
        ],
    );
    only("index-range", Fragment, &["float a[]; void main() { a[2000000000] = 1.0; }"]);
    only("argument-count", Fragment, &["#version 420\nvoid main() { struct T { float a[60000]; } t = { { 1.0 } }; }"]);
}

#[test]
fn constants_that_double_are_limited() {
    let mut text = "#version 120\nstruct S0 { vec4 a, b; }; const S0 c0 = S0(vec4(1.0), vec4(2.0));\n".to_owned();
    for i in 1..15 {
        let _ = writeln!(text, "struct S{i} {{ S{0} a, b; }}; const S{i} c{i} = S{i}(c{0}, c{0});", i - 1);
    }
    clean(Fragment, &[&text]);
    let _ = writeln!(text, "void main() {{ {} }}", "c14.a.b.b;".repeat(2_000));
    only("glsl-limit", Fragment, &[&text]);
    let elements = "1.0, ".repeat(9_999);
    let array = format!("const float a[10000] = float[10000]({elements} 1.0);");
    clean_bodies(120, &[&format!("{array} float x = 0.0; {}", "x += (true ? a : a)[3];".repeat(10_000))]);
}

#[test]
fn copies_of_arrays_are_limited() {
    let copies = |count: usize| "b = a; a = b;".repeat(count);
    let text = |count: usize| format!("float a[60000], b[60000]; b[i] = u; a[i] = u; {}", copies(count));
    clean_bodies(120, &[&text(2)]);
    only_in_bodies("glsl-limit", 120, &[&text(3)]);
    let calls = "x = f(x);".repeat(4);
    only(
        "glsl-limit",
        Fragment,
        &[&format!(
            "#version 120\nfloat[60000] f(float a[60000]) {{ return a; }} float x[60000]; void main() {{ {calls} }}"
        )],
    );
}

#[test]
fn copies_that_calls_multiply_are_limited() {
    let text = |depth: usize| {
        let functions: String = (1..=depth)
            .map(|i| format!("float[1000] f{i}(float a[1000]) {{ return f{0}(f{0}(a)); }}\n", i - 1))
            .collect();
        format!(
            "#version 120\nfloat[1000] f0(float a[1000]) {{ a[3] += 1.0; return a; }}\n{functions}\
             uniform int i; void main() {{ float x[1000]; x[i] = 1.0; x = f{depth}(x); gl_FragColor = vec4(x[i]); }}"
        )
    };
    clean(Fragment, &[&text(4)]);
    only("glsl-limit", Fragment, &[&text(11), &text(60)]);
}

#[test]
fn lists_that_every_use_searches_are_limited() {
    let fields: String = (0..20_000).map(|i| format!("float a{i};")).collect();
    only("glsl-limit", Fragment, &[&format!("struct S {{ {fields} }}; S s;")]);
    let overloads: String = (0..1_025).map(|i| format!("struct S{i} {{ float x; }}; void f(S{i} a);")).collect();
    only("glsl-limit", Fragment, &[&overloads]);
}

#[test]
fn calls_that_double_are_limited() {
    let functions: String = (1..40)
        .map(|i| format!("vec4 f{i}(sampler2D a, sampler2D b) {{ return f{0}(a, b) + f{0}(b, a); }}\n", i - 1))
        .collect();
    let text = format!(
        "uniform sampler2D s, t;\nvec4 f0(sampler2D a, sampler2D b) {{ return texture2D(a, vec2(0.0)) + texture2D(b, \
         vec2(1.0)); }}\n\
         {functions}void main() {{ gl_FragColor = f10(s, t); }}"
    );
    compile_all(text.as_bytes());
    let list = |prefix: &str| (0..8).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ");
    let mut text =
        format!("uniform sampler2D {};\nvec4 f0({}) {{ return vec4(1.0); }}\n", list("s"), list("sampler2D a"));
    for i in 1..30 {
        let rotated = (0..8).map(|i| format!("a{}", (i + 1) % 8)).collect::<Vec<_>>().join(", ");
        let swapped = [1, 0, 2, 3, 4, 5, 6, 7].map(|i| format!("a{i}")).join(", ");
        let before = i - 1;
        let _ = writeln!(
            text,
            "vec4 f{i}({}) {{ return f{before}({rotated}) + f{before}({swapped}); }}",
            list("sampler2D a")
        );
    }
    let _ = writeln!(text, "void main() {{ gl_FragColor = f29({}); }}", list("s"));
    let compiled = crate::compile(text.as_bytes(), Fragment, &GlslOptions::default());
    let errors: Vec<_> = compiled.findings.iter().map(|finding| finding.code.name).collect();
    assert_eq!(errors, ["glsl-limit"]);
}

/// A generator of numbers: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

const WORDS: &str = "\
    float vec2 vec3 vec4 ivec2 bvec3 mat2 mat4 int bool void sampler2D struct S T x y f g main if else for while do \
    switch case default return break discard continue const uniform in out inout attribute varying invariant true \
    false 0 1 2 3 1.0 2.5 3u ( ) ( ) [ ] { } { } ; ; ; , . = += + - * / % ? : ++ -- ! < >= == && ^^ || .x .xy .xyzw \
    [0] [i] sin(1.0) texture2D length() gl_Position gl_FragColor gl_TexCoord gl_FragData #version #extension 120 \
    130 330 layout location vec4(1.0) float[2] a i s";

const SEEDS: &[&str] = &[
    "uniform vec4 a; varying vec2 x; struct S { float f; vec3 v[2]; }; uniform S s; float f(inout vec4 y, float i) {\n\
     y.xy *= i; y[1] = s.f; if (y.x > 1.0) discard; else if (y.y < 2.0) return s.v[1].x; for (int k = 0; k < 4; k++) \
     {\n\
     if (k == 2) continue; y += float(k) * a; } return dot(y, a); } void main() { vec4 y = a; gl_FragColor = \
     vec4(f(y, x.x)); }",
    "#version 120\nconst float a[3] = float[3](1.0, sin(2.0), 3); uniform int i; struct T { mat3 m; float f[2]; } s;\n\
     mat3x2 g(const mat4 y) { return mat3x2(y) * 2; } void main() { T x = s; x.f[i] = a[i] + a.length(); x.m[1].zx += \
     vec2(i);\n\
     bool b = x == s && a[1] > 1; gl_FragColor = b ? vec4(g(mat4(i))[1], 0, 1) : gl_TexCoord[2] * float(b); }",
    "#version 100\nprecision mediump float; uniform sampler2D s[2]; uniform highp int i; varying vec4 x; bool f(out \
     bvec2 y);\n\
     vec4 g(sampler2D a, vec2 y) { return texture2D(a, y, 1.0) + texture2DProj(a, y.xyy); } void main() { int k = i; \
     bvec2 y;\n\
     do { k--; if (f(y) || any(y)) break; } while (k > 0); gl_FragData[0] = g(s[1], x.xy / x.w); }\n\
     bool f(out bvec2 y) { y = lessThan(ivec2(i), ivec2(1, 2)); return !y.x; }",
    "#version 130\nflat in ivec3 x; in vec4 a; out vec4 y; uniform sampler2D s; uniform uint i; int f(int y) { switch \
     (y & 3) {\n\
     case 0: return 1; case 1: y <<= 2u; default: y = ~y % 5; } return y; } void main() { while (bool b = f(x.y) > 3) \
     {\n\
     y = textureLod(s, a.xy, 1) * float(i >> 1u); if (b) return; } y = mix(a, vec4(x, 1), 0.5); y.w++; }",
    "#version 120\nattribute vec4 a; attribute mat3 s; uniform mat4 x[4]; varying vec3 y; invariant varying float i; \
     float f[2];\n\
     void main() { gl_Position = ftransform() + x[int(a.w)] * a; y = s * a.xyz; f[1] = y.z; i = f[0] - f[1]; \
     gl_PointSize = i;\n\
     gl_FrontColor = gl_Color * gl_LightSource[1].diffuse; gl_TexCoord[0] = gl_MultiTexCoord0 * gl_TextureMatrix[0]; }",
];

fn mutated(text: &str, all: &[&str], random: &mut Random) -> String {
    let mut words: Vec<&str> = text.split_inclusive([' ', '(', ')', ';', ',', '\n']).collect();
    for _ in 0..1 + random.below(4) {
        let at = random.below(words.len());
        match random.below(5) {
            0 if words.len() > 1 => drop(words.remove(at)),
            1 => words.insert(at, all[random.below(all.len())]),
            2 => words[at] = all[random.below(all.len())],
            3 => words[at] = words[random.below(words.len())],
            _ => {
                let other = random.below(words.len());
                words.swap(at, other);
            }
        }
    }
    words.concat()
}

#[test]
fn mutated_shaders_do_not_panic() {
    let all: Vec<&str> = WORDS.split_whitespace().collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..1_500 {
        compile_all(mutated(SEEDS[round % SEEDS.len()], &all, &mut random).as_bytes());
    }
}

#[test]
fn seeds_compile() {
    for (number, seed) in SEEDS.iter().enumerate() {
        let stage = if number == 4 { Vertex } else { Fragment };
        let compiled = crate::compile(seed.as_bytes(), stage, &GlslOptions::default());
        assert!(compiled.module.is_some(), "{number} {:#?}", compiled.findings);
    }
}

#[test]
fn random_words_and_bytes_do_not_panic() {
    let all: Vec<&str> = WORDS.split_whitespace().collect();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for round in 0..2_000 {
        let mut text = ["", "#version 100\n", "#version 460\n", "#version 320 es\n"][round % 4].to_owned();
        for _ in 0..random.below(60) {
            let _ = write!(text, "{} ", all[random.below(all.len())]);
        }
        let mut bytes = text.into_bytes();
        for _ in 0..random.below(4) {
            let at = random.below(bytes.len() + 1);
            bytes.insert(at, random.below(256) as u8);
        }
        compile_all(&bytes);
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "frag" || extension == "vert") {
            files.push(path);
        }
    }
}

#[test]
#[ignore = "needs piglit"]
fn mutated_shaders_of_piglit_do_not_panic() {
    let root = std::env::var_os("TGSIC_PIGLIT").expect("TGSIC_PIGLIT names a folder");
    let rounds = std::env::var("TGSIC_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(2);
    let all: Vec<&str> = WORDS.split_whitespace().collect();
    let mut files = Vec::new();
    collect(&Path::new(&root).join("tests"), &mut files);
    files.sort();
    let mut random = Random(0x0139_408d_cbbf_7a44);
    for file in &files {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        for _ in 0..rounds {
            let text = mutated(&text, &all, &mut random);
            let result = std::panic::catch_unwind(|| compile_all(text.as_bytes()));
            assert!(result.is_ok(), "{}\n{text}", file.display());
        }
    }
}
