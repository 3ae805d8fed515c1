//! Statements.

use tgsi_arithmetic::Operand;
use tgsi_ir::Builder;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::JumpKind;
use tgsi_ir::entities::{Def, Variable as IrVariable};
use tgsi_ir::intrinsics::IntrinsicOp;

use super::places::{Place, Value};
use super::{EmitError, Emitter, index};
use crate::program::{Condition, ExprId, ExprKind, StmtId, StmtKind, VariableId};
use crate::types::{TypeData, TypeId};

/// A statement that `break` leaves.
#[derive(Clone, Copy, Debug)]
pub(super) enum Breakable {
    /// A loop, and the step that each `continue` copies.
    Loop(Option<ExprId>),
    /// A `switch`, which is a loop of one round, and the flag that `continue` sets for the loop around it.
    Switch(IrVariable),
}

/// Parts of a loop besides its body.
struct LoopParts<'s> {
    condition: Option<&'s Condition>,
    step: Option<ExprId>,
    /// The test after each round.
    last: Option<ExprId>,
}

impl Emitter<'_, '_, '_> {
    /// Emits statements until the rest is unreachable.
    pub(super) fn statements(&mut self, list: &[StmtId]) -> Result<(), EmitError> {
        for &stmt in list {
            if self.is_unreachable {
                break;
            }
            self.statement(stmt)?;
        }
        Ok(())
    }

    /// Emits statements in a separate list; code after that list is reachable.
    fn nested(&mut self, stmt: StmtId) -> Result<bool, EmitError> {
        let before = std::mem::replace(&mut self.is_unreachable, false);
        self.statement(stmt)?;
        Ok(std::mem::replace(&mut self.is_unreachable, before))
    }

    fn statement(&mut self, id: StmtId) -> Result<(), EmitError> {
        let program = self.context.program;
        let stmt = program.stmt(id);
        if !matches!(stmt.kind, StmtKind::Block(_)) {
            let origin = self.context.origin(stmt.tokens);
            self.b.body.set_origin(Some(origin));
        }
        match &stmt.kind {
            StmtKind::Expr(expr) => {
                self.value(*expr)?;
            }
            StmtKind::Declare(variable, value) => self.declare(*variable, *value)?,
            StmtKind::Block(list) => self.statements(list)?,
            StmtKind::If(arms, otherwise) => self.branches(arms, *otherwise)?,
            StmtKind::For { start, condition, step, body } => {
                if let Some(start) = start {
                    self.statement(*start)?;
                }
                let parts = LoopParts { condition: condition.as_ref(), step: *step, last: None };
                self.repeat(&parts, *body)?;
            }
            StmtKind::Do(body, test) => {
                self.repeat(&LoopParts { condition: None, step: None, last: Some(*test) }, *body)?;
            }
            StmtKind::Switch(value, list) => self.switch(*value, list)?,
            // Labels are read by the `switch`.
            StmtKind::Case(_) => {}
            StmtKind::Break => self.jump(JumpKind::Break),
            StmtKind::Continue => {
                self.continue_loop()?;
                self.is_unreachable = true;
            }
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    let ty = program.expr(*value).ty;
                    let value = self.value(*value)?;
                    if let Some(result) = self.result {
                        let deref = self.deref_temporary(result, ty);
                        self.store(Place::new(deref, ty), value);
                    }
                }
                self.jump(JumpKind::Return);
            }
            StmtKind::Demote => {
                self.b.intrinsic(IntrinsicOp::Demote, &[], &[], None);
                self.context.shader.info.fs.uses_discard = true;
            }
            StmtKind::Discard => {
                self.b.intrinsic(IntrinsicOp::Terminate, &[], &[], None);
                self.context.shader.info.fs.uses_discard = true;
                // Targets run discarded invocations on, and the loop may have no other end.
                if self.loops.iter().any(|breakable| matches!(breakable, Breakable::Loop(_))) {
                    self.jump(JumpKind::Return);
                }
            }
        }
        Ok(())
    }

    fn jump(&mut self, kind: JumpKind) {
        self.b.jump(kind);
        self.is_unreachable = true;
    }

    /// Gives a variable its initial value. Scalars, vectors and matrices without one are 0.
    fn declare(&mut self, variable: VariableId, value: Option<ExprId>) -> Result<(), EmitError> {
        let ty = self.context.program.variable(variable).ty;
        let value = match value {
            Some(value) => self.value(value)?,
            None => match self.zero(ty) {
                Some(zero) => zero,
                None => return Ok(()),
            },
        };
        if let Value::Memory(deref, ty) = self.variable(variable, ty) {
            self.store(Place::new(deref, ty), value);
        }
        Ok(())
    }

    /// `if`, `else if`, `else`: each arm is in the else side of the one before.
    fn branches(&mut self, arms: &[(ExprId, StmtId)], otherwise: Option<StmtId>) -> Result<(), EmitError> {
        let mut open = Vec::with_capacity(arms.len());
        let mut otherwise = otherwise;
        for &(condition, body) in arms {
            // Arms that no run reaches may call functions that are not defined.
            let program = self.context.program;
            let known = program.value(condition).filter(|_| !program.expr(condition).has_effects);
            match known.map(|value| value.bits.first().copied()) {
                Some(Some(0)) => continue,
                Some(Some(_)) => {
                    otherwise = Some(body);
                    break;
                }
                _ => {}
            }
            let condition = self.vector_of(condition)?;
            let id = self.b.push_if(condition);
            self.nested(body)?;
            self.b.push_else(id);
            open.push(id);
        }
        match otherwise {
            // The statements after it may be unreachable.
            Some(always) if open.is_empty() => self.statement(always)?,
            Some(otherwise) => drop(self.nested(otherwise)?),
            None => {}
        }
        for id in open.into_iter().rev() {
            self.b.end_if(id);
        }
        Ok(())
    }

    /// A loop.
    fn repeat(&mut self, parts: &LoopParts<'_>, body: StmtId) -> Result<(), EmitError> {
        let continues = has_continue(self, body);
        // Targets have no place that both the end of a round and `continue` reach, except the start of the next round.
        // The end of a round is emitted there instead, unless it is so short that each `continue` can have a copy.
        let copied = parts.step.filter(|&step| continues && is_short(self, step));
        let has_rest = parts.last.is_some() || parts.step.is_some() && copied.is_none();
        let first = (has_rest && continues).then(|| {
            let variable = self.bool_temporary();
            let yes = self.b.bool_const(true);
            self.store_temporary(variable, TypeId::BOOL, yes);
            variable
        });
        let id = self.b.push_loop();
        self.loops.push(Breakable::Loop(copied));
        let before = std::mem::replace(&mut self.is_unreachable, false);
        if let Some(first) = first {
            let deref = self.deref_temporary(first, TypeId::BOOL);
            let is_first = self.load(deref, TypeId::BOOL);
            let is_first = self.scalar(Value::Operand(is_first));
            let no = self.b.bool_const(false);
            self.store_temporary(first, TypeId::BOOL, no);
            let is_later = self.b.alu(AluOp::Inot, &[is_first]);
            let branch = self.b.push_if(is_later);
            if let Some(step) = parts.step {
                self.value(step)?;
            }
            if let Some(test) = parts.last {
                let test = self.vector_of(test)?;
                self.break_unless(test);
            }
            self.b.end_if(branch);
        }
        if let Some(condition) = parts.condition {
            if let Some(declaration) = condition.declaration {
                self.statement(declaration)?;
            }
            let test = self.vector_of(condition.test)?;
            self.break_unless(test);
        }
        self.statement(body)?;
        let end_is_reached = !self.is_unreachable;
        self.is_unreachable = before;
        if let (Some(step), None, true) = (parts.step, first, end_is_reached) {
            self.value(step)?;
        }
        if let (Some(test), None, true) = (parts.last, first, end_is_reached) {
            let test = self.vector_of(test)?;
            self.break_unless(test);
        }
        self.loops.pop();
        self.b.end_loop(id);
        Ok(())
    }

    fn break_unless(&mut self, test: Def) {
        let is_over = self.b.alu(AluOp::Inot, &[test]);
        let branch = self.b.push_if(is_over);
        self.b.jump(JumpKind::Break);
        self.b.end_if(branch);
    }

    /// `continue`: from within a `switch`, a flag tells the loop around it.
    fn continue_loop(&mut self) -> Result<(), EmitError> {
        let kind = match self.loops.last() {
            Some(&Breakable::Switch(flag)) => {
                let yes = self.b.bool_const(true);
                self.store_temporary(flag, TypeId::BOOL, yes);
                JumpKind::Break
            }
            Some(&Breakable::Loop(Some(step))) => {
                self.value(step)?;
                JumpKind::Continue
            }
            _ => JumpKind::Continue,
        };
        self.b.jump(kind);
        Ok(())
    }

    /// A `switch` is a loop of one round. Each section, the statements after labels, runs if it or an earlier one was
    /// selected.
    fn switch(&mut self, value: ExprId, list: &[StmtId]) -> Result<(), EmitError> {
        let program = self.context.program;
        let value = self.vector_of(value)?;
        // Labels and statements of each section.
        let mut sections: Vec<(Vec<Option<u64>>, Vec<StmtId>)> = Vec::new();
        for &stmt in list {
            match program.stmt(stmt).kind {
                StmtKind::Case(label) => {
                    let label = label.map(|label| program.constant(label).bits.first().copied().unwrap_or(0));
                    match sections.last_mut() {
                        Some((labels, stmts)) if stmts.is_empty() => labels.push(label),
                        _ => sections.push((vec![label], Vec::new())),
                    }
                }
                _ => {
                    if let Some((_, stmts)) = sections.last_mut() {
                        stmts.push(stmt);
                    }
                }
            }
        }
        let none = sections.len() as u32;
        let default = sections.iter().position(|(labels, _)| labels.contains(&None)).map_or(none, |at| at as u32);
        let mut start = index(&mut self.b, default);
        for (number, (labels, _)) in sections.iter().enumerate() {
            for label in labels.iter().flatten() {
                let label = index(&mut self.b, *label as u32);
                let is_label = self.b.alu(AluOp::Ieq, &[value, label]);
                let number = index(&mut self.b, number as u32);
                start = self.b.alu(AluOp::Bcsel, &[is_label, number, start]);
            }
        }
        let flag = self.bool_temporary();
        let no = self.b.bool_const(false);
        self.store_temporary(flag, TypeId::BOOL, no);
        let id = self.b.push_loop();
        self.loops.push(Breakable::Switch(flag));
        let before = std::mem::replace(&mut self.is_unreachable, false);
        let mut end_is_reached = true;
        for (number, (_, stmts)) in sections.iter().enumerate() {
            let number = index(&mut self.b, number as u32);
            let runs = self.b.alu(AluOp::Uge, &[number, start]);
            let branch = self.b.push_if(runs);
            self.is_unreachable = false;
            self.statements(stmts)?;
            self.b.end_if(branch);
            end_is_reached = true;
        }
        self.is_unreachable = before;
        self.loops.pop();
        if end_is_reached {
            self.b.jump(JumpKind::Break);
        }
        self.b.end_loop(id);
        if !self.loops.is_empty() {
            let deref = self.deref_temporary(flag, TypeId::BOOL);
            let continues = self.load(deref, TypeId::BOOL);
            let continues = self.scalar(Value::Operand(continues));
            let branch = self.b.push_if(continues);
            self.continue_loop()?;
            self.b.end_if(branch);
        }
        Ok(())
    }

    /// Zero of a type that fits in registers.
    fn zero(&mut self, ty: TypeId) -> Option<Value> {
        let zeros = [0u64; 4];
        let vector = |b: &mut Builder<'_>, bits: u8, count: u8| {
            b.constant(bits, zeros.get(..usize::from(count)).unwrap_or(&zeros))
        };
        match self.context.program.types.get(ty) {
            TypeData::Vector { scalar, components } => {
                Some(Value::Operand(Operand::Vector(vector(&mut self.b, super::bit_size(scalar), components))))
            }
            TypeData::Matrix { scalar, columns, rows } => {
                let columns = (0..columns).map(|_| vector(&mut self.b, super::bit_size(scalar), rows));
                Some(Value::Operand(Operand::Matrix(columns.collect())))
            }
            _ => None,
        }
    }
}

