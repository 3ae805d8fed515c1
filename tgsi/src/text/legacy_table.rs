//! The names of older TGSI: files, suffixes and removed opcodes.

use crate::tables::lookup::{NameTable, Word, slots};
use crate::tables::{MemoryType, Opcode};

/// A register file of older texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LegacyFile {
    /// `RLOCAL`, `RGLOBAL`, `RPRIVATE`, `RINPUT`: memory, without an index.
    Memory(MemoryType),
    /// `RES`: buffer, image or sampler view, depending on the declaration.
    Resource,
    /// `TEMPX[array][index]`.
    TempArray,
    /// `IMMX[index]`.
    ImmediateArray,
    /// `PRED`: predicates of instructions.
    Predicate,
}

/// Returns the old file with this name.
pub(crate) fn file(word: Word<'_>) -> Option<LegacyFile> {
    const FILES: &[(&str, LegacyFile)] = &[
        ("RES", LegacyFile::Resource),
        ("RESOURCE", LegacyFile::Resource),
        ("RLOCAL", LegacyFile::Memory(MemoryType::Shared)),
        ("RGLOBAL", LegacyFile::Memory(MemoryType::Global)),
        ("RPRIVATE", LegacyFile::Memory(MemoryType::Private)),
        ("RINPUT", LegacyFile::Memory(MemoryType::Input)),
        ("TEMPX", LegacyFile::TempArray),
        ("IMMX", LegacyFile::ImmediateArray),
        ("PRED", LegacyFile::Predicate),
    ];
    FILES.iter().find(|(name, _)| word.is(name)).map(|&(_, file)| file)
}

/// How results are clamped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Saturation {
    #[default]
    None,
    /// `_SAT`: to [0, 1].
    ZeroOne,
    /// `_SATNV`: to [-1, 1].
    MinusOneOne,
}

/// The suffixes of a mnemonic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Suffixes {
    pub(crate) saturation: Saturation,
    pub(crate) precise: bool,
}

/// Returns the word before a suffix, if it has the suffix.
pub(crate) fn strip<'a>(word: Word<'a>, suffix: &str) -> Option<Word<'a>> {
    let at = word.len().checked_sub(suffix.len()).filter(|&at| at > 0)?;
    let (head, tail) = word.split_at(at);
    tail.is(suffix).then_some(head)
}

/// Splits a word into mnemonic and suffixes.
pub(crate) fn split_suffixes(word: Word<'_>) -> (Word<'_>, Suffixes) {
    let (mut name, mut suffixes) = (word, Suffixes::default());
    if let Some(head) = strip(name, "_PRECISE") {
        name = head;
        suffixes.precise = true;
    }
    for (suffix, saturation) in [("_SAT", Saturation::ZeroOne), ("_SATNV", Saturation::MinusOneOne)] {
        if let Some(head) = strip(name, suffix) {
            name = head;
            suffixes.saturation = saturation;
            break;
        }
    }
    (name, suffixes)
}

/// The replacement of an old opcode. `d` is the destination, `a b c` are the sources, `t` is a scratch register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rewrite {
    /// The same opcode under another name.
    Renamed(Opcode),
    /// `ADD d, a, -b`.
    Sub,
    /// `MOV d, |a|`.
    Abs,
    /// `MOV d, -a`.
    Neg,
    /// `max(a, b)`, then `min` of the result and `c`.
    Clamp,
    /// Cross product in xyz, w = 1.
    Xpd,
    /// `a.x * b.x + a.y * b.y + c.x` in all components.
    Dp2a,
    /// `a.x * b.x + a.y * b.y + a.z * b.z + b.w` in all components.
    Dph,
    /// Cosine, sine, 0, 1.
    Scs,
    /// `c > 0.5 ? a : b`.
    Cnd,
    /// `c >= 0 ? a : b`.
    Cnd0,
    /// xyz divided by their length, w = 1.
    Nrm,
    /// xyzw divided by their length.
    Nrm4,
    /// `2 * dot3(a, b) / dot3(a, a) * a - b` in xyz, w = 1.
    Rfl,
    /// 1 / a.x, with the magnitude clamped to [2^-64, 2^64].
    Rcc,
    /// `a.xyxy + b.x * c.xzxz + b.y * c.ywyw`.
    X2d,
    /// 0.
    Sfl,
    /// 1.
    Str,
    /// `|a - b| + c` of integers.
    Sad,
    /// Leaves the loop or switch if a.x, an integer, is not 0.
    Breakc,
    /// Calls if a.x, an integer, is not 0.
    Callnz,
    /// Size of level 0.
    TxqLz,
    /// Significand and exponent of a double.
    Dfracexp,
    /// Orders memory accesses of the file of `a`.
    Fence,
    /// No replacement: the semantics were never documented, or need features that TGSI no longer has.
    Gone(&'static str),
}

/// A row of the table of old opcodes.
#[derive(Debug)]
pub(crate) struct LegacyOpcode {
    pub(crate) name: &'static str,
    pub(crate) num_dst: usize,
    pub(crate) num_src: usize,
    pub(crate) is_tex: bool,
    pub(crate) rewrite: Rewrite,
}

impl LegacyOpcode {
    /// Whether the replacement can be wrapped in a block, that is, is not part of a control structure.
    pub(crate) fn stands_alone(&self) -> bool {
        use Opcode::*;
        !matches!(self.rewrite, Rewrite::Renamed(Uif | Bgnloop | Endloop | Endif))
    }
}

