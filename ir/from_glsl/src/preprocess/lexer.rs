//! Preprocessing tokens from bytes.
//!
//! Line continuations are removed on the fly and a comment counts as a space, so no second copy of the text exists.
//! Spans are those of the original text, continuations included. The lexer reports nothing itself: characters outside
//! the language's character set become [`PpKind::Other`], because they are legal in groups that are skipped, in
//! `#error` and in macros without a use.

use tgsi_diagnostics::Span;

use crate::symbol::{Interner, Symbol};
use crate::token::{ExpansionId, Punct};

/// The kind of a preprocessing token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PpKind {
    /// A name or word.
    Identifier,
    /// A number with all letters and digits that follow it.
    Number,
    /// An operator or separator.
    Punct(Punct),
    /// A run of bytes outside ASCII, or one character without a meaning in the language.
    Other,
    /// The end of a line.
    Newline,
    /// The end of the text, of a line that is expanded separately, or of an argument.
    End,
}

/// A preprocessing token.
#[derive(Clone, Copy, Debug)]
pub(super) struct PpToken {
    pub(super) kind: PpKind,
    /// The spelling; without continuations.
    pub(super) symbol: Symbol,
    /// The spelling in the text, continuations included.
    pub(super) span: Span,
    /// The outermost invocation that it is part of.
    pub(super) expansion: ExpansionId,
    /// Whether blanks or a comment precede it.
    pub(super) space: bool,
    /// Whether it is the first of its line.
    pub(super) line_start: bool,
    /// Whether it is the name of a macro inside an expansion of the same macro, which is never expanded again.
    pub(super) painted: bool,
}

impl PpToken {
    /// Whether it is this operator or separator.
    pub(super) fn is(&self, punct: Punct) -> bool {
        self.kind == PpKind::Punct(punct)
    }

    /// Whether a line or text ends here.
    pub(super) fn ends_line(&self) -> bool {
        matches!(self.kind, PpKind::Newline | PpKind::End)
    }
}

/// The spellings of operators and separators as symbols.
pub(super) struct Spellings {
    puncts: Vec<Symbol>,
    /// The empty spelling, of ends.
    pub(super) empty: Symbol,
}

impl Spellings {
    /// Interns the spellings.
    pub(super) fn new(interner: &mut Interner) -> Spellings {
        let mut puncts = vec![interner.intern(""); Punct::ALL.len()];
        for &punct in Punct::ALL {
            if let Some(symbol) = puncts.get_mut(punct as usize) {
                *symbol = interner.intern(punct.text());
            }
        }
        Spellings { puncts, empty: interner.intern("") }
    }

    /// The spelling of an operator or separator.
    pub(super) fn of(&self, punct: Punct) -> Symbol {
        self.puncts.get(punct as usize).copied().unwrap_or(self.empty)
    }
}

/// A position in a text that is split into tokens.
pub(super) struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
    /// Whether only blanks and comments precede the position in its line.
    line_start: bool,
    /// The spelling of a token with a continuation inside.
    scratch: String,
    /// The first continuation, for a warning in versions that lack it.
    pub(super) continuation: Option<Span>,
    /// A comment without an end.
    pub(super) open_comment: Option<Span>,
}

