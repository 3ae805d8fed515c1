//! The validator: defines well-formed shaders, and reports all deviations.
//!
//! It runs after every pass in debug and test builds. It relies on ids only: lists, edges, sources, phis and shapes may
//! be wrong in any way, and are read through accessors that do not panic. Time and memory are linear in the size of the
//! body; nothing is allocated per value or instruction.
//!
//! # Rules
//!
//! Uses and values (`uses.rs`)
//! 1. A value records the instruction that defines it. Exactly the kinds of instructions with a result define one; it
//!    has 1, 2, 3, 4, 5, 8 or 16 components of 1, 8, 16, 32 or 64 bits. (Numbers are unique and below the count by
//!    construction.)
//! 2. Every entry in the list of uses of a value reads that value; every source of the code is in exactly one list,
//!    once; lists have no other entries.
//! 3. A source records the instruction or `if` that owns it.
//! 4. A definition dominates its uses: it is earlier in the block, or in a block that dominates the block of the use
//!    (for a phi: the predecessor).
//!
//! ALU (`alu.rs`)
//! 5. Sources and result have the bit sizes of the table; open sizes agree and are among those of the table; floats
//!    have 16, 32 or 64 bits.
//! 6. A swizzle selects components that exist.
//! 7. A result of fixed size has that size.
//!
//! Derefs (`derefs.rs`)
//! 8. A deref of a variable has its mode and type; the variable is declared in the shader or in the same function.
//! 9. A cast has one mode, or several generic ones. If its parent is a deref, they have a mode in common. Its alignment
//!    is a power of two with a smaller offset.
//! 10. Other derefs have a parent of the same shape and modes, and a type that follows from the type of the parent. An
//!     index is one component of the pointer's size. Pointer arithmetic starts from an array element, pointer
//!     arithmetic or a cast.
//! 11. A deref is not the condition of an `if`; a deref of an input, output or uniform is not a source of a phi.
//!
//! Intrinsics (`intrinsics.rs`)
//! 12. Sources and result have the components and bit sizes of the table.
//! 13. `num_components` is 0 unless the intrinsic is vectorised, and a valid number of components otherwise.
//! 14. A write mask stays within `num_components`.
//! 15. Registers are declared in the first block. The register of a load or store has the shape of its value. A handle
//!     has no other uses.
//! 16. `convert_alu_types` gives the sizes of its operands; `load_param` gives an existing parameter of its shape.
//! 17. `load_deref` and `store_deref` access exactly the scalar or vector that the deref points to; stores to read-only
//!     modes do not exist; copies have equal types.
//! 18. Memory accesses have a valid alignment and range, and at least 8 bits.
//! 19. Barycentrics have interpolation mode none, smooth or noperspective.
//! 20. A stored output has the bits of its type, 16 or more (8 in fragment shaders).
//! 21. `deref_mode_is` and `addr_mode_is` test one mode.
//! 22. The operation of an image atomic exists for the texel format, if the format is known.
//! 23. No component is captured twice; an output store has an effect; the I/O flags exist in this stage.
//!
//! Texture (`texture.rs`)
//! 24. Each kind of source occurs at most once, with its size, and only in operations that support it. Derefs point to
//!     textures and samplers that match the result. Dimensionality, component, offsets, implicit level and the shape of
//!     the result are valid for the operation.
//!
//! Others (`mod.rs`)
//! 25. The arguments of a call match the parameters of the callee; only functions without code are called indirectly.
//! 26. A constant has no bits beyond its size.
//! 27. A phi has one source of its shape for each predecessor; phis are at the top of their block. (Parallel copies:
//!     the sources of every entry exist.)
//! 28. A jump is the last instruction of its block and list. `break` and `continue` are in a loop; in a continue
//!     construct, only `break` is allowed. `goto`s exist in unstructured code only.
//!
//! Control flow (`control_flow.rs`)
//! 29. Every node records its list and neighbours; blocks alternate with ifs and loops; successors match the tree and
//!     are distinct; predecessors mirror them; the first block has no predecessors.
//! 30. Ifs and loops are between blocks, their lists are not empty, and a condition is one boolean component (1 bit, or
//!     more if booleans were lowered).
//! 31. The end block is empty, outside of the tree, without successors.
//! 32. There is an entry point with code and without parameters. (Back pointers do not exist.)
//!
//! Variables and shader (`variables.rs`)
//! 33. A variable is in one list, has exactly one mode that is valid there, flags that are valid for its type, and an
//!     initialiser of its type. The stride of a matrix is 0 or at least as long as its column or row. (There are no member arrays that could contradict a struct type. Locations are
//!     unrestricted: values from 0x10000 on are semantics without slot.)
//! 34. Only vertex, tessellation evaluation and geometry shaders have transform feedback.
//!
//! Analyses (`analyses.rs`)
//! 35. Every analysis that is cached as up to date equals a recomputed one.

