//! The whole pipeline: vertices, triangles, and tiles on all cores.

use rayon::prelude::*;
use tgsi::tables::{File, Interpolation, Semantic};

use crate::clip::ShadedVertex;
use crate::fragment::{self, Fragments, Tile};
use crate::interface::{Slot, find, slots};
use crate::pieces::{Piece, Pieces};
use crate::primitives::{PolygonMode, Primitive, Provoking};
use crate::scene::{FixedFunctions, Picture, Processed, Scene, SceneShader};
use crate::stages::Registers;
use crate::triangle::{Triangle, Viewport};
use crate::vertex::{self, Shading};

/// Pixels of each side of a tile.
const TILE: usize = 64;

/// The smallest and the largest size of a point.
const POINT_SIZES: (f32, f32) = (1.0, 255.0);

/// Draws a scene onto a picture. Parts with failed runs are not drawn, and their errors are added to those of the
/// picture.
pub fn draw(scene: &Scene<'_>, picture: &mut Picture) {
    let read = slots(scene.fragment.source, File::Input);
    let vertices = match vertex::process(scene, &read) {
        Ok(vertices) => vertices,
        Err(error) => return note(picture, vec![error]),
    };
    let setup = setup(&read, picture.size);
    let mut pieces = Vec::new();
    for (number, indices) in (0..).zip(&scene.mesh.triangles) {
        let corners = indices.map(|index| vertices.get(index as usize));
        let [Some(a), Some(b), Some(c)] = corners else { continue };
        // Flat inputs come from the last vertex, as in OpenGL.
        pieces.extend(setup.triangle([a, b, c], c, number, &setup.viewport));
    }
    draw_pieces(&pieces, &Fragments::new(&scene.fragment, scene.fixed_functions, &read, picture.size), picture);
}

/// Draws primitives onto a picture, as [`draw`] does. Points and lines are one pixel wide, points of shaders that write a
/// size have that size.
pub fn draw_primitives(
    processed: &Processed<'_>,
    fragment: &SceneShader<'_>,
    fixed_functions: &FixedFunctions,
    provoking: Provoking,
    picture: &mut Picture,
) {
    let read = slots(fragment.source, File::Input);
    let setup = setup(&read, picture.size);
    let shading = Shading::new(processed.source, fixed_functions, &read);
    let word = |registers: &Registers, register: Option<usize>| Some(registers.get(register?)?[0]);
    let (smallest, largest) = POINT_SIZES;
    let size =
        |registers: &Registers| word(registers, shading.size).map_or(smallest, f32::from_bits).clamp(smallest, largest);
    let mut pieces = Vec::new();
    for (number, primitive) in processed.primitives {
        let found = primitive.places().iter().map(|&place| processed.vertices.get(place));
        let Some(found) = found.collect::<Option<Vec<&Registers>>>() else { continue };
        if shading.is_culled(&found) {
            continue;
        }
        let shaded = found
            .iter()
            .map(|registers| shading.vertex(&|register: usize| registers.get(register).copied().unwrap_or_default()));
        let shaded: Vec<ShadedVertex> = shaded.collect();
        let at = if provoking == Provoking::First { 0 } else { shaded.len().saturating_sub(1) };
        let (Some(provoking), Some(registers)) = (shaded.get(at), found.get(at)) else { continue };
        let number = word(registers, shading.primitive).unwrap_or(*number);
        pieces.extend(match shaded.as_slice() {
            [a] => setup.point(a, size(registers), provoking, number),
            [a, b] => setup.line([a, b], provoking, number),
            [a, b, c] => {
                let corners = [a, b, c];
                let sizes = [0, 1, 2].map(|at| found.get(at).map_or(smallest, |registers| size(registers)));
                let mut pieces = setup.polygon(corners, fixed_functions.polygon_mode, sizes, provoking, number);
                if fixed_functions.polygon_mode != PolygonMode::Fill {
                    let is_front = Triangle::new(corners, &setup.viewport, number).is_some_and(|all| all.is_front);
                    pieces.iter_mut().for_each(|piece| piece.triangle.is_front = is_front);
                }
                pieces
            }
            _ => Vec::new(),
        });
    }
    draw_pieces(&pieces, &Fragments::new(fragment, fixed_functions, &read, picture.size), picture);
}

/// The layer of each primitive: that of its provoking vertex; 0 if the stage does not write one.
pub fn layers(processed: &Processed<'_>, provoking: Provoking) -> Vec<u32> {
    let register = find(&slots(processed.source, File::Output), Semantic::Layer, 0).map(usize::from);
    let of = |primitive: &Primitive| {
        let places = primitive.places();
        let place = if provoking == Provoking::First { places.first() } else { places.last() };
        let registers: &Registers = processed.vertices.get(*place?)?;
        Some(registers.get(register?)?[0])
    };
    processed.primitives.iter().map(|(_, primitive)| of(primitive).unwrap_or(0)).collect()
}

fn setup(read: &[Slot], size: (u32, u32)) -> Pieces {
    let viewport = Viewport::of_picture(size);
    let flat = read.iter().map(|slot| [slot.interpolation == Interpolation::Constant; 4]).collect();
    Pieces { viewport, open_viewport: viewport, flat }
}

fn draw_pieces(pieces: &[Piece], fragments: &Fragments<'_>, picture: &mut Picture) {
    let (width, height) = (picture.size.0 as usize, picture.size.1 as usize);
    // The triangles of each tile, in order.
    let columns = width.div_ceil(TILE);
    let mut bins: Vec<Vec<u32>> = vec![Vec::new(); columns * height.div_ceil(TILE)];
    for (number, piece) in pieces.iter().enumerate() {
        let [horizontal, vertical] =
            piece.triangle.bounds.map(|[first, last]| first / TILE as i64..=last / TILE as i64);
        for row in vertical {
            for column in horizontal.clone() {
                if let Some(bin) = bins.get_mut(row as usize * columns + column as usize) {
                    bin.push(number as u32);
                }
            }
        }
    }
    let before: &Picture = picture;
    let tiles: Vec<(Tile, Option<String>)> = bins
        .par_iter()
        .enumerate()
        .filter(|(_, bin)| !bin.is_empty())
        .map(|(number, bin)| {
            let corner = [(number % columns * TILE) as i64, (number / columns * TILE) as i64];
            let size = [(width as i64 - corner[0]).min(TILE as i64), (height as i64 - corner[1]).min(TILE as i64)];
            let mut tile = Tile::new(corner, size, before);
            let error = fragment::draw(fragments, &mut tile, bin.iter().filter_map(|&at| pieces.get(at as usize)));
            (tile, error)
        })
        .collect();
    let mut errors = Vec::new();
    for (tile, error) in tiles {
        errors.extend(error);
        for (row, colors) in tile.colors.chunks_exact(tile.width as usize).enumerate() {
            let start = (tile.top as usize + row) * width + tile.left as usize;
            picture.pixels[4 * start..4 * (start + colors.len())].copy_from_slice(colors.as_flattened());
        }
        for (row, depths) in tile.depths.chunks_exact(tile.width as usize).enumerate() {
            let start = (tile.top as usize + row) * width + tile.left as usize;
            picture.depths[start..start + depths.len()].copy_from_slice(depths);
        }
    }
    note(picture, errors);
}

/// Adds errors to those of a picture.
fn note(picture: &mut Picture, errors: Vec<String>) {
    picture.errors.extend(errors);
    picture.errors.sort();
    picture.errors.dedup();
}
