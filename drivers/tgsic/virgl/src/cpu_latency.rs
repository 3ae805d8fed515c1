//! Processors that do not sleep while a client is connected.
//!
//! Each message that the proxy passes on wakes one more process. Where the processor that is to run it sleeps, that
//! takes a few microseconds on hardware and some thirty in a virtual machine, and a frame waits for six such messages.
//! Linux lets programs say how much of that they bear: a file that is open, with a latency in microseconds in it
//! (`Documentation/power/pm_qos_interface.rst`). With 0 idle processors poll. That costs power.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// The file. Usually it is root's.
const PATH: &str = "/dev/cpu_dma_latency";

/// Keeps the processors from sleeping for as long as it lives. Several do no harm.
#[derive(Debug)]
pub struct NoCpuLatency {
    _file: File,
}

impl NoCpuLatency {
    /// Asks for it; an error if that is not permitted, or the system has no such file.
    pub fn request() -> io::Result<NoCpuLatency> {
        let mut file = OpenOptions::new().read(true).write(true).open(PATH)?;
        file.write_all(&0i32.to_ne_bytes())?;
        Ok(NoCpuLatency { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_system_knows_of_the_request_as_long_as_it_lives() {
        // The latency that holds for all, ours among them.
        let latency = || -> io::Result<i32> {
            let mut word = [0; 4];
            File::open(PATH)?.read_exact(&mut word)?;
            Ok(i32::from_ne_bytes(word))
        };
        let before = latency().ok();
        let request = NoCpuLatency::request().ok();
        assert_eq!(latency().ok(), before.map(|before| if request.is_some() { 0 } else { before }));
        drop(request);
        assert_eq!(latency().ok(), before);
    }
}
