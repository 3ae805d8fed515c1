//! Layouts of a shader as a whole: those of `in;`, `out;`, `uniform;` and `buffer;`.

use tgsi_ir::shader::ShaderStage;

use super::layouts::Places;
use super::qualifiers::Qualifiers;
use super::{Analyzer, SemanticError};
use crate::program::DerivativeGroup;
use crate::token::TokenRange;

impl Analyzer<'_> {
    /// Adds the layouts of `in;`, `out;`, `uniform;` and `buffer;` to those of the shader.
    pub(super) fn default_layouts(&mut self, found: &Qualifiers, tokens: TokenRange) {
        use super::qualifiers::StorageQualifier as S;
        let place = match found.storage {
            S::In => Places::IN,
            S::Out => Places::OUT,
            S::Uniform | S::Buffer => Places::MEMORY,
            _ => Places::OTHER,
        };
        self.check_layouts(found, place);
        match found.storage {
            S::In => self.input_layouts(found, tokens),
            S::Out => self.output_layouts(found, tokens),
            S::Uniform | S::Buffer => {
                let defaults =
                    if found.storage == S::Buffer { &mut self.buffer_defaults } else { &mut self.uniform_defaults };
                defaults.0 = found.packing.unwrap_or(defaults.0);
                defaults.1 = found.row_major.unwrap_or(defaults.1);
                if found.is_std430 && found.storage == S::Uniform {
                    self.report(SemanticError::Layout { name: "std430".to_owned(), place: "for uniforms" }, tokens);
                }
            }
            _ => {}
        }
    }

    fn input_layouts(&mut self, found: &Qualifiers, tokens: TokenRange) {
        let layout = &mut self.program.layout;
        layout.early_fragment_tests |= found.early_fragment_tests;
        layout.post_depth_coverage |= found.post_depth_coverage;
        layout.inner_coverage |= found.inner_coverage;
        layout.origin_upper_left |= found.origin_upper_left;
        layout.pixel_center_integer |= found.pixel_center_integer;
        let mut stage = layout.stage;
        let mut conflict = (layout.post_depth_coverage && layout.inner_coverage).then_some(());
        conflict = conflict.or(merge(&mut stage.input, found.primitive));
        conflict = conflict.or(merge(&mut stage.invocations, found.stage.invocations));
        conflict = conflict.or(merge(&mut stage.spacing, found.stage.spacing));
        conflict = conflict.or(merge(&mut stage.is_clockwise, found.stage.is_clockwise));
        if found.stage.local_size.iter().any(Option::is_some) {
            // A dimension that is not stated is 1.
            let sizes = found.stage.local_size.map(|size| Some(size.unwrap_or(1)));
            for (known, new) in stage.local_size.iter_mut().zip(sizes) {
                conflict = conflict.or(merge(known, new));
            }
        }
        conflict = conflict.or(merge(&mut stage.derivative_group, found.stage.derivative_group));
        conflict = conflict.or(merge(&mut stage.interlock, found.stage.interlock));
        stage.point_mode |= found.stage.point_mode;
        stage.is_size_variable |= found.stage.is_size_variable;
        if stage.is_size_variable && stage.local_size != [None; 3] {
            conflict = Some(());
        }
        self.program.layout.stage = stage;
        self.report_conflict(conflict, tokens);
        if found.stage.local_size.iter().any(Option::is_some) {
            self.check_local_size(tokens);
        }
        if found.primitive.is_some() && self.program.stage == ShaderStage::Geometry {
            self.size_inputs(tokens);
        }
    }

    fn output_layouts(&mut self, found: &Qualifiers, tokens: TokenRange) {
        let mut stage = self.program.layout.stage;
        let mut conflict = merge(&mut stage.output, found.primitive);
        conflict = conflict.or(merge(&mut stage.max_vertices, found.stage.max_vertices));
        conflict = conflict.or(merge(&mut stage.vertices, found.stage.vertices));
        stage.stream = found.traits.stream.or(stage.stream);
        self.program.layout.stage = stage;
        self.report_conflict(conflict, tokens);
        self.capture_defaults(found, tokens);
        if let Some(stream) = found.traits.stream {
            self.check_stream(stream, tokens);
        }
        if found.stage.vertices.is_some() {
            self.size_outputs(tokens);
        }
    }

    fn report_conflict(&mut self, conflict: Option<()>, tokens: TokenRange) {
        if conflict.is_some() {
            let (qualifier, other) = ("this layout".to_owned(), "an earlier one of the shader".to_owned());
            self.report(SemanticError::QualifierConflict { qualifier, other }, tokens);
        }
    }

    /// Checks the number of a stream.
    pub(super) fn check_stream(&mut self, stream: u32, tokens: TokenRange) {
        const STREAMS: u32 = 4;
        if stream >= STREAMS {
            let needed = "a value from 0 to 3";
            self.report(SemanticError::LayoutValue { name: "stream".to_owned(), needed }, tokens);
        }
    }

    /// Checks the size of workgroups against the limits of the language.
    fn check_local_size(&mut self, tokens: TokenRange) {
        const LIMITS: [u32; 3] = [1024, 1024, 64];
        const INVOCATIONS: u64 = 1024;
        let sizes = self.program.layout.stage.local_size.map(|size| size.unwrap_or(1));
        for (size, limit) in sizes.into_iter().zip(LIMITS) {
            if size > limit {
                self.report(SemanticError::Limit { what: "the size of a workgroup", limit: limit.into() }, tokens);
                return;
            }
        }
        let count: u64 = sizes.into_iter().map(u64::from).product();
        if count > INVOCATIONS {
            self.report(SemanticError::Limit { what: "the size of a workgroup", limit: INVOCATIONS }, tokens);
        }
    }

    /// Checks at the end that the workgroup consists of whole derivative groups.
    pub(super) fn check_derivative_group(&mut self) {
        let layout = &self.program.layout.stage;
        let (Some(group), false) = (layout.derivative_group, layout.is_size_variable) else { return };
        let [x, y, z] = layout.local_size.map(|size| size.unwrap_or(1));
        let needed = match group {
            DerivativeGroup::Quads if x % 2 != 0 || y % 2 != 0 => "a workgroup whose width and height are even",
            DerivativeGroup::Linear if x.wrapping_mul(y).wrapping_mul(z) % 4 != 0 => {
                "a workgroup with a multiple of four invocations"
            }
            _ => return,
        };
        let tokens = self.program.main.map(|main| self.program.function(main).tokens).unwrap_or_default();
        let name = match group {
            DerivativeGroup::Quads => "derivative_group_quadsNV",
            DerivativeGroup::Linear => "derivative_group_linearNV",
        };
        self.report(SemanticError::LayoutValue { name: name.to_owned(), needed }, tokens);
    }
}

/// Adds a layout to an earlier one. Returns whether they differ.
fn merge<T: Copy + PartialEq>(known: &mut Option<T>, new: Option<T>) -> Option<()> {
    let new = new?;
    let conflict = known.is_some_and(|known| known != new).then_some(());
    *known = Some(new);
    conflict
}
