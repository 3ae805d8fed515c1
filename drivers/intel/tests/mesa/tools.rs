//! Comparison of random programs with Mesa's `elk_disasm` and `elk_asm`.

use super::hex;
use crate::generate::{Limits, instruction};
use crate::support::Choice;

use pretty_assertions::assert_eq;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;
use tgsi_driver_intel::isa::{
    AccessMode, Branch, Chip, Descriptor, Detail, ExecutionSize, File, Flag, Form, Instruction, Message, Opcode,
    Region, Register, SharedFunction, Source, Type, VerticalStride, arf, compact, encode_program,
};
use tgsi_driver_intel::text::{Listing, assemble};
use tgsi_driver_intel::validate::validate;

const PROGRAMS: u32 = 400;
const LENGTH: usize = 100;

fn tool(name: &str) -> Command {
    let folder =
        std::env::var_os("TGSIC_ELK_TOOLS").expect("TGSIC_ELK_TOOLS names the folder of elk_asm and elk_disasm");
    Command::new(PathBuf::from(folder).join(name))
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A file that is removed at the end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str, contents: &[u8]) -> Temporary {
        let path = std::env::temp_dir().join(format!("tgsi-driver-intel-{}-{name}", std::process::id()));
        std::fs::write(&path, contents).unwrap();
        Temporary(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn registers(instruction: &Instruction) -> impl Iterator<Item = Register> {
    let descriptor = instruction.message().and_then(|message| match message.descriptor {
        Descriptor::Register(operand) => Some(operand.register),
        Descriptor::Immediate(_) => None,
    });
    let sources = instruction.sources.iter().filter_map(|source| source.operand()).map(|operand| operand.register);
    let destination = instruction.destination.map(|destination| destination.register);
    sources.chain(descriptor).chain(destination)
}

fn is_indirect(register: Register) -> bool {
    matches!(register, Register::Indirect { .. })
}

/// A program without branches to the middle of instructions, which ends as Mesa's disassembler expects it.
fn program(
    choice: &mut Choice,
    chip: Chip,
    is_usable: impl Fn(&Instruction) -> bool,
    with_compacted: bool,
) -> Vec<Instruction> {
    let mut program = Vec::new();
    while program.len() < LENGTH {
        let mut random = instruction(choice, Limits { chip, in_text: true });
        if let Detail::Message(message) = &mut random.detail {
            message.end_of_thread = false;
        }
        if !is_usable(&random) || random.opcode == Opcode::Illegal {
            continue;
        }
        // Mesa's disassembler reads the end of the thread beyond a compacted message.
        let is_compacted = with_compacted && !matches!(random.opcode.form(), Form::Send | Form::Branch);
        if is_compacted && let Some(compacted) = compact(&random, chip).filter(|_| choice.is()) {
            random = compacted;
        }
        program.push(random);
    }
    let positions: Vec<_> = program
        .iter()
        .scan(0, |position, instruction| {
            *position += instruction.words() as i16 / 2;
            Some(*position - instruction.words() as i16 / 2)
        })
        .collect();
    for (instruction, &position) in program.iter_mut().zip(&positions) {
        let opcode = instruction.opcode;
        if let Detail::Branch(branch) = &mut instruction.detail {
            let mut target = || choice.of(&positions) - position;
            *branch = Branch { jip: target(), uip: if opcode.has_uip() { target() } else { 0 } };
        }
    }
    program.push(Instruction::plain(Opcode::Illegal));
    program
}

/// Known differences of listings.
fn listing_difference(instruction: &Instruction) -> Option<&'static str> {
    let Instruction { opcode, access, .. } = *instruction;
    let any = |is: &dyn Fn(Register) -> bool| registers(instruction).any(is);
    if opcode.form() == Form::Ternary && (instruction.predicate.is_some() || instruction.condition.is_some()) {
        return Some("flags of instructions with three sources: Mesa reads them from other bits");
    }
    if opcode == Opcode::Nop && instruction.compacted {
        return Some("compacted nop: Mesa omits it");
    }
    if matches!(opcode, Opcode::Brd | Opcode::Brc | Opcode::Call | Opcode::Calla | Opcode::Ret) {
        return Some("operands of calls and further branches: Mesa omits them");
    }
    if access == AccessMode::Align16 && any(&is_indirect) {
        return Some("indirect registers in align16: not supported by Mesa");
    }
    let destination = instruction.destination.map(|destination| (destination.register, destination.ty.size()));
    if let Some((Register::Indirect { address: 1.., .. }, 2..)) = destination {
        return Some("address of an indirect destination: Mesa divides it by the size of the type");
    }
    let is_ip = |register| matches!(register, Register::Direct { file: File::Arf, number: arf::IP, .. });
    if opcode != Opcode::Jmpi && any(&is_ip) {
        return Some("ip: Mesa omits region and type");
    }
    let is_halved = instruction.size == ExecutionSize::X16 && instruction.group.quarter % 2 == 1
        || instruction.size == ExecutionSize::X32 && instruction.group.quarter != 0;
    if is_halved && !instruction.group.nibble {
        return Some("odd quarters of 16 channels, quarters of 32 channels: Mesa omits them");
    }
    match instruction.message() {
        Some(message) if message.function == SharedFunction::Math => Some("the mathematics unit of older generations"),
        _ => None,
    }
}

/// Mesa's disassembler reads beyond a table for this message.
fn is_listed_safely(instruction: &Instruction) -> bool {
    match instruction.message() {
        Some(Message { function: SharedFunction::DataCache1, descriptor: Descriptor::Immediate(bits), .. }) => {
            bits >> 12 & 3 != 3
        }
        _ => true,
    }
}

/// The names of rules by a part of Mesa's message.
const RULES: &[(&str, &str)] = &[
    ("Instruction not supported", "illegal"),
    ("src0 is null", "null-first-source"),
    ("src1 is null", "null-second-source"),
    ("Only raw MOV", "packed-bytes"),
    ("64-bit types and B/UB", "byte-double-conversion"),
    ("Destination stride must be equal to the ratio", "destination-stride-ratio"),
    ("Destination subreg must be aligned", "destination-alignment"),
    ("Destination must be 128-bit aligned", "vector-constant-alignment"),
    ("stride equivalent to dword", "vf-constant-stride"),
    ("stride equivalent to word", "v-constant-stride"),
    ("Destination Horizontal Stride must be 1", "align16-destination-stride"),
    ("In Align16 mode, only VertStride", "align16-vertical-stride"),
    ("greater than or equal to Width", "width-within-size"),
    ("If ExecSize = Width and HorzStride", "single-row-stride"),
    ("If Width = 1, HorzStride", "width-1-stride"),
    ("If ExecSize = Width = 1", "single-channel-strides"),
    ("If VertStride = HorzStride = 0", "scalar-width"),
    ("VertStride must be used to cross", "row-within-register"),
    ("Destination Horizontal Stride must not be 0", "destination-stride-0"),
    ("A source cannot span", "source-two-registers"),
    ("A destination cannot span", "destination-two-registers"),
    ("Writes must be to only one OWord", "destination-owords"),
    ("evenly split between the two destination", "destination-even"),
    ("entirely derived from one source", "source-register-match"),
    ("offset from the two source registers", "source-offset-match"),
    ("source must span two registers", "source-spans-two"),
    ("Accumulator cannot be destination", "cmp-accumulator"),
    ("{Switch} instruction option", "cmp-null-switch"),
    ("must have a condition.", "cmp-condition"),
    ("SEL must either", "sel-condition"),
    ("DW operand must be src0", "mul-dword-first"),
    ("cannot be an accumulator", "mul-accumulator"),
    ("Float destination type not allowed", "mul-float-destination"),
    ("Neither Saturate nor conditional", "mul-dword-flags"),
    ("INT DIV function", "division-modifiers"),
    ("O, R, and U conditional", "logic-condition"),
    ("BFI2 cannot have conditional", "bfi2-condition"),
    ("BFI2 cannot have saturate", "bfi2-saturate"),
    ("BFI2 destination type", "bfi2-type"),
    ("BFI2 source type", "bfi2-source-type"),
    ("send must use direct", "send-indirect"),
    ("send from non-GRF", "send-general-register"),
    ("send with EOT", "send-end-register"),
    ("Header must be present", "urb-header"),
    ("URB atomic add", "urb-atomic-add"),
    ("URB SIMD8 messages", "urb-simd8"),
    ("URB SIMD8 read", "urb-simd8"),
];

/// Known differences of rules.
fn rule_difference(instruction: &Instruction) -> Option<&'static str> {
    if registers(instruction).any(is_indirect) {
        return Some("indirect registers: Mesa takes offsets for places in registers");
    }
    if instruction.opcode == Opcode::Wait {
        return Some("wait: Mesa reads the types of sources that it does not have");
    }
    let is_wide = |source: &Source| match source.operand().map(|operand| operand.region) {
        Some(Region::Align1 { width, vertical, .. }) => {
            width.elements() > instruction.size.channels() || vertical == VerticalStride::Indexed
        }
        _ => false,
    };
    if instruction.sources.iter().any(is_wide) {
        return Some("widths beyond the execution size: Mesa computes with negative numbers");
    }
    if instruction.opcode == Opcode::Dim {
        return Some("dim: Mesa reads the bits of the constant as a source");
    }
    None
}

