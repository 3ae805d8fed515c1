//! The table of ALU opcodes.
//!
//! [`alu_opcodes!`] passes the whole table to the macro named by its argument, as a list of groups with their rows.
//! `mod.rs` generates the enum, the names and the properties from it, `evaluate.rs` the constant evaluator. A row reads
//!
//! ```text
//! Variant "name": OUTPUT = [INPUT, ...], bit sizes, [properties], "formula" => evaluation;
//! ```
//!
//! * A type is a base type with a size (`FLOAT32`), or without one (`FLOAT`) if the instruction determines the size.
//!   `[k]` after it makes it a vector of exactly k components; without it, the operand is per component.
//! * Bit sizes: the possible sizes of an unsized type (`FLOATS` 16, 32, 64; `INTS` 1, 8, 16, 32, 64; `BOOLS` 1, 8, 16,
//!   32), or `FIXED` if every type has a size.
//! * The formula documents the result, in the notation of `ir/manual/alu.md`.
//! * `evaluate.rs` describes the evaluation.
//!
//! Sections other than `rows` have one entry for several opcodes, which the rules after the table expand to rows:
//! `booleans` for the four widths of a boolean result, `boolean_vectors`, `float_vectors` and `dots` for each number of
//! components.

/// Calls the macro `$callback` with the table of all ALU opcodes.
macro_rules! alu_opcodes {
    ($callback:ident) => { alu_opcodes! { @expand $callback []
        rows "move" {
            Mov "mov": UINT = [UINT], INTS, [], "a" => each |a| a;
            Vec2 "vec2": UINT[2] = [UINT[1], UINT[1]], INTS, [], "r[i] = input_i (i = 0..1)" => gather;
            Vec3 "vec3": UINT[3] = [UINT[1], UINT[1], UINT[1]], INTS, [], "r[i] = input_i (i = 0..2)" => gather;
            Vec4 "vec4": UINT[4] = [UINT[1], UINT[1], UINT[1], UINT[1]], INTS, [], "r[i] = input_i (i = 0..3)"
                => gather;
            Vec5 "vec5": UINT[5] = [UINT[1], UINT[1], UINT[1], UINT[1], UINT[1]], INTS, [], "r[i] = input_i (i = 0..4)"
                => gather;
            Vec8 "vec8": UINT[8] = [
                UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1]
            ], INTS, [], "r[i] = input_i (i = 0..7)" => gather;
            Vec16 "vec16": UINT[16] = [
                UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1],
                UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1], UINT[1]
            ], INTS, [], "r[i] = input_i (i = 0..15)" => gather;
        }
        rows "float-unary" {
            Fneg "fneg": FLOAT = [FLOAT], FLOATS, [], "flip sign bit of a" => each_real |a| -a;
            Fabs "fabs": FLOAT = [FLOAT], FLOATS, [], "clear sign bit of a" => each_real |a| a.abs();
            Fsat "fsat": FLOAT = [FLOAT], FLOATS, [], "min_num(max_num(a, 0.0), 1.0)"
                => each_real |a| a.max_number(0.0).min_number(1.0);
            FsatSigned "fsat_signed": FLOAT = [FLOAT], FLOATS, [], "min_num(max_num(a, -1.0), 1.0)"
                => each_real |a| a.max_number(-1.0).min_number(1.0);
            FclampPos "fclamp_pos": FLOAT = [FLOAT], FLOATS, [], "max_num(a, 0.0)" => each_real |a| a.max_number(0.0);
            Fsign "fsign": FLOAT = [FLOAT], FLOATS, [], "isnan(a) ? +0.0 : a == 0 ? a : a > 0 ? 1.0 : -1.0"
                => each_real |a| a.sign();
            Frcp "frcp": FLOAT = [FLOAT], FLOATS, [], "1.0 / a" => each_real |a| 1.0 / a;
            Frsq "frsq": FLOAT = [FLOAT], FLOATS, [], "1.0 / sqrt(a)" => each_real |a| 1.0 / a.sqrt();
            Fsqrt "fsqrt": FLOAT = [FLOAT], FLOATS, [], "sqrt(a)" => each_real |a| a.sqrt();
            Fexp2 "fexp2": FLOAT = [FLOAT], FLOATS, [], "2 ^ a" => each_real |a| a.to_single(false).exp2().into();
            Flog2 "flog2": FLOAT = [FLOAT], FLOATS, [], "log2(a)" => each_real |a| a.to_single(false).log2().into();
            Fsin "fsin": FLOAT = [FLOAT], FLOATS, [], "sin(a) (radians)" => each_real |a| a.sin();
            Fcos "fcos": FLOAT = [FLOAT], FLOATS, [], "cos(a) (radians)" => each_real |a| a.cos();
            FsinAmd "fsin_amd": FLOAT = [FLOAT], FLOATS, [], "sin(2*pi*a), constant 6.2831853"
                => each_real |a| a.scaled(TURN).sin().into();
            FcosAmd "fcos_amd": FLOAT = [FLOAT], FLOATS, [], "cos(2*pi*a), constant 6.2831853"
                => each_real |a| a.scaled(TURN).cos().into();
            FsinMdg "fsin_mdg": FLOAT = [FLOAT], FLOATS, [], "sin(pi*a)" => each_real |a| a.scaled(PI).sin().into();
            FcosMdg "fcos_mdg": FLOAT = [FLOAT], FLOATS, [], "cos(pi*a)" => each_real |a| a.scaled(PI).cos().into();
            Ftrunc "ftrunc": FLOAT = [FLOAT], FLOATS, [], "round a toward zero to an integral value"
                => each_real |a| a.trunc();
            Fceil "fceil": FLOAT = [FLOAT], FLOATS, [], "round a toward +inf to an integral value"
                => each_real |a| a.ceil();
            Ffloor "ffloor": FLOAT = [FLOAT], FLOATS, [], "round a toward -inf to an integral value"
                => each_real |a| a.floor();
            Ffract "ffract": FLOAT = [FLOAT], FLOATS, [], "a - floor(a)" => each_real |a| a - a.floor();
            FroundEven "fround_even": FLOAT = [FLOAT], FLOATS, [], "round a to nearest integral value; ties to even"
                => each_real |a| a.round_ties_even();
            Fquantize2f16 "fquantize2f16": FLOAT = [FLOAT], FLOATS, [],
                "|a| < 2^-14 ? copysign(0, a) : f32_from_f16(f16_rne(a))" => each_real |a| a.quantize_to_half();
            FrexpExp "frexp_exp": INT32 = [FLOAT], FLOATS, [],
                "integer e with a = m * 2^e and |m| in [0.5, 1); a == 0 -> 0" => each_real |a| a.frexp().1;
            FrexpSig "frexp_sig": FLOAT = [FLOAT], FLOATS, [], "m with a = m * 2^e and |m| in [0.5, 1); a == 0 -> a"
                => each_real |a| a.frexp().0;
        }
        rows "float-binary" {
            Fadd "fadd": FLOAT = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01 ASSOCIATIVE], "rnd(a + b)"
                => each_real |a, b; m| a.rounded_add(b, m.rtz);
            Fsub "fsub": FLOAT = [FLOAT, FLOAT], FLOATS, [], "rnd(a - b)"
                => each_real |a, b; m| a.rounded_add(-b, m.rtz);
            Fmul "fmul": FLOAT = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01 ASSOCIATIVE], "rnd(a * b)"
                => each_real |a, b; m| a.rounded_mul(b, m.rtz);
            Fmulz "fmulz": FLOAT32 = [FLOAT32, FLOAT32], FIXED, [COMMUTATIVE01 ASSOCIATIVE],
                "(a == 0 or b == 0) ? +0.0 : rnd(a * b)"
                => each |a, b; m| if a == 0.0 || b == 0.0 { 0.0 } else { a.rounded_mul(b, m.rtz) };
            Fdiv "fdiv": FLOAT = [FLOAT, FLOAT], FLOATS, [], "a / b" => each_real |a, b| a / b;
            Fmod "fmod": FLOAT = [FLOAT, FLOAT], FLOATS, [], "a - b * floor(a / b)"
                => each_real |a, b| a - b * (a / b).floor_single();
            Frem "frem": FLOAT = [FLOAT, FLOAT], FLOATS, [], "a - b * trunc(a / b)"
                => each_real |a, b| a - b * (a / b).trunc_single();
            Fpow "fpow": FLOAT = [FLOAT, FLOAT], FLOATS, [], "a ^ b (C pow)" => each_real |a, b| a.powf(b);
            Fmin "fmin": FLOAT = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01 ASSOCIATIVE], "minimum of a and b"
                => each_real |a, b| a.min_number(b);
            Fmax "fmax": FLOAT = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01 ASSOCIATIVE], "maximum of a and b"
                => each_real |a, b| a.max_number(b);
            Ldexp "ldexp": FLOAT = [FLOAT, INT32], FLOATS, [], "a * 2^b (b is int32)"
                => each_real |a, b| a.ldexp_normal(b);
        }
        rows "float-ternary" {
            Ffma "ffma": FLOAT = [FLOAT, FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "rnd(a * b + c) with a single rounding"
                => each_real |a, b, c; m| a.rounded_fma(b, c, m);
            Ffmaz "ffmaz": FLOAT32 = [FLOAT32, FLOAT32, FLOAT32], FIXED, [COMMUTATIVE01],
                "(a == 0 or b == 0) ? 0.0 + c : rnd(a * b + c) fused"
                => each |a, b, c; m| if a == 0.0 || b == 0.0 { 0.0 + c } else { a.rounded_fma(b, c, m) };
            Flrp "flrp": FLOAT = [FLOAT, FLOAT, FLOAT], FLOATS, [], "a * (1 - c) + b * c"
                => each_real |a, b, c| a * (1.0 - c) + b * c;
        }
        rows "float-horizontal" {
            Fsum2 "fsum2": FLOAT[1] = [FLOAT[2]], FLOATS, [], "a.x + a.y" => whole_real |a| a[0] + a[1];
            Fsum3 "fsum3": FLOAT[1] = [FLOAT[3]], FLOATS, [], "(a.x + a.y) + a.z"
                => whole_real |a| (a[0] + a[1]) + a[2];
            Fsum4 "fsum4": FLOAT[1] = [FLOAT[4]], FLOATS, [], "((a.x + a.y) + a.z) + a.w"
                => whole_real |a| ((a[0] + a[1]) + a[2]) + a[3];
        }
        dots "float-horizontal" {
            2: Fdot2 "fdot2", Fdot2Replicated "fdot2_replicated", "p1 + p0";
            3: Fdot3 "fdot3", Fdot3Replicated "fdot3_replicated", "p2 + p1 + p0";
            4: Fdot4 "fdot4", Fdot4Replicated "fdot4_replicated", "p3 + p2 + p1 + p0";
            5: Fdot5 "fdot5", Fdot5Replicated "fdot5_replicated", "p4 + p3 + p2 + p1 + p0";
            8: Fdot8 "fdot8", Fdot8Replicated "fdot8_replicated", "p7 + ... + p0";
            16: Fdot16 "fdot16", Fdot16Replicated "fdot16_replicated", "p15 + ... + p0";
        }
        rows "float-horizontal" {
            Fdph "fdph": FLOAT[1] = [FLOAT[3], FLOAT[4]], FLOATS, [],
                "a.x*b.x + a.y*b.y + a.z*b.z + b.w (left to right)"
                => whole_real |a, b| a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + b[3];
            FdphReplicated "fdph_replicated": FLOAT = [FLOAT[3], FLOAT[4]], FLOATS, [],
                "fdph(a, b) written to every result component"
                => whole_real |a, b| a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + b[3];
        }
        rows "float-test" {
            Fisnormal "fisnormal": BOOL1 = [FLOAT], FLOATS, [], "a is neither zero nor denormal nor inf nor NaN"
                => each_real |a; m| a.is_normal_in(m.bit_size);
            Fisfinite "fisfinite": BOOL1 = [FLOAT], FLOATS, [], "a is neither inf nor NaN"
                => each_real |a| a.is_finite();
            Fisfinite32 "fisfinite32": BOOL32 = [FLOAT], FLOATS, [], "a is neither inf nor NaN (0 / ~0)"
                => each_real |a| a.is_finite();
        }
        booleans "compare-float" {
            Flt "flt", Flt8 "flt8", Flt16 "flt16", Flt32 "flt32":
                [FLOAT, FLOAT], FLOATS, [], "a < b" => each_real |a, b| a < b;
            Fge "fge", Fge8 "fge8", Fge16 "fge16", Fge32 "fge32":
                [FLOAT, FLOAT], FLOATS, [], "a >= b" => each_real |a, b| a >= b;
            Fltu "fltu", Fltu8 "fltu8", Fltu16 "fltu16", Fltu32 "fltu32":
                [FLOAT, FLOAT], FLOATS, [], "isnan(a) or isnan(b) or a < b"
                    => each_real |a, b| unordered(a, b) || a < b;
            Fgeu "fgeu", Fgeu8 "fgeu8", Fgeu16 "fgeu16", Fgeu32 "fgeu32":
                [FLOAT, FLOAT], FLOATS, [], "isnan(a) or isnan(b) or a >= b"
                    => each_real |a, b| unordered(a, b) || a >= b;
            Feq "feq", Feq8 "feq8", Feq16 "feq16", Feq32 "feq32":
                [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "a == b" => each_real |a, b| a == b;
            Fneu "fneu", Fneu8 "fneu8", Fneu16 "fneu16", Fneu32 "fneu32":
                [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "a != b" => each_real |a, b| a != b;
            Fequ "fequ", Fequ8 "fequ8", Fequ16 "fequ16", Fequ32 "fequ32":
                [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "isnan(a) or isnan(b) or a == b"
                    => each_real |a, b| unordered(a, b) || a == b;
            Fneo "fneo", Fneo8 "fneo8", Fneo16 "fneo16", Fneo32 "fneo32":
                [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "not isnan(a) and not isnan(b) and a != b"
                    => each_real |a, b| !unordered(a, b) && a != b;
            Funord "funord", Funord8 "funord8", Funord16 "funord16", Funord32 "funord32":
                [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "isnan(a) or isnan(b)" => each_real |a, b| unordered(a, b);
            Ford "ford", Ford8 "ford8", Ford16 "ford16", Ford32 "ford32":
                [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "not isnan(a) and not isnan(b)"
                    => each_real |a, b| !unordered(a, b);
        }
        booleans "compare-int" {
            Ilt "ilt", Ilt8 "ilt8", Ilt16 "ilt16", Ilt32 "ilt32":
                [INT, INT], INTS, [], "s(a) < s(b)" => each |a, b| a < b;
            Ige "ige", Ige8 "ige8", Ige16 "ige16", Ige32 "ige32":
                [INT, INT], INTS, [], "s(a) >= s(b)" => each |a, b| a >= b;
            Ieq "ieq", Ieq8 "ieq8", Ieq16 "ieq16", Ieq32 "ieq32":
                [INT, INT], INTS, [COMMUTATIVE01], "a == b (bits)" => each |a, b| a == b;
            Ine "ine", Ine8 "ine8", Ine16 "ine16", Ine32 "ine32":
                [INT, INT], INTS, [COMMUTATIVE01], "a != b (bits)" => each |a, b| a != b;
            Ult "ult", Ult8 "ult8", Ult16 "ult16", Ult32 "ult32":
                [UINT, UINT], INTS, [], "u(a) < u(b)" => each |a, b| a < b;
            Uge "uge", Uge8 "uge8", Uge16 "uge16", Uge32 "uge32":
                [UINT, UINT], INTS, [], "u(a) >= u(b)" => each |a, b| a >= b;
        }
        booleans "compare-bit" {
            Bitnz "bitnz", Bitnz8 "bitnz8", Bitnz16 "bitnz16", Bitnz32 "bitnz32":
                [UINT, UINT32], INTS, [], "bit (b mod N) of a is 1" => each |a, b; m| a >> m.shift(b) & 1 != 0;
            Bitz "bitz", Bitz8 "bitz8", Bitz16 "bitz16", Bitz32 "bitz32":
                [UINT, UINT32], INTS, [], "bit (b mod N) of a is 0" => each |a, b; m| a >> m.shift(b) & 1 == 0;
        }
        rows "compare-to-float" {
            Slt "slt": FLOAT = [FLOAT, FLOAT], FLOATS, [], "(a < b) ? 1.0 : 0.0"
                => each_real |a, b| if a < b { 1.0 } else { 0.0 };
            Sge "sge": FLOAT = [FLOAT, FLOAT], FLOATS, [], "(a >= b) ? 1.0 : 0.0"
                => each_real |a, b| if a >= b { 1.0 } else { 0.0 };
            Seq "seq": FLOAT = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "(a == b) ? 1.0 : 0.0"
                => each_real |a, b| if a == b { 1.0 } else { 0.0 };
            Sne "sne": FLOAT = [FLOAT, FLOAT], FLOATS, [COMMUTATIVE01], "(a != b) ? 1.0 : 0.0"
                => each_real |a, b| if a != b { 1.0 } else { 0.0 };
        }
        boolean_vectors "compare-horizontal" {
            BOOL1 2: BallFequal2 "ball_fequal2", BanyFnequal2 "bany_fnequal2",
                BallIequal2 "ball_iequal2", BanyInequal2 "bany_inequal2";
            BOOL1 3: BallFequal3 "ball_fequal3", BanyFnequal3 "bany_fnequal3",
                BallIequal3 "ball_iequal3", BanyInequal3 "bany_inequal3";
            BOOL1 4: BallFequal4 "ball_fequal4", BanyFnequal4 "bany_fnequal4",
                BallIequal4 "ball_iequal4", BanyInequal4 "bany_inequal4";
            BOOL1 5: BallFequal5 "ball_fequal5", BanyFnequal5 "bany_fnequal5",
                BallIequal5 "ball_iequal5", BanyInequal5 "bany_inequal5";
            BOOL1 8: BallFequal8 "ball_fequal8", BanyFnequal8 "bany_fnequal8",
                BallIequal8 "ball_iequal8", BanyInequal8 "bany_inequal8";
            BOOL1 16: BallFequal16 "ball_fequal16", BanyFnequal16 "bany_fnequal16",
                BallIequal16 "ball_iequal16", BanyInequal16 "bany_inequal16";
            BOOL8 2: B8allFequal2 "b8all_fequal2", B8anyFnequal2 "b8any_fnequal2",
                B8allIequal2 "b8all_iequal2", B8anyInequal2 "b8any_inequal2";
            BOOL8 3: B8allFequal3 "b8all_fequal3", B8anyFnequal3 "b8any_fnequal3",
                B8allIequal3 "b8all_iequal3", B8anyInequal3 "b8any_inequal3";
            BOOL8 4: B8allFequal4 "b8all_fequal4", B8anyFnequal4 "b8any_fnequal4",
                B8allIequal4 "b8all_iequal4", B8anyInequal4 "b8any_inequal4";
            BOOL8 5: B8allFequal5 "b8all_fequal5", B8anyFnequal5 "b8any_fnequal5",
                B8allIequal5 "b8all_iequal5", B8anyInequal5 "b8any_inequal5";
            BOOL8 8: B8allFequal8 "b8all_fequal8", B8anyFnequal8 "b8any_fnequal8",
                B8allIequal8 "b8all_iequal8", B8anyInequal8 "b8any_inequal8";
            BOOL8 16: B8allFequal16 "b8all_fequal16", B8anyFnequal16 "b8any_fnequal16",
                B8allIequal16 "b8all_iequal16", B8anyInequal16 "b8any_inequal16";
            BOOL16 2: B16allFequal2 "b16all_fequal2", B16anyFnequal2 "b16any_fnequal2",
                B16allIequal2 "b16all_iequal2", B16anyInequal2 "b16any_inequal2";
            BOOL16 3: B16allFequal3 "b16all_fequal3", B16anyFnequal3 "b16any_fnequal3",
                B16allIequal3 "b16all_iequal3", B16anyInequal3 "b16any_inequal3";
            BOOL16 4: B16allFequal4 "b16all_fequal4", B16anyFnequal4 "b16any_fnequal4",
                B16allIequal4 "b16all_iequal4", B16anyInequal4 "b16any_inequal4";
            BOOL16 5: B16allFequal5 "b16all_fequal5", B16anyFnequal5 "b16any_fnequal5",
                B16allIequal5 "b16all_iequal5", B16anyInequal5 "b16any_inequal5";
            BOOL16 8: B16allFequal8 "b16all_fequal8", B16anyFnequal8 "b16any_fnequal8",
                B16allIequal8 "b16all_iequal8", B16anyInequal8 "b16any_inequal8";
            BOOL16 16: B16allFequal16 "b16all_fequal16", B16anyFnequal16 "b16any_fnequal16",
                B16allIequal16 "b16all_iequal16", B16anyInequal16 "b16any_inequal16";
            BOOL32 2: B32allFequal2 "b32all_fequal2", B32anyFnequal2 "b32any_fnequal2",
                B32allIequal2 "b32all_iequal2", B32anyInequal2 "b32any_inequal2";
            BOOL32 3: B32allFequal3 "b32all_fequal3", B32anyFnequal3 "b32any_fnequal3",
                B32allIequal3 "b32all_iequal3", B32anyInequal3 "b32any_inequal3";
            BOOL32 4: B32allFequal4 "b32all_fequal4", B32anyFnequal4 "b32any_fnequal4",
                B32allIequal4 "b32all_iequal4", B32anyInequal4 "b32any_inequal4";
            BOOL32 5: B32allFequal5 "b32all_fequal5", B32anyFnequal5 "b32any_fnequal5",
                B32allIequal5 "b32all_iequal5", B32anyInequal5 "b32any_inequal5";
            BOOL32 8: B32allFequal8 "b32all_fequal8", B32anyFnequal8 "b32any_fnequal8",
                B32allIequal8 "b32all_iequal8", B32anyInequal8 "b32any_inequal8";
            BOOL32 16: B32allFequal16 "b32all_fequal16", B32anyFnequal16 "b32any_fnequal16",
                B32allIequal16 "b32all_iequal16", B32anyInequal16 "b32any_inequal16";
        }
        float_vectors "compare-horizontal" {
            2: FallEqual2 "fall_equal2", FanyNequal2 "fany_nequal2";
            3: FallEqual3 "fall_equal3", FanyNequal3 "fany_nequal3";
            4: FallEqual4 "fall_equal4", FanyNequal4 "fany_nequal4";
            5: FallEqual5 "fall_equal5", FanyNequal5 "fany_nequal5";
            8: FallEqual8 "fall_equal8", FanyNequal8 "fany_nequal8";
            16: FallEqual16 "fall_equal16", FanyNequal16 "fany_nequal16";
        }
        rows "select" {
            Bcsel "bcsel": UINT = [BOOL1, UINT, UINT], INTS, [SELECTION], "a ? b : c"
                => each |a, b, c| if a { b } else { c };
            B8csel "b8csel": UINT = [BOOL8, UINT, UINT], INTS, [SELECTION], "a ? b : c"
                => each |a, b, c| if a { b } else { c };
            B16csel "b16csel": UINT = [BOOL16, UINT, UINT], INTS, [SELECTION], "a ? b : c"
                => each |a, b, c| if a { b } else { c };
            B32csel "b32csel": UINT = [BOOL32, UINT, UINT], INTS, [SELECTION], "a ? b : c"
                => each |a, b, c| if a { b } else { c };
            Fcsel "fcsel": FLOAT32 = [FLOAT32, FLOAT32, FLOAT32], FIXED, [SELECTION], "(a != 0.0) ? b : c"
                => each |a, b, c| if a != 0.0 { b } else { c };
            FcselGt "fcsel_gt": FLOAT32 = [FLOAT32, FLOAT32, FLOAT32], FIXED, [SELECTION], "(a > 0.0) ? b : c"
                => each |a, b, c| if a > 0.0 { b } else { c };
            FcselGe "fcsel_ge": FLOAT32 = [FLOAT32, FLOAT32, FLOAT32], FIXED, [SELECTION], "(a >= 0.0) ? b : c"
                => each |a, b, c| if a >= 0.0 { b } else { c };
            IcselEqz "icsel_eqz": INT = [INT, INT, INT], INTS, [SELECTION], "(a == 0) ? b : c"
                => each |a, b, c| if a == 0 { b } else { c };
            I32cselGt "i32csel_gt": INT32 = [INT32, INT32, INT32], FIXED, [SELECTION], "(s(a) > 0) ? b : c"
                => each |a, b, c| if a > 0 { b } else { c };
            I32cselGe "i32csel_ge": INT32 = [INT32, INT32, INT32], FIXED, [SELECTION], "(s(a) >= 0) ? b : c"
                => each |a, b, c| if a >= 0 { b } else { c };
            B32fcselMdg "b32fcsel_mdg": UINT = [BOOL32, FLOAT, FLOAT], FLOATS, [SELECTION], "a ? b : c"
                => each_bits |a, b, c| if a & mask(32) != 0 { b } else { c };
        }
        rows "int-unary" {
            Ineg "ineg": INT = [INT], INTS, [], "(-a) mod 2^N" => each |a| a.wrapping_neg();
            Inot "inot": INT = [INT], INTS, [], "~a" => each |a| !a;
            Isign "isign": INT = [INT], INTS, [], "a == 0 ? 0 : s(a) > 0 ? 1 : -1" => each |a| a.signum();
            Iabs "iabs": INT = [INT], INTS, [], "s(a) < 0 ? -a : a (mod 2^N)" => each |a| a.wrapping_abs();
            UdivAligned4 "udiv_aligned_4": UINT = [UINT], INTS, [], "a >> 2 (logical)" => each |a| a >> 2;
        }
        rows "int-binary" {
            Iadd "iadd": INT = [INT, INT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "(a + b) mod 2^N"
                => each |a, b| a.wrapping_add(b);
            Isub "isub": INT = [INT, INT], INTS, [], "(a - b) mod 2^N" => each |a, b| a.wrapping_sub(b);
            Imul "imul": INT = [INT, INT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "(a * b) mod 2^N"
                => each |a, b| a.wrapping_mul(b);
            Amul "amul": INT = [INT, INT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "(a * b) mod 2^N"
                => each |a, b| a.wrapping_mul(b);
            IaddSat "iadd_sat": INT = [INT, INT], INTS, [COMMUTATIVE01], "clamp(s(a) + s(b), -2^(N-1), 2^(N-1)-1)"
                => each |a, b; m| m.saturate_signed(i128::from(a) + i128::from(b));
            UaddSat "uadd_sat": UINT = [UINT, UINT], INTS, [COMMUTATIVE01], "min(u(a) + u(b), 2^N - 1)"
                => each |a, b; m| a.saturating_add(b).min(mask(m.bit_size));
            IsubSat "isub_sat": INT = [INT, INT], INTS, [], "clamp(s(a) - s(b), -2^(N-1), 2^(N-1)-1)"
                => each |a, b; m| m.saturate_signed(i128::from(a) - i128::from(b));
            UsubSat "usub_sat": UINT = [UINT, UINT], INTS, [], "u(a) < u(b) ? 0 : a - b"
                => each |a, b| a.saturating_sub(b);
            UabsIsub "uabs_isub": UINT = [INT, INT], INTS, [], "|s(a) - s(b)| as unsigned, exact"
                => each |a, b| a.abs_diff(b);
            UabsUsub "uabs_usub": UINT = [UINT, UINT], INTS, [], "|u(a) - u(b)|" => each |a, b| a.abs_diff(b);
            Imul2x3264 "imul_2x32_64": INT64 = [INT32, INT32], FIXED, [COMMUTATIVE01], "s(a) * s(b) full 64-bit product"
                => each |a, b| a.wrapping_mul(b);
            Umul2x3264 "umul_2x32_64": UINT64 = [UINT32, UINT32], FIXED, [COMMUTATIVE01],
                "u(a) * u(b) full 64-bit product" => each |a, b| a.wrapping_mul(b);
            ImulHigh "imul_high": INT = [INT, INT], INTS, [COMMUTATIVE01],
                "(s(a) * s(b)) >> N, arithmetic, full product"
                => each |a, b; m| ((i128::from(a) * i128::from(b)) >> m.bit_size) as i64;
            UmulHigh "umul_high": UINT = [UINT, UINT], INTS, [COMMUTATIVE01], "(u(a) * u(b)) >> N, full product"
                => each |a, b; m| ((u128::from(a) * u128::from(b)) >> m.bit_size) as u64;
            UmulLow "umul_low": UINT32 = [UINT32, UINT32], FIXED, [COMMUTATIVE01], "(a mod 2^16) * (b mod 2^16)"
                => each |a, b| (a & mask(16)) * (b & mask(16));
            Imul32x16 "imul_32x16": INT32 = [INT32, INT32], FIXED, [], "(a * sext16(b)) mod 2^32"
                => each |a, b| a.wrapping_mul(i64::from(b as i16));
            Umul32x16 "umul_32x16": UINT32 = [UINT32, UINT32], FIXED, [], "(a * zext16(b)) mod 2^32"
                => each |a, b| a.wrapping_mul(b & mask(16));
            Imul24 "imul24": INT32 = [INT32, INT32], FIXED, [COMMUTATIVE01 ASSOCIATIVE],
                "(sext24(a) * sext24(b)) mod 2^32" => each |a, b| sign_extend(a as u64, 24) * sign_extend(b as u64, 24);
            Umul24 "umul24": INT32 = [INT32, INT32], FIXED, [COMMUTATIVE01 ASSOCIATIVE],
                "(zext24(a) * zext24(b)) mod 2^32" => each |a, b| (a & 0xff_ffff) * (b & 0xff_ffff);
            Imul24Relaxed "imul24_relaxed": INT32 = [INT32, INT32], FIXED, [COMMUTATIVE01 ASSOCIATIVE],
                "(a * b) mod 2^32" => each |a, b| a.wrapping_mul(b);
            Umul24Relaxed "umul24_relaxed": UINT32 = [UINT32, UINT32], FIXED, [COMMUTATIVE01 ASSOCIATIVE],
                "(a * b) mod 2^32" => each |a, b| a.wrapping_mul(b);
            Idiv "idiv": INT = [INT, INT], INTS, [], "b == 0 ? 0 : trunc(s(a) / s(b))"
                => each |a, b| if b == 0 { 0 } else { a.wrapping_div(b) };
            Udiv "udiv": UINT = [UINT, UINT], INTS, [], "b == 0 ? 0 : floor(u(a) / u(b))"
                => each |a, b| a.checked_div(b).unwrap_or(0);
            Irem "irem": INT = [INT, INT], INTS, [], "b == 0 ? 0 : s(a) - s(b) * trunc(s(a)/s(b))"
                => each |a, b| if b == 0 { 0 } else { a.wrapping_rem(b) };
            Imod "imod": INT = [INT, INT], INTS, [],
                "b == 0 ? 0 : r = irem(a,b); (r == 0 or signs of a and b agree [>=0 counts as positive]) ? r : r + b"
                => each |a, b| modulo(a, b);
            Umod "umod": UINT = [UINT, UINT], INTS, [], "b == 0 ? 0 : u(a) mod u(b)"
                => each |a, b| a.checked_rem(b).unwrap_or(0);
            UaddCarry "uadd_carry": UINT = [UINT, UINT], INTS, [COMMUTATIVE01], "u(a) + u(b) >= 2^N ? 1 : 0"
                => each |a, b; m| u64::from(u128::from(a) + u128::from(b) > u128::from(mask(m.bit_size)));
            UsubBorrow "usub_borrow": UINT = [UINT, UINT], INTS, [], "u(a) < u(b) ? 1 : 0"
                => each |a, b| u64::from(a < b);
            Ihadd "ihadd": INT = [INT, INT], INTS, [COMMUTATIVE01],
                "floor((s(a) + s(b)) / 2) without overflow = (a & b) + ((a ^ b) >>s 1)"
                => each |a, b| (a & b) + ((a ^ b) >> 1);
            Uhadd "uhadd": UINT = [UINT, UINT], INTS, [COMMUTATIVE01],
                "floor((u(a) + u(b)) / 2) without overflow = (a & b) + ((a ^ b) >>u 1)"
                => each |a, b| (a & b) + ((a ^ b) >> 1);
            Irhadd "irhadd": INT = [INT, INT], INTS, [COMMUTATIVE01],
                "floor((s(a) + s(b) + 1) / 2) without overflow = (a | b) - ((a ^ b) >>s 1)"
                => each |a, b| (a | b) - ((a ^ b) >> 1);
            Urhadd "urhadd": UINT = [UINT, UINT], INTS, [COMMUTATIVE01],
                "floor((u(a) + u(b) + 1) / 2) without overflow = (a | b) - ((a ^ b) >>u 1)"
                => each |a, b| (a | b) - ((a ^ b) >> 1);
            Iand "iand": UINT = [UINT, UINT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "a & b" => each |a, b| a & b;
            Ior "ior": UINT = [UINT, UINT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "a | b" => each |a, b| a | b;
            Ixor "ixor": UINT = [UINT, UINT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "a ^ b" => each |a, b| a ^ b;
            Ishl "ishl": INT = [INT, UINT32], INTS, [], "a << (b mod N)" => each |a, b; m| a << m.shift(b);
            Ishr "ishr": INT = [INT, UINT32], INTS, [], "a >>s (b mod N)" => each |a, b; m| a >> m.shift(b);
            Ushr "ushr": UINT = [UINT, UINT32], INTS, [], "a >>u (b mod N)" => each |a, b; m| a >> m.shift(b);
            Urol "urol": UINT = [UINT, UINT32], INTS, [], "rotate a left by b mod N"
                => each |a, b; m| m.rotate_left(a, m.shift(b));
            Uror "uror": UINT = [UINT, UINT32], INTS, [], "rotate a right by b mod N"
                => each |a, b; m| m.rotate_left(a, m.bit_size - m.shift(b));
            Imin "imin": INT = [INT, INT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "signed minimum" => each |a, b| a.min(b);
            Imax "imax": INT = [INT, INT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "signed maximum" => each |a, b| a.max(b);
            Umin "umin": UINT = [UINT, UINT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "unsigned minimum"
                => each |a, b| a.min(b);
            Umax "umax": UINT = [UINT, UINT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "unsigned maximum"
                => each |a, b| a.max(b);
            ExtractU8 "extract_u8": UINT = [UINT, UINT], INTS, [], "zext((a >> (8*b)) mod 2^8)"
                => each |a, b| extract(a, b, 8);
            ExtractI8 "extract_i8": INT = [INT, INT], INTS, [], "sext8((a >> (8*b)) mod 2^8)"
                => each |a, b| extract_signed(a, b as u64, 8);
            ExtractU16 "extract_u16": UINT = [UINT, UINT], INTS, [], "zext((a >> (16*b)) mod 2^16)"
                => each |a, b| extract(a, b, 16);
            ExtractI16 "extract_i16": INT = [INT, INT], INTS, [], "sext16((a >> (16*b)) mod 2^16)"
                => each |a, b| extract_signed(a, b as u64, 16);
            InsertU8 "insert_u8": UINT = [UINT, UINT], INTS, [], "(a mod 2^8) << (8*b)" => each |a, b| insert(a, b, 8);
            InsertU16 "insert_u16": UINT = [UINT, UINT], INTS, [], "(a mod 2^16) << (16*b)"
                => each |a, b| insert(a, b, 16);
        }
        rows "int-ternary" {
            Iadd3 "iadd3": INT = [INT, INT, INT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "(a + b + c) mod 2^N"
                => each |a, b, c| a.wrapping_add(b).wrapping_add(c);
            Imad "imad": INT = [INT, INT, INT], INTS, [COMMUTATIVE01 ASSOCIATIVE], "(a * b + c) mod 2^N"
                => each |a, b, c| a.wrapping_mul(b).wrapping_add(c);
            Umad24 "umad24": UINT32 = [UINT32, UINT32, UINT32], FIXED, [COMMUTATIVE01],
                "(zext24(a) * zext24(b) + c) mod 2^32" => each |a, b, c| (a & 0xff_ffff) * (b & 0xff_ffff) + c;
            Umad24Relaxed "umad24_relaxed": UINT32 = [UINT32, UINT32, UINT32], FIXED, [COMMUTATIVE01],
                "(a * b + c) mod 2^32" => each |a, b, c| a.wrapping_mul(b).wrapping_add(c);
            Msad4x8 "msad_4x8": UINT32 = [UINT32, UINT32, UINT32], FIXED, [],
                "c + sum over the 4 bytes i with byte_i(a) != 0 of |byte_i(a) - byte_i(b)|"
                => each |a, b, c| masked_absolute_differences(a, b, c);
        }
        rows "int-horizontal" {
            Mqsad4x8 "mqsad_4x8": UINT32[4] = [UINT32[1], UINT32[2], UINT32[4]], FIXED, [],
                "64-bit window w = b.y:b.x; r[i] = msad_4x8(a, low32(w >> (8*i)), c[i]) for i in 0..3"
                => vector |a, b, c| quad_masked_absolute_differences(a, b, c);
        }
        rows "bitfield" {
            BitfieldSelect "bitfield_select": UINT = [UINT, UINT, UINT], INTS, [], "(a & b) | (~a & c)"
                => each |a, b, c| (a & b) | (!a & c);
            BitfieldReverse "bitfield_reverse": UINT32 = [UINT32], FIXED, [], "bit i of result = bit (31-i) of a"
                => each |a| u64::from((a as u32).reverse_bits());
            BitCount "bit_count": UINT32 = [UINT], INTS, [], "number of one bits in the N-bit a"
                => each |a| u64::from(a.count_ones());
            UfindMsb "ufind_msb": INT32 = [UINT], INTS, [], "index of highest one bit; a = 0 -> -1"
                => each |a| find_msb(a);
            UfindMsbRev "ufind_msb_rev": INT32 = [UINT], INTS, [],
                "number of zero bits above the highest one bit; a = 0 -> -1"
                => each |a; m| from_top(find_msb(a), m.bit_size);
            Uclz "uclz": UINT32 = [UINT32], FIXED, [], "number of leading zero bits of a; a = 0 -> 32"
                => each |a| u64::from(a.leading_zeros()) - 32;
            IfindMsb "ifind_msb": INT32 = [INT32], FIXED, [],
                "a >= 0: index of highest one bit; a < 0: index of highest zero bit; a in {0, -1} -> -1"
                => each |a| find_msb((a ^ (a >> 63)) as u64);
            IfindMsbRev "ifind_msb_rev": INT32 = [INT32], FIXED, [], "31 - ifind_msb(a) when that is not -1, else -1"
                => each |a| from_top(find_msb((a ^ (a >> 63)) as u64), 32);
            FindLsb "find_lsb": INT32 = [INT], INTS, [], "index of lowest one bit; a = 0 -> -1"
                => each |a| if a == 0 { -1 } else { i64::from(a.trailing_zeros()) };
            Shfr "shfr": UINT32 = [UINT32, UINT32, UINT32], FIXED, [],
                "low 32 bits of ((a:b as 64 bit, a high) >> (c mod 32))" => each |a, b, c| (a << 32 | b) >> (c & 31);
            Bfm "bfm": UINT32 = [INT32, INT32], FIXED, [], "((1 << (a mod 32)) - 1) << (b mod 32)"
                => each |a, b| mask((a & 31) as u32) << (b & 31);
            Bfi "bfi": UINT32 = [UINT32, UINT32, UINT32], FIXED, [], "a == 0 ? c : (c & ~a) | ((b << ctz(a)) & a)"
                => each |a, b, c| if a == 0 { c } else { (c & !a) | ((b << a.trailing_zeros()) & a) };
            Ubfe "ubfe": UINT32 = [UINT32, UINT32, UINT32], FIXED, [],
                "offset o = b mod 32, width w = c mod 32: w == 0 -> 0; o + w < 32 -> zext of bits [o, o+w) of a; \
                 otherwise -> a >>u o"
                => each |a, b, c| (a >> (b & 31)) & mask((c & 31) as u32);
            Ibfe "ibfe": INT32 = [INT32, UINT32, UINT32], FIXED, [],
                "offset o = b mod 32, width w = c mod 32: w == 0 -> 0; o + w < 32 -> sign extension of bits [o, o+w) \
                 of a; otherwise -> a >>s o"
                => each |a, b, c| bitfield_extract_sm5(a, b, c);
            UbitfieldExtract "ubitfield_extract": UINT32 = [UINT32, INT32, INT32], FIXED, [],
                "offset o = s(b), width w = s(c): w == 0 -> 0; w < 0 or o < 0 or o + w > 32 -> 0 (undefined in \
                 GLSL); otherwise zero extension of bits [o, o+w) of a"
                => each |a, b, c| bitfield_extract(a, b, c);
            IbitfieldExtract "ibitfield_extract": INT32 = [INT32, INT32, INT32], FIXED, [],
                "offset o = s(b), width w = s(c): w == 0 -> 0; w < 0 or o < 0 or o + w > 32 -> 0 (undefined in \
                 GLSL); otherwise sign extension of bits [o, o+w) of a"
                => each |a, b, c| sign_extend(bitfield_extract(a as u64, b, c), c.clamp(0, 32) as u32);
            BitfieldInsert "bitfield_insert": UINT32 = [UINT32, UINT32, INT32, INT32], FIXED, [],
                "base a, insert b, o = s(c), w = s(d): w == 0 -> a; o < 0 or w < 0 or o + w > 32 -> 0 (undefined in \
                 GLSL); m = ((2^w)-1) << o; (a & ~m) | ((b << o) & m)"
                => each |a, b, c, d| bitfield_insert(a, b, c, d);
        }
        rows "packed-dot" {
            Sdot4x8Iadd "sdot_4x8_iadd": INT32 = [UINT32, UINT32, INT32], FIXED, [COMMUTATIVE01],
                "sum of s8(a_i)*s8(b_i) over 4 bytes + c (mod 2^32)"
                => each |a, b, c| dot(signed_bytes(a), signed_bytes(b)) + c;
            Sdot4x8IaddSat "sdot_4x8_iadd_sat": INT32 = [UINT32, UINT32, INT32], FIXED, [COMMUTATIVE01],
                "clamp of the exact value of (sum of s8(a_i)*s8(b_i) over 4 bytes + c) to [-2^31, 2^31-1]"
                => each |a, b, c| saturate_i32(dot(signed_bytes(a), signed_bytes(b)) + c);
            Udot4x8Uadd "udot_4x8_uadd": UINT32 = [UINT32, UINT32, UINT32], FIXED, [COMMUTATIVE01],
                "sum of u8(a_i)*u8(b_i) over 4 bytes + c (mod 2^32)" => each |a, b, c| dot(bytes(a), bytes(b)) + c;
            Udot4x8UaddSat "udot_4x8_uadd_sat": INT32 = [UINT32, UINT32, INT32], FIXED, [COMMUTATIVE01],
                "clamp of the exact value of (sum of u8(a_i)*u8(b_i) over 4 bytes + c) to [0, 2^32-1]"
                => each |a, b, c| saturate_u32(dot(bytes(a), bytes(b)), c);
            Sudot4x8Iadd "sudot_4x8_iadd": INT32 = [UINT32, UINT32, INT32], FIXED, [],
                "sum of s8(a_i)*u8(b_i) over 4 bytes + c (mod 2^32)"
                => each |a, b, c| dot(signed_bytes(a), bytes(b).map(|byte| byte as i64)) + c;
            Sudot4x8IaddSat "sudot_4x8_iadd_sat": INT32 = [UINT32, UINT32, INT32], FIXED, [],
                "clamp of the exact value of (sum of s8(a_i)*u8(b_i) over 4 bytes + c) to [-2^31, 2^31-1]"
                => each |a, b, c| saturate_i32(dot(signed_bytes(a), bytes(b).map(|byte| byte as i64)) + c);
            Sdot2x16Iadd "sdot_2x16_iadd": INT32 = [UINT32, UINT32, INT32], FIXED, [COMMUTATIVE01],
                "sum of s16(a_i)*s16(b_i) over 2 halves + c (mod 2^32)"
                => each |a, b, c| dot(signed_halves(a), signed_halves(b)) + c;
            Sdot2x16IaddSat "sdot_2x16_iadd_sat": INT32 = [UINT32, UINT32, INT32], FIXED, [COMMUTATIVE01],
                "clamp of the exact value of (sum of s16(a_i)*s16(b_i) over 2 halves + c) to [-2^31, 2^31-1]"
                => each |a, b, c| saturate_i32(dot(signed_halves(a), signed_halves(b)) + c);
            Udot2x16Uadd "udot_2x16_uadd": UINT32 = [UINT32, UINT32, UINT32], FIXED, [COMMUTATIVE01],
                "sum of u16(a_i)*u16(b_i) over 2 halves + c (mod 2^32)" => each |a, b, c| dot(halves(a), halves(b)) + c;
            Udot2x16UaddSat "udot_2x16_uadd_sat": INT32 = [UINT32, UINT32, INT32], FIXED, [COMMUTATIVE01],
                "clamp of the exact value of (sum of u16(a_i)*u16(b_i) over 2 halves + c) to [0, 2^32-1]"
                => each |a, b, c| saturate_u32(dot(halves(a), halves(b)), c);
        }
        rows "convert" {
            I2f16 "i2f16": FLOAT16 = [INT], INTS, [NUMERIC_CONVERSION], "s(a) converted to float16"
                => each |a| a as f32;
            U2f16 "u2f16": FLOAT16 = [UINT], INTS, [NUMERIC_CONVERSION], "u(a) converted to float16"
                => each |a| a as f32;
            B2f16 "b2f16": FLOAT16 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1.0 : 0.0"
                => each |a| if a { 1.0 } else { 0.0 };
            F2f32 "f2f32": FLOAT32 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "float a converted to 32 bits"
                => each_real |a; m| a.to_single(m.rtz);
            I2f32 "i2f32": FLOAT32 = [INT], INTS, [NUMERIC_CONVERSION], "s(a) converted to float32"
                => each |a| a as f32;
            U2f32 "u2f32": FLOAT32 = [UINT], INTS, [NUMERIC_CONVERSION], "u(a) converted to float32"
                => each |a| a as f32;
            B2f32 "b2f32": FLOAT32 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1.0 : 0.0"
                => each |a| if a { 1.0 } else { 0.0 };
            F2f64 "f2f64": FLOAT64 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "float a converted to 64 bits"
                => each_real |a| f64::from(a);
            I2f64 "i2f64": FLOAT64 = [INT], INTS, [NUMERIC_CONVERSION], "s(a) converted to float64"
                => each |a| a as f64;
            U2f64 "u2f64": FLOAT64 = [UINT], INTS, [NUMERIC_CONVERSION], "u(a) converted to float64"
                => each |a| a as f64;
            B2f64 "b2f64": FLOAT64 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1.0 : 0.0"
                => each |a| if a { 1.0 } else { 0.0 };
            F2f16 "f2f16": FLOAT16 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "float a converted to 16 bits"
                => each_real |a| a.to_single_odd();
            F2f16Rtne "f2f16_rtne": FLOAT16 = [FLOAT], FLOATS, [NUMERIC_CONVERSION],
                "float a converted to 16 bits, round to nearest even"
                => each_real |a| half::to_f32(half::from_f64(a.into(), false));
            F2f16Rtz "f2f16_rtz": FLOAT16 = [FLOAT], FLOATS, [NUMERIC_CONVERSION],
                "float a converted to 16 bits, round toward zero"
                => each_real |a| half::to_f32(half::from_f64(a.into(), true));
            F2fmp "f2fmp": FLOAT16 = [FLOAT32], FIXED, [NUMERIC_CONVERSION], "as f2f16 on a 32-bit input" => each |a| a;
            I2imp "i2imp": INT16 = [INT32], FIXED, [NUMERIC_CONVERSION], "low 16 bits of a" => each |a| a;
            F2imp "f2imp": INT16 = [FLOAT32], FIXED, [NUMERIC_CONVERSION], "as f2i16 on a 32-bit input"
                => each |a| i64::from(a as i16);
            F2ump "f2ump": UINT16 = [FLOAT32], FIXED, [NUMERIC_CONVERSION], "as f2u16 on a 32-bit input"
                => each |a| u64::from(a as u16);
            I2fmp "i2fmp": FLOAT16 = [INT32], FIXED, [NUMERIC_CONVERSION], "as i2f16 on a 32-bit input"
                => each |a| a as f32;
            U2fmp "u2fmp": FLOAT16 = [UINT32], FIXED, [NUMERIC_CONVERSION], "as u2f16 on a 32-bit input"
                => each |a| a as f32;
            I2i1 "i2i1": INT1 = [INT], INTS, [NUMERIC_CONVERSION], "sext or truncate a to 1 bits" => each |a| a;
            U2u1 "u2u1": UINT1 = [UINT], INTS, [NUMERIC_CONVERSION], "zext or truncate a to 1 bits" => each |a| a;
            F2i1 "f2i1": INT1 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 1-bit signed integer"
                => each_real |a| i64::from(a as i32);
            F2u1 "f2u1": UINT1 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 1-bit unsigned integer"
                => each_real |a| u64::from(a as u32);
            B2i1 "b2i1": INT1 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1 : 0 in 1 bits" => each |a| i64::from(a);
            I2i8 "i2i8": INT8 = [INT], INTS, [NUMERIC_CONVERSION], "sext or truncate a to 8 bits" => each |a| a;
            U2u8 "u2u8": UINT8 = [UINT], INTS, [NUMERIC_CONVERSION], "zext or truncate a to 8 bits" => each |a| a;
            F2i8 "f2i8": INT8 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 8-bit signed integer"
                => each_real |a| i64::from(a as i8);
            F2u8 "f2u8": UINT8 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 8-bit unsigned integer"
                => each_real |a| u64::from(a as u8);
            B2i8 "b2i8": INT8 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1 : 0 in 8 bits" => each |a| i64::from(a);
            I2i16 "i2i16": INT16 = [INT], INTS, [NUMERIC_CONVERSION], "sext or truncate a to 16 bits" => each |a| a;
            U2u16 "u2u16": UINT16 = [UINT], INTS, [NUMERIC_CONVERSION], "zext or truncate a to 16 bits" => each |a| a;
            F2i16 "f2i16": INT16 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 16-bit signed integer"
                => each_real |a| i64::from(a as i16);
            F2u16 "f2u16": UINT16 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 16-bit unsigned integer"
                => each_real |a| u64::from(a as u16);
            B2i16 "b2i16": INT16 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1 : 0 in 16 bits" => each |a| i64::from(a);
            I2i32 "i2i32": INT32 = [INT], INTS, [NUMERIC_CONVERSION], "sext or truncate a to 32 bits" => each |a| a;
            U2u32 "u2u32": UINT32 = [UINT], INTS, [NUMERIC_CONVERSION], "zext or truncate a to 32 bits" => each |a| a;
            F2i32 "f2i32": INT32 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 32-bit signed integer"
                => each_real |a| i64::from(a as i32);
            F2u32 "f2u32": UINT32 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 32-bit unsigned integer"
                => each_real |a| u64::from(a as u32);
            B2i32 "b2i32": INT32 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1 : 0 in 32 bits" => each |a| i64::from(a);
            I2i64 "i2i64": INT64 = [INT], INTS, [NUMERIC_CONVERSION], "sext or truncate a to 64 bits" => each |a| a;
            U2u64 "u2u64": UINT64 = [UINT], INTS, [NUMERIC_CONVERSION], "zext or truncate a to 64 bits" => each |a| a;
            F2i64 "f2i64": INT64 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 64-bit signed integer"
                => each_real |a| a as i64;
            F2u64 "f2u64": UINT64 = [FLOAT], FLOATS, [NUMERIC_CONVERSION], "trunc(a) as 64-bit unsigned integer"
                => each_real |a| a as u64;
            B2i64 "b2i64": INT64 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "a ? 1 : 0 in 64 bits" => each |a| i64::from(a);
            B2b1 "b2b1": BOOL1 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "boolean a re-encoded in 1 bits" => each |a| a;
            B2b8 "b2b8": BOOL8 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "boolean a re-encoded in 8 bits" => each |a| a;
            B2b16 "b2b16": BOOL16 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "boolean a re-encoded in 16 bits"
                => each |a| a;
            B2b32 "b2b32": BOOL32 = [BOOL], BOOLS, [NUMERIC_CONVERSION], "boolean a re-encoded in 32 bits"
                => each |a| a;
        }
        rows "pack" {
            PackSnorm2x16 "pack_snorm_2x16": UINT32[1] = [FLOAT[2]], FLOATS, [],
                "sum over i of (s16(round_even(clamp(a[i],-1,1)*32767.0)) mod 2^16) << 16i"
                => whole_real |a|
                    pack(a.map(|x| (x.max_number(-1.0).min_number(1.0) * 32767.0).round_ties_even() as i16 as u64), 16);
            PackSnorm4x8 "pack_snorm_4x8": UINT32[1] = [FLOAT32[4]], FIXED, [],
                "sum over i of (s8(round_even(clamp(a[i],-1,1)*127.0)) mod 2^8) << 8i"
                => whole |a|
                    pack(a.map(|x| (x.max_number(-1.0).min_number(1.0) * 127.0).round_ties_even() as i8 as u64), 8);
            PackUnorm2x16 "pack_unorm_2x16": UINT32[1] = [FLOAT[2]], FLOATS, [],
                "sum over i of u16(round_even(clamp(a[i],0,1)*65535.0)) << 16i"
                => whole_real |a|
                    pack(a.map(|x| (x.max_number(0.0).min_number(1.0) * 65535.0).round_ties_even() as u16 as u64), 16);
            PackUnorm4x8 "pack_unorm_4x8": UINT32[1] = [FLOAT32[4]], FIXED, [],
                "sum over i of u8(round_even(clamp(a[i],0,1)*255.0)) << 8i"
                => whole |a|
                    pack(a.map(|x| (x.max_number(0.0).min_number(1.0) * 255.0).round_ties_even() as u8 as u64), 8);
            PackHalf2x16 "pack_half_2x16": UINT32[1] = [FLOAT32[2]], FIXED, [], "f16_rne(a.x) | f16_rne(a.y) << 16"
                => whole |a| pack(a.map(|x| half::from_f64(x.into(), false).into()), 16);
            PackHalf2x16Split "pack_half_2x16_split": UINT32[1] = [FLOAT32[1], FLOAT32[1]], FIXED, [],
                "f16_rne(a) | f16_rne(b) << 16"
                => whole |a, b| pack([a[0], b[0]].map(|x| half::from_f64(x.into(), false).into()), 16);
            PackHalf2x16RtzSplit "pack_half_2x16_rtz_split": UINT32[1] = [FLOAT32[1], FLOAT32[1]], FIXED, [],
                "f16_rtz(a) | f16_rtz(b) << 16"
                => whole |a, b| pack([a[0], b[0]].map(|x| half::from_f64(x.into(), true).into()), 16);
            UnpackSnorm2x16 "unpack_snorm_2x16": FLOAT32[2] = [UINT32[1]], FIXED, [],
                "r[i] = clamp(s16(half_i(a)) / 32767.0, -1, 1)"
                => vector |a| signed_halves(a[0]).map(|x| (x as f32 / 32767.0).max(-1.0));
            UnpackSnorm4x8 "unpack_snorm_4x8": FLOAT32[4] = [UINT32[1]], FIXED, [],
                "r[i] = clamp(s8(byte_i(a)) / 127.0, -1, 1)"
                => vector |a| signed_bytes(a[0]).map(|x| (x as f32 / 127.0).max(-1.0));
            UnpackUnorm2x16 "unpack_unorm_2x16": FLOAT32[2] = [UINT32[1]], FIXED, [], "r[i] = u16(half_i(a)) / 65535.0"
                => vector |a| halves(a[0]).map(|x| x as f32 / 65535.0);
            UnpackUnorm4x8 "unpack_unorm_4x8": FLOAT32[4] = [UINT32[1]], FIXED, [], "r[i] = u8(byte_i(a)) / 255.0"
                => vector |a| bytes(a[0]).map(|x| x as f32 / 255.0);
            UnpackHalf2x16 "unpack_half_2x16": FLOAT32[2] = [UINT32[1]], FIXED, [], "r[i] = f32(f16 half_i(a))"
                => vector |a; m| halves(a[0]).map(|x| m.widen_half(x));
            UnpackHalf2x16SplitX "unpack_half_2x16_split_x": FLOAT32 = [UINT32], FIXED, [], "f32(f16 low half of a)"
                => each |a; m| m.widen_half(a);
            UnpackHalf2x16SplitY "unpack_half_2x16_split_y": FLOAT32 = [UINT32], FIXED, [], "f32(f16 high half of a)"
                => each |a; m| m.widen_half(a >> 16);
            PackUint2x16 "pack_uint_2x16": UINT32[1] = [UINT32[2]], FIXED, [],
                "min(u(a.x), 65535) | min(u(a.y), 65535) << 16" => whole |a| pack(a.map(|x| x.min(mask(16))), 16);
            PackSint2x16 "pack_sint_2x16": INT32[1] = [INT32[2]], FIXED, [],
                "(clamp(s(a.x),-32768,32767) mod 2^16) | clamp(s(a.y),-32768,32767) << 16"
                => whole |a| pack(a.map(|x| x.clamp(-32768, 32767) as u64), 16) as i64;
            PackUvec2ToUint "pack_uvec2_to_uint": UINT32[1] = [UINT32[2]], FIXED, [], "(a.x mod 2^16) | a.y << 16"
                => whole |a| pack(a, 16);
            PackUvec4ToUint "pack_uvec4_to_uint": UINT32[1] = [UINT32[4]], FIXED, [],
                "a.x | a.y << 8 | a.z << 16 | a.w << 24" => whole |a| a[0] | a[1] << 8 | a[2] << 16 | a[3] << 24;
            Pack324x8 "pack_32_4x8": UINT32[1] = [UINT8[4]], FIXED, [], "a.x | a.y << 8 | a.z << 16 | a.w << 24"
                => whole |a| pack(a, 8);
            Pack324x8Split "pack_32_4x8_split": UINT32 = [UINT8, UINT8, UINT8, UINT8], FIXED, [],
                "a | b << 8 | c << 16 | d << 24" => each |a, b, c, d| pack([a, b, c, d], 8);
            Pack322x16 "pack_32_2x16": UINT32[1] = [UINT16[2]], FIXED, [], "a.x | a.y << 16" => whole |a| pack(a, 16);
            Pack322x16Split "pack_32_2x16_split": UINT32 = [UINT16, UINT16], FIXED, [], "a | b << 16"
                => each |a, b| pack([a, b], 16);
            Pack642x32 "pack_64_2x32": UINT64[1] = [UINT32[2]], FIXED, [], "a.x | a.y << 32" => whole |a| pack(a, 32);
            Pack642x32Split "pack_64_2x32_split": UINT64 = [UINT32, UINT32], FIXED, [], "a | b << 32"
                => each |a, b| pack([a, b], 32);
            Pack644x16 "pack_64_4x16": UINT64[1] = [UINT16[4]], FIXED, [], "a.x | a.y << 16 | a.z << 32 | a.w << 48"
                => whole |a| pack(a, 16);
            Unpack642x32 "unpack_64_2x32": UINT32[2] = [UINT64[1]], FIXED, [], "r = (low 32 bits, high 32 bits)"
                => vector |a| [a[0], a[0] >> 32];
            Unpack642x32SplitX "unpack_64_2x32_split_x": UINT32 = [UINT64], FIXED, [], "low 32 bits of a" => each |a| a;
            Unpack642x32SplitY "unpack_64_2x32_split_y": UINT32 = [UINT64], FIXED, [], "high 32 bits of a"
                => each |a| a >> 32;
            Unpack644x16 "unpack_64_4x16": UINT16[4] = [UINT64[1]], FIXED, [], "r[i] = bits [16i, 16i+16) of a"
                => vector |a| [a[0], a[0] >> 16, a[0] >> 32, a[0] >> 48];
            Unpack322x16 "unpack_32_2x16": UINT16[2] = [UINT32[1]], FIXED, [], "r = (low 16 bits, high 16 bits)"
                => vector |a| [a[0], a[0] >> 16];
            Unpack322x16SplitX "unpack_32_2x16_split_x": UINT16 = [UINT32], FIXED, [], "low 16 bits of a" => each |a| a;
            Unpack322x16SplitY "unpack_32_2x16_split_y": UINT16 = [UINT32], FIXED, [], "high 16 bits of a"
                => each |a| a >> 16;
            Unpack324x8 "unpack_32_4x8": UINT8[4] = [UINT32[1]], FIXED, [], "r[i] = byte i of a"
                => vector |a| bytes(a[0]);
        }
        rows "vendor" {
            CubeAmd "cube_amd": FLOAT32[4] = [FLOAT32[3]], FIXED, [],
                "m = axis of largest |component| (later axis wins ties in order x,y,z); r.z = 2*m; face 0..5 = \
                 +x,-x,+y,-y,+z,-z in r.w; (r.x, r.y) = +x: (-y,-z), -x: (-y,+z), +y: (+z,+x), -y: (-z,+x), +z: \
                 (-y,+x), -z: (-y,-x)"
                => vector |a| cube_coordinates(a);
        }
        // TGSI's compound opcodes, with TGSI's order of operations; each operation rounds. The opcodes with `z`
        // multiply like `fmulz`.
        rows "tgsi" {
            Fmad "fmad": FLOAT32 = [FLOAT32, FLOAT32, FLOAT32], FIXED, [COMMUTATIVE01], "rnd(rnd(a * b) + c)"
                => each |a, b, c; m| m.add(m.multiply(a, b), c);
            Fmadz "fmadz": FLOAT32 = [FLOAT32, FLOAT32, FLOAT32], FIXED, [COMMUTATIVE01], "rnd(fmulz(a, b) + c)"
                => each |a, b, c; m| m.add(m.multiply_or_zero(a, b), c);
            FlrpMad "flrp_mad": FLOAT32 = [FLOAT32, FLOAT32, FLOAT32], FIXED, [], "fmad(a, rnd(b - c), c)"
                => each |a, b, c; m| m.add(m.multiply(a, m.add(b, -c)), c);
            FlrpMadz "flrp_madz": FLOAT32 = [FLOAT32, FLOAT32, FLOAT32], FIXED, [], "fmadz(a, rnd(b - c), c)"
                => each |a, b, c; m| m.add(m.multiply_or_zero(a, m.add(b, -c)), c);
            Fdot2Mad "fdot2_mad": FLOAT32[1] = [FLOAT32[2], FLOAT32[2]], FIXED, [COMMUTATIVE01],
                "sum of p_i = rnd(a[i]*b[i]), i < 2; association p0 + p1, left to right, lowest index first"
                => whole |a, b; m| m.dot(a, b, |a, b| m.multiply(a, b));
            Fdot3Mad "fdot3_mad": FLOAT32[1] = [FLOAT32[3], FLOAT32[3]], FIXED, [COMMUTATIVE01],
                "sum of p_i = rnd(a[i]*b[i]), i < 3; association p0 + p1 + p2, left to right, lowest index first"
                => whole |a, b; m| m.dot(a, b, |a, b| m.multiply(a, b));
            Fdot4Mad "fdot4_mad": FLOAT32[1] = [FLOAT32[4], FLOAT32[4]], FIXED, [COMMUTATIVE01],
                "sum of p_i = rnd(a[i]*b[i]), i < 4; association p0 + p1 + p2 + p3, left to right, lowest index first"
                => whole |a, b; m| m.dot(a, b, |a, b| m.multiply(a, b));
            Fdot2Madz "fdot2_madz": FLOAT32[1] = [FLOAT32[2], FLOAT32[2]], FIXED, [COMMUTATIVE01],
                "sum of p_i = fmulz(a[i], b[i]), i < 2; association p0 + p1, left to right, lowest index first"
                => whole |a, b; m| m.dot(a, b, |a, b| m.multiply_or_zero(a, b));
            Fdot3Madz "fdot3_madz": FLOAT32[1] = [FLOAT32[3], FLOAT32[3]], FIXED, [COMMUTATIVE01],
                "sum of p_i = fmulz(a[i], b[i]), i < 3; association p0 + p1 + p2, left to right, lowest index first"
                => whole |a, b; m| m.dot(a, b, |a, b| m.multiply_or_zero(a, b));
            Fdot4Madz "fdot4_madz": FLOAT32[1] = [FLOAT32[4], FLOAT32[4]], FIXED, [COMMUTATIVE01],
                "sum of p_i = fmulz(a[i], b[i]), i < 4; association p0 + p1 + p2 + p3, left to right, lowest index \
                 first"
                => whole |a, b; m| m.dot(a, b, |a, b| m.multiply_or_zero(a, b));
            Fdot2MadReplicated "fdot2_mad_replicated": FLOAT32 = [FLOAT32[2], FLOAT32[2]], FIXED, [COMMUTATIVE01],
                "fdot2_mad(a, b) written to every result component"
                => whole |a, b; m| m.dot(a, b, |a, b| m.multiply(a, b));
            Fdot3MadReplicated "fdot3_mad_replicated": FLOAT32 = [FLOAT32[3], FLOAT32[3]], FIXED, [COMMUTATIVE01],
                "fdot3_mad(a, b) written to every result component"
                => whole |a, b; m| m.dot(a, b, |a, b| m.multiply(a, b));
            Fdot4MadReplicated "fdot4_mad_replicated": FLOAT32 = [FLOAT32[4], FLOAT32[4]], FIXED, [COMMUTATIVE01],
                "fdot4_mad(a, b) written to every result component"
                => whole |a, b; m| m.dot(a, b, |a, b| m.multiply(a, b));
            Fdot2MadzReplicated "fdot2_madz_replicated": FLOAT32 = [FLOAT32[2], FLOAT32[2]], FIXED, [COMMUTATIVE01],
                "fdot2_madz(a, b) written to every result component"
                => whole |a, b; m| m.dot(a, b, |a, b| m.multiply_or_zero(a, b));
            Fdot3MadzReplicated "fdot3_madz_replicated": FLOAT32 = [FLOAT32[3], FLOAT32[3]], FIXED, [COMMUTATIVE01],
                "fdot3_madz(a, b) written to every result component"
                => whole |a, b; m| m.dot(a, b, |a, b| m.multiply_or_zero(a, b));
            Fdot4MadzReplicated "fdot4_madz_replicated": FLOAT32 = [FLOAT32[4], FLOAT32[4]], FIXED, [COMMUTATIVE01],
                "fdot4_madz(a, b) written to every result component"
                => whole |a, b; m| m.dot(a, b, |a, b| m.multiply_or_zero(a, b));
        }
    } };

    (@expand $callback:ident [$($done:tt)*] rows $group:literal { $($rows:tt)* } $($rest:tt)*) => {
        alu_opcodes! { @expand $callback [$($done)* $group { $($rows)* }] $($rest)* }
    };
    (@expand $callback:ident [$($done:tt)*] booleans $group:literal { $(
        $v1:ident $n1:literal, $v8:ident $n8:literal, $v16:ident $n16:literal, $v32:ident $n32:literal:
            $inputs:tt, $sizes:ident, $properties:tt, $formula:literal
            => $kind:ident |$($argument:ident),* $(; $access:ident)?| $value:expr;
    )* } $($rest:tt)*) => {
        alu_opcodes! { @expand $callback [$($done)* $group { $(
            $v1 $n1: BOOL1 = $inputs, $sizes, $properties, $formula => $kind |$($argument),* $(; $access)?| $value;
            $v8 $n8: BOOL8 = $inputs, $sizes, $properties, $formula => $kind |$($argument),* $(; $access)?| $value;
            $v16 $n16: BOOL16 = $inputs, $sizes, $properties, $formula => $kind |$($argument),* $(; $access)?| $value;
            $v32 $n32: BOOL32 = $inputs, $sizes, $properties, $formula => $kind |$($argument),* $(; $access)?| $value;
        )* }] $($rest)* }
    };
    (@expand $callback:ident [$($done:tt)*] boolean_vectors $group:literal { $(
        $bool:ident $size:literal: $all_f:ident $all_f_name:literal, $any_f:ident $any_f_name:literal,
            $all_i:ident $all_i_name:literal, $any_i:ident $any_i_name:literal;
    )* } $($rest:tt)*) => {
        alu_opcodes! { @expand $callback [$($done)* $group { $(
            $all_f $all_f_name: $bool[1] = [FLOAT[$size], FLOAT[$size]], FLOATS, [COMMUTATIVE01],
                concat!("AND over i < ", $size, " of (a[i] == b[i]) as floats") => whole_real |a, b| a == b;
            $any_f $any_f_name: $bool[1] = [FLOAT[$size], FLOAT[$size]], FLOATS, [COMMUTATIVE01],
                concat!("OR over i < ", $size, " of (a[i] != b[i]) as floats") => whole_real |a, b| a != b;
            $all_i $all_i_name: $bool[1] = [INT[$size], INT[$size]], INTS, [COMMUTATIVE01],
                concat!("AND over i < ", $size, " of (a[i] == b[i]) as bits") => whole |a, b| a == b;
            $any_i $any_i_name: $bool[1] = [INT[$size], INT[$size]], INTS, [COMMUTATIVE01],
                concat!("OR over i < ", $size, " of (a[i] != b[i]) as bits") => whole |a, b| a != b;
        )* }] $($rest)* }
    };
    (@expand $callback:ident [$($done:tt)*] float_vectors $group:literal { $(
        $size:literal: $all:ident $all_name:literal, $any:ident $any_name:literal;
    )* } $($rest:tt)*) => {
        alu_opcodes! { @expand $callback [$($done)* $group { $(
            $all $all_name: FLOAT32[1] = [FLOAT32[$size], FLOAT32[$size]], FIXED, [COMMUTATIVE01],
                concat!("(AND over i < ", $size, " of a[i] == b[i]) ? 1.0 : 0.0")
                => whole |a, b| if a == b { 1.0 } else { 0.0 };
            $any $any_name: FLOAT32[1] = [FLOAT32[$size], FLOAT32[$size]], FIXED, [COMMUTATIVE01],
                concat!("(OR over i < ", $size, " of a[i] != b[i]) ? 1.0 : 0.0")
                => whole |a, b| if a != b { 1.0 } else { 0.0 };
        )* }] $($rest)* }
    };
    (@expand $callback:ident [$($done:tt)*] dots $group:literal { $(
        $size:literal: $dot:ident $name:literal, $replicated:ident $replicated_name:literal, $order:literal;
    )* } $($rest:tt)*) => {
        alu_opcodes! { @expand $callback [$($done)* $group { $(
            $dot $name: FLOAT[1] = [FLOAT[$size], FLOAT[$size]], FLOATS, [COMMUTATIVE01],
                concat!(
                    "sum of p_i = a[i]*b[i], i < ", $size, "; association ", $order,
                    ", left to right, highest index first"
                )
                => whole_real |a, b| dot(a, b);
            $replicated $replicated_name: FLOAT = [FLOAT[$size], FLOAT[$size]], FLOATS, [COMMUTATIVE01],
                concat!($name, "(a, b) written to every result component") => whole_real |a, b| dot(a, b);
        )* }] $($rest)* }
    };
    (@expand $callback:ident [$($done:tt)*]) => { $callback! { $($done)* } };
}

pub(crate) use alu_opcodes;
