//! Every limit of the crate, with its reason. A stream that exceeds one is passed on unread from there on, or the
//! shader concerned is: what the host makes of it is the host's business, and the memory taken stays bounded.

/// Bytes of a SUBMIT_CMD that is read as a whole. Its length word has to be known before its first byte goes out, so a
/// message that may change has to be there entirely. Clients end their buffers at 256 KB.
pub const MAX_SUBMIT_BYTES: usize = 64 << 20;

/// Bytes of a message without commands that goes out when it is there as a whole.
pub const MAX_GATHERED_BYTES: u64 = 1 << 10;

/// Bytes of a shader's text, its NUL included. The longest that clients make have some hundred KB. A longer one is
/// passed on as it comes.
pub const MAX_TEXT_BYTES: usize = 32 << 20;

/// Bytes of all unfinished shaders of a connection. A client has one of them at a time.
pub const MAX_HELD_BYTES: usize = 128 << 20;

/// Sub-contexts of a connection that are kept track of: each is an OpenGL context of the host, which has room for far
/// fewer.
pub const MAX_SUB_CONTEXTS: usize = 1 << 16;

/// Stream outputs of a shader, as hosts have it.
pub const MAX_STREAM_OUTPUTS: u32 = 64;

/// Payload words of the packets that are written. A command counts them in 16 bits; hosts take all of them, this leaves
/// a margin.
pub const MAX_PACKET_WORDS: usize = 60_000;

/// Bytes that are received at once at first, and so the size of a new connection's buffers: memory costs more than all
/// else when it is first touched, and most connections are short and send little at a time.
pub const FIRST_RECEIVE_BYTES: usize = 16 << 10;

/// Bytes that are received at once where so much comes: about what a socket holds.
pub const RECEIVE_BYTES: usize = 256 << 10;

/// Bytes of a connection's buffer that are kept after a long SUBMIT_CMD: clients that send one send more of them.
pub const KEPT_BYTES: usize = 1 << 20;

/// Descriptors that one message on a socket can bring: what the kernel allows.
pub const MAX_DESCRIPTORS: usize = 253;

/// Clients that are served at once. Each takes a thread, two sockets and the buffers.
pub const MAX_CLIENTS: usize = 1024;
