//! Texture and image instructions, through [`Resources`](super::Resources): textures one quad at a time, images one
//! lane at a time.

use super::error::RunError;
use super::layout::{NULL, read_component, written_component};
use super::machine::Machine;
use super::memory::{atomic_op, atomic_result};
use super::ops::{Intrinsic, Value};
use super::plans::{ImageAction, ImageNaming, ImagePlan};
use super::quad::{QuadWords, handle_bits};
use crate::alu::AluType;
use crate::intrinsics::IndexKind;
use tgsi_environment::SamplerDim;
use tgsi_environment::{ImageTexel, TextureSize};

impl Machine<'_, '_> {
    /// Executes a texture instruction.
    pub fn run_texture(&mut self, number: u32) -> Result<(), RunError> {
        let program = self.program;
        let texture = &program.textures[number as usize];
        if !texture.is_lowered() {
            return Err(program.unsupported(texture.origin, texture.data.op.name()));
        }
        for quad in (0..self.lanes).step_by(4) {
            let active: [bool; 4] =
                std::array::from_fn(|lane| self.active.get(quad + lane).is_some_and(|&mask| mask != 0));
            if active == [false; 4] {
                continue;
            }
            let quad_words = QuadWords { words: &self.words, width: self.width, first: quad, lanes: self.lanes };
            let words = texture.execute(quad_words, active, self.resources);
            for lane in (0..4).filter(|&lane| active[lane]) {
                for (component, words) in words.iter().enumerate().take(texture.dest.components.into()) {
                    self.set(texture.dest, component, quad + lane, texture.result_bits(words[lane]));
                }
            }
        }
        Ok(())
    }

    /// The unit of a bindless handle, which has 64 bits or fewer, or two words.
    fn unit_of_handle(&mut self, handle: Value, lane: usize) -> u32 {
        let bits = handle_bits(handle, |component| self.get(handle, component, lane));
        self.resources.unit_of_handle(bits)
    }

    /// Executes an image intrinsic.
    pub fn run_image(&mut self, intrinsic: &Intrinsic, plan: ImagePlan) {
        let sources = self.sources(intrinsic);
        let dim = SamplerDim::from_i32(intrinsic.index(IndexKind::ImageDim)).unwrap_or(SamplerDim::Dim2D);
        let is_array = intrinsic.index(IndexKind::ImageArray) != 0;
        let dest = intrinsic.dest;
        let dest_type = AluType::from_i32(intrinsic.index(IndexKind::DestType));
        let source_type = AluType::from_i32(intrinsic.index(IndexKind::SrcType));
        self.each_active(|machine, lane| {
            let unit = match plan.naming {
                ImageNaming::Deref => Some(machine.get(sources[0], 0, lane) as u32).filter(|&unit| unit != NULL),
                ImageNaming::Index => {
                    let index = machine.get(sources[0], 0, lane) as u32;
                    Some(index.wrapping_add(intrinsic.index(IndexKind::RangeBase) as u32))
                }
                ImageNaming::Handle => Some(machine.unit_of_handle(sources[0], lane)),
            };
            let Some(unit) = unit else {
                for component in 0..usize::from(dest.components) {
                    machine.set(dest, component, lane, 0);
                }
                return;
            };
            match plan.action {
                ImageAction::Load | ImageAction::SparseLoad => {
                    let texel = machine.texel(sources, unit, dim, is_array, lane);
                    let value = machine.resources.image_load(texel);
                    for component in 0..usize::from(dest.components) {
                        let word = value.get(component).copied().unwrap_or(1);
                        machine.set(dest, component, lane, read_component(word, dest_type, dest.bits).into());
                    }
                    if plan.action == ImageAction::SparseLoad {
                        machine.set(dest, usize::from(dest.components).saturating_sub(1), lane, 1);
                    }
                }
                ImageAction::Store => {
                    if machine.may_write(lane) {
                        let texel = machine.texel(sources, unit, dim, is_array, lane);
                        let value = std::array::from_fn(|component| {
                            let word = machine.get(sources[3], component, lane) as u32;
                            written_component(word, source_type, sources[3].bits)
                        });
                        machine.resources.image_store(texel, value);
                    }
                }
                ImageAction::Atomic | ImageAction::AtomicSwap => {
                    let mut old = 0;
                    if machine.may_write(lane) {
                        let op = atomic_op(intrinsic);
                        let texel = machine.texel(sources, unit, dim, is_array, lane);
                        let (data, compare) = machine.atomic_operands(op, &sources[3..], lane);
                        let mut value = machine.resources.image_load(texel);
                        old = value[0];
                        value[0] = atomic_result(op, 32, old.into(), data, compare) as u32;
                        machine.resources.image_store(texel, value);
                    }
                    machine.set(dest, 0, lane, old.into());
                }
                ImageAction::Size | ImageAction::Levels | ImageAction::Samples => {
                    let TextureSize { size, levels, samples } = machine.resources.image_size(unit, dim, is_array);
                    for component in 0..usize::from(dest.components) {
                        let word = match plan.action {
                            ImageAction::Levels => levels,
                            ImageAction::Samples => samples,
                            _ => size.get(component).copied().unwrap_or(0),
                        };
                        machine.set(dest, component, lane, word.into());
                    }
                }
            }
        });
    }

    /// The texel at coordinates and sample index. Only the components of the dimensionality count.
    fn texel(&self, sources: &[Value], unit: u32, dim: SamplerDim, is_array: bool, lane: usize) -> ImageTexel {
        // The faces and layers of a cube array form one index.
        let count = (usize::from(dim.num_coords()) + usize::from(is_array)).min(3);
        let coordinate =
            std::array::from_fn(|i| if i < count { self.get_signed(sources[1], i, lane) as u32 } else { 0 });
        let sample = match dim {
            SamplerDim::Ms | SamplerDim::SubpassMs => self.get(sources[2], 0, lane) as u32,
            _ => 0,
        };
        (unit, coordinate, sample)
    }

    /// `load_texture_scale`: reciprocals of the size.
    pub fn texture_scale(&mut self, intrinsic: &Intrinsic) {
        let unit = self.sources(intrinsic)[0];
        let dest = intrinsic.dest;
        for component in 0..usize::from(dest.components) {
            self.set_lanes(dest, component, |machine, lane| {
                let unit = machine.get(unit, 0, machine.leader(lane)) as u32;
                let size = machine.resources.texture_size(unit, 0, SamplerDim::Rect, false).size;
                (1.0 / size.get(component).copied().unwrap_or(0) as f32).to_bits().into()
            });
        }
    }
}
