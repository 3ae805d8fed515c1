//! Virtual temporaries get registers: copies are coalesced, values are packed into the components of few `TEMP`s.
//!
//! 1. Every component of a virtual temporary has *segments*: stretches of the program in which it holds something that is still needed.
//! 2. A *bundle* is a set of temporaries that share a register, with the component (*position*) of each of their components. At first each is a
//!    bundle of its own. A `MOV` between two bundles merges them if their components can be placed so that source and destination coincide and
//!    nothing else overlaps. Components that hold copies of one value may overlap.
//! 3. Bundles, by their first segment, go into the first register with room for them at some placement of their components.
//!
//! Which placements a bundle may have depends on the instructions that write it: those that work channel by channel can write any component, because
//! swizzles are free; 64-bit values must stay in pairs; lookups and loads write where they write.
//!
//! Everything is linear in the number of segments times the number of registers in use.

use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode, OperandType};

use super::Program;
use super::flow::{ComponentSet, Liveness, Numbering};
use super::operands::{for_each_read, is_componentwise, is_permutable, is_replicated, moves_in_pairs, written};

/// Half-open stretch of points (two a place: reads at the even one, writes at the odd one), and the value held.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: u32,
    end: u32,
    value: u32,
}

/// How the components of a bundle may be placed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Freedom {
    /// Any component anywhere.
    Any,
    /// The halves may be swapped.
    Pairs,
    /// As they are.
    Fixed,
}

type Permutation = [u8; 4];

const IDENTITY: Permutation = [0, 1, 2, 3];

/// Placements, the identity first.
const PERMUTATIONS: [Permutation; 24] = [
    [0, 1, 2, 3],
    [1, 0, 2, 3],
    [0, 2, 1, 3],
    [2, 1, 0, 3],
    [0, 3, 2, 1],
    [3, 1, 2, 0],
    [0, 1, 3, 2],
    [2, 0, 1, 3],
    [1, 2, 0, 3],
    [3, 0, 2, 1],
    [1, 3, 2, 0],
    [2, 3, 0, 1],
    [3, 2, 1, 0],
    [1, 0, 3, 2],
    [0, 2, 3, 1],
    [0, 3, 1, 2],
    [2, 1, 3, 0],
    [3, 1, 0, 2],
    [2, 0, 3, 1],
    [3, 0, 1, 2],
    [1, 2, 3, 0],
    [3, 2, 0, 1],
    [1, 3, 0, 2],
    [2, 3, 1, 0],
];

fn placements(freedom: Freedom) -> &'static [Permutation] {
    const PAIRS: [Permutation; 2] = [[0, 1, 2, 3], [2, 3, 0, 1]];
    match freedom {
        Freedom::Any => &PERMUTATIONS,
        Freedom::Pairs => &PAIRS,
        Freedom::Fixed => &PAIRS[..1],
    }
}

struct Bundle {
    positions: [Vec<Segment>; 4],
    freedom: Freedom,
    members: Vec<u32>,
    /// The output that the bundle is.
    output: Option<i32>,
}

/// Most segments of a component for which merging is tried.
const MAX_SEGMENTS: usize = 1024;

struct Allocation {
    bundles: Vec<Bundle>,
    bundle_of: Vec<u32>,
    /// Position of each component of a temporary within its bundle.
    place_of: Vec<Permutation>,
}

/// Allocates. Afterwards temporaries are numbered from 0 without gaps; returns how many there are, arrays included. With `coalesce` off nothing but
/// numbering happens: one register to a temporary.
pub(crate) fn allocate(program: &mut Program, optimize: bool, may_write_outputs_early: bool) -> u32 {
    let numbering = Numbering::of(program);
    let mut allocation = build(program, numbering);
    if optimize {
        coalesce(program, numbering, &mut allocation);
        if may_write_outputs_early {
            become_outputs(program, numbering, &mut allocation);
        }
    }
    let count = assign(program, &mut allocation, optimize);
    rewrite(program, numbering, &allocation);
    program.num_temps = program.first_temp + count;
    program.num_temps
}

/// Makes temporaries one that can share a register with what is copied to them; nothing is packed. The copies then copy registers to themselves.
pub(super) fn coalesce_copies(program: &mut Program) {
    let numbering = Numbering::of(program);
    let mut allocation = build(program, numbering);
    coalesce(program, numbering, &mut allocation);
    let count = assign(program, &mut allocation, false);
    rewrite(program, numbering, &allocation);
    program.num_temps = program.first_temp + count;
}

