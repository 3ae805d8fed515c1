//! Tests of lookups and their units.

use pretty_assertions::assert_eq;
use tgsi_ir::shader::ShaderStage::{Compute, Fragment, Vertex};
use tgsi_ir::text::print;
use tgsi_ir::variable::VariableModes;

use crate::compile::Module;
use crate::options::SpirvOptions;
use crate::tests::entries::{codes, entry, read, read_with};

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
