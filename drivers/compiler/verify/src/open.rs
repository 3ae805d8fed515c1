//! Finds open words of results: words that Vulkan, the SPIR-V driver or a target without integers leaves undefined
//! because of an operation in the shader. For each kind of operation, the shader is also run with these operations
//! changed; a word is open if that changes it.

use std::collections::BTreeSet;

use tgsi_compiler::{Target, TextureLimits};
use tgsi_environment::{Inputs, RunLimits};
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::body::{Body, Swizzle, TexSrcKind};
use tgsi_ir::builder::{AluSrc, Builder};
use tgsi_ir::cursor::Cursor;
use tgsi_ir::entities::{Def, Inst};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_run::vectors::{Comparison, Vector};

use crate::executor::{Executor, RunResult};
use crate::inputs::InputKind;
use crate::mismatch::Rule;
use crate::without_integers;

/// A kind of undefined results.
pub struct UndefinedOperation {
    /// The undefined operation, for reports.
    pub name: &'static str,
    /// Changes an instruction of that kind. Returns false for other instructions.
    pub change: fn(&mut Body, Inst) -> bool,
    /// A word is open if this rule finds that it differs from that of the unchanged shader.
    pub rule: Rule,
}

impl UndefinedOperation {
    /// A kind that changes results to arbitrary others: a word that changes at all is open.
    pub const fn of(name: &'static str, change: fn(&mut Body, Inst) -> bool) -> UndefinedOperation {
        UndefinedOperation { name, change, rule: Rule::Exact }
    }

    /// A kind that changes results by their error bound: a word that is no longer close is open.
    pub const fn of_error(name: &'static str, change: fn(&mut Body, Inst) -> bool) -> UndefinedOperation {
        UndefinedOperation { name, change, rule: Rule::Close(InputKind::Floats) }
    }
}

const KINDS: &[UndefinedOperation] = &[
    UndefinedOperation::of("sine of an angle beyond [-pi, pi]", |body, inst| change_periodic(body, inst, AluOp::Fsin)),
    UndefinedOperation::of("cosine of an angle beyond [-pi, pi]", |body, inst| {
        change_periodic(body, inst, AluOp::Fcos)
    }),
    UndefinedOperation::of("buffer at an address that is not a multiple of four", change_address),
    UndefinedOperation::of("denormal as an operand of a float operation", flush_operands),
    UndefinedOperation::of("NaN in an operation", |body, inst| change_nan(body, inst, 1.25)),
    UndefinedOperation::of("NaN in an operation", |body, inst| change_nan(body, inst, -1e30)),
];

/// Changes the value of a sine or cosine beyond [-pi, pi].
fn change_periodic(body: &mut Body, inst: Inst, op: AluOp) -> bool {
    let Some(def) = body.inst_def(inst).filter(|_| body.alu_op(inst) == Some(op)) else { return false };
    let source = AluSrc::of(body, body.source(inst, 0));
    let count = body.num_components(def);
    let mut b = Builder::new(body, Cursor::After(inst));
    let angle = b.alu_sized(AluOp::Fabs, count, &[source]);
    let (pi, one) = (b.f32_const(std::f32::consts::PI), b.f32_const(1.25));
    let (pi, one) = (AluSrc::component(pi, 0), AluSrc::component(one, 0));
    let is_within = b.alu_sized(AluOp::Fge, count, &[pi, angle.into()]);
    let other = b.alu_sized(AluOp::Fadd, count, &[def.into(), one]);
    let result = b.alu_sized(AluOp::Bcsel, count, &[is_within.into(), def.into(), other.into()]);
    let other = b.body.def_inst(other);
    let result_inst = b.body.def_inst(result);
    let uses = b.body.source(result_inst, 1);
    body.replace_uses_except(def, result, other);
    // The selection must read the original value.
    body.set_src(uses, def);
    true
}

/// Rounds the address of a buffer access down to a multiple of four, as the driver does.
pub fn change_address(body: &mut Body, inst: Inst) -> bool {
    let number = match body.intrinsic(inst) {
        Some(IntrinsicOp::LoadSsbo | IntrinsicOp::SsboAtomic | IntrinsicOp::SsboAtomicSwap) => 1,
        Some(IntrinsicOp::StoreSsbo) => 2,
        _ => return false,
    };
    round_address(body, inst, number)
}

