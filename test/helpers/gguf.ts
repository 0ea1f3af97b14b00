/** Bytes of a GGUF file: its header, and invalid weights. */
export function gguf(metadata: Record<string, string | number | boolean | string[]>, weights = 64): Buffer {
  const entries = Object.entries(metadata).map(([key, value]) => Buffer.concat([text(key), entry(value)]))
  const head = Buffer.concat([Buffer.from('GGUF'), u32(3), u64(0), u64(entries.length), ...entries])
  return Buffer.concat([head, Buffer.alloc(weights, 7)])
}

/** The header of an embedding model, as sentence encoders have it. */
export function embedderGguf(weights?: number): Buffer {
  return gguf(
    {
      'general.architecture': 'bert',
      'general.license': 'apache-2.0',
      'bert.context_length': 512,
      'bert.attention.causal': false,
      'tokenizer.ggml.tokens': ['a', 'bird', 'sings'],
      'bert.pooling_type': 1,
    },
    weights,
  )
}

function entry(value: string | number | boolean | string[]): Buffer {
  if (typeof value === 'string') return Buffer.concat([u32(8), text(value)])
  if (typeof value === 'number') return Buffer.concat([u32(4), u32(value)])
  if (typeof value === 'boolean') return Buffer.concat([u32(7), Buffer.from([value ? 1 : 0])])
  return Buffer.concat([u32(9), u32(8), u64(value.length), ...value.map(text)])
}

function text(value: string): Buffer {
  return Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)])
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
