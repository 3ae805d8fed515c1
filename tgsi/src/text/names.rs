//! Alternative names of the items in the tables: those of other versions of Mesa.

use hashbrown::HashMap;
use std::sync::OnceLock;

use crate::tables::lookup::Word;
use crate::tables::{PixelFormat, PropertyName, Semantic, TextureTarget};

/// Returns the semantic with this current or old name.
pub(crate) fn semantic(word: Word<'_>) -> Option<Semantic> {
    const OLD: &[(&str, Semantic)] = &[
        ("PRIMID", Semantic::PrimitiveId),
        ("PRIMITIVE_ID", Semantic::PrimitiveId),
        ("INSTANCE_ID", Semantic::InstanceId),
        ("VERTEX_ID", Semantic::VertexId),
        ("VIEWPORTINDEX", Semantic::ViewportIndex),
        ("SAMPLE_ID", Semantic::SampleId),
        ("SAMPLE_POS", Semantic::SamplePosition),
        ("SAMPLE_MASK", Semantic::SampleMask),
        ("INVOCATION_ID", Semantic::InvocationId),
        ("BASE_VERTEX", Semantic::BaseVertex),
        ("BASE_INSTANCE", Semantic::BaseInstance),
        ("CS_USER_DATA", Semantic::CsUserDataAmd),
    ];
    Semantic::from_word(word).or_else(|| old(OLD, word))
}

/// Returns the texture target with this current or old name.
pub(crate) fn texture_target(word: Word<'_>) -> Option<TextureTarget> {
    const OLD: &[(&str, TextureTarget)] = &[
        ("1DARRAY", TextureTarget::Texture1DArray),
        ("2DARRAY", TextureTarget::Texture2DArray),
        ("SHADOW1DARRAY", TextureTarget::Shadow1DArray),
        ("SHADOW2DARRAY", TextureTarget::Shadow2DArray),
        ("2DMS", TextureTarget::Texture2DMsaa),
        ("2DMSAA", TextureTarget::Texture2DMsaa),
        ("2DARRAYMSAA", TextureTarget::Texture2DArrayMsaa),
        ("CUBE_ARRAY", TextureTarget::CubeArray),
        ("SHADOWCUBE_ARRAY", TextureTarget::ShadowCubeArray),
    ];
    TextureTarget::from_word(word).or_else(|| old(OLD, word))
}

/// Returns the property with this current or old name.
pub(crate) fn property(word: Word<'_>) -> Option<PropertyName> {
    const OLD: &[(&str, PropertyName)] = &[
        ("GS_INPUT_PRIM", PropertyName::GsInputPrimitive),
        ("GS_OUTPUT_PRIM", PropertyName::GsOutputPrimitive),
        ("GS_MAX_VERTICES", PropertyName::GsMaxOutputVertices),
        ("MUL_ZERO_WINS", PropertyName::LegacyMathRules),
        ("VS_BLIT_SGPRS", PropertyName::VsBlitSgprsAmd),
        ("CS_USER_DATA_DWORDS", PropertyName::CsUserDataComponentsAmd),
        ("CS_USER_DATA_COMPONENTS", PropertyName::CsUserDataComponentsAmd),
    ];
    PropertyName::from_word(word).or_else(|| old(OLD, word))
}

fn old<T: Copy>(names: &[(&str, T)], word: Word<'_>) -> Option<T> {
    names.iter().find(|(name, _)| word.is(name)).map(|&(_, value)| value)
}

/// Returns the pixel format with this full name. The table is long, so names are looked up by hash.
pub(crate) fn pixel_format(word: Word<'_>) -> Option<PixelFormat> {
    static FORMATS: OnceLock<HashMap<String, PixelFormat>> = OnceLock::new();
    let (head, tail) = word.as_str().split_at_checked(PixelFormat::PREFIX.len())?;
    if !head.eq_ignore_ascii_case(PixelFormat::PREFIX) {
        return None;
    }
    let all = || (0..).map_while(PixelFormat::from_value).map(|f| (f.short_name().to_ascii_uppercase(), f));
    FORMATS.get_or_init(|| all().collect()).get(&tail.to_ascii_uppercase()).copied()
}

/// Returns all names of pixel formats, prefix included, for hints.
pub(crate) fn pixel_format_names() -> impl Iterator<Item = &'static str> {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    let all = || (0..).map_while(PixelFormat::from_value).map(|f| format!("{}{}", PixelFormat::PREFIX, f.short_name()));
    NAMES.get_or_init(|| all().collect()).iter().map(String::as_str)
}
