//! Uniforms by name: the members of an interface in their registers.

use std::collections::{BTreeSet, HashSet};

use tgsi_compiler::front_end::{ComponentType, Interface, Uniform, UniformMember};

use super::ContainerError;
use super::names::Type;
use crate::isa::{fragment, vertex};
use crate::program::{FragmentProgram, VertexProgram};

/// The registers that files can list.
const REGISTERS: u32 = 1 << 16;

/// A scalar, vector, matrix, or an array of these.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Leaf {
    pub(super) name: String,
    /// The type of an element.
    pub(super) ty: Type,
    pub(super) is_array: bool,
    /// The first register.
    pub(super) register: u32,
    /// Registers that exist: arrays end at the last element in use.
    pub(super) rows: u32,
}

/// Consecutive registers with one name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Run {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) register: u32,
    pub(super) rows: u32,
}

impl Leaf {
    /// The elements of an array, or the only element.
    pub(super) fn elements(&self) -> impl Iterator<Item = Run> {
        let rows = if let Type::Matrix { rows, .. } = self.ty { u32::from(rows).max(1) } else { 1 };
        (0..self.rows.div_ceil(rows)).map(move |number| {
            let name = if self.is_array { format!("{}[{number}]", self.name) } else { self.name.clone() };
            let first = number * rows;
            Run { name, ty: self.ty, register: self.register + first, rows: rows.min(self.rows - first) }
        })
    }

    /// The array as a whole.
    pub(super) fn whole(&self) -> Run {
        Run { name: self.name.clone(), ty: self.ty, register: self.register, rows: self.rows }
    }
}

impl Run {
    /// Each register of a matrix.
    pub(super) fn columns(&self) -> impl Iterator<Item = Run> {
        let size = if let Type::Matrix { size, .. } = self.ty { size } else { 4 };
        (0..self.rows).map(move |number| Run {
            name: format!("{}[{number}]", self.name),
            ty: Type::vector(size),
            register: self.register + number,
            rows: 1,
        })
    }
}

/// The uniforms of a program, and their initial values.
pub(super) struct Uniforms {
    /// By register.
    pub(super) leaves: Vec<Leaf>,
    /// Words of the registers.
    initial: Vec<u32>,
    /// Registers with an initial value that the source states.
    initialized: HashSet<u32>,
}

impl Uniforms {
    /// The uniforms of the interface, and `used` registers that belong to none of them.
    pub(super) fn new(interface: &Interface, used: &BTreeSet<u32>) -> Result<Uniforms, ContainerError> {
        for Uniform { register, num_registers, .. } in &interface.uniforms {
            let end = u64::from(*register) + u64::from(*num_registers);
            if end > REGISTERS.into() {
                return Err(ContainerError::Limit("registers", end, REGISTERS.into()));
            }
        }
        let mut initial = interface.initial_constants();
        let (mut leaves, mut covered, mut initialized) = (Vec::new(), HashSet::new(), HashSet::new());
        for uniform in &interface.uniforms {
            let range = uniform.register..uniform.register + uniform.num_registers;
            if uniform.initial.is_some() {
                initialized.extend(range.clone());
            }
            for (leaf, component_type) in members(uniform)? {
                let range = leaf.register..leaf.register + leaf.rows;
                if !uniform.is_state {
                    convert(&mut initial, range.clone(), component_type);
                }
                covered.extend(range);
                leaves.push(leaf);
            }
        }
        for &register in used.iter().filter(|register| !covered.contains(register)) {
            let name = format!("c{register}");
            leaves.push(Leaf { name, ty: Type::vector(4), is_array: false, register, rows: 1 });
        }
        leaves.sort_by_key(|leaf| leaf.register);
        Ok(Uniforms { leaves, initial, initialized })
    }

    /// The initial value of a register; zero without one.
    pub(super) fn initial(&self, register: u32) -> [u32; 4] {
        [0, 1, 2, 3].map(|component| self.initial.get(register as usize * 4 + component).copied().unwrap_or(0))
    }

