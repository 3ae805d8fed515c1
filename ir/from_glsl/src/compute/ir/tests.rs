//! Every operator and function has the same value in the interpreter of the IR and as a constant.

use arrayvec::ArrayVec;
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, Random, RunLimits};
use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::Builder;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Def, Shader, ShaderStage};

use crate::ast::{BinaryOp, UnaryOp};
use crate::builtins::functions::{self, Overloads};
use crate::compute::constructors::{Shape, construct};
use crate::compute::fold::{Folder, Known};
use crate::compute::functions::{Argument, builtin};
use crate::compute::{Operand, Sink, bits_of, operators};
use crate::extension::Extensions;
use crate::types::{Scalar, TypeData, TypeId, Types};
use crate::version::{Profile, Version};

/// Code in two sinks: a shader that stores its results, and the results as words.
struct Pair<'a> {
    builder: Builder<'a>,
    random: Random,
    registers: i32,
    expected: Vec<(String, Vec<u64>)>,
}

impl Pair<'_> {
    /// The bits of a component: special values, small numbers, and any bits.
    fn component(&mut self, scalar: Scalar) -> u64 {
        let choice = self.random.bits();
        let number = (self.random.bits() % 2001) as f64 / 250.0 - 4.0;
        match scalar {
            Scalar::Bool => choice & 1,
            Scalar::Float => match choice % 8 {
                0 => u64::from(self.random.bits() as u32),
                1 => [0, 0x8000_0000, 0x7f80_0000, 0x3f80_0000, 0xbf80_0000][choice as usize / 8 % 5],
                _ => u64::from((number as f32).to_bits()),
            },
            Scalar::Double => match choice % 8 {
                0 => self.random.bits(),
                _ => number.to_bits(),
            },
            Scalar::Int | Scalar::Uint => match choice % 4 {
                0 => u64::from(self.random.bits() as u32),
                1 => [0, 1, 0xffff_ffff, 0x8000_0000, 0x7fff_ffff][choice as usize / 4 % 5],
                _ => u64::from((number as i32) as u32),
            },
        }
    }

    /// The same vector in both sinks.
    fn vector(&mut self, scalar: Scalar, components: u8) -> (Def, Known) {
        let bits: ArrayVec<u64, 4> = (0..components).map(|_| self.component(scalar)).collect();
        let bit_size = bits_of(scalar);
        (Sink::constant(&mut self.builder, bit_size, &bits), Known::new(bit_size, &bits))
    }

    /// The same value of a type in both sinks.
    fn operand(&mut self, types: &Types, ty: TypeId) -> (Scalar, Operand<Def>, Operand<Known>) {
        match types.get(ty) {
            TypeData::Vector { scalar, components } => {
                let (def, known) = self.vector(scalar, components);
                (scalar, Operand::Vector(def), Operand::Vector(known))
            }
            TypeData::Matrix { scalar, columns, rows } => {
                let pairs: ArrayVec<(Def, Known), 4> = (0..columns).map(|_| self.vector(scalar, rows)).collect();
                let (defs, known) = pairs.into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
                (scalar, Operand::Matrix(defs.into_iter().collect()), Operand::Matrix(known.into_iter().collect()))
            }
            data => panic!("{data:?}"),
        }
    }

    /// Stores a result, and keeps the expected value.
    fn compare(&mut self, what: &str, emitted: &Operand<Def>, known: &Operand<Known>) {
        assert_eq!(emitted.vectors().len(), known.vectors().len(), "{what}");
        for (&def, known) in emitted.vectors().iter().zip(known.vectors()) {
            let components = self.builder.components(def);
            assert_eq!((components, self.builder.bit_size(def)), (Folder.components(*known), Folder.bit_size(*known)));
            for component in 0..components {
                let value = self.builder.channel(def, component);
                let words = match self.builder.bit_size(value) {
                    1 => self.builder.alu(AluOp::B2i32, &[value]),
                    64 => self.builder.alu(AluOp::Unpack642x32, &[value]),
                    _ => value,
                };
                self.store(words);
                let bits = known.bits()[usize::from(component)];
                let words =
                    if Folder.bit_size(*known) == 64 { vec![bits & 0xffff_ffff, bits >> 32] } else { vec![bits] };
                self.expected.push((what.to_owned(), words));
            }
        }
    }

    fn store(&mut self, value: Def) {
        let zero = self.builder.u32_const(0);
        let mask = (1 << self.builder.body.num_components(value)) - 1;
        let indices = [(IndexKind::Base, self.registers), (IndexKind::WriteMask, mask)];
        self.builder.intrinsic(IntrinsicOp::StoreOutput, &[value, zero], &indices, None);
        self.registers += 1;
    }
}

