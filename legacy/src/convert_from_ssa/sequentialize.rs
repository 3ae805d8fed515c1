//! Sequentialises parallel copies.

use tgsi_ir::intrinsics::IndexKind;
use tgsi_ir::{Body, Builder, Cursor, Def};

use super::{Copy, Registers};

/// The source or destination of a parallel copy.
#[derive(Clone, Copy)]
enum Value {
    Ssa(Def),
    Register(Def),
}

/// The values of a parallel copy, and for each register the value it is to receive.
struct Transfer {
    values: Vec<Value>,
    wanted: Vec<Option<usize>>,
    /// Registers that have a position in [`Registers::positions`].
    numbered: Vec<usize>,
}

impl Transfer {
    fn add(&mut self, value: Value) -> usize {
        self.values.push(value);
        self.wanted.push(None);
        self.values.len() - 1
    }

    /// Returns the position of a register, adding it on first occurrence.
    fn register(&mut self, registers: &mut Registers, (number, handle): (usize, Def)) -> usize {
        if registers.positions[number] == 0 {
            self.add(Value::Register(handle));
            registers.positions[number] = self.values.len() as u32;
            self.numbered.push(number);
        }
        registers.positions[number] as usize - 1
    }
}

/// Emits parallel copies as loads and stores in an order that loses no value. Returns the number of extra registers
/// that cycles needed.
///
/// Destinations that stay SSA are loaded first, before any register is written. Between registers, `location[v]` tracks
/// where the content of `v` is now; a destination is ready when its present content is no longer needed.
pub(super) fn sequentialize(body: &mut Body, registers: &mut Registers, mut cursor: Cursor, copies: &[Copy]) -> usize {
    let mut transfer = Transfer { values: Vec::new(), wanted: Vec::new(), numbered: Vec::new() };
    let mut destinations: Vec<usize> = Vec::new();
    for &Copy { source, dest, source_is_register, dest_is_register, .. } in copies {
        let source = body.src_def(source);
        let from = if source_is_register { Some(registers.named(source)) } else { registers.register(body, source) };
        let to = if dest_is_register { Some(registers.named(dest)) } else { registers.register(body, dest) };
        let Some(to) = to else {
            let value = match from {
                None => source,
                Some((_, handle)) => {
                    let mut builder = Builder::new(body, cursor);
                    let value = builder.load_reg(handle, 0);
                    cursor = builder.cursor;
                    value
                }
            };
            body.replace_all_uses(dest, value);
            continue;
        };
        if from.is_some_and(|from| from.0 == to.0) {
            continue;
        }
        let a = match from {
            None => transfer.add(Value::Ssa(source)),
            Some(from) => transfer.register(registers, from),
        };
        let b = transfer.register(registers, to);
        transfer.wanted[b] = Some(a);
        destinations.push(b);
    }
    for &set in &transfer.numbered {
        registers.positions[set] = 0;
    }
    let Transfer { mut values, mut wanted, .. } = transfer;

    let mut emit = |body: &mut Body, from: Value, to: Def| {
        let mut builder = Builder::new(body, cursor);
        let value = match from {
            Value::Ssa(value) => value,
            Value::Register(handle) => builder.load_reg(handle, 0),
        };
        let mask = builder.body.full_mask(value);
        builder.store_reg(value, to, 0, mask);
        cursor = builder.cursor;
    };

    // Whether the content of the first cannot be loaded from the second after a copy.
    let apart = registers.apart;
    let differ = |body: &Body, a: Value, b: Value| match (a, b) {
        (Value::Register(a), Value::Register(b)) if apart => {
            is_divergent_register(body, a) != is_divergent_register(body, b)
        }
        _ => false,
    };
    let count = values.len();
    let mut readers = vec![0u32; count];
    for &b in &destinations {
        if let Some(a) = wanted[b] {
            readers[a] += 1;
        }
    }
    let mut location: Vec<Option<usize>> = vec![None; count];
    for &b in &destinations {
        if let Some(a) = wanted[b] {
            location[a] = Some(a);
        }
    }
    // Ready: destinations with a present content that is not needed.
    let mut ready: Vec<usize> = destinations.iter().copied().filter(|&b| location[b].is_none()).collect();
    let mut to_do = destinations.clone();
    let mut extra = 0;
    while let Some(start) = to_do.pop() {
        if wanted[start].is_some() && ready.is_empty() {
            // Only cycles are left: save the content of one member.
            if let Value::Register(handle) = values[start] {
                let aside = declare_like_register(body, handle);
                emit(body, values[start], aside);
                values.push(Value::Register(aside));
                wanted.push(None);
                location.push(None);
                readers.push(0);
                location[start] = Some(values.len() - 1);
                ready.push(start);
                extra += 1;
            }
        }
        while let Some(b) = ready.pop() {
            let Some(a) = wanted[b].take() else { continue };
            let from = location[a].unwrap_or(a);
            if let Value::Register(to) = values[b] {
                emit(body, values[from], to);
            }
            readers[a] -= 1;
            if differ(body, values[a], values[b]) {
                // Others still read `a` itself; it may be overwritten after the last of them.
                if from == a && readers[a] == 0 && wanted[a].is_some() {
                    ready.push(a);
                }
                continue;
            }
            // The content of `a` is now in `b` too; if `a` itself is a destination, it may be overwritten.
            if from == a && wanted[a].is_some() {
                ready.push(a);
            }
            location[a] = Some(b);
        }
        if wanted[start].is_some() {
            to_do.push(start);
        }
    }
    extra
}

fn is_divergent_register(body: &Body, handle: Def) -> bool {
    body.index(body.def_inst(handle), IndexKind::Divergent) != 0
}

fn declare_like_register(body: &mut Body, handle: Def) -> Def {
    let shape = body.register_shape(handle);
    let divergent = body.index(body.def_inst(handle), IndexKind::Divergent);
    let handle = Builder::at_start(body).decl_reg(shape, 0);
    body.set_index(body.def_inst(handle), IndexKind::Divergent, divergent);
    handle
}
