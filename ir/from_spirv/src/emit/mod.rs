//! Emission of IR from a module.
//!
//! ```text
//! main:            initial values of variables; call of the entry point; call of `store_outputs`
//! store_outputs:   outputs = their shadows; also called before each vertex that a geometry shader emits
//! ```
//!
//! Variables of the module become variables of the IR when an instruction first uses them, so that only the resources,
//! inputs and outputs of the chosen entry point exist. Slots and registers are numbered at the end (`interface`,
//! `resources`).
//!
//! Functions have no parameters in the IR: a call stores arguments to variables and loads the result. A function is
//! emitted once for each set of variables that its pointer and image arguments lead to, with run-time indices in
//! variables.
//!
//! Instructions are emitted in the order of the control tree (`flow`). The value of an id may be used on paths that do
//! not pass its definition; `repair_ssa` adds phis at the end.

mod bytes;
mod calls;
mod choices;
pub(crate) mod flow;
pub(crate) mod instructions;
mod locals;
mod memory;
mod opaque;
pub(crate) mod pointer;
pub(crate) mod storage;
mod types;
pub(crate) mod value;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use tgsi_ir::entities::{Def, Function as IrFunction, Type as IrType, Variable as IrVariable};
use tgsi_ir::shader::{FunctionData, Shader, ShaderStage};
use tgsi_ir::variable::{VariableData, VariableModes};
use tgsi_ir::{Body, Builder, Cursor};

use crate::constants::Bits;
use crate::error::{Findings, SpirvError};
use crate::interface::Interface;
use crate::module::Module;
use crate::options::{Environment, SpirvOptions};
use crate::resources::Resources;
use crate::types::TypeId;
use crate::words::Inst;
use calls::{FunctionCopy, FunctionKey, Pending};
use choices::Choice;
use choices::paths::{Paths, find_paths};
use choices::words::Templates;
use opaque::StoredOpaque;
use storage::Storage;
use types::TypeKey;
use value::Value;

/// The state of the emission of a shader.
pub(crate) struct Context<'m> {
    pub(crate) module: &'m mut Module,
    pub(crate) options: &'m SpirvOptions,
    pub(crate) findings: &'m mut Findings,
    pub(crate) environment: Environment,
    /// The number of the entry point.
    pub(crate) entry: usize,
    pub(crate) stage: ShaderStage,
    pub(crate) shader: Shader,
    /// By global variable: its storage, once it is used.
    pub(crate) globals: Vec<Option<Storage>>,
    /// Inputs and outputs.
    pub(crate) interface: Interface,
    /// Resources of descriptor sets.
    pub(crate) resources: Resources,
    ir_types: FxHashMap<TypeKey, IrType>,
    functions: FxHashMap<FunctionKey, Rc<FunctionCopy>>,
    pending: Vec<Pending>,
    /// The function that stores outputs.
    pub(crate) store_outputs: Option<IrFunction>,
    /// By function: whether it may end the invocation, so that its callers must end.
    ends_invocation: Vec<bool>,
    /// By function: whether it has loops, or a function with loops leads to a call of it.
    is_in_loops: Vec<bool>,
    /// Set where a called function ended the invocation.
    ended: Option<IrVariable>,
    /// Instructions of all copies of functions that are complete.
    instructions: u64,
    /// Whether they exceed the limit, which is reported.
    is_exhausted: bool,
    /// Scalars of variables that are not resources, inputs or outputs.
    pub(crate) memory_scalars: u64,
    /// Leaves of composites that instructions copied so far.
    pub(crate) copied_leaves: u64,
    /// The variables to which pointers may lead that are chosen at run time.
    paths: Rc<Paths>,
    /// Memory for the values of a function, all of them none.
    value_pool: Vec<Value>,
}

