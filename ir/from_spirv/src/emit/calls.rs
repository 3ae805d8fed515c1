//! Functions: copies for each set of variables that arguments lead to, calls, ends of invocations.

use std::rc::Rc;

use spirv::Op;
use tgsi_ir::Body;
use tgsi_ir::body::{InstData, JumpKind, Shape};
use tgsi_ir::entities::{Function as IrFunction, Type as IrType, Variable as IrVariable};
use tgsi_ir::intrinsics::indices::AccessFlags;
use tgsi_ir::shader::FunctionData;
use tgsi_ir::types::ScalarType;
use tgsi_ir::variable::VariableModes;

use super::pointer::{Base, Pointer, Step};
use super::storage::Memory;
use super::value::Value;
use super::{Context, Emitter};
use crate::error::SpirvError;
use crate::module::Id;
use crate::types::{TypeData, TypeId};
use crate::words::Inst;

/// A step of a pointer argument. Run-time indices are in variables of the copy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum BoundStep {
    Part(u32),
    Index,
}

impl BoundStep {
    fn of(step: &Step) -> BoundStep {
        match step {
            Step::Part(number) => BoundStep::Part(*number),
            Step::Index(_) => BoundStep::Index,
        }
    }
}

/// A variable to which an argument leads.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Bound {
    base: Base,
    steps: Vec<BoundStep>,
    access: AccessFlags,
}

/// The target of a pointer or opaque argument.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Binding {
    /// One, unless it is chosen at run time.
    targets: Vec<Bound>,
    is_nullable: bool,
    ty: TypeId,
    class: u32,
    is_opaque: bool,
}

impl Binding {
    /// Whether a variable has the number of the target.
    fn has_number(&self) -> bool {
        self.targets.len() > 1 || self.is_nullable && !self.targets.is_empty()
    }

    /// The number of variables for the number of the target and indices.
    fn num_words(&self) -> usize {
        let steps = self.targets.iter().flat_map(|target| &target.steps);
        steps.filter(|step| **step == BoundStep::Index).count() + usize::from(self.has_number())
    }
}

/// A function and the bindings of its pointer and opaque parameters.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct FunctionKey {
    function: usize,
    bindings: Vec<Binding>,
}

/// A copy of a function for a key.
#[derive(Clone, Debug)]
pub(super) struct FunctionCopy {
    pub(super) target: IrFunction,
    /// The variables of value parameters, in order.
    parameters: Vec<Memory>,
    /// The variables of numbers of targets and of run-time indices of bindings, in order.
    words: Vec<IrVariable>,
    result: Option<Memory>,
}

/// A copy that is not emitted yet.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    key: FunctionKey,
    copy: Rc<FunctionCopy>,
    is_entry: bool,
}

/// Finds the functions that may end the invocation, and reports recursion.
pub(super) fn find_ends(context: &mut Context<'_>) {
    let module = &*context.module;
    let count = module.functions.len();
    let mut ends = vec![false; count];
    let mut has_loop = vec![false; count];
    let mut callees: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (number, function) in module.functions.iter().enumerate() {
        for inst in function.blocks.iter().flat_map(|block| module.instructions(block)) {
            match Op::from_u32(inst.op.into()) {
                Some(Op::Kill | Op::TerminateInvocation) => ends[number] = true,
                Some(Op::LoopMerge) => has_loop[number] = true,
                Some(Op::FunctionCall) => {
                    if let Id::Function(callee) = module.id(inst.word(2)) {
                        callees[number].push(callee as usize);
                    }
                }
                _ => {}
            }
        }
        callees[number].sort_unstable();
        callees[number].dedup();
    }
    // Callees before callers.
    let mut state = vec![0u8; count];
    let mut order = Vec::with_capacity(count);
    let mut recursive = None;
    for root in 0..count {
        let mut stack = vec![(root, 0usize)];
        while let Some((function, next)) = stack.pop() {
            if next == 0 && std::mem::replace(&mut state[function], 1) == 2 {
                state[function] = 2;
                continue;
            }
            match callees[function].get(next) {
                Some(&callee) => {
                    stack.push((function, next + 1));
                    match state[callee] {
                        0 => stack.push((callee, 0)),
                        1 => recursive = Some(callee),
                        _ => {}
                    }
                }
                None => {
                    state[function] = 2;
                    order.push(function);
                }
            }
        }
    }
    if let Some(function) = recursive.and_then(|number| module.functions.get(number)) {
        let error = SpirvError::Recursion { id: function.id };
        context.findings.add(error, function.span);
    }
    // Callers before callees: a function that loops call.
    for &function in order.iter().rev() {
        if has_loop[function] {
            callees[function].iter().for_each(|&callee| has_loop[callee] = true);
        }
    }
    // Behind a kill that no loop needs to end, the invocation continues as a helper.
    for &function in &order {
        ends[function] &= has_loop[function];
        ends[function] |= callees[function].iter().any(|&callee| ends[callee]);
    }
    context.ends_invocation = ends;
    context.is_in_loops = has_loop;
}

