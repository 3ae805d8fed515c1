//! Rules about operands: counts, declared registers, suitable files, dimensions, arrays, index registers, modifiers,
//! pairs.

use super::declarations::UsedRegisters;
use super::declared::{DeclaredRegisters, Key, key, note_declaration, show};
use super::role::{OperandRole, computes, role};
use super::{Findings, Rule, position};
use crate::limits;
use crate::scan::needed_channels;
use crate::shader::{Dimension, Dst, Indirect, Instruction, Register, Shader, Src};
use crate::tables::{
    File, Opcode, OperandType, OutputMode, PixelFormat, Primitive, Processor, PropertyName, TextureTarget,
};
use tgsi_diagnostics::Focus;
use tgsi_diagnostics::Span;

/// Files that hold values, one bit each.
const VALUES: u32 = INTERFACE
    | 1 << File::Constant as u32
    | 1 << File::Temporary as u32
    | 1 << File::Address as u32
    | 1 << File::Immediate as u32
    | 1 << File::SystemValue as u32;
/// Files with possibly per-vertex registers.
const INTERFACE: u32 = 1 << File::Input as u32 | 1 << File::Output as u32;

fn holds_values(file: File) -> bool {
    VALUES >> file as u32 & 1 != 0
}

/// Files that may hold the handle of a resource.
fn holds_handles(file: File) -> bool {
    matches!(file, File::Temporary | File::Constant | File::Immediate | File::Input)
}

/// Whether the memory word denotes an image access, so that a value in place of the resource is its handle.
fn accesses_image(instruction: &Instruction) -> bool {
    instruction.memory.is_some_and(|m| m.target != TextureTarget::Buffer || m.format != PixelFormat::NONE)
}

/// An operand being checked.
struct Operand<'a> {
    register: &'a Register,
    span: Span,
    role: OperandRole,
    /// The instruction writes nothing, so its operands do not matter.
    dead: bool,
}

struct Checker<'a, 'b> {
    shader: &'a Shader,
    declared: &'a DeclaredRegisters<'a>,
    findings: &'b mut Findings,
    used: UsedRegisters,
    /// Files of values without per-vertex registers, one bit each.
    plain_files: u32,
    /// Number of vertices of an input primitive or patch, if known.
    input_vertices: Option<u32>,
    /// Number of vertices of an output patch, if known.
    output_vertices: Option<u32>,
}

/// Applies the rules; returns the registers and resources that the operands use.
pub(super) fn check<'a>(
    shader: &'a Shader,
    declared: &'a DeclaredRegisters<'a>,
    findings: &mut Findings,
) -> UsedRegisters {
    let input_vertices = match shader.processor {
        Processor::Geometry => shader
            .property(PropertyName::GsInputPrimitive)
            .and_then(Primitive::from_value)
            .map(|p| p.input_vertices().into()),
        Processor::TessControl | Processor::TessEval => Some(limits::MAX_PATCH_VERTICES),
        _ => None,
    };
    let output_vertices = shader.property(PropertyName::TcsVerticesOut).filter(|&vertices| vertices > 0);
    let used = UsedRegisters::default();
    let has_vertices = shader.processor.has_vertices(File::Input);
    let plain_files = if has_vertices { VALUES & !INTERFACE } else { VALUES };
    let mut checker = Checker { shader, declared, findings, used, plain_files, input_vertices, output_vertices };
    for instruction in &shader.instructions {
        checker.instruction(instruction);
    }
    checker.used
}

