//! Generates small random shaders that always terminate: nested ifs and loops with breaks and continues, registers and
//! register arrays, variables of all shapes, booleans encoded as numbers, functions and returns; in fragment shaders
//! also derivatives and discards.

use crate::alu::AluOp;
use crate::body::{AluFlags, Body, DerefKind, InstData, JumpKind, Shape, SourceSpec, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::entities::{Def, Function, Type, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::run::run;
use crate::shader::{FunctionData, Parameter, Shader, ShaderStage};
use crate::types::{Field, ScalarType, TypeData};
use crate::variable::{VariableData, VariableModes};
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};

pub const LANES: usize = 8;
const OUTPUTS: usize = 20;
const VEC4: Shape = Shape::new(4, 32);
const SCALAR: Shape = Shape::new(1, 32);

/// Selects the constructs to generate.
#[derive(Clone, Copy)]
pub struct Options {
    pub statements: usize,
    pub functions: usize,
    pub returns: bool,
    /// Whether to generate a fragment shader.
    pub kills: bool,
}

/// xorshift64*.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// A variable that consists of vectors.
#[derive(Clone, Copy)]
struct Storage {
    variable: Variable,
    mode: VariableModes,
    ty: Type,
}

struct Generator<'a> {
    random: &'a mut Random,
    options: Options,
    /// Values that are available here: the stacks are truncated at the end of a scope.
    vectors: Vec<Def>,
    scalars: Vec<Def>,
    booleans: Vec<Def>,
    registers: Vec<Def>,
    scalar_registers: Vec<Def>,
    arrays: Vec<(Def, u32)>,
    vector_type: Type,
    scalar_type: Type,
    plain: Vec<Storage>,
    array_vars: Vec<Storage>,
    structs: Vec<Storage>,
    grids: Vec<Storage>,
    callees: Vec<Function>,
    budget: usize,
    loop_depth: usize,
    if_depth: usize,
}

