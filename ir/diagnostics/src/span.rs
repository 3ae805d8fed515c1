//! Where something stands in the source of a shader.

/// A range of the source: bytes of a text, or words of a token stream (which of the two, the shader's origin says).
///
/// Two spans always compare equal: a position is not part of what a shader means, so that shaders read from differently
/// laid out sources can be compared with `==`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// First byte (or word).
    pub start: u32,
    /// One past the last byte (or word).
    pub end: u32,
}

impl Span {
    /// The range from `start` to `end`, the latter excluded.
    pub const fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl Eq for Span {}

impl std::hash::Hash for Span {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}
