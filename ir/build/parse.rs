//! Parses the text of rules to expressions.
//!
//! ```text
//! # a group                                        a comment
//! exact* float: fadd(a, -0.0) => a
//! exact 32|64: m=imul(a, K) => ishl(a, find_lsb(K)) if pos_pow2(K), once(m), !lower_bitops
//! ```
//!
//! Recursive descent with bounded nesting; every node has its column. After the first error in a line, parsing
//! continues with the next line.

/// Maximum nesting of expressions.
const MAX_DEPTH: usize = 16;

/// An error and its position in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleError {
    /// Line, starting at 1.
    pub line: usize,
    /// Column in characters, starting at 1.
    pub column: usize,
    /// The error.
    pub message: String,
}

/// The precision that a rule guarantees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RulePrecision {
    /// Class: 0 for the same bits, 1 if the sign of zero may differ, 2 for approximately the same value, 3 for
    /// approximately the same value, also in `exact` code.
    pub class: u8,
    /// Whether flushing of denormals and quieting of signalling NaNs may differ.
    pub star: bool,
}

/// Sizes by their bit in a mask: bit 0 for 1, then 8, 16, 32, 64 bits.
pub const SIZES: [u8; 5] = [1, 8, 16, 32, 64];

/// An expression with its column.
#[derive(Clone, PartialEq, Debug)]
pub struct Expression {
    /// Column in characters, starting at 1.
    pub column: usize,
    /// Kind of the node.
    pub kind: NodeKind,
}

impl Expression {
    /// Returns the expression without columns and labels.
    pub fn unnamed(&self) -> Expression {
        let kind = match &self.kind {
            NodeKind::Op { name, exact, operands, .. } => {
                let operands = operands.iter().map(Expression::unnamed).collect();
                NodeKind::Op { name: name.clone(), exact: *exact, label: None, operands }
            }
            other => other.clone(),
        };
        Expression { column: 0, kind }
    }
}

/// A node of an expression.
#[derive(Clone, PartialEq, Debug)]
pub enum NodeKind {
    /// `label=op!(...)`
    Op {
        /// Opcode, or the name of a conversion without a size.
        name: String,
        /// Whether the new instruction is exact.
        exact: bool,
        /// Label for conditions.
        label: Option<String>,
        /// Operands.
        operands: Vec<Expression>,
    },
    /// `a`, `a@16`, `v.xy`
    Variable {
        /// One letter.
        name: char,
        /// Required size.
        bit_size: Option<u8>,
        /// Selected components.
        select: Option<Vec<u8>>,
    },
    /// A constant.
    Literal(Literal),
}

/// A constant; its bits depend on the size that its context requires.
#[derive(Clone, Copy, Debug)]
pub enum Literal {
    /// A float.
    Float(f64),
    /// Any NaN.
    Nan,
    /// An integer.
    Integer(i128),
    /// The size of the rule's values, plus a number.
    Size(i64),
    /// The top bit of the rule's values, plus a number.
    Sign(i64),
}

/// Zeros of different signs are different constants.
impl PartialEq for Literal {
    fn eq(&self, other: &Literal) -> bool {
        match (self, other) {
            (Literal::Float(a), Literal::Float(b)) => a.to_bits() == b.to_bits(),
            (Literal::Nan, Literal::Nan) => true,
            (Literal::Integer(a), Literal::Integer(b)) => a == b,
            (Literal::Size(a), Literal::Size(b)) | (Literal::Sign(a), Literal::Sign(b)) => a == b,
            _ => false,
        }
    }
}

/// A rule as written.
#[derive(Clone, PartialEq, Debug)]
pub struct Rule {
    /// Line, starting at 1.
    pub line: usize,
    /// The precision that it guarantees.
    pub tag: RulePrecision,
    /// Possible sizes of the first unsized values; 0 for all sizes that the opcodes support.
    pub sizes: u8,
    /// The search expression.
    pub search: Expression,
    /// The replacement.
    pub replacement: Expression,
    /// Conditions, all of which must hold; `true` marks a negated one.
    pub conditions: Vec<(bool, Expression)>,
}

