//! Integer expressions of `#if`, `#elif` and `#line`, evaluated with explicit stacks.

use super::Preprocessor;
use super::error::PreprocessError;
use super::lexer::{PpKind, PpToken};
use crate::findings::Finding;
use crate::token::Punct;

/// A value, and the reason why it is not one. `&&` and `||` drop the reason of an operand that they do not evaluate.
#[derive(Clone, Copy)]
struct Value {
    number: i64,
    problem: Option<Problem>,
}

/// The reason why an expression has no value, with the index of its token.
#[derive(Clone, Copy)]
enum Problem {
    /// A name that is not a macro.
    Undefined(usize),
    DivisionByZero(usize),
}

/// An operator whose right operand is not complete.
#[derive(Clone, Copy)]
enum Operator {
    /// `(`, at the index of its token.
    Open(usize),
    Unary(Punct),
    /// With the index of its token.
    Binary(Punct, usize),
}

/// An evaluation.
struct Evaluation {
    values: Vec<Value>,
    operators: Vec<Operator>,
}

impl Preprocessor<'_> {
    /// Evaluates the expression at the start of tokens. Returns its value, if it has one, and the number of its tokens.
    /// The expression ends at a token that cannot continue it.
    pub(super) fn evaluate(&mut self, tokens: &[PpToken]) -> Option<(i64, usize)> {
        let mut evaluation = Evaluation { values: Vec::new(), operators: Vec::new() };
        let mut needs_operand = true;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if needs_operand {
                match token.kind {
                    PpKind::Punct(Punct::LeftParen) => evaluation.operators.push(Operator::Open(at)),
                    PpKind::Punct(punct @ (Punct::Plus | Punct::Minus | Punct::Tilde | Punct::Not)) => {
                        evaluation.operators.push(Operator::Unary(punct));
                    }
                    PpKind::Number => {
                        let Some(number) = integer(self.interner.spelling(token.symbol)) else {
                            self.report_expected("an integer", Some(token), token);
                            return None;
                        };
                        evaluation.values.push(Value { number, problem: None });
                        needs_operand = false;
                    }
                    PpKind::Identifier => {
                        evaluation.values.push(Value { number: 0, problem: Some(Problem::Undefined(at)) });
                        needs_operand = false;
                    }
                    _ => {
                        self.report_expected("an integer", Some(token), token);
                        return None;
                    }
                }
            } else if token.is(Punct::RightParen) {
                if !evaluation.close() {
                    break;
                }
            } else if let PpKind::Punct(punct) = token.kind
                && let Some(strength) = strength(punct)
            {
                evaluation.reduce(strength);
                evaluation.operators.push(Operator::Binary(punct, at));
                needs_operand = true;
            } else {
                break;
            }
            at += 1;
        }
        let last = tokens.get(at.saturating_sub(1))?;
        if needs_operand {
            self.report_expected("an integer", None, last);
            return None;
        }
        evaluation.reduce(0);
        if let Some(&Operator::Open(open)) = evaluation.operators.last() {
            self.report_expected("`)`", tokens.get(at), tokens.get(open)?);
            return None;
        }
        let value = evaluation.values.pop()?;
        let (problem, place) = match value.problem {
            None => return Some((value.number, at)),
            Some(Problem::DivisionByZero(place)) => (PreprocessError::DivisionByZero, tokens.get(place)?),
            Some(Problem::Undefined(place)) => {
                let place = tokens.get(place)?;
                let name = self.text_of(place.symbol);
                match self.version.is_es() {
                    true => (PreprocessError::UndefinedName { name }, place),
                    false => (PreprocessError::UndefinedIsZero { name }, place),
                }
            }
        };
        self.report_token(&problem, place);
        problem.is_warning().then_some((value.number, at))
    }

    /// Reports a token, or the end of a line, in place of another one.
    pub(super) fn report_expected(&mut self, expected: &'static str, found: Option<&PpToken>, at: &PpToken) {
        let found = match found {
            Some(token) => format!("`{}`", self.text_of(token.symbol)),
            None => "the end of the line".to_owned(),
        };
        self.report_token(&PreprocessError::Expression { expected, found }, at);
    }
}

