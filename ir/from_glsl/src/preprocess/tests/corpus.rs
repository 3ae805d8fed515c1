//! Whole test suites, if they are installed: parser tests of piglit and shader cases of dEQP.
//!
//! `TGSIC_PIGLIT=/usr/lib/x86_64-linux-gnu/piglit cargo test -p tgsi-glsl corpus -- --ignored --nocapture`. Other
//! folders are `TGSIC_DEQP` (with `.test` files) and `TGSIC_SHADERS` (several, with `.shader_test` and `.glsl` files).

use std::path::{Path, PathBuf};

use super::*;

/// Files below a folder.
fn files(folder: &Path, list: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() { files(&path, list) } else { list.push(path) }
    }
}

/// The first error of a text and its line.
fn first_error(text: &[u8], options: &GlslOptions) -> Option<String> {
    let (mut interner, mut findings) = (Interner::new(), Findings::default());
    let result = preprocess(text, options, &mut interner, &mut findings);
    let numbers = result.tokens.tokens.iter().filter(|token| token.kind == TokenKind::Number);
    let bad_number = numbers.filter_map(|token| {
        let error = parse_number(interner.spelling(token.symbol), result.version, &result.extensions).err()?;
        Some(format!("{}: {error}", result.lines.physical_line(token.span.start)))
    });
    let finding = findings.into_vec().into_iter().find(tgsi_diagnostics::Diagnostic::is_error);
    let finding = finding.map(|finding| format!("{}: {finding}", result.lines.physical_line(finding.span.start)));
    finding.or(bad_number.into_iter().next())
}

/// The value of a key in the `[config]` section of a parser test.
fn config<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let line = text.lines().take(60).find_map(|line| line.split_once(key))?.1;
    line.trim_start_matches([':', ' ']).split_whitespace().next()
}

/// The options for a parser test: without the extensions that it needs absent.
fn options(text: &str) -> GlslOptions {
    let mut options = GlslOptions::default();
    let line = text.lines().take(60).find_map(|line| line.split_once("require_extensions:"));
    for name in line.map_or("", |(_, names)| names).split_whitespace() {
        if let Some(extension) = name.strip_prefix('!').and_then(Extension::from_name) {
            options.extensions.set(extension, false);
        }
    }
    options
}

/// Whether a text has a keyword.
fn has_keyword(text: &[u8], word: &str) -> bool {
    let (mut interner, mut findings) = (Interner::new(), Findings::default());
    let result = preprocess(text, &GlslOptions::default(), &mut interner, &mut findings);
    result
        .tokens
        .tokens
        .iter()
        .any(|token| matches!(token.kind, TokenKind::Keyword(_)) && interner.spelling(token.symbol) == word)
}

/// The folders in which the preprocessor decides.
const DECIDED: &[&str] =
    &["/preprocessor/", "/reserved/", "/keywords/", "/version", "/extension", "/profiles/", "/Version"];

#[test]
#[ignore = "needs piglit"]
fn corpus_piglit() {
    let Some(folder) = std::env::var_os("TGSIC_PIGLIT") else { return };
    let mut list = Vec::new();
    files(Path::new(&folder), &mut list);
    let (mut good, mut bad, mut refused, mut missed) = (0, 0, 0, 0);
    for path in list {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if !["vert", "frag", "geom", "tesc", "tese", "comp"].contains(&extension) {
            continue;
        }
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let Some(expected) = config(&text, "expect_result") else { continue };
        let error = first_error(&bytes, &options(&text));
        let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
        let is_decided = DECIDED.iter().any(|part| name.contains(part));
        match (expected, error) {
            ("pass", None) => good += 1,
            ("pass", Some(error)) => {
                refused += 1;
                println!("REFUSED {name}:{error}");
            }
            (_, Some(error)) => {
                bad += 1;
                if std::env::var_os("TGSIC_VERBOSE").is_some() {
                    println!("RIGHT {name}:{error}");
                }
            }
            (_, None) if is_decided => {
                // The parser refuses a keyword in place of a name.
                let word = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
                if has_keyword(&bytes, word) {
                    bad += 1;
                } else {
                    missed += 1;
                    println!("MISSED {name}");
                }
            }
            _ => {}
        }
    }
    println!(
        "piglit: accepted {good}, refused wrongly {refused}; refused rightly {bad}, missed in own folders {missed}"
    );
}

