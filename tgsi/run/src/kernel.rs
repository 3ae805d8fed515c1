//! Loops over lanes and channels, from which arithmetic opcodes are composed.
//!
//! A [`Kernel`] has the fetched sources and the result of one instruction, both `[channel][lane]`. Each method applies
//! a function of one lane to the channels that the opcode's mode requires, and returns the mask of the computed
//! channels.

/// Sources and result of one instruction.
pub(super) struct Kernel<'a> {
    /// `[source]`, each `[channel][lane]`.
    pub(super) sources: &'a [Vec<u32>; 5],
    /// `[channel][lane]`.
    pub(super) result: &'a mut [u32],
    pub(super) lanes: usize,
    pub(super) mask: u8,
}

/// The channels of a mask.
pub(super) fn channels(mask: u8) -> impl Iterator<Item = usize> {
    (0..4).filter(move |channel| mask >> channel & 1 != 0)
}

/// A float from its bits.
#[inline]
pub(super) fn f(word: u32) -> f32 {
    f32::from_bits(word)
}

/// All ones or zero.
#[inline]
pub(super) fn boolean(value: bool) -> u32 {
    if value { u32::MAX } else { 0 }
}

/// 1.0 or 0.0.
#[inline]
pub(super) fn float_boolean(value: bool) -> u32 {
    if value { 0x3f80_0000 } else { 0 }
}

macro_rules! definite_nan {
    ($module:ident, $float:ty, $quiet:literal, $invalid:literal) => {
        /// Arithmetic with defined NaN results: the first NaN operand, made quiet, or the NaN of an invalid operation,
        /// as in the recorded results. Rust does not define sign and payload of a NaN, and compilers swap operands.
        pub(super) mod $module {
            #[inline]
            fn definite(a: $float, b: $float, result: $float) -> $float {
                if !result.is_nan() {
                    result
                } else if a.is_nan() {
                    <$float>::from_bits(a.to_bits() | $quiet)
                } else if b.is_nan() {
                    <$float>::from_bits(b.to_bits() | $quiet)
                } else {
                    <$float>::from_bits($invalid)
                }
            }

            /// `a + b`.
            #[inline]
            pub(crate) fn add(a: $float, b: $float) -> $float {
                definite(a, b, a + b)
            }

            /// `a - b`.
            #[inline]
            pub(crate) fn sub(a: $float, b: $float) -> $float {
                definite(a, b, a - b)
            }

            /// `a * b`.
            #[inline]
            pub(crate) fn mul(a: $float, b: $float) -> $float {
                definite(a, b, a * b)
            }

            /// `a / b`.
            #[inline]
            pub(crate) fn div(a: $float, b: $float) -> $float {
                definite(a, b, a / b)
            }

            /// Square root.
            #[inline]
            pub(crate) fn sqrt(a: $float) -> $float {
                definite(a, a, a.sqrt())
            }

            /// The smaller operand; the other operand if one is NaN, the first if they are equal.
            #[inline]
            pub(crate) fn min(a: $float, b: $float) -> $float {
                if !a.is_nan() && (b.is_nan() || a <= b) { a } else { b }
            }

            /// The larger operand; the other operand if one is NaN, the first if they are equal.
            #[inline]
            pub(crate) fn max(a: $float, b: $float) -> $float {
                if !a.is_nan() && (b.is_nan() || a >= b) { a } else { b }
            }
        }
    };
}

definite_nan!(single, f32, 0x0040_0000, 0xffc0_0000);
definite_nan!(double, f64, 0x0008_0000_0000_0000, 0xfff8_0000_0000_0000);

