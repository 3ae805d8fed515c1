//! Numbers of resources.

use std::collections::BTreeMap;

use tgsi_diagnostics::Span;
use tgsi_environment::SamplerDim;
use tgsi_ir::entities::Variable as IrVariable;

use super::Slot;
use super::blocks::{BlockKind, whole_registers};
use crate::emit::Context;
use crate::error::SpirvError;
use crate::options::{BindKind, Environment};
use crate::types::TypeData;

/// Numbers are below it: operands of TGSI have no larger ones.
const LIMIT: u32 = 1 << 15;

/// A need of consecutive numbers.
#[derive(Clone, Copy, Default, Debug)]
struct Request {
    count: u32,
    /// The first number, if it is chosen.
    fixed: Option<u32>,
}

impl Request {
    fn include(&mut self, count: u32, fixed: Option<u32>) {
        self.count = self.count.max(count);
        self.fixed = self.fixed.or(fixed);
    }
}

/// Gives each request numbers from `first` on, in order, besides the chosen ones.
fn allocate<K: Ord + Clone>(requests: &BTreeMap<K, Request>, first: u32) -> BTreeMap<K, u32> {
    let range = |request: &Request| request.fixed.map(|fixed| (fixed, fixed.saturating_add(request.count)));
    let mut taken: Vec<(u32, u32)> = requests.values().filter_map(range).filter(|range| range.0 < range.1).collect();
    taken.sort_unstable();
    // The ranges end in order, so that each is passed once.
    let mut end = 0;
    for range in &mut taken {
        end = end.max(range.1);
        range.1 = end;
    }
    let mut taken = taken.into_iter().peekable();
    let mut next = first;
    let mut numbers = BTreeMap::new();
    for (key, request) in requests {
        let number = request.fixed.unwrap_or_else(|| {
            while let Some((_, end)) =
                taken.next_if(|&(start, end)| end <= next || start < next.saturating_add(request.count))
            {
                next = next.max(end);
            }
            let number = next;
            next = next.saturating_add(request.count);
            number
        });
        numbers.insert(key.clone(), number);
    }
    numbers
}

/// The place of a unit in the order.
type UnitOrder = (bool, Slot, Vec<u32>, usize);

