//! The typed program of a unit: the result of semantic analysis, from which IR is emitted.
//!
//! Names are resolved, conversions are explicit, operands have the types that operators need, and expressions whose
//! value is known have it as a constant. As in the syntax tree, operands precede the expressions that use them.

use crate::ast::{BinaryOp, UnaryOp};
use crate::builtins::formats::ImageFormat;
use crate::builtins::functions::BuiltinOp;
use crate::builtins::variables::{BuiltinVariable, Role};
use crate::keyword::Keyword;
pub(crate) use crate::layout::{
    Block, Capture, DerivativeGroup, Interlock, Layout, Member, Packing, Primitive, Spacing, StageLayout,
};
use crate::symbol::Symbol;
use crate::token::TokenRange;
use crate::types::{TypeData, TypeId, Types};
use crate::version::Version;
use tgsi_ir::intrinsics::indices::AccessFlags;
use tgsi_ir::shader::ShaderStage;

macro_rules! ids {
    ($($(#[$doc:meta])* $id:ident $field:ident $data:ty;)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
            pub(crate) struct $id(pub(crate) u32);

            impl Program {
                /// The data of an id of this program.
                pub(crate) fn $field(&self, id: $id) -> &$data {
                    let Program { arenas, .. } = self;
                    &arenas.$field[id.0 as usize]
                }
            }
        )+

        /// The nodes of a program.
        #[derive(Debug, Default)]
        pub(crate) struct Arenas {
            $(pub(crate) $field: Vec<$data>,)+
        }
    };
}

ids! {
    /// A [`Variable`].
    VariableId variable Variable;
    /// A [`Function`].
    FunctionId function Function;
    /// An [`Expr`].
    ExprId expr Expr;
    /// A [`Stmt`].
    StmtId stmt Stmt;
    /// A [`Constant`].
    ConstantId constant Constant;
    /// A [`Block`].
    BlockId block Block;
}

/// A value that is known: the bits of its scalar components, in the order of elements, fields, columns and components.
/// Booleans are 0 or 1, 32-bit values are zero-extended.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Constant {
    /// Type.
    pub(crate) ty: TypeId,
    /// Bits.
    pub(crate) bits: Vec<u64>,
}

/// Where a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Storage {
    /// A variable of a function, or one of its parameters, which the function may write.
    Local,
    /// A variable of the shader without qualifier.
    Global,
    /// `uniform`
    Uniform,
    /// `attribute`, `in`, or a `varying` that the stage reads.
    Input,
    /// `out`, or a `varying` that the stage writes.
    Output,
    /// A storage block: `buffer`.
    Buffer,
    /// A variable of a workgroup: `shared`.
    Shared,
    /// A constant; expressions that name it are constants.
    Const,
    /// A variable of the language: `gl_Position`.
    Builtin(BuiltinVariable),
}

impl Storage {
    /// Whether variables are memory that other invocations change: of a buffer or of the workgroup.
    pub(crate) fn is_shared_memory(self) -> bool {
        matches!(self, Storage::Buffer | Storage::Shared)
    }
}

/// Interpolation of an input of fragment shaders.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub(crate) enum Interpolation {
    /// Without qualifier, or `smooth`.
    #[default]
    Smooth,
    /// `flat`
    Flat,
    /// `noperspective`
    Noperspective,
}

/// Qualifiers of a variable other than its storage.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Traits {
    /// `invariant`
    pub(crate) invariant: bool,
    /// `precise`
    pub(crate) precise: bool,
    /// `centroid`
    pub(crate) centroid: bool,
    /// `sample`
    pub(crate) sample: bool,
    /// Whether a qualifier states the interpolation.
    pub(crate) has_interpolation: bool,
    /// Interpolation.
    pub(crate) interpolation: Interpolation,
    /// `layout(location = ...)`
    pub(crate) location: Option<u32>,
    /// `layout(index = ...)`
    pub(crate) index: Option<u32>,
    /// `layout(component = ...)`
    pub(crate) component: Option<u32>,
    /// `layout(binding = ...)`
    pub(crate) binding: Option<u32>,
    /// `patch`
    pub(crate) patch: bool,
    /// `layout(stream = ...)`
    pub(crate) stream: Option<u32>,
    /// `layout(offset = ...)`; of atomic counters also the offset that follows from other counters.
    pub(crate) offset: Option<u32>,
    /// The layout of the texels of an image.
    pub(crate) format: Option<&'static ImageFormat>,
    /// `coherent`, `volatile`, `restrict`, `readonly`, `writeonly`
    pub(crate) access: AccessFlags,
    /// The precision of versions that have one: its own, or the default of the type.
    pub(crate) precision: Option<Keyword>,
}

