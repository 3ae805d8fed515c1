//! Compiles the modules that are arguments, and counts errors by code: `sweep FILE...`.

use std::collections::BTreeMap;

use tgsi_from_spirv::{SpirvOptions, compile};

fn main() {
    let mut counts: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let (mut read, mut total) = (0, 0);
    for path in std::env::args().skip(1) {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        total += 1;
        let compiled = compile(&bytes, None, &SpirvOptions::default());
        read += usize::from(compiled.module.is_some());
        let errors: Vec<_> = compiled.findings.iter().filter(|finding| finding.is_error()).collect();
        if let Some(module) = compiled.module {
            if let Some(error) = tgsi_ir::validate::find_errors(&module.shader).into_iter().next() {
                counts.entry(format!("invalid: {error:?}")).or_default().0 += 1;
                println!("invalid {path} {error:?}");
            }
        } else if let Some(first) = errors.first() {
            let text = format!("{} {}", first.code, first.message);
            println!("error {path} {text}");
            let entry = counts.entry(text).or_default();
            entry.0 += 1;
            entry.1 = path;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for (text, (count, path)) in counts.into_iter().take(60) {
        eprintln!("{count:6} {text}  {path}");
    }
    eprintln!("{read} of {total} read");
}
