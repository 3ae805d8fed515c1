//! Instructions outside of functions.

use spirv::{Capability, Decoration, ExecutionModel, Op, StorageClass};
use tgsi_ir::types::ScalarType;

use super::{EntryPoint, Function, Global, Id, LineStart, Mode, Module, Set, SpecConstant};
use crate::constants::Known;
use crate::error::{Findings, SpirvError};
use crate::grammar;
use crate::options::SpirvOptions;
use crate::specialize;
use crate::types::{Member, TypeData, TypeId};
use crate::words::{Inst, string};

/// Capabilities that no consumer of the targets has.
pub(crate) const REFUSED: &[Capability] = &[
    Capability::Kernel,
    Capability::Addresses,
    Capability::PhysicalStorageBufferAddresses,
    Capability::RayTracingKHR,
    Capability::RayTracingNV,
    Capability::RayQueryKHR,
    Capability::RayQueryProvisionalKHR,
    Capability::RayTracingProvisionalKHR,
    Capability::MeshShadingEXT,
    Capability::MeshShadingNV,
    Capability::CooperativeMatrixKHR,
    Capability::CooperativeMatrixNV,
    Capability::TensorsARM,
    Capability::Pipes,
    Capability::Groups,
];

/// Reads all instructions of a module.
pub(super) fn declare(module: &mut Module, options: &SpirvOptions, findings: &mut Findings) {
    let words = module.words.clone();
    let mut reader = Reader { module, options, findings, function: None, decorations_are_sorted: false };
    for inst in words.instructions() {
        match inst {
            Ok(inst) => reader.read(&inst),
            Err(at) => reader.findings.add(SpirvError::Truncated, tgsi_diagnostics::Span::new(at, at + 1)),
        }
    }
    reader.end_function();
    reader.sort_decorations();
    let known = |number: u32| reader.module.specialization.iter().any(|constant| constant.number == number);
    for &(id, _) in options.specialization.iter().filter(|(number, _)| !known(*number)) {
        reader.findings.add(SpirvError::NoSpecId { id }, tgsi_diagnostics::Span::new(0, 1));
    }
}

pub(super) struct Reader<'m> {
    pub(super) module: &'m mut Module,
    options: &'m SpirvOptions,
    pub(super) findings: &'m mut Findings,
    /// The function that is open, and whether its last block is.
    pub(super) function: Option<(Function, bool)>,
    decorations_are_sorted: bool,
}

