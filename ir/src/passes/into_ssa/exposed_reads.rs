//! Finds variables that functions share but that carry no values between them: every read of a component is dominated
//! by a write to it, with no call in between that may write it.
//!
//! A walk over each function tracks the components that are certainly written. A write in a side of an `if` counts
//! after the `if` if the other side also writes the component or ends in a jump; writes in a loop do not count after
//! it. At the entry point everything counts as written: variables start as zero, whether global or local.
//!
//! Cost: the code, once per nesting level, and for each call the variables that the callee may write. Beyond
//! [`MAX_WORK`], all variables count as exposed.

use cranelift_entity::SecondaryMap;

use crate::analysis::{CallGraph, calls};
use crate::body::{Body, CfList, CfNode, DerefKind, InstData};
use crate::entities::{Def, Function, If, Inst, Loop, User, Variable};
use crate::intrinsics::IntrinsicOp;
use crate::passes::lower_numbers::lower_int_to_float::components_read;
use crate::passes::variables::deref_tree::vector_shape;
use crate::shader::Shader;

/// Maximum number of variables visited in the write sets of functions and of calls.
const MAX_WORK: usize = 1 << 24;

/// Returns the given variables that carry nothing between functions. No function may call the entry point.
pub(crate) fn not_exposed(shader: &Shader, entry: Function, variables: Vec<Variable>) -> Vec<Variable> {
    let graph = CallGraph::new(&shader.functions);
    let recursive = graph.recursive();
    let mut bodies = shader.functions.iter().filter_map(|(id, data)| Some((id, data.body.as_ref()?)));
    let is_known = |(id, body): (Function, &Body)| {
        body.structured
            && !recursive.contains(id)
            && calls(body).all(|(call, callee)| {
                matches!(body.inst(call), InstData::Call { indirect: false, .. })
                    && shader.functions.get(callee).is_some_and(|data| data.body.is_some())
            })
    };
    if variables.is_empty() || !bodies.all(is_known) {
        return Vec::new();
    }
    let mut numbers = SecondaryMap::new();
    for (number, &variable) in variables.iter().enumerate() {
        numbers[variable] = number as u32 + 1;
    }
    let mut all = Variables { numbers, exposed: vec![false; variables.len()], written: SecondaryMap::new(), work: 0 };
    for (number, &variable) in variables.iter().enumerate() {
        all.exposed[number] = vector_shape(&shader.types, shader.variables[variable].ty).is_none();
    }
    for function in graph.bottom_up() {
        if let Some(body) = &shader.functions[function].body {
            all.find_written(function, body);
        }
    }
    let mut known = WrittenComponents::new(variables.len());
    for (function, data) in &shader.functions {
        let Some(body) = data.body.as_ref().filter(|_| function != entry) else { continue };
        ExposedReadsWalk { body, all: &mut all, known: &mut known }.walk();
    }
    if let Some(body) = &shader.functions[entry].body {
        known.components.fill(u16::MAX);
        ExposedReadsWalk { body, all: &mut all, known: &mut known }.walk();
    }
    if all.work > MAX_WORK {
        return Vec::new();
    }
    variables
        .into_iter()
        .enumerate()
        .filter(|&(number, _)| !all.exposed[number])
        .map(|(_, variable)| variable)
        .collect()
}

/// The numbered candidate variables.
struct Variables {
    /// Their numbers plus 1; 0 for all others.
    numbers: SecondaryMap<Variable, u32>,
    exposed: Vec<bool>,
    /// The variables that each function may write, sorted.
    written: SecondaryMap<Function, Vec<u32>>,
    work: usize,
}

impl Variables {
    fn number(&self, variable: Variable) -> Option<u32> {
        self.numbers[variable].checked_sub(1)
    }

    /// Returns the number of the variable that a deref names.
    fn of_deref(&self, body: &Body, deref: Def) -> Option<u32> {
        match *body.inst(body.def_inst(deref)) {
            InstData::Deref { kind: DerefKind::Var(variable), .. } => self.number(variable),
            _ => None,
        }
    }

