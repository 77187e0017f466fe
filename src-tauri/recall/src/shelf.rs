//! The folder an index lies in, which can be read even where nothing can be written to it.
//!
//! Whoever opens an index takes a lock, so that no segment goes while it is being opened, and the lock's file is opened
//! for writing. Where that is refused, it is taken on the file as it can be read; where there is none either, nobody has
//! ever removed a segment. Everything else is tantivy's own.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, META_LOCK, MmapDirectory, WatchCallback, WatchHandle,
};

/// A folder with an index.
#[derive(Debug, Clone)]
pub(crate) struct Shelf {
    inner: MmapDirectory,
    folder: PathBuf,
}

impl Shelf {
    /// The folder, which must be there.
    pub(crate) fn open(folder: &Path) -> tantivy::Result<Self> {
        Ok(Self { inner: MmapDirectory::open(folder)?, folder: folder.to_path_buf() })
    }
}

impl Directory for Shelf {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<tantivy::directory::WritePtr, OpenWriteError> {
        self.inner.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.inner.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.inner.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let refused = match self.inner.acquire_lock(lock) {
            Err(LockError::IoError(error)) if lock.filepath == META_LOCK.filepath => error,
            other => return other,
        };
        match refused.kind() {
            io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::StorageFull => {}
            _ => return Err(LockError::IoError(refused)),
        }
        match File::open(self.folder.join(&lock.filepath)) {
            Ok(file) => {
                file.lock().map_err(LockError::wrap_io_error)?;
                Ok(DirectoryLock::from(Box::new(file)))
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(DirectoryLock::from(Box::new(()))),
            Err(e) => Err(LockError::wrap_io_error(e)),
        }
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}
