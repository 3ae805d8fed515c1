//! `proxy`: translates the shaders between virgl clients and their host.
//!
//! The library ([`tgsi_virgl`]) carries the bytes; this module translates and records the shaders and reports
//! totals.

pub mod guard;
mod record;
mod stats;
mod totals_reporter;
mod translator;

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tgsi_virgl::shader::{Filtered, ShaderObject};
use tgsi_virgl::traffic::Traffic;
use tgsi_virgl::{Proxy, ProxyError};

use crate::args::{DialectName, ProxyArguments};
use crate::plan::Plan;
use crate::status::{Failure, Status};
use guard::Guard;
use record::Recorder;
use totals_reporter::TotalsReporter;
use translator::Translator;

/// Signals that end the proxy.
const SIGNALS: [i32; 3] = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP];

/// Serves until a signal ends it.
pub fn proxy(arguments: &ProxyArguments) -> Result<Status, Failure> {
    if arguments.passes.driver_options.dialect == Some(DialectName::Mesa) {
        return Err(Failure::Usage(
            "virgl hosts read their own dialect of TGSI and close the connection on other shaders: --dialect mesa is for `translate`"
                .into(),
        ));
    }
    // Huge pages for the heap of every thread would be most of the proxy's memory.
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        log::info!("huge pages are not disabled: {error}");
    }
    let recorder = arguments.record.as_deref().map(Recorder::new).transpose()?;
    let translator = Translator::new(plan(arguments)?, arguments.verify, recorder);
    let reporter = TotalsReporter { translator: &translator, json: arguments.stats.as_deref() };
    // Reports an unwritable file now, not after hours.
    reporter.write(&Traffic::default())?;
    let proxy = Proxy::bind(&arguments.listen, &arguments.connect)?;
    let guard = Guard::start(&arguments.listen);
    let stop = stop_signals().map_err(ProxyError::Wait)?;
    log::info!("listening on {}", arguments.listen.display());
    let filter = |shader: &ShaderObject<'_>| {
        let filtered = translator.filter(shader);
        if arguments.keep { Filtered::Unchanged } else { filtered }
    };
    let every = arguments.stats_every.map(|seconds| Duration::from_secs(seconds.into()));
    let run = || proxy.run(&filter, &stop, arguments.once.then_some(1));
    let result = reporter.while_running(&proxy, every, run).map_err(ProxyError::Wait);
    // Removes the file first, so that the guard has nothing to do.
    let traffic = proxy.into_traffic();
    drop(guard);
    if arguments.stats.is_some() || every.is_some() {
        reporter.show(&traffic)?;
    }
    result??;
    Ok(Status::Success)
}

/// Returns the plan for translations that the host can read.
fn plan(arguments: &ProxyArguments) -> Result<Plan, Failure> {
    let mut passes = arguments.passes.clone();
    passes.driver_options.dialect = Some(DialectName::Virgl);
    Plan::from_arguments(&passes)
}

/// Returns a socket that becomes readable after a signal to end. A second signal ends the process at once.
fn stop_signals() -> std::io::Result<UnixStream> {
    let (stop, write) = UnixStream::pair()?;
    let stopping = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS {
        // The handlers run in this order: test the flag, then set it. So only the second signal finds it set.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stopping))?;
        signal_hook::flag::register(signal, Arc::clone(&stopping))?;
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
    }
    Ok(stop)
}
