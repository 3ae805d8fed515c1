//! Syntax errors, and the trees after them.

use pretty_assertions::assert_eq;

use super::{findings, parse, print};

/// The findings of a text and its tree.
fn both(text: &str) -> (Vec<String>, String) {
    let parsed = parse(text);
    (super::messages(text, &parsed.findings), print(&parsed.ast, &parsed.interner))
}

#[test]
fn missing_semicolons() {
    let (findings, tree) = both("float a\nfloat b;\nvoid f() { a = 1.0\n return }\nfloat c;");
    assert_eq!(
        findings,
        [
            "2:1 G0201 expected `;`, found `float`",
            "4:2 G0201 expected `;`, found `return`",
            "4:9 G0202 expected an expression, found `}`",
        ]
    );
    assert_eq!(tree, "(var float a)\n(var float b)\n(fn void f() (= a 1.0) (return <error>))\n(var float c)");
}

#[test]
fn one_error_for_each_statement() {
    let (findings, tree) = both(
        "void f() {\n a = * b + / c;\n d = (e;\n g(1, ;\n h[1;\n i = 1;\n\
         \x20j k l;\n}\nfloat m = ;\nfloat n[2;\nfloat o;\n",
    );
    assert_eq!(
        findings,
        [
            "2:6 G0202 expected an expression, found `*`",
            "3:8 G0200 expected `)` or an operator, found `;`",
            "4:7 G0202 expected an expression, found `;`",
            "5:5 G0200 expected `]` or an operator, found `;`",
            "7:6 G0200 expected `;`, `,`, `=` or `[`, found `l`",
            "9:11 G0202 expected an expression, found `;`",
            "10:10 G0200 expected `]`, found `;`",
        ]
    );
    assert!(tree.contains("(= i 1)") && tree.contains("(var j k)") && tree.ends_with("(var float o)"), "{tree}");
}

#[test]
fn heads_with_errors_keep_their_bodies() {
    let (findings, tree) = both(
        "#version 130\nvoid f(int a, float b c, d) {\n if (a b) { c; } else d;\n while (1 +) e;\n\
         \x20for (int i = ; i < 3; i++) f;\n\
         for (;; g h) i;\n switch (j)) { case 1: k; }\n do l; while (m n);\n o;\n}\n",
    );
    assert_eq!(
        findings,
        [
            "2:23 G0200 expected `)` or `,`, found `c`",
            "3:8 G0200 expected `)` or an operator, found `b`",
            "4:12 G0202 expected an expression, found `)`",
            "5:15 G0202 expected an expression, found `;`",
            "6:11 G0200 expected `)` or an operator, found `h`",
            "7:12 G0200 expected `{`, found `)`",
            "8:17 G0200 expected `)` or an operator, found `n`",
        ]
    );
    assert!(tree.contains("(if a ({} c) else d)") && tree.contains("(for (;) - g i)"), "{tree}");
    assert!(tree.contains("(while <error> e)") && tree.ends_with(" o)"), "{tree}");
}

#[test]
fn heads_without_parentheses_keep_their_bodies() {
    let (findings, tree) = both("void f() { if a { b; } else { c; } while d e; for f; g; h { i; } do j; while k; l; }");
    assert_eq!(
        findings,
        [
            "1:15 G0200 expected `(`, found `a`",
            "1:42 G0200 expected `(`, found `d`",
            "1:51 G0200 expected `(`, found `f`",
            "1:78 G0200 expected `(`, found `k`",
        ]
    );
    assert!(tree.contains("(if <error> ({} b) else ({} c))") && tree.contains("({} i)"), "{tree}");
    assert!(tree.ends_with("(do j <error>) l)"), "{tree}");
}

