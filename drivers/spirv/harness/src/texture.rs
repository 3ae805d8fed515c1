//! Texture instructions: the arithmetic of the analytic textures, in the same order.

use tgsi_environment::SamplerDim;
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::body::{Body, DEFAULT_TG4_OFFSETS, DerefKind, InstData, Shape, TexData, TexOp, TexSrcKind};
use tgsi_ir::cursor::Cursor;
use tgsi_ir::entities::{Def, Inst};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::shader::Shader;
use tgsi_ir::types::TypeData;

use crate::Replacement;
use crate::code::{Code, Frame};

/// Most steps from a pointer to its variable.
const MAX_PATH: usize = 16;

/// The unit of a pointer: a first unit, and dynamic indices with their strides.
pub(crate) struct UnitPath {
    first: u32,
    terms: Vec<(Def, u32)>,
}

/// Returns the unit of a pointer to a texture, sampler or image.
pub(crate) fn unit_path(shader: &Shader, deref: Def) -> Result<UnitPath, &'static str> {
    let body = shader.main();
    let mut path = UnitPath { first: 0, terms: Vec::new() };
    let mut current = body.def_inst(deref);
    for _ in 0..MAX_PATH {
        match *body.inst(current) {
            InstData::Deref { kind: DerefKind::Var(variable), .. } => {
                path.first = path.first.wrapping_add(shader.variables[variable].binding);
                return Ok(path);
            }
            InstData::Deref { kind: DerefKind::Array, ty, .. } => {
                let stride = match shader.types.get(ty) {
                    TypeData::Array { .. } => shader.types.array_elements(ty),
                    _ => 1,
                };
                let index = body.src(current, 1);
                match body.constant_component(index, 0) {
                    Some(index) => path.first = path.first.wrapping_add((index as u32).wrapping_mul(stride)),
                    None => path.terms.push((index, stride)),
                }
                current = body.def_inst(body.src(current, 0));
            }
            _ => break,
        }
    }
    Err("a pointer to a texture or image that does not lead to a variable")
}

/// A unit, and whether it exists.
#[derive(Clone, Copy)]
pub(crate) struct Unit {
    pub number: Def,
    pub exists: Option<Def>,
    /// The number, if it is constant.
    pub constant: Option<u32>,
}

impl Code<'_> {
    pub(crate) fn constant_unit(&mut self, unit: u32) -> Unit {
        Unit { number: self.word(unit), exists: None, constant: Some(unit) }
    }

    pub(crate) fn unit_at(&mut self, path: &UnitPath) -> Unit {
        let first = self.word(path.first);
        if path.terms.is_empty() {
            let is_before = (path.first as i32) < 0;
            let exists = is_before.then(|| self.b.constant(1, &[0]));
            return Unit { exists, ..self.constant_unit(path.first) };
        }
        let mut sum = first;
        for &(index, stride) in &path.terms {
            let term = if stride == 1 { index } else { self.mul_word(index, stride) };
            sum = self.add(sum, term);
        }
        // Negative units do not exist.
        let zero = self.word(0);
        let exists = self.op2(AluOp::Ige, sum, zero);
        Unit { number: sum, exists: Some(exists), constant: None }
    }

    /// Returns the unit of the quad's first active lane, for all its lanes.
    fn of_first_lane(&mut self, unit: Unit) -> Unit {
        if unit.constant.is_some() {
            return unit;
        }
        let shape = self.b.body.shape(unit.number);
        let number = self.b.intrinsic_def(IntrinsicOp::ReadFirstInvocation, &[unit.number], &[], shape);
        let zero = self.word(0);
        let exists = unit.exists.map(|_| self.op2(AluOp::Ige, number, zero));
        Unit { number, exists, constant: None }
    }

    pub(crate) fn unit_of_handle(&mut self, handle: Def) -> Unit {
        let low = self.b.channel(handle, 0);
        let number = match self.b.body.bit_size(handle) {
            64 => self.op1(AluOp::Unpack642x32SplitX, low),
            32 => low,
            _ => self.op1(AluOp::U2u32, low),
        };
        Unit { number, exists: None, constant: None }
    }

    /// Returns a component as a 32-bit float.
    fn float(&mut self, value: Def, component: u8) -> Option<Def> {
        if component >= self.b.body.num_components(value) {
            return None;
        }
        let channel = self.b.channel(value, component);
        Some(if self.b.body.bit_size(value) == 32 { channel } else { self.op1(AluOp::F2f32, channel) })
    }

    /// Returns a component as a 32-bit integer.
    fn integer(&mut self, value: Def, component: u8) -> Option<Def> {
        if component >= self.b.body.num_components(value) {
            return None;
        }
        let channel = self.b.channel(value, component);
        Some(if self.b.body.bit_size(value) == 32 { channel } else { self.op1(AluOp::I2i32, channel) })
    }

    fn scaled(&mut self, factor: f32, value: Def) -> Def {
        let factor = self.b.f32_const(factor);
        self.op2(AluOp::Fmul, factor, value)
    }

    /// Emits `sum + factor * value`; a missing value counts as 0.
    fn plus(&mut self, sum: Def, factor: f32, value: Option<Def>) -> Def {
        let Some(value) = value else { return sum };
        let product = self.scaled(factor, value);
        self.op2(AluOp::Fadd, sum, product)
    }

    /// Emits the size of a texture or image at a level.
    pub(crate) fn analytic_size(&mut self, unit: Unit, level: Option<Def>) -> [Def; 3] {
        let four = self.word(4);
        let layers = self.add(four, unit.number);
        let (width, height) = (self.word(64), self.word(32));
        let Some(level) = level else { return [width, height, layers] };
        let seven = self.word(7);
        let shift = self.op2(AluOp::Iand, level, seven);
        let (width, height) = (self.op2(AluOp::Ushr, width, shift), self.op2(AluOp::Ushr, height, shift));
        [width, height, layers]
    }
}

