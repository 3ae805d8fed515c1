//! The context of machine code: one structure of addresses and lengths. `emission` reads its fields by the offsets
//! defined here; apart from its stack, code can access nothing else.

use tgsi_ir::run::native::NativeState;

use super::calls::{EvaluatedAlu, FUNCTIONS, Functions};
use crate::native::limits::{MAX_CONSTANTS, MAX_KNOWN, MAX_STORAGE, MAX_VERTICES, ZEROS};
use crate::sampler::format::srgb;
use crate::sampler::{Level, Texture};

/// Performs the lookups of a texture instruction, by its number, for one quad.
pub(in crate::native) type LookUp = extern "C" fn(*const Context, u64, *mut [u32; 4]);

/// Kills the lanes of a mask in the quad at a byte offset of a lane vector.
pub(in crate::native) type Kill = extern "C" fn(*const Context, u64, *mut [u32; 4]);

/// A memory range that code reads: its start, and its length in bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub(in crate::native) struct Buffer {
    start: *const u8,
    length: u64,
}

impl Buffer {
    const NONE: Buffer = Buffer { start: std::ptr::null(), length: 0 };

    fn of<T>(memory: &[T]) -> Buffer {
        Buffer { start: memory.as_ptr().cast(), length: size_of_val(memory) as u64 }
    }
}

/// Storage buffers and the vertices of a primitive. Few shaders have them, so they are separate from the context.
pub(in crate::native) struct Tables {
    storage: Option<[Buffer; MAX_STORAGE as usize]>,
    vertices: Option<[Buffer; MAX_VERTICES as usize]>,
}

impl Tables {
    /// Creates the tables for a call.
    pub fn new(state: &NativeState<'_>) -> Tables {
        Tables {
            storage: table(state.buffers.iter().map(|buffer| Buffer::of(buffer))),
            vertices: table(state.vertices.iter().map(|vertex| Buffer::of(vertex))),
        }
    }
}

/// Returns the first `N` of some buffers; the others are empty. `None` if there are no buffers.
fn table<const N: usize>(buffers: impl ExactSizeIterator<Item = Buffer>) -> Option<[Buffer; N]> {
    (buffers.len() > 0).then(|| {
        let mut table = [Buffer::NONE; N];
        table.iter_mut().zip(buffers).for_each(|(entry, buffer)| *entry = buffer);
        table
    })
}

/// Returns the address of a table.
fn table_address<const N: usize>(table: &Option<[Buffer; N]>) -> *const Buffer {
    table.as_ref().unwrap_or(&const { [Buffer::NONE; N] }).as_ptr()
}

/// A texture that code reads.
#[derive(Clone, Copy)]
#[repr(C)]
pub(in crate::native) struct KnownUnit {
    /// Whether the texture is the one that the code was generated for.
    is_there: u64,
    texels: *const u8,
    levels: *const Level,
    /// The number of the last level, and the number of layers.
    last: u32,
    layers: u32,
}

impl KnownUnit {
    /// A placeholder for missing textures: code may load from it before its check, and discards the result.
    const NONE: KnownUnit = {
        static TEXEL: [u8; 16] = [0; 16];
        static LEVEL: Level = Level { start: 0, width: 1, height: 1, images: 1, image_bytes: TEXEL.len() };
        KnownUnit { is_there: 0, texels: TEXEL.as_ptr(), levels: &raw const LEVEL, last: 0, layers: 1 }
    };
}

/// The argument of a region's function.
#[repr(C)]
pub(crate) struct Context {
    words: *mut u32,
    registers: *mut u32,
    inputs: *const u32,
    outputs: *mut u32,
    /// The distance in bytes between components of the inputs, and of the outputs.
    input_stride: u64,
    output_stride: u64,
    active: *const u32,
    exists: *const u32,
    /// Bytes of a lane vector.
    stride: u64,
    /// Bytes of the block's part of a lane vector.
    end: u64,
    /// Most operations of a quad.
    steps: u64,
    /// Read in place of memory out of bounds.
    zero: [u64; ZEROS / 8],
    /// The data of the called functions.
    host: *mut (),
    look_up: LookUp,
    kill: Kill,
    /// The functions that code calls.
    functions: *const Functions,
    /// Instructions that are evaluated by calls; code contains their numbers.
    evaluated: *const EvaluatedAlu,
    storage: *const Buffer,
    vertices: *const Buffer,
    shared: Buffer,
    /// Out-of-line lookup functions.
    lookups: *const LookUp,
    /// Linear values of bytes on the sRGB curve.
    srgb: *const [f32; 256],
    /// The lanes that were killed before: 0 or all ones. Only code with kills reads it.
    killed: *const u32,
    known: [KnownUnit; MAX_KNOWN],
    constants: [Buffer; MAX_CONSTANTS as usize],
}

impl Context {
    /// Sets a texture that code reads itself; it must live and stay unchanged until the call ends.
    pub fn set_known(&mut self, number: usize, texture: &Texture) {
        if let Some(unit) = self.known.get_mut(number) {
            let (texels, levels) = (texture.texels(), texture.levels());
            *unit = KnownUnit {
                is_there: 1,
                texels: texels.as_ptr(),
                levels: levels.as_ptr(),
                last: levels.len().saturating_sub(1) as u32,
                layers: texture.layers(),
            };
        }
    }

