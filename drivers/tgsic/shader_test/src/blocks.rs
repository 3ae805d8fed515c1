//! Uniforms of blocks without names: a file states their binding, offset and layout.

use tgsi_compiler::front_end::{BlockMember, ComponentType, Interface, ResourceKind};

use crate::buffers::Number;
use crate::memory::Memory;
use crate::words::Words;

/// The distance of the columns or rows of matrices, unless it is stated.
const MATRIX_STRIDE: u32 = 16;

/// A command that sets a part of the place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlockCommand {
    Binding(u32),
    Element(u32),
    Offset(u32),
    MatrixStride(u32),
    RowMajor(bool),
}

impl BlockCommand {
    /// Parses the words after `block`.
    pub(crate) fn parse(words: &mut Words) -> Option<BlockCommand> {
        type Create = fn(u32) -> BlockCommand;
        let commands: [(&str, Create); 5] = [
            ("binding", BlockCommand::Binding),
            ("array index", BlockCommand::Element),
            ("offset", BlockCommand::Offset),
            ("matrix stride", BlockCommand::MatrixStride),
            ("row major", |value| BlockCommand::RowMajor(value != 0)),
        ];
        let (_, create) = commands.iter().find(|(name, _)| words.eat(name))?;
        Some(create(words.uint()?))
    }
}

/// The place of the next uniform.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct BlockPlace {
    /// The binding of the first block of an array; `None` before one is stated.
    pub(crate) binding: Option<u32>,
    element: u32,
    offset: u32,
    matrix_stride: Option<u32>,
    is_row_major: bool,
}

impl BlockPlace {
    pub(crate) fn set(&mut self, command: BlockCommand) {
        match command {
            BlockCommand::Binding(binding) => self.binding = Some(binding),
            BlockCommand::Element(element) => self.element = element,
            BlockCommand::Offset(offset) => self.offset = offset,
            BlockCommand::MatrixStride(stride) => self.matrix_stride = Some(stride),
            BlockCommand::RowMajor(is_row_major) => self.is_row_major = is_row_major,
        }
    }

    /// Writes a uniform of a type to the buffer; columns follow each other in `values`.
    ///
    /// # Errors
    /// No binding was stated, or the type has no layout.
    pub(crate) fn write(&self, ty: &str, values: &[f64], memory: &mut Memory) -> Result<(), String> {
        let binding = self.binding.ok_or("no binding was stated")?.saturating_add(self.element);
        let (number, shape) = match ty.find(|c: char| c.is_ascii_digit()) {
            None => (Number::parse(ty), ""),
            Some(digits) => {
                let (prefix, shape) = ty.split_at(digits);
                let number = match prefix {
                    "vec" | "mat" => Some(Number::Float),
                    "dvec" | "dmat" => Some(Number::Double),
                    "ivec" => Some(Number::Int),
                    "uvec" => Some(Number::Uint),
                    _ => None,
                };
                (number, shape)
            }
        };
        let number = number.ok_or_else(|| format!("`{ty}` has no layout"))?;
        let buffer = memory.uniform.entry(binding).or_default();
        let offset = self.offset as usize;
        if !ty.contains("mat") {
            number.write(values, offset, buffer);
            return Ok(());
        }
        let rows = shape.chars().last().and_then(|digit| digit.to_digit(10)).unwrap_or(1) as usize;
        let stride = self.matrix_stride.unwrap_or(MATRIX_STRIDE) as usize;
        for (at, &value) in values.iter().enumerate() {
            let (column, row) = (at / rows.max(1), at % rows.max(1));
            let (line, place) = if self.is_row_major { (row, column) } else { (column, row) };
            number.write(&[value], offset + line * stride + place * number.size(), buffer);
        }
        Ok(())
    }
}