/// The operands of a lookup. Missing ones count as 0.
#[derive(Clone, Copy)]
struct Request {
    op: TexOp,
    coordinates: [Option<Def>; 4],
    comparator: Option<Def>,
    level: Option<Def>,
    offsets: [Option<Def>; 3],
    unit: Unit,
}

/// Replaces a texture instruction.
pub(crate) fn lift(shader: &mut Shader, frame: &Frame, inst: Inst) -> Result<(), &'static str> {
    let body = shader.main();
    let Some(&data) = body.tex(inst) else { return Ok(()) };
    let source = |kind| body.tex_src(inst, kind).map(|source| body.src_def(source));
    if [TexSrcKind::TextureDerefIntrinsic, TexSrcKind::SamplerDerefIntrinsic, TexSrcKind::Plane]
        .into_iter()
        .any(|kind| source(kind).is_some())
    {
        return Err(data.op.name());
    }
    let path = |kind| source(kind).map(|deref| unit_path(shader, deref)).transpose();
    let (texture, sampler) = (path(TexSrcKind::TextureDeref)?, path(TexSrcKind::SamplerDeref)?);
    let handle = source(TexSrcKind::TextureHandle);
    let offset = source(TexSrcKind::TextureOffset);
    let body = shader.main_mut();
    let mut code = Code::new(body, Cursor::Before(inst), frame);
    let code = &mut code;
    let mut unit = match (&texture, handle) {
        (Some(path), _) => code.unit_at(path),
        (None, Some(handle)) => code.unit_of_handle(handle),
        (None, None) => code.constant_unit(data.texture_index),
    };
    if let Some(offset) = offset {
        unit = Unit { number: code.add(unit.number, offset), constant: None, ..unit };
    }
    let unit = code.of_first_lane(unit);
    let sampler = match sampler {
        Some(path) if data.op.needs_sampler() => {
            let sampler = code.unit_at(&path);
            code.of_first_lane(sampler).exists
        }
        _ => None,
    };
    let exists = match (unit.exists, sampler) {
        (Some(unit), Some(sampler)) => Some(code.op2(AluOp::Iand, unit, sampler)),
        (unit, sampler) => unit.or(sampler),
    };
    let words = match data.op {
        TexOp::Txs => {
            let level = tex_source(code.b.body, inst, TexSrcKind::Lod);
            code.analytic_size(unit, level).to_vec()
        }
        TexOp::QueryLevels => vec![code.word(7)],
        TexOp::TextureSamples => vec![code.word(4)],
        TexOp::SamplesIdentical => vec![code.word(0)],
        _ => look_up(code, inst, &data, unit),
    };
    let value = result(code, inst, &data, &words, exists);
    if let Some(def) = body.inst_def(inst) {
        body.replace_all_uses(def, value);
    }
    body.remove_inst(inst);
    Ok(())
}

