//! The capabilities of the target.

use std::borrow::Cow;

use tgsi::KeepSubroutines;
use tgsi::limits::Limits;
use tgsi_compiler::{DriverOption, UnknownOption};
use tgsi_ir::passes::pipeline::Level;
use tgsi_ir::shader::Stage;
use tgsi_ir::variable::VariableModes;
use tgsi_registers::modifiers::ModifierPolicy;

use super::profiles::Profile;

/// The register files that can be addressed by a run-time index: of registers, or of vertices and buffers.
///
/// Where a file cannot, an access becomes a tree of conditions over direct ones, each element named once, so that code
/// grows with the length of what is indexed. No operand of that file goes through an address register then. A shader
/// that would become too large is an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndirectFiles {
    /// `IN`.
    pub inputs: bool,
    /// `OUT`.
    pub outputs: bool,
    /// `TEMP`.
    pub temporaries: bool,
    /// `CONST`.
    pub constants: bool,
}

impl IndirectFiles {
    /// Modes of the variables in files that cannot.
    pub(crate) fn missing(&self) -> VariableModes {
        let mode = |can: bool, modes: VariableModes| if can { VariableModes::NONE } else { modes };
        mode(self.inputs, VariableModes::SHADER_IN)
            .union(mode(self.outputs, VariableModes::SHADER_OUT))
            .union(mode(self.temporaries, VariableModes::FUNCTION_TEMP.union(VariableModes::SHADER_TEMP)))
            .union(mode(self.constants, VariableModes::UNIFORM.union(VariableModes::MEM_UBO)))
    }
}

/// The readers of the code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Dialect {
    /// Mesa: all that TGSI can say.
    #[default]
    Mesa,
    /// Hosts of virgl (virglrenderer 0.10), which have an old parser and print GLSL from the tokens. What they do not
    /// take stands in `src/target/virgl/mod.rs`. Hosts speak integers and address everything by run-time indices, so
    /// the options that say otherwise do not go with it.
    Virgl,
}

