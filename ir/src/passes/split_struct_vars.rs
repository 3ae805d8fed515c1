//! Splits variables of struct type, and arrays of structs: each member becomes a variable of its own.
//!
//! ```text
//! before:                                              after:
//!     type S: struct {vec4 x, float[3] y}
//!     decl_var  S[2] a                                     decl_var  vec4[2] a[*].x
//!                                                          decl_var  float[2][3] a[*].y
//!     %1 = deref_var &a (function_temp S[2])
//!     %2 = deref_array &(*%1)[%i] (function_temp S)        %5 = deref_var &a[*].y (function_temp float[2][3])
//!     %3 = deref_struct &%2->y (function_temp float[3])    %6 = deref_array &(*%5)[%i] (function_temp float[3])
//!     %4 = deref_array &(*%3)[%j] (function_temp float)    %4 = deref_array &(*%6)[%j] (function_temp float)
//! ```
//!
//! Temporaries only: nobody else knows them by their layout. Members that are structs are split as well, whatever arrays they stand in; the arrays stay, the
//! outermost first. A copy of a whole struct becomes copies of vectors ([`split_var_copies`](mod@crate::passes::split_var_copies)), initialisers are split too.
//!
//! What stays is a variable whose address is used in any other way (a cast, a call, an initialiser), and one that would become more than [`MAX_PARTS`] variables.
//!
//! Cost: linear in the derefs and the members times the lengths of their paths.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};

use crate::body::{Body, DerefKind, InstData};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, Type, User, Variable};
use crate::intrinsics::IntrinsicOp;
use crate::passes::lower_global_vars_to_local::mark_pointer_targets;
use crate::passes::split_array_vars::MAX_PARTS;
use crate::passes::split_var_copies;
use crate::shader::Shader;
use crate::types::{TypeData, TypeTable};
use crate::variable::{Initializer, VariableData, VariableModes};

/// Modes of which variables can be split.
const SPLITTABLE: VariableModes = VariableModes(VariableModes::FUNCTION_TEMP.0 | VariableModes::SHADER_TEMP.0);

/// See the [module](self). Of the modes only those of temporaries count.
pub fn split_struct_vars(shader: &mut Shader, modes: VariableModes) -> bool {
    let modes = VariableModes(modes.0 & SPLITTABLE.0);
    let Shader { functions, types, variables, globals, .. } = shader;
    let num_parts = parts_of_types(types);
    let mut splits: SecondaryMap<Variable, bool> = SecondaryMap::new();
    let mut any = false;
    for (variable, data) in variables.iter() {
        let is_struct = matches!(types.get(types.without_arrays(data.ty)), TypeData::Struct { .. });
        splits[variable] = data.mode.intersects(modes) && is_struct && num_parts[data.ty] <= MAX_PARTS;
        any |= splits[variable];
    }
    if !any {
        return false;
    }
    for (variable, data) in variables.iter() {
        let mut has_pointer = false;
        mark_pointer_targets(data.initializer.as_ref(), &mut |target| {
            has_pointer = true;
            splits[target] = false;
        });
        splits[variable] &= !has_pointer;
    }
    for body in functions.values().filter_map(|f| f.body.as_ref()) {
        exclude_complex(body, &mut splits);
    }
    let mut members: SecondaryMap<Variable, Option<Members>> = SecondaryMap::new();
    let mut split_list = |list: &mut Vec<Variable>, variables: &mut PrimaryMap<Variable, VariableData>| {
        let mut new_list = Vec::with_capacity(list.len());
        let mut changed = false;
        for &variable in list.iter() {
            if splits[variable] {
                changed = true;
                members[variable] = Some(Members::new(types, variables, variable, &mut new_list));
            } else {
                new_list.push(variable);
            }
        }
        *list = new_list;
        changed
    };
    let mut progress = split_list(globals, variables);
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        progress |= split_list(&mut body.locals, variables);
    }
    if !progress {
        return false;
    }
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        split_copies(body, types, &members);
        rewrite(body, types, variables, &members);
    }
    for (variable, members) in members.iter() {
        if members.is_some() {
            variables[variable].mode = VariableModes::NONE;
        }
    }
    true
}

/// For each type the number of variables that one of the type becomes.
fn parts_of_types(types: &TypeTable) -> SecondaryMap<Type, u64> {
    let mut parts: SecondaryMap<Type, u64> = SecondaryMap::new();
    for (number, data) in types.iter().enumerate() {
        parts[Type::new(number)] = match data {
            TypeData::Struct { fields, .. } => fields.iter().fold(0, |n: u64, field| n.saturating_add(parts[field.ty])),
            TypeData::Array { element, .. } => parts[*element],
            _ => 1,
        };
    }
    parts
}

