//! Programs from text.

use super::cursor::{Cursor, Fault};
use super::parse_operand::{Parsed, ParsedSource, flag, parsed, source};
use super::{ParseError, Problem};
use crate::isa::{
    AccessMode, Branch, Chip, Condition, Descriptor, Destination, Detail, ExecutionSize, Flag, Form, Immediate,
    Instruction, MathFunction, Message, Opcode, Operand, Predicate, PredicateControl, Region, SharedFunction, Source,
    Swizzle, ThreadControl, Type, VerticalStride, WriteMask, encode, message_word, positions,
};

use arrayvec::ArrayVec;

use std::collections::HashMap;

type Result<T> = std::result::Result<T, Fault>;

/// Reads a program.
pub fn assemble(text: &str, chip: Chip) -> std::result::Result<Vec<Instruction>, ParseError> {
    program(text, chip).map_err(|(position, problem)| {
        let before = text.get(..position).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |index| index + 1);
        ParseError { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1, problem }
    })
}

/// A target of a branch.
#[derive(Clone, Copy)]
enum Target<'t> {
    Label(&'t str, usize),
    Distance(i16),
}

/// The targets of a branch, by the index of the instruction.
struct Pending<'t> {
    index: usize,
    jip: Target<'t>,
    uip: Option<Target<'t>>,
}

fn program(text: &str, chip: Chip) -> Result<Vec<Instruction>> {
    let mut cursor = Cursor::new(text);
    let mut instructions = Vec::new();
    let mut starts = Vec::new();
    let mut labels = HashMap::new();
    let mut pending = Vec::new();
    loop {
        cursor.skip()?;
        if cursor.is_end() {
            break;
        }
        let mut ahead = cursor;
        let name = ahead.name();
        if !name.is_empty() && ahead.eat(":") {
            if labels.insert(name, instructions.len()).is_some() {
                return Err(cursor.fault(Problem::Duplicate(name.to_owned())));
            }
            cursor = ahead;
            continue;
        }
        starts.push(cursor.position());
        let mut parser = Parser { cursor, chip, targets: None };
        let instruction = parser.instruction()?;
        cursor = parser.cursor;
        if let Some((jip, uip)) = parser.targets {
            pending.push(Pending { index: instructions.len(), jip, uip });
        }
        instructions.push(instruction);
    }
    let positions = positions(&instructions);
    for Pending { index, jip, uip } in pending {
        let resolve = |target| match target {
            Target::Distance(distance) => Ok(distance),
            Target::Label(name, position) => {
                let target: usize = *labels.get(name).ok_or_else(|| (position, Problem::Label(name.to_owned())))?;
                i16::try_from(positions[target] - positions[index])
                    .map_err(|_| (position, Problem::TooFar(name.to_owned())))
            }
        };
        let branch = Branch { jip: resolve(jip)?, uip: uip.map(resolve).transpose()?.unwrap_or(0) };
        instructions[index].detail = Detail::Branch(branch);
    }
    let mut words = Vec::with_capacity(4);
    for (instruction, &start) in instructions.iter().zip(&starts) {
        words.clear();
        encode(instruction, chip, &mut words).map_err(|error| (start, Problem::Invalid(error)))?;
    }
    Ok(instructions)
}

/// The state within an instruction.
struct Parser<'t> {
    cursor: Cursor<'t>,
    chip: Chip,
    targets: Option<(Target<'t>, Option<Target<'t>>)>,
}

/// The control fields at the end of an instruction.
#[derive(Default)]
struct Options {
    is_align16: bool,
    no_mask: bool,
    no_clear: bool,
    no_check: bool,
    quarter: u8,
    nibble: bool,
    compacted: bool,
    thread: Option<ThreadControl>,
    accumulator_write: bool,
    breakpoint: bool,
    end_of_thread: bool,
}

/// The operands before the access mode is known.
#[derive(Default)]
struct Operands {
    destination: Option<Parsed>,
    sources: ArrayVec<ParsedSource, 3>,
    message: Option<(SharedFunction, u32, Option<Parsed>)>,
}

impl<'t> Parser<'t> {
    fn fault<T>(&self, problem: Problem) -> Result<T> {
        Err(self.cursor.fault(problem))
    }

