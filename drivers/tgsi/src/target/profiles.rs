//! Target profiles: what is known of the consumers of TGSI that exist, one row for each, with options as
//! [`TgsiOptions`](super::options::TgsiOptions) has them.
//!
//! A profile may set options for all stages and for some. Options that are set by name come on top of it; none of them
//! takes back what a profile says.

use tgsi_compiler::DriverOption;
use tgsi_ir::shader::Stage;

use super::options::{Dialect, IndirectFiles, TgsiOptions};

/// A row of the table.
struct Row {
    profile: Profile,
    /// What holds in all stages.
    set: fn(&mut TgsiOptions),
    /// What holds in a stage besides.
    fit: fn(Stage, &mut TgsiOptions),
}

macro_rules! profiles {
    ($($(#[$doc:meta])+ $variant:ident = $name:literal, $about:literal, $set:expr, $fit:expr;)+) => {
        /// A consumer of TGSI.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub enum Profile {
            $($(#[$doc])+ $variant,)+
        }

        impl Profile {
            /// Names of the profiles.
            pub const NAMED: &'static [DriverOption] = &[$(DriverOption { name: $name, about: $about }),+];

            /// All of them, in that order.
            #[cfg(test)]
            pub(crate) const ALL: [Profile; Profile::NAMED.len()] = [$(Profile::$variant),+];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Profile::$variant => $name,)+
                }
            }

            const TABLE: &'static [Row] = &[$(Row { profile: Profile::$variant, set: $set, fit: $fit }),+];
        }
    };
}

profiles! {
    /// Consumers that have all of TGSI.
    #[default]
    Generic = "generic", "Consumers that have all of TGSI.", |_| {}, |_, _| {};
    /// Mesa's software rasteriser. It runs TGSI in Mesa's interpreter.
    Softpipe = "softpipe", "Mesa's softpipe, which runs TGSI as it is.", interpreter, |_, _| {};
    /// GeForce FX.
    Nv30 = "nv30", "Mesa's nouveau on GeForce FX (NV3x).", no_integers, nv30;
    /// GeForce 6 and 7.
    Nv40 = "nv40", "Mesa's nouveau on GeForce 6 and 7 (NV4x).", no_integers, nv40;
    /// Intel 915 to G33. Vertex shaders run in Mesa's interpreter.
    I915 = "i915", "Mesa's i915 on Intel 915 to G33.", interpreter, i915;
    /// Radeon 9500 to X600.
    R300 = "r300", "Mesa's r300 on Radeon 9500 to X600 (R300).", no_integers, r300;
    /// Radeon X700 to X850.
    R400 = "r400", "Mesa's r300 on Radeon X700 to X850 (R400): larger programs.", no_integers, r300;
    /// Radeon X1000.
    R500 = "r500", "Mesa's r300 on Radeon X1000 (R500).", no_integers, r500;
    /// VMware's virtual GPU.
    Svga = "svga", "Mesa's svga, the guest driver of VMware's virtual GPU (VGPU10).", svga, |_, _| {};
    /// VMware's virtual GPU of older hosts.
    Vgpu9 = "vgpu9", "Mesa's svga on older hosts (VGPU9).", no_integers, vgpu9;
    /// Hosts of virgl.
    Virgl = "virgl", "Hosts of virgl (virglrenderer 0.10).", |o| o.dialect = Dialect::Virgl, |_, _| {};
    /// Microsoft's sample driver interface over TGSI drivers.
    D3d10umd = "d3d10umd", "Mesa's d3d10umd, whose drivers take what it makes.", no_level_zero, |_, _| {};
}

/// What no target of before DirectX 10 has. Mesa's `nir_to_tgsi` asks the screen for it: `PIPE_SHADER_CAP_INTEGERS`,
/// `TGSI_SQRT_SUPPORTED`, `PIPE_CAP_TGSI_TEX_TXF_LZ`. ARR, FMA, DIV and ROUND have no case in the translators of these
/// drivers. Their immediates are asserted to be floats.
fn no_integers(options: &mut TgsiOptions) {
    options.native_integers = false;
    options.subroutines = false;
    options.has_sqrt = false;
    options.has_arr = false;
    options.has_fma = false;
    options.has_div = false;
    options.has_round = false;
    options.tex_lz = false;
    options.float_immediates = true;
}

/// Registers of no file are addressed indirectly.
const DIRECT: IndirectFiles = IndirectFiles { inputs: false, outputs: false, temporaries: false, constants: false };

