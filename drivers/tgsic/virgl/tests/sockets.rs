//! Tests the proxy between simulated clients and a simulated host: over real sockets, with descriptors, and with either
//! side closing at any time.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use rustix::cmsg_space;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use tgsi_virgl::commands::{header, put_words};
use tgsi_virgl::shader::{Filtered, Head, ShaderObject, WireStage};
use tgsi_virgl::traffic::Traffic;
use tgsi_virgl::{Proxy, ProxyError};

/// Longer than all operations here, and short enough to wait for if something hangs.
const PATIENCE: Duration = Duration::from_secs(20);

fn filter(shader: &ShaderObject<'_>) -> Filtered {
    if shader.text.starts_with(b"keep") {
        return Filtered::Unchanged;
    }
    if shader.text.starts_with(b"panic") {
        std::panic::resume_unwind(Box::new("a filter that panics"));
    }
    Filtered::Changed([b"new ", shader.text].concat())
}

/// A folder with a proxy that serves a number of clients, or until it is stopped.
struct Setup {
    folder: tempfile::TempDir,
    stop: UnixStream,
    ended: mpsc::Receiver<(Result<(), ProxyError>, Traffic)>,
}

impl Setup {
    fn new(clients: Option<u64>) -> Setup {
        let folder = tempfile::tempdir().expect("a folder");
        let proxy = Proxy::bind(&folder.path().join("listen"), &folder.path().join("host")).expect("bound");
        let (stop, stopped) = UnixStream::pair().expect("a pair");
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || {
            let result = proxy.run(&filter, &stopped, clients);
            let _ = sender.send((result, proxy.into_traffic()));
        });
        Setup { folder, stop, ended }
    }

    fn host_path(&self) -> PathBuf {
        self.folder.path().join("host")
    }

    fn host(&self) -> UnixListener {
        UnixListener::bind(self.host_path()).expect("bound")
    }

    fn client(&self) -> UnixStream {
        patient(UnixStream::connect(self.folder.path().join("listen")).expect("connected"))
    }

    /// Waits until the proxy has ended with all its threads, and its file is removed.
    #[track_caller]
    fn end(self) -> Traffic {
        let (result, traffic) = self.ended.recv_timeout(PATIENCE).expect("the proxy ends");
        result.expect("nothing went wrong");
        assert!(!self.folder.path().join("listen").exists());
        traffic
    }

    #[track_caller]
    fn stop(mut self) -> Traffic {
        self.stop.write_all(&[0]).expect("the proxy waits");
        self.end()
    }
}

/// Sets timeouts on a socket.
fn patient(socket: UnixStream) -> UnixStream {
    socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    socket.set_write_timeout(Some(PATIENCE)).expect("a timeout");
    socket
}

fn accept(host: &UnixListener) -> UnixStream {
    patient(host.accept().expect("a client").0)
}

#[track_caller]
fn expect_bytes(socket: &mut UnixStream, expected: &[u8]) {
    let mut found = vec![0; expected.len()];
    socket.read_exact(&mut found).expect("bytes");
    assert_eq!(found, expected);
}

/// Expects the end of the stream, by a close or a reset.
#[track_caller]
fn expect_end(socket: &mut UnixStream) {
    let mut rest = Vec::new();
    match socket.read_to_end(&mut rest) {
        Ok(_) => assert_eq!(rest, b""),
        Err(error) => assert_eq!(error.kind(), io::ErrorKind::ConnectionReset),
    }
}

fn message(length: u32, id: u32, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_words(&mut out, &[length, id]);
    out.extend_from_slice(body);
    out
}

/// Returns a command buffer with a shader.
fn submit(text: &[u8]) -> Vec<u8> {
    let mut commands = Vec::new();
    put_words(&mut commands, &[header(8, 0, 1), 5]);
    let head = Head { handle: 3, stage: WireStage::Fragment, tokens: 9000, extra: 0, stream_outputs: Vec::new() };
    head.put(&mut commands, text);
    message((commands.len() / 4) as u32, 6, &commands)
}