impl Checker<'_, '_> {
    fn instruction(&mut self, i: &Instruction) {
        let info = i.opcode.info();
        if i.dst.len() != usize::from(info.num_dst) || i.src.len() != usize::from(info.num_src) {
            self.findings.report(Rule::OperandCount, (i.span, Focus::Mnemonic), || {
                format!(
                    "{} takes {} destinations and {} sources, not {} and {}",
                    i.opcode,
                    info.num_dst,
                    info.num_src,
                    i.dst.len(),
                    i.src.len()
                )
            });
        }
        // Most instructions compute with declared registers.
        let computes = computes(info.output_mode);
        let dead = !info.is_store && i.dst.first().is_some_and(|d| d.write_mask & 0xf == 0);
        for dst in &i.dst {
            if computes && (1..=0xf).contains(&dst.write_mask) && !info.dst_type.is_64bit() && self.is_plain_dst(dst) {
                continue;
            }
            self.destination(i, dst, position(dst.span, i));
        }
        for (number, src) in i.src.iter().enumerate() {
            if computes && self.is_plain_src(src, info.src_types.get(number).copied()) {
                continue;
            }
            let mut operand =
                Operand { register: &src.register, span: position(src.span, i), role: role(i.opcode, number), dead };
            self.file_fits(i, &operand);
            // A handle is an ordinary value.
            if operand.role == OperandRole::Loaded && holds_handles(src.register.file) && accesses_image(i) {
                operand.role = OperandRole::Value;
            }
            self.register(&operand);
            self.source_modifiers(i, number, src, operand.span, operand.role);
        }
        for offset in i.texture.iter().flat_map(|t| &t.offsets) {
            let register = Register::new(offset.file, offset.index);
            let operand =
                Operand { register: &register, span: position(offset.span, i), role: OperandRole::Value, dead };
            self.file_fits(i, &operand);
            self.register(&operand);
            self.components(&offset.swizzle, operand.span);
        }
        if i.saturate && !info.dst_type.is_float() {
            let opcode = i.opcode;
            self.findings.report(Rule::SaturateIgnored, (i.span, Focus::Suffix("_SAT")), || {
                format!("{opcode}_SAT: the result is not a float")
            });
        }
    }

    /// Fast path: whether no rule can apply to a source value, because it is a declared register that is named
    /// directly. Records its use.
    #[inline]
    fn is_plain_src(&mut self, src: &Src, operand_type: Option<OperandType>) -> bool {
        let modified = match operand_type {
            Some(OperandType::Float | OperandType::Untyped) => true,
            Some(OperandType::Int | OperandType::Uint) => !src.absolute,
            _ => false,
        };
        modified && u32::from_ne_bytes(src.swizzle) & !0x0303_0303 == 0 && self.is_plain(&src.register)
    }

    #[inline]
    fn is_plain_dst(&mut self, dst: &Dst) -> bool {
        matches!(dst.register.file, File::Output | File::Temporary | File::Address) && self.is_plain(&dst.register)
    }

    #[inline]
    fn is_plain(&mut self, register: &Register) -> bool {
        let file = register.file;
        let outer = match (file, register.dimension) {
            (File::Constant, Some(Dimension { index, indirect: None })) => index,
            (_, None) => 0,
            _ => return false,
        };
        if self.plain_files >> file as u32 & 1 == 0 || register.indirect.is_some() || outer < 0 || register.index < 0 {
            return false;
        }
        let (outer, index) = (outer as usize, register.index as usize);
        let declared = self.declared.surely(file, outer, index);
        if declared {
            self.used.direct[file as usize].insert(outer, index);
        }
        declared
    }

    fn components(&mut self, components: &[u8], span: Span) {
        if let Some(component) = components.iter().find(|&&c| c > 3) {
            self.findings.report(Rule::InvalidComponent, span, || format!("there is no component {component}"));
        }
    }

    fn destination(&mut self, i: &Instruction, dst: &Dst, span: Span) {
        let file = dst.register.file;
        let role = if i.opcode == Opcode::Store { OperandRole::Stored } else { OperandRole::Value };
        let operand = Operand { register: &dst.register, span, role, dead: false };
        if role == OperandRole::Stored {
            self.file_fits(i, &operand);
        } else if !matches!(file, File::Output | File::Temporary | File::Address | File::Null) {
            self.findings.report(Rule::NotWritable, span, || format!("{} cannot be written", show(&dst.register)));
            return;
        }
        if dst.write_mask & 0xf == 0 {
            let opcode = i.opcode;
            self.findings
                .report(Rule::EmptyWriteMask, (span, Focus::Components), || format!("{opcode} writes no component"));
        }
        if dst.write_mask > 0xf {
            self.findings.report(Rule::InvalidComponent, span, || "there is no fifth component".to_owned());
        }
        if file != File::Null {
            self.register(&operand);
        }
        let mask = dst.write_mask & 0xf;
        if i.opcode.info().dst_type.is_64bit() && (split(mask & 3) || split(mask >> 2)) {
            let opcode = i.opcode;
            self.findings.report(Rule::SplitPair, (span, Focus::Components), || {
                format!("{opcode} writes half of a 64-bit value")
            });
        }
    }

