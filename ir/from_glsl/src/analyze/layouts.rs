//! Identifiers of `layout(...)`: their table, and the declarations that may have them.

use super::qualifiers::Qualifiers;
use super::{Analyzer, SemanticError};
use crate::ast;
use crate::builtins::formats::image_format;
use crate::builtins::stages::Stages;
use crate::extension::Extension as E;
use crate::program::{DerivativeGroup, ExprKind, Interlock, Packing, Primitive, Spacing};
use crate::token::TokenRange;
use crate::version::{NEVER, Since};

/// Versions in which values of layouts are expressions.
pub(super) const LAYOUT_EXPRESSIONS: Since = Since::new(440, NEVER).or(&[E::ARBEnhancedLayouts]);

/// Layouts of one declaration. Each is checked against its place.
const MAX_LAYOUTS: usize = 64;

/// The largest number of vertices, invocations and streams, and size of a workgroup: more than any device allows.
const MAX_NUMBER: u32 = 1 << 16;

/// A set of declarations that may have a layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Places(u8);

impl Places {
    pub(super) const VARIABLE: Places = Places(1);
    /// An interface block.
    pub(super) const BLOCK: Places = Places(2);
    /// A member of an interface block.
    pub(super) const MEMBER: Places = Places(4);
    /// `layout(...) in;`
    pub(super) const IN: Places = Places(8);
    /// `layout(...) out;`
    pub(super) const OUT: Places = Places(16);
    /// `layout(...) uniform;` and `layout(...) buffer;`
    pub(super) const MEMORY: Places = Places(32);
    /// A parameter of a function, a struct's field, and all other declarations.
    pub(super) const OTHER: Places = Places(64);

    const fn or(self, other: Places) -> Places {
        Places(self.0 | other.0)
    }

    fn contains(self, other: Places) -> bool {
        self.0 & other.0 != 0
    }
}

/// The value that a layout has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    None,
    /// A constant that is not negative.
    Number,
    /// A constant above 0.
    Positive,
}

/// A row of the table.
#[derive(Debug)]
pub(super) struct Row {
    name: &'static str,
    value: Value,
    places: Places,
    stages: Stages,
    since: Since,
    set: fn(&mut Qualifiers, u32),
}

const fn row(name: &'static str, value: Value, places: Places, since: Since, set: fn(&mut Qualifiers, u32)) -> Row {
    Row { name, value, places, stages: Stages::ALL, since, set }
}

/// A layout of `in;` or `out;` in some stages.
const fn of_stage(
    name: &'static str,
    value: Value,
    places: Places,
    stages: Stages,
    set: fn(&mut Qualifiers, u32),
) -> Row {
    // The stage has the version.
    Row { name, value, places, stages, since: Since::ALWAYS, set }
}

/// A layout of outputs that transform feedback captures.
const fn captured(name: &'static str, places: Places, set: fn(&mut Qualifiers, u32)) -> Row {
    const STAGES: Stages = Stages::VERTEX.or(CONTROL).or(EVALUATION).or(G);
    Row { stages: STAGES, ..row(name, Value::Number, places, ENHANCED, set) }
}

/// A derivative group of compute shaders.
const fn of_compute(name: &'static str, set: fn(&mut Qualifiers, u32)) -> Row {
    Row { stages: C, ..row(name, Value::None, IN, DERIVATIVES, set) }
}

/// A kind of interlock.
const fn interlock(name: &'static str, set: fn(&mut Qualifiers, u32)) -> Row {
    Row { stages: F, ..row(name, Value::None, IN, INTERLOCK, set) }
}

fn of_pixel(is_ordered: bool) -> Option<Interlock> {
    Some(Interlock { of_sample: false, is_ordered })
}

fn of_sample(is_ordered: bool) -> Option<Interlock> {
    Some(Interlock { of_sample: true, is_ordered })
}

