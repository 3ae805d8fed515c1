//! Errors that neither text nor words can cause: those of bytes, and of shaders that are built by programs.

use super::*;
use crate::limits::{Limits, MAX_BODY_WORDS};
use crate::shader::{Declaration, DeclarationImage, Immediate, Instruction, ItemKind, Shader};
use crate::tables::{File, ImmediateType, Opcode, PixelFormat, Processor, TextureTarget};

fn shader(change: impl FnOnce(&mut Shader)) -> Shader {
    let mut shader = Shader::new(Processor::Fragment);
    shader.push_declaration(Declaration::new(File::Temporary, 0, 0));
    shader.push_instruction(Instruction::new(Opcode::End));
    change(&mut shader);
    shader
}

/// Returns the code and message of the error for an edited shader.
fn error(change: impl FnOnce(&mut Shader)) -> (&'static str, String) {
    let error = encode(&shader(change)).expect_err("an error");
    (error.code().name, error.to_string())
}

#[test]
fn bytes_that_are_no_words() {
    assert_eq!(words_from_bytes(&[2, 0, 0, 0]), Ok(vec![2]));
    let error = words_from_bytes(&[2, 0, 0, 0, 0, 0]).expect_err("two bytes are left");
    assert_eq!((error.code().name, error.word()), ("odd-length", 1));
    assert_eq!(error.to_string(), "byte 4: 2 bytes are left after the last whole word");
}

#[test]
fn shaders_that_do_not_fit() {
    assert!(encode(&shader(|_| {})).is_ok());
    assert_eq!(
        error(|s| s.declarations[0].array_id = Some(1024)),
        ("field", "declaration 0: array number 1024 does not fit into its field".into())
    );
    assert_eq!(
        error(|s| s.declarations[0].usage_mask = 16),
        ("field", "declaration 0: usage mask 16 does not fit into its field".into())
    );
    assert_eq!(
        error(|s| s.instructions[0].label = Some(1 << 24)),
        ("field", "instruction 0: label 16777216 does not fit into its field".into())
    );
    assert_eq!(
        error(|s| {
            s.order.retain(|&item| item != ItemKind::Instruction);
        }),
        ("order", "the order of the shader names 1 items, there are 2".into())
    );
    let image = DeclarationImage {
        target: TextureTarget::Texture2D,
        raw: false,
        writable: false,
        format: PixelFormat::from_value(0).expect("no format is a format"),
    };
    let message = |file: &str| {
        ("file-word", format!("declaration 0: the image or sampler view word does not belong to the file {file}"))
    };
    assert_eq!(error(|s| s.declarations[0].image = Some(image)), message("TEMP"));
    assert_eq!(error(|s| s.declarations[0].file = File::SamplerView), message("SVIEW"));
}

#[test]
fn shaders_that_are_too_long() {
    let words = [0; 4].into_iter().collect();
    let immediate = Immediate { data_type: ImmediateType::Uint32, words, span: Default::default() };
    let count = MAX_BODY_WORDS / 5 + 1;
    let (code, message) = error(|s| {
        s.immediates = vec![immediate; count];
        s.order = vec![ItemKind::Immediate; count];
    });
    assert_eq!(code, "too-long");
    assert!(message.ends_with("at most 16777215 can be encoded"), "{message}");
}

#[test]
fn limits_have_two_sides() {
    let words = [0x0000_0302, 1, 0x0007_5002, 0x0007_5002, 0x0007_5002];
    let within = |set: &dyn Fn(&mut Limits)| {
        let mut limits = Limits::default();
        set(&mut limits);
        decode_within(&words, &limits).map(|shader| shader.instructions.len()).map_err(|error| error.to_string())
    };
    assert_eq!(within(&|limits| limits.tokens = 5), Ok(3));
    let error = within(&|limits| limits.tokens = 4).expect_err("too many");
    assert_eq!(error, "word 4: the stream has 5 words, at most 4 are read");
    assert_eq!(DecodeError::TooLong { words: 5, limit: 4 }.code().name, "too-many-tokens");
    assert_eq!(DecodeError::TooLong { words: 5, limit: 4 }.word(), 4);
    // For all kinds of items, decoding ends after the sum of the limits; the check reports which one is exceeded.
    let few = |limits: &mut Limits| (limits.instructions, limits.declarations, limits.immediates) = (1, 0, 0);
    assert_eq!(within(&few), Ok(2));
    assert_eq!(
        within(&|limits| (limits.instructions, limits.declarations, limits.immediates) = (u64::MAX, 9, 9)),
        Ok(3)
    );
}

#[test]
fn room_is_made_for_the_items_that_come() {
    let of_sizes = |change: fn(u32) -> u32| {
        let shader = shader(|s| {
            (0..300).for_each(|n| _ = s.push_immediate(Immediate::new(ImmediateType::Float32, [n; 4])));
            (0..1000).for_each(|_| _ = s.push_instruction(Instruction::new(Opcode::End)));
        });
        let mut words = encode(&shader).expect("it fits");
        // Sizes of instructions are not trusted.
        let instructions = words.len() - 1000;
        words[instructions..].iter_mut().for_each(|word| *word = change(*word));
        let decoded = decode(&words).expect("sizes do not matter");
        assert_eq!((decoded.immediates.len(), decoded.instructions.len()), (300, 1001));
        (decoded.immediates.capacity(), decoded.instructions.capacity())
    };
    assert_eq!(of_sizes(|word| word), (300, 1001));
    of_sizes(|word| word | 0xff0);
}
