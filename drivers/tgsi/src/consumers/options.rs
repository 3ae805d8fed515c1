//! The options of the target: one table.

use std::borrow::Cow;

use tgsi::internals::InliningThresholds;
use tgsi::limits::Limits;
use tgsi_compiler::UnknownOption;
use tgsi_ir::options::CompilerOptions;
use tgsi_ir::passes::pipeline::OptLevel;
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::variable::VariableModes;
use tgsi_registers::modifiers::ModifierPolicy;

use super::profiles::Profile;

/// The readers of the code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Dialect {
    /// Mesa: all of TGSI.
    #[default]
    Mesa,
    /// Hosts of virgl (virglrenderer 0.10), which have an old parser and print GLSL from the tokens.
    /// `src/consumers/virgl/mod.rs` lists the constructs that they reject. Hosts have integers and index every file at
    /// run time, so options that take these away do not combine with this dialect.
    Virgl,
}

tgsi_compiler::driver_options! {
    /// Options of the translation. The default has all of TGSI.
    pub struct TgsiOptions {
        /// The consumer. Capabilities that differ between stages are added for each shader.
        profile: Profile = Profile::Generic;
        /// The target has integers. Otherwise no integer opcode is used: integers become floats
        /// ([`lower_int_to_float`](mod@tgsi_ir::passes::lower_numbers::lower_int_to_float)), booleans 0.0 and 1.0, and
        /// the integers of the interface (constants, inputs, system values, outputs) floats, which
        /// [`Target::interface_integers`](tgsi_compiler::Target::interface_integers) lists. Operations that need
        /// integers are errors.
        ///
        /// Mesa's interpreter divides integers as its CPU does, which may trap.
        native_integers: bool = true,
            "no_native_integers" = false, "There are no integers: integers become floats, booleans 0.0 and 1.0.",
            sets [has_bfe has_bfi has_bfm division_traps], clears [lower_bitops];
        /// Absolute value is a source modifier. Otherwise `MAX(a, -a)` computes it.
        fuse_fabs: bool = true, "no_fabs" = false, "Absolute value is not a source modifier.";
        /// Without `CMP`, `UCMP` selects, or without integers a sum of two products, for which both values must be
        /// finite.
        has_cmp: bool = true, "no_cmp" = false, "There is no CMP.";
        /// Without `SQRT`, the reciprocal of the reciprocal square root replaces it.
        has_sqrt: bool = true, "no_sqrt" = false, "There is no SQRT.", clears [lower_fsqrt];
        /// Without `LRP`, a sum and a `MAD` interpolate.
        has_lrp: bool = true, "no_lrp" = false, "There is no LRP.", clears [lower_flrp_mad];
        /// Without `FLR`, `FRC` is subtracted.
        has_flr: bool = true, "no_flr" = false, "There is no FLR.";
        /// Without `TRUNC` and `CEIL`, `FLR` replaces them.
        has_trunc: bool = true, "no_trunc" = false, "There are no TRUNC and CEIL.", clears [lower_ftrunc lower_fceil];
        has_round: bool = true, "no_round" = false, "There is no ROUND.", clears [lower_fround_even];
        has_ssg: bool = true, "no_ssg" = false, "There is no SSG.", clears [lower_fsign];
        /// Without `DIV`, the dividend is multiplied by the reciprocal.
        has_div: bool = true, "no_div" = false, "There is no DIV.", clears [lower_fdiv];
        /// Without `POW`, a power is the exponential of a product with the logarithm.
        has_pow: bool = true, "no_pow" = false, "There is no POW.", clears [lower_fpow];
        /// Without `SIN` and `COS`, a polynomial approximates them, with an error of about 1e-6 for angles of few
        /// turns.
        has_periodic: bool = true, "no_periodic" = false, "There are no SIN and COS.";
        /// Without `LIT` and `DST`, arithmetic computes their components.
        has_lit: bool = true, "no_lit" = false, "There are no LIT and DST.";
        /// Without `EXP` and `LOG`, arithmetic computes their components.
        has_exp: bool = true, "no_exp" = false, "There are no EXP and LOG.";
        /// Without `ARR`, a half is added for `ARL`.
        has_arr: bool = true, "no_arr" = false, "There is no ARR.";
        /// Without `FMA` and `DFMA`, product and sum are rounded separately.
        has_fma: bool = true, "no_fma" = false, "There are no FMA and DFMA.", clears [lower_ffma];
        /// Without `DTRUNC`, `DCEIL`, `DROUND` and `DSSG`, `DFLR` and comparisons replace them.
        has_wide_rounding: bool = true, "no_wide_rounding" = false, "There are no DTRUNC, DCEIL, DROUND and DSSG.";
        /// Without 64-bit integers, pairs of words replace them.
        has_wide_integers: bool = true, "no_wide_integers" = false, "There are no integers of 64 bits.";
        has_packing: bool = true, "no_packing" = false, "There are no PK2H to PK4UB and UP2H to UP4UB.",
            clears [lower_pack_unorm_4x8 lower_pack_snorm_4x8 lower_unpack_unorm_4x8 lower_unpack_snorm_4x8];
        /// Requires `native_integers` and Mesa's dialect. Otherwise `TXQS` counts samples, and arithmetic finds their
        /// positions.
        sample_queries: bool = true, "no_sample_queries" = false, "There are no SAMPLE_POS and SAMPLE_INFO.";
        /// Without saturation of results, `MAX` and `MIN` clamp them.
        has_sat: bool = true, "no_sat" = false, "Results cannot be saturated.", clears [lower_fsat];
        /// Without `SLT`, `SGE`, `SEQ` and `SNE`, `CMP` makes 1.0 and 0.0 of differences: the result of a comparison
        /// with NaN is undefined then, and infinities of the same sign are unequal.
        has_comparisons: bool = true,
            "no_comparisons" = false, "There are no SLT, SGE, SEQ, SNE; NaN compares as anything.";
        /// Results can be scaled, so that these products stay products.
        free_scaling: bool = false,
            "free_scaling" = true, "Products with 2, 4, 8 and their reciprocals cost nothing.", sets [free_scaling];
        /// Without `DEMOTE` and `READ_HELPER`, `KILL` ends writes, and continues as a helper (as in Mesa's interpreter,
        /// Direct3D 10 and most drivers for GLSL; GLSL itself leaves derivatives after it undefined).
        has_demote: bool = true, "no_demote" = false, "There are no DEMOTE and READ_HELPER.";
        has_lz: bool = true, "no_lz" = false, "There are no TEX_LZ and TXF_LZ.";
        /// The texture words of instructions have the type, as the sampler view has. Mesa's parser has no text for it,
        /// so that only consumers of tokens should ask for it.
        return_types: bool = false, "return_types" = true, "Texture instructions say what type they return.";
        /// Otherwise it is an immediate.
        tg4_swizzle: bool = false, "tg4_swizzle" = true, "The component of TG4 is the swizzle of its sampler.";
        /// `MAD` rounds twice, so that results stay the same.
        fuse_mad: bool = true, "no_mad" = false, "MUL and ADD do not become MAD.", sets [fuse_mad];
        /// As [`CompilerOptions::keep_rounding`]. `MAD`, `LRP` and `DP2` to `DP4` are then those of the source, so that
        /// this also holds for consumers that round inside them differently. On for [`Dialect::Virgl`], whose users
        /// compare pictures.
        keep_rounding: bool = false,
            "keep_rounding" = true, "Floats are rounded as in the source, in every stage.";
        /// Applies to all dialects. Otherwise sums and products of vertex, tessellation and geometry shaders keep their
        /// rounding.
        fast: bool = false,
            "fast" = true, "Sums and products may be rounded otherwise, in every stage.", sets [free_rounding];
        /// Otherwise an access by a run-time index becomes a tree of conditions over direct ones, each element named
        /// once, so that the code grows with the number of elements: of registers, or of vertices and buffers. No
        /// operand of the file uses an address register then. A shader that would become too large is an error. The
        /// same holds for the other three files.
        indirect_inputs: bool = true, "no_indirect_inputs" = false, "IN is not indexed at run time.";
        indirect_outputs: bool = true, "no_indirect_outputs" = false, "OUT is not indexed at run time.";
        indirect_temporaries: bool = true, "no_indirect_temporaries" = false, "TEMP is not indexed at run time.";
        indirect_constants: bool = true, "no_indirect_constants" = false, "CONST is not indexed at run time.";
        /// Reads out of range return any value. Otherwise the code has no access that the source does not execute,
        /// except to elements that are certainly in range. No known consumer of TGSI allows it.
        speculate_loads: bool = false,
            "speculate_loads" = true, "Loads that the source would not have made do no harm.", sets [speculate_loads];
        /// Largest index of a constant in an operand. Larger ones use an address register; if constants cannot be
        /// indexed, they are errors.
        max_constant_index: u32 = 32767, "max_constant_index_31" = 31, "Operands name constants up to 31.";
        /// Address registers, 1 to 3.
        address_registers: u8 = 3, "single_address_register" = 1, "There is one address register.";
        /// Components of each address register, 1 or 4.
        address_components: u8 = 4,
            "single_address_component" = 1, also address_registers = 1,
            "There is one address register, with one component.";
        negative_offsets: bool = true,
            "no_negative_offsets" = false, "Constants added to an address register are not negative.";
        /// The target finds the array of an operand with a run-time index by the register in the operand instead of
        /// the number of the array: a constant that is added to the index must not name a register outside the array.
        offsets_in_array: bool = false,
            "offsets_in_array" = true, "Constants added to an address register are elements of the array.";
        /// A texture instruction writes all four components of a register whatever its mask. A narrow mask costs a
        /// copy; its result has a separate register.
        tex_ignores_write_mask: bool = false,
            "tex_ignores_write_mask" = true, "Texture instructions write whole registers.";
        /// Coordinates in other components must be copied first.
        unswizzled_coordinates: bool = false,
            "unswizzled_coordinates" = true, "Texture coordinates are read from x on.";
        slow_cmp: bool = false, "slow_cmp" = true, "CMP takes three instructions.";
        slow_equality: bool = false, "slow_equality" = true, "SEQ and SNE take three instructions.";
        /// Comparisons give words: the second instruction selects.
        comparisons_return_masks: bool = false,
            "comparisons_return_masks" = true, "SLT, SGE, SEQ, SNE and CMP take two instructions.";
        /// z and w take three more instructions.
        two_component_derivatives: bool = false,
            "two_component_derivatives" = true, "DDX and DDY give x and y; z and w cost more.";
        cmp_reads_two_temporaries: bool = false,
            "cmp_reads_two_temporaries" = true, "CMP reads at most two different temporaries.";
        /// Both sides of a branch are computed where they have up to twice as many instructions as without this
        /// option.
        slow_branches: bool = false, "slow_branches" = true, "A branch costs several instructions.";
        /// Without branches and loops, loops are unrolled and both sides of a branch are computed; without `CMP`
        /// products are added then. A loop that cannot be unrolled is an error.
        has_branches: bool = true,
            "no_branches" = false, "There are no branches and loops.", clears [lower_control_flow];
        /// Without `CONT`, a loop within the loop is left.
        has_continue: bool = true, "no_continue" = false, "There is no CONT.";
        /// Immediates are constants, too.
        single_constant_operand: bool = false,
            "single_constant_operand" = true, "A second constant in an instruction costs a copy.";
        single_input_operand: bool = false,
            "single_input_operand" = true, "A second input in an instruction costs a copy.";
        inline_zero_and_one: bool = false, "inline_zero_and_one" = true, "0 and 1 are operands without a constant.";
        /// The target folds `ADD 1, -x` and `MAD -x, 2, 1` into the operand.
        presubtract: bool = false,
            "presubtract" = true, "Operands can be 1 - x and 1 - 2x.", sets [free_differences_from_one];
        /// Applies to the target's native instructions, not to TGSI.
        per_component_negation: bool = false, "per_component_negation" = true, "Operands negate each component alone.";
        /// The target copies other orders for each instruction, reads lookups without swizzles, and propagates copies
        /// itself.
        restricted_swizzles: bool = false,
            "restricted_swizzles" = true,
            "Operands read x, y and z in few orders: others are copied once (without integers).";
        /// Copies that form one vector become one instruction; with
        /// [`per_component_negation`](Self::per_component_negation) negations do, too.
        merges_copies: bool = false, "merges_copies" = true, "The target joins the copies that make one vector.";
        /// A lookup whose coordinate was computed in one phase begins the next.
        lookup_phases: bool = false, "lookup_phases" = true, "Texture lookups run in few phases.";
        /// Temporaries of the target, if known.
        max_temporaries: Option<u32> = None;
        /// Whatever their bits.
        float_immediates: bool = false, "float_immediates" = true, "Immediates are floats.";
        /// Otherwise the target stores all four components of the results of some instructions whatever their write
        /// mask, as Mesa's interpreter (softpipe) does for atomic operations on buffers and shared memory. No live
        /// value is then in the register of such a result, nor is the result written to an output or array directly.
        masked_results: bool = false,
            "masked_results" = true, "Write masks hold for the results of all instructions.";
        /// Otherwise the target executes the two halves of a 64-bit instruction in sequence, and writes the first
        /// result before it reads the operands of the second (as softpipe does), so that no destination overlaps the
        /// operands.
        wide_reads_before_writes: bool = false,
            "wide_reads_before_writes" = true, "64-bit instructions read all operands before they write.";
        /// The target has subroutines (`CAL`): large ones with several calls stay. Only for targets with all of TGSI
        /// (Mesa's [dialect](Self::dialect), [integers](Self::native_integers), temporaries that are
        /// [indexed](Self::indirect_temporaries)). Otherwise each call is inlined; if that copies too many
        /// instructions, it is an error of the [check](tgsi::check::check_for).
        subroutines: bool = true, "no_subroutines" = false, "There are no subroutines.";
        /// Instructions of a subroutine below which it is inlined even so.
        subroutine_size: u64 = 32,
            "keep_small_subroutines" = 0, also subroutine_growth = 0, "Subroutines stay however small they are.";
        /// Instructions that may be copied to inline the calls of a subroutine.
        subroutine_growth: u64 = 512;
        unoptimized_ra: bool = false,
            "unoptimized_ra" = true, "Temporaries stay one to a value, for targets with an allocator.";
        /// A second write of a component of a temporary keeps that write, and everything that depends on it, behind all
        /// uses of the first: with [`unoptimized_ra`](Self::unoptimized_ra) values then share no component, unless they
        /// are copies of one value or meet after branches and loops. A value that is equal in all components is
        /// computed in one.
        pairing_scheduler: bool = false,
            "pairing_scheduler" = true,
            "The target schedules instructions, and pairs those of x, y and z with those of w.";
        /// See [`tgsi_registers::lower_vec_to_regs()`].
        vec_to_regs: bool = false,
            "vec_to_regs" = true, "Vectors that are put together become registers first.";
        /// For debugging.
        unoptimized: bool = false, "unoptimized" = true, "The result of selection is not optimised.";
        /// The consumers of the code. The dialect takes precedence over options for features that it lacks.
        dialect: Dialect = Dialect::Mesa,
            "virgl" = Dialect::Virgl, "The code is for hosts of virgl: the same as --dialect virgl.";
    }
}

