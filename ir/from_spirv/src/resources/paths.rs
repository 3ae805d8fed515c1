//! Ways to images and samplers: through arrays, and in OpenGL through structs.

use smallvec::SmallVec;
use tgsi_ir::alu::AluOp;
use tgsi_ir::entities::Def;

use crate::emit::Emitter;
use crate::emit::pointer::{Base, Pointer, Step};
use crate::error::SpirvError;
use crate::types::{TypeData, TypeId};

/// An image or sampler that a pointer leads to.
#[derive(Clone, Debug)]
pub(crate) struct OpaquePath {
    /// The variable of the module.
    pub(super) global: u32,
    /// The members of structs on the path.
    pub(super) fields: SmallVec<[u32; 2]>,
    /// The type of the image or sampler.
    pub(crate) ty: TypeId,
    /// The number of images or samplers in the arrays on the path; `None` without arrays.
    pub(super) length: Option<u32>,
    /// The element of these, below their number if it is known.
    pub(super) element: Step,
}

impl Emitter<'_, '_, '_> {
    /// The image or sampler that a pointer leads to.
    ///
    /// # Errors
    /// It leads to something else, or through an array whose length is not known.
    pub(crate) fn opaque_path(&mut self, pointer: &Pointer) -> Result<OpaquePath, SpirvError> {
        let wrong = |found| SpirvError::WrongKind { id: 0, found, expected: "an image or a sampler" };
        let Base::Global(global) = pointer.base else { return Err(wrong("a variable of a function")) };
        let Some(mut ty) = self.context.module.globals.get(global as usize).map(|global| global.ty) else {
            return Err(wrong("not defined"));
        };
        let mut fields = SmallVec::new();
        let mut length = None;
        let (mut known, mut dynamic) = (0u32, None);
        for &step in &pointer.steps {
            match self.context.module.types.get(ty) {
                TypeData::Array { element, length: own, .. } => {
                    let (element, own) = (*element, *own);
                    let own = if own == 0 { self.context.unsized_length(global)? } else { own };
                    length = Some(length.unwrap_or(1u32).saturating_mul(own));
                    known = known.saturating_mul(own);
                    if let Some(index) = dynamic {
                        dynamic = Some(self.scaled(index, own));
                    }
                    match step {
                        Step::Part(number) => known = known.saturating_add(number.min(own - 1)),
                        Step::Index(index) => dynamic = Some(self.sum(dynamic, index)),
                    }
                    ty = element;
                }
                TypeData::Struct { members, .. } => {
                    let number = match step {
                        Step::Part(number) => number,
                        Step::Index(_) => return Err(wrong("a struct")),
                    };
                    ty = members.get(number as usize).ok_or_else(|| wrong("a struct"))?.ty;
                    fields.push(number);
                }
                _ => return Err(wrong(self.context.module.types.kind(ty))),
            }
        }
        if !matches!(
            self.context.module.types.get(ty),
            TypeData::Image(_) | TypeData::Sampler | TypeData::SampledImage(_)
        ) {
            return Err(wrong(self.context.module.types.kind(ty)));
        }
        let element = match dynamic {
            None => Step::Part(known),
            Some(index) if known == 0 => Step::Index(index),
            Some(index) => {
                let known = self.constant(32, &[known.into()]);
                Step::Index(self.b.alu(AluOp::Iadd, &[index, known]))
            }
        };
        Ok(OpaquePath { global, fields, ty, length, element })
    }

    /// A multiple of an index.
    pub(super) fn scaled(&mut self, index: Def, factor: u32) -> Def {
        if factor == 1 {
            return index;
        }
        let factor = self.constant(32, &[factor.into()]);
        self.b.alu(AluOp::Imul, &[index, factor])
    }

    pub(super) fn sum(&mut self, sum: Option<Def>, term: Def) -> Def {
        match sum {
            Some(sum) => self.b.alu(AluOp::Iadd, &[sum, term]),
            None => term,
        }
    }
}
