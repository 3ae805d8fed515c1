//! Any text is safe to parse, and any shader is safe to print.

use super::{examples, parse_ok};
use crate::alu::AluOp;
use crate::body::{DerefKind, InstData, Shape, SourceSpec, Swizzle};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Function, Type, Variable};
use crate::shader::{Shader, ShaderStage};
use crate::text::{Annotation, AnnotationTarget, parse, print, print_annotated, print_inst};
use crate::types::{ScalarType, TypeData};
use crate::variable::{VariableData, VariableModes};

/// A text with all features, for tests without a data folder.
fn sample() -> String {
    let mut shader = Shader::new(ShaderStage::Fragment);
    let vec4 = shader.types.vector(ScalarType::Float, 4);
    let array = shader.types.array(vec4, 4);
    let input = shader.add_variable(VariableData::new("in", vec4, VariableModes::SHADER_IN));
    let function = shader.entry_point().expect("main");
    let local = shader.add_local(function, "tmp", array);
    let mut b = Builder::at_end(shader.main_mut());
    let deref = b.deref_var(input, VariableModes::SHADER_IN, vec4);
    let value = b.load_deref(deref, Shape::new(4, 32));
    let base = b.deref_var(local, VariableModes::FUNCTION_TEMP, array);
    let two = b.u32_const(2);
    let element = b.deref_array(base, two, vec4);
    b.store_deref(element, value, 0b101);
    let yes = b.bool_const(true);
    let before = b.block();
    let id = b.push_loop();
    let phi = b.phi(Shape::new(4, 32), &[(before, value)]);
    let condition = b.push_if(yes);
    b.jump(crate::body::JumpKind::Break);
    b.push_else(condition);
    b.end_if(condition);
    let sum = b.alu(AluOp::Fadd, &[phi, value]);
    let last = b.block();
    let inst = b.body.def_inst(phi);
    b.body.add_phi_source(inst, last, sum);
    b.end_loop(id);
    print(&shader)
}

fn texts() -> Vec<(String, String)> {
    let mut texts = if cfg!(reference_data) { examples() } else { Vec::new() };
    texts.push(("sample".to_string(), sample()));
    texts
}

/// Parses a text, and prints the result if there is any.
fn try_text(text: &str) {
    if let Ok(shader) = parse(text) {
        let printed = print(&shader);
        let again = parse_ok("printed text", &printed);
        assert_eq!(print(&again), printed);
    }
}

#[test]
fn every_truncation() {
    for (name, text) in texts() {
        // Cut short texts at every byte, and long ones at a sample: prime steps reach every column.
        let step = if text.len() < 3000 { 1 } else { 37 };
        for end in (0..text.len()).step_by(step) {
            if text.is_char_boundary(end) {
                // The function is incomplete, so it cannot be valid, unless only blanks or a later function are
                // missing.
                let cut = &text[..end];
                if parse(cut).is_ok() {
                    assert!(!cut.contains("impl ") || cut.trim_end().contains("\n}"), "{name} at {end}");
                }
            }
        }
    }
}

#[test]
fn mutations() {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut random = move |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound.max(1) as u64) as usize
    };
    let replacements: Vec<u8> = b"%{}()[]*&=,;:/#.-+0179xbw \n\tqz_\"~|!@".to_vec();
    let mut parsed = 0;
    for (_, text) in texts() {
        for _ in 0..300 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..=random(2) {
                let at = random(bytes.len());
                match random(4) {
                    0 => {
                        bytes.remove(at);
                    }
                    1 => bytes.insert(at, replacements[random(replacements.len())]),
                    2 => {
                        // Duplicates a line, here or elsewhere.
                        let start = bytes[..at].iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
                        let end = bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |i| at + i + 1);
                        let line = bytes[start..end].to_vec();
                        let to = bytes[..random(bytes.len())].iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
                        bytes.splice(to..to, line);
                    }
                    _ => bytes[at] = replacements[random(replacements.len())],
                }
            }
            let text = String::from_utf8_lossy(&bytes);
            parsed += usize::from(parse(&text).is_ok());
            try_text(&text);
        }
    }
    // Many changes are harmless: their printed results were parsed again above.
    assert!(parsed > 10, "{parsed}");
}

