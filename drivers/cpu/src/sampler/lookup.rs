//! Lookups by the four lanes of a quad.
//!
//! The instruction determines the dimensionality of a lookup. A texture of another shape is used as if it had that
//! shape: its first row in one dimension, each image in place of missing layers or faces.

use tgsi_environment::SamplerDim;
use tgsi_environment::{TextureLookup, TextureRequest};

use super::cube;
use super::format::Format;
use super::level_of_detail::{levels, limited, unlimited};
use super::state::{Filter, MipFilter, Sampler, WrapMode};
use super::texture::{Level, Texture};
use super::wrap::{around, fold, nearest, wrapped};

/// Interpolates between two numbers. Compiled lookups compute it with the same steps.
///
/// Here and in all code for filtered lookups arrays are written out: the closures of `map` would become calls.
#[inline(always)]
fn mix(a: [f32; 4], b: [f32; 4], weight: f32) -> [f32; 4] {
    let mix = |a: f32, b: f32| a + (b - a) * weight;
    [mix(a[0], b[0]), mix(a[1], b[1]), mix(a[2], b[2]), mix(a[3], b[3])]
}

/// A format, constant or dynamic in the generic code.
trait AnyFormat: Copy {
    fn get(self) -> Format;
}

impl AnyFormat for Format {
    #[inline(always)]
    fn get(self) -> Format {
        self
    }
}

/// [`Format::Rgba8Unorm`].
#[derive(Clone, Copy)]
struct FourBytes;

impl AnyFormat for FourBytes {
    #[inline(always)]
    fn get(self) -> Format {
        Format::Rgba8Unorm
    }
}

/// [`Format::Rgba32Float`].
#[derive(Clone, Copy)]
struct FourFloats;

impl AnyFormat for FourFloats {
    #[inline(always)]
    fn get(self) -> Format {
        Format::Rgba32Float
    }
}

/// The data of a lookup.
struct View<'a, F> {
    texture: &'a Texture,
    sampler: &'a Sampler,
    request: &'a TextureRequest,
    format: F,
    /// The number of coordinates in an image, plus one for 3D textures.
    axes: usize,
    wrap: [WrapMode; 3],
    /// Whether texels beyond the edges of a face are those of its neighbours.
    seamless: bool,
    unnormalized: bool,
}

/// The place that a lane looks up.
#[derive(Clone, Copy)]
struct TexturePosition {
    /// Folded coordinates.
    at: [f32; 3],
    image: u32,
    offset: [i32; 3],
    reference: f32,
}

/// Returns the number of the layer for a coordinate.
#[inline]
fn layer(coordinate: f32, layers: u32) -> u32 {
    (coordinate.round_ties_even() as u32).min(layers - 1)
}

impl<'a, F: AnyFormat> View<'a, F> {
    #[inline(always)]
    fn new(texture: &'a Texture, sampler: &'a Sampler, request: &'a TextureRequest, format: F) -> View<'a, F> {
        let cube = request.dim == SamplerDim::Cube;
        let base = texture.base();
        View {
            texture,
            sampler,
            request,
            format,
            axes: if cube { 2 } else { request.dim.num_coords().into() },
            wrap: if cube { [WrapMode::ClampToEdge; 3] } else { sampler.wrap },
            seamless: cube && sampler.seamless && base.width == base.height,
            unnormalized: sampler.unnormalized || request.dim == SamplerDim::Rect,
        }
    }

    #[inline(always)]
    fn place(&self, lane: usize) -> TexturePosition {
        let request = self.request;
        let word = |component: usize| f32::from_bits(request.coordinate[component][lane]);
        let mut place = TexturePosition {
            at: [0.0; 3],
            image: 0,
            offset: [request.offset[0][lane], request.offset[1][lane], request.offset[2][lane]],
            reference: f32::from_bits(request.comparator[lane]),
        };
        if self.format.get().is_normalized_depth() {
            place.reference = place.reference.clamp(0.0, 1.0);
        }
        if request.dim == SamplerDim::Cube {
            let direction = [0, 1, 2].map(word);
            let face = cube::face_of(direction);
            let [s, t] = cube::coordinates(cube::on_face(direction, face));
            place.at = [s, t, 0.0];
            let cube = if request.is_array { layer(word(3), self.texture.layers()) } else { 0 };
            place.image = 6 * cube + face as u32;
        } else {
            for axis in 0..self.axes {
                place.at[axis] = if self.unnormalized { word(axis) } else { fold(word(axis), self.wrap[axis]) };
            }
            if request.is_array {
                place.image = layer(word(self.axes & 3), self.texture.base().images);
            }
        }
        place
    }

    /// Returns the bytes of a texel inside a level, if it exists.
    #[inline(always)]
    fn bytes(&self, level: &Level, image: u32, column: i32, row: i32) -> Option<&'a [u8]> {
        if column as u32 >= level.width || row as u32 >= level.height {
            return None;
        }
        let image = image.min(level.images - 1) as usize;
        let texel = row as usize * level.width as usize + column as usize;
        let start = level.start + image * level.image_bytes + texel * self.format.get().bytes();
        self.texture.texels().get(start..start + self.format.get().bytes())
    }