impl TgsiOptions {
    /// The modifiers of operands and destinations.
    pub fn modifiers(&self) -> ModifierPolicy<'static> {
        if self.fuse_fabs { ModifierPolicy::ALL } else { ModifierPolicy::NO_ABSOLUTE }
    }

    /// The subroutines that stay.
    pub fn keep_subroutines(&self, level: OptLevel) -> Option<InliningThresholds> {
        let total = Limits::default().expansion;
        self.has_subroutines().then(|| match level {
            OptLevel::Full => InliningThresholds { size: self.subroutine_size, growth: self.subroutine_growth, total },
            // The code must not become larger: a subroutine below this size is at most as large as its calls.
            OptLevel::LowerOnly | OptLevel::NoSizeGrowth => {
                InliningThresholds { size: self.subroutine_size.min(SMALL_SUBROUTINE), growth: 0, total }
            }
        })
    }

    /// Whether only one index at a time can be held for the operands of an instruction.
    pub(crate) fn has_single_addresses(&self) -> bool {
        self.dialect == Dialect::Virgl || self.address_registers * self.address_components <= 1
    }

    pub(crate) fn has_sample_queries(&self) -> bool {
        self.sample_queries && self.dialect == Dialect::Mesa && self.native_integers
    }

    pub(crate) fn has_subroutines(&self) -> bool {
        self.subroutines && self.dialect == Dialect::Mesa && self.native_integers && self.indirect_temporaries
    }
}

