//! The rules' values with the guide's defaults. Imports only std.

/// Everything that turns readings into a level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rules {
    /// How much each dimension counts.
    pub weights: Weights,
    /// The values at which an index reaches 1.
    pub saturation: Saturation,
    /// The values above which something is detected or penalised.
    pub thresholds: Thresholds,
    /// What compound interference multiplies weights by.
    pub penalties: Penalties,
    /// How memory is judged without PSI.
    pub degraded_memory: DegradedMemory,
}

/// How much each dimension counts; the sum should be about 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Cache pollution.
    pub cache: f64,
    /// Memory pressure.
    pub memory: f64,
    /// I/O queue congestion.
    pub io: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            cache: 0.30,
            memory: 0.30,
            io: 0.40,
        }
    }
}

/// The values at which an index reaches 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// Miss rate times occupancy.
    pub cache_product: f64,
    /// Memory pressure, percent.
    pub psi_memory: f64,
    /// Block I/O latency P99, milliseconds.
    pub bio_latency_p99_ms: f64,
    /// I/O pressure, percent.
    pub psi_io: f64,
}

impl Default for Saturation {
    fn default() -> Self {
        Self {
            cache_product: 0.175,
            psi_memory: 50.0,
            bio_latency_p99_ms: 100.0,
            psi_io: 20.0,
        }
    }
}

/// The values above which something is detected or penalised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Cache miss rate, 0 to 1.
    pub cache_miss_rate: f64,
    /// Cache occupancy, 0 to 1; also stands in for an unknown occupancy.
    pub llc_occupancy: f64,
    /// Block I/O latency P99, milliseconds.
    pub bio_latency_p99_ms: f64,
    /// I/O pressure, percent.
    pub psi_io: f64,
    /// Memory pressure `some`, percent.
    pub psi_memory_some: f64,
    /// Memory pressure `full`, percent.
    pub psi_memory_full: f64,
    /// I/O penalty: latency P99, milliseconds.
    pub io_penalty_p99_ms: f64,
    /// I/O penalty: I/O pressure, percent.
    pub io_penalty_psi_io: f64,
    /// Penalty on memory and I/O: memory pressure, percent.
    pub mem_io_penalty_memory: f64,
    /// Penalty on memory and I/O: I/O pressure, percent.
    pub mem_io_penalty_psi_io: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            cache_miss_rate: 0.20,
            llc_occupancy: 0.70,
            bio_latency_p99_ms: 50.0,
            psi_io: 20.0,
            psi_memory_some: 10.0,
            psi_memory_full: 0.0,
            io_penalty_p99_ms: 50.0,
            io_penalty_psi_io: 20.0,
            mem_io_penalty_memory: 50.0,
            mem_io_penalty_psi_io: 20.0,
        }
    }
}

/// What compound interference multiplies weights by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalties {
    /// On the I/O weight.
    pub io_multiplier: f64,
    /// On the memory and the I/O weight.
    pub mem_io_multiplier: f64,
}

impl Default for Penalties {
    fn default() -> Self {
        Self {
            io_multiplier: 1.2,
            mem_io_multiplier: 1.1,
        }
    }
}

/// How memory is judged without PSI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DegradedMemory {
    /// Below this share of available memory there is pressure, 0 to 1.
    pub mem_available_ratio_threshold: f64,
    /// Above this many scanned pages per second there is pressure.
    pub page_scan_rate_threshold: f64,
}

impl Default for DegradedMemory {
    fn default() -> Self {
        Self {
            mem_available_ratio_threshold: 0.30,
            page_scan_rate_threshold: 10_000.0,
        }
    }
}
