use pao_core::Error;
use pao_core::wire::*;
use pao_core::wire::door::*;
use crate::door::*;
use crate::shell::Shell;

pub async fn diagnostics(_shell: &Shell, _with: ()) -> Result<String, Error> {
    Err(Error::internal(""))
}

pub async fn open(_shell: &Shell, _with: Page) -> Result<(), Error> {
    Err(Error::internal(""))
}

pub async fn close(_shell: &Shell, _with: String) -> Result<(), Error> {
    Err(Error::internal(""))
}

pub async fn pin(_shell: &Shell, _with: bool) -> Result<(), Error> {
    Err(Error::internal(""))
}

pub async fn copy(_shell: &Shell, _with: String) -> Result<(), Error> {
    Err(Error::internal(""))
}

pub async fn quit(_shell: &Shell, _with: ()) -> Result<(), Error> {
    Err(Error::internal(""))
}
