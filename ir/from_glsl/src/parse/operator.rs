//! Operators and their precedence.

use super::feature::Feature;
use crate::ast::{BinaryOp, UnaryOp};
use crate::token::Punct;

/// Precedence: operators with a greater one bind tighter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Precedence {
    Comma,
    Assign,
    Conditional,
    Or,
    Xor,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Prefix,
}

/// The binary operator of a token.
pub(super) const fn binary(punct: Punct) -> Option<(BinaryOp, Precedence)> {
    use BinaryOp as B;
    use Precedence as P;
    Some(match punct {
        Punct::Star => (B::Mul, P::Product),
        Punct::Slash => (B::Div, P::Product),
        Punct::Percent => (B::Mod, P::Product),
        Punct::Plus => (B::Add, P::Sum),
        Punct::Minus => (B::Sub, P::Sum),
        Punct::Shl => (B::Shl, P::Shift),
        Punct::Shr => (B::Shr, P::Shift),
        Punct::Less => (B::Less, P::Relation),
        Punct::Greater => (B::Greater, P::Relation),
        Punct::LessEqual => (B::LessEqual, P::Relation),
        Punct::GreaterEqual => (B::GreaterEqual, P::Relation),
        Punct::EqualEqual => (B::Equal, P::Equality),
        Punct::NotEqual => (B::NotEqual, P::Equality),
        Punct::And => (B::BitAnd, P::BitAnd),
        Punct::Xor => (B::BitXor, P::BitXor),
        Punct::Or => (B::BitOr, P::BitOr),
        Punct::AndAnd => (B::And, P::And),
        Punct::XorXor => (B::Xor, P::Xor),
        Punct::OrOr => (B::Or, P::Or),
        _ => return None,
    })
}

/// The assignment of a token: `Some(None)` for `=`.
pub(super) const fn assignment(punct: Punct) -> Option<Option<BinaryOp>> {
    Some(match punct {
        Punct::Assign => None,
        Punct::AddAssign => Some(BinaryOp::Add),
        Punct::SubAssign => Some(BinaryOp::Sub),
        Punct::MulAssign => Some(BinaryOp::Mul),
        Punct::DivAssign => Some(BinaryOp::Div),
        Punct::ModAssign => Some(BinaryOp::Mod),
        Punct::ShlAssign => Some(BinaryOp::Shl),
        Punct::ShrAssign => Some(BinaryOp::Shr),
        Punct::AndAssign => Some(BinaryOp::BitAnd),
        Punct::XorAssign => Some(BinaryOp::BitXor),
        Punct::OrAssign => Some(BinaryOp::BitOr),
        _ => return None,
    })
}

/// An operator before its operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PrefixOp {
    Unary(UnaryOp),
    Increment,
    Decrement,
}

/// The operator of a token before an operand.
pub(super) const fn prefix(punct: Punct) -> Option<PrefixOp> {
    Some(match punct {
        Punct::Plus => PrefixOp::Unary(UnaryOp::Plus),
        Punct::Minus => PrefixOp::Unary(UnaryOp::Minus),
        Punct::Not => PrefixOp::Unary(UnaryOp::Not),
        Punct::Tilde => PrefixOp::Unary(UnaryOp::Complement),
        Punct::Increment => PrefixOp::Increment,
        Punct::Decrement => PrefixOp::Decrement,
        _ => return None,
    })
}

/// The feature that a version needs for an operator.
pub(super) const fn feature(op: BinaryOp) -> Option<Feature> {
    match op {
        BinaryOp::Mod => Some(Feature::Remainder),
        BinaryOp::Shl | BinaryOp::Shr => Some(Feature::Shifts),
        BinaryOp::BitAnd | BinaryOp::BitXor | BinaryOp::BitOr => Some(Feature::Bits),
        BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Less
        | BinaryOp::Greater
        | BinaryOp::LessEqual
        | BinaryOp::GreaterEqual
        | BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::And
        | BinaryOp::Xor
        | BinaryOp::Or => None,
    }
}
