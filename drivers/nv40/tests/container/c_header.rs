//! C headers.

use super::programs::{all, fragment_interface, fragment_program};
use std::process::Command;
use tgsi_compiler::front_end::Interface;
use tgsi_driver_nv40::container::write_c;
use tgsi_driver_nv40::isa::Chip;
use tgsi_driver_nv40::program::{FragmentProgram, Program};

/// Two headers can be included in one file, and have no warnings.
#[test]
fn headers_compile() {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("not run: `cc` is missing (Debian: gcc)");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut source = String::new();
    for (number, (program, interface)) in all().iter().enumerate() {
        let name = format!("shader{number}");
        std::fs::write(folder.path().join(format!("{name}.h")), write_c(program, interface, &name).unwrap()).unwrap();
        source += &format!("#include \"{name}.h\"\n#include \"{name}.h\"\n");
    }
    source += "const char *first_name(void) { return shader0_inputs[0].name; }\n\
               typedef char check[sizeof shader0_code == 16 * 13 && sizeof shader2_code == 16 * 12 ? 1 : -1];\n";
    let path = folder.path().join("all.c");
    std::fs::write(&path, source).unwrap();
    let mut command = Command::new("cc");
    command.args(["-fsyntax-only", "-std=c99", "-pedantic", "-Wall", "-Wno-unused-variable", "-Werror"]);
    let output = command.arg(&path).output().expect("a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn headers_have_tables() {
    let mut interface = fragment_interface();
    interface.samplers[0].name = "a\"\\?\u{e9}".to_owned();
    let text = write_c(&Program::Fragment(fragment_program(Chip::Rsx)), &interface, "glow").unwrap();
    let lines = [
        "#ifndef GLOW_H",
        "static const uint32_t glow_slots = 12;",
        "    0x17009e00, 0x1c9dc801, 0x0001c800, 0x3fe1c800,",
        "static const uint32_t glow_control = 0x30000c0;",
        "static const uint32_t glow_num_patches = 3;",
        "    {2, 3},",
        "    {\"direction\", 1, 5, 5, 0, 0x7},",
        "    {\"a\\\"\\\\\\?\\303\\251\", 0, \"sampler2D\", 0},",
        "    {\"m\", \"float2x2\", 0, 2},",
        "    {2, {0x3f800000, 0x40000000, 0xc0400000, 0x40800000}},",
    ];
    for line in lines {
        assert!(text.lines().any(|each| each == line), "{line}\n{text}");
    }
}

#[test]
fn tables_without_entries_are_absent() {
    let program = FragmentProgram {
        program: Default::default(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        textures: Vec::new(),
        ..fragment_program(Chip::Nv30)
    };
    let text = write_c(&Program::Fragment(program), &Interface::default(), "x").unwrap();
    assert!(!text.contains('{'), "{text}");
}
