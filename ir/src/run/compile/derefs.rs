//! Compiles derefs to steps of an address computation. Constant addresses are computed here.

use super::function::FunctionCompiler;
use crate::body::{Body, DerefKind, InstData};
use crate::entities::{Def, Inst, Type, User, Variable};
use crate::run::error::RunError;
use crate::run::layout::{BYTE_MODES, NULL, is_opaque};
use crate::run::ops::{Op, Value};
use crate::run::plans::{CopyPlan, DerefStep};
use crate::variable::VariableModes;

impl FunctionCompiler<'_, '_> {
    /// The variable at the root of a chain of derefs.
    pub(super) fn root_variable(&self, mut def: Def) -> Option<Variable> {
        let body = self.body;
        // The chain cannot be longer than the code.
        for _ in 0..body.num_insts() {
            if !body.is_def_live(def) {
                return None;
            }
            let inst = body.def_inst(def);
            match body.inst(inst) {
                InstData::Deref { kind: DerefKind::Var(variable), .. } => return Some(*variable),
                InstData::Deref { .. } if body.num_sources(inst) != 0 => def = body.src(inst, 0),
                _ => return None,
            }
        }
        None
    }

    /// Compiles one deref.
    pub(super) fn compile_deref(
        &mut self,
        inst: Inst,
        kind: DerefKind,
        modes: VariableModes,
        ty: Type,
    ) -> Result<(), RunError> {
        let body = self.body;
        let shader = self.compiler.shader;
        let Some(def) = body.inst_def(inst) else { return Err(self.malformed(inst, "no result")) };
        let dest = self.value(inst, def)?;
        if let DerefKind::Var(variable) = kind {
            if shader.variables.get(variable).is_none() {
                return Err(self.malformed(inst, "no such variable"));
            }
            // Allocated output variables overwrite registers written by `store_output`, so variables that are never
            // accessed are not allocated.
            if shader.variables[variable].mode == VariableModes::SHADER_OUT && leads_nowhere(body, inst) {
                self.known_address(def, dest, NULL);
                return Ok(());
            }
            let known = self.compiler.program.layout.allocation(variable).is_some();
            let allocation = self.compiler.program.layout.add(shader, variable)?;
            if !known && shader.variables[variable].mode == VariableModes::FUNCTION_TEMP {
                self.locals.push(variable);
            }
            self.known_address(def, dest, allocation.address);
            return Ok(());
        }
        if self.compile_unit(inst, ty, def, dest)? {
            return Ok(());
        }
        let parent = self.source(inst, 0)?;
        let parent_def = body.src(inst, 0);
        let parent_address = self.addresses.get(&parent_def).copied();
        let parent_type = body.is_def_live(parent_def).then(|| body.deref_type(parent_def)).flatten();
        let layout = &self.compiler.program.layout;
        let mut step = DerefStep { dest, parent, index: Value::default(), bound: u32::MAX, stride: 0, offset: 0 };
        match kind {
            DerefKind::Var(_) | DerefKind::ArrayWildcard | DerefKind::Cast { .. } => {}
            DerefKind::Array => {
                let elements = parent_type.and_then(|parent| layout.elements(shader, parent, modes));
                let Some((bound, stride)) = elements else {
                    return Err(self.malformed(inst, "the parent of an array deref has no elements"));
                };
                (step.bound, step.stride) = (bound, stride);
                // A component of a column of a row-major matrix.
                step.stride = self.component_distance(parent_def).unwrap_or(step.stride);
                step.index = self.source(inst, 1)?;
            }
            DerefKind::PtrAsArray => {
                let parent = body.is_def_live(parent_def).then(|| *body.inst(body.def_inst(parent_def)));
                let ptr_stride = match parent {
                    Some(InstData::Deref { kind: DerefKind::Cast(cast), modes, .. })
                        if modes.intersects(BYTE_MODES) =>
                    {
                        body.cast(cast).ptr_stride
                    }
                    _ => 0,
                };
                step.stride = if ptr_stride == 0 { layout.stride(ty, modes) } else { ptr_stride };
                step.index = self.source(inst, 1)?;
            }
            DerefKind::Struct(number) => {
                let offset = parent_type.and_then(|parent| layout.field(shader, parent, number, modes));
                let Some(offset) = offset else {
                    return Err(self.malformed(inst, "the parent of a struct deref has no such field"));
                };
                step.offset = offset;
            }
        }
        // Addresses with constant operands are computed here.
        let index = match step.index.components {
            0 => Some(0),
            _ => body.constant_component_of(body.src(inst, 1)),
        };
        if let (Some(parent), Some(index)) = (parent_address, index) {
            self.known_address(def, dest, step.address(parent, index));
            return Ok(());
        }
        let number = self.compiler.program.derefs.len() as u32;
        self.compiler.program.derefs.push(step);
        self.push(Op::Deref(number));
        Ok(())
    }

