//! Textures and indices whose types depend on later lines.

use super::BodyParser;
use crate::body::{InstData, Shape, TexData};
use crate::cursor::Cursor;
use crate::entities::Def;
use crate::text::error::TextErrorKind;
use crate::text::lexer::{ParseResult, Scanner, parse_number, set};
use crate::text::reconstruct::constant_indices;

impl<'a> BodyParser<'_, 'a> {
    pub(super) fn complete_textures(&mut self) {
        for (inst, at) in std::mem::take(&mut self.texs) {
            let Some(tex) = self.body.tex(inst) else { continue };
            // Properties that the line states take precedence, even those that the printer would put into the comment.
            let mut tex = TexData {
                component: tex.component,
                texture_index: tex.texture_index,
                sampler_index: tex.sampler_index,
                ..crate::text::reconstruct::guess_tex(&self.parser.shader.types, &self.body, inst, tex)
            };
            if let Err(failure) = self.tex_remark(at, &mut tex) {
                self.parser.fail(at, failure);
            }
            if let Some(data) = self.body.tex_mut(inst) {
                *data = tex;
            }
        }
    }

    pub(super) fn tex_remark(&mut self, at: usize, tex: &mut TexData) -> ParseResult<()> {
        use tgsi_environment::SamplerDim;
        let line = self.parser.lines[at];
        let s = Scanner::new("", line.offset + line.code.len());
        for word in line.comment_words() {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let number = parse_number(value);
            let byte = number.and_then(|number| u8::try_from(number).ok());
            let good = match key {
                "dim" => {
                    tex.is_array = false;
                    tex.is_shadow = false;
                    tex.is_new_style_shadow = false;
                    tex.coord_components = 0;
                    set(&mut tex.dim, SamplerDim::from_name(value))
                }
                "array" => set(&mut tex.is_array, Some(true)),
                "shadow" => set(&mut tex.is_shadow, Some(true)),
                "new_style" => set(&mut tex.is_new_style_shadow, Some(true)),
                "lowered_cube" => set(&mut tex.array_is_lowered_cube, Some(true)),
                "coords" => set(&mut tex.coord_components, byte),
                "component" => set(&mut tex.component, byte),
                "backend_flags" => set(&mut tex.backend_flags, number),
                "texture" => set(&mut tex.texture_index, number),
                "sampler" => set(&mut tex.sampler_index, number),
                // An unrelated comment.
                _ => true,
            };
            if !good {
                return s.fail(TextErrorKind::BadIndexValue(key.to_string()));
            }
        }
        Ok(())
    }

    /// Creates or finds the constants for array derefs with a constant index.
    pub(super) fn complete_indices(&mut self) {
        let wanted = std::mem::take(&mut self.wanted);
        let found = constant_indices(&self.body, &wanted.iter().copied().collect());
        let mut gap = 0;
        for (inst, (bits, value)) in wanted {
            let def = match found.get(&inst) {
                Some(&def) => def,
                None => {
                    while self.is_made(gap) {
                        gap += 1;
                    }
                    let def = Def::from_u32(gap);
                    gap += 1;
                    self.body.reserve_defs(gap as usize);
                    let start = self.body.push_constants(&[value]);
                    let data = InstData::LoadConst { start };
                    let constant = self.body.create_inst_with_def(data, &[], Some(Shape::new(1, bits)), Some(def));
                    self.body.insert_inst(Cursor::Before(inst), constant);
                    def
                }
            };
            if self.body.num_sources(inst) > 1 {
                let source = self.body.source(inst, 1);
                self.body.set_src(source, def);
            }
        }
    }
}
