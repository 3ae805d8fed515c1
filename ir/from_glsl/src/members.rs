//! The parts of uniforms that applications set separately: the scalars, vectors, matrices, and arrays of these.

use tgsi_compiler::front_end::{ComponentType, SamplerUniform, UniformMember};

use crate::builtins::variables::state;
use crate::program::{Program, Storage, VariableId};
use crate::symbol::{Interner, Symbol};
use crate::types::{ImageType, Scalar, TypeData, TypeId};

/// The members of a uniform in its registers, in order. Elements beyond the registers are left out.
pub(crate) fn members(
    program: &Program,
    interner: &Interner,
    id: VariableId,
    registers: [u32; 2],
) -> Vec<UniformMember> {
    let variable = program.variable(id);
    let is_state = matches!(variable.storage, Storage::Builtin(_));
    let [register, count] = registers;
    let end = register.saturating_add(count);
    let mut finder = Finder { program, interner, is_state, end, found: Vec::new() };
    finder.add(variable.ty, String::new(), register);
    if let Some(first) = variable.traits.location {
        let mut location = first;
        for member in &mut finder.found {
            member.location = Some(location);
            location = location.saturating_add(member.length.unwrap_or(1));
        }
    }
    finder.found
}

struct Finder<'a> {
    program: &'a Program,
    interner: &'a Interner,
    is_state: bool,
    /// The register after the last one.
    end: u32,
    found: Vec<UniformMember>,
}

impl Finder<'_> {
    /// Adds the members of a type from a register on; returns the next register. The depth is that of nested structs
    /// and arrays, which the parser limits.
    fn add(&mut self, ty: TypeId, path: String, register: u32) -> u32 {
        if register >= self.end {
            return register;
        }
        match self.program.types.get(ty) {
            TypeData::Array { element, length } => {
                let length = length.unwrap_or(0);
                if let Some(mut member) = self.simple(element, path.clone(), register) {
                    member.length = Some(length);
                    self.found.push(member);
                    return register.saturating_add(self.registers(element).saturating_mul(length));
                }
                let mut register = register;
                for number in 0..length {
                    if register >= self.end {
                        break;
                    }
                    register = self.add(element, format!("{path}[{number}]"), register);
                }
                register
            }
            TypeData::Struct(id) => {
                let program = self.program;
                let name = program.types.struct_type(id).and_then(|data| data.name);
                let state = name.and_then(|name| state::state_struct(self.interner.spelling(name)));
                if let Some(data) = state.filter(|_| self.is_state) {
                    for field in data.fields {
                        let (path, rows) = (format!("{path}.{}", field.name), field.components);
                        let register = register + u32::from(field.register);
                        let mut member = UniformMember::new(path, ComponentType::Float, rows, 1, register);
                        member.component = field.component;
                        self.found.push(member);
                    }
                    return register + u32::from(data.registers);
                }
                let mut register = register;
                for field in program.types.fields(ty) {
                    let path = format!("{path}.{}", self.interner.spelling(field.name));
                    register = self.add(field.ty, path, register);
                }
                register
            }
            _ => {
                self.found.extend(self.simple(ty, path, register));
                register.saturating_add(self.registers(ty))
            }
        }
    }

    fn registers(&self, ty: TypeId) -> u32 {
        self.program.types.summary(ty).registers
    }

    /// The member of a scalar, vector or matrix.
    fn simple(&self, ty: TypeId, path: String, register: u32) -> Option<UniformMember> {
        let (scalar, rows, columns) = match self.program.types.get(ty) {
            TypeData::Subroutine(_) => (Scalar::Uint, 1, 1),
            TypeData::Vector { scalar, components } => (scalar, components, 1),
            TypeData::Matrix { scalar, columns, rows } => (scalar, rows, columns),
            _ => return None,
        };
        Some(UniformMember::new(path, scalar.component_type(), rows, columns, register))
    }
}

/// Units of a shader. Arrays of samplers beyond have no names.
const UNITS: u32 = 128;

/// A part of the way from a variable to a sampler.
#[derive(Clone, Copy)]
enum Step {
    Element(u32),
    Field(Symbol),
}

/// The samplers of a uniform by name: those of structs and of arrays of arrays are separate. Their units are those that
/// the IR's pass `lower_samplers` gives them: the first sampler of a struct for all elements of the arrays around it,
/// then the next one.
pub(crate) fn samplers(program: &Program, interner: &Interner, id: VariableId, first: u32) -> Vec<SamplerUniform> {
    let all = opaque_members(program, interner, id, first, |data| matches!(data, TypeData::Sampler(_)).then_some(()));
    all.into_iter().map(|(sampler, ())| sampler).collect()
}

/// The images of a uniform by name, as [`samplers`], with their types.
pub(crate) fn images(
    program: &Program,
    interner: &Interner,
    id: VariableId,
    first: u32,
) -> Vec<(SamplerUniform, ImageType)> {
    opaque_members(program, interner, id, first, |data| match data {
        TypeData::Image(image) => Some(image),
        _ => None,
    })
}

