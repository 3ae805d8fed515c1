//! The integration tests of this crate, as one program. Each module tests one subject.

mod manual;
mod sockets;
