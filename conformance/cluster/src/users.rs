//! Who talks to the API server, and how each proves it.

/// Somebody with a token.
#[derive(Debug)]
pub struct User {
    /// The name the API server knows them by.
    pub name: &'static str,
    /// What they show instead of a password.
    token: &'static str,
    /// The groups they are in.
    groups: &'static [&'static str],
    /// What their kubeconfig file is called.
    pub(crate) file: &'static str,
}

/// May do all, and is not audited.
pub const ADMIN: User = User {
    name: "admin",
    token: "token-of-admin",
    groups: &["system:masters"],
    file: "admin.kubeconfig",
};

/// The scheduler, with the rights of Volcano's stock chart and no others.
pub const SCHEDULER: User = User {
    name: "system:serviceaccount:volcano-system:volcano-scheduler",
    token: "token-of-scheduler",
    groups: &["system:serviceaccounts", "system:serviceaccounts:volcano-system"],
    file: "scheduler.kubeconfig",
};

/// The analyzer.
pub const ANALYZER: User = User {
    name: "system:serviceaccount:mco-system:mco-analyzer",
    token: "token-of-analyzer",
    groups: &["system:serviceaccounts", "system:serviceaccounts:mco-system"],
    file: "analyzer.kubeconfig",
};

/// A caller without any rights of their own, for tests that grant some.
pub const SOMEBODY: User = User {
    name: "somebody",
    token: "token-of-somebody",
    groups: &[],
    file: "somebody.kubeconfig",
};

/// All of them.
pub(crate) const USERS: [&User; 4] = [&ADMIN, &SCHEDULER, &ANALYZER, &SOMEBODY];

/// The file of tokens as kube-apiserver reads it.
pub(crate) fn token_file() -> String {
    let line = |user: &&User| {
        let groups = user.groups.join(",");
        format!("{},{},{},\"{groups}\"\n", user.token, user.name, user.file)
    };
    USERS.iter().map(line).collect()
}

/// A kubeconfig of `user` for the API server at `url`, whose certificate `authority` signed.
pub(crate) fn kubeconfig(user: &User, url: &str, authority: &std::path::Path) -> String {
    let authority = authority.display();
    let token = user.token;
    format!(
        "\
apiVersion: v1
kind: Config
current-context: it
contexts: [{{name: it, context: {{cluster: it, user: it}}}}]
clusters: [{{name: it, cluster: {{server: \"{url}\", certificate-authority: \"{authority}\"}}}}]
users: [{{name: it, user: {{token: {token}}}}}]
"
    )
}