fn tex_source(body: &Body, inst: Inst, kind: TexSrcKind) -> Option<Def> {
    body.tex_src(inst, kind).map(|source| body.src_def(source))
}

/// Builds the value of the instruction from words; zeros if the texture does not exist.
fn result(code: &mut Code<'_>, inst: Inst, data: &TexData, words: &[Def], exists: Option<Def>) -> Def {
    let shape = code.b.body.inst_def(inst).map_or(Shape::new(4, 32), |def| code.b.body.shape(def));
    let zero = code.word(0);
    let count = usize::from(shape.num_components);
    let components: Vec<Def> = (0..count)
        .map(|component| {
            let resident = data.is_sparse && component + 1 == count;
            let word = if resident { code.word(1) } else { words.get(component).copied().unwrap_or(zero) };
            let word = code.select_if(exists, word, zero);
            match (data.dest_type.base, shape.bit_size) {
                (BaseType::Float, 16) => code.op1(AluOp::F2f16, word),
                (BaseType::Float, 64) => code.op1(AluOp::F2f64, word),
                (BaseType::Int, 64) => code.op1(AluOp::I2i64, word),
                (_, 64) => code.op1(AluOp::U2u64, word),
                (_, bits) => code.resize(word, bits),
            }
        })
        .collect();
    code.b.vec_of(&components)
}

/// Emits the words of a lookup.
fn look_up(code: &mut Code<'_>, inst: Inst, data: &TexData, unit: Unit) -> Vec<Def> {
    let source = |code: &Code<'_>, kind| tex_source(code.b.body, inst, kind);
    let fetch = matches!(data.op, TexOp::Txf | TexOp::TxfMs | TexOp::TxfMsFb);
    let mut request =
        Request { op: data.op, coordinates: [None; 4], comparator: None, level: None, offsets: [None; 3], unit };
    let count = data.coord_components.min(4);
    if let Some(value) = source(code, TexSrcKind::Coord) {
        for component in 0..count {
            let word = if fetch { code.integer(value, component) } else { code.float(value, component) };
            request.coordinates[usize::from(component)] = word;
        }
    }
    request.comparator = source(code, TexSrcKind::Comparator).and_then(|value| code.float(value, 0));
    if let Some(projector) = source(code, TexSrcKind::Projector).and_then(|value| code.float(value, 0)) {
        let layer = if data.is_array { usize::from(count).checked_sub(1) } else { None };
        for component in (0..usize::from(count)).filter(|&component| Some(component) != layer) {
            let zero = code.word(0);
            let value = request.coordinates[component].unwrap_or(zero);
            request.coordinates[component] = Some(code.op2(AluOp::Fdiv, value, projector));
        }
        request.comparator = request.comparator.map(|value| code.op2(AluOp::Fdiv, value, projector));
    }
    request.level = match data.op {
        TexOp::Txf => source(code, TexSrcKind::Lod).and_then(|value| code.integer(value, 0)),
        TexOp::TxfMs | TexOp::TxfMsFb => source(code, TexSrcKind::MsIndex).and_then(|value| code.integer(value, 0)),
        _ => source(code, TexSrcKind::Lod).or(source(code, TexSrcKind::Bias)).and_then(|value| code.float(value, 0)),
    };
    if let Some(value) = source(code, TexSrcKind::Offset) {
        for component in 0..3u8 {
            request.offsets[usize::from(component)] = code.integer(value, component);
        }
    }
    if let Some(minimum) = source(code, TexSrcKind::MinLod).and_then(|value| code.float(value, 0)) {
        clamp_level(code, data, &mut request, minimum);
    }
    if data.op == TexOp::Tg4 && data.tg4_offsets != DEFAULT_TG4_OFFSETS {
        let texel = |code: &mut Code<'_>, [x, y]: [i8; 2]| {
            let offset = |code: &mut Code<'_>, offset: i8| Some(code.b.i32_const(offset.into()));
            let offsets = [offset(code, x), offset(code, y), None];
            sample(code, data, &Request { offsets, ..request })[3]
        };
        return data.tg4_offsets.map(|offset| texel(code, offset)).to_vec();
    }
    sample(code, data, &request).to_vec()
}

