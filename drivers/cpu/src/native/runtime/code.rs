//! Machine code in the form that the interpreter of the IR calls, whether it is in memory allocated for it at run time,
//! or in an object file linked into the program.

use std::sync::Arc;

use tgsi_ir::run::Program;
use tgsi_ir::run::native::{NativeCode, NativeState};

use super::calls::EvaluatedAlu;
use super::context::{Context, LookUp, Tables};
use super::sampling::{Host, Plan, kill, look_up};
use crate::native::analysis::slots;
use crate::sampler::{KnownUnitState, Sampled};

/// The function of a region: returns the number of operations that the longest quad executed.
pub(crate) type Function = unsafe extern "C" fn(*const Context) -> u64;

/// The functions of a program.
pub(crate) struct Code {
    functions: Vec<Function>,
    /// Texture instructions by their numbers.
    plans: Vec<Plan>,
    /// Units with inline lookups.
    known: Vec<KnownUnitState>,
    /// Out-of-line lookup functions.
    lookups: Vec<LookUp>,
    /// Instructions that are evaluated by calls.
    evaluated: Vec<EvaluatedAlu>,
    /// What functions may access: lane vectors of values and of registers, components of inputs and outputs.
    vectors: (usize, usize),
    uses_lane_vectors: bool,
    /// Whether functions read the lanes that were killed before.
    has_kills: bool,
    inputs: usize,
    outputs: usize,
    /// The memory that contains the functions, if it is released with them.
    _memory: Option<Box<dyn Send + Sync>>,
}

impl Code {
    /// Creates the code of a program. `instructions` are the numbers of the ALU instructions that code evaluates by
    /// calls; `None` if the program lacks one. Code looks up in the `known` units itself, by `lookups` where these are
    /// out of line. Without `uses_lane_vectors` no function accesses a lane vector.
    ///
    /// # Safety
    /// The functions were generated for the regions of this program, with these lists of instructions and units, by
    /// this version of the crate. They can be called as long as `memory` lives.
    pub unsafe fn new(
        program: &Program,
        functions: Vec<Function>,
        instructions: &[u32],
        known: Vec<KnownUnitState>,
        lookups: Vec<LookUp>,
        uses_lane_vectors: bool,
        memory: Option<Box<dyn Send + Sync>>,
    ) -> Option<Code> {
        let evaluated_alu = |&number: &u32| Some(EvaluatedAlu::new(program, program.alus().get(number as usize)?));
        let (values, registers) = (program.num_value_vectors() as usize, program.num_register_vectors() as usize);
        Some(Code {
            functions,
            plans: Plan::all(program),
            known,
            lookups,
            evaluated: instructions.iter().map(evaluated_alu).collect::<Option<_>>()?,
            vectors: if uses_lane_vectors { (values, registers) } else { (0, 0) },
            uses_lane_vectors,
            has_kills: program.has_kills(),
            inputs: slots::input_registers(program) * 4,
            outputs: program.output_registers() * 4,
            _memory: memory,
        })
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("functions", &self.functions.len()).finish_non_exhaustive()
    }
}

impl NativeCode for Code {
    fn input_registers(&self) -> usize {
        self.inputs / 4
    }

    fn uses_lane_vectors(&self) -> bool {
        self.uses_lane_vectors
    }

    fn execute(&self, region: u32, state: &mut NativeState<'_>) -> u64 {
        let Some(function) = self.functions.get(region as usize) else { return 0 };
        // The lengths that code relies on.
        let width = state.width;
        let enough = state.words.len() >= self.vectors.0 * width
            && state.registers.len() >= self.vectors.1 * width
            && state.active.len() >= width
            && state.exists.len() >= width
            && holds(state.inputs.len(), state.input_stride, self.inputs, state.lanes)
            && holds(state.outputs.len(), state.output_stride, self.outputs, state.lanes);
        let lanes = state.lanes;
        if lanes == 0 || !lanes.is_multiple_of(4) || lanes > width || !enough {
            debug_assert!(false, "lane vectors are too short");
            return 0;
        }
        let tables = Tables::new(state);
        let mut context = Context::new(state, &tables, &self.evaluated, &self.lookups, look_up, kill);
        let killed = if self.has_kills { killed_lanes(state) } else { Vec::new() };
        context.set_killed(&killed);
        // The units must be those that the code was generated for. They live unchanged until the code returns.
        let mut sampled: Vec<Arc<Sampled>> = Vec::new();
        for (number, known) in self.known.iter().enumerate() {
            let found = state.resources.known(known.texture, known.sampler);
            let found = found.and_then(|found| found.downcast::<Sampled>().ok());
            if let Some(found) = found.filter(|found| known.is_that_of(found)) {
                context.set_known(number, &found.texture);
                sampled.push(found);
            }
        }
        let mut host =
            Host { plans: &self.plans, resources: &mut *state.resources, live: &mut *state.live, panic: None };
        context.set_host((&raw mut host).cast());
        // SAFETY: the function takes this argument; the lane vectors have the lengths that it relies on, and `state` is
        // borrowed until it returns. The host is only used by functions that the code calls.
        let steps = unsafe { function(&raw const context) };
        if let Some(panic) = host.panic.take() {
            std::panic::resume_unwind(panic);
        }
        steps
    }
}

/// Returns the killed lanes of the block: 0 or all ones.
fn killed_lanes(state: &NativeState<'_>) -> Vec<u32> {
    let mut killed: Vec<u32> = state.live.iter().map(|&is_live| if is_live { 0 } else { u32::MAX }).collect();
    killed.resize(state.lanes, 0);
    killed
}

/// Returns whether a file of `words` words can hold `components` components of `lanes` lanes.
fn holds(words: usize, stride: usize, components: usize, lanes: usize) -> bool {
    components == 0 || (components - 1) * stride + lanes <= words
}