/// Whether a statement has a `continue` of the loop that it is the body of. Statements nest as deep as the parser
/// allows.
fn has_continue(emitter: &Emitter<'_, '_, '_>, root: StmtId) -> bool {
    let program = emitter.context.program;
    let mut pending = vec![root];
    while let Some(stmt) = pending.pop() {
        match &program.stmt(stmt).kind {
            StmtKind::Continue => return true,
            StmtKind::Block(list) | StmtKind::Switch(_, list) => pending.extend(list),
            StmtKind::If(arms, otherwise) => {
                pending.extend(arms.iter().map(|&(_, body)| body));
                pending.extend(otherwise);
            }
            _ => {}
        }
    }
    false
}

/// Whether an expression has few operations and no calls, so that copies of it add little code.
fn is_short(emitter: &Emitter<'_, '_, '_>, root: ExprId) -> bool {
    const MAX_EXPRESSIONS: usize = 16;
    let program = emitter.context.program;
    let mut pending = vec![root];
    for _ in 0..MAX_EXPRESSIONS {
        let Some(expr) = pending.pop() else { return true };
        match program.expr(expr).kind {
            ExprKind::Constant | ExprKind::Variable(_) => {}
            ExprKind::Step { operand, .. }
            | ExprKind::Swizzle(operand, _)
            | ExprKind::Field(operand, _)
            | ExprKind::Unary(_, operand)
            | ExprKind::Convert(operand) => pending.push(operand),
            ExprKind::Assign(first, second)
            | ExprKind::Update(_, first, second)
            | ExprKind::Binary(_, first, second)
            | ExprKind::Index(first, second)
            | ExprKind::Comma(first, second) => pending.extend([first, second]),
            _ => return false,
        }
    }
    pending.is_empty()
}