fn build(program: &Program, numbering: Numbering) -> Allocation {
    let count = numbering.temps();
    let liveness = Liveness::of(program);
    let mut segments: Vec<[Vec<Segment>; 4]> = (0..count).map(|_| Default::default()).collect();
    let freedom = freedoms(program, numbering);
    let mut writes = vec![0u32; count * 4];

    for instruction in &program.instructions {
        if let Some((File::Temporary, index, mask)) = written(instruction)
            && let Some(temp) = numbering.number(File::Temporary, index)
        {
            for c in (0..4).filter(|c| mask & 1 << c != 0) {
                writes[temp * 4 + c] += 1;
            }
        }
    }
    let values = number_values(program, numbering, &writes, &liveness.live_in(0));

    // Backward over each block; ends of open segments by component.
    let mut open = vec![0u32; count * 4];
    for (number, block) in liveness.blocks.iter().enumerate().rev() {
        let block_end = 2 * block.end as u32;
        let mut live = liveness.live_out(number);
        for (temp, mask) in live.iter().filter(|&(t, _)| t < count) {
            for c in (0..4).filter(|c| mask & 1 << c != 0) {
                open[temp * 4 + c] = block_end;
            }
        }
        for place in (block.start..block.end).rev() {
            let instruction = &program.instructions[place];
            let point = 2 * place as u32;
            if let Some((File::Temporary, index, mask)) = written(instruction)
                && let Some(temp) = numbering.number(File::Temporary, index)
            {
                for c in (0..4u8).filter(|c| mask & 1 << c != 0) {
                    let slot = temp * 4 + usize::from(c);
                    let end = if live.get(temp) & 1 << c != 0 { open[slot] } else { point + 2 };
                    push(&mut segments[temp][usize::from(c)], Segment { start: point + 1, end, value: values[slot] });
                }
                live.remove(temp, mask);
            }
            for_each_read(instruction, |file, index, mask| {
                if file == File::Temporary
                    && let Some(temp) = numbering.number(file, index)
                {
                    let new = mask & !live.get(temp);
                    for c in (0..4).filter(|c| new & 1 << c != 0) {
                        open[temp * 4 + c] = point + 1;
                    }
                    live.insert(temp, mask);
                }
            });
        }
        let start = 2 * block.start as u32;
        for (temp, mask) in live.iter().filter(|&(t, _)| t < count) {
            for c in (0..4).filter(|c| mask & 1 << c != 0) {
                let slot = temp * 4 + c;
                push(&mut segments[temp][c], Segment { start, end: open[slot], value: values[slot] });
            }
        }
    }
    let bundles = segments
        .into_iter()
        .zip(freedom)
        .enumerate()
        .map(|(temp, (mut positions, freedom))| {
            for list in &mut positions {
                list.reverse();
            }
            Bundle { positions, freedom, members: vec![temp as u32], output: None }
        })
        .collect();
    Allocation { bundles, bundle_of: (0..count as u32).collect(), place_of: vec![IDENTITY; count] }
}

/// Adds a segment that lies before those in the list (which is in descending order), joining it if they touch.
fn push(list: &mut Vec<Segment>, segment: Segment) {
    match list.last_mut() {
        Some(last) if last.start <= segment.end && last.value == segment.value => {
            last.start = last.start.min(segment.start);
            last.end = last.end.max(segment.end);
        }
        _ => list.push(segment),
    }
}

/// How the components of each virtual temporary may be placed.
pub(super) fn freedoms(program: &Program, numbering: Numbering) -> Vec<Freedom> {
    let mut freedom = vec![Freedom::Any; numbering.temps()];
    for instruction in &program.instructions {
        constrain(instruction, numbering, &mut freedom);
    }
    freedom
}