/// Options of the translation. The default has everything that TGSI can say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TgsiOptions {
    /// The consumer. What it has in one stage only is added for shaders of that stage.
    pub profile: Profile,
    /// The readers of the code. Other options may ask for what a dialect does not have: then it goes without.
    pub dialect: Dialect,
    /// The target has integers. Otherwise no integer opcode is used: integers become floats
    /// ([`lower_int_to_float`](mod@tgsi_ir::passes::lower_numbers::lower_int_to_float)), booleans 0.0 and 1.0, and what
    /// the interface has of integers (constants, inputs, system values, outputs) is floats:
    /// [`Target::interface_integers`](tgsi_compiler::Target::interface_integers) lists it. What needs integers is an
    /// error.
    pub native_integers: bool,
    /// Absolute value is a source modifier. Otherwise `MAX(a, -a)` computes it.
    pub fuse_fabs: bool,
    /// The target has `CMP`. Otherwise `UCMP` selects, and where there are no integers either a sum of two products,
    /// for which both values must be finite.
    pub has_cmp: bool,
    /// The target has `SQRT`. Otherwise the reciprocal of the reciprocal square root is used.
    pub has_sqrt: bool,
    /// The target has `LRP`. Otherwise a sum and a `MAD` interpolate.
    pub has_lrp: bool,
    /// The target has `FLR`. Otherwise `FRC` is taken off.
    pub has_flr: bool,
    /// The target has `TRUNC` and `CEIL`. Otherwise `FLR` makes them.
    pub has_trunc: bool,
    /// The target has `ROUND`.
    pub has_round: bool,
    /// The target has `SSG`.
    pub has_ssg: bool,
    /// The target has `DIV`. Otherwise the reciprocal multiplies.
    pub has_div: bool,
    /// The target has `POW`. Otherwise it is the exponential of a product with the logarithm.
    pub has_pow: bool,
    /// The target has `SIN` and `COS`. Otherwise a polynomial approximates them, with an error of about 1e-6 for angles
    /// of few turns.
    pub has_periodic: bool,
    /// The target has `LIT` and `DST`. Otherwise arithmetic makes their components.
    pub has_lit: bool,
    /// The target has `EXP` and `LOG`. Otherwise arithmetic makes their components.
    pub has_exp: bool,
    /// The target has `ARR`. Otherwise a half is added for `ARL`.
    pub has_arr: bool,
    /// The target has `FMA` and `DFMA`. Otherwise product and sum are rounded each.
    pub has_fma: bool,
    /// The target has `DTRUNC`, `DCEIL`, `DROUND` and `DSSG`. Otherwise `DFLR` and comparisons make them.
    pub has_wide_rounding: bool,
    /// The target has integers of 64 bits. Otherwise they are pairs of words.
    pub has_wide_integers: bool,
    /// The target has `PK2H` to `PK4UB` and `UP2H` to `UP4UB`.
    pub has_packing: bool,
    /// The target has `SAMPLE_POS` and `SAMPLE_INFO`, and integers and a dialect for them. Otherwise `TXQS` counts
    /// samples, and arithmetic finds their positions.
    pub sample_queries: bool,
    /// Results may be saturated. Otherwise `MAX` and `MIN` clamp them.
    pub has_sat: bool,
    /// The target has `SLT`, `SGE`, `SEQ` and `SNE`. Otherwise `CMP` makes 1.0 and 0.0 of differences: a comparison
    /// with NaN may come out either way then, and infinities of one sign differ.
    pub has_comparisons: bool,
    /// Products with 2, 4, 8 and their reciprocals cost nothing, because results can be scaled: they stay products.
    pub free_scaling: bool,
    /// `TEX_LZ` and `TXF_LZ` may be used.
    pub tex_lz: bool,
    /// The component of `TG4` is the sampler operand's swizzle instead of an immediate.
    pub tg4_component_in_swizzle: bool,
    /// Say in the texture words of instructions what type comes back. Text has no form for it that Mesa reads, so that
    /// only those who take tokens should want it; the sampler view says the same.
    pub texture_return_types: bool,
    /// Multiplications and additions may be fused to `MAD` (which rounds twice, so that nothing changes).
    pub fuse_mad: bool,
    /// Floats are rounded as the source says, in every stage
    /// ([`keep_rounding`](tgsi_ir::options::CompilerOptions::keep_rounding)); `MAD`, `LRP` and `DP2` to `DP4` are what
    /// the source has of them, so that this holds for consumers that round inside them in another way too. On for
    /// [`Dialect::Virgl`], whose users compare pictures.
    pub keep_rounding: bool,
    /// Sums and products may be rounded otherwise, in every stage and dialect. Otherwise those of vertex, tessellation
    /// and geometry shaders are not.
    pub fast: bool,
    /// Files that can be addressed indirectly.
    pub indirect: IndirectFiles,
    /// Whatever a load reaches does no harm: what is out of range reads as anything. Otherwise no access is made that
    /// the source would not have made, but to what is in range for sure. Of known readers of TGSI none is so.
    pub speculate_loads: bool,
    /// Largest index of a constant that an operand can name; beyond it the index goes through an address register. With
    /// constants that cannot be addressed indirectly, one beyond is an error.
    pub max_constant_index: u32,
    /// Address registers, 1 to 3.
    pub address_registers: u8,
    /// Components that each of them has, 1 or 4.
    pub address_components: u8,
    /// A texture instruction writes all four components of a register, at any mask: a narrow one costs a copy. Its
    /// result then has a register of its own.
    pub whole_texture_writes: bool,
    /// Texture instructions read coordinates from x on: what is elsewhere in a register must be copied first.
    pub plain_coordinates: bool,
    /// `CMP` takes three instructions.
    pub costly_cmp: bool,
    /// `SEQ` and `SNE` take three instructions.
    pub costly_equality: bool,
    /// Comparisons give words: `SLT`, `SGE`, `SEQ`, `SNE` and `CMP` take two instructions, of which the second selects.
    pub compares_to_words: bool,
    /// `DDX` and `DDY` give x and y: z and w cost three more instructions.
    pub derivatives_of_xy: bool,
    /// `CMP` reads at most two different temporaries.
    pub narrow_cmp: bool,
    /// There are branches and loops. Without them loops are unrolled, and both sides of a branch are computed; without
    /// `CMP` products are added then. What has to stay a loop is an error.
    pub has_branches: bool,
    /// Loops have `CONT`. Otherwise a loop in the loop is left.
    pub has_continue: bool,
    /// A branch costs several instructions: both sides are computed where they have twice as many instructions as
    /// elsewhere.
    pub costly_branches: bool,
    /// What is added to an address register may be negative.
    pub negative_offsets: bool,
    /// The target finds the array of an operand with a run-time index by the register that the operand names, not by
    /// the number of the array: a constant that is added to the index must not name a register outside of the array.
    pub offsets_in_array: bool,
    /// An instruction reads one constant or immediate: each other one costs a copy.
    pub one_constant: bool,
    /// 0 and 1 are operands that need no register of constants.
    pub free_zero_and_one: bool,
    /// The target makes an operand of 1 - x and 1 - 2x, which are `ADD 1, -x` and `MAD -x, 2, 1`.
    pub presubtract: bool,
    /// An instruction reads one input: each other one costs a copy.
    pub one_input: bool,
    /// Operands negate each component alone, in the target's own code.
    pub component_negation: bool,
    /// The target makes one instruction of the copies that make one vector, with
    /// [`component_negation`](Self::component_negation) of negations, too.
    pub joined_copies: bool,
    /// Operands read x, y and z in few orders, lookups only in place: the target copies others for each instruction,
    /// and propagates copies that it is given. For targets without integers.
    pub few_swizzles: bool,
    /// The target runs texture lookups in few phases: a lookup whose coordinate was computed in one begins the next.
    pub lookup_phases: bool,
    /// Temporaries that the target has, if it is known.
    pub max_temporaries: Option<u32>,
    /// Immediates are floats only, whatever their bits.
    pub float_immediates: bool,
    /// The target stores all four components of the results of some instructions, whatever their write mask says, as
    /// Mesa's interpreter (softpipe) does with atomic operations on buffers and shared memory. Nothing that is still
    /// needed then stands in the register of such a result, nor does it go to an output or array directly.
    pub whole_results: bool,
    /// The target runs 64-bit instructions that make two values one after the other, as Mesa's interpreter does: the
    /// first is written before what the second is made of is read. No instruction then overwrites its own operands so.
    pub halves_in_turn: bool,
    /// The target has subroutines (`CAL`): those that are called more than once and are large stay. Only for those that
    /// have all of TGSI (no [dialect](Self::dialect),
    /// [integers](Self::native_integers), temporaries that are [indexed](Self::indirect)). Otherwise the code of a
    /// subroutine takes the place of each call; if too many
    /// instructions would be copied, that is an error of the [check](tgsi::check::check_for).
    pub subroutines: bool,
    /// Instructions of a subroutine below which its code takes the place of calls even so.
    pub subroutine_size: u64,
    /// Instructions that may be copied to replace the calls of a subroutine.
    pub subroutine_growth: u64,
    /// Leave temporaries as they come, one to a value, for drivers with an allocator of their own.
    pub unoptimized_ra: bool,
    /// The target schedules instructions, and runs those for x, y and z together with those for w. A component of a
    /// temporary that is written again keeps the second write, and what depends on it, behind all readers of the first:
    /// with [`unoptimized_ra`](Self::unoptimized_ra) values then share no component, unless they are copies of one
    /// value or meet behind branches and loops. What is the same in all components is computed in one.
    pub schedules: bool,
    /// Turn vectors that are put together into registers first ([`tgsi_registers::lower_vec_to_regs()`]).
    pub vec_to_regs: bool,
    /// Optimise the selected instructions (copies, modifiers, merging). Off: what selection gives, for debugging.
    pub optimize: bool,
}

