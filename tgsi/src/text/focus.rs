//! Finds the token that a finding refers to. The shader stores the positions of items, not of their words, because only
//! findings need the latter, and findings are rare.

use tgsi_diagnostics::Span;
use tgsi_diagnostics::{Diagnostic, Focus};

use super::lexer;

/// Narrows the spans of findings and of their notes to the relevant tokens. `text` must be the text that the spans
/// refer to. If the token is missing (because the text has a macro or an old name instead), the span is unchanged.
pub fn focus(text: &[u8], diagnostics: &mut [Diagnostic]) {
    for diagnostic in diagnostics {
        narrow(text, &mut diagnostic.span, &mut diagnostic.focus);
        for note in &mut diagnostic.notes {
            narrow(text, &mut note.span, &mut note.focus);
        }
    }
}

fn narrow(text: &[u8], span: &mut Span, focus: &mut Focus) {
    let wanted = std::mem::take(focus);
    let Some(item) = text.get(span.start as usize..span.end as usize) else { return };
    let part = match wanted {
        Focus::Whole => None,
        Focus::Mnemonic => mnemonic(item),
        Focus::Suffix(suffix) => suffix_of(item, suffix),
        Focus::Word(name) => {
            words(item).skip(1).find(|&(from, to)| item[from..to].eq_ignore_ascii_case(name.as_bytes()))
        }
        Focus::Register => register(item),
        Focus::Last => words(item).last(),
        Focus::Components => item.iter().rposition(|&byte| byte == b'.').map(|dot| (dot, item.len())),
    };
    if let Some((from, to)) = part {
        let start = span.start;
        *span = Span::new(start + from as u32, start + to as u32);
    }
}

/// Returns the ranges of the words of an item, without comments.
fn words(item: &[u8]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = item.get(at..)?;
            if rest.is_empty() {
                return None;
            }
            let blanks = rest.len() - lexer::skip_blanks(rest).len();
            at += blanks;
            match lexer::word(item.get(at..)?) {
                Some(word) => {
                    let from = at;
                    at += word.len();
                    return Some((from, at));
                }
                None if blanks == 0 => at += 1,
                None => {}
            }
        }
    })
}

/// Returns the mnemonic without suffixes such as `_SAT`.
fn mnemonic(item: &[u8]) -> Option<(usize, usize)> {
    let word = lexer::word(item)?;
    let (name, _) = super::legacy::split_suffixes(word);
    Some((0, name.len()))
}

fn suffix_of(item: &[u8], suffix: &str) -> Option<(usize, usize)> {
    let word = lexer::word(item)?;
    let at = word.bytes().windows(suffix.len()).rposition(|part| part.eq_ignore_ascii_case(suffix.as_bytes()))?;
    Some((at, at + suffix.len()))
}

/// Returns the range from the second word (of an immediate, the first) to the last of the brackets that touch it.
fn register(item: &[u8]) -> Option<(usize, usize)> {
    let is_immediate = lexer::word(item).is_some_and(|word| item.get(word.len()) == Some(&b'['));
    let (from, mut to) = words(item).nth(usize::from(!is_immediate))?;
    while item.get(to) == Some(&b'[') {
        to += item.get(to..)?.iter().position(|&byte| byte == b']')? + 1;
    }
    Some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tgsi_diagnostics::ErrorCode;

    fn token(item: &str, wanted: Focus) -> String {
        let text = format!("FRAG\n{item} ; rest");
        let span = Span::new(5, 5 + item.len() as u32);
        let mut found = [Diagnostic::error(ErrorCode::new("T9999", "x"), span, "x").with_focus(wanted)];
        focus(text.as_bytes(), &mut found);
        assert_eq!(found[0].focus, Focus::Whole);
        text[found[0].span.start as usize..found[0].span.end as usize].to_owned()
    }

    #[test]
    fn tokens_of_items() {
        let declaration = "DCL IN[][0..3].xy, # COLOR\n GENERIC[1], Linear, CENTROID";
        assert_eq!(token(declaration, Focus::Register), "IN[][0..3]");
        assert_eq!(token(declaration, Focus::Word("GENERIC")), "GENERIC");
        assert_eq!(token(declaration, Focus::Word("LINEAR")), "Linear");
        assert_eq!(token(declaration, Focus::Word("COLOR")), declaration, "it is in a comment only");
        assert_eq!(token(declaration, Focus::Word("DCL")), declaration, "the first word is not an attribute");
        assert_eq!(token("PROPERTY FS_COORD_ORIGIN  7", Focus::Last), "7");
        let instruction = "TEX_SAT OUT[0].xy, IN[0], SAMP[0], 2D";
        assert_eq!(token(instruction, Focus::Mnemonic), "TEX");
        assert_eq!(token(instruction, Focus::Suffix("_SAT")), "_SAT");
        assert_eq!(token(instruction, Focus::Word("2D")), "2D");
        assert_eq!(token("TEMP[ADDR[0].x+1].xyxy", Focus::Components), ".xyxy");
        assert_eq!(token("IMM[12] FLT32 {1, 2, 3, 4}", Focus::Register), "IMM[12]");
        assert_eq!(token("DCL", Focus::Register), "DCL");
    }
}
