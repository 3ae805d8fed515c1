//! Branches, predicates and masks.

use super::{Nothing, floats, launch, run, simulator, trap, words};
use crate::support::Choice;

use pretty_assertions::assert_eq;
use std::fmt::Write;
use tgsi_driver_intel::isa::{Chip, check_program, compact_program};
use tgsi_driver_intel::simulator::{Launch, Simulator, Trap};
use tgsi_driver_intel::text::assemble;
use tgsi_driver_intel::validate::validate_program;

/// A predicate, the flags f0 and f1, and the enabled ones of eight channels.
const ALIGN1: &[(&str, [u32; 2], u32)] = &[
    ("(+f0.0)", [0xa5, 0], 0xa5),
    ("(-f0.0)", [0xa5, 0], 0x5a),
    ("(+f0.1)", [0x0f_0000, 0], 0x0f),
    ("(+f1.0)", [0, 0x81], 0x81),
    ("(+f1.1)", [0, 0x42_0000], 0x42),
    ("(+f0.0.any2h)", [0b01_00_11_10, 0], 0b11_00_11_11),
    ("(+f0.0.all2h)", [0b01_00_11_10, 0], 0b00_00_11_00),
    ("(-f0.0.all2h)", [0b01_00_11_10, 0], 0b11_11_00_11),
    ("(+f0.0.any4h)", [0x20, 0], 0xf0),
    ("(+f0.0.all4h)", [0xf7, 0], 0xf0),
    ("(+f0.0.any8h)", [0x20, 0], 0xff),
    ("(+f0.0.any8h)", [0x2000, 0], 0),
    ("(+f0.0.all8h)", [0xff, 0], 0xff),
    ("(+f0.0.all8h)", [0xfe, 0], 0),
    ("(+f0.0.any16h)", [0x2000, 0], 0xff),
    ("(+f0.0.all16h)", [0xff, 0], 0),
    ("(+f0.0.any32h)", [1 << 31, 0], 0xff),
    ("(+f0.0.all32h)", [u32::MAX, 0], 0xff),
    ("(+f0.0.anyv)", [0x12, 0x21], 0x33),
    ("(+f0.0.allv)", [0x13, 0x31], 0x11),
];

const ALIGN16: &[(&str, [u32; 2], u32)] = &[
    ("(+f0.0)", [0xa5, 0], 0xa5),
    ("(+f0.0.x)", [0x12, 0], 0xf0),
    ("(+f0.0.y)", [0x12, 0], 0x0f),
    ("(+f0.0.z)", [0x40, 0], 0xf0),
    ("(-f0.0.w)", [0x40, 0], 0xff),
    ("(+f0.0.any4h)", [0x40, 0], 0xf0),
    ("(+f0.1.all4h)", [0x4f_0000, 0], 0x0f),
];

#[test]
fn predicates() {
    for (cases, access, source) in [(ALIGN1, "align1", "<8,8,1>"), (ALIGN16, "align16", "<4>")] {
        for &(predicate, [first, second], expected) in cases {
            let text = format!(
                "mov(1) f0<1>UD {first}UD {{ align1 WE_all 1N }};
                 mov(1) f1<1>UD {second}UD {{ align1 WE_all 1N }};
                 {predicate} mov(8) g10<1>D 1D {{ {access} 1Q }};
                 {predicate} sel(8) g11<1>D g1{source}D g2{source}D {{ {access} 1Q }};"
            );
            let result = run(&text, &[(1, words(&[7])), (2, words(&[9]))]).registers;
            let bits = |bit, other| {
                words(&std::array::from_fn::<i64, 8, _>(|i| if expected >> i & 1 != 0 { bit } else { other }))
            };
            assert_eq!(result.words(10), bits(1, 0), "{text}");
            assert_eq!(result.words(11), bits(7, 9), "{text}");
        }
    }
}

