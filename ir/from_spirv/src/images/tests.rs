//! Tests of lookups and their units.

use pretty_assertions::assert_eq;
use tgsi_environment::Random;
use tgsi_ir::shader::ShaderStage::{Compute, Fragment, Vertex};
use tgsi_ir::text::print;
use tgsi_ir::variable::VariableModes;

use crate::compile::{Module, compile};
use crate::options::{Environment, SpirvOptions};
use crate::tests::entries::{codes, entry, module, read, read_with};

const IMAGES: &str = "OpName %t \"t\"
    OpName %s \"s\"
    OpName %c \"c\"
    OpName %ts \"ts\"
    OpDecorate %c DescriptorSet 0
    OpDecorate %c Binding 0
    OpDecorate %t DescriptorSet 0
    OpDecorate %t Binding 1
    OpDecorate %s DescriptorSet 0
    OpDecorate %s Binding 2
    OpDecorate %ts DescriptorSet 0
    OpDecorate %ts Binding 3
    OpDecorate %ss DescriptorSet 0
    OpDecorate %ss Binding 4
    %image = OpTypeImage %float 1 0 0 0 1 0
    %sampler = OpTypeSampler
    %sampled = OpTypeSampledImage %image
    %i2 = OpTypeVector %int 2
    %i0 = OpConstant %int 0
    %i00 = OpConstantComposite %i2 %i0 %i0
    %c00 = OpConstantComposite %v2 %f0 %f0
    %images = OpTypeArray %image %8
    %samplers = OpTypeArray %sampler %4
    %to_image = OpTypePointer UniformConstant %image
    %to_sampler = OpTypePointer UniformConstant %sampler
    %to_sampled = OpTypePointer UniformConstant %sampled
    %to_images = OpTypePointer UniformConstant %images
    %to_samplers = OpTypePointer UniformConstant %samplers
    %t = OpVariable %to_image UniformConstant
    %s = OpVariable %to_sampler UniformConstant
    %c = OpVariable %to_sampled UniformConstant
    %ts = OpVariable %to_images UniformConstant
    %ss = OpVariable %to_samplers UniformConstant";

/// A fetch, then a lookup that compares and an ordinary one, with one sampler.
const PAIR: &str = "%lt = OpLoad %image %t
    %texel = OpImageFetch %v4 %lt %i00 2 %i0
    %ls = OpLoad %sampler %s
    %pair = OpSampledImage %sampled %lt %ls
    %compared = OpImageSampleDrefImplicitLod %float %pair %c00 %f1
    %looked_up = OpImageSampleImplicitLod %v4 %pair %c00
    %lc = OpLoad %sampled %c
    %own = OpImageSampleImplicitLod %v4 %lc %c00";

/// Name, type, unit.
fn units(module: &Module) -> Vec<(String, u32)> {
    let mut found: Vec<_> =
        module.shader.globals_with(VariableModes::UNIFORM).map(|(_, data)| (data.name.clone(), data.binding)).collect();
    found.sort_by_key(|(_, unit)| *unit);
    found
}

fn named(expected: &[(&str, u32)]) -> Vec<(String, u32)> {
    expected.iter().map(|&(name, unit)| (name.to_owned(), unit)).collect()
}

#[test]
fn pairs_have_units() {
    let module = read(&entry(Fragment, "", IMAGES, PAIR));
    // Textures with samplers come first; the fetch shares the unit of the ordinary lookup.
    assert_eq!(units(&module), named(&[("c", 0), ("t", 1), ("t", 2)]));
    let text = print(&module.shader);
    assert!(text.contains("sampler2D t (~0, 1, 1)"), "{text}");
    assert!(text.contains("sampler2DShadow t#0 (~0, 2, 2)"), "{text}");
    assert_eq!((module.shader.info.num_textures, module.shader.info.textures_used_by_txf), (3, 2));
    let samplers: Vec<_> = module.interface.resources.iter().map(|resource| resource.sampler.is_some()).collect();
    assert_eq!(samplers, [false, true, true]);
}