    /// Computes the variables that a function may write, including those of its callees, which must have been processed
    /// before. An access to a variable other than a load or store exposes it.
    fn find_written(&mut self, function: Function, body: &Body) {
        let mut written = Vec::new();
        for inst in body.blocks().flat_map(|block| body.insts(block)) {
            match *body.inst(inst) {
                InstData::Deref { kind: DerefKind::Var(variable), .. } => {
                    let (Some(number), Some(def)) = (self.number(variable), body.inst_def(inst)) else { continue };
                    for source in body.uses_of(def) {
                        let User::Inst(user) = body.user(source) else { continue };
                        match body.intrinsic(user).filter(|_| body.source_number(source) == 0) {
                            Some(IntrinsicOp::LoadDeref) => {}
                            Some(IntrinsicOp::StoreDeref) => written.push(number),
                            _ => self.exposed[number as usize] = true,
                        }
                    }
                }
                InstData::Call { callee, .. } if self.work <= MAX_WORK => {
                    self.work += self.written[callee].len();
                    written.extend_from_slice(&self.written[callee]);
                }
                _ => {}
            }
        }
        written.sort_unstable();
        written.dedup();
        self.work += written.len();
        self.written[function] = written;
    }
}

/// The components of each variable that are certainly written.
struct WrittenComponents {
    components: Vec<u16>,
    /// The components of a variable before each change.
    log: Vec<(u32, u16)>,
    /// For each variable, the time of the last visit and the components recorded then.
    stamps: Vec<(u32, u16)>,
    now: u32,
}

impl WrittenComponents {
    fn new(count: usize) -> WrittenComponents {
        WrittenComponents { components: vec![0; count], log: Vec::new(), stamps: vec![(0, 0); count], now: 0 }
    }

    fn set(&mut self, number: u32, components: u16) {
        let known = &mut self.components[number as usize];
        if *known != components {
            self.log.push((number, *known));
            *known = components;
        }
    }

    /// Undoes the changes since the log had length `start`; returns the undone values.
    fn take_back(&mut self, start: usize) -> Vec<(u32, u16)> {
        self.now += 1;
        let mut changes = Vec::new();
        for (number, before) in self.log.drain(start..).rev() {
            let index = number as usize;
            if std::mem::replace(&mut self.stamps[index].0, self.now) != self.now {
                changes.push((number, self.components[index]));
            }
            self.components[index] = before;
        }
        changes
    }

    /// Keeps the components that are written in both of two sides with these changes.
    fn join(&mut self, first: &[(u32, u16)], second: &[(u32, u16)]) {
        self.now += 1;
        let one = self.now;
        for &(number, components) in first {
            self.stamps[number as usize] = (one, components);
        }
        self.now += 1;
        for &(number, components) in second {
            let index = number as usize;
            let (stamp, noted) = std::mem::replace(&mut self.stamps[index], (self.now, 0));
            let other = if stamp == one { noted } else { self.components[index] };
            self.set(number, components & other);
        }
        for &(number, components) in first {
            let index = number as usize;
            if self.stamps[index].0 == one {
                self.set(number, components & self.components[index]);
            }
        }
    }
}

/// A pending step of the walk. Numbers are lengths of the log.
enum WalkStep {
    List(CfList),
    Node(CfNode),
    Else(If, usize),
    /// With the changes of the first side, and whether that ends in a jump.
    EndIf(usize, Vec<(u32, u16)>, bool),
    Continue(Loop, usize),
    EndLoop(usize),
}

struct ExposedReadsWalk<'a> {
    body: &'a Body,
    all: &'a mut Variables,
    known: &'a mut WrittenComponents,
}