/// The state of the emission of a function.
pub(crate) struct Emitter<'c, 'm, 'b> {
    pub(crate) context: &'c mut Context<'m>,
    pub(crate) b: Builder<'b>,
    /// By id: its value.
    values: Vec<Value>,
    /// The ids that have one.
    defined: Vec<u32>,
    constants: FxHashMap<(u8, Bits), Def>,
    /// Pointers whose variables are chosen at run time.
    choices: Vec<Rc<Choice>>,
    /// By storage class and type: the variables to which pointers in variables lead.
    memory_templates: FxHashMap<(u32, TypeId), Rc<Templates>>,
    /// The function of the module.
    function: usize,
    /// The function of the IR, which has the locals.
    target: Option<IrFunction>,
    /// Where the result is stored.
    result: Option<IrVariable>,
    is_entry: bool,
    /// The cursor cannot be reached: nothing more is emitted into the current list.
    pub(crate) is_unreachable: bool,
    flow: flow::State,
    /// Local variables that other functions access through pointers.
    shared_locals: FxHashSet<u32>,
    /// Images in variables of the function.
    opaque_locals: Vec<StoredOpaque>,
}

/// Emits the entry point of a module without errors. Findings are added; the result is only used without errors.
pub(crate) fn emit(mut context: Context<'_>) -> Context<'_> {
    context.set_modes();
    calls::find_ends(&mut context);
    if let Some(paths) = find_paths(context.module, context.options.limits.targets) {
        context.paths = paths;
    }
    let Some(main) = context.shader.entry_point() else { return context };
    let store = context.shader.functions.push(FunctionData {
        name: "store_outputs".to_owned(),
        parameters: Vec::new(),
        is_entry_point: false,
        is_exported: false,
        attributes: Vec::new(),
        body: Some(Body::new()),
    });
    context.store_outputs = Some(store);
    let function = context.module.entry_points.get(context.entry).map_or(0, |entry| entry.function);
    let copy = context.entry_copy(function);
    while let Some(pending) = context.pending.pop() {
        if context.findings.is_full() || context.is_exhausted {
            break;
        }
        context.emit_function(pending);
    }
    context.emit_main(main, store, copy);
    context
}

impl<'m> Context<'m> {
    /// A context without code.
    pub(crate) fn new(
        module: &'m mut Module,
        options: &'m SpirvOptions,
        findings: &'m mut Findings,
        environment: Environment,
        entry: usize,
        stage: ShaderStage,
    ) -> Context<'m> {
        Context {
            globals: vec![None; module.globals.len()],
            module,
            options,
            findings,
            environment,
            entry,
            stage,
            shader: Shader::new(stage),
            interface: Interface::default(),
            resources: Resources::default(),
            ir_types: FxHashMap::default(),
            functions: FxHashMap::default(),
            pending: Vec::new(),
            store_outputs: None,
            ends_invocation: Vec::new(),
            is_in_loops: Vec::new(),
            ended: None,
            instructions: 0,
            is_exhausted: false,
            paths: Rc::default(),
            memory_scalars: 0,
            copied_leaves: 0,
            value_pool: Vec::new(),
        }
    }

    /// Adds a variable that no other shader and no pipeline sees.
    pub(crate) fn temporary(&mut self, name: &str, ty: IrType) -> IrVariable {
        self.shader.add_variable(VariableData::new(name, ty, VariableModes::SHADER_TEMP))
    }

    /// Counts the scalars of a variable that is not a resource, input or output.
    ///
    /// # Errors
    /// There are too many.
    pub(crate) fn charge_memory(&mut self, ty: TypeId) -> Result<(), SpirvError> {
        let count = self.memory_scalars.saturating_add(self.module.types.scalars(ty));
        let limit = self.options.limits.scalars;
        if count > limit {
            return Err(SpirvError::TooLarge { what: "scalars of variables", count, limit });
        }
        self.memory_scalars = count;
        Ok(())
    }

    /// Emits code into a function outside of the module's functions.
    pub(crate) fn emit_into(&mut self, function: IrFunction, emit: impl FnOnce(&mut Emitter<'_, 'm, '_>)) {
        let mut body = Body::new();
        let mut emitter = Emitter::new(self, &mut body, usize::MAX, None, true);
        emit(&mut emitter);
        emitter.finish();
        self.set_body(function, body);
    }

    /// Gives a function its code, keeping the locals that were added meanwhile.
    fn set_body(&mut self, function: IrFunction, mut body: Body) {
        if let Some(data) = self.shader.functions.get_mut(function) {
            if let Some(old) = data.body.take() {
                body.locals = old.locals;
            }
            data.body = Some(body);
        }
    }

    fn emit_main(&mut self, main: IrFunction, store: IrFunction, copy: Option<Rc<FunctionCopy>>) {
        let Some(copy) = copy else { return };
        self.emit_into(main, |emitter| {
            emitter.initialize_globals();
            emitter.b.build(tgsi_ir::InstData::Call { callee: copy.target, indirect: false }, &[], None);
            // Geometry shaders store them with each vertex.
            if emitter.context.stage != ShaderStage::Geometry {
                emitter.b.build(tgsi_ir::InstData::Call { callee: store, indirect: false }, &[], None);
            }
        });
        self.emit_into(store, |emitter| emitter.store_all_outputs());
    }
}

impl<'c, 'm, 'b> Emitter<'c, 'm, 'b> {
    fn new(
        context: &'c mut Context<'m>,
        body: &'b mut Body,
        function: usize,
        result: Option<IrVariable>,
        is_entry: bool,
    ) -> Emitter<'c, 'm, 'b> {
        let mut values = std::mem::take(&mut context.value_pool);
        values.resize(context.module.ids.len(), Value::None);
        Emitter {
            context,
            b: Builder::at_end(body),
            values,
            defined: Vec::new(),
            constants: FxHashMap::default(),
            choices: Vec::new(),
            memory_templates: FxHashMap::default(),
            function,
            target: None,
            result,
            is_entry,
            is_unreachable: false,
            flow: flow::State::default(),
            shared_locals: FxHashSet::default(),
            opaque_locals: Vec::new(),
        }
    }

    /// Emits code at the start of the function, where it dominates all other code.
    pub(crate) fn at_start<T>(&mut self, emit: impl FnOnce(&mut Builder<'_>) -> T) -> T {
        let start = self.b.body.start_block();
        let mut b = Builder::new(self.b.body, Cursor::BlockStart(start));
        let result = emit(&mut b);
        let cursor = b.cursor;
        // Further code comes behind.
        if self.b.cursor == Cursor::BlockStart(start) {
            self.b.cursor = cursor;
        }
        result
    }

    /// Gives the memory for values back.
    fn finish(self) {
        let Emitter { context, mut values, defined, .. } = self;
        for id in defined {
            if let Some(place) = values.get_mut(id as usize) {
                *place = Value::None;
            }
        }
        context.value_pool = values;
    }

    /// Sets the value of an id.
    pub(crate) fn set(&mut self, id: u32, value: Value) {
        if let Some(place) = self.values.get_mut(id as usize) {
            *place = value;
            self.defined.push(id);
        }
    }

    /// Whether the result of an instruction must be rounded as it is written.
    pub(crate) fn set_exactness(&mut self, inst: &Inst<'_>) {
        use tgsi_ir::AluFlags;
        let id = inst.word(1);
        let decorations = &self.context.module.decorations;
        let is_exact = decorations.has(id, spirv::Decoration::NoContraction)
            || decorations.value(id, spirv::Decoration::FPFastMathMode) == Some(0);
        self.b.flags = if is_exact { AluFlags::EXACT } else { AluFlags::NONE };
    }
}

impl Context<'_> {
    /// The shader, and the description of its interface.
    pub(crate) fn into_parts(self) -> (Shader, tgsi_compiler::front_end::Interface) {
        let description = self.describe();
        (self.shader, description)
    }

    /// Describes the interface.
    fn describe(&self) -> tgsi_compiler::front_end::Interface {
        let mut interface = tgsi_compiler::front_end::Interface::default();
        self.describe_interface(&mut interface);
        self.describe_resources(&mut interface);
        interface
    }
}
