//! The instructions of a module that describe its interface, by id.

use std::collections::HashMap;

const MAGIC: u32 = 0x0723_0203;
const HEADER: usize = 5;

// SPIR-V's numbers.
pub const OP_ENTRY_POINT: u32 = 15;
pub const OP_EXECUTION_MODE: u32 = 16;
const OP_CAPABILITY: u32 = 17;
const OP_EXECUTION_MODE_ID: u32 = 331;
const OP_FUNCTION: u32 = 54;
const OP_FUNCTION_END: u32 = 56;
const OP_FUNCTION_CALL: u32 = 57;
pub const OP_VARIABLE: u32 = 59;
const OP_DECORATE: u32 = 71;
const OP_MEMBER_DECORATE: u32 = 72;
const TYPES: std::ops::RangeInclusive<u32> = 19..=39;
const CONSTANTS: std::ops::RangeInclusive<u32> = 41..=52;

/// A declaration: opcode and operands, without the result.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Opcode.
    pub op: u32,
    /// Operands; of constants and variables the type is the first.
    pub operands: Vec<u32>,
}

/// An entry point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntryPoint {
    /// Execution model.
    pub model: u32,
    /// The function.
    pub function: u32,
    /// Name.
    pub name: String,
    /// Variables of its interface.
    pub variables: Vec<u32>,
}

/// A decoration: of a member, or of the whole; number and operands.
type Decoration = (Option<u32>, Vec<u32>);

/// The declarations of a module.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    /// Capabilities.
    pub capabilities: Vec<u32>,
    /// Entry points.
    pub entries: Vec<EntryPoint>,
    /// Execution modes: function, mode, operands.
    pub modes: Vec<Vec<u32>>,
    /// Types, constants and variables.
    pub by_id: HashMap<u32, Declaration>,
    /// Ids of variables of the module, in order.
    pub variables: Vec<u32>,
    decorations: HashMap<u32, Vec<Decoration>>,
    /// All words of each function.
    functions: HashMap<u32, Vec<u32>>,
    /// Functions called by each function.
    calls: HashMap<u32, Vec<u32>>,
    /// Opcodes in functions, each once.
    pub opcodes: Vec<u32>,
}

/// Decodes a literal string; returns it and the number of its words.
pub fn string(words: &[u32]) -> (String, usize) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0).collect();
    (String::from_utf8_lossy(&bytes).into_owned(), bytes.len() / 4 + 1)
}

impl Declarations {
    /// Collects the declarations of a module.
    ///
    /// # Errors
    /// The words are not a module.
    pub fn new(words: &[u32]) -> Result<Declarations, String> {
        if words.first() != Some(&MAGIC) || words.len() < HEADER {
            return Err("the code is not SPIR-V".to_owned());
        }
        let mut all = Declarations::default();
        let mut function = None;
        let mut at = HEADER;
        while let Some(&word) = words.get(at) {
            let length = (word >> 16) as usize;
            let operands = words.get(at + 1..at + length).filter(|_| length > 0);
            let operands = operands.ok_or("the code ends within an instruction")?;
            at += length;
            match (word & 0xffff, operands) {
                (OP_CAPABILITY, &[capability]) => all.capabilities.push(capability),
                (OP_ENTRY_POINT, [model, id, rest @ ..]) => {
                    let (name, length) = string(rest);
                    let variables = rest.get(length..).unwrap_or_default().to_vec();
                    all.entries.push(EntryPoint { model: *model, function: *id, name, variables });
                }
                (OP_EXECUTION_MODE | OP_EXECUTION_MODE_ID, mode) => all.modes.push(mode.to_vec()),
                (OP_DECORATE, [id, decoration @ ..]) => {
                    all.decorations.entry(*id).or_default().push((None, decoration.to_vec()));
                }
                (OP_MEMBER_DECORATE, [id, member, decoration @ ..]) => {
                    all.decorations.entry(*id).or_default().push((Some(*member), decoration.to_vec()));
                }
                (OP_FUNCTION, [_, id, ..]) => function = Some(*id),
                (OP_FUNCTION_END, _) => function = None,
                (op, operands) => match function {
                    Some(function) => {
                        all.functions.entry(function).or_default().extend(operands);
                        if let (OP_FUNCTION_CALL, [_, _, callee, ..]) = (op, operands) {
                            all.calls.entry(function).or_default().push(*callee);
                        }
                        if !all.opcodes.contains(&op) {
                            all.opcodes.push(op);
                        }
                    }
                    None => all.declare(op, operands),
                },
            }
        }
        Ok(all)
    }

    fn declare(&mut self, op: u32, operands: &[u32]) {
        if TYPES.contains(&op) {
            if let [id, rest @ ..] = operands {
                self.by_id.insert(*id, Declaration { op, operands: rest.to_vec() });
            }
        } else if CONSTANTS.contains(&op) || op == OP_VARIABLE {
            if let [ty, id, rest @ ..] = operands {
                let operands = [&[*ty], rest].concat();
                self.by_id.insert(*id, Declaration { op, operands });
                if op == OP_VARIABLE {
                    self.variables.push(*id);
                }
            }
        } else if let [id, rest @ ..] = operands {
            self.by_id.insert(*id, Declaration { op, operands: rest.to_vec() });
        }
    }

    /// Returns the first operand of a decoration, or 0; `None` without the decoration.
    pub fn decoration(&self, id: u32, member: Option<u32>, decoration: u32) -> Option<u32> {
        let all = self.decorations.get(&id)?;
        let found = all.iter().find(|(of, words)| *of == member && words.first() == Some(&decoration))?;
        Some(found.1.get(1).copied().unwrap_or(0))
    }

    /// Returns the value of a 32-bit constant.
    pub fn constant(&self, id: u32) -> Option<u32> {
        // OpConstant and OpSpecConstant.
        let found = self.by_id.get(&id).filter(|found| matches!(found.op, 43 | 50))?;
        found.operands.get(1).copied()
    }

    /// Returns the ids that an entry point may use: all words of the functions that it calls.
    pub fn used_by(&self, entry: &EntryPoint) -> std::collections::HashSet<u32> {
        let mut functions = vec![entry.function];
        let mut at = 0;
        while let Some(&function) = functions.get(at) {
            at += 1;
            for &callee in self.calls.get(&function).into_iter().flatten() {
                if !functions.contains(&callee) {
                    functions.push(callee);
                }
            }
        }
        functions.iter().filter_map(|function| self.functions.get(function)).flatten().copied().collect()
    }
}
