//! Messages to memory.

use super::{Nothing, launch, simulator, words};

use pretty_assertions::assert_eq;
use std::collections::BTreeMap;
use tgsi_driver_intel::isa::{Chip, SharedFunction, descriptor};
use tgsi_driver_intel::simulator::{AtomicOp, BufferAccess, Environment, Launch, RunResult, Trap, TypedAccess};

/// Memory by surfaces and bytes, and texels by coordinates. Absent bytes are the lower bits of their address.
#[derive(Default)]
struct Memory {
    bytes: BTreeMap<(u8, u32), u8>,
    texels: BTreeMap<[u32; 4], [u32; 4]>,
    functions: Vec<SharedFunction>,
}

impl Memory {
    fn get(&self, surface: u8, address: u32, size: u8) -> u32 {
        (0..u32::from(size)).rev().fold(0, |number, index| {
            let place = address.wrapping_add(index);
            let byte = self.bytes.get(&(surface, place)).copied().unwrap_or(place as u8);
            number << 8 | u32::from(byte)
        })
    }

    fn set(&mut self, surface: u8, address: u32, size: u8, value: u32) {
        for (index, byte) in (0..).zip(value.to_le_bytes()).take(size.into()) {
            self.bytes.insert((surface, address + index), byte);
        }
    }
}

impl Environment for Memory {
    fn load(&mut self, access: &BufferAccess) -> u32 {
        self.functions.push(access.function);
        self.get(access.surface, access.address, access.size)
    }

    fn store(&mut self, access: &BufferAccess, value: u32) {
        self.set(access.surface, access.address, access.size, value);
    }

    fn atomic(&mut self, access: &BufferAccess, op: AtomicOp, operands: [u32; 2]) -> u32 {
        let (new, result) = op.apply(self.get(access.surface, access.address, 4), operands);
        self.set(access.surface, access.address, 4, new);
        result
    }

    fn typed_load(&mut self, access: &TypedAccess) -> [u32; 4] {
        self.texels.get(&access.coordinates).copied().unwrap_or(access.coordinates)
    }

    fn typed_store(&mut self, access: &TypedAccess, value: [u32; 4], mask: u8) {
        let texel = self.texels.entry(access.coordinates).or_default();
        for (component, value) in value.into_iter().enumerate().filter(|(component, _)| mask >> component & 1 != 0) {
            texel[component] = value;
        }
    }

    fn typed_atomic(&mut self, access: &TypedAccess, op: AtomicOp, operands: [u32; 2]) -> u32 {
        let texel = self.texels.entry(access.coordinates).or_default();
        let (new, result) = op.apply(texel[0], operands);
        texel[0] = new;
        result
    }
}

/// The word at an address of memory without contents.
fn initial(address: u32) -> u32 {
    Memory::default().get(0, address, 4)
}

/// The text of a message from `payload` to `response`, with their lengths.
fn send(
    channels: u32,
    (response, responses): (u8, u32),
    (payload, payloads): (u8, u32),
    function: SharedFunction,
    bits: u32,
    has_header: bool,
) -> String {
    let bits = descriptor(bits, has_header, responses, payloads);
    let name = function.name();
    let group = if channels == 16 { "1H" } else { "1Q" };
    let destination = if responses == 0 { "null".to_owned() } else { format!("g{response}") };
    format!("send({channels}) {destination}<1>UW g{payload}<8,8,1>UD {bits:#x} {name} MsgDesc: {{ align1 {group} }};\n")
}

fn run(text: &str, chip: Chip, launch: &Launch) -> (Memory, RunResult) {
    let mut memory = Memory::default();
    let result = simulator(text, chip).run(launch, &mut memory).unwrap_or_else(|trap| panic!("{trap}: {text}"));
    (memory, result)
}

const DATA: SharedFunction = SharedFunction::DataCache;
const DATA_1: SharedFunction = SharedFunction::DataCache1;
const SCRATCH: u32 = 255;

fn counted(first: u32) -> [u32; 8] {
    std::array::from_fn(|index| first + index as u32)
}

