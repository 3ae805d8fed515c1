//! `tgsic proxy` between a made-up client and a made-up host.

mod common;

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{FRAG, Folder};
use serde_json::Value;
use tgsi_driver_virgl::commands::command_at;
use tgsi_driver_virgl::shader::{Head, Packet, Stage};
use tgsi_driver_virgl::vtest::{submit_header, word};

const PATIENCE: Duration = Duration::from_secs(30);

/// The proxy, started.
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

    /// What the proxy leaves when it has ended: status, standard output and error.
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

/// What arrives for a shader.
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

fn head(stage: Stage) -> Head {
    Head { handle: 4, stage, tokens: 300, extra: 0, stream_outputs: Vec::new() }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn shaders_are_translated_on_their_way() {
    let proxy = Running::new(&["--stats", "--verify", "--record", "kept"]);
    let (mut client, mut host) = proxy.connect();
    let fragment = head(Stage::Fragment);
    for _ in 0..3 {
        let text = through(&mut client, &mut host, &fragment, FRAG);
        assert!(text.starts_with("FRAG\n") && text.contains("ADD OUT[0], IN[0], IN[0]"), "{text}");
    }
    // What is no shader goes on as it is.
    assert_eq!(through(&mut client, &mut host, &fragment, "FRAG\nNONSENSE\n"), "FRAG\nNONSENSE\n");
    // So does what is for another stage.
    assert_eq!(through(&mut client, &mut host, &head(Stage::Vertex), FRAG), FRAG);
    drop((client, host));
    proxy.signal("-TERM");
    let (folder, status, stdout, stderr) = proxy.wait();
    assert_eq!(status, 0);
    let report = json(&stdout);
    for (key, value) in [
        ("clients", 1),
        ("shaders", 5),
        ("distinct", 3),
        ("changed", 3),
        ("unchanged", 2),
        ("failed", 2),
        ("different", 0),
        ("longer", 0),
        ("instructions_before", 9),
        ("instructions_after", 6),
        ("unread", 0),
    ] {
        assert_eq!(report[key], value, "{key}");
    }
    assert!(stderr.contains("shaders        5, 3 distinct\n"), "{stderr}");
    assert!(stderr.contains("the text is for stage FRAG, the object for VERT"), "{stderr}");
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
    assert_eq!(through(&mut client, &mut host, &head(Stage::Fragment), FRAG), FRAG);
    drop((client, host));
    let (folder, status, stdout, _) = proxy.wait();
    assert_eq!((status, stdout.as_str()), (0, ""));
    let report = json(std::str::from_utf8(&folder.read("totals.json")).expect("text"));
    assert_eq!((&report["shaders"], &report["instructions_after"]), (&Value::from(1), &Value::from(2)));
}

#[test]
fn streamed_outputs_stay() {
    let proxy = Running::new(&["--once"]);
    let (mut client, mut host) = proxy.connect();
    let streams = Head { extra: 1, stream_outputs: (1..=24).collect(), ..head(Stage::Vertex) };
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
        through(&mut client, &mut host, &head(Stage::Fragment), FRAG);
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
    assert_eq!(output.stderr, "tgsic: cannot listen at listen: there is a file that is no socket\n");
    assert_eq!(folder.read("listen"), b"a file");
}
