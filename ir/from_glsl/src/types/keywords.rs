//! The types that keywords name.

use tgsi_environment::SamplerDim;

use super::{ImageType, SamplerType, Scalar, TypeData, TypeId, Types};
use crate::keyword::Keyword;

/// The type of a keyword; `None` if it names no type of this front end.
pub(crate) fn of_keyword(types: &mut Types, keyword: Keyword) -> Option<TypeId> {
    use Keyword as K;
    let vector = |scalar, components| Some(TypeId::vector(scalar, components));
    let float = |columns, rows| Some(TypeId::matrix(columns, rows));
    let mut double = |columns, rows| Some(types.intern(TypeData::Matrix { scalar: Scalar::Double, columns, rows }));
    match keyword {
        K::Void => Some(TypeId::VOID),
        K::Bool => vector(Scalar::Bool, 1),
        K::Bvec2 => vector(Scalar::Bool, 2),
        K::Bvec3 => vector(Scalar::Bool, 3),
        K::Bvec4 => vector(Scalar::Bool, 4),
        K::Int => vector(Scalar::Int, 1),
        K::Ivec2 => vector(Scalar::Int, 2),
        K::Ivec3 => vector(Scalar::Int, 3),
        K::Ivec4 => vector(Scalar::Int, 4),
        K::Uint => vector(Scalar::Uint, 1),
        K::Uvec2 => vector(Scalar::Uint, 2),
        K::Uvec3 => vector(Scalar::Uint, 3),
        K::Uvec4 => vector(Scalar::Uint, 4),
        K::Float => vector(Scalar::Float, 1),
        K::Vec2 => vector(Scalar::Float, 2),
        K::Vec3 => vector(Scalar::Float, 3),
        K::Vec4 => vector(Scalar::Float, 4),
        K::Double => vector(Scalar::Double, 1),
        K::Dvec2 => vector(Scalar::Double, 2),
        K::Dvec3 => vector(Scalar::Double, 3),
        K::Dvec4 => vector(Scalar::Double, 4),
        K::Int64T => vector(Scalar::Int64, 1),
        K::I64vec2 => vector(Scalar::Int64, 2),
        K::I64vec3 => vector(Scalar::Int64, 3),
        K::I64vec4 => vector(Scalar::Int64, 4),
        K::Uint64T => vector(Scalar::Uint64, 1),
        K::U64vec2 => vector(Scalar::Uint64, 2),
        K::U64vec3 => vector(Scalar::Uint64, 3),
        K::U64vec4 => vector(Scalar::Uint64, 4),
        K::Mat2 | K::Mat2x2 => float(2, 2),
        K::Mat2x3 => float(2, 3),
        K::Mat2x4 => float(2, 4),
        K::Mat3x2 => float(3, 2),
        K::Mat3 | K::Mat3x3 => float(3, 3),
        K::Mat3x4 => float(3, 4),
        K::Mat4x2 => float(4, 2),
        K::Mat4x3 => float(4, 3),
        K::Mat4 | K::Mat4x4 => float(4, 4),
        K::Dmat2 | K::Dmat2x2 => double(2, 2),
        K::Dmat2x3 => double(2, 3),
        K::Dmat2x4 => double(2, 4),
        K::Dmat3x2 => double(3, 2),
        K::Dmat3 | K::Dmat3x3 => double(3, 3),
        K::Dmat3x4 => double(3, 4),
        K::Dmat4x2 => double(4, 2),
        K::Dmat4x3 => double(4, 3),
        K::Dmat4 | K::Dmat4x4 => double(4, 4),
        K::AtomicUint => Some(types.intern(TypeData::AtomicUint)),
        _ => match (sampler_of(keyword), image_of(keyword)) {
            (Some(sampler), _) => Some(types.intern(TypeData::Sampler(sampler))),
            (None, Some(image)) => Some(types.intern(TypeData::Image(image))),
            (None, None) => None,
        },
    }
}

/// The sampler type of a keyword.
pub(crate) fn sampler_of(name: Keyword) -> Option<SamplerType> {
    let (result, rest) = split_name(name.name(), "sampler")?;
    let (rest, shadow) = rest.strip_suffix("Shadow").map_or((rest, false), |rest| (rest, true));
    let (dim, array) = dimensions(rest)?;
    Some(SamplerType { dim, array, shadow, result, name })
}

/// The image type of a keyword. The shadow images that some versions reserve are not types.
pub(crate) fn image_of(name: Keyword) -> Option<ImageType> {
    let (texel, rest) = split_name(name.name(), "image")?;
    let (dim, array) = dimensions(rest)?;
    Some(ImageType { dim, array, texel, name })
}

/// The type of components and the dimensionality in a name.
fn split_name(name: &'static str, kind: &str) -> Option<(Scalar, &'static str)> {
    match name.split_once(kind)? {
        ("", rest) => Some((Scalar::Float, rest)),
        ("i", rest) => Some((Scalar::Int, rest)),
        ("u", rest) => Some((Scalar::Uint, rest)),
        _ => None,
    }
}

/// The dimensionality in the name of a sampler or image, and whether it is an array.
fn dimensions(name: &str) -> Option<(SamplerDim, bool)> {
    let (name, array) = name.strip_suffix("Array").map_or((name, false), |name| (name, true));
    let dim = match name {
        "1D" => SamplerDim::Dim1D,
        "2D" => SamplerDim::Dim2D,
        "3D" => SamplerDim::Dim3D,
        "Cube" => SamplerDim::Cube,
        "2DRect" => SamplerDim::Rect,
        "Buffer" => SamplerDim::Buf,
        "2DMS" => SamplerDim::Ms,
        "ExternalOES" => SamplerDim::External,
        _ => return None,
    };
    Some((dim, array))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::Interner;

    #[test]
    fn keywords_have_their_names() {
        let (mut types, interner) = (Types::new(), Interner::new());
        let mut named = 0;
        for &keyword in Keyword::ALL {
            if let Some(ty) = of_keyword(&mut types, keyword) {
                let name = types.name(ty, &interner);
                let square = |n: u8| format!("{n}x{n}");
                let short = (2..=4).fold(keyword.name().to_owned(), |name, n| name.replace(&square(n), &n.to_string()));
                assert_eq!(name, short);
                named += 1;
            }
        }
        assert!(named > 100, "{named}");
        assert_eq!(types.get(TypeId::matrix(3, 4)), TypeData::Matrix { scalar: Scalar::Float, columns: 3, rows: 4 });
        assert_eq!(types.get(TypeId::VEC4), TypeData::Vector { scalar: Scalar::Float, components: 4 });
    }
}
