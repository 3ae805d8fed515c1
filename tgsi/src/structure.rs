//! The control structure of a shader: matches the instructions that open, close, continue and leave blocks.
//!
//! Labels in texts are often missing or wrong, and the executors of this crate never follow them (`CAL` excepted), so
//! the structure is computed from nesting alone, in one pass with an explicit stack: memory bounds the depth, not the
//! call stack.

use thiserror::Error;

use crate::call_graph::CallGraph;
use crate::operands::OperandCountError;
use crate::shader::{Shader, Written};
use crate::tables::{BlockPart, Opcode};
use tgsi_diagnostics::Span;

/// The value of [`Structure::partner`] for an instruction without a partner.
pub const NO_PARTNER: u32 = u32::MAX;

/// The control structure of one shader. Instructions are referred to by number.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// For each instruction, its branch target or the instruction that it is paired with, or [`NO_PARTNER`]:
    ///
    /// | instruction | partner |
    /// |---|---|
    /// | `IF`, `UIF` | its `ELSE`, or else its `ENDIF` |
    /// | `ELSE` | its `ENDIF` |
    /// | `ENDIF` | its `IF` / `UIF` |
    /// | `BGNLOOP` | its `ENDLOOP` |
    /// | `ENDLOOP` | its `BGNLOOP` |
    /// | `SWITCH` | the first `CASE` / `DEFAULT`, or its `ENDSWITCH` |
    /// | `CASE`, `DEFAULT` | the next `CASE` / `DEFAULT` of the same switch, or its `ENDSWITCH` |
    /// | `ENDSWITCH` | its `SWITCH` |
    /// | `BRK` | the `ENDLOOP` or `ENDSWITCH` of the block that it leaves |
    /// | `CONT` | the `ENDLOOP` of the innermost loop |
    /// | `BGNSUB` | its `ENDSUB` |
    /// | `ENDSUB` | its `BGNSUB` |
    /// | `CAL` | the `BGNSUB` that it calls |
    pub partner: Vec<u32>,
    /// Subroutines as (`BGNSUB`, `ENDSUB`), in text order.
    pub subroutines: Vec<(u32, u32)>,
    /// Number of the first `END`, or the number of instructions if there is no `END`.
    pub end: u32,
    /// Maximum nesting depth of blocks.
    pub max_depth: u32,
}

impl Structure {
    /// Returns the number of instructions of each subroutine, followed by that of the main program.
    pub fn sizes(&self) -> Vec<u64> {
        let subroutines = self.subroutines.iter().map(|&(begin, end)| u64::from(end - begin) - 1);
        subroutines.chain([u64::from(self.end)]).collect()
    }
}

/// An error of a shader that can be neither run nor converted. [`crate::check`] reports these, and others.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MalformedShader {
    /// Blocks do not nest, or a call has no valid target.
    #[error("{}", .0.first().map_or_else(|| String::from("broken control structure"), ToString::to_string))]
    Structure(Vec<StructureError>),
    /// An instruction has fewer operands than its opcode needs.
    #[error(transparent)]
    Operands(#[from] OperandCountError),
}

impl MalformedShader {
    tgsi_diagnostics::error_codes! {
        Structure => "T0600" "structure",
        Operands => "T0400" "operand-count",
    }

    /// Returns the position of the (first) error.
    pub fn span(&self) -> Option<Span> {
        match self {
            MalformedShader::Structure(errors) => errors.first().map(StructureError::span),
            MalformedShader::Operands(error) => Some(error.span),
        }
    }
}

/// Returns the control structure of a shader, after checking that all instructions have the operands that they need.
pub fn prepared(shader: &Shader) -> Result<Structure, MalformedShader> {
    let structure = structure(shader).map_err(MalformedShader::Structure)?;
    for (number, instruction) in shader.instructions.iter().enumerate() {
        let info = instruction.opcode.info();
        // In old token streams EMIT and ENDPRIM lack the stream operand, which means stream 0.
        let optional = matches!(instruction.opcode, Opcode::Emit | Opcode::Endprim);
        if instruction.dst.len() < usize::from(info.num_dst)
            || (instruction.src.len() < usize::from(info.num_src) && !optional)
        {
            let (opcode, span) = (instruction.opcode, instruction.span);
            return Err(OperandCountError { opcode, instruction: number as u32, span }.into());
        }
    }
    Ok(structure)
}

