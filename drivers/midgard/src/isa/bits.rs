//! Words as sequences of bit fields, from the lowest bit up.

use super::InvalidInstruction;

/// Removes the lowest bits.
pub(crate) fn take(bits: &mut u128, width: u32) -> u32 {
    let value = (*bits & ((1 << width) - 1)) as u32;
    *bits >>= width;
    value
}

/// Fields that are joined from the lowest bit up.
#[derive(Default)]
pub(crate) struct Packer {
    bits: u128,
    used: u32,
}

impl Packer {
    /// Appends a field; excess bits are dropped.
    pub(crate) fn put(&mut self, value: u32, width: u32) {
        self.bits |= (u128::from(value) & ((1 << width) - 1)) << self.used;
        self.used += width;
    }

    /// The joined fields.
    pub(crate) fn finish(self) -> u128 {
        self.bits
    }
}

/// Declares a structure of bit fields, in the order of their bits, with both conversions.
macro_rules! bit_fields {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $width:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, Debug)]
        pub(crate) struct $name {
            $(pub(crate) $field: u32,)*
        }

        impl $name {
            /// Splits bits into fields.
            pub(crate) fn from_bits(bits: impl Into<u128>) -> $name {
                let bits = &mut bits.into();
                $(let $field = $crate::isa::bits::take(bits, $width);)*
                $name { $($field,)* }
            }

            /// Joins the fields.
            pub(crate) fn to_bits(self) -> u128 {
                let mut packer = $crate::isa::bits::Packer::default();
                $(packer.put(self.$field, $width);)*
                packer.finish()
            }
        }
    };
}

/// Declares an enumeration whose variants have a number and a name in listings.
macro_rules! enumeration {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $code:literal $text:literal $description:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name {
            $(#[doc = $description] $variant = $code,)*
        }

        impl $name {
            /// All variants.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// Returns the variant with a number.
            pub fn from_code(code: u32) -> Option<$name> {
                match code {
                    $($code => Some($name::$variant),)*
                    _ => None,
                }
            }

            /// The number in words.
            pub fn code(self) -> u32 {
                self as u32
            }

            /// The name in listings.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)*
                }
            }
        }
    };
}

pub(crate) use {bit_fields, enumeration};

/// Interprets the lowest bits as a signed number.
pub(crate) fn sign_extend(value: u32, width: u32) -> i32 {
    (value << (32 - width)) as i32 >> (32 - width)
}

/// Returns a number that has at most the given number of bits, or an error.
pub(crate) fn unsigned(
    what: &'static str,
    value: impl Into<u32> + Copy,
    width: u32,
) -> Result<u32, InvalidInstruction> {
    let value = value.into();
    if value >> width == 0 { Ok(value) } else { Err(InvalidInstruction::Field(what, value)) }
}

/// Returns the bits of a signed number that has at most the given number of bits, or an error.
pub(crate) fn signed(what: &'static str, value: i32, width: u32) -> Result<u32, InvalidInstruction> {
    let bits = value as u32 & ((1 << width) - 1);
    if sign_extend(bits, width) == value { Ok(bits) } else { Err(InvalidInstruction::Field(what, value as u32)) }
}

/// Returns an error if reserved bits are set.
pub(crate) fn zero(what: &'static str, value: u32) -> Result<(), InvalidInstruction> {
    if value == 0 { Ok(()) } else { Err(InvalidInstruction::Reserved(what, value)) }
}
