//! Values of expressions.

use arrayvec::ArrayVec;
use tgsi_arithmetic::Operand;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape as IrShape;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::{Def, Variable as IrVariable};
use tgsi_ir::intrinsics::IntrinsicOp;

use super::places::{Place, Value, swizzle};
use super::{EmitError, Emitter, bit_size, index};
use crate::ast::BinaryOp;
use crate::compute;
use crate::compute::constructors::Shape;
use crate::program::{Constant, ConstantId, Expr, ExprId, ExprKind, ExprList};
use crate::types::{Scalar, TypeData, TypeId};

impl Emitter<'_, '_, '_> {
    /// The value of an expression; that of a variable stays in memory.
    pub(super) fn value(&mut self, root: ExprId) -> Result<Value, EmitError> {
        // Down the first operands to a leaf, then up.
        let mut path: Vec<ExprId> = Vec::new();
        let mut current = root;
        let mut value = loop {
            let expr = *self.context.program.expr(current);
            if let Some(constant) = expr.constant
                && !expr.has_effects
            {
                break self.constant(constant);
            }
            match first_operand(&expr) {
                Some(operand) => {
                    path.push(current);
                    current = operand;
                }
                None => break self.leaf(&expr)?,
            }
        };
        while let Some(node) = path.pop() {
            let node = *self.context.program.expr(node);
            value = self.apply(&node, value)?;
        }
        Ok(value)
    }

    /// The scalar, vector or matrix of an expression.
    pub(super) fn operand_of(&mut self, expr: ExprId) -> Result<Operand<Def>, EmitError> {
        let value = self.value(expr)?;
        Ok(self.operand(value))
    }

    /// The single value of an expression that is not a matrix.
    pub(super) fn vector_of(&mut self, expr: ExprId) -> Result<Def, EmitError> {
        let value = self.value(expr)?;
        Ok(self.scalar(value))
    }

    /// The vector of a value; of a matrix, its first column.
    pub(super) fn scalar(&mut self, value: Value) -> Def {
        match self.operand(value) {
            Operand::Vector(def) => def,
            Operand::Matrix(columns) => columns.first().copied().unwrap_or_else(|| self.b.u32_const(0)),
        }
    }

    /// The value of an expression without a first operand.
    fn leaf(&mut self, expr: &Expr) -> Result<Value, EmitError> {
        match expr.kind {
            ExprKind::Variable(variable) => Ok(self.variable(variable, expr.ty)),
            ExprKind::Construct(list) => self.construct(expr.ty, list),
            ExprKind::Call(function, arguments) => self.call(function, arguments, expr),
            ExprKind::CallSubroutine(selector, ty, arguments) => self.call_subroutine(selector, ty, arguments, expr),
            ExprKind::Builtin(op, arguments) => self.builtin(op, arguments, expr),
            ExprKind::Assign(target, value) => {
                let place = self.place(target)?;
                let value = self.value(value)?;
                let value = self.loaded(value);
                self.store(place, value.clone());
                Ok(value)
            }
            ExprKind::Update(op, target, operand) => {
                let place = self.place(target)?;
                let operand = self.operand_of(operand)?;
                let old = self.load_place(place);
                let old = self.operand(old);
                let scalar = self.scalar_type(self.context.program.expr(target).ty);
                let new = Value::Operand(self.binary_operator(op, scalar, &old, &operand));
                self.store(place, new.clone());
                Ok(new)
            }
            ExprKind::Step { operand, decrement, postfix } => {
                let place = self.place(operand)?;
                let old = self.load_place(place);
                let old = self.operand(old);
                let scalar = self.scalar_type(expr.ty);
                let one = self.one(scalar);
                let op = if decrement { BinaryOp::Sub } else { BinaryOp::Add };
                let new = self.binary_operator(op, scalar, &old, &Operand::Vector(one));
                self.store(place, Value::Operand(new.clone()));
                Ok(Value::Operand(if postfix { old } else { new }))
            }
            // Known values and expressions with a first operand do not come here.
            _ => Ok(Value::None),
        }
    }

    /// The value of an expression whose first operand has a value.
    fn apply(&mut self, expr: &Expr, first: Value) -> Result<Value, EmitError> {
        match expr.kind {
            ExprKind::Swizzle(_, lanes) => {
                let count = self.context.program.types.as_vector(expr.ty).map_or(1, |(_, count)| count);
                let vector = self.scalar(first);
                let def = self.b.mov(AluSrc::new(vector, swizzle(lanes)), count);
                Ok(Value::Operand(Operand::Vector(def)))
            }
            ExprKind::Index(_, number) => self.index_value(first, number, expr.ty),
            ExprKind::Field(_, field) => match first {
                Value::Memory(deref, _) => Ok(Value::Memory(self.field_deref(deref, field), expr.ty)),
                Value::State(deref, ty) => Ok(self.state_field(deref, ty, field)),
                other => Ok(other),
            },
            ExprKind::Unary(op, operand) => {
                let scalar = self.scalar_type(self.context.program.expr(operand).ty);
                let operand = self.operand(first);
                Ok(Value::Operand(compute::operators::unary(&mut self.b, op, scalar, &operand).unwrap_or(operand)))
            }
            ExprKind::Convert(operand) => {
                let (from, to) = (self.scalar_type(self.context.program.expr(operand).ty), self.scalar_type(expr.ty));
                let operand = self.operand(first);
                Ok(Value::Operand(compute::operators::convert(&mut self.b, from, to, &operand)))
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), _, second) => {
                let first = self.scalar(first);
                self.short_circuit(op, first, second)
            }
            ExprKind::Binary(op, left, right) => self.binary(op, first, left, right),
            ExprKind::Select(_, second, third) => {
                let condition = self.scalar(first);
                self.select(condition, second, third, expr.ty)
            }
            ExprKind::Comma(_, second) => self.value(second),
            // The length of an array whose length is known by now.
            ExprKind::Length(operand) => {
                let program = self.context.program;
                let operand = program.expr(operand);
                // An array may have got its length after the expression.
                let ty = match operand.kind {
                    ExprKind::Variable(id) => program.variable(id).ty,
                    _ => operand.ty,
                };
                if let (TypeData::Array { length: None, .. }, &Value::Memory(deref, _)) =
                    (program.types.get(ty), &first)
                {
                    let op = IntrinsicOp::DerefBufferArrayLength;
                    let length = self.b.intrinsic_def(op, &[deref], &[], IrShape::new(1, 32));
                    return Ok(Value::Operand(Operand::Vector(length)));
                }
                let length = match program.types.get(ty) {
                    TypeData::Array { length, .. } => length.unwrap_or(1),
                    _ => 1,
                };
                Ok(Value::Operand(Operand::Vector(index(&mut self.b, length))))
            }
            _ => Ok(first),
        }
    }

    /// A binary operator on operands that semantic analysis gave the right types.
    fn binary_operator(
        &mut self,
        op: BinaryOp,
        scalar: Scalar,
        left: &Operand<Def>,
        right: &Operand<Def>,
    ) -> Operand<Def> {
        compute::operators::binary(&mut self.b, op, scalar, left, right).unwrap_or_else(|| left.clone())
    }

    fn scalar_type(&self, ty: TypeId) -> Scalar {
        self.context.program.types.scalar(ty).unwrap_or(Scalar::Float)
    }

    /// 1 of a numeric type.
    fn one(&mut self, scalar: Scalar) -> Def {
        match scalar {
            Scalar::Float => self.b.f32_const(1.0),
            Scalar::Double => self.b.constant(64, &[1f64.to_bits()]),
            Scalar::Int64 | Scalar::Uint64 => self.b.constant(64, &[1]),
            Scalar::Bool => self.b.bool_const(true),
            Scalar::Int | Scalar::Uint => self.b.u32_const(1),
        }
    }

    fn index_value(&mut self, base: Value, number: ExprId, ty: TypeId) -> Result<Value, EmitError> {
        if let Value::Packed(packed) = base {
            return self.packed_index(packed, number);
        }
        let constant = self.context.program.value(number).and_then(|value| value.bits.first().copied());
        let has_effects = self.context.program.expr(number).has_effects;
        let is_vector = |value: &Value| matches!(value, Value::Memory(_, ty) if self.context.program.types.as_vector(*ty).is_some());
        let base = if is_vector(&base) || has_effects { self.loaded(base) } else { base };
        let number = match constant {
            Some(number) => {
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                match base {
                    Value::Operand(Operand::Vector(vector)) => {
                        let def = self.b.channel(vector, number.min(3) as u8);
                        return Ok(Value::Operand(Operand::Vector(def)));
                    }
                    Value::Operand(Operand::Matrix(columns)) => {
                        let column = columns.get(number as usize).or(columns.first()).copied();
                        return Ok(column.map_or(Value::None, |column| Value::Operand(Operand::Vector(column))));
                    }
                    _ => index(&mut self.b, number),
                }
            }
            None => self.vector_of(number)?,
        };
        Ok(match base {
            Value::Memory(deref, _) => Value::Memory(self.element_deref(deref, number), ty),
            Value::State(deref, _) => self.state_element(deref, number, ty),
            Value::Packed(_) => Value::None,
            Value::Operand(Operand::Vector(vector)) => {
                Value::Operand(Operand::Vector(self.component_at(vector, number)))
            }
            Value::Operand(Operand::Matrix(columns)) => {
                Value::Operand(Operand::Vector(self.column_at(&columns, number)))
            }
            Value::None => Value::None,
        })
    }

    fn binary(&mut self, op: BinaryOp, first: Value, left: ExprId, right: ExprId) -> Result<Value, EmitError> {
        let ty = self.context.program.expr(left).ty;
        if self.context.program.types.scalar(ty).is_none() {
            let second = self.value(right)?;
            let is_equal = self.are_equal(first, second, ty);
            let result = if op == BinaryOp::NotEqual { self.b.alu(AluOp::Inot, &[is_equal]) } else { is_equal };
            return Ok(Value::Operand(Operand::Vector(result)));
        }
        // Loaded before the other operand can change it.
        let first = self.operand(first);
        let second = self.operand_of(right)?;
        let scalar = self.scalar_type(ty);
        Ok(Value::Operand(self.binary_operator(op, scalar, &first, &second)))
    }

    /// Whether two arrays or structs are equal, leaf by leaf.
    fn are_equal(&mut self, first: Value, second: Value, ty: TypeId) -> Def {
        let mut result = self.b.bool_const(true);
        let (first, second) = (self.unpacked(first), self.unpacked(second));
        let (Value::Memory(first, _), Value::Memory(second, _)) = (first, second) else { return result };
        let mut pending = vec![(first, second, ty)];
        while let Some((a, b, ty)) = pending.pop() {
            match self.context.program.types.get(ty) {
                TypeData::Array { element, length } => {
                    for number in (0..length.unwrap_or(0)).rev() {
                        let number = index(&mut self.b, number);
                        let (a, b) = (self.element_deref(a, number), self.element_deref(b, number));
                        pending.push((a, b, element));
                    }
                }
                TypeData::Struct(_) => {
                    let fields = self.context.program.types.fields(ty);
                    for (number, field) in fields.iter().enumerate().rev() {
                        let number = number as u32;
                        let (a, b) = (self.field_deref(a, number), self.field_deref(b, number));
                        pending.push((a, b, field.ty));
                    }
                }
                _ => {
                    let (a, b) = (self.load(a, ty), self.load(b, ty));
                    let scalar = self.scalar_type(ty);
                    let equal = self.binary_operator(BinaryOp::Equal, scalar, &a, &b);
                    let equal = self.scalar(Value::Operand(equal));
                    result = self.b.alu(AluOp::Iand, &[result, equal]);
                }
            }
        }
        result
    }

    /// `&&` and `||`: the second operand is evaluated under an `if` if that has effects.
    fn short_circuit(&mut self, op: BinaryOp, first: Def, second: ExprId) -> Result<Value, EmitError> {
        let is_and = op == BinaryOp::And;
        let combine = if is_and { AluOp::Iand } else { AluOp::Ior };
        if !self.must_branch(second) {
            let second = self.vector_of(second)?;
            return Ok(Value::Operand(Operand::Vector(self.b.alu(combine, &[first, second]))));
        }
        let result = self.bool_temporary();
        self.store_temporary(result, TypeId::BOOL, first);
        let condition = if is_and { first } else { self.b.alu(AluOp::Inot, &[first]) };
        let branch = self.b.push_if(condition);
        let second = self.vector_of(second)?;
        self.store_temporary(result, TypeId::BOOL, second);
        self.b.end_if(branch);
        let deref = self.deref_temporary(result, TypeId::BOOL);
        Ok(Value::Operand(self.load(deref, TypeId::BOOL)))
    }

    /// `?:`, and those in its last operand: chains of them are long.
    fn select(
        &mut self,
        mut condition: Def,
        mut second: ExprId,
        mut third: ExprId,
        ty: TypeId,
    ) -> Result<Value, EmitError> {
        let program = self.context.program;
        let in_registers = program.types.scalar(ty).is_some();
        // An operand with effects is one of all links before its own, so branches come first.
        let (mut branches, mut choices) = (Vec::new(), Vec::new());
        let mut result: Option<IrVariable> = None;
        let last = loop {
            if in_registers && !self.must_branch(second) && !self.must_branch(third) {
                choices.push((condition, self.operand_of(second)?));
            } else {
                if ty != TypeId::VOID && result.is_none() {
                    let ir_type = self.context.ir_type(ty);
                    result = Some(self.context.temporary("selected", ir_type));
                }
                let branch = self.b.push_if(condition);
                let value = self.value(second)?;
                self.store_selected(result, ty, value);
                self.b.push_else(branch);
                branches.push(branch);
            }
            let link = program.expr(third);
            match link.kind {
                ExprKind::Select(next, first, other) if link.constant.is_none() || link.has_effects => {
                    condition = self.vector_of(next)?;
                    (second, third) = (first, other);
                }
                _ => break self.value(third)?,
            }
        };
        let mut value = last;
        for (condition, chosen) in choices.into_iter().rev() {
            let other = self.operand(value);
            value = Value::Operand(self.selected(condition, &chosen, &other));
        }
        if branches.is_empty() {
            return Ok(value);
        }
        self.store_selected(result, ty, value);
        while let Some(branch) = branches.pop() {
            self.b.end_if(branch);
        }
        let Some(result) = result else { return Ok(Value::None) };
        let deref = self.deref_temporary(result, ty);
        Ok(self.loaded(Value::Memory(deref, ty)))
    }

    fn store_selected(&mut self, result: Option<IrVariable>, ty: TypeId, value: Value) {
        if let Some(result) = result {
            let deref = self.deref_temporary(result, ty);
            self.store(Place::new(deref, ty), value);
        }
    }

    fn selected(&mut self, condition: Def, second: &Operand<Def>, third: &Operand<Def>) -> Operand<Def> {
        let mut choose = |a: Def, b: Def| {
            let count = self.b.body.num_components(a);
            let condition = AluSrc::component(condition, 0);
            self.b.alu_sized(AluOp::Bcsel, count, &[condition, a.into(), b.into()])
        };
        match (second, third) {
            (Operand::Vector(a), Operand::Vector(b)) => Operand::Vector(choose(*a, *b)),
            (Operand::Matrix(a), Operand::Matrix(b)) => {
                let columns: ArrayVec<Def, 4> = a.iter().zip(b).map(|(&a, &b)| choose(a, b)).collect();
                Operand::Matrix(columns)
            }
            _ => second.clone(),
        }
    }

    /// Whether an operand must not be evaluated where its value is not needed: it has effects, or derivatives.
    fn must_branch(&self, expr: ExprId) -> bool {
        self.context.program.expr(expr).has_effects
    }

    /// A value from the operands of a constructor.
    fn construct(&mut self, ty: TypeId, list: ExprList) -> Result<Value, EmitError> {
        let program = self.context.program;
        let operands = program.list(list);
        match program.types.get(ty) {
            TypeData::Struct(_) | TypeData::Array { .. } => {
                let deref = self.temporary_of(ty);
                for (number, &operand) in operands.iter().enumerate() {
                    let of = program.expr(operand).ty;
                    let value = self.value(operand)?;
                    let part = match program.types.get(ty) {
                        TypeData::Struct(_) => self.field_deref(deref, number as u32),
                        _ => {
                            let number = index(&mut self.b, number as u32);
                            self.element_deref(deref, number)
                        }
                    };
                    self.store(Place::new(part, of), value);
                }
                Ok(Value::Memory(deref, ty))
            }
            _ => {
                let mut values = Vec::with_capacity(operands.len());
                for &operand in operands {
                    values.push(self.operand_of(operand)?);
                }
                let scalar = self.scalar_type(ty);
                let shape = match program.types.get(ty) {
                    TypeData::Matrix { columns, rows, .. } => Shape::Matrix(columns, rows),
                    _ => Shape::Vector(program.types.as_vector(ty).map_or(1, |(_, count)| count)),
                };
                let value = compute::constructors::construct(&mut self.b, scalar, shape, &values);
                Ok(value.map_or(Value::None, Value::Operand))
            }
        }
    }

    /// A known value.
    fn constant(&mut self, id: ConstantId) -> Value {
        let program = self.context.program;
        let Constant { ty, bits } = program.constant(id);
        match program.types.get(*ty) {
            TypeData::Matrix { scalar, rows, .. } => {
                let columns = bits.chunks(usize::from(rows).max(1));
                Value::Operand(Operand::Matrix(columns.map(|c| self.b.constant(bit_size(scalar), c)).collect()))
            }
            TypeData::Vector { scalar, .. } => Value::Operand(Operand::Vector(self.b.constant(bit_size(scalar), bits))),
            _ => {
                let variable = self.context.constant_variable(id);
                Value::Memory(self.deref_temporary(variable, *ty), *ty)
            }
        }
    }

    /// Copies an array or struct to separate memory; other values stay as they are.
    pub(super) fn detached(&mut self, value: Value) -> Value {
        match self.loaded(value) {
            Value::Memory(from, ty) => {
                let deref = self.temporary_of(ty);
                self.b.intrinsic(IntrinsicOp::CopyDeref, &[deref, from], &[], None);
                Value::Memory(deref, ty)
            }
            value => value,
        }
    }
}