/// Clamps the level of a lookup to a minimum: queries the level, and uses it explicitly.
fn clamp_level(code: &mut Code<'_>, data: &TexData, request: &mut Request, minimum: Def) {
    let zero = code.b.f32_const(0.0);
    let bias = request.level.unwrap_or(zero);
    let level = match data.op {
        TexOp::Txl => bias,
        TexOp::Tex | TexOp::TexPrefetch | TexOp::Txb | TexOp::Txd => {
            let level = sample(code, data, &Request { op: TexOp::Lod, ..*request })[1];
            code.op2(AluOp::Fadd, level, bias)
        }
        _ => return,
    };
    request.op = TexOp::Txl;
    request.level = Some(code.op2(AluOp::Fmax, level, minimum));
}

/// Emits the linear analytic texture, as `analytic_sample` of the interpreter's environment computes it.
fn sample(code: &mut Code<'_>, data: &TexData, request: &Request) -> [Def; 4] {
    let words = raw_sample(code, data, request);
    words.map(|word| {
        let (is_nan, nan) = (code.op2(AluOp::Fneu, word, word), code.word(f32::NAN.to_bits()));
        code.select(is_nan, nan, word)
    })
}

fn raw_sample(code: &mut Code<'_>, data: &TexData, request: &Request) -> [Def; 4] {
    let fetch = matches!(request.op, TexOp::Txf | TexOp::TxfMs | TexOp::TxfMsFb);
    // Offsets have eight significant bits.
    let offsets = request.offsets.map(|offset| {
        offset.map(|offset| {
            let shift = code.word(24);
            let high = code.op2(AluOp::Ishl, offset, shift);
            code.op2(AluOp::Ishr, high, shift)
        })
    });
    let mut arguments: [Option<Def>; 5] = [None; 5];
    for (component, &coordinate) in request.coordinates.iter().enumerate() {
        let offset = offsets.get(component).copied().flatten();
        arguments[component] = match (fetch, coordinate, offset) {
            (true, Some(coordinate), Some(offset)) => Some(code.add(coordinate, offset)),
            (true, coordinate, offset) => coordinate.or(offset),
            (false, coordinate, Some(offset)) => {
                let offset = code.op1(AluOp::I2f32, offset);
                let zero = code.b.f32_const(0.0);
                Some(code.plus(coordinate.unwrap_or(zero), 0.125, Some(offset)))
            }
            (false, coordinate, None) => coordinate,
        };
    }
    if fetch {
        for argument in arguments.iter_mut().flatten() {
            *argument = code.op1(AluOp::I2f32, *argument);
        }
    } else if data.is_shadow {
        let position = match (data.dim, data.is_array) {
            (SamplerDim::Cube, true) => 4,
            (SamplerDim::Cube, false) | (SamplerDim::Dim2D, true) => 3,
            _ => 2,
        };
        // The offset is added to the reference value as if it were a coordinate.
        arguments[position] = match (position, request.comparator, offsets.get(position).copied().flatten()) {
            (2, comparator, Some(offset)) => {
                let (offset, zero) = (code.op1(AluOp::I2f32, offset), code.b.f32_const(0.0));
                Some(code.plus(comparator.unwrap_or(zero), 0.125, Some(offset)))
            }
            (_, comparator, _) => comparator,
        };
    }
    let [s, t, r, c0, _] = arguments;
    let level = match request.op {
        TexOp::Txb | TexOp::Txl => request.level,
        _ if fetch => request.level.map(|level| code.op1(AluOp::I2f32, level)),
        _ => None,
    };
    let zero = code.b.f32_const(0.0);
    if request.op == TexOp::Lod {
        let t = if data.is_array && data.dim == SamplerDim::Dim1D { None } else { t };
        let query = |code: &mut Code<'_>, factor: f32, value: Option<Def>, sum: f32| {
            let sum = code.b.f32_const(sum);
            match value {
                Some(value) => {
                    let product = code.scaled(factor, value);
                    code.op2(AluOp::Fadd, product, sum)
                }
                None => sum,
            }
        };
        return [query(code, 0.5, s, 1.0), query(code, 0.25, t, 2.0), zero, zero];
    }
    let (seven, one) = (code.word(7), code.word(1));
    let unit = code.op2(AluOp::Iand, request.unit.number, seven);
    let unit = code.add(one, unit);
    let unit = code.op1(AluOp::U2f32, unit);
    let k = code.scaled(0.0625, unit);
    let linear = |code: &mut Code<'_>, factors: [f32; 3]| {
        [s, t, r].into_iter().zip(factors).fold(k, |sum, (value, factor)| code.plus(sum, factor, value))
    };
    let x = linear(code, [0.5, 0.25, 0.125]);
    let y = linear(code, [0.25, 0.5, -0.125]);
    let z = linear(code, [-0.125, 0.25, 0.5]);
    let sum = [s, t, r].into_iter().flatten().reduce(|a, b| code.op2(AluOp::Fadd, a, b));
    let w = code.plus(k, 0.125, sum);
    let w = code.plus(w, 0.25, level);
    let w = if fetch { w } else { code.plus(w, 0.0625, c0) };
    [x, y, z, w]
}