impl<'t> Lexer<'t> {
    /// The start of a text.
    pub(super) fn new(text: &'t [u8], start: u32) -> Lexer<'t> {
        Lexer {
            text,
            at: start as usize,
            line_start: true,
            scratch: String::new(),
            continuation: None,
            open_comment: None,
        }
    }

    /// Whether only blanks and comments precede the position in its line.
    pub(super) fn is_at_line_start(&self) -> bool {
        self.line_start
    }

    /// The position.
    pub(super) fn position(&self) -> u32 {
        self.at as u32
    }

    /// The text of a span.
    pub(super) fn slice(&self, span: Span) -> &'t [u8] {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// The next token. After the last one, always [`PpKind::End`].
    pub(super) fn next(&mut self, interner: &mut Interner, spellings: &Spellings) -> PpToken {
        let space = self.skip_blanks();
        let (byte, start, next) = self.peek(self.at);
        let line_start = std::mem::replace(&mut self.line_start, false);
        let (kind, symbol, end) = match byte {
            None => {
                self.line_start = line_start;
                (PpKind::End, spellings.empty, start)
            }
            Some(b'\n' | b'\r') => {
                self.line_start = true;
                (PpKind::Newline, spellings.empty, start + newline_length(self.text, start))
            }
            Some(b'A'..=b'Z' | b'a'..=b'z' | b'_') => {
                let (symbol, end) = self.spelling(start, is_word, interner);
                (PpKind::Identifier, symbol, end)
            }
            Some(b'0'..=b'9') => self.number(start, interner),
            Some(b'.') if matches!(self.peek(next).0, Some(b'0'..=b'9')) => self.number(start, interner),
            Some(0x80..) => {
                let rest = self.text.get(start..).unwrap_or_default();
                let length = rest.iter().take_while(|&&byte| byte >= 0x80).count();
                let text = String::from_utf8_lossy(rest.get(..length).unwrap_or_default());
                (PpKind::Other, interner.intern(&text), start + length)
            }
            Some(byte) => {
                let (second, _, next2) = self.peek(next);
                let (third, _, next3) = if second.is_some() { self.peek(next2) } else { (None, next2, next2) };
                match operator(byte, second, third) {
                    Some((punct, 1)) => (PpKind::Punct(punct), spellings.of(punct), next),
                    Some((punct, 2)) => (PpKind::Punct(punct), spellings.of(punct), next2),
                    Some((punct, _)) => (PpKind::Punct(punct), spellings.of(punct), next3),
                    None => (PpKind::Other, interner.intern(char::from(byte).encode_utf8(&mut [0; 4])), next),
                }
            }
        };
        self.at = end;
        let span = Span::new(start as u32, end as u32);
        PpToken { kind, symbol, span, expansion: ExpansionId(0), space, line_start, painted: false }
    }

    /// Skips the rest of the line and all lines up to one that begins with `#`. Returns that token, or `None` if no
    /// such line follows.
    pub(super) fn next_directive(&mut self, spellings: &Spellings) -> Option<PpToken> {
        loop {
            if !self.line_start {
                self.skip_line();
            }
            let space = self.skip_blanks();
            let (byte, start, next) = self.peek(self.at);
            self.at = start;
            match byte? {
                b'#' if self.peek(next).0 != Some(b'#') => {
                    self.at = next;
                    self.line_start = false;
                    let (kind, symbol) = (PpKind::Punct(Punct::Hash), spellings.of(Punct::Hash));
                    let span = Span::new(start as u32, next as u32);
                    let expansion = ExpansionId(0);
                    return Some(PpToken { kind, symbol, span, expansion, space, line_start: true, painted: false });
                }
                b'\n' | b'\r' => self.at = start + newline_length(self.text, start),
                _ => self.line_start = false,
            }
        }
    }

    /// Skips the rest of the line without splitting it into tokens.
    fn skip_line(&mut self) {
        loop {
            self.skip_blanks();
            let (byte, start, next) = self.peek(self.at);
            match byte {
                None => {
                    self.at = start;
                    self.line_start = true;
                    return;
                }
                Some(b'\n' | b'\r') => {
                    self.at = start + newline_length(self.text, start);
                    self.line_start = true;
                    return;
                }
                Some(_) => self.at = next,
            }
        }
    }

    /// Skips blanks and comments. Returns whether there are any.
    fn skip_blanks(&mut self) -> bool {
        let begin = self.at;
        loop {
            let (byte, start, next) = self.peek(self.at);
            match byte {
                Some(b' ' | b'\t' | 0x0b | 0x0c) => self.at = next,
                Some(b'/') => match self.peek(next) {
                    (Some(b'/'), _, next) => self.skip_line_comment(next),
                    (Some(b'*'), _, next) => self.skip_block_comment(start, next),
                    _ => return self.at > begin,
                },
                _ => return self.at > begin,
            }
        }
    }

    /// Skips to the newline after a `//` comment, which remains.
    fn skip_line_comment(&mut self, from: usize) {
        self.at = from;
        loop {
            let (byte, start, next) = self.peek(self.at);
            match byte {
                None | Some(b'\n' | b'\r') => {
                    self.at = start;
                    return;
                }
                Some(_) => self.at = next,
            }
        }
    }

    /// Skips a `/*` comment, whose end must not be in its start: `/*/` is open.
    fn skip_block_comment(&mut self, start: usize, from: usize) {
        self.at = from;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(star) = rest.iter().position(|&byte| byte == b'*') else {
                self.open_comment = Some(Span::new(start as u32, from as u32));
                self.at = self.text.len();
                return;
            };
            self.at += star + 1;
            let (byte, _, next) = self.peek(self.at);
            if byte == Some(b'/') {
                self.at = next;
                return;
            }
        }
    }

    /// The byte after continuations at a position, its position and the position after it.
    fn peek(&mut self, at: usize) -> (Option<u8>, usize, usize) {
        match self.text.get(at) {
            Some(b'\\') => self.peek_after_continuations(at),
            Some(&byte) => (Some(byte), at, at + 1),
            None => (None, self.text.len(), self.text.len()),
        }
    }

    /// As [`peek`](Self::peek), at a `\`.
    fn peek_after_continuations(&mut self, mut at: usize) -> (Option<u8>, usize, usize) {
        while self.text.get(at) == Some(&b'\\') {
            let newline = newline_length(self.text, at + 1);
            if newline == 0 {
                break;
            }
            let end = at + 1 + newline;
            self.continuation.get_or_insert(Span::new(at as u32, end as u32));
            at = end;
        }
        match self.text.get(at) {
            Some(&byte) => (Some(byte), at, at + 1),
            None => (None, self.text.len(), self.text.len()),
        }
    }

