//! Runs one test and determines its outcome.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ends::{Ends, kill_all, wait};

/// Timeout for a test.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Timeout for a test that runs alone: some compile hundreds of programs, and a timeout is not a result.
pub const LIMIT_ALONE: Duration = Duration::from_secs(150);

/// The outcome of a test: its result as named by piglit, or `crash`, `timeout`, `none`; and the results of the
/// subtests.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TestOutcome {
    pub result: String,
    pub subtests: BTreeMap<String, String>,
}

impl TestOutcome {
    /// Returns whether the test itself passes.
    pub fn passes(&self) -> bool {
        self.result == "pass"
    }

    /// Returns the test or subtests that pass here and not there.
    pub fn lost(&self, there: &TestOutcome) -> Vec<String> {
        let mut lost = Vec::new();
        if self.passes() && !there.passes() {
            lost.push(there.result.clone());
        }
        for (name, result) in self.subtests.iter().filter(|(_, result)| *result == "pass") {
            match there.subtests.get(name) {
                Some(other) if other == result => {}
                other => lost.push(format!("{name}: {}", other.map_or("none", String::as_str))),
            }
        }
        lost
    }
}

impl fmt::Display for TestOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.result)?;
        let bad: Vec<String> =
            self.subtests.iter().filter(|(_, r)| *r != "pass").map(|(name, r)| format!("{name}: {r}")).collect();
        if bad.is_empty() { Ok(()) } else { write!(f, " ({})", bad.join(", ")) }
    }
}

/// A running test.
pub struct Client {
    pub child: Child,
    output: std::fs::File,
}

impl Client {
    /// Starts a test: the path of a `.shader_test` below piglit's folder, or a program of its `bin/` with arguments.
    pub fn start(ends: &Ends<'_>, piglit: &Path, test: &str) -> Result<Client, String> {
        let mut words = test.split_whitespace();
        let first = words.next().ok_or("a test has no name")?;
        let mut command = if first.ends_with(".shader_test") {
            let file = piglit.join(first);
            let mut command = ends.client(&piglit.join("bin").join(runner_of(&file)));
            command.arg(file);
            command
        } else {
            ends.client(&piglit.join("bin").join(first))
        };
        let output = tempfile::tempfile().map_err(|error| format!("no file for output: {error}"))?;
        let stdout = output.try_clone().map_err(|error| format!("no file for output: {error}"))?;
        command.args(words).args(["-auto", "-fbo"]).stdout(stdout).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("{test}: {error}"))?;
        Ok(Client { child, output })
    }

    /// Waits until the test ends, or kills its process group after the timeout.
    pub fn finish(mut self, limit: Duration) -> TestOutcome {
        let status = wait(&mut self.child, limit);
        // Also after a normal end: no test may leave processes.
        kill_all(&mut self.child);
        let mut bytes = Vec::new();
        let _ = self.output.rewind();
        let _ = self.output.read_to_end(&mut bytes);
        outcome(status, &String::from_utf8_lossy(&bytes))
    }
}

/// Runs a test.
pub fn run(ends: &Ends<'_>, piglit: &Path, test: &str, limit: Duration) -> Result<TestOutcome, String> {
    Ok(Client::start(ends, piglit, test)?.finish(limit))
}

fn outcome(status: Option<ExitStatus>, output: &str) -> TestOutcome {
    let mut result = "none".to_owned();
    let mut subtests = BTreeMap::new();
    for line in output.lines() {
        let Some(value) = line.split_once("PIGLIT: ").and_then(|(_, text)| serde_json::from_str::<Value>(text).ok())
        else {
            continue;
        };
        if let Some(text) = value["result"].as_str() {
            result = text.to_owned();
        }
        for (name, text) in value["subtest"].as_object().into_iter().flatten() {
            subtests.insert(name.clone(), text.as_str().unwrap_or("none").to_owned());
        }
    }
    match status {
        None => result = "timeout".to_owned(),
        Some(status) if status.signal().is_some() => result = "crash".to_owned(),
        Some(_) => {}
    }
    TestOutcome { result, subtests }
}

/// Tests of OpenGL ES have separate runners.
fn runner_of(file: &Path) -> &'static str {
    let text = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let required = text.lines().find_map(|line| line.trim().strip_prefix("GL ES >= "));
    match required.and_then(|version| version.trim().chars().next()) {
        None => "shader_runner",
        Some('1' | '2') => "shader_runner_gles2",
        Some(_) => "shader_runner_gles3",
    }
}
