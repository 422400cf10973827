//! The scenarios in the binary.

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$((concat!("scenarios/", $name, ".toml"),
             include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/", $name, ".toml")))),*]
    };
}

/// Path and text of every scenario that comes with skewlab.
pub const SHIPPED: &[(&str, &str)] = files!(
    "release-skew",
    "frame-mutants",
    "bus-split",
    "side-effects",
    "finish-tool",
    "cut-short",
    "session-feed",
    "drift",
    "drift-contained",
    "crash",
    "batching",
    "cancel-before",
    "dangling"
);

/// The name that stands for all of [`FIELD`].
pub const FIELD_GROUP: &str = "field";

/// Path and text of every scenario that was reported of a real system, by name.
pub const FIELD: &[(&str, &str)] = files!(
    "field/Bamboo-agent-543",
    "field/CommandMate-1356",
    "field/Ivy-Tendril-146",
    "field/OpenHands-15108",
    "field/OpenHands-16733",
    "field/OpenHands-16965",
    "field/PraisonAI-2327",
    "field/agent-canvas-753",
    "field/aisix-111",
    "field/anthropic-sdk-python-1363",
    "field/aspnetcore-44943",
    "field/automation-228",
    "field/centaur-179",
    "field/centrifuge-255",
    "field/claude-agent-acp-824",
    "field/cline-13180",
    "field/codex-43022",
    "field/copilot-sdk-2105",
    "field/dstack-4208",
    "field/eliza-17123",
    "field/eventa-74",
    "field/hermes-agent-108154",
    "field/kimi-code-1083",
    "field/koog-2148",
    "field/local-operator-1350",
    "field/manabrew-727",
    "field/omnara-502",
    "field/open-webui-23735",
    "field/opencode-11328",
    "field/opencode-196",
    "field/opencode-50285",
    "field/openrouter-python-266",
    "field/pi-web-382",
    "field/protobuf-7392",
    "field/smithy-python-680",
    "field/software-agent-sdk-1791",
    "field/software-agent-sdk-3987",
    "field/software-agent-sdk-4672",
    "field/software-agent-sdk-4673",
    "field/software-agent-sdk-4695",
    "field/t3code-9715",
    "field/term-llm-1044",
    "field/typescript-sdk-1233",
    "field/vercel-ai-11309",
    "field/vibe-kanban-3124",
    "field/ws-2332",
    "field/xagent-1358",
    "field/xum-2165",
);
