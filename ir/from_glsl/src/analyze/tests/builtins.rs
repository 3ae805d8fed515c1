//! Functions and variables of the language: versions, stages, profiles, outputs.

use super::*;

#[test]
fn instances_have_an_extension() {
    let text = "#version 120\n#extension GL_ARB_draw_instanced : require\nvoid main() { gl_Position = \
    vec4(float(gl_InstanceID + gl_InstanceIDARB)); }";
    clean(Vertex, &[text]);
    only("needs-version", Vertex, &["#version 120\nvoid main() { gl_Position = vec4(float(gl_InstanceID)); }"]);
}

#[test]
fn colours_exclude_each_other() {
    only(
        "both-outputs",
        Fragment,
        &[
            "void main() { gl_FragColor = vec4(1.0); gl_FragData[0] = vec4(1.0); }",
            "#version 130\nout vec4 c; void main() { gl_FragColor = vec4(1.0); c = vec4(1.0); }",
        ],
    );
    clean(Fragment, &["void main() { gl_FragData[0] = vec4(1.0); gl_FragData[1] = vec4(1.0); }"]);
}

#[test]
fn old_names_are_warnings_in_the_core_profile() {
    only("deprecated", Fragment, &["#version 330\nvoid main() { gl_FragColor = vec4(1.0); }"]);
    only(
        "deprecated",
        Fragment,
        &["#version 330\nuniform sampler2D s; void main() { vec4 a = texture2D(s, vec2(0.0)); }"],
    );
    only(
        "needs-version",
        Fragment,
        &["#version 300 es\nprecision mediump float; void main() { gl_FragColor = vec4(1.0); }"],
    );
}

#[test]
fn fixed_function_names_need_the_compatibility_profile() {
    let text =
        |version: &str| format!("#version {version}\nvoid main() {{ gl_Position = gl_ModelViewMatrix * gl_Vertex; }}");
    assert_eq!(codes(&text("150"), Vertex), ["needs-version", "needs-version"]);
    clean(Vertex, &[&text("140"), &text("150 compatibility"), &text("110")]);
    clean(
        Vertex,
        &[
            "void main() { gl_Position = ftransform(); }",
            "void main() { gl_FogParameters a = gl_Fog; gl_Position = a.color; }",
        ],
    );
}

#[test]
fn lookups_depend_on_the_stage() {
    let unit = |text: &str| format!("uniform sampler2D s; void main() {{ vec4 a = {text}; }}");
    clean(Vertex, &[&unit("texture2D(s, vec2(0.0))"), &unit("texture2DLod(s, vec2(0.0), 1.0)")]);
    only("no-overload", Vertex, &[&unit("texture2D(s, vec2(0.0), 1.0)")]);
    clean(Fragment, &[&unit("texture2D(s, vec2(0.0), 1.0)")]);
    let found = check_unit(&unit("texture2DLod(s, vec2(0.0), 1.0)"), Fragment);
    assert!(found.iter().any(|finding| finding.is_error()), "{found:?}");
    clean(
        Fragment,
        &[&format!("#extension GL_ARB_shader_texture_lod : require\n{}", unit("texture2DLod(s, vec2(0.0), 1.0)"))],
    );
    only("wrong-stage", Vertex, &["void main() { float a = dFdx(1.0); }"]);
}

#[test]
fn rectangles_need_no_directive() {
    clean(Fragment, &["uniform sampler2DRect s; void main() { gl_FragColor = texture2DRect(s, vec2(0.0)); }"]);
    let disabled = "#extension GL_ARB_texture_rectangle : disable\nuniform sampler2DRect s;";
    assert!(check_unit(disabled, Fragment).iter().any(|finding| finding.is_error()));
}

#[test]
fn later_functions_name_their_version() {
    assert_eq!(
        findings("void main() {\n    float a = round(1.0);\n}\n"),
        ["2:15 G0312 `round` is not in version 1.10 (needs #version 130 or GL_EXT_gpu_shader4)"]
    );
}

#[test]
fn missing_precisions_of_old_units_have_a_remedy() {
    let found = check_unit("precision mediump float;\nvoid main() { }", Fragment);
    assert!(found.iter().any(|finding| finding.is_error()), "{found:?}");
    assert!(found.iter().any(|finding| finding.hint.as_ref().is_some_and(|hint| hint.contains("100"))), "{found:?}");
}

/// The IR of a unit.
fn ir(text: &str, stage: ShaderStage) -> tgsi_ir::shader::Shader {
    let compiled = crate::compile(text.as_bytes(), stage, &GlslOptions::default());
    compiled.module.unwrap_or_else(|| panic!("{:#?}", compiled.findings)).shader
}

