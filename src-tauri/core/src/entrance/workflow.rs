//! The Finder's entry as Automator saves it: a bundle of two property lists, around one line of shell that hands the
//! chosen folders to the app. Automator's own process does nothing else, so that consent is the app's.
//!
//! The keys are those of bundles saved by Automator; which of them the system could do without is not known.

use plist::{Dictionary, Value};

use super::{APP_ID, TITLE};

/// The bundle's name in `~/Library/Services`.
pub const BUNDLE: &str = "Spawn agent here.workflow";

/// The action that runs a line of shell.
const ACTION: &str = "/System/Library/Automator/Run Shell Script.action";
/// What an action of text takes and gives.
const TEXT: &str = "com.apple.cocoa.string";
const FOLDER: &str = "com.apple.Automator.fileSystemObject.folder";
const NOTHING: &str = "com.apple.Automator.nothing";
const FINDER: &str = "com.apple.finder";

/// The bundle's files: their paths in it and their bytes.
pub fn files() -> Result<Vec<(&'static str, Vec<u8>)>, plist::Error> {
    Ok(vec![("Contents/Info.plist", xml(&info())?), ("Contents/document.wflow", xml(&document())?)])
}

/// The one line of shell. The folders come as its arguments; the PATH is bare.
pub fn shell() -> String {
    format!("/usr/bin/open -b {APP_ID} \"$@\"")
}

fn xml(value: &Value) -> Result<Vec<u8>, plist::Error> {
    let mut bytes = Vec::new();
    value.to_writer_xml(&mut bytes)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn dict<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let entries = entries.into_iter().map(|(key, value)| (key.to_owned(), value));
    Value::Dictionary(entries.collect::<Dictionary>())
}

fn list<const N: usize>(values: [&str; N]) -> Value {
    Value::Array(values.into_iter().map(Value::from).collect())
}

fn whole(number: i64) -> Value {
    Value::from(number)
}

/// What tells the system of the service. Without an icon's name it stands in the menu itself, not under Quick Actions.
fn info() -> Value {
    let service = dict([
        ("NSMenuItem", dict([("default", TITLE.into())])),
        ("NSMessage", "runWorkflowAsService".into()),
        ("NSRequiredContext", dict([("NSApplicationIdentifier", FINDER.into())])),
        ("NSSendFileTypes", list(["public.folder"])),
    ]);
    dict([
        ("CFBundleIdentifier", format!("{APP_ID}.spawn-agent-here").into()),
        ("CFBundleName", TITLE.into()),
        ("CFBundleShortVersionString", "1.0".into()),
        ("NSServices", Value::Array(vec![service])),
    ])
}

fn document() -> Value {
    dict([
        ("AMApplicationBuild", "521".into()),
        ("AMApplicationVersion", "2.10".into()),
        ("AMDocumentVersion", "2".into()),
        ("actions", Value::Array(vec![dict([("action", action()), ("isViewVisible", whole(1))])])),
        ("connectors", dict([])),
        (
            "workflowMetaData",
            dict([
                ("applicationBundleIDsByPath", dict([])),
                ("applicationPaths", list([])),
                ("inputTypeIdentifier", FOLDER.into()),
                ("outputTypeIdentifier", NOTHING.into()),
                ("presentationMode", whole(15)),
                ("processesInput", whole(0)),
                ("serviceApplicationBundleID", FINDER.into()),
                ("serviceApplicationPath", "/System/Library/CoreServices/Finder.app".into()),
                ("serviceInputTypeIdentifier", FOLDER.into()),
                ("serviceOutputTypeIdentifier", NOTHING.into()),
                ("serviceProcessesInput", whole(0)),
                ("useAutomaticInputType", whole(0)),
                ("workflowTypeIdentifier", "com.apple.Automator.servicesMenu".into()),
            ]),
        ),
    ])
}

