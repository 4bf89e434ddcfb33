use super::*;
use std::os::unix::fs::symlink;

const GOOD: &str = "actions: \"enqueue, allocate\"\ntiers:\n- plugins:\n  - name: gang\n";
const OTHER: &str = "actions: \"allocate\"\ntiers:\n- plugins:\n  - name: gang\n";
const BAD: &str = "actions: \"enqueue, alocate\"\n";

/// A folder as the kubelet fills it: the file is a link into `..data`, which is a link to a folder with a time in its name.
struct Mounted {
    folder: tempfile::TempDir,
    serial: u32,
}

impl Mounted {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut mounted = Self { folder, serial: 0 };
        mounted.swap(text);
        symlink("..data/volcano-scheduler.conf", mounted.path()).expect("a link");
        mounted
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("volcano-scheduler.conf")
    }

    fn swap(&mut self, text: &str) {
        self.serial += 1;
        let root = self.folder.path();
        let name = format!("..2026_{}", self.serial);
        std::fs::create_dir(root.join(&name)).expect("a folder");
        std::fs::write(root.join(&name).join("volcano-scheduler.conf"), text).expect("a file");
        symlink(&name, root.join("..data_tmp")).expect("a link");
        std::fs::rename(root.join("..data_tmp"), root.join("..data")).expect("a swap");
    }
}

fn actions(keeper: &ConfKeeper) -> Vec<String> {
    keeper.subscribe().borrow().actions.clone()
}

#[test]
fn the_last_good_content_stays_and_each_fault_is_told_once() {
    let mut mounted = Mounted::new(GOOD);
    let mut keeper = ConfKeeper::new(Some(mounted.path()));
    assert_eq!(keeper.look(), Some(Reload::Loaded));
    assert_eq!(keeper.look(), None, "nothing changed");
    mounted.swap(BAD);
    let Some(Reload::Refused(why)) = keeper.look() else {
        panic!("a bad content is refused");
    };
    assert!(
        why.contains("volcano-scheduler.conf") && why.contains("alocate"),
        "{why}"
    );
    assert_eq!(actions(&keeper), ["enqueue", "allocate"]);
    assert_eq!(keeper.look(), None, "told already");
    mounted.swap(OTHER);
    assert_eq!(keeper.look(), Some(Reload::Loaded));
    assert_eq!(actions(&keeper), ["allocate"]);
}

#[test]
fn a_file_that_cannot_be_read_leaves_what_is_in_force() {
    let mounted = Mounted::new(GOOD);
    let mut keeper = ConfKeeper::new(Some(mounted.path()));
    keeper.look();
    std::fs::remove_file(mounted.path()).expect("it can go");
    assert!(matches!(keeper.look(), Some(Reload::Refused(why)) if why.contains("cannot be read")));
    assert_eq!(keeper.look(), None, "told already");
    assert_eq!(actions(&keeper), ["enqueue", "allocate"]);
    std::fs::write(mounted.path(), GOOD).expect("it can be written");
    assert_eq!(keeper.look(), Some(Reload::Loaded), "what was amiss is over");
}

#[test]
fn without_a_file_the_built_in_configuration_is_in_force() {
    let mut keeper = ConfKeeper::new(None);
    assert_eq!(keeper.look(), None);
    assert_eq!(actions(&keeper), ["enqueue", "allocate", "backfill"]);
}

#[tokio::test]
async fn a_swap_beside_the_file_is_seen() {
    let mut mounted = Mounted::new(GOOD);
    let mut keeper = ConfKeeper::new(Some(mounted.path()));
    keeper.look();
    let mut active = keeper.subscribe();
    let stop = CancellationToken::new();
    let watching = tokio::spawn(keeper.watch(|_| {}, stop.clone()));
    // Until the watcher is at work a swap might be missed, and would be found only by the slow poll.
    let mut seen = false;
    for text in std::iter::repeat_n([OTHER, GOOD], 20).flatten() {
        mounted.swap(text);
        let changed = tokio::time::timeout(Duration::from_millis(600), active.changed()).await;
        if changed.is_ok_and(|changed| changed.is_ok()) {
            seen = true;
            break;
        }
    }
    assert!(
        seen,
        "no swap was seen, and the poll comes later than all of them"
    );
    stop.cancel();
    watching.await.expect("it ends");
}
