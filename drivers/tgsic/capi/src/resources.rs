//! Textures and images: functions of the caller, which a run calls.

use std::ffi::c_void;

use tgsi_environment::SamplerDim;

use crate::sized::SizedStruct;

/// Dimensionality: one dimension.
pub const TGSIC_DIM_1D: u32 = 0;
/// Dimensionality: two dimensions.
pub const TGSIC_DIM_2D: u32 = 1;
/// Dimensionality: three dimensions.
pub const TGSIC_DIM_3D: u32 = 2;
/// Dimensionality: the six faces of a cube.
pub const TGSIC_DIM_CUBE: u32 = 3;
/// Dimensionality: two dimensions with coordinates in texels.
pub const TGSIC_DIM_RECT: u32 = 4;
/// Dimensionality: a buffer of texels.
pub const TGSIC_DIM_BUFFER: u32 = 5;
/// Dimensionality: two dimensions with several samples.
pub const TGSIC_DIM_2D_SAMPLES: u32 = 7;

// The header has only numbers.
const _: () = assert!(TGSIC_DIM_1D == SamplerDim::Dim1D as u32 && TGSIC_DIM_2D == SamplerDim::Dim2D as u32);
const _: () = assert!(TGSIC_DIM_3D == SamplerDim::Dim3D as u32 && TGSIC_DIM_CUBE == SamplerDim::Cube as u32);
const _: () = assert!(TGSIC_DIM_RECT == SamplerDim::Rect as u32 && TGSIC_DIM_BUFFER == SamplerDim::Buf as u32);
const _: () = assert!(TGSIC_DIM_2D_SAMPLES == SamplerDim::Ms as u32);

/// Lookup: filtered, with the level of detail from the coordinates of the quad.
pub const TGSIC_LOOKUP_IMPLICIT: u32 = 0;
/// Lookup: the same, and `lod` is added to the level.
pub const TGSIC_LOOKUP_BIAS: u32 = 1;
/// Lookup: filtered at the level `lod`.
pub const TGSIC_LOOKUP_EXPLICIT: u32 = 2;
/// Lookup: filtered, with the level from `ddx` and `ddy`.
pub const TGSIC_LOOKUP_GRADIENT: u32 = 3;
/// Lookup: the component `component` of four texels.
pub const TGSIC_LOOKUP_GATHER: u32 = 4;
/// Lookup: one texel by integer coordinates; `lod` is its level, or its sample, as an integer.
pub const TGSIC_LOOKUP_FETCH: u32 = 5;
/// Lookup: the level of detail itself.
pub const TGSIC_LOOKUP_QUERY_LOD: u32 = 6;

/// A lookup by the four lanes of a quad. Words are floats, except the coordinates and the level of a fetch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_texture_request {
    /// `sizeof(tgsic_texture_request)`.
    pub size: usize,
    /// The number of the sampler view.
    pub texture: u32,
    /// The number of the sampler.
    pub sampler: u32,
    /// The kind of lookup: `TGSIC_LOOKUP_...`.
    pub lookup: u32,
    /// The component of a gather.
    pub component: u32,
    /// Dimensionality: `TGSIC_DIM_...`.
    pub dim: u32,
    /// 1 if the last coordinate is a layer.
    pub is_array: u32,
    /// 1 if the result is a comparison with `comparator`.
    pub is_shadow: u32,
    /// 1 if each texel of a gather has its own offset, in `gather_offsets`.
    pub has_gather_offsets: u32,
    /// Coordinates by component and lane, the layer last, after projection.
    pub coordinate: [[u32; 4]; 4],
    /// Reference value by lane.
    pub comparator: [u32; 4],
    /// Bias, level or sample by lane.
    pub lod: [u32; 4],
    /// Derivatives by x, by component and lane.
    pub ddx: [[u32; 4]; 3],
    /// Derivatives by y, by component and lane.
    pub ddy: [[u32; 4]; 3],
    /// Offset in texels, by component and lane.
    pub offset: [[i32; 4]; 3],
    /// Offsets of a gather, by texel, component and lane. Component i of the result is the texel at offset i, as
    /// component w of a gather with that offset would be.
    pub gather_offsets: [[[i32; 4]; 2]; 4],
}

/// Sizes of a texture or image at a level. Layers follow the last dimension.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_texture_size {
    /// Width.
    pub width: u32,
    /// Height, or layers of one dimension.
    pub height: u32,
    /// Depth, or layers of two dimensions.
    pub depth: u32,
    /// Number of levels.
    pub levels: u32,
    /// Number of samples.
    pub samples: u32,
}

/// A texel of an image.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_texel {
    /// The number of the image.
    pub image: u32,
    /// Coordinates.
    pub x: u32,
    /// Likewise.
    pub y: u32,
    /// Likewise.
    pub z: u32,
    /// The sample.
    pub sample: u32,
}

/// Looks up texels: writes the result by component and lane.
pub type tgsic_texture_function =
    Option<unsafe extern "C" fn(user: *mut c_void, request: *const tgsic_texture_request, result: *mut [u32; 4])>;
/// Returns the size of a texture at a level, or of an image (at level 0). The size is initialised to 0.
pub type tgsic_size_function = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        unit: u32,
        level: u32,
        dim: u32,
        is_array: u32,
        size: *mut tgsic_texture_size,
    ),
>;
/// Reads a texel of an image: writes four words.
pub type tgsic_load_function =
    Option<unsafe extern "C" fn(user: *mut c_void, texel: *const tgsic_texel, words: *mut u32)>;
/// Stores a texel of an image, four words.
pub type tgsic_store_function =
    Option<unsafe extern "C" fn(user: *mut c_void, texel: *const tgsic_texel, words: *const u32)>;
/// Returns the number of the texture or image for a handle.
pub type tgsic_handle_function = Option<unsafe extern "C" fn(user: *mut c_void, handle: u64) -> u32>;

/// Textures and images. The functions are called from the threads that run the shader, several at the same time. They
/// must return: no `longjmp`, no C++ exceptions. Without a function, reads give 0 and stores do nothing.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_resources {
    /// `sizeof(tgsic_resources)`.
    pub size: usize,
    /// The first argument of each function.
    pub user: *mut c_void,
    /// Looks up texels.
    pub texture: tgsic_texture_function,
    /// Returns the size of a texture.
    pub texture_size: tgsic_size_function,
    /// Reads a texel of an image.
    pub image_load: tgsic_load_function,
    /// Stores a texel of an image.
    pub image_store: tgsic_store_function,
    /// Returns the size of an image.
    pub image_size: tgsic_size_function,
    /// Converts a handle to a number; without the function, the handle is the number.
    pub unit_of_handle: tgsic_handle_function,
}

// SAFETY: `repr(C)`, the size comes first, and all types in it may be zero.
unsafe impl SizedStruct for tgsic_resources {}

// SAFETY: the interface requires that the functions may be called from any thread; the pointer is only passed to them.
unsafe impl Send for tgsic_resources {}
// SAFETY: likewise.
unsafe impl Sync for tgsic_resources {}

impl tgsic_resources {
    /// No textures and no images.
    pub(crate) const NONE: tgsic_resources = tgsic_resources {
        size: size_of::<tgsic_resources>(),
        user: std::ptr::null_mut(),
        texture: None,
        texture_size: None,
        image_load: None,
        image_store: None,
        image_size: None,
        unit_of_handle: None,
    };
}
