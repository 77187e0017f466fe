use pao_core::Error;
use pao_core::wire::*;
use pao_core::wire::door::*;
use crate::door::*;
use crate::shell::Shell;

pub async fn glance(_shell: &Shell, _with: ()) -> Result<Glance, Error> {
    Err(Error::internal(""))
}
