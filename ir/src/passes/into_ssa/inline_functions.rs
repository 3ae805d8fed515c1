//! Replaces calls by the code of the function, and removes functions that are no longer called.
//!
//! ```text
//! before:                                   after:
//!     impl f { %0 = @load_param (0)             impl main { %2 = fneg %1
//!              %1 = fneg %0                                 @store_deref (&a, %2) }
//!              @store_deref (&a, %1) }
//!     impl main { call f %1 }
//! ```
//!
//! - Functions are kept if they are marked ([`NO_INLINE`](crate::shader::NO_INLINE)), recursive (an interpreter or
//!   driver rejects these), called through pointers, or without code.
//! - Code is inlined only into functions that are kept: entry points, exported functions, and the above. A call is
//!   replaced by the callee's original code, and the calls in it are replaced next: inlining bottom-up would instead
//!   copy the innermost code once for each caller around it.
//! - Registers and variables of the callee become ones of the caller, once per call. They are zero or initialised at
//!   every call: for a call in a loop, stores take care of that.
//! - Nested calls can produce exponential amounts of code: once more than [`MAX_COPIED`] instructions were copied,
//!   calls are kept. The first call of a function takes the original code, not a copy.
//!
//! Cost: the size of the result, plus, for every call of code with control flow, the rest of its block.

use cranelift_entity::{PrimaryMap, SecondaryMap};

use crate::analysis::{CallGraph, calls};
use crate::body::{Body, CfList, DerefKind, InstData, Remap};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Function, Inst, Type, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::lower_returns;
use crate::passes::variables::deref_tree::vector_shape;
use crate::shader::{FunctionData, Shader};
use crate::types::{TypeData, TypeTable};
use crate::variable::{Initializer, VariableData};

/// Maximum number of instructions (removed ones included) to copy: beyond that calls are kept.
pub const MAX_COPIED: usize = 1 << 20;

/// See the [module](self).
pub fn inline_functions(shader: &mut Shader) -> bool {
    if shader.functions.len() < 2 {
        return false;
    }
    let recursive = CallGraph::new(&shader.functions).recursive();
    let dissolves: SecondaryMap<Function, bool> = {
        let mut dissolves = SecondaryMap::new();
        for (function, data) in &shader.functions {
            dissolves[function] = data.body.is_some() && !data.stays() && !recursive.contains(function);
        }
        dissolves
    };
    for data in shader.functions.values_mut() {
        // The entry point keeps its returns: lowering them is up to another pass.
        if let Some(body) = data.body.as_mut().filter(|_| !data.is_entry_point) {
            lower_returns::lower_body(body);
        }
    }
    let mut progress = false;
    let mut is_inlined: SecondaryMap<Function, bool> = SecondaryMap::new();
    let mut copied = 0;
    for function in shader.functions.keys() {
        let data = &mut shader.functions[function];
        if dissolves[function] && !data.is_entry_point && !data.is_exported {
            continue;
        }
        let Some(mut body) = data.body.take() else { continue };
        // From the last to the first, so that the code after a call in its block is moved only once, and no pending
        // call can vanish.
        let mut pending: Vec<(Inst, Function)> = calls(&body).collect();
        while let Some((call, callee)) = pending.pop() {
            if !dissolves[callee] || !is_direct(&body, call) {
                continue;
            }
            let Some(source) = &shader.functions[callee].body else { continue };
            if std::mem::replace(&mut is_inlined[callee], true) {
                copied += 1 + source.num_insts();
                if copied > MAX_COPIED {
                    continue;
                }
            }
            let mut inliner =
                Inliner { body: &mut body, types: &mut shader.types, variables: &mut shader.variables, source };
            pending.extend(inliner.inline(call));
            progress = true;
        }
        shader.functions[function].body = Some(body);
    }
    progress | drop_uncalled(shader)
}

fn is_direct(body: &Body, call: Inst) -> bool {
    matches!(body.inst(call), InstData::Call { indirect: false, .. })
}

struct Inliner<'a> {
    body: &'a mut Body,
    types: &'a mut TypeTable,
    variables: &'a mut PrimaryMap<Variable, VariableData>,
    source: &'a Body,
}

