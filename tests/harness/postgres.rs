//! A real PostgreSQL server for all tests of this process, on loopback, with TLS; and a real pgbouncer before it.
//!
//! Both end, and their folder goes, when the process that runs the tests ends, however it ends: they hang on a pipe
//! that only that process holds open.

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgConnection, PgSslMode};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

/// Password of every role of the test server.
pub const PASSWORD: &str = "FAKE-only-for-tests";

/// The tables as users of such stores have them, without the optional parts: no pgvector, no index but the keys.
pub const SCHEMA: &str = "
CREATE TABLE entities (
  id serial PRIMARY KEY, name text UNIQUE NOT NULL, entity_type text, created_at timestamptz DEFAULT now(),
  source_type text, observation_count int DEFAULT 0, metadata jsonb DEFAULT '{}');
CREATE TABLE observations (
  id serial PRIMARY KEY, entity_id int REFERENCES entities(id), observation_text text NOT NULL,
  observation_index int DEFAULT 0, observation_type text, importance double precision DEFAULT 0.5,
  tags text[] DEFAULT '{}', metadata jsonb DEFAULT '{}', created_at timestamptz DEFAULT now(), source_type text);
";

/// The archive, for those who have one.
pub const ARCHIVE: &str = "CREATE TABLE observations_archive (LIKE observations INCLUDING DEFAULTS, archived_at timestamptz DEFAULT now());";

/// A running server.
pub struct Postgres {
    /// Port on 127.0.0.1.
    pub port: u16,
    /// Folder of the server's socket.
    pub socket: PathBuf,
    /// Certificate of the authority that signed the server's own, which is for `localhost` and 127.0.0.1.
    pub ca: PathBuf,
    user: Option<(u32, u32)>,
    databases: AtomicU32,
    _child: Child,
}

/// A database of one test.
pub struct Database {
    /// Its name.
    pub name: String,
    /// Where it lives.
    pub server: &'static Postgres,
}

/// A running pgbouncer in transaction mode with one server connection.
pub struct PgBouncer {
    /// Port on 127.0.0.1.
    pub port: u16,
    child: Child,
}

