//! Types of expressions.

use super::scopes::Entity;
use super::storage::may_be_unused;
use super::{Analyzer, SemanticError};
use crate::ast::{self, Ast};
use crate::compute::fold;
use crate::extension::Extension;
use crate::program::{Constant, ExprId, ExprKind, Storage};
use crate::symbol::Symbol;
use crate::token::TokenRange;
use crate::types::{Scalar, TypeData, TypeId};
use crate::version::{NEVER, Since};

/// Versions with swizzles of scalars and lengths of vectors.
const SCALAR_SWIZZLES: Since = Since::new(420, NEVER).or(&[Extension::ARBShadingLanguage420pack]);

/// Versions in which arrays without a declared length have a length.
const IMPLICIT_LENGTHS: Since = Since::new(430, NEVER).or(&[Extension::ARBShaderStorageBufferObject]);

/// The first node of an expression: its leftmost operand, that of which was made first.
fn first_node(ast: &Ast, mut id: ast::ExprId) -> ast::ExprId {
    use ast::ExprKind as K;
    while let Some(expr) = ast.exprs.get(id.0 as usize) {
        let next = match expr.kind {
            K::Name(_) | K::Int { .. } | K::Int64 { .. } | K::Float(_) | K::Double(_) | K::Bool(_) | K::Error => None,
            K::Unary(_, operand)
            | K::Invoke(operand, _)
            | K::Step { operand, .. }
            | K::Binary(_, operand, _)
            | K::Conditional(operand, ..)
            | K::Assign(_, operand, _)
            | K::Comma(operand, _)
            | K::Index(operand, _)
            | K::Field(operand, _)
            | K::Method(operand, ..) => Some(operand),
            K::Call(_, list) | K::Braces(list) => ast.list(list).first().copied(),
            K::Construct(spec, list) => {
                let lengths = ast.list(spec.dimensions).iter().filter_map(|dimension| dimension.length);
                lengths.chain(ast.list(list).iter().copied()).min()
            }
        };
        match next {
            Some(next) => id = next,
            None => break,
        }
    }
    id
}

