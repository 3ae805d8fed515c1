//! Error codes: one table for each error type, from which both the list of all codes and the code of a value are
//! generated, so that neither can miss a variant.
//!
//! Codes are never reused. `tgsi/src/explain` lists their ranges and explains each of them.

use std::fmt;

/// The code of one kind of error or warning. It is the same in every version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ErrorCode {
    /// `T` and four digits, unique.
    pub id: &'static str,
    /// A name in kebab case, unique within a language (TGSI, IR).
    pub name: &'static str,
}

impl ErrorCode {
    /// Makes a code from an id and a name.
    pub const fn new(id: &'static str, name: &'static str) -> ErrorCode {
        ErrorCode { id, name }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// Adds `CODES` and `code` to the `impl` of an error enum. Each row is a variant (without its fields), its id and its
/// name in kebab case.
///
/// ```
/// enum Trouble { Small, Large { size: u32 } }
///
/// impl Trouble {
///     tgsi_diagnostics::error_codes! {
///         Small => "T9001" "small",
///         Large => "T9002" "large",
///     }
/// }
///
/// assert_eq!(Trouble::CODES.iter().map(|code| code.name).collect::<Vec<_>>(), ["small", "large"]);
/// assert_eq!(Trouble::Large { size: 2 }.code().to_string(), "T9002");
/// # assert_eq!(Trouble::Small.code().name, "small");
/// ```
#[macro_export]
macro_rules! error_codes {
    ($($variant:ident => $id:literal $name:literal,)+) => {
        /// The codes of all errors.
        pub const CODES: &'static [$crate::ErrorCode] = &[$($crate::ErrorCode::new($id, $name)),+];

        /// Returns the code of this error.
        pub const fn code(&self) -> $crate::ErrorCode {
            match self { $(Self::$variant { .. } => $crate::ErrorCode::new($id, $name),)+ }
        }
    };
}

/// Declares an error enum from a table. Each row is an id, a name in kebab case, a variant with its fields, and the
/// message.
#[macro_export]
macro_rules! error_table {
    ($(#[$attribute:meta])* pub enum $name:ident {
        $($id:literal $kebab:literal $variant:ident $(($($item:ty),+))? $({ $($field:ident: $ty:ty),+ })? $message:literal;)+
    }) => {
        $(#[$attribute])*
        #[derive($crate::thiserror::Error)]
        #[expect(missing_docs, reason = "the message describes the variant and its fields")]
        pub enum $name {
            $(#[error($message)] $variant $(($($item),+))? $({ $($field: $ty),+ })?,)+
        }

        impl $name {
            $crate::error_codes! { $($variant => $id $kebab,)+ }
        }
    };
}
