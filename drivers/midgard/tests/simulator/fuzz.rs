//! Random programs and words: each run gives a result or a trap.

use super::support::World;
use crate::generate;
use crate::support::Choice;
use tgsi_driver_midgard::isa::{Chip, Resources, check_rules, encode_program};
use tgsi_driver_midgard::simulator::{Launch, Simulator};

fn world(choice: &mut Choice) -> World {
    let mut world = World { refusals: choice.below(3), ..World::default() };
    world.registers = (0..32).map(|number| (number, [0; 4].map(|_| choice.bits()))).collect();
    world
}

fn run(choice: &mut Choice, words: &[u32]) -> Option<bool> {
    let chip = choice.of(Chip::ALL);
    let simulator = Simulator::new(words, chip).ok()?;
    let launch = Launch {
        lanes: choice.below(9) as usize,
        helpers: &[false, true],
        uniforms: &[[1; 4], [2; 4], [3; 4], [4; 4], [5; 4], [6; 4], [7; 4], [8; 4]],
        steps: 200,
        killed_steps: choice.of(&[50, u32::MAX]),
        has_uniform_textures: choice.of(&[false, true]),
        ..Launch::default()
    };
    let _ = check_rules(simulator.bundles(), &Resources::new(chip, 8));
    Some(simulator.run(&launch, &mut world(choice)).is_ok())
}

#[test]
fn random_programs_end() {
    let mut choice = Choice::new(21);
    let mut finished = 0;
    for _ in 0..30_000 {
        let length = 1 + choice.below(4) as usize;
        let program = generate::program(&mut choice, length, |_| true);
        finished += u32::from(run(&mut choice, &encode_program(&program).unwrap()) == Some(true));
    }
    assert!(finished > 1000, "{finished}");
}

#[test]
fn random_words_end() {
    let mut choice = Choice::new(22);
    let mut decoded = 0;
    for _ in 0..200_000 {
        let length = 4 * (1 + choice.below(6) as usize);
        let mut words: Vec<_> = (0..length).map(|_| choice.bits()).collect();
        words[0] &= choice.of(&[0x0002_00ff, 0x0008_00ff, 0x0020_00ff, 0x0400_00ff, 0x0aaa_00ff, !0]);
        words[0] = words[0] & !0xf0 | choice.of(&[1, words[0] >> 4 & 15]) << 4;
        decoded += u32::from(run(&mut choice, &words).is_some());
    }
    assert!(decoded > 200, "{decoded}");
}

/// Words with some changed bits of valid programs.
#[test]
fn changed_words_end() {
    let mut choice = Choice::new(23);
    let mut decoded = 0;
    for _ in 0..30_000 {
        let length = 1 + choice.below(3) as usize;
        let mut words = encode_program(&generate::program(&mut choice, length, |_| true)).unwrap();
        for _ in 0..=choice.below(3) {
            let word = choice.below(words.len() as u32) as usize;
            words[word] ^= 1 << choice.below(32);
        }
        decoded += u32::from(run(&mut choice, &words).is_some());
    }
    assert!(decoded > 10_000, "{decoded}");
}
