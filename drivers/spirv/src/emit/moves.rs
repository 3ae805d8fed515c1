//! Moves, vectors and selections: instructions with operands of the class of their result.

use smallvec::SmallVec;
use spirv::Op;
use tgsi_ir::alu::AluOp;
use tgsi_ir::{Def, Inst};

use super::Emitter;
use crate::error::SpirvError;
use crate::module::{Class, Id};

impl Emitter<'_> {
    /// Emits `mov`, `vecN`, `bcsel`.
    pub(super) fn emit_move_or_select(&mut self, inst: Inst, op: AluOp, def: Def) -> Result<(), SpirvError> {
        let body = self.body;
        let class = self.classes.get(def);
        let ty = self.type_of(def, class);
        let id = match op {
            AluOp::Mov => self.operand(body.source(inst, 0), class)?,
            AluOp::Bcsel => {
                let a = self.operand(body.source(inst, 1), class)?;
                let b = self.operand(body.source(inst, 2), class)?;
                let condition = body.source(inst, 0);
                let swizzle = body.swizzle(condition);
                let is_repeated = swizzle.iter(usize::from(ty.components)).all(|component| component == swizzle.get(0));
                let condition = if is_repeated && self.module.at_least(1, 4) {
                    self.component(body.src_def(condition), swizzle.get(0), Class::Bool)?
                } else {
                    self.operand(condition, Class::Bool)?
                };
                self.pure_of(Op::Select, ty, &[condition, a, b])
            }
            _ => self.vector(inst, def, class)?,
        };
        self.define(def, id, class);
        Ok(())
    }

    /// Emits a vector of scalars: a shuffle if they are components of one or two vectors, else a construction.
    fn vector(&mut self, inst: Inst, def: Def, class: Class) -> Result<Id, SpirvError> {
        let body = self.body;
        let ty = self.type_of(def, class);
        if ty.components > 4 {
            return Err(SpirvError::NotLowered { inst, what: "a vector of more than four components" });
        }
        let parts: SmallVec<[(Def, u8); 4]> =
            body.sources(inst).map(|source| (body.src_def(source), body.swizzle(source).get(0))).collect();
        if let Some(bits) = parts
            .iter()
            .map(|&(def, component)| body.constant_component(def, usize::from(component)))
            .collect::<Option<SmallVec<[u64; 4]>>>()
        {
            return Ok(self.constant(ty, &bits));
        }
        if let Some((number, component)) = self.words_of_number(&parts) {
            let made = self.values[number].map_or(Class::Uint, |(_, class)| class);
            let number = self.component(number, component, made)?;
            return Ok(self.pure_of(Op::Bitcast, ty, &[number]));
        }
        let mut vectors: SmallVec<[Def; 4]> = SmallVec::new();
        for &(def, _) in &parts {
            if !vectors.contains(&def) {
                vectors.push(def);
            }
        }
        // Scalars cannot be shuffled, and constants are cheaper as parts.
        let shuffles = |def: &Def| {
            body.num_components(*def) > 1 && body.def_constant(*def).is_none() && !self.repeated.contains(def)
        };
        if vectors.len() <= 2 && vectors.iter().all(shuffles) {
            let ids = vectors.iter().map(|&def| self.value(def, class)).collect::<Result<SmallVec<[Id; 2]>, _>>()?;
            let first = u32::from(body.num_components(vectors[0]));
            let (a, b) = (ids[0], *ids.last().unwrap_or(&ids[0]));
            let selectors =
                parts.iter().map(|&(def, component)| u32::from(component) + if def == vectors[0] { 0 } else { first });
            let words: SmallVec<[u32; 8]> = [a.0, b.0].into_iter().chain(selectors).collect();
            let is_whole = vectors.len() == 1
                && parts.len() == usize::from(body.num_components(vectors[0]))
                && parts.iter().enumerate().all(|(i, &(_, component))| i == usize::from(component));
            if is_whole {
                return Ok(a);
            }
            let ty = self.module.value_type(ty);
            return Ok(self.pure(Op::VectorShuffle, ty, &words));
        }
        let mut ids: SmallVec<[u32; 4]> = SmallVec::new();
        for &(def, component) in &parts {
            ids.push(self.component(def, component, class)?.0);
        }
        let ty = self.module.value_type(ty);
        Ok(self.pure(Op::CompositeConstruct, ty, &ids))
    }
    /// Returns the 64-bit component that the parts of a vector are the words of, if any.
    fn words_of_number(&self, parts: &[(Def, u8)]) -> Option<(Def, u8)> {
        let &[(low, 0), (high, 0)] = parts else { return None };
        let body = self.body;
        let number = |word: Def, op: AluOp| {
            let inst = body.def_inst(word);
            let is_word = body.alu_op(inst) == Some(op) && body.num_components(word) == 1;
            is_word.then(|| (body.src(inst, 0), body.swizzle(body.source(inst, 0)).get(0)))
        };
        let low = number(low, AluOp::Unpack642x32SplitX)?;
        (number(high, AluOp::Unpack642x32SplitY)? == low && body.def_constant(low.0).is_none()).then_some(low)
    }
}