    /// Checks that the file is suitable for the role of the operand.
    fn file_fits(&mut self, i: &Instruction, operand: &Operand<'_>) {
        let file = operand.register.file;
        let handle = holds_handles(file);
        let (fits, rule) = match operand.role {
            OperandRole::Value => (holds_values(file), Rule::NotReadable),
            OperandRole::Sampler => (file == File::Sampler || handle, Rule::NotASampler),
            OperandRole::DirectSampler => (file == File::Sampler, Rule::NotASampler),
            OperandRole::View => (file == File::SamplerView, Rule::NotAView),
            OperandRole::ViewOrTemporary => (matches!(file, File::SamplerView | File::Temporary), Rule::NotAView),
            OperandRole::Loaded => {
                let direct = matches!(
                    file,
                    File::Image | File::Buffer | File::Memory | File::HwAtomic | File::Constant | File::ConstantBuffer
                );
                (direct || handle && accesses_image(i), Rule::NotAResource)
            }
            OperandRole::Stored => (
                matches!(file, File::Image | File::Buffer | File::Memory) || handle && accesses_image(i),
                Rule::NotAResource,
            ),
            OperandRole::Atomic => (
                matches!(file, File::Image | File::Buffer | File::Memory | File::HwAtomic)
                    || handle && accesses_image(i),
                Rule::NotAResource,
            ),
            OperandRole::Queried => {
                (matches!(file, File::Image | File::Buffer) || handle && accesses_image(i), Rule::NotAResource)
            }
            OperandRole::Image => (file == File::Image, Rule::NotAResource),
            OperandRole::Interpolated => (file == File::Input, Rule::NotAnInput),
            OperandRole::Fetched => (file == File::Output, Rule::NotAnOutput),
        };
        if !fits {
            let opcode = i.opcode;
            self.findings.report(rule, operand.span, || format!("{} does not fit {opcode}", show(operand.register)));
        }
    }

    /// Checks that the register is declared, has the right number of indices, and is indexed by suitable registers.
    fn register(&mut self, operand: &Operand<'_>) {
        let register = operand.register;
        for indirect in [register.indirect, register.dimension.and_then(|d| d.indirect)].into_iter().flatten() {
            self.index_register(&indirect, operand);
        }
        // All other files of these operands were reported as unsuitable.
        if register.file == File::Null {
            return;
        }
        self.dimension(operand);
        self.array(operand);
        self.declared(operand);
    }

    fn index_register(&mut self, indirect: &Indirect, operand: &Operand<'_>) {
        let register = Register::new(indirect.file, indirect.index);
        if !holds_values(indirect.file) {
            self.findings.report(Rule::IndexRegisterFile, operand.span, || {
                format!("{} is indexed by {}", show(operand.register), show(&register))
            });
            return;
        }
        self.components(&[indirect.component], operand.span);
        self.declared(&Operand { register: &register, role: OperandRole::Value, ..*operand });
    }