    fn instruction(&mut self) -> Result<Instruction> {
        let start = self.cursor;
        let predicate = self.predicate()?;
        self.cursor.skip()?;
        let name_start = self.cursor;
        let name = self.cursor.name();
        let opcode = Opcode::from_name(name, self.chip)
            .ok_or_else(|| name_start.fault(Problem::Unknown("opcode", name.to_owned())))?;
        let saturate = self.cursor.eat(".sat");
        let breakpoint = self.cursor.eat(".breakpoint");
        let math = if opcode == Opcode::Math { Some(self.math_function()?) } else { None };
        let (condition, condition_flag) = self.condition()?;
        let flag = match (predicate, condition_flag) {
            (Some((_, first)), Some(second)) if first != second => return Err(start.fault(Problem::Flags)),
            (Some((_, flag)), _) | (None, Some(flag)) => flag,
            (None, None) => Flag::default(),
        };
        let size = self.size()?;
        let operands = self.operands(opcode)?;
        let options = self.options()?;
        self.cursor.expect(";", "`;`")?;
        let access = if options.is_align16 { AccessMode::Align16 } else { AccessMode::Align1 };
        let predicate = predicate.map(|(predicate, _)| predicate);
        let mut instruction = Instruction {
            access,
            size,
            no_mask: options.no_mask,
            thread: options.thread.unwrap_or(ThreadControl::Normal),
            predicate,
            flag,
            condition,
            saturate,
            accumulator_write: options.accumulator_write,
            breakpoint: breakpoint || options.breakpoint,
            compacted: options.compacted,
            ..Instruction::plain(opcode)
        };
        instruction.group.quarter = options.quarter;
        instruction.group.nibble = options.nibble;
        instruction.dependency.no_clear = options.no_clear;
        instruction.dependency.no_check = options.no_check;
        if let Some(function) = math {
            instruction.detail = Detail::Math(function);
        }
        self.place_operands(&mut instruction, operands, options.end_of_thread, start)?;
        Ok(instruction)
    }

    fn predicate(&mut self) -> Result<Option<(Predicate, Flag)>> {
        let cursor = &mut self.cursor;
        if !cursor.eat_spaced("(")? {
            return Ok(None);
        }
        cursor.skip()?;
        let inverse = cursor.eat("-");
        if !inverse {
            cursor.eat("+");
        }
        cursor.skip()?;
        let flag = flag(cursor)?;
        let start = *cursor;
        let suffix = cursor.take(|c| c == '.' || c.is_ascii_alphanumeric());
        let all = AccessMode::ALL.iter().flat_map(|&access| PredicateControl::of(access));
        let control = all
            .copied()
            .find(|control| control.suffix() == suffix)
            .ok_or_else(|| start.fault(Problem::Unknown("predicate control", suffix.to_owned())))?;
        cursor.expect(")", "`)`")?;
        Ok(Some((Predicate { control, inverse }, flag)))
    }

    fn math_function(&mut self) -> Result<MathFunction> {
        self.cursor.skip()?;
        let start = self.cursor;
        let name = self.cursor.name();
        MathFunction::from_name(name)
            .ok_or_else(|| start.fault(Problem::Unknown("mathematics function", name.to_owned())))
    }

    fn condition(&mut self) -> Result<(Option<Condition>, Option<Flag>)> {
        self.cursor.skip()?;
        if !self.cursor.eat(".") {
            return Ok((None, None));
        }
        let start = self.cursor;
        let name = self.cursor.take(|c| c.is_ascii_lowercase());
        let condition = match name {
            "e" => Condition::Z,
            "ne" => Condition::Nz,
            _ => {
                Condition::from_name(name).ok_or_else(|| start.fault(Problem::Unknown("condition", name.to_owned())))?
            }
        };
        let flag = if self.cursor.eat(".") { Some(flag(&mut self.cursor)?) } else { None };
        Ok((Some(condition), flag))
    }

    fn size(&mut self) -> Result<ExecutionSize> {
        if !self.cursor.eat_spaced("(")? {
            return Ok(ExecutionSize::X1);
        }
        self.cursor.skip()?;
        let start = self.cursor;
        let channels = self.cursor.small("the execution size")?;
        let size = ExecutionSize::from_channels(channels.into())
            .ok_or_else(|| start.fault(Problem::Range("the execution size")))?;
        self.cursor.expect(")", "`)`")?;
        Ok(size)
    }

