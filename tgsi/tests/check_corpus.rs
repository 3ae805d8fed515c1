//! The check and the scan over real shaders. Requires the shared data folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::shared;
use pretty_assertions::assert_eq;
use tgsi::check::check;
use tgsi::scan::scan;
use tgsi::shader::Shader;
use tgsi::text::parse;
use tgsi::tokens;

/// All shaders of the corpus by relative path, in the order of the manifest.
fn corpus(shared: &Path) -> BTreeMap<String, Shader> {
    let manifest = fs::read_to_string(shared.join("corpus/MANIFEST.csv")).expect("the manifest");
    let names = manifest.lines().skip(1).filter_map(|row| row.split(',').next());
    names
        .map(|name| {
            let text = fs::read(shared.join("corpus").join(name)).expect("a shader");
            (name.to_owned(), parse(&text).unwrap_or_else(|errors| panic!("{name}: {errors:#?}")).shader)
        })
        .collect()
}

/// Errors by code, with the first shaders that have them, and the number of each warning.
fn judge<'a>(shaders: impl Iterator<Item = (&'a String, &'a Shader)>) -> (String, BTreeMap<&'static str, usize>) {
    let mut errors: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut warnings = BTreeMap::new();
    for (name, shader) in shaders {
        for diagnostic in check(shader).diagnostics {
            if diagnostic.is_error() {
                errors.entry(diagnostic.code.name).or_default().push(format!("{name}: {}", diagnostic.message));
            } else {
                *warnings.entry(diagnostic.code.name).or_default() += 1;
            }
        }
    }
    let show = |(code, list): (&&str, &Vec<String>)| {
        format!("{code}: {}\n    {}\n", list.len(), list[..list.len().min(5)].join("\n    "))
    };
    (errors.iter().map(show).collect(), warnings)
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn real_shaders_have_no_errors() {
    let shared = shared("");
    let shaders = corpus(&shared);
    let start = std::time::Instant::now();
    let (errors, warnings) = judge(shaders.iter());
    println!("{} shaders checked in {:?}", shaders.len(), start.elapsed());
    println!("warnings: {warnings:#?}");
    assert_eq!(errors, "");
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn scan_counts_what_the_manifest_says() {
    let shared = shared("");
    let shaders = corpus(&shared);
    let manifest = fs::read_to_string(shared.join("corpus/MANIFEST.csv")).expect("the manifest");
    let mut compared = 0;
    for row in manifest.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let shader = &shaders[fields[0]];
        let scan = scan(shader);
        assert_eq!(scan.processor.name(), fields[1], "{}", fields[0]);
        compared += 1;
        // Old dialects have opcodes that are rewritten to one or several current ones.
        if fields[6] == "rejects" {
            continue;
        }
        assert_eq!(scan.num_instructions.to_string(), fields[2], "{}", fields[0]);
        let used = tgsi::tables::Opcode::ALL.iter().filter(|&&o| scan.opcode_count[o] > 0).map(|o| o.name());
        let mut used: Vec<&str> = used.collect();
        used.sort_unstable();
        assert_eq!(used.join(" "), fields[3], "{}", fields[0]);
    }
    assert_eq!(compared, 1695);
}

/// The reference data counts the temporaries of the shaders that Mesa accepts.
#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn scan_counts_temporaries() {
    let shared = shared("");
    let shaders = corpus(&shared);
    let peer = fs::read_to_string(shared.join("oracle/peer.csv")).expect("the peer's figures");
    let mut rows = peer.lines();
    let header: Vec<&str> = rows.next().unwrap_or_default().split(',').collect();
    let column = header.iter().position(|&c| c == "temporaries_before").expect("a column of temporaries");
    for row in rows {
        let fields: Vec<&str> = row.split(',').collect();
        let path = fields[0].trim_start_matches("corpus/");
        if let (Some(shader), false) = (shaders.get(path), fields[column].is_empty()) {
            assert_eq!(scan(shader).temporaries.to_string(), fields[column], "{path}");
        }
    }
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn shaders_of_one_opcode_have_no_errors() {
    let shared = shared("");
    let files = fs::read_dir(shared.join("oracle/opcodes")).expect("the folder of opcodes");
    let shaders: BTreeMap<String, Shader> = files
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let text = fs::read(&path).expect("a shader");
            let shader = parse(&text).unwrap_or_else(|errors| panic!("{}: {errors:#?}", path.display())).shader;
            (path.display().to_string(), shader)
        })
        .collect();
    let (errors, _) = judge(shaders.iter());
    assert_eq!(errors, "");
    assert!(shaders.len() > 700, "{}", shaders.len());
}

/// Invalid input is rejected by the parser or by the check. The names are those of inputs that Mesa accepts, or that
/// are harmless.
#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn bad_input_is_refused() {
    let shared = shared("");
    const MAY_PASS: [&str; 10] = [
        "text-after-end",
        "range-overlap",
        "imm-index-gap",
        "interp-no-semantic",
        "gs-without-primitive",
        "64bit-odd-mask",
        "image-no-access",
        "two-positions",
        "array-twice",
        "short-header",
    ];
    let mut accepted = Vec::new();
    let mut seen = 0;
    for entry in fs::read_dir(shared.join("accept/bad")).expect("the folder of bad input") {
        let path = entry.expect("an entry").path();
        let bytes = fs::read(&path).expect("a file");
        let shader = if path.extension().is_some_and(|e| e == "tok") {
            tokens::words_from_bytes(&bytes).and_then(|words| tokens::decode(&words)).ok()
        } else {
            parse(&bytes).ok().map(|parsed| parsed.shader)
        };
        seen += 1;
        if shader.is_some_and(|shader| !check(&shader).has_errors()) {
            accepted.push(path.file_stem().expect("a name").to_string_lossy().into_owned());
        }
    }
    println!("{seen} bad inputs; accepted: {accepted:?}");
    accepted.retain(|name| !MAY_PASS.contains(&name.as_str()));
    assert_eq!(accepted, Vec::<String>::new());
    assert!(seen >= 80);
}
