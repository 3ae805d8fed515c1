//! Fragment programs: their facts, and runs with the payload of hardware.

use pretty_assertions::assert_eq;
use tgsi_driver_intel::isa::{Chip, Opcode, SharedFunction};
use tgsi_driver_intel::program::{Barycentrics, DEPTH_OUTPUT, FragmentProgram, Program, SAMPLE_MASK_OUTPUT};
use tgsi_driver_intel::simulator::{Environment, Launch, Registers, RenderTargetWrite, Simulator};

use super::{instructions, program};

fn fragment(text: &str, options: &[&str]) -> FragmentProgram {
    match program(text, options) {
        Program::Fragment(program) => program,
        other => panic!("{other:?} is not a fragment program"),
    }
}

/// Inputs of all kinds of interpolation, and several outputs.
const FRAGMENT: &str = "FRAG
DCL IN[0], GENERIC[0], PERSPECTIVE
DCL IN[1], GENERIC[1], LINEAR, CENTROID
DCL IN[2], GENERIC[2], CONSTANT
DCL IN[3], POSITION, LINEAR
DCL OUT[0], COLOR
DCL OUT[1], COLOR[2]
DCL OUT[2], POSITION
DCL OUT[3], SAMPLEMASK
DCL CONST[0][0..3]
DCL SAMP[1]
DCL SVIEW[1], 2D, FLOAT
DCL TEMP[0]
IMM[0] UINT32 {3, 0, 0, 0}
TEX TEMP[0], IN[1], SAMP[1], 2D
KILL_IF TEMP[0].xxxx
ADD OUT[0], IN[0], IN[2]
MUL OUT[1], TEMP[0], CONST[0][2]
MOV OUT[2].z, IN[3].zzzz
MOV OUT[3].x, IMM[0].xxxx
END
";

#[test]
fn facts_of_fragment_programs() {
    let program = fragment(FRAGMENT, &[]);
    let interface = &program.interface;
    let coordinates = Barycentrics::PerspectivePixel.bit() | Barycentrics::LinearCentroid.bit();
    assert_eq!(interface.payload.barycentrics, coordinates);
    assert_eq!(interface.payload.coordinates(Barycentrics::LinearCentroid), 4);
    assert!(interface.payload.depth && !interface.payload.w && !interface.payload.sample_mask);
    assert_eq!(program.kernel.dispatch_start, 7);
    assert_eq!(program.kernel.push, [2]);
    let inputs: Vec<(u32, u8)> = interface.inputs.iter().map(|input| (input.register, input.slot)).collect();
    assert_eq!(inputs, [(0, 0), (1, 1), (2, 2)]);
    assert_eq!((interface.attributes, interface.flat), (3, 0b100));
    let outputs: Vec<(u32, u8)> = interface.outputs.iter().map(|output| (output.register, output.slot)).collect();
    assert_eq!(outputs, [(2, DEPTH_OUTPUT), (3, SAMPLE_MASK_OUTPUT), (0, 0), (1, 2)]);
    assert_eq!(interface.targets, 0b101);
    assert!(interface.kills && interface.writes_depth && interface.writes_sample_mask && !interface.is_broadcast);
    assert_eq!((program.kernel.bindings.targets, program.kernel.bindings.textures_start), (3, 3));
}

#[test]
fn messages_to_render_targets() {
    for (profile, chip) in [("ivb", Chip::Gen7), ("hsw", Chip::Gen75)] {
        let program = fragment(FRAGMENT, &[profile]);
        let sends: Vec<_> = instructions(&program.kernel).into_iter().filter(|i| i.opcode == Opcode::Sendc).collect();
        let messages: Vec<_> = sends.iter().map(|send| *send.message().expect("a message")).collect();
        assert!(messages.iter().all(|message| message.function == SharedFunction::RenderCache));
        assert_eq!(messages.iter().map(|message| message.end_of_thread).collect::<Vec<_>>(), [false, true]);
        assert_eq!(messages.iter().map(|message| message.payload_length()).collect::<Vec<_>>(), [Some(8); 2]);
        // Gen7.5 writes live lanes only by a predicate.
        assert_eq!(sends.iter().all(|send| send.predicate.is_some()), chip == Chip::Gen75);
    }
}

/// Records writes to render targets.
#[derive(Default)]
struct Targets(Vec<RenderTargetWrite>);

impl Environment for Targets {
    fn render_target_write(&mut self, write: &RenderTargetWrite) {
        self.0.push(write.clone());
    }
}

/// Sets eight floats of a register.
fn set_lanes(registers: &mut Registers, register: u8, value: impl Fn(usize) -> f32) {
    (0..8).for_each(|lane| registers.set_word(register, lane, value(lane).to_bits()));
}

fn run(program: &FragmentProgram, registers: Registers) -> Vec<RenderTargetWrite> {
    let simulator = Simulator::new(&program.kernel.words, program.kernel.chip).expect("valid words");
    let mut targets = Targets::default();
    let launch = Launch { registers, dispatch_mask: 0xff, scratch: program.kernel.scratch, ..Launch::default() };
    let result = simulator.run(&launch, &mut targets).expect("a run to the end");
    assert!(result.has_ended);
    targets.0
}

