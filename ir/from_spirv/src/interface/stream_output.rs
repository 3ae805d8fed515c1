//! Stream output: the outputs that a module captures in buffers, with the mode `Xfb`. TGSI has no place for it, so it is
//! part of the description of the interface.

use std::fmt::Write;

use spirv::Decoration;

use crate::emit::Context;
use crate::emit::storage::Storage;
use crate::interface::locations::PartDecorations;
use crate::interface::{MAX_CAPTURES, Port};

/// Buffers.
const BUFFERS: u32 = 4;

/// The place of an output in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Capture {
    buffer: u32,
    /// Bytes from one vertex to the next.
    stride: u32,
    /// Byte offset in a vertex.
    offset: u32,
    stream: u32,
}

/// Consecutive components of a register, at an offset from the start of their output.
struct Piece {
    register: u32,
    component: u8,
    count: u8,
    offset: u32,
}

impl Capture {
    /// The capture that decorations state.
    pub(super) fn of(decorations: &PartDecorations<'_>) -> Option<Capture> {
        let value = |kind| decorations.value(kind).unwrap_or(0);
        let capture = Capture {
            buffer: value(Decoration::XfbBuffer),
            stride: value(Decoration::XfbStride),
            offset: decorations.value(Decoration::Offset)?,
            stream: value(Decoration::Stream),
        };
        (capture.buffer < BUFFERS).then_some(capture)
    }
}

impl Context<'_> {
    /// Records the strides of buffers in the shader's information.
    pub(super) fn note_captures(&mut self) {
        for capture in self.interface.ports.iter().filter(|port| port.is_written()).filter_map(|port| port.capture) {
            if let Some(stride) = self.shader.info.xfb_stride.get_mut(capture.buffer as usize) {
                *stride = (*stride).max(capture.stride / 4);
            }
        }
    }

    /// The captured outputs, as the option `stream_output` of drivers takes them.
    pub(super) fn stream_output(&self) -> String {
        let mut captures: Vec<(Capture, Piece)> = Vec::new();
        for port in &self.interface.ports {
            let Some(capture) = port.capture.filter(|_| port.is_written()) else { continue };
            captures.extend(self.pieces(port).into_iter().map(|piece| (capture, piece)));
        }
        captures.sort_by_key(|(capture, piece)| (capture.buffer, capture.offset.saturating_add(piece.offset)));
        captures.truncate(MAX_CAPTURES);
        let mut text = String::new();
        for (Capture { buffer, stride, offset, stream }, piece) in captures {
            let Piece { register, component, count, offset: inner } = piece;
            let first = usize::from(component.min(3));
            let components = "xyzw".get(first..(first + usize::from(count)).min(4)).unwrap_or_default();
            let separator = if text.is_empty() { "" } else { "," };
            let offset = offset.saturating_add(inner);
            let _ = write!(text, "{separator}OUT[{register}].{components}->{buffer}@{offset}/{stride}");
            if stream > 0 {
                let _ = write!(text, ":{stream}");
            }
        }
        text
    }

    /// The components of an output, which follow each other in the buffer.
    fn pieces(&self, port: &Port) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if let Storage::Packed(packed) = port.storage {
            let Some(distances) = &self.interface.distances[1] else { return pieces };
            for number in 0..packed.length {
                let at = packed.first + number;
                let vector = distances.variables.get((at / 4) as usize).copied().flatten();
                let Some(data) = vector.and_then(|variable| self.shader.variables.get(variable)) else { continue };
                let (register, component) = (data.driver_location, (at % 4) as u8);
                pieces.push(Piece { register, component, count: 1, offset: 4 * number });
            }
            return pieces;
        }
        for output in &port.variables {
            let Some(data) = self.shader.variables.get(output.variable) else { continue };
            let mut register = data.driver_location;
            let shapes = self.module.types.leaf_shapes(output.ty);
            let is_wide = shapes.iter().any(|shape| shape.bit_size == 64);
            let words = |components: u8, bits: u8| u32::from(components) * if bits == 64 { 2 } else { 1 };
            let size: u32 = shapes.iter().map(|shape| 4 * words(shape.num_components, shape.bit_size)).sum();
            let mut offset = size.saturating_mul(output.element);
            for shape in shapes.into_iter().take(MAX_CAPTURES) {
                if is_wide && shape.bit_size == 64 {
                    offset = offset.saturating_add(7) & !7;
                }
                let mut rest = words(shape.num_components, shape.bit_size);
                let mut component = data.location_frac;
                while rest > 0 {
                    let count = rest.min(4 - u32::from(component.min(3)));
                    pieces.push(Piece { register, component, count: count as u8, offset });
                    offset = offset.saturating_add(4 * count);
                    rest -= count;
                    component = 0;
                    register = register.saturating_add(1);
                }
            }
        }
        pieces
    }
}