#[test]
fn groups_and_masks() {
    let text = "cmp.g.f0.0(8) null<1>D g1<8,8,1>D 3D { align1 2Q };
                mov(4) g10<1>D 1D { align1 2N };
                mov(4) g11<1>D 1D { align1 3N };
                (+f0.0) mov(8) g12<1>D 1D { align1 2Q };
                (+f0.0) mov(8) g13<1>D 1D { align1 WE_all 2Q };
                cmp.z.f1.0(8) null<1>D g1<8,8,1>D g1<8,8,1>D { align1 1Q };
                cmp.z.f1.1(8) null<1>D g1<8,8,1>D g1<8,8,1>D { align1 3Q };";
    let launch = Launch { dispatch_mask: 0x2ac5, ..launch(&[(1, words(&[0, 1, 2, 3, 4, 5, 6, 7]))]) };
    let result = simulator(text, Chip::Gen7).run(&launch, &mut Nothing).unwrap();
    assert_eq!(result.flags, [0x2000, 0xc5]);
    let found = [10, 11, 12, 13].map(|register| result.registers.words(register).map(|word| word as i64));
    assert_eq!(
        found,
        [[0, 0, 1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 1, 0, 0],]
    );
    assert_eq!((result.steps, result.executed), (7, 6));
}

#[test]
fn jumps() {
    let text = |distance: i32| {
        format!(
            "mov(1) f0<1>UD g1<0,1,0>UD {{ align1 WE_all 1N }};
             (+f0.0) jmpi {distance}D {{ align1 WE_all 1N }};
             mov(8) g10<1>D 1D {{ align1 1Q }};
             mov(8) g11<1>D 1D {{ align1 1Q }};"
        )
    };
    // The unit of distances is 64 bits, and bytes since Gen7.5.
    for (chip, distance) in [(Chip::Gen7, 2), (Chip::Gen75, 16)] {
        for (flag, expected) in [(0, [1, 1]), (1, [0, 1])] {
            let launch = launch(&[(1, words(&[flag]))]);
            let result = simulator(&text(distance), chip).run(&launch, &mut Nothing).unwrap();
            assert_eq!([10, 11].map(|register| result.registers.word(register, 0)), expected);
        }
        let launch = launch(&[(1, words(&[1]))]);
        let result = simulator(&text(distance / 2), chip).run(&launch, &mut Nothing);
        assert_eq!(result.err(), Some(Trap::Target(1, 5)));
        let result = simulator(&text(-2 * distance), chip).run(&launch, &mut Nothing);
        assert_eq!(result.err(), Some(Trap::Steps));
    }
}

#[test]
fn errors() {
    let cases = [
        ("while(8) JIP: 0 { align1 1Q };", Trap::Steps),
        ("else(8) JIP: 7 { align1 1Q };", Trap::Target(0, 7)),
        ("break(8) JIP: 2 UIP: 2 { align1 1Q };", Trap::Undefined(0, "break without while")),
        ("wait n0<1>UD { align1 WE_all 1N };", Trap::Wait(0)),
    ];
    for (text, expected) in cases {
        assert_eq!(trap(text, Chip::Gen7), expected, "{text}");
    }
}

/// A statement of a structured program. Conditions are masks of bits of a constant register, of which one has to be
/// set, or none.
enum Statement {
    Add(i32),
    If(Condition, Vec<Statement>, Vec<Statement>),
    /// A loop with a number of iterations.
    Loop(i32, Vec<Statement>),
    Break(Condition),
    Continue(Condition),
    Halt(Condition),
}

#[derive(Clone, Copy)]
struct Condition {
    mask: u32,
    is_set: bool,
    flag: &'static str,
}

const FLAGS: [&str; 4] = ["f0.0", "f0.1", "f1.0", "f1.1"];

fn condition(choice: &mut Choice) -> Condition {
    Condition { mask: choice.bits() & choice.bits() & choice.bits(), is_set: choice.is(), flag: choice.of(&FLAGS) }
}

fn statements(choice: &mut Choice, depth: u32, loops: u32) -> Vec<Statement> {
    let count = 1 + choice.below(4);
    (0..count)
        .map(|_| match choice.below(9) {
            0..=2 if depth < 5 => {
                let then = statements(choice, depth + 1, loops);
                let other = if choice.is() { statements(choice, depth + 1, loops) } else { Vec::new() };
                Statement::If(condition(choice), then, other)
            }
            3 if depth < 5 && loops < 3 => {
                Statement::Loop(1 + choice.below(4) as i32, statements(choice, depth + 1, loops + 1))
            }
            4 if loops > 0 => Statement::Break(condition(choice)),
            5 if loops > 0 => Statement::Continue(condition(choice)),
            6 if choice.below(3) == 0 => Statement::Halt(condition(choice)),
            _ => Statement::Add(choice.below(100) as i32),
        })
        .collect()
}

