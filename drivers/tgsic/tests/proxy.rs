//! Tests `tgsic proxy` between a simulated client and a simulated host.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{FRAG, Folder};
use serde_json::Value;
use tgsi_virgl::commands::command_at;
use tgsi_virgl::shader::{Head, Packet, WireStage};
use tgsi_virgl::vtest::{submit_header, word};

const PATIENCE: Duration = Duration::from_secs(30);

/// A running proxy.
struct Running {
    folder: Folder,
    host: UnixListener,
    child: Child,
}

impl Running {
    fn new(options: &[&str]) -> Running {
        let folder = Folder::new();
        let host = UnixListener::bind(folder.path("host")).expect("bound");
        let mut command = folder.command(&["proxy", "--listen", "listen", "--connect", "host"]);
        command.args(options).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("started");
        let started = Instant::now();
        while !folder.path("listen").exists() {
            assert!(started.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(2));
        }
        Running { folder, host, child }
    }

    fn connect(&self) -> (UnixStream, UnixStream) {
        let client = UnixStream::connect(self.folder.path("listen")).expect("connected");
        let (host, _) = self.host.accept().expect("connected");
        for socket in [&client, &host] {
            socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        }
        (client, host)
    }

    /// Waits for the proxy to end and returns its status, standard output and error.
    fn wait(mut self) -> (Folder, i32, String, String) {
        let started = Instant::now();
        while self.child.try_wait().expect("a child").is_none() {
            assert!(started.elapsed() < PATIENCE, "the proxy does not end");
            std::thread::sleep(Duration::from_millis(2));
        }
        let output = self.child.wait_with_output().expect("output");
        assert!(!self.folder.path("listen").exists());
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (self.folder, output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
    }

    fn signal(&self, name: &str) {
        let killed = Command::new("kill").args([name, &self.child.id().to_string()]).status().expect("kill");
        assert!(killed.success());
    }
}

/// Returns the bytes that the host receives for a shader.
fn through(client: &mut UnixStream, host: &mut UnixStream, head: &Head, text: &str) -> String {
    let mut commands = Vec::new();
    head.put(&mut commands, text.as_bytes());
    client.write_all(&submit_header(commands.len())).expect("sent");
    client.write_all(&commands).expect("sent");
    let mut header = [0; 8];
    host.read_exact(&mut header).expect("a message");
    let mut body = vec![0; word(&header, 0) as usize * 4];
    host.read_exact(&mut body).expect("commands");
    let command = command_at(&body, 0).expect("valid").expect("a command");
    let packet = Packet::decode(&command).expect("a shader");
    assert_eq!((packet.handle, packet.stage, packet.extra), (head.handle, head.stage, head.extra));
    assert_eq!(packet.stream_outputs, head.stream_outputs);
    let text = packet.text.split(|&b| b == 0).next().unwrap_or_default();
    String::from_utf8(text.to_vec()).expect("text")
}

fn head(stage: WireStage) -> Head {
    Head { handle: 4, stage, tokens: 300, extra: 0, stream_outputs: Vec::new() }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn shaders_are_translated_on_their_way() {
    let proxy = Running::new(&["--stats", "--verify", "--record", "kept"]);
    let (mut client, mut host) = proxy.connect();
    let fragment = head(WireStage::Fragment);
    for _ in 0..3 {
        let text = through(&mut client, &mut host, &fragment, FRAG);
        assert!(text.starts_with("FRAG\n") && text.contains("ADD OUT[0], IN[0], IN[0]"), "{text}");
    }
    // A text that is not a shader is passed on unchanged,
    assert_eq!(through(&mut client, &mut host, &fragment, "FRAG\nNONSENSE\n"), "FRAG\nNONSENSE\n");
    // as is a shader for another stage.
    assert_eq!(through(&mut client, &mut host, &head(WireStage::Vertex), FRAG), FRAG);
    drop((client, host));
    proxy.signal("-TERM");
    let (folder, status, stdout, stderr) = proxy.wait();
    assert_eq!(status, 0);
    let report = json(&stdout);
    for (key, value) in [
        ("clients", 1),
        ("shaders", 5),
        ("distinct", 3),
        ("shorter", 3),
        ("equal", 0),
        ("longer", 0),
        ("failed", 2),
        ("different", 0),
        ("instructions_before", 9),
        ("instructions_after", 6),
        ("unread", 0),
    ] {
        assert_eq!(report[key], value, "{key}");
    }
    assert_eq!(report["microseconds_a_megabyte"], Value::Null, "too little traffic");
    assert!(!stderr.contains("a megabyte"), "{stderr}");
    assert!(stderr.contains("shaders        5, 3 distinct\n  translated   3 shorter, 0 equal, 0 longer\n"), "{stderr}");
    let wrong = stderr.lines().find(|line| line.ends_with("the text is for stage FRAG, the object for VERT"));
    let (head, _) = wrong.and_then(|line| line.split_once(']')).expect("a line about it");
    // A line begins with its time, its level, and the client.
    assert!(head.starts_with("[20") && head.contains("Z WARN client 1"), "{stderr}");
    let names = folder.list("kept");
    let endings: Vec<&str> = names.iter().filter_map(|name| name.split_once('.')).map(|(_, ending)| ending).collect();
    assert_eq!(endings, ["reason.txt", "tgsi", "out.tgsi", "tgsi", "reason.txt", "tgsi"].as_slice(), "{names:?}");
    for name in names.iter().filter(|name| name.ends_with("reason.txt")) {
        assert!(folder.read(&format!("kept/{name}")).starts_with(b"failed: "));
    }
}

#[test]
fn shaders_can_be_looked_at_alone() {
    let proxy = Running::new(&["--keep", "--once", "--stats=totals.json"]);
    let (mut client, mut host) = proxy.connect();
    assert_eq!(through(&mut client, &mut host, &head(WireStage::Fragment), FRAG), FRAG);
    drop((client, host));
    let (folder, status, stdout, _) = proxy.wait();
    assert_eq!((status, stdout.as_str()), (0, ""));
    let report = json(std::str::from_utf8(&folder.read("totals.json")).expect("text"));
    assert_eq!((&report["shaders"], &report["instructions_after"]), (&Value::from(1), &Value::from(2)));
}

#[test]
fn totals_while_it_runs() {
    let proxy = Running::new(&["--stats=totals.json"]);
    // The file is written at the start, so that an unwritable path is reported.
    let totals = |folder: &Folder| json(std::str::from_utf8(&folder.read("totals.json")).expect("text"));
    assert_eq!(totals(&proxy.folder)["shaders"], 0);
    let (mut client, mut host) = proxy.connect();
    through(&mut client, &mut host, &head(WireStage::Fragment), FRAG);
    let started = Instant::now();
    while totals(&proxy.folder)["messages"] != 1 {
        assert!(started.elapsed() < PATIENCE, "no totals at SIGUSR1");
        proxy.signal("-USR1");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(totals(&proxy.folder)["shorter"], 1);
    drop((client, host));
    proxy.signal("-TERM");
    let (_, status, stdout, stderr) = proxy.wait();
    assert_eq!((status, stdout.as_str()), (0, ""));
    assert!(stderr.matches("shaders        1, 1 distinct").count() >= 2, "{stderr}");
}

#[test]
fn totals_every_so_often() {
    let proxy = Running::new(&["--stats-every", "1"]);
    std::thread::sleep(Duration::from_millis(1500));
    proxy.signal("-TERM");
    let (_, status, stdout, stderr) = proxy.wait();
    assert_eq!((status, stdout.as_str()), (0, ""));
    assert!(stderr.matches("shaders        0, 0 distinct").count() >= 2, "{stderr}");
}

#[test]
fn what_makes_no_sense_is_an_error_at_once() {
    let folder = Folder::with(&[("folder/file", "")]);
    std::os::unix::fs::symlink("socket", folder.path("link")).expect("a link");
    for host in ["socket", "./socket", "folder/../socket", "link"] {
        let output = folder.run(&["proxy", "--listen", "socket", "--connect", host]);
        let expected = format!("tgsic: {host} is where the proxy itself listens, not its host\n");
        assert_eq!((output.status, output.stderr), (2, expected));
    }
    let output = folder.run(&["proxy", "--listen", "socket", "--connect", "host", "--stats=folder/nowhere/stats"]);
    assert_eq!(output.status, 2);
    assert!(output.stderr.starts_with("tgsic: cannot write folder/nowhere/stats: "), "{}", output.stderr);
    let output = folder.run(&["proxy", "--listen", "socket", "--connect", "host", "--dialect", "mesa"]);
    assert_eq!(output.status, 2);
    assert!(output.stderr.contains("virgl hosts read their own dialect"), "{}", output.stderr);
    assert_eq!(folder.list("."), ["folder", "link"]);
}

/// Returns the resident memory of a process in kilobytes.
fn resident(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn memory_does_not_follow_the_number_of_clients() {
    const CLIENTS: usize = 60;
    let proxy = Running::new(&[]);
    let start = resident(proxy.child.id());
    let mut connected: Vec<_> = (0..CLIENTS).map(|_| proxy.connect()).collect();
    for (number, (client, host)) in connected.iter_mut().enumerate() {
        // Long enough to take some memory during compilation, and different for each client.
        let line = |i: usize| format!("MAD TEMP[0].x, TEMP[0].xxxx, IN[0].yyyy, CONST[{}].xxxx\n", (i * number) % 256);
        let code: String = (0..400).map(line).collect();
        let declarations =
            "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL CONST[0..255]\nDCL TEMP[0]\n";
        let text = format!("{declarations}MOV TEMP[0], IN[0]\n{code}MOV OUT[0], TEMP[0].xxxx\nEND\n");
        through(client, host, &head(WireStage::Fragment), &text);
    }
    let peak = resident(proxy.child.id());
    drop(connected);
    let each = peak.saturating_sub(start) / CLIENTS as u64;
    assert!(each < 1024, "{each} KB for each client, {start} KB before them, {peak} KB with them");
    proxy.signal("-TERM");
    assert_eq!(proxy.wait().1, 0);
}

#[test]
fn streamed_outputs_stay() {
    let proxy = Running::new(&["--once"]);
    let (mut client, mut host) = proxy.connect();
    let streams = Head { extra: 1, stream_outputs: (1..=24).collect(), ..head(WireStage::Vertex) };
    let text = "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL OUT[1], GENERIC[3]\nDCL TEMP[0]\n\
                MOV TEMP[0], IN[0]\nMOV OUT[1], TEMP[0]\nMOV OUT[0], TEMP[0]\nEND\n";
    let after = through(&mut client, &mut host, &streams, text);
    assert!(after.contains("DCL OUT[0], POSITION\nDCL OUT[1], GENERIC[3]\n"), "{after}");
    assert!(!after.contains("TEMP"), "{after}");
    drop((client, host));
    assert_eq!(proxy.wait().1, 0);
}

#[test]
fn signals_end_it_with_clients_connected() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let proxy = Running::new(&[]);
        let (mut client, mut host) = proxy.connect();
        through(&mut client, &mut host, &head(WireStage::Fragment), FRAG);
        proxy.signal(signal);
        let (_, status, stdout, _) = proxy.wait();
        assert_eq!((status, stdout.as_str()), (0, ""));
        assert_eq!(client.read(&mut [0]).expect("the end"), 0);
    }
}

#[test]
fn killed_it_leaves_no_file() {
    let mut proxy = Running::new(&[]);
    let (mut client, host) = proxy.connect();
    proxy.signal("-KILL");
    assert!(!proxy.child.wait().expect("a child").success());
    assert_eq!(client.read(&mut [0]).expect("the end"), 0);
    let started = Instant::now();
    while proxy.folder.list(".") != ["host"] {
        assert!(started.elapsed() < PATIENCE, "the file stays");
        std::thread::sleep(Duration::from_millis(2));
    }
    drop(host);
}

#[test]
fn a_place_that_is_taken_is_an_error() {
    let folder = Folder::with(&[("listen", "a file")]);
    let output = folder.run(&["proxy", "--listen", "listen", "--connect", "host"]);
    assert_eq!((output.status, output.text()), (2, ""));
    assert_eq!(output.stderr, "tgsic: cannot listen at listen: the file exists and is not a socket\n");
    assert_eq!(folder.read("listen"), b"a file");
}