impl<'m> Context<'m> {
    /// The copy of the entry point's function.
    pub(super) fn entry_copy(&mut self, id: u32) -> Option<Rc<FunctionCopy>> {
        if self.findings.has_errors() {
            return None;
        }
        match self.module.id(id) {
            Id::Function(function) => {
                let key = FunctionKey { function: function as usize, bindings: Vec::new() };
                self.copy(key, true).map_err(|error| self.report_at_entry(error)).ok()
            }
            other => {
                self.report_at_entry(SpirvError::WrongKind { id, found: other.kind(), expected: "a function" });
                None
            }
        }
    }

    fn report_at_entry(&mut self, error: SpirvError) {
        let span = self.module.entry_points.get(self.entry).map(|entry| entry.span).unwrap_or_default();
        self.findings.add(error, span);
    }

    /// The copy of a function for a key, emitted later if it is new.
    fn copy(&mut self, key: FunctionKey, is_entry: bool) -> Result<Rc<FunctionCopy>, SpirvError> {
        if let Some(known) = self.functions.get(&key) {
            return Ok(known.clone());
        }
        let (count, limit) = (self.functions.len() as u64, self.options.limits.functions.into());
        if count >= limit {
            return Err(SpirvError::TooLarge { what: "copies of functions", count: count + 1, limit });
        }
        let Some(function) = self.module.functions.get(key.function) else {
            return Err(SpirvError::NoEntryPoint);
        };
        if function.blocks.is_empty() {
            return Err(SpirvError::Undefined { id: function.id });
        }
        let (id, result) = (function.id, function.result);
        let parameters = function.parameters.clone();
        let name = self.module.name(id);
        let name = name.split('(').next().filter(|name| !name.is_empty() && *name != "main").map(str::to_owned);
        let name = name.unwrap_or_else(|| format!("function_{id}"));
        let values: Vec<(u32, TypeId)> = parameters.iter().copied().filter(|&(_, ty)| !self.is_bound(ty)).collect();
        for ty in values.iter().map(|&(_, ty)| ty).chain([result]) {
            self.charge_memory(ty)?;
        }
        let parameters = values.into_iter().map(|(id, ty)| self.value_memory(&format!("{name}_{id}"), ty)).collect();
        let word = self.shader.types.vector(ScalarType::Uint, 1);
        let num_words: usize = key.bindings.iter().map(Binding::num_words).sum();
        let words = (0..num_words).map(|_| self.temporary("index", word)).collect();
        let result = (result != TypeId::VOID).then(|| self.value_memory(&format!("{name}_result"), result));
        let target = self.shader.functions.push(FunctionData {
            name,
            parameters: Vec::new(),
            is_entry_point: false,
            is_exported: false,
            attributes: Vec::new(),
            body: Some(Body::new()),
        });
        let copy = Rc::new(FunctionCopy { target, parameters, words, result });
        self.functions.insert(key.clone(), copy.clone());
        self.pending.push(Pending { key, copy: copy.clone(), is_entry });
        Ok(copy)
    }

    /// A variable for a value.
    fn value_memory(&mut self, name: &str, ty: TypeId) -> Memory {
        let ir_type: IrType = self.ir_type(ty);
        let variable = self.temporary(name, ir_type);
        Memory { variable, mode: VariableModes::SHADER_TEMP, ty, row_major: false }
    }