/// An error in the nesting of a shader.
#[derive(Clone, Debug, PartialEq)]
pub enum StructureError {
    /// A closing or dividing instruction without an opening one.
    Unopened {
        /// The unmatched instruction.
        opcode: Opcode,
        /// The opcode that opens such a block.
        opening: &'static str,
        /// Number of the instruction that opened the innermost block around it, if any.
        inside: Option<u32>,
        /// Its number.
        instruction: u32,
        /// Its position.
        span: Span,
    },
    /// A block that is never closed.
    Unclosed {
        /// The opening instruction.
        opcode: Opcode,
        /// Its number.
        instruction: u32,
        /// Its position.
        span: Span,
    },
    /// A block closed by the wrong instruction.
    Crossed {
        /// The closing instruction.
        opcode: Opcode,
        /// The opcode that opened the block.
        open: Opcode,
        /// Its number.
        open_instruction: u32,
        /// Number of the closing instruction.
        instruction: u32,
        /// Its position.
        span: Span,
    },
    /// A second `ELSE` in one `IF`, a second `DEFAULT` in one `SWITCH`.
    Repeated {
        /// The instruction.
        opcode: Opcode,
        /// Number of the first one.
        first: u32,
        /// Its number.
        instruction: u32,
        /// Its position.
        span: Span,
    },
    /// `CAL` without a label or with one that names no `BGNSUB`.
    BadCall {
        /// The label.
        target: Option<u32>,
        /// Number of the `CAL`.
        instruction: u32,
        /// Its position.
        span: Span,
    },
    /// A subroutine that calls itself, directly or indirectly.
    Recursion {
        /// Number of the `BGNSUB`.
        subroutine: u32,
        /// Number of a `CAL` in the cycle.
        instruction: u32,
        /// Its position.
        span: Span,
    },
    /// `BGNSUB` inside a block.
    NestedSubroutine {
        /// Number of the instruction that opened the block.
        inside: u32,
        /// Number of the `BGNSUB`.
        instruction: u32,
        /// Its position.
        span: Span,
    },
}

impl std::error::Error for StructureError {}

impl std::fmt::Display for StructureError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message(&Written::default()))
    }
}

impl StructureError {
    /// Returns the message, with the mnemonics and numbers of the text.
    pub(crate) fn message(&self, written: &Written) -> String {
        let name = |number: u32, opcode: Opcode| written.mnemonic(number, opcode);
        match *self {
            StructureError::Unopened { opcode, opening, instruction, .. } => {
                format!("{} without {opening}", name(instruction, opcode))
            }
            StructureError::Unclosed { opcode, instruction, .. } => {
                format!("{} is never closed", name(instruction, opcode))
            }
            StructureError::Crossed { opcode, open, open_instruction, instruction, .. } => format!(
                "{} cannot close the {} of instruction {}",
                name(instruction, opcode),
                name(open_instruction, open),
                written.number(open_instruction)
            ),
            StructureError::Repeated { opcode, instruction, .. } => {
                format!("second {} in one block", name(instruction, opcode))
            }
            StructureError::BadCall { target, instruction, .. } => {
                let call = name(instruction, Opcode::Cal);
                match target {
                    Some(target) => format!("{call} to instruction {}, which is not a BGNSUB", written.number(target)),
                    None => format!("{call} without a label"),
                }
            }
            StructureError::Recursion { subroutine, .. } => {
                format!("subroutine at instruction {} calls itself", written.number(subroutine))
            }
            StructureError::NestedSubroutine { .. } => "BGNSUB inside another block".to_owned(),
        }
    }

    /// Returns the position of the instruction concerned.
    pub fn span(&self) -> Span {
        match self {
            StructureError::Unopened { span, .. }
            | StructureError::Unclosed { span, .. }
            | StructureError::Crossed { span, .. }
            | StructureError::Repeated { span, .. }
            | StructureError::BadCall { span, .. }
            | StructureError::Recursion { span, .. }
            | StructureError::NestedSubroutine { span, .. } => *span,
        }
    }
}

/// An open block.
struct OpenBlock {
    opcode: Opcode,
    instruction: u32,
    /// The last `ELSE`, `CASE` or `DEFAULT` (or the opener); the next divider or the closer becomes its partner.
    last_divider: u32,
    /// The `ELSE` or `DEFAULT`.
    divided: Option<u32>,
    /// `BRK` and `CONT` that branch to the end of this block.
    leaving: Vec<u32>,
}

