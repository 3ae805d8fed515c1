//! Checks that the assigned slots and units exist.

use rustc_hash::FxHashMap;
use tgsi_compiler::front_end::{Interface, InterfaceVariable};
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::slots::{FragResult, VaryingSlot, VertAttrib};

use crate::analyze::SemanticError;
use crate::program::{Program, Storage, VariableId};
use crate::symbol::Interner;
use crate::token::TokenRange;

/// Generic vertex attributes: `gl_MaxVertexAttribs`.
pub(crate) const ATTRIBUTES: u32 = 16;
/// Slots between stages, from `VAR0` on.
pub(crate) const VARYINGS: u32 = 32;
/// Outputs of fragment shaders.
const COLORS: u32 = 8;
/// Units of samplers.
pub(crate) const UNITS: u32 = 32;

/// A variable that got slots that do not exist.
pub(crate) struct Exceeded {
    pub(crate) error: SemanticError,
    pub(crate) place: TokenRange,
    /// The largest other variable: its declaration, and the slots that it takes.
    pub(crate) other: Option<(TokenRange, String)>,
}

/// Slots of one kind.
#[derive(Clone, Copy, PartialEq)]
struct Kind {
    /// The name of the slots, in plural.
    name: &'static str,
    first: i64,
    count: u32,
}

/// Variables of one kind with their first slots and the number of slots.
type Assigned = Vec<(VariableId, i64, u32)>;

/// Returns the first variable of each kind of slots that does not fit.
pub(crate) fn find_exceeded(interface: &Interface, program: &Program, interner: &Interner) -> Vec<Exceeded> {
    let own = program.globals.iter().filter(|&&id| !matches!(program.variable(id).storage, Storage::Builtin(_)));
    let by_name: FxHashMap<&str, VariableId> =
        own.map(|&id| (interner.spelling(program.variable(id).name), id)).collect();
    // Samplers in structs have the name of the variable before a dot.
    let find =
        |name: &str| by_name.get(name).or_else(|| by_name.get(name.split(['.', '[']).next().unwrap_or(name))).copied();
    let slots_of = |id: VariableId| program.slots(id);
    let in_slots = |list: &[InterfaceVariable], is_patch: bool| -> Assigned {
        let found = list.iter().filter_map(|v| find(&v.name).map(|id| (id, v.location.into(), slots_of(id))));
        found.filter(|&(id, ..)| program.variable(id).traits.patch == is_patch).collect()
    };
    let samplers = interface.samplers.iter();
    let samplers = samplers.filter_map(|v| find(&v.name).map(|id| (id, v.unit.into(), v.num_units))).collect();
    let attributes = Kind { name: "slots of vertex attributes", first: VertAttrib::GENERIC0.into(), count: ATTRIBUTES };
    let varyings = Kind { name: "slots between stages", first: VaryingSlot::VAR0.into(), count: VARYINGS };
    let colors = Kind { name: "outputs of fragment shaders", first: FragResult::DATA0.into(), count: COLORS };
    let is_vertex = program.stage == ShaderStage::Vertex;
    let is_fragment = program.stage == ShaderStage::Fragment;
    let patches = Kind { name: "slots of patches", first: VaryingSlot::PATCH0.into(), count: VARYINGS };
    let all: [(Kind, Assigned); 5] = [
        (if is_vertex { attributes } else { varyings }, in_slots(&interface.inputs, false)),
        (if is_fragment { colors } else { varyings }, in_slots(&interface.outputs, false)),
        (patches, in_slots(&interface.inputs, true)),
        (patches, in_slots(&interface.outputs, true)),
        (Kind { name: "units of samplers", first: 0, count: UNITS }, samplers),
    ];
    all.iter().filter_map(|(kind, assigned)| exceeded(*kind, assigned, program, interner)).collect()
}

fn exceeded(kind: Kind, assigned: &Assigned, program: &Program, interner: &Interner) -> Option<Exceeded> {
    let end = kind.first + i64::from(kind.count);
    let name = |id: VariableId| interner.spelling(program.variable(id).name).to_owned();
    let &(id, _, needed) = assigned.iter().find(|&&(_, first, slots)| first + i64::from(slots) > end)?;
    let others = assigned.iter().filter(|&&(other, first, _)| other != id && first < end);
    let largest = others.max_by_key(|&&(other, _, slots)| (slots, std::cmp::Reverse(other)));
    let other =
        largest.map(|&(other, _, slots)| (program.variable(other).tokens, format!("`{}` takes {slots}", name(other))));
    let error = SemanticError::TooFewSlots { name: name(id), needed, limit: kind.count, slots: kind.name };
    Some(Exceeded { error, place: program.variable(id).tokens, other })
}