/// The variable that a deref leads to, told from that of its parent.
pub(crate) fn root(body: &Body, roots: &SecondaryMap<Def, PackedOption<Variable>>, inst: Inst) -> Option<Variable> {
    match *body.inst(inst) {
        InstData::Deref { kind: DerefKind::Var(variable), .. } => Some(variable),
        InstData::Deref { kind: DerefKind::Array | DerefKind::ArrayWildcard | DerefKind::Struct(_), .. } => {
            roots[body.src(inst, 0)].expand()
        }
        _ => None,
    }
}

/// Variables whose derefs are used for more than loads, stores and copies stay.
pub(crate) fn exclude_complex(body: &Body, splits: &mut SecondaryMap<Variable, bool>) {
    let mut roots: SecondaryMap<Def, PackedOption<Variable>> = SecondaryMap::new();
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        let (Some(variable), Some(def)) = (root(body, &roots, inst), body.inst_def(inst)) else { continue };
        roots[def] = variable.into();
        if splits[variable] {
            splits[variable] = body.uses_of(def).all(|source| {
                let User::Inst(user) = body.user(source) else { return false };
                match *body.inst(user) {
                    InstData::Deref {
                        kind: DerefKind::Array | DerefKind::ArrayWildcard | DerefKind::Struct(_),
                        ..
                    }
                    | InstData::Intrinsic { op: IntrinsicOp::LoadDeref | IntrinsicOp::StoreDeref, .. } => {
                        body.source_number(source) == 0
                    }
                    InstData::Intrinsic { op: IntrinsicOp::CopyDeref, .. } => true,
                    _ => false,
                }
            });
        }
    }
}

/// A struct, or a member that is none, with the arrays around it.
#[derive(Clone)]
struct Member {
    parent: Option<u32>,
    /// The number in the parent.
    field: u32,
    ty: Type,
    /// The first of the members of a struct, which stand one behind the other.
    first_member: u32,
    /// What a member that is no struct becomes.
    variable: Option<Variable>,
}

/// The members of a variable; the first is the variable itself.
#[derive(Clone)]
struct Members(Vec<Member>);

impl Members {
    /// Makes the variables, in the order of the members.
    fn new(
        types: &mut TypeTable,
        variables: &mut PrimaryMap<Variable, VariableData>,
        variable: Variable,
        list: &mut Vec<Variable>,
    ) -> Members {
        let root = Member { parent: None, field: 0, ty: variables[variable].ty, first_member: 0, variable: None };
        let mut members = Members(vec![root]);
        let mut pending = vec![0u32];
        while let Some(number) = pending.pop() {
            let ty = members.0[number as usize].ty;
            if let TypeData::Struct { fields, .. } = types.get(types.without_arrays(ty)) {
                let first_member = members.0.len() as u32;
                members.0[number as usize].first_member = first_member;
                members.0.extend((0..).zip(fields).map(|(field, data)| Member {
                    parent: Some(number),
                    field,
                    ty: data.ty,
                    first_member: 0,
                    variable: None,
                }));
                pending.extend((first_member..members.0.len() as u32).rev());
            } else {
                let part = members.part(types, &variables[variable], number);
                let part = variables.push(part);
                members.0[number as usize].variable = Some(part);
                list.push(part);
            }
        }
        members
    }

    /// The variable for a member.
    fn part(&self, types: &mut TypeTable, whole: &VariableData, number: u32) -> VariableData {
        // From the member to the variable.
        let mut ty = self.0[number as usize].ty;
        let mut names: Vec<String> = Vec::new();
        let mut steps: Vec<Step> = Vec::new();
        let mut member = &self.0[number as usize];
        while let Some(parent) = member.parent {
            let parent = &self.0[parent as usize];
            let lengths = array_lengths(types, parent.ty);
            if let TypeData::Struct { fields, .. } = types.get(types.without_arrays(parent.ty)) {
                let name = fields.get(member.field as usize).map_or("", |field| field.name.as_str());
                names.push(format!("{}.{name}", "[*]".repeat(lengths.len())));
            }
            steps.push(Step::Field(member.field as usize));
            steps.extend(lengths.iter().map(|_| Step::AllElements));
            ty = lengths.iter().rev().fold(ty, |ty, &length| types.array(ty, length));
            member = parent;
        }
        names.push(whole.name.clone());
        names.reverse();
        steps.reverse();
        let initializer = whole.initializer.as_ref().map(|i| part_of_initializer(i, &steps));
        VariableData { name: names.concat(), ty, initializer, ..whole.clone() }
    }
}

