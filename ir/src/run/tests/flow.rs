//! Control flow and calls.

use super::*;
use crate::body::InstData;
use crate::shader::{FunctionData, Parameter};

/// Sums up 0 .. lane - 1 with phis: different trip counts per lane.
#[test]
fn loop_with_phis() {
    let shader = shader(ShaderStage::Vertex, |b| {
        let end = lane(b);
        let zero = b.u32_const(0);
        let one = b.u32_const(1);
        let before = b.block();
        let id = b.push_loop();
        let i = b.phi(SCALAR, &[(before, zero)]);
        let sum = b.phi(SCALAR, &[(before, zero)]);
        let done = b.alu(AluOp::Uge, &[i, end]);
        let exit = b.push_if(done);
        let breaking = b.block();
        b.jump(JumpKind::Break);
        b.end_if(exit);
        let next_sum = b.alu(AluOp::Iadd, &[sum, i]);
        let next_i = b.alu(AluOp::Iadd, &[i, one]);
        let latch = b.block();
        for (phi, next) in [(i, next_i), (sum, next_sum)] {
            let phi = b.body.def_inst(phi);
            b.body.add_phi_source(phi, latch, next);
        }
        b.end_loop(id);
        b.phi(SCALAR, &[(breaking, sum)])
    });
    assert_eq!(component(&ran(&shader, &lanes(7)), 0), [0, 0, 1, 3, 6, 10, 15]);
}

/// Phis read all their sources at once: a swap in each iteration.
#[test]
fn phis_swap() {
    let shader = shader(ShaderStage::Vertex, |b| {
        let end = lane(b);
        let (zero, one, ten) = (b.u32_const(0), b.u32_const(1), b.u32_const(10));
        let before = b.block();
        let id = b.push_loop();
        let i = b.phi(SCALAR, &[(before, zero)]);
        let x = b.phi(SCALAR, &[(before, one)]);
        let y = b.phi(SCALAR, &[(before, ten)]);
        let done = b.alu(AluOp::Uge, &[i, end]);
        let exit = b.push_if(done);
        b.jump(JumpKind::Break);
        b.end_if(exit);
        let next_i = b.alu(AluOp::Iadd, &[i, one]);
        let latch = b.block();
        for (phi, next) in [(i, next_i), (x, y), (y, x)] {
            let phi = b.body.def_inst(phi);
            b.body.add_phi_source(phi, latch, next);
        }
        b.end_loop(id);
        b.vec_of(&[x, y])
    });
    let outputs = ran(&shader, &lanes(4));
    assert_eq!((component(&outputs, 0), component(&outputs, 1)), (vec![1, 10, 1, 10], vec![10, 1, 10, 1]));
}

#[test]
fn both_sides_of_an_if() {
    let shader = shader(ShaderStage::Vertex, |b| {
        let x = lane(b);
        let (two, seven) = (b.u32_const(2), b.u32_const(7));
        let less = b.alu(AluOp::Ult, &[x, two]);
        let id = b.push_if(less);
        let first = b.alu(AluOp::Iadd, &[x, seven]);
        let then_end = b.block();
        b.push_else(id);
        let second = b.alu(AluOp::Imul, &[x, seven]);
        let else_end = b.block();
        b.end_if(id);
        b.phi(SCALAR, &[(then_end, first), (else_end, second)])
    });
    assert_eq!(component(&ran(&shader, &lanes(4)), 0), [7, 8, 14, 21]);
    // A one-sided `if`.
    assert_eq!(component(&ran(&shader, &lanes(2)), 0), [7, 8]);
}