#[test]
fn unclosed_tokens() {
    let text = "void f() {\n if (a) {\n  b;\n";
    assert_eq!(findings(text), ["3:4 G0206 `{` is not closed"]);
    let notes = parse(text).findings.into_iter().flat_map(|finding| finding.notes).map(|note| note.span.start);
    assert_eq!(notes.collect::<Vec<_>>(), [19]);
    assert_eq!(findings("void f() { a = (b"), ["1:17 G0206 `(` is not closed"]);
    assert_eq!(findings("struct S { float a;"), ["1:19 G0206 `{` is not closed"]);
    assert_eq!(findings("void f(float a"), ["1:14 G0206 `(` is not closed"]);
    assert_eq!(findings("float a"), ["1:7 G0200 expected `;`, `,`, `=` or `[`, found the end of the text"]);
}

#[test]
fn closing_tokens_without_opening_ones() {
    let (findings, tree) = both("void f() { if (a) { b; } } }\n b = 1;\n c = 2;\n}\nfloat d;\nvoid g() { ) e; }");
    assert_eq!(findings, ["1:28 G0207 `}` closes nothing", "6:12 G0207 `)` closes nothing"]);
    assert!(tree.contains("(var float d)") && tree.ends_with("(fn void g() <error>)"), "{tree}");
}

#[test]
fn statements_outside_functions() {
    assert_eq!(
        findings("float a;\na = 1;\nif (a) { }\nreturn;\n"),
        ["2:1 G0210 a statement is outside of any function"]
    );
    assert_eq!(findings("f(1);\nvoid g() { }\nh(2);\n").len(), 2);
}

#[test]
fn missing_braces_of_functions() {
    let (findings, tree) = both("void f()\n a = 1;\n b = 2;\n}\nvoid g() return; }\nvoid h() float c;\n");
    assert_eq!(
        findings,
        [
            "2:2 G0200 expected `;` or `{`, found `a`",
            "5:10 G0200 expected `;` or `{`, found `return`",
            "6:10 G0201 expected `;`, found `float`",
        ]
    );
    assert_eq!(tree, { "(fn void f() (= a 1) (= b 2))\n(fn void g() (return))\n(proto void h())\n(var float c)" });
}

#[test]
fn one_error_for_each_token_and_number() {
    assert_eq!(
        findings("uniform if (a) { }\nfloat b = 8c + ;\n"),
        ["1:9 G0200 expected a type, found `if`", "2:11 G0170 `8c` is not a number",]
    );
}

#[test]
fn functions_in_functions() {
    let (findings, tree) = both("void f() { if (a) { b;\n void g() { c = ; }\n d;\n");
    assert_eq!(
        findings,
        ["2:7 G0211 `g` is defined inside another function", "2:17 G0202 expected an expression, found `;`"]
    );
    assert_eq!(tree, "(fn void f() (if a ({} b <error> d)))");
}

#[test]
fn declarations_without_types() {
    let (findings, tree) = both("main() { a; }\nconst b = 1;\nvoid f() { const c = 2; uniform d; }");
    assert_eq!(
        findings,
        [
            "1:1 G0205 `main` is declared without a type",
            "2:7 G0205 `b` is declared without a type",
            "3:18 G0205 `c` is declared without a type",
        ]
    );
    assert_eq!(tree, "(fn <error> main() a)\n(fn void f() <error> (qualify uniform d))");
}

#[test]
fn keywords_as_names() {
    assert_eq!(
        findings("float in, a;\nvoid f() { int uniform = 1; a.float; }\nstruct const { int a; };\n"),
        [
            "1:7 G0204 `in` is a keyword and cannot be a name",
            "2:16 G0204 `uniform` is a keyword and cannot be a name",
            "2:31 G0204 `float` is a keyword and cannot be a name",
            "3:8 G0204 `const` is a keyword and cannot be a name",
        ]
    );
}

