//! Counters of the traffic of a proxy, shared by all connections.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::stream::Counts;

/// A counter.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds to it.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// Its value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The traffic of a proxy. Connections add theirs before they wait for more.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Clients that were connected to the host.
    pub clients: Counter,
    /// Clients for which there was no connection to the host.
    pub unconnected: Counter,
    /// Bytes from clients.
    pub to_host: Counter,
    /// Bytes from the host.
    pub to_client: Counter,
    /// Descriptors from the host.
    pub descriptors: Counter,
    /// Messages from clients.
    pub messages: Counter,
    /// Buffers of commands among them.
    pub submits: Counter,
    /// Buffers of commands that were written anew.
    pub rewritten: Counter,
    /// Clients whose stream was passed on unread at some point because of an error.
    pub unread: Counter,
    /// Shaders that the filter saw.
    pub shaders: Counter,
    /// Bytes of their texts.
    pub shader_bytes: Counter,
    /// Nanoseconds of processor time of all connections, the filter's included.
    pub busy: Counter,
    /// Nanoseconds of processor time that the filter took.
    pub filtering: Counter,
}

impl Traffic {
    /// Adds what a stream saw since it was last counted.
    pub(crate) fn add_stream(&self, now: &Counts, before: &Counts) {
        self.to_host.add(now.bytes - before.bytes);
        self.messages.add(now.messages - before.messages);
        self.submits.add(now.submits - before.submits);
        self.rewritten.add(now.rewritten - before.rewritten);
    }
}