/// Returns the bytes that one client sends, and the expected bytes at the host.
fn session(name: &str) -> (Vec<u8>, Vec<u8>) {
    let mut before = message(name.len() as u32 + 1, 8, format!("{name}\0").as_bytes());
    for (id, words) in [(10, 0), (7, 2), (11, 1), (9, 0), (1, 0), (2, 10), (3, 1), (4, 11), (12, 11), (13, 10)] {
        before.extend(message(words, id, &vec![id as u8; 4 * words as usize]));
    }
    before.extend(message(10 + 500, 14, &[14; 40]));
    for (id, words) in [(15, 1), (16, 2), (17, 1), (18, 6), (19, 2), (20, 1), (21, 1), (22, 3), (23, 5)] {
        before.extend(message(words, id, &vec![id as u8; 4 * words as usize]));
    }
    let mut after = before.clone();
    for round in 0..20u32 {
        let text = format!("text {round} of {name}");
        before.extend(submit(text.as_bytes()));
        after.extend(submit(format!("new {text}").as_bytes()));
        let mut transfer = vec![5; 40];
        put_words(&mut transfer, &[30_001]);
        transfer.resize(transfer.len() + 30_001, round as u8);
        for out in [&mut before, &mut after] {
            out.extend(submit(b"keep this"));
            out.extend(message(11 + 7501, 5, &transfer));
        }
    }
    (before, after)
}

#[test]
fn all_kinds_of_messages() {
    let setup = Setup::new(Some(1));
    let host = setup.host();
    let mut client = setup.client();
    let mut server = accept(&host);
    let (before, after) = session("piglit");
    let length = before.len() as u64;
    let mut writer = client.try_clone().expect("a copy");
    let sender = thread::spawn(move || writer.write_all(&before));
    expect_bytes(&mut server, &after);
    sender.join().expect("no panic").expect("all is sent");
    let reply: Vec<u8> = (0..1_000_000u32).map(|i| (i / 7) as u8).collect();
    let replied = reply.clone();
    let answer = thread::spawn(move || server.write_all(&replied).map(|()| server));
    expect_bytes(&mut client, &reply);
    let mut server = answer.join().expect("no panic").expect("all is sent");
    drop(client);
    expect_end(&mut server);
    drop(server);
    let traffic = setup.end();
    assert_eq!((traffic.clients.get(), traffic.unread.get(), traffic.unconnected.get()), (1, 0, 0));
    assert_eq!((traffic.to_host.get(), traffic.to_client.get()), (length, 1_000_000));
    assert_eq!((traffic.shaders.get(), traffic.rewritten.get(), traffic.submits.get()), (40, 20, 40));
}

fn send_descriptors(socket: &UnixStream, bytes: &[u8], files: &[&File]) {
    let descriptors: Vec<_> = files.iter().map(|file| file.as_fd()).collect();
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(3))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)));
    let sent = sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::empty()).expect("sent");
    assert_eq!(sent, bytes.len());
}

fn receive_byte(socket: &UnixStream) -> (u8, Vec<OwnedFd>) {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(3))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, flags).expect("received");
    assert_eq!(received.bytes, 1);
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    (byte[0], descriptors)
}

fn file_with(content: &str) -> File {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(content.as_bytes()).expect("written");
    file
}

#[track_caller]
fn expect_file(descriptor: OwnedFd, content: &str) {
    let mut file = File::from(descriptor);
    file.rewind().expect("a file");
    assert_eq!(io::read_to_string(file).expect("read"), content);
}

#[test]
fn descriptors_arrive_with_their_bytes() {
    let setup = Setup::new(Some(1));
    let host = setup.host();
    let mut client = setup.client();
    let mut server = accept(&host);
    for round in 0..50 {
        // The client receives the bytes before with a plain read, which would lose a descriptor.
        server.write_all(b"plain").expect("sent");
        send_descriptors(&server, &[round], &[&file_with(&format!("file {round}"))]);
        if round % 2 == 0 {
            server.write_all(b"more").expect("sent");
        }
        send_descriptors(&server, &[round + 100], &[&file_with("a"), &file_with("b"), &file_with("c")]);
        server.write_all(b"end").expect("sent");
        if round % 3 == 0 {
            // Gives all of it time to arrive.
            thread::sleep(Duration::from_millis(2));
        }
        expect_bytes(&mut client, b"plain");
        let (byte, mut descriptors) = receive_byte(&client);
        assert_eq!((byte, descriptors.len()), (round, 1));
        expect_file(descriptors.remove(0), &format!("file {round}"));
        if round % 2 == 0 {
            expect_bytes(&mut client, b"more");
        }
        let (byte, descriptors) = receive_byte(&client);
        assert_eq!((byte, descriptors.len()), (round + 100, 3));
        for (descriptor, content) in descriptors.into_iter().zip(["a", "b", "c"]) {
            expect_file(descriptor, content);
        }
        expect_bytes(&mut client, b"end");
    }
    drop((client, server));
    assert_eq!(setup.end().descriptors.get(), 200);
}

