//! Flags become settings, and bad ones are refused with what to write instead.

use clap::Parser;

use super::*;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    flags: Flags,
}

fn parse(args: &[&str]) -> Result<Config, String> {
    let line =
        Line::try_parse_from([["collector"].as_slice(), args].concat()).map_err(|error| error.to_string())?;
    line.flags.into_config().map_err(|error| error.to_string())
}

#[test]
fn flags_become_settings() {
    let config = parse(&[
        "--node-name=n1",
        "--analyzer-addr=mco-analyzer.mco-system:9090",
        "--collect-interval=500ms",
        "--metrics-addr=127.0.0.1:0",
        "--spool-samples=5",
    ])
    .unwrap();
    assert_eq!(config.node_name, "n1");
    assert_eq!(
        config.analyzer.as_deref(),
        Some("http://mco-analyzer.mco-system:9090")
    );
    assert_eq!(config.interval, Duration::from_millis(500));
    assert_eq!(
        config.metrics_addr,
        Some(ListenAddr::Exact(([127, 0, 0, 1], 0).into()))
    );
    assert_eq!(config.spool_samples, 5);
    assert_eq!(config.host_sys, Path::new("/sys"));
}

#[test]
fn ports_on_all_hosts_none_at_all_and_no_analyzer() {
    assert_eq!(parse_listen(":9877"), Ok(Some(ListenAddr::AnyHost(9877))));
    assert_eq!(parse_listen("off"), Ok(None));
    assert_eq!(
        parse_listen("[::1]:1"),
        Ok(Some(ListenAddr::Exact("[::1]:1".parse().unwrap())))
    );
    assert_eq!(parse_analyzer(""), Ok(None));
    assert_eq!(
        parse_analyzer("http://[::1]:9090/"),
        Ok(Some("http://[::1]:9090".into()))
    );
}

#[test]
fn a_bad_value_is_refused_with_its_flag_and_what_to_write() {
    for (args, flag, fix) in [
        (
            ["--collect-interval=soon"],
            "--collect-interval",
            "for example 1s",
        ),
        (["--collect-interval=1ms"], "--collect-interval", "from 200ms"),
        (
            ["--collect-interval=99999999999999999999s"],
            "--collect-interval",
            "for example 1s",
        ),
        (["--metrics-addr=9877"], "--metrics-addr", "for example :9877"),
        (["--metrics-addr=:99999"], "--metrics-addr", "for example :9877"),
        (["--analyzer-addr=analyzer"], "--analyzer-addr", "host:port"),
        (["--analyzer-addr=unix:///x:1"], "--analyzer-addr", "host:port"),
        (["--analyzer-addr=a b:1"], "--analyzer-addr", "host:port"),
        (
            ["--analyzer-addr=https://a:1"],
            "--analyzer-addr",
            "http://host:port",
        ),
        (["--analyzer-tls-ca=/ca.pem"], "--analyzer-tls-ca", "without a CA"),
        (["--spool-samples=0"], "--spool-samples", "1..=3600"),
        (["--log-level=loud"], "--log-level", "info"),
        (
            ["--host-proc=/nowhere"],
            "--host-proc",
            "mount the host's /proc there",
        ),
        (
            ["--host-sys=/nowhere"],
            "--host-sys",
            "mount the host's /sys there",
        ),
    ] {
        let error = parse(&args).expect_err(args[0]);
        assert!(
            error.contains(flag) && error.contains(fix),
            "{}: {error}",
            args[0]
        );
    }
}

#[test]
fn without_a_name_the_host_name_is_taken() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(host_name(root.path()), None);
    std::fs::create_dir_all(root.path().join("sys/kernel")).unwrap();
    std::fs::write(root.path().join("sys/kernel/hostname"), "worker-7\n").unwrap();
    assert_eq!(host_name(root.path()).as_deref(), Some("worker-7"));
}
