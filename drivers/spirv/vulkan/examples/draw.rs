//! Draws a picture with translated shaders, off screen, and writes it as PNG:
//!
//! ```text
//! cargo run --release -p tgsi-spirv-vulkan --example draw -- picture.png
//! cargo run --release -p tgsi-spirv-vulkan --example draw -- picture.png VERTEX.tgsi FRAGMENT.tgsi
//! ```
//!
//! `tgsic translate --driver spirv --reflect` shows the bindings.

use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tgsi_compiler::front_end::{Reading, TGSI_TEXT};
use tgsi_compiler::{Compiler, Driver};
use tgsi_spirv_vulkan::draw::{Drawing, PixelFormat, Texture, Uniform, draw};

/// Pixels of each side.
const SIZE: u32 = 256;

fn main() -> ExitCode {
    match picture_to_file() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn picture_to_file() -> Result<(), String> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let output = arguments.next().unwrap_or_else(|| "picture.png".into());
    let pixels = picture(arguments.next(), arguments.next())?;
    write(&output, &pixels).map_err(|error| format!("{}: {error}", output.display()))
}

/// Draws a square with these shaders, or those of the demo, and returns its pixels.
pub fn picture(vertex: Option<PathBuf>, fragment: Option<PathBuf>) -> Result<Vec<u8>, String> {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/drivers/spirv/picture");
    let vertex = translate(&vertex.unwrap_or_else(|| demo.join("textured.tgsi")))?;
    let fragment = translate(&fragment.unwrap_or_else(|| demo.join("mandelbrot.tgsi")))?;
    draw(&Drawing {
        vertex: &vertex,
        fragment: &fragment,
        size: (SIZE, SIZE),
        format: PixelFormat::Rgba8,
        attributes: &square(),
        // Constant buffer 0 of each stage: set 0, binding 32 times the number of the stage.
        uniforms: &[uniform(0, &IDENTITY), uniform(128, &[[-0.5, 0.0, 1.25, 0.0]])],
        // Texture 0 of the fragment shader.
        textures: &[palette()],
    })
}

fn translate(path: &Path) -> Result<Vec<u8>, String> {
    let name = path.display();
    let bytes = fs::read(path).map_err(|error| format!("{name}: {error}"))?;
    let target = tgsi_driver_spirv::DRIVER.target(&[]).map_err(|error| error.to_string())?;
    let compiler = Compiler::for_target(target.into());
    let Reading { source, findings, .. } = compiler.read(&TGSI_TEXT, &bytes);
    let source = source.ok_or_else(|| format!("{name}: {findings:?}"))?;
    compiler.compile(source).map(|code| code.into_bytes()).map_err(|error| format!("{name}: {error}"))
}

/// Returns a square of two triangles: positions, and coordinates from -1 to 1.
fn square() -> Vec<Vec<[f32; 4]>> {
    let corners = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]];
    let positions = corners.map(|[x, y]| [x, y, 0.5, 1.0]).to_vec();
    let coordinates = corners.map(|[x, y]| [x, y, 0.0, 1.0]).to_vec();
    vec![positions, coordinates]
}

const IDENTITY: [[f32; 4]; 4] =
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];

fn uniform(binding: u32, values: &[[f32; 4]]) -> Uniform {
    let bytes = values.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    Uniform { set: 0, binding, bytes }
}

/// Returns a one-row texture with colours from blue over white and orange to black.
fn palette() -> Texture {
    let stops: [[f32; 3]; 5] = [[0.0, 0.03, 0.4], [0.1, 0.4, 0.8], [0.95, 1.0, 1.0], [1.0, 0.65, 0.0], [0.0, 0.0, 0.0]];
    let mut texels = Vec::new();
    for column in 0..64u16 {
        let place = f32::from(column) / 63.0 * (stops.len() - 1) as f32;
        let at = (place as usize).min(stops.len() - 2);
        let part = place - at as f32;
        let color = [0, 1, 2].map(|c| stops[at][c] + (stops[at + 1][c] - stops[at][c]) * part);
        texels.extend(color.map(|value| (value * 255.0).round() as u8));
        texels.push(255);
    }
    Texture { set: 1, binding: 128, size: (64, 1), texels }
}

fn write(path: &Path, pixels: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    let file = BufWriter::new(fs::File::create(path)?);
    let mut encoder = png::Encoder::new(file, SIZE, SIZE);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(())
}