/// A variable.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// Name.
    pub(crate) name: Symbol,
    /// Type. An array that is declared without a length gets it from the largest constant index, at the end.
    pub(crate) ty: TypeId,
    /// Where it is.
    pub(crate) storage: Storage,
    /// Other qualifiers.
    pub(crate) traits: Traits,
    /// The interface block that the variable is or, of inputs and outputs, whose member it is.
    pub(crate) block: Option<BlockId>,
    /// The buffer, and the byte offset in each vertex, in which transform feedback captures it.
    pub(crate) capture: Option<(u32, u32)>,
    /// Whether the outermost dimension is that of the vertices of a primitive or patch.
    pub(crate) is_per_vertex: bool,
    /// The value of a constant, or the initial value of a uniform.
    pub(crate) value: Option<ConstantId>,
    /// The name in its declaration.
    pub(crate) tokens: TokenRange,
    /// The largest constant index into the outermost dimension.
    pub(crate) max_index: Option<u32>,
    /// Whether an index into the outermost dimension is not constant, or the array is used as a whole.
    pub(crate) is_indexed: bool,
    /// Of a variable of the language: whether the shader redeclares it.
    pub(crate) is_redeclared: bool,
    /// Of an array of arrays whose inner length is not declared: the largest constant index into it.
    pub(crate) max_inner_index: Option<u32>,
    /// Of an input or output that is an array of scalars: whether linking lets four of them share a slot.
    pub(crate) is_packed: bool,
    /// Of an output of fragment shaders: whether it begins as the value of the framebuffer (`inout`).
    pub(crate) is_inout: bool,
    /// Whether an expression reads it.
    pub(crate) is_read: bool,
    /// Whether an expression writes it.
    pub(crate) is_written: bool,
}

impl Variable {
    /// Whether it is the framebuffer before the shader.
    pub(crate) fn is_framebuffer(&self, version: Version) -> bool {
        matches!(self.storage, Storage::Builtin(builtin) if builtin.role(version) == Role::Framebuffer)
    }
}

/// The direction of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Direction {
    /// `in`
    #[default]
    In,
    /// `out`
    Out,
    /// `inout`
    InOut,
}

impl Direction {
    /// Whether the argument is read.
    pub(crate) fn reads(self) -> bool {
        self != Direction::Out
    }

    /// Whether the argument is written.
    pub(crate) fn writes(self) -> bool {
        self != Direction::In
    }
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    /// Type.
    pub(crate) ty: TypeId,
    /// Direction.
    pub(crate) direction: Direction,
    /// `const`
    pub(crate) is_const: bool,
    /// Memory qualifiers of an image.
    pub(crate) access: AccessFlags,
    /// Its variable in the body; `None` for functions without a body and unnamed parameters.
    pub(crate) variable: Option<VariableId>,
}

/// A function of the shader.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Name.
    pub(crate) name: Symbol,
    /// Type of the result.
    pub(crate) result: TypeId,
    /// Parameters.
    pub(crate) parameters: Vec<Parameter>,
    /// The statements of the body; `None` without a definition.
    pub(crate) body: Option<Vec<StmtId>>,
    /// The functions that it calls, each once; of a subroutine type, those that implement it.
    pub(crate) callees: Vec<(FunctionId, TokenRange)>,
    /// The number that selects it as a subroutine.
    pub(crate) subroutine: Option<u32>,
    /// The name in its first declaration or, if there is one, its definition.
    pub(crate) tokens: TokenRange,
}

