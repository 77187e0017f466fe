use pao_core::Error;
use pao_core::wire::*;
use pao_core::wire::door::*;
use crate::door::*;
use crate::shell::Shell;

pub async fn preview(_shell: &Shell, _with: Wish) -> Result<Preview, Error> {
    Err(Error::internal(""))
}

pub async fn spawn(_shell: &Shell, _with: Wish) -> Result<String, Error> {
    Err(Error::internal(""))
}

pub async fn answer(_shell: &Shell, _with: Answer) -> Result<(), Error> {
    Err(Error::internal(""))
}

pub async fn cancel(_shell: &Shell, _with: String) -> Result<(), Error> {
    Err(Error::internal(""))
}

pub async fn mark(_shell: &Shell, _with: Marking) -> Result<(), Error> {
    Err(Error::internal(""))
}

pub async fn show_source(_shell: &Shell, _with: Memory) -> Result<String, Error> {
    Err(Error::internal(""))
}
