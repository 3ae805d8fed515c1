//! Small programs and their listings.

use pretty_assertions::assert_eq;
use tgsi_ir::ShaderStage;
use tgsi_vec4::simple::{Destination, File, Guard, Relative, Source};

use super::super::{VertexOptions, finish};
use crate::Nv40Error;
use crate::isa::{Chip, EncodeError};
use crate::listing;
use crate::machine::{Code, Machine, MachineInstruction, Program, Selected};
use crate::program::VertexProgram;

const NE: u8 = 5;
const LT: u8 = 1;

/// A program in progress.
struct Builder(Program);

fn input(index: i32) -> Source {
    Source::new(File::Input, index)
}

fn uniform(index: i32) -> Source {
    Source::new(File::Uniform, index)
}

fn temp(index: i32) -> Source {
    Source::new(File::Temporary, index)
}

fn to_temp(index: i32, mask: u8) -> Destination {
    Destination::new(File::Temporary, index, mask)
}

fn to_output(index: i32, mask: u8) -> Destination {
    Destination::new(File::Output, index, mask)
}

fn to_special(index: u8, mask: u8) -> Destination {
    Destination::new(File::Special, index.into(), mask)
}

fn guard(condition: u8, component: u8) -> Guard {
    Guard { register: 0, condition, swizzle: [component; 4] }
}

impl Builder {
    fn new(chip: Chip, temps: u32) -> Builder {
        let mut program = Program::new(Machine { chip, stage: ShaderStage::Vertex }, 0);
        program.set_num_temps(temps);
        Builder(program)
    }

    fn literal(&mut self, words: [f32; 4]) -> Source {
        Source::new(File::Constant, self.0.constants.intern(words.map(f32::to_bits)))
    }

    fn emit(&mut self, code: Code, to: Destination, sources: &[Source]) {
        self.0.push(MachineInstruction::new(code.into(), Some(to), sources.iter().copied()));
    }

    fn guarded(&mut self, guard: Guard, code: Code, to: Destination, sources: &[Source]) {
        let mut instruction = MachineInstruction::new(code.into(), Some(to), sources.iter().copied());
        instruction.guard = Some(guard);
        self.0.push(instruction);
    }

    fn flow(&mut self, code: Code, guard: Option<Guard>) {
        let mut instruction = MachineInstruction::new(code.into(), None, []);
        instruction.guard = guard;
        self.0.push(instruction);
    }

    fn finish(self, options: &VertexOptions) -> Result<VertexProgram, Nv40Error> {
        let selected =
            Selected { program: self.0, inputs: Vec::new(), outputs: Vec::new(), textures: Vec::new(), uniforms: 10 };
        finish(selected, options)
    }

    /// The instructions of the listing.
    fn text(self) -> String {
        let program = self.finish(&VertexOptions::default()).expect("the chip has all of it");
        let text = listing::vertex(&program.slots, program.chip);
        text.lines().skip(2).flat_map(|line| [line, "\n"]).collect()
    }
}

#[test]
fn an_empty_program_is_one_instruction() {
    for chip in Chip::ALL {
        assert_eq!(Builder::new(chip, 0).text(), "NOP;\nEND\n");
    }
}

#[test]
fn units_work_together() {
    let mut program = Builder::new(Chip::Nv40, 4);
    program.emit(Code::Rcp, to_temp(0, 8), &[input(0).swizzled([3; 4])]);
    program.emit(Code::Mul, to_temp(1, 7), &[input(0), uniform(0)]);
    program.emit(Code::Mul, to_output(0, 7), &[temp(1), temp(0).swizzled([3; 4])]);
    program.emit(Code::Mov, to_output(1, 15), &[uniform(1)]);
    program.emit(Code::Mov, to_output(7, 15), &[input(8)]);
    let expected = "\
MUL R0.xyz, v[0], c[0];
RCP R0.w, v[0].w; # paired
MUL o[HPOS].xyz, R0, R0.w;
MOV o[COL0], c[1];
MOV o[TEX0], v[8];
END
";
    assert_eq!(program.text(), expected);
}

#[test]
fn moves_use_the_scalar_unit() {
    let build = |chip| {
        let mut program = Builder::new(chip, 2);
        program.emit(Code::Mul, to_temp(0, 15), &[input(0), uniform(0)]);
        program.emit(Code::Mov, to_output(1, 15), &[input(0)]);
        program.emit(Code::Mad, to_output(0, 15), &[temp(0), temp(0), uniform(1)]);
        program.emit(Code::Add, to_output(2, 3), &[uniform(1), temp(0)]);
        program
    };
    let expected = "\
MUL R0, v[0], c[0];
MOV o[COL0], v[0]; # paired
MAD o[HPOS], R0, R0, c[1];
ADD o[COL1].xy, c[1], R0;
END
";
    assert_eq!(build(Chip::Nv40).text(), expected);
    assert_eq!(build(Chip::Nv30).text(), expected.replace("COL0", "BFC0").replace("COL1", "BFC1"));
    let alone = VertexOptions { pairs: false, ..VertexOptions::default() };
    assert_eq!(build(Chip::Nv40).finish(&alone).unwrap().slots.len(), 4);
}

