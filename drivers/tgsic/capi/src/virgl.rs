//! `tgsic_virgl`: translates the shaders in the command buffers that a virgl host submits to its renderer.
//!
//! A host such as QEMU, crosvm or `virgl_test_server` passes the buffers of each guest context to
//! `virgl_renderer_submit_cmd`. Before that, [`tgsic_virgl_rewrite`] replaces the shaders, without another process and
//! without a wire protocol. `preload/virgl.c` does so for unmodified hosts.

use std::cell::Cell;
use std::cmp::Ordering;
use std::ffi::c_int;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tgsi_compiler::HostCompiler;
use tgsi_virgl::cache::Cache;
use tgsi_virgl::rewrite::Rewriter;
use tgsi_virgl::shader::{Filter, Filtered, ShaderObject};

use crate::compiler::{made, tgsic_compiler, tgsic_options};
use crate::failure::Failure;
use crate::guard::guarded;
use crate::result::tgsic_result;
use crate::sized::write_struct;
use crate::sized::{self, SizedStruct};

/// Bytes of texts and translations in each of the two generations of the cache.
const GENERATION_BYTES: usize = 16 << 20;

/// Translations for a host and all of its contexts: equal texts are translated once.
pub struct tgsic_virgl(Arc<Translations>);

/// The shaders of a context of the renderer. A shader that comes in several buffers is held until it is complete.
pub struct tgsic_virgl_context {
    rewriter: Rewriter<Counting>,
    /// Whether buffers are parsed. After a malformed one, all are passed on.
    reads: bool,
    /// The result of the last call.
    commands: Vec<u32>,
}

/// Totals of the shaders of a context.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tgsic_virgl_totals {
    /// `sizeof(tgsic_virgl_totals)`, to be set by the caller.
    pub size: usize,
    /// Shaders seen.
    pub shaders: u64,
    /// Shaders with a shorter translation.
    pub shorter: u64,
    /// Shaders with a translation of equal length.
    pub equal: u64,
    /// Shaders with a longer translation.
    pub longer: u64,
    /// Shaders without a translation, which are unchanged.
    pub failed: u64,
    /// Instructions of all shaders with a translation, before it.
    pub instructions_before: u64,
    /// Instructions of their translations.
    pub instructions_after: u64,
    /// The time taken by translation.
    pub microseconds: u64,
}

// SAFETY: `repr(C)`, the size comes first, and all types in it may be zero.
unsafe impl SizedStruct for tgsic_virgl_totals {}

impl tgsic_virgl_totals {
    const ZERO: tgsic_virgl_totals = tgsic_virgl_totals {
        size: size_of::<tgsic_virgl_totals>(),
        shaders: 0,
        shorter: 0,
        equal: 0,
        longer: 0,
        failed: 0,
        instructions_before: 0,
        instructions_after: 0,
        microseconds: 0,
    };

    fn add(&mut self, outcome: Option<&Translated>, time: Duration) {
        self.shaders += 1;
        self.microseconds += u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let Some(&Translated { before, after, .. }) = outcome else {
            self.failed += 1;
            return;
        };
        self.instructions_before += u64::from(before);
        self.instructions_after += u64::from(after);
        *match after.cmp(&before) {
            Ordering::Less => &mut self.shorter,
            Ordering::Equal => &mut self.equal,
            Ordering::Greater => &mut self.longer,
        } += 1;
    }
}

/// A translation.
struct Translated {
    /// The new text; `None` if it equals the old one.
    text: Option<Vec<u8>>,
    before: u32,
    after: u32,
}

/// The compiler, and its translations.
struct Translations {
    compiler: HostCompiler,
    /// `None` for texts that have no translation.
    cache: Cache<Option<Translated>>,
}

impl Translations {
    fn translate(&self, shader: &ShaderObject<'_>) -> Option<Translated> {
        // A panic must not end the guest, nor lose held shaders.
        let made = guarded(|| self.compiler.translate(shader.text, shader.stage.name(), shader.stream_outputs > 0));
        let translation = made.ok()?.ok()?;
        let (before, after) = (translation.instructions_before, translation.instructions_after);
        Some(Translated { text: (translation.text != shader.text).then_some(translation.text), before, after })
    }
}

/// A filter that counts.
struct Counting {
    shared: Arc<Translations>,
    totals: Cell<tgsic_virgl_totals>,
}

impl Filter for Counting {
    fn filter(&self, shader: &ShaderObject<'_>) -> Filtered {
        let started = Instant::now();
        let slot = self.shared.cache.find(shader).unwrap_or_else(|| self.shared.cache.slot(shader));
        let outcome = slot.get_or_init(|| self.shared.translate(shader)).as_ref();
        let mut totals = self.totals.get();
        totals.add(outcome, started.elapsed());
        self.totals.set(totals);
        match outcome {
            Some(Translated { text: Some(text), .. }) => Filtered::Changed(text.clone()),
            _ => Filtered::Unchanged,
        }
    }
}

impl tgsic_virgl_context {
    /// Returns the commands to be submitted instead; `None` if they are unchanged.
    fn rewrite(&mut self, commands: &[u8]) -> Option<&[u32]> {
        if !self.reads {
            return None;
        }
        let rewritten = self.rewriter.rewrite(commands);
        // The renderer reports the error, as without the library.
        self.reads = rewritten.error.is_none();
        let new = rewritten.commands?;
        self.commands.clear();
        self.commands.extend(new.as_chunks::<4>().0.iter().map(|&word| u32::from_ne_bytes(word)));
        Some(&self.commands)
    }
}