const VARIABLE: Places = Places::VARIABLE;
const BLOCK: Places = Places::BLOCK;
const MEMBER: Places = Places::MEMBER;
const IN: Places = Places::IN;
const OUT: Places = Places::OUT;
/// Blocks and their defaults.
const BLOCKS: Places = BLOCK.or(Places::MEMORY);
/// All outputs and their default.
const OUTPUTS: Places = VARIABLE.or(BLOCK).or(MEMBER).or(OUT);
const G: Stages = Stages::GEOMETRY;
const CONTROL: Stages = Stages::CONTROL;
const EVALUATION: Stages = Stages::EVALUATION;
const F: Stages = Stages::FRAGMENT;
const C: Stages = Stages::COMPUTE;

const INDEX: Since = Since::new(330, NEVER).or(&[E::ARBExplicitAttribLocation, E::EXTBlendFuncExtended]);
const BINDING: Since = Since::new(420, 310).or(&[
    E::ARBShadingLanguage420pack,
    E::ARBShaderStorageBufferObject,
    E::ARBShaderAtomicCounters,
    E::ARBShaderImageLoadStore,
    E::EXTShaderImageLoadStore,
]);
const OFFSET: Since = Since::new(420, 310).or(&[E::ARBShaderAtomicCounters, E::ARBEnhancedLayouts]);
const FRAG_COORD: Since = Since::new(150, NEVER).or(&[E::ARBFragmentCoordConventions]);
const DEPTH: Since = Since::new(420, NEVER).or(&[E::ARBConservativeDepth, E::AMDConservativeDepth]);
const EARLY: Since = Since::new(420, 310).or(&[E::ARBShaderImageLoadStore]);
const ENHANCED: Since = Since::new(440, NEVER).or(&[E::ARBEnhancedLayouts]);
const BLOCK_LAYOUTS: Since = Since::new(140, 300).or(&[E::ARBUniformBufferObject]);
const STD430: Since = Since::new(430, 310).or(&[E::ARBShaderStorageBufferObject]);
const STREAMS: Since = Since::new(400, NEVER).or(&[E::ARBGpuShader5]);
const INVOCATIONS: Since = Since::new(400, 320).or(&[E::ARBGpuShader5, E::OESGeometryShader, E::EXTGeometryShader]);
const VARIABLE_SIZE: Since = Since::new(NEVER, NEVER).or(&[E::ARBComputeVariableGroupSize]);
const COVERAGE: Since = Since::new(NEVER, NEVER).or(&[E::ARBPostDepthCoverage]);
const DERIVATIVES: Since = Since::new(NEVER, NEVER).or(&[E::NVComputeShaderDerivatives]);
const NON_COHERENT: Since = Since::new(NEVER, NEVER).or(&[E::EXTShaderFramebufferFetchNonCoherent]);
const VIEWPORT_ARRAY2: Since = Since::new(NEVER, NEVER).or(&[E::NVViewportArray2]);
const INTERLOCK: Since = Since::new(NEVER, NEVER).or(&[E::ARBFragmentShaderInterlock, E::NVFragmentShaderInterlock]);
const INNER: Since = Since::new(NEVER, NEVER).or(&[E::INTELConservativeRasterization]);
const BLEND: Since = Since::new(NEVER, 320).or(&[E::KHRBlendEquationAdvanced]);

