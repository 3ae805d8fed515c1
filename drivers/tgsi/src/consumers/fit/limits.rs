//! The limits of the consumers of TGSI, one table for each consumer and stage, with the source of each figure.
//!
//! Sources are files of Mesa 25.0.7, below `src/gallium/drivers` unless a longer path is given. Rows are *estimates* if
//! the driver reports the limit to applications but does not check it, or if the use depends on the driver's optimiser.

use tgsi::tables::Processor;

use super::usage::Resource;
use super::usage::Resource::*;
use crate::consumers::profiles::Profile;

/// A limit.
#[derive(Debug)]
pub(crate) struct Limit {
    /// The resource that is counted.
    pub(crate) resource: Resource,
    /// The maximum; `None` if there is no bound.
    pub(crate) most: Option<u32>,
    /// Whether the limit or the count is an estimate.
    pub(crate) is_estimate: bool,
    /// The source of the figure.
    pub(crate) source: &'static str,
    /// The consumer's behaviour beyond the limit.
    pub(crate) beyond: &'static str,
}

const fn exact(resource: Resource, most: u32, source: &'static str, beyond: &'static str) -> Limit {
    Limit { resource, most: Some(most), is_estimate: false, source, beyond }
}

const fn about(resource: Resource, most: u32, source: &'static str, beyond: &'static str) -> Limit {
    Limit { resource, most: Some(most), is_estimate: true, source, beyond }
}

const fn unbounded(resource: Resource, source: &'static str) -> Limit {
    Limit { resource, most: None, is_estimate: false, source, beyond: "" }
}

/// A consumer and stage with separate limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Consumer {
    /// Fragment programs of Intel 915.
    I915Fragment,
    /// Fragment programs of GeForce FX.
    Nv30Fragment,
    /// Fragment programs of GeForce 6 and 7.
    Nv40Fragment,
    /// Vertex programs of GeForce FX.
    Nv30Vertex,
    /// Vertex programs of GeForce 6 and 7.
    Nv40Vertex,
    /// Fragment programs of Radeon 9500 to X600.
    R300Fragment,
    /// Fragment programs of Radeon X700 to X850.
    R400Fragment,
    /// Fragment programs of Radeon X1000.
    R500Fragment,
    /// Vertex programs of Radeon 9500 to X850.
    R300Vertex,
    /// Vertex programs of Radeon X1000.
    R500Vertex,
    /// Pixel shaders of VGPU9.
    Vgpu9Fragment,
    /// Vertex shaders of VGPU9.
    Vgpu9Vertex,
    /// All shaders of VGPU10.
    Vgpu10,
    /// Hosts of virgl.
    Virgl,
    /// Mesa's interpreter.
    Interpreter,
}

/// The consumer of shaders of a stage. Stages that the hardware lacks are executed by the interpreter, as in Mesa's
/// `draw`, or not at all ([`lacking_stage`]).
pub(crate) fn consumer(profile: Profile, processor: Processor) -> Consumer {
    let is_fragment = processor == Processor::Fragment;
    let of_stage = |fragment, vertex| if is_fragment { fragment } else { vertex };
    match profile {
        Profile::I915 => of_stage(Consumer::I915Fragment, Consumer::Interpreter),
        Profile::Nv30 => of_stage(Consumer::Nv30Fragment, Consumer::Nv30Vertex),
        Profile::Nv40 => of_stage(Consumer::Nv40Fragment, Consumer::Nv40Vertex),
        Profile::R300 => of_stage(Consumer::R300Fragment, Consumer::R300Vertex),
        Profile::R400 => of_stage(Consumer::R400Fragment, Consumer::R300Vertex),
        Profile::R500 => of_stage(Consumer::R500Fragment, Consumer::R500Vertex),
        Profile::Vgpu9 => of_stage(Consumer::Vgpu9Fragment, Consumer::Vgpu9Vertex),
        Profile::Svga => Consumer::Vgpu10,
        Profile::Virgl => Consumer::Virgl,
        Profile::Generic | Profile::Softpipe | Profile::D3d10umd => Consumer::Interpreter,
    }
}

