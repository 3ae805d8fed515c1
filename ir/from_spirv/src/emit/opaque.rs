//! Images and samplers in variables of functions.
//!
//! ```text
//! OpStore %variable %image
//! %loaded = OpLoad %type %variable        %loaded is %image
//! ```
//!
//! A variable, or a member of one, has one image: stores of different images are an error.

use std::rc::Rc;

use super::Emitter;
use super::pointer::{Base, Pointer};
use crate::error::SpirvError;

/// The image in a variable of a function.
#[derive(Clone, Debug)]
pub(super) struct StoredOpaque {
    /// The variable, or a part of it.
    place: Rc<Pointer>,
    /// Where the image was loaded from.
    image: Rc<Pointer>,
}

impl Emitter<'_, '_, '_> {
    /// Records the image that is stored to a variable of the function.
    ///
    /// # Errors
    /// The memory is another one, or has another image.
    pub(super) fn store_opaque(&mut self, place: &Rc<Pointer>, image: &Rc<Pointer>) -> Result<(), SpirvError> {
        let error = |why| Err(SpirvError::Types { op: "OpStore".to_owned(), why });
        if !matches!(place.base, Base::Local(_)) || !self.context.module.types.are_equal(place.ty, image.ty) {
            return error("pointers and images cannot be stored");
        }
        let is_same = |a: &Pointer, b: &Pointer| a.base == b.base && a.steps == b.steps;
        match self.opaque_locals.iter().find(|stored| is_same(&stored.place, place)) {
            Some(stored) if is_same(&stored.image, image) => Ok(()),
            Some(_) => error("a variable has one image"),
            None => {
                self.opaque_locals.push(StoredOpaque { place: place.clone(), image: image.clone() });
                Ok(())
            }
        }
    }

    /// Where the image in a variable of the function was loaded from; other pointers are returned as they are.
    pub(super) fn forwarded(&self, pointer: &Rc<Pointer>) -> Rc<Pointer> {
        if !matches!(pointer.base, Base::Local(_)) {
            return pointer.clone();
        }
        let stored = self.opaque_locals.iter().find_map(|stored| {
            let is_part = stored.place.base == pointer.base && pointer.steps.starts_with(&stored.place.steps);
            is_part.then(|| (&stored.image, &pointer.steps[stored.place.steps.len()..]))
        });
        let Some((image, steps)) = stored else { return pointer.clone() };
        let mut forwarded = Pointer::clone(image);
        forwarded.steps.extend_from_slice(steps);
        forwarded.ty = pointer.ty;
        forwarded.access = forwarded.access.union(pointer.access);
        Rc::new(forwarded)
    }
}
