//! The channels that an instruction computes.

use tgsi_ir::Swizzle;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;

/// The computed channels: component i of a computed value is channel `channel[i]` of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    pub(super) count: u8,
    pub(super) channel: [u8; 4],
}

impl Lanes {
    /// Returns four components; channels outside `mask` repeat one inside it, so that they cause no additional reads.
    pub(super) fn full(mask: u8) -> Lanes {
        let first = mask.trailing_zeros().min(3) as u8;
        let mut last = first;
        let channel = std::array::from_fn(|position| {
            if mask >> position & 1 != 0 {
                last = position as u8;
            }
            last
        });
        Lanes { count: 4, channel }
    }

    /// Returns only the channels of `mask`.
    pub(super) fn compact(mask: u8) -> Lanes {
        let mut lanes = Lanes { count: 0, channel: [0; 4] };
        for channel in (0..4).filter(|channel| mask >> channel & 1 != 0) {
            lanes.channel[usize::from(lanes.count)] = channel;
            lanes.count += 1;
        }
        lanes.count = lanes.count.max(1);
        lanes
    }

    /// One channel.
    pub(super) const fn one(channel: u8) -> Lanes {
        Lanes { count: 1, channel: [channel; 4] }
    }

    /// The first `count` channels.
    pub(super) const fn first(count: u8) -> Lanes {
        Lanes { count, channel: [0, 1, 2, 3] }
    }

    /// Reads a value of these lanes by channel.
    pub(super) fn by_channel(self, def: Def) -> AluSrc {
        self.swizzled_by_channel(def.into())
    }

    /// Reads a swizzled value of these lanes by channel.
    pub(super) fn swizzled_by_channel(self, value: AluSrc) -> AluSrc {
        // With four lanes, each relevant channel is the component with the same number.
        if self.count == 4 {
            return value;
        }
        let mut swizzle = Swizzle::replicate(value.swizzle.get(0));
        for position in 0..usize::from(self.count) {
            swizzle = swizzle.with(usize::from(self.channel[position]), value.swizzle.get(position));
        }
        AluSrc::new(value.def, swizzle)
    }
}
