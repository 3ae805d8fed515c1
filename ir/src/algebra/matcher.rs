//! Finds the rule that applies to an instruction.

use arrayvec::ArrayVec;

use super::{Class, Condition, Literal, Node, Predicate, RootPredicate, Rule, RuleSet};
use crate::alu::{AluOp, BaseType, ExecutionMode, evaluate};
use crate::analysis::float_range::FloatRanges;
use crate::analysis::sign_of_zero::sign_of_zero_matters;
use crate::body::{AluFlags, Body, InstData, MAX_COMPONENTS, Swizzle};
use crate::builder::AluSrc;
use crate::entities::{Def, Inst, Use, User};
use crate::options::CompilerOptions;
use crate::shader::Shader;

/// The maximum number of variables, labels and open sizes of a rule. The build script has the same limits.
const MAX_VARIABLES: usize = 8;

/// A rule that matches an instruction, with the bindings of its search.
#[derive(Clone, Debug)]
pub struct Match {
    /// Number of the rule in its set.
    pub rule: u16,
    variables: [AluSrc; MAX_VARIABLES],
    /// Mask of the variables that are bound.
    bound: u8,
    /// The values of the open sizes.
    pub sizes: [u8; MAX_VARIABLES],
    /// The union of the flags of all matched instructions, without the no-wrap flags of integers.
    pub flags: AluFlags,
    labels: [Option<Inst>; MAX_VARIABLES],
}

impl Match {
    /// Returns the value bound to a variable.
    pub fn variable(&self, index: u8) -> Option<AluSrc> {
        let index = usize::from(index) % MAX_VARIABLES;
        (self.bound >> index & 1 != 0).then(|| self.variables[index])
    }

    /// Returns the value bound to a variable, or the components of it that a replacement selects. A single component is
    /// broadcast.
    pub(super) fn selected(&self, index: u8, select: Option<&[u8]>) -> Option<AluSrc> {
        let source = self.variable(index)?;
        Some(match select {
            Some(&[component]) => AluSrc::component(source.def, source.swizzle.get(usize::from(component))),
            Some(list) => AluSrc::new(source.def, Swizzle::new(list).compose(source.swizzle)),
            None => source,
        })
    }

    /// Returns the number of bits of a size.
    pub fn size(&self, size: u8) -> u8 {
        if size & 0x80 == 0 { size } else { self.sizes[usize::from(size & 0x7f) % MAX_VARIABLES] }
    }

    /// Unifies a size with a number of bits; returns false if they differ.
    fn unify(&mut self, size: u8, bits: u8) -> bool {
        if size & 0x80 == 0 {
            return size == bits;
        }
        let known = &mut self.sizes[usize::from(size & 0x7f) % MAX_VARIABLES];
        if *known == 0 {
            *known = bits;
        }
        *known == bits
    }
}

/// A set of rules, specialised for a target and a shader.
pub struct Matcher {
    set: &'static RuleSet,
    /// The switches of the target that are on.
    switches: u128,
    mode: ExecutionMode,
    /// A rule must require one of these switches; 0: no such restriction.
    asked: u128,
    keeps_rounding: bool,
    found: Vec<(u16, u8)>,
}

impl Matcher {
    /// Creates a matcher for the rules of a set that a target enables for a shader.
    pub fn new(set: &'static RuleSet, options: &CompilerOptions, shader: &Shader) -> Matcher {
        let keeps_rounding = options.keeps_rounding(shader.stage);
        let options = &CompilerOptions { keep_rounding: keeps_rounding, ..options.clone() };
        let mode = shader.info.float_controls_execution_mode;
        Matcher { set, switches: options.switches(), asked: 0, mode, keeps_rounding, found: Vec::new() }
    }

    /// Restricts the matcher to the rules that lower operations missing on the target.
    #[must_use]
    pub fn only_lowering(self) -> Matcher {
        let is_lowering = |(_, name): &(usize, &&str)| name.starts_with("lower_");
        let lowering = CompilerOptions::SWITCHES.iter().enumerate().filter(is_lowering);
        Matcher { asked: lowering.fold(0, |mask, (number, _)| mask | 1 << number), ..self }
    }

