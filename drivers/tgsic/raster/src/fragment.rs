//! The fragment stage: collects quads of a tile, shades them together, and writes them in order.

use tgsi::tables::{CoordOrigin, File, PixelCenter, PropertyName, Semantic};
use tgsi_driver_cpu::Shared;
use tgsi_environment::SystemValue;
use tgsi_environment::{Inputs, LaneRegisters, MAX_LANES, Outputs};

use crate::interface::{Slot, find, slots};
use crate::pieces::{Piece, Sprite};
use crate::scene::{FixedFunctions, Picture, SceneShader};
use crate::texture::{Units, units};
use crate::triangle::Weights;
use crate::workgroups::set_subgroups;

/// Quads in a run.
const MAX_QUADS: usize = MAX_LANES / 4;

/// A part of the picture: its colours and depths.
pub(crate) struct Tile {
    pub left: i64,
    pub top: i64,
    pub width: i64,
    pub height: i64,
    pub colors: Vec<[u8; 4]>,
    pub depths: Vec<f32>,
}

impl Tile {
    /// A part of a picture.
    pub(crate) fn new([left, top]: [i64; 2], [width, height]: [i64; 2], picture: &Picture) -> Tile {
        let starts = (top..top + height).map(|row| row as usize * picture.size.0 as usize + left as usize);
        let rows = starts.map(|start| start..start + width as usize);
        let (pixels, _) = picture.pixels.as_chunks::<4>();
        let colors = rows.clone().flat_map(|row| pixels.get(row).unwrap_or_default()).copied().collect();
        let depths = rows.flat_map(|row| picture.depths.get(row).unwrap_or_default()).copied().collect();
        Tile { left, top, width, height, colors, depths }
    }

    /// Returns the index of a pixel; `None` outside.
    fn index(&self, x: i64, y: i64) -> Option<usize> {
        let (x, y) = (x - self.left, y - self.top);
        ((0..self.width).contains(&x) && (0..self.height).contains(&y)).then_some((y * self.width + x) as usize)
    }
}

/// The data shared by all quads.
pub(crate) struct Fragments<'a> {
    fixed_functions: &'a FixedFunctions,
    height: u32,
    stage: &'a SceneShader<'a>,
    slots: &'a [Slot],
    color: Option<u16>,
    depth: Option<u16>,
    center: f32,
    is_lower_left: bool,
    textures: Units,
}

impl<'a> Fragments<'a> {
    pub(crate) fn new(
        stage: &'a SceneShader<'a>,
        fixed_functions: &'a FixedFunctions,
        slots_read: &'a [Slot],
        size: (u32, u32),
    ) -> Fragments<'a> {
        let outputs = slots(stage.source, File::Output);
        let is_integer = stage.source.property(PropertyName::FsCoordPixelCenter) == Some(PixelCenter::Integer as u32);
        Fragments {
            fixed_functions,
            height: size.1,
            stage,
            slots: slots_read,
            color: find(&outputs, Semantic::Color, 0),
            depth: find(&outputs, Semantic::Position, 0),
            center: if is_integer { 0.0 } else { 0.5 },
            is_lower_left: stage.source.property(PropertyName::FsCoordOrigin) == Some(CoordOrigin::LowerLeft as u32),
            textures: units(stage.textures),
        }
    }
}

impl Fragments<'_> {
    /// The pixels of a quad in the order of lanes.
    fn offsets(&self) -> [[i64; 2]; 4] {
        if self.is_lower_left { OFFSETS_UP } else { OFFSETS }
    }

    /// Covered pixels in the order of lanes.
    fn in_lanes(&self, coverage: u8) -> u8 {
        if self.is_lower_left { (coverage >> 2) | (coverage & 3) << 2 } else { coverage }
    }
}

#[derive(Clone, Copy)]
struct Quad<'t> {
    x: i64,
    y: i64,
    coverage: u8,
    piece: &'t Piece,
    weights: [Weights; 4],
}

/// The pixels of a quad in the order of lanes.
const OFFSETS: [[i64; 2]; 4] = [[0, 0], [1, 0], [0, 1], [1, 1]];

