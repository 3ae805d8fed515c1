//! The shaders of a pipeline, compiled together.
//!
//! ```text
//!              optimize     link_varyings, forth     back     pack_varyings
//! vertex   ────────────> ssa ──┐                      ^  │
//!                              v constants            │  v locations ──> opt ──> registers ──> code
//! fragment ────────────> ssa ──┴── optimised again ───┘ unread outputs
//! ```
//!
//! Forth, constants and copies move into the next stage, which may make constants of its own outputs; back, what the
//! next stage no longer reads goes, and with it what only that needed. Then each pair is packed, and both sides get the
//! same locations.

use std::sync::Arc;

use tgsi_ir::intrinsics::indices::InterpMode;
use tgsi_ir::passes::linking::{LinkOptions, LinkReport, front_color, link_varyings, linked_slots, pack_varyings};
use tgsi_ir::passes::pass_manager::count_instructions;
use tgsi_ir::passes::pipeline::{self, Level};
use tgsi_ir::shader::Stage as ShaderStage;
use thiserror::Error;

use crate::compiler::{Compilation, Compiler, Source, Stage};
use crate::driver::{Code, LinkedSlot, SlotLocations, Target};
use crate::error::CompileError;

/// Shaders that cannot be linked.
#[derive(Debug, Error)]
pub enum LinkError {
    /// There are not two.
    #[error("two or more shaders are linked, of different stages; there is {0}")]
    TooFew(usize),
    /// Two shaders of one stage.
    #[error("there are two {} shaders; a pipeline has one of each stage", name(*.0))]
    SameStage(ShaderStage),
    /// A stage that has no other before or behind it.
    #[error("{} shaders are linked with no others; translate them alone", name(*.0))]
    Alone(ShaderStage),
    /// Two stages that do not follow each other.
    #[error("a {} shader does not follow a {} shader{}", name(*.next), name(*.stage), missing(*.stage))]
    Order {
        /// The stage.
        stage: ShaderStage,
        /// The stage that is next among those that were given.
        next: ShaderStage,
    },
    /// The code must keep the interface of the source.
    #[error("the target keeps declarations as they are (`virgl`): shaders are not linked for it")]
    KeepsInterface,
    /// A shader cannot be compiled.
    #[error("{error}")]
    Compile {
        /// The number of the shader, in the order in which they were given.
        shader: usize,
        /// Its error.
        error: CompileError,
    },
}

/// The stage in words.
fn name(stage: ShaderStage) -> String {
    match stage {
        ShaderStage::TessCtrl => "tessellation control".to_owned(),
        ShaderStage::TessEval => "tessellation evaluation".to_owned(),
        stage => format!("{stage:?}").to_lowercase(),
    }
}

fn missing(stage: ShaderStage) -> &'static str {
    match stage {
        ShaderStage::TessCtrl => "; a tessellation evaluation shader must stand between them",
        _ => "",
    }
}

/// A shader that was linked.
#[derive(Debug)]
pub struct Linked {
    /// The number of the shader, in the order in which they were given.
    pub input: usize,
    /// Its stage.
    pub stage: ShaderStage,
    /// What the code was made of.
    pub lowered: tgsi_ir::Shader,
    /// The code.
    pub code: Code,
    /// The level at which it was optimised: lower than the compiler's once the budget is spent.
    pub level: Level,
    /// The target, with the locations that linking gave.
    pub target: Arc<dyn Target>,
    /// Instructions of the IR, optimised before linking and again after it.
    pub instructions: [usize; 2],
}

/// The shaders of a pipeline.
#[derive(Debug)]
pub struct Program {
    /// The shaders, in the order of the pipeline.
    pub shaders: Vec<Linked>,
    /// What linking changed between each shader and the next.
    pub reports: Vec<LinkReport>,
}

/// Whether a stage may follow another.
const fn follows(stage: ShaderStage, next: ShaderStage) -> bool {
    use ShaderStage::{Fragment, Geometry, TessCtrl, TessEval, Vertex};
    matches!(
        (stage, next),
        (Vertex, TessCtrl | TessEval | Geometry | Fragment)
            | (TessCtrl, TessEval)
            | (TessEval, Geometry | Fragment)
            | (Geometry, Fragment)
    )
}

/// Both shaders of a pair.
fn pair<'a, 'c>(
    shaders: &'a mut [Compilation<'c>],
    first: usize,
) -> Option<(&'a mut Compilation<'c>, &'a mut Compilation<'c>)> {
    match shaders.get_mut(first..first + 2) {
        Some([first, second]) => Some((first, second)),
        _ => None,
    }
}

/// Numbers the slots that the first shader of a pair declares. What only the second declares is zero, and gets no
/// location.
fn slot_locations(producer: &tgsi_ir::Shader, consumer: &tgsi_ir::Shader) -> SlotLocations {
    let readers = linked_slots(consumer, false);
    let slot = |(patch, slot), location| {
        // A fragment shader may read the back colour in place of the front colour, which alone it declares.
        let reader = readers.get(&(patch, slot)).or_else(|| readers.get(&(patch, front_color(slot)?)));
        let reader = reader.map(|&variable| &consumer.variables[variable]);
        LinkedSlot {
            location,
            interpolation: reader.map_or(InterpMode::None, |reader| reader.interpolation),
            centroid: reader.is_some_and(|reader| reader.centroid),
            sample: reader.is_some_and(|reader| reader.sample),
        }
    };
    linked_slots(producer, true).into_keys().zip(0..).map(|(key, location)| (key, slot(key, location))).collect()
}