/// Narrows the freedom of the temporaries of an instruction.
fn constrain(instruction: &Instruction, numbering: Numbering, freedom: &mut [Freedom]) {
    let info = instruction.opcode.info();
    let narrow = |freedom: &mut [Freedom], index: i32, to: Freedom| {
        if let Some(temp) = numbering.number(File::Temporary, index) {
            freedom[temp] = freedom[temp].max(to);
        }
    };
    if let Some((File::Temporary, index, _)) = written(instruction)
        && !is_permutable(instruction.opcode)
    {
        narrow(freedom, index, if moves_in_pairs(instruction.opcode) { Freedom::Pairs } else { Freedom::Fixed });
    }
    for (number, src) in instruction.src.iter().enumerate() {
        if src.register.file != File::Temporary || src.register.indirect.is_some() {
            continue;
        }
        let resource =
            info.is_tex && number + 1 == usize::from(info.num_src) || number == 0 && reads_resource(instruction.opcode);
        if resource {
            narrow(freedom, src.register.index, Freedom::Fixed);
        } else if info.src_types.get(number).is_some_and(|t| t.is_64bit()) {
            narrow(freedom, src.register.index, Freedom::Pairs);
        }
    }
    if instruction.opcode == Opcode::Store
        && let Some(dst) = instruction.dst.first()
        && dst.register.file == File::Temporary
    {
        narrow(freedom, dst.register.index, Freedom::Fixed);
    }
}

fn reads_resource(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Load | Opcode::Resq) || (opcode.info().is_store && opcode != Opcode::Store)
}

/// A copy between temporaries that changes nothing but the places of components.
struct Move<'a> {
    dst: &'a Dst,
    src: &'a Src,
    /// Number of the temporary that is written.
    to: usize,
    /// Number of the one that is read.
    from: usize,
}

impl<'a> Move<'a> {
    fn of(instruction: &'a Instruction, numbering: Numbering) -> Option<Move<'a>> {
        if instruction.opcode != Opcode::Mov || instruction.saturate {
            return None;
        }
        let (dst, src) = (instruction.dst.first()?, instruction.src.first()?);
        if src.negate || src.absolute || dst.register.indirect.is_some() || src.register.indirect.is_some() {
            return None;
        }
        let temporary = |r: Register| numbering.number(r.file, r.index).filter(|&t| t < numbering.temps());
        Some(Move { dst, src, to: temporary(dst.register)?, from: temporary(src.register)? })
    }
}

/// Numbers of the values that components hold: copies of a component that is written once, by components that are written once, have its number.
fn number_values(program: &Program, numbering: Numbering, writes: &[u32], at_start: &ComponentSet) -> Vec<u32> {
    let mut values: Vec<u32> = (0..writes.len() as u32).collect();
    let once = |slot: usize| writes[slot] == 1 && at_start.get(slot / 4) & 1 << (slot % 4) == 0;
    for instruction in &program.instructions {
        let Some(Move { dst, src, to, from }) = Move::of(instruction, numbering) else { continue };
        for c in (0..4).filter(|c| dst.write_mask & 1 << c != 0) {
            let (to, from) = (to * 4 + c, from * 4 + usize::from(src.swizzle[c] & 3));
            if once(to) && once(from) {
                values[to] = values[from];
            }
        }
    }
    values
}

/// Whether two lists hold different values at the same time.
fn interfere(a: &[Segment], b: &[Segment]) -> bool {
    let (mut i, mut k) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(k)) {
        if x.start < y.end && y.start < x.end && x.value != y.value {
            return true;
        }
        if x.end <= y.end { i += 1 } else { k += 1 }
    }
    false
}

fn unite(a: &[Segment], b: &[Segment]) -> Vec<Segment> {
    let mut result: Vec<Segment> = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut k) = (0, 0);
    loop {
        let next = match (a.get(i), b.get(k)) {
            (Some(x), Some(y)) if x.start <= y.start => {
                i += 1;
                *x
            }
            (_, Some(y)) => {
                k += 1;
                *y
            }
            (Some(x), None) => {
                i += 1;
                *x
            }
            (None, None) => return result,
        };
        match result.last_mut() {
            Some(last) if last.value == next.value && next.start <= last.end => last.end = last.end.max(next.end),
            _ => result.push(next),
        }
    }
}

fn coalesce(program: &Program, numbering: Numbering, allocation: &mut Allocation) {
    for instruction in &program.instructions {
        let Some(Move { dst, src, to, from }) = Move::of(instruction, numbering) else { continue };
        let mut pairs: Vec<(u8, u8)> = Vec::new();
        let mut taken = 0u8;
        for c in (0..4usize).filter(|c| dst.write_mask & 1 << c != 0) {
            let component = src.swizzle[c] & 3;
            // A component that goes to several places can only coincide with one of them.
            if taken & 1 << component == 0 {
                taken |= 1 << component;
                pairs.push((allocation.place_of[to][c], allocation.place_of[from][usize::from(component)]));
            }
        }
        if !allocation.merge(to, from, &pairs) && pairs.len() > 1 {
            for pair in pairs {
                if allocation.merge(to, from, &[pair]) {
                    break;
                }
            }
        }
    }
}

