//! Messages to render targets and to the pixel interpolator.

use super::message::{Request, Unit};
use super::{Interpolation, InterpolationPlace, Lanes, RenderTargetWrite, Simd, Trap};

/// The registers of a payload in sequence.
struct Cursor<'r> {
    request: &'r Request,
    next: usize,
}

impl Cursor<'_> {
    fn lanes(&mut self, simd: Simd) -> Result<Lanes, Trap> {
        let lanes = self.request.lanes(self.next, simd)?;
        self.next += simd.registers();
        Ok(lanes)
    }

    fn colour(&mut self, simd: Simd) -> Result<[Lanes; 4], Trap> {
        Ok([self.lanes(simd)?, self.lanes(simd)?, self.lanes(simd)?, self.lanes(simd)?])
    }
}

/// Writes to a render target. The payload is a header of two registers, the alpha of the first render target, the
/// sample mask, the colour, the second colour, and the depth. All of them except the colour are optional.
pub(super) fn write(unit: &mut Unit<'_>, request: &Request) -> Result<(), Trap> {
    let (simd, is_dual, half) = match request.field(10, 8) {
        0 => (Simd::X16, false, 0),
        2 => (Simd::X8, true, 0),
        3 => (Simd::X8, true, 8),
        4 => (Simd::X8, false, 0),
        _ => return Err(request.undefined()),
    };
    let mut cursor = Cursor { request, next: 0 };
    let header = match request.header {
        None => None,
        Some(first) => {
            let second = cursor.lanes(Simd::X8)?;
            let mut header = [0; 16];
            header[..8].copy_from_slice(&first);
            header[8..].copy_from_slice(&second[..8]);
            Some(header)
        }
    };
    let has_alpha = header.is_some_and(|header| header[0] >> 11 & 1 != 0);
    let source0_alpha = if has_alpha { Some(cursor.lanes(simd)?) } else { None };
    let sample_mask = if unit.surroundings.has_sample_mask {
        let words = cursor.lanes(Simd::X8)?;
        let lane = |lane: usize| {
            let place = (lane + half) % 16;
            words[place / 2] >> (16 * (place % 2)) & 0xffff
        };
        Some(std::array::from_fn(|index| if index < simd.lanes() { lane(index) } else { 0 }))
    } else {
        None
    };
    let colour = cursor.colour(simd)?;
    let second_colour = if is_dual { Some(cursor.colour(simd)?) } else { None };
    let depth = if cursor.next < request.payload.len() { Some(cursor.lanes(simd)?) } else { None };
    if cursor.next != request.payload.len() {
        return Err(request.undefined());
    }
    let pixels = header.map_or(u16::MAX, |header| (header[15] & 0xffff) as u16 >> half);
    unit.environment.render_target_write(&RenderTargetWrite {
        surface: request.surface(),
        lanes: simd.lanes(),
        first_pixel: half as u8 + 16 * request.field(11, 11) as u8,
        active: request.active(simd) & pixels,
        header,
        source0_alpha,
        sample_mask,
        colour,
        second_colour,
        depth,
        is_last: request.field(12, 12) != 0,
        end_of_thread: request.end_of_thread,
    });
    Ok(())
}

/// Interprets four bits as a signed number.
fn signed(bits: u32) -> i32 {
    (bits << 28) as i32 >> 28
}

/// Evaluates barycentric coordinates. In the response, both coordinates of eight pixels follow each other.
pub(super) fn interpolate(unit: &mut Unit<'_>, request: &Request) -> Result<(), Trap> {
    let simd = if request.field(16, 16) != 0 { Simd::X16 } else { Simd::X8 };
    let place = match request.field(13, 12) {
        0 => InterpolationPlace::Offset([0, 4].map(|low| signed(request.descriptor >> low & 15))),
        1 => InterpolationPlace::Sample(request.field(7, 4) as u8),
        2 => InterpolationPlace::Centroid,
        _ => InterpolationPlace::LaneOffset([request.lanes(0, simd)?, request.lanes(simd.registers(), simd)?]),
    };
    let active = request.active(simd);
    let first_pixel = request.first_channel % 16 + 16 * request.field(11, 11) as u8;
    let is_linear = request.field(14, 14) != 0;
    let interpolation = Interpolation { lanes: simd.lanes(), active, first_pixel, is_linear, place };
    let coordinates = unit.environment.interpolate(&interpolation);
    for register in 0..simd.registers() {
        for (index, lanes) in coordinates.iter().enumerate() {
            let mask = u32::from(active) >> (8 * register);
            unit.respond(request, 2 * register + index, &lanes[8 * register..8 * register + 8], mask);
        }
    }
    Ok(())
}
