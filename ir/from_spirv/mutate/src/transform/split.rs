//! Splits a block in two.

use crate::editor::Editor;

/// `a b` becomes `a; branch L; L: b`.
pub fn split_block(editor: &mut Editor, function: usize) -> Option<()> {
    let block = editor.choose_block(function)?;
    editor.split_somewhere(function, block).map(|_| ())
}