#[test]
#[ignore = "needs the shader cases of dEQP"]
fn corpus_deqp() {
    let Some(folder) = std::env::var_os("TGSIC_DEQP") else { return };
    let mut list = Vec::new();
    files(Path::new(&folder), &mut list);
    let (mut good, mut bad, mut refused, mut missed) = (0, 0, 0, 0);
    for path in list {
        if path.extension().and_then(|extension| extension.to_str()) != Some("test") {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
        let is_decided = ["preprocessor", "keywords"].iter().any(|part| name.contains(part));
        let (mut case, mut is_failure, mut body) = (String::new(), false, None::<String>);
        let mut extensions: Vec<String> = Vec::new();
        let (mut file_version, mut version) = ("100".to_owned(), None);
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let Some(shader) = &mut body {
                if line.trim() != "\"\"" {
                    let line = if line.contains("${VERTEX_DECLARATIONS}") { "" } else { line };
                    // The format has escape sequences.
                    shader.push_str(&replace_templates(line).replace("\\\\", "\\"));
                    shader.push('\n');
                    continue;
                }
                let number = version.clone().unwrap_or(file_version.clone());
                let has_version = shader.contains("#version");
                let mut shader =
                    if has_version { shader.trim_start().to_owned() } else { format!("#version {number}\n{shader}") };
                if let Some(newline) = shader.find('\n') {
                    let lines: String =
                        extensions.iter().map(|name| format!("#extension {name} : require\n")).collect();
                    shader.insert_str(newline + 1, &lines);
                }
                let error = first_error(shader.as_bytes(), &GlslOptions::default());
                let error = error.or_else(|| has_keyword(shader.as_bytes(), &case).then(String::new));
                let error = error.filter(|error| is_failure || !error.is_empty());
                match (is_failure, error) {
                    (false, None) => good += 1,
                    (false, Some(error)) => {
                        refused += 1;
                        println!("REFUSED {name} {case}:{error}");
                    }
                    (true, Some(_)) => bad += 1,
                    (true, None) if is_decided => {
                        missed += 1;
                        println!("MISSED {name} {case}");
                    }
                    _ => {}
                }
                body = None;
                continue;
            }
            match words.as_slice() {
                ["case", name, ..] => {
                    extensions.clear();
                    (case, is_failure, version) = (name.to_string(), false, None);
                }
                ["version", number @ ..] if case.is_empty() => file_version = number.join(" "),
                ["version", number @ ..] => version = Some(number.join(" ")),
                ["require", "extension", "{", names @ .., "}"] => {
                    let names = names.iter().filter(|name| name.contains("GL_") && **name != "|");
                    extensions.extend(names.take(1).map(|name| name.trim_matches('"').to_owned()));
                }
                ["expect", "compile_fail", ..] => is_failure = true,
                [
                    "both"
                    | "vertex"
                    | "fragment"
                    | "geometry"
                    | "compute"
                    | "tessellation_control"
                    | "tessellation_evaluation",
                    "\"\"",
                ] => {
                    body = Some(String::new());
                }
                _ => {}
            }
        }
    }
    println!("dEQP: accepted {good}, refused wrongly {refused}; refused rightly {bad}, missed in own files {missed}");
}

/// Replaces `${...}` by nothing.
fn replace_templates(line: &str) -> String {
    let mut result = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("${") {
        result.push_str(before);
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    result + rest
}

/// Shaders of users: `.shader_test` files and files with `VERTEX` and `FRAGMENT` groups, expected to be accepted.
#[test]
#[ignore = "needs folders of shaders"]
fn corpus_users() {
    let Some(folders) = std::env::var_os("TGSIC_SHADERS") else { return };
    let (mut good, mut refused, mut bytes_read) = (0, 0, 0);
    let mut check = |name: &Path, text: &str, options: &GlslOptions| {
        bytes_read += text.len();
        match first_error(text.as_bytes(), options) {
            None => good += 1,
            Some(error) => {
                refused += 1;
                println!("REFUSED {}:{error}", name.display());
            }
        }
    };
    let mut list = Vec::new();
    std::env::split_paths(&folders).for_each(|folder| files(&folder, &mut list));
    for path in list {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("glsl") => {
                for stage in ["VERTEX", "FRAGMENT"] {
                    let mut options = GlslOptions::default();
                    options.definitions.push((stage.to_owned(), "1".to_owned()));
                    check(&path, &text, &options);
                }
            }
            Some("shader_test") => {
                let (_, requirements) = text.split_once("[require]").unwrap_or(("", ""));
                let requirements = requirements.split('[').next().unwrap_or("");
                let version = requirements.lines().find_map(|line| line.trim().strip_prefix("GLSL"));
                let digits: String = version.unwrap_or("1.10").chars().filter(char::is_ascii_digit).collect();
                let digits = if digits.len() == 2 { digits + "0" } else { digits };
                let is_es = version.is_some_and(|version| version.contains("ES"));
                let suffix = if is_es && digits != "100" { " es" } else { "" };
                for section in text.split("\n[").skip(1) {
                    let Some((name, body)) = section.split_once('\n') else { continue };
                    if !name.contains("shader]") || name.contains("passthrough") || name.contains("spirv") {
                        continue;
                    }
                    let has_version = body.contains("#version");
                    let whole = format!("#version {digits}{suffix}\n{body}");
                    check(&path, if has_version { body } else { &whole }, &options(&text));
                }
            }
            _ => {}
        }
    }
    println!("users: accepted {good}, refused {refused}, {bytes_read} bytes");
}