/// A typed expression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expr {
    /// Kind.
    pub(crate) kind: ExprKind,
    /// Type.
    pub(crate) ty: TypeId,
    /// Its value, if that is known.
    pub(crate) constant: Option<ConstantId>,
    /// Whether evaluating it has an effect besides its value: assignments, calls that may write, `discard` in them.
    pub(crate) has_effects: bool,
    /// Position.
    pub(crate) tokens: TokenRange,
}

/// Consecutive elements of [`Program::lists`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ExprList {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

/// The kind of a typed expression.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExprKind {
    /// Only the value, in [`Expr::constant`].
    Constant,
    /// The value of a variable, or the variable itself as a target.
    Variable(VariableId),
    /// Components of a vector, as many as the type has.
    Swizzle(ExprId, [u8; 4]),
    /// An element of an array, a column of a matrix, a component of a vector.
    Index(ExprId, ExprId),
    /// A field of a struct.
    Field(ExprId, u32),
    /// An operator on one operand of the same type.
    Unary(UnaryOp, ExprId),
    /// An operator on two operands of one scalar; one may be a scalar where the other is a vector or matrix. `And`, `Or`
    /// evaluate the second operand only if needed.
    Binary(BinaryOp, ExprId, ExprId),
    /// A scalar, vector or matrix with its components converted to the scalar of the type.
    Convert(ExprId),
    /// A vector, matrix, struct or array from all operands, by the rules of constructors. Operands of vectors and
    /// matrices have the scalar of the type; those of structs and arrays have the types of the fields and elements.
    Construct(ExprList),
    /// The length of an array whose length becomes known at the end.
    Length(ExprId),
    /// `condition ? first : second`. Only one of them is evaluated.
    Select(ExprId, ExprId, ExprId),
    /// A call of a function of the shader. Arguments of `out` and `inout` parameters are targets of the parameter's
    /// type, or of a type to which it converts.
    Call(FunctionId, ExprList),
    /// A call of the function that a subroutine uniform, the first operand, selects. The function is that of its type.
    CallSubroutine(ExprId, FunctionId, ExprList),
    /// A call of a function of the language.
    Builtin(BuiltinOp, ExprList),
    /// Writes a value to a target. The value of the expression is that value.
    Assign(ExprId, ExprId),
    /// `target op= value`: reads the target, which is evaluated once, and writes the result, converted to its type.
    Update(BinaryOp, ExprId, ExprId),
    /// `++` and `--`.
    Step {
        /// The target.
        operand: ExprId,
        /// `--`
        decrement: bool,
        /// The value is that before the step.
        postfix: bool,
    },
    /// Evaluates both; the value is the second.
    Comma(ExprId, ExprId),
    /// An expression with an error, which was reported.
    Error,
}

/// A typed statement.
#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    /// Kind.
    pub(crate) kind: StmtKind,
    /// Position.
    pub(crate) tokens: TokenRange,
}

/// The condition of a loop: statements that declare its variable, and the expression.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// The declaration, evaluated again before each test.
    pub(crate) declaration: Option<StmtId>,
    /// A boolean.
    pub(crate) test: ExprId,
}

