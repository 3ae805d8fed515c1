//! Tests C and C++ programs that use the library: linked statically and dynamically, under valgrind and with the
//! sanitizers of the C compiler. A test with a missing requirement is ignored.
//!
//! `TGSIC_SANITIZERS=1 cargo test -p tgsi-capi --test c -- instrumented` also runs them with a library that is
//! instrumented by AddressSanitizer and by ThreadSanitizer. It is built for that, which takes some minutes.

#[path = "library/mod.rs"]
mod library;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Mutex, OnceLock};

use library::{folder, install, run, static_library};
use libtest_mimic::{Arguments, Failed, Trial};
use tgsi_compiler::front_end::{Reading, TGSI_TEXT};
use tgsi_compiler::{Compiler, Driver};

/// Libraries that the static library needs besides libc.
const LIBRARIES: [&str; 4] = ["-lgcc_s", "-lm", "-lpthread", "-ldl"];

/// Returns further libraries that it needs if it was built together with drivers that contain C++, as in a workspace
/// build.
fn more_libraries(library: &Path) -> Vec<&'static str> {
    static HOLDS_CPP: OnceLock<bool> = OnceLock::new();
    let holds_cpp = *HOLDS_CPP.get_or_init(|| {
        Command::new("grep").args(["-q", "__cxa_throw"]).arg(library).status().is_ok_and(|status| status.success())
    });
    if holds_cpp { vec!["-lstdc++"] } else { Vec::new() }
}

/// Damaged variants of each shader, without valgrind and sanitizers.
const HOSTILE_ROUNDS: usize = 200;
const SLOW_ROUNDS: usize = 10;