#[test]
fn members() {
    let (findings, tree) = both(
        "#version 140\nstruct S { };\nstruct T { float a = 1.0; b; float c };\n\
         uniform B { };\nC { float d; };\nfloat e;\n",
    );
    assert_eq!(
        findings,
        [
            "2:1 G0212 the struct has no members",
            "3:20 G0213 the member `a` has an initialiser",
            "3:28 G0200 expected a name, found `;`",
            "3:38 G0201 expected `;`, found `}`",
            "4:1 G0212 the block has no members",
            "5:1 G0214 the block `C` has no storage qualifier",
        ]
    );
    assert!(tree.contains("(var (struct T {float a} {float c}))") && tree.ends_with("(var float e)"), "{tree}");
}

#[test]
fn errors_of_expressions() {
    let text =
        "#version 420\nvoid f() {\n a[] = 1;\n b = { 1 };\n c = d ? e;\n g = 1 2;\n h.1;\n vec4 = 1;\n i = float;\n}";
    assert_eq!(
        findings(text),
        [
            "3:3 G0215 the index is missing",
            "4:6 G0216 a list in braces is only an initialiser, not an operand",
            "5:11 G0200 expected `:` of the `?`, found `;`",
            "6:8 G0200 expected `;` or an operator, found `2`",
            "7:3 G0200 expected `;` or an operator, found `.1`",
            "8:7 G0200 expected a name, found `=`",
            "9:6 G0202 expected an expression, found `float`",
        ]
    );
    let (findings, tree) = both("#version 420\nfloat a[] = { 1, 2 3, { 4 } };\nfloat b = { };\nfloat c;\n");
    assert_eq!(findings, ["2:20 G0200 expected `}` or `,`, found `3`", "3:13 G0202 expected an expression, found `}`"]);
    assert_eq!(tree, "(var float a[]=<error>)\n(var float b=<error>)\n(var float c)");
}

#[test]
fn labels() {
    let text = "#version 130\nvoid f() {\n case 1: a;\n switch (b) { c; case 2: { default: d; } }\n else e;\n}\n";
    assert_eq!(
        findings(text),
        [
            "3:2 G0217 the label is not directly inside a `switch`",
            "4:15 G0218 a statement of the `switch` precedes its first label",
            "4:28 G0217 the label is not directly inside a `switch`",
            "5:2 G0219 `else` belongs to no `if`",
        ]
    );
}

#[test]
fn conditions_without_values() {
    assert_eq!(
        findings("void f() { while (bool a) b; for (; bool c; ) d; while (bool e[2]) g; }"),
        [
            "1:24 G0220 the condition declares `a` without a value",
            "1:42 G0220 the condition declares `c` without a value",
            "1:63 G0200 expected `=`, found `[`",
        ]
    );
}

#[test]
fn other_tokens() {
    assert_eq!(
        findings("1 + 2;\nfloat a;\nvoid f() { : ; , b; }\n{ c; }\nvoid g();\n"),
        [
            "1:1 G0203 expected a declaration, found `1`",
            "3:12 G0200 expected a statement, found `:`",
            "3:16 G0200 expected a statement, found `,`",
            "4:1 G0203 expected a declaration, found `{`",
        ]
    );
    assert_eq!(
        findings("#version 400\nlayout() in;\nprecision float;\nsubroutine() void f();\nvoid g(float a = 1);\n"),
        [
            "2:8 G0200 expected the name of a layout qualifier, found `)`",
            "3:11 G0200 expected `lowp`, `mediump` or `highp`, found `float`",
            "4:12 G0200 expected the name of a subroutine type, found `)`",
            "5:16 G0200 expected `)` or `,`, found `=`",
        ]
    );
}

#[test]
fn long_tokens_are_cut_in_messages() {
    let text = format!("float 1{};", "0".repeat(1000));
    let message = findings(&text).pop().unwrap_or_default();
    assert!(message.len() < 100 && message.ends_with("0...`"), "{message}");
}

#[test]
fn errors_in_macros_have_notes() {
    let text = "#define M(a) a +;\nvoid f() { b = M(1) }\n";
    let findings = parse(text).findings;
    let notes: Vec<_> = findings.iter().flat_map(|finding| &finding.notes).map(|note| &*note.message).collect();
    assert_eq!(notes, ["in the expansion of `M`"]);
}
