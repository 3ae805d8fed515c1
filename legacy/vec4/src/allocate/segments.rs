//! The ranges of the program in which components are live.
//!
//! All segments are in one vector; those of a component form a linked list in ascending order, so that lists are joined
//! without copying.

use super::super::access::{AccessCounts, SPECIAL_REGISTERS};
use super::super::liveness::Liveness;
use super::super::{Machine, Program, Reg, Traits};
use super::{Allocate, Allocation, Bundle, IDENTITY, Move, NONE, freedoms};

/// A half-open range of points (two per instruction: reads at the even one, writes at the odd one), and the value held.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) start: u32,
    pub(super) end: u32,
    value: u32,
    /// The next segment of the list.
    next: u32,
}

/// The value of components that are clobbered by a result stored whole: not a copy of any value.
const OVERWRITTEN: u32 = u32::MAX;

/// All segments.
#[derive(Default)]
pub(super) struct Segments(Vec<Segment>);

impl Segments {
    fn get(&self, number: u32) -> Option<&Segment> {
        self.0.get(number as usize)
    }

    /// The first point of a list.
    pub(super) fn start(&self, list: u32) -> Option<u32> {
        self.get(list).map(|s| s.start)
    }

    /// The segments of a list.
    pub(super) fn iter(&self, list: u32) -> impl Iterator<Item = &Segment> {
        let mut next = list;
        std::iter::from_fn(move || {
            let segment = self.get(next)?;
            next = segment.next;
            Some(segment)
        })
    }

    /// Prepends a segment to a list, joining it with the first if they touch and hold the same value. Returns whether a
    /// segment was added.
    fn push(&mut self, list: &mut u32, start: u32, end: u32, value: u32) -> bool {
        if let Some(first) = self.0.get_mut(*list as usize)
            && first.start <= end
            && first.value == value
        {
            first.start = first.start.min(start);
            first.end = first.end.max(end);
            return false;
        }
        self.0.push(Segment { start, end, value, next: *list });
        *list = self.0.len() as u32 - 1;
        true
    }

    /// Whether two lists hold different values at the same time.
    pub(super) fn interfere(&self, a: u32, b: u32) -> bool {
        let (mut a, mut b) = (a, b);
        while let (Some(x), Some(y)) = (self.get(a), self.get(b)) {
            if x.start < y.end && y.start < x.end && x.value != y.value {
                return true;
            }
            if x.end <= y.end { a = x.next } else { b = y.next }
        }
        false
    }

    /// Joins two lists. Returns the first segment and the number of segments.
    pub(super) fn unite(&mut self, a: u32, b: u32) -> (u32, u32) {
        let (mut a, mut b) = (a, b);
        let (mut first, mut last, mut count) = (NONE, NONE, 0);
        loop {
            let (x, y) = (self.start(a), self.start(b));
            let takes_first = match (x, y) {
                (Some(x), Some(y)) => x <= y,
                (x, _) => x.is_some(),
            };
            let taken = if takes_first { &mut a } else { &mut b };
            let number = *taken;
            let Some(&segment) = self.get(number) else { return (first, count) };
            *taken = segment.next;
            match self.0.get_mut(last as usize) {
                Some(last) if last.value == segment.value && segment.start <= last.end => {
                    last.end = last.end.max(segment.end);
                    continue;
                }
                Some(last) => last.next = number,
                None => first = number,
            }
            self.0[number as usize].next = NONE;
            last = number;
            count += 1;
        }
    }
}

impl Allocation {
    /// Creates a bundle for every temporary.
    pub(super) fn of<M: Allocate>(program: &mut Program<M>) -> Allocation {
        let liveness = program.liveness();
        let count = program.temps();
        let freedom = freedoms(program);
        let bundle = |(temp, freedom)| Bundle {
            positions: [NONE; 4],
            counts: [0; 4],
            writers: [NONE; 4],
            freedom,
            members: (temp, temp),
            output: None,
        };
        let mut allocation = Allocation {
            segments: Segments(Vec::with_capacity(count)),
            bundles: (0..count as u32).zip(freedom).map(bundle).collect(),
            bundle_of: (0..count as u32).collect(),
            register_of: vec![Reg::temp(0); count],
            position_of: vec![IDENTITY; count],
            next_member: vec![NONE; count],
            sources: None,
        };
        LivenessWalk::new(program, &liveness).build(&mut allocation);
        allocation
    }

    fn push(&mut self, temp: usize, component: usize, (start, end): (u32, u32), value: u32) {
        let bundle = &mut self.bundles[temp];
        let is_new = self.segments.push(&mut bundle.positions[component], start, end, value);
        bundle.counts[component] += u32::from(is_new);
    }
}

