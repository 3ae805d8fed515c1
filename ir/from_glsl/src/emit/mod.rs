//! Emission of IR from the typed program.
//!
//! ```text
//! main:    initial values of globals; call of the shader's `main`; outputs = their shadows
//! ```
//!
//! Every variable of the shader becomes a variable of the IR: locals `function_temp`, globals, parameters and results
//! `shader_temp`, the rest by its storage. Functions have no parameters in the IR: a call stores arguments to the
//! parameters' variables and loads the result. A function with sampler parameters is emitted once for each set of
//! samplers that it is called with. Outputs are written to shadows, which may be read, and stored once at the end.
//!
//! An expression is emitted by following its first operands down to a leaf, and applying the nodes upward, so that long
//! chains need no recursion. Everything else nests at most as deep as the parser allows.

mod blocks;
mod calls;
mod expressions;
mod framebuffer;
mod images;
mod memory;
mod outputs;
mod packed;
mod places;
mod stages;
mod state;
mod statements;
mod subgroups;
mod textures;
mod variables;

use rustc_hash::FxHashMap;
use tgsi_ir::entities::{Def, Function as IrFunction, Type as IrType, Variable as IrVariable};
use tgsi_ir::shader::{FunctionData, Shader, ShaderStage};
use tgsi_ir::types::{Field, ScalarType, TypeData as IrTypeData};
use tgsi_ir::{Body, Builder};

use crate::program::{ConstantId, FunctionId, Program, VariableId};
use crate::symbol::Interner;
use crate::token::TokenRange;
use crate::types::{Scalar, TypeData, TypeId};

use calls::SamplerArgument;
use outputs::narrow_copies;

/// Specialised copies of functions with sampler parameters. More are an error: calls can double them at every level.
pub(crate) const MAX_SPECIALIZATIONS: u64 = 4096;

/// The IR of a program, before passes.
#[derive(Debug)]
pub(crate) struct Emitted {
    /// The shader, with variables of any type.
    pub(crate) shader: Shader,
    /// By origin: the tokens of a statement.
    pub(crate) origins: Vec<TokenRange>,
    /// The variables of uniforms, inputs and outputs.
    pub(crate) interface: Vec<(VariableId, IrVariable)>,
}

/// Why a valid program cannot be emitted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EmitError {
    /// A function is called and not defined.
    Undefined(FunctionId, TokenRange),
    /// Too many copies of functions.
    TooManyCopies(TokenRange),
}

/// Emits a program that has a `main` and no errors.
pub(crate) fn emit(program: &Program, interner: &Interner, main: FunctionId) -> Result<Emitted, EmitError> {
    let mut context = Context {
        program,
        interner,
        shader: Shader::new(program.stage),
        types: FxHashMap::default(),
        layouts: blocks::Layouts::default(),
        store_function: None,
        variables: FxHashMap::default(),
        shadows: Vec::new(),
        interface: Vec::new(),
        framebuffer: framebuffer::Framebuffer::of(program, interner),
        constants: FxHashMap::default(),
        functions: FxHashMap::default(),
        pending: Vec::new(),
        origins: Vec::new(),
        origin_of: FxHashMap::default(),
    };
    let Some(entry) = context.shader.entry_point() else {
        return Err(EmitError::Undefined(main, TokenRange::default()));
    };
    let start = context.function(main, Vec::new(), TokenRange::default())?;
    while let Some(pending) = context.pending.pop() {
        context.emit_function(pending)?;
    }
    context.emit_entry(entry, start)?;
    let fetched = context.fetched_lengths();
    narrow_copies(&mut context.shader, &context.shadows, &fetched);
    context.fetch_outputs(entry);
    let Context { shader, origins, interface, .. } = context;
    Ok(Emitted { shader, origins, interface })
}

/// A function to be emitted.
#[derive(Clone, Debug)]
struct Pending {
    source: FunctionId,
    /// By sampler parameter: its argument.
    samplers: Vec<SamplerArgument>,
    target: IrFunction,
}