/// `continue` in odd iterations, `break` at the lane's number, in a register: counts the even numbers below it.
#[test]
fn continue_and_break_with_registers() {
    let shader = shader(ShaderStage::Vertex, |b| {
        let end = lane(b);
        let one = b.u32_const(1);
        let i = b.decl_reg(SCALAR, 0);
        let count = b.decl_reg(SCALAR, 0);
        let id = b.push_loop();
        let old = b.load_reg(i, 0);
        let done = b.alu(AluOp::Uge, &[old, end]);
        let exit = b.push_if(done);
        b.jump(JumpKind::Break);
        b.end_if(exit);
        let next = b.alu(AluOp::Iadd, &[old, one]);
        b.store_reg(next, i, 0, 1);
        let odd = b.alu(AluOp::Iand, &[old, one]);
        let zero = b.u32_const(0);
        let odd = b.alu(AluOp::Ine, &[odd, zero]);
        let skip = b.push_if(odd);
        b.jump(JumpKind::Continue);
        b.end_if(skip);
        let old_count = b.load_reg(count, 0);
        let more = b.alu(AluOp::Iadd, &[old_count, one]);
        b.store_reg(more, count, 0, 1);
        b.end_loop(id);
        b.load_reg(count, 0)
    });
    assert_eq!(component(&ran(&shader, &lanes(8)), 0), [0, 1, 1, 2, 2, 3, 3, 4]);
}

/// A continue construct executes for lanes that continued and for lanes that reached the end of the body.
#[test]
fn continue_construct() {
    let shader = shader(ShaderStage::Vertex, |b| {
        let end = lane(b);
        let one = b.u32_const(1);
        let i = b.decl_reg(SCALAR, 0);
        let id = b.push_loop();
        let old = b.load_reg(i, 0);
        let done = b.alu(AluOp::Uge, &[old, end]);
        let exit = b.push_if(done);
        b.jump(JumpKind::Break);
        b.end_if(exit);
        let odd = b.alu(AluOp::Iand, &[old, one]);
        let odd = b.alu(AluOp::Ieq, &[odd, one]);
        let skip = b.push_if(odd);
        b.jump(JumpKind::Continue);
        b.end_if(skip);
        let construct = b.body.add_continue_construct(id);
        let after = b.cursor;
        b.cursor = crate::cursor::Cursor::BlockEnd(construct);
        let old = b.load_reg(i, 0);
        let next = b.alu(AluOp::Iadd, &[old, one]);
        b.store_reg(next, i, 0, 1);
        b.cursor = after;
        b.end_loop(id);
        b.load_reg(i, 0)
    });
    assert_eq!(component(&ran(&shader, &lanes(5)), 0), [0, 1, 2, 3, 4]);
}

/// A return leaves two loops and an `if`; the other lanes continue.
#[test]
fn return_out_of_loops() {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let mut b = Builder::at_end(shader.main_mut());
    let x = lane(&mut b);
    let (one, two) = (b.u32_const(1), b.u32_const(2));
    store_output(&mut b, 0, one);
    let outer = b.push_loop();
    let inner = b.push_loop();
    let small = b.alu(AluOp::Ult, &[x, two]);
    let id = b.push_if(small);
    b.jump(JumpKind::Return);
    b.push_else(id);
    b.jump(JumpKind::Break);
    b.end_if(id);
    b.end_loop(inner);
    b.jump(JumpKind::Break);
    b.end_loop(outer);
    store_output(&mut b, 0, two);
    assert_eq!(component(&ran(&shader, &lanes(4)), 0), [1, 1, 2, 2]);
}

#[test]
fn endless_loops_hit_the_limit() {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let mut b = Builder::at_end(shader.main_mut());
    let id = b.push_loop();
    b.end_loop(id);
    let error = try_run(&shader, &lanes(4)).expect_err("no end");
    assert_eq!((error.code().name, &error), ("step-limit", &RunError::StepLimit { limit: 10_000 }));
    // Nothing executes without lanes.
    assert!(try_run(&shader, &lanes(0)).is_ok());
}

/// The loop has no end for the first quad, of which all lanes are killed before it.
#[test]
fn killed_quads_leave_loops() {
    let shader = shader(ShaderStage::Fragment, |b| {
        let (x, four) = (lane(b), b.u32_const(4));
        let is_first = b.alu(AluOp::Ult, &[x, four]);
        b.intrinsic(IntrinsicOp::TerminateIf, &[is_first], &[], None);
        let id = b.push_loop();
        let exit = b.push_if(is_first);
        b.push_else(exit);
        b.jump(JumpKind::Break);
        b.end_if(exit);
        b.end_loop(id);
        x
    });
    let outputs = run(&shader, &lanes(8), &mut AnalyticResources::default(), RunLimits::default()).expect("it ends");
    assert_eq!(outputs.live, [false, false, false, false, true, true, true, true]);
    assert_eq!(component(&outputs, 0)[4..], [4, 5, 6, 7]);
}

