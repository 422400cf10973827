//! What a model streams, chunk by chunk, and the message that a step's chunks add up to.

use serde::{Deserialize, Serialize};

/// What a block of a reply is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockKind {
    /// Text of the reply.
    Text,
    /// The model's reasoning.
    Reasoning,
    /// A call of a tool; its text is the call's arguments.
    ToolCall,
}

/// One chunk of a stream. One chunk is not one token: a reply of three characters is seven chunks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Chunk {
    /// A block begins.
    BlockStart {
        /// The block's place in the message.
        index: u32,
        /// What it is.
        kind: BlockKind,
    },
    /// Text of the reply.
    TextDelta {
        /// The block.
        index: u32,
        /// The text.
        text: Box<str>,
    },
    /// Text of the model's reasoning.
    ReasoningDelta {
        /// The block.
        index: u32,
        /// The text.
        text: Box<str>,
    },
    /// Part of a tool call's arguments.
    ToolCallDelta {
        /// The block.
        index: u32,
        /// The part, JSON text that need not be whole.
        text: Box<str>,
    },
    /// The block is complete.
    BlockEnd {
        /// The block.
        index: u32,
    },
    /// What the request cost.
    Usage {
        /// Tokens of the request.
        input: u64,
        /// Tokens of the reply.
        output: u64,
    },
    /// The model is done. A snapshot replay splits a step's chunks here.
    Finish {
        /// Why: `stop`, `tool-calls`, `error`.
        reason: Box<str>,
    },
}

impl Chunk {
    /// The block and the text of a delta of any kind.
    pub fn delta(&self) -> Option<(BlockKind, u32, &str)> {
        match self {
            Chunk::TextDelta { index, text } => Some((BlockKind::Text, *index, text)),
            Chunk::ReasoningDelta { index, text } => Some((BlockKind::Reasoning, *index, text)),
            Chunk::ToolCallDelta { index, text } => Some((BlockKind::ToolCall, *index, text)),
            _ => None,
        }
    }

    /// A delta of `kind` with this text.
    pub fn of(kind: BlockKind, index: u32, text: &str) -> Chunk {
        let text = text.into();
        match kind {
            BlockKind::Text => Chunk::TextDelta { index, text },
            BlockKind::Reasoning => Chunk::ReasoningDelta { index, text },
            BlockKind::ToolCall => Chunk::ToolCallDelta { index, text },
        }
    }
}

/// A block of a committed message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its whole text.
    pub text: String,
}

/// Adds chunks up to the blocks of a message, in the order of their index. Blocks without a character are left out.
///
/// A delta whose block was never begun opens it: a stream that lost its first chunk still adds up to what is left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assembler {
    blocks: std::collections::BTreeMap<u32, Block>,
    usage: Option<(u64, u64)>,
}

impl Assembler {
    /// Takes the next chunk.
    pub fn push(&mut self, chunk: &Chunk) {
        match chunk {
            Chunk::BlockStart { index, kind } => {
                self.blocks.entry(*index).or_insert_with(|| Block { kind: *kind, text: String::new() });
            }
            Chunk::Usage { input, output } => self.usage = Some((*input, *output)),
            _ => {
                if let Some((kind, index, text)) = chunk.delta() {
                    let block =
                        self.blocks.entry(index).or_insert_with(|| Block { kind, text: String::new() });
                    block.text.push_str(text);
                }
            }
        }
    }

    /// What the request cost, tokens in and out, once that was streamed.
    pub fn usage(&self) -> Option<(u64, u64)> {
        self.usage
    }

    /// The blocks that have text.
    pub fn blocks(&self) -> Vec<Block> {
        self.blocks.values().filter(|block| !block.text.is_empty()).cloned().collect()
    }
}

/// The blocks that chunks add up to; see [`Assembler`].
pub fn assemble<'a>(chunks: impl IntoIterator<Item = &'a Chunk>) -> Vec<Block> {
    let mut assembler = Assembler::default();
    chunks.into_iter().for_each(|chunk| assembler.push(chunk));
    assembler.blocks()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_add_up_to_blocks_in_index_order_and_read_back() {
        let chunks = [
            Chunk::BlockStart { index: 1, kind: BlockKind::Text },
            Chunk::of(BlockKind::Text, 1, "He"),
            Chunk::BlockStart { index: 0, kind: BlockKind::Reasoning },
            Chunk::of(BlockKind::Reasoning, 0, "hm"),
            Chunk::of(BlockKind::Text, 1, "y"),
            Chunk::BlockStart { index: 2, kind: BlockKind::Text },
            Chunk::BlockEnd { index: 2 },
            Chunk::Usage { input: 3, output: 2 },
            Chunk::Finish { reason: "stop".into() },
        ];
        let said: Vec<(BlockKind, String)> =
            assemble(&chunks).into_iter().map(|b| (b.kind, b.text)).collect();
        assert_eq!(said, [(BlockKind::Reasoning, "hm".to_owned()), (BlockKind::Text, "Hey".to_owned())]);
        for chunk in chunks {
            let text = serde_json::to_string(&chunk).unwrap();
            assert_eq!(serde_json::from_str::<Chunk>(&text).unwrap(), chunk, "{text}");
        }
    }
}
