//! Programs of several units: the objects that a unit shares with the units before it.
//!
//! Functions with one name and the same parameters are one function, global variables with one name are one variable,
//! and structs with one name and the same fields are one type. Each unit has new scopes.

use rustc_hash::{FxHashMap, FxHashSet};

use super::blocks::{BlockSource, storage_key};
use super::memory::CounterLayout;
use super::qualifiers::{Precisions, Qualifiers};
use super::scopes::Entity;
use super::{Analyzer, SemanticError, UnitInfo};
use crate::ast::{self, Ast};
use crate::program::{BlockId, ConstantId, ExprId, FunctionId, Parameter, Storage, VariableId};
use crate::symbol::Symbol;
use crate::token::TokenRange;
use crate::types::{Field, StructTypeId, TypeData, TypeId};

/// The initial value of a global variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Initial {
    None,
    Constant(ConstantId),
    /// Known only at run time.
    Computed,
}

impl Initial {
    fn new(value: Option<ExprId>, constant: Option<ConstantId>) -> Initial {
        match (value, constant) {
            (_, Some(constant)) => Initial::Constant(constant),
            (Some(_), None) => Initial::Computed,
            (None, None) => Initial::None,
        }
    }
}

/// The declarations of earlier units.
#[derive(Debug, Default)]
pub(super) struct EarlierUnits {
    functions: FxHashMap<Symbol, Vec<FunctionId>>,
    variables: FxHashMap<Symbol, VariableId>,
    /// Blocks by name and interface.
    blocks: FxHashMap<(Symbol, u8), BlockId>,
    /// Variables that they use.
    used: FxHashSet<VariableId>,
    /// Of each unit: the layout of its declaration of `gl_FragCoord`, and whether it uses the variable.
    coordinates: Vec<(Option<(bool, bool)>, bool)>,
    /// Number of structs.
    structs: u32,
    /// The initial values of global variables, also of this unit.
    initial: FxHashMap<VariableId, Initial>,
}

impl<'a> Analyzer<'a> {
    /// Continues with another unit of the program.
    pub(super) fn next_unit(&mut self, ast: &'a Ast, unit: UnitInfo<'a>) {
        self.earlier.functions.clear();
        for (number, function) in self.program.arenas.function.iter().enumerate() {
            self.earlier.functions.entry(function.name).or_default().push(FunctionId(number as u32));
        }
        for &id in &self.program.globals {
            self.earlier.variables.entry(self.program.variable(id).name).or_insert(id);
        }
        for (key, block) in std::mem::take(&mut self.blocks) {
            self.earlier.blocks.entry(key).or_insert(block);
        }
        self.end_unit();
        self.uniform_defaults = Default::default();
        self.buffer_defaults = Default::default();
        self.earlier.structs = self.program.types.num_structs();
        self.ast = ast;
        self.unit = unit;
        self.typed = vec![ExprId(0); ast.exprs.len()];
        self.overloads.clear();
        self.counters = CounterLayout::default();
        self.precisions = Precisions::new(unit.stage, unit.version);
        // The names of the shader; those of the language stay.
        self.scopes.pop();
        self.scopes.push();
    }

    /// Whether the current unit uses a variable of the language.
    pub(super) fn is_used_here(&self, id: VariableId) -> bool {
        let variable = self.program.variable(id);
        (variable.is_read || variable.is_written) && !self.earlier.used.contains(&id)
    }

    /// Records the uses in a compilation unit, at its end.
    fn end_unit(&mut self) {
        let name = self.interner.intern("gl_FragCoord");
        let mut is_used = false;
        for number in 0..self.program.arenas.variable.len() {
            let id = VariableId(number as u32);
            let Some(variable) = self.variable_mut(id) else { continue };
            if variable.is_read || variable.is_written {
                is_used |= variable.name == name && variable.is_read;
                self.earlier.used.insert(id);
            }
        }
        // Another unit may read it again.
        if let Some(&Entity::Variable(id)) = self.scopes.find(name)
            && let Some(variable) = self.variable_mut(id)
        {
            variable.is_read = false;
        }
        let layout = self.coordinate_layout.take();
        self.earlier.coordinates.push((layout, is_used));
    }

    /// Checks at the end that all units that use `gl_FragCoord` declare it in the same way, or none does.
    pub(super) fn check_coordinates(&mut self) {
        if self.earlier.coordinates.is_empty() {
            return;
        }
        self.end_unit();
        let units = std::mem::take(&mut self.earlier.coordinates);
        let mut layouts = units.iter().filter_map(|(layout, _)| *layout);
        let Some(first) = layouts.next() else { return };
        if layouts.any(|layout| layout != first) || units.iter().any(|(layout, used)| layout.is_none() && *used) {
            let error = SemanticError::UnitMismatch { name: "gl_FragCoord".to_owned() };
            self.report(error, TokenRange::default());
        }
    }

    /// The function of an earlier unit with the same parameters.
    pub(super) fn earlier_function(
        &mut self,
        name: Symbol,
        result: TypeId,
        parameters: &[Parameter],
        tokens: TokenRange,
    ) -> Option<FunctionId> {
        let same = |id: &&FunctionId| {
            let other = &self.program.function(**id).parameters;
            other.len() == parameters.len() && other.iter().zip(parameters).all(|(a, b)| a.ty == b.ty)
        };
        let id = *self.earlier.functions.get(&name)?.iter().find(same)?;
        let other = self.program.function(id);
        let is_other =
            other.result != result || other.parameters.iter().zip(parameters).any(|(a, b)| a.direction != b.direction);
        if is_other {
            let (name, first) = (self.spelling(name), other.tokens);
            self.report_with(SemanticError::UnitMismatch { name }, tokens, first, "the declaration of the other unit");
        }
        Some(id)
    }

