//! Every opcode of the ALU table as a compute shader that reads its operands from one buffer and writes its results to
//! another. [`evaluate`] computes the expected results.

#![allow(dead_code, reason = "not every test reads everything")]

use tgsi_ir::alu::{AluOp, AluType, BaseType, ExecutionMode, evaluate};
use tgsi_ir::builder::{AluSrc, Builder};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{AluFlags, Def, Shader, ShaderStage, Shape};

/// Bytes between the regions of two cases in either buffer.
pub const STRIDE: u32 = 256;
/// Bytes between two sources in the region of a case, and between two components of a source.
const SOURCE: u32 = 32;
const COMPONENT: u32 = 8;

/// An opcode, with values for the sizes that it leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    pub op: AluOp,
    /// The size of operands without a fixed size.
    pub bits: u8,
    /// The number of components of operands with as many as the result.
    pub components: u8,
    pub exact: bool,
}

fn bits_of(ty: AluType, bits: u8) -> u8 {
    if ty.is_unsized() { bits } else { ty.bit_size }
}

impl Case {
    /// Returns all cases of an opcode, in the sizes that TGSI has.
    pub fn of(op: AluOp) -> Vec<Case> {
        let info = op.info();
        let sizes: Vec<u8> = match info.bit_sizes {
            [] => vec![32],
            sizes => sizes.iter().copied().filter(|bits| matches!(bits, 1 | 32 | 64)).collect(),
        };
        let is_horizontal = info.output_size != 0;
        let counts = if is_horizontal { info.output_size..=info.output_size } else { 1..=4 };
        let mut cases = Vec::new();
        for &bits in &sizes {
            for components in counts.clone() {
                cases.extend([false, true].map(|exact| Case { op, bits, components, exact }));
            }
        }
        cases
    }

    /// Returns components and bits of source `number`.
    pub fn source(self, number: usize) -> Shape {
        let bits = bits_of(self.op.info().input_types[number], self.bits);
        Shape::new(self.op.input_components(number, self.components), bits)
    }

    /// Returns the base type of source `number`.
    pub fn source_base(self, number: usize) -> BaseType {
        self.op.info().input_types[number].base
    }

    /// Returns components and bits of the result.
    pub fn result(self) -> Shape {
        Shape::new(self.components, bits_of(self.op.info().output_type, self.bits))
    }

    /// Returns the number of sources.
    pub fn num_sources(self) -> usize {
        usize::from(self.op.info().num_inputs)
    }

    /// Returns whether a shader can have all of these sizes.
    pub fn has_sizes(self) -> bool {
        let fits = |shape: Shape| matches!(shape.bit_size, 1 | 32 | 64) && shape.num_components <= 4;
        fits(self.result()) && (0..self.num_sources()).all(|number| fits(self.source(number)))
    }

    /// Returns the expected result for sources with these components.
    pub fn expected(self, sources: &[Vec<u64>]) -> Vec<u64> {
        let mut result = vec![0; usize::from(self.components)];
        let sources: Vec<&[u64]> = sources.iter().map(Vec::as_slice).collect();
        evaluate(self.op, self.bits, self.components, &sources, ExecutionMode::DEFAULT, &mut result);
        result
    }

    /// Returns a text that identifies the case.
    pub fn name(self) -> String {
        let exact = if self.exact { "!" } else { "" };
        format!("{}{exact} {}x{}", self.op, self.bits, self.components)
    }
}

/// Opcodes without a SPIR-V form, which TGSI does not use, with the sizes concerned.
pub const WITHOUT_FORM: &[(&str, &[u8])] = &[
    // SPIR-V and TGSI have these in 32 bits only.
    ("fsin", &[64]),
    ("fcos", &[64]),
    ("fpow", &[64]),
    ("fquantize2f16", &[64]),
    ("pack_snorm_2x16", &[64]),
    ("pack_unorm_2x16", &[64]),
    // Opcodes of particular hardware.
    ("fsin_amd", &[32, 64]),
    ("fcos_amd", &[32, 64]),
    ("fsin_mdg", &[32, 64]),
    ("fcos_mdg", &[32, 64]),
    ("cube_amd", &[32]),
    ("msad_4x8", &[32]),
    ("mqsad_4x8", &[32]),
    ("sdot_4x8_iadd", &[32]),
    ("sdot_4x8_iadd_sat", &[32]),
    ("udot_4x8_uadd", &[32]),
    ("udot_4x8_uadd_sat", &[32]),
    ("sudot_4x8_iadd", &[32]),
    ("sudot_4x8_iadd_sat", &[32]),
    ("sdot_2x16_iadd", &[32]),
    ("sdot_2x16_iadd_sat", &[32]),
    ("udot_2x16_uadd", &[32]),
    ("udot_2x16_uadd_sat", &[32]),
    // Scaled exponents become products in the optimiser.
    ("ldexp", &[32, 64]),
    // SPIR-V has no packing that rounds toward zero.
    ("pack_half_2x16_rtz_split", &[32]),
];