/// The same where y points up, so that derivatives do, too.
const OFFSETS_UP: [[i64; 2]; 4] = [[0, 1], [1, 1], [0, 0], [1, 0]];

/// Draws pieces of primitives, in order, into a tile. Failed runs leave their pixels unchanged; returns the error of the first
/// one.
pub(crate) fn draw<'t>(
    fragments: &Fragments<'_>,
    tile: &mut Tile,
    pieces: impl Iterator<Item = &'t Piece>,
) -> Option<String> {
    let mut quads: Vec<Quad<'t>> = Vec::with_capacity(MAX_QUADS);
    let mut error = None;
    for piece in pieces {
        let triangle = &piece.triangle;
        let first = |axis: usize, start: i64| triangle.bounds[axis][0].max(start) & !1;
        let last = |axis: usize, end: i64| triangle.bounds[axis][1].min(end - 1);
        for y in (first(1, tile.top)..=last(1, tile.top + tile.height)).step_by(2) {
            for x in (first(0, tile.left)..=last(0, tile.left + tile.width)).step_by(2) {
                let mut coverage = fragments.in_lanes(triangle.coverage(x, y));
                if coverage == 0 {
                    continue;
                }
                let weights = fragments.offsets().map(|[dx, dy]| triangle.weights(x + dx, y + dy));
                for (lane, [dx, dy]) in fragments.offsets().into_iter().enumerate() {
                    let is_visible = tile.index(x + dx, y + dy).is_some_and(|index| {
                        // Hidden pixels are not shaded, unless the shader writes the depth or memory.
                        fragments.fixed_functions.ignores_depth
                            || fragments.fixed_functions.tests_late
                            || fragments.depth.is_some()
                            || (weights[lane].depth as f32) < tile.depths[index]
                    });
                    if !is_visible {
                        coverage &= !(1 << lane);
                    }
                }
                if coverage == 0 {
                    continue;
                }
                quads.push(Quad { x, y, coverage, piece, weights });
                if quads.len() == MAX_QUADS {
                    error = error.or(shade(fragments, tile, &quads));
                    quads.clear();
                }
            }
        }
    }
    if !quads.is_empty() {
        error = error.or(shade(fragments, tile, &quads));
    }
    error
}

/// Shades quads and writes them; returns the error, if any.
fn shade(fragments: &Fragments<'_>, tile: &mut Tile, quads: &[Quad<'_>]) -> Option<String> {
    let inputs = inputs(fragments, quads);
    match (fragments.stage.run)(&inputs, &mut Shared(&fragments.textures)) {
        Ok(outputs) => {
            write(fragments, tile, quads, &outputs);
            None
        }
        Err(error) => Some(error),
    }
}

