//! Evaluates both sides of every algebraic rule, in every size that it supports.
//!
//! The search and the replacement of a rule are evaluated with [`evaluate`] on values that satisfy its conditions: all
//! values if the variables have at most 16 bits in total, otherwise special values (zeros, ones, infinities, NaN,
//! denormals, extremes, powers of two, neighbours of the rule's literals) and random ones.
//!
//! * `exact`: the same bits; all NaNs are equal, because a star covers the quieting of NaNs.
//! * `nsz`: the same, except for the sign of zero.
//! * `inexact`, `lowering`: for random floats of everyday magnitude for which the search gives a finite number, the
//!   difference is at most [`ULPS`] units in the last place of the largest intermediate value ([`ULPS16`] if anything
//!   has 16 bits; units of 32 bits for 64-bit functions that are computed in 32 bits). One sample in [`OUTLIERS`] may
//!   exceed this, because the position of a jump of the result (a comparison, a floor) may differ.
//!
//! Values for which the opcode tables leave the search undefined (bit fields out of range) are skipped; see
//! [`undefined`].

#[path = "support/rule_values.rs"]
mod rule_values;

use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tgsi_ir::algebra::{
    Class, Condition, LATE, Literal, MAIN, MODIFIERS, Node, Predicate, RootPredicate, Rule, RuleSet,
};
use tgsi_ir::alu::{AluOp, BaseType, ExecutionMode, evaluate};
use tgsi_ir::options::CompilerOptions;

use crate::rule_shapes::{Random, SIZES, node_size, own_size, size_of, sizes_fit, wanted_count, width};
use rule_values::{everyday_float, mask, signed, special_float, special_integer, to_f64, typical_float};

/// Maximum number of components of a value.
const WIDTH: usize = 16;
/// Total bits of all variables up to which all values are tested.
const EXHAUSTIVE_BITS: u32 = 16;
/// Number of samples for each rule and size if there are more values.
const SAMPLES: usize = 1000;
/// A rule with fewer samples that satisfy its conditions counts as not tested.
const FEWEST_SAMPLES: usize = 20;
/// Number of attempts for every sample.
const TRIES: usize = 300;
/// Bound for inexact results.
const ULPS: f64 = 256.0;
/// The same for 16 bits, where there are fewer units.
const ULPS16: f64 = 48.0;
/// One inexact sample out of this number may exceed the bound.
const OUTLIERS: usize = 20;
/// Number of failures that are printed.
const SHOWN: usize = 60;

type Value = [u64; WIDTH];

