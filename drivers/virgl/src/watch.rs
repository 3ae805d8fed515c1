//! Watching before sleeping: a thread that sleeps has to be woken, which on many machines takes longer than the other
//! side takes to answer.
//!
//! A client that asks waits for the answer, and every message between it and the host wakes the proxy too. So a thread
//! that has just passed something on looks again and again for
//! a moment, giving way to others in between: on a busy machine it would take the processor from the one that it waits
//! for. No more than half of the processors are used so.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, Timespec, poll};
use rustix::io::Errno;

/// Who watches, and for how long.
#[derive(Debug)]
pub struct Watchers {
    duration: Duration,
    /// How many there may be.
    most: usize,
    now: AtomicUsize,
}

impl Watchers {
    /// Threads watch for so long; with a duration of zero none does, nor with a single processor, which is better used
    /// by others.
    pub fn new(duration: Duration) -> Watchers {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let most = if duration.is_zero() { 0 } else { processors / 2 };
        Watchers { duration, most, now: AtomicUsize::new(0) }
    }

    /// Looks until something is ready or the time is over: how many are.
    pub(crate) fn watch(&self, polled: &mut [PollFd<'_>]) -> io::Result<usize> {
        if self.now.fetch_add(1, Ordering::Relaxed) >= self.most {
            self.now.fetch_sub(1, Ordering::Relaxed);
            return Ok(0);
        }
        let started = Instant::now();
        let ready = loop {
            match look(polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
                Ok(0) if started.elapsed() < self.duration => thread::yield_now(),
                ready => break ready,
            }
        };
        self.now.fetch_sub(1, Ordering::Relaxed);
        ready
    }
}

/// `poll`, whatever signals come.
pub(crate) fn look(polled: &mut [PollFd<'_>], timeout: Option<&Timespec>) -> io::Result<usize> {
    loop {
        match poll(polled, timeout) {
            Err(Errno::INTR) => {}
            ready => return Ok(ready?),
        }
    }
}
