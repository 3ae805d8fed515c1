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

/// The redeclarations and uses of `gl_PerVertex` of one interface.
#[derive(Debug, Default)]
struct VertexBlock {
    /// The members of the first redeclaration, by name.
    members: Option<Vec<(Symbol, TypeId)>>,
    /// Whether the current unit redeclares it, and whether it uses a member.
    is_redeclared: bool,
    is_used: bool,
    /// Whether a unit uses a member without redeclaration.
    is_mixed: bool,
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
    /// The redeclarations of `gl_PerVertex`: of outputs, of inputs.
    vertex_blocks: [VertexBlock; 2],
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

    /// The error of a variable of the language with two different declarations.
    pub(super) fn other_declaration(&self, name: String) -> SemanticError {
        match self.earlier.coordinates.is_empty() {
            true => SemanticError::Redeclared { name },
            false => SemanticError::UnitMismatch { name },
        }
    }

    /// Notes the use of a member of `gl_PerVertex`.
    pub(super) fn note_vertex_use(&mut self, is_input: bool) {
        if let Some(block) = self.earlier.vertex_blocks.get_mut(usize::from(is_input)) {
            block.is_used = true;
        }
    }

    /// Compares a redeclaration of `gl_PerVertex` with that of an earlier unit. Returns `None` without an earlier one.
    pub(super) fn earlier_vertex_block(
        &mut self,
        is_input: bool,
        mut members: Vec<(Symbol, TypeId)>,
        tokens: TokenRange,
    ) -> Option<()> {
        members.sort_unstable();
        let block = self.earlier.vertex_blocks.get_mut(usize::from(is_input))?;
        let is_repeated = std::mem::replace(&mut block.is_redeclared, true);
        let Some(first) = &block.members else {
            block.members = Some(members);
            return None;
        };
        if is_repeated {
            self.report(SemanticError::Redeclared { name: "gl_PerVertex".to_owned() }, tokens);
        } else if *first != members {
            self.report(SemanticError::UnitMismatch { name: "gl_PerVertex".to_owned() }, tokens);
        }
        Some(())
    }

    /// Checks that all units that use members of `gl_PerVertex` redeclare it, or none does.
    fn check_vertex_blocks(&mut self) {
        if self.earlier.vertex_blocks.iter().any(|block| block.members.is_some() && block.is_mixed) {
            let error = SemanticError::UnitMismatch { name: "gl_PerVertex".to_owned() };
            self.report(error, TokenRange::default());
        }
    }

    /// Records the uses in a compilation unit, at its end.
    fn end_unit(&mut self) {
        for block in &mut self.earlier.vertex_blocks {
            block.is_mixed |= block.is_used && !block.is_redeclared;
            (block.is_used, block.is_redeclared) = (false, false);
        }
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

    /// Checks at the end that all units that use a variable of the language declare it in the same way, or none does.
    pub(super) fn check_redeclarations(&mut self) {
        if self.earlier.coordinates.is_empty() {
            return;
        }
        self.end_unit();
        self.check_vertex_blocks();
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
        let is_elsewhere = (traits.location.zip(found.traits.location)).is_some_and(|(a, b)| a != b);
        let mut is_same = variable.storage == storage
            && !is_elsewhere
            && traits.component.unwrap_or(0) == found.traits.component.unwrap_or(0)
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
