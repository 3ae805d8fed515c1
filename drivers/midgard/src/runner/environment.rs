//! The surroundings of a run, from its inputs and resources.

use tgsi_environment::{Inputs, LaneRegisters, Resources, SystemValue};

use super::image::Texels;
use super::memory::{Memory, THREAD_STORAGE, WORKGROUP_STORAGE, is_thread_storage};
use super::system::{Tables, address_words, given, system_value, system_vector};
use super::texture;
use crate::isa::{LoadStoreRegister, Register};
use crate::program::{Program, Slot};
use crate::simulator::{
    AttributeLoad, Environment, ImageAccess, Registers, SpecialLoad, TextureFetch, TileLoad, VaryingLoad, VaryingStore,
    Vec4,
};

/// The register of the first uniform; others follow downwards.
const FIRST_UNIFORM: u8 = 23;

/// The selectors of special values: the mask of samples, and the number of the sample.
const SAMPLE_MASK: u32 = 96;
const SAMPLE: u32 = 97;

/// The surroundings.
pub(super) struct Surroundings<'a, 'r> {
    pub(super) program: &'a Program,
    pub(super) tables: &'a Tables,
    pub(super) inputs: &'a Inputs,
    pub(super) resources: &'r mut dyn Resources,
    pub(super) memory: Memory,
    pub(super) texels: Texels,
    /// The output registers.
    registers: LaneRegisters,
}

impl<'a, 'r> Surroundings<'a, 'r> {
    /// The surroundings at the start, with a file of output registers.
    pub(super) fn new(
        program: &'a Program,
        tables: &'a Tables,
        inputs: &'a Inputs,
        resources: &'r mut dyn Resources,
        registers: LaneRegisters,
    ) -> Surroundings<'a, 'r> {
        let memory = Memory::new(inputs, program.stack, program.shared);
        Surroundings { program, tables, inputs, resources, memory, texels: Texels::default(), registers }
    }

    /// The memory and the output registers at the end.
    pub(super) fn finish(self) -> (Memory, LaneRegisters) {
        (self.memory, self.registers)
    }

    /// An attribute or varying.
    fn input(&self, number: u32, lane: usize) -> Vec4 {
        let inputs = self.inputs;
        let first = |word| [word, 0, 0, 0];
        match self.tables.inputs.get(&number) {
            None => [0; 4],
            Some(&Slot::Register(register)) => {
                [0, 1, 2, 3].map(|component| inputs.inputs.get(register as usize, component, lane))
            }
            Some(Slot::FragCoord) => system_vector(inputs, SystemValue::FragCoord, lane),
            Some(Slot::FrontFace) => first((system_value(inputs, SystemValue::FrontFace, 0, lane) != 0).into()),
            Some(Slot::PointCoord) => system_vector(inputs, SystemValue::PointCoord, lane),
            Some(Slot::PrimitiveId) => first(system_value(inputs, SystemValue::PrimitiveId, 0, lane)),
            Some(Slot::VertexId) => first(system_value(inputs, SystemValue::VertexId, 0, lane)),
            Some(Slot::InstanceId) => first(system_value(inputs, SystemValue::InstanceId, 0, lane)),
        }
    }

    fn is_helper(&self, lane: usize) -> bool {
        self.inputs.helpers.get(lane).copied().unwrap_or(false)
    }
}

impl Environment for Surroundings<'_, '_> {
    fn preload(&mut self, lane: usize, registers: &mut Registers) {
        let program = self.program;
        for (number, uniform) in (8..=FIRST_UNIFORM).rev().zip(&program.uniforms) {
            let first = uniform.row.saturating_mul(4);
            let row = [0, 1, 2, 3].map(|word| self.uniform(lane, uniform.buffer, first.saturating_add(word)));
            if let Some(register) = Register::new(number) {
                registers.set_words(register, row);
            }
        }
    }

    fn attribute(&mut self, load: &AttributeLoad) -> Vec4 {
        self.input(load.index, load.vertex.map_or(load.lane, |vertex| vertex as usize))
    }

    fn varying(&mut self, load: &VaryingLoad) -> Vec4 {
        self.input(load.index, load.lane)
    }