impl Replacement<'_> {
    /// Replaces operations on handles, which are numbers of units; residency queries; the scale of rectangles.
    pub(crate) fn lift_resource(&mut self) -> Result<(), &'static str> {
        let (op, shape) = (self.op, self.shape());
        let sources: Vec<Def> =
            (0..self.shader.main().num_sources(self.inst)).map(|number| self.source(number)).collect();
        let binding = self.shader.main();
        let has_binding = op.info().index_slot(IndexKind::Binding).is_some();
        let binding = if has_binding { binding.index(self.inst, IndexKind::Binding) as u32 } else { 0 };
        let mut code = self.code();
        let value = match op {
            IntrinsicOp::VulkanResourceIndex => {
                let index = code.b.channel(sources[0], 0);
                let unit = code.add_word(index, binding);
                code.padded(unit, shape)
            }
            IntrinsicOp::LoadVulkanDescriptor => {
                let unit = code.b.channel(sources[0], 0);
                code.padded(unit, shape)
            }
            IntrinsicOp::IsSparseTexelsResident => {
                let word = code.b.channel(sources[0], 0);
                let zero = code.b.constant(code.b.body.bit_size(word), &[0]);
                let resident = code.op2(AluOp::Ine, word, zero);
                if shape.bit_size == 1 { resident } else { code.op1(AluOp::B2b32, resident) }
            }
            IntrinsicOp::SparseResidencyCodeAnd => code.op2(AluOp::Iand, sources[0], sources[1]),
            IntrinsicOp::LoadTextureScale => {
                let unit = code.of_first_lane(Unit { number: sources[0], exists: None, constant: None });
                let size = code.analytic_size(unit, None);
                let components: Vec<Def> = size[..usize::from(shape.num_components.min(3))]
                    .iter()
                    .map(|&size| {
                        let (one, size) = (code.b.f32_const(1.0), code.op1(AluOp::U2f32, size));
                        code.op2(AluOp::Fdiv, one, size)
                    })
                    .collect();
                code.b.vec_of(&components)
            }
            op => return Err(op.name()),
        };
        self.replace(value);
        Ok(())
    }
}

impl Code<'_> {
    /// Extends a number to a shape: in the first component, or the low half.
    fn padded(&mut self, number: Def, shape: Shape) -> Def {
        let bits = self.b.body.bit_size(number);
        let number = match (bits, shape.bit_size) {
            (from, to) if from == to => number,
            (_, 64) => self.op1(AluOp::U2u64, number),
            _ => self.op1(AluOp::U2u32, number),
        };
        let zero = self.b.constant(shape.bit_size, &[0]);
        let components: Vec<Def> =
            (0..shape.num_components).map(|component| if component == 0 { number } else { zero }).collect();
        self.b.vec_of(&components)
    }
}
