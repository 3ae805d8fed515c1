//! Slots that variables share.

use pretty_assertions::assert_eq;
use tgsi_ir::shader::{Shader, ShaderStage};
use tgsi_ir::slots::VaryingSlot;
use tgsi_ir::variable::VariableModes;

use crate::{GlslOptions, compile_pipeline};

/// Names, slots from `VAR0`, first components and numbers of slots, in the order of the slots.
type Found = Vec<(String, i32, u8, u32)>;

fn found(shader: &Shader, mode: VariableModes) -> Found {
    let variables = shader.variables.values().filter(|data| data.mode == mode);
    let mut found: Found = variables
        .map(|data| {
            let slot = data.location - i32::from(VaryingSlot::VAR0);
            (data.name.clone(), slot, data.location_frac, shader.types.slots(data.ty))
        })
        .filter(|(_, slot, ..)| *slot >= 0)
        .collect();
    found.sort_by_key(|(_, slot, component, _)| (*slot, *component));
    found
}

/// Links two shaders with variables between them; returns the outputs and inputs, or the codes of the findings.
fn link(declarations: &[&str], sum: &str) -> Result<[Found; 2], Vec<&'static str>> {
    let qualified = |qualifier: &str| -> String {
        declarations.iter().map(|declaration| declaration.replace('@', qualifier) + ";\n").collect()
    };
    let names = declarations.iter().flat_map(|list| list.split_once("@ ").map(|(_, list)| list));
    let names = names.flat_map(|list| list.split(' ').skip(1)).map(|name| name.trim_end_matches(','));
    let writes: String = names
        .map(|name| match name.split_once('[') {
            Some((name, length)) => {
                format!("for (int i = 0; i < {}; i++) {name}[i] = v.x;\n", length.trim_end_matches(']'))
            }
            None => format!("{name} += 1;\n"),
        })
        .collect();
    let vertex = format!(
        "#version 140\nin vec4 v;\n{}void main() {{ gl_Position = v;\n{writes}}}\n",
        qualified("out").replace("flat ", "")
    );
    let fragment =
        format!("#version 140\n{}out vec4 color;\nvoid main() {{ color = vec4({sum}); }}\n", qualified("in"));
    let options = GlslOptions::default();
    let compiled = compile_pipeline(&[
        (vertex.as_bytes(), ShaderStage::Vertex, &options),
        (fragment.as_bytes(), ShaderStage::Fragment, &options),
    ]);
    let codes: Vec<&'static str> =
        compiled.iter().flat_map(|one| &one.findings).map(|finding| finding.code.id).collect();
    let [Some(producer), Some(consumer)] = [&compiled[0].module, &compiled[1].module] else { return Err(codes) };
    for module in [producer, consumer] {
        assert_eq!(tgsi_ir::validate::find_errors(&module.shader), []);
    }
    Ok([found(&producer.shader, VariableModes::SHADER_OUT), found(&consumer.shader, VariableModes::SHADER_IN)])
}

fn named(list: &[(&str, i32, u8, u32)]) -> Found {
    list.iter().map(|&(name, slot, component, slots)| (name.to_owned(), slot, component, slots)).collect()
}

#[test]
fn variables_share_slots_only_where_these_are_too_few() {
    let expected = named(&[("a", 0, 0, 1), ("b", 1, 0, 30), ("c", 31, 0, 1)]);
    assert_eq!(link(&["@ float a, b[30], c"], "a + b[29] + c"), Ok([expected.clone(), expected]));
    let expected = named(&[("b", 0, 0, 8), ("d", 8, 0, 1), ("a", 8, 2, 1), ("c", 8, 3, 1)]);
    let linked = link(&["@ float a, b[30], c", "@ vec2 d"], "a + b[29] + c + d.y");
    assert_eq!(linked, Ok([expected.clone(), expected]));
}

#[test]
fn variables_of_a_slot_have_one_kind() {
    let linked = link(
        &["@ float a, b[60]", "noperspective @ float c", "centroid @ vec2 d", "@ vec3 e", "@ vec2 f", "@ mat3 g"],
        "a + b[int(c)] + d.x + e.z + f.y + g[2].x",
    );
    let [outputs, inputs] = linked.expect("a pipeline");
    let expected = named(&[
        ("b", 0, 0, 15),
        ("g", 15, 0, 3),
        ("e", 18, 0, 1),
        ("a", 18, 3, 1),
        ("d", 19, 0, 1),
        ("f", 20, 0, 1),
        ("c", 21, 0, 1),
    ]);
    assert_eq!((&outputs, &inputs), (&expected, &expected));
}

#[test]
fn variables_that_do_not_fit_are_an_error() {
    assert_eq!(link(&["@ float a[128]"], "a[127]").map(|_| ()), Ok(()));
    assert_eq!(link(&["@ float a[129]"], "a[128]"), Err(vec!["G0352", "G0352"]));
    assert_eq!(link(&["@ float a[100]", "@ mat4 b, c"], "a[99] + b[0].x + c[0].x"), Err(vec!["G0352", "G0352"]));
}
