//! Texture and image instructions, through [`Resources`](tgsi_ir::run::Resources): lookups quad by quad, images lane by
//! lane.

use tgsi_ir::alu::{AluOp, BaseType, ExecutionMode, evaluate};
use tgsi_ir::body::{DEFAULT_TG4_OFFSETS, TexData, TexOp, TexSrcKind};
use tgsi_ir::intrinsics::indices::SamplerDim;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::run::{ImageTexel, TextureLookup, TextureRequest, TextureSize};

use super::Run;
use super::memory::{atomic_op, atomic_result};
use crate::program::{Intrinsic, NULL, Texture, Value};

/// Image intrinsics by how they name the image, and what they do.
#[derive(Clone, Copy, Debug)]
pub(super) struct ImageAccess {
    /// Naming of the image.
    naming: ImageNaming,
    /// Action on it.
    action: ImageAction,
}

/// The way in which an image intrinsic names its image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ImageNaming {
    Deref,
    Index,
    Handle,
}

/// The action of an image intrinsic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ImageAction {
    Load,
    SparseLoad,
    Store,
    Atomic,
    AtomicSwap,
    Size,
    Levels,
    Samples,
}

impl ImageAccess {
    /// Takes an image intrinsic apart; none if it is another one, or one without counterpart in the environment.
    pub(super) fn new(op: IntrinsicOp) -> Option<ImageAccess> {
        use ImageAction::*;
        use ImageNaming::*;
        use IntrinsicOp as I;
        let (naming, action) = match op {
            I::ImageDerefLoad => (Deref, Load),
            I::ImageLoad => (Index, Load),
            I::BindlessImageLoad => (Handle, Load),
            I::ImageDerefSparseLoad => (Deref, SparseLoad),
            I::ImageSparseLoad => (Index, SparseLoad),
            I::BindlessImageSparseLoad => (Handle, SparseLoad),
            I::ImageDerefStore => (Deref, Store),
            I::ImageStore => (Index, Store),
            I::BindlessImageStore => (Handle, Store),
            I::ImageDerefAtomic => (Deref, Atomic),
            I::ImageAtomic => (Index, Atomic),
            I::BindlessImageAtomic => (Handle, Atomic),
            I::ImageDerefAtomicSwap => (Deref, AtomicSwap),
            I::ImageAtomicSwap => (Index, AtomicSwap),
            I::BindlessImageAtomicSwap => (Handle, AtomicSwap),
            I::ImageDerefSize => (Deref, Size),
            I::ImageSize => (Index, Size),
            I::BindlessImageSize => (Handle, Size),
            I::ImageDerefLevels => (Deref, Levels),
            I::ImageLevels => (Index, Levels),
            I::BindlessImageLevels => (Handle, Levels),
            I::ImageDerefSamples => (Deref, Samples),
            I::ImageSamples => (Index, Samples),
            I::BindlessImageSamples => (Handle, Samples),
            _ => return None,
        };
        Some(ImageAccess { naming, action })
    }
}