impl Context<'_> {
    /// Numbers the registers of resources.
    pub(crate) fn finish_resources(&mut self) {
        self.check_options();
        self.number_constants();
        self.number_buffers();
        self.number_images();
        if self.has_separate_units() {
            self.number_separate_units();
        } else {
            self.number_units();
        }
        self.note_units();
    }

    /// Checks that options name resources of the module.
    fn check_options(&mut self) {
        let count = self.module.globals.len() as u32;
        let slots: Vec<Slot> = (0..count).map(|number| self.slot(number)).filter(|slot| !slot.is_unbound).collect();
        let named = self.options.binds.iter().map(|bind| (bind.set, bind.binding));
        let named = named.chain(self.options.counts.iter().map(|&(set, binding, _)| (set, binding)));
        for (set, binding) in named {
            if !slots.iter().any(|slot| slot.place() == (set, binding)) {
                self.findings.add(SpirvError::NoResource { set, binding }, Span::new(0, 1));
            }
        }
    }

    fn check_limit(&mut self, what: &'static str, end: u32) {
        if end > LIMIT {
            let error = SpirvError::TooLarge { what, count: end.into(), limit: LIMIT.into() };
            self.findings.add(error, Span::new(0, 1));
        }
    }

    fn set_number(&mut self, variable: IrVariable, number: u32) {
        if let Some(data) = self.shader.variables.get_mut(variable) {
            data.binding = number;
            data.driver_location = number;
        }
    }

    /// Numbers constant buffers, and the contents of constant buffer 0.
    fn number_constants(&mut self) {
        let mut blocks = std::mem::take(&mut self.resources.blocks);
        blocks.sort_by_key(|block| (block.kind, block.slot, block.global));
        // The contents of buffer 0.
        let mut sizes: BTreeMap<(BlockKind, Slot), u32> = BTreeMap::new();
        for block in blocks.iter().filter(|block| block.is_flat) {
            let bytes = whole_registers(block.size).saturating_mul(block.length);
            let slot = if block.kind == BlockKind::Push { Slot::default() } else { block.slot };
            let size = sizes.entry((block.kind, slot)).or_default();
            *size = (*size).max(bytes);
        }
        let mut end = 0u32;
        for size in sizes.values_mut() {
            let start = end;
            end = end.saturating_add(*size);
            *size = start;
        }
        for block in blocks.iter_mut().filter(|block| block.is_flat) {
            let slot = if block.kind == BlockKind::Push { Slot::default() } else { block.slot };
            block.offset = sizes.get(&(block.kind, slot)).copied().unwrap_or(0);
            if let Some(data) = self.shader.variables.get_mut(block.variable) {
                data.driver_location = block.offset / 16;
            }
        }
        let registers = self.number_uniforms(end.div_ceil(16));
        self.shader.num_uniforms = registers;
        self.check_limit("registers of constant buffer 0", registers);
        // Other buffers; push constants that are not in buffer 0 come last.
        let mut requests: BTreeMap<(bool, Slot), Request> = BTreeMap::new();
        let key = |block: &super::Block| (block.kind == BlockKind::Push, block.slot);
        for block in blocks.iter().filter(|block| !block.is_flat && block.kind != BlockKind::Storage) {
            let fixed = self.chosen_register(BindKind::Constant, block.slot);
            requests
                .entry(key(block))
                .or_default()
                .include(block.length, fixed.filter(|_| block.kind == BlockKind::Uniform));
        }
        let numbers = allocate(&requests, 1);
        // A block in constant buffer 0 is that of the default block.
        let has_zero = numbers.values().any(|&number| number == 0);
        self.shader.info.first_ubo_is_default_ubo = has_zero;
        let first = self.shader.info.first_ubo_buffer();
        let mut end = 0;
        for block in blocks.iter_mut().filter(|block| !block.is_flat && block.kind != BlockKind::Storage) {
            block.register = numbers.get(&key(block)).copied().unwrap_or(0);
            let number = block.register.saturating_sub(first);
            self.set_number(block.variable, number);
            end = end.max(number.saturating_add(block.length));
        }
        self.check_limit("constant buffers", end);
        self.shader.info.num_ubos = end;
        self.resources.blocks = blocks;
    }

    fn number_buffers(&mut self) {
        let mut blocks = std::mem::take(&mut self.resources.blocks);
        let mut requests: BTreeMap<Slot, Request> = BTreeMap::new();
        for block in blocks.iter().filter(|block| block.kind == BlockKind::Storage) {
            let fixed = self.chosen_register(BindKind::Buffer, block.slot);
            requests.entry(block.slot).or_default().include(block.length, fixed);
        }
        let numbers = allocate(&requests, 0);
        let mut end = 0;
        for block in blocks.iter_mut().filter(|block| block.kind == BlockKind::Storage) {
            block.register = numbers.get(&block.slot).copied().unwrap_or(0);
            self.set_number(block.variable, block.register);
            end = end.max(block.register.saturating_add(block.length));
        }
        self.check_limit("buffers", end);
        self.shader.info.num_ssbos = end;
        let counters = self.resources.counters.iter().map(|counter| counter.buffer + 1);
        self.shader.info.num_abos = counters.max().unwrap_or(0);
        self.resources.blocks = blocks;
    }

    fn number_images(&mut self) {
        let mut images = std::mem::take(&mut self.resources.images);
        // Aliases of other types have other numbers: a register has one type.
        let mut first_of = rustc_hash::FxHashMap::default();
        let keys: Vec<(Slot, Vec<u32>, usize)> = images
            .iter()
            .enumerate()
            .map(|(number, image)| {
                let same = (image.slot, image.fields.clone(), image.ty, image.length);
                (image.slot, image.fields.to_vec(), *first_of.entry(same).or_insert(number))
            })
            .collect();
        let mut requests: BTreeMap<(Slot, Vec<u32>, usize), Request> = BTreeMap::new();
        let mut chosen: BTreeMap<Slot, u32> = BTreeMap::new();
        for (key, image) in keys.iter().zip(&images) {
            if requests.contains_key(key) {
                continue;
            }
            let first = self.chosen_register(BindKind::Image, image.slot);
            let fixed = first.map(|first| {
                let next = chosen.entry(image.slot).or_insert(first);
                let number = *next;
                // The SPIR-V driver has one binding for several types.
                if self.environment != Environment::Tgsic {
                    *next = next.saturating_add(image.length);
                }
                number
            });
            requests.insert(key.clone(), Request { count: image.length, fixed });
        }
        let numbers = allocate(&requests, 0);
        let mut end = 0;
        for (key, image) in keys.iter().zip(&mut images) {
            image.register = numbers.get(key).copied().unwrap_or(0);
            self.set_number(image.variable, image.register);
            let last = image.register.saturating_add(image.length);
            end = end.max(last);
            let info = &mut self.shader.info;
            for number in image.register..last.min(64) {
                let bit = 1u64 << number;
                info.images_used |= bit;
                info.image_buffers |= if image.ty.dim == SamplerDim::Buf { bit } else { 0 };
                info.msaa_images |= if image.ty.is_multisampled { bit } else { 0 };
            }
        }
        self.check_limit("images", end);
        self.shader.info.num_images = end;
        self.resources.images = images;
    }

    /// Numbers units of textures with their samplers by set and binding, then pairs by first use.
    fn number_units(&mut self) {
        let mut units = std::mem::take(&mut self.resources.units);
        let order = |number: usize, unit: &super::Unit| -> UnitOrder {
            match unit.key.is_combined {
                true => (false, unit.key.texture.slot, unit.key.texture.fields.to_vec(), number),
                false => (true, Slot::default(), Vec::new(), number),
            }
        };
        let mut requests: BTreeMap<UnitOrder, Request> = BTreeMap::new();
        let mut chosen: BTreeMap<Slot, u32> = BTreeMap::new();
        for (number, unit) in units.iter().enumerate() {
            let slot = unit.key.texture.slot;
            let fixed = self.chosen_register(BindKind::Unit, slot).map(|first| {
                let next = chosen.entry(slot).or_insert(first);
                let number = *next;
                *next = next.saturating_add(unit.length);
                number
            });
            requests.insert(order(number, unit), Request { count: unit.length, fixed });
        }
        let numbers = allocate(&requests, 0);
        for (number, unit) in units.iter_mut().enumerate() {
            unit.register = numbers.get(&order(number, unit)).copied().unwrap_or(0);
            self.set_number(unit.variable, unit.register);
        }
        self.resources.units = units;
    }

    /// Numbers units of textures and of samplers; a texture with its sampler has the same number for both.
    fn number_separate_units(&mut self) {
        let mut units = std::mem::take(&mut self.resources.units);
        let mut samplers = std::mem::take(&mut self.resources.samplers);
        let key = |unit: &super::Unit| (!unit.key.is_combined, unit.key.texture.slot, unit.key.texture.fields.to_vec());
        let mut requests = [BTreeMap::new(), BTreeMap::new()];
        for (of, requests) in [&units, &samplers].into_iter().zip(&mut requests) {
            for unit in of {
                let slot = unit.key.texture.slot;
                // Attachments have no unit in the SPIR-V driver.
                let is_free = unit.is_subpass && self.environment == Environment::Tgsic;
                let fixed = self.chosen_register(BindKind::Unit, slot).filter(|_| !is_free);
                requests.entry(key(unit)).or_insert_with(Request::default).include(unit.length, fixed);
            }
        }
        let [of_textures, mut of_samplers] = requests;
        let numbers = allocate(&of_textures, 0);
        // Units of samplers behind those of textures with samplers.
        for (key, request) in of_textures.iter().filter(|(key, _)| !key.0) {
            of_samplers.insert(key.clone(), Request { count: request.count, fixed: numbers.get(key).copied() });
        }
        let sampler_numbers = allocate(&of_samplers, 0);
        for (of, numbers) in [(&mut units, &numbers), (&mut samplers, &sampler_numbers)] {
            for unit in of {
                unit.register = numbers.get(&key(unit)).copied().unwrap_or(0);
                self.set_number(unit.variable, unit.register);
            }
        }
        self.resources.units = units;
        self.resources.samplers = samplers;
    }

    /// Records the units in the properties of the shader.
    fn note_units(&mut self) {
        let is_separate = self.has_separate_units();
        let mut end = 0;
        let info = &mut self.shader.info;
        for unit in &self.resources.units {
            let last = unit.register.saturating_add(unit.length);
            end = end.max(last);
            for number in unit.register..last.min(128) {
                info.textures_used |= 1 << number;
                info.textures_used_by_txf |= if unit.is_fetched { 1 << number } else { 0 };
                let has_sampler = unit.is_sampled && (!is_separate || unit.key.is_combined);
                info.samplers_used |= if has_sampler && number < 32 { 1 << number } else { 0 };
            }
        }
        for unit in &self.resources.samplers {
            let last = unit.register.saturating_add(unit.length);
            end = end.max(last);
            for number in unit.register..last.min(32) {
                info.samplers_used |= 1 << number;
            }
        }
        info.num_textures = end;
        self.check_limit("texture units", end);
    }

    /// Whether a variable has a type that OpenGL sets by location.
    pub(super) fn is_opaque_global(&self, number: u32) -> bool {
        let ty = self.module.globals.get(number as usize).map(|global| self.module.types.without_arrays(global.ty));
        ty.is_some_and(|ty| {
            matches!(self.module.types.get(ty), TypeData::Image(_) | TypeData::SampledImage(_) | TypeData::Sampler)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_avoid_chosen_ones() {
        let request = |count, fixed| Request { count, fixed };
        let requests = BTreeMap::from([
            (0, request(1, None)),
            (1, request(2, Some(1))),
            (2, request(2, None)),
            (3, request(1, None)),
        ]);
        let numbers: Vec<u32> = allocate(&requests, 0).into_values().collect();
        assert_eq!(numbers, [0, 1, 3, 5]);
        let numbers: Vec<u32> = allocate(&requests, 1).into_values().collect();
        assert_eq!(numbers, [3, 1, 4, 6]);
    }
}