#[test]
fn blocks() {
    // A header with the place, and two registers.
    let contents = [(1, words(&[0, 0, 4, 0, 0, 0, 0, 0])), (2, counted(100)), (3, counted(200))];
    let write = send(16, (0, 0), (1, 3), DATA, 8 << 14 | 3 << 8 | SCRATCH, true);
    let read = send(16, (20, 2), (1, 1), DATA, 3 << 8 | SCRATCH, true);
    let (_, result) = run(&(write.clone() + &read), Chip::Gen7, &launch(&contents));
    assert_eq!([20, 21].map(|register| result.registers.words(register)), [counted(100), counted(200)]);
    // Disabled channels are neither written nor read.
    let half = Launch { dispatch_mask: 0x0f0f, ..launch(&contents) };
    let (_, result) = run(&(write + &read), Chip::Gen7, &half);
    assert_eq!(result.registers.words(21), words(&[200, 201, 202, 203, 0, 0, 0, 0]));
    // Halves of a register, and unaligned places in bytes.
    let constants = SharedFunction::ConstantCache;
    let text = send(8, (20, 1), (1, 1), constants, 7, true)
        + &send(8, (21, 1), (1, 1), constants, 1 << 8 | 7, true)
        + &send(8, (22, 1), (1, 1), constants, 1 << 14 | 2 << 8 | 7, true);
    let (memory, result) = run(&text, Chip::Gen7, &launch(&contents));
    let loaded: [u32; 8] = std::array::from_fn(|index| initial(64 + 4 * (index as u32 % 4)));
    let [low, high] =
        [0, 4].map(|first| std::array::from_fn(|index| if index / 4 * 4 == first { loaded[index] } else { 0 }));
    let unaligned = std::array::from_fn(|index| initial(4 + 4 * index as u32));
    assert_eq!([20, 21, 22].map(|register| result.registers.words(register)), [low, high, unaligned]);
    assert!(memory.functions.iter().all(|&function| function == constants));
    // Registers at offsets of 32 bytes.
    let text = send(8, (0, 0), (1, 3), DATA, 1 << 18 | 1 << 17 | 1 << 12 | 5, true)
        + &send(8, (20, 1), (1, 1), DATA, 1 << 18 | 6, true);
    let (_, result) = run(&text, Chip::Gen7, &launch(&contents));
    assert_eq!(result.registers.words(20), counted(200));
}

#[test]
fn dual_blocks() {
    let contents = [(1, words(&[0])), (2, words(&[3, 0, 0, 0, 9, 0, 0, 0])), (3, counted(100))];
    let text = send(8, (0, 0), (1, 3), DATA, 10 << 14 | SCRATCH, true)
        + "mov(1) g2<1>D 9D { align1 WE_all 1N };
           mov(1) g2.4<1>D 3D { align1 WE_all 1N };\n"
        + &send(8, (20, 1), (1, 2), DATA, 2 << 14 | SCRATCH, true)
        + &send(8, (24, 4), (2, 1), SharedFunction::SamplerCache, 2 << 14 | 2 << 8 | 1, false);
    let (_, result) = run(&text, Chip::Gen75, &launch(&contents));
    assert_eq!(result.registers.words(20), words(&[104, 105, 106, 107, 100, 101, 102, 103]));
    let rows = |row: u32| std::array::from_fn(|word| initial(16 * ([9, 3][word / 4] + row) + 4 * (word as u32 % 4)));
    assert_eq!([24, 27].map(|register| result.registers.words(register)), [rows(0), rows(3)]);
}

#[test]
fn scattered_numbers() {
    let contents = [(1, counted(10)), (2, words(&[0x1_4142]))];
    let text = send(8, (20, 1), (1, 1), DATA, 3 << 14 | 2 << 8 | 4, false)
        + &send(8, (0, 0), (1, 2), DATA, 12 << 14 | 1 << 10 | 4, false)
        + &send(8, (21, 1), (1, 1), DATA, 4 << 14 | 4, false);
    let launch = Launch { dispatch_mask: 0x55, ..launch(&contents) };
    let (memory, result) = run(&text, Chip::Gen75, &launch);
    let even = |value: &dyn Fn(u32) -> u32| std::array::from_fn(|i| if i % 2 == 0 { value(i as u32) } else { 0 });
    assert_eq!(result.registers.words(20), even(&|lane| initial(4 * (10 + lane))));
    assert_eq!(result.registers.words(21), even(&|_| 0x42));
    assert_eq!(memory.bytes.len(), 8);
}

/// The receiver and the messages for surfaces without format: read, atomic operation and write.
fn untyped(chip: Chip) -> (SharedFunction, [u32; 3]) {
    match chip {
        Chip::Gen7 => (DATA, [5 << 14, 6 << 14, 13 << 14]),
        Chip::Gen75 => (DATA_1, [1 << 14, 2 << 14, 9 << 14]),
    }
}