const ROWS: &[Row] = &[
    // Which variables have one is checked with their storage.
    row("location", Value::Number, VARIABLE.or(BLOCK).or(MEMBER), Since::ALWAYS, |q, n| q.traits.location = Some(n)),
    row("component", Value::Number, VARIABLE.or(MEMBER), ENHANCED, |q, n| q.traits.component = Some(n)),
    row("index", Value::Number, VARIABLE, INDEX, |q, n| q.traits.index = Some(n)),
    row("binding", Value::Number, VARIABLE.or(BLOCK), BINDING, |q, n| q.traits.binding = Some(n)),
    row("origin_upper_left", Value::None, VARIABLE.or(IN), FRAG_COORD, |q, _| q.origin_upper_left = true),
    row("pixel_center_integer", Value::None, VARIABLE.or(IN), FRAG_COORD, |q, _| q.pixel_center_integer = true),
    row("depth_any", Value::None, VARIABLE, DEPTH, |q, _| q.depth_layout = 1),
    row("depth_greater", Value::None, VARIABLE, DEPTH, |q, _| q.depth_layout = 2),
    row("depth_less", Value::None, VARIABLE, DEPTH, |q, _| q.depth_layout = 3),
    row("depth_unchanged", Value::None, VARIABLE, DEPTH, |q, _| q.depth_layout = 4),
    Row { stages: F, ..row("early_fragment_tests", Value::None, IN, EARLY, |q, _| q.early_fragment_tests = true) },
    Row { stages: F, ..row("post_depth_coverage", Value::None, IN, COVERAGE, |q, _| q.post_depth_coverage = true) },
    Row { stages: F, ..row("inner_coverage", Value::None, IN, INNER, |q, _| q.inner_coverage = true) },
    row("std140", Value::None, BLOCKS, BLOCK_LAYOUTS, |q, _| q.packing = Some(Packing::Std140)),
    row("std430", Value::None, BLOCKS, STD430, |q, _| {
        q.packing = Some(Packing::Std430);
        q.is_std430 = true;
    }),
    row("shared", Value::None, BLOCKS, BLOCK_LAYOUTS, |q, _| q.packing = Some(Packing::Shared)),
    row("packed", Value::None, BLOCKS, BLOCK_LAYOUTS, |q, _| q.packing = Some(Packing::Packed)),
    row("row_major", Value::None, BLOCKS.or(MEMBER), BLOCK_LAYOUTS, |q, _| q.row_major = Some(true)),
    row("column_major", Value::None, BLOCKS.or(MEMBER), BLOCK_LAYOUTS, |q, _| q.row_major = Some(false)),
    // Which types of variables have one is checked with their memory.
    row("offset", Value::Number, VARIABLE.or(MEMBER), OFFSET, |q, n| q.traits.offset = Some(n)),
    row("align", Value::Positive, MEMBER.or(BLOCK), ENHANCED, |q, n| q.align = Some(n)),
    captured("xfb_buffer", OUTPUTS, |q, n| q.capture.buffer = Some(n)),
    captured("xfb_offset", VARIABLE.or(BLOCK).or(MEMBER), |q, n| q.capture.offset = Some(n)),
    captured("xfb_stride", OUTPUTS, |q, n| q.capture.stride = Some(n)),
    Row { stages: G, ..row("stream", Value::Number, OUTPUTS, STREAMS, |q, n| q.traits.stream = Some(n)) },
    Row { stages: G, ..row("invocations", Value::Positive, IN, INVOCATIONS, |q, n| q.stage.invocations = Some(n)) },
    of_stage("points", Value::None, IN.or(OUT), G, |q, _| q.primitive = Some(Primitive::Points)),
    of_stage("lines", Value::None, IN, G, |q, _| q.primitive = Some(Primitive::Lines)),
    of_stage("lines_adjacency", Value::None, IN, G, |q, _| q.primitive = Some(Primitive::LinesAdjacency)),
    of_stage("triangles", Value::None, IN, G.or(EVALUATION), |q, _| q.primitive = Some(Primitive::Triangles)),
    of_stage("triangles_adjacency", Value::None, IN, G, |q, _| q.primitive = Some(Primitive::TrianglesAdjacency)),
    of_stage("line_strip", Value::None, OUT, G, |q, _| q.primitive = Some(Primitive::LineStrip)),
    of_stage("triangle_strip", Value::None, OUT, G, |q, _| q.primitive = Some(Primitive::TriangleStrip)),
    of_stage("max_vertices", Value::Number, OUT, G, |q, n| q.stage.max_vertices = Some(n)),
    of_stage("quads", Value::None, IN, EVALUATION, |q, _| q.primitive = Some(Primitive::Quads)),
    of_stage("isolines", Value::None, IN, EVALUATION, |q, _| q.primitive = Some(Primitive::Isolines)),
    of_stage("equal_spacing", Value::None, IN, EVALUATION, |q, _| q.stage.spacing = Some(Spacing::Equal)),
    of_stage("fractional_even_spacing", Value::None, IN, EVALUATION, |q, _| {
        q.stage.spacing = Some(Spacing::FractionalEven);
    }),
    of_stage("fractional_odd_spacing", Value::None, IN, EVALUATION, |q, _| {
        q.stage.spacing = Some(Spacing::FractionalOdd);
    }),
    of_stage("cw", Value::None, IN, EVALUATION, |q, _| q.stage.is_clockwise = Some(true)),
    of_stage("ccw", Value::None, IN, EVALUATION, |q, _| q.stage.is_clockwise = Some(false)),
    of_stage("point_mode", Value::None, IN, EVALUATION, |q, _| q.stage.point_mode = true),
    of_stage("vertices", Value::Positive, OUT, CONTROL, |q, n| q.stage.vertices = Some(n)),
    of_stage("local_size_x", Value::Positive, IN, C, |q, n| q.stage.local_size[0] = Some(n)),
    of_stage("local_size_y", Value::Positive, IN, C, |q, n| q.stage.local_size[1] = Some(n)),
    of_stage("local_size_z", Value::Positive, IN, C, |q, n| q.stage.local_size[2] = Some(n)),
    Row {
        stages: C,
        ..row("local_size_variable", Value::None, IN, VARIABLE_SIZE, |q, _| q.stage.is_size_variable = true)
    },
    Row { stages: F, ..row("noncoherent", Value::None, VARIABLE, NON_COHERENT, |q, _| q.noncoherent = true) },
    row("viewport_relative", Value::None, VARIABLE, VIEWPORT_ARRAY2, |q, _| q.viewport_relative = true),
    of_compute("derivative_group_quadsNV", |q, _| q.stage.derivative_group = Some(DerivativeGroup::Quads)),
    of_compute("derivative_group_linearNV", |q, _| q.stage.derivative_group = Some(DerivativeGroup::Linear)),
    interlock("pixel_interlock_ordered", |q, _| q.stage.interlock = of_pixel(true)),
    interlock("pixel_interlock_unordered", |q, _| q.stage.interlock = of_pixel(false)),
    interlock("sample_interlock_ordered", |q, _| q.stage.interlock = of_sample(true)),
    interlock("sample_interlock_unordered", |q, _| q.stage.interlock = of_sample(false)),
    // The equations that blending may use have no effect on the code.
    Row { stages: F, ..row("blend_support_multiply", Value::None, OUT, BLEND, |_, _| {}) },
    Row { stages: F, ..row("blend_support_screen", Value::None, OUT, BLEND, |_, _| {}) },
    Row { stages: F, ..row("blend_support_overlay", Value::None, OUT, BLEND, |_, _| {}) },
    Row { stages: F, ..row("blend_support_darken", Value::None, OUT, BLEND, |_, _| {}) },
    Row { stages: F, ..row("blend_support_lighten", Value::None, OUT, BLEND, |_, _| {}) },
    Row { stages: F, ..row("blend_support_colordodge", Value::None, OUT, BLEND, |_, _| {}) },
    Row { stages: F, ..row("blend_support_colorburn", Value::None, OUT, BLEND, |_, _| {}) },
    Row { stages: F, ..row("blend_support_hardlight", Value::None, OUT, BLEND, |_, _| {}) },
    Row { stages: F, ..row("blend_support_softlight", Value::None, OUT, BLEND, |_, _| {}) },
    Row { stages: F, ..row("blend_support_difference", Value::None, OUT, BLEND, |_, _| {}) },
    Row { stages: F, ..row("blend_support_exclusion", Value::None, OUT, BLEND, |_, _| {}) },
    Row { stages: F, ..row("blend_support_hsl_hue", Value::None, OUT, BLEND, |_, _| {}) },
    Row { stages: F, ..row("blend_support_hsl_saturation", Value::None, OUT, BLEND, |_, _| {}) },
    Row { stages: F, ..row("blend_support_hsl_color", Value::None, OUT, BLEND, |_, _| {}) },
    Row { stages: F, ..row("blend_support_hsl_luminosity", Value::None, OUT, BLEND, |_, _| {}) },
    Row { stages: F, ..row("blend_support_all_equations", Value::None, OUT, BLEND, |_, _| {}) },
];

