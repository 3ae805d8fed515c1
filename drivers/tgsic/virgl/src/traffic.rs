//! Counters of the traffic of a proxy, shared by all connections.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::stream::StreamCounts;

/// A counter.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds to the counter.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// Returns the value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The traffic of a proxy. Connections add theirs before they wait.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Clients with a connection to the host.
    pub clients: Counter,
    /// Clients without a connection to the host.
    pub unconnected: Counter,
    /// Bytes from clients.
    pub to_host: Counter,
    /// Bytes from the host.
    pub to_client: Counter,
    /// Descriptors from the host.
    pub descriptors: Counter,
    /// Messages from clients.
    pub messages: Counter,
    /// Command buffers among them.
    pub submits: Counter,
    /// Command buffers that were rewritten.
    pub rewritten: Counter,
    /// Clients with an error in their stream, from which on it was passed on unread.
    pub unread: Counter,
    /// Shaders passed to the filter.
    pub shaders: Counter,
    /// Bytes of their texts.
    pub shader_bytes: Counter,
    /// CPU time of all connections in nanoseconds, the filter's included.
    pub busy: Counter,
    /// CPU time of the filter in nanoseconds.
    pub filtering: Counter,
}

impl Traffic {
    /// Adds the traffic of a stream since the last call.
    pub(crate) fn add_stream(&self, now: &StreamCounts, before: &StreamCounts) {
        self.to_host.add(now.bytes - before.bytes);
        self.messages.add(now.messages - before.messages);
        self.submits.add(now.submits - before.submits);
        self.rewritten.add(now.rewritten - before.rewritten);
    }
}