/// The backward walk over the program.
struct LivenessWalk<'a, M: Allocate> {
    program: &'a Program<M>,
    liveness: &'a Liveness,
    /// The value numbers of the components of temporaries.
    values: Vec<[u32; 4]>,
    live: Vec<u8>,
    /// The ends of the segments of live components.
    open: Vec<[u32; 4]>,
}

impl<'a, M: Allocate> LivenessWalk<'a, M> {
    fn new(program: &'a Program<M>, liveness: &'a Liveness) -> LivenessWalk<'a, M> {
        let values = number_values(program, &liveness.at_start(program));
        let count = program.temps();
        LivenessWalk { program, liveness, values, live: vec![0; count], open: vec![[0; 4]; count] }
    }

    fn build(mut self, allocation: &mut Allocation) {
        for number in (0..self.liveness.blocks.len()).rev() {
            let (start, end) = (self.liveness.blocks[number].start, self.liveness.blocks[number].end);
            let point = 2 * end as u32;
            for &(register, mask) in self.liveness.changes(number) {
                let Some(temp) = register.checked_sub(SPECIAL_REGISTERS).map(|t| t as usize) else { continue };
                let old = self.live[temp];
                self.close(allocation, temp, old & !mask, point);
                self.read(temp, mask, point);
                self.live[temp] = mask;
            }
            for index in (start..end).rev() {
                let access = &self.program.access[index];
                let point = 2 * index as u32;
                if let Some(written) = access.written()
                    && let Some(temp) = written.temp()
                {
                    // An unused result still occupies its components for one point.
                    self.read(temp, written.mask(), point + 2);
                    self.close(allocation, temp, written.mask(), point + 1);
                    self.live[temp] &= !written.mask();
                    if access.traits.any(Traits::STORES_WHOLE) && self.program.machine.stores_whole(access) {
                        for c in (0..4).filter(|c| written.mask() & 1 << c == 0) {
                            debug_assert!(self.live[temp] & 1 << c == 0, "the result should have been separated");
                            allocation.push(temp, c, (point + 1, point + 2), OVERWRITTEN);
                        }
                    }
                }
                if access.traits.any(Traits::CONSTRAINS) {
                    let (program, instruction) = (self.program, &self.program.instructions[index]);
                    program.machine.late_reads(instruction, access, program.first_temp(), |temp, mask| {
                        self.read(temp, mask, point + 2);
                    });
                }
                for read in access.reads() {
                    if let Some(temp) = read.temp() {
                        self.read(temp, read.mask(), point + 1);
                    }
                }
            }
        }
        for temp in 0..self.live.len() {
            self.close(allocation, temp, self.live[temp], 0);
        }
    }

    /// Makes components live up to a point, unless they are live longer.
    fn read(&mut self, temp: usize, mask: u8, end: u32) {
        let new = mask & !self.live[temp];
        if new != 0 {
            self.live[temp] |= new;
            for (c, open) in self.open[temp].iter_mut().enumerate() {
                if new & 1 << c != 0 {
                    *open = end;
                }
            }
        }
    }

    /// Starts the segments of components.
    fn close(&self, allocation: &mut Allocation, temp: usize, mask: u8, start: u32) {
        if mask != 0 {
            for c in (0..4).filter(|c| mask & 1 << c != 0) {
                allocation.push(temp, c, (start, self.open[temp][c]), self.values[temp][c]);
            }
        }
    }
}

/// Numbers the values of components: copies of a component that is written once, in components that are written once,
/// share its number.
fn number_values<M: Allocate>(program: &Program<M>, at_start: &[(u32, u8)]) -> Vec<[u32; 4]> {
    let mut values: Vec<[u32; 4]> =
        (0..program.temps() as u32).map(|t| [4 * t, 4 * t + 1, 4 * t + 2, 4 * t + 3]).collect();
    if Move::all(program).next().is_none() {
        return values;
    }
    let writes = count_writes(program, at_start);
    for Move { copy, to, from } in Move::all(program) {
        for (c, of) in copy.components() {
            if writes[to].are_one(1 << c) && writes[from].are_one(1 << of) {
                values[to][c] = values[from][of];
            }
        }
    }
    values
}

/// Counts the writes of each virtual temporary. Components live at the start count as written more than once.
pub(super) fn count_writes<M: Machine>(program: &Program<M>, at_start: &[(u32, u8)]) -> Vec<AccessCounts> {
    let mut writes = vec![AccessCounts::default(); program.temps()];
    for written in program.access.iter().filter_map(|access| access.written()) {
        if let Some(temp) = written.temp() {
            writes[temp].add(written.mask());
        }
    }
    for &(register, mask) in at_start {
        if let Some(temp) = register.checked_sub(SPECIAL_REGISTERS) {
            writes[temp as usize].add(mask);
            writes[temp as usize].add(mask);
        }
    }
    writes
}
