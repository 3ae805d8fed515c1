//! `proxy`: between virgl clients and their host.
//!
//! The library carries the bytes ([`tgsi_driver_virgl`]); here is what is made of the shaders, what is kept of them, and what is told at the end.

mod cache;
pub mod guard;
mod record;
mod stats;
mod translator;

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tgsi::text::PrintOptions;
use tgsi_driver_tgsi::Dialect;
use tgsi_driver_virgl::shader::{Filtered, ShaderObject};
use tgsi_driver_virgl::{Proxy, ProxyError};

use super::{Failure, Status};
use crate::args::{DialectName, DriverName, ProxyArguments};
use crate::output;
use crate::plan::Plan;
use guard::Guard;
use record::Recorder;
use translator::Translator;

/// Signals that end the proxy.
const SIGNALS: [i32; 3] = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP];

/// Serves until it is told to end.
pub fn proxy(arguments: &ProxyArguments) -> Result<Status, Failure> {
    let DriverName::Tgsi = arguments.driver;
    let (plan, print_options) = for_dialect(arguments);
    let recorder = arguments.record.as_deref().map(Recorder::new).transpose()?;
    let translator = Translator::new(plan, print_options, arguments.verify, recorder);
    let proxy = Proxy::bind(&arguments.listen, &arguments.connect)?;
    let guard = Guard::start(&arguments.listen);
    let stop = stop_signals().map_err(ProxyError::Wait)?;
    log::info!("listening on {}", arguments.listen.display());
    let filter = |shader: &ShaderObject<'_>| {
        let filtered = translator.filter(shader);
        if arguments.keep { Filtered::Unchanged } else { filtered }
    };
    let result = proxy.run(&filter, &stop, arguments.once.then_some(1));
    // The file goes first: then the guard finds nothing to do.
    let traffic = proxy.into_traffic();
    drop(guard);
    if let Some(path) = &arguments.stats {
        let report = stats::Report::new(&translator.totals(), &traffic);
        crate::diagnostics::print(&report.table());
        let json = report.json() + "\n";
        if path.as_os_str() == "-" {
            output::write_stdout(json.as_bytes())?;
        } else {
            output::write_file(path, json.as_bytes())?;
        }
    }
    result?;
    Ok(Status::Well)
}

/// How shaders are translated and printed so that the host can read them.
fn for_dialect(arguments: &ProxyArguments) -> (Plan, PrintOptions) {
    let mut plan = arguments.passes.plan();
    plan.options.dialect = arguments.passes.driver_options.dialect.map_or(Dialect::Virgl, DialectName::dialect);
    let hex_floats = plan.options.dialect == Dialect::Virgl;
    (plan, PrintOptions { hex_floats, ..PrintOptions::default() })
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