#[test]
fn results_are_written_twice() {
    let mut program = Builder::new(Chip::Rsx, 1);
    program.emit(Code::Dp4, to_temp(0, 1), &[input(0), uniform(0)]);
    program.emit(Code::Mov, to_output(0, 1), &[temp(0)]);
    program.emit(Code::Mul, to_output(1, 15), &[temp(0).swizzled([0; 4]), uniform(1)]);
    let expected = "\
DP4 R0.x, v[0], c[0];
DP4 o[HPOS].x, v[0], c[0]; # paired
MUL o[COL0], R0.x, c[1];
END
";
    assert_eq!(program.text(), expected);
}

#[test]
fn producers_take_guards() {
    let mut program = Builder::new(Chip::Nv30, 3);
    program.emit(Code::Mul, to_temp(0, 15), &[input(1), uniform(0)]);
    program.emit(Code::Add, to_temp(1, 15), &[input(1), uniform(1)]);
    program.emit(Code::Sge, to_special(0, 1), &[input(0), uniform(2)]);
    program.emit(Code::Mov, to_temp(2, 15), &[temp(0)]);
    program.guarded(guard(NE, 0), Code::Mov, to_temp(2, 15), &[temp(1)]);
    program.emit(Code::Mov, to_output(0, 15), &[temp(2)]);
    let expected = "\
MUL o[HPOS], v[1], c[0];
SGEC RC.x, v[0].x, c[2].x;
ADD o[HPOS](NE.x), v[1], c[1];
END
";
    assert_eq!(program.text(), expected);
}

#[test]
fn literals_share_rows() {
    let mut program = Builder::new(Chip::Nv40, 1);
    let rows = [[2.0, 3.0, 0.0, 0.0], [-3.0, -2.0, -3.0, -2.0], [5.0; 4], [0.0, 0.0, 9.0, 9.0], [1.0; 4]];
    let [a, b, c, zero, one] = rows.map(|row| program.literal(row));
    program.emit(Code::Mul, to_output(0, 3), &[input(0), a]);
    program.emit(Code::Add, to_output(1, 15), &[input(0), b]);
    program.emit(Code::Mad, to_output(2, 15), &[input(0), c, Source { absolute: true, ..b }.swizzled([0; 4])]);
    program.emit(Code::Mov, to_output(3, 3), &[zero]);
    program.emit(Code::Mov, to_output(4, 15), &[one]);
    program.emit(Code::Mov, to_output(7, 15), &[Source { negate: true, ..one }]);
    let finished = program.finish(&VertexOptions::default()).unwrap();
    let [row] = &finished.literals[..] else { panic!("{:?}", finished.literals) };
    assert_eq!((row.constant, row.words.map(f32::from_bits)), (10, [2.0, 3.0, 5.0, 1.0]));
    assert_eq!((finished.constants, finished.constant_slots), (11, vec![0, 1, 2, 5]));
    let text = listing::vertex(&finished.slots, Chip::Nv40);
    let expected = "\
!!ARBvp1.0
OPTION NV_vertex_program3;
MUL o[HPOS].xy, v[0], c[10];
ADD o[COL0], v[0], -c[10].yxyx;
MAD o[COL1], v[0], c[10].z, c[10].y;
SFL o[BFC0].xy;
STR o[BFC1];
MOV o[TEX0], -c[10].w;
END
";
    assert_eq!(text, expected);
}

#[test]
fn loops_have_one_branch_for_their_end() {
    let mut program = Builder::new(Chip::Nv40, 1);
    let [zero, one, limit] = [0.0, 1.0, 8.0].map(|value| program.literal([value; 4]));
    program.emit(Code::Mov, to_temp(0, 1), &[zero]);
    program.flow(Code::Loop, None);
    program.emit(Code::Sge, to_special(0, 1), &[temp(0), limit]);
    program.flow(Code::If, Some(guard(NE, 0)));
    program.flow(Code::Brk, None);
    program.flow(Code::EndIf, None);
    program.emit(Code::Add, to_temp(0, 1), &[temp(0), one]);
    program.flow(Code::EndLoop, None);
    program.emit(Code::Mov, to_output(0, 15), &[temp(0).swizzled([0; 4])]);
    let expected = "\
SFL R0.x;
BB1:
SGEC RC.x, R0.x, c[10].x;
BRA BB2(NE.x);
ADD R0.x, R0.x, c[10].y;
BRA BB1;
BB2:
MOV o[HPOS], R0.x;
END
";
    assert_eq!(program.text(), expected);
}

