//! Arbitrary words and arbitrary valid bundles: every run ends with a result or a trap.

use super::support::World;
use crate::generate;
use crate::support::Choice;
use tgsi_driver_midgard::isa::{Chip, encode_program};
use tgsi_driver_midgard::simulator::{Launch, Simulator};

const STEPS: u32 = 200;

#[test]
fn random_words() {
    let mut choice = Choice::new(1);
    let mut decoded = 0;
    for _ in 0..50_000 {
        let mut words: Vec<_> = (0..4 * (1 + choice.below(4))).map(|_| choice.bits()).collect();
        // The tags of one bundle, then the end.
        words[0] = words[0] & !0xff | 0x10 | choice.of(&[2, 3, 4, 5, 8, 9, 10, 11, 12]);
        let Ok(simulator) = Simulator::new(&words, choice.of(Chip::ALL)) else { continue };
        decoded += 1;
        let _ = simulator.run(&Launch { steps: STEPS, ..Launch::default() }, &mut World::default());
    }
    assert!(decoded > 100, "{decoded}");
}

#[test]
fn random_programs() {
    let mut choice = Choice::new(2);
    let mut finished = 0;
    for _ in 0..5_000 {
        let length = 1 + choice.below(6) as usize;
        let bundles = generate::program(&mut choice, length, |_| true);
        let words = encode_program(&bundles).unwrap();
        let simulator = Simulator::new(&words, choice.of(Chip::ALL)).unwrap();
        let launch = Launch {
            lanes: choice.below(9) as usize,
            helpers: &[false, true],
            uniforms: &[[choice.bits(); 4]],
            work_registers: choice.below(20) as u8,
            steps: STEPS,
            ..Launch::default()
        };
        finished += u32::from(simulator.run(&launch, &mut World::default()).is_ok());
    }
    assert!(finished > 100, "{finished}");
}