/// Of which a layout has one at most.
const PRIMITIVES: &[&str] = &[
    "points",
    "lines",
    "lines_adjacency",
    "triangles",
    "triangles_adjacency",
    "line_strip",
    "triangle_strip",
    "quads",
    "isolines",
];

impl Analyzer<'_> {
    /// Reads an identifier of a layout.
    pub(super) fn layout_item(&mut self, item: &ast::LayoutItem, found: &mut Qualifiers) {
        let name = self.spelling(item.name);
        let value = item.value.map(|value| self.expression(value));
        if let Some(value) = value
            && !matches!(self.program.expr(value).kind, ExprKind::Constant | ExprKind::Error)
        {
            self.require(&LAYOUT_EXPRESSIONS, "a layout whose value is an expression", item.tokens);
        }
        let number = value.map(|value| (self.integer_of(value), self.ty(value)));
        if let Some((None, ty)) = number {
            if !ty.is_error() {
                self.report(SemanticError::NotConstant { what: "the value of a layout" }, item.tokens);
            }
            return;
        }
        let number = number.and_then(|(number, _)| number);
        // Layouts are identifiers without case in desktop versions.
        let is_same = |row: &&Row| match self.version().is_es() {
            true => row.name == name,
            false => row.name.eq_ignore_ascii_case(&name),
        };
        let stage = self.program.stage;
        let Some(row) = ROWS.iter().find(|row| is_same(row) && row.stages.contains(stage)) else {
            if let Some(format) = image_format(&name) {
                self.require(&format.since, format!("the layout `{name}`"), item.tokens);
                if number.is_some() {
                    self.report(SemanticError::LayoutValue { name, needed: "no value" }, item.tokens);
                }
                found.traits.format = Some(format);
                return;
            }
            let place = match ROWS.iter().any(|row| is_same(&row)) {
                true => "in this stage",
                false => "for this declaration",
            };
            self.report(SemanticError::Layout { name, place }, item.tokens);
            return;
        };
        self.require(&row.since, format!("the layout `{name}`"), item.tokens);
        let number = match (row.value, number) {
            (Value::None, None) => 0,
            (Value::None, Some(_)) => {
                self.report(SemanticError::LayoutValue { name, needed: "no value" }, item.tokens);
                return;
            }
            (_, number) => match number.and_then(|number| u32::try_from(number).ok()) {
                Some(number) if number > 0 || row.value == Value::Number => number,
                _ => {
                    let needed = match row.value {
                        Value::Positive => "a value above 0",
                        _ => "a value that is not negative",
                    };
                    self.report(SemanticError::LayoutValue { name, needed }, item.tokens);
                    return;
                }
            },
        };
        let is_size = row.places == IN || row.places == OUT;
        if is_size && number > MAX_NUMBER {
            let error = SemanticError::Limit { what: "the value of the layout", limit: MAX_NUMBER.into() };
            self.report(error, item.tokens);
            return;
        }
        if row.name == "index" && number > 1 {
            self.report(SemanticError::LayoutValue { name: name.clone(), needed: "0 or 1" }, item.tokens);
        }
        let had_primitive = found.primitive.is_some();
        (row.set)(found, number);
        if had_primitive && PRIMITIVES.contains(&row.name) {
            let (qualifier, other) = (row.name.to_owned(), "another primitive".to_owned());
            self.report(SemanticError::QualifierConflict { qualifier, other }, item.tokens);
        }
        if found.layouts.len() < MAX_LAYOUTS {
            found.layouts.push((row, item.tokens));
        }
    }

    /// Checks that a declaration may have its layouts.
    pub(super) fn check_layouts(&mut self, found: &Qualifiers, place: Places) {
        for &(row, tokens) in &found.layouts {
            if !row.places.contains(place) {
                self.report_layout(row, tokens);
            }
        }
    }

    fn report_layout(&mut self, row: &Row, tokens: TokenRange) {
        let place = match row.name {
            "depth_any" | "depth_greater" | "depth_less" | "depth_unchanged" => "except for `gl_FragDepth`",
            "origin_upper_left" | "pixel_center_integer" => "except for `gl_FragCoord`",
            _ => "for this declaration",
        };
        self.report(SemanticError::Layout { name: row.name.to_owned(), place }, tokens);
    }
}
