//! Listings of programs.

use pretty_assertions::assert_eq;
use tgsi_driver_midgard::isa::alu::{
    AluBundle, AluOp, Branch, BranchOp, CallMode, Clamp, Component, Condition, Constants, Expand, Extension, Narrow,
    OutputModifier, Scalar, ScalarOperand, ScalarSource, Shrink, SourceModifier, Vector, VectorOperand, VectorSource,
    repeat,
};
use tgsi_driver_midgard::isa::load_store::{IndexFormat, LoadStore, LoadStoreBundle, LoadStoreOp, Operand};
use tgsi_driver_midgard::isa::texture::{
    Barrier, Coordinates, Handle, Lod, Offset, Select, Texture, TextureOp, TextureRegister,
};
use tgsi_driver_midgard::isa::{
    Body, Bundle, Chip, LoadStoreRegister, Register, Swizzle, Tag, Width, check_program, decode_program, encode_program,
};
use tgsi_driver_midgard::text::{Listing, Options};

fn r(number: u8) -> Register {
    Register::new(number).unwrap()
}

fn vector(op: AluOp, destination: u8, first: u8, second: u8) -> Vector {
    Vector::new(op, r(destination), VectorSource::new(op, r(first)), VectorSource::new(op, r(second)).into())
}

fn bundle(next: Tag, alu: AluBundle) -> Bundle {
    Bundle { next, body: Body::Alu(alu) }
}

#[track_caller]
fn check(bundles: &[Bundle], options: Options, expected: &str) {
    assert_eq!(check_program(bundles), Ok(()));
    let words = encode_program(bundles).unwrap();
    assert_eq!(decode_program(&words).as_deref(), Ok(bundles));
    assert_eq!(Listing { bundles, options }.to_string(), expected);
}

#[track_caller]
fn check_alu(alu: AluBundle, expected: &str) {
    let options = Options { chip: Chip::T760, verbose: true };
    check(&[bundle(Tag::Break, alu)], options, &format!("{expected}\n\n"));
}

#[track_caller]
fn check_vector(vector: Vector, expected: &str) {
    check_alu(AluBundle { vadd: Some(vector), ..Default::default() }, expected);
}

#[test]
fn words_of_a_product() {
    let product = AluBundle { vmul: Some(vector(AluOp::Fmul, 0, 1, 2)), ..Default::default() };
    let words = encode_program(&[bundle(Tag::Break, product)]).unwrap();
    // The tags and the unit; r0 = r1, r2 and the opcode with 32 bits; swizzles, no shrinking; the mask.
    assert_eq!(words, [0x0002_0018, 0x0214_0041, 0xff2e_4072, 0]);
}

#[test]
fn fragment_program() {
    let load = LoadStore {
        argument: Operand { register: LoadStoreRegister::Zero, component: 3 },
        offset: 1 << 9,
        ..LoadStore::new(LoadStoreOp::LdVaryF32, r(28))
    };
    let load = LoadStore { index_format: IndexFormat::U32, mask: 3, ..load };
    let mut modulated = vector(AluOp::Fmul, 0, 28, 23);
    modulated.output = OutputModifier::Float(Clamp::Unit);
    let write = Branch::Conditional {
        op: BranchOp::Writeout,
        condition: Condition::Always,
        target: Tag::AluWriteout4,
        offset: -1,
    };
    let program = [
        Bundle { next: Tag::Texture, body: Body::LoadStore(LoadStoreBundle([Some(load), None])) },
        Bundle { next: Tag::Alu4, body: Body::Texture(Texture::new(TextureOp::Sample, 0, 0)) },
        bundle(Tag::AluWriteout4, AluBundle { vmul: Some(modulated), ..Default::default() }),
        bundle(Tag::Break, AluBundle { branch: Some(write), is_writeout: true, ..Default::default() }),
    ];
    let expected = "\
LD_VARY.f32 AT0.xy~~, 0.x + 0x1, 0.w

TEX.2d TA0.f32, texture0, fsampler0, AT0.32, 

FMUL.f32 R0.clamp_0_1, TA0, U0

br.write.always -1 -> aluw/4
writeout

";
    check(&program, Options::new(Chip::T860), expected);
}

#[test]
fn all_units() {
    let (min, add) = (AluOp::Fmin, AluOp::Iadd);
    let zero = ScalarOperand::Immediate(0);
    let scalar = Scalar::new(AluOp::Iadd, r(31), 3, ScalarSource::new(add, r(1), 2), zero);
    let half = ScalarSource { component: Component::Half(5), ..ScalarSource::new(min, r(26), 0) };
    let mut narrow = Scalar::new(min, r(2), 0, half, ScalarSource::new(min, r(16), 1));
    narrow.component = Component::Half(7);
    let alu = AluBundle {
        vmul: Some(vector(AluOp::Fdot3, 24, 0, 1)),
        sadd: Some(scalar),
        vadd: Some(vector(AluOp::Icsel, 3, 24, 8)),
        smul: Some(narrow),
        vlut: Some(vector(AluOp::Frcp, 9, 9, 24)),
        branch: Some(Branch::Extended {
            op: BranchOp::Conditional,
            mode: CallMode::Default,
            conditions: repeat(Condition::True),
            target: Tag::Break,
            offset: 3,
        }),
        constants: Some(Constants([1, 2, 0x3c00_0000, 4])),
        is_writeout: false,
    };
    let expected = "\
vmul.FDOT3.f32 TMP0.x, R0, R1
sadd.ADD.i32 R31.w, R1.z, #0
vadd.CSEL.scalar.i32 R3, TMP0, U15
smul.FMIN.f32 R2.h.shrink, #1, U7.y
lut.FRCP.f32 R9, R9, TMP0
brx.cond.true +3 -> break
uconstants 0x1, 0x2, 0x3C000000, 0x4
break";
    check_alu(alu, expected);
}

