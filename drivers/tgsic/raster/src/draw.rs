//! The whole pipeline: vertices, triangles, and tiles on all cores.

use rayon::prelude::*;
use tgsi::tables::{File, Interpolation};

use crate::clip::{DepthRange, clip};
use crate::fragment::{self, Fragments, Tile};
use crate::interface::slots;
use crate::scene::{Picture, Scene};
use crate::triangle::{Triangle, Viewport};
use crate::vertex;

/// Pixels of each side of a tile.
const TILE: usize = 64;

/// Draws a scene onto a picture. Parts with failed runs are not drawn, and their errors are added to those of the
/// picture.
pub fn draw(scene: &Scene<'_>, picture: &mut Picture) {
    let (width, height) = (picture.size.0 as usize, picture.size.1 as usize);
    let read = slots(scene.fragment.source, File::Input);
    let vertices = match vertex::process(scene, &read) {
        Ok(vertices) => vertices,
        Err(error) => return note(picture, vec![error]),
    };

    let viewport = Viewport::of_picture(picture.size);
    let mut triangles = Vec::new();
    for (number, indices) in scene.mesh.triangles.iter().enumerate() {
        let corners = indices.map(|index| vertices.get(index as usize));
        let [Some(a), Some(b), Some(c)] = corners else { continue };
        let mut polygon = clip([a, b, c], DepthRange::Symmetric);
        // Flat inputs come from the last vertex, as in OpenGL.
        for (slot, _) in read.iter().enumerate().filter(|(_, slot)| slot.interpolation == Interpolation::Constant) {
            polygon.iter_mut().for_each(|vertex| vertex.varyings[slot] = c.varyings[slot]);
        }
        for pair in polygon.get(1..).unwrap_or(&[]).windows(2) {
            triangles.extend(Triangle::new([&polygon[0], &pair[0], &pair[1]], &viewport, number as u32));
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
    let fragments = Fragments::new(scene, &read, picture.size);
    let before: &Picture = picture;
    let tiles: Vec<(Tile, Option<String>)> = bins
        .par_iter()
        .enumerate()
        .filter(|(_, bin)| !bin.is_empty())
        .map(|(number, bin)| {
            let corner = [(number % columns * TILE) as i64, (number / columns * TILE) as i64];
            let size = [(width as i64 - corner[0]).min(TILE as i64), (height as i64 - corner[1]).min(TILE as i64)];
            let mut tile = Tile::new(corner, size, before);
            let error = fragment::draw(&fragments, &mut tile, bin.iter().map(|&at| &triangles[at as usize]));
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
