//! Damaged modules give errors or valid IR.

use tgsi_environment::Random;

use super::{compiled, module};

const CODE: &str = "
    %m = OpTranspose %mat2 %m1234
    %n = OpMatrixTimesMatrix %mat2 %m %m1234
    %v = OpMatrixTimesVector %vec2 %n %v12
    %w = OpVectorShuffle %vec4 %v %one4 0 0xffffffff 5 1
    %t = OpCompositeInsert %struct %v %s 0 1
    %q = OpSelect %struct %yes %t %null
    %y = OpCompositeExtract %float %q 0 1 1
    %c = OpIAddCarry %words %ones %u31
    %d = OpCompositeExtract %uint %c 1
    %e = OpBitFieldInsert %uint %d %ones %i1 %i2
    %g = OpBitcast %float %e
    %h = OpFMul %float %g %y
    %i = OpFAdd %float %h %one
    %j = OpExtInst %float %ext 35 %i %local
    %k = OpVectorInsertDynamic %vec4 %w %j %int1
    %l = OpExtInst %vec4 %ext 69 %k
    %o = OpExtInst %parts %ext 52 %i
    %p = OpAccessChain %to_input %inputs %int1
    %r = OpExtInst %float %ext 77 %p %int1
    %x = OpVectorExtractDynamic %float %l %int1
";

#[test]
fn words_of_any_value_give_errors_or_valid_code() {
    let declarations = "%spec = OpSpecConstantOp %struct CompositeInsert %f2 %s 0 1 1
        %shuffled = OpSpecConstantOp %vec2 VectorShuffle %v12 %v34 3 0
        %sum = OpSpecConstantOp %int IAdd %i1 %i2";
    let bytes = module(declarations, CODE);
    let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    assert!(compiled(&bytes).module.is_some());
    let mut random = Random::new(11);
    let mut below = |count: usize| (random.bits() % count as u64) as usize;
    let mut modules = 0;
    for _ in 0..3000 {
        let mut damaged = words.clone();
        for _ in 0..below(2) + 1 {
            let at = 5 + below(words.len() - 5);
            damaged[at] = match below(4) {
                0 => below(1 << 32) as u32,
                1 => below(8) as u32,
                2 => damaged[at] & 0xffff_0000 | below(512) as u32,
                _ => below(words[3] as usize) as u32,
            };
        }
        let bytes: Vec<u8> = damaged.iter().flat_map(|word| word.to_le_bytes()).collect();
        modules += usize::from(compiled(&bytes).module.is_some());
    }
    assert!(modules > 100, "{modules}");
}

/// A load through a null pointer gives zeros, as many as the type has parts: the limit of parts holds for it.
#[test]
fn loads_of_null_are_limited() {
    let declarations = "%huge_count = OpConstant %uint 872415234
        %huge = OpTypeArray %int %huge_count
        %to_huge = OpTypePointer 6 %huge
        %no_huge = OpConstantNull %to_huge";
    let found = compiled(&module(declarations, "%all_of_it = OpLoad %huge %no_huge"));
    assert!(found.module.is_none());
    let messages: Vec<&str> = found.findings.iter().map(|finding| finding.message.as_str()).collect();
    assert!(messages.iter().any(|message| message.contains("872415234")), "{messages:?}");
}