    fn border(&self) -> [f32; 4] {
        self.sampler.border.map(|word| f32::from_bits(word) * self.format.get().divisor())
    }

    /// Returns the numbers of a wrapped texel, or the result of its comparison.
    #[inline(always)]
    fn tap(&self, level: &Level, image: u32, column: i32, row: i32, reference: f32) -> [f32; 4] {
        let numbers = match self.bytes(level, image, column, row) {
            Some(bytes) => self.format.get().numbers(bytes),
            None => self.border(),
        };
        self.compared(numbers, reference)
    }

    #[inline(always)]
    fn compared(&self, numbers: [f32; 4], reference: f32) -> [f32; 4] {
        if !self.request.is_shadow {
            return numbers;
        }
        let holds = self.sampler.compare.holds(reference, numbers[0] / self.format.get().divisor());
        [if holds { 1.0 } else { 0.0 }; 4]
    }

    /// The same for a texel that may lie beyond the edges of a cube's face. In a corner it is the mean of the three
    /// texels that meet there.
    #[inline(never)]
    fn tap_of_cube(&self, level: &Level, place: &TexturePosition, column: i32, row: i32) -> [f32; 4] {
        let size = level.width as i32;
        let (cube, face) = (place.image / 6 * 6, (place.image % 6) as usize);
        let tap = |column: i32, row: i32| {
            cube::beyond(face, column, row, size).map_or([0.0; 4], |(face, column, row)| {
                self.tap(level, cube + face as u32, column, row, place.reference)
            })
        };
        let [inner_column, inner_row] = [column, row].map(|at| at.clamp(0, size - 1));
        if inner_column == column || inner_row == row {
            return tap(column, row);
        }
        let three = [tap(inner_column, inner_row), tap(column, inner_row), tap(inner_column, row)];
        std::array::from_fn(|component| (three[0][component] + three[1][component] + three[2][component]) / 3.0)
    }

    /// Returns the texel at a place of a level.
    #[inline(always)]
    fn nearest(&self, level: &Level, place: &TexturePosition) -> [f32; 4] {
        let (image, column, row) = self.nearest_texel(level, place);
        self.tap(level, image, column, row, place.reference)
    }

    #[inline(always)]
    fn nearest_texel(&self, level: &Level, place: &TexturePosition) -> (u32, i32, i32) {
        let texel = |axis: usize, size: u32| {
            let texel = nearest(place.at[axis], size, self.wrap[axis], self.unnormalized);
            wrapped(texel.wrapping_add(place.offset[axis]), size, self.wrap[axis])
        };
        let column = texel(0, level.width);
        let row = if self.axes > 1 { texel(1, level.height) } else { 0 };
        match self.axes {
            3 => {
                let slice = texel(2, level.images);
                // A slice out of bounds is the border, like a column out of bounds.
                if slice as u32 >= level.images { (0, -1, row) } else { (slice as u32, column, row) }
            }
            _ => (place.image, column, row),
        }
    }

    /// Returns the columns and rows to filter, wrapped, and the weights of the second ones.
    #[inline(always)]
    fn footprint(&self, level: &Level, place: &TexturePosition) -> ([[i32; 2]; 2], [f32; 2]) {
        let along = |axis: usize, size: u32| {
            let (first, weight) = around(place.at[axis], size, self.wrap[axis], self.unnormalized);
            let first = first.wrapping_add(place.offset[axis]);
            let second = first.wrapping_add(1);
            let (end, wrap) = (size as i32, self.wrap[axis]);
            let texels = if self.seamless {
                [first.clamp(-1, end), second.clamp(-1, end)]
            } else {
                [wrapped(first, size, wrap), wrapped(second, size, wrap)]
            };
            (texels, weight)
        };
        let (columns, s) = along(0, level.width);
        let (rows, t) = if self.axes > 1 { along(1, level.height) } else { ([0, 0], 0.0) };
        ([columns, rows], [s, t])
    }

