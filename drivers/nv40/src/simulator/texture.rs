//! Texture fetches, which the caller executes.

/// The choice of the level of detail.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lookup {
    /// By the differences in the quad.
    Implicit {
        /// The derivative of the coordinate along x.
        ddx: [f32; 4],
        /// The derivative of the coordinate along y.
        ddy: [f32; 4],
        /// The bias.
        bias: f32,
    },
    /// A level.
    Level(f32),
    /// By derivatives of the program.
    Gradient {
        /// The derivative along x.
        ddx: [f32; 4],
        /// The derivative along y.
        ddy: [f32; 4],
    },
}

/// A texture fetch of a fragment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TextureFetch {
    /// The texture unit.
    pub unit: u8,
    /// The lane of the quad.
    pub lane: usize,
    /// The coordinate; divided by w for `TXP`.
    pub coordinate: [f32; 4],
    /// The coordinates of all lanes of the quad.
    pub quad: [[f32; 4]; 4],
    /// The choice of the level of detail.
    pub lookup: Lookup,
}
