//! `proxy`: between virgl clients and their host.
//!
//! The library carries the bytes ([`tgsi_driver_virgl`]); here is what is made of the shaders, what is kept of them,
//! and what is told of it.

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

/// Serves until it is told to end.
pub fn proxy(arguments: &ProxyArguments) -> Result<Status, Failure> {
    if arguments.passes.driver_options.dialect == Some(DialectName::Mesa) {
        return Err(Failure::Usage(
            "hosts of virgl read their own dialect of TGSI and close the connection on shaders of another: --dialect mesa is for `translate`"
                .into(),
        ));
    }
    // Huge pages for the heap of every thread would be most of what the proxy takes.
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        log::info!("huge pages stay: {error}");
    }
    let recorder = arguments.record.as_deref().map(Recorder::new).transpose()?;
    let translator = Translator::new(plan(arguments)?, arguments.verify, recorder);
    let reporter = TotalsReporter { translator: &translator, json: arguments.stats.as_deref() };
    // A place that cannot be written is told now, not after hours.
    reporter.write(&Traffic::default())?;
    let proxy = Proxy::bind(&arguments.listen, &arguments.connect)?
        .urgent(!arguments.no_real_time)
        .low_latency(arguments.low_latency);
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
    // The file goes first: then the guard finds nothing to do.
    let traffic = proxy.into_traffic();
    drop(guard);
    if arguments.stats.is_some() || every.is_some() {
        reporter.show(&traffic)?;
    }
    result??;
    Ok(Status::Success)
}

/// The plan for translations that the host can read.
fn plan(arguments: &ProxyArguments) -> Result<Plan, Failure> {
    let mut passes = arguments.passes.clone();
    passes.driver_options.dialect = Some(DialectName::Virgl);
    Plan::from_arguments(&passes)
}

/// A socket that can be read once a signal to end has come. A second one ends the process at once.
fn stop_signals() -> std::io::Result<UnixStream> {
    let (stop, write) = UnixStream::pair()?;
    let stopping = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS {
        // Looks first, marks then: only the second signal finds the mark.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stopping))?;
        signal_hook::flag::register(signal, Arc::clone(&stopping))?;
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
    }
    Ok(stop)
}
