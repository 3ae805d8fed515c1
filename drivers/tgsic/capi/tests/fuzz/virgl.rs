//! Calls for virgl hosts: a shader in one packet or two, in one buffer or two, with damaged words.
//!
//! The calls assert that words which do not belong to a shader are unchanged, that a complete shader is returned
//! complete, and that the totals count it.

use std::ptr;
use std::sync::atomic::Ordering;

use tgsi_capi::*;

use super::{HEADER, Memory, REPLACED};

const CREATE_SHADER: u32 = 1 | 4 << 8;
const NOTHING: [u32; 2] = [1 << 16, 7];
const CONTINUES: u32 = 1 << 31;

/// Returns a packet of a text from a word on.
fn packet(text: &[u32], length: usize, from: usize, to: usize, stage: u32) -> Vec<u32> {
    let position = if from == 0 { length as u32 } else { (4 * from) as u32 | CONTINUES };
    let mut words = vec![CREATE_SHADER | ((5 + to - from) as u32) << 16, 3, stage, position, 300, 0];
    words.extend_from_slice(&text[from..to]);
    words
}

/// Sends a shader through a context, and checks the output.
pub fn rewrite(options: *const tgsic_options, header: &[u8; HEADER], shader: &[u8]) {
    let [.., wrong, _, struct_size, decision, split, damaged] = *header;
    // SAFETY: the options have the size that they state, and strings that end.
    let virgl = unsafe { tgsic_virgl_new(options, ptr::null_mut()) };
    // SAFETY: it is NULL or was not freed.
    let context = unsafe { tgsic_virgl_context_new(virgl) };
    assert_eq!(context.is_null(), virgl.is_null());
    let text: Vec<u8> = shader.iter().copied().filter(|&byte| byte != 0).collect();
    let mut bytes = text.clone();
    bytes.resize((text.len() + 1).next_multiple_of(4), 0);
    let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    let middle = if decision & 1 == 0 { 0 } else { (usize::from(split) * words.len()) >> 8 };
    let stages = [&b"VERT"[..], b"FRAG", b"GEOM", b"TESS_CTRL", b"TESS_EVAL", b"COMP"];
    let stage = stages.iter().position(|name| text.starts_with(name)).unwrap_or(usize::from(split) % 7) as u32;
    let length = text.len() + 1;
    let mut buffers = vec![NOTHING.to_vec()];
    if middle > 0 {
        buffers[0].extend(packet(&words, length, 0, middle, stage));
        if decision & 2 != 0 {
            buffers.push(NOTHING.to_vec());
        }
    }
    let last = buffers.len() - 1;
    buffers[last].extend(packet(&words, length, middle, words.len(), stage));
    buffers[last].extend(NOTHING);
    let fits = words.len() < usize::from(u16::MAX) - 5;
    let is_damaged = damaged != 0 || !fits || virgl.is_null();
    if damaged != 0 {
        let buffer = &mut buffers[last];
        let at = (usize::from(split) * buffer.len()) >> 8;
        buffer[at] ^= 1 << (damaged & 31);
        buffer.truncate(buffer.len() - usize::from(damaged >> 6));
    }
    let mut out: Vec<u32> = Vec::new();
    for buffer in &buffers {
        let memory = Memory::new(4 * buffer.len(), 4);
        // SAFETY: it has that size.
        unsafe { ptr::copy_nonoverlapping(buffer.as_ptr(), memory.start.cast(), buffer.len()) };
        let mut count = buffer.len();
        // SAFETY: there are this many words, and the context is NULL or was not freed.
        let new = unsafe { tgsic_virgl_rewrite(context, memory.start.cast(), &raw mut count) };
        assert!(!new.is_null());
        // SAFETY: the library returned this size.
        out.extend(unsafe { std::slice::from_raw_parts(new, count) });
    }
    let totals = Memory::of_struct(super::stated_size(struct_size, size_of::<tgsic_virgl_totals>()));
    // SAFETY: the struct has the size that it states, the context is NULL or was not freed.
    unsafe { tgsic_virgl_context_totals(context, totals.start.cast()) };
    let mut sums = tgsic_virgl_totals {
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
    // SAFETY: likewise.
    let found = unsafe { tgsic_virgl_context_totals(context, &raw mut sums) };
    assert_eq!(found == 1, !context.is_null());
    assert_eq!(sums.shaders, sums.shorter + sums.equal + sums.longer + sums.failed);
    if !is_damaged {
        assert_eq!(out[..2], NOTHING);
        assert_eq!(out[out.len() - 2..], NOTHING);
        if stage < 6 {
            assert_eq!(sums.shaders, 1);
            let changed = sums.failed == 0;
            REPLACED.fetch_add(usize::from(changed), Ordering::Relaxed);
            if !changed {
                // In the buffer of its last packet, unchanged.
                assert_eq!(out.len(), buffers.concat().len());
            }
        }
    }
    // Either may be freed first.
    if wrong & 1 == 0 {
        // SAFETY: it is NULL or was not freed.
        unsafe { tgsic_virgl_free(virgl) };
    }
    // SAFETY: likewise.
    unsafe { tgsic_virgl_context_free(context) };
    if wrong & 1 == 1 {
        // SAFETY: likewise.
        unsafe { tgsic_virgl_free(virgl) };
    }
}
