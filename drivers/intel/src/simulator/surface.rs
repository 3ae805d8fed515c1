//! Messages to surfaces: untyped and typed reads, writes and atomic operations.

use super::message::{Request, Unit};
use super::sampler::pair;
use super::{AtomicOp, BufferAccess, Lanes, Simd, Trap, TypedAccess};
use crate::isa::Chip;

/// The numbers of the set bits.
pub(super) fn lanes(mask: u16) -> impl Iterator<Item = usize> {
    (0..16).filter(move |lane| mask >> lane & 1 != 0)
}

/// A message to the second data cache of Gen7.5.
pub(super) fn data_1(unit: &mut Unit<'_>, request: &Request) -> Result<(), Trap> {
    if unit.surroundings.chip == Chip::Gen7 {
        return Err(request.undefined());
    }
    let simd = if request.field(12, 12) != 0 { Simd::X8 } else { Simd::X16 };
    match request.field(17, 14) {
        1 => untyped_read(unit, request),
        2 => untyped_atomic(unit, request, simd),
        3 => untyped_atomic(unit, request, Simd::X4x2),
        5 => typed_read(unit, request, slots(request)?),
        6 => typed_atomic(unit, request, if request.field(12, 12) != 0 { Slots::High } else { Slots::Low }),
        7 => typed_atomic(unit, request, Slots::Vectors),
        9 => untyped_write(unit, request),
        13 => typed_write(unit, request, slots(request)?),
        _ => Err(request.undefined()),
    }
}

/// A typed message of Gen7, or a fence.
pub(super) fn typed_or_fence(unit: &mut Unit<'_>, request: &Request) -> Result<(), Trap> {
    const FENCE: u32 = 7;
    let message = request.field(17, 14);
    if message == FENCE {
        return Ok(());
    }
    if unit.surroundings.chip != Chip::Gen7 {
        return Err(request.undefined());
    }
    let slots = if request.field(13, 13) != 0 { Slots::High } else { Slots::Low };
    match message {
        5 => typed_read(unit, request, slots),
        6 => typed_atomic(unit, request, if request.field(12, 12) != 0 { Slots::High } else { Slots::Low }),
        13 => typed_write(unit, request, slots),
        _ => Err(request.undefined()),
    }
}

/// The lanes of a typed message in the mask of the header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slots {
    /// Two vectors.
    Vectors,
    /// Eight lanes from the first one on.
    Low,
    /// Eight lanes from the ninth one on.
    High,
}

/// The lanes of typed reads and writes of Gen7.5.
fn slots(request: &Request) -> Result<Slots, Trap> {
    match request.field(13, 12) {
        0 => Ok(Slots::Vectors),
        1 => Ok(Slots::Low),
        2 => Ok(Slots::High),
        _ => Err(request.undefined()),
    }
}

/// The lanes of untyped reads and writes.
fn untyped_simd(request: &Request) -> Result<Simd, Trap> {
    match request.field(13, 12) {
        0 => Ok(Simd::X4x2),
        1 => Ok(Simd::X16),
        2 => Ok(Simd::X8),
        _ => Err(request.undefined()),
    }
}

/// Returns a parameter of all lanes. In SIMD4x2 it is a component of a register of vectors.
fn parameter(request: &Request, register: usize, component: usize, simd: Simd) -> Result<Lanes, Trap> {
    match simd {
        Simd::X4x2 => Ok(pair(&request.register(register)?, component)),
        _ => request.lanes(register, simd),
    }
}

/// The enabled lanes that are in the mask of the header, if there is one.
fn masked(request: &Request, simd: Simd, first: u32) -> u16 {
    let mask = request.header.map_or(u32::MAX, |header| header[7] >> first);
    match simd {
        // The mask concerns pixels.
        Simd::X4x2 => request.active(simd),
        _ => request.active(simd) & mask as u16,
    }
}

/// The components that the message has: those that the descriptor does not disable.
fn components(request: &Request) -> impl Iterator<Item = usize> + use<> {
    let disabled = request.field(11, 8);
    (0..4).filter(move |component| disabled >> component & 1 == 0)
}

