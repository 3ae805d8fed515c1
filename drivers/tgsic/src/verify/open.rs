//! Words of results that are left open by Vulkan, or by the driver for SPIR-V, for what a shader does on the way: each
//! kind is found by running the shader changed in that place, and a word is open if that changes it.

use std::collections::BTreeSet;

use tgsi::run::vectors::{Comparison, Vector};
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Body;
use tgsi_ir::builder::Builder;
use tgsi_ir::cursor::Cursor;
use tgsi_ir::entities::Inst;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::run::environment::{Inputs, RunLimits};

use super::executor::run_ir;

/// A kind of results that are left open.
struct Kind {
    /// What is left open, for reports.
    name: &'static str,
    /// Changes an instruction of that kind. Returns whether it is one.
    change: fn(&mut Body, Inst) -> bool,
}

const KINDS: &[Kind] = &[
    Kind { name: "sine of an angle beyond [-pi, pi]", change: |body, inst| change_periodic(body, inst, AluOp::Fsin) },
    Kind { name: "cosine of an angle beyond [-pi, pi]", change: |body, inst| change_periodic(body, inst, AluOp::Fcos) },
    Kind { name: "buffer at an address that is no multiple of four", change: change_address },
];

/// Gives a sine or cosine beyond [-pi, pi] another value.
fn change_periodic(body: &mut Body, inst: Inst, op: AluOp) -> bool {
    let Some(def) = body.inst_def(inst).filter(|_| body.alu_op(inst) == Some(op)) else { return false };
    let source = tgsi_ir::builder::AluSrc::of(body, body.source(inst, 0));
    let count = body.num_components(def);
    let mut b = Builder::new(body, Cursor::After(inst));
    let angle = b.alu_sized(AluOp::Fabs, count, &[source]);
    let (pi, one) = (b.f32_const(std::f32::consts::PI), b.f32_const(1.25));
    let (pi, one) = (tgsi_ir::builder::AluSrc::component(pi, 0), tgsi_ir::builder::AluSrc::component(one, 0));
    let is_within = b.alu_sized(AluOp::Fge, count, &[pi, angle.into()]);
    let other = b.alu_sized(AluOp::Fadd, count, &[def.into(), one]);
    let result = b.alu_sized(AluOp::Bcsel, count, &[is_within.into(), def.into(), other.into()]);
    let other = b.body.def_inst(other);
    let result_inst = b.body.def_inst(result);
    let uses = b.body.source(result_inst, 1);
    body.replace_uses_except(def, result, other);
    // The selection itself reads what was there.
    body.set_src(uses, def);
    true
}

/// Rounds the address of an access to a buffer down to that of a word, as the driver does.
fn change_address(body: &mut Body, inst: Inst) -> bool {
    let number = match body.intrinsic(inst) {
        Some(IntrinsicOp::LoadSsbo | IntrinsicOp::SsboAtomic | IntrinsicOp::SsboAtomicSwap) => 1,
        Some(IntrinsicOp::StoreSsbo) => 2,
        _ => return false,
    };
    let address = body.src(inst, number);
    let mut b = Builder::new(body, Cursor::Before(inst));
    let mask = b.u32_const(!3);
    let rounded = b.alu(AluOp::Iand, &[address, mask]);
    let source = body.source(inst, number);
    body.set_src(source, rounded);
    true
}

/// A shader changed in the ways that have a place in it.
pub struct OpenResults(Vec<(&'static str, tgsi_ir::Shader)>);

impl OpenResults {
    /// Those of a shader as the driver's code is made of it.
    pub fn new(shader: &tgsi_ir::Shader) -> OpenResults {
        let changed = KINDS.iter().filter_map(|kind| {
            let mut shader = shader.clone();
            let body = shader.main_mut();
            let mut has_any = false;
            for block in body.blocks_vec() {
                for inst in body.insts_vec(block) {
                    has_any |= (kind.change)(body, inst);
                }
            }
            has_any.then_some((kind.name, shader))
        });
        OpenResults(changed.collect())
    }

    /// The kind because of which a run need not end, if there is one.
    pub fn endless(&self, inputs: &Inputs, limits: RunLimits) -> Option<&'static str> {
        self.0.iter().find(|(_, shader)| run_ir(shader, inputs, limits).is_err()).map(|&(name, _)| name)
    }

    /// Leaves words that are open out of a comparison. Returns how many are so for each kind.
    pub fn excuse(
        &self,
        vector: &Vector,
        inputs: &Inputs,
        limits: RunLimits,
        comparison: &mut Comparison,
    ) -> Vec<(&'static str, usize)> {
        let mut counts = Vec::new();
        for (name, shader) in &self.0 {
            let Ok(changed) = run_ir(shader, inputs, limits) else { continue };
            let changed = vector.compare(&changed.outputs);
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
    use tgsi_compiler::{Compiler, Stage};

    use super::*;

    /// What is open of results that are all wrong, with 1e9 in each input.
    fn open(code: &str) -> (Vec<(&'static str, usize)>, Vec<String>) {
        let text = format!(
            "VERT\nDCL IN[0]\nDCL OUT[0], GENERIC[0]\nDCL OUT[1], GENERIC[1]\nDCL TEMP[0..1]\nDCL BUFFER[0]\n{code}\nEND\n"
        );
        let shader = tgsi::text::parse(text.as_bytes()).expect("valid text").shader;
        let target = tgsi_drivers::find("spirv").expect("the driver").target(&[]).expect("no options");
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
        // What was recorded is what the shader computes.
        let right = run_ir(&lowered, &inputs, limits).expect("a run").outputs;
        let mut comparison = vector.compare(&right);
        let recorded = vector.with_results(&right);
        let results = OpenResults::new(&lowered);
        let counts = results.excuse(&recorded, &inputs, limits, &mut comparison);
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
        assert_eq!(counts, [("cosine of an angle beyond [-pi, pi]", 0)]);
        let (counts, _) = open(
            "IMM[0] UINT32 {4, 6, 0, 0}\nLOAD OUT[0].x, BUFFER[0], IMM[0].xxxx\n\
                                LOAD OUT[1].x, BUFFER[0], IMM[0].yyyy",
        );
        assert_eq!(counts, [("buffer at an address that is no multiple of four", 4)]);
    }
}
