//! Regions, indirect operands and architecture registers.

use super::{floats, halves, run, trap, words};

use pretty_assertions::assert_eq;
use tgsi_driver_intel::isa::Chip;
use tgsi_driver_intel::simulator::Trap;

const COUNT: &[i64] = &[0, 1, 2, 3, 4, 5, 6, 7];

fn counted(first: i64) -> [u32; 8] {
    words(&std::array::from_fn::<_, 8, _>(|index| first + index as i64))
}

/// The sources of moves to g10, and the result. g1 and g2 count from 0 to 15.
const SOURCES: &[(&str, [i64; 8])] = &[
    ("g1<8,8,1>D", [0, 1, 2, 3, 4, 5, 6, 7]),
    ("g1.4<8,8,1>D", [4, 5, 6, 7, 8, 9, 10, 11]),
    ("g1.3<0,1,0>D", [3; 8]),
    ("g1<4,4,1>D", [0, 1, 2, 3, 4, 5, 6, 7]),
    ("g1<8,4,2>D", [0, 2, 4, 6, 8, 10, 12, 14]),
    ("g1<0,4,1>D", [0, 1, 2, 3, 0, 1, 2, 3]),
    ("g1.1<0,2,4>D", [1, 5, 1, 5, 1, 5, 1, 5]),
    ("g1<2,2,0>D", [0, 0, 2, 2, 4, 4, 6, 6]),
    ("g1<8,2,4>D", [0, 4, 8, 12, 16, 20, 24, 28]),
    ("g1<1,4,0>D", [0, 0, 0, 0, 1, 1, 1, 1]),
    ("g1<16,8,2>UW", [0, 1, 2, 3, 4, 5, 6, 7]),
    ("g1.1<16,8,2>UW", [0; 8]),
    ("g1.4<32,8,4>UB", [1, 2, 3, 4, 5, 6, 7, 8]),
    ("g1.4<4,4,1>UB", [1, 0, 0, 0, 2, 0, 0, 0]),
];

#[test]
fn sources() {
    let registers = [(1, counted(0)), (2, counted(8)), (3, counted(16)), (4, counted(24))];
    for (source, expected) in SOURCES {
        let text = format!("mov(8) g10<1>D {source} {{ align1 1Q }};");
        assert_eq!(run(&text, &registers).registers.words(10), words(expected), "{text}");
    }
}

#[test]
fn destinations() {
    let registers = [(1, words(COUNT)), (10, words(&[-1])), (11, words(&[-1]))];
    let cases: [(&str, [i64; 8], [i64; 8]); 5] = [
        ("mov(8) g10<2>D g1<8,8,1>D { align1 1Q };", [0, -1, 1, -1, 2, -1, 3, -1], [4, -1, 5, -1, 6, -1, 7, -1]),
        ("mov(4) g10.2<1>D g1<4,4,1>D { align1 1N };", [-1, -1, 0, 1, 2, 3, -1, -1], [-1; 8]),
        ("mov(1) g10.5<1>D g1.6<0,1,0>D { align1 1N };", [-1, -1, -1, -1, -1, 6, -1, -1], [-1; 8]),
        ("mov(4) g10.1<4>W g1<4,4,1>D { align1 1N };", [0xffff, -1, 0x1_ffff, -1, 0x2_ffff, -1, 0x3_ffff, -1], [-1; 8]),
        ("mov(2) g10.3<4>UB g1.4<2,2,1>D { align1 1N };", [0x04ff_ffff, 0x05ff_ffff, -1, -1, -1, -1, -1, -1], [-1; 8]),
    ];
    for (text, first, second) in cases {
        let result = run(text, &registers).registers;
        assert_eq!([result.words(10), result.words(11)], [words(&first), words(&second)], "{text}");
    }
}

/// The second half of 16 channels reads results of the first half.
#[test]
fn halves_of_16_channels() {
    let registers = [(1, counted(0)), (2, counted(8))];
    let result = run("add(16) g2<1>D g1<8,8,1>D 100D { align1 1H };", &registers).registers;
    let first: Vec<_> = (100..108).collect();
    let second: Vec<_> = (200..208).collect();
    assert_eq!([result.words(2), result.words(3)], [words(&first), words(&second)]);
    let result = run("add(16) g2<1>W g1<16,16,1>W 1W { align1 1H };", &[(1, halves(&[5, -1]))]).registers;
    assert_eq!(result.words(2), halves(&[6, 0]));
    // The same holds for results in two registers.
    let text = "add(8) g2<2>D g1.4<8,8,1>D 100D { align1 1Q };";
    let result = run(text, &[(1, counted(0)), (2, counted(8))]).registers;
    assert_eq!(result.words(2), words(&[104, 9, 105, 11, 106, 13, 107, 15]));
    assert_eq!(result.words(3), words(&[204, 0, 109, 0, 205, 0, 111, 0]));
    // Coordinates of eight channels alternate.
    let planes = [
        (1, floats(&[1.0, 100.0, 0.0, 0.5])),
        (2, floats(&[1.0])),
        (3, floats(&[2.0])),
        (4, floats(&[3.0])),
        (5, floats(&[4.0])),
    ];
    let result = run("pln(16) g10<1>F g1<0,1,0>F g2<8,8,1>F { align1 1H };", &planes).registers;
    assert_eq!([result.words(10), result.words(11)], [floats(&[201.5]), floats(&[403.5])]);
    let accumulators = [(1, floats(&[1.0])), (2, floats(&[2.0]))];
    let text = "mul(16) acc0<1>F g1<8,8,1>F 0x40400000F { align1 1H };
                mac(16) g10<1>F g1<8,8,1>F 0x3f800000F { align1 1H };";
    let result = run(text, &accumulators).registers;
    assert_eq!([result.words(10), result.words(11)], [floats(&[4.0]), floats(&[8.0])]);
}

