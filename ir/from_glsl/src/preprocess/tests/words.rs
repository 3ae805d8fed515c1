//! Keywords and reserved words.

use super::*;
use crate::keyword::Keyword;

/// Whether a word is a keyword (`k`), reserved (`r`) or a name (`n`) in a version.
fn kind(version: &str, extension: &str, word: &str) -> char {
    let enable = if extension.is_empty() { String::new() } else { format!("#extension {extension} : require\n") };
    let text = format!("#version {version}\n{enable}{word}");
    let (mut interner, mut findings) = (Interner::new(), Findings::default());
    let result = preprocess(text.as_bytes(), &GlslOptions::default(), &mut interner, &mut findings);
    let names: Vec<_> = findings.into_vec().iter().map(|finding| finding.code.name).collect();
    match (result.tokens.tokens.first().map(|token| token.kind), names.as_slice()) {
        (Some(TokenKind::Keyword(_)), []) => 'k',
        (Some(TokenKind::Identifier), ["reserved-word"]) => 'r',
        (Some(TokenKind::Identifier), []) => 'n',
        _ => '?',
    }
}

/// The kinds of a word in 1.10, 1.20, 1.30, 1.40, 4.00, 4.30, 1.00 es, 3.00 es, 3.10 es and 3.20 es.
fn kinds(word: &str) -> String {
    let versions = ["110", "120", "130", "140", "400", "430", "100", "300 es", "310 es", "320 es"];
    versions.iter().map(|version| kind(version, "", word)).collect()
}

#[test]
fn words_change_their_meaning() {
    for (word, expected) in [
        ("float", "kkkkkkkkkk"),
        ("attribute", "kkkkkkkrrr"),
        ("centroid", "nkkkkknkkk"),
        ("lowp", "nrkkkkkkkk"),
        ("smooth", "nnkkkknkkk"),
        ("flat", "nnkkkkrkkk"),
        ("noperspective", "nnkkkknrrr"),
        ("switch", "rrkkkkrkkk"),
        ("case", "nnkkkknkkk"),
        ("uint", "nnkkkknkkk"),
        ("layout", "nnnkkknkkk"),
        ("sample", "nnnnkknrrk"),
        ("patch", "nnnnkknrrk"),
        ("precise", "nnnnkknnrk"),
        ("subroutine", "nnnnkknrrr"),
        ("shared", "nnnnnknnkk"),
        ("buffer", "nnnnnknnkk"),
        ("coherent", "nnnnnknrkk"),
        ("volatile", "rrrrrkrrkk"),
        ("packed", "rrrnnnrnnn"),
        ("row_major", "nnrnnnnnnn"),
        ("double", "rrrrkkrrrr"),
        ("dmat2", "nnnnkknrrr"),
        ("half", "rrrrrrrrrr"),
        ("superp", "nnrrrrrrrr"),
        ("filter", "nnrrrrnrrr"),
        ("resource", "nnnnnrnrrr"),
        ("sampler1D", "kkkkkkrrrr"),
        ("sampler2DRect", "kkkkkkrrrr"),
        ("sampler3D", "kkkkkkrkkk"),
        ("sampler2DMS", "nnnnkknrkk"),
        ("samplerBuffer", "nnrkkknrrk"),
        ("image2D", "nnrrrknrkk"),
        ("imageBuffer", "nnrrrknrrk"),
        ("image1D", "nnrrrknrrr"),
        ("image2DShadow", "nnrrrnnnnn"),
        ("texture", "nnnnnnnnnn"),
        ("demote", "nnnnnnnnnn"),
    ] {
        assert_eq!(kinds(word), expected, "{word}");
    }
}

#[test]
fn extensions_add_keywords() {
    for (version, extension, word) in [
        ("110", "GL_EXT_gpu_shader4", "unsigned"),
        ("110", "GL_EXT_gpu_shader4", "centroid"),
        ("110", "GL_EXT_gpu_shader4", "usampler2DRect"),
        ("120", "GL_ARB_uniform_buffer_object", "layout"),
        ("120", "GL_EXT_texture_array", "sampler2DArray"),
        ("150", "GL_ARB_gpu_shader5", "sample"),
        ("150", "GL_ARB_tessellation_shader", "patch"),
        ("150", "GL_ARB_gpu_shader_fp64", "dmat4x3"),
        ("150", "GL_ARB_gpu_shader_int64", "u64vec3"),
        ("330", "GL_ARB_compute_shader", "shared"),
        ("330", "GL_ARB_shader_storage_buffer_object", "buffer"),
        ("100", "GL_OES_EGL_image_external", "samplerExternalOES"),
        ("100", "GL_OES_texture_3D", "sampler3D"),
        ("100", "GL_EXT_shadow_samplers", "sampler2DShadow"),
        ("310 es", "GL_EXT_texture_cube_map_array", "imageCubeArray"),
        ("310 es", "GL_ANDROID_extension_pack_es31a", "patch"),
    ] {
        assert_ne!(kind(version, "", word), 'k', "{version} {word}");
        assert_eq!(kind(version, extension, word), 'k', "{version} {extension} {word}");
    }
    assert_eq!(kind("130", "GL_ARB_uniform_buffer_object", "packed"), 'n');
    assert_eq!(kind("130", "GL_ARB_uniform_buffer_object", "row_major"), 'n');
}

#[test]
fn a_removed_word_is_reserved() {
    for &keyword in Keyword::ALL {
        assert_eq!(run(&format!("#define {0} x\n{0}", keyword.name())), ("x".to_owned(), vec![]));
    }
}
