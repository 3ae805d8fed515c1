//! Declarations of the builder: properties, inputs and outputs, resources, constants, temporaries, addresses.

use super::{BuildError, Io, MAX_ARRAY_ID, MAX_OPERAND_INDEX, RegisterArray, ShaderBuilder, TemporaryRun};
use crate::shader::{Declaration, DeclarationImage, DeclarationSamplerView, DeclarationSemantic, Register};
use crate::tables::{File, MemoryType, PropertyName, ReturnType, Semantic, TextureTarget};

impl ShaderBuilder {
    /// Sets a property.
    pub fn property(&mut self, name: PropertyName, value: u32) {
        self.properties.insert(name, value);
    }

    /// Declares an input register. The same semantic gives the same register, with the union of the usage masks.
    pub fn input(&mut self, io: Io) -> Register {
        let first = self.io(File::Input, io, None).first;
        Register::new(File::Input, first.into())
    }

    /// Declares an array of `size` inputs with ascending semantic indices.
    pub fn input_array(&mut self, io: Io, size: u16) -> RegisterArray {
        self.io(File::Input, io, Some(size.max(1)))
    }

    /// Declares an output register. The same semantic gives the same register, with the union of the usage masks.
    pub fn output(&mut self, io: Io) -> Register {
        let first = self.io(File::Output, io, None).first;
        Register::new(File::Output, first.into())
    }

    /// Declares an array of `size` outputs with ascending semantic indices.
    pub fn output_array(&mut self, io: Io, size: u16) -> RegisterArray {
        self.io(File::Output, io, Some(size.max(1)))
    }

    fn io(&mut self, file: File, io: Io, array: Option<u16>) -> RegisterArray {
        let split = self.split_io_arrays;
        let table = if file == File::Input { &mut self.inputs } else { &mut self.outputs };
        let known = match (array, io.semantic) {
            (Some(_), _) => None,
            (None, Some(semantic)) => table.by_semantic.get(&(semantic, io.semantic_index)),
            (None, None) => io.register.and_then(|r| table.attributes.get(&r)),
        };
        if let Some(declaration) = known.and_then(|&position| table.declarations.get_mut(position))
            && io.register.is_none_or(|r| r == declaration.first)
        {
            declaration.usage_mask |= io.usage_mask;
            declaration.invariant |= io.invariant;
            return RegisterArray { file, dimension: None, first: declaration.first, size: 1, array_id: 0 };
        }
        let size = array.unwrap_or(1);
        let first = io.register.map_or(table.next, u32::from);
        let last = first + u32::from(size) - 1;
        if last > MAX_OPERAND_INDEX {
            self.fail(BuildError::TooManyRegisters(file));
            return RegisterArray { file, dimension: None, first: 0, size, array_id: 0 };
        }
        table.next = table.next.max(last + 1);
        let declare = |first: u32, last: u32, offset: u16| Declaration {
            usage_mask: io.usage_mask,
            semantic: io.semantic.map(|name| DeclarationSemantic {
                name,
                index: io.semantic_index.wrapping_add(offset),
                streams: io.streams,
            }),
            interpolation: io.interpolation,
            invariant: io.invariant,
            ..Declaration::new(file, first as u16, last as u16)
        };
        let mut array_id = 0;
        match array {
            Some(_) if split => {
                table.declarations.extend((0..size).map(|i| declare(first + u32::from(i), first + u32::from(i), i)))
            }
            Some(_) => {
                table.arrays += 1;
                array_id = table.arrays;
                table.declarations.push(Declaration { array_id: Some(array_id), ..declare(first, last, 0) });
            }
            None => {
                let position = table.declarations.len();
                match io.semantic {
                    Some(semantic) => table.by_semantic.insert((semantic, io.semantic_index), position),
                    None => table.attributes.insert(first as u16, position),
                };
                table.declarations.push(declare(first, last, 0));
            }
        }
        if array_id > MAX_ARRAY_ID {
            self.fail(BuildError::TooManyArrays(file));
        }
        RegisterArray { file, dimension: None, first: first as u16, size, array_id }
    }

    /// Declares a system value register.
    pub fn system_value(&mut self, semantic: Semantic, index: u16) -> Register {
        let known = self.system_values.iter().position(|&s| s == (semantic, index));
        let position = known.unwrap_or_else(|| {
            self.system_values.push((semantic, index));
            self.system_values.len() - 1
        });
        if position as u32 > MAX_OPERAND_INDEX {
            self.fail(BuildError::TooManyRegisters(File::SystemValue));
        }
        Register::new(File::SystemValue, position as i32)
    }

    /// Returns `CONST[buffer][index]` and extends the declared ranges to include it.
    pub fn constant(&mut self, buffer: u16, index: u16) -> Register {
        self.constant_range(buffer, index, index);
        Register::new_2d(File::Constant, buffer.into(), index.into())
    }

