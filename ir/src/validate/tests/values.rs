//! Values and their uses, ALU instructions.

use super::*;

pub(super) fn uses_and_values() {
    code_trips(&["def-producer"], |b| {
        let x = b.u32_const(1);
        let y = b.u32_const(2);
        b.body.corrupt_def_inst(x, Some(b.body.def_inst(y)));
    });
    code_trips(&["def-missing"], |b| {
        b.build(InstData::Undef, &[], None);
    });
    code_trips(&["def-unexpected"], |b| {
        b.build(
            InstData::Intrinsic { op: IntrinsicOp::Terminate, num_components: 0, indices: Default::default() },
            &[],
            Some(ONE),
        );
    });
    code_trips(&["def-components"], |b| {
        b.undef(6, 32);
    });
    code_trips(&["def-bits"], |b| {
        b.undef(1, 24);
    });
    code_trips(&["use-list", "use-unlisted"], |b| {
        let x = b.u32_const(1);
        b.alu(AluOp::Iadd, &[x, x]);
        let first = b.body.uses_vec(x)[0];
        // The list is cyclic.
        b.body.corrupt_use(first, |u| u.next = Some(first));
    });
    code_trips(&["use-list", "use-unlisted"], |b| {
        let x = b.u32_const(1);
        let y = b.u32_const(1);
        b.alu(AluOp::Ineg, &[x]);
        let source = b.body.uses_vec(x)[0];
        b.body.corrupt_use(source, |u| u.def = Some(y));
    });
    code_trips(&["use-stray"], |b| {
        let x = b.u32_const(1);
        // Created with a source, and never placed.
        b.body.create_inst(
            InstData::Alu { op: AluOp::Ineg, flags: AluFlags::NONE },
            &[SourceSpec::alu(x, Swizzle::IDENTITY)],
            Some(ONE),
        );
    });
    code_trips(&["use-undefined"], |b| {
        let x = b.body.create_inst(InstData::Undef, &[], Some(ONE));
        let x = b.body.inst_def(x).unwrap();
        b.alu(AluOp::Ineg, &[x]);
    });
    code_trips(&["use-undefined"], |b| {
        let condition = b.body.create_inst(InstData::Undef, &[], Some(Shape::new(1, 1)));
        let condition = b.body.inst_def(condition).unwrap();
        b.push_if(condition);
    });
    code_trips(&["source-count"], |b| {
        let x = b.u32_const(1);
        alu(b, AluOp::Iadd, &[x.into()], ONE);
    });
    code_trips(&["source-count", "use-stray"], |b| {
        let x = b.u32_const(1);
        b.alu(AluOp::Ineg, &[x]);
        let inst = b.body.last_inst(b.block()).unwrap();
        b.body.corrupt_num_sources(inst, 40);
    });
    code_trips(&["use-owner"], |b| {
        let x = b.u32_const(1);
        let y = b.alu(AluOp::Ineg, &[x]);
        let source = b.body.uses_vec(x)[0];
        let other = b.body.def_inst(x);
        assert_eq!(b.body.user(source), User::Inst(b.body.def_inst(y)));
        b.body.corrupt_use(source, |u| u.user = User::Inst(other));
    });
    code_trips(&["dominance"], |b| {
        let x = b.u32_const(1);
        b.alu(AluOp::Ineg, &[x]);
        let producer = b.body.def_inst(x);
        let end = Cursor::BlockEnd(b.block());
        b.body.move_inst(end, producer);
    });
    code_trips(&["dominance"], |b| {
        let (_, _, [x, _], _) = diamond(b);
        b.alu(AluOp::Ineg, &[x]);
    });
    code_trips(&["dominance"], |b| {
        let condition = b.bool_const(true);
        let id = b.push_if(condition);
        let inner = b.bool_const(true);
        b.end_if(id);
        b.push_if(inner);
    });
    code_trips(&["dominance-phi"], |b| {
        let (_, phi, [x, _], _) = diamond(b);
        let source = b.body.source(phi, 1);
        b.body.set_src(source, x);
    });
}

pub(super) fn alu_rules() {
    code_trips(&["alu-source-bits"], |b| {
        let x = b.constant(64, &[1]);
        alu(b, AluOp::F2i32, &[x.into()], ONE);
        let y = b.bool_const(true);
        let z = b.u32_const(1);
        alu(b, AluOp::Bcsel, &[z.into(), z.into(), z.into()], ONE);
        alu(b, AluOp::Bcsel, &[y.into(), z.into(), z.into()], ONE);
    });
    code_trips(&["alu-sizes-differ"], |b| {
        let x = b.constant(64, &[1]);
        let y = b.u32_const(1);
        alu(b, AluOp::Iadd, &[y.into(), x.into()], ONE);
    });
    code_trips(&["alu-dest-bits"], |b| {
        let x = b.u32_const(1);
        alu(b, AluOp::Ineg, &[x.into()], Shape::new(1, 16));
        alu(b, AluOp::Ieq, &[x.into(), x.into()], ONE);
    });
    code_trips(&["alu-float-bits"], |b| {
        let x = b.constant(8, &[1]);
        alu(b, AluOp::Fneg, &[x.into()], Shape::new(1, 8));
    });
    code_trips(&["alu-open-bits"], |b| {
        let x = b.constant(64, &[1]);
        alu(b, AluOp::B2f32, &[x.into()], ONE);
    });
    code_trips(&["alu-swizzle"], |b| {
        let x = b.u32_const(1);
        alu(b, AluOp::Ineg, &[AluSrc::new(x, Swizzle::IDENTITY)], Shape::new(2, 32));
    });
    code_trips(&["alu-dest-components"], |b| {
        let x = b.u32_const(1);
        alu(b, AluOp::Vec2, &[x.into(), x.into()], Shape::new(3, 32));
    });
    // Unused selectors may have any value.
    code_trips(&[], |b| {
        let x = b.u32_const(1);
        alu(b, AluOp::Ineg, &[AluSrc::new(x, Swizzle::IDENTITY)], ONE);
    });
}