    /// Returns the set.
    pub fn set(&self) -> &'static RuleSet {
        self.set
    }

    /// Returns the first rule of the set that applies to an instruction.
    pub fn find(&mut self, body: &Body, ranges: &mut FloatRanges, inst: Inst) -> Option<Match> {
        let op = body.alu_op(inst)?;
        let def = body.inst_def(inst)?;
        let node = self.set.roots[op as usize];
        if node == 0 {
            return None;
        }
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let mut met = [def; MAX_VARIABLES];
        self.walk(body, node, PendingOperands::new(body, inst, None), (&mut met, 0), &mut found);
        found.sort_unstable();
        let result = found.iter().find_map(|&(rule, swapped)| self.check(body, ranges, inst, rule, swapped));
        self.found = found;
        result
    }

    /// Continues matching from `start` with the pending operands; `met` holds the variables bound so far. Recursion
    /// depth is bounded by the longest rule.
    fn walk(
        &self,
        body: &Body,
        start: u16,
        start_pending: PendingOperands<'_>,
        (met, start_count): (&mut [Def; MAX_VARIABLES], usize),
        found: &mut Vec<(u16, u8)>,
    ) {
        let (mut at, mut pending, mut count) = (start, start_pending, start_count);
        let is_constant = |inst: Inst| matches!(body.inst(inst), InstData::LoadConst { .. });
        loop {
            let node = &self.set.net[usize::from(at)];
            let Some(source) = pending.next() else {
                let leaves = part(self.set.leaves, node.leaves);
                found.extend(leaves.iter().filter(|(rule, _)| {
                    let rule = &self.set.rules[usize::from(*rule)];
                    let (on, off) = (rule.on(), rule.off());
                    self.switches & (on | off) == on && (self.asked == 0 || on & self.asked != 0)
                }));
                return;
            };
            let def = body.src_def(source);
            let inst = body.def_inst(def);
            for &(number, to) in part(self.set.same, node.same) {
                // Two constants may still be equal in the components that are read.
                let known = met[usize::from(number) % MAX_VARIABLES];
                if known == def || is_constant(inst) && is_constant(body.def_inst(known)) {
                    self.walk(body, to, pending, (met, count), found);
                }
            }
            match *body.inst(inst) {
                InstData::Alu { op, .. } if node.ops >> (op as u32 % 64) & 1 != 0 => {
                    let edges = part(self.set.edges, node.edges);
                    if let Ok(index) = edges.binary_search_by_key(&op, |(op, _)| *op) {
                        self.walk(
                            body,
                            edges[index].1,
                            PendingOperands::new(body, inst, Some(&pending)),
                            (met, count),
                            found,
                        );
                    }
                }
                InstData::LoadConst { .. } => {
                    if node.constant != 0 {
                        met[count % MAX_VARIABLES] = def;
                        self.walk(body, node.constant, pending, (met, count + 1), found);
                    }
                    let edges = part(self.set.literals, node.literals);
                    if let (false, Some(values)) = (edges.is_empty(), body.constant(inst)) {
                        let bit_size = body.bit_size(def);
                        let size = size_number(bit_size) as usize;
                        for edge in edges {
                            let fits = edge.sizes >> size & 1 != 0
                                && edge.bits.is_none_or(|bits| values.contains(&bits[size]))
                                && (!edge.is_nan || values.iter().any(|&value| is_nan(value, bit_size)));
                            if fits {
                                self.walk(body, edge.node, pending, (met, count), found);
                            }
                        }
                    }
                }
                _ => {}
            }
            if node.any == 0 {
                return;
            }
            met[count % MAX_VARIABLES] = def;
            count += 1;
            at = node.any;
        }
    }

    fn check(&self, body: &Body, ranges: &mut FloatRanges, inst: Inst, number: u16, swapped: u8) -> Option<Match> {
        let rule = &self.set.rules[usize::from(number)];
        let def = body.inst_def(inst)?;
        let mut m = Match {
            rule: number,
            variables: [AluSrc::from(def); MAX_VARIABLES],
            bound: 0,
            sizes: [0; MAX_VARIABLES],
            flags: AluFlags::NONE,
            labels: [None; MAX_VARIABLES],
        };
        let count = usize::from(body.num_components(def));
        if !self.fits(body, rule.search, AluSrc::from(def), count, swapped, &mut m) {
            return None;
        }
        let main = m.sizes[0];
        let allowed = main == 0 || rule.sizes >> size_number(main) & 1 != 0;
        let conditions = self.set.conditions_of(rule);
        let holds = allowed
            && self.may_differ(rule, &m, if main == 0 { body.bit_size(def) } else { main })
            && conditions.iter().all(|c| self.holds(body, ranges, inst, c, count, &m))
            && (rule.class != Class::NoSignedZero || !sign_of_zero_matters(body, def));
        holds.then_some(m)
    }

    /// Returns whether the shader permits the differences that the rule's class allows.
    fn may_differ(&self, rule: &Rule, m: &Match, bits: u8) -> bool {
        if self.keeps_rounding && matches!(rule.class, Class::NoSignedZero | Class::Inexact) {
            return false;
        }
        // A consumer that flushes denormals observes the difference.
        let asks_for_uses = || self.set.conditions_of(rule).iter().any(|c| matches!(c, Condition::Once(_)));
        if self.keeps_rounding && rule.star && asks_for_uses() {
            return false;
        }
        let float_size = match bits {
            16 => 0,
            32 => 1,
            64 => 2,
            _ => return rule.class != Class::Inexact || !m.flags.is_exact(),
        };
        let preserve = m.flags.0 >> AluFlags::FAST_MATH_SHIFT;
        let signed_zero = preserve >> float_size & 1 != 0 || self.mode.preserves_signed_zero(bits);
        let infinity = preserve >> (3 + float_size) & 1 != 0 || self.mode.preserves_infinity(bits);
        let nan = preserve >> (6 + float_size) & 1 != 0 || self.mode.preserves_nan(bits);
        let flushes = self.mode.flushes_denormals(bits);
        match rule.class {
            Class::Exact if rule.star && flushes => !m.flags.is_exact(),
            Class::Exact | Class::Lowering => true,
            Class::NoSignedZero => !m.flags.is_exact() && !signed_zero,
            Class::Inexact => !(m.flags.is_exact() || flushes || signed_zero && infinity && nan),
        }
    }

    /// Returns whether `count` components of an operand match a node. Recursion depth is bounded by the size of the
    /// rule.
    fn fits(&self, body: &Body, node: u16, source: AluSrc, count: usize, swapped: u8, m: &mut Match) -> bool {
        let AluSrc { def, swizzle } = source;
        match self.set.nodes[usize::from(node)] {
            Node::Variable { index, constant, size, .. } => {
                if constant && body.def_constant(def).is_none() || !m.unify(size, body.bit_size(def)) {
                    return false;
                }
                match m.variable(index) {
                    None => {
                        let index = usize::from(index) % MAX_VARIABLES;
                        m.variables[index] = source;
                        m.bound |= 1 << index;
                        true
                    }
                    Some(known) => known.equals(body, source, count),
                }
            }
            Node::Literal { literal, size } => {
                let Some(values) = body.def_constant(def) else { return false };
                let bits = body.bit_size(def);
                if !m.unify(size, bits) {
                    return false;
                }
                let wanted = literal.bits(bits, m.sizes[0]);
                swizzle.iter(count).all(|component| {
                    let value = values.get(usize::from(component)).copied().unwrap_or(0);
                    if literal == Literal::Nan { is_nan(value, bits) } else { value == wanted }
                })
            }
            Node::Op { op, size, label, operands, commute, .. } => {
                let inst = body.def_inst(def);
                let InstData::Alu { op: found, flags } = *body.inst(inst) else { return false };
                let info = op.info();
                let sized = usize::from(info.output_size);
                if found != op
                    || !m.unify(size, body.bit_size(def))
                    || sized != 0 && (count != sized || !swizzle.is_identity(sized))
                {
                    return false;
                }
                let kept = AluFlags(flags.0 & !(AluFlags::NO_SIGNED_WRAP.0 | AluFlags::NO_UNSIGNED_WRAP.0));
                m.flags = m.flags.union(kept);
                if label != u8::MAX {
                    m.labels[usize::from(label) % MAX_VARIABLES] = Some(inst);
                }
                let swap = commute < 8 && swapped >> commute & 1 != 0;
                self.set.operands_of(operands).iter().enumerate().all(|(number, &operand)| {
                    let number = if swap && number < 2 { 1 - number } else { number };
                    let source = body.source(inst, number);
                    let own = body.swizzle(source);
                    let (inner, count) = match info.input_sizes[number] {
                        0 => (select(own, swizzle, count), count),
                        sized => (own, usize::from(sized)),
                    };
                    self.fits(body, operand, AluSrc::new(body.src_def(source), inner), count, swapped, m)
                })
            }
        }
    }

    fn holds(
        &self,
        body: &Body,
        ranges: &mut FloatRanges,
        inst: Inst,
        condition: &Condition,
        count: usize,
        m: &Match,
    ) -> bool {
        let variable = |index: u8| m.variable(index);
        match *condition {
            Condition::Once(labels) => labels.iter().any(|&label| {
                m.labels[usize::from(label) % MAX_VARIABLES]
                    .and_then(|inst| body.inst_def(inst))
                    .is_some_and(|def| body.single_use(def).is_some())
            }),
            Condition::Variable(predicate, index) => {
                variable(index).is_some_and(|source| predicate_holds(body, ranges, predicate, source, count))
            }
            Condition::IsNot(index, op) => {
                variable(index).is_some_and(|source| body.alu_op(body.def_inst(source.def)) != Some(op))
            }
            Condition::Root(predicate) => self.root_holds(body, inst, predicate, m),
            Condition::Constant(node) => {
                self.constant(body, node, count, m).is_some_and(|(values, _)| values.iter().all(|&v| v != 0))
            }
        }
    }

    fn root_holds(&self, body: &Body, inst: Inst, predicate: RootPredicate, m: &Match) -> bool {
        let Some(def) = body.inst_def(inst) else { return false };
        match predicate {
            RootPredicate::OnlyFloatUses => body.uses_of(def).all(|source| match body.user(source) {
                User::Inst(user) => body.alu_op(user).is_some_and(|op| {
                    let types = op.info().input_types;
                    types.get(body.source_number(source)).is_some_and(|t| t.base == BaseType::Float)
                }),
                User::If(_) => false,
            }),
            RootPredicate::SomeUseWithoutModifiers => {
                body.bit_size(def) == 64
                    || body.uses_of(def).any(|source| match body.user(source) {
                        User::Inst(user) => body.alu_op(user).is_none_or(|op| {
                            let types = op.info().input_types;
                            op == AluOp::Fsat
                                || types.get(body.source_number(source)).is_none_or(|t| t.base != BaseType::Float)
                        }),
                        User::If(_) => true,
                    })
            }
            RootPredicate::NotOnlyFsatUses => body.uses_of(def).any(|source| match body.user(source) {
                User::Inst(user) => body.alu_op(user) != Some(AluOp::Fsat),
                User::If(_) => true,
            }),
            RootPredicate::NoSumUses => {
                let op = |source| body.user(source).inst().and_then(|user| body.alu_op(user));
                let negated = |source| body.user(source).inst().and_then(|user| body.inst_def(user));
                !body.uses_of(def).any(|source| match op(source) {
                    Some(AluOp::Fadd) => true,
                    Some(AluOp::Fneg) => {
                        negated(source).is_some_and(|def| body.uses_of(def).any(|s| op(s) == Some(AluOp::Fadd)))
                    }
                    _ => false,
                })
            }
            RootPredicate::NotExact => !m.flags.is_exact(),
            RootPredicate::AnyZero => !sign_of_zero_matters(body, def),
        }
    }

    /// Evaluates a node with constants as its only variables: returns its components and their bit size.
    pub(super) fn constant(&self, body: &Body, node: u16, count: usize, m: &Match) -> Option<(Values, u8)> {
        match self.set.nodes[usize::from(node)] {
            Node::Variable { index, select, .. } => {
                let source = m.selected(index, select)?;
                let values = body.def_constant(source.def)?;
                let pick = |component: u8| values.get(usize::from(component)).copied().unwrap_or(0);
                Some((source.swizzle.iter(count).map(pick).collect(), body.bit_size(source.def)))
            }
            Node::Literal { literal, size } => {
                let size = m.size(size);
                let bits = literal.bits(size, m.sizes[0]);
                Some(((0..count).map(|_| bits).collect(), size))
            }
            Node::Op { op, operands, .. } => {
                let info = op.info();
                let mut parts: ArrayVec<(Values, u8), MAX_COMPONENTS> = ArrayVec::new();
                for (number, &operand) in self.set.operands_of(operands).iter().enumerate() {
                    let count = match info.input_sizes[number] {
                        0 => count,
                        sized => usize::from(sized),
                    };
                    parts.push(self.constant(body, operand, count, m)?);
                }
                let sources: ArrayVec<&[u64], MAX_COMPONENTS> = parts.iter().map(|(v, _)| &v[..]).collect();
                let open = info.input_types.iter().position(|t| t.is_unsized());
                let bits = open.map_or(32, |number| parts[number].1);
                let count = if info.output_size == 0 { count } else { usize::from(info.output_size) };
                let mut dest = [0; MAX_COMPONENTS];
                evaluate(op, bits, count as u8, &sources, self.mode, &mut dest);
                let size = if info.output_type.is_unsized() { bits } else { info.output_type.bit_size };
                Some((dest.iter().take(count).copied().collect(), size))
            }
        }
    }
}

