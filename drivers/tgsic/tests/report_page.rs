//! Tests the pages of `report --html` and `fit --html` in a browser. Without Chromium, these tests are ignored, which the
//! runner reports.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use common::{FRAG, Folder};
use libtest_mimic::{Arguments, Trial};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// Returns the browser, if there is one.
fn browser() -> Option<&'static str> {
    static FOUND: OnceLock<Option<&'static str>> = OnceLock::new();
    let starts = |name: &&str| {
        let status = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    *FOUND.get_or_init(|| ["chromium", "chromium-browser", "google-chrome"].into_iter().find(starts))
}

/// Returns the document after its scripts and an additional one have run.
fn document(page: &Path, fragment: &str, script: &str) -> String {
    let browser = browser().expect("a browser");
    let folder = Folder::new();
    let html = std::fs::read_to_string(page).expect("a page");
    let html = html.replace("</body>", &format!("<script>{script}</script></body>"));
    folder.write("page.html", html.as_bytes());
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.args(["--disable-dev-shm-usage", "--virtual-time-budget=10000", "--dump-dom"]);
    command.arg(format!("--user-data-dir={}", folder.path("profile").display()));
    command.arg(format!("file://{}#{fragment}", folder.path("page.html").display()));
    let output = common::run(command, b"");
    assert_eq!(output.status, 0, "{}", output.stderr);
    let document = output.text().to_owned();
    // Embedded data is not part of the visible page.
    let shown = document.split("<script type=\"application/json\"").next().expect("a part").to_owned();
    assert!(!shown.contains("<h1") || shown.len() < document.len());
    shown
}

/// Creates two runs with texts, and their page.
fn page(folder: &Folder) {
    let shader = FRAG.replace("MOV OUT[0], TEMP[0]", "MUL TEMP[0], TEMP[0], IN[0]\nMOV OUT[0], TEMP[0]");
    folder.write("a.tgsi", shader.as_bytes());
    folder.write("b & <b>.tgsi", format!("# </script><b>&amp;\n{FRAG}").as_bytes());
    for (run, level) in [("old", "0"), ("new", "2")] {
        let arguments = ["translate", "--json", "--texts", "-O", level, "a.tgsi", "b & <b>.tgsi"];
        let output = folder.run(&arguments).success();
        // Makes the old run worse here, so that the test does not depend on how the optimiser handles copies.
        let text = output.text().replace("\"instructions_after\":2", "\"instructions_after\":7");
        folder.write(run, if run == "old" { text.as_bytes() } else { output.text().as_bytes() });
    }
    folder.run(&["report", "old", "new", "--html", "page.html"]).success();
}

fn tables_are_there_and_sorted_by_clicks() {
    let folder = Folder::with(&[]);
    let line = |i: usize, value: usize| format!("shader-{i} - {} shader: {value} inst\n", ["FS", "VS"][i % 2]);
    folder.write("old", (0..40).map(|i| line(i, 100)).collect::<String>().as_bytes());
    folder.write("new", (1..41).map(|i| line(i, 80 + i)).collect::<String>().as_bytes());
    folder.run(&["report", "old", "new", "--html", "page.html"]).success();
    let plain = document(&folder.path("page.html"), "", "");
    assert!(plain.contains("Old: old (40 shaders), new: new (40 shaders)"), "{plain}");
    assert!(plain.contains("Lost: 1, gained: 1.") && plain.contains("41 programs"), "{plain}");
    assert_eq!(plain.matches("<th scope=\"row\"").count(), 41);
    let sort = "document.querySelectorAll('#programs th button')[3].click();";
    let sorted = document(&folder.path("page.html"), "", sort);
    let first = sorted.split("scope=\"row\"").nth(1).expect("a row");
    assert!(first.contains(">shader-39</a>") && first.contains("100 → 119") && first.contains("+19.00%"), "{first}");
    assert!(sorted.contains("aria-sort=\"descending\""));
    let filter = "const stage = document.getElementById('stage'); stage.value = 'VS'; \
                  const name = document.getElementById('name'); name.value = '-1'; \
                  name.dispatchEvent(new Event('input', { bubbles: true }));";
    let filtered = document(&folder.path("page.html"), "", filter);
    assert!(filtered.contains("6 programs"), "{filtered}");
}

