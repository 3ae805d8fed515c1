//! Planes by liveness: values that do not live at once share planes.
//!
//! The list of operations is in the order of the code. A value lives from its first to its last mention, and throughout
//! every loop that it lives in only a part of, unless it is made and read in one iteration. Free planes are kept by the
//! number of planes that a value needs, so this takes one walk over the operations.

use std::collections::BTreeMap;

use super::{Op, Program, Value};

/// First and last operation that mention a value.
#[derive(Clone, Copy)]
struct Interval {
    first: u32,
    last: u32,
}

/// Assigns planes anew. `loops`: first and last operation of each. `values`: all values.
pub(super) fn assign(program: &mut Program, loops: &[(u32, u32)], values: &[Value]) {
    let count = program.value_planes as usize;
    // Planes that move together: the first plane of the value that a plane belongs to, and its planes.
    let mut owner: Vec<u32> = (0..program.value_planes).collect();
    let mut size: Vec<u32> = vec![1; count];
    let note = |value: Value, owner: &mut [u32], size: &mut [u32]| {
        if value.components != 0 {
            for plane in value.plane..value.plane + value.planes() {
                owner[plane as usize] = value.plane;
            }
            size[value.plane as usize] = value.planes();
        }
    };
    // The high words of wide components are found by their distance.
    let wide = values.iter().copied().filter(|value| value.bits == 64);
    for value in whole_values(program).into_iter().chain(wide) {
        note(value, &mut owner, &mut size);
    }
    let mut fixed = vec![false; count];
    for &(plane, _) in &program.constants {
        fixed[owner[plane as usize] as usize] = true;
    }
    // Intervals.
    let mut intervals: Vec<Option<Interval>> = vec![None; count];
    for at in 0..program.ops.len() {
        mentions(program, program.ops[at], &mut |plane| {
            let interval = &mut intervals[owner[plane as usize] as usize];
            match interval {
                Some(interval) => interval.last = at as u32,
                None => *interval = Some(Interval { first: at as u32, last: at as u32 }),
            }
        });
    }
    extend(&mut intervals, loops, program.ops.len());
    // One walk: at each operation first those that begin, then those that ended.
    let mut begins: Vec<Vec<u32>> = vec![Vec::new(); program.ops.len() + 1];
    let mut ends: Vec<Vec<u32>> = vec![Vec::new(); program.ops.len() + 1];
    for (plane, interval) in (0u32..).zip(&intervals) {
        if let (Some(interval), false) = (interval, fixed[plane as usize]) {
            begins[interval.first as usize].push(plane);
            ends[interval.last as usize].push(plane);
        }
    }
    let mut next = 0u32;
    let mut place = vec![u32::MAX; count];
    for plane in 0..count {
        // Constants stand first.
        if fixed[plane] && owner[plane] == plane as u32 {
            place[plane] = next;
            next += size[plane];
        }
    }
    let mut free: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for at in 0..program.ops.len() {
        for &plane in &begins[at] {
            let size = size[plane as usize];
            place[plane as usize] = free.get_mut(&size).and_then(Vec::pop).unwrap_or_else(|| {
                next += size;
                next - size
            });
        }
        for &plane in &ends[at] {
            free.entry(size[plane as usize]).or_default().push(place[plane as usize]);
        }
    }
    // What no operation mentions has no place.
    let moved = |plane: u32| {
        let first = owner[plane as usize];
        match place[first as usize] {
            u32::MAX => 0,
            place => place + (plane - first),
        }
    };
    rename(program, moved);
    program.value_planes = next.max(1);
}