impl Allocation {
    /// Merges the bundles of two temporaries so that positions of the second coincide with positions of the first.
    fn merge(&mut self, to: usize, from: usize, pairs: &[(u8, u8)]) -> bool {
        let (a, b) = (self.bundle_of[to] as usize, self.bundle_of[from] as usize);
        if a == b {
            return false;
        }
        let (x, y) = (&self.bundles[a], &self.bundles[b]);
        if x.positions.iter().chain(&y.positions).any(|l| l.len() > MAX_SEGMENTS) {
            return false;
        }
        // Move the components of one bundle, or failing that of the other.
        let fits = |fixed: &Bundle, moved: &Bundle, swap: bool| {
            placements(moved.freedom).iter().copied().find(|p| {
                pairs.iter().all(|&(t, f)| {
                    let (stay, go) = if swap { (f, t) } else { (t, f) };
                    p[usize::from(go)] == stay
                }) && (0..4).all(|k| !interfere(&moved.positions[k], &fixed.positions[usize::from(p[k])]))
            })
        };
        if let Some(p) = fits(x, y, false) {
            self.join(a, b, p);
            true
        } else if let Some(p) = fits(y, x, true) {
            self.join(b, a, p);
            true
        } else {
            false
        }
    }

    /// Puts bundle `b` into `a` with its positions moved.
    fn join(&mut self, a: usize, b: usize, p: Permutation) {
        let moved = std::mem::replace(
            &mut self.bundles[b],
            Bundle { positions: Default::default(), freedom: Freedom::Any, members: Vec::new(), output: None },
        );
        for (k, list) in moved.positions.iter().enumerate() {
            if !list.is_empty() {
                let target = &mut self.bundles[a].positions[usize::from(p[k])];
                *target = unite(target, list);
            }
        }
        self.bundles[a].freedom = self.bundles[a].freedom.max(moved.freedom);
        for &member in &moved.members {
            self.bundle_of[member as usize] = a as u32;
            self.place_of[member as usize] = self.place_of[member as usize].map(|k| p[usize::from(k)]);
        }
        self.bundles[a].members.extend(moved.members);
    }
}

/// What a component of a register is taken by: ends by starts, disjoint.
type Taken = std::collections::BTreeMap<u32, u32>;

fn has_room(taken: &Taken, list: &[Segment]) -> bool {
    list.iter().all(|s| taken.range(..s.end).next_back().is_none_or(|(_, &end)| end <= s.start))
}

/// Marks the numbers of outputs among the registers of temporaries.
const OUTPUT: u32 = 1 << 31;

/// The register that a temporary has become.
fn register_of(number: u32) -> (File, i32) {
    if number & OUTPUT != 0 { (File::Output, (number & !OUTPUT) as i32) } else { (File::Temporary, number as i32) }
}