/// The operand of an expression that is evaluated first and without condition.
fn first_operand(expr: &Expr) -> Option<ExprId> {
    match expr.kind {
        ExprKind::Swizzle(operand, _)
        | ExprKind::Index(operand, _)
        | ExprKind::Field(operand, _)
        | ExprKind::Unary(_, operand)
        | ExprKind::Binary(_, operand, _)
        | ExprKind::Convert(operand)
        | ExprKind::Length(operand)
        | ExprKind::Select(operand, ..)
        | ExprKind::Comma(operand, _) => Some(operand),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use tgsi_ir::ShaderStage;

    use crate::{GlslOptions, compile};

    /// The code of a chain of selections between calls of `f`.
    fn chain(links: usize, f: &str) -> String {
        let mut text = format!("#version 120\nuniform float a; varying float b;\n{f}\nvoid main() {{\n    float x =");
        for link in 0..links {
            text.push_str(&format!(" a < {link}.0 ? f({link}.0 * b) :"));
        }
        text.push_str(" 1;\n    gl_FragColor = vec4(x);\n}\n");
        let compiled = compile(text.as_bytes(), ShaderStage::Fragment, &GlslOptions::default());
        assert_eq!(compiled.findings.iter().map(|finding| &finding.message).collect::<Vec<_>>(), [""; 0]);
        let Some(module) = compiled.module else { return String::new() };
        assert!(tgsi_ir::validate::find_errors(&module.shader).is_empty());
        tgsi_ir::text::print(&module.shader)
    }

    #[test]
    fn long_chains_of_selections_need_no_stack() {
        let without_effects = chain(10_000, "#define f(a) a");
        assert_eq!(without_effects.matches("bcsel").count(), 10_000);
        // Each operand is under its own branch.
        let f = "float count; float f(float a) { count += 1.0; return a; }";
        let with_effects = chain(3, f);
        assert_eq!(with_effects.matches("if %").count(), 3);
        chain(10_000, f);
    }
}
