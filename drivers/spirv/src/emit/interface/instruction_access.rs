//! The access of an instruction to inputs or outputs: the slots that it may access, and its dynamic indices.

use smallvec::SmallVec;
use tgsi_ir::body::DerefKind;
use tgsi_ir::intrinsics::indices::IoSemantics;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::TypeData;
use tgsi_ir::variable::{VariableData, VariableModes};
use tgsi_ir::{Body, Def, Inst, InstData, Shader, ShaderStage, Variable};

use super::plan::{MAX_SLOTS, Plan, space_of};
use super::slot_location::{Slot, Space};

/// An access, as described by its instruction.
#[derive(Clone, Debug)]
pub struct SlotAccess {
    /// The slots it may access, by element.
    pub slots: SmallVec<[Option<Slot>; 4]>,
    /// The index of the element; none if there is only one slot.
    pub index: Option<Def>,
    /// The index of the vertex.
    pub vertex: Option<Def>,
    /// The slot's component that is the first component of the value.
    pub component: u8,
    /// The value is the whole slot, although it has fewer components.
    pub is_whole: bool,
    /// It reads the framebuffer.
    pub is_fetch: bool,
}

impl SlotAccess {
    /// Folds a constant element index into the choice of the slot.
    fn folded(mut self, body: &Body) -> SlotAccess {
        if let Some(number) = self.index.and_then(|index| body.constant_component(index, 0)) {
            let slot = usize::try_from(number as u32).ok().and_then(|number| self.slots.get(number).copied()).flatten();
            self.slots = smallvec::smallvec![slot];
            self.index = None;
        }
        self
    }
}

/// Returns the variable at the root of a chain of derefs, and the indices applied to it.
fn path(body: &Body, deref: Def) -> Option<(Variable, SmallVec<[Def; 4]>)> {
    let mut indices = SmallVec::new();
    let mut at = deref;
    loop {
        let inst = body.def_inst(at);
        match *body.inst(inst) {
            InstData::Deref { kind: DerefKind::Var(variable), .. } => {
                indices.reverse();
                return Some((variable, indices));
            }
            InstData::Deref { kind: DerefKind::Array, .. } => {
                indices.push(body.src(inst, 1));
                at = body.src(inst, 0);
            }
            _ => return None,
        }
    }
}

/// Returns whether no other output has components in the slots of an output.
fn is_alone_in_slots(shader: &Shader, variable: Variable) -> bool {
    let slots = |data: &VariableData| {
        let ty = match *shader.types.get(data.ty) {
            TypeData::Array { element, .. } if data.per_vertex => element,
            _ => data.ty,
        };
        data.location..data.location.saturating_add_unsigned(shader.types.slots(ty).max(1))
    };
    let data = &shader.variables[variable];
    let own = slots(data);
    shader.globals_with(VariableModes::SHADER_OUT).all(|(other, other_data)| {
        let shared = slots(other_data);
        other == variable
            || (other_data.index, other_data.patch) != (data.index, data.patch)
            || shared.start >= own.end
            || own.start >= shared.end
    })
}

/// Returns the deref through which an intrinsic accesses inputs or outputs, if it does.
pub fn deref_of(body: &Body, inst: Inst) -> Option<Def> {
    use IntrinsicOp::*;
    let op = body.intrinsic(inst)?;
    if !matches!(op, LoadDeref | StoreDeref | InterpDerefAtCentroid | InterpDerefAtSample | InterpDerefAtOffset) {
        return None;
    }
    let deref = body.src(inst, 0);
    let io = VariableModes::SHADER_IN.union(VariableModes::SHADER_OUT);
    match *body.inst(body.def_inst(deref)) {
        InstData::Deref { modes, .. } if modes.intersects(io) => Some(deref),
        _ => None,
    }
}

