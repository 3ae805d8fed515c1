//! Dimensions of textures and images.

named_enum! {
    /// Dimensionality of a sampler, texture or image (`image_dim`).
    SamplerDim {
        Dim1D = 0 "1D" "One dimension.",
        Dim2D = 1 "2D" "Two dimensions.",
        Dim3D = 2 "3D" "Three dimensions.",
        Cube = 3 "Cube" "Six faces.",
        Rect = 4 "Rect" "Two dimensions with coordinates in texels.",
        Buf = 5 "Buf" "Texel buffer.",
        External = 6 "External" "External image.",
        Ms = 7 "2D-MSAA" "Two dimensions, multisampled.",
        Subpass = 8 "Subpass" "Input attachment.",
        SubpassMs = 9 "Subpass-MSAA" "Multisampled input attachment.",
    }
}

impl SamplerDim {
    /// The number of the dimension, as constant indices of intrinsics store it.
    pub const fn to_i32(self) -> i32 {
        self as i32
    }

    /// Returns the dimension with this number.
    pub fn from_i32(number: i32) -> Option<SamplerDim> {
        usize::try_from(number).ok().and_then(|number| Self::ALL.get(number)).copied()
    }

    /// Components of a coordinate without array layer.
    pub const fn num_coords(self) -> u8 {
        match self {
            SamplerDim::Dim1D | SamplerDim::Buf => 1,
            SamplerDim::Dim2D
            | SamplerDim::Rect
            | SamplerDim::External
            | SamplerDim::Ms
            | SamplerDim::Subpass
            | SamplerDim::SubpassMs => 2,
            SamplerDim::Dim3D | SamplerDim::Cube => 3,
        }
    }
}
