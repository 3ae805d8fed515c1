//! Compiles the shaders of a pipeline together.
//!
//! ```text
//!              optimize     link_varyings, forth     back     pack_varyings
//! vertex   ────────────> ssa ──┐                      ^  │
//!                              v constants            │  v locations ──> opt ──> registers ──> code
//! fragment ────────────> ssa ──┴── optimised again ───┘ unread outputs
//! ```
//!
//! The forward walk moves constants and copies into the next stage, which may make outputs of that stage constant. The
//! backward walk removes outputs that the next stage no longer reads, together with the code that computed them. Then
//! each pair is packed, and both sides get the same locations.

use std::sync::Arc;

use tgsi_ir::intrinsics::indices::InterpMode;
use tgsi_ir::passes::linking::{LinkOptions, LinkReport, front_color, link_varyings, linked_slots, pack_varyings};
use tgsi_ir::passes::pass_manager::count_instructions;
use tgsi_ir::passes::pipeline::{self, OptLevel};
use tgsi_ir::shader::ShaderStage;
use thiserror::Error;

use crate::compiler::{Compilation, Compiler, Source, Stage};
use crate::driver::{Code, LinkedSlot, SlotLocations, Target};
use crate::error::CompileError;
use crate::front_end::Interface;

/// Shaders that cannot be linked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LinkError {
    /// A pipeline without shaders.
    #[error("there are no shaders to link")]
    Empty,
    /// Two shaders of one stage.
    #[error("there are two {} shaders; a pipeline has one of each stage", name(*.0))]
    SameStage(ShaderStage),
    /// A stage that cannot be linked with others.
    #[error("{} shaders cannot be linked; translate them alone", name(*.0))]
    Alone(ShaderStage),
    /// Two stages that cannot follow each other.
    #[error("a {} shader does not follow a {} shader{}", name(*.next), name(*.stage), missing(*.stage))]
    Order {
        /// The stage.
        stage: ShaderStage,
        /// The next stage among the given ones.
        next: ShaderStage,
    },
    /// The code must keep the interface of the source.
    #[error("the target keeps declarations unchanged (`virgl`), so shaders cannot be linked for it")]
    KeepsInterface,
    /// A shader cannot be compiled.
    #[error("{error}")]
    Compile {
        /// The index of the shader in the input.
        shader: usize,
        /// Its error.
        error: CompileError,
    },
}

/// The name of the stage.
fn name(stage: ShaderStage) -> String {
    match stage {
        ShaderStage::TessCtrl => "tessellation control".to_owned(),
        ShaderStage::TessEval => "tessellation evaluation".to_owned(),
        stage => format!("{stage:?}").to_lowercase(),
    }
}

fn missing(stage: ShaderStage) -> &'static str {
    match stage {
        ShaderStage::TessCtrl => "; a tessellation evaluation shader is required between them",
        _ => "",
    }
}

/// A linked shader.
#[derive(Debug)]
#[non_exhaustive]
pub struct Linked {
    /// The index of the shader in the input.
    pub input: usize,
    /// Its stage.
    pub stage: ShaderStage,
    /// The IR from which the code was emitted.
    pub lowered: tgsi_ir::Shader,
    /// The code.
    pub code: Code,
    /// The level at which it was optimised: lower than the compiler's once the budget is spent.
    pub level: OptLevel,
    /// The target, with the locations assigned by linking.
    pub target: Arc<dyn Target>,
    /// Instructions of the optimised IR, before and after linking.
    pub instructions: [usize; 2],
}

/// The shaders of a pipeline.
#[derive(Debug)]
#[non_exhaustive]
pub struct Program {
    /// The shaders, in pipeline order.
    pub shaders: Vec<Linked>,
    /// The changes that linking made between each shader and the next.
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

/// Returns both shaders of a pair.
fn pair<'a, 'c>(
    shaders: &'a mut [Compilation<'c>],
    first: usize,
) -> Option<(&'a mut Compilation<'c>, &'a mut Compilation<'c>)> {
    match shaders.get_mut(first..first + 2) {
        Some([first, second]) => Some((first, second)),
        _ => None,
    }
}

/// Numbers the slots that the first shader of a pair declares. Slots that only the second declares are zero and get no
/// location.
fn slot_locations(producer: &tgsi_ir::Shader, consumer: &tgsi_ir::Shader) -> SlotLocations {
    let readers = linked_slots(consumer, false);
    let slot = |(patch, slot), location| {
        // A fragment shader may read the back colour in place of the front colour, and declares only the front colour.
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
        self.link_with_names(sources, &[], options)
    }

    /// Like [`link`](Self::link), for shaders with these names, in the order of the shaders. Linking may move outputs
    /// of a stage that the next one reads: these have no names.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn link_with_names(
        &self,
        sources: Vec<Source<'_>>,
        names: &[Interface],
        options: &LinkOptions,
    ) -> Result<Program, LinkError> {
        if sources.is_empty() {
            return Err(LinkError::Empty);
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
        let last = shaders.len() - 1;
        for (place, (input, compilation)) in numbers.into_iter().zip(shaders).enumerate() {
            let inputs = place.checked_sub(1).and_then(|pair| locations.get(pair));
            let mut own = self.clone();
            own.target = match target.with_locations(inputs, locations.get(place)) {
                Some(located) => Arc::from(located),
                None => Arc::clone(&target),
            };
            if let Some(names) = names.get(input) {
                let mut names = names.clone();
                if place > 0 {
                    names.inputs.clear();
                }
                if place < last {
                    names.outputs.clear();
                }
                own = own.with_names(&names);
            }
            let result = compilation.finish_for(&own);
            let (lowered, level, code) = result.map_err(|error| LinkError::Compile { shader: input, error })?;
            if let Some(next) = target.following(&code) {
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
        // Outputs are captured only from the last stage before the rasteriser.
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
    /// Runs the early optimisations, after which the shader can still be linked.
    fn optimize_early(&mut self) {
        let options = self.compiler.target.compiler_options(self.ir.stage);
        pipeline::optimize_early(&mut self.ir, &options, self.level, &mut self.passes);
    }

    /// Compiles to code with another target of the same driver; also returns the lowered IR.
    fn finish_for(self, compiler: &Compiler) -> Result<(tgsi_ir::Shader, OptLevel, Code), CompileError> {
        let Compilation { ir, stage, interface, places, level, .. } = self;
        let mut own = Compilation { compiler, ir, stage, interface, places, passes: compiler.passes(), level };
        own.advance(Stage::Registers)?;
        let lowered = own.ir.clone();
        let level = own.level();
        Ok((lowered, level, own.finish()?))
    }
}
