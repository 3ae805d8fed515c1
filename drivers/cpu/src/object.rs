//! Object files: machine code that is compiled ahead of time and linked into the program that runs the shader.
//!
//! An object file has a function for each region of a shader, and exports one symbol, an [`ObjectData`], that refers
//! to all contents. The interpreter executes the rest, as it does with code compiled at run time, so the object also
//! contains the lowered shader, as text. An object works for any shader, needs no compilation when the program starts,
//! and no memory that can be made executable. The driver writes it; [`load`] creates from it the same [`Program`] that
//! [`compile`] creates from the shader, without the feature `machine-code`.
//!
//! Code and interpreter must have the same version: offsets of the interpreter's data are part of the code. The object
//! contains a hash of everything it depends on, which is compared before any function is called.

use std::fmt::{self, Write};
use std::ops::Range;
use std::sync::Arc;

#[cfg(feature = "machine-code")]
use tgsi_ir::ShaderStage;

use crate::error::CpuError;
use crate::native::{self, Code, Function};
use crate::options::{Options, Report};
use crate::program::{Program, compile};

/// Processor extensions that code uses unconditionally.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(u32)]
pub(crate) enum Extensions {
    /// No extensions.
    #[default]
    None = 0,
    /// The extensions of x86-64-v2: up to SSE4.2.
    X86_64V2 = 2,
    /// The extensions of x86-64-v3: AVX2, BMI, FMA.
    X86_64V3 = 3,
}

impl Extensions {
    fn from_number(number: u32) -> Option<Extensions> {
        [Extensions::None, Extensions::X86_64V2, Extensions::X86_64V3].into_iter().find(|&one| one as u32 == number)
    }

    /// Returns the name, if this CPU lacks one of them.
    fn missing(self) -> Option<&'static str> {
        #[cfg(target_arch = "x86_64")]
        let (v2, v3) = (
            is_x86_feature_detected!("sse4.2") && is_x86_feature_detected!("popcnt"),
            is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("lzcnt"),
        );
        #[cfg(not(target_arch = "x86_64"))]
        let (v2, v3) = (false, false);
        match self {
            Extensions::X86_64V2 if !v2 => Some("x86-64-v2"),
            Extensions::X86_64V3 if !(v2 && v3) => Some("x86-64-v3"),
            _ => None,
        }
    }
}

/// A function of an object, and the operations of the program that it executes.
#[repr(C)]
pub(crate) struct ObjectFunction {
    pub start: u32,
    pub end: u32,
    pub function: Option<Function>,
}

/// The data at the symbol of an object file. Programs only pass its address on. Pointers have 64 bits.
#[repr(C)]
pub struct ObjectData {
    pub(crate) magic: [u8; 8],
    /// The version of all following fields.
    pub(crate) layout: u32,
    pub(crate) extensions: u32,
    /// The version of the package, padded with zeros.
    pub(crate) version: [u8; 16],
    pub(crate) hash: u64,
    pub(crate) num_functions: u64,
    pub(crate) functions: *const ObjectFunction,
    /// Numbers of ALU instructions that code evaluates by calls.
    pub(crate) num_instructions: u64,
    pub(crate) instructions: *const u32,
    /// The lowered shader.
    pub(crate) num_characters: u64,
    pub(crate) text: *const u8,
}

// SAFETY: the data does not change.
unsafe impl Sync for ObjectData {}

impl fmt::Debug for ObjectData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectData").field("functions", &self.num_functions).finish_non_exhaustive()
    }
}

/// The beginning of every version of [`ObjectData`].
#[repr(C)]
struct ObjectPrefix {
    magic: [u8; 8],
    layout: u32,
}

impl ObjectData {
    pub(crate) const MAGIC: [u8; 8] = *b"tgsicobj";
    /// Must be incremented when the struct changes.
    pub(crate) const LAYOUT: u32 = 1;
    pub(crate) const VERSION: [u8; 16] = {
        let version = env!("CARGO_PKG_VERSION").as_bytes();
        let mut bytes = [0; 16];
        let mut at = 0;
        while at < version.len() {
            bytes[at] = version[at];
            at += 1;
        }
        bytes
    };
}

