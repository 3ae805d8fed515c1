//! Splits vectors into scalars.

use super::*;

const TO_SCALAR: &[Pass] = passes![
    into_ssa,
    lower_phis_to_scalar,
    to_scalar,
    lower_load_const_to_scalar,
    opt_copy_prop,
    opt_cse,
    opt_dce,
    optimized,
];

#[test]
fn random_shaders_to_scalar() {
    for seed in seeds() {
        let statements = 20 + (seed % 50) as usize;
        let kills = seed % 3 == 2;
        check(seed + 8_000_000, Options { statements, functions: 0, returns: false, kills }, TO_SCALAR);
    }
}
