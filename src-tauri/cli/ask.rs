//! Questions to the person at the terminal, asked on the terminal itself so that pipes do not answer them.

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use pao_core::Error;
use tokio_util::sync::CancellationToken;

/// Asks for a yes; anything else, the end of input and Ctrl-C are a no. `None` when there is nobody to ask.
pub fn yes(question: &str, cancel: &CancellationToken) -> Option<bool> {
    let mut tty = File::options().read(true).write(true).open("/dev/tty").ok()?;
    write!(tty, "{question} [y/N] ").ok()?;
    let answer = line(&mut tty, cancel)?;
    Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Asks for one of a few letters; anything else, the end of input and Ctrl-C are the last of them. `None` when there
/// is nobody to ask.
pub fn letter(question: &str, letters: &[char], cancel: &CancellationToken) -> Option<char> {
    let mut tty = File::options().read(true).write(true).open("/dev/tty").ok()?;
    write!(tty, "{question} ").ok()?;
    let answer = line(&mut tty, cancel)?.trim().to_lowercase();
    letters.iter().copied().find(|letter| answer.starts_with(*letter)).or(letters.last().copied())
}

/// One line from the terminal. It is waited for in short spells: a signal handler of ours keeps a plain read
/// waiting, and Ctrl-C at a question must end it.
fn line(tty: &mut File, cancel: &CancellationToken) -> Option<String> {
    let mut answer = Vec::new();
    loop {
        if cancel.is_cancelled() {
            let _ = writeln!(tty);
            return Some(String::new());
        }
        let ready = poll(&mut [PollFd::new(tty.as_fd(), PollFlags::POLLIN)], PollTimeout::from(100_u8));
        match ready {
            Ok(0) | Err(nix::errno::Errno::EINTR) => continue,
            Ok(_) => {}
            Err(_) => return None,
        }
        let mut bytes = [0; 256];
        match tty.read(&mut bytes) {
            Ok(0) | Err(_) => return Some(String::from_utf8_lossy(&answer).into_owned()),
            Ok(n) => answer.extend_from_slice(&bytes[..n]),
        }
        if answer.contains(&b'\n') {
            return Some(String::from_utf8_lossy(&answer).into_owned());
        }
    }
}

/// A secret: typed without being shown, or all of standard input where that is no terminal. One final line ending
/// is cut.
pub fn secret(prompt: &str) -> Result<String, Error> {
    if std::io::stdin().is_terminal() {
        return rpassword::prompt_password(prompt).map_err(|e| {
            Error::user(format!("nothing could be read: {e}"), "give the value on standard input")
        });
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(65_537)
        .read_to_end(&mut bytes)
        .map_err(|e| Error::user(format!("standard input cannot be read: {e}"), "give the value there"))?;
    if bytes.len() > 65_536 {
        return Err(Error::user("the value is over 64 KiB", "give a shorter one"));
    }
    let mut value = String::from_utf8(bytes)
        .map_err(|_| Error::user("the value is not valid UTF-8", "give it as text"))?;
    if value.ends_with('\n') {
        value.pop();
        if value.ends_with('\r') {
            value.pop();
        }
    }
    Ok(value)
}
