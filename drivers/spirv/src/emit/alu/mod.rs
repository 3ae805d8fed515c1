//! Arithmetic, one file for each subject.
//!
//! The formula of an opcode in the IR's table defines the result. Cases that SPIR-V leaves undefined (division by zero,
//! shift counts, floats out of the range of an integer, NaN in minima) get explicit code, unless constants or ranges
//! exclude them.
//!
//! Numbers have 32 or 64 bits, booleans 1 or 32. Numbers of 8 and 16 bits, and vectors of more than four components, do
//! not come from TGSI and are errors.

mod bits;
mod compare;
mod conversion;
mod float;
mod fma;
mod horizontal;
mod integer;
mod logic;
mod pack;

use smallvec::SmallVec;
use spirv::{Decoration, GlslStd450Op, Op};
use tgsi_ir::alu::AluOp;
use tgsi_ir::analysis::float_range::FloatRanges;
use tgsi_ir::body::Swizzle;
use tgsi_ir::{AluFlags, Def, Inst, ShaderStage};

use super::Emitter;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};
use crate::options::SpirvOptions;

/// The instruction that is being emitted.
#[derive(Clone, Copy)]
struct Alu {
    inst: Inst,
    op: AluOp,
    def: Def,
    /// Sums and products are rounded one by one, in the order of the source.
    exact: bool,
}

/// Arithmetic state of a whole shader.
#[derive(Default)]
pub(super) struct Arithmetic {
    /// All instructions are [exact](Alu::exact).
    keeps_rounding: bool,
    /// Known ranges of floats.
    ranges: FloatRanges,
}

impl Arithmetic {
    /// Creates the state for a stage and a target.
    pub(super) fn new(stage: ShaderStage, options: &SpirvOptions) -> Arithmetic {
        let keeps_rounding = options.no_contraction || options.compiler_options(stage).keeps_rounding(stage);
        Arithmetic { keeps_rounding, ranges: FloatRanges::new() }
    }
}

/// The result of an instruction: its id and its class.
type TypedId = (Id, Class);

