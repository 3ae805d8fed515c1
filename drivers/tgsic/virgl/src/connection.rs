//! One client and its connection to the host.
//!
//! One thread copies in both directions. The stream from client to host is parsed ([`Stream`]); from host to client,
//! bytes and descriptors are copied. The thread never waits for only one side: bytes that a socket does not accept are
//! queued, and nothing more is received for it meanwhile. If one side closes, the other sees the same as without a
//! proxy: bytes sent before still arrive, then the socket is closed.
//!
//! The thread sleeps as soon as there is nothing to pass on. Polling first would bring answers to the client earlier,
//! but takes CPU time from hosts that draw in software, which costs more frames than it gains.
//!
//! The remaining cost is that of an additional process. A frame takes three answers of the host, and each wakes one
//! more process, which is most of the cost if the CPU sleeps. Short messages ([`crate::stream`]) and answers to waits
//! are sent whole, so that the receiver wakes once. Two other measures gain nothing: answering the wait for a new
//! resource, which cannot be in use, without the host; and leaving a request in the client's socket until it is
//! answered, so that the client is not woken when its socket becomes writable. More CPUs do not help either. Where the
//! rest matters, the translation runs inside the host (`tgsic_virgl_rewrite` of the C library).

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
use crate::socket::{Outgoing, ReceiveResult, receive};
use crate::stream::{Sink, Stream, StreamCounts};
use crate::traffic::Traffic;
use crate::vtest::is_header_of_wait;

/// The time to wait for a host that does not exist or listen yet. The socket of a starting host appears shortly before
/// it listens.
const HOST_APPEARS: Duration = Duration::from_secs(2);

/// The delay between two attempts to connect.
const RETRY: Duration = Duration::from_millis(3);

/// The time to wait for the body of an answer after its header. The host sends it immediately; if it does not, this
/// time is lost, but no data.
const BODY_FOLLOWS: Duration = Duration::from_millis(5);

/// Connects to the host. The client waits while the host is busy accepting other clients, as it would without a proxy.
/// If the client disconnects, that ends the wait.
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
            // The host's queue is full.
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(Errno::CONNREFUSED | Errno::NOENT) if started.elapsed() < HOST_APPEARS => {}
            Err(error) => return Err(error.into()),
        }
        if stopping.load(Ordering::Relaxed) {
            return Err(io::Error::other("the proxy is shutting down"));
        }
        let mut polled = [PollFd::new(client, PollFlags::empty())];
        let wait = Timespec { tv_sec: 0, tv_nsec: RETRY.as_nanos() as i64 };
        match poll(&mut polled, Some(&wait)) {
            Ok(_) if polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) => {
                return Err(io::Error::other("the client has disconnected"));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Copies in both directions until both sides have finished.
pub fn serve(client: &UnixStream, host: &UnixStream, filter: &(impl Filter + Sync), traffic: &Traffic) {
    let mut connection = Connection {
        client,
        host,
        stream: Stream::new(Timed { filter, traffic }),
        to_host: Outgoing::to(host),
        to_client: Outgoing::to(client),
        from_host: vec![0; FIRST_RECEIVE_BYTES],
        client_open: true,
        host_open: true,
        host_told: false,
        failed: false,
        traffic,
        counted: StreamCounts::default(),
        busy: thread_time(),
    };
    if let Err(error) = connection.run() {
        log::debug!("host to client: {error}");
    }
    connection.count();
    // The host has closed, or the client has disconnected: in both cases neither side needs its socket any more.
    let _ = client.shutdown(Shutdown::Both);
    let _ = host.shutdown(Shutdown::Both);
}

/// Both directions and their state.
struct Connection<'c, F> {
    client: &'c UnixStream,
    host: &'c UnixStream,
    stream: Stream<Timed<'c, F>>,
    to_host: Outgoing<'c>,
    to_client: Outgoing<'c>,
    /// Buffer for bytes from the host to the client.
    from_host: Vec<u8>,
    /// Whether the client may still send.
    client_open: bool,
    /// Whether the host may still send.
    host_open: bool,
    /// Whether the host has been told that the client has finished.
    host_told: bool,
    /// Whether passing on the stream unread has been logged.
    failed: bool,
    traffic: &'c Traffic,
    /// The traffic that has already been counted.
    counted: StreamCounts,
    /// CPU time of the thread that has already been counted.
    busy: Duration,
}

