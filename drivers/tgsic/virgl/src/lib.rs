//! Reads and replaces the shaders that a virgl guest driver sends to a virgl host: on the vtest socket, or in the
//! command buffers that the host itself submits.
//!
//! The crate interprets the wire format but not the shaders: a [`Filter`] receives the text of each and returns another
//! text or leaves it unchanged. Everything else is passed through unchanged.
//!
//! | module | contents |
//! |---|---|
//! | [`vtest`] | messages on the socket, and their lengths |
//! | [`commands`] | commands in the body of SUBMIT_CMD, sub-contexts |
//! | [`shader`] | the packets that carry a shader, decoded and encoded |
//! | [`rewrite`] | command buffers with their shaders replaced |
//! | [`cache`] | translations of texts that occur again |
//! | [`stream`] | the bytes of a client, in pieces of any size |
//! | [`proxy`] | sockets: clients, their connections to the host, descriptors |
//! | [`limits`] | every limit, with its reason |
//!
//! # Preserved properties
//!
//! Stream outputs and the size of shared memory are preserved; the number of tokens for which the host allocates memory
//! grows with the text. With stream outputs, a filter must not renumber OUT registers, because stream outputs refer to
//! them by number.
//!
//! # Malformed streams
//!
//! Errors are not handled here but left to the host. They are logged, held packets are sent unchanged, and the rest of
//! the stream is passed on unread: a client sees the same errors as without a proxy. Memory is bounded for any input
//! ([`limits`]).
//!
//! ```
//! use tgsi_virgl::shader::{Filtered, ShaderObject};
//! use tgsi_virgl::stream::Stream;
//!
//! let filter = |_: &ShaderObject<'_>| Filtered::Unchanged;
//! let mut stream = Stream::new(filter);
//! let mut out = Vec::new();
//! let ping = [0, 0, 0, 0, 10, 0, 0, 0];
//! stream.push(&ping, &mut out)?;
//! assert_eq!(out, ping);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! [`Filter`]: shader::Filter

pub mod cache;
pub mod commands;
mod connection;
pub mod error;
pub mod limits;
mod listener;
pub mod proxy;
pub mod rewrite;
pub mod shader;
mod socket;
pub mod stream;
#[cfg(test)]
mod testing;
pub mod traffic;
pub mod vtest;

pub use listener::remove_stale;
pub use proxy::{Proxy, ProxyError};
pub use shader::{Filter, Filtered, ShaderObject, WireStage};
