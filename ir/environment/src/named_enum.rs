//! Enums with numbered values and printed names, each declared by one table.

/// Declares an enum. Each row is a variant, its number (rows are in ascending order, from 0), its printed name and its
/// meaning.
#[macro_export]
macro_rules! named_enum {
    ($(#[$attribute:meta])* $enum:ident { $($variant:ident = $number:literal $name:literal $meaning:literal,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $enum {
            $(#[doc = $meaning] $variant = $number,)*
        }

        impl $enum {
            /// All values, in ascending order of their numbers.
            pub const ALL: &'static [$enum] = &[$($enum::$variant),*];

            /// The name used in the text form.
            pub const fn name(self) -> &'static str {
                match self { $($enum::$variant => $name,)* }
            }

            /// Returns the value with this name.
            pub fn from_name(name: &str) -> Option<$enum> {
                match name {
                    $($name => Some($enum::$variant),)*
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
