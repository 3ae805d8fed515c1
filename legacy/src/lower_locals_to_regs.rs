//! Lowers temporaries that are still variables (arrays with run-time indices) to register arrays.
//!
//! ```text
//! decl_var  vec4[4] arr                           32   %9 = @decl_reg (num_components=4, num_array_elems=4, bit_size=32)
//! 32   %1 = deref_var &arr                 =>     ...
//! 32   %2 = deref_array &(*%1)[%i]                32x4 %3 = @load_reg_indirect (%9, %i) (base=0)
//! 32x4 %3 = @load_deref (%2)
//! ```
//!
//! Creates one register for each *shape* of access: a variable and the struct fields of the path, without array
//! indices; its size is the product of the array lengths. Constant indices become the base, others are summed. An
//! access with a constant index outside the array reads 0 or does nothing; an access with a run-time index behaves the
//! same, as register arrays guarantee it. In an array of arrays each run-time index is compared with its own length
//! first, because an index outside its row could still be inside the register. The derefs become dead. Requires that
//! copies of whole variables and initialisers have been lowered.

use hashbrown::HashMap;

use arrayvec::ArrayVec;
use log::trace;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{DerefKind, InstData};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::{TypeData, TypeTable};
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, Builder, Cursor, Def, Inst, Shader, Shape, Type, Variable};

/// Lowers loads and stores of `function_temp` variables. Booleans get `bool_bit_size` bits. Returns whether anything
/// changed.
pub fn lower_locals_to_regs(shader: &mut Shader, bool_bit_size: u8) -> bool {
    let mut progress = false;
    let Shader { functions, types, variables, .. } = shader;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        let mut lowering = Lowering { body, types, registers: HashMap::new(), bool_bit_size };
        let lowered = lowering.run(&|v: Variable| variables[v].ty);
        let count = lowering.registers.len();
        progress |= lowered;
        if lowered {
            trace!("lower_locals_to_regs: {count} registers");
        }
    }
    progress
}

/// The shape of an access: the variable and the fields from the root to the leaf.
type AccessShape = (Variable, Vec<u32>);

struct Lowering<'a> {
    body: &'a mut Body,
    types: &'a mut TypeTable,
    /// Handle and number of elements (0 for a register that is not an array).
    registers: HashMap<AccessShape, (Def, u32)>,
    bool_bit_size: u8,
}

/// An element of a register.
struct Location {
    handle: Def,
    base: u32,
    indirect: Option<Def>,
}

