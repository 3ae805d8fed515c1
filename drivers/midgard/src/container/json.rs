//! Programs in JSON: an object with the fields of [`Program`]. Words are numbers.

use super::{ReadError, check};
use crate::program::Program;

/// Returns a program as JSON.
pub fn program_json(program: &Program) -> String {
    // Serialisation to a string fails only for maps with keys that are not strings.
    serde_json::to_string(program).unwrap_or_default()
}

/// Reads the program of [`program_json`].
///
/// # Errors
/// The text is not a program in JSON, or a number contradicts the limits of the chip or another part of the program.
pub fn read_program_json(text: &str) -> Result<Program, ReadError> {
    let program = serde_json::from_str(text).map_err(|error| ReadError::Json(error.to_string()))?;
    check::program(&program)?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::program_bytes;
    use crate::isa::Chip;
    use crate::program::{
        Dimensions, FragmentOutput, FragmentResult, Slot, Stage, SystemRow, Texture, UniformRow, Varying,
    };

    use pretty_assertions::assert_eq;

    fn varying(number: u32, slot: Slot) -> Varying {
        Varying { number, slot, location: -1, mask: 15 }
    }

    /// A fragment program with entries in all of its tables.
    fn fragment() -> Program {
        let texture = Texture { number: 3, dimensions: Dimensions::Cube, is_array: true };
        Program {
            chip: Chip::T760,
            stage: Stage::Fragment,
            words: vec![8, 0, 0, 0xffff_ffff],
            work_registers: 5,
            uniforms: vec![UniformRow { buffer: 0, row: 4095 }, UniformRow { buffer: 1, row: 2 }],
            system_buffer: 1,
            system_rows: vec![SystemRow::StorageBuffer(0), SystemRow::SamplePosition(7), SystemRow::Draw],
            inputs: vec![varying(0, Slot::Register(2)), varying(1, Slot::FragCoord)],
            outputs: Vec::new(),
            results: vec![
                FragmentOutput { register: 0, result: FragmentResult::Colour(7), component: 1, mask: 6 },
                FragmentOutput { register: 1, result: FragmentResult::Depth, component: 2, mask: 4 },
            ],
            textures: vec![texture],
            images: vec![texture],
            stack: 256,
            shared: 0,
            workgroup: None,
            discards: true,
        }
    }

    fn compute() -> Program {
        Program {
            stage: Stage::Compute,
            inputs: Vec::new(),
            results: Vec::new(),
            shared: 1024,
            workgroup: Some([8, 4, 2]),
            discards: false,
            ..fragment()
        }
    }

    fn vertex() -> Program {
        Program {
            stage: Stage::Vertex,
            inputs: vec![varying(0, Slot::Register(1)), varying(17, Slot::InstanceId)],
            outputs: vec![varying(0, Slot::Register(0))],
            results: Vec::new(),
            discards: false,
            ..fragment()
        }
    }

    #[test]
    fn programs_are_read_back() {
        for program in [fragment(), compute(), vertex()] {
            let text = program_json(&program);
            assert_eq!(read_program_json(&text), Ok(program), "{text}");
        }
        assert!(matches!(read_program_json("{}"), Err(ReadError::Json(_))));
        assert_eq!(program_bytes(&[0x0102_0304, 0xff]), [4, 3, 2, 1, 0xff, 0, 0, 0]);
    }

    /// A change of a program.
    type Change<'a> = &'a dyn Fn(&mut Program);

    #[test]
    fn numbers_are_checked() {
        let error = |base: Program, change: Change<'_>| {
            let mut program = base;
            change(&mut program);
            read_program_json(&program_json(&program)).unwrap_err().to_string()
        };
        let rows: &[(Change, &str)] = &[
            (&|program| program.words.clear(), "the program is invalid: the program has no words"),
            (&|program| program.words.truncate(3), "the program is invalid: the words end within a quadword"),
            (&|program| program.words[0] = 1, "the program is invalid: the first word has no tag of a bundle"),
            (&|program| program.work_registers = 17, "the number of work registers is 17, which is not below 17"),
            (&|program| program.uniforms[0].row = 4096, "the row of a uniform is 4096, which is not below 4096"),
            (&|program| program.uniforms[0].buffer = 256, "the buffer of a uniform is 256, which is not below 256"),
            (&|program| program.uniforms[1].row = 3, "the row of a system value is 3, which is not below 3"),
            (
                &|program| program.uniforms = vec![UniformRow { buffer: 0, row: 0 }; 17],
                "the number of uniforms in registers is 17, which is not below 17",
            ),
            (
                &|program| {
                    program.work_registers = 16;
                    program.uniforms = vec![UniformRow { buffer: 0, row: 0 }; 9];
                },
                "the program is invalid: uniforms occupy work registers",
            ),
            (&|program| program.system_buffer = 256, "the buffer of system values is 256, which is not below 256"),
            (
                &|program| program.system_rows[0] = SystemRow::Counters(65535),
                "the number of a storage buffer is 65535, which is not below 65535",
            ),
            (
                &|program| program.system_rows[1] = SystemRow::SamplePosition(8),
                "the number of a sample is 8, which is not below 8",
            ),
            (&|program| program.inputs[0].number = 256, "the number of an input is 256, which is not below 256"),
            (&|program| program.inputs[0].mask = 16, "the mask is 16, which is not below 16"),
            (&|program| program.inputs[0].slot = Slot::Register(4096), "the register is 4096, which is not below 4096"),
            (&|program| program.inputs[1].number = 0, "the inputs have two entries for 0"),
            (&|program| program.inputs[1].slot = Slot::VertexId, "the program is invalid: an input of another stage"),
            (&|program| program.outputs = program.inputs.clone(), "the program is invalid: outputs of another stage"),
            (&|program| program.results[0].component = 4, "the component is 4, which is not below 4"),
            (&|program| program.results[0].mask = 16, "the mask is 16, which is not below 16"),
            (&|program| program.results[0].register = 4096, "the register is 4096, which is not below 4096"),
            (
                &|program| program.results[0].result = FragmentResult::Colour(8),
                "the number of a render target is 8, which is not below 8",
            ),
            (
                &|program| program.textures[0].number = 65536,
                "the number of a texture is 65536, which is not below 65536",
            ),
            (&|program| program.images[0].number = 256, "the number of an image is 256, which is not below 256"),
            (&|program| program.images.push(program.images[0]), "the images have two entries for 3"),
            (&|program| program.stack = 1 << 21, "the storage of a thread is 2097152, which is not below 1048577"),
            (&|program| program.shared = 1, "the program is invalid: storage of a workgroup in another stage"),
            (&|program| program.workgroup = Some([1; 3]), "the program is invalid: a workgroup in another stage"),
        ];
        for (change, expected) in rows {
            assert_eq!(error(fragment(), change), *expected);
        }
        let workgroup = |size| error(compute(), &|program| program.workgroup = Some(size));
        assert_eq!(workgroup([4, 0, 1]), "the program is invalid: a workgroup without threads");
        assert_eq!(workgroup([1025, 1, 1]), "the size of a workgroup is 1025, which is not below 1025");
        assert_eq!(
            workgroup([u32::MAX; 3]),
            "the size of a workgroup is 18446744073709551615, which is not below 1025"
        );
        let slot = |slot| error(vertex(), &|program| program.outputs[0].slot = slot);
        assert_eq!(slot(Slot::VertexId), "the program is invalid: an output that is not a register");
        let discards = error(vertex(), &|program| program.discards = true);
        assert_eq!(discards, "the program is invalid: results of another stage");
    }
}
