//! The surroundings of a thread: requests to shared functions with decoded fields.

use crate::isa::SharedFunction;

/// A word for each lane of a message: lane `i` is channel `i` of the first channel of the instruction. In SIMD4x2,
/// lanes are vectors, of which there are two. Words of absent lanes are zeros.
pub type Lanes = [u32; 16];

/// The lanes of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Simd {
    /// Two vectors of four components.
    X4x2,
    /// Eight channels.
    X8,
    /// 16 channels.
    X16,
}

impl Simd {
    /// The number of lanes: 2, 8 or 16.
    pub fn lanes(self) -> usize {
        match self {
            Simd::X4x2 => 2,
            Simd::X8 => 8,
            Simd::X16 => 16,
        }
    }

    /// The number of registers of a parameter of a message. In SIMD4x2, a register has four parameters.
    pub fn registers(self) -> usize {
        match self {
            Simd::X4x2 | Simd::X8 => 1,
            Simd::X16 => 2,
        }
    }
}

crate::isa::bits::enumeration! {
    /// An operation of the sampler. The description has the parameters of SIMD8 and SIMD16 in the order of the message.
    /// In SIMD4x2, coordinates come first. Parameters at the end may be absent, and are then zeros.
    SampleOp {
        Sample = 0 "sample" "u, v, r, array index.";
        Bias = 1 "sample_b" "Bias, u, v, r, array index.";
        Level = 2 "sample_l" "Level, u, v, r, array index.";
        Compare = 3 "sample_c" "Reference, u, v, r, array index.";
        Gradient = 4 "sample_d" "u, du/dx, du/dy, v, dv/dx, dv/dy, r, dr/dx, dr/dy, array index.";
        BiasCompare = 5 "sample_b_c" "Reference, bias, u, v, r, array index.";
        LevelCompare = 6 "sample_l_c" "Reference, level, u, v, r, array index.";
        Load = 7 "ld" "Integers: u, level, v, r.";
        Gather = 8 "gather4" "u, v, r, array index.";
        Lod = 9 "lod" "u, v, r, array index.";
        ResourceInfo = 10 "resinfo" "Level, an integer.";
        SampleInfo = 11 "sampleinfo" "None.";
        GatherCompare = 16 "gather4_c" "Reference, u, v, r, array index.";
        GatherOffset = 17 "gather4_po" "u, v, offset u, offset v, r, array index.";
        GatherOffsetCompare = 18 "gather4_po_c" "Reference, u, v, offset u, offset v, r.";
        GradientCompare = 20 "sample_d_c" "Reference, then as sample_d.";
        LoadMcs = 29 "ld_mcs" "Integers: u, v, r, level. The result is the word of the multisample control surface.";
        LoadMultisample = 30 "ld2dms" "Integers: sample, word of the multisample control surface, u, v, r, level.";
        LoadUncompressed = 31 "ld2dss" "Integers: sample, u, v, r, level.";
    }
}

/// A message to the sampler.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// The operation.
    pub op: SampleOp,
    /// The lanes. In SIMD8 and SIMD16, four lanes at a time are a quad of pixels in fragment programs.
    pub simd: Simd,
    /// The texture, an index of the binding table.
    pub surface: u8,
    /// The sampler of the descriptor, 0 to 15.
    pub sampler: u8,
    /// The header. Word 3 is the address of the sampler states, to which programs add multiples of 256 for samplers
    /// beyond 15.
    pub header: Option<[u32; 8]>,
    /// The offset in texels of the header.
    pub offset: [i32; 3],
    /// The component that `gather4` returns, of the header.
    pub gather_component: u8,
    /// The parameters in the order of the message, for all lanes, with those that are not active. In SIMD4x2, their
    /// number is a multiple of four. [`Sample::arguments`] has them by their meaning.
    pub parameters: Vec<Lanes>,
    /// The lanes whose results are written.
    pub active: u16,
    /// The channel of the thread that is lane 0.
    pub first_channel: u8,
}

/// A row of 128 bits of the URB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UrbRow {
    /// The handle.
    pub handle: u32,
    /// The number of the row from the start of the entry.
    pub row: u32,
    /// The written components.
    pub mask: u8,
    /// The components.
    pub data: [u32; 4],
}