impl TgsiOptions {
    /// The modifiers of operands and destinations.
    pub fn modifiers(&self) -> ModifierPolicy {
        if self.fuse_fabs { ModifierPolicy::ALL } else { ModifierPolicy::NO_ABSOLUTE }
    }

    /// The subroutines that stay.
    pub fn keep_subroutines(&self, level: Level) -> Option<KeepSubroutines> {
        let total = Limits::default().expansion;
        self.has_subroutines().then(|| match level {
            Level::All => KeepSubroutines { size: self.subroutine_size, growth: self.subroutine_growth, total },
            // The code must not become larger: what is smaller than this is no larger than its calls.
            Level::Finish | Level::NoGrowth => {
                KeepSubroutines { size: self.subroutine_size.min(SMALL_SUBROUTINE), growth: 0, total }
            }
        })
    }

    /// Whether one index at a time can be held for what operands of an instruction have of it.
    pub(crate) fn has_single_addresses(&self) -> bool {
        self.dialect == Dialect::Virgl || self.address_registers * self.address_components <= 1
    }

    pub(crate) fn has_sample_queries(&self) -> bool {
        self.sample_queries && self.dialect == Dialect::Mesa && self.native_integers
    }

    pub(crate) fn has_subroutines(&self) -> bool {
        self.subroutines && self.dialect == Dialect::Mesa && self.native_integers && self.indirect.temporaries
    }
}