    /// Takes the operands in the order of their text.
    fn operands(&mut self, opcode: Opcode) -> Result<Operands> {
        let cursor = &mut self.cursor;
        let mut operands = Operands::default();
        let form = opcode.form();
        match (opcode, form) {
            (_, Form::Nop | Form::Plain) => return Ok(operands),
            (_, Form::Branch) => {
                cursor.expect("JIP:", "`JIP:`")?;
                let jip = self.target()?;
                let uip = if self.cursor.eat_spaced("UIP:")? { Some(self.target()?) } else { None };
                if opcode.has_uip() && uip.is_none() {
                    return self.fault(Problem::Expected("`UIP:`"));
                }
                self.targets = Some((jip, uip));
                return Ok(operands);
            }
            (Opcode::Jmpi, _) => {
                operands.sources.push(source(cursor)?);
                return Ok(operands);
            }
            _ => {}
        }
        operands.destination = Some(parsed(cursor)?);
        if opcode == Opcode::Wait {
            return Ok(operands);
        }
        for _ in 0..form.sources() {
            operands.sources.push(source(cursor)?);
        }
        if form == Form::Send {
            operands.message = Some(message(cursor)?);
        }
        Ok(operands)
    }

    fn target(&mut self) -> Result<Target<'t>> {
        self.cursor.skip()?;
        let start = self.cursor;
        if self.cursor.peek().is_some_and(|c| c == '-' || c.is_ascii_digit()) {
            let distance = self.cursor.signed("the distance")?;
            let distance = i16::try_from(distance).map_err(|_| start.fault(Problem::Range("the distance")))?;
            return Ok(Target::Distance(distance));
        }
        let name = self.cursor.name();
        if name.is_empty() {
            return self.fault(Problem::Expected("a label"));
        }
        Ok(Target::Label(name, start.position()))
    }

    fn options(&mut self) -> Result<Options> {
        let mut options = Options::default();
        if !self.cursor.eat_spaced("{")? {
            return Ok(options);
        }
        loop {
            self.cursor.skip()?;
            if self.cursor.eat("}") {
                return Ok(options);
            }
            if self.cursor.eat(",") {
                continue;
            }
            let start = self.cursor;
            let name = self.cursor.name();
            if name.is_empty() {
                return self.fault(Problem::Expected("`}`"));
            }
            if !options.set(name) {
                return Err(start.fault(Problem::Unknown("option", name.to_owned())));
            }
        }
    }

    /// Adds the operands to an instruction whose other fields are complete.
    fn place_operands(
        &self,
        instruction: &mut Instruction,
        operands: Operands,
        end_of_thread: bool,
        start: Cursor<'_>,
    ) -> Result<()> {
        let Instruction { opcode, access, .. } = *instruction;
        let is_ternary = opcode.form() == Form::Ternary;
        let mut sources = operands.sources;
        if is_ternary {
            unify_types(&mut sources, operands.destination.map(|destination| destination.ty()));
        }
        for source in sources {
            let source = source.resolve(access, is_ternary, opcode == Opcode::Dim)?;
            instruction.sources.push(source);
        }
        instruction.destination = operands.destination.map(|parsed| parsed.destination()).transpose()?;
        match opcode {
            Opcode::Jmpi => {
                let template = Instruction::jump(Immediate::D(0).into());
                instruction.destination = template.destination;
                instruction.sources.insert(0, Operand::ip(access).into());
            }
            Opcode::Wait => {
                instruction.no_mask = true;
                if let Some(destination) = instruction.destination {
                    instruction.sources.extend(wait_sources(destination, access));
                }
            }
            _ if opcode.form() == Form::Branch => {
                let (destination, source) = Instruction::branch_operands(opcode, access);
                instruction.destination = Some(destination);
                instruction.sources.push(source.into());
                instruction.detail = Detail::Branch(Branch::default());
            }
            _ => {}
        }
        if let Some((function, word, register)) = operands.message {
            let descriptor = match register {
                // The end of the thread is an option.
                None => Descriptor::Immediate(word & 0x7fff_ffff),
                Some(register) => Descriptor::Register(register.operand(access, false)?),
            };
            let message = Message { function, descriptor, end_of_thread };
            if register.is_some() && message_word(&message, access).is_none_or(|bits| (bits ^ word) << 1 != 0) {
                return Err(start.fault(Problem::Expected("the word of the descriptor register")));
            }
            instruction.detail = Detail::Message(message);
        } else if end_of_thread {
            return Err(start.fault(Problem::Expected("a message with `EOT`")));
        }
        Ok(())
    }
}

