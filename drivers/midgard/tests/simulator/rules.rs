//! Rules between the instructions of bundles.

use super::support::{alu, on, program, r, scalar, source, vector};
use tgsi_driver_midgard::isa::alu::{
    AluBundle, AluOp::*, Branch, BranchOp, CallMode, Condition, Constants, Expand, Unit, Vector, repeat,
};
use tgsi_driver_midgard::isa::load_store::{LoadStore, LoadStoreBundle, LoadStoreOp, Operand};
use tgsi_driver_midgard::isa::texture::{Texture, TextureOp};
use tgsi_driver_midgard::isa::{Body, Chip, LoadStoreRegister, Resources, Rule, Swizzle, Tag, Width, check_rules};

use pretty_assertions::assert_eq;

fn check_on(chip: Chip, bodies: &[Body]) -> Option<Rule> {
    check_rules(&program(bodies), &Resources::new(chip, 8)).err().map(|error| error.rule)
}

fn check(bundle: AluBundle) -> Option<Rule> {
    check_on(Chip::T760, &[Body::Alu(bundle)])
}

#[test]
fn units() {
    assert_eq!(check(on(Unit::Vadd, vector(Fadd, 0, 1, 2))), None);
    assert_eq!(check(on(Unit::Vmul, vector(Fadd, 0, 1, 2))), Some(Rule::Unit("FADD", "vmul")));
    let dot = Vector { mask: 3, ..vector(Fdot3, 0, 1, 2) };
    assert_eq!(check(on(Unit::Vadd, dot)), Some(Rule::Unit("FDOT3", "vadd")));
    assert_eq!(check(on(Unit::Vmul, dot)), None);
    let error = check_rules(&program(&[alu(vector(Imov, 0, 24, 1)), alu(dot)]), &Resources::new(Chip::T760, 20));
    assert_eq!(error, Ok(()));
    let error = check_rules(
        &program(&[alu(vector(Imov, 0, 24, 1)), alu(vector(Imov, 8, 24, 1))]),
        &Resources::new(Chip::T760, 16),
    );
    assert_eq!(error.unwrap_err().to_string(), "bundle 1: r8 cannot be written");
}

#[test]
fn registers() {
    assert_eq!(check(on(Unit::Vmul, vector(Imov, 0, 24, 15))), None);
    assert_eq!(check(on(Unit::Vmul, vector(Imov, 0, 24, 16))), None);
    assert_eq!(check(on(Unit::Vmul, vector(Imov, 16, 24, 1))), Some(Rule::Write(16)));
    assert_eq!(check(on(Unit::Vmul, vector(Imov, 30, 24, 1))), Some(Rule::Write(30)));
    assert_eq!(check(on(Unit::Vmul, vector(Imov, 0, 24, 27))), Some(Rule::Read(27)));
    assert_eq!(check(on(Unit::Vmul, vector(Imov, 0, 24, 26))), Some(Rule::Constants));
    let constants = AluBundle { constants: Some(Constants([1; 4])), ..on(Unit::Vmul, vector(Imov, 0, 24, 26)) };
    assert_eq!(check(constants), None);
    let texel = [alu(vector(Imov, 0, 24, 28))];
    assert_eq!(check_on(Chip::T760, &texel), None);
    assert_eq!(check_on(Chip::T720, &texel), Some(Rule::Read(28)));
    assert_eq!(check_on(Chip::T720, &[alu(vector(Imov, 28, 24, 1))]), Some(Rule::Write(28)));
    let few = Resources { chip: Chip::T760, work_registers: 16, uniforms: 2 };
    assert!(check_rules(&program(&[alu(vector(Imov, 0, 24, 22))]), &few).is_ok());
    assert!(check_rules(&program(&[alu(vector(Imov, 0, 24, 21))]), &few).is_err());
}

