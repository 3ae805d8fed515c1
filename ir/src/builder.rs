//! Builds code: a body and a cursor in it, with a method for each kind of instruction.
//!
//! Instructions are inserted at the cursor, which then moves after them. The ALU methods check nothing; the validator
//! does. [`Builder::mov`] and the helpers based on it do not emit movs that change nothing.

#[cfg(test)]
mod tests;

use crate::alu::AluOp;
use crate::body::{
    AluFlags, Body, DerefKind, InstData, JumpKind, MAX_INDICES, Shape, SourceSpec, Swizzle, TexData, TexSrcKind,
};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If, Inst, Loop, Type, Use, Variable};
use crate::intrinsics::{DestBits, DestComponents, IndexKind, IntrinsicOp};
use crate::shader::Shader;
use crate::types::{ScalarType, TypeData};
use crate::variable::VariableModes;

/// A value with a swizzle: an operand of an ALU instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AluSrc {
    /// The value.
    pub def: Def,
    /// Components selected.
    pub swizzle: Swizzle,
}

impl From<Def> for AluSrc {
    fn from(def: Def) -> AluSrc {
        AluSrc { def, swizzle: Swizzle::IDENTITY }
    }
}

impl AluSrc {
    /// A value with a swizzle.
    pub const fn new(def: Def, swizzle: Swizzle) -> AluSrc {
        AluSrc { def, swizzle }
    }

    /// One component of a value.
    pub const fn component(def: Def, component: u8) -> AluSrc {
        AluSrc { def, swizzle: Swizzle::replicate(component) }
    }

    /// The source of an ALU instruction: a value and a swizzle.
    #[inline]
    pub fn of(body: &Body, source: Use) -> AluSrc {
        AluSrc { def: body.src_def(source), swizzle: body.swizzle(source) }
    }

    /// Whether the first `count` components of both are the same: components of one value, or constants with equal
    /// bits.
    #[inline]
    pub fn equals(self, body: &Body, other: AluSrc, count: usize) -> bool {
        if self.def == other.def && self.swizzle.first(count) == other.swizzle.first(count) {
            return true;
        }
        let (Some(a), Some(b)) = (body.def_constant(self.def), body.def_constant(other.def)) else { return false };
        body.bit_size(self.def) == body.bit_size(other.def)
            && self
                .swizzle
                .iter(count)
                .zip(other.swizzle.iter(count))
                .all(|(c, d)| a.get(usize::from(c)) == b.get(usize::from(d)))
    }
}

/// A body and a cursor at which instructions are inserted.
pub struct Builder<'a> {
    /// The body.
    pub body: &'a mut Body,
    /// The cursor.
    pub cursor: Cursor,
    /// Flags for new ALU instructions (`exact` for precise code).
    pub flags: AluFlags,
}