    /// Compiles a deref of a sampler or image that is a part of a struct: its unit does not follow from an address of the
    /// struct. Returns whether it is one.
    fn compile_unit(&mut self, inst: Inst, ty: Type, def: Def, dest: Value) -> Result<bool, RunError> {
        let (body, shader) = (self.body, self.compiler.shader);
        let Some(variable) = self.root_variable(def).filter(|&variable| shader.variables.get(variable).is_some())
        else {
            return Ok(false);
        };
        let whole = shader.variables[variable].ty;
        if !is_opaque(shader, ty) || is_opaque(shader, whole) {
            return Ok(false);
        }
        let (mut path, mut indices) = (Vec::new(), Vec::new());
        let mut at = inst;
        while body.num_sources(at) > 0 {
            match *body.inst(at) {
                InstData::Deref { kind: DerefKind::Struct(field), .. } => path.push(Some(field)),
                InstData::Deref { kind: DerefKind::Array, .. } => {
                    path.push(None);
                    indices.push(at);
                }
                _ => return Ok(false),
            }
            at = body.def_inst(body.src(at, 0));
        }
        path.reverse();
        let Some(units) = self.compiler.program.layout.units(shader, whole, &path) else { return Ok(false) };
        let first = shader.variables[variable].binding.wrapping_add(units.first);
        let mut step = DerefStep {
            dest,
            parent: Value::default(),
            index: Value::default(),
            bound: u32::MAX,
            stride: 0,
            offset: first,
        };
        let mut steps = Vec::new();
        for (&array, &stride) in indices.iter().rev().zip(&units.strides) {
            match body.constant_component_of(body.src(array, 1)) {
                Some(index) => step.offset = step.offset.wrapping_add((index as u32).wrapping_mul(stride)),
                None => {
                    let parent = if steps.is_empty() { Value::default() } else { dest };
                    steps.push(DerefStep { parent, index: self.source(array, 1)?, stride, offset: 0, ..step });
                }
            }
        }
        match steps.first_mut() {
            None => self.known_address(def, dest, step.offset),
            Some(start) => start.offset = step.offset,
        }
        for step in steps {
            let number = self.compiler.program.derefs.len() as u32;
            self.compiler.program.derefs.push(step);
            self.push(Op::Deref(number));
        }
        Ok(true)
    }

    fn known_address(&mut self, def: Def, dest: Value, address: u32) {
        self.addresses.insert(def, address);
        self.compiler.program.constants.push((dest.vector, address));
    }

