//! Short random shaders over the whole opcode table: every stage of the translation must compute the same results as
//! the source.
//!
//! A seed determines a shader. Registers are typed: floats, integers, 64-bit floats and 64-bit integers have separate
//! temporaries, so that no shader reads the bits of a NaN, which are undefined. `TGSIC_GENERATED=20000` sets the number
//! of shaders, `TGSIC_GENERATED=7000..8000` their seeds; shaders that differ are written to the folder
//! `TGSIC_GENERATED_KEEP`.

use std::fmt::Write;
use std::ops::Range;

use crate::common::Folder;
use tgsi::tables::{Opcode, OperandType, OutputMode};

/// A source of random choices.
struct Random(tgsi_environment::Random);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        (self.0.bits() >> 16) as usize % n.max(1)
    }

    /// Returns true in one of `n` cases.
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn word(&mut self, of: &'static str) -> &'static str {
        let count = of.split_whitespace().count();
        of.split_whitespace().nth(self.below(count)).unwrap_or_default()
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// The type of the values of a register.
#[derive(Clone, Copy, PartialEq)]
enum RegisterType {
    Float,
    Integer,
    Double,
    Long,
}

use RegisterType::{Double, Float, Integer, Long};

impl RegisterType {
    fn of(ty: OperandType) -> RegisterType {
        match ty {
            OperandType::Double => Double,
            OperandType::Int64 | OperandType::Uint64 => Long,
            OperandType::Int | OperandType::Uint => Integer,
            _ => Float,
        }
    }

    fn is_wide(self) -> bool {
        matches!(self, Double | Long)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Vertex,
    Fragment,
    Compute,
    Geometry,
    Control,
    Evaluation,
}

const STAGES: [Stage; 8] = [
    Stage::Vertex,
    Stage::Vertex,
    Stage::Fragment,
    Stage::Fragment,
    Stage::Compute,
    Stage::Geometry,
    Stage::Control,
    Stage::Evaluation,
];

const TARGETS: &str = "BUFFER 1D 2D 3D CUBE RECT SHADOW1D SHADOW2D SHADOWRECT 1D_ARRAY 2D_ARRAY SHADOW1D_ARRAY SHADOW2D_ARRAY SHADOWCUBE 2D_MSAA 2D_ARRAY_MSAA \
    CUBEARRAY SHADOWCUBEARRAY";

const LOOKUPS: &str = "TEX TXB TXL TXD TXP TXF TXF_LZ TEX_LZ TG4 LODQ TXQ TXQS TEX2 TXB2 TXL2";

/// The lookups allowed for each target: the table of the check.
fn is_defined(lookup: &str, target: &str) -> bool {
    let full = matches!(target, "SHADOW2D_ARRAY" | "SHADOWCUBE" | "CUBEARRAY" | "SHADOWCUBEARRAY");
    match lookup {
        "TXQ" | "TXQS" | "TXF" | "TXF_LZ" => !(lookup.starts_with("TXF") && target.contains("CUBE")),
        _ if target == "BUFFER" || target.contains("MSAA") => false,
        "TEX" | "TEX_LZ" | "TXD" => target != "SHADOWCUBEARRAY",
        "TXP" => !target.contains("ARRAY") && target != "SHADOWCUBE",
        "TXB" | "TXL" => !full,
        "TEX2" => target == "SHADOWCUBEARRAY",
        "TG4" => !target.contains("1D") && target != "3D",
        _ => true,
    }
}

const SAMPLES: &str = "SAMPLE SAMPLE_B SAMPLE_C SAMPLE_C_LZ SAMPLE_D SAMPLE_L SAMPLE_I SAMPLE_I_MS GATHER4 SVIEWINFO SAMPLE_POS SAMPLE_INFO LOD";

const ATOMICS: &str = "ATOMUADD ATOMXCHG ATOMCAS ATOMAND ATOMOR ATOMXOR ATOMUMIN ATOMUMAX ATOMIMIN ATOMIMAX ATOMFADD ATOMINC_WRAP ATOMDEC_WRAP";

const FORMATS: &str = "R32_UINT R32_SINT R32G32B32A32_FLOAT R8G8B8A8_UNORM R16G16_SINT R11G11B10_FLOAT";

/// The control flow around a statement.
#[derive(Clone, Copy, PartialEq)]
struct Context {
    depth: u32,
    in_loop: bool,
    in_switch: bool,
    in_subroutine: bool,
}

struct Generator {
    random: Random,
    stage: Stage,
    code: Vec<String>,
    /// Targets of the four samplers or views.
    targets: [&'static str; 4],
    formats: [&'static str; 2],
    sample_family: bool,
    subroutines: bool,
    /// All lanes are still active.
    together: bool,
    loops: u32,
}

impl Generator {
    fn line(&mut self, line: String) {
        self.code.push(line);
    }

    fn swizzle(&mut self) -> String {
        (0..4).map(|_| self.random.pick(&['x', 'y', 'z', 'w'])).collect()
    }

    fn mask(&mut self) -> String {
        let bits = if self.random.one_in(3) { 15 } else { 1 + self.random.below(15) };
        if bits == 15 {
            return String::new();
        }
        let letters: String = "xyzw".chars().enumerate().filter(|(c, _)| bits >> c & 1 != 0).map(|(_, l)| l).collect();
        format!(".{letters}")
    }

    /// A scalar of an address register.
    fn address(&mut self) -> String {
        format!("ADDR[0].{}", self.random.pick(&['x', 'y', 'z', 'w']))
    }

    fn vertex(&mut self) -> String {
        if self.random.one_in(4) { self.address() } else { self.random.below(3).to_string() }
    }

    /// A register to read.
    fn register(&mut self, kind: RegisterType) -> String {
        let n = self.random.below(4);
        let half = n / 2;
        match kind {
            Double if n < 3 => return format!("TEMP[{}]", 4 + half),
            Long if n < 3 => return format!("TEMP[{}]", 6 + half),
            Double => return "IMM[3]".into(),
            Long => return "IMM[4]".into(),
            _ => {}
        }
        let float = kind == Float;
        match self.random.below(10) {
            0..3 => format!("TEMP[{}]", if float { half } else { 2 + half }),
            3 => format!("TEMP[{}+{n}]({})", self.address(), if float { 1 } else { 2 }),
            4 => format!("CONST[{half}][{n}]"),
            5 => format!("CONST[{half}][{}+{n}]", self.address()),
            6 if !float && self.stage == Stage::Compute => "SV[0]".into(),
            6 | 7 if self.stage != Stage::Compute => {
                let index = match self.random.below(4) {
                    0 => format!("{}+1", self.address()),
                    _ => self.random.below(3).to_string(),
                };
                match self.stage {
                    Stage::Vertex | Stage::Fragment => format!("IN[{index}]"),
                    _ => format!("IN[{}][{}]", self.vertex(), self.random.below(3)),
                }
            }
            _ if float => "IMM[0]".into(),
            _ => format!("IMM[{}]", 1 + half),
        }
    }

    /// An operand.
    fn source(&mut self, kind: RegisterType) -> String {
        let register = self.register(kind);
        if kind.is_wide() {
            let swizzle = self.random.pick(&["xyzw", "zwxy", "xyxy", "zwzw", "xyzw", "xyzw", "yxwz"]);
            return format!("{register}.{swizzle}");
        }
        let register = format!("{register}.{}", self.swizzle());
        match (kind, self.random.below(8)) {
            (Float, 0) => format!("-{register}"),
            (Float, 1) => format!("|{register}|"),
            (Float, 2) => format!("-|{register}|"),
            (Integer, 0) => format!("-{register}"),
            _ => register,
        }
    }

    /// A plain operand, for addressing memory and textures.
    fn plain(&mut self, kind: RegisterType) -> String {
        format!("{}.{}", self.register(kind), self.swizzle())
    }

    fn destination(&mut self, kind: RegisterType) -> String {
        let n = self.random.below(2);
        let output = |s: &Generator, register: usize| match s.stage {
            Stage::Compute => format!("TEMP[{}]", if kind == Float { 0 } else { 2 }),
            Stage::Control => format!("OUT[ADDR[1].x][{register}]"),
            _ => format!("OUT[{register}]"),
        };
        let register = match (kind, self.random.below(6)) {
            (Double, _) => format!("TEMP[{}]", 4 + n),
            (Long, _) => format!("TEMP[{}]", 6 + n),
            (Float, 0) => output(self, 0),
            (Integer, 0) => output(self, 1),
            (Float, 1) => format!("TEMP[{}+{n}](1)", self.address()),
            (Integer, 1) => format!("TEMP[{}+{n}](2)", self.address()),
            (Float, 2) => format!("TEMP[{}]", 8 + n),
            (Integer, 2) => format!("TEMP[{}]", 12 + n),
            (Float, _) => format!("TEMP[{n}]"),
            (Integer, _) => format!("TEMP[{}]", 2 + n),
        };
        register + &self.mask()
    }

    /// Emits an opcode with values as operands.
    fn arithmetic(&mut self, context: Context) {
        let opcode = self.random.pick(Opcode::ALL);
        let info = opcode.info();
        use Opcode::*;
        if info.output_mode == OutputMode::NoOutput || info.output_mode == OutputMode::Other && opcode != Ballot {
            return;
        }
        let mut dst = RegisterType::of(info.dst_type);
        let mut src: Vec<RegisterType> = info.src_types.iter().map(|&ty| RegisterType::of(ty)).collect();
        let fragment = self.stage == Stage::Fragment;
        match opcode {
            Ddx | Ddy | DdxFine | DdyFine if !(fragment && self.together && context.depth == 0) => return,
            ReadHelper if !fragment => return,
            // Inactive lanes must not be read.
            ReadInvoc if !self.together || context.depth > 0 => return,
            VoteAny | VoteAll | VoteEq | Ballot => (dst, src) = (Integer, vec![Integer]),
            D2i | D2u | Pk2h | Pk2us | Pk4b | Pk4ub | ReadHelper => dst = Integer,
            Up2us | Up4b | Up4ub => src = vec![Integer],
            ReadInvoc => {
                let value = self.source(Float);
                let dst = self.destination(Float);
                return self.line(format!("READ_INVOC {dst}, {value}, IMM[1].yyyy"));
            }
            U64shl | U64shr | I64shr => src[1] = Integer,
            Ucmp => src[0] = Integer,
            _ => {}
        }
        if matches!(opcode, Mov | Ucmp | ReadFirst) && self.random.one_in(2) {
            dst = Integer;
            src.fill(Integer);
        }
        let mut name = opcode.name().to_string();
        if dst == Float && self.random.one_in(6) || dst == Double && self.random.one_in(9) {
            name += "_SAT";
        }
        // A dot product that is not precise may add in another order.
        if self.random.one_in(5) || matches!(opcode, Dp2 | Dp3 | Dp4) {
            name += "_PRECISE";
        }
        // Instructions that move bits negate them like floats.
        let keeps_bits = matches!(opcode, Mov | Ucmp | ReadFirst) && dst == Integer;
        let dst = match opcode {
            Arl | Uarl | Arr if self.random.one_in(2) => "ADDR[0]".to_string() + &self.mask(),
            _ => self.destination(dst),
        };
        let src: Vec<String> =
            src.into_iter().map(|kind| if keeps_bits { self.plain(kind) } else { self.source(kind) }).collect();
        // The sign of a zero result is undefined here, so only the absolute value is used.
        let magnitude = match opcode {
            Min | Max | Lit => Some(format!("MOV {dst}, |TEMP[18]|")),
            Dmin | Dmax => Some(format!("DABS {dst}, TEMP[18]")),
            _ => None,
        };
        let dst = if magnitude.is_some() { "TEMP[18]".into() } else { dst };
        let operands: Vec<String> = std::iter::once(dst).chain(src).collect();
        self.line(format!("{name} {}", operands.join(", ")));
        if let Some(line) = magnitude {
            self.line(line);
        }
    }

    fn texture(&mut self) {
        let unit = self.random.below(4);
        let target = self.targets[unit];
        let lookup = self.random.word(LOOKUPS);
        if !is_defined(lookup, target) || lookup == "LODQ" && self.stage != Stage::Fragment {
            return;
        }
        let (query, fetch) = (matches!(lookup, "TXQ" | "TXQS"), lookup.starts_with("TXF"));
        let kind = if query { Integer } else { Float };
        let mut operands = vec![self.destination(kind)];
        if lookup != "TXQS" {
            operands.push(self.plain(if query || fetch { Integer } else { Float }));
        }
        match lookup {
            "TXD" => operands.extend([self.plain(Float), self.plain(Float)]),
            "TG4" if target == "SHADOWCUBEARRAY" => operands.push(self.plain(Float)),
            "TG4" => operands.push(format!("IMM[1].{}", self.random.pick(&["xxxx", "yyyy", "zzzz", "wwww"]))),
            "TEX2" | "TXB2" | "TXL2" => operands.push(self.plain(Float)),
            _ => {}
        }
        operands.push(match self.random.below(8) {
            0 => {
                self.line(format!("SAMP2HND TEMP[18].xy, SAMP[{unit}], {target}"));
                "TEMP[18]".into()
            }
            _ => format!("SAMP[{unit}]"),
        });
        operands.push(target.into());
        let offsets = match lookup {
            _ if query || target == "BUFFER" || target.contains("CUBE") || target.contains("MSAA") => 0,
            "TG4" if self.random.one_in(4) => 4,
            "LODQ" | "TXP" => 0,
            _ => usize::from(self.random.one_in(3)),
        };
        for _ in 0..offsets {
            let register = self.random.pick(&["IMM[1]", "IMM[2]", "TEMP[2]"]);
            operands.push(format!("{register}.{}", &self.swizzle()[..3]));
        }
        self.line(format!("{lookup} {}", operands.join(", ")));
    }

    fn sample(&mut self) {
        let view = self.random.below(4);
        let (target, opcode) = (self.targets[view], self.random.word(SAMPLES));
        let multisampled = target.contains("MSAA");
        let fits = match opcode {
            "SAMPLE_I" => !target.contains("CUBE") && !multisampled,
            "SAMPLE_I_MS" | "SAMPLE_POS" | "SAMPLE_INFO" => multisampled,
            "SVIEWINFO" => true,
            "GATHER4" => matches!(target, "2D" | "2D_ARRAY" | "CUBE" | "CUBEARRAY"),
            "LOD" | "SAMPLE" | "SAMPLE_B" | "SAMPLE_C" if self.stage != Stage::Fragment => false,
            _ => target != "BUFFER" && !multisampled,
        };
        if !fits {
            return;
        }
        let view = format!("SVIEW[{view}].{}", self.swizzle());
        let sampler = format!("SAMP[{}]", self.random.below(4));
        let kind = if opcode == "SVIEWINFO" { Integer } else { Float };
        let coordinate = self.plain(if opcode.starts_with("SAMPLE_I") || kind == Integer { Integer } else { Float });
        let mut operands = vec![self.destination(kind)];
        match opcode {
            "SAMPLE_POS" => operands.extend([view, "IMM[1].yyyy".into()]),
            "SAMPLE_INFO" => operands.extend([view, "IMM[1].xxxx".into()]),
            "SVIEWINFO" | "SAMPLE_I" => operands.extend([coordinate, view]),
            "SAMPLE_I_MS" => operands.extend([coordinate, view, "IMM[1].zzzz".into()]),
            "SAMPLE" | "GATHER4" | "LOD" => operands.extend([coordinate, view, sampler]),
            "SAMPLE_D" => operands.extend([coordinate, view, sampler, self.plain(Float), self.plain(Float)]),
            _ => operands.extend([coordinate, view, sampler, self.plain(Float)]),
        }
        self.line(format!("{opcode} {}", operands.join(", ")));
    }

    fn memory(&mut self) {
        let unit = self.random.below(2);
        let (image, counters) = (self.random.one_in(3), self.random.one_in(6));
        let shared = self.stage == Stage::Compute && self.random.one_in(3);
        let index = if self.random.one_in(4) { format!("{}+{unit}", self.address()) } else { unit.to_string() };
        let (resource, word) = if image {
            let word = format!(", {}, PIPE_FORMAT_{}", ["2D", "3D"][unit], self.formats[unit]);
            if self.random.one_in(4) {
                self.line(format!("IMG2HND TEMP[18].xy, IMAGE[{unit}]{word}"));
                ("TEMP[18]".to_string(), word)
            } else {
                (format!("IMAGE[{unit}]"), word)
            }
        } else if shared {
            ("MEMORY[0]".to_string(), String::new())
        } else {
            (format!("BUFFER[{index}]"), String::new())
        };
        // Mostly word addresses in bounds.
        let mut address = self.plain(Integer);
        if !image && !self.random.one_in(4) {
            self.line(format!("AND TEMP[19].x, {address}, IMM[5].xxxx"));
            address = "TEMP[19].xxxx".into();
        }
        let value = self.plain(Integer);
        let dst = self.destination(Integer);
        match self.random.below(5) {
            _ if counters => {
                let opcode =
                    self.random.pick(&["ATOMUADD", "ATOMXCHG", "ATOMAND", "ATOMUMAX", "ATOMIMIN", "LOAD", "ATOMCAS"]);
                let index = if self.random.one_in(3) { format!("{}+1", self.address()) } else { unit.to_string() };
                let value = match opcode {
                    "LOAD" => String::new(),
                    "ATOMCAS" => format!(", {value}, {value}"),
                    _ => format!(", {value}"),
                };
                self.line(format!("{opcode} {dst}, HWATOMIC[0][{index}], IMM[1].{}{value}", ["xxxx", "yyyy"][unit]));
            }
            0 if !shared => self.line(format!("RESQ {dst}, {resource}{word}")),
            0 | 1 => {
                let buffer = self.random.pick(&["CONST[1]", "CONST[0]"]);
                let resource = if !image && self.random.one_in(4) { buffer.into() } else { resource };
                self.line(format!("LOAD {dst}, {resource}, {address}{word}"));
            }
            2 => {
                let mask = if image { String::new() } else { self.mask() };
                self.line(format!("STORE {resource}{mask}, {address}, {value}{word}"));
            }
            _ => {
                let opcode = self.random.word(ATOMICS);
                // The result of two NaNs may be either.
                let value = if opcode == "ATOMFADD" { "IMM[0].yyyy".into() } else { value };
                let second = if opcode == "ATOMCAS" { format!(", {}", self.plain(Integer)) } else { String::new() };
                self.line(format!("{opcode} {dst}, {resource}, {address}, {value}{second}{word}"));
            }
        }
    }

    /// Emits a statement that exists in only one stage.
    fn special(&mut self, context: Context) {
        match self.stage {
            Stage::Fragment => match self.random.below(6) {
                0 => {
                    let dst = self.destination(Float);
                    let output = self.random.below(2);
                    self.line(format!("FBFETCH {dst}, OUT[{output}]"));
                }
                1 if context.depth > 0 => {
                    self.together = false;
                    let source = self.source(Float);
                    let line = self.random.pick(&["KILL", "DEMOTE", "KILL_IF "]);
                    self.line(if line == "KILL_IF " { line.to_string() + &source } else { line.into() });
                }
                _ => {
                    let opcode = self.random.pick(&["INTERP_CENTROID", "INTERP_SAMPLE", "INTERP_OFFSET"]);
                    let dst = self.destination(Float);
                    let index = if self.random.one_in(2) { self.address() } else { self.random.below(3).to_string() };
                    let modifier = self.random.pick(&["", "-"]);
                    let input = format!("{modifier}IN[{index}].{}", self.swizzle());
                    let last = match opcode {
                        "INTERP_SAMPLE" => format!(", {}", self.plain(Integer)),
                        "INTERP_OFFSET" => format!(", {}", self.plain(Float)),
                        _ => String::new(),
                    };
                    self.line(format!("{opcode} {dst}, {input}{last}"));
                }
            },
            Stage::Geometry => {
                let line = self.random.pick(&["EMIT IMM[1].xxxx", "EMIT IMM[1].yyyy", "ENDPRIM IMM[1].xxxx"]);
                self.line(line.into());
            }
            Stage::Control | Stage::Compute if context.depth == 0 && self.together => self.line("BARRIER".into()),
            _ => self.line("MEMBAR IMM[1].wwww".into()),
        }
    }

    fn condition(&mut self) -> String {
        if self.random.one_in(3) {
            format!("IF {}", self.source(Float))
        } else {
            format!("UIF {}", self.plain(Integer))
        }
    }

    fn statements(&mut self, count: usize, context: Context) {
        for _ in 0..count {
            self.statement(context);
        }
    }

    fn statement(&mut self, context: Context) {
        let inner = Context { depth: context.depth + 1, ..context };
        match self.random.below(40) {
            0..24 => self.arithmetic(context),
            24..28 if self.sample_family => self.sample(),
            24..28 => self.texture(),
            28..31 => self.memory(),
            31 | 32 => self.special(context),
            33 | 34 if context.depth < 3 => {
                let condition = self.condition();
                self.line(condition);
                let count = 1 + self.random.below(4);
                self.statements(count, inner);
                if self.random.one_in(2) {
                    self.line("ELSE".into());
                    self.statements(count, inner);
                }
                self.line("ENDIF".into());
            }
            35 if context.depth < 3 => {
                // At most four rounds.
                let counter = format!("TEMP[{}]", 20 + self.loops % 4);
                self.loops += 1;
                self.line(format!("MOV {counter}.x, IMM[1].xxxx"));
                self.line("BGNLOOP".into());
                self.line(format!("UADD {counter}.x, {counter}.xxxx, IMM[1].yyyy"));
                self.line(format!("USGE TEMP[19].y, {counter}.xxxx, IMM[5].yyyy"));
                self.line("UIF TEMP[19].yyyy".into());
                self.line("BRK".into());
                self.line("ENDIF".into());
                let count = 2 + self.random.below(5);
                self.statements(count, Context { in_loop: true, in_switch: false, ..inner });
                self.line("ENDLOOP".into());
            }
            36 if context.depth < 3 => {
                let selector = self.plain(Integer);
                self.line(format!("SWITCH {selector}"));
                let default = self.random.below(4);
                for label in 0..3 {
                    if label == default {
                        self.line("DEFAULT".into());
                    }
                    self.line(format!("CASE IMM[1].{}", ["xxxx", "yyyy", "zzzz"][label]));
                    self.statements(2, Context { in_switch: true, ..inner });
                    if self.random.one_in(2) {
                        self.line("BRK".into());
                    }
                }
                self.line("ENDSWITCH".into());
            }
            37 | 38 if context.in_loop || context.in_switch => {
                let jump = if context.in_loop { self.random.pick(&["BRK", "CONT"]) } else { "BRK" };
                let condition = self.condition();
                self.line(condition);
                self.line(jump.into());
                self.line("ENDIF".into());
            }
            39 if self.subroutines => {
                if context.in_subroutine || self.random.one_in(4) && self.stage != Stage::Control {
                    self.together = false;
                    let condition = self.condition();
                    self.line(condition);
                    self.line("RET".into());
                    self.line("ENDIF".into());
                } else {
                    self.line("CAL".into());
                }
            }
            _ => self.arithmetic(context),
        }
    }

    /// Writes the outputs, or the results of a compute shader.
    fn results(&mut self) {
        for (output, register) in [0, 2, 4, 6, 9, 13].into_iter().enumerate() {
            match self.stage {
                Stage::Compute => {
                    self.line(format!(
                        "UMAD TEMP[19].x, SV[0].xxxx, IMM[5].zzzz, IMM[{}].{}",
                        6 + output / 4,
                        ["xxxx", "yyyy", "zzzz", "wwww"][output % 4]
                    ));
                    self.line(format!("STORE BUFFER[2], TEMP[19].xxxx, TEMP[{register}]"));
                }
                Stage::Control => self.line(format!("MOV OUT[ADDR[1].x][{}], TEMP[{register}]", 2 + output)),
                _ => self.line(format!("MOV OUT[{}], TEMP[{register}]", 2 + output)),
            }
        }
        if self.stage == Stage::Geometry {
            self.line("EMIT IMM[1].xxxx".into());
        }
    }

    fn declarations(&self) -> String {
        let mut text = String::new();
        let mut say = |line: &str| writeln!(text, "{line}").expect("written");
        let vertices = match self.stage {
            Stage::Vertex => {
                say("VERT\nDCL IN[0..2]");
                None
            }
            Stage::Fragment => {
                say(
                    "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL IN[1], GENERIC[1], LINEAR\nDCL IN[2], GENERIC[2], CONSTANT",
                );
                None
            }
            Stage::Compute => {
                say(
                    "COMP\nPROPERTY CS_FIXED_BLOCK_WIDTH 4\nPROPERTY CS_FIXED_BLOCK_HEIGHT 1\nPROPERTY CS_FIXED_BLOCK_DEPTH 1",
                );
                say("DCL SV[0], THREAD_ID\nDCL MEMORY[0], SHARED\nDCL BUFFER[2]");
                None
            }
            Stage::Geometry => {
                say(
                    "GEOM\nPROPERTY GS_INPUT_PRIMITIVE TRIANGLES\nPROPERTY GS_OUTPUT_PRIMITIVE POINTS\nPROPERTY GS_MAX_OUTPUT_VERTICES 6",
                );
                Some("IN[]")
            }
            Stage::Control => {
                say("TESS_CTRL\nPROPERTY TCS_VERTICES_OUT 4\nDCL SV[0], INVOCATIONID");
                Some("IN[]")
            }
            Stage::Evaluation => {
                say("TESS_EVAL\nPROPERTY TES_PRIM_MODE 4");
                Some("IN[]")
            }
        };
        for register in (0..3).filter(|_| vertices.is_some()) {
            say(&format!("DCL IN[][{register}], GENERIC[{register}]"));
        }
        for register in (0..8).filter(|_| self.stage != Stage::Compute) {
            let file = if self.stage == Stage::Control { "OUT[]" } else { "OUT" };
            let name = if self.stage == Stage::Fragment { "COLOR" } else { "GENERIC" };
            say(&format!("DCL {file}[{register}], {name}[{register}]"));
        }
        for (unit, target) in self.targets.iter().enumerate() {
            say(&format!("DCL SAMP[{unit}]\nDCL SVIEW[{unit}], {target}, FLOAT"));
        }
        for (unit, format) in self.formats.iter().enumerate() {
            say(&format!("DCL IMAGE[{unit}], {}, PIPE_FORMAT_{format}, WR", ["2D", "3D"][unit]));
        }
        say("DCL BUFFER[0]\nDCL BUFFER[1]\nDCL HWATOMIC[0][0..3]\nDCL CONST[0][0..3]\nDCL CONST[1][0..3]");
        say("DCL TEMP[0..7]\nDCL TEMP[8..11], ARRAY(1)\nDCL TEMP[12..15], ARRAY(2)\nDCL TEMP[16..23]\nDCL ADDR[0..1]");
        say("IMM[0] FLT32 {0.5, -1.5, 2.0, 0.0}\nIMM[1] INT32 {0, 1, 2, 3}\nIMM[2] INT32 {-1, 32, 31, 5}");
        say("IMM[3] FLT64 {1.5, -2.25}\nIMM[4] INT32 {7, 0, -3, -1}\nIMM[5] INT32 {60, 4, 128, 0}");
        say("IMM[6] INT32 {0, 16, 32, 48}\nIMM[7] INT32 {64, 80, 96, 112}");
        text
    }
}

fn shader(seed: u64) -> String {
    let mut random = Random(tgsi_environment::Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)));
    let sample_family = random.one_in(4);
    let targets = std::array::from_fn(|_| {
        loop {
            let target = random.word(TARGETS);
            if !(sample_family && target.contains("SHADOW")) {
                return target;
            }
        }
    });
    let formats = std::array::from_fn(|_| random.word(FORMATS));
    let stage = random.pick(&STAGES);
    let subroutines = random.one_in(5);
    let mut generator = Generator {
        random,
        stage,
        code: Vec::new(),
        targets,
        formats,
        sample_family,
        subroutines,
        together: true,
        loops: 0,
    };
    let context = Context { depth: 0, in_loop: false, in_switch: false, in_subroutine: false };
    generator.line("UARL ADDR[0], IMM[1].xyxz".into());
    if stage == Stage::Control {
        generator.line("UARL ADDR[1].x, SV[0].xxxx".into());
    }
    let count = 4 + generator.random.below(16);
    generator.statements(count, context);
    generator.results();
    generator.line("END".into());
    let begin = generator.code.len();
    if subroutines {
        generator.together = false;
        generator.line("BGNSUB".into());
        generator.statements(5, Context { depth: 1, in_subroutine: true, ..context });
        generator.line("ENDSUB".into());
    }
    let mut text = generator.declarations();
    for (number, line) in generator.code.iter().enumerate() {
        let label = if line == "CAL" { format!(" :{begin}") } else { String::new() };
        writeln!(text, "{number:3}: {line}{label}").expect("written");
    }
    text
}

/// Returns the seeds to try.
fn seeds() -> Range<u64> {
    let number = |text: &str| text.trim().parse::<u64>().expect("TGSIC_GENERATED is a number, or two with .. between");
    match std::env::var("TGSIC_GENERATED") {
        Err(_) => 0..400,
        Ok(text) => match text.split_once("..") {
            Some((first, end)) => number(first)..number(end),
            None => 0..number(&text),
        },
    }
}

#[test]
fn all_stages_compute_the_same() {
    let folder = Folder::new();
    let (seeds, keep) = (seeds(), std::env::var_os("TGSIC_GENERATED_KEEP").map(std::path::PathBuf::from));
    let mut different = String::new();
    let mut without_result = 0;
    for first in seeds.clone().step_by(500) {
        let names: Vec<String> = (first..seeds.end.min(first + 500))
            .map(|seed| (seed, format!("{seed}.tgsi")))
            .map(|(seed, name)| {
                folder.write(&name, shader(seed).as_bytes());
                name
            })
            .collect();
        let arguments = ["verify", "--json", "--seeds", "4"].into_iter().chain(names.iter().map(String::as_str));
        let output = folder.run(&arguments.collect::<Vec<_>>());
        let totals: serde_json::Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("no result: {} {}", output.status, output.stderr));
        for message in totals["first"].as_array().into_iter().flatten().filter_map(|message| message.as_str()) {
            writeln!(different, "{message}").expect("written");
            if let (Some(keep), Some((name, _))) = (&keep, message.split_once(": ")) {
                std::fs::write(keep.join(name), folder.read(name)).expect("kept");
            }
        }
        let endless = totals["without_result"].as_u64().unwrap_or(0);
        without_result += endless;
        if totals["equal"].as_u64().map(|equal| equal + endless) != Some(names.len() as u64)
            && totals["first"].as_array().is_none_or(Vec::is_empty)
        {
            different += &output.stderr;
        }
    }
    assert!(different.is_empty(), "{different}");
    // Counts runs without a result, because all loops must terminate.
    assert!(without_result * 100 <= seeds.end - seeds.start, "{without_result} do not end");
}
