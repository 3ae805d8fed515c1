//! Targets that cannot address a register file through a run-time index.

use crate::compile::translate;
use tgsi::Shader;
use tgsi::shader::Register;
use tgsi::tables::File;
use tgsi_driver_tgsi::{DriverError, TgsiOptions};

fn options(names: &[&str]) -> TgsiOptions {
    let mut options = TgsiOptions::default();
    names.iter().try_for_each(|name| options.set(name)).unwrap();
    options
}

fn translated(text: &str, options: &TgsiOptions) -> Result<Shader, DriverError> {
    let source = tgsi::text::parse(text.as_bytes()).unwrap().shader;
    let mut ir = tgsi_to_ir::to_ir(&source, &tgsi_to_ir::ToIrOptions::default()).unwrap();
    tgsi_ir::passes::pipeline::into_ssa(&mut ir);
    translate(&ir, options)
}

fn is_indirect(register: &Register) -> bool {
    register.indirect.is_some() || register.dimension.is_some_and(|d| d.indirect.is_some())
}

/// The files of operands that use an address.
fn indirect_files(shader: &Shader) -> Vec<File> {
    let instructions = shader.instructions.iter();
    let registers =
        instructions.flat_map(|i| i.src.iter().map(|s| &s.register).chain(i.dst.iter().map(|d| &d.register)));
    let mut files: Vec<File> = registers.filter(|r| is_indirect(r)).map(|r| r.file).collect();
    files.sort();
    files.dedup();
    files
}

/// Uses every file indirectly, including inputs and outputs by vertex.
const ALL: &str = "TESS_CTRL\nPROPERTY TCS_VERTICES_OUT 4\nDCL IN[][0], POSITION\nDCL IN[][1..3], ARRAY(1), GENERIC[0]\n\
    DCL OUT[][0], POSITION\nDCL OUT[][1..3], ARRAY(1), GENERIC[0]\nDCL SV[0], INVOCATIONID\nDCL CONST[0][0..3]\n\
    DCL CONST[1][0..3]\nDCL TEMP[0..3], ARRAY(1)\nDCL TEMP[4]\nDCL ADDR[0..1]\nUARL ADDR[0].x, SV[0].xxxx\n\
    UARL ADDR[1].xyzw, CONST[0][0]\nMOV TEMP[ADDR[1].x](1), IN[ADDR[0].x][ADDR[1].y+1](1)\n\
    ADD TEMP[4], TEMP[ADDR[1].z](1), CONST[0][ADDR[1].w]\nADD TEMP[4], TEMP[4], CONST[1][ADDR[1].x]\n\
    MOV OUT[ADDR[0].x][ADDR[1].x+1](1), TEMP[4]\nMOV OUT[ADDR[0].x][0], IN[ADDR[0].x][0]\nEND\n";

#[test]
fn no_operand_of_such_a_file_has_an_address() {
    let every = [File::Constant, File::Input, File::Output, File::Temporary];
    assert_eq!(indirect_files(&translated(ALL, &TgsiOptions::default()).unwrap()), every);
    let names = ["no_indirect_constants", "no_indirect_inputs", "no_indirect_outputs", "no_indirect_temporaries"];
    for chosen in 1..16u32 {
        let chosen = |number: usize| chosen >> number & 1 != 0;
        let off: Vec<&str> = names.into_iter().enumerate().filter(|(n, _)| chosen(*n)).map(|(_, name)| name).collect();
        let shader = translated(ALL, &options(&off)).unwrap();
        let findings = tgsi::check::check(&shader).diagnostics;
        assert!(findings.iter().all(|d| !d.is_error()), "{off:?}: {findings:?}");
        let left: Vec<File> =
            every.into_iter().enumerate().filter(|(n, _)| !chosen(*n)).map(|(_, file)| file).collect();
        assert_eq!(indirect_files(&shader), left, "{off:?}");
        let has_address = shader.declarations.iter().any(|d| d.file == File::Address);
        assert_eq!(has_address, !left.is_empty(), "{off:?}");
    }
}

