//! The conf file is edited while the scheduler runs.

use mco_cluster_tests::wait::{QUIET, SOON, always, until};
use mco_cluster_tests::{Cluster, STOCK_CONF, Scheduler, Setup, gang, kinds, node};

/// Admits jobs but places nothing.
fn only_enqueue() -> String {
    STOCK_CONF.replace("enqueue, allocate, backfill", "enqueue")
}

async fn nothing_is_bound(cluster: &Cluster<'_>, pod: &str) {
    always("nothing is bound", QUIET, async || {
        match &cluster.placements("t").await[pod] {
            None => Ok(()),
            Some(node) => Err(format!("{pod} is bound to {node}")),
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_conf_takes_effect_and_a_bad_one_is_kept_out() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let setup = Setup::default().conf(&only_enqueue());
    let mut scheduler = Scheduler::start_with(cluster.server, setup).await;
    cluster.create_in_order(&gang("t", "first", 2, "1", "1Gi")).await;
    until("the gang is admitted", SOON, async || {
        let group = cluster
            .get(kinds::POD_GROUP, "t", "first")
            .await
            .ok_or("no group")?;
        if group["status"]["phase"] == "Inqueue" {
            Ok(())
        } else {
            Err(group["status"].to_string())
        }
    })
    .await;
    nothing_is_bound(&cluster, "first-0").await;

    scheduler.edit_conf(STOCK_CONF);
    cluster.until_all_bound().await;

    let valid = "mco_scheduler_config_last_reload_successful";
    assert_eq!(scheduler.metric(valid), Some(1.0));
    scheduler.edit_conf("actions: \"enqueue, alocate\"\ntiers: []\n");
    until("the bad conf is told", SOON, async || {
        let log = scheduler.log();
        let said = log.lines().any(|line| line.contains("alocate"));
        let gauge = scheduler.metric(valid);
        if said && gauge == Some(0.0) {
            Ok(())
        } else {
            Err(format!("gauge {gauge:?}, log {log}"))
        }
    })
    .await;
    until("the bad conf is told by an event", SOON, async || {
        let events = cluster.list(kinds::EVENT, "").await;
        let text: Vec<String> = events.iter().map(|event| event["message"].to_string()).collect();
        if text.iter().any(|message| message.contains("alocate")) {
            Ok(())
        } else {
            Err(format!("{text:?}"))
        }
    })
    .await;
    cluster.create_in_order(&gang("t", "second", 2, "1", "1Gi")).await;
    cluster.until_all_bound().await;

    scheduler.edit_conf(&only_enqueue());
    until("the good conf is in force", SOON, async || {
        match scheduler.metric(valid) {
            Some(1.0) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    cluster.create_in_order(&gang("t", "third", 1, "1", "1Gi")).await;
    nothing_is_bound(&cluster, "third-0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_loses_nothing_that_is_under_way() {
    let cluster = Cluster::shared().await;
    for index in 0..5 {
        cluster.create(&node(&format!("n{index}"), "8", "64Gi")).await;
    }
    let mut scheduler = Scheduler::start(cluster.server).await;
    for round in 0..5 {
        cluster
            .create_all(&gang("t", &format!("g{round}"), 8, "1", "1Gi"))
            .await;
        // Alternates between two confs that both place pods.
        let conf = if round % 2 == 0 {
            STOCK_CONF.replace("  - name: binpack\n", "")
        } else {
            STOCK_CONF.to_owned()
        };
        scheduler.edit_conf(&conf);
    }
    let placements = cluster.until_all_bound().await;
    assert_eq!(placements.len(), 40, "the cluster is full to the last CPU");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_conf_file_the_built_in_one_is_used() {
    let cluster = Cluster::shared().await;
    cluster.create(&node("n1", "8", "32Gi")).await;
    let setup = Setup {
        conf: None,
        ..Setup::default()
    };
    let _scheduler = Scheduler::start_with(cluster.server, setup).await;
    cluster.create_in_order(&gang("t", "g", 2, "1", "1Gi")).await;
    cluster.until_all_bound().await;
}
