//! Inputs, outputs, constants.

use tgsi::shader::{Dimension, Dst, Indirect, Register, Src};
use tgsi::tables::{File, Opcode};
use tgsi_ir::alu::AluOp;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::{Def, Inst, Use};
use tgsi_registers::chase;
use tgsi_registers::chase::Operand;

use super::address::AddressUse;
use super::{IoFile, Selector, Value, lane_mask};
use crate::DriverError;
use crate::consumers::options::Dialect;
use crate::consumers::virgl::rules;

impl Selector<'_> {
    /// A value with its first component at component `first` of a register.
    fn at_component(register: Register, first: u8) -> Value {
        let lane = |c: u8| (first + c).min(3);
        Value { lanes: [lane(0), lane(1), lane(2), lane(3)], ..Value::new(register) }
    }

    /// Binds a value to a register that never changes; copies it if its address may change.
    fn bind_read_only(&mut self, def: Def, value: Value) {
        let indirect =
            value.register.indirect.is_some() || value.register.dimension.is_some_and(|d| d.indirect.is_some());
        if indirect { self.copy_to(def, value) } else { self.bind_or_move(def, value) }
    }

    /// Adds the outer index of an access by vertex to a register.
    fn by_vertex(&mut self, register: Register, vertex: Use) -> Register {
        let def = self.body.src_def(vertex);
        let dimension = match self.body.constant_component(def, 0) {
            Some(vertex) => Dimension { index: vertex as i32, indirect: None },
            None => {
                let (slot, offset) = self.load_address(def, AddressUse::Dimension);
                let indirect = Indirect { file: slot.0.file, index: slot.0.index, component: slot.1, array_id: 0 };
                Dimension { index: offset, indirect: Some(indirect) }
            }
        };
        Register { dimension: Some(dimension), ..register }
    }

    pub(super) fn load_input(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), DriverError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let base = body.index(inst, IndexKind::Base);
        let component = body.component(inst);
        let offset = body.source(inst, body.num_sources(inst) - 1);
        let Some(mut register) = self.io_register(IoFile::Input, inst, offset)? else {
            self.bind_zero(def);
            return Ok(());
        };
        match op {
            // An access without a vertex to a file with vertices reads vertex 0. For an access to the whole file the
            // vertex is given only if the register has vertices.
            IntrinsicOp::LoadInput
                if self.declared.is_by_vertex(self.shader.stage, base)
                    && (register.indirect.is_none() || !self.reaches_others(IoFile::Input, inst)) =>
            {
                register = register.in_dimension(0);
            }
            IntrinsicOp::LoadPerVertexInput => {
                let vertices = self.shader.info.gs.vertices_in;
                let vertex = body.constant_component(body.src(inst, 0), 0);
                let is_missing =
                    self.shader.stage == ShaderStage::Geometry && vertex.is_some_and(|v| v >= vertices.into());
                if is_missing && vertices != 0 && self.options.dialect == Dialect::Virgl {
                    // No vertex of the primitive: GLSL does not allow that.
                    self.bind_zero(def);
                    return Ok(());
                }
                register = self.by_vertex(register, body.source(inst, 0));
            }
            IntrinsicOp::LoadInterpolatedInput => {
                let at = body.def_inst(body.src(inst, 0));
                let opcode = match body.intrinsic(at) {
                    Some(IntrinsicOp::LoadBarycentricAtSample) => Some(Opcode::InterpSample),
                    Some(IntrinsicOp::LoadBarycentricAtOffset) => Some(Opcode::InterpOffset),
                    Some(IntrinsicOp::LoadBarycentricCentroid) => Some(Opcode::InterpCentroid),
                    _ => None,
                };
                if let Some(opcode) = opcode {
                    let value = Self::at_component(register, component);
                    let mut sources = vec![value.source([0, 1, 2, 3])];
                    if opcode != Opcode::InterpCentroid {
                        let at = self.value(body.src(inst, 0));
                        sources.push(at.source([0, 1, 0, 0]));
                    }
                    let register = self.destination(def);
                    let mask = self.full_lanes(def);
                    self.emit(opcode, Dst::new(register).masked(mask), &sources);
                    return Ok(());
                }
            }
            _ => {}
        }
        let semantic = self.declared.semantic(self.shader.stage, IoFile::Input, register);
        if self.options.dialect == Dialect::Virgl && semantic.is_some_and(rules::is_integer_input) {
            // The host converts these for integer opcodes only.
            let source = Self::at_component(register, component).source([0, 1, 2, 3]);
            let dst = Dst::new(self.destination(def)).masked(self.full_lanes(def));
            self.emit(Opcode::Imax, dst, &[source, source]);
            return Ok(());
        }
        self.bind_read_only(def, Self::at_component(register, component));
        Ok(())
    }

    /// Loads a block number plus a constant into an address register.
    fn block_address(&mut self, block: Def, add: u32) -> super::address::Slot {
        if add == 0 {
            return self.load_address(block, AddressUse::Dimension).0;
        }
        let value = self.value(block).lane(0);
        let add = self.word(add);
        let sum = self.computed(Opcode::Uadd, 1, &[value, add]);
        self.load_value(sum.swizzled([0; 4]), AddressUse::Dimension)
    }

    /// `load_barycentric_*`: bound to its argument.
    pub(super) fn select_barycentric(&mut self, inst: Inst) {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return };
        if body.num_sources(inst) == 0 {
            return;
        }
        let value = self.copy_register_operand(body.source(inst, 0));
        self.values.set(def, value);
    }

    /// The value of a source, copied if it is a register of the IR, which may change.
    pub(super) fn copy_register_operand(&mut self, source: Use) -> Value {
        let body = self.body;
        let value = self.operand(source);
        if matches!(chase::chase_src(body, source), Operand::Ssa(_)) {
            return value;
        }
        let mask = self.full_lanes(body.src_def(source));
        Value::new(self.computed(Opcode::Mov, mask, &[value.source([0, 1, 2, 3])]).register)
    }

    pub(super) fn load_output(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), DriverError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let component = body.component(inst);
        let offset = body.source(inst, body.num_sources(inst) - 1);
        let Some(mut register) = self.io_register(IoFile::Output, inst, offset)? else {
            self.bind_zero(def);
            return Ok(());
        };
        if op == IntrinsicOp::LoadPerVertexOutput {
            register = self.by_vertex(register, body.source(inst, 0));
        }
        let value = Self::at_component(register, component);
        if self.shader.stage == ShaderStage::Fragment {
            let fetched = self.computed(Opcode::Fbfetch, 0xf, &[Src::new(register)]);
            self.bind_or_move(def, Value { register: fetched.register, ..value });
        } else {
            // Other invocations may write it later.
            self.copy_to(def, value);
        }
        Ok(())
    }

    pub(super) fn store_output(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), DriverError> {
        let body = self.body;
        // Before the output is addressed, which would leave no address register for the value.
        let value = (self.options.dialect == Dialect::Virgl).then(|| self.source(inst, 0));
        let component = body.component(inst);
        let offset = body.source(inst, body.num_sources(inst) - 1);
        let Some(mut register) = self.io_register(IoFile::Output, inst, offset)? else { return Ok(()) };
        if op == IntrinsicOp::StorePerVertexOutput {
            register = self.by_vertex(register, body.source(inst, 1));
        }
        let value = value.unwrap_or_else(|| self.source(inst, 0));
        let defined = !self.is_undef(body.src(inst, 0));
        let lanes = lane_mask(body.write_mask(inst), body.bit_size(body.src(inst, 0)));
        let mask = lanes << component & 0xf;
        let channels = [0, 1, 2, 3].map(|c: u8| c.saturating_sub(component));
        if mask != 0 && defined {
            self.emit(Opcode::Mov, Dst::new(register).masked(mask), &[value.source(channels)]);
        }
        Ok(())
    }

    pub(super) fn load_uniform(&mut self, inst: Inst) {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return };
        let base = body.index(inst, IndexKind::Base);
        let offset = body.src(inst, 0);
        let size = self.shader.num_uniforms;
        let register = match body.constant_component(offset, 0) {
            Some(constant) => {
                let index = base.wrapping_add(constant as i32);
                if !(0..=0xffff).contains(&index) {
                    self.bind_zero(def);
                    return;
                }
                self.constant_register(0, index as u32).in_dimension(0)
            }
            None => {
                let (slot, constant) = self.load_address_beyond(offset, base);
                self.declared.indirect_constants(0, 0, size.max(1) - 1);
                Register::new_2d(File::Constant, 0, constant).indexed_by(slot.0, slot.1, 0)
            }
        };
        self.bind_read_only(def, Value::new(register));
    }

    /// The register of a constant, without its buffer: direct, or through an address register if operands cannot encode
    /// its index.
    fn constant_register(&mut self, buffer: u32, index: u32) -> Register {
        if index <= self.options.max_constant_index.min(0x7fff) {
            return Register::new(File::Constant, index as i32);
        }
        self.declared.indirect_constants(buffer, index, index);
        let number = self.number(index);
        let slot = self.load_value(number, AddressUse::Index);
        Register::new(File::Constant, 0).indexed_by(slot.0, slot.1, 0)
    }

    /// Emits the load of a uniform block. Constant buffer numbers are one greater than block numbers (block -1 is
    /// buffer 0), unless the first block is that of the uniforms.
    pub(super) fn load_ubo(&mut self, inst: Inst) {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return };
        let block = body.src(inst, 0);
        let count = u32::from(body.num_components(def)) * u32::from(body.bit_size(def)) / 32;
        let vec4 = body.intrinsic(inst) == Some(IntrinsicOp::LoadUboVec4);
        let offset = if vec4 {
            let base = body.index(inst, IndexKind::Base);
            let component = u32::from(body.component(inst));
            match body.constant_component(body.src(inst, 1), 0) {
                Some(constant) => Some((None, i64::from(base) + constant as i64, component)),
                None => Some((Some(body.src(inst, 1)), i64::from(base), component)),
            }
        } else {
            self.constant_offset(inst, count)
        };
        let fixed_block =
            body.constant_component(block, 0).map(|b| (b as u32).wrapping_add(self.shader.info.first_ubo_buffer()));
        let Some((dynamic, index, component)) = offset.filter(|o| (0..=0x7fff).contains(&o.1) || o.0.is_some()) else {
            self.load_constant_buffer(inst, def, fixed_block);
            return;
        };
        let index = index as i32;
        let mut register = match dynamic {
            None => self.constant_register(fixed_block.unwrap_or(0), index as u32),
            Some(dynamic) => {
                let offset = body.def_inst(body.src(inst, 1));
                if vec4 || body.alu_op(offset) != Some(AluOp::F2i32) {
                    self.note_index(dynamic);
                }
                let (slot, constant) = self.load_number_beyond(dynamic, index);
                Register::new(File::Constant, constant).indexed_by(slot.0, slot.1, 0)
            }
        };
        let reach = dynamic.is_none().then_some((index as u32, index as u32));
        match fixed_block {
            Some(buffer) => {
                register = register.in_dimension(buffer as i32);
                if reach.is_none() {
                    self.declared.all_constants(buffer);
                }
            }
            None => {
                let first = self.shader.info.first_ubo_buffer();
                if self.options.dialect == Dialect::Virgl {
                    // The host indexes the array of all blocks, whatever the constant of the operand; it begins with
                    // the first declared block.
                    let base = self.declared.first_block(first);
                    let slot = self.block_address(block, first.wrapping_sub(base));
                    register = register.in_dimension_indexed_by(base as i32, slot.0, slot.1);
                } else {
                    let (slot, add) = self.load_address(block, AddressUse::Dimension);
                    register = register.in_dimension_indexed_by(add.wrapping_add(first as i32), slot.0, slot.1);
                }
                self.declared.all_buffers(self.shader, reach);
            }
        }
        self.bind_read_only(def, Self::at_component(register, component as u8));
    }

    /// A byte offset as (run-time vec4 index, constant vec4 index, component), if the access stays within one vec4.
    fn constant_offset(&self, inst: Inst, count: u32) -> Option<(Option<Def>, i64, u32)> {
        let body = self.body;
        let mut def = body.src(inst, 1);
        let mut constant = 0u32;
        let mut component = 0u8;
        for _ in 0..16 {
            if let Some(value) = body.constant_component(def, usize::from(component)) {
                let bytes = constant.wrapping_add(value as u32);
                let first = bytes % 16 / 4;
                return (bytes.is_multiple_of(4) && first + count <= 4).then_some((None, i64::from(bytes / 16), first));
            }
            let producer = body.def_inst(def);
            let op = body.alu_op(producer)?;
            let operand = |number: usize| {
                let source = body.source(producer, number);
                (body.src_def(source), body.swizzle(source).get(usize::from(component)))
            };
            // Without integers, numbers are floats.
            let is_float = matches!(op, AluOp::Fadd | AluOp::Fmul);
            if is_float && self.options.native_integers {
                return None;
            }
            let known = |(def, component): (Def, u8)| {
                let word = body.constant_component(def, usize::from(component))?;
                if is_float { super::address::whole(word) } else { Some(word) }
            };
            match op {
                AluOp::Iadd | AluOp::Fadd => {
                    let (a, b) = (operand(0), operand(1));
                    let (value, add) = match (known(a), known(b)) {
                        (_, Some(add)) => (a, add),
                        (Some(add), None) => (b, add),
                        _ => return None,
                    };
                    constant = constant.wrapping_add(add as u32);
                    (def, component) = value;
                }
                AluOp::Mov => (def, component) = operand(0),
                AluOp::F2i32 if !self.options.native_integers => (def, component) = operand(0),
                AluOp::Ishl | AluOp::Imul | AluOp::Fmul => {
                    let (value, factor) = (operand(0), known(operand(1))?);
                    let vec4s = if op == AluOp::Ishl { factor == 4 } else { factor == 16 };
                    let first = constant % 16 / 4;
                    // The index is read at the load, so it must not have changed.
                    let fits = vec4s
                        && constant.is_multiple_of(4)
                        && first + count <= 4
                        && value.1 == 0
                        && self.still_holds(value.0);
                    let index = i64::from(constant as i32 >> 4);
                    let value = self.without_clamp(value.0);
                    return (fits && index.unsigned_abs() < 0x4000).then_some((Some(value), index, first));
                }
                _ => return None,
            }
            if chase::load_reg_for_def(body, def).is_some() {
                return None;
            }
        }
        None
    }

    /// The index without a clamp that prevents its byte offset from wrapping around: an operand supports any index, and
    /// no buffer is as long as either limit.
    pub(super) fn without_clamp(&self, index: Def) -> Def {
        let mut index = index;
        // A signed index has two limits.
        for _ in 0..2 {
            match self.without_limit(index) {
                Some(value) => index = value,
                None => break,
            }
        }
        index
    }

    /// The value clamped by a minimum or maximum beyond the range of all indices.
    fn without_limit(&self, index: Def) -> Option<Def> {
        const LONGER_THAN_ANY_BUFFER: i32 = 0x00ff_ffff;
        let body = self.body;
        let producer = body.def_inst(index);
        let is_out_of_range = match body.alu_op(producer)? {
            AluOp::Umin => |limit: u32| limit >= LONGER_THAN_ANY_BUFFER as u32,
            AluOp::Imin => |limit: u32| limit as i32 >= LONGER_THAN_ANY_BUFFER,
            AluOp::Imax => |limit: u32| limit as i32 <= -LONGER_THAN_ANY_BUFFER,
            AluOp::Fmin if !self.options.native_integers => {
                |limit: u32| f32::from_bits(limit) as i32 >= LONGER_THAN_ANY_BUFFER
            }
            _ => return None,
        };
        [(0, 1), (1, 0)].into_iter().find_map(|(value, limit)| {
            let (value, limit) = (body.source(producer, value), body.source(producer, limit));
            let known = body.constant_component(body.src_def(limit), usize::from(body.swizzle(limit).get(0)))?;
            let is_unlimited = is_out_of_range(known as u32)
                && body.swizzle(value).get(0) == 0
                && self.still_holds(body.src_def(value));
            is_unlimited.then(|| body.src_def(value))
        })
    }

    /// Emits a `LOAD` for any other offset.
    fn load_constant_buffer(&mut self, inst: Inst, def: Def, fixed: Option<u32>) {
        let body = self.body;
        let resource = match fixed {
            Some(buffer) => {
                self.declared.constant_buffer(buffer);
                Register::new(File::ConstantBuffer, buffer as i32)
            }
            None => {
                let (slot, add) = self.load_address(body.src(inst, 0), AddressUse::Resource);
                for buffer in 0..self.shader.info.num_ubos.saturating_add(self.shader.info.first_ubo_buffer()) {
                    self.declared.constant_buffer(buffer);
                }
                Register::new(File::ConstantBuffer, add.wrapping_add(self.shader.info.first_ubo_buffer() as i32))
                    .indexed_by(slot.0, slot.1, 0)
            }
        };
        let address = self.source(inst, 1).lane(0);
        let access = body.index(inst, IndexKind::Access);
        self.load_memory(def, Src::new(resource), address, super::memory::buffer_memory(access));
    }
}
