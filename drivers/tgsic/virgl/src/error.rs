//! Errors in a stream, with their offsets.

use thiserror::Error;

/// A stream that is not what a client may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("byte {offset}, message {message}: {kind}")]
pub struct StreamError {
    /// Bytes of the stream before what is wrong.
    pub offset: u64,
    /// Id of the message; 0 where there is none yet.
    pub message: u32,
    /// The error.
    pub kind: ErrorKind,
}

/// An error in a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ErrorKind {
    /// No such message.
    #[error("there is no message {0}")]
    UnknownMessage(u32),
    /// The stream ends within a message.
    #[error("the stream ends {missing} bytes before the end of the message")]
    Truncated {
        /// Bytes that are missing, as far as is known.
        missing: u64,
    },
    /// A SUBMIT_CMD longer than [`MAX_SUBMIT_BYTES`](crate::limits::MAX_SUBMIT_BYTES).
    #[error("a buffer of {bytes} bytes of commands is too long")]
    SubmitTooLong {
        /// Its length.
        bytes: u64,
    },
    /// An error in a command.
    #[error(transparent)]
    Command(#[from] CommandError),
}

/// An error in a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum CommandError {
    /// The payload reaches beyond the buffer.
    #[error("command {command:#010x} has {words} words, {left} are left")]
    Overlong {
        /// The header.
        command: u32,
        /// Words of payload by the header.
        words: u32,
        /// Words left in the buffer.
        left: u32,
    },
    /// A command shorter than what it has to say.
    #[error("command {command:#010x} has {words} words, {needed} are needed")]
    TooShort {
        /// The header.
        command: u32,
        /// Words of payload.
        words: u32,
        /// Words it needs.
        needed: u32,
    },
    /// No such stage.
    #[error("there is no shader stage {0}")]
    UnknownStage(u32),
    /// More stream outputs than there can be.
    #[error("{0} stream outputs are too many")]
    StreamOutputs(u32),
    /// A text of no bytes.
    #[error("the text of shader {handle} has no bytes")]
    EmptyText {
        /// The shader.
        handle: u32,
    },
    /// A shader begins while another of the stage is unfinished.
    #[error("shader {handle} begins while {unfinished} of the same stage is unfinished")]
    StillUnfinished {
        /// The one that begins.
        handle: u32,
        /// The other.
        unfinished: u32,
    },
    /// A part of a shader that is not being sent.
    #[error("a part of shader {handle} comes, which is not unfinished")]
    NotUnfinished {
        /// The shader.
        handle: u32,
    },
    /// A part that does not begin at the end of the text so far.
    #[error("a part of shader {handle} is for byte {offset}, {stored} bytes are there")]
    WrongOffset {
        /// The shader.
        handle: u32,
        /// Where the part is meant to be.
        offset: u32,
        /// Bytes there.
        stored: u32,
    },
    /// More text than the first part said.
    #[error("shader {handle} has {words} words of text, {length} bytes were announced")]
    TooMuchText {
        /// The shader.
        handle: u32,
        /// Words that came.
        words: u32,
        /// Bytes announced.
        length: u32,
    },
    /// A text without NUL in its last word.
    #[error("the text of shader {handle} does not end with NUL")]
    NotTerminated {
        /// The shader.
        handle: u32,
    },
    /// An object that is unfinished is used.
    #[error("shader {handle} is used before its text is complete")]
    UsedUnfinished {
        /// The shader.
        handle: u32,
    },
    /// More unfinished text than [`MAX_HELD_BYTES`](crate::limits::MAX_HELD_BYTES).
    #[error("there is too much unfinished text")]
    TooMuchHeld,
    /// More sub-contexts than [`MAX_SUB_CONTEXTS`](crate::limits::MAX_SUB_CONTEXTS).
    #[error("there are too many sub-contexts")]
    TooManySubContexts,
}