#[test]
fn pipeline_registers() {
    let mut bundle = on(Unit::Vmul, Vector { mask: 0x0f, ..vector(Imov, 24, 24, 1) });
    bundle.vadd = Some(Vector { mask: 0x03, ..vector(Iadd, 0, 24, 2) });
    assert_eq!(check(bundle), None);
    bundle.vadd = Some(vector(Iadd, 0, 24, 2));
    assert_eq!(check(bundle), Some(Rule::Pipeline(24)));
    assert_eq!(check(on(Unit::Vmul, vector(Iadd, 0, 25, 2))), Some(Rule::Pipeline(25)));
}

#[test]
fn conditions() {
    let select = on(Unit::Vadd, vector(Icsel, 0, 1, 2));
    assert_eq!(check(select), Some(Rule::Condition));
    let written = AluBundle { sadd: Some(scalar(Imov, (31, 3), (24, 0), (3, 0))), ..select };
    assert_eq!(check(written), None);
    let other = AluBundle { sadd: Some(scalar(Imov, (31, 2), (24, 0), (3, 0))), ..select };
    assert_eq!(check(other), Some(Rule::Condition));
    let vectors = AluBundle { vadd: Some(vector(IcselV, 0, 1, 2)), ..written };
    assert_eq!(check(vectors), Some(Rule::Condition));
    let all = AluBundle { vmul: Some(vector(Imov, 31, 24, 3)), sadd: None, ..vectors };
    assert_eq!(check(all), None);
    let condition = Condition::True;
    let branch = Branch::Conditional { op: BranchOp::Conditional, condition, target: Tag::Alu4, offset: 0 };
    let branches = AluBundle { branch: Some(branch), ..AluBundle::default() };
    assert_eq!(check(branches), Some(Rule::Condition));
    assert_eq!(check(AluBundle { smul: Some(scalar(Imov, (31, 3), (24, 0), (3, 0))), ..branches }), None);
    let extended = |op, conditions| {
        let (mode, target) = (CallMode::Default, Tag::Alu4);
        let branch = Branch::Extended { op, mode, conditions, target, offset: 0 };
        check(AluBundle { branch: Some(branch), ..AluBundle::default() })
    };
    assert_eq!(extended(BranchOp::Conditional, repeat(Condition::Always)), None);
    assert_eq!(extended(BranchOp::Conditional, 1), Some(Rule::Branch("has several conditions")));
    assert_eq!(
        extended(BranchOp::Unconditional, repeat(Condition::Always)),
        Some(Rule::Branch("is extended and unconditional"))
    );
}

#[test]
fn hazards() {
    let bundle = |first, second| check(AluBundle { sadd: Some(second), ..on(Unit::Vmul, first) });
    let low = Vector { mask: 0x0f, ..vector(Imov, 0, 24, 1) };
    assert_eq!(bundle(low, scalar(Imov, (0, 2), (24, 0), (1, 0))), None);
    assert_eq!(bundle(low, scalar(Imov, (0, 1), (24, 0), (1, 0))), Some(Rule::Hazard(0)));
    assert_eq!(bundle(low, scalar(Imov, (3, 1), (24, 0), (0, 1))), Some(Rule::Hazard(0)));
    assert_eq!(bundle(low, scalar(Imov, (3, 1), (24, 0), (0, 3))), None);
    // The second stage may read results of the first.
    let staged = AluBundle { vadd: Some(vector(Imov, 2, 24, 0)), ..on(Unit::Vmul, low) };
    assert_eq!(check(staged), None);
}

#[test]
fn widths_and_masks() {
    let vlut = |vector| check(on(Unit::Vlut, vector));
    assert_eq!(vlut(Vector { mask: 0x0c, ..vector(Frcp, 0, 1, 1) }), None);
    assert_eq!(vlut(vector(Frcp, 0, 1, 1)), Some(Rule::SeveralComponents("FRCP")));
    assert_eq!(vlut(Vector { mask: 1, width: Width::W16, ..vector(Frcp, 0, 1, 1) }), Some(Rule::Width("FRCP", 16)));
    assert_eq!(vlut(vector(Fmov, 0, 24, 1)), None);
    let vmul = |vector| check(on(Unit::Vmul, vector));
    assert_eq!(vmul(Vector { width: Width::W8, ..vector(Fmov, 0, 24, 1) }), Some(Rule::Width("FMOV", 8)));
    assert_eq!(vmul(Vector { mask: 0x01, ..vector(Imov, 0, 24, 1) }), Some(Rule::Mask("MOV")));
    let mut wide = Vector { width: Width::W64, ..vector(Imul, 0, 1, 2) };
    assert_eq!(vmul(wide), None);
    wide.first.swizzle = Swizzle::new([0, 2, 2, 3]);
    assert_eq!(vmul(wide), Some(Rule::Swizzle("MUL")));
    wide.first.swizzle = Swizzle::new([2, 3, 0, 1]);
    wide.first.expand = Expand::High;
    assert_eq!(vmul(wide), None);
    assert_eq!(source(Imul, 1).parts(Width::W64, 1), (Width::W32, [2, 3]));
}

