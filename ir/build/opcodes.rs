//! The parts of the opcode and switch tables that the build needs, included from the crate's sources.

/// Type of an operand: base type, size (0 if unsized) and number of components (0 if the same as the result).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// `FLOAT`, `INT`, `UINT` or `BOOL`.
    pub base: &'static str,
    /// Bit size, or 0.
    pub bit_size: u8,
    /// Number of components, or 0.
    pub components: u8,
}

/// A row of the table of opcodes.
pub struct Opcode {
    /// Name of the enum variant.
    pub variant: &'static str,
    /// Name in the text form.
    pub name: &'static str,
    /// Result.
    pub output: Operand,
    /// Operands.
    pub inputs: Vec<Operand>,
    /// Possible sizes of the unsized types, as a mask.
    pub sizes: u8,
    /// Whether the first two operands may be swapped.
    pub commutative: bool,
}

fn operand(name: &'static str, components: u8) -> Operand {
    let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    Operand { base: &name[..digits], bit_size: name[digits..].parse().unwrap_or(0), components }
}

fn size_mask(name: &str) -> u8 {
    match name {
        "FLOATS" => 0b11100,
        "INTS" => 0b11111,
        "BOOLS" => 0b01111,
        _ => 0,
    }
}

macro_rules! components {
    () => {
        0
    };
    ($count:literal) => {
        $count
    };
}

macro_rules! rows {
    ($($group:literal { $(
        $variant:ident $name:literal: $output:ident $([$output_size:literal])? =
            [$($input:ident $([$input_size:literal])?),*], $bit_sizes:ident, [$($property:ident)*], $formula:expr
            => $kind:ident $(|$($argument:ident),* $(; $context:ident)?| $value:expr)?;
    )* })*) => {
        /// All opcodes.
        pub fn opcodes() -> Vec<Opcode> {
            vec![$($(Opcode {
                variant: stringify!($variant),
                name: $name,
                output: operand(stringify!($output), components!($($output_size)?)),
                inputs: vec![$(operand(stringify!($input), components!($($input_size)?))),*],
                sizes: size_mask(stringify!($bit_sizes)),
                commutative: [$(stringify!($property)),*].contains(&"COMMUTATIVE01"),
            },)*)*]
        }
    };
}

alu_opcodes!(rows);

macro_rules! switch_names {
    ($($name:ident = $default:literal, $by:ident, [$($op:ident $(($($bits:literal)+))?)*], $bound:expr, $doc:literal;)*) => {
        /// Names of the target switches, in the order of their bits.
        pub const SWITCHES: &[&str] = &[$(stringify!($name)),*];
    };
}

compiler_switches!(switch_names);

/// The mask of possible sizes of a conversion that gets its size from the context, such as `b2f`; 0 for other names.
pub fn unsized_conversion(opcodes: &[Opcode], name: &str) -> u8 {
    if !matches!(name, "b2f" | "b2i" | "b2b" | "i2f" | "u2f" | "f2f" | "f2i" | "f2u" | "i2i" | "u2u") {
        return 0;
    }
    // 1-bit integers cannot be converted: their only nonzero value reads as -1.
    let first = usize::from(name != "b2b");
    super::parse::SIZES
        .iter()
        .enumerate()
        .skip(first)
        .fold(0, |mask, (i, size)| mask | u8::from(opcodes.iter().any(|o| o.name == format!("{name}{size}"))) << i)
}