impl<F: Filter> Connection<'_, F> {
    /// Copies until the host has finished and the client has all of it, or the client accepts nothing more.
    fn run(&mut self) -> io::Result<()> {
        while self.host_open || !self.to_client.is_empty() {
            let (client, host) = self.wait()?;
            if client {
                self.to_client.flush()?;
            }
            if host && !self.host_told {
                let flushed = self.to_host.flush();
                self.on_host_send_result(flushed);
            }
            if client && self.client_open && self.to_host.is_empty() {
                let taken = self.take_from_client();
                self.on_host_send_result(taken);
            }
            if host && self.host_open && self.to_client.is_empty() {
                self.take_from_host()?;
            }
            if !self.client_open && !self.host_told && self.to_host.is_empty() {
                // The host may still send something; it closes after it has read the end.
                self.host_told = true;
                let _ = self.host.shutdown(Shutdown::Write);
            }
        }
        Ok(())
    }

    /// Handles the result of sending to the host. An error ends this direction; the other one continues until the
    /// host's remaining bytes are passed on.
    fn on_host_send_result(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            log::debug!("client to host: {error}");
            self.client_open = false;
            self.to_host = Outgoing::to(self.host);
            let _ = self.client.shutdown(Shutdown::Read);
        }
    }

    /// Waits until the client's socket or the host's is ready; returns whether each is.
    fn wait(&mut self) -> io::Result<(bool, bool)> {
        let interest = |receives: bool, sends: bool| {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, receives);
            flags.set(PollFlags::OUT, sends);
            flags
        };
        let client_flags = interest(self.client_open && self.to_host.is_empty(), !self.to_client.is_empty());
        let host_flags = interest(self.host_open && self.to_client.is_empty(), !self.to_host.is_empty());
        let mut polled = [PollFd::new(self.client, client_flags), PollFd::new(self.host, host_flags)];
        // A closed socket without requested events would be reported all the time, so it is not polled.
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
            ReceiveResult::Nothing => return Ok(()),
            ReceiveResult::End => {
                if self.stream.error().is_none()
                    && let Err(error) = self.stream.finish()
                {
                    log::debug!("the client disconnected: {error}");
                }
                self.client_open = false;
                return Ok(());
            }
            ReceiveResult::Bytes(bytes, descriptors) => (bytes, descriptors),
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
            self.traffic.unread.add(1);
            log::warn!("the stream is passed on unread from here: {error}");
        }
        Ok(())
    }

    fn take_from_host(&mut self) -> io::Result<()> {
        let (mut bytes, mut descriptors) = match receive(self.host, &mut self.from_host)? {
            ReceiveResult::Nothing => return Ok(()),
            ReceiveResult::End => {
                self.host_open = false;
                return Ok(());
            }
            ReceiveResult::Bytes(bytes, descriptors) => (bytes, descriptors),
        };
        if descriptors.is_empty() && is_header_of_wait(&self.from_host[..bytes]) && self.host_has_more()? {
            match receive(self.host, &mut self.from_host[bytes..])? {
                ReceiveResult::Nothing => {}
                ReceiveResult::End => self.host_open = false,
                ReceiveResult::Bytes(more, with_last) => {
                    bytes += more;
                    descriptors = with_last;
                }
            }
        }
        self.traffic.to_client.add(bytes as u64);
        if descriptors.is_empty() {
            self.to_client.put(&[&self.from_host[..bytes]])?;
        } else {
            self.traffic.descriptors.add(descriptors.len() as u64);
            // The kernel ends a receive after the byte that has descriptors, but may deliver others before it.
            self.to_client.put(&[&self.from_host[..bytes - 1]])?;
            self.to_client.put_with_descriptors(self.from_host[bytes - 1], descriptors)?;
        }
        if bytes == self.from_host.len() && bytes < RECEIVE_BYTES {
            self.from_host.resize(2 * bytes, 0);
        }
        Ok(())
    }

    /// Returns whether the host sends something within [`BODY_FOLLOWS`].
    fn host_has_more(&self) -> io::Result<bool> {
        let wait = Timespec { tv_sec: 0, tv_nsec: BODY_FOLLOWS.as_nanos() as i64 };
        loop {
            match poll(&mut [PollFd::new(self.host, PollFlags::IN)], Some(&wait)) {
                Err(Errno::INTR) => {}
                ready => return Ok(ready? != 0),
            }
        }
    }

    /// Counts the traffic since the last call.
    fn count(&mut self) {
        let counts = self.stream.counts();
        self.traffic.add_stream(&counts, &self.counted);
        self.counted = counts;
        let busy = thread_time();
        self.traffic.busy.add(busy.saturating_sub(self.busy).as_nanos() as u64);
        self.busy = busy;
    }
}

/// Measures the time of a filter.
struct Timed<'a, F> {
    filter: &'a F,
    traffic: &'a Traffic,
}

impl<F: Filter> Filter for Timed<'_, F> {
    fn filter(&self, shader: &ShaderObject<'_>) -> Filtered {
        let started = thread_time();
        // A panic must not end the connection.
        let filtered = catch_unwind(AssertUnwindSafe(|| self.filter.filter(shader))).unwrap_or_else(|_| {
            log::error!("the filter panicked, a {} shader is passed on unchanged", shader.stage.name());
            Filtered::Unchanged
        });
        self.traffic.filtering.add(thread_time().saturating_sub(started).as_nanos() as u64);
        self.traffic.shaders.add(1);
        self.traffic.shader_bytes.add(shader.text.len() as u64);
        filtered
    }
}

/// Returns the CPU time of this thread.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
