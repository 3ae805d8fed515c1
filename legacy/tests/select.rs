//! Selects a shader in both styles.

use tgsi_ir::alu::AluOp;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::{Body, Def, Inst};
use tgsi_registers::lower::{Vec4Target, lower_for_floats};
use tgsi_registers::modifiers::ModifierPolicy;
use tgsi_registers::select::{SelectError, Selection, Selector, interface_operand, select};
use tgsi_vec4::Flow;
use tgsi_vec4::simple::{File, Info, SimpleMachine, Source};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Op {
    Mov,
    Add,
    Flow(Flow),
}

struct Machine;

impl SimpleMachine for Machine {
    type Op = Op;
    const COPY: Op = Op::Mov;

    fn info(op: Op) -> Info {
        match op {
            Op::Flow(flow) => Info { reads: [1, 0, 0, 0], ..Info::flow(flow) },
            _ => Info::COMPONENTWISE,
        }
    }
}

impl Selection for Machine {
    fn alu(&self, op: AluOp) -> Option<Op> {
        match op {
            AluOp::Mov => Some(Op::Mov),
            AluOp::Fadd => Some(Op::Add),
            _ => None,
        }
    }

    fn flow(&self, flow: Flow) -> Op {
        Op::Flow(flow)
    }

    fn operand(&self, body: &Body, def: Def) -> Option<Source> {
        let load = body.def_inst(def);
        (body.intrinsic(load)? == IntrinsicOp::LoadInput).then(|| interface_operand(body, load, File::Input))?
    }

    fn select(selector: &mut Selector<'_, Self>, inst: Inst) -> Result<(), SelectError> {
        match selector.body.intrinsic(inst) {
            Some(IntrinsicOp::StoreOutput) => selector.store_output(inst),
            op => Err(SelectError::Missing { inst, what: op.map_or("instruction", IntrinsicOp::name) }),
        }
    }
}

/// Selects a shader with this ALU code from %1, an input, to %9.
fn selected(code: &str, registers: Option<u32>) -> Result<Vec<String>, SelectError> {
    let text = format!(
        "shader: MESA_SHADER_VERTEX\n\
         decl_var shader_in INTERP_MODE_NONE none vec4 in_0 (VERT_ATTRIB_GENERIC0.xyzw, 0, 0)\n\
         decl_var shader_out INTERP_MODE_NONE none vec4 out_0 (VARYING_SLOT_VAR0.xyzw, 0, 0)\n\
         decl_function main () (entrypoint)\n\nimpl main {{\n    block b0:\n\
         32 %0 = deref_var &in_0 (shader_in vec4)\n\
         32x4 %1 = @load_deref (%0) (access=none)\n\
         {code}\
         32 %10 = deref_var &out_0 (shader_out vec4)\n\
         @store_deref (%10, %9) (wrmask=xyzw, access=none)\n\
         block b1:\n}}\n"
    );
    let mut shader = tgsi_ir::text::parse(&text).expect("valid text");
    let is_operand = |body: &Body, def: Def| Machine.operand(body, def).is_some();
    let has_vector_registers = registers.is_some();
    let target = Vec4Target { is_operand: &is_operand, has_vector_registers, ..Vec4Target::default() };
    lower_for_floats(&mut shader, &target, &mut Passes::default()).expect("floats only");
    let program = select(Machine, shader.main(), ModifierPolicy::ALL, registers)?;
    Ok(program.instructions().iter().map(ToString::to_string).collect())
}

const SUM: &str = "32x4 %2 = fneg %1\n32x4 %3 = fadd %2, %1.wzyx\n32x4 %9 = fsat %3\n";

#[test]
fn modifiers_fold_in_both_styles() {
    for registers in [None, Some(4)] {
        let expected = ["Add_sat Temporary[0], -Input[0], Input[0].wzyx", "Mov Output[0], Temporary[0]", "Flow(End)"];
        assert_eq!(selected(SUM, registers).as_deref(), Ok(&expected.map(String::from)[..]));
    }
}

#[test]
fn vectors_are_masked_writes_or_copies() {
    let code = "32 %3 = fadd %1.x, %1.y\n32x4 %9 = vec4 %3, %1.z, %1.y, %3\n";
    let registers = selected(code, Some(4)).expect("all operations exist");
    assert_eq!(
        registers[..2],
        ["Add Temporary[0].xw, Input[0].xxxx, Input[0].yyyy", "Mov Temporary[0].yz, Input[0].xzyx"]
    );
    let temporaries = selected(code, None).expect("all operations exist");
    assert!(temporaries.iter().filter(|line| line.starts_with("Mov Temporary")).count() == 5, "{temporaries:#?}");
}

#[test]
fn errors_name_the_instruction() {
    let error = selected("32x4 %9 = fmul %1, %1.wzyx\n", None).expect_err("there is no product");
    assert!(error.inst().is_some() && error.to_string().ends_with("the machine has no fmul"), "{error}");
    let error = selected(SUM, Some(0)).expect_err("there are no registers");
    assert!(error.to_string().ends_with("1 registers are needed, and there are 0"), "{error}");
}
