use super::*;
use crate::extension::Extension as E;
use crate::types::TypeData;
use pretty_assertions::assert_eq;

const V110: Version = Version::DEFAULT;
const V120: Version = Version { number: 120, profile: Profile::Compatibility };
const V330: Version = Version { number: 330, profile: Profile::Core };
const ES100: Version = Version { number: 100, profile: Profile::Es };
const ES300: Version = Version { number: 300, profile: Profile::Es };

fn find(name: &str, version: Version, enabled: &[E], stage: ShaderStage) -> (Found, String) {
    let (mut types, mut interner) = (Types::new(), Interner::new());
    let mut set = Extensions::default();
    enabled.iter().for_each(|&extension| set.set(extension, true));
    let found = lookup(name, version, &set, stage, &ConstantValues::default(), &mut types, &mut interner);
    let ty = match found {
        Found::Variable { ty, .. } => types.name(ty, &interner),
        _ => String::new(),
    };
    (found, ty)
}

fn role(name: &str, version: Version, stage: ShaderStage) -> Role {
    let (found, _) = find(name, version, &[], stage);
    let Found::Variable { variable, .. } = found else { panic!("{name}: {found:?}") };
    assert_eq!(variable.name(), name);
    variable.role(version)
}

#[test]
fn types_parse() {
    let (mut types, mut interner) = (Types::new(), Interner::new());
    for row in ROWS.iter() {
        for version in [V110, Version { number: 460, profile: Profile::Compatibility }, ES100, ES300] {
            let ty = type_of(row.ty, version, &Extensions::ALL, &ConstantValues::default(), &mut types, &mut interner);
            assert!(ty.is_some(), "{} {}", row.name, row.ty);
        }
        let bound = row.ty.strip_suffix(']').and_then(|ty| ty.split_once("[<"));
        if let Some((_, length)) = bound {
            assert_eq!(
                length_of(length, V110, &Extensions::default(), &ConstantValues::default()),
                Some(8),
                "{}",
                row.name
            );
        }
    }
}

#[test]
fn roles_depend_on_the_stage() {
    let (vertex, fragment) = (ShaderStage::Vertex, ShaderStage::Fragment);
    assert_eq!(role("gl_Color", V110, vertex), Role::Input(tgsi_ir::slots::VertAttrib::COLOR0));
    assert_eq!(role("gl_Color", V110, fragment), Role::Input(tgsi_ir::slots::VaryingSlot::COL0));
    assert_eq!(role("gl_TexCoord", V110, vertex), Role::Output(tgsi_ir::slots::VaryingSlot::TEX0));
    assert_eq!(role("gl_FragCoord", ES100, fragment), Role::Input(tgsi_ir::slots::VaryingSlot::POS));
    assert_eq!(role("gl_MaxDrawBuffers", ES100, fragment), Role::Constant(&[1]));
    assert_eq!(role("gl_MaxVertexTextureImageUnits", V120, fragment), Role::Constant(&[0]));
    assert_eq!(role("gl_MaxVertexTextureImageUnits", V330, fragment), Role::Constant(&[16]));
    assert_eq!(find("gl_Vertex", V110, &[], fragment).0, Found::OtherStage(Stages::VERTEX));
    assert_eq!(find("gl_FragColor", ES300, &[], fragment).0, Found::Removed(300));
    assert_eq!(find("gl_Vertex", V330, &[], vertex).0, Found::Compatibility);
    assert_eq!(find("gl_Vertexx", V330, &[], vertex).0, Found::Unknown);
    let Found::Variable { removed, variable, .. } = find("gl_FragColor", V330, &[], fragment).0 else { panic!() };
    assert_eq!((removed, variable.is_writable()), (Some(140), true));
    let Found::Unavailable(since) = find("gl_InstanceID", V120, &[], vertex).0 else { panic!() };
    assert_eq!(since.remedy(V120), "needs #version 140 or GL_ARB_draw_instanced or GL_EXT_gpu_shader4");
}