/// An instruction of a rule, prepared for evaluation.
enum RuleInstruction {
    Variable { index: usize, select: Option<&'static [u8]>, count: usize },
    Literal(u64),
    Op { op: AluOp, bits: u8, count: usize, sources: Vec<usize>, widths: Vec<usize> },
}

/// An expression as a list of steps; the last one gives its value.
#[derive(Default)]
struct Program {
    steps: Vec<RuleInstruction>,
    /// For each step, the size of the result if it is a float, otherwise 0.
    floats: Vec<u8>,
    /// Number of components of the value.
    count: usize,
    /// Execution mode of the evaluation.
    mode: ExecutionMode,
}

/// A rule with all sizes chosen.
struct Instance {
    set: &'static RuleSet,
    rule: &'static Rule,
    sizes: [u8; 8],
    search: Program,
    replacement: Program,
    conditions: Vec<Program>,
    /// Constants with a value determined by a condition.
    computed: Vec<(usize, Program)>,
    predicates: Vec<(Predicate, usize)>,
    /// Size, kind and use of the variables; size 0 if there is no such variable.
    variables: [Variable; 8],
    /// Number of components of variables.
    width: usize,
    /// Whether some opcode computes in 32 bits for a 64-bit result.
    single: bool,
    /// Whether one of the expressions computes in 16 bits where the other does not.
    medium: bool,
    result_size: u8,
    result_float: bool,
    literals: Vec<Literal>,
}

#[derive(Clone, Copy, Default)]
struct Variable {
    size: u8,
    float: bool,
    integer: bool,
    boolean: bool,
    constant: bool,
}

fn compile(set: &RuleSet, node: u16, count: usize, sizes: &[u8; 8], program: &mut Program) -> usize {
    let (step, float) = match set.nodes[usize::from(node)] {
        Node::Variable { index, select, .. } => {
            (RuleInstruction::Variable { index: usize::from(index), select, count }, 0)
        }
        Node::Literal { literal, size } => (RuleInstruction::Literal(literal.bits(size_of(size, sizes), sizes[0])), 0),
        Node::Op { op, operands, .. } => {
            let info = op.info();
            let count = if info.output_size == 0 { count } else { usize::from(info.output_size) };
            let mut sources = Vec::new();
            let mut widths = Vec::new();
            for (number, &operand) in set.operands_of(operands).iter().enumerate() {
                let width = if info.input_sizes[number] == 0 { count } else { usize::from(info.input_sizes[number]) };
                sources.push(compile(set, operand, width, sizes, program));
                widths.push(width);
            }
            let selects = info.name.ends_with("csel");
            let float = match info.output_type.base {
                BaseType::Float => node_size(set, node, sizes),
                _ if selects => sources.iter().map(|&s| program.floats[s]).max().unwrap_or(0),
                _ => 0,
            };
            (RuleInstruction::Op { op, bits: own_size(set, node, sizes).unwrap_or(32), count, sources, widths }, float)
        }
    };
    program.steps.push(step);
    program.floats.push(float);
    program.steps.len() - 1
}

fn program(set: &RuleSet, node: u16, count: usize, sizes: &[u8; 8]) -> Program {
    let mut program = Program { count, ..Program::default() };
    compile(set, node, count, sizes, &mut program);
    program
}

/// Whether the result of an opcode is undefined for these operands.
fn undefined(op: AluOp, bits: u8, operands: &[&[u64]], exact: bool) -> bool {
    let field = |offset: u64, width: u64| {
        let (offset, width) = (signed(offset, 32), signed(width, 32));
        offset < 0 || width < 0 || offset + width > 32
    };
    let info = op.info();
    // Booleans of more than one bit are all zeros or all ones.
    let no_boolean = info.input_types.iter().zip(operands).any(|(kind, operand)| {
        let size = if kind.bit_size == 0 { bits } else { kind.bit_size };
        kind.base == BaseType::Bool && operand.iter().any(|&v| v != 0 && v != mask(size))
    });
    no_boolean
        || match op {
            AluOp::UbitfieldExtract | AluOp::IbitfieldExtract => field(operands[1][0], operands[2][0]),
            AluOp::BitfieldInsert => field(operands[2][0], operands[3][0]),
            AluOp::UdivAligned4 => operands[0][0] & 3 != 0,
            AluOp::I2imp if !exact => signed(operands[0][0], 32) != i64::from(operands[0][0] as i16),
            _ if !exact && info.numeric_conversion && info.input_types[0].base == BaseType::Float => {
                let value = to_f64(operands[0][0], bits);
                let size = i32::from(info.output_type.bit_size);
                match info.output_type.base {
                    BaseType::Int => value.is_nan() || value.abs() >= 2f64.powi(size - 1),
                    BaseType::Uint => value.is_nan() || value <= -1.0 || value >= 2f64.powi(size),
                    _ => false,
                }
            }
            _ => false,
        }
}

/// Evaluates the steps into `slots`. Returns whether all results are defined.
fn run(program: &Program, variables: &[Value; 8], slots: &mut Vec<Value>, exact: bool) -> bool {
    slots.clear();
    let mut defined = true;
    for step in &program.steps {
        let mut value = [0; WIDTH];
        match step {
            RuleInstruction::Variable { index, select, count } => {
                let from = &variables[*index];
                match *select {
                    Some(&[component]) => value[..*count].fill(from[usize::from(component)]),
                    Some(list) => list.iter().enumerate().for_each(|(i, &c)| value[i] = from[usize::from(c)]),
                    None => value[..*count].copy_from_slice(&from[..*count]),
                }
            }
            RuleInstruction::Literal(bits) => value.fill(*bits),
            RuleInstruction::Op { op, bits, count, sources, widths } => {
                let empty: &[u64] = &[];
                let mut operands = [empty; WIDTH];
                for (i, (&source, &width)) in sources.iter().zip(widths).enumerate() {
                    operands[i] = &slots[source][..width];
                }
                let operands = &operands[..sources.len()];
                defined &= !undefined(*op, *bits, operands, exact);
                evaluate(*op, *bits, *count as u8, operands, program.mode, &mut value[..*count]);
            }
        }
        slots.push(value);
    }
    defined
}

/// Records the uses of variables in an expression, and its literals.
fn survey(set: &RuleSet, node: u16, expected: BaseType, instance: &mut Instance) {
    match set.nodes[usize::from(node)] {
        Node::Variable { index, constant, size, .. } => {
            let size = size_of(size, &instance.sizes);
            let variable = &mut instance.variables[usize::from(index)];
            variable.size = size;
            variable.constant |= constant;
            match expected {
                BaseType::Float => variable.float = true,
                BaseType::Bool => variable.boolean = true,
                _ => variable.integer = true,
            }
        }
        Node::Literal { literal, .. } => instance.literals.push(literal),
        Node::Op { op, operands, .. } => {
            let single = ["exp", "log", "pow", "sin", "cos", "mod", "rem"];
            instance.single |= single.iter().any(|word| op.name().contains(word));
            let info = op.info();
            instance.medium |= info.name.ends_with("mp");
            let selects = info.name.ends_with("csel");
            for (i, &operand) in set.operands_of(operands).iter().enumerate() {
                // Operands of a selection have the type expected of the result.
                let kind = if selects && i > 0 { expected } else { info.input_types[i].base };
                survey(set, operand, kind, instance);
            }
        }
    }
}

fn instances(set: &'static RuleSet) -> Vec<Instance> {
    let mut list = Vec::new();
    for rule in set.rules {
        let before = list.len();
        let combinations = SIZES.len().pow(u32::from(rule.unknowns));
        for number in 0..combinations {
            let mut sizes = [0; 8];
            let mut rest = number;
            for size in &mut sizes[..usize::from(rule.unknowns)] {
                *size = SIZES[rest % SIZES.len()];
                rest /= SIZES.len();
            }
            let main = SIZES.iter().position(|&s| s == sizes[0]);
            if main.is_some_and(|i| rule.sizes >> i & 1 == 0) || !sizes_fit(set, rule.search, &sizes) {
                continue;
            }
            let place = format!("{}:{}", set.file, rule.line);
            assert!(
                sizes_fit(set, rule.replacement, &sizes),
                "{place}: the replacement does not have the sizes {sizes:?}"
            );
            let count = wanted_count(set, rule.search).unwrap_or(1);
            let mut instance = Instance {
                set,
                rule,
                sizes,
                search: program(set, rule.search, count, &sizes),
                replacement: program(set, rule.replacement, count, &sizes),
                conditions: Vec::new(),
                computed: Vec::new(),
                predicates: Vec::new(),
                variables: Default::default(),
                width: width(set, rule.search),
                single: false,
                medium: false,
                result_size: node_size(set, rule.search, &sizes),
                result_float: false,
                literals: Vec::new(),
            };
            assert_eq!(instance.result_size, node_size(set, rule.replacement, &sizes), "{place}: size of the result");
            let last = |p: &Program| p.floats.last().is_some_and(|&size| size != 0);
            instance.result_float = last(&instance.search) || last(&instance.replacement);
            let expected = if instance.result_float { BaseType::Float } else { BaseType::Uint };
            survey(set, rule.search, expected, &mut instance);
            survey(set, rule.replacement, expected, &mut instance);
            for condition in set.conditions_of(rule) {
                match *condition {
                    Condition::Variable(predicate, index) => instance.predicates.push((predicate, usize::from(index))),
                    Condition::Constant(node) => {
                        instance.conditions.push(program(set, node, 1, &sizes));
                        survey(set, node, BaseType::Uint, &mut instance);
                        instance.computed.extend(solved(set, node, &sizes));
                    }
                    Condition::Once(_) | Condition::IsNot(..) | Condition::Root(_) => {}
                }
            }
            list.push(instance);
        }
        assert!(list.len() > before, "{}:{}: no sizes fit", set.file, rule.line);
    }
    list
}

/// A condition `ieq(K, ...)` determines the value of K.
fn solved(set: &RuleSet, node: u16, sizes: &[u8; 8]) -> Option<(usize, Program)> {
    let Node::Op { op: AluOp::Ieq, operands, .. } = set.nodes[usize::from(node)] else { return None };
    let &[left, right] = set.operands_of(operands) else { return None };
    let Node::Variable { index, .. } = set.nodes[usize::from(left)] else { return None };
    matches!(set.nodes[usize::from(right)], Node::Op { .. })
        .then(|| (usize::from(index), program(set, right, 1, sizes)))
}

fn satisfies(predicate: Predicate, bits: u64, size: u8) -> bool {
    let value = if size >= 16 { to_f64(bits, size) } else { 0.0 };
    let integer = signed(bits, size);
    match predicate {
        Predicate::NotConstant => true,
        Predicate::Number => !value.is_nan(),
        Predicate::Finite => value.is_finite(),
        Predicate::Nonnegative => value.is_nan() || value >= 0.0,
        Predicate::NonnegativeNumber => value >= 0.0,
        Predicate::Integral => !value.is_finite() || value == value.trunc(),
        Predicate::FiniteNonzero => value.is_finite() && value != 0.0,
        Predicate::ZeroToOne => (0.0..=1.0).contains(&value) && !value.is_sign_negative(),
        Predicate::Above0Below1 => value > 0.0 && value < 1.0,
        Predicate::PositivePowerOf2 => integer > 0 && integer & (integer - 1) == 0,
        Predicate::NegativePowerOf2 => {
            let magnitude = integer.wrapping_neg();
            magnitude > 0 && magnitude & (magnitude - 1) == 0 && bits != 1 << (size - 1)
        }
        Predicate::Odd => bits & 1 != 0,
    }
}

impl Instance {
    fn exact(&self) -> bool {
        self.rule.class <= Class::NoSignedZero
    }

