//! C headers with programs as data, for loaders on any machine: words are numbers of the host.

use std::fmt::Write;

use tgsi_compiler::front_end::Interface;

use super::names::{self, Named, Type};
use super::uniforms::{Uniforms, used_by_fragment, used_by_vertex};
use super::{ContainerError, check};
use crate::program::{Program, Texture, Varying};

/// Returns a C header. The names of its data begin with `name`, which must be an identifier. Each table has a number of
/// entries; a table without entries is absent.
///
/// # Errors
/// [`ContainerError`] if a name or number of the program is invalid.
pub fn write_c(program: &Program, interface: &Interface, name: &str) -> Result<String, ContainerError> {
    check::program(program)?;
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !name.starts_with(is_start) || !name.chars().all(|c| is_start(c) || c.is_ascii_digit()) {
        return Err(ContainerError::Name(name.to_owned(), "is not an identifier of C"));
    }
    let guard = format!("{}_H", name.to_ascii_uppercase());
    let text = format!("#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n");
    let mut header = Header { name, text };
    let used = match program {
        Program::Vertex(program) => used_by_vertex(program, interface),
        Program::Fragment(program) => used_by_fragment(program),
    };
    let (inputs, outputs, textures) = match program {
        Program::Vertex(program) => {
            header.comment(&format!("A vertex program for {}. Each slot has four words.", program.chip));
            header.words("code", program.slots.as_flattened());
            header.number("temporaries", "Temporary registers.", program.temporaries.into());
            header.number("input_mask", "Attributes that are read, one bit each.", program.input_mask());
            header.number("output_mask", "Outputs that are written: method 0x1ff4.", program.output_mask());
            header.number("constants", "Constants that are used, literals included.", program.constants.into());
            let literal = |literal: &crate::program::Literal| {
                let [x, y, z, w] = literal.words;
                format!("{}, {{{x:#010x}, {y:#010x}, {z:#010x}, {w:#010x}}}", literal.constant)
            };
            let fields = "uint32_t constant, words[4];";
            header.table(
                "literals",
                "Constants to load with the program.",
                fields,
                program.literals.iter().map(literal),
            );
            let slots = |slots: &[u16]| slots.iter().map(u16::to_string).collect::<Vec<_>>();
            header.list("branches", "Slots with branch targets.", &slots(&program.branches));
            header.list("constant_slots", "Slots with numbers of constants.", &slots(&program.constant_slots));
            (&program.inputs, &program.outputs, &program.textures)
        }
        Program::Fragment(program) => {
            header.comment(&format!("A fragment program for {}. Each slot has four words.", program.chip));
            header.words("code", &program.program.words);
            header.number("registers", "R registers that are used.", program.registers.into());
            header.number("control", "The control register: method 0x1d60.", program.control());
            header.number("texcoords", "Texture coordinates that are read, one bit each.", program.texcoords().into());
            let comment = "Texture coordinates of which only x and y are read, one bit each.";
            header.number("texcoords_2d", comment, program.texcoords_2d().into());
            let patches = program.program.patches.iter();
            let patches = patches.map(|patch| format!("{}, {}", patch.constant, patch.slot));
            header.table("patches", "Slots of the code with a uniform.", "uint32_t constant, slot;", patches);
            (&program.inputs, &program.outputs, &program.textures)
        }
    };
    header.varyings("inputs", "Inputs.", &names::varyings(inputs, &interface.inputs, "in"))?;
    header.varyings("outputs", "Outputs.", &names::varyings(outputs, &interface.outputs, "out"))?;
    header.samplers(&names::samplers(textures, interface))?;
    header.uniforms(&Uniforms::new(interface, &used)?)?;
    header.text += "#endif\n";
    Ok(header.text)
}

struct Header<'a> {
    name: &'a str,
    text: String,
}

