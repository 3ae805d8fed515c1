//! Reports totals while the proxy runs: on SIGUSR1, and at an interval.

use std::io::{self, Read};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use signal_hook::consts::SIGUSR1;
use signal_hook::low_level::{pipe, unregister};
use tgsi_virgl::Proxy;
use tgsi_virgl::traffic::Traffic;

use super::stats::Report;
use super::translator::Translator;
use crate::output;
use crate::status::Failure;

/// Reports totals on request.
pub struct TotalsReporter<'a> {
    /// The translator, which counts the shaders.
    pub translator: &'a Translator,
    /// The destination of JSON; `-` is standard output.
    pub json: Option<&'a Path>,
}

impl TotalsReporter<'_> {
    /// Runs the proxy, and answers requests for totals meanwhile.
    pub fn while_running<T>(&self, proxy: &Proxy, every: Option<Duration>, run: impl FnOnce() -> T) -> io::Result<T> {
        let (questions, asked) = UnixStream::pair()?;
        questions.set_read_timeout(every)?;
        let signal = pipe::register(SIGUSR1, asked.try_clone()?)?;
        thread::scope(|scope| {
            let answer = || self.answer(&questions, proxy.traffic());
            let answering = thread::Builder::new().name("totals".into()).spawn_scoped(scope, answer);
            let result = answering.map(|_| run());
            unregister(signal);
            let _ = asked.shutdown(Shutdown::Write);
            result
        })
    }

    fn answer(&self, mut questions: &UnixStream, traffic: &Traffic) {
        let mut buffer = [0; 64];
        loop {
            match questions.read(&mut buffer) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
                Err(error) => {
                    log::error!("cannot answer further requests for totals: {error}");
                    return;
                }
            }
            if let Err(failure) = self.show(traffic) {
                log::error!("{failure}");
            }
        }
    }

    /// Shows the totals: a table on standard error, and JSON if requested.
    pub fn show(&self, traffic: &Traffic) -> Result<(), Failure> {
        crate::diagnostics::print(&self.report(traffic).table());
        match self.json {
            Some(path) if path.as_os_str() == "-" => {
                output::write_stdout((self.report(traffic).json() + "\n").as_bytes())
            }
            _ => self.write(traffic),
        }
    }

    /// Writes the JSON file, if requested.
    pub fn write(&self, traffic: &Traffic) -> Result<(), Failure> {
        match self.json {
            Some(path) if path.as_os_str() != "-" => {
                output::write_file(path, (self.report(traffic).json() + "\n").as_bytes())
            }
            _ => Ok(()),
        }
    }

    fn report(&self, traffic: &Traffic) -> Report {
        Report::new(&self.translator.totals(), traffic)
    }
}