#[test]
fn what_would_be_too_much_is_an_error() {
    let mut text =
        String::from("VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL CONST[0][0..4095]\nDCL TEMP[0]\nDCL ADDR[0]\n");
    // Different indices: equal ones would be merged.
    for number in 0..40 {
        text += &format!("UADD TEMP[0].x, TEMP[0].xxxx, IN[0].{}\n", ["xxxx", "yyyy"][number % 2]);
        text += "UARL ADDR[0].x, TEMP[0].xxxx\nADD TEMP[0], TEMP[0], CONST[0][ADDR[0].x]\n";
    }
    text += "MOV OUT[0], TEMP[0]\nEND\n";
    assert!(translated(&text, &TgsiOptions::default()).is_ok());
    let error = translated(&text, &options(&["no_indirect_constants", "unoptimized"])).unwrap_err();
    assert_eq!(error, DriverError::Indirect(File::Constant));
    assert_eq!(error.to_string(), "the target cannot address CONST indirectly, and the accesses cannot be made direct");
}

#[test]
fn a_constant_that_no_operand_can_name_is_an_error() {
    let text = "VERT\nDCL OUT[0], POSITION\nDCL CONST[0][0..40]\nMOV OUT[0], CONST[0][40]\nEND\n";
    assert!(translated(text, &options(&["max_constant_index_31"])).is_ok());
    let error = translated(text, &options(&["max_constant_index_31", "no_indirect_constants"])).unwrap_err();
    assert_eq!(error, DriverError::Indirect(File::Constant));
}

#[test]
fn register_arrays_of_the_ir() {
    let text = "shader: MESA_SHADER_VERTEX\ninputs: 1\noutputs: 1\n\
        decl_var shader_in INTERP_MODE_NONE none vec4 in_0 (VERT_ATTRIB_GENERIC0.xyzw, 0, 0)\n\
        decl_var shader_out INTERP_MODE_NONE none vec4 out_0 (VARYING_SLOT_POS.xyzw, 0, 0)\n\
        decl_function main () (entrypoint)\n\nimpl main {\n    block b0:\n\
        32 %0 = @decl_reg (num_components=4, num_array_elems=3, bit_size=32, divergent=1)\n\
        32 %1 = deref_var &in_0 (shader_in vec4)\n32x4 %2 = @load_deref (%1) (access=none)\n32 %3 = mov %2.x\n\
        @store_reg_indirect (%2, %0, %3) (base=0, wrmask=xyzw, legacy_fsat=0)\n\
        32 %4 = mov %2.y\n32x4 %5 = @load_reg_indirect (%0, %4) (base=0, legacy_fabs=0, legacy_fneg=0)\n\
        32 %6 = deref_var &out_0 (shader_out vec4)\n@store_deref (%6, %5) (wrmask=xyzw, access=none)\n    block b1:\n}\n";
    let ir = tgsi_ir::text::parse(text).unwrap();
    let with = translate(&ir, &TgsiOptions::default()).unwrap();
    assert_eq!(indirect_files(&with), [File::Temporary]);
    let without = translate(&ir, &options(&["no_indirect_temporaries"])).unwrap();
    assert_eq!(indirect_files(&without), []);
    assert!(!without.declarations.iter().any(|d| d.file == File::Address));
}

#[test]
fn options_by_name() {
    let mut changed = TgsiOptions::default();
    for name in TgsiOptions::OPTIONS.iter().map(|option| option.name) {
        let before = changed.clone();
        changed.set(name).unwrap();
        assert_ne!(before, changed, "{name} changes nothing");
    }
    let error = changed.set("no_such").unwrap_err().to_string();
    assert!(error.starts_with("no driver option `no_such`; there are no_native_integers, "), "{error}");
}
