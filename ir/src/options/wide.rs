//! Families of 64-bit operations and of conversions to 16-bit floats that a target lacks: sets with one bit per family
//! of opcodes.

macro_rules! families {
    ($(#[$doc:meta])* $set:ident: $($constant:ident = $bit:literal, $what:literal;)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub struct $set(pub u32);

        impl $set {
            $(#[doc = $what] pub const $constant: $set = $set(1 << $bit);)+
            /// The empty set.
            pub const NONE: $set = $set(0);
            /// All families.
            pub const ALL: $set = $set($(1 << $bit)|+);

            /// Whether the set contains all families of `other`.
            #[must_use]
            pub const fn contains(self, other: $set) -> bool {
                self.0 & other.0 == other.0
            }

            /// The union of both sets.
            #[must_use]
            pub const fn union(self, other: $set) -> $set {
                $set(self.0 | other.0)
            }
        }
    };
}

families! {
    /// Families of operations on 64-bit integers, for [`lower_int64`](crate::passes::lower_int64()).
    Int64Ops:
    MUL = 0, "Products: `imul`, `amul`, `imad`.";
    MUL_2X32_64 = 1, "Products of 32 bits in 64: `imul_2x32_64`, `umul_2x32_64`.";
    MUL_HIGH = 2, "High halves of products: `imul_high`, `umul_high`.";
    SIGN = 3, "`isign`.";
    DIVMOD = 4, "Quotients and remainders.";
    CONVERSION = 5, "Conversions to and from other types and sizes.";
    SELECT = 6, "Selections: `bcsel` and its variants.";
    COMPARISON = 7, "Comparisons, of single components and of whole vectors, and tests of a bit.";
    ADD = 8, "Sums and differences: `iadd`, `isub`, carries, averages, absolute differences.";
    ABS = 9, "`iabs`.";
    NEG = 10, "`ineg`.";
    LOGIC = 11, "`iand`, `ior`, `ixor`, `inot`, `bitfield_select`.";
    MIN_MAX = 12, "Minima and maxima.";
    SHIFT = 13, "Shifts and rotations.";
    EXTRACT = 14, "Extraction and insertion of bytes and words.";
    FIND_LSB = 15, "`find_lsb`.";
    BIT_COUNT = 16, "`bit_count`.";
    FIND_MSB = 17, "`ufind_msb`, `ufind_msb_rev`.";
    SCAN_REDUCE = 18, "Sums and logic over the invocations of a subgroup.";
    VOTE = 19, "Votes on the equality of integers.";
    SHUFFLE = 20, "Reads of other invocations.";
    IADD_SAT = 21, "`iadd_sat`, `isub_sat`.";
    UADD_SAT = 22, "`uadd_sat`.";
    USUB_SAT = 23, "`usub_sat`.";
    IADD3 = 24, "`iadd3`.";
}

families! {
    /// Families of operations on 64-bit floats, for [`lower_doubles`](crate::passes::lower_doubles()).
    DoubleOps:
    RCP = 0, "`frcp`.";
    SQRT = 1, "`fsqrt`.";
    RSQ = 2, "`frsq`.";
    TRUNC = 3, "`ftrunc`.";
    FLOOR = 4, "`ffloor`.";
    CEIL = 5, "`fceil`.";
    FRACT = 6, "`ffract`.";
    ROUND_EVEN = 7, "`fround_even`.";
    MOD = 8, "`fmod`, `frem`.";
    SUB = 9, "`fsub`.";
    DIV = 10, "`fdiv`.";
    MIN_MAX = 11, "`fmin`, `fmax`.";
    SAT = 12, "`fsat`.";
}

families! {
    /// Conversions to 16-bit floats, for [`lower_fp16_casts`](crate::passes::lower_fp16_casts()).
    Fp16Casts:
    PLAIN = 0, "`f2f16` and `f2fmp`, with the rounding mode of the shader.";
    RTNE = 1, "`f2f16_rtne`.";
    RTZ = 2, "`f2f16_rtz`.";
    FROM_64 = 3, "All of them, from 64-bit floats only: through a 32-bit float.";
}
