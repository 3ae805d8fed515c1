//! The opcode table: one row per opcode, from which the enum, the names, the classes, operand counts and types, the text
//! layout and the write behaviour are generated. Numbers 67, 81, 82, 93, 113, 114, 115, 165 and 212 were removed from TGSI
//! and have no row.

use super::lookup::{NameTable, Word, slots};
use super::opcode_info::{BlockPart, Class, OpcodeInfo, OperandType, OutputMode};

macro_rules! opcode_table {
    ($($variant:ident = $value:literal $text:literal, $class:ident, dst $dst:ident, src [$($src:ident),*], $mode:ident, [$($flag:ident)*];)+) => {
        /// Opcodes of current TGSI.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Opcode { $(#[doc = concat!("`", $text, "`, number ", stringify!($value), ".")] $variant = $value),+ }

        impl Opcode {
            /// All opcodes, in ascending order of their numbers.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$variant),+];

            /// Returns the opcode with this number, or none for removed and unknown numbers.
            pub const fn from_value(value: u32) -> Option<Opcode> {
                match value { $($value => Some(Opcode::$variant),)+ _ => None }
            }

            /// Returns the kind of the opcode.
            #[doc(hidden)]
            pub const fn class(self) -> Class {
                match self { $(Opcode::$variant => Class::$class),+ }
            }

            /// Returns the opcode's row in the table.
            pub fn info(self) -> &'static OpcodeInfo {
                static INFOS: &[OpcodeInfo] = &[$(OpcodeInfo {
                    name: $text,
                    num_dst: !matches!(OperandType::$dst, OperandType::None) as u8,
                    num_src: { const TYPES: &[OperandType] = &[$(OperandType::$src),*]; TYPES.len() as u8 },
                    dst_type: OperandType::$dst,
                    src_types: &[$(OperandType::$src),*],
                    output_mode: OutputMode::$mode,
                    is_tex: has_flag(&[$(stringify!($flag)),*], "tex"),
                    is_store: has_flag(&[$(stringify!($flag)),*], "store"),
                    is_branch: has_flag(&[$(stringify!($flag)),*], "branch"),
                    is_sample_family: has_flag(&[$(stringify!($flag)),*], "sample_family"),
                    has_memory: has_flag(&[$(stringify!($flag)),*], "memory"),
                    block: block_part(&[$(stringify!($flag)),*]),
                    dedents: has_flag(&[$(stringify!($flag)),*], "dedent"),
                    indents: has_flag(&[$(stringify!($flag)),*], "indent"),
                }),+];
                &INFOS[Self::ROW[self as usize] as usize]
            }

            /// Returns the opcode with this word as its mnemonic (without suffixes).
            #[inline]
            pub(crate) fn from_word(word: Word<'_>) -> Option<Opcode> {
                static NAMES: NameTable<{ slots(Opcode::ALL.len()) }> = NameTable::new(&[$($text),+]);
                NAMES.find(word, |row| Self::ALL[row].name()).map(|row| Self::ALL[row])
            }

            /// Maps the number of an opcode to its row in the table.
            const ROW: [u8; 256] = {
                let mut rows = [0u8; 256];
                let mut row = 0;
                while row < Self::ALL.len() {
                    rows[Self::ALL[row] as usize] = row as u8;
                    row += 1;
                }
                rows
            };
        }
    };
}

const fn block_part(flags: &[&str]) -> Option<BlockPart> {
    if has_flag(flags, "opens") {
        Some(BlockPart::Opens)
    } else if has_flag(flags, "divides") {
        Some(BlockPart::Divides)
    } else if has_flag(flags, "closes") {
        Some(BlockPart::Closes)
    } else {
        None
    }
}

const fn has_flag(flags: &[&str], flag: &str) -> bool {
    let mut i = 0;
    while i < flags.len() {
        let (a, b) = (flags[i].as_bytes(), flag.as_bytes());
        if a.len() == b.len() {
            let mut k = 0;
            while k < a.len() && a[k] == b[k] {
                k += 1;
            }
            if k == a.len() {
                return true;
            }
        }
        i += 1;
    }
    false
}

