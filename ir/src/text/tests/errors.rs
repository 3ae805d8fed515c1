//! Every kind of error, with its line and column.

use pretty_assertions::assert_eq;

use crate::text::parse;

const HEAD: &str = "shader: MESA_SHADER_FRAGMENT\ndecl_function main () (entrypoint)\nimpl main {\n";

/// The errors of a function's code in printed form; the first line of the code is line 4.
fn errors_of(code: &str) -> Vec<String> {
    errors(&format!("{HEAD}{code}\n}}\n"))
}

fn errors(text: &str) -> Vec<String> {
    let errors = parse(text).expect_err("an error");
    for error in &errors {
        assert!(error.offset <= text.len());
        let line_start = text[..error.offset].rfind('\n').map_or(0, |i| i + 1);
        assert_eq!(text[..error.offset].matches('\n').count() + 1, error.line as usize, "{error}");
        assert_eq!(text[line_start..error.offset].chars().count() + 1, error.column as usize, "{error}");
    }
    errors.iter().map(|e| e.hint.as_ref().map_or_else(|| e.to_string(), |h| format!("{e}; {h}"))).collect()
}

#[test]
fn instructions() {
    for (code, expected) in [
        ("32 %0 = fadff %0, %0", "5:9: unknown opcode `fadff`; did you mean `fadd`?"),
        ("32 %0 = undefined\n32 %1 = fadd %0", "6:9: `fadd` takes 2 sources, not 1"),
        ("32 %0 = undefined\n32 %1 = fadd %0, %0, %0", "6:9: `fadd` takes 2 sources, not 3"),
        ("32 %1 = fneg %9", "5:14: value %9 is used but never defined"),
        ("32x6 %1 = undefined", "5:1: no value has 6 components of 32 bits"),
        ("31 %1 = undefined", "5:1: no value has 1 components of 31 bits"),
        ("32 %1 = undefined\n32 %1 = undefined", "6:4: value %1 is defined twice"),
        ("32 %99999999 = undefined", "5:4: value number 99999999 is too large"),
        ("32x4 %0 = undefined\n32 %1 = mov %0.xy", "6:16: swizzle `xy` does not fit its operand"),
        ("32x2 %0 = undefined\n32 %1 = mov %0.z", "6:16: swizzle `z` does not fit its operand"),
        ("32x2 %0 = undefined\n32x3 %1 = mov %0", "6:15: the operand has 2 components, 3 are read"),
        ("32x4 %0 = undefined\n32 %1 = mov %0.a", "6:16: swizzle `a` does not fit its operand"),
        ("32 %0 = load_const (0x1ffffffff)", "5:21: constant `0x1ffffffff` cannot be read, or does not fit in 32 bits"),
        ("32x2 %0 = load_const (0x1)", "5:23: the constant has 1 components, its value has 2"),
        ("8 %0 = load_const (1.5)", "5:20: constant `1.5` cannot be read, or does not fit in 8 bits"),
        ("undefined", "5:1: this instruction must define a value"),
        ("32 %0 = @terminate", "5:10: this instruction does not define a value"),
        ("@load_frag_coord", "5:2: this instruction must define a value"),
        ("32 %0 = call main", "5:14: this instruction does not define a value"),
        ("call nobody", "5:6: unknown function `nobody`"),
        ("@terminat", "5:2: unknown intrinsic `terminat`; did you mean `terminate`?"),
        ("@terminate (basis=1)", "5:13: `terminate` has no index `basis`"),
        (
            "32 %0 = @decl_reg (num_component=4)",
            "5:20: `decl_reg` has no index `num_component`; did you mean `num_components`?",
        ),
        ("32 %0 = @decl_reg (num_components=many)", "5:20: index `num_components` has a value that cannot be read"),
        ("32 %0 = @decl_reg (4)", "5:20: expected a constant index, `name=value`"),
        ("1 %0 = undefined\n@terminate_if", "6:2: `terminate_if` takes 1 sources, not 0"),
        ("32 %0 = undefined trailing", "5:19: unexpected text at the end of the line"),
        ("32 %0 = (float31)tex", "5:10: unknown type `float31`"),
        ("32 %0 = (float32)tes", "5:18: unknown texture operation `tes`; did you mean `tex`?"),
        ("32 %0 = undefined\n32x4 %1 = (float32)tex %0 (cord)", "6:28: unknown kind of texture source `cord`"),
        ("32 %1 = (float32)tex 3 (plane)", "5:25: unknown kind of texture source `plane`"),
        ("32 %0 = deref_var &x (uniform float)", "5:20: unknown variable `x`"),
        ("32 %0 = deref_var &x", "5:20: expected modes and type in parentheses"),
        ("32 %0 = undefined\n32 %1 = deref_struct &%0->f (ubo float)", "6:27: unknown field `f`"),
        ("32 %0 = undefined\n32 %1 = deref_cast (float *)%0 (vbo float)", "6:33: `vbo` is not a variable mode"),
        ("32 %0 = undefined\n32 %1 = deref_cast (float *)%0 (ubo float[)", "6:33: `float[` is not a type"),
        (
            "8 %0 = undefined\n8 %1 = deref_array &(*%0)[300] (ubo float)",
            "6:27: constant `300` cannot be read, or does not fit in 8 bits",
        ),
        ("32 %0 = phi b7: %0", "5:13: there is no block b7"),
        ("goto b9", "5:6: there is no block b9"),
        ("32 %0 = ", "5:8: expected an instruction"),
        ("div %0 = undefined", "5:5: expected the bit size of a value"),
    ] {
        let actual = errors_of(&format!("block b0:\n{code}\nblock b1:"));
        assert_eq!(actual, [expected.to_string()], "{code}");
    }
}

