//! A texture instruction taken apart, changed and put in place of the old one: what the passes on textures share.

use smallvec::SmallVec;
use tgsi_ir::body::{TexData, TexSrcKind};
use tgsi_ir::builder::Builder;
use tgsi_ir::cursor::Cursor;
use tgsi_ir::{Body, Def, Inst};

/// A texture instruction.
#[derive(Clone, Debug)]
pub struct TextureEdit {
    /// Its payload.
    pub data: TexData,
    sources: SmallVec<[(TexSrcKind, Def); 8]>,
    inst: Inst,
}

impl TextureEdit {
    /// Takes an instruction apart; none for others.
    pub fn of(body: &Body, inst: Inst) -> Option<TextureEdit> {
        let data = *body.tex(inst)?;
        let sources = body.sources(inst).map(|s| (body.tex_src_kind(s), body.src_def(s))).collect();
        Some(TextureEdit { data, sources, inst })
    }

    /// A source.
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

    /// Takes a source away.
    pub fn take(&mut self, kind: TexSrcKind) -> Option<Def> {
        let position = self.sources.iter().position(|(own, _)| *own == kind)?;
        Some(self.sources.remove(position).1)
    }

    /// Sources that name texture and sampler.
    pub fn names(&self) -> impl Iterator<Item = (TexSrcKind, Def)> + '_ {
        use TexSrcKind::*;
        self.sources.iter().copied().filter(|(kind, _)| {
            matches!(kind, TextureDeref | TextureHandle | TextureOffset | SamplerDeref | SamplerHandle | SamplerOffset)
        })
    }

    /// Builds code before the instruction.
    pub fn before<'a>(&self, body: &'a mut Body) -> Builder<'a> {
        Builder::new(body, Cursor::Before(self.inst))
    }

    /// Builds the changed instruction, in place of which the old one may be taken away.
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