#[test]
fn arrays_have_lengths() {
    let (vertex, fragment) = (ShaderStage::Vertex, ShaderStage::Fragment);
    assert_eq!(find("gl_TexCoord", V110, &[], vertex).1, "vec4[]");
    assert_eq!(find("gl_FragData", V110, &[], fragment).1, "vec4[8]");
    assert_eq!(find("gl_FragData", ES100, &[], fragment).1, "vec4[1]");
    assert_eq!(find("gl_FragData", ES100, &[E::EXTDrawBuffers], fragment).1, "vec4[8]");
    assert_eq!(find("gl_LightSource", V120, &[], vertex).1, "gl_LightSourceParameters[8]");
    assert_eq!(find("gl_MaxComputeWorkGroupSize", ES300, &[], fragment).1, "");
    let Found::Variable { variable, .. } = find("gl_TexCoord", V110, &[], vertex).0 else { panic!() };
    assert_eq!(variable.max_length(V110, &Extensions::default(), &ConstantValues::default()), Some(8));
    assert!(variable.is_redeclarable());
}

#[test]
fn structs_are_one_type() {
    let (mut types, mut interner) = (Types::new(), Interner::new());
    let mut type_of = |name| {
        let none = Extensions::default();
        match lookup(name, V110, &none, ShaderStage::Vertex, &ConstantValues::default(), &mut types, &mut interner) {
            Found::Variable { ty, .. } => ty,
            found => panic!("{found:?}"),
        }
    };
    let (front, back) = (type_of("gl_FrontMaterial"), type_of("gl_BackMaterial"));
    assert_eq!(front, back);
    assert!(matches!(types.get(front), TypeData::Struct(_)));
    assert_eq!(types.summary(front).registers, 5);
}

#[test]
fn state_has_initial_values() {
    let registers = |name: &str, element| {
        let Found::Variable { variable, .. } = find(name, V110, &[], ShaderStage::Vertex).0 else { panic!() };
        variable.initial_registers(element)
    };
    assert_eq!(registers("gl_NormalMatrix", 0).len(), 3);
    assert_eq!(registers("gl_ModelViewMatrix", 0)[2], [0.0, 0.0, 1.0, 0.0]);
    assert_eq!(registers("gl_Fog", 0)[1], [1.0, 0.0, 1.0, 1.0]);
    assert_eq!(registers("gl_LightSource", 0)[1], WHITE);
    assert_eq!(registers("gl_LightSource", 1)[1], [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(registers("gl_LightSource", 1)[5], [0.0, 0.0, -1.0, -1.0]);
    let light = registers("gl_LightSource", 1);
    assert_eq!((light.len(), light[6], light[7][0]), (8, [1.0, 0.0, 0.0, 0.0], 180.0));
    let find = |name: &str| match find(name, V110, &[], ShaderStage::Vertex).0 {
        Found::Variable { variable, .. } => variable,
        found => panic!("{name}: {found:?}"),
    };
    assert!(find("gl_Fog") < find("gl_LightSource") && find("gl_LightSource") < find("gl_ModelViewMatrix"));
    for data in state::STRUCTS {
        for field in data.fields {
            assert!(field.register < data.registers && field.component + field.components <= 4, "{}", field.name);
        }
    }
}

const WHITE: [f32; 4] = [1.0; 4];

#[test]
fn constants_of_a_target_replace_those_of_the_specification() {
    let mut constants = ConstantValues::default();
    for (name, value) in [("gl_MaxDrawBuffers", 2), ("gl_MaxDrawBuffers", 4), ("gl_MaxVaryingFloats", 40)] {
        constants.set(name, value).unwrap();
    }
    let (mut types, mut interner) = (Types::new(), Interner::new());
    let found = lookup(
        "gl_FragData",
        V110,
        &Extensions::default(),
        ShaderStage::Fragment,
        &constants,
        &mut types,
        &mut interner,
    );
    let Found::Variable { ty, .. } = found else { panic!("{found:?}") };
    assert_eq!(types.name(ty, &interner), "vec4[4]");
    let problem = |name, value| ConstantValues::default().set(name, value).unwrap_err();
    assert_eq!(problem("gl_MaxLight", 8), "the language has no constant `gl_MaxLight`, did you mean `gl_MaxLights`?");
    assert_eq!(problem("gl_MaxLights", 0), "`gl_MaxLights` is from 1 to 8");
    assert_eq!(problem("gl_MaxVertexAttribs", -1), "`gl_MaxVertexAttribs` is from 0 to 65536");
    assert!(problem("gl_MaxComputeWorkGroupSize", 1).starts_with("the language has no constant"));
}
