//! Kills each process in the middle of a run: the others must end or continue, and nothing may be left behind.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use tgsi_environment::Random;

use crate::ends::{Ends, Installed, PATIENCE, children, go_on, held, signal, wait_for};
use crate::outcome::{Client, LIMIT, run};

/// Tests that create several shaders and draw for a while.
const RUNS: [&str; 3] = [
    "tests/spec/glsl-1.50/execution/vs-fs-max-in-out-components.shader_test",
    "ext_transform_feedback-order arrays triangles",
    "tests/spec/arb_tessellation_shader/execution/tcs-tes-vertex.shader_test",
];
/// A short test that checks that everything works again.
const AFTER: &str = "tests/spec/glsl-1.50/execution/gs-trivial.shader_test";

/// The process to kill.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Client,
    /// The process that listens.
    Host,
    /// The process that the host started for the client.
    Serving,
    Proxy,
}

const VICTIMS: [Victim; 4] = [Victim::Proxy, Victim::Client, Victim::Serving, Victim::Host];

/// Kills `count` times.
pub fn kills(installed: &Installed, count: usize, seed: u64) -> Result<(), String> {
    let mut random = Random::new(seed);
    let mut times = Vec::new();
    let mut idle = None;
    for test in RUNS {
        let mut ends = Ends::proxied(installed)?;
        let started = Instant::now();
        let outcome = run(&ends, &installed.piglit, test, LIMIT)?;
        if !outcome.passes() {
            return Err(format!("{test}: {outcome} without a kill"));
        }
        times.push(started.elapsed());
        let now = settled(ends.proxy_id().ok_or("there is no proxy")?);
        let expected = *idle.get_or_insert(now);
        if now != expected {
            return Err(format!("{test}: the proxy holds {now:?} files and threads afterwards, not {expected:?}"));
        }
        ends.end_proxy()?;
    }
    let idle = idle.unwrap_or_default();
    let mut hit = [0; VICTIMS.len()];
    for round in 0..count {
        go_on()?;
        let which = round % RUNS.len();
        let place = if round < VICTIMS.len() { round } else { (random.bits() % VICTIMS.len() as u64) as usize };
        let microseconds = times[which].as_micros() as u64;
        let delay = Duration::from_micros(random.bits() % microseconds.max(1));
        let victim = VICTIMS[place];
        let name = format!("round {round}, seed {seed}: {victim:?} killed after {delay:?} of {}", RUNS[which]);
        hit[place] +=
            usize::from(kill(installed, RUNS[which], victim, delay, idle).map_err(|error| format!("{name}: {error}"))?);
    }
    let hits: Vec<String> = VICTIMS.iter().zip(hit).map(|(victim, count)| format!("{victim:?} {count}")).collect();
    println!("{count} kills, of them in the middle of a run: {}", hits.join(", "));
    Ok(())
}

/// Returns the numbers of files and threads of a proxy after they have settled.
fn settled(proxy: u32) -> (usize, usize) {
    let mut last = (held(proxy), Instant::now());
    wait_for(|| {
        let now = held(proxy);
        if now != last.0 {
            last = (now, Instant::now());
        }
        last.1.elapsed() > Duration::from_millis(300)
    });
    last.0
}

/// Kills once. Returns whether the test was still running.
fn kill(
    installed: &Installed,
    test: &str,
    victim: Victim,
    delay: Duration,
    idle: (usize, usize),
) -> Result<bool, String> {
    let mut ends = Ends::proxied(installed)?;
    let proxy = ends.proxy_id().ok_or("there is no proxy")?;
    let mut client = Client::start(&ends, &installed.piglit, test)?;
    std::thread::sleep(delay);
    let running = matches!(client.child.try_wait(), Ok(None));
    match victim {
        Victim::Client => signal(client.child.id(), Signal::KILL),
        Victim::Host => {
            signal(ends.host_id(), Signal::KILL);
            ends.reap_host();
        }
        Victim::Serving => children(ends.host_id()).into_iter().for_each(|id| signal(id, Signal::KILL)),
        Victim::Proxy => {
            signal(proxy, Signal::KILL);
            ends.reap_proxy();
        }
    }
    let outcome = client.finish(LIMIT);
    if outcome.result == "timeout" {
        return Err("the client hangs".to_owned());
    }
    // It may have ended between the check and the kill.
    let running = running && !(matches!(victim, Victim::Client) && outcome.passes());
    if matches!(victim, Victim::Client) && running && outcome.result != "crash" {
        return Err(format!("the client was not killed: {outcome}"));
    }
    match victim {
        Victim::Proxy => {
            if !wait_for(|| !ends.socket().exists()) {
                return Err(format!("the socket's file is still there after {PATIENCE:?}"));
            }
            ends.start_proxy()?;
        }
        Victim::Host => {
            let refused = run(&ends, &installed.piglit, AFTER, LIMIT)?;
            if refused.passes() || refused.result == "timeout" {
                return Err(format!("a client without a host: {refused}"));
            }
            ends.restart_host()?;
        }
        Victim::Client | Victim::Serving => {}
    }
    let after = run(&ends, &installed.piglit, AFTER, LIMIT)?;
    if !after.passes() {
        return Err(format!("the next client: {after}"));
    }
    if !matches!(victim, Victim::Proxy) {
        if !ends.running() {
            return Err("the proxy or the host ended".to_owned());
        }
        if !wait_for(|| held(proxy) == idle) {
            return Err(format!("the proxy holds {:?} files and threads, without clients {idle:?}", held(proxy)));
        }
    }
    ends.end_proxy()?;
    let left = ends.end_host();
    if left.is_empty() { Ok(running) } else { Err(format!("processes stay behind: {}", left.join(", "))) }
}
