//! Tests of `probe`.

use super::*;

#[test]
fn the_compiled_object_is_a_bpf_program_with_type_information() {
    assert_eq!(&OBJECT[..4], b"\x7fELF");
    let has = |name: &[u8]| OBJECT.windows(name.len()).any(|window| window == name);
    for section in [b".BTF\0".as_slice(), b".BTF.ext\0", b"raw_tp/block_rq_complete\0"] {
        assert!(has(section), "{}", String::from_utf8_lossy(section));
    }
}

#[test]
fn a_root_without_type_information_never_touches_the_kernel() {
    let sys = tempfile::tempdir().unwrap();
    let why = Probe::load(sys.path()).err().expect("nothing to load with");
    assert_eq!(why.reason, Reason::NotSupported);
    assert!(why.message.contains("CONFIG_DEBUG_INFO_BTF"), "{why}");
}

#[test]
fn refusals_are_found_below_what_the_loader_says() {
    let nested = |code| aya::EbpfError::from(aya::maps::MapError::from(io_call(code)));
    assert_eq!(explain(&nested(1)).reason, Reason::NoPermission);
    assert_eq!(explain(&nested(12)).reason, Reason::Busy);
    assert_eq!(explain(&nested(22)).reason, Reason::NotSupported);
}

#[test]
fn a_refusal_of_the_verifier_is_no_lack_of_permission() {
    let refused = |log: &str| {
        let io_error = io::Error::from_raw_os_error(13);
        let text = format!("the BPF_PROG_LOAD syscall returned {io_error}. Verifier output: {log}");
        explain(&Loading { text, io_error })
    };
    let why =
        refused("0: R1=ctx()\nR1 unbounded memory access\nverification time 7 usec\nprocessed 1 insns\n");
    assert_eq!(why.reason, Reason::NotSupported);
    assert!(why.message.ends_with(": R1 unbounded memory access"), "{why}");
    assert_eq!(refused("").reason, Reason::NoPermission);
}

#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct Loading {
    text: String,
    #[source]
    io_error: io::Error,
}

fn io_call(code: i32) -> aya::sys::SyscallError {
    aya::sys::SyscallError {
        call: "bpf_map_create",
        io_error: io::Error::from_raw_os_error(code),
    }
}

#[test]
fn differences_never_go_below_zero() {
    let mut earlier = PhaseCounts::default();
    let mut now = PhaseCounts::default();
    earlier.histogram.add(3, 5);
    now.histogram.add(3, 2);
    now.histogram.add(7, 4);
    let delta = now.since(&earlier);
    assert_eq!(
        (
            delta.count,
            delta.histogram.counts()[3],
            delta.histogram.counts()[7]
        ),
        (4, 0, 4)
    );
}
