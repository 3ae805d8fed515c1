//! Products of several matrices and a vector.
//!
//! `projection * view * position` is a product of matrices, times a vector. Multiplying from the right gives the same
//! value up to rounding and needs a quarter of the instructions. Operands are still evaluated from left to right.

use super::Analyzer;
use crate::ast::BinaryOp;
use crate::keyword::{Keyword, Meaning};
use crate::program::{ExprId, ExprKind};

/// Longer chains keep their order beyond this number: each regrouped product is nested in the next.
const MAX_REGROUPED: usize = 16;

impl Analyzer<'_> {
    /// The operands of a product of equal value that has no product of matrices as its left operand.
    pub(super) fn regrouped(&mut self, mut left: ExprId, mut right: ExprId) -> (ExprId, ExprId) {
        // Where `precise` exists, the order of operations is observable.
        let has_precise = Keyword::Precise.meaning(self.unit.version, self.unit.enabled) == Meaning::Keyword;
        let is_vector = self.program.types.as_vector(self.ty(right)).is_some_and(|(_, components)| components > 1);
        if has_precise || !is_vector {
            return (left, right);
        }
        for _ in 0..MAX_REGROUPED {
            let expr = *self.program.expr(left);
            let ExprKind::Binary(BinaryOp::Mul, first, second) = expr.kind else { break };
            let is_matrix = |expr: ExprId| self.program.types.as_matrix(self.program.expr(expr).ty);
            let (Some(_), Some((scalar, _, rows))) = (is_matrix(first), is_matrix(second)) else { break };
            if expr.constant.is_some() {
                break;
            }
            let tokens = self.program.expr(second).tokens.to(self.program.expr(right).tokens);
            let ty = crate::types::TypeId::vector(scalar, rows);
            right = self.add(ExprKind::Binary(BinaryOp::Mul, second, right), ty, tokens, &[second, right]);
            left = first;
        }
        (left, right)
    }
}

#[cfg(test)]
mod tests {
    use crate::options::GlslOptions;
    use tgsi_ir::shader::ShaderStage;

    /// Products in the code of an expression.
    fn products(version: u16, expression: &str) -> usize {
        let text = format!(
            "#version {version}\nuniform mat4 a, b, c; uniform vec4 v;\nvoid main() {{ gl_Position = {expression}; }}\n"
        );
        let compiled = crate::compile(text.as_bytes(), ShaderStage::Vertex, &GlslOptions::default());
        let module = compiled.module.unwrap_or_else(|| panic!("{:?}", compiled.findings));
        let code = tgsi_ir::text::print(&module.shader);
        code.matches("fmul").count() + code.matches("fmad").count()
    }

    #[test]
    fn chains_multiply_the_vector_first() {
        assert_eq!(products(120, "a * v"), 4);
        assert_eq!(products(120, "a * b * c * v"), 12);
        assert_eq!(products(120, "(a * b) * v"), 8);
        assert_eq!(products(400, "a * b * v"), 20);
        assert_eq!(products(120, "(a * b)[1] * v"), 5);
    }
}
