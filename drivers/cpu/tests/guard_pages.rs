//! Checks that machine code accesses no memory out of bounds: runs generated shaders of every stage while each
//! sufficiently large block of memory is between inaccessible pages, and ends at the second one. An access out of
//! bounds ends the test with a signal.
//!
//! `TGSIC_COUNT=n` generates n shaders of each stage instead of 25, `TGSIC_SEED=n` sets the first seed, `TGSIC_RUNS=n`
//! runs each n times with each number of lanes, instead of once.

#![cfg(all(feature = "machine-code", target_os = "linux"))]

mod indirect;
mod lookups;

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use lookups::{KINDS, Random, random_state, text_of, texture_of};
use rayon::prelude::*;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
use tgsi::tables::Processor;
use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_driver_cpu::sampler::{Format, Textures};
use tgsi_driver_cpu::{Options, Shared, compile, compile_with};
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};
use tgsi_smith::Config;

/// Bytes of a page.
const PAGE: usize = 4096;
/// Smaller and larger blocks are left to the system's allocator: lane vectors, files and buffers are within this range.
const GUARDED: std::ops::Range<usize> = 256..1 << 20;

static GUARDS: AtomicUsize = AtomicUsize::new(0);

/// Places blocks at the end of their last page, between inaccessible pages. Released mappings are reused.
struct Guarding;

/// A list of released mappings with the same number of pages: the address of the first accessible page of one, which
/// contains that of the next.
struct ReleasedMappings {
    is_locked: AtomicBool,
    first: AtomicUsize,
}

impl ReleasedMappings {
    fn with_lock<T>(&self, action: impl FnOnce() -> T) -> T {
        while self.is_locked.swap(true, Ordering::Acquire) {
            std::hint::spin_loop();
        }
        let result = action();
        self.is_locked.store(false, Ordering::Release);
        result
    }

    fn take(&self) -> Option<*mut u8> {
        self.with_lock(|| {
            let first = self.first.load(Ordering::Relaxed) as *mut usize;
            if first.is_null() {
                return None;
            }
            // SAFETY: the list contains only pages of unused mappings.
            self.first.store(unsafe { *first }, Ordering::Relaxed);
            Some(first.cast())
        })
    }

    /// # Safety
    /// The page is the first accessible one of a mapping that is no longer used.
    unsafe fn put(&self, page: *mut u8) {
        self.with_lock(|| {
            // SAFETY: guaranteed by the caller.
            unsafe { *page.cast() = self.first.load(Ordering::Relaxed) };
            self.first.store(page as usize, Ordering::Relaxed);
        });
    }
}

static RELEASED: [ReleasedMappings; GUARDED.end / PAGE + 1] =
    [const { ReleasedMappings { is_locked: AtomicBool::new(false), first: AtomicUsize::new(0) } };
        GUARDED.end / PAGE + 1];

/// Returns the number of accessible pages of a mapping, and the offset of the block from the first of them.
fn place(layout: Layout) -> (usize, usize) {
    let size = layout.size().next_multiple_of(layout.align());
    let pages = size.div_ceil(PAGE);
    (pages, pages * PAGE - size)
}

/// Maps `pages` accessible pages; returns the first of them.
fn map(pages: usize) -> Option<*mut u8> {
    // SAFETY: a new mapping at an address that the system chooses.
    let start = unsafe { mmap_anonymous(null_mut(), (pages + 2) * PAGE, ProtFlags::empty(), MapFlags::PRIVATE) };
    let inner = start.ok()?.cast::<u8>().wrapping_add(PAGE);
    // SAFETY: the pages between the first and the last belong to the new mapping.
    let opened = unsafe { mprotect(inner.cast(), pages * PAGE, MprotectFlags::READ | MprotectFlags::WRITE) };
    opened.ok().map(|()| inner)
}

// SAFETY: blocks are as large and as aligned as requested (the end of a page is aligned to anything up to a page), do
// not overlap, and live until they are released. The layout determines the allocator of a block.
unsafe impl GlobalAlloc for Guarding {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !GUARDED.contains(&layout.size()) || layout.align() > PAGE {
            // SAFETY: guaranteed by the caller.
            return unsafe { System.alloc(layout) };
        }
        let (pages, offset) = place(layout);
        GUARDS.fetch_add(1, Ordering::Relaxed);
        let page = RELEASED[pages].take().or_else(|| map(pages));
        page.map_or(null_mut(), |page| page.wrapping_add(offset))
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !GUARDED.contains(&layout.size()) || layout.align() > PAGE {
            // SAFETY: guaranteed by the caller; the block was allocated there.
            return unsafe { System.dealloc(block, layout) };
        }
        let (pages, offset) = place(layout);
        // SAFETY: the mapping was created by `alloc` for this layout, and is no longer used.
        unsafe { RELEASED[pages].put(block.wrapping_sub(offset)) };
    }
}

#[global_allocator]
static ALLOCATOR: Guarding = Guarding;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Returns inputs with buffers smaller than some accesses, and arbitrary indices.
fn inputs(lanes: usize, seed: u64) -> Inputs {
    let mut state = seed;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match state >> 61 {
            0 => (state >> 32) as u32,
            1 => u32::MAX - (state >> 40 & 7) as u32,
            2 => (state >> 40 & 511) as u32,
            _ => (state >> 40 & 63) as u32,
        }
    };
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 6), shared_size: 260, ..Inputs::default() };
    for component in 0..24 {
        inputs.inputs.component_mut(component / 4, component % 4).fill_with(&mut word);
    }
    inputs.constants = [299, 67, 64, 3].iter().map(|&words| (0..words).map(|_| word()).collect()).collect();
    inputs.buffers = [260, 400].iter().map(|&bytes| (0..bytes).map(|_| word() as u8).collect()).collect();
    inputs.counters = vec![vec![1; 80]];
    inputs
}