impl Analyzer<'_> {
    /// Types an expression.
    pub(super) fn expression(&mut self, root: ast::ExprId) -> ExprId {
        let ast = self.ast;
        let first = first_node(ast, root);
        for number in first.0..=root.0 {
            let Some(&node) = ast.exprs.get(number as usize) else { break };
            let typed = if self.findings.is_full() { ExprId(0) } else { self.node(&node) };
            if let Some(entry) = self.typed.get_mut(number as usize) {
                *entry = typed;
            }
        }
        let typed = self.typed_of(root);
        self.check_reads(!self.ty(typed).is_error());
        typed
    }

    /// The first `,` operator of an expression.
    pub(super) fn comma_in(&self, root: ast::ExprId) -> Option<TokenRange> {
        let nodes = self.ast.exprs.get(first_node(self.ast, root).0 as usize..=root.0 as usize)?;
        nodes.iter().find(|node| matches!(node.kind, ast::ExprKind::Comma(..))).map(|node| node.tokens)
    }

    fn typed_of(&self, id: ast::ExprId) -> ExprId {
        self.typed.get(id.0 as usize).copied().unwrap_or(ExprId(0))
    }

    fn typed_list(&self, list: ast::List<ast::ExprId>) -> Vec<ExprId> {
        self.ast.list(list).iter().map(|&id| self.typed_of(id)).collect()
    }

    /// Types a node whose operands are typed.
    fn node(&mut self, node: &ast::Expr) -> ExprId {
        use ast::ExprKind as K;
        let tokens = node.tokens;
        match node.kind {
            K::Name(name) => self.name(name, tokens),
            K::Int { bits, unsigned } => {
                let ty = if unsigned { TypeId::UINT } else { TypeId::INT };
                self.add_value(Constant { ty, bits: vec![bits.into()] }, tokens)
            }
            K::Int64 { bits, unsigned } => {
                let ty = TypeId::vector(if unsigned { Scalar::Uint64 } else { Scalar::Int64 }, 1);
                self.add_value(Constant { ty, bits: vec![bits] }, tokens)
            }
            K::Float(value) => {
                self.add_value(Constant { ty: TypeId::FLOAT, bits: vec![value.to_bits().into()] }, tokens)
            }
            K::Double(value) => {
                let ty = TypeId::vector(Scalar::Double, 1);
                self.add_value(Constant { ty, bits: vec![value.to_bits()] }, tokens)
            }
            K::Bool(value) => self.add_value(Constant { ty: TypeId::BOOL, bits: vec![value.into()] }, tokens),
            K::Unary(op, operand) => {
                let operand = self.typed_of(operand);
                self.unary(op, operand, tokens)
            }
            K::Step { operand, decrement, postfix } => {
                let operand = self.typed_of(operand);
                self.step(operand, decrement, postfix, tokens)
            }
            K::Binary(op, left, right) => {
                let (left, right) = (self.typed_of(left), self.typed_of(right));
                self.binary(op, left, right, tokens)
            }
            K::Conditional(condition, first, second) => {
                let operands = [condition, first, second].map(|operand| self.typed_of(operand));
                self.conditional(operands, tokens)
            }
            K::Assign(op, target, value) => {
                let (target, value) = (self.typed_of(target), self.typed_of(value));
                self.assignment(op, target, value, tokens)
            }
            K::Comma(first, second) => {
                let (first, second) = (self.typed_of(first), self.typed_of(second));
                self.comma(first, second, tokens)
            }
            K::Index(base, index) => {
                let (base, index) = (self.typed_of(base), self.typed_of(index));
                self.index(base, index, tokens)
            }
            K::Field(base, name) => {
                let base = self.typed_of(base);
                self.field(base, name, tokens)
            }
            K::Call(name, arguments) => {
                let arguments = self.typed_list(arguments);
                self.call(name, &arguments, tokens)
            }
            K::Construct(spec, arguments) => {
                let ty = self.constructed_type(&spec);
                let arguments = self.typed_list(arguments);
                self.constructor(ty, &arguments, tokens)
            }
            K::Invoke(callee, arguments) => {
                let callee = self.typed_of(callee);
                if self.is_subroutine(self.ty(callee)) {
                    let arguments = self.typed_list(arguments);
                    return self.subroutine_call(callee, &arguments, tokens);
                }
                if !self.ty(callee).is_error() {
                    let name = "this expression".to_owned();
                    self.report(SemanticError::NotAFunction { name }, tokens);
                }
                self.error_expr(tokens)
            }
            K::Method(base, name, arguments) => {
                let base = self.typed_of(base);
                self.method(base, name, arguments.len, tokens)
            }
            // Typed where it is used: only there the type is known.
            K::Braces(_) | K::Error => self.error_expr(tokens),
        }
    }

    /// The value of a variable.
    fn name(&mut self, name: Symbol, tokens: TokenRange) -> ExprId {
        match self.scopes.find(name) {
            Some(&Entity::Variable(id)) => self.read(id, tokens),
            Some(&Entity::Member(id, number)) => self.member_of(id, number, tokens),
            Some(_) => {
                let name = self.spelling(name);
                self.report(SemanticError::NotAVariable { name }, tokens);
                self.error_expr(tokens)
            }
            None => match self.builtin(name, tokens) {
                Some(id) => self.read(id, tokens),
                None if !self.scopes.functions(name).is_empty() => {
                    let name = self.spelling(name);
                    self.report(SemanticError::NotAVariable { name }, tokens);
                    self.error_expr(tokens)
                }
                None => {
                    self.undeclared(name, tokens);
                    // Reported once.
                    let id = self.add_variable(name, TypeId::ERROR, Storage::Global, tokens);
                    self.scopes.declare(name, Entity::Variable(id));
                    self.error_expr(tokens)
                }
            },
        }
    }

    fn conditional(&mut self, [condition, first, second]: [ExprId; 3], tokens: TokenRange) -> ExprId {
        let condition = self.condition(condition);
        let (a, b) = (self.ty(first), self.ty(second));
        if a.is_error() || b.is_error() || self.ty(condition).is_error() {
            return self.error_expr(tokens);
        }
        let same = if a == b {
            Some((first, second))
        } else if self.converts(a, b) {
            self.converted(first, b).map(|first| (first, second))
        } else if self.converts(b, a) {
            self.converted(second, a).map(|second| (first, second))
        } else {
            None
        };
        let Some((first, second)) = same else {
            let (left, right) = (self.type_name(a), self.type_name(b));
            self.report(SemanticError::Operands { op: "?:", left, right }, tokens);
            return self.error_expr(tokens);
        };
        let ty = self.ty(first);
        let is_chosen = self.constant_of(condition).is_some();
        if ty != TypeId::VOID
            && !(self.check_copy(ty, "selection", tokens) && (is_chosen || self.count_copy(ty, tokens)))
        {
            return self.error_expr(tokens);
        }
        let chosen = self.constant_of(condition).and_then(|value| value.bits.first().copied());
        let both = self.constant_of(first).is_some() && self.constant_of(second).is_some();
        let expr = self.add(ExprKind::Select(condition, first, second), ty, tokens, &[condition, first, second]);
        match chosen {
            Some(0) if both => self.set_constant_of(expr, second),
            Some(_) if both => self.set_constant_of(expr, first),
            _ => {}
        }
        expr
    }

    /// Checks that an expression is a scalar boolean.
    pub(super) fn condition(&mut self, expr: ExprId) -> ExprId {
        let ty = self.ty(expr);
        if ty == TypeId::BOOL || ty.is_error() {
            return expr;
        }
        let tokens = self.tokens_of(expr);
        let found = self.type_name(ty);
        let hint = match self.program.types.as_vector(ty) {
            Some((Scalar::Bool, _)) => Some("write `any(...)` or `all(...)`".to_owned()),
            Some((_, 1)) => Some("compare it: `... != 0`".to_owned()),
            _ => None,
        };
        let error = SemanticError::WrongType { what: "the condition", found, expected: "bool".to_owned(), hint };
        self.report(error, tokens);
        self.error_expr(tokens)
    }

    fn comma(&mut self, first: ExprId, second: ExprId, tokens: TokenRange) -> ExprId {
        let ty = self.ty(second);
        if ty.is_error() || self.ty(first).is_error() {
            return self.error_expr(tokens);
        }
        let is_constant = !self.version().is_at_least(420, 300) && self.constant_of(first).is_some();
        let expr = self.add(ExprKind::Comma(first, second), ty, tokens, &[first, second]);
        if is_constant {
            self.set_constant_of(expr, second);
        }
        expr
    }

    /// A field of a struct, or a swizzle.
    fn field(&mut self, base: ExprId, name: Symbol, tokens: TokenRange) -> ExprId {
        let ty = self.ty(base);
        match self.program.types.get(ty) {
            TypeData::Error => self.error_expr(tokens),
            TypeData::Struct(id) => {
                let fields = self.program.types.fields(ty);
                let found = fields.iter().enumerate().find(|(_, field)| field.name == name);
                let Some((number, field)) = found.map(|(number, field)| (number, *field)) else {
                    let spelling = self.spelling(name);
                    let names = fields.iter().map(|field| self.interner.spelling(field.name));
                    let near = tgsi_diagnostics::suggest(&spelling, names).map(str::to_owned);
                    let ty = self.type_name(ty);
                    let at = self.program.types.struct_type(id).map(|data| data.tokens).unwrap_or_default();
                    let error = SemanticError::NoField { ty, name: spelling, near };
                    self.report_with(error, tokens, at, "the struct");
                    return self.error_expr(tokens);
                };
                if let Some(block) = self.program.types.block_of(ty)
                    && let Some(member) = self.block_member(base, block, number as u32, tokens)
                {
                    return member;
                }
                if field.ty.is_error() {
                    return self.error_expr(tokens);
                }
                let value =
                    self.constant_of(base).and_then(|value| fold::field(&self.program.types, value, number as u32));
                self.add_folded(ExprKind::Field(base, number as u32), field.ty, tokens, &[base], value)
            }
            TypeData::Vector { scalar, components } => self.swizzle(base, scalar, components, name, tokens),
            _ => {
                let (ty, name) = (self.type_name(ty), self.spelling(name));
                self.report(SemanticError::NoField { ty, name, near: None }, tokens);
                self.error_expr(tokens)
            }
        }
    }

    fn swizzle(&mut self, base: ExprId, scalar: Scalar, components: u8, name: Symbol, tokens: TokenRange) -> ExprId {
        if components == 1 && !self.require(&SCALAR_SWIZZLES, "a swizzle of a scalar", tokens) {
            return self.error_expr(tokens);
        }
        let spelling = self.interner.spelling(name);
        let Some((lanes, count)) = lanes_of(spelling, components) else {
            let (name, ty) = (spelling.to_owned(), self.type_name(self.ty(base)));
            self.report(SemanticError::Swizzle { name, ty }, tokens);
            return self.error_expr(tokens);
        };
        let ty = TypeId::vector(scalar, count);
        let value = self.constant_of(base).and_then(|value| fold::swizzle(&self.program.types, ty, value, lanes));
        self.add_folded(ExprKind::Swizzle(base, lanes), ty, tokens, &[base], value)
    }

    /// `base.length()`.
    fn method(&mut self, base: ExprId, name: Symbol, arguments: u32, tokens: TokenRange) -> ExprId {
        let ty = self.ty(base);
        if ty.is_error() {
            return self.error_expr(tokens);
        }
        if self.interner.spelling(name) != "length" || arguments > 0 {
            let name = self.spelling(name);
            self.report(SemanticError::NotAFunction { name }, tokens);
            return self.error_expr(tokens);
        }
        let data = self.program.types.get(ty);
        let length = match data {
            TypeData::Array { length, .. } => length,
            TypeData::Vector { components, .. } if components > 1 && self.has(&SCALAR_SWIZZLES) => {
                Some(u32::from(components))
            }
            TypeData::Matrix { columns, .. } if self.has(&SCALAR_SWIZZLES) => Some(u32::from(columns)),
            _ => {
                let ty = self.type_name(ty);
                self.report(SemanticError::NotIndexable { ty }, tokens);
                return self.error_expr(tokens);
            }
        };
        let is_inner = matches!(self.program.expr(base).kind, ExprKind::Index(..) | ExprKind::Field(..));
        if length.is_none() && !self.is_open(base) && (is_inner || !self.has(&IMPLICIT_LENGTHS)) {
            self.report(SemanticError::Unsized { what: "`length`" }, tokens);
            return self.error_expr(tokens);
        }
        if let ExprKind::Variable(id) = self.program.expr(base).kind
            && let Some(uses) = self.whole_uses.get_mut(&id)
        {
            *uses = uses.saturating_sub(1);
        }
        if length.is_some() {
            self.forget_read(base);
        }
        // Without a length, it is known at the end of the unit.
        let value = length.map(|length| Constant { ty: TypeId::INT, bits: vec![length.into()] });
        self.add_folded(ExprKind::Length(base), TypeId::INT, tokens, &[base], value)
    }

    /// Removes the read of a variable of the shader, of which an expression uses only the type.
    fn forget_read(&mut self, mut expr: ExprId) {
        while let ExprKind::Index(base, index) = self.program.expr(expr).kind
            && self.program.expr(index).constant.is_some()
        {
            expr = base;
        }
        let ExprKind::Variable(id) = self.program.expr(expr).kind else { return };
        let place = self.program.expr(expr).tokens;
        if may_be_unused(self.program.variable(id).storage)
            && let Some(at) = self.reads.iter().rposition(|&read| read == (id, place))
        {
            self.reads.remove(at);
        }
    }

    /// Marks variables that the expression reads, and warns about those that nothing wrote. Expressions with errors
    /// have no warnings: a target may count as read.
    fn check_reads(&mut self, warns: bool) {
        for (id, tokens) in std::mem::take(&mut self.reads) {
            let Some(variable) = self.variable_mut(id) else { continue };
            variable.is_read = true;
            let (name, at, is_unwritten) =
                (variable.name, variable.tokens, variable.storage == Storage::Local && !variable.is_written);
            if warns && is_unwritten && !variable.ty.is_error() && self.warned.insert(id) {
                let name = self.spelling(name);
                self.report_with(SemanticError::Uninitialized { name }, tokens, at, "its declaration");
            }
        }
    }
}

/// The components that a swizzle selects, and their number.
fn lanes_of(name: &str, components: u8) -> Option<([u8; 4], u8)> {
    const SETS: [&str; 3] = ["xyzw", "rgba", "stpq"];
    let set = SETS.into_iter().find(|set| name.starts_with(|first| set.contains(first)))?;
    let count = name.len();
    if count > 4 {
        return None;
    }
    let mut lanes = [0; 4];
    for (lane, letter) in lanes.iter_mut().zip(name.chars()) {
        let component = set.find(letter)? as u8;
        if component >= components {
            return None;
        }
        *lane = component;
    }
    Some((lanes, count as u8))
}
