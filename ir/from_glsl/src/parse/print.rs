//! Prints trees as S-expressions, for tests.

use crate::ast::*;
use crate::symbol::{Interner, Symbol};

/// Prints a tree, an item a line.
pub(super) fn print(ast: &Ast, interner: &Interner) -> String {
    let printer = Printer { ast, interner };
    let items: Vec<String> = ast.items.iter().map(|item| printer.item(item)).collect();
    items.join("\n")
}

struct Printer<'a> {
    ast: &'a Ast,
    interner: &'a Interner,
}

impl Printer<'_> {
    fn item(&self, item: &Item) -> String {
        match item {
            Item::Declaration(id) => self.declaration(*id),
            Item::Function { prototype, body, .. } => {
                format!("(fn {}{})", self.prototype(prototype), self.prefixed(self.ast.list(*body), |s| self.stmt(*s)))
            }
        }
    }

    fn name(&self, symbol: Symbol) -> &str {
        self.interner.spelling(symbol)
    }

    fn declaration(&self, id: DeclarationId) -> String {
        match &self.ast.declarations[id.0 as usize] {
            Declaration::Variables { qualifiers, ty, declarators } => {
                format!("(var {}{}{})", self.qualifiers(*qualifiers), self.ty(ty), self.declarators(*declarators))
            }
            Declaration::Precision { precision, ty, .. } => format!("(precision {} {})", precision.name(), self.ty(ty)),
            Declaration::Qualifiers { qualifiers, names, .. } => {
                let names = self.prefixed(self.ast.list(*names), |name| self.name(name.0).to_owned());
                format!("(qualify {}{names})", self.qualifiers(*qualifiers).trim_end())
            }
            Declaration::Block { qualifiers, name, members, instance, .. } => {
                let instance = instance.map(|instance| format!(" {}", self.declarator(&instance))).unwrap_or_default();
                let (qualifiers, members) = (self.qualifiers(*qualifiers), self.members(*members));
                format!("(block {qualifiers}{}{members}{instance})", self.name(*name))
            }
            Declaration::Prototype(prototype) => format!("(proto {})", self.prototype(prototype)),
        }
    }

    fn prototype(&self, prototype: &Prototype) -> String {
        let parameters: Vec<String> = self.ast.list(prototype.parameters).iter().map(|p| self.parameter(p)).collect();
        let (qualifiers, result) = (self.qualifiers(prototype.qualifiers), self.ty(&prototype.result));
        format!("{qualifiers}{result} {}({})", self.name(prototype.name), parameters.join(", "))
    }

    fn parameter(&self, parameter: &Parameter) -> String {
        let name = parameter.name.map(|name| format!(" {}", self.name(name))).unwrap_or_default();
        let (qualifiers, ty) = (self.qualifiers(parameter.qualifiers), self.ty(&parameter.ty));
        format!("{qualifiers}{ty}{name}{}", self.dimensions(parameter.dimensions))
    }

    fn members(&self, members: List<Members>) -> String {
        self.prefixed(self.ast.list(members), |members| {
            let declarators = self.declarators(members.declarators);
            format!("{{{}{}{declarators}}}", self.qualifiers(members.qualifiers), self.ty(&members.ty))
        })
    }

    fn declarators(&self, declarators: List<Declarator>) -> String {
        self.prefixed(self.ast.list(declarators), |declarator| self.declarator(declarator))
    }

    fn declarator(&self, declarator: &Declarator) -> String {
        let initializer = declarator.initializer.map(|value| format!("={}", self.expr(value))).unwrap_or_default();
        format!("{}{}{initializer}", self.name(declarator.name), self.dimensions(declarator.dimensions))
    }

    fn qualifiers(&self, qualifiers: List<Qualifier>) -> String {
        let text = |qualifier: &Qualifier| match qualifier.kind {
            QualifierKind::Keyword(word) => word.name().to_owned() + " ",
            QualifierKind::Layout(items) => {
                let items = self.prefixed(self.ast.list(items), |item| {
                    let value = item.value.map(|value| format!("={}", self.expr(value))).unwrap_or_default();
                    format!("{}{value}", self.name(item.name))
                });
                format!("layout({}) ", items.trim_start())
            }
            QualifierKind::Subroutine(names) => {
                let names = self.prefixed(self.ast.list(names), |&name| self.name(name).to_owned());
                format!("subroutine({}) ", names.trim_start())
            }
        };
        self.ast.list(qualifiers).iter().map(text).collect()
    }

    fn ty(&self, ty: &TypeSpec) -> String {
        let name = match ty.name {
            TypeName::Keyword(word) => word.name().to_owned(),
            TypeName::Named(name) => self.name(name).to_owned(),
            TypeName::Struct(StructId(id)) => {
                let spec = &self.ast.structs[id as usize];
                let name = spec.name.map_or("-", |name| self.name(name));
                format!("(struct {name}{})", self.members(spec.members))
            }
            TypeName::Error => "<error>".to_owned(),
        };
        name + &self.dimensions(ty.dimensions)
    }

    fn dimensions(&self, dimensions: List<Dimension>) -> String {
        let length = |dimension: &Dimension| dimension.length.map(|length| self.expr(length)).unwrap_or_default();
        self.ast.list(dimensions).iter().map(|dimension| format!("[{}]", length(dimension))).collect()
    }

    fn stmt(&self, id: StmtId) -> String {
        match self.ast.stmts[id.0 as usize].kind {
            StmtKind::Empty => "(;)".to_owned(),
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Declaration(declaration) => self.declaration(declaration),
            StmtKind::Block(list) => format!("({{}}{})", self.prefixed(self.ast.list(list), |s| self.stmt(*s))),
            StmtKind::If { arms, otherwise } => {
                let arms = self.prefixed(self.ast.list(arms), |(condition, body)| {
                    format!("{} {}", self.expr(*condition), self.stmt(*body))
                });
                let otherwise = otherwise.map(|body| format!(" else {}", self.stmt(body))).unwrap_or_default();
                format!("(if{arms}{otherwise})")
            }
            StmtKind::While(condition, body) => format!("(while {} {})", self.condition(condition), self.stmt(body)),
            StmtKind::Do(body, condition) => format!("(do {} {})", self.stmt(body), self.expr(condition)),
            StmtKind::For { start, condition, step, body } => {
                let condition = condition.map_or("-".to_owned(), |condition| self.condition(condition));
                let step = step.map_or("-".to_owned(), |step| self.expr(step));
                format!("(for {} {condition} {step} {})", self.stmt(start), self.stmt(body))
            }
            StmtKind::Switch(value, list) => {
                format!("(switch {}{})", self.expr(value), self.prefixed(self.ast.list(list), |s| self.stmt(*s)))
            }
            StmtKind::Case(Some(value)) => format!("(case {})", self.expr(value)),
            StmtKind::Case(None) => "(default)".to_owned(),
            StmtKind::Break => "(break)".to_owned(),
            StmtKind::Continue => "(continue)".to_owned(),
            StmtKind::Return(Some(value)) => format!("(return {})", self.expr(value)),
            StmtKind::Return(None) => "(return)".to_owned(),
            StmtKind::Discard => "(discard)".to_owned(),
            StmtKind::Demote => "(demote)".to_owned(),
            StmtKind::Error => "<error>".to_owned(),
        }
    }

    fn condition(&self, condition: Condition) -> String {
        match condition {
            Condition::Expr(expr) => self.expr(expr),
            Condition::Declaration(declaration) => self.declaration(declaration),
        }
    }

    fn expr(&self, id: ExprId) -> String {
        let e = |id| self.expr(id);
        match self.ast.exprs[id.0 as usize].kind {
            ExprKind::Name(name) => self.name(name).to_owned(),
            ExprKind::Int { bits, unsigned } => format!("{bits}{}", if unsigned { "u" } else { "" }),
            ExprKind::Int64 { bits, unsigned } => format!("{bits}{}", if unsigned { "ul" } else { "l" }),
            ExprKind::Float(value) => format!("{value:?}"),
            ExprKind::Double(value) => format!("{value:?}lf"),
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::Unary(op, operand) => {
                let op = match op {
                    UnaryOp::Plus => "+",
                    UnaryOp::Minus => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::Complement => "~",
                };
                format!("({op} {})", e(operand))
            }
            ExprKind::Step { operand, decrement, postfix } => {
                let op = if decrement { "--" } else { "++" };
                if postfix { format!("({} {op})", e(operand)) } else { format!("({op} {})", e(operand)) }
            }
            ExprKind::Binary(op, left, right) => format!("({} {} {})", op.text(), e(left), e(right)),
            ExprKind::Conditional(condition, first, second) => {
                format!("(? {} {} {})", e(condition), e(first), e(second))
            }
            ExprKind::Assign(op, left, right) => {
                format!("({}= {} {})", op.map_or("", BinaryOp::text), e(left), e(right))
            }
            ExprKind::Comma(first, second) => format!("(, {} {})", e(first), e(second)),
            ExprKind::Index(base, index) => format!("{}[{}]", e(base), e(index)),
            ExprKind::Field(base, name) => format!("{}.{}", e(base), self.name(name)),
            ExprKind::Call(name, arguments) => format!("{}({})", self.name(name), self.arguments(arguments)),
            ExprKind::Construct(ty, arguments) => format!("{}:({})", self.ty(&ty), self.arguments(arguments)),
            ExprKind::Invoke(base, arguments) => format!("{}({})", e(base), self.arguments(arguments)),
            ExprKind::Method(base, name, arguments) => {
                format!("{}.{}({})", e(base), self.name(name), self.arguments(arguments))
            }
            ExprKind::Braces(elements) => format!("{{{}}}", self.arguments(elements)),
            ExprKind::Error => "<error>".to_owned(),
        }
    }

    fn arguments(&self, arguments: List<ExprId>) -> String {
        self.prefixed(self.ast.list(arguments), |argument| self.expr(*argument)).trim_start().to_owned()
    }

    /// The elements, each after a space.
    fn prefixed<T>(&self, elements: &[T], text: impl Fn(&T) -> String) -> String {
        elements.iter().map(|element| format!(" {}", text(element))).collect()
    }
}
