//! Tables of passes: rows, sets of passes, the schedule of due passes, and the macro that declares a table.
//!
//! The [table of the IR](super::table), that of the register layer and those of drivers have this form, for any type of
//! program.

use crate::options::CompilerOptions;
use crate::shader::Shader;

/// A row of a table: a pass over programs `P` for targets `T`.
#[derive(Debug)]
pub struct PassInfo<P: 'static = Shader, T: 'static = CompilerOptions> {
    /// The number of the pass in the table.
    pub number: u32,
    /// The name of the pass, its function and its file. Names of a driver's passes begin with the name of the driver.
    pub name: &'static str,
    /// The folder of the file, and section of the manual.
    pub group: &'static str,
    /// The effect of the pass, in one sentence.
    pub about: &'static str,
    /// Runs the pass. Further parameters of its function have their usual values. Returns whether the program changed.
    pub run: fn(&mut P, &T) -> bool,
    /// Whether pipelines run the pass on a program.
    pub applies: fn(&P) -> bool,
    /// Whether a second run may change the program.
    pub repeats: fn(&P) -> bool,
    /// The other passes that become due when this one changes a program.
    pub enables: PassSet,
}

/// A set of passes of one table, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PassSet(u128);

impl PassSet {
    /// The set of these numbers.
    pub const fn of_numbers(numbers: &[u32]) -> PassSet {
        let mut set = 0;
        let mut index = 0;
        while index < numbers.len() {
            set |= 1 << numbers[index];
            index += 1;
        }
        PassSet(set)
    }

    /// Whether the pass of a number is among them.
    pub const fn has(self, number: u32) -> bool {
        self.0 >> number & 1 != 0
    }

    /// Adds a pass. Returns whether it was not there.
    fn insert(&mut self, number: u32) -> bool {
        let is_new = !self.has(number);
        self.0 |= 1 << number;
        is_new
    }
}

/// Returns the passes that become due after a change by `pass`. For each pass of the table, `columns` states whether it
/// has an effect in its first run only, and the passes whose changes it ignores.
pub const fn enabled_by(pass: u32, columns: &[(bool, PassSet)]) -> PassSet {
    let mut enabled = PassSet(0);
    let mut other = 0;
    while other < columns.len() {
        let (is_first, ignored) = columns[other];
        if other as u32 != pass && !is_first && !ignored.has(pass) {
            enabled.0 |= 1 << other;
        }
        other += 1;
    }
    enabled
}

/// The due passes of a table. A pass is due until it has run, and again after a change by a pass that enables it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Schedule {
    settled: PassSet,
}

