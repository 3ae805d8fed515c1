//! A listening socket with a file. The file appears when the socket listens, replaces the file of a socket without a
//! listener, and is removed at the end.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Maximum number of attempts if other processes create and remove the file at the same time.
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
    /// Listens on a path. A socket with another listener, or a file that is not a socket, is an error.
    pub fn bind(path: &Path) -> io::Result<Listener> {
        // Binds under another name first, so that clients can connect as soon as the file is visible, and two processes
        // that start at the same time do not replace each other's socket.
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

    /// Returns the socket.
    pub fn socket(&self) -> &UnixListener {
        &self.socket
    }

    /// Returns device and inode of its file.
    pub fn file(&self) -> (u64, u64) {
        self.file
    }
}

/// Gives the socket its name, replacing a socket without a listener.
fn link(beside: &Path, path: &Path) -> io::Result<()> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        match fs::hard_link(beside, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempts < ATTEMPTS => {}
            linked => return linked,
        }
        match remove_stale(path) {
            Ok(()) => log::info!("replacing {}, which has no listener", path.display()),
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes the file of a socket without a listener. A socket with a listener, or a file that is not a socket, is an
/// error.
pub fn remove_stale(path: &Path) -> io::Result<()> {
    check_stale(path)?;
    // Another process may have replaced the file since, and its file must stay: renames the file first and checks again
    // when other processes can no longer find it.
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".{}.stale", std::process::id()));
    let aside = path.with_file_name(name);
    fs::rename(path, &aside)?;
    let stale = check_stale(&aside);
    if stale.is_err() {
        // If the path has been replaced once more, that last file stays.
        let _ = fs::hard_link(&aside, path);
    }
    fs::remove_file(&aside)?;
    stale
}

/// Checks that a file is a socket without a listener.
fn check_stale(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the file exists and is not a socket"));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Err(error) => Err(error),
        Ok(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "another process is listening there")),
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
        UnixStream::connect(&path).expect("a listener");
        let refused = Listener::bind(&path).expect_err("another listener");
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
        UnixStream::connect(&path).expect("a listener");
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
        remove_stale(&path).expect("no listener");
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