/// Rounds the address of a load of uniforms down to a multiple of four.
pub fn change_uniform_address(body: &mut Body, inst: Inst) -> bool {
    body.intrinsic(inst) == Some(IntrinsicOp::LoadUbo) && round_address(body, inst, 1)
}

/// Rounds the address in a source down to a multiple of four.
fn round_address(body: &mut Body, inst: Inst, number: usize) -> bool {
    let address = body.src(inst, number);
    let mut b = Builder::new(body, Cursor::Before(inst));
    let mask = b.u32_const(!3);
    let rounded = b.alu(AluOp::Iand, &[address, mask]);
    let source = body.source(inst, number);
    body.set_src(source, rounded);
    true
}

/// Flushes denormal operands of 32-bit float operations, and of divisions by projectors, to zero, keeping the sign.
fn flush_operands(body: &mut Body, inst: Inst) -> bool {
    if flush_projection(body, inst) {
        return true;
    }
    let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { return false };
    let info = op.info();
    let mut has_any = false;
    for number in 0..body.num_sources(inst) {
        let source = body.source(inst, number);
        if info.input_types[number].base != BaseType::Float || body.bit_size(body.src_def(source)) != 32 {
            continue;
        }
        let count = op.input_components(number, body.num_components(def));
        let operand = AluSrc::of(body, source);
        let flushed = flush(&mut Builder::new(body, Cursor::Before(inst)), operand, count);
        body.set_src(source, flushed);
        body.set_swizzle(source, Swizzle::IDENTITY);
        has_any = true;
    }
    has_any
}

/// Flushes the operands of a lookup that are divided, and the divisor.
pub fn flush_projection(body: &mut Body, inst: Inst) -> bool {
    use TexSrcKind::{Comparator, Coord, Projector};
    if body.tex(inst).is_none() || body.tex_src(inst, Projector).is_none() {
        return false;
    }
    let mut has_any = false;
    for source in [Coord, Comparator, Projector].map(|kind| body.tex_src(inst, kind)).into_iter().flatten() {
        let def = body.src_def(source);
        if body.bit_size(def) == 32 {
            let count = body.num_components(def);
            let flushed = flush(&mut Builder::new(body, Cursor::Before(inst)), def.into(), count);
            body.set_src(source, flushed);
            has_any = true;
        }
    }
    has_any
}

/// Multiplies the operands of a lookup by the reciprocal of the projector, which becomes 1.
pub fn multiply_by_reciprocal(body: &mut Body, inst: Inst) -> bool {
    use TexSrcKind::{Comparator, Coord, Projector};
    let projector = body.tex(inst).and_then(|_| body.tex_src(inst, Projector));
    let Some(projector) = projector.filter(|&source| body.bit_size(body.src_def(source)) == 32) else { return false };
    let divisor = AluSrc::component(body.src_def(projector), 0);
    for source in [Coord, Comparator].map(|kind| body.tex_src(inst, kind)).into_iter().flatten() {
        let def = body.src_def(source);
        let count = body.num_components(def);
        let mut b = Builder::new(body, Cursor::Before(inst));
        let reciprocal = b.alu_sized(AluOp::Frcp, 1, &[divisor]);
        let product = b.alu_sized(AluOp::Fmul, count, &[def.into(), AluSrc::component(reciprocal, 0)]);
        body.set_src(source, product);
    }
    let one = Builder::new(body, Cursor::Before(inst)).f32_const(1.0);
    body.set_src(projector, one);
    true
}

/// Makes a projector infinite whose reciprocal is denormal.
pub fn flush_reciprocal(body: &mut Body, inst: Inst) -> bool {
    let projector = body.tex(inst).and_then(|_| body.tex_src(inst, TexSrcKind::Projector));
    let Some(source) = projector.filter(|&source| body.bit_size(body.src_def(source)) == 32) else { return false };
    let old = body.src_def(source);
    let mut b = Builder::new(body, Cursor::Before(inst));
    let limit = b.f32_const(1.0 / f32::MIN_POSITIVE);
    let magnitude = b.alu_sized(AluOp::Fabs, 1, &[AluSrc::component(old, 0)]);
    let is_large = b.alu(AluOp::Flt, &[limit, magnitude]);
    let infinity = b.f32_const(f32::INFINITY);
    let changed = b.alu_sized(AluOp::Bcsel, 1, &[is_large.into(), infinity.into(), AluSrc::component(old, 0)]);
    body.set_src(source, changed);
    true
}

