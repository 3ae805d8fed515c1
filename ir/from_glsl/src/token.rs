//! Tokens after preprocessing, and their positions.
//!
//! All later phases refer to source positions by token index: a [`TokenRange`] maps to a span of the source and, for
//! tokens from a macro, to the invocation and the place in the macro's definition.

use tgsi_diagnostics::Span;

use crate::keyword::Keyword;
use crate::symbol::Symbol;

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    /// A name, including words that are keywords in other versions only.
    Identifier,
    /// A word that is a keyword in this version with the extensions enabled before it.
    Keyword(Keyword),
    /// A number, not yet converted: a pp-number of the preprocessor.
    Number,
    /// An operator or separator.
    Punct(Punct),
    /// After the last token.
    End,
}

macro_rules! puncts {
    ($($variant:ident $text:literal,)+) => {
        /// Operators and separators.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub(crate) enum Punct { $(#[doc = concat!("`", $text, "`")] $variant,)+ }

        impl Punct {
            /// All, by descending length of their spellings.
            pub(crate) const ALL: &'static [Punct] = &[$(Punct::$variant,)+];

            /// The spelling.
            pub(crate) const fn text(self) -> &'static str {
                match self { $(Punct::$variant => $text,)+ }
            }
        }
    };
}

puncts! {
    ShlAssign "<<=", ShrAssign ">>=",
    Increment "++", Decrement "--", Shl "<<", Shr ">>", LessEqual "<=", GreaterEqual ">=", EqualEqual "==",
    NotEqual "!=", AndAnd "&&", OrOr "||", XorXor "^^", AddAssign "+=", SubAssign "-=", MulAssign "*=",
    DivAssign "/=", ModAssign "%=", AndAssign "&=", XorAssign "^=", OrAssign "|=", HashHash "##",
    LeftParen "(", RightParen ")", LeftBracket "[", RightBracket "]", LeftBrace "{", RightBrace "}",
    Dot ".", Comma ",", Semicolon ";", Colon ":", Question "?", Assign "=", Plus "+", Minus "-", Star "*",
    Slash "/", Percent "%", Less "<", Greater ">", And "&", Or "|", Xor "^", Not "!", Tilde "~", Hash "#",
}

/// The number of an [`Expansion`]; 0 for tokens that no macro produced.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct ExpansionId(pub(crate) u32);

/// The outermost invocation of a macro.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expansion {
    /// The macro.
    pub(crate) name: Symbol,
    /// Its name and arguments in the source.
    pub(crate) invocation: Span,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    /// The kind.
    pub(crate) kind: TokenKind,
    /// The spelling.
    pub(crate) symbol: Symbol,
    /// The spelling in the source: in the invocation for arguments of macros, in the definition for the rest of an
    /// expansion. Empty for tokens of predefined macros and options.
    pub(crate) span: Span,
    /// The invocation that produced it.
    pub(crate) expansion: ExpansionId,
}

/// A range of tokens, both inclusive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct TokenRange {
    /// The first token.
    pub(crate) first: u32,
    /// The last token.
    pub(crate) last: u32,
}

impl TokenRange {
    /// One token.
    pub(crate) const fn at(token: u32) -> TokenRange {
        TokenRange { first: token, last: token }
    }

    /// From the start of one range to the end of another.
    pub(crate) const fn to(self, end: TokenRange) -> TokenRange {
        TokenRange { first: self.first, last: end.last }
    }
}

/// The tokens of a compilation. The last one is [`TokenKind::End`].
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    pub(crate) tokens: Vec<Token>,
    /// By [`ExpansionId`], from 1.
    pub(crate) expansions: Vec<Expansion>,
}

impl Tokens {
    /// The token at an index; the last one for indices beyond it.
    pub(crate) fn get(&self, index: u32) -> Option<&Token> {
        self.tokens.get(index as usize).or(self.tokens.last())
    }

    /// The expansion of a token, if a macro produced it.
    pub(crate) fn expansion(&self, token: &Token) -> Option<&Expansion> {
        self.expansions.get((token.expansion.0 as usize).checked_sub(1)?)
    }

    /// The span of a token in the text: of the outermost invocation for tokens from macros.
    fn outer_span(&self, token: &Token) -> Span {
        self.expansion(token).map_or(token.span, |expansion| expansion.invocation)
    }

    /// The span of a range in the text, from its first token to its last. Tokens from macros count as the outermost
    /// invocation, unless the range is within one argument of it.
    pub(crate) fn span(&self, range: TokenRange) -> Span {
        let (Some(first), Some(last)) = (self.get(range.first), self.get(range.last)) else { return Span::default() };
        if first.expansion == last.expansion
            && let Some(expansion) = self.expansion(first)
        {
            let Span { start, end } = expansion.invocation;
            let is_argument = |token: &Token| start < token.span.start && token.span.end <= end;
            if is_argument(first) && is_argument(last) && first.span.start <= last.span.start {
                return Span::new(first.span.start, last.span.end);
            }
        }
        let (first, last) = (self.outer_span(first), self.outer_span(last));
        Span::new(first.start, last.end.max(first.end))
    }

    /// The macro whose definition spells a token, and where; `None` if the token is in the source as such, or in an
    /// argument.
    pub(crate) fn definition(&self, token: u32) -> Option<(Symbol, Span)> {
        let token = self.get(token)?;
        let expansion = self.expansion(token)?;
        let Span { start, end } = expansion.invocation;
        let is_argument = start <= token.span.start && token.span.end <= end;
        (!is_argument && token.span.end > token.span.start).then_some((expansion.name, token.span))
    }
}