/// Runs a preprocessor for C.
fn cpp(text: &str, arguments: &[&str]) -> std::process::Output {
    let mut child = std::process::Command::new("cpp")
        .args(["-P", "-undef", "-std=c99", "-w"])
        .args(arguments)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("cpp");
    let mut pipe = child.stdin.take().expect("a pipe");
    let text = text.to_owned();
    let writer = std::thread::spawn(move || drop(std::io::Write::write_all(&mut pipe, text.as_bytes())));
    let output = child.wait_with_output().expect("its output");
    writer.join().expect("written");
    output
}

/// Tokens of shaders of users against those of a preprocessor for C.
#[test]
#[ignore = "needs folders of shaders and the command cpp"]
fn corpus_users_cpp() {
    let Some(folders) = std::env::var_os("TGSIC_SHADERS") else { return };
    let mut list = Vec::new();
    std::env::split_paths(&folders).for_each(|folder| files(&folder, &mut list));
    let (mut equal, mut skipped) = (0, 0);
    for path in list {
        if path.extension().and_then(|extension| extension.to_str()) != Some("glsl") {
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).replace('\r', "");
        let is_kept =
            |line: &&str| !["#version", "#pragma", "#extension"].iter().any(|name| line.trim_start().starts_with(name));
        let text: String = text.lines().filter(is_kept).map(|line| format!("{line}\n")).collect();
        for stage in ["VERTEX", "FRAGMENT"] {
            for version in ["110", "330"] {
                let mut options = GlslOptions { extensions: Extensions::default(), ..GlslOptions::default() };
                options.definitions.push((stage.to_owned(), "1".to_owned()));
                let (stage, number) = (format!("-D{stage}"), format!("-D__VERSION__={version}"));
                let mut arguments = vec![stage.as_str(), number.as_str()];
                if version == "330" {
                    arguments.extend(["-DGL_core_profile=1", "-DGL_FRAGMENT_PRECISION_HIGH=1"]);
                }
                let output = cpp(&text, &arguments);
                let (ours, _) = run_with(format!("#version {version}\n{text}").as_bytes(), &options);
                options.definitions.clear();
                let theirs = format!("#version {version}\n{}", String::from_utf8_lossy(&output.stdout));
                let (theirs, _) = run_with(theirs.as_bytes(), &options);
                if !output.status.success() {
                    skipped += 1;
                } else if ours == theirs {
                    equal += 1;
                } else {
                    println!("DIFFERENT {} {arguments:?}", path.display());
                }
            }
        }
    }
    println!("cpp: {equal} equal, {skipped} refused by cpp");
}

/// Expansions of random macros against those of a preprocessor for C.
#[test]
#[ignore = "needs the command cpp"]
fn corpus_cpp() {
    let mut random = tgsi_environment::Random::new(5);
    let mut below = |bound: u64| random.bits() % bound;
    let (mut compared, mut skipped) = (0, 0);
    for _ in 0..std::env::var("TGSIC_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(500) {
        let mut text = String::new();
        let words =
            ["A", "B", "C", "F", "G", "H", "I", "x", "y", "(", ")", ",", "+", "1", "F(", "G(", "H()", "F(A)", "\n"];
        for name in ["A", "B", "C", "F(x)", "G(x,y)", "H()", "I(y)"] {
            text += &format!("#define {name}");
            for index in 0..below(6) {
                let word = words[below(18) as usize];
                let is_pasted = index > 0 && below(5) == 0 && word.chars().all(char::is_alphabetic);
                let ends_in_word = text.ends_with(|last: char| last.is_alphabetic());
                text += if is_pasted && ends_in_word { "##" } else { " " };
                text += word;
            }
            text.push('\n');
        }
        for _ in 0..below(12) {
            text += words[below(19) as usize];
            text.push(' ');
        }
        let (ours, problems) = run(&format!("#version 130\n{text}"));
        let output = cpp(&text, &[]);
        if !output.status.success() || !problems.is_empty() {
            assert_eq!(output.status.success(), problems.is_empty(), "{text} {problems:?}");
            skipped += 1;
            continue;
        }
        let theirs = run(&format!("#version 130\n{}", String::from_utf8_lossy(&output.stdout))).0;
        assert_eq!(ours, theirs, "{text}");
        compared += 1;
    }
    println!("cpp: {compared} equal, {skipped} with errors in both");
}
