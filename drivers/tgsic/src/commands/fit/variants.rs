//! The sets of definitions of `fit --variants`. A line of the file is a name and definitions: `shadows: -D SHADOWS=1 -D FOO`.

use std::path::Path;

use crate::input::Source;
use crate::status::Failure;

/// A set of definitions.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Variant {
    /// The name; empty for the shader without further definitions.
    pub(super) name: String,
    /// The definitions, as options of front ends.
    pub(super) options: Vec<String>,
}

impl Variant {
    /// Returns the source for messages: with the name of the variant.
    pub(super) fn shown(&self, source: &Source) -> Source {
        let same = source.with_bytes(&source.bytes);
        match self.name.as_str() {
            "" => same,
            name => same.renamed(format!("{} [{name}]", source.name())),
        }
    }
}

/// An error in a line: the column in bytes, the problem, a remedy.
type Wrong = (usize, String, &'static str);

const FORM: &str = "a line is a name and definitions: `shadows: -D SHADOWS=1 -D FOO`";
const QUOTES: &str = "quote a definition with blanks: `-D \"SIZE=vec2(1.0, 2.0)\"`";

/// Reads the sets of a file.
pub(super) fn read(path: &Path) -> Result<Vec<Variant>, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::Read { path: path.to_owned(), error })?;
    let failure =
        |line, (column, problem, hint)| Failure::Variants { path: path.to_owned(), line, column, problem, hint };
    let mut variants: Vec<Variant> = Vec::new();
    for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        let text = std::str::from_utf8(line).map_err(|error| {
            failure(number, (error.valid_up_to() + 1, "the line is not UTF-8".to_owned(), "save the file as UTF-8"))
        })?;
        let Some(variant) = parse(text).map_err(|wrong| failure(number, wrong))? else { continue };
        if variants.iter().any(|known| known.name == variant.name) {
            let problem = format!("there is another set with the name `{}`", variant.name);
            return Err(failure(number, (indent(text) + 1, problem, "each set needs its own name")));
        }
        variants.push(variant);
    }
    if variants.is_empty() {
        return Err(failure(1, (1, "the file has no sets of definitions".to_owned(), FORM)));
    }
    Ok(variants)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Parses a line; `None` if it has only blanks or a comment.
fn parse(line: &str) -> Result<Option<Variant>, Wrong> {
    let start = indent(line);
    let rest = line.get(start..).unwrap_or_default();
    if rest.is_empty() || rest.starts_with('#') {
        return Ok(None);
    }
    let Some((name, _)) = rest.split_once(':') else {
        return Err((start + 1, "there is no `:` after the name".to_owned(), FORM));
    };
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
    let end = name.trim_end().len();
    if end == 0 {
        return Err((start + 1, "there is no name before `:`".to_owned(), FORM));
    }
    if let Some((at, wrong)) = name.get(..end).unwrap_or_default().char_indices().find(|&(_, c)| !is_part(c)) {
        let problem = format!("`{}` in the name of a set", wrong.escape_debug());
        return Err((start + at + 1, problem, "a name has letters, digits and `_`, `-`, `.`, `+`"));
    }
    let mut variant = Variant { name: name.get(..end).unwrap_or_default().to_owned(), options: Vec::new() };
    let mut words = Words { line, at: start + name.len() + 1 };
    while let Some((at, word)) = words.next()? {
        let Some(definition) = word.strip_prefix("-D") else {
            return Err((at + 1, format!("`{word}` is not a definition"), FORM));
        };
        let (at, definition) = match definition {
            "" => words.next()?.ok_or((at + 1, "`-D` without a definition".to_owned(), FORM))?,
            definition => (at + 2, definition.to_owned()),
        };
        let first = definition.chars().next();
        if !first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_') {
            let problem = format!("`{definition}` does not begin with the name of a macro");
            return Err((at + 1, problem, FORM));
        }
        variant.options.push(format!("define={definition}"));
    }
    Ok(Some(variant))
}

/// The words of a line. Blanks separate them, except between quotes.
struct Words<'l> {
    line: &'l str,
    at: usize,
}

impl Words<'_> {
    /// Returns the next word with its place; `None` at the end, or before a comment.
    fn next(&mut self) -> Result<Option<(usize, String)>, Wrong> {
        let rest = self.line.get(self.at..).unwrap_or_default();
        let start = self.at + indent(rest);
        let rest = rest.trim_start();
        if rest.is_empty() || rest.starts_with('#') {
            return Ok(None);
        }
        let (mut word, mut quote) = (String::new(), None);
        self.at = self.line.len();
        for (at, c) in rest.char_indices() {
            match c {
                '"' if quote.is_some() => quote = None,
                '"' => quote = Some(start + at),
                c if c.is_whitespace() && quote.is_none() => {
                    self.at = start + at;
                    break;
                }
                c => word.push(c),
            }
        }
        match quote {
            Some(at) => Err((at + 1, "the quote does not end".to_owned(), QUOTES)),
            None => Ok(Some((start, word))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn lines_are_sets() {
        let set = |line| parse(line).unwrap().map(|variant| (variant.name, variant.options));
        let expected = |name: &str, options: &[&str]| {
            Some((name.to_owned(), options.iter().map(|option| format!("define={option}")).collect()))
        };
        assert_eq!(set("shadows: -D SHADOWS=1 -D FOO"), expected("shadows", &["SHADOWS=1", "FOO"]));
        assert_eq!(set("  a-1 :-DA=-DB -D B= # -D C\r"), expected("a-1", &["A=-DB", "B="]));
        assert_eq!(
            set("q: -D \"SIZE=vec2(1.0, 2.0)\" -D\"X=a # b\""),
            expected("q", &["SIZE=vec2(1.0, 2.0)", "X=a # b"])
        );
        assert_eq!(set("plain:"), expected("plain", &[]));
        assert_eq!(set("f: -D F(x)=x*x"), expected("f", &["F(x)=x*x"]));
        for none in ["", " \t\r", "# a: -D B", "  #"] {
            assert_eq!(set(none), None, "{none:?}");
        }
    }

    #[test]
    fn wrong_lines_have_a_column() {
        for (line, column, problem) in [
            ("shadows -D A", 1, "there is no `:` after the name"),
            ("  : -D A", 3, "there is no name before `:`"),
            (" a b: -D A", 3, "` ` in the name of a set"),
            ("a: B", 4, "`B` is not a definition"),
            ("a: -D A -E", 9, "`-E` is not a definition"),
            ("a: -D A -D", 9, "`-D` without a definition"),
            ("a: -D A -D # B", 9, "`-D` without a definition"),
            ("a: -D 1=2", 7, "`1=2` does not begin with the name of a macro"),
            ("a: -D=2", 6, "`=2` does not begin with the name of a macro"),
            ("a: -D \"A=1", 7, "the quote does not end"),
            ("a: -D \"\"", 7, "`` does not begin with the name of a macro"),
        ] {
            let (found, message, _) = parse(line).unwrap_err();
            assert_eq!((found, message.as_str()), (column, problem), "{line}");
        }
    }
}