impl Compiler {
    /// Compiles the shaders of a pipeline, in any order, together.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn link(&self, sources: Vec<Source<'_>>, options: &LinkOptions) -> Result<Program, LinkError> {
        if sources.len() < 2 {
            return Err(LinkError::TooFew(sources.len()));
        }
        if self.target().keeps_interface() {
            return Err(LinkError::KeepsInterface);
        }
        let mut started = Vec::new();
        for (shader, source) in sources.into_iter().enumerate() {
            let compilation = self.start(source).map_err(|error| LinkError::Compile { shader, error })?;
            started.push((shader, compilation));
        }
        started.sort_by_key(|(_, compilation)| compilation.ir.stage as u8);
        let (numbers, mut shaders): (Vec<usize>, Vec<Compilation<'_>>) = started.into_iter().unzip();
        for two in shaders.windows(2) {
            let (stage, next) = (two[0].ir.stage, two[1].ir.stage);
            if stage == next {
                return Err(LinkError::SameStage(stage));
            }
            if let Some(alone) = [stage, next].into_iter().find(|&stage| stage > ShaderStage::Fragment) {
                return Err(LinkError::Alone(alone));
            }
            if !follows(stage, next) {
                return Err(LinkError::Order { stage, next });
            }
        }
        for (shader, compilation) in numbers.iter().zip(&mut shaders) {
            let result = compilation.advance(Stage::Ssa);
            result.map_err(|error| LinkError::Compile { shader: *shader, error })?;
            compilation.optimize_early();
        }
        let before: Vec<usize> = shaders.iter().map(|compilation| count_instructions(&compilation.ir)).collect();
        let reports = self.link_pairs(&mut shaders, options);
        shaders.iter_mut().for_each(Compilation::optimize_early);
        let after: Vec<usize> = shaders.iter().map(|compilation| count_instructions(&compilation.ir)).collect();
        let locations: Vec<SlotLocations> =
            shaders.windows(2).map(|two| slot_locations(&two[0].ir, &two[1].ir)).collect();
        let mut linked = Vec::new();
        let mut target = Arc::clone(&self.target);
        for (place, (input, compilation)) in numbers.into_iter().zip(shaders).enumerate() {
            let inputs = place.checked_sub(1).and_then(|pair| locations.get(pair));
            let mut own = self.clone();
            own.target = match target.with_locations(inputs, locations.get(place)) {
                Some(located) => Arc::from(located),
                None => Arc::clone(&target),
            };
            let result = compilation.finish_for(&own);
            let (lowered, level, code) = result.map_err(|error| LinkError::Compile { shader: input, error })?;
            if let Some(next) = target.behind(&code) {
                target = Arc::from(next);
            }
            let instructions = [&before, &after].map(|counts| counts.get(place).copied().unwrap_or(0));
            linked.push(Linked { input, stage: lowered.stage, lowered, code, level, target: own.target, instructions });
        }
        Ok(Program { shaders: linked, reports })
    }

    fn link_pairs(&self, shaders: &mut [Compilation<'_>], options: &LinkOptions) -> Vec<LinkReport> {
        let pairs = shaders.len() - 1;
        let last = LinkOptions {
            captured: options.captured.iter().copied().chain(self.target().captured_outputs()).collect(),
            ..options.clone()
        };
        // What is captured are outputs of the last stage before the rasteriser.
        let own_options = |shaders: &[Compilation<'_>], first: usize| {
            let is_last = shaders.get(first + 1).is_none_or(|next| next.ir.stage == ShaderStage::Fragment);
            if is_last { last.clone() } else { LinkOptions { captured: Vec::new(), ..options.clone() } }
        };
        let mut reports = vec![LinkReport::default(); pairs];
        for first in (0..pairs).chain((0..pairs).rev()) {
            let options = own_options(shaders, first);
            let Some((producer, consumer)) = pair(shaders, first) else { continue };
            let report = link_varyings(&mut producer.ir, &mut consumer.ir, &options);
            let total = &mut reports[first];
            if total.slots_before == 0 {
                total.slots_before = report.slots_before;
            }
            total.removed += report.removed;
            total.zeros += report.zeros;
            total.constants += report.constants;
            total.uniforms += report.uniforms;
            total.duplicates += report.duplicates;
            if report.is_changed() {
                producer.optimize_early();
                consumer.optimize_early();
            }
        }
        for (first, total) in reports.iter_mut().enumerate() {
            let options = own_options(shaders, first);
            let Some((producer, consumer)) = pair(shaders, first) else { continue };
            total.slots_after = pack_varyings(&mut producer.ir, &mut consumer.ir, &options).slots_after;
        }
        reports
    }
}

impl<'c> Compilation<'c> {
    /// Optimises SSA as far as it can be changed behind that.
    fn optimize_early(&mut self) {
        let options = self.compiler.target.compiler_options(self.ir.stage);
        pipeline::optimize_early(&mut self.ir, &options, self.level, &mut self.passes);
    }

    /// Compiles to code with another target of the same driver; also gives what the code was made of.
    fn finish_for(self, compiler: &Compiler) -> Result<(tgsi_ir::Shader, Level, Code), CompileError> {
        let Compilation { ir, stage, interface, places, level, .. } = self;
        let mut own = Compilation { compiler, ir, stage, interface, places, passes: compiler.passes(), level };
        own.advance(Stage::Registers)?;
        let lowered = own.ir.clone();
        let level = own.level();
        Ok((lowered, level, own.finish()?))
    }
}