/// Returns whether a case has code.
pub fn has_form(case: Case, portable: bool) -> bool {
    // Lowered by `lower_mul_high`.
    let is_lowered = portable && matches!(case.op, AluOp::ImulHigh | AluOp::UmulHigh) && case.bits > 1;
    case.has_sizes()
        && !is_lowered
        && !WITHOUT_FORM.iter().any(|&(name, sizes)| name == case.op.name() && sizes.contains(&case.bits))
}

/// Builds a shader of several cases, each in its region of both buffers.
pub fn shader(cases: &[Case]) -> Shader {
    let mut shader = Shader::new(ShaderStage::Compute);
    shader.info.workgroup_size = [1, 1, 1];
    shader.info.num_ssbos = 2;
    shader.info.writes_memory = true;
    let mut b = Builder::at_end(shader.main_mut());
    let (inputs, outputs) = (b.u32_const(0), b.u32_const(1));
    for (number, &case) in cases.iter().enumerate() {
        let region = number as u32 * STRIDE;
        let sources: Vec<AluSrc> = (0..case.num_sources())
            .map(|n| load(&mut b, inputs, region + n as u32 * SOURCE, case.source(n)).into())
            .collect();
        b.flags = if case.exact { AluFlags::EXACT } else { AluFlags::NONE };
        let value = b.alu_sized(case.op, case.components, &sources);
        b.flags = AluFlags::NONE;
        store(&mut b, outputs, region, value);
    }
    shader
}

/// Builds a shader that stores the result of `make` for two words that it loads.
pub fn shader_of(make: impl FnOnce(&mut Builder<'_>, Def, Def) -> Def) -> Shader {
    let mut shader = shader(&[]);
    let mut b = Builder::at_end(shader.main_mut());
    let (inputs, outputs) = (b.u32_const(0), b.u32_const(1));
    let (x, y) = (word(&mut b, inputs, 0), word(&mut b, inputs, COMPONENT));
    let value = make(&mut b, x, y);
    store(&mut b, outputs, 0, value);
    shader
}

/// Encodes the sources of a case as bytes.
pub fn encode(case: Case, sources: &[Vec<u64>]) -> Vec<u8> {
    let mut bytes = vec![0; STRIDE as usize];
    for (number, source) in sources.iter().enumerate().take(case.num_sources()) {
        for (component, value) in source.iter().enumerate() {
            let at = number * SOURCE as usize + component * COMPONENT as usize;
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
    }
    bytes
}

/// Decodes the components of a case's result from the bytes of its region.
pub fn decode(case: Case, bytes: &[u8]) -> Vec<u64> {
    let shape = case.result();
    let mask = if shape.bit_size == 64 { u64::MAX } else { (1 << shape.bit_size) - 1 };
    bytes
        .chunks_exact(COMPONENT as usize)
        .take(usize::from(shape.num_components))
        .map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight bytes")) & mask)
        .collect()
}

fn word(b: &mut Builder<'_>, buffer: Def, offset: u32) -> Def {
    let offset = b.u32_const(offset);
    let indices = [(IndexKind::AlignMul, 4), (IndexKind::AlignOffset, 0)];
    b.intrinsic_def(IntrinsicOp::LoadSsbo, &[buffer, offset], &indices, Shape::new(1, 32))
}

/// Loads a value of a shape; shapes that a buffer cannot hold give a constant.
fn load(b: &mut Builder<'_>, buffer: Def, at: u32, shape: Shape) -> Def {
    if !matches!(shape.bit_size, 1 | 32 | 64) || shape.num_components > 4 {
        return b.constant(shape.bit_size, &vec![1; usize::from(shape.num_components)]);
    }
    let parts: Vec<Def> = (0..u32::from(shape.num_components))
        .map(|component| {
            let at = at + component * COMPONENT;
            let low = word(b, buffer, at);
            match shape.bit_size {
                64 => {
                    let high = word(b, buffer, at + 4);
                    b.alu(AluOp::Pack642x32Split, &[low, high])
                }
                1 => {
                    let zero = b.u32_const(0);
                    b.alu(AluOp::Ine, &[low, zero])
                }
                _ => low,
            }
        })
        .collect();
    b.vec_of(&parts)
}

fn store(b: &mut Builder<'_>, buffer: Def, at: u32, value: Def) {
    let shape = b.body.shape(value);
    if !matches!(shape.bit_size, 1 | 32 | 64) || shape.num_components > 4 {
        return;
    }
    for component in 0..shape.num_components {
        let part = b.channel(value, component);
        let words = match shape.bit_size {
            64 => {
                vec![b.alu(AluOp::Unpack642x32SplitX, &[part]), b.alu(AluOp::Unpack642x32SplitY, &[part])]
            }
            1 => vec![b.alu(AluOp::B2i32, &[part])],
            _ => vec![part],
        };
        for (number, word) in words.into_iter().enumerate() {
            let offset = b.u32_const(at + u32::from(component) * COMPONENT + 4 * number as u32);
            let indices = [(IndexKind::WriteMask, 1), (IndexKind::AlignMul, 4), (IndexKind::AlignOffset, 0)];
            b.intrinsic(IntrinsicOp::StoreSsbo, &[word, buffer, offset], &indices, None);
        }
    }
}
