//! Moves a region into a new function.

use rustc_hash::{FxHashMap, FxHashSet};
use spirv::{Op, StorageClass};

use crate::editor::{Editor, TypeClass};
use crate::graph::definitions;
use crate::module::{Block, Function, Inst};
use crate::regions::{Escape, Region};

/// Most definitions of pointers and images that are copied into the function.
const MAX_COPIES: usize = 64;
/// Most parameters.
const MAX_PARAMETERS: usize = 60;

/// `region` becomes a call. Values that it uses are parameters, by value or through variables; values that leave it are
/// the result, members of the result, or are returned through variables. Access chains and loads of images are copied.
pub fn outline(editor: &mut Editor, function: usize) -> Option<()> {
    let region = editor.carve(function)?;
    if !region.others.is_empty() || region.has_returns {
        return None;
    }
    editor.copy_handles(function, &region)?;
    let inputs = editor.inputs(function, &region)?;
    let escapes = editor.escapes(function, &region)?;
    if inputs.len() + escapes.len() > MAX_PARAMETERS {
        return None;
    }
    let mut call = Call::default();
    let mut names = FxHashMap::default();
    for (id, ty) in inputs {
        let parameter = editor.fresh();
        let by_variable =
            matches!(editor.class(ty), TypeClass::Vector | TypeClass::Composite) && editor.random.one_in(4);
        if !by_variable {
            names.insert(id, parameter);
            call.pass(ty, parameter, id);
            continue;
        }
        let (pointer, variable) = editor.variable(function, ty)?;
        let loaded = editor.fresh();
        names.insert(id, loaded);
        call.pass(pointer, parameter, variable);
        call.before.push(Inst::new(Op::Store, [variable, id]));
        call.start.push(Inst::new(Op::Load, [ty, loaded, parameter]));
    }
    let mut results = FxHashMap::default();
    let mut returned: Vec<Escape> = Vec::new();
    let by_struct = editor.random.one_in(2);
    for escape in escapes {
        match editor.class(escape.ty) {
            class if !class.is_data() => return None,
            TypeClass::LaidOut => returned.push(escape),
            _ if by_struct || returned.is_empty() && editor.random.one_in(2) => returned.push(escape),
            _ => {
                let (pointer, variable) = editor.variable(function, escape.ty)?;
                let (parameter, loaded) = (editor.fresh(), editor.fresh());
                call.pass(pointer, parameter, variable);
                call.end.push(Inst::new(Op::Store, [parameter, escape.id]));
                call.behind.push(Inst::new(Op::Load, [escape.ty, loaded, variable]));
                results.insert(escape.id, loaded);
            }
        }
    }
    let result = editor.fresh();
    let return_type = match returned[..] {
        [] => {
            call.end.push(Inst::new(Op::Return, []));
            editor.void_type()
        }
        [Escape { id, ty }] => {
            call.end.push(Inst::new(Op::ReturnValue, [id]));
            results.insert(id, result);
            ty
        }
        _ => {
            let types: Vec<u32> = returned.iter().map(|escape| escape.ty).collect();
            let (ty, all) = (editor.struct_type(&types), editor.fresh());
            let words: Vec<u32> = [ty, all].into_iter().chain(returned.iter().map(|escape| escape.id)).collect();
            call.end.push(Inst::new(Op::CompositeConstruct, words));
            call.end.push(Inst::new(Op::ReturnValue, [all]));
            for (number, escape) in (0..).zip(&returned) {
                let part = editor.fresh();
                call.behind.insert(0, Inst::new(Op::CompositeExtract, [escape.ty, part, result, number]));
                results.insert(escape.id, part);
            }
            ty
        }
    };
    editor.rename_outside(function, &region, &results);
    editor.move_region(function, &region, call, &names, return_type, result)
}

/// The parts of a call.
#[derive(Default)]
struct Call {
    types: Vec<u32>,
    parameters: Vec<u32>,
    arguments: Vec<u32>,
    /// Instructions before and behind the call.
    before: Vec<Inst>,
    behind: Vec<Inst>,
    /// Instructions at the start and at the end of the function.
    start: Vec<Inst>,
    end: Vec<Inst>,
}

impl Call {
    fn pass(&mut self, ty: u32, parameter: u32, argument: u32) {
        self.types.push(ty);
        self.parameters.push(parameter);
        self.arguments.push(argument);
    }
}

impl Editor {
    /// Adds a variable. Returns its type and id.
    fn variable(&mut self, function: usize, ty: u32) -> Option<(u32, u32)> {
        let id = self.local_variable(function, ty, None)?;
        Some((self.pointer_type(StorageClass::Function, ty), id))
    }

