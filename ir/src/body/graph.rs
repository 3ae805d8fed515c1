//! The block graph of a body: the numbers of its blocks, and its form in DOT.

use std::fmt::Write;

use cranelift_entity::SecondaryMap;

use super::Body;
use crate::entities::Block;

impl Body {
    /// The numbers that the text form gives the blocks: in program order, the end block last.
    pub(crate) fn block_numbers(&self) -> SecondaryMap<Block, u32> {
        let mut numbers = SecondaryMap::with_default(u32::MAX);
        for (number, block) in (0..).zip(self.blocks().chain([self.end_block()])) {
            numbers[block] = number;
        }
        numbers
    }

    /// The block graph in DOT, under this name. Blocks are numbered as in the text form; the edges of a choice say
    /// which side they are.
    pub fn to_dot(&self, name: &str) -> String {
        let numbers = self.block_numbers();
        let (mut nodes, mut edges) = (String::new(), String::new());
        for block in self.blocks().chain([self.end_block()]) {
            let from = block.as_u32();
            let _ = writeln!(nodes, "    {from} [ label = \"b{}\"]", numbers[block]);
            let is_choice = self.successors(block).count() == 2;
            for (successor, side) in self.successors(block).zip(["then", "else"]) {
                let label = if is_choice { format!("label = \"{side}\"") } else { String::new() };
                let _ = writeln!(edges, "    {from} -> {} [ {label}]", successor.as_u32());
            }
        }
        format!("digraph {name:?} {{\n{nodes}{edges}}}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;

    #[test]
    fn edges_of_a_choice_say_their_side() {
        let mut body = Body::new();
        let mut b = Builder::at_end(&mut body);
        let condition = b.bool_const(true);
        let id = b.push_if(condition);
        b.end_if(id);
        let dot = body.to_dot("a \"name\"");
        assert!(dot.starts_with("digraph \"a \\\"name\\\"\" {"), "{dot}");
        let edges: Vec<&str> = dot.lines().filter(|line| line.contains("->")).map(str::trim).collect();
        let [then, other] = [body.then_list(id).first, body.else_list(id).first].map(|block| block.as_u32());
        assert!(edges.contains(&format!("0 -> {then} [ label = \"then\"]").as_str()), "{dot}");
        assert!(edges.contains(&format!("0 -> {other} [ label = \"else\"]").as_str()), "{dot}");
        assert!(dot.contains(&format!("{} [ label = \"b4\"]", body.end_block().as_u32())), "{dot}");
        assert_eq!(dot.lines().count(), 2 + 5 + 5);
    }
}
