//! TGSI's arithmetic opcodes and the operations of the IR: one table for both directions.
//!
//! A row is `Opcode: form, into Operation, from [Operations];`. `into` is missing if the conversion to the IR has
//! separate code for the opcode, `from` if no operation is selected as the opcode. Opcodes without a row have separate
//! code in both directions. Comparisons differ between the two: the IR's have booleans, which drivers lower to words or
//! floats before selection.

use tgsi_ir::alu::AluOp;

use tgsi::tables::Opcode;

/// The components that an opcode reads and writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandForm {
    /// Each component is the result for the same components of the sources, in order.
    Componentwise,
    /// The same for a comparison, whose result becomes all ones or 0.
    Truth,
    /// The same for a comparison, whose result becomes 1.0 or 0.0.
    Number,
    /// The same with the two sources exchanged.
    ExchangedNumber,
    /// The result for the x components, in all components.
    Replicated,
    /// An operation on a vector of the first components of the sources, this number of them.
    Horizontal(u8),
    /// 64-bit sources and result; a pair of channels is computed if both are in the mask.
    BothChannels,
    /// 64-bit sources and result; a pair is computed if one of its channels is in the mask, and both are written.
    EitherChannel,
    /// `EitherChannel`, all ones if the second source is 0.
    OnesForZero,
    /// The second source is a 32-bit number in the first channel of each pair.
    ByWord,
    /// 64-bit sources; all ones or 0 in the first channel of a pair that is in the mask.
    WideTruth,
    /// Channel x gives the first pair, y the second.
    Widen,
    /// The first pair is written to the first channel of the mask, the second to the second.
    Narrow,
}

use OperandForm::*;

