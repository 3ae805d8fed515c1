//! Socket I/O of the proxy: receives and sends bytes and descriptors without losing any, and without blocking.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::cmsg_space;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

use crate::limits::{MAX_DESCRIPTORS, RECEIVE_BYTES};
use crate::stream::Sink;

/// The result of a receive.
#[derive(Debug)]
pub enum ReceiveResult {
    /// Nothing has arrived yet.
    Nothing,
    /// The other side has closed.
    End,
    /// This many bytes, and the descriptors that came with the last one of them.
    Bytes(usize, Vec<OwnedFd>),
}

/// Receives the available bytes.
///
/// Every receive has a buffer for descriptors, because the kernel silently drops descriptors without one.
pub fn receive(socket: &UnixStream, buffer: &mut [u8]) -> io::Result<ReceiveResult> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    loop {
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = match recvmsg(socket, &mut [IoSliceMut::new(buffer)], &mut control, flags) {
            Err(Errno::INTR) => continue,
            Err(Errno::AGAIN) => return Ok(ReceiveResult::Nothing),
            // Unread bytes are lost with the connection.
            Err(Errno::CONNRESET) => return Ok(ReceiveResult::End),
            received => received?,
        };
        let mut descriptors = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                descriptors.extend(rights);
            }
        }
        return Ok(if received.bytes == 0 {
            ReceiveResult::End
        } else {
            ReceiveResult::Bytes(received.bytes, descriptors)
        });
    }
}

/// Sends as much as the socket accepts; returns the number of bytes.
fn send(
    socket: &UnixStream,
    parts: &[IoSlice<'_>],
    control: &mut SendAncillaryBuffer<'_, '_, '_>,
) -> io::Result<usize> {
    loop {
        match sendmsg(socket, parts, control, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(0),
            sent => return Ok(sent?),
        }
    }
}

/// Output to a socket. Bytes that the socket does not accept at once are queued; the owner receives nothing more while
/// the queue is not empty.
#[derive(Debug)]
pub struct Outgoing<'s> {
    socket: &'s UnixStream,
    waiting: Vec<u8>,
    /// Bytes of these that have been sent.
    sent: usize,
    /// A byte with descriptors to send after the queue.
    last: Option<(u8, Vec<OwnedFd>)>,
}

impl<'s> Outgoing<'s> {
    /// Creates the output for a socket.
    pub fn to(socket: &'s UnixStream) -> Outgoing<'s> {
        Outgoing { socket, waiting: Vec::new(), sent: 0, last: None }
    }

    /// Returns whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.last.is_none()
    }

    /// Sends as much of the queue as the socket accepts.
    pub fn flush(&mut self) -> io::Result<()> {
        while self.sent < self.waiting.len() {
            let part = IoSlice::new(&self.waiting[self.sent..]);
            match send(self.socket, &[part], &mut SendAncillaryBuffer::default())? {
                0 => return Ok(()),
                bytes => self.sent += bytes,
            }
        }
        self.sent = 0;
        self.waiting.clear();
        if self.waiting.capacity() > RECEIVE_BYTES {
            self.waiting = Vec::new();
        }
        if let Some((byte, descriptors)) = self.last.take()
            && !send_with_descriptors(self.socket, byte, &descriptors)?
        {
            self.last = Some((byte, descriptors));
        }
        Ok(())
    }

    /// Queues a byte with descriptors. Nothing may follow until it has been sent.
    pub fn put_with_descriptors(&mut self, byte: u8, descriptors: Vec<OwnedFd>) -> io::Result<()> {
        self.last = Some((byte, descriptors));
        self.flush()
    }
}

impl Sink for Outgoing<'_> {
    fn put(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        let mut slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
        let mut left = slices.as_mut_slice();
        // Removes empty parts at the front, so that nothing is sent if nothing is left.
        IoSlice::advance_slices(&mut left, 0);
        while self.is_empty() && !left.is_empty() {
            match send(self.socket, left, &mut SendAncillaryBuffer::default())? {
                0 => break,
                bytes => IoSlice::advance_slices(&mut left, bytes),
            }
        }
        left.iter().for_each(|part| self.waiting.extend_from_slice(part));
        Ok(())
    }
}

/// Sends a byte with descriptors, if the socket accepts it.
fn send_with_descriptors(socket: &UnixStream, byte: u8, descriptors: &[OwnedFd]) -> io::Result<bool> {
    let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("too many descriptors"));
    }
    Ok(send(socket, &[IoSlice::new(&[byte])], &mut control)? == 1)
}