    /// Checks the number of indices, which depends on the file.
    fn dimension(&mut self, operand: &Operand<'_>) {
        let register = operand.register;
        if matches!(register.file, File::Constant | File::HwAtomic) {
            return;
        }
        let per_vertex = self.shader.processor.has_vertices(register.file);
        let Some(dimension) = register.dimension else {
            if per_vertex && self.is_patch(register) == Some(false) {
                let noting = self.findings.may_note();
                let finding = self.findings.report(Rule::MissingDimension, operand.span, || {
                    format!("{} lacks a vertex index", show(register))
                });
                note_declaration(finding.filter(|_| noting), self.shader, register);
            }
            return;
        };
        if !per_vertex {
            self.findings.report(Rule::UnexpectedDimension, operand.span, || {
                format!("{} has one index too many", show(register))
            });
            return;
        }
        let vertices = if register.file == File::Input { self.input_vertices } else { self.output_vertices };
        if self.is_patch(register) == Some(true) {
            let message = || format!("{} is not per vertex", show(register));
            let noting = self.findings.may_note();
            let finding = self.findings.report(Rule::DimensionIgnored, operand.span, message);
            note_declaration(finding.filter(|_| noting), self.shader, register);
        } else if dimension.indirect.is_none()
            && (dimension.index < 0 || vertices.is_some_and(|vertices| dimension.index.unsigned_abs() >= vertices))
        {
            let message = || format!("vertex {} does not exist", dimension.index);
            let noting = self.findings.may_note();
            if let Some(finding) =
                self.findings.report(Rule::VertexOutOfRange, operand.span, message).filter(|_| noting)
            {
                let says = match (register.file, self.shader.processor) {
                    (File::Output, _) => PropertyName::TcsVerticesOut,
                    _ => PropertyName::GsInputPrimitive,
                };
                if let Some(property) = self.shader.properties.iter().rev().find(|p| p.name == says) {
                    let vertices = vertices.unwrap_or(0);
                    finding.note(property.span, Focus::Last, format!("there are {vertices} vertices"));
                }
            }
        }
    }

    /// Whether an input or output is per patch; none if unknown.
    fn is_patch(&self, register: &Register) -> Option<bool> {
        let index = match register.indirect {
            None => register.index,
            Some(indirect) if indirect.array_id != 0 => {
                self.declared.array(register.file, indirect.array_id)?.first.into()
            }
            Some(_) => return None,
        };
        let semantic = self.declared.semantic(register.file, index)?;
        Some(semantic.is_some_and(|s| s.is_patch()))
    }

    fn array(&mut self, operand: &Operand<'_>) {
        let register = operand.register;
        if let Some(array) = register.indirect.map(|i| i.array_id).filter(|&id| id != 0)
            && self.declared.array(register.file, array).is_none()
            && !self.findings.may_be_declared(register.file)
        {
            let message = || format!("file {} has no array {array}", register.file);
            let noting = self.findings.may_note();
            if let Some(finding) = self.findings.report(Rule::UnknownArray, operand.span, message).filter(|_| noting) {
                let arrays = self.shader.declarations.iter().filter(|d| d.file == register.file && d.array().is_some());
                if let Some(other) = arrays.min_by_key(|d| d.array().unwrap_or(0).abs_diff(array)) {
                    finding.note(other.span, Focus::Word("ARRAY"), "the nearest array");
                }
            }
        }
    }

    fn declared(&mut self, operand: &Operand<'_>) {
        let register = operand.register;
        let file = register.file;
        // Constant and atomic buffers have an outer index; for inputs and outputs it is a vertex.
        let outer = match (file, register.dimension) {
            (File::Constant | File::HwAtomic, Some(dimension)) => {
                if dimension.indirect.is_some() {
                    None
                } else {
                    Some(dimension.index)
                }
            }
            _ => Some(0),
        };
        // As the resource of LOAD, a single index of CONST is the number of a buffer.
        let names_buffer = file == File::ConstantBuffer
            || file == File::Constant && operand.role == OperandRole::Loaded && register.dimension.is_none();
        if names_buffer {
            self.constant_buffer(operand);
            return;
        }
        // There is only one memory area, whatever its number.
        if file == File::Memory {
            self.used.files[file as usize] = true;
            if !self.declared.any(file) {
                self.undeclared(operand);
            }
            return;
        }
        match (outer, register.indirect) {
            (Some(outer), None) => {
                let register_key = u16::try_from(outer)
                    .ok()
                    .zip(u16::try_from(register.index).ok())
                    .map(|(outer, index)| key(outer, index));
                // In resources of LOAD with two indices, the first is the buffer; the second is not used.
                let whole_buffer = file == File::Constant && operand.role == OperandRole::Loaded;
                match register_key {
                    Some(k) if whole_buffer => {
                        self.used.files[file as usize] = true;
                        if !self.declared.any_in(file, k & !0xffff, k | 0xffff) {
                            self.undeclared(operand);
                        }
                    }
                    Some(k) => {
                        self.used.direct[file as usize].insert((k >> 16) as usize, (k & 0xffff) as usize);
                        if !self.declared.contains(file, k) {
                            self.undeclared(operand);
                        }
                    }
                    None => self.undeclared(operand),
                }
            }
            (outer, indirect) => {
                match indirect.filter(|i| i.array_id != 0) {
                    Some(indirect) => {
                        self.used.arrays.insert((file, indirect.array_id), ());
                    }
                    None => self.used.files[file as usize] = true,
                }
                let some_declared = match outer {
                    Some(outer) if matches!(file, File::Constant | File::HwAtomic) => u16::try_from(outer)
                        .is_ok_and(|outer| self.declared.any_in(file, key(outer, 0), key(outer, u16::MAX))),
                    _ => self.declared.any(file),
                };
                if !some_declared && !self.findings.may_be_declared(file) {
                    self.findings.report(Rule::UndeclaredFile, operand.span, || {
                        format!("{}: no such register is declared", show(register))
                    });
                }
            }
        }
    }

