//! Edges of the control flow graph that the text states.

use super::{BodyParser, StatedEdges};
use crate::body::CfParent;
use crate::entities::Block;
use crate::text::error::{EdgeSide, TextErrorKind};
use crate::text::lexer::{ParseResult, Scanner};

impl<'a> BodyParser<'_, 'a> {
    /// Parses `preds: b1 b2`, `preds: b1, succs: b2`, `succs: b2`; other comments are ignored.
    pub(super) fn edges_of_remark(&mut self, at: usize, block: Block) -> ParseResult<()> {
        let line = self.parser.lines[at];
        let Some(comment) = line.comment else { return Ok(()) };
        let mut s = Scanner::new(comment, line.offset + (line.full.len() - comment.len()));
        loop {
            let side = if s.eat("preds:") {
                EdgeSide::Predecessors
            } else if s.eat("succs:") {
                EdgeSide::Successors
            } else {
                return Ok(());
            };
            let mut numbers = Vec::new();
            while s.rest().trim_start().starts_with('b') {
                numbers.push(s.block_number()?);
            }
            self.edges.push(StatedEdges { block, line: at, side, numbers });
            if !s.eat(",") {
                return Ok(());
            }
        }
    }

    pub(super) fn check_edges(&mut self) {
        for stated in std::mem::take(&mut self.edges) {
            let label = |block: Block| self.labels.get(&block).copied();
            let actual: Option<Vec<u32>> = match stated.side {
                EdgeSide::Predecessors => self.body.predecessors(stated.block).iter().map(|&b| label(b)).collect(),
                EdgeSide::Successors => self.body.successors(stated.block).map(label).collect(),
            };
            // A block without a number: the end block, if the text omits it.
            let Some(mut actual) = actual else { continue };
            let mut numbers = stated.numbers;
            // An endless loop may have an edge that is never taken, from its end to the code after it.
            let artificial = match stated.side {
                EdgeSide::Predecessors => self.body.node_before(stated.block).and_then(|node| match node {
                    crate::body::CfNode::Loop(id) => {
                        label(self.body.loop_continue_list(id).unwrap_or(self.body.loop_body(id)).last)
                    }
                    _ => None,
                }),
                EdgeSide::Successors => match self.body.block_parent(stated.block) {
                    Some(CfParent::Body(id) | CfParent::Continue(id))
                        if self.body.node_after(stated.block).is_none() =>
                    {
                        label(self.body.block_after_loop(id))
                    }
                    _ => None,
                },
            };
            if stated.side == EdgeSide::Predecessors {
                actual.sort_unstable();
                numbers.sort_unstable();
            }
            if numbers == actual {
                continue;
            }
            if let Some(artificial) = artificial
                && !actual.contains(&artificial)
                && numbers.len() == actual.len() + 1
                && numbers.contains(&artificial)
                && numbers.iter().filter(|&&n| n != artificial).eq(actual.iter())
            {
                continue;
            }
            let list = |numbers: &[u32]| numbers.iter().map(|n| format!("b{n}")).collect::<Vec<_>>().join(" ");
            let kind = TextErrorKind::EdgeMismatch {
                block: label(stated.block).unwrap_or(u32::MAX),
                side: stated.side,
                stated: list(&numbers),
                actual: list(&actual),
            };
            self.parser.fail_line(stated.line, kind);
        }
    }

    /// Records the content of a `// succs:` line.
    pub(super) fn stated_successors(&mut self, at: usize) -> ParseResult<()> {
        match self.current {
            Some(block) => self.edges_of_remark(at, block),
            None => Ok(()),
        }
    }
}