/// The name of a stage that the consumer does not support.
pub(crate) fn lacking_stage(profile: Profile, processor: Processor) -> Option<String> {
    let has_stage = match profile {
        Profile::Nv30 | Profile::Nv40 | Profile::R300 | Profile::R400 | Profile::R500 | Profile::Vgpu9 => {
            matches!(processor, Processor::Vertex | Processor::Fragment)
        }
        Profile::I915 => matches!(processor, Processor::Vertex | Processor::Fragment | Processor::Geometry),
        Profile::Generic | Profile::Softpipe | Profile::Svga | Profile::Virgl | Profile::D3d10umd => true,
    };
    (!has_stage).then(|| format!("{} shaders", processor.name()))
}

/// Returns the limits of a consumer.
pub(crate) fn of(consumer: Consumer) -> &'static [Limit] {
    match consumer {
        Consumer::I915Fragment => I915_FRAGMENT,
        Consumer::Nv30Fragment => NV30_FRAGMENT,
        Consumer::Nv40Fragment => NV40_FRAGMENT,
        Consumer::Nv30Vertex => NV30_VERTEX,
        Consumer::Nv40Vertex => NV40_VERTEX,
        Consumer::R300Fragment => R300_FRAGMENT,
        Consumer::R400Fragment => R400_FRAGMENT,
        Consumer::R500Fragment => R500_FRAGMENT,
        Consumer::R300Vertex => R300_VERTEX,
        Consumer::R500Vertex => R500_VERTEX,
        Consumer::Vgpu9Fragment => VGPU9_FRAGMENT,
        Consumer::Vgpu9Vertex => VGPU9_VERTEX,
        Consumer::Vgpu10 => VGPU10,
        Consumer::Virgl => VIRGL,
        Consumer::Interpreter => INTERPRETER,
    }
}

const SUBSTITUTE: &str = "the driver draws with a fixed colour instead of the shader";
const I915_REG: &str = "i915/i915_reg.h";

const I915_FRAGMENT: &[Limit] = &[
    exact(Alu, 64, I915_REG, SUBSTITUTE),
    exact(Tex, 32, I915_REG, SUBSTITUTE),
    // The buffer has 192 words, three for each instruction: arithmetic and texture together.
    exact(Instructions, 64, "i915/i915_fpc.h", "the driver drops the remaining instructions without an error"),
    exact(Phases, 4, I915_REG, SUBSTITUTE),
    exact(Temporaries, 16, I915_REG, SUBSTITUTE),
    exact(Scratch, 3, "i915/i915_fpc_emit.c", SUBSTITUTE),
    exact(Constants, 32, "i915/i915_context.h", SUBSTITUTE),
    exact(ConstantBuffers, 1, "i915/i915_screen.c", "the driver reads the first one instead"),
    exact(Interpolators, 8, "i915/i915_context.h", "the driver reads the first one instead, without an error"),
    exact(Colors, 1, "i915/i915_fpc_translate.c", "all colours are written to the first one"),
    exact(Samplers, 8, "i915/i915_context.h", "there is no texture to read"),
    exact(NotTaken, 0, "i915/i915_fpc_translate.c", ""),
];

const NV_FRAGMENT: &str = "nouveau/nv30/nvfx_fragprog.c";
const NV_SCREEN: &str = "nouveau/nv30/nv30_screen.c";
const STATED: &str = "the driver reports this limit but does not check it";
const WRONG_TEMPORARY: &str = "the driver uses the first temporary instead, and the result is wrong";

