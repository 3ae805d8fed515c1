//! Stream output: the outputs that a module captures in buffers, with the mode `Xfb`. TGSI has no place for it, so it
//! is part of the description of the interface.

use std::fmt::Write;

use spirv::Decoration;
use tgsi_ir::body::Shape;

use crate::emit::Context;
use crate::emit::storage::Storage;
use crate::interface::locations::Layout;
use crate::interface::{MAX_CAPTURES, Port};
use crate::resources::sizes::Sizes;
use crate::types::{TypeData, TypeId};

/// Buffers.
const BUFFERS: u32 = 4;

/// The place of an output in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Capture {
    buffer: u32,
    /// Bytes from one vertex to the next.
    stride: u32,
    /// Byte offset in a vertex; of an array of blocks 0.
    offset: u32,
    stream: u32,
    /// The struct of an array of blocks, and the offset of the variable: each block has a buffer, and each member an
    /// offset.
    block: Option<(u32, Option<u32>)>,
}

/// Consecutive values of an output.
struct Run {
    ty: TypeId,
    buffer: u32,
    /// Byte offset in a vertex; `None` if they are not captured.
    offset: Option<u32>,
}

/// Consecutive components of a register, at an offset in a buffer.
struct Piece {
    register: u32,
    component: u8,
    count: u8,
    buffer: u32,
    offset: u32,
}

