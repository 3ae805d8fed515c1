//! Messages to the sampler.

use super::message::{Request, Unit};
use super::{Lanes, Sample, SampleOp, Simd, Trap};

/// Interprets four bits as a signed number.
fn signed(bits: u32) -> i32 {
    (bits << 28) as i32 >> 28
}

/// Executes a message. The header disables components, which SIMD8 and SIMD16 leave out of the response.
pub(super) fn sample(unit: &mut Unit<'_>, request: &Request) -> Result<(), Trap> {
    let simd = match request.field(18, 17) {
        0 => Simd::X4x2,
        1 => Simd::X8,
        2 => Simd::X16,
        _ => return Err(request.undefined()),
    };
    let op = SampleOp::from_code(request.field(16, 12)).ok_or_else(|| request.undefined())?;
    let control = request.header.map_or(0, |header| header[2]);
    let parameters = match simd {
        Simd::X4x2 => request.payload.iter().flat_map(|words| [0, 1, 2, 3].map(|index| pair(words, index))).collect(),
        _ => (0..request.payload.len() / simd.registers())
            .map(|index| request.lanes(index * simd.registers(), simd))
            .collect::<Result<_, _>>()?,
    };
    let active = request.active(simd);
    let sample = Sample {
        op,
        simd,
        surface: request.surface(),
        sampler: request.field(11, 8) as u8,
        header: request.header,
        offset: [8, 4, 0].map(|low| signed(control >> low & 15)),
        gather_component: (control >> 16 & 3) as u8,
        parameters,
        active,
        first_channel: request.first_channel,
    };
    let components = unit.environment.sample(&sample);
    let disabled = control >> 12 & 15;
    let enabled = (0..4).filter(|component| disabled >> component & 1 == 0);
    if simd == Simd::X4x2 {
        let mask = enabled.fold(0, |mask, component| mask | 0x11 << component);
        let words: [u32; 8] = std::array::from_fn(|index| components[index % 4][index / 4]);
        unit.respond(request, 0, &words, mask & request.enabled);
        return Ok(());
    }
    for (index, component) in enabled.enumerate() {
        unit.respond_lanes(request, index * simd.registers(), simd, &components[component as usize], active);
    }
    Ok(())
}

/// The words of a component of both vectors.
pub(super) fn pair(words: &[u32; 8], component: usize) -> Lanes {
    let mut lanes = [0; 16];
    lanes[0] = words[component];
    lanes[1] = words[4 + component];
    lanes
}
