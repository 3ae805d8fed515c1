//! Forms of code.

/// The form of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CodeForm {
    /// The lowered shader as text.
    Ir,
    /// An object file.
    #[cfg(feature = "machine-code")]
    Object,
    /// Cranelift's IR.
    #[cfg(feature = "machine-code")]
    Code,
    /// Machine instructions, in Cranelift's notation.
    #[cfg(feature = "machine-code")]
    Assembly,
}

impl Default for CodeForm {
    #[cfg(feature = "machine-code")]
    fn default() -> Self {
        CodeForm::Object
    }

    #[cfg(not(feature = "machine-code"))]
    fn default() -> Self {
        CodeForm::Ir
    }
}
