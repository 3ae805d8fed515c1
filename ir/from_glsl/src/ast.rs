//! The syntax tree of one unit.
//!
//! Nodes are in arenas and refer to each other by id. Children precede their parents: an expression and all its operands
//! are consecutive in post-order, so a loop over [`Expr`]s visits operands first, in the order of evaluation, without
//! recursion. Chains that sources make long are flat: `a + b + c` is left-deep, and an `else if` is another arm of the
//! same [`StmtKind::If`]. All other nesting is bounded by a limit of the parser.
//!
//! Where an error was reported, arenas may hold nodes that nothing refers to.
//!
//! Names are not resolved; only whether a name was that of a type where it was parsed is known.

use crate::keyword::Keyword;
use crate::symbol::Symbol;
use crate::token::TokenRange;

macro_rules! ids {
    ($($(#[$doc:meta])* $id:ident;)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
            pub(crate) struct $id(pub(crate) u32);
        )+
    };
}

ids! {
    /// An [`Expr`].
    ExprId;
    /// A [`Stmt`].
    StmtId;
    /// A [`Declaration`].
    DeclarationId;
    /// A [`StructSpec`].
    StructId;
}

/// Consecutive elements of one of the list arenas of [`Ast`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct List<T> {
    pub(crate) start: u32,
    pub(crate) len: u32,
    of: std::marker::PhantomData<T>,
}

impl<T> List<T> {
    /// No elements.
    pub(crate) const EMPTY: List<T> = List { start: 0, len: 0, of: std::marker::PhantomData };

    /// Elements `start..start + len`.
    pub(crate) const fn new(start: u32, len: u32) -> List<T> {
        List { start, len, of: std::marker::PhantomData }
    }
}

/// Unary operators without effects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum UnaryOp {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `!`
    Not,
    /// `~`
    Complement,
}

/// Binary operators without effects, except `,`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum BinaryOp {
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Mod,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `<=`
    LessEqual,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `&&`
    And,
    /// `^^`
    Xor,
    /// `||`
    Or,
}

impl UnaryOp {
    /// The spelling.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            UnaryOp::Not => "!",
            UnaryOp::Complement => "~",
        }
    }
}

impl BinaryOp {
    /// The spelling.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Mod => "%",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Less => "<",
            BinaryOp::Greater => ">",
            BinaryOp::LessEqual => "<=",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::BitOr => "|",
            BinaryOp::And => "&&",
            BinaryOp::Xor => "^^",
            BinaryOp::Or => "||",
        }
    }
}

/// An expression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) tokens: TokenRange,
}

/// The kind of an expression.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExprKind {
    /// A name that is not called.
    Name(Symbol),
    /// An integer literal: its bits, and whether it has the suffix `u`.
    Int {
        bits: u32,
        unsigned: bool,
    },
    /// An integer literal with the suffix `l` or `ul`.
    Int64 {
        bits: u64,
        unsigned: bool,
    },
    /// A float literal.
    Float(f32),
    /// A float literal with the suffix `lf`.
    Double(f64),
    /// `true` or `false`.
    Bool(bool),
    Unary(UnaryOp, ExprId),
    /// `++` and `--`.
    Step {
        operand: ExprId,
        decrement: bool,
        postfix: bool,
    },
    Binary(BinaryOp, ExprId, ExprId),
    /// `condition ? first : second`.
    Conditional(ExprId, ExprId, ExprId),
    /// `left = right`, or `left op= right`.
    Assign(Option<BinaryOp>, ExprId, ExprId),
    /// `first, second`.
    Comma(ExprId, ExprId),
    /// `base[index]`. `base[]` is an error of the parser.
    Index(ExprId, ExprId),
    /// `base.name`: a field or a swizzle.
    Field(ExprId, Symbol),
    /// `name(arguments)`: a function, or the constructor of a struct.
    Call(Symbol, List<ExprId>),
    /// `type(arguments)` where the type is a keyword, has array dimensions, or is an error.
    Construct(TypeSpec, List<ExprId>),
    /// `base[index](arguments)`: an element of an array of subroutines.
    Invoke(ExprId, List<ExprId>),
    /// `base.name(arguments)`.
    Method(ExprId, Symbol, List<ExprId>),
    /// `{ elements }` as an initialiser.
    Braces(List<ExprId>),
    /// A syntax error, which was reported.
    Error,
}