    /// The values from outside that a region uses, with their types, by first use.
    fn outer_uses(&self, function: usize, region: &Region) -> Vec<(u32, u32)> {
        let code = &self.module.functions[function];
        let places = definitions(code);
        let types = self.module.value_types();
        let mut is_seen = FxHashSet::default();
        let mut found = Vec::new();
        for inst in
            code.blocks.iter().filter(|block| region.inside.contains(&block.label)).flat_map(|block| &block.body)
        {
            for id in inst.uses() {
                let Some(&(block, at)) = places.get(&id) else { continue };
                let is_outside = at == 0 || !region.inside.contains(&code.blocks[block].label);
                if is_outside && is_seen.insert(id) {
                    found.extend(types.get(&id).map(|&ty| (id, ty)));
                }
            }
        }
        found
    }

    /// Copies the definitions of pointers, images and samplers that a region uses to its start, unless they are variables
    /// or parameters.
    fn copy_handles(&mut self, function: usize, region: &Region) -> Option<()> {
        for _ in 0..MAX_COPIES {
            let code = &self.module.functions[function];
            let places = definitions(code);
            let is_handle = |&(id, ty): &(u32, u32)| {
                let &(block, at) = places.get(&id)?;
                let inst = at.checked_sub(1).and_then(|at| code.blocks[block].body.get(at))?;
                (!self.class(ty).is_data() && inst.op != Op::Variable).then(|| (id, inst.clone()))
            };
            let Some((id, mut inst)) = self.outer_uses(function, region).iter().find_map(is_handle) else {
                return Some(());
            };
            let is_pure = matches!(
                inst.op,
                Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject | Op::Load | Op::SampledImage | Op::Image
            );
            if !is_pure {
                return None;
            }
            let new = self.fresh();
            inst.words[1] = new;
            let blocks = &mut self.module.functions[function].blocks;
            for block in blocks.iter_mut().filter(|block| region.inside.contains(&block.label)) {
                block.body.iter_mut().for_each(|inst| inst.rename(|other| if other == id { new } else { other }));
            }
            let entry = self.module.functions[function].block(region.entry)?;
            self.insert(function, entry, 0, vec![inst]);
        }
        None
    }

    fn inputs(&self, function: usize, region: &Region) -> Option<Vec<(u32, u32)>> {
        let inputs = self.outer_uses(function, region);
        let is_passed = |&(_, ty): &(u32, u32)| match self.class(ty) {
            TypeClass::Pointer => true,
            class => class.is_data(),
        };
        inputs.iter().all(is_passed).then_some(inputs)
    }

    fn move_region(
        &mut self,
        function: usize,
        region: &Region,
        call: Call,
        names: &FxHashMap<u32, u32>,
        return_type: u32,
        result: u32,
    ) -> Option<()> {
        let callee = self.fresh();
        let ty = self.function_type(return_type, &call.types);
        let mut inside: Vec<Block> = Vec::new();
        let mut rest: Vec<Block> = Vec::new();
        for block in std::mem::take(&mut self.module.functions[function].blocks) {
            if region.inside.contains(&block.label) { inside.push(block) } else { rest.push(block) }
        }
        for block in &mut inside {
            block.body.iter_mut().for_each(|inst| inst.rename(|id| names.get(&id).copied().unwrap_or(id)));
            if block.label == region.last {
                block.body.pop();
                block.body.extend(call.end.iter().cloned());
            }
        }
        // The entry is the first block, since it dominates the others.
        inside.first_mut().filter(|block| block.label == region.entry)?.body.splice(0..0, call.start);
        let before = rest.iter_mut().find(|block| block.label == region.before)?;
        before.retarget(region.entry, region.exit);
        let mut insts = call.before;
        let words: Vec<u32> = [return_type, result, callee].into_iter().chain(call.arguments).collect();
        insts.push(Inst::new(Op::FunctionCall, words));
        insts.extend(call.behind);
        let exit = rest.iter_mut().find(|block| block.label == region.exit)?;
        exit.body.splice(0..0, insts);
        self.module.functions[function].blocks = rest;
        let control = [0, 1, 2][self.random.below(3)];
        let parameters = call.types.iter().zip(&call.parameters);
        let new = Function {
            definition: Inst::new(Op::Function, [return_type, callee, control, ty]),
            parameters: parameters.map(|(&ty, &id)| Inst::new(Op::FunctionParameter, [ty, id])).collect(),
            blocks: inside,
        };
        let place = if self.random.one_in(2) { function } else { self.module.functions.len() };
        self.module.functions.insert(place, new);
        Some(())
    }
}