/// `nvfx_fragprog.c` and `nvfx_vertprog.c` of Mesa 25.0. Both copy each second input and each second constant of an
/// instruction into a temporary; immediates are constants. `CMP` sets the condition code and moves twice:
/// three instructions. `DDX` and `DDY` give x and y: what is to be in z or w is moved, and all of it copied. Vertex
/// programs have no `_SAT`: the driver writes it out. They index constants and inputs, fragment programs nothing.
fn geforce(stage: Stage, options: &mut TgsiOptions) {
    options.one_constant = true;
    options.one_input = true;
    options.costly_cmp = true;
    options.derivatives_of_xy = stage == Stage::Fragment;
    options.has_exp = stage != Stage::Fragment;
    options.has_sat = stage != Stage::Vertex;
    match stage {
        Stage::Vertex => options.indirect = IndirectFiles { inputs: true, constants: true, ..DIRECT },
        Stage::Fragment => options.indirect = DIRECT,
        _ => {}
    }
}

/// `max_temps` is 32 for fragments and 16 for vertices there. Two are left to the driver, which copies operands.
/// Fragment programs have no branches.
fn nv30(stage: Stage, options: &mut TgsiOptions) {
    geforce(stage, options);
    options.has_branches = stage != Stage::Fragment;
    options.max_temporaries = Some(if stage == Stage::Fragment { 30 } else { 14 });
}

/// `max_temps` is 48 for fragments and 32 for vertices there. Fragment programs have no `CONT`.
fn nv40(stage: Stage, options: &mut TgsiOptions) {
    geforce(stage, options);
    options.has_continue = stage != Stage::Fragment;
    options.max_temporaries = Some(if stage == Stage::Fragment { 46 } else { 30 });
}

/// `i915_fpc_translate.c` and `i915_fpc_emit.c` of Mesa 25.0. An instruction reads one constant; 0 and 1 are swizzles.
/// `LRP` is two `MAD`, an absolute value a `MAX`, `SEQ` and `SNE` two comparisons and a product or sum. Textures are
/// read at x and y of a register and write a whole one: what is otherwise is copied, and a coordinate that was computed
/// in a phase begins the next of four. Temporaries are R0 to R15. There are no branches, no `SIN` and `COS`, and no
/// indices. Vertex shaders run in Mesa's interpreter (`draw`).
fn i915(stage: Stage, options: &mut TgsiOptions) {
    if stage == Stage::Fragment {
        no_integers(options);
        options.has_branches = false;
        options.has_periodic = false;
        options.has_exp = false;
        options.indirect = DIRECT;
        options.fuse_fabs = false;
        options.has_lrp = false;
        options.one_constant = true;
        options.free_zero_and_one = true;
        options.whole_texture_writes = true;
        options.plain_coordinates = true;
        options.lookup_phases = true;
        options.costly_equality = true;
        options.max_temporaries = Some(16);
    }
}

/// Vertex programs of R300 and R400 have no saturation, no absolute value, no branches and no `CMP` (the compiler
/// refuses the first and takes the last one as if it could not be there), and make `SEQ` and `SNE` of two comparisons.
/// Fragment programs have the swizzles of `r300_fragprog_swizzle.c`, no branches, and no `SIN` and `COS`.
fn r300(stage: Stage, options: &mut TgsiOptions) {
    radeon(stage, options);
    if stage == Stage::Fragment {
        options.few_swizzles = true;
        options.has_branches = false;
        options.has_periodic = false;
    }
    if stage == Stage::Vertex {
        options.has_sat = false;
        options.fuse_fabs = false;
        options.costly_equality = true;
        options.has_cmp = false;
        options.has_branches = false;
    }
}

/// Operands of fragment shaders swizzle freely, so that the compiler makes one instruction of several copies. A branch
/// with two sides is four instructions: one for the condition, `IF`, `ELSE`, `ENDIF`. `CMP` of vertex programs has to
/// read less than three different temporaries (`radeon_program_alu.c`), and their loops have no `CONT`.
fn r500(stage: Stage, options: &mut TgsiOptions) {
    radeon(stage, options);
    if stage == Stage::Fragment {
        options.joined_copies = true;
        options.costly_branches = true;
    }
    if stage == Stage::Vertex {
        options.narrow_cmp = true;
        options.has_continue = false;
    }
}

