//! The parts of a file that are not shaders.

use crate::command::Command;
use crate::vertex_data::VertexData;

/// The size of the window, unless the file requires another.
const SIZE: (u32, u32) = (250, 250);
/// The largest side of the window.
const MAX_SIDE: u32 = 4096;

/// The test of a file.
#[derive(Clone, Debug)]
pub struct Script {
    /// Width and height of the window in pixels.
    pub size: (u32, u32),
    /// Commands with their lines, from 1.
    pub(crate) commands: Vec<(usize, Command)>,
    pub(crate) vertices: VertexData,
}

impl Script {
    /// Reads the sections `[require]`, `[vertex data]` and `[test]`. Lines that are not commands are failures when they
    /// are played.
    pub fn new(file: &str) -> Script {
        let mut script = Script { size: SIZE, commands: Vec::new(), vertices: VertexData::default() };
        let mut section = "";
        for (number, line) in (1..).zip(file.lines()) {
            let trimmed = line.trim();
            if let Some(head) = trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = head.trim();
                continue;
            }
            let content = trimmed.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            match section {
                "require" => script.require(content),
                "vertex data" => script.vertices.add(content),
                "test" => script.commands.push((number, Command::parse(content))),
                _ => {}
            }
        }
        script
    }

    fn require(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let side = |word: Option<&str>| word?.parse().ok().filter(|side| (1..=MAX_SIDE).contains(side));
        if words.next() == Some("SIZE")
            && let (Some(width), Some(height)) = (side(words.next()), side(words.next()))
        {
            self.size = (width, height);
        }
    }

    /// Whether the file expects that the shaders do not compile or link.
    pub fn expects_link_error(&self) -> bool {
        self.commands.iter().any(|(_, command)| *command == Command::LinkError)
    }

    /// The lines of commands that cannot be played.
    pub fn unknown(&self) -> impl Iterator<Item = (usize, &str)> {
        self.commands.iter().filter_map(|(line, command)| match command {
            Command::Unknown(text) => Some((*line, text.as_str())),
            _ => None,
        })
    }
}
