use pao_core::Error;
use pao_core::wire::*;
use pao_core::wire::door::*;
use crate::door::*;
use crate::shell::Shell;

pub async fn settings(_shell: &Shell, _with: ()) -> Result<Settings, Error> {
    Err(Error::internal(""))
}

pub async fn set(_shell: &Shell, _with: Change) -> Result<Settings, Error> {
    Err(Error::internal(""))
}

pub async fn check_source(_shell: &Shell, _with: String) -> Result<Source, Error> {
    Err(Error::internal(""))
}

pub async fn add_source(_shell: &Shell, _with: NewSource) -> Result<SourceSettings, Error> {
    Err(Error::internal(""))
}

pub async fn remove_source(_shell: &Shell, _with: String) -> Result<(), Error> {
    Err(Error::internal(""))
}

pub async fn set_secret(_shell: &Shell, _with: Secret) -> Result<Outcome, Error> {
    Err(Error::internal(""))
}

pub async fn switch(_shell: &Shell, _with: Switching) -> Result<Switch, Error> {
    Err(Error::internal(""))
}

pub async fn set_hotkey(_shell: &Shell, _with: Option<String>) -> Result<Hotkey, Error> {
    Err(Error::internal(""))
}

pub async fn set_roots(_shell: &Shell, _with: Vec<String>) -> Result<Settings, Error> {
    Err(Error::internal(""))
}

pub async fn choose_folder(_shell: &Shell, _with: ()) -> Result<Option<String>, Error> {
    Err(Error::internal(""))
}