fn action() -> Value {
    let accepts = dict([("Container", "List".into()), ("Optional", true.into()), ("Types", list([TEXT]))]);
    let parameters = ["COMMAND_STRING", "CheckedForUserDefaultShell", "inputMethod", "shell", "source"];
    let parameters: Dictionary = parameters.map(|name| (name.to_owned(), dict([]))).into_iter().collect();
    dict([
        ("AMAccepts", accepts),
        ("AMActionVersion", "2.0.3".into()),
        ("AMApplication", list(["Automator"])),
        ("AMParameterProperties", Value::Dictionary(parameters)),
        ("AMProvides", dict([("Container", "List".into()), ("Types", list([TEXT]))])),
        ("ActionBundlePath", ACTION.into()),
        ("ActionName", "Run Shell Script".into()),
        (
            "ActionParameters",
            dict([
                ("COMMAND_STRING", shell().into()),
                ("CheckedForUserDefaultShell", true.into()),
                // As arguments; 0 would be standard input, which cannot hold every name.
                ("inputMethod", whole(1)),
                ("shell", "/bin/sh".into()),
                ("source", "".into()),
            ]),
        ),
        ("BundleIdentifier", "com.apple.RunShellScript".into()),
        ("CFBundleVersion", "2.0.3".into()),
        ("CanShowSelectedItemsWhenRun", false.into()),
        ("CanShowWhenRun", true.into()),
        ("Category", list(["AMCategoryUtilities"])),
        ("Class Name", "RunShellScriptAction".into()),
        // Any three that differ; always the same, so that what is installed can be compared.
        ("InputUUID", "6B0C5F1E-5E0B-4D0B-9C53-2A4E1B7F0A01".into()),
        ("Keywords", list(["Shell", "Script", "Command", "Run", "Unix"])),
        ("OutputUUID", "6B0C5F1E-5E0B-4D0B-9C53-2A4E1B7F0A02".into()),
        ("UUID", "6B0C5F1E-5E0B-4D0B-9C53-2A4E1B7F0A03".into()),
        ("UnlocalizedApplications", list(["Automator"])),
        ("arguments", arguments()),
        ("isViewVisible", whole(1)),
        ("location", "309.000000:253.000000".into()),
        ("nibPath", format!("{ACTION}/Contents/Resources/Base.lproj/main.nib").into()),
    ])
}

