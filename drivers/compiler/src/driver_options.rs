//! The table of the options of a driver.

/// Declares the options of a driver from a table with one row for each field. The table is the only place that names
/// an option: the struct, its defaults, the options that users set by name, the profiles, and the switches of
/// [`CompilerOptions`](tgsi_ir::options::CompilerOptions) that follow from a field come from it.
///
/// ```
/// use tgsi_ir::options::CompilerOptions;
///
/// tgsi_compiler::driver_options! {
///     /// Options of the driver.
///     pub struct ExampleOptions {
///         /// Otherwise a sum and a `MAD` interpolate.
///         has_lrp: bool = true, "no_lrp" = false, "There is no LRP.", clears [lower_flrp_mad];
///         free_scaling: bool = false, "free_scaling" = true, "Products with 2 cost nothing.", sets [free_scaling];
///         /// Number of address registers.
///         address_registers: u8 = 3, "single_address_register" = 1, "There is one address register.";
///         /// Version of the language. Only profiles set it.
///         version: (u8, u8) = (1, 0);
///         debug: bool = false, "debug" = true, also free_scaling = false, "Code for a debugger.";
///     }
///     profiles {
///         "old", "The first model." => |o| { o.has_lrp = false; o.address_registers = 1 };
///     }
/// }
///
/// let mut options = ExampleOptions::default();
/// assert!(options.set_option("no_lrp") && !options.has_lrp);
/// assert!(options.set_profile("old") && options.address_registers == 1);
/// assert!(!options.set_option("fast"));
/// let mut compiler = CompilerOptions::default();
/// options.set_switches(&mut compiler);
/// assert!(compiler.lower_flrp_mad && !compiler.free_scaling);
/// ```
///
/// A row is `field: type = default`, followed by
///
/// - any number of options, each with its name, the value that it gives to the field, and a sentence for `--help`. An
///   option that changes other fields, too, names them with `also`;
/// - `sets [switches]`: the switches of the compiler that equal the field;
/// - `clears [switches]`: those that equal its negation.
///
/// The field of an option that turns something on has the name of the option. One that turns something off is `no_`
/// and the name of the field, without `has_` or `fuse_`. The documentation of a field is its comment and the sentences
/// of its options.
#[macro_export]
macro_rules! driver_options {
    (
        $(#[$attribute:meta])*
        pub struct $Options:ident {
            $(
                $(#[$doc:meta])*
                $field:ident: $type:ty = $default:expr
                    $(, $name:literal = $value:expr $(, also $other:ident = $other_value:expr)*, $about:literal)*
                    $(, sets [$($on:ident)*])?
                    $(, clears [$($off:ident)*])?;
            )*
        }
        $(profiles {
            $($profile:literal, $about_profile:literal => |$options:ident| $change:expr;)*
        })?
    ) => {
        $(#[$attribute])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        #[non_exhaustive]
        pub struct $Options {
            $(
                $(#[$doc])*
                $(
                    #[doc = ""]
                    #[doc = concat!("Option `", $name, "`: ", $about)]
                )*
                pub $field: $type,
            )*
        }

        impl Default for $Options {
            fn default() -> Self {
                $Options { $($field: $default,)* }
            }
        }

        impl $Options {
            /// The options that have names, in the order in which they are listed.
            pub const OPTIONS: &'static [$crate::DriverOption] =
                &[$($($crate::DriverOption { name: $name, about: $about },)*)*];

            /// The options after a change.
            #[must_use]
            pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
                change(&mut self);
                self
            }

            /// Sets an option by its name. Returns whether there is one.
            fn set_option(&mut self, name: &str) -> bool {
                match name {
                    $($(
                        $name => {
                            self.$field = $value;
                            $(self.$other = $other_value;)*
                        }
                    )*)*
                    _ => return false,
                }
                true
            }

            /// Sets the switches of the compiler that follow from one field each.
            fn set_switches(&self, compiler: &mut $crate::CompilerOptions) {
                $(
                    $($(compiler.$on = self.$field;)*)?
                    $($(compiler.$off = !self.$field;)*)?
                )*
            }

            /// Each field with its default and the names of its options.
            #[cfg(test)]
            pub(crate) const FIELDS: &'static [(&'static str, &'static str, &'static [&'static str])] =
                &[$((stringify!($field), stringify!($default), &[$($name),*])),*];
        }

        $(impl $Options {
            /// The profiles, in the order in which they are listed.
            pub const PROFILES: &'static [$crate::DriverOption] =
                &[$($crate::DriverOption { name: $profile, about: $about_profile }),*];

            /// Sets the options of a profile by its name. Returns whether there is one.
            fn set_profile(&mut self, name: &str) -> bool {
                match name {
                    $($profile => {
                        let $options = self;
                        $change;
                    })*
                    _ => return false,
                }
                true
            }

            /// The options with these names of options and profiles.
            ///
            /// # Errors
            /// There is no option of a name.
            #[allow(dead_code, reason = "some drivers have further options")]
            pub(crate) fn of_names(names: &[&str]) -> ::core::result::Result<Self, $crate::UnknownOption> {
                let mut options = Self::default();
                match names.iter().find(|name| !options.set_profile(name) && !options.set_option(name)) {
                    Some(unknown) => Err($crate::UnknownOption::new(unknown, Self::OPTIONS)),
                    None => Ok(options),
                }
            }
        })?
    };
}