    /// The plan of a copy: the vectors of the type, and the wildcards of both paths.
    pub(super) fn copy_plan(&self, inst: Inst) -> Result<CopyPlan, RunError> {
        let (dest, source) = (self.body.src(inst, 0), self.body.src(inst, 1));
        let shader = self.compiler.shader;
        let layout = &self.compiler.program.layout;
        let type_of = |def: Def| self.body.is_def_live(def).then(|| self.body.deref_type(def)).flatten();
        let (Some(ty), Some(source_type)) = (type_of(dest), type_of(source)) else {
            return Err(self.malformed(inst, "a source must be a deref"));
        };
        let mut leaves = layout.leaves(shader, ty)?;
        let mut source_leaves = layout.leaves(shader, source_type)?;
        for (def, leaves) in [(dest, &mut leaves), (source, &mut source_leaves)] {
            // A column, or one component of it.
            if let ([leaf], Some(step)) = (&mut leaves[..], self.component_distance(def)) {
                leaf.step = step;
            }
        }
        let dest = self.wildcards(inst, dest)?;
        let source = self.wildcards(inst, source)?;
        if dest.len() != source.len() {
            return Err(self.malformed(inst, "the paths have different numbers of wildcards"));
        }
        let loops = dest.iter().zip(&source).map(|(d, s)| (d.0.min(s.0), d.1, s.1)).collect();
        CopyPlan::new(leaves, source_leaves, loops)
    }

    /// Bytes from one component to the next of the vector in a buffer that a deref points to, if they are not adjacent.
    pub(super) fn component_distance(&self, deref: Def) -> Option<u32> {
        let body = self.body;
        let InstData::Deref { kind, modes, .. } = *body.inst(body.try_def_inst(deref)?) else { return None };
        if !modes.intersects(BYTE_MODES) || !matches!(kind, DerefKind::Array | DerefKind::ArrayWildcard) {
            return None;
        }
        let parent = body.src(body.def_inst(deref), 0);
        let ty = body.is_def_live(parent).then(|| body.deref_type(parent)).flatten()?;
        self.compiler.program.layout.component_distance(self.compiler.shader, ty)
    }

    /// Bytes from one element to the next of the array in a buffer that a deref points to.
    pub(super) fn array_distance(&self, deref: Def) -> Option<u32> {
        let InstData::Deref { modes, ty, .. } = *self.body.inst(self.body.try_def_inst(deref)?) else { return None };
        let elements = self.compiler.program.layout.elements(self.compiler.shader, ty, modes);
        elements.map(|(_, distance)| distance)
    }

    /// Number of elements and distance for each wildcard of a path, from the root to the leaf.
    fn wildcards(&self, inst: Inst, mut def: Def) -> Result<Vec<(u32, u32)>, RunError> {
        let body = self.body;
        let mut found = Vec::new();
        for _ in 0..body.num_insts() {
            if !body.is_def_live(def) {
                break;
            }
            let at = body.def_inst(def);
            let InstData::Deref { kind, modes, .. } = *body.inst(at) else { break };
            if body.num_sources(at) == 0 {
                break;
            }
            let parent = body.src(at, 0);
            if kind == DerefKind::ArrayWildcard {
                let by_component = self.component_distance(parent);
                let ty = body.is_def_live(parent).then(|| body.deref_type(parent)).flatten();
                let elements = ty.and_then(|ty| self.compiler.program.layout.elements(self.compiler.shader, ty, modes));
                let Some(elements) = elements else {
                    return Err(self.malformed(inst, "the parent of a wildcard has no elements"));
                };
                found.push((elements.0, by_component.unwrap_or(elements.1)));
            }
            def = parent;
        }
        found.reverse();
        Ok(found)
    }
}

impl Body {
    /// The first component of a value if it is constant, sign-extended to 64 bits.
    fn constant_component_of(&self, def: Def) -> Option<i64> {
        if !self.is_def_live(def) {
            return None;
        }
        let bits = self.constant_component(def, 0)?;
        Some(match self.bit_size(def) {
            8 => i64::from(bits as i8),
            16 => i64::from(bits as i16),
            32 => i64::from(bits as i32),
            _ => bits as i64,
        })
    }
}

/// Whether a deref is used by unused derefs only, which passes leave to dead-code elimination.
fn leads_nowhere(body: &Body, deref: Inst) -> bool {
    let mut work = vec![deref];
    while let Some(inst) = work.pop() {
        for source in body.inst_def(inst).into_iter().flat_map(|def| body.uses_of(def)) {
            match body.user(source) {
                User::Inst(user) if matches!(body.inst(user), InstData::Deref { .. }) => work.push(user),
                _ => return false,
            }
        }
    }
    true
}
