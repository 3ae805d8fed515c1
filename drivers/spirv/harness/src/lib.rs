//! Turns a shader of any stage into a compute shader, so that a device that runs compute shaders can run it, and its
//! results can be compared.
//!
//! [`lift`] turns a shader of the IR into a compute shader of one workgroup, one invocation for each lane of a run. The
//! shader's environment is in one storage buffer, [`BUFFER`]: inputs, system values, outputs, emitted vertices, texels
//! of images, atomic counters, and whether a lane is alive. Lookups of textures are the arithmetic of
//! [`AnalyticResources`](tgsi_environment::AnalyticResources). Constant buffers, storage buffers, shared memory,
//! arithmetic, control flow and communication within a subgroup are not changed: they are tested.
//!
//! - `layout` has the words of the buffer, and [`Layout`], the parts that depend on the shader; `json` its text form.
//! - [`encode`] writes the buffer from [`Inputs`](tgsi_environment::Inputs), [`decode`] reads
//!   [`Outputs`](tgsi_environment::Outputs) from it.
//! - `io`, `system_values`, `texture`, `image`, `memory`, `lanes` and `loops` replace instructions of their subject.
//!
//! A driver for a device has a target for runs, which lowers like the driver's other targets, and lifts before
//! emission: `tgsi-spirv-vulkan` is an example. The registry finds it as the `run_target` of the driver's row.
//!
//! Invariants:
//! - The lifted shader is valid IR, and the IR's interpreter runs it with the results of the original.
//! - Quads are subgroups. If a subgroup has more than four invocations, all except its first four end immediately.
//! - As everywhere in the IR, out-of-range reads give 0 and writes are dropped. Accesses to a shader's own buffers and
//!   to shared memory that must have no effect are therefore redirected to `OUTSIDE`, without control flow. Accesses to
//!   the harness buffer are marked as in bounds: they are redirected to words that stay zero and to words that are
//!   never read, because a device with robust access may still read back values written out of range.
//! - Every loop ends: a lane that exceeds the limit of iterations in the buffer leaves all loops, and sets a flag
//!   there.

mod code;
mod decode;
mod encode;
mod image;
mod io;
mod json;
mod lanes;
mod layout;
mod loops;
mod memory;
mod system_values;
mod texture;

pub use decode::decode;
pub use encode::encode;
pub use layout::{BUFFER, Layout};

use tgsi_ir::body::InstData;
use tgsi_ir::entities::Inst;
use tgsi_ir::intrinsics::{IntrinsicKind, IntrinsicOp};
use tgsi_ir::passes;
use tgsi_ir::shader::{Shader, ShaderStage};
use tgsi_ir::variable::VariableModes;
use thiserror::Error;

use code::{Frame, prologue};

/// The error for an instruction that cannot be replaced.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{inst}: code for runs cannot contain {what}")]
pub struct Unsupported {
    /// The instruction.
    pub inst: Inst,
    /// Its opcode or a description.
    pub what: &'static str,
}

/// Turns a shader in SSA form into the compute shader of the harness. Its entry point must not contain calls.
///
/// # Errors
/// The shader has a part without a counterpart in the harness. It is then unusable.
pub fn lift(shader: &mut Shader) -> Result<Layout, Unsupported> {
    let io = VariableModes(VariableModes::SHADER_IN.0 | VariableModes::SHADER_OUT.0);
    passes::lower_io(shader, io);
    passes::opt_dce(shader);
    let mut layout = Layout::of(shader);
    let frame = prologue(shader.main_mut());
    loops::bound(shader.main_mut(), &frame);
    let kills = kills(shader);
    for block in shader.main().blocks_vec() {
        for inst in shader.main().insts_vec(block) {
            if frame.is_own(shader.main(), inst) {
                continue;
            }
            let replaced = match *shader.main().inst(inst) {
                InstData::Intrinsic { op, .. } => {
                    Replacement { shader, frame: &frame, layout: &mut layout, kills, inst, op }.lift()
                }
                InstData::Tex(_) => texture::lift(shader, &frame, inst),
                InstData::Call { .. } => Err("a call"),
                InstData::Deref { modes, .. } if modes.intersects(io) => {
                    Err("a pointer to an input or output that is not a vector")
                }
                _ => Ok(()),
            };
            replaced.map_err(|what| Unsupported { inst, what })?;
        }
    }
    if layout.shared {
        memory::copy_shared(shader.main_mut(), &frame);
    }
    finish(shader);
    Ok(layout)
}

