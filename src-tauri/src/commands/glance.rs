//! Everything at a glance.

use pao_core::Error;
use pao_core::wire::door::Glance;

use crate::shell::Shell;

pub async fn glance(shell: &Shell, _with: ()) -> Result<Glance, Error> {
    Ok(shell.refresh().await)
}