/// `fn add(out *result, value)`: called by some lanes, with a local that must start as zero in each call.
#[test]
fn calls_with_pointers() {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let uint = shader.types.vector(ScalarType::Uint, 1);
    let parameter =
        |name: &str, is_return| Parameter { num_components: 1, bit_size: 32, name: name.to_string(), is_return };
    let callee = shader.functions.push(FunctionData {
        name: "add".to_string(),
        parameters: vec![parameter("result", true), parameter("value", false)],
        is_entry_point: false,
        is_exported: false,
        attributes: Vec::new(),
        body: Some(Body::new()),
    });
    let local = shader.add_local(callee, "counter", uint);
    let result = shader.add_local(crate::entities::Function::from_u32(0), "result", uint);
    let Some(body) = &mut shader.functions[callee].body else { panic!("the body is there") };
    let mut b = Builder::at_end(body);
    let pointer = b.intrinsic_def(IntrinsicOp::LoadParam, &[], &[(IndexKind::ParamIdx, 0)], SCALAR);
    let value = b.intrinsic_def(IntrinsicOp::LoadParam, &[], &[(IndexKind::ParamIdx, 1)], SCALAR);
    let kind = crate::body::DerefKind::Cast(b.body.push_cast(Default::default()));
    let data = InstData::Deref { kind, modes: VariableModes::FUNCTION_TEMP, ty: uint };
    let cast = b.build(data, &[crate::SourceSpec::plain(pointer)], Some(SCALAR));
    let Some(cast) = b.body.inst_def(cast) else { panic!("a cast has a value") };
    let local = b.deref_var(local, VariableModes::FUNCTION_TEMP, uint);
    let register = b.decl_reg(SCALAR, 0);
    let stale = b.load_deref(local, SCALAR);
    let stale_register = b.load_reg(register, 0);
    let old = b.load_deref(cast, SCALAR);
    let sum = b.alu(AluOp::Iadd, &[old, value]);
    let sum = b.alu(AluOp::Iadd, &[sum, stale]);
    let sum = b.alu(AluOp::Iadd, &[sum, stale_register]);
    b.store_deref(local, sum, 1);
    b.store_reg(sum, register, 0, 1);
    b.store_deref(cast, sum, 1);
    // Some lanes return early, which must not affect the caller.
    let one = b.u32_const(1);
    let equal = b.alu(AluOp::Ieq, &[value, one]);
    let id = b.push_if(equal);
    b.jump(JumpKind::Return);
    b.end_if(id);
    let hundred = b.u32_const(100);
    let more = b.alu(AluOp::Iadd, &[sum, hundred]);
    b.store_deref(cast, more, 1);

    let mut b = Builder::at_end(shader.main_mut());
    let x = lane(&mut b);
    let two = b.u32_const(2);
    let pointer = b.deref_var(result, VariableModes::FUNCTION_TEMP, uint);
    let call = |b: &mut Builder<'_>| {
        let sources = [crate::SourceSpec::plain(pointer), crate::SourceSpec::plain(x)];
        b.build(InstData::Call { callee, indirect: false }, &sources, None);
    };
    call(&mut b);
    let some = b.alu(AluOp::Uge, &[x, two]);
    let id = b.push_if(some);
    call(&mut b);
    b.end_if(id);
    let value = b.load_deref(pointer, SCALAR);
    store_output(&mut b, 0, value);
    assert_eq!(component(&ran(&shader, &lanes(4)), 0), [100, 1, 204, 206]);
}

#[test]
fn recursion_is_refused() {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let callee = crate::entities::Function::from_u32(0);
    let mut b = Builder::at_end(shader.main_mut());
    b.build(InstData::Call { callee, indirect: false }, &[], None);
    let error = try_run(&shader, &lanes(1)).expect_err("a recursion");
    assert_eq!((error.code().name, &error), ("recursion", &RunError::Recursion { function: "main".to_string() }));
}

