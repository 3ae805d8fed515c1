//! Names of errors: one table an error type, from which the list of all and the name of a value come, so that neither can forget a variant.

/// Puts `CODES` and `code` into the `impl` of an error enum. Each row is a variant (without its fields) and its name in kebab case.
///
/// ```
/// enum Trouble { Small, Large { size: u32 } }
///
/// impl Trouble {
///     tgsi_ir::error_codes! {
///         Small => "small",
///         Large => "large",
///     }
/// }
///
/// assert_eq!(Trouble::CODES, ["small", "large"]);
/// assert_eq!(Trouble::Large { size: 2 }.code(), "large");
/// # assert_eq!(Trouble::Small.code(), "small");
/// ```
#[macro_export]
macro_rules! error_codes {
    ($($variant:ident => $code:literal,)+) => {
        /// The names of all errors.
        pub const CODES: &'static [&'static str] = &[$($code),+];

        /// Name of the error, in kebab case.
        pub const fn code(&self) -> &'static str {
            match self { $(Self::$variant { .. } => $code,)+ }
        }
    };
}
