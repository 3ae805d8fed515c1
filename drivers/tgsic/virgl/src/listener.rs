//! A listening socket with a file: the file appears when somebody listens, takes the place of one that nobody listens
//! on, and goes away at the end.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The number of times that the path is tried when others come and go there at the same time.
const ATTEMPTS: u32 = 20;

/// A listening socket.
#[derive(Debug)]
pub struct Listener {
    socket: UnixListener,
    path: PathBuf,
    /// Device and inode of the file.
    file: (u64, u64),
}

impl Listener {
    /// Listens. That somebody else does, or that there is a file that is no socket, is an error.
    pub fn bind(path: &Path) -> io::Result<Listener> {
        // Bound under another name first: whoever sees the file can connect at once, and two that start at the same
        // time do not take it from each other.
        let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        name.push(format!(".{}", std::process::id()));
        let beside = path.with_file_name(name);
        let _ = fs::remove_file(&beside);
        let socket = UnixListener::bind(&beside)?;
        let linked = fs::metadata(&beside).and_then(|metadata| {
            link(&beside, path)?;
            Ok((metadata.dev(), metadata.ino()))
        });
        let _ = fs::remove_file(&beside);
        Ok(Listener { socket, path: path.to_owned(), file: linked? })
    }

    /// The socket.
    pub fn socket(&self) -> &UnixListener {
        &self.socket
    }

    /// Device and inode of its file.
    pub fn file(&self) -> (u64, u64) {
        self.file
    }
}

/// Gives the socket its name. One that nobody listens on makes room.
fn link(beside: &Path, path: &Path) -> io::Result<()> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        match fs::hard_link(beside, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempts < ATTEMPTS => {}
            linked => return linked,
        }
        match remove_stale(path) {
            Ok(()) => log::info!("{} was left by somebody who no longer listens", path.display()),
            // Somebody else was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes the file of a socket that nobody listens on. That somebody does, or that it is no socket, is an error.
pub fn remove_stale(path: &Path) -> io::Result<()> {
    check_stale(path)?;
    // Another may have taken the place since, and its file must stay: what is removed is looked at again when nobody
    // else can find it any more.
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".{}.stale", std::process::id()));
    let aside = path.with_file_name(name);
    fs::rename(path, &aside)?;
    let stale = check_stale(&aside);
    if stale.is_err() {
        // If the place has been taken once more, the one who takes it last has it.
        let _ = fs::hard_link(&aside, path);
    }
    fs::remove_file(&aside)?;
    stale
}

/// That a file is a socket on which nobody listens.
fn check_stale(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is a file that is no socket"));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Err(error) => Err(error),
        Ok(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "somebody listens there already")),
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // It may have been replaced meanwhile.
        if fs::symlink_metadata(&self.path).is_ok_and(|now| (now.dev(), now.ino()) == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_comes_and_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let listener = Listener::bind(&path).expect("bound");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        UnixStream::connect(&path).expect("somebody listens");
        let refused = Listener::bind(&path).expect_err("somebody listens");
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        drop(listener);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn a_file_that_nobody_listens_on_makes_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        drop(UnixListener::bind(&path).expect("bound"));
        assert!(path.exists());
        let listener = Listener::bind(&path).expect("bound");
        UnixStream::connect(&path).expect("somebody listens");
        drop(listener);
        assert!(!path.exists());
    }

    #[test]
    fn only_stale_files_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        assert_eq!(remove_stale(&path).expect_err("nothing").kind(), io::ErrorKind::NotFound);
        let listener = Listener::bind(&path).expect("bound");
        assert_eq!(remove_stale(&path).expect_err("in use").kind(), io::ErrorKind::AddrInUse);
        UnixStream::connect(&path).expect("still there");
        drop(listener);
        drop(UnixListener::bind(&path).expect("bound"));
        remove_stale(&path).expect("nobody listens");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn a_file_of_another_kind_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "mine").expect("written");
        assert_eq!(Listener::bind(&path).expect_err("no socket").kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).expect("read"), b"mine");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_file_of_somebody_else_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let listener = Listener::bind(&path).expect("bound");
        fs::remove_file(&path).expect("removed");
        let other = Listener::bind(&path).expect("bound");
        drop(listener);
        assert!(path.exists());
        drop(other);
        assert!(!path.exists());
    }
}
