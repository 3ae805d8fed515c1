//! Texture lookups and queries: from operands to a [`TextureRequest`] per quad.
//!
//! The unit of a lookup is that of the first executing lane of the quad. Coordinates of lanes that do not execute are
//! read from their registers, as in hardware that computes derivatives from a quad.

use tgsi_environment::sample_positions::sample_position;
use tgsi_environment::{TextureLookup, TextureRequest};

use super::kernel::f;
use super::machine::Machine;
use super::program::{Op, Operand};
use tgsi::tables::{File, Opcode, TextureTarget};

impl Machine<'_> {
    /// Executes a texture opcode; returns the mask of the channels that it computed.
    pub(super) fn texture(&mut self, op: &Op) -> u8 {
        for quad in (0..self.lanes).step_by(4) {
            let end = (quad + 4).min(self.lanes);
            let Some(first) = (quad..end).find(|&lane| self.exec[lane] != 0) else { continue };
            if let Some(unit) = self.queried(op, first) {
                self.observe_query(first, File::Sampler, i64::from(unit));
            }
            let result = match op.opcode {
                Opcode::Txq | Opcode::Sviewinfo => self.query_size(op, quad, first),
                Opcode::Txqs => {
                    let samples = self.view_unit(op, first).map_or(0, |unit| self.texture_size(op, unit, 0).samples);
                    [[samples; 4], [0; 4], [0; 4], [0; 4]]
                }
                Opcode::Samp2hnd => {
                    let handle = self.view_unit(op, first).map_or(0, |unit| self.resources.handle(unit));
                    [[handle as u32; 4], [(handle >> 32) as u32; 4], [0; 4], [0; 4]]
                }
                Opcode::SamplePos | Opcode::SampleInfo => self.sample_query(op, quad, first),
                _ => self.look_up(op, quad, first),
            };
            for (channel, words) in result.iter().enumerate() {
                for lane in quad..end {
                    self.set_result(channel, lane, words[lane - quad]);
                }
            }
        }
        op.write_mask
    }

    /// The unit of a size or handle query.
    fn queried(&mut self, op: &Op, lane: usize) -> Option<u32> {
        use Opcode::{Samp2hnd, SampleInfo, SamplePos, Sviewinfo, Txq, Txqs};
        match op.opcode {
            Txq | Sviewinfo | Txqs | Samp2hnd => self.view_unit(op, lane),
            SamplePos | SampleInfo if matches!(op.sources.first()?.operand, Operand::Resource) => {
                self.view_unit(op, lane)
            }
            _ => None,
        }
    }

    /// A source's channel over a quad; lanes beyond the last are 0.
    fn quad(&self, source: usize, channel: usize, quad: usize) -> [u32; 4] {
        std::array::from_fn(|position| {
            if quad + position < self.lanes { self.source(source, channel, quad + position) } else { 0 }
        })
    }

    /// The unit that source `position` refers to in `lane`: a register of a resource file, or a bindless handle in xy.
    fn unit(&mut self, op: &Op, position: usize, lane: usize) -> Option<u32> {
        let source = op.sources.get(position)?;
        if matches!(source.operand, Operand::Resource) {
            u32::try_from(self.resource_number(&source.address, lane).0).ok()
        } else {
            let handle = u64::from(self.source(position, 1, lane)) << 32 | u64::from(self.source(position, 0, lane));
            Some(self.resources.unit_of_handle(handle))
        }
    }

    fn view_unit(&mut self, op: &Op, lane: usize) -> Option<u32> {
        self.unit(op, op.opcode.texture_operands().0, lane)
    }

    /// The target of a lookup: that of the instruction, or that of the sampler view.
    fn target(&self, op: &Op, unit: u32) -> TextureTarget {
        op.target
            .filter(|&target| target != TextureTarget::Unknown)
            .or_else(|| self.program.view_targets.get(unit))
            .unwrap_or(TextureTarget::Texture2D)
    }

    fn texture_size(&mut self, op: &Op, unit: u32, level: u32) -> tgsi_environment::TextureSize {
        let target = self.target(op, unit);
        self.resources.texture_size(unit, level, target.sampler_dim(), target.is_array())
    }

    fn query_size(&mut self, op: &Op, quad: usize, first: usize) -> [[u32; 4]; 4] {
        let mut result = [[0; 4]; 4];
        let Some(unit) = self.view_unit(op, first) else { return result };
        let levels = self.quad(0, 0, quad);
        for (position, &level) in levels.iter().enumerate() {
            let size = self.texture_size(op, unit, level);
            // SVIEWINFO defines the result for a level beyond the last.
            let exists = op.opcode == Opcode::Txq || level < size.levels;
            let extents = usize::from(self.target(op, unit).size_components());
            for (component, &extent) in size.size.iter().enumerate().take(extents) {
                result[component][position] = if exists { extent } else { 0 };
            }
            result[3][position] = size.levels;
        }
        result
    }

    /// `SAMPLE_INFO` and `SAMPLE_POS`. A source that is not a view denotes the render target, which has one sample
    /// here. A missing view has no samples.
    fn sample_query(&mut self, op: &Op, quad: usize, first: usize) -> [[u32; 4]; 4] {
        let is_view = op.sources.first().is_some_and(|source| matches!(source.operand, Operand::Resource));
        let samples = if !is_view {
            1
        } else if let Some(unit) = self.view_unit(op, first) {
            self.texture_size(op, unit, 0).samples
        } else {
            0
        };
        if op.opcode == Opcode::SampleInfo {
            return [[(samples as f32).to_bits(); 4], [0; 4], [0; 4], [0; 4]];
        }
        let mut result = [[0; 4]; 4];
        for (lane, &index) in self.quad(1, 0, quad).iter().enumerate() {
            let position = sample_position(samples, index).map(f32::to_bits);
            (result[0][lane], result[1][lane]) = (position[0], position[1]);
        }
        result
    }

    fn look_up(&mut self, op: &Op, quad: usize, first: usize) -> [[u32; 4]; 4] {
        let (view, sampler) = op.opcode.texture_operands();
        let Some(texture) = self.unit(op, view, first) else { return [[0; 4]; 4] };
        let sampler = match sampler {
            Some(position) => match self.unit(op, position, first) {
                Some(unit) => unit,
                None => return [[0; 4]; 4],
            },
            None => 0,
        };
        let request = self.request(op, quad, first, texture, sampler);
        self.observe_lookup(quad, &request);
        let result = self.resources.texture(&request);
        if op.opcode.info().is_sample_family || op.opcode == Opcode::Lod {
            let swizzle = op.sources.get(view).map_or([0, 1, 2, 3], |source| source.swizzle);
            return swizzle.map(|component| result[usize::from(component)]);
        }
        result
    }

    fn request(&self, op: &Op, quad: usize, first: usize, texture: u32, sampler: u32) -> TextureRequest {
        use Opcode::*;
        let target = self.target(op, texture);
        let compares = matches!(op.opcode, SampleC | SampleCLz);
        let fetches = matches!(op.opcode, Txf | TxfLz | SampleI | SampleIMs);
        let mut request = TextureRequest {
            texture,
            sampler,
            is_array: target.is_array(),
            is_shadow: compares || (target.is_shadow() && !fetches && op.opcode != Lodq && op.opcode != Lod),
            ..TextureRequest::new(TextureLookup::Implicit, target.sampler_dim())
        };
        let components = usize::from(target.coordinate_components());
        for (component, coordinate) in request.coordinate.iter_mut().enumerate().take(components) {
            *coordinate = self.quad(0, component, quad);
        }
        request.comparator = match target.comparator_position() {
            _ if compares => self.quad(3, 0, quad),
            _ if !request.is_shadow => [0; 4],
            // If a second operand has both the bias or level and the reference value, the latter is in y.
            Some(4) if matches!(op.opcode, Txb2 | Txl2) => self.quad(1, 1, quad),
            Some(4) if matches!(op.opcode, Tex2 | Tg4) => self.quad(1, 0, quad),
            Some(position @ 0..4) => self.quad(0, usize::from(position), quad),
            _ => [0; 4],
        };
        match op.opcode {
            Txp => {
                let w = self.quad(0, 3, quad);
                for words in request.coordinate[..components].iter_mut().chain([&mut request.comparator]) {
                    for (word, &w) in words.iter_mut().zip(&w) {
                        *word = (f(*word) / f(w)).to_bits();
                    }
                }
            }
            Txb | Txl => request.lod = self.quad(0, 3, quad),
            Txb2 | Txl2 => request.lod = self.quad(1, 0, quad),
            SampleB | SampleL => request.lod = self.quad(3, 0, quad),
            // The level, or the sample of a multisampled texture.
            Txf | SampleI => request.lod = self.quad(0, 3, quad),
            TxfLz if target.is_msaa() => request.lod = self.quad(0, 3, quad),
            SampleIMs => request.lod = self.quad(2, 0, quad),
            Txd | SampleD => {
                let (ddx, ddy) = if op.opcode == Txd { (1, 2) } else { (3, 4) };
                for component in 0..usize::from(request.dim.num_coords()).min(3) {
                    request.ddx[component] = self.quad(ddx, component, quad);
                    request.ddy[component] = self.quad(ddy, component, quad);
                }
            }
            _ => {}
        }
        request.lookup = match op.opcode {
            Txb | Txb2 | SampleB => TextureLookup::Bias,
            Txl | Txl2 | TexLz | SampleL | SampleCLz => TextureLookup::Explicit,
            Txf | TxfLz | SampleI | SampleIMs => TextureLookup::Fetch,
            Txd | SampleD => TextureLookup::Gradient,
            Lodq | Lod => TextureLookup::QueryLod,
            Gather4 => TextureLookup::Gather { component: 0 },
            Tg4 => TextureLookup::Gather { component: self.gather_component(op, first, request.is_shadow) },
            _ => TextureLookup::Implicit,
        };
        let offset = |position: usize, component: usize| -> [i32; 4] {
            let Some(offset) = op.offsets.get(position) else { return [0; 4] };
            std::array::from_fn(|lane| {
                let lane = (quad + lane).min(self.lanes.saturating_sub(1));
                self.cell_word(offset.cell, usize::from(offset.swizzle[component]), lane) as i32
            })
        };
        match op.offsets.len() {
            1 => {
                let dimensions = usize::from(request.dim.num_coords());
                for (component, words) in request.offset.iter_mut().enumerate().take(dimensions) {
                    *words = offset(0, component);
                }
            }
            4 => {
                request.gather_offsets =
                    Some(std::array::from_fn(|texel| std::array::from_fn(|component| offset(texel, component))));
            }
            _ => {}
        }
        request
    }

    /// The component that `TG4` gathers: the sampler's swizzle if the producer set one, otherwise the second operand. A
    /// comparison has one component.
    fn gather_component(&self, op: &Op, first: usize, is_shadow: bool) -> u8 {
        if is_shadow {
            return 0;
        }
        let swizzle = op.sources.get(2).map_or(0, |source| source.swizzle[0]);
        if swizzle != 0 {
            return swizzle;
        }
        (self.source(1, 0, first) & 3) as u8
    }
}
