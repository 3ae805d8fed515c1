//! The front end that an input is read with: the one that the command line names, or the one for its content.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use tgsi_compiler::front_end::{FrontEnd, Reader, TGSI_TEXT, detect};

/// The settings of the command line, for the whole process.
#[derive(Debug, Default)]
pub struct Settings {
    /// The front end of all inputs; `None` if content and file extension decide.
    pub forced: Option<&'static dyn FrontEnd>,
    /// Options of front ends. Each front end takes those that it has.
    pub options: Vec<String>,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Sets the language of all inputs and the options of front ends; to be called once, at the start.
///
/// # Errors
/// A message if no front end has one of the options, or if none accepts its value.
pub fn set(language: Option<&str>, options: Vec<String>) -> Result<(), String> {
    let forced = language.and_then(tgsi_registry::find_front_end);
    for option in &options {
        let front_ends = tgsi_registry::front_ends().iter().filter(|front_end| has_option(**front_end, option));
        let readers: Vec<_> = front_ends.map(|front_end| front_end.reader(&[option])).collect();
        let wrong = readers.iter().find_map(|reader| reader.as_ref().err());
        if let Some(wrong) = wrong.filter(|_| readers.iter().all(Result::is_err)) {
            return Err(wrong.to_string());
        }
        if readers.is_empty() {
            let known = tgsi_registry::front_ends().iter().flat_map(|front_end| front_end.options());
            let known: Vec<&str> = known.map(|option| option.name).collect();
            return Err(format!("no front end has an option `{option}`; there are {}", known.join(", ")));
        }
    }
    // A second call could only come from this program itself.
    let _ = SETTINGS.set(Settings { forced, options });
    Ok(())
}

/// Whether the front end has an option of this name (`NAME` or `NAME=VALUE`).
fn has_option(front_end: &dyn FrontEnd, option: &str) -> bool {
    let name = option.split_once('=').map_or(option, |(name, _)| name);
    front_end.options().iter().any(|known| known.name == name)
}

/// Returns the settings.
pub fn settings() -> &'static Settings {
    SETTINGS.get_or_init(Settings::default)
}

/// The front end of an input, and the same with those of the options that it has.
pub fn of_input(
    path: &Path,
    bytes: &[u8],
    language: Option<&'static dyn FrontEnd>,
    options: &[String],
) -> (&'static dyn FrontEnd, Arc<dyn Reader>) {
    let detected = || detect(tgsi_registry::front_ends(), Some(path), bytes);
    let front_end = language.or_else(detected).unwrap_or(&TGSI_TEXT);
    // Texts that users paste have other lines.
    let options = options.iter().map(String::as_str).chain(["embedded"]);
    let options: Vec<&str> = options.filter(|option| has_option(front_end, option)).collect();
    let reader = front_end.reader(&options).unwrap_or_else(|_| Box::new(TGSI_TEXT));
    (front_end, Arc::from(reader))
}

/// The front end of files with the extension of a path that may consist of several shaders; `None` for others.
pub fn of_extension(path: &Path) -> Option<&'static dyn FrontEnd> {
    const OF_SEVERAL: &[&str] = &["shader_test", "glsl"];
    let extension = path.extension().and_then(OsStr::to_str).filter(|extension| OF_SEVERAL.contains(extension))?;
    tgsi_registry::front_ends().iter().copied().find(|front_end| front_end.file_extensions().contains(&extension))
}

/// Whether the command line chooses a stage, so that files with several shaders are one input.
pub fn names_stage() -> bool {
    let chooses = ["stage=", "define=VERTEX", "define=FRAGMENT"];
    settings().options.iter().any(|option| chooses.iter().any(|prefix| option.starts_with(prefix)))
}

/// Whether the path has a file extension of a front end, or of that of all inputs.
pub fn has_extension_of_any(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    let has = |front_end: &&'static dyn FrontEnd| extension.is_some_and(|e| front_end.file_extensions().contains(&e));
    match &settings().forced {
        Some(forced) => has(forced),
        None => tgsi_registry::front_ends().iter().any(has),
    }
}

/// A table of all front ends: name, description, file extensions, options.
pub fn table() -> String {
    let mut table = String::new();
    for front_end in tgsi_registry::front_ends() {
        let extensions = front_end.file_extensions().iter().map(|extension| format!(".{extension}"));
        let extensions: Vec<String> = extensions.collect();
        table += &format!("{:7} {} ({})\n", front_end.name(), front_end.about(), extensions.join(", "));
        for option in front_end.options() {
            table += &format!("        {:9} {}\n", option.name, option.about);
        }
    }
    table
}