/// Generates a shader from a seed.
pub fn random_shader(seed: u64, options: Options) -> Shader {
    let mut random = Random::new(seed);
    let mut shader = Shader::new(if options.kills { ShaderStage::Fragment } else { ShaderStage::Vertex });
    let vector_type = shader.types.vector(ScalarType::Float, 4);
    let scalar_type = shader.types.vector(ScalarType::Float, 1);
    let array_type = shader.types.array(vector_type, 3);
    let field = |name: &str, ty| Field { name: name.to_string(), ty, offset: -1 };
    let struct_type = shader.types.intern(TypeData::Struct {
        name: "s".to_string(),
        fields: vec![field("x", vector_type), field("y", array_type)],
        interface: false,
    });
    let grid_type = shader.types.array(array_type, 2);
    let mut input = VariableData::new("in_0", vector_type, VariableModes::SHADER_IN);
    input.location = if options.kills { 32 } else { 15 };
    let input = shader.add_variable(input);
    let outputs: Vec<Variable> = (0..OUTPUTS as i32)
        .map(|i| {
            let mut output = VariableData::new(format!("out_{i}"), vector_type, VariableModes::SHADER_OUT);
            output.location = if options.kills { 4 + i } else { 32 + i };
            output.driver_location = i as u32;
            shader.add_variable(output)
        })
        .collect();
    let globals = [vector_type, array_type, struct_type, grid_type].map(|ty| Storage {
        variable: shader.add_variable(VariableData::new("g", ty, VariableModes::SHADER_TEMP)),
        mode: VariableModes::SHADER_TEMP,
        ty,
    });
    let main = shader.entry_point().unwrap();
    let mut functions = vec![];
    for i in 0..options.functions {
        let id = shader.functions.push(FunctionData {
            name: format!("f{i}"),
            parameters: [4, 1]
                .map(|num_components| Parameter { num_components, bit_size: 32, name: String::new(), is_return: false })
                .to_vec(),
            is_entry_point: false,
            is_exported: false,
            attributes: Vec::new(),
            body: Some(Body::new()),
        });
        functions.push(id);
    }
    // Callees first: a function calls those before it.
    for place in 0..=functions.len() {
        let id = functions.get(place).copied().unwrap_or(main);
        let locals = [vector_type, array_type, struct_type, grid_type].map(|ty| Storage {
            variable: shader.add_local(id, "l", ty),
            mode: VariableModes::FUNCTION_TEMP,
            ty,
        });
        let body = shader.functions[id].body.as_mut().unwrap();
        let mut b = Builder::at_end(body);
        let mut generator = Generator {
            random: &mut random,
            options,
            vectors: vec![],
            scalars: vec![],
            booleans: vec![],
            registers: vec![b.decl_reg(VEC4, 0), b.decl_reg(VEC4, 0), b.decl_reg(VEC4, 0)],
            scalar_registers: vec![b.decl_reg(SCALAR, 0)],
            arrays: vec![(b.decl_reg(VEC4, 3), 3)],
            vector_type,
            scalar_type,
            plain: vec![globals[0], locals[0]],
            array_vars: vec![globals[1], locals[1]],
            structs: vec![globals[2], locals[2]],
            grids: vec![globals[3], locals[3]],
            callees: functions[..place].to_vec(),
            budget: if id == main { options.statements } else { options.statements / 2 },
            loop_depth: 0,
            if_depth: 0,
        };
        if id == main {
            let deref = b.deref_var(input, VariableModes::SHADER_IN, vector_type);
            generator.vectors.push(b.load_deref(deref, VEC4));
        } else {
            for (index, shape) in [VEC4, SCALAR].into_iter().enumerate() {
                let index = [(IndexKind::ParamIdx, index as i32)];
                let value = b.intrinsic_def(IntrinsicOp::LoadParam, &[], &index, shape);
                if shape == VEC4 { generator.vectors.push(value) } else { generator.scalars.push(value) }
            }
        }
        let first = generator.vectors[0];
        let lane = b.channel(first, 0);
        generator.scalars.push(lane);
        let three = b.u32_const(3);
        let some = b.alu(AluOp::Ult, &[lane, three]);
        generator.booleans.push(some);
        generator.block(&mut b);
        if id == main {
            // Every effect is observable in the outputs.
            let values = generator.everything(&mut b);
            assert!(values.len() <= OUTPUTS);
            for (value, &output) in values.into_iter().zip(&outputs) {
                let deref = b.deref_var(output, VariableModes::SHADER_OUT, vector_type);
                b.store_deref(deref, value, 15);
            }
        }
    }
    shader
}