/// The components of a constant.
pub(super) type Values = ArrayVec<u64, MAX_COMPONENTS>;

/// Returns the sublist to which a node of the net refers.
#[inline]
fn part<T>(list: &'static [T], (first, end): (u16, u16)) -> &'static [T] {
    list.get(usize::from(first)..usize::from(end)).unwrap_or_default()
}

/// The operands still to be matched: the remaining ones of an instruction, then those of the enclosing instruction.
#[derive(Clone, Copy)]
struct PendingOperands<'a> {
    next: u32,
    end: u32,
    outer: Option<&'a PendingOperands<'a>>,
}

impl<'a> PendingOperands<'a> {
    /// Prepends the operands of an instruction to the pending ones.
    fn new(body: &Body, inst: Inst, outer: Option<&'a PendingOperands<'a>>) -> PendingOperands<'a> {
        let count = body.num_sources(inst) as u32;
        let next = if count == 0 { 0 } else { body.source(inst, 0).as_u32() };
        PendingOperands { next, end: next + count, outer }
    }

    /// Removes and returns the next operand.
    fn next(&mut self) -> Option<Use> {
        while self.next == self.end {
            *self = *self.outer?;
        }
        self.next += 1;
        Some(Use::from_u32(self.next - 1))
    }
}

/// Composes two swizzles: applies `outer` to the components selected by `own`, for `count` components.
fn select(own: Swizzle, outer: Swizzle, count: usize) -> Swizzle {
    if outer.is_identity(count) {
        return own;
    }
    (0..count).fold(Swizzle(0), |s, i| s.with(i, own.get(usize::from(outer.get(i)))))
}

