//! Accesses to inputs and outputs.

use tgsi_ir::alu::{AluOp, AluType};
use tgsi_ir::body::{DerefKind, InstData, Shape};
use tgsi_ir::entities::{Def, Variable};
use tgsi_ir::intrinsics::indices::IoSemantics;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};

use super::control_flow::Translator;
use tgsi::shader::Register;
use tgsi::tables::{File, Processor};

/// An access to a whole file.
struct WholeFile {
    vertex: Option<Def>,
    offset: Def,
    indices: [(IndexKind, i32); 3],
}

impl Translator<'_, '_> {
    /// Returns a deref of a group's variable, or of one of its elements.
    fn group_deref(&mut self, file: File, group: usize, vertex: Option<Def>, element: Option<Def>) -> Option<Def> {
        let (variable, ty) = self.context.group_variable(file, group, vertex.is_some())?;
        let mode = self.context.io(file).mode();
        let mut deref = self.b.deref_var(variable, mode, ty);
        let mut ty = ty;
        for index in [vertex, element].into_iter().flatten() {
            ty = self.context.ir.types.element(ty)?.0;
            deref = self.b.deref_array(deref, index, ty);
        }
        Some(deref)
    }

    /// Returns a deref of an input or output register, or none if it is not declared.
    pub(super) fn register_deref(&mut self, file: File, index: i32, vertex: Option<Def>) -> Option<Def> {
        let group = *self.context.io(file).of_register.get(&index)?;
        let entry = self.context.io(file).groups.get(group)?;
        let (is_array, first) = (entry.is_array, entry.first);
        let element = is_array.then(|| self.constant((index - first) as u32));
        self.group_deref(file, group, vertex, element)
    }

    /// Returns the output variable of a register with a shadow, and its component if it is a scalar.
    pub(super) fn output_deref(&mut self, group: usize, register: i32) -> Option<(Def, Option<u8>)> {
        let entry = self.context.output_file.groups.get(group)?;
        let (is_array, first, scalar) = (entry.is_array, entry.first, entry.scalar);
        let element = is_array.then(|| self.constant((register - first) as u32));
        Some((self.group_deref(File::Output, group, None, element)?, scalar))
    }

    /// Returns a deref of an indirectly addressed register, or none if the index may address several variables.
    fn indirect_deref(
        &mut self,
        file: File,
        index: i32,
        offset: Def,
        bounds: (i32, i32),
        vertex: Option<Def>,
    ) -> Option<Def> {
        let group = *self.context.io(file).of_register.get(&bounds.0)?;
        let entry = self.context.io(file).groups.get(group)?;
        let (first, last, is_array) = (entry.first, entry.last, entry.is_array);
        if !is_array || last < bounds.1 {
            return None;
        }
        let element = self.element_index(first, (last - first) as u32 + 1, index, offset, bounds);
        self.group_deref(file, group, vertex, Some(element))
    }

    /// Returns the vertex of an access to a file that is addressed by vertex, or none if the access has no vertex
    /// index. All inputs of a geometry shader are per vertex; those that are the same for all vertices (`PRIM_ID`) are
    /// read from the first.
    fn vertex_index(&mut self, register: &Register) -> Option<Def> {
        if !self.context.shader.processor.has_vertices(register.file) {
            return None;
        }
        let Some(dimension) = register.dimension else {
            return (self.context.shader.processor == Processor::Geometry).then(|| self.constant(0));
        };
        Some(self.index(dimension.index, dimension.indirect))
    }

    /// Reads an input, or an output of a tessellation control shader, with `read`, which gets a deref of a vec4.
    pub(super) fn read_io(&mut self, register: &Register, read: &mut dyn FnMut(&mut Self, Def) -> Def) -> Option<Def> {
        let file = register.file;
        // A file that is not addressed by vertex has only outer index 0.
        if !self.context.shader.processor.has_vertices(file)
            && register.dimension.is_some_and(|dimension| dimension.indirect.is_none() && dimension.index != 0)
        {
            return None;
        }
        let vertex = self.vertex_index(register);
        let Some(indirect) = register.indirect else {
            let deref = self.register_deref(file, register.index, vertex)?;
            return Some(read(self, deref));
        };
        let bounds = self.context.bounds(file, indirect.array_id)?;
        let offset = self.index_value(indirect);
        if let Some(deref) = self.indirect_deref(file, register.index, offset, bounds, vertex) {
            return Some(read(self, deref));
        }
        let index = self.add_constant(offset, register.index);
        let mut value = self.constant_vector(&[0; 4]);
        for candidate in bounds.0..=bounds.1 {
            let Some(deref) = self.register_deref(file, candidate, vertex) else { continue };
            let own = read(self, deref);
            let number = self.constant(candidate as u32);
            let chosen = self.b.alu(AluOp::Ieq, &[index, number]);
            let chosen = tgsi_ir::builder::AluSrc::component(chosen, 0);
            value = self.b.alu_sized(AluOp::Bcsel, 4, &[chosen, own.into(), value.into()]);
        }
        Some(value)
    }