#[test]
fn descriptors_of_clients_arrive_too() {
    let setup = Setup::new(Some(1));
    let host = setup.host();
    let mut client = setup.client();
    let mut server = accept(&host);
    client.write_all(&message(0, 10, &[])).expect("sent");
    send_descriptors(&client, b"x", &[&file_with("from the client")]);
    client.write_all(&submit(b"text")).expect("sent");
    expect_bytes(&mut server, &message(0, 10, &[]));
    let (byte, mut descriptors) = receive_byte(&server);
    assert_eq!((byte, descriptors.len()), (b'x', 1));
    expect_file(descriptors.remove(0), "from the client");
    expect_bytes(&mut server, &submit(b"new text"));
    drop((client, server));
    setup.end();
}

#[test]
fn neither_side_waits_for_the_other() {
    // Far more than sockets hold, in both directions, before the test reads.
    const BYTES: usize = 8 << 20;
    let setup = Setup::new(Some(1));
    let host = setup.host();
    let mut client = setup.client();
    let mut server = accept(&host);
    let mut transfer = vec![5; 40];
    put_words(&mut transfer, &[BYTES as u32]);
    transfer.resize(transfer.len() + BYTES, 6);
    let said = message(11 + (BYTES / 4) as u32, 5, &transfer);
    let answer = vec![7; BYTES];
    thread::scope(|scope| {
        for (socket, bytes) in [(&client, &said), (&server, &answer)] {
            scope.spawn(move || {
                {
                    let mut socket = socket;
                    socket.write_all(bytes)
                }
                .expect("all is sent")
            });
        }
        thread::sleep(Duration::from_millis(50));
        // Reads from the client first: the host's thread continues while the answer is read.
        expect_bytes(&mut client.try_clone().expect("a copy"), &answer);
        expect_bytes(&mut server.try_clone().expect("a copy"), &said);
    });
    client.write_all(&submit(b"text")).expect("sent");
    expect_bytes(&mut server, &submit(b"new text"));
    drop((client, server));
    setup.end();
}

#[test]
fn descriptors_wait_for_their_turn() {
    let setup = Setup::new(Some(1));
    let host = setup.host();
    let mut client = setup.client();
    let mut server = accept(&host);
    let sender = thread::spawn(move || {
        for round in 0..20 {
            // More than the client's socket holds while it is not read.
            server.write_all(&[1; 300_000]).expect("sent");
            send_descriptors(&server, &[round], &[&file_with(&format!("file {round}"))]);
        }
        server
    });
    for round in 0..20 {
        thread::sleep(Duration::from_millis(5));
        expect_bytes(&mut client, &[1; 300_000]);
        let (byte, mut descriptors) = receive_byte(&client);
        assert_eq!((byte, descriptors.len()), (round, 1));
        expect_file(descriptors.remove(0), &format!("file {round}"));
    }
    drop((client, sender.join().expect("no panic")));
    assert_eq!(setup.end().descriptors.get(), 20);
}

#[test]
fn answers_to_waits_arrive_as_a_whole() {
    let setup = Setup::new(Some(1));
    let host = setup.host();
    let mut client = setup.client();
    let mut server = accept(&host);
    let answer = message(1, 7, &[4, 3, 2, 1]);
    let (header, body) = answer.split_at(8);
    // The client waits for each answer. Its body comes soon after the header; if a busy machine delays the host, the
    // proxy does not wait for it.
    let whole = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let read = |_: &i32| {
                // At most one answer: a busy machine may have sent the next one.
                let mut received = vec![0; answer.len()];
                let bytes = client.read(&mut received).expect("bytes");
                assert_eq!(received[..bytes], answer[..bytes]);
                expect_bytes(&mut client, &answer[bytes..]);
                bytes == answer.len()
            };
            (0..40).filter(read).count()
        });
        for _ in 0..40 {
            thread::sleep(Duration::from_millis(1));
            server.write_all(header).expect("sent");
            thread::sleep(Duration::from_micros(500));
            server.write_all(body).expect("sent");
        }
        reader.join().expect("no panic")
    });
    assert!(whole >= 20, "{whole} of 40");
    // The header is sent without a body after a timeout, whatever follows: descriptors, or the end.
    server.write_all(header).expect("sent");
    expect_bytes(&mut client, header);
    server.write_all(header).expect("sent");
    send_descriptors(&server, b"body", &[&file_with("file")]);
    expect_bytes(&mut client, header);
    expect_bytes(&mut client, b"bod");
    let (byte, mut descriptors) = receive_byte(&client);
    assert_eq!((byte, descriptors.len()), (b'y', 1));
    expect_file(descriptors.remove(0), "file");
    server.write_all(header).expect("sent");
    drop(server);
    expect_bytes(&mut client, header);
    expect_end(&mut client);
    drop(client);
    setup.end();
}