/// The kind of a typed statement.
#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    /// Evaluates an expression.
    Expr(ExprId),
    /// Gives a local or global variable its initial value; without one, it is zero.
    Declare(VariableId, Option<ExprId>),
    /// Several statements.
    Block(Vec<StmtId>),
    /// The first arm whose condition holds, or the last statement.
    If(Vec<(ExprId, StmtId)>, Option<StmtId>),
    /// A loop; `while` loops have no start and step.
    For {
        /// Runs once.
        start: Option<StmtId>,
        /// Tested before each round.
        condition: Option<Condition>,
        /// Evaluated after each round and by `continue`.
        step: Option<ExprId>,
        /// The body.
        body: StmtId,
    },
    /// A loop that tests after each round.
    Do(StmtId, ExprId),
    /// A `switch` over `int` or `uint`.
    Switch(ExprId, Vec<StmtId>),
    /// A label of the innermost `switch`: constants of the type of its expression; `None` is `default`.
    Case(Option<ConstantId>),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`
    Return(Option<ExprId>),
    /// `discard`
    Discard,
    /// `demote`
    Demote,
}

/// The typed program of a unit.
#[derive(Debug)]
pub(crate) struct Program {
    /// Stage.
    pub(crate) stage: ShaderStage,
    /// Version.
    pub(crate) version: Version,
    /// Types.
    pub(crate) types: Types,
    /// Nodes.
    pub(crate) arenas: Arenas,
    /// The elements of all [`ExprList`]s.
    pub(crate) lists: Vec<ExprId>,
    /// Variables of the shader in order of declaration, including the built-in ones that are used.
    pub(crate) globals: Vec<VariableId>,
    /// Initial values of variables of the shader, evaluated before `main`.
    pub(crate) initializers: Vec<StmtId>,
    /// `main`
    pub(crate) main: Option<FunctionId>,
    /// Layouts of the shader as a whole.
    pub(crate) layout: Layout,
    /// The members of a redeclaration of `gl_PerVertex`: of outputs, of inputs.
    pub(crate) per_vertex: [Option<Vec<Symbol>>; 2],
    /// `xfb_stride` by buffer of transform feedback.
    pub(crate) strides: [Option<u32>; 4],
}

impl Program {
    /// Whether invocations form groups among which derivatives are computed; without, derivatives are 0.
    pub(crate) fn has_derivatives(&self) -> bool {
        self.stage == ShaderStage::Fragment || self.layout.stage.derivative_group.is_some()
    }

    /// The type of a variable, without the dimension of vertices.
    pub(crate) fn type_of_vertex(&self, id: VariableId) -> TypeId {
        let variable = self.variable(id);
        match self.types.get(variable.ty) {
            TypeData::Array { element, .. } if variable.is_per_vertex => element,
            _ => variable.ty,
        }
    }

    /// Whether a variable is an array of scalars, four of which share a vector.
    pub(crate) fn is_packed(&self, id: VariableId) -> bool {
        let variable = self.variable(id);
        match variable.storage {
            Storage::Builtin(builtin) => builtin.is_compact(),
            _ => variable.is_packed,
        }
    }

    /// The slots that an input or output takes.
    pub(crate) fn slots(&self, id: VariableId) -> u32 {
        if let (true, TypeData::Array { length, .. }) =
            (self.variable(id).is_packed, self.types.get(self.type_of_vertex(id)))
        {
            return length.unwrap_or(1).div_ceil(4).max(1);
        }
        self.types.summary(self.type_of_vertex(id)).registers.max(1)
    }

    /// The components that an input or output takes in one of its slots. Vectors of three and four doubles have two
    /// slots.
    pub(crate) fn components(&self, id: VariableId, slot: u32) -> std::ops::Range<usize> {
        let inner = self.types.without_arrays(self.type_of_vertex(id));
        if self.types.as_vector(inner).is_none() {
            return 0..4;
        }
        let first = self.variable(id).traits.component.unwrap_or(0);
        let end = first.saturating_add(self.types.summary(inner).words);
        let is_second = end > 4 && slot % 2 == 1;
        if is_second { 0..end.saturating_sub(4).min(4) as usize } else { first.min(4) as usize..end.min(4) as usize }
    }

    /// The elements of a list.
    pub(crate) fn list(&self, list: ExprList) -> &[ExprId] {
        let start = list.start as usize;
        self.lists.get(start..start + list.len as usize).unwrap_or_default()
    }

    /// Lets an input or output share its slots: from a component on or, if it is an array of scalars, with vectors of
    /// four.
    pub(crate) fn share_slots(&mut self, id: VariableId, component: Option<u32>, is_packed: bool) {
        if let Some(variable) = self.arenas.variable.get_mut(id.0 as usize) {
            variable.traits.component = component;
            variable.is_packed = is_packed;
        }
    }

    /// Gives a uniform an initial value.
    pub(crate) fn set_initial_value(&mut self, id: VariableId, value: Constant) {
        let constant = ConstantId(self.arenas.constant.len() as u32);
        self.arenas.constant.push(value);
        if let Some(variable) = self.arenas.variable.get_mut(id.0 as usize) {
            variable.value = Some(constant);
        }
    }

    /// The value of an expression, if it is known.
    pub(crate) fn value(&self, expr: ExprId) -> Option<&Constant> {
        self.expr(expr).constant.map(|constant| self.constant(constant))
    }
}
