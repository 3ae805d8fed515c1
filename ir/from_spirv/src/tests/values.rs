//! Values of instructions in modules, where composites, pointers and constants matter.

use super::value;

/// Declarations, code, and the value of `%x`.
const VALUES: &[(&str, &str, f32)] = &[
    // Vectors.
    ("", "%v = OpVectorShuffle %vec4 %one4 %v34 0 0xffffffff 5 4\n%x = OpCompositeExtract %float %v 2", 4.0),
    ("", "%v = OpVectorShuffle %vec2 %v12 %v34 3 0\n%x = OpCompositeExtract %float %v 0", 4.0),
    ("", "%v = OpCompositeConstruct %vec4 %v12 %one %f5\n%x = OpCompositeExtract %float %v 2", 1.0),
    ("", "%v = OpCompositeConstruct %vec2 %f4 %f5\n%x = OpCompositeExtract %float %v 1", 5.0),
    ("", "%x = OpVectorExtractDynamic %float %v34 %int1", 4.0),
    ("", "%v = OpVectorInsertDynamic %vec2 %v34 %f5 %int1\n%x = OpCompositeExtract %float %v 1", 5.0),
    ("", "%v = OpCompositeInsert %vec2 %one %v34 0\n%x = OpDot %float %v %v12", 9.0),
    // Composites.
    ("", "%t = OpCompositeInsert %struct %one %s 0 2 1\n%x = OpCompositeExtract %float %t 0 2 1", 1.0),
    (
        "",
        "%t = OpCompositeInsert %struct %one %s 1\n%v = OpCompositeExtract %vec2 %t 2 1\n%x = OpDot %float %v %v12",
        11.0,
    ),
    ("", "%t = OpCompositeInsert %struct %v12 %undef 0 1\n%x = OpCompositeExtract %float %t 0 1 1", 2.0),
    ("", "%t = OpCompositeExtract %array %s 0\n%x = OpCompositeExtract %float %t 1 1", 4.0),
    ("", "%t = OpCompositeConstruct %struct %a %one %m1234\n%x = OpCompositeExtract %float %t 2 1 0", 3.0),
    ("", "%t = OpCompositeConstruct %struct %a %f5 %m1234\n%x = OpCompositeExtract %float %t 1", 5.0),
    ("", "%t = OpSelect %struct %yes %s %null\n%x = OpCompositeExtract %float %t 1", 5.0),
    ("", "%t = OpSelect %struct %yes %null %s\n%x = OpCompositeExtract %float %t 1", 0.0),
    ("", "%v = OpSelect %vec2 %yes %v12 %v34\n%x = OpDot %float %v %v12", 5.0),
    // Matrices.
    ("", "%m = OpTranspose %mat2 %m1234\n%v = OpMatrixTimesVector %vec2 %m %v12\n%x = OpDot %float %v %v12", 27.0),
    ("", "%m = OpTranspose %mat2 %m1234\n%v = OpVectorTimesMatrix %vec2 %v12 %m\n%x = OpDot %float %v %v12", 27.0),
    ("", "%m = OpTranspose %mat2 %m1234\n%v = OpCompositeExtract %vec2 %m 1\n%x = OpDot %float %v %v12", 10.0),
    ("", "%m = OpTranspose %mat2 %m1234\n%x = OpCompositeExtract %float %m 1 0", 2.0),
    (
        "",
        "%m = OpTranspose %mat2 %m1234\n%n = OpCompositeInsert %mat2 %one %m 1 0\n%x = OpCompositeExtract %float %n 1 0",
        1.0,
    ),
    ("", "%m = OpTranspose %mat2 %m1234\n%n = OpFAdd %mat2 %m %m1234\n%x = OpCompositeExtract %float %n 1 0", 5.0),
    ("", "%m = OpTranspose %mat2 %m1234\n%n = OpFNegate %mat2 %m\n%x = OpCompositeExtract %float %n 1 0", -2.0),
    (
        "",
        "%m = OpTranspose %mat2 %m1234\n%n = OpMatrixTimesScalar %mat2 %m %two\n%x = OpCompositeExtract %float %n 1 0",
        4.0,
    ),
    (
        "",
        "%m = OpTranspose %mat2 %m1234\n%n = OpSelect %mat2 %yes %m %m1234\n%x = OpCompositeExtract %float %n 1 0",
        2.0,
    ),
    ("", "%m = OpTranspose %mat2 %m1234\n%n = OpSelect %mat2 %yes %m %m\n%x = OpCompositeExtract %float %n 1 0", 2.0),
    ("", "%m = OpMatrixTimesMatrix %mat2 %m1234 %m1234\n%x = OpCompositeExtract %float %m 1 0", 15.0),
    ("", "%m = OpOuterProduct %mat2 %v12 %v34\n%x = OpCompositeExtract %float %m 1 0", 4.0),
    ("", "%x = OpExtInst %float %ext 33 %m1234", -2.0),
    ("", "%m = OpTranspose %mat2 %m1234\n%n = OpExtInst %mat2 %ext 34 %m\n%x = OpCompositeExtract %float %n 1 0", 1.0),
    // Two results.
    ("", "%t = OpIAddCarry %words %ones %u31\n%c = OpCompositeExtract %uint %t 1\n%x = OpConvertUToF %float %c", 1.0),
    ("", "%t = OpISubBorrow %words %u0 %u1\n%c = OpCompositeExtract %uint %t 1\n%x = OpConvertUToF %float %c", 1.0),
    (
        "",
        "%t = OpUMulExtended %words %u31 %u31\n%c = OpCompositeExtract %uint %t 0\n%x = OpConvertUToF %float %c",
        961.0,
    ),
    (
        "",
        "%t = OpSMulExtended %words %ones %u31\n%c = OpCompositeExtract %uint %t 1\n%x = OpConvertSToF %float %c",
        -1.0,
    ),
    ("%f25 = OpConstant %float 2.5", "%x = OpExtInst %float %ext 35 %f25 %local", 0.5),
    ("%f25 = OpConstant %float 2.5", "%y = OpExtInst %float %ext 35 %f25 %local\n%x = OpLoad %float %local", 2.0),
    (
        "%f25 = OpConstant %float 2.5",
        "%p = OpAccessChain %to_float %local2 %int1\n%y = OpExtInst %float %ext 35 %f25 %p\n%x = OpLoad %float %p",
        2.0,
    ),
    ("", "%t = OpExtInst %floats %ext 36 %f5\n%x = OpCompositeExtract %float %t 1", 5.0),
    ("", "%y = OpExtInst %float %ext 51 %f4 %number\n%e = OpLoad %int %number\n%x = OpConvertSToF %float %e", 3.0),
    ("", "%t = OpExtInst %parts %ext 52 %f4\n%e = OpCompositeExtract %int %t 1\n%x = OpConvertSToF %float %e", 3.0),
    (
        "%half_parts = OpTypeStruct %float %short",
        "%t = OpExtInst %half_parts %ext 52 %f4\n%e = OpCompositeExtract %short %t 1\n%x = OpConvertSToF %float %e",
        3.0,
    ),
    ("", "%x = OpExtInst %float %amd 7 %f3 %one %f2", 2.0),
    ("", "%d = OpExtInst %void %debug 1 %f1\n%x = OpFAdd %float %one %one", 2.0),
    // Interpolation.
    ("", "%v = OpExtInst %vec4 %ext 76 %inputs\n%x = OpCompositeExtract %float %v 3", 1.0),
    ("", "%p = OpAccessChain %to_input %inputs %int1\n%x = OpExtInst %float %ext 77 %p %int1", 1.0),
    ("", "%p = OpAccessChain %to_input %inputs %i1\n%x = OpExtInst %float %ext 78 %p %v12", 1.0),
    // Pointers.
    ("", "%p = OpSelect %to_float %true %local %other\nOpStore %p %f3\n%x = OpLoad %float %local", 3.0),
    ("", "%p = OpSelect %to_float %yes %local %local\nOpStore %p %f3\n%x = OpLoad %float %local", 3.0),
    ("", "%p = OpSelect %to_float %yes %local %other\nOpStore %p %f3\n%x = OpLoad %float %local", 3.0),
    // Decorations.
    ("", "%y = OpFMul %float %two %two\n%x = OpFAdd %float %y %one", 5.0),
    // Constants that depend on others.
    ("%k = OpSpecConstantOp %int IMul %i2 %i2", "%x = OpConvertSToF %float %k", 4.0),
    (
        "%k = OpSpecConstantOp %int SMod %i1 %i2\n%l = OpSpecConstantOp %float ConvertSToF %k",
        "%x = OpCopyObject %float %l",
        1.0,
    ),
    ("%k = OpSpecConstantOp %vec2 VectorShuffle %v12 %v34 3 0", "%x = OpDot %float %k %v12", 6.0),
    ("%k = OpSpecConstantOp %vec2 VectorShuffle %v12 %v34 3 0xffffffff", "%x = OpCompositeExtract %float %k 0", 4.0),
    ("%k = OpSpecConstantOp %struct CompositeInsert %f2 %s 0 1 1", "%x = OpCompositeExtract %float %k 0 1 1", 2.0),
    ("%k = OpSpecConstantOp %struct CompositeInsert %f2 %s 0 1 1", "%x = OpCompositeExtract %float %k 0 1 0", 3.0),
    ("%k = OpSpecConstantOp %struct CompositeInsert %v34 %null 2 1", "%x = OpCompositeExtract %float %k 2 1 1", 4.0),
    ("%k = OpSpecConstantOp %float CompositeExtract %s 2 1 0", "%x = OpFAdd %float %k %one", 4.0),
    ("%k = OpSpecConstantOp %struct Select %false %null %s", "%x = OpCompositeExtract %float %k 1", 5.0),
    ("%k = OpSpecConstantOp %float Select %true %f3 %f4", "%x = OpFAdd %float %k %one", 4.0),
    (
        "%c = OpConstantComposite %bool2 %false %true\n%k = OpSpecConstantOp %vec2 Select %c %v12 %v34",
        "%x = OpDot %float %k %v12",
        7.0,
    ),
    ("%k = OpSpecConstantOp %float FAdd %f3 %f4", "%x = OpFAdd %float %k %one", 8.0),
    (
        "%k = OpSpecConstantOp %long SConvert %i1\n%l = OpSpecConstantOp %uvec2 Bitcast %k",
        "%c = OpCompositeExtract %uint %l 0\n%x = OpConvertUToF %float %c",
        1.0,
    ),
    ("%k = OpSpecConstantOp %bool SLessThan %i1 %i2", "%x = OpSelect %float %k %f3 %f4", 3.0),
];