impl<'a> Builder<'a> {
    /// A builder at a cursor.
    pub fn new(body: &'a mut Body, cursor: Cursor) -> Builder<'a> {
        Builder { body, cursor, flags: AluFlags::NONE }
    }

    /// A builder at the end of a body. The last block must not end in a jump.
    pub fn at_end(body: &'a mut Body) -> Builder<'a> {
        let last = body.body_list().last;
        Builder::new(body, Cursor::BlockEnd(last))
    }

    /// A builder at the start of a body.
    pub fn at_start(body: &'a mut Body) -> Builder<'a> {
        let first = body.start_block();
        Builder::new(body, Cursor::BlockStart(first))
    }

    /// The block that contains the cursor.
    pub fn block(&self) -> Block {
        self.cursor.block(self.body)
    }

    /// Places an instruction at the cursor.
    #[inline]
    pub fn insert(&mut self, inst: Inst) -> Inst {
        self.body.insert_inst(self.cursor, inst);
        // A cursor before an instruction or at the end of a block stays valid; the others would reverse the order.
        match self.cursor {
            Cursor::BlockStart(_) | Cursor::After(_) => self.cursor = Cursor::After(inst),
            Cursor::BlockEnd(_) | Cursor::Before(_) => {}
        }
        inst
    }

    /// Creates an instruction at the cursor.
    #[inline]
    pub fn build(&mut self, data: InstData, sources: &[SourceSpec], shape: Option<Shape>) -> Inst {
        let inst = self.body.create_inst(data, sources, shape);
        self.insert(inst)
    }

    #[inline]
    fn build_def(&mut self, data: InstData, sources: &[SourceSpec], shape: Shape) -> Def {
        let inst = self.build(data, sources, Some(shape));
        self.body.inst_def(inst).expect("an instruction created with a shape has a value")
    }

    /// A constant from the bits of its components.
    pub fn constant(&mut self, bit_size: u8, values: &[u64]) -> Def {
        let mask = if bit_size >= 64 { u64::MAX } else { (1 << bit_size) - 1 };
        let masked: arrayvec::ArrayVec<u64, 16> = values.iter().take(16).map(|v| v & mask).collect();
        let start = self.body.push_constants(&masked);
        self.build_def(InstData::LoadConst { start }, &[], Shape::new(masked.len() as u8, bit_size))
    }

    /// A 32-bit integer.
    pub fn u32_const(&mut self, value: u32) -> Def {
        self.constant(32, &[u64::from(value)])
    }

    /// A 32-bit integer.
    pub fn i32_const(&mut self, value: i32) -> Def {
        self.u32_const(value as u32)
    }

    /// A 32-bit float.
    pub fn f32_const(&mut self, value: f32) -> Def {
        self.u32_const(value.to_bits())
    }

    /// A boolean.
    pub fn bool_const(&mut self, value: bool) -> Def {
        self.constant(1, &[u64::from(value)])
    }

    /// An undefined value.
    pub fn undef(&mut self, num_components: u8, bit_size: u8) -> Def {
        self.build_def(InstData::Undef, &[], Shape::new(num_components, bit_size))
    }

    /// An ALU instruction with `num_components` result components (ignored if the table gives the result a fixed size).
    /// The result's bit size comes from the table, or from the first unsized source.
    pub fn alu_sized(&mut self, op: AluOp, num_components: u8, sources: &[AluSrc]) -> Def {
        let info = op.info();
        let unsized_bits = info
            .input_types
            .iter()
            .zip(sources)
            .find(|(ty, _)| ty.is_unsized())
            .map_or(32, |(_, s)| self.body.bit_size(s.def));
        let bit_size = if info.output_type.is_unsized() { unsized_bits } else { info.output_type.bit_size };
        let num_components = if info.output_size == 0 { num_components } else { info.output_size };
        let sources: arrayvec::ArrayVec<SourceSpec, 16> =
            sources.iter().take(16).map(|s| SourceSpec::alu(s.def, s.swizzle)).collect();
        let flags = self.flags;
        self.build_def(InstData::Alu { op, flags }, &sources, Shape::new(num_components, bit_size))
    }

    /// An ALU instruction on whole values, with as many components as the first source of open size.
    pub fn alu(&mut self, op: AluOp, sources: &[Def]) -> Def {
        let info = op.info();
        let num_components = info
            .input_sizes
            .iter()
            .zip(sources)
            .find(|(size, _)| **size == 0)
            .map_or(1, |(_, &def)| self.body.num_components(def));
        let sources: arrayvec::ArrayVec<AluSrc, 16> = sources.iter().take(16).map(|&d| d.into()).collect();
        self.alu_sized(op, num_components, &sources)
    }

    /// Selects components; emits nothing if that would change nothing.
    pub fn mov(&mut self, source: AluSrc, num_components: u8) -> Def {
        if self.body.num_components(source.def) == num_components
            && source.swizzle.is_identity(usize::from(num_components))
        {
            return source.def;
        }
        let flags = std::mem::take(&mut self.flags);
        let def = self.alu_sized(AluOp::Mov, num_components, &[source]);
        self.flags = flags;
        def
    }

    /// One component of a value.
    pub fn channel(&mut self, def: Def, component: u8) -> Def {
        self.mov(AluSrc::component(def, component), 1)
    }

    /// A mov, even if it is an identity.
    pub fn copy(&mut self, def: Def) -> Def {
        let num_components = self.body.num_components(def);
        self.alu_sized(AluOp::Mov, num_components, &[def.into()])
    }

    /// A vector of scalars (or of single components). Their number must be a valid vector size; a single one becomes a
    /// mov.
    pub fn vec(&mut self, sources: &[AluSrc]) -> Def {
        if sources.len() == 1 {
            return self.mov(AluSrc { swizzle: Swizzle::replicate(sources[0].swizzle.get(0)), ..sources[0] }, 1);
        }
        let op = AluOp::vec(sources.len() as u8).expect("a vector has 2, 3, 4, 5, 8 or 16 components");
        let bit_size = self.body.bit_size(sources[0].def);
        let specs: arrayvec::ArrayVec<SourceSpec, 16> =
            sources.iter().map(|s| SourceSpec::alu(s.def, s.swizzle)).collect();
        let shape = Shape::new(sources.len() as u8, bit_size);
        self.build_def(InstData::Alu { op, flags: AluFlags::NONE }, &specs, shape)
    }

    /// A vector of scalars.
    pub fn vec_of(&mut self, scalars: &[Def]) -> Def {
        let sources: arrayvec::ArrayVec<AluSrc, 16> =
            scalars.iter().take(16).map(|&d| AluSrc::component(d, 0)).collect();
        self.vec(&sources)
    }

    /// An intrinsic. `shape` is the shape of the result where the table leaves it open (it is ignored for intrinsics
    /// without result). A vectorised intrinsic without result has as many components as its first source of open size.
    pub fn intrinsic(
        &mut self,
        op: IntrinsicOp,
        sources: &[Def],
        indices: &[(IndexKind, i32)],
        shape: Option<Shape>,
    ) -> Inst {
        let info = op.info();
        let num_components = if !info.is_vectorized() {
            0
        } else if info.dest_components == DestComponents::NumComponents {
            shape.map_or(1, |s| s.num_components)
        } else {
            info.src_components
                .iter()
                .zip(sources)
                .find(|(c, _)| matches!(c, crate::intrinsics::SrcComponents::NumComponents))
                .map_or(1, |(_, &def)| self.body.num_components(def))
        };
        let dest = match info.dest_components {
            DestComponents::None => None,
            DestComponents::Fixed(n) => Some(n),
            DestComponents::NumComponents => Some(num_components),
        }
        .map(|components| {
            let bits = match info.dest_bits {
                DestBits::Sizes(&[only]) => only,
                DestBits::SameAsSource(n) => sources.get(usize::from(n)).map_or(32, |&s| self.body.bit_size(s)),
                _ => shape.map_or(32, |s| s.bit_size),
            };
            Shape::new(components, bits)
        });
        let sources: arrayvec::ArrayVec<SourceSpec, 16> =
            sources.iter().take(16).map(|&s| SourceSpec::plain(s)).collect();
        let indices = self.body.push_indices(Body::indices(op, indices));
        self.build(InstData::Intrinsic { op, num_components, indices }, &sources, dest)
    }

    /// An intrinsic with a result.
    pub fn intrinsic_def(
        &mut self,
        op: IntrinsicOp,
        sources: &[Def],
        indices: &[(IndexKind, i32)],
        shape: Shape,
    ) -> Def {
        let inst = self.intrinsic(op, sources, indices, Some(shape));
        self.body.inst_def(inst).expect("an intrinsic with a result in the table")
    }

    /// Declares a register at the top of the body and returns its handle. If `num_array_elems` is 0, it is not an
    /// array.
    pub fn decl_reg(&mut self, shape: Shape, num_array_elems: u32) -> Def {
        let op = IntrinsicOp::DeclReg;
        let indices = self.body.push_indices(Body::indices(
            op,
            &[
                (IndexKind::NumComponents, i32::from(shape.num_components)),
                (IndexKind::NumArrayElems, num_array_elems as i32),
                (IndexKind::BitSize, i32::from(shape.bit_size)),
                (IndexKind::Divergent, 1),
            ],
        ));
        let data = InstData::Intrinsic { op, num_components: 0, indices };
        let inst = self.body.create_inst(data, &[], Some(Shape::new(1, 32)));
        let start = self.body.start_block();
        self.body.insert_inst(Cursor::BlockStart(start), inst);
        if self.cursor == Cursor::BlockStart(start) {
            self.cursor = Cursor::After(inst);
        }
        self.body.inst_def(inst).expect("decl_reg has a value")
    }

    // These two make up most code that comes from registers; a test compares the slots with the table.
    const LOAD_REG_BASE: usize = 0;
    const STORE_REG_BASE: usize = 0;
    const STORE_REG_WRITE_MASK: usize = 1;

    /// Reads a register.
    pub fn load_reg(&mut self, handle: Def, base: u32) -> Def {
        let shape = self.body.register_shape(handle);
        let mut indices = [0; MAX_INDICES];
        indices[Self::LOAD_REG_BASE] = base as i32;
        let indices = self.body.push_indices(indices);
        let data = InstData::Intrinsic { op: IntrinsicOp::LoadReg, num_components: shape.num_components, indices };
        self.build_def(data, &[SourceSpec::plain(handle)], shape)
    }

    /// Reads element `base + index` of a register array.
    pub fn load_reg_indirect(&mut self, handle: Def, index: Def, base: u32) -> Def {
        let shape = self.body.register_shape(handle);
        self.intrinsic_def(IntrinsicOp::LoadRegIndirect, &[handle, index], &[(IndexKind::Base, base as i32)], shape)
    }

    /// Writes the components in `write_mask` of a register.
    pub fn store_reg(&mut self, value: Def, handle: Def, base: u32, write_mask: u32) -> Inst {
        let mut indices = [0; MAX_INDICES];
        indices[Self::STORE_REG_BASE] = base as i32;
        indices[Self::STORE_REG_WRITE_MASK] = write_mask as i32;
        let indices = self.body.push_indices(indices);
        let num_components = self.body.num_components(value);
        let data = InstData::Intrinsic { op: IntrinsicOp::StoreReg, num_components, indices };
        self.build(data, &[SourceSpec::plain(value), SourceSpec::plain(handle)], None)
    }

    /// Writes the components in `write_mask` of element `base + index` of a register array.
    pub fn store_reg_indirect(&mut self, value: Def, handle: Def, index: Def, base: u32, write_mask: u32) -> Inst {
        let indices = [(IndexKind::Base, base as i32), (IndexKind::WriteMask, write_mask as i32)];
        self.intrinsic(IntrinsicOp::StoreRegIndirect, &[value, handle, index], &indices, None)
    }

    /// A deref of a variable of this mode and type.
    pub fn deref_var(&mut self, variable: Variable, modes: VariableModes, ty: Type) -> Def {
        self.build_def(InstData::Deref { kind: DerefKind::Var(variable), modes, ty }, &[], Shape::new(1, 32))
    }

    /// A deref of an element of type `ty` of the array that `parent` points to.
    pub fn deref_array(&mut self, parent: Def, index: Def, ty: Type) -> Def {
        let modes = self.body.deref_modes(parent);
        let sources = [SourceSpec::plain(parent), SourceSpec::plain(index)];
        self.build_def(InstData::Deref { kind: DerefKind::Array, modes, ty }, &sources, Shape::new(1, 32))
    }

    /// A deref of field `number`, of type `ty`, of the struct that `parent` points to.
    pub fn deref_struct(&mut self, parent: Def, number: u32, ty: Type) -> Def {
        let modes = self.body.deref_modes(parent);
        let data = InstData::Deref { kind: DerefKind::Struct(number), modes, ty };
        self.build_def(data, &[SourceSpec::plain(parent)], Shape::new(1, 32))
    }

    /// Loads the vector that a deref points to.
    pub fn load_deref(&mut self, deref: Def, shape: Shape) -> Def {
        self.intrinsic_def(IntrinsicOp::LoadDeref, &[deref], &[], shape)
    }

    /// Stores to the vector that a deref points to.
    pub fn store_deref(&mut self, deref: Def, value: Def, write_mask: u32) -> Inst {
        self.intrinsic(IntrinsicOp::StoreDeref, &[deref, value], &[(IndexKind::WriteMask, write_mask as i32)], None)
    }

    /// A texture instruction; the shape of the result follows from the payload.
    pub fn texture(&mut self, data: TexData, sources: &[(TexSrcKind, Def)]) -> Def {
        let bits = if data.dest_type.bit_size == 0 { 32 } else { data.dest_type.bit_size };
        let shape = Shape::new(data.dest_components(), bits);
        let tex = self.body.push_tex(data);
        let sources: arrayvec::ArrayVec<SourceSpec, 24> =
            sources.iter().take(24).map(|&(kind, def)| SourceSpec::tex(kind, def)).collect();
        self.build_def(InstData::Tex(tex), &sources, shape)
    }

    /// Opens an `if` and moves the cursor to its then side.
    pub fn push_if(&mut self, condition: Def) -> If {
        let id = self.body.insert_if(self.cursor, condition);
        self.cursor = Cursor::BlockEnd(self.body.then_list(id).last);
        id
    }

    /// Moves the cursor to the else side of an `if`.
    pub fn push_else(&mut self, id: If) {
        self.cursor = Cursor::BlockEnd(self.body.else_list(id).last);
    }

    /// Moves the cursor after an `if`.
    pub fn end_if(&mut self, id: If) {
        self.cursor = Cursor::BlockStart(self.body.block_after_if(id));
    }

    /// Opens a loop and moves the cursor into it.
    pub fn push_loop(&mut self) -> Loop {
        let id = self.body.insert_loop(self.cursor);
        self.cursor = Cursor::BlockEnd(self.body.loop_body(id).last);
        id
    }

    /// Moves the cursor after a loop.
    pub fn end_loop(&mut self, id: Loop) {
        self.cursor = Cursor::BlockStart(self.body.block_after_loop(id));
    }

    /// Ends the cursor's block with a jump; the cursor must be at its end.
    pub fn jump(&mut self, kind: JumpKind) -> Inst {
        let block = self.block();
        let inst = self.body.insert_jump(block, kind, None);
        self.cursor = Cursor::After(inst);
        inst
    }

    /// A phi at the start of the cursor's block.
    pub fn phi(&mut self, shape: Shape, sources: &[(Block, Def)]) -> Def {
        let block = self.block();
        let sources: Vec<SourceSpec> = sources.iter().map(|&(b, d)| SourceSpec::phi(b, d)).collect();
        let inst = self.body.create_inst(InstData::Phi, &sources, Some(shape));
        self.body.insert_inst(Cursor::BlockStart(block), inst);
        if self.cursor == Cursor::BlockStart(block) {
            self.cursor = Cursor::After(inst);
        }
        self.body.inst_def(inst).expect("a phi has a value")
    }
}

impl Body {
    /// The shape of a register, given its handle; scalar 32-bit if the value is not a handle.
    pub fn register_shape(&self, handle: Def) -> Shape {
        let decl = self.def_inst(handle);
        match self.intrinsic(decl) {
            Some(IntrinsicOp::DeclReg) => {
                Shape::new(self.index(decl, IndexKind::NumComponents) as u8, self.index(decl, IndexKind::BitSize) as u8)
            }
            _ => Shape::new(1, 32),
        }
    }

    /// The modes of a deref, or none if the value is not a deref.
    pub fn deref_modes(&self, deref: Def) -> VariableModes {
        match self.inst(self.def_inst(deref)) {
            InstData::Deref { modes, .. } => *modes,
            _ => VariableModes::NONE,
        }
    }

    /// The type that a deref points to, or `None` if the value is not a deref.
    pub fn deref_type(&self, deref: Def) -> Option<Type> {
        match self.inst(self.def_inst(deref)) {
            InstData::Deref { ty, .. } => Some(*ty),
            _ => None,
        }
    }
}

impl Shader {
    /// The shape of a value of a vector type: components and bits (1 for booleans); `None` for other types.
    pub fn shape_of(&self, ty: Type) -> Option<Shape> {
        match *self.types.get(ty) {
            TypeData::Vector { scalar, components } if scalar != ScalarType::Void => {
                Some(Shape::new(components, scalar.bit_size()))
            }
            _ => None,
        }
    }
}