impl Opcode {
    /// Returns the number in the token stream.
    pub const fn value(self) -> u8 {
        self as u8
    }

    /// Returns the mnemonic without suffixes.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns the effect of the opcode on control-flow blocks.
    pub fn block(self) -> Option<BlockPart> {
        self.info().block
    }

    /// Returns the opcode with this mnemonic (without suffixes), ignoring ASCII case.
    pub fn from_name(name: &str) -> Option<Opcode> {
        Word::new(name.as_bytes()).and_then(Self::from_word)
    }
}

impl std::fmt::Display for Opcode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Opcode {
    /// Returns the type as which source `source` is read, where the table has one type for all operands or leaves it
    /// open.
    pub fn source_type(self, source: usize) -> OperandType {
        use Opcode::*;
        match (self, source) {
            // The selector.
            (Ucmp, 0) => OperandType::Uint,
            // The stream and the lane number.
            (Emit | Endprim, _) | (ReadInvoc, 1) => OperandType::Uint,
            // Packed words.
            (Up2us | Up4b | Up4ub, _) => OperandType::Uint,
            // The count takes one channel per pair.
            (U64shl | I64shr | U64shr, 1) => OperandType::Uint,
            _ => self.info().src_types.get(source).copied().unwrap_or(OperandType::Untyped),
        }
    }

    /// Returns the positions of the sources with the view and the sampler, if any, of a texture opcode.
    pub const fn texture_operands(self) -> (usize, Option<usize>) {
        use Opcode::*;
        match self {
            Txqs | Samp2hnd => (0, Some(0)),
            Tex2 | Txb2 | Txl2 | Tg4 => (2, Some(2)),
            Txd => (3, Some(3)),
            SampleI | SampleIMs | Sviewinfo => (1, None),
            SamplePos | SampleInfo => (0, None),
            Sample | SampleB | SampleC | SampleCLz | SampleD | SampleL | Gather4 | Lod => (1, Some(2)),
            _ => (1, Some(1)),
        }
    }

    /// For the last arm of a match over the opcodes of one class. Opcodes of other classes never occur there, so the
    /// opcode is in the class and the match lacks an arm for it.
    ///
    /// # Panics
    /// Always, in builds with debug assertions. The message names the opcode and its class, and the panic has the
    /// position of the match.
    #[cold]
    #[track_caller]
    #[doc(hidden)]
    pub fn lacks_code(self) {
        debug_assert!(false, "{self} is of the class {:?} and has no code here", self.class());
    }
}