#[test]
fn nothing_outside_is_touched() {
    let stages = [
        Processor::Vertex,
        Processor::Fragment,
        Processor::Geometry,
        Processor::TessControl,
        Processor::TessEval,
        Processor::Compute,
    ];
    let compiler = Compiler::for_target(tgsi_driver_cpu::DRIVER.target(&[]).expect("no options").into());
    let (first, count, repeat) = (number("TGSIC_SEED", 1), number("TGSIC_COUNT", 25), number("TGSIC_RUNS", 1));
    let cases: Vec<(u64, Processor)> =
        (first..first + count).flat_map(|seed| stages.map(|stage| (seed, stage))).collect();
    let (runs, functions) = (AtomicUsize::new(0), AtomicUsize::new(0));
    cases.par_iter().for_each(|&(seed, stage)| {
        let config = Config::default().with_stage(stage);
        let shader = tgsi_smith::from_seed(seed, &config).expect("a shader");
        let lowered = compiler.ir_at(Stage::Registers, &shader).expect("it is lowered");
        let program = compile(&lowered, Options::default()).expect("it is compiled");
        assert_eq!(program.report().refused, None);
        functions.fetch_add(program.report().functions, Ordering::Relaxed);
        for lanes in [1, 5, 64, 67] {
            for run in 0..repeat {
                let inputs = inputs(lanes, seed.wrapping_add(run << 32));
                let limits = RunLimits::of_steps(100_000);
                let run = program.run_together(&inputs, &mut AnalyticResources::default(), limits);
                runs.fetch_add(usize::from(run.is_ok()), Ordering::Relaxed);
            }
        }
    });
    let (runs, functions) = (runs.into_inner() as u64, functions.into_inner() as u64);
    let guards = GUARDS.load(Ordering::Relaxed) as u64;
    println!("{runs} runs to the end, {functions} functions, {guards} guarded blocks");
    assert!(runs > count * repeat * 6 * 3 && functions > count * 6);
    assert!(guards > runs * 3);
}

/// Loads and stores with arbitrary dynamic indices.
#[test]
fn no_memory_outside_is_touched() {
    let compiler = Compiler::for_target(tgsi_driver_cpu::DRIVER.target(&[]).expect("no options").into());
    let shaders =
        [indirect::constants(), indirect::inputs(), indirect::buffers(), indirect::shared_memory(), indirect::arrays()]
            .concat();
    let mut runs = 0;
    for (text, _) in &shaders {
        let shader = tgsi::text::parse(text.as_bytes()).expect("a shader").shader;
        let lowered = compiler.ir_at(Stage::Registers, &shader).expect("it is lowered");
        let program = compile(&lowered, Options::default()).expect("it is compiled");
        for seed in 0..number("TGSIC_RUNS", 20) {
            for lanes in [1, 5, 64, 72] {
                let run = program.run_together(
                    &inputs(lanes, seed),
                    &mut AnalyticResources::default(),
                    RunLimits::of_steps(100_000),
                );
                runs += usize::from(run.is_ok());
            }
        }
    }
    assert_eq!(runs as u64, shaders.len() as u64 * number("TGSIC_RUNS", 20) * 4);
}

/// Inline lookups: textures end at the end of a page, and coordinates are arbitrary.
#[test]
fn no_texel_outside_is_read() {
    let compiler = Compiler::for_target(tgsi_driver_cpu::DRIVER.target(&[]).expect("no options").into());
    let rounds = number("TGSIC_RUNS", 4).min(20);
    let runs: u64 = KINDS
        .par_iter()
        .enumerate()
        .map(|(number, &kind)| {
            let mut random = Random(number as u64 + 77);
            let shader = tgsi::text::parse(text_of(kind, 1 + 8 * (number & 1)).as_bytes()).expect("a shader").shader;
            let lowered = compiler.ir_at(Stage::Registers, &shader).expect("it is lowered");
            let plain = compile(&lowered, Options::default()).expect("it is compiled");
            let mut runs = 0;
            for (format, _) in Format::ALL.into_iter().flat_map(|format| (0..rounds).map(move |round| (format, round)))
            {
                let mut textures = Textures::new();
                textures.set_texture(0, Arc::new(texture_of(kind.0, format, random.next())));
                textures.set_sampler(0, random_state(&mut random));
                let known = plain.known_units(&mut Shared(&textures));
                let program = compile_with(&lowered, Options::default(), &known).expect("it is compiled");
                assert!(program.report().bytes > plain.report().bytes, "{kind:?} is not code");
                let mut inputs = inputs(256, 9);
                for component in 0..4 {
                    for word in inputs.inputs.component_mut(0, component) {
                        // Arbitrary bits, and places around the edges.
                        let near = ((random.next() & 0xff) as f32 / 32.0 - 4.0).to_bits();
                        *word = if random.next() & 3 == 0 { near } else { random.next() << 1 };
                    }
                }
                let run = program.run_together(&inputs, &mut Shared(&textures), RunLimits::default());
                runs += u64::from(run.is_ok());
            }
            runs
        })
        .sum();
    assert_eq!(runs, (KINDS.len() * Format::ALL.len()) as u64 * rounds);
}
