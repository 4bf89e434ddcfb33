// SPDX-License-Identifier: GPL-2.0-only OR MulanPSL-2.0
//
// Latency histograms of completed block requests, counted in the kernel.
//
// This one file is offered under either licence named above: the kernel lets only GPL-compatible programs call the
// helpers that read its memory.
//
// One program on block_rq_complete is enough. The kernel stamps each request when it is made and when it is handed
// to the device, on the clock of bpf_ktime_get_ns(), so no table of requests in flight is needed. Only the fields
// used are declared; their offsets are resolved against the running kernel's own type information at load time.

#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

// Must equal the layout in the wire crate (`latency::SLOTS`): 16 slots per octave of microseconds.
#define SLOTS 384
#define SUB_BITS 4
#define SUB (1 << SUB_BITS)

// Devices times operations. Beyond it everything is counted under the overflow key that user space puts in.
#define MAX_KEYS 512

#define OP_FLUSH 2
// Operations from here on are commands of drivers, not of file systems or applications.
#define OP_DRIVER 32
#define OVERFLOW_OP 0xff

struct gendisk {
	int major;
	int first_minor;
} __attribute__((preserve_access_index));

struct request_queue {
	struct gendisk *disk;
} __attribute__((preserve_access_index));

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	__u64 start_time_ns;
	__u64 io_start_time_ns;
} __attribute__((preserve_access_index));

// Before 5.17 the request itself named its disk.
struct request___with_disk {
	struct gendisk *rq_disk;
} __attribute__((preserve_access_index));

struct phase {
	__u64 count;
	__u64 sum_us;
	__u64 slots[SLOTS];
};

struct key {
	__u32 major;
	__u32 minor;
	__u32 op;
};

// Cumulative since the program was attached; user space takes differences.
struct value {
	struct phase total;  // queue and device: what an application waits for
	struct phase queue;  // made until handed to the device
	struct phase device; // handed to the device until complete
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_KEYS);
	__type(key, struct key);
	__type(value, struct value);
} latencies SEC(".maps");

// The zeroes a new entry starts from: a value is far larger than the stack of a program.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct value);
} zero SEC(".maps");

static __always_inline __u32 ilog2(__u64 v)
{
	__u32 r = 0;

	if (v >> 32) {
		v >>= 32;
		r += 32;
	}
	if (v >> 16) {
		v >>= 16;
		r += 16;
	}
	if (v >> 8) {
		v >>= 8;
		r += 8;
	}
	if (v >> 4) {
		v >>= 4;
		r += 4;
	}
	if (v >> 2) {
		v >>= 2;
		r += 2;
	}
	if (v >> 1)
		r += 1;
	return r;
}

static __always_inline __u32 slot_of(__u64 us)
{
	__u32 shift, slot;

	if (us < SUB)
		return us;
	shift = ilog2(us) - SUB_BITS;
	slot = (shift + 1) * SUB + ((us >> shift) & (SUB - 1));
	return slot < SLOTS ? slot : SLOTS - 1;
}

static __always_inline void count(struct phase *phase, __u64 from, __u64 to)
{
	// Stamps of another CPU may be a little ahead.
	__u64 us = to > from ? (to - from) / 1000 : 0;
	__u32 slot = slot_of(us);

	// slot_of() never exceeds the table. The verifier must see so too, and the compiler, which knows, must not take
	// the check away.
	barrier_var(slot);
	if (slot >= SLOTS)
		return;
	__sync_fetch_and_add(&phase->count, 1);
	__sync_fetch_and_add(&phase->sum_us, us);
	__sync_fetch_and_add(&phase->slots[slot], 1);
}

static __always_inline struct value *entry(struct key *key)
{
	struct value *value = bpf_map_lookup_elem(&latencies, key);
	struct value *zeroes;
	__u32 first = 0;

	if (value)
		return value;
	zeroes = bpf_map_lookup_elem(&zero, &first);
	if (!zeroes)
		return 0;
	bpf_map_update_elem(&latencies, key, zeroes, BPF_NOEXIST);
	value = bpf_map_lookup_elem(&latencies, key);
	if (value)
		return value;
	key->major = 0;
	key->minor = 0;
	key->op = OVERFLOW_OP;
	return bpf_map_lookup_elem(&latencies, key);
}

SEC("raw_tp/block_rq_complete")
int block_rq_complete(struct bpf_raw_tracepoint_args *ctx)
{
	struct request *rq = (struct request *)ctx->args[0];
	__u32 bytes = ctx->args[2];
	__u64 now = bpf_ktime_get_ns();
	__u64 made, started;
	struct gendisk *disk;
	struct value *value;
	struct key key = {};

	// Fewer bytes than are left is a partial completion: the request will come by again.
	if (bytes != BPF_CORE_READ(rq, __data_len))
		return 0;
	key.op = BPF_CORE_READ(rq, cmd_flags) & 0xff;
	if (key.op >= OP_DRIVER)
		return 0;
	// A write that asks for a flush passes here a second time, empty, when the flush is done.
	if (!bytes && key.op != OP_FLUSH)
		return 0;
	made = BPF_CORE_READ(rq, start_time_ns);
	if (!made)
		return 0;

	if (bpf_core_field_exists(struct request___with_disk, rq_disk))
		disk = BPF_CORE_READ((struct request___with_disk *)rq, rq_disk);
	else
		disk = BPF_CORE_READ(rq, q, disk);
	if (disk) {
		key.major = BPF_CORE_READ(disk, major);
		key.minor = BPF_CORE_READ(disk, first_minor);
	}

	value = entry(&key);
	if (!value)
		return 0;
	count(&value->total, made, now);
	started = BPF_CORE_READ(rq, io_start_time_ns);
	if (started) {
		count(&value->queue, made, started);
		count(&value->device, started, now);
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