    /// Returns the four texels around a place, as the corners (0, 0), (1, 0), (0, 1), (1, 1).
    #[inline(always)]
    fn corners(
        &self,
        level: &Level,
        place: &TexturePosition,
        image: u32,
        [columns, rows]: [[i32; 2]; 2],
    ) -> [[f32; 4]; 4] {
        let ([left, right], [above, below]) = (columns, rows);
        if self.seamless {
            let tap = |column: i32, row: i32| self.tap_of_cube(level, place, column, row);
            [tap(left, above), tap(right, above), tap(left, below), tap(right, below)]
        } else {
            let reference = place.reference;
            [
                self.tap(level, image, left, above, reference),
                self.tap(level, image, right, above, reference),
                self.tap(level, image, left, below, reference),
                self.tap(level, image, right, below, reference),
            ]
        }
    }

    /// Returns the weighted mean of the texels around a place.
    #[inline(always)]
    fn linear(&self, level: &Level, place: &TexturePosition) -> [f32; 4] {
        let (texels, [s, t]) = self.footprint(level, place);
        let image = |image: u32| {
            let [a, b, c, d] = self.corners(level, place, image, texels);
            let (above, below) = (mix(a, b, s), mix(c, d, s));
            if self.axes > 1 { mix(above, below, t) } else { above }
        };
        if self.axes < 3 {
            return image(place.image);
        }
        self.between_slices(level, place, image)
    }

    /// The same between the slices of a 3D texture.
    #[inline(never)]
    fn between_slices(&self, level: &Level, place: &TexturePosition, image: impl Fn(u32) -> [f32; 4]) -> [f32; 4] {
        let (first, r) = around(place.at[2], level.images, self.wrap[2], self.unnormalized);
        let slice = |number: i32| {
            let slice = wrapped(number.wrapping_add(place.offset[2]), level.images, self.wrap[2]);
            if slice as u32 >= level.images {
                return self.compared(self.border(), place.reference);
            }
            image(slice as u32)
        };
        mix(slice(first), slice(first + 1), r)
    }

    #[inline(always)]
    fn filtered(&self, level: &Level, place: &TexturePosition, filter: Filter) -> [f32; 4] {
        match filter {
            Filter::Nearest => self.nearest(level, place),
            Filter::Linear => self.linear(level, place),
        }
    }

    /// Performs a filtered lookup.
    #[inline(always)]
    fn sample(&self) -> [[u32; 4]; 4] {
        let sampler = self.sampler;
        let last = self.texture.levels().len() - 1;
        let one_filter = sampler.min_filter == sampler.mag_filter || self.format.get().is_integer();
        let mut lod = [0.0; 4];
        if !(one_filter && (last == 0 || sampler.mip_filter == MipFilter::None)) {
            lod = unlimited(self.request, self.texture, sampler, self.unnormalized);
            for lod in &mut lod {
                *lod = limited(*lod, sampler.min_lod, sampler.max_lod);
            }
        }
        let divisor = if self.request.is_shadow { 1.0 } else { self.format.get().divisor() };
        let mut result = [[0; 4]; 4];
        for lane in 0..4 {
            let place = self.place(lane);
            let (number, weight) = levels(lod[lane], sampler.mip_filter, last);
            let level = self.texture.level(number);
            if self.format.get().is_integer() {
                let (image, column, row) = self.nearest_texel(level, &place);
                let words = self.words(level, image, column, row, &place);
                result.iter_mut().zip(words).for_each(|(row, word)| row[lane] = word);
                continue;
            }
            let filter = if lod[lane] > 0.0 { sampler.min_filter } else { sampler.mag_filter };
            let mut value = self.filtered(level, &place, filter);
            if weight > 0.0 {
                let next = self.filtered(self.texture.level(number + 1), &place, filter);
                value = mix(value, next, weight);
            }
            result[0][lane] = (value[0] / divisor).to_bits();
            result[1][lane] = (value[1] / divisor).to_bits();
            result[2][lane] = (value[2] / divisor).to_bits();
            result[3][lane] = (value[3] / divisor).to_bits();
        }
        result
    }

    /// Returns the words of a wrapped texel, or the result of its comparison.
    fn words(&self, level: &Level, image: u32, column: i32, row: i32, place: &TexturePosition) -> [u32; 4] {
        let words = match self.bytes(level, image, column, row) {
            Some(bytes) => self.format.get().words(bytes),
            None => self.sampler.border,
        };
        if self.request.is_shadow { self.word_compared(words, place) } else { words }
    }