    /// Whether parameters of a type are bound to variables.
    fn is_bound(&self, ty: TypeId) -> bool {
        matches!(
            self.module.types.get(ty),
            TypeData::Pointer { .. } | TypeData::Image(_) | TypeData::Sampler | TypeData::SampledImage(_)
        )
    }

    /// The flag of an end in a called function.
    fn ended_flag(&mut self) -> IrVariable {
        if let Some(known) = self.ended {
            return known;
        }
        let ty = self.shader.types.vector(ScalarType::Bool, 1);
        let flag = self.temporary("ended", ty);
        self.ended = Some(flag);
        flag
    }

    /// Emits a copy of a function.
    pub(super) fn emit_function(&mut self, pending: Pending) {
        let Pending { key, copy, is_entry } = pending;
        let Some(function) = self.module.functions.get(key.function) else { return };
        let parameters = function.parameters.clone();
        let function_span = function.span;
        let mut body = Body::new();
        let result = copy.result.map(|memory| memory.variable);
        let mut emitter = Emitter::new(self, &mut body, key.function, result, is_entry);
        emitter.target = Some(copy.target);
        let mut values = copy.parameters.iter();
        let mut bindings = key.bindings.iter();
        let mut words = copy.words.iter();
        for (id, ty) in parameters {
            let value = if emitter.context.is_bound(ty) {
                bindings.next().map(|binding| emitter.bound_value(binding, &mut words))
            } else {
                values.next().and_then(|&memory| {
                    let loaded = emitter.load(&Rc::new(memory_pointer(memory)));
                    loaded.map_err(|error| emitter.context.findings.add(error, function_span)).ok()
                })
            };
            emitter.set(id, value.unwrap_or(Value::None));
        }
        emitter.emit_blocks();
        emitter.finish();
        self.instructions = self.instructions.saturating_add(body.num_insts() as u64);
        self.set_body(copy.target, body);
        let limit = self.options.limits.instructions;
        if self.instructions > limit && !self.is_exhausted {
            let count = self.instructions;
            self.report_at_entry(SpirvError::TooLarge { what: "instructions", count, limit });
            self.pending.clear();
        }
    }
}

/// A pointer to a whole variable.
fn memory_pointer(memory: Memory) -> Pointer {
    Pointer {
        base: Base::Local(memory),
        steps: Default::default(),
        ty: memory.ty,
        class: spirv::StorageClass::Function as u32,
        access: AccessFlags::NONE,
    }
}

