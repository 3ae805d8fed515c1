//! Random instructions that have words.

use crate::support::Choice;
use tgsi_driver_intel::isa::{
    AccessMode, Branch, Chip, Condition, Dependency, Descriptor, Destination, Detail, ExecutionSize, File, Flag, Form,
    Group, HorizontalStride, Immediate, ImmediateType, Instruction, MathFunction, Message, Opcode, Operand, Predicate,
    PredicateControl, Region, Register, SharedFunction, Source, Swizzle, ThreadControl, Type, VerticalStride, Width,
    WriteMask, arf,
};

/// Which instructions are generated.
#[derive(Clone, Copy)]
pub struct Limits {
    pub chip: Chip,
    /// Only facts that the text has.
    pub in_text: bool,
}

const ARCHITECTURE: [u8; 8] =
    [arf::NULL, arf::ADDRESS, arf::ACCUMULATOR, arf::FLAG, arf::STATE, arf::CONTROL, arf::MASK, arf::NOTIFICATION];

fn offset(choice: &mut Choice, access: AccessMode, is_ternary: bool, ty: Type) -> u8 {
    let unit = match access {
        AccessMode::Align16 if !is_ternary => 16,
        AccessMode::Align16 => ty.size().max(4),
        AccessMode::Align1 => ty.size(),
    };
    if choice.is() { 0 } else { (choice.below(32 / unit) * unit) as u8 }
}

fn register(choice: &mut Choice, access: AccessMode, is_ternary: bool, ty: Type) -> Register {
    let offset = offset(choice, access, is_ternary, ty);
    let kind = if is_ternary { 1 } else { choice.below(8) };
    match kind {
        0 if !is_ternary => {
            let unit = if access == AccessMode::Align16 { 16 } else { 1 };
            let distance = choice.below(1024 / unit) * unit;
            Register::Indirect { address: choice.below(8) as u8, offset: distance as i16 - 512 }
        }
        7 => match choice.of(&ARCHITECTURE) {
            arf::NULL => Register::NULL,
            kind => Register::Direct { file: File::Arf, number: kind | choice.below(2) as u8, offset },
        },
        _ => Register::Direct { file: File::Grf, number: choice.below(128) as u8, offset },
    }
}

fn swizzle(choice: &mut Choice) -> Swizzle {
    match choice.below(3) {
        0 => Swizzle::IDENTITY,
        1 => Swizzle::replicate(choice.below(4) as u8),
        _ => Swizzle(choice.bits() as u8),
    }
}

fn region(choice: &mut Choice, access: AccessMode, is_ternary: bool) -> Region {
    match access {
        _ if is_ternary && choice.is() => Region::SCALAR,
        AccessMode::Align16 if is_ternary => Region::swizzled(swizzle(choice)),
        AccessMode::Align16 => {
            let vertical = choice.of(&[VerticalStride::S0, VerticalStride::S4, VerticalStride::S2]);
            Region::Align16 { vertical, swizzle: swizzle(choice) }
        }
        AccessMode::Align1 if choice.is() => choice.of(&[Region::SCALAR, Region::LINEAR]),
        AccessMode::Align1 => {
            let (vertical, width) = (choice.of(&VerticalStride::ALL), choice.of(&Width::ALL));
            Region::align1(vertical, width, choice.of(&HorizontalStride::ALL))
        }
    }
}

fn operand(choice: &mut Choice, access: AccessMode, ternary: Option<Type>) -> Operand {
    let ty = ternary.unwrap_or_else(|| choice.of(Type::ALL));
    let is_ternary = ternary.is_some();
    Operand {
        negate: choice.below(4) == 0,
        absolute: choice.below(4) == 0,
        ..Operand::new(register(choice, access, is_ternary, ty), ty, region(choice, access, is_ternary))
    }
}

fn destination(choice: &mut Choice, access: AccessMode, is_ternary: bool, limits: Limits) -> Destination {
    let ty = choice.of(if is_ternary { &Type::THREE_SOURCE } else { Type::ALL });
    let is_packed = is_ternary || (access == AccessMode::Align16 && limits.in_text) || choice.is();
    let stride = if is_packed { HorizontalStride::S1 } else { choice.of(&HorizontalStride::ALL) };
    let mask = if access == AccessMode::Align1 || choice.is() { 15 } else { choice.below(16) as u8 };
    let register = register(choice, access, is_ternary, ty);
    Destination { register, ty, stride, mask: WriteMask(mask) }
}

pub fn immediate(choice: &mut Choice) -> Immediate {
    let bits = match choice.below(4) {
        0 => choice.bits(),
        1 => (choice.below(64) as i32 - 32) as u32,
        2 => choice.below(5000),
        _ => 0,
    };
    match choice.of(ImmediateType::ALL) {
        ImmediateType::Uw => Immediate::Uw(bits as u16),
        ImmediateType::W => Immediate::W(bits as i16),
        ty => Immediate::from_word(ty, bits).unwrap(),
    }
}

