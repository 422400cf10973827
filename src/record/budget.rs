//! Cost budgets: what a scenario allows a cell to cost, as plain numbers, and what it did cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cost that a budget can limit. All are exact counts, the same under both clocks but where a time takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Times that a delta was turned into JSON text, for sockets and webhook bodies, per token.
    SerialisationsPerToken,
    /// Calls of a subscriber with a delta, per token.
    InvocationsPerToken,
    /// Bytes of JSON text made of deltas, per token.
    BytesPerToken,
    /// Delta frames written to sockets, per token.
    FramesPerToken,
    /// Bytes of those frames with their WebSocket headers, per UTF-8 byte of the model's text and subscriber.
    WireBytesPerTextByte,
    /// Lines that the server logs because of deltas.
    LogLines,
    /// Deltas that the webhook sink got.
    WebhookDeltaEvents,
    /// Posts that the webhook sink accepted, whatever was in them.
    WebhookPosts,
    /// Events that the webhook sink got, deltas included.
    WebhookEvents,
    /// Deltas that telemetry counted.
    TelemetryDeltas,
    /// Writes to the process clock that the stream caused, the producer's heartbeat included.
    IdleWrites,
    /// Writes of `updated_at` that the stream caused.
    UpdatedAtWrites,
    /// Writes to the eviction clock that the stream caused.
    EvictionWrites,
}

impl Metric {
    /// Every metric, in the order in which broken budgets are reported.
    pub const ALL: [Metric; 13] = [
        Metric::SerialisationsPerToken,
        Metric::InvocationsPerToken,
        Metric::BytesPerToken,
        Metric::FramesPerToken,
        Metric::WireBytesPerTextByte,
        Metric::LogLines,
        Metric::WebhookDeltaEvents,
        Metric::WebhookPosts,
        Metric::WebhookEvents,
        Metric::TelemetryDeltas,
        Metric::IdleWrites,
        Metric::UpdatedAtWrites,
        Metric::EvictionWrites,
    ];

    /// The key in a scenario's `[budget]`.
    pub fn as_str(self) -> &'static str {
        match self {
            Metric::SerialisationsPerToken => "serialisations_per_token",
            Metric::InvocationsPerToken => "invocations_per_token",
            Metric::BytesPerToken => "bytes_per_token",
            Metric::FramesPerToken => "frames_per_token",
            Metric::WireBytesPerTextByte => "wire_bytes_per_text_byte",
            Metric::LogLines => "log_lines",
            Metric::WebhookDeltaEvents => "webhook_delta_events",
            Metric::WebhookPosts => "webhook_posts",
            Metric::WebhookEvents => "webhook_events",
            Metric::TelemetryDeltas => "telemetry_deltas",
            Metric::IdleWrites => "idle_writes",
            Metric::UpdatedAtWrites => "updated_at_writes",
            Metric::EvictionWrites => "eviction_writes",
        }
    }

    /// What is counted, in words that follow a number.
    pub fn words(self) -> &'static str {
        match self {
            Metric::SerialisationsPerToken => "serialisations a token",
            Metric::InvocationsPerToken => "subscriber invocations a token",
            Metric::BytesPerToken => "bytes encoded a token",
            Metric::FramesPerToken => "frames a token",
            Metric::WireBytesPerTextByte => "bytes on the wire a byte of text",
            Metric::LogLines => "log lines",
            Metric::WebhookDeltaEvents => "webhook delta events",
            Metric::WebhookPosts => "webhook posts",
            Metric::WebhookEvents => "webhook events",
            Metric::TelemetryDeltas => "telemetry deltas",
            Metric::IdleWrites => "process clock writes while streaming",
            Metric::UpdatedAtWrites => "updated_at writes while streaming",
            Metric::EvictionWrites => "eviction clock writes while streaming",
        }
    }

    /// Whether it is a share, with decimals, and not a count.
    pub fn is_share(self) -> bool {
        self <= Metric::WireBytesPerTextByte
    }
}

/// How a measured value has to stand to the limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Comparison {
    /// At most the limit; what a bare number means.
    #[default]
    #[serde(rename = "<=")]
    AtMost,
    /// Below it.
    #[serde(rename = "<")]
    Below,
    /// Equal to it.
    #[serde(rename = "==")]
    Exactly,
    /// At least the limit.
    #[serde(rename = ">=")]
    AtLeast,
    /// Above it.
    #[serde(rename = ">")]
    Above,
}

