//! Object files have the functions of code compiled at run time, the lowered shader, and one symbol; options select the
//! target.

#![cfg(feature = "machine-code")]

use crate::common::{shaders, shared};
use object::{Architecture, BinaryFormat, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use tgsi_compiler::{Code, Compiler, Driver, ObjectFile, Stage};
use tgsi_driver_cpu::{CpuError, DRIVER, Options, compile, load};

const SHADER: &str = "FRAG
DCL IN[0], GENERIC[0], PERSPECTIVE
DCL OUT[0], COLOR
DCL SAMP[0]
DCL SVIEW[0], 2D, FLOAT
DCL BUFFER[0]
DCL TEMP[0..1]
EX2 TEMP[0].x, IN[0].xxxx
MUL TEMP[0].y, TEMP[0].xxxx, IN[0].yyyy
TEX TEMP[1], TEMP[0], SAMP[0], 2D
ATOMUADD TEMP[0].x, BUFFER[0], TEMP[1].xxxx, TEMP[1].yyyy
MUL TEMP[1], TEMP[1], TEMP[0].xxxx
MUL TEMP[1], TEMP[1], IN[0]
MOV OUT[0], TEMP[1]
END
";

fn compiler(options: &[&str]) -> Compiler {
    Compiler::for_target(DRIVER.target(options).expect("a target").into())
}

fn shader() -> tgsi::Shader {
    tgsi::text::parse(SHADER.as_bytes()).expect("a shader").shader
}

fn object(options: &[&str]) -> Box<ObjectFile> {
    match compiler(options).compile(shader()) {
        Ok(Code::Object(object)) => object,
        other => panic!("no object: {other:?}"),
    }
}

fn text(options: &[&str]) -> String {
    match compiler(options).compile(shader()) {
        Ok(Code::Text(text)) => text,
        other => panic!("no text: {other:?}"),
    }
}

fn functions(file: &object::File<'_>) -> usize {
    file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text).count()
}

/// Returns the global symbols.
fn names<'d>(file: &object::File<'d>) -> Vec<&'d str> {
    let global = file.symbols().filter(|symbol| symbol.is_global());
    global.map(|symbol| symbol.name().expect("a name")).collect()
}

/// Checks that the object has as many functions as code compiled at run time, no relocations to fill in, and no
/// executable stack.
fn check(object: &ObjectFile, lowered: &tgsi_ir::Shader) {
    let file = object::File::parse(&object.bytes[..]).expect("an object file");
    let program = compile(lowered, Options::default()).expect("a program");
    assert_eq!(functions(&file), program.report().functions);
    let code = file.sections().filter(|section| section.kind() == SectionKind::Text);
    assert_eq!(code.flat_map(|section| section.relocations()).count(), 0);
    assert!(file.section_by_name(".note.GNU-stack").is_some());
    assert_eq!(object.size.instructions as usize, program.report().total);
    let text = tgsi_ir::text::print(lowered);
    assert!(object.bytes.windows(text.len()).any(|part| part == text.as_bytes()), "the lowered shader");
}

#[test]
fn an_object_has_functions_a_name_and_a_header() {
    let compiler = compiler(&["target_triple=x86_64-unknown-linux-gnu"]);
    let lowered = compiler.ir_at(Stage::Registers, shader()).expect("it is lowered");
    for (options, symbol) in
        [(&[][..], "tgsic_fragment_shader"), (&["symbol=tiles_1"], "tiles_1"), (&["symbol"], "tgsic_fragment_shader")]
    {
        let options: Vec<&str> =
            ["target_triple=x86_64-unknown-linux-gnu"].into_iter().chain(options.iter().copied()).collect();
        let object = object(&options);
        check(&object, &lowered);
        let file = object::File::parse(&object.bytes[..]).expect("an object file");
        assert_eq!(functions(&file), 2);
        assert_eq!(names(&file), [symbol]);
        let [header] = &object.auxiliary_files[..] else { panic!("one header") };
        assert_eq!(header.extension, "h");
        assert!(header.text.contains(&format!("extern const tgsic_object {symbol};\n")), "{}", header.text);
        assert!(header.text.contains("tgsic_run_quads("), "{}", header.text);
    }
}

