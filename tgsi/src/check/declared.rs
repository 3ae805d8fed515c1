//! The declared registers of a shader, with lookups in O(log n), independent of the size of the ranges.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::registers::RegisterSet;
use crate::shader::{Declaration, Indirect, Register, Shader};
use crate::tables::{File, Semantic};
use tgsi_diagnostics::{Diagnostic, Focus};

/// A register as one number: outer index (of constant and atomic buffers, otherwise 0) times 65536 plus inner index.
pub(super) type Key = u32;

/// The key of register `index` of buffer `outer`.
pub(super) fn key(outer: u16, index: u16) -> Key {
    u32::from(outer) << 16 | u32::from(index)
}

/// Returns the outer index that identifies a declared register.
pub(super) fn outer(declaration: &Declaration) -> u16 {
    match declaration.file {
        File::Constant | File::HwAtomic => declaration.dimension.unwrap_or(0),
        _ => 0,
    }
}

/// The declared registers of a shader.
pub(super) struct DeclaredRegisters<'a> {
    shader: &'a Shader,
    /// Disjoint ranges in ascending order, both ends included, per file.
    ranges: [Vec<(Key, Key)>; 15],
    /// The registers of these ranges, per file.
    registers: [RegisterSet; 15],
    /// Inputs, outputs, sampler views and images: (first, last, declaration), disjoint and ascending.
    described: [Vec<(u16, u16, usize)>; 4],
    arrays: HashMap<(File, u16), usize>,
}

impl<'a> DeclaredRegisters<'a> {
    /// Collects the declarations of `shader`.
    pub(super) fn new(shader: &'a Shader) -> DeclaredRegisters<'a> {
        let mut ranges: [Vec<(Key, Key)>; 15] = Default::default();
        let mut described: [Vec<(u16, u16, usize)>; 4] = Default::default();
        let mut arrays = HashMap::new();
        for (number, d) in shader.declarations.iter().enumerate() {
            if d.first > d.last {
                continue;
            }
            ranges[d.file as usize].push((key(outer(d), d.first), key(outer(d), d.last)));
            if let Some(position) = described_file(d.file) {
                described[position].push((d.first, d.last, number));
            }
            if let Some(array) = d.array() {
                arrays.entry((d.file, array)).or_insert(number);
            }
        }
        if let Some(last) = shader.immediates.len().checked_sub(1) {
            ranges[File::Immediate as usize].push((0, last as Key));
        }
        for list in &mut ranges {
            merge(list);
        }
        described.iter_mut().for_each(divide);
        let mut registers: [RegisterSet; 15] = Default::default();
        for (set, ranges) in registers.iter_mut().zip(&ranges) {
            for &(first, last) in ranges {
                set.insert_range(first, last);
            }
        }
        DeclaredRegisters { shader, ranges, registers, described, arrays }
    }

    /// Whether any register of `file` is declared.
    pub(super) fn any(&self, file: File) -> bool {
        !self.ranges[file as usize].is_empty()
    }

    /// Whether any register from `first` to `last` is declared.
    pub(super) fn any_in(&self, file: File, first: Key, last: Key) -> bool {
        let ranges = &self.ranges[file as usize];
        ranges.get(ranges.partition_point(|&(_, end)| end < first)).is_some_and(|&(start, _)| start <= last)
    }

    /// Whether the register is certainly declared; may return false for a declared one.
    #[inline]
    pub(super) fn surely(&self, file: File, outer: usize, index: usize) -> bool {
        self.registers[file as usize].contains(outer, index)
    }

    /// Whether the register is declared.
    pub(super) fn contains(&self, file: File, register: Key) -> bool {
        self.any_in(file, register, register)
    }

    /// Returns the declaration of an array.
    pub(super) fn array(&self, file: File, array_id: u16) -> Option<&'a Declaration> {
        self.arrays.get(&(file, array_id)).and_then(|&d| self.shader.declarations.get(d))
    }

    /// Returns the semantic of an input or output register. `None`: not declared; `Some(None)`: declared without.
    pub(super) fn semantic(&self, file: File, index: i32) -> Option<Option<Semantic>> {
        let declaration = self.declaration(file, index)?;
        Some(declaration.semantic.map(|s| s.name))
    }

    /// Returns the declaration of an input, an output, a sampler view or an image; the first one if there are several.
    pub(super) fn declaration(&self, file: File, index: i32) -> Option<&'a Declaration> {
        let index = u16::try_from(index).ok()?;
        let list = &self.described[described_file(file)?];
        let after = list.partition_point(|&(first, _, _)| first <= index);
        let &(_, last, number) = list.get(after.checked_sub(1)?)?;
        if index <= last { self.shader.declarations.get(number) } else { None }
    }
}

