//! Reads of the framebuffer: `inout` outputs and `gl_LastFragData`.
//!
//! A load of an output that is marked as fetched gives the value of the framebuffer. The entry point loads it first: an
//! `inout` output begins with it, and `gl_LastFragData` is a copy. Where the shader writes `gl_FragColor` or
//! `gl_FragData`, these are the outputs that are loaded, so that a colour has one output.

use rustc_hash::FxHashMap;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::{Function as IrFunction, Variable as IrVariable};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::types::TypeData as IrTypeData;
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Builder, Cursor};

use super::Context;
use crate::program::{Program, VariableId};
use crate::symbol::Interner;
use crate::types::TypeData;

/// `gl_LastFragData`, and the output whose loads give it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Framebuffer {
    copy: VariableId,
    /// The output, if it is another variable.
    source: Option<VariableId>,
}

impl Framebuffer {
    /// Finds `gl_LastFragData` of a program.
    pub(super) fn of(program: &Program, interner: &Interner) -> Option<Framebuffer> {
        let mut globals = program.globals.iter().copied();
        let copy = globals.find(|&id| program.variable(id).is_framebuffer(program.version))?;
        let is_single = length(program, copy) == 1;
        let source = program.globals.iter().copied().find(|&id| {
            let variable = program.variable(id);
            match interner.spelling(variable.name) {
                "gl_FragColor" => is_single && variable.is_written,
                "gl_FragData" => variable.is_written,
                _ => false,
            }
        });
        Some(Framebuffer { copy, source })
    }
}

/// The elements of a variable; 1 for one that is not an array.
fn length(program: &Program, id: VariableId) -> u32 {
    match program.types.get(program.variable(id).ty) {
        TypeData::Array { length, .. } => length.unwrap_or(1),
        _ => 1,
    }
}

impl Context<'_> {
    /// The output whose loads give a variable that is `gl_LastFragData`, if it is another variable.
    pub(super) fn framebuffer_source(&self, id: VariableId) -> Option<VariableId> {
        self.framebuffer.filter(|framebuffer| framebuffer.copy == id)?.source
    }

    /// The number of elements of an output that are loaded as the framebuffer; 1 for one that is not an array.
    pub(super) fn fetched_length(&self, id: VariableId) -> u32 {
        match self.framebuffer {
            _ if self.program.variable(id).is_inout => length(self.program, id),
            Some(Framebuffer { copy, source }) if source.unwrap_or(copy) == id => length(self.program, copy),
            _ => 0,
        }
    }

    /// By output: the number of elements that are loaded.
    pub(super) fn fetched_lengths(&self) -> FxHashMap<IrVariable, u32> {
        let lengths = self.interface.iter().map(|&(id, variable)| (variable, self.fetched_length(id)));
        lengths.filter(|&(_, length)| length > 0).collect()
    }

    /// Copies the framebuffer to `inout` outputs and `gl_LastFragData`, at the start of the entry point.
    pub(super) fn fetch_outputs(&mut self, entry: IrFunction) {
        let by_id: FxHashMap<VariableId, IrVariable> = self.interface.iter().copied().collect();
        let shadows: FxHashMap<IrVariable, IrVariable> = self.shadows.iter().copied().collect();
        let mut copies: Vec<(IrVariable, IrVariable, u32)> = Vec::new();
        for &id in &self.program.globals {
            let source = if self.program.variable(id).is_inout { Some(id) } else { self.framebuffer_source(id) };
            let Some(&output) = source.and_then(|source| by_id.get(&source)) else { continue };
            let copy = if source == Some(id) { shadows.get(&output) } else { self.variables.get(&id) };
            if let Some(&copy) = copy {
                copies.push((output, copy, length(self.program, id)));
            }
        }
        let Some(mut body) = self.shader.functions.get_mut(entry).and_then(|data| data.body.take()) else { return };
        let start = body.start_block();
        let mut b = Builder::new(&mut body, Cursor::BlockStart(start));
        for (output, copy, length) in copies {
            let [from_type, to_type] = [output, copy].map(|variable| self.shader.variables[variable].ty);
            let from = b.deref_var(output, VariableModes::SHADER_OUT, from_type);
            let to = b.deref_var(copy, VariableModes::SHADER_TEMP, to_type);
            for number in 0..length {
                let mut part = |deref, ty| match *self.shader.types.get(ty) {
                    IrTypeData::Array { element, .. } => {
                        let number = b.u32_const(number);
                        (b.deref_array(deref, number, element), element)
                    }
                    _ => (deref, ty),
                };
                let ((from, ty), (to, _)) = (part(from, from_type), part(to, to_type));
                match *self.shader.types.get(ty) {
                    IrTypeData::Vector { scalar, components } => {
                        let value = b.load_deref(from, Shape::new(components, scalar.bit_size()));
                        b.store_deref(to, value, (1 << components) - 1);
                    }
                    // Elements of arrays of arrays, of which all have the same length.
                    _ => {
                        b.intrinsic(IntrinsicOp::CopyDeref, &[to, from], &[], None);
                    }
                }
            }
        }
        if let Some(data) = self.shader.functions.get_mut(entry) {
            data.body = Some(body);
        }
    }
}