/// Sources have one type. Mesa's assembler takes that of the destination.
fn unify_types(sources: &mut [ParsedSource], destination: Option<Type>) {
    let mut types = sources.iter().filter_map(|source| match source {
        ParsedSource::Register(parsed) => Some(parsed.ty()),
        ParsedSource::Immediate(_) => None,
    });
    let first = types.next();
    let is_uniform = types.all(|ty| Some(ty) == first);
    let Some(destination) = destination.filter(|_| !is_uniform) else { return };
    for source in sources {
        if let ParsedSource::Register(parsed) = source {
            *parsed = parsed.with_type(destination);
        }
    }
}

/// The sources that Mesa's assembler gives to `wait`: the notification register and null.
fn wait_sources(destination: Destination, access: AccessMode) -> [Source; 2] {
    let region = match access {
        AccessMode::Align1 => Region::SCALAR,
        AccessMode::Align16 => Region::Align16 { vertical: VerticalStride::S0, swizzle: swizzle_of(destination.mask) },
    };
    let first = Operand::new(destination.register, destination.ty, region);
    [first.into(), Operand::null(access, Type::F).into()]
}

/// A swizzle that reads the components of a mask, and repeats them for the others.
fn swizzle_of(mask: WriteMask) -> Swizzle {
    let mut last = mask.0.trailing_zeros() as u8 & 3;
    Swizzle::new([0, 1, 2, 3].map(|component| {
        if mask.contains(component) {
            last = component;
        }
        last
    }))
}

/// Takes the rest of a message: a register, its word or the descriptor, the receiver. The names of the fields of the
/// descriptor are skipped.
fn message(cursor: &mut Cursor<'_>) -> Result<(SharedFunction, u32, Option<Parsed>)> {
    cursor.skip()?;
    let mut ahead = *cursor;
    ahead.eat("-");
    let is_word = ahead.peek().is_some_and(|c| c.is_ascii_digit());
    let register = if is_word { None } else { Some(parsed(cursor)?) };
    cursor.skip()?;
    let start = *cursor;
    let word = cursor.signed("a descriptor")?;
    let is_valid = (i128::from(i32::MIN)..=u32::MAX.into()).contains(&word);
    if !is_valid {
        return Err(start.fault(Problem::Range("the descriptor")));
    }
    cursor.skip()?;
    let start = *cursor;
    let name = cursor.until(&[':', '{', ';']);
    let name = name.strip_suffix("MsgDesc").unwrap_or(name).trim();
    let function = SharedFunction::from_name(name)
        .ok_or_else(|| start.fault(Problem::Unknown("shared function", name.to_owned())))?;
    cursor.expect(":", "`MsgDesc:`")?;
    cursor.until(&['{', ';']);
    Ok((function, word as u32, register))
}

impl Options {
    /// Adds an option; returns whether the name is known.
    fn set(&mut self, name: &str) -> bool {
        let (quarter, nibble) = match name {
            "1N" | "1Q" | "1H" => (0, false),
            "2N" => (0, true),
            "3N" | "2Q" => (1, false),
            "4N" => (1, true),
            "5N" | "3Q" | "2H" => (2, false),
            "6N" => (2, true),
            "7N" | "4Q" => (3, false),
            "8N" => (3, true),
            _ => {
                match name {
                    "align1" => self.is_align16 = false,
                    "align16" => self.is_align16 = true,
                    "WE_all" | "nomask" => self.no_mask = true,
                    "NoDDClr" => self.no_clear = true,
                    "NoDDChk" => self.no_check = true,
                    "compacted" => self.compacted = true,
                    "atomic" => self.thread = Some(ThreadControl::Atomic),
                    "switch" => self.thread = Some(ThreadControl::Switch),
                    "AccWrEnable" => self.accumulator_write = true,
                    "breakpoint" => self.breakpoint = true,
                    "EOT" => self.end_of_thread = true,
                    _ => return false,
                }
                return true;
            }
        };
        self.quarter = quarter;
        self.nibble = nibble;
        true
    }
}
