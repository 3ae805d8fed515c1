//! Listings beside those of Mesa's disassembler. The test needs gcc and the source of Mesa 25.0:
//! `TGSIC_MESA_SOURCE=<folder> cargo test -p tgsi-driver-midgard mesa -- --ignored --nocapture`.

use crate::generate;
use crate::support::Choice;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tgsi_driver_midgard::isa::alu::{
    AluBundle, Scalar, ScalarOperand, UnitInstruction, Vector, VectorOperand, VectorSource,
};
use tgsi_driver_midgard::isa::load_store::{Class, LoadStore};
use tgsi_driver_midgard::isa::texture::Offset;
use tgsi_driver_midgard::isa::{Body, Bundle, Chip, Register, Swizzle, Width, encode_program};
use tgsi_driver_midgard::text::{Listing, Options};

const PROGRAMS: usize = 10_000;
const BUNDLES: usize = 10;

/// The words of Mesa's comments on invalid programs.
const COMPLAINTS: [&str; 9] =
    ["XXX", "/* err", "/* do", "/* invalid", "/* zero", "/* bias_int", "missing?", "unknown bit", "reserved"];

/// Compiles Mesa's disassembler.
fn build(source: &Path) -> PathBuf {
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("midgard_disassembler");
    let files = [
        "src/panfrost/midgard/disassemble.c",
        "src/panfrost/midgard/midgard_ops.c",
        "src/panfrost/midgard/midgard_print_constant.c",
        "src/util/half_float.c",
        "src/util/softfloat.c",
    ];
    let folders = ["src", "src/util", "src/panfrost/midgard", "include"];
    let status = Command::new("gcc")
        .args(["-O1", "-w", "-D_GNU_SOURCE", "-DHAVE_PTHREAD", "-DHAVE_ENDIAN_H", "-DHAVE_STRUCT_TIMESPEC"])
        .args(folders.map(|folder| format!("-I{}", source.join(folder).display())))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mesa/main.c"))
        .args(files.map(|file| source.join(file)))
        .args([OsStr::new("-lm"), OsStr::new("-o"), program.as_os_str()])
        .status()
        .expect("gcc starts");
    assert!(status.success());
    program
}

/// Mesa's text of programs.
fn run(program: &Path, input: Vec<u8>) -> Vec<String> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator("--\n").map(str::to_owned).collect()
}

fn sources(vector: &Vector) -> impl Iterator<Item = &VectorSource> {
    let second = match &vector.second {
        VectorOperand::Source(source) => Some(source),
        VectorOperand::Immediate(_) => None,
    };
    [Some(&vector.first), second].into_iter().flatten().filter(|source| source.register == Register::CONSTANTS)
}

/// Mesa's disassembler ends at expanded constants of 8 bits.
fn is_accepted(body: &Body) -> bool {
    let Body::Alu(bundle) = body else { return true };
    bundle.instructions().all(|(_, instruction)| match instruction {
        UnitInstruction::Vector(vector) => {
            vector.width != Width::W16 || !sources(vector).any(|source| source.expand.expands())
        }
        UnitInstruction::Scalar(_) => true,
    })
}

fn vector_difference(vector: &Vector) -> Option<&'static str> {
    if sources(vector).any(|source| source.expand.expands()) {
        return Some("expanded constants: Mesa's lanes are not those of the instruction");
    }
    if vector.width == Width::W16 && vector.components() > 15 && sources(vector).next().is_some() {
        return Some("constants of 16 bits in the upper half: Mesa reads the first selector there as 0");
    }
    let is_selected = sources(vector).any(|source| source.swizzle != Swizzle::IDENTITY);
    (vector.width == Width::W64 && is_selected)
        .then_some("selected constants of 64 bits: Mesa reads one selector for a component")
}

fn scalar_difference(scalar: &Scalar) -> Option<&'static str> {
    let second = match scalar.second {
        ScalarOperand::Source(source) => Some(source),
        ScalarOperand::Immediate(_) => None,
    };
    let mut constants =
        [Some(scalar.first), second].into_iter().flatten().filter(|source| source.register == Register::CONSTANTS);
    constants
        .any(|source| source.component.is_full() && source.component.index() != 0)
        .then_some("scalar constants of 32 bits: Mesa doubles the index")
}

