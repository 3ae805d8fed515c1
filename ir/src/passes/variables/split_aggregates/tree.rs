//! The type of a variable as a tree of structs, arrays and vectors, with the choice of the dimensions to split.

use crate::entities::{Function, Type, Variable};
use crate::passes::variables::split_aggregates::{INTERFACE, MAX_SLOTS};
use crate::types::{ScalarType, TypeData, TypeTable};
use crate::variable::{Initializer, VariableData};

/// The maximum number of nodes of a tree: fields of structs in structs.
const MAX_NODES: usize = 1 << 16;

/// A struct, array or vector, or a part of it.
pub(super) struct Node {
    /// The struct or array that contains it; itself for the whole.
    pub parent: u32,
    /// Its number among the fields of a struct.
    field: u32,
    /// Its first slot in the parent.
    slot: u32,
    /// Its number of slots.
    slots: u32,
    pub kind: Kind,
}

pub(super) enum Kind {
    Vector {
        scalar: ScalarType,
        components: u8,
    },
    /// An array or a matrix; the next node is its element or column.
    Array {
        length: u32,
        /// Whether an index is not constant.
        is_indexed: bool,
        /// Whether each element is a separate part.
        is_split: bool,
    },
    Struct {
        /// Name and node of each field.
        fields: Vec<(String, u32)>,
    },
}

/// The parts of a variable.
pub(super) struct Tree {
    pub variable: Variable,
    /// The function of a local variable.
    pub owner: Option<Function>,
    is_interface: bool,
    /// Whether there are structs or matrices.
    has_aggregates: bool,
    /// Whether the variable is split.
    pub is_split: bool,
    /// A part follows the whole.
    pub nodes: Vec<Node>,
}

/// Returns whether a vector does not fit a register of four words.
pub(super) fn is_wide(scalar: ScalarType, components: u8) -> bool {
    scalar.bit_size() == 64 && components > 2
}

/// Returns whether a vector in an element of an array is in adjacent slots for adjacent elements.
pub(super) fn has_adjacent_slots(types: &TypeTable, mut element: Type) -> bool {
    loop {
        match types.get(types.without_arrays(element)) {
            TypeData::Struct { fields, .. } if fields.len() == 1 => element = fields[0].ty,
            TypeData::Struct { fields, .. } => return fields.is_empty(),
            _ => return true,
        }
    }
}

impl Tree {
    /// Returns the tree of a variable; `None` for types that cannot be split, and for vectors and arrays of vectors.
    pub fn new(types: &TypeTable, variable: Variable, data: &VariableData, owner: Option<Function>) -> Option<Tree> {
        let is_interface = data.mode.intersects(INTERFACE);
        if types.slots(data.ty) > MAX_SLOTS && is_interface {
            return None;
        }
        let mut tree = Tree { variable, owner, is_interface, has_aggregates: false, is_split: true, nodes: Vec::new() };
        // Type, parent, number of the field, and slot in the parent.
        let mut pending = vec![(data.ty, 0u32, 0usize, 0u32)];
        while let Some((ty, parent, field, slot)) = pending.pop() {
            let number = tree.nodes.len() as u32;
            if tree.nodes.len() >= MAX_NODES {
                return None;
            }
            if let Some(Node { kind: Kind::Struct { fields }, .. }) = tree.nodes.get_mut(parent as usize)
                && let Some(entry) = fields.get_mut(field)
            {
                entry.1 = number;
            }
            let slots = types.slots(ty);
            let vector = |scalar: ScalarType, components| {
                Some(Kind::Vector { scalar, components }).filter(|_| scalar.bit_size() > 0)
            };
            let array = |length, is_split| Kind::Array { length, is_indexed: false, is_split };
            let kind = match *types.get(ty) {
                TypeData::Vector { scalar, components } => {
                    if !is_interface && is_wide(scalar, components) {
                        tree.has_aggregates = true;
                        // Halves of initialisers are not formed.
                        tree.is_split &= matches!(data.initializer, None | Some(Initializer::Null));
                    }
                    vector(scalar, components)?
                }
                TypeData::Matrix { scalar, columns, rows, .. } => {
                    tree.has_aggregates = true;
                    tree.is_split &= !is_wide(scalar, rows)
                        || is_interface
                        || matches!(data.initializer, None | Some(Initializer::Null));
                    tree.nodes.push(Node {
                        parent,
                        field: field as u32,
                        slot,
                        slots,
                        kind: array(columns.into(), false),
                    });
                    let slots = slots / u32::from(columns.max(1));
                    tree.nodes.push(Node { parent: number, field: 0, slot: 0, slots, kind: vector(scalar, rows)? });
                    continue;
                }
                TypeData::Array { element, length, .. } => {
                    // The index of a vertex is not part of a location.
                    let is_vertex = number == 0 && data.per_vertex;
                    pending.push((element, number, 0, 0));
                    array(length, is_interface && !is_vertex && !has_adjacent_slots(types, element))
                }
                TypeData::Struct { ref fields, .. } => {
                    tree.has_aggregates = true;
                    let mut slot = 0u32;
                    let first = pending.len();
                    for (index, field) in fields.iter().enumerate() {
                        pending.push((field.ty, number, index, slot));
                        slot = slot.saturating_add(types.slots(field.ty));
                    }
                    pending[first..].reverse();
                    Kind::Struct { fields: fields.iter().map(|field| (field.name.clone(), 0)).collect() }
                }
                _ => return None,
            };
            tree.nodes.push(Node { parent, field: field as u32, slot, slots, kind });
        }
        let has_dimensions = tree.nodes.iter().filter(|node| matches!(node.kind, Kind::Array { .. })).count() > 1;
        (tree.has_aggregates || has_dimensions && !is_interface).then_some(tree)
    }

