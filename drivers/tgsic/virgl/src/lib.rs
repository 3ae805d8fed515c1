//! Shaders on their way from a virgl guest driver to a virgl host: read on the vtest socket, or in the buffers that the
//! host itself submits, shown to a filter, replaced.
//!
//! The crate knows the wire and no shaders: a [`Filter`] gets the text of each and answers with another, or leaves it.
//! Everything else passes through as it came.
//!
//! | here | holds |
//! |---|---|
//! | [`vtest`] | messages on the socket: how long each is |
//! | [`commands`] | commands in the body of SUBMIT_CMD, sub-contexts |
//! | [`shader`] | the packets that carry a shader, decoded and encoded |
//! | [`rewrite`] | buffers of commands with their shaders replaced |
//! | [`cache`] | translations of texts that come again |
//! | [`stream`] | the bytes of a client, in pieces of any size |
//! | [`proxy`] | sockets: clients, their connections to the host, descriptors |
//! | [`limits`] | every limit, with its reason |
//!
//! # What is kept
//!
//! Stream outputs and the size of shared memory stay as they are; the number of tokens that the host makes room for
//! grows with the text. A filter must not renumber OUT registers where there are stream outputs: those name them.
//!
//! # Streams that are wrong
//!
//! Commands that the host would refuse are not judged here. They are logged, what is held back goes out as it came, and
//! the rest of the stream is passed on unread: a client sees the same errors as without us. Memory stays bounded
//! whatever comes ([`limits`]).
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
mod cpu_latency;
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
mod urgency;
pub mod vtest;

pub use listener::remove_stale;
pub use proxy::{Proxy, ProxyError};
pub use shader::{Filter, Filtered, ShaderObject, Stage};
