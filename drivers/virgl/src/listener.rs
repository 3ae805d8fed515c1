//! A listening socket with a file: the file appears when somebody listens, takes the place of one that nobody listens on, and goes away at the end.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

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
        // Bound under another name first: whoever sees the file can connect at once, and two that start at the same time do not take it from each other.
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
}

/// Gives the socket its name. One that nobody listens on makes room.
fn link(beside: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(beside, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        linked => return linked,
    }
    if !fs::symlink_metadata(path)?.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is a file that is no socket"));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
        Err(error) => return Err(error),
        Ok(_) => return Err(io::Error::new(io::ErrorKind::AddrInUse, "somebody listens there already")),
    }
    log::info!("{} was left by somebody who no longer listens", path.display());
    fs::remove_file(path)?;
    fs::hard_link(beside, path)
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