/// Computes the structure of `shader`, or all errors in its nesting.
pub fn structure(shader: &Shader) -> Result<Structure, Vec<StructureError>> {
    let instructions = &shader.instructions;
    let mut result = Structure {
        partner: vec![NO_PARTNER; instructions.len()],
        subroutines: Vec::new(),
        end: instructions.len() as u32,
        max_depth: 0,
    };
    let mut errors = Vec::new();
    let mut stack: Vec<OpenBlock> = Vec::new();
    // Indices in `stack` of the open loops, and of the open loops and switches, so that finding the target of BRK and
    // CONT is O(1).
    let mut loops: Vec<usize> = Vec::new();
    let mut breakables: Vec<usize> = Vec::new();
    let mut calls: Vec<u32> = Vec::new();

    for (number, instruction) in instructions.iter().enumerate() {
        let number = number as u32;
        let (opcode, span) = (instruction.opcode, instruction.span);
        let inside = stack.last().map(|open| open.instruction);
        let unopened = |opening| StructureError::Unopened { opcode, opening, inside, instruction: number, span };
        match opcode.block() {
            Some(BlockPart::Opens) => {
                if opcode == Opcode::Bgnsub
                    && let Some(inside) = inside
                {
                    errors.push(StructureError::NestedSubroutine { inside, instruction: number, span });
                }
                if matches!(opcode, Opcode::Bgnloop | Opcode::Switch) {
                    breakables.push(stack.len());
                }
                if opcode == Opcode::Bgnloop {
                    loops.push(stack.len());
                }
                stack.push(OpenBlock {
                    opcode,
                    instruction: number,
                    last_divider: number,
                    divided: None,
                    leaving: Vec::new(),
                });
                result.max_depth = result.max_depth.max(stack.len() as u32);
            }
            Some(BlockPart::Divides) => {
                let (wanted, opening): (&[Opcode], _) = if opcode == Opcode::Else {
                    (&[Opcode::If, Opcode::Uif], "IF")
                } else {
                    (&[Opcode::Switch], "SWITCH")
                };
                match stack.last_mut() {
                    Some(open) if wanted.contains(&open.opcode) => {
                        if opcode != Opcode::Case {
                            if let Some(first) = open.divided {
                                errors.push(StructureError::Repeated { opcode, first, instruction: number, span });
                            }
                            open.divided.get_or_insert(number);
                        }
                        result.partner[open.last_divider as usize] = number;
                        open.last_divider = number;
                    }
                    _ => errors.push(unopened(opening)),
                }
            }
            Some(BlockPart::Closes) => {
                let (wanted, opening): (&[Opcode], _) = match opcode {
                    Opcode::Endif => (&[Opcode::If, Opcode::Uif], "IF"),
                    Opcode::Endloop => (&[Opcode::Bgnloop], "BGNLOOP"),
                    Opcode::Endswitch => (&[Opcode::Switch], "SWITCH"),
                    _ => (&[Opcode::Bgnsub], "BGNSUB"),
                };
                let Some(open) = stack.pop_if(|open| wanted.contains(&open.opcode)) else {
                    errors.push(match stack.last() {
                        Some(open) => StructureError::Crossed {
                            opcode,
                            open: open.opcode,
                            open_instruction: open.instruction,
                            instruction: number,
                            span,
                        },
                        None => unopened(opening),
                    });
                    continue;
                };
                match opcode {
                    Opcode::Endloop => {
                        loops.pop();
                        breakables.pop();
                    }
                    Opcode::Endswitch => {
                        breakables.pop();
                    }
                    Opcode::Endsub => result.subroutines.push((open.instruction, number)),
                    _ => {}
                }
                result.partner[open.last_divider as usize] = number;
                result.partner[number as usize] = open.instruction;
                for leaving in open.leaving {
                    result.partner[leaving as usize] = number;
                }
            }
            None => match opcode {
                Opcode::Brk | Opcode::Cont => {
                    let (target, opening) = match opcode {
                        Opcode::Brk => (breakables.last(), "BGNLOOP or SWITCH"),
                        _ => (loops.last(), "BGNLOOP"),
                    };
                    match target.and_then(|&position| stack.get_mut(position)) {
                        Some(open) => open.leaving.push(number),
                        None => errors.push(unopened(opening)),
                    }
                }
                Opcode::Cal => calls.push(number),
                Opcode::End => result.end = result.end.min(number),
                _ => {}
            },
        }
    }
    errors.extend(stack.iter().map(|open| StructureError::Unclosed {
        opcode: open.opcode,
        instruction: open.instruction,
        span: instructions[open.instruction as usize].span,
    }));

    for &call in &calls {
        let instruction = &instructions[call as usize];
        let target =
            instruction.label.filter(|&l| instructions.get(l as usize).is_some_and(|i| i.opcode == Opcode::Bgnsub));
        match target {
            Some(target) => result.partner[call as usize] = target,
            None => errors.push(StructureError::BadCall {
                target: instruction.label,
                instruction: call,
                span: instruction.span,
            }),
        }
    }
    if errors.is_empty() {
        let recursive = CallGraph::new(shader, &result).map(|graph| graph.recursive_calls()).unwrap_or_default();
        errors.extend(recursive.into_iter().map(|(call, callee)| StructureError::Recursion {
            subroutine: result.subroutines[callee].0,
            instruction: call,
            span: instructions[call as usize].span,
        }));
    }
    if errors.is_empty() { Ok(result) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::Instruction;
    use crate::tables::Processor;

    fn shader(opcodes: &[(Opcode, Option<u32>)]) -> Shader {
        let mut shader = Shader::new(Processor::Fragment);
        for &(opcode, label) in opcodes {
            shader.push_instruction(Instruction { label, ..Instruction::new(opcode) });
        }
        shader
    }

    #[test]
    fn partners_of_every_kind() {
        use Opcode::*;
        let s = shader(&[
            (Bgnloop, None),
            (If, None),
            (Brk, None),
            (Else, None),
            (Cont, None),
            (Endif, None),
            (Switch, None),
            (Case, None),
            (Brk, None),
            (Default, None),
            (Cont, None),
            (Endswitch, None),
            (Endloop, None),
            (Cal, Some(15)),
            (End, None),
            (Bgnsub, None),
            (Ret, None),
            (Endsub, None),
        ]);
        let r = structure(&s).unwrap();
        let n = NO_PARTNER;
        assert_eq!(r.partner, [12, 3, 12, 5, 12, 1, 7, 9, 11, 11, 12, 6, 0, 15, n, 17, n, 15]);
        assert_eq!((r.end, r.max_depth, r.subroutines), (14, 2, vec![(15, 17)]));
    }

    #[test]
    fn errors_of_every_kind() {
        use Opcode::*;
        let kinds = |opcodes: &[(Opcode, Option<u32>)]| {
            structure(&shader(opcodes)).unwrap_err().iter().map(|e| e.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(kinds(&[(Else, None)]), ["ELSE without IF"]);
        assert_eq!(kinds(&[(Brk, None)]), ["BRK without BGNLOOP or SWITCH"]);
        assert_eq!(kinds(&[(If, None)]), ["IF is never closed"]);
        assert_eq!(
            kinds(&[(If, None), (Endloop, None), (Endif, None)]),
            ["ENDLOOP cannot close the IF of instruction 0"]
        );
        assert_eq!(kinds(&[(If, None), (Else, None), (Else, None), (Endif, None)]), ["second ELSE in one block"]);
        assert_eq!(kinds(&[(Cal, Some(7))]), ["CAL to instruction 7, which is not a BGNSUB"]);
        assert_eq!(
            kinds(&[(End, None), (Bgnsub, None), (Cal, Some(1)), (Endsub, None)]),
            ["subroutine at instruction 1 calls itself"]
        );
        // All calls of a cycle, except the one that enters it.
        let circle = [(Cal, Some(2)), (End, None), (Bgnsub, None), (Cal, Some(5)), (Endsub, None)];
        let circle = [&circle[..], &[(Bgnsub, None), (Cal, Some(2)), (Endsub, None)]].concat();
        assert_eq!(
            kinds(&circle),
            ["subroutine at instruction 5 calls itself", "subroutine at instruction 2 calls itself"]
        );
        assert_eq!(
            kinds(&[(If, None), (Bgnsub, None), (Endsub, None), (Endif, None)]),
            ["BGNSUB inside another block"]
        );
    }
}
