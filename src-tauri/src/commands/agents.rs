use pao_core::Error;
use pao_core::wire::*;
use pao_core::wire::door::*;
use crate::door::*;
use crate::shell::Shell;

pub async fn agent(_shell: &Shell, _with: String) -> Result<AgentPage, Error> {
    Err(Error::internal(""))
}

pub async fn focus(_shell: &Shell, _with: String) -> Result<Outcome, Error> {
    Err(Error::internal(""))
}

pub async fn tell(_shell: &Shell, _with: Tell) -> Result<Message, Error> {
    Err(Error::internal(""))
}

pub async fn checkpoint(_shell: &Shell, _with: Checkpointing) -> Result<Outcome, Error> {
    Err(Error::internal(""))
}

pub async fn pause(_shell: &Shell, _with: Target) -> Result<Vec<Outcome>, Error> {
    Err(Error::internal(""))
}

pub async fn resume(_shell: &Shell, _with: Target) -> Result<Vec<Outcome>, Error> {
    Err(Error::internal(""))
}

pub async fn rebrief(_shell: &Shell, _with: String) -> Result<Outcome, Error> {
    Err(Error::internal(""))
}

pub async fn handover(_shell: &Shell, _with: Handover) -> Result<Outcome, Error> {
    Err(Error::internal(""))
}
