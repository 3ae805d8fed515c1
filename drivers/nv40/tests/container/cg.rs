//! Cg binaries, by a reader of their structure.

use super::programs::{fragment_interface, fragment_program, vertex_interface, vertex_program};
use pretty_assertions::assert_eq;
use tgsi_compiler::front_end::Interface;
use tgsi_driver_nv40::container::write_cg;
use tgsi_driver_nv40::isa::Chip;
use tgsi_driver_nv40::isa::fragment::swap_halves;
use tgsi_driver_nv40::program::Program;

struct Binary(Vec<u8>);

impl Binary {
    fn new(program: Program, interface: &Interface) -> Binary {
        Binary(write_cg(&program, interface).unwrap())
    }

    fn word(&self, at: u32) -> u32 {
        u32::from_be_bytes(self.0[at as usize..][..4].try_into().unwrap())
    }

    fn text(&self, at: u32) -> &str {
        let rest = &self.0[at as usize..];
        std::str::from_utf8(&rest[..rest.iter().position(|&byte| byte == 0).unwrap()]).unwrap()
    }

    fn code(&self) -> Vec<u32> {
        (0..self.word(24) / 4).map(|number| self.word(self.word(28) + 4 * number)).collect()
    }

    /// A line for each parameter. The number of patches is also that of words between them and the name.
    fn parameters(&self) -> Vec<String> {
        let line = |number: u32| {
            let entry: Vec<u32> = (0..12).map(|field| self.word(self.word(16) + 48 * number + 4 * field)).collect();
            let [ty, resource, variability, index, name, default, patches, semantic, direction, place, used, shared] =
                entry[..]
            else {
                panic!()
            };
            assert_eq!((place, used, shared), (number, 1, 0));
            let mut line = format!("{} {ty} {resource} {variability} {direction} {}", self.text(name), index as i32);
            if semantic > 0 {
                line += &format!(" : {}", self.text(semantic));
            }
            if default > 0 {
                line += &format!(" = {}", f32::from_bits(self.word(default)));
            }
            if patches > 0 {
                let count = self.word(patches);
                assert_eq!(patches + 4 + 4 * count, name);
                let offsets: Vec<_> = (0..count).map(|patch| self.word(patches + 4 + 4 * patch).to_string()).collect();
                line += &format!(" at {}", offsets.join(" "));
            }
            line
        };
        (0..self.word(12)).map(line).collect()
    }
}

#[test]
fn vertex_binaries() {
    let program = vertex_program(Chip::Rsx);
    let binary = Binary::new(Program::Vertex(program.clone()), &vertex_interface());
    assert_eq!((binary.word(0), binary.word(4), binary.word(8)), (7003, 6, binary.0.len() as u32));
    assert_eq!(binary.code(), program.slots.as_flattened());
    let record: Vec<u32> = (0..6).map(|field| binary.word(binary.word(20) + 4 * field)).collect();
    assert_eq!(record, [13, 0, 1, 0x10f, 5 | 1 << 14 | 1 << 6, 2]);
    let expected = [
        "position 1048 2113 4101 4097 -1 : ATTR0",
        "normal 1047 2115 4101 4097 -1 : ATTR2",
        "colour 1048 2116 4101 4097 -1 : ATTR3",
        "uv[0] 1046 2121 4101 4097 -1 : ATTR8",
        "bone 1045 2114 4101 4097 -1 : ATTR1",
        "gl_Position 1048 2243 4101 4098 -1 : POSITION",
        "gl_FrontColor 1048 2245 4101 4098 -1 : COLOR0",
        "v 1048 2179 4101 4098 -1 : TEXCOORD0",
        "out3 1048 3256 4101 4098 -1 : CLP0",
        "mvp 1064 2178 4102 4097 0",
        "mvp[0] 1048 2178 4102 4097 0",
        "mvp[1] 1048 2178 4102 4097 1",
        "mvp[2] 1048 2178 4102 4097 2",
        "mvp[3] 1048 2178 4102 4097 3",
        "lights[0].position 1048 2178 4102 4097 4",
        "lights[1].colour 1047 2178 4102 4097 6",
        "bones[0] 1048 2178 4102 4097 7",
        "bones[1] 1048 2178 4102 4097 8",
        "on 1114 2178 4102 4097 9 = 1",
        "internal-constant-10 1048 2178 4103 4097 10 = 1",
    ];
    assert_eq!(binary.parameters(), expected);
}

#[test]
fn fragment_binaries() {
    let program = fragment_program(Chip::Rsx);
    let binary = Binary::new(Program::Fragment(program.clone()), &fragment_interface());
    assert_eq!((binary.word(0), binary.word(24)), (7004, 16 * 12));
    let code: Vec<u32> = binary.code().into_iter().map(swap_halves).collect();
    let mut patched = program.program;
    patched.set_constant(2, [1.0f32, 2.0, -3.0, 4.0].map(f32::to_bits));
    assert_eq!(code, patched.words);
    let at = binary.word(20);
    assert_eq!((binary.word(at), binary.word(at + 4), binary.word(at + 8)), (12, 3 << 14, 0));
    assert_eq!(binary.0[at as usize + 12..][..10], [0, 3, 0, 1, 0, 0, 3, 0, 0, 1]);
    let expected = [
        "uv 1046 2179 4101 4097 -1 : TEXCOORD0",
        "direction 1047 2180 4101 4097 -1 : TEXCOORD1",
        "gl_FragColor 1048 2757 4101 4098 -1 : COLOR0",
        "m 1054 3256 4102 4097 -1",
        "m[0] 1046 3256 4102 4097 -1",
        "m[1] 1046 3256 4102 4097 -1 at 112",
        "tint 1048 3256 4102 4097 -1 = 1 at 48 144",
        "nothing 1045 3256 4102 4097 -1",
        "image 1066 2048 4102 4097 -1 : TEXUNIT0",
        "sky[1] 1069 2051 4102 4097 -1 : TEXUNIT3",
    ];
    assert_eq!(binary.parameters(), expected);
}

#[test]
fn registers_without_names_have_numbers() {
    let binary = Binary::new(Program::Vertex(vertex_program(Chip::Nv40)), &Interface::default());
    let parameters = binary.parameters();
    assert_eq!(parameters[9], "c0 1048 2178 4102 4097 0");
    assert_eq!(parameters.last().unwrap(), "internal-constant-10 1048 2178 4103 4097 10 = 1");
}