/// Whether a component of a lane is enabled: in SIMD4x2 it has its own channel.
fn has_channel(request: &Request, simd: Simd, lane: usize, component: usize) -> bool {
    simd != Simd::X4x2 || request.enabled >> (4 * lane + component) & 1 != 0
}

/// Writes components of lanes to the response; `results` are by components.
fn respond(unit: &mut Unit<'_>, request: &Request, simd: Simd, active: u16, results: &[Lanes; 4]) {
    if simd == Simd::X4x2 {
        let words: [u32; 8] = std::array::from_fn(|index| results[index % 4][index / 4]);
        let mask = components(request).fold(0, |mask, component| mask | 0x11 << component);
        unit.respond(request, 0, &words, mask & request.enabled);
        return;
    }
    for (index, component) in components(request).enumerate() {
        unit.respond_lanes(request, index * simd.registers(), simd, &results[component], active);
    }
}

/// Reads consecutive words at a place in bytes for each lane.
pub(super) fn untyped_read(unit: &mut Unit<'_>, request: &Request) -> Result<(), Trap> {
    let simd = untyped_simd(request)?;
    let places = parameter(request, 0, 0, simd)?;
    let active = masked(request, simd, 0);
    let mut results = [[0; 16]; 4];
    for lane in lanes(active) {
        for component in components(request) {
            if has_channel(request, simd, lane, component) {
                let access = untyped(request, lane, places[lane].wrapping_add(4 * component as u32));
                results[component][lane] = unit.environment.load(&access);
            }
        }
    }
    respond(unit, request, simd, active, &results);
    Ok(())
}

fn untyped(request: &Request, lane: usize, address: u32) -> BufferAccess {
    let (function, surface) = (request.function, request.surface());
    BufferAccess { function, surface, lane: lane as u8, address, size: 4 }
}

/// Writes consecutive words at a place in bytes for each lane.
pub(super) fn untyped_write(unit: &mut Unit<'_>, request: &Request) -> Result<(), Trap> {
    let simd = untyped_simd(request)?;
    if simd == Simd::X4x2 && unit.surroundings.chip == Chip::Gen7 {
        return Err(request.undefined());
    }
    let places = parameter(request, 0, 0, simd)?;
    let active = masked(request, simd, 0);
    for (index, component) in components(request).enumerate() {
        let register = if simd == Simd::X4x2 { 1 } else { (1 + index) * simd.registers() };
        let values = parameter(request, register, component, simd)?;
        for lane in lanes(active) {
            if has_channel(request, simd, lane, component) {
                let access = untyped(request, lane, places[lane].wrapping_add(4 * component as u32));
                unit.environment.store(&access, values[lane]);
            }
        }
    }
    Ok(())
}

/// The operation of an atomic message.
fn operation(request: &Request) -> Result<AtomicOp, Trap> {
    AtomicOp::from_code(request.field(11, 8)).ok_or_else(|| request.undefined())
}

/// The operands of an atomic operation, from a register of the payload on.
fn operands(request: &Request, op: AtomicOp, first: usize, simd: Simd) -> Result<[Lanes; 2], Trap> {
    let mut operands = [[0; 16]; 2];
    for (index, operand) in operands.iter_mut().enumerate().take(op.operands()) {
        *operand = match simd {
            // Components of one register.
            Simd::X4x2 => parameter(request, first, index, simd)?,
            _ => parameter(request, first + index * simd.registers(), 0, simd)?,
        };
    }
    Ok(operands)
}

/// Executes an operation on a word at a place in bytes for each lane.
pub(super) fn untyped_atomic(unit: &mut Unit<'_>, request: &Request, simd: Simd) -> Result<(), Trap> {
    let op = operation(request)?;
    let places = parameter(request, 0, 0, simd)?;
    let operands = operands(request, op, simd.registers(), simd)?;
    let active = masked(request, simd, 0);
    let mut results = [0; 16];
    for lane in lanes(active).filter(|&lane| has_channel(request, simd, lane, 0)) {
        let access = untyped(request, lane, places[lane]);
        results[lane] = unit.environment.atomic(&access, op, operands.map(|operand| operand[lane]));
    }
    respond_single(unit, request, simd, active, &results);
    Ok(())
}

