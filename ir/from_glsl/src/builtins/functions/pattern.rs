//! Patterns of signatures: the type of the result, then those of the parameters, separated by blanks.
//!
//! | token | type |
//! |---|---|
//! | `v` | `void` |
//! | `f i u b d l k`, `f3` | a scalar, or a vector of n components |
//! | `F I U B D L K` | a scalar or vector; all such tokens of a signature have one size, 1 to 4 |
//! | `Fv Iv Uv Bv Dv Lv Kv` | the same, 2 to 4. `l` and `k` are `int64_t` and `uint64_t` |
//! | `M`, `Mt`, `Mc`, `Mr`, `Mq` | a float matrix of any size, its transpose, a column, a row; `Mq` is square |
//! | `N`, `Nt`, `Nc`, `Nr`, `Nq` | the same with doubles |
//! | `s:2D\|Cube` | `sampler2D`, `samplerCube`; one signature for each |
//! | `g:2D\|Cube` | the same, and the `isampler` and `usampler` types |
//! | `m:2D\|Cube` | `image2D`, `imageCube`, and the `iimage` and `uimage` types |
//! | `mf:2D`, `mi:2D`, `mu:2D` | images of floats, of both integer types, of unsigned integers |
//! | `g4`, `g` | a vector of four components, a scalar of the type of the sampler or image |
//! | `size` | an integer vector for the size of the texture or image |
//! | `c` | an atomic counter |
//!
//! Prefix `>` is `out`, `<>` is `inout`. Further tokens are arguments of texture functions, whose types follow from the
//! sampler:
//!
//! | token | argument |
//! |---|---|
//! | `P`, `Pf`, `Pi`, `Pl` | coordinate with layer and comparator; without comparator; integer; without layer |
//! | `Q`, `Q4` | coordinate with the divisor as last component: one more than `P`; `vec4` |
//! | `lod`, `level` | float or integer level |
//! | `~bias` | a bias that may be left out, and exists in shaders with derivatives only |
//! | `dx`, `dy` | gradients |
//! | `off`, `offs` | offset; array of four offsets |
//! | `cmp`, `sample`, `comp` | comparator, sample, gathered component |
//! | `Pm` | integer coordinate of an image |

use std::sync::LazyLock;

use hashbrown::HashMap;
use tgsi_environment::SamplerDim;
use tgsi_ir::ShaderStage;
use tgsi_ir::body::TexOp;

use super::op::{BuiltinOp, TextureArgument, TextureOp};
use super::{Row, RowOp, Signature};
use crate::extension::{Extension, Extensions};
use crate::keyword::{Keyword, Meaning};
use crate::program::Direction;
use crate::types::{self, ImageType, SamplerType, Scalar, TypeData, TypeId, Types};
use crate::version::Version;

/// A type of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token {
    Void,
    /// A scalar or vector of this size.
    Fixed(Scalar, u8),
    /// A scalar or vector of the size of the signature.
    Sized(Scalar, Sizes),
    /// A matrix of the size of the signature, or a vector of it.
    Matrix(Scalar, MatrixPart),
    /// A sampler.
    Sampler {
        /// Also `isampler`, `usampler`.
        is_generic: bool,
        /// The rest of the names, separated by `|`.
        kinds: &'static str,
    },
    /// An image.
    Image {
        /// The types of texels.
        texels: &'static [Scalar],
        /// The rest of the names, separated by `|`.
        kinds: &'static str,
    },
    /// An atomic counter.
    Counter,
    /// One or four components of the type of the sampler or image.
    Texel(u8),
    /// The size of a texture or image.
    Size,
    /// The coordinate of a texel of an image.
    ImageCoordinate,
    /// An argument of a texture function.
    Argument(TextureArgument, ArgumentType),
}

/// The sizes of a [`Token::Sized`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sizes {
    /// 1 to 4.
    All,
    /// 2 to 4.
    Vectors,
}

/// The part of a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MatrixPart {
    Whole,
    Transposed,
    Column,
    Row,
    Square,
}

/// The type of an argument of a texture function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ArgumentType {
    Float,
    Int,
    Vec4,
    /// Floats: coordinates, layer, comparator.
    Coordinates,
    /// Floats: coordinates, layer.
    Uncompared,
    /// Integers: coordinates, layer.
    Texels,
    /// Floats: coordinates, comparator, divisor.
    Projected,
    /// Floats without layer.
    Gradient,
    /// Integers without layer.
    Offset,
    /// Four times as `Offset`.
    Offsets,
}

