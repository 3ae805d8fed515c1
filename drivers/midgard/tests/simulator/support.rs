//! Programs from bundles, and surroundings with data.

use std::collections::BTreeMap;

use tgsi_driver_midgard::isa::alu::{AluBundle, AluOp, Constants, Scalar, ScalarSource, Unit, Vector, VectorSource};
use tgsi_driver_midgard::isa::load_store::{LoadStore, LoadStoreBundle};
use tgsi_driver_midgard::isa::{Body, Bundle, Chip, LoadStoreRegister, Register, Tag, encode_program};
use tgsi_driver_midgard::simulator::{
    AttributeLoad, Environment, ImageAccess, Launch, Registers, RunResult, Simulator, SpecialLoad, TextureFetch,
    TileLoad, Trap, VaryingLoad, VaryingStore, Vec4, WriteOut,
};

/// Surroundings with memory, and a record of accesses.
#[derive(Default)]
pub struct World {
    /// Initial registers of all threads, then of single threads.
    pub registers: Vec<(u8, Vec4)>,
    pub of_lanes: Vec<(usize, u8, Vec4)>,
    pub memory: BTreeMap<u64, u8>,
    pub uniforms: Vec<u32>,
    pub stored: Vec<VaryingStore>,
    pub attributes: Vec<AttributeLoad>,
    pub varyings: Vec<VaryingLoad>,
    pub fetches: Vec<TextureFetch>,
    pub images: Vec<(ImageAccess, Option<Vec4>)>,
    pub tiles: Vec<TileLoad>,
    pub special: Vec<SpecialLoad>,
    pub written: Vec<WriteOut>,
    pub value: Vec4,
    pub refusals: u32,
}

impl World {
    pub fn with(registers: &[(u8, Vec4)]) -> World {
        World { registers: registers.to_vec(), ..World::default() }
    }

    /// Words of memory at an address.
    pub fn word(&self, address: u64) -> u32 {
        (0..4).rev().fold(0, |word, byte| word << 8 | u32::from(*self.memory.get(&(address + byte)).unwrap_or(&0xee)))
    }

    pub fn set_word(&mut self, address: u64, word: u32) {
        self.memory.extend(word.to_le_bytes().into_iter().zip(address..).map(|(byte, address)| (address, byte)));
    }
}

impl Environment for World {
    fn preload(&mut self, lane: usize, registers: &mut Registers) {
        for &(number, value) in &self.registers {
            registers.set_words(Register::new(number).unwrap(), value);
        }
        for &(_, number, value) in self.of_lanes.iter().filter(|of| of.0 == lane) {
            registers.set_words(Register::new(number).unwrap(), value);
        }
    }

    fn attribute(&mut self, load: &AttributeLoad) -> Vec4 {
        self.attributes.push(*load);
        self.value
    }

    fn varying(&mut self, load: &VaryingLoad) -> Vec4 {
        self.varyings.push(*load);
        self.value
    }

    fn store_varying(&mut self, store: &VaryingStore) {
        self.stored.push(*store);
    }

    fn uniform(&mut self, _: usize, buffer: u32, word: u32) -> u32 {
        self.uniforms.get(buffer.wrapping_mul(16).wrapping_add(word) as usize).copied().unwrap_or(0)
    }

    fn load(&mut self, _: usize, address: u64, bytes: &mut [u8]) -> bool {
        bytes.iter_mut().zip(0..).all(|(byte, offset)| {
            let found = self.memory.get(&address.wrapping_add(offset));
            *byte = found.copied().unwrap_or_default();
            found.is_some()
        })
    }

    fn store(&mut self, _: usize, address: u64, bytes: &[u8]) -> bool {
        self.memory.extend((0..).map(|offset| address.wrapping_add(offset)).zip(bytes.iter().copied()));
        address < 1 << 48
    }

    fn texture(&mut self, fetch: &TextureFetch) -> [Vec4; 4] {
        self.fetches.push(fetch.clone());
        [0, 1, 2, 3].map(|lane| [fetch.lanes[lane].coordinates[0], fetch.texture, fetch.sampler, lane as u32])
    }

    fn image_load(&mut self, access: &ImageAccess) -> Vec4 {
        self.images.push((*access, None));
        self.value
    }

    fn image_store(&mut self, access: &ImageAccess, value: Vec4) {
        self.images.push((*access, Some(value)));
    }

    fn image_address(&mut self, access: &ImageAccess) -> u64 {
        0x1_0000_0000 + u64::from(access.coordinates[0])
    }