    fn place(&self) -> String {
        let sizes = &self.sizes[..usize::from(self.rule.unknowns)];
        format!("{}:{} (sizes {sizes:?})", self.set.file, self.rule.line)
    }

    fn component(&self, random: &mut Random, variable: Variable) -> u64 {
        let Variable { size, float, integer, boolean, .. } = variable;
        if size == 1 {
            return random.next() & 1;
        }
        if boolean && !float && !integer {
            return if random.next() & 1 == 0 { 0 } else { mask(size) };
        }
        let as_float = size >= 16 && float && !(integer && random.below(3) == 0);
        if !self.exact() {
            return if as_float { everyday_float(random, size) } else { special_integer(random, size) };
        }
        match random.below(8) {
            0 if !self.literals.is_empty() => {
                // A literal or a neighbouring number.
                let literal = self.literals[random.below(self.literals.len())].bits(size, self.sizes[0]);
                literal.wrapping_add(random.below(3) as u64).wrapping_sub(1) & mask(size)
            }
            kind @ 1..=6 if as_float => {
                if kind < 4 {
                    special_float(random, size)
                } else {
                    everyday_float(random, size)
                }
            }
            1..=5 => special_integer(random, size),
            _ => random.next() & mask(size),
        }
    }

    /// Generates values of the variables; some of them are equal or nearly equal.
    #[allow(clippy::needless_range_loop, reason = "a component of several variables at once")]
    fn sample(&self, random: &mut Random, variables: &mut [Value; 8]) {
        for index in 0..8 {
            let variable = self.variables[index];
            if variable.size == 0 {
                continue;
            }
            // Vectors that differ in few components.
            let nearly_equal = self.width > 1 && index > 0 && random.below(2) == 0;
            for component in 0..self.width {
                let other = random.below(8);
                let first = variables[0][component];
                let near = variables[other][component];
                let alike = |other: usize| other < index && self.variables[other].size == variable.size;
                variables[index][component] = if nearly_equal && alike(0) && random.below(8) > 0 {
                    first
                } else if alike(other) && !variable.boolean && random.below(6) == 0 {
                    let top = 1u64 << (variable.size - 1);
                    random.pick(&[near, near, near ^ top, !near, near.wrapping_add(1), near.wrapping_neg()])
                        & mask(variable.size)
                } else {
                    self.component(random, variable)
                };
            }
        }
    }

