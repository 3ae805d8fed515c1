//! Versions of the language, and the versions from which a feature exists.

use crate::extension::{Extension, Extensions};

/// Profile of a version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Profile {
    /// Desktop GLSL without the features removed from the core profile. Versions before 1.50 have no profiles and are
    /// [`Compatibility`](Profile::Compatibility).
    Core,
    /// Desktop GLSL with the fixed-function variables.
    Compatibility,
    /// The OpenGL ES shading language.
    Es,
}

/// A version of the language.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Version {
    /// The number of `#version`: 110, 300, ...
    pub number: u16,
    /// The profile.
    pub profile: Profile,
}

/// The number for "no version" in [`Since`].
pub(crate) const NEVER: u16 = u16::MAX;

impl Version {
    /// The version of shaders without `#version`.
    pub const DEFAULT: Version = Version { number: 110, profile: Profile::Compatibility };

    /// Numbers of desktop versions.
    pub const DESKTOP: &'static [u16] = &[110, 120, 130, 140, 150, 330, 400, 410, 420, 430, 440, 450, 460];

    /// Numbers of ES versions.
    pub const ES: &'static [u16] = &[100, 300, 310, 320];

    /// Whether it is a version of the ES language.
    pub fn is_es(self) -> bool {
        self.profile == Profile::Es
    }

    /// Whether the number is at least `desktop` or, in the ES language, `es`. [`NEVER`] is greater than all numbers.
    pub(crate) fn is_at_least(self, desktop: u16, es: u16) -> bool {
        self.number >= if self.is_es() { es } else { desktop }
    }
}

/// As in `#version`: `1.20`, `1.50 compatibility`, `3.00 es`.
impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:02}", self.number / 100, self.number % 100)?;
        match self.profile {
            Profile::Es => f.write_str(" es"),
            Profile::Core => f.write_str(" core"),
            Profile::Compatibility if self.number >= 150 => f.write_str(" compatibility"),
            Profile::Compatibility => Ok(()),
        }
    }
}

/// The versions and extensions that have a feature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Since {
    /// The first desktop version, or [`NEVER`].
    pub(crate) desktop: u16,
    /// The first ES version, or [`NEVER`].
    pub(crate) es: u16,
    /// Extensions that add it to other versions.
    pub(crate) extensions: &'static [Extension],
}

impl Since {
    /// In all versions.
    pub(crate) const ALWAYS: Since = Since::new(110, 100);

    /// In these versions and later ones.
    pub(crate) const fn new(desktop: u16, es: u16) -> Since {
        Since { desktop, es, extensions: &[] }
    }

    /// Also with any of these extensions.
    pub(crate) const fn or(self, extensions: &'static [Extension]) -> Since {
        Since { extensions, ..self }
    }

    /// Whether a version with these extensions enabled has the feature.
    pub(crate) fn holds(&self, version: Version, enabled: &Extensions) -> bool {
        version.is_at_least(self.desktop, self.es)
            || self.extensions.iter().any(|&extension| enabled.contains(extension))
    }

    /// The remedy where a version lacks the feature: `needs #version 130 or GL_EXT_gpu_shader4`.
    pub(crate) fn remedy(&self, version: Version) -> String {
        let number = if version.is_es() { self.es } else { self.desktop };
        let of_version = (number != NEVER).then(|| {
            let suffix = if version.is_es() && number >= 300 { " es" } else { "" };
            format!("#version {number}{suffix}")
        });
        let names =
            self.extensions.iter().filter(|extension| extension.exists_in(version)).map(|e| e.name().to_owned());
        let mut all: Vec<String> = of_version.into_iter().chain(names).collect();
        if all.is_empty() {
            return format!("no version of {} has it", if version.is_es() { "GLSL ES" } else { "desktop GLSL" });
        }
        // Syntax such as `layout` comes with many extensions.
        const SHOWN: usize = 4;
        let others = all.len().saturating_sub(SHOWN);
        if others > 1 {
            all.truncate(SHOWN);
            all.push(format!("one of {others} other extensions"));
        }
        format!("needs {}", all.join(" or "))
    }
}
