//! From lowered IR to the list of operations. Every value has planes of its own here; [`super::assign`] makes them
//! share.
//!
//! The way through the control tree keeps its own stack, so nesting costs no native stack.

use cranelift_entity::EntityRef;
use rustc_hash::FxHashMap;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{CfNode, CfParent, DerefKind, InstData, JumpKind};
use tgsi_ir::entities::{Block, Def, Inst, Loop, Type, Variable};
use tgsi_ir::intrinsics::indices::IoSemantics;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicKind, IntrinsicOp};
use tgsi_ir::run::MAX_LANES;
use tgsi_ir::types::{ScalarType, TypeData};
use tgsi_ir::variable::{Initializer, VariableModes};
use tgsi_ir::{Body, Shader, Stage};

use super::operations::has_row;
use super::{
    Copy, General, Intrinsic, Leave, MAX_PLANES, MAX_SOURCES, Op, Options, Program, Register, Step, TEX_SOURCE_KINDS,
    Texture, Value, assign,
};
use crate::error::CpuError;

/// Most output registers; a store beyond them is dropped.
const MAX_OUTPUT_REGISTERS: u32 = 4096;

/// Makes the program of a lowered shader; see [`lower`](crate::lower::lower).
///
/// # Errors
/// [`CpuError`].
pub fn compile(shader: &Shader, options: Options) -> Result<Program, CpuError> {
    let entry = shader.entry_point().ok_or(CpuError::NoEntryPoint)?;
    let body = shader.functions[entry].body.as_ref().ok_or(CpuError::NoEntryPoint)?;
    if !body.structured {
        return Err(CpuError::Unsupported { inst: Inst::new(0), what: "unstructured control flow" });
    }
    let program = Program {
        ops: Vec::new(),
        generals: Vec::new(),
        copies: Vec::new(),
        intrinsics: Vec::new(),
        textures: Vec::new(),
        steps: Vec::new(),
        registers: Vec::new(),
        constants: Vec::new(),
        value_planes: 0,
        state_planes: 0,
        first_cell: 0,
        cells: 0,
        initial: Vec::new(),
        stage: shader.stage,
        mode: shader.info.float_controls_execution_mode,
        scratch_size: shader.scratch_size,
        constant_data: shader.constant_data.clone(),
        first_ubo_buffer: shader.info.first_ubo_buffer(),
        vertices_out: if shader.stage == Stage::Geometry { shader.info.gs.vertices_out } else { 0 },
        patch_vertices: if shader.stage == Stage::TessCtrl { shader.info.tess.tcs_vertices_out } else { 0 },
        output_registers: 0,
        input_registers: 0,
        writes_memory: false,
    };
    let mut builder = Builder {
        shader,
        body,
        program,
        values: vec![Value::default(); body.num_defs()],
        pinned: FxHashMap::default(),
        addresses: FxHashMap::default(),
        cells: FxHashMap::default(),
        registers: FxHashMap::default(),
        open: Vec::new(),
        loops: Vec::new(),
        next_plane: 0,
        next_cell: 0,
        masked: vec![options.keep_inactive; body.num_defs()],
    };
    builder.declare()?;
    builder.walk()?;
    builder.outputs();
    let Builder { mut program, next_plane, next_cell, loops, values, .. } = builder;
    program.value_planes = next_plane;
    program.cells = next_cell;
    if !options.keep_inactive {
        assign::assign(&mut program, &loops, &values);
    }
    // Registers and cells stand behind the values.
    let mut plane = u64::from(program.value_planes);
    for register in &mut program.registers {
        register.plane = plane.min(u64::from(MAX_PLANES)) as u32;
        let words = if register.bits == 64 { 2 } else { 1 };
        plane += u64::from(register.elements) * u64::from(register.components) * words;
    }
    program.first_cell = plane.min(u64::from(MAX_PLANES)) as u32;
    plane += u64::from(program.cells);
    if plane > u64::from(MAX_PLANES) {
        return Err(CpuError::TooLarge(MAX_PLANES));
    }
    program.state_planes = plane as u32 - program.value_planes;
    Ok(program)
}

/// An open construct of the control tree.
struct Open {
    /// Operations that wait for the index of what closes the current list.
    waiting: Vec<usize>,
    kind: OpenKind,
}

