//! Tests `draw`: pictures, and errors.

use crate::common::{FRAG, Folder};
use pretty_assertions::assert_eq;

/// Red grows with u, green with v; blue is a constant.
const GRADIENT: &str = "FRAG\nDCL IN[0], TEXCOORD[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[0][0..1]\n\
    MOV OUT[0].xy, IN[0]\nMOV OUT[0].zw, CONST[0][1]\nEND\n";
/// Scales positions by a constant; passes the normal on.
const VERTEX: &str = "VERT\nDCL IN[0]\nDCL IN[1]\nDCL OUT[0], POSITION\nDCL OUT[1], TEXCOORD[0]\nDCL CONST[0][0]\n\
    MUL OUT[0].xyz, IN[0], CONST[0][0].xxxx\nMOV OUT[0].w, IN[0]\nMOV OUT[1], IN[1]\nEND\n";
const TRIANGLE: &str = "v 0 0 0\nv 4 0 0\nv 0 4 0\nf 1 2 3\n";

/// Returns the frames of a PNG, with its width.
fn frames(bytes: &[u8]) -> (usize, Vec<Vec<u8>>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG");
    let count = reader.info().animation_control().map_or(1, |animation| animation.num_frames);
    let size = reader.output_buffer_size().expect("a size");
    let frame = |_| {
        let mut pixels = vec![0; size];
        reader.next_frame(&mut pixels).expect("a frame");
        pixels
    };
    let frames = (0..count).map(frame).collect();
    (reader.info().width as usize, frames)
}

fn pixel((width, frames): &(usize, Vec<Vec<u8>>), frame: usize, x: usize, y: usize) -> [u8; 4] {
    let start = 4 * (y * width + x);
    std::array::from_fn(|c| frames[frame][start + c])
}

#[test]
fn fragment_shader_fills_the_picture() {
    let folder = Folder::with(&[("f.tgsi", GRADIENT)]);
    let draw = ["draw", "--fragment", "f.tgsi", "--size", "8x4", "--const", "1=0,0,0.2,0.6", "-o", "p.png"];
    folder.run(&draw).success();
    let picture = frames(&folder.read("p.png"));
    // Row 0 is the top, where v is almost 1.
    assert_eq!(pixel(&picture, 0, 0, 0), [16, 223, 51, 255]);
    assert_eq!(pixel(&picture, 0, 7, 3), [239, 32, 51, 255]);
    folder.run(&[&draw[..], &["--alpha"]].concat()).success();
    assert_eq!(pixel(&frames(&folder.read("p.png")), 0, 0, 0), [16, 223, 51, 153]);
    // All executors draw the same picture.
    for via in ["tgsi", "ir", "ssa", "registers", "driver:tgsi"] {
        folder.run(&[&draw[..], &["--via", via, "--alpha"]].concat()).success();
        assert_eq!(pixel(&frames(&folder.read("p.png")), 0, 0, 0), [16, 223, 51, 153], "{via}");
    }
}

#[test]
fn vertex_shader_moves_a_mesh() {
    let folder = Folder::with(&[("f.tgsi", GRADIENT), ("v.tgsi", VERTEX), ("m.obj", TRIANGLE)]);
    let draw = [
        "draw",
        "--vertex",
        "v.tgsi",
        "--fragment",
        "f.tgsi",
        "--mesh",
        "m.obj",
        "--attributes",
        "position,normal",
        "--const",
        "vertex:0=0.25",
        "--const",
        "fragment:1=0,0,1,1",
        "--size",
        "16x16",
        "--background",
        "102030ff",
        "-o",
        "p.png",
    ];
    folder.run(&draw).success();
    let picture = frames(&folder.read("p.png"));
    // The triangle is the upper right half of the upper right quarter; its normal is (0, 0, 1).
    assert_eq!(pixel(&picture, 0, 8, 7), [0, 0, 255, 255]);
    assert_eq!(pixel(&picture, 0, 14, 2), [16, 32, 48, 255]);
    assert_eq!(pixel(&picture, 0, 7, 8), [16, 32, 48, 255]);
    // Without a vertex shader, the triangle is scaled to fill the picture.
    let draw =
        ["draw", "--fragment", "f.tgsi", "--mesh", "m.obj", "--size", "16x16", "--const", "1=0,0,1,1", "-o", "p.png"];
    folder.run(&draw).success();
    assert_eq!(pixel(&frames(&folder.read("p.png")), 0, 1, 14), [0, 0, 255, 255]);
}