    fn tile_buffer(&mut self, load: &TileLoad) -> Vec4 {
        self.tiles.push(*load);
        self.value
    }

    fn special(&mut self, load: &SpecialLoad) -> Option<Vec4> {
        self.special.push(*load);
        (load.selector < 100).then_some([load.selector; 4])
    }

    fn system_register(&mut self, lane: usize, register: LoadStoreRegister) -> Vec4 {
        match register {
            LoadStoreRegister::ProgramCounter => [0x1000, 1, 0x2000, 0],
            LoadStoreRegister::LocalStorage => [0x3000, 0, 0x4000, 0],
            register => [lane as u32, register.code(), 7, 8],
        }
    }

    fn write_out(&mut self, write: &WriteOut) -> bool {
        if self.refusals > 0 {
            self.refusals -= 1;
            return false;
        }
        self.written.push(*write);
        true
    }

    fn is_tile_buffer_ready(&mut self, _: usize) -> bool {
        self.refusals = self.refusals.saturating_sub(1);
        self.refusals == 0
    }
}

/// Bundles with the tags of their successors.
pub fn program(bodies: &[Body]) -> Vec<Bundle> {
    let tag = |body: &Body| Bundle { next: Tag::Break, body: body.clone() }.tag();
    let next = |index: usize| bodies.get(index + 1).map_or(Tag::Break, tag);
    bodies.iter().enumerate().map(|(index, body)| Bundle { next: next(index), body: body.clone() }).collect()
}

pub fn simulate_on(chip: Chip, bodies: &[Body], launch: &Launch, world: &mut World) -> Result<RunResult, Trap> {
    let words = encode_program(&program(bodies)).unwrap();
    Simulator::new(&words, chip).unwrap().run(launch, world)
}

pub fn simulate(bodies: &[Body], launch: &Launch, world: &mut World) -> Result<RunResult, Trap> {
    simulate_on(Chip::T760, bodies, launch, world)
}

/// Runs one thread.
pub fn run(bodies: &[Body], world: &mut World) -> Result<RunResult, Trap> {
    simulate(bodies, &Launch { lanes: 1, ..Launch::default() }, world)
}

/// Runs one thread, and returns a register.
pub fn result(bodies: &[Body], world: &mut World, number: u8) -> Vec4 {
    words(&run(bodies, world).unwrap(), 0, number)
}

pub fn words(result: &RunResult, lane: usize, number: u8) -> Vec4 {
    result.lanes[lane].registers.words(r(number))
}

pub fn r(number: u8) -> Register {
    Register::new(number).unwrap()
}

pub fn f(value: f32) -> u32 {
    value.to_bits()
}

pub fn floats(values: [f32; 4]) -> Vec4 {
    values.map(f32::to_bits)
}

pub fn source(op: AluOp, number: u8) -> VectorSource {
    VectorSource::new(op, r(number))
}

/// An operation on 32 bits.
pub fn vector(op: AluOp, destination: u8, a: u8, b: u8) -> Vector {
    Vector::new(op, r(destination), source(op, a), source(op, b).into())
}

/// An operation on components of 32 bits.
pub fn scalar(op: AluOp, destination: (u8, u8), a: (u8, u8), b: (u8, u8)) -> Scalar {
    let source = |(number, component)| ScalarSource::new(op, r(number), component);
    Scalar::new(op, r(destination.0), destination.1, source(a), source(b))
}

/// A bundle with the instruction of a vector unit.
pub fn on(unit: Unit, vector: Vector) -> AluBundle {
    let mut bundle = AluBundle::default();
    match unit {
        Unit::Vmul => bundle.vmul = Some(vector),
        Unit::Vadd => bundle.vadd = Some(vector),
        _ => bundle.vlut = Some(vector),
    }
    bundle
}

/// A bundle with an instruction of a unit that has the opcode.
pub fn alu(vector: Vector) -> Body {
    let units = vector.op.row().units;
    let unit = [Unit::Vmul, Unit::Vadd, Unit::Vlut].into_iter().find(|&unit| units.contains(unit));
    Body::Alu(on(unit.unwrap_or(Unit::Vmul), vector))
}

/// A bundle that copies constants to a register.
pub fn constant(destination: u8, value: Vec4) -> Body {
    let mut bundle = on(Unit::Vmul, vector(AluOp::Imov, destination, 24, 26));
    bundle.constants = Some(Constants(value));
    Body::Alu(bundle)
}

pub fn load_store(instruction: LoadStore) -> Body {
    Body::LoadStore(LoadStoreBundle([Some(instruction), None]))
}
