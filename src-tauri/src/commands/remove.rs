use pao_core::Error;
use pao_core::wire::*;
use pao_core::wire::door::*;
use crate::door::*;
use crate::shell::Shell;

pub async fn traces(_shell: &Shell, _with: ()) -> Result<Vec<Outcome>, Error> {
    Err(Error::internal(""))
}

pub async fn everything(_shell: &Shell, _with: bool) -> Result<Vec<Outcome>, Error> {
    Err(Error::internal(""))
}
