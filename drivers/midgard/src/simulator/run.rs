//! The flow of threads.

use std::ops::RangeInclusive;

use super::bundle::BundleState;
use super::cube::Directions;
use super::load_store::LoadStoreUnit;
use super::registers::{from_words, words};
use super::texture::TextureUnit;
use super::{Environment, LaneResult, Launch, Registers, RunResult, Simulator, Trap, WriteOut};
use crate::isa::alu::{AluBundle, Branch, BranchOp, CallMode};
use crate::isa::load_store::LoadStoreBundle;
use crate::isa::texture::{PartialExecution, Texture};
use crate::isa::{Body, Bundle, LoadStoreRegister, Register, Resources, Tag};

/// A thread.
struct Lane {
    registers: Registers,
    /// The index of the next bundle, or `None` after the end.
    at: Option<usize>,
    /// Whether the thread waits at a barrier.
    is_waiting: bool,
    is_killed: bool,
    writes: Vec<WriteOut>,
}

/// A run.
pub(super) struct Run<'a> {
    simulator: &'a Simulator,
    launch: &'a Launch<'a>,
    environment: &'a mut dyn Environment,
    resources: Resources,
    lanes: Vec<Lane>,
    /// The threads that execute the bundle.
    active: Vec<usize>,
    directions: Directions,
    steps: u32,
}

