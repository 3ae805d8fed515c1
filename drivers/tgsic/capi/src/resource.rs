//! The resources bound to a shader, in C structs.

use tgsi::scan::Resource;
use tgsi::tables::File;

use crate::sized::SizedStruct;

/// Resources: a constant buffer, by its constants.
pub const TGSIC_FILE_CONSTANT: u32 = 1;
/// Resources: a sampler.
pub const TGSIC_FILE_SAMPLER: u32 = 5;
/// Resources: a sampler view, which has the type of the texture.
pub const TGSIC_FILE_SAMPLER_VIEW: u32 = 10;
/// Resources: a buffer.
pub const TGSIC_FILE_BUFFER: u32 = 11;
/// Resources: an image.
pub const TGSIC_FILE_IMAGE: u32 = 9;
/// Resources: a constant buffer that is loaded from by byte.
pub const TGSIC_FILE_CONSTANT_BUFFER: u32 = 13;
/// Resources: a buffer of counters.
pub const TGSIC_FILE_COUNTER: u32 = 14;

// The header has only numbers.
const _: () = assert!(TGSIC_FILE_CONSTANT == File::Constant.value() as u32);
const _: () = assert!(TGSIC_FILE_SAMPLER == File::Sampler.value() as u32);
const _: () = assert!(TGSIC_FILE_SAMPLER_VIEW == File::SamplerView.value() as u32);
const _: () = assert!(TGSIC_FILE_BUFFER == File::Buffer.value() as u32);
const _: () = assert!(TGSIC_FILE_IMAGE == File::Image.value() as u32);
const _: () = assert!(TGSIC_FILE_CONSTANT_BUFFER == File::ConstantBuffer.value() as u32);
const _: () = assert!(TGSIC_FILE_COUNTER == File::HwAtomic.value() as u32);

/// In `uses` of a resource: it is declared. Without this bit, it is only used.
pub const TGSIC_RESOURCE_DECLARED: u32 = 1 << 0;
/// In `uses` of a resource: constants are read, textures sampled, memory loaded.
pub const TGSIC_RESOURCE_READ: u32 = 1 << 1;
/// In `uses` of a resource: it is stored to.
pub const TGSIC_RESOURCE_WRITTEN: u32 = 1 << 2;
/// In `uses` of a resource: atomic operations occur.
pub const TGSIC_RESOURCE_ATOMIC: u32 = 1 << 3;
/// In `uses` of a resource: its size, levels or samples are queried.
pub const TGSIC_RESOURCE_QUERIED: u32 = 1 << 4;
/// In `uses` of a resource: a run-time index may select it, or a register in it.
pub const TGSIC_RESOURCE_INDIRECT: u32 = 1 << 5;
/// In `uses` of an image: declared with `WR`.
pub const TGSIC_RESOURCE_WRITABLE: u32 = 1 << 6;
/// In `uses` of an image: declared with `RAW`.
pub const TGSIC_RESOURCE_RAW: u32 = 1 << 7;

/// A resource bound to a shader.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_resource {
    /// `sizeof(tgsic_resource)`, to be set by the caller.
    pub size: usize,
    /// The kind of resource: `TGSIC_FILE_...`.
    pub file: u32,
    /// The binding number.
    pub binding: u32,
    /// Bits `TGSIC_RESOURCE_...`.
    pub uses: u32,
    /// The texture target of samplers, views and images: the declared one, or that of the first instruction with it.
    pub target: u32,
    /// The return types of a view, per component.
    pub return_types: [u32; 4],
    /// The format of an image, a number of `enum pipe_format`; 0 for none.
    pub format: u32,
    /// The first declared constant or counter; 0 in other files.
    pub first_declared: u32,
    /// Constants or counters from the first to the last declared one; 0 in other files.
    pub num_declared: u32,
    /// The first constant or counter that instructions use; 0 in other files.
    pub first_used: u32,
    /// Constants or counters from the first to the last that instructions use: all declared ones, with a run-time
    /// index. 0 in other files.
    pub num_used: u32,
    /// Must not be used.
    pub reserved: u32,
}

// SAFETY: `repr(C)`, the size comes first, and all types in it may be zero.
unsafe impl SizedStruct for tgsic_resource {}

/// Converts a resource for C.
pub(crate) fn resource(of: &Resource) -> tgsic_resource {
    let uses = [
        (of.uses.declared, TGSIC_RESOURCE_DECLARED),
        (of.uses.read, TGSIC_RESOURCE_READ),
        (of.uses.written, TGSIC_RESOURCE_WRITTEN),
        (of.uses.atomic, TGSIC_RESOURCE_ATOMIC),
        (of.uses.queried, TGSIC_RESOURCE_QUERIED),
        (of.uses.indirect, TGSIC_RESOURCE_INDIRECT),
        (of.uses.writable, TGSIC_RESOURCE_WRITABLE),
        (of.uses.raw, TGSIC_RESOURCE_RAW),
    ];
    let range = |range: Option<(u16, u16)>| range.map_or((0, 0), |(a, b)| (u32::from(a), u32::from(b - a) + 1));
    let ((first_declared, num_declared), (first_used, num_used)) = (range(of.declared), range(of.used));
    tgsic_resource {
        size: size_of::<tgsic_resource>(),
        file: of.file.value().into(),
        binding: of.binding.into(),
        uses: uses.into_iter().filter(|&(is, _)| is).fold(0, |uses, (_, bit)| uses | bit),
        target: of.target.value().into(),
        return_types: of.return_types.map(|of| of.value().into()),
        format: of.format.value().into(),
        first_declared,
        num_declared,
        first_used,
        num_used,
        reserved: 0,
    }
}