    /// Reads bytes while `accept` holds, and interns them.
    fn spelling(
        &mut self,
        start: usize,
        mut accept: impl FnMut(u8) -> bool,
        interner: &mut Interner,
    ) -> (Symbol, usize) {
        let rest = self.text.get(start..).unwrap_or_default();
        let length = rest.iter().position(|&byte| !accept(byte)).unwrap_or(rest.len());
        let first = rest.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
        let mut end = start + length;
        if self.text.get(end) != Some(&b'\\') {
            return (interner.intern(first), end);
        }
        self.scratch.clear();
        self.scratch.push_str(first);
        while let (Some(byte), _, next) = self.peek(end)
            && accept(byte)
        {
            self.scratch.push(byte as char);
            end = next;
        }
        (interner.intern(&self.scratch), end)
    }

    /// Reads a number.
    fn number(&mut self, start: usize, interner: &mut Interner) -> (PpKind, Symbol, usize) {
        let mut number = NumberScan::default();
        let (symbol, end) = self.spelling(start, |byte| number.accepts(byte), interner);
        (PpKind::Number, symbol, end)
    }
}

/// Extent of a number: like a preprocessing number of C, but `0xE+1` and `1.0.xx` are several tokens, as the grammar of
/// the language has them.
#[derive(Default)]
struct NumberScan {
    length: usize,
    last: u8,
    hexadecimal: bool,
    dot: bool,
    exponent: bool,
}

impl NumberScan {
    /// Whether the number continues with a byte.
    fn accepts(&mut self, byte: u8) -> bool {
        let accepted = match byte {
            b'x' | b'X' if self.length == 1 && self.last == b'0' => {
                self.hexadecimal = true;
                true
            }
            b'e' | b'E' if !self.hexadecimal => {
                self.exponent = true;
                true
            }
            b'.' => !std::mem::replace(&mut self.dot, true) && !self.hexadecimal && !self.exponent,
            b'+' | b'-' => !self.hexadecimal && matches!(self.last, b'e' | b'E'),
            _ => is_word(byte),
        };
        (self.length, self.last) = (self.length.saturating_add(1), byte);
        accepted
    }
}

/// The one token that a text without blanks spells; `None` if it spells another number of tokens.
pub(super) fn single_token(text: &str, interner: &mut Interner, spellings: &Spellings) -> Option<PpToken> {
    let mut lexer = Lexer::new(text.as_bytes(), 0);
    let token = lexer.next(interner, spellings);
    let is_whole = token.span.end as usize == text.len();
    (is_whole && !matches!(token.kind, PpKind::Other | PpKind::End | PpKind::Newline)).then_some(token)
}

/// Whether a byte can continue a name.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Bytes of the newline at a position: LF, CR, CR LF or LF CR; 0 at other bytes.
pub(super) fn newline_length(text: &[u8], at: usize) -> usize {
    match (text.get(at), text.get(at + 1)) {
        (Some(b'\n'), Some(b'\r')) | (Some(b'\r'), Some(b'\n')) => 2,
        (Some(b'\n' | b'\r'), _) => 1,
        _ => 0,
    }
}

/// The longest operator or separator that three bytes begin with, and its length.
fn operator(first: u8, second: Option<u8>, third: Option<u8>) -> Option<(Punct, usize)> {
    use Punct::*;
    let is_assign = second == Some(b'=');
    let is_double = second == Some(first);
    let simple = |punct, assign| Some(if is_assign { (assign, 2) } else { (punct, 1) });
    let double = |punct, twice, assign| if is_double { Some((twice, 2)) } else { simple(punct, assign) };
    match first {
        b'<' if is_double && third == Some(b'=') => Some((ShlAssign, 3)),
        b'>' if is_double && third == Some(b'=') => Some((ShrAssign, 3)),
        b'<' => double(Less, Shl, LessEqual),
        b'>' => double(Greater, Shr, GreaterEqual),
        b'+' => double(Plus, Increment, AddAssign),
        b'-' => double(Minus, Decrement, SubAssign),
        b'&' => double(And, AndAnd, AndAssign),
        b'|' => double(Or, OrOr, OrAssign),
        b'^' => double(Xor, XorXor, XorAssign),
        b'*' => simple(Star, MulAssign),
        b'/' => simple(Slash, DivAssign),
        b'%' => simple(Percent, ModAssign),
        b'=' => simple(Assign, EqualEqual),
        b'!' => simple(Not, NotEqual),
        b'#' if is_double => Some((HashHash, 2)),
        b'#' => Some((Hash, 1)),
        b'(' => Some((LeftParen, 1)),
        b')' => Some((RightParen, 1)),
        b'[' => Some((LeftBracket, 1)),
        b']' => Some((RightBracket, 1)),
        b'{' => Some((LeftBrace, 1)),
        b'}' => Some((RightBrace, 1)),
        b'.' => Some((Dot, 1)),
        b',' => Some((Comma, 1)),
        b';' => Some((Semicolon, 1)),
        b':' => Some((Colon, 1)),
        b'?' => Some((Question, 1)),
        b'~' => Some((Tilde, 1)),
        _ => None,
    }
}
