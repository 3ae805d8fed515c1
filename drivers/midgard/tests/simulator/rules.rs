//! Rules between the instructions of bundles.

use super::support::{add, alu, constant, load_store, on, program, r, scalar, vector};
use crate::generate;
use crate::support::Choice;
use tgsi_driver_midgard::isa::alu::{AluBundle, AluOp::*, Branch, BranchOp, Condition, Unit, Vector};
use tgsi_driver_midgard::isa::load_store::{LoadStore, LoadStoreBundle, LoadStoreOp};
use tgsi_driver_midgard::isa::texture::{Texture, TextureOp};
use tgsi_driver_midgard::isa::{Body, Chip, Resources, Rule, RuleError, Tag, check_rules};

use pretty_assertions::assert_eq;

fn check_on(resources: &Resources, bodies: &[Body]) -> Result<(), RuleError> {
    check_rules(&program(bodies), resources)
}

fn rule(body: Body) -> Option<Rule> {
    check_on(&Resources::new(Chip::T860, 10), &[add(0, 1), body]).err().map(|error| {
        assert_eq!(error.bundle, 1);
        error.rule
    })
}

fn bundle(bundle: AluBundle) -> Body {
    Body::Alu(bundle)
}

fn condition_of(op: BranchOp) -> Option<Branch> {
    Some(Branch::Conditional { op, condition: Condition::True, target: Tag::Alu4, offset: 0 })
}

#[test]
fn units_and_widths() {
    assert_eq!(rule(bundle(on(Unit::Vadd, vector(Fmul, 0, 1, 2)))), Some(Rule::Unit("FMUL", "vadd")));
    assert_eq!(rule(bundle(on(Unit::Vmul, vector(Fmul, 0, 1, 2)))), None);
    let name = Frcp.row().name;
    assert_eq!(rule(bundle(on(Unit::Vlut, vector(Frcp, 0, 1, 2)))), Some(Rule::SeveralComponents(name)));
    assert_eq!(rule(bundle(on(Unit::Vlut, Vector { mask: 3, ..vector(Frcp, 0, 1, 2) }))), None);
    assert_eq!(rule(bundle(on(Unit::Vmul, Vector { mask: 1, ..vector(Fmul, 0, 1, 2) }))), Some(Rule::Mask("FMUL")));
}

#[test]
fn registers() {
    // Ten uniforms leave r0 to r13, and are r14 to r23.
    assert_eq!(rule(alu(vector(Fmul, 13, 14, 23))), None);
    assert_eq!(rule(alu(vector(Fmul, 14, 1, 2))), Some(Rule::Write(14)));
    assert_eq!(rule(alu(vector(Fmul, 0, 30, 2))), Some(Rule::Read(30)));
    assert_eq!(rule(alu(vector(Fmul, 0, 24, 2))), Some(Rule::Pipeline(24)));
    assert_eq!(rule(constant(0, [1; 4])), None);
    assert_eq!(rule(alu(vector(Fmul, 0, 26, 2))), Some(Rule::Constants));
    let aliased = Resources::new(Chip::T720, 0);
    let found = check_on(&aliased, &[alu(vector(Fmul, 28, 1, 2))]).map_err(|error| error.rule);
    assert_eq!(found, Err(Rule::Write(28)));
}

#[test]
fn stages() {
    let mut both = on(Unit::Vmul, vector(Fmul, 24, 1, 2));
    both.vadd = Some(vector(Fadd, 0, 24, 3));
    assert_eq!(rule(bundle(both)), None);
    both.vmul = Some(Vector { mask: 0x0f, ..vector(Fmul, 24, 1, 2) });
    assert_eq!(rule(bundle(both)), Some(Rule::Pipeline(24)));
    // Two writes of one component in a stage.
    let mut twice = on(Unit::Vmul, vector(Fmul, 3, 1, 2));
    twice.sadd = Some(scalar(Fadd, (3, 1), (1, 0), (2, 0)));
    assert_eq!(rule(bundle(twice)), Some(Rule::Hazard(3)));
    twice.sadd = Some(scalar(Fadd, (4, 1), (1, 0), (2, 0)));
    assert_eq!(rule(bundle(twice)), None);
}