/// Sets a member of a uniform block by name, in an element of an array of blocks, to the bits of values for its type.
/// Returns whether the shader has the member.
pub(crate) fn set_member<V: Copy>(
    names: &Interface,
    (name, element): (&str, u32),
    values: &[V],
    bits_of: fn(ComponentType, V) -> u64,
    memory: &mut Memory,
) -> bool {
    let blocks = names.resources.iter().filter(|resource| resource.kind == ResourceKind::UniformBlock);
    // An element of an array has the name of the array with its index.
    let indexed = name.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    let indexed = indexed.and_then(|(array, index)| Some((array, index.parse::<u32>().ok()?)));
    for block in blocks {
        let whole = block.members.iter().find(|member| member.path == name).map(|member| (member, 0));
        let part = indexed.and_then(|(array, index)| {
            let length = |member: &BlockMember| member.length.filter(|&length| index < length);
            let member = block.members.iter().find(|member| member.path == array)?;
            length(member).map(|_| (member, index))
        });
        let Some((member, first)) = whole.or(part) else { continue };
        let buffer = memory.blocks.entry((block.name.clone(), element)).or_default();
        let components = usize::from(member.rows) * usize::from(member.columns);
        // The original takes further values for a scalar or vector.
        let count = member.length.map_or(1, |length| if length == 0 { usize::MAX } else { (length - first) as usize });
        for (at, values) in (first..).zip(values.chunks(components.max(1)).take(count)) {
            let bits: Vec<u64> = values.iter().map(|&value| bits_of(member.component_type, value)).collect();
            member.write_bits(at, &bits, buffer);
        }
        return true;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use tgsi_compiler::front_end::{Descriptor, Resource};

    #[test]
    fn members_of_blocks_have_names() {
        let mut block = Resource::new(ResourceKind::UniformBlock, "Block".to_owned(), Descriptor::default(), 1);
        let mut member = BlockMember::new("Block.colors".to_owned(), ComponentType::Float, 2, 1, 16);
        (member.length, member.array_stride) = (Some(3), 16);
        block.members = vec![member];
        block.num_registers = 2;
        let mut names = Interface::default();
        names.resources = vec![block];
        let mut memory = Memory::default();
        let mut set = |name, element, values: &[f64]| {
            set_member(&names, (name, element), values, ComponentType::bits, &mut memory)
        };
        assert!(!set("colors", 0, &[1.0]));
        assert!(!set("Block.colors[3]", 0, &[1.0]));
        assert!(set("Block.colors", 1, &[1.0, 2.0, 3.0, 4.0]));
        assert!(set("Block.colors[2]", 1, &[5.0, 6.0]));
        let read = |at: usize| Number::Float.read(&memory.blocks[&("Block".to_owned(), 1)], at).expect("a float");
        assert_eq!([16, 20, 32, 36, 48, 52].map(read), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(memory.constants(&names, Vec::new())[2].len(), 16);
    }

    #[test]
    fn members_of_64_bits_have_bits() {
        let mut block = Resource::new(ResourceKind::UniformBlock, "Block".to_owned(), Descriptor::default(), 1);
        let mut member = BlockMember::new("m".to_owned(), ComponentType::Double, 2, 2, 16);
        (member.matrix_stride, member.row_major) = (16, true);
        block.members = vec![member];
        let mut names = Interface::default();
        names.resources = vec![block];
        let mut memory = Memory::default();
        let bits = [1.0f64, 2.0, 3.0, -0.0].map(f64::to_bits);
        assert!(set_member(&names, ("m", 0), &bits, |_, bits| bits, &mut memory));
        let read = |at: usize| Number::Double.read(&memory.blocks[&("Block".to_owned(), 0)], at).map(f64::to_bits);
        assert_eq!([16, 24, 32, 40].map(read), [1.0f64, 3.0, 2.0, -0.0].map(|value| Some(value.to_bits())));
    }

    #[test]
    fn matrices_have_columns_or_rows() {
        let mut memory = Memory::default();
        let mut place = BlockPlace::default();
        let commands = ["binding 3", "array index 1", "offset 4", "matrix stride 16", "row major 1"];
        for command in commands {
            place.set(BlockCommand::parse(&mut Words::new(command)).expect("a command"));
        }
        place.write("mat3x2", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut memory).expect("a matrix");
        let read = |at: usize| Number::Float.read(&memory.uniform[&4], at).expect("a float");
        assert_eq!([4, 8, 12, 20, 24, 28].map(read), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
        assert_eq!(place.write("sampler2D", &[0.0], &mut Memory::default()), Err("`sampler2D` has no layout".into()));
    }
}
