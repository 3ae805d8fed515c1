//! Trip counts. Every loop that ends is also executed, and must iterate as often as the analysis found.

use super::*;
use crate::alu::{AluOp, AluType};
use crate::body::Shape;
use crate::builder::{AluSrc, Builder};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::run::run;
use crate::shader::{Shader, ShaderStage};
use crate::validate::validate;
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};

const MAX_TRIPS: u32 = 100;

/// A loop with an exit if a comparison of its counter is true.
#[derive(Clone, Copy)]
struct Counting {
    bits: u8,
    start: u64,
    step: (AluOp, u64),
    /// Comparison with the counter as its first operand, and the second operand.
    exit: (AluOp, u64),
}

fn word(start: u32, step: (AluOp, u32), exit: (AluOp, u32)) -> Counting {
    let wide = |(op, value): (AluOp, u32)| (op, u64::from(value));
    Counting { bits: 32, start: start.into(), step: wide(step), exit: wide(exit) }
}

fn float(start: f32, step: (AluOp, f32), exit: (AluOp, f32)) -> Counting {
    word(start.to_bits(), (step.0, step.1.to_bits()), (exit.0, exit.1.to_bits()))
}

/// The form of the exit condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exit {
    /// The plain comparison.
    Then,
    /// Break in the else side of the negated comparison.
    NotElse,
    /// Break in the else side of the opposite comparison.
    OppositeElse,
    /// Negated twice.
    NotNot,
}

/// Position of the test: at the end it reads the next value of the counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TestPosition {
    Start,
    End,
}

/// The comparison with the opposite result, if there is one.
fn opposite(op: AluOp) -> Option<AluOp> {
    let pairs = [(Ige, Ilt), (Uge, Ult), (Ieq, Ine), (Feq, Fneu)];
    pairs.iter().find_map(|&(a, b)| if a == op { Some(b) } else { (b == op).then_some(a) })
}

impl Counting {
    fn build(self, exit: Exit, at: TestPosition) -> (Shader, Loop) {
        let shape = Shape::new(1, self.bits);
        let constant = |b: &mut Builder<'_>, value: u64| b.constant(self.bits, &[value]);
        let step = |b: &mut Builder<'_>, value: Def| {
            // The shift count is always 32-bit.
            let is_shift = matches!(self.step.0, AluOp::Ishl | AluOp::Ishr | AluOp::Ushr);
            let by = if is_shift { b.u32_const(self.step.1 as u32) } else { constant(b, self.step.1) };
            b.alu(self.step.0, &[value, by])
        };
        counting_loop(|b, before| {
            let start = constant(b, self.start);
            let id = b.push_loop();
            let count = start_phi(b, before, Shape::new(1, 32), None);
            let counter = start_phi(b, before, shape, Some(start));
            let mut next = (at == TestPosition::End).then(|| step(b, counter));
            let limit = constant(b, self.exit.1);
            let op = opposite(self.exit.0).filter(|_| exit == Exit::OppositeElse).unwrap_or(self.exit.0);
            let mut condition = b.alu(op, &[next.unwrap_or(counter), limit]);
            let negations = match exit {
                Exit::Then | Exit::OppositeElse => 0,
                Exit::NotElse => 1,
                Exit::NotNot => 2,
            };
            for _ in 0..negations {
                condition = b.alu(AluOp::Inot, &[condition]);
            }
            leave(b, condition, matches!(exit, Exit::NotElse | Exit::OppositeElse));
            let next = *next.get_or_insert_with(|| step(b, counter));
            let one = b.u32_const(1);
            let more = b.alu(AluOp::Iadd, &[count, one]);
            end_loop(b, id, &[(count, more), (counter, next)]);
            (id, count)
        })
    }

    /// The trip count, after checking that all forms of the exit give the same.
    fn trips(self) -> Option<u32> {
        let [at_start, at_end] = [TestPosition::Start, TestPosition::End].map(|at| {
            let mut found = Vec::new();
            for exit in [Exit::Then, Exit::NotElse, Exit::OppositeElse, Exit::NotNot] {
                if exit == Exit::OppositeElse && opposite(self.exit.0).is_none() {
                    continue;
                }
                let (shader, id) = self.build(exit, at);
                let analysis = analyze(&shader, id, MAX_TRIPS);
                assert!(!analysis.is_complex && analysis.terminators.len() == 1 && !analysis.has_inner_loop);
                let trips = analysis.max_trip_count();
                if let Some(trips) = trips {
                    assert_eq!(run_count(&shader), trips, "{exit:?} {at:?}");
                    assert_eq!(analysis.num_unknown_terminators(), 0);
                    assert_eq!(analysis.outcome(trips, 0), TerminatorOutcome::Leaves);
                    assert!((0..trips).all(|iteration| analysis.outcome(iteration, 0) == TerminatorOutcome::Stays));
                    // Outcomes after the exit are unknown.
                    assert_eq!(analysis.outcome(trips + 1, 0), TerminatorOutcome::Unknown);
                }
                found.push(trips);
            }
            assert!(found.iter().all(|&trips| trips == found[0]), "{at:?}: {found:?}");
            found[0]
        });
        // A test after the step leaves one iteration earlier, unless the loop is left immediately.
        if let Some(trips) = at_start.filter(|&trips| trips > 0) {
            assert_eq!(at_end, Some(trips - 1));
        }
        at_start
    }
}