impl Run<'_> {
    /// Executes a texture instruction.
    pub(super) fn run_texture(&mut self, number: u32) {
        let program = self.program;
        let texture = &program.textures[number as usize];
        for quad in (0..self.block.lanes).step_by(4) {
            let leader = self.block.leader(quad);
            if self.block.active[leader] == 0 {
                continue;
            }
            let kinds = [TexSrcKind::TextureDeref, TexSrcKind::TextureHandle, TexSrcKind::TextureOffset];
            let unit = self.unit(texture, kinds, texture.data.texture_index, leader);
            let kinds = [TexSrcKind::SamplerDeref, TexSrcKind::SamplerHandle, TexSrcKind::SamplerOffset];
            let sampler = self.unit(texture, kinds, texture.data.sampler_index, leader);
            // A pointer beyond the end of an array of textures or samplers: all zero.
            let (Some(unit), true) = (unit, sampler.is_some() || !texture.data.op.needs_sampler()) else {
                self.set_quad(texture, quad, &[[0; 4]; 5]);
                continue;
            };
            match lookup_of(&texture.data) {
                Some(lookup) => {
                    let words = self.look_up(texture, lookup, quad, unit, sampler.unwrap_or(0));
                    self.set_quad(texture, quad, &words);
                }
                None => self.query(texture, quad, unit),
            }
        }
    }

    /// The unit that deref, handle or index name; none for a pointer that points nowhere.
    fn unit(&mut self, texture: &Texture, kinds: [TexSrcKind; 3], index: u32, lane: usize) -> Option<u32> {
        let [deref, handle, offset] = kinds;
        let unit = if let Some(deref) = texture.source(deref) {
            let unit = self.block.get(deref, 0, lane) as u32;
            if unit == NULL {
                return None;
            }
            unit
        } else if let Some(handle) = texture.source(handle) {
            self.unit_of_handle(handle, lane)
        } else {
            index
        };
        let offset = texture.source(offset).map_or(0, |value| self.block.get(value, 0, lane) as u32);
        Some(unit.wrapping_add(offset))
    }

    /// The unit of a bindless handle: 64 bits, or fewer, or two words.
    fn unit_of_handle(&mut self, handle: Value, lane: usize) -> u32 {
        let mut bits = self.block.get(handle, 0, lane);
        if handle.bits == 32 && handle.components == 2 {
            bits |= self.block.get(handle, 1, lane) << 32;
        }
        self.resources.unit_of_handle(bits)
    }

    /// Puts words, `[component][lane]`, into the result of the active lanes of a quad.
    fn set_quad(&mut self, texture: &Texture, quad: usize, words: &[[u32; 4]; 5]) {
        let dest = texture.dest;
        let float = texture.data.dest_type.base == BaseType::Float;
        for lane in quad..(quad + 4).min(self.block.lanes) {
            if self.block.active[lane] == 0 {
                continue;
            }
            for (component, words) in words.iter().enumerate().take(dest.components.into()) {
                let word = words[lane - quad];
                let bits = match (float, dest.bits) {
                    (true, 16 | 64) => {
                        let mut result = [0];
                        let op = if dest.bits == 16 { AluOp::F2f16 } else { AluOp::F2f64 };
                        evaluate(op, 32, 1, &[&[word.into()]], ExecutionMode::DEFAULT, &mut result);
                        result[0]
                    }
                    (false, 64) if texture.data.dest_type.base == BaseType::Int => i64::from(word as i32) as u64,
                    _ => word.into(),
                };
                self.block.set(dest, component, lane, bits);
            }
        }
    }

    /// Words of a component for the lanes of a quad, floats as 32-bit floats.
    fn float_words(&self, value: Value, component: usize, quad: usize) -> [u32; 4] {
        std::array::from_fn(|lane| self.block.float_word(value, component, quad + lane))
    }

    fn integer_words(&self, value: Value, component: usize, quad: usize) -> [u32; 4] {
        std::array::from_fn(|lane| self.block.get_signed(value, component, quad + lane) as u32)
    }

    fn look_up(
        &mut self,
        texture: &Texture,
        lookup: TextureLookup,
        quad: usize,
        unit: u32,
        sampler: u32,
    ) -> [[u32; 4]; 5] {
        let data = &texture.data;
        let fetch = lookup == TextureLookup::Fetch;
        let mut request = TextureRequest {
            texture: unit,
            sampler,
            lookup,
            dim: data.dim,
            is_array: data.is_array,
            is_shadow: data.is_shadow,
            coordinate: [[0; 4]; 4],
            comparator: [0; 4],
            lod: [0; 4],
            ddx: [[0; 4]; 3],
            ddy: [[0; 4]; 3],
            offset: [[0; 4]; 3],
            gather_offsets: None,
        };
        let coordinates = usize::from(data.coord_components).min(4);
        if let Some(value) = texture.source(TexSrcKind::Coord) {
            for component in 0..coordinates {
                request.coordinate[component] = if fetch {
                    self.integer_words(value, component, quad)
                } else {
                    self.float_words(value, component, quad)
                };
            }
        }
        if let Some(value) = texture.source(TexSrcKind::Comparator) {
            request.comparator = self.float_words(value, 0, quad);
        }
        if let Some(value) = texture.source(TexSrcKind::Projector) {
            let projector = self.float_words(value, 0, quad).map(f32::from_bits);
            let layer = if data.is_array { coordinates.checked_sub(1) } else { None };
            let divided = (0..coordinates).filter(|&component| Some(component) != layer);
            for component in divided {
                request.coordinate[component] = divide(request.coordinate[component], projector);
            }
            request.comparator = divide(request.comparator, projector);
        }
        let lod = match data.op {
            TexOp::Txf => texture.source(TexSrcKind::Lod).map(|value| self.integer_words(value, 0, quad)),
            TexOp::TxfMs | TexOp::TxfMsFb => {
                texture.source(TexSrcKind::MsIndex).map(|value| self.integer_words(value, 0, quad))
            }
            _ => texture
                .source(TexSrcKind::Lod)
                .or(texture.source(TexSrcKind::Bias))
                .map(|value| self.float_words(value, 0, quad)),
        };
        request.lod = lod.unwrap_or([0; 4]);
        for (kind, gradient) in [(TexSrcKind::Ddx, &mut request.ddx), (TexSrcKind::Ddy, &mut request.ddy)] {
            if let Some(value) = texture.source(kind) {
                for (component, words) in gradient.iter_mut().enumerate() {
                    *words = self.float_words(value, component, quad);
                }
            }
        }
        if let Some(value) = texture.source(TexSrcKind::Offset) {
            for (component, offset) in request.offset.iter_mut().enumerate() {
                *offset = self.integer_words(value, component, quad).map(|word| word as i32);
            }
        }
        if let Some(value) = texture.source(TexSrcKind::MinLod) {
            self.clamp_lod(&mut request, value, quad);
        }
        if data.op == TexOp::Tg4 && data.tg4_offsets != DEFAULT_TG4_OFFSETS {
            request.gather_offsets = Some(data.tg4_offsets.map(|texel| texel.map(|offset| [offset.into(); 4])));
        }
        let mut words = [[0; 4]; 5];
        words[..4].copy_from_slice(&self.resources.texture(&request));
        if data.is_sparse {
            // Everything is resident.
            words[usize::from(texture.dest.components).clamp(1, 5) - 1] = [1; 4];
        }
        words
    }

    /// Raises the level of a lookup to a minimum: the level is asked for, and used explicitly.
    fn clamp_lod(&mut self, request: &mut TextureRequest, minimum: Value, quad: usize) {
        let minimum = self.float_words(minimum, 0, quad).map(f32::from_bits);
        let bias = request.lod.map(f32::from_bits);
        let level = match request.lookup {
            TextureLookup::Explicit => bias,
            TextureLookup::Implicit | TextureLookup::Bias | TextureLookup::Gradient => {
                let query = TextureRequest { lookup: TextureLookup::QueryLod, ..request.clone() };
                let levels = self.resources.texture(&query)[1].map(f32::from_bits);
                std::array::from_fn(|lane| levels[lane] + bias[lane])
            }
            _ => return,
        };
        request.lookup = TextureLookup::Explicit;
        request.lod = std::array::from_fn(|lane| level[lane].max(minimum[lane]).to_bits());
    }

    fn query(&mut self, texture: &Texture, quad: usize, unit: u32) {
        let data = &texture.data;
        let mut words = [[0; 4]; 5];
        let lod = texture.source(TexSrcKind::Lod);
        for lane in 0..4usize {
            if self.block.active.get(quad + lane).is_none_or(|&mask| mask == 0) {
                continue;
            }
            let level = lod.map_or(0, |value| self.block.get(value, 0, quad + lane) as u32);
            let size = self.resources.texture_size(unit, level, data.dim, data.is_array);
            match data.op {
                TexOp::Txs => {
                    for (words, &size) in words.iter_mut().zip(&size.size) {
                        words[lane] = size;
                    }
                }
                TexOp::QueryLevels => words[0][lane] = size.levels,
                TexOp::TextureSamples => words[0][lane] = size.samples,
                // That samples are identical may always be denied.
                _ => {}
            }
        }
        self.set_quad(texture, quad, &words);
    }

    // ---- images

    /// Executes an image intrinsic.
    pub(super) fn run_image(&mut self, intrinsic: &Intrinsic, plan: ImageAccess) {
        let sources = intrinsic.sources();
        let dim = SamplerDim::from_i32(intrinsic.index(IndexKind::ImageDim)).unwrap_or(SamplerDim::Dim2D);
        let is_array = intrinsic.index(IndexKind::ImageArray) != 0;
        let dest = intrinsic.dest;
        self.each_active(|run, lane| {
            let unit = match plan.naming {
                ImageNaming::Deref => Some(run.block.get(sources[0], 0, lane) as u32).filter(|&unit| unit != NULL),
                ImageNaming::Index => {
                    let index = run.block.get(sources[0], 0, lane) as u32;
                    Some(index.wrapping_add(intrinsic.index(IndexKind::RangeBase) as u32))
                }
                ImageNaming::Handle => Some(run.unit_of_handle(sources[0], lane)),
            };
            let Some(unit) = unit else {
                for component in 0..usize::from(dest.components) {
                    run.block.set(dest, component, lane, 0);
                }
                return;
            };
            match plan.action {
                ImageAction::Load | ImageAction::SparseLoad => {
                    let texel = run.texel(sources, unit, dim, is_array, lane);
                    let value = run.resources.image_load(texel);
                    for component in 0..usize::from(dest.components) {
                        run.block.set(dest, component, lane, value.get(component).map_or(1, |&word| word.into()));
                    }
                    if plan.action == ImageAction::SparseLoad {
                        run.block.set(dest, usize::from(dest.components).saturating_sub(1), lane, 1);
                    }
                }
                ImageAction::Store => {
                    if run.may_write(lane) {
                        let texel = run.texel(sources, unit, dim, is_array, lane);
                        let value = std::array::from_fn(|component| run.block.get(sources[3], component, lane) as u32);
                        run.resources.image_store(texel, value);
                    }
                }
                ImageAction::Atomic | ImageAction::AtomicSwap => {
                    let mut old = 0;
                    if run.may_write(lane) {
                        let op = atomic_op(intrinsic);
                        let texel = run.texel(sources, unit, dim, is_array, lane);
                        let (data, compare) = run.atomic_operands(op, &sources[3..], lane);
                        let mut value = run.resources.image_load(texel);
                        old = value[0];
                        value[0] = atomic_result(op, 32, old.into(), data, compare) as u32;
                        run.resources.image_store(texel, value);
                    }
                    run.block.set(dest, 0, lane, old.into());
                }
                ImageAction::Size | ImageAction::Levels | ImageAction::Samples => {
                    let TextureSize { size, levels, samples } = run.resources.image_size(unit, dim, is_array);
                    for component in 0..usize::from(dest.components) {
                        let word = match plan.action {
                            ImageAction::Levels => levels,
                            ImageAction::Samples => samples,
                            _ => size.get(component).copied().unwrap_or(0),
                        };
                        run.block.set(dest, component, lane, word.into());
                    }
                }
            }
        });
    }

    /// The texel that coordinates and sample name. Only the components that the dimension has count.
    fn texel(&self, sources: &[Value], unit: u32, dim: SamplerDim, is_array: bool, lane: usize) -> ImageTexel {
        // Faces and layers of a cube array are one number.
        let count = (usize::from(dim.num_coords()) + usize::from(is_array)).min(3);
        let coordinate =
            std::array::from_fn(|i| if i < count { self.block.get(sources[1], i, lane) as u32 } else { 0 });
        let sample = match dim {
            SamplerDim::Ms | SamplerDim::SubpassMs => self.block.get(sources[2], 0, lane) as u32,
            _ => 0,
        };
        (unit, coordinate, sample)
    }

    /// `load_texture_scale`: reciprocals of the size.
    pub(super) fn texture_scale(&mut self, intrinsic: &Intrinsic) {
        let unit = intrinsic.sources()[0];
        let dest = intrinsic.dest;
        for component in 0..usize::from(dest.components) {
            self.set_lanes(dest, component, |run, lane| {
                let unit = run.block.get(unit, 0, run.block.leader(lane)) as u32;
                let size = run.resources.texture_size(unit, 0, SamplerDim::Rect, false).size;
                (1.0 / size.get(component).copied().unwrap_or(0) as f32).to_bits().into()
            });
        }
    }
}

fn divide(words: [u32; 4], divisor: [f32; 4]) -> [u32; 4] {
    std::array::from_fn(|lane| (f32::from_bits(words[lane]) / divisor[lane]).to_bits())
}

/// The kind of lookup that an operation is; none for queries of sizes and samples.
fn lookup_of(data: &TexData) -> Option<TextureLookup> {
    Some(match data.op {
        TexOp::Tex | TexOp::TexPrefetch => TextureLookup::Implicit,
        TexOp::Txb => TextureLookup::Bias,
        TexOp::Txl => TextureLookup::Explicit,
        TexOp::Txd => TextureLookup::Gradient,
        TexOp::Txf | TexOp::TxfMs | TexOp::TxfMsFb => TextureLookup::Fetch,
        TexOp::Lod => TextureLookup::QueryLod,
        TexOp::Tg4 => TextureLookup::Gather { component: data.component & 3 },
        TexOp::Txs | TexOp::QueryLevels | TexOp::TextureSamples | TexOp::SamplesIdentical => return None,
    })
}
