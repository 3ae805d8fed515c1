//! Display lists: commands that are recorded, and played later.

use crate::command::Command;
use crate::words::Words;

/// A command for the display list. There is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ListCommand {
    /// Begins to record; `true` also plays the commands.
    Begin(bool),
    End,
    Call,
    Delete,
}

impl ListCommand {
    /// Parses a line from its first word on.
    pub(crate) fn parse(first: &str, words: &mut Words) -> Option<ListCommand> {
        Some(match first {
            "newlist" if words.eat("GL_COMPILE") => ListCommand::Begin(false),
            "newlist" if words.eat("GL_COMPILE_AND_EXECUTE") => ListCommand::Begin(true),
            "endlist" => ListCommand::End,
            "calllist" => ListCommand::Call,
            "deletelist" => ListCommand::Delete,
            _ => return None,
        })
    }
}

/// The display list: the numbers of its commands.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct List {
    commands: Vec<usize>,
    /// Whether commands are played while they are recorded; `None` outside of the list.
    recording: Option<bool>,
}

impl List {
    /// Plays a command for the list, or records another one. Returns the numbers of the commands to play now.
    pub(crate) fn play(&mut self, number: usize, command: &Command) -> Vec<usize> {
        match (command, self.recording) {
            (Command::List(ListCommand::Begin(plays)), _) => {
                *self = List { commands: Vec::new(), recording: Some(*plays) };
            }
            (Command::List(ListCommand::End), _) => self.recording = None,
            (Command::List(ListCommand::Call), _) => return self.commands.clone(),
            (Command::List(ListCommand::Delete), _) => *self = List::default(),
            (command, Some(plays)) if is_recorded(command) => {
                self.commands.push(number);
                return if plays { vec![number] } else { Vec::new() };
            }
            _ => return vec![number],
        }
        Vec::new()
    }
}

/// Whether lists contain a command. The others are always played at once, as are functions that create objects.
fn is_recorded(command: &Command) -> bool {
    let is_immediate = matches!(
        command,
        Command::Verify(_) | Command::Texture(..) | Command::Buffer(_) | Command::Framebuffer(_) | Command::Stream(_)
    );
    !is_immediate && !command.is_probe()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn lists_are_played_when_called() {
        let lines = ["newlist GL_COMPILE", "clear", "probe all rgb 0 0 0", "endlist", "clear", "calllist", "calllist"];
        let commands: Vec<Command> = lines.iter().map(|line| Command::parse(line)).collect();
        let mut list = List::default();
        let mut played = |numbers: std::ops::Range<usize>| -> Vec<usize> {
            numbers.flat_map(|number| list.play(number, &commands[number])).collect()
        };
        assert_eq!(played(0..7), [2, 4, 1, 1]);
        let command = Command::List(ListCommand::Begin(true));
        assert_eq!(list.play(0, &command), []);
        assert_eq!(list.play(1, &Command::Clear), [1]);
        assert_eq!(list.play(7, &Command::List(ListCommand::Delete)), []);
        assert_eq!(list.play(7, &Command::List(ListCommand::Call)), []);
    }
}
