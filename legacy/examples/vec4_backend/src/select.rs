//! Instruction selection: lowered IR to instructions, over registers or over virtual temporaries.

use cranelift_entity::SecondaryMap;
use tgsi_compiler::Unsupported;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{CfEvent, InstData, JumpKind};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Body, Def, Inst, Swizzle, Use};
use tgsi_registers::assign_registers::{Assignment, assign_registers};
use tgsi_registers::chase::{self, Operand};
use tgsi_registers::registers::reg_decl;
use tgsi_vec4::simple::{Destination, File, Instruction, Relative, Source, push_legal};
use tgsi_vec4::{Flow, Program};

use crate::machine::{Machine, Op};
use crate::{MISSING, MODIFIERS, TEMPORARIES, TOO_LARGE, is_operand};

/// The address register.
const ADDRESS: Relative = Relative { register: 0, component: 0 };

/// Selects the instructions of a body. With `registers`, temporaries are registers of the machine.
pub(crate) fn select(body: &Body, registers: bool) -> Result<Program<Machine>, Unsupported> {
    let program = Program::new(Machine, 0);
    let mut selector = Selector { body, program, assigned: None, temps: SecondaryMap::new() };
    if registers {
        let is_folded = |body: &Body, inst: Inst| chase::is_folded(body, inst, MODIFIERS);
        let assigned = assign_registers(body, &is_folded, TEMPORARIES, &|body, def| !is_operand(body, def));
        selector.assigned = Some(assigned.map_err(|error| Unsupported::new(TOO_LARGE, error.inst, error))?);
    }
    for event in body.events() {
        let (flow, condition) = match event {
            CfEvent::Block(block) => {
                body.insts(block).try_for_each(|inst| selector.instruction(inst))?;
                continue;
            }
            CfEvent::If(id) => (Flow::If, Some(selector.plain(body.if_condition(id)))),
            CfEvent::Else(id) if body.is_else_empty(id) => continue,
            CfEvent::Else(_) => (Flow::Else, None),
            CfEvent::EndIf(_) => (Flow::EndIf, None),
            CfEvent::Loop(_) => (Flow::Loop, None),
            CfEvent::EndLoop(_) => (Flow::EndLoop, None),
            CfEvent::Continue(_) => return Err(Unsupported::new(MISSING, None, "a loop has a continue construct")),
        };
        selector.emit(Op::Flow(flow), None, condition);
    }
    selector.emit(Op::Flow(Flow::End), None, None);
    Ok(selector.program)
}

struct Selector<'a> {
    body: &'a Body,
    program: Program<Machine>,
    /// The registers of the machine, in that style.
    assigned: Option<Assignment>,
    /// The virtual temporaries of values and registers, in the other style.
    temps: SecondaryMap<Def, Option<u32>>,
}

