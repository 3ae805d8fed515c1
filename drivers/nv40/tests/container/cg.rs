//! Cg binaries, by a reader of their structure.

use super::programs::{fragment_interface, fragment_program, vertex_interface, vertex_program};
use pretty_assertions::assert_eq;
use tgsi_compiler::front_end::{Interface, InterfaceVariable};
use tgsi_driver_nv40::container::write_cg;
use tgsi_driver_nv40::isa::Chip;
use tgsi_driver_nv40::isa::fragment::swap_halves;
use tgsi_driver_nv40::program::{Program, SYSTEM_VALUE, Varying, VertexProgram};
use tgsi_ir::slots::VaryingSlot;

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

/// Inputs without a register have the names of the language; parts of a register have their components.
#[test]
fn system_values_and_parts_have_names() {
    let mut program = fragment_program(Chip::Rsx);
    let system = |location: u8, number| Varying {
        register: SYSTEM_VALUE,
        location: location.into(),
        number,
        component: 0,
        mask: 15,
    };
    let values = [(VaryingSlot::POS, 0), (VaryingSlot::FACE, 14), (VaryingSlot::PNTC, 6), (VaryingSlot::LAYER, 7)];
    program.inputs.extend(values.map(|(location, number)| system(location, number)));
    let parameters = Binary::new(Program::Fragment(program), &fragment_interface()).parameters();
    let expected = [
        "gl_FragCoord 1048 2373 4101 4097 -1 : WPOS",
        "gl_FrontFacing 1048 3256 4101 4097 -1 : FACE",
        "gl_PointCoord 1048 2181 4101 4097 -1 : TEXCOORD2",
        "system22 1048 2192 4101 4097 -1 : TEXCOORD3",
    ];
    assert_eq!(parameters[2..6], expected);
    // Clip distances 0 to 2 are in the register of the fog, distance 3 in that of the point size.
    let mut program = vertex_program(Chip::Rsx);
    let part = |number, mask| Varying { register: 3, location: 17, number, component: number - 4, mask };
    program.outputs.splice(3.., [part(5, 7), Varying { component: 2, ..part(6, 8) }]);
    let parameters = Binary::new(Program::Vertex(program), &vertex_interface()).parameters();
    let expected = ["out3.xyz 1048 3256 4101 4098 -1 : CLP0", "out3.w 1048 3256 4101 4098 -1 : CLP3"];
    assert_eq!(parameters[8..10], expected);
}

/// The registers of matrices and arrays. One that follows the variable has no name.
#[test]
fn registers_of_variables_have_names() {
    let variable = |ty: &str| {
        let mut interface = Interface::default();
        interface.inputs = vec![InterfaceVariable::new("v".to_owned(), ty.to_owned(), 0, 1)];
        let inputs = (0..8).map(|register: u8| Varying {
            register: register.into(),
            location: 0,
            number: register,
            component: 0,
            mask: 15,
        });
        let program = VertexProgram { inputs: inputs.collect(), ..vertex_program(Chip::Rsx) };
        let parameters = Binary::new(Program::Vertex(program), &interface).parameters();
        let names = parameters[..8].iter().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "));
        names.filter(|name| name.starts_with('v')).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(variable("ivec3"), "v 1047");
    assert_eq!(variable("float[3]"), "v[0] 1045, v[1] 1045, v[2] 1045");
    assert_eq!(variable("mat2x3"), "v[0] 1047, v[1] 1047");
    assert_eq!(variable("mat2[2]"), "v[0][0] 1046, v[0][1] 1046, v[1][0] 1046, v[1][1] 1046");
    assert_eq!(variable("vec4[2][2]"), "v[0] 1048, v[1] 1048, v[2] 1048, v[3] 1048");
    assert_eq!(variable("Light"), "v 1048");
}