impl Reader<'_> {
    fn read(&mut self, inst: &Inst<'_>) {
        if !Module::has_operands(inst, self.findings) {
            return;
        }
        let Some(op) = Op::from_u32(inst.op.into()) else { return };
        match op {
            Op::Line => self.line(inst, [inst.word(0), inst.word(1), inst.word(2)]),
            Op::NoLine => self.line(inst, [0; 3]),
            _ if self.function.is_some() || op == Op::Function => self.in_function(op, inst),
            _ => self.outside(op, inst),
        }
    }

    pub(super) fn line(&mut self, inst: &Inst<'_>, [file, line, column]: [u32; 3]) {
        self.module.lines.push(LineStart { number: inst.number, file, line, column });
    }

    fn sort_decorations(&mut self) {
        if std::mem::replace(&mut self.decorations_are_sorted, true) {
            return;
        }
        let count = self.module.words.words.len();
        if !self.module.decorations.finish(count) {
            let error = SpirvError::TooLarge { what: "decorations", count: count as u64, limit: count as u64 };
            self.findings.add(error, tgsi_diagnostics::Span::new(0, 1));
        }
    }

    fn outside(&mut self, op: Op, inst: &Inst<'_>) {
        let module = &mut *self.module;
        match op {
            Op::Capability => self.capability(inst),
            Op::ExtInstImport => {
                let name = string(inst.rest(1)).map(|(name, _)| name).unwrap_or_default();
                let set = match name.as_str() {
                    "GLSL.std.450" => Set::Glsl,
                    "SPV_AMD_shader_trinary_minmax" => Set::AmdTrinaryMinMax,
                    "NonSemantic.Shader.DebugInfo.100" => Set::DebugInfo,
                    name if name.starts_with("NonSemantic.") => Set::NonSemantic,
                    _ => Set::Other,
                };
                module.define(inst.word(0), Id::Set(set), inst, self.findings);
            }
            Op::EntryPoint => self.entry_point(inst),
            Op::ExecutionMode | Op::ExecutionModeId => module.modes.push(Mode {
                entry: inst.word(0),
                mode: inst.word(1),
                operands: inst.rest(2).to_vec(),
                has_ids: op == Op::ExecutionModeId,
                span: inst.span(),
            }),
            Op::String => {
                let text = string(inst.rest(1)).map(|(text, _)| text).unwrap_or_default();
                module.define(inst.word(0), Id::String, inst, self.findings);
                module.strings.insert(inst.word(0), text);
            }
            Op::Source => module.is_hlsl |= inst.word(0) == spirv::SourceLanguage::HLSL as u32,
            Op::Name => {
                if let Some((name, _)) = string(inst.rest(1)) {
                    module.names.insert(inst.word(0), name);
                }
            }
            Op::MemberName => {
                if let Some((name, _)) = string(inst.rest(2)) {
                    module.member_names.insert((inst.word(0), inst.word(1)), name);
                }
            }
            Op::Decorate | Op::DecorateId => module.decorations.add(inst, false),
            Op::MemberDecorate => module.decorations.add(inst, true),
            Op::DecorationGroup => module.define(inst.word(0), Id::Group, inst, self.findings),
            Op::GroupDecorate => module.decorations.add_group(inst, false),
            Op::GroupMemberDecorate => module.decorations.add_group(inst, true),
            Op::Variable => self.variable(inst),
            Op::Undef => {
                let ty = module.result_type(inst);
                module.define(inst.word(1), Id::Constant(Known::Undef(ty)), inst, self.findings);
            }
            Op::ConstantTrue
            | Op::ConstantFalse
            | Op::Constant
            | Op::ConstantComposite
            | Op::ConstantNull
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::SpecConstant
            | Op::SpecConstantComposite
            | Op::ConstantCompositeReplicateEXT
            | Op::SpecConstantCompositeReplicateEXT
            | Op::SpecConstantOp => {
                self.sort_decorations();
                self.constant(op, inst);
            }
            Op::ExtInst | Op::ExtInstWithForwardRefsKHR => {
                if matches!(module.id(inst.word(2)), Id::Set(Set::DebugInfo | Set::NonSemantic)) {
                    module.define(inst.word(1), Id::Value(TypeId::VOID), inst, self.findings);
                }
            }
            Op::Nop
            | Op::Extension
            | Op::MemoryModel
            | Op::SourceContinued
            | Op::SourceExtension
            | Op::ModuleProcessed
            | Op::DecorateString
            | Op::MemberDecorateString
            | Op::TypeForwardPointer => {}
            _ => {
                self.sort_decorations();
                if !self.type_declaration(op, inst) {
                    let name = grammar::name(inst.op);
                    let error = SpirvError::Instruction { name, why: "it is not in a function" };
                    self.findings.add(error, inst.span());
                }
            }
        }
    }

    fn capability(&mut self, inst: &Inst<'_>) {
        let number = inst.word(0);
        self.module.capabilities.push(number);
        let Some(capability) = Capability::from_u32(number) else {
            self.findings.add(SpirvError::UnknownCapability { number }, inst.span());
            return;
        };
        if REFUSED.contains(&capability) {
            let name = format!("{capability:?}");
            self.findings.add(SpirvError::Capability { name }, inst.span());
        }
    }

    fn entry_point(&mut self, inst: &Inst<'_>) {
        let Some((name, length)) = string(inst.rest(2)) else {
            self.findings.add(SpirvError::Truncated, inst.span());
            return;
        };
        if ExecutionModel::from_u32(inst.word(0)).is_none() {
            let error = SpirvError::ExecutionModel { name: inst.word(0).to_string() };
            self.findings.add(error, inst.span());
        }
        self.module.entry_points.push(EntryPoint {
            model: inst.word(0),
            function: inst.word(1),
            name,
            interface: inst.rest(2 + length).to_vec(),
            span: inst.span(),
        });
    }

    fn variable(&mut self, inst: &Inst<'_>) {
        self.sort_decorations();
        let module = &mut *self.module;
        let (id, class) = (inst.word(1), inst.word(2));
        let Some((_, ty)) = module.types.pointee(module.result_type(inst)) else {
            let error = SpirvError::WrongKind {
                id: inst.word(0),
                found: module.id(inst.word(0)).kind(),
                expected: "a pointer type",
            };
            self.findings.add(error, inst.span());
            return;
        };
        if StorageClass::from_u32(class).is_none() {
            self.findings.add(SpirvError::StorageClass { name: class.to_string() }, inst.span());
        }
        let initializer = match inst.words.get(3) {
            Some(&constant) => match module.constant(constant) {
                Some(known) => Some(known),
                None => {
                    let found = module.id(constant).kind();
                    let error = SpirvError::WrongKind { id: constant, found, expected: "a constant" };
                    self.findings.add(error, inst.span());
                    None
                }
            },
            None => None,
        };
        let number = module.globals.len() as u32;
        module.define(id, Id::Variable(number), inst, self.findings);
        module.globals.push(Global { id, class, ty, initializer, span: inst.span() });
    }

    fn constant(&mut self, op: Op, inst: &Inst<'_>) {
        let module = &mut *self.module;
        let (ty, id) = (module.result_type(inst), inst.word(1));
        let literal = |bits: u8| {
            let low = u64::from(inst.word(2));
            let whole = if bits == 64 { low | u64::from(inst.word(3)) << 32 } else { low };
            if bits >= 64 { whole } else { whole & ((1 << bits) - 1) }
        };
        let scalar = module.types.as_vector(ty).filter(|&(_, count)| count == 1).map(|(scalar, _)| scalar);
        let known = match (op, scalar) {
            (Op::ConstantTrue, Some(ScalarType::Bool)) => module.constants.vector(ty, &[1]),
            (Op::ConstantFalse, Some(ScalarType::Bool)) => module.constants.vector(ty, &[0]),
            (Op::Constant, Some(scalar)) if scalar != ScalarType::Bool => {
                module.constants.vector(ty, &[literal(scalar.bit_size())])
            }
            (Op::SpecConstantTrue | Op::SpecConstantFalse | Op::SpecConstant, Some(scalar)) => {
                let default = match op {
                    Op::SpecConstantTrue => 1,
                    Op::SpecConstantFalse => 0,
                    _ => literal(scalar.bit_size()),
                };
                let value = self.specialized(id, ty, scalar, default);
                self.module.constants.vector(ty, &[value])
            }
            (Op::ConstantNull, _) => Known::Null(ty),
            (Op::ConstantComposite | Op::SpecConstantComposite, None) => match self.composite(ty, inst.rest(2), inst) {
                Some(known) => known,
                None => return,
            },
            (Op::ConstantCompositeReplicateEXT | Op::SpecConstantCompositeReplicateEXT, None) => {
                let count = module.types.parts(ty).min(self.options.limits.leaves);
                match self.composite(ty, &vec![inst.word(2); count as usize], inst) {
                    Some(known) => known,
                    None => return,
                }
            }
            (Op::SpecConstantOp, _) => match specialize::evaluate(self.module, inst, ty) {
                Ok(known) => known,
                Err(error) => {
                    self.findings.add(error, inst.span());
                    Known::Undef(ty)
                }
            },
            _ => {
                let op = grammar::name(inst.op);
                self.findings.add(SpirvError::Types { op, why: "the type is not one of such constants" }, inst.span());
                Known::Undef(ty)
            }
        };
        self.module.define(id, Id::Constant(known), inst, self.findings);
    }

    /// The bits of a specialisation constant.
    fn specialized(&mut self, id: u32, ty: TypeId, scalar: ScalarType, default: u64) -> u64 {
        let Some(number) = self.module.decorations.value(id, Decoration::SpecId) else { return default };
        let chosen = self.options.specialization.iter().rev().find(|(known, _)| *known == number);
        let bits = scalar.bit_size();
        let value = match chosen {
            Some((_, value)) if scalar == ScalarType::Bool => u64::from(*value != 0),
            Some((_, value)) if bits < 64 => value & ((1 << bits) - 1),
            Some((_, value)) => *value,
            None => default,
        };
        self.module.specialization.push(SpecConstant { id, number, ty, default, value });
        value
    }

    fn composite(&mut self, ty: TypeId, ids: &[u32], inst: &Inst<'_>) -> Option<Known> {
        let module = &mut *self.module;
        let mut parts = Vec::with_capacity(ids.len());
        for &id in ids {
            let Some(part) = module.constant(id) else {
                let error = SpirvError::WrongKind { id, found: module.id(id).kind(), expected: "a constant" };
                self.findings.add(error, inst.span());
                return None;
            };
            parts.push(part);
        }
        let types = &module.types;
        let has_type = |part: &Known, expected: TypeId| types.are_equal(module.constants.type_of(*part), expected);
        let fits = match types.get(ty) {
            TypeData::Vector { scalar, count } => {
                let vectors = parts.iter().map(|&part| types.as_vector(module.constants.type_of(part)));
                vectors
                    .map(|vector| {
                        vector.filter(|(part, _)| part.bit_size() == scalar.bit_size()).map_or(99, |v| u32::from(v.1))
                    })
                    .sum::<u32>()
                    == u32::from(*count)
            }
            TypeData::Matrix { scalar, columns, rows } => {
                let is_column =
                    |part: &Known| types.as_vector(module.constants.type_of(*part)) == Some((*scalar, *rows));
                parts.len() == usize::from(*columns) && parts.iter().all(is_column)
            }
            TypeData::Array { element, length, .. } => {
                parts.len() == *length as usize && parts.iter().all(|part| has_type(part, *element))
            }
            TypeData::Struct { members, .. } => {
                parts.len() == members.len()
                    && parts.iter().zip(members).all(|(part, member)| has_type(part, member.ty))
            }
            _ => false,
        };
        if !fits {
            let op = grammar::name(inst.op);
            self.findings.add(SpirvError::Types { op, why: "the parts are not those of the type" }, inst.span());
            return None;
        }
        Some(module.constants.composite(&module.types, ty, parts))
    }

    /// Declares a type. Returns false for other instructions.
    fn type_declaration(&mut self, op: Op, inst: &Inst<'_>) -> bool {
        let id = inst.word(0);
        let data = match op {
            Op::TypeVoid => {
                self.module.define(id, Id::Type(TypeId::VOID), inst, self.findings);
                return true;
            }
            Op::TypeBool => TypeData::Vector { scalar: ScalarType::Bool, count: 1 },
            Op::TypeInt => match (inst.word(1), inst.word(2) != 0) {
                (8, true) => TypeData::Vector { scalar: ScalarType::Int8, count: 1 },
                (8, false) => TypeData::Vector { scalar: ScalarType::Uint8, count: 1 },
                (16, true) => TypeData::Vector { scalar: ScalarType::Int16, count: 1 },
                (16, false) => TypeData::Vector { scalar: ScalarType::Uint16, count: 1 },
                (32, true) => TypeData::Vector { scalar: ScalarType::Int, count: 1 },
                (32, false) => TypeData::Vector { scalar: ScalarType::Uint, count: 1 },
                (64, true) => TypeData::Vector { scalar: ScalarType::Int64, count: 1 },
                (64, false) => TypeData::Vector { scalar: ScalarType::Uint64, count: 1 },
                (bits, _) => self.refused(inst, format!("an integer of {bits} bits")),
            },
            // A third operand is an encoding other than that of IEEE.
            Op::TypeFloat => match (inst.word(1), inst.words.len()) {
                (16, 2) => TypeData::Vector { scalar: ScalarType::Float16, count: 1 },
                (32, 2) => TypeData::Vector { scalar: ScalarType::Float, count: 1 },
                (64, 2) => TypeData::Vector { scalar: ScalarType::Double, count: 1 },
                (bits, _) => self.refused(inst, format!("a float of {bits} bits in this encoding")),
            },
            Op::TypeVector => match (self.part(inst, 1), inst.word(2)) {
                (TypeData::Vector { scalar, count: 1 }, count @ 2..=4) => {
                    TypeData::Vector { scalar, count: count as u8 }
                }
                (_, count) => self.refused(inst, format!("a vector of {count} components")),
            },
            Op::TypeMatrix => match (self.part(inst, 1), inst.word(2)) {
                (TypeData::Vector { scalar, count: rows @ 2..=4 }, columns @ 2..=4) if scalar.is_float() => {
                    TypeData::Matrix { scalar, columns: columns as u8, rows }
                }
                (_, columns) => self.refused(inst, format!("a matrix of {columns} such columns")),
            },
            Op::TypeArray | Op::TypeRuntimeArray => self.array(op, inst),
            Op::TypeStruct => self.structure(inst),
            Op::TypePointer => {
                let stride = self.module.decorations.value(id, Decoration::ArrayStride).unwrap_or(0);
                TypeData::Pointer { class: inst.word(1), pointee: self.type_at(inst, 2), stride }
            }
            Op::TypeImage => self.image_type(inst),
            Op::TypeSampler => TypeData::Sampler,
            Op::TypeSampledImage => match self.part(inst, 1) {
                TypeData::Image(image) => TypeData::SampledImage(image),
                _ => self.refused(inst, "a sampled image of another type".to_owned()),
            },
            Op::TypeFunction => TypeData::Function {
                result: self.type_at(inst, 1),
                parameters: (2..inst.words.len()).map(|number| self.type_at(inst, number)).collect(),
            },
            Op::TypeEvent
            | Op::TypeDeviceEvent
            | Op::TypeReserveId
            | Op::TypeQueue
            | Op::TypePipe
            | Op::TypePipeStorage
            | Op::TypeNamedBarrier
            | Op::TypeOpaque
            | Op::TypeAccelerationStructureKHR
            | Op::TypeRayQueryKHR
            | Op::TypeCooperativeMatrixKHR
            | Op::TypeCooperativeMatrixNV
            | Op::TypeTensorARM
            | Op::TypeHitObjectNV => {
                let name = grammar::name(inst.op);
                self.refused(inst, name)
            }
            _ => return false,
        };
        let depth_limit = self.options.limits.nesting;
        let ty = match &data {
            TypeData::Vector { scalar, count } => self.module.vector_type(*scalar, *count),
            _ => self.module.types.push(data),
        };
        if self.module.types.depth(ty) > depth_limit {
            let count = self.module.types.depth(ty).into();
            let error = SpirvError::TooLarge { what: "nested types", count, limit: depth_limit.into() };
            self.findings.add(error, inst.span());
        }
        self.module.define(id, Id::Type(ty), inst, self.findings);
        true
    }

    /// Reports a type that is refused.
    pub(super) fn refused(&mut self, inst: &Inst<'_>, what: String) -> TypeData {
        self.findings.add(SpirvError::Type { what }, inst.span());
        TypeData::Error
    }

    /// The type that an operand is.
    pub(super) fn type_at(&mut self, inst: &Inst<'_>, number: usize) -> TypeId {
        let id = inst.word(number);
        self.module.type_of_id(id).unwrap_or_else(|| {
            let error = SpirvError::WrongKind { id, found: self.module.id(id).kind(), expected: "a type" };
            self.findings.add(error, inst.span());
            TypeId::ERROR
        })
    }

    fn part(&mut self, inst: &Inst<'_>, number: usize) -> TypeData {
        let ty = self.type_at(inst, number);
        self.module.types.get(ty).clone()
    }

    fn array(&mut self, op: Op, inst: &Inst<'_>) -> TypeData {
        let element = self.type_at(inst, 1);
        let stride = self.module.decorations.value(inst.word(0), Decoration::ArrayStride).unwrap_or(0);
        if op == Op::TypeRuntimeArray {
            return TypeData::Array { element, length: 0, stride };
        }
        match self.module.integer(inst.word(2)) {
            Some(length @ 1..=0xffff_ffff) => TypeData::Array { element, length: length as u32, stride },
            _ => {
                self.findings.add(SpirvError::ArrayLength { id: inst.word(0) }, inst.span());
                TypeData::Error
            }
        }
    }

    fn structure(&mut self, inst: &Inst<'_>) -> TypeData {
        let id = inst.word(0);
        let types: Vec<TypeId> = (1..inst.words.len()).map(|number| self.type_at(inst, number)).collect();
        let decorations = &self.module.decorations;
        let member = |(number, ty): (usize, TypeId)| {
            let number = number as u32;
            Member {
                ty,
                offset: decorations.member(id, number, Decoration::Offset),
                matrix_stride: decorations.member(id, number, Decoration::MatrixStride).unwrap_or(0),
                row_major: decorations.member_has(id, number, Decoration::RowMajor),
            }
        };
        TypeData::Struct { id, members: types.into_iter().enumerate().map(member).collect() }
    }
}