#[test]
fn conditions_and_branches() {
    let mut selection = on(Unit::Vadd, vector(Icsel, 0, 1, 2));
    assert_eq!(rule(bundle(selection)), Some(Rule::Condition));
    selection.sadd = Some(scalar(Ilt, (31, 3), (1, 0), (2, 0)));
    assert_eq!(rule(bundle(selection)), None);
    let mut branch = AluBundle { branch: condition_of(BranchOp::Conditional), ..AluBundle::default() };
    assert_eq!(rule(bundle(branch)), Some(Rule::Condition));
    branch.smul = Some(scalar(Ilt, (31, 3), (1, 0), (2, 0)));
    assert_eq!(rule(bundle(branch)), None);
    branch.is_writeout = true;
    assert_eq!(rule(bundle(branch)), Some(Rule::WriteoutTag));
}

#[test]
fn write_outs_need_a_colour() {
    let mut write = on(Unit::Vmul, vector(Imov, 0, 24, 4));
    let (op, condition, target) = (BranchOp::Writeout, Condition::Always, Tag::AluWriteout4);
    write.branch = Some(Branch::Conditional { op, condition, target, offset: -1 });
    assert_eq!(rule(bundle(write)), Some(Rule::WriteoutTag));
    write.is_writeout = true;
    assert_eq!(rule(bundle(write)), None);
    write.vmul = Some(Vector { mask: 0x3f, ..vector(Imov, 0, 24, 4) });
    assert_eq!(rule(bundle(write)), Some(Rule::Colour));
}

#[test]
fn load_store_and_texture() {
    let store = LoadStore::new(LoadStoreOp::StVaryF32, r(26));
    let load = LoadStore { mask: 15, ..LoadStore::new(LoadStoreOp::LdUbo128, r(0)) };
    assert_eq!(rule(load_store(store)), None);
    assert_eq!(rule(Body::LoadStore(LoadStoreBundle([Some(store), Some(load)]))), Some(Rule::StoreVarying));
    assert_eq!(rule(Body::LoadStore(LoadStoreBundle([Some(load), Some(load)]))), Some(Rule::Hazard(0)));
    let derivative = Texture { mask: 15, ..Texture::new(TextureOp::Derivative, 0, 0) };
    assert_eq!(rule(Body::Texture(derivative)), Some(Rule::Derivative));
    let sample = Texture { out_of_order: 1, ..Texture::new(TextureOp::Sample, 0, 0) };
    let resources = Resources::new(Chip::T860, 0);
    let found = |bodies: &[Body]| check_on(&resources, bodies).map_err(|error| error.rule);
    assert_eq!(found(&[Body::Texture(sample), add(0, 1)]), Ok(()));
    assert_eq!(found(&[Body::Texture(sample), alu(vector(Fmul, 0, 28, 1))]), Err(Rule::OutOfOrder(1)));
    let refused = check_on(&Resources::new(Chip::T620, 0), &[Body::Texture(sample), add(0, 1)]);
    assert_eq!(refused.map_err(|error| error.rule), Err(Rule::OutOfOrder(1)));
}

#[test]
fn random_bundles_give_an_answer() {
    let mut choice = Choice::new(11);
    let mut messages = std::collections::HashSet::new();
    for _ in 0..20_000 {
        let bundle = generate::bundle(&mut choice);
        let resources = Resources::new(choice.of(Chip::ALL), choice.below(20) as u8);
        if let Err(error) = check_rules(&[bundle], &resources) {
            messages.insert(std::mem::discriminant(&error.rule));
        }
    }
    assert!(messages.len() > 8, "{}", messages.len());
}