    /// Returns the host of the call.
    pub(in crate::native) fn host(&self) -> *mut () {
        self.host
    }

    /// Sets the host of the call, which must live and not be used elsewhere until it ends.
    pub(in crate::native) fn set_host(&mut self, host: *mut ()) {
        self.host = host;
    }

    /// Sets the lanes that were killed before, a word for each lane of the block; they must live and stay unchanged
    /// until the call ends.
    pub(in crate::native) fn set_killed(&mut self, killed: &[u32]) {
        self.killed = killed.as_ptr();
    }

    /// Creates the context of a call. It contains addresses into `state`, its `tables`, `evaluated` and `lookups`,
    /// which must stay borrowed until the call ends.
    pub(in crate::native) fn new(
        state: &mut NativeState<'_>,
        tables: &Tables,
        evaluated: &[EvaluatedAlu],
        lookups: &[LookUp],
        look_up: LookUp,
        kill: Kill,
    ) -> Context {
        let mut constants = [Buffer::NONE; MAX_CONSTANTS as usize];
        for (buffer, words) in constants.iter_mut().zip(state.constants) {
            *buffer = Buffer::of(words);
        }
        Context {
            words: state.words.as_mut_ptr(),
            registers: state.registers.as_mut_ptr(),
            inputs: state.inputs.as_ptr(),
            outputs: state.outputs.as_mut_ptr(),
            input_stride: state.input_stride as u64 * 4,
            output_stride: state.output_stride as u64 * 4,
            active: state.active.as_ptr(),
            exists: state.exists.as_ptr(),
            stride: state.width as u64 * 4,
            end: state.lanes as u64 * 4,
            steps: state.steps,
            zero: [0; ZEROS / 8],
            host: std::ptr::null_mut(),
            look_up,
            kill,
            known: [KnownUnit::NONE; MAX_KNOWN],
            functions: &raw const FUNCTIONS,
            evaluated: evaluated.as_ptr(),
            storage: table_address(&tables.storage),
            vertices: table_address(&tables.vertices),
            shared: Buffer::of(state.shared),
            lookups: lookups.as_ptr(),
            srgb: srgb(),
            killed: std::ptr::null(),
            constants,
        }
    }
}

/// Byte offsets of the fields.
pub(in crate::native) mod offsets {
    use crate::native::runtime::context::{Buffer, Context, KnownUnit};
    use std::mem::offset_of;

    pub const WORDS: usize = offset_of!(Context, words);
    pub const REGISTERS: usize = offset_of!(Context, registers);
    pub const ACTIVE: usize = offset_of!(Context, active);
    pub const EXISTS: usize = offset_of!(Context, exists);
    pub const INPUTS: usize = offset_of!(Context, inputs);
    pub const OUTPUTS: usize = offset_of!(Context, outputs);
    pub const INPUT_STRIDE: usize = offset_of!(Context, input_stride);
    pub const OUTPUT_STRIDE: usize = offset_of!(Context, output_stride);
    pub const END: usize = offset_of!(Context, end);
    pub const STRIDE: usize = offset_of!(Context, stride);
    pub const STEPS: usize = offset_of!(Context, steps);
    pub const ZERO: usize = offset_of!(Context, zero);
    pub const KNOWN: usize = offset_of!(Context, known);
    /// The size of a known unit, and the offsets of its fields.
    pub const KNOWN_UNIT: usize = size_of::<KnownUnit>();
    pub const KNOWN_IS_THERE: usize = offset_of!(KnownUnit, is_there);
    pub const KNOWN_TEXELS: usize = offset_of!(KnownUnit, texels);
    pub const KNOWN_LEVELS: usize = offset_of!(KnownUnit, levels);
    pub const KNOWN_LAST: usize = offset_of!(KnownUnit, last);
    pub const KNOWN_LAYERS: usize = offset_of!(KnownUnit, layers);
    pub const LOOKUPS: usize = offset_of!(Context, lookups);
    pub const SRGB: usize = offset_of!(Context, srgb);
    pub const KILLED: usize = offset_of!(Context, killed);
    pub const LOOK_UP: usize = offset_of!(Context, look_up);
    pub const KILL: usize = offset_of!(Context, kill);
    pub const FUNCTIONS: usize = offset_of!(Context, functions);
    pub const EVALUATED: usize = offset_of!(Context, evaluated);
    pub const CONSTANTS: usize = offset_of!(Context, constants);
    pub const STORAGE: usize = offset_of!(Context, storage);
    pub const VERTICES: usize = offset_of!(Context, vertices);
    pub const SHARED: usize = offset_of!(Context, shared);
    /// The size of a buffer's entry, and the offset of its length.
    pub const BUFFER: usize = size_of::<Buffer>();
    pub const BUFFER_LENGTH: usize = offset_of!(Buffer, length);
}
