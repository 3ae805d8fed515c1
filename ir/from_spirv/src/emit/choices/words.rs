//! Pointers as words: the number of the target, and the indices of its steps.
//!
//! Members of structs are part of the target; elements, columns and components are indices, also constant ones. A
//! pointer in a variable is a vector of the number and the indices.

use std::rc::Rc;

use arrayvec::ArrayVec;
use smallvec::SmallVec;
use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::AccessFlags;

use super::misfit;
use super::paths::{Node, Path, Root};
use crate::emit::Emitter;
use crate::emit::pointer::{Base, Pointer, Step};
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::types::TypeId;

/// The steps of a target: the number of a member, or `None` for an index.
type Members = SmallVec<[Option<u32>; 4]>;

/// A target without its indices.
#[derive(Debug)]
struct Template {
    base: Base,
    steps: Members,
    access: AccessFlags,
}

/// The targets that a pointer in words may have.
#[derive(Debug)]
pub(crate) struct Templates {
    list: Vec<Template>,
    /// The most indices that a target has.
    pub(crate) num_indices: usize,
    is_nullable: bool,
    ty: TypeId,
    class: u32,
}

/// A pointer in words.
#[derive(Clone, Debug)]
pub(crate) struct PointerWords {
    pub(crate) number: Def,
    /// As many as the templates have.
    pub(crate) indices: SmallVec<[Def; 4]>,
}

impl Templates {
    /// Whether the number matters.
    pub(crate) fn has_number(&self) -> bool {
        self.list.len() != 1 || self.is_nullable
    }
}