/// Instructions of a subroutine that is called twice that are as many as its two `CAL`s, `BGNSUB` and `ENDSUB`, and one
/// more.
const SMALL_SUBROUTINE: u64 = 5;

impl TgsiOptions {
    /// Translated code as the target runs it, said in plain TGSI: it must mean the same.
    pub fn as_run<'a>(&self, translated: &'a tgsi::Shader) -> Cow<'a, tgsi::Shader> {
        if self.dialect == Dialect::Mesa && self.whole_results && self.halves_in_turn {
            Cow::Owned(tgsi_run::as_mesa_stores(translated))
        } else {
            Cow::Borrowed(translated)
        }
    }

    /// The options with what the profile says of a stage.
    pub(crate) fn for_stage(&self, stage: Stage) -> TgsiOptions {
        let mut options = self.clone();
        self.profile.fit(stage, &mut options);
        options
    }

    /// The options for a shader of a stage: without what the dialect does not have, and with
    /// [`keep_rounding`](Self::keep_rounding) as it comes out there.
    pub(crate) fn fitted(&self, stage: Stage) -> TgsiOptions {
        let options = self.for_stage(stage);
        let keep_rounding = options.compiler_options_of_any_stage().keeps_rounding(stage);
        let options = TgsiOptions { keep_rounding, ..options };
        match self.dialect {
            Dialect::Mesa => options,
            // CMP selects the other value for NaN there.
            Dialect::Virgl => TgsiOptions {
                has_cmp: false,
                has_fma: false,
                // They take the logarithm of negative numbers, a power where x is 0, and write whole registers.
                has_lit: false,
                has_exp: false,
                has_arr: false,
                has_continue: false,
                has_wide_integers: false,
                has_packing: false,
                tex_lz: false,
                tg4_component_in_swizzle: false,
                texture_return_types: false,
                address_registers: 3,
                address_components: 4,
                // Hosts print GLSL, where a mask is a mask and a vector one value.
                whole_results: false,
                halves_in_turn: false,
                ..options
            },
        }
    }
}

impl Default for TgsiOptions {
    fn default() -> Self {
        TgsiOptions {
            profile: Profile::Generic,
            dialect: Dialect::Mesa,
            native_integers: true,
            fuse_fabs: true,
            has_cmp: true,
            has_sqrt: true,
            has_lrp: true,
            has_flr: true,
            has_trunc: true,
            has_round: true,
            has_ssg: true,
            has_div: true,
            has_pow: true,
            has_periodic: true,
            has_lit: true,
            has_exp: true,
            has_arr: true,
            has_fma: true,
            has_wide_rounding: true,
            has_wide_integers: true,
            has_packing: true,
            sample_queries: true,
            has_sat: true,
            has_comparisons: true,
            free_scaling: false,
            tex_lz: true,
            tg4_component_in_swizzle: false,
            texture_return_types: false,
            fuse_mad: true,
            keep_rounding: false,
            fast: false,
            indirect: IndirectFiles { inputs: true, outputs: true, temporaries: true, constants: true },
            speculate_loads: false,
            max_constant_index: 32767,
            address_registers: 3,
            address_components: 4,
            whole_texture_writes: false,
            plain_coordinates: false,
            costly_cmp: false,
            costly_equality: false,
            compares_to_words: false,
            derivatives_of_xy: false,
            narrow_cmp: false,
            has_branches: true,
            has_continue: true,
            costly_branches: false,
            negative_offsets: true,
            offsets_in_array: false,
            one_constant: false,
            one_input: false,
            presubtract: false,
            free_zero_and_one: false,
            component_negation: false,
            joined_copies: false,
            few_swizzles: false,
            lookup_phases: false,
            max_temporaries: None,
            float_immediates: false,
            whole_results: true,
            halves_in_turn: true,
            subroutines: true,
            subroutine_size: 32,
            subroutine_growth: 512,
            unoptimized_ra: false,
            schedules: false,
            vec_to_regs: false,
            optimize: true,
        }
    }
}