#[test]
fn the_fixed_transform_is_a_product() {
    let [fixed, product] = ["ftransform()", "gl_ModelViewProjectionMatrix * gl_Vertex"]
        .map(|text| tgsi_ir::text::print(&ir(&format!("void main() {{ gl_Position = {text}; }}"), Vertex)));
    assert_eq!(fixed, product);
}

#[test]
fn layouts_of_the_shader_are_in_the_ir() {
    let text = "#version 420 compatibility\nlayout(early_fragment_tests) in; layout(depth_less) out float \
    gl_FragDepth;\n\
                layout(origin_upper_left, pixel_center_integer) in vec4 gl_FragCoord;\n\
                void main() { gl_FragColor = gl_FragCoord; gl_FragDepth = 0.5; }";
    let fs = ir(text, Fragment).info.fs;
    assert!(fs.origin_upper_left && fs.pixel_center_integer && fs.early_fragment_tests);
    assert_eq!(fs.depth_layout, 3);
}

#[test]
fn extensions_add_names() {
    clean(Vertex, &["#extension GL_NV_viewport_array2 : require\nvoid main() { gl_ViewportMask[0] = 1; }"]);
    clean(
        Fragment,
        &["#extension GL_ARB_texture_multisample : require\n#extension GL_EXT_shader_samples_identical : require\n\
           uniform sampler2DMS s; void main() { bool a = textureSamplesIdenticalEXT(s, ivec2(1)); }"],
    );
    clean(
        Fragment,
        &["#version 130\n#extension GL_AMD_shader_trinary_minmax : require\n\
           void main() { vec2 a = mid3(vec2(1.0), vec2(2.0), vec2(3.0)); int b = min3(1, 2, 3) + max3(1, 2, 3); }"],
    );
}

#[test]
fn arrays_of_the_language_have_a_largest_length() {
    let unit = |text: &str| format!("#version 120\n{text} void main() {{ vec4 a = gl_TexCoord[1]; }}");
    clean(Fragment, &[&unit(""), &unit("varying vec4 gl_TexCoord[8];"), &unit("varying vec4 gl_TexCoord[];")]);
    clean(Fragment, &[&unit("varying vec4 gl_TexCoord[]; varying vec4 gl_TexCoord[4];")]);
    only("glsl-limit", Fragment, &[&unit("varying vec4 gl_TexCoord[gl_MaxTextureCoords + 1];")]);
    only(
        "redeclared",
        Fragment,
        &[
            &unit("varying vec4 gl_TexCoord[4]; varying vec4 gl_TexCoord[4];"),
            &unit("varying vec4 gl_TexCoord[4]; varying vec4 gl_TexCoord[5];"),
            &unit("varying vec4 gl_TexCoord[4]; varying vec4 gl_TexCoord[];"),
        ],
    );
    only(
        "index-range",
        Fragment,
        &[
            &unit("void f() { vec4 b = gl_TexCoord[5]; } varying vec4 gl_TexCoord[5];"),
            &unit("varying vec4 gl_TexCoord[1];"),
            "void main() { vec4 a = gl_TexCoord[8]; }",
            "void main() { vec4 a = gl_TexCoord[gl_MaxTextureCoords]; }",
            "void main() { gl_FragData[8] = vec4(1.0); }",
        ],
    );
    only("glsl-limit", Vertex, &["#version 130\nout float gl_ClipDistance[9];"]);
    only("index-range", Vertex, &["#version 130\nvoid main() { gl_ClipDistance[8] = 1.0; }"]);
}

#[test]
fn extensions_add_levels_of_comparisons() {
    let unit = |extension: &str, text: &str| {
        format!(
            "#version 400\n#extension {extension} : enable\nuniform sampler2DArrayShadow a; uniform samplerCubeShadow c; \
             uniform samplerCubeArrayShadow d; void main() {{ float f = {text}; }}"
        )
    };
    let all = [
        "texture(a, vec4(0.0), 1.0)",
        "texture(d, vec4(0.0), 0.5, 1.0)",
        "textureLod(a, vec4(0.0), 1.0)",
        "textureLod(c, vec4(0.0), 1.0)",
        "textureLod(d, vec4(0.0), 0.5, 1.0)",
        "textureLodOffset(a, vec4(0.0), 1.0, ivec2(1))",
        "textureOffset(a, vec4(0.0), ivec2(1), 1.0)",
    ];
    for text in all {
        clean(Fragment, &[&unit("GL_EXT_texture_shadow_lod", text)]);
        only("no-overload", Fragment, &[&unit("GL_ARB_texture_gather", text)]);
    }
}

#[test]
fn helpers_are_known_after_demotion() {
    let unit = |extension: &str| {
        format!("#version 330\n{extension}\nout vec4 c; void main() {{ c = vec4(helperInvocationEXT()); }}")
    };
    clean(Fragment, &[&unit("#extension GL_EXT_demote_to_helper_invocation : require")]);
    assert_eq!(codes(&unit(""), Fragment), ["needs-version"]);
}
