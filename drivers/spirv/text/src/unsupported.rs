//! Rejects modules with features that a language lacks, or that a library would silently mistranslate, before the
//! library is called.

use std::collections::{HashMap, HashSet};

use spirv::{
    BuiltIn, Capability, Decoration, Dim, ExecutionMode, ExecutionModel, ImageFormat, ImageOperands, Op, StorageClass,
};

use tgsi_driver_spirv::internals::is_in_every_device;

use crate::error::TextError;
use crate::language::Language;
use crate::options::TextOptions;

/// Most nested blocks. Libraries recurse into them and indent their contents, so that texts grow with the square of the
/// depth.
const MAX_NESTING: usize = 256;
/// Most nested blocks in WGSL: the limit that every implementation must support.
const MAX_NESTING_WGSL: usize = 127;

/// Rejects a module that the language cannot express, or that would have another meaning there.
///
/// # Errors
/// [`TextError::Lacks`], and the index of the instruction in the words.
pub fn check_support(words: &[u32], options: &TextOptions) -> Result<(), (TextError, usize)> {
    let language = options.language;
    let mut module = Module { language, version: options.version, ..Module::default() };
    let mut at = 5;
    while let Some(&first) = words.get(at) {
        let length = (first >> 16).max(1) as usize;
        let operands = words.get(at + 1..at + length).unwrap_or_default();
        let opcode = first & 0xffff;
        if let Some(what) = module.lacking(opcode, operands) {
            return Err((TextError::Lacks(language.name(), what), at));
        }
        at += length;
    }
    Ok(())
}

/// The declarations of the module so far.
#[derive(Debug, Default)]
struct Module {
    language: Language,
    is_vertex: bool,
    is_geometry: bool,
    /// Variables of built-ins.
    built_ins: HashMap<u32, u32>,
    /// The merge labels of the open constructs.
    merges: Vec<u32>,
    /// Depth is tested before the shader runs.
    is_early: bool,
    version: u16,
    /// Pointer types, and their pointees.
    pointers: HashMap<u32, u32>,
    integers: HashSet<u32>,
    /// Image types: dimensionality, whether texels are integers, format.
    images: HashMap<u32, (u32, bool, u32)>,
    /// Types of sampled integer images.
    sampled_integers: HashSet<u32>,
    /// Sampled integer images, for languages that only allow gathers from them.
    integer_lookups: HashSet<u32>,
    storage_images: HashSet<u32>,
    zeros: HashSet<u32>,
    unwritten: HashSet<u32>,
    unread: HashSet<u32>,
}