#[test]
fn its_own_place_is_not_the_host() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("socket");
    std::os::unix::fs::symlink(&place, folder.path().join("link")).expect("a link");
    for host in ["socket", "./socket", "link"] {
        let error = Proxy::bind(&place, &folder.path().join(host)).expect_err("a circle");
        assert!(matches!(error, ProxyError::Itself { .. }), "{error}");
        assert!(!place.exists());
    }
    Proxy::bind(&place, &folder.path().join("other")).expect("another place");
}

#[test]
fn the_client_goes_away() {
    let (before, _) = session("short-lived");
    for cut in [0, 3, 100, 700, before.len() / 2, before.len()] {
        let setup = Setup::new(Some(1));
        let host = setup.host();
        let mut client = setup.client();
        let mut server = accept(&host);
        let reader = thread::spawn(move || io::copy(&mut server, &mut io::sink()));
        client.write_all(&before[..cut]).expect("sent");
        drop(client);
        reader.join().expect("no panic").expect("the end is seen");
        setup.end();
    }
}

#[test]
fn the_client_goes_away_while_the_host_talks() {
    let setup = Setup::new(Some(1));
    let host = setup.host();
    let client = setup.client();
    let mut server = accept(&host);
    let writer = thread::spawn(move || while server.write_all(&[1; 10_000]).is_ok() {});
    thread::sleep(Duration::from_millis(20));
    drop(client);
    writer.join().expect("the host sees the disconnect");
    setup.end();
}

#[test]
fn the_host_goes_away() {
    let (before, _) = session("orphan");
    for cut in [0, 3, 100, 700, 40_000] {
        let setup = Setup::new(Some(1));
        let host = setup.host();
        let mut client = setup.client();
        let mut server = accept(&host);
        server.write_all(b"last words").expect("sent");
        let mut writer = client.try_clone().expect("a copy");
        let bytes = before.clone();
        // The client writes until an error.
        let sender = thread::spawn(move || while writer.write_all(&bytes).is_ok() {});
        let mut some = vec![0; cut];
        server.read_exact(&mut some).expect("bytes");
        drop(server);
        expect_bytes(&mut client, b"last words");
        expect_end(&mut client);
        sender.join().expect("the client sees the disconnect");
        setup.end();
    }
}

#[test]
fn a_client_that_has_said_all_still_gets_answers() {
    let setup = Setup::new(Some(1));
    let host = setup.host();
    let mut client = setup.client();
    let mut server = accept(&host);
    client.write_all(&submit(b"text")).expect("sent");
    client.shutdown(std::net::Shutdown::Write).expect("half closed");
    let mut all = Vec::new();
    server.read_to_end(&mut all).expect("read");
    assert_eq!(all, submit(b"new text"));
    server.write_all(b"answer").expect("sent");
    drop(server);
    expect_bytes(&mut client, b"answer");
    expect_end(&mut client);
    setup.end();
}

#[test]
fn twenty_clients_at_once() {
    let setup = Setup::new(Some(20));
    let host = setup.host();
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..20 {
                let mut server = accept(&host);
                scope.spawn(move || {
                    // The name identifies the client; all names have the same length.
                    let mut start = [0; 18];
                    server.read_exact(&mut start).expect("bytes");
                    let name = String::from_utf8_lossy(&start[8..17]).into_owned();
                    let (_, after) = session(&name);
                    expect_bytes(&mut server, &after[18..]);
                    server.write_all(name.as_bytes()).expect("sent");
                    expect_end(&mut server);
                });
            }
        });
        for number in 10..30 {
            let mut client = setup.client();
            scope.spawn(move || {
                let name = format!("client-{number}");
                client.write_all(&session(&name).0).expect("sent");
                expect_bytes(&mut client, name.as_bytes());
            });
        }
    });
    let traffic = setup.end();
    assert_eq!((traffic.clients.get(), traffic.shaders.get()), (20, 800));
}