/// A parsed pattern.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Pattern {
    result: Token,
    parameters: Vec<(Token, Direction)>,
    /// A bias may follow.
    has_bias: bool,
}

fn scalar_of(letter: char) -> Option<Scalar> {
    Some(match letter.to_ascii_lowercase() {
        'f' => Scalar::Float,
        'i' => Scalar::Int,
        'u' => Scalar::Uint,
        'b' => Scalar::Bool,
        'd' => Scalar::Double,
        'l' => Scalar::Int64,
        'k' => Scalar::Uint64,
        _ => return None,
    })
}

/// Parses a token without prefix.
fn parse_token(text: &'static str) -> Option<Token> {
    use ArgumentType as T;
    use TextureArgument as A;
    let argument = |meaning, ty| Some(Token::Argument(meaning, ty));
    match text {
        "v" => return Some(Token::Void),
        "g4" => return Some(Token::Texel(4)),
        "g" => return Some(Token::Texel(1)),
        "c" => return Some(Token::Counter),
        "Pm" => return Some(Token::ImageCoordinate),
        "size" => return Some(Token::Size),
        "P" => return argument(A::Coordinate, T::Coordinates),
        "Pf" => return argument(A::Coordinate, T::Uncompared),
        "Pi" => return argument(A::Coordinate, T::Texels),
        "Pl" => return argument(A::Coordinate, T::Gradient),
        "Q" => return argument(A::Coordinate, T::Projected),
        "Q4" => return argument(A::Coordinate, T::Vec4),
        "lod" => return argument(A::Lod, T::Float),
        "level" => return argument(A::Lod, T::Int),
        "dx" => return argument(A::Ddx, T::Gradient),
        "dy" => return argument(A::Ddy, T::Gradient),
        "off" => return argument(A::Offset, T::Offset),
        "offs" => return argument(A::Offsets, T::Offsets),
        "cmp" => return argument(A::Comparator, T::Float),
        "sample" => return argument(A::Sample, T::Int),
        "comp" => return argument(A::Component, T::Int),
        _ => {}
    }
    if let Some((kind @ ("s" | "g"), kinds)) = text.split_once(':') {
        return Some(Token::Sampler { is_generic: kind == "g", kinds });
    }
    if let Some((kind, kinds)) = text.split_once(':') {
        let texels: &[Scalar] = match kind {
            "m" => &[Scalar::Float, Scalar::Int, Scalar::Uint],
            "mf" => &[Scalar::Float],
            "mi" => &[Scalar::Int, Scalar::Uint],
            "mu" => &[Scalar::Uint],
            _ => return None,
        };
        return Some(Token::Image { texels, kinds });
    }
    let mut letters = text.chars();
    let first = letters.next()?;
    let rest = letters.as_str();
    if let 'M' | 'N' = first {
        let scalar = if first == 'M' { Scalar::Float } else { Scalar::Double };
        let part = match rest {
            "" => MatrixPart::Whole,
            "t" => MatrixPart::Transposed,
            "c" => MatrixPart::Column,
            "r" => MatrixPart::Row,
            "q" => MatrixPart::Square,
            _ => return None,
        };
        return Some(Token::Matrix(scalar, part));
    }
    let scalar = scalar_of(first)?;
    match (first.is_ascii_uppercase(), rest) {
        (true, "") => Some(Token::Sized(scalar, Sizes::All)),
        (true, "v") => Some(Token::Sized(scalar, Sizes::Vectors)),
        (false, "") => Some(Token::Fixed(scalar, 1)),
        (false, "2") => Some(Token::Fixed(scalar, 2)),
        (false, "3") => Some(Token::Fixed(scalar, 3)),
        (false, "4") => Some(Token::Fixed(scalar, 4)),
        _ => None,
    }
}