    /// Whether the conditions hold. Sets constants that a condition determines.
    fn holds(&self, variables: &mut [Value; 8], slots: &mut Vec<Value>, solve: bool) -> bool {
        if solve {
            for (index, value) in &self.computed {
                run(value, variables, slots, true);
                variables[*index][0] = slots.last().map_or(0, |v| v[0]);
            }
        }
        let predicates = self.predicates.iter().all(|&(predicate, index)| {
            variables[index][..self.width].iter().all(|&v| satisfies(predicate, v, self.variables[index].size))
        });
        predicates
            && self.conditions.iter().all(|condition| {
                run(condition, variables, slots, true);
                slots.last().is_some_and(|v| v[0] != 0)
            })
    }

    /// Whether both sides agree; `None` if the sample decides nothing.
    fn agrees(&self, variables: &[Value; 8], slots: &mut Vec<Value>, found: &mut (Value, Value)) -> Option<bool> {
        let exact = self.exact();
        if !run(&self.search, variables, slots, exact) {
            return None;
        }
        found.0 = *slots.last()?;
        let mut scale = if exact { 0.0 } else { magnitude(&self.search, slots) };
        run(&self.replacement, variables, slots, true);
        found.1 = *slots.last()?;
        if !exact {
            scale = magnitude(&self.replacement, slots).max(scale);
        }
        let size = self.result_size;
        let mut agree = true;
        for (&left, &right) in found.0.iter().zip(&found.1).take(self.search.count) {
            agree &= left == right
                || self.result_float && {
                    let (x, y) = (to_f64(left, size), to_f64(right, size));
                    match self.rule.class {
                        Class::Exact => x.is_nan() && y.is_nan(),
                        Class::NoSignedZero => x.is_nan() && y.is_nan() || x == 0.0 && y == 0.0,
                        // The result is not a finite number.
                        _ if !x.is_finite() || !scale.is_finite() => return None,
                        _ => (x - y).abs() <= self.bound(size) * scale.max(x.abs()),
                    }
                }
                || !exact && !self.result_float && size > 1 && {
                    let difference = signed(left, size).abs_diff(signed(right, size)).min(left.abs_diff(right));
                    difference as f64 <= self.bound(32) * left as f64
                };
        }
        Some(agree)
    }

