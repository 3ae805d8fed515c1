//! Comparison with Mesa's tools and their tests.

mod tools;

use pretty_assertions::assert_eq;
use std::path::{Path, PathBuf};
use tgsi_driver_intel::isa::{Chip, decode_program, encode_program};
use tgsi_driver_intel::text::{Listing, assemble};

/// The tests of each generation: the folder, and the number of its files.
const TESTS: [(Chip, &str, usize); 2] = [(Chip::Gen7, "gen7", 44), (Chip::Gen75, "gen7.5", 46)];

fn source() -> PathBuf {
    std::env::var_os("TGSIC_MESA_SOURCE").expect("TGSIC_MESA_SOURCE names the source of Mesa").into()
}

/// The bytes of words, four words to a line.
fn hex(words: &[u32]) -> String {
    let line = |words: &[u32]| {
        let bytes: Vec<_> =
            words.iter().flat_map(|word| word.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect();
        bytes.join(" ")
    };
    words.chunks(4).map(line).collect::<Vec<_>>().join("\n")
}

/// Asserts that a file of assembly has the expected words, and that its listing has them too. Returns the number of
/// instructions.
fn check(chip: Chip, path: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap();
    let expected = std::fs::read_to_string(path.with_extension("expected")).unwrap();
    let program = assemble(&text, chip).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
    let words = encode_program(&program, chip).unwrap();
    assert_eq!(hex(&words), expected.trim_end(), "{}", path.display());
    assert_eq!(decode_program(&words, chip).unwrap(), program, "{}", path.display());
    let listing = Listing(&program).to_string();
    let again = assemble(&listing, chip).unwrap_or_else(|error| panic!("{}:{error}\n{listing}", path.display()));
    assert_eq!(again, program, "{}", path.display());
    program.len()
}

#[test]
#[ignore = "needs the source of Mesa: TGSIC_MESA_SOURCE"]
fn words_are_those_of_the_tests_of_mesa() {
    let folder = source().join("src/intel/compiler/elk/tests");
    for (chip, name, count) in TESTS {
        let entries = std::fs::read_dir(folder.join(name)).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> =
            entries.filter(|path| path.extension().is_some_and(|extension| extension == "asm")).collect();
        files.sort();
        assert_eq!(files.len(), count);
        let instructions: usize = files.iter().map(|path| check(chip, path)).sum();
        println!("{name}: {count} files, {instructions} instructions");
    }
}
