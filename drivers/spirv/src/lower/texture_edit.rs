//! Editing of texture instructions, shared by the texture passes: takes one apart, changes it, and replaces the
//! original.

use smallvec::SmallVec;
use tgsi_ir::body::{TexData, TexSrcKind};
use tgsi_ir::builder::Builder;
use tgsi_ir::cursor::Cursor;
use tgsi_ir::{Body, Def, Inst};

/// A texture instruction being edited.
#[derive(Clone, Debug)]
pub struct TextureEdit {
    /// Its payload.
    pub data: TexData,
    sources: SmallVec<[(TexSrcKind, Def); 8]>,
    inst: Inst,
}

impl TextureEdit {
    /// Takes an instruction apart; `None` if it is not a texture instruction.
    pub fn of(body: &Body, inst: Inst) -> Option<TextureEdit> {
        let data = *body.tex(inst)?;
        let sources = body.sources(inst).map(|s| (body.tex_src_kind(s), body.src_def(s))).collect();
        Some(TextureEdit { data, sources, inst })
    }

    /// Returns a source.
    pub fn get(&self, kind: TexSrcKind) -> Option<Def> {
        self.sources.iter().find(|(own, _)| *own == kind).map(|&(_, def)| def)
    }

    /// Adds or replaces a source.
    pub fn set(&mut self, kind: TexSrcKind, def: Def) {
        match self.sources.iter_mut().find(|(own, _)| *own == kind) {
            Some(source) => source.1 = def,
            None => self.sources.push((kind, def)),
        }
    }

    /// Removes a source.
    pub fn take(&mut self, kind: TexSrcKind) -> Option<Def> {
        let position = self.sources.iter().position(|(own, _)| *own == kind)?;
        Some(self.sources.remove(position).1)
    }

    /// Returns the sources that identify texture and sampler.
    pub fn names(&self) -> impl Iterator<Item = (TexSrcKind, Def)> + '_ {
        use TexSrcKind::*;
        self.sources.iter().copied().filter(|(kind, _)| {
            matches!(kind, TextureDeref | TextureHandle | TextureOffset | SamplerDeref | SamplerHandle | SamplerOffset)
        })
    }

    /// Returns a builder before the instruction.
    pub fn before<'a>(&self, body: &'a mut Body) -> Builder<'a> {
        Builder::new(body, Cursor::Before(self.inst))
    }

    /// Builds the changed instruction, which may replace the old one.
    pub fn build(&self, body: &mut Body) -> Def {
        let sources = self.sources.clone();
        self.before(body).texture(self.data, &sources)
    }

    /// Replaces the old instruction by the changed one.
    pub fn replace(&self, body: &mut Body) {
        let new = self.build(body);
        self.replace_by(body, new);
    }

    /// Replaces the old instruction by a value.
    pub fn replace_by(&self, body: &mut Body, new: Def) {
        if let Some(old) = body.inst_def(self.inst) {
            body.replace_all_uses(old, new);
        }
        body.remove_inst(self.inst);
    }
}
