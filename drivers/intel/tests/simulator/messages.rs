//! Messages to the sampler, the URB, render targets, the pixel interpolator and other threads.

use super::{Nothing, halves, launch, simulator, words};

use pretty_assertions::assert_eq;
use tgsi_driver_intel::isa::{Chip, SharedFunction, descriptor};
use tgsi_driver_intel::simulator::{
    Environment, Interpolation, InterpolationPlace, Lanes, Launch, RenderTargetWrite, RunResult, Sample, SampleOp,
    Simd, Status, Trap, UrbRow, UrbWrite,
};

/// Surroundings that keep all requests.
#[derive(Default)]
struct Recorder {
    samples: Vec<Sample>,
    writes: Vec<UrbWrite>,
    released: Vec<[u32; 2]>,
    pixels: Vec<RenderTargetWrite>,
    interpolations: Vec<Interpolation>,
    ends: Vec<[u32; 8]>,
    barriers: u32,
}

/// Distinct results: the component in thousands, the lane in ones.
fn component(number: u32) -> Lanes {
    std::array::from_fn(|lane| 1000 * (number + 1) + lane as u32)
}

impl Environment for Recorder {
    fn sample(&mut self, sample: &Sample) -> [Lanes; 4] {
        self.samples.push(sample.clone());
        [0, 1, 2, 3].map(component)
    }

    fn urb_write(&mut self, write: &UrbWrite) {
        self.writes.push(write.clone());
    }

    fn urb_read(&mut self, handle: u32, row: u32) -> [u32; 4] {
        [0, 1, 2, 3].map(|component| handle * 1000 + row * 10 + component)
    }

    fn urb_release(&mut self, handles: [u32; 2]) {
        self.released.push(handles);
    }

    fn render_target_write(&mut self, write: &RenderTargetWrite) {
        self.pixels.push(write.clone());
    }

    fn interpolate(&mut self, interpolation: &Interpolation) -> [Lanes; 2] {
        self.interpolations.push(interpolation.clone());
        [0, 1].map(component)
    }

    fn barrier(&mut self, _header: &[u32; 8]) -> bool {
        self.barriers += 1;
        false
    }

    fn end(&mut self, header: &[u32; 8]) {
        self.ends.push(*header);
    }
}

/// A message from g1 to g20.
struct Message {
    function: SharedFunction,
    /// The bits of the receiver.
    bits: u32,
    has_header: bool,
    response: u32,
    payload: u32,
    options: &'static str,
}

impl Message {
    fn text(&self, channels: u32) -> String {
        let Message { function, bits, has_header, response, payload, options } = *self;
        let bits = descriptor(bits, has_header, response, payload);
        let destination = if response == 0 { "null" } else { "g20" };
        let name = function.name();
        format!("send({channels}) {destination}<1>UW g1<8,8,1>UD {bits:#x} {name} MsgDesc: {{ align1 {options} }};")
    }

    fn run(&self, channels: u32, launch: &Launch) -> (Recorder, RunResult) {
        let mut recorder = Recorder::default();
        let text = self.text(channels);
        let result = simulator(&text, Chip::Gen7).run(launch, &mut recorder);
        (recorder, result.unwrap_or_else(|trap| panic!("{trap}: {text}")))
    }
}

/// Lanes from words of registers.
fn lanes(registers: &[[u32; 8]]) -> Lanes {
    std::array::from_fn(|lane| registers.get(lane / 8).map_or(0, |words| words[lane % 8]))
}

fn responses(result: &RunResult, count: u8) -> Vec<[u32; 8]> {
    (20..20 + count).map(|register| result.registers.words(register)).collect()
}

/// Registers that are distinct, from g1 on.
fn payload(count: u8) -> Vec<(u8, [u32; 8])> {
    (0..count).map(|index| (1 + index, std::array::from_fn(|word| 100 * u32::from(index) + word as u32))).collect()
}

fn sampler(bits: u32, has_header: bool, response: u32, payload: u32) -> Message {
    Message { function: SharedFunction::Sampler, bits, has_header, response, payload, options: "1Q" }
}

