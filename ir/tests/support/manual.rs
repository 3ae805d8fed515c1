//! Shared code of the tests of manuals: pages, tables, examples. The tests of the crate `tgsi` include this file, too.
#![allow(dead_code, reason = "each test program uses a part")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum number of columns of a line that is not in a table.
const MAX_COLUMNS: usize = 120;

/// Whether files should be rewritten.
fn blesses() -> bool {
    std::env::var_os("TGSIC_BLESS").is_some_and(|v| v != "0")
}

/// A page of a manual.
pub struct Page {
    pub name: String,
    pub text: String,
    path: PathBuf,
}

/// A row of a table: its line number and its cells.
pub struct Row {
    pub line: usize,
    pub cells: Vec<String>,
}

/// A code block: the number of its first line, and its text.
pub struct Example {
    pub place: String,
    pub text: String,
}

/// Reads the pages of a manual, ordered by name.
pub fn pages(folder: &str) -> Vec<Page> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> =
        files.map(|f| f.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    paths.sort();
    let page = |path: PathBuf| Page {
        name: path.file_name().unwrap().to_string_lossy().into_owned(),
        text: std::fs::read_to_string(&path).unwrap(),
        path,
    };
    paths.into_iter().map(page).collect()
}

/// Reads one page of a manual.
pub fn page(folder: &str, name: &str) -> Page {
    pages(folder).into_iter().find(|page| page.name == name).unwrap_or_else(|| panic!("there is no page {name}"))
}

/// Splits a row into cells; `\|` does not separate cells.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches('|').replace("\\|", "\u{1}");
    let line = line.strip_suffix('|').unwrap_or(&line);
    line.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
}

/// Formats a row.
fn row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |", cells.join(" | "))
}

/// Formats text as code.
pub fn code(text: impl std::fmt::Display) -> String {
    format!("`{text}`")
}

impl Page {
    /// The rows of the table that follows `<!-- table: NAME -->`, without the header.
    pub fn rows(&self, name: &str) -> Vec<Row> {
        let marker = format!("<!-- table: {name} -->");
        let mut rows = Vec::new();
        let mut lines = self.text.lines().zip(1..).peekable();
        while let Some((line, _)) = lines.next() {
            if line != marker {
                continue;
            }
            let mut table = 0;
            while let Some((line, number)) = lines.next_if(|(line, _)| line.starts_with('|')) {
                table += 1;
                if table > 2 {
                    rows.push(Row { line: number, cells: cells(line) });
                }
            }
            assert!(table > 2, "{}: no table follows {marker}", self.name);
        }
        assert!(!rows.is_empty(), "{}: there is no {marker}", self.name);
        rows
    }

    /// Compares a table with the code. The first cells of the rows must match the expected ones, in any order of rows;
    /// the remaining cells are prose and must not be empty. The cell with index `key` identifies a row.
    pub fn check_table(&self, name: &str, key: usize, expected: &[Vec<String>]) {
        let mut found: BTreeMap<String, Row> = BTreeMap::new();
        let mut wrong = Vec::new();
        for row in self.rows(name) {
            let place = format!("{}:{}", self.name, row.line);
            if row.cells.iter().any(String::is_empty) {
                wrong.push(format!("{place}: an empty cell"));
            }
            match row.cells.get(key).cloned() {
                Some(key) => {
                    if let Some(first) = found.insert(key.clone(), row) {
                        wrong.push(format!("{place}: {key} is in line {} already", first.line));
                    }
                }
                None => wrong.push(format!("{place}: too few cells")),
            }
        }
        for cells in expected {
            match found.remove(&cells[key]) {
                Some(found) if found.cells.starts_with(cells) => {}
                Some(found) => {
                    let prose = found.cells.get(cells.len()..).unwrap_or_default();
                    let right: Vec<String> = cells.iter().chain(prose).cloned().collect();
                    wrong.push(format!("{}:{}: should begin\n    {}", self.name, found.line, row(&right)));
                }
                None => wrong.push(format!(
                    "{}: table {name} lacks (add a description)\n    {}",
                    self.name,
                    row(&[cells.as_slice(), &["...".to_owned()]].concat())
                )),
            }
        }
        let stray = found.iter().map(|(key, row)| format!("{}:{}: the code has no {key}", self.name, row.line));
        wrong.extend(stray);
        assert!(wrong.is_empty(), "the manual and the code differ:\n{}", wrong.join("\n"));
    }