#[test]
fn objects_are_for_other_systems() {
    for (triple, format, architecture, symbol) in [
        ("x86_64-unknown-linux-gnu", BinaryFormat::Elf, Architecture::X86_64, "tgsic_fragment_shader"),
        ("x86_64-pc-windows-msvc", BinaryFormat::Coff, Architecture::X86_64, "tgsic_fragment_shader"),
        ("x86_64-apple-darwin", BinaryFormat::MachO, Architecture::X86_64, "_tgsic_fragment_shader"),
        ("aarch64-unknown-linux-gnu", BinaryFormat::Elf, Architecture::Aarch64, "tgsic_fragment_shader"),
        ("aarch64-apple-darwin", BinaryFormat::MachO, Architecture::Aarch64, "_tgsic_fragment_shader"),
    ] {
        let object = object(&[&format!("target_triple={triple}")]);
        let file = object::File::parse(&object.bytes[..]).expect("an object file");
        assert_eq!((file.format(), file.architecture()), (format, architecture), "{triple}");
        assert_eq!(names(&file), [symbol], "{triple}");
        assert_eq!(functions(&file), 2, "{triple}");
    }
}

#[test]
fn options_say_what_is_made() {
    let triple = "target_triple=x86_64-unknown-linux-gnu";
    let object = object(&[triple, "interpret"]);
    assert_eq!(functions(&object::File::parse(&object.bytes[..]).expect("an object file")), 0);
    assert!(text(&["ir"]).contains("shader: MESA_SHADER_FRAGMENT"));
    assert!(text(&["code", triple]).contains("fmul"));
    let (old, new) = (text(&["assembly", triple]), text(&["assembly", triple, "target_cpu=x86-64-v3"]));
    assert!(old.contains("mulps") && !old.contains("vmulps") && new.contains("vmulps"), "{old}\n{new}");
    assert!(text(&["assembly", "target_triple=aarch64-unknown-linux-gnu"]).contains("fmul"));
    for (options, problem) in [
        (&["symbol=1a"][..], "symbol=1a: not an identifier of C"),
        (&["symbol=a-b"], "not an identifier"),
        (&["symbol=_Reserved"], "not an identifier"),
        (&["symbol=switch"], "not an identifier"),
        (&["target_triple=nonsense"], "nonsense"),
        (&["target_triple=i686-unknown-linux-gnu"], "64 bits"),
        (&["target_triple=sparc64-unknown-linux-gnu"], "sparc64"),
        (&["target_cpu=z80"], "the choices are x86-64-v2 and x86-64-v3"),
        (&["target_triple=aarch64-unknown-linux-gnu", "target_cpu=x86-64-v3"], "no extensions of x86-64"),
        (&["ir=1"], "no driver option `ir=1`"),
        (&["code=1"], "no driver option `code=1`"),
    ] {
        let error = DRIVER.target(options).expect_err("an error").to_string();
        assert!(error.contains(problem), "{options:?}: {error}");
    }
}

#[test]
fn what_is_no_object_is_refused() {
    // SAFETY: NULL is allowed.
    let error = unsafe { load(std::ptr::null()) }.expect_err("an error");
    assert_eq!(error, CpuError::NotAnObject);
}

/// A sample of real shaders of all stages.
#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn real_shaders_become_objects() {
    let compiler = compiler(&["target_triple=x86_64-unknown-linux-gnu"]);
    let (mut objects, mut with_code) = (0, 0);
    for path in shaders(&shared("corpus")).into_iter().step_by(5) {
        let text = std::fs::read(&path).expect("a readable file");
        let Ok(parsed) = tgsi::text::parse(&text) else { continue };
        let lowered = compiler.ir_at(Stage::Registers, &parsed.shader).expect("it is lowered");
        let Ok(Code::Object(object)) = compiler.compile(&parsed.shader) else {
            panic!("{}: no object", path.display())
        };
        check(&object, &lowered);
        objects += 1;
        with_code += usize::from(functions(&object::File::parse(&object.bytes[..]).expect("an object file")) > 0);
    }
    println!("{objects} objects, {with_code} with functions");
    assert!(objects > 100 && with_code * 10 > objects * 9, "{objects} {with_code}");
}