    fn bound(&self, size: u8) -> f64 {
        match size {
            _ if size == 16 || self.medium => ULPS16 / 1024.0,
            64 if !self.single => ULPS * 2f64.powi(-52),
            _ => ULPS * 2f64.powi(-23),
        }
    }

    fn check(&self, seed: u64) -> RuleOutcome {
        let mut outcome = RuleOutcome::default();
        let mut variables = [[0; WIDTH]; 8];
        let mut slots = Vec::new();
        let mut found = ([0; WIDTH], [0; WIDTH]);
        let bits: u32 = self.variables.iter().map(|v| u32::from(v.size)).sum();
        let exhaustive = self.exact() && self.width == 1 && bits <= EXHAUSTIVE_BITS;
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let tries = if exhaustive { 1 << bits } else { SAMPLES * TRIES };
        for number in 0..tries {
            if exhaustive {
                let mut rest = number as u64;
                for (value, variable) in variables.iter_mut().zip(&self.variables) {
                    value[0] = rest & mask(variable.size);
                    rest >>= variable.size;
                }
            } else {
                if outcome.valid == SAMPLES {
                    break;
                }
                self.sample(&mut random, &mut variables);
            }
            if !self.holds(&mut variables, &mut slots, !exhaustive) {
                continue;
            }
            match self.agrees(&variables, &mut slots, &mut found) {
                None => continue,
                Some(true) => {}
                Some(false) => {
                    outcome.wrong += 1;
                    if outcome.example.is_empty() {
                        outcome.example = self.describe(&variables, &found);
                    }
                }
            }
            outcome.valid += 1;
        }
        if !exhaustive && outcome.valid < FEWEST_SAMPLES {
            outcome.failure = format!("{}\n    only {} values satisfy the conditions", self.place(), outcome.valid);
        } else if outcome.wrong > if self.exact() { 0 } else { outcome.valid / OUTLIERS } {
            let RuleOutcome { wrong, valid, ref example, .. } = outcome;
            outcome.failure = format!("{}\n    {wrong} of {valid} wrong: {example}", self.place());
        }
        outcome
    }