macro_rules! named_options {
    ($($name:literal, $about:literal => |$options:ident| $change:expr;)+) => {
        impl TgsiOptions {
            /// The options that [`TgsiOptions::set`] knows: each changes the default.
            pub const NAMED: &'static [DriverOption] = &[$(DriverOption { name: $name, about: $about }),+];

            /// Changes the option of a name, as command lines and test files say it.
            ///
            /// # Errors
            /// [`UnknownOption`].
            pub fn set(&mut self, name: &str) -> Result<(), UnknownOption> {
                match name {
                    $($name => {
                        let $options = self;
                        $change;
                    })+
                    _ if Profile::set(name, self) => {}
                    _ => return Err(UnknownOption { name: name.to_owned(), options: TgsiOptions::NAMED, problem: None }),
                }
                Ok(())
            }
        }
    };
}

named_options! {
    "no_native_integers", "There are no integers: integers become floats, booleans 0.0 and 1.0."
        => |o| o.native_integers = false;
    "no_fabs", "Absolute value is not a source modifier." => |o| o.fuse_fabs = false;
    "no_cmp", "There is no CMP." => |o| o.has_cmp = false;
    "no_sqrt", "There is no SQRT." => |o| o.has_sqrt = false;
    "no_lrp", "There is no LRP." => |o| o.has_lrp = false;
    "no_flr", "There is no FLR." => |o| o.has_flr = false;
    "no_trunc", "There are no TRUNC and CEIL." => |o| o.has_trunc = false;
    "no_round", "There is no ROUND." => |o| o.has_round = false;
    "no_ssg", "There is no SSG." => |o| o.has_ssg = false;
    "no_div", "There is no DIV." => |o| o.has_div = false;
    "no_pow", "There is no POW." => |o| o.has_pow = false;
    "no_periodic", "There are no SIN and COS." => |o| o.has_periodic = false;
    "no_lit", "There are no LIT and DST." => |o| o.has_lit = false;
    "no_exp", "There are no EXP and LOG." => |o| o.has_exp = false;
    "no_arr", "There is no ARR." => |o| o.has_arr = false;
    "no_fma", "There are no FMA and DFMA." => |o| o.has_fma = false;
    "no_wide_rounding", "There are no DTRUNC, DCEIL, DROUND and DSSG." => |o| o.has_wide_rounding = false;
    "no_wide_integers", "There are no integers of 64 bits." => |o| o.has_wide_integers = false;
    "no_packing", "There are no PK2H to PK4UB and UP2H to UP4UB." => |o| o.has_packing = false;
    "no_sample_queries", "There are no SAMPLE_POS and SAMPLE_INFO." => |o| o.sample_queries = false;
    "no_sat", "Results cannot be saturated." => |o| o.has_sat = false;
    "no_comparisons", "There are no SLT, SGE, SEQ, SNE; NaN compares as anything." => |o| o.has_comparisons = false;
    "free_scaling", "Products with 2, 4, 8 and their reciprocals cost nothing." => |o| o.free_scaling = true;
    "no_lz", "There are no TEX_LZ and TXF_LZ." => |o| o.tex_lz = false;
    "return_types", "Texture instructions say what type they return." => |o| o.texture_return_types = true;
    "tg4_swizzle", "The component of TG4 is the swizzle of its sampler." => |o| o.tg4_component_in_swizzle = true;
    "no_mad", "MUL and ADD do not become MAD." => |o| o.fuse_mad = false;
    "keep_rounding", "Floats are rounded as the source says, in every stage." => |o| o.keep_rounding = true;
    "fast", "Sums and products may be rounded otherwise, in every stage." => |o| o.fast = true;
    "no_indirect_inputs", "IN is not indexed at run time." => |o| o.indirect.inputs = false;
    "no_indirect_outputs", "OUT is not indexed at run time." => |o| o.indirect.outputs = false;
    "no_indirect_temporaries", "TEMP is not indexed at run time." => |o| o.indirect.temporaries = false;
    "no_indirect_constants", "CONST is not indexed at run time." => |o| o.indirect.constants = false;
    "speculate_loads", "Loads that the source would not have made do no harm." => |o| o.speculate_loads = true;
    "few_constants", "Operands name constants up to 31." => |o| o.max_constant_index = 31;
    "one_address", "There is one address register." => |o| o.address_registers = 1;
    "one_address_component", "There is one address register, with one component."
        => |o| (o.address_registers, o.address_components) = (1, 1);
    "no_negative_offsets", "What is added to an address register is not negative." => |o| o.negative_offsets = false;
    "offsets_in_array", "What is added to an address register is an element of the array."
        => |o| o.offsets_in_array = true;
    "whole_textures", "Texture instructions write whole registers." => |o| o.whole_texture_writes = true;
    "plain_coordinates", "Texture coordinates are read from x on." => |o| o.plain_coordinates = true;
    "costly_cmp", "CMP takes three instructions." => |o| o.costly_cmp = true;
    "costly_equality", "SEQ and SNE take three instructions." => |o| o.costly_equality = true;
    "compares_to_words", "SLT, SGE, SEQ, SNE and CMP take two instructions." => |o| o.compares_to_words = true;
    "derivatives_of_xy", "DDX and DDY give x and y; z and w cost more." => |o| o.derivatives_of_xy = true;
    "narrow_cmp", "CMP reads at most two different temporaries." => |o| o.narrow_cmp = true;
    "costly_branches", "A branch costs several instructions." => |o| o.costly_branches = true;
    "no_branches", "There are no branches and loops." => |o| o.has_branches = false;
    "no_continue", "There is no CONT." => |o| o.has_continue = false;
    "one_constant", "A second constant in an instruction costs a copy." => |o| o.one_constant = true;
    "one_input", "A second input in an instruction costs a copy." => |o| o.one_input = true;
    "free_zero_and_one", "0 and 1 are operands without a constant." => |o| o.free_zero_and_one = true;
    "presubtract", "Operands can be 1 - x and 1 - 2x." => |o| o.presubtract = true;
    "component_negation", "Operands negate each component alone." => |o| o.component_negation = true;
    "few_swizzles", "Operands read x, y and z in few orders: others are copied once (without integers)."
        => |o| o.few_swizzles = true;
    "joined_copies", "The target joins the copies that make one vector." => |o| o.joined_copies = true;
    "lookup_phases", "Texture lookups run in few phases." => |o| o.lookup_phases = true;
    "float_immediates", "Immediates are floats." => |o| o.float_immediates = true;
    "masked_results", "Write masks hold for the results of all instructions." => |o| o.whole_results = false;
    "halves_at_once", "64-bit instructions read all operands before they write." => |o| o.halves_in_turn = false;
    "no_subroutines", "There are no subroutines." => |o| o.subroutines = false;
    "small_subroutines", "Subroutines stay however small they are."
        => |o| (o.subroutine_size, o.subroutine_growth) = (0, 0);
    "unoptimized_ra", "Temporaries stay one to a value, for targets with an allocator." => |o| o.unoptimized_ra = true;
    "schedules", "The target schedules instructions, and pairs those of x, y and z with those of w."
        => |o| o.schedules = true;
    "vec_to_regs", "Vectors that are put together become registers first." => |o| o.vec_to_regs = true;
    "plain", "What selection gives is not optimised." => |o| o.optimize = false;
    "virgl", "The code is for hosts of virgl: the same as --dialect virgl." => |o| o.dialect = Dialect::Virgl;
}