/// NaNs may have any payload.
fn is_same(words: &[u64], expected: &[u64]) -> bool {
    let is_nan = |words: &[u64]| match *words {
        [word] => f32::from_bits(word as u32).is_nan(),
        [low, high] => f64::from_bits(low | high << 32).is_nan(),
        _ => false,
    };
    words == expected || is_nan(words) && is_nan(expected)
}

/// Builds code, runs it, and compares. Returns the number of results.
fn check(seed: u64, build: impl FnOnce(&mut Pair<'_>)) -> usize {
    let mut shader = Shader::new(ShaderStage::Vertex);
    let mut pair = Pair {
        builder: Builder::at_end(shader.main_mut()),
        random: Random::new(seed),
        registers: 0,
        expected: Vec::new(),
    };
    build(&mut pair);
    let expected = pair.expected;
    shader.num_outputs = expected.len() as u32;
    let inputs = Inputs { lanes: 1, inputs: LaneRegisters::new(1, 1), ..Inputs::default() };
    let ran = tgsi_ir::run::run(&shader, &inputs, &mut AnalyticResources::default(), RunLimits::of_steps(1 << 24));
    let outputs = ran.unwrap_or_else(|error| panic!("{error}")).outputs;
    for (register, (what, expected)) in expected.iter().enumerate() {
        let words: Vec<u64> = (0..expected.len()).map(|component| outputs.get(register, component, 0).into()).collect();
        assert!(is_same(&words, expected), "{what}, seed {seed}: {words:x?} in the shader, {expected:x?} as constant");
    }
    expected.len()
}

#[test]
fn functions_agree() {
    let version = Version { number: 460, profile: Profile::Compatibility };
    let mut names: Vec<&str> = functions::names().collect();
    names.sort_unstable();
    let mut results = 0;
    for seed in 0..8 {
        results += check(seed, |pair| {
            let mut types = Types::new();
            for name in &names {
                let found = functions::overloads(name, version, &Extensions::ALL, ShaderStage::Fragment, &mut types);
                let Overloads::Found(signatures) = found else { continue };
                for signature in signatures {
                    let ins = signature.parameters.iter().filter(|(_, direction)| direction.reads());
                    if signature.parameters.is_empty() || ins.clone().any(|&(ty, _)| types.scalar(ty).is_none()) {
                        continue;
                    }
                    let (mut emitted, mut known) = (Vec::new(), Vec::new());
                    for &(ty, _) in ins {
                        let (scalar, def, value) = pair.operand(&types, ty);
                        emitted.push(Argument { scalar, operand: def });
                        known.push(Argument { scalar, operand: value });
                    }
                    let emitted = builtin(&mut pair.builder, signature.op, &emitted);
                    let known = builtin(&mut Folder, signature.op, &known);
                    let (Some(emitted), Some(known)) = (&emitted, &known) else {
                        assert!(emitted.is_none() && known.is_none(), "{name}");
                        continue;
                    };
                    let shape = |value: &Operand<Known>| {
                        value.vectors().iter().map(|&value| u32::from(Folder.components(value))).sum::<u32>()
                    };
                    assert_eq!(
                        known.value.as_ref().map_or(0, shape),
                        types.summary(signature.result).components,
                        "{name}"
                    );
                    let pairs =
                        emitted.value.iter().chain(&emitted.outputs).zip(known.value.iter().chain(&known.outputs));
                    for (emitted, known) in pairs {
                        pair.compare(name, emitted, known);
                    }
                }
            }
        });
    }
    assert!(results > 8000, "{results}");
}

#[test]
fn operators_agree() {
    use BinaryOp as O;
    let operators = [
        O::Mul,
        O::Div,
        O::Mod,
        O::Add,
        O::Sub,
        O::Shl,
        O::Shr,
        O::Less,
        O::Greater,
        O::LessEqual,
        O::GreaterEqual,
        O::Equal,
        O::NotEqual,
        O::BitAnd,
        O::BitXor,
        O::BitOr,
        O::And,
        O::Xor,
        O::Or,
    ];
    let mut types = Types::new();
    let mut all: Vec<TypeId> = Vec::new();
    for scalar in Scalar::ALL {
        all.extend((1..=4).map(|components| TypeId::vector(scalar, components)));
        if scalar.is_float() {
            let sizes = (2..=4).flat_map(|columns| (2..=4).map(move |rows| (columns, rows)));
            all.extend(sizes.map(|(columns, rows)| types.intern(TypeData::Matrix { scalar, columns, rows })));
        }
    }
    let mut results = 0;
    for (seed, &left) in all.iter().enumerate() {
        results += check(seed as u64, |pair| {
            for &right in &all {
                let (l, r) = (types.get(left), types.get(right));
                if types.scalar(left) != types.scalar(right) || !fit(l, r) {
                    continue;
                }
                let (scalar, a, x) = pair.operand(&types, left);
                let (_, b, y) = pair.operand(&types, right);
                for op in operators {
                    let emitted = operators::binary(&mut pair.builder, op, scalar, &a, &b);
                    let known = operators::binary(&mut Folder, op, scalar, &x, &y);
                    if let (Some(emitted), Some(known)) = (emitted, known) {
                        pair.compare(&format!("{op:?} {l:?} {r:?}"), &emitted, &known);
                    }
                }
            }
            let (scalar, a, x) = pair.operand(&types, left);
            for op in [UnaryOp::Plus, UnaryOp::Minus, UnaryOp::Not, UnaryOp::Complement] {
                let emitted = operators::unary(&mut pair.builder, op, scalar, &a);
                if let (Some(emitted), Some(known)) = (emitted, operators::unary(&mut Folder, op, scalar, &x)) {
                    pair.compare(&format!("{op:?} {:?}", types.get(left)), &emitted, &known);
                }
            }
            for to in Scalar::ALL {
                let emitted = operators::convert(&mut pair.builder, scalar, to, &a);
                let known = operators::convert(&mut Folder, scalar, to, &x);
                pair.compare(&format!("{to:?} of {:?}", types.get(left)), &emitted, &known);
            }
            for shape in
                [Shape::Vector(1), Shape::Vector(2), Shape::Vector(4), Shape::Matrix(2, 3), Shape::Matrix(4, 4)]
            {
                let emitted = construct(&mut pair.builder, scalar, shape, &[a.clone(), a.clone()]);
                let known = construct(&mut Folder, scalar, shape, &[x.clone(), x.clone()]);
                if let (Some(emitted), Some(known)) = (emitted, known) {
                    pair.compare(&format!("{shape:?} of {:?}", types.get(left)), &emitted, &known);
                }
                let emitted = construct(&mut pair.builder, scalar, shape, std::slice::from_ref(&a));
                let known = construct(&mut Folder, scalar, shape, std::slice::from_ref(&x));
                if let (Some(emitted), Some(known)) = (emitted, known) {
                    pair.compare(&format!("{shape:?} of {:?}", types.get(left)), &emitted, &known);
                }
            }
        });
    }
    assert!(results > 1000, "{results}");
}

/// Whether operators have operands of these types.
fn fit(left: TypeData, right: TypeData) -> bool {
    match (left, right) {
        (TypeData::Vector { components: 1, .. }, _) | (_, TypeData::Vector { components: 1, .. }) => true,
        (TypeData::Vector { components, .. }, TypeData::Vector { components: other, .. }) => components == other,
        (TypeData::Matrix { columns, .. }, TypeData::Vector { components, .. }) => columns == components,
        (TypeData::Vector { components, .. }, TypeData::Matrix { rows, .. }) => rows == components,
        (TypeData::Matrix { columns, rows, .. }, TypeData::Matrix { columns: others, rows: other_rows, .. }) => {
            columns == other_rows && rows == others && (columns, rows) == (others, other_rows)
        }
        _ => false,
    }
}
