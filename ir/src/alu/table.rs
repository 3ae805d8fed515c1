//! The table of ALU opcodes, declared once.
//!
//! [`alu_opcodes!`] hands the whole table to the macro named by its argument. `mod.rs` makes the enum, the names and the
//! properties from it, `evaluate.rs` the constant evaluator. A row reads
//!
//! ```text
//! Variant "name" "group": OUTPUT = [INPUT, ...], bit sizes, [properties], "formula" => evaluation;
//! ```
//!
//! * A type is a base type with its size (`FLOAT32`), or without one (`FLOAT`) when the instruction chooses the size;
//!   `[k]` after it makes it a vector of exactly k components, otherwise the operand is per component.
//! * Bit sizes: what an unsized type may be (`FLOATS` 16, 32, 64; `INTS` 1, 8, 16, 32, 64; `BOOLS` 1, 8, 16, 32), `FIXED` when
//!   every type has a size.
//! * The formula is for people; section 8 of the specification has the notation.
//! * The evaluation is described in `evaluate.rs`.

/// Calls the macro `$callback` with the table of all ALU opcodes.
macro_rules! alu_opcodes {
    ($callback:ident) => {
        $callback! {
            // move
            Mov "mov" "move": UINT = [UINT], INTS, [], "a";
            Vec2 "vec2" "move": UINT[2] = [UINT[1], UINT[1]], INTS, [], "r[i] = input_i (i = 0..1)";
            Vec3 "vec3" "move": UINT[3] = [UINT[1], UINT[1], UINT[1]], INTS, [], "r[i] = input_i (i = 0..2)";
            Vec4 "vec4" "move": UINT[4] = [UINT[1], UINT[1], UINT[1], UINT[1]], INTS, [], "r[i] = input_i (i = 0..3)";
            Vec5 "vec5" "move": UINT[5] = [UINT[1], UINT[1], UINT[1], UINT[1], UINT[1]], INTS, [], "r[i] = input_i (i = 0..4)";
            Vec8 "vec8" "move": UINT[8] = [UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1]], INTS, [], "r[i] = input_i (i = 0..7)";
            Vec16 "vec16" "move": UINT[16] = [UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1]], INTS, [], "r[i] = input_i (i = 0..15)";

            // float-unary
            Fneg "fneg" "float-unary": FLOAT = [FLOAT], FLOATS, [], "flip sign bit of a";
            Fabs "fabs" "float-unary": FLOAT = [FLOAT], FLOATS, [], "clear sign bit of a";
            Fsat "fsat" "float-unary": FLOAT = [FLOAT], FLOATS, [], "min_num(max_num(a, 0.0), 1.0)";
            FsatSigned "fsat_signed" "float-unary": FLOAT = [FLOAT], FLOATS, [], "min_num(max_num(a, -1.0), 1.0)";
            FclampPos "fclamp_pos" "float-unary": FLOAT = [FLOAT], FLOATS, [], "max_num(a, 0.0)";
            Fsign "fsign" "float-unary": FLOAT = [FLOAT], FLOATS, [], "isnan(a) ? +0.0 : a == 0 ? a : a > 0 ? 1.0 : -1.0";
            Frcp "frcp" "float-unary": FLOAT = [FLOAT], FLOATS, [], "1.0 / a";
            Frsq "frsq" "float-unary": FLOAT = [FLOAT], FLOATS, [], "1.0 / sqrt(a)";
            Fsqrt "fsqrt" "float-unary": FLOAT = [FLOAT], FLOATS, [], "sqrt(a)";
            Fexp2 "fexp2" "float-unary": FLOAT = [FLOAT], FLOATS, [], "2 ^ a";
            Flog2 "flog2" "float-unary": FLOAT = [FLOAT], FLOATS, [], "log2(a)";
            Fsin "fsin" "float-unary": FLOAT = [FLOAT], FLOATS, [], "sin(a) (radians)";
            Fcos "fcos" "float-unary": FLOAT = [FLOAT], FLOATS, [], "cos(a) (radians)";
            FsinAmd "fsin_amd" "float-unary": FLOAT = [FLOAT], FLOATS, [], "sin(2*pi*a), constant 6.2831853";
            FcosAmd "fcos_amd" "float-unary": FLOAT = [FLOAT], FLOATS, [], "cos(2*pi*a), constant 6.2831853";
            FsinMdg "fsin_mdg" "float-unary": FLOAT = [FLOAT], FLOATS, [], "sin(pi*a)";
            FcosMdg "fcos_mdg" "float-unary": FLOAT = [FLOAT], FLOATS, [], "cos(pi*a)";
            Ftrunc "ftrunc" "float-unary": FLOAT = [FLOAT], FLOATS, [], "round a toward zero to an integral value";
            Fceil "fceil" "float-unary": FLOAT = [FLOAT], FLOATS, [], "round a toward +inf to an integral value";
            Ffloor "ffloor" "float-unary": FLOAT = [FLOAT], FLOATS, [], "round a toward -inf to an integral value";
            Ffract "ffract" "float-unary": FLOAT = [FLOAT], FLOATS, [], "a - floor(a)";
            FroundEven "fround_even" "float-unary": FLOAT = [FLOAT], FLOATS, [], "round a to nearest integral value; ties to even";
            Fquantize2f16 "fquantize2f16" "float-unary": FLOAT = [FLOAT], FLOATS, [], "|a| < 2^-14 ? copysign(0, a) : f32_from_f16(f16_rne(a))";
            FrexpExp "frexp_exp" "float-unary": INT32 = [FLOAT], FLOATS, [], "integer e with a = m * 2^e and |m| in [0.5, 1); a == 0 -> 0";
            FrexpSig "frexp_sig" "float-unary": FLOAT = [FLOAT], FLOATS, [], "m with a = m * 2^e and |m| in [0.5, 1); a == 0 -> a";

            // float-binary
            Fadd "fadd" "float-binary": FLOAT = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01 ASSOCIATIVE], "rnd(a + b)";
            Fsub "fsub" "float-binary": FLOAT = [FLOAT, FLOAT], FLOATS, [], "rnd(a - b)";
            Fmul "fmul" "float-binary": FLOAT = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01 ASSOCIATIVE], "rnd(a * b)";
            Fmulz "fmulz" "float-binary": FLOAT32 = [FLOAT32, FLOAT32], FIXED, [COMMUTATIVE01 ASSOCIATIVE], "(a == 0 or b == 0) ? +0.0 : rnd(a * b)";
            Fdiv "fdiv" "float-binary": FLOAT = [FLOAT, FLOAT], FLOATS, [], "a / b";
            Fmod "fmod" "float-binary": FLOAT = [FLOAT, FLOAT], FLOATS, [], "a - b * floor(a / b)";
            Frem "frem" "float-binary": FLOAT = [FLOAT, FLOAT], FLOATS, [], "a - b * trunc(a / b)";
            Fpow "fpow" "float-binary": FLOAT = [FLOAT, FLOAT], FLOATS, [], "a ^ b (C pow)";
            Fmin "fmin" "float-binary": FLOAT = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01 ASSOCIATIVE], "minimum of a and b";
            Fmax "fmax" "float-binary": FLOAT = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01 ASSOCIATIVE], "maximum of a and b";
            Ldexp "ldexp" "float-binary": FLOAT = [FLOAT, INT32], FLOATS, [], "a * 2^b (b is int32)";

            // float-ternary
            Ffma "ffma" "float-ternary": FLOAT = [FLOAT, FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "rnd(a * b + c) with a single rounding";
            Ffmaz "ffmaz" "float-ternary": FLOAT32 = [FLOAT32, FLOAT32, FLOAT32], FIXED, [COMMUTATIVE01], "(a == 0 or b == 0) ? 0.0 + c : rnd(a * b + c) fused";
            Flrp "flrp" "float-ternary": FLOAT = [FLOAT, FLOAT, FLOAT], FLOATS, [], "a * (1 - c) + b * c";

            // float-horizontal
            Fsum2 "fsum2" "float-horizontal": FLOAT[1] = [FLOAT[2]], FLOATS, [], "a.x + a.y";
            Fsum3 "fsum3" "float-horizontal": FLOAT[1] = [FLOAT[3]], FLOATS, [], "(a.x + a.y) + a.z";
            Fsum4 "fsum4" "float-horizontal": FLOAT[1] = [FLOAT[4]], FLOATS, [], "((a.x + a.y) + a.z) + a.w";
            Fdot2 "fdot2" "float-horizontal": FLOAT[1] = [FLOAT[2], FLOAT[2]], FLOATS, [COMMUTATIVE01], "sum of p_i = a[i]*b[i], i < 2; association p1 + p0, left to right, highest index first";
            Fdot2Replicated "fdot2_replicated" "float-horizontal": FLOAT = [FLOAT[2], FLOAT[2]], FLOATS, [COMMUTATIVE01], "fdot2(a, b) written to every result component";
            Fdot3 "fdot3" "float-horizontal": FLOAT[1] = [FLOAT[3], FLOAT[3]], FLOATS, [COMMUTATIVE01], "sum of p_i = a[i]*b[i], i < 3; association p2 + p1 + p0, left to right, highest index first";
            Fdot3Replicated "fdot3_replicated" "float-horizontal": FLOAT = [FLOAT[3], FLOAT[3]], FLOATS, [COMMUTATIVE01], "fdot3(a, b) written to every result component";
            Fdot4 "fdot4" "float-horizontal": FLOAT[1] = [FLOAT[4], FLOAT[4]], FLOATS, [COMMUTATIVE01], "sum of p_i = a[i]*b[i], i < 4; association p3 + p2 + p1 + p0, left to right, highest index first";
            Fdot4Replicated "fdot4_replicated" "float-horizontal": FLOAT = [FLOAT[4], FLOAT[4]], FLOATS, [COMMUTATIVE01], "fdot4(a, b) written to every result component";
            Fdot5 "fdot5" "float-horizontal": FLOAT[1] = [FLOAT[5], FLOAT[5]], FLOATS, [COMMUTATIVE01], "sum of p_i = a[i]*b[i], i < 5; association p4 + p3 + p2 + p1 + p0, left to right, highest index first";
            Fdot5Replicated "fdot5_replicated" "float-horizontal": FLOAT = [FLOAT[5], FLOAT[5]], FLOATS, [COMMUTATIVE01], "fdot5(a, b) written to every result component";
            Fdot8 "fdot8" "float-horizontal": FLOAT[1] = [FLOAT[8], FLOAT[8]], FLOATS, [COMMUTATIVE01], "sum of p_i = a[i]*b[i], i < 8; association p7 + ... + p0, left to right, highest index first";
            Fdot8Replicated "fdot8_replicated" "float-horizontal": FLOAT = [FLOAT[8], FLOAT[8]], FLOATS, [COMMUTATIVE01], "fdot8(a, b) written to every result component";
            Fdot16 "fdot16" "float-horizontal": FLOAT[1] = [FLOAT[16], FLOAT[16]], FLOATS, [COMMUTATIVE01], "sum of p_i = a[i]*b[i], i < 16; association p15 + ... + p0, left to right, highest index first";
            Fdot16Replicated "fdot16_replicated" "float-horizontal": FLOAT = [FLOAT[16], FLOAT[16]], FLOATS, [COMMUTATIVE01], "fdot16(a, b) written to every result component";
            Fdph "fdph" "float-horizontal": FLOAT[1] = [FLOAT[3], FLOAT[4]], FLOATS, [], "a.x*b.x + a.y*b.y + a.z*b.z + b.w (left to right)";
            FdphReplicated "fdph_replicated" "float-horizontal": FLOAT = [FLOAT[3], FLOAT[4]], FLOATS, [], "fdph(a, b) written to every result component";

            // float-test
            Fisnormal "fisnormal" "float-test": BOOL1 = [FLOAT], FLOATS, [], "a is neither zero nor denormal nor inf nor NaN";
            Fisfinite "fisfinite" "float-test": BOOL1 = [FLOAT], FLOATS, [], "a is neither inf nor NaN";
            Fisfinite32 "fisfinite32" "float-test": BOOL32 = [FLOAT], FLOATS, [], "a is neither inf nor NaN (0 / ~0)";

            // compare-float
            Flt "flt" "compare-float": BOOL1 = [FLOAT, FLOAT], FLOATS, [], "a < b";
            Flt8 "flt8" "compare-float": BOOL8 = [FLOAT, FLOAT], FLOATS, [], "a < b";
            Flt16 "flt16" "compare-float": BOOL16 = [FLOAT, FLOAT], FLOATS, [], "a < b";
            Flt32 "flt32" "compare-float": BOOL32 = [FLOAT, FLOAT], FLOATS, [], "a < b";
            Fge "fge" "compare-float": BOOL1 = [FLOAT, FLOAT], FLOATS, [], "a >= b";
            Fge8 "fge8" "compare-float": BOOL8 = [FLOAT, FLOAT], FLOATS, [], "a >= b";
            Fge16 "fge16" "compare-float": BOOL16 = [FLOAT, FLOAT], FLOATS, [], "a >= b";
            Fge32 "fge32" "compare-float": BOOL32 = [FLOAT, FLOAT], FLOATS, [], "a >= b";
            Fltu "fltu" "compare-float": BOOL1 = [FLOAT, FLOAT], FLOATS, [], "isnan(a) or isnan(b) or a < b";
            Fltu8 "fltu8" "compare-float": BOOL8 = [FLOAT, FLOAT], FLOATS, [], "isnan(a) or isnan(b) or a < b";
            Fltu16 "fltu16" "compare-float": BOOL16 = [FLOAT, FLOAT], FLOATS, [], "isnan(a) or isnan(b) or a < b";
            Fltu32 "fltu32" "compare-float": BOOL32 = [FLOAT, FLOAT], FLOATS, [], "isnan(a) or isnan(b) or a < b";
            Fgeu "fgeu" "compare-float": BOOL1 = [FLOAT, FLOAT], FLOATS, [], "isnan(a) or isnan(b) or a >= b";
            Fgeu8 "fgeu8" "compare-float": BOOL8 = [FLOAT, FLOAT], FLOATS, [], "isnan(a) or isnan(b) or a >= b";
            Fgeu16 "fgeu16" "compare-float": BOOL16 = [FLOAT, FLOAT], FLOATS, [], "isnan(a) or isnan(b) or a >= b";
            Fgeu32 "fgeu32" "compare-float": BOOL32 = [FLOAT, FLOAT], FLOATS, [], "isnan(a) or isnan(b) or a >= b";
            Feq "feq" "compare-float": BOOL1 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "a == b";
            Feq8 "feq8" "compare-float": BOOL8 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "a == b";
            Feq16 "feq16" "compare-float": BOOL16 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "a == b";
            Feq32 "feq32" "compare-float": BOOL32 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "a == b";
            Fneu "fneu" "compare-float": BOOL1 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "a != b";
            Fneu8 "fneu8" "compare-float": BOOL8 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "a != b";
            Fneu16 "fneu16" "compare-float": BOOL16 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "a != b";
            Fneu32 "fneu32" "compare-float": BOOL32 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "a != b";
            Fequ "fequ" "compare-float": BOOL1 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "isnan(a) or isnan(b) or a == b";
            Fequ8 "fequ8" "compare-float": BOOL8 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "isnan(a) or isnan(b) or a == b";
            Fequ16 "fequ16" "compare-float": BOOL16 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "isnan(a) or isnan(b) or a == b";
            Fequ32 "fequ32" "compare-float": BOOL32 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "isnan(a) or isnan(b) or a == b";
            Fneo "fneo" "compare-float": BOOL1 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "not isnan(a) and not isnan(b) and a != b";
            Fneo8 "fneo8" "compare-float": BOOL8 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "not isnan(a) and not isnan(b) and a != b";
            Fneo16 "fneo16" "compare-float": BOOL16 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "not isnan(a) and not isnan(b) and a != b";
            Fneo32 "fneo32" "compare-float": BOOL32 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "not isnan(a) and not isnan(b) and a != b";
            Funord "funord" "compare-float": BOOL1 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "isnan(a) or isnan(b)";
            Funord8 "funord8" "compare-float": BOOL8 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "isnan(a) or isnan(b)";
            Funord16 "funord16" "compare-float": BOOL16 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "isnan(a) or isnan(b)";
            Funord32 "funord32" "compare-float": BOOL32 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "isnan(a) or isnan(b)";
            Ford "ford" "compare-float": BOOL1 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "not isnan(a) and not isnan(b)";
            Ford8 "ford8" "compare-float": BOOL8 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "not isnan(a) and not isnan(b)";
            Ford16 "ford16" "compare-float": BOOL16 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "not isnan(a) and not isnan(b)";
            Ford32 "ford32" "compare-float": BOOL32 = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "not isnan(a) and not isnan(b)";

            // compare-int
            Ilt "ilt" "compare-int": BOOL1 = [INT, INT], INTS, [], "s(a) < s(b)";
            Ilt8 "ilt8" "compare-int": BOOL8 = [INT, INT], INTS, [], "s(a) < s(b)";
            Ilt16 "ilt16" "compare-int": BOOL16 = [INT, INT], INTS, [], "s(a) < s(b)";
            Ilt32 "ilt32" "compare-int": BOOL32 = [INT, INT], INTS, [], "s(a) < s(b)";
            Ige "ige" "compare-int": BOOL1 = [INT, INT], INTS, [], "s(a) >= s(b)";
            Ige8 "ige8" "compare-int": BOOL8 = [INT, INT], INTS, [], "s(a) >= s(b)";
            Ige16 "ige16" "compare-int": BOOL16 = [INT, INT], INTS, [], "s(a) >= s(b)";
            Ige32 "ige32" "compare-int": BOOL32 = [INT, INT], INTS, [], "s(a) >= s(b)";
            Ieq "ieq" "compare-int": BOOL1 = [INT, INT], INTS, [COMMUTATIVE01], "a == b (bits)";
            Ieq8 "ieq8" "compare-int": BOOL8 = [INT, INT], INTS, [COMMUTATIVE01], "a == b (bits)";
            Ieq16 "ieq16" "compare-int": BOOL16 = [INT, INT], INTS, [COMMUTATIVE01], "a == b (bits)";
            Ieq32 "ieq32" "compare-int": BOOL32 = [INT, INT], INTS, [COMMUTATIVE01], "a == b (bits)";
            Ine "ine" "compare-int": BOOL1 = [INT, INT], INTS, [COMMUTATIVE01], "a != b (bits)";
            Ine8 "ine8" "compare-int": BOOL8 = [INT, INT], INTS, [COMMUTATIVE01], "a != b (bits)";
            Ine16 "ine16" "compare-int": BOOL16 = [INT, INT], INTS, [COMMUTATIVE01], "a != b (bits)";
            Ine32 "ine32" "compare-int": BOOL32 = [INT, INT], INTS, [COMMUTATIVE01], "a != b (bits)";
            Ult "ult" "compare-int": BOOL1 = [UINT, UINT], INTS, [], "u(a) < u(b)";
            Ult8 "ult8" "compare-int": BOOL8 = [UINT, UINT], INTS, [], "u(a) < u(b)";
            Ult16 "ult16" "compare-int": BOOL16 = [UINT, UINT], INTS, [], "u(a) < u(b)";
            Ult32 "ult32" "compare-int": BOOL32 = [UINT, UINT], INTS, [], "u(a) < u(b)";
            Uge "uge" "compare-int": BOOL1 = [UINT, UINT], INTS, [], "u(a) >= u(b)";
            Uge8 "uge8" "compare-int": BOOL8 = [UINT, UINT], INTS, [], "u(a) >= u(b)";
            Uge16 "uge16" "compare-int": BOOL16 = [UINT, UINT], INTS, [], "u(a) >= u(b)";
            Uge32 "uge32" "compare-int": BOOL32 = [UINT, UINT], INTS, [], "u(a) >= u(b)";

            // compare-bit
            Bitnz "bitnz" "compare-bit": BOOL1 = [UINT, UINT32], INTS, [], "bit (b mod N) of a is 1";
            Bitnz8 "bitnz8" "compare-bit": BOOL8 = [UINT, UINT32], INTS, [], "bit (b mod N) of a is 1";
            Bitnz16 "bitnz16" "compare-bit": BOOL16 = [UINT, UINT32], INTS, [], "bit (b mod N) of a is 1";
            Bitnz32 "bitnz32" "compare-bit": BOOL32 = [UINT, UINT32], INTS, [], "bit (b mod N) of a is 1";
            Bitz "bitz" "compare-bit": BOOL1 = [UINT, UINT32], INTS, [], "bit (b mod N) of a is 0";
            Bitz8 "bitz8" "compare-bit": BOOL8 = [UINT, UINT32], INTS, [], "bit (b mod N) of a is 0";
            Bitz16 "bitz16" "compare-bit": BOOL16 = [UINT, UINT32], INTS, [], "bit (b mod N) of a is 0";
            Bitz32 "bitz32" "compare-bit": BOOL32 = [UINT, UINT32], INTS, [], "bit (b mod N) of a is 0";

            // compare-to-float
            Slt "slt" "compare-to-float": FLOAT = [FLOAT, FLOAT], FLOATS, [], "(a < b) ? 1.0 : 0.0";
            Sge "sge" "compare-to-float": FLOAT = [FLOAT, FLOAT], FLOATS, [], "(a >= b) ? 1.0 : 0.0";
            Seq "seq" "compare-to-float": FLOAT = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "(a == b) ? 1.0 : 0.0";
            Sne "sne" "compare-to-float": FLOAT = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "(a != b) ? 1.0 : 0.0";

            // compare-horizontal
            BallFequal2 "ball_fequal2" "compare-horizontal": BOOL1[1] = [FLOAT[2], FLOAT[2]], FLOATS, [COMMUTATIVE01], "AND over i < 2 of (a[i] == b[i]) as floats";
            BanyFnequal2 "bany_fnequal2" "compare-horizontal": BOOL1[1] = [FLOAT[2], FLOAT[2]], FLOATS, [COMMUTATIVE01], "OR over i < 2 of (a[i] != b[i]) as floats";
            BallIequal2 "ball_iequal2" "compare-horizontal": BOOL1[1] = [INT[2], INT[2]], INTS, [COMMUTATIVE01], "AND over i < 2 of (a[i] == b[i]) as bits";
            BanyInequal2 "bany_inequal2" "compare-horizontal": BOOL1[1] = [INT[2], INT[2]], INTS, [COMMUTATIVE01], "OR over i < 2 of (a[i] != b[i]) as bits";
            BallFequal3 "ball_fequal3" "compare-horizontal": BOOL1[1] = [FLOAT[3], FLOAT[3]], FLOATS, [COMMUTATIVE01], "AND over i < 3 of (a[i] == b[i]) as floats";
            BanyFnequal3 "bany_fnequal3" "compare-horizontal": BOOL1[1] = [FLOAT[3], FLOAT[3]], FLOATS, [COMMUTATIVE01], "OR over i < 3 of (a[i] != b[i]) as floats";
            BallIequal3 "ball_iequal3" "compare-horizontal": BOOL1[1] = [INT[3], INT[3]], INTS, [COMMUTATIVE01], "AND over i < 3 of (a[i] == b[i]) as bits";
            BanyInequal3 "bany_inequal3" "compare-horizontal": BOOL1[1] = [INT[3], INT[3]], INTS, [COMMUTATIVE01], "OR over i < 3 of (a[i] != b[i]) as bits";
            BallFequal4 "ball_fequal4" "compare-horizontal": BOOL1[1] = [FLOAT[4], FLOAT[4]], FLOATS, [COMMUTATIVE01], "AND over i < 4 of (a[i] == b[i]) as floats";
            BanyFnequal4 "bany_fnequal4" "compare-horizontal": BOOL1[1] = [FLOAT[4], FLOAT[4]], FLOATS, [COMMUTATIVE01], "OR over i < 4 of (a[i] != b[i]) as floats";
            BallIequal4 "ball_iequal4" "compare-horizontal": BOOL1[1] = [INT[4], INT[4]], INTS, [COMMUTATIVE01], "AND over i < 4 of (a[i] == b[i]) as bits";
            BanyInequal4 "bany_inequal4" "compare-horizontal": BOOL1[1] = [INT[4], INT[4]], INTS, [COMMUTATIVE01], "OR over i < 4 of (a[i] != b[i]) as bits";
            BallFequal5 "ball_fequal5" "compare-horizontal": BOOL1[1] = [FLOAT[5], FLOAT[5]], FLOATS, [COMMUTATIVE01], "AND over i < 5 of (a[i] == b[i]) as floats";
            BanyFnequal5 "bany_fnequal5" "compare-horizontal": BOOL1[1] = [FLOAT[5], FLOAT[5]], FLOATS, [COMMUTATIVE01], "OR over i < 5 of (a[i] != b[i]) as floats";
            BallIequal5 "ball_iequal5" "compare-horizontal": BOOL1[1] = [INT[5], INT[5]], INTS, [COMMUTATIVE01], "AND over i < 5 of (a[i] == b[i]) as bits";
            BanyInequal5 "bany_inequal5" "compare-horizontal": BOOL1[1] = [INT[5], INT[5]], INTS, [COMMUTATIVE01], "OR over i < 5 of (a[i] != b[i]) as bits";
            BallFequal8 "ball_fequal8" "compare-horizontal": BOOL1[1] = [FLOAT[8], FLOAT[8]], FLOATS, [COMMUTATIVE01], "AND over i < 8 of (a[i] == b[i]) as floats";
            BanyFnequal8 "bany_fnequal8" "compare-horizontal": BOOL1[1] = [FLOAT[8], FLOAT[8]], FLOATS, [COMMUTATIVE01], "OR over i < 8 of (a[i] != b[i]) as floats";
            BallIequal8 "ball_iequal8" "compare-horizontal": BOOL1[1] = [INT[8], INT[8]], INTS, [COMMUTATIVE01], "AND over i < 8 of (a[i] == b[i]) as bits";
            BanyInequal8 "bany_inequal8" "compare-horizontal": BOOL1[1] = [INT[8], INT[8]], INTS, [COMMUTATIVE01], "OR over i < 8 of (a[i] != b[i]) as bits";
            BallFequal16 "ball_fequal16" "compare-horizontal": BOOL1[1] = [FLOAT[16], FLOAT[16]], FLOATS, [COMMUTATIVE01], "AND over i < 16 of (a[i] == b[i]) as floats";
            BanyFnequal16 "bany_fnequal16" "compare-horizontal": BOOL1[1] = [FLOAT[16], FLOAT[16]], FLOATS, [COMMUTATIVE01], "OR over i < 16 of (a[i] != b[i]) as floats";
            BallIequal16 "ball_iequal16" "compare-horizontal": BOOL1[1] = [INT[16], INT[16]], INTS, [COMMUTATIVE01], "AND over i < 16 of (a[i] == b[i]) as bits";
            BanyInequal16 "bany_inequal16" "compare-horizontal": BOOL1[1] = [INT[16], INT[16]], INTS, [COMMUTATIVE01], "OR over i < 16 of (a[i] != b[i]) as bits";
            B8allFequal2 "b8all_fequal2" "compare-horizontal": BOOL8[1] = [FLOAT[2], FLOAT[2]], FLOATS, [COMMUTATIVE01], "AND over i < 2 of (a[i] == b[i]) as floats";
            B8anyFnequal2 "b8any_fnequal2" "compare-horizontal": BOOL8[1] = [FLOAT[2], FLOAT[2]], FLOATS, [COMMUTATIVE01], "OR over i < 2 of (a[i] != b[i]) as floats";
            B8allIequal2 "b8all_iequal2" "compare-horizontal": BOOL8[1] = [INT[2], INT[2]], INTS, [COMMUTATIVE01], "AND over i < 2 of (a[i] == b[i]) as bits";
            B8anyInequal2 "b8any_inequal2" "compare-horizontal": BOOL8[1] = [INT[2], INT[2]], INTS, [COMMUTATIVE01], "OR over i < 2 of (a[i] != b[i]) as bits";
            B8allFequal3 "b8all_fequal3" "compare-horizontal": BOOL8[1] = [FLOAT[3], FLOAT[3]], FLOATS, [COMMUTATIVE01], "AND over i < 3 of (a[i] == b[i]) as floats";
            B8anyFnequal3 "b8any_fnequal3" "compare-horizontal": BOOL8[1] = [FLOAT[3], FLOAT[3]], FLOATS, [COMMUTATIVE01], "OR over i < 3 of (a[i] != b[i]) as floats";
            B8allIequal3 "b8all_iequal3" "compare-horizontal": BOOL8[1] = [INT[3], INT[3]], INTS, [COMMUTATIVE01], "AND over i < 3 of (a[i] == b[i]) as bits";
            B8anyInequal3 "b8any_inequal3" "compare-horizontal": BOOL8[1] = [INT[3], INT[3]], INTS, [COMMUTATIVE01], "OR over i < 3 of (a[i] != b[i]) as bits";
            B8allFequal4 "b8all_fequal4" "compare-horizontal": BOOL8[1] = [FLOAT[4], FLOAT[4]], FLOATS, [COMMUTATIVE01], "AND over i < 4 of (a[i] == b[i]) as floats";
            B8anyFnequal4 "b8any_fnequal4" "compare-horizontal": BOOL8[1] = [FLOAT[4], FLOAT[4]], FLOATS, [COMMUTATIVE01], "OR over i < 4 of (a[i] != b[i]) as floats";
            B8allIequal4 "b8all_iequal4" "compare-horizontal": BOOL8[1] = [INT[4], INT[4]], INTS, [COMMUTATIVE01], "AND over i < 4 of (a[i] == b[i]) as bits";
            B8anyInequal4 "b8any_inequal4" "compare-horizontal": BOOL8[1] = [INT[4], INT[4]], INTS, [COMMUTATIVE01], "OR over i < 4 of (a[i] != b[i]) as bits";
            B8allFequal5 "b8all_fequal5" "compare-horizontal": BOOL8[1] = [FLOAT[5], FLOAT[5]], FLOATS, [COMMUTATIVE01], "AND over i < 5 of (a[i] == b[i]) as floats";
            B8anyFnequal5 "b8any_fnequal5" "compare-horizontal": BOOL8[1] = [FLOAT[5], FLOAT[5]], FLOATS, [COMMUTATIVE01], "OR over i < 5 of (a[i] != b[i]) as floats";
            B8allIequal5 "b8all_iequal5" "compare-horizontal": BOOL8[1] = [INT[5], INT[5]], INTS, [COMMUTATIVE01], "AND over i < 5 of (a[i] == b[i]) as bits";
            B8anyInequal5 "b8any_inequal5" "compare-horizontal": BOOL8[1] = [INT[5], INT[5]], INTS, [COMMUTATIVE01], "OR over i < 5 of (a[i] != b[i]) as bits";
            B8allFequal8 "b8all_fequal8" "compare-horizontal": BOOL8[1] = [FLOAT[8], FLOAT[8]], FLOATS, [COMMUTATIVE01], "AND over i < 8 of (a[i] == b[i]) as floats";
            B8anyFnequal8 "b8any_fnequal8" "compare-horizontal": BOOL8[1] = [FLOAT[8], FLOAT[8]], FLOATS, [COMMUTATIVE01], "OR over i < 8 of (a[i] != b[i]) as floats";
            B8allIequal8 "b8all_iequal8" "compare-horizontal": BOOL8[1] = [INT[8], INT[8]], INTS, [COMMUTATIVE01], "AND over i < 8 of (a[i] == b[i]) as bits";
            B8anyInequal8 "b8any_inequal8" "compare-horizontal": BOOL8[1] = [INT[8], INT[8]], INTS, [COMMUTATIVE01], "OR over i < 8 of (a[i] != b[i]) as bits";
            B8allFequal16 "b8all_fequal16" "compare-horizontal": BOOL8[1] = [FLOAT[16], FLOAT[16]], FLOATS, [COMMUTATIVE01], "AND over i < 16 of (a[i] == b[i]) as floats";
            B8anyFnequal16 "b8any_fnequal16" "compare-horizontal": BOOL8[1] = [FLOAT[16], FLOAT[16]], FLOATS, [COMMUTATIVE01], "OR over i < 16 of (a[i] != b[i]) as floats";
            B8allIequal16 "b8all_iequal16" "compare-horizontal": BOOL8[1] = [INT[16], INT[16]], INTS, [COMMUTATIVE01], "AND over i < 16 of (a[i] == b[i]) as bits";
            B8anyInequal16 "b8any_inequal16" "compare-horizontal": BOOL8[1] = [INT[16], INT[16]], INTS, [COMMUTATIVE01], "OR over i < 16 of (a[i] != b[i]) as bits";
            B16allFequal2 "b16all_fequal2" "compare-horizontal": BOOL16[1] = [FLOAT[2], FLOAT[2]], FLOATS, [COMMUTATIVE01], "AND over i < 2 of (a[i] == b[i]) as floats";
            B16anyFnequal2 "b16any_fnequal2" "compare-horizontal": BOOL16[1] = [FLOAT[2], FLOAT[2]], FLOATS, [COMMUTATIVE01], "OR over i < 2 of (a[i] != b[i]) as floats";
            B16allIequal2 "b16all_iequal2" "compare-horizontal": BOOL16[1] = [INT[2], INT[2]], INTS, [COMMUTATIVE01], "AND over i < 2 of (a[i] == b[i]) as bits";
            B16anyInequal2 "b16any_inequal2" "compare-horizontal": BOOL16[1] = [INT[2], INT[2]], INTS, [COMMUTATIVE01], "OR over i < 2 of (a[i] != b[i]) as bits";
            B16allFequal3 "b16all_fequal3" "compare-horizontal": BOOL16[1] = [FLOAT[3], FLOAT[3]], FLOATS, [COMMUTATIVE01], "AND over i < 3 of (a[i] == b[i]) as floats";
            B16anyFnequal3 "b16any_fnequal3" "compare-horizontal": BOOL16[1] = [FLOAT[3], FLOAT[3]], FLOATS, [COMMUTATIVE01], "OR over i < 3 of (a[i] != b[i]) as floats";
            B16allIequal3 "b16all_iequal3" "compare-horizontal": BOOL16[1] = [INT[3], INT[3]], INTS, [COMMUTATIVE01], "AND over i < 3 of (a[i] == b[i]) as bits";
            B16anyInequal3 "b16any_inequal3" "compare-horizontal": BOOL16[1] = [INT[3], INT[3]], INTS, [COMMUTATIVE01], "OR over i < 3 of (a[i] != b[i]) as bits";
            B16allFequal4 "b16all_fequal4" "compare-horizontal": BOOL16[1] = [FLOAT[4], FLOAT[4]], FLOATS, [COMMUTATIVE01], "AND over i < 4 of (a[i] == b[i]) as floats";
            B16anyFnequal4 "b16any_fnequal4" "compare-horizontal": BOOL16[1] = [FLOAT[4], FLOAT[4]], FLOATS, [COMMUTATIVE01], "OR over i < 4 of (a[i] != b[i]) as floats";
            B16allIequal4 "b16all_iequal4" "compare-horizontal": BOOL16[1] = [INT[4], INT[4]], INTS, [COMMUTATIVE01], "AND over i < 4 of (a[i] == b[i]) as bits";
            B16anyInequal4 "b16any_inequal4" "compare-horizontal": BOOL16[1] = [INT[4], INT[4]], INTS, [COMMUTATIVE01], "OR over i < 4 of (a[i] != b[i]) as bits";
            B16allFequal5 "b16all_fequal5" "compare-horizontal": BOOL16[1] = [FLOAT[5], FLOAT[5]], FLOATS, [COMMUTATIVE01], "AND over i < 5 of (a[i] == b[i]) as floats";
            B16anyFnequal5 "b16any_fnequal5" "compare-horizontal": BOOL16[1] = [FLOAT[5], FLOAT[5]], FLOATS, [COMMUTATIVE01], "OR over i < 5 of (a[i] != b[i]) as floats";
            B16allIequal5 "b16all_iequal5" "compare-horizontal": BOOL16[1] = [INT[5], INT[5]], INTS, [COMMUTATIVE01], "AND over i < 5 of (a[i] == b[i]) as bits";
            B16anyInequal5 "b16any_inequal5" "compare-horizontal": BOOL16[1] = [INT[5], INT[5]], INTS, [COMMUTATIVE01], "OR over i < 5 of (a[i] != b[i]) as bits";
            B16allFequal8 "b16all_fequal8" "compare-horizontal": BOOL16[1] = [FLOAT[8], FLOAT[8]], FLOATS, [COMMUTATIVE01], "AND over i < 8 of (a[i] == b[i]) as floats";
            B16anyFnequal8 "b16any_fnequal8" "compare-horizontal": BOOL16[1] = [FLOAT[8], FLOAT[8]], FLOATS, [COMMUTATIVE01], "OR over i < 8 of (a[i] != b[i]) as floats";
            B16allIequal8 "b16all_iequal8" "compare-horizontal": BOOL16[1] = [INT[8], INT[8]], INTS, [COMMUTATIVE01], "AND over i < 8 of (a[i] == b[i]) as bits";
            B16anyInequal8 "b16any_inequal8" "compare-horizontal": BOOL16[1] = [INT[8], INT[8]], INTS, [COMMUTATIVE01], "OR over i < 8 of (a[i] != b[i]) as bits";
            B16allFequal16 "b16all_fequal16" "compare-horizontal": BOOL16[1] = [FLOAT[16], FLOAT[16]], FLOATS, [COMMUTATIVE01], "AND over i < 16 of (a[i] == b[i]) as floats";
            B16anyFnequal16 "b16any_fnequal16" "compare-horizontal": BOOL16[1] = [FLOAT[16], FLOAT[16]], FLOATS, [COMMUTATIVE01], "OR over i < 16 of (a[i] != b[i]) as floats";
            B16allIequal16 "b16all_iequal16" "compare-horizontal": BOOL16[1] = [INT[16], INT[16]], INTS, [COMMUTATIVE01], "AND over i < 16 of (a[i] == b[i]) as bits";
            B16anyInequal16 "b16any_inequal16" "compare-horizontal": BOOL16[1] = [INT[16], INT[16]], INTS, [COMMUTATIVE01], "OR over i < 16 of (a[i] != b[i]) as bits";
            B32allFequal2 "b32all_fequal2" "compare-horizontal": BOOL32[1] = [FLOAT[2], FLOAT[2]], FLOATS, [COMMUTATIVE01], "AND over i < 2 of (a[i] == b[i]) as floats";
            B32anyFnequal2 "b32any_fnequal2" "compare-horizontal": BOOL32[1] = [FLOAT[2], FLOAT[2]], FLOATS, [COMMUTATIVE01], "OR over i < 2 of (a[i] != b[i]) as floats";
            B32allIequal2 "b32all_iequal2" "compare-horizontal": BOOL32[1] = [INT[2], INT[2]], INTS, [COMMUTATIVE01], "AND over i < 2 of (a[i] == b[i]) as bits";
            B32anyInequal2 "b32any_inequal2" "compare-horizontal": BOOL32[1] = [INT[2], INT[2]], INTS, [COMMUTATIVE01], "OR over i < 2 of (a[i] != b[i]) as bits";
            B32allFequal3 "b32all_fequal3" "compare-horizontal": BOOL32[1] = [FLOAT[3], FLOAT[3]], FLOATS, [COMMUTATIVE01], "AND over i < 3 of (a[i] == b[i]) as floats";
            B32anyFnequal3 "b32any_fnequal3" "compare-horizontal": BOOL32[1] = [FLOAT[3], FLOAT[3]], FLOATS, [COMMUTATIVE01], "OR over i < 3 of (a[i] != b[i]) as floats";
            B32allIequal3 "b32all_iequal3" "compare-horizontal": BOOL32[1] = [INT[3], INT[3]], INTS, [COMMUTATIVE01], "AND over i < 3 of (a[i] == b[i]) as bits";
            B32anyInequal3 "b32any_inequal3" "compare-horizontal": BOOL32[1] = [INT[3], INT[3]], INTS, [COMMUTATIVE01], "OR over i < 3 of (a[i] != b[i]) as bits";
            B32allFequal4 "b32all_fequal4" "compare-horizontal": BOOL32[1] = [FLOAT[4], FLOAT[4]], FLOATS, [COMMUTATIVE01], "AND over i < 4 of (a[i] == b[i]) as floats";
            B32anyFnequal4 "b32any_fnequal4" "compare-horizontal": BOOL32[1] = [FLOAT[4], FLOAT[4]], FLOATS, [COMMUTATIVE01], "OR over i < 4 of (a[i] != b[i]) as floats";
            B32allIequal4 "b32all_iequal4" "compare-horizontal": BOOL32[1] = [INT[4], INT[4]], INTS, [COMMUTATIVE01], "AND over i < 4 of (a[i] == b[i]) as bits";
            B32anyInequal4 "b32any_inequal4" "compare-horizontal": BOOL32[1] = [INT[4], INT[4]], INTS, [COMMUTATIVE01], "OR over i < 4 of (a[i] != b[i]) as bits";
            B32allFequal5 "b32all_fequal5" "compare-horizontal": BOOL32[1] = [FLOAT[5], FLOAT[5]], FLOATS, [COMMUTATIVE01], "AND over i < 5 of (a[i] == b[i]) as floats";
            B32anyFnequal5 "b32any_fnequal5" "compare-horizontal": BOOL32[1] = [FLOAT[5], FLOAT[5]], FLOATS, [COMMUTATIVE01], "OR over i < 5 of (a[i] != b[i]) as floats";
            B32allIequal5 "b32all_iequal5" "compare-horizontal": BOOL32[1] = [INT[5], INT[5]], INTS, [COMMUTATIVE01], "AND over i < 5 of (a[i] == b[i]) as bits";
            B32anyInequal5 "b32any_inequal5" "compare-horizontal": BOOL32[1] = [INT[5], INT[5]], INTS, [COMMUTATIVE01], "OR over i < 5 of (a[i] != b[i]) as bits";
            B32allFequal8 "b32all_fequal8" "compare-horizontal": BOOL32[1] = [FLOAT[8], FLOAT[8]], FLOATS, [COMMUTATIVE01], "AND over i < 8 of (a[i] == b[i]) as floats";
            B32anyFnequal8 "b32any_fnequal8" "compare-horizontal": BOOL32[1] = [FLOAT[8], FLOAT[8]], FLOATS, [COMMUTATIVE01], "OR over i < 8 of (a[i] != b[i]) as floats";
            B32allIequal8 "b32all_iequal8" "compare-horizontal": BOOL32[1] = [INT[8], INT[8]], INTS, [COMMUTATIVE01], "AND over i < 8 of (a[i] == b[i]) as bits";
            B32anyInequal8 "b32any_inequal8" "compare-horizontal": BOOL32[1] = [INT[8], INT[8]], INTS, [COMMUTATIVE01], "OR over i < 8 of (a[i] != b[i]) as bits";
            B32allFequal16 "b32all_fequal16" "compare-horizontal": BOOL32[1] = [FLOAT[16], FLOAT[16]], FLOATS, [COMMUTATIVE01], "AND over i < 16 of (a[i] == b[i]) as floats";
            B32anyFnequal16 "b32any_fnequal16" "compare-horizontal": BOOL32[1] = [FLOAT[16], FLOAT[16]], FLOATS, [COMMUTATIVE01], "OR over i < 16 of (a[i] != b[i]) as floats";
            B32allIequal16 "b32all_iequal16" "compare-horizontal": BOOL32[1] = [INT[16], INT[16]], INTS, [COMMUTATIVE01], "AND over i < 16 of (a[i] == b[i]) as bits";
            B32anyInequal16 "b32any_inequal16" "compare-horizontal": BOOL32[1] = [INT[16], INT[16]], INTS, [COMMUTATIVE01], "OR over i < 16 of (a[i] != b[i]) as bits";
            FallEqual2 "fall_equal2" "compare-horizontal": FLOAT32[1] = [FLOAT32[2], FLOAT32[2]], FIXED, [COMMUTATIVE01], "(AND over i < 2 of a[i] == b[i]) ? 1.0 : 0.0";
            FanyNequal2 "fany_nequal2" "compare-horizontal": FLOAT32[1] = [FLOAT32[2], FLOAT32[2]], FIXED, [COMMUTATIVE01], "(OR over i < 2 of a[i] != b[i]) ? 1.0 : 0.0";
            FallEqual3 "fall_equal3" "compare-horizontal": FLOAT32[1] = [FLOAT32[3], FLOAT32[3]], FIXED, [COMMUTATIVE01], "(AND over i < 3 of a[i] == b[i]) ? 1.0 : 0.0";
            FanyNequal3 "fany_nequal3" "compare-horizontal": FLOAT32[1] = [FLOAT32[3], FLOAT32[3]], FIXED, [COMMUTATIVE01], "(OR over i < 3 of a[i] != b[i]) ? 1.0 : 0.0";
            FallEqual4 "fall_equal4" "compare-horizontal": FLOAT32[1] = [FLOAT32[4], FLOAT32[4]], FIXED, [COMMUTATIVE01], "(AND over i < 4 of a[i] == b[i]) ? 1.0 : 0.0";
            FanyNequal4 "fany_nequal4" "compare-horizontal": FLOAT32[1] = [FLOAT32[4], FLOAT32[4]], FIXED, [COMMUTATIVE01], "(OR over i < 4 of a[i] != b[i]) ? 1.0 : 0.0";
            FallEqual5 "fall_equal5" "compare-horizontal": FLOAT32[1] = [FLOAT32[5], FLOAT32[5]], FIXED, [COMMUTATIVE01], "(AND over i < 5 of a[i] == b[i]) ? 1.0 : 0.0";
            FanyNequal5 "fany_nequal5" "compare-horizontal": FLOAT32[1] = [FLOAT32[5], FLOAT32[5]], FIXED, [COMMUTATIVE01], "(OR over i < 5 of a[i] != b[i]) ? 1.0 : 0.0";
            FallEqual8 "fall_equal8" "compare-horizontal": FLOAT32[1] = [FLOAT32[8], FLOAT32[8]], FIXED, [COMMUTATIVE01], "(AND over i < 8 of a[i] == b[i]) ? 1.0 : 0.0";
            FanyNequal8 "fany_nequal8" "compare-horizontal": FLOAT32[1] = [FLOAT32[8], FLOAT32[8]], FIXED, [COMMUTATIVE01], "(OR over i < 8 of a[i] != b[i]) ? 1.0 : 0.0";
            FallEqual16 "fall_equal16" "compare-horizontal": FLOAT32[1] = [FLOAT32[16], FLOAT32[16]], FIXED, [COMMUTATIVE01], "(AND over i < 16 of a[i] == b[i]) ? 1.0 : 0.0";
            FanyNequal16 "fany_nequal16" "compare-horizontal": FLOAT32[1] = [FLOAT32[16], FLOAT32[16]], FIXED, [COMMUTATIVE01], "(OR over i < 16 of a[i] != b[i]) ? 1.0 : 0.0";

            // select
            Bcsel "bcsel" "select": UINT = [BOOL1, UINT, UINT], INTS, [SELECTION], "a ? b : c";
            B8csel "b8csel" "select": UINT = [BOOL8, UINT, UINT], INTS, [SELECTION], "a ? b : c";
            B16csel "b16csel" "select": UINT = [BOOL16, UINT, UINT], INTS, [SELECTION], "a ? b : c";
            B32csel "b32csel" "select": UINT = [BOOL32, UINT, UINT], INTS, [SELECTION], "a ? b : c";
            Fcsel "fcsel" "select": FLOAT32 = [FLOAT32, FLOAT32, FLOAT32], FIXED, [SELECTION], "(a != 0.0) ? b : c";
            FcselGt "fcsel_gt" "select": FLOAT32 = [FLOAT32, FLOAT32, FLOAT32], FIXED, [SELECTION], "(a > 0.0) ? b : c";
            FcselGe "fcsel_ge" "select": FLOAT32 = [FLOAT32, FLOAT32, FLOAT32], FIXED, [SELECTION], "(a >= 0.0) ? b : c";
            IcselEqz "icsel_eqz" "select": INT = [INT, INT, INT], INTS, [SELECTION], "(a == 0) ? b : c";
            I32cselGt "i32csel_gt" "select": INT32 = [INT32, INT32, INT32], FIXED, [SELECTION], "(s(a) > 0) ? b : c";
            I32cselGe "i32csel_ge" "select": INT32 = [INT32, INT32, INT32], FIXED, [SELECTION], "(s(a) >= 0) ? b : c";
            B32fcselMdg "b32fcsel_mdg" "select": UINT = [BOOL32, FLOAT, FLOAT], FLOATS, [SELECTION], "a ? b : c";

            // int-unary
            Ineg "ineg" "int-unary": INT = [INT], INTS, [], "(-a) mod 2^N";
            Inot "inot" "int-unary": INT = [INT], INTS, [], "~a";
            Isign "isign" "int-unary": INT = [INT], INTS, [], "a == 0 ? 0 : s(a) > 0 ? 1 : -1";
            Iabs "iabs" "int-unary": INT = [INT], INTS, [], "s(a) < 0 ? -a : a (mod 2^N)";
            UdivAligned4 "udiv_aligned_4" "int-unary": UINT = [UINT], INTS, [], "a >> 2 (logical)";

            // int-binary
            Iadd "iadd" "int-binary": INT = [INT, INT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "(a + b) mod 2^N";
            Isub "isub" "int-binary": INT = [INT, INT], INTS, [], "(a - b) mod 2^N";
            Imul "imul" "int-binary": INT = [INT, INT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "(a * b) mod 2^N";
            Amul "amul" "int-binary": INT = [INT, INT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "(a * b) mod 2^N";
            IaddSat "iadd_sat" "int-binary": INT = [INT, INT], INTS, [COMMUTATIVE01], "clamp(s(a) + s(b), -2^(N-1), 2^(N-1)-1)";
            UaddSat "uadd_sat" "int-binary": UINT = [UINT, UINT], INTS, [COMMUTATIVE01], "min(u(a) + u(b), 2^N - 1)";
            IsubSat "isub_sat" "int-binary": INT = [INT, INT], INTS, [], "clamp(s(a) - s(b), -2^(N-1), 2^(N-1)-1)";
            UsubSat "usub_sat" "int-binary": UINT = [UINT, UINT], INTS, [], "u(a) < u(b) ? 0 : a - b";
            UabsIsub "uabs_isub" "int-binary": UINT = [INT, INT], INTS, [], "|s(a) - s(b)| as unsigned, exact";
            UabsUsub "uabs_usub" "int-binary": UINT = [UINT, UINT], INTS, [], "|u(a) - u(b)|";
            Imul2x3264 "imul_2x32_64" "int-binary": INT64 = [INT32, INT32], FIXED, [COMMUTATIVE01], "s(a) * s(b) full 64-bit product";
            Umul2x3264 "umul_2x32_64" "int-binary": UINT64 = [UINT32, UINT32], FIXED, [COMMUTATIVE01], "u(a) * u(b) full 64-bit product";
            ImulHigh "imul_high" "int-binary": INT = [INT, INT], INTS, [COMMUTATIVE01], "(s(a) * s(b)) >> N, arithmetic, full product";
            UmulHigh "umul_high" "int-binary": UINT = [UINT, UINT], INTS, [COMMUTATIVE01], "(u(a) * u(b)) >> N, full product";
            UmulLow "umul_low" "int-binary": UINT32 = [UINT32, UINT32], FIXED, [COMMUTATIVE01], "(a mod 2^16) * (b mod 2^16)";
            Imul32x16 "imul_32x16" "int-binary": INT32 = [INT32, INT32], FIXED, [], "(a * sext16(b)) mod 2^32";
            Umul32x16 "umul_32x16" "int-binary": UINT32 = [UINT32, UINT32], FIXED, [], "(a * zext16(b)) mod 2^32";
            Imul24 "imul24" "int-binary": INT32 = [INT32, INT32], FIXED, [COMMUTATIVE01 ASSOCIATIVE], "(sext24(a) * sext24(b)) mod 2^32";
            Umul24 "umul24" "int-binary": INT32 = [INT32, INT32], FIXED, [COMMUTATIVE01 ASSOCIATIVE], "(zext24(a) * zext24(b)) mod 2^32";
            Imul24Relaxed "imul24_relaxed" "int-binary": INT32 = [INT32, INT32], FIXED, [COMMUTATIVE01 ASSOCIATIVE], "(a * b) mod 2^32";
            Umul24Relaxed "umul24_relaxed" "int-binary": UINT32 = [UINT32, UINT32], FIXED, [COMMUTATIVE01 ASSOCIATIVE], "(a * b) mod 2^32";
            Idiv "idiv" "int-binary": INT = [INT, INT], INTS, [], "b == 0 ? 0 : trunc(s(a) / s(b))";
            Udiv "udiv" "int-binary": UINT = [UINT, UINT], INTS, [], "b == 0 ? 0 : floor(u(a) / u(b))";
            Irem "irem" "int-binary": INT = [INT, INT], INTS, [], "b == 0 ? 0 : s(a) - s(b) * trunc(s(a)/s(b))";
            Imod "imod" "int-binary": INT = [INT, INT], INTS, [], "b == 0 ? 0 : r = irem(a,b); (r == 0 or signs of a and b agree [>=0 counts as positive]) ? r : r + b";
            Umod "umod" "int-binary": UINT = [UINT, UINT], INTS, [], "b == 0 ? 0 : u(a) mod u(b)";
            UaddCarry "uadd_carry" "int-binary": UINT = [UINT, UINT], INTS, [COMMUTATIVE01], "u(a) + u(b) >= 2^N ? 1 : 0";
            UsubBorrow "usub_borrow" "int-binary": UINT = [UINT, UINT], INTS, [], "u(a) < u(b) ? 1 : 0";
            Ihadd "ihadd" "int-binary": INT = [INT, INT], INTS, [COMMUTATIVE01], "floor((s(a) + s(b)) / 2) without overflow = (a & b) + ((a ^ b) >>s 1)";
            Uhadd "uhadd" "int-binary": UINT = [UINT, UINT], INTS, [COMMUTATIVE01], "floor((u(a) + u(b)) / 2) without overflow = (a & b) + ((a ^ b) >>u 1)";
            Irhadd "irhadd" "int-binary": INT = [INT, INT], INTS, [COMMUTATIVE01], "floor((s(a) + s(b) + 1) / 2) without overflow = (a | b) - ((a ^ b) >>s 1)";
            Urhadd "urhadd" "int-binary": UINT = [UINT, UINT], INTS, [COMMUTATIVE01], "floor((u(a) + u(b) + 1) / 2) without overflow = (a | b) - ((a ^ b) >>u 1)";
            Iand "iand" "int-binary": UINT = [UINT, UINT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "a & b";
            Ior "ior" "int-binary": UINT = [UINT, UINT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "a | b";
            Ixor "ixor" "int-binary": UINT = [UINT, UINT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "a ^ b";
            Ishl "ishl" "int-binary": INT = [INT, UINT32], INTS, [], "a << (b mod N)";
            Ishr "ishr" "int-binary": INT = [INT, UINT32], INTS, [], "a >>s (b mod N)";
            Ushr "ushr" "int-binary": UINT = [UINT, UINT32], INTS, [], "a >>u (b mod N)";
            Urol "urol" "int-binary": UINT = [UINT, UINT32], INTS, [], "rotate a left by b mod N";
            Uror "uror" "int-binary": UINT = [UINT, UINT32], INTS, [], "rotate a right by b mod N";
            Imin "imin" "int-binary": INT = [INT, INT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "signed minimum";
            Imax "imax" "int-binary": INT = [INT, INT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "signed maximum";
            Umin "umin" "int-binary": UINT = [UINT, UINT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "unsigned minimum";
            Umax "umax" "int-binary": UINT = [UINT, UINT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "unsigned maximum";
            ExtractU8 "extract_u8" "int-binary": UINT = [UINT, UINT], INTS, [], "zext((a >> (8*b)) mod 2^8)";
            ExtractI8 "extract_i8" "int-binary": INT = [INT, INT], INTS, [], "sext8((a >> (8*b)) mod 2^8)";
            ExtractU16 "extract_u16" "int-binary": UINT = [UINT, UINT], INTS, [], "zext((a >> (16*b)) mod 2^16)";
            ExtractI16 "extract_i16" "int-binary": INT = [INT, INT], INTS, [], "sext16((a >> (16*b)) mod 2^16)";
            InsertU8 "insert_u8" "int-binary": UINT = [UINT, UINT], INTS, [], "(a mod 2^8) << (8*b)";
            InsertU16 "insert_u16" "int-binary": UINT = [UINT, UINT], INTS, [], "(a mod 2^16) << (16*b)";

            // int-ternary
            Iadd3 "iadd3" "int-ternary": INT = [INT, INT, INT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "(a + b + c) mod 2^N";
            Imad "imad" "int-ternary": INT = [INT, INT, INT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "(a * b + c) mod 2^N";
            Umad24 "umad24" "int-ternary": UINT32 = [UINT32, UINT32, UINT32], FIXED, [COMMUTATIVE01], "(zext24(a) * zext24(b) + c) mod 2^32";
            Umad24Relaxed "umad24_relaxed" "int-ternary": UINT32 = [UINT32, UINT32, UINT32], FIXED, [COMMUTATIVE01], "(a * b + c) mod 2^32";
            Msad4x8 "msad_4x8" "int-ternary": UINT32 = [UINT32, UINT32, UINT32], FIXED, [], "c + sum over the 4 bytes i with byte_i(a) != 0 of |byte_i(a) - byte_i(b)|";

            // int-horizontal
            Mqsad4x8 "mqsad_4x8" "int-horizontal": UINT32[4] = [UINT32[1], UINT32[2], UINT32[4]], FIXED, [], "64-bit window w = b.y:b.x; r[i] = msad_4x8(a, low32(w >> (8*i)), c[i]) for i in 0..3";

            // bitfield
            BitfieldSelect "bitfield_select" "bitfield": UINT = [UINT, UINT, UINT], INTS, [], "(a & b) | (~a & c)";
            BitfieldReverse "bitfield_reverse" "bitfield": UINT32 = [UINT32], FIXED, [], "bit i of result = bit (31-i) of a";
            BitCount "bit_count" "bitfield": UINT32 = [UINT], INTS, [], "number of one bits in the N-bit a";
            UfindMsb "ufind_msb" "bitfield": INT32 = [UINT], INTS, [], "index of highest one bit; a = 0 -> -1";
            UfindMsbRev "ufind_msb_rev" "bitfield": INT32 = [UINT], INTS, [], "number of zero bits above the highest one bit; a = 0 -> -1";
            Uclz "uclz" "bitfield": UINT32 = [UINT32], FIXED, [], "number of leading zero bits of a; a = 0 -> 32";
            IfindMsb "ifind_msb" "bitfield": INT32 = [INT32], FIXED, [], "a >= 0: index of highest one bit; a < 0: index of highest zero bit; a in {0, -1} -> -1";
            IfindMsbRev "ifind_msb_rev" "bitfield": INT32 = [INT32], FIXED, [], "31 - ifind_msb(a) when that is not -1, else -1";
            FindLsb "find_lsb" "bitfield": INT32 = [INT], INTS, [], "index of lowest one bit; a = 0 -> -1";
            Shfr "shfr" "bitfield": UINT32 = [UINT32, UINT32, UINT32], FIXED, [], "low 32 bits of ((a:b as 64 bit, a high) >> (c mod 32))";
            Bfm "bfm" "bitfield": UINT32 = [INT32, INT32], FIXED, [], "((1 << (a mod 32)) - 1) << (b mod 32)";
            Bfi "bfi" "bitfield": UINT32 = [UINT32, UINT32, UINT32], FIXED, [], "a == 0 ? c : (c & ~a) | ((b << ctz(a)) & a)";
            Ubfe "ubfe" "bitfield": UINT32 = [UINT32, UINT32, UINT32], FIXED, [], "offset o = b mod 32, width w = c mod 32: w == 0 -> 0; o + w < 32 -> zext of bits [o, o+w) of a; otherwise -> a >>u o";
            Ibfe "ibfe" "bitfield": INT32 = [INT32, UINT32, UINT32], FIXED, [], "offset o = b mod 32, width w = c mod 32: w == 0 -> 0; o + w < 32 -> sign extension of bits [o, o+w) of a; otherwise -> a >>s o";
            UbitfieldExtract "ubitfield_extract" "bitfield": UINT32 = [UINT32, INT32, INT32], FIXED, [], "offset o = s(b), width w = s(c): w == 0 -> 0; w < 0 or o < 0 or o + w > 32 -> 0 (undefined in GLSL); otherwise zero extension of bits [o, o+w) of a";
            IbitfieldExtract "ibitfield_extract" "bitfield": INT32 = [INT32, INT32, INT32], FIXED, [], "offset o = s(b), width w = s(c): w == 0 -> 0; w < 0 or o < 0 or o + w > 32 -> 0 (undefined in GLSL); otherwise sign extension of bits [o, o+w) of a";
            BitfieldInsert "bitfield_insert" "bitfield": UINT32 = [UINT32, UINT32, INT32, INT32], FIXED, [], "base a, insert b, o = s(c), w = s(d): w == 0 -> a; o < 0 or w < 0 or o + w > 32 -> 0 (undefined in GLSL); m = ((2^w)-1) << o; (a & ~m) | ((b << o) & m)";

            // packed-dot
            Sdot4x8Iadd "sdot_4x8_iadd" "packed-dot": INT32 = [UINT32, UINT32, INT32], FIXED, [COMMUTATIVE01], "sum of s8(a_i)*s8(b_i) over 4 bytes + c (mod 2^32)";
            Sdot4x8IaddSat "sdot_4x8_iadd_sat" "packed-dot": INT32 = [UINT32, UINT32, INT32], FIXED, [COMMUTATIVE01], "clamp of the exact value of (sum of s8(a_i)*s8(b_i) over 4 bytes + c) to [-2^31, 2^31-1]";
            Udot4x8Uadd "udot_4x8_uadd" "packed-dot": UINT32 = [UINT32, UINT32, UINT32], FIXED, [COMMUTATIVE01], "sum of u8(a_i)*u8(b_i) over 4 bytes + c (mod 2^32)";
            Udot4x8UaddSat "udot_4x8_uadd_sat" "packed-dot": INT32 = [UINT32, UINT32, INT32], FIXED, [COMMUTATIVE01], "clamp of the exact value of (sum of u8(a_i)*u8(b_i) over 4 bytes + c) to [0, 2^32-1]";
            Sudot4x8Iadd "sudot_4x8_iadd" "packed-dot": INT32 = [UINT32, UINT32, INT32], FIXED, [], "sum of s8(a_i)*u8(b_i) over 4 bytes + c (mod 2^32)";
            Sudot4x8IaddSat "sudot_4x8_iadd_sat" "packed-dot": INT32 = [UINT32, UINT32, INT32], FIXED, [], "clamp of the exact value of (sum of s8(a_i)*u8(b_i) over 4 bytes + c) to [-2^31, 2^31-1]";
            Sdot2x16Iadd "sdot_2x16_iadd" "packed-dot": INT32 = [UINT32, UINT32, INT32], FIXED, [COMMUTATIVE01], "sum of s16(a_i)*s16(b_i) over 2 halves + c (mod 2^32)";
            Sdot2x16IaddSat "sdot_2x16_iadd_sat" "packed-dot": INT32 = [UINT32, UINT32, INT32], FIXED, [COMMUTATIVE01], "clamp of the exact value of (sum of s16(a_i)*s16(b_i) over 2 halves + c) to [-2^31, 2^31-1]";
            Udot2x16Uadd "udot_2x16_uadd" "packed-dot": UINT32 = [UINT32, UINT32, UINT32], FIXED, [COMMUTATIVE01], "sum of u16(a_i)*u16(b_i) over 2 halves + c (mod 2^32)";
            Udot2x16UaddSat "udot_2x16_uadd_sat" "packed-dot": INT32 = [UINT32, UINT32, INT32], FIXED, [COMMUTATIVE01], "clamp of the exact value of (sum of u16(a_i)*u16(b_i) over 2 halves + c) to [0, 2^32-1]";

            // convert
            I2f16 "i2f16" "convert": FLOAT16 = [INT], INTS, [NUMERIC_CONVERSION], "s(a) converted to float16";
            U2f16 "u2f16" "convert": FLOAT16 = [UINT], INTS, [NUMERIC_CONVERSION], "u(a) converted to float16";
            B2f16 "b2f16" "convert": FLOAT16 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1.0 : 0.0";
            F2f32 "f2f32" "convert": FLOAT32 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "float a converted to 32 bits";
            I2f32 "i2f32" "convert": FLOAT32 = [INT], INTS, [NUMERIC_CONVERSION], "s(a) converted to float32";
            U2f32 "u2f32" "convert": FLOAT32 = [UINT], INTS, [NUMERIC_CONVERSION], "u(a) converted to float32";
            B2f32 "b2f32" "convert": FLOAT32 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1.0 : 0.0";
            F2f64 "f2f64" "convert": FLOAT64 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "float a converted to 64 bits";
            I2f64 "i2f64" "convert": FLOAT64 = [INT], INTS, [NUMERIC_CONVERSION], "s(a) converted to float64";
            U2f64 "u2f64" "convert": FLOAT64 = [UINT], INTS, [NUMERIC_CONVERSION], "u(a) converted to float64";
            B2f64 "b2f64" "convert": FLOAT64 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1.0 : 0.0";
            F2f16 "f2f16" "convert": FLOAT16 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "float a converted to 16 bits";
            F2f16Rtne "f2f16_rtne" "convert": FLOAT16 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "float a converted to 16 bits, round to nearest even";
            F2f16Rtz "f2f16_rtz" "convert": FLOAT16 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "float a converted to 16 bits, round toward zero";
            F2fmp "f2fmp" "convert": FLOAT16 = [FLOAT32], FIXED, [NUMERIC_CONVERSION], "as f2f16 on a 32-bit input";
            I2imp "i2imp" "convert": INT16 = [INT32], FIXED, [NUMERIC_CONVERSION], "low 16 bits of a";
            F2imp "f2imp" "convert": INT16 = [FLOAT32], FIXED, [NUMERIC_CONVERSION], "as f2i16 on a 32-bit input";
            F2ump "f2ump" "convert": UINT16 = [FLOAT32], FIXED, [NUMERIC_CONVERSION], "as f2u16 on a 32-bit input";
            I2fmp "i2fmp" "convert": FLOAT16 = [INT32], FIXED, [NUMERIC_CONVERSION], "as i2f16 on a 32-bit input";
            U2fmp "u2fmp" "convert": FLOAT16 = [UINT32], FIXED, [NUMERIC_CONVERSION], "as u2f16 on a 32-bit input";
            I2i1 "i2i1" "convert": INT1 = [INT], INTS, [NUMERIC_CONVERSION], "sext or truncate a to 1 bits";
            U2u1 "u2u1" "convert": UINT1 = [UINT], INTS, [NUMERIC_CONVERSION], "zext or truncate a to 1 bits";
            F2i1 "f2i1" "convert": INT1 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 1-bit signed integer";
            F2u1 "f2u1" "convert": UINT1 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 1-bit unsigned integer";
            B2i1 "b2i1" "convert": INT1 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1 : 0 in 1 bits";
            I2i8 "i2i8" "convert": INT8 = [INT], INTS, [NUMERIC_CONVERSION], "sext or truncate a to 8 bits";
            U2u8 "u2u8" "convert": UINT8 = [UINT], INTS, [NUMERIC_CONVERSION], "zext or truncate a to 8 bits";
            F2i8 "f2i8" "convert": INT8 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 8-bit signed integer";
            F2u8 "f2u8" "convert": UINT8 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 8-bit unsigned integer";
            B2i8 "b2i8" "convert": INT8 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1 : 0 in 8 bits";
            I2i16 "i2i16" "convert": INT16 = [INT], INTS, [NUMERIC_CONVERSION], "sext or truncate a to 16 bits";
            U2u16 "u2u16" "convert": UINT16 = [UINT], INTS, [NUMERIC_CONVERSION], "zext or truncate a to 16 bits";
            F2i16 "f2i16" "convert": INT16 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 16-bit signed integer";
            F2u16 "f2u16" "convert": UINT16 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 16-bit unsigned integer";
            B2i16 "b2i16" "convert": INT16 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1 : 0 in 16 bits";
            I2i32 "i2i32" "convert": INT32 = [INT], INTS, [NUMERIC_CONVERSION], "sext or truncate a to 32 bits";
            U2u32 "u2u32" "convert": UINT32 = [UINT], INTS, [NUMERIC_CONVERSION], "zext or truncate a to 32 bits";
            F2i32 "f2i32" "convert": INT32 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 32-bit signed integer";
            F2u32 "f2u32" "convert": UINT32 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 32-bit unsigned integer";
            B2i32 "b2i32" "convert": INT32 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1 : 0 in 32 bits";
            I2i64 "i2i64" "convert": INT64 = [INT], INTS, [NUMERIC_CONVERSION], "sext or truncate a to 64 bits";
            U2u64 "u2u64" "convert": UINT64 = [UINT], INTS, [NUMERIC_CONVERSION], "zext or truncate a to 64 bits";
            F2i64 "f2i64" "convert": INT64 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 64-bit signed integer";
            F2u64 "f2u64" "convert": UINT64 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 64-bit unsigned integer";
            B2i64 "b2i64" "convert": INT64 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1 : 0 in 64 bits";
            B2b1 "b2b1" "convert": BOOL1 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "boolean a re-encoded in 1 bits";
            B2b8 "b2b8" "convert": BOOL8 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "boolean a re-encoded in 8 bits";
            B2b16 "b2b16" "convert": BOOL16 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "boolean a re-encoded in 16 bits";
            B2b32 "b2b32" "convert": BOOL32 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "boolean a re-encoded in 32 bits";

            // pack
            PackSnorm2x16 "pack_snorm_2x16" "pack": UINT32[1] = [FLOAT[2]], FLOATS, [], "sum over i of (s16(round_even(clamp(a[i],-1,1)*32767.0)) mod 2^16) << 16i";
            PackSnorm4x8 "pack_snorm_4x8" "pack": UINT32[1] = [FLOAT32[4]], FIXED, [], "sum over i of (s8(round_even(clamp(a[i],-1,1)*127.0)) mod 2^8) << 8i";
            PackUnorm2x16 "pack_unorm_2x16" "pack": UINT32[1] = [FLOAT[2]], FLOATS, [], "sum over i of u16(round_even(clamp(a[i],0,1)*65535.0)) << 16i";
            PackUnorm4x8 "pack_unorm_4x8" "pack": UINT32[1] = [FLOAT32[4]], FIXED, [], "sum over i of u8(round_even(clamp(a[i],0,1)*255.0)) << 8i";
            PackHalf2x16 "pack_half_2x16" "pack": UINT32[1] = [FLOAT32[2]], FIXED, [], "f16_rne(a.x) | f16_rne(a.y) << 16";
            PackHalf2x16Split "pack_half_2x16_split" "pack": UINT32[1] = [FLOAT32[1], FLOAT32[1]], FIXED, [], "f16_rne(a) | f16_rne(b) << 16";
            PackHalf2x16RtzSplit "pack_half_2x16_rtz_split" "pack": UINT32[1] = [FLOAT32[1], FLOAT32[1]], FIXED, [], "f16_rtz(a) | f16_rtz(b) << 16";
            UnpackSnorm2x16 "unpack_snorm_2x16" "pack": FLOAT32[2] = [UINT32[1]], FIXED, [], "r[i] = clamp(s16(half_i(a)) / 32767.0, -1, 1)";
            UnpackSnorm4x8 "unpack_snorm_4x8" "pack": FLOAT32[4] = [UINT32[1]], FIXED, [], "r[i] = clamp(s8(byte_i(a)) / 127.0, -1, 1)";
            UnpackUnorm2x16 "unpack_unorm_2x16" "pack": FLOAT32[2] = [UINT32[1]], FIXED, [], "r[i] = u16(half_i(a)) / 65535.0";
            UnpackUnorm4x8 "unpack_unorm_4x8" "pack": FLOAT32[4] = [UINT32[1]], FIXED, [], "r[i] = u8(byte_i(a)) / 255.0";
            UnpackHalf2x16 "unpack_half_2x16" "pack": FLOAT32[2] = [UINT32[1]], FIXED, [], "r[i] = f32(f16 half_i(a))";
            UnpackHalf2x16SplitX "unpack_half_2x16_split_x" "pack": FLOAT32 = [UINT32], FIXED, [], "f32(f16 low half of a)";
            UnpackHalf2x16SplitY "unpack_half_2x16_split_y" "pack": FLOAT32 = [UINT32], FIXED, [], "f32(f16 high half of a)";
            PackUint2x16 "pack_uint_2x16" "pack": UINT32[1] = [UINT32[2]], FIXED, [], "min(u(a.x), 65535) | min(u(a.y), 65535) << 16";
            PackSint2x16 "pack_sint_2x16" "pack": INT32[1] = [INT32[2]], FIXED, [], "(clamp(s(a.x),-32768,32767) mod 2^16) | clamp(s(a.y),-32768,32767) << 16";
            PackUvec2ToUint "pack_uvec2_to_uint" "pack": UINT32[1] = [UINT32[2]], FIXED, [], "(a.x mod 2^16) | a.y << 16";
            PackUvec4ToUint "pack_uvec4_to_uint" "pack": UINT32[1] = [UINT32[4]], FIXED, [], "a.x | a.y << 8 | a.z << 16 | a.w << 24";
            Pack324x8 "pack_32_4x8" "pack": UINT32[1] = [UINT8[4]], FIXED, [], "a.x | a.y << 8 | a.z << 16 | a.w << 24";
            Pack324x8Split "pack_32_4x8_split" "pack": UINT32 = [UINT8, UINT8, UINT8, UINT8], FIXED, [], "a | b << 8 | c << 16 | d << 24";
            Pack322x16 "pack_32_2x16" "pack": UINT32[1] = [UINT16[2]], FIXED, [], "a.x | a.y << 16";
            Pack322x16Split "pack_32_2x16_split" "pack": UINT32 = [UINT16, UINT16], FIXED, [], "a | b << 16";
            Pack642x32 "pack_64_2x32" "pack": UINT64[1] = [UINT32[2]], FIXED, [], "a.x | a.y << 32";
            Pack642x32Split "pack_64_2x32_split" "pack": UINT64 = [UINT32, UINT32], FIXED, [], "a | b << 32";
            Pack644x16 "pack_64_4x16" "pack": UINT64[1] = [UINT16[4]], FIXED, [], "a.x | a.y << 16 | a.z << 32 | a.w << 48";
            Unpack642x32 "unpack_64_2x32" "pack": UINT32[2] = [UINT64[1]], FIXED, [], "r = (low 32 bits, high 32 bits)";
            Unpack642x32SplitX "unpack_64_2x32_split_x" "pack": UINT32 = [UINT64], FIXED, [], "low 32 bits of a";
            Unpack642x32SplitY "unpack_64_2x32_split_y" "pack": UINT32 = [UINT64], FIXED, [], "high 32 bits of a";
            Unpack644x16 "unpack_64_4x16" "pack": UINT16[4] = [UINT64[1]], FIXED, [], "r[i] = bits [16i, 16i+16) of a";
            Unpack322x16 "unpack_32_2x16" "pack": UINT16[2] = [UINT32[1]], FIXED, [], "r = (low 16 bits, high 16 bits)";
            Unpack322x16SplitX "unpack_32_2x16_split_x" "pack": UINT16 = [UINT32], FIXED, [], "low 16 bits of a";
            Unpack322x16SplitY "unpack_32_2x16_split_y" "pack": UINT16 = [UINT32], FIXED, [], "high 16 bits of a";
            Unpack324x8 "unpack_32_4x8" "pack": UINT8[4] = [UINT32[1]], FIXED, [], "r[i] = byte i of a";

            // vendor
            CubeAmd "cube_amd" "vendor": FLOAT32[4] = [FLOAT32[3]], FIXED, [], "m = axis of largest |component| (later axis wins ties in order x,y,z); r.z = 2*m; face 0..5 = +x,-x,+y,-y,+z,-z in r.w; (r.x, r.y) = +x: (-y,-z), -x: (-y,+z), +y: (+z,+x), -y: (-z,+x), +z: (-y,+x), -z: (-y,-x)";
        }
    };
}

pub(crate) use alu_opcodes;
