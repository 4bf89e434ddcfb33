//! A real API server with its etcd, alone on this machine's loopback.

use crate::audit::{AuditLog, Detail};
use crate::pki::{Authority, token_key};
use crate::process::Process;
use crate::tools::{Tools, target_dir};
use crate::users::{ADMIN, USERS, User, kubeconfig, token_file};
use crate::wait::{LONG, eventually};
use anyhow::{Context, bail};
use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};
use std::fs::{create_dir_all, read_dir, remove_dir_all, write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::OnceCell;

/// What admission would do to test objects that nobody's controller then undoes: taint nodes, ask for service accounts.
const ADMISSION_OFF: &str = "ServiceAccount,TaintNodesByCondition";

/// A running API server and its etcd. Dropping it ends both.
pub struct Server {
    dir: PathBuf,
    store: PathBuf,
    port: u16,
    etcd_port: u16,
    tools: Tools,
    authority: Authority,
    audit: AuditLog,
    api_server: Mutex<Option<Process>>,
    etcd: Process,
}

impl Server {
    /// The one that the tests of this program share.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn shared() -> &'static Self {
        static SHARED: OnceCell<Server> = OnceCell::const_new();
        SHARED
            .get_or_init(|| async {
                match Self::start(Detail::Requests).await {
                    Ok(server) => server,
                    Err(error) => panic!("the API server did not start: {error:#}"),
                }
            })
            .await
    }

    /// Starts one, and waits until it is ready.
    ///
    /// # Errors
    /// When its programs are missing or do not come up; the text has their logs.
    pub async fn start(detail: Detail) -> anyhow::Result<Self> {
        let tools = Tools::find()?;
        let dir = own_dir(&target_dir()?.join("cluster"))?;
        // The oldest etcd this runs with always syncs to disk; memory spares the tests the wait.
        let memory = Path::new("/dev/shm");
        let store = if memory.is_dir() {
            own_dir(&memory.join("mco-cluster-tests"))?
        } else {
            dir.clone()
        };
        let authority = write_secrets(&dir)?;
        write(dir.join("audit-policy.yaml"), detail.policy())?;
        let etcd_port = free_port()?;
        let etcd = start_etcd(&tools, &dir, &store, etcd_port)?;
        let server = Self {
            port: free_port()?,
            etcd_port,
            tools,
            authority,
            audit: AuditLog::new(dir.join("audit.jsonl")),
            api_server: Mutex::new(None),
            etcd,
            dir,
            store,
        };
        for user in USERS {
            server.kubeconfig_via(user, &server.url());
        }
        server.start_api().await?;
        Ok(server)
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// Its port on the loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A folder for this cluster's files. It is kept until the next run.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Who signed its certificate.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The file with that certificate.
    pub fn authority_file(&self) -> PathBuf {
        self.dir.join("ca.pem")
    }

    /// What the audited users have asked of it.
    pub fn audit(&self) -> &AuditLog {
        &self.audit
    }

    /// The kubeconfig file of `user`.
    pub fn kubeconfig(&self, user: &User) -> PathBuf {
        self.dir.join(user.file)
    }

    /// Writes a kubeconfig of `user` that reaches the server by `url`, for example through a proxy.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn kubeconfig_via(&self, user: &User, url: &str) -> PathBuf {
        let path = if url == self.url() {
            self.kubeconfig(user)
        } else {
            let port = url.rsplit(':').next().unwrap_or("elsewhere");
            self.dir.join(format!("{port}-{}", user.file))
        };
        let text = kubeconfig(user, url, &self.authority_file());
        if let Err(error) = write(&path, text) {
            panic!("cannot write {}: {error}", path.display());
        }
        path
    }

    /// A client for `user`. It belongs to the runtime it is made in.
    ///
    /// # Errors
    /// When the user's kubeconfig cannot be used.
    pub async fn client(&self, user: &User) -> anyhow::Result<Client> {
        let kubeconfig = Kubeconfig::read_from(self.kubeconfig(user))?;
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        Ok(Client::try_from(config)?)
    }

    /// Starts the API server again after [`Server::stop_api`], on the same port and with the same content, and waits
    /// until it is ready.
    ///
    /// # Errors
    /// When it does not come up; the text has its log.
    pub async fn start_api(&self) -> anyhow::Result<()> {
        let process = Process::spawn(
            "kube-apiserver",
            self.api_server_command(),
            &self.dir.join("kube-apiserver.log"),
        )?
        .quiet();
        *self.slot() = Some(process);
        let client = self.client(&ADMIN).await?;
        let ready = eventually("the API server is ready", LONG, async || {
            if let Some(process) = self.slot().as_mut()
                && let Some(status) = process.ended()
            {
                return Ok(Err(format!("it ended with {status}")));
            }
            let request = http::Request::get("/readyz")
                .body(Vec::new())
                .map_err(|error| error.to_string())?;
            client
                .request_text(request)
                .await
                .map(Ok)
                .map_err(|error| error.to_string())
        });
        match ready.await {
            Ok(_) => Ok(()),
            Err(why) => {
                let log = self.slot().as_ref().map(Process::log_tail).unwrap_or_default();
                bail!("kube-apiserver: {why}\n{log}")
            }
        }
    }

    /// The process ids of the API server, if it runs, and of etcd.
    pub fn pids(&self) -> Vec<u32> {
        let api_server = self.slot().as_ref().map(Process::pid);
        api_server.into_iter().chain([self.etcd.pid()]).collect()
    }

    /// Ends the API server at once; etcd keeps what it knew.
    pub fn stop_api(&self) {
        // Dropping ends it.
        *self.slot() = None;
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Process>> {
        self.api_server
            .lock()
            .unwrap_or_else(|broken| broken.into_inner())
    }

    fn api_server_command(&self) -> Command {
        let mut command = Command::new(&self.tools.api_server);
        let file = |name: &str| self.dir.join(name).display().to_string();
        let flags = [
            ("etcd-servers", format!("http://127.0.0.1:{}", self.etcd_port)),
            ("secure-port", self.port.to_string()),
            ("bind-address", "127.0.0.1".to_owned()),
            ("advertise-address", "127.0.0.1".to_owned()),
            ("endpoint-reconciler-type", "none".to_owned()),
            ("service-cluster-ip-range", "10.0.0.0/24".to_owned()),
            ("cert-dir", file("certificates")),
            ("tls-cert-file", file("server.pem")),
            ("tls-private-key-file", file("server.key")),
            ("token-auth-file", file("tokens.csv")),
            ("authorization-mode", "RBAC".to_owned()),
            (
                "service-account-issuer",
                "https://kubernetes.default.svc".to_owned(),
            ),
            ("service-account-signing-key-file", file("tokens.key")),
            ("service-account-key-file", file("tokens.pub")),
            ("disable-admission-plugins", ADMISSION_OFF.to_owned()),
            ("audit-policy-file", file("audit-policy.yaml")),
            ("audit-log-path", self.audit.path().display().to_string()),
            ("audit-log-maxsize", "4096".to_owned()),
            ("profiling", "false".to_owned()),
        ];
        command.args(flags.map(|(name, value)| format!("--{name}={value}")));
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop_api();
        if self.store != self.dir {
            // A leftover is swept by the next run.
            let _ = remove_dir_all(&self.store);
        }
    }
}

fn start_etcd(tools: &Tools, dir: &Path, store: &Path, port: u16) -> anyhow::Result<Process> {
    let mut command = Command::new(&tools.etcd);
    let here = format!("http://127.0.0.1:{port}");
    let peers = format!("http://127.0.0.1:{}", free_port()?);
    command
        .arg("--data-dir")
        .arg(store.join("etcd"))
        .args(["--listen-client-urls", &here, "--advertise-client-urls", &here])
        .args([
            "--listen-peer-urls",
            &peers,
            "--initial-advertise-peer-urls",
            &peers,
        ])
        .args(["--initial-cluster", &format!("default={peers}")])
        .args(["--log-level", "warn", "--logger", "zap"]);
    Ok(Process::spawn("etcd", command, &dir.join("etcd.log"))?.quiet())
}

/// Writes all that proves who is who.
fn write_secrets(dir: &Path) -> anyhow::Result<Authority> {
    let authority = Authority::new()?;
    let identity = authority.server()?;
    let (private, public) = token_key()?;
    write(dir.join("ca.pem"), authority.certificate())?;
    write(dir.join("server.pem"), identity.certificate)?;
    write(dir.join("server.key"), identity.key)?;
    write(dir.join("tokens.key"), private)?;
    write(dir.join("tokens.pub"), public)?;
    write(dir.join("tokens.csv"), token_file())?;
    Ok(authority)
}

/// A port nobody listens on at this moment.
///
/// # Errors
/// When the system gives none.
pub fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("no free port")?;
    Ok(listener.local_addr()?.port())
}

/// A new folder in `base` for this process. Those of processes that are gone are removed.
fn own_dir(base: &Path) -> anyhow::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    create_dir_all(base).with_context(|| format!("cannot create {}", base.display()))?;
    for entry in read_dir(base)?.flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        let process = name.split('-').next().and_then(|text| text.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            // Another run may sweep at the same time.
            let _ = remove_dir_all(entry.path());
        }
    }
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let dir = base.join(format!("{}-{count}", std::process::id()));
    create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    Ok(dir)
}
