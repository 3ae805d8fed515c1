//! Tests of `fit --lines`.

use std::collections::BTreeMap;

use crate::common::{FRAG, Folder, tgsic};
use pretty_assertions::assert_eq;
use serde_json::Value;

const GLOW: &str = "#version 120\nuniform sampler2D image;\nuniform vec2 pixel;\nvarying vec2 at;\n\n\
                    vec4 soft(vec2 to) {\n    vec4 sum = vec4(0.0);\n    for (int i = -1; i <= 1; i++)\n        \
                    sum += texture2D(image, to + float(i) * pixel);\n    return sum / 3.0;\n}\n\nvoid main() {\n    \
                    vec4 base = texture2D(image, at);\n    float light = dot(base.rgb, vec3(0.3, 0.6, 0.1));\n    \
                    gl_FragColor = mix(base, soft(at), light);\n}\n";
const VERTEX: &str = "#version 120\nuniform mat4 bones[4];\nattribute vec4 place;\nattribute float which;\n\
                      void main() {\n    gl_Position = bones[int(which)] * place;\n    gl_FrontColor = fract(place);\n}\n";

/// The part of the output after the counts.
fn listing(text: &str) -> &str {
    text.split_once("\n\n").expect("an empty line").1
}

#[test]
fn lines_show_their_instructions() {
    let folder = Folder::with(&[("glow.frag", GLOW), ("a.tgsi", FRAG)]);
    let output = folder.run(&["fit", "--target", "r300", "--lines", "glow.frag"]).success();
    assert!(output.text().starts_with("glow.frag (translated for r300): FRAG fits r300\n  ALU instructions  "));
    let expected = "\
alu  texture
               1  #version 120
               2  uniform sampler2D image;
               3  uniform vec2 pixel;
               4  varying vec2 at;
               5
               6  vec4 soft(vec2 to) {
               7      vec4 sum = vec4(0.0);
               8      for (int i = -1; i <= 1; i++)
  5        3   9          sum += texture2D(image, to + float(i) * pixel);
              10      return sum / 3.0;
              11  }
              12
              13  void main() {
           1  14      vec4 base = texture2D(image, at);
  1           15      float light = dot(base.rgb, vec3(0.3, 0.6, 0.1));
  2           16      gl_FragColor = mix(base, soft(at), light);
              17  }
  8        4      total

";
    assert_eq!(listing(output.text()), expected);
    // TGSI and its tokens have the same instructions; positions in tokens are those of the translation.
    let text = folder.run(&["fit", "--target", "nv40", "--as-is", "--lines", "a.tgsi"]).success();
    let expected = "\
alu  texture  instruction-slots
                                 1  FRAG
                                 2  DCL IN[0], GENERIC[0], PERSPECTIVE
                                 3  DCL OUT[0], COLOR
                                 4  DCL TEMP[0]
  1                           1  5  ADD TEMP[0], IN[0], IN[0]
  1                           1  6  MOV OUT[0], TEMP[0]
                              1  7  END
  2        0                  3     total

";
    // The end of the program takes a slot.
    assert_eq!(listing(text.text()), expected);
    let tokens = folder.run(&["encode", "a.tgsi"]).stdout;
    folder.write("a.tok", &tokens);
    let tokens = folder.run(&["fit", "--target", "nv40", "--lines", "a.tok"]).success();
    assert!(tokens.text().contains("ADD OUT[0], IN[0], IN[0]"), "{}", tokens.text());
    let ir = folder.run(&["ir", "glow.frag"]).stdout;
    folder.write("glow.nir", &ir);
    let ir = folder.run(&["fit", "--target", "r300", "--lines", "glow.nir"]).success();
    assert!(ir.text().lines().any(|line| line.starts_with("  1 ") && line.contains(" = fdot3 ")), "{}", ir.text());
    assert!(ir.text().ends_with("  8        4      total\n\n"), "{}", ir.text());
}

/// The lines of all targets, and in all units, add up to the amount used.
#[test]
fn lines_add_up_to_the_counts() {
    let folder = Folder::with(&[("glow.frag", GLOW), ("skin.vert", VERTEX), ("a.tgsi", FRAG)]);
    let ir = folder.run(&["ir", "skin.vert"]).stdout;
    folder.write("skin.nir", &ir);
    let targets = "i915,r300,r400,r500,nv30,nv40,vgpu9,svga,virgl,softpipe";
    let files = ["glow.frag", "skin.vert", "a.tgsi", "skin.nir"];
    let output = folder.run(&[&["fit", "--json", "--lines", "--target", targets][..], &files].concat()).success();
    let mut shaders = 0;
    for object in output.text().lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")) {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        let lines = object["lines"].as_array().expect("lines");
        for line in lines {
            for (name, count) in line["counts"].as_object().expect("counts") {
                *sums.entry(name).or_default() += count.as_u64().expect("a count");
            }
        }
        let numbers: Vec<Option<u64>> = lines.iter().map(|line| line["line"].as_u64()).collect();
        let known: Vec<u64> = numbers.iter().copied().flatten().collect();
        assert!(known.is_sorted() && !known.is_empty(), "{object}");
        assert!(numbers.iter().rev().skip(1).all(Option::is_some), "{object}");
        let limits = object["translated"]["limits"].as_array().expect("limits");
        let units = ["alu-instructions", "texture-instructions", "instructions", "instruction-slots"];
        let counted = limits.iter().filter(|limit| units.contains(&limit["name"].as_str().expect("a name")));
        for limit in counted {
            let sum = sums.get(limit["name"].as_str().expect("a name")).copied().unwrap_or(0);
            assert_eq!(Some(sum), limit["used"].as_u64(), "{} {}: {}", object["f"], object["target"], limit["name"]);
        }
        shaders += 1;
    }
    assert_eq!(shaders, 40);
    // Only the option adds them.
    let without = tgsic(&["fit", "--json", "--target", "r300"], FRAG).success();
    assert!(!without.text().contains("\"lines\""));
    // A listing for each target follows the matrix.
    let several = folder.run(&["fit", "--lines", "--target", "r300,nv40", "a.tgsi"]).success();
    let text = several.text();
    assert!(text.starts_with("shader  r300        nv40\n") && text.matches("\nalu  texture").count() == 2, "{text}");
}

/// The listing in the documentation is that of its source.
#[test]
fn the_documented_listing_is_real() {
    let page = include_str!("../../../docs/fit.md");
    let command = "$ tgsic fit --target r300 --lines glow.frag\n...\n";
    let (_, documented) = page.split_once(command).expect("the example");
    let (documented, _) = documented.split_once("```").expect("the end of the example");
    // Columns of 3 and 7 characters, and the line number.
    let source = documented.lines().skip(1).filter(|line| !line.ends_with("  total"));
    let source: String = source.map(|line| line.get(18..).unwrap_or_default().to_owned() + "\n").collect();
    let folder = Folder::with(&[("glow.frag", &source)]);
    let output = folder.run(&["fit", "--target", "r300", "--lines", "glow.frag"]).success();
    assert_eq!(listing(output.text()).trim_end(), documented.trim_end());
}