#[test]
fn odd_texts() {
    for text in [
        "\u{feff}shader: MESA_SHADER_VERTEX",
        "shader: MESA_SHADER_VERTEX\r\nsubgroup_size: 0\r\n",
        "shader: MESA_SHADER_VERTEX\n\0\n",
        "shader: MESA_SHADER_VERTEX\ndecl_var \u{1F600} INTERP_MODE_NONE none float ü (\u{1F600})\n",
        "shader: MESA_SHADER_VERTEX\ntype S: struct {S s}\ndecl_var shared INTERP_MODE_NONE none S x = { { { } } }\n",
        "shader: MESA_SHADER_VERTEX\ndecl_var shared INTERP_MODE_NONE none float x  // name=\"\\u{110000}\"\n",
        "shader: MESA_SHADER_VERTEX\ndecl_var shared INTERP_MODE_NONE none float x  // name=\"\n",
        "//",
        "shader:",
        "\n\n\n",
    ] {
        try_text(text);
    }
    // A struct nested in itself is known by its name only inside.
    let cycle = "shader: MESA_SHADER_VERTEX\ntype A: struct {B b}\ntype B: struct {A a}\n";
    assert!(parse(cycle).is_ok_and(|s| s.types.iter().any(|t| *t == TypeData::Opaque("A".to_string()))));
    assert!(parse("shader: MESA_SHADER_VERTEX\r\nsubgroup_size: 3\r\n").is_ok_and(|s| s.info.subgroup_size == 3));
    let deep = format!(
        "shader: MESA_SHADER_VERTEX\ndecl_var shared INTERP_MODE_NONE none float x = {}\n",
        "{ ".repeat(100_000)
    );
    try_text(&deep);
    let chain: String = (0..20_000).map(|i| format!("type S{i}: struct {{S{} s}}\n", i + 1)).collect();
    try_text(&format!("shader: MESA_SHADER_VERTEX\n{chain}"));
}

/// Long texts with many similar parts are parsed in linear time.
#[test]
fn long_texts() {
    let function = |code: String| {
        format!("shader: MESA_SHADER_FRAGMENT\ndecl_function main () (entrypoint)\nimpl main {{\nblock b0:\n{code}block bend:\n}}\n")
            .replace("bend", "b999999")
    };
    let count = 20_000;
    let mut texts = Vec::new();
    // A chain, and one value with many uses.
    texts.push((0..count).fold("32 %0 = undefined\n".to_string(), |mut text, i| {
        text.push_str(&format!("32 %{} = fadd %{i}, %0\n", i + 1));
        text
    }));
    // A sequence of ifs.
    texts.push((0..count / 4).fold("1 %0 = undefined\n".to_string(), |mut text, i| {
        let n = i * 3;
        text.push_str(&format!("if %0 {{\nblock b{}:\n}} else {{\nblock b{}:\n}}\nblock b{}:\n", n + 1, n + 2, n + 3));
        text
    }));
    // Maximum nesting.
    let depth = 19_000;
    let mut nested = "1 %0 = undefined\n".to_string();
    for i in 0..depth {
        nested.push_str(&format!("loop {{\nblock b{}:\n", i + 1));
    }
    nested.push_str("break\n");
    for i in 0..depth {
        nested.push_str(&format!("}}\nblock b{}:\n", depth + i + 1));
        if i + 1 < depth {
            nested.push_str("break\n");
        }
    }
    texts.push(nested);
    // One instruction with many sources.
    let mut phi = "32 %0 = undefined\n32 %1 = phi ".to_string();
    phi.push_str(&vec!["b0: %0"; 20_000].join(", "));
    phi.push('\n');
    texts.push(phi);
    // Constant indices that all refer to one value.
    texts.push((0..count / 2).fold("32 %0 = undefined\n".to_string(), |mut text, i| {
        let n = 2 * i + 1;
        text.push_str(&format!(
            "32 %{n} = load_const (0x00000001)\n32 %{} = deref_array &(*%0)[1] (ubo float)\n",
            n + 1
        ));
        text
    }));
    // A chain of pointers.
    texts.push((0..count / 4).fold("32 %0 = deref_cast (float *)%0 (ubo float)\n".to_string(), |mut text, i| {
        text.push_str(&format!("32 %{} = deref_ptr_as_array &(*%{i})[%0] (ubo float)\n", i + 1));
        text
    }));
    for code in texts {
        let text = function(code);
        let shader = parse_ok("long", &text);
        let printed = print(&shader);
        assert!(printed.len() > text.len() / 2);
        parse_ok("long, printed", &printed);
    }
}