fn a_shader_is_opened_by_address_and_click() {
    let folder = Folder::new();
    page(&folder);
    let expand = "setTimeout(() => document.getElementById('expand').click(), 2000);";
    let opened = document(&folder.path("page.html"), "shader=a.tgsi", expand);
    for part in ["<h2>Source</h2>", "<h2>Result</h2>", "<h2>Passes</h2>", "MUL TEMP[0], TEMP[0], IN[0]", "@@ -"] {
        assert!(opened.contains(part), "{part}: {opened}");
    }
    assert!(opened.contains("<main id=\"overview\" hidden") && opened.contains("opt_algebraic_late"), "{opened}");
    let click = "setTimeout(() => { for (const link of document.querySelectorAll('#programs a')) \
                 if (link.textContent.startsWith('b')) link.click(); }, 500);";
    let clicked = document(&folder.path("page.html"), "", click);
    assert!(clicked.contains("# &lt;/script&gt;&lt;b&gt;&amp;amp;\nFRAG"), "{clicked}");
    assert!(clicked.contains("b &amp; &lt;b&gt;.tgsi – FS</h2>"), "{clicked}");
    // Back by keyboard.
    let escape = "setTimeout(() => document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' })), 2000);";
    let back = document(&folder.path("page.html"), "shader=a.tgsi", escape);
    assert!(back.contains("<main id=\"overview\">"), "{back}");
}

fn shaders_without_texts_say_so() {
    let folder = Folder::with(&[("old", "a - FS shader: 5 inst\n"), ("new", "a - FS shader: 4 inst\n")]);
    folder.run(&["report", "old", "new", "--html", "page.html"]).success();
    let opened = document(&folder.path("page.html"), "shader=a&stage=FS", "");
    assert!(opened.contains("The runs have no texts of this shader."), "{opened}");
    assert!(opened.contains("−20.00%"), "{opened}");
}

fn hostile_names_do_nothing() {
    let name = "</script><img src=x onerror=document.title='broken'>{{data}}'\"`${1}\u{202e}\u{2028}&lt;\0\n";
    let line = |size: u32| {
        let passes = json!([{ "pass": name, "round": name, "change": format!("@@ {name}\n-{name}\n+{name}") }]);
        let mut line: Value =
            json!({ "f": name, "ok": true, "stage": name, "temporaries_after": 1, "immediates_after": 0 });
        line["instructions_after"] = json!(size);
        line["source"] = json!(name);
        line["result"] = json!(format!("{size}{name}"));
        line["ir"] = json!(name);
        line["passes"] = passes;
        line.to_string()
    };
    let folder = Folder::with(&[("old", &line(3)), ("new", &line(2))]);
    let text = folder.run(&["report", "old", "new", "--html", "page.html"]).success();
    assert!(!text.text().contains('\0'), "control characters are not written to terminals");
    let script = "setTimeout(() => document.querySelector('#programs a').click(), 500); \
                  setTimeout(() => document.getElementById('expand').click(), 3000);";
    let opened = document(&folder.path("page.html"), "", script);
    assert!(!opened.contains("<img") && !opened.contains("<title>broken"), "{opened}");
    for part in ["<h2>Source</h2>", "<h2>Result</h2>", "<h2>Passes</h2>", "@@ &lt;/script&gt;&lt;img"] {
        assert!(opened.contains(part), "{part}: {opened}");
    }
}

/// A page of thousands of shaders opens and shows only some of the rows.
fn thousands_of_shaders() {
    let folder = Folder::new();
    page(&folder);
    for run in ["old", "new"] {
        let text = String::from_utf8(folder.read(run)).expect("text");
        let first = text.lines().next().expect("a line");
        let many: String = (0..5_000).map(|i| first.replace("a.tgsi", &format!("shaders/{i}.tgsi")) + "\n").collect();
        folder.write(run, many.as_bytes());
    }
    folder.run(&["report", "old", "new", "--html", "page.html"]).success();
    let plain = document(&folder.path("page.html"), "", "");
    assert!(plain.contains("5,000 programs") && plain.contains("Show all 5,000 programs"), "{}", plain.len());
    assert_eq!(plain.matches("<th scope=\"row\"").count(), 500);
    let opened = document(&folder.path("page.html"), "shader=shaders%2F4321.tgsi", "");
    assert!(opened.contains("<h2>Source</h2>"), "{}", opened.len());
}

/// Six lookups that depend on each other, and one line that is more than i915 has phases for.
const RIPPLE: &str = "#version 110\nuniform sampler2D image;\nvarying vec2 at;\nvoid main() {\n    vec2 to = at;\n    \
                      for (int i = 0; i < 5; i++) to = texture2D(image, to).xy;\n    \
                      gl_FragColor = texture2D(image, to);\n}\n";