impl<'a> Kernel<'a> {
    /// The words of all lanes of a source's channel.
    #[inline]
    fn row(sources: &'a [Vec<u32>; 5], lanes: usize, source: usize, channel: usize) -> &'a [u32] {
        &sources[source][channel * lanes..][..lanes]
    }

    /// One word of a source.
    #[inline]
    pub(super) fn word(&self, source: usize, channel: usize, lane: usize) -> u32 {
        self.sources[source][channel * self.lanes + lane]
    }

    /// One word of a source, as float.
    #[inline]
    pub(super) fn float(&self, source: usize, channel: usize, lane: usize) -> f32 {
        f(self.word(source, channel, lane))
    }

    /// One word of the result.
    #[inline]
    pub(super) fn set(&mut self, channel: usize, lane: usize, word: u32) {
        self.result[channel * self.lanes + lane] = word;
    }

    /// Componentwise, one source.
    #[inline]
    pub(super) fn map1(self, function: impl Fn(u32) -> u32) -> u8 {
        for channel in channels(self.mask) {
            let a = Self::row(self.sources, self.lanes, 0, channel);
            for (result, &a) in self.result[channel * self.lanes..][..self.lanes].iter_mut().zip(a) {
                *result = function(a);
            }
        }
        self.mask
    }

    /// Componentwise, two sources.
    #[inline]
    pub(super) fn map2(self, function: impl Fn(u32, u32) -> u32) -> u8 {
        for channel in channels(self.mask) {
            let a = Self::row(self.sources, self.lanes, 0, channel);
            let b = Self::row(self.sources, self.lanes, 1, channel);
            let result = &mut self.result[channel * self.lanes..][..self.lanes];
            for ((result, &a), &b) in result.iter_mut().zip(a).zip(b) {
                *result = function(a, b);
            }
        }
        self.mask
    }

    /// Componentwise, three sources.
    #[inline]
    pub(super) fn map3(self, function: impl Fn(u32, u32, u32) -> u32) -> u8 {
        for channel in channels(self.mask) {
            let a = Self::row(self.sources, self.lanes, 0, channel);
            let b = Self::row(self.sources, self.lanes, 1, channel);
            let c = Self::row(self.sources, self.lanes, 2, channel);
            let result = &mut self.result[channel * self.lanes..][..self.lanes];
            for (((result, &a), &b), &c) in result.iter_mut().zip(a).zip(b).zip(c) {
                *result = function(a, b, c);
            }
        }
        self.mask
    }

    /// Componentwise on floats, one source.
    #[inline]
    pub(super) fn f1(self, function: impl Fn(f32) -> f32) -> u8 {
        self.map1(|a| function(f(a)).to_bits())
    }

    /// Componentwise on floats, two sources.
    #[inline]
    pub(super) fn f2(self, function: impl Fn(f32, f32) -> f32) -> u8 {
        self.map2(|a, b| function(f(a), f(b)).to_bits())
    }

    /// Componentwise on floats, three sources.
    #[inline]
    pub(super) fn f3(self, function: impl Fn(f32, f32, f32) -> f32) -> u8 {
        self.map3(|a, b, c| function(f(a), f(b), f(c)).to_bits())
    }

    /// Componentwise on signed integers, two sources.
    #[inline]
    pub(super) fn i2(self, function: impl Fn(i32, i32) -> i32) -> u8 {
        self.map2(|a, b| function(a as i32, b as i32) as u32)
    }

    /// Componentwise, any number of sources: the function gets (kernel, channel, lane).
    #[inline]
    pub(super) fn each_channel(mut self, function: impl Fn(&Self, usize, usize) -> u32) -> u8 {
        for channel in channels(self.mask) {
            for lane in 0..self.lanes {
                let word = function(&self, channel, lane);
                self.set(channel, lane, word);
            }
        }
        self.mask
    }

    /// One word per lane, written to every channel of the mask.
    #[inline]
    pub(super) fn replicate(mut self, function: impl Fn(&Self, usize) -> u32) -> u8 {
        for lane in 0..self.lanes {
            let word = function(&self, lane);
            for channel in channels(self.mask) {
                self.set(channel, lane, word);
            }
        }
        self.mask
    }

    /// One float per lane, from component x of the first source, written to every channel of the mask.
    #[inline]
    pub(super) fn scalar(self, function: impl Fn(f32) -> f32) -> u8 {
        self.replicate(|kernel, lane| function(kernel.float(0, 0, lane)).to_bits())
    }

    /// Four words per lane, of which those in the mask are written.
    #[inline]
    pub(super) fn vector(mut self, function: impl Fn(&Self, usize) -> [u32; 4]) -> u8 {
        for lane in 0..self.lanes {
            let words = function(&self, lane);
            for channel in channels(self.mask) {
                self.set(channel, lane, words[channel]);
            }
        }
        self.mask
    }
}
