//! The documentation of the error codes: one page per code, with a wrong and a right example.
//!
//! The folder `pages` has a file for each range of codes, including those of the IR and of the command; drivers and
//! further front ends have theirs in their crates. Tests of the command line compare the pages with the tables of
//! errors (every code has a page, every page has a code) and run the examples. Codes are never reused.
//!
//! | codes | subject |
//! |---|---|
//! | T0001 | TGSI text, from T0090 warnings |
//! | T0100 | limits |
//! | T0200 | token streams, from T0250 encoding |
//! | T0300 | the check: stage and control flow, from T0330 declarations, from T0370 properties |
//! | T0400 | the check: operands, from T0450 textures and memory |
//! | T0500 | warnings of the check |
//! | T0600 | conversion to the IR, from T0620 runs of TGSI |
//! | T0700 | the driver for TGSI |
//! | T0800 | arguments and files of the command line |
//! | T1000 | IR text |
//! | T1100 | the validator of the IR |
//! | T1400 | runs of the IR |
//! | T1500 | SPIR-V |
//! | T2000 | the driver for SPIR-V |
//! | T2100 | the drivers for WGSL, GLSL, ESSL, MSL and HLSL |
//! | T2200 | the CPU driver |
//! | T2300 | free, a hundred codes for each driver or front end |
//! | T2600 | the driver for Intel's Gen7 and Gen7.5 |
//!
//! # Format
//!
//! A page begins with `== CODE error|warning NAME`, followed by a one-line title, an explanation in paragraphs, and two
//! shaders: `wrong:` has only this finding, `right:` has none. Their arguments follow the word. A page without examples
//! gives the reason in a line `without example: ...`. Token streams are in hexadecimal; IR is either the content of the
//! first block of a fragment shader, or a complete text.

use std::sync::LazyLock;

use tgsi_diagnostics::Severity;

/// The files.
const FILES: &[&str] = &[
    include_str!("pages/text.txt"),
    include_str!("pages/limits.txt"),
    include_str!("pages/tokens.txt"),
    include_str!("pages/check.txt"),
    include_str!("pages/warnings.txt"),
    include_str!("pages/conversion.txt"),
    include_str!("pages/runs.txt"),
    include_str!("pages/command.txt"),
    include_str!("pages/ir_text.txt"),
    include_str!("pages/ir_validator.txt"),
    include_str!("pages/ir_runs.txt"),
];

/// The text before an example that consists of the content of a block.
const IR_HEAD: &str =
    "shader: MESA_SHADER_FRAGMENT\ndecl_function main () (entrypoint)\n\nimpl main {\n    block b0:\n";
/// The text after such an example.
const IR_TAIL: &str = "    block b1:\n}\n";

/// A page.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Page {
    /// The code, `T0123`.
    pub id: &'static str,
    /// The name of the code, in kebab case.
    pub name: &'static str,
    /// Whether it is an error or a warning.
    pub severity: Severity,
    /// The finding in one line.
    pub title: &'static str,
    /// The explanation and the remedy, in paragraphs.
    pub text: String,
    /// A shader that has the finding.
    pub wrong: Option<Example>,
    /// A shader that does not have it.
    pub right: Option<Example>,
    /// The reason for the lack of examples, if the page has none.
    pub without: Option<&'static str>,
}

/// An example.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Example {
    /// Command-line arguments of the example, such as `--limit instructions=2`.
    pub arguments: Vec<&'static str>,
    /// TGSI text, TGSI words in hexadecimal, or IR text, which may consist of only the content of the first block.
    pub text: String,
}

/// The language of an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExampleLanguage {
    /// TGSI text.
    Text,
    /// TGSI tokens in hexadecimal.
    Words,
    /// IR text.
    Ir,
}

impl Page {
    /// Returns the language of an example, which follows from the range of the page's code; drivers have examples in
    /// two.
    pub fn language(&self, example: &Example) -> ExampleLanguage {
        let is_ir = || ["    ", "shader:"].iter().any(|start| example.text.starts_with(start));
        match self.id.get(1..).and_then(|digits| digits.parse::<u32>().ok()) {
            Some(200..250) => ExampleLanguage::Words,
            Some(1000..2000) => ExampleLanguage::Ir,
            Some(700..800 | 2000..) if is_ir() => ExampleLanguage::Ir,
            _ => ExampleLanguage::Text,
        }
    }