#[test]
fn textures_are_looked_up() {
    let shader = "FRAG\nDCL IN[0], TEXCOORD[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL SAMP[0]\nDCL SVIEW[0], 2D, FLOAT\n\
        TEX OUT[0], IN[0], SAMP[0], 2D\nEND\n";
    let folder = Folder::with(&[("f.tgsi", GRADIENT), ("t.tgsi", shader)]);
    folder.run(&["draw", "--fragment", "f.tgsi", "--size", "4x4", "-o", "gradient.png"]).success();
    let draw = ["draw", "--fragment", "t.tgsi", "--size", "4x4", "-o", "p.png", "--texture", "0=gradient.png,nearest"];
    folder.run(&draw).success();
    assert_eq!(frames(&folder.read("p.png")), frames(&folder.read("gradient.png")));
}

#[test]
fn frames_have_their_times() {
    let folder = Folder::with(&[("f.tgsi", GRADIENT)]);
    let draw = [
        "draw",
        "--fragment",
        "f.tgsi",
        "--size",
        "2x2",
        "--time",
        "1.z",
        "--frames",
        "3",
        "--fps",
        "2",
        "-o",
        "p.png",
    ];
    folder.run(&draw).success();
    let picture = frames(&folder.read("p.png"));
    assert_eq!([0, 1, 2].map(|frame| pixel(&picture, frame, 0, 0)[2]), [0, 128, 255]);
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let endless =
        "FRAG\nDCL OUT[0], COLOR\nIMM FLT32 {1.0, 1.0, 1.0, 1.0}\nMOV OUT[0], IMM[0]\nBGNLOOP\nENDLOOP\nEND\n";
    let folder = Folder::with(&[("f.tgsi", FRAG), ("v.tgsi", VERTEX), ("e.tgsi", endless), ("m.obj", "v 0 0 0\n")]);
    let output = folder.run(&["draw", "--fragment", "e.tgsi", "--size", "2x2", "-o", "p.png"]);
    assert_eq!(output.status, 1);
    assert!(output.stderr.contains("a part of the picture was not drawn"), "{}", output.stderr);
    assert_eq!(pixel(&frames(&folder.read("p.png")), 0, 0, 0), [0, 0, 0, 255]);
    let wrong: [(&[&str], i32, &str); 5] = [
        (&["--fragment", "v.tgsi"], 1, "expected a FRAG shader, found VERT"),
        (&["--fragment", "f.tgsi", "--vertex", "f.tgsi"], 1, "expected a VERT shader, found FRAG"),
        (&["--fragment", "f.tgsi", "--mesh", "m.obj"], 2, "m.obj: the mesh has no triangles"),
        (&["--fragment", "f.tgsi", "--texture", "0=m.obj"], 2, "m.obj: not a PNG"),
        (&["--fragment", "f.tgsi", "--const", "q=1"], 2, "expected 3 or 1/3"),
    ];
    for (arguments, status, message) in wrong {
        let output = folder.run(&[&["draw", "-o", "none.png"], arguments].concat());
        assert_eq!(output.status, status);
        assert!(output.stderr.contains(message), "{}", output.stderr);
        assert!(!folder.path("none.png").exists());
    }
}

#[test]
fn picture_is_that_of_the_readme() {
    let folder = Folder::new();
    let shader = crate::common::repository().join("fixtures/demo/tiles.tgsi");
    let shader = shader.to_str().expect("a name");
    folder.run(&["draw", "--fragment", shader, "--mesh", "sphere", "--size", "256x256", "-o", "p.png"]).success();
    let expected =
        std::fs::read(crate::common::repository().join("drivers/tgsic/raster/sphere.png")).expect("the picture");
    let ((_, picture), (_, expected)) = (frames(&folder.read("p.png")), frames(&expected));
    // Powers may be rounded differently on other CPUs.
    let differ = picture[0].iter().zip(&expected[0]).filter(|(a, b)| a.abs_diff(**b) > 1).count();
    assert!(picture[0].len() == expected[0].len() && differ < 100, "{differ}");
}
