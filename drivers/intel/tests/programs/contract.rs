//! The facts about programs.

use super::{GEOMETRY, VERTEX, geometry, instructions, vertex};
use pretty_assertions::assert_eq;
use tgsi_driver_intel::isa::SharedFunction;
use tgsi_driver_intel::program::{Dispatch, TextureKind};
use tgsi_ir::slots::VaryingSlot;

#[test]
fn vertex_programs_state_their_payload() {
    let program = vertex(VERTEX, &[]);
    let (kernel, interface) = (&program.kernel, &program.interface);
    // Only constants that are read, in the order of their numbers.
    assert_eq!((kernel.dispatch_start, &kernel.push[..]), (1, &[4, 7][..]));
    assert_eq!(kernel.push_registers(), 1);
    let attributes: Vec<(u32, u8)> = interface.inputs.iter().map(|input| (input.register, input.slot)).collect();
    assert_eq!(attributes, [(0, 0), (1, 1)]);
    // The number of the instance is in a further attribute.
    assert_eq!(
        (interface.system_values.vertex, interface.system_values.draw, interface.attributes),
        (Some(2), None, 3)
    );
    assert_eq!((interface.read_length(), interface.entry_size()), (2, 1));
    // Four elements and one for accesses beyond the end, for both vertices; the least size is 1 KB.
    assert_eq!(kernel.scratch, 1024);
    assert_eq!((kernel.textures[0].unit, kernel.textures[0].kind), (2, TextureKind::D2));
    let bindings = kernel.bindings;
    assert_eq!((bindings.constants(1), bindings.buffers(0)), (bindings.constants_start + 1, bindings.buffers_start));
}

#[test]
fn vertex_entries_have_the_order_of_mesa() {
    let program = vertex(VERTEX, &[]);
    let slot = |slot: u8| i32::from(slot);
    let [size, position, color, generic] =
        [VaryingSlot::PSIZ, VaryingSlot::POS, VaryingSlot::COL0, VaryingSlot::VAR0 + 3].map(slot);
    assert_eq!(program.interface.vue, [size, position, color, generic]);
    let of = |register: u32| program.interface.outputs.iter().find(|output| output.register == register).unwrap();
    // The point size is w of the header.
    assert_eq!((of(2).slot, of(2).component, of(2).mask), (0, 3, 1));
    assert_eq!((of(0).slot, of(1).slot, of(1).mask, of(3).slot), (1, 3, 3, 2));
    let instructions = instructions(&program.kernel);
    let last = instructions.last().and_then(|last| last.message()).expect("a message");
    assert!(last.end_of_thread && last.function == SharedFunction::Urb);
    // A header and four slots.
    assert_eq!(last.payload_length(), Some(5));
}

#[test]
fn many_slots_are_several_messages() {
    let mut text = "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL OUT[1..24], GENERIC[0]\nMOV OUT[0], IN[0]\n".to_owned();
    (1..25).for_each(|output| text += &format!("MUL OUT[{output}], IN[0], IN[0]\n"));
    let program = vertex(&(text + "END\n"), &[]);
    let lengths: Vec<u32> =
        instructions(&program.kernel).iter().filter_map(|i| i.message()?.payload_length()).collect();
    assert_eq!((program.interface.vue.len(), &lengths[..]), (26, &[15, 13][..]));
}

#[test]
fn geometry_programs_state_their_entries() {
    let program = geometry(GEOMETRY, &[]);
    let (kernel, interface) = (&program.kernel, &program.interface);
    assert_eq!((interface.dispatch, interface.vertices_in, interface.invocations), (Dispatch::DualObject, 3, 1));
    // The header, the position and a varying.
    assert_eq!((interface.read_length(), interface.input_registers()), (2, 12));
    assert_eq!((interface.has_primitive_id, kernel.dispatch_start), (true, 2));
    // 40 bits are two words, and a unit has eight; three slots take two units.
    assert_eq!((interface.limit, interface.control_size, interface.vertex_size), (40, 1, 2));
    assert!(instructions(kernel).last().and_then(|last| last.message()).is_some_and(|last| last.end_of_thread));
}

#[test]
fn dispatch_depends_on_invocations_and_inputs() {
    let instanced = GEOMETRY.replace("PROPERTY GS_MAX", "PROPERTY GS_INVOCATIONS 4\nPROPERTY GS_MAX");
    assert_eq!(geometry(&instanced, &[]).interface.dispatch, Dispatch::DualInstance);
    let mut wide = "GEOM\nPROPERTY GS_INPUT_PRIMITIVE TRIANGLES_ADJACENCY\nPROPERTY GS_MAX_OUTPUT_VERTICES 1\n\
        DCL IN[][0..11], GENERIC[0]\nDCL OUT[0], POSITION\nDCL TEMP[0]\nIMM[0] UINT32 {0, 0, 0, 0}\n\
        MOV TEMP[0], IN[0][0]\n"
        .to_owned();
    for vertex in 0..6 {
        (0..12).for_each(|input| wide += &format!("MAD TEMP[0], TEMP[0], IN[{vertex}][{input}], IN[0][1]\n"));
    }
    wide += "MOV OUT[0], TEMP[0]\nEMIT IMM[0].xxxx\nEND\n";
    let program = geometry(&wide, &[]);
    assert_eq!((program.interface.dispatch, program.interface.input_registers()), (Dispatch::Single, 42));
    instructions(&program.kernel);
}

#[test]
fn options_change_code_and_payload() {
    for text in [VERTEX, GEOMETRY] {
        let of = |options: &[&str]| super::program(text, options).kernel().clone();
        for chip in ["ivb", "hsw"] {
            let [usual, long] = [of(&[chip]), of(&[chip, "no_compaction"])];
            assert!(usual.words.len() < long.words.len());
            assert_eq!(instructions(&usual).len(), instructions(&long).len());
            let [plain, few] = [of(&[chip, "unoptimized"]), of(&[chip, "few_registers"])];
            assert!(instructions(&plain).len() > instructions(&usual).len());
            instructions(&few);
        }
        assert!(of(&["no_push"]).push.is_empty());
    }
}
