//! Semantic analysis: turns the syntax tree into a typed program.
//!
//! Declarations and statements are walked in the order of the source, with nesting bounded by the parser. Expressions
//! are not walked as trees: the nodes of an expression are consecutive with operands first, so a loop types each node
//! from its typed operands. An expression with an error has the error type, on which nothing more is reported. Syntax
//! that a version lacks was reported by the parser; here it has its later meaning.

mod block_rules;
mod blocks;
mod calls;
mod captures;
mod complete;
mod constructors;
mod conversions;
mod declarations;
mod error;
mod expressions;
mod finish;
mod functions;
mod implied;
mod indices;
mod language;
mod layouts;
mod memory;
mod nodes;
mod operators;
mod per_vertex;
mod products;
mod qualifiers;
mod scopes;
mod stage_layouts;
mod statements;
mod storage;
mod subroutines;
mod targets;
#[cfg(test)]
mod tests;
mod type_specs;
mod units;
mod unreadable;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use tgsi_diagnostics::{Diagnostic, Span};
use tgsi_ir::shader::ShaderStage;

use crate::ast::{self, Ast};
use crate::builtins::functions::Overloads;
use crate::extension::Extensions;
use crate::findings::Findings;
use crate::keyword::Keyword;
use crate::options::ConstantValues;
use crate::packing::Packer;
use crate::program::{Arenas, BlockId, Constant, ConstantId, ExprId, FunctionId, Layout, Packing, Program, VariableId};
use crate::symbol::{Interner, Symbol};
use crate::token::{TokenRange, Tokens};
use crate::types::{TypeId, Types};
use crate::version::{NEVER, Since, Version};

pub(crate) use complete::find_errors;
pub(crate) use error::SemanticError;
use memory::CounterLayout;
use qualifiers::Precisions;
use scopes::{Entity, Scopes};
#[cfg(test)]
pub(crate) use type_specs::MAX_COPIED_REGISTERS;
use units::EarlierUnits;

/// Components of all other constants: 128 MB.
pub(crate) const MAX_COMPONENTS: u64 = 1 << 24;

/// What semantic analysis knows of a unit besides its syntax tree.
#[derive(Clone, Copy)]
pub(crate) struct UnitInfo<'a> {
    pub(crate) tokens: &'a Tokens,
    pub(crate) version: Version,
    /// Extensions enabled anywhere in the unit.
    pub(crate) enabled: &'a Extensions,
    pub(crate) stage: ShaderStage,
    /// `#pragma STDGL invariant(all)`.
    pub(crate) invariant_all: Option<Span>,
    /// Registers that a variable may take.
    pub(crate) max_registers: u32,
    /// Values of constants of the language.
    pub(crate) constants: &'a ConstantValues,
}

