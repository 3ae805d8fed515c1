//! Names for values, so that naga's writer writes each once.
//!
//! The writer inlines an expression at each use, unless it has a name or more than one expression uses it. A part of a
//! value (`a.x`, `a[i]`) never gets a variable, and counts as one use of the value and of the index however often it is
//! used. Without names, text and time would grow exponentially with chains of vectors that are taken apart and put
//! together, and the stack with chains of operations. With a name for each value that is taken apart, for each index
//! and for every [`MAX_DEPTH`] nested operations, the text is linear in the module.

use naga::{Expression, Function, Handle, Module};

/// Nested operations before one gets a name.
const MAX_DEPTH: u32 = 32;

/// Names values in all functions. See the [module](self).
pub fn name_values(module: &mut Module) {
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    functions.chain(module.entry_points.iter_mut().map(|entry| &mut entry.function)).for_each(name_in);
}

fn name_in(function: &mut Function) {
    let mut depths: Vec<u32> = Vec::with_capacity(function.expressions.len());
    let mut named: Vec<Handle<Expression>> = Vec::new();
    for (handle, expression) in function.expressions.iter() {
        // Operands precede their uses.
        let mut depth = 0;
        operands(expression, &mut |operand| {
            depth = depth.max(depths.get(operand.index()).map_or(0, |depth| depth + 1));
        });
        if depth > MAX_DEPTH && is_computed(expression) {
            named.push(handle);
            depth = 0;
        }
        depths.push(depth);
        let repeated = repeated(expression).into_iter().flatten();
        named.extend(repeated.filter(|&operand| is_computed(&function.expressions[operand])));
    }
    for handle in named {
        function.named_expressions.entry(handle).or_insert_with(|| "value".to_owned());
    }
}

/// Returns the operands that are inlined at each use: the whole and the index of a part.
fn repeated(expression: &Expression) -> [Option<Handle<Expression>>; 2] {
    match *expression {
        Expression::Access { base, index } => [Some(base), Some(index)],
        Expression::AccessIndex { base, .. } => [Some(base), None],
        Expression::Swizzle { vector, .. } => [Some(vector), None],
        _ => [None, None],
    }
}

/// Returns whether an expression is computed where it is written. Pointers, constants and arguments are not.
fn is_computed(expression: &Expression) -> bool {
    matches!(
        expression,
        Expression::Compose { .. }
            | Expression::Splat { .. }
            | Expression::Swizzle { .. }
            | Expression::Load { .. }
            | Expression::ImageSample { .. }
            | Expression::ImageLoad { .. }
            | Expression::Unary { .. }
            | Expression::Binary { .. }
            | Expression::Select { .. }
            | Expression::Derivative { .. }
            | Expression::Relational { .. }
            | Expression::Math { .. }
            | Expression::As { .. }
    )
}

/// Visits the operands that are written inside an expression.
fn operands(expression: &Expression, each: &mut impl FnMut(Handle<Expression>)) {
    match expression {
        Expression::Compose { components, .. } => components.iter().copied().for_each(each),
        &Expression::Access { base, index } => [base, index].into_iter().for_each(each),
        &Expression::AccessIndex { base, .. } => each(base),
        &Expression::Splat { value, .. } => each(value),
        &Expression::Swizzle { vector, .. } => each(vector),
        &Expression::Load { pointer } => each(pointer),
        &Expression::Unary { expr, .. } | &Expression::Derivative { expr, .. } | &Expression::As { expr, .. } => {
            each(expr);
        }
        &Expression::Relational { argument, .. } => each(argument),
        &Expression::Binary { left, right, .. } => [left, right].into_iter().for_each(each),
        &Expression::Select { condition, accept, reject } => [condition, accept, reject].into_iter().for_each(each),
        &Expression::Math { arg, arg1, arg2, arg3, .. } => {
            [Some(arg), arg1, arg2, arg3].into_iter().flatten().for_each(each);
        }
        // Lookups have separate names; other expressions have no operands.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use tgsi_compiler::{Compiler, Driver};

    use crate::WGSL;
    #[cfg(feature = "spirv-cross")]
    use crate::{ESSL, GLSL, HLSL, MSL};

    /// Returns the length of the text for a chain of vectors that are taken apart and put together.
    fn length(driver: &dyn Driver, links: usize) -> usize {
        let mut text =
            "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL TEMP[0..2]\nMOV TEMP[0], IN[0]\n"
                .to_owned();
        for _ in 0..links {
            text.push_str(
                "MAD TEMP[1].xy, TEMP[0].yxxx, TEMP[0].xxxx, TEMP[0].wzyx\nMAX TEMP[1].zw, TEMP[0].xyzx, TEMP[0]\n",
            );
            text.push_str("MUL TEMP[0].xz, TEMP[1].wxyz, TEMP[1].zzxx\nADD TEMP[0].yw, TEMP[1].xxyy, TEMP[1].zwxz\n");
        }
        // Logic operations on four comparisons at a time.
        text.push_str("FSLT TEMP[1], TEMP[0], IN[0].xxxx\n");
        for _ in 0..links {
            text.push_str("FSGE TEMP[2], TEMP[0].yzwx, IN[0].yyyy\nOR TEMP[1], TEMP[1], TEMP[2]\n");
            text.push_str("FSNE TEMP[2], TEMP[0].zwxy, IN[0].zzzz\nAND TEMP[1], TEMP[1].wzyx, TEMP[2]\n");
        }
        text.push_str("AND TEMP[1], TEMP[1], TEMP[0]\n");
        let _ = write!(text, "ADD OUT[0], TEMP[0], TEMP[1]\nEND\n");
        let source = tgsi::text::parse(text.as_bytes()).expect("a shader").shader;
        let compiler = Compiler::for_target(driver.target(&[]).expect("no options").into());
        compiler.compile(source).expect("a text").into_bytes().len()
    }

    #[test]
    fn text_grows_with_the_shader() {
        let drivers: &[&dyn Driver] = &[
            &WGSL,
            #[cfg(feature = "spirv-cross")]
            &GLSL,
            #[cfg(feature = "spirv-cross")]
            &ESSL,
            #[cfg(feature = "spirv-cross")]
            &MSL,
            #[cfg(feature = "spirv-cross")]
            &HLSL,
        ];
        for driver in drivers {
            let (short, long) = (length(*driver, 20), length(*driver, 200));
            assert!(long < 12 * short, "{}: {short} bytes, then {long}", driver.name());
        }
        // Operations nested this deeply would overflow the stack.
        length(&WGSL, 4000);
    }
}
