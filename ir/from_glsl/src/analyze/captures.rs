//! Outputs that transform feedback captures, by `xfb_buffer`, `xfb_offset` and `xfb_stride`.

use super::qualifiers::Qualifiers;
use super::{Analyzer, SemanticError};
use crate::program::{Capture, VariableId};
use crate::token::TokenRange;
use crate::types::{TypeData, TypeId};

/// Buffers of transform feedback.
const BUFFERS: u32 = 4;

/// Components that buffers have: `gl_MaxTransformFeedbackInterleavedComponents`.
const MAX_INTERLEAVED: u32 = 64;

impl Analyzer<'_> {
    /// The layouts of `out;`: the buffer of later declarations, and the stride of a buffer.
    pub(super) fn capture_defaults(&mut self, found: &Qualifiers, tokens: TokenRange) {
        if !self.check_buffer(found.capture.buffer, tokens) {
            return;
        }
        if let Some(buffer) = found.capture.buffer {
            self.capture_buffer = buffer;
        }
        self.note_stride(&found.capture, tokens);
    }

    /// Records the stride of a buffer. All that state one must agree.
    fn note_stride(&mut self, capture: &Capture, tokens: TokenRange) {
        let Some(stride) = capture.stride else { return };
        let buffer = capture.buffer.unwrap_or(self.capture_buffer);
        let Some(known) = self.program.strides.get_mut(buffer as usize) else { return };
        let conflict = known.is_some_and(|known| known != stride);
        *known = Some(stride);
        let needed = match () {
            () if conflict => "the stride of the other declarations",
            () if stride % 4 != 0 => "a multiple of 4",
            () if stride > 4 * MAX_INTERLEAVED => "a stride that buffers can have",
            () => return,
        };
        self.report(SemanticError::LayoutValue { name: "xfb_stride".to_owned(), needed }, tokens);
    }

    fn check_buffer(&mut self, buffer: Option<u32>, tokens: TokenRange) -> bool {
        let exists = buffer.is_none_or(|buffer| buffer < BUFFERS);
        if !exists {
            let needed = "a value from 0 to 3";
            self.report(SemanticError::LayoutValue { name: "xfb_buffer".to_owned(), needed }, tokens);
        }
        exists
    }

    /// Sets the capture of an output, if it has an offset.
    pub(super) fn capture(&mut self, id: VariableId, capture: &Capture, tokens: TokenRange) {
        if !self.check_buffer(capture.buffer, tokens) {
            return;
        }
        self.note_stride(capture, tokens);
        let Some(offset) = capture.offset else { return };
        let buffer = capture.buffer.unwrap_or(self.capture_buffer);
        let ty = self.program.variable(id).ty;
        if matches!(self.program.types.get(ty), TypeData::Array { length: None, .. }) {
            self.report(SemanticError::Unsized { what: "a captured output" }, tokens);
            return;
        }
        if offset % self.capture_align(ty) != 0 {
            let needed = "a multiple of the size of a component";
            self.report(SemanticError::LayoutValue { name: "xfb_offset".to_owned(), needed }, tokens);
            return;
        }
        if let Some(variable) = self.variable_mut(id) {
            variable.capture = Some((buffer, offset));
        }
    }

    /// Sets the captures of the members of a block: the own ones, else behind the member before if the block has an
    /// offset.
    pub(super) fn capture_members(
        &mut self,
        members: &[(VariableId, Capture, TypeId)],
        block: &Capture,
        tokens: TokenRange,
    ) {
        if !self.check_buffer(block.buffer, tokens) {
            return;
        }
        self.note_stride(block, tokens);
        let of_block = block.buffer.unwrap_or(self.capture_buffer);
        let mut next = block.offset;
        let is_wide = members.iter().any(|&(_, _, ty)| self.capture_align(ty) == 8);
        if block.offset.is_some_and(|offset| offset % if is_wide { 8 } else { 4 } != 0) {
            let needed = "a multiple of the size of a component";
            self.report(SemanticError::LayoutValue { name: "xfb_offset".to_owned(), needed }, tokens);
            return;
        }
        for &(id, own, ty) in members {
            if own.buffer.is_some_and(|buffer| buffer != of_block) {
                let needed = "the buffer of the block";
                self.report(SemanticError::LayoutValue { name: "xfb_buffer".to_owned(), needed }, tokens);
                return;
            }
            let align = self.capture_align(ty);
            let offset = own.offset.or(next.map(|next| next.next_multiple_of(align)));
            let capture = Capture { buffer: own.buffer.or(block.buffer), offset, stride: own.stride };
            self.capture(id, &capture, tokens);
            let bytes = self.captured_bytes(ty);
            next = next.and(offset).map(|offset| offset.saturating_add(bytes).min(u32::MAX / 2));
        }
    }

    /// The alignment of a type in a buffer: that of its widest component.
    fn capture_align(&self, ty: TypeId) -> u32 {
        if self.program.types.summary(ty).has_double { 8 } else { 4 }
    }

    /// The bytes of a type in a buffer.
    fn captured_bytes(&self, ty: TypeId) -> u32 {
        let summary = self.program.types.summary(ty);
        summary.words.saturating_mul(4)
    }

    /// Checks at the end of a unit that captured outputs do not overlap, and are within the strides of their buffers.
    pub(super) fn check_captures(&mut self) {
        let mut captured: Vec<(u32, u32, u32, TokenRange)> = Vec::new();
        for &id in &self.program.globals {
            let variable = self.program.variable(id);
            let Some((buffer, offset)) = variable.capture else { continue };
            let end = offset.saturating_add(self.captured_bytes(variable.ty));
            captured.push((buffer, offset, end, variable.tokens));
        }
        captured.sort_by_key(|&(buffer, offset, ..)| (buffer, offset));
        let limit = 4 * MAX_INTERLEAVED;
        let mut errors = Vec::new();
        for pair in captured.windows(2) {
            if let [(first, _, end, _), (second, offset, _, tokens)] = *pair
                && first == second
                && offset < end
            {
                errors.push(("xfb_offset", "an offset behind the other outputs", tokens));
            }
        }
        for &(buffer, _, end, tokens) in &captured {
            let stride = self.program.strides.get(buffer as usize).copied().flatten();
            if stride.is_some_and(|stride| end > stride) {
                errors.push(("xfb_offset", "an offset from which on the type fits the stride", tokens));
            } else if stride.is_none() && end > limit {
                errors.push(("xfb_offset", "an offset that buffers can have", tokens));
            }
        }
        for (name, needed, tokens) in errors {
            self.report(SemanticError::LayoutValue { name: name.to_owned(), needed }, tokens);
        }
    }
}