const NV30_FRAGMENT: &[Limit] = &[
    unbounded(Alu, NV_FRAGMENT),
    unbounded(Tex, NV_FRAGMENT),
    about(Slots, 4096, NV_SCREEN, STATED),
    exact(Temporaries, 32, NV_FRAGMENT, WRONG_TEMPORARY),
    about(Constants, 32, NV_SCREEN, STATED),
    exact(ConstantBuffers, 1, NV_SCREEN, "the driver reads the first one instead"),
    exact(Interpolators, 8, NV_FRAGMENT, NOTHING),
    exact(Colors, 1, NV_SCREEN, NOTHING),
    exact(Samplers, 16, NV_SCREEN, "there is no texture to read"),
    exact(NotTaken, 0, NV_FRAGMENT, ""),
];

const NV40_FRAGMENT: &[Limit] = &[
    unbounded(Alu, NV_FRAGMENT),
    unbounded(Tex, NV_FRAGMENT),
    about(Slots, 4096, NV_SCREEN, STATED),
    exact(Temporaries, 48, NV_FRAGMENT, WRONG_TEMPORARY),
    about(Constants, 224, NV_SCREEN, STATED),
    exact(ConstantBuffers, 1, NV_SCREEN, "the driver reads the first one instead"),
    exact(Interpolators, 10, NV_FRAGMENT, NOTHING),
    exact(Colors, 4, NV_FRAGMENT, NOTHING),
    exact(Samplers, 16, NV_SCREEN, "there is no texture to read"),
    exact(NotTaken, 0, NV_FRAGMENT, ""),
];

const NV_VERTEX: &str = "nouveau/nv30/nvfx_vertprog.c";
const SOFTWARE: &str = "vertices are processed in software";

const NV30_VERTEX: &[Limit] = &[
    exact(Instructions, 256, NV_SCREEN, SOFTWARE),
    exact(Temporaries, 16, NV_VERTEX, WRONG_TEMPORARY),
    // Of 256 registers six are for clip planes.
    exact(Constants, 250, NV_SCREEN, SOFTWARE),
    exact(ConstantBuffers, 1, NV_SCREEN, "the driver reads the first one instead"),
    about(Addresses, 2, NV_VERTEX, "the driver uses the second one instead"),
    exact(Inputs, 16, NV_SCREEN, "there is no input to read"),
    exact(Interpolators, 8, NV_VERTEX, "the driver drops the output"),
    exact(NotTaken, 0, NV_VERTEX, ""),
];

const NV40_VERTEX: &[Limit] = &[
    exact(Instructions, 512, NV_SCREEN, SOFTWARE),
    // The driver keeps the set of used temporaries in a 32-bit word.
    exact(Temporaries, 32, NV_VERTEX, WRONG_TEMPORARY),
    // Of 468 registers six are for clip planes.
    exact(Constants, 462, NV_SCREEN, SOFTWARE),
    exact(ConstantBuffers, 1, NV_SCREEN, "the driver reads the first one instead"),
    about(Addresses, 2, NV_VERTEX, "the driver uses the second one instead"),
    exact(Inputs, 16, NV_SCREEN, "there is no input to read"),
    exact(Interpolators, 10, NV_VERTEX, "the driver drops the output"),
    exact(NotTaken, 0, NV_VERTEX, ""),
];

const R300_FS: &str = "r300/r300_fs.c";
const R300_CODE: &str = "r300/compiler/radeon_code.h";
const DUMMY: &str = "the driver draws with a dummy shader";

/// Arithmetic is counted before the driver's compiler pairs instructions of three components with those of one, and
/// removes some: the final number is usually lower. The same holds for temporaries and constants, which the compiler
/// allocates itself. Phases are the minimum for dependent lookups; the compiler's schedule may have more.
const R300_FRAGMENT: &[Limit] = &[
    about(Alu, 64, R300_CODE, DUMMY),
    exact(Tex, 32, R300_CODE, DUMMY),
    exact(Phases, 4, R300_CODE, DUMMY),
    about(Temporaries, 32, R300_CODE, DUMMY),
    about(Constants, 32, R300_CODE, DUMMY),
    exact(ConstantBuffers, 1, "r300/r300_screen.c", "the driver reads the first one instead"),
    about(Interpolators, 8, "r300/r300_screen.c", DUMMY),
    exact(Colors, 4, "r300/r300_screen.c", "there is no such render target"),
    exact(Samplers, 16, "r300/r300_chipset.c", "there is no texture to read"),
    exact(NotTaken, 0, "r300/r300_tgsi_to_rc.c", DUMMY),
];