    /// Chooses the dimensions to split, after run-time indices were noted. Returns whether the variable changes.
    pub fn choose_levels(&mut self) -> bool {
        let count = self.nodes.len();
        let is_array = |node: &Node| u32::from(matches!(node.kind, Kind::Array { .. }));
        // The numbers of dimensions around each node and, at most, inside.
        let (mut above, mut below) = (vec![0u32; count], vec![0u32; count]);
        for number in 1..count {
            let parent = self.nodes[number].parent as usize;
            above[number] = above[parent] + is_array(&self.nodes[parent]);
        }
        for number in (1..count).rev() {
            let parent = self.nodes[number].parent as usize;
            below[parent] = below[parent].max(below[number] + is_array(&self.nodes[number]));
        }
        let mut changes = self.has_aggregates;
        for (number, node) in self.nodes.iter_mut().enumerate() {
            let Kind::Array { is_indexed, is_split, .. } = &mut node.kind else { continue };
            if self.is_interface {
                if *is_split && *is_indexed {
                    return false;
                }
            } else {
                *is_split = !*is_indexed && above[number] + below[number] > 0;
            }
            changes |= *is_split;
        }
        changes
    }

    /// The nodes from the whole to a part.
    fn path(&self, node: u32) -> Vec<&Node> {
        let mut path = Vec::new();
        let mut number = node;
        loop {
            let node = &self.nodes[number as usize];
            path.push(node);
            if number == 0 {
                break;
            }
            number = node.parent;
        }
        path.reverse();
        path
    }

    /// Whether a node is a vector that becomes two variables, of its first two components and of the others.
    pub fn is_halved(&self, node: u32) -> bool {
        matches!(self.nodes[node as usize].kind, Kind::Vector { scalar, components } if is_wide(scalar, components))
            && !self.is_interface
    }

    /// The dimensions around a vector, the outermost first: length, and whether it is split.
    pub fn dimensions(&self, node: u32) -> Vec<(u32, bool)> {
        let dimension = |node: &Node| match node.kind {
            Kind::Array { length, is_split, .. } => Some((length, is_split)),
            _ => None,
        };
        self.path(node).into_iter().filter_map(dimension).collect()
    }

    /// All parts: nodes of vectors with indices of the split dimensions. There are at most as many as slots.
    pub fn all_parts(&self) -> Vec<(u32, Vec<u32>)> {
        let mut parts = Vec::new();
        for number in 0..self.nodes.len() as u32 {
            if !matches!(self.nodes[number as usize].kind, Kind::Vector { .. }) {
                continue;
            }
            let split: Vec<u32> = self
                .dimensions(number)
                .into_iter()
                .filter(|&(_, is_split)| is_split)
                .map(|(length, _)| length)
                .collect();
            let total = split.iter().fold(1u32, |product, &length| product.saturating_mul(length));
            let mut indices = vec![0; split.len()];
            for _ in 0..total.min(MAX_SLOTS) {
                parts.push((number, indices.clone()));
                for (index, &length) in indices.iter_mut().zip(&split).rev() {
                    *index += 1;
                    if *index < length {
                        break;
                    }
                    *index = 0;
                }
            }
        }
        parts
    }

