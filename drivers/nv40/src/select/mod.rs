//! Instruction selection: lowered IR to instructions over virtual registers.
//!
//! A value in SSA form and a register of the IR are a virtual temporary each; in the chasing style both have the
//! register that [`assign_registers`] gave them. Uniforms, inputs and constants are operands. Instructions that a
//! selection needs beyond one, and operands that an instruction cannot take, use further temporaries.

mod address;
mod alu;
mod conditions;
mod interface;
mod operands;
mod texture;

use tgsi_ir::body::{CfEvent, JumpKind, TexSrcKind};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Block, Body, Def, Inst, InstData, Shader};
use tgsi_registers::assign_registers::{AssignOptions, Assignment, assign_registers};
use tgsi_registers::chase;
use tgsi_registers::modifiers::ModifierPolicy;
use tgsi_registers::select::ValueTemps;
use tgsi_vec4::simple::{Destination, File, Guard, Instruction, Source, join_rows, push_legal};

use crate::Nv40Error;
use crate::isa::Condition;
use crate::lower::is_operand;
use crate::machine::{Code, Machine, MachineInstruction, Op, Program, Selected};
use crate::options::Nv40Options;
use crate::program::Texture;

use address::Addresses;
use conditions::Conditions;
use interface::Interface;
pub(crate) use interface::LinkedSlots;

struct Selector<'a> {
    shader: &'a Shader,
    body: &'a Body,
    options: &'a Nv40Options,
    policy: ModifierPolicy<'static>,
    program: Program,
    interface: Interface,
    /// The temporary of a value or a register of the IR, by value or handle.
    temps: ValueTemps,
    /// The registers of the chasing style.
    assignment: Option<Assignment>,
    conditions: Conditions,
    addresses: Addresses,
    textures: Vec<Texture>,
    /// One more than the greatest uniform.
    uniforms: u16,
}

/// Selects the instructions of a lowered shader.
pub(crate) fn select(shader: &Shader, options: &Nv40Options, linked: &LinkedSlots) -> Result<Selected, Nv40Error> {
    let entry = shader.entry_point().ok_or(Nv40Error::NoEntryPoint)?;
    let body = shader.functions[entry].body.as_ref().ok_or(Nv40Error::NoEntryPoint)?;
    let mut selector = Selector::new(shader, body, options, linked)?;
    selector.select_body()?;
    Ok(selector.finish())
}