impl Module {
    /// Returns the feature of an instruction that the language lacks.
    fn lacking(&mut self, opcode: u32, operands: &[u32]) -> Option<String> {
        let is = |op: Op| opcode == op as u32;
        let what: &str = match *operands {
            [label] if is(Op::Label) => {
                while self.merges.last() == Some(&label) {
                    self.merges.pop();
                }
                return None;
            }
            [merge, ..] if is(Op::SelectionMerge) || is(Op::LoopMerge) => {
                self.merges.push(merge);
                let most = if self.language == Language::Wgsl { MAX_NESTING_WGSL } else { MAX_NESTING };
                if self.merges.len() < most {
                    return None;
                }
                return Some(format!("blocks of {most} levels"));
            }
            [model, ..] if is(Op::EntryPoint) => {
                self.is_vertex = model == ExecutionModel::Vertex as u32;
                self.is_geometry = model == ExecutionModel::Geometry as u32;
                return None;
            }
            [_, mode, count]
                if is(Op::ExecutionMode)
                    && mode == ExecutionMode::Invocations as u32
                    && count > 1
                    && self.language == Language::Hlsl =>
            {
                INVOCATIONS
            }
            [_, mode, ..] if is(Op::ExecutionMode) && self.language == Language::Essl => {
                self.is_early |= mode == ExecutionMode::EarlyFragmentTests as u32;
                if !self.is_early || mode != ExecutionMode::DepthReplacing as u32 {
                    return None;
                }
                "output of depth after the depth test"
            }
            [_, mode, ..]
                if is(Op::ExecutionMode)
                    && mode == ExecutionMode::Isolines as u32
                    && self.language == Language::Msl =>
            {
                "isolines"
            }
            [capability] if is(Op::Capability) => self.lacking_capability(capability)?,
            [id, decoration, ref rest @ ..] if is(Op::Decorate) => match (decoration, rest) {
                (decoration, &[built_in]) if decoration == Decoration::BuiltIn as u32 => {
                    self.built_ins.insert(id, built_in);
                    self.lacking_built_in(built_in)?
                }
                _ => {
                    let is = |wanted: Decoration| decoration == wanted as u32;
                    let set = match () {
                        () if is(Decoration::NonWritable) => &mut self.unwritten,
                        () if is(Decoration::NonReadable) => &mut self.unread,
                        () => return None,
                    };
                    set.insert(id);
                    return None;
                }
            },
            [id, width, ..] if is(Op::TypeInt) || is(Op::TypeFloat) => {
                if is(Op::TypeInt) {
                    self.integers.insert(id);
                }
                let lacks_floats = matches!(self.language, Language::Wgsl | Language::Essl | Language::Msl);
                if width != 64 || !(is(Op::TypeInt) || lacks_floats) {
                    return None;
                }
                if self.language == Language::Msl && is(Op::TypeInt) {
                    return None;
                }
                "64-bit numbers"
            }
            [id, _, to] if is(Op::TypePointer) => {
                self.pointers.insert(id, to);
                return None;
            }
            [id, texel, dim, _, layers, samples, sampled, format, ..] if is(Op::TypeImage) => {
                self.images.insert(id, (dim, self.integers.contains(&texel), format));
                if sampled == 2 {
                    self.storage_images.insert(id);
                }
                return self.lacking_image(dim, layers != 0, samples != 0, sampled == 2, format);
            }
            [id, image] if is(Op::TypeSampledImage) => {
                if self.images.get(&image).is_some_and(|&(_, is_integer, _)| is_integer) {
                    self.sampled_integers.insert(id);
                }
                return None;
            }
            [_, id, 0] if is(Op::Constant) => {
                self.zeros.insert(id);
                return None;
            }
            [_, id] if is(Op::ConstantNull) => {
                self.zeros.insert(id);
                return None;
            }
            [ty, id, ..] if is(Op::SampledImage) && self.sampled_integers.contains(&ty) => {
                if self.language == Language::Wgsl || self.language == Language::Hlsl && self.version < 607 {
                    self.integer_lookups.insert(id);
                }
                return None;
            }
            [ty, id, storage, ..] if is(Op::Variable) => return self.lacking_variable(ty, id, storage),
            _ => self.lacking_lookup(opcode, operands)?,
        };
        Some(what.to_owned())
    }