impl Selector<'_> {
    fn emit(&mut self, op: Op, to: Option<Destination>, sources: impl IntoIterator<Item = Source>) {
        self.push(Instruction::new(op, to, sources));
    }

    fn push(&mut self, instruction: Instruction<Op>) {
        if self.assigned.is_some() {
            self.program.push(instruction)
        } else {
            push_legal(&mut self.program, instruction)
        }
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

    /// The temporary that an operand or result is in.
    fn register(&mut self, operand: Operand) -> i32 {
        match operand {
            Operand::Ssa(def) => self.temp(def),
            Operand::Register(register) => self.temp(register.handle) + register.base as i32,
        }
    }

    /// The register of a value, with the first component in x.
    fn value(&mut self, operand: Operand) -> Source {
        let body = self.body;
        let Operand::Ssa(def) = operand else { return Source::new(File::Temporary, self.register(operand)) };
        let inst = body.def_inst(def);
        let file = match (body.inst(inst), body.intrinsic(inst)) {
            (InstData::LoadConst { .. } | InstData::Undef, _) => {
                let mut row = [0; 4];
                row.iter_mut().zip(body.def_constant(def).unwrap_or(&[])).for_each(|(to, &word)| *to = word as u32);
                return Source::new(File::Constant, self.program.constants.intern(row));
            }
            (_, Some(IntrinsicOp::LoadInput)) => File::Input,
            (_, Some(IntrinsicOp::LoadUniform)) if is_operand(body, def) => File::Uniform,
            _ => return Source::new(File::Temporary, self.temp(def)),
        };
        let (index, first) = self.interface_register(inst);
        Source::new(file, index).swizzled([0, 1, 2, 3].map(|c: u8| (c + first).min(3)))
    }

    /// The register and the first component of an access to the interface, apart from a run-time index.
    fn interface_register(&self, inst: Inst) -> (i32, u8) {
        let body = self.body;
        let is_uniform = body.intrinsic(inst) == Some(IntrinsicOp::LoadUniform);
        let first = if is_uniform { 0 } else { body.index(inst, IndexKind::Component) as u8 };
        let offset = body.constant_component(body.src(inst, body.num_sources(inst) - 1), 0).unwrap_or_default();
        (body.index(inst, IndexKind::Base) + offset as i32, first)
    }

    /// An operand of an instruction other than ALU operations.
    fn plain(&mut self, source: Use) -> Source {
        let operand = chase::chase_src(self.body, source);
        self.value(operand)
    }

    fn alu_source(&mut self, inst: Inst, number: usize) -> Source {
        let chased = chase::chase_alu_src(self.body, inst, number, MODIFIERS);
        let value = self.value(chased.operand);
        let swizzle = compose(chased.swizzle, value.swizzle);
        Source { swizzle, absolute: chased.absolute, negate: chased.negate, ..value }
    }

    fn instruction(&mut self, inst: Inst) -> Result<(), Unsupported> {
        let body = self.body;
        let missing = |what: &str| Err(Unsupported::new(MISSING, inst, format!("the machine has no {what}")));
        match *body.inst(inst) {
            InstData::LoadConst { .. } | InstData::Undef => {}
            InstData::Alu { .. } if chase::is_folded(body, inst, MODIFIERS) => {}
            InstData::Alu { op, .. } => return self.alu(inst, op),
            InstData::Jump(JumpKind::Break) => self.emit(Op::Flow(Flow::Break), None, None),
            InstData::Jump(JumpKind::Continue) => self.emit(Op::Flow(Flow::Continue), None, None),
            InstData::Intrinsic { op, .. } => match op {
                _ if chase::is_register_access(body, inst) => {}
                IntrinsicOp::LoadInput => {}
                IntrinsicOp::LoadUniform => self.load_uniform(inst),
                IntrinsicOp::StoreOutput => {
                    let (index, first) = self.interface_register(inst);
                    let value = self.plain(body.source(inst, 0));
                    let swizzle = [0, 1, 2, 3].map(|c: u8| value.swizzle[usize::from(c.saturating_sub(first))]);
                    let mask = (body.index(inst, IndexKind::WriteMask) as u8) << first;
                    self.emit(Op::Mov, Some(Destination::new(File::Output, index, mask)), [value.swizzled(swizzle)]);
                }
                IntrinsicOp::DemoteIf | IntrinsicOp::TerminateIf => {
                    let condition = self.plain(body.source(inst, 0));
                    self.emit(Op::Kil, None, [condition]);
                }
                IntrinsicOp::Demote | IntrinsicOp::Terminate => {
                    let one = Source::new(File::Constant, self.program.constants.intern([1.0f32.to_bits(); 4]));
                    self.emit(Op::Kil, None, [one]);
                }
                _ => return missing(op.name()),
            },
            InstData::Tex(_) => return missing("texture lookups"),
            _ => return missing("such instructions"),
        }
        Ok(())
    }

    fn alu(&mut self, inst: Inst, op: AluOp) -> Result<(), Unsupported> {
        let body = self.body;
        let missing = |what: &str| Err(Unsupported::new(MISSING, inst, format!("the machine has no {what}")));
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let chased = chase::chase_alu_dest(body, def, MODIFIERS);
        let to = Destination::new(File::Temporary, self.register(chased.operand), chased.write_mask as u8);
        let mut sources: Vec<_> = (0..body.num_sources(inst)).map(|number| self.alu_source(inst, number)).collect();
        let mut selected = Op::of(op).unwrap_or(Op::Mov);
        let mut saturate = chased.saturate;
        match op {
            AluOp::Fneg => sources[0].negate ^= true,
            AluOp::Fabs => (sources[0].absolute, sources[0].negate) = (true, false),
            AluOp::Fsat => saturate = true,
            _ if op.is_vec() && self.assigned.is_none() => {
                // The destination may be an operand: passes remove the temporary if possible.
                let vector = self.program.new_temp() as i32;
                for (c, source) in sources.drain(..).enumerate() {
                    let component = Destination::new(File::Temporary, vector, 1 << c);
                    self.emit(Op::Mov, Some(component), [source.swizzled([source.swizzle[0]; 4])]);
                }
                (selected, sources) = (Op::Mov, vec![Source::new(File::Temporary, vector)]);
            }
            _ if Op::of(op).is_none() => return missing(op.name()),
            _ => {}
        }
        self.push(Instruction { saturate, ..Instruction::new(selected, Some(to), sources) });
        Ok(())
    }

    /// Loads a uniform with a run-time index. Others are operands.
    fn load_uniform(&mut self, inst: Inst) {
        let body = self.body;
        let Some(def) = body.inst_def(inst).filter(|&def| !is_operand(body, def)) else { return };
        let index = self.plain(body.source(inst, 0));
        self.emit(Op::Arl, Some(Destination::new(File::Special, 0, 1)), [index.swizzled([index.swizzle[0]; 4])]);
        let uniform = Source::new(File::Uniform, body.index(inst, IndexKind::Base));
        let register = self.register(chase::chase_dest(body, def));
        let to = Destination::new(File::Temporary, register, chase::full_mask(body, def) as u8);
        self.emit(Op::Mov, Some(to), [Source { relative: Some(ADDRESS), ..uniform }]);
    }
}

/// The components of a register that a swizzle of a value selects.
fn compose(swizzle: Swizzle, value: [u8; 4]) -> [u8; 4] {
    [0, 1, 2, 3].map(|channel| value[usize::from(swizzle.get(channel).min(3))])
}