#[test]
fn values_are_those_of_the_specification() {
    for (declarations, code, expected) in VALUES {
        match value(declarations, code) {
            Ok(found) => assert_eq!(found, *expected, "{declarations}\n{code}"),
            Err(findings) => panic!("{declarations}\n{code}\n{findings:?}"),
        }
    }
}

/// Declarations, code, and the error.
const ERRORS: &[(&str, &str, &str)] = &[
    ("", "%x = OpFAdd %float %one %i1", "T1524"),
    ("", "%x = OpFAdd %float %one %v12", "T1524"),
    ("", "%x = OpFAdd %float %one %s", "T1503"),
    ("", "%x = OpVectorShuffle %vec4 %v12 %v34 0 1 2 4", "T1524"),
    ("", "%x = OpVectorShuffle %vec4 %v12 %v34 0 1 2", "T1524"),
    ("", "%x = OpCompositeConstruct %vec4 %v12 %one", "T1524"),
    ("", "%x = OpCompositeConstruct %vec4 %v12 %one4", "T1524"),
    ("", "%x = OpCompositeConstruct %array %v12 %v34", "T1524"),
    ("", "%x = OpCompositeConstruct %struct %a %one %one", "T1524"),
    ("", "%x = OpCompositeExtract %float %s 3", "T1524"),
    ("", "%x = OpCompositeExtract %float %s 0 3 0", "T1524"),
    ("", "%x = OpCompositeExtract %float %s 0 0", "T1524"),
    ("", "%x = OpCompositeInsert %struct %one %s 0 0", "T1524"),
    ("", "%x = OpVectorExtractDynamic %float %v12 %one", "T1524"),
    ("", "%x = OpSelect %struct %one %s %null", "T1524"),
    ("", "%x = OpSelect %struct %yes %s %one", "T1524"),
    ("", "%x = OpMatrixTimesVector %vec2 %m1234 %one4", "T1524"),
    ("", "%x = OpMatrixTimesVector %vec2 %v12 %v12", "T1503"),
    ("", "%x = OpMatrixTimesMatrix %mat23 %m1234 %m1234", "T1524"),
    ("", "%x = OpIAddCarry %floats %u1 %u1", "T1524"),
    ("", "%x = OpIAddCarry %uint %u1 %u1", "T1524"),
    ("", "%x = OpExtInst %float %ext 99 %one", "T1516"),
    ("", "%x = OpExtInst %float %ext 47 %one %one %one", "T1516"),
    ("", "%x = OpExtInst %float %amd 99 %one %one %one", "T1516"),
    ("", "%x = OpExtInst %float %ext 13", "T1524"),
    ("", "%x = OpExtInst %float %ext 13 %i1", "T1524"),
    ("", "%x = OpExtInst %float %one 13 %one", "T1503"),
    ("", "%x = OpExtInst %float %ext 35 %one %number", "T1524"),
    ("", "%x = OpExtInst %float %ext 76 %local", "T1524"),
    ("%k = OpSpecConstantOp %float AccessChain %f1 %f1", "%x = OpFAdd %float %one %one", "T1513"),
    ("%k = OpSpecConstantOp %float FAdd %f1 %i1", "%x = OpFAdd %float %one %one", "T1524"),
    ("%k = OpSpecConstantOp %float CompositeExtract %s 7", "%x = OpFAdd %float %one %one", "T1524"),
    ("%k = OpSpecConstantOp %struct CompositeInsert %f1 %s 0", "%x = OpFAdd %float %one %one", "T1524"),
    ("%k = OpSpecConstantOp %float FAdd %f1 %inputs", "%x = OpFAdd %float %one %one", "T1503"),
];

#[test]
fn operands_that_do_not_fit_are_errors() {
    for (declarations, code, expected) in ERRORS {
        let findings = value(declarations, code).expect_err(code);
        assert!(findings.iter().any(|finding| finding.code.id == *expected), "{declarations}\n{code}\n{findings:?}");
    }
}
