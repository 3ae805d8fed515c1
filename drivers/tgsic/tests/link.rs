//! Tests `link`: translating the shaders of a pipeline together.

use crate::common::{Folder, demo_shaders};

const VERTEX: &str = "VERT\nDCL IN[0..1]\nDCL OUT[0], POSITION\nDCL OUT[1].xy, GENERIC[3]\nDCL OUT[2].xy, \
                      GENERIC[7]\nDCL OUT[3], GENERIC[9]\nMOV OUT[0], IN[0]\nMOV OUT[1].xy, IN[1]\nMOV OUT[2].xy, \
                      IN[1].zwzw\nMOV OUT[3], IN[0]\nEND\n";
const FRAGMENT: &str = "FRAG\nDCL IN[0].xy, GENERIC[7], PERSPECTIVE\nDCL IN[1].xy, GENERIC[3], PERSPECTIVE\nDCL \
                        OUT[0], COLOR\nMUL OUT[0], IN[0].xyxy, IN[1].xyyx\nEND\n";

fn folder() -> Folder {
    Folder::with(&[("a.vert", VERTEX), ("b.frag", FRAGMENT)])
}

#[test]
fn text_goes_to_standard_output_in_the_order_of_the_pipeline() {
    let output = folder().run(&["link", "b.frag", "a.vert"]).success();
    let text = output.text();
    let (vertex, fragment) = (text.find("; VERT a.vert\n").expect("VERT"), text.find("; FRAG b.frag\n").expect("FRAG"));
    assert!(vertex < fragment, "{text}");
    // Exactly four components, which share a slot.
    assert_eq!(text.matches("GENERIC[0]").count() + text.matches(", GENERIC\n").count(), 2, "{text}");
    assert!(!text.contains("GENERIC[9]"), "{text}");
}

#[test]
fn results_go_to_files() {
    let folder = folder();
    let output = folder.run(&["link", "a.vert", "b.frag", "-o", "out", "--driver", "spirv"]).success();
    assert_eq!(output.text(), "");
    assert_eq!(folder.list("out"), ["a.spv", "b.spv"]);
    assert_eq!(folder.read("out/a.spv")[..4], [3, 2, 0x23, 7]);
    folder.run(&["link", "a.vert", "b.frag", "-o", "text", "--driver", "spirv", "--assembly"]).success();
    assert_eq!(folder.list("text"), ["a.asm", "b.asm"]);
    assert!(String::from_utf8_lossy(&folder.read("text/b.asm")).contains("OpEntryPoint Fragment"));
}

#[test]
fn both_sides_have_the_same_locations() {
    let output = folder().run(&["link", "a.vert", "b.frag", "--driver", "spirv", "--reflect"]).success();
    let lines: Vec<serde_json::Value> =
        output.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let [vertex, fragment] = &lines[..] else { panic!("{lines:?}") };
    let locations = |list: &serde_json::Value| -> Vec<u64> {
        list.as_array().expect("a list").iter().filter_map(|varying| varying["location"].as_u64()).collect()
    };
    assert_eq!((locations(&vertex["outputs"]), locations(&fragment["inputs"])), (vec![0], vec![0]));
}

#[test]
fn json_says_what_changed() {
    let output = folder().run(&["link", "a.vert", "b.frag", "--json"]).success();
    let summary: serde_json::Value = serde_json::from_str(output.text()).expect("JSON");
    let link = &summary["links"][0];
    assert_eq!((&link["slots_before"], &link["slots_after"], &link["removed"]), (&2.into(), &1.into(), &4.into()));
    assert_eq!((&summary["shaders"][0]["f"], &summary["shaders"][1]["stage"]), (&"a.vert".into(), &"FRAG".into()));
}

#[test]
fn what_is_kept_stays() {
    let output = folder().run(&["link", "a.vert", "b.frag", "--keep", "3"]).success();
    assert!(output.text().contains("DCL OUT[3], GENERIC"), "{}", output.text());
    // Outputs captured by stream output are kept without being named.
    let options = ["--driver", "spirv", "--assembly", "--stream-output", "OUT[3].x->0@0/4"];
    let arguments: Vec<&str> = ["link", "a.vert", "b.frag"].into_iter().chain(options).collect();
    let output = folder().run(&arguments).success();
    assert!(output.text().contains("XfbStride 4"), "{}", output.text());
}

#[test]
fn wrong_pipelines_are_wrong_usage() {
    let folder = folder();
    for (files, message) in [
        (&["a.vert", "a.vert"][..], "two vertex shaders"),
        (&["a.vert", "c.comp"], "compute shaders cannot be linked"),
        (&["b.frag", "c.tesc"], "a tessellation evaluation shader is required between them"),
    ] {
        folder.write("c.comp", b"COMP\nEND\n");
        folder.write("c.tesc", b"TESS_CTRL\nPROPERTY TCS_VERTICES_OUT 3\nEND\n");
        let arguments: Vec<&str> = ["link"].into_iter().chain(files.iter().copied()).collect();
        let output = folder.run(&arguments);
        assert_eq!(output.status, 2, "{files:?}");
        assert!(output.stderr.contains(message), "{files:?}: {}", output.stderr);
    }
    let virgl = folder.run(&["link", "a.vert", "b.frag", "--dialect", "virgl"]);
    assert!(virgl.status == 2 && virgl.stderr.contains("keeps declarations"), "{}", virgl.stderr);
}

#[test]
fn errors_name_their_file() {
    let folder = folder();
    folder.write("wrong.frag", b"FRAG\nDCL OUT[0], COLOR\nMOV OUT[0], TEMP[3]\nEND\n");
    let output = folder.run(&["link", "a.vert", "wrong.frag"]);
    assert_eq!(output.status, 1);
    assert!(output.stderr.contains("wrong.frag:3:"), "{}", output.stderr);
    folder.write("handle.frag", b"FRAG\nDCL IN[0], GENERIC[3], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[0][0]\nTEX OUT[0], IN[0], CONST[0][0], 2D\nEND\n");
    let output = folder.run(&["link", "a.vert", "handle.frag", "--driver", "spirv"]);
    assert_eq!(output.status, 1);
    assert!(output.stderr.contains("handle.frag:5:1") && output.stderr.contains("hint:"), "{}", output.stderr);
}

#[test]
fn demo_shaders_link() {
    let shaders = demo_shaders();
    let named = |name: &str| shaders.iter().find(|path| path.ends_with(name)).expect("a demo shader").clone();
    let arguments = ["link".into(), named("transform.tgsi"), named("blur.tgsi")];
    Folder::new().run(&arguments).success();
}