/// A message that writes to the URB.
#[derive(Clone, PartialEq, Debug)]
pub struct UrbWrite {
    /// The rows, in the order of the payload. Rows without components are omitted.
    pub rows: Vec<UrbRow>,
    /// The handles of the header.
    pub handles: [u32; 2],
    /// Whether the rows of both handles are interleaved: a register has a row for each.
    pub is_interleaved: bool,
    /// Whether the entries are complete.
    pub is_complete: bool,
    /// Whether the thread ends.
    pub end_of_thread: bool,
}

/// A message that writes to a render target. Lane 0 is pixel [`RenderTargetWrite::first_pixel`] of the thread.
#[derive(Clone, PartialEq, Debug)]
pub struct RenderTargetWrite {
    /// The render target, an index of the binding table.
    pub surface: u8,
    /// The number of lanes, 8 or 16.
    pub lanes: usize,
    /// The first pixel: 0, 8 or 16.
    pub first_pixel: u8,
    /// The written lanes: those that are enabled, and in the mask of the header.
    pub active: u16,
    /// The header.
    pub header: Option<[u32; 16]>,
    /// The alpha of the first render target.
    pub source0_alpha: Option<Lanes>,
    /// The sample mask, 16 bits.
    pub sample_mask: Option<Lanes>,
    /// The components of the colour, bits of floats or integers.
    pub colour: [Lanes; 4],
    /// The components of the second colour for blending.
    pub second_colour: Option<[Lanes; 4]>,
    /// The depth.
    pub depth: Option<Lanes>,
    /// Whether it is the last render target of the thread.
    pub is_last: bool,
    /// Whether the thread ends.
    pub end_of_thread: bool,
}

/// An access of a lane to a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferAccess {
    /// The receiver of the message: the cache.
    pub function: SharedFunction,
    /// The buffer, an index of the binding table; 254 is the local memory of the workgroup, 255 is memory without
    /// surface.
    pub surface: u8,
    /// The lane; blocks have lane 0.
    pub lane: u8,
    /// The place in bytes.
    pub address: u32,
    /// The size in bytes: 1, 2 or 4.
    pub size: u8,
}

/// An access of a lane to a texel of a surface with a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypedAccess {
    /// The surface, an index of the binding table.
    pub surface: u8,
    /// The lane.
    pub lane: u8,
    /// The integer coordinates: u, v, r, level. Absent ones are zeros.
    pub coordinates: [u32; 4],
}

crate::isa::bits::enumeration! {
    /// An atomic operation. The description has the new value; `a` and `b` are the operands.
    AtomicOp {
        And = 1 "and" "old & a.";
        Or = 2 "or" "old | a.";
        Xor = 3 "xor" "old ^ a.";
        Mov = 4 "mov" "a.";
        Inc = 5 "inc" "old + 1.";
        Dec = 6 "dec" "old - 1.";
        Add = 7 "add" "old + a.";
        Sub = 8 "sub" "old - a.";
        RevSub = 9 "revsub" "a - old.";
        Imax = 10 "imax" "The maximum of signed numbers.";
        Imin = 11 "imin" "The minimum of signed numbers.";
        Umax = 12 "umax" "The maximum of unsigned numbers.";
        Umin = 13 "umin" "The minimum of unsigned numbers.";
        CmpWr = 14 "cmpwr" "b if old is a, otherwise old.";
        PreDec = 15 "predec" "old - 1, which is also the result.";
    }
}

impl AtomicOp {
    /// The number of operands.
    pub fn operands(self) -> usize {
        match self {
            AtomicOp::Inc | AtomicOp::Dec | AtomicOp::PreDec => 0,
            AtomicOp::CmpWr => 2,
            _ => 1,
        }
    }

    /// Returns the new value and the result.
    pub fn apply(self, old: u32, [a, b]: [u32; 2]) -> (u32, u32) {
        let new = match self {
            AtomicOp::And => old & a,
            AtomicOp::Or => old | a,
            AtomicOp::Xor => old ^ a,
            AtomicOp::Mov => a,
            AtomicOp::Inc => old.wrapping_add(1),
            AtomicOp::Dec | AtomicOp::PreDec => old.wrapping_sub(1),
            AtomicOp::Add => old.wrapping_add(a),
            AtomicOp::Sub => old.wrapping_sub(a),
            AtomicOp::RevSub => a.wrapping_sub(old),
            AtomicOp::Imax => (old as i32).max(a as i32) as u32,
            AtomicOp::Imin => (old as i32).min(a as i32) as u32,
            AtomicOp::Umax => old.max(a),
            AtomicOp::Umin => old.min(a),
            AtomicOp::CmpWr if old == a => b,
            AtomicOp::CmpWr => old,
        };
        (new, if self == AtomicOp::PreDec { new } else { old })
    }
}