#[test]
fn structure() {
    for (code, expected) in [
        ("32 %0 = undefined", &["4:1: expected a block", "5:1: expected a block"][..]),
        ("block b0:\nblock b0:", &["5:7: block b0 is defined twice"]),
        ("block b0:\nblock b1:\nblock b2:", &["6:7: a block may only follow an `if` or a loop"]),
        ("block b0:\nbreak\nblock b1:", &["5:1: not inside a loop"]),
        ("block b0:\nreturn\n@terminate\nblock b1:", &["6:1: nothing may follow a jump in its list"]),
        ("block b0:\ngoto b0\nreturn\nblock b1:", &["6:1: nothing may follow a jump in its list"]),
        ("block b0:\n} else {\nblock b1:", &["5:1: this does not match an open `if` or loop"]),
        (
            "block b0:\nloop {\nblock b1:\n} else {\n}\nblock b2:\nblock b3:",
            &["7:1: this does not match an open `if` or loop"],
        ),
        ("block b0:\n1 %0 = undefined\nif %0 {\nblock b1:\n}\nblock b2:\nblock b3:", &["8:1: expected `} else {`"]),
        ("block b0:\nloop {\n}\nblock b2:\nblock b3:", &["6:1: expected a block"]),
        (
            "block b0:\nif %7 {\nblock b1:\n} else {\nblock b2:\n}\nblock b3:\nblock b4:",
            &["5:3: value %7 is used but never defined"],
        ),
        (
            "block b0: // preds: b1\nreturn\nblock b1:",
            &["4:1: the predecessors of block b0 are stated as `b1`, but are ``"],
        ),
        (
            "block b0:\nreturn\n// succs: b0\nblock b1:",
            &["6:1: the successors of block b0 are stated as `b0`, but are `b1`"],
        ),
        ("block b0:\nloop {", &["6:1: this does not match an open `if` or loop"]),
    ] {
        let mut actual = errors_of(code);
        // An unclosed loop consumes the closing brace of the function.
        if code.ends_with("loop {") {
            actual = vec!["6:1: this does not match an open `if` or loop".to_string()];
        }
        assert_eq!(actual, expected, "{code}");
    }
    assert_eq!(errors(&format!("{HEAD}block b0:\nloop {{\nblock b1:\n")), ["6:1: the text ends before `}`"]);
    assert_eq!(errors(&format!("{HEAD}block b0:\ndecl_function f ()\n")), ["5:1: the text ends before `}`"]);
    let deep = "loop {\nblock bX:\n".repeat(21_000);
    let mut numbered = String::new();
    for (i, part) in deep.split("bX").enumerate() {
        numbered.push_str(&if i > 0 { format!("b{i}{part}") } else { part.to_string() });
    }
    let all = errors(&format!("{HEAD}block b0:\n{numbered}"));
    assert!(all[0].contains("ifs and loops are nested more than 20000 deep"), "{}", all[0]);
    assert!(all.last().is_some_and(|e| e.contains("too many errors")), "{:?}", all.last());
    let codes =
        |text: &str| -> Vec<&str> { parse(text).expect_err("an error").iter().map(|e| e.kind.code().name).collect() };
    let all_codes = codes(&format!("{HEAD}block b0:\n{numbered}"));
    assert_eq!((all_codes[0], all_codes.last()), ("nesting-too-deep", Some(&"too-many")));
    let phi = format!("block b0:\n1 %0 = undefined\n1 %1 = phi b0: %0{}\nblock b1:\n}}\n", ", b0: %0".repeat(30_000));
    assert_eq!(codes(&format!("{HEAD}{phi}")), ["too-many-sources"]);
    assert!(all.len() < 300);
}