enum OpenKind {
    Function,
    If { at: usize },
    Else { at: usize },
    Loop { head: u32 },
}

struct Builder<'a> {
    shader: &'a Shader,
    body: &'a Body,
    program: Program,
    /// By value number.
    values: Vec<Value>,
    /// Planes of constants, by word.
    pinned: FxHashMap<u32, u32>,
    /// Addresses that are known beforehand.
    addresses: FxHashMap<Def, u32>,
    /// First cell of each variable.
    cells: FxHashMap<Variable, u32>,
    /// Registers by their handle.
    registers: FxHashMap<Def, u32>,
    open: Vec<Open>,
    /// First and last operation of each loop.
    loops: Vec<(u32, u32)>,
    next_plane: u32,
    next_cell: u32,
    /// Values that inactive lanes keep.
    masked: Vec<bool>,
}

fn unsupported(inst: Inst, what: &'static str) -> CpuError {
    CpuError::Unsupported { inst, what }
}

impl Builder<'_> {
    fn planes(&mut self, count: u32) -> Result<u32, CpuError> {
        let first = self.next_plane;
        self.next_plane = first.saturating_add(count);
        if self.next_plane > MAX_PLANES {
            return Err(CpuError::TooLarge(MAX_PLANES));
        }
        Ok(first)
    }

    /// The plane of a constant word.
    fn constant(&mut self, word: u32) -> Result<u32, CpuError> {
        if let Some(&plane) = self.pinned.get(&word) {
            return Ok(plane);
        }
        let plane = self.planes(1)?;
        self.pinned.insert(word, plane);
        self.program.constants.push((plane, word));
        Ok(plane)
    }

    /// Gives every value its planes, every register its number.
    fn declare(&mut self) -> Result<(), CpuError> {
        let body = self.body;
        for block in body.blocks() {
            for inst in body.insts(block) {
                if !body.copies(inst).unwrap_or(&[]).is_empty() {
                    return Err(unsupported(inst, "parallel copies are not SSA"));
                }
                let Some(def) = body.inst_def(inst) else { continue };
                let shape = body.shape(def);
                if body.intrinsic(inst) == Some(IntrinsicOp::DeclReg) {
                    let index = |kind| body.index(inst, kind);
                    self.registers.insert(def, self.program.registers.len() as u32);
                    self.program.registers.push(Register {
                        plane: 0,
                        elements: (index(IndexKind::NumArrayElems) as u32).max(1),
                        components: index(IndexKind::NumComponents).clamp(1, 16) as u8,
                        bits: index(IndexKind::BitSize) as u8,
                    });
                }
                let mut value = Value { plane: 0, components: shape.num_components, bits: shape.bit_size };
                if let (Some(words), 1, true) = (body.constant(inst), shape.num_components, shape.bit_size != 64) {
                    value.plane = self.constant(words.first().map_or(0, |&word| word as u32))?;
                } else {
                    value.plane = self.planes(value.planes())?;
                    if let Some(words) = body.constant(inst) {
                        for (component, &word) in (0u32..).zip(words) {
                            self.program.constants.push((value.plane + component, word as u32));
                            if value.bits == 64 {
                                let plane = value.plane + component + u32::from(value.components);
                                self.program.constants.push((plane, (word >> 32) as u32));
                            }
                        }
                    } else if matches!(body.inst(inst), InstData::Undef) {
                        self.program.constants.extend((value.plane..value.plane + value.planes()).map(|p| (p, 0)));
                    }
                }
                self.values[def.index()] = value;
                if !self.masked[def.index()] && self.leaves_its_loop(def, block) {
                    self.masked[def.index()] = true;
                }
            }
        }
        Ok(())
    }

    fn loop_of(&self, block: Block) -> Option<Loop> {
        self.body.block_parent(block).and_then(|parent| self.body.innermost_loop(parent))
    }

    /// Whether a value is read outside of the innermost loop that makes it. Loops inside that loop do not count.
    fn leaves_its_loop(&self, def: Def, block: Block) -> bool {
        let body = self.body;
        let Some(home) = self.loop_of(block) else { return false };
        body.uses_of(def).any(|source| {
            let at = match body.user(source) {
                tgsi_ir::User::Inst(inst) if body.is_phi(inst) => Some(body.phi_predecessor(source)),
                tgsi_ir::User::Inst(inst) => body.inst_block(inst),
                tgsi_ir::User::If(id) => Some(body.block_before_if(id)),
            };
            let Some(mut at) = at.and_then(|block| self.loop_of(block)) else { return true };
            loop {
                if at == home {
                    return false;
                }
                match body.loop_parent(at).and_then(|parent| body.innermost_loop(parent)) {
                    Some(outer) => at = outer,
                    None => return true,
                }
            }
        })
    }

    fn value(&self, inst: Inst, def: Def) -> Result<Value, CpuError> {
        match self.values.get(def.index()) {
            Some(&value) if value.components != 0 => Ok(value),
            _ => Err(unsupported(inst, "a source reads a value that no code makes")),
        }
    }

    fn source(&self, inst: Inst, number: usize) -> Result<Value, CpuError> {
        if number >= self.body.num_sources(inst) {
            return Err(unsupported(inst, "a source is missing"));
        }
        self.value(inst, self.body.src(inst, number))
    }

    fn push(&mut self, op: Op) -> usize {
        self.program.ops.push(op);
        self.program.ops.len() - 1
    }

    fn push_waiting(&mut self, op: Op) {
        let at = self.push(op);
        if let Some(open) = self.open.last_mut() {
            open.waiting.push(at);
        }
    }

    fn here(&self) -> u32 {
        self.program.ops.len() as u32
    }

    // ---- control flow

    fn walk(&mut self) -> Result<(), CpuError> {
        let body = self.body;
        self.open.push(Open { waiting: Vec::new(), kind: OpenKind::Function });
        let mut block = body.start_block();
        loop {
            let jumped = self.block(block)?;
            match body.node_after(block) {
                Some(CfNode::If(id)) if !jumped => {
                    let inst = body.last_inst(block).unwrap_or(Inst::new(0));
                    let condition = self.value(inst, body.src_def(body.if_condition(id)))?.plane;
                    let at = self.push(Op::If { condition, otherwise: 0 });
                    self.open.push(Open { waiting: Vec::new(), kind: OpenKind::If { at } });
                    let first = body.then_list(id).first;
                    self.edge(block, first)?;
                    block = first;
                    continue;
                }
                Some(CfNode::Loop(id)) if !jumped => {
                    let first = body.loop_body(id).first;
                    self.edge(block, first)?;
                    self.push(Op::Loop);
                    let head = self.here();
                    self.open.push(Open { waiting: Vec::new(), kind: OpenKind::Loop { head } });
                    block = first;
                    continue;
                }
                // After a jump nothing of the list is reached.
                _ => {}
            }
            let Some(next) = self.close(block, jumped)? else { return Ok(()) };
            block = next;
        }
    }

    /// Ends the list that `block` stands in; the block where the code goes on.
    fn close(&mut self, block: Block, jumped: bool) -> Result<Option<Block>, CpuError> {
        let body = self.body;
        let parent = body.block_parent(block).unwrap_or(CfParent::Function);
        if !jumped {
            let target = match parent {
                CfParent::Function => None,
                CfParent::Then(id) | CfParent::Else(id) => Some(body.block_after_if(id)),
                CfParent::Body(id) => Some(body.continue_target(id)),
                CfParent::Continue(id) => Some(body.loop_body(id).first),
            };
            if let Some(target) = target {
                self.edge(block, target)?;
            }
        }
        let here = self.here();
        let Some(open) = self.open.pop() else { return Ok(None) };
        for at in open.waiting {
            match &mut self.program.ops[at] {
                Op::EndIf { nobody } | Op::EndLoop { nobody, .. } => *nobody = here,
                Op::Jump { end, .. } => *end = here,
                _ => {}
            }
        }
        match (open.kind, parent) {
            (OpenKind::If { at }, CfParent::Then(id)) => {
                if let Op::If { otherwise, .. } = &mut self.program.ops[at] {
                    *otherwise = here;
                }
                let at = self.push(Op::Else { end: 0 });
                self.open.push(Open { waiting: Vec::new(), kind: OpenKind::Else { at } });
                let first = body.else_list(id).first;
                self.edge(body.block_before_if(id), first)?;
                Ok(Some(first))
            }
            (OpenKind::Else { at }, CfParent::Else(id)) => {
                if let Op::Else { end } = &mut self.program.ops[at] {
                    *end = here;
                }
                self.push_waiting(Op::EndIf { nobody: 0 });
                Ok(Some(body.block_after_if(id)))
            }
            (OpenKind::Loop { head }, CfParent::Body(id)) => {
                if let Some(list) = body.loop_continue_list(id) {
                    self.push(Op::Continue);
                    self.open.push(Open { waiting: Vec::new(), kind: OpenKind::Loop { head } });
                    return Ok(Some(list.first));
                }
                self.end_loop(head);
                Ok(Some(body.block_after_loop(id)))
            }
            (OpenKind::Loop { head }, CfParent::Continue(id)) => {
                self.end_loop(head);
                Ok(Some(body.block_after_loop(id)))
            }
            _ => {
                self.push(Op::End);
                Ok(None)
            }
        }
    }

    fn end_loop(&mut self, head: u32) {
        self.loops.push((head, self.here()));
        self.push_waiting(Op::EndLoop { head, nobody: 0 });
    }

    /// The copies that the phis of `to` ask for when it is reached from `from`.
    fn edge(&mut self, from: Block, to: Block) -> Result<(), CpuError> {
        let body = self.body;
        let mut copies = Vec::new();
        for phi in body.phis(to) {
            let Some(source) = body.phi_source_for(phi, from) else { continue };
            let Some(def) = body.inst_def(phi) else { continue };
            let (dest, source) = (self.value(phi, def)?, self.value(phi, body.src_def(source))?);
            let planes = dest.planes().min(source.planes());
            copies.extend((0..planes).map(|plane| Copy { dest: dest.plane + plane, source: source.plane + plane }));
        }
        copies.retain(|copy| copy.dest != copy.source);
        if !copies.is_empty() {
            let number = self.program.copies.len() as u32;
            self.program.copies.push(copies);
            self.push(Op::Copies(number));
        }
        Ok(())
    }

    // ---- instructions

    /// The operations of a block; whether it ends in a jump.
    fn block(&mut self, block: Block) -> Result<bool, CpuError> {
        let body = self.body;
        for inst in body.insts(block) {
            match *body.inst(inst) {
                InstData::Alu { op, .. } => self.alu(inst, op)?,
                InstData::Deref { kind, ty, .. } => self.deref(inst, kind, ty)?,
                InstData::Call { .. } => return Err(unsupported(inst, "calls are not inlined")),
                InstData::Tex(_) => self.texture(inst)?,
                InstData::Intrinsic { op, .. } => self.intrinsic(inst, op)?,
                InstData::LoadConst { .. } | InstData::Undef | InstData::Phi | InstData::ParallelCopy(_) => {}
                InstData::Jump(kind) => {
                    self.jump(inst, block, kind)?;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn jump(&mut self, inst: Inst, block: Block, kind: JumpKind) -> Result<(), CpuError> {
        let kind = match (kind, self.loop_of(block)) {
            (JumpKind::Return | JumpKind::Halt, _) => Leave::Shader,
            (JumpKind::Break, Some(id)) => {
                self.edge(block, self.body.block_after_loop(id))?;
                Leave::Break
            }
            (JumpKind::Continue, Some(id)) => {
                self.edge(block, self.body.continue_target(id))?;
                Leave::Continue
            }
            _ => return Err(unsupported(inst, "a jump without a loop")),
        };
        self.push_waiting(Op::Jump { kind, end: 0 });
        Ok(())
    }

    fn alu(&mut self, inst: Inst, op: AluOp) -> Result<(), CpuError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Err(unsupported(inst, "no result")) };
        let dest = self.value(inst, def)?;
        let masked = self.masked[def.index()];
        let info = op.info();
        let mut bit_size = if info.output_type.is_unsized() { dest.bits } else { 0 };
        let mut unsized_seen = false;
        let mut narrow = dest.bits != 64;
        let mut sources = Vec::with_capacity(info.num_inputs.into());
        for number in 0..usize::from(info.num_inputs) {
            let value = self.source(inst, number)?;
            if !unsized_seen && info.input_types.get(number).is_some_and(|ty| ty.is_unsized()) {
                bit_size = value.bits;
                unsized_seen = true;
            }
            narrow &= value.bits != 64;
            let swizzle = body.swizzle(body.source(inst, number));
            let mut planes = Vec::new();
            for selector in swizzle.iter(usize::from(op.input_components(number, dest.components))) {
                if selector >= value.components {
                    return Err(unsupported(inst, "a swizzle selects a component that the value does not have"));
                }
                planes.push(value.plane + u32::from(selector));
            }
            sources.push((planes, if value.bits == 64 { u32::from(value.components) } else { 0 }));
        }
        let lane = |op: AluOp, dest: u32, sources: [u32; 3]| Op::Lane { op, masked, dest, sources };
        if narrow && op.is_vec() {
            for (component, (planes, _)) in (0..u32::from(dest.components)).zip(&sources) {
                let Some(&source) = planes.first() else { continue };
                self.push(lane(AluOp::Mov, dest.plane + component, [source, 0, 0]));
            }
            return Ok(());
        }
        let mode = self.program.mode;
        let plain = !mode.flushes_denormals(32) && !mode.rounds_toward_zero(32);
        if narrow
            && info.output_size == 0
            && info.input_sizes.iter().all(|&size| size == 0)
            && has_row(op, bit_size, plain)
        {
            for component in 0..u32::from(dest.components) {
                let mut planes = [0; 3];
                for (plane, (source, _)) in planes.iter_mut().zip(&sources) {
                    *plane = source.get(component as usize).copied().unwrap_or(0);
                }
                self.push(lane(op, dest.plane + component, planes));
            }
            return Ok(());
        }
        let number = self.program.generals.len() as u32;
        self.program.generals.push(General { op, bit_size, dest, sources });
        self.push(Op::General(number));
        Ok(())
    }

    fn texture(&mut self, inst: Inst) -> Result<(), CpuError> {
        use tgsi_ir::body::TexSrcKind as T;
        let body = self.body;
        let (Some(&data), Some(def)) = (body.tex(inst), body.inst_def(inst)) else {
            return Err(unsupported(inst, "no result"));
        };
        let mut sources = [Value::default(); TEX_SOURCE_KINDS];
        for (number, source) in body.sources(inst).enumerate() {
            let kind = body.tex_src_kind(source);
            if matches!(kind, T::TextureDerefIntrinsic | T::SamplerDerefIntrinsic | T::Plane) {
                return Err(unsupported(inst, "a texture source that has to be lowered"));
            }
            sources[kind as usize] = self.source(inst, number)?;
        }
        let number = self.program.textures.len() as u32;
        self.program.textures.push(Texture { data, dest: self.value(inst, def)?, sources });
        self.push(Op::Texture(number));
        Ok(())
    }

    fn intrinsic(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), CpuError> {
        use IntrinsicOp as I;
        let body = self.body;
        let info = op.info();
        if matches!(op, I::DeclReg | I::Nop | I::Use | I::DebugBreak) {
            return Ok(());
        }
        if matches!(op, I::CopyDeref | I::MemcpyDeref | I::LoadParam | I::DerefAtomic | I::DerefAtomicSwap)
            || matches!(info.kind, IntrinsicKind::Mesh)
            || info.num_srcs() > MAX_SOURCES
        {
            return Err(unsupported(inst, "an intrinsic without a form in the lane program"));
        }
        let mut sources = [Value::default(); MAX_SOURCES];
        for (number, source) in sources.iter_mut().enumerate().take(info.num_srcs()) {
            *source = self.source(inst, number)?;
        }
        let dest = match body.inst_def(inst) {
            Some(def) => self.value(inst, def)?,
            None => Value::default(),
        };
        let handle = match op {
            I::LoadReg | I::LoadRegIndirect => Some(0),
            I::StoreReg | I::StoreRegIndirect => Some(1),
            _ => None,
        };
        let register = match handle.map(|number| self.registers.get(&body.src(inst, number))) {
            None => 0,
            Some(Some(&register)) => register,
            Some(None) => return Err(unsupported(inst, "a register handle is none")),
        };
        if !crate::interpret::knows(op) {
            return Err(unsupported(inst, "an intrinsic without a form in the lane program"));
        }
        let last = info.num_srcs().checked_sub(1).map(|number| body.src(inst, number));
        let offset = last.and_then(|def| body.constant_component(def, 0)).map(|word| word as u32);
        let has_mask = info.index_slot(IndexKind::WriteMask).is_some();
        self.program.writes_memory |= crate::interpret::writes_memory(op);
        let number = self.program.intrinsics.len() as u32;
        self.program.intrinsics.push(Intrinsic {
            op,
            sources,
            num_sources: info.num_srcs() as u8,
            dest,
            indices: *body.inst_indices(inst),
            base: body.index(inst, IndexKind::Base),
            write_mask: if has_mask { body.index(inst, IndexKind::WriteMask) as u32 } else { u32::MAX },
            offset,
            register,
        });
        self.push(Op::Intrinsic(number));
        Ok(())
    }

    // ---- variables

    fn is_opaque(&self, ty: Type) -> bool {
        let types = &self.shader.types;
        matches!(
            types.get(types.without_arrays(ty)),
            TypeData::Sampler { .. } | TypeData::Texture { .. } | TypeData::Image { .. } | TypeData::Opaque(_)
        )
    }

    fn is_counter(&self, ty: Type) -> bool {
        matches!(self.shader.types.get(self.shader.types.without_arrays(ty)), TypeData::AtomicCounter)
    }

    /// Cells of a value of a type: words of vectors and of arrays of them. None for other types.
    fn cells_of(&self, ty: Type) -> Option<u32> {
        let types = &self.shader.types;
        let (mut inner, mut count) = (ty, 1u32);
        while let TypeData::Array { element, length, .. } = *types.get(inner) {
            (inner, count) = (element, count.checked_mul(length)?);
        }
        let (scalar, components) = types.as_vector(inner)?;
        let words = if scalar.bit_size() == 64 { 2 } else { 1 };
        count.checked_mul(u32::from(components) * words)
    }

    fn variable(&mut self, inst: Inst, variable: Variable) -> Result<u32, CpuError> {
        let data = &self.shader.variables[variable];
        if self.is_opaque(data.ty) {
            return Ok(data.binding);
        }
        if self.is_counter(data.ty) {
            return Ok((data.binding << COUNTER_SHIFT).wrapping_add(data.driver_location));
        }
        let private = VariableModes(VariableModes::FUNCTION_TEMP.0 | VariableModes::SHADER_TEMP.0);
        if let Some(&cell) = self.cells.get(&variable) {
            return Ok(cell);
        }
        let (true, Some(cells)) = (data.mode.intersects(private), self.cells_of(data.ty)) else {
            return Err(unsupported(inst, "a variable of a mode or type that has to be lowered"));
        };
        let first = self.next_cell;
        self.next_cell = first.saturating_add(cells);
        if self.next_cell > MAX_PLANES {
            return Err(CpuError::TooLarge(MAX_PLANES));
        }
        self.cells.insert(variable, first);
        if let Some(initializer) = &data.initializer {
            self.initialize(inst, data.ty, first, initializer)?;
        }
        Ok(first)
    }

    fn initialize(&mut self, inst: Inst, ty: Type, cell: u32, initializer: &Initializer) -> Result<(), CpuError> {
        let mut pending = vec![(ty, cell, initializer)];
        while let Some((ty, cell, initializer)) = pending.pop() {
            match (initializer, self.shader.types.get(ty)) {
                (Initializer::Null, _) => {}
                (Initializer::Vector(words), TypeData::Vector { scalar, .. }) => {
                    let step = word_count(*scalar);
                    for (number, &word) in (0u32..).zip(words) {
                        self.program.initial.push((cell + number * step, word as u32));
                        if step == 2 {
                            self.program.initial.push((cell + number * step + 1, (word >> 32) as u32));
                        }
                    }
                }
                (Initializer::Elements(parts), TypeData::Array { element, length, .. }) => {
                    let size = self.cells_of(*element).unwrap_or(0);
                    for (number, part) in (0..*length).zip(parts) {
                        pending.push((*element, cell + size * number, part));
                    }
                }
                _ => return Err(unsupported(inst, "an initialiser that has to be lowered")),
            }
        }
        Ok(())
    }

    fn deref(&mut self, inst: Inst, kind: DerefKind, ty: Type) -> Result<(), CpuError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Err(unsupported(inst, "no result")) };
        let dest = self.value(inst, def)?;
        match kind {
            DerefKind::Var(variable) => {
                if body.is_unused(def) {
                    return Ok(());
                }
                let address = self.variable(inst, variable)?;
                self.known_address(def, dest, address);
            }
            DerefKind::Array => {
                let parent_def = body.src(inst, 0);
                let parent = self.source(inst, 0)?;
                let index = self.source(inst, 1)?;
                let Some(parent_type) = body.deref_type(parent_def) else {
                    return Err(unsupported(inst, "the parent of a deref is none"));
                };
                let units = self.is_opaque(ty) || self.is_counter(ty);
                let stride = if units { Some(self.shader.types.array_elements(ty)) } else { self.cells_of(ty) };
                let bound = match *self.shader.types.get(parent_type) {
                    TypeData::Array { length, .. } if length != 0 && !units => length,
                    TypeData::Array { .. } => u32::MAX,
                    TypeData::Vector { components, .. } => components.into(),
                    _ => return Err(unsupported(inst, "a deref of a type that has to be lowered")),
                };
                let Some(stride) = stride else { return Err(unsupported(inst, "a deref that has to be lowered")) };
                let step = Step { dest, parent, index, bound, stride };
                let constant = body.constant_component(body.src(inst, 1), 0);
                if let (Some(&parent), Some(constant)) = (self.addresses.get(&parent_def), constant) {
                    let index = if index.bits == 32 { i64::from(constant as i32) } else { constant as i64 };
                    self.known_address(def, dest, step.address(parent, index));
                    return Ok(());
                }
                let number = self.program.steps.len() as u32;
                self.program.steps.push(step);
                self.push(Op::Step(number));
            }
            _ => return Err(unsupported(inst, "a deref of a kind that has to be lowered")),
        }
        Ok(())
    }

    fn known_address(&mut self, def: Def, dest: Value, address: u32) {
        self.addresses.insert(def, address);
        self.program.constants.push((dest.plane, address));
    }

    /// Counts the input registers, and the output registers as the interpreter of the IR does.
    fn outputs(&mut self) {
        let shader = self.shader;
        let mut registers = shader.num_outputs;
        for (_, data) in shader.globals_with(VariableModes::SHADER_OUT) {
            let ty = match *shader.types.get(data.ty) {
                TypeData::Array { element, .. } if data.per_vertex => element,
                _ => data.ty,
            };
            let slots = if data.compact { shader.types.array_elements(ty).div_ceil(4) } else { shader.types.slots(ty) };
            registers = registers.max(data.driver_location.saturating_add(slots));
        }
        let mut inputs = 0u32;
        for intrinsic in &self.program.intrinsics {
            if matches!(intrinsic.op, IntrinsicOp::LoadInput | IntrinsicOp::LoadInterpolatedInput) {
                // The last register that a value of the last slot reaches; without a range, any.
                let range = intrinsic.index(IndexKind::Range) as u32;
                let known = range != 0 || intrinsic.offset.is_some();
                let last = if range != 0 { range - 1 } else { intrinsic.offset.unwrap_or(0) };
                let width = (intrinsic.dest.planes() + intrinsic.index(IndexKind::Component) as u32 % 4).div_ceil(4);
                let end = (intrinsic.base as u32).saturating_add(last).saturating_add(width);
                inputs = inputs.max(if known { end } else { u32::MAX });
            }
            if matches!(intrinsic.op, IntrinsicOp::LoadPerPrimitiveInput) {
                inputs = u32::MAX;
            }
            if matches!(intrinsic.op, IntrinsicOp::StoreOutput | IntrinsicOp::StorePerVertexOutput) {
                let slots = IoSemantics::from_i32(intrinsic.index(IndexKind::IoSemantics)).num_slots;
                // A wide value goes over into the next registers.
                let width =
                    (intrinsic.sources[0].planes() + intrinsic.index(IndexKind::Component) as u32 % 4).div_ceil(4);
                let slots = u32::from(slots).max(intrinsic.index(IndexKind::Range) as u32).max(width);
                registers = registers.max((intrinsic.base as u32).saturating_add(slots));
            }
        }
        self.program.input_registers = inputs;
        self.program.output_registers = registers.min(MAX_OUTPUT_REGISTERS);
        self.program.patch_vertices = self.program.patch_vertices.min(MAX_LANES as u32);
    }
}

/// Counters of one buffer that a counter address tells apart.
pub(crate) const COUNTER_SHIFT: u32 = 16;

fn word_count(scalar: ScalarType) -> u32 {
    if scalar.bit_size() == 64 { 2 } else { 1 }
}