impl Emitter<'_, '_, '_> {
    /// The templates of a phi of pointers.
    ///
    /// # Errors
    /// The type is not one of pointers.
    pub(in crate::emit) fn phi_templates(&mut self, id: u32, ty: TypeId) -> Result<Rc<Templates>, SpirvError> {
        let Some((class, pointee)) = self.context.module.types.pointee(ty) else {
            return Err(SpirvError::Pointer { id });
        };
        let templates = self.templates(Node::Id(id), (class, pointee))?;
        if templates.list.is_empty() && !templates.is_nullable {
            return Err(SpirvError::Pointer { id });
        }
        Ok(Rc::new(templates))
    }

    /// The templates of pointers in variables.
    fn memory_templates(&mut self, class: u32, pointee: TypeId) -> Result<Rc<Templates>, SpirvError> {
        if let Some(known) = self.memory_templates.get(&(class, pointee)) {
            return Ok(known.clone());
        }
        let mut templates = self.templates(Node::Memory(class, pointee), (class, pointee))?;
        templates.num_indices = self.context.paths.memory_indices(class, pointee);
        let templates = Rc::new(templates);
        self.memory_templates.insert((class, pointee), templates.clone());
        Ok(templates)
    }

    fn templates(&mut self, node: Node, (class, ty): (u32, TypeId)) -> Result<Templates, SpirvError> {
        let paths = self.context.paths.clone();
        let mut templates = Templates { list: Vec::new(), num_indices: 0, is_nullable: false, ty, class };
        for path in paths.of(node) {
            let Root::Id(id) = path.root else {
                templates.is_nullable = true;
                continue;
            };
            let root = self.pointer(id)?;
            let targets = self.targets(&root);
            templates.is_nullable |= targets.is_nullable;
            for target in &targets.pointers {
                if let Some((template, end)) = self.template(target, path)
                    && self.context.module.types.are_equal(end, ty)
                {
                    let is_known = |known: &Template| known.base == template.base && known.steps == template.steps;
                    match templates.list.iter_mut().find(|known| is_known(known)) {
                        Some(known) => known.access = known.access.union(template.access),
                        None => templates.list.push(template),
                    }
                }
            }
        }
        let count = |template: &Template| template.steps.iter().filter(|step| step.is_none()).count();
        templates.num_indices = templates.list.iter().map(count).max().unwrap_or(0);
        let (count, limit) = (templates.list.len() as u64, self.context.options.limits.targets.into());
        if count > limit {
            return Err(SpirvError::TooLarge { what: "variables that a pointer may lead to", count, limit });
        }
        Ok(templates)
    }

    /// The template of a path from a pointer, and the type at its end.
    fn template(&mut self, from: &Pointer, path: &Path) -> Option<(Template, TypeId)> {
        let (mut steps, mut ty) = self.members(from)?;
        let mut access = from.access;
        for &step in &path.steps {
            if let (crate::types::TypeData::Struct { id, .. }, Some(_)) = (self.context.module.types.get(ty), step) {
                access = access.union(self.context.access_of(*id, step));
            } else if self.is_struct(ty) || step.is_some() {
                return None;
            }
            ty = self.step_type(ty, Step::Part(step.unwrap_or(0)))?;
            steps.push(step);
        }
        Some((Template { base: from.base, steps, access }, ty))
    }

    /// The members by which a pointer leads, and the type at its end.
    fn members(&mut self, pointer: &Pointer) -> Option<(Members, TypeId)> {
        let mut ty = self.base_type(pointer.base)?;
        let mut members = Members::new();
        for &step in &pointer.steps {
            members.push(match step {
                Step::Part(number) if self.is_struct(ty) => Some(number),
                _ => None,
            });
            ty = self.step_type(ty, step)?;
        }
        Some((members, ty))
    }

    /// The words of a pointer.
    ///
    /// # Errors
    /// A target is not among the templates'.
    pub(in crate::emit) fn pointer_words(
        &mut self,
        pointer: &Rc<Pointer>,
        templates: &Templates,
    ) -> Result<PointerWords, SpirvError> {
        let targets = self.targets(pointer);
        let zero = self.constant(32, &[0]);
        let mut result: Option<PointerWords> = targets
            .is_nullable
            .then(|| PointerWords { number: zero, indices: SmallVec::from_elem(zero, templates.num_indices) });
        for (place, target) in targets.pointers.iter().enumerate() {
            let members = self.members(target).map(|(members, _)| members);
            let is_template =
                |template: &Template| template.base == target.base && Some(&template.steps) == members.as_ref();
            let number = templates.list.iter().position(is_template);
            let number = number.ok_or(misfit("it leads to a variable that was not expected"))?;
            let mut words = PointerWords { number: self.constant(32, &[number as u64 + 1]), indices: SmallVec::new() };
            for (&step, member) in target.steps.iter().zip(members.unwrap_or_default()) {
                if member.is_none() {
                    let index = self.step_index(step);
                    words.indices.push(index);
                }
            }
            words.indices.resize(templates.num_indices, zero);
            result = Some(match (result, targets.selector) {
                (Some(before), Some(selector)) => {
                    let is_chosen = self.is_target(selector, place);
                    let mut pick = |a, b| if a == b { a } else { self.b.alu(AluOp::Bcsel, &[is_chosen, a, b]) };
                    let number = pick(words.number, before.number);
                    let indices = words.indices.iter().zip(&before.indices).map(|(&a, &b)| pick(a, b)).collect();
                    PointerWords { number, indices }
                }
                _ => words,
            });
        }
        result.ok_or(misfit("it leads to no variable"))
    }

    /// The pointer that words are.
    ///
    /// # Errors
    /// It may lead to too many variables.
    pub(in crate::emit) fn words_pointer(
        &mut self,
        words: &PointerWords,
        templates: &Templates,
    ) -> Result<Rc<Pointer>, SpirvError> {
        let pointer = |template: &Template| {
            let mut indices = words.indices.iter();
            let steps = template.steps.iter().map(|step| match step {
                Some(member) => Step::Part(*member),
                None => indices.next().map_or(Step::Part(0), |&index| Step::Index(index)),
            });
            Pointer {
                base: template.base,
                steps: steps.collect(),
                access: template.access,
                ..Pointer::null(templates.ty, templates.class)
            }
        };
        let targets = templates.list.iter().map(pointer).collect();
        Ok(Rc::new(self.choose(words.number, targets, templates.is_nullable, (templates.ty, templates.class))?))
    }

    /// The vector that represents a pointer in a variable.
    pub(in crate::emit) fn pointer_vector(&mut self, pointer: &Rc<Pointer>) -> Option<Def> {
        let templates = self.memory_templates(pointer.class, pointer.ty).ok()?;
        let words = self.pointer_words(pointer, &templates).ok()?;
        let scalars: ArrayVec<AluSrc, 4> =
            std::iter::once(words.number).chain(words.indices).take(4).map(|word| AluSrc::component(word, 0)).collect();
        Some(self.b.vec(&scalars))
    }

    /// The pointer that a vector in a variable represents.
    pub(in crate::emit) fn vector_pointer(&mut self, vector: Def, class: u32, pointee: TypeId) -> Value {
        let pointer = self.memory_templates(class, pointee).and_then(|templates| {
            let number = self.b.channel(vector, 0);
            let count = self.b.body.num_components(vector);
            let indices = (1..count).map(|component| self.b.channel(vector, component)).collect();
            self.words_pointer(&PointerWords { number, indices }, &templates)
        });
        Value::Pointer(pointer.unwrap_or_else(|_| Rc::new(Pointer::null(pointee, class))))
    }
}
