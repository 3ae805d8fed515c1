//! The outer protocol, vtest: messages on a socket.
//!
//! A message of the client is two words, length and id, and a body. The id determines the length of the body; the
//! length word counts words, bytes or data that is not sent, depending on the message. The stream from server to client
//! need not be parsed.

use crate::error::ErrorKind;

/// Bytes of length and id.
pub const HEADER_BYTES: usize = 8;

/// Bytes before the data of TRANSFER_PUT: length, id and 11 words, the last one the size of the data in bytes.
const TRANSFER_PUT_BYTES: usize = HEADER_BYTES + 11 * 4;

/// Ids of the messages that the proxy interprets.
pub mod id {
    /// Data for a resource, inline.
    pub const TRANSFER_PUT: u32 = 5;
    /// Commands for the renderer.
    pub const SUBMIT_CMD: u32 = 6;
    /// Waits for a resource that the host may still use. The answer has one word.
    pub const RESOURCE_BUSY_WAIT: u32 = 7;
    /// The client's name.
    pub const CREATE_RENDERER: u32 = 8;
    /// Waits for several timelines.
    pub const SYNC_WAIT: u32 = 23;
    /// Commands for renderers without TGSI.
    pub const SUBMIT_CMD2: u32 = 24;
}

/// Body words of the messages for which they depend only on the id, from id 1 on; `None` for the others.
const FIXED_WORDS: [Option<u32>; 24] = [
    Some(0),  // GET_CAPS
    Some(10), // RESOURCE_CREATE
    Some(1),  // RESOURCE_UNREF
    Some(11), // TRANSFER_GET
    None,     // TRANSFER_PUT
    None,     // SUBMIT_CMD
    Some(2),  // RESOURCE_BUSY_WAIT
    None,     // CREATE_RENDERER
    Some(0),  // GET_CAPS2
    Some(0),  // PING_PROTOCOL_VERSION
    Some(1),  // PROTOCOL_VERSION
    Some(11), // RESOURCE_CREATE2
    Some(10), // TRANSFER_GET2
    Some(10), // TRANSFER_PUT2: the data is in shared memory, although the length word counts it
    Some(1),  // GET_PARAM
    Some(2),  // GET_CAPSET
    Some(1),  // CONTEXT_INIT
    Some(6),  // RESOURCE_CREATE_BLOB
    Some(2),  // SYNC_CREATE
    Some(1),  // SYNC_UNREF
    Some(1),  // SYNC_READ
    Some(3),  // SYNC_WRITE
    None,     // SYNC_WAIT
    None,     // SUBMIT_CMD2
];

/// The handling of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// More bytes are needed: this many from the message's first byte on.
    Need(usize),
    /// Pass on this many bytes, header included.
    Pass(u64),
    /// Commands: this many bytes after the header.
    Submit(u64),
    /// Pass on everything from here on: the client uses a renderer without TGSI, and descriptors and data outside of
    /// messages may follow.
    PassAll,
}

/// Returns the little-endian word at a byte offset; 0 beyond the end.
pub fn word(bytes: &[u8], offset: usize) -> u32 {
    bytes.get(offset..).and_then(<[u8]>::first_chunk).copied().map_or(0, u32::from_le_bytes)
}

/// Decides how to handle the message at the front of `bytes`.
pub fn action(bytes: &[u8]) -> Result<Action, ErrorKind> {
    if bytes.len() < HEADER_BYTES {
        return Ok(Action::Need(HEADER_BYTES));
    }
    let (length, message) = (word(bytes, 0), word(bytes, 4));
    let after_header = |bytes: u64| Action::Pass(HEADER_BYTES as u64 + bytes);
    Ok(match message {
        id::SUBMIT_CMD => Action::Submit(u64::from(length) * 4),
        id::TRANSFER_PUT if bytes.len() < TRANSFER_PUT_BYTES => Action::Need(TRANSFER_PUT_BYTES),
        id::TRANSFER_PUT => Action::Pass(TRANSFER_PUT_BYTES as u64 + u64::from(word(bytes, TRANSFER_PUT_BYTES - 4))),
        id::CREATE_RENDERER => after_header(u64::from(length)),
        id::SYNC_WAIT => after_header(u64::from(length) * 4),
        id::SUBMIT_CMD2 => Action::PassAll,
        _ => match message.checked_sub(1).and_then(|index| FIXED_WORDS.get(index as usize)) {
            Some(&Some(words)) => after_header(u64::from(words) * 4),
            _ => return Err(ErrorKind::UnknownMessage(message)),
        },
    })
}

/// Returns whether the bytes are exactly the header of the answer to a RESOURCE_BUSY_WAIT.
pub fn is_header_of_wait(bytes: &[u8]) -> bool {
    bytes.len() == HEADER_BYTES && word(bytes, 0) == 1 && word(bytes, 4) == id::RESOURCE_BUSY_WAIT
}

/// Returns the header of a SUBMIT_CMD of this many bytes, a multiple of four.
pub fn submit_header(bytes: usize) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(&((bytes / 4) as u32).to_le_bytes());
    header[4..].copy_from_slice(&id::SUBMIT_CMD.to_le_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(length: u32, id: u32) -> Vec<u8> {
        [length, id].iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    #[test]
    fn the_id_decides_how_long_a_body_is() {
        for (length, id, bytes) in [
            (0, 1, 8),
            (10, 2, 48),
            (99, 2, 48),
            (11, 4, 52),
            (2, 7, 16),
            (14, 8, 22),
            (0, 10, 8),
            (11, 12, 52),
            (u32::MAX, 14, 48),
            (6, 18, 32),
            (8, 23, 40),
        ] {
            assert_eq!(action(&message(length, id)), Ok(Action::Pass(bytes)), "message {id}");
        }
        assert_eq!(action(&message(7, 6)), Ok(Action::Submit(28)));
        assert_eq!(action(&message(u32::MAX, 6)), Ok(Action::Submit(0x3_ffff_fffc)));
        assert_eq!(action(&message(4, 24)), Ok(Action::PassAll));
        for id in [0, 25, 1000, u32::MAX] {
            assert_eq!(action(&message(4, id)), Err(ErrorKind::UnknownMessage(id)));
        }
    }

    #[test]
    fn data_of_a_transfer_is_not_padded() {
        let mut bytes = message(13, id::TRANSFER_PUT);
        for word in 0..10u32 {
            assert_eq!(action(&bytes), Ok(Action::Need(52)));
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(7u32.to_le_bytes());
        assert_eq!(action(&bytes), Ok(Action::Pass(59)));
        for length in 0..8 {
            assert_eq!(action(&bytes[..length]), Ok(Action::Need(8)));
        }
    }

    #[test]
    fn the_header_of_an_answer_is_told_from_others() {
        assert!(is_header_of_wait(&message(1, id::RESOURCE_BUSY_WAIT)));
        assert!(!is_header_of_wait(&message(1, id::SUBMIT_CMD)));
        assert!(!is_header_of_wait(&message(2, id::RESOURCE_BUSY_WAIT)));
        assert!(!is_header_of_wait(&[message(1, id::RESOURCE_BUSY_WAIT), vec![0; 4]].concat()));
    }

    #[test]
    fn a_submit_header_says_what_it_was_made_for() {
        assert_eq!(action(&submit_header(400)), Ok(Action::Submit(400)));
    }
}