/// How the statements of a channel end.
#[derive(PartialEq)]
enum End {
    Next,
    Break,
    Continue,
    Halt,
}

fn holds(condition: Condition, bits: u32) -> bool {
    (bits & condition.mask != 0) == condition.is_set
}

/// Executes statements for one channel.
fn expected(statements: &[Statement], bits: u32, value: &mut i32) -> End {
    for statement in statements {
        let end = match statement {
            Statement::Add(number) => {
                *value = value.wrapping_mul(3).wrapping_add(*number);
                End::Next
            }
            Statement::If(condition, then, other) => {
                expected(if holds(*condition, bits) { then } else { other }, bits, value)
            }
            Statement::Loop(count, body) => {
                let mut end = End::Next;
                for _ in 0..*count {
                    end = expected(body, bits, value);
                    if matches!(end, End::Break | End::Halt) {
                        break;
                    }
                }
                if end == End::Halt { End::Halt } else { End::Next }
            }
            Statement::Break(condition) if holds(*condition, bits) => End::Break,
            Statement::Continue(condition) if holds(*condition, bits) => End::Continue,
            Statement::Halt(condition) if holds(*condition, bits) => End::Halt,
            Statement::Break(_) | Statement::Continue(_) | Statement::Halt(_) => End::Next,
        };
        if end != End::Next {
            return end;
        }
    }
    End::Next
}

/// Writes assembly for statements: the value is in g2, the constant in g4, and counters of loops from g6 on.
struct Writer {
    text: String,
    labels: u32,
    channels: u32,
    has_swizzles: bool,
}

impl Writer {
    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn line(&mut self, text: &str) {
        let options = match (self.has_swizzles, self.channels) {
            (true, _) => "align16 1Q",
            (false, 16) => "align1 1H",
            _ => "align1 1Q",
        };
        // A rule of hardware for comparisons without result.
        let switch = if text.starts_with("cmp") { " switch" } else { "" };
        writeln!(self.text, "{text} {{ {options}{switch} }};").unwrap();
    }

    fn place(&mut self, label: &str) {
        writeln!(self.text, "{label}:").unwrap();
    }

    fn region(&self) -> &'static str {
        if self.has_swizzles { "<4>" } else { "<8,8,1>" }
    }

    /// Writes a test, and returns the predicate.
    fn test(&mut self, condition: Condition) -> String {
        let Condition { mask, is_set, flag } = condition;
        let (size, region) = (self.channels, self.region());
        self.line(&format!("and.nz.{flag}({size}) null<1>UD g4{region}UD {mask}UD"));
        format!("({}{flag})", if is_set { '+' } else { '-' })
    }

    /// `end` is the label of the end of the block, and `exit` that of the last `halt`.
    fn statements(&mut self, statements: &[Statement], end: &str, repeat: Option<&str>, exit: &str, loops: u32) {
        let (size, region) = (self.channels, self.region());
        for statement in statements {
            match statement {
                Statement::Add(number) => {
                    self.line(&format!("mul({size}) g2<1>D g2{region}D 3W"));
                    self.line(&format!("add({size}) g2<1>D g2{region}D {number}D"));
                }
                Statement::If(condition, then, other) => {
                    let predicate = self.test(*condition);
                    let last = self.label();
                    if other.is_empty() {
                        self.line(&format!("{predicate} if({size}) JIP: {last} UIP: {last}"));
                        self.statements(then, &last, repeat, exit, loops);
                    } else {
                        let (branch, start) = (self.label(), self.label());
                        self.line(&format!("{predicate} if({size}) JIP: {start} UIP: {last}"));
                        self.statements(then, &branch, repeat, exit, loops);
                        self.place(&branch);
                        self.line(&format!("else({size}) JIP: {last}"));
                        self.place(&start);
                        self.statements(other, &last, repeat, exit, loops);
                    }
                    self.place(&last);
                    self.line(&format!("endif({size}) JIP: {end}"));
                }
                Statement::Loop(count, body) => {
                    let counter = 6 + 2 * loops;
                    self.line(&format!("mov({size}) g{counter}<1>D 0D"));
                    let (start, last) = (self.label(), self.label());
                    self.place(&start);
                    self.line(&format!("cmp.ge.f0.0({size}) null<1>D g{counter}{region}D {count}D"));
                    self.line(&format!("(+f0.0) break({size}) JIP: {last} UIP: {last}"));
                    self.line(&format!("add({size}) g{counter}<1>D g{counter}{region}D 1D"));
                    self.statements(body, &last, Some(&last), exit, loops + 1);
                    self.place(&last);
                    self.line(&format!("while({size}) JIP: {start}"));
                }
                Statement::Break(condition) | Statement::Continue(condition) => {
                    let predicate = self.test(*condition);
                    let name = if matches!(statement, Statement::Break(_)) { "break" } else { "cont" };
                    let repeat = repeat.unwrap();
                    self.line(&format!("{predicate} {name}({size}) JIP: {end} UIP: {repeat}"));
                }
                Statement::Halt(condition) => {
                    let predicate = self.test(*condition);
                    self.line(&format!("{predicate} halt({size}) JIP: {end} UIP: {exit}"));
                }
            }
        }
    }
}

