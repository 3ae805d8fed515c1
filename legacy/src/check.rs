//! Proves, independently of the trivialisation, that folding register accesses is sound.
//!
//! The checker assumes nothing about how the trivialisation works. It runs each block twice, symbolically: once with
//! the semantics of the IR (a load reads when it is executed, a store writes when it is executed) and once as a backend
//! that uses the [`chase`](crate::chase) functions executes it (a folded load reads at its use, a folded store writes
//! at the producer of its value). Every component of a register carries the *version* that the last store gave it. The
//! two runs must agree on
//!
//! - the version of each component at each use,
//! - the versions of all registers at the end of the block.
//!
//! In addition every store must be folded into the producer of its value exactly once, every load must be used only in
//! its own block, and modifiers and partial masks may occur only where the chase functions can return them. Elements of
//! an array are not distinguished, so an accepted block is correct for every run-time index.

use hashbrown::HashMap;

use cranelift_entity::SecondaryMap;
use tgsi_ir::intrinsics::IndexKind;
use tgsi_ir::{Block, Body, Def, Inst, InstData, Shader, Use};
use thiserror::Error;

use crate::chase::{
    Operand, Register, accessed_register, chase_alu_dest, chase_alu_src, is_folded, is_load_reg, is_register_access,
    is_store_reg, load_reg_for_def, store_reg_for_def,
};
use crate::modifiers::{ModifierPolicy, SourceModifiers};
use crate::trivialize_registers::IsOperand;

/// A reason why folding is unsound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Violation {
    /// A load is used in another block.
    #[error("{reader} reads the register load {load}, which is in another block")]
    ReaderInOtherBlock {
        /// The load.
        load: Inst,
        /// The block of the use.
        reader: Block,
    },
    /// A folded load would read another value than the load does.
    #[error("the load {load} is folded into a reader in {block} after a store that changes component {component}")]
    StaleLoad {
        /// The load.
        load: Inst,
        /// The component.
        component: u8,
        /// The block.
        block: Block,
    },
    /// A store that is not folded into a producer.
    #[error("the store {store} is not folded into the producer of its value")]
    UnfoldedStore {
        /// The store.
        store: Inst,
    },
    /// At the end of a block a register holds the wrong value.
    #[error("component {component} of register {register} holds the wrong value at the end of {block}")]
    WrongFinalValue {
        /// Handle of the register.
        register: Def,
        /// The component.
        component: u8,
        /// The block.
        block: Block,
    },
    /// A producer writes a register through an index that is defined after it.
    #[error("the store {store} is folded into a producer that precedes its index")]
    IndexAfterProducer {
        /// The store.
        store: Inst,
    },
    /// A load with modifiers is used by a non-ALU instruction.
    #[error("the load {load} has modifiers but a user that supports none")]
    ModifierOnPlainReader {
        /// The load.
        load: Inst,
    },
    /// A partial or saturating store of the result of a non-ALU instruction.
    #[error("the store {store} needs a write mask or saturation that its producer does not have")]
    PlainProducer {
        /// The store.
        store: Inst,
    },
    /// An operand reads a load with a modifier that the target does not support there.
    #[error("the load {load} has a modifier that source {number} of its user does not support")]
    ModifierNotTaken {
        /// The load.
        load: Inst,
        /// The number of the source.
        number: u8,
    },
    /// A store saturates the result of an operation that cannot saturate.
    #[error("the store {store} saturates the result of an operation that cannot saturate")]
    SaturationNotTaken {
        /// The store.
        store: Inst,
    },
    /// A register read through a folded modifier, which the chase functions do not follow.
    #[error("the load {load} is read through a modifier that is folded")]
    LoadBehindModifier {
        /// The load.
        load: Inst,
    },
    /// A folded saturation is stored to a register, but the store has no producer to fold into.
    #[error("the store {store} stores the value of a folded saturation")]
    StoreOfFoldedSaturation {
        /// The store.
        store: Inst,
    },
}