#[cfg(test)]
mod tests {
    use tgsi_diagnostics::LineIndex;
    use tgsi_ir::ShaderStage;

    use crate::{GlslOptions, compile};
    use ShaderStage::{Fragment, Vertex};

    /// The findings of a shader with their notes.
    fn findings(text: &str, stage: ShaderStage) -> Vec<String> {
        let lines = LineIndex::new(text.as_bytes());
        let at = |position| lines.line_column(position);
        let compiled = compile(text.as_bytes(), stage, &GlslOptions::default());
        assert_eq!(compiled.module.is_none(), compiled.findings.iter().any(|finding| finding.is_error()));
        let of = |finding: &tgsi_diagnostics::Diagnostic| {
            let notes: String =
                finding.notes.iter().map(|note| format!("; {:?} {}", at(note.span.start), note.message)).collect();
            format!("{:?} {} {}{notes}", at(finding.span.start), finding.code.id, finding.message)
        };
        compiled.findings.iter().map(of).collect()
    }

    #[test]
    fn attributes_have_sixteen_slots() {
        let unit = |declarations: &str, sum: &str| {
            format!("attribute mat4 a, b, c;\n{declarations}\nvoid main() {{ gl_Position = {sum}; }}\n")
        };
        let all = "a[0] + b[0] + c[0]";
        let full = unit("attribute mat3 d; attribute vec4 e;", &format!("{all} + e + d[0].xyzz"));
        assert_eq!(findings(&full, Vertex), [""; 0]);
        let with_vertex = unit("attribute mat3 d;", &format!("{all} + gl_Vertex + d[0].xyzz"));
        assert_eq!(findings(&with_vertex, Vertex), [""; 0]);
        let more = unit("attribute mat4 d;", &format!("{all} + gl_Vertex + d[0]"));
        assert_eq!(
            findings(&more, Vertex),
            ["(2, 16) G0352 `d` does not fit: it takes 4 of the 16 slots of vertex attributes; (1, 16) `a` takes 4"]
        );
        // Attributes that are not used take none.
        assert_eq!(findings(&unit("attribute mat4 d, e, f;", all), Vertex), [""; 0]);
        // One error for all that do not fit.
        let many: String = (0..40).map(|number| format!("attribute vec4 v{number};\n")).collect();
        let sum: String = (0..40).map(|number| format!(" + v{number}")).collect();
        assert_eq!(findings(&format!("{many}void main() {{ gl_Position = {sum}; }}"), Vertex).len(), 1);
    }

    #[test]
    fn varyings_have_thirty_two_slots() {
        let unit = |length: u32| {
            format!(
                "varying vec4 a[{length}], b;\nvoid main() {{ a[{}] = b = vec4(1.0); gl_Position = b; }}",
                length - 1
            )
        };
        assert_eq!(findings(&unit(31), Vertex), [""; 0]);
        assert_eq!(
            findings(&unit(32), Vertex),
            ["(1, 21) G0352 `b` does not fit: it takes 1 of the 32 slots between stages; (1, 14) `a` takes 32"]
        );
        let read = "varying vec4 a[33];\nvoid main() { gl_FragColor = a[2]; }";
        assert_eq!(
            findings(read, Fragment),
            ["(1, 14) G0352 `a` does not fit: it takes 33 of the 32 slots between stages"]
        );
    }

    #[test]
    fn samplers_have_thirty_two_units() {
        let unit = |length: u32| {
            format!(
                "uniform sampler2D a, b[{length}];\nvoid main() {{ gl_FragColor = texture2D(a, vec2(0.0)) + \
                 texture2D(b[0], vec2(0.0)); }}"
            )
        };
        assert_eq!(findings(&unit(31), Fragment), [""; 0]);
        let unused = "varying vec4 a[99]; uniform sampler2D b[99];\nvoid main() { vec4 c = texture2D(b[3], a[2].xy); }";
        assert_eq!(findings(unused, Fragment), [""; 0]);
        assert_eq!(
            findings(&unit(32), Fragment),
            ["(1, 22) G0352 `b` does not fit: it takes 32 of the 32 units of samplers; (1, 19) `a` takes 1"]
        );
    }
}
