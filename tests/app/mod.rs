//! The real app on a desktop of its own: a display, a window manager, a panel with a tray, a bus.

mod bundle;
mod credentials;
mod desktop;
mod entrances;
mod faults;
mod follows;
mod keys;
mod menu;
mod notices;
mod returns;
mod screens;
mod shell;
mod story;
mod tray;
mod upgrade;
mod window;