/// Writes the result of an atomic operation, if the message returns it.
fn respond_single(unit: &mut Unit<'_>, request: &Request, simd: Simd, active: u16, results: &Lanes) {
    if request.field(13, 13) == 0 {
        return;
    }
    if simd == Simd::X4x2 {
        let mut words = [0; 8];
        (words[0], words[4]) = (results[0], results[1]);
        unit.respond(request, 0, &words, request.enabled & 0x11);
        return;
    }
    unit.respond_lanes(request, 0, simd, results, active);
}

/// The texels of the lanes of a typed message.
struct Texels {
    simd: Simd,
    active: u16,
    /// Coordinates by lanes.
    coordinates: [Lanes; 4],
}

impl Texels {
    /// Takes the coordinates before the last registers of the payload, the number of which is `data`.
    fn new(request: &Request, slots: Slots, data: usize) -> Result<Texels, Trap> {
        request.needed_header()?;
        let count = request.payload.len().checked_sub(data).filter(|count| (1..=4).contains(count));
        let count = count.ok_or_else(|| request.undefined())?;
        let (simd, first) = match slots {
            Slots::Vectors => (Simd::X4x2, 0),
            Slots::Low => (Simd::X8, 0),
            Slots::High => (Simd::X8, 8),
        };
        let mut coordinates = [[0; 16]; 4];
        for (index, coordinate) in coordinates.iter_mut().enumerate() {
            if simd == Simd::X4x2 {
                *coordinate = pair(&request.register(0)?, index);
            } else if index < count {
                *coordinate = request.lanes(index, simd)?;
            }
        }
        Ok(Texels { simd, active: masked(request, simd, first), coordinates })
    }

    fn access(&self, request: &Request, lane: usize) -> TypedAccess {
        let coordinates = self.coordinates.map(|coordinate| coordinate[lane]);
        TypedAccess { surface: request.surface(), lane: lane as u8, coordinates }
    }
}

fn typed_read(unit: &mut Unit<'_>, request: &Request, slots: Slots) -> Result<(), Trap> {
    let texels = Texels::new(request, slots, 0)?;
    let mut results = [[0; 16]; 4];
    for lane in lanes(texels.active) {
        let texel = unit.environment.typed_load(&texels.access(request, lane));
        for (result, value) in results.iter_mut().zip(texel) {
            result[lane] = value;
        }
    }
    respond(unit, request, texels.simd, texels.active, &results);
    Ok(())
}

fn typed_write(unit: &mut Unit<'_>, request: &Request, slots: Slots) -> Result<(), Trap> {
    let data = if slots == Slots::Vectors { 1 } else { components(request).count() };
    let texels = Texels::new(request, slots, data)?;
    let first = request.payload.len() - data;
    let mut values = [[0; 16]; 4];
    for (index, component) in components(request).enumerate() {
        let register = if slots == Slots::Vectors { first } else { first + index };
        values[component] = parameter(request, register, component, texels.simd)?;
    }
    for lane in lanes(texels.active) {
        let mask = components(request)
            .filter(|&component| has_channel(request, texels.simd, lane, component))
            .fold(0, |mask, component| mask | 1 << component);
        let value = values.map(|component| component[lane]);
        unit.environment.typed_store(&texels.access(request, lane), value, mask);
    }
    Ok(())
}

fn typed_atomic(unit: &mut Unit<'_>, request: &Request, slots: Slots) -> Result<(), Trap> {
    let op = operation(request)?;
    let texels = Texels::new(request, slots, op.operands())?;
    let first = request.payload.len() - op.operands();
    let operands = operands(request, op, first, texels.simd)?;
    let mut results = [0; 16];
    for lane in lanes(texels.active).filter(|&lane| has_channel(request, texels.simd, lane, 0)) {
        let operands = operands.map(|operand| operand[lane]);
        results[lane] = unit.environment.typed_atomic(&texels.access(request, lane), op, operands);
    }
    respond_single(unit, request, texels.simd, texels.active, &results);
    Ok(())
}