#[test]
fn attributes_are_evaluated_as_planes() {
    let text = "FRAG
DCL IN[0], GENERIC[0], PERSPECTIVE
DCL IN[1], GENERIC[1], CONSTANT
DCL OUT[0], COLOR
MOV OUT[0].xy, IN[0].xyxx
MOV OUT[0].zw, IN[1].zwzw
END
";
    for options in [&["ivb"][..], &["ivb", "unoptimized"], &["hsw"]] {
        let program = fragment(text, options);
        let mut registers = Registers::default();
        let first = program.interface.payload.coordinates(Barycentrics::PerspectivePixel);
        set_lanes(&mut registers, first, |lane| lane as f32);
        set_lanes(&mut registers, first + 1, |lane| 0.5 * lane as f32);
        let attributes = program.kernel.dispatch_start + program.kernel.push_registers();
        // 1 + 2u + 4v, and 8 - u.
        for (word, value) in [(0, 2.0f32), (1, 4.0), (3, 1.0), (4, -1.0), (5, 0.0), (7, 8.0)] {
            registers.set_word(attributes, word, value.to_bits());
        }
        registers.set_word(attributes + 3, 3, 5.0f32.to_bits());
        registers.set_word(attributes + 3, 7, 6.0f32.to_bits());
        let [write] = &run(&program, registers)[..] else { panic!("one write") };
        assert!(write.end_of_thread && write.is_last && write.header.is_none());
        let [x, y, z, w] = write.colour.map(|lanes| f32::from_bits(lanes[3]));
        assert_eq!([x, y, z, w], [13.0, 5.0, 5.0, 6.0]);
    }
}

#[test]
fn positions_and_faces_are_in_the_headers() {
    let text = "FRAG
DCL IN[0], POSITION, LINEAR
DCL IN[1], FACE, CONSTANT
DCL OUT[0], COLOR
MOV OUT[0].xyz, IN[0].xywz
MOV OUT[0].w, IN[1].xxxx
END
";
    let program = fragment(text, &[]);
    assert!(program.interface.payload.w && !program.interface.payload.depth);
    assert_eq!(program.interface.attributes, 0);
    for (header, face) in [(0u32, 1.0f32), (1 << 15, -1.0)] {
        let mut registers = Registers::default();
        registers.set_word(0, 0, header);
        registers.set_word(1, 2, 20 << 16 | 10);
        registers.set_word(1, 3, 40 << 16 | 30);
        set_lanes(&mut registers, program.interface.payload.w_register(), |_| 0.25);
        let [write] = &run(&program, registers)[..] else { panic!("one write") };
        let of = |component: usize| write.colour[component].map(f32::from_bits);
        assert_eq!(of(0)[..8], [10.5, 11.5, 10.5, 11.5, 30.5, 31.5, 30.5, 31.5]);
        assert_eq!(of(1)[..8], [20.5, 20.5, 21.5, 21.5, 40.5, 40.5, 41.5, 41.5]);
        assert_eq!((of(2)[0], of(3)[0]), (4.0, face));
    }
}

#[test]
fn killed_lanes_are_not_written() {
    let text = "FRAG
DCL IN[0], GENERIC[0], LINEAR
DCL OUT[0], COLOR
KILL_IF IN[0].xxxx
MOV OUT[0], IN[0]
END
";
    for profile in ["ivb", "hsw"] {
        let program = fragment(text, &[profile]);
        let mut registers = Registers::default();
        // Lane 5 is a helper.
        registers.set_word(1, 7, 0b1101_1111);
        let first = program.interface.payload.coordinates(Barycentrics::LinearPixel);
        set_lanes(&mut registers, first, |lane| if lane % 2 == 0 { 1.0 } else { -1.0 });
        let attributes = program.kernel.dispatch_start;
        registers.set_word(attributes, 0, 1.0f32.to_bits());
        let [write] = &run(&program, registers)[..] else { panic!("one write") };
        assert_eq!(write.active, 0b0101_0101, "{profile}");
    }
}

#[test]
fn spilled_programs_compute_the_same() {
    let text = "FRAG
DCL IN[0..9], GENERIC[0], LINEAR
DCL OUT[0], COLOR
DCL TEMP[0..9]
MUL TEMP[0], IN[0], IN[9]
MUL TEMP[1], IN[1], IN[8]
MUL TEMP[2], IN[2], IN[7]
MUL TEMP[3], IN[3], IN[6]
MUL TEMP[4], IN[4], IN[5]
MAD TEMP[5], TEMP[0], TEMP[4], TEMP[2]
MAD TEMP[6], TEMP[1], TEMP[3], TEMP[5]
MAD TEMP[7], TEMP[2], TEMP[6], TEMP[0]
MAD TEMP[8], TEMP[3], TEMP[7].wzyx, TEMP[1]
MAD OUT[0], TEMP[4], TEMP[8], TEMP[5]
END
";
    let colours = [&["unoptimized"][..], &["few_registers", "unoptimized"]].map(|options| {
        let program = fragment(text, options);
        assert_eq!(program.kernel.scratch != 0, options.contains(&"few_registers"));
        let mut registers = Registers::default();
        let first = program.interface.payload.coordinates(Barycentrics::LinearPixel);
        set_lanes(&mut registers, first, |lane| lane as f32);
        for number in 0..20 {
            for word in 0..8 {
                let value = f32::from(number) * 0.25 - word as f32;
                registers.set_word(program.kernel.dispatch_start + number, word, value.to_bits());
            }
        }
        run(&program, registers)[0].colour
    });
    assert_eq!(colours[0], colours[1]);
}