#[test]
fn write_outs() {
    let condition = Condition::Always;
    let branch = Branch::Conditional { op: BranchOp::Writeout, condition, target: Tag::Alu4, offset: 0 };
    let full = AluBundle { branch: Some(branch), ..on(Unit::Vmul, vector(Imov, 0, 24, 1)) };
    assert_eq!(check(full), None);
    assert_eq!(check_on(Chip::T860, &[Body::Alu(full)]), Some(Rule::WriteoutTag));
    let tagged = AluBundle { is_writeout: true, ..full };
    assert_eq!(check_on(Chip::T860, &[Body::Alu(tagged)]), None);
    assert_eq!(check(tagged), Some(Rule::WriteoutTag));
    assert_eq!(
        check(AluBundle { vmul: Some(Vector { mask: 0x3f, ..vector(Imov, 0, 24, 1) }), ..full }),
        Some(Rule::Colour)
    );
    // The program counter is read from r31.
    assert_eq!(check(AluBundle { vadd: Some(Vector { mask: 0xc0, ..vector(Iadd, 1, 31, 2) }), ..full }), None);
    assert_eq!(check(on(Unit::Vadd, vector(Iadd, 1, 31, 2))), Some(Rule::Condition));
}

#[test]
fn load_store_and_texture() {
    let check = |first, second| check_on(Chip::T760, &[Body::LoadStore(LoadStoreBundle([Some(first), Some(second)]))]);
    let load = |register| LoadStore::new(LoadStoreOp::Ld128, r(register));
    let from = |register| LoadStore { argument: Operand { register, component: 0 }, ..load(1) };
    assert_eq!(check(load(0), load(2)), None);
    assert_eq!(check(load(0), load(0)), Some(Rule::Hazard(0)));
    assert_eq!(check(load(26), from(LoadStoreRegister::L0)), Some(Rule::Hazard(26)));
    assert_eq!(check(from(LoadStoreRegister::L1), load(27)), Some(Rule::Hazard(27)));
    assert_eq!(check(load(26), from(LoadStoreRegister::L1)), None);
    assert_eq!(check(load(24), load(0)), Some(Rule::Write(24)));
    let store = LoadStore::new(LoadStoreOp::StVaryF32, r(0));
    assert_eq!(check(store, store), None);
    assert_eq!(check(store, load(1)), Some(Rule::StoreVarying));
    let texture = |out_of_order| Body::Texture(Texture { out_of_order, ..Texture::new(TextureOp::Sample, 0, 0) });
    let [free, reads] = [1, 28].map(|register| alu(vector(Imov, 0, 24, register)));
    assert_eq!(check_on(Chip::T760, &[texture(1), free.clone()]), None);
    assert_eq!(check_on(Chip::T600, &[texture(1), free.clone()]), Some(Rule::OutOfOrder(1)));
    assert_eq!(check_on(Chip::T760, &[texture(2), free.clone(), reads]), Some(Rule::OutOfOrder(2)));
    assert_eq!(check_on(Chip::T760, &[texture(2), free]), Some(Rule::OutOfOrder(2)));
    let derivative = Body::Texture(Texture::new(TextureOp::Derivative, 0, 0));
    assert_eq!(check_on(Chip::T760, &[derivative]), Some(Rule::Derivative));
}
