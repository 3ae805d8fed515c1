//! Expressions, with explicit stacks of operators and operands instead of recursion.
//!
//! Operands are complete nodes of the tree. An operator becomes a node when one that binds less tightly follows, or the
//! end of its group; so nodes are added in post-order, and `a + b + ...` needs one place on the stack.

use super::feature::Feature;
use super::operator::{self, Precedence, PrefixOp};
use super::{ParseError, Parser};
use crate::ast::{BinaryOp, ExprId, ExprKind, TypeName, TypeSpec};
use crate::symbol::Symbol;
use crate::token::{Punct, TokenKind, TokenRange};

/// A complete operand. Its tokens include parentheses around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub(super) id: ExprId,
    pub(super) tokens: TokenRange,
}

/// An operator that waits for its last operand, or an open group.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    Prefix(PrefixOp, TokenRange),
    Binary(BinaryOp, Precedence),
    Assign(Option<BinaryOp>),
    Comma,
    /// `?`, before `:`.
    Question,
    /// `? ... :`.
    Colon,
    /// An open group: its opening token and the operands below it.
    Group(Group, TokenRange, usize),
}

impl Frame {
    /// Whether later phases handle chains of it, however long, without recursion.
    fn is_flat(self) -> bool {
        matches!(self, Frame::Binary(..) | Frame::Comma | Frame::Colon)
    }
}

/// The kind of an open group.
#[derive(Clone, Copy, Debug)]
pub(super) enum Group {
    /// `(`
    Paren,
    /// `base[`
    Index,
    /// `{`
    Braces,
    /// `name(`, and the token of the name.
    Call(Symbol, TokenRange),
    /// `type(`
    Construct(TypeSpec),
    /// `base.name(`: the base is the operand below the group.
    Method(Symbol),
    /// `base[index](`: the base is the operand below the group.
    Invoke,
}

/// Which expressions are allowed where one begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Allow {
    /// All, with `,` operators.
    Comma,
    /// Those without `,`.
    Assignment,
    /// Those without `,`, and lists in braces.
    Initializer,
}

/// The next step of the parser of an expression.
enum Next {
    Operand,
    Operator,
    Done,
}

/// Where an expression begins: heights of the stacks and the arena.
struct Base {
    allow: Allow,
    frames: usize,
    operands: usize,
    exprs: usize,
    first: u32,
}