#[test]
fn many_clients_one_after_the_other() {
    // More clients than notifications of their end fit into a socket's queue.
    for limit in [None, Some(1500)] {
        let setup = Setup::new(limit);
        let host = setup.host();
        for _ in 0..1500 {
            let mut client = setup.client();
            client.write_all(&message(0, 10, &[])).expect("sent");
            let mut server = accept(&host);
            expect_bytes(&mut server, &message(0, 10, &[]));
            drop(client);
            expect_end(&mut server);
        }
        let traffic = if limit.is_some() { setup.end() } else { setup.stop() };
        assert_eq!(traffic.clients.get(), 1500);
    }
}

#[test]
fn a_host_that_comes_late_is_waited_for() {
    let setup = Setup::new(Some(1));
    let mut client = setup.client();
    client.write_all(&submit(b"early")).expect("sent");
    // First there is no file, then a file without a listener.
    thread::sleep(Duration::from_millis(100));
    drop(setup.host());
    thread::sleep(Duration::from_millis(100));
    std::fs::remove_file(setup.host_path()).expect("removed");
    let host = setup.host();
    let mut server = accept(&host);
    expect_bytes(&mut server, &submit(b"new early"));
    drop((client, server));
    setup.end();
}

#[test]
fn without_a_host_the_client_is_told() {
    let setup = Setup::new(Some(1));
    let mut client = setup.client();
    let started = Instant::now();
    expect_end(&mut client);
    assert!(started.elapsed() > Duration::from_secs(1), "it may be starting");
    let traffic = setup.end();
    assert_eq!((traffic.clients.get(), traffic.unconnected.get()), (0, 1));
}

#[test]
fn a_stop_ends_all_connections() {
    let setup = Setup::new(None);
    let host = setup.host();
    let mut clients: Vec<UnixStream> = (0..5).map(|_| setup.client()).collect();
    let mut servers: Vec<UnixStream> = (0..5).map(|_| accept(&host)).collect();
    for server in &mut servers {
        server.write_all(b"hello").expect("sent");
    }
    for client in &mut clients {
        expect_bytes(client, b"hello");
    }
    assert_eq!(setup.stop().clients.get(), 5);
    for socket in clients.iter_mut().chain(&mut servers) {
        expect_end(socket);
    }
    // A client that waits for a host is ended too.
    let setup = Setup::new(None);
    let mut client = setup.client();
    thread::sleep(Duration::from_millis(20));
    let started = Instant::now();
    setup.stop();
    assert!(started.elapsed() < Duration::from_secs(1));
    expect_end(&mut client);
}

#[test]
fn streams_that_are_wrong_go_through() {
    let setup = Setup::new(Some(1));
    let host = setup.host();
    let mut client = setup.client();
    let mut server = accept(&host);
    let mut wrong = submit(b"text");
    let mut arrives = submit(b"new text");
    for out in [&mut wrong, &mut arrives] {
        out.extend(message(1, 77, b"unknown data"));
        out.extend(submit(b"text"));
    }
    client.write_all(&wrong).expect("sent");
    expect_bytes(&mut server, &arrives);
    drop(server);
    expect_end(&mut client);
    let traffic = setup.end();
    assert_eq!((traffic.unread.get(), traffic.shaders.get()), (1, 1));
}

#[test]
fn a_panic_of_the_filter_leaves_the_shader() {
    let setup = Setup::new(Some(1));
    let host = setup.host();
    let mut client = setup.client();
    let mut server = accept(&host);
    client.write_all(&[submit(b"panic"), submit(b"text")].concat()).expect("sent");
    expect_bytes(&mut server, &[submit(b"panic"), submit(b"new text")].concat());
    drop((client, server));
    assert_eq!(setup.end().shaders.get(), 2);
}

#[test]
fn two_proxies_do_not_take_the_place_from_each_other() {
    let setup = Setup::new(None);
    let listen = setup.folder.path().join("listen");
    let second = Proxy::bind(&listen, Path::new("nowhere")).expect_err("another listener");
    assert!(second.to_string().starts_with("cannot listen at "), "{second}");
    assert!(listen.exists());
    setup.stop();
}
