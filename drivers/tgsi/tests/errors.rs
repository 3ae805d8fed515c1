//! Errors for shaders that the validator normally rejects before the driver.

use crate::compile::translate;
use tgsi_compiler::Target;
use tgsi_driver_tgsi::{Dialect, DriverError, TgsiOptions};
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::shader::{Shader, ShaderStage};

fn error(shader: &Shader) -> DriverError {
    translate(shader, &TgsiOptions::default()).expect_err("an error")
}

#[test]
fn no_entry_point() {
    let error = error(&Shader::without_functions(ShaderStage::Vertex));
    assert_eq!((error.code().name, error.to_string()), ("no-entry-point", "the shader has no entry point".to_string()));
}

fn of_text(text: &str) -> (tgsi::Shader, tgsi_ir::Shader) {
    let source = tgsi::text::parse(text.as_bytes()).unwrap().shader;
    let mut ir = tgsi_to_ir::to_ir(&source, &tgsi_to_ir::ToIrOptions::default()).unwrap();
    tgsi_ir::passes::pipeline::into_ssa(&mut ir);
    (source, ir)
}

#[test]
fn hosts_of_virgl_have_room_for_so_many_immediates() {
    let options = TgsiOptions::default().with(|o| o.dialect = Dialect::Virgl);
    for count in [1024u32, 1025] {
        let mut text = String::from("VERT\nDCL IN[0]\nDCL OUT[0], GENERIC[0]\nDCL TEMP[0]\n");
        for number in 0..count {
            let [a, b, c, d] = [4 * number + 1, 4 * number + 2, 4 * number + 3, 4 * number + 4];
            text += &format!("IMM[{number}] UINT32 {{{a}, {b}, {c}, {d}}}\n");
        }
        text += "MOV TEMP[0], IN[0]\n";
        for number in 0..count {
            text += &format!("XOR TEMP[0], TEMP[0], IMM[{number}]\n");
        }
        text += "MOV OUT[0], TEMP[0]\nEND\n";
        let (_, ir) = of_text(&text);
        let result = translate(&ir, &options);
        match count {
            1024 => assert_eq!(result.unwrap().immediates.len(), 1024),
            _ => {
                let error = result.unwrap_err();
                assert_eq!((error.code().name, &error), ("too-many-immediates", &DriverError::TooManyImmediates(1025)));
            }
        }
    }
}

#[test]
fn an_interface_must_be_that_of_the_shader() {
    let (_, ir) = of_text("VERT\nDCL IN[0]\nDCL OUT[3], GENERIC[0]\nMOV OUT[3], IN[0]\nEND\n");
    let (other, _) = of_text("VERT\nDCL IN[0]\nDCL OUT[0], GENERIC[0]\nMOV OUT[0], IN[0]\nEND\n");
    let (mut ir, mut passes, target) = (ir, Passes::default(), TgsiOptions::default());
    target.lower(&mut ir, &mut passes).unwrap();
    let error = target.emit(ir, Some(&other), &mut passes).unwrap_err();
    assert_eq!(
        (error.code().name, error.to_string()),
        ("interface", "the interface does not declare OUT[3]".to_string())
    );
}