impl Postgres {
    /// The server of this process, started when first asked for.
    pub fn shared() -> &'static Self {
        static SERVER: OnceLock<Postgres> = OnceLock::new();
        SERVER.get_or_init(Self::start)
    }

    fn start() -> Self {
        let bin = binaries();
        let user = unprivileged();
        let dir = tempfile::Builder::new().prefix("pao-pg").tempdir().unwrap().keep();
        let data = dir.join("data");
        let password = dir.join("password");
        std::fs::write(&password, PASSWORD).unwrap();
        let ca = certificates(&dir);
        for path in [&dir, &password, &dir.join("server.key"), &dir.join("server.pem"), &ca] {
            if let Some((uid, gid)) = user {
                chown(path, Some(uid), Some(gid)).unwrap();
            }
        }
        let locale = if cfg!(target_os = "macos") { "en_US.UTF-8" } else { "C.UTF-8" };
        let made = as_user(user, &bin.join("initdb"))
            .args(["--no-sync", "--username=postgres", "--encoding=UTF8", "--auth-local=trust"])
            .args(["--auth-host=scram-sha-256", &format!("--locale={locale}")])
            .arg(format!("--pwfile={}", password.display()))
            .arg("--pgdata")
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let rules = data.join("pg_hba.conf");
        let usual = std::fs::read_to_string(&rules).unwrap();
        let tls_only = "hostssl all secure all scram-sha-256\nhostnossl all secure all reject\n";
        std::fs::write(&rules, format!("{tls_only}{usual}")).unwrap();
        let port = free_port();
        let mut server = as_user(user, &bin.join("postgres"));
        server.arg("-D").arg(&data).arg("-k").arg(&dir).args(["-p", &port.to_string()]);
        for setting in [
            "listen_addresses=127.0.0.1",
            "fsync=off",
            "full_page_writes=off",
            "synchronous_commit=off",
            "autovacuum=off",
            "ssl=on",
            &format!("ssl_cert_file={}", dir.join("server.pem").display()),
            &format!("ssl_key_file={}", dir.join("server.key").display()),
        ] {
            server.args(["-c", setting]);
        }
        let child = tied_to_us(&server, "QUIT", &dir);
        wait_for(port, &dir.join("log"));
        Self { port, socket: dir, ca, user, databases: AtomicU32::new(0), _child: child }
    }

    /// Makes an empty database.
    pub async fn database(&'static self) -> Database {
        let name = format!("pao_test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let mut postgres = self.connect("postgres").await;
        if name == "pao_test_0" {
            let role = format!("CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}' IN ROLE pg_read_all_data");
            sqlx::raw_sql(AssertSqlSafe(role)).execute(&mut postgres).await.unwrap();
            let role = format!("CREATE ROLE secure LOGIN PASSWORD '{PASSWORD}' IN ROLE pg_read_all_data");
            sqlx::raw_sql(AssertSqlSafe(role)).execute(&mut postgres).await.unwrap();
        }
        let create = format!("CREATE DATABASE {name}");
        sqlx::raw_sql(AssertSqlSafe(create)).execute(&mut postgres).await.unwrap();
        postgres.close().await.unwrap();
        Database { name, server: self }
    }

    async fn connect(&self, database: &str) -> PgConnection {
        let options = PgConnectOptions::new()
            .host("127.0.0.1")
            .port(self.port)
            .username("postgres")
            .password(PASSWORD)
            .database(database)
            .ssl_mode(PgSslMode::Disable);
        // The port is open a moment before the server is ready.
        for _ in 0..200 {
            match options.connect().await {
                Ok(connection) => return connection,
                Err(sqlx::Error::Database(e)) if e.code().as_deref() == Some("57P03") => {
                    tokio::time::sleep(Duration::from_millis(25)).await;
                }
                Err(e) => panic!("the test server refuses: {e}"),
            }
        }
        panic!("the test server does not become ready")
    }

    /// Starts a pgbouncer before this server.
    pub fn bouncer(&self) -> PgBouncer {
        let dir = tempfile::Builder::new().prefix("pao-pgb").tempdir().unwrap().keep();
        let port = free_port();
        let users = dir.join("users.txt");
        std::fs::write(&users, format!("\"postgres\" \"{PASSWORD}\"\n\"reader\" \"{PASSWORD}\"\n")).unwrap();
        let ini = dir.join("pgbouncer.ini");
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = scram-sha-256\nauth_file = {}\npool_mode = transaction\n\
             default_pool_size = 1\n",
            self.port,
            users.display()
        );
        std::fs::write(&ini, text).unwrap();
        for path in [&dir, &users, &ini] {
            if let Some((uid, gid)) = self.user {
                chown(path, Some(uid), Some(gid)).unwrap();
            }
        }
        let mut bouncer = as_user(self.user, &program("pgbouncer", &["/usr/sbin", "/usr/local/sbin"]));
        bouncer.arg(&ini);
        let child = tied_to_us(&bouncer, "TERM", &dir);
        wait_for(port, &dir.join("log"));
        PgBouncer { port, child }
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

impl Database {
    /// Its address for a role that may only read, without a password.
    pub fn url(&self) -> String {
        format!("postgres://reader@127.0.0.1:{}/{}", self.server.port, self.name)
    }

    /// A connection that may do everything.
    pub async fn connect(&self) -> PgConnection {
        self.server.connect(&self.name).await
    }

    /// Runs statements as the owner of everything.
    pub async fn run(&self, sql: &str) {
        let mut connection = self.connect().await;
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    /// Adds an observation about an entity, which is made where it is missing; gives the observation's id.
    pub async fn observe(&self, entity: &str, text: &str, at: &str) -> i32 {
        let mut connection = self.connect().await;
        let (id,) = sqlx::query_as::<_, (i32,)>(
            "WITH e AS (INSERT INTO entities (name, entity_type) VALUES ($1, 'thing')
                        ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id)
             INSERT INTO observations (entity_id, observation_text, created_at)
             SELECT e.id, $2, $3::text::timestamptz FROM e RETURNING id",
        )
        .bind(entity)
        .bind(text)
        .bind(at)
        .fetch_one(&mut connection)
        .await
        .unwrap();
        connection.close().await.unwrap();
        id
    }
}

/// A port nobody listens on at this moment.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn wait_for(port: u16, log: &Path) {
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        let text = || std::fs::read_to_string(log).unwrap_or_default();
        assert!(start.elapsed() < Duration::from_secs(30), "nothing listens on {port}: {}", text());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a server that is ended by this signal when our end of its pipe closes; its folder goes with it.
fn tied_to_us(server: &Command, signal: &str, dir: &Path) -> Child {
    let script = r#"dir=$1 signal=$2; shift 2; "$@" >"$dir/log" 2>&1 </dev/null & pid=$!
        cat >/dev/null; kill -$signal $pid; wait $pid; rm -rf "$dir""#;
    Command::new("/bin/sh")
        .args(["-c", script, "sh"])
        .arg(dir)
        .arg(signal)
        .arg(server.get_program())
        .args(server.get_args())
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// PostgreSQL and pgbouncer refuse to run as root.
fn unprivileged() -> Option<(u32, u32)> {
    if !nix::unistd::geteuid().is_root() {
        return None;
    }
    let user = ["postgres", "nobody"]
        .iter()
        .find_map(|name| nix::unistd::User::from_name(name).ok().flatten())
        .expect("a user other than root");
    Some((user.uid.as_raw(), user.gid.as_raw()))
}

fn as_user(user: Option<(u32, u32)>, program: &Path) -> Command {
    let Some((uid, gid)) = user else {
        let mut command = Command::new(program);
        command.current_dir("/");
        return command;
    };
    let mut command = Command::new("setpriv");
    command
        .args([format!("--reuid={uid}"), format!("--regid={gid}"), "--clear-groups".into()])
        .arg(program)
        .current_dir("/");
    command
}

fn binaries() -> PathBuf {
    let roots = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"];
    let mut found: Vec<(u32, PathBuf)> = roots
        .iter()
        .filter_map(|root| std::fs::read_dir(root).ok())
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let version = name.trim_start_matches("postgresql@").parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .filter(|(_, bin)| bin.join("initdb").exists())
        .collect();
    found.sort();
    let newest = found.pop().map(|(_, bin)| bin);
    newest.unwrap_or_else(|| program("initdb", &[]).parent().unwrap().to_path_buf())
}

/// A program on PATH or in one of the further folders; missing is a failure of the set-up, never a reason to skip.
fn program(name: &str, further: &[&str]) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(further.iter().map(PathBuf::from))
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("{name} is not installed: run `cargo xtask test`, which does the set-up"))
}

fn certificates(dir: &Path) -> PathBuf {
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    authority.distinguished_name.push(rcgen::DnType::CommonName, "PAO tests");
    let authority_certificate = authority.self_signed(&authority_key).unwrap();
    let issuer = rcgen::Issuer::new(authority, authority_key);
    let key = rcgen::KeyPair::generate().unwrap();
    let server = rcgen::CertificateParams::new(vec!["localhost".into(), "127.0.0.1".into()]).unwrap();
    let certificate = server.signed_by(&key, &issuer).unwrap();
    let ca = dir.join("ca.pem");
    std::fs::write(&ca, authority_certificate.pem()).unwrap();
    std::fs::write(dir.join("server.pem"), certificate.pem()).unwrap();
    let key_file = dir.join("server.key");
    std::fs::write(&key_file, key.serialize_pem()).unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&key_file, private).unwrap();
    // The authority's certificate is read by the tests too, which may not be the server's user.
    ca
}