#[test]
fn samples_of_eight_channels() {
    let contents = payload(3);
    let launch = Launch { dispatch_mask: 0xf3, ..launch(&contents) };
    let (recorder, result) = sampler(1 << 17 | 2 << 12 | 5 << 8 | 9, false, 4, 3).run(8, &launch);
    let parameters: Vec<_> = contents.iter().map(|(_, words)| lanes(&[*words])).collect();
    let expected = Sample {
        op: SampleOp::Level,
        simd: Simd::X8,
        surface: 9,
        sampler: 5,
        header: None,
        offset: [0; 3],
        gather_component: 0,
        parameters,
        active: 0xf3,
        first_channel: 0,
    };
    assert_eq!(recorder.samples, [expected]);
    let expected: Vec<_> = (0..4)
        .map(|number| {
            words(&std::array::from_fn::<_, 8, _>(|lane| {
                if 0xf3 >> lane & 1 != 0 { i64::from(component(number)[lane]) } else { 0 }
            }))
        })
        .collect();
    assert_eq!(responses(&result, 4), expected);
}

/// The header disables components, and has offsets and the component for `gather4`.
#[test]
fn samples_with_header() {
    let mut contents = payload(5);
    contents[0].1 = [0, 0, 0x2_0000 | 0b0101 << 12 | 0xf81, 77, 0, 0, 0, 0];
    let (recorder, result) = sampler(2 << 17 | 8 << 12, true, 4, 5).run(16, &launch(&contents));
    let sample = &recorder.samples[0];
    assert_eq!((sample.op, sample.simd, sample.active), (SampleOp::Gather, Simd::X16, 0xffff));
    assert_eq!((sample.offset, sample.gather_component), ([-1, -8, 1], 2));
    assert_eq!(sample.header.map(|header| header[3]), Some(77));
    assert_eq!(sample.parameters, [lanes(&[contents[1].1, contents[2].1]), lanes(&[contents[3].1, contents[4].1])]);
    let half = |number: u32, half: usize| std::array::from_fn(|lane| component(number)[8 * half + lane]);
    assert_eq!(responses(&result, 4), [half(1, 0), half(1, 1), half(3, 0), half(3, 1)]);
}

#[test]
fn samples_of_vectors() {
    let contents = payload(2);
    let launch = Launch { dispatch_mask: 0xf7, ..launch(&contents) };
    let (recorder, result) = sampler(7 << 12 | 3, false, 1, 2).run(8, &launch);
    let sample = &recorder.samples[0];
    assert_eq!((sample.op, sample.simd, sample.active), (SampleOp::Load, Simd::X4x2, 3));
    let first: Vec<_> = sample.parameters.iter().map(|lanes| lanes[..3].to_vec()).collect();
    let expected =
        [[0, 4, 0], [1, 5, 0], [2, 6, 0], [3, 7, 0], [100, 104, 0], [101, 105, 0], [102, 106, 0], [103, 107, 0]];
    assert_eq!(first, expected);
    assert_eq!(responses(&result, 1), [[1000, 2000, 3000, 0, 1001, 2001, 3001, 4001]]);
}

/// Without enabled channels, messages are not sent, except at the end of the thread.
#[test]
fn disabled_messages() {
    let message = sampler(1 << 17, false, 4, 3);
    let launch = Launch { dispatch_mask: 0xff00, ..launch(&payload(3)) };
    let (recorder, result) = message.run(8, &launch);
    assert_eq!(recorder.samples, []);
    assert_eq!((result.steps, result.executed, result.has_ended), (1, 0, false));
    let write = Message {
        function: SharedFunction::RenderCache,
        bits: 12 << 14 | 4 << 8,
        has_header: false,
        response: 0,
        payload: 4,
        options: "1Q EOT",
    };
    let (recorder, result) = write.run(8, &launch);
    assert_eq!((recorder.pixels.len(), recorder.pixels[0].active, result.has_ended), (1, 0, true));
}

fn urb(bits: u32, has_header: bool, response: u32, payload: u32) -> Message {
    Message { function: SharedFunction::Urb, bits, has_header, response, payload, options: "1Q" }
}

fn urb_header(mask: u32) -> Vec<(u8, [u32; 8])> {
    let mut contents = payload(3);
    contents[0].1 = [50, 60, 0, 2, 3, mask << 8, 0, 0];
    contents
}