fn message(choice: &mut Choice, access: AccessMode) -> Message {
    let descriptor = if choice.below(8) == 0 {
        Descriptor::Register(operand(choice, access, None))
    } else {
        Descriptor::Immediate(choice.bits() >> 3)
    };
    let function = choice.of(SharedFunction::ALL);
    Message { function, descriptor, end_of_thread: choice.below(4) == 0 }
}

fn controls(choice: &mut Choice, opcode: Opcode, limits: Limits) -> Instruction {
    let form = opcode.form();
    let access = if form == Form::Ternary { AccessMode::Align16 } else { choice.of(AccessMode::ALL) };
    let has_condition = !matches!(form, Form::Math | Form::Send);
    let rarely = |choice: &mut Choice| choice.below(6) == 0;
    let mut instruction = Instruction {
        access,
        size: choice.of(ExecutionSize::ALL),
        group: Group { quarter: choice.below(4) as u8, nibble: rarely(choice) },
        no_mask: rarely(choice),
        dependency: Dependency { no_clear: rarely(choice), no_check: rarely(choice) },
        thread: if rarely(choice) { choice.of(ThreadControl::ALL) } else { ThreadControl::Normal },
        predicate: choice
            .maybe(|choice| Predicate { control: choice.of(PredicateControl::of(access)), inverse: choice.is() }),
        flag: choice.of(&Flag::ALL),
        condition: if has_condition && choice.is() { Some(choice.of(Condition::ALL)) } else { None },
        saturate: form != Form::Send && rarely(choice),
        accumulator_write: rarely(choice),
        breakpoint: rarely(choice),
        ..Instruction::plain(opcode)
    };
    let shows_flag = instruction.predicate.is_some() || instruction.condition.is_some() && opcode.writes_flag();
    if limits.in_text && !shows_flag {
        instruction.flag = Flag::default();
    }
    instruction
}

/// An instruction that the encoder accepts.
pub fn instruction(choice: &mut Choice, limits: Limits) -> Instruction {
    loop {
        let opcode = choice.of(Opcode::ALL);
        if opcode.is_in(limits.chip) {
            return with_opcode(choice, opcode, limits);
        }
    }
}

pub fn with_opcode(choice: &mut Choice, opcode: Opcode, limits: Limits) -> Instruction {
    let form = opcode.form();
    if form == Form::Nop {
        return Instruction::nop();
    }
    let mut instruction = controls(choice, opcode, limits);
    let access = instruction.access;
    if form == Form::Plain {
        return instruction;
    }
    let is_ternary = form == Form::Ternary;
    instruction.destination = Some(destination(choice, access, is_ternary, limits));
    let ternary = is_ternary.then(|| choice.of(&Type::THREE_SOURCE));
    for _ in 0..form.sources() {
        instruction.sources.push(operand(choice, access, ternary).into());
    }
    if matches!(form, Form::Unary | Form::Binary) && choice.below(3) == 0 {
        instruction.sources.pop();
        instruction.sources.push(immediate(choice).into());
    }
    match (opcode, form) {
        (Opcode::Dim, _) if matches!(instruction.sources[0], Source::Immediate(_)) => {
            instruction.sources[0] = Immediate::Dim(f64::from(choice.bits() as i32).to_bits()).into();
            instruction.predicate = None;
            instruction.condition = None;
            instruction.flag = Flag::default();
        }
        (_, Form::Math) => instruction.detail = Detail::Math(choice.of(MathFunction::ALL)),
        (_, Form::Send) => instruction.detail = Detail::Message(message(choice, access)),
        (_, Form::Branch) => {
            let uip = if opcode.has_uip() { choice.bits() as i16 } else { 0 };
            instruction.detail = Detail::Branch(Branch { jip: choice.bits() as i16, uip });
            if limits.in_text {
                let usual = Instruction::branch_to(opcode, access, Branch::default());
                (instruction.destination, instruction.sources) = (usual.destination, usual.sources);
            }
        }
        (Opcode::Jmpi, _) if limits.in_text => {
            let usual = Instruction::jump(Immediate::D(0).into());
            instruction.destination = usual.destination;
            instruction.sources[0] = Operand::ip(access).into();
        }
        (Opcode::Wait, _) if limits.in_text => {
            let register = Register::architecture(arf::NOTIFICATION);
            let region = match access {
                AccessMode::Align1 => Region::SCALAR,
                AccessMode::Align16 => Region::UNIFORM,
            };
            instruction.no_mask = true;
            instruction.destination = Some(Destination::new(register, Type::Ud));
            instruction.sources[0] = Operand::new(register, Type::Ud, region).into();
            instruction.sources[1] = Operand::null(access, Type::F).into();
        }
        _ => {}
    }
    instruction
}
