//! Errors of the encoder, the decoder and the check of programs.

use pretty_assertions::assert_eq;
use tgsi_driver_midgard::isa::alu::{AluBundle, AluOp, Branch, CallMode, Shrink, Vector, VectorSource};
use tgsi_driver_midgard::isa::load_store::{LoadStore, LoadStoreBundle, LoadStoreOp};
use tgsi_driver_midgard::isa::texture::{Barrier, Lod, Offset, Texture, TextureOp, TextureRegister};
use tgsi_driver_midgard::isa::{Body, Bundle, Register, Tag, Width, check_program, decode, decode_program, encode};

fn product() -> Vector {
    let register = |number| Register::new(number).unwrap();
    let source = |number| VectorSource::new(AluOp::Fmul, register(number));
    Vector::new(AluOp::Fmul, register(0), source(1), source(2).into())
}

#[track_caller]
fn check_encode(body: Body, expected: &str) {
    let mut words = vec![1];
    let error = encode(&Bundle { next: Tag::Break, body }, &mut words).unwrap_err();
    assert_eq!((error.to_string().as_str(), words), (expected, vec![1]));
}

fn alu(vmul: Vector) -> Body {
    Body::Alu(AluBundle { vmul: Some(vmul), ..Default::default() })
}

#[test]
fn alu_bundles() {
    let mut vector = product();
    vector.first.register = Register::CONSTANTS;
    check_encode(alu(vector), "a source reads embedded constants, and the bundle has none");
    let vector = Vector { shrink: Some(Shrink::Lower), width: Width::W8, ..product() };
    check_encode(alu(vector), "the encoding excludes a shrunk result of 8 bits");
    let vector = Vector { op: AluOp::Fdot4, ..product() };
    check_encode(alu(vector), "the encoding excludes a reduction to several components");
    let vector = Vector { op: AluOp::Imul, ..product() };
    check_encode(alu(vector), "the encoding excludes a modifier and an opcode of another type");
    let jump = Branch::Jump { mode: CallMode::Default, target: Tag::Alu4, offset: 64 };
    let body = Body::Alu(AluBundle { branch: Some(jump), ..Default::default() });
    check_encode(body, "branch offset 64 is invalid");
}

#[test]
fn other_bundles() {
    let store = LoadStore::new(LoadStoreOp::St32, Register::new(8).unwrap());
    check_encode(Body::LoadStore(LoadStoreBundle([Some(store), None])), "stored register 8 is invalid");
    let sample = Texture::new(TextureOp::Sample, 0, 0);
    let texture = Texture { destination: TextureRegister::Full(2), ..sample };
    check_encode(Body::Texture(texture), "texture register 2 is invalid");
    let texture = Texture { offset: Offset::Immediate([0, -1, 0]), ..sample };
    check_encode(Body::Texture(texture), "the encoding excludes a negative immediate offset outside of fetches");
    let texture = Texture { op: TextureOp::Fetch, lod: Lod::Immediate { fraction: 0, integer: 1 }, ..sample };
    check_encode(Body::Texture(texture), "the encoding excludes a fetch with a level of detail in the integer part");
    check_encode(Body::Barrier(Barrier { out_of_order: 16 }), "number of bundles 16 is invalid");
}

#[track_caller]
fn check_decode(words: &[u32], expected: &str) {
    assert_eq!(decode(words).unwrap_err().to_string(), expected);
}

#[test]
fn words() {
    let mut valid = Vec::new();
    encode(&Bundle { next: Tag::Break, body: alu(product()) }, &mut valid).unwrap();
    let changed = |word: usize, bits| {
        let mut words = valid.clone();
        words[word] ^= bits;
        words
    };
    check_decode(&[], "word 0: the words end within a bundle");
    check_decode(&valid[..3], "word 3: the words end within a bundle");
    check_decode(&changed(0, 0xf), "word 0: tag 7 is invalid");
    check_decode(&changed(0, 0x10), "word 0: next tag 0 is invalid");
    check_decode(&changed(0, 1 << 18), "word 0: reserved bits of the control word are 0x40000");
    check_decode(&changed(0, 0xc00_0000), "word 0: the encoding excludes two branches");
    let mut long = [0; 12];
    long[0] = 0x1a;
    check_decode(&long, "word 0: the tag states 3 quadwords, and the contents need 1");
    check_decode(&[0x14, 0, 0, 0], "word 0: barrier opcode 0x00 is unknown");
    check_decode(&[0x15, 0, 0xff0, 0], "word 0: load/store opcode 0x00 is unknown");
}

#[test]
fn positions() {
    let mut words = Vec::new();
    let body = alu(product());
    encode(&Bundle { next: Tag::Alu4, body: body.clone() }, &mut words).unwrap();
    encode(&Bundle { next: Tag::Break, body }, &mut words).unwrap();
    words[7] = 1;
    assert_eq!(decode_program(&words).unwrap_err().to_string(), "word 7: reserved bits of padding are 0x1");
    words[5] |= 0xff << 16;
    assert_eq!(decode_program(&words).unwrap_err().to_string(), "word 5: ALU opcode 0xff is unknown");
}

#[test]
fn programs() {
    let simple = |next| Bundle { next, body: alu(product()) };
    let jump = |target, offset| {
        let branch = Some(Branch::Jump { mode: CallMode::Default, target, offset });
        Bundle { next: Tag::Break, body: Body::Alu(AluBundle { branch, ..Default::default() }) }
    };
    let error = |bundles: &[Bundle]| check_program(bundles).unwrap_err().to_string();
    assert_eq!(error(&[simple(Tag::Alu4)]), "bundle 0: the next tag is alu/4, and the program ends");
    assert_eq!(
        error(&[simple(Tag::LoadStore), simple(Tag::Break)]),
        "bundle 0: the next tag is ldst, and the next bundle has alu/4"
    );
    assert_eq!(
        error(&[simple(Tag::Alu4), jump(Tag::LoadStore, -2)]),
        "bundle 1: the tag of the branch is ldst, and the target has alu/4"
    );
    assert_eq!(error(&[jump(Tag::Alu4, 1)]), "bundle 0: the target at 1 quadwords is not a bundle");
    assert_eq!(check_program(&[jump(Tag::Break, 1)]), Ok(()));
}

#[test]
fn errors_without_a_fixture_have_codes() {
    use tgsi_compiler::TargetError;
    use tgsi_driver_midgard::MidgardError;
    use tgsi_driver_midgard::isa::InvalidInstruction;
    use tgsi_registers::lower::LowerError;

    let errors: [(MidgardError, &str); 4] = [
        (MidgardError::NoEntryPoint, "midgard-no-entry-point"),
        (LowerError::Loop { inst: None }.into(), "midgard-not-lowered"),
        (InvalidInstruction::NoConstants.into(), "midgard-encoding"),
        (MidgardError::Registers, "midgard-registers"),
    ];
    for (error, name) in errors {
        assert_eq!(TargetError::code(&error).name, name);
        assert_eq!(error.inst(), None);
    }
}
