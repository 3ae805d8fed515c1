//! The whole pipeline: vertices, triangles, and tiles on all cores.

use rayon::prelude::*;
use tgsi::tables::{File, Interpolation};

use crate::clip::clip;
use crate::fragment::{self, Fragments, Tile};
use crate::interface::slots;
use crate::scene::{Picture, Scene};
use crate::triangle::Triangle;
use crate::vertex;

/// Pixels of each side of a tile.
const TILE: usize = 64;

/// Draws a scene. Always returns a picture: parts with failed runs are not drawn, and their errors are in the picture.
pub fn draw(scene: &Scene<'_>) -> Picture {
    let (width, height) = (scene.size.0 as usize, scene.size.1 as usize);
    let mut pixels = scene.background.repeat(width * height);
    let read = slots(scene.fragment.source, File::Input);
    let vertices = match vertex::process(scene, &read) {
        Ok(vertices) => vertices,
        Err(error) => return Picture { size: scene.size, pixels, errors: vec![error] },
    };

    let mut triangles = Vec::new();
    for (number, indices) in scene.mesh.triangles.iter().enumerate() {
        let corners = indices.map(|index| vertices.get(index as usize));
        let [Some(a), Some(b), Some(c)] = corners else { continue };
        let mut polygon = clip([a, b, c]);
        // Flat inputs come from the last vertex, as in OpenGL.
        for (slot, _) in read.iter().enumerate().filter(|(_, slot)| slot.interpolation == Interpolation::Constant) {
            polygon.iter_mut().for_each(|vertex| vertex.varyings[slot] = c.varyings[slot]);
        }
        for pair in polygon.get(1..).unwrap_or(&[]).windows(2) {
            triangles.extend(Triangle::new([&polygon[0], &pair[0], &pair[1]], scene.size, number as u32));
        }
    }

    // The triangles of each tile, in order.
    let columns = width.div_ceil(TILE);
    let mut bins: Vec<Vec<u32>> = vec![Vec::new(); columns * height.div_ceil(TILE)];
    for (number, triangle) in triangles.iter().enumerate() {
        let [horizontal, vertical] = triangle.bounds.map(|[first, last]| first / TILE as i64..=last / TILE as i64);
        for row in vertical {
            for column in horizontal.clone() {
                if let Some(bin) = bins.get_mut(row as usize * columns + column as usize) {
                    bin.push(number as u32);
                }
            }
        }
    }
    let fragments = Fragments::new(scene, &read);
    let tiles: Vec<(Tile, Option<String>)> = bins
        .par_iter()
        .enumerate()
        .map(|(number, bin)| {
            let corner = [(number % columns * TILE) as i64, (number / columns * TILE) as i64];
            let size = [(width as i64 - corner[0]).min(TILE as i64), (height as i64 - corner[1]).min(TILE as i64)];
            let mut tile = Tile::new(corner, size, scene.background);
            let error = fragment::draw(&fragments, &mut tile, bin.iter().map(|&at| &triangles[at as usize]));
            (tile, error)
        })
        .collect();
    let mut errors = Vec::new();
    for (tile, error) in tiles {
        errors.extend(error);
        for (row, colors) in tile.colors.chunks_exact(tile.width as usize).enumerate() {
            let start = 4 * ((tile.top as usize + row) * width + tile.left as usize);
            pixels[start..start + 4 * colors.len()].copy_from_slice(colors.as_flattened());
        }
    }
    errors.sort();
    errors.dedup();
    Picture { size: scene.size, pixels, errors }
}
