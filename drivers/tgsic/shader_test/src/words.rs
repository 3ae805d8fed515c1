//! Words and numbers of lines.

/// The rest of a line: words and numbers. Parentheses, commas and semicolons are blanks.
#[derive(Clone)]
pub(crate) struct Words {
    words: std::vec::IntoIter<String>,
}

impl Words {
    pub(crate) fn new(line: &str) -> Words {
        let words = line.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';'));
        let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
        Words { words: words.into_iter() }
    }

    pub(crate) fn next(&mut self) -> Option<String> {
        self.words.next()
    }

    /// Whether the next words are these, which are skipped then.
    pub(crate) fn eat(&mut self, words: &str) -> bool {
        let count = words.split(' ').count();
        let is = self.words.as_slice().iter().take(count).map(String::as_str).eq(words.split(' '));
        if is {
            self.words.nth(count - 1);
        }
        is
    }

    pub(crate) fn is_done(&self) -> bool {
        self.words.as_slice().is_empty()
    }

    pub(crate) fn number(&mut self) -> Option<f64> {
        number(&self.next()?)
    }

    pub(crate) fn index(&mut self) -> Option<usize> {
        self.next()?.parse().ok()
    }

    pub(crate) fn integer(&mut self) -> Option<i32> {
        self.next()?.parse().ok()
    }

    pub(crate) fn uint(&mut self) -> Option<u32> {
        self.number()
            .filter(|number| number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number))
            .map(|n| n as u32)
    }

    pub(crate) fn numbers<const N: usize>(&mut self) -> Option<[f64; N]> {
        let mut values = [0.0; N];
        for value in &mut values {
            *value = self.number()?;
        }
        Some(values)
    }

    pub(crate) fn floats<const N: usize>(&mut self) -> Option<[f32; N]> {
        Some(self.numbers::<N>()?.map(|value| value as f32))
    }

    /// All numbers that are left; `None` if a word is not a number.
    pub(crate) fn rest(&mut self) -> Option<Vec<f64>> {
        self.rest_of(number)
    }

    pub(crate) fn rest_of(&mut self, number: impl Fn(&str) -> Option<f64>) -> Option<Vec<f64>> {
        std::iter::from_fn(|| self.next()).map(|word| number(&word)).collect()
    }
}

/// The bits of an integer of 64 bits.
pub(crate) fn integer(word: &str) -> Option<u64> {
    let (is_negative, digits) = word.strip_prefix('-').map_or((false, word), |rest| (true, rest));
    let magnitude = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    }?;
    Some(if is_negative { magnitude.wrapping_neg() } else { magnitude })
}

/// The bits of a double, which hexadecimal digits state.
pub(crate) fn double(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => Some(number(word)?.to_bits()),
    }
}

/// A float, of which hexadecimal digits are the bits.
pub(crate) fn float(word: &str) -> Option<f64> {
    match word.strip_prefix("0x") {
        Some(digits) => Some(f32::from_bits(u32::from_str_radix(digits, 16).ok()?).into()),
        None => number(word),
    }
}

/// The number of components of a type.
pub(crate) fn components(ty: &str) -> usize {
    let sizes: Vec<usize> = ty.chars().filter_map(|c| c.to_digit(10)).map(|digit| digit as usize).collect();
    match (ty.trim_start_matches('d').starts_with("mat"), sizes.as_slice()) {
        (true, &[size]) => size * size,
        (true, &[columns, rows]) => columns * rows,
        (false, &[size]) => size,
        _ => 1,
    }
}

/// A number, decimal or hexadecimal.
fn number(word: &str) -> Option<f64> {
    let (sign, digits) = word.strip_prefix('-').map_or((1.0, word), |rest| (-1.0, rest));
    match digits.strip_prefix("0x") {
        Some(digits) => Some(sign * f64::from(u32::from_str_radix(digits, 16).ok()?)),
        None => word.trim_end_matches('f').parse().ok().or_else(|| word.parse().ok()),
    }
}