/// The members of a kind, with the values of `kind` for their types.
fn opaque_members<K: Copy>(
    program: &Program,
    interner: &Interner,
    id: VariableId,
    first: u32,
    kind: fn(TypeData) -> Option<K>,
) -> Vec<(SamplerUniform, K)> {
    let variable = program.variable(id);
    let (mut found, mut unit) = (Vec::new(), first);
    // Fields in order; the depth is bounded by the parser.
    let mut pending: Vec<(TypeId, Vec<Step>)> = vec![(variable.ty, Vec::new())];
    while let Some((ty, steps)) = pending.pop() {
        match program.types.get(ty) {
            TypeData::Array { element, length } => {
                pending.push((element, [steps, vec![Step::Element(length.unwrap_or(1))]].concat()));
            }
            TypeData::Struct(_) => {
                let fields = program.types.fields(ty).iter().rev();
                pending.extend(fields.map(|field| (field.ty, [&steps[..], &[Step::Field(field.name)]].concat())));
            }
            data => {
                let Some(kind) = kind(data) else { continue };
                let name = interner.spelling(variable.name).to_owned();
                let ty = program.types.name(ty, interner);
                let mut named = Vec::new();
                named_samplers(interner, name, &ty, &steps, &mut unit, &mut named);
                found.extend(named.into_iter().map(|member| (member, kind)));
            }
        }
    }
    // The elements of all dimensions have consecutive units of the application.
    if let Some(binding) = variable.traits.binding {
        for (sampler, _) in &mut found {
            sampler.initial_unit = binding.saturating_add(sampler.unit.saturating_sub(first));
        }
    }
    found
}

/// Adds the samplers at the end of a way, by name.
fn named_samplers(
    interner: &Interner,
    root: String,
    ty: &str,
    steps: &[Step],
    unit: &mut u32,
    found: &mut Vec<SamplerUniform>,
) {
    let (length, steps) = match steps {
        [steps @ .., Step::Element(length)] => (Some(*length), steps),
        steps => (None, steps),
    };
    let mut names = vec![root];
    for step in steps {
        names = match *step {
            Step::Field(field) => {
                names.into_iter().map(|name| format!("{name}.{}", interner.spelling(field))).collect()
            }
            Step::Element(length) => {
                let elements = names.iter().flat_map(|name| (0..length).map(move |at| format!("{name}[{at}]")));
                elements.take(UNITS as usize).collect()
            }
        };
    }
    let ty = length.map_or_else(|| ty.to_owned(), |length| format!("{ty}[{length}]"));
    let count = length.unwrap_or(1);
    for name in names {
        found.push(SamplerUniform::new(name, ty.clone(), *unit, count));
        *unit = unit.saturating_add(count);
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use tgsi_ir::shader::ShaderStage;

    use crate::options::GlslOptions;

    fn interface(text: &str) -> tgsi_compiler::front_end::Interface {
        let compiled = crate::compile(text.as_bytes(), ShaderStage::Fragment, &GlslOptions::default());
        compiled.module.unwrap_or_else(|| panic!("{:?}", compiled.findings)).interface
    }

    #[test]
    fn structs_have_members() {
        let interface = interface(
            "#version 120\nstruct L { vec3 c[2]; float f; }; uniform L l[2]; uniform mat2 m; void main() {\n\
             gl_FragColor = vec4(l[1].c[1], l[0].f) + m[0].xyxy + gl_Fog.color * gl_Fog.scale; }",
        );
        let members: Vec<(String, u32, Option<u32>)> = interface
            .uniforms
            .iter()
            .flat_map(|uniform| {
                let member = |member: &tgsi_compiler::front_end::UniformMember| {
                    (
                        format!("{}{}", uniform.name, member.path),
                        4 * member.register + u32::from(member.component),
                        member.length,
                    )
                };
                uniform.members.iter().map(member)
            })
            .collect();
        let expected = [
            ("l[0].c", 0, Some(2)),
            ("l[0].f", 8, None),
            ("l[1].c", 12, Some(2)),
            ("l[1].f", 20, None),
            ("m", 24, None),
            ("gl_Fog.color", 32, None),
            ("gl_Fog.density", 36, None),
            ("gl_Fog.start", 37, None),
            ("gl_Fog.end", 38, None),
            ("gl_Fog.scale", 39, None),
        ];
        assert_eq!(members, expected.map(|(name, word, length)| (name.to_owned(), word, length)));
    }

    #[test]
    fn samplers_of_structs_have_units() {
        let interface = interface(
            "#version 120\nstruct S { sampler2D a; sampler2D b[2]; }; uniform S s[2]; void main() {\n\
             gl_FragColor = texture2D(s[0].a, vec2(0.0)) + texture2D(s[1].a, vec2(0.0)) + texture2D(s[1].b[1], vec2(0.0));\n\
             gl_FragColor += texture2D(s[0].b[0], vec2(1.0)); }",
        );
        let units: Vec<(&str, u32, u32)> =
            interface.samplers.iter().map(|s| (s.name.as_str(), s.unit, s.num_units)).collect();
        assert_eq!(units, [("s[0].a", 0, 1), ("s[1].a", 1, 1), ("s[0].b", 2, 2), ("s[1].b", 4, 2)]);
        assert_eq!(interface.unit("s[1].b[1]"), Some(5));
    }
}