    fn describe(&self, variables: &[Value; 8], found: &(Value, Value)) -> String {
        let mut text = String::new();
        let show = |text: &mut String, value: &Value, size: u8, float: bool, count: usize| {
            for &bits in &value[..count] {
                let _ = write!(text, " {bits:#x}");
                if float && size >= 16 {
                    let _ = write!(text, " ({:?})", to_f64(bits, size));
                }
            }
        };
        for (number, variable) in self.variables.iter().enumerate().filter(|(_, v)| v.size != 0) {
            let _ = write!(text, "variable {number} =");
            show(&mut text, &variables[number], variable.size, variable.float, self.width);
            text.push_str(", ");
        }
        text.push_str("search");
        show(&mut text, &found.0, self.result_size, self.result_float, self.search.count);
        text.push_str(", replacement");
        show(&mut text, &found.1, self.result_size, self.result_float, self.search.count);
        text
    }
}

/// Introduces an error into the last step where that matters. Returns whether there is one.
fn spoil(program: &mut Program) -> bool {
    for step in program.steps.iter_mut().rev() {
        match step {
            RuleInstruction::Literal(bits) => {
                *bits ^= 1;
                return true;
            }
            RuleInstruction::Op { op, sources, widths, .. }
                if !op.is_commutative01() && !op.is_vec() && sources.len() >= 2 && widths[0] == widths[1] =>
            {
                sources.swap(0, 1);
                return true;
            }
            RuleInstruction::Op { op, .. } => {
                let other = match op {
                    AluOp::Iadd => AluOp::Ior,
                    AluOp::Iand => AluOp::Ixor,
                    AluOp::Ior | AluOp::Ixor => AluOp::Iand,
                    AluOp::Fmin => AluOp::Fmax,
                    AluOp::Fmax | AluOp::Fmul => AluOp::Fadd,
                    AluOp::Fadd => AluOp::Fmul,
                    AluOp::Feq => AluOp::Fneu,
                    AluOp::Fneu => AluOp::Feq,
                    AluOp::Ieq => AluOp::Ine,
                    AluOp::Ine => AluOp::Ieq,
                    AluOp::Inot => AluOp::Ineg,
                    AluOp::Fneg => AluOp::Fabs,
                    AluOp::Fabs => AluOp::Fneg,
                    _ => continue,
                };
                *op = other;
                return true;
            }
            RuleInstruction::Variable { .. } => {}
        }
    }
    false
}

/// The largest intermediate float.
fn magnitude(program: &Program, slots: &[Value]) -> f64 {
    program.floats.iter().zip(slots).filter(|(size, _)| **size != 0).fold(0.0, |largest, (&size, value)| {
        value[..4].iter().fold(largest, |largest: f64, &v| {
            let value = to_f64(v, size).abs();
            // NaN counts as infinite.
            if value <= largest {
                largest
            } else if value.is_nan() {
                f64::INFINITY
            } else {
                value
            }
        })
    })
}

#[derive(Default)]
struct RuleOutcome {
    valid: usize,
    wrong: usize,
    example: String,
    failure: String,
}

/// Checks the test above: rules with an error in the replacement fail. A few errors have no effect (`inot` for `ineg`
/// of 1 bit, an ignored bit of a shift count, operands that conditions make interchangeable).
#[test]
fn errors_are_found() {
    let (mut spoilt, mut missed) = (0, Vec::new());
    for (number, mut instance) in instances(&MAIN).into_iter().enumerate().filter(|(number, _)| number % 9 == 0) {
        let bits: u32 = instance.variables.iter().map(|v| u32::from(v.size)).sum();
        if !instance.exact() || (8..=EXHAUSTIVE_BITS).contains(&bits) || !spoil(&mut instance.replacement) {
            continue;
        }
        spoilt += 1;
        if instance.check(number as u64).wrong == 0 {
            missed.push(instance.place());
        }
    }
    println!("{spoilt} rules spoilt, {} times unnoticed:\n{}", missed.len(), missed.join("\n"));
    assert!(spoilt > 100 && missed.len() * 20 < spoilt);
}

#[test]
fn both_sides_of_every_rule_agree() {
    let sets = [&MAIN, &LATE, &MODIFIERS];
    let instances: Vec<Instance> = sets.into_iter().flat_map(instances).collect();
    let next = AtomicUsize::new(0);
    let samples = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get()).min(8);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(instance) = instances.get(number) else { break };
                    let outcome = instance.check(number as u64 + 1);
                    samples.fetch_add(outcome.valid, Ordering::Relaxed);
                    if !outcome.failure.is_empty() {
                        failures.lock().unwrap().push((number, outcome.failure));
                    }
                }
            });
        }
    });
    for set in sets {
        let mut lines: Vec<u32> = set.rules.iter().map(|rule| rule.line).collect();
        lines.dedup();
        println!("{}: {} rules, {} with conversions spelled out", set.file, lines.len(), set.rules.len());
    }
    println!("{} instances by size, {} samples", instances.len(), samples.into_inner());
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    for (_, failure) in failures.iter().take(SHOWN) {
        println!("{failure}");
    }
    assert!(failures.is_empty(), "{} instances fail", failures.len());
}