/// Replaces denormal components by zeros.
fn flush(b: &mut Builder<'_>, operand: AluSrc, count: u8) -> Def {
    let (zero, tiny) = (b.f32_const(0.0), b.f32_const(f32::MIN_POSITIVE));
    let (zero, tiny) = (AluSrc::component(zero, 0), AluSrc::component(tiny, 0));
    let magnitude = b.alu_sized(AluOp::Fabs, count, &[operand]);
    let is_tiny = b.alu_sized(AluOp::Flt, count, &[magnitude.into(), tiny]);
    let is_not_zero = b.alu_sized(AluOp::Flt, count, &[zero, magnitude.into()]);
    let small = b.alu_sized(AluOp::Bcsel, count, &[is_not_zero.into(), zero, operand]);
    b.alu_sized(AluOp::Bcsel, count, &[is_tiny.into(), small.into(), operand])
}

/// Changes the result of an operation on 32-bit floats if an operand or the result is NaN: only devices with
/// `SignedZeroInfNanPreserve` keep NaN, and others may give comparisons with it any result.
fn change_nan(body: &mut Body, inst: Inst, number: f32) -> bool {
    let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { return false };
    let info = op.info();
    let output = info.output_type.base;
    let numbers = (0..body.num_sources(inst)).filter(|&number| {
        let def = body.src_def(body.source(inst, number));
        info.input_types[number].base == BaseType::Float && info.input_sizes[number] == 0 && body.bit_size(def) == 32
    });
    let mut floats: Vec<AluSrc> = numbers.map(|number| AluSrc::of(body, body.source(inst, number))).collect();
    if output == BaseType::Float && body.bit_size(def) == 32 {
        floats.push(def.into());
    }
    if floats.is_empty() || op.is_vec_or_mov() {
        return false;
    }
    without_integers::change_result(body, inst, def, |b, result, count| {
        let nan = floats.iter().map(|&float| b.alu_sized(AluOp::Fneu, count, &[float, float]));
        let nan: Vec<Def> = nan.collect();
        let is_nan = nan.into_iter().reduce(|any, is_nan| b.alu_sized(AluOp::Ior, count, &[any.into(), is_nan.into()]));
        let Some(is_nan) = is_nan else { return result.def };
        let other = match output {
            BaseType::Float if b.body.bit_size(def) == 32 => AluSrc::component(b.f32_const(number), 0),
            _ => b.alu_sized(AluOp::Inot, count, &[result]).into(),
        };
        b.alu_sized(AluOp::Bcsel, count, &[is_nan.into(), other, result])
    });
    true
}

/// Returns a shader with all instructions of these kinds changed; `None` if it has none.
fn changed_shader(shader: &tgsi_ir::Shader, kinds: &[&UndefinedOperation]) -> Option<tgsi_ir::Shader> {
    let mut shader = shader.clone();
    let mut has_any = false;
    for body in shader.bodies_mut() {
        // Excludes instructions that a change adds.
        let insts: Vec<Inst> = body.blocks().flat_map(|block| body.insts(block)).collect();
        for inst in insts {
            for kind in kinds {
                has_any |= (kind.change)(body, inst);
            }
        }
    }
    has_any.then_some(shader)
}

/// Returns all choices of one kind for each name, except kinds that change results by their error bound.
fn combinations<'k>(kinds: &[&'k UndefinedOperation]) -> Vec<Vec<&'k UndefinedOperation>> {
    let mut chosen: Vec<Vec<&UndefinedOperation>> = vec![Vec::new()];
    let exact = || kinds.iter().copied().filter(|kind| kind.rule == Rule::Exact);
    let mut names: Vec<&str> = exact().map(|kind| kind.name).collect();
    names.dedup();
    for name in names {
        let with = |chosen: &Vec<&'k UndefinedOperation>| -> Vec<Vec<&'k UndefinedOperation>> {
            exact().filter(|kind| kind.name == name).map(|kind| [&chosen[..], &[kind]].concat()).collect()
        };
        chosen = chosen.iter().flat_map(with).collect();
    }
    chosen
}