mod alu;
mod analyses;
mod control_flow;
mod derefs;
mod error;
mod intrinsics;
mod texture;
mod uses;
mod variables;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use bitvec::vec::BitVec;

#[doc(hidden)]
pub use error::{BlockName, MAX_ERRORS, ModeNames, ShapeName, TexSrcName};
pub use error::{Location, ValidationError, ValidationErrorKind, ValidationErrors};

use crate::analysis::Dominance;
use crate::body::{Body, InstData, JumpKind, Shape};
use crate::entities::{Block, Def, Function, Inst};
use crate::shader::Shader;
use crate::types::ScalarType;
use error::Collector;
use variables::VariableOwners;

/// Checks every rule of [the module](self).
///
/// # Errors
/// All violations with their locations, up to a maximum number.
pub fn validate(shader: &Shader) -> Result<(), ValidationErrors> {
    check_shader(shader).finish(shader)
}

/// Like [`validate`], but without a report that prints the shader; for callers that show the errors in its source text.
pub fn find_errors(shader: &Shader) -> Vec<ValidationError> {
    check_shader(shader).into_errors()
}

fn check_shader(shader: &Shader) -> Collector {
    let mut errors = Collector::default();
    let declared = variables::check_variables(shader, &mut errors);
    for (function, data) in &shader.functions {
        let Some(body) = &data.body else { continue };
        check_body(shader, function, body, &declared, &mut errors);
    }
    errors
}

fn check_body(shader: &Shader, function: Function, body: &Body, declared: &VariableOwners, errors: &mut Collector) {
    let Some(tree) = control_flow::check_tree(function, body, errors) else { return };
    let edges_sound = control_flow::check_edges(function, body, &tree, errors);
    if edges_sound {
        analyses::check_analyses(function, body, errors);
    }
    let mut checker = Checker {
        shader,
        function,
        body,
        declared,
        // Dominance is undefined if edges contradict each other.
        dominance: edges_sound.then(|| body.dominance()),
        made: BitVec::repeat(false, body.num_defs()),
        stamps: vec![0; body.num_blocks()],
        stamp: 0,
        errors,
    };
    checker.check_uses(&tree);
    for block in body.blocks() {
        checker.check_block(block);
    }
}

/// Whether a value may have this number of components.
fn is_component_count(count: u8) -> bool {
    matches!(count, 1..=5 | 8 | 16)
}

/// Checks the code of one function.
struct Checker<'a> {
    shader: &'a Shader,
    function: Function,
    body: &'a Body,
    declared: &'a VariableOwners,
    dominance: Option<Arc<Dominance>>,
    /// Values with a definition that the walk has passed.
    made: BitVec,
    /// The last stamp of each block, to check membership of a phi's or list's blocks in O(1) without clearing.
    stamps: Vec<u32>,
    stamp: u32,
    errors: &'a mut Collector,
}

