//! Every operator and function has the same value in the interpreter of the IR and as a constant.

use tgsi_arithmetic::fold::{Folder, Known};
use tgsi_arithmetic::{Operand, Sink};
use tgsi_ir::{Def, ShaderStage};

use super::constructors::{Shape, construct};
use super::functions::{Argument, builtin};
use super::{component, operators};
use crate::ast::{BinaryOp, UnaryOp};
use crate::builtins::functions::{self, Overloads};
use crate::extension::Extensions;
use crate::types::{Scalar, TypeData, TypeId, Types};
use crate::version::{Profile, Version};

#[path = "../../../arithmetic/tests/pair.rs"]
mod pair;

use pair::{Pair, check};

/// The same value of a type in both sinks.
fn operand(pair: &mut Pair<'_>, types: &Types, ty: TypeId) -> (Scalar, Operand<Def>, Operand<Known>) {
    match types.get(ty) {
        TypeData::Vector { scalar, components } => {
            let (def, known) = pair.vector(component(scalar), components);
            (scalar, Operand::Vector(def), Operand::Vector(known))
        }
        TypeData::Matrix { scalar, columns, rows } => {
            let (def, known) = pair.matrix(component(scalar), columns, rows);
            (scalar, Operand::Matrix(def), Operand::Matrix(known))
        }
        data => panic!("{data:?}"),
    }
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
                        let (scalar, def, value) = operand(pair, &types, ty);
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
                let (scalar, a, x) = operand(pair, &types, left);
                let (_, b, y) = operand(pair, &types, right);
                for op in operators {
                    let emitted = operators::binary(&mut pair.builder, op, scalar, &a, &b);
                    let known = operators::binary(&mut Folder, op, scalar, &x, &y);
                    if let (Some(emitted), Some(known)) = (emitted, known) {
                        pair.compare(&format!("{op:?} {l:?} {r:?}"), &emitted, &known);
                    }
                }
            }
            let (scalar, a, x) = operand(pair, &types, left);
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
