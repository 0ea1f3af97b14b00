/** The audio of a WAV file (RIFF, Microsoft's multimedia format of 1991). */
export interface WavAudio {
  /** The fields of its `fmt ` chunk. */
  format: Buffer
  samples: Buffer
}

/**
 * Parses a WAV file; a streamed file may have fewer bytes than its sizes state.
 * @returns undefined if it is not a WAV file
 */
export function parseWav(bytes: Buffer): WavAudio | undefined {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WAVE') return undefined
  let format: Buffer | undefined
  for (let offset = 12; offset + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', offset, offset + 4)
    const size = bytes.readUInt32LE(offset + 4)
    const body = bytes.subarray(offset + 8, Math.min(bytes.length, offset + 8 + size))
    if (name === 'fmt ') format = body
    if (name === 'data') return format === undefined ? undefined : { format, samples: body }
    offset += 8 + size + (size % 2)
  }
  return undefined
}

/**
 * Creates the header of a WAV file.
 * @param size bytes of samples; the maximum while unknown
 */
export function createWavHeader(format: Buffer, size = 0xffff_ffff): Buffer {
  const head = Buffer.alloc(28 + format.length)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(Math.min(0xffff_ffff, size + 20 + format.length), 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(format.length, 16)
  format.copy(head, 20)
  head.write('data', 20 + format.length, 'latin1')
  head.writeUInt32LE(size, 24 + format.length)
  return head
}
