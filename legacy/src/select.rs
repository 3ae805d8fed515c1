//! Instruction selection for machines with the [instruction type](tgsi_vec4::simple) of `tgsi_vec4`: lowered IR to a
//! program, over registers of the machine or over virtual temporaries.
//!
//! A machine implements [`Selection`]: the opcodes of ALU operations and control flow, the values that instructions
//! read in place, and all instructions that are not ALU operations. The rest is here: operands, destinations and
//! modifiers by [`chase`], locations, vectors, constants, blocks.
//!
//! - With a number of registers, temporaries are those of [`assign_registers`](assign_registers()), and instructions
//!   are as they are in the IR: [`legalize_operands`](crate::legalize_operands()) and
//!   [`lower_vec_to_regs`](crate::lower_vec_to_regs()) must have run.
//! - Without, temporaries are virtual, instructions are legalised by [`push_legal`], and vectors are copies of their
//!   components. The passes of [`tgsi_vec4`] follow.
//!
//! Temporaries have no run-time index: [`no_indirect`](tgsi_ir::options::CompilerOptions::no_indirect) must contain
//! them. Constants are rows of [`Program::constants`]; [`pack_constants`](tgsi_vec4::simple::pack_constants) packs them
//! in the end.

use cranelift_entity::SecondaryMap;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{CfEvent, InstData, JumpKind};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Body, Def, Inst, Use};
use tgsi_vec4::simple::{Destination, File, Instruction, SimpleMachine, Source, push_legal};
use tgsi_vec4::{Flow, Machine, Program};
use thiserror::Error;

use crate::assign_registers::{AssignOptions, Assignment, TooManyRegisters, assign_registers};
use crate::chase::{self, Operand};
use crate::modifiers::ModifierPolicy;
use crate::registers::reg_decl;

/// The facts about a machine that selection needs.
pub trait Selection: SimpleMachine {
    /// The opcode of an ALU operation, which has the same operands.
    fn alu(&self, op: AluOp) -> Option<Self::Op>;

    /// The opcode of control flow.
    fn flow(&self, flow: Flow) -> Self::Op;

    /// The operand that reads a value in place, if no instruction defines it. Lowering must get the same values
    /// ([`IsOperand`](crate::IsOperand)). Constants are not asked for.
    fn operand(&self, body: &Body, def: Def) -> Option<Source>;

