//! Modules that naga compiles from WGSL, changed and damaged.

use std::collections::BTreeMap;
use std::process::Command;

use tgsi_spirv_mutate::{MutateError, damage, define, mutate, mutate_by, transformations};

const FRAGMENT: &str = "
struct Light { place: vec3<f32>, size: f32 }
@group(0) @binding(0) var<uniform> light: Light;
@group(0) @binding(1) var picture: texture_2d<f32>;
@group(0) @binding(2) var filtering: sampler;
fn shade(normal: vec3<f32>, n: i32) -> f32 {
    var sum = 0.0;
    for (var i = 0; i < n; i++) {
        if i == 3 { continue; }
        sum += dot(normal, light.place) * f32(i);
        if sum > 100.0 { return light.size; }
    }
    return sum;
}
@fragment fn main(@location(0) normal: vec3<f32>, @location(1) @interpolate(flat) kind: i32) -> @location(0) vec4<f32> {
    var color = vec4(1.0);
    switch kind {
        case 0 { color = textureSample(picture, filtering, normal.xy); }
        case 1, 2 { color.x = shade(normal, kind + 5); }
        case 3 { discard; }
        default { color *= shade(normal.zyx, 2); }
    }
    return color + normal.xxyy;
}
";

const COMPUTE: &str = "
struct Item { key: u32, parts: array<u32, 4> }
@group(0) @binding(0) var<storage, read_write> items: array<Item>;
@group(0) @binding(1) var<storage, read_write> total: atomic<u32>;
var<workgroup> shared_keys: array<u32, 8>;
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) lane: u32) {
    shared_keys[lane] = items[lane].key ^ 5u;
    workgroupBarrier();
    var best = 0u;
    var i = 0u;
    loop {
        if i >= 8u { break; }
        let key = shared_keys[(lane + i) % 8u];
        if key > best && (key & 1u) == 0u { best = key; } else if key == 7u { break; }
        for (var j = 0; j < 4; j++) { items[lane].parts[j] += key; }
        continuing { i += 1u; }
    }
    items[lane].key = best;
    atomicAdd(&total, best);
}
";

fn module(source: &str) -> Vec<u32> {
    let module = naga::front::wgsl::parse_str(source).expect("WGSL");
    let info = naga::valid::Validator::new(Default::default(), naga::valid::Capabilities::all())
        .validate(&module)
        .expect("a valid module");
    naga::back::spv::write_vec(&module, &info, &Default::default(), None).expect("SPIR-V")
}

/// Returns the message of `spirv-val`; `None` if it accepts the module.
fn complaint(words: &[u32]) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("module.spv");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(&file, bytes).expect("a file");
    let output = Command::new("spirv-val").args(["--target-env", "vulkan1.1"]).arg(&file).output().expect("spirv-val");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

fn has_validator() -> bool {
    let is_missing = Command::new("spirv-val").arg("--version").output().is_err();
    if is_missing {
        println!("skipped: changed modules: no program spirv-val (apt-get install spirv-tools)");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "in CI nothing may be skipped: no spirv-val");
    }
    !is_missing
}

#[test]
fn changed_modules_are_valid() {
    if !has_validator() {
        return;
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for source in [FRAGMENT, COMPUTE] {
        let words = module(source);
        assert_eq!(complaint(&words), None);
        for seed in 0..40 {
            let mutation = mutate(&words, seed, 12).expect("a module");
            let message = complaint(&mutation.words);
            assert_eq!(message, None, "seed {seed}: {}", mutation.applied.join(" "));
            mutation.applied.iter().for_each(|name| *counts.entry(name).or_default() += 1);
        }
    }
    for name in transformations() {
        assert!(counts.get(name).is_some_and(|&count| count > 5), "{name} hardly applies: {counts:?}");
    }
}

#[test]
fn defined_modules_are_valid() {
    for source in [FRAGMENT, COMPUTE] {
        let words = define(&module(source)).expect("a module");
        assert!(words.len() > module(source).len());
        if has_validator() {
            assert_eq!(complaint(&words), None);
        }
    }
}

#[test]
fn a_seed_has_one_result() {
    let words = module(FRAGMENT);
    let [first, again, other] = [1, 1, 2].map(|seed| mutate(&words, seed, 5).expect("a module").words);
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert_ne!(first, words);
    let only = mutate_by(&words, 3, 4, |name| name == "wrap_loop").expect("a module");
    assert!(!only.applied.is_empty() && only.applied.iter().all(|&name| name == "wrap_loop"));
    // Without transformations nothing changes.
    assert_eq!(mutate(&words, 0, 0).expect("a module").words, words);
}

#[test]
fn half_of_the_damaged_modules_keep_their_framing() {
    let words = module(COMPUTE);
    let is_framed = |words: &[u32]| {
        let mut at = 5;
        while let Some(first) = words.get(at) {
            let length = (first >> 16) as usize;
            if length == 0 {
                return false;
            }
            at += length;
        }
        at == words.len()
    };
    let mut broken = 0;
    for seed in 0..400 {
        let damaged = damage(&words, seed);
        assert_eq!(damaged, damage(&words, seed));
        if seed % 2 == 0 {
            assert!(is_framed(&damaged), "seed {seed}");
        } else {
            broken += usize::from(!is_framed(&damaged));
        }
    }
    assert!(broken > 50, "{broken}");
}

#[test]
fn damaged_modules_are_changed_or_refused() {
    for source in [FRAGMENT, COMPUTE] {
        let words = module(source);
        for seed in 0..3000 {
            // Either result is right; a panic or an endless loop is not.
            let damaged = damage(&words, seed);
            let _ = (mutate(&damaged, seed, 3), define(&damaged));
        }
    }
    assert_eq!(mutate(&[], 0, 1).unwrap_err(), MutateError::Words(0));
    assert_eq!(mutate(&[1, 2, 3, 4, 5], 0, 1).unwrap_err(), MutateError::Words(0));
}
