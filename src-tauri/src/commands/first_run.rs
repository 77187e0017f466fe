use pao_core::Error;
use pao_core::wire::*;
use pao_core::wire::door::*;
use crate::door::*;
use crate::shell::Shell;

pub async fn first_run(_shell: &Shell, _with: ()) -> Result<FirstRun, Error> {
    Err(Error::internal(""))
}

pub async fn finish(_shell: &Shell, _with: FirstChoices) -> Result<(), Error> {
    Err(Error::internal(""))
}