    /// The struct of an earlier unit with the same fields.
    pub(super) fn earlier_struct(&self, name: Option<Symbol>, fields: &[Field]) -> Option<TypeId> {
        let name = name.filter(|_| self.function.is_none())?;
        let types = &self.program.types;
        (0..self.earlier.structs).map(StructTypeId).find_map(|id| {
            let other = types.struct_type(id).filter(|other| other.name == Some(name))?;
            let is_same = |(a, b): (&Field, &Field)| a.name == b.name && a.ty == b.ty;
            let is_equal = other.fields.len() == fields.len() && other.fields.iter().zip(fields).all(is_same);
            if is_equal { types.of_struct(id) } else { None }
        })
    }

    /// The block of an earlier unit with the same members. Reports members that differ.
    pub(super) fn earlier_block(
        &mut self,
        storage: Storage,
        fields: &[Field],
        offsets: &[Option<u32>],
        source: &BlockSource,
    ) -> Option<BlockId> {
        let id = *self.earlier.blocks.get(&(source.name, storage_key(storage)))?;
        let block = self.program.block(id);
        let structure = self.program.types.without_arrays(self.program.variable(block.variable).ty);
        let known = self.program.types.fields(structure);
        let same = |(a, b): (&Field, &Field)| a.name == b.name && a.ty == b.ty;
        let is_same = known.len() == fields.len()
            && known.iter().zip(fields).all(same)
            && block.members.iter().zip(offsets).all(|(member, own)| own.is_none_or(|own| own == member.offset))
            && block.has_instance == source.instance.is_some();
        if !is_same {
            let (name, first) = (self.spelling(source.name), block.tokens);
            let error = SemanticError::UnitMismatch { name };
            self.report_with(error, source.tokens, first, "the declaration of the other unit");
        }
        is_same.then_some(id)
    }

    /// The variable of an earlier unit that a declaration is about. Reports a type or qualifiers that differ. Arrays
    /// without length get that of the other declaration.
    pub(super) fn earlier_variable(
        &mut self,
        found: &Qualifiers,
        ty: TypeId,
        storage: Storage,
        declarator: &ast::Declarator,
    ) -> Option<VariableId> {
        if self.scopes.find_here(declarator.name, &Entity::Variable(VariableId(0))).is_some() {
            return None;
        }
        let id = *self.earlier.variables.get(&declarator.name)?;
        let variable = self.program.variable(id);
        let (first, traits) = (variable.tokens, variable.traits);
        let array = |ty| match self.program.types.get(ty) {
            TypeData::Array { element, length } => Some((element, length)),
            _ => None,
        };
        let mut is_same = variable.storage == storage
            && traits.centroid == found.traits.centroid
            && traits.invariant == found.traits.invariant
            && traits.interpolation == found.traits.interpolation;
        let mut sized = variable.ty;
        if variable.ty != ty {
            match (array(variable.ty), array(ty)) {
                (Some((a, None)), Some((b, Some(length)))) if a == b => {
                    is_same &= variable.max_index.is_none_or(|index| index < length);
                    sized = ty;
                }
                (Some((a, Some(_))), Some((b, None))) if a == b => {}
                _ => is_same = ty.is_error() || variable.ty.is_error(),
            }
        }
        if !is_same {
            let error = SemanticError::UnitMismatch { name: self.spelling(declarator.name) };
            self.report_with(error, declarator.tokens, first, "the declaration of the other unit");
        }
        if let Some(variable) = self.variable_mut(id) {
            variable.ty = sized;
        }
        Some(id)
    }

    /// Notes the initial value of a global variable.
    pub(super) fn note_value(&mut self, id: VariableId, value: Option<ExprId>, constant: Option<ConstantId>) {
        self.earlier.initial.insert(id, Initial::new(value, constant));
    }

    /// Gives a variable of an earlier unit an initial value. Two values must be constant and equal. Returns whether it
    /// had none before.
    pub(super) fn earlier_value(
        &mut self,
        id: VariableId,
        value: Option<ExprId>,
        constant: Option<ConstantId>,
        declarator: &ast::Declarator,
    ) -> bool {
        let new = Initial::new(value, constant);
        let old = self.earlier.initial.get(&id).copied().unwrap_or(Initial::None);
        match (old, new) {
            (_, Initial::None) => return false,
            (Initial::None, _) => {
                self.earlier.initial.insert(id, new);
                if let Some(variable) = self.variable_mut(id) {
                    variable.is_written = true;
                    variable.value = constant.filter(|_| matches!(variable.storage, Storage::Uniform | Storage::Const));
                }
                return true;
            }
            (Initial::Constant(a), Initial::Constant(b))
                if self.program.constant(a).bits == self.program.constant(b).bits => {}
            _ => {
                let (name, first) = (self.spelling(declarator.name), self.program.variable(id).tokens);
                let error = SemanticError::UnitMismatch { name };
                self.report_with(error, declarator.tokens, first, "the declaration of the other unit");
            }
        }
        false
    }
}