impl Emitter<'_, '_, '_> {
    /// The value of a bound parameter.
    fn bound_value(&mut self, binding: &Binding, words: &mut std::slice::Iter<'_, IrVariable>) -> Value {
        let mut word = |emitter: &mut Self| words.next().map(|&word| emitter.load_variable(word, Shape::new(1, 32)));
        let number = if binding.has_number() { word(self) } else { None };
        let number = number.unwrap_or_else(|| self.constant(32, &[1]));
        let mut targets = Vec::with_capacity(binding.targets.len());
        for target in &binding.targets {
            let steps = target.steps.iter().map(|step| match step {
                BoundStep::Part(number) => Step::Part(*number),
                BoundStep::Index => word(self).map_or(Step::Part(0), Step::Index),
            });
            let (steps, null) = (steps.collect(), Pointer::null(binding.ty, binding.class));
            targets.push(Pointer { base: target.base, steps, access: target.access, ..null });
        }
        // The limit was checked where the argument was made.
        let pointer = self.choose(number, targets, binding.is_nullable, (binding.ty, binding.class));
        match pointer {
            Ok(pointer) if binding.is_opaque => Value::Opaque(Rc::new(pointer)),
            Ok(pointer) => Value::Pointer(Rc::new(pointer)),
            Err(_) => Value::None,
        }
    }

    /// Loads a variable that is a vector.
    pub(crate) fn load_variable(&mut self, variable: IrVariable, shape: Shape) -> tgsi_ir::Def {
        let ty = self.context.shader.variables[variable].ty;
        let deref = self.b.deref_var(variable, VariableModes::SHADER_TEMP, ty);
        self.b.load_deref(deref, shape)
    }

    /// Stores to a variable that is a vector.
    pub(crate) fn store_variable(&mut self, variable: IrVariable, value: tgsi_ir::Def) {
        let ty = self.context.shader.variables[variable].ty;
        let deref = self.b.deref_var(variable, VariableModes::SHADER_TEMP, ty);
        let count = self.b.body.num_components(value);
        self.b.store_deref(deref, value, (1 << count) - 1);
    }

    /// A call of a function of the module.
    pub(super) fn call(&mut self, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let callee = inst.word(2);
        let Id::Function(function) = self.context.module.id(callee) else {
            let found = self.context.module.id(callee).kind();
            return Err(SpirvError::WrongKind { id: callee, found, expected: "a function" });
        };
        let function = function as usize;
        let parameters = self.context.module.functions.get(function).map(|f| f.parameters.clone()).unwrap_or_default();
        if parameters.len() != inst.rest(3).len() {
            let op = "OpFunctionCall".to_owned();
            return Err(SpirvError::Types { op, why: "the number of arguments is not that of the parameters" });
        }
        let (mut bindings, mut words, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (&argument, &(_, ty)) in inst.rest(3).iter().zip(&parameters) {
            let value = self.value(argument)?;
            if !self.context.is_bound(ty) {
                values.push(value);
                continue;
            }
            let (pointer, is_opaque) = match &value {
                Value::Opaque(pointer) => (pointer.clone(), true),
                value => {
                    let pointer = self.as_pointer(value).ok_or(SpirvError::Pointer { id: argument })?;
                    (self.forwarded(&pointer), false)
                }
            };
            let targets = self.targets(&pointer);
            let bound = |target: &Rc<Pointer>| Bound {
                base: target.base,
                steps: target.steps.iter().map(BoundStep::of).collect(),
                access: target.access,
            };
            let binding = Binding {
                targets: targets.pointers.iter().map(bound).collect(),
                is_nullable: targets.is_nullable,
                ty: pointer.ty,
                class: pointer.class,
                is_opaque,
            };
            if binding.has_number() {
                words.push(self.selector(&targets));
            }
            words.extend(targets.pointers.iter().flat_map(|target| &target.steps).filter_map(|step| match *step {
                Step::Part(_) => None,
                Step::Index(def) => Some(def),
            }));
            bindings.push(binding);
        }
        let copy = self.context.copy(FunctionKey { function, bindings }, false)?;
        for (&variable, &word) in copy.words.iter().zip(&words) {
            self.store_variable(variable, word);
        }
        for (&memory, value) in copy.parameters.iter().zip(&values) {
            self.store(&Rc::new(memory_pointer(memory)), value)?;
        }
        self.b.build(InstData::Call { callee: copy.target, indirect: false }, &[], None);
        if self.context.ends_invocation.get(function).copied().unwrap_or(false) {
            let flag = self.context.ended_flag();
            let ended = self.load_variable(flag, Shape::new(1, 1));
            let side = self.b.push_if(ended);
            self.b.jump(JumpKind::Return);
            self.b.end_if(side);
        }
        match copy.result {
            // The next call of the function overwrites it.
            Some(memory) => self.load(&Rc::new(memory_pointer(memory))),
            None => Ok(Value::None),
        }
    }

    /// Stores the result of the function.
    pub(super) fn store_result(&mut self, id: u32) -> Result<(), SpirvError> {
        let value = self.value(id)?;
        let Some(variable) = self.result else { return Ok(()) };
        let ty = self.context.module.functions.get(self.function).map_or(TypeId::VOID, |function| function.result);
        let memory = Memory { variable, mode: VariableModes::SHADER_TEMP, ty, row_major: false };
        self.store(&Rc::new(memory_pointer(memory)), &value)
    }

    /// Notes that the invocation ended, for callers of this function.
    pub(super) fn note_end(&mut self) {
        if !self.is_entry {
            let flag = self.context.ended_flag();
            let yes = self.constant(1, &[1]);
            self.store_variable(flag, yes);
        }
    }
}