    /// Checks a constant buffer as a resource: declared as such, or through its constants.
    fn constant_buffer(&mut self, operand: &Operand<'_>) {
        let register = operand.register;
        self.used.files[File::Constant as usize] = true;
        self.used.files[File::ConstantBuffer as usize] = true;
        let declared = match (register.indirect, u16::try_from(register.index)) {
            (Some(_), _) => self.declared.any(File::Constant) || self.declared.any(File::ConstantBuffer),
            (None, Ok(buffer)) => {
                self.declared.any_in(File::Constant, key(buffer, 0), key(buffer, u16::MAX))
                    || self.declared.contains(File::ConstantBuffer, Key::from(buffer))
            }
            (None, Err(_)) => false,
        };
        if !declared {
            self.undeclared(operand);
        }
    }

    fn undeclared(&mut self, operand: &Operand<'_>) {
        if self.findings.may_be_declared(operand.register.file) {
            return;
        }
        let noting = self.findings.may_note();
        let rule = if operand.dead { Rule::DeadUndeclaredRegister } else { Rule::UndeclaredRegister };
        let finding =
            self.findings.report(rule, operand.span, || format!("{} is not declared", show(operand.register)));
        note_declaration(finding.filter(|_| noting), self.shader, operand.register);
    }

    fn source_modifiers(&mut self, i: &Instruction, number: usize, src: &Src, span: Span, role: OperandRole) {
        self.components(&src.swizzle, span);
        let operand_type = i.opcode.info().src_types.get(number).copied().unwrap_or(OperandType::None);
        let modified = src.absolute || src.negate;
        if role != OperandRole::Value && role != OperandRole::Interpolated || operand_type.is_64bit() {
            if modified {
                self.findings
                    .report(Rule::ModifierIgnored, span, || format!("{} cannot be modified", show(&src.register)));
            }
        } else if src.absolute && matches!(operand_type, OperandType::Int | OperandType::Uint) {
            self.findings.report(Rule::AbsoluteOfInteger, span, || {
                format!("absolute value of the integer {}", show(&src.register))
            });
        }
        // Immediates are packed word by word.
        let packed = src.register.file == File::Immediate;
        if i.opcode.source_type(number).is_64bit()
            && !packed
            && i.opcode.info().output_mode == OutputMode::Componentwise
        {
            let channels = needed_channels(i, number);
            let pair = |low: u8, high: u8| low & 1 == 0 && high == low + 1;
            let [x, y, z, w] = src.swizzle;
            if channels & 3 != 0 && !pair(x, y) || channels & 12 != 0 && !pair(z, w) {
                self.findings
                    .report(Rule::SplitPair, span, || format!("{} is read across 64-bit values", show(&src.register)));
            }
        }
    }
}

/// Whether exactly one of two channels is in `mask`.
fn split(mask: u8) -> bool {
    mask.count_ones() == 1
}
