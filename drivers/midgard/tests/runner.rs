//! Random programs with random tables: each run gives a result or an error.

use crate::generate;
use crate::support::Choice;
use tgsi_driver_midgard::container::{program_json, read_program_json};
use tgsi_driver_midgard::isa::{Chip, encode_program};
use tgsi_driver_midgard::program::{
    Dimensions, FragmentOutput, FragmentResult, Program, Slot, Stage, SystemRow, Texture, UniformRow, Varying,
};
use tgsi_driver_midgard::runner::run_program;
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits, SystemValue};

use pretty_assertions::assert_eq;

/// A small number, or one of any size.
fn number(choice: &mut Choice) -> u32 {
    if choice.below(16) == 0 { choice.bits() } else { choice.below(4) }
}

fn list<T>(choice: &mut Choice, mut entry: impl FnMut(&mut Choice) -> T) -> Vec<T> {
    (0..choice.below(5)).map(|_| entry(choice)).collect()
}

fn varying(choice: &mut Choice) -> Varying {
    let register = Slot::Register(number(choice));
    let others =
        [Slot::FragCoord, Slot::FrontFace, Slot::PointCoord, Slot::PrimitiveId, Slot::VertexId, Slot::InstanceId];
    let slot = if choice.below(2) == 0 { register } else { choice.of(&others) };
    Varying { number: number(choice), slot, location: choice.bits() as i32, mask: choice.bits() as u8 }
}

fn texture(choice: &mut Choice) -> Texture {
    use Dimensions::{Buffer, Cube, D1, D2, D3, Multisampled, Rect};
    let dimensions = choice.of(&[D1, D2, D3, Cube, Rect, Buffer, Multisampled]);
    Texture { number: number(choice), dimensions, is_array: choice.below(2) == 0 }
}

fn system_row(choice: &mut Choice) -> SystemRow {
    use SystemRow::*;
    let number = number(choice);
    choice.of(&[
        StorageBuffer(number),
        TextureSize { texture: number, level: number },
        TextureSamples(number),
        ImageSize(number),
        Counters(number),
        SamplePosition(number),
        Workgroups,
        WorkgroupSize,
        Draw,
        Zero,
    ])
}

fn result(choice: &mut Choice) -> FragmentOutput {
    use FragmentResult::{Colour, Depth, Stencil};
    let result = Colour(number(choice));
    FragmentOutput {
        register: number(choice),
        result: choice.of(&[result, result, Depth, Stencil]),
        component: choice.bits() as u8,
        mask: choice.bits() as u8,
    }
}

fn program(choice: &mut Choice) -> Program {
    let length = 1 + choice.below(4) as usize;
    Program {
        chip: choice.of(Chip::ALL),
        stage: choice.of(&[Stage::Vertex, Stage::Fragment, Stage::Compute]),
        words: encode_program(&generate::program(choice, length, |_| true)).unwrap(),
        work_registers: choice.below(20) as u8,
        uniforms: list(choice, |choice| UniformRow { buffer: number(choice), row: number(choice) }),
        system_buffer: number(choice),
        system_rows: list(choice, system_row),
        inputs: list(choice, varying),
        outputs: list(choice, varying),
        results: list(choice, result),
        textures: list(choice, texture),
        images: list(choice, texture),
        stack: number(choice),
        shared: number(choice),
        workgroup: choice.of(&[None, Some([4, 2, 1])]),
        discards: choice.below(2) == 0,
    }
}

fn inputs(choice: &mut Choice) -> Inputs {
    let lanes = choice.below(10) as usize;
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 4), ..Inputs::default() };
    for register in 0..4 {
        (0..lanes).for_each(|lane| inputs.inputs.set(register, 0, lane, choice.bits()));
    }
    for &value in SystemValue::ALL {
        if choice.below(2) == 0 {
            inputs.system_values.insert(value, list(choice, |choice| list(choice, Choice::bits)));
        }
    }
    inputs.constants = list(choice, |choice| list(choice, Choice::bits));
    inputs.buffers = list(choice, |choice| list(choice, |choice| choice.bits() as u8));
    inputs.counters = list(choice, |choice| list(choice, Choice::bits));
    inputs.helpers = list(choice, |choice| choice.below(2) == 0);
    inputs.framebuffer = LaneRegisters::new(lanes, 2);
    inputs
}

#[test]
fn random_programs_end() {
    let mut choice = Choice::new(31);
    let mut finished = 0;
    for _ in 0..20_000 {
        let program = program(&mut choice);
        if let Ok(read) = read_program_json(&program_json(&program)) {
            assert_eq!(read, program);
        }
        let Ok(runner) = run_program(program) else { continue };
        let inputs = inputs(&mut choice);
        let limits = RunLimits { steps: 200, memory: 1 << 20 };
        let Ok(outputs) = runner.run(&inputs, &mut AnalyticResources::default(), limits) else { continue };
        let of = |buffers: &[Vec<u8>]| buffers.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!((outputs.live.len(), of(&outputs.buffers)), (inputs.lanes, of(&inputs.buffers)));
        finished += 1;
    }
    assert!(finished > 2000, "{finished}");
}
