//! One client and its connection to the host.
//!
//! Two threads copy, one for each direction. From client to host the stream is read ([`Stream`]), from host to client bytes and descriptors are copied. Where one side goes
//! away, the other is told in the same way as without us: what was sent before still arrives, then the socket is closed.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use rustix::time::{ClockId, clock_gettime};

use crate::limits::{FIRST_RECEIVE_BYTES, RECEIVE_BYTES};
use crate::shader::{Filter, Filtered, ShaderObject};
use crate::socket::{SocketSink, receive, send_with_descriptors};
use crate::stream::{Sink, Stream};
use crate::traffic::Traffic;

/// How long a host that is not there, or does not listen yet, is waited for. The socket of a starting host appears a moment before it listens.
const HOST_APPEARS: Duration = Duration::from_secs(2);

/// Time between two attempts to connect.
const RETRY: Duration = Duration::from_millis(3);

/// Connects to the host. As long as it has other clients to take first, the client waits, as it would without us; if the client goes away, that ends it.
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

/// Copies both ways until both sides are done.
pub fn serve(client: &UnixStream, host: &UnixStream, filter: &(impl Filter + Sync), traffic: &Traffic) {
    thread::scope(|scope| {
        let back = thread::Builder::new().name("to-client".into());
        if let Err(error) = back.spawn_scoped(scope, || to_client(host, client, traffic)) {
            log::error!("no thread for a client: {error}");
            return;
        }
        to_host(client, host, filter, traffic);
    });
}

/// From client to host.
fn to_host(client: &UnixStream, host: &UnixStream, filter: &impl Filter, traffic: &Traffic) {
    let started = thread_time();
    let timed = Timed { filter, traffic };
    let mut stream = Stream::new(timed);
    let result = copy_to_host(client, host, &mut stream);
    let counts = stream.counts();
    traffic.add_stream(&counts, stream.error().is_some());
    traffic.busy.add(thread_time().saturating_sub(started).as_nanos() as u64);
    match result {
        // The host may still have something to say; it closes when it has seen the end.
        Ok(()) => {
            if stream.error().is_none()
                && let Err(error) = stream.finish()
            {
                log::debug!("a client went away: {error}");
            }
            let _ = host.shutdown(Shutdown::Write);
        }
        Err(error) => {
            log::debug!("from a client to the host: {error}");
            // The other direction goes on until it has passed on what the host has said.
            let _ = client.shutdown(Shutdown::Read);
            let _ = host.shutdown(Shutdown::Write);
        }
    }
}

fn copy_to_host<F: Filter>(client: &UnixStream, host: &UnixStream, stream: &mut Stream<F>) -> io::Result<()> {
    let mut sink = SocketSink(host);
    let mut told = false;
    loop {
        let space = stream.space();
        let (bytes, descriptors) = receive(client, space)?;
        if bytes == 0 {
            return Ok(());
        }
        if descriptors.is_empty() {
            stream.received(bytes, &mut sink)?;
        } else {
            let last = space[bytes - 1];
            stream.received(bytes - 1, &mut sink)?;
            stream.byte_with_descriptors(&mut sink)?;
            send_with_descriptors(host, last, &descriptors)?;
        }
        if let Some(error) = stream.error()
            && !told
        {
            told = true;
            log::warn!("the stream of a client is passed on unread from here: {error}");
        }
    }
}

/// From host to client.
fn to_client(host: &UnixStream, client: &UnixStream, traffic: &Traffic) {
    let started = thread_time();
    if let Err(error) = copy_to_client(host, client, traffic) {
        log::debug!("from the host to a client: {error}");
    }
    // The host has closed, or the client has gone: either way neither is of use to the other.
    let _ = client.shutdown(Shutdown::Both);
    let _ = host.shutdown(Shutdown::Both);
    traffic.busy.add(thread_time().saturating_sub(started).as_nanos() as u64);
}

fn copy_to_client(host: &UnixStream, client: &UnixStream, traffic: &Traffic) -> io::Result<()> {
    let mut sink = SocketSink(client);
    let mut buffer = vec![0; FIRST_RECEIVE_BYTES];
    loop {
        let (bytes, descriptors) = receive(host, &mut buffer)?;
        let Some((&last, before)) = buffer[..bytes].split_last() else { return Ok(()) };
        traffic.to_client.add(bytes as u64);
        if descriptors.is_empty() {
            sink.put(&[&buffer[..bytes]])?;
        } else {
            // The kernel ends a receive after the byte that has descriptors, but may put others before it.
            sink.put(&[before])?;
            send_with_descriptors(client, last, &descriptors)?;
            traffic.descriptors.add(descriptors.len() as u64);
        }
        if bytes == buffer.len() && bytes < RECEIVE_BYTES {
            buffer.resize(2 * bytes, 0);
        }
    }
}

/// A filter whose time is taken.
struct Timed<'a, F> {
    filter: &'a F,
    traffic: &'a Traffic,
}

impl<F: Filter> Filter for Timed<'_, F> {
    fn filter(&self, shader: &ShaderObject<'_>) -> Filtered {
        let started = thread_time();
        // A panic must not take the connection with it, whose other direction would wait for ever.
        let filtered = catch_unwind(AssertUnwindSafe(|| self.filter.filter(shader))).unwrap_or_else(|_| {
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