const R400_FRAGMENT: &[Limit] = &[
    about(Alu, 512, R300_CODE, DUMMY),
    exact(Tex, 512, R300_CODE, DUMMY),
    exact(Phases, 4, R300_CODE, DUMMY),
    about(Temporaries, 64, R300_FS, DUMMY),
    about(Constants, 32, R300_CODE, DUMMY),
    exact(ConstantBuffers, 1, "r300/r300_screen.c", "the driver reads the first one instead"),
    about(Interpolators, 8, "r300/r300_screen.c", DUMMY),
    exact(Colors, 4, "r300/r300_screen.c", "there is no such render target"),
    exact(Samplers, 16, "r300/r300_chipset.c", "there is no texture to read"),
    exact(NotTaken, 0, "r300/r300_tgsi_to_rc.c", DUMMY),
];

const R500_FRAGMENT: &[Limit] = &[
    unbounded(Alu, R300_CODE),
    unbounded(Tex, R300_CODE),
    // Arithmetic, texture and control flow share one memory.
    about(Instructions, 512, R300_CODE, DUMMY),
    about(Temporaries, 128, R300_CODE, DUMMY),
    about(Constants, 256, R300_CODE, DUMMY),
    exact(ConstantBuffers, 1, "r300/r300_screen.c", "the driver reads the first one instead"),
    about(Interpolators, 8, "r300/r300_screen.c", DUMMY),
    exact(Colors, 4, "r300/r300_screen.c", "there is no such render target"),
    exact(Samplers, 16, "r300/r300_chipset.c", "there is no texture to read"),
    exact(Nesting, 32, R300_CODE, DUMMY),
    exact(NotTaken, 0, "r300/r300_tgsi_to_rc.c", DUMMY),
];

const R300_VS: &str = "r300/r300_vs.c";
const NOTHING: &str = "the driver draws nothing with the shader";

const R300_VERTEX: &[Limit] = &[
    about(Instructions, 256, R300_VS, NOTHING),
    about(Temporaries, 32, R300_VS, NOTHING),
    about(Constants, 256, R300_VS, NOTHING),
    exact(ConstantBuffers, 1, "r300/r300_screen.c", "the driver reads the first one instead"),
    exact(Addresses, 1, "r300/compiler/r3xx_vertprog.c", "the driver uses the first one instead"),
    exact(Inputs, 16, "r300/r300_screen.c", "there is no input to read"),
    about(Interpolators, 8, "r300/r300_vs.c", "the driver drops the output"),
    exact(NotTaken, 0, "r300/r300_tgsi_to_rc.c", NOTHING),
];

const R500_VERTEX: &[Limit] = &[
    about(Instructions, 1024, R300_VS, NOTHING),
    about(Temporaries, 32, R300_VS, NOTHING),
    about(Constants, 256, R300_VS, NOTHING),
    exact(ConstantBuffers, 1, "r300/r300_screen.c", "the driver reads the first one instead"),
    exact(Addresses, 1, "r300/compiler/r3xx_vertprog.c", "the driver uses the first one instead"),
    exact(Inputs, 16, "r300/r300_screen.c", "there is no input to read"),
    about(Interpolators, 8, "r300/r300_vs.c", "the driver drops the output"),
    exact(NotTaken, 0, "r300/r300_tgsi_to_rc.c", NOTHING),
];

const SVGA_SCREEN: &str = "svga/svga_screen.c";
const SVGA_DEFS: &str = "svga/include/svga3d_shaderdefs.h";
const REFUSED: &str = "the host refuses the shader";

