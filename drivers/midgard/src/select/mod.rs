//! Instruction selection: lowered IR to instructions over virtual registers.
//!
//! A value in SSA form and a register of the IR are a virtual temporary each; arrays are in the storage of the thread.
//! Uniforms and constants are operands. Negation, absolute value and saturation are copies here, which later passes
//! fold. Operands and results of the load/store and the texture unit are copied to and from their registers; the two
//! registers of a group alternate.

mod alu;
mod image;
mod interface;
mod memory;
mod operands;
mod resources;
mod texture;
mod uniforms;

use std::collections::HashMap;

use cranelift_entity::SecondaryMap;
use tgsi_ir::body::{CfEvent, JumpKind};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Block, Body, Def, Inst, InstData, Shader};
use tgsi_registers::chase::accessed_register;
use tgsi_registers::select::ValueTemps;
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use crate::MidgardError;
use crate::isa::Chip;
use crate::isa::alu::AluOp as Alu;
use crate::machine::{
    COORDINATES, Machine, MachineInstruction, MachineProgram, OPERANDS, Op, Operation, Selected, TEXELS,
};
use crate::options::MidgardOptions;
use crate::program::{SystemRow, Texture, UniformRow};

use interface::Interface;
use resources::Element;
pub(crate) use texture::LAST_LEVEL;
pub(crate) use uniforms::uniform_load;

/// An array of registers in the storage of the thread.
#[derive(Clone, Copy, Debug)]
struct Array {
    /// The offset in bytes.
    offset: u32,
    /// The number of elements.
    elements: u32,
    /// Whether stores may write the element after the last one.
    stores_beyond: bool,
}

struct Selector<'a> {
    shader: &'a Shader,
    body: &'a Body,
    chip: Chip,
    program: MachineProgram,
    /// The temporary of a value or a register of the IR, by value or handle.
    temps: ValueTemps,
    /// The arrays, by handle.
    arrays: SecondaryMap<Def, Option<Array>>,
    /// The textures, samplers and images that derefs point to.
    elements: SecondaryMap<Def, Option<Element>>,
    operations: Vec<Operation>,
    uniforms: Vec<UniformRow>,
    uniform_numbers: HashMap<UniformRow, i32>,
    system_buffer: u32,
    system_rows: Vec<SystemRow>,
    /// The first rows of groups of rows, by the first system value and the number of rows.
    row_groups: HashMap<(SystemRow, usize), u32>,
    interface: Interface,
    textures: Vec<Texture>,
    images: Vec<Texture>,
    stack: u32,
    discards: bool,
    /// Whether the thread is a helper, if the program asks for it after discards.
    is_helper: Option<Source>,
    /// The registers of each group that are used next.
    next_operand: u8,
    next_texel: u8,
    /// The depth of nested control flow.
    depth: u32,
}

/// Selects the instructions of a lowered shader.
pub(crate) fn select(shader: &Shader, options: &MidgardOptions) -> Result<Selected, MidgardError> {
    let entry = shader.entry_point().ok_or(MidgardError::NoEntryPoint)?;
    let body = shader.functions[entry].body.as_ref().ok_or(MidgardError::NoEntryPoint)?;
    let mut selector = Selector::new(shader, body, options.chip);
    selector.declare_arrays()?;
    selector.declare_helper();
    selector.select_body()?;
    selector.write_outputs();
    Ok(selector.finish())
}