    fn store_varying(&mut self, store: &VaryingStore) {
        let Some(output) = self.tables.outputs.get(&store.index) else { return };
        let Slot::Register(register) = output.slot else { return };
        for (component, word) in store.value.into_iter().enumerate() {
            if output.mask >> component & 1 != 0 {
                self.registers.set(register as usize, component, store.lane, word);
            }
        }
    }

    fn uniform(&mut self, lane: usize, buffer: u32, word: u32) -> u32 {
        if buffer == self.program.system_buffer {
            let row = self.program.system_rows.get(word as usize / 4).copied();
            return row.map_or(0, |row| self.row(lane, row)[word as usize % 4]);
        }
        let words = self.inputs.constants.get(buffer as usize);
        words.and_then(|words| words.get(word as usize)).copied().unwrap_or(0)
    }

    fn load(&mut self, lane: usize, address: u64, bytes: &mut [u8]) -> bool {
        self.memory.load(lane, address, bytes) || self.load_texel(address, bytes).is_some()
    }

    fn store(&mut self, lane: usize, address: u64, bytes: &[u8]) -> bool {
        self.memory.store(lane, address, bytes) || self.store_texel(address, bytes).is_some()
    }

    fn is_private(&self, address: u64) -> bool {
        is_thread_storage(address)
    }

    fn has_effects(&mut self, lane: usize) -> bool {
        !self.is_helper(lane)
    }

    fn texture(&mut self, fetch: &TextureFetch) -> [Vec4; 4] {
        let texture = Tables::listed(&self.tables.textures, fetch.texture);
        // As in the interpreter, a lookup with a negative number is 0.
        let Some(texture) = texture.filter(|_| fetch.sampler.cast_signed() >= 0) else { return [[0; 4]; 4] };
        let request = texture::request(fetch, texture);
        let components = self.resources.texture(&request);
        [0, 1, 2, 3].map(|lane: usize| components.map(|lanes| lanes[lane]))
    }

    fn image_load(&mut self, access: &ImageAccess) -> Vec4 {
        self.texel(access).map_or([0; 4], |texel| self.resources.image_load(texel))
    }

    fn image_store(&mut self, access: &ImageAccess, value: Vec4) {
        if let Some(texel) = self.texel(access) {
            self.resources.image_store(texel, value);
        }
    }

    fn image_address(&mut self, access: &ImageAccess) -> u64 {
        self.texel_address(access)
    }

    /// The colour in the framebuffer. A target without an output has the register of its number.
    fn tile_buffer(&mut self, load: &TileLoad) -> Vec4 {
        let output = self.tables.colours.get(&load.target);
        let (register, first) = output.map_or((load.target, 0), |output| (output.register, output.component));
        let word = |component| self.inputs.framebuffer.get(register as usize, component, load.lane);
        [0, 1, 2, 3].map(|index| Some(usize::from(first) + index).filter(|&component| component < 4).map_or(0, word))
    }

    fn special(&mut self, load: &SpecialLoad) -> Option<Vec4> {
        let sample = system_value(self.inputs, SystemValue::SampleId, 0, load.lane);
        match load.selector {
            // Without a mask in the inputs, a fragment covers its sample, and a helper none.
            SAMPLE_MASK => {
                let covered = if self.is_helper(load.lane) { 0 } else { 1_u32.wrapping_shl(sample) };
                Some([given(self.inputs, SystemValue::SampleMaskIn, 0, load.lane).unwrap_or(covered); 4])
            }
            SAMPLE => Some([sample; 4]),
            _ => None,
        }
    }

    fn system_register(&mut self, lane: usize, register: LoadStoreRegister) -> Vec4 {
        let [thread_low, thread_high] = address_words(THREAD_STORAGE);
        let [group_low, group_high] = address_words(WORKGROUP_STORAGE);
        match register {
            LoadStoreRegister::ProgramCounter => [0, 0, thread_low, thread_high],
            LoadStoreRegister::LocalStorage => [thread_low, thread_high, group_low, group_high],
            LoadStoreRegister::LocalThread => system_vector(self.inputs, SystemValue::LocalInvocationId, lane),
            LoadStoreRegister::Group => system_vector(self.inputs, SystemValue::WorkgroupId, lane),
            LoadStoreRegister::GlobalThread => system_vector(self.inputs, SystemValue::GlobalInvocationId, lane),
            LoadStoreRegister::L0 | LoadStoreRegister::L1 | LoadStoreRegister::Zero => [0; 4],
        }
    }
}
