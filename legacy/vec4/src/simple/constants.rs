//! Packs the constants of instructions into rows.

use arrayvec::ArrayVec;

use super::{File, Instruction, SOURCES, SimpleMachine};
use crate::{ConstantPool, Constants, Program};

/// Puts the words of [`File::Constant`] that an instruction reads into one row of a pool, for all instructions: their
/// operands then refer to rows of the pool instead of those of the [program](Program::constants). To be called last,
/// because other passes know the words of the program's rows only.
///
/// # Errors
/// The number of an instruction that reads more than four different words: the machine
/// [accepts](SimpleMachine::accepts) several rows in an instruction.
pub fn pack_constants<M: SimpleMachine>(program: &mut Program<M>, pool: &mut ConstantPool) -> Result<(), usize> {
    let mut instructions = program.take_instructions();
    let mut result = Ok(());
    for (number, instruction) in instructions.iter_mut().enumerate() {
        if result.is_ok() && pack::<M>(instruction, &program.constants, pool).is_none() {
            result = Err(number);
        }
    }
    instructions.into_iter().for_each(|instruction| program.push(instruction));
    result
}

fn pack<M: SimpleMachine>(
    instruction: &mut Instruction<M::Op>,
    constants: &Constants,
    pool: &mut ConstantPool,
) -> Option<()> {
    let info = M::info(instruction.op);
    let is_literal = |number: usize| {
        let source = &instruction.sources[number];
        source.file == File::Constant && source.relative.is_none()
    };
    // The channels that each literal is read for, and the words.
    let mut literals: ArrayVec<(usize, ArrayVec<usize, 4>), SOURCES> = ArrayVec::new();
    let mut words: ArrayVec<ArrayVec<u32, 4>, SOURCES> = ArrayVec::new();
    for number in (0..instruction.sources.len()).filter(|&number| is_literal(number)) {
        let read = instruction.channels(&info, number);
        let channels: ArrayVec<usize, 4> = (0..4).filter(|c| read >> c & 1 != 0).collect();
        let source = &instruction.sources[number];
        let row = constants.row(source.index);
        words.push(channels.iter().map(|&c| row[usize::from(source.swizzle[c] & 3)]).collect());
        literals.push((number, channels));
    }
    if literals.is_empty() {
        return Some(());
    }
    let slices: ArrayVec<&[u32], SOURCES> = words.iter().map(|words| &words[..]).collect();
    let (row, placed) = pool.place_together(&slices)?;
    for ((number, channels), components) in literals.into_iter().zip(placed) {
        let source = &mut instruction.sources[number];
        source.index = row as i32;
        source.swizzle = [components.first().copied().unwrap_or(0); 4];
        channels.into_iter().zip(components).for_each(|(channel, component)| source.swizzle[channel] = component);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simple::{Destination, Info, Source};

    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    struct Mad;

    struct Machine;

    impl SimpleMachine for Machine {
        type Op = Mad;
        const COPY: Mad = Mad;

        fn info(_: Mad) -> Info {
            Info::COMPONENTWISE
        }
    }

    #[test]
    fn constants_of_an_instruction_are_in_one_row() {
        let mut program = Program::new(Machine, 0);
        let [a, b] = [[1, 2, 3, 9], [4, 1, 8, 7]].map(|row| Source::new(File::Constant, program.constants.intern(row)));
        let instruction = |mask: u8| {
            let to = Destination::new(File::Output, 0, mask);
            Instruction::new(Mad, Some(to), [a, b.swizzled([1, 0, 2, 3]), Source::new(File::Input, 0)])
        };
        program.push(instruction(0b0011));
        let mut pool = ConstantPool::default();
        assert_eq!(pack_constants(&mut program, &mut pool), Ok(()));
        assert_eq!(pool.rows().collect::<Vec<_>>(), [[1, 2, 4, 0]]);
        let text = program.instructions()[0].to_string();
        assert_eq!(text, "Mad Output[0].xy, Constant[0].xyxx, Constant[0].xzxx, Input[0]");

        program.push(instruction(0b1111));
        assert_eq!(pack_constants(&mut program, &mut pool), Err(1));
    }
}