impl Header<'_> {
    fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    fn comment(&mut self, comment: &str) {
        self.line(&format!("/* {comment} */"));
    }

    fn number(&mut self, what: &str, comment: &str, number: u32) {
        self.comment(comment);
        self.line(&format!("static const uint32_t {}_{what} = {number:#x};", self.name));
    }

    /// Words, four in a line.
    fn words(&mut self, what: &str, words: &[u32]) {
        let name = self.name;
        self.line(&format!("static const uint32_t {name}_slots = {};", words.len() / 4));
        if words.is_empty() {
            return;
        }
        self.line(&format!("static const uint32_t {name}_{what}[{}] = {{", words.len()));
        for slot in words.chunks(4) {
            let words: Vec<_> = slot.iter().map(|word| format!("{word:#010x}")).collect();
            self.line(&format!("    {},", words.join(", ")));
        }
        self.line("};");
    }

    fn list(&mut self, what: &str, comment: &str, numbers: &[String]) {
        let name = self.name;
        self.comment(comment);
        self.line(&format!("static const uint32_t {name}_num_{what} = {};", numbers.len()));
        if !numbers.is_empty() {
            let numbers = numbers.join(", ");
            self.line(&format!("static const uint32_t {name}_{what}[] = {{{numbers}}};"));
        }
    }

    /// A table of structs.
    fn table(&mut self, what: &str, comment: &str, fields: &str, rows: impl Iterator<Item = String>) {
        let name = self.name;
        let rows: Vec<_> = rows.collect();
        self.comment(comment);
        self.line(&format!("static const uint32_t {name}_num_{what} = {};", rows.len()));
        if rows.is_empty() {
            return;
        }
        self.line(&format!("static const struct {{ {fields} }} {name}_{what}[] = {{"));
        rows.iter().for_each(|row| self.line(&format!("    {{{row}}},")));
        self.line("};");
    }

    fn varyings(&mut self, what: &str, comment: &str, list: &[Named<Varying>]) -> Result<(), ContainerError> {
        // Lookups in these tables are the application's, which may respect case.
        let row = |named: &Named<Varying>| {
            let Varying { register, location, number, component, mask } = named.item;
            Ok(format!("{}, {register}, {location}, {number}, {component}, {mask:#x}", string(&named.name)?))
        };
        let rows: Result<Vec<_>, ContainerError> = list.iter().map(row).collect();
        let fields = "const char *name; uint32_t reg; int32_t location; uint32_t number, component, mask;";
        self.table(what, comment, fields, rows?.into_iter());
        Ok(())
    }

    fn samplers(&mut self, list: &[Named<Texture>]) -> Result<(), ContainerError> {
        let row = |named: &Named<Texture>| {
            let Texture { unit, is_shadow, .. } = named.item;
            Ok(format!("{}, {unit}, {}, {}", string(&named.name)?, string(&type_name(named.ty))?, u8::from(is_shadow)))
        };
        let rows: Result<Vec<_>, ContainerError> = list.iter().map(row).collect();
        let fields = "const char *name; uint32_t unit; const char *type; uint32_t is_shadow;";
        self.table("samplers", "Texture units.", fields, rows?.into_iter());
        Ok(())
    }

    fn uniforms(&mut self, uniforms: &Uniforms) -> Result<(), ContainerError> {
        let mut rows = Vec::new();
        for leaf in &uniforms.leaves {
            let first = [leaf.whole()].into_iter().filter(|_| leaf.is_array);
            for run in first.chain(leaf.elements()) {
                let (name, ty) = (string(&run.name)?, string(&type_name(run.ty))?);
                rows.push(format!("{name}, {ty}, {}, {}", run.register, run.rows));
            }
        }
        let fields = "const char *name, *type; uint32_t constant, count;";
        self.table("uniforms", "Uniforms: each has `count` constants.", fields, rows.into_iter());
        let registers = uniforms.leaves.iter().flat_map(|leaf| leaf.register..leaf.register + leaf.rows);
        let initial = registers.filter_map(|register| {
            let [x, y, z, w] = uniforms.stated_initial(register)?;
            Some(format!("{register}, {{{x:#010x}, {y:#010x}, {z:#010x}, {w:#010x}}}"))
        });
        let comment = "Initial values of uniforms.";
        self.table("initial_values", comment, "uint32_t constant, words[4];", initial);
        self.line("");
        Ok(())
    }
}

/// The name of a type in Cg. Rows of matrices are registers.
fn type_name(ty: Type) -> String {
    use crate::program::TextureKind::{Cube, D1, D2, D3, Rect};
    let scalar = |is_bool| if is_bool { "bool" } else { "float" };
    match ty {
        Type::Vector { is_bool, size: 1 } => scalar(is_bool).to_owned(),
        Type::Vector { is_bool, size } => format!("{}{size}", scalar(is_bool)),
        Type::Matrix { rows, size } => format!("float{rows}x{size}"),
        Type::Sampler(D1) => "sampler1D".to_owned(),
        Type::Sampler(D2) => "sampler2D".to_owned(),
        Type::Sampler(D3) => "sampler3D".to_owned(),
        Type::Sampler(Cube) => "samplerCUBE".to_owned(),
        Type::Sampler(Rect) => "samplerRECT".to_owned(),
    }
}

/// A string literal. Bytes that are not printable are octal; `?` is escaped, as it may begin a trigraph.
fn string(text: &str) -> Result<String, ContainerError> {
    if text.contains('\0') {
        return Err(ContainerError::Name(text.to_owned(), "contains a zero byte"));
    }
    let mut literal = String::from("\"");
    for byte in text.bytes() {
        let _ = match byte {
            b'"' | b'\\' | b'?' => write!(literal, "\\{}", char::from(byte)),
            b' '..=b'~' => write!(literal, "{}", char::from(byte)),
            _ => write!(literal, "\\{byte:03o}"),
        };
    }
    literal.push('"');
    Ok(literal)
}
