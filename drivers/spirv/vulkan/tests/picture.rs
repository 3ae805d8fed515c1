//! Checks that the example draws the picture that the README shows.

#[allow(dead_code, reason = "the example writes a file, the test does not")]
#[path = "../examples/draw.rs"]
mod example;

use std::fs::File;
use std::io::BufReader;

#[test]
fn picture_is_that_of_the_readme() {
    if let Some(reason) = tgsi_spirv_vulkan::unavailable() {
        println!("skipped: {reason}");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "in CI nothing may be skipped: {reason}");
        return;
    }
    let pixels = example::picture(None, None).expect("a picture");
    let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/mandelbrot.png")).expect("the picture");
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().expect("a PNG");
    let mut expected = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut expected).expect("pixels");
    assert_eq!(pixels.len(), expected.len());
    // Pixels at the edge of the set may leave the loop an iteration earlier on other devices.
    let differ = |(a, b): (&[u8], &[u8])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 1);
    let count = pixels.chunks_exact(4).zip(expected.chunks_exact(4)).filter(|&pair| differ(pair)).count();
    assert!(count * 100 < pixels.len() / 4, "{count} pixels differ");
}