/// A shader, and its changed versions for the kinds that occur in it.
pub struct OpenResults {
    unchanged: Option<Executor>,
    changed: Vec<(&'static str, Rule, Executor)>,
}

/// The results of a run of all of them.
pub struct OpenRun {
    /// Results of the unchanged shader. Errors in these are not open.
    pub unchanged: RunResult,
    /// Results of the changed shaders, each with the rule for comparing it with the unchanged one.
    pub changed: Vec<(Rule, RunResult)>,
}

impl OpenResults {
    /// Finds words that a device leaves open, for the lowered shader.
    pub fn new(shader: &tgsi_ir::Shader) -> OpenResults {
        OpenResults::of_kinds(KINDS.iter(), shader)
    }

    /// Finds words that an interpreter leaves open for an optimised shader, because the target lacks instructions,
    /// mainly integer ones.
    pub fn of_target(optimized: &tgsi_ir::Shader, target: &dyn Target) -> OpenResults {
        let kinds = without_integers::kinds(target, optimized.stage);
        let mut all = OpenResults::of_kinds(kinds.iter().copied(), optimized);
        // An open word may become an operand of another open operation.
        if all.changed.len() > 1 {
            let together = combinations(&kinds).into_iter().filter_map(|kinds| changed_shader(optimized, &kinds));
            all.changed.extend(together.map(|shader| ("several together", Rule::Exact, Executor::ir(&shader))));
        }
        all
    }

    /// Sets the limits of textures and images.
    pub(crate) fn with_textures(self, textures: TextureLimits) -> OpenResults {
        let changed = self.changed.into_iter().map(|(name, rule, shader)| (name, rule, shader.with_textures(textures)));
        OpenResults {
            changed: changed.collect(),
            unchanged: self.unchanged.map(|shader| shader.with_textures(textures)),
        }
    }

    fn of_kinds<'k>(kinds: impl Iterator<Item = &'k UndefinedOperation>, shader: &tgsi_ir::Shader) -> OpenResults {
        let changed =
            kinds.filter_map(|kind| Some((kind.name, kind.rule, Executor::ir(&changed_shader(shader, &[kind])?))));
        let changed: Vec<_> = changed.collect();
        OpenResults { unchanged: (!changed.is_empty()).then(|| Executor::ir(shader)), changed }
    }