/// Whether both are NaN, the same infinity, or approximately equal numbers, including denormals rounded once or twice.
fn about_the_same(left: f64, right: f64) -> bool {
    let usual = |v: f64| v == 0.0 || v.abs() >= f64::from(f32::MIN_POSITIVE);
    let near = (left - right).abs() <= (1e-3 * left.abs().max(right.abs())).max(1e-5);
    let rounded = (left - right).abs() <= f64::from(f32::from_bits(1));
    left == right || left.is_nan() && right.is_nan() || usual(left) && usual(right) && near || rounded
}

/// Inexact rules that do not require `fast_math` are also harmless for typical numbers: they preserve NaN, infinities
/// and the sign of zero.
#[test]
fn inexact_rules_keep_special_values() {
    let switches = CompilerOptions { fast_math: true, ..CompilerOptions::default() }.switches();
    let fast_math = switches & !CompilerOptions::default().switches();
    let switches = CompilerOptions { fuse_mad: true, fuse_ffma: true, ..CompilerOptions::default() }.switches();
    let fused = switches & !CompilerOptions::default().switches();
    let mut failures = Vec::new();
    for (number, instance) in [&MAIN, &LATE, &MODIFIERS].into_iter().flat_map(instances).enumerate() {
        let floats = instance.variables.iter().any(|v| v.float && v.size == 32);
        let others = instance.variables.iter().any(|v| v.size > 1 && v.size != 32);
        if instance.rule.class != Class::Inexact || instance.rule.on() & fast_math != 0 || !floats || others {
            continue;
        }
        // The order of a sum affects the sign of zero, just as it affects terms that are lost next to large ones.
        let any_zero = instance.rule.on() & fused != 0
            || instance.set.conditions_of(instance.rule).contains(&Condition::Root(RootPredicate::AnyZero));
        let (mut variables, mut slots) = ([[0; WIDTH]; 8], Vec::new());
        let mut random = Random(number as u64 | 1);
        let (mut valid, mut wrong) = (0, String::new());
        for _ in 0..SAMPLES * TRIES {
            instance.sample(&mut random, &mut variables);
            for (value, variable) in variables.iter_mut().zip(&instance.variables) {
                // Some keep their values, which may equal another one or a literal.
                if variable.float && variable.size == 32 && random.below(8) > 0 {
                    value[..instance.width].iter_mut().for_each(|v| *v = typical_float(&mut random));
                }
            }
            if !instance.holds(&mut variables, &mut slots, true) || !run(&instance.search, &variables, &mut slots, true)
            {
                continue;
            }
            let Some(&left) = slots.last() else { continue };
            // Rules that form multiply-adds change the order of sums: small terms next to cancelling products may be
            // lost.
            let largest =
                slots.iter().map(|slot| to_f64(slot[0], 32).abs()).filter(|v| v.is_finite()).fold(0.0, f64::max);
            let lost = if instance.rule.on() & fused != 0 { 1e-6 * largest } else { 0.0 };
            run(&instance.replacement, &variables, &mut slots, true);
            let Some(&right) = slots.last() else { continue };
            valid += 1;
            let same = left.iter().zip(&right).take(instance.search.count).all(|(&x, &y)| {
                let (left, right) = (to_f64(x, 32), to_f64(y, 32));
                let same_zeros = any_zero || left != 0.0 || right != 0.0;
                let near = about_the_same(left, right) || (left - right).abs() <= lost;
                x == y || instance.result_float && near && same_zeros
            });
            if !same {
                wrong = instance.describe(&variables, &(left, right));
            }
            if valid == 20 * SAMPLES || !same {
                break;
            }
        }
        if !wrong.is_empty() {
            failures.push(format!("{}\n    {wrong}", instance.place()));
        }
    }
    for failure in &failures {
        println!("{failure}");
    }
    assert!(failures.is_empty(), "{} rules should ask for fast_math", failures.len());
}