impl Generator<'_> {
    /// Generates statements until the budget of the scope is used up; ends without a jump.
    fn block(&mut self, b: &mut Builder<'_>) {
        let marks = (self.vectors.len(), self.scalars.len(), self.booleans.len());
        let mut count = 3 + self.random.below(8);
        while count > 0 && self.budget > 0 {
            count -= 1;
            self.budget -= 1;
            self.statement(b);
        }
        // The outermost scope keeps its values for the outputs.
        if self.loop_depth > 0 || marks.0 > 1 {
            self.vectors.truncate(marks.0);
            self.scalars.truncate(marks.1);
            self.booleans.truncate(marks.2);
        }
    }

    /// Returns all values to observe at the end.
    fn everything(&mut self, b: &mut Builder<'_>) -> Vec<Def> {
        let mut values = vec![self.vector(b)];
        for register in self.registers.clone() {
            values.push(b.load_reg(register, 0));
        }
        for (array, length) in self.arrays.clone() {
            values.extend((0..length).map(|i| b.load_reg(array, i)));
        }
        let mut places = Vec::new();
        for s in self.plain.clone() {
            places.push(b.deref_var(s.variable, s.mode, s.ty));
        }
        let arrays: Vec<Def> = self.array_vars.iter().map(|s| b.deref_var(s.variable, s.mode, s.ty)).collect();
        let structs: Vec<Def> = self.structs.iter().map(|s| b.deref_var(s.variable, s.mode, s.ty)).collect();
        let array_type = self.array_vars[0].ty;
        let inner = structs.iter().map(|&s| struct_field(b, s, 1, array_type)).collect::<Vec<_>>();
        for array in arrays.into_iter().chain(inner) {
            let index = b.u32_const(1);
            places.push(b.deref_array(array, index, self.vector_type));
            let index = b.u32_const(2);
            places.push(b.deref_array(array, index, self.vector_type));
        }
        places.push(struct_field(b, structs[0], 0, self.vector_type));
        for (number, s) in self.grids.clone().into_iter().enumerate() {
            let root = b.deref_var(s.variable, s.mode, s.ty);
            let index = b.u32_const(number as u32);
            let row = b.deref_array(root, index, array_type);
            let index = b.u32_const(2 - number as u32);
            places.push(b.deref_array(row, index, self.vector_type));
        }
        values.extend(places.into_iter().map(|place| b.load_deref(place, VEC4)));
        values
    }

    fn vector(&mut self, b: &mut Builder<'_>) -> Def {
        if self.random.one_in(6) {
            let values: Vec<u64> = (0..4).map(|_| self.random.below(5) as u64).collect();
            return b.constant(32, &values);
        }
        self.random.pick(&self.vectors)
    }

    fn scalar(&mut self, b: &mut Builder<'_>) -> Def {
        if self.random.one_in(4) {
            let value = self.random.below(5) as u32;
            return b.u32_const(value);
        }
        self.random.pick(&self.scalars)
    }

    fn boolean(&mut self, b: &mut Builder<'_>) -> Def {
        if self.random.one_in(8) {
            let value = self.random.one_in(2);
            return b.bool_const(value);
        }
        self.random.pick(&self.booleans)
    }

    fn swizzled(&mut self, def: Def) -> AluSrc {
        let selectors: Vec<u8> = (0..4).map(|_| self.random.below(4) as u8).collect();
        AluSrc::new(def, if self.random.one_in(2) { Swizzle::IDENTITY } else { Swizzle::new(&selectors) })
    }

    /// Returns a deref of a random vector.
    fn place(&mut self, b: &mut Builder<'_>) -> Def {
        match self.random.below(4) {
            3 => {
                let s = self.random.pick(&self.grids);
                let root = b.deref_var(s.variable, s.mode, s.ty);
                // One variable is indexed in one dimension only, and one in both.
                let index = if s.mode == VariableModes::SHADER_TEMP && self.random.one_in(6) {
                    self.scalar(b)
                } else {
                    let value = self.random.below(3) as u32;
                    b.u32_const(value)
                };
                let row = b.deref_array(root, index, self.array_vars[0].ty);
                if self.random.one_in(3) {
                    let index = self.scalar(b);
                    return b.deref_array(row, index, self.vector_type);
                }
                self.element(b, row)
            }
            0 => {
                let s = self.random.pick(&self.plain);
                b.deref_var(s.variable, s.mode, s.ty)
            }
            1 => {
                let s = self.random.pick(&self.array_vars);
                let root = b.deref_var(s.variable, s.mode, s.ty);
                self.element(b, root)
            }
            _ => {
                let s = self.random.pick(&self.structs);
                let field = self.random.below(2) as u32;
                let ty = if field == 0 { self.vector_type } else { self.array_vars[0].ty };
                let root = b.deref_var(s.variable, s.mode, s.ty);
                let part = struct_field(b, root, field, ty);
                if field == 0 { part } else { self.element(b, part) }
            }
        }
    }

    fn element(&mut self, b: &mut Builder<'_>, array: Def) -> Def {
        // Mostly constants: a single run-time index keeps the whole variable. Some are out of range.
        let index = if self.random.one_in(12) {
            self.scalar(b)
        } else {
            let value = self.random.below(4) as u32;
            b.u32_const(value)
        };
        b.deref_array(array, index, self.vector_type)
    }

    fn statement(&mut self, b: &mut Builder<'_>) {
        if self.options.kills && self.random.one_in(5) {
            return self.fragment_statement(b);
        }
        match self.random.below(24) {
            0..=3 => self.arithmetic(b),
            4 => {
                let def = self.vector(b);
                let source = self.swizzled(def);
                let value = b.alu_sized(AluOp::Mov, 4, &[source]);
                self.vectors.push(value);
            }
            5 => {
                let sources: Vec<AluSrc> = (0..4)
                    .map(|_| AluSrc::component(self.random.pick(&self.vectors), self.random.below(4) as u8))
                    .collect();
                let value = b.vec(&sources);
                self.vectors.push(value);
            }
            6 => {
                let (vector, component) = (self.vector(b), self.random.below(4) as u8);
                let value = b.channel(vector, component);
                self.scalars.push(value);
            }
            7..=8 => self.comparison(b),
            9..=10 => {
                let (value, register) = (self.vector(b), self.random.pick(&self.registers));
                let mask = self.random.below(16) as u32;
                b.store_reg(value, register, 0, mask);
            }
            11 => {
                let register = self.random.pick(&self.registers);
                let value = b.load_reg(register, 0);
                self.vectors.push(value);
            }
            12 => {
                let (value, register) = (self.scalar(b), self.random.pick(&self.scalar_registers));
                b.store_reg(value, register, 0, 1);
                let value = b.load_reg(register, 0);
                self.scalars.push(value);
            }
            13 => {
                let ((array, _), index, value) = (self.random.pick(&self.arrays), self.scalar(b), self.vector(b));
                b.store_reg_indirect(value, array, index, 0, 1 + self.random.below(15) as u32);
            }
            14 => {
                let ((array, length), index) = (self.random.pick(&self.arrays), self.scalar(b));
                let value = if self.random.one_in(2) {
                    b.load_reg_indirect(array, index, 0)
                } else {
                    b.load_reg(array, self.random.below(length as usize) as u32)
                };
                self.vectors.push(value);
            }
            15 => {
                let place = self.place(b);
                let value = self.vector(b);
                b.store_deref(place, value, self.random.below(16) as u32);
            }
            16 => {
                let place = self.place(b);
                let value = b.load_deref(place, VEC4);
                self.vectors.push(value);
            }
            17 => self.component_access(b),
            18 => {
                let [to, from] = [self.random.below(2), self.random.below(2)].map(|number| {
                    let Storage { variable, mode, ty } = self.array_vars[number];
                    let array = b.deref_var(variable, mode, ty);
                    deref_part(b, array, DerefKind::ArrayWildcard, self.vector_type)
                });
                b.intrinsic(IntrinsicOp::CopyDeref, &[to, from], &[], None);
            }
            19..=20 => self.if_statement(b),
            21 => self.loop_statement(b),
            22 => self.call(b),
            _ => {
                // A mask, and a test of it.
                let boolean = self.boolean(b);
                let number = b.alu(AluOp::B2i32, &[boolean]);
                let mut mask = b.alu(AluOp::Ineg, &[number]);
                if self.random.one_in(3) {
                    mask = b.alu(AluOp::Inot, &[mask]);
                }
                let zero = b.u32_const(0);
                let test = b.alu(if self.random.one_in(2) { AluOp::Ine } else { AluOp::Ieq }, &[mask, zero]);
                self.scalars.push(mask);
                self.booleans.push(test);
            }
        }
    }

    /// Emits a derivative where all invocations are active, or a discard of some invocations.
    fn fragment_statement(&mut self, b: &mut Builder<'_>) {
        if self.loop_depth == 0 && self.if_depth == 0 && self.random.one_in(2) {
            let value = self.vector(b);
            let op = self.random.pick(&[IntrinsicOp::Ddx, IntrinsicOp::Ddy]);
            let value = b.intrinsic_def(op, &[value], &[], VEC4);
            self.vectors.push(value);
        } else if self.random.one_in(2) {
            let condition = self.boolean(b);
            let op = self.random.pick(&[IntrinsicOp::TerminateIf, IntrinsicOp::DemoteIf]);
            b.intrinsic(op, &[condition], &[], None);
        } else if self.if_depth > 0 {
            let op = self.random.pick(&[IntrinsicOp::Terminate, IntrinsicOp::Demote]);
            b.intrinsic(op, &[], &[], None);
        } else {
            self.killing_if(b);
        }
    }

    /// Emits an `if` that contains only a discard, and a phi after it.
    fn killing_if(&mut self, b: &mut Builder<'_>) {
        let (condition, values) = (self.boolean(b), [self.vector(b), self.vector(b)]);
        let id = b.push_if(condition);
        let op = self.random.pick(&[IntrinsicOp::Terminate, IntrinsicOp::Demote]);
        b.intrinsic(op, &[], &[], None);
        let then_end = b.block();
        b.push_else(id);
        let else_end = b.block();
        b.end_if(id);
        if self.random.one_in(2) {
            let value = b.phi(VEC4, &[(then_end, values[0]), (else_end, values[1])]);
            self.vectors.push(value);
        }
    }

    fn arithmetic(&mut self, b: &mut Builder<'_>) {
        use AluOp as O;
        let binary = [O::Iadd, O::Imul, O::Iand, O::Ior, O::Ixor, O::Fadd, O::Fmul, O::Imax, O::Ushr, O::Ishl];
        let unary = [O::Ineg, O::Inot, O::Fneg, O::Fabs, O::Fsat, O::Iabs];
        b.flags = if self.random.one_in(3) { AluFlags::EXACT } else { AluFlags::NONE };
        if self.random.one_in(3) {
            let op = self.random.pick(&unary);
            let source = self.vector(b);
            let value = b.alu(op, &[source]);
            self.vectors.push(value);
        } else if self.random.one_in(4) {
            let (condition, x, y) = (self.boolean(b), self.vector(b), self.vector(b));
            let condition = AluSrc::component(condition, 0);
            let sources = [condition, self.swizzled(x), self.swizzled(y)];
            let value = b.alu_sized(O::Bcsel, 4, &sources);
            self.vectors.push(value);
        } else if self.random.one_in(2) {
            let op = self.random.pick(&binary);
            let (x, y) = (self.scalar(b), self.scalar(b));
            let value = b.alu(op, &[x, y]);
            self.scalars.push(value);
        } else {
            let op = self.random.pick(&binary);
            let (x, y) = (self.vector(b), self.vector(b));
            let sources = [self.swizzled(x), self.swizzled(y)];
            let value = b.alu_sized(op, 4, &sources);
            self.vectors.push(value);
        }
        b.flags = AluFlags::NONE;
    }

    fn comparison(&mut self, b: &mut Builder<'_>) {
        use AluOp as O;
        let value = match self.random.below(4) {
            0 => {
                let (x, y) = (self.boolean(b), self.boolean(b));
                let op = self.random.pick(&[O::Iand, O::Ior, O::Ixor, O::Ine, O::Ieq]);
                b.alu(op, &[x, y])
            }
            1 => {
                let x = self.boolean(b);
                b.alu(O::Inot, &[x])
            }
            _ => {
                let (x, y) = (self.scalar(b), self.scalar(b));
                let op = self.random.pick(&[O::Ilt, O::Uge, O::Ieq, O::Flt, O::Feq, O::Fneu, O::Ine]);
                b.alu(op, &[x, y])
            }
        };
        self.booleans.push(value);
    }

    fn component_access(&mut self, b: &mut Builder<'_>) {
        let vector = self.place(b);
        let index = if self.random.one_in(2) {
            let index = self.random.below(5) as u32;
            b.u32_const(index)
        } else {
            self.scalar(b)
        };
        let component = b.deref_array(vector, index, self.scalar_type);
        if self.random.one_in(2) {
            let value = self.scalar(b);
            b.store_deref(component, value, 1);
        } else {
            let value = b.load_deref(component, SCALAR);
            self.scalars.push(value);
        }
    }

    fn if_statement(&mut self, b: &mut Builder<'_>) {
        let condition = self.boolean(b);
        let id = b.push_if(condition);
        self.if_depth += 1;
        let (then_value, then_jumps) = self.side(b);
        let then_end = b.block();
        b.push_else(id);
        let (else_value, else_jumps) = self.side(b);
        let else_end = b.block();
        b.end_if(id);
        self.if_depth -= 1;
        if then_jumps && else_jumps {
            return;
        }
        let sources: Vec<_> = [(then_end, then_value, then_jumps), (else_end, else_value, else_jumps)]
            .into_iter()
            .filter(|&(_, _, jumps)| !jumps)
            .map(|(block, value, _)| (block, value))
            .collect();
        if self.random.one_in(2) {
            let value = b.phi(VEC4, &sources);
            self.vectors.push(value);
        }
    }

    /// Generates a side of an `if`: returns a value of it and whether it ends in a jump.
    fn side(&mut self, b: &mut Builder<'_>) -> (Def, bool) {
        let marks = (self.vectors.len(), self.scalars.len(), self.booleans.len());
        for _ in 0..self.random.below(5) {
            if self.budget > 0 {
                self.budget -= 1;
                self.statement(b);
            }
        }
        let value = self.vector(b);
        self.vectors.truncate(marks.0);
        self.scalars.truncate(marks.1);
        self.booleans.truncate(marks.2);
        let jump = match self.random.below(6) {
            0 if self.loop_depth > 0 => JumpKind::Break,
            1 if self.loop_depth > 0 => JumpKind::Continue,
            2 if self.options.returns => JumpKind::Return,
            _ => return (value, false),
        };
        b.jump(jump);
        (value, true)
    }

    fn loop_statement(&mut self, b: &mut Builder<'_>) {
        if self.loop_depth == 2 {
            return;
        }
        self.loop_depth += 1;
        let counter = b.decl_reg(SCALAR, 0);
        let zero = b.u32_const(0);
        b.store_reg(zero, counter, 0, 1);
        let marks = (self.vectors.len(), self.scalars.len(), self.booleans.len());
        let id = b.push_loop();
        let count = b.load_reg(counter, 0);
        let limit = b.u32_const(1 + self.random.below(3) as u32);
        let done = b.alu(AluOp::Uge, &[count, limit]);
        let exit = b.push_if(done);
        b.jump(JumpKind::Break);
        b.end_if(exit);
        let one = b.u32_const(1);
        let next = b.alu(AluOp::Iadd, &[count, one]);
        b.store_reg(next, counter, 0, 1);
        self.scalars.push(count);
        for _ in 0..1 + self.random.below(6) {
            if self.budget > 0 {
                self.budget -= 1;
                self.statement(b);
            }
        }
        b.end_loop(id);
        self.vectors.truncate(marks.0);
        self.scalars.truncate(marks.1);
        self.booleans.truncate(marks.2);
        self.loop_depth -= 1;
    }

    fn call(&mut self, b: &mut Builder<'_>) {
        if self.callees.is_empty() {
            return;
        }
        let callee = self.random.pick(&self.callees);
        let sources = [self.vector(b), self.scalar(b)].map(SourceSpec::plain);
        b.build(InstData::Call { callee, indirect: false }, &sources, None);
    }
}

