//! What users asked of the API server, as its audit log has it.

use crate::users::{ADMIN, User};
use crate::wait::{SOON, until};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// How much the API server writes down.
#[derive(Clone, Copy, Debug)]
pub enum Detail {
    /// The bodies of what is written as well. For tests.
    Requests,
    /// No bodies. For measurements.
    Metadata,
}

impl Detail {
    pub(crate) fn policy(self) -> String {
        let admin = ADMIN.name;
        let writes = match self {
            Self::Requests => {
                "- {level: Request, verbs: [create, update, patch, delete, deletecollection]}\n"
            }
            Self::Metadata => "",
        };
        // The masters group has the API server's own loopback client in it too.
        format!(
            "apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {{level: None, users: [{admin}, \"system:apiserver\"]}}
{writes}- {{level: Metadata}}
"
        )
    }
}

/// One answered request.
#[derive(Clone, Debug)]
pub struct Call {
    /// Who asked.
    pub user: String,
    /// `create`, `get`, `list`, `watch`, `update`, `patch`, `delete` and the like.
    pub verb: String,
    /// API group, empty for the core.
    pub group: String,
    /// Plural of the kind, such as `pods`.
    pub resource: String,
    /// Such as `status` or `binding`; empty for the object itself.
    pub subresource: String,
    /// Empty for what is of the cluster.
    pub namespace: String,
    /// Of the object; empty for lists and for objects whose name is only in the body.
    pub name: String,
    /// The answer's HTTP code.
    pub code: u16,
    /// The request's body; null when there was none or it was not kept.
    pub body: Value,
    /// The whole path with its query.
    pub uri: String,
}

impl Call {
    fn read(line: &str) -> Option<Self> {
        let event: Value = serde_json::from_str(line).ok()?;
        let text = |pointer: &str| {
            event
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let mut name = text("/objectRef/name");
        if name.is_empty() {
            name = text("/requestObject/metadata/name");
        }
        Some(Self {
            user: text("/user/username"),
            verb: text("/verb"),
            group: text("/objectRef/apiGroup"),
            resource: text("/objectRef/resource"),
            subresource: text("/objectRef/subresource"),
            namespace: text("/objectRef/namespace"),
            name,
            code: event
                .pointer("/responseStatus/code")
                .and_then(Value::as_u64)
                .and_then(|code| u16::try_from(code).ok())
                .unwrap_or(0),
            body: event.get("requestObject").cloned().unwrap_or(Value::Null),
            uri: text("/requestURI"),
        })
    }

    /// Whether it changes something.
    pub fn writes(&self) -> bool {
        !matches!(self.verb.as_str(), "get" | "list" | "watch")
    }

    /// The kind of thing, as `pods/binding` or `podgroups`.
    pub fn target(&self) -> String {
        if self.subresource.is_empty() {
            self.resource.clone()
        } else {
            format!("{}/{}", self.resource, self.subresource)
        }
    }

    /// In one line, without the body.
    pub fn line(&self) -> String {
        let place = if self.namespace.is_empty() {
            String::new()
        } else {
            format!("{}/", self.namespace)
        };
        format!(
            "{} {} {place}{} -> {}",
            self.verb,
            self.target(),
            self.name,
            self.code
        )
    }
}

/// The answers that each pod's bindings got, by its name.
pub fn bindings(calls: &[Call]) -> BTreeMap<String, Vec<u16>> {
    let mut answers: BTreeMap<String, Vec<u16>> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.target() == "pods/binding") {
        answers.entry(call.name.clone()).or_default().push(call.code);
    }
    answers
}

/// The log so far. It only grows; a [`Mark`] says where one looked last.
pub struct AuditLog {
    path: PathBuf,
    read: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    calls: Vec<Call>,
    /// How much of the file is in `calls`.
    bytes: u64,
}

/// A place in the log.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark(usize);

impl AuditLog {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            read: Mutex::new(Seen::default()),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The end of the log as of now.
    pub fn mark(&self) -> Mark {
        Mark(self.update().calls.len())
    }

    /// The calls of `user` since `mark`, oldest answer first.
    pub fn calls_since(&self, mark: Mark, user: &User) -> Vec<Call> {
        let seen = self.update();
        let new = seen.calls.get(mark.0..).unwrap_or_default();
        new.iter()
            .filter(|call| call.user == user.name)
            .cloned()
            .collect()
    }

    /// Those among them that change something.
    pub fn writes_since(&self, mark: Mark, user: &User) -> Vec<Call> {
        let mut calls = self.calls_since(mark, user);
        calls.retain(Call::writes);
        calls
    }

    /// Waits until `user` has made a call since `mark` that `wanted` accepts.
    ///
    /// # Panics
    /// With all calls since then, when there is none soon.
    pub async fn until(&self, what: &str, mark: Mark, user: &User, wanted: impl Fn(&Call) -> bool) -> Call {
        until(what, SOON, async || {
            let calls = self.calls_since(mark, user);
            let found = calls.iter().find(|call| wanted(call)).cloned();
            found.ok_or_else(|| {
                let lines: Vec<String> = calls.iter().map(Call::line).collect();
                format!("calls\n  {}", lines.join("\n  "))
            })
        })
        .await
    }

    /// Reads what was added to the file since the last time.
    fn update(&self) -> MutexGuard<'_, Seen> {
        let mut seen = self.read.lock().unwrap_or_else(|broken| broken.into_inner());
        let mut text = Vec::new();
        let added = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(seen.bytes))?;
            file.read_to_end(&mut text)
        });
        // Before the first call there is no file. A line may be half written; it is read the next time.
        let complete = text
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |end| end + 1);
        if added.is_ok() {
            seen.bytes += complete as u64;
            let text = String::from_utf8_lossy(&text[..complete]);
            seen.calls.extend(text.lines().filter_map(Call::read));
        }
        seen
    }
}