    /// Returns the kind because of which a run need not terminate, if any.
    pub fn endless(&self, inputs: &Inputs, limits: RunLimits) -> Option<&'static str> {
        self.changed.iter().find(|(.., changed)| changed.run(inputs, limits).is_err()).map(|&(name, ..)| name)
    }

    /// Runs all shaders; returns `None` if nothing is open, or the shader does not terminate.
    pub fn run(&self, inputs: &Inputs, limits: RunLimits) -> Option<OpenRun> {
        let unchanged = self.unchanged.as_ref()?.run(inputs, limits).ok()?;
        let run = |(_, rule, changed): &(_, Rule, Executor)| Some((*rule, changed.run(inputs, limits).ok()?));
        Some(OpenRun { unchanged, changed: self.changed.iter().filter_map(run).collect() })
    }

    /// Excludes open words from a comparison. Returns the number of excluded words for each kind.
    pub fn excuse(
        &self,
        vector: &Vector,
        inputs: &Inputs,
        limits: RunLimits,
        comparison: &mut Comparison,
    ) -> Vec<(&'static str, usize)> {
        let mut counts = Vec::new();
        let unchanged = self.unchanged.as_ref().and_then(|unchanged| unchanged.run(inputs, limits).ok());
        let Some(unchanged) = unchanged.map(|result| vector.with_results(&result.outputs)) else { return counts };
        for (name, _, changed) in &self.changed {
            let Ok(changed) = changed.run(inputs, limits) else { continue };
            let changed = unchanged.compare(&changed.outputs);
            let open: BTreeSet<String> = changed.different.into_iter().map(|word| word.position).collect();
            let before = comparison.different.len();
            comparison.different.retain(|word| !open.contains(&word.position));
            counts.push((*name, before - comparison.different.len()));
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use tgsi_compiler::{Compiler, Driver, Stage};

    use super::*;

    /// Returns the open words of results that are all wrong, with 1e9 in each input.
    fn open(code: &str) -> (Vec<(&'static str, usize)>, Vec<String>) {
        let text = format!(
            "VERT\nDCL IN[0]\nDCL OUT[0], GENERIC[0]\nDCL OUT[1], GENERIC[1]\nDCL TEMP[0..1]\nDCL BUFFER[0]\nDCL CONST[0]\n{code}\nEND\n"
        );
        let shader = tgsi::text::parse(text.as_bytes()).expect("valid text").shader;
        let target = tgsi_driver_spirv::DRIVER.target(&[]).expect("no options");
        let lowered = Compiler::for_target(target.into()).ir_at(Stage::Registers, &shader).expect("IR");
        let (word, wrong) = ("4e6e6b28".repeat(16), "41000000".repeat(16));
        let buffer = (0..8).map(|n| format!("{n:08x}")).collect::<String>();
        let line = format!(
            "{{\"f\":\"\",\"seed\":0,\"in\":{{\"0\":\"{word}\"}},\"out\":{{\"0\":\"{wrong}\",\"1\":\"{wrong}\"}},\
             \"buf_in\":{{\"0\":\"{buffer}\"}},\"live\":15}}"
        );
        let vector = Vector::parse(&line).expect("a vector");
        let inputs = vector.inputs(&shader);
        let limits = RunLimits::default();
        // Records the results that the shader computes.
        let right = Executor::ir(&lowered).run(&inputs, limits).expect("a run").outputs;
        let mut comparison = vector.compare(&right);
        let recorded = vector.with_results(&right);
        let results = OpenResults::new(&lowered);
        let mut counts = results.excuse(&recorded, &inputs, limits, &mut comparison);
        counts.retain(|&(_, words)| words > 0);
        (counts, comparison.different.into_iter().map(|word| word.position).collect())
    }

    #[test]
    fn only_what_depends_on_the_place_is_open() {
        let (counts, rest) = open("SIN OUT[0].x, IN[0].xxxx\nMUL OUT[1].x, IN[0].xxxx, IN[0].xxxx");
        assert_eq!(counts, [("sine of an angle beyond [-pi, pi]", 4)]);
        assert_eq!(rest.iter().filter(|position| position.starts_with("OUT[0].x")).count(), 0);
        assert_eq!(rest.iter().filter(|position| position.starts_with("OUT[1].x")).count(), 4);
        // The angle is small.
        let (counts, _) = open("RCP TEMP[0].x, IN[0].xxxx\nCOS OUT[0].x, TEMP[0].xxxx\nMOV OUT[1], IN[0]");
        assert_eq!(counts, []);
        let (counts, _) = open(
            "IMM[0] UINT32 {4, 6, 0, 0}\nLOAD OUT[0].x, BUFFER[0], IMM[0].xxxx\n\
                                LOAD OUT[1].x, BUFFER[0], IMM[0].yyyy",
        );
        assert_eq!(counts, [("buffer at an address that is not a multiple of four", 4)]);
        let (counts, _) = open(
            "IMM[0] FLT32 {0.0, 1e30, 0.0, 0.0}\nMUL TEMP[0].x, IN[0].xxxx, IMM[0].yyyy\nMUL TEMP[0].x, TEMP[0].xxxx, IN[0].xxxx\n\
             MUL TEMP[0].x, TEMP[0].xxxx, -IN[0].xxxx\nMUL_SAT OUT[0].x, TEMP[0].xxxx, CONST[0].xxxx",
        );
        assert_eq!(counts, [("NaN in an operation", 4)]);
        let denormal = "denormal as an operand of a float operation";
        let (counts, rest) = open(
            "RCP TEMP[0].x, IN[0].xxxx\nMUL TEMP[0].y, TEMP[0].xxxx, TEMP[0].xxxx\n\
             MUL TEMP[0].z, TEMP[0].yyyy, TEMP[0].yyyy\nMUL TEMP[0].w, TEMP[0].zzzz, TEMP[0].xxxx\n\
             LG2 OUT[0].x, TEMP[0].wwww\nMOV OUT[1].x, TEMP[0].wwww\nLG2 OUT[1].y, TEMP[0].zzzz",
        );
        assert_eq!(counts, [(denormal, 4)]);
        assert_eq!(rest.iter().filter(|position| position.starts_with("OUT[0].x")).count(), 0);
        assert_eq!(rest.iter().filter(|position| position.starts_with("OUT[1].x")).count(), 4);
    }
}