/// Returns whether the memory writes of lanes may lose their effect.
fn kills(shader: &Shader) -> bool {
    use IntrinsicOp as I;
    let body = shader.main();
    let is_kill = |op| matches!(op, I::Terminate | I::TerminateIf | I::Demote | I::DemoteIf);
    shader.stage == ShaderStage::Fragment
        || body.blocks().any(|block| body.insts(block).any(|inst| body.intrinsic(inst).is_some_and(is_kill)))
}

/// Turns the shader into a compute shader, and removes unused variables.
fn finish(shader: &mut Shader) {
    shader.stage = ShaderStage::Compute;
    shader.info.workgroup_size = [4, 1, 1];
    shader.info.workgroup_size_variable = false;
    shader.info.num_textures = 0;
    shader.info.num_images = 0;
    shader.info.num_abos = 0;
    shader.info.inputs_read = 0;
    shader.info.outputs_written = 0;
    shader.info.outputs_read = 0;
    shader.info.patch_inputs_read = 0;
    shader.info.patch_outputs_read = 0;
    shader.info.patch_outputs_written = 0;
    shader.info.system_values_read = 0;
    shader.info.textures_used = 0;
    shader.info.textures_used_by_txf = 0;
    shader.info.samplers_used = 0;
    shader.info.images_used = 0;
    shader.info.image_buffers = 0;
    shader.info.msaa_images = 0;
    shader.info.writes_memory = true;
    shader.info.vs = Default::default();
    shader.info.tess = Default::default();
    shader.info.gs = Default::default();
    shader.info.fs = Default::default();
    shader.num_inputs = 0;
    shader.num_outputs = 0;
    passes::repair_ssa(shader);
    passes::opt_constant_folding(shader);
    passes::opt_copy_prop(shader);
    passes::opt_cse(shader);
    passes::opt_dce(shader);
    let gone = VariableModes(
        VariableModes::SHADER_IN.0
            | VariableModes::SHADER_OUT.0
            | VariableModes::SYSTEM_VALUE.0
            | VariableModes::IMAGE.0
            | VariableModes::UNIFORM.0,
    );
    passes::remove_dead_variables(shader, gone);
}

/// The intrinsic that is being replaced.
struct Replacement<'a> {
    shader: &'a mut Shader,
    frame: &'a Frame,
    layout: &'a mut Layout,
    kills: bool,
    inst: Inst,
    op: IntrinsicOp,
}

impl Replacement<'_> {
    fn lift(&mut self) -> Result<(), &'static str> {
        match self.op.info().kind {
            IntrinsicKind::Io | IntrinsicKind::Interp => self.lift_io(),
            IntrinsicKind::Geometry => self.lift_geometry(),
            IntrinsicKind::Sysval => self.lift_system_value(),
            IntrinsicKind::Memory | IntrinsicKind::Atomic => self.lift_memory(),
            IntrinsicKind::AtomicCounter => self.lift_counter(),
            IntrinsicKind::Image => self.lift_image(),
            IntrinsicKind::Fragment | IntrinsicKind::Derivative | IntrinsicKind::Barrier => self.lift_lanes(),
            IntrinsicKind::Resource => self.lift_resource(),
            IntrinsicKind::Register
            | IntrinsicKind::Deref
            | IntrinsicKind::Function
            | IntrinsicKind::Subgroup
            | IntrinsicKind::Mesh
            | IntrinsicKind::Misc => Ok(()),
        }
    }
}