/// An array dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dimension {
    /// The length; `None` for `[]`.
    pub(crate) length: Option<ExprId>,
    pub(crate) tokens: TokenRange,
}

/// The name of a type, without dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TypeName {
    /// A built-in type, or `void`.
    Keyword(Keyword),
    /// A struct.
    Named(Symbol),
    /// A struct that is defined here.
    Struct(StructId),
    /// A syntax error, which was reported.
    Error,
}

/// A type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeSpec {
    pub(crate) name: TypeName,
    /// `float[3]`: outermost dimension first.
    pub(crate) dimensions: List<Dimension>,
    pub(crate) tokens: TokenRange,
}

/// An identifier of `layout(...)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayoutItem {
    /// An identifier, or the keyword `shared`.
    pub(crate) name: Symbol,
    pub(crate) value: Option<ExprId>,
    pub(crate) tokens: TokenRange,
}

/// A qualifier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Qualifier {
    pub(crate) kind: QualifierKind,
    pub(crate) tokens: TokenRange,
}

/// The kind of a qualifier.
#[derive(Clone, Copy, Debug)]
pub(crate) enum QualifierKind {
    /// `const`, `uniform`, `flat`, `highp`, `invariant`, ...
    Keyword(Keyword),
    /// `layout(...)`.
    Layout(List<LayoutItem>),
    /// `subroutine(...)`: names of subroutine types.
    Subroutine(List<Symbol>),
}

/// One name of a declaration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declarator {
    pub(crate) name: Symbol,
    /// Dimensions after the name.
    pub(crate) dimensions: List<Dimension>,
    pub(crate) initializer: Option<ExprId>,
    /// The name.
    pub(crate) tokens: TokenRange,
}

/// Members of a struct or block, declared together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Members {
    pub(crate) qualifiers: List<Qualifier>,
    pub(crate) ty: TypeSpec,
    pub(crate) declarators: List<Declarator>,
}

/// The definition of a struct.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StructSpec {
    pub(crate) name: Option<Symbol>,
    pub(crate) members: List<Members>,
    /// `struct` and the name.
    pub(crate) tokens: TokenRange,
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub(crate) qualifiers: List<Qualifier>,
    pub(crate) ty: TypeSpec,
    /// The name; `None` for an unnamed parameter.
    pub(crate) name: Option<Symbol>,
    /// Dimensions after the name.
    pub(crate) dimensions: List<Dimension>,
    pub(crate) tokens: TokenRange,
}

/// The head of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prototype {
    pub(crate) qualifiers: List<Qualifier>,
    pub(crate) result: TypeSpec,
    pub(crate) name: Symbol,
    /// `(void)` has none.
    pub(crate) parameters: List<Parameter>,
    /// The name.
    pub(crate) tokens: TokenRange,
}

/// A declaration, at global scope or as a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Declaration {
    /// Variables. Without declarators, only a type.
    Variables { qualifiers: List<Qualifier>, ty: TypeSpec, declarators: List<Declarator> },
    /// `precision highp float;`
    Precision { precision: Keyword, ty: TypeSpec, tokens: TokenRange },
    /// Qualifiers of declared names, as in `invariant gl_Position;`, or of the whole shader, as in
    /// `layout(early_fragment_tests) in;`, which has no names.
    Qualifiers { qualifiers: List<Qualifier>, names: List<(Symbol, TokenRange)>, tokens: TokenRange },
    /// An interface block.
    Block {
        qualifiers: List<Qualifier>,
        name: Symbol,
        members: List<Members>,
        instance: Option<Declarator>,
        tokens: TokenRange,
    },
    /// A function without a body.
    Prototype(Prototype),
}

/// A condition: an expression, or the declaration of one variable.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Condition {
    Expr(ExprId),
    Declaration(DeclarationId),
}

/// A statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    /// From the first token to the last; of blocks, loops and branches only the head.
    pub(crate) tokens: TokenRange,
}