impl<'a> Run<'a> {
    /// The threads at their start.
    pub(super) fn new(
        simulator: &'a Simulator,
        launch: &'a Launch<'a>,
        environment: &'a mut dyn Environment,
    ) -> Run<'a> {
        let mut registers = Registers::default();
        for (number, &uniform) in (8..24).rev().zip(launch.uniforms) {
            if let Some(register) = Register::new(number) {
                registers.set_words(register, uniform);
            }
        }
        let lane = |number: usize| {
            let mut registers = registers.clone();
            environment.preload(number, &mut registers);
            let is_killed = launch.helpers.get(number).copied().unwrap_or(false);
            Lane { registers, at: Some(0), is_waiting: false, is_killed, writes: Vec::new() }
        };
        let lanes = (0..launch.lanes).map(lane).collect();
        let uniforms = launch.uniforms.len().min(16) as u8;
        let resources = Resources { chip: simulator.chip, work_registers: launch.work_registers, uniforms };
        let (active, directions) = (Vec::new(), Directions::default());
        Run { simulator, launch, environment, resources, lanes, active, directions, steps: 0 }
    }

    /// Executes bundles until all threads have ended.
    pub(super) fn finish(mut self) -> Result<RunResult, Trap> {
        loop {
            let ready = self.lanes.iter().filter(|lane| !lane.is_waiting).filter_map(|lane| lane.at);
            let Some(at) = ready.min() else {
                // All threads that have not ended wait at a barrier.
                let waiting = self.lanes.iter_mut().filter(|lane| lane.is_waiting);
                if waiting.map(|lane| lane.is_waiting = false).count() == 0 {
                    break;
                }
                continue;
            };
            if self.steps >= self.launch.steps {
                return Err(Trap::Steps);
            }
            self.steps += 1;
            self.active.clear();
            let is_active = |lane: &Lane| !lane.is_waiting && lane.at == Some(at);
            self.active.extend(self.lanes.iter().enumerate().filter(|(_, lane)| is_active(lane)).map(|(lane, _)| lane));
            let bundle = self.simulator.bundles.get(at).ok_or(Trap::End(at, Tag::Break))?;
            self.execute(at, bundle)?;
        }
        let result =
            |lane: Lane| LaneResult { registers: lane.registers, is_killed: lane.is_killed, writes: lane.writes };
        Ok(RunResult { lanes: self.lanes.into_iter().map(result).collect(), steps: self.steps })
    }

    fn execute(&mut self, at: usize, bundle: &Bundle) -> Result<(), Trap> {
        match &bundle.body {
            Body::Alu(alu) => {
                for index in 0..self.active.len() {
                    let lane = self.active[index];
                    // A discard may have ended the whole quad.
                    if self.lanes[lane].at.is_some() {
                        self.alu(at, bundle, alu, lane)?;
                    }
                }
                return Ok(());
            }
            Body::LoadStore(instructions) => self.load_store(at, instructions)?,
            Body::Texture(texture) => self.texture(at, texture)?,
            Body::Barrier(_) => self.active.iter().for_each(|&lane| self.lanes[lane].is_waiting = true),
        }
        for index in 0..self.active.len() {
            let lane = self.active[index];
            // A texture operation may have ended helpers.
            if self.lanes[lane].at.is_some() {
                self.continue_after(at, bundle, lane)?;
            } else {
                self.lanes[lane].is_waiting = false;
            }
        }
        Ok(())
    }

    /// Continues with the bundle after one.
    fn continue_after(&mut self, at: usize, bundle: &Bundle, lane: usize) -> Result<(), Trap> {
        let next = match self.simulator.bundles.get(at + 1) {
            _ if bundle.next == Tag::Break => None,
            None => return Err(Trap::End(at, bundle.next)),
            Some(next) if next.tag() != bundle.next => return Err(Trap::Tag(at, bundle.next, next.tag())),
            Some(_) => Some(at + 1),
        };
        self.lanes[lane].at = next;
        Ok(())
    }

    /// Continues at the target of a branch.
    fn jump(&mut self, at: usize, bundle: &Bundle, branch: &Branch, lane: usize) -> Result<(), Trap> {
        let end = self.simulator.starts[at] + i64::from(bundle.quadwords());
        let target = end + i64::from(branch.offset());
        self.lanes[lane].at = match branch.target() {
            Tag::Break => None,
            tag => {
                let found = self.simulator.starts.binary_search(&target).map_err(|_| Trap::Target(at, target))?;
                let found_tag = self.simulator.bundles[found].tag();
                if found_tag != tag {
                    return Err(Trap::Tag(at, tag, found_tag));
                }
                if found <= at && self.steps > self.launch.killed_steps && self.is_idle(lane, found..=at) {
                    if self.continue_after(at, bundle, lane).is_err() {
                        self.lanes[lane].at = None;
                    }
                    return Ok(());
                }
                Some(found)
            }
        };
        Ok(())
    }

    /// Whether a thread in a loop of these bundles has no effect: it is discarded, and no thread of its quad that is
    /// not discarded is in the loop.
    fn is_idle(&self, lane: usize, bundles: RangeInclusive<usize>) -> bool {
        let is_in_loop = |lane: &Lane| lane.at.is_some_and(|at| bundles.contains(&at));
        let mut quad = self.lanes.iter().skip(lane & !3).take(4);
        self.lanes[lane].is_killed && !quad.any(|lane| !lane.is_killed && is_in_loop(lane))
    }

    /// Executes a bundle of the ALU on a thread.
    fn alu(&mut self, at: usize, bundle: &Bundle, alu: &AluBundle, lane: usize) -> Result<(), Trap> {
        let counter = self.counter(at, bundle, alu, lane);
        let state = &mut self.lanes[lane];
        let mut unit = BundleState::new((at, alu), self.resources, &mut state.registers, counter);
        unit.run()?;
        let Some(branch) = &alu.branch else { return self.continue_after(at, bundle, lane) };
        let holds = unit.holds(branch)?;
        let (op, mode) = match *branch {
            Branch::Jump { mode, .. } => (BranchOp::Unconditional, mode),
            Branch::Conditional { op, .. } => (op, CallMode::Default),
            Branch::Extended { op, mode, .. } => (op, mode),
        };
        if mode != CallMode::Default {
            return Err(Trap::Undefined(at, "a call"));
        }
        let is_taken = match op {
            BranchOp::Unconditional | BranchOp::Conditional => holds,
            BranchOp::Discard => {
                state.is_killed |= holds;
                if holds && self.is_quad_killed(lane) {
                    self.lanes.iter_mut().skip(lane & !3).take(4).for_each(|lane| lane.at = None);
                    return Ok(());
                }
                false
            }
            BranchOp::TileBufferPending => holds && !self.environment.is_tile_buffer_ready(lane),
            BranchOp::Writeout => {
                let (colour, [depth, stencil, target, _]) = unit.write_out();
                let target = target.unwrap_or(0);
                let write = WriteOut {
                    lane,
                    target: target >> 8,
                    sample: target & 0xff,
                    colour: (target != DEPTH_ONLY).then_some(colour),
                    depth,
                    stencil,
                };
                let is_accepted = state.is_killed || !holds || self.environment.write_out(&write);
                if holds && is_accepted && !state.is_killed {
                    state.writes.push(write);
                }
                !is_accepted
            }
        };
        if is_taken { self.jump(at, bundle, branch, lane) } else { self.continue_after(at, bundle, lane) }
    }

    /// Whether all threads of the quad are discarded.
    fn is_quad_killed(&self, lane: usize) -> bool {
        self.lanes.iter().skip(lane & !3).take(4).all(|lane| lane.is_killed)
    }

    /// The value of r31 at the start of a bundle: the address of the next bundle, and the stack pointer.
    fn counter(&mut self, at: usize, bundle: &Bundle, alu: &AluBundle, lane: usize) -> u128 {
        let reads = |(_, instruction)| super::bundle::reads_register(instruction, Register::CONDITION);
        if !alu.instructions().any(reads) {
            return 0;
        }
        let [low, high, stack_low, stack_high] =
            self.environment.system_register(lane, LoadStoreRegister::ProgramCounter);
        let start = u64::from(low) | u64::from(high) << 32;
        let next = self.simulator.starts[at] + i64::from(bundle.quadwords());
        let [low, high, ..] = words(start.wrapping_add(16 * next as u64).into());
        from_words([low, high, stack_low, stack_high])
    }

    fn load_store(&mut self, at: usize, bundle: &LoadStoreBundle) -> Result<(), Trap> {
        for instruction in bundle.0.iter().flatten() {
            for &lane in &self.active {
                let state = &mut self.lanes[lane];
                let mut unit = LoadStoreUnit {
                    index: at,
                    lane,
                    is_killed: state.is_killed || !self.environment.has_effects(lane),
                    resources: self.resources,
                    registers: &mut state.registers,
                    directions: &mut self.directions,
                    environment: self.environment,
                };
                unit.run(instruction)?;
            }
        }
        Ok(())
    }

    fn texture(&mut self, at: usize, texture: &Texture) -> Result<(), Trap> {
        let skips = texture.execution == PartialExecution::Skip;
        for first in (0..self.lanes.len()).step_by(4) {
            let mut absent: [Registers; 4] = Default::default();
            let mut active = [false; 4];
            for (number, lane) in self.lanes.iter().skip(first).take(4).enumerate() {
                let is_active = !lane.is_waiting && lane.at == Some(at);
                active[number] = is_active && !(skips && lane.is_killed);
            }
            if !active.contains(&true) {
                continue;
            }
            let mut unit = TextureUnit {
                index: at,
                first_lane: first,
                active,
                resources: self.resources,
                derivatives: self.launch.derivatives,
                has_uniform_textures: self.launch.has_uniform_textures,
                directions: &self.directions,
                environment: self.environment,
            };
            let mut lanes = self.lanes[first..].iter_mut().map(|lane| &mut lane.registers).chain(&mut absent);
            let mut next = || lanes.next();
            // The last four of at least four are present.
            if let (Some(a), Some(b), Some(c), Some(d)) = (next(), next(), next(), next()) {
                unit.run(texture, &mut [a, b, c, d])?;
            }
        }
        if texture.execution == PartialExecution::Kill {
            for &lane in &self.active {
                let lane = &mut self.lanes[lane];
                if lane.is_killed {
                    lane.at = None;
                }
            }
        }
        Ok(())
    }
}

/// The number of a render target for depth and stencil without a colour.
const DEPTH_ONLY: u32 = 0xff;