    /// Selects instructions other than ALU operations, jumps and register accesses. Those that define values read in
    /// place are not asked for.
    ///
    /// # Errors
    /// [`SelectError`].
    fn select(selector: &mut Selector<'_, Self>, inst: Inst) -> Result<(), SelectError>;
}

/// A part of a shader that a machine cannot execute.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SelectError {
    /// The machine has no instruction.
    #[error("{inst}: the machine has no {what}")]
    Missing {
        /// The instruction of the IR.
        inst: Inst,
        /// Its name.
        what: &'static str,
    },
    /// There are too few registers.
    #[error(transparent)]
    Registers(#[from] TooManyRegisters),
    /// A loop has a continue construct.
    #[error("a loop has a continue construct")]
    Continue,
}

impl SelectError {
    /// The instruction that the error is about, if it is known.
    pub fn inst(&self) -> Option<Inst> {
        match self {
            SelectError::Missing { inst, .. } | SelectError::Registers(TooManyRegisters { inst, .. }) => Some(*inst),
            SelectError::Continue => None,
        }
    }
}

/// Selects the instructions of a body, see the [module](self). `registers` is the number of registers of the machine,
/// or none for virtual temporaries.
///
/// # Errors
/// [`SelectError`].
pub fn select<M: Selection>(
    machine: M,
    body: &Body,
    policy: ModifierPolicy<'_>,
    registers: Option<u32>,
) -> Result<Program<M>, SelectError> {
    let mut assigned = None;
    if let Some(limit) = registers {
        let is_folded = |body: &Body, inst: Inst| chase::is_folded(body, inst, policy);
        let has_location = |body: &Body, def: Def| !is_constant(body, def) && machine.operand(body, def).is_none();
        let options = AssignOptions {
            limit,
            is_folded: &is_folded,
            needs_location: &has_location,
            // Vectors take several instructions.
            reads_first: &|_, _| false,
        };
        assigned = Some(assign_registers(body, options)?);
    }
    let mut program = Program::new(machine, 0);
    // New temporaries come after those in use.
    program.set_num_temps(assigned.as_ref().map_or(0, |assigned| assigned.peak));
    let mut selector = Selector { body, program, policy, assigned, temps: SecondaryMap::new() };
    for event in body.events() {
        let (flow, condition) = match event {
            CfEvent::Block(block) => {
                body.insts(block).try_for_each(|inst| selector.select(inst))?;
                continue;
            }
            CfEvent::If(id) => (Flow::If, Some(selector.source(body.if_condition(id)))),
            CfEvent::Else(id) if body.is_else_empty(id) => continue,
            CfEvent::Else(_) => (Flow::Else, None),
            CfEvent::EndIf(_) => (Flow::EndIf, None),
            CfEvent::Loop(_) => (Flow::Loop, None),
            CfEvent::EndLoop(_) => (Flow::EndLoop, None),
            CfEvent::Continue(_) => return Err(SelectError::Continue),
        };
        selector.push_flow(flow, condition);
    }
    selector.push_flow(Flow::End, None);
    Ok(selector.program)
}

/// The four words of a constant, its last one in the remaining components; zeros for an undefined value, and none for
/// other values.
pub fn constant_words(body: &Body, def: Def) -> Option<[u32; 4]> {
    let inst = body.def_inst(def);
    match body.inst(inst) {
        InstData::LoadConst { .. } => {
            let words = body.constant(inst).unwrap_or_default();
            let last = words.len().saturating_sub(1);
            Some([0, 1, 2, 3].map(|c: usize| words.get(c.min(last)).copied().unwrap_or(0) as u32))
        }
        InstData::Undef => Some([0; 4]),
        _ => None,
    }
}

/// The virtual temporaries of values in SSA form and of registers, for drivers that do not implement [`Selection`].
#[derive(Clone, Default, Debug)]
pub struct ValueTemps(SecondaryMap<Def, Option<u32>>);

impl ValueTemps {
    /// The temporary of a value, or of a register by its handle.
    pub fn of<M: Machine>(&mut self, def: Def, program: &mut Program<M>) -> Source {
        let temp = *self.0[def].get_or_insert_with(|| program.new_temp());
        Source::new(File::Temporary, temp as i32)
    }
}

fn is_constant(body: &Body, def: Def) -> bool {
    matches!(body.inst(body.def_inst(def)), InstData::LoadConst { .. } | InstData::Undef)
}

/// The operand for a load from the interface with a constant index: the register is its base, the first component its
/// component. None for other loads.
pub fn interface_operand(body: &Body, load: Inst, file: File) -> Option<Source> {
    let (index, first) = interface_register(body, load)?;
    Some(Source::new(file, index).swizzled([0, 1, 2, 3].map(|c: u8| (c + first).min(3))))
}

/// The register and the first component of an access to the interface with a constant index.
fn interface_register(body: &Body, access: Inst) -> Option<(i32, u8)> {
    let offset = body.constant_component(body.src(access, body.num_sources(access) - 1), 0)?;
    let has_component = !matches!(body.intrinsic(access), Some(IntrinsicOp::LoadUniform));
    let first = if has_component { body.index(access, IndexKind::Component).clamp(0, 3) as u8 } else { 0 };
    Some((body.index(access, IndexKind::Base).wrapping_add(offset as i32), first))
}

/// The state of selection.
pub struct Selector<'a, M: Selection> {
    /// The body.
    pub body: &'a Body,
    /// The instructions selected so far.
    pub program: Program<M>,
    policy: ModifierPolicy<'a>,
    /// The registers of values, if they are those of the machine.
    assigned: Option<Assignment>,
    /// The virtual temporaries of values and registers otherwise.
    temps: SecondaryMap<Def, Option<u32>>,
}

