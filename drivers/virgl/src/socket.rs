//! What the proxy does with sockets: bytes and descriptors, received and sent without losing one of them.

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

use crate::limits::MAX_DESCRIPTORS;
use crate::stream::Sink;

/// Receives bytes, and the descriptors that come with the last one of them. No bytes: the other side has gone.
///
/// Every receive has room for descriptors: the kernel drops those for which there is none, and tells nobody.
pub fn receive(socket: &UnixStream, buffer: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    loop {
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = match recvmsg(socket, &mut [IoSliceMut::new(buffer)], &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => continue,
            // What was not read before the other side went away is lost, and so is the other side.
            Err(Errno::CONNRESET) => return Ok((0, Vec::new())),
            received => received?,
        };
        let mut descriptors = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                descriptors.extend(rights);
            }
        }
        return Ok((received.bytes, descriptors));
    }
}

/// Sends a byte with descriptors.
pub fn send_with_descriptors(socket: &UnixStream, byte: u8, descriptors: &[OwnedFd]) -> io::Result<()> {
    let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("too many descriptors"));
    }
    loop {
        match sendmsg(socket, &[IoSlice::new(&[byte])], &mut control, SendFlags::NOSIGNAL) {
            Err(Errno::INTR) => {}
            sent => return Ok(sent.map(|_| ())?),
        }
    }
}

/// A socket that a stream goes to.
pub struct SocketSink<'a>(pub &'a UnixStream);

impl Sink for SocketSink<'_> {
    fn put(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        let mut slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
        let mut left = slices.as_mut_slice();
        // Empty parts at the front go first; with nothing left there is nothing to send.
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            match sendmsg(self.0, left, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL) {
                Err(Errno::INTR) => {}
                sent => IoSlice::advance_slices(&mut left, sent?),
            }
        }
        Ok(())
    }
}