/// A test of an order has an inverse if the tested value is not NaN.
#[test]
fn conditions_are_inverted_if_possible() {
    let build = |code: Code, sources: &[Source]| {
        let mut program = Builder::new(Chip::Nv40, 1);
        program.emit(code, to_special(0, 1), sources);
        program.flow(Code::If, Some(guard(LT, 0)));
        program.emit(Code::Mov, to_output(1, 15), &[input(1)]);
        program.flow(Code::Else, None);
        program.emit(Code::Mov, to_output(2, 15), &[input(2)]);
        program.flow(Code::EndIf, None);
        program
    };
    let inverted = "\
SLTC RC.x, v[0].x, c[0].x;
BRA BB1(GE.x);
MOV o[COL0], v[1];
BRA BB2;
BB1:
MOV o[COL1], v[2];
BB2:
NOP;
END
";
    assert_eq!(build(Code::Slt, &[input(0), uniform(0)]).text(), inverted);
    let direct = "\
MOVC RC.x, v[0].x;
BRA BB1(LT.x);
BRA BB2;
BB1:
MOV o[COL0], v[1];
BRA BB3;
BB2:
MOV o[COL1], v[2];
BB3:
NOP;
END
";
    assert_eq!(build(Code::Mov, &[input(0)]).text(), direct);
}

#[test]
fn constants_and_outputs_are_indexed() {
    let mut program = Builder::new(Chip::Nv40, 1);
    let index = Some(Relative { register: 2, component: 1 });
    program.emit(Code::Arl, to_special(2, 2), &[input(0)]);
    program.emit(Code::Mul, to_temp(0, 15), &[Source { relative: index, ..uniform(3) }, input(0)]);
    program.emit(Code::Mov, Destination { relative: index, ..to_output(7, 15) }, &[temp(0)]);
    let expected = "\
ARL A0.y, v[0].y;
MUL R0, c[A0.y + 3], v[0];
MOV o[A0.y + TEX0], R0;
END
";
    assert_eq!(program.text(), expected);

    let mut negative = Builder::new(Chip::Nv40, 1);
    negative.emit(Code::Arl, to_special(2, 2), &[input(0)]);
    negative.emit(Code::Mov, to_output(0, 15), &[Source { relative: index, ..uniform(-1) }]);
    let error = negative.finish(&VertexOptions::default()).unwrap_err();
    assert!(matches!(error, Nv40Error::Encode(EncodeError::Range("constant", ..))), "{error}");
}

#[test]
fn vectors_may_work_beside_branches() {
    let build = || {
        let mut program = Builder::new(Chip::Nv40, 1);
        program.emit(Code::Mov, to_special(0, 1), &[input(0)]);
        program.flow(Code::If, Some(guard(NE, 0)));
        program.emit(Code::Mul, to_output(1, 15), &[input(1), input(1)]);
        program.flow(Code::Else, None);
        program.emit(Code::Mov, to_output(2, 15), &[input(2)]);
        program.flow(Code::EndIf, None);
        program.emit(Code::Mov, to_output(0, 15), &[input(0)]);
        program
    };
    let options = VertexOptions { vector_beside_branch: true, ..VertexOptions::default() };
    let program = build().finish(&options).unwrap();
    let expected = "\
!!ARBvp1.0
OPTION NV_vertex_program3;
MOVC RC.x, v[0].x;
BRA BB1(EQ.x);
MUL o[COL0], v[1], v[1];
BRA BB2; # paired
BB1:
MOV o[COL1], v[2];
BB2:
MOV o[HPOS], v[0];
END
";
    assert_eq!(listing::vertex(&program.slots, Chip::Nv40), expected);
    assert_eq!((program.branches, program.slots.len()), (vec![1, 2], 5));
    assert_eq!(build().finish(&VertexOptions::default()).unwrap().slots.len(), 6);
}

#[test]
fn limits_are_errors() {
    let what = |program: Builder| match program.finish(&VertexOptions::default()) {
        Err(Nv40Error::TooMany { what, found, limit, .. }) => (what, found, limit),
        other => panic!("{other:?}"),
    };
    // Loops keep all of them live.
    let mut temporaries = Builder::new(Chip::Nv30, 17);
    (0..17).for_each(|at| temporaries.emit(Code::Mul, to_temp(at, 15), &[input(at & 7), uniform(at & 7)]));
    let sum = |program: &mut Builder| {
        for at in 0..17 {
            program.emit(Code::Dp4, to_output(at & 7, 1 << (at & 3)), &[temp(at), temp((at * 7 + 3) % 17)]);
        }
    };
    sum(&mut temporaries);
    assert_eq!(what(temporaries), ("temporary registers", 17, 16));
    let mut constants = Builder::new(Chip::Nv30, 0);
    for number in 0..1000 {
        let row = constants.literal([1, 2, 3, 4].map(|part| (number * 4 + part) as f32));
        constants.emit(Code::Mul, to_output(0, 15), &[input(0), row]);
    }
    assert_eq!(what(constants), ("constants", 1010, 256));
    let mut slots = Builder::new(Chip::Nv40, 1);
    (0..600).for_each(|at| slots.emit(Code::Mad, to_temp(0, 15), &[temp(0), input(0), uniform(at % 10)]));
    slots.emit(Code::Mov, to_output(0, 15), &[temp(0)]);
    let mut long = slots.0.clone();
    assert_eq!(what(slots), ("instructions", 600, 512));
    long.machine.chip = Chip::Rsx;
    assert_eq!(what(Builder(long)), ("instructions", 600, 544));
}
