//! Members of storage blocks whose lengths follow from the indices of the unit: arrays without a length before the last
//! member. Their blocks are placed in memory at the end.

use rustc_hash::FxHashMap;

use super::Analyzer;
use super::qualifiers::Qualifiers;
use crate::program::{BlockId, ExprId, ExprKind, Storage};
use crate::types::{TypeData, TypeId};

/// A block with such members.
#[derive(Debug)]
pub(super) struct ImpliedBlock {
    /// The qualifiers of the members, and those of the block.
    pub(super) members: Vec<Qualifiers>,
    pub(super) of_block: Qualifiers,
    /// By member: the length so far.
    pub(super) lengths: FxHashMap<u32, u32>,
}

impl Analyzer<'_> {
    /// Whether a block has a member without a length before the last one.
    pub(super) fn has_implied_length(&self, structure: TypeId) -> bool {
        let fields = self.program.types.fields(structure);
        let before_last = fields.get(..fields.len().saturating_sub(1)).unwrap_or_default();
        before_last.iter().any(|field| matches!(self.program.types.get(field.ty), TypeData::Array { length: None, .. }))
    }

    /// The block in memory of which an expression is a member, the number of the member, and whether it is the last one.
    pub(super) fn member_of_buffer(&self, expr: ExprId) -> Option<(BlockId, u32, bool)> {
        let ExprKind::Field(mut base, number) = self.program.expr(expr).kind else { return None };
        while let ExprKind::Index(of, _) = self.program.expr(base).kind {
            base = of;
        }
        let ExprKind::Variable(id) = self.program.expr(base).kind else { return None };
        let variable = self.program.variable(id);
        let structure = self.program.types.without_arrays(variable.ty);
        let is_last = number as usize + 1 == self.program.types.fields(structure).len();
        let block = variable.block.filter(|_| variable.storage == Storage::Buffer)?;
        Some((block, number, is_last))
    }

    /// Notes an index into a member without a length.
    pub(super) fn note_member_index(&mut self, member: ExprId, index: u32) {
        if let Some((block, number, false)) = self.member_of_buffer(member)
            && let Some(implied) = self.implied.get_mut(&block)
        {
            let length = implied.lengths.entry(number).or_default();
            *length = (*length).max(index.saturating_add(1));
        }
    }

    /// Gives members their lengths, and places their blocks.
    pub(super) fn place_implied(&mut self) {
        let mut blocks: Vec<(BlockId, ImpliedBlock)> = std::mem::take(&mut self.implied).into_iter().collect();
        blocks.sort_unstable_by_key(|(id, _)| *id);
        for (id, implied) in blocks {
            let mut block = self.program.block(id).clone();
            let structure = self.program.types.without_arrays(self.program.variable(block.variable).ty);
            let count = self.program.types.fields(structure).len() as u32;
            for number in 0..count.saturating_sub(1) {
                let field = self.program.types.fields(structure).get(number as usize).map(|field| field.ty);
                // A complete shader has an index into each.
                if let Some(TypeData::Array { element, length: None }) = field.map(|ty| self.program.types.get(ty))
                    && let Some(&length) = implied.lengths.get(&number)
                {
                    let sized = self.program.types.array(element, Some(length));
                    self.program.types.set_field(structure, number, sized);
                }
            }
            self.place_members(structure, &mut block, &implied.members, &implied.of_block);
            if let Some(known) = self.program.arenas.block.get_mut(id.0 as usize) {
                *known = block;
            }
        }
    }
}
