//! Checks at the end of a unit: recursion, lengths of arrays, outputs.

use rustc_hash::FxHashMap;

use super::type_specs::MAX_COPIED_REGISTERS;
use super::{Analyzer, SemanticError};
use crate::program::{FunctionId, Interlock, Storage, VariableId};
use crate::types::{TypeData, TypeId};

impl Analyzer<'_> {
    pub(super) fn finish(&mut self) {
        self.finish_variables();
        self.check_large();
        self.place_implied();
        self.finish_subroutines();
        self.check_recursion();
        self.check_outputs();
        self.check_captures();
        self.check_redeclarations();
        if self.interlock.0 {
            self.program.layout.stage.interlock.get_or_insert(Interlock { of_sample: false, is_ordered: true });
        }
        self.check_derivative_group();
        self.check_unreadable();
    }

    /// Lengths of arrays that were declared without one, and uses of arrays as a whole.
    fn finish_variables(&mut self) {
        let all_invariant = self.unit.invariant_all.is_some();
        for number in 0..self.program.arenas.variable.len() {
            let id = VariableId(number as u32);
            let is_whole = self.whole_uses.get(&id).is_some_and(|&uses| uses > 0);
            let Some(variable) = self.program.arenas.variable.get_mut(number) else { continue };
            variable.is_indexed |= is_whole;
            variable.traits.invariant |= all_invariant && variable.storage == Storage::Output;
            let (ty, inner) = (variable.ty, variable.max_inner_index.map_or(1, |max| max.saturating_add(1)));
            let sized = self.with_inner_length(ty, inner);
            if let Some(variable) = self.variable_mut(id) {
                variable.ty = sized;
            }
            let Some(variable) = self.program.arenas.variable.get(number) else { continue };
            let (ty, length) = (variable.ty, variable.max_index.map_or(1, |max| max.saturating_add(1)));
            if let TypeData::Array { element, length: None } = self.program.types.get(ty) {
                let sized = self.program.types.array(element, Some(length));
                if let Some(variable) = self.variable_mut(id) {
                    variable.ty = sized;
                }
            }
        }
    }

    /// A type whose first inner dimension without a length has one.
    fn with_inner_length(&mut self, ty: TypeId, inner: u32) -> TypeId {
        let mut outer = Vec::new();
        let mut at = ty;
        while let TypeData::Array { element, length } = self.program.types.get(at) {
            if length.is_none() && !outer.is_empty() {
                let sized = self.program.types.array(element, Some(inner));
                return outer.into_iter().rev().fold(sized, |ty, length| self.program.types.array(ty, length));
            }
            outer.push(length);
            at = element;
        }
        ty
    }

    /// Reports variables that are too large and accessed. Others have no registers.
    fn check_large(&mut self) {
        for id in std::mem::take(&mut self.large) {
            let variable = self.program.variable(id);
            if variable.is_read || variable.is_written {
                let tokens = variable.tokens;
                self.report(self.too_large(), tokens);
            }
        }
    }

    /// Reports functions that call themselves, and copies that calls multiply. Visits the call graph in
    /// depth-first order with an explicit stack.
    fn check_recursion(&mut self) {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            Open,
            Done,
        }
        let mut states: FxHashMap<FunctionId, State> = FxHashMap::default();
        // By function: the registers of the values that a call copies, with those of the calls in it.
        let mut copies: FxHashMap<FunctionId, u64> = FxHashMap::default();
        for root in 0..self.program.arenas.function.len() {
            let root = FunctionId(root as u32);
            if states.contains_key(&root) {
                continue;
            }
            states.insert(root, State::Open);
            let mut path = vec![(root, 0usize)];
            while let Some((caller, next)) = path.last_mut() {
                let Some(&(callee, tokens)) = self.program.function(*caller).callees.get(*next) else {
                    let caller = *caller;
                    let mut copied = self.copies.get(&caller).copied().unwrap_or(0);
                    for &(callee, _) in &self.program.function(caller).callees {
                        let count = self.calls.get(&(caller, callee)).copied().unwrap_or(1);
                        let of_callee = copies.get(&callee).copied().unwrap_or(0);
                        copied = copied.saturating_add(of_callee.saturating_mul(count));
                    }
                    copies.insert(caller, copied);
                    states.insert(caller, State::Done);
                    path.pop();
                    continue;
                };
                *next += 1;
                let caller = *caller;
                match states.get(&callee) {
                    Some(State::Open) => {
                        let name = self.spelling(self.program.function(callee).name);
                        let through = (callee != caller).then(|| self.spelling(self.program.function(caller).name));
                        self.report(SemanticError::Recursion { name, through }, tokens);
                    }
                    Some(State::Done) => {}
                    None => {
                        states.insert(callee, State::Open);
                        path.push((callee, 0));
                    }
                }
            }
        }
        if let Some(main) = self.program.main
            && self.copied_registers <= MAX_COPIED_REGISTERS
            && copies.get(&main).is_some_and(|&copied| copied > MAX_COPIED_REGISTERS)
        {
            let what = "registers of copied arrays and structs, with those of called functions,";
            let error = SemanticError::Limit { what, limit: MAX_COPIED_REGISTERS };
            self.report(error, self.program.function(main).tokens);
        }
    }

    /// `gl_FragColor`, `gl_FragData` and outputs of the shader exclude each other.
    fn check_outputs(&mut self) {
        let written = |name: &str| {
            self.program.globals.iter().copied().find(|&id| {
                let variable = self.program.variable(id);
                variable.is_written && self.interner.spelling(variable.name) == name
            })
        };
        let own = self.program.globals.iter().copied().find(|&id| {
            let variable = self.program.variable(id);
            variable.storage == Storage::Output && variable.is_written
        });
        let own = own.filter(|_| self.program.stage == tgsi_ir::shader::ShaderStage::Fragment);
        let all = [written("gl_FragColor"), written("gl_FragData"), own];
        let mut found = all.into_iter().flatten();
        if let (Some(first), Some(second)) = (found.next(), found.next()) {
            let tokens = self.program.main.map(|main| self.program.function(main).tokens).unwrap_or_default();
            let names = [first, second].map(|id| self.spelling(self.program.variable(id).name));
            let [first, second] = names;
            self.report(SemanticError::BothOutputs { first, second }, tokens);
        }
    }
}