/// Broken shaders that the validator may have to print: values without definition, missing types and variables, blocks
/// outside of the tree.
#[test]
fn broken_shaders_print() {
    let mut shader = Shader::new(ShaderStage::Fragment);
    let nowhere = Variable::from_u32(77);
    let mut data = VariableData::new("v", Type::from_u32(99), VariableModes::SHADER_IN);
    data.location_frac = 200;
    let variable = shader.add_variable(data);
    let body = shader.main_mut();
    let indices = body.push_indices([-1; crate::body::MAX_INDICES]);
    body.reserve_defs(3);
    let start = body.start_block();
    let gap = Def::from_u32(1);
    let shape = Some(Shape::new(4, 32));
    let end = Cursor::BlockEnd(start);
    let mut place = |data: InstData, sources: &[SourceSpec], shape: Option<Shape>| {
        let inst = body.create_inst(data, sources, shape);
        body.insert_inst(end, inst);
        inst
    };
    let alu = InstData::Alu { op: AluOp::Fadd, flags: Default::default() };
    let first = place(alu, &[SourceSpec::alu(gap, Swizzle::replicate(15))], shape);
    place(alu, &[], None);
    let modes = VariableModes::NONE;
    let ty = Type::from_u32(98);
    for kind in [DerefKind::Var(nowhere), DerefKind::Array, DerefKind::Struct(4), DerefKind::ArrayWildcard] {
        place(InstData::Deref { kind, modes, ty }, &[], shape);
        place(InstData::Deref { kind, modes, ty }, &[SourceSpec::plain(gap), SourceSpec::plain(gap)], shape);
    }
    place(InstData::Call { callee: Function::from_u32(9), indirect: true }, &[], None);
    place(InstData::Phi, &[], shape);
    let store = InstData::Intrinsic { op: crate::intrinsics::IntrinsicOp::StoreDeref, num_components: 200, indices };
    place(store, &[], None);
    let annotations = [
        (AnnotationTarget::Shader, "error: of the shader"),
        (AnnotationTarget::Variable(variable), "error: of a variable"),
        (AnnotationTarget::Variable(nowhere), "error: of nothing"),
        (AnnotationTarget::Inst(Function::from_u32(0), first), "error: of an instruction\nhint: second line"),
        (AnnotationTarget::Block(Function::from_u32(0), start), "error: of a block"),
        (AnnotationTarget::Function(Function::from_u32(0)), "error: of a function"),
    ]
    .map(|(target, text)| Annotation { target, text: text.to_string() });
    let text = print_annotated(&shader, &annotations);
    let line_after = |of: &str, message: &str| {
        let mut lines = text.lines().skip_while(|l| !l.contains(of)).skip(1);
        assert!(lines.next().is_some_and(|l| l.trim() == message), "{message} not behind {of} in\n{text}");
    };
    line_after("subgroup_size", "// error: of the shader");
    line_after("decl_var", "// error: of a variable");
    line_after("decl_function", "// error: of a function");
    line_after("block b0:", "// error: of a block");
    line_after("= fadd", "// error: of an instruction");
    line_after("// error: of an instruction", "// hint: second line");
    assert!(text.ends_with("// Variable(var77): error: of nothing\n"), "{text}");
    for inst in shader.main().insts_vec(start) {
        assert!(!print_inst(&shader, shader.main(), inst).contains('\n'));
    }
}

#[test]
fn annotated_texts_read_back() {
    let shader = parse_ok("sample", &sample());
    let function = shader.entry_point().expect("main");
    let mut annotations = vec![Annotation { target: AnnotationTarget::Shader, text: "error: x".to_string() }];
    for block in shader.main().blocks() {
        annotations.push(Annotation {
            target: AnnotationTarget::Block(function, block),
            text: "error: wrong preds: b7".to_string(),
        });
        for inst in shader.main().insts(block) {
            annotations
                .push(Annotation { target: AnnotationTarget::Inst(function, inst), text: "error: y".to_string() });
        }
    }
    let text = print_annotated(&shader, &annotations);
    assert_eq!(text.matches("// error").count(), annotations.len());
    assert_eq!(print(&parse_ok("annotated", &text)), print(&shader));
}

#[test]
fn one_instruction() {
    let shader = parse_ok("sample", &sample());
    let body = shader.main();
    let lines: Vec<String> =
        body.blocks().flat_map(|b| body.insts(b).collect::<Vec<_>>()).map(|i| print_inst(&shader, body, i)).collect();
    assert_eq!(lines[0], "32    %0 = deref_var &in (shader_in vec4)");
    assert!(lines.contains(&"break".to_string()), "{lines:?}");
    assert!(lines.iter().any(|l| l.contains("phi b0: %1, b4: %")), "{lines:?}");
}
