//! A depth-only pass and a second one where the depth is equal: both compute the position by the same expression, in
//! two programs. The position must have the same bits in both, independent of other uses of its parts; a pixel that the
//! second pass misses is a hole.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::ends::{Ends, Installed, kill_all, wait};

/// The client; its output is documented in its header.
const SOURCE: &str = include_str!("equal.c");

/// Timeout for the client.
const LIMIT: Duration = Duration::from_secs(60);

/// Covered pixels, and holes among them.
type Pixels = (u32, u32);

/// Runs the client directly and through the proxy. Fails if the second pass has holes, or covers other pixels than
/// without the proxy.
pub fn equal(installed: &Installed) -> Result<(), String> {
    let mut proxied = Ends::proxied(installed)?;
    let programs = compare(&Ends::straight(installed)?, &proxied, "with the proxy")?;
    let shaders = proxied.end_proxy()?["shaders"].as_u64().unwrap_or(0);
    if shaders < 2 * programs { Err(format!("only {shaders} shaders")) } else { Ok(()) }
}

/// Runs the client directly and in a second setup. Returns the number of programs that it draws with.
pub fn compare(straight: &Ends<'_>, other: &Ends<'_>, way: &str) -> Result<u64, String> {
    let (expected, found) = (run(straight)?, run(other)?);
    let mut wrong = Vec::new();
    for (name, &(covered, holes)) in &expected {
        let (here, lost) = found.get(name).copied().unwrap_or_default();
        println!("{name:<12} {covered} pixels, holes straight {holes}, {way} {lost} (of {here})");
        if (here, lost) != (covered, 0) || holes != 0 || covered < 10_000 {
            wrong.push(name.as_str());
        }
    }
    if expected.len() < 6 {
        return Err(format!("only {} programs", expected.len()));
    }
    let wrong = wrong.join(", ");
    if wrong.is_empty() { Ok(expected.len() as u64) } else { Err(format!("the second pass has holes: {wrong}")) }
}

/// Returns pixels by program.
fn run(ends: &Ends<'_>) -> Result<BTreeMap<String, Pixels>, String> {
    // The folder of the socket is the client's /tmp.
    let place = ends.socket().with_file_name("equal");
    let source = place.with_extension("c");
    fs::write(&source, SOURCE).map_err(|error| format!("{}: {error}", source.display()))?;
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&place).arg(&source);
    let compiled = compiler.args(["-lEGL", "-lGL", "-lm"]).status().map_err(|error| format!("cc: {error}"))?;
    if !compiled.success() {
        return Err(format!("cc ends with {compiled}"));
    }
    let mut command = ends.client(Path::new("/tmp/equal"));
    let command = command.env("EGL_PLATFORM", "surfaceless").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", place.display()))?;
    // The output fits into a pipe.
    let status = wait(&mut child, LIMIT);
    if status.is_none() {
        kill_all(&mut child);
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match status {
        Some(status) if status.success() => {}
        Some(status) => return Err(format!("it ends with {status}: {errors}")),
        None => return Err(format!("it takes longer than {LIMIT:?}: {errors}")),
    }
    if !errors.lines().any(|line| line.starts_with("virgl")) {
        return Err(format!("it does not draw on virgl: {errors}"));
    }
    let pixels = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?.to_owned();
        Some((name, (words.next()?.parse().ok()?, words.next()?.parse().ok()?)))
    });
    Ok(pixels.collect())
}