impl Checker<'_> {
    fn report(&mut self, location: Location, kind: ValidationErrorKind) {
        self.errors.push(Some(self.function), location, kind);
    }

    fn report_inst(&mut self, inst: Inst, kind: ValidationErrorKind) {
        self.report(Location::Inst(inst), kind);
    }

    fn expect(&mut self, inst: Inst, holds: bool, kind: ValidationErrorKind) {
        if !holds {
            self.report_inst(inst, kind);
        }
    }

    fn check_block(&mut self, block: Block) {
        let body = self.body;
        let mut only_phis = true;
        for inst in body.insts(block) {
            let sources_sound = self.check_sources(block, inst);
            let is_phi = body.is_phi(inst);
            if is_phi && !only_phis {
                self.report_inst(inst, ValidationErrorKind::PhiPlace);
            }
            only_phis &= is_phi;
            let def_sound = self.check_def(inst);
            if sources_sound && def_sound {
                self.check_inst(block, inst);
            }
            self.mark_made(inst);
        }
        self.check_condition(block);
    }

    /// Number of sources that an instruction must have; `None` for any number.
    fn expected_sources(&self, inst: Inst) -> Option<usize> {
        match self.body.inst(inst) {
            InstData::Alu { op, .. } => Some(usize::from(op.info().num_inputs)),
            InstData::Deref { kind, .. } => Some(derefs::num_sources(*kind)),
            InstData::Intrinsic { op, .. } => Some(op.info().num_srcs()),
            InstData::Call { callee, indirect } => {
                let parameters = self.shader.functions.get(*callee)?.parameters.len();
                // A wrong number of arguments has a separate error.
                (*indirect && self.body.num_sources(inst) == 0).then_some(parameters + 1)
            }
            InstData::LoadConst { .. } | InstData::Undef => Some(0),
            InstData::Jump(JumpKind::GotoIf { .. }) => Some(1),
            InstData::Jump(_) => Some(0),
            InstData::Phi | InstData::Tex(_) | InstData::ParallelCopy(_) => None,
        }
    }

    /// Whether an instruction of this kind has a result.
    fn makes_value(&self, inst: Inst) -> bool {
        match self.body.inst(inst) {
            InstData::Alu { .. }
            | InstData::Deref { .. }
            | InstData::Tex(_)
            | InstData::LoadConst { .. }
            | InstData::Undef
            | InstData::Phi => true,
            InstData::Intrinsic { op, .. } => op.info().has_dest(),
            InstData::Call { .. } | InstData::Jump(_) | InstData::ParallelCopy(_) => false,
        }
    }

    fn check_inst(&mut self, block: Block, inst: Inst) {
        match *self.body.inst(inst) {
            InstData::Alu { op, .. } => self.check_alu(inst, op),
            InstData::Deref { kind, modes, ty } => self.check_deref(inst, kind, modes, ty),
            InstData::Call { callee, indirect } => self.check_call(inst, callee, indirect),
            InstData::Tex(_) => self.check_texture(inst),
            InstData::Intrinsic { op, num_components, .. } => self.check_intrinsic(block, inst, op, num_components),
            InstData::LoadConst { .. } => self.check_constant(inst),
            InstData::Jump(kind) => self.check_jump(block, inst, kind),
            InstData::Undef => {}
            InstData::Phi => self.check_phi(block, inst),
            InstData::ParallelCopy(_) => self.check_parallel_copy(inst),
        }
    }

    /// Shape of source `number`; the sources were checked to exist.
    fn src_shape(&self, inst: Inst, number: usize) -> Shape {
        self.body.shape(self.body.src(inst, number))
    }

    /// Shape of the result of an instruction that was checked to have one.
    fn def_shape(&self, inst: Inst) -> Shape {
        self.body.inst_def(inst).map_or(Shape::new(0, 0), |d| self.body.shape(d))
    }

    /// Whether a value of scalar type `scalar` may have this bit size: lowered booleans may also have 32 bits.
    fn fits_scalar(scalar: ScalarType, bit_size: u8) -> bool {
        scalar.bit_size() == bit_size || (scalar == ScalarType::Bool && bit_size == 32)
    }

    fn check_call(&mut self, inst: Inst, callee: Function, indirect: bool) {
        let Some(function) = self.shader.functions.get(callee) else {
            return self.report_inst(inst, ValidationErrorKind::CallCallee);
        };
        if indirect && function.body.is_some() {
            self.report_inst(inst, ValidationErrorKind::CallIndirect);
        }
        let first = usize::from(indirect);
        let found = self.body.num_sources(inst).saturating_sub(first);
        let expected = function.parameters.len();
        if found != expected {
            return self.report_inst(inst, ValidationErrorKind::CallCount { expected, found });
        }
        for (number, parameter) in function.parameters.iter().enumerate() {
            let expected = Shape::new(parameter.num_components, parameter.bit_size);
            let fits = self.src_shape(inst, first + number) == expected;
            self.expect(inst, fits, ValidationErrorKind::CallShape { number });
        }
    }

    fn check_constant(&mut self, inst: Inst) {
        let bit_size = self.def_shape(inst).bit_size;
        let Some(values) = self.body.constant(inst) else {
            return self.report_inst(inst, ValidationErrorKind::ConstantPool);
        };
        if bit_size < 64
            && let Some(component) = values.iter().position(|v| v >> bit_size != 0)
        {
            self.report_inst(inst, ValidationErrorKind::ConstantBits { component });
        }
    }

    fn check_phi(&mut self, block: Block, inst: Inst) {
        let body = self.body;
        let shape = self.def_shape(inst);
        self.stamp += 1;
        let mut known = 0;
        for source in body.sources(inst) {
            let def = body.src_def(source);
            let predecessor = body.phi_predecessor(source);
            if !body.has_block(predecessor) || !body.successors(predecessor).any(|s| s == block) {
                self.report_inst(
                    inst,
                    ValidationErrorKind::PhiExtra { predecessor: BlockName::new(body, predecessor) },
                );
            } else if std::mem::replace(&mut self.stamps[predecessor.as_u32() as usize], self.stamp) == self.stamp {
                self.report_inst(
                    inst,
                    ValidationErrorKind::PhiTwice { predecessor: BlockName::new(body, predecessor) },
                );
            } else {
                known += 1;
            }
            if body.shape(def) != shape {
                self.report_inst(inst, ValidationErrorKind::PhiShape { def });
            }
            self.check_phi_deref(inst, def);
        }
        let predecessors = body.predecessors(block);
        if known < predecessors.len() {
            for &predecessor in predecessors {
                if self.stamps.get(predecessor.as_u32() as usize).is_none_or(|&s| s != self.stamp) {
                    self.report_inst(
                        inst,
                        ValidationErrorKind::PhiMissing { predecessor: BlockName::new(body, predecessor) },
                    );
                }
            }
        }
    }

    fn check_parallel_copy(&mut self, inst: Inst) {
        let body = self.body;
        let count = body.num_sources(inst);
        let Some(copies) = body.checked_copies(inst) else {
            return self.report_inst(inst, ValidationErrorKind::CopyEntry { entry: 0 });
        };
        for (entry, copy) in copies.iter().enumerate() {
            let source = copy.source as usize;
            let sound = match copy.dest.expand() {
                Some(dest) => {
                    body.checked_def_inst(dest) == Some(inst)
                        && source < count
                        && (copy.source_is_register || body.shape(body.src(inst, source)) == body.shape(dest))
                }
                None => source < count && (copy.dest_register as usize) < count,
            };
            self.expect(inst, sound, ValidationErrorKind::CopyEntry { entry });
        }
    }

    fn check_jump(&mut self, block: Block, inst: Inst, kind: JumpKind) {
        let body = self.body;
        let is_goto = matches!(kind, JumpKind::Goto(_) | JumpKind::GotoIf { .. });
        if body.last_inst(block) != Some(inst) {
            return self.report_inst(inst, ValidationErrorKind::JumpPlace);
        }
        if body.node_after(block).is_some() && !is_goto {
            self.report_inst(inst, ValidationErrorKind::JumpFollowed);
        }
        if is_goto && body.structured {
            self.report_inst(inst, ValidationErrorKind::JumpStructured { jump: kind });
        }
        let targets = match kind {
            JumpKind::Goto(target) => [Some(target), None],
            JumpKind::GotoIf { then_block, else_block } => [Some(then_block), Some(else_block)],
            JumpKind::Break | JumpKind::Continue | JumpKind::Return | JumpKind::Halt => {
                return self.check_structured_jump(block, inst, kind);
            }
        };
        for target in targets.into_iter().flatten() {
            if !body.has_block(target) || (body.block_parent(target).is_none() && target != body.end_block()) {
                self.report_inst(inst, ValidationErrorKind::JumpTarget { target: BlockName::new(body, target) });
            }
        }
    }

    /// `break` leaves any loop, also from its continue construct; `continue`, `return` and `halt` are not allowed
    /// there.
    fn check_structured_jump(&mut self, block: Block, inst: Inst, kind: JumpKind) {
        let mut parent = self.body.block_parent(block);
        let mut in_loop = false;
        while let Some(at) = parent {
            match at {
                crate::body::CfParent::Continue(_) if kind != JumpKind::Break => {
                    return self.report_inst(inst, ValidationErrorKind::JumpInContinue);
                }
                crate::body::CfParent::Body(_) | crate::body::CfParent::Continue(_) => {
                    in_loop = true;
                    if matches!(kind, JumpKind::Break | JumpKind::Continue) {
                        break;
                    }
                }
                _ => {}
            }
            parent = self.body.outer(at);
        }
        if !in_loop && matches!(kind, JumpKind::Break | JumpKind::Continue) {
            self.report_inst(inst, ValidationErrorKind::JumpOutsideLoop);
        }
    }

    /// Marks the result of an instruction as available to the rest of its block.
    fn mark_made(&mut self, inst: Inst) {
        let mut mark = |def: Def| {
            if let Some(mut bit) = self.made.get_mut(def.as_u32() as usize) {
                *bit = true;
            }
        };
        if let Some(def) = self.body.inst_def(inst) {
            mark(def);
        }
        if let Some(copies) = self.body.checked_copies(inst) {
            copies.iter().filter_map(|c| c.dest.expand()).for_each(mark);
        }
    }
}