impl Inliner<'_> {
    /// Replaces a call; returns the calls of the inlined code.
    fn inline(&mut self, call: Inst) -> Vec<(Inst, Function)> {
        let arguments: Vec<Def> = self.body.sources(call).map(|s| self.body.src_def(s)).collect();
        let again = self
            .body
            .inst_block(call)
            .and_then(|block| self.body.block_parent(block))
            .is_some_and(|parent| self.body.innermost_loop(parent).is_some());
        let mut remap = Remap::default();
        let list = self.body.clone_list(self.source, self.source.body_list(), &mut remap);
        let locals: Vec<(Variable, Variable)> = self
            .source
            .locals
            .iter()
            .map(|&local| {
                let copy = self.variables[local].clone();
                (local, self.variables.push(copy))
            })
            .collect();
        self.body.locals.extend(locals.iter().map(|&(_, new)| new));
        let ClonedCallee { registers, calls } = self.adapt(list, &locals, &arguments);
        if again {
            let mut b = Builder::new(self.body, Cursor::BlockStart(list.first));
            for register in registers {
                clear_register(&mut b, register);
            }
            for &(_, variable) in &locals {
                reset_variable(&mut b, self.types, variable, &self.variables[variable]);
            }
        }
        if list.first == list.last && self.body.block_jump(list.first).is_none() {
            // Straight-line code is inserted right before the call: no block is split.
            for inst in self.body.insts_vec(list.first) {
                self.body.move_inst(Cursor::Before(call), inst);
            }
            self.body.drop_list(list);
        } else {
            self.body.insert_list(Cursor::Before(call), list);
        }
        // The callee may have ended the invocation: the code after the call, and the call itself, are then gone.
        if self.body.inst_block(call).is_some() {
            self.body.remove_inst(call);
        }
        calls
    }

    /// Adapts the clone to the caller.
    fn adapt(&mut self, list: CfList, locals: &[(Variable, Variable)], arguments: &[Def]) -> ClonedCallee {
        let mut renamed: SecondaryMap<Variable, Option<Variable>> = SecondaryMap::new();
        for &(old, new) in locals {
            renamed[old] = Some(new);
        }
        let mut adapted = ClonedCallee::default();
        let blocks: Vec<_> = self.body.blocks_in(list).collect();
        for block in blocks {
            for inst in self.body.insts_vec(block) {
                match *self.body.inst(inst) {
                    InstData::Deref { kind: DerefKind::Var(variable), modes, ty } => {
                        if let Some(new) = renamed[variable] {
                            self.body.set_inst(inst, InstData::Deref { kind: DerefKind::Var(new), modes, ty });
                        }
                    }
                    InstData::Intrinsic { op: IntrinsicOp::LoadParam, .. } => {
                        let index = self.body.index(inst, IndexKind::ParamIdx) as usize;
                        if let (Some(&argument), Some(def)) = (arguments.get(index), self.body.inst_def(inst)) {
                            self.body.replace_all_uses(def, argument);
                            self.body.remove_inst(inst);
                        }
                    }
                    InstData::Intrinsic { op: IntrinsicOp::DeclReg, .. } => {
                        let start = self.body.start_block();
                        self.body.move_inst(Cursor::BlockStart(start), inst);
                        adapted.registers.extend(self.body.inst_def(inst));
                    }
                    InstData::Call { callee, .. } => adapted.calls.push((inst, callee)),
                    _ => {}
                }
            }
        }
        adapted
    }
}

/// Parts of a clone that the caller needs.
#[derive(Default)]
struct ClonedCallee {
    /// Handles of its registers.
    registers: Vec<Def>,
    /// Its calls in order.
    calls: Vec<(Inst, Function)>,
}

fn clear_register(b: &mut Builder<'_>, register: Def) {
    let shape = b.body.register_shape(register);
    let elements = b.body.index(b.body.def_inst(register), IndexKind::NumArrayElems).max(1) as u32;
    let zero = b.constant(shape.bit_size, &[0; 16][..usize::from(shape.num_components)]);
    for element in 0..elements {
        b.store_reg(zero, register, element, (1 << shape.num_components) - 1);
    }
}

/// Stores the initial value of a variable to all of it.
pub(crate) fn reset_variable(b: &mut Builder<'_>, types: &mut TypeTable, variable: Variable, data: &VariableData) {
    let root = b.deref_var(variable, data.mode, data.ty);
    let mut pending: Vec<(Def, Type, Option<&Initializer>)> = vec![(root, data.ty, data.initializer.as_ref())];
    while let Some((deref, ty, initializer)) = pending.pop() {
        if let Some(shape) = vector_shape(types, ty) {
            let mut values = match initializer {
                Some(Initializer::Vector(values)) => values.clone(),
                _ => Vec::new(),
            };
            values.resize(usize::from(shape.num_components), 0);
            let value = b.constant(shape.bit_size, &values);
            b.store_deref(deref, value, (1 << shape.num_components) - 1);
            continue;
        }
        let part = |index: usize| match initializer {
            Some(Initializer::Elements(elements)) => elements.get(index),
            _ => None,
        };
        if let TypeData::Struct { fields, .. } = types.get(ty).clone() {
            for (i, field) in fields.iter().enumerate() {
                let def = b.deref_struct(deref, i as u32, field.ty);
                pending.push((def, field.ty, part(i)));
            }
        } else if let Some((element, length)) = types.element(ty) {
            for i in 0..length {
                let index = b.u32_const(i);
                let def = b.deref_array(deref, index, element);
                pending.push((def, element, part(i as usize)));
            }
        }
    }
}