/// The state of the emission of a shader.
struct Context<'p> {
    program: &'p Program,
    interner: &'p Interner,
    shader: Shader,
    types: FxHashMap<TypeId, IrType>,
    layouts: blocks::Layouts,
    /// Of geometry shaders: the function that stores outputs.
    store_function: Option<IrFunction>,
    /// The IR variables of the shader's variables; of an output, its shadow.
    variables: FxHashMap<VariableId, IrVariable>,
    /// Outputs: the variable that is stored at the end, and its shadow.
    shadows: Vec<(IrVariable, IrVariable)>,
    interface: Vec<(VariableId, IrVariable)>,
    framebuffer: Option<framebuffer::Framebuffer>,
    /// Variables of constants that are indexed at run time, in the order in which the entry point initialises them.
    constants: FxHashMap<ConstantId, IrVariable>,
    functions: FxHashMap<(FunctionId, Vec<SamplerArgument>), (IrFunction, Option<IrVariable>)>,
    pending: Vec<Pending>,
    origins: Vec<TokenRange>,
    origin_of: FxHashMap<TokenRange, u32>,
}

/// The state of the emission of a function.
struct Emitter<'c, 'p, 'b> {
    context: &'c mut Context<'p>,
    b: Builder<'b>,
    /// Samplers that the parameters of the function are.
    samplers: Vec<(VariableId, SamplerArgument)>,
    /// Where the result is stored.
    result: Option<IrVariable>,
    /// Open loops and switches.
    loops: Vec<statements::Breakable>,
    /// The cursor is unreachable: nothing more is emitted into the current list.
    is_unreachable: bool,
}

