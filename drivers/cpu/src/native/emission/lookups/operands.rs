//! The operands of a lookup in code.

use cranelift_codegen::ir::{InstBuilder, Value as Ir};
use tgsi_environment::TextureLookup;
use tgsi_ir::body::TexSrcKind;
use tgsi_ir::run::native::Texture;

use super::LookupEmitter;

/// The operands of the instruction.
pub(super) struct Operands {
    /// Coordinates: floats, or integers for fetches. The layer comes last.
    pub coordinates: [Ir; 4],
    /// Derivatives of the coordinates by x and y, if they are explicit.
    pub gradients: Option<[[Ir; 3]; 2]>,
    /// A level of detail or a bias; the number of a level, for a fetch.
    pub lod: Option<Ir>,
    pub offset: Option<[Ir; 3]>,
    pub reference: Option<Ir>,
}

impl LookupEmitter<'_, '_> {
    /// Returns the operands of an instruction, from the vectors of its sources.
    pub(super) fn operands(&mut self, texture: &Texture, vectors: &[Ir]) -> Operands {
        let source = |kind: TexSrcKind| {
            let value = texture.source(kind)?;
            let before = texture.sources.iter().take(kind as usize).map(|value| value.vectors()).sum::<u32>() as usize;
            vectors.get(before..before + value.vectors() as usize)
        };
        let is_fetch = self.lookup == TextureLookup::Fetch;
        let zero = self.word(0);
        let word = |words: Option<&[Ir]>, at: usize| words.and_then(|words| words.get(at)).copied().unwrap_or(zero);
        let count = usize::from(texture.data.coord_components).min(4);
        let coordinates = source(TexSrcKind::Coord).map(|words| &words[..words.len().min(count)]);
        let mut coordinates = [0, 1, 2, 3].map(|axis| word(coordinates, axis));
        let mut reference = source(TexSrcKind::Comparator).map_or(zero, |words| word(Some(words), 0));
        if !is_fetch {
            coordinates = coordinates.map(|word| self.float(word));
        }
        reference = self.float(reference);
        if let Some(projector) = source(TexSrcKind::Projector) {
            let projector = self.float(word(Some(projector), 0));
            let layer = if self.is_array { count.checked_sub(1) } else { None };
            for (axis, coordinate) in coordinates.iter_mut().enumerate().take(count) {
                if Some(axis) != layer {
                    *coordinate = self.lanes.builder.ins().fdiv(*coordinate, projector);
                }
            }
            reference = self.lanes.builder.ins().fdiv(reference, projector);
        }
        let gradients = match [TexSrcKind::Ddx, TexSrcKind::Ddy].map(source) {
            [Some(ddx), Some(ddy)] => {
                Some([ddx, ddy].map(|words| [0, 1, 2].map(|axis| self.float(word(Some(words), axis)))))
            }
            _ => None,
        };
        let lod = source(TexSrcKind::Lod).or(source(TexSrcKind::Bias)).map(|words| word(Some(words), 0));
        let offset = source(TexSrcKind::Offset).map(|words| [0, 1, 2].map(|axis| word(Some(words), axis)));
        Operands { coordinates, gradients, lod, offset, reference: self.is_shadow.then_some(reference) }
    }
}