#[test]
fn separate_units_keep_their_numbers() {
    let options = SpirvOptions { separate: true, ..SpirvOptions::default() };
    let module = read_with(&entry(Fragment, "", IMAGES, PAIR), &options).module.expect("no errors");
    let text = print(&module.shader);
    for line in ["sampler2D c (~0, 0, 0)", "sampler2D t (~0, 1, 1)", "sampler2D s#1 (~0, 1, 1)"] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn arrays_of_pairs_are_products() {
    let pair = |image: &str, sampler: &str| {
        format!(
            "%pi = OpAccessChain %to_image %ts {image}
            %ps = OpAccessChain %to_sampler %ss {sampler}
            %li = OpLoad %image %pi
            %ls = OpLoad %sampler %ps
            %pair = OpSampledImage %sampled %li %ls
            %texel = OpImageSampleImplicitLod %v4 %pair %c00"
        )
    };
    let declarations = format!(
        "OpDecorate %index Flat
        OpDecorate %index Location 0
        {IMAGES}
        %in = OpTypePointer Input %uint
        %index = OpVariable %in Input"
    );
    let read_pair = |image: &str, sampler: &str| {
        let code = format!("%i = OpLoad %uint %index\n{}", pair(image, sampler));
        entry(Fragment, "%index", &declarations, &code)
    };
    for (image, sampler, count) in [("%i", "%i", 32), ("%i", "%1", 8), ("%3", "%i", 4), ("%3", "%1", 1)] {
        let module = read(&read_pair(image, sampler));
        assert_eq!(module.shader.info.num_textures, count, "{image} {sampler}");
    }
    let text = read_pair("%i", "%i").replace("OpTypeArray %sampler %4", "OpTypeArray %sampler %8");
    assert_eq!(codes(&text), ["T1535"]);
}

#[test]
fn lookups_without_derivatives_are_of_level_0() {
    let code = "%lc = OpLoad %sampled %c
        %texel = OpImageSampleImplicitLod %v4 %lc %c00";
    assert!(print(&read(&entry(Vertex, "", IMAGES, code)).shader).contains("(float32)txl "));
    assert!(print(&read(&entry(Fragment, "", IMAGES, code)).shader).contains("(float32)tex "));
}

#[test]
fn damaged_lookups_are_errors() {
    let error = |code: &str| codes(&entry(Fragment, "", IMAGES, &format!("%lc = OpLoad %sampled %c\n{code}")));
    assert_eq!(error("%x = OpImageSampleImplicitLod %v4 %lc %f0"), ["T1524"]);
    assert_eq!(error("%x = OpImageSampleImplicitLod %v4 %lc %i00"), ["T1524"]);
    assert_eq!(error("%x = OpImageSampleImplicitLod %i2 %lc %c00"), ["T1524"]);
    assert_eq!(error("%x = OpImageSampleImplicitLod %v4 %lc %c00 131072 %f0"), ["T1517"]);
    assert_eq!(error("%x = OpImageSampleImplicitLod %v4 %lc %c00 1"), ["T1517"]);
    assert_eq!(error("%x = OpImageSampleProjImplicitLod %v4 %lc %c00"), ["T1524"]);
    assert_eq!(error("%x = OpImageGather %v4 %lc %c00 %8"), ["T1519"]);
    assert_eq!(error("%x = OpImageSampleImplicitLod %v4 %c %c00"), ["T1503"]);
    assert_eq!(error("%t1 = OpLoad %image %t\n%x = OpImageSampleImplicitLod %v4 %t1 %c00"), ["T1524"]);
}

#[test]
fn attachments_are_fetched_at_the_fragment() {
    let declarations = format!(
        "OpDecorate %a DescriptorSet 0
        OpDecorate %a Binding 9
        {IMAGES}
        %attachment = OpTypeImage %float 6 0 0 0 2 0
        %to_attachment = OpTypePointer UniformConstant %attachment
        %a = OpVariable %to_attachment UniformConstant"
    );
    let code = "%la = OpLoad %attachment %a
        %x = OpImageRead %v4 %la %i00";
    let text = print(&read(&entry(Fragment, "", &declarations, code)).shader);
    assert!(text.contains("@load_frag_coord"), "{text}");
    assert!(text.contains("(float32)txf "), "{text}");
    assert_eq!(codes(&entry(Compute, "", &declarations, code)), ["T1524"]);
}

#[test]
fn texels_of_storage_images_have_four_coordinates() {
    let declarations = format!(
        "OpDecorate %i DescriptorSet 0
        OpDecorate %i Binding 9
        {IMAGES}
        %storage = OpTypeImage %uint 1 0 0 0 2 33
        %to_storage = OpTypePointer UniformConstant %storage
        %texel = OpTypePointer Image %uint
        %u4 = OpTypeVector %uint 4
        %i = OpVariable %to_storage UniformConstant"
    );
    let code = "%p = OpImageTexelPointer %texel %i %i00 %0
        %old = OpAtomicIAdd %uint %p %1 %0 %1
        %li = OpLoad %storage %i
        %x = OpImageRead %u4 %li %i00
        OpImageWrite %li %i00 %old";
    let module = read(&entry(Compute, "", &declarations, code));
    let text = print(&module.shader);
    for op in ["@image_deref_atomic", "@image_deref_load", "@image_deref_store"] {
        assert!(text.contains(op), "{text}");
    }
    assert_eq!((module.shader.info.num_images, module.shader.info.images_used), (1, 1));
    assert!(module.shader.info.writes_memory);
    assert_eq!(codes(&entry(Compute, "", &declarations, &code.replace("OpAtomicIAdd", "OpAtomicFAddEXT"))), ["T1524"]);
}

#[test]
fn residency_is_asked_for_where_it_is_read() {
    let declarations = format!("{IMAGES}\n%result = OpTypeStruct %int %v4");
    let code = "%lt = OpLoad %image %t
        %both = OpImageSparseFetch %result %lt %i00 10 %i0 %i00
        %texel = OpCompositeExtract %v4 %both 1";
    let text = print(&read(&entry(Fragment, "", &declarations, code)).shader);
    // Offsets of 0 are left out.
    assert!(text.contains("(lod)") && !text.contains("sparse") && !text.contains("(offset)"), "{text}");
    let code = format!(
        "{code}
        %code = OpCompositeExtract %int %both 0
        %resident = OpImageSparseTexelsResident %bool %code"
    );
    let text = print(&read(&entry(Fragment, "", &declarations, &code)).shader);
    assert!(text.contains("sparse") && text.contains("@is_sparse_texels_resident"), "{text}");
}

/// Damaged modules to try.
const ROUNDS: usize = 3000;

/// Instructions of all kinds on images, uniform and storage blocks.
const ALL: &str = "%lt = OpLoad %image %t
    %ls = OpLoad %sampler %s
    %lc = OpLoad %sampled %c
    %li = OpLoad %storage %i
    %la = OpLoad %attachment %a
    %pair = OpSampledImage %sampled %lt %ls
    %pb = OpAccessChain %to_word %b %0
    %n = OpLoad %uint %pb
    %pn = OpAccessChain %to_image %ts %n
    %lts = OpLoad %image %pn
    %pss = OpAccessChain %to_sampler %ss %n
    %lss = OpLoad %sampler %pss
    %pairs = OpSampledImage %sampled %lts %lss
    %x1 = OpImageSampleImplicitLod %v4 %pair %c00 9 %f1 %i00
    %x2 = OpImageSampleDrefExplicitLod %float %pairs %c00 %f1 2 %f0
    %x3 = OpImageSampleExplicitLod %v4 %lc %c00 4 %c00 %c00
    %x4 = OpImageSampleProjImplicitLod %v4 %lc %ones
    %x5 = OpImageFetch %v4 %lts %i00 2 %i0
    %x6 = OpImageGather %v4 %lc %c00 %3 32 %offsets
    %x7 = OpImageQuerySizeLod %i2 %lt %i0
    %x8 = OpImageQueryLevels %int %lt
    %x9 = OpImageQueryLod %v2 %pair %c00
    %own = OpImage %image %lc
    %y1 = OpImageSparseFetch %result %own %i00 2 %i0
    %y2 = OpCompositeExtract %int %y1 0
    %y3 = OpImageSparseTexelsResident %bool %y2
    %y4 = OpImageRead %u4 %li %i00
    %y5 = OpImageRead %v4 %la %i00
    %y6 = OpImageQuerySize %i2 %li
    %pi = OpImageTexelPointer %texel %i %i00 %0
    %y7 = OpAtomicIAdd %uint %pi %1 %0 %n
    OpImageWrite %li %i00 %y4
    %pw = OpAccessChain %to_word %w %1 %n
    OpStore %pw %n
    %y8 = OpArrayLength %uint %w 1
    %pu = OpAccessChain %to_column %u %n %0 %1
    %y9 = OpLoad %v2 %pu
    %ps = OpAccessChain %push_word %p %0
    %z1 = OpLoad %uint %ps";

#[test]
fn words_of_any_value_give_errors_or_valid_code() {
    let declarations = format!(
        "OpDecorate %block Block
        OpDecorate %words Block
        OpDecorate %matrices Block
        OpDecorate %array ArrayStride 4
        OpMemberDecorate %block 0 Offset 4
        OpMemberDecorate %words 0 Offset 0
        OpMemberDecorate %words 1 Offset 4
        OpMemberDecorate %matrices 0 Offset 16
        OpMemberDecorate %matrices 0 RowMajor
        OpMemberDecorate %matrices 0 MatrixStride 16
        OpDecorate %i DescriptorSet 0
        OpDecorate %i Binding 9
        {IMAGES}
        %storage = OpTypeImage %uint 1 0 0 0 2 33
        %attachment = OpTypeImage %float 6 0 0 0 2 0
        %to_storage = OpTypePointer UniformConstant %storage
        %to_attachment = OpTypePointer UniformConstant %attachment
        %texel = OpTypePointer Image %uint
        %u4 = OpTypeVector %uint 4
        %result = OpTypeStruct %int %v4
        %four = OpTypeArray %i2 %4
        %offsets = OpConstantComposite %four %i00 %i00 %i00 %i00
        %block = OpTypeStruct %uint
        %array = OpTypeRuntimeArray %uint
        %words = OpTypeStruct %uint %array
        %matrices = OpTypeStruct %m2
        %many = OpTypeArray %matrices %3
        %to_block = OpTypePointer 2 %block
        %to_words = OpTypePointer StorageBuffer %words
        %to_many = OpTypePointer 2 %many
        %to_push = OpTypePointer PushConstant %block
        %to_word = OpTypePointer StorageBuffer %uint
        %to_column = OpTypePointer 2 %v2
        %push_word = OpTypePointer PushConstant %uint
        %i = OpVariable %to_storage UniformConstant
        %a = OpVariable %to_attachment UniformConstant
        %b = OpVariable %to_block 2
        %w = OpVariable %to_words StorageBuffer
        %u = OpVariable %to_many 2
        %p = OpVariable %to_push PushConstant"
    );
    let bytes = module(&entry(Fragment, "", &declarations, ALL));
    let all = [
        SpirvOptions::default(),
        SpirvOptions { flat: true, separate: true, ..SpirvOptions::default() },
        SpirvOptions { environment: Some(Environment::Tgsic), counts: vec![(0, 3, 5)], ..SpirvOptions::default() },
    ];
    for options in &all {
        let found = compile(&bytes, None, options);
        assert!(found.module.is_some(), "{:?}", found.findings);
    }
    let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let mut random = Random::new(5);
    let mut below = |count: usize| (random.bits() % count as u64) as usize;
    let mut modules = 0;
    for round in 0..ROUNDS {
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
        let Some(found) = compile(&bytes, None, &all[round % all.len()]).module else { continue };
        let errors = tgsi_ir::validate::find_errors(&found.shader);
        assert!(errors.is_empty(), "{errors:?}");
        modules += 1;
    }
    assert!(modules > ROUNDS / 30, "{modules}");
}