/// Bundles that are only collected to be copied to an output at the end of the program are that output.
///
/// The copy must be outside of all control flow, so that it happens in any case, and nothing else may write those components of the output.
fn become_outputs(program: &Program, numbering: Numbering, allocation: &mut Allocation) {
    if program.instructions.iter().any(|i| i.src.iter().any(|s| s.register.file == File::Output)) {
        return;
    }
    #[derive(Clone, Copy, PartialEq)]
    enum Reader {
        None,
        Copy(usize),
        Other,
    }
    let mut readers = vec![Reader::None; allocation.bundles.len()];
    // Writes to each component of the outputs; none if some write cannot be told.
    let mut writes: std::collections::HashMap<i32, [u32; 4]> = std::collections::HashMap::new();
    let mut depth = 0i32;
    for (place, instruction) in program.instructions.iter().enumerate() {
        match instruction.opcode {
            Opcode::If | Opcode::Uif | Opcode::Bgnloop => depth += 1,
            Opcode::Endif | Opcode::Endloop => depth -= 1,
            _ => {}
        }
        if let Some(dst) = instruction.dst.first()
            && dst.register.file == File::Output
        {
            if dst.register.indirect.is_some() || dst.register.dimension.is_some() {
                return;
            }
            let counts = writes.entry(dst.register.index).or_default();
            for c in (0..4).filter(|c| dst.write_mask & 1 << c != 0) {
                counts[c] += 1;
            }
        }
        let is_copy = instruction.opcode == Opcode::Mov
            && !instruction.saturate
            && instruction.src.first().is_some_and(|s| !s.negate && !s.absolute && s.register.indirect.is_none());
        let to_output =
            is_copy && depth == 0 && instruction.dst.first().is_some_and(|d| d.register.file == File::Output);
        let target = instruction.dst.first().filter(|_| is_copy).and_then(|d| {
            (d.register.indirect.is_none()).then(|| numbering.number(d.register.file, d.register.index))?
        });
        for_each_read(instruction, |file, index, _| {
            let Some(temp) = numbering.number(file, index).filter(|&t| t < numbering.temps()) else { return };
            let bundle = allocation.bundle_of[temp] as usize;
            let within = target.is_some_and(|t| {
                t < numbering.temps()
                    && allocation.bundle_of[t] as usize == bundle
                    && (0..4).all(|c| {
                        instruction.dst[0].write_mask & 1 << c == 0
                            || allocation.place_of[t][c]
                                == allocation.place_of[temp][usize::from(instruction.src[0].swizzle[c] & 3)]
                    })
            });
            if within {
                return;
            }
            readers[bundle] = match readers[bundle] {
                Reader::None if to_output => Reader::Copy(place),
                _ => Reader::Other,
            };
        });
    }
    for (number, reader) in readers.iter().enumerate() {
        let Reader::Copy(place) = *reader else { continue };
        let copy = &program.instructions[place];
        let (dst, src) = (&copy.dst[0], &copy.src[0]);
        let Some(temp) = numbering.number(src.register.file, src.register.index) else { continue };
        let counts = writes.get(&dst.register.index).copied().unwrap_or_default();
        let mut to: [Option<u8>; 4] = [None; 4];
        let mut taken = 0u8;
        let mut fits = true;
        for c in (0..4u8).filter(|c| dst.write_mask & 1 << c != 0) {
            let position = usize::from(allocation.place_of[temp][usize::from(src.swizzle[usize::from(c)] & 3)]);
            fits &= to[position].is_none() && counts[usize::from(c)] == 1;
            to[position] = Some(c);
            taken |= 1 << c;
        }
        let bundle = &allocation.bundles[number];
        fits &= (0..4).all(|p| bundle.positions[p].is_empty() || to[p].is_some());
        if !fits {
            continue;
        }
        let mut placement = IDENTITY;
        for p in 0..4 {
            placement[p] = to[p].unwrap_or_else(|| {
                let free = (0..4u8).find(|c| taken & 1 << c == 0).unwrap_or(0);
                taken |= 1 << free;
                free
            });
        }
        let allowed = match bundle.freedom {
            Freedom::Any => true,
            freedom => placements(freedom)
                .iter()
                .any(|q| (0..4).all(|p| bundle.positions[p].is_empty() || q[p] == placement[p])),
        };
        if !allowed {
            continue;
        }
        allocation.bundles[number].output = Some(dst.register.index);
        for &member in &allocation.bundles[number].members {
            let place = &mut allocation.place_of[member as usize];
            *place = place.map(|k| placement[usize::from(k)]);
        }
    }
}

