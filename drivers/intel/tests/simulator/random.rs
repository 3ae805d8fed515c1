//! Random programs: results or traps, and the same for all forms of a program.

use super::Nothing;
use crate::generate::{Limits, instruction, with_opcode};
use crate::support::Choice;

use pretty_assertions::assert_eq;
use tgsi_driver_intel::isa::{Chip, Detail, Instruction, Opcode, compact_program, decode_program, encode_program};
use tgsi_driver_intel::simulator::{Launch, Registers, Simulator, Trap};

fn launch(choice: &mut Choice) -> Launch {
    let mut registers = Registers::default();
    for register in 0..128 {
        registers.set_words(register, std::array::from_fn(|_| choice.bits()));
    }
    Launch {
        registers,
        dispatch_mask: choice.bits(),
        scratch: choice.below(5000),
        has_sample_mask: choice.is(),
        flush_denormals: choice.is(),
        steps: 300,
    }
}

/// Instructions whose branches are near.
fn program(choice: &mut Choice, chip: Chip) -> Vec<Instruction> {
    let limits = Limits { chip, in_text: false };
    (0..1 + choice.below(12))
        .map(|_| {
            let mut instruction = instruction(choice, limits);
            if let Detail::Branch(branch) = &mut instruction.detail {
                branch.jip = 2 * (branch.jip % 6);
                branch.uip = 2 * (branch.uip % 6);
            }
            instruction
        })
        .collect()
}

#[test]
fn random_instructions() {
    let mut choice = Choice::new(11);
    for chip in Chip::ALL {
        for &opcode in Opcode::ALL.iter().filter(|opcode| opcode.is_in(chip)) {
            let mut results = 0;
            for _ in 0..400 {
                let mut instruction = with_opcode(&mut choice, opcode, Limits { chip, in_text: false });
                if let Detail::Branch(branch) = &mut instruction.detail {
                    // The end of the program.
                    (branch.jip, branch.uip) = (2, 2);
                }
                let simulator = Simulator::from_instructions(vec![instruction], chip);
                results += u32::from(simulator.run(&launch(&mut choice), &mut Nothing).is_ok());
            }
            let lacks_results = matches!(
                opcode,
                Opcode::Illegal
                    | Opcode::Movi
                    | Opcode::Dim
                    | Opcode::Sad2
                    | Opcode::Sada2
                    | Opcode::Break
                    | Opcode::Brd
                    | Opcode::Brc
                    | Opcode::Calla
                    | Opcode::Call
                    | Opcode::Ret
                    | Opcode::Wait
            );
            assert!(lacks_results || results > 0, "{}", opcode.name());
        }
    }
}

#[test]
fn random_programs() {
    let mut choice = Choice::new(12);
    let mut results = 0;
    for round in 0..4000 {
        let chip = choice.of(&Chip::ALL);
        let mut instructions = program(&mut choice, chip);
        let launch = launch(&mut choice);
        let result = Simulator::from_instructions(instructions.clone(), chip).run(&launch, &mut Nothing);
        results += u32::from(result.is_ok());
        let words = encode_program(&instructions, chip).unwrap();
        let decoded = Simulator::new(&words, chip).unwrap().run(&launch, &mut Nothing);
        assert_eq!(decoded, result, "{round}");
        // The instruction pointer and targets of failed branches depend on the size of instructions.
        instructions.retain(|instruction| instruction.branch().is_none() && instruction.opcode != Opcode::Jmpi);
        if let Ok(short) = compact_program(&instructions, chip) {
            let [long, short] = [instructions, short]
                .map(|instructions| Simulator::from_instructions(instructions, chip).run(&launch, &mut Nothing));
            assert_eq!(short, long, "{round}");
        }
    }
    assert!(results > 100, "{results}");
}

#[test]
fn random_words() {
    let mut choice = Choice::new(13);
    let mut decoded = 0;
    for _ in 0..4000 {
        let chip = choice.of(&Chip::ALL);
        let program = program(&mut choice, chip);
        let mut words = encode_program(&program, chip).unwrap();
        for _ in 0..choice.below(3) {
            let place = choice.below(words.len() as u32) as usize;
            words[place] = if choice.is() { words[place] ^ 1 << choice.below(32) } else { choice.bits() };
        }
        if decode_program(&words, chip).is_ok() {
            decoded += 1;
            let simulator = Simulator::new(&words, chip).unwrap();
            let _ = simulator.run(&launch(&mut choice), &mut Nothing);
        }
    }
    assert!(decoded > 1000, "{decoded}");
}

/// Instructions that have no words.
#[test]
fn invalid_instructions() {
    let mut choice = Choice::new(14);
    for _ in 0..2000 {
        let limits = Limits { chip: Chip::Gen75, in_text: false };
        let mut instruction = instruction(&mut choice, limits);
        match choice.below(4) {
            0 => instruction.destination = None,
            1 => drop(instruction.sources.pop()),
            2 => instruction.detail = Detail::None,
            _ => instruction.opcode = choice.of(Opcode::ALL),
        }
        let has_form = instruction.has_form();
        let simulator = Simulator::from_instructions(vec![instruction], Chip::Gen7);
        let result = simulator.run(&launch(&mut choice), &mut Nothing);
        assert!(has_form || result == Err(Trap::Form(0)), "{result:?}");
    }
}