fn struct_field(b: &mut Builder<'_>, parent: Def, field: u32, ty: Type) -> Def {
    deref_part(b, parent, DerefKind::Struct(field), ty)
}

fn deref_part(b: &mut Builder<'_>, parent: Def, kind: DerefKind, ty: Type) -> Def {
    let modes = b.body.deref_modes(parent);
    let inst = b.build(InstData::Deref { kind, modes, ty }, &[SourceSpec::plain(parent)], Some(SCALAR));
    b.body.inst_def(inst).unwrap()
}

/// Runs a shader on divergent lanes: returns its outputs, and which lanes were not discarded.
pub fn outcome(shader: &Shader) -> (LaneRegisters, Vec<bool>) {
    let mut inputs = Inputs { lanes: LANES, inputs: LaneRegisters::new(LANES, 1), ..Inputs::default() };
    for lane in 0..LANES {
        let values = [lane as u32, 1 + lane as u32 % 3, (lane as f32 - 2.5).to_bits(), u32::from(lane % 2 == 0)];
        for (component, value) in values.into_iter().enumerate() {
            inputs.inputs.set(0, component, lane, value);
        }
    }
    let limits = RunLimits::of_steps(1_000_000);
    let mut outputs = run(shader, &inputs, &mut AnalyticResources::default(), limits).expect("a random shader runs");
    // All NaNs are equivalent.
    for register in 0..OUTPUTS {
        for component in 0..4 {
            for word in outputs.outputs.component_mut(register, component) {
                if f32::from_bits(*word).is_nan() && *word != u32::MAX {
                    *word = 0x7fc0_0000;
                }
            }
        }
    }
    (outputs.outputs, outputs.live)
}