#[test]
fn urb_writes() {
    // Interleaved rows of two entries, from row 2 * 3 on; the end of the thread.
    let interleaved = Message { options: "1Q EOT", ..urb(3 << 3 | 1 << 14 | 1 << 15, true, 0, 3) };
    let (recorder, result) = interleaved.run(8, &launch(&urb_header(0x7f)));
    let row =
        |handle, row, mask, first: u32| UrbRow { handle, row, mask, data: [0, 1, 2, 3].map(|index| first + index) };
    let expected = UrbWrite {
        rows: vec![row(50, 6, 15, 100), row(60, 6, 7, 104), row(50, 7, 15, 200), row(60, 7, 7, 204)],
        handles: [50, 60],
        is_interleaved: true,
        is_complete: true,
        end_of_thread: true,
    };
    assert_eq!(recorder.writes, [expected]);
    assert!(result.has_ended);
    // Offsets of the header, in rows; only the second entry has enabled channels.
    let launch = Launch { dispatch_mask: 0xf0, ..launch(&urb_header(0xff)) };
    let (recorder, _) = urb(1 | 3 << 3 | 1 << 14 | 1 << 16, true, 0, 2).run(8, &launch);
    assert_eq!(recorder.writes[0].rows, [row(60, 6, 15, 104)]);
    // Two rows of an entry in each register.
    let (recorder, _) = urb(3 << 3, true, 0, 2).run(8, &super::launch(&urb_header(0xff)));
    assert_eq!(recorder.writes[0].rows, [row(50, 6, 15, 100), row(50, 7, 15, 104)]);
    let (recorder, _) = urb(1 | 3 << 3, true, 0, 2).run(8, &super::launch(&urb_header(0xff)));
    assert_eq!(recorder.writes[0].rows, [row(50, 3, 15, 100)]);
}

#[test]
fn urb_reads() {
    let (recorder, result) = urb(3 | 4 << 3 | 1 << 14 | 1 << 15 | 1 << 16, true, 2, 1).run(8, &launch(&urb_header(0)));
    let row = |first: [u32; 2]| std::array::from_fn(|word| first[word / 4] + word as u32 % 4);
    assert_eq!(responses(&result, 2), [row([50_060, 60_070]), row([50_070, 60_080])]);
    assert_eq!(recorder.released, [[50, 60]]);
    let (_, result) = urb(2 | 4 << 3, true, 1, 1).run(8, &launch(&urb_header(0)));
    assert_eq!(responses(&result, 1), [row([50_080, 50_090])]);
}

fn render(bits: u32, has_header: bool, payload: u32) -> Message {
    Message {
        function: SharedFunction::RenderCache,
        bits: bits | 12 << 14,
        has_header,
        response: 0,
        payload,
        options: "1H EOT",
    }
}