impl Evaluation {
    /// Applies the operators on top of the stack that bind at least as strongly as `strength`, up to a parenthesis.
    fn reduce(&mut self, strength: u8) {
        while let Some(&operator) = self.operators.last() {
            match operator {
                Operator::Open(_) => return,
                Operator::Unary(punct) => {
                    if let Some(value) = self.values.last_mut() {
                        value.number = match punct {
                            Punct::Minus => value.number.wrapping_neg(),
                            Punct::Tilde => !value.number,
                            Punct::Not => i64::from(value.number == 0),
                            _ => value.number,
                        };
                    }
                }
                Operator::Binary(punct, at) => {
                    if self::strength(punct).is_some_and(|own| own < strength) {
                        return;
                    }
                    if let (Some(right), Some(left)) = (self.values.pop(), self.values.pop()) {
                        let value = Evaluation::binary(punct, left, right, at);
                        self.values.push(value);
                    }
                }
            }
            self.operators.pop();
        }
    }

    /// Ends a parenthesis. Returns whether one was open.
    fn close(&mut self) -> bool {
        self.reduce(0);
        self.operators.pop().is_some()
    }

    /// Applies a binary operator, whose token is at an index.
    fn binary(punct: Punct, left: Value, right: Value, at: usize) -> Value {
        let (a, b) = (left.number, right.number);
        let ignores_right = match punct {
            Punct::AndAnd => a == 0,
            Punct::OrOr => a != 0,
            _ => false,
        };
        if ignores_right {
            return Value { number: i64::from(a != 0), problem: left.problem };
        }
        // A name may be only a warning, which does not hide an error.
        let mut problem = match (left.problem, right.problem) {
            (Some(Problem::Undefined(_)) | None, Some(Problem::DivisionByZero(_))) | (None, _) => right.problem,
            (Some(_), _) => left.problem,
        };
        let shift = u32::try_from(b).unwrap_or(u32::MAX);
        let number = match punct {
            Punct::Star => a.wrapping_mul(b),
            Punct::Slash | Punct::Percent if b == 0 => {
                problem = problem.filter(|problem| matches!(problem, Problem::DivisionByZero(_)));
                problem = problem.or(Some(Problem::DivisionByZero(at)));
                0
            }
            Punct::Slash => a.wrapping_div(b),
            Punct::Percent => a.wrapping_rem(b),
            Punct::Plus => a.wrapping_add(b),
            Punct::Minus => a.wrapping_sub(b),
            Punct::Shl => a.checked_shl(shift).unwrap_or(0),
            Punct::Shr => a.checked_shr(shift).unwrap_or(if a < 0 { -1 } else { 0 }),
            Punct::Less => i64::from(a < b),
            Punct::Greater => i64::from(a > b),
            Punct::LessEqual => i64::from(a <= b),
            Punct::GreaterEqual => i64::from(a >= b),
            Punct::EqualEqual => i64::from(a == b),
            Punct::NotEqual => i64::from(a != b),
            Punct::And => a & b,
            Punct::Xor => a ^ b,
            Punct::Or => a | b,
            // Of `&&` and `||`, only those whose value is that of the right operand are left.
            _ => i64::from(b != 0),
        };
        Value { number, problem }
    }
}

/// How strongly a binary operator binds.
fn strength(punct: Punct) -> Option<u8> {
    Some(match punct {
        Punct::OrOr => 1,
        Punct::AndAnd => 2,
        Punct::Or => 3,
        Punct::Xor => 4,
        Punct::And => 5,
        Punct::EqualEqual | Punct::NotEqual => 6,
        Punct::Less | Punct::Greater | Punct::LessEqual | Punct::GreaterEqual => 7,
        Punct::Shl | Punct::Shr => 8,
        Punct::Plus | Punct::Minus => 9,
        Punct::Star | Punct::Slash | Punct::Percent => 10,
        _ => return None,
    })
}

/// The value of an integer.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_suffix(['u', 'U']).unwrap_or(text);
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (digits, 8),
        None => (digits, 10),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok().map(|value| value as i64)
}
