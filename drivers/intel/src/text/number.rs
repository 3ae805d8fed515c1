//! Numbers in the formats of C's `printf`.

/// Formats a number with six significant digits, as `%g` does.
pub(super) fn general(value: f64) -> String {
    if !value.is_finite() {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        return format!("{sign}{}", if value.is_nan() { "nan" } else { "inf" });
    }
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        without_zeros(&format!("{value:.*}", (5 - exponent) as usize)).to_owned()
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", without_zeros(digits), exponent.unsigned_abs())
    }
}

/// Removes the zeros at the end of a fraction.
fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::general;
    use pretty_assertions::assert_eq;

    #[test]
    fn general_numbers() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (100_000.0, "100000"),
            (999_999.5, "1e+06"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e-45, "1.5e-45"),
            (-f64::INFINITY, "-inf"),
            (-f64::NAN, "-nan"),
            (1.25e200, "1.25e+200"),
        ];
        for (value, text) in cases {
            assert_eq!(general(value), text);
        }
    }
}