impl<M: Selection> Selector<'_, M> {
    /// Appends an instruction.
    pub fn push(&mut self, instruction: Instruction<M::Op>) {
        match self.assigned {
            Some(_) => self.program.push(instruction),
            None => push_legal(&mut self.program, instruction),
        }
    }

    fn push_flow(&mut self, flow: Flow, condition: Option<Source>) {
        let op = self.program.machine.flow(flow);
        self.push(Instruction::new(op, None, condition));
    }

    /// The operand for a source of an instruction that is not an ALU operation.
    pub fn source(&mut self, source: Use) -> Source {
        let operand = chase::chase_src(self.body, source);
        self.operand(operand)
    }

    /// The operand for a source of an ALU operation.
    pub fn alu_source(&mut self, inst: Inst, number: usize) -> Source {
        let chased = chase::chase_alu_src(self.body, inst, number, self.policy);
        let value = self.operand(chased.operand);
        let swizzle = [0, 1, 2, 3].map(|channel| value.swizzle[usize::from(chased.swizzle.get(channel).min(3))]);
        Source { swizzle, absolute: chased.absolute, negate: chased.negate, ..value }
    }

    /// The destination for the result of an instruction that is not an ALU operation.
    pub fn destination(&mut self, def: Def) -> Destination {
        let register = self.register(chase::chase_dest(self.body, def));
        Destination::new(File::Temporary, register, self.body.full_mask(def) as u8 & 0xf)
    }

    /// An operand with these words.
    pub fn constant(&mut self, words: [u32; 4]) -> Source {
        Source::new(File::Constant, self.program.constants.intern(words))
    }

    /// Selects a copy to an output, for a store with a constant index.
    ///
    /// # Errors
    /// [`SelectError::Missing`] for other stores.
    pub fn store_output(&mut self, inst: Inst) -> Result<(), SelectError> {
        let body = self.body;
        let missing = SelectError::Missing { inst, what: "outputs with a run-time index" };
        let (register, first) = interface_register(body, inst).ok_or(missing)?;
        let value = self.source(body.source(inst, 0));
        let swizzle = [0, 1, 2, 3].map(|c: u8| value.swizzle[usize::from(c.saturating_sub(first))]);
        let mask = (body.index(inst, IndexKind::WriteMask) as u8) << first & 0xf;
        let to = Destination::new(File::Output, register, mask);
        self.push(Instruction::new(M::COPY, Some(to), [value.swizzled(swizzle)]));
        Ok(())
    }

    /// The temporary of a value or register; of an array the first one.
    fn temp(&mut self, def: Def) -> i32 {
        if let Some(assigned) = &self.assigned {
            return assigned.location(def).unwrap_or_default() as i32;
        }
        let elements = reg_decl(self.body, def).map_or(1, |register| register.num_array_elems.max(1));
        let program = &mut self.program;
        let first = || (0..elements).fold(u32::MAX, |first, _| first.min(program.new_temp()));
        *self.temps[def].get_or_insert_with(first) as i32
    }

    fn register(&mut self, operand: Operand) -> i32 {
        match operand {
            Operand::Ssa(def) => self.temp(def),
            Operand::Register(register) => self.temp(register.handle) + register.base as i32,
        }
    }

    fn operand(&mut self, operand: Operand) -> Source {
        if let Operand::Ssa(def) = operand {
            if let Some(words) = constant_words(self.body, def) {
                return self.constant(words);
            }
            if let Some(source) = self.program.machine.operand(self.body, def) {
                return source;
            }
        }
        Source::new(File::Temporary, self.register(operand))
    }

    fn select(&mut self, inst: Inst) -> Result<(), SelectError> {
        let body = self.body;
        match *body.inst(inst) {
            InstData::LoadConst { .. } | InstData::Undef => {}
            InstData::Alu { .. } if chase::is_folded(body, inst, self.policy) => {}
            InstData::Alu { op, .. } => return self.select_alu(inst, op),
            InstData::Jump(JumpKind::Break) => self.push_flow(Flow::Break, None),
            InstData::Jump(JumpKind::Continue) => self.push_flow(Flow::Continue, None),
            InstData::Intrinsic { op: IntrinsicOp::LoadRegIndirect | IntrinsicOp::StoreRegIndirect, .. } => {
                return Err(SelectError::Missing { inst, what: "temporaries with a run-time index" });
            }
            _ if chase::is_register_access(body, inst) => {}
            _ if body.inst_def(inst).is_some_and(|def| self.program.machine.operand(body, def).is_some()) => {}
            _ => return M::select(self, inst),
        }
        Ok(())
    }

    fn select_alu(&mut self, inst: Inst, op: AluOp) -> Result<(), SelectError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let chased = chase::chase_alu_dest(body, def, self.policy);
        let to = Destination::new(File::Temporary, self.register(chased.operand), chased.write_mask as u8 & 0xf);
        let sources = (0..body.num_sources(inst)).map(|number| self.alu_source(inst, number));
        let mut selected = Instruction::new(M::COPY, Some(to), sources);
        selected.saturate = chased.saturate;
        match (op, selected.sources.first_mut()) {
            (AluOp::Fneg, Some(source)) => source.negate ^= true,
            (AluOp::Fabs, Some(source)) => (source.absolute, source.negate) = (true, false),
            (AluOp::Fsat, _) => selected.saturate = true,
            _ if op.is_vec() && body.num_sources(inst) <= 4 && self.assigned.is_none() => {
                // The destination may be an operand: passes remove the temporary if possible.
                let vector = self.program.new_temp() as i32;
                for (c, source) in selected.sources.take().into_iter().enumerate() {
                    let component = Destination::new(File::Temporary, vector, 1 << c);
                    self.push(Instruction::new(M::COPY, Some(component), [source.swizzled([source.swizzle[0]; 4])]));
                }
                selected.sources.push(Source::new(File::Temporary, vector));
            }
            _ => {
                let missing = SelectError::Missing { inst, what: op.name() };
                selected.op = self.program.machine.alu(op).ok_or(missing)?;
            }
        }
        self.push(selected);
        Ok(())
    }
}