    /// Returns the variable at the root of a chain of derefs.
    pub(super) fn deref_variable(&self, deref: Def) -> Option<Variable> {
        let mut inst = self.b.body.def_inst(deref);
        while let InstData::Deref { kind, .. } = *self.b.body.inst(inst) {
            if let DerefKind::Var(variable) = kind {
                return Some(variable);
            }
            inst = self.b.body.def_inst(self.b.body.src(inst, 0));
        }
        None
    }

    /// Marks the variable of a deref as read from the framebuffer.
    pub(super) fn mark_framebuffer_fetch(&mut self, deref: Def) {
        if let Some(variable) = self.deref_variable(deref) {
            self.context.ir.variables[variable].fb_fetch_output = true;
        }
    }

    /// Returns the operands of an intrinsic that accesses the whole file: vertex, offset from the first register, and
    /// constant indices. Returns none if the access must be to a variable.
    fn whole_file(&mut self, register: &Register) -> Option<WholeFile> {
        let file = register.file;
        let (first, last) = self.context.io(file).whole?;
        // An array is not the whole file, and no output may be both in variables and in slots.
        let is_whole = register.indirect.is_some_and(|i| !self.context.array_bounds.contains_key(&(file, i.array_id)));
        if !is_whole && file == File::Input {
            return None;
        }
        let vertex = self.vertex_index(register);
        let bounds = register.indirect.and_then(|i| self.context.bounds(file, i.array_id)).unwrap_or((first, last));
        let offset = match register.indirect {
            Some(indirect) => {
                let offset = self.index_value(indirect);
                self.element_index(first, (last - first) as u32 + 1, register.index, offset, bounds)
            }
            None => self.constant(0),
        };
        // The base is the register, if it is constant.
        let (base, count) = match register.indirect {
            Some(_) => (first, (last - first) as u32 + 1),
            None => (register.index, 1),
        };
        let group = *self.context.io(file).of_register.get(&base)?;
        let (variable, _) = self.context.group_variable(file, group, vertex.is_some())?;
        let data = &self.context.ir.variables[variable];
        let location = u8::try_from(data.location + base - data.driver_location as i32).unwrap_or(0);
        let mut semantics = IoSemantics::new(location.min(127), count.min(63) as u8);
        semantics.invariant = data.invariant;
        let indices =
            [(IndexKind::Base, base), (IndexKind::Range, count as i32), (IndexKind::IoSemantics, semantics.to_i32())];
        Some(WholeFile { vertex, offset, indices })
    }

    /// Reads a vec4 of an input, or of an output of a tessellation control shader.
    pub(super) fn load_io(&mut self, register: &Register) -> Option<Def> {
        if let Some(WholeFile { vertex, offset, indices }) = self.whole_file(register) {
            let (op, sources) = match (register.file, vertex) {
                (File::Input, Some(vertex)) => (IntrinsicOp::LoadPerVertexInput, vec![vertex, offset]),
                (File::Input, None) => (IntrinsicOp::LoadInput, vec![offset]),
                (_, Some(vertex)) => (IntrinsicOp::LoadPerVertexOutput, vec![vertex, offset]),
                (_, None) => (IntrinsicOp::LoadOutput, vec![offset]),
            };
            let ty = (IndexKind::DestType, AluType::FLOAT32.to_i32());
            let indices: Vec<_> = indices.into_iter().chain([ty]).collect();
            return Some(self.b.intrinsic_def(op, &sources, &indices, Shape::new(4, 32)));
        }
        self.read_io(register, &mut |t, deref| t.b.load_deref(deref, Shape::new(4, 32)))
    }

    /// Writes an output of a tessellation control shader.
    pub(super) fn store_io(&mut self, register: &Register, value: Def, mask: u8) {
        let file = register.file;
        if let Some(WholeFile { vertex, offset, indices }) = self.whole_file(register) {
            let (op, sources) = match vertex {
                Some(vertex) => (IntrinsicOp::StorePerVertexOutput, vec![value, vertex, offset]),
                None => (IntrinsicOp::StoreOutput, vec![value, offset]),
            };
            let ty = (IndexKind::SrcType, AluType::FLOAT32.to_i32());
            let indices: Vec<_> = indices.into_iter().chain([ty, (IndexKind::WriteMask, i32::from(mask))]).collect();
            self.b.intrinsic(op, &sources, &indices, None);
            return;
        }
        let vertex = self.vertex_index(register);
        let Some(indirect) = register.indirect else {
            if let Some(deref) = self.register_deref(file, register.index, vertex) {
                self.b.store_deref(deref, value, u32::from(mask));
            }
            return;
        };
        let Some(bounds) = self.context.bounds(file, indirect.array_id) else { return };
        let offset = self.index_value(indirect);
        if let Some(deref) = self.indirect_deref(file, register.index, offset, bounds, vertex) {
            self.b.store_deref(deref, value, u32::from(mask));
            return;
        }
        let index = self.add_constant(offset, register.index);
        for candidate in bounds.0..=bounds.1 {
            if !self.context.io(file).of_register.contains_key(&candidate) {
                continue;
            }
            let number = self.constant(candidate as u32);
            let chosen = self.b.alu(AluOp::Ieq, &[index, number]);
            let branch = self.b.push_if(chosen);
            if let Some(deref) = self.register_deref(file, candidate, vertex) {
                self.b.store_deref(deref, value, u32::from(mask));
            }
            self.b.end_if(branch);
        }
    }
}