/// Checks all functions of a shader after [`legacy_trivialize`](crate::legacy_trivialize()) with the same policy and
/// the same operands read in place. Returns all violations.
pub fn check(shader: &Shader, policy: ModifierPolicy<'_>, is_operand: IsOperand<'_>) -> Result<(), Vec<Violation>> {
    let mut violations = Vec::new();
    for body in shader.functions.values().filter_map(|f| f.body.as_ref()) {
        check_body(body, policy, is_operand, &mut violations);
    }
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

/// Checks one body and appends its violations.
pub fn check_body(body: &Body, policy: ModifierPolicy<'_>, is_operand: IsOperand<'_>, violations: &mut Vec<Violation>) {
    for block in body.blocks() {
        let (seen, now) = (HashMap::new(), Versions::default());
        BlockCheck { body, policy, is_operand, block, violations, seen, now }.run();
    }
}

/// Versions of register components: the last store that wrote them; none for the content at the start of the block.
#[derive(Default, Clone)]
struct Versions(HashMap<(Def, u8), Inst>);

impl Versions {
    fn get(&self, handle: Def, component: u8) -> Option<Inst> {
        self.0.get(&(handle, component)).copied()
    }

    fn write(&mut self, handle: Def, mask: u32, store: Inst) {
        for component in (0..16).filter(|c| mask & (1 << c) != 0) {
            self.0.insert((handle, component), store);
        }
    }
}

struct BlockCheck<'a> {
    body: &'a Body,
    policy: ModifierPolicy<'a>,
    is_operand: IsOperand<'a>,
    block: Block,
    violations: &'a mut Vec<Violation>,
    /// The versions that each load of the block reads by the semantics of the IR.
    seen: HashMap<Inst, [Option<Inst>; 16]>,
    /// State of the run as a backend executes it.
    now: Versions,
}