/// Instructions of a subroutine that is called twice that are as many as its two `CAL`s, `BGNSUB` and `ENDSUB`, and one
/// more.
const SMALL_SUBROUTINE: u64 = 5;

impl TgsiOptions {
    /// Sets an option or a profile by the name that command lines and test files use.
    ///
    /// # Errors
    /// [`UnknownOption`].
    pub fn set(&mut self, name: &str) -> Result<(), UnknownOption> {
        let is_known = self.set_option(name) || Profile::set(name, self);
        if is_known { Ok(()) } else { Err(UnknownOption::new(name, Self::OPTIONS)) }
    }

    /// Translated code as the target runs it, in plain TGSI: it must mean the same.
    pub fn as_run<'a>(&self, translated: &'a tgsi::Shader) -> Cow<'a, tgsi::Shader> {
        if self.dialect == Dialect::Mesa && !self.masked_results && !self.wide_reads_before_writes {
            Cow::Owned(tgsi_run::as_mesa_stores(translated))
        } else {
            Cow::Borrowed(translated)
        }
    }

    /// The options for shaders of a stage: the profile's options for it, restricted to the features of the dialect.
    pub(crate) fn for_stage(&self, stage: ShaderStage) -> TgsiOptions {
        let mut options = self.clone();
        self.profile.fit(stage, &mut options);
        if self.dialect == Dialect::Virgl {
            options.restrict_to_virgl();
        }
        options
    }

    /// The same, with the value of [`keep_rounding`](Self::keep_rounding) that applies to the stage.
    pub(crate) fn for_stage_and_rounding(&self, stage: ShaderStage) -> TgsiOptions {
        let options = self.for_stage(stage);
        let keep_rounding = options.compiler_options_of_any_stage().keeps_rounding(stage);
        TgsiOptions { keep_rounding, ..options }
    }

    fn restrict_to_virgl(&mut self) {
        self.keep_rounding = true;
        // CMP selects the other value for NaN there.
        self.has_cmp = false;
        self.has_fma = false;
        // Hosts take the logarithm of negative numbers, a power where x is 0, and write whole registers.
        self.has_lit = false;
        self.has_exp = false;
        self.has_arr = false;
        self.has_continue = false;
        self.has_wide_integers = false;
        self.has_packing = false;
        self.has_demote = false;
        self.has_lz = false;
        self.tg4_swizzle = false;
        self.return_types = false;
        self.address_registers = 3;
        self.address_components = 4;
        // Hosts print GLSL, where a mask is a mask and a vector one value.
        self.masked_results = true;
        self.wide_reads_before_writes = true;
    }

    /// The properties of the target for the optimiser, of options that are those of a stage.
    pub(crate) fn compiler_options_of_any_stage(&self) -> CompilerOptions {
        let defaults = CompilerOptions::default();
        let mut compiler = CompilerOptions {
            peephole_select_limit: defaults.peephole_select_limit * if self.slow_branches { 2 } else { 1 },
            source_modifiers: true,
            fuse_scmp: true,
            keep_rounding: self.keep_rounding && !self.fast,
            lower_fdot_mad: false,
            lower_fmod: true,
            lower_pack_snorm_2x16: true,
            lower_unpack_snorm_2x16: true,
            keep_ifs: !self.native_integers && !self.has_cmp && self.has_branches,
            no_indirect: self.no_indirect(),
            ..defaults
        };
        self.set_switches(&mut compiler);
        compiler
    }

    /// Modes of the variables in files that cannot be indexed at run time.
    pub(crate) fn no_indirect(&self) -> VariableModes {
        [
            (self.indirect_inputs, VariableModes::SHADER_IN),
            (self.indirect_outputs, VariableModes::SHADER_OUT),
            (self.indirect_temporaries, VariableModes::FUNCTION_TEMP.union(VariableModes::SHADER_TEMP)),
            (self.indirect_constants, VariableModes::UNIFORM.union(VariableModes::MEM_UBO)),
        ]
        .iter()
        .fold(VariableModes::NONE, |modes, &(can, file)| if can { modes } else { modes.union(file) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_named_after_their_fields() {
        for &(field, default, names) in TgsiOptions::FIELDS {
            let expected = match default {
                "true" => format!("no_{}", field.trim_start_matches("has_").trim_start_matches("fuse_")),
                "false" => field.to_owned(),
                _ => continue,
            };
            assert_eq!(names, [expected]);
        }
    }
}