#[derive(Default)]
struct Counts(BTreeMap<&'static str, (u32, String)>);

impl Counts {
    fn add(&mut self, kind: &'static str, example: String) {
        let entry = self.0.entry(kind).or_default();
        entry.0 += 1;
        entry.1 = example;
    }

    fn print(&self) {
        for (kind, (count, example)) in &self.0 {
            println!("{count} different: {kind}\n{example}");
        }
    }
}

#[test]
#[ignore = "needs Mesa's tools: TGSIC_ELK_TOOLS"]
fn listings_and_rules_are_those_of_mesa() {
    let mut choice = Choice::new(7);
    let mut differences = Counts::default();
    let (mut equal, mut equal_rules, mut broken) = (0, 0, BTreeMap::<&str, u32>::new());
    for _ in 0..PROGRAMS {
        let chip = choice.of(&Chip::ALL);
        let program = program(&mut choice, chip, is_listed_safely, true);
        let words = encode_program(&program, chip).unwrap();
        let bytes: Vec<_> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let file = Temporary::new("disasm", &bytes);
        let theirs = output(tool("elk_disasm").args(["--gen", chip.name(), "--input-path"]).arg(&file.0));
        let ours = Listing(&program).to_string();
        let mut theirs = theirs.lines().peekable();
        let mut ours = ours.lines().peekable();
        for instruction in &program {
            while ours.next_if(|line| line.is_empty() || line.starts_with("LABEL")).is_some() {}
            while theirs.next_if(|line| line.is_empty() || line.starts_with("LABEL")).is_some() {}
            let count = if instruction.message().is_some() { 2 } else { 1 };
            for _ in 0..count {
                let (ours, theirs) = (ours.next().unwrap_or(""), theirs.next().unwrap_or(""));
                if ours == theirs {
                    equal += 1;
                } else {
                    let example = format!("  ours   {ours}\n  theirs {theirs}");
                    let kind = listing_difference(instruction).unwrap_or_else(|| panic!("{chip:?}\n{example}"));
                    differences.add(kind, example);
                }
            }
            let mut found = BTreeSet::new();
            while let Some(line) = theirs.next_if(|line| line.starts_with('\t')) {
                if !line.starts_with("\tERROR") {
                    continue;
                }
                let row = RULES.iter().find(|(part, _)| line.contains(part));
                found.insert(row.unwrap_or_else(|| panic!("{line}")).1);
            }
            let rules: BTreeSet<_> = validate(instruction, chip).iter().map(|rule| rule.name).collect();
            if rules == found {
                equal_rules += 1;
                for rule in rules {
                    *broken.entry(rule).or_default() += 1;
                }
            } else {
                let example = format!("  {instruction}\n  ours {rules:?}\n  theirs {found:?}");
                let kind = rule_difference(instruction).unwrap_or_else(|| panic!("{chip:?}\n{example}"));
                differences.add(kind, example);
            }
        }
    }
    println!("{equal} equal lines, {equal_rules} instructions with equal rules");
    differences.print();
    println!("{broken:?}");
}

/// Whether Mesa's assembler accepts the text of an instruction and converts it to the same words, if nothing is known
/// against it.
fn is_assembled(instruction: &Instruction) -> bool {
    let Instruction { opcode, flag, group, .. } = *instruction;
    let form = opcode.form();
    // Names that the grammar lacks.
    let is_known = !matches!(
        opcode,
        Opcode::Movi
            | Opcode::Rndu
            | Opcode::Cmpn
            | Opcode::Sad2
            | Opcode::Sada2
            | Opcode::Brd
            | Opcode::Brc
            | Opcode::Call
            | Opcode::Calla
            | Opcode::Ret
    );
    // The index of some registers, and elements of null, are dropped.
    let is_exact = registers(instruction).all(|register| match register {
        Register::Indirect { .. } => false,
        Register::Direct { file: File::Grf, .. } => true,
        Register::Direct { number, offset, .. } => number & 15 == 0 && offset == 0 && number != arf::IP,
    });
    // The flag of a condition replaces that of a predicate.
    let has_flag = flag == Flag::default() || instruction.condition.is_some() && opcode.writes_flag();
    // Branches and others have no group.
    let has_group = !matches!(form, Form::Branch | Form::Plain) && !matches!(opcode, Opcode::Jmpi | Opcode::Wait);
    // Branches have neither conditions nor saturation, and else has no predicate.
    let is_plain = instruction.condition.is_none()
        && !instruction.saturate
        && (opcode != Opcode::Else || instruction.predicate.is_none());
    // A space precedes the fields of messages except unknown ones.
    let has_fields = form != Form::Send || instruction.to_string().contains("MsgDesc: ");
    is_known
        && has_fields
        && (form != Form::Branch || is_plain)
        && is_exact
        && has_flag
        && (has_group || group == Default::default())
        && listing_difference(instruction).is_none()
        && !instruction.breakpoint
        && !has_special_operands(instruction)
        && form != Form::Plain
}

/// Operands that Mesa's assembler changes or rejects.
fn has_special_operands(instruction: &Instruction) -> bool {
    let Instruction { opcode, .. } = *instruction;
    let architecture = |register: Register| register.is_architecture() && !register.is_null();
    let is_first_only = instruction.sources.iter().skip(1).filter_map(|source| source.operand());
    let mut others = is_first_only.map(|operand| operand.register);
    let is_modified = |source: &Source| {
        source.operand().is_some_and(|operand| {
            operand.register.is_architecture() && (operand.negate || operand.absolute || has_swizzle(operand.region))
                || operand.register.is_null() && (operand.negate || operand.absolute)
        })
    };
    let is_half = |source: &Source| {
        source.operand().is_some_and(|operand| {
            operand.ty == Type::Df && matches!(operand.region, Region::Align16 { vertical: VerticalStride::S2, .. })
        })
    };
    let is_indexed = |source: &Source| {
        source.operand().is_some_and(|operand| match operand.region {
            Region::Align1 { vertical, .. } | Region::Align16 { vertical, .. } => vertical == VerticalStride::Indexed,
        })
    };
    let accumulator = instruction.sources.iter().filter_map(|source| source.operand());
    let mut accumulator = accumulator.map(|operand| operand.register);
    let reads_accumulator = matches!(
        opcode,
        Opcode::Add
            | Opcode::And
            | Opcode::Asr
            | Opcode::Avg
            | Opcode::Cmp
            | Opcode::Or
            | Opcode::Sel
            | Opcode::Shl
            | Opcode::Shr
            | Opcode::Xor
    ) || opcode.form() == Form::Unary;
    let destination = instruction.destination.as_ref();
    let is_byte_null =
        destination.is_some_and(|destination| destination.register.is_null() && destination.ty.size() == 1);
    let is_stride_0 = destination.is_some_and(|destination| destination.stride.elements() == 0);
    let is_masked =
        destination.is_some_and(|destination| architecture(destination.register) && destination.mask.0 != 15);
    let is_empty = destination.is_some_and(|destination| destination.mask.0 == 0);
    let ty = destination.map(|destination| destination.ty);
    let is_mixed = opcode.form() == Form::Ternary
        && instruction.sources.iter().any(|source| source.operand().map(|operand| operand.ty) != ty);
    let is_double = destination.is_some_and(|destination| destination.ty == Type::Df) && opcode == Opcode::Mov;
    others.any(architecture)
        || instruction.sources.iter().any(is_modified)
        || instruction.sources.iter().any(is_indexed)
        || !reads_accumulator && accumulator.any(|register| register.is_accumulator())
        || is_byte_null
        || is_stride_0
        || is_empty
        || is_double
        || is_mixed
        // The payload of one channel becomes a single element.
        || opcode.is_send() && instruction.size == ExecutionSize::X1
        || instruction.sources.iter().any(is_half)
        || opcode == Opcode::Dim && instruction.flag != Flag::default()
        || is_masked
        || matches!(opcode, Opcode::Line | Opcode::Pln | Opcode::Wait | Opcode::Jmpi)
        || instruction.message().is_some_and(|message| matches!(message.descriptor, Descriptor::Register(_)))
}

fn has_swizzle(region: Region) -> bool {
    matches!(region, Region::Align16 { swizzle, .. } if swizzle != tgsi_driver_intel::isa::Swizzle::IDENTITY)
}

#[test]
#[ignore = "needs Mesa's tools: TGSIC_ELK_TOOLS"]
fn text_is_assembled_to_the_same_words() {
    let mut choice = Choice::new(8);
    let mut opcodes = BTreeMap::<&str, u32>::new();
    let mut different = Vec::new();
    for _ in 0..PROGRAMS {
        let chip = choice.of(&Chip::ALL);
        let mut program = program(&mut choice, chip, is_assembled, false);
        program.pop();
        let text = Listing(&program).to_string();
        assert_eq!(assemble(&text, chip).unwrap(), program);
        let file = Temporary::new("asm", text.as_bytes());
        let theirs = output(tool("elk_asm").args(["--type", "hex", "--gen", chip.name()]).arg(&file.0));
        let ours = hex(&encode_program(&program, chip).unwrap());
        for ((instruction, ours), theirs) in program.iter().zip(ours.lines()).zip(theirs.lines()) {
            // The scanner echoes some spaces.
            if ours != theirs.trim_start() {
                different.push(format!("{chip:?} {instruction}\n  ours   {ours}\n  theirs {theirs}"));
            }
            *opcodes.entry(instruction.opcode.name()).or_default() += 1;
        }
        assert_eq!(theirs.lines().count(), program.len());
    }
    println!("{opcodes:?}");
    assert!(different.is_empty(), "{} different\n{}", different.len(), different[..different.len().min(20)].join("\n"));
}