/// The lengths of the arrays of a type, the outermost first.
fn array_lengths(types: &TypeTable, mut ty: Type) -> Vec<u32> {
    let mut lengths = Vec::new();
    while let TypeData::Array { element, length, .. } = *types.get(ty) {
        lengths.push(length);
        ty = element;
    }
    lengths
}

/// A step from a variable to a member.
enum Step {
    AllElements,
    Field(usize),
}

/// What an initialiser says of a member. As deep as the type is.
fn part_of_initializer(initializer: &Initializer, steps: &[Step]) -> Initializer {
    let (Initializer::Elements(elements), Some((step, rest))) = (initializer, steps.split_first()) else {
        return initializer.clone();
    };
    match *step {
        Step::AllElements => Initializer::Elements(elements.iter().map(|e| part_of_initializer(e, rest)).collect()),
        Step::Field(field) => elements.get(field).map_or(Initializer::Null, |e| part_of_initializer(e, rest)),
    }
}

/// Copies of structs of which one side is split become copies of vectors.
fn split_copies(body: &mut Body, types: &mut TypeTable, members: &SecondaryMap<Variable, Option<Members>>) {
    let copies = split_var_copies::copies(body);
    if copies.is_empty() {
        return;
    }
    let mut roots: SecondaryMap<Def, PackedOption<Variable>> = SecondaryMap::new();
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        if let (Some(variable), Some(def)) = (root(body, &roots, inst), body.inst_def(inst)) {
            roots[def] = variable.into();
        }
    }
    for copy in copies {
        let is_split = (0..2).any(|side| {
            let deref = body.src(copy, side);
            let ty = body.deref_type(deref).map(|ty| types.get(types.without_arrays(ty)));
            matches!(ty, Some(TypeData::Struct { .. })) && roots[deref].expand().is_some_and(|v| members[v].is_some())
        });
        if is_split {
            split_var_copies::split(body, types, copy);
        }
    }
}

/// Derefs that lead through the structs go to the members.
fn rewrite(
    body: &mut Body,
    types: &mut TypeTable,
    variables: &PrimaryMap<Variable, VariableData>,
    members: &SecondaryMap<Variable, Option<Members>>,
) {
    // The struct that a deref leads to, or an array of it: its variable and its number there.
    let mut places: SecondaryMap<Def, Option<(Variable, u32)>> = SecondaryMap::new();
    let mut dead: Vec<Inst> = Vec::new();
    for block in body.blocks_vec() {
        for inst in body.insts_vec(block) {
            let (InstData::Deref { kind, .. }, Some(def)) = (*body.inst(inst), body.inst_def(inst)) else { continue };
            let place = match kind {
                DerefKind::Var(variable) => members[variable].as_ref().map(|_| (variable, 0)),
                DerefKind::Array | DerefKind::ArrayWildcard => places[body.src(inst, 0)],
                DerefKind::Struct(field) => {
                    let Some((variable, parent)) = places[body.src(inst, 0)] else { continue };
                    let Some(Members(members)) = &members[variable] else { continue };
                    let number = members[parent as usize].first_member + field;
                    if let Some(part) = members[number as usize].variable {
                        if !body.is_unused(def) {
                            let replacement = deref_part(body, types, variables, inst, Cursor::Before(inst), part);
                            body.replace_all_uses(def, replacement);
                        }
                        dead.push(inst);
                        continue;
                    }
                    Some((variable, number))
                }
                _ => None,
            };
            if place.is_some() {
                places[def] = place;
                dead.push(inst);
            }
        }
    }
    body.remove_insts(&dead);
}

