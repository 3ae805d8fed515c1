//! One client and its connection to the host.
//!
//! One thread copies both ways. From client to host the stream is read ([`Stream`]), from host to client bytes and
//! descriptors are copied. It never waits for one side alone: what a socket does not take waits, and nothing more is
//! received for it meanwhile. Where one side goes away, the other is told in the same way as without us: what was sent
//! before still arrives, then the socket is closed.
//!
//! The thread sleeps as soon as there is nothing to pass on. To poll for a while first brings answers to the client
//! earlier, but takes the processor from hosts that draw in software: glmark2's frame rates fall by 3 to 30 % on two
//! processors. It runs as soon as it is woken, if it may ([`Urgency`](crate::urgency::Urgency)).
//!
//! What is left is the price of a process in between. A frame takes three answers of the host, and each wakes one
//! process more. On two processors, with a host that draws in software, three scenes of glmark2 have 0.90 to 0.99 of
//! their frame rates, and 0.83 to 0.97 without real-time priority; 3 hundredths of that come from sending short
//! messages as a whole ([`crate::stream`]). Answers to waits are sent as a whole too, so that the client wakes once:
//! 1.5 to 5 hundredths in three comparisons of 9 to 14 pairs, each uncertain by as much. A program that copies bytes
//! and does nothing else has 0.95 to 1.00. Most of the price is that of waking a processor that sleeps: where none
//! sleeps ([`crate::cpu_latency`]) frame rates are above those without a proxy. It gains nothing to answer the wait for
//! a resource that was just made, which cannot be in use, without the host, or to leave a request in the client's
//! socket until it is answered, so that the client is not woken by the room for more. Sixteen processors do not help:
//! 0.92 to 0.94 for the scene with the shortest frames, with polling of 50 us no more. Where the rest matters, the
//! translation goes inside the host (`tgsic_virgl_rewrite` of the C library).

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use rustix::time::{ClockId, clock_gettime};

use crate::limits::{FIRST_RECEIVE_BYTES, RECEIVE_BYTES};
use crate::shader::{Filter, Filtered, ShaderObject};
use crate::socket::{Outgoing, Received, receive};
use crate::stream::{Counts, Sink, Stream};
use crate::traffic::Traffic;
use crate::urgency::Urgency;
use crate::vtest::is_header_of_wait;

/// The time for which a host that is not there, or does not listen yet, is waited for. The socket of a starting host
/// appears a moment before it listens.
const HOST_APPEARS: Duration = Duration::from_secs(2);

/// Time between two attempts to connect.
const RETRY: Duration = Duration::from_millis(3);

/// The time for which the body of an answer is waited for once its header is there. The host sends it right after that;
/// a host that does not loses this time, and no byte.
const BODY_FOLLOWS: Duration = Duration::from_millis(5);

