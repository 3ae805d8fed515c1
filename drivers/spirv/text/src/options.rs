//! The options of a driver that its libraries need.

use crate::language::Language;

/// The options for the translation of modules.
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// The language.
    pub language: Language,
    /// Its version.
    pub version: u16,
    /// Sums of products may be fused anywhere.
    pub contract: bool,
    /// The first bindings of GLSL and ESSL: lower ones belong to other stages of the program.
    pub first_bindings: FirstBindings,
}

impl TextOptions {
    /// Returns the default options for a language.
    pub fn new(language: Language) -> TextOptions {
        let version = language.versions().first().map_or(0, |(_, number)| *number);
        TextOptions { language, version, contract: false, first_bindings: FirstBindings::default() }
    }
}

/// The first binding of a shader for each kind of resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FirstBindings {
    /// Uniform buffers.
    pub uniform_buffer: u32,
    /// Storage buffers.
    pub storage_buffer: u32,
    /// Images.
    pub image: u32,
    /// Textures.
    pub texture: u32,
}

impl FirstBindings {
    /// Returns the binding of a kind, by its name in the comments of a text.
    pub fn of(&mut self, kind: &str) -> Option<&mut u32> {
        match kind {
            "uniform buffer" => Some(&mut self.uniform_buffer),
            "storage buffer" => Some(&mut self.storage_buffer),
            "image" => Some(&mut self.image),
            "texture" => Some(&mut self.texture),
            _ => None,
        }
    }

    /// Returns the bindings after those of a text, which its comments list.
    pub fn following(mut self, text: &str) -> FirstBindings {
        for line in text.lines().skip(1).map_while(|line| line.strip_prefix("// ")) {
            let entry = line.split_once(": ").and_then(|(entry, _)| entry.rsplit_once(' '));
            if let Some((kind, number)) = entry
                && let (Some(first), Ok(number)) = (self.of(kind), number.parse::<u32>())
            {
                *first = (*first).max(number.saturating_add(1));
            }
        }
        self
    }
}
