//! Modules that naga compiles from WGSL.

use tgsi_spirv_compare::{Checks, Report, check};

const FRAGMENT: &str = "
struct Light { place: vec3<f32>, steps: i32, parts: array<vec4<f32>, 3> }
@group(0) @binding(0) var<uniform> light: Light;
@group(0) @binding(1) var picture: texture_2d<f32>;
@group(0) @binding(2) var sampling: sampler;
fn shade(normal: vec3<f32>, n: i32) -> f32 {
    var sum = 0.0;
    for (var i = 0; i < n; i++) {
        if i == 3 { continue; }
        sum += dot(normal, light.place) * f32(i) + light.parts[u32(i) % 3u].y;
        if sum > 8.0 { return sum * 0.5; }
    }
    return sum;
}
@fragment fn main(
    @builtin(position) place: vec4<f32>,
    @location(0) normal: vec3<f32>,
    @location(1) @interpolate(flat) kind: i32,
) -> @location(0) vec4<f32> {
    var color = vec4(place.xy, 1.0, 1.0);
    switch (i32(place.x) + kind) % 5 {
        case 0: { color = textureSampleLevel(picture, sampling, normal.xy, 0.0); }
        case 1, 2: { color.x = shade(normal, light.steps + 5); }
        case 3: { if place.y > 8.0 { discard; } }
        default: { color *= shade(normal.zyx, 2); }
    }
    return color + normal.xxyy;
}
";

const COMPUTE: &str = "
struct Item { key: u32, parts: array<u32, 4> }
@group(0) @binding(0) var<storage, read_write> items: array<Item>;
@group(0) @binding(1) var<storage, read_write> total: atomic<u32>;
var<workgroup> keys: array<u32, 8>;
@compute @workgroup_size(8) fn main(
    @builtin(local_invocation_index) lane: u32,
    @builtin(global_invocation_id) id: vec3<u32>,
) {
    keys[lane] = items[id.x].key ^ 5u;
    workgroupBarrier();
    var best = 0u;
    var i = 0u;
    loop {
        if i >= 8u { break; }
        let key = keys[(lane + i) % 8u];
        if key > best && (key & 1u) == 0u { best = key; } else if key == 7u { break; }
        for (var j = 0; j < 4; j++) { items[id.x].parts[j] += key; }
        continuing { i += 1u; }
    }
    items[id.x].key = best;
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

/// Whether modules can be run on Vulkan.
fn has_vulkan() -> bool {
    let missing = tgsi_spirv_vulkan::unavailable();
    if let Some(reason) = &missing {
        println!("skipped: modules on Vulkan: {reason}");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "in CI nothing may be skipped: {reason}");
    }
    missing.is_none()
}

#[test]
fn executors_agree_on_modules_and_their_changes() {
    let vulkan = has_vulkan();
    for source in [FRAGMENT, COMPUTE] {
        let words = module(source);
        for seed in 0..3 {
            let mutants = (20 * seed, 20 * seed + 20);
            let checks = Checks {
                seed,
                define: true,
                vulkan,
                translated: vulkan,
                front_end: true,
                mutants,
                changes: 8,
                passes: Vec::new(),
            };
            let reports = check(&words, &checks);
            let wrong: Vec<&Report> = reports.iter().filter(|report| !matches!(report, Report::Same(_))).collect();
            assert!(wrong.is_empty(), "{wrong:#?}");
            // Another stage of the compiler, two runs on Vulkan, and for each mutant two stages.
            let expected = if vulkan { 3 } else { 1 } + 20;
            assert_eq!(reports.len(), expected, "{reports:?}");
        }
    }
}