    fn word_compared(&self, words: [u32; 4], place: &TexturePosition) -> [u32; 4] {
        let holds = self.sampler.compare.holds(place.reference, f32::from_bits(words[0]));
        [if holds { 1f32 } else { 0.0 }.to_bits(); 4]
    }

    /// Returns one component of the four texels around each place, counter-clockwise from the lower left one.
    fn gather(&self, component: u8) -> [[u32; 4]; 4] {
        let component = usize::from(component & 3);
        let level = self.texture.base();
        let mut result = [[0; 4]; 4];
        for lane in 0..4 {
            let place = self.place(lane);
            let texel = |offset: [i32; 2], corner: usize| -> u32 {
                let mut place = place;
                [place.offset[0], place.offset[1]] = offset;
                let ([columns, rows], _) = self.footprint(level, &place);
                let (column, row) = (columns[corner & 1], rows[corner >> 1]);
                if self.seamless && !self.format.get().is_integer() {
                    let divisor = if self.request.is_shadow { 1.0 } else { self.format.get().divisor() };
                    return (self.tap_of_cube(level, &place, column, row)[component] / divisor).to_bits();
                }
                let size = level.width as i32;
                let (image, column, row) = if self.seamless {
                    let (cube, face) = (place.image / 6 * 6, (place.image % 6) as usize);
                    let inner = (face, column.clamp(0, size - 1), row.clamp(0, size - 1));
                    let (face, column, row) = cube::beyond(face, column, row, size).unwrap_or(inner);
                    (cube + face as u32, column, row)
                } else {
                    (place.image, column, row)
                };
                self.words(level, image, column, row, &place)[component]
            };
            let words = match self.request.gather_offsets {
                Some(offsets) => offsets.map(|[x, y]| texel([x[lane], y[lane]], 0)),
                None => [2, 3, 1, 0].map(|corner| texel([place.offset[0], place.offset[1]], corner)),
            };
            result.iter_mut().zip(words).for_each(|(row, word)| row[lane] = word);
        }
        result
    }

    /// Returns the level of detail that the filter uses, and the one without limits.
    fn query(&self) -> [[u32; 4]; 4] {
        let sampler = self.sampler;
        let last = self.texture.levels().len() - 1;
        let lod = unlimited(self.request, self.texture, sampler, self.unnormalized);
        let used = lod.map(|lod| {
            let lod = limited(lod, sampler.min_lod, sampler.max_lod);
            let (level, weight) = levels(lod, sampler.mip_filter, last);
            level as f32 + weight
        });
        [used.map(f32::to_bits), lod.map(f32::to_bits), [0; 4], [0; 4]]
    }

    /// Returns texels by their numbers; zero out of bounds.
    fn fetch(&self) -> [[u32; 4]; 4] {
        let request = self.request;
        let is_array = request.is_array;
        let multisampled = matches!(request.dim, SamplerDim::Ms | SamplerDim::SubpassMs);
        let axes = usize::from(request.dim.num_coords()).min(3);
        let mut result = [[0; 4]; 4];
        for lane in 0..4 {
            let number = if multisampled { 0 } else { request.lod[lane] as usize };
            let Some(level) = self.texture.levels().get(number) else { continue };
            let at = |axis: usize| {
                let offset = if axis < axes { request.offset[axis][lane] } else { 0 };
                (request.coordinate[axis][lane] as i32).wrapping_add(offset)
            };
            let row = if axes > 1 { at(1) } else { 0 };
            let image = if is_array || axes == 3 { at((axes + usize::from(is_array) - 1) & 3) as u32 } else { 0 };
            if image >= level.images {
                continue;
            }
            let Some(bytes) = self.bytes(level, image, at(0), row) else { continue };
            for (row, word) in result.iter_mut().zip(self.format.get().words(bytes)) {
                row[lane] = word;
            }
        }
        result
    }
}

/// Executes a lookup.
pub(super) fn look_up(texture: &Texture, sampler: &Sampler, request: &TextureRequest) -> [[u32; 4]; 4] {
    let format = texture.format();
    match request.lookup {
        TextureLookup::Fetch => View::new(texture, sampler, request, format).fetch(),
        TextureLookup::Gather { component } => View::new(texture, sampler, request, format).gather(component),
        TextureLookup::QueryLod => View::new(texture, sampler, request, format).query(),
        // The usual formats have specialised code.
        _ => match format {
            Format::Rgba8Unorm => View::new(texture, sampler, request, FourBytes).sample(),
            Format::Rgba32Float => View::new(texture, sampler, request, FourFloats).sample(),
            format => View::new(texture, sampler, request, format).sample(),
        },
    }
}
