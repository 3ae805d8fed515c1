//! Switches.
//!
//! Without cases that fall into others, a switch is a chain of `if` and `else`. With them, it is an `if` for each case
//! in an order in which a case precedes the one that it falls into, whose condition then includes the flag of that join.

use rustc_hash::FxHashMap;
use tgsi_ir::alu::AluOp;
use tgsi_ir::entities::{Def, If};

use super::graph::literal_words;
use super::{Emitter, Next, Pending, add};
use crate::error::{Finding, SpirvError};
use crate::words::Inst;

/// Cases of a chain of `if` and `else`, which nests as deep as it is long.
const MAX_CHAIN: usize = 32;

/// A block that a switch branches to.
#[derive(Debug)]
struct Case {
    block: u32,
    literals: Vec<u64>,
    is_default: bool,
    /// The case that it falls into.
    next: Option<usize>,
    reaches_merge: bool,
}

impl Emitter<'_, '_, '_> {
    /// Emits a switch.
    pub(super) fn switch(
        &mut self,
        from: u32,
        inst: &Inst<'_>,
        merge: Option<u32>,
        stop: Option<u32>,
    ) -> Result<(Next, Pending), Finding> {
        let at = |error: SpirvError| Finding { error, span: inst.span() };
        let selector = self.vector(inst.word(0)).map_err(at)?;
        if self.b.body.num_components(selector) != 1 {
            return Err(at(SpirvError::Types { op: "OpSwitch".to_owned(), why: "the selector is not a scalar" }));
        }
        let merge = merge.filter(|&merge| self.flow.is_open.get(merge as usize) == Some(&0));
        let mut cases = self.cases(inst).map_err(at)?;
        self.find_falls(&mut cases, merge).map_err(at)?;
        let reaches = cases.iter().any(|case| case.reaches_merge);
        let join = merge.filter(|_| reaches);
        // A switch with one target is a branch.
        if let ([only], None) = (cases.as_slice(), join) {
            return self.go(from, only.block, stop);
        }
        if let Some(join) = join {
            self.open_join(join);
        }
        let inner = join.or(stop);
        let has_falls = cases.iter().any(|case| case.next.is_some());
        let mut pending = if let [only] = cases.as_slice() {
            self.side(from, only.block, inner)?
        } else if has_falls || cases.len() > MAX_CHAIN {
            self.separate_cases(from, selector, &cases, inner)?
        } else {
            self.chain(from, selector, &cases, inner)?
        };
        if join.is_some() {
            self.close_join(&mut pending);
            self.is_unreachable = false;
        }
        Ok((join.map_or(Next::End, Next::Block), pending))
    }

    /// The cases by target, the default included.
    fn cases(&self, inst: &Inst<'_>) -> Result<Vec<Case>, SpirvError> {
        let length = literal_words(self.context.module, inst.word(0));
        let bits = self.context.module.types.scalar(self.type_of(inst.word(0))).map_or(32, |scalar| scalar.bit_size());
        let mut cases: Vec<Case> = Vec::new();
        let mut by_block: FxHashMap<u32, usize> = FxHashMap::default();
        let mut add = |cases: &mut Vec<Case>, label: u32, literal: Option<u64>| {
            let block = self.block_of(label).ok_or(SpirvError::WrongKind {
                id: label,
                found: self.context.module.id(label).kind(),
                expected: "a block of the function",
            })?;
            let number = *by_block.entry(block).or_insert_with(|| {
                cases.push(Case { block, literals: Vec::new(), is_default: false, next: None, reaches_merge: false });
                cases.len() - 1
            });
            if let Some(case) = cases.get_mut(number) {
                case.literals.extend(literal);
                case.is_default |= literal.is_none();
            }
            Ok(())
        };
        for case in inst.rest(2).chunks_exact(length + 1) {
            let low = u64::from(case.first().copied().unwrap_or(0));
            let literal = if length == 2 { low | u64::from(case.get(1).copied().unwrap_or(0)) << 32 } else { low };
            let literal = if bits >= 64 { literal } else { literal & ((1 << bits) - 1) };
            add(&mut cases, case.last().copied().unwrap_or(0), Some(literal))?;
        }
        add(&mut cases, inst.word(1), None)?;
        Ok(cases)
    }

    /// Finds the cases that fall into others, and puts each before the one that it falls into.
    fn find_falls(&mut self, cases: &mut Vec<Case>, merge: Option<u32>) -> Result<(), SpirvError> {
        // A case may also be a branch to the end of an outer construct, into which nothing falls.
        let is_exit: Vec<bool> =
            cases.iter().map(|case| self.flow.is_open.get(case.block as usize) != Some(&0)).collect();
        let is_code = |number: usize, block: u32| Some(block) != merge && is_exit.get(number) == Some(&false);
        let by_block: FxHashMap<u32, usize> = cases
            .iter()
            .enumerate()
            .filter(|&(number, case)| is_code(number, case.block))
            .map(|(number, case)| (case.block, number))
            .collect();
        let mut is_fallen_into = vec![false; cases.len()];
        // Searches stop at the other cases.
        by_block.keys().for_each(|&block| self.open(block));
        let mut result = Ok(());
        for (number, case) in cases.iter_mut().enumerate() {
            if !is_code(number, case.block) {
                case.reaches_merge = Some(case.block) == merge;
                continue;
            }
            let label = self.flow.blocks.get(case.block as usize).map_or(0, |block| block.label);
            self.close(case.block);
            self.flow.search += 1;
            let mut reached: Option<usize> = None;
            let graph = self.flow.graph.clone();
            case.reaches_merge = self.search(case.block, merge, 1, |_, block, _| {
                for target in graph.successors(block) {
                    match by_block.get(target) {
                        Some(&other) if other != number && Some(*target) != merge => {
                            if reached.is_some_and(|known| known != other) {
                                result = Err(SpirvError::Unstructured { target: label });
                            }
                            reached = Some(other);
                        }
                        _ => {}
                    }
                }
            });
            self.open(case.block);
            case.next = reached;
            if let Some(other) = reached
                && std::mem::replace(&mut is_fallen_into[other], true)
            {
                result = Err(SpirvError::Unstructured { target: label });
            }
        }
        by_block.keys().for_each(|&block| self.close(block));
        result?;
        if is_fallen_into.iter().any(|&fallen| fallen) {
            let mut order = Vec::with_capacity(cases.len());
            for first in (0..cases.len()).filter(|&number| !is_fallen_into[number]) {
                let mut current = Some(first);
                while let Some(number) = current.filter(|_| order.len() <= cases.len()) {
                    order.push(number);
                    current = cases.get(number).and_then(|case| case.next);
                }
            }
            // Cases in a circle have no first one.
            if order.len() != cases.len() {
                let block = cases.first().and_then(|case| self.flow.blocks.get(case.block as usize));
                return Err(SpirvError::Unstructured { target: block.map_or(0, |block| block.label) });
            }
            let mut place = vec![0; order.len()];
            order.iter().enumerate().for_each(|(position, &number)| place[number] = position);
            let mut sorted: Vec<(usize, Case)> =
                std::mem::take(cases).into_iter().enumerate().map(|(number, case)| (place[number], case)).collect();
            sorted.sort_by_key(|(position, _)| *position);
            *cases = sorted.into_iter().map(|(_, case)| case).collect();
            for case in cases.iter_mut() {
                case.next = case.next.and_then(|next| place.get(next).copied());
            }
        }
        Ok(())
    }

    /// Whether the selector is one of the literals of a case.
    fn matches(&mut self, selector: Def, literals: &[u64]) -> Def {
        let bits = self.b.body.bit_size(selector);
        let mut any = None;
        for &literal in literals {
            let literal = self.constant(bits, &[literal]);
            let equal = self.b.alu(AluOp::Ieq, &[selector, literal]);
            any = Some(match any {
                Some(before) => self.b.alu(AluOp::Ior, &[before, equal]),
                None => equal,
            });
        }
        any.unwrap_or_else(|| self.constant(1, &[0]))
    }

    fn chain(&mut self, from: u32, selector: Def, cases: &[Case], stop: Option<u32>) -> Result<Pending, Finding> {
        let mut pending = Pending::new();
        let mut open: Vec<If> = Vec::new();
        let mut ends = true;
        for case in cases.iter().filter(|case| !case.is_default) {
            let matches = self.matches(selector, &case.literals);
            let id = self.b.push_if(matches);
            self.flow.lists += 1;
            open.push(id);
            self.side(from, case.block, stop)?.into_iter().for_each(|join| add(&mut pending, join));
            ends &= self.is_unreachable;
            self.b.push_else(id);
            self.is_unreachable = false;
        }
        if let Some(default) = cases.iter().find(|case| case.is_default) {
            self.side(from, default.block, stop)?.into_iter().for_each(|join| add(&mut pending, join));
            ends &= self.is_unreachable;
        }
        for id in open.into_iter().rev() {
            self.b.end_if(id);
            self.flow.lists -= 1;
        }
        self.is_unreachable = ends;
        Ok(pending)
    }

    fn separate_cases(
        &mut self,
        from: u32,
        selector: Def,
        cases: &[Case],
        stop: Option<u32>,
    ) -> Result<Pending, Finding> {
        let mut conditions = Vec::with_capacity(cases.len());
        let mut others = self.constant(1, &[0]);
        for case in cases {
            if case.is_default {
                conditions.push(others);
                continue;
            }
            let matches = self.matches(selector, &case.literals);
            conditions.push(matches);
            others = self.b.alu(AluOp::Ior, &[others, matches]);
        }
        let default = self.b.alu(AluOp::Inot, &[others]);
        // The joins of cases that others fall into, the innermost for the first of them.
        let fallen: Vec<usize> = cases.iter().filter_map(|case| case.next).collect();
        let joins: FxHashMap<usize, usize> =
            fallen.iter().rev().map(|&number| (number, self.open_join(cases[number].block))).collect();
        // A case that falls into another one stores other operands.
        fallen.iter().for_each(|&number| self.store_phis(from, cases[number].block));
        let mut pending = Pending::new();
        for (number, (case, &condition)) in cases.iter().zip(&conditions).enumerate() {
            let mut condition = if case.is_default { default } else { condition };
            let join = joins.get(&number).copied();
            if let Some(join) = join.filter(|join| pending.contains(join)) {
                let flag = self.flag(join);
                let fell = self.b.load_reg(flag, 0);
                condition = self.b.alu(AluOp::Ior, &[condition, fell]);
            }
            let id = self.b.push_if(condition);
            self.flow.lists += 1;
            self.is_unreachable = false;
            let inside = match join {
                Some(_) => self.sequence(case.block, stop, false)?,
                None => self.side(from, case.block, stop)?,
            };
            inside.into_iter().for_each(|join| add(&mut pending, join));
            self.b.end_if(id);
            self.flow.lists -= 1;
        }
        for _ in 0..joins.len() {
            self.close_join(&mut pending);
        }
        self.is_unreachable = false;
        Ok(pending)
    }
}