/// A shader that stores how often its loop was repeated. `make` gets the block before the loop.
fn counting_loop(make: impl FnOnce(&mut Builder<'_>, Block) -> (Loop, Def)) -> (Shader, Loop) {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let mut b = Builder::at_end(shader.main_mut());
    let zero = b.u32_const(0);
    let before = b.block();
    let (id, count) = make(&mut b, before);
    let ty = AluType::UINT32.to_i32();
    let indices = [(IndexKind::Base, 0), (IndexKind::WriteMask, 1), (IndexKind::SrcType, ty)];
    b.intrinsic(IntrinsicOp::StoreOutput, &[count, zero], &indices, None);
    validate(&shader).unwrap_or_else(|errors| panic!("{errors}"));
    (shader, id)
}

/// A phi at the start of a loop, initially zero unless `start` is given.
fn start_phi(b: &mut Builder<'_>, before: Block, shape: Shape, start: Option<Def>) -> Def {
    let start = start.unwrap_or_else(|| Builder::at_start(b.body).constant(shape.bit_size, &[0]));
    b.phi(shape, &[(before, start)])
}

fn leave(b: &mut Builder<'_>, condition: Def, in_else: bool) {
    let exit = b.push_if(condition);
    if in_else {
        b.push_else(exit);
    }
    b.jump(JumpKind::Break);
    b.end_if(exit);
}

fn end_loop(b: &mut Builder<'_>, id: Loop, next: &[(Def, Def)]) {
    let latch = b.block();
    for &(phi, value) in next {
        b.body.add_phi_source(b.body.def_inst(phi), latch, value);
    }
    b.end_loop(id);
}

fn analyze(shader: &Shader, id: Loop, most: u32) -> LoopAnalysis {
    let mode = shader.info.float_controls_execution_mode;
    LoopAnalyzer::new(shader.main(), &shader.types, mode, most).analyze(shader.main(), id)
}

fn run_count(shader: &Shader) -> u32 {
    let inputs = Inputs { lanes: 1, inputs: LaneRegisters::new(1, 1), ..Inputs::default() };
    let outputs = run(shader, &inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("it ends");
    outputs.outputs.get(0, 0, 0)
}

/// A 32-bit value that the analysis does not know.
fn unknown(b: &mut Builder<'_>) -> Def {
    let zero = b.u32_const(0);
    b.intrinsic_def(IntrinsicOp::LoadInput, &[zero], &[], Shape::new(1, 32))
}

use AluOp::{Fadd, Feq, Fge, Flt, Fmul, Fneu, Iadd, Ieq, Ige, Ilt, Imul, Ine, Ishl, Ishr, Isub, Uge, Ult, Ushr};

#[test]
fn upwards() {
    assert_eq!(word(0, (Iadd, 1), (Ige, 4)).trips(), Some(4));
    assert_eq!(word(0, (Iadd, 1), (Uge, 4)).trips(), Some(4));
    assert_eq!(word(0, (Iadd, 1), (Ieq, 4)).trips(), Some(4));
    assert_eq!(word(3, (Iadd, 1), (Ige, 4)).trips(), Some(1));
    // The last value is one beyond the limit.
    assert_eq!(word(-3i32 as u32, (Iadd, 1), (Ige, 4)).trips(), Some(7));
}

#[test]
fn downwards() {
    assert_eq!(word(10, (Iadd, -1i32 as u32), (Ilt, 1)).trips(), Some(10));
    assert_eq!(word(10, (Isub, 1), (Ult, 1)).trips(), Some(10));
    assert_eq!(word(10, (Isub, 1), (Ieq, 0)).trips(), Some(10));
    // Below zero.
    assert_eq!(word(2, (Isub, 1), (Ilt, -4i32 as u32)).trips(), Some(7));
}

#[test]
fn other_steps() {
    assert_eq!(word(0, (Iadd, 3), (Ige, 10)).trips(), Some(4));
    assert_eq!(word(0, (Iadd, 3), (Ige, 9)).trips(), Some(3));
    assert_eq!(word(20, (Isub, 7), (Ilt, 0)).trips(), Some(3));
    // It never is 10, not even after wrapping around, in all simulated iterations.
    assert_eq!(word(0, (Iadd, 3), (Ieq, 10)).trips(), None);
    assert_eq!(word(0, (Iadd, 3), (Ieq, 12)).trips(), Some(4));
    assert_eq!(word(1, (Imul, 3), (Ige, 100)).trips(), Some(5));
    assert_eq!(word(1, (Ishl, 1), (Uge, 1000)).trips(), Some(10));
    assert_eq!(word(1000, (Ushr, 1), (Ieq, 0)).trips(), Some(10));
    assert_eq!(word(-1000i32 as u32, (Ishr, 2), (Ieq, -1i32 as u32)).trips(), Some(5));
}

#[test]
fn signed_and_unsigned() {
    // -1 is the greatest unsigned number: left immediately, or after five iterations.
    assert_eq!(word(-1i32 as u32, (Iadd, 1), (Uge, 4)).trips(), Some(0));
    assert_eq!(word(-1i32 as u32, (Iadd, 1), (Ige, 4)).trips(), Some(5));
    assert_eq!(word(0x7fff_fffe, (Iadd, 1), (Uge, 0x8000_0001)).trips(), Some(3));
    assert_eq!(word(0x7fff_fffe, (Iadd, 1), (Ilt, 0)).trips(), Some(2));
}

#[test]
fn wrapping_around() {
    assert_eq!(word(0xffff_fff0, (Iadd, 1), (Ult, 16)).trips(), Some(16));
    assert_eq!(word(0xffff_fff0, (Iadd, 5), (Ieq, 4)).trips(), Some(4));
    assert_eq!(word(3, (Isub, 1), (Uge, 100)).trips(), Some(4));
    assert_eq!(word(1, (Imul, 0x10), (Ieq, 0)).trips(), Some(8));
}

#[test]
fn none_at_all() {
    assert_eq!(word(4, (Iadd, 1), (Ige, 4)).trips(), Some(0));
    assert_eq!(word(5, (Iadd, 1), (Ine, 4)).trips(), Some(0));
    assert_eq!(float(1.0, (Fadd, 1.0), (Fge, 0.5)).trips(), Some(0));
}

#[test]
fn without_end() {
    assert_eq!(word(0, (Iadd, 0), (Ige, 4)).trips(), None);
    assert_eq!(word(0, (Iadd, 1), (Ult, 0)).trips(), None);
    assert_eq!(word(0, (Iadd, 2), (Ieq, 1)).trips(), None);
    assert_eq!(float(0.0, (Fadd, 1.0), (Feq, f32::NAN)).trips(), None);
    assert_eq!(float(f32::NAN, (Fadd, 1.0), (Fge, 4.0)).trips(), None);
    // The increment is lost by rounding.
    assert_eq!(float(16_777_216.0, (Fadd, 1.0), (Fge, 16_777_217.5)).trips(), None);
}

#[test]
fn floats() {
    assert_eq!(float(0.0, (Fadd, 1.0), (Fge, 4.0)).trips(), Some(4));
    assert_eq!(float(4.0, (Fadd, -0.5), (Flt, 0.0)).trips(), Some(9));
    assert_eq!(float(1.0, (Fmul, 0.5), (Flt, 0.01)).trips(), Some(7));
    // The sum of ten tenths exceeds one in single precision and is never exactly one.
    assert_eq!(float(0.0, (Fadd, 0.1), (Fge, 1.0)).trips(), Some(10));
    assert_eq!(float(0.0, (Fadd, 0.1), (Feq, 1.0)).trips(), None);
    assert_eq!(float(0.0, (Fadd, 0.25), (Feq, 1.0)).trips(), Some(4));
    assert_eq!(float(0.0, (Fadd, 0.0), (Fneu, 0.0)).trips(), None);
    assert_eq!(float(f32::NAN, (Fadd, 0.0), (Fneu, 0.0)).trips(), Some(0));
    // Up to infinity.
    assert_eq!(float(1e38, (Fmul, 2.0), (Feq, f32::INFINITY)).trips(), Some(2));
}

#[test]
fn other_sizes() {
    let counting = |bits, start, step, exit| Counting { bits, start, step, exit };
    assert_eq!(counting(64, (1 << 32) - 2, (Iadd, 1), (Uge, 1 << 32)).trips(), Some(2));
    assert_eq!(counting(64, 0, (Fadd, 0.1f64.to_bits()), (Fge, 1f64.to_bits())).trips(), Some(11));
    assert_eq!(counting(16, 0xfffe, (Iadd, 1), (Ieq, 1)).trips(), Some(3));
    assert_eq!(counting(8, 120, (Iadd, 1), (Ilt, 0)).trips(), Some(8));
}

#[test]
fn as_far_as_somebody_looks() {
    let (shader, id) = word(0, (Iadd, 1), (Ige, 10)).build(Exit::Then, TestPosition::Start);
    for (most, trips) in [(9, None), (10, Some(10)), (11, Some(10))] {
        assert_eq!(analyze(&shader, id, most).max_trip_count(), trips, "{most}");
    }
    assert_eq!(analyze(&shader, id, 9).outcome(9, 0), TerminatorOutcome::Stays);
}

/// Builds a condition on a counter.
type Condition<'a> = &'a dyn Fn(&mut Builder<'_>, Def) -> Def;

/// Analyses a loop that counts from zero and has one exit for each of these conditions.
fn with_exits(exits: &[Condition<'_>]) -> LoopAnalysis {
    let (shader, id) = counting_loop(|b, before| {
        let id = b.push_loop();
        let count = start_phi(b, before, Shape::new(1, 32), None);
        for exit in exits {
            let condition = exit(b, count);
            leave(b, condition, false);
        }
        let one = b.u32_const(1);
        let next = b.alu(Iadd, &[count, one]);
        end_loop(b, id, &[(count, next)]);
        (id, count)
    });
    let analysis = analyze(&shader, id, MAX_TRIPS);
    if let Some((iteration, _)) = analysis.exit {
        // Unknown values are zero when the shader is executed.
        assert!(run_count(&shader) <= iteration);
    }
    analysis
}

fn at_least(limit: u32) -> impl Fn(&mut Builder<'_>, Def) -> Def {
    move |b, counter| {
        let limit = b.u32_const(limit);
        b.alu(Uge, &[counter, limit])
    }
}

#[test]
fn several_exits() {
    let (nine, five) = (at_least(9), at_least(5));
    let analysis = with_exits(&[&nine, &five]);
    assert_eq!((analysis.exit, analysis.num_unknown_terminators()), (Some((5, 1)), 0));
    let analysis = with_exits(&[&five, &five]);
    assert_eq!(analysis.exit, Some((5, 0)));
    // An exit with an unknown outcome may precede the known one.
    let some = |b: &mut Builder<'_>, counter: Def| {
        let unknown = unknown(b);
        b.alu(Ult, &[counter, unknown])
    };
    let analysis = with_exits(&[&some, &nine]);
    assert_eq!((analysis.exit, analysis.num_unknown_terminators()), (Some((9, 1)), 1));
    assert_eq!(
        (analysis.outcome(3, 0), analysis.outcome(3, 1)),
        (TerminatorOutcome::Unknown, TerminatorOutcome::Stays)
    );
    assert_eq!(with_exits(&[&some]).exit, None);
}

#[test]
fn what_is_known_in_part() {
    // `counter >= umin(unknown, 6)`: at 6 or earlier.
    let bounded = |b: &mut Builder<'_>, counter: Def| {
        let (unknown, six) = (unknown(b), b.u32_const(6));
        let limit = b.alu(AluOp::Umin, &[unknown, six]);
        b.alu(Uge, &[counter, limit])
    };
    let analysis = with_exits(&[&bounded]);
    assert_eq!((analysis.exit, analysis.num_unknown_terminators()), (Some((6, 0)), 1));
    // With the opposite bound, the end is unknown.
    let not_bounded = |b: &mut Builder<'_>, counter: Def| {
        let (unknown, six) = (unknown(b), b.u32_const(6));
        let limit = b.alu(AluOp::Umax, &[unknown, six]);
        b.alu(Uge, &[counter, limit])
    };
    let analysis = with_exits(&[&not_bounded]);
    assert_eq!((analysis.exit, analysis.outcome(5, 0)), (None, TerminatorOutcome::Stays));
    assert_eq!(analysis.outcome(6, 0), TerminatorOutcome::Unknown);
    // Conditions composed of a known and an unknown one.
    for (op, exit) in [(AluOp::Ior, Some((7, 0))), (AluOp::Iand, None)] {
        let compound = |b: &mut Builder<'_>, counter: Def| {
            let unknown = unknown(b);
            let (some, known) = (b.alu(Ult, &[counter, unknown]), at_least(7)(b, counter));
            b.alu(op, &[some, known])
        };
        let analysis = with_exits(&[&compound]);
        assert_eq!(analysis.exit, exit, "{op}");
        let before = if op == AluOp::Iand { TerminatorOutcome::Stays } else { TerminatorOutcome::Unknown };
        assert_eq!(analysis.outcome(6, 0), before, "{op}");
    }
}