/// The contents of an object that its hash covers.
pub(crate) struct ObjectContents<'a> {
    pub extensions: Extensions,
    /// The operations of each function: first, end.
    pub regions: Vec<(u32, u32)>,
    pub instructions: &'a [u32],
    pub text: &'a str,
}

impl ObjectContents<'_> {
    /// Computes the hash for a program that was compiled from the text and has no machine code yet.
    pub fn hash(&self, program: &tgsi_ir::run::Program) -> u64 {
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
        let ObjectContents { extensions, regions, instructions, text } = self;
        let version = env!("CARGO_PKG_VERSION");
        // Writing to a hash does not fail.
        let _ = write!(hash, "{version} {:?} {extensions:?} {regions:?} {instructions:?} ", native::SIZES);
        let _ = write!(hash, "{} {} ", program.num_value_vectors(), program.num_register_vectors());
        // Blocks do not clear outputs that code always stores.
        let _ = write!(hash, "{:?} ", program.always_stored());
        let _ = write!(hash, "{:?} {:?} {:?} ", program.ops(), program.constants(), program.registers());
        for alu in program.alus() {
            let _ = write!(hash, "{} {:?} ", alu.op, alu.dest);
            for source in 0..usize::from(alu.num_sources) {
                let _ = write!(hash, "{:?}", program.alu_source_vectors(alu, source));
            }
        }
        let _ = write!(hash, "{:?} {:?} ", program.intrinsics(), program.textures());
        let _ = write!(hash, "{:?} {:?} ", program.copies(), program.kept());
        let _ = hash.write_str(text);
        hash.0
    }
}

/// FNV-1a, 64 bits: <http://www.isthe.com/chongo/tech/comp/fnv/>.
struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

/// Creates the program of an object that is linked into this process.
///
/// # Errors
/// [`CpuError`]: there is no object, it has another version or was changed, or the CPU lacks an extension.
///
/// # Safety
/// `object` is NULL, or the address of the symbol of an object file that tgsic wrote, of this version or of another
/// one, which its version field then shows. It must live as long as the program.
pub unsafe fn load(object: *const ObjectData) -> Result<Program, CpuError> {
    if object.is_null() || !object.is_aligned() {
        return Err(CpuError::NotAnObject);
    }
    // SAFETY: it is aligned, not NULL, and the caller guarantees that it is an object, which begins with this.
    let start = unsafe { &*object.cast::<ObjectPrefix>() };
    if start.magic != ObjectData::MAGIC {
        return Err(CpuError::NotAnObject);
    }
    if start.layout != ObjectData::LAYOUT {
        return Err(CpuError::OtherLayout { found: start.layout, known: ObjectData::LAYOUT });
    }
    // SAFETY: likewise, and objects of this layout are this struct.
    let object = unsafe { &*object };
    if object.version != ObjectData::VERSION {
        let found = String::from_utf8_lossy(&object.version).trim_end_matches('\0').to_owned();
        return Err(CpuError::OtherVersion { found, known: env!("CARGO_PKG_VERSION") });
    }
    // SAFETY: the caller guarantees that it is an object, in which each pointer refers to as many elements as its
    // count.
    let functions = unsafe { elements(object.functions, object.num_functions) };
    // SAFETY: likewise.
    let instructions = unsafe { elements(object.instructions, object.num_instructions) };
    // SAFETY: likewise.
    let text = unsafe { elements(object.text, object.num_characters) };
    let (Some(functions), Some(instructions), Some(text)) = (functions, instructions, text) else {
        return Err(CpuError::Changed);
    };
    let text = std::str::from_utf8(text).map_err(|_| CpuError::Changed)?;
    let extensions = Extensions::from_number(object.extensions).ok_or(CpuError::Changed)?;
    let shader = tgsi_ir::text::parse(text).map_err(|_| CpuError::Changed)?;
    let mut program = compile(&shader, Options { machine_code: false, ..Options::default() })?;
    let regions = functions.iter().map(|function| (function.start, function.end)).collect();
    if (ObjectContents { extensions, regions, instructions, text }).hash(&program.program) != object.hash {
        return Err(CpuError::Changed);
    }
    if let Some(name) = extensions.missing() {
        return Err(CpuError::MissingExtensions(name));
    }
    if functions.is_empty() {
        return Ok(program);
    }
    let ranges: Vec<Range<u32>> = functions.iter().map(|function| function.start..function.end).collect();
    let functions = functions.iter().map(|function| function.function).collect::<Option<Vec<Function>>>();
    let functions = functions.ok_or(CpuError::Changed)?;
    // SAFETY: the hash shows that they were generated for this program and this version of the crate; the caller
    // guarantees that they live long enough.
    let code = unsafe { Code::new(&program.program, functions, instructions, Vec::new(), Vec::new(), true, None) }
        .ok_or(CpuError::Changed)?;
    program.report = Report {
        functions: ranges.len(),
        operations: ranges.iter().map(|range| range.len()).sum(),
        evaluated: instructions.len(),
        ..program.report
    };
    program.program.set_native(&ranges, Arc::new(code));
    Ok(program)
}

