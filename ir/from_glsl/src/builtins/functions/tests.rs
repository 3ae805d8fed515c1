use super::*;
use crate::symbol::Interner;
use crate::version::Profile;
use pretty_assertions::assert_eq;

const ES100: Version = Version { number: 100, profile: Profile::Es };

fn desktop(number: u16) -> Version {
    let profile = if number >= 150 { Profile::Core } else { Profile::Compatibility };
    Version { number, profile }
}

/// The signatures of a name as text.
fn found(name: &str, version: Version, enabled: &[E], stage: ShaderStage) -> Vec<String> {
    let (mut types, interner) = (Types::new(), Interner::new());
    let mut set = Extensions::default();
    enabled.iter().for_each(|&extension| set.set(extension, true));
    let Overloads::Found(all) = overloads(name, version, &set, stage, &mut types) else { return Vec::new() };
    let text = |signature: &Signature| {
        let parameters = signature.parameters.iter().map(|&(ty, direction)| {
            let prefix = if direction == Direction::Out { "out " } else { "" };
            format!("{prefix}{}", types.name(ty, &interner))
        });
        format!("{}({})", types.name(signature.result, &interner), parameters.collect::<Vec<_>>().join(", "))
    };
    all.iter().map(text).collect()
}

#[test]
fn patterns_parse() {
    for row in rows() {
        for text in row.signatures {
            let pattern = pattern::Pattern::parse(text);
            assert!(pattern.is_some_and(|pattern| pattern.names_known_resources()), "{}: {text}", row.name);
        }
        assert!(!row.signatures.is_empty(), "{}", row.name);
    }
}

/// Every row gives a signature in some version and stage.
#[test]
fn rows_are_found() {
    let stages = [
        ShaderStage::Vertex,
        ShaderStage::Fragment,
        ShaderStage::Geometry,
        ShaderStage::TessCtrl,
        ShaderStage::Compute,
    ];
    let mut versions = vec![ES100];
    versions.extend(Version::DESKTOP.iter().map(|&number| desktop(number)));
    for row in rows() {
        let is_found = versions.iter().any(|&version| {
            stages.iter().any(|&stage| {
                matches!(overloads(row.name, version, &Extensions::ALL, stage, &mut Types::new()), Overloads::Found(_))
            })
        });
        assert!(is_found, "{}", row.name);
    }
}

#[test]
fn sizes_expand() {
    let vertex = ShaderStage::Vertex;
    assert_eq!(
        found("step", desktop(110), &[], vertex),
        [
            "float(float, float)",
            "vec2(vec2, vec2)",
            "vec3(vec3, vec3)",
            "vec4(vec4, vec4)",
            "vec2(float, vec2)",
            "vec3(float, vec3)",
            "vec4(float, vec4)",
        ]
    );
    assert_eq!(found("any", desktop(110), &[], vertex), ["bool(bvec2)", "bool(bvec3)", "bool(bvec4)"]);
    assert_eq!(
        found("matrixCompMult", ES100, &[], vertex),
        ["mat2(mat2, mat2)", "mat3(mat3, mat3)", "mat4(mat4, mat4)"]
    );
    assert_eq!(found("transpose", desktop(120), &[], vertex).len(), 9);
    assert_eq!(found("outerProduct", desktop(120), &[], vertex)[1], "mat2x3(vec3, vec2)");
    assert_eq!(found("modf", desktop(130), &[], vertex)[0], "float(float, out float)");
    assert_eq!(found("ftransform", desktop(110), &[], vertex), ["vec4()"]);
}

#[test]
fn textures_depend_on_version_and_stage() {
    let (vertex, fragment) = (ShaderStage::Vertex, ShaderStage::Fragment);
    assert_eq!(found("texture2D", desktop(110), &[], vertex), ["vec4(sampler2D, vec2)"]);
    assert_eq!(
        found("texture2D", desktop(110), &[], fragment),
        ["vec4(sampler2D, vec2)", "vec4(sampler2D, vec2, float)"]
    );
    assert_eq!(found("texture2DLod", desktop(110), &[], fragment), Vec::<String>::new());
    assert_eq!(
        found("texture2DLod", desktop(110), &[E::ARBShaderTextureLod], fragment),
        ["vec4(sampler2D, vec2, float)"]
    );
    assert_eq!(found("shadow1DProj", desktop(110), &[], vertex), ["vec4(sampler1DShadow, vec4)"]);
    assert_eq!(found("shadow1D", desktop(110), &[], vertex), ["vec4(sampler1DShadow, vec3)"]);
    assert_eq!(found("texture2DProj", ES100, &[], vertex), ["vec4(sampler2D, vec3)", "vec4(sampler2D, vec4)"]);
    assert_eq!(found("texture1D", ES100, &[], vertex), Vec::<String>::new());
    assert_eq!(
        found("texture2D", desktop(120), &[E::EXTGpuShader4], vertex),
        ["vec4(sampler2D, vec2)", "ivec4(isampler2D, vec2)", "uvec4(usampler2D, vec2)"]
    );
    assert_eq!(
        found("textureGather", desktop(120), &[E::ARBTextureGather], fragment),
        ["vec4(sampler2D, vec2)", "vec4(samplerCube, vec3)"]
    );
    let texture = found("texture", desktop(130), &[], vertex);
    assert!(!texture.iter().any(|text| text.contains("Rect") || text.contains("CubeArray")), "{texture:#?}");
    assert_eq!(texture.len(), 6 * 3 + 5);
}

#[test]
fn missing_functions_have_reasons() {
    let lookup = |name, version, stage| overloads(name, version, &Extensions::default(), stage, &mut Types::new());
    let (vertex, fragment) = (ShaderStage::Vertex, ShaderStage::Fragment);
    assert_eq!(lookup("sine", ES100, vertex), Overloads::Unknown);
    assert_eq!(lookup("dFdx", desktop(110), vertex), Overloads::OtherStage(Stages::FRAGMENT));
    let Overloads::Unavailable(since) = lookup("dFdx", ES100, fragment) else { panic!() };
    assert_eq!(since.remedy(ES100), "needs #version 300 es or GL_OES_standard_derivatives");
    let es300 = Version { number: 300, profile: Profile::Es };
    assert_eq!(lookup("texture2D", es300, fragment), Overloads::Removed(300));
    let Overloads::Found(signatures) = lookup("texture2D", desktop(330), fragment) else { panic!() };
    assert_eq!(signatures[0].removed, Some(140));
    assert_eq!(lookup("texture2D", desktop(420), fragment), Overloads::Removed(420));
}

#[test]
fn arguments_of_textures_have_meanings() {
    let mut types = Types::new();
    let Overloads::Found(all) =
        overloads("shadow2DProj", desktop(110), &Extensions::default(), ShaderStage::Fragment, &mut types)
    else {
        panic!()
    };
    let Some(Signature { op: BuiltinOp::Texture(op), parameters, .. }) = all.last() else { panic!() };
    let crate::types::TypeData::Sampler(sampler) = types.get(parameters[0].0) else { panic!() };
    assert_eq!((op.op, op.is_projective, op.comparator(&sampler)), (TexOp::Txb, true, Some(2)));
    assert_eq!(op.arguments(), [TextureArgument::Sampler, TextureArgument::Coordinate, TextureArgument::Bias]);
}
