//! The control tree as a sequence of events, for code that emits structured control flow.

use super::{Body, CfNode, CfParent};
use crate::entities::{Block, If, Loop};

/// A step of a walk over the control tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CfEvent {
    /// A block.
    Block(Block),
    /// The start of an `if`, after the block before it. The then side follows.
    If(If),
    /// The end of the then side. The else side follows.
    Else(If),
    /// The end of an `if`.
    EndIf(If),
    /// The start of a loop.
    Loop(Loop),
    /// The end of the body of a loop with a continue construct, which follows.
    Continue(Loop),
    /// The end of a loop.
    EndLoop(Loop),
}

impl Body {
    /// The control tree in program order: each block, and the start, the middle and the end of each construct.
    ///
    /// A list begins and ends with a block, so every side and body has one, which may be empty. Takes constant memory.
    pub fn events(&self) -> impl Iterator<Item = CfEvent> + '_ {
        std::iter::successors(Some(CfEvent::Block(self.body_list().first)), |event| self.event_after(*event))
    }

    fn event_after(&self, event: CfEvent) -> Option<CfEvent> {
        let block = match event {
            CfEvent::If(id) => self.then_list(id).first,
            CfEvent::Else(id) => self.else_list(id).first,
            CfEvent::EndIf(id) => self.block_after_if(id),
            CfEvent::Loop(id) => self.loop_body(id).first,
            CfEvent::Continue(id) => self.loop_continue_list(id)?.first,
            CfEvent::EndLoop(id) => self.block_after_loop(id),
            CfEvent::Block(block) => {
                return match (self.node_after(block), self.block_parent(block)?) {
                    (Some(CfNode::If(id)), _) => Some(CfEvent::If(id)),
                    (Some(CfNode::Loop(id)), _) => Some(CfEvent::Loop(id)),
                    (Some(CfNode::Block(next)), _) => Some(CfEvent::Block(next)),
                    (None, CfParent::Function) => None,
                    (None, CfParent::Then(id)) => Some(CfEvent::Else(id)),
                    (None, CfParent::Else(id)) => Some(CfEvent::EndIf(id)),
                    (None, CfParent::Body(id)) if self.loop_continue_list(id).is_some() => Some(CfEvent::Continue(id)),
                    (None, CfParent::Body(id) | CfParent::Continue(id)) => Some(CfEvent::EndLoop(id)),
                };
            }
        };
        Some(CfEvent::Block(block))
    }

    /// Whether the else side of an `if` has no instructions.
    pub fn is_else_empty(&self, id: If) -> bool {
        self.else_list(id).single_block().is_some_and(|block| self.first_inst(block).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::CfEvent;
    use crate::body::Body;
    use crate::builder::Builder;

    /// The events without the numbers of blocks.
    fn events(body: &Body) -> String {
        let letter = |event| match event {
            CfEvent::Block(_) => "b",
            CfEvent::If(_) => "(",
            CfEvent::Else(_) => "|",
            CfEvent::EndIf(_) => ")",
            CfEvent::Loop(_) => "{",
            CfEvent::Continue(_) => ";",
            CfEvent::EndLoop(_) => "}",
        };
        body.events().map(letter).collect()
    }

    #[test]
    fn constructs_are_in_order() {
        let mut body = Body::new();
        let mut b = Builder::at_end(&mut body);
        let condition = b.bool_const(true);
        let id = b.push_loop();
        let outer = b.push_if(condition);
        let inner = b.push_if(condition);
        b.end_if(inner);
        b.push_else(outer);
        b.end_if(outer);
        b.end_loop(id);
        assert_eq!(events(&body), "b{b(b(b|b)b|b)b}b");
        let blocks: Vec<_> = body.blocks().map(CfEvent::Block).collect();
        let of_events: Vec<_> = body.events().filter(|event| matches!(event, CfEvent::Block(_))).collect();
        assert_eq!(of_events, blocks);
    }
}
