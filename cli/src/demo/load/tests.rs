//! Whatever becomes of a load, its threads and its file go.

use super::*;

fn folder(name: &str) -> PathBuf {
    // Beside the test's binary: on a disk wherever the build is on one.
    let exe = std::env::current_exe().expect("a test has a file");
    let folder = exe
        .parent()
        .expect("in a folder")
        .join(format!("load-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn bounds(directory: &Path, time: Duration) -> Bounds {
    Bounds {
        directory: Some(directory.to_owned()),
        bytes: 4 << 20,
        threads: 3,
        time,
    }
}

fn wait(what: &str, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).expect("our folder").next().is_none()
}

/// False, with a line, where the folder is no place for a load.
fn can_load(folder: &Path) -> bool {
    match usable(folder, 4 << 20) {
        Ok(()) => true,
        Err(error) => {
            println!("skipped: {}: {error:#}", folder.display());
            false
        }
    }
}

#[test]
fn a_dropped_load_leaves_no_thread_and_no_file() {
    let folder = folder("dropped");
    if can_load(&folder) {
        let load = Load::start(bounds(&folder, Duration::from_secs(600))).expect("it starts");
        let shared = Arc::clone(&load.shared);
        wait("reading", || load.done().reads > 0);
        assert!(is_empty(&folder), "the file has no name even while it is read");
        assert!(!load.is_over());
        drop(load);
        let reads = shared.reads.load(Ordering::Relaxed);
        assert_eq!(Arc::strong_count(&shared), 1, "no thread holds on to it");
        assert!(reads > 0 && lock(&shared.done).failed.is_none());
    }
    std::fs::remove_dir_all(&folder).expect("our own folder");
}

#[test]
fn a_panic_of_its_owner_ends_it() {
    let folder = folder("panic");
    if can_load(&folder) {
        let load = Load::start(bounds(&folder, Duration::from_secs(600))).expect("it starts");
        let shared = Arc::clone(&load.shared);
        let owner = std::thread::spawn(move || {
            let _load = load;
            panic!("as part of the test");
        });
        assert!(owner.join().is_err());
        assert_eq!(Arc::strong_count(&shared), 1);
        assert!(is_empty(&folder));
    }
    std::fs::remove_dir_all(&folder).expect("our own folder");
}

#[test]
fn it_ends_by_itself_when_its_time_is_over() {
    let folder = folder("time");
    if can_load(&folder) {
        let load = Load::start(bounds(&folder, Duration::from_millis(300))).expect("it starts");
        wait("the end", || load.is_over());
        let done = load.done();
        assert_eq!((done.failed, done.threads), (None, 3));
        assert!(is_empty(&folder));
    }
    std::fs::remove_dir_all(&folder).expect("our own folder");
}

#[test]
fn a_folder_that_will_not_do_is_told() {
    let rows = [
        ("/nowhere", "--load-dir /nowhere: cannot open it"),
        ("/dev/shm", "in memory"),
    ];
    for (path, part) in rows {
        if part == "in memory" && !Path::new(path).exists() {
            println!("skipped: no {path}");
            continue;
        }
        let load = Load::start(bounds(Path::new(path), Duration::from_secs(600))).expect("it starts");
        wait("the end", || load.is_over());
        let failed = load.done().failed.expect("it cannot work");
        assert!(failed.contains(part), "{failed}");
        assert_eq!(load.done().seconds, None);
    }
    let folder = folder("room");
    let huge = Bounds {
        bytes: u64::MAX / 4,
        ..bounds(&folder, Duration::from_secs(600))
    };
    if can_load(&folder) {
        let error = directory(huge.directory.as_deref(), huge.bytes).expect_err("no disk is that large");
        assert!(format!("{error:#}").contains("it has room for"), "{error:#}");
    }
    std::fs::remove_dir_all(&folder).expect("our own folder");
}
