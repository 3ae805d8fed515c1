//! Editing of texture instructions, shared by the texture passes: takes one apart, changes it, and replaces the
//! original.

use crate::body::{Body, TexData, TexSrcKind};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::shader::Shader;

/// Visits all texture instructions of a shader. Returns whether `lower` returned true for one.
pub fn edit_textures(shader: &mut Shader, mut lower: impl FnMut(&mut Body, TextureEdit) -> bool) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(|body, inst| TextureEdit::of(body, inst).is_some_and(|edit| lower(body, edit)));
    }
    progress
}

/// A texture instruction being edited.
#[derive(Clone, Debug)]
pub struct TextureEdit {
    /// Its payload.
    pub data: TexData,
    sources: Vec<(TexSrcKind, Def)>,
    inst: Inst,
}

impl TextureEdit {
    /// Takes an instruction apart; `None` if it is not a texture instruction.
    fn of(body: &Body, inst: Inst) -> Option<TextureEdit> {
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

    /// Replaces the coordinates, except for the layer.
    pub fn set_coordinates(&mut self, body: &mut Body, changed: Def) {
        let mut coordinates = changed;
        if let (true, Some(old)) = (self.data.is_array, self.get(TexSrcKind::Coord)) {
            let count = self.data.coord_components;
            let part = |c| AluSrc::component(if c + 1 == count { old } else { changed }, c);
            let parts: Vec<AluSrc> = (0..count).map(part).collect();
            coordinates = self.before(body).vec(&parts);
        }
        self.set(TexSrcKind::Coord, coordinates);
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