/// The elements of a part that a deref of a member meant, for use at a cursor.
pub(crate) fn deref_part(
    body: &mut Body,
    types: &mut TypeTable,
    variables: &PrimaryMap<Variable, VariableData>,
    member: Inst,
    cursor: Cursor,
    part: Variable,
) -> Def {
    let mut steps: Vec<(DerefKind, Option<Def>)> = Vec::new();
    let mut at = member;
    while let InstData::Deref { kind, .. } = *body.inst(at) {
        match kind {
            DerefKind::Array => steps.push((kind, Some(body.src(at, 1)))),
            DerefKind::ArrayWildcard => steps.push((kind, None)),
            DerefKind::Struct(_) => {}
            _ => break,
        }
        at = body.def_inst(body.src(at, 0));
    }
    let VariableData { mode, mut ty, .. } = variables[part];
    let mut b = Builder::new(body, cursor);
    let mut deref = b.deref_var(part, mode, ty);
    for (kind, index) in steps.into_iter().rev() {
        ty = types.element(ty).map_or(ty, |(element, _)| element);
        deref = match index {
            Some(index) => b.deref_array(deref, index, ty),
            None => split_var_copies::child(&mut b, deref, kind, ty),
        };
    }
    deref
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Shape;
    use crate::passes::tests::random_shaders::Random;
    use crate::run::{AnalyticResources, Inputs, LaneRegisters, RunLimits, run};
    use crate::shader::Stage;
    use crate::text::{parse, print};
    use crate::types::{Field, ScalarType};
    use crate::validate::validate;

    const VEC4: Shape = Shape::new(4, 32);

    /// Types of a variable that is arrays of structs within each other.
    struct Types {
        vector: Type,
        vectors: Type,
        inner: Type,
        inners: Type,
        outer: Type,
        whole: Type,
    }

    impl Types {
        fn new(types: &mut TypeTable) -> Types {
            let structure = |types: &mut TypeTable, name: &str, fields: &[(&str, Type)]| {
                let field = |&(name, ty): &(&str, Type)| Field { name: name.to_string(), ty, offset: -1 };
                let fields = fields.iter().map(field).collect();
                types.intern(TypeData::Struct { name: name.to_string(), fields, interface: false })
            };
            let vector = types.vector(ScalarType::Float, 4);
            let vectors = types.array(vector, 3);
            let inner = structure(types, "Inner", &[("x", vectors), ("y", vector)]);
            let inners = types.array(inner, 2);
            let outer = structure(types, "Outer", &[("v", vector), ("in", inners), ("one", inner)]);
            let whole = types.array(outer, 2);
            Types { vector, vectors, inner, inners, outer, whole }
        }
    }

    struct Access<'a, 'b> {
        b: &'a mut Builder<'b>,
        random: &'a mut Random,
        types: &'a Types,
        index: Def,
    }

    impl Access<'_, '_> {
        fn field(&mut self, parent: Def, field: u32, ty: Type) -> Def {
            split_var_copies::child(self.b, parent, DerefKind::Struct(field), ty)
        }

        /// By a constant, which may be outside, by a value of the lane, or all.
        fn element(&mut self, parent: Def, ty: Type, wildcard: bool) -> Def {
            match self.random.below(4) {
                0 if wildcard => split_var_copies::child(self.b, parent, DerefKind::ArrayWildcard, ty),
                1 => self.b.deref_array(parent, self.index, ty),
                _ => {
                    let value = self.random.below(4) as u32;
                    let index = self.b.u32_const(value);
                    self.b.deref_array(parent, index, ty)
                }
            }
        }

        /// A deref of something of one type within a variable.
        fn place(&mut self, variable: Variable, ty: Type) -> Def {
            let Types { vector, vectors, inner, inners, outer, whole } = *self.types;
            let root = self.b.deref_var(variable, VariableModes::FUNCTION_TEMP, whole);
            if ty == whole {
                return root;
            }
            let element = self.element(root, outer, false);
            if ty == outer {
                return element;
            }
            if ty == vector && self.random.below(3) == 0 {
                return self.field(element, 0, vector);
            }
            let part = if ty == inners || self.random.below(2) == 0 {
                let array = self.field(element, 1, inners);
                if ty == inners {
                    return array;
                }
                self.element(array, inner, false)
            } else {
                self.field(element, 2, inner)
            };
            if ty == inner {
                return part;
            }
            if ty == vector && self.random.below(2) == 0 {
                return self.field(part, 1, vector);
            }
            let array = self.field(part, 0, vectors);
            if ty == vectors { array } else { self.element(array, vector, false) }
        }

        /// The vectors of one member of all structs, for a copy.
        fn all_vectors(&mut self, variable: Variable) -> Def {
            let Types { vector, inner, inners, outer, whole, .. } = *self.types;
            let root = self.b.deref_var(variable, VariableModes::FUNCTION_TEMP, whole);
            let element = split_var_copies::child(self.b, root, DerefKind::ArrayWildcard, outer);
            let array = self.field(element, 1, inners);
            let part = split_var_copies::child(self.b, array, DerefKind::ArrayWildcard, inner);
            self.field(part, 1, vector)
        }
    }

    fn random_program(seed: u64) -> Shader {
        let random = &mut Random::new(seed);
        let mut shader = Shader::new(Stage::Vertex);
        let types = Types::new(&mut shader.types);
        let main = shader.entry_point().expect("an entry point");
        let locals = [0, 1].map(|i| shader.add_local(main, format!("s{i}"), types.whole));
        let outputs: Vec<Variable> = (0..16)
            .map(|i| {
                let mut data = VariableData::new(format!("out_{i}"), types.vector, VariableModes::SHADER_OUT);
                (data.location, data.driver_location) = (32 + i, i as u32);
                shader.add_variable(data)
            })
            .collect();
        let mut input = VariableData::new("in_0", types.vector, VariableModes::SHADER_IN);
        input.location = 15;
        let input = shader.add_variable(input);
        let mut b = Builder::at_end(shader.main_mut());
        let deref = b.deref_var(input, VariableModes::SHADER_IN, types.vector);
        let value = b.load_deref(deref, VEC4);
        let index = b.channel(value, 0);
        let mut access = Access { b: &mut b, random, types: &types, index };
        let mut values = vec![value];
        for _ in 0..60 {
            let variable = locals[access.random.below(2)];
            match access.random.below(8) {
                0..=2 => {
                    let place = access.place(variable, types.vector);
                    let value = values[access.random.below(values.len())];
                    let mask = 1 + access.random.below(15) as u32;
                    access.b.store_deref(place, value, mask);
                }
                3..=4 => {
                    let place = access.place(variable, types.vector);
                    let loaded = access.b.load_deref(place, VEC4);
                    values.push(access.b.alu(crate::alu::AluOp::Iadd, &[loaded, value]));
                }
                5 => {
                    let [to, from] = [0, 1].map(|_| locals[access.random.below(2)]);
                    let (to, from) = (access.all_vectors(to), access.all_vectors(from));
                    access.b.intrinsic(IntrinsicOp::CopyDeref, &[to, from], &[], None);
                }
                _ => {
                    let all = [types.vectors, types.inner, types.inners, types.outer, types.whole];
                    let ty = all[access.random.below(all.len())];
                    let other = locals[access.random.below(2)];
                    let (to, from) = (access.place(variable, ty), access.place(other, ty));
                    access.b.intrinsic(IntrinsicOp::CopyDeref, &[to, from], &[], None);
                }
            }
        }
        for output in outputs {
            let place = access.place(locals[output.as_u32() as usize % 2], types.vector);
            let value = access.b.load_deref(place, VEC4);
            let deref = access.b.deref_var(output, VariableModes::SHADER_OUT, types.vector);
            access.b.store_deref(deref, value, 15);
        }
        shader
    }

    fn outcome(shader: &Shader) -> LaneRegisters {
        let lanes = 4;
        let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 1), ..Inputs::default() };
        for lane in 0..lanes {
            (0..4).for_each(|component| inputs.inputs.set(0, component, lane, (lane * (1 + 7 * component)) as u32));
        }
        run(shader, &inputs, &mut AnalyticResources::default(), RunLimits::default()).expect("runs").outputs
    }

    #[test]
    fn random_structs() {
        let mut different = 0;
        for seed in 0..200 {
            let before = random_program(seed);
            validate(&before).unwrap_or_else(|errors| panic!("seed {seed}: {errors}"));
            let mut after = before.clone();
            assert!(split_struct_vars(&mut after, SPLITTABLE));
            validate(&after).unwrap_or_else(|errors| panic!("seed {seed}: {errors}\n{}", print(&after)));
            let (expected, found) = (outcome(&before), outcome(&after));
            assert_eq!(expected, found, "seed {seed}\n{}\n{}", print(&before), print(&after));
            different += usize::from((0..16).any(|register| expected.get(register, 1, 2) != 0));
            let text = print(&after);
            assert!(!text.contains("deref_struct"), "seed {seed}");
            let parsed = parse(&text).unwrap_or_else(|errors| panic!("seed {seed}: {errors:?}"));
            assert_eq!(text, print(&parsed), "seed {seed}: the names can be read");
            assert!(!split_struct_vars(&mut after, SPLITTABLE));
        }
        assert!(different > 100, "{different} programs that give something");
    }

    /// As many members as the limit allows, and one more; neither takes long.
    #[test]
    fn many_members() {
        for (levels, splits) in [(10, true), (11, false), (60, false)] {
            let mut shader = Shader::new(Stage::Vertex);
            let mut ty = shader.types.vector(ScalarType::Float, 4);
            for level in 0..levels {
                let fields = ["a", "b"].map(|name| Field { name: name.to_string(), ty, offset: -1 }).to_vec();
                ty = shader.types.intern(TypeData::Struct { name: format!("S{level}"), fields, interface: false });
            }
            let main = shader.entry_point().expect("an entry point");
            shader.add_local(main, "s", ty);
            assert_eq!(split_struct_vars(&mut shader, SPLITTABLE), splits);
            assert_eq!(shader.main().locals.len(), if splits { 1 << levels } else { 1 });
        }
    }
}
