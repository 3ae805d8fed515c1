//! Small programs with their listings.

use tgsi_ir::ShaderStage;
use tgsi_vec4::simple::{Destination, File, Guard, Source, push_legal};

use super::unit;
use crate::fragment::{FragmentOptions, finish};
use crate::isa::Chip;
use crate::isa::fragment::Scale;
use crate::listing::{TextureTarget, fragment};
use crate::machine::{Code, Lookup, Machine, MachineInstruction, Op, Program, Selected};
use crate::program::{FragmentProgram, Varying};

/// The listing of a program, without the first lines and the last one.
pub fn text(program: &FragmentProgram) -> String {
    let text = fragment(&program.program.words, program.chip, &[TextureTarget::D2; 16]);
    let lines = text.lines().filter(|line| !line.starts_with("!!") && !line.starts_with("OPTION") && *line != "END");
    lines.collect::<Vec<_>>().join("\n")
}

/// A program that is written by hand.
struct Writer(Program);

impl Writer {
    fn new() -> Writer {
        Writer(Program::new(Machine { chip: Chip::Nv40, stage: ShaderStage::Fragment }, 0))
    }

    fn temp(&mut self) -> i32 {
        self.0.new_temp() as i32
    }

    fn literal(&mut self, words: [f32; 4]) -> Source {
        Source::new(File::Constant, self.0.constants.intern(words.map(f32::to_bits)))
    }

    fn op(&mut self, code: impl Into<Op>, to: Option<Destination>, sources: &[Source]) -> &mut Self {
        push_legal(&mut self.0, MachineInstruction::new(code.into(), to, sources.iter().copied()));
        self
    }

    fn guarded(&mut self, code: Code, to: Option<Destination>, sources: &[Source], condition: u8) -> &mut Self {
        let mut instruction = MachineInstruction::new(code.into(), to, sources.iter().copied());
        instruction.guard = Some(Guard { register: 0, condition, swizzle: [0; 4] });
        push_legal(&mut self.0, instruction);
        self
    }

    fn finish(self, outputs: &[u8], options: &FragmentOptions) -> String {
        let varying = |&number: &u8| Varying { register: 0, location: 0, number, component: 0, mask: 15 };
        let selected = Selected {
            program: self.0,
            inputs: Vec::new(),
            outputs: outputs.iter().map(varying).collect(),
            textures: Vec::new(),
            uniforms: 8,
        };
        text(&finish(selected, options).unwrap())
    }
}

fn temp(index: i32) -> Source {
    Source::new(File::Temporary, index)
}

fn to(file: File, index: i32, mask: u8) -> Option<Destination> {
    Some(Destination::new(file, index, mask))
}

const INPUT: Source = Source::new(File::Input, 4);
const USUAL: FragmentOptions = FragmentOptions { exports_full: false, half: false, optimize: true, schedule: true };

/// A texture times a uniform, to H0.
#[test]
fn modulated_texture() {
    let write = |options: &FragmentOptions| {
        let mut writer = Writer::new();
        let (a, b) = (writer.temp(), writer.temp());
        writer.op(Code::Sample(unit(0, Lookup::Tex)), to(File::Temporary, a, 15), &[INPUT]);
        writer.op(Code::Mul, to(File::Temporary, b, 15), &[temp(a), Source::new(File::Uniform, 3)]);
        writer.op(Code::Mov, to(File::Output, 0, 15), &[temp(b)]);
        writer.finish(&[0], options)
    };
    assert_eq!(write(&USUAL), "TEX R0, f[TEX0], TEX0, 2D;\nMULR H0, R0, {0, 0, 0, 0};");
    assert_eq!(
        write(&FragmentOptions { half: true, ..USUAL }),
        "TEX H0, f[TEX0], TEX0, 2D; # fp16\nMULH H0, H0, {0, 0, 0, 0};"
    );
    assert_eq!(
        write(&FragmentOptions { exports_full: true, ..USUAL }),
        "TEX R0, f[TEX0], TEX0, 2D;\nMULR R0, R0, {0, 0, 0, 0};"
    );
}