/// Programs of random structure give each channel the result that it has alone.
#[test]
fn structured_programs() {
    let mut choice = Choice::new(7);
    let mut branches = 0;
    for round in 0..1500 {
        let program = statements(&mut choice, 0, 0);
        let (channels, has_swizzles) = choice.of(&[(8, false), (16, false), (8, true)]);
        let mut writer = Writer { text: String::new(), labels: 0, channels, has_swizzles };
        let size = channels;
        writer.statements(&program, "EXIT", None, "EXIT", 0);
        writer.place("EXIT");
        writer.line(&format!("halt({size}) JIP: AFTER UIP: AFTER"));
        writer.place("AFTER");
        let region = writer.region();
        writer.line(&format!("mov({size}) g20<1>D g2{region}D"));
        let text = writer.text;
        let instructions = assemble(&text, Chip::Gen7).unwrap_or_else(|error| panic!("{error}: {text}"));
        branches += instructions.iter().filter(|instruction| instruction.branch().is_some()).count();
        check_program(&instructions).unwrap();
        let broken = validate_program(&instructions, Chip::Gen7);
        assert!(broken.is_empty(), "{broken:?} {text}");
        let bits: Vec<u32> = (0..16).map(|_| choice.bits()).collect();
        let half = |half: usize| std::array::from_fn(|index| bits[8 * half + index]);
        let dispatch_mask = if choice.is() { 0xffff } else { choice.bits() & 0xffff };
        let launch = Launch { dispatch_mask, ..launch(&[(4, half(0)), (5, half(1))]) };
        let short = compact_program(&instructions, Chip::Gen7).unwrap();
        let simulator = Simulator::from_instructions(instructions, Chip::Gen7);
        let result = simulator.run(&launch, &mut Nothing).unwrap_or_else(|trap| panic!("{trap}: {text}"));
        for (channel, &bits) in bits.iter().enumerate().take(channels as usize) {
            let mut value = 0;
            if dispatch_mask >> channel & 1 != 0 {
                expected(&program, bits, &mut value);
            }
            let found = result.registers.word(20 + channel as u8 / 8, channel % 8);
            assert_eq!(found as i32, value, "round {round}, channel {channel}\n{text}");
        }
        let compacted = Simulator::from_instructions(short, Chip::Gen7).run(&launch, &mut Nothing);
        assert_eq!(compacted.as_ref(), Ok(&result), "{text}");
    }
    assert!(branches > 10_000, "{branches}");
}

/// Instructions without mask are executed by blocks that no channel enters, unless a branch skips them.
#[test]
fn empty_blocks() {
    let text = "cmp.g.f0.0(8) null<1>F g1<8,8,1>F 0F { align1 1Q };
                (+f0.0) if(8) JIP: OTHER UIP: END { align1 1Q };
                mov(8) g10<1>D 1D { align1 WE_all 1Q };
                else(8) JIP: END { align1 1Q };
                OTHER:
                mov(8) g11<1>D 1D { align1 WE_all 1Q };
                END:
                endif(8) JIP: AFTER { align1 1Q };
                AFTER:
                mov(8) g12<1>D 1D { align1 1Q };";
    for (first, expected) in [(1.0, [1, 0, 1]), (-1.0, [0, 1, 1])] {
        let launch = Launch { dispatch_mask: 0xff, ..launch(&[(1, floats(&[first]))]) };
        let result = simulator(text, Chip::Gen7).run(&launch, &mut Nothing).unwrap();
        assert_eq!([10, 11, 12].map(|register| result.registers.word(register, 3)), expected);
    }
}