impl Pattern {
    /// Parses a pattern.
    pub(super) fn parse(text: &'static str) -> Option<Pattern> {
        let mut words = text.split(' ');
        let result = parse_token(words.next()?)?;
        let mut pattern = Pattern { result, parameters: Vec::new(), has_bias: false };
        for word in words {
            if pattern.has_bias {
                return None;
            }
            if word == "~bias" {
                pattern.has_bias = true;
                continue;
            }
            let (word, direction) = if let Some(rest) = word.strip_prefix("<>") {
                (rest, Direction::InOut)
            } else if let Some(rest) = word.strip_prefix('>') {
                (rest, Direction::Out)
            } else {
                (word, Direction::In)
            };
            pattern.parameters.push((parse_token(word)?, direction));
        }
        Some(pattern)
    }

    fn tokens(&self) -> impl Iterator<Item = Token> {
        std::iter::once(self.result).chain(self.parameters.iter().map(|&(token, _)| token))
    }

    /// The sizes of vectors to expand; one size, without meaning, if there is no sized token.
    fn sizes(&self) -> std::ops::RangeInclusive<u8> {
        let sizes = |token| if let Token::Sized(_, sizes) = token { Some(sizes) } else { None };
        match self.tokens().filter_map(sizes).max_by_key(|&sizes| sizes == Sizes::Vectors) {
            None => 1..=1,
            Some(Sizes::All) => 1..=4,
            Some(Sizes::Vectors) => 2..=4,
        }
    }

    /// The columns and rows of matrices to expand.
    fn matrices(&self) -> Vec<(u8, u8)> {
        let parts: Vec<MatrixPart> = self
            .tokens()
            .filter_map(|token| if let Token::Matrix(_, part) = token { Some(part) } else { None })
            .collect();
        if parts.is_empty() {
            return vec![(2, 2)];
        }
        let is_square = parts.contains(&MatrixPart::Square);
        let all = (2..=4).flat_map(|columns| (2..=4).map(move |rows| (columns, rows)));
        all.filter(|(columns, rows)| !is_square || columns == rows).collect()
    }

    /// The samplers and images to expand; `None` if the pattern has none.
    fn resources(&self) -> Option<Vec<Resource>> {
        self.tokens().find_map(|token| match token {
            Token::Sampler { is_generic, kinds } => {
                let prefixes: &[&str] = if is_generic { &["", "i", "u"] } else { &[""] };
                Some(named(prefixes, "sampler", kinds))
            }
            Token::Image { texels, kinds } => {
                let prefix = |texel: &Scalar| match texel {
                    Scalar::Int => "i",
                    Scalar::Uint => "u",
                    _ => "",
                };
                Some(named(&texels.iter().map(prefix).collect::<Vec<_>>(), "image", kinds))
            }
            _ => None,
        })
    }

    /// Whether all samplers and images that it names exist.
    #[cfg(test)]
    pub(super) fn names_known_resources(&self) -> bool {
        self.tokens().all(|token| match token {
            Token::Sampler { kinds, .. } => {
                kinds.split('|').all(|kind| RESOURCES.contains_key(format!("sampler{kind}").as_str()))
            }
            Token::Image { kinds, .. } => {
                kinds.split('|').all(|kind| RESOURCES.contains_key(format!("image{kind}").as_str()))
            }
            _ => true,
        })
    }
}

/// A sampler or image type of a signature.
#[derive(Clone, Copy)]
enum Resource {
    Sampler(SamplerType),
    Image(ImageType),
}

impl Resource {
    fn name(&self) -> Keyword {
        match self {
            Resource::Sampler(sampler) => sampler.name,
            Resource::Image(image) => image.name,
        }
    }

    fn sampler(&self) -> Option<&SamplerType> {
        match self {
            Resource::Sampler(sampler) => Some(sampler),
            Resource::Image(_) => None,
        }
    }

    /// Type of the components of texels.
    fn texel(&self) -> Scalar {
        match self {
            Resource::Sampler(sampler) => sampler.result,
            Resource::Image(image) => image.texel,
        }
    }
}

/// The types with these prefixes and kinds, separated by `|`.
fn named(prefixes: &[&str], family: &str, kinds: &str) -> Vec<Resource> {
    let names = kinds.split('|').flat_map(|kind| prefixes.iter().map(move |prefix| format!("{prefix}{family}{kind}")));
    names.filter_map(|name| RESOURCES.get(name.as_str()).copied()).collect()
}

