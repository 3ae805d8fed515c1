//! Positions in the source of a shader.

/// A range of the source: bytes of a text or words of a token stream, depending on the origin of the shader.
///
/// Two spans always compare equal: a position does not affect the meaning of a shader, so shaders read from differently
/// formatted sources can be compared with `==`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// Offset of the first byte (or word).
    pub start: u32,
    /// Offset after the last byte (or word).
    pub end: u32,
}

impl Span {
    /// Creates the range from `start` to `end` (exclusive).
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