fn a_matrix_opens_its_shaders() {
    let new = "#version 130\nout vec4 o;\nvoid main() { o = vec4(1.0); }\n";
    let folder = Folder::with(&[("s/a.tgsi", FRAG), ("s/new.frag", new), ("s/ripple.frag", RIPPLE)]);
    let output = folder.run(&["fit", "--target", "i915,nv40", "--html", "page.html", "s"]);
    assert_eq!(output.status, 1);
    let page = folder.path("page.html");
    let plain = document(&page, "", "");
    assert!(plain.contains("3 shaders, 2 targets, tgsic "), "{plain}");
    for (kind, text) in [("fits", "fits"), ("language", "language"), ("does-not", "texture-phases 6/4")] {
        assert!(plain.contains(&format!("<td class=\"{kind}\"><a href=\"#shader=")), "{kind}: {plain}");
        assert!(plain.contains(&format!(">{text}</a>")), "{text}: {plain}");
    }
    for part in ["1 of 3 fit", "2 of 3 fit", " left</span>", "gl_MaxDrawBuffers", "not behind Mesa's"] {
        assert!(plain.contains(part), "{part}: {plain}");
    }
    let filter = "const choice = document.getElementById('verdict'); choice.value = 'fits'; \
                  choice.dispatchEvent(new Event('input', { bubbles: true }));";
    let filtered = document(&page, "", filter);
    assert!(filtered.contains(">1 shader</output>") && !filtered.contains("s/ripple.frag</a>"), "{filtered}");
    let opened = document(&page, "shader=2", "");
    assert!(opened.contains("<main id=\"overview\" hidden"), "{opened}");
    for part in [
        "6 of 4",
        "error[T0830]",
        "line 6, column 33: 6 texture phases, i915 has 4",
        "alu</th>",
        "class=\"text removed\"",
    ] {
        assert!(opened.contains(part), "{part}: {opened}");
    }
    // The listing is that of the target that the shader does not fit, or that is chosen.
    let line = |document: &str| {
        let rows: Vec<&str> = document.split("<tr>").filter(|row| row.contains("for (int i")).collect();
        rows.first().expect("a line").matches("class=\"number cost\"").count()
    };
    assert_eq!(line(&opened), 3);
    let choose = "const choice = document.getElementById('target'); choice.value = '1'; \
                  choice.dispatchEvent(new Event('input'));";
    let chosen = document(&page, "shader=2", choose);
    assert!(chosen.contains("instruction-slots</th>"), "{chosen}");
    let rejected = document(&page, "shader=1", "");
    assert!(rejected.contains("its driver has GLSL up to 1.20"), "{rejected}");
}

fn hostile_shaders_do_nothing() {
    let name = "<img src=x onerror=document.title='broken'>{{data}}'\"`${1}&lt;.frag";
    let text = "#version 120\n// </script><img src=x onerror=document.title='broken'>{{script}}\u{2028}\0\n\
                void main() { gl_FragColor = vec4(1.0); }\n#error </script><b>\n";
    let folder = Folder::with(&[(name, text)]);
    let output = folder.run(&["fit", "--target", "i915,nv40", "--html", "page.html", name]);
    assert_eq!(output.status, 1);
    for fragment in ["", "shader=0", "shader=%3Cimg", "shader=-1", "shader=__proto__"] {
        let shown = document(&folder.path("page.html"), fragment, "");
        assert!(!shown.contains("<img") && !shown.contains("<title>broken"), "{shown}");
        assert!(shown.contains("&lt;img src=x"), "{shown}");
    }
}

/// A page of hundreds of shaders and several targets opens.
fn hundreds_of_shaders() {
    let folder = Folder::new();
    for number in 0..700 {
        folder.write(&format!("s/{number}.frag"), format!("// {number}\n{RIPPLE}").as_bytes());
    }
    let output = folder.run(&["fit", "--target", "i915,r300,r500,nv30,nv40", "--html", "page.html", "s"]);
    assert_eq!(output.status, 1);
    let plain = document(&folder.path("page.html"), "", "");
    assert!(plain.contains("700 shaders, 5 targets"), "{}", plain.len());
    assert_eq!(plain.matches("class=\"does-not\"").count(), 1400);
}

fn main() -> std::process::ExitCode {
    let tests: [(&str, fn()); 8] = [
        ("a_matrix_opens_its_shaders", a_matrix_opens_its_shaders),
        ("hostile_shaders_do_nothing", hostile_shaders_do_nothing),
        ("hundreds_of_shaders", hundreds_of_shaders),
        ("tables_are_there_and_sorted_by_clicks", tables_are_there_and_sorted_by_clicks),
        ("a_shader_is_opened_by_address_and_click", a_shader_is_opened_by_address_and_click),
        ("shaders_without_texts_say_so", shaders_without_texts_say_so),
        ("hostile_names_do_nothing", hostile_names_do_nothing),
        ("thousands_of_shaders", thousands_of_shaders),
    ];
    let trial = |(name, test): (&str, fn())| {
        let trial = Trial::test(name, move || {
            test();
            Ok(())
        });
        trial.with_ignored_flag(browser().is_none())
    };
    let trials = tests.into_iter().map(trial).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
