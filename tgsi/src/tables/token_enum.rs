//! The macro that defines an enumeration of numbers and names.

macro_rules! token_enum {
    ($(#[$meta:meta])* $name:ident : $repr:ident { $($(#[$vmeta:meta])* $variant:ident = $value:literal $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr($repr)]
        pub enum $name { $($(#[$vmeta])* #[doc = concat!("`", $text, "`, number ", stringify!($value), ".")] $variant = $value),+ }

        impl $name {
            /// All values, in ascending order of their numbers.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The names of all values, in the same order.
            #[allow(dead_code)]
            pub(crate) const NAMES: &'static [&'static str] = &[$($text),+];

            /// Returns the number in the token stream.
            #[inline]
            pub const fn value(self) -> $repr {
                self as $repr
            }

            /// Returns the name in text.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }

            /// Returns the value with this number, or none if the table has no such row.
            pub const fn from_value(value: u32) -> Option<$name> {
                match value { $($value => Some($name::$variant),)+ _ => None }
            }

            /// Returns the value with this text name, ignoring ASCII case.
            pub fn from_name(name: &str) -> Option<$name> {
                crate::tables::lookup::Word::new(name.as_bytes()).and_then(Self::from_word)
            }

            /// Looks up a word of a text.
            #[allow(dead_code)]
            #[inline]
            pub(crate) fn from_word(word: crate::tables::lookup::Word<'_>) -> Option<$name> {
                use crate::tables::lookup::{NameTable, slots};
                static NAMES: NameTable<{ slots($name::ALL.len()) }> = NameTable::new(&[$($text),+]);
                NAMES.find(word, |row| Self::ALL[row].name()).map(|row| Self::ALL[row])
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    };
}