#[test]
fn components_of_vectors() {
    // (0, 10) changes by (2, -1): never equal, crossed after four iterations.
    for (op, trips) in [(Ieq, None), (Uge, Some(4))] {
        let (shader, id) = counting_loop(|b, before| {
            let shape = Shape::new(2, 32);
            let (start, step) = (b.constant(32, &[0, 10]), b.constant(32, &[2, 0xffff_ffff]));
            let id = b.push_loop();
            let count = start_phi(b, before, Shape::new(1, 32), None);
            let pair = start_phi(b, before, shape, Some(start));
            let condition = b.alu_sized(op, 1, &[AluSrc::component(pair, 0), AluSrc::component(pair, 1)]);
            leave(b, condition, false);
            let (next, one) = (b.alu(Iadd, &[pair, step]), b.u32_const(1));
            let more = b.alu(Iadd, &[count, one]);
            end_loop(b, id, &[(count, more), (pair, next)]);
            (id, count)
        });
        assert_eq!(analyze(&shader, id, MAX_TRIPS).max_trip_count(), trips, "{op}");
        if let Some(trips) = trips {
            assert_eq!(run_count(&shader), trips);
        }
    }
}

#[test]
fn steps_that_depend_on_the_iteration() {
    // The step is 1 while the counter is below 3, then 10.
    let (shader, id) = counting_loop(|b, before| {
        let id = b.push_loop();
        let count = start_phi(b, before, Shape::new(1, 32), None);
        let counter = start_phi(b, before, Shape::new(1, 32), None);
        let condition = at_least(30)(b, counter);
        leave(b, condition, false);
        let (one, three, ten) = (b.u32_const(1), b.u32_const(3), b.u32_const(10));
        let is_small = b.alu(Ult, &[counter, three]);
        let choice = b.push_if(is_small);
        let small = b.alu(Iadd, &[counter, one]);
        let first = b.block();
        b.push_else(choice);
        let large = b.alu(Iadd, &[counter, ten]);
        let second = b.block();
        b.end_if(choice);
        let next = b.phi(Shape::new(1, 32), &[(first, small), (second, large)]);
        let more = b.alu(Iadd, &[count, one]);
        end_loop(b, id, &[(count, more), (counter, next)]);
        (id, count)
    });
    assert_eq!((analyze(&shader, id, MAX_TRIPS).max_trip_count(), run_count(&shader)), (Some(6), 6));
}

