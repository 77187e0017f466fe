use pao_core::Error;
use pao_core::wire::*;
use pao_core::wire::door::*;
use crate::door::*;
use crate::shell::Shell;

pub async fn forget(_shell: &Shell, _with: String) -> Result<CleanDone, Error> {
    Err(Error::internal(""))
}

pub async fn plan(_shell: &Shell, _with: ()) -> Result<CleanPlan, Error> {
    Err(Error::internal(""))
}

pub async fn clean(_shell: &Shell, _with: Vec<String>) -> Result<CleanDone, Error> {
    Err(Error::internal(""))
}

pub async fn undo(_shell: &Shell, _with: String) -> Result<CleanDone, Error> {
    Err(Error::internal(""))
}