    fn lacking_capability(&self, capability: u32) -> Option<&'static str> {
        use Language::{Essl, Glsl, Hlsl, Msl};
        let capability = Capability::from_u32(capability)?;
        let here = |languages: &[Language]| self.language == Language::Wgsl || languages.contains(&self.language);
        match capability {
            Capability::InterpolationFunction if here(&[]) => Some("interpolation at a position given by the shader"),
            Capability::StencilExportEXT if here(&[Essl, Hlsl]) => Some("output of stencil values"),
            Capability::MultiViewport | Capability::ShaderViewportIndexLayerEXT if here(&[Essl]) => {
                Some("viewports and layers selected by the shader")
            }
            Capability::SampleMaskPostDepthCoverage if here(&[Hlsl]) => Some("sample masks after the depth test"),
            Capability::ShaderViewportMaskNV => Some("viewport masks"),
            Capability::FragmentShaderPixelInterlockEXT | Capability::FragmentShaderSampleInterlockEXT if here(&[]) => {
                Some("interlocks of fragments")
            }
            Capability::ComputeDerivativeGroupQuadsNV | Capability::ComputeDerivativeGroupLinearNV
                if here(&[Hlsl, Msl]) =>
            {
                Some("derivatives in compute shaders")
            }
            Capability::ShaderClockKHR if here(&[Essl, Hlsl, Msl]) => Some("clocks"),
            Capability::GeometryStreams if self.language == Essl => Some("streams of vertices"),
            Capability::GeometryStreams if self.language == Hlsl => Some("streams of vertices by way of SPIRV-Cross"),
            Capability::InputAttachment if here(&[Glsl, Essl, Hlsl]) => Some("framebuffer fetch"),
            Capability::DerivativeControl if self.language == Essl => Some("fine derivatives"),
            _ => None,
        }
    }

    fn lacking_built_in(&self, built_in: u32) -> Option<&'static str> {
        use Language::{Essl, Hlsl};
        let built_in = BuiltIn::from_u32(built_in)?;
        let here = |languages: &[Language]| self.language == Language::Wgsl || languages.contains(&self.language);
        match built_in {
            // In Direct3D the rasteriser sets the size of points.
            BuiltIn::PointSize if self.language == Language::Wgsl => {
                Some("point sizes: points are one pixel wide, so remove the output")
            }
            BuiltIn::PointCoord if self.language == Language::Wgsl => Some("point coordinates"),
            BuiltIn::ClipDistance if self.language == Language::Wgsl && !self.is_vertex => {
                Some("clip distances as inputs")
            }
            BuiltIn::CullDistance if self.language == Language::Wgsl => Some("cull distances"),
            BuiltIn::SamplePosition if here(&[Hlsl]) => Some("positions of samples"),
            BuiltIn::HelperInvocation if self.language == Language::Wgsl => Some("built-in for helper invocations"),
            BuiltIn::HelperInvocation if self.language == Language::Glsl && self.version < 450 => {
                Some("built-in for helper invocations before GLSL 4.50")
            }
            BuiltIn::HelperInvocation if self.language == Language::Hlsl && self.version < 607 => {
                Some("built-in for helper invocations before shader model 6.7")
            }
            BuiltIn::Layer | BuiltIn::ViewportIndex if here(&[]) => Some("viewports and layers selected by the shader"),
            BuiltIn::ViewportIndex if here(&[Essl, Hlsl]) => Some("viewports and layers selected by the shader"),
            _ => None,
        }
    }

    fn lacking_image(&self, dim: u32, layers: bool, samples: bool, is_image: bool, format: u32) -> Option<String> {
        let format = ImageFormat::from_u32(format).unwrap_or(ImageFormat::Unknown);
        if self.language != Language::Wgsl {
            if self.language == Language::Essl && is_image && samples {
                return Some("multisampled images".to_owned());
            }
            if self.language == Language::Essl && is_image && !is_in_every_device(format) {
                return Some(format!("images of the format {format:?}"));
            }
            if self.language == Language::Hlsl && is_image && samples && self.version < 607 {
                return Some("multisampled images before shader model 6.7".to_owned());
            }
            return None;
        }
        let what = match () {
            () if dim == Dim::DimBuffer as u32 => "texel buffers: use storage buffers",
            () if samples && layers => "multisampled textures with layers",
            () if is_image && samples => "multisampled images",
            () if is_image && dim == Dim::DimCube as u32 => "images of cubes",
            () if is_image && format == ImageFormat::Unknown => "images without a format: declare one",
            () => return None,
        };
        Some(what.to_owned())
    }

    fn lacking_variable(&self, ty: u32, id: u32, storage: u32) -> Option<String> {
        if self.language == Language::Hlsl && self.is_geometry && storage == StorageClass::Input as u32 {
            let built_in = self.built_ins.get(&id).copied().and_then(BuiltIn::from_u32);
            return built_in.and_then(lacking_input_of_hlsl).map(str::to_owned);
        }
        let to = self.pointers.get(&ty)?;
        let is = |class: StorageClass| storage == class as u32;
        let is_storage = is(StorageClass::StorageBuffer) || self.storage_images.contains(to);
        if self.language == Language::Wgsl && self.is_vertex && is_storage && !self.unwritten.contains(&id) {
            return Some("writes to memory in vertex shaders".to_owned());
        }
        let &(_, _, format) = self.images.get(to)?;
        let format = ImageFormat::from_u32(format).unwrap_or(ImageFormat::Unknown);
        let is_word = matches!(format, ImageFormat::R32f | ImageFormat::R32i | ImageFormat::R32ui);
        let both = format != ImageFormat::Unknown && !self.unwritten.contains(&id) && !self.unread.contains(&id);
        // WGSL has the same restriction for read-write storage textures.
        let limited = self.language == Language::Essl || self.language == Language::Wgsl;
        (limited && both && !is_word).then(|| {
            format!(
                "image of the format {format:?} that is both read and written: use one with a single 32-bit component"
            )
        })
    }

    fn lacking_lookup(&self, opcode: u32, operands: &[u32]) -> Option<&'static str> {
        let is = |op: Op| opcode == op as u32;
        let communicates = (Op::GroupNonUniformElect as u32..=Op::GroupNonUniformQuadSwap as u32).contains(&opcode);
        if communicates && self.is_vertex && self.language == Language::Wgsl {
            return Some("operations of subgroups in vertex shaders");
        }
        if is(Op::ImageTexelPointer) && self.language == Language::Wgsl {
            return Some("atomics on images: use a storage buffer");
        }
        if is(Op::ImageQueryLod) && self.language == Language::Wgsl {
            return Some("queries of the level of a lookup");
        }
        if self.language == Language::Essl {
            if is(Op::ImageQuerySamples) {
                return Some("queries of the number of samples");
            }
            if is(Op::ImageQueryLevels) {
                return Some("queries of the number of levels");
            }
        }
        let samples = is(Op::ImageSampleImplicitLod) || is(Op::ImageSampleExplicitLod);
        if samples && self.integer_lookups.contains(operands.get(2)?) {
            return Some("lookups of integer textures by a sampler");
        }
        let compares = is(Op::ImageSampleDrefImplicitLod) || is(Op::ImageSampleDrefExplicitLod);
        if compares && self.language == Language::Wgsl {
            let &[_, _, _, _, _, mask, ref rest @ ..] = operands else { return None };
            let is_zero = rest.first().is_some_and(|level| self.zeros.contains(level));
            let other = ImageOperands::BIAS.bits() | ImageOperands::GRAD.bits();
            if mask & other != 0 || mask & ImageOperands::LOD.bits() != 0 && !is_zero {
                return Some("comparing lookups with a bias, gradients, or a level that is not 0");
            }
        }
        None
    }
}