/// The kind of a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StmtKind {
    /// `;`
    Empty,
    Expr(ExprId),
    Declaration(DeclarationId),
    /// `{ ... }`, with its own scope.
    Block(List<StmtId>),
    /// `if`, each `else if`, and the last `else`.
    If {
        arms: List<(ExprId, StmtId)>,
        otherwise: Option<StmtId>,
    },
    While(Condition, StmtId),
    Do(StmtId, ExprId),
    For {
        /// [`Empty`](StmtKind::Empty), an expression or a declaration.
        start: StmtId,
        condition: Option<Condition>,
        step: Option<ExprId>,
        body: StmtId,
    },
    /// The statements between the braces, with their labels.
    Switch(ExprId, List<StmtId>),
    /// `case value:`, or `default:` without a value.
    Case(Option<ExprId>),
    Break,
    Continue,
    Return(Option<ExprId>),
    Discard,
    /// `demote`, from the extension `GL_EXT_demote_to_helper_invocation`.
    Demote,
    /// A syntax error, which was reported.
    Error,
}

/// A definition or declaration at global scope.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item {
    Declaration(DeclarationId),
    Function {
        prototype: Prototype,
        /// The statements of the body.
        body: List<StmtId>,
        /// The closing brace.
        end: TokenRange,
    },
}

/// The syntax tree of one unit.
#[derive(Debug, Default)]
pub(crate) struct Ast {
    pub(crate) items: Vec<Item>,
    pub(crate) exprs: Vec<Expr>,
    pub(crate) stmts: Vec<Stmt>,
    pub(crate) declarations: Vec<Declaration>,
    pub(crate) structs: Vec<StructSpec>,
    pub(crate) expr_lists: Vec<ExprId>,
    pub(crate) stmt_lists: Vec<StmtId>,
    pub(crate) arms: Vec<(ExprId, StmtId)>,
    pub(crate) dimensions: Vec<Dimension>,
    pub(crate) layout_items: Vec<LayoutItem>,
    pub(crate) qualifiers: Vec<Qualifier>,
    pub(crate) declarators: Vec<Declarator>,
    pub(crate) members: Vec<Members>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) names: Vec<(Symbol, TokenRange)>,
    pub(crate) symbols: Vec<Symbol>,
}

macro_rules! lists {
    ($($field:ident: $ty:ty;)+) => {
        $(
            impl ListOf for $ty {
                fn arena(ast: &Ast) -> &Vec<$ty> {
                    &ast.$field
                }

                fn arena_mut(ast: &mut Ast) -> &mut Vec<$ty> {
                    &mut ast.$field
                }
            }
        )+
    };
}

/// An element of a [`List`].
pub(crate) trait ListOf: Sized + Copy {
    /// The arena with the elements of all lists.
    fn arena(ast: &Ast) -> &Vec<Self>;
    /// The same, to add a list.
    fn arena_mut(ast: &mut Ast) -> &mut Vec<Self>;
}

lists! {
    expr_lists: ExprId;
    stmt_lists: StmtId;
    arms: (ExprId, StmtId);
    dimensions: Dimension;
    layout_items: LayoutItem;
    qualifiers: Qualifier;
    declarators: Declarator;
    members: Members;
    parameters: Parameter;
    names: (Symbol, TokenRange);
    symbols: Symbol;
}

impl Ast {
    /// The elements of a list.
    pub(crate) fn list<T: ListOf>(&self, list: List<T>) -> &[T] {
        let start = list.start as usize;
        T::arena(self).get(start..start + list.len as usize).unwrap_or_default()
    }

    /// Adds a list.
    pub(crate) fn add_list<T: ListOf>(&mut self, elements: &[T]) -> List<T> {
        if elements.is_empty() {
            return List::EMPTY;
        }
        let arena = T::arena_mut(self);
        let start = arena.len() as u32;
        arena.extend_from_slice(elements);
        List::new(start, elements.len() as u32)
    }

    /// Adds an expression.
    pub(crate) fn add_expr(&mut self, kind: ExprKind, tokens: TokenRange) -> ExprId {
        self.exprs.push(Expr { kind, tokens });
        ExprId(self.exprs.len() as u32 - 1)
    }

    /// Adds a statement.
    pub(crate) fn add_stmt(&mut self, kind: StmtKind, tokens: TokenRange) -> StmtId {
        self.stmts.push(Stmt { kind, tokens });
        StmtId(self.stmts.len() as u32 - 1)
    }

    /// Adds a declaration.
    pub(crate) fn add_declaration(&mut self, declaration: Declaration) -> DeclarationId {
        self.declarations.push(declaration);
        DeclarationId(self.declarations.len() as u32 - 1)
    }
}
