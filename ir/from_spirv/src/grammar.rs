//! The form of instructions: which have a result type and a result, and how many words they need.
//!
//! The table is that of rspirv, which is generated from the grammar of the specification, indexed by opcode.

use std::sync::LazyLock;

use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind, OperandQuantifier};

/// The form of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// Name without `Op`.
    pub(crate) name: &'static str,
    /// Whether the first operand is the type of the result.
    pub(crate) has_type: bool,
    /// Whether there is a result.
    pub(crate) has_result: bool,
    /// Words after the first that every such instruction has.
    pub(crate) min_words: u8,
}

/// Opcodes are below it.
const OPCODES: usize = 1 << 13;

static FORMS: LazyLock<Vec<Option<Form>>> = LazyLock::new(|| {
    let mut forms = vec![None; OPCODES];
    for inst in INSTRUCTION_TABLE.iter() {
        let is = |kind| inst.operands.iter().any(|operand| operand.kind == kind);
        let required = inst.operands.iter().filter(|operand| operand.quantifier == OperandQuantifier::One);
        let form = Form {
            name: inst.opname,
            has_type: is(OperandKind::IdResultType),
            has_result: is(OperandKind::IdResult),
            min_words: required.count() as u8,
        };
        if let Some(place) = forms.get_mut(inst.opcode as usize) {
            *place = Some(form);
        }
    }
    forms
});

/// The form of the instructions with an opcode; `None` for unknown opcodes.
pub(crate) fn form(op: u16) -> Option<Form> {
    FORMS.get(usize::from(op)).copied().flatten()
}

/// The name of an opcode, such as `OpFAdd`.
pub(crate) fn name(op: u16) -> String {
    form(op).map_or_else(|| format!("opcode {op}"), |form| format!("Op{}", form.name))
}

/// An instruction as text: `%5 = OpFAdd %2 %3 %4`. Operands are shown as words where their kind is not an id.
pub(crate) fn text(inst: &crate::words::Inst<'_>) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    let form = form(inst.op);
    let (has_type, has_result) = form.map_or((false, false), |form| (form.has_type, form.has_result));
    let mut words = inst.words;
    let mut take = || {
        let (&first, rest) = words.split_first()?;
        words = rest;
        Some(first)
    };
    let ty = if has_type { take() } else { None };
    if let Some(result) = if has_result { take() } else { None } {
        let _ = write!(text, "%{result} = ");
    }
    text.push_str(&name(inst.op));
    if let Some(ty) = ty {
        let _ = write!(text, " %{ty}");
    }
    let kinds = INSTRUCTION_TABLE.lookup_opcode(inst.op.into()).map_or(&[][..], |inst| inst.operands);
    let mut kinds = kinds.iter().filter(|o| !matches!(o.kind, OperandKind::IdResultType | OperandKind::IdResult));
    let mut last = None;
    for word in words.iter().take(16) {
        // The last operand may be repeated.
        last = kinds.next().map(|operand| operand.kind).or(last);
        let is_id = matches!(last, Some(OperandKind::IdRef | OperandKind::IdScope | OperandKind::IdMemorySemantics));
        let _ = if is_id { write!(text, " %{word}") } else { write!(text, " {word}") };
    }
    if words.len() > 16 {
        text.push_str(" ...");
    }
    text
}
