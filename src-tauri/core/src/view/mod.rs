//! What a face shows, made from what is known: lists, labels, icons, places of windows, HTML.
//!
//! Pure functions from plain data to plain data; nothing here reads a file, asks a clock or draws a window, so that all
//! of it is tested without one.

pub mod agents;
pub mod cleanup;
pub mod diagnostics;
pub mod glance;
pub mod icon;
pub mod markdown;
pub mod menu;
pub mod notices;
pub mod page;
pub mod place;
pub mod preview;
pub mod roots;
pub mod tray;
pub mod used;