/// Returns the slice at a pointer.
///
/// # Safety
/// Unless the count is 0, a pointer that is aligned and not NULL refers to `count` elements, which live long enough.
unsafe fn elements<'a, T>(first: *const T, count: u64) -> Option<&'a [T]> {
    if count == 0 {
        return Some(&[]);
    }
    let count = usize::try_from(count).ok().filter(|&count| count <= isize::MAX as usize / size_of::<T>())?;
    if first.is_null() || !first.is_aligned() {
        return None;
    }
    // SAFETY: it is aligned, not NULL and no longer than memory, and the caller guarantees that the elements exist.
    Some(unsafe { std::slice::from_raw_parts(first, count) })
}

#[cfg(feature = "machine-code")]
/// Returns the C header of an object file: the symbol, and how to run the shader.
pub(crate) fn header(symbol: &str, stage: ShaderStage, triple: &str) -> String {
    let kind = stage.name().to_lowercase().replace('_', " ");
    let version = env!("CARGO_PKG_VERSION");
    let call = match stage {
        ShaderStage::Vertex | ShaderStage::TessEval => Some("tgsic_run_vertices(program, &run, threads)"),
        ShaderStage::Fragment => Some("tgsic_run_quads(program, &run, threads)"),
        ShaderStage::Compute | ShaderStage::Kernel => Some("tgsic_dispatch(program, &run, groups, NULL, threads)"),
        ShaderStage::TessCtrl | ShaderStage::Geometry | ShaderStage::Task | ShaderStage::Mesh => None,
    };
    let usage = call.map_or_else(
        || "// libtgsic does not run shaders of this stage; the crate tgsi-driver-cpu does (`load`).\n".to_owned(),
        |call| {
            format!(
                "// Link the object file and libtgsic {version}, which need not be able to make machine code. Then:\n//\n\
                 //     tgsic_result *result;\n\
                 //     tgsic_program *program = tgsic_program_from_object(&{symbol}, &result);\n\
                 //     result = program ? {call} : result;\n\
                 //     ...\n\
                 //     tgsic_result_free(result);\n\
                 //     tgsic_program_free(program);\n"
            )
        },
    );
    format!(
        "// A {kind} shader as machine code for {triple}, made by tgsic {version}.\n//\n{usage}\n\
         #ifndef TGSIC_OBJECT_{symbol}\n#define TGSIC_OBJECT_{symbol}\n\n#include <tgsic.h>\n\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n\
         extern const tgsic_object {symbol};\n\n\
         #ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
    )
}