#[test]
fn indirect_operands() {
    let registers = [(1, words(&[4, 64, 36])), (2, counted(8)), (3, counted(16)), (4, words(&[64, 68, 100, 96]))];
    let cases: [(&str, [i64; 8]); 6] = [
        (
            "mov(1) a0<1>UW g1.1<0,1,0>UW { align1 WE_all 1N };
             mov(1) a0<1>UW g1.2<0,1,0>UW { align1 WE_all 1N };
             mov(8) g10<1>D g[a0]<8,8,1>D { align1 1Q };",
            [8, 9, 10, 11, 12, 13, 14, 15],
        ),
        (
            "mov(1) a0.3<1>UW g1.2<0,1,0>UW { align1 WE_all 1N };
             mov(8) g10<1>D g[a0.3 36]<0,1,0>D { align1 1Q };",
            [17; 8],
        ),
        (
            "mov(4) a0<1>UW g4<8,4,2>UW { align1 WE_all 1N };
             mov(4) a0.4<1>UW g4<8,4,2>UW { align1 WE_all 1N };
             mov(8) g10<1>D g[a0]<VxH,1,0>D { align1 1Q };",
            [8, 9, 17, 16, 8, 9, 17, 16],
        ),
        (
            "mov(4) a0<1>UW g4<8,4,2>UW { align1 WE_all 1N };
             mov(8) g10<1>D g[a0 4]<VxH,2,1>D { align1 1Q };",
            [9, 10, 10, 11, 18, 19, 17, 18],
        ),
        (
            "mov(1) a0<1>UW 320UW { align1 WE_all 1N };
             mov(4) g[a0 8]<1>D g2<4,4,1>D { align1 1N };",
            [0, 0, 8, 9, 10, 11, 0, 0],
        ),
        (
            "mov(1) a0<1>UD 64UD { align1 WE_all 1N };
             mov(8) g10<1>D g[a0 16]<4>.wzyxD { align16 1Q };",
            [15, 14, 13, 12, 19, 18, 17, 16],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(run(text, &registers).registers.words(10), words(&expected), "{text}");
    }
}

#[test]
fn places_outside_of_the_registers() {
    let outside = |byte| Trap::Register(0, byte);
    let undefined = |what| Trap::Undefined(0, what);
    let cases = [
        ("mov(8) g127.4<1>D 1D { align1 1Q };", outside(4096)),
        ("mov(8) g10<1>D g127<8,8,1>D { align1 1Q };", Trap::Steps),
        ("mov(8) g10<1>D g127<16,8,2>D { align1 1Q };", outside(4096)),
        ("mov(8) g10<1>D g[a0 -4]<8,8,1>D { align1 1Q };", outside(-4)),
        ("mov(8) g10<1>D g[a0.7]<VxH,1,0>D { align1 1Q };", undefined("a word beyond the address register")),
        ("mov(8) a0<1>UD 1UD { align1 1Q };", undefined("a write of the architecture register")),
    ];
    for (text, expected) in cases {
        if expected == Trap::Steps {
            run(text, &[]);
        } else {
            assert_eq!(trap(text, Chip::Gen7), expected, "{text}");
        }
    }
}

#[test]
fn architecture_registers() {
    let result = run(
        "mov(1) f0<1>UD 0x12345678UD { align1 WE_all 1N };
         mov(1) f1.1<1>UW 0x9abcUW { align1 WE_all 1N };
         mov(1) g10<1>UD f0.1<0,1,0>UW { align1 WE_all 1N };
         mov(1) g10.1<1>UD f1<0,1,0>UD { align1 WE_all 1N };
         mov(1) g10.2<1>UD mask0<0,1,0>UD { align1 WE_all 1N };
         mov(1) g10.3<1>UD sr0.2<0,1,0>UD { align1 WE_all 1N };
         mov(8) null<1>UD 7UD { align1 1Q };
         mov(1) g10.4<1>UD null<0,1,0>UD { align1 WE_all 1N };
         mov(1) g10.5<1>UD ip<0,1,0>UD { align1 WE_all 1N };",
        &[],
    );
    assert_eq!(result.flags, [0x1234_5678, 0x9abc_0000]);
    assert_eq!(result.registers.words(10), words(&[0x1234, 0x9abc_0000, 0xffff, 0xffff, 0, 128, 0, 0]));
}