#[test]
fn starts_and_limits_that_are_not_known() {
    for (start, limit) in [(true, false), (false, true)] {
        let (shader, id) = counting_loop(|b, before| {
            let some = unknown(b);
            let id = b.push_loop();
            let count = start_phi(b, before, Shape::new(1, 32), start.then_some(some));
            let end = if limit { some } else { b.u32_const(4) };
            let condition = b.alu(Uge, &[count, end]);
            leave(b, condition, false);
            let one = b.u32_const(1);
            let next = b.alu(Iadd, &[count, one]);
            end_loop(b, id, &[(count, next)]);
            (id, count)
        });
        let analysis = analyze(&shader, id, MAX_TRIPS);
        assert_eq!((analysis.exit, analysis.outcome(0, 0)), (None, TerminatorOutcome::Unknown));
        assert_eq!(analysis.num_unknown_terminators(), 1);
    }
}

#[test]
fn a_break_at_the_end() {
    let (shader, id) = counting_loop(|b, _| {
        let id = b.push_loop();
        let count = b.u32_const(0);
        b.jump(JumpKind::Break);
        b.end_loop(id);
        (id, count)
    });
    let analysis = analyze(&shader, id, MAX_TRIPS);
    assert_eq!((analysis.exit, analysis.terminators[0].node), (Some((0, 0)), None));
}