macro_rules! legacy_opcodes {
    ($($name:literal $dst:literal $src:literal $rewrite:expr;)+) => {
        /// The old opcodes: name, number of destinations, number of sources, replacement.
        pub(crate) const OPCODES: &[LegacyOpcode] = &[$(LegacyOpcode {
            name: $name,
            num_dst: $dst,
            num_src: $src,
            is_tex: matches!($rewrite, Rewrite::TxqLz),
            rewrite: $rewrite,
        }),+];

        /// Returns the old opcode with this name, without suffixes.
        pub(crate) fn opcode(name: Word<'_>) -> Option<&'static LegacyOpcode> {
            static NAMES: NameTable<{ slots(OPCODES.len()) }> = NameTable::new(&[$($name),+]);
            NAMES.find(name, |row| OPCODES[row].name).map(|row| &OPCODES[row])
        }
    };
}

const NO_LOOP_REGISTERS: Rewrite = Rewrite::Gone("it used a loop register with effects that were never specified");
const NO_ADDRESS_STACK: Rewrite = Rewrite::Gone("it used a stack of address registers, which no longer exists");

legacy_opcodes! {
    "SUB" 1 2 Rewrite::Sub;
    "ABS" 1 1 Rewrite::Abs;
    "NEGATE" 1 1 Rewrite::Neg;
    "CLAMP" 1 3 Rewrite::Clamp;
    "XPD" 1 2 Rewrite::Xpd;
    "CROSSPRODUCT" 1 2 Rewrite::Xpd;
    "DP2A" 1 3 Rewrite::Dp2a;
    "DOT2ADD" 1 3 Rewrite::Dp2a;
    "DPH" 1 2 Rewrite::Dph;
    "SCS" 1 1 Rewrite::Scs;
    "CND" 1 3 Rewrite::Cnd;
    "CND0" 1 3 Rewrite::Cnd0;
    "NRM" 1 1 Rewrite::Nrm;
    "NRM4" 1 1 Rewrite::Nrm4;
    "RFL" 1 2 Rewrite::Rfl;
    "RCC" 1 1 Rewrite::Rcc;
    "X2D" 1 3 Rewrite::X2d;
    "SFL" 1 2 Rewrite::Sfl;
    "STR" 1 2 Rewrite::Str;
    "SAD" 1 3 Rewrite::Sad;
    "KIL" 0 1 Rewrite::Renamed(Opcode::KillIf);
    "KILP" 0 0 Rewrite::Renamed(Opcode::Kill);
    "IFC" 0 1 Rewrite::Renamed(Opcode::Uif);
    "BREAKC" 0 1 Rewrite::Breakc;
    "CALLNZ" 0 1 Rewrite::Callnz;
    "TXQ_LZ" 1 1 Rewrite::TxqLz;
    "DFRACEXP" 2 1 Rewrite::Dfracexp;
    "LFENCE" 0 1 Rewrite::Fence;
    "SFENCE" 0 1 Rewrite::Fence;
    "MFENCE" 0 1 Rewrite::Fence;
    "LOAD_MS" 1 3 Rewrite::Renamed(Opcode::SampleIMs);
    "RESINFO" 1 2 Rewrite::Renamed(Opcode::Sviewinfo);
    "SHR" 1 2 Rewrite::Renamed(Opcode::Ishr);
    "INT" 1 1 Rewrite::Renamed(Opcode::Trunc);
    "LERP" 1 3 Rewrite::Renamed(Opcode::Lrp);
    "FRAC" 1 1 Rewrite::Renamed(Opcode::Frc);
    "FLOOR" 1 1 Rewrite::Renamed(Opcode::Flr);
    "EXPBASE2" 1 1 Rewrite::Renamed(Opcode::Ex2);
    "LOGBASE2" 1 1 Rewrite::Renamed(Opcode::Lg2);
    "POWER" 1 2 Rewrite::Renamed(Opcode::Pow);
    "BGNLOOP2" 0 0 Rewrite::Renamed(Opcode::Bgnloop);
    "ENDLOOP2" 0 0 Rewrite::Renamed(Opcode::Endloop);
    "ENDIFC" 0 0 Rewrite::Renamed(Opcode::Endif);
    "BGNFOR" 1 1 NO_LOOP_REGISTERS;
    "ENDFOR" 0 0 NO_LOOP_REGISTERS;
    "LOOP" 0 0 NO_LOOP_REGISTERS;
    "REP" 0 1 NO_LOOP_REGISTERS;
    "ENDREP" 0 0 NO_LOOP_REGISTERS;
    "PUSHA" 0 1 NO_ADDRESS_STACK;
    "POPA" 1 0 NO_ADDRESS_STACK;
    "ARA" 1 1 NO_ADDRESS_STACK;
    "BRA" 0 0 Rewrite::Gone("control flow is structured, there are no jumps to labels");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parser finds the row of the current opcode first, so that the old one would have no effect.
    #[test]
    fn no_old_mnemonic_is_that_of_a_current_opcode() {
        for row in OPCODES {
            assert_eq!(Opcode::from_name(row.name), None, "remove the old opcode or rename the new one");
        }
    }

    /// A mnemonic has no suffixes itself.
    #[test]
    fn no_mnemonic_ends_like_a_suffix() {
        let names = Opcode::ALL.iter().map(|opcode| opcode.name()).chain(OPCODES.iter().map(|row| row.name));
        for name in names {
            let word = Word::new(name.as_bytes()).expect("mnemonics are words");
            assert_eq!(split_suffixes(word).0.len(), name.len(), "{name}");
        }
        let split = |word: &'static str| {
            let (name, suffixes) = split_suffixes(Word::new(word.as_bytes()).expect("a word"));
            (name.as_str(), suffixes.saturation, suffixes.precise)
        };
        assert_eq!(split("MUL_SATNV_PRECISE"), ("MUL", Saturation::MinusOneOne, true));
        assert_eq!(split("mul_sat"), ("mul", Saturation::ZeroOne, false));
        assert_eq!(split("_SAT"), ("_SAT", Saturation::None, false));
    }
}