impl Comparison {
    /// Every comparison, those of two characters before those that they begin with.
    pub const ALL: [Comparison; 5] =
        [Comparison::AtMost, Comparison::AtLeast, Comparison::Exactly, Comparison::Below, Comparison::Above];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Comparison::AtMost => "<=",
            Comparison::Below => "<",
            Comparison::Exactly => "==",
            Comparison::AtLeast => ">=",
            Comparison::Above => ">",
        }
    }

    /// Whether `measured` stands so to `limit`. Quotients of counts are compared up to their rounding.
    pub fn holds(self, measured: f64, limit: f64) -> bool {
        let near = (measured - limit).abs() <= 1e-9 * limit.abs().max(1.0);
        match self {
            Comparison::AtMost => measured < limit || near,
            Comparison::Below => measured < limit && !near,
            Comparison::Exactly => near,
            Comparison::AtLeast => measured > limit || near,
            Comparison::Above => measured > limit && !near,
        }
    }
}

/// One limit on one cost, worked out for one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// What is limited.
    pub metric: Metric,
    /// How.
    pub is: Comparison,
    /// The limit, in the metric's unit.
    pub value: f64,
    /// The expression that it was worked out from, where it was more than a number.
    pub from: Option<String>,
}

/// A limit on CPU per token relative to another server's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuLimit {
    /// The server that is measured against.
    pub server: String,
    /// The largest ratio of CPU per token that is allowed.
    pub max: f64,
}

/// All limits on one cell. Several on one metric all have to hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Tokens that the model streams; what *per token* divides by.
    pub tokens: u64,
    /// Clients that attend.
    pub subscribers: u64,
    /// Limits on exact counts.
    pub limits: Vec<Limit>,
    /// A limit on CPU, if there is one.
    pub cpu: Option<CpuLimit>,
}

impl Budget {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        self.limits.is_empty() && self.cpu.is_none()
    }
}

/// CPU per token of one server over another's, measured by the clock on the wall in interleaved runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuRatio {
    /// Median over median.
    pub ratio: f64,
    /// 95 % bootstrap interval of it.
    pub ci: [f64; 2],
    /// The same interval of the other server against a second copy of itself: what noise alone makes.
    pub control_ci: [f64; 2],
    /// Whether the rig may be believed.
    pub valid: bool,
}

/// One budget of one cell, and how it was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Budgeted {
    /// The key in the scenario: a metric's, or `cpu_ratio_vs`.
    pub budget: String,
    /// How the measured value has to stand to the limit.
    pub is: Comparison,
    /// The limit.
    pub limit: f64,
    /// The measured value; absent where it was not measured.
    pub measured: Option<f64>,
    /// Whether the budget was kept; absent where nothing can be said.
    pub kept: Option<bool>,
    /// The same in words: what was measured against what limit, or why nothing can be said.
    pub note: String,
}

impl Budgeted {
    /// The key of the budget on CPU.
    pub const CPU_RATIO_VS: &'static str = "cpu_ratio_vs";

    /// Whether it is about CPU and there is no measurement to hold it against.
    pub fn unmeasured(&self) -> bool {
        self.budget == Budgeted::CPU_RATIO_VS && self.measured.is_none()
    }

    /// Whether it was measured and not kept.
    pub fn broken(&self) -> bool {
        self.kept == Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_and_comparisons_are_named_alike_in_scenarios_and_results() {
        for metric in Metric::ALL {
            assert_eq!(serde_json::to_value(metric).unwrap(), metric.as_str());
        }
        for is in Comparison::ALL {
            assert_eq!(serde_json::to_value(is).unwrap(), is.as_str());
        }
        assert!(Metric::ALL.is_sorted());
    }

    #[test]
    fn a_comparison_holds_at_its_limit_up_to_rounding() {
        let holds = |measured: f64| Comparison::ALL.map(|is| is.holds(measured, 0.3));
        // In the order of `ALL`: <=, >=, ==, <, >.
        assert_eq!(holds(0.1 + 0.2), [true, true, true, false, false]);
        assert_eq!(holds(0.301), [false, true, false, false, true]);
        assert_eq!(holds(0.299), [true, false, false, true, false]);
    }
}
