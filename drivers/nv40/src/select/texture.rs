//! Lookups and derivatives.
//!
//! The chip reads the coordinates, and the reference value of a comparison after them, from one vector; the divisor of
//! a projection is w of it. If the parts are components of one register, a swizzle selects them.

use tgsi_environment::SamplerDim;
use tgsi_ir::Inst;
use tgsi_ir::body::{TexData, TexOp, TexSrcKind};
use tgsi_ir::variable::VariableData;
use tgsi_ir::{InstData, ShaderStage};
use tgsi_vec4::simple::{Destination, File, Source};

use super::Selector;
use super::operands::{composed, lane};
use crate::Nv40Error;
use crate::isa::Chip;
use crate::machine::{Code, Lookup, Sample};
use crate::program::{Texture, TextureKind};

/// The parts of a vector: for each component the operand, in x.
type Parts = [Option<Source>; 4];

impl Selector<'_> {
    pub(super) fn select_texture(&mut self, inst: Inst) -> Result<(), Nv40Error> {
        let body = self.body;
        let (Some(&data), Some(def)) = (body.tex(inst), body.inst_def(inst)) else { return Ok(()) };
        if !matches!(data.op, TexOp::Tex | TexOp::Txb | TexOp::Txl | TexOp::Txd) {
            return Err(self.lacks(inst, &format!("form of `{}`", data.op.name())));
        }
        let kind = self.texture_kind(inst, &data)?;
        let unit = self.texture_unit(inst, &data)?;
        let unsupported = [TexSrcKind::Offset, TexSrcKind::MinLod, TexSrcKind::TextureOffset, TexSrcKind::MsIndex];
        if data.is_sparse || unsupported.iter().any(|&kind| body.tex_src(inst, kind).is_some()) {
            return Err(self.lacks(inst, "offsets of coordinates, minimum levels and arrays of textures"));
        }
        let mut parts: Parts = [None; 4];
        let coordinate =
            self.tex_operand(inst, TexSrcKind::Coord).ok_or_else(|| self.lacks(inst, "lookup without coordinates"))?;
        for (part, c) in parts.iter_mut().zip(0..data.coord_components) {
            *part = Some(lane(coordinate, c));
        }
        let comparator = self.tex_operand(inst, TexSrcKind::Comparator);
        if let Some(comparator) = comparator {
            if matches!(kind, TextureKind::Cube | TextureKind::D3) {
                return Err(self.lacks(inst, "comparison of samples of cubes"));
            }
            parts[2] = Some(lane(comparator, 0));
        }
        let projector = self.tex_operand(inst, TexSrcKind::Projector);
        if let Some(projector) = projector {
            parts[3] = Some(lane(projector, 0));
        }
        let bias = self.tex_operand(inst, TexSrcKind::Bias).map(|bias| lane(bias, 0));
        let level = self.tex_operand(inst, TexSrcKind::Lod).map(|level| lane(level, 0));
        let is_vertex = self.shader.stage == ShaderStage::Vertex;
        let has_levels = self.options.chip != Chip::Nv30;
        let lookup = match data.op {
            TexOp::Tex if projector.is_some() => Lookup::Txp,
            TexOp::Tex if is_vertex => Lookup::Txl,
            TexOp::Tex => Lookup::Tex,
            TexOp::Txb if !is_vertex => Lookup::Txb,
            TexOp::Txl if has_levels => Lookup::Txl,
            TexOp::Txd if has_levels && !is_vertex => Lookup::Txd,
            op => return Err(self.lacks(inst, &format!("form of `{}` in these programs", op.name()))),
        };
        if is_vertex && (projector.is_some() || comparator.is_some() || !has_levels || unit > 3) {
            return Err(self.lacks(inst, "lookup of this kind in vertex programs"));
        }
        let mut sources = [None; 3];
        if lookup != Lookup::Txp && projector.is_some() {
            return Err(self.lacks(inst, "projection with a level or derivatives"));
        }
        if is_vertex {
            parts[3] = Some(match level {
                Some(level) => level,
                None => self.float(0.0),
            });
        }
        sources[0] = Some(self.packed(&parts));
        match lookup {
            Lookup::Txb | Lookup::Txl if !is_vertex => {
                let Some(level) = bias.or(level) else { return Err(self.lacks(inst, "lookup without a level")) };
                sources[1] = Some(self.in_register(level));
            }
            Lookup::Txd => {
                for (number, kind) in [(1, TexSrcKind::Ddx), (2, TexSrcKind::Ddy)] {
                    let Some(operand) = self.tex_operand(inst, kind) else {
                        return Err(self.lacks(inst, "lookup without derivatives"));
                    };
                    sources[number] = Some(self.in_register(operand));
                }
            }
            _ => {}
        }
        let is_shadow = comparator.is_some();
        let texture = Texture { unit, kind, is_shadow };
        if !self.textures.iter().any(|known| known.unit == unit) {
            self.textures.push(texture);
        }
        let mut target = self.target(def);
        target.to.mask &= 15;
        let op = Code::Sample(Sample { lookup, unit, kind, is_shadow });
        let mut instruction = tgsi_vec4::simple::Instruction::new(op.into(), Some(target.to), []);
        instruction.sources.extend(sources.into_iter().flatten());
        self.push(instruction);
        Ok(())
    }

    fn texture_kind(&self, inst: Inst, data: &TexData) -> Result<TextureKind, Nv40Error> {
        if data.is_array {
            return Err(self.lacks(inst, "array textures"));
        }
        match data.dim {
            SamplerDim::Dim1D => Ok(TextureKind::D1),
            SamplerDim::Dim2D | SamplerDim::External => Ok(TextureKind::D2),
            SamplerDim::Dim3D => Ok(TextureKind::D3),
            SamplerDim::Cube => Ok(TextureKind::Cube),
            SamplerDim::Rect => Ok(TextureKind::Rect),
            _ => Err(self.lacks(inst, "textures of this dimension")),
        }
    }

    /// The number of the texture unit.
    fn texture_unit(&self, inst: Inst, data: &TexData) -> Result<u8, Nv40Error> {
        let body = self.body;
        let unit = match body.tex_src(inst, TexSrcKind::TextureDeref) {
            None => data.texture_index,
            Some(source) => {
                let deref = body.def_inst(body.src_def(source));
                let InstData::Deref { kind: tgsi_ir::body::DerefKind::Var(variable), .. } = *body.inst(deref) else {
                    return Err(self.lacks(inst, "run-time index of textures"));
                };
                let VariableData { binding, .. } = self.shader.variables[variable];
                binding
            }
        };
        let limits = self.options.chip.limits();
        let is_vertex = self.shader.stage == ShaderStage::Vertex;
        let limit = if is_vertex { limits.vertex.textures } else { limits.fragment.textures };
        u8::try_from(unit)
            .ok()
            .filter(|&unit| unit < limit)
            .ok_or_else(|| self.lacks(inst, &format!("texture unit {unit}")))
    }

    /// A vector of parts: an operand if they are components of one register.
    fn packed(&mut self, parts: &Parts) -> Source {
        let mut known = parts.iter().flatten();
        let Some(&first) = known.next() else { return self.float(0.0) };
        let is_register = matches!(first.file, File::Temporary | File::Input);
        if is_register && known.all(|part| part.is_same_register(&first)) {
            let selector = |part: &Option<Source>| part.map_or(first.swizzle[0], |part| part.swizzle[0]);
            return first.swizzled([0, 1, 2, 3].map(|c: usize| selector(&parts[c])));
        }
        let temp = self.new_temp();
        let key = |c: u8| parts[usize::from(c)].map(|part| Source { swizzle: [0; 4], ..part });
        for (mask, part) in Self::groups(15, key) {
            let Some(part) = part else { continue };
            let first = (0..4).find(|c| mask >> c & 1 != 0).unwrap_or(0);
            let lane_of = |c: usize| parts[c].map_or(0, |part| part.swizzle[0]);
            let swizzle = [0, 1, 2, 3].map(|c: usize| lane_of(if mask >> c & 1 != 0 { c } else { first }));
            self.emit(Code::Mov, Destination::new(File::Temporary, temp.index, mask), [part.swizzled(swizzle)]);
        }
        temp
    }

    /// The operand in a register that lookups can read.
    fn in_register(&mut self, source: Source) -> Source {
        if matches!(source.file, File::Temporary) {
            return source;
        }
        self.computed(Code::Mov, 15, [source])
    }

    /// Derivatives, of which the chip computes x and y.
    pub(super) fn select_derivative(&mut self, inst: Inst, code: Code) -> Result<(), Nv40Error> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let source = self.source_of(body.source(inst, 0));
        let target = self.target(def);
        let mask = target.mask();
        let (to, after) = if mask & 0b1100 != 0 { self.apart(target, &[source]) } else { (target, None) };
        if mask & 0b0011 != 0 {
            self.emit_to(code, to.masked(mask & 0b0011), [source]);
        }
        if mask & 0b1100 != 0 {
            let high = self.computed(code, mask >> 2, [composed(source, [2, 3, 2, 3])]);
            self.emit_to(Code::Mov, to.masked(mask & 0b1100), [high.swizzled([0, 1, 0, 1])]);
        }
        self.deliver(to, after);
        Ok(())
    }
}