impl<'a> Selector<'a> {
    fn new(
        shader: &'a Shader,
        body: &'a Body,
        options: &'a Nv40Options,
        linked: &LinkedSlots,
    ) -> Result<Selector<'a>, Nv40Error> {
        let chip = options.chip;
        let machine = Machine { chip, stage: shader.stage };
        let policy = options.modifiers(shader.stage);
        let mut program = Program::new(machine, 0);
        let mut assignment = None;
        if options.chase {
            let needs_register = |body: &Body, def: Def| {
                let inst = body.def_inst(def);
                !is_operand(body, def)
                    && !matches!(body.inst(inst), InstData::LoadConst { .. } | InstData::Undef | InstData::Deref { .. })
            };
            let is_folded = |body: &Body, inst: Inst| chase::is_folded(body, inst, policy);
            // The chip's limit is checked when the program is encoded.
            let options = AssignOptions {
                limit: u32::MAX,
                is_folded: &is_folded,
                needs_location: &needs_register,
                // Selections and truncations take several instructions.
                reads_first: &|_, _| false,
            };
            let found = assign_registers(body, options).map_err(|error| Nv40Error::too_many_registers(&error, chip))?;
            program.set_num_temps(found.peak);
            assignment = Some(found);
        }
        Ok(Selector {
            shader,
            body,
            options,
            policy,
            program,
            interface: Interface::of(shader, body, options.chip, linked)?,
            temps: ValueTemps::default(),
            assignment,
            conditions: Conditions::of(options.chip),
            addresses: Addresses::default(),
            textures: Vec::new(),
            uniforms: 0,
        })
    }

    fn finish(mut self) -> Selected {
        self.textures.sort_unstable_by_key(|texture| texture.unit);
        let (inputs, outputs) = self.interface.into_varyings();
        let Selector { program, textures, uniforms, .. } = self;
        Selected { program, inputs, outputs, textures, uniforms }
    }

    fn select_body(&mut self) -> Result<(), Nv40Error> {
        let body = self.body;
        for event in body.events() {
            match event {
                CfEvent::Block(block) => self.select_block(block)?,
                CfEvent::If(id) => {
                    let guard = self.test_boolean(body.if_condition(id));
                    self.push_flow(Code::If, Some(guard));
                }
                CfEvent::Else(id) if body.is_else_empty(id) => {}
                CfEvent::Else(_) => self.push_flow(Code::Else, None),
                CfEvent::EndIf(_) => self.push_flow(Code::EndIf, None),
                CfEvent::Loop(_) => self.push_flow(Code::Loop, None),
                CfEvent::EndLoop(_) => self.push_flow(Code::EndLoop, None),
                CfEvent::Continue(_) => return Err(self.lacks(None, "continue constructs of loops")),
            }
        }
        Ok(())
    }

    fn select_block(&mut self, block: Block) -> Result<(), Nv40Error> {
        self.conditions.forget();
        self.addresses.forget();
        let mut next = self.body.first_inst(block);
        while let Some(inst) = next {
            self.select_instruction(inst)?;
            next = self.body.next_inst(inst);
        }
        Ok(())
    }

    fn select_instruction(&mut self, inst: Inst) -> Result<(), Nv40Error> {
        let body = self.body;
        match *body.inst(inst) {
            InstData::Alu { op, .. } => {
                if chase::is_folded(body, inst, self.policy) {
                    return Ok(());
                }
                self.select_alu(inst, op)
            }
            InstData::LoadConst { .. } | InstData::Undef | InstData::Deref { .. } => Ok(()),
            InstData::Tex(_) => self.select_texture(inst),
            InstData::Intrinsic { op, .. } => self.select_intrinsic(inst, op),
            InstData::Jump(JumpKind::Break) => {
                self.push_flow(Code::Brk, None);
                Ok(())
            }
            InstData::Jump(JumpKind::Continue) => {
                self.push_flow(Code::Cont, None);
                Ok(())
            }
            InstData::Jump(_) => Err(self.lacks(inst, "returns within control flow")),
            InstData::Phi | InstData::ParallelCopy(_) => Err(self.lacks(inst, "phis")),
            InstData::Call { .. } => Err(self.lacks(inst, "calls")),
        }
    }

    fn select_intrinsic(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), Nv40Error> {
        use IntrinsicOp::{
            Ddx, DdxCoarse, Ddy, DdyCoarse, DeclReg, Demote, DemoteIf, LoadFragCoord, LoadFrontFace,
            LoadFrontFaceFsign, LoadInput, LoadInterpolatedInput, LoadPointCoord, LoadReg, LoadUniform, StoreOutput,
            StoreReg, Terminate, TerminateIf,
        };
        match op {
            DeclReg | LoadReg | StoreReg => Ok(()),
            LoadUniform => self.load_uniform(inst),
            LoadInput | LoadInterpolatedInput => self.load_input(inst),
            StoreOutput => self.store_output(inst),
            LoadFragCoord => self.load_position(inst),
            LoadPointCoord => self.load_point_coordinate(inst),
            LoadFrontFace | LoadFrontFaceFsign => self.load_front_face(inst, op == LoadFrontFace),
            Terminate | Demote => {
                self.push_flow(Code::Kil, Some(conditions::ALWAYS));
                Ok(())
            }
            TerminateIf | DemoteIf => {
                let guard = self.test_boolean(self.body.source(inst, 0));
                self.push_flow(Code::Kil, Some(guard));
                Ok(())
            }
            Ddx | DdxCoarse => self.select_derivative(inst, Code::Ddx),
            Ddy | DdyCoarse => self.select_derivative(inst, Code::Ddy),
            op if op.name().starts_with("load_barycentric") => Ok(()),
            op => Err(self.lacks(inst, &format!("form of `{}`", op.name()))),
        }
    }

    /// The error for a feature that the chip lacks.
    fn lacks(&self, inst: impl Into<Option<Inst>>, what: &str) -> Nv40Error {
        Nv40Error::Lacks { inst: inst.into(), chip: self.options.chip, what: what.to_owned() }
    }

    /// A new temporary, as an operand.
    fn new_temp(&mut self) -> Source {
        Source::new(File::Temporary, self.program.new_temp() as i32)
    }

    /// A row with one word in all components.
    fn word(&mut self, word: u32) -> Source {
        Source::new(File::Constant, self.program.constants.intern([word; 4]))
    }

    fn float(&mut self, value: f32) -> Source {
        self.word(value.to_bits())
    }

    fn push(&mut self, mut instruction: MachineInstruction) {
        join_rows::<Machine>(&mut self.program.constants, &mut instruction);
        push_legal(&mut self.program, instruction);
    }

    /// Appends an operation.
    fn emit<const N: usize>(&mut self, op: impl Into<Op>, to: Destination, sources: [Source; N]) {
        self.push(Instruction::new(op.into(), Some(to), sources));
    }

    /// Appends an operation with the result in a new temporary.
    fn computed<const N: usize>(&mut self, op: impl Into<Op>, mask: u8, sources: [Source; N]) -> Source {
        let temp = self.new_temp();
        self.emit(op, Destination::new(File::Temporary, temp.index, mask), sources);
        temp
    }

    fn push_flow(&mut self, code: Code, guard: Option<Guard>) {
        let mut instruction = Instruction::new(Op::from(code), None, []);
        instruction.guard = guard;
        self.program.push(instruction);
    }

    /// The coordinate of a lookup or the like, if there is one.
    fn tex_operand(&mut self, inst: Inst, kind: TexSrcKind) -> Option<Source> {
        let source = self.body.tex_src(inst, kind)?;
        Some(self.source_of(source))
    }
}

/// The guard of a condition of the chip.
fn guard(register: u8, condition: Condition, swizzle: [u8; 4]) -> Guard {
    Guard { register, condition: condition.0, swizzle }
}