/// Returns the index of a bit size in masks of sizes.
fn size_number(bits: u8) -> u32 {
    match bits {
        1 => 0,
        8 => 1,
        16 => 2,
        32 => 3,
        _ => 4,
    }
}

fn is_nan(bits: u64, bit_size: u8) -> bool {
    match bit_size {
        16 => bits & 0x7fff > 0x7c00,
        32 => f32::from_bits(bits as u32).is_nan(),
        64 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

fn predicate_holds(body: &Body, ranges: &mut FloatRanges, predicate: Predicate, source: AluSrc, count: usize) -> bool {
    use crate::analysis::float_range::FloatRange as R;
    match predicate {
        Predicate::NotConstant => body.def_constant(source.def).is_none(),
        Predicate::Number => ranges.of(body, source, count).is_number(),
        Predicate::Finite => ranges.of(body, source, count).is_finite(),
        Predicate::Nonnegative => ranges.of(body, source, count).is_nonnegative(),
        Predicate::NonnegativeNumber => {
            let range = ranges.of(body, source, count);
            range.is_nonnegative() && range.is_number()
        }
        Predicate::Integral => ranges.of(body, source, count).is_integral(),
        Predicate::FiniteNonzero => {
            let range = ranges.of(body, source, count);
            range.is_finite() && !range.may_be(R::ZERO)
        }
        _ => {
            let bit_size = body.bit_size(source.def);
            let Some(values) = body.def_constant(source.def) else { return false };
            source.swizzle.iter(count).all(|component| {
                let value = values.get(usize::from(component)).copied().unwrap_or(0);
                constant_predicate_holds(predicate, value, bit_size)
            })
        }
    }
}

/// Returns whether a predicate on constants holds for the bits of a component.
fn constant_predicate_holds(predicate: Predicate, bits: u64, bit_size: u8) -> bool {
    let float = match bit_size {
        16 => f64::from(crate::alu::half::to_f32(bits as u16)),
        32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    };
    let shift = 64 - u32::from(bit_size.clamp(1, 64));
    let integer = ((bits << shift) as i64) >> shift;
    match predicate {
        Predicate::ZeroToOne => (0.0..=1.0).contains(&float) && float.is_sign_positive(),
        Predicate::Above0Below1 => float > 0.0 && float < 1.0,
        Predicate::PositivePowerOf2 => integer > 0 && integer.count_ones() == 1,
        Predicate::NegativePowerOf2 => {
            let least = i64::MIN >> shift;
            integer < 0 && integer != least && integer.unsigned_abs().is_power_of_two()
        }
        Predicate::Odd => integer & 1 != 0,
        _ => true,
    }
}