#[test]
fn untyped_surfaces() {
    for chip in Chip::ALL {
        let (function, [read, atomic, write]) = untyped(chip);
        let places = words(&[0, 16, 32, 48, 64, 80, 96, 112]);
        let contents = [(1, places), (2, counted(100)), (3, counted(200)), (4, counted(300))];
        // Components x and z of eight channels.
        let text = send(8, (0, 0), (1, 3), function, write | 2 << 12 | 0b1010 << 8 | 3, false)
            + &send(8, (20, 4), (1, 1), function, read | 2 << 12 | 3, false)
            + &send(8, (24, 1), (1, 2), function, atomic | 1 << 13 | 1 << 12 | 7 << 8 | 3, false)
            + &send(8, (25, 1), (1, 3), function, atomic | 1 << 13 | 1 << 12 | 14 << 8 | 3, false)
            + &send(8, (26, 1), (1, 1), function, read | 2 << 12 | 0b1110 << 8 | 3, false);
        let (_, result) = run(&text, chip, &launch(&contents));
        let found = [20, 21, 22, 23, 24, 25, 26].map(|register| result.registers.words(register));
        let at = |distance| std::array::from_fn(|index| initial(16 * index as u32 + distance));
        let sums = std::array::from_fn(|index| 200 + 2 * index as u32);
        assert_eq!(found, [counted(100), at(4), counted(200), at(12), counted(100), sums, sums]);
        // 16 channels, of which the header selects some.
        let contents = [(1, words(&[0, 0, 0, 0, 0, 0, 0, 0x8001])), (2, places), (3, places)];
        let text = send(16, (20, 2), (1, 3), function, read | 1 << 12 | 0b1110 << 8 | 3, true);
        let (_, result) = run(&text, chip, &launch(&contents));
        let found = [20, 21].map(|register| result.registers.words(register));
        assert_eq!(
            found,
            [words(&[initial(0).into(), 0, 0, 0, 0, 0, 0, 0]), words(&[0, 0, 0, 0, 0, 0, 0, initial(112).into()])]
        );
        // Vectors.
        let contents = [(1, words(&[32, 0, 0, 0, 64, 0, 0, 0])), (2, counted(100))];
        let text = send(8, (20, 1), (1, 1), function, read | 3, false);
        let (_, result) = run(&text, chip, &launch(&contents));
        let expected = std::array::from_fn(|word| initial([32, 64][word / 4] + 4 * (word as u32 % 4)));
        assert_eq!(result.registers.words(20), expected);
        let text = send(8, (0, 0), (1, 2), function, write | 0b1000 << 8 | 3, false)
            + &send(8, (20, 1), (1, 1), function, read | 3, false);
        let result = simulator(&text, chip).run(&launch(&contents), &mut Memory::default());
        match chip {
            Chip::Gen7 => assert!(matches!(result, Err(Trap::Message(0, ..)))),
            Chip::Gen75 => {
                let found = result.unwrap().registers.words(20);
                assert_eq!(found, [100, 101, 102, initial(44), 104, 105, 106, initial(76)]);
            }
        }
    }
}

#[test]
fn atomic_operations_of_vectors() {
    let contents = [(1, words(&[32, 0, 0, 0, 64, 0, 0, 0])), (2, counted(100))];
    let text = send(8, (20, 1), (1, 2), DATA_1, 3 << 14 | 1 << 13 | 4 << 8, false)
        + &send(8, (21, 1), (1, 2), DATA_1, 3 << 14 | 1 << 13 | 8 << 8, false)
        + &send(8, (22, 1), (1, 1), DATA_1, 3 << 14 | 1 << 13 | 15 << 8, false);
    let (_, result) = run(&text, Chip::Gen75, &launch(&contents));
    let found = [20, 21, 22].map(|register| result.registers.words(register));
    let pair = |first: u32, second: u32| words(&[first.into(), 0, 0, 0, second.into(), 0, 0, 0]);
    assert_eq!(found, [pair(initial(32), initial(64)), pair(100, 104), pair(u32::MAX, u32::MAX)]);
}