/// Gives every bundle that is no output a register and final positions; returns the number of registers.
fn assign(program: &Program, allocation: &mut Allocation, pack: bool) -> u32 {
    let mut order: Vec<(u32, usize)> = allocation
        .bundles
        .iter()
        .enumerate()
        .filter(|(_, b)| b.output.is_none())
        .filter_map(|(number, b)| Some((b.positions.iter().filter_map(|l| l.first()).map(|s| s.start).min()?, number)))
        .collect();
    order.sort_unstable();
    let mut registers: Vec<[Taken; 4]> = Vec::new();
    let mut result: Vec<(u32, Permutation)> = vec![(0, IDENTITY); allocation.bundles.len()];
    for (_, number) in order {
        let bundle = &allocation.bundles[number];
        let found = if pack {
            registers.iter().enumerate().find_map(|(register, taken)| {
                let mut room = [0u8; 4];
                for (room, list) in room.iter_mut().zip(&bundle.positions) {
                    for (position, taken) in taken.iter().enumerate() {
                        if has_room(taken, list) {
                            *room |= 1 << position;
                        }
                    }
                    if *room == 0 {
                        return None;
                    }
                }
                placements(bundle.freedom)
                    .iter()
                    .find(|p| (0..4).all(|k| room[k] & 1 << p[k] != 0))
                    .map(|p| (register, *p))
            })
        } else {
            None
        };
        let (register, placement) = found.unwrap_or_else(|| {
            registers.push(Default::default());
            (registers.len() - 1, IDENTITY)
        });
        for (k, list) in bundle.positions.iter().enumerate() {
            let taken = &mut registers[register][usize::from(placement[k])];
            // Segments of one value may overlap: enter their union.
            let mut current: Option<(u32, u32)> = None;
            for s in list {
                match &mut current {
                    Some((_, end)) if s.start <= *end => *end = (*end).max(s.end),
                    _ => {
                        if let Some((start, end)) = current {
                            taken.insert(start, end);
                        }
                        current = Some((s.start, s.end));
                    }
                }
            }
            if let Some((start, end)) = current {
                taken.insert(start, end);
            }
        }
        result[number] = (register as u32, placement);
    }
    for (number, bundle) in allocation.bundles.iter().enumerate() {
        if let Some(output) = bundle.output {
            for &member in &bundle.members {
                allocation.bundle_of[member as usize] = OUTPUT | output as u32;
            }
            continue;
        }
        let (register, placement) = result[number];
        for &member in &bundle.members {
            let member = member as usize;
            allocation.place_of[member] = allocation.place_of[member].map(|k| placement[usize::from(k)]);
            allocation.bundle_of[member] = program.first_temp + register;
        }
    }
    registers.len() as u32
}

/// Replaces virtual temporaries by registers.
fn rewrite(program: &mut Program, numbering: Numbering, allocation: &Allocation) {
    for instruction in &mut program.instructions {
        for src in &mut instruction.src {
            rewrite_source(src, numbering, allocation);
        }
        if let Some(texture) = &mut instruction.texture {
            for offset in &mut texture.offsets {
                if let Some(temp) =
                    numbering.number(offset.file, offset.index).filter(|_| offset.file == File::Temporary)
                {
                    offset.index = allocation.bundle_of[temp] as i32;
                    offset.swizzle = offset.swizzle.map(|c| allocation.place_of[temp][usize::from(c & 3)]);
                }
            }
        }
        let opcode = instruction.opcode;
        let Some(dst) = instruction.dst.first_mut() else { continue };
        if dst.register.file != File::Temporary || dst.register.indirect.is_some() {
            continue;
        }
        let Some(temp) = numbering.number(File::Temporary, dst.register.index) else { continue };
        (dst.register.file, dst.register.index) = register_of(allocation.bundle_of[temp]);
        let place = allocation.place_of[temp];
        if opcode == Opcode::Store || place == IDENTITY {
            continue;
        }
        let old = dst.write_mask;
        let mask = (0..4).filter(|c| old & 1 << c != 0).fold(0, |m, c| m | 1 << place[c]);
        dst.write_mask = mask;
        if is_replicated(opcode) {
            continue;
        }
        if is_componentwise(opcode) {
            for src in &mut instruction.src {
                let swizzle = src.swizzle;
                for c in (0..4).filter(|c| old & 1 << c != 0) {
                    src.swizzle[usize::from(place[c])] = swizzle[c];
                }
            }
        } else if moves_in_pairs(opcode) && place == [2, 3, 0, 1] {
            for src in &mut instruction.src {
                let [x, y, z, w] = src.swizzle;
                src.swizzle = [z, w, x, y];
            }
        }
    }
    debug_assert!(
        program.instructions.iter().all(|i| {
            i.dst.first().is_none_or(|d| d.write_mask != 0 || i.opcode.info().dst_type == OperandType::None)
        })
    );
}

fn rewrite_source(src: &mut Src, numbering: Numbering, allocation: &Allocation) {
    if src.register.file != File::Temporary || src.register.indirect.is_some() {
        return;
    }
    let Some(temp) = numbering.number(File::Temporary, src.register.index) else { return };
    (src.register.file, src.register.index) = register_of(allocation.bundle_of[temp]);
    src.swizzle = src.swizzle.map(|c| allocation.place_of[temp][usize::from(c & 3)]);
}
