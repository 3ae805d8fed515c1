mod errors;
mod robustness;
mod round_trip;

use pretty_assertions::assert_eq;

use super::*;
use crate::alu::AluOp;
use crate::body::{DerefKind, InstData, Shape};
use crate::builder::Builder;
use crate::shader::{Shader, ShaderStage};
use crate::types::ScalarType;
use crate::variable::{VariableData, VariableModes};

#[test]
fn a_small_shader_prints() {
    let mut shader = Shader::new(ShaderStage::Fragment);
    let vec4 = shader.types.vector(ScalarType::Float, 4);
    let mut out = VariableData::new("col", vec4, VariableModes::SHADER_OUT);
    out.location = 4;
    let out = shader.add_variable(out);
    let main = shader.main_mut();
    let mut b = Builder::at_end(main);
    let one = b.f32_const(1.0);
    let data = InstData::Deref { kind: DerefKind::Var(out), modes: VariableModes::SHADER_OUT, ty: vec4 };
    let deref = b.build(data, &[], Some(Shape::new(1, 32)));
    let deref = b.body.inst_def(deref).expect("a deref has a value");
    let vec = b.vec_of(&[one, one, one, one]);
    let vec = b.alu(AluOp::Fneg, &[vec]);
    b.store_deref(deref, vec, 0xf);
    assert_eq!(
        print(&shader),
        "\
shader: MESA_SHADER_FRAGMENT
subgroup_size: 0
decl_var shader_out INTERP_MODE_NONE none vec4 col (FRAG_RESULT_DATA0.xyzw, 0, 0)
decl_function main () (entrypoint)

impl main {
    block b0:  // preds:
    32    %0 = load_const (0x3f800000 = 1.000000)
    32    %1 = deref_var &col (shader_out vec4)
    32x4  %2 = vec4 %0 (0x3f800000), %0 (0x3f800000), %0 (0x3f800000), %0 (0x3f800000)
    32x4  %3 = fneg %2
               @store_deref (%1, %3) (wrmask=xyzw, access=none)
               // succs: b1
    block b1:
}

"
    );
}

fn examples() -> Vec<(String, String)> {
    let shared = std::env::var_os("TGSIC_SHARED")
        .map(std::path::PathBuf::from)
        .unwrap_or_else(|| std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"));
    let mut examples: Vec<(String, String)> = std::fs::read_dir(shared.join("spec/examples"))
        .expect("a folder of the specification")
        .filter_map(|e| e.ok().map(|e| e.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "nir"))
        .filter_map(|p| Some((p.file_name()?.to_string_lossy().into_owned(), std::fs::read_to_string(&p).ok()?)))
        .collect();
    examples.sort();
    examples
}

fn parse_ok(name: &str, text: &str) -> Shader {
    match parse(text) {
        Ok(shader) => shader,
        Err(errors) => {
            let list: Vec<String> = errors.iter().map(|e| format!("{e} ({:?})", e.hint)).collect();
            panic!("{name}:\n{}\n{text}", list.join("\n"));
        }
    }
}

/// Whole files are identical, byte by byte, except for blank space at the end.
#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn examples_print_as_they_were() {
    let mut count = 0;
    for (name, text) in examples() {
        let shader = parse_ok(&name, &text);
        let printed = print_with(&shader, PrintOptions { mesa: true });
        assert_eq!(printed.trim_end(), text.trim_end(), "{name}");
        count += 1;
    }
    eprintln!("examples_print_as_they_were: {count} files");
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn examples_read_back_from_our_own_form() {
    for (name, text) in examples() {
        let shader = parse_ok(&name, &text);
        let printed = print(&shader);
        let again = parse_ok(&name, &printed);
        assert_eq!(print(&again), printed, "{name}");
        round_trip::assert_same(&shader, &again);
    }
}
