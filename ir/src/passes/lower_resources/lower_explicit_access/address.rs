//! Addresses of derefs: the constant part, and the indices with their strides.

use arrayvec::ArrayVec;
use cranelift_entity::PrimaryMap;

use crate::body::{Body, DerefKind, InstData};
use crate::entities::{Def, Inst, Type, Variable};
use crate::memory_layout::{Elements, MemoryLayout};
use crate::type_counts::TypeCounts;
use crate::types::{ScalarType, TypeData, TypeTable};
use crate::variable::{VariableData, VariableModes};

/// The maximum number of run-time indices of an address. Deeper ones are left alone.
const MAX_TERMS: usize = 16;

/// Run-time indices, each with its stride.
pub(super) type Terms = ArrayVec<(Def, u32), MAX_TERMS>;

/// The layouts of the types of a shader.
pub(super) struct Layouts {
    pub memory: MemoryLayout,
    /// Registers in the default block. A scalar, vector, element or column takes one, a 64-bit vector of more than two
    /// components two; samplers and images take none.
    pub registers: TypeCounts,
}

impl Layouts {
    pub fn new(types: &TypeTable) -> Layouts {
        let of_vector = |scalar: ScalarType, components: u8| 1 + u32::from(scalar.bit_size() == 64 && components > 2);
        let registers = TypeCounts::new(types, |data| match data {
            TypeData::Vector { scalar, components } => of_vector(*scalar, *components),
            TypeData::Matrix { scalar, columns, rows, .. } => u32::from(*columns) * of_vector(*scalar, *rows),
            _ => 0,
        });
        Layouts { memory: MemoryLayout::new(types), registers }
    }

    /// The elements of an array or the columns of a matrix, in registers.
    fn register_elements(&self, types: &TypeTable, ty: Type) -> Option<Elements> {
        let (length, distance) = match *types.get(ty) {
            TypeData::Array { element, length, .. } => (length, self.registers.of(element)),
            TypeData::Matrix { columns, .. } => (u32::from(columns), self.registers.of(ty) / u32::from(columns.max(1))),
            _ => return None,
        };
        Some(Elements { length, distance, component_distance: None })
    }
}

/// Where a deref points to.
pub(super) struct Address {
    pub variable: Variable,
    /// The constant part: bytes, or registers of the default block.
    pub constant: u32,
    pub terms: Terms,
    /// The constant part of the number of the block, from the variable's on.
    pub block: u32,
    pub block_terms: Terms,
    /// Bytes from one component to the next, if they are not adjacent.
    pub component_distance: Option<u32>,
    /// Whether a constant index is beyond the end of its array.
    pub is_beyond: bool,
}

/// Returns whether a variable of this type is a block, or an array of blocks.
pub(super) fn is_block(types: &TypeTable, ty: Type) -> bool {
    matches!(types.get(types.without_arrays(ty)), TypeData::Struct { interface: true, .. })
}

/// Returns the address of a deref; `None` if it does not lead from a variable by fields and elements.
pub(super) fn locate(
    body: &Body,
    types: &TypeTable,
    layouts: &Layouts,
    variables: &PrimaryMap<Variable, VariableData>,
    deref: Def,
) -> Option<Address> {
    let mut path: Vec<Inst> = Vec::new();
    let mut at = body.try_def_inst(deref)?;
    let variable = loop {
        match *body.inst(at) {
            InstData::Deref { kind: DerefKind::Var(variable), .. } => break variable,
            InstData::Deref { kind: DerefKind::Array | DerefKind::Struct(_), .. } => path.push(at),
            _ => return None,
        }
        at = body.try_def_inst(body.src(at, 0))?;
    };
    let data = variables.get(variable)?;
    let in_registers = data.mode == VariableModes::UNIFORM;
    let has_blocks = data.mode.intersects(VariableModes::MEM_UBO.union(VariableModes::MEM_SSBO));
    let mut address = Address {
        variable,
        constant: 0,
        terms: Terms::new(),
        block: 0,
        block_terms: Terms::new(),
        component_distance: None,
        is_beyond: false,
    };
    let mut ty = data.ty;
    for &step in path.iter().rev() {
        let InstData::Deref { kind, ty: part, .. } = *body.inst(step) else { return None };
        if let DerefKind::Struct(number) = kind {
            let offset = match in_registers {
                true => layouts.registers.before_field(types, ty, number),
                false => layouts.memory.field(types, ty, number),
            };
            address.constant = address.constant.saturating_add(offset?);
        } else {
            let is_block = has_blocks && matches!(types.get(ty), TypeData::Array { .. }) && is_block(types, ty);
            let elements = match (types.get(ty), in_registers) {
                (TypeData::Array { element, length, .. }, _) if is_block => {
                    Elements { length: *length, distance: types.array_elements(*element), component_distance: None }
                }
                (_, true) => layouts.register_elements(types, ty)?,
                (_, false) => layouts.memory.elements(types, ty)?,
            };
            // A component of a column of a row-major matrix, or the column.
            let distance = address.component_distance.take().unwrap_or(elements.distance);
            address.component_distance = elements.component_distance;
            let index = body.src(step, 1);
            let (constant, terms) = match is_block {
                true => (&mut address.block, &mut address.block_terms),
                false => (&mut address.constant, &mut address.terms),
            };
            match body.constant_component(index, 0) {
                Some(number) => {
                    address.is_beyond |= elements.length > 0 && number >= u64::from(elements.length);
                    let number = u32::try_from(number).unwrap_or(u32::MAX);
                    *constant = constant.saturating_add(number.saturating_mul(distance));
                }
                None => terms.try_push((index, distance)).ok()?,
            }
        }
        ty = part;
    }
    Some(address)
}