/// A comparison writes its operand and the condition register; one side is its own producer.
#[test]
fn conditions_are_written_beside_registers() {
    let mut writer = Writer::new();
    let (a, b) = (writer.temp(), writer.temp());
    writer.op(Code::Add, to(File::Temporary, a, 1), &[INPUT, INPUT.swizzled([1; 4])]);
    writer.op(Code::Mov, to(File::Special, 0, 1), &[temp(a)]);
    writer.op(Code::Mul, to(File::Temporary, b, 15), &[INPUT, temp(a).swizzled([0; 4])]);
    writer.guarded(Code::Kil, None, &[], 1);
    writer.op(Code::Mov, to(File::Output, 0, 15), &[temp(b)]);
    let expected = ["ADDRC R0.x, f[TEX0].x, f[TEX0].y;", "MULR H0, f[TEX0], R0.x;", "KIL (LT.x);"];
    assert_eq!(writer.finish(&[0], &USUAL), expected.join("\n"));
}

/// Factors become part of the producer.
#[test]
fn factors_are_folded() {
    let mut writer = Writer::new();
    let (a, b) = (writer.temp(), writer.temp());
    writer.op(Code::Mad, to(File::Temporary, a, 15), &[INPUT, INPUT, INPUT]);
    writer.op(Op { code: Code::Mov, scale: Scale::Two }, to(File::Temporary, b, 15), &[temp(a)]);
    writer.op(Op { code: Code::Mov, scale: Scale::Four }, to(File::Output, 0, 15), &[temp(b)]);
    let expected = ["MADR H0, f[TEX0], f[TEX0], f[TEX0]; # result * 8"];
    assert_eq!(writer.finish(&[0], &USUAL), expected.join("\n"));
}

/// Copies of 0 and 1 have no constant slot; other literals are a row beside the instruction.
#[test]
fn literals() {
    let mut writer = Writer::new();
    let [zero, one] = [0.0, 1.0].map(|value| writer.literal([value; 4]));
    let row = writer.literal([0.5, 2.0, 3.0, 0.25]);
    writer.op(Code::Mov, to(File::Output, 0, 7), &[zero]);
    writer.op(Code::Mov, to(File::Output, 0, 8), &[one]);
    writer.op(Code::Mad, to(File::Output, 1, 15), &[INPUT, row, row.swizzled([3, 2, 1, 0])]);
    let expected = ["MOVR H0, {0, 0, 0, 1};", "MADR H4, f[TEX0], {0.5, 2, 3, 0.25}, {0.5, 2, 3, 0.25}.wzyx;"];
    assert_eq!(writer.finish(&[0, 1], &USUAL), expected.join("\n"));
}

/// A loop that ends by its condition is two repetitions with a flag.
#[test]
fn loops() {
    let mut writer = Writer::new();
    let [zero, one] = [0.0, 1.0].map(|value| writer.literal([value; 4]));
    let a = writer.temp();
    writer.op(Code::Mov, to(File::Temporary, a, 1), &[zero]);
    writer.op(Code::Loop, None, &[]);
    writer.op(Code::Add, to(File::Temporary, a, 1), &[temp(a), one]);
    writer.op(Code::Slt, to(File::Special, 0, 1), &[INPUT, temp(a)]);
    writer.guarded(Code::If, None, &[], 5);
    writer.op(Code::Brk, None, &[]).op(Code::EndIf, None, &[]).op(Code::EndLoop, None, &[]);
    writer.op(Code::Mov, to(File::Output, 0, 15), &[temp(a).swizzled([0; 4])]);
    let expected = [
        "SFLR R0.x;",
        "REP {255};",
        "REP {255};",
        "ADDR R0.x, R0.x, {1, 1, 1, 1}.x;",
        "SLTRC RC.x, f[TEX0], R0;",
        "STRRC1 RC.x(NE.x);",
        "BRK (NE1.x);",
        "ENDREP;",
        "BRK (NE1.x);",
        "ENDREP;",
        "MOVR H0, R0.x;",
    ];
    assert_eq!(writer.finish(&[0], &USUAL), expected.join("\n"));
}

/// Depth stays in R1, which temporaries share before.
#[test]
fn depth() {
    let mut writer = Writer::new();
    let a = writer.temp();
    writer.op(Code::Rcp, to(File::Temporary, a, 1), &[INPUT]);
    writer.op(Code::Mul, to(File::Output, 4, 4), &[temp(a).swizzled([0; 4]), INPUT]);
    let expected = ["RCPR R0.x, f[TEX0].x;", "MULR R1.z, R0.x, f[TEX0];"];
    assert_eq!(writer.finish(&[4], &USUAL), expected.join("\n"));
}

#[test]
fn nothing() {
    assert_eq!(Writer::new().finish(&[0], &USUAL), "NOP;");
}