/// Hosts may support more instructions and temporaries; these are the driver's assumptions if a host reports none.
const VGPU9_FRAGMENT: &[Limit] = &[
    about(Instructions, 512, SVGA_SCREEN, REFUSED),
    exact(Temporaries, 32, SVGA_DEFS, REFUSED),
    about(Constants, 224, SVGA_SCREEN, REFUSED),
    exact(ConstantBuffers, 1, SVGA_SCREEN, "the driver reads the first one instead"),
    about(Inputs, 10, SVGA_SCREEN, REFUSED),
    about(Colors, 4, SVGA_SCREEN, REFUSED),
    exact(Samplers, 16, SVGA_DEFS, REFUSED),
    exact(Nesting, 32, SVGA_DEFS, REFUSED),
    exact(NotTaken, 0, "svga/svga_tgsi_insn.c", "the driver draws with a dummy shader"),
];

const VGPU9_VERTEX: &[Limit] = &[
    about(Instructions, 512, SVGA_SCREEN, REFUSED),
    exact(Temporaries, 32, SVGA_DEFS, REFUSED),
    about(Constants, 256, SVGA_SCREEN, REFUSED),
    exact(ConstantBuffers, 1, SVGA_SCREEN, "the driver reads the first one instead"),
    exact(Addresses, 1, SVGA_DEFS, REFUSED),
    exact(Samplers, 0, SVGA_SCREEN, "there is no texture to read"),
    exact(Inputs, 16, SVGA_DEFS, REFUSED),
    about(Outputs, 12, SVGA_DEFS, REFUSED),
    exact(Nesting, 32, SVGA_DEFS, REFUSED),
    exact(NotTaken, 0, "svga/svga_tgsi_insn.c", "the driver draws with a dummy shader"),
];

const VGPU10_TOKENS: &str = "svga/include/VGPU10ShaderTokens.h";

const VGPU10: &[Limit] = &[
    about(Instructions, 65_536, SVGA_SCREEN, REFUSED),
    exact(Temporaries, 4096, VGPU10_TOKENS, REFUSED),
    exact(Constants, 4096, VGPU10_TOKENS, REFUSED),
    exact(ConstantBuffers, 14, VGPU10_TOKENS, REFUSED),
    about(Inputs, 32, VGPU10_TOKENS, REFUSED),
    about(Outputs, 32, VGPU10_TOKENS, REFUSED),
    about(Samplers, 16, VGPU10_TOKENS, REFUSED),
    about(Nesting, 64, SVGA_SCREEN, REFUSED),
    exact(NotTaken, 0, "svga/svga_tgsi_vgpu10.c", "the driver rejects the shader"),
];

const VREND: &str = "virglrenderer 0.10: src/vrend_shader.c";
const HOST: &str = "the host closes the connection or drops the shader";

const VIRGL: &[Limit] = &[
    unbounded(Instructions, VREND),
    unbounded(Temporaries, VREND),
    exact(ConstantBuffers, 32, VREND, HOST),
    exact(Immediates, 1024, VREND, HOST),
    exact(Inputs, 64, VREND, HOST),
    exact(Outputs, 64, VREND, HOST),
    exact(Samplers, 32, VREND, HOST),
];

const EXEC: &str = "src/gallium/auxiliary/tgsi/tgsi_exec.h";

const INTERPRETER: &[Limit] = &[
    unbounded(Instructions, EXEC),
    exact(Temporaries, 4096, EXEC, "the interpreter reads and writes outside its registers"),
    about(Constants, 4096, EXEC, STATED),
    exact(ConstantBuffers, 32, "src/gallium/include/pipe/p_state.h", "there is no buffer to read"),
    about(Inputs, 32, EXEC, STATED),
    about(Outputs, 32, EXEC, STATED),
    about(Samplers, 32, "src/gallium/include/pipe/p_state.h", "there is no texture to read"),
    exact(Nesting, 32, EXEC, "the interpreter writes outside its stacks"),
    exact(NotTaken, 0, "src/gallium/auxiliary/tgsi/tgsi_exec.c", "the interpreter continues and writes no result"),
];