macro_rules! opcode_map {
    (
        $(#[$into_doc:meta])* $into:ident;
        $(#[$from_doc:meta])* $from:ident;
        $($opcode:ident: $form:expr $(, into $op:ident)? $(, from [$($selected:ident)+])?;)+
    ) => {
        $(#[$into_doc])*
        pub const fn $into(opcode: Opcode) -> Option<(OperandForm, AluOp)> {
            match opcode {
                $($(Opcode::$opcode => Some(($form, AluOp::$op)),)?)+
                _ => None,
            }
        }

        $(#[$from_doc])*
        pub const fn $from(op: AluOp) -> Option<(OperandForm, Opcode)> {
            match op {
                $($($(AluOp::$selected => Some(($form, Opcode::$opcode)),)+)?)+
                _ => None,
            }
        }
    };
}

opcode_map! {
    /// The operation for an opcode of 32 bits.
    into_ir;
    /// The opcode for an operation on 32 bits.
    from_ir;

    Mov: Componentwise, from [F2f32 I2i32 U2u32 B2b32];
    Add: Componentwise, into Fadd, from [Fadd];
    Mul: Componentwise, from [Fmul];
    Mad: Componentwise, from [Fmad];
    Fma: Componentwise, from [Ffma];
    Lrp: Componentwise, from [FlrpMad];
    Div: Componentwise, into Fdiv, from [Fdiv];
    Min: Componentwise, into Fmin, from [Fmin];
    Max: Componentwise, into Fmax, from [Fmax];
    Frc: Componentwise, into Ffract, from [Ffract];
    Flr: Componentwise, into Ffloor, from [Ffloor];
    Ceil: Componentwise, into Fceil, from [Fceil];
    Trunc: Componentwise, into Ftrunc, from [Ftrunc];
    Round: Componentwise, into FroundEven, from [FroundEven];
    Ssg: Componentwise, from [Fsign];
    Ldexp: Componentwise, from [Ldexp];
    Slt: Number, into Flt, from [Slt];
    Sge: Number, into Fge, from [Sge];
    Seq: Number, into Feq, from [Seq];
    Sne: Number, into Fneu, from [Sne];
    Sgt: ExchangedNumber, into Flt;
    Sle: ExchangedNumber, into Fge;
    Fslt: Truth, into Flt, from [Flt32];
    Fsge: Truth, into Fge, from [Fge32];
    Fseq: Truth, into Feq, from [Feq32];
    Fsne: Truth, into Fneu, from [Fneu32];
    I2f: Componentwise, into I2f32, from [I2f32];
    U2f: Componentwise, into U2f32, from [U2f32];
    F2i: Componentwise, into F2i32, from [F2i32];
    F2u: Componentwise, into F2u32, from [F2u32];
    Uadd: Componentwise, into Iadd, from [Iadd];
    Umul: Componentwise, into Imul, from [Imul Amul];
    Umad: Componentwise, from [Imad];
    Ucmp: Componentwise, from [B32csel];
    Ineg: Componentwise, into Ineg, from [Ineg];
    Iabs: Componentwise, into Iabs, from [Iabs];
    Issg: Componentwise, into Isign, from [Isign];
    Not: Componentwise, into Inot, from [Inot];
    And: Componentwise, into Iand, from [Iand];
    Or: Componentwise, into Ior, from [Ior];
    Xor: Componentwise, into Ixor, from [Ixor];
    Shl: Componentwise, into Ishl, from [Ishl];
    Ishr: Componentwise, into Ishr, from [Ishr];
    Ushr: Componentwise, into Ushr, from [Ushr];
    Imin: Componentwise, into Imin, from [Imin];
    Imax: Componentwise, into Imax, from [Imax];
    Umin: Componentwise, into Umin, from [Umin];
    Umax: Componentwise, into Umax, from [Umax];
    Idiv: Componentwise, into Idiv, from [Idiv];
    ImulHi: Componentwise, into ImulHigh, from [ImulHigh];
    UmulHi: Componentwise, into UmulHigh, from [UmulHigh];
    Islt: Truth, into Ilt, from [Ilt32];
    Isge: Truth, into Ige, from [Ige32];
    Uslt: Truth, into Ult, from [Ult32];
    Usge: Truth, into Uge, from [Uge32];
    Useq: Truth, into Ieq, from [Ieq32];
    Usne: Truth, into Ine, from [Ine32];
    Brev: Componentwise, into BitfieldReverse, from [BitfieldReverse];
    Popc: Componentwise, into BitCount, from [BitCount];
    Lsb: Componentwise, into FindLsb, from [FindLsb];
    Imsb: Componentwise, into IfindMsb, from [IfindMsb];
    Umsb: Componentwise, into UfindMsb, from [UfindMsb];
    Rcp: Replicated, into Frcp, from [Frcp];
    Rsq: Replicated, into Frsq, from [Frsq];
    Sqrt: Replicated, into Fsqrt, from [Fsqrt];
    Ex2: Replicated, into Fexp2, from [Fexp2];
    Lg2: Replicated, into Flog2, from [Flog2];
    Sin: Replicated, into Fsin, from [Fsin];
    Cos: Replicated, into Fcos, from [Fcos];
    Pow: Replicated, into Fpow, from [Fpow];
    // NIR's own dot products add in another order.
    Dp2: Horizontal(2), from [Fdot2 Fdot2Replicated Fdot2Mad Fdot2MadReplicated];
    Dp3: Horizontal(3), from [Fdot3 Fdot3Replicated Fdot3Mad Fdot3MadReplicated];
    Dp4: Horizontal(4), from [Fdot4 Fdot4Replicated Fdot4Mad Fdot4MadReplicated];
    Pk2h: Horizontal(2), into PackHalf2x16, from [PackHalf2x16];
    Pk2us: Horizontal(2), into PackUnorm2x16, from [PackUnorm2x16];
    Pk4b: Horizontal(4), into PackSnorm4x8, from [PackSnorm4x8];
    Pk4ub: Horizontal(4), into PackUnorm4x8, from [PackUnorm4x8];
    Up2h: Horizontal(1), into UnpackHalf2x16, from [UnpackHalf2x16];
    Up2us: Horizontal(1), into UnpackUnorm2x16, from [UnpackUnorm2x16];
    Up4b: Horizontal(1), into UnpackSnorm4x8, from [UnpackSnorm4x8];
    Up4ub: Horizontal(1), into UnpackUnorm4x8, from [UnpackUnorm4x8];
}

opcode_map! {
    /// The operation for an opcode with 64-bit sources.
    into_ir_wide;
    /// The opcode for an operation on 64 bits.
    from_ir_wide;

    Dadd: EitherChannel, into Fadd, from [Fadd];
    Dmul: EitherChannel, into Fmul, from [Fmul];
    Ddiv: EitherChannel, into Fdiv, from [Fdiv];
    Dmin: EitherChannel, into Fmin, from [Fmin];
    Dmax: EitherChannel, into Fmax, from [Fmax];
    Dfma: BothChannels, into Ffma, from [Ffma];
    Dabs: BothChannels, into Fabs, from [Fabs];
    Dneg: BothChannels, into Fneg, from [Fneg];
    Drcp: BothChannels, into Frcp, from [Frcp];
    Dsqrt: BothChannels, into Fsqrt, from [Fsqrt];
    Drsq: BothChannels, into Frsq, from [Frsq];
    Dfrac: BothChannels, into Ffract, from [Ffract];
    Dtrunc: BothChannels, into Ftrunc, from [Ftrunc];
    Dceil: BothChannels, into Fceil, from [Fceil];
    Dflr: BothChannels, into Ffloor, from [Ffloor];
    Dround: BothChannels, into FroundEven, from [FroundEven];
    Dssg: BothChannels, into Fsign, from [Fsign];
    Dldexp: ByWord, into Ldexp, from [Ldexp];
    Dslt: WideTruth, into Flt, from [Flt32];
    Dsge: WideTruth, into Fge, from [Fge32];
    Dseq: WideTruth, into Feq, from [Feq32];
    Dsne: WideTruth, into Fneu, from [Fneu32];
    U64seq: WideTruth, into Ieq, from [Ieq32];
    U64sne: WideTruth, into Ine, from [Ine32];
    U64slt: WideTruth, into Ult, from [Ult32];
    U64sge: WideTruth, into Uge, from [Uge32];
    I64slt: WideTruth, into Ilt, from [Ilt32];
    I64sge: WideTruth, into Ige, from [Ige32];
    I64min: EitherChannel, into Imin, from [Imin];
    I64max: EitherChannel, into Imax, from [Imax];
    U64min: EitherChannel, into Umin, from [Umin];
    U64max: EitherChannel, into Umax, from [Umax];
    I64abs: BothChannels, into Iabs, from [Iabs];
    I64neg: BothChannels, into Ineg, from [Ineg];
    I64ssg: BothChannels, into Isign, from [Isign];
    U64add: EitherChannel, into Iadd, from [Iadd];
    U64mul: EitherChannel, into Imul, from [Imul];
    I64div: EitherChannel, into Idiv, from [Idiv];
    I64mod: OnesForZero, into Irem, from [Irem];
    U64div: OnesForZero, into Udiv, from [Udiv];
    U64mod: OnesForZero, into Umod, from [Umod];
    U64shl: ByWord, into Ishl, from [Ishl];
    U64shr: ByWord, into Ushr, from [Ushr];
    I64shr: ByWord, into Ishr, from [Ishr];
    D2i64: BothChannels, into F2i64, from [F2i64];
    D2u64: BothChannels, into F2u64, from [F2u64];
    I642d: BothChannels, into I2f64, from [I2f64];
    U642d: BothChannels, into U2f64, from [U2f64];
    D2f: Narrow, into F2f32, from [F2f32];
    D2i: Narrow, into F2i32, from [F2i32];
    D2u: Narrow, into F2u32, from [F2u32];
    I642f: Narrow, into I2f32, from [I2f32];
    U642f: Narrow, into U2f32, from [U2f32];
}

opcode_map! {
    /// The operation for an opcode that makes 64 bits of 32.
    into_ir_widening;
    /// The opcode for an operation that makes 64 bits of 32.
    from_ir_widening;

    F2d: Widen, into F2f64, from [F2f64];
    I2d: Widen, into I2f64, from [I2f64];
    U2d: Widen, into U2f64, from [U2f64];
    F2i64: Widen, into F2i64, from [F2i64];
    F2u64: Widen, into F2u64, from [F2u64];
    I2i64: Widen, into I2i64, from [I2i64];
    U2i64: Widen, into U2u64, from [U2u64];
}
