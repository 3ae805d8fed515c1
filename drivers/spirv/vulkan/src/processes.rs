//! Runs in separate processes: code that hangs the device, or crashes its driver, terminates only its process.
//!
//! A process answers messages in sequence; each is a length in bytes, and the bytes. Its first message is unsolicited
//! and contains the properties of its device. A process is killed if it does not answer in time, or if its device is
//! still busy with an abandoned run. A process ends when its standard input is closed.

use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use tgsi_compiler::RunError;

use crate::code::{DeviceProperties, SizedCode, time_limit, timeout};
use crate::device::Device;
use crate::dispatch::BoundBuffer;
use crate::messages::{self, JobResult};
use crate::module::BindingKind;

/// The additional time allowed to a process, which opens the device first.
const GRACE: Duration = Duration::from_secs(20);
/// Most bytes of a message.
const MAX_BYTES: u64 = 1 << 30;

/// Returns the command that calls [`serve`].
static COMMAND: OnceLock<fn() -> io::Result<Command>> = OnceLock::new();

/// Idle processes.
static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

/// Makes later runs use processes of this command, which calls [`serve`]. Must be called once, at the start.
pub fn run_in_processes(command: fn() -> io::Result<Command>) {
    // A second call is ignored.
    let _ = COMMAND.set(command);
}

/// Returns whether runs use processes.
pub(crate) fn are_used() -> bool {
    COMMAND.get().is_some()
}

/// Returns the properties of a process's device.
pub(crate) fn properties() -> Result<DeviceProperties, String> {
    let mut worker = Worker::start()?;
    let properties =
        worker.properties.take().ok_or("the process did not report the properties of its Vulkan device")?;
    idle().push(worker);
    Ok(properties)
}

/// Runs code once in a process.
pub(crate) fn run(code: &SizedCode, parts: Vec<BoundBuffer>) -> Result<Vec<BoundBuffer>, RunError> {
    let found = idle().pop();
    let mut worker = match found {
        Some(worker) => worker,
        None => Worker::start()?,
    };
    let answer = worker.ask(code, &parts)?;
    match answer {
        JobResult::Parts(after) => {
            idle().push(worker);
            let mut parts = parts;
            let stored = parts.iter_mut().filter(|part| part.bound.kind == BindingKind::Storage);
            stored.zip(after).for_each(|(part, bytes)| part.bytes = bytes);
            Ok(parts)
        }
        JobResult::Failure(failure) => {
            if !matches!(failure, RunError::DeviceLost(_)) {
                idle().push(worker);
            }
            Err(failure)
        }
    }
}

fn idle() -> std::sync::MutexGuard<'static, Vec<Worker>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process.
struct Worker {
    child: Child,
    stdin: ChildStdin,
    /// Its messages, read by a thread.
    answers: mpsc::Receiver<Vec<u8>>,
    /// The code that it holds.
    code: Option<u64>,
    properties: Option<DeviceProperties>,
}

impl Worker {
    fn start() -> Result<Worker, String> {
        let failed = |error: io::Error| format!("no process to run code on Vulkan: {error}");
        let command = COMMAND.get().ok_or("no command to run code on Vulkan")?;
        let mut command = command().map_err(failed)?;
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let (Some(stdin), Some(mut stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes to the process that runs code on Vulkan".to_owned());
        };
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            while let Ok(Some(bytes)) = read(&mut stdout)
                && sender.send(bytes).is_ok()
            {}
        });
        let mut worker = Worker { child, stdin, answers, code: None, properties: None };
        let hello = worker.receive().map_err(|failure| failure.to_string())?;
        worker.properties = Some(messages::read_properties(&hello)?);
        Ok(worker)
    }

    fn ask(&mut self, code: &SizedCode, parts: &[BoundBuffer]) -> Result<JobResult, RunError> {
        let message = messages::write_job((self.code != Some(code.id)).then_some(code), parts);
        self.code = Some(code.id);
        if write(&mut self.stdin, &message).is_err() {
            return Err(self.ended());
        }
        Ok(messages::read_answer(&self.receive()?)?)
    }

    fn receive(&mut self) -> Result<Vec<u8>, RunError> {
        self.answers.recv_timeout(time_limit() + GRACE).map_err(|error| match error {
            mpsc::RecvTimeoutError::Timeout => timeout(),
            mpsc::RecvTimeoutError::Disconnected => self.ended(),
        })
    }

    /// Returns the failure of a process that ended.
    fn ended(&mut self) -> RunError {
        let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        RunError::Failed(format!("the process that ran it on Vulkan ended ({status})"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs code as requested by messages on standard input, until it is closed. The main function of such a process.
///
/// # Errors
/// Standard output cannot be written.
pub fn serve() -> io::Result<()> {
    static IS_BUSY: AtomicBool = AtomicBool::new(false);
    let mut output = io::stdout().lock();
    write(&mut output, &messages::write_properties(&Device::get().map(|device| device.properties.clone())))?;
    let (sender, jobs) = mpsc::channel();
    std::thread::spawn(move || {
        while let Ok(Some(bytes)) = read(&mut io::stdin().lock()) {
            IS_BUSY.store(true, Ordering::Release);
            if sender.send(bytes).is_err() {
                return;
            }
        }
        // Nothing waits for the run, and the process must not wait for it while exiting, as the driver's threads would.
        if IS_BUSY.load(Ordering::Acquire) {
            std::process::abort();
        }
    });
    let mut code = None;
    for message in jobs {
        let answer = messages::read_job(&message).map_err(RunError::from).and_then(|(new, parts)| {
            if let Some((words, bindings)) = new {
                code = Some(SizedCode::new(words, bindings));
            }
            let code = code.as_ref().ok_or_else(|| "no code to run".to_owned())?;
            code.run_here(parts)
        });
        // The driver may still be busy, so an orderly exit must be avoided.
        let is_lost = Device::get().is_err();
        // This precedes the answer, after which the next message may arrive.
        IS_BUSY.store(is_lost, Ordering::Release);
        let written = write(&mut output, &messages::write_answer(&answer));
        if is_lost && written.is_err() {
            std::process::abort();
        }
        written?;
    }
    Ok(())
}

fn write(to: &mut impl Write, message: &[u8]) -> io::Result<()> {
    to.write_all(&(message.len() as u64).to_le_bytes())?;
    to.write_all(message)?;
    to.flush()
}

/// Reads the next message; `None` at the end.
fn read(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 8];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let length = u64::from_le_bytes(length);
    if length > MAX_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = vec![0; length as usize];
    from.read_exact(&mut message)?;
    Ok(Some(message))
}
