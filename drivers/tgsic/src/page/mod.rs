//! Self-contained HTML pages, which embed style, program and data. Their policy forbids loading anything.

/// The style of all pages.
pub const STYLE: &str = include_str!("style.css");

/// The part of the programs that all pages share.
pub const COMMON: &str = include_str!("common.js");

/// Replaces each placeholder `{{name}}` of a template by the text that `insert` appends for the name. Inserted text is not
/// searched for placeholders, because it may contain anything.
pub fn fill(template: &str, insert: impl Fn(&str, &mut String)) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        page.push_str(before);
        insert(name, &mut page);
        rest = after;
    }
    page + rest
}

/// Escapes JSON for a `script` element, which only `<` could end.
pub fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Fails if a part of a page loads anything, or parses data as HTML.
#[cfg(test)]
pub fn assert_self_contained(part: &str) {
    for word in ["http:", "https:", "@import", "url(", " src=", "innerHTML", "eval("] {
        assert!(!part.contains(word), "{word}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_once() {
        let page = fill("a{{x}}b{{y}}", |name, page| page.push_str(if name == "x" { "{{y}}" } else { "2" }));
        assert_eq!(page, "a{{y}}b2");
        assert_eq!(in_script("\"</script>\u{2028}\""), "\"\\u003c/script>\\u2028\"");
        assert_self_contained(STYLE);
        assert_self_contained(COMMON);
    }
}