/// Makes intervals whole loops long where a value lives into one or out of one.
fn extend(intervals: &mut [Option<Interval>], loops: &[(u32, u32)], ops: usize) {
    // For each operation, the innermost loop; loops close inner ones first.
    let mut inner = vec![u32::MAX; ops + 1];
    let mut outer = vec![u32::MAX; loops.len()];
    let mut order: Vec<u32> = (0..loops.len() as u32).collect();
    order.sort_by_key(|&number| (loops[number as usize].0, std::cmp::Reverse(loops[number as usize].1)));
    let mut stack: Vec<u32> = Vec::new();
    let mut next = order.iter().peekable();
    for (at, slot) in (0u32..).zip(inner.iter_mut()) {
        while stack.last().is_some_and(|&number| loops[number as usize].1 < at) {
            stack.pop();
        }
        while let Some(&&number) = next.peek()
            && loops[number as usize].0 <= at
        {
            outer[number as usize] = stack.last().copied().unwrap_or(u32::MAX);
            stack.push(number);
            next.next();
        }
        *slot = stack.last().copied().unwrap_or(u32::MAX);
    }
    for interval in intervals.iter_mut().flatten() {
        let contains = |number: u32, at: u32| {
            let (first, last) = loops[number as usize];
            (first..=last).contains(&at)
        };
        let mut number = inner[interval.last as usize];
        while number != u32::MAX && !contains(number, interval.first) {
            interval.last = interval.last.max(loops[number as usize].1);
            number = outer[number as usize];
        }
        let mut number = inner[interval.first as usize];
        while number != u32::MAX && !contains(number, interval.last) {
            interval.first = interval.first.min(loops[number as usize].0);
            number = outer[number as usize];
        }
    }
}

/// Values of which the planes must stand side by side.
fn whole_values(program: &Program) -> Vec<Value> {
    let mut values = Vec::new();
    for general in &program.generals {
        values.push(general.dest);
    }
    for intrinsic in &program.intrinsics {
        values.extend(intrinsic.sources());
        values.push(intrinsic.dest);
    }
    for texture in &program.textures {
        values.extend(texture.sources);
        values.push(texture.dest);
    }
    for step in &program.steps {
        values.extend([step.dest, step.parent, step.index]);
    }
    values
}

fn mentions(program: &Program, op: Op, visit: &mut dyn FnMut(u32)) {
    match op {
        Op::Lane { op, dest, sources, .. } => {
            for &source in &sources[..usize::from(op.info().num_inputs).min(3)] {
                visit(source);
            }
            visit(dest);
        }
        Op::General(number) => {
            let general = &program.generals[number as usize];
            for (planes, high) in &general.sources {
                for &plane in planes {
                    visit(plane);
                    visit(plane + high);
                }
            }
            visit(general.dest.plane);
        }
        Op::Copies(number) => {
            for copy in &program.copies[number as usize] {
                visit(copy.source);
                visit(copy.dest);
            }
        }
        Op::Intrinsic(number) => {
            let intrinsic = &program.intrinsics[number as usize];
            for value in intrinsic.sources().iter().chain([&intrinsic.dest]).filter(|value| value.components != 0) {
                visit(value.plane);
            }
        }
        Op::Texture(number) => {
            let texture = &program.textures[number as usize];
            for value in texture.sources.iter().chain([&texture.dest]).filter(|value| value.components != 0) {
                visit(value.plane);
            }
        }
        Op::Step(number) => {
            let step = program.steps[number as usize];
            for value in [step.parent, step.index, step.dest] {
                visit(value.plane);
            }
        }
        Op::If { condition, .. } => visit(condition),
        Op::Else { .. }
        | Op::EndIf { .. }
        | Op::Loop
        | Op::Continue
        | Op::EndLoop { .. }
        | Op::Jump { .. }
        | Op::End => {}
    }
}

fn rename(program: &mut Program, moved: impl Fn(u32) -> u32) {
    let value = |value: &mut Value| {
        if value.components != 0 {
            value.plane = moved(value.plane);
        }
    };
    for op in &mut program.ops {
        match op {
            Op::Lane { op, dest, sources, .. } => {
                *dest = moved(*dest);
                for source in &mut sources[..usize::from(op.info().num_inputs).min(3)] {
                    *source = moved(*source);
                }
            }
            Op::If { condition, .. } => *condition = moved(*condition),
            _ => {}
        }
    }
    for general in &mut program.generals {
        for (planes, _) in &mut general.sources {
            planes.iter_mut().for_each(|plane| *plane = moved(*plane));
        }
        value(&mut general.dest);
    }
    for copy in program.copies.iter_mut().flatten() {
        (copy.dest, copy.source) = (moved(copy.dest), moved(copy.source));
    }
    for intrinsic in &mut program.intrinsics {
        intrinsic.sources.iter_mut().for_each(value);
        value(&mut intrinsic.dest);
    }
    for texture in &mut program.textures {
        texture.sources.iter_mut().for_each(value);
        value(&mut texture.dest);
    }
    for step in &mut program.steps {
        value(&mut step.dest);
        value(&mut step.parent);
        value(&mut step.index);
    }
    for (plane, _) in &mut program.constants {
        *plane = moved(*plane);
    }
}
