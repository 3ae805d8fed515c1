//! Codes of errors: one table for each error type, from which the list of all codes and the code of a value come, so
//! that neither can forget a variant.
//!
//! Ranges: T0001 texts of TGSI, T0100 limits, T0200 token streams, T0300 the check (warnings T0500), T0600 conversion
//! and runs of TGSI, T0700 the TGSI driver, T0800 the command line, T1000 texts of the IR, T1100 the validator, T1400
//! runs of the IR. A number is never given to anything else. What each means stands in one file,
//! `tgsi/src/explain/catalogue.txt`.

use std::fmt;

/// The code of one kind of error or warning, the same in every version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ErrorCode {
    /// `T` and four digits, different for each code.
    pub id: &'static str,
    /// A name in kebab case, different for each code of a language (TGSI, IR).
    pub name: &'static str,
}

impl ErrorCode {
    /// The code with this number and name.
    pub const fn new(id: &'static str, name: &'static str) -> ErrorCode {
        ErrorCode { id, name }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// Puts `CODES` and `code` into the `impl` of an error enum. Each row is a variant (without its fields), its number and
/// its name in kebab case.
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

        /// ErrorCode of the error.
        pub const fn code(&self) -> $crate::ErrorCode {
            match self { $(Self::$variant { .. } => $crate::ErrorCode::new($id, $name),)+ }
        }
    };
}

/// Declares an error enum from a table. Each row is a number, a name in kebab case, a variant with its fields and the
/// message.
#[macro_export]
macro_rules! error_table {
    ($(#[$attribute:meta])* pub enum $name:ident {
        $($id:literal $kebab:literal $variant:ident $(($($item:ty),+))? $({ $($field:ident: $ty:ty),+ })? $message:literal;)+
    }) => {
        $(#[$attribute])*
        #[derive($crate::thiserror::Error)]
        #[expect(missing_docs, reason = "the message says what the variant and its fields mean")]
        pub enum $name {
            $(#[error($message)] $variant $(($($item),+))? $({ $($field: $ty),+ })?,)+
        }

        impl $name {
            $crate::error_codes! { $($variant => $id $kebab,)+ }
        }
    };
}
