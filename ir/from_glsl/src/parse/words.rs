//! Classes of keywords.

use crate::keyword::Keyword as K;

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident: $($word:ident)+;)+) => {
        $(
            $(#[$doc])*
            pub(super) const fn $name(word: K) -> bool {
                matches!(word, $(K::$word)|+)
            }
        )+
    };
}

classes! {
    /// Whether a keyword is a type, `void`, or begins `unsigned int`.
    is_type:
        Void Float Int Bool Uint Unsigned Double Int64T Uint64T AtomicUint Vec2 Vec3 Vec4 Ivec2 Ivec3 Ivec4 Bvec2
        Bvec3 Bvec4 Uvec2 Uvec3 Uvec4 Dvec2 Dvec3 Dvec4 I64vec2 I64vec3 I64vec4 U64vec2 U64vec3 U64vec4 Mat2 Mat3 Mat4
        Mat2x2 Mat2x3 Mat2x4 Mat3x2 Mat3x3 Mat3x4 Mat4x2 Mat4x3 Mat4x4 Dmat2 Dmat3 Dmat4 Dmat2x2 Dmat2x3 Dmat2x4
        Dmat3x2 Dmat3x3 Dmat3x4 Dmat4x2 Dmat4x3 Dmat4x4 Sampler1D Sampler2D Sampler3D SamplerCube Sampler1DShadow
        Sampler2DShadow SamplerCubeShadow Sampler1DArray Sampler2DArray Sampler1DArrayShadow Sampler2DArrayShadow
        SamplerCubeArray SamplerCubeArrayShadow Sampler2DRect Sampler2DRectShadow SamplerBuffer SamplerExternalOES
        Sampler2DMS Sampler2DMSArray Isampler1D Isampler2D Isampler3D IsamplerCube Isampler1DArray
        Isampler2DArray IsamplerCubeArray Isampler2DRect IsamplerBuffer Isampler2DMS Isampler2DMSArray Usampler1D
        Usampler2D Usampler3D UsamplerCube Usampler1DArray Usampler2DArray UsamplerCubeArray Usampler2DRect
        UsamplerBuffer Usampler2DMS Usampler2DMSArray Image1D Image2D Image3D ImageCube Image1DArray Image2DArray
        ImageCubeArray Image2DRect ImageBuffer Image2DMS Image2DMSArray Iimage1D Iimage2D Iimage3D IimageCube
        Iimage1DArray Iimage2DArray IimageCubeArray Iimage2DRect IimageBuffer Iimage2DMS Iimage2DMSArray Uimage1D
        Uimage2D Uimage3D UimageCube Uimage1DArray Uimage2DArray UimageCubeArray Uimage2DRect UimageBuffer Uimage2DMS
        Uimage2DMSArray;

    /// Whether a keyword is a qualifier.
    is_qualifier:
        Const Attribute Varying Uniform Buffer Shared In Out Inout Centroid Patch Sample Flat Smooth Noperspective
        Invariant Precise Lowp Mediump Highp Layout Subroutine Coherent Volatile Restrict Readonly Writeonly;

    /// Whether a keyword is about precision.
    is_precision: Precision Lowp Mediump Highp;

    /// Whether a keyword begins a statement that is not a declaration or expression, or continues one.
    is_statement: If Else For While Do Switch Case Default Break Continue Return Discard
        Demote;
}

/// Whether a keyword begins a declaration; types may also begin an expression.
pub(super) const fn is_declaration(word: K) -> bool {
    is_type(word) || is_qualifier(word) || matches!(word, K::Struct | K::Precision)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_has_one_class() {
        for &word in K::ALL {
            let is_keyword = word.since().desktop != crate::version::NEVER
                || word.since().es != crate::version::NEVER
                || !word.since().extensions.is_empty();
            let is_other = matches!(word, K::Struct | K::Precision | K::True | K::False);
            let classes = [is_type(word), is_qualifier(word), is_statement(word), is_other];
            assert_eq!(classes.into_iter().filter(|&is| is).count(), usize::from(is_keyword), "{}", word.name());
        }
    }
}
