//! Names of types, for the printer and the parser.
//!
//! The names in Mesa's prints omit strides of arrays and matrices, and the fields of structs. The *extended* form, used
//! in comments and in `type` lines, keeps them: `float[2:16]` is an array of two floats, 16 bytes apart, `mat4x3:16` a
//! matrix with columns 16 bytes apart, and `mat4x3:16r` one with rows 16 bytes apart (row-major).

use hashbrown::HashMap;
use std::fmt::Write;
use std::sync::LazyLock;

use crate::entities::Type;
use crate::types::{ScalarType, TypeData, TypeTable};
use tgsi_environment::SamplerDim;

/// Scalar types: name, prefix of vectors and matrices, prefix of samplers, textures and images.
const SCALARS: &[(ScalarType, &str, &str, &str)] = &[
    (ScalarType::Bool, "bool", "b", "b"),
    (ScalarType::Int8, "int8_t", "i8", "i8"),
    (ScalarType::Uint8, "uint8_t", "u8", "u8"),
    (ScalarType::Int16, "int16_t", "i16", "i16"),
    (ScalarType::Uint16, "uint16_t", "u16", "u16"),
    (ScalarType::Int, "int", "i", "i"),
    (ScalarType::Uint, "uint", "u", "u"),
    (ScalarType::Int64, "int64_t", "i64", "i64"),
    (ScalarType::Uint64, "uint64_t", "u64", "u64"),
    (ScalarType::Float16, "float16_t", "f16", "f16"),
    (ScalarType::Float, "float", "", ""),
    (ScalarType::Double, "double", "d", "d"),
    (ScalarType::Void, "void", "v", "v"),
];

/// Names of dimensions in the names of samplers, textures and images.
const DIMS: &[(SamplerDim, &str)] = &[
    (SamplerDim::Dim1D, "1D"),
    (SamplerDim::Dim2D, "2D"),
    (SamplerDim::Dim3D, "3D"),
    (SamplerDim::Cube, "Cube"),
    (SamplerDim::Rect, "2DRect"),
    (SamplerDim::Buf, "Buffer"),
    (SamplerDim::External, "ExternalOES"),
    (SamplerDim::Ms, "2DMS"),
    (SamplerDim::Subpass, "SubpassInput"),
    (SamplerDim::SubpassMs, "SubpassInputMS"),
];

/// Maximum number of array dimensions, and of structs nested in structs, in a text.
pub(super) const MAX_NESTING: usize = 64;

fn scalar_row(scalar: ScalarType) -> &'static (ScalarType, &'static str, &'static str, &'static str) {
    SCALARS.iter().find(|row| row.0 == scalar).unwrap_or(&SCALARS[0])
}

fn push_dimensional(out: &mut String, word: &str, result: ScalarType, dim: SamplerDim, array: bool, shadow: bool) {
    out.push_str(scalar_row(result).3);
    if word == "image" && matches!(dim, SamplerDim::Subpass | SamplerDim::SubpassMs) {
        out.push_str(if dim == SamplerDim::Subpass { "subpassInput" } else { "subpassInputMS" });
    } else {
        out.push_str(word);
        out.push_str(DIMS.iter().find(|row| row.0 == dim).map_or("", |row| row.1));
    }
    if array {
        out.push_str("Array");
    }
    if shadow {
        out.push_str("Shadow");
    }
}

/// Appends the name of a type that is not an array.
fn push_element(out: &mut String, data: &TypeData) {
    match *data {
        TypeData::Vector { scalar, components: 1 } => out.push_str(scalar_row(scalar).1),
        TypeData::Vector { scalar, components } => {
            let _ = write!(out, "{}vec{components}", scalar_row(scalar).2);
        }
        TypeData::Matrix { scalar, columns, rows, .. } if columns == rows => {
            let _ = write!(out, "{}mat{columns}", scalar_row(scalar).2);
        }
        TypeData::Matrix { scalar, columns, rows, .. } => {
            let _ = write!(out, "{}mat{columns}x{rows}", scalar_row(scalar).2);
        }
        TypeData::Sampler { dim: None, shadow, .. } => out.push_str(if shadow { "samplerShadow" } else { "sampler" }),
        TypeData::Sampler { dim: Some(dim), array, shadow, result } => {
            push_dimensional(out, "sampler", result, dim, array, shadow);
        }
        TypeData::Texture { dim, array, result } => push_dimensional(out, "texture", result, dim, array, false),
        TypeData::Image { dim, array, result } => push_dimensional(out, "image", result, dim, array, false),
        TypeData::AtomicCounter => out.push_str("atomic_uint"),
        TypeData::Struct { ref name, .. } | TypeData::Opaque(ref name) => out.push_str(name),
        TypeData::Array { .. } => {}
    }
}

