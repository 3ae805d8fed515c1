//! Names of types in messages and interfaces.

use super::{TypeData, TypeId, Types};
use crate::keyword::Keyword;
use crate::symbol::Interner;

impl Types {
    /// The name as in the source: `vec3`, `mat2x3`, `float[4]`.
    pub(crate) fn name(&self, ty: TypeId, interner: &Interner) -> String {
        let mut dimensions = String::new();
        let mut inner = ty;
        while let TypeData::Array { element, length } = self.get(inner) {
            match length {
                Some(length) => dimensions.push_str(&format!("[{length}]")),
                None => dimensions.push_str("[]"),
            }
            inner = element;
        }
        let name = match self.get(inner) {
            TypeData::Error | TypeData::Array { .. } => "?".to_owned(),
            TypeData::Void => "void".to_owned(),
            TypeData::Vector { scalar, components: 1 } => scalar.names().0.to_owned(),
            TypeData::Vector { scalar, components } => format!("{}vec{components}", scalar.names().1),
            TypeData::Matrix { scalar, columns, rows } if columns == rows => {
                format!("{}mat{columns}", scalar.names().1)
            }
            TypeData::Matrix { scalar, columns, rows } => format!("{}mat{columns}x{rows}", scalar.names().1),
            TypeData::Struct(id) => match self.struct_type(id).and_then(|data| data.name) {
                Some(name) => interner.spelling(name).to_owned(),
                None => "struct".to_owned(),
            },
            TypeData::Sampler(sampler) => sampler.name.name().to_owned(),
            TypeData::Image(image) => image.name.name().to_owned(),
            TypeData::AtomicUint => Keyword::AtomicUint.name().to_owned(),
            TypeData::Subroutine(subroutine) => interner.spelling(subroutine.name).to_owned(),
        };
        name + &dimensions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_named_from_the_outermost_dimension() {
        let (mut types, interner) = (Types::new(), Interner::new());
        let inner = types.array(TypeId::FLOAT, Some(3));
        let outer = types.array(inner, None);
        assert_eq!(types.name(outer, &interner), "float[][3]");
        let sized = types.array(inner, Some(2));
        assert_eq!((types.summary(sized).components, types.summary(sized).registers), (6, 6));
        assert_eq!(types.without_arrays(sized), TypeId::FLOAT);
    }
}
