//! Instruction selection: lowered IR to instructions, over registers or over virtual temporaries.

use cranelift_entity::SecondaryMap;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{CfEvent, InstData, JumpKind};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Body, Def, Inst, Swizzle, Use};
use tgsi_registers::assign_registers::assign_registers;
use tgsi_registers::chase::{self, Operand};
use tgsi_registers::registers::reg_decls;
use tgsi_vec4::simple::{Destination, File, Instruction, Relative, Source, push_legal};
use tgsi_vec4::{Flow, Program};

use crate::driver::{MODIFIERS, TEMPORARIES, Vec4Error, is_operand};
use crate::machine::{Machine, Op};

/// The address register.
const ADDRESS: Relative = Relative { register: 0, component: 0 };

/// Selects the instructions of a body. With `registers`, temporaries are registers of the machine.
pub(crate) fn select(body: &Body, registers: bool) -> Result<Program<Machine>, Vec4Error> {
    let mut selector = Selector { body, registers, program: Program::new(Machine, 0), temps: SecondaryMap::new() };
    if registers {
        let is_folded = |body: &Body, inst: Inst| chase::is_folded(body, inst, MODIFIERS);
        let assignment = assign_registers(body, &is_folded, TEMPORARIES, &|body, def| !is_operand(body, def));
        let assignment = assignment.map_err(|error| Vec4Error::Temporaries(error.peak, Some(error.inst)))?;
        let handles = reg_decls(body).map(|register| register.handle);
        let values = body.blocks().flat_map(|block| body.insts(block)).filter_map(|inst| body.inst_def(inst));
        handles.chain(values).for_each(|def| selector.temps[def] = assignment.location(def));
    } else {
        for register in reg_decls(body) {
            let elements = (0..register.num_array_elems.max(1)).map(|_| selector.program.new_temp());
            selector.temps[register.handle] = elements.min();
        }
    }
    for event in body.events() {
        match event {
            CfEvent::Block(block) => body.insts(block).try_for_each(|inst| selector.instruction(inst))?,
            CfEvent::If(id) => {
                let condition = selector.plain(body.if_condition(id));
                selector.emit(Op::Flow(Flow::If), None, [condition]);
            }
            CfEvent::Else(id) if body.is_else_empty(id) => {}
            CfEvent::Else(_) => selector.emit(Op::Flow(Flow::Else), None, []),
            CfEvent::EndIf(_) => selector.emit(Op::Flow(Flow::EndIf), None, []),
            CfEvent::Loop(_) => selector.emit(Op::Flow(Flow::Loop), None, []),
            CfEvent::EndLoop(_) => selector.emit(Op::Flow(Flow::EndLoop), None, []),
            CfEvent::Continue(_) => return Err(Vec4Error::Stage),
        }
    }
    selector.emit(Op::Flow(Flow::End), None, []);
    Ok(selector.program)
}

struct Selector<'a> {
    body: &'a Body,
    registers: bool,
    program: Program<Machine>,
    /// The temporaries of values and registers.
    temps: SecondaryMap<Def, Option<u32>>,
}

impl Selector<'_> {
    fn emit(&mut self, op: Op, to: Option<Destination>, sources: impl IntoIterator<Item = Source>) {
        self.push(Instruction::new(op, to, sources));
    }

    fn push(&mut self, instruction: Instruction<Op>) {
        if self.registers { self.program.push(instruction) } else { push_legal(&mut self.program, instruction) }
    }

    fn temp(&mut self, def: Def) -> i32 {
        let temp = self.temps[def].unwrap_or_else(|| self.program.new_temp());
        self.temps[def] = Some(temp);
        temp as i32
    }

    /// The register of a value, with the first component in x.
    fn value(&mut self, operand: Operand) -> Source {
        let body = self.body;
        let def = match operand {
            Operand::Register(register) => {
                let first = self.temp(register.handle);
                return Source::new(File::Temporary, first + register.base as i32);
            }
            Operand::Ssa(def) => def,
        };
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

    /// The register that a result is written to.
    fn destination(&mut self, operand: Operand, mask: u32) -> Destination {
        let to = match operand {
            Operand::Ssa(def) => self.temp(def),
            Operand::Register(register) => self.temp(register.handle) + register.base as i32,
        };
        Destination::new(File::Temporary, to, mask as u8)
    }

    fn instruction(&mut self, inst: Inst) -> Result<(), Vec4Error> {
        let body = self.body;
        let missing = |what: &str| Err(Vec4Error::Missing(inst, what.to_owned()));
        match *body.inst(inst) {
            InstData::LoadConst { .. } | InstData::Undef => {}
            InstData::Alu { .. } if chase::is_folded(body, inst, MODIFIERS) => {}
            InstData::Alu { op, .. } => return self.alu(inst, op),
            InstData::Jump(JumpKind::Break) => self.emit(Op::Flow(Flow::Break), None, []),
            InstData::Jump(JumpKind::Continue) => self.emit(Op::Flow(Flow::Continue), None, []),
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
            _ => return missing("such instructions"),
        }
        Ok(())
    }

    fn alu(&mut self, inst: Inst, op: AluOp) -> Result<(), Vec4Error> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let chased = chase::chase_alu_dest(body, def, MODIFIERS);
        let to = self.destination(chased.operand, chased.write_mask);
        let mut sources: Vec<_> = (0..body.num_sources(inst)).map(|number| self.alu_source(inst, number)).collect();
        let mut selected = Op::of(op).unwrap_or(Op::Mov);
        let mut saturate = chased.saturate;
        match op {
            AluOp::Fneg => sources[0].negate ^= true,
            AluOp::Fabs => (sources[0].absolute, sources[0].negate) = (true, false),
            AluOp::Fsat => saturate = true,
            _ if op.is_vec() && !self.registers => {
                // The destination may be an operand: passes remove the temporary if possible.
                let vector = self.program.new_temp() as i32;
                for (c, source) in sources.drain(..).enumerate() {
                    let component = Destination::new(File::Temporary, vector, 1 << c);
                    self.emit(Op::Mov, Some(component), [source.swizzled([source.swizzle[0]; 4])]);
                }
                (selected, sources) = (Op::Mov, vec![Source::new(File::Temporary, vector)]);
            }
            _ if Op::of(op).is_none() => return Err(Vec4Error::Missing(inst, op.name().to_owned())),
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
        let to = self.destination(chase::chase_dest(body, def), chase::full_mask(body, def));
        self.emit(Op::Mov, Some(to), [Source { relative: Some(ADDRESS), ..uniform }]);
    }
}

/// The components of a register that a swizzle of a value selects.
fn compose(swizzle: Swizzle, value: [u8; 4]) -> [u8; 4] {
    [0, 1, 2, 3].map(|channel| value[usize::from(swizzle.get(channel).min(3))])
}
