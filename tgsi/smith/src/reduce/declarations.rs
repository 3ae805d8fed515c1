//! Reduces declarations, immediates and properties: removes unused ones and simplifies the others.

use hashbrown::HashSet;

use super::Reducer;
use super::edit::for_each_register;
use tgsi::shader::{Instruction, Register, Shader};
use tgsi::tables::File;

impl Reducer<'_> {
    /// Drops and shrinks declarations, immediates and properties.
    pub(super) fn simplify_declarations(&mut self) -> bool {
        let mut smaller = self.drop_unused_immediates();
        smaller |= self.try_edit(pack_temporaries);
        for position in (0..self.best.declarations.len()).rev() {
            smaller |= self.try_edit(|shader| {
                shader.declarations.remove(position);
                shader.order_by_kind();
            });
        }
        for position in (0..self.best.properties.len()).rev() {
            smaller |= self.try_edit(|shader| {
                shader.properties.remove(position);
                shader.order_by_kind();
            });
        }
        for position in 0..self.best.declarations.len() {
            smaller |= self.shrink_declaration(position);
        }
        for position in 0..self.best.immediates.len() {
            for component in 0..4 {
                smaller |= self.try_edit(|shader| {
                    if let Some(word) = shader.immediates.get_mut(position).and_then(|i| i.words.get_mut(component)) {
                        *word = 0;
                    }
                });
            }
        }
        smaller
    }

    fn shrink_declaration(&mut self, position: usize) -> bool {
        let mut smaller = false;
        while self.best.declarations[position].first < self.best.declarations[position].last {
            let half = |shader: &mut Shader| {
                let declaration = &mut shader.declarations[position];
                declaration.last = declaration.first + (declaration.last - declaration.first) / 2;
            };
            if self.try_edit(half) || self.try_edit(|shader| shader.declarations[position].last -= 1) {
                smaller = true;
                continue;
            }
            if !self.try_edit(|shader| shader.declarations[position].first += 1) {
                break;
            }
            smaller = true;
        }
        smaller |= self.try_edit(|shader| shader.declarations[position].array_id = None);
        smaller |= self.try_edit(|shader| shader.declarations[position].usage_mask = 15);
        smaller | self.try_edit(|shader| shader.declarations[position].invariant = false)
    }

    /// Removes unused immediates and renumbers the others.
    fn drop_unused_immediates(&mut self) -> bool {
        let used = used_registers(&mut self.best.clone(), File::Immediate);
        if (0..self.best.immediates.len() as i32).all(|number| used.contains(&number)) {
            return false;
        }
        self.try_edit(|shader| {
            let mut numbers = vec![0; shader.immediates.len()];
            let mut next = 0;
            for (old, number) in numbers.iter_mut().enumerate() {
                *number = next;
                next += i32::from(used.contains(&(old as i32)));
            }
            let mut old = 0;
            shader.immediates.retain(|_| {
                old += 1;
                used.contains(&(old - 1))
            });
            for_each_register(shader, &mut |file, index| {
                if file == File::Immediate
                    && let Some(&number) = usize::try_from(*index).ok().and_then(|old| numbers.get(old))
                {
                    *index = number;
                }
            });
            shader.order_by_kind();
        })
    }
}

/// Returns the numbers of the registers of a file that operands name.
fn used_registers(shader: &mut Shader, file: File) -> HashSet<i32> {
    let mut used = HashSet::new();
    for_each_register(shader, &mut |of, index| {
        if of == file {
            used.insert(*index);
        }
    });
    used
}

/// Renumbers temporaries outside of arrays from 0, in one declaration, unless an index is computed without an array.
fn pack_temporaries(shader: &mut Shader) {
    let has_arrays = shader.declarations.iter().any(|d| d.file == File::Temporary && d.array_id.is_some());
    let is_indirect = |register: &Register| register.file == File::Temporary && register.indirect.is_some();
    if has_arrays || shader.instructions.iter().flat_map(Instruction::registers).any(is_indirect) {
        return;
    }
    let mut used: Vec<i32> = used_registers(shader, File::Temporary).into_iter().collect();
    used.sort_unstable();
    let mut declarations = std::mem::take(&mut shader.declarations);
    let first = declarations.iter().position(|d| d.file == File::Temporary);
    if let (Some(first), Ok(count)) = (first, u16::try_from(used.len()))
        && count > 0
    {
        (declarations[first].first, declarations[first].last) = (0, count - 1);
        let mut position = 0;
        declarations.retain(|d| {
            position += 1;
            d.file != File::Temporary || position == first + 1
        });
        for_each_register(shader, &mut |file, index| {
            if file == File::Temporary
                && let Ok(number) = used.binary_search(index)
            {
                *index = number as i32;
            }
        });
    }
    shader.declarations = declarations;
    shader.order_by_kind();
}