impl<'a> Selector<'a> {
    fn new(shader: &'a Shader, body: &'a Body, chip: Chip) -> Selector<'a> {
        Selector {
            shader,
            body,
            chip,
            program: MachineProgram::new(Machine { chip }, 0),
            temps: ValueTemps::default(),
            arrays: SecondaryMap::new(),
            elements: SecondaryMap::new(),
            operations: Vec::new(),
            uniforms: Vec::new(),
            uniform_numbers: HashMap::new(),
            // The buffer between the last one and this one does not exist: the number of blocks beyond the end.
            system_buffer: shader.info.num_ubos.saturating_add(2),
            system_rows: Vec::new(),
            row_groups: HashMap::new(),
            interface: Interface::default(),
            textures: Vec::new(),
            images: Vec::new(),
            stack: 0,
            discards: false,
            is_helper: None,
            next_operand: 0,
            next_texel: 0,
            depth: 0,
        }
    }

    fn finish(mut self) -> Selected {
        self.textures.sort_unstable_by_key(|texture| texture.number);
        self.images.sort_unstable_by_key(|image| image.number);
        let info = &self.shader.info;
        let has_workgroups = self.shader.stage.has_workgroups() && !info.workgroup_size_variable;
        Selected {
            program: self.program,
            operations: self.operations,
            uniforms: self.uniforms,
            system_buffer: self.system_buffer,
            system_rows: self.system_rows,
            inputs: self.interface.inputs,
            outputs: self.interface.outputs,
            results: self.interface.results,
            textures: self.textures,
            images: self.images,
            stack: self.stack,
            shared: info.shared_size,
            workgroup: has_workgroups.then_some(info.workgroup_size),
            discards: self.discards,
        }
    }

    fn declare_arrays(&mut self) -> Result<(), MidgardError> {
        let body = self.body;
        for inst in body.insts(body.start_block()) {
            if body.intrinsic(inst) != Some(IntrinsicOp::DeclReg) {
                continue;
            }
            let elements = body.index(inst, IndexKind::NumArrayElems) as u32;
            if let Some(def) = body.inst_def(inst).filter(|_| elements != 0) {
                self.arrays[def] = Some(Array { offset: self.stack, elements, stores_beyond: false });
                // Accesses beyond the end have an element.
                let size = elements.checked_add(1).and_then(|count| count.checked_mul(16));
                let end = size.and_then(|size| self.stack.checked_add(size)).filter(|&end| end < 1 << 17);
                self.stack = end.ok_or_else(|| self.lacks(inst, "arrays of more than 128 KiB"))?;
            }
        }
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            if body.intrinsic(inst) == Some(IntrinsicOp::StoreRegIndirect)
                && let Some(register) = accessed_register(body, inst)
                && let Some(array) = &mut self.arrays[register.handle]
            {
                array.stores_beyond = true;
            }
        }
        Ok(())
    }

    fn select_body(&mut self) -> Result<(), MidgardError> {
        let body = self.body;
        for event in body.events() {
            match event {
                CfEvent::Block(block) => self.select_block(block)?,
                CfEvent::If(id) => {
                    let condition = self.source_of(body.if_condition(id));
                    self.program.push(Instruction::new(Op::If, None, [operands::lane(condition, 0)]));
                    self.depth += 1;
                }
                CfEvent::Else(id) if body.is_else_empty(id) => {}
                CfEvent::Else(_) => self.push_bare(Op::Else),
                CfEvent::EndIf(_) => {
                    self.push_bare(Op::EndIf);
                    self.depth -= 1;
                }
                CfEvent::Loop(_) => {
                    self.push_bare(Op::Loop);
                    self.depth += 1;
                }
                CfEvent::EndLoop(_) => {
                    self.push_bare(Op::EndLoop);
                    self.depth -= 1;
                }
                CfEvent::Continue(_) => return Err(self.lacks(None, "continue constructs of loops")),
            }
        }
        Ok(())
    }

    fn select_block(&mut self, block: Block) -> Result<(), MidgardError> {
        let mut next = self.body.first_inst(block);
        while let Some(inst) = next {
            self.select_instruction(inst)?;
            next = self.body.next_inst(inst);
        }
        Ok(())
    }

    fn select_instruction(&mut self, inst: Inst) -> Result<(), MidgardError> {
        match *self.body.inst(inst) {
            InstData::Alu { op, .. } => self.select_alu(inst, op),
            InstData::LoadConst { .. } | InstData::Undef => Ok(()),
            InstData::Deref { .. } => {
                self.select_deref(inst);
                Ok(())
            }
            InstData::Tex(_) => self.select_texture(inst),
            InstData::Intrinsic { op, .. } => self.select_intrinsic(inst, op),
            InstData::Jump(JumpKind::Break) => {
                self.push_bare(Op::Break);
                Ok(())
            }
            InstData::Jump(JumpKind::Continue) => {
                self.push_bare(Op::Continue);
                Ok(())
            }
            InstData::Jump(_) => Err(self.lacks(inst, "returns within control flow")),
            InstData::Phi | InstData::ParallelCopy(_) => Err(self.lacks(inst, "phis")),
            InstData::Call { .. } => Err(self.lacks(inst, "calls")),
        }
    }

    fn select_intrinsic(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), MidgardError> {
        use IntrinsicOp as I;
        match op {
            I::DeclReg | I::LoadReg | I::StoreReg | I::StoreRegIndirect | I::Nop => self.select_register(inst, op),
            I::LoadRegIndirect => self.select_register(inst, op),
            I::LoadUniform | I::LoadUbo | I::LoadUboVec4 => {
                match op {
                    I::LoadUniform => self.load_uniform(inst),
                    I::LoadUbo => self.load_ubo(inst),
                    _ => self.load_ubo_vec4(inst),
                }
                Ok(())
            }
            I::LoadInput | I::LoadInterpolatedInput => self.load_input(inst, op),
            I::StoreOutput => self.store_output(inst),
            I::DdxFine | I::DdyFine => Err(self.lacks(inst, "fine derivatives")),
            I::Ddx | I::DdxCoarse => self.select_derivative(inst, crate::isa::texture::Axis::X),
            I::Ddy | I::DdyCoarse => self.select_derivative(inst, crate::isa::texture::Axis::Y),
            I::Terminate | I::Demote => {
                self.select_discard(None);
                Ok(())
            }
            I::TerminateIf | I::DemoteIf => {
                let condition = self.source_of(self.body.source(inst, 0));
                self.select_discard(Some(condition));
                Ok(())
            }
            op if op.name().starts_with("load_barycentric") => Ok(()),
            op if self.select_memory(inst, op)? => Ok(()),
            op if self.select_system_value(inst, op)? => Ok(()),
            op => Err(self.lacks(inst, &format!("form of `{}`", op.name()))),
        }
    }

    /// The error for a feature that the machine lacks.
    fn lacks(&self, inst: impl Into<Option<Inst>>, what: &str) -> MidgardError {
        MidgardError::Lacks { inst: inst.into(), what: what.to_owned() }
    }

    fn push(&mut self, instruction: MachineInstruction) {
        self.program.push(instruction);
    }

    fn push_bare(&mut self, op: Op) {
        self.program.push(Instruction::new(op, None, []));
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

    /// A new temporary, as an operand.
    fn new_temp(&mut self) -> Source {
        Source::new(File::Temporary, self.program.new_temp() as i32)
    }

    /// A row with one word in all components.
    fn word(&mut self, word: u32) -> Source {
        Source::new(File::Constant, self.program.constants.intern([word; 4]))
    }

    /// The next register of an operand of the load/store unit, 0 or 1.
    fn next_operand(&mut self) -> u8 {
        self.next_operand ^= 1;
        self.next_operand ^ 1
    }

    /// Copies components to a register of a unit.
    fn set_special(&mut self, group: u8, index: u8, mask: u8, source: Source) -> Source {
        let register = i32::from(group + index);
        self.emit(Op::Mov, Destination::new(File::Special, register, mask), [source]);
        Source::new(File::Special, register)
    }

    /// Copies components to a register of the load/store unit.
    fn set_operand(&mut self, index: u8, mask: u8, source: Source) -> Source {
        self.set_special(OPERANDS, index, mask, source)
    }

    /// Copies components to a register of the texture unit.
    fn set_coordinates(&mut self, index: u8, mask: u8, source: Source) -> Source {
        self.set_special(COORDINATES, index, mask, source)
    }

    /// The next register of a result of the texture unit.
    fn next_texels(&mut self) -> i32 {
        self.next_texel ^= 1;
        i32::from(TEXELS + (self.next_texel ^ 1))
    }

    /// Adds an operation, and returns the operand that names it.
    fn operation(&mut self, operation: Operation) -> Source {
        self.operations.push(operation);
        Source::new(File::Input, (self.operations.len() - 1) as i32)
    }
}

impl From<Alu> for Op {
    fn from(op: Alu) -> Op {
        Op::Alu(op)
    }
}