/// The action's parameters as its own view lists them.
fn arguments() -> Value {
    let each: [(&str, Value); 5] = [
        ("inputMethod", whole(0)),
        ("CheckedForUserDefaultShell", false.into()),
        ("source", "".into()),
        ("COMMAND_STRING", "".into()),
        ("shell", "/bin/sh".into()),
    ];
    let each = each.into_iter().enumerate().map(|(index, (name, default))| {
        let entry = dict([
            ("default value", default),
            ("name", name.into()),
            ("required", "0".into()),
            ("type", "0".into()),
            ("uuid", index.to_string().into()),
        ]);
        (index.to_string(), entry)
    });
    Value::Dictionary(each.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str) -> Value {
        let files = files().unwrap();
        let (_, bytes) = files.iter().find(|(path, _)| path.ends_with(name)).unwrap();
        assert!(bytes.starts_with(b"<?xml"), "{}", String::from_utf8_lossy(bytes));
        Value::from_reader_xml(bytes.as_slice()).unwrap()
    }

    fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
        path.split('/').fold(value, |value, key| match value {
            Value::Array(values) => &values[key.parse::<usize>().unwrap()],
            value => value.as_dictionary().unwrap().get(key).unwrap_or_else(|| panic!("{key} of {path}")),
        })
    }

    #[test]
    fn the_finder_is_told_of_a_service_for_folders() {
        let info = read("Info.plist");
        let service = at(&info, "NSServices/0");
        for (path, value) in [
            ("NSMenuItem/default", "Spawn agent here"),
            ("NSMessage", "runWorkflowAsService"),
            ("NSRequiredContext/NSApplicationIdentifier", "com.apple.finder"),
            ("NSSendFileTypes/0", "public.folder"),
        ] {
            assert_eq!(at(service, path).as_string(), Some(value), "{path}");
        }
        let keys: Vec<&String> = service.as_dictionary().unwrap().keys().collect();
        assert_eq!(keys.len(), 4, "an icon would put it under Quick Actions: {keys:?}");
        assert!(at(&info, "CFBundleIdentifier").as_string().unwrap().starts_with(APP_ID));
    }

    #[test]
    fn automator_is_told_to_run_one_line_with_the_folders_as_arguments() {
        let document = read("document.wflow");
        let text = |path: &str| at(&document, path).as_string().unwrap().to_owned();
        let number = |path: &str| at(&document, path).as_signed_integer().unwrap();
        let action = "actions/0/action";
        assert_eq!(text("AMDocumentVersion"), "2");
        assert_eq!(number("actions/0/isViewVisible"), 1);
        assert_eq!(
            text(&format!("{action}/ActionParameters/COMMAND_STRING")),
            "/usr/bin/open -b dev.prime-agent-orchestrator.app \"$@\""
        );
        assert_eq!(number(&format!("{action}/ActionParameters/inputMethod")), 1);
        assert_eq!(text(&format!("{action}/ActionParameters/shell")), "/bin/sh");
        assert_eq!(text(&format!("{action}/ActionBundlePath")), ACTION);
        assert_eq!(text(&format!("{action}/BundleIdentifier")), "com.apple.RunShellScript");
        assert_eq!(text(&format!("{action}/Class Name")), "RunShellScriptAction");
        assert_eq!(text(&format!("{action}/AMAccepts/Types/0")), TEXT);
        for name in ["InputUUID", "OutputUUID", "UUID"] {
            assert_eq!(text(&format!("{action}/{name}")).len(), 36);
        }
        for (index, name) in
            ["inputMethod", "CheckedForUserDefaultShell", "source", "COMMAND_STRING", "shell"]
                .iter()
                .enumerate()
        {
            assert_eq!(text(&format!("{action}/arguments/{index}/name")), *name);
            assert!(
                at(&document, &format!("{action}/AMParameterProperties/{name}"))
                    .as_dictionary()
                    .unwrap()
                    .is_empty()
            );
        }
        let meta = "workflowMetaData";
        assert_eq!(text(&format!("{meta}/serviceApplicationBundleID")), "com.apple.finder");
        assert_eq!(text(&format!("{meta}/workflowTypeIdentifier")), "com.apple.Automator.servicesMenu");
        assert_eq!(number(&format!("{meta}/presentationMode")), 15);
        for name in ["serviceInputTypeIdentifier", "inputTypeIdentifier"] {
            assert_eq!(text(&format!("{meta}/{name}")), FOLDER);
        }
        for name in ["serviceOutputTypeIdentifier", "outputTypeIdentifier"] {
            assert_eq!(text(&format!("{meta}/{name}")), NOTHING);
        }
        for name in ["serviceProcessesInput", "processesInput", "useAutomaticInputType"] {
            assert_eq!(number(&format!("{meta}/{name}")), 0);
        }
    }

    #[test]
    fn the_same_bundle_is_written_each_time() {
        assert_eq!(files().unwrap(), files().unwrap());
    }

    #[tokio::test]
    async fn the_line_of_shell_hands_over_every_folder_whatever_it_is_called() {
        use std::os::unix::ffi::OsStrExt;
        let dir = tempfile::tempdir().unwrap();
        let (open, said) = (dir.path().join("open"), dir.path().join("said"));
        let script = format!("#!/bin/sh\nprintf '%s\\0' \"$@\" > '{}'\n", said.display());
        crate::host::files::write_private(&open, script.as_bytes(), true).unwrap();
        let document = read("document.wflow");
        let line = at(&document, "actions/0/action/ActionParameters/COMMAND_STRING").as_string().unwrap();
        let shell = at(&document, "actions/0/action/ActionParameters/shell").as_string().unwrap();
        let line = line.replace("/usr/bin/open", open.to_str().unwrap());
        let names = [
            "a b",
            "it's",
            "say \"hi\"",
            "line\nbreak",
            "100%",
            "$HOME",
            "`id`",
            "$(id)",
            "-rf",
            "--",
            "*",
            "~",
            "支付",
            "back\\slash",
            ";true",
            " edge ",
            "tab\t",
        ]
        .map(|name| format!("/Users/me/{name}"));
        // As Automator hands its input over: the arguments of the line, none of them its name.
        let run = crate::host::process::Run::new(shell).args(["-c", &line, shell]).args(&names);
        assert!(run.env_clear().output().await.unwrap().success());
        let said = std::fs::read(&said).unwrap();
        let said: Vec<&[u8]> = said.strip_suffix(b"\0").unwrap().split(|byte| *byte == 0).collect();
        let expected = ["-b", APP_ID].into_iter().chain(names.iter().map(String::as_str));
        assert_eq!(said, expected.map(|word| std::ffi::OsStr::new(word).as_bytes()).collect::<Vec<_>>());
    }
}
