//! Measures the driver on shaders: `cargo run --profile dist -p tgsi-driver-cpu --example measure -- shader.tgsi...`
//!
//! For each vertex and fragment shader, measures the time from optimised SSA to machine code, and the time of an
//! invocation in machine code and in the interpreter of the IR, on the same inputs. Prints medians; with `--each` as
//! the first argument, a line for each shader. With `--interpreted`, only compiles shaders of every stage, and counts
//! the operations that are still interpreted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rayon::prelude::*;
use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_driver_cpu::{NoResources, Options, compile};
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, Outputs, RunLimits};
use tgsi_ir::passes::pass_manager::Passes;

/// The nanoseconds for which one thread runs tiles, each a batch of invocations: long enough that waking threads does
/// not matter.
const TILES_TAKE: f64 = 40e6;

/// The number of parts of the tiles; a thread takes one part at a time.
const PARTS: usize = 128;

/// The fewest operations of a shader that is not considered short.
const LONG: usize = 50;

fn percentile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(((values.len() as f64 - 1.0) * part) as usize).copied().unwrap_or(f64::NAN)
}

/// Returns the best time of several runs, in nanoseconds.
fn best(rounds: usize, mut run: impl FnMut()) -> f64 {
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_nanos() as f64
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Returns the speed-up from one thread to two for work without memory accesses: the current limit of the machine.
fn growth_of_arithmetic(one: &rayon::ThreadPool, two: &rayon::ThreadPool) -> f64 {
    let work = |seed: u64| (0..100_000u64).fold(seed, |sum, number| sum.wrapping_mul(0x5851_f42d_4c95_7f2d) ^ number);
    let time = |pool: &rayon::ThreadPool| {
        pool.install(|| {
            best(1, || {
                (0..200u64).into_par_iter().for_each(|seed| {
                    std::hint::black_box(work(seed));
                })
            })
        })
    };
    time(two);
    time(one) / time(two)
}

fn inputs(lanes: usize) -> Inputs {
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 16), ..Inputs::default() };
    for register in 0..16 {
        for component in 0..4 {
            let words = inputs.inputs.component_mut(register, component);
            for (lane, word) in words.iter_mut().enumerate() {
                *word = ((lane * 7 + register * 3 + component) as f32 / 97.0).to_bits();
            }
        }
    }
    inputs.constants = vec![(0..4096).map(|word| (word as f32 / 777.0).to_bits()).collect(); 4];
    inputs
}