/// The place at which the pixel interpolator evaluates barycentric coordinates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InterpolationPlace {
    /// An offset from the center of all pixels, in 1/16 of a pixel, -8 to 7.
    Offset([i32; 2]),
    /// The position of a sample.
    Sample(u8),
    /// The centroid.
    Centroid,
    /// An offset from the center of each pixel, in 1/16 of a pixel.
    LaneOffset([Lanes; 2]),
}

/// A message to the pixel interpolator.
#[derive(Clone, PartialEq, Debug)]
pub struct Interpolation {
    /// The number of lanes, 8 or 16.
    pub lanes: usize,
    /// The lanes whose results are written.
    pub active: u16,
    /// The pixel of the thread that is lane 0.
    pub first_pixel: u8,
    /// Whether the result is not corrected for perspective.
    pub is_linear: bool,
    /// The place.
    pub place: InterpolationPlace,
}

/// The surroundings of a thread. Results of lanes that are not active are ignored.
pub trait Environment {
    /// Executes a message of the sampler. Returns the four components, of floats or integers by the format of the
    /// surface.
    fn sample(&mut self, _sample: &Sample) -> [Lanes; 4] {
        [[0; 16]; 4]
    }

    /// Writes rows of the URB.
    fn urb_write(&mut self, _write: &UrbWrite) {}

    /// Reads a row of the URB: the handle, and the number of the row from the start of the entry.
    fn urb_read(&mut self, _handle: u32, _row: u32) -> [u32; 4] {
        [0; 4]
    }

    /// Releases entries of the URB after reading.
    fn urb_release(&mut self, _handles: [u32; 2]) {}

    /// Writes to a render target.
    fn render_target_write(&mut self, _write: &RenderTargetWrite) {}

    /// Loads a number from a buffer; the upper bits of small ones are zeros.
    fn load(&mut self, _access: &BufferAccess) -> u32 {
        0
    }

    /// Stores a number to a buffer.
    fn store(&mut self, _access: &BufferAccess, _value: u32) {}

    /// Executes an atomic operation on a buffer. Returns the result, see [`AtomicOp::apply`].
    fn atomic(&mut self, _access: &BufferAccess, _op: AtomicOp, _operands: [u32; 2]) -> u32 {
        0
    }

    /// Loads a texel.
    fn typed_load(&mut self, _access: &TypedAccess) -> [u32; 4] {
        [0; 4]
    }

    /// Stores components of a texel, the first one lowest in the mask.
    fn typed_store(&mut self, _access: &TypedAccess, _value: [u32; 4], _mask: u8) {}

    /// Executes an atomic operation on a texel. Returns the result, see [`AtomicOp::apply`].
    fn typed_atomic(&mut self, _access: &TypedAccess, _op: AtomicOp, _operands: [u32; 2]) -> u32 {
        0
    }

    /// Returns the values of a plane in all lanes, in place of the result of `pln`: `register` and `word` are the place of
    /// its coefficients, and `coordinates` those of the lanes. `None`: the values are computed. For tests, whose values
    /// need not be a plane.
    fn plane(&mut self, _register: u8, _word: u8, _coordinates: &[Lanes; 2]) -> Option<Lanes> {
        None
    }

    /// Evaluates barycentric coordinates. Returns both coordinates.
    fn interpolate(&mut self, _interpolation: &Interpolation) -> [Lanes; 2] {
        [[0; 16]; 2]
    }

    /// Announces the thread at a barrier; `header` is the payload. Returns whether the barrier is complete for this
    /// thread, which is then notified. Otherwise the caller of [`Thread::resume`](super::Thread::resume) notifies it
    /// once all threads of the workgroup have arrived.
    fn barrier(&mut self, _header: &[u32; 8]) -> bool {
        true
    }

    /// Ends the thread by a message to the thread spawner.
    fn end(&mut self, _header: &[u32; 8]) {}
}