impl Lowering<'_> {
    fn run(&mut self, variable_type: &dyn Fn(Variable) -> Type) -> bool {
        let mut progress = false;
        for block in self.body.blocks_vec() {
            let mut next = self.body.first_inst(block);
            while let Some(inst) = next {
                next = self.body.next_inst(inst);
                let op = self.body.intrinsic(inst);
                if !matches!(op, Some(IntrinsicOp::LoadDeref | IntrinsicOp::StoreDeref)) {
                    continue;
                }
                let deref = self.body.src(inst, 0);
                if self.body.deref_modes(deref) != VariableModes::FUNCTION_TEMP {
                    continue;
                }
                progress |= match op {
                    Some(IntrinsicOp::LoadDeref) => self.lower_load(inst, deref, variable_type),
                    _ => self.lower_store(inst, deref, variable_type),
                };
            }
        }
        progress
    }

    fn lower_load(&mut self, load: Inst, deref: Def, variable_type: &dyn Fn(Variable) -> Type) -> bool {
        let Some(result) = self.body.inst_def(load) else { return false };
        let value = match self.locate(load, deref, variable_type) {
            Ok(Some(element)) => {
                let mut builder = Builder::new(self.body, Cursor::Before(load));
                match element.indirect {
                    Some(index) => builder.load_reg_indirect(element.handle, index, element.base),
                    None => builder.load_reg(element.handle, element.base),
                }
            }
            Ok(None) => {
                let shape = self.body.shape(result);
                let zeros = [0; 16];
                let mut builder = Builder::new(self.body, Cursor::Before(load));
                builder.constant(shape.bit_size, &zeros[..usize::from(shape.num_components)])
            }
            Err(NoRegister) => return false,
        };
        self.body.replace_all_uses(result, value);
        self.body.remove_inst(load);
        true
    }

    fn lower_store(&mut self, store: Inst, deref: Def, variable_type: &dyn Fn(Variable) -> Type) -> bool {
        match self.locate(store, deref, variable_type) {
            Ok(Some(element)) => {
                let value = self.body.src(store, 1);
                let mask = self.body.write_mask(store);
                let mut builder = Builder::new(self.body, Cursor::Before(store));
                match element.indirect {
                    Some(index) => builder.store_reg_indirect(value, element.handle, index, element.base, mask),
                    None => builder.store_reg(value, element.handle, element.base, mask),
                };
            }
            Ok(None) => {}
            Err(NoRegister) => return false,
        }
        self.body.remove_inst(store);
        true
    }

    /// Returns the register element that a deref refers to; `Ok(None)` for an element outside the array.
    fn locate(
        &mut self,
        access: Inst,
        deref: Def,
        variable_type: &dyn Fn(Variable) -> Type,
    ) -> Result<Option<Location>, NoRegister> {
        let path = self.path(deref)?;
        let InstData::Deref { kind: DerefKind::Var(variable), .. } = *self.body.inst(path[0]) else {
            return Err(NoRegister);
        };
        // From the root to the leaf: the fields of the shape, and the index and length of each array level.
        let mut fields = Vec::new();
        let mut levels: Vec<(Def, u32)> = Vec::new();
        let mut ty = variable_type(variable);
        for &step in &path[1..] {
            let InstData::Deref { kind, ty: inner, .. } = *self.body.inst(step) else { return Err(NoRegister) };
            match kind {
                DerefKind::Struct(field) => fields.push(field),
                DerefKind::Array => {
                    let TypeData::Array { length, .. } = *self.types.get(ty) else { return Err(NoRegister) };
                    levels.push((self.body.src(step, 1), length));
                }
                _ => return Err(NoRegister),
            }
            ty = inner;
        }
        let Some((scalar, components)) = self.types.as_vector(ty) else { return Err(NoRegister) };
        let bit_size = if scalar.bit_size() == 1 { self.bool_bit_size } else { scalar.bit_size() };
        let elements = levels.iter().fold(1u32, |n, &(_, length)| n.saturating_mul(length));
        let key = (variable, fields);
        let (handle, elements) = match self.registers.get(&key) {
            Some(&register) => register,
            None => {
                let array = if elements == 1 { 0 } else { elements };
                let handle = Builder::at_start(self.body).decl_reg(Shape::new(components, bit_size), array);
                self.registers.insert(key, (handle, array));
                (handle, array)
            }
        };
        if elements == 0 {
            // One element. Any index other than 0 is outside, whether constant or not.
            return self.locate_single(access, handle, &levels);
        }
        // From the leaf to the root, as strides grow.
        let mut base = 0u64;
        let mut indirect: Option<Def> = None;
        let mut stride = 1u32;
        for &(index, length) in levels.iter().rev() {
            match self.body.constant_component(index, 0) {
                Some(constant) if constant >= u64::from(length) => return Ok(None),
                Some(constant) => base += constant * u64::from(stride),
                None => {
                    let guarded = levels.len() > 1 || self.body.bit_size(index) != 32;
                    let beyond = guarded.then_some((length, elements));
                    let term = self.scaled_index(access, index, stride, beyond);
                    indirect = Some(match indirect {
                        Some(sum) => Builder::new(self.body, Cursor::Before(access)).alu(AluOp::Iadd, &[sum, term]),
                        None => term,
                    });
                }
            }
            stride = stride.saturating_mul(length);
        }
        Ok(Some(Location { handle, base: base as u32, indirect }))
    }

    /// The contribution of an index to the element number: `index * stride`. When there are other indices, an index
    /// outside its own array could still select another element of the register; with `beyond` (the length of the array
    /// and the number of elements of the register) it is replaced by one outside the register.
    fn scaled_index(&mut self, access: Inst, index: Def, stride: u32, beyond: Option<(u32, u32)>) -> Def {
        let bits = self.body.bit_size(index);
        let mut builder = Builder::new(self.body, Cursor::Before(access));
        let mut term = if bits == 32 { index } else { builder.alu(AluOp::I2i32, &[index]) };
        if stride != 1 {
            let factor = builder.u32_const(stride);
            term = builder.alu(AluOp::Imul, &[term, factor]);
        }
        let Some((length, elements)) = beyond else { return term };
        // A narrow index cannot represent every length: sign-extend it, as derefs do.
        let (index, bits) = if bits < 32 { (builder.alu(AluOp::I2i32, &[index]), 32) } else { (index, bits) };
        let length = builder.constant(bits, &[u64::from(length)]);
        let outside = builder.u32_const(elements);
        let (less, select) = match self.bool_bit_size {
            1 => (AluOp::Ult, AluOp::Bcsel),
            _ => (AluOp::Ult32, AluOp::B32csel),
        };
        let is_inside = builder.alu(less, &[index, length]);
        builder.alu(select, &[is_inside, term, outside])
    }

    /// Locates the only element of an array of length 1: a run-time index selects it through an array register of one
    /// element, so that indices other than 0 are outside.
    fn locate_single(
        &mut self,
        access: Inst,
        handle: Def,
        levels: &[(Def, u32)],
    ) -> Result<Option<Location>, NoRegister> {
        let mut sum: Option<Def> = None;
        for &(index, _) in levels {
            match self.body.constant_component(index, 0) {
                Some(0) => {}
                Some(_) => return Ok(None),
                None => {
                    let mut index = index;
                    if self.body.bit_size(index) != 32 {
                        index = self.scaled_index(access, index, 1, Some((1, 1)));
                    }
                    sum = Some(match sum {
                        // Any index other than 0 puts the whole access outside; OR keeps all bits.
                        Some(other) => Builder::new(self.body, Cursor::Before(access)).alu(AluOp::Ior, &[other, index]),
                        None => index,
                    });
                }
            }
        }
        if sum.is_some() {
            self.body.set_index(self.body.def_inst(handle), IndexKind::NumArrayElems, 1);
        }
        Ok(Some(Location { handle, base: 0, indirect: sum }))
    }

    /// The derefs from the variable to the leaf.
    fn path(&self, deref: Def) -> Result<ArrayVec<Inst, 64>, NoRegister> {
        let mut path: ArrayVec<Inst, 64> = ArrayVec::new();
        let mut current = self.body.def_inst(deref);
        loop {
            path.try_push(current).map_err(|_| NoRegister)?;
            match *self.body.inst(current) {
                InstData::Deref { kind: DerefKind::Var(_), .. } => break,
                InstData::Deref { kind: DerefKind::Array | DerefKind::Struct(_), .. } => {
                    current = self.body.def_inst(self.body.src(current, 0));
                }
                _ => return Err(NoRegister),
            }
        }
        path.reverse();
        Ok(path)
    }
}

/// The access is not to a vector in (arrays of, structs of) a variable and is not lowered.
struct NoRegister;
