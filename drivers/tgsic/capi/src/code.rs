//! Code, its forms and its sizes.

use crate::sized::SizedStruct;

/// Forms of code. The form of shaders that are passed in is detected from their content.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum tgsic_form {
    /// For options: the form of the input if that is TGSI, otherwise text.
    TGSIC_FORM_DEFAULT = 0,
    /// TGSI as text.
    TGSIC_FORM_TEXT = 1,
    /// TGSI as tokens: 32-bit words in native byte order.
    TGSIC_FORM_TOKENS = 2,
    /// Code of a driver that does not emit TGSI.
    TGSIC_FORM_CODE = 3,
}

/// Optimisation levels.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum tgsic_level {
    /// The same as `TGSIC_LEVEL_ALL`.
    TGSIC_LEVEL_DEFAULT = 0,
    /// Only lower to forms that the target supports.
    TGSIC_LEVEL_LOWER = 1,
    /// Nothing that can increase the code size.
    TGSIC_LEVEL_NO_GROWTH = 2,
    /// Everything.
    TGSIC_LEVEL_ALL = 3,
}

/// Sizes of a shader and of its code. Those before are 0 if the shader was not TGSI.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_sizes {
    /// `sizeof(tgsic_sizes)`, to be set by the caller.
    pub size: usize,
    /// Instructions of the source.
    pub instructions_before: u32,
    /// Instructions of the code.
    pub instructions_after: u32,
    /// Temporaries of the source.
    pub temporaries_before: u32,
    /// Temporaries of the code.
    pub temporaries_after: u32,
    /// Immediates of the source.
    pub immediates_before: u32,
    /// Immediates of the code.
    pub immediates_after: u32,
    /// The `tgsic_level` at which it was optimised: lower than that of the options if the budget was spent.
    pub level: u32,
    /// Must not be used.
    pub reserved: u32,
}

// SAFETY: `repr(C)`, the size comes first, and all types in it may be zero.
unsafe impl SizedStruct for tgsic_sizes {}

impl Default for tgsic_sizes {
    fn default() -> tgsic_sizes {
        tgsic_sizes {
            size: size_of::<tgsic_sizes>(),
            instructions_before: 0,
            instructions_after: 0,
            temporaries_before: 0,
            temporaries_after: 0,
            immediates_before: 0,
            immediates_after: 0,
            level: 0,
            reserved: 0,
        }
    }
}

/// The code of a result.
#[derive(Default)]
pub(crate) enum Data {
    #[default]
    None,
    /// Text with a NUL at the end that is not counted.
    Text(Vec<u8>, tgsic_form),
    /// TGSI tokens.
    Tokens(Vec<u32>),
    /// Code of a driver.
    Bytes(Vec<u8>),
}

impl Data {
    pub(crate) fn text(text: String, form: tgsic_form) -> Data {
        let mut bytes = text.into_bytes();
        bytes.push(0);
        Data::Text(bytes, form)
    }

    /// Returns the bytes, and the number of bytes at their end that are not counted.
    pub(crate) fn bytes(&self) -> (&[u8], usize) {
        match self {
            Data::None => (&[], 0),
            Data::Text(bytes, _) => (bytes, 1),
            Data::Tokens(words) => {
                // SAFETY: words may be read as bytes, and this is their whole length.
                let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), size_of_val(&**words)) };
                (bytes, 0)
            }
            Data::Bytes(bytes) => (bytes, 0),
        }
    }

    /// Returns the form.
    pub(crate) fn form(&self) -> tgsic_form {
        match self {
            Data::None => tgsic_form::TGSIC_FORM_DEFAULT,
            Data::Text(_, form) => *form,
            Data::Tokens(_) => tgsic_form::TGSIC_FORM_TOKENS,
            Data::Bytes(_) => tgsic_form::TGSIC_FORM_CODE,
        }
    }
}
