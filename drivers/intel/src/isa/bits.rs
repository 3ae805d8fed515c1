//! Fields of words, and enumerations with numbers.

use super::InvalidInstruction;

/// Returns the bits `high` to `low` of a word.
pub(crate) fn field(word: u128, high: u32, low: u32) -> u32 {
    ((word >> low) & mask(high, low)) as u32
}

fn mask(high: u32, low: u32) -> u128 {
    (1 << (high - low + 1)) - 1
}

/// A word whose fields are set in any order.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Packer(pub(crate) u128);

impl Packer {
    /// Sets the bits `high` to `low`, or returns an error if the value needs more bits.
    pub(crate) fn put(
        &mut self,
        what: &'static str,
        high: u32,
        low: u32,
        value: impl Into<u32>,
    ) -> Result<(), InvalidInstruction> {
        let value = value.into();
        if u128::from(value) > mask(high, low) {
            return Err(InvalidInstruction::Field(what, value));
        }
        self.0 |= u128::from(value) << low;
        Ok(())
    }

    /// Sets one bit.
    pub(crate) fn flag(&mut self, bit: u32, value: bool) {
        self.0 |= u128::from(value) << bit;
    }
}

/// Interprets the lowest bits as a signed number.
pub(crate) fn sign_extend(value: u32, width: u32) -> i32 {
    (value << (32 - width)) as i32 >> (32 - width)
}

/// Returns an error if reserved bits of a word are set.
pub(crate) fn zero(what: &'static str, word: u128, high: u32, low: u32) -> Result<(), InvalidInstruction> {
    match field(word, high, low) {
        0 => Ok(()),
        value => Err(InvalidInstruction::Reserved(what, value)),
    }
}

/// Declares an enumeration whose variants have a number and a name in listings.
macro_rules! enumeration {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $code:literal $text:literal $description:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
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

            /// Returns the variant with a name.
            pub fn from_name(name: &str) -> Option<$name> {
                match name {
                    $($text => Some($name::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use enumeration;