/// The innermost element type of nested arrays; `None` for an id that is not in the table (broken shaders can be
/// printed).
pub(super) fn element_data(types: &TypeTable, ty: Type) -> Option<&TypeData> {
    types.contains(ty).then(|| types.get(types.without_arrays(ty)))
}

/// The data of a type; `None` for an id that is not in the table.
pub(super) fn type_data(types: &TypeTable, ty: Type) -> Option<&TypeData> {
    types.contains(ty).then(|| types.get(ty))
}

/// Appends the name of a type, with strides in the extended form.
pub(super) fn push_type(out: &mut String, types: &TypeTable, ty: Type, extended: bool) {
    if !types.contains(ty) {
        out.push('?');
        return;
    }
    let inner = types.get(types.without_arrays(ty));
    push_element(out, inner);
    if let (true, &TypeData::Matrix { stride, row_major, .. }) = (extended && is_laid_out(inner), inner) {
        let _ = write!(out, ":{stride}");
        out.push_str(if row_major { "r" } else { "" });
    }
    let mut ty = ty;
    while let TypeData::Array { element, length, stride } = *types.get(ty) {
        let _ = match (length, stride) {
            (0, 0) => write!(out, "[]"),
            (_, 0) => write!(out, "[{length}]"),
            (0, _) if extended => write!(out, "[:{stride}]"),
            (_, _) if extended => write!(out, "[{length}:{stride}]"),
            (0, _) => write!(out, "[]"),
            (_, _) => write!(out, "[{length}]"),
        };
        ty = element;
    }
}

/// Whether the extended name differs from the plain one.
pub(super) fn has_stride(types: &TypeTable, mut ty: Type) -> bool {
    if !types.contains(ty) {
        return false;
    }
    while let TypeData::Array { element, stride, .. } = *types.get(ty) {
        if stride != 0 {
            return true;
        }
        ty = element;
    }
    is_laid_out(types.get(ty))
}

/// Whether a matrix has a layout.
fn is_laid_out(data: &TypeData) -> bool {
    matches!(*data, TypeData::Matrix { stride, row_major, .. } if stride != 0 || row_major)
}

/// All predefined types.
static BUILTIN: LazyLock<HashMap<String, TypeData>> = LazyLock::new(|| {
    let mut map = HashMap::new();
    let mut add = |data: TypeData| {
        let mut name = String::new();
        push_element(&mut name, &data);
        map.entry(name).or_insert(data);
    };
    add(TypeData::AtomicCounter);
    for shadow in [false, true] {
        add(TypeData::Sampler { dim: None, array: false, shadow, result: ScalarType::Void });
    }
    for &(scalar, ..) in SCALARS {
        for components in [1, 2, 3, 4, 5, 8, 16] {
            add(TypeData::Vector { scalar, components });
        }
        for columns in 2..=4 {
            for rows in 2..=4 {
                add(TypeData::Matrix { scalar, columns, rows, stride: 0, row_major: false });
            }
        }
        for &(dim, _) in DIMS {
            for array in [false, true] {
                for shadow in [false, true] {
                    add(TypeData::Sampler { dim: Some(dim), array, shadow, result: scalar });
                }
                add(TypeData::Texture { dim, array, result: scalar });
                add(TypeData::Image { dim, array, result: scalar });
            }
        }
    }
    map
});

/// Whether the name is that of a predefined type.
pub(super) fn is_builtin(name: &str) -> bool {
    BUILTIN.contains_key(name)
}

/// The name without its array dimensions.
pub(super) fn element_name(name: &str) -> &str {
    name.find('[').map_or(name, |at| &name[..at])
}

