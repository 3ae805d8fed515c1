//! Errors in a stream, with their offsets.

use thiserror::Error;

/// An error in the stream of a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("byte {offset}, message {message}: {kind}")]
pub struct StreamError {
    /// Bytes of the stream before the error.
    pub offset: u64,
    /// Id of the message; 0 outside of messages.
    pub message: u32,
    /// The error.
    pub kind: ErrorKind,
}

/// An error in a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ErrorKind {
    /// An unknown message.
    #[error("there is no message {0}")]
    UnknownMessage(u32),
    /// The stream ends within a message.
    #[error("the stream ends {missing} bytes before the end of the message")]
    Truncated {
        /// Number of missing bytes, at least.
        missing: u64,
    },
    /// A SUBMIT_CMD longer than [`MAX_SUBMIT_BYTES`](crate::limits::MAX_SUBMIT_BYTES).
    #[error("a command buffer of {bytes} bytes is too long")]
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
        /// Words of payload according to the header.
        words: u32,
        /// Words left in the buffer.
        left: u32,
    },
    /// A command shorter than its contents.
    #[error("command {command:#010x} has {words} words, {needed} are needed")]
    TooShort {
        /// The header.
        command: u32,
        /// Words of payload.
        words: u32,
        /// Words it needs.
        needed: u32,
    },
    /// An unknown stage.
    #[error("there is no shader stage {0}")]
    UnknownStage(u32),
    /// More stream outputs than the host supports.
    #[error("{0} stream outputs are too many")]
    StreamOutputs(u32),
    /// A text of no bytes.
    #[error("the text of shader {handle} has no bytes")]
    EmptyText {
        /// The shader.
        handle: u32,
    },
    /// A shader begins while another of the same stage is incomplete.
    #[error("shader {handle} begins while {unfinished} of the same stage is unfinished")]
    StillUnfinished {
        /// The one that begins.
        handle: u32,
        /// The incomplete shader.
        unfinished: u32,
    },
    /// A continuation of a shader that is not incomplete.
    #[error("a part of shader {handle} comes after its end")]
    NotUnfinished {
        /// The shader.
        handle: u32,
    },
    /// A continuation that does not begin at the end of the text so far.
    #[error("a part of shader {handle} is for byte {offset}, {stored} bytes are there")]
    WrongOffset {
        /// The shader.
        handle: u32,
        /// Offset of the part.
        offset: u32,
        /// Bytes received so far.
        stored: u32,
    },
    /// More text than the first part announced.
    #[error("shader {handle} has {words} words of text, {length} bytes were announced")]
    TooMuchText {
        /// The shader.
        handle: u32,
        /// Words received.
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
    /// An incomplete shader is used.
    #[error("shader {handle} is used before its text is complete")]
    UsedUnfinished {
        /// The shader.
        handle: u32,
    },
    /// More incomplete text than [`MAX_HELD_BYTES`](crate::limits::MAX_HELD_BYTES).
    #[error("there is too much unfinished text")]
    TooMuchHeld,
    /// More sub-contexts than [`MAX_SUB_CONTEXTS`](crate::limits::MAX_SUB_CONTEXTS).
    #[error("there are too many sub-contexts")]
    TooManySubContexts,
}