impl Parser<'_> {
    /// Parses an expression. After a syntax error, the result is an [`ExprKind::Error`].
    pub(super) fn expression(&mut self, allow: Allow) -> ExprId {
        let base = self.base(allow, self.at, self.ast.exprs.len());
        self.expression_from(&base, Next::Operand)
    }

    /// Parses the rest of an expression that begins with a constructor, whose type was parsed as `ty`. The next token
    /// is its `(`. `exprs` is the height of the arena before the type.
    pub(super) fn expression_with_type(&mut self, ty: TypeSpec, exprs: usize) -> ExprId {
        let base = self.base(Allow::Comma, ty.tokens.first, exprs);
        let next = self.construct(ty);
        self.expression_from(&base, next)
    }

    fn base(&self, allow: Allow, first: u32, exprs: usize) -> Base {
        Base { allow, frames: self.frames.len(), operands: self.operands.len(), exprs, first }
    }

    fn expression_from(&mut self, base: &Base, mut next: Next) -> ExprId {
        loop {
            if self.failed {
                return self.fail_expression(base);
            }
            next = match next {
                Next::Operand => self.operand(base),
                Next::Operator => self.operator(base),
                Next::Done => break,
            };
        }
        match self.operands.pop() {
            Some(operand) if self.operands.len() == base.operands => operand.id,
            // Not reached: the grammar leaves one operand.
            _ => self.fail_expression(base),
        }
    }

    /// Drops the parsed part of an expression and steps over its open braces.
    fn fail_expression(&mut self, base: &Base) -> ExprId {
        let mut braces = 0u32;
        while self.frames.len() > base.frames
            && let Some(frame) = self.frames.pop()
        {
            match frame {
                Frame::Group(Group::Braces, ..) => braces += 1,
                Frame::Group(..) => self.open += 1,
                _ => {}
            }
            self.leave_frame(&frame);
        }
        self.operands.truncate(base.operands);
        self.ast.exprs.truncate(base.exprs);
        while braces > 0 {
            match self.peek(0) {
                TokenKind::End | TokenKind::Punct(Punct::Semicolon) => break,
                TokenKind::Punct(Punct::LeftBrace) => braces += 1,
                TokenKind::Punct(Punct::RightBrace) => braces -= 1,
                _ => {}
            }
            self.bump();
        }
        self.ast.add_expr(ExprKind::Error, self.since(base.first))
    }

    /// Adds a node and makes it the operand.
    pub(super) fn push_node(&mut self, kind: ExprKind, tokens: TokenRange) {
        let id = self.ast.add_expr(kind, tokens);
        self.operands.push(Operand { id, tokens });
    }

    /// Opens a level of nesting, unless the frame is flat.
    fn push_frame(&mut self, frame: Frame) {
        if frame.is_flat() || self.enter() {
            self.frames.push(frame);
        }
    }

    fn leave_frame(&mut self, frame: &Frame) {
        if !frame.is_flat() {
            self.leave();
        }
    }

    /// The innermost frame of this expression.
    fn top(&self, base: &Base) -> Option<Frame> {
        self.frames.get(base.frames..)?.last().copied()
    }

    /// Parses an operand, or what precedes one.
    fn operand(&mut self, base: &Base) -> Next {
        let TokenKind::Punct(punct) = self.peek(0) else { return self.primary() };
        let here = self.here();
        if let Some(op) = operator::prefix(punct) {
            if punct == Punct::Tilde {
                self.need(Feature::Bits, here);
            }
            self.push_frame(Frame::Prefix(op, here));
            self.bump();
            return Next::Operand;
        }
        match punct {
            Punct::LeftParen => {
                self.open_group(Group::Paren);
                Next::Operand
            }
            Punct::LeftBrace => self.braces(base),
            _ => {
                self.fail(&ParseError::ExpectedExpression { found: self.quote(self.at) }, here);
                Next::Done
            }
        }
    }

    /// Parses a name, a literal, or the head of a call.
    fn primary(&mut self) -> Next {
        if let Some(ty) = self.constructor_type() {
            return self.construct(ty);
        }
        if let Some(name) = self.identifier(0)
            && self.peek(1) == TokenKind::Punct(Punct::LeftParen)
        {
            let token = self.here();
            self.bump();
            return self.open_call(Group::Call(name, token));
        }
        self.leaf();
        Next::Operator
    }

    /// Opens the arguments of a constructor.
    fn construct(&mut self, ty: TypeSpec) -> Next {
        if self.failed {
            return Next::Done;
        }
        if let Some(dimension) = self.ast.list(ty.dimensions).first()
            && ty.name != TypeName::Error
        {
            self.need(Feature::ArrayConstructors, dimension.tokens);
        }
        if !self.is(Punct::LeftParen) {
            self.fail_expected("`(` after the type");
            return Next::Done;
        }
        match ty.name {
            TypeName::Named(name) if ty.dimensions.len == 0 => self.open_call(Group::Call(name, ty.tokens)),
            _ => self.open_call(Group::Construct(ty)),
        }
    }

    /// Steps over the opening token of a group.
    fn open_group(&mut self, group: Group) {
        let operands = self.operands.len();
        self.push_frame(Frame::Group(group, self.here(), operands));
        self.bump();
    }

    /// Steps over the `(` of arguments, and over `)` or `void)` if the list is empty.
    fn open_call(&mut self, group: Group) -> Next {
        self.open_group(group);
        if self.keyword(0) == Some(crate::keyword::Keyword::Void) && self.peek(1) == TokenKind::Punct(Punct::RightParen)
        {
            self.bump();
        }
        if self.is(Punct::RightParen) && !self.failed {
            self.close_group();
            return Next::Operator;
        }
        Next::Operand
    }

    /// Opens a list in braces: where an initialiser begins, or as an element of another list.
    fn braces(&mut self, base: &Base) -> Next {
        let is_allowed = match self.top(base) {
            None => base.allow == Allow::Initializer,
            Some(frame) => matches!(frame, Frame::Group(Group::Braces, ..)),
        };
        if !is_allowed {
            self.fail(&ParseError::MisplacedBraces, self.here());
            self.skip_braces();
            return Next::Done;
        }
        if self.top(base).is_none() {
            self.need(Feature::InitializerLists, self.here());
        }
        self.open_group(Group::Braces);
        Next::Operand
    }

    /// Parses the operator or closing token after an operand.
    fn operator(&mut self, base: &Base) -> Next {
        let TokenKind::Punct(punct) = self.peek(0) else { return self.end(base) };
        let here = self.here();
        if let Some((op, precedence)) = operator::binary(punct) {
            if let Some(feature) = operator::feature(op) {
                self.need(feature, here);
            }
            self.reduce(base, precedence);
            self.bump();
            self.push_frame(Frame::Binary(op, precedence));
            return Next::Operand;
        }
        if let Some(op) = operator::assignment(punct) {
            if let Some(feature) = op.and_then(operator::feature) {
                self.need(feature, here);
            }
            self.reduce(base, Precedence::Or);
            self.push_frame(Frame::Assign(op));
            self.bump();
            return Next::Operand;
        }
        match punct {
            Punct::Question => {
                self.reduce(base, Precedence::Or);
                self.push_frame(Frame::Question);
                self.bump();
                Next::Operand
            }
            Punct::Colon => self.colon(base),
            Punct::Comma => self.comma(base),
            Punct::Increment | Punct::Decrement => {
                self.bump();
                self.postfix(|operand| ExprKind::Step { operand, decrement: punct == Punct::Decrement, postfix: true })
            }
            Punct::Dot => self.field(),
            Punct::LeftParen if Feature::Subroutines.since().holds(self.version, self.extensions) => {
                self.open_call(Group::Invoke)
            }
            Punct::LeftBracket => {
                if self.peek(1) == TokenKind::Punct(Punct::RightBracket) {
                    self.fail(&ParseError::MissingIndex, here.to(TokenRange::at(here.first + 1)));
                }
                self.open_group(Group::Index);
                Next::Operand
            }
            _ => self.end(base),
        }
    }

    /// Replaces the operand by a node of it that ends with the token before the next.
    fn postfix(&mut self, kind: impl FnOnce(ExprId) -> ExprKind) -> Next {
        if let Some(operand) = self.operands.pop() {
            let tokens = operand.tokens.to(self.before());
            self.push_node(kind(operand.id), tokens);
        }
        Next::Operator
    }

    /// Parses `.name` or the head of a method.
    fn field(&mut self) -> Next {
        self.bump();
        let name_token = self.here();
        let Some(name) = self.expect_name("a name after `.`") else { return Next::Done };
        if !self.is(Punct::LeftParen) {
            return self.postfix(|base| ExprKind::Field(base, name));
        }
        self.need(Feature::Methods, name_token);
        self.open_call(Group::Method(name))
    }

    /// Parses `:` if a `?` waits for it.
    fn colon(&mut self, base: &Base) -> Next {
        self.reduce(base, Precedence::Comma);
        if !matches!(self.top(base), Some(Frame::Question)) {
            return self.end(base);
        }
        self.frames.pop();
        self.leave_frame(&Frame::Question);
        self.push_frame(Frame::Colon);
        self.bump();
        Next::Operand
    }

    /// Parses `,`: an operator, the separator of arguments, or the end of the expression.
    fn comma(&mut self, base: &Base) -> Next {
        self.reduce(base, Precedence::Comma);
        match self.top(base) {
            None if base.allow != Allow::Comma => return Next::Done,
            Some(Frame::Group(Group::Braces, ..)) => {
                self.bump();
                // A comma may follow the last element.
                if self.is(Punct::RightBrace) {
                    self.close_group();
                    return Next::Operator;
                }
                return Next::Operand;
            }
            Some(Frame::Group(Group::Call(..) | Group::Construct(_) | Group::Method(_) | Group::Invoke, ..)) => {}
            _ => self.push_frame(Frame::Comma),
        }
        self.bump();
        Next::Operand
    }

    /// Ends a group, or the expression, at a token that continues neither.
    fn end(&mut self, base: &Base) -> Next {
        self.reduce(base, Precedence::Comma);
        let (close, expected, open) = match self.top(base) {
            None => return Next::Done,
            Some(Frame::Group(Group::Paren, open, _)) => (Punct::RightParen, "`)` or an operator", open),
            Some(Frame::Group(Group::Index, open, _)) => (Punct::RightBracket, "`]` or an operator", open),
            Some(Frame::Group(Group::Braces, open, _)) => (Punct::RightBrace, "`}` or `,`", open),
            Some(Frame::Group(_, open, _)) => (Punct::RightParen, "`)` or `,`", open),
            Some(_) => {
                self.fail_expected("`:` of the `?`");
                return Next::Done;
            }
        };
        if !self.is(close) {
            self.close(close, open, expected);
            return Next::Done;
        }
        self.close_group();
        Next::Operator
    }

    /// Closes the innermost group; the next token is its closing one.
    fn close_group(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        self.leave_frame(&frame);
        self.bump();
        let Frame::Group(group, open, below) = frame else { return };
        match group {
            Group::Paren => {
                if let Some(operand) = self.operands.last_mut() {
                    operand.tokens = open.to(TokenRange::at(self.at - 1));
                }
            }
            Group::Index => {
                if let Some(index) = self.operands.pop() {
                    self.postfix(|base| ExprKind::Index(base, index.id));
                }
            }
            Group::Braces | Group::Call(..) | Group::Construct(_) | Group::Method(_) | Group::Invoke => {
                let elements: Vec<ExprId> = self.operands.drain(below..).map(|operand| operand.id).collect();
                let list = self.ast.add_list(&elements);
                let end = self.before();
                match group {
                    Group::Call(name, token) => self.push_node(ExprKind::Call(name, list), token.to(end)),
                    Group::Construct(ty) => self.push_node(ExprKind::Construct(ty, list), ty.tokens.to(end)),
                    Group::Method(name) => {
                        self.postfix(|base| ExprKind::Method(base, name, list));
                    }
                    Group::Invoke => {
                        self.postfix(|base| ExprKind::Invoke(base, list));
                    }
                    _ => self.push_node(ExprKind::Braces(list), open.to(end)),
                }
            }
        }
    }

    /// Makes nodes of the innermost operators that bind at least as tightly as `least`.
    fn reduce(&mut self, base: &Base, least: Precedence) {
        while let Some(frame) = self.top(base) {
            let precedence = match frame {
                Frame::Prefix(..) => Precedence::Prefix,
                Frame::Binary(_, precedence) => precedence,
                Frame::Assign(_) => Precedence::Assign,
                Frame::Comma => Precedence::Comma,
                Frame::Colon => Precedence::Conditional,
                Frame::Question | Frame::Group(..) => return,
            };
            if precedence < least {
                return;
            }
            self.frames.pop();
            self.leave_frame(&frame);
            let Some(last) = self.operands.pop() else { return };
            let tokens_from = |first: TokenRange| first.to(last.tokens);
            match frame {
                Frame::Prefix(op, token) => {
                    let kind = match op {
                        PrefixOp::Unary(op) => ExprKind::Unary(op, last.id),
                        PrefixOp::Increment | PrefixOp::Decrement => {
                            let decrement = op == PrefixOp::Decrement;
                            ExprKind::Step { operand: last.id, decrement, postfix: false }
                        }
                    };
                    self.push_node(kind, tokens_from(token));
                }
                Frame::Colon => {
                    let (Some(first), Some(condition)) = (self.operands.pop(), self.operands.pop()) else { return };
                    let kind = ExprKind::Conditional(condition.id, first.id, last.id);
                    self.push_node(kind, tokens_from(condition.tokens));
                }
                _ => {
                    let Some(left) = self.operands.pop() else { return };
                    let kind = match frame {
                        Frame::Binary(op, _) => ExprKind::Binary(op, left.id, last.id),
                        Frame::Assign(op) => ExprKind::Assign(op, left.id, last.id),
                        _ => ExprKind::Comma(left.id, last.id),
                    };
                    self.push_node(kind, tokens_from(left.tokens));
                }
            }
        }
    }
}