impl Plan {
    /// Returns the access of an instruction; `None` if it does not access inputs or outputs.
    ///
    /// # Errors
    /// The part of the access that the target cannot express, worded for an error message.
    pub fn access(&self, shader: &Shader, body: &Body, inst: Inst) -> Result<Option<SlotAccess>, &'static str> {
        use IntrinsicOp::*;
        if let Some(deref) = deref_of(body, inst) {
            return self.deref_access(shader, body, inst, deref).map(Some);
        }
        let Some(op) = body.intrinsic(inst) else { return Ok(None) };
        let (is_output, by_vertex) = match op {
            LoadInput => (false, false),
            LoadPerVertexInput => (false, true),
            LoadOutput | StoreOutput => (true, false),
            LoadPerVertexOutput | StorePerVertexOutput => (true, true),
            _ => return Ok(None),
        };
        let sources = body.sources(inst).count();
        let offset = body.src(inst, sources - 1);
        let vertex = by_vertex.then(|| body.src(inst, sources - 2));
        let space = match (by_vertex, shader.stage, is_output) {
            (true, ..) => Space::Vertex,
            (_, ShaderStage::TessCtrl, true) | (_, ShaderStage::TessEval, false) => Space::Patch,
            _ => Space::Single,
        };
        let base = body.base(inst);
        let count = (body.index(inst, IndexKind::Range) as u32).clamp(1, MAX_SLOTS);
        let slots =
            (0..count).map(|element| self.registers.get(&(is_output, space, base.wrapping_add(element))).copied());
        let semantics = IoSemantics::from_i32(body.index(inst, IndexKind::IoSemantics));
        Ok(Some(
            SlotAccess {
                slots: slots.collect(),
                index: Some(offset),
                vertex,
                component: body.component(inst),
                is_whole: false,
                is_fetch: semantics.fb_fetch_output,
            }
            .folded(body),
        ))
    }

    fn deref_access(&self, shader: &Shader, body: &Body, inst: Inst, deref: Def) -> Result<SlotAccess, &'static str> {
        let (variable, indices) = path(body, deref).ok_or("a pointer that does not lead to a variable")?;
        let data = &shader.variables[variable];
        let is_output = data.mode.intersects(VariableModes::SHADER_OUT);
        let mut indices = indices.into_iter();
        let mut ty = data.ty;
        let mut vertex = None;
        if let (true, &TypeData::Array { element, .. }) = (data.per_vertex, shader.types.get(ty)) {
            vertex = Some(indices.next().ok_or("an access of a whole array")?);
            ty = element;
        }
        let (mut count, mut index) = (1, None);
        if let &TypeData::Array { element, length, .. } = shader.types.get(ty) {
            index = Some(indices.next().ok_or("an access of a whole array")?);
            count = length.min(MAX_SLOTS);
            ty = element;
        }
        let Some((scalar, components)) = shader.types.as_vector(ty).filter(|&(_, components)| components <= 4) else {
            return Err("an input or output of this type");
        };
        if scalar.bit_size() != 32 {
            return Err("an input or output of other than 32 bits");
        }
        let mut component = data.location_frac & 3;
        let mut is_part = false;
        if let Some(index) = indices.next() {
            let constant = body.constant_component(index, 0).ok_or("a run-time component of an input or output")?;
            component += (constant & 3) as u8;
            is_part = true;
        }
        if indices.next().is_some() {
            return Err("an input or output of nested arrays");
        }
        let space = space_of(data);
        let slots = (0..count)
            .map(|element| Some(Slot { is_output, space, location: data.location.wrapping_add(element as i32) }));
        let is_fetch =
            data.fb_fetch_output && shader.stage == ShaderStage::Fragment && is_output && body.inst_def(inst).is_some();
        let is_alone = || !is_output || is_alone_in_slots(shader, variable);
        let is_whole = !is_part && components < 4 && shader.stage != ShaderStage::TessCtrl && is_alone();
        Ok(SlotAccess { slots: slots.collect(), index, vertex, component, is_whole, is_fetch }.folded(body))
    }
}