#[test]
fn declarations() {
    let shader = "shader: MESA_SHADER_VERTEX\n";
    for (text, expected) in [
        ("", "1:1: the text does not begin with `shader:` and a stage"),
        ("shader: MESA_SHADER_PIXEL", "1:1: the text does not begin with `shader:` and a stage"),
        ("num_ubos: 1", "1:1: the text does not begin with `shader:` and a stage"),
    ] {
        assert_eq!(errors(text), [expected.to_string()], "{text}");
    }
    for (text, expected) in [
        ("num_ubos: many", "2:10: `num_ubos` has a value that cannot be read"),
        ("what is this", "2:1: expected a header line, a declaration or a function"),
        ("decl_var vbo INTERP_MODE_NONE none float x", "2:10: `vbo` is not a variable mode"),
        ("decl_var shared INTERP_MODE_ROUGH none float x", "2:17: expected an interpolation mode"),
        ("decl_var shared INTERP_MODE_NONE float x", "2:34: expected access words or `none`"),
        ("decl_var shared INTERP_MODE_NONE none float[ x", "2:39: `float[` is not a type"),
        ("decl_var shared INTERP_MODE_NONE none float", "2:44: expected the name of a variable"),
        ("decl_var uniform INTERP_MODE_NONE none float x (SLOT, 0, 0)", "2:49: `SLOT` is not a location"),
        ("decl_var uniform INTERP_MODE_NONE none float x (0, many, 0)", "2:52: expected a number"),
        ("decl_var shared INTERP_MODE_NONE none vec2 x = { 1.0 }", "2:55: the initialiser does not fit the type"),
        ("decl_var shared INTERP_MODE_NONE none vec2 x = { 1.0, z }", "2:55: the initialiser does not fit the type"),
        ("decl_var shared INTERP_MODE_NONE none float x = &y", "2:50: unknown variable `y`"),
        (
            "decl_var shared INTERP_MODE_NONE none float x\ndecl_var shared INTERP_MODE_NONE none float x",
            "3:45: variable `x` is declared twice",
        ),
        (
            "decl_var shared INTERP_MODE_NONE none float x  // index=z",
            "2:51: index `index` has a value that cannot be read",
        ),
        ("impl f {\nblock b0:\nblock b1:\n}", "2:1: unknown function `f`"),
        ("decl_function f ()\ndecl_function f ()", "3:1: function `f` is declared or defined twice"),
        ("decl_function f (x)", "2:18: expected the bit size of a parameter"),
        ("decl_function f (32x300)", "2:18: no value has 300 components of 32 bits"),
        (
            "decl_function f ()\nimpl f {\nblock b0:\nblock b1:\n}\nimpl f {\nblock b0:\nblock b1:\n}",
            "7:1: function `f` is declared or defined twice",
        ),
        ("type S: struct {float}", "2:22: expected type and name of a field"),
    ] {
        assert_eq!(errors(&format!("{shader}{text}\n")), [expected.to_string()], "{text}");
    }
}

#[test]
fn all_errors_of_a_text() {
    let actual = errors_of("block b0:\n32 %0 = fad %1\n32 %2 = undefine\n@nothing\n32 %3 = load_const (0x)\nblock b1:");
    assert_eq!(actual.len(), 4);
    // A value with an invalid instruction still counts as defined: no consequential errors.
    let actual = errors_of("block b0:\n32 %0 = fad\n32 %1 = fneg %0\nblock b1:");
    assert_eq!(actual.len(), 1, "{actual:?}");
}

/// Errors of the validator can be shown in the text.
#[test]
fn places_of_a_text() {
    let text = "// remark\nshader: MESA_SHADER_FRAGMENT\ndecl_var shader_out INTERP_MODE_NONE none vec4 c (FRAG_RESULT_DATA0.xyzw, 0, 0) // out\n\
                decl_function main () (entrypoint)\n\nimpl main {\n  block b0:  // preds:\n  32 %0 = undefined\n  16 %1 = fneg %0  // remark\n  \
                loop {\n    block b1:\n    break\n  }\n  block b2:\n}\n";
    let (shader, source_map) = crate::text::parse_with_source_map(text).expect("a text that can be read");
    let errors = crate::validate::validate(&shader).expect_err("sizes differ");
    let [error] = &errors.errors[..] else { panic!("{errors}") };
    assert_eq!(&text[source_map.line_of(error.target())], "16 %1 = fneg %0");

    use crate::text::AnnotationTarget as Target;
    let (function, body) = (shader.entry_point().unwrap(), shader.main());
    let at = |target| &text[source_map.line_of(target)];
    assert_eq!(at(Target::Shader), "shader: MESA_SHADER_FRAGMENT");
    assert_eq!(at(Target::Function(function)), "decl_function main () (entrypoint)");
    assert_eq!(at(Target::Variable(shader.globals[0])), text.lines().nth(2).unwrap().strip_suffix(" // out").unwrap());
    assert_eq!(at(Target::Block(function, body.start_block())), "block b0:");
    let inside = body.next_block(body.start_block()).unwrap();
    let (jump, _) = body.block_jump(inside).unwrap();
    assert_eq!((at(Target::Block(function, inside)), at(Target::Inst(function, jump))), ("block b1:", "break"));
    assert_eq!(at(Target::Loop(function, body.following_loop(body.start_block()).unwrap())), "loop {");
    assert_eq!(at(Target::Block(function, body.end_block())), "decl_function main () (entrypoint)");
}