#[test]
fn atomic_results() {
    let minus = u32::MAX;
    let cases = [
        (AtomicOp::And, 12, 10, 8),
        (AtomicOp::Or, 12, 10, 14),
        (AtomicOp::Xor, 12, 10, 6),
        (AtomicOp::Mov, 12, 10, 10),
        (AtomicOp::Inc, minus, 10, 0),
        (AtomicOp::Dec, 0, 10, minus),
        (AtomicOp::Add, 12, 10, 22),
        (AtomicOp::Sub, 12, 10, 2),
        (AtomicOp::RevSub, 12, 10, minus - 1),
        (AtomicOp::Imax, minus, 10, 10),
        (AtomicOp::Imin, minus, 10, minus),
        (AtomicOp::Umax, minus, 10, minus),
        (AtomicOp::Umin, minus, 10, 10),
        (AtomicOp::CmpWr, 12, 10, 12),
        (AtomicOp::CmpWr, 10, 10, 77),
    ];
    for (op, old, operand, new) in cases {
        assert_eq!(op.apply(old, [operand, 77]), (new, old), "{op:?}");
    }
    assert_eq!(AtomicOp::PreDec.apply(5, [0; 2]), (4, 4));
}

#[test]
fn typed_surfaces() {
    for chip in Chip::ALL {
        let (function, [read, atomic, write], low, high) = match chip {
            Chip::Gen7 => (SharedFunction::RenderCache, [5 << 14, 6 << 14, 13 << 14], 0, 1 << 13),
            Chip::Gen75 => (DATA_1, [5 << 14, 6 << 14, 13 << 14], 1 << 12, 2 << 12),
        };
        let header = words(&[0, 0, 0, 0, 0, 0, 0, 0xf0ff]);
        let contents = [(1, header), (2, counted(0)), (3, counted(10)), (4, counted(100)), (5, counted(200))];
        // x and y at coordinates u and v.
        let text = send(8, (0, 0), (1, 5), function, write | low | 0b1100 << 8, true)
            + &send(8, (20, 4), (1, 3), function, read | low, true)
            + &send(8, (24, 1), (1, 3), function, read | high | 0b1110 << 8, true)
            + &send(8, (25, 1), (1, 4), function, atomic | 1 << 13 | 7 << 8, true)
            + &send(8, (26, 1), (1, 3), function, read | low | 0b1110 << 8, true);
        let (_, result) = run(&text, chip, &launch(&contents));
        let found = [20, 21, 22, 23, 24, 25, 26].map(|register| result.registers.words(register));
        let upper = words(&[0, 0, 0, 0, 104, 105, 106, 107]);
        let sums = std::array::from_fn(|index| 200 + 2 * index as u32);
        assert_eq!(found, [counted(100), counted(200), [0; 8], [0; 8], upper, counted(100), sums]);
    }
    let header = words(&[0]);
    let contents = [(1, header), (2, counted(0)), (3, counted(100))];
    let text = send(8, (0, 0), (1, 3), DATA_1, 13 << 14 | 0b0110 << 8, true)
        + &send(8, (20, 1), (1, 2), DATA_1, 5 << 14, true)
        + &send(8, (21, 1), (1, 2), DATA_1, 7 << 14 | 1 << 13 | 5 << 8, true);
    let (_, result) = run(&text, Chip::Gen75, &launch(&contents));
    let found = [20, 21].map(|register| result.registers.words(register));
    assert_eq!(found, [[100, 0, 0, 103, 104, 0, 0, 107], [100, 0, 0, 0, 104, 0, 0, 0]]);
}

#[test]
fn limits_of_scratch_space() {
    let text = send(8, (20, 1), (1, 1), DATA, 2 << 8 | SCRATCH, true);
    for (place, expected) in [(6, None), (7, Some(128)), (1 << 27, Some(1 << 31))] {
        let launch = Launch { scratch: 128, ..launch(&[(1, words(&[0, 0, place, 0, 0, 0, 0, 0]))]) };
        let result = simulator(&text, Chip::Gen7).run(&launch, &mut Nothing);
        assert_eq!(result.err(), expected.map(|address| Trap::Scratch(0, address)));
    }
}

#[test]
fn fences() {
    let text = send(8, (20, 1), (1, 1), DATA, 7 << 14 | 1 << 13, true)
        + &send(8, (20, 1), (1, 1), SharedFunction::RenderCache, 7 << 14 | 1 << 13, true);
    run(&text, Chip::Gen7, &launch(&[]));
}