/// Parses a name in plain or extended form. `named` returns the structs; an unknown name becomes an opaque type.
/// Returns `None` if the text is not a type.
pub(super) fn parse_type(types: &mut TypeTable, text: &str, named: &dyn Fn(&str) -> Option<Type>) -> Option<Type> {
    let base = element_name(text);
    if base.is_empty() {
        return None;
    }
    let mut dimensions = Vec::new();
    let mut rest = &text[base.len()..];
    while !rest.is_empty() {
        let (inner, after) = rest.strip_prefix('[')?.split_once(']')?;
        let (length, stride) = inner.split_once(':').unwrap_or((inner, ""));
        let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u32>().ok() };
        dimensions.push((number(length)?, number(stride)?));
        if dimensions.len() > MAX_NESTING {
            return None;
        }
        rest = after;
    }
    let (name, layout) = base.split_once(':').map_or((base, None), |(name, layout)| (name, Some(layout)));
    let mut ty = match (BUILTIN.get(name), layout) {
        (Some(data), None) => types.intern(data.clone()),
        (Some(&TypeData::Matrix { scalar, columns, rows, .. }), Some(layout)) => {
            let digits = layout.strip_suffix('r').unwrap_or(layout);
            let (stride, row_major) = (digits.parse::<u32>().ok()?, digits.len() < layout.len());
            types.intern(TypeData::Matrix { scalar, columns, rows, stride, row_major })
        }
        _ => match named(base) {
            Some(ty) => ty,
            None => types.intern(TypeData::Opaque(base.to_string())),
        },
    };
    for &(length, stride) in dimensions.iter().rev() {
        ty = types.intern(TypeData::Array { element: ty, length, stride });
    }
    Some(ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        let mut types = TypeTable::default();
        for (name, data) in BUILTIN.iter() {
            let ty = parse_type(&mut types, name, &|_| None).expect(name);
            assert_eq!(types.get(ty), data, "{name}");
            let mut printed = String::new();
            push_type(&mut printed, &types, ty, false);
            assert_eq!(&printed, name);
        }
        for name in
            ["float[2][3]", "vec4[]", "S[4]", "sampler2DArrayShadow[2]", "mat3x4", "mat4", "u64image2D", "f16vec8"]
        {
            let ty = parse_type(&mut types, name, &|_| None).expect(name);
            let mut printed = String::new();
            push_type(&mut printed, &types, ty, false);
            assert_eq!(printed, name);
        }
        let ty = parse_type(&mut types, "float[2:16][:4]", &|_| None).expect("extended");
        let mut printed = String::new();
        push_type(&mut printed, &types, ty, true);
        assert_eq!(printed, "float[2:16][:4]");
        printed.clear();
        push_type(&mut printed, &types, ty, false);
        assert_eq!(printed, "float[2][]");
        for wrong in ["", "[2]", "float[", "float[x]", "float[2]]", "float]2["] {
            // `float]2[` is a name with an unclosed dimension.
            assert!(parse_type(&mut types, wrong, &|_| None).is_none(), "{wrong}");
        }
        let deep = format!("float{}", "[2]".repeat(MAX_NESTING + 1));
        assert!(parse_type(&mut types, &deep, &|_| None).is_none());
    }

    #[test]
    fn matrix_and_image_names() {
        let mut types = TypeTable::default();
        let mat = parse_type(&mut types, "mat3x4", &|_| None).expect("matrix");
        assert_eq!(mat, types.matrix(ScalarType::Float, 3, 4));
        for name in ["mat3x4:16", "dmat2:32r[3][2:8]", "mat2:0r"] {
            let ty = parse_type(&mut types, name, &|_| None).expect(name);
            let mut printed = String::new();
            push_type(&mut printed, &types, ty, true);
            assert_eq!(printed, name);
            assert!(has_stride(&types, ty));
        }
        let image = parse_type(&mut types, "image2DArray", &|_| None).expect("image");
        assert_eq!(
            types.get(image),
            &TypeData::Image { dim: SamplerDim::Dim2D, array: true, result: ScalarType::Float }
        );
    }
}
