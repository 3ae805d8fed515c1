//! Compares the manual (`drivers/tgsic/virgl/manual`) with the code.

#[path = "../../../../ir/tests/support/manual.rs"]
mod support;

use support::{check_pages, page};
use tgsi_virgl::commands::{SHADER, number};
use tgsi_virgl::limits::{
    MAX_CLIENTS, MAX_DESCRIPTORS, MAX_HELD_BYTES, MAX_PACKET_WORDS, MAX_STREAM_OUTPUTS, MAX_SUB_CONTEXTS,
    MAX_SUBMIT_BYTES, MAX_TEXT_BYTES,
};
use tgsi_virgl::shader::WireStage;
use tgsi_virgl::vtest::{Action, HEADER_BYTES, action, id};

const FOLDER: &str = "manual";

#[test]
fn pages_are_in_order() {
    check_pages(FOLDER);
}

/// Returns the number of words at the beginning of a body cell.
fn words_of(body: &str) -> Option<u64> {
    let word = body.split(' ').next()?;
    if word == "none" { Some(0) } else { word.parse().ok() }
}

#[test]
fn messages_are_as_long_as_they_are_read() {
    let rows = page(FOLDER, "vtest.md").rows("messages");
    let numbers: Vec<u32> = rows.iter().map(|row| row.cells[0].parse().expect("a number")).collect();
    let known = |number: u32| {
        let bytes: Vec<u8> = [0, number].into_iter().chain([0; 12]).flat_map(u32::to_le_bytes).collect();
        action(&bytes)
    };
    let expected: Vec<u32> = (0..1000).filter(|&number| known(number).is_ok()).collect();
    assert_eq!(numbers, expected, "messages in the manual and in the code");
    for (row, number) in rows.iter().zip(numbers) {
        let varies =
            matches!(number, id::TRANSFER_PUT | id::SUBMIT_CMD | id::CREATE_RENDERER | id::SYNC_WAIT | id::SUBMIT_CMD2);
        if !varies {
            let words = words_of(&row.cells[2]).expect("a number of words");
            assert_eq!(known(number), Ok(Action::Pass(HEADER_BYTES as u64 + words * 4)), "message {number}");
        }
    }
}

#[test]
fn commands_have_their_numbers() {
    let page = page(FOLDER, "commands.md");
    let rows = page.rows("commands");
    let commands = [
        ("CREATE_OBJECT", number::CREATE_OBJECT),
        ("BIND_OBJECT", number::BIND_OBJECT),
        ("DESTROY_OBJECT", number::DESTROY_OBJECT),
        ("SET_SUB_CTX", number::SET_SUB_CTX),
        ("CREATE_SUB_CTX", number::CREATE_SUB_CTX),
        ("DESTROY_SUB_CTX", number::DESTROY_SUB_CTX),
        ("BIND_SHADER", number::BIND_SHADER),
    ];
    for (name, number) in commands {
        let row = rows.iter().find(|row| row.cells[0] == name).unwrap_or_else(|| panic!("the manual lacks {name}"));
        assert_eq!(row.cells[1], number.to_string(), "{name}");
    }
    assert!(page.text.contains(&format!("| shader | {SHADER} |")));
    assert_eq!(WireStage::ALL.len(), 6, "the stages of word 2");
}

/// Formats a number with commas.
fn with_commas(number: usize) -> String {
    match number {
        0..10_000 => number.to_string(),
        _ => format!("{},{:03}", number / 1000, number % 1000),
    }
}

#[test]
fn limits() {
    let mib = |bytes: usize| format!("{} MiB", bytes >> 20);
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let expected = [
        row("bytes of a SUBMIT_CMD", mib(MAX_SUBMIT_BYTES)),
        row("bytes of a text", mib(MAX_TEXT_BYTES)),
        row("bytes of incomplete shaders of a connection", mib(MAX_HELD_BYTES)),
        row("sub-contexts of a connection", with_commas(MAX_SUB_CONTEXTS)),
        row("stream outputs of a shader", MAX_STREAM_OUTPUTS.to_string()),
        row("words of a packet that is written", with_commas(MAX_PACKET_WORDS)),
        row("descriptors in one message", MAX_DESCRIPTORS.to_string()),
        row("clients", MAX_CLIENTS.to_string()),
    ];
    page(FOLDER, "proxy.md").check_table("limits", 0, &expected);
}

/// Converts `TexLz` to `TEX_LZ`.
fn tgsi_name(variant: &str) -> String {
    let underscore = |(place, letter): (usize, char)| {
        let separator = if place > 0 && letter.is_ascii_uppercase() { "_" } else { "" };
        format!("{separator}{}", letter.to_ascii_uppercase())
    };
    variant.chars().enumerate().map(underscore).collect()
}

/// The list of opcodes and properties that the translation avoids is private, so the test parses its source.
#[test]
fn hosts_lack_what_the_translation_avoids() {
    let source = include_str!("../../../tgsi/src/emit/finish_virgl.rs");
    let words = |start: &str, end: &str| -> Vec<String> {
        let part = source.split_once(start).and_then(|(_, rest)| rest.split_once(end)).expect(start).0;
        let words = part.split(|c: char| !c.is_alphanumeric()).filter(|w| w.starts_with(|c: char| c.is_uppercase()));
        let names: Vec<String> = words.filter(|word| *word != "PropertyName").map(tgsi_name).collect();
        assert!(names.len() > 5, "the source was not understood: {names:?}");
        names
    };
    let page = page(FOLDER, "host.md");
    let section = |name: &str| page.text.split(&format!("\n## {name}\n")).nth(1).and_then(|s| s.split("\n## ").next());
    let opcodes = section("Opcodes").expect("a section");
    for opcode in words("opcode,\n", "\n        )") {
        assert!(opcodes.contains(&format!("`{opcode}`")), "host.md lacks {opcode}, which hosts do not support");
    }
    let text = section("Text").expect("a section");
    for property in words("name,\n", "\n    )") {
        assert!(text.contains(&format!("`{property}`")), "host.md lacks {property}, which hosts reject");
    }
}