impl Context<'_> {
    /// The IR type of a type. The nesting of types is bounded by the parser.
    fn ir_type(&mut self, ty: TypeId) -> IrType {
        if let Some(&known) = self.types.get(&ty) {
            return known;
        }
        let data = match self.program.types.get(ty) {
            TypeData::Error | TypeData::Void => IrTypeData::Vector { scalar: ScalarType::Float, components: 1 },
            TypeData::Vector { scalar, components } => IrTypeData::Vector { scalar: ir_scalar(scalar), components },
            TypeData::Matrix { scalar, columns, rows } => {
                IrTypeData::Matrix { scalar: ir_scalar(scalar), columns, rows, stride: 0, row_major: false }
            }
            TypeData::Array { element, length } => {
                let element = self.ir_type(element);
                IrTypeData::Array { element, length: length.unwrap_or(1), stride: 0 }
            }
            TypeData::Struct(id) => {
                let name = self.program.types.struct_type(id).and_then(|data| data.name);
                let name = name.map_or("struct", |name| self.interner.spelling(name)).to_owned();
                let fields = self.program.types.fields(ty);
                let fields = fields
                    .iter()
                    .map(|field| Field {
                        name: self.interner.spelling(field.name).to_owned(),
                        ty: self.ir_type(field.ty),
                        offset: -1,
                    })
                    .collect();
                IrTypeData::Struct { name, fields, interface: false }
            }
            TypeData::Sampler(sampler) => IrTypeData::Sampler {
                dim: Some(sampler.dim),
                array: sampler.array,
                shadow: sampler.shadow,
                result: ir_scalar(sampler.result),
            },
            TypeData::Image(image) => {
                IrTypeData::Image { dim: image.dim, array: image.array, result: ir_scalar(image.texel) }
            }
            TypeData::AtomicUint => IrTypeData::AtomicCounter,
            TypeData::Subroutine(_) => IrTypeData::Vector { scalar: ScalarType::Uint, components: 1 },
        };
        let ty_of_ir = self.shader.types.intern(data);
        self.types.insert(ty, ty_of_ir);
        ty_of_ir
    }

    /// The number of the origin of instructions of a statement.
    fn origin(&mut self, tokens: TokenRange) -> u32 {
        let origins = &mut self.origins;
        *self.origin_of.entry(tokens).or_insert_with(|| {
            origins.push(tokens);
            origins.len() as u32 - 1
        })
    }

    /// The IR function of a function with these samplers as arguments; emits it later.
    fn function(
        &mut self,
        source: FunctionId,
        samplers: Vec<SamplerArgument>,
        tokens: TokenRange,
    ) -> Result<(IrFunction, Option<IrVariable>), EmitError> {
        if let Some(&known) = self.functions.get(&(source, samplers.clone())) {
            return Ok(known);
        }
        if self.functions.len() as u64 >= MAX_SPECIALIZATIONS {
            return Err(EmitError::TooManyCopies(tokens));
        }
        let function = self.program.function(source);
        if function.body.is_none() {
            return Err(EmitError::Undefined(source, tokens));
        }
        let name = self.interner.spelling(function.name);
        let result = (function.result != TypeId::VOID).then(|| {
            let ty = self.ir_type(function.result);
            self.temporary(&format!("{name}_result"), ty)
        });
        let target = self.shader.functions.push(FunctionData {
            name: if name == "main" { "shader_main".to_owned() } else { name.to_owned() },
            parameters: Vec::new(),
            is_entry_point: false,
            is_exported: false,
            attributes: Vec::new(),
            body: None,
        });
        self.functions.insert((source, samplers.clone()), (target, result));
        self.pending.push(Pending { source, samplers, target });
        Ok((target, result))
    }

    /// Emits a function.
    fn emit_function(&mut self, pending: Pending) -> Result<(), EmitError> {
        let Pending { source, samplers, target } = pending;
        let program = self.program;
        let function = program.function(source);
        let result = self.functions.get(&(source, samplers.clone())).and_then(|&(_, result)| result);
        let mut body = Body::new();
        let opaque = function.parameters.iter().filter(|p| program.types.summary(p.ty).has_opaque);
        let samplers: Vec<(VariableId, SamplerArgument)> =
            opaque.zip(samplers).filter_map(|(parameter, argument)| Some((parameter.variable?, argument))).collect();
        // Locals are added to the body that the function has.
        if let Some(data) = self.shader.functions.get_mut(target) {
            data.body = Some(Body::new());
        }
        let mut emitter = Emitter {
            context: self,
            b: Builder::at_end(&mut body),
            samplers,
            result,
            loops: Vec::new(),
            is_unreachable: false,
        };
        emitter.statements(function.body.as_deref().unwrap_or_default())?;
        self.set_body(target, body);
        Ok(())
    }

    /// Emits the entry point around the shader's `main`.
    fn emit_entry(&mut self, entry: IrFunction, main: (IrFunction, Option<IrVariable>)) -> Result<(), EmitError> {
        let mut body = Body::new();
        let program = self.program;
        let mut emitter = Emitter {
            context: self,
            b: Builder::at_end(&mut body),
            samplers: Vec::new(),
            result: None,
            loops: Vec::new(),
            is_unreachable: false,
        };
        emitter.statements(&program.initializers)?;
        emitter.b.build(tgsi_ir::InstData::Call { callee: main.0, indirect: false }, &[], None);
        if program.stage != ShaderStage::Geometry {
            emitter.store_outputs();
        }
        // Initialisers may have called functions.
        self.set_body(entry, body);
        while let Some(pending) = self.pending.pop() {
            self.emit_function(pending)?;
        }
        self.finish_store_function();
        self.initialize_constants(entry);
        Ok(())
    }

    /// Gives a function its code, keeping the locals that were added meanwhile.
    fn set_body(&mut self, target: IrFunction, mut body: Body) {
        if let Some(data) = self.shader.functions.get_mut(target) {
            if let Some(old) = data.body.take() {
                body.locals = old.locals;
            }
            data.body = Some(body);
        }
    }
}

/// The IR type of a component.
fn ir_scalar(scalar: Scalar) -> ScalarType {
    match scalar {
        Scalar::Bool => ScalarType::Bool,
        Scalar::Int => ScalarType::Int,
        Scalar::Uint => ScalarType::Uint,
        Scalar::Float => ScalarType::Float,
        Scalar::Double => ScalarType::Double,
        Scalar::Int64 => ScalarType::Int64,
        Scalar::Uint64 => ScalarType::Uint64,
    }
}

/// Bits of a component in values.
fn bit_size(scalar: Scalar) -> u8 {
    ir_scalar(scalar).bit_size()
}

/// An index constant.
fn index(b: &mut Builder<'_>, number: u32) -> Def {
    b.u32_const(number)
}
