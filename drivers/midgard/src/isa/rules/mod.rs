//! Rules between the instructions of bundles, which the encoder does not check.
//!
//! They are those that Mesa's compiler follows: bundles that its scheduler and its register allocation never produce
//! are errors here. In a bundle, the second stage may read work registers that the first one writes: Mesa's scheduler places
//! a result and its readers in the two stages, and only results without later readers become r24 or r25.

mod alu;
mod units;

use super::{Body, Bundle, Chip, Register, Role};

use thiserror::Error;

/// The registers that a program has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resources {
    /// The chip.
    pub chip: Chip,
    /// The number of work registers, at most 16.
    pub work_registers: u8,
    /// The number of uniforms in registers, from r23 down, at most 16.
    pub uniforms: u8,
}

impl Resources {
    /// All work registers that a number of uniforms leaves.
    pub fn new(chip: Chip, uniforms: u8) -> Resources {
        let uniforms = uniforms.min(16);
        Resources { chip, work_registers: 24 - uniforms.max(8), uniforms }
    }

    /// Whether a register is a work register.
    pub fn is_work(&self, register: Register) -> bool {
        register.number() < self.work_registers.min(16)
    }

    /// Whether a register is a uniform.
    pub fn is_uniform(&self, register: Register) -> bool {
        (8..24).contains(&register.number()) && 23 - register.number() < self.uniforms
    }
}

/// A rule that a bundle breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Rule {
    /// An opcode on a unit that is not known to have it.
    #[error("{1} does not execute {0}")]
    Unit(&'static str, &'static str),
    /// A register is read that does not exist or cannot be read there.
    #[error("r{0} cannot be read")]
    Read(u8),
    /// A register is written that does not exist or cannot be written there.
    #[error("r{0} cannot be written")]
    Write(u8),
    /// Bytes of r24 or r25 are read that the first stage of the bundle does not write.
    #[error("r{0} is read, and the first stage does not write these components")]
    Pipeline(u8),
    /// A condition is read that no earlier unit of the bundle writes.
    #[error("the condition in r31 is read, and no earlier unit of the bundle writes it")]
    Condition,
    /// Two instructions that execute together access the same bytes, and one writes them.
    #[error("two instructions of one stage access the same components of r{0}")]
    Hazard(u8),
    /// Constants are read that the bundle lacks.
    #[error("embedded constants are read, and the bundle has none")]
    Constants,
    /// A function of the table unit writes several components.
    #[error("{0} writes several components")]
    SeveralComponents(&'static str),
    /// An opcode has no form with the width.
    #[error("{0} has no form with {1} bits")]
    Width(&'static str, u32),
    /// A mask has a part of a component.
    #[error("the mask of {0} splits a component")]
    Mask(&'static str),
    /// A source of 64 bits has halves that are not neighbours.
    #[error("a source of {0} joins halves of different components")]
    Swizzle(&'static str),
    /// A write-out without a complete colour.
    #[error("the write-out reads r0, and the bundle does not write all of it")]
    Colour,
    /// The tag of the bundle is one with a write-out, and should not be, or the other way round.
    #[error("the kind of the tag does not fit the branch and the chip")]
    WriteoutTag,
    /// A branch in a form that chips are not known to execute.
    #[error("the branch {0}")]
    Branch(&'static str),
    /// A store of a varying beside another load/store instruction.
    #[error("ST_VARY.f32 shares a bundle with another instruction")]
    StoreVarying,
    /// A derivative of more than two components.
    #[error("a derivative has only x and y")]
    Derivative,
    /// A bundle may execute before a texture operation ends, which the chip or the bundle does not permit.
    #[error("the bundle may not execute {0} bundles together with a texture operation")]
    OutOfOrder(u8),
}

/// A broken rule and the index of the bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("bundle {bundle}: {rule}")]
pub struct RuleError {
    /// The index of the bundle.
    pub bundle: usize,
    /// The rule.
    pub rule: Rule,
}

/// Checks the rules of all bundles, and returns the first that is broken. Tags are those of
/// [`check_program`](super::check_program).
pub fn check_rules(bundles: &[Bundle], resources: &Resources) -> Result<(), RuleError> {
    for (index, bundle) in bundles.iter().enumerate() {
        let result = match &bundle.body {
            Body::Alu(alu) => alu::check(alu, resources),
            Body::LoadStore(instructions) => units::check_load_store(instructions, resources),
            Body::Texture(texture) => units::check_texture(texture, &bundles[index + 1..], resources),
            Body::Barrier(barrier) => units::check_order(barrier.out_of_order, resources),
        };
        result.map_err(|rule| RuleError { bundle: index, rule })?;
    }
    Ok(())
}

/// Checks a register that load/store and texture instructions write.
fn check_written(register: Register, resources: &Resources) -> Result<(), Rule> {
    match register.role() {
        _ if resources.is_work(register) => Ok(()),
        Role::LoadStore => Ok(()),
        Role::Texture if !resources.chip.aliases_texture_registers() => Ok(()),
        _ => Err(Rule::Write(register.number())),
    }
}