    /// Compares the text between `<!-- generated: NAME -->` and `<!-- end -->` with the expected one, or replaces it if
    /// `TGSIC_BLESS=1`.
    pub fn check_generated(&self, name: &str, expected: &str) {
        let marker = format!("<!-- generated: {name} -->\n");
        let (before, rest) = self
            .text
            .split_once(&marker)
            .unwrap_or_else(|| panic!("{}: there is no line {}", self.name, marker.trim_end()));
        let (found, after) =
            rest.split_once("<!-- end -->").unwrap_or_else(|| panic!("{}: {name} has no end", self.name));
        if found == expected {
            return;
        }
        if blesses() {
            // Other parts of the file may have been rewritten since it was read.
            let text = std::fs::read_to_string(&self.path).unwrap();
            let text =
                text.replacen(&format!("{marker}{found}<!-- end -->"), &format!("{marker}{expected}<!-- end -->"), 1);
            std::fs::write(&self.path, text).unwrap();
            return;
        }
        let _ = (before, after);
        let known: Vec<&str> = found.lines().collect();
        let wanted: Vec<&str> = expected.lines().collect();
        let missing = wanted.iter().filter(|line| !known.contains(line)).map(|line| format!("+ {line}"));
        let stray = known.iter().filter(|line| !wanted.contains(line)).map(|line| format!("- {line}"));
        let difference: Vec<String> = missing.chain(stray).collect();
        panic!(
            "{}: part {name} differs from the code (TGSIC_BLESS=1 rewrites it):\n{}",
            self.name,
            difference.join("\n")
        );
    }

    /// The code blocks in a language, with the language of the block that directly follows each.
    pub fn examples(&self, language: &str) -> Vec<Example> {
        let mut examples = Vec::new();
        let mut lines = self.text.lines().zip(1..);
        while let Some((line, number)) = lines.next() {
            let Some(found) = line.strip_prefix("```") else { continue };
            let text: String = lines
                .by_ref()
                .map(|(line, _)| line)
                .take_while(|line| *line != "```")
                .map(|l| format!("{l}\n"))
                .collect();
            if found == language {
                examples.push(Example { place: format!("{}:{number}", self.name), text });
            }
        }
        examples
    }
}

/// Formats a table with a header as Markdown.
pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let head: Vec<String> = head.iter().map(|h| (*h).to_owned()).collect();
    let mut text = format!("{}\n|{}\n", row(&head), "---|".repeat(head.len()));
    for cells in rows {
        text.push_str(&row(&cells));
        text.push('\n');
    }
    text
}

/// Checks every page: lines are short, links have targets, and the index lists all pages.
pub fn check_pages(folder: &str) {
    let pages = pages(folder);
    let mut wrong = Vec::new();
    let index = pages.iter().find(|page| page.name == "README.md").expect("an index");
    for page in &pages {
        if page.name != "README.md" && !index.text.contains(&format!("]({})", page.name)) {
            wrong.push(format!("README.md does not name {}", page.name));
        }
        let mut is_code = false;
        for (line, number) in page.text.lines().zip(1..) {
            let place = format!("{}:{number}", page.name);
            if !line.starts_with('|') && line.chars().count() > MAX_COLUMNS {
                wrong.push(format!("{place}: more than {MAX_COLUMNS} columns"));
            }
            if line.ends_with(' ') {
                wrong.push(format!("{place}: a blank at the end"));
            }
            is_code ^= line.starts_with("```");
            if is_code {
                continue;
            }
            // Text in backquotes is not a link.
            let line: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
            for link in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
                let target = if file.is_empty() { page.path.clone() } else { page.path.with_file_name(file) };
                if !target.exists() {
                    wrong.push(format!("{place}: {link} leads nowhere"));
                } else if let Some(anchor) = anchor
                    && !has_heading(&std::fs::read_to_string(&target).unwrap(), anchor)
                {
                    wrong.push(format!("{place}: {file} has no heading #{anchor}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a page has a heading with this anchor.
fn has_heading(text: &str, anchor: &str) -> bool {
    let anchor_of = |heading: &str| -> String {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        words
            .chars()
            .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    text.lines().filter(|line| line.starts_with('#')).any(|line| anchor_of(line) == anchor)
}