/// Returns the index of a file among those with descriptive declarations.
pub(super) fn described_file(file: File) -> Option<usize> {
    [File::Input, File::Output, File::SamplerView, File::Image].iter().position(|&f| f == file)
}

/// Sorts ranges with their declarations; registers with several declarations are assigned to the first.
fn divide(list: &mut Vec<(u16, u16, usize)>) {
    list.sort_unstable();
    if list.windows(2).all(|pair| matches!(pair, [a, b] if a.1 < b.0)) {
        return;
    }
    // Start points and end points of the ranges.
    let begins = list.iter().map(|&(first, _, number)| (u32::from(first), true, number));
    let ends = list.iter().map(|&(_, last, number)| (u32::from(last) + 1, false, number));
    let mut edges: Vec<(u32, bool, usize)> = begins.chain(ends).collect();
    edges.sort_unstable();
    list.clear();
    let mut open = BTreeSet::new();
    let mut from = 0;
    for (position, begins, number) in edges {
        if let Some(&owner) = open.first()
            && position > from
        {
            match list.last_mut() {
                Some(before) if before.2 == owner && u32::from(before.1) + 1 == from => {
                    before.1 = (position - 1) as u16
                }
                _ => list.push((from as u16, (position - 1) as u16, owner)),
            }
        }
        from = position;
        if begins {
            open.insert(number);
        } else {
            open.remove(&number);
        }
    }
}

/// Sorts ranges and joins those that overlap or touch.
fn merge(ranges: &mut Vec<(Key, Key)>) {
    ranges.sort_unstable();
    ranges.dedup_by(|next, kept| {
        let joined = next.0 <= kept.1.saturating_add(1);
        if joined {
            kept.1 = kept.1.max(next.1);
        }
        joined
    });
}

/// Adds a note with the declaration that contains the register, otherwise with the nearest one.
pub(super) fn note_declaration(finding: Option<&mut Diagnostic>, shader: &Shader, register: &Register) {
    let Some(finding) = finding else { return };
    if register.file == File::Immediate {
        if let Some(last) = shader.immediates.last() {
            let message = format!("the last immediate is IMM[{}]", shader.immediates.len() - 1);
            finding.note(last.span, Focus::Whole, message);
        }
        return;
    }
    let buffer = match register.file {
        File::Constant | File::HwAtomic => register.dimension.map_or(0, |d| d.index),
        _ => 0,
    };
    let declared = shader.declarations.iter().filter(|d| d.file == register.file);
    let nearest = declared.min_by_key(|d| {
        let (first, last) = (i32::from(d.first), i32::from(d.last));
        let gap = (first - register.index).max(register.index - last).max(0);
        (buffer.abs_diff(outer(d).into()), gap)
    });
    if let Some(nearest) = nearest {
        let says =
            if nearest.first == nearest.last { "this register is declared" } else { "these registers are declared" };
        finding.note(nearest.span, Focus::Register, says);
    }
}

/// Formats a register for messages.
pub(super) fn show(register: &Register) -> String {
    let bracket = |index: i32, indirect: Option<Indirect>| match indirect {
        None => format!("[{index}]"),
        Some(i) => {
            let component = ['x', 'y', 'z', 'w'].get(usize::from(i.component)).copied().unwrap_or('?');
            let offset = if index == 0 { String::new() } else { format!("{index:+}") };
            let array = if i.array_id == 0 { String::new() } else { format!("({})", i.array_id) };
            format!("[{}[{}].{component}{offset}]{array}", i.file, i.index)
        }
    };
    let outer = register.dimension.map(|d| bracket(d.index, d.indirect)).unwrap_or_default();
    format!("{}{outer}{}", register.file, bracket(register.index, register.indirect))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_declaration_counts() {
        let mut list = vec![(2, 43, 0), (3, 3, 1), (0, 5, 2), (40, u16::MAX, 3), (44, 44, 4)];
        divide(&mut list);
        assert_eq!(list, [(0, 1, 2), (2, 43, 0), (44, u16::MAX, 3)]);
        let mut list = vec![(7, 9, 1), (0, 3, 0), (8, 8, 0)];
        divide(&mut list);
        assert_eq!(list, [(0, 3, 0), (7, 7, 1), (8, 8, 0), (9, 9, 1)]);
    }
}