    /// Returns the variable of a part; `half` is 1 for the second half of a vector.
    pub fn part(
        &self,
        types: &mut TypeTable,
        whole: &VariableData,
        node: u32,
        indices: &[u32],
        half: u8,
    ) -> VariableData {
        let mut data = VariableData { initializer: None, ..whole.clone() };
        let mut slot = 0u32;
        let mut lengths = Vec::new();
        let mut steps = Vec::new();
        let mut chosen = indices.iter().copied();
        let path = self.path(node);
        for (&outer, &inner) in path.iter().zip(path.iter().skip(1)) {
            match &outer.kind {
                Kind::Struct { fields } => {
                    let index = inner.field as usize;
                    data.name.push('.');
                    match fields.get(index) {
                        Some((name, _)) if !name.is_empty() => data.name.push_str(name),
                        _ => data.name.push_str(&index.to_string()),
                    }
                    slot = slot.saturating_add(inner.slot);
                    steps.push(Step::Part(index));
                }
                Kind::Array { is_split: true, .. } => {
                    let index = chosen.next().unwrap_or(0);
                    data.name.push_str(&format!("[{index}]"));
                    slot = slot.saturating_add(inner.slots.saturating_mul(index));
                    steps.push(Step::Part(index as usize));
                }
                Kind::Array { length, .. } => {
                    lengths.push(*length);
                    steps.push(Step::Each(*length as usize));
                }
                Kind::Vector { .. } => {}
            }
        }
        if let Some(Node { kind: Kind::Vector { scalar, components }, .. }) = path.last() {
            data.ty = types.vector(*scalar, *components);
            if self.is_halved(node) {
                data.name.push_str(if half == 0 { ".xy" } else { ".zw" });
                data.ty = types.vector(*scalar, if half == 0 { 2 } else { components - 2 });
            }
        }
        for &length in lengths.iter().rev() {
            data.ty = types.array(data.ty, length);
        }
        if self.is_interface && data.location >= 0 {
            data.location = data.location.saturating_add_unsigned(slot);
        }
        // All ones mean unassigned.
        if self.is_interface && data.driver_location != u32::MAX {
            data.driver_location = data.driver_location.saturating_add(slot);
        }
        data.initializer = whole.initializer.as_ref().map(|initializer| part_of(initializer, &steps));
        data
    }
}

/// A step from a whole to parts of it.
#[derive(Clone, Copy)]
enum Step {
    /// Field or element of this number.
    Part(usize),
    /// All elements, given their number.
    Each(usize),
}

/// The part of an initialiser at a path.
fn part_of(initializer: &Initializer, steps: &[Step]) -> Initializer {
    let null = &Initializer::Null;
    let mut parts = vec![initializer];
    let mut lengths = Vec::new();
    for &step in steps {
        parts = match step {
            Step::Part(index) => parts.into_iter().map(|whole| element(whole, index).unwrap_or(null)).collect(),
            Step::Each(length) => {
                lengths.push(length);
                let each = |whole| (0..length).map(move |index| element(whole, index).unwrap_or(null));
                parts.into_iter().flat_map(each).collect()
            }
        };
        // Also for an array of any length.
        if parts.iter().all(|part| matches!(part, Initializer::Null)) {
            return Initializer::Null;
        }
    }
    let mut parts: Vec<Initializer> = parts.into_iter().cloned().collect();
    for &length in lengths.iter().rev() {
        parts = parts.chunks(length.max(1)).map(|chunk| Initializer::Elements(chunk.to_vec())).collect();
    }
    parts.pop().unwrap_or(Initializer::Null)
}

fn element(whole: &Initializer, index: usize) -> Option<&Initializer> {
    match whole {
        Initializer::Elements(parts) => parts.get(index),
        _ => None,
    }
}