    /// The words of a fragment program. The slots of uniforms have the initial values that the source states.
    pub(super) fn words(&self, program: &fragment::Program) -> Vec<u32> {
        let mut words = program.words.clone();
        for patch in &program.patches {
            let place = words.get_mut(patch.slot as usize * 4..).and_then(<[u32]>::first_chunk_mut);
            if let (Some(value), Some(place)) = (self.stated_initial(patch.constant), place) {
                *place = value;
            }
        }
        words
    }

    /// The initial value that the source states.
    pub(super) fn stated_initial(&self, register: u32) -> Option<[u32; 4]> {
        self.initialized.contains(&register).then(|| self.initial(register))
    }
}

/// Converts integers to floats with the same values.
fn convert(words: &mut [u32], registers: std::ops::Range<u32>, component_type: ComponentType) {
    let range = registers.start as usize * 4..(registers.end as usize * 4).min(words.len());
    for word in words.get_mut(range).unwrap_or_default() {
        let float = match component_type {
            ComponentType::Int => *word as i32 as f32,
            ComponentType::Uint | ComponentType::Bool => *word as f32,
            _ => continue,
        };
        *word = float.to_bits();
    }
}

/// The members of a uniform. Those that share a register are one vector.
fn members(uniform: &Uniform) -> Result<Vec<(Leaf, ComponentType)>, ContainerError> {
    let end = uniform.register + uniform.num_registers;
    if uniform.members.is_empty() {
        let rows = uniform.num_registers;
        let (name, register) = (uniform.name.clone(), uniform.register);
        let leaf = Leaf { name, ty: Type::vector(4), is_array: rows > 1, register, rows };
        return Ok(vec![(leaf, ComponentType::Float)]);
    }
    let mut sorted: Vec<_> = uniform.members.iter().filter(|member| member.register < end).collect();
    sorted.sort_by_key(|member| (member.register, member.component));
    let mut found = Vec::new();
    for group in sorted.chunk_by(|a, b| a.register == b.register) {
        let name = |member: &&UniformMember| format!("{}{}", uniform.name, member.path);
        let names: Vec<_> = group.iter().map(name).collect();
        let name = names.join(",");
        let error = |reason| Err(ContainerError::Uniform(name.clone(), reason));
        let member = group[0];
        let is_array = member.length.is_some();
        let is_wide = |member: &&UniformMember| {
            matches!(member.component_type, ComponentType::Double | ComponentType::Int64 | ComponentType::Uint64)
        };
        if group.iter().any(is_wide) {
            return error("has components of 64 bits");
        }
        let is_shared = group.len() > 1;
        if member.component > 0 || is_shared && group.iter().any(|part| part.length.is_some() || part.columns > 1) {
            return error("is in a part of a register");
        }
        let columns = member.columns.max(1);
        let ty = match (is_shared, columns) {
            (true, _) => Type::vector(4),
            (false, 1) => {
                Type::Vector { is_bool: member.component_type == ComponentType::Bool, size: member.rows.clamp(1, 4) }
            }
            (false, rows) => Type::Matrix { rows, size: member.rows.clamp(1, 4) },
        };
        let rows = u64::from(columns) * u64::from(member.length.unwrap_or(1));
        let rows = rows.min((end - member.register).into()) as u32;
        found.push((Leaf { name, ty, is_array, register: member.register, rows }, member.component_type));
    }
    Ok(found)
}

/// The constants that a vertex program reads, without literals. If it has names, those that are only reached by an
/// index are left out, as names cover them.
pub(super) fn used_by_vertex(program: &VertexProgram, interface: &Interface) -> BTreeSet<u32> {
    let mut used = BTreeSet::new();
    let mut is_indexed = false;
    for slot in program.slots.iter().filter_map(|words| vertex::decode(words, program.chip).ok()) {
        used.extend(slot.constant.map(u32::from));
        is_indexed |= slot.indexes_constant;
    }
    if is_indexed && interface.uniforms.is_empty() {
        used.extend(0..u32::from(program.constants));
    }
    for literal in &program.literals {
        used.remove(&literal.constant.into());
    }
    used
}

/// The uniforms that a fragment program has slots for.
pub(super) fn used_by_fragment(program: &FragmentProgram) -> BTreeSet<u32> {
    program.program.patches.iter().map(|patch| patch.constant).collect()
}
