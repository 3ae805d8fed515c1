//! Rewrites a module so that SPIRV-Cross translates it correctly.
//!
//! | module | rewritten as | because |
//! |---|---|---|
//! | `OpBitcast` of a 64-bit float to two words, and back | `UnpackDouble2x32`, `PackDouble2x32` | SPIRV-Cross writes nothing for it in GLSL |
//! | an unsigned `InvocationId` | a signed one, and `OpBitcast` | GLSL's is signed, and outputs of an invocation must be indexed by `gl_InvocationID` itself, not by `uint(gl_InvocationID)` |
//! | an output indexed by a copy of `InvocationId` | indexed by `InvocationId` | as above: a variable with the same value is not allowed |
//! | `Invariant` outputs of tessellation control | removed | SPIRV-Cross writes `invariant gl_Position`, which GLSL has only in blocks there; exact values are `precise` |

use std::collections::{HashMap, HashSet};

use spirv::{BuiltIn, Decoration, ExecutionModel, GlslStd450Op, Op, StorageClass};

use crate::language::Language;

/// Words before the first instruction.
const HEADER: usize = 5;

/// Rewrites the words of a module.
pub fn rewrite_words(words: &[u32], language: Language) -> Vec<u32> {
    let mut rewriter = Rewriter {
        out: words.get(..HEADER).unwrap_or_default().to_vec(),
        bound: words.get(3).copied().unwrap_or(1),
        is_glsl: matches!(language, Language::Glsl | Language::Essl),
        imports: has_import(words),
        ..Rewriter::default()
    };
    let mut rest = words.get(HEADER..).unwrap_or_default();
    while let Some(&first) = rest.first() {
        let (instruction, others) = rest.split_at(((first >> 16).max(1) as usize).min(rest.len()));
        rest = others;
        rewriter.rewrite(first & 0xffff, &instruction[1..]);
    }
    if let Some(bound) = rewriter.out.get_mut(3) {
        *bound = rewriter.bound;
    }
    rewriter.out
}

/// The declarations of the module so far, and the output.
#[derive(Default)]
struct Rewriter {
    out: Vec<u32>,
    bound: u32,
    is_glsl: bool,
    imports: bool,
    /// The id of the instruction set.
    glsl: Option<u32>,
    is_control: bool,
    /// 64-bit float types, types of vectors of two integers, and the types of values.
    doubles: HashSet<u32>,
    pairs: HashSet<u32>,
    types: HashMap<u32, u32>,
    unsigned: HashSet<u32>,
    /// The pointees of pointer types.
    pointers: HashMap<u32, u32>,
    outputs: HashSet<u32>,
    /// The variable `InvocationId`, its signed type, and the ids with its value.
    invocation: Option<u32>,
    signed: Option<u32>,
    numbers: HashSet<u32>,
}

impl Rewriter {
    fn push(&mut self, op: Op, operands: &[u32]) {
        self.out.push((operands.len() as u32 + 1) << 16 | op as u32);
        self.out.extend(operands);
    }

    fn id(&mut self) -> u32 {
        let id = self.bound;
        self.bound += 1;
        id
    }

    /// Loads `InvocationId` again.
    fn number(&mut self, variable: u32, ty: u32) -> u32 {
        let id = self.id();
        self.push(Op::Load, &[ty, id, variable]);
        id
    }