#[test]
fn complex_loops() {
    // A `continue` before the end; a `break` within another `if`.
    for kind in [JumpKind::Continue, JumpKind::Break] {
        let (shader, id) = counting_loop(|b, before| {
            let id = b.push_loop();
            let count = start_phi(b, before, Shape::new(1, 32), None);
            let condition = at_least(4)(b, count);
            leave(b, condition, false);
            let one = b.u32_const(1);
            let next = b.alu(Iadd, &[count, one]);
            let condition = at_least(2)(b, count);
            let outer = b.push_if(condition);
            let condition = at_least(3)(b, count);
            let inner = b.push_if(condition);
            if kind == JumpKind::Continue {
                let block = b.block();
                b.body.add_phi_source(b.body.def_inst(count), block, next);
            }
            b.jump(kind);
            b.end_if(inner);
            b.end_if(outer);
            end_loop(b, id, &[(count, next)]);
            (id, count)
        });
        let analysis = analyze(&shader, id, MAX_TRIPS);
        assert!(analysis.is_complex && analysis.terminators.is_empty(), "{kind:?}");
        assert_eq!(analysis.max_trip_count(), None);
    }
}

#[test]
fn a_guess_from_an_array() {
    let (shader, id) = counting_loop(|b, before| {
        let array = b.decl_reg(Shape::new(1, 32), 6);
        let id = b.push_loop();
        let count = start_phi(b, before, Shape::new(1, 32), None);
        let indices = [(IndexKind::Base, 2)];
        let value = b.intrinsic_def(IntrinsicOp::LoadRegIndirect, &[array, count], &indices, Shape::new(1, 32));
        let one = b.u32_const(1);
        let condition = b.alu(Ieq, &[value, one]);
        leave(b, condition, false);
        let next = b.alu(Iadd, &[count, one]);
        end_loop(b, id, &[(count, next)]);
        (id, count)
    });
    let analysis = analyze(&shader, id, MAX_TRIPS);
    // Elements 2 to 5.
    assert_eq!((analysis.exit, analysis.guessed_trip_count()), (None, Some(4)));
    assert!(analysis.indexes(VariableModes::FUNCTION_TEMP) && !analysis.walks_array());
}