#[cfg(test)]
mod tests {
    use tgsi_environment::{AnalyticResources, Inputs, RunLimits};
    use tgsi_ir::shader::ShaderStage;

    use crate::options::GlslOptions;

    /// Runs a fragment shader and returns the red component of its colour.
    fn red(body: &str) -> f32 {
        let text = format!(
            "#version 130\nint f(int a) {{ return a + 1; }}\nvoid main() {{ float r = 0.0; {body} gl_FragColor = vec4(r); }}"
        );
        let compiled = crate::compile(text.as_bytes(), ShaderStage::Fragment, &GlslOptions::default());
        let module = compiled.module.unwrap_or_else(|| panic!("{text}: {:?}", compiled.findings));
        let inputs = Inputs { lanes: 4, ..Inputs::default() };
        let outputs =
            tgsi_ir::run::run(&module.shader, &inputs, &mut AnalyticResources::default(), RunLimits::default());
        f32::from_bits(outputs.expect("a result").outputs.get(0, 0, 0))
    }

    #[test]
    fn continue_reaches_what_follows_a_round() {
        // 0 + 1 + 3 + 4
        assert_eq!(red("for (int i = 0; i < 5; i++) { if (i == 2) continue; r += float(i); }"), 8.0);
        // A step with a call, and a long one.
        assert_eq!(red("for (int i = 0; i < 5; i = f(i)) { if (i == 2) continue; r += float(i); }"), 8.0);
        let long = "i + 1 - 1 + 1 - 1 + 1 - 1 + 1 - 1 + 1 - 1 + 1 - 1 + int(min(r, 0.0)) + 1";
        assert_eq!(red(&format!("for (int i = 0; i < 5; i = {long}) {{ if (i == 2) continue; r += float(i); }}")), 8.0);
        assert_eq!(red("int i = 0; do { i++; if (i == 2) continue; r += float(i); } while (i < 4);"), 8.0);
        let body = "switch (i) { case 2: continue; case 3: break; default: r += 1.0; } r += float(i);";
        assert_eq!(red(&format!("for (int i = 0; i < 5; i++) {{ {body} }}")), 11.0);
        assert_eq!(red(&format!("for (int i = 0; i < 5; i = f(i)) {{ {body} }}")), 11.0);
        // The last round ends with `continue`.
        assert_eq!(red("for (int i = 0; i < 3; i++) { r += 1.0; continue; }"), 3.0);
    }
    #[test]
    fn conditions_may_be_known() {
        // Statements after a jump are unreachable.
        assert_eq!(red("for (int i = 0; i < 3; i++) { r += 1.0; if (true) { break; } r += 8.0; }"), 1.0);
        assert_eq!(
            red("for (int i = 0; i < 3; i++) { if (i > 5) { } else if (true) break; r += 8.0; } r += 2.0;"),
            2.0
        );
        assert_eq!(red("for (int i = 0; i < 3; i++) { if (true) continue; else r = 9.0; r += 8.0; }"), 0.0);
        assert_eq!(red("if (false) r = 1.0; else if (r > 1.0) r = 2.0; else r = 3.0;"), 3.0);
        // Conditions with effects are evaluated.
        assert_eq!(red("if (r += 1.0, true) r += 2.0;"), 3.0);
        assert_eq!(red("if (true) { if (true) { r = 4.0; } } r += 1.0;"), 5.0);
    }
}