    fn rewrite(&mut self, opcode: u32, operands: &[u32]) {
        let is = |op: Op| opcode == op as u32;
        let is_rewritten = match *operands {
            [id, ..] if is(Op::ExtInstImport) => {
                self.glsl = Some(id);
                false
            }
            [..] if is(Op::MemoryModel) && !self.imports => {
                let id = self.id();
                self.glsl = Some(id);
                let mut operands = vec![id];
                let name = b"GLSL.std.450\0\0\0\0";
                operands.extend(name.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])));
                self.push(Op::ExtInstImport, &operands);
                false
            }
            [model, ..] if is(Op::EntryPoint) => {
                self.is_control = self.is_glsl && model == ExecutionModel::TessellationControl as u32;
                false
            }
            [id, decoration, built_in] if is(Op::Decorate) && decoration == Decoration::BuiltIn as u32 => {
                if self.is_control && built_in == BuiltIn::InvocationId as u32 {
                    self.invocation = Some(id);
                }
                false
            }
            [_, decoration] if is(Op::Decorate) => self.is_control && decoration == Decoration::Invariant as u32,
            [_, _, decoration] if is(Op::MemberDecorate) => {
                self.is_control && decoration == Decoration::Invariant as u32
            }
            [id, 64, ..] if is(Op::TypeFloat) => {
                self.doubles.insert(id);
                false
            }
            [id, 32, 0] if is(Op::TypeInt) => {
                self.unsigned.insert(id);
                false
            }
            [id, _, 2] if is(Op::TypeVector) => {
                self.pairs.insert(id);
                false
            }
            [id, _, to] if is(Op::TypePointer) => {
                self.pointers.insert(id, to);
                false
            }
            [ty, id, storage, ..] if is(Op::Variable) => self.variable(ty, id, storage),
            [ty, id, value] if is(Op::Bitcast) => self.bitcast(ty, id, value),
            [ty, id, pointer, ..] if is(Op::Load) && self.invocation == Some(pointer) => {
                self.numbers.insert(id);
                let signed = self.signed.filter(|&signed| signed != ty);
                if let Some(signed) = signed {
                    let number = self.number(pointer, signed);
                    self.push(Op::Bitcast, &[ty, id, number]);
                }
                signed.is_some()
            }
            [_, _, output, index, ..] if is(Op::AccessChain) && self.outputs.contains(&output) => {
                self.output(operands, index)
            }
            _ => false,
        };
        if let [ty, id, ..] = *operands
            && (self.doubles.contains(&ty) || self.pairs.contains(&ty))
        {
            self.types.insert(id, ty);
        }
        if !is_rewritten {
            self.out.push((operands.len() as u32 + 1) << 16 | opcode);
            self.out.extend(operands);
        }
    }

    fn variable(&mut self, ty: u32, id: u32, storage: u32) -> bool {
        if storage == StorageClass::Output as u32 && self.is_control {
            self.outputs.insert(id);
        }
        let (Some(&to), true) = (self.pointers.get(&ty), self.invocation == Some(id)) else { return false };
        self.signed = Some(to);
        if !self.unsigned.contains(&to) {
            return false;
        }
        let (signed, pointer) = (self.id(), self.id());
        self.signed = Some(signed);
        self.push(Op::TypeInt, &[signed, 32, 1]);
        self.push(Op::TypePointer, &[pointer, storage, signed]);
        self.push(Op::Variable, &[pointer, id, storage]);
        true
    }

    fn bitcast(&mut self, ty: u32, id: u32, value: u32) -> bool {
        if self.numbers.contains(&value) {
            self.numbers.insert(id);
        }
        let from = self.types.get(&value).copied().unwrap_or_default();
        let op = match (self.doubles.contains(&from), self.doubles.contains(&ty)) {
            (true, false) if self.pairs.contains(&ty) => GlslStd450Op::UnpackDouble2x32,
            (false, true) if self.pairs.contains(&from) => GlslStd450Op::PackDouble2x32,
            _ => return false,
        };
        let Some(set) = self.glsl else { return false };
        self.push(Op::ExtInst, &[ty, id, set, op as u32, value]);
        true
    }

    /// Emits a pointer to an output indexed by `InvocationId`.
    fn output(&mut self, operands: &[u32], index: u32) -> bool {
        let (Some(variable), Some(signed), true) = (self.invocation, self.signed, self.numbers.contains(&index)) else {
            return false;
        };
        let number = self.number(variable, signed);
        let mut operands = operands.to_vec();
        if let Some(index) = operands.get_mut(3) {
            *index = number;
        }
        self.push(Op::AccessChain, &operands);
        true
    }
}

/// Returns whether the module imports an instruction set.
fn has_import(words: &[u32]) -> bool {
    let mut at = HEADER;
    while let Some(&first) = words.get(at) {
        if first & 0xffff == Op::ExtInstImport as u32 {
            return true;
        }
        if first & 0xffff == Op::MemoryModel as u32 {
            return false;
        }
        at += (first >> 16).max(1) as usize;
    }
    false
}

#[cfg(test)]
mod tests {
    use tgsi_compiler::{Compiler, Driver};

    use crate::{ESSL, GLSL};

    #[test]
    fn outputs_of_tessellation_control_are_written_at_the_invocation() {
        let text = "TESS_CTRL\nPROPERTY TCS_VERTICES_OUT 3\nDCL IN[][0], POSITION\nDCL IN[][1], GENERIC[0]\nDCL SV[0], INVOCATIONID\n\
            DCL OUT[][0], POSITION\nDCL OUT[][1], GENERIC[0]\nDCL TEMP[0]\nDCL ADDR[0]\nUARL ADDR[0].x, SV[0].xxxx\n\
            ADD TEMP[0], IN[ADDR[0].x][1], IN[1][1]\nMOV OUT[ADDR[0].x][0], IN[ADDR[0].x][0]\n\
            MOV OUT[ADDR[0].x][1].xy, TEMP[0]\nEND\n";
        let source = tgsi::text::parse(text.as_bytes()).expect("a shader").shader;
        for driver in [&GLSL, &ESSL] {
            let compiler = Compiler::for_target(driver.target(&[]).expect("no options").into());
            let text = compiler.compile(&source).expect("a text").into_bytes();
            let text = String::from_utf8(text).expect("a text");
            assert!(text.contains("gl_out[gl_InvocationID].gl_Position ="), "{text}");
            assert!(text.contains("[gl_InvocationID].x =") || text.contains("[gl_InvocationID].xy ="), "{text}");
            assert!(!text.contains("invariant gl_Position"), "{text}");
        }
    }
}