/// Rules without a star are also exact bit by bit if denormal results are flushed to zero, for operands that are not
/// denormal. (The float instructions of such a target read denormal operands as zero.)
#[test]
fn rules_without_star_hold_without_denormals() {
    let flush = ExecutionMode(0b111 << 12);
    let mut failures = Vec::new();
    for (number, mut instance) in [&MAIN, &LATE, &MODIFIERS].into_iter().flat_map(instances).enumerate() {
        let floats = instance.variables.iter().any(|v| v.float && v.size == 32);
        if instance.rule.class != Class::Exact || instance.rule.star || !floats {
            continue;
        }
        instance.search.mode = flush;
        instance.replacement.mode = flush;
        let mut random = Random(number as u64 | 1);
        let (mut variables, mut slots, mut found) = ([[0; WIDTH]; 8], Vec::new(), ([0; WIDTH], [0; WIDTH]));
        for _ in 0..4000 {
            instance.sample(&mut random, &mut variables);
            let denormal = variables.iter().zip(&instance.variables).any(|(value, variable)| {
                let smallest = f64::from(if variable.size == 16 { 1.0 / 16384.0 } else { f32::MIN_POSITIVE });
                let denormal = |bits: u64| match variable.size {
                    16 | 32 => to_f64(bits, variable.size) != 0.0 && to_f64(bits, variable.size).abs() < smallest,
                    64 => f64::from_bits(bits).is_subnormal(),
                    _ => false,
                };
                value[..instance.width].iter().any(|&bits| denormal(bits))
            });
            if denormal || !instance.holds(&mut variables, &mut slots, true) {
                continue;
            }
            if instance.agrees(&variables, &mut slots, &mut found) == Some(false) {
                failures.push(format!("{}\n    {}", instance.place(), instance.describe(&variables, &found)));
                break;
            }
        }
    }
    println!("{}", failures.join("\n"));
    assert!(failures.is_empty(), "{} instances fail", failures.len());
}