impl Emitter<'_> {
    /// Emits an ALU instruction.
    pub(super) fn emit_alu(&mut self, inst: Inst, op: AluOp, flags: AluFlags) -> Result<(), SpirvError> {
        let Some(def) = self.body.inst_def(inst) else {
            return Err(SpirvError::NotLowered { inst, what: "an ALU instruction without result" });
        };
        if op.is_vec_or_mov() || op == AluOp::Bcsel {
            return self.emit_move_or_select(inst, op, def);
        }
        let exact = flags.is_exact() || self.arithmetic.keeps_rounding;
        let alu = Alu { inst, op, def, exact };
        if !self.has_sizes(&alu) {
            return Err(self.no_form(&alu));
        }
        // An opcode's group selects the file with its code. Opcodes not handled there have no SPIR-V form;
        // `tests/alu.rs` lists them.
        let (id, class) = match op.info().group {
            "float-unary" | "float-binary" | "float-ternary" | "tgsi" => self.float(&alu),
            "float-horizontal" => self.horizontal(&alu),
            "float-test" => self.float_test(&alu),
            "compare-float" | "compare-int" | "compare-bit" => self.comparison(&alu),
            "compare-to-float" => self.comparison_to_float(&alu),
            "compare-horizontal" => self.comparison_of_vectors(&alu),
            "select" => self.selection(&alu),
            "int-unary" | "int-binary" | "int-ternary" => self.integer(&alu),
            "bitfield" => self.bitfield(&alu),
            "convert" => self.conversion(&alu),
            "pack" => self.packing(&alu),
            _ => Err(self.no_form(&alu)),
        }?;
        self.define(def, id, class);
        Ok(())
    }

    /// The error for an opcode without a SPIR-V form.
    fn no_form(&self, alu: &Alu) -> SpirvError {
        SpirvError::UnsupportedAlu { inst: alu.inst, op: alu.op, bits: self.body.alu_bit_size(alu.inst) }
    }

    /// Returns whether all values of an instruction have supported sizes.
    fn has_sizes(&self, alu: &Alu) -> bool {
        let body = self.body;
        let fits = |def: Def, count: usize| matches!(body.bit_size(def), 1 | 32 | 64) && count <= 4;
        fits(alu.def, usize::from(body.num_components(alu.def)))
            && body.sources(alu.inst).enumerate().all(|(number, source)| {
                let def = body.src_def(source);
                fits(def, body.alu_src_components(alu.inst, number)) && body.num_components(def) <= 4
            })
    }

    /// Returns source `number` in a class.
    fn source(&mut self, alu: &Alu, number: usize, class: Class) -> Result<Id, SpirvError> {
        self.operand(self.body.source(alu.inst, number), class)
    }

    /// Returns the type of source `number` in a class, with the components that the instruction reads.
    fn source_type(&self, alu: &Alu, number: usize, class: Class) -> ValueType {
        let def = self.body.src(alu.inst, number);
        let count = self.body.alu_src_components(alu.inst, number);
        ValueType::new(class, self.body.bit_size(def), count as u8)
    }

    /// Returns the bits of a component of source `number`.
    fn source_bits(&self, alu: &Alu, number: usize) -> u8 {
        self.body.bit_size(self.body.src(alu.inst, number))
    }

    /// Returns the bits of source `number`, if it is constant.
    fn source_constant(&self, alu: &Alu, number: usize) -> Option<SmallVec<[u64; 4]>> {
        self.constant_operand(self.body.source(alu.inst, number), self.body.alu_src_components(alu.inst, number))
    }

    /// Returns whether all components of source `number` are constants that satisfy `test`.
    fn all_constants(&self, alu: &Alu, number: usize, test: impl Fn(u64) -> bool) -> bool {
        self.source_constant(alu, number).is_some_and(|bits| bits.iter().all(|&bits| test(bits)))
    }

    /// Returns the class for an integer operation that does not depend on the sign.
    fn neutral(&self, alu: &Alu) -> Class {
        match self.classes.get(alu.def) {
            Class::Int => Class::Int,
            _ => Class::Uint,
        }
    }

    /// Returns the integer class in which source `number` is available without a cast.
    fn available_class(&self, alu: &Alu, number: usize) -> Class {
        match self.values[self.body.src(alu.inst, number)] {
            Some((_, Class::Int)) => Class::Int,
            _ => Class::Uint,
        }
    }

    /// Returns the boolean type with as many components as `ty`.
    fn truths(ty: ValueType) -> ValueType {
        ValueType::BOOL.with_components(ty.components)
    }

    /// Returns a constant with the same bits in all components.
    fn splat(&mut self, ty: ValueType, bits: u64) -> Id {
        self.constant(ty, &[bits; 4][..usize::from(ty.components).clamp(1, 4)])
    }

    /// Returns a 32- or 64-bit float constant with the same value in all components.
    fn real(&mut self, ty: ValueType, value: f64) -> Id {
        self.splat(ty, if ty.bits == 64 { value.to_bits() } else { (value as f32).to_bits().into() })
    }

    /// Returns one component of a vector, or a scalar itself.
    fn part(&mut self, id: Id, ty: ValueType, number: u8) -> Id {
        self.take(id, ty, Swizzle::replicate(number), 1)
    }

    /// Builds a vector from scalars; a single scalar is returned as it is.
    fn construct(&mut self, scalar: ValueType, parts: &[Id]) -> Id {
        match parts {
            [only] => *only,
            parts => self.pure_of(Op::CompositeConstruct, scalar.with_components(parts.len() as u8), parts),
        }
    }

    /// Emits a sum, difference, product or quotient of floats. An exact one is neither contracted nor reordered.
    fn rounded(&mut self, exact: bool, op: Op, ty: ValueType, operands: &[Id]) -> Id {
        if !exact {
            return self.pure_of(op, ty, operands);
        }
        let ty = self.module.value_type(ty);
        let words: SmallVec<[u32; 8]> = operands.iter().map(|id| id.0).collect();
        self.uncontracted(op, ty, &words)
    }

    /// Emits a `GLSL.std.450` instruction, likewise exact or not.
    fn rounded_glsl(&mut self, exact: bool, op: GlslStd450Op, ty: ValueType, operands: &[Id]) -> Id {
        if !exact {
            return self.glsl(op, ty, operands);
        }
        let ty = self.module.value_type(ty);
        let set = self.module.glsl();
        let words: SmallVec<[u32; 8]> = [set.0, op as u32].into_iter().chain(operands.iter().map(|id| id.0)).collect();
        self.uncontracted(Op::ExtInst, ty, &words)
    }

    /// Emits an instruction with `NoContraction`. In the value table its key ends with a word that is not an id, to
    /// distinguish it from undecorated ones.
    fn uncontracted(&mut self, op: Op, ty: Id, words: &[u32]) -> Id {
        let key: SmallVec<[u32; 8]> = words.iter().copied().chain([u32::MAX]).collect();
        if let Some(id) = self.value_numbers.get(op, ty, &key) {
            return id;
        }
        let id = self.result(op, ty, words);
        self.module.decorate(id, Decoration::NoContraction, &[]);
        self.value_numbers.insert(op, ty, &key, id);
        id
    }
}
