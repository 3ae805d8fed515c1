//! The proxy: listens, and serves every client on its own thread.
//!
//! The thread of a client is named `client-<number>`, and messages about a client are logged on its thread.

use std::collections::HashMap;
use std::io;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use thiserror::Error;

use crate::connection::{connect, serve};
use crate::limits::MAX_CLIENTS;
use crate::listener::Listener;
use crate::shader::Filter;
use crate::traffic::Traffic;

/// Stack size of a connection's thread. Filters may compile on it.
const STACK_BYTES: usize = 16 << 20;

/// An error that ends the proxy, or keeps it from starting.
#[derive(Debug, Error)]
pub enum ProxyError {
    /// The listening socket cannot be created.
    #[error("cannot listen at {}: {error}", path.display())]
    Listen {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The host's socket is the listening socket.
    #[error("{} is where the proxy itself listens, not its host", path.display())]
    Itself {
        /// The path of the host's socket.
        path: PathBuf,
    },
    /// Waiting for clients failed.
    #[error("cannot wait for clients: {0}")]
    Wait(io::Error),
}

/// A proxy that listens.
#[derive(Debug)]
pub struct Proxy {
    listener: Listener,
    host: PathBuf,
    traffic: Traffic,
}

/// The sockets of open connections, for ending them from outside.
#[derive(Default)]
struct Connections(Mutex<HashMap<u64, [UnixStream; 2]>>);

impl Connections {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, [UnixStream; 2]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all connections.
    fn shut_down(&self) {
        for socket in self.lock().values().flatten() {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

impl Proxy {
    /// Listens on one socket for clients of the host on another. The host need not exist yet.
    pub fn bind(listen: &Path, host: &Path) -> Result<Proxy, ProxyError> {
        let listener = Listener::bind(listen).and_then(|listener| {
            listener.socket().set_nonblocking(true)?;
            Ok(listener)
        });
        let listener = listener.map_err(|error| ProxyError::Listen { path: listen.to_owned(), error })?;
        // Compares the files, so that other spellings and links are detected.
        if std::fs::metadata(host).is_ok_and(|found| (found.dev(), found.ino()) == listener.file()) {
            return Err(ProxyError::Itself { path: host.to_owned() });
        }
        Ok(Proxy { listener, host: host.to_owned(), traffic: Traffic::default() })
    }

    /// Returns the traffic.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Closes the socket, removes its file and returns the traffic.
    pub fn into_traffic(self) -> Traffic {
        self.traffic
    }

    /// Serves clients with a filter for their shaders, until `stop` becomes readable, or `clients` clients have
    /// connected and disconnected. All connections have ended on return.
    pub fn run(&self, filter: &(impl Filter + Sync), stop: impl AsFd, clients: Option<u64>) -> Result<(), ProxyError> {
        let stopping = AtomicBool::new(false);
        let connections = Connections::default();
        let (gone, has_gone) = UnixStream::pair().map_err(ProxyError::Wait)?;
        // A byte in this socket only means that a connection ended: if it is full, no more bytes are needed, and while
        // clients are accepted, they are not read.
        for end in [&gone, &has_gone] {
            end.set_nonblocking(true).map_err(ProxyError::Wait)?;
        }
        let active = AtomicUsize::new(0);
        thread::scope(|scope| {
            let result = self.accept(&stop, clients, &active, |number, client| {
                let (stopping, connections, active, gone) = (&stopping, &connections, &active, &gone);
                let thread = thread::Builder::new().name(format!("client-{number}")).stack_size(STACK_BYTES);
                active.fetch_add(1, Ordering::Relaxed);
                let spawned = thread.spawn_scoped(scope, move || {
                    self.client(number, client, filter, stopping, connections);
                    active.fetch_sub(1, Ordering::Relaxed);
                    let _ = rustix::io::write(gone, &[0]);
                });
                if let Err(error) = spawned {
                    active.fetch_sub(1, Ordering::Relaxed);
                    log::error!("cannot start a thread for client {number}: {error}");
                }
            });
            // If the number of clients is unlimited, only `stop` can end the proxy.
            let result = result.and_then(|stopped| match stopped {
                true => Ok(()),
                false => wait_for_all(&stop, &has_gone, &active),
            });
            stopping.store(true, Ordering::Relaxed);
            connections.shut_down();
            result
        })
    }

    /// Accepts clients. Returns true if it was stopped, false if the maximum number of clients has connected.
    fn accept(
        &self,
        stop: &impl AsFd,
        clients: Option<u64>,
        active: &AtomicUsize,
        mut start: impl FnMut(u64, UnixStream),
    ) -> Result<bool, ProxyError> {
        let socket = self.listener.socket();
        let mut number = 0;
        while clients.is_none_or(|wanted| number < wanted) {
            let mut polled = [PollFd::new(stop, PollFlags::IN), PollFd::new(socket, PollFlags::IN)];
            match poll(&mut polled, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(ProxyError::Wait(error.into())),
            }
            if !polled[0].revents().is_empty() {
                return Ok(true);
            }
            match socket.accept() {
                Ok((client, _)) => {
                    number += 1;
                    if active.load(Ordering::Relaxed) >= MAX_CLIENTS {
                        log::warn!("too many clients, client {number} is rejected");
                        continue;
                    }
                    start(number, client);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    // The client disconnected before it was accepted, or descriptors ran out, which may be temporary.
                    log::warn!("cannot accept a client: {error}");
                    thread::sleep(Duration::from_millis(10));
                }
            }
        }
        Ok(false)
    }

    /// Serves a client until it disconnects.
    fn client(
        &self,
        number: u64,
        client: UnixStream,
        filter: &(impl Filter + Sync),
        stopping: &AtomicBool,
        connections: &Connections,
    ) {
        let host = connect(&self.host, &client, stopping);
        let copies = host.and_then(|host| Ok(([client.try_clone()?, host.try_clone()?], host)));
        let (copies, host) = match copies {
            Ok(pair) => pair,
            Err(error) => {
                self.traffic.unconnected.add(1);
                log::warn!("cannot connect to {}: {error}", self.host.display());
                return;
            }
        };
        connections.lock().insert(number, copies);
        // The thread that ends all connections has either seen this one or set `stopping` before.
        if !stopping.load(Ordering::Relaxed) {
            log::debug!("connected");
            self.traffic.clients.add(1);
            serve(&client, &host, filter, &self.traffic);
            log::debug!("gone");
        }
        connections.lock().remove(&number);
    }
}

/// Waits until no client is left, or for `stop`.
fn wait_for_all(stop: &impl AsFd, gone: &UnixStream, active: &AtomicUsize) -> Result<(), ProxyError> {
    let mut buffer = [0; 64];
    while active.load(Ordering::Relaxed) > 0 {
        let mut polled = [PollFd::new(stop, PollFlags::IN), PollFd::new(gone, PollFlags::IN)];
        match poll(&mut polled, None) {
            Ok(_) if !polled[0].revents().is_empty() => return Ok(()),
            Ok(_) => {
                let _ = rustix::io::read(gone, &mut buffer);
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(ProxyError::Wait(error.into())),
        }
    }
    Ok(())
}