/// Creates the state shared by the contexts of a host. The options are those of a compiler for virgl hosts: the driver
/// must be `tgsi`, and the target is always `virgl`.
///
/// Returns NULL if the options are wrong. `*error` is then a result with the reason, for the caller to free; otherwise
/// it is NULL. `error` may be NULL.
///
/// # Safety
/// As for `tgsic_compiler_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_virgl_new(
    options: *const tgsic_options,
    error: *mut *mut tgsic_result,
) -> *mut tgsic_virgl {
    // SAFETY: the caller guarantees the requirements.
    let compiler = match guarded(|| unsafe { tgsic_compiler::new(options, &["virgl"]) }) {
        Ok(result) => result,
        Err(error) => Err(Failure::internal(error.message)),
    };
    let virgl = compiler.map(|compiler| {
        let compiler = HostCompiler::new(compiler.compiler);
        tgsic_virgl(Arc::new(Translations { compiler, cache: Cache::new(GENERATION_BYTES) }))
    });
    // SAFETY: likewise.
    unsafe { made(virgl, error) }
}

/// Frees the state. Its contexts stay valid. NULL is ignored.
///
/// # Safety
/// It is NULL or came from `tgsic_virgl_new`, was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_virgl_free(virgl: *mut tgsic_virgl) {
    if !virgl.is_null() {
        // SAFETY: `tgsic_virgl_new` created it from a box, and the caller guarantees that it was not freed.
        drop(unsafe { Box::from_raw(virgl) });
    }
}

/// Creates the state of a new context of the renderer. Different threads may use different contexts at the same time.
/// Returns NULL only if `virgl` is NULL.
///
/// # Safety
/// `virgl` is NULL or was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_virgl_context_new(virgl: *const tgsic_virgl) -> *mut tgsic_virgl_context {
    // SAFETY: guaranteed by the caller.
    let Some(tgsic_virgl(shared)) = (unsafe { virgl.as_ref() }) else { return std::ptr::null_mut() };
    let filter = Counting { shared: Arc::clone(shared), totals: Cell::new(tgsic_virgl_totals::ZERO) };
    let rewriter = Rewriter::new(filter);
    Box::into_raw(Box::new(tgsic_virgl_context { rewriter, reads: true, commands: Vec::new() }))
}

/// Frees the state of a context. NULL is ignored.
///
/// # Safety
/// It is NULL or came from `tgsic_virgl_context_new`, was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_virgl_context_free(context: *mut tgsic_virgl_context) {
    if !context.is_null() {
        // SAFETY: `tgsic_virgl_context_new` created it from a box, and the caller guarantees that it was not freed.
        drop(unsafe { Box::from_raw(context) });
    }
}

/// Replaces the shaders in a command buffer of `*num_words` words that the context is about to submit. Returns the
/// commands to be submitted instead, and their number in `*num_words`, which may be 0: an incomplete shader is held
/// back. If nothing changes, the result is `commands` itself; otherwise it belongs to the context until the next call.
///
/// A shader that cannot be translated is unchanged. After a malformed buffer, everything is passed on unchanged, so
/// that the renderer reports the error.
///
/// # Safety
/// `context` is NULL or was not freed, and no other thread uses it. `num_words` can be read and written, and this many
/// words can be read at `commands`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_virgl_rewrite(
    context: *mut tgsic_virgl_context,
    commands: *const u32,
    num_words: *mut usize,
) -> *const u32 {
    if num_words.is_null() || !num_words.is_aligned() {
        return commands;
    }
    // SAFETY: it is not NULL, and the caller guarantees that it can be read.
    let count = unsafe { num_words.read() };
    let Some(size) = count.checked_mul(4) else { return commands };
    // SAFETY: guaranteed by the caller.
    let Some(context) = (unsafe { context.as_mut() }) else { return commands };
    // SAFETY: the caller guarantees that this many can be read.
    let Some(bytes) = (unsafe { sized::bytes(commands.cast(), size) }) else { return commands };
    match guarded(|| context.rewrite(bytes).map(|new| (new.as_ptr(), new.len()))) {
        Ok(Some((new, new_count))) => {
            // SAFETY: it is not NULL, and the caller guarantees that it can be written.
            unsafe { num_words.write(new_count) };
            new
        }
        Ok(None) => commands,
        Err(_) => {
            context.reads = false;
            commands
        }
    }
}

/// Fills in the totals of the shaders of a context so far. Returns 1, or 0 if there is no context or `size` is not set.
///
/// # Safety
/// `context` is NULL or was not freed, and no other thread uses it. `totals` is NULL or points to a struct of the size
/// that it states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgsic_virgl_context_totals(
    context: *const tgsic_virgl_context,
    totals: *mut tgsic_virgl_totals,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    let context = unsafe { context.as_ref() };
    let found = context.map(|context| context.rewriter.filter().totals.get());
    // SAFETY: the caller guarantees the requirements.
    unsafe { write_struct(totals, found.as_ref()) }
}