/// Parses a file of rules.
pub fn parse(text: &str) -> (Vec<Rule>, Vec<RuleError>) {
    let (mut rules, mut errors) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let code = line.split('#').next().unwrap_or_default().trim_end();
        if code.trim().is_empty() {
            continue;
        }
        match (Parser { text: code, at: 0, in_condition: false }).rule(number + 1) {
            Ok(rule) => rules.push(rule),
            Err((column, message)) => errors.push(RuleError { line: number + 1, column, message }),
        }
    }
    (rules, errors)
}

type Result<T> = std::result::Result<T, (usize, String)>;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// A single word here is a name: of a switch, label or opcode.
    in_condition: bool,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn column(&self) -> usize {
        self.text[..self.at].chars().count() + 1
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err((self.column(), message.into()))
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, word: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        if self.eat(word) { Ok(()) } else { self.error(format!("expected `{word}`")) }
    }

    /// Parses letters, digits and underscores.
    fn word(&mut self) -> &str {
        self.space();
        let start = self.at;
        let length = self.rest().find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest().len());
        self.at += length;
        &self.text[start..self.at]
    }

    fn rule(mut self, line: usize) -> Result<Rule> {
        let tag = self.tag()?;
        let sizes = self.sizes()?;
        self.expect(":")?;
        let search = self.expression(0)?;
        self.expect("=>")?;
        let replacement = self.expression(0)?;
        let mut conditions = Vec::new();
        self.space();
        if self.eat("if ") {
            self.in_condition = true;
            loop {
                let negated = self.eat("!");
                conditions.push((negated, self.expression(0)?));
                if !self.eat(",") {
                    break;
                }
            }
        }
        self.space();
        if !self.rest().is_empty() {
            return self.error("expected the end of the rule");
        }
        Ok(Rule { line, tag, sizes, search, replacement, conditions })
    }

    fn tag(&mut self) -> Result<RulePrecision> {
        self.space();
        let start = self.column();
        let class = match self.word() {
            "exact" => 0,
            "nsz" => 1,
            "inexact" => 2,
            "lowering" => 3,
            other => return Err((start, format!("`{other}` is not a tag (exact, nsz, inexact, lowering)"))),
        };
        let star = self.rest().starts_with('*');
        self.at += usize::from(star);
        Ok(RulePrecision { class, star })
    }

    fn sizes(&mut self) -> Result<u8> {
        let mut mask = 0;
        loop {
            self.space();
            let start = self.column();
            mask |= match self.word() {
                "any" => 0,
                "float" => 0b11100,
                "int" => 0b11110,
                "bits" => 0b11111,
                word => match SIZES.iter().position(|s| s.to_string() == word) {
                    Some(index) => 1 << index,
                    None => {
                        return Err((
                            start,
                            format!("`{word}` is not a size (any, float, int, bits, 1, 8, 16, 32, 64)"),
                        ));
                    }
                },
            };
            if !self.eat("|") {
                return Ok(mask);
            }
        }
    }

    fn expression(&mut self, depth: usize) -> Result<Expression> {
        self.space();
        let column = self.column();
        if depth > MAX_DEPTH {
            return self.error("nested too deeply");
        }
        if self.rest().starts_with(|c: char| c.is_ascii_digit() || "+-~".contains(c)) {
            return Ok(Expression { column, kind: NodeKind::Literal(self.number()?) });
        }
        let name = self.word().to_owned();
        if name.is_empty() {
            return self.error("expected an expression");
        }
        let literal = match name.as_str() {
            "N" => Some(Literal::Size(self.addend()?)),
            "SIGN" => Some(Literal::Sign(self.addend()?)),
            "NaN" => Some(Literal::Nan),
            "true" => Some(Literal::Integer(-1)),
            "false" => Some(Literal::Integer(0)),
            _ => None,
        };
        if let Some(literal) = literal {
            return Ok(Expression { column, kind: NodeKind::Literal(literal) });
        }
        let mut label = None;
        let mut op = name;
        if self.rest().starts_with('=') && !self.rest().starts_with("=>") {
            self.at += 1;
            label = Some(op);
            op = self.word().to_owned();
        }
        let exact = self.rest().starts_with("!(");
        self.at += usize::from(exact);
        if self.eat("(") {
            let mut operands = Vec::new();
            loop {
                operands.push(self.expression(depth + 1)?);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")")?;
            return Ok(Expression { column, kind: NodeKind::Op { name: op, exact, label, operands } });
        }
        if self.in_condition && op.len() > 1 && label.is_none() {
            return Ok(Expression { column, kind: NodeKind::Op { name: op, exact, label, operands: Vec::new() } });
        }
        let mut letters = op.chars();
        let (Some(name), None, None) = (letters.next(), letters.next(), &label) else {
            return Err((column, format!("`{op}` is not a variable (one letter) and has no operands")));
        };
        let mut bit_size = None;
        if self.rest().starts_with('@') {
            self.at += 1;
            let start = self.column();
            let word = self.word();
            bit_size = SIZES.into_iter().find(|s| s.to_string() == word);
            if bit_size.is_none() {
                return Err((start, format!("`{word}` is not a size")));
            }
        }
        let mut select = None;
        if self.rest().starts_with('.') {
            self.at += 1;
            let start = self.column();
            let word = self.word().to_owned();
            let components: Option<Vec<u8>> =
                word.chars().map(|c| "xyzwefghijklmnop".find(c).map(|i| i as u8)).collect();
            match components {
                Some(list) if !list.is_empty() && list.len() <= 16 => select = Some(list),
                _ => return Err((start, format!("`{word}` does not select components"))),
            }
        }
        Ok(Expression { column, kind: NodeKind::Variable { name, bit_size, select } })
    }

    /// Parses `+ n` or `- n` after a named number.
    fn addend(&mut self) -> Result<i64> {
        let sign = if self.eat("+") {
            1
        } else if self.eat("-") {
            -1
        } else {
            return Ok(0);
        };
        let column = self.column();
        match self.word().parse::<i32>() {
            Ok(value) => Ok(sign * i64::from(value)),
            Err(_) => Err((column, "expected a number".to_owned())),
        }
    }

    fn number(&mut self) -> Result<Literal> {
        let column = self.column();
        let (start, bytes) = (self.at, self.text.as_bytes());
        if matches!(bytes[self.at], b'+' | b'-' | b'~') {
            self.at += 1;
        }
        if self.rest().starts_with("inf") {
            self.at += 3;
            let negative = bytes[start] == b'-';
            return Ok(Literal::Float(if negative { f64::NEG_INFINITY } else { f64::INFINITY }));
        }
        while let Some(&c) = bytes.get(self.at) {
            let exponent_sign =
                matches!(c, b'+' | b'-') && bytes[self.at - 1] == b'e' && !self.text[start..].starts_with("0x");
            if !(c.is_ascii_alphanumeric() || c == b'.' || exponent_sign) {
                break;
            }
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        let (sign, digits) = match text.as_bytes()[0] {
            b'-' => (-1, &text[1..]),
            b'+' | b'~' => (1, &text[1..]),
            _ => (1, text),
        };
        let integer = match digits.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16).ok(),
            None => digits.parse::<i128>().ok(),
        };
        match integer {
            Some(value) if text.starts_with('~') => Ok(Literal::Integer(!value)),
            Some(value) => Ok(Literal::Integer(sign * value)),
            None => match text.parse::<f64>() {
                Ok(value) if !text.starts_with('~') => Ok(Literal::Float(value)),
                _ => Err((column, format!("`{text}` is not a number"))),
            },
        }
    }
}