impl BlockCheck<'_> {
    fn run(&mut self) {
        // By the semantics of the IR.
        let mut meant = Versions::default();
        for inst in self.body.insts(self.block) {
            let Some(register) = accessed_register(self.body, inst) else { continue };
            if is_load_reg(self.body, inst) {
                let versions = std::array::from_fn(|c| meant.get(register.handle, c as u8));
                self.seen.insert(inst, versions);
            } else {
                let mask = self.body.write_mask(inst);
                meant.write(register.handle, mask, inst);
            }
        }
        // As a backend executes it.
        let mut folded: SecondaryMap<Inst, bool> = SecondaryMap::new();
        for inst in self.body.insts(self.block) {
            let silent = is_register_access(self.body, inst)
                || matches!(self.body.inst(inst), InstData::LoadConst { .. } | InstData::Undef)
                || is_folded(self.body, inst, self.policy);
            if silent {
                continue;
            }
            self.read_sources(inst);
            // The backend emits nothing for a value read in place: a store into it is lost.
            if self.body.inst_def(inst).is_some_and(|def| (self.is_operand)(self.body, def)) {
                continue;
            }
            if let Some(store) = self.write_destination(inst) {
                folded[store] = true;
            }
        }
        if let Some(id) = self.body.following_if(self.block) {
            self.read_plain(self.body.if_condition(id));
        }
        for inst in self.body.insts(self.block).filter(|&i| is_store_reg(self.body, i)) {
            if !folded[inst] {
                self.violations.push(Violation::UnfoldedStore { store: inst });
            }
        }
        let mut keys: Vec<(Def, u8)> = meant.0.keys().chain(self.now.0.keys()).copied().collect();
        keys.sort_unstable();
        keys.dedup();
        for (register, component) in keys {
            if meant.get(register, component) != self.now.get(register, component) {
                let block = self.block;
                self.violations.push(Violation::WrongFinalValue { register, component, block });
            }
        }
    }

    fn read_sources(&mut self, inst: Inst) {
        let is_alu = self.body.alu_op(inst).is_some();
        for source in self.body.sources(inst) {
            if !is_alu {
                self.read_plain(source);
                continue;
            }
            let number = self.body.source_number(source);
            let chased = chase_alu_src(self.body, inst, number, self.policy);
            match chased.operand {
                Operand::Register(_) => {
                    let components = self.body.alu_src_components(inst, number);
                    let mask = chased.swizzle.iter(components).fold(0u32, |m, c| m | 1 << c);
                    if let Some(load) = load_reg_for_def(self.body, self.body.src_def(source)) {
                        let taken = self
                            .body
                            .alu_op(inst)
                            .map_or(SourceModifiers::NONE, |op| self.policy.source_of(op, number));
                        if chased.negate && !taken.negate || chased.absolute && !taken.absolute {
                            self.violations.push(Violation::ModifierNotTaken { load, number: number as u8 });
                        }
                        self.read_load(load, mask);
                    }
                }
                Operand::Ssa(def) => {
                    if let Some(load) = load_reg_for_def(self.body, def) {
                        self.violations.push(Violation::LoadBehindModifier { load });
                    }
                }
            }
        }
    }

    /// A source without modifiers.
    fn read_plain(&mut self, source: Use) {
        let def = self.body.src_def(source);
        let Some(load) = load_reg_for_def(self.body, def) else { return };
        let modified =
            [IndexKind::LegacyFabs, IndexKind::LegacyFneg].iter().any(|&kind| self.body.index(load, kind) != 0);
        if modified {
            self.violations.push(Violation::ModifierOnPlainReader { load });
        }
        self.read_load(load, self.body.full_mask(def));
    }

    /// A folded load: the current versions must be those that the load reads. Run-time indices that are loads
    /// themselves are read at the same point.
    fn read_load(&mut self, load: Inst, mask: u32) {
        let mut next = Some((load, mask));
        while let Some((load, mask)) = next.take() {
            let Some(Register { handle, indirect, .. }) = accessed_register(self.body, load) else { return };
            let Some(versions) = self.seen.get(&load) else {
                self.violations.push(Violation::ReaderInOtherBlock { load, reader: self.block });
                return;
            };
            for component in (0..16u8).filter(|c| mask & (1 << c) != 0) {
                if versions[usize::from(component)] != self.now.get(handle, component) {
                    self.violations.push(Violation::StaleLoad { load, component, block: self.block });
                    break;
                }
            }
            if let Some(index) = indirect
                && let Some(load) = load_reg_for_def(self.body, index)
            {
                next = Some((load, 1));
            }
        }
    }

    /// Executes the write of an instruction; returns the store folded into it.
    fn write_destination(&mut self, inst: Inst) -> Option<Inst> {
        let def = self.body.inst_def(inst)?;
        let store = if let Some(op) = self.body.alu_op(inst) {
            let destination = chase_alu_dest(self.body, def, self.policy);
            match destination.operand {
                Operand::Register(_) => {
                    let store = store_reg_for_def(self.body, def)?;
                    if destination.saturate && !self.policy.saturates(op) {
                        self.violations.push(Violation::SaturationNotTaken { store });
                    }
                    store
                }
                Operand::Ssa(result) => {
                    if result != def
                        && let Some(store) = store_reg_for_def(self.body, result)
                    {
                        self.violations.push(Violation::StoreOfFoldedSaturation { store });
                    }
                    return None;
                }
            }
        } else {
            let store = store_reg_for_def(self.body, def)?;
            if self.body.write_mask(store) != self.body.full_mask(def)
                || self.body.index(store, IndexKind::LegacyFsat) != 0
            {
                self.violations.push(Violation::PlainProducer { store });
            }
            store
        };
        if self.body.inst_block(store) != Some(self.block) {
            // The store's own block reports it as not folded.
            return None;
        }
        let register = accessed_register(self.body, store)?;
        if let Some(index) = register.indirect {
            match load_reg_for_def(self.body, index) {
                Some(load) => self.read_load(load, 1),
                None => {
                    let producer = self.body.def_inst(index);
                    let order = self.body.inst_order();
                    if self.body.inst_block(producer) == Some(self.block) && order.index(producer) >= order.index(inst)
                    {
                        self.violations.push(Violation::IndexAfterProducer { store });
                    }
                }
            }
        }
        self.now.write(register.handle, self.body.write_mask(store), store);
        Some(store)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NO_OPERANDS, convert_from_ssa, legacy_trivialize, lower_vec_to_regs};
    use tgsi_ir::alu::AluOp;
    use tgsi_ir::body::JumpKind;
    use tgsi_ir::intrinsics::IntrinsicOp;
    use tgsi_ir::{Builder, Cursor, ShaderStage, Shape};

    fn scalar() -> Shape {
        Shape::new(1, 32)
    }

    /// A value that cannot be folded away.
    fn value(b: &mut Builder) -> Def {
        let c = b.u32_const(7);
        b.alu(AluOp::Ineg, &[c])
    }

    #[test]
    fn the_reference_s_defect_is_found_and_not_ours() {
        // PA; load r; PB; store A (x); store B (y): folding A would move its write above the load.
        let mut shader = Shader::new(ShaderStage::Vertex);
        let body = shader.main_mut();
        let mut b = Builder::at_end(body);
        let r = b.decl_reg(Shape::new(2, 32), 0);
        let one = b.constant(32, &[1, 2]);
        let pa = b.alu(AluOp::Ineg, &[one]);
        let load = b.load_reg(r, 0);
        let kept = b.alu(AluOp::Iabs, &[load]);
        let pb = b.alu(AluOp::Inot, &[one]);
        b.store_reg(pa, r, 0, 1);
        b.store_reg(pb, r, 0, 2);
        let r2 = b.decl_reg(Shape::new(2, 32), 0);
        b.store_reg(kept, r2, 0, 3);
        let wrong = check(&shader, ModifierPolicy::ALL, NO_OPERANDS).unwrap_err();
        assert!(wrong.iter().any(|v| matches!(v, Violation::StaleLoad { component: 0, .. })), "{wrong:?}");
        legacy_trivialize(&mut shader, ModifierPolicy::ALL, NO_OPERANDS);
        assert_eq!(check(&shader, ModifierPolicy::ALL, NO_OPERANDS), Ok(()));
    }

    #[test]
    fn swapping_phis_need_one_register_more() {
        let mut shader = Shader::new(ShaderStage::Vertex);
        let body = shader.main_mut();
        let mut b = Builder::at_end(body);
        let out = b.decl_reg(scalar(), 0);
        let (x, y) = (value(&mut b), value(&mut b));
        let before = b.block();
        let id = b.push_loop();
        let p = b.phi(scalar(), &[(before, x)]);
        let q = b.phi(scalar(), &[(before, y)]);
        let done = b.alu(AluOp::Ieq, &[p, q]);
        let exit = b.push_if(done);
        b.jump(JumpKind::Break);
        b.end_if(exit);
        let latch = b.block();
        let (pi, qi) = (b.body.def_inst(p), b.body.def_inst(q));
        b.body.add_phi_source(pi, latch, q);
        b.body.add_phi_source(qi, latch, p);
        b.end_loop(id);
        let sum = b.alu(AluOp::Isub, &[p, q]);
        b.store_reg(sum, out, 0, 1);
        assert!(convert_from_ssa(&mut shader, Default::default()));
        let body = shader.main();
        assert!(crate::convert_from_ssa::is_out_of_ssa(body));
        let start = body.start_block();
        let registers = body.insts(start).filter(|&i| body.intrinsic(i) == Some(IntrinsicOp::DeclReg)).count();
        assert_eq!(registers, 4, "two phis, the temporary of the swap, the result");
        legacy_trivialize(&mut shader, ModifierPolicy::ALL, NO_OPERANDS);
        assert_eq!(check(&shader, ModifierPolicy::ALL, NO_OPERANDS), Ok(()));
    }

    #[test]
    fn vectors_are_written_by_their_producers() {
        let mut shader = Shader::new(ShaderStage::Vertex);
        let body = shader.main_mut();
        let mut b = Builder::at_end(body);
        let x = value(&mut b);
        let a = b.alu(AluOp::Iadd, &[x, x]);
        let c = b.alu(AluOp::Imul, &[x, x]);
        let v = b.vec_of(&[a, c, x, x]);
        let out = b.decl_reg(Shape::new(4, 32), 0);
        b.store_reg(v, out, 0, 15);
        lower_vec_to_regs(&mut shader, None);
        legacy_trivialize(&mut shader, ModifierPolicy::ALL, NO_OPERANDS);
        assert_eq!(check(&shader, ModifierPolicy::ALL, NO_OPERANDS), Ok(()));
        let body = shader.main();
        let movs = body.insts(body.start_block()).filter(|&i| body.alu_op(i) == Some(AluOp::Mov)).count();
        assert_eq!(movs, 2, "one for the two components of %x, one for the store of the vector");
    }

    #[test]
    fn modifiers_go_into_loads_and_stores() {
        let mut shader = Shader::new(ShaderStage::Vertex);
        let body = shader.main_mut();
        let mut b = Builder::at_end(body);
        let r = b.decl_reg(scalar(), 0);
        let s = b.decl_reg(scalar(), 0);
        let x = b.load_reg(r, 0);
        let abs = b.alu(AluOp::Fabs, &[x]);
        let neg = b.alu(AluOp::Fneg, &[abs]);
        let sum = b.alu(AluOp::Fadd, &[neg, x]);
        let sat = b.alu(AluOp::Fsat, &[sum]);
        b.store_reg(sat, s, 0, 1);
        let last = b.load_reg(s, 0);
        b.intrinsic(IntrinsicOp::StorePreamble, &[last], &[], None);
        legacy_trivialize(&mut shader, ModifierPolicy::ALL, NO_OPERANDS);
        assert_eq!(check(&shader, ModifierPolicy::ALL, NO_OPERANDS), Ok(()));
        let body = shader.main();
        let sum = body
            .insts(body.start_block())
            .find(|&i| body.alu_op(i) == Some(AluOp::Fadd))
            .and_then(|i| body.inst_def(i))
            .unwrap();
        let source = chase_alu_src(body, body.def_inst(sum), 0, ModifierPolicy::ALL);
        assert!(source.absolute && source.negate);
        assert!(matches!(source.operand, Operand::Register(Register { handle, .. }) if handle == r));
        let destination = chase_alu_dest(body, sum, ModifierPolicy::ALL);
        assert!(destination.saturate);
        assert!(matches!(destination.operand, Operand::Register(Register { handle, .. }) if handle == s));
    }

    #[test]
    fn stores_of_operands_that_are_read_in_place_are_isolated() {
        // The last instruction of a loop: `MOV TEMP, CONST`.
        let mut shader = Shader::new(ShaderStage::Vertex);
        let mut b = Builder::at_end(shader.main_mut());
        let r = b.decl_reg(scalar(), 0);
        let index = b.u32_const(0);
        let uniform = b.intrinsic_def(IntrinsicOp::LoadUniform, &[index], &[], scalar());
        b.store_reg(uniform, r, 0, 1);
        let is_uniform: IsOperand<'_> =
            &|body, def| body.intrinsic(body.def_inst(def)) == Some(IntrinsicOp::LoadUniform);
        // Without the knowledge, the store folds into the load, and a backend that emits no code for the load loses it.
        let mut folded = shader.clone();
        legacy_trivialize(&mut folded, ModifierPolicy::ALL, NO_OPERANDS);
        assert_eq!(check(&folded, ModifierPolicy::ALL, NO_OPERANDS), Ok(()));
        let wrong = check(&folded, ModifierPolicy::ALL, is_uniform).unwrap_err();
        assert!(wrong.iter().any(|v| matches!(v, Violation::UnfoldedStore { .. })), "{wrong:?}");
        legacy_trivialize(&mut shader, ModifierPolicy::ALL, is_uniform);
        assert_eq!(check(&shader, ModifierPolicy::ALL, is_uniform), Ok(()));
        let body = shader.main();
        let movs = body.insts(body.start_block()).filter(|&i| body.alu_op(i) == Some(AluOp::Mov)).count();
        assert_eq!(movs, 1, "the mov that writes the register");
    }

    #[test]
    fn every_kind_of_violation_is_found() {
        let found = |make: &dyn Fn(&mut Builder)| {
            let mut shader = Shader::new(ShaderStage::Vertex);
            make(&mut Builder::at_end(shader.main_mut()));
            let all = check(&shader, ModifierPolicy::ALL, NO_OPERANDS).err().unwrap_or_default();
            legacy_trivialize(&mut shader, ModifierPolicy::ALL, NO_OPERANDS);
            assert_eq!(check(&shader, ModifierPolicy::ALL, NO_OPERANDS), Ok(()), "trivialisation repairs it");
            all.iter()
                .map(|v| v.to_string().split(' ').next().unwrap().to_string() + &format!("{v:?}"))
                .collect::<String>()
        };
        let other_block = found(&|b| {
            let r = b.decl_reg(scalar(), 0);
            let s = b.decl_reg(scalar(), 0);
            let x = b.load_reg(r, 0);
            let c = b.bool_const(true);
            let id = b.push_if(c);
            let y = b.alu(AluOp::Ineg, &[x]);
            b.store_reg(y, s, 0, 1);
            b.end_if(id);
        });
        assert!(other_block.contains("ReaderInOtherBlock"));
        let unfolded = found(&|b| {
            let r = b.decl_reg(scalar(), 0);
            let c = b.u32_const(1);
            b.store_reg(c, r, 0, 1);
        });
        assert!(unfolded.contains("UnfoldedStore") && unfolded.contains("WrongFinalValue"));
        let index = found(&|b| {
            let r = b.decl_reg(scalar(), 4);
            let c = b.u32_const(1);
            let x = b.alu(AluOp::Ineg, &[c]);
            let i = b.alu(AluOp::Inot, &[c]);
            b.store_reg_indirect(x, r, i, 0, 1);
        });
        assert!(index.contains("IndexAfterProducer"));
        let partial = found(&|b| {
            let r = b.decl_reg(Shape::new(2, 32), 0);
            let zero = b.u32_const(0);
            let x = b.intrinsic_def(IntrinsicOp::LoadUniform, &[zero], &[], Shape::new(2, 32));
            b.store_reg(x, r, 0, 1);
        });
        assert!(partial.contains("PlainProducer"));
        let _ = Cursor::BlockStart;
    }
}