fn load_store_difference(instruction: &LoadStore) -> Option<&'static str> {
    let row = instruction.op.row();
    if row.class.is_atomic() && row.name.contains("64") {
        Some("atomic operations with 64 bits: Mesa's table has one row for both byte orders")
    } else if row.class == Class::StoreImage && (row.name.ends_with(".u32") || row.name.ends_with(".s32")) {
        Some("stores of images: Mesa's names of signed and unsigned are exchanged")
    } else {
        None
    }
}

/// The known differences of the lines of a bundle.
fn lines(bundle: &Bundle) -> Vec<Option<&'static str>> {
    let mut lines = Vec::new();
    match &bundle.body {
        Body::Alu(alu) => {
            lines.extend(alu.instructions().map(|(_, instruction)| match instruction {
                UnitInstruction::Vector(vector) => vector_difference(vector),
                UnitInstruction::Scalar(scalar) => scalar_difference(scalar),
            }));
            let AluBundle { branch, constants, is_writeout, .. } = alu;
            let others = usize::from(branch.is_some()) + usize::from(constants.is_some()) + usize::from(*is_writeout);
            lines.resize(lines.len() + others, None);
        }
        Body::LoadStore(pair) => lines.extend(pair.0.iter().flatten().map(load_store_difference)),
        Body::Texture(texture) => {
            lines.push(match texture.offset {
                Offset::Immediate(offset) if offset.iter().any(|&offset| offset < 0) => {
                    Some("negative offsets: Mesa shows them modulo 16")
                }
                _ => None,
            });
            if texture.unknown4 != 0 || texture.unknown8 != 0 {
                lines.extend([None; 2]);
            }
        }
        Body::Barrier(_) => lines.push(None),
    }
    lines.push(None);
    lines
}

#[test]
#[ignore = "needs the source of Mesa: TGSIC_MESA_SOURCE"]
fn listings_are_those_of_mesa() {
    let source = std::env::var_os("TGSIC_MESA_SOURCE").expect("TGSIC_MESA_SOURCE names the source of Mesa");
    let disassembler = build(Path::new(&source));
    let mut choice = Choice::new(5);
    let mut input = Vec::new();
    let mut programs = Vec::new();
    for _ in 0..PROGRAMS {
        let program = generate::program(&mut choice, BUNDLES, is_accepted);
        let options = Options { chip: choice.of(Chip::ALL), verbose: choice.is() };
        let words = encode_program(&program).unwrap();
        let header = [words.len() as u32, options.chip.id(), options.verbose.into()];
        input.extend(header.iter().chain(&words).flat_map(|word| word.to_le_bytes()));
        programs.push((program, options));
    }
    let theirs = run(&disassembler, input);
    assert_eq!(theirs.len(), programs.len());
    let mut equal = 0;
    let mut different = BTreeMap::<_, (u32, u32, String)>::new();
    for ((program, options), theirs) in programs.iter().zip(&theirs) {
        let ours = Listing { bundles: program, options: *options }.to_string();
        let mut kinds: Vec<_> = program.iter().flat_map(lines).collect();
        // The last bundle may have a further line.
        kinds.push(None);
        let (ours_count, theirs_count) = (ours.lines().count(), theirs.lines().count());
        assert_eq!(ours_count, theirs_count, "{ours}\n{theirs}");
        assert!(ours_count <= kinds.len(), "{ours}");
        for ((ours, theirs), kind) in ours.lines().zip(theirs.lines()).zip(kinds) {
            assert!(!COMPLAINTS.iter().any(|complaint| theirs.contains(complaint)), "{theirs}");
            if ours == theirs {
                equal += 1;
                if let Some(kind) = kind {
                    different.entry(kind).or_default().0 += 1;
                }
                continue;
            }
            let kind = kind.unwrap_or_else(|| panic!("\nours   {ours}\ntheirs {theirs}"));
            let entry = different.entry(kind).or_default();
            entry.1 += 1;
            entry.2 = format!("  ours   {ours}\n  theirs {theirs}");
        }
    }
    println!("{} bundles, {equal} equal lines", PROGRAMS * BUNDLES);
    for (kind, (equal, count, example)) in different {
        println!("{count} different, {equal} equal: {kind}\n{example}");
    }
}
