//! Every limit of the crate, with its reason. If a stream or shader exceeds one, it is passed on unread: the host
//! handles the excess, and memory stays bounded.

/// Maximum size of a SUBMIT_CMD that is read, in bytes. Its length word must be known before its first byte is sent, so
/// a message that may change must be complete. Clients end their buffers at 256 KB.
pub const MAX_SUBMIT_BYTES: usize = 64 << 20;

/// Maximum size of a message without commands that is sent whole, in bytes.
pub const MAX_GATHERED_BYTES: u64 = 1 << 10;

/// Maximum size of a shader's text, its NUL included, in bytes. The longest from real clients have some hundred KB. A
/// longer one is passed on as it arrives.
pub const MAX_TEXT_BYTES: usize = 32 << 20;

/// Maximum size of all incomplete shaders of a connection, in bytes. A client has one of them at a time.
pub const MAX_HELD_BYTES: usize = 128 << 20;

/// Maximum number of tracked sub-contexts of a connection. Each is an OpenGL context of the host, which supports far
/// fewer.
pub const MAX_SUB_CONTEXTS: usize = 1 << 16;

/// Maximum number of stream outputs of a shader, the same as in hosts.
pub const MAX_STREAM_OUTPUTS: u32 = 64;

/// Maximum number of payload words in written packets. A command counts them in 16 bits, all of which hosts accept;
/// this leaves a margin.
pub const MAX_PACKET_WORDS: usize = 60_000;

/// Initial number of bytes to receive at once, and size of a new connection's buffers. Touching memory first is the
/// largest cost of a connection, and most are short and send little at a time.
pub const FIRST_RECEIVE_BYTES: usize = 16 << 10;

/// Maximum number of bytes to receive at once: about the capacity of a socket.
pub const RECEIVE_BYTES: usize = 256 << 10;

/// Maximum size of a connection's buffer that is kept after a long SUBMIT_CMD: clients that send one send more of them.
pub const KEPT_BYTES: usize = 1 << 20;

/// Maximum number of descriptors in one message on a socket: the kernel's limit.
pub const MAX_DESCRIPTORS: usize = 253;

/// Maximum number of clients at a time. Each takes a thread, two sockets and the buffers.
pub const MAX_CLIENTS: usize = 1024;
