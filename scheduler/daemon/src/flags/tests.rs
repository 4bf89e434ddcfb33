use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn flags(line: &str) -> Flags {
    match parse(&words(line)) {
        Ok(Parsed::Run(flags)) => *flags,
        other => panic!("{line}: {other:?}"),
    }
}

fn error(line: &str) -> String {
    match parse(&words(line)) {
        Err(error) => error.to_string(),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn the_stock_charts_arguments_are_understood() {
    let flags = flags(
        "--logtostderr --scheduler-conf=/volcano.scheduler/volcano-scheduler.conf --enable-healthz=true \
         --enable-metrics=true --leader-elect=false -v=3 2>&1",
    );
    assert_eq!(
        flags.scheduler_conf.as_deref(),
        Some(std::path::Path::new("/volcano.scheduler/volcano-scheduler.conf"))
    );
    assert!(flags.enable_healthz && flags.enable_metrics && !flags.leader_elect);
    assert_eq!((flags.verbosity, flags.warnings.len()), (3, 0));
}

#[test]
fn defaults_are_upstreams() {
    let flags = flags("");
    assert_eq!(flags.scheduler_names, ["volcano"]);
    assert_eq!(flags.schedule_period, Duration::from_secs(1));
    assert_eq!(
        (
            &*flags.listen_address,
            &*flags.healthz_address,
            &*flags.default_queue
        ),
        (":8080", ":11251", "default")
    );
    assert_eq!((flags.kube_api_qps, flags.kube_api_burst), (2000.0, 2000.0));
    assert!(flags.leader_elect && flags.priority_class && flags.cache_dumper);
    assert!(!flags.enable_metrics && !flags.enable_healthz);
    assert_eq!(flags.lock_object_namespace, "volcano-system");
    assert_eq!((flags.tls, flags.scheduler_conf), (None, None));
}

#[test]
fn go_spellings_are_the_same() {
    for line in ["--v=4", "-v=4", "-v 4", "--v 4", "-v4"] {
        assert_eq!(flags(line).verbosity, 4, "{line}");
    }
    for line in ["--leader_elect=f", "--leader-elect=False", "-leader-elect=0"] {
        assert!(!flags(line).leader_elect, "{line}");
    }
    let several = flags("--scheduler-name a --scheduler-name=b,c --node-selector=x:1,y:2 --node-selector z");
    assert_eq!(several.scheduler_names, ["a", "b,c"], "commas do not part names");
    assert_eq!(several.node_selector, ["x:1", "y:2"]);
    assert!(several.warnings[0].contains("\"z\""), "{:?}", several.warnings);
    assert_eq!(parse(&words("--version")), Ok(Parsed::Version));
    assert_eq!(parse(&words("-h")), Ok(Parsed::Help));
    let later = flags("--leader-elect-resource-namespace=ns");
    assert_eq!(later.lock_object_namespace, "ns");
}

#[test]
fn what_cannot_be_used_is_named_with_what_to_give() {
    let rows = [
        ("--schedule-perod=1s", "did you mean --schedule-period?"),
        ("--nonsense-at-all=1", "see --help"),
        ("--schedule-period=5", "--schedule-period=5: it takes a duration"),
        ("--schedule-period=0s", "above zero"),
        ("--leader-elect=yes", "--leader-elect=yes: it takes true or false"),
        ("--kube-api-qps=fast", "--kube-api-qps=fast: it takes a number"),
        ("--kube-api-qps=NaN", "it takes a number"),
        ("--kube-api-burst", "--kube-api-burst needs a value"),
        ("--node-worker-threads=x", "it takes a whole number"),
        ("--lock-object-namespace=", "needs a namespace for its Lease"),
        ("--scheduler-name=", "a name that pods can give"),
        ("--default-queue=", "the name of a queue"),
    ];
    for (line, expected) in rows {
        let error = error(line);
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn what_does_nothing_here_is_told_once() {
    let flags = flags(
        "--plugins-dir=/x --plugins-dir=/y --percentage-nodes-to-find=50 --logtostderr --feature-gates=A=true",
    );
    let told: Vec<&str> = flags
        .warnings
        .iter()
        .filter_map(|warning| warning.split(' ').next())
        .collect();
    assert_eq!(
        told,
        [
            "--plugins-dir=/x",
            "--percentage-nodes-to-find=50",
            "--feature-gates=A=true"
        ]
    );
    let half = super::tests::flags("--tls-cert-file=/c");
    assert!(
        half.warnings[0].contains("all of --ca-cert-file"),
        "{:?}",
        half.warnings
    );
    let whole = super::tests::flags("--tls-cert-file=/c --ca-cert-file=/a --tls-private-key-file=/k");
    assert_eq!(whole.tls.map(|tls| tls.key), Some("/k".into()));
}
