//! Tests `libtgsic-virgl.so` inside a real host, Debian's `virgl_test_server`, with Mesa's virgl driver as its client:
//! translated shaders must draw the same pixels. If a requirement is missing, the test is ignored and the requirement
//! is named.

#[path = "../../tests/piglit/ends.rs"]
#[allow(dead_code, reason = "proxies and kills are for other tests")]
mod ends;
#[path = "../../tests/piglit/equal.rs"]
#[allow(dead_code, reason = "the proxy is for other tests")]
mod equal;
#[path = "library/mod.rs"]
mod library;

use std::process::ExitCode;
use std::sync::Arc;

use ends::{Ends, Installed};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

fn main() -> ExitCode {
    ends::catch_signals();
    let installed = Installed::find();
    if let Err(reason) = &installed {
        println!("host: skipped, {reason}");
    }
    let ignored = installed.is_err();
    let installed = Arc::new(installed);
    let body = move || equal_pass(installed.as_ref().as_ref().map_err(String::as_str)?);
    let trials = vec![Trial::test("equal_pass", body).with_ignored_flag(ignored)];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Checks that a second pass where the depth is equal misses no pixel, and that each of its shaders was translated.
fn equal_pass(installed: &Installed) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    library::install(folder.path())?;
    let stats = folder.path().join("stats.jsonl");
    let library = folder.path().join("usr/lib/libtgsic-virgl.so");
    let inside = Ends::preloaded(installed, &library, &[("TGSIC_VIRGL_STATS", &stats)])?;
    let programs = equal::compare(&Ends::straight(installed)?, &inside, "with the library in the host")?;
    // The host writes them when it notices that the client has disconnected.
    ends::wait_for(|| std::fs::read_to_string(&stats).is_ok_and(|text| text.ends_with('\n')));
    let text = std::fs::read_to_string(&stats)?;
    let totals = text.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    let sum = |name: &str| totals.iter().filter_map(|context| context[name].as_u64()).sum::<u64>();
    if sum("shaders") < 2 * programs || sum("shorter") == 0 || sum("failed") > 0 {
        return Err(format!("{programs} programs: {text}").into());
    }
    Ok(())
}