opcode_table! {
Arl = 0 "ARL", Integer, dst Int, src [Float], Componentwise, [];
Mov = 1 "MOV", Float, dst Untyped, src [Untyped], Componentwise, [];
Lit = 2 "LIT", Float, dst Float, src [Float], ChannelDependent, [];
Rcp = 3 "RCP", Float, dst Float, src [Float], Replicate, [];
Rsq = 4 "RSQ", Float, dst Float, src [Float], Replicate, [];
Exp = 5 "EXP", Float, dst Float, src [Float], ChannelDependent, [];
Log = 6 "LOG", Float, dst Float, src [Float], ChannelDependent, [];
Mul = 7 "MUL", Float, dst Float, src [Float, Float], Componentwise, [];
Add = 8 "ADD", Float, dst Float, src [Float, Float], Componentwise, [];
Dp3 = 9 "DP3", Float, dst Float, src [Float, Float], Replicate, [];
Dp4 = 10 "DP4", Float, dst Float, src [Float, Float], Replicate, [];
Dst = 11 "DST", Float, dst Float, src [Float, Float], ChannelDependent, [];
Min = 12 "MIN", Float, dst Float, src [Float, Float], Componentwise, [];
Max = 13 "MAX", Float, dst Float, src [Float, Float], Componentwise, [];
Slt = 14 "SLT", Float, dst Float, src [Float, Float], Componentwise, [];
Sge = 15 "SGE", Float, dst Float, src [Float, Float], Componentwise, [];
Mad = 16 "MAD", Float, dst Float, src [Float, Float, Float], Componentwise, [];
TexLz = 17 "TEX_LZ", Texture, dst Float, src [Float, Float], Other, [tex];
Lrp = 18 "LRP", Float, dst Float, src [Float, Float, Float], Componentwise, [];
Fma = 19 "FMA", Float, dst Float, src [Float, Float, Float], Componentwise, [];
Sqrt = 20 "SQRT", Float, dst Float, src [Float], Replicate, [];
Ldexp = 21 "LDEXP", Float, dst Float, src [Float, Int], Componentwise, [];
F2u64 = 22 "F2U64", Wide, dst Uint64, src [Float], Componentwise, [];
F2i64 = 23 "F2I64", Wide, dst Int64, src [Float], Componentwise, [];
Frc = 24 "FRC", Float, dst Float, src [Float], Componentwise, [];
TxfLz = 25 "TXF_LZ", Texture, dst Float, src [Uint, Uint], Other, [tex];
Flr = 26 "FLR", Float, dst Float, src [Float], Componentwise, [];
Round = 27 "ROUND", Float, dst Float, src [Float], Componentwise, [];
Ex2 = 28 "EX2", Float, dst Float, src [Float], Replicate, [];
Lg2 = 29 "LG2", Float, dst Float, src [Float], Replicate, [];
Pow = 30 "POW", Float, dst Float, src [Float, Float], Replicate, [];
Demote = 31 "DEMOTE", Lanes, dst None, src [], NoOutput, [];
U2i64 = 32 "U2I64", Wide, dst Int64, src [Uint], Componentwise, [];
Clock = 33 "CLOCK", Lanes, dst Float, src [], Other, [];
I2i64 = 34 "I2I64", Wide, dst Int64, src [Int], Componentwise, [];
ReadHelper = 35 "READ_HELPER", Lanes, dst Float, src [], Componentwise, [];
Cos = 36 "COS", Float, dst Float, src [Float], Replicate, [];
Ddx = 37 "DDX", Lanes, dst Float, src [Float], Componentwise, [];
Ddy = 38 "DDY", Lanes, dst Float, src [Float], Componentwise, [];
Kill = 39 "KILL", Lanes, dst None, src [], NoOutput, [];
Pk2h = 40 "PK2H", Packing, dst Float, src [Float], Replicate, [];
Pk2us = 41 "PK2US", Packing, dst Float, src [Float], Replicate, [];
Pk4b = 42 "PK4B", Packing, dst Float, src [Float], Replicate, [];
Pk4ub = 43 "PK4UB", Packing, dst Float, src [Float], Replicate, [];
D2u64 = 44 "D2U64", Wide, dst Uint64, src [Double], Componentwise, [];
Seq = 45 "SEQ", Float, dst Float, src [Float, Float], Componentwise, [];
D2i64 = 46 "D2I64", Wide, dst Int64, src [Double], Componentwise, [];
Sgt = 47 "SGT", Float, dst Float, src [Float, Float], Componentwise, [];
Sin = 48 "SIN", Float, dst Float, src [Float], Replicate, [];
Sle = 49 "SLE", Float, dst Float, src [Float, Float], Componentwise, [];
Sne = 50 "SNE", Float, dst Float, src [Float, Float], Componentwise, [];
U642d = 51 "U642D", Wide, dst Double, src [Uint64], Componentwise, [];
Tex = 52 "TEX", Texture, dst Float, src [Float, Float], Other, [tex];
Txd = 53 "TXD", Texture, dst Float, src [Float, Float, Float, Float], Other, [tex];
Txp = 54 "TXP", Texture, dst Float, src [Float, Float], Other, [tex];
Up2h = 55 "UP2H", Packing, dst Float, src [Uint], ChannelDependent, [];
Up2us = 56 "UP2US", Packing, dst Float, src [Float], ChannelDependent, [];
Up4b = 57 "UP4B", Packing, dst Float, src [Float], ChannelDependent, [];
Up4ub = 58 "UP4UB", Packing, dst Float, src [Float], ChannelDependent, [];
U642f = 59 "U642F", Wide, dst Float, src [Uint64], Componentwise, [];
I642f = 60 "I642F", Wide, dst Float, src [Int64], Componentwise, [];
Arr = 61 "ARR", Integer, dst Int, src [Float], Componentwise, [];
I642d = 62 "I642D", Wide, dst Double, src [Int64], Componentwise, [];
Cal = 63 "CAL", Control, dst None, src [], NoOutput, [branch];
Ret = 64 "RET", Control, dst None, src [], NoOutput, [];
Ssg = 65 "SSG", Float, dst Float, src [Float], Componentwise, [];
Cmp = 66 "CMP", Float, dst Float, src [Float, Float, Float], Componentwise, [];
Txb = 68 "TXB", Texture, dst Float, src [Float, Float], Other, [tex];
Fbfetch = 69 "FBFETCH", Lanes, dst Float, src [Float], Other, [];
Div = 70 "DIV", Float, dst Float, src [Float, Float], Componentwise, [];
Dp2 = 71 "DP2", Float, dst Float, src [Float, Float], Replicate, [];
Txl = 72 "TXL", Texture, dst Float, src [Float, Float], Other, [tex];
Brk = 73 "BRK", Control, dst None, src [], NoOutput, [];
If = 74 "IF", Control, dst None, src [Float], NoOutput, [branch indent opens];
Uif = 75 "UIF", Control, dst None, src [Uint], NoOutput, [branch indent opens];
ReadInvoc = 76 "READ_INVOC", Lanes, dst Float, src [Float, Float], Componentwise, [];
Else = 77 "ELSE", Control, dst None, src [], NoOutput, [branch dedent indent divides];
Endif = 78 "ENDIF", Control, dst None, src [], NoOutput, [dedent closes];
DdxFine = 79 "DDX_FINE", Lanes, dst Float, src [Float], Componentwise, [];
DdyFine = 80 "DDY_FINE", Lanes, dst Float, src [Float], Componentwise, [];
Ceil = 83 "CEIL", Float, dst Float, src [Float], Componentwise, [];
I2f = 84 "I2F", Integer, dst Float, src [Int], Componentwise, [];
Not = 85 "NOT", Integer, dst Uint, src [Uint], Componentwise, [];
Trunc = 86 "TRUNC", Float, dst Float, src [Float], Componentwise, [];
Shl = 87 "SHL", Integer, dst Uint, src [Uint, Uint], Componentwise, [];
Ballot = 88 "BALLOT", Lanes, dst Float, src [Float], Other, [];
And = 89 "AND", Integer, dst Uint, src [Uint, Uint], Componentwise, [];
Or = 90 "OR", Integer, dst Uint, src [Uint, Uint], Componentwise, [];
Mod = 91 "MOD", Integer, dst Int, src [Int, Int], Componentwise, [];
Xor = 92 "XOR", Integer, dst Uint, src [Uint, Uint], Componentwise, [];
Txf = 94 "TXF", Texture, dst Float, src [Uint, Uint], Other, [tex];
Txq = 95 "TXQ", Texture, dst Uint, src [Uint, Uint], Other, [tex];
Cont = 96 "CONT", Control, dst None, src [], NoOutput, [];
Emit = 97 "EMIT", Geometry, dst None, src [Float], NoOutput, [];
Endprim = 98 "ENDPRIM", Geometry, dst None, src [Float], NoOutput, [];
Bgnloop = 99 "BGNLOOP", Control, dst None, src [], NoOutput, [branch indent opens];
Bgnsub = 100 "BGNSUB", Control, dst None, src [], NoOutput, [indent opens];
Endloop = 101 "ENDLOOP", Control, dst None, src [], NoOutput, [branch dedent closes];
Endsub = 102 "ENDSUB", Control, dst None, src [], NoOutput, [dedent closes];
Atomfadd = 103 "ATOMFADD", Memory, dst Float, src [Float, Float, Float], Other, [store];
Txqs = 104 "TXQS", Texture, dst Uint, src [Uint], Other, [tex];
Resq = 105 "RESQ", Memory, dst Float, src [Float], Other, [memory];
ReadFirst = 106 "READ_FIRST", Lanes, dst Float, src [Float], Componentwise, [];
Nop = 107 "NOP", Control, dst None, src [], NoOutput, [];
Fseq = 108 "FSEQ", Float, dst Int, src [Float, Float], Componentwise, [];
Fsge = 109 "FSGE", Float, dst Int, src [Float, Float], Componentwise, [];
Fslt = 110 "FSLT", Float, dst Int, src [Float, Float], Componentwise, [];
Fsne = 111 "FSNE", Float, dst Int, src [Float, Float], Componentwise, [];
Membar = 112 "MEMBAR", Memory, dst None, src [Uint], Other, [];
KillIf = 116 "KILL_IF", Lanes, dst None, src [Float], NoOutput, [];
End = 117 "END", Control, dst None, src [], NoOutput, [];
Dfma = 118 "DFMA", Wide, dst Double, src [Double, Double, Double], Componentwise, [];
F2i = 119 "F2I", Integer, dst Int, src [Float], Componentwise, [];
Idiv = 120 "IDIV", Integer, dst Int, src [Int, Int], Componentwise, [];
Imax = 121 "IMAX", Integer, dst Int, src [Int, Int], Componentwise, [];
Imin = 122 "IMIN", Integer, dst Int, src [Int, Int], Componentwise, [];
Ineg = 123 "INEG", Integer, dst Int, src [Int], Componentwise, [];
Isge = 124 "ISGE", Integer, dst Int, src [Int, Int], Componentwise, [];
Ishr = 125 "ISHR", Integer, dst Int, src [Int, Int], Componentwise, [];
Islt = 126 "ISLT", Integer, dst Int, src [Int, Int], Componentwise, [];
F2u = 127 "F2U", Integer, dst Uint, src [Float], Componentwise, [];
U2f = 128 "U2F", Integer, dst Float, src [Uint], Componentwise, [];
Uadd = 129 "UADD", Integer, dst Int, src [Uint, Uint], Componentwise, [];
Udiv = 130 "UDIV", Integer, dst Uint, src [Uint, Uint], Componentwise, [];
Umad = 131 "UMAD", Integer, dst Uint, src [Uint, Uint, Uint], Componentwise, [];
Umax = 132 "UMAX", Integer, dst Uint, src [Uint, Uint], Componentwise, [];
Umin = 133 "UMIN", Integer, dst Uint, src [Uint, Uint], Componentwise, [];
Umod = 134 "UMOD", Integer, dst Uint, src [Uint, Uint], Componentwise, [];
Umul = 135 "UMUL", Integer, dst Uint, src [Uint, Uint], Componentwise, [];
Useq = 136 "USEQ", Integer, dst Uint, src [Uint, Uint], Componentwise, [];
Usge = 137 "USGE", Integer, dst Uint, src [Uint, Uint], Componentwise, [];
Ushr = 138 "USHR", Integer, dst Uint, src [Uint, Uint], Componentwise, [];
Uslt = 139 "USLT", Integer, dst Uint, src [Uint, Uint], Componentwise, [];
Usne = 140 "USNE", Integer, dst Uint, src [Uint, Uint], Componentwise, [];
Switch = 141 "SWITCH", Control, dst None, src [Uint], NoOutput, [opens];
Case = 142 "CASE", Control, dst None, src [Uint], NoOutput, [divides];
Default = 143 "DEFAULT", Control, dst None, src [], NoOutput, [divides];
Endswitch = 144 "ENDSWITCH", Control, dst None, src [], NoOutput, [closes];
Sample = 145 "SAMPLE", Texture, dst Float, src [Float, Float, Float], Other, [sample_family];
SampleI = 146 "SAMPLE_I", Texture, dst Float, src [Uint, Uint], Other, [sample_family];
SampleIMs = 147 "SAMPLE_I_MS", Texture, dst Float, src [Uint, Uint, Uint], Other, [sample_family];
SampleB = 148 "SAMPLE_B", Texture, dst Float, src [Float, Float, Float, Float], Other, [sample_family];
SampleC = 149 "SAMPLE_C", Texture, dst Float, src [Float, Float, Float, Float], Other, [sample_family];
SampleCLz = 150 "SAMPLE_C_LZ", Texture, dst Float, src [Float, Float, Float, Float], Other, [sample_family];
SampleD = 151 "SAMPLE_D", Texture, dst Float, src [Float, Float, Float, Float, Float], Other, [sample_family];
SampleL = 152 "SAMPLE_L", Texture, dst Float, src [Float, Float, Float, Float], Other, [sample_family];
Gather4 = 153 "GATHER4", Texture, dst Float, src [Float, Float, Float], Other, [sample_family];
Sviewinfo = 154 "SVIEWINFO", Texture, dst Uint, src [Uint, Uint], Other, [];
SamplePos = 155 "SAMPLE_POS", Texture, dst Float, src [Float, Float], Other, [];
SampleInfo = 156 "SAMPLE_INFO", Texture, dst Float, src [Float, Float], Other, [];
Uarl = 157 "UARL", Integer, dst Int, src [Int], Componentwise, [];
Ucmp = 158 "UCMP", Integer, dst Untyped, src [Float, Float, Float], Componentwise, [];
Iabs = 159 "IABS", Integer, dst Int, src [Int], Componentwise, [];
Issg = 160 "ISSG", Integer, dst Int, src [Int], Componentwise, [];
Load = 161 "LOAD", Memory, dst Float, src [Float, Uint], Other, [memory];
Store = 162 "STORE", Memory, dst Float, src [Uint, Float], Other, [store memory];
Img2hnd = 163 "IMG2HND", Memory, dst Uint, src [Uint], Other, [memory];
Samp2hnd = 164 "SAMP2HND", Texture, dst Uint, src [Uint], Other, [tex memory];
Barrier = 166 "BARRIER", Memory, dst None, src [], Other, [memory];
Atomuadd = 167 "ATOMUADD", Memory, dst Float, src [Float, Uint, Float], Other, [store memory];
Atomxchg = 168 "ATOMXCHG", Memory, dst Float, src [Float, Uint, Float], Other, [store memory];
Atomcas = 169 "ATOMCAS", Memory, dst Float, src [Float, Uint, Float, Float], Other, [store memory];
Atomand = 170 "ATOMAND", Memory, dst Float, src [Float, Uint, Float], Other, [store memory];
Atomor = 171 "ATOMOR", Memory, dst Float, src [Float, Uint, Float], Other, [store memory];
Atomxor = 172 "ATOMXOR", Memory, dst Float, src [Float, Uint, Float], Other, [store memory];
Atomumin = 173 "ATOMUMIN", Memory, dst Float, src [Float, Uint, Float], Other, [store memory];
Atomumax = 174 "ATOMUMAX", Memory, dst Float, src [Float, Uint, Float], Other, [store memory];
Atomimin = 175 "ATOMIMIN", Memory, dst Float, src [Float, Uint, Float], Other, [store memory];
Atomimax = 176 "ATOMIMAX", Memory, dst Float, src [Float, Uint, Float], Other, [store memory];
Tex2 = 177 "TEX2", Texture, dst Float, src [Float, Float, Float], Other, [tex];
Txb2 = 178 "TXB2", Texture, dst Float, src [Float, Float, Float], Other, [tex];
Txl2 = 179 "TXL2", Texture, dst Float, src [Float, Float, Float], Other, [tex];
ImulHi = 180 "IMUL_HI", Integer, dst Int, src [Int, Int], Componentwise, [];
UmulHi = 181 "UMUL_HI", Integer, dst Uint, src [Uint, Uint], Componentwise, [];
Tg4 = 182 "TG4", Texture, dst Float, src [Float, Float, Float], Other, [tex];
Lodq = 183 "LODQ", Texture, dst Float, src [Float, Float], Other, [tex];
Ibfe = 184 "IBFE", Integer, dst Int, src [Int, Int, Int], Componentwise, [];
Ubfe = 185 "UBFE", Integer, dst Uint, src [Uint, Uint, Uint], Componentwise, [];
Bfi = 186 "BFI", Integer, dst Uint, src [Uint, Uint, Uint, Uint], Componentwise, [];
Brev = 187 "BREV", Integer, dst Uint, src [Uint], Componentwise, [];
Popc = 188 "POPC", Integer, dst Int, src [Int], Componentwise, [];
Lsb = 189 "LSB", Integer, dst Int, src [Int], Componentwise, [];
Imsb = 190 "IMSB", Integer, dst Int, src [Int], Componentwise, [];
Umsb = 191 "UMSB", Integer, dst Int, src [Uint], Componentwise, [];
InterpCentroid = 192 "INTERP_CENTROID", Lanes, dst Float, src [Float], Other, [];
InterpSample = 193 "INTERP_SAMPLE", Lanes, dst Float, src [Float, Float], Other, [];
InterpOffset = 194 "INTERP_OFFSET", Lanes, dst Float, src [Float, Float], Other, [];
F2d = 195 "F2D", Wide, dst Double, src [Float], Componentwise, [];
D2f = 196 "D2F", Wide, dst Float, src [Double], Componentwise, [];
Dabs = 197 "DABS", Wide, dst Double, src [Double], Componentwise, [];
Dneg = 198 "DNEG", Wide, dst Double, src [Double], Componentwise, [];
Dadd = 199 "DADD", Wide, dst Double, src [Double, Double], Componentwise, [];
Dmul = 200 "DMUL", Wide, dst Double, src [Double, Double], Componentwise, [];
Dmax = 201 "DMAX", Wide, dst Double, src [Double, Double], Componentwise, [];
Dmin = 202 "DMIN", Wide, dst Double, src [Double, Double], Componentwise, [];
Dslt = 203 "DSLT", Wide, dst Int, src [Double, Double], Componentwise, [];
Dsge = 204 "DSGE", Wide, dst Int, src [Double, Double], Componentwise, [];
Dseq = 205 "DSEQ", Wide, dst Int, src [Double, Double], Componentwise, [];
Dsne = 206 "DSNE", Wide, dst Int, src [Double, Double], Componentwise, [];
Drcp = 207 "DRCP", Wide, dst Double, src [Double], Componentwise, [];
Dsqrt = 208 "DSQRT", Wide, dst Double, src [Double], Componentwise, [];
Dmad = 209 "DMAD", Wide, dst Double, src [Double, Double, Double], Componentwise, [];
Dfrac = 210 "DFRAC", Wide, dst Double, src [Double], Componentwise, [];
Dldexp = 211 "DLDEXP", Wide, dst Double, src [Double, Int], Componentwise, [];
D2i = 213 "D2I", Wide, dst Float, src [Double], Componentwise, [];
I2d = 214 "I2D", Wide, dst Double, src [Int], Componentwise, [];
D2u = 215 "D2U", Wide, dst Float, src [Double], Componentwise, [];
U2d = 216 "U2D", Wide, dst Double, src [Uint], Componentwise, [];
Drsq = 217 "DRSQ", Wide, dst Double, src [Double], Componentwise, [];
Dtrunc = 218 "DTRUNC", Wide, dst Double, src [Double], Componentwise, [];
Dceil = 219 "DCEIL", Wide, dst Double, src [Double], Componentwise, [];
Dflr = 220 "DFLR", Wide, dst Double, src [Double], Componentwise, [];
Dround = 221 "DROUND", Wide, dst Double, src [Double], Componentwise, [];
Dssg = 222 "DSSG", Wide, dst Double, src [Double], Componentwise, [];
VoteAny = 223 "VOTE_ANY", Lanes, dst Float, src [Float], Componentwise, [];
VoteAll = 224 "VOTE_ALL", Lanes, dst Float, src [Float], Componentwise, [];
VoteEq = 225 "VOTE_EQ", Lanes, dst Float, src [Float], Componentwise, [];
U64seq = 226 "U64SEQ", Wide, dst Int, src [Uint64, Uint64], Componentwise, [];
U64sne = 227 "U64SNE", Wide, dst Int, src [Uint64, Uint64], Componentwise, [];
I64slt = 228 "I64SLT", Wide, dst Int, src [Int64, Int64], Componentwise, [];
U64slt = 229 "U64SLT", Wide, dst Int, src [Uint64, Uint64], Componentwise, [];
I64sge = 230 "I64SGE", Wide, dst Int, src [Int64, Int64], Componentwise, [];
U64sge = 231 "U64SGE", Wide, dst Int, src [Uint64, Uint64], Componentwise, [];
I64min = 232 "I64MIN", Wide, dst Int64, src [Int64, Int64], Componentwise, [];
U64min = 233 "U64MIN", Wide, dst Uint64, src [Uint64, Uint64], Componentwise, [];
I64max = 234 "I64MAX", Wide, dst Int64, src [Int64, Int64], Componentwise, [];
U64max = 235 "U64MAX", Wide, dst Uint64, src [Uint64, Uint64], Componentwise, [];
I64abs = 236 "I64ABS", Wide, dst Int64, src [Int64], Componentwise, [];
I64ssg = 237 "I64SSG", Wide, dst Int64, src [Int64], Componentwise, [];
I64neg = 238 "I64NEG", Wide, dst Int64, src [Int64], Componentwise, [];
U64add = 239 "U64ADD", Wide, dst Uint64, src [Uint64, Uint64], Componentwise, [];
U64mul = 240 "U64MUL", Wide, dst Uint64, src [Uint64, Uint64], Componentwise, [];
U64shl = 241 "U64SHL", Wide, dst Uint64, src [Uint64, Uint64], Componentwise, [];
I64shr = 242 "I64SHR", Wide, dst Int64, src [Int64, Int64], Componentwise, [];
U64shr = 243 "U64SHR", Wide, dst Uint64, src [Uint64, Uint64], Componentwise, [];
I64div = 244 "I64DIV", Wide, dst Int64, src [Int64, Int64], Componentwise, [];
U64div = 245 "U64DIV", Wide, dst Uint64, src [Uint64, Uint64], Componentwise, [];
I64mod = 246 "I64MOD", Wide, dst Int64, src [Int64, Int64], Componentwise, [];
U64mod = 247 "U64MOD", Wide, dst Uint64, src [Uint64, Uint64], Componentwise, [];
Ddiv = 248 "DDIV", Wide, dst Double, src [Double, Double], Componentwise, [];
Lod = 249 "LOD", Texture, dst Float, src [Float, Float, Float], Other, [];
AtomincWrap = 250 "ATOMINC_WRAP", Memory, dst Float, src [Float, Uint, Float], Other, [store];
AtomdecWrap = 251 "ATOMDEC_WRAP", Memory, dst Float, src [Float, Uint, Float], Other, [store];
}