fn has(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Builds the static library with a sanitizer. The standard library is not instrumented, so errors inside it are not
/// detected.
fn instrumented_library(sanitizer: &str) -> Result<PathBuf, Failed> {
    const TARGET: &str = "x86_64-unknown-linux-gnu";
    // Builds one at a time.
    static BUILDS: Mutex<()> = Mutex::new(());
    let _building = BUILDS.lock();
    let folder_of_build = folder().join("../../../target").join(format!("sanitizer-{sanitizer}"));
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--release", "-p", "tgsi-capi", "--target", TARGET, "--manifest-path"]);
    cargo.arg(folder().join("Cargo.toml")).arg("--target-dir").arg(&folder_of_build);
    // Sanitizers are an unstable option of the compiler, which this variable allows. Overflow checks are enabled too.
    cargo.env("RUSTC_BOOTSTRAP", "1").env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true");
    cargo.env("RUSTFLAGS", format!("-Zsanitizer={sanitizer} -Cunsafe-allow-abi-mismatch=sanitizer"));
    run(&mut cargo)?;
    Ok(folder_of_build.join(TARGET).join("release/libtgsi_capi.a"))
}

/// Returns the linker arguments for a library instrumented by ThreadSanitizer: Rust's runtime, because that of GCC
/// lacks functions.
fn thread_sanitizer() -> Result<Vec<String>, Failed> {
    let output = run(Command::new("rustc").args(["--print", "target-libdir"]))?;
    let folder_of_rust = PathBuf::from(String::from_utf8(output.stdout)?.trim());
    let mut files = std::fs::read_dir(folder_of_rust)?.flatten().map(|entry| entry.path());
    let runtime = files.find(|path| path.to_string_lossy().ends_with("rt.tsan.a")).ok_or("no ThreadSanitizer")?;
    let runtime = runtime.to_string_lossy().into_owned();
    let words = ["-Wl,--whole-archive", &runtime, "-Wl,--no-whole-archive", "-lstdc++", "-lresolv", "-lrt"];
    Ok(words.map(str::to_owned).to_vec())
}

/// Compiles a program with a static library.
fn compile(source: &str, target: &Path, flags: &[&str], library: &Path) -> Result<(), Failed> {
    let (compiler, standard) = if source.ends_with(".cpp") { ("c++", "-std=c++17") } else { ("cc", "-std=c11") };
    let mut command = Command::new(compiler);
    command.args([standard, "-g", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L", "-I"]);
    command.arg(folder().join("include")).args(flags).arg("-o").arg(target).arg(folder().join(source));
    run(command.arg(library).args(more_libraries(library)).args(LIBRARIES))?;
    Ok(())
}

/// Returns the demo shaders.
fn demo() -> Vec<PathBuf> {
    files(&folder().join("../../../fixtures/demo"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a readable folder").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "tgsi")).collect();
    files.sort();
    assert!(!files.is_empty(), "{}", folder.display());
    files
}

/// Writes the demo shaders and the sources of the driver's fixtures to a folder.
fn shaders(target: &Path) -> Result<Vec<PathBuf>, Failed> {
    let mut shaders = demo();
    for path in files(&folder().join("../../../fixtures/drivers/tgsi")) {
        let text = std::fs::read_to_string(&path)?;
        let source = text.split("\n; expect").next().unwrap_or_default();
        let copy = target.join(path.file_name().ok_or("a name")?);
        std::fs::write(&copy, source)?;
        shaders.push(copy);
    }
    Ok(shaders)
}

/// Runs a program of `tests/c` with its arguments.
fn program(name: &'static str, flags: &[&str], before: &[&str], library: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join(name);
    compile(&format!("tests/c/{name}"), &path, flags, library)?;
    let mut words = before.iter().map(std::ffi::OsStr::new).chain([path.as_os_str()]);
    let mut command = Command::new(words.next().ok_or("a program")?);
    command.args(words);
    let rounds = if flags.is_empty() && before.is_empty() { HOSTILE_ROUNDS } else { SLOW_ROUNDS };
    match name {
        "hostile.c" => command.arg(rounds.to_string()).args(shaders(folder.path())?),
        "threads.c" => command.args(shaders(folder.path())?),
        _ => &mut command,
    };
    run(&mut command)?;
    Ok(())
}

/// Compiles a shader of `tests/c/objects` to an object file and its header in a folder; returns their path without
/// extension.
fn object(name: &str, options: &[&str], target: &Path) -> Result<PathBuf, Failed> {
    let shader = std::fs::read(folder().join(format!("tests/c/objects/{name}.tgsi")))?;
    let compiler = Compiler::for_target(tgsi_driver_cpu::DRIVER.target(options).map_err(|e| e.to_string())?.into());
    let Reading { source: shader, findings, .. } = compiler.read(&TGSI_TEXT, &shader);
    let shader =
        shader.filter(|_| findings.iter().all(|finding| !finding.is_error())).ok_or(format!("{findings:?}"))?;
    let code = compiler.compile(shader).map_err(|error| error.to_string())?;
    let path = target.join(name);
    for file in code.auxiliary_files() {
        std::fs::write(path.with_extension(file.extension), &file.text)?;
    }
    std::fs::write(path.with_extension("o"), code.into_bytes())?;
    Ok(path)
}

/// Runs a program of `tests/c` that is linked with object files.
fn program_with_objects(flags: &[&str], before: &[&str], library: &Path) -> Result<(), Failed> {
    let folder_of_test = tempfile::tempdir()?;
    let target = folder_of_test.path();
    let mut objects = Vec::new();
    for (name, options) in
        [("vertex", &[][..]), ("fragment", &["symbol=textured"]), ("compute", &["keep_inactive"]), ("geometry", &[])]
    {
        objects.push(object(name, options, target)?.with_extension("o"));
    }
    let include = format!("-I{}", target.display());
    let objects = objects.iter().map(|path| path.to_str().ok_or("a path that is UTF-8"));
    let objects = objects.collect::<Result<Vec<_>, _>>()?;
    let flags: Vec<&str> = flags.iter().copied().chain([include.as_str()]).chain(objects).collect();
    let path = target.join("object");
    compile("tests/c/object.c", &path, &flags, library)?;
    let mut words = before.iter().map(std::ffi::OsStr::new).chain([path.as_os_str()]);
    let mut command = Command::new(words.next().ok_or("a program")?);
    command.args(words);
    let shaders = ["vertex", "fragment", "compute"].map(|name| folder().join(format!("tests/c/objects/{name}.tgsi")));
    run(command.args(shaders))?;
    Ok(())
}

/// Checks that `install` installs everything a maintainer of a distribution expects, and that the examples work with
/// it.
fn installed() -> Result<(), Failed> {
    let folder_of_test = tempfile::tempdir()?;
    let root = folder_of_test.path();
    install(root)?;
    let library = root.join("usr/lib/libtgsic.so");
    let dynamic = run(Command::new("readelf").args(["-d", "-W"]).arg(&library))?;
    let dynamic = String::from_utf8(dynamic.stdout)?;
    if !dynamic.contains("soname: [libtgsic.so.0.1]") {
        return Err(dynamic.into());
    }
    let needed = dynamic.lines().filter(|line| line.contains("(NEEDED)"));
    let mut known = vec!["libc.so", "libm.so", "libgcc_s.so", "ld-linux"];
    if !more_libraries(&static_library()).is_empty() {
        known.push("libstdc++.so");
    }
    let foreign: Vec<&str> = needed.filter(|line| !known.iter().any(|known| line.contains(known))).collect();
    if !foreign.is_empty() {
        return Err(format!("{foreign:?}").into());
    }
    // All functions of the header, with their version, and no others.
    let symbols = run(Command::new("nm").args(["-D", "--defined-only"]).arg(&library))?;
    let symbols = String::from_utf8(symbols.stdout)?;
    let mut exported: Vec<&str> = symbols.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    exported.retain(|name| *name != "TGSIC_0.1");
    let header = std::fs::read_to_string(root.join("usr/include/tgsic.h"))?;
    let calls = header.split(|c: char| !(c.is_alphanumeric() || "_(".contains(c)));
    let mut declared: Vec<String> = calls
        .filter_map(|word| word.split_once('('))
        .filter(|(name, _)| name.starts_with("tgsic_"))
        .map(|(name, _)| format!("{name}@@TGSIC_0.1"))
        .collect();
    exported.sort_unstable();
    declared.sort_unstable();
    declared.dedup();
    if exported != declared {
        return Err(format!("exported {exported:?}\ndeclared {declared:?}").into());
    }
    // The output of `pkg-config --cflags --libs tgsic`.
    let pc = std::fs::read_to_string(root.join("usr/lib/pkgconfig/tgsic.pc"))?;
    if !pc.contains("Libs: -L${libdir} -ltgsic\n") || !pc.contains("prefix=/usr\n") {
        return Err(pc.into());
    }
    let shader = object("transform", &[], root)?;
    for extension in ["o", "h"] {
        std::fs::rename(shader.with_extension(extension), root.join("shader").with_extension(extension))?;
    }
    let example = |name: &str| -> Result<Command, Failed> {
        let path = root.join(name);
        let mut command = Command::new("cc");
        command.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"]).arg(root.join("usr/include")).arg("-o");
        command.arg(&path).arg(folder().join(format!("examples/{name}.c")));
        if name == "object" {
            command.arg("-I").arg(root).arg(root.join("shader.o"));
        }
        run(command.arg("-L").arg(root.join("usr/lib")).arg("-ltgsic"))?;
        let mut command = Command::new(path);
        command.env("LD_LIBRARY_PATH", root.join("usr/lib"));
        Ok(command)
    };
    for (name, status) in [("translate", 0), ("check", 0)] {
        for shader in demo() {
            let output = example(name)?.arg(&shader).output()?;
            if output.status.code() != Some(status) || (name == "translate" && output.stdout.is_empty()) {
                return Err(format!("{name} {}: {output:?}", shader.display()).into());
            }
        }
        let output = example(name)?.arg(folder().join("tests/c.rs")).output()?;
        if output.status.code() != Some(1) {
            return Err(format!("{name} of a text that is not a shader: {output:?}").into());
        }
    }
    let (vertex, fragment) = (root.join("vertex"), root.join("fragment"));
    std::fs::write(&vertex, "VERT\nDCL OUT[0], GENERIC[3]\nIMM[0] FLT32 {1, 2, 3, 4}\nMOV OUT[0], IMM[0]\nEND\n")?;
    std::fs::write(&fragment, "FRAG\nDCL IN[0], GENERIC[3], PERSPECTIVE\nDCL OUT[0], COLOR\nMOV OUT[0], IN[0]\nEND\n")?;
    let output = run(example("link")?.args([&fragment, &vertex]))?;
    let text = String::from_utf8(output.stdout)?;
    if text.find("FRAG") >= text.find("VERT") || !text.contains("MOV OUT[0], IMM[0]") || text.contains("GENERIC") {
        return Err(text.into());
    }
    if example("link")?.args([&fragment, &fragment]).output()?.status.code() != Some(2) {
        return Err("link of two shaders of a stage".into());
    }
    // Builds without the front end report the feature that they lack.
    let has_glsl = tgsi_registry::find_front_end("glsl").is_some();
    let shader = root.join("shader.frag");
    std::fs::write(&shader, "uniform vec4 tint;\nvoid main() { gl_FragColor = tint * SCALE; }\n")?;
    let output = example("glsl")?.arg(&shader).args(["stage=fragment", "define=SCALE=2.0"]).output()?;
    let (text, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let is_right = match has_glsl {
        true => text.starts_with("FRAG\n") && text.contains("\"name\":\"tint\"") && output.status.success(),
        false => log.contains("built without the feature `glsl`") && output.status.code() == Some(2),
    };
    if !is_right {
        return Err(format!("the example glsl: {output:?}").into());
    }
    let has_spirv = tgsi_registry::find_front_end("spirv").is_some();
    let module = root.join("module.spv");
    std::fs::write(&module, [3, 2, 0x23, 7])?;
    let output = example("spirv")?.arg(&module).output()?;
    let log = String::from_utf8_lossy(&output.stderr);
    let message = if has_spirv { "T1501" } else { "built without the feature `spirv-in`" };
    if !log.contains(message) || output.status.success() {
        return Err(format!("the example spirv: {output:?}").into());
    }
    preloaded(root)?;
    // Builds that cannot run shaders report that.
    let (status, expected) = if cfg!(feature = "run") { (0, "-1 -1 0 1\n1 -1 0 1\n-1 1 0 1\n") } else { (2, "") };
    for name in ["run", "object"] {
        let output = example(name)?.output()?;
        if output.status.code() != Some(status) || String::from_utf8_lossy(&output.stdout) != expected {
            return Err(format!("the example {name}: {output:?}").into());
        }
    }
    Ok(())
}

/// Checks that a host below `root`, where the library is installed, gets translations if it loads its renderer with a
/// plug-in.
fn preloaded(root: &Path) -> Result<(), Failed> {
    let cc = |sources: &str, target: &str, more: &[&str]| {
        let mut command = Command::new("cc");
        command.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-o"]).arg(root.join(target));
        command.arg(folder().join("tests/c/host").join(sources)).current_dir(root);
        run(command.args(more))
    };
    let renderer = "libvirglrenderer.so.1";
    cc("renderer.c", renderer, &["-shared", "-Wl,-soname,libvirglrenderer.so.1"])?;
    cc("plugin.c", "plugin.so", &["-shared", renderer, "-Wl,-rpath,$ORIGIN"])?;
    cc("main.c", "host", &["-ldl"])?;
    let stats = root.join("stats.jsonl");
    let host = |preload: &str| -> Result<String, Failed> {
        let mut command = Command::new(root.join("host"));
        command.arg(root.join("plugin.so")).env("LD_PRELOAD", preload).env("TGSIC_VIRGL_STATS", &stats);
        Ok(String::from_utf8(run(&mut command)?.stdout)?)
    };
    let straight = host("")?;
    let library = root.join("usr/lib/libtgsic-virgl.so");
    let inside = host(library.to_str().ok_or("a path that is UTF-8")?)?;
    // Objects 1 and 2 of context 1 are replaced, and one of a later context with the same id, but no others.
    let mut expected = String::new();
    let (mut shaders, mut replaced) = (0, false);
    for line in straight.lines() {
        if line.starts_with("submit") {
            shaders += u32::from(line == "submit 1: VERT");
            replaced = line == "submit 1: VERT" && shaders != 3;
        }
        match line {
            "MOV TEMP[0], IN[0]" | "DCL TEMP[0]" if replaced => {}
            "MOV OUT[0], TEMP[0]" if replaced => expected.push_str("  0: MOV OUT[0], IN[0]\n"),
            "END" if replaced => expected.push_str("  1: END\n"),
            _ => {
                expected.push_str(line);
                expected.push('\n');
            }
        }
    }
    if inside != expected || shaders != 4 {
        return Err(format!("{inside}\nshould be\n{expected}").into());
    }
    let stats = std::fs::read_to_string(&stats)?;
    let totals: Vec<&str> = stats.lines().map(|line| line.split(",\"micro").next().unwrap_or(line)).collect();
    let of = |shaders: u32| {
        format!(
            "{{\"context\":1,\"shaders\":{shaders},\"shorter\":{shaders},\"equal\":0,\"longer\":0,\"failed\":0,\
             \"instructions_before\":{},\"instructions_after\":{}",
            3 * shaders,
            2 * shaders
        )
    };
    if totals != [of(2), of(1)] {
        return Err(stats.into());
    }
    Ok(())
}

/// Checks the contents of the Debian packages, in folders of the architecture.
fn packages() -> Result<(), Failed> {
    let target = tempfile::tempdir()?;
    let mut package = Command::new(folder().join("package"));
    // Uses fast compression: the library of a test has debugging information.
    package.env("DPKG_DEB_COMPRESSOR_TYPE", "gzip").env("DPKG_DEB_COMPRESSOR_LEVEL", "1");
    // The command that cargo has built with the tests of the workspace.
    let command = std::env::current_exe()?.with_file_name("../tgsic");
    if !command.exists() {
        return Err("no command beside the test: cargo build -p tgsic".into());
    }
    package.env("TGSIC_COMMAND", command);
    let output = run(package.arg(target.path()).env("TGSIC_STATIC_LIBRARY", static_library()))?;
    let output = String::from_utf8(output.stdout)?;
    let packages: Vec<&str> = output.lines().filter(|line| line.ends_with(".deb")).collect();
    let expected: [&[&str]; 3] = [
        &["/libtgsic.so.0.1 -> libtgsic.so.0.1.0", "/libtgsic.so.0.1.0", "/libtgsic-virgl.so", "/copyright"],
        &["/libtgsic.so -> libtgsic.so.0.1", "/libtgsic.a", "/include/tgsic.h", "/pkgconfig/tgsic.pc", "/tgsic.3.gz"],
        &["/bin/tgsic", "/tgsic.1.gz", "/tgsic-translate.1.gz", "/completions/tgsic", "/_tgsic", "/tgsic.fish"],
    ];
    if packages.len() != expected.len() {
        return Err(output.into());
    }
    for (package, names) in packages.into_iter().zip(expected) {
        let list = String::from_utf8(run(Command::new("dpkg-deb").args(["--contents", package]))?.stdout)?;
        if let Some(missing) = names.iter().find(|name| !list.lines().any(|line| line.ends_with(*name))) {
            return Err(format!("{package} has no {missing}:\n{list}").into());
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    const SANITIZERS: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    const VALGRIND: &[&str] = &[
        "valgrind",
        concat!("--suppressions=", env!("CARGO_MANIFEST_DIR"), "/tgsic.supp"),
        "--quiet",
        "--error-exitcode=9",
        "--leak-check=full",
        "--errors-for-leak-kinds=definite",
        "--show-leak-kinds=definite",
    ];
    let (has_c, has_cpp, has_valgrind) = (has("cc"), has("c++"), has("valgrind"));
    let mut trials = Vec::new();
    let runs = cfg!(feature = "run");
    for name in ["interface.c", "link.c", "driver.c", "run.c", "threads.c", "hostile.c", "virgl.c"] {
        for (kind, flags, before) in
            [("plain", &[][..], &[][..]), ("sanitizers", SANITIZERS, &[]), ("valgrind", &[], VALGRIND)]
        {
            let ignored = !has_c || (kind == "valgrind" && !has_valgrind) || (name == "run.c" && !runs);
            let test = move || program(name, flags, before, &static_library());
            trials.push(Trial::test(format!("{name}: {kind}"), test).with_ignored_flag(ignored));
        }
    }
    for (kind, flags, before) in
        [("plain", &[][..], &[][..]), ("sanitizers", SANITIZERS, &[]), ("valgrind", &[], VALGRIND)]
    {
        let ignored = !has_c || (kind == "valgrind" && !has_valgrind) || !runs;
        let test = move || program_with_objects(flags, before, &static_library());
        trials.push(Trial::test(format!("object.c: {kind}"), test).with_ignored_flag(ignored));
    }
    let asked =
        std::env::var_os("TGSIC_SANITIZERS").is_some() && cfg!(all(target_os = "linux", target_arch = "x86_64"));
    for (name, sanitizer, flags) in [
        ("interface.c", "address", SANITIZERS),
        ("link.c", "address", SANITIZERS),
        ("run.c", "address", SANITIZERS),
        ("threads.c", "address", SANITIZERS),
        ("hostile.c", "address", SANITIZERS),
        ("virgl.c", "address", SANITIZERS),
    ] {
        let test = move || program(name, flags, &[], &instrumented_library(sanitizer)?);
        let trial = Trial::test(format!("{name}: instrumented, {sanitizer}"), test);
        trials.push(trial.with_ignored_flag(!has_c || !asked));
    }
    for name in ["run.c", "threads.c"] {
        let test = move || {
            let flags = thread_sanitizer()?;
            let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
            program(name, &flags, &[], &instrumented_library("thread")?)
        };
        let trial = Trial::test(format!("{name}: instrumented, thread"), test);
        trials.push(trial.with_ignored_flag(!has_c || !has_cpp || !asked));
    }
    let test = || program("interface.cpp", &[], &[], &static_library());
    trials.push(Trial::test("interface.cpp: plain", test).with_ignored_flag(!has_cpp));
    let linux = cfg!(target_os = "linux");
    trials.push(Trial::test("installed", installed).with_ignored_flag(!has_c || !linux || !has("nm")));
    trials.push(Trial::test("packages", packages).with_ignored_flag(!has_c || !has("dpkg-deb")));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