    /// Returns the bytes of a file with the example.
    pub fn file(&self, example: &Example) -> Vec<u8> {
        match self.language(example) {
            ExampleLanguage::Text => example.text.clone().into_bytes(),
            ExampleLanguage::Words => {
                let words = example.text.split_whitespace().filter_map(|word| u32::from_str_radix(word, 16).ok());
                words.flat_map(u32::to_le_bytes).collect()
            }
            ExampleLanguage::Ir if example.text.starts_with("    ") => {
                format!("{IR_HEAD}{}{IR_TAIL}", example.text).into_bytes()
            }
            ExampleLanguage::Ir => example.text.clone().into_bytes(),
        }
    }
}

/// Returns the pages of TGSI, the IR and the command, ordered by code.
pub fn pages() -> &'static [Page] {
    static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| FILES.iter().flat_map(|file| parse(file)).collect());
    &PAGES
}

/// Returns the pages for a word: a code (`T0123`, `123`, `G0123`) or a name, which can belong to codes of several
/// languages.
pub fn find<'p>(pages: &'p [Page], word: &str) -> Vec<&'p Page> {
    let word = word.trim();
    let digits = word.strip_prefix(['T', 't']).unwrap_or(word);
    let number = digits.parse::<u16>().ok().filter(|_| digits.len() <= 4);
    let id = number.map(|number| format!("T{number:04}"));
    let is_found = |page: &&Page| {
        id.as_deref() == Some(page.id) || page.id.eq_ignore_ascii_case(word) || page.name.eq_ignore_ascii_case(word)
    };
    pages.iter().filter(is_found).collect()
}

/// Parses the pages of a file.
pub fn parse(file: &'static str) -> Vec<Page> {
    let mut pages = Vec::new();
    let mut lines = file.lines().peekable();
    while let Some(head) = lines.next() {
        let Some((id, rest)) = head.trim_start_matches("== ").split_once(' ') else { continue };
        let (severity, name) = rest.split_once(' ').unwrap_or(("", rest));
        let mut page = Page {
            id,
            name,
            severity: if severity == "warning" { Severity::Warning } else { Severity::Error },
            title: lines.next().unwrap_or_default(),
            text: String::new(),
            wrong: None,
            right: None,
            without: None,
        };
        let mut example: Option<Example> = None;
        let mut is_wrong = false;
        while let Some(line) = lines.next_if(|line| !line.starts_with("== ")) {
            let label = ["wrong", "right"].into_iter().find_map(|label| Some((label, line.strip_prefix(label)?)));
            if let Some((label, arguments)) = label.filter(|_| line.ends_with(':')) {
                finish(&mut page, example.take(), is_wrong);
                is_wrong = label == "wrong";
                let arguments = arguments.trim_end_matches(':').split_whitespace().collect();
                example = Some(Example { arguments, text: String::new() });
            } else if let Some(reason) = line.strip_prefix("without example: ") {
                page.without = Some(reason);
            } else if let Some(example) = &mut example {
                example.text.push_str(line.strip_prefix("    ").unwrap_or(line));
                example.text.push('\n');
            } else {
                page.text.push_str(line);
                page.text.push('\n');
            }
        }
        finish(&mut page, example, is_wrong);
        page.text = page.text.trim().to_owned();
        pages.push(page);
    }
    pages
}

fn finish(page: &mut Page, example: Option<Example>, is_wrong: bool) {
    let Some(mut example) = example else { return };
    // Examples are a paragraph; the blank lines between them are not part of them.
    while example.text.ends_with("\n\n") {
        example.text.pop();
    }
    if example.text == "\n" {
        example.text.clear();
    }
    if is_wrong { page.wrong = Some(example) } else { page.right = Some(example) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_found() {
        let find = |word| find(pages(), word);
        for word in ["T0001", "t0001", "1", "0001", "empty-text"] {
            let found: Vec<_> = find(word).iter().map(|page| page.id).collect();
            assert_eq!(found, ["T0001"], "{word}");
        }
        assert!(find("T9999").is_empty() && find("").is_empty() && find("99999").is_empty());
        assert_eq!(find("unknown-opcode").len(), 2, "of TGSI and of the IR");
    }
}