impl Context<'_> {
    /// The capture that decorations of a variable or member state.
    pub(super) fn capture(&self, number: u32, member: u32, layout: &Layout) -> Option<Capture> {
        let types = &self.module.types;
        let part = layout.part(member)?;
        let decorations = self.part_decorations(number, member, layout);
        let value = |kind| decorations.value(kind).unwrap_or(0);
        let id = self.module.globals.get(number as usize)?.id;
        let of_variable = self.module.decorations.value(id, Decoration::Offset);
        let inner = types.without_arrays(part.ty);
        let block = match *types.get(inner) {
            TypeData::Struct { id, .. } if inner != part.ty && layout.block.is_none() => {
                Some(id).filter(|&id| self.module.decorations.has(id, Decoration::Block))
            }
            _ => None,
        };
        let offset = match (layout.block, block) {
            // The offset of a struct is that of its first member.
            (Some(block), _) => {
                let parts: Vec<TypeId> = layout.parts().map(|(_, part)| part.ty).collect();
                *self.capture_offsets(block, &parts, of_variable).get(member as usize)?
            }
            (None, Some(block)) => {
                let offsets = self.capture_offsets(block, &self.member_types(inner), of_variable);
                offsets.iter().any(Option::is_some).then_some(0)
            }
            (None, None) => of_variable,
        };
        let (buffer, stride) = (value(Decoration::XfbBuffer), value(Decoration::XfbStride));
        let block = block.map(|block| (block, of_variable));
        let capture = Capture { buffer, stride, offset: offset?, stream: value(Decoration::Stream), block };
        (capture.buffer < BUFFERS).then_some(capture)
    }

    fn member_types(&self, ty: TypeId) -> Vec<TypeId> {
        match self.module.types.get(ty) {
            TypeData::Struct { members, .. } => members.iter().map(|member| member.ty).collect(),
            _ => Vec::new(),
        }
    }

    /// The offsets of members: those of decorations, or behind the member before if the variable has an offset.
    fn capture_offsets(&self, block: u32, members: &[TypeId], of_variable: Option<u32>) -> Vec<Option<u32>> {
        let mut next = of_variable;
        let offset = |(number, &ty): (usize, &TypeId)| {
            let own = self.module.decorations.member(block, number as u32, Decoration::Offset);
            let offset = own.or_else(|| next.map(|next| if self.is_wide(ty) { aligned(next) } else { next }));
            next = next.and(offset).map(|offset| offset.saturating_add(self.captured_bytes(ty)));
            offset
        };
        members.iter().enumerate().map(offset).collect()
    }

    /// Whether a type has components of 64 bits.
    fn is_wide(&self, ty: TypeId) -> bool {
        self.module.types.leaf_shapes(ty).iter().any(|shape| shape.bit_size == 64)
    }

    /// The bytes that values of a type take in a buffer.
    fn captured_bytes(&self, ty: TypeId) -> u32 {
        let end = self.module.types.leaf_shapes(ty).into_iter().fold(0u32, |end, shape| {
            let start = if shape.bit_size == 64 { aligned(end) } else { end };
            start.saturating_add(4 * words(shape))
        });
        if self.is_wide(ty) { aligned(end) } else { end }
    }

    /// Records the strides of buffers in the shader's information.
    pub(super) fn note_captures(&mut self) {
        for port in self.interface.ports.iter().filter(|port| port.is_written()) {
            let Some(capture) = port.capture else { continue };
            let blocks = if capture.block.is_some() { self.module.types.elements(port.ty) } else { 1 };
            for buffer in (capture.buffer..BUFFERS).take(blocks as usize) {
                if let Some(stride) = self.shader.info.xfb_stride.get_mut(buffer as usize) {
                    *stride = (*stride).max(capture.stride / 4);
                }
            }
        }
    }

    /// The captured outputs, as the option `stream_output` of drivers takes them.
    pub(super) fn stream_output(&self) -> String {
        let mut captures: Vec<(Capture, Piece)> = Vec::new();
        for port in &self.interface.ports {
            let Some(capture) = port.capture.filter(|_| port.is_written()) else { continue };
            captures.extend(self.pieces(port, &capture).into_iter().map(|piece| (capture, piece)));
        }
        captures.sort_by_key(|(_, piece)| (piece.buffer, piece.offset));
        captures.truncate(MAX_CAPTURES);
        let mut text = String::new();
        for (Capture { stride, stream, .. }, piece) in captures {
            let Piece { register, component, count, buffer, offset } = piece;
            let first = usize::from(component.min(3));
            let components = "xyzw".get(first..(first + usize::from(count)).min(4)).unwrap_or_default();
            let separator = if text.is_empty() { "" } else { "," };
            let _ = write!(text, "{separator}OUT[{register}].{components}->{buffer}@{offset}/{stride}");
            if stream > 0 {
                let _ = write!(text, ":{stream}");
            }
        }
        text
    }

    /// The number of variables that are captured.
    pub(super) fn num_captured(&self) -> u32 {
        let mut sizes = Sizes::default();
        let types = &self.module.types;
        let mut count = 0u32;
        for port in self.interface.ports.iter().filter(|port| port.is_written()) {
            let Some(capture) = port.capture else { continue };
            let runs = self.runs(&capture, port.ty, 0);
            let captured = runs.iter().filter(|run| run.offset.is_some() && run.buffer < BUFFERS);
            count = captured.fold(count, |count, run| count.saturating_add(sizes.variables(types, run.ty)));
        }
        count
    }

    /// The values of an output: of an array of blocks each member, else the whole.
    fn runs(&self, capture: &Capture, ty: TypeId, element: u32) -> Vec<Run> {
        let types = &self.module.types;
        let Some((block, of_variable)) = capture.block else {
            let before = self.captured_bytes(ty).saturating_mul(element);
            return vec![Run { ty, buffer: capture.buffer, offset: Some(capture.offset.saturating_add(before)) }];
        };
        let members = self.member_types(types.without_arrays(ty));
        let offsets = self.capture_offsets(block, &members, of_variable);
        let blocks = types.elements(ty);
        let first = capture.buffer.saturating_add(element.saturating_mul(blocks));
        let mut runs = Vec::new();
        for number in 0..blocks.min(MAX_CAPTURES as u32) {
            let buffer = first.saturating_add(number);
            runs.extend(members.iter().zip(&offsets).map(|(&ty, &offset)| Run { ty, buffer, offset }));
        }
        runs
    }

    /// The components of an output.
    fn pieces(&self, port: &Port, capture: &Capture) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if let Storage::Packed(packed) = port.storage {
            let Some(distances) = &self.interface.distances[1] else { return pieces };
            for number in 0..packed.length {
                let at = packed.first + number;
                let vector = distances.variables.get((at / 4) as usize).copied().flatten();
                let Some(data) = vector.and_then(|variable| self.shader.variables.get(variable)) else { continue };
                let (register, component, buffer) = (data.driver_location, (at % 4) as u8, capture.buffer);
                let offset = capture.offset.saturating_add(4 * number);
                pieces.push(Piece { register, component, count: 1, buffer, offset });
            }
            return pieces;
        }
        for output in &port.variables {
            let Some(data) = self.shader.variables.get(output.variable) else { continue };
            let mut register = data.driver_location;
            for Run { ty, buffer, offset } in self.runs(capture, output.ty, output.element) {
                let mut place = offset.filter(|_| buffer < BUFFERS);
                for shape in self.module.types.leaf_shapes(ty).into_iter().take(MAX_CAPTURES) {
                    if shape.bit_size == 64 {
                        place = place.map(aligned);
                    }
                    let mut rest = words(shape);
                    let mut component = data.location_frac;
                    while rest > 0 {
                        let count = rest.min(4 - u32::from(component.min(3)));
                        if let Some(offset) = &mut place {
                            pieces.push(Piece { register, component, count: count as u8, buffer, offset: *offset });
                            *offset = offset.saturating_add(4 * count);
                        }
                        rest -= count;
                        component = 0;
                        register = register.saturating_add(1);
                    }
                }
            }
        }
        pieces
    }
}

/// Words of a scalar or vector.
fn words(shape: Shape) -> u32 {
    u32::from(shape.num_components) * if shape.bit_size == 64 { 2 } else { 1 }
}

/// The next multiple of eight bytes.
fn aligned(offset: u32) -> u32 {
    offset.saturating_add(7) & !7
}
