//! Target profiles: the known consumers of TGSI, one row for each, with their
//! [`TgsiOptions`](super::options::TgsiOptions).
//!
//! A profile may set options for all stages and for single stages. Options set by name apply in addition; none of them
//! reverts a setting of a profile.

use tgsi_compiler::DriverOption;
use tgsi_ir::shader::ShaderStage;

use super::options::{Dialect, TgsiOptions};

/// A row of the table.
struct Row {
    profile: Profile,
    /// Sets the options of all stages.
    set: fn(&mut TgsiOptions),
    /// Sets further options of a stage.
    fit: fn(ShaderStage, &mut TgsiOptions),
}

macro_rules! profiles {
    ($($(#[$doc:meta])+ $variant:ident = $name:literal, $about:literal, $set:expr, $fit:expr;)+) => {
        /// A consumer of TGSI.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub enum Profile {
            $($(#[$doc])+ $variant,)+
        }

        impl Profile {
            /// The names of the profiles.
            pub const NAMED: &'static [DriverOption] = &[$(DriverOption { name: $name, about: $about }),+];

            /// All profiles, in the same order.
            #[cfg(test)]
            pub(crate) const ALL: [Profile; Profile::NAMED.len()] = [$(Profile::$variant),+];

            /// The name of the profile.
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
    /// Consumers that support all of TGSI.
    #[default]
    Generic = "generic", "Consumers that support all of TGSI.", |_| {}, |_, _| {};
    /// Mesa's software rasteriser, which uses Mesa's interpreter.
    Softpipe = "softpipe", "Mesa's softpipe, which interprets TGSI.", interpreter, |_, _| {};
    /// GeForce FX.
    Nv30 = "nv30", "Mesa's nouveau on GeForce FX (NV3x).", no_integers, nv30;
    /// GeForce 6 and 7.
    Nv40 = "nv40", "Mesa's nouveau on GeForce 6 and 7 (NV4x).", no_integers, nv40;
    /// Intel 915 to G33. Vertex shaders use Mesa's interpreter.
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
    D3d10umd = "d3d10umd", "Mesa's d3d10umd: drivers support the opcodes that it emits.", no_late_opcodes, |_, _| {};
}

/// Features missing in all targets before DirectX 10. Mesa's `nir_to_tgsi` queries the screen for them:
/// `PIPE_SHADER_CAP_INTEGERS`, `TGSI_SQRT_SUPPORTED`, `PIPE_CAP_TGSI_TEX_TXF_LZ`. The translators of these drivers do
/// not implement ARR, FMA, DIV and ROUND. They assert that immediates are floats.
fn no_integers(options: &mut TgsiOptions) {
    options.native_integers = false;
    options.subroutines = false;
    options.has_sqrt = false;
    options.has_arr = false;
    options.has_fma = false;
    options.has_div = false;
    options.has_round = false;
    options.has_demote = false;
    options.has_lz = false;
    options.float_immediates = true;
}

/// No file is indexed at run time.
fn no_indirect(options: &mut TgsiOptions) {
    options.indirect_inputs = false;
    options.indirect_outputs = false;
    options.indirect_temporaries = false;
    options.indirect_constants = false;
}

/// Inputs and constants are indexed at run time, as in vertex programs.
fn no_indirect_destinations(options: &mut TgsiOptions) {
    options.indirect_outputs = false;
    options.indirect_temporaries = false;
}

/// `nvfx_fragprog.c` and `nvfx_vertprog.c` of Mesa 25.0. Both copy each second input and each second constant of an
/// instruction into a temporary; immediates are constants. `CMP` sets the condition code and moves twice: three
/// instructions. `DDX` and `DDY` compute x and y: for z or w the operand is moved and the result is copied. Vertex
/// programs have no `_SAT`: the driver expands it. They can index constants and inputs, fragment programs nothing.
fn geforce(stage: ShaderStage, options: &mut TgsiOptions) {
    options.single_constant_operand = true;
    options.single_input_operand = true;
    options.slow_cmp = true;
    options.two_component_derivatives = stage == ShaderStage::Fragment;
    options.has_exp = stage != ShaderStage::Fragment;
    options.has_sat = stage != ShaderStage::Vertex;
    match stage {
        ShaderStage::Vertex => no_indirect_destinations(options),
        ShaderStage::Fragment => no_indirect(options),
        _ => {}
    }
}

/// The driver's `max_temps` is 32 for fragments and 16 for vertices. Two are left to the driver, which copies operands.
/// Fragment programs have no branches.
fn nv30(stage: ShaderStage, options: &mut TgsiOptions) {
    geforce(stage, options);
    options.has_branches = stage != ShaderStage::Fragment;
    options.max_temporaries = Some(if stage == ShaderStage::Fragment { 30 } else { 14 });
}

/// The driver's `max_temps` is 48 for fragments and 32 for vertices. Fragment programs have no `CONT`.
fn nv40(stage: ShaderStage, options: &mut TgsiOptions) {
    geforce(stage, options);
    options.has_continue = stage != ShaderStage::Fragment;
    options.max_temporaries = Some(if stage == ShaderStage::Fragment { 46 } else { 30 });
}

/// `i915_fpc_translate.c` and `i915_fpc_emit.c` of Mesa 25.0. An instruction reads one constant; 0 and 1 are swizzles.
/// `LRP` is two `MAD`, an absolute value a `MAX`, `SEQ` and `SNE` two comparisons and a product or sum. Lookups read
/// coordinates from x on and write a whole register; anything else is copied, and a coordinate computed in a phase
/// begins the next one, of at most four. Temporaries are R0 to R15. There are no branches, no `SIN` and `COS`, and no
/// indices. Vertex shaders use Mesa's interpreter (`draw`).
fn i915(stage: ShaderStage, options: &mut TgsiOptions) {
    if stage == ShaderStage::Fragment {
        no_integers(options);
        options.has_branches = false;
        options.has_periodic = false;
        options.has_exp = false;
        no_indirect(options);
        options.fuse_fabs = false;
        options.has_lrp = false;
        options.single_constant_operand = true;
        options.inline_zero_and_one = true;
        options.tex_ignores_write_mask = true;
        options.unswizzled_coordinates = true;
        options.lookup_phases = true;
        options.slow_equality = true;
        options.max_temporaries = Some(16);
    }
}

/// Vertex programs of R300 and R400 have no saturation, no absolute value, no branches and no `CMP` (the compiler
/// rejects the first and treats the last as impossible), and expand `SEQ` and `SNE` to two comparisons. Fragment
/// programs have the swizzles of `r300_fragprog_swizzle.c`, no branches, and no `SIN` and `COS`.
fn r300(stage: ShaderStage, options: &mut TgsiOptions) {
    radeon(stage, options);
    if stage == ShaderStage::Fragment {
        options.restricted_swizzles = true;
        options.has_branches = false;
        options.has_periodic = false;
    }
    if stage == ShaderStage::Vertex {
        options.has_sat = false;
        options.fuse_fabs = false;
        options.slow_equality = true;
        options.has_cmp = false;
        options.has_branches = false;
    }
}

/// Operands of fragment shaders support all swizzles, so that the compiler merges several copies into one instruction.
/// A branch with two sides is four instructions: one for the condition, `IF`, `ELSE`, `ENDIF`. `CMP` of vertex programs
/// must read less than three different temporaries (`radeon_program_alu.c`), and their loops have no `CONT`.
fn r500(stage: ShaderStage, options: &mut TgsiOptions) {
    radeon(stage, options);
    if stage == ShaderStage::Fragment {
        options.merges_copies = true;
        options.slow_branches = true;
    }
    if stage == ShaderStage::Vertex {
        options.cmp_reads_two_temporaries = true;
        options.has_continue = false;
    }
}

/// `r300_tgsi_to_rc.c` of Mesa 25.0, which has no `LRP`, `FLR`, `TRUNC` and `SSG`, and for fragments no comparison
/// except `CMP`; its `A0` is x of one register, and it asserts that the constant added to it is not negative. The
/// compiler after it allocates registers itself (`unoptimized_ra`), and schedules and pairs the instructions of
/// fragment programs: components that are written again hinder that (`pairing_scheduler`). `radeon_optimize.c` forms
/// output modifiers from products with 2, 4, 8 and their reciprocals, and operands from `ADD 1, -x` and `MAD -x, 2, 1`.
/// In vertex programs an instruction reads one input and one constant (`radeon_compiler.c`, source conflicts), and
/// operands can negate single components. Destinations are not indexed; fragment programs have no indices and no `POW`.
fn radeon(stage: ShaderStage, options: &mut TgsiOptions) {
    options.has_lrp = false;
    options.has_flr = false;
    options.has_trunc = false;
    options.has_ssg = false;
    options.unoptimized_ra = true;
    options.address_registers = 1;
    options.address_components = 1;
    options.negative_offsets = false;
    if stage == ShaderStage::Vertex {
        no_indirect_destinations(options);
        options.has_arr = true;
        options.single_constant_operand = true;
        options.single_input_operand = true;
        options.per_component_negation = true;
        options.merges_copies = true;
        options.inline_zero_and_one = true;
    }
    if stage == ShaderStage::Fragment {
        no_indirect(options);
        options.has_comparisons = false;
        options.has_lit = false;
        options.has_exp = false;
        options.has_pow = false;
        options.free_scaling = true;
        options.presubtract = true;
        options.pairing_scheduler = true;
    }
}

/// Targets without `TEX_LZ`, `TXF_LZ`, `DEMOTE` and `READ_HELPER`: Mesa 25.0 does not set `PIPE_CAP_TGSI_TEX_TXF_LZ`.
/// `svga_tgsi_vgpu10.c` does not implement them and rejects the shader; `tgsi_exec.c`, which runs the shaders of
/// softpipe and the vertex shaders of i915, does not either and writes nothing. `d3d10umd` emits other opcodes, as its
/// driver may be either.
fn no_late_opcodes(options: &mut TgsiOptions) {
    options.has_demote = false;
    options.has_lz = false;
}

/// `tgsi_exec.c` of Mesa 25.0 does not implement `FMA`, `DFMA`, `DTRUNC`, `DCEIL`, `DROUND` and `DSSG`, and writes
/// nothing.
fn interpreter(options: &mut TgsiOptions) {
    no_late_opcodes(options);
    options.has_fma = false;
    options.has_wide_rounding = false;
}

/// `svga_tgsi_vgpu10.c` of Mesa 25.0 does not implement `ARR`, 64-bit integers and packed numbers, and rejects the
/// shader. Comparisons are those of Direct3D 10; `SLT`, `SGE`, `SEQ`, `SNE` and `CMP` add a selection. Its
/// `get_temp_array_id` and `remap_temp_index` find the array of an operand by its register, whatever the operand's
/// array number.
fn svga(options: &mut TgsiOptions) {
    no_late_opcodes(options);
    options.has_wide_integers = false;
    options.has_packing = false;
    options.has_arr = false;
    options.offsets_in_array = true;
    options.comparisons_return_masks = true;
}

/// `svga_tgsi_insn.c` of Mesa 25.0: one input and one constant in an instruction, one address register. `CMP` of
/// vertices sets a predicate and moves twice, and so do `SEQ` and `SNE`. Loops have no `CONT`.
fn vgpu9(stage: ShaderStage, options: &mut TgsiOptions) {
    options.has_continue = false;
    options.single_constant_operand = true;
    options.single_input_operand = true;
    options.address_registers = 1;
    options.slow_cmp = stage == ShaderStage::Vertex;
    options.slow_equality = true;
}

impl Profile {
    fn row(self) -> Option<&'static Row> {
        Profile::TABLE.iter().find(|row| row.profile == self)
    }

    /// Applies the profile of a name for all stages. Returns whether it exists.
    pub(crate) fn set(name: &str, options: &mut TgsiOptions) -> bool {
        let Some(index) = Profile::NAMED.iter().position(|option| option.name == name) else { return false };
        let Some(row) = Profile::TABLE.get(index) else { return false };
        options.profile = row.profile;
        (row.set)(options);
        true
    }

    /// Applies the settings for a stage.
    pub(crate) fn fit(self, stage: ShaderStage, options: &mut TgsiOptions) {
        if let Some(row) = self.row() {
            (row.fit)(stage, options);
        }
    }
}