/// Removes functions that are not reachable from an entry point or exported function.
fn drop_uncalled(shader: &mut Shader) -> bool {
    let roots = shader.functions.iter().filter(|(_, f)| f.is_entry_point || f.is_exported).map(|(id, _)| id);
    let kept = CallGraph::new(&shader.functions).reachable(roots);
    if shader.functions.keys().all(|id| kept.contains(id)) {
        return false;
    }
    let mut new_ids: SecondaryMap<Function, Option<Function>> = SecondaryMap::new();
    let mut functions: PrimaryMap<Function, FunctionData> = PrimaryMap::new();
    for (id, data) in std::mem::take(&mut shader.functions) {
        if kept.contains(id) {
            new_ids[id] = Some(functions.push(data));
        }
    }
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        for (inst, callee) in calls(body) {
            if let InstData::Call { indirect, .. } = *body.inst(inst)
                && let Some(callee) = new_ids[callee]
            {
                body.set_inst(inst, InstData::Call { callee, indirect });
            }
        }
    }
    shader.functions = functions;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alu::AluOp;
    use crate::body::{Shape, SourceSpec};
    use crate::shader::{Parameter, ShaderStage};
    use crate::validate::validate;

    fn function(name: &str, body: Body) -> FunctionData {
        FunctionData {
            name: name.to_string(),
            parameters: vec![Parameter { num_components: 1, bit_size: 32, name: String::new(), is_return: false }],
            is_entry_point: false,
            is_exported: false,
            attributes: Vec::new(),
            body: Some(body),
        }
    }

    fn call(b: &mut Builder<'_>, callee: Function, argument: Def) {
        b.build(InstData::Call { callee, indirect: false }, &[SourceSpec::plain(argument)], None);
    }

    #[test]
    fn parameters_registers_and_order() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut body = Body::new();
        let mut b = Builder::at_end(&mut body);
        let register = b.decl_reg(Shape::new(1, 32), 0);
        let parameter = b.intrinsic_def(IntrinsicOp::LoadParam, &[], &[], Shape::new(1, 32));
        let negated = b.alu(AluOp::Ineg, &[parameter]);
        b.store_reg(negated, register, 0, 1);
        let value = b.load_reg(register, 0);
        b.intrinsic(IntrinsicOp::StorePreamble, &[value], &[], None);
        let inner = shader.functions.push(function("inner", body));
        let mut body = Body::new();
        let mut b = Builder::at_end(&mut body);
        let parameter = b.intrinsic_def(IntrinsicOp::LoadParam, &[], &[], Shape::new(1, 32));
        call(&mut b, inner, parameter);
        call(&mut b, inner, parameter);
        let outer = shader.functions.push(function("outer", body));
        let mut b = Builder::at_end(shader.main_mut());
        let seven = b.u32_const(7);
        call(&mut b, outer, seven);
        validate(&shader).unwrap();
        assert!(inline_functions(&mut shader));
        validate(&shader).unwrap();
        assert!(!inline_functions(&mut shader));
        assert_eq!(shader.functions.len(), 1);
        let body = shader.main();
        let count = |op| body.insts(body.start_block()).filter(|&i| body.intrinsic(i) == Some(op)).count();
        assert_eq!((count(IntrinsicOp::DeclReg), count(IntrinsicOp::StorePreamble)), (2, 2));
        assert!(body.uses_of(seven).count() == 2);
    }

    /// Innermost code is copied once, not once for each caller around it.
    #[test]
    fn chains_of_calls_are_cheap() {
        const LENGTH: usize = 3000;
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut body = Body::new();
        let mut b = Builder::at_end(&mut body);
        let mut value = b.intrinsic_def(IntrinsicOp::LoadParam, &[], &[], Shape::new(1, 32));
        for _ in 0..LENGTH {
            value = b.alu(AluOp::Ineg, &[value]);
        }
        b.intrinsic(IntrinsicOp::StorePreamble, &[value], &[], None);
        let mut callee = shader.functions.push(function("f", body));
        for _ in 0..LENGTH {
            let mut body = Body::new();
            let mut b = Builder::at_end(&mut body);
            let parameter = b.intrinsic_def(IntrinsicOp::LoadParam, &[], &[], Shape::new(1, 32));
            call(&mut b, callee, parameter);
            callee = shader.functions.push(function("g", body));
        }
        let mut b = Builder::at_end(shader.main_mut());
        let seven = b.u32_const(7);
        call(&mut b, callee, seven);
        assert!(crate::work::check_linear("inline_functions", &mut shader, inline_functions));
        validate(&shader).unwrap();
        let body = shader.main();
        assert_eq!((shader.functions.len(), body.insts(body.start_block()).count()), (1, LENGTH + 2));
    }

    #[test]
    fn recursion_stays() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let id = shader.functions.push(function("f", Body::new()));
        let mut body = Body::new();
        let mut b = Builder::at_end(&mut body);
        let one = b.u32_const(1);
        call(&mut b, id, one);
        shader.functions[id].body = Some(body);
        let mut b = Builder::at_end(shader.main_mut());
        let one = b.u32_const(1);
        call(&mut b, id, one);
        assert!(!inline_functions(&mut shader));
        assert_eq!(shader.functions.len(), 2);
        validate(&shader).unwrap();
    }
}