/// `r300_tgsi_to_rc.c` of Mesa 25.0, which has no `LRP`, `FLR`, `TRUNC` and `SSG`, and for fragments no comparison but
/// `CMP`; its `A0` is x of one register, and it asserts that what is added to it is not negative. The compiler behind
/// it allocates by itself (`unoptimized_ra`), and schedules and pairs the instructions of fragment programs: components
/// that are written again keep it from that (`schedules`). `radeon_optimize.c` makes output modifiers of products with
/// 2, 4, 8 and their reciprocals, and operands of `ADD 1, -x` and `MAD -x, 2, 1`. In vertex programs an instruction
/// reads one input and one constant (`radeon_compiler.c`, conflicts of sources), and operands negate each component
/// alone. Destinations are not indexed; fragment programs have no indices and no `POW`.
fn radeon(stage: Stage, options: &mut TgsiOptions) {
    options.has_lrp = false;
    options.has_flr = false;
    options.has_trunc = false;
    options.has_ssg = false;
    options.unoptimized_ra = true;
    options.address_registers = 1;
    options.address_components = 1;
    options.negative_offsets = false;
    if stage == Stage::Vertex {
        options.indirect = IndirectFiles { inputs: true, constants: true, ..DIRECT };
        options.has_arr = true;
        options.one_constant = true;
        options.one_input = true;
        options.component_negation = true;
        options.joined_copies = true;
        options.free_zero_and_one = true;
    }
    if stage == Stage::Fragment {
        options.indirect = DIRECT;
        options.has_comparisons = false;
        options.has_lit = false;
        options.has_exp = false;
        options.has_pow = false;
        options.free_scaling = true;
        options.presubtract = true;
        options.schedules = true;
    }
}

/// There are no `TEX_LZ` and `TXF_LZ`: `PIPE_CAP_TGSI_TEX_TXF_LZ` is not set in Mesa 25.0. `svga_tgsi_vgpu10.c` has no
/// case for them and gives the shader up; `tgsi_exec.c`, which runs the shaders of softpipe and the vertex shaders of
/// i915, has none either and writes nothing. `d3d10umd` makes other opcodes, for drivers that may be either.
fn no_level_zero(options: &mut TgsiOptions) {
    options.tex_lz = false;
}

/// `tgsi_exec.c` of Mesa 25.0 has no case for `FMA`, `DFMA`, `DTRUNC`, `DCEIL`, `DROUND` and `DSSG`, and writes
/// nothing.
fn interpreter(options: &mut TgsiOptions) {
    no_level_zero(options);
    options.has_fma = false;
    options.has_wide_rounding = false;
}

/// `svga_tgsi_vgpu10.c` of Mesa 25.0 has no case for `ARR`, integers of 64 bits and packed numbers, and gives the
/// shader up. Comparisons are those of Direct3D 10, behind which `SLT`, `SGE`, `SEQ`, `SNE` and `CMP` select. Its
/// `get_temp_array_id` and `remap_temp_index` find the array of an operand by its register, whatever
/// array the operand names.
fn svga(options: &mut TgsiOptions) {
    no_level_zero(options);
    options.has_wide_integers = false;
    options.has_packing = false;
    options.has_arr = false;
    options.offsets_in_array = true;
    options.compares_to_words = true;
}

/// `svga_tgsi_insn.c` of Mesa 25.0: one input and one constant in an instruction, one address register. `CMP` of
/// vertices sets a predicate and moves twice, and so do `SEQ` and `SNE`. Loops have no `CONT`.
fn vgpu9(stage: Stage, options: &mut TgsiOptions) {
    options.has_continue = false;
    options.one_constant = true;
    options.one_input = true;
    options.address_registers = 1;
    options.costly_cmp = stage == Stage::Vertex;
    options.costly_equality = true;
}

impl Profile {
    fn row(self) -> Option<&'static Row> {
        Profile::TABLE.iter().find(|row| row.profile == self)
    }

    /// The profile of a name, and what it sets for all stages.
    pub(crate) fn set(name: &str, options: &mut TgsiOptions) -> bool {
        let Some(index) = Profile::NAMED.iter().position(|option| option.name == name) else { return false };
        let Some(row) = Profile::TABLE.get(index) else { return false };
        options.profile = row.profile;
        (row.set)(options);
        true
    }

    /// What it sets for a stage.
    pub(crate) fn fit(self, stage: Stage, options: &mut TgsiOptions) {
        if let Some(row) = self.row() {
            (row.fit)(stage, options);
        }
    }
}