/// Analyses the units of a program, which share their global variables and functions. If there are errors, the program
/// is incomplete.
pub(crate) fn analyze(
    units: &[(&Ast, UnitInfo<'_>)],
    interner: &mut Interner,
    findings: &mut Findings,
) -> Option<Program> {
    let &(ast, unit) = units.first()?;
    let program = Program {
        stage: unit.stage,
        version: units.iter().map(|(_, unit)| unit.version).max_by_key(|version| version.number)?,
        types: Types::new(),
        arenas: Arenas::default(),
        lists: Vec::new(),
        globals: Vec::new(),
        initializers: Vec::new(),
        main: None,
        layout: Layout::default(),
        per_vertex: [None, None],
        strides: [None; 4],
    };
    let reported = findings.error_spans();
    let mut analyzer = Analyzer {
        ast,
        unit,
        interner,
        findings,
        program,
        scopes: Scopes::new(!unit.version.is_es() && unit.version.number < 120),
        typed: vec![ExprId(0); ast.exprs.len()],
        overloads: FxHashMap::default(),
        reads: Vec::new(),
        large: Vec::new(),
        whole_uses: FxHashMap::default(),
        constants: FxHashMap::default(),
        precisions: Precisions::new(unit.stage, unit.version),
        function: None,
        effects: Vec::new(),
        definitions: FxHashMap::default(),
        calls: FxHashMap::default(),
        copies: FxHashMap::default(),
        warned: FxHashSet::default(),
        result_precisions: Vec::new(),
        folded_components: 0,
        copied_registers: 0,
        coordinate_layout: None,
        reported,
        reported_functions: FxHashSet::default(),
        earlier: EarlierUnits::default(),
        blocks: FxHashMap::default(),
        uniform_defaults: Default::default(),
        buffer_defaults: Default::default(),
        packer: Packer::default(),
        implied: FxHashMap::default(),
        capture_buffer: 0,
        per_vertex: Vec::new(),
        first_lengths: FxHashMap::default(),
        redeclared_per_vertex: FxHashSet::default(),
        takes_lengths: false,
        hidden_members: FxHashSet::default(),
        counters: CounterLayout::default(),
        interlock: (false, false),
        subroutine_types: FxHashMap::default(),
    };
    // Node 0 has an error, so that unused entries of `typed` name a node.
    analyzer.program.arenas.expr.reserve(ast.exprs.len() * 3 / 2);
    analyzer.error_expr(TokenRange::default());
    analyzer.scopes.push();
    analyzer.scopes.push();
    analyzer.items();
    for &(ast, unit) in units.get(1..).unwrap_or_default() {
        analyzer.next_unit(ast, unit);
        analyzer.items();
    }
    analyzer.finish();
    Some(analyzer.program)
}

/// The function whose body is analysed.
#[derive(Debug)]
struct CurrentFunction {
    id: FunctionId,
    result: TypeId,
    /// Whether a `return` with a value occurs.
    returns: bool,
    /// Open loops and switches, outermost first.
    breakable: Vec<Breakable>,
    /// Number of open `if`s.
    branches: u32,
    /// Whether a `return` occurs before.
    has_returned: bool,
    /// Whether it writes something outside of it, or discards.
    has_effects: bool,
}

/// A statement that `break` leaves.
#[derive(Debug)]
enum Breakable {
    Loop,
    Switch {
        /// Type of the expression.
        ty: TypeId,
        /// Values of the labels so far.
        labels: FxHashSet<u64>,
        has_default: bool,
    },
}

/// The state of the analysis of one unit.
struct Analyzer<'a> {
    ast: &'a Ast,
    unit: UnitInfo<'a>,
    interner: &'a mut Interner,
    findings: &'a mut Findings,
    program: Program,
    scopes: Scopes,
    /// By expression of the syntax tree: its typed expression.
    typed: Vec<ExprId>,
    /// Functions of the language that were looked up.
    overloads: FxHashMap<Symbol, Rc<Overloads>>,
    /// Variables that the current expression reads.
    reads: Vec<(VariableId, TokenRange)>,
    /// Variables that are too large if code accesses them.
    large: Vec<VariableId>,
    /// Arrays: uses other than by an index.
    whole_uses: FxHashMap<VariableId, u32>,
    /// Scalar constants by type and bits.
    constants: FxHashMap<(TypeId, u64), ConstantId>,
    precisions: Precisions,
    function: Option<CurrentFunction>,
    /// By function: whether a call has effects; `None` until its body was analysed.
    effects: Vec<Option<bool>>,
    /// Where each function was defined.
    definitions: FxHashMap<FunctionId, TokenRange>,
    /// By caller and function that it calls: the number of calls.
    calls: FxHashMap<(FunctionId, FunctionId), u64>,
    /// By function: the registers of the values that it copies.
    copies: FxHashMap<FunctionId, u64>,
    /// Variables that were warned about.
    warned: FxHashSet<VariableId>,
    /// By function: the precision of its result.
    result_precisions: Vec<Option<Keyword>>,
    /// Components of all folded constants with more than [`MAX_SMALL_CONSTANT`].
    folded_components: u64,
    /// Registers of all copied values that have more than some.
    copied_registers: u64,
    /// Declarations of `gl_FragCoord`: `origin_upper_left`, `pixel_center_integer`.
    coordinate_layout: Option<(bool, bool)>,
    /// Where earlier phases found errors.
    reported: Vec<Span>,
    /// Functions whose absence was reported.
    reported_functions: FxHashSet<Symbol>,
    /// What earlier units of the program declare.
    earlier: EarlierUnits,
    /// Blocks by name and interface.
    blocks: FxHashMap<(Symbol, u8), BlockId>,
    /// `layout(...) uniform;` and `layout(...) buffer;`: the packing, and whether matrices are stored by rows.
    uniform_defaults: (Packing, bool),
    buffer_defaults: (Packing, bool),
    packer: Packer,
    /// Blocks whose members have lengths that follow from indices.
    implied: FxHashMap<BlockId, implied::ImpliedBlock>,
    /// The default of `xfb_buffer`.
    capture_buffer: u32,
    /// Variables with an element for each vertex, with those of blocks.
    per_vertex: Vec<VariableId>,
    /// The first length of such inputs (`true`) and outputs.
    first_lengths: FxHashMap<bool, u32>,
    /// The redeclarations of `gl_PerVertex`: of inputs, of outputs.
    redeclared_per_vertex: FxHashSet<bool>,
    /// Whether inner dimensions of the type that is read may be open: a value gives their lengths.
    takes_lengths: bool,
    /// Members that a redeclaration of `gl_PerVertex` leaves out.
    hidden_members: FxHashSet<Symbol>,
    /// The places of atomic counters.
    counters: CounterLayout,
    /// Whether the begin and the end of an interlock occur.
    interlock: (bool, bool),
    /// Subroutine types of all units, by name.
    subroutine_types: FxHashMap<Symbol, TypeId>,
}

impl Analyzer<'_> {
    /// Analyses the declarations and functions of a unit.
    fn items(&mut self) {
        self.check_invariant_all();
        let ast = self.ast;
        for item in &ast.items {
            if self.findings.is_full() {
                break;
            }
            match *item {
                ast::Item::Declaration(declaration) => {
                    let stmts = self.declaration(declaration);
                    self.program.initializers.extend(stmts);
                }
                ast::Item::Function { prototype, body, end } => self.function(&prototype, body, end),
            }
        }
    }

    /// Outputs of fragment shaders are not invariant from ES 3.00 on.
    fn check_invariant_all(&mut self) {
        let is_allowed = self.unit.stage != ShaderStage::Fragment || !self.version().is_at_least(NEVER, 300);
        if let Some(span) = self.unit.invariant_all.filter(|_| !is_allowed) {
            let what = "`#pragma STDGL invariant(all)`".to_owned();
            let stages = "shaders of other stages than fragment".to_owned();
            self.findings.add(&SemanticError::WrongStage { what, stages }, span);
        }
    }

    fn version(&self) -> Version {
        self.unit.version
    }

    /// Whether the version or an enabled extension has a feature.
    fn has(&self, since: &Since) -> bool {
        since.holds(self.unit.version, self.unit.enabled)
    }

    /// Adds a finding at tokens, unless an earlier phase found an error there.
    fn report(&mut self, error: SemanticError, tokens: TokenRange) -> Option<&mut Diagnostic> {
        let Span { start, end } = self.unit.tokens.span(tokens);
        if !self.reported.is_empty() && self.reported.iter().any(|other| other.start < end && start < other.end) {
            return None;
        }
        self.findings.add_at(&error, tokens, self.unit.tokens, self.interner)
    }

    /// Adds a finding at tokens, with a note at other tokens. The default range, of things without a place in the text,
    /// has no note.
    fn report_with(&mut self, error: SemanticError, tokens: TokenRange, at: TokenRange, note: &str) {
        let span = if at == TokenRange::default() { Span::default() } else { self.unit.tokens.span(at) };
        if let Some(diagnostic) = self.report(error, tokens)
            && span.end > span.start
        {
            diagnostic.note(span, tgsi_diagnostics::Focus::Whole, note);
        }
    }

    /// Reports that the version lacks a feature, unless it has it. Returns whether it has it.
    fn require(&mut self, since: &Since, what: impl Into<String>, tokens: TokenRange) -> bool {
        if self.has(since) {
            return true;
        }
        let version = self.version();
        let remedy = since.remedy(version);
        self.report(SemanticError::NeedsVersion { what: what.into(), version: version.to_string(), remedy }, tokens);
        false
    }

    fn spelling(&self, symbol: Symbol) -> String {
        self.interner.spelling(symbol).to_owned()
    }

    fn type_name(&self, ty: TypeId) -> String {
        self.program.types.name(ty, self.interner)
    }

    fn ty(&self, expr: ExprId) -> TypeId {
        self.program.expr(expr).ty
    }

    fn tokens_of(&self, expr: ExprId) -> TokenRange {
        self.program.expr(expr).tokens
    }

    fn constant_of(&self, expr: ExprId) -> Option<&Constant> {
        self.program.value(expr)
    }

    /// The value of a constant integer or unsigned expression.
    fn integer_of(&self, expr: ExprId) -> Option<i64> {
        let constant = self.constant_of(expr)?;
        let bits = *constant.bits.first()?;
        match constant.ty {
            TypeId::INT => Some(i64::from(bits as u32 as i32)),
            TypeId::UINT => Some(i64::from(bits as u32)),
            _ => None,
        }
    }

    /// Declares a name in the innermost scope. Names that are declared there already are an error.
    fn declare(&mut self, name: Symbol, entity: Entity, tokens: TokenRange) {
        self.check_name(name, tokens);
        let is_reported = |other: &Entity| match other {
            Entity::Variable(id) | Entity::Member(id, _) => self.program.variable(*id).ty.is_error(),
            Entity::Type(ty) => ty.is_error(),
            Entity::Functions(_) | Entity::Block(_) => false,
        };
        if let Some(other) = self.scopes.find_here(name, &entity).filter(|other| !is_reported(other)) {
            let at = match other {
                Entity::Variable(id) | Entity::Member(id, _) => Some(self.program.variable(*id).tokens),
                Entity::Block(tokens) => Some(*tokens),
                Entity::Functions(ids) => ids.first().map(|&id| self.program.function(id).tokens),
                Entity::Type(ty) => match self.program.types.get(*ty) {
                    crate::types::TypeData::Struct(id) => self.program.types.struct_type(id).map(|data| data.tokens),
                    _ => None,
                },
            };
            let error = SemanticError::Redeclared { name: self.spelling(name) };
            self.report_with(error, tokens, at.unwrap_or(tokens), "the first declaration");
        }
        self.scopes.declare(name, entity);
    }

    /// Checks that a name may be declared.
    fn check_name(&mut self, name: Symbol, tokens: TokenRange) {
        let spelling = self.interner.spelling(name);
        if spelling.starts_with("gl_") {
            let name = spelling.to_owned();
            self.report(SemanticError::ReservedName { name }, tokens);
        } else if spelling.contains("__") {
            let name = spelling.to_owned();
            self.report(SemanticError::ReservedUnderscores { name }, tokens);
        }
    }
}