#[test]
fn widths_and_modifiers() {
    let mut half = vector(AluOp::Iaddsat, 4, 5, 6);
    half.width = Width::W16;
    half.shrink = Some(Shrink::Upper);
    half.output = OutputModifier::Integer(Narrow::UnsignedSaturate);
    half.mask = 0x11;
    half.first.expand = Expand::High;
    half.first.modifier = SourceModifier::Integer(Extension::Zero);
    half.second = VectorOperand::Immediate(0xabcd);
    check_vector(half, "vadd.ADDSAT.i16 R4.im.usat, R5.im.zext, #43981");
    let mut wide = vector(AluOp::Fadd, 4, 5, 6);
    wide.width = Width::W64;
    wide.mask = 0xf0;
    wide.first.modifier = SourceModifier::Float { abs: true, negate: true };
    wide.first.swizzle = Swizzle::new([2, 3, 0, 1]);
    wide.second = VectorOperand::Immediate(0x3800);
    check_vector(wide, "vadd.FADD.f64 R4.y, R5.X.abs.neg, #0.5");
    let mut bytes = vector(AluOp::Ior, 4, 5, 6);
    bytes.width = Width::W8;
    bytes.mask = 0x81;
    bytes.first.expand = Expand::Swap;
    check_vector(bytes, "vadd.OR.i8 R4.xyop, R5.ijgh, R6");
    let mut doubled = vector(AluOp::Ishladd, 4, 5, 6);
    doubled.mask = 0x13;
    doubled.first.swizzle = Swizzle::new([3; 4]);
    check_vector(doubled, "vadd.ADD.i32 R4.xz /* 13 */, R5.ww.x2, R6");
}

#[test]
fn loads_and_stores() {
    let operand = |register, component| Operand { register, component };
    let store = LoadStore {
        argument: operand(LoadStoreRegister::L0, 0),
        is_wide: true,
        index_format: IndexFormat::S32,
        index: operand(LoadStoreRegister::L1, 2),
        shift: 4,
        offset: -16,
        mask: 5,
        swizzle: Swizzle::new([1, 1, 2, 3]),
        ..LoadStore::new(LoadStoreOp::St128, r(1))
    };
    let uniform = LoadStore {
        argument: operand(LoadStoreRegister::L1, 1),
        offset: 3 << 2 | 1,
        ..LoadStore::new(LoadStoreOp::LdUbo128, r(3))
    };
    let exchange = LoadStore {
        argument: operand(LoadStoreRegister::LocalStorage, 2),
        index: operand(LoadStoreRegister::L1, 1),
        swizzle: Swizzle(1 << 2),
        mask: 1,
        ..LoadStore::new(LoadStoreOp::AtomicCmpxchg, r(26))
    };
    let program = [
        Bundle { next: Tag::LoadStore, body: Body::LoadStore(LoadStoreBundle([Some(store), Some(uniform)])) },
        Bundle { next: Tag::Break, body: Body::LoadStore(LoadStoreBundle([None, Some(exchange)])) },
    ];
    let expected = "\
ST.128 AL1.yz, AL0.u64.x + AL1.s32.z << 4 - 0x10
LD_UBO.128 R3.xyzw, 5, 0.x + 0x3

CMPXCHG.32 AL0.x~~~, LOCAL_STORAGE_PTR.u32.z, AL1.x, AL1.y

";
    check(&program, Options::new(Chip::T760), expected);
}

#[test]
fn textures() {
    let select = Select { register: TextureRegister::Upper(1), component: 1 };
    let fetch = Texture {
        is_vertex: true,
        sampler: Handle::Register(select),
        coordinates: Coordinates { register: TextureRegister::Upper(0), swizzle: Swizzle::new([0, 1, 0, 0]) },
        destination: TextureRegister::Upper(1),
        mask: 3,
        offset: Offset::Immediate([-1, 0, 2]),
        lod: Lod::Immediate { fraction: 3, integer: 0 },
        out_of_order: 2,
        ..Texture::new(TextureOp::Fetch, 7, 0)
    };
    let bias = Texture { lod: Lod::Immediate { fraction: 128, integer: -2 }, ..Texture::new(TextureOp::Sample, 1, 2) };
    let program = [
        Bundle { next: Tag::Texture, body: Body::Texture(fetch) },
        Bundle { next: Tag::TextureBarrier, body: Body::Texture(bias) },
        Bundle { next: Tag::Break, body: Body::Barrier(Barrier { out_of_order: 1 }) },
    ];
    let expected = "\
TEX_FETCH.vtx.2d.ooo2 AL1.ef.f16, texture7, fsampler[R1.f.16], R0.efee.16 + <-1, 0, 2>, lod = 3, 

TEX.2d AL0.f32, texture1, fsampler2, R0.32, lod - 1.500000, 

BARRIER.ooo1

";
    check(&program, Options::new(Chip::T720), expected);
}