/// All sampler and image types by name.
static RESOURCES: LazyLock<HashMap<&'static str, Resource>> = LazyLock::new(|| {
    let of_keyword = |&keyword: &Keyword| {
        let sampler = types::sampler_of(keyword).map(Resource::Sampler);
        Some((keyword.name(), sampler.or_else(|| types::image_of(keyword).map(Resource::Image))?))
    };
    Keyword::ALL.iter().filter_map(of_keyword).collect()
});

/// The state of the expansion of a row.
pub(super) struct Expansion<'a> {
    pub(super) version: Version,
    pub(super) enabled: &'a Extensions,
    pub(super) stage: ShaderStage,
    pub(super) types: &'a mut Types,
    pub(super) found: &'a mut Vec<Signature>,
    pub(super) row: &'a Row,
    pub(super) removed: Option<u16>,
}

/// The sizes and types of one signature.
#[derive(Clone, Copy)]
struct Instance {
    size: u8,
    columns: u8,
    rows: u8,
    resource: Option<Resource>,
}

impl Expansion<'_> {
    /// Adds the signatures of a pattern that are not there yet.
    pub(super) fn run(&mut self, text: &'static str) {
        let Some(pattern) = Pattern::parse(text) else { return };
        let resources: Vec<Option<Resource>> = match pattern.resources() {
            Some(all) => all.into_iter().filter(|resource| self.has(resource.name())).map(Some).collect(),
            None => vec![None],
        };
        let has_rectangular = self.has(Keyword::Mat2x3);
        for resource in resources {
            for size in pattern.sizes() {
                for (columns, rows) in pattern.matrices() {
                    if columns == rows || has_rectangular {
                        self.add(&pattern, Instance { size, columns, rows, resource });
                    }
                }
            }
        }
    }

    fn has(&self, keyword: Keyword) -> bool {
        keyword.meaning(self.version, self.enabled) == Meaning::Keyword
    }

    /// Adds a signature, and one with a bias if there is one.
    fn add(&mut self, pattern: &Pattern, instance: Instance) {
        let Some(result) = self.type_of(pattern.result, instance) else { return };
        let mut meanings: Vec<TextureArgument> = pattern.parameters.iter().map(|&(token, _)| meaning(token)).collect();
        let types =
            pattern.parameters.iter().map(|&(token, direction)| Some((self.type_of(token, instance)?, direction)));
        let Some(mut parameters) = types.collect::<Option<Vec<_>>>() else { return };
        let is_projective = pattern.parameters.iter().any(|(token, _)| {
            matches!(token, Token::Argument(TextureArgument::Coordinate, ArgumentType::Projected | ArgumentType::Vec4))
        });
        let op = |op: Option<TexOp>, meanings: &[TextureArgument]| match self.row.op {
            RowOp::Op(plain) => plain,
            RowOp::Texture(of_row) => BuiltinOp::Texture(TextureOp::new(op.unwrap_or(of_row), is_projective, meanings)),
        };
        if !self.has_types(result, &parameters) {
            return;
        }
        let plain = op(None, &meanings);
        let mut signatures = vec![(parameters.clone(), plain)];
        let has_derivatives = self.stage == ShaderStage::Fragment
            || self.stage == ShaderStage::Compute && self.enabled.contains(Extension::NVComputeShaderDerivatives);
        if pattern.has_bias && has_derivatives {
            meanings.push(TextureArgument::Bias);
            parameters.push((TypeId::FLOAT, Direction::In));
            signatures.push((parameters, op(Some(TexOp::Txb), &meanings)));
        }
        for (parameters, op) in signatures {
            let has_effects = op.has_effects();
            let signature = Signature { result, parameters, op, has_effects, removed: self.removed };
            let is_new = |other: &Signature| {
                !other.parameters.iter().map(|&(ty, _)| ty).eq(signature.parameters.iter().map(|&(ty, _)| ty))
            };
            if self.found.iter().all(is_new) {
                self.found.push(signature);
            }
        }
    }

    /// Whether the version has unsigned integers, if a signature has them, and 64-bit integers, if its parameters are
    /// such.
    fn has_types(&self, result: TypeId, parameters: &[(TypeId, Direction)]) -> bool {
        let is_unsigned = |ty: TypeId| self.types.scalar(ty) == Some(Scalar::Uint);
        let needs_unsigned = is_unsigned(result) || parameters.iter().any(|&(ty, _)| is_unsigned(ty));
        if needs_unsigned && !self.has(Keyword::Uint) && !self.enabled.contains(Extension::EXTGpuShader4) {
            return false;
        }
        let is_wide = |ty: TypeId| matches!(self.types.scalar(ty), Some(Scalar::Int64 | Scalar::Uint64));
        !parameters.iter().any(|&(ty, _)| is_wide(ty)) || self.has(Keyword::Int64T)
    }

    /// The type of a token; `None` if it needs a sampler that there is not, or a vector of more than four components.
    fn type_of(&mut self, token: Token, instance: Instance) -> Option<TypeId> {
        let Instance { size, columns, rows, resource } = instance;
        Some(match token {
            Token::Void => TypeId::VOID,
            Token::Fixed(scalar, components) => TypeId::vector(scalar, components),
            Token::Sized(scalar, _) => TypeId::vector(scalar, size),
            Token::Matrix(scalar, MatrixPart::Column) => TypeId::vector(scalar, rows),
            Token::Matrix(scalar, MatrixPart::Row) => TypeId::vector(scalar, columns),
            Token::Matrix(scalar, MatrixPart::Transposed) => {
                self.types.intern(TypeData::Matrix { scalar, columns: rows, rows: columns })
            }
            Token::Matrix(scalar, MatrixPart::Whole | MatrixPart::Square) => {
                self.types.intern(TypeData::Matrix { scalar, columns, rows })
            }
            Token::Sampler { .. } | Token::Image { .. } => match resource? {
                Resource::Sampler(sampler) => self.types.intern(TypeData::Sampler(sampler)),
                Resource::Image(image) => self.types.intern(TypeData::Image(image)),
            },
            Token::Counter => self.types.intern(TypeData::AtomicUint),
            Token::Texel(components) => TypeId::vector(resource?.texel(), components),
            Token::Size => match resource? {
                Resource::Sampler(sampler) => {
                    // The size of a cube is that of a face.
                    let dimensions = if sampler.dim == SamplerDim::Cube { 2 } else { sampler.dim.num_coords() };
                    TypeId::vector(Scalar::Int, dimensions + u8::from(sampler.array))
                }
                Resource::Image(image) => TypeId::vector(Scalar::Int, image.size()),
            },
            Token::ImageCoordinate => match resource? {
                Resource::Image(image) => TypeId::vector(Scalar::Int, image.coordinates()),
                Resource::Sampler(_) => return None,
            },
            Token::Argument(TextureArgument::Sample, ty) if resource.is_some_and(|it| it.sampler().is_none()) => {
                return (ty == ArgumentType::Int).then_some(TypeId::INT);
            }
            Token::Argument(_, ty) => return self.argument_type(ty, resource.as_ref()?.sampler()?),
        })
    }

    fn argument_type(&mut self, ty: ArgumentType, sampler: &SamplerType) -> Option<TypeId> {
        let coordinates = TextureOp::coordinates(sampler);
        let compared = if sampler.shadow { coordinates.max(2) + 1 } else { coordinates };
        let vector = |scalar, components| (components <= 4).then(|| TypeId::vector(scalar, components));
        let offset = TypeId::vector(Scalar::Int, sampler.dim.num_coords());
        match ty {
            ArgumentType::Float => Some(TypeId::FLOAT),
            ArgumentType::Int => Some(TypeId::INT),
            ArgumentType::Vec4 => Some(TypeId::VEC4),
            ArgumentType::Coordinates => vector(Scalar::Float, compared),
            ArgumentType::Uncompared => vector(Scalar::Float, coordinates),
            ArgumentType::Texels => vector(Scalar::Int, coordinates),
            ArgumentType::Projected => vector(Scalar::Float, compared + 1),
            ArgumentType::Gradient => vector(Scalar::Float, sampler.dim.num_coords()),
            ArgumentType::Offset => Some(offset),
            ArgumentType::Offsets => Some(self.types.array(offset, Some(4))),
        }
    }
}

/// The meaning of a parameter of a texture function.
fn meaning(token: Token) -> TextureArgument {
    match token {
        Token::Sampler { .. } => TextureArgument::Sampler,
        Token::Argument(meaning, _) => meaning,
        _ => TextureArgument::None,
    }
}