impl ExposedReadsWalk<'_> {
    fn walk(&mut self) {
        let body = self.body;
        let start = self.known.log.len();
        // Writes of calls in a loop are not tracked into its next iteration: such variables are exposed if they are
        // read at all.
        let mut is_read = Vec::new();
        let mut in_loops = Vec::new();
        let mut loops = 0u32;
        let mut has_left = false;
        let mut steps = vec![WalkStep::List(body.body_list())];
        while let Some(step) = steps.pop() {
            match step {
                WalkStep::List(list) => steps.push(WalkStep::Node(CfNode::Block(list.first))),
                WalkStep::Node(CfNode::Block(block)) => {
                    if let Some(next) = body.node_after(block) {
                        steps.push(WalkStep::Node(next));
                    }
                    for inst in body.insts(block) {
                        if let InstData::Call { callee, .. } = *body.inst(inst) {
                            self.call(callee);
                            if loops > 0 {
                                in_loops.push(callee);
                            }
                        } else {
                            self.access(inst, &mut is_read);
                        }
                    }
                    has_left |= body.block_jump(block).is_some();
                }
                WalkStep::Node(CfNode::If(id)) => {
                    steps.push(WalkStep::Node(CfNode::Block(body.block_after_if(id))));
                    steps.push(WalkStep::Else(id, self.known.log.len()));
                    steps.push(WalkStep::List(body.then_list(id)));
                }
                WalkStep::Else(id, start) => {
                    let changes = self.known.take_back(start);
                    steps.push(WalkStep::EndIf(start, changes, std::mem::take(&mut has_left)));
                    steps.push(WalkStep::List(body.else_list(id)));
                }
                WalkStep::EndIf(start, first, first_left) => {
                    let second = self.known.take_back(start);
                    match (first_left, has_left) {
                        (false, false) => self.known.join(&first, &second),
                        (true, _) => second.iter().for_each(|&(number, components)| self.known.set(number, components)),
                        (false, true) => {
                            first.iter().for_each(|&(number, components)| self.known.set(number, components))
                        }
                    }
                    has_left &= first_left;
                }
                WalkStep::Node(CfNode::Loop(id)) => {
                    loops += 1;
                    steps.push(WalkStep::Node(CfNode::Block(body.block_after_loop(id))));
                    steps.push(WalkStep::Continue(id, self.known.log.len()));
                    steps.push(WalkStep::List(body.loop_body(id)));
                }
                WalkStep::Continue(id, start) => {
                    self.known.take_back(start);
                    has_left = false;
                    steps.push(WalkStep::EndLoop(start));
                    steps.extend(body.loop_continue_list(id).map(WalkStep::List));
                }
                WalkStep::EndLoop(start) => {
                    self.known.take_back(start);
                    has_left = false;
                    loops -= 1;
                }
            }
        }
        self.known.take_back(start);
        if !in_loops.is_empty() && self.all.work <= MAX_WORK {
            in_loops.sort_unstable();
            in_loops.dedup();
            self.known.now += 1;
            let now = self.known.now;
            for &callee in &in_loops {
                self.all.work += self.all.written[callee].len();
                for &number in &self.all.written[callee] {
                    self.known.stamps[number as usize].0 = now;
                }
            }
            for number in is_read {
                self.all.exposed[number as usize] |= self.known.stamps[number as usize].0 == now;
            }
        }
    }

    fn call(&mut self, callee: Function) {
        self.all.work += 1 + self.all.written[callee].len();
        if self.all.work <= MAX_WORK {
            for &number in &self.all.written[callee] {
                self.known.set(number, 0);
            }
        }
    }

    /// Handles a load or store of a variable.
    fn access(&mut self, inst: Inst, is_read: &mut Vec<u32>) {
        let body = self.body;
        let op = body.intrinsic(inst);
        if !matches!(op, Some(IntrinsicOp::LoadDeref | IntrinsicOp::StoreDeref)) {
            return;
        }
        let Some(number) = self.all.of_deref(body, body.src(inst, 0)) else { return };
        let known = self.known.components[number as usize];
        if op == Some(IntrinsicOp::StoreDeref) {
            self.known.set(number, known | body.write_mask(inst) as u16);
        } else if let Some(def) = body.inst_def(inst) {
            is_read.push(number);
            self.all.exposed[number as usize] |= components_used(body, def) & !known != 0;
        }
    }
}

/// Returns the components of a value that are used.
fn components_used(body: &Body, def: Def) -> u16 {
    body.uses_of(def).fold(0, |mask, source| match body.user(source) {
        User::Inst(user) => components_read(body, user, source).iter().fold(mask, |mask, &c| mask | 1 << (c & 15)),
        User::If(_) => mask | 1,
    })
}
