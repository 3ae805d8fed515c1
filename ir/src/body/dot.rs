//! The block graph: numbers of blocks, and the graph as DOT text.

use std::fmt::Write;

use cranelift_entity::SecondaryMap;

use super::Body;
use crate::entities::Block;

impl Body {
    /// The nodes of the block graph: the blocks of the tree in program order, then the end block.
    fn graph_blocks(&self) -> impl Iterator<Item = Block> + '_ {
        self.blocks().chain([self.end_block()])
    }

    /// The numbers of blocks in the text form: in program order, the end block last.
    pub(crate) fn block_numbers(&self) -> SecondaryMap<Block, u32> {
        let mut numbers = SecondaryMap::with_default(u32::MAX);
        for (number, block) in (0..).zip(self.graph_blocks()) {
            numbers[block] = number;
        }
        numbers
    }

    /// Writes the block graph in DOT under this name. Blocks are numbered as in the text form; the edges of a branch
    /// are labelled with their side.
    pub fn to_dot(&self, name: &str) -> String {
        let numbers = self.block_numbers();
        let mut dot = format!("digraph {name:?} {{\n");
        for block in self.graph_blocks() {
            let _ = writeln!(dot, "    {} [ label = \"b{}\"]", block.as_u32(), numbers[block]);
        }
        for from in self.graph_blocks() {
            let is_branch = self.successors(from).count() == 2;
            for (to, side) in self.successors(from).zip(["then", "else"]) {
                let label = if is_branch { format!("label = \"{side}\"") } else { String::new() };
                let _ = writeln!(dot, "    {} -> {} [ {label}]", from.as_u32(), to.as_u32());
            }
        }
        dot.push_str("}\n");
        dot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;

    #[test]
    fn dot_labels_blocks_and_sides() {
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
        assert_eq!(body.graph_blocks().count(), 5);
    }
}