/// SPIRV-Cross writes HLSL geometry shaders as if they had one invocation.
const INVOCATIONS: &str = "invocations of geometry shaders by way of SPIRV-Cross";

/// Returns the error for inputs of HLSL geometry shaders that SPIRV-Cross cannot read.
const fn lacking_input_of_hlsl(built_in: BuiltIn) -> Option<&'static str> {
    match built_in {
        BuiltIn::PointSize => Some("point sizes as inputs"),
        BuiltIn::ClipDistance | BuiltIn::CullDistance => {
            Some("clip and cull distances as inputs of geometry shaders by way of SPIRV-Cross")
        }
        BuiltIn::InvocationId => Some(INVOCATIONS),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use tgsi_compiler::{Compiler, Driver};

    use crate::Text;

    /// Translates a shader with `depth` nested conditions.
    fn nested(driver: &'static Text, depth: usize) -> Result<(), String> {
        let mut text = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[0]\nDCL TEMP[0]\n\
            MOV TEMP[0], IN[0]\n"
            .to_owned();
        for _ in 0..depth {
            text.push_str("FSLT TEMP[0].x, TEMP[0].xxxx, CONST[0].xxxx\nUIF TEMP[0].xxxx\n");
            text.push_str("ADD TEMP[0], TEMP[0], IN[0].yzwx\n");
        }
        text.push_str(&"ENDIF\n".repeat(depth));
        text.push_str("MOV OUT[0], TEMP[0]\nEND\n");
        let source = tgsi::text::parse(text.as_bytes()).expect("a shader").shader;
        let compiler = Compiler::for_target(driver.target(&[]).expect("no options").into());
        compiler.compile(source).map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn nesting_has_an_end() {
        let drivers: &[(&'static Text, usize)] = &[
            (&crate::WGSL, 127),
            #[cfg(feature = "spirv-cross")]
            (&crate::GLSL, 256),
            #[cfg(feature = "spirv-cross")]
            (&crate::ESSL, 256),
            #[cfg(feature = "spirv-cross")]
            (&crate::MSL, 256),
            #[cfg(feature = "spirv-cross")]
            (&crate::HLSL, 256),
        ];
        for &(driver, most) in drivers {
            assert_eq!(nested(driver, most - 1), Ok(()));
            // The innermost may become selections of values.
            for depth in [most + 8, 20_000] {
                let error = nested(driver, depth).expect_err("too deep");
                assert!(error.contains("has no blocks of"), "{error}");
            }
        }
    }

    #[cfg(feature = "spirv-cross")]
    #[test]
    fn geometry_shaders_of_hlsl() {
        let compile = |declarations: &str, value: &str| {
            let text = format!(
                "GEOM\nPROPERTY GS_INPUT_PRIMITIVE POINTS\nPROPERTY GS_OUTPUT_PRIMITIVE POINTS\n\
                 PROPERTY GS_MAX_OUTPUT_VERTICES 2\n{declarations}DCL OUT[0], POSITION\nIMM[0] UINT32 {{0, 1, 0, 0}}\n\
                 MOV OUT[0], {value}\nEMIT IMM[0].xxxx\nEND\n"
            );
            let source = tgsi::text::parse(text.as_bytes()).expect("a shader").shader;
            let compiler = Compiler::for_target(crate::HLSL.target(&[]).expect("no options").into());
            compiler.compile(source).map(|_| ()).map_err(|error| error.to_string())
        };
        let lacks = |declarations, value, what: &str| {
            let error = compile(declarations, value).expect_err(what);
            assert!(error.contains(what), "{error}, not {what}");
        };
        let input = "DCL IN[][0], POSITION\n";
        assert_eq!(compile(input, "IN[0][0]"), Ok(()));
        assert_eq!(compile("DCL IN[][0], POSITION\nDCL SV[0], PRIMID\n", "SV[0].xxxx"), Ok(()));
        lacks("", "IMM[0]", "no geometry shaders without inputs");
        lacks("DCL IN[][0], PSIZE\n", "IN[0][0].xxxx", "no point sizes as inputs");
        lacks("DCL IN[][0], CLIPDIST\n", "IN[0][0]", "no clip and cull distances as inputs");
        lacks("PROPERTY GS_INVOCATIONS 2\nDCL IN[][0], POSITION\n", "IN[0][0]", "no invocations of geometry");
        lacks("DCL SV[0], INVOCATIONID\n", "SV[0].xxxx", "no invocations of geometry");
        lacks(
            "DCL IN[][0], POSITION\nDCL OUT[1], GENERIC[0], STREAM(1, 1, 1, 1)\n",
            "IN[0][0]\nEMIT IMM[0].yyyy",
            "no streams",
        );
    }
}
