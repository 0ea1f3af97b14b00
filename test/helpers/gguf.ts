/** Builds a GGUF file: its header, and invalid weights of this number of bytes. */
export function buildGguf(metadata: Record<string, string | number | boolean | string[]>, weightBytes = 64): Buffer {
  const entries = Object.entries(metadata).map(([key, value]) => Buffer.concat([encodeText(key), encodeValue(value)]))
  const head = Buffer.concat([Buffer.from('GGUF'), encodeU32(3), encodeU64(0), encodeU64(entries.length), ...entries])
  return Buffer.concat([head, Buffer.alloc(weightBytes, 7)])
}

/** Builds the file of an embedding model, with the header of a sentence encoder. */
export function buildEmbedderGguf(weightBytes?: number): Buffer {
  return buildGguf(
    {
      'general.architecture': 'bert',
      'general.license': 'apache-2.0',
      'bert.context_length': 512,
      'bert.attention.causal': false,
      'tokenizer.ggml.tokens': ['a', 'bird', 'sings'],
      'bert.pooling_type': 1,
    },
    weightBytes,
  )
}

function encodeValue(value: string | number | boolean | string[]): Buffer {
  if (typeof value === 'string') return Buffer.concat([encodeU32(8), encodeText(value)])
  if (typeof value === 'number') return Buffer.concat([encodeU32(4), encodeU32(value)])
  if (typeof value === 'boolean') return Buffer.concat([encodeU32(7), Buffer.from([value ? 1 : 0])])
  return Buffer.concat([encodeU32(9), encodeU32(8), encodeU64(value.length), ...value.map(encodeText)])
}

function encodeText(value: string): Buffer {
  return Buffer.concat([encodeU64(Buffer.byteLength(value)), Buffer.from(value)])
}

function encodeU32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function encodeU64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