/// Connects to the host. As long as it has other clients to take first, the client waits, as it would without us; if
/// the client goes away, that ends it.
pub fn connect(host: &Path, client: &UnixStream, stopping: &AtomicBool) -> io::Result<UnixStream> {
    let address = SocketAddrUnix::new(host)?;
    let started = Instant::now();
    loop {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        match rustix::net::connect(&socket, &address) {
            Ok(()) => {
                let socket = UnixStream::from(socket);
                socket.set_nonblocking(false)?;
                return Ok(socket);
            }
            // Its queue is full.
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(Errno::CONNREFUSED | Errno::NOENT) if started.elapsed() < HOST_APPEARS => {}
            Err(error) => return Err(error.into()),
        }
        if stopping.load(Ordering::Relaxed) {
            return Err(io::Error::other("the proxy ends"));
        }
        let mut polled = [PollFd::new(client, PollFlags::empty())];
        let wait = Timespec { tv_sec: 0, tv_nsec: RETRY.as_nanos() as i64 };
        match poll(&mut polled, Some(&wait)) {
            Ok(_) if polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) => {
                return Err(io::Error::other("the client has gone"));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The state that the connections of a proxy share.
#[derive(Debug)]
pub struct Shared<'p> {
    /// The traffic.
    pub traffic: &'p Traffic,
    /// Whether the threads that copy ask for real-time priority.
    pub urgent: bool,
}

/// Copies both ways until both sides are done.
pub fn serve(client: &UnixStream, host: &UnixStream, filter: &(impl Filter + Sync), shared: &Shared<'_>) {
    let urgency = shared.urgent.then(Urgency::of_current_thread).flatten();
    let mut connection = Connection {
        client,
        host,
        stream: Stream::new(Timed { filter, traffic: shared.traffic, urgency }),
        to_host: Outgoing::to(host),
        to_client: Outgoing::to(client),
        from_host: vec![0; FIRST_RECEIVE_BYTES],
        client_talks: true,
        host_talks: true,
        host_told: false,
        failed: false,
        shared,
        counted: Counts::default(),
        busy: thread_time(),
    };
    if let Err(error) = connection.run() {
        log::debug!("from the host to the client: {error}");
    }
    connection.count();
    // The host has closed, or the client has gone: either way neither is of use to the other.
    let _ = client.shutdown(Shutdown::Both);
    let _ = host.shutdown(Shutdown::Both);
}

/// Both directions, and how far they are.
struct Connection<'c, F> {
    client: &'c UnixStream,
    host: &'c UnixStream,
    stream: Stream<Timed<'c, F>>,
    to_host: Outgoing<'c>,
    to_client: Outgoing<'c>,
    /// The direction from the host to the client.
    from_host: Vec<u8>,
    /// Whether more may come from the client.
    client_talks: bool,
    /// Whether more may come from the host.
    host_talks: bool,
    /// Whether the host knows that the client has said all.
    host_told: bool,
    /// Whether it has been said that the stream is passed on unread.
    failed: bool,
    shared: &'c Shared<'c>,
    /// The traffic that has been counted already.
    counted: Counts,
    /// Processor time of the thread up to which it has been counted.
    busy: Duration,
}

impl<F: Filter> Connection<'_, F> {
    /// Copies until the host has said all and the client has it, or the client takes nothing more.
    fn run(&mut self) -> io::Result<()> {
        while self.host_talks || !self.to_client.is_empty() {
            let (client, host) = self.wait()?;
            if client {
                self.to_client.flush()?;
            }
            if host && !self.host_told {
                let flushed = self.to_host.flush();
                self.host_takes(flushed);
            }
            if client && self.client_talks && self.to_host.is_empty() {
                let taken = self.take_from_client();
                self.host_takes(taken);
            }
            if host && self.host_talks && self.to_client.is_empty() {
                self.take_from_host()?;
            }
            if !self.client_talks && !self.host_told && self.to_host.is_empty() {
                // The host may still have something to say; it closes when it has seen the end.
                self.host_told = true;
                let _ = self.host.shutdown(Shutdown::Write);
            }
        }
        Ok(())
    }

    /// An error on the way to the host ends that way. The other one goes on until it has passed on what the host has
    /// said.
    fn host_takes(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            log::debug!("from the client to the host: {error}");
            self.client_talks = false;
            self.to_host = Outgoing::to(self.host);
            let _ = self.client.shutdown(Shutdown::Read);
        }
    }

    /// Waits until there is something to do: on the client's socket, on the host's.
    fn wait(&mut self) -> io::Result<(bool, bool)> {
        let interest = |receives: bool, sends: bool| {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, receives);
            flags.set(PollFlags::OUT, sends);
            flags
        };
        let client_flags = interest(self.client_talks && self.to_host.is_empty(), !self.to_client.is_empty());
        let host_flags = interest(self.host_talks && self.to_client.is_empty(), !self.to_host.is_empty());
        let mut polled = [PollFd::new(self.client, client_flags), PollFd::new(self.host, host_flags)];
        // One of which nothing is wanted would be reported all the time once it is closed.
        let wanted = match (client_flags.is_empty(), host_flags.is_empty()) {
            (true, _) => &mut polled[1..],
            (_, true) => &mut polled[..1],
            _ => &mut polled[..],
        };
        self.count();
        while let Err(error) = poll(wanted, None) {
            if error != Errno::INTR {
                return Err(error.into());
            }
        }
        let is_ready = |polled: &PollFd<'_>| !polled.revents().is_empty();
        Ok((is_ready(&polled[0]), is_ready(&polled[1])))
    }

    fn take_from_client(&mut self) -> io::Result<()> {
        let space = self.stream.space();
        let (bytes, descriptors) = match receive(self.client, space)? {
            Received::Nothing => return Ok(()),
            Received::End => {
                if self.stream.error().is_none()
                    && let Err(error) = self.stream.finish()
                {
                    log::debug!("the client went away: {error}");
                }
                self.client_talks = false;
                return Ok(());
            }
            Received::Bytes(bytes, descriptors) => (bytes, descriptors),
        };
        if descriptors.is_empty() {
            self.stream.received(bytes, &mut self.to_host)?;
        } else {
            let last = space[bytes - 1];
            self.stream.received(bytes - 1, &mut self.to_host)?;
            self.stream.byte_with_descriptors(&mut self.to_host)?;
            self.to_host.put_with_descriptors(last, descriptors)?;
        }
        if let Some(error) = self.stream.error()
            && !self.failed
        {
            self.failed = true;
            self.shared.traffic.unread.add(1);
            log::warn!("the stream is passed on unread from here: {error}");
        }
        Ok(())
    }

    fn take_from_host(&mut self) -> io::Result<()> {
        let (mut bytes, mut descriptors) = match receive(self.host, &mut self.from_host)? {
            Received::Nothing => return Ok(()),
            Received::End => {
                self.host_talks = false;
                return Ok(());
            }
            Received::Bytes(bytes, descriptors) => (bytes, descriptors),
        };
        if descriptors.is_empty() && is_header_of_wait(&self.from_host[..bytes]) && self.host_has_more()? {
            match receive(self.host, &mut self.from_host[bytes..])? {
                Received::Nothing => {}
                Received::End => self.host_talks = false,
                Received::Bytes(more, with_last) => {
                    bytes += more;
                    descriptors = with_last;
                }
            }
        }
        let traffic = self.shared.traffic;
        traffic.to_client.add(bytes as u64);
        if descriptors.is_empty() {
            self.to_client.put(&[&self.from_host[..bytes]])?;
        } else {
            traffic.descriptors.add(descriptors.len() as u64);
            // The kernel ends a receive after the byte that has descriptors, but may put others before it.
            self.to_client.put(&[&self.from_host[..bytes - 1]])?;
            self.to_client.put_with_descriptors(self.from_host[bytes - 1], descriptors)?;
        }
        if bytes == self.from_host.len() && bytes < RECEIVE_BYTES {
            self.from_host.resize(2 * bytes, 0);
        }
        Ok(())
    }

    /// Whether the host sends something within [`BODY_FOLLOWS`].
    fn host_has_more(&self) -> io::Result<bool> {
        let wait = Timespec { tv_sec: 0, tv_nsec: BODY_FOLLOWS.as_nanos() as i64 };
        loop {
            match poll(&mut [PollFd::new(self.host, PollFlags::IN)], Some(&wait)) {
                Err(Errno::INTR) => {}
                ready => return Ok(ready? != 0),
            }
        }
    }

    /// Adds what has gone through since the last time.
    fn count(&mut self) {
        let counts = self.stream.counts();
        self.shared.traffic.add_stream(&counts, &self.counted);
        self.counted = counts;
        let busy = thread_time();
        self.shared.traffic.busy.add(busy.saturating_sub(self.busy).as_nanos() as u64);
        self.busy = busy;
    }
}

/// A filter whose time is taken. It runs at normal priority.
struct Timed<'a, F> {
    filter: &'a F,
    traffic: &'a Traffic,
    urgency: Option<Urgency>,
}

impl<F: Filter> Filter for Timed<'_, F> {
    fn filter(&self, shader: &ShaderObject<'_>) -> Filtered {
        let started = thread_time();
        // A panic must not take the connection with it.
        let filter = || catch_unwind(AssertUnwindSafe(|| self.filter.filter(shader)));
        let filtered = match &self.urgency {
            Some(urgency) => urgency.without(filter),
            None => filter(),
        };
        let filtered = filtered.unwrap_or_else(|_| {
            log::error!("the filter panicked, a {} shader stays as it is", shader.stage.name());
            Filtered::Unchanged
        });
        self.traffic.filtering.add(thread_time().saturating_sub(started).as_nanos() as u64);
        self.traffic.shaders.add(1);
        self.traffic.shader_bytes.add(shader.text.len() as u64);
        filtered
    }
}

/// Processor time of this thread.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