fn main() {
    let target = tgsi_driver_cpu::DRIVER.target(&[]).expect("no options");
    let compiler = Compiler::for_target(tgsi_driver_cpu::DRIVER.target(&[]).expect("no options").into());
    let (quad, small, batch, large) = (inputs(4), inputs(512), inputs(4096), inputs(1024 * 1024));
    let pool = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let (one, two) = (pool(1), pool(2));
    let mut quick_times = Vec::new();
    let (mut compile_times, mut ours, mut ratios, mut growth) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut per_operation, mut quad_ratios, mut all_at_once) = (Vec::new(), Vec::new(), Vec::new());
    let (mut growth_of_long, mut growth_of_tiles, mut growth_of_machine) = (Vec::new(), Vec::new(), Vec::new());
    let (mut interpreted, mut stages) = (BTreeMap::new(), BTreeMap::new());
    let option = |name: &str| std::env::args().any(|argument| argument == name);
    let (each, only_count) = (option("--each"), option("--interpreted"));
    for path in std::env::args().skip(1).filter(|argument| !argument.starts_with("--")) {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let Ok(parsed) = tgsi::text::parse(&bytes) else { continue };
        let stage = parsed.shader.processor.name();
        if !only_count && !matches!(stage, "VERT" | "FRAG") {
            continue;
        }
        let Ok(optimised) = compiler.ir_at(Stage::Opt, &parsed.shader) else { continue };
        let made = |options: Options| {
            let mut lowered = optimised.clone();
            let start = Instant::now();
            let _ = target.lower(&mut lowered, &mut Passes::default());
            let program = compile(&lowered, options);
            (program, start.elapsed().as_nanos() as f64 / 1000.0)
        };
        let (Ok(program), time) = made(Options::default()) else { continue };
        compile_times.push(time);
        quick_times.push(made(Options { quick: true, ..Options::default() }).1);
        for name in program.interpreted() {
            *interpreted.entry((stage, name)).or_insert(0usize) += 1;
        }
        let counts = stages.entry(stage).or_insert((0, 0));
        *counts = (counts.0 + program.report().operations, counts.1 + program.report().total);
        if only_count {
            continue;
        }
        let limits = RunLimits::default();
        let Ok(interpreter) = tgsi_ir::run::Program::new(&optimised) else { continue };
        let interpreted_by = |inputs: &Inputs| {
            let run = || interpreter.run(inputs, &mut AnalyticResources::default(), limits).map(drop).unwrap_or(());
            best(if inputs.lanes < 64 { 50 } else { 3 }, run) / inputs.lanes as f64
        };
        let (reference, reference_of_quads) = (interpreted_by(&small), interpreted_by(&quad));
        // As a host does that draws frame after frame.
        let mut outputs = Outputs::default();
        let run = || program.run_into(&batch, &NoResources, RunLimits::default(), &mut outputs).unwrap_or(());
        let single = one.install(|| best(60, run)) / batch.lanes as f64;
        // Alternates, since clock frequencies change: best time of one thread, median of the ratios.
        let mut outputs = Outputs::default();
        let mut time = |pool: &rayon::ThreadPool| {
            let run = || program.run_into(&large, &NoResources, RunLimits::default(), &mut outputs).unwrap_or(());
            pool.install(|| best(1, run)) / large.lanes as f64
        };
        time(&two);
        let turns: Vec<(f64, f64)> = (0..9).map(|_| (time(&one), time(&two))).collect();
        let at_once = turns.iter().map(|&(one, _)| one).fold(f64::INFINITY, f64::min);
        // As a rasteriser does: tiles, each thread with separate results.
        let number = (TILES_TAKE / (single * batch.lanes as f64)).max(64.0) as usize;
        let part = number.div_ceil(PARTS);
        let tiles = |pool: &rayon::ThreadPool| {
            let next = AtomicUsize::new(0);
            let run = |_: rayon::BroadcastContext<'_>| {
                let mut outputs = Outputs::default();
                while next.fetch_add(part, Ordering::Relaxed) < number {
                    for _ in 0..part {
                        program.run_into(&batch, &NoResources, RunLimits::default(), &mut outputs).unwrap_or(());
                    }
                }
            };
            best(1, || drop(pool.broadcast(run)))
        };
        growth_of_machine.push(growth_of_arithmetic(&one, &two));
        tiles(&two);
        let mut ratios_of_tiles: Vec<f64> = (0..5).map(|_| tiles(&one) / tiles(&two)).collect();
        let growth_of_tiles_here = percentile(&mut ratios_of_tiles, 0.5);
        growth_of_tiles.push(growth_of_tiles_here);
        let mut turns: Vec<f64> = turns.iter().map(|(one, two)| one / two).collect();
        let growth_here = percentile(&mut turns, 0.5);
        if each {
            let report = program.report();
            println!(
                "{single:9.1} ns ({at_once:.1} of many), {:5.1} times as fast, growth {:.2}, of tiles {:.2}, {} of {} \
                 operations in {} functions: {path}",
                reference / single,
                growth_here,
                growth_of_tiles_here,
                report.operations,
                report.total,
                report.functions,
            );
        }
        ours.push(single);
        per_operation.push(single / program.report().total as f64);
        ratios.push(reference / single);
        quad_ratios.push(reference_of_quads / single);
        all_at_once.push(at_once);
        growth.push(growth_here);
        if program.report().total >= LONG {
            growth_of_long.push(growth_here);
        }
    }
    println!("{} shaders", compile_times.len());
    for (name, times) in [("compile", &mut compile_times), ("compile quickly", &mut quick_times)] {
        println!("{name}: median {:.1} us, p99 {:.1} us", percentile(times, 0.5), percentile(times, 0.99));
    }
    for (stage, (operations, total)) in stages {
        println!("{stage}: machine code for {operations} of {total} operations");
    }
    let mut interpreted: Vec<(usize, (&str, &str))> =
        interpreted.into_iter().map(|(name, count)| (count, name)).collect();
    interpreted.sort_unstable_by(|a, b| b.cmp(a));
    println!("interpreted:");
    for (count, (stage, name)) in interpreted.iter().take(if only_count { 60 } else { 12 }) {
        println!("{count:6} {stage} {name}");
    }
    if only_count {
        return;
    }
    println!(
        "invocation, 4,096 each time: median {:.1} ns, of an operation {:.3} ns; 1,048,576 at once: {:.1} ns",
        percentile(&mut ours, 0.5),
        percentile(&mut per_operation, 0.5),
        percentile(&mut all_at_once, 0.5)
    );
    println!("interpreter of the IR, 512 lanes together / ours: median {:.1}", percentile(&mut ratios, 0.5));
    println!("interpreter of the IR, a quad each time / ours: median {:.1}", percentile(&mut quad_ratios, 0.5));
    println!(
        "one thread / two threads, 1,048,576 at once: median {:.2}, with {LONG} operations and more {:.2}; tiles of \
         4,096: {:.2}; work without memory: {:.2}",
        percentile(&mut growth, 0.5),
        percentile(&mut growth_of_long, 0.5),
        percentile(&mut growth_of_tiles, 0.5),
        percentile(&mut growth_of_machine, 0.5)
    );
}
