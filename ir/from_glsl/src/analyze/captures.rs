//! Outputs that transform feedback captures, by `xfb_buffer`, `xfb_offset` and `xfb_stride`.

use super::qualifiers::Qualifiers;
use super::{Analyzer, SemanticError};
use crate::program::{Capture, VariableId};
use crate::token::TokenRange;
use crate::types::{Scalar, TypeId};

/// Buffers of transform feedback.
pub(crate) const BUFFERS: u32 = 4;

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
        let mut next = block.offset;
        for &(id, own, ty) in members {
            let align = self.capture_align(ty);
            let offset = own.offset.or(next.map(|next| next.next_multiple_of(align)));
            let capture = Capture { buffer: own.buffer.or(block.buffer), offset, stride: own.stride };
            self.capture(id, &capture, tokens);
            let bytes = self.program.types.summary(ty).components.saturating_mul(align);
            next = next.and(offset).map(|offset| offset.saturating_add(bytes).min(u32::MAX / 2));
        }
    }

    /// The size of a component in a buffer.
    fn capture_align(&self, ty: TypeId) -> u32 {
        let types = &self.program.types;
        if types.scalar(types.without_arrays(ty)) == Some(Scalar::Double) { 8 } else { 4 }
    }
}