#[test]
fn render_targets() {
    let registers: Vec<_> = payload(14).into_iter().map(|(_, words)| words).collect();
    // Eight pixels with all that is optional.
    let mut contents = payload(10);
    contents[0].1[0] = 1 << 11;
    contents[1].1[7] = 0x1_00c7;
    contents[3].1 = halves(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
    let launch = Launch { dispatch_mask: 0x7f, has_sample_mask: true, ..launch(&contents) };
    let (recorder, result) = render(4 << 8 | 1 << 12 | 6, true, 9).run(8, &launch);
    let mut header = [0; 16];
    header[..8].copy_from_slice(&contents[0].1);
    header[8..].copy_from_slice(&contents[1].1);
    let one = |index: usize| lanes(&[registers[index]]);
    let expected = RenderTargetWrite {
        surface: 6,
        lanes: 8,
        first_pixel: 0,
        active: 0x47,
        header: Some(header),
        source0_alpha: Some(one(2)),
        sample_mask: Some(std::array::from_fn(|lane| if lane < 8 { lane as u32 + 1 } else { 0 })),
        colour: [one(4), one(5), one(6), one(7)],
        second_colour: None,
        depth: Some(one(8)),
        is_last: true,
        end_of_thread: true,
    };
    assert_eq!(recorder.pixels, [expected]);
    assert!(result.has_ended);
    // 16 pixels from the 17th one on.
    let contents = payload(8);
    let (recorder, _) = render(1 << 11, false, 8).run(16, &super::launch(&contents));
    let pair = |index: usize| lanes(&registers[index..index + 2]);
    let expected = RenderTargetWrite {
        surface: 0,
        lanes: 16,
        first_pixel: 16,
        active: 0xffff,
        header: None,
        source0_alpha: None,
        sample_mask: None,
        colour: [pair(0), pair(2), pair(4), pair(6)],
        second_colour: None,
        depth: None,
        is_last: false,
        end_of_thread: true,
    };
    assert_eq!(recorder.pixels, [expected]);
    // Two colours of the second eight pixels, with the mask of the header.
    let mut contents = payload(10);
    contents[0].1 = [0; 8];
    contents[1].1 = words(&[0, 0, 0, 0, 0, 0, 0, 0x0f00]);
    let (recorder, _) = render(3 << 8, true, 10).run(8, &super::launch(&contents));
    let write = &recorder.pixels[0];
    assert_eq!((write.first_pixel, write.active), (8, 0x0f));
    assert_eq!(write.second_colour, Some([one(6), one(7), one(8), one(9)]));
}

#[test]
fn interpolation() {
    let interpolator = |bits, response, payload| Message {
        function: SharedFunction::PixelInterpolator,
        bits,
        has_header: false,
        response,
        payload,
        options: "1H",
    };
    let contents = payload(4);
    let (recorder, result) = interpolator(1 << 16 | 3 << 12, 4, 4).run(16, &launch(&contents));
    let pair = |index: usize| lanes(&[contents[index].1, contents[index + 1].1]);
    let place = InterpolationPlace::LaneOffset([pair(0), pair(2)]);
    let expected = Interpolation { lanes: 16, active: 0xffff, first_pixel: 0, is_linear: false, place };
    assert_eq!(recorder.interpolations, [expected]);
    let half = |number: u32, half: usize| std::array::from_fn(|lane| component(number)[8 * half + lane]);
    assert_eq!(responses(&result, 4), [half(0, 0), half(1, 0), half(0, 1), half(1, 1)]);
    let places = [
        (0x8f, InterpolationPlace::Offset([-1, -8])),
        (1 << 12 | 3 << 4, InterpolationPlace::Sample(3)),
        (2 << 12, InterpolationPlace::Centroid),
    ];
    for (bits, place) in places {
        let message = Message { options: "2Q", ..interpolator(bits | 1 << 14 | 1 << 11, 2, 1) };
        let (recorder, _) = message.run(8, &launch(&contents));
        let expected = Interpolation { lanes: 8, active: 0xff, first_pixel: 24, is_linear: true, place };
        assert_eq!(recorder.interpolations, [expected]);
    }
}

#[test]
fn barriers_and_ends() {
    let text = "send(8) null<1>UW g1<8,8,1>UD 0x2000004 gateway MsgDesc: { align1 WE_all 1Q };
                wait n0<1>UD { align1 WE_all 1N };
                mov(8) g10<1>D 5D { align1 1Q };
                send(8) null<1>UW g1<8,8,1>UD 0x2000010 thread_spawner MsgDesc: { align1 WE_all 1Q EOT };
                illegal;";
    let simulator = simulator(text, Chip::Gen7);
    let launch = launch(&payload(1));
    assert_eq!(simulator.run(&launch, &mut Recorder::default()), Err(Trap::Wait(1)));
    // The default surroundings complete barriers.
    assert!(simulator.run(&launch, &mut Nothing).unwrap().has_ended);
    let mut recorder = Recorder::default();
    let mut thread = simulator.thread(&launch);
    for _ in 0..2 {
        assert_eq!(thread.resume(&mut recorder), Ok(Status::Waiting));
    }
    thread.notify();
    assert_eq!(thread.step(&mut recorder), Ok(None));
    assert_eq!((thread.position(), thread.active(), thread.registers().word(1, 3)), (2, 0xffff, 3));
    assert_eq!(thread.resume(&mut recorder), Ok(Status::Ended));
    assert_eq!((recorder.barriers, recorder.ends.len()), (1, 1));
    let result = thread.result();
    assert_eq!((result.registers.words(10), result.has_ended, result.steps), (words(&[5]), true, 4));
}

#[test]
fn descriptors_in_registers() {
    let text = "mov(1) a0<1>UD 0x86a5002UD { align1 WE_all 1N };
                send(8) g20<1>UW g1<8,8,1>UD a0<0,1,0>UD 0x00000200 sampler MsgDesc: indirect { align1 1Q };";
    let mut recorder = Recorder::default();
    let descriptor = descriptor(1 << 17 | 5 << 12 | 2, false, 4, 4);
    let text = text.replace("0x86a5002", &format!("{descriptor:#x}"));
    simulator(&text, Chip::Gen7).run(&launch(&payload(4)), &mut recorder).unwrap();
    let sample = &recorder.samples[0];
    assert_eq!((sample.op, sample.surface, sample.parameters.len()), (SampleOp::BiasCompare, 2, 4));
}

#[test]
fn unknown_messages() {
    let message = |function, bits, has_header, payload| Message {
        function,
        bits,
        has_header,
        response: 0,
        payload,
        options: "1Q",
    };
    let cases = [
        message(SharedFunction::Sampler, 3 << 17, false, 4),
        message(SharedFunction::Sampler, 1 << 17 | 12 << 12, false, 4),
        message(SharedFunction::Urb, 5, true, 1),
        message(SharedFunction::Urb, 0, false, 1),
        message(SharedFunction::RenderCache, 12 << 14 | 1 << 8, false, 4),
        message(SharedFunction::RenderCache, 12 << 14 | 4 << 8, false, 3),
        message(SharedFunction::RenderCache, 12 << 14 | 4 << 8, false, 6),
        message(SharedFunction::RenderCache, 3 << 14, false, 6),
        message(SharedFunction::Gateway, 0, false, 1),
        message(SharedFunction::ThreadSpawner, 0, false, 1),
        message(SharedFunction::Null, 0, false, 1),
        message(SharedFunction::DataCache1, 1 << 14, false, 1),
        message(SharedFunction::DataCache, 9 << 14, false, 1),
        message(SharedFunction::ConstantCache, 4 << 14, true, 1),
        message(SharedFunction::PixelInterpolator, 3 << 12, false, 1),
    ];
    for message in cases {
        let text = message.text(8);
        let bits = descriptor(message.bits, message.has_header, message.response, message.payload);
        let result = simulator(&text, Chip::Gen7).run(&launch(&[]), &mut Nothing);
        assert_eq!(result.err(), Some(Trap::Message(0, message.function, bits)), "{text}");
    }
    let text = "send(8) g126<1>UW g1<8,8,1>UD 0x8420000 sampler MsgDesc: { align1 1Q };";
    assert_eq!(super::trap(text, Chip::Gen7), Trap::Register(0, 4159));
    let text = "send(8) null<1>UW g126<8,8,1>UD 0x8020000 sampler MsgDesc: { align1 1Q };";
    assert_eq!(super::trap(text, Chip::Gen7), Trap::Register(0, 4159));
}

/// The index of each parameter, from 1: coordinates, reference, level, gradients, offsets, sample, control surface.
type Places = ([u32; 4], u32, u32, [u32; 6], [u32; 2], u32, u32);

#[test]
fn arguments() {
    const NONE: [u32; 6] = [0; 6];
    let scalar: [(SampleOp, Places); 19] = [
        (SampleOp::Sample, ([1, 2, 3, 4], 0, 0, NONE, [0, 0], 0, 0)),
        (SampleOp::Bias, ([2, 3, 4, 5], 0, 1, NONE, [0, 0], 0, 0)),
        (SampleOp::Level, ([2, 3, 4, 5], 0, 1, NONE, [0, 0], 0, 0)),
        (SampleOp::Compare, ([2, 3, 4, 5], 1, 0, NONE, [0, 0], 0, 0)),
        (SampleOp::Gradient, ([1, 4, 7, 10], 0, 0, [2, 3, 5, 6, 8, 9], [0, 0], 0, 0)),
        (SampleOp::BiasCompare, ([3, 4, 5, 6], 1, 2, NONE, [0, 0], 0, 0)),
        (SampleOp::LevelCompare, ([3, 4, 5, 6], 1, 2, NONE, [0, 0], 0, 0)),
        (SampleOp::Load, ([1, 3, 4, 0], 0, 2, NONE, [0, 0], 0, 0)),
        (SampleOp::Gather, ([1, 2, 3, 4], 0, 0, NONE, [0, 0], 0, 0)),
        (SampleOp::Lod, ([1, 2, 3, 4], 0, 0, NONE, [0, 0], 0, 0)),
        (SampleOp::ResourceInfo, ([0; 4], 0, 1, NONE, [0, 0], 0, 0)),
        (SampleOp::SampleInfo, ([0; 4], 0, 0, NONE, [0, 0], 0, 0)),
        (SampleOp::GatherCompare, ([2, 3, 4, 5], 1, 0, NONE, [0, 0], 0, 0)),
        (SampleOp::GatherOffset, ([1, 2, 5, 6], 0, 0, NONE, [3, 4], 0, 0)),
        (SampleOp::GatherOffsetCompare, ([2, 3, 6, 7], 1, 0, NONE, [4, 5], 0, 0)),
        (SampleOp::GradientCompare, ([2, 5, 8, 11], 1, 0, [3, 4, 6, 7, 9, 10], [0, 0], 0, 0)),
        (SampleOp::LoadMcs, ([1, 2, 3, 0], 0, 4, NONE, [0, 0], 0, 0)),
        (SampleOp::LoadMultisample, ([3, 4, 5, 0], 0, 6, NONE, [0, 0], 1, 2)),
        (SampleOp::LoadUncompressed, ([2, 3, 4, 0], 0, 5, NONE, [0, 0], 1, 0)),
    ];
    let vectors: [(SampleOp, Places); 9] = [
        (SampleOp::Level, ([1, 2, 3, 4], 0, 5, NONE, [0, 0], 0, 0)),
        (SampleOp::LevelCompare, ([1, 2, 3, 4], 5, 6, NONE, [0, 0], 0, 0)),
        (SampleOp::GradientCompare, ([1, 2, 3, 4], 11, 0, [5, 6, 7, 8, 9, 10], [0, 0], 0, 0)),
        (SampleOp::Load, ([1, 2, 3, 0], 0, 4, NONE, [0, 0], 0, 0)),
        (SampleOp::ResourceInfo, ([0; 4], 0, 1, NONE, [0, 0], 0, 0)),
        (SampleOp::GatherOffset, ([1, 2, 3, 0], 0, 0, NONE, [5, 6], 0, 0)),
        (SampleOp::GatherOffsetCompare, ([1, 2, 3, 0], 4, 0, NONE, [5, 6], 0, 0)),
        (SampleOp::LoadMultisample, ([1, 2, 3, 0], 0, 4, NONE, [0, 0], 5, 6)),
        (SampleOp::LoadUncompressed, ([1, 2, 3, 0], 0, 4, NONE, [0, 0], 5, 0)),
    ];
    let ops: Vec<_> = scalar.iter().map(|(op, _)| *op).collect();
    assert_eq!(ops, SampleOp::ALL);
    let scalar = scalar.into_iter().map(|(op, expected)| (Simd::X8, op, expected));
    for (simd, op, expected) in scalar.chain(vectors.map(|(op, expected)| (Simd::X4x2, op, expected))) {
        let sample = Sample {
            op,
            simd,
            surface: 0,
            sampler: 0,
            header: None,
            offset: [0; 3],
            gather_component: 0,
            parameters: (1..=12).map(|index| [index; 16]).collect(),
            active: 0xff,
            first_channel: 0,
        };
        let arguments = sample.arguments();
        let lane = |lanes: Lanes| lanes[3];
        let gradients: Vec<_> = arguments.gradients.as_flattened().iter().map(|lanes| lanes[3]).collect();
        let found = (
            arguments.coordinates.map(lane),
            lane(arguments.reference),
            lane(arguments.level),
            gradients.try_into().unwrap(),
            arguments.offset.map(lane),
            lane(arguments.sample),
            lane(arguments.mcs),
        );
        assert_eq!(found, expected, "{op:?} {simd:?}");
    }
}