fn inputs(fragments: &Fragments<'_>, quads: &[Quad<'_>]) -> Inputs {
    let lanes = 4 * quads.len();
    let slots = fragments.slots;
    let registers = slots.iter().map(|slot| usize::from(slot.register) + 1).max().unwrap_or(0);
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, registers), ..Inputs::default() };
    set_subgroups(&mut inputs);
    let rows = |value: &dyn Fn(&Quad<'_>, usize) -> u32| -> Vec<u32> {
        quads.iter().flat_map(|quad| (0..4).map(move |lane| value(quad, lane))).collect()
    };
    let (height, offsets) = (fragments.height as f32, fragments.offsets());
    let coordinate = |component: usize| {
        rows(&|quad, lane| {
            let [dx, dy] = offsets[lane];
            let value = match component {
                0 => (quad.x + dx) as f32 + fragments.center,
                1 if fragments.is_lower_left => height - 1.0 - (quad.y + dy) as f32 + fragments.center,
                1 => (quad.y + dy) as f32 + fragments.center,
                2 => quad.weights[lane].depth as f32,
                _ => quad.weights[lane].inverse_w as f32,
            };
            value.to_bits()
        })
    };
    let coordinates = [0, 1, 2, 3].map(coordinate);
    // From the upper left corner of a point.
    let points = [0, 1].map(|axis| {
        rows(&|quad, lane| {
            let at = if axis == 0 { quad.x } else { quad.y } + offsets[lane][axis];
            let of = |sprite: Sprite| 0.5 + (at as f64 + 0.5 - sprite.center[axis]) / sprite.size;
            (quad.piece.sprite.map_or(0.0, of) as f32).to_bits()
        })
    });
    for (number, slot) in slots.iter().enumerate() {
        for component in 0..4 {
            let row = inputs.inputs.component_mut(slot.register.into(), component);
            match slot.semantic {
                Semantic::Position => row.copy_from_slice(&coordinates[component]),
                Semantic::Face => {
                    let face = |quad: &Quad<'_>| if quad.piece.triangle.is_front { 1.0f32 } else { -1.0 };
                    let rest = [0.0, 0.0, 0.0, 1.0f32][component];
                    let value = |quad: &Quad<'_>| if component == 0 { face(quad) } else { rest };
                    row.copy_from_slice(&rows(&|quad, _| value(quad).to_bits()));
                }
                Semantic::PointCoord => {
                    let rest = if component == 3 { 1.0f32 } else { 0.0 };
                    row.copy_from_slice(
                        &points.get(component).cloned().unwrap_or_else(|| rows(&|_, _| rest.to_bits())),
                    );
                }
                Semantic::PrimitiveId => row.copy_from_slice(&rows(&|quad, _| quad.piece.triangle.primitive)),
                _ => {
                    for (word, at) in row.iter_mut().zip(0..) {
                        let (quad, lane) = (&quads[at / 4], at % 4);
                        *word = quad
                            .piece
                            .triangle
                            .interpolate(slot.interpolation, number, component, &quad.weights[lane])
                            .to_bits();
                    }
                }
            }
        }
    }
    inputs.system_values.insert(SystemValue::FragCoord, coordinates.to_vec());
    let front = rows(&|quad, _| if quad.piece.triangle.is_front { u32::MAX } else { 0 });
    inputs.system_values.insert(SystemValue::FrontFace, vec![front]);
    inputs.system_values.insert(SystemValue::PointCoord, points.to_vec());
    inputs.system_values.insert(SystemValue::PrimitiveId, vec![rows(&|quad, _| quad.piece.triangle.primitive)]);
    inputs.system_values.insert(SystemValue::SamplePos, vec![vec![0.5f32.to_bits(); lanes]; 2]);
    inputs
        .system_values
        .insert(SystemValue::SampleMaskIn, vec![rows(&|quad, lane| (quad.coverage >> lane & 1).into())]);
    let helpers = rows(&|quad, lane| u32::from(quad.coverage >> lane & 1).wrapping_sub(1));
    inputs.system_values.insert(SystemValue::HelperInvocation, vec![helpers]);
    inputs.helpers = quads.iter().flat_map(|quad| (0..4).map(move |lane| quad.coverage >> lane & 1 == 0)).collect();
    inputs.constants = fragments.stage.constants.to_vec();
    inputs
}

fn write(fragments: &Fragments<'_>, tile: &mut Tile, quads: &[Quad<'_>], outputs: &Outputs) {
    for (number, quad) in quads.iter().enumerate() {
        for (lane, [dx, dy]) in fragments.offsets().into_iter().enumerate() {
            let at = 4 * number + lane;
            if quad.coverage >> lane & 1 == 0 || !outputs.live.get(at).copied().unwrap_or(true) {
                continue;
            }
            let Some(index) = tile.index(quad.x + dx, quad.y + dy) else { continue };
            let depth = fragments.depth.map_or(quad.weights[lane].depth as f32, |register| {
                f32::from_bits(outputs.outputs.get(register.into(), 2, at)).clamp(0.0, 1.0)
            });
            if !fragments.fixed_functions.ignores_depth {
                if depth >= tile.depths[index] {
                    continue;
                }
                tile.depths[index] = depth;
            }
            if let Some(register) = fragments.color {
                tile.colors[index] = std::array::from_fn(|component| {
                    let value = f32::from_bits(outputs.outputs.get(register.into(), component, at));
                    // NaN becomes zero.
                    (value.clamp(0.0, 1.0) * 255.0).round() as u8
                });
            }
        }
    }
}