impl Schedule {
    /// Returns the schedule with these passes not due.
    pub fn without<P, T>(mut self, passes: &[&'static PassInfo<P, T>]) -> Schedule {
        passes.iter().for_each(|pass| self.note_run(pass));
        self
    }

    /// Runs the due passes of a list in order. `run` returns whether a pass changed the program. Returns whether any
    /// did.
    pub fn run_due<P, T>(
        &mut self,
        program: &mut P,
        passes: &[&'static PassInfo<P, T>],
        mut run: impl FnMut(&mut P, &'static PassInfo<P, T>) -> bool,
    ) -> bool {
        let mut progress = false;
        for &pass in passes {
            if self.settled.insert(pass.number) && run(program, pass) {
                self.note_change(program, pass);
                progress = true;
            }
        }
        progress
    }

    /// Records that a pass runs now.
    pub(super) fn note_run<P, T>(&mut self, pass: &PassInfo<P, T>) {
        self.settled.insert(pass.number);
    }

    /// Records that a pass has changed the program.
    pub(super) fn note_change<P, T>(&mut self, program: &P, pass: &PassInfo<P, T>) {
        let itself = u128::from((pass.repeats)(program)) << pass.number;
        self.settled.0 &= !(pass.enables.0 | itself);
    }
}

/// Declares a table of passes over a type of programs for a type of targets: `PassId`, a number for each; `rows`, the
/// rows by the names of the passes, for lists; and `PASSES`, all of them.
///
/// ```
/// use tgsi_ir::passes::pass_table::Schedule;
///
/// mod table {
///     tgsi_ir::pass_table! {
///         Vec<u32>, u32, "":
///         numbers {
///             sort once [remove_zeros] "Sorts the numbers." |program, _| {
///                 let is_sorted = program.is_sorted();
///                 program.sort();
///                 !is_sorted
///             };
///             remove_zeros once [sort] "Removes zeros." |program, _| {
///                 let count = program.len();
///                 program.retain(|number| *number != 0);
///                 program.len() != count
///             };
///         }
///     }
/// }
///
/// let mut program = vec![3, 0, 1];
/// let mut schedule = Schedule::default();
/// assert!(schedule.run_due(&mut program, table::PASSES, |program, pass| (pass.run)(program, &0)));
/// assert_eq!(program, [1, 3]);
/// assert!(!schedule.run_due(&mut program, table::PASSES, |program, pass| (pass.run)(program, &0)));
/// ```
///
/// The string after the types is the prefix of all names. A row is
/// `name repeats [ignored] if condition "About." function;`:
///
/// - `repeats` is whether a second run, directly after the first, may change the program: never for `once`, possibly
///   for `again`, possibly for `loops` if the function `have_loops` of the program returns true. A `first` pass has no
///   effect after its first run, whatever other passes change.
/// - `ignored` lists passes whose changes never make this one due.
/// - `if condition`, which may be missing, names a function of the program: pipelines run the pass only where it is
///   true.
#[macro_export]
macro_rules! pass_table {
    (@is_first first) => { true };
    (@is_first $repeats:ident) => { false };
    (@repeats first) => { |_| false };
    (@repeats once) => { |_| false };
    (@repeats again) => { |_| true };
    (@repeats loops) => { have_loops };
    (@applies) => { |_| true };
    (@applies $when:ident) => { $when };
    (
        $Program:ty, $Target:ty, $prefix:literal:
        $($group:ident {
            $($name:ident $repeats:ident [$($ignored:ident)*] $(if $when:ident)? $about:literal $run:expr;)+
        })+
    ) => {
        /// The passes.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(non_camel_case_types, reason = "as they are called")]
        pub enum PassId { $($(#[doc = $about] $name,)+)+ }

        impl PassId {
            /// All passes in the order of the table.
            pub const ALL: &'static [PassId] = &[$($(PassId::$name,)+)+];
        }

        const _: () = assert!(PassId::ALL.len() <= 128, "a set has a bit for each");

        const COLUMNS: &[(bool, $crate::passes::pass_table::PassSet)] = &[$($((
            $crate::pass_table!(@is_first $repeats),
            $crate::passes::pass_table::PassSet::of_numbers(&[$(PassId::$ignored as u32),*]),
        ),)+)+];

        $($(
            #[allow(non_upper_case_globals, reason = "as they are called")]
            const $name: &$crate::passes::pass_table::PassInfo<$Program, $Target> =
                &$crate::passes::pass_table::PassInfo {
                    number: PassId::$name as u32,
                    name: concat!($prefix, stringify!($name)),
                    group: stringify!($group),
                    about: $about,
                    run: $run,
                    applies: $crate::pass_table!(@applies $($when)?),
                    repeats: $crate::pass_table!(@repeats $repeats),
                    enables: $crate::passes::pass_table::enabled_by(PassId::$name as u32, COLUMNS),
                };
        )+)+

        /// The rows by the names of the passes, for lists.
        #[allow(non_upper_case_globals, reason = "as they are called")]
        #[doc(hidden)]
        pub mod rows {
            use super::*;
            $($(
                #[doc = $about]
                pub const $name: &$crate::passes::pass_table::PassInfo<$Program, $Target> = super::$name;
            )+)+
        }

        /// All passes.
        pub static PASSES: &[&$crate::passes::pass_table::PassInfo<$Program, $Target>] = &[$($($name,)+)+];
    };
}