/// A halt in a callee also ends the lane in the caller.
#[test]
fn halt_in_a_call() {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let mut body = Body::new();
    let mut b = Builder::at_end(&mut body);
    let x = lane(&mut b);
    let two = b.u32_const(2);
    let small = b.alu(AluOp::Ult, &[x, two]);
    let id = b.push_if(small);
    b.jump(JumpKind::Halt);
    b.end_if(id);
    let callee = shader.functions.push(FunctionData {
        name: "stop".to_string(),
        parameters: Vec::new(),
        is_entry_point: false,
        is_exported: false,
        attributes: Vec::new(),
        body: Some(body),
    });
    let mut b = Builder::at_end(shader.main_mut());
    let id = b.push_loop();
    b.build(InstData::Call { callee, indirect: false }, &[], None);
    b.jump(JumpKind::Break);
    b.end_loop(id);
    let value = b.u32_const(5);
    store_output(&mut b, 0, value);
    assert_eq!(component(&ran(&shader, &lanes(4)), 0), [0, 0, 5, 5]);
}

/// Out of SSA: a parallel copy that swaps two registers and defines a value.
#[test]
fn parallel_copies() {
    let shader = shader(ShaderStage::Vertex, |b| {
        let (x, y) = (b.decl_reg(SCALAR, 0), b.decl_reg(SCALAR, 0));
        let (one, two) = (b.u32_const(1), b.u32_const(2));
        b.store_reg(one, x, 0, 1);
        b.store_reg(two, y, 0, 1);
        let copy = b.body.create_parallel_copy();
        b.insert(copy);
        for (entry, (to, from)) in [(x, y), (y, x)].into_iter().enumerate() {
            b.body.add_copy(copy, from);
            b.body.set_copy_source_register(copy, entry, from);
            b.body.set_copy_dest_register(copy, entry, to);
        }
        let three = b.body.add_copy(copy, two);
        let (x, y) = (b.load_reg(x, 0), b.load_reg(y, 0));
        b.vec_of(&[x, y, three])
    });
    let outputs = ran(&shader, &lanes(1));
    let words: Vec<u32> = (0..3).map(|c| outputs.outputs.get(0, c, 0)).collect();
    assert_eq!(words, [2, 1, 2]);
}

#[test]
fn broken_shaders_are_errors() {
    let code =
        |shader: &Shader, count| try_run(shader, &lanes(count)).map_or_else(|error| error.code().name, |_| "none");
    // A break outside of a loop.
    let mut outside = Shader::new(ShaderStage::Vertex);
    let start = outside.main().start_block();
    outside.main_mut().insert_jump(start, JumpKind::Break, None);
    assert_eq!(code(&outside, 1), "malformed");
    // No entry point, or an entry point without code.
    assert_eq!(code(&Shader::without_functions(ShaderStage::Vertex), 1), "no-entry-point");
    // Unstructured control flow.
    let mut graph = Shader::new(ShaderStage::Vertex);
    graph.main_mut().structured = false;
    assert_eq!(code(&graph, 1), "unstructured");
    // A use of a value with an instruction that is not in any block.
    let unplaced = shader(ShaderStage::Vertex, |b| {
        let inst = b.body.create_inst(InstData::Undef, &[], Some(SCALAR));
        b.body.inst_def(inst).unwrap_or_else(|| panic!("an undef has a value"))
    });
    assert_eq!(code(&unplaced, 1), "malformed");
    // An instruction without a counterpart in the environment is only an error if it is executed.
    let unsupported = shader(ShaderStage::Vertex, |b| b.intrinsic_def(IntrinsicOp::LoadLineWidth, &[], &[], SCALAR));
    assert!(matches!(try_run(&unsupported, &lanes(1)), Err(RunError::Unsupported { name: "load_line_width", .. })));
    assert_eq!((code(&unsupported, 1), code(&unsupported, 0)), ("unsupported", "none"));
    // Too many lanes.
    let fine = shader(ShaderStage::Vertex, |b| b.u32_const(1));
    assert_eq!(try_run(&fine, &lanes(MAX_LANES + 1)), Err(RunError::TooManyLanes { lanes: MAX_LANES + 1 }));
    assert_eq!(code(&fine, MAX_LANES + 1), "too-many-lanes");
    // Registers that need too much memory.
    let large = shader(ShaderStage::Vertex, |b| {
        let register = b.decl_reg(VEC4, u32::MAX);
        b.load_reg(register, 0)
    });
    assert_eq!(code(&large, 1), "too-large");
}