    /// Declares `CONST[buffer][first..=last]`, for indirect accesses.
    pub fn constant_range(&mut self, buffer: u16, first: u16, last: u16) {
        if u32::from(last) > MAX_OPERAND_INDEX {
            self.fail(BuildError::TooManyRegisters(File::Constant));
            return;
        }
        let ranges = self.constants.entry(buffer).or_default();
        let (mut first, mut last) = (first.min(last), last);
        // Merge every range that overlaps or touches the new one; each is merged once.
        while let Some((&f, &l)) = ranges.range(..=last.saturating_add(1)).next_back()
            && u32::from(l) + 1 >= u32::from(first)
        {
            if f <= first && l >= last {
                return;
            }
            ranges.remove(&f);
            first = first.min(f);
            last = last.max(l);
        }
        ranges.insert(first, last);
    }

    /// Returns constant buffer `index` as a resource of `LOAD`.
    pub fn constant_buffer(&mut self, index: u16) -> Register {
        self.constant_buffers.insert(index);
        Register::new(File::ConstantBuffer, index.into())
    }

    /// Declares a sampler unit.
    pub fn sampler(&mut self, index: u16) -> Register {
        self.samplers.insert(index);
        Register::new(File::Sampler, index.into())
    }

    /// Declares a sampler view unit.
    pub fn sampler_view(&mut self, index: u16, target: TextureTarget, return_types: [ReturnType; 4]) -> Register {
        self.sampler_views.insert(index, DeclarationSamplerView { target, return_types });
        Register::new(File::SamplerView, index.into())
    }

    /// Declares an image unit. After several declarations, it is writable or raw if any of them is.
    pub fn image(&mut self, index: u16, image: DeclarationImage) -> Register {
        let known = self.images.entry(index).or_insert(image);
        *known = DeclarationImage { writable: known.writable || image.writable, raw: known.raw || image.raw, ..image };
        Register::new(File::Image, index.into())
    }

    /// Declares a storage buffer unit; `atomic` if it is used for atomic counters only.
    pub fn buffer(&mut self, index: u16, atomic: bool) -> Register {
        *self.buffers.entry(index).or_insert(atomic) &= atomic;
        Register::new(File::Buffer, index.into())
    }

    /// Declares a memory area; its register index is the number of its type.
    pub fn memory(&mut self, memory_type: MemoryType) -> Register {
        self.memories.insert(memory_type);
        Register::new(File::Memory, memory_type.value().into())
    }

    /// Declares one atomic counter.
    pub fn hw_atomic(&mut self, buffer: u16, index: u16) -> Register {
        self.hw_atomics.entry((buffer, index)).or_insert((index, 0));
        Register::new_2d(File::HwAtomic, buffer.into(), index.into())
    }

    /// Declares an array of atomic counters.
    pub fn hw_atomic_array(&mut self, buffer: u16, first: u16, size: u16) -> RegisterArray {
        self.hw_atomic_arrays += 1;
        let array_id = self.hw_atomic_arrays;
        let last = first.saturating_add(size.max(1) - 1);
        if array_id > MAX_ARRAY_ID {
            self.fail(BuildError::TooManyArrays(File::HwAtomic));
        }
        self.hw_atomics.insert((buffer, first), (last, array_id));
        RegisterArray { file: File::HwAtomic, dimension: Some(buffer), first, size: last - first + 1, array_id }
    }

    /// Declares a temporary.
    pub fn temporary(&mut self) -> Register {
        self.new_temporary(false)
    }

    /// Declares a temporary that is not live across subroutine calls.
    pub fn local_temporary(&mut self) -> Register {
        self.new_temporary(true)
    }

    fn new_temporary(&mut self, local: bool) -> Register {
        let index = self.next_temporary;
        match self.temporaries.last_mut() {
            Some(run) if run.array_id == 0 && run.local == local => run.last = index,
            _ => self.temporaries.push(TemporaryRun { first: index, last: index, local, array_id: 0 }),
        }
        self.take_temporaries(1);
        Register::new(File::Temporary, index as i32)
    }

    fn take_temporaries(&mut self, count: u32) {
        if self.next_temporary + count - 1 > MAX_OPERAND_INDEX {
            self.fail(BuildError::TooManyRegisters(File::Temporary));
            self.next_temporary = 0;
        } else {
            self.next_temporary += count;
        }
    }

    /// Declares an array of `size` temporaries with a new array number.
    pub fn temporary_array(&mut self, size: u16, local: bool) -> RegisterArray {
        let (first, size) = (self.next_temporary, size.max(1));
        self.temporary_arrays = self.temporary_arrays.saturating_add(1);
        let array_id = self.temporary_arrays;
        if array_id > MAX_ARRAY_ID {
            self.fail(BuildError::TooManyArrays(File::Temporary));
        }
        self.temporaries.push(TemporaryRun { first, last: first + u32::from(size) - 1, local, array_id });
        self.take_temporaries(size.into());
        RegisterArray { file: File::Temporary, dimension: None, first: first as u16, size, array_id }
    }

    /// Declares an address register.
    pub fn address(&mut self) -> Register {
        let index = self.addresses;
        if index > MAX_OPERAND_INDEX {
            self.fail(BuildError::TooManyRegisters(File::Address));
            return Register::new(File::Address, 0);
        }
        self.addresses += 1;
        Register::new(File::Address, index as i32)
    }
}
