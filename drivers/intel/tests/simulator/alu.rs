//! Results of operations.

use super::{floats, halves, launch, run, simulator, trap, words};

use pretty_assertions::assert_eq;
use tgsi_driver_intel::isa::{Chip, Condition, Form, MathFunction, Opcode};
use tgsi_driver_intel::simulator::{Launch, Trap};

type Words = [u32; 8];

/// An instruction or a sequence, the contents of g1, g2 and g3, and the result in g10.
type Case = (&'static str, Words, Words, Words, Words);

const INFINITY: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

/// A float operation on g1, g2 and g3.
fn float_cases() -> Vec<Case> {
    let f = floats;
    let none = words(&[0]);
    let align1 = |text, a: &[f32], b: &[f32], result: &[f32]| (text, f(a), f(b), none, f(result));
    vec![
        align1("mov(8) g10<1>F g1<8,8,1>F { align1 1Q };", &[1.5, -0.0], &[0.0], &[1.5, -0.0]),
        align1("mov(8) g10<1>F -g1<8,8,1>F { align1 1Q };", &[1.5, -0.0], &[0.0], &[-1.5, 0.0]),
        align1("mov(8) g10<1>F (abs)g1<8,8,1>F { align1 1Q };", &[1.5, -2.0], &[0.0], &[1.5, 2.0]),
        align1("mov(8) g10<1>F -(abs)g1<8,8,1>F { align1 1Q };", &[1.5, -2.0], &[0.0], &[-1.5, -2.0]),
        align1("mov.sat(8) g10<1>F g1<8,8,1>F { align1 1Q };", &[1.5, -2.0, 0.5, NAN], &[0.0], &[1.0, 0.0, 0.5, 0.0]),
        align1("add(8) g10<1>F g1<8,8,1>F g2<8,8,1>F { align1 1Q };", &[1.5, 1e30], &[2.0, -1e30], &[3.5, 0.0]),
        align1("add.sat(8) g10<1>F g1<8,8,1>F -g2<8,8,1>F { align1 1Q };", &[1.5, 3.0], &[1.0, 4.0], &[0.5, 0.0]),
        align1("add(8) g10<1>F g1<8,8,1>F 0x3e800000F { align1 1Q };", &[1.5, 3.0], &[1.0], &[1.75, 3.25]),
        align1("mul(8) g10<1>F g1<8,8,1>F g2<8,8,1>F { align1 1Q };", &[1.5, -3.0], &[2.0, 3.0], &[3.0, -9.0]),
        align1("frc(8) g10<1>F g1<8,8,1>F { align1 1Q };", &[1.25, -1.25], &[0.0], &[0.25, 0.75]),
        align1("rndu(8) g10<1>F g1<8,8,1>F { align1 1Q };", &[1.25, -1.25], &[0.0], &[2.0, -1.0]),
        align1("rndd(8) g10<1>F g1<8,8,1>F { align1 1Q };", &[1.25, -1.25], &[0.0], &[1.0, -2.0]),
        align1("rnde(8) g10<1>F g1<8,8,1>F { align1 1Q };", &[1.5, 2.5, -0.75], &[0.0], &[2.0, 2.0, -1.0]),
        align1("rndz(8) g10<1>F g1<8,8,1>F { align1 1Q };", &[1.75, -1.75], &[0.0], &[1.0, -1.0]),
        align1(
            "sel.l(8) g10<1>F g1<8,8,1>F g2<8,8,1>F { align1 1Q };",
            &[1.0, NAN, 3.0],
            &[2.0, 5.0, NAN],
            &[1.0, 5.0, 3.0],
        ),
        align1(
            "sel.ge(8) g10<1>F g1<8,8,1>F g2<8,8,1>F { align1 1Q };",
            &[1.0, NAN, 3.0],
            &[2.0, 5.0, NAN],
            &[2.0, 5.0, 3.0],
        ),
        align1(
            "math inv(8) g10<1>F g1<8,8,1>F null<8,8,1>F { align1 1Q };",
            &[4.0, 0.0, -0.0],
            &[0.0],
            &[0.25, INFINITY, -INFINITY],
        ),
        align1("math log(8) g10<1>F g1<8,8,1>F null<8,8,1>F { align1 1Q };", &[8.0, 0.0], &[0.0], &[3.0, -INFINITY]),
        align1("math exp(8) g10<1>F g1<8,8,1>F null<8,8,1>F { align1 1Q };", &[3.0, -1.0], &[0.0], &[8.0, 0.5]),
        align1("math sqrt(8) g10<1>F g1<8,8,1>F null<8,8,1>F { align1 1Q };", &[9.0, 0.25], &[0.0], &[3.0, 0.5]),
        align1("math rsq(8) g10<1>F g1<8,8,1>F null<8,8,1>F { align1 1Q };", &[4.0, 0.25], &[0.0], &[0.5, 2.0]),
        align1("math sin(8) g10<1>F g1<8,8,1>F null<8,8,1>F { align1 1Q };", &[0.0, 1.0], &[0.0], &[0.0, 0.841_470_96]),
        align1("math cos(8) g10<1>F g1<8,8,1>F null<8,8,1>F { align1 1Q };", &[0.0, 1.0], &[0.0], &[1.0, 0.540_302_3]),
        align1("math fdiv(8) g10<1>F g1<8,8,1>F g2<8,8,1>F { align1 1Q };", &[1.0, 6.0], &[8.0, -3.0], &[0.125, -2.0]),
        align1("math pow(8) g10<1>F g1<8,8,1>F g2<8,8,1>F { align1 1Q };", &[2.0, 9.0], &[3.0, 0.5], &[8.0, 3.0]),
        align1("line(8) g10<1>F g1<0,1,0>F g2<8,8,1>F { align1 1Q };", &[2.0, 9.0, 9.0, 1.0], &[3.0, 4.0], &[7.0, 9.0]),
        (
            "pln(8) g10<1>F g1<0,1,0>F g2<8,8,1>F { align1 1Q };",
            f(&[2.0, 3.0, 9.0, 1.0]),
            f(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
            f(&[10.0, 20.0]),
            f(&[33.0, 65.0, 37.0, 69.0, 41.0, 73.0, 45.0, 77.0]),
        ),
        align1(
            "mul(8) acc0<1>F g1<8,8,1>F g2<8,8,1>F { align1 1Q };
             mac(8) g10<1>F g1<8,8,1>F 0x40000000F { align1 1Q };",
            &[1.0, 2.0],
            &[3.0, 4.0],
            &[5.0, 12.0],
        ),
        align1(
            "add(8) g4<1>F g1<8,8,1>F g2<8,8,1>F { align1 1Q AccWrEnable };
             add(8) g10<1>F acc0<8,8,1>F 0x3f800000F { align1 1Q };",
            &[1.0, 2.0],
            &[3.0, 4.0],
            &[5.0, 7.0],
        ),
    ]
}

/// Operations of vectors, most of which need align16.
fn vector_cases() -> Vec<Case> {
    let f = floats;
    let a = f(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let b = f(&[10.0, 20.0, 30.0, 40.0, -1.0, -2.0, -3.0, -4.0]);
    let c = f(&[0.5, 0.25, 2.0, 1.0]);
    let four = |low: f32, high: f32| f(&[low, low, low, low, high, high, high, high]);
    let none = words(&[0]);
    vec![
        ("dp4(8) g10<1>F g1<4>F g2<4>F { align16 1Q };", a, b, none, four(300.0, -70.0)),
        ("dp3(8) g10<1>F g1<4>F g2<4>F { align16 1Q };", a, b, none, four(140.0, -38.0)),
        ("dp2(8) g10<1>F g1<4>F g2<4>F { align16 1Q };", a, b, none, four(50.0, -17.0)),
        ("dph(8) g10<1>F g1<4>F g2<4>F { align16 1Q };", a, b, none, four(180.0, -42.0)),
        ("dp4(8) g10<1>.yF g1<4>F g2<4>.xF { align16 1Q };", a, b, none, f(&[0., 100., 0., 0., 0., -26., 0., 0.])),
        ("dp4(8) g10<1>F g1<4>F 0x3f800000F { align16 1Q };", a, b, none, four(10.0, 26.0)),
        ("mov(8) g10<1>.xzF g1<4>.wzyxF { align16 1Q };", a, b, none, f(&[4.0, 0.0, 2.0, 0.0, 8.0, 0.0, 6.0, 0.0])),
        (
            "add(8) g10<1>F g1<0>.yzwxF g2<4>F { align16 1Q };",
            a,
            b,
            none,
            f(&[12.0, 23.0, 34.0, 41.0, 1.0, 1.0, 1.0, -3.0]),
        ),
        ("mov(8) g10<1>F 0x48403000VF { align16 1Q };", a, b, none, f(&[0.0, 1.0, 2.0, 3.0])),
        (
            "mad(8) g10<1>F g1<4,4,1>F g2<4,4,1>.xF g3<4,4,1>F { align16 1Q };",
            a,
            b,
            c,
            f(&[6.0, 4.5, 23.0, 14.0, 4.5, 5.75, 5.0, 7.0]),
        ),
        (
            "mad(8) g10<1>F -g1<4,4,1>F (abs)g2.1<0,1,0>F g3<4,4,1>F { align16 1Q };",
            a,
            b,
            c,
            f(&[9.0, 3.0, 37.0, 16.0, 5.0, -1.0, 33.0, 12.0]),
        ),
        (
            "lrp(8) g10<1>F g3<4,4,1>F g1<4,4,1>F g2<4,4,1>F { align16 1Q };",
            a,
            b,
            c,
            f(&[5.5, 15.5, -24.0, 4.0, 2.0, 0.0, 17.0, 8.0]),
        ),
        ("math rsq(8) g10<1>.zF g3<4>.yyyyF null<4>F { align16 1Q };", a, b, c, f(&[0.0, 0.0, 2.0, 0.0])),
    ]
}

/// Operations of integers, and conversions.
fn integer_cases() -> Vec<Case> {
    let f = floats;
    let none = words(&[0]);
    let d = |text, a: &[i64], b: &[i64], result: &[i64]| (text, words(a), words(b), none, words(result));
    let low = i64::from(i32::MIN);
    let high = i64::from(i32::MAX);
    vec![
        ("mov(8) g10<1>F g1<8,8,1>D { align1 1Q };", words(&[-3, 7]), none, none, f(&[-3.0, 7.0])),
        ("mov(8) g10<1>F g1<8,8,1>UD { align1 1Q };", words(&[-1, 7]), none, none, f(&[4_294_967_296.0, 7.0])),
        ("mov(8) g10<1>D g1<8,8,1>F { align1 1Q };", f(&[-3.75, 3e9, NAN]), none, none, words(&[-3, high, 0])),
        ("mov(8) g10<1>UD g1<8,8,1>F { align1 1Q };", f(&[-3.75, 3e9]), none, none, words(&[0, 3_000_000_000])),
        d("mov.sat(8) g10<1>D g1<8,8,1>UD { align1 1Q };", &[-1, 5], &[0], &[high, 5]),
        d("mov(8) g10<1>UD -g1<8,8,1>UD { align1 1Q };", &[1, 5], &[0], &[-1, -5]),
        d("mov(8) g10<1>D (abs)g1<8,8,1>D { align1 1Q };", &[-7, 5, low], &[0], &[7, 5, low]),
        d("mov(8) g10<1>D -3W { align1 1Q };", &[0], &[0], &[-3]),
        d("mov(8) g10<1>UD 0x76543210UV { align1 1Q };", &[0], &[0], &[0, 1, 2, 3, 4, 5, 6, 7]),
        d("mov(8) g10<1>D 0xfedc3210V { align1 1Q };", &[0], &[0], &[0, 1, 2, 3, -4, -3, -2, -1]),
        d("not(8) g10<1>UD g1<8,8,1>UD { align1 1Q };", &[0, 5], &[0], &[-1, -6]),
        d("and(8) g10<1>UD g1<8,8,1>UD g2<8,8,1>UD { align1 1Q };", &[12, -1], &[10, 77], &[8, 77]),
        d("or(8) g10<1>UD g1<8,8,1>UD 3UD { align1 1Q };", &[12, 1], &[0], &[15, 3]),
        d("xor(8) g10<1>UD g1<8,8,1>UD g2<8,8,1>UD { align1 1Q };", &[12, -1], &[10, 0], &[6, -1]),
        d("or(8) g10<1>UD -g1<8,8,1>D g2<8,8,1>D { align1 1Q };", &[1, 2], &[0, 1], &[-1, -1]),
        d("shl(8) g10<1>D g1<8,8,1>D g2<8,8,1>UD { align1 1Q };", &[3, -1], &[4, 33], &[48, -2]),
        d("shr(8) g10<1>UD g1<8,8,1>UD g2<8,8,1>UD { align1 1Q };", &[48, -1], &[4, 28], &[3, 15]),
        d("shr(8) g10<1>UD g1<8,8,1>D 4UD { align1 1Q };", &[-16], &[0], &[0x0fff_ffff]),
        d("asr(8) g10<1>D g1<8,8,1>D g2<8,8,1>UD { align1 1Q };", &[48, -1, low], &[4, 28, 31], &[3, -1, -1]),
        d("add(8) g10<1>D g1<8,8,1>D g2<8,8,1>D { align1 1Q };", &[3, high], &[-4, 1], &[-1, low]),
        d("add.sat(8) g10<1>D g1<8,8,1>D g2<8,8,1>D { align1 1Q };", &[low, high], &[-4, 1], &[low, high]),
        d("add.sat(8) g10<1>UD g1<8,8,1>UD g2<8,8,1>UD { align1 1Q };", &[-1, 2], &[4, 1], &[-1, 3]),
        d("avg(8) g10<1>D g1<8,8,1>D g2<8,8,1>D { align1 1Q };", &[3, -5], &[4, -6], &[4, -5]),
        d("sel.l(8) g10<1>D g1<8,8,1>D g2<8,8,1>D { align1 1Q };", &[-1, 5], &[1, 3], &[-1, 3]),
        d("sel.ge(8) g10<1>UD g1<8,8,1>UD g2<8,8,1>UD { align1 1Q };", &[-1, 2], &[1, 3], &[-1, 3]),
        // The lower half of the second factor.
        d("mul(8) g10<1>D g1<8,8,1>D g2<8,8,1>D { align1 1Q };", &[7, -3], &[0x1_0002, -1], &[14, -3 * 0xffff]),
        d("mul(8) g10<1>D g1<16,8,2>UW g2<8,8,1>D { align1 1Q };", &[7, 3], &[0x1_0002, -1], &[14, 3 * 0xffff]),
        d("mul(8) g10<1>D g1<8,8,1>D -7W { align1 1Q };", &[7, -3], &[0], &[-49, 21]),
        d(
            "mul(8) acc0<1>D g1<8,8,1>D g2<8,8,1>D { align1 1Q };
             mach(8) null<1>D g1<8,8,1>D g2<8,8,1>D { align1 1Q AccWrEnable };
             mov(8) g10<1>D acc0<8,8,1>D { align1 1Q };",
            &[123_456_789, -987_654_321, low],
            &[-77_777_777, -55_555_555, low],
            &[123_456_789i64.wrapping_mul(-77_777_777), 987_654_321i64.wrapping_mul(55_555_555), 0],
        ),
        d(
            "mul(8) acc0<1>D g1<8,8,1>D g2<8,8,1>D { align1 1Q };
             mach(8) g10<1>D g1<8,8,1>D g2<8,8,1>D { align1 1Q AccWrEnable };",
            &[123_456_789, -987_654_321, low],
            &[-77_777_777, -55_555_555, low],
            &[(123_456_789 * -77_777_777) >> 32, (987_654_321i64 * 55_555_555) >> 32, 1 << 30],
        ),
        d(
            "mul(8) acc0<1>UD g1<8,8,1>UD g2<8,8,1>UD { align1 1Q };
             mach(8) g10<1>UD g1<8,8,1>UD g2<8,8,1>UD { align1 1Q AccWrEnable };",
            &[-1, 0x8000_0000],
            &[-1, 6],
            &[0xffff_fffe, 3],
        ),
        d(
            "addc(8) g4<1>UD g1<8,8,1>UD g2<8,8,1>UD { align1 1Q AccWrEnable };
             mov(8) g5<1>UD acc0<8,8,1>UD { align1 1Q };
             shl(8) g5<1>UD g5<8,8,1>UD 4UD { align1 1Q };
             or(8) g10<1>UD g4<8,8,1>UD g5<8,8,1>UD { align1 1Q };",
            &[-1, 5],
            &[2, 6],
            &[17, 11],
        ),
        d(
            "subb(8) g4<1>UD g1<8,8,1>UD g2<8,8,1>UD { align1 1Q AccWrEnable };
             mov(8) g10<1>UD acc0<8,8,1>UD { align1 1Q };",
            &[1, 6],
            &[2, 6],
            &[1, 0],
        ),
        ("f32to16(8) g10<1>UD g1<8,8,1>F { align16 1Q };", f(&[1.0, -2.0]), none, none, words(&[0x3c00, 0xc000])),
        ("f32to16(8) g10<2>W g1<8,8,1>F { align1 1Q };", f(&[1.0, -2.0]), none, none, words(&[0x3c00, 0xc000])),
        ("f16to32(8) g10<1>F g1<16,8,2>UW { align1 1Q };", words(&[0x3c00, 0xc000]), none, none, f(&[1.0, -2.0])),
        d("bfrev(8) g10<1>UD g1<8,8,1>UD { align1 1Q };", &[1, 6], &[0], &[0x8000_0000, 0x6000_0000]),
        d("lzd(8) g10<1>UD g1<8,8,1>UD { align1 1Q };", &[1, 0, -1], &[0], &[31, 32, 0]),
        d("fbh(8) g10<1>UD g1<8,8,1>UD { align1 1Q };", &[1, 0, -1], &[0], &[31, -1, 0]),
        d("fbh(8) g10<1>UD g1<8,8,1>D { align1 1Q };", &[1, 0, -1, -2, -256], &[0], &[31, -1, -1, 31, 24]),
        d("fbl(8) g10<1>UD g1<8,8,1>UD { align1 1Q };", &[12, 0, -1], &[0], &[2, -1, 0]),
        d("cbit(8) g10<1>UD g1<8,8,1>UD { align1 1Q };", &[12, 0, -1], &[0], &[2, 0, 32]),
        d("bfi1(8) g10<1>UD g1<8,8,1>UD g2<8,8,1>UD { align1 1Q };", &[3, 0, 8], &[4, 2, 30], &[0x70, 0, 0xc000_0000]),
        (
            "bfi2(8) g10<1>UD g1<4,4,1>UD g2<4,4,1>UD g3<4,4,1>UD { align16 1Q };",
            words(&[0x70, 0]),
            words(&[0x1d, 9]),
            words(&[-1, 5]),
            words(&[0xffff_ffdf, 5]),
        ),
        (
            "bfe(8) g10<1>UD g1<4,4,1>UD g2<4,4,1>UD g3<4,4,1>UD { align16 1Q };",
            words(&[4, 0, 31, 8]),
            words(&[8, 3, 4, 28]),
            words(&[0xabc, -1, -1, 0x9000_0000]),
            words(&[0xa, 0, 0x0fff_ffff, 9]),
        ),
        (
            "bfe(8) g10<1>D g1<4,4,1>D g2<4,4,1>D g3<4,4,1>D { align16 1Q };",
            words(&[4, 0, 31, 8]),
            words(&[8, 3, 4, 28]),
            words(&[0xabc, -1, -1, 0x9000_0000]),
            words(&[-6, 0, -1, -7]),
        ),
        d(
            "math intdiv(8) g10<1>D g1<8,8,1>D g2<8,8,1>D { align1 1Q };",
            &[7, -7, 7, -7],
            &[2, 2, 0, 0],
            &[3, -3, high, low],
        ),
        d("math intdiv(8) g10<1>UD g1<8,8,1>UD g2<8,8,1>UD { align1 1Q };", &[7, -7], &[2, 0], &[3, -1]),
        d("math intmod(8) g10<1>D g1<8,8,1>D g2<8,8,1>D { align1 1Q };", &[7, -7], &[2, 4], &[1, -3]),
        d("math intmod(8) g10<1>UD g1<8,8,1>UD g2<8,8,1>UD { align1 1Q };", &[7, -7], &[2, 4], &[1, 1]),
        d("math intdivmod(8) g9<1>D g1<8,8,1>D g2<8,8,1>D { align1 1Q };", &[7, -7], &[2, 4], &[1, -3]),
        ("add(8) g10<1>D g1<8,8,1>W g2<8,8,1>B { align1 1Q };", halves(&[-5, 9]), words(&[0x01ff]), none, {
            let bytes = [-1, 1, 0, 0];
            std::array::from_fn(|index| ([-5, 9][index % 2] + bytes[index % 4]) as u32)
        }),
        (
            "cmp.g(8) g10<1>D g1<8,8,1>F g2<8,8,1>F { align1 1Q };",
            f(&[1.0, 3.0, NAN, 2.0]),
            f(&[2.0, 1.0, 1.0, 2.0]),
            none,
            words(&[0, -1, 0, 0]),
        ),
        (
            "cmpn.ge(8) g10<1>D g1<8,8,1>F g2<8,8,1>F { align1 1Q };",
            f(&[1.0, 3.0, NAN, 2.0]),
            f(&[2.0, 1.0, 1.0, NAN]),
            none,
            words(&[0, -1, 0, -1]),
        ),
        (
            "cmp.nz(8) g10<1>F g1<8,8,1>F g2<8,8,1>F { align1 1Q };",
            f(&[1.0, NAN, 2.0]),
            f(&[1.0, NAN, 3.0]),
            none,
            words(&[0, -1, -1]),
        ),
        // A negated unsigned number is negative.
        d("cmp.l(8) g10<1>D -g1<8,8,1>UD g2<8,8,1>D { align1 1Q };", &[1, -1], &[0, 0], &[-1, -1]),
    ]
}

#[test]
fn results() {
    for (text, a, b, c, expected) in float_cases().into_iter().chain(vector_cases()).chain(integer_cases()) {
        let result = run(text, &[(1, a), (2, b), (3, c)]);
        assert_eq!(result.registers.words(10), expected, "{text}");
        assert!(!result.has_ended);
    }
}

/// All opcodes have results or a reason why not.
#[test]
fn all_opcodes_are_tested() {
    let texts: Vec<_> =
        float_cases().into_iter().chain(vector_cases()).chain(integer_cases()).map(|case| case.0).collect();
    let is_tested = |name: &str| {
        let names = texts.iter().flat_map(|text| text.lines()).map(|line| line.trim().split(['(', '.', ' ']).next());
        names.flatten().any(|found| found == name)
    };
    let undefined = ["movi", "dim", "sad2", "sada2"];
    let elsewhere = ["jmpi", "brd", "brc", "calla", "call", "ret", "wait"];
    for opcode in Opcode::ALL {
        let is_computation = matches!(opcode.form(), Form::Unary | Form::Binary | Form::Ternary | Form::Math);
        if is_computation && !undefined.contains(&opcode.name()) && !elsewhere.contains(&opcode.name()) {
            assert!(is_tested(opcode.name()), "{}", opcode.name());
        }
    }
    for function in MathFunction::ALL {
        let name = format!("math {}(", function.name());
        assert!(*function == MathFunction::Sincos || texts.iter().any(|text| text.contains(&name)), "{name}");
    }
}

#[test]
fn operations_without_definition() {
    let undefined = |name| Trap::Undefined(0, name);
    let cases = [
        ("illegal;", Trap::Illegal(0)),
        ("sad2(8) g10<1>UD g1<8,8,1>UB g2<8,8,1>UB { align1 1Q };", undefined("sad2")),
        ("brd(8) g10<1>D g1<8,8,1>D g2<8,8,1>D { align1 1Q };", undefined("brd")),
        ("mov(4) g10<1>DF g1<4,4,1>DF { align1 1Q };", undefined("a float of 64 bits")),
        ("math sincos(8) g10<1>F g1<8,8,1>F null<8,8,1>F { align1 1Q };", undefined("math")),
    ];
    for (text, expected) in cases {
        assert_eq!(trap(text, Chip::Gen75), expected, "{text}");
    }
    // Integers have one accumulator.
    let second = "addc(8) g4<1>UD g1<8,8,1>UD g2<8,8,1>UD { align1 2Q AccWrEnable };";
    assert_eq!(trap(second, Chip::Gen7), undefined("the second accumulator with integers"));
    assert!(simulator(second, Chip::Gen75).run(&launch(&[]), &mut super::Nothing).is_ok());
}

#[test]
fn conditions() {
    let a = floats(&[1.0, 2.0, 3.0, NAN]);
    let b = floats(&[2.0]);
    let cases = [
        (Condition::Z, 2),
        (Condition::Nz, 13),
        (Condition::G, 4),
        (Condition::Ge, 6),
        (Condition::L, 1),
        (Condition::Le, 3),
        (Condition::U, 8),
    ];
    for (condition, expected) in cases {
        let text = format!("cmp.{}.f1.0(4) null<1>F g1<4,4,1>F g2<4,4,1>F {{ align1 1N }};", condition.name());
        let result = run(&text, &[(1, a), (2, b)]);
        assert_eq!(result.flags, [0, expected], "{text}");
    }
    // The condition is that of the written result.
    let result = run(
        "mov.sat.g.f0.0(8) g10<1>F g1<8,8,1>F { align1 1Q };
         mov.nz.f0.1(8) null<1>D g1<8,8,1>F { align1 1Q };
         add.z.f1.0(8) null<1>D g2<8,8,1>D g2<8,8,1>D { align1 1Q };
         add.o.f1.1(8) null<1>D g2<8,8,1>D g2<8,8,1>D { align1 1Q };",
        &[(1, floats(&[0.5, -1.0])), (2, words(&[i32::MIN.into(), 1]))],
    );
    assert_eq!(result.flags, [0xaa_0055, 0x55_0055]);
}

#[test]
fn denormal_numbers() {
    let tiny = floats(&[1e-40, -1e-40]);
    let text = "mul(8) g10<1>F g1<8,8,1>F 0x3f000000F { align1 1Q };
                mov(8) g11<1>F g1<8,8,1>F { align1 1Q };";
    let kept = run(text, &[(1, tiny)]);
    assert_eq!(kept.registers.words(10), floats(&[0.5e-40, -0.5e-40]));
    let launch = Launch { flush_denormals: true, ..launch(&[(1, tiny)]) };
    let flushed = simulator(text, Chip::Gen7).run(&launch, &mut super::Nothing).unwrap();
    assert_eq!(flushed.registers.words(10), floats(&[0.0, -0.0]));
    assert_eq!(flushed.registers.words(11), tiny);
}
